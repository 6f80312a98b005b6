// The commands that let the browser or a model work.

import { assist as words } from "../strings_assist.js";

/** @param {import("./session.js").Session} session @returns {import("./commands.js").Command[]} */
export function assistCommands(session) {
  const { follow } = session;
  const video = (
    /** @type {string} */ id,
    /** @type {string} */ key,
    /** @type {string} */ label,
    /** @type {() => any} */ run,
  ) => /** @type {import("./commands.js").Command} */ ({ id, group: "assist", label, keys: [key], run, isVideo: true });
  const { assist } = session;
  return [
    { id: "predict", group: "assist", label: words.predictFrame, keys: ["p"], run: () => assist.predict() },
    { id: "segment", group: "assist", label: words.segment, keys: ["S"], run: () => assist.toggleClicks() },
    video("follow", "y", words.followForward, () => follow.start("forward")),
    video("followBack", "Y", words.followBack, () => follow.start("back")),
    video("followToKeyframe", "Alt+y", words.followToKeyframe, () => follow.start("keyframe")),
  ];
}
