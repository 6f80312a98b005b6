// What a person does to the annotations, as the steps of the tour.
import { hasPlace } from "./geometry.js";
import { labelAttribute } from "./labels.js";
import { did } from "../ui/tour.js";

/** Tell the tour what is done in a session, until the returned function is called. @param {import("./session.js").Session} session */
export function watchTour(session) {
  const { doc } = session;
  const project = session.sync.project;
  let last = doc.undoSteps[doc.undoSteps.length - 1];
  let undone = doc.redoSteps.length;
  const look = () => {
    const step = doc.undoSteps[doc.undoSteps.length - 1];
    if (doc.redoSteps.length > undone) did("undo", project);
    else if (step && step !== last) for (const what of doneBy(session, step)) did(what, project);
    last = step;
    undone = doc.redoSteps.length;
  };
  doc.addEventListener("change", look);
  return () => doc.removeEventListener("change", look);
}

/** Which steps of the tour a change is. @param {import("./session.js").Session} session @param {import("./document.js").Step} step */
function* doneBy(session, { edits }) {
  for (const { key, before, after } of edits) {
    if (!after) continue;
    if (after.kind === "localization" && !before) yield/** @type {const} */ ("draw");
    const name = after.kind === "localization" ? labelAttribute(session.typeOf(after))?.name : undefined;
    if (name && before && before.attributes[name] !== after.attributes[name]) yield/** @type {const} */ ("name");
    const isTrack = after.kind === "state" && session.isTrack(after);
    const keyframes = isTrack ? session.doc.path(key).filter(([, row]) => hasPlace(row.shape)) : [];
    if (keyframes.length > 1) yield/** @type {const} */ ("track");
  }
}
