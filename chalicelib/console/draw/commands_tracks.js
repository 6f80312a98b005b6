// The commands that make and change tracks.

import { annotate as words } from "../strings_annotate.js";
import { hasPlace } from "./geometry.js";
import * as tracks from "./tracks.js";

const OCCLUDED = "Occluded";

/** @param {import("./session.js").Session} session @returns {import("./commands.js").Command[]} */
export function trackCommands(session) {
  const { hand, trackSet } = session;
  const here = () => session.frame.peek();
  const command = (
    /** @type {string} */ id,
    /** @type {string} */ key,
    /** @type {string} */ label,
    /** @type {() => any} */ run,
  ) => /** @type {import("./commands.js").Command} */ ({ id, group: "tracks", label, keys: [key], run, isVideo: true });
  const edit = (
    /** @type {string} */ label,
    /** @type {(doc: import("./document.js").AnnotationDocument, track: string) => import("./document.js").Edit[]} */ make,
  ) => hand.editTrack(make, label);
  const toggle = (/** @type {"hidden" | "locked"} */ what) => trackSet.active && trackSet.toggle(what, trackSet.active);
  const { track: names, steps } = words;
  return [
    { id: "track", group: "tracks", label: names.make, keys: ["t"], run: () => hand.makeTrack() },
    command("arm", "d", names.arm, () => trackSet.arm(trackSet.armed.peek() ? null : trackSet.active)),
    command("keyframe", "i", names.keyframe, () => hand.makeKeyframe()),
    command("unkey", "Shift+Delete", names.unkey, () => {
      hand.removeSelected({ isWhole: true });
      trackSet.follow();
    }),
    command("nextKeyframe", "Alt+ArrowRight", names.next, () => toKeyframe(session, 1)),
    command("previousKeyframe", "Alt+ArrowLeft", names.previous, () => toKeyframe(session, -1)),
    command("extend", "e", names.extend, () =>
      edit(steps.extend, (doc, track) => tracks.extended(doc, track, here(), trackSet.isFilled(track))),
    ),
    command("split", "x", names.split, () =>
      edit(steps.split, (doc, track) => tracks.split(doc, track, here(), trackSet.typeOf(track))),
    ),
    command("trimStart", "{", names.trimStart, () =>
      edit(steps.trim, (doc, track) => tracks.trimmed(doc, track, here(), "start", trackSet.typeOf(track))),
    ),
    command("trimEnd", "}", names.trimEnd, () =>
      edit(steps.trim, (doc, track) => tracks.trimmed(doc, track, here(), "end", trackSet.typeOf(track))),
    ),
    command("merge", "M", names.merge, () => hand.mergeTracks()),
    command("occluded", "q", names.occluded, () => toggleOccluded(session)),
    command("hideTrack", "H", names.hide, () => toggle("hidden")),
    command("lockTrack", "L", names.lock, () => toggle("locked")),
  ];
}

/** Go to the next keyframe of the active track. */
function toKeyframe(/** @type {import("./session.js").Session} */ session, /** @type {number} */ direction) {
  const track = session.trackSet.active;
  if (!track) return;
  const { before, after } = tracks.placeIn(session.doc, track, session.frame.peek());
  const found = direction > 0 ? after : before;
  if (found) session.player?.seek(found[1].frame ?? 0);
}

function toggleOccluded(/** @type {import("./session.js").Session} */ session) {
  const rows = session.chosen().filter(([, row]) => hasPlace(row.shape));
  const isAll = rows.length > 0 && rows.every(([, row]) => row.attributes[OCCLUDED] === true);
  if (rows.length && !session.hand.setAttribute(OCCLUDED, !isAll)) session.say(words.noOccluded);
}
