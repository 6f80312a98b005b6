// Every sentence of assisted labelling: following, predictions, clicks, what is similar.

import { plural } from "./strings_plural.js";

export const assist = {
  followForward: "Follow forward",
  followBack: "Follow back",
  followToKeyframe: "Follow to the next keyframe",
  followStep: "follow",
  followWhat: "Select one shape of the layer in which you draw, on this frame, to follow it.",
  followNoTracks: "The project has no type of tracks. A project manager can add one under Manage.",
  followNoKeyframe: "The track has no later keyframe to follow to.",
  followNoFrames: "There is no frame to follow to.",
  followFailed: (/** @type {string} */ why) => `Following failed: ${why}`,
  followLostAtOnce: "The object is not found on the next frame. It may move too fast, or have too little texture.",
  following: (/** @type {number} */ frame) => `Following: frame ${frame} · the same key stops, Esc gives up`,
  followed: (/** @type {number} */ frames, /** @type {number} */ keyframes) =>
    `Followed ${plural(frames, "frame")}, ${plural(keyframes, "keyframe")}`,
  followStops: {
    look: (/** @type {number} */ frame) => `lost at frame ${frame}: covered, or it looks otherwise`,
    border: (/** @type {number} */ frame) => `left the picture at frame ${frame}`,
    limit: (/** @type {number} */ frame) => `stopped before frame ${frame}, as far as one key goes`,
    asked: (/** @type {number} */ frame) => `stopped before frame ${frame}`,
    end: () => "",
  },
  followReplaces: (/** @type {number} */ count) => `replaces ${plural(count, "keyframe")}`,
  acceptOrDiscard: "Enter accepts, Esc discards",
  accept: "Accept",
  discard: "Discard",
};
