// Every sentence of the tour for new annotators.

import { translated } from "./languages.js";

/** @typedef {(command: string) => string} KeyOf the key of a command, for people */

export const tour = translated("tour", {
  title: "Tour",
  at: (/** @type {number} */ step, /** @type {number} */ all) => `Step ${step} of ${all}`,
  start: "Start the tour",
  resume: "Resume the tour",
  leave: "Leave the tour",
  steps: {
    draw: {
      title: "Draw a box",
      lead: (/** @type {KeyOf} */ key) =>
        `Press ${key("type")} and drag over something in the picture, from corner to corner.`,
    },
    name: {
      title: "Name it by a key",
      lead: (/** @type {KeyOf} */ key) =>
        `The box is selected. Press ${key("value2")} for the second value of its label; each value has a number.`,
    },
    track: {
      title: "Follow it through the video",
      lead: (/** @type {KeyOf} */ key) =>
        `Press ${key("track")}: the box begins a track. Go some frames on with ${key("next")} and draw it again: that is a keyframe. In between, the console fills in.`,
    },
    undo: {
      title: "Take it back",
      lead: (/** @type {KeyOf} */ key) =>
        `Press ${key("undo")}. Every change can be undone; ${key("redo")} brings it back.`,
    },
    hand: {
      title: "Take the work with you",
      lead: (/** @type {KeyOf} */ _) => "Open Import and export, choose New export, and start it in any format.",
    },
    submit: {
      title: "Hand it in",
      lead: (/** @type {KeyOf} */ key) => `Press ${key("submitTask")}: all is saved, and the task goes to review.`,
    },
    done: {
      title: "You have done it all",
      lead: (/** @type {KeyOf} */ _) =>
        "Drawn, named, followed, taken back and handed over. Beside a picture, ? shows all keys.",
    },
  },
});
