// The commands of masks and other refined shapes.

import { shapes as words } from "../strings_shapes.js";
import { combine, convert, findEdges } from "./mask_edits.js";

/** @param {import("./session.js").Session} session @returns {import("./commands.js").Command[]} */
export function shapeCommands(session) {
  const { paint, refining } = session;
  const command = (
    /** @type {string} */ id,
    /** @type {string} */ key,
    /** @type {string} */ label,
    /** @type {() => any} */ run,
  ) => /** @type {import("./commands.js").Command} */ ({ id, group: "shapes", label, keys: [key], run });
  return [
    command("brush", "b", words.brush, () => paint.toggle("brush")),
    command("eraser", "B", words.eraser, () => paint.toggle("eraser")),
    command("fillHoles", "G", words.fill, () => paint.toggle("fill")),
    command("brushSmaller", ";", words.smaller, () => paint.resize(-1)),
    command("brushLarger", "'", words.larger, () => paint.resize(1)),
    command("edges", "E", words.edges, () => findEdges(session)),
    command("convert", "P", words.convert, () => convert(session)),
    command("joinMasks", "J", words.join, () => combine(session, "join")),
    command("cutMasks", "D", words.cut, () => combine(session, "cut")),
    command("ellipse", "Q", words.ellipse, () => refining.toggleEllipse()),
    command("hole", "O", words.hole, () => refining.hole()),
    command("point", "V", words.point, () => refining.point()),
  ];
}
