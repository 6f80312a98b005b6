// Conflicts in the open: what one changed here beside what somebody else saved, member by member.
import { html, useEffect, useRef } from "../lib.js";
import { runsOf } from "../masks/runs.js";
import { annotate as words } from "../strings_annotate.js";
import { shapes as shapeWords } from "../strings_shapes.js";
import { memberName } from "../strings_words.js";
import { Button } from "../ui/controls.js";
import { Dialog } from "../ui/dialog.js";
import { decimal, valueText } from "../ui/format.js";
import { hasPlace } from "./geometry.js";
import { drawPair, MINE, THEIRS } from "./pair.js";

/** @typedef {import("./session.js").Session} Session @typedef {import("./document.js").Conflict} Conflict */

/** @param {{session: Session, onClose: () => void}} props */
export function Conflicts({ session, onClose }) {
  session.revision.value;
  const conflicts = [...session.doc.conflicts.values()];
  const settle = (/** @type {string[]} */ keys, /** @type {"mine" | "theirs"} */ choice) => {
    for (const key of keys) session.doc.resolve(key, choice);
    if (!session.doc.conflicts.size) onClose();
  };
  const all = conflicts.map(({ key }) => key);
  return html`<${Dialog} wide title=${words.conflictTitle} onClose=${onClose} footer=${html`<${Button} onClick=${() => settle(all, "theirs")}>${words.allTheirs}<//><${Button} onClick=${() => settle(all, "mine")}>${words.allMine}<//>`}>
    <p>${words.conflictLead}</p>
    ${conflicts.map(
      (conflict) => html`<${One} key=${conflict.key} session=${session} conflict=${conflict}
        onSettle=${(/** @type {"mine" | "theirs"} */ choice) => settle([conflict.key], choice)} />`,
    )}<//>`;
}

/** @param {{session: Session, conflict: Conflict, onSettle: (choice: "mine" | "theirs") => void}} props */
function One({ session, conflict, onSettle }) {
  const row = /** @type {import("./document.js").Row} */ (conflict.mine ?? conflict.theirs?.row);
  const frame = words.frameOf(row.frame ?? 0, (session.player?.frames ?? 1) - 1);
  return html`<section class="card panel column"><h3>${session.typeOf(row)?.name}, ${frame}</h3>
    <${Picture} session=${session} conflict=${conflict} />
    <table class="table"><thead><tr><th>${words.field}</th><th>${words.yours}</th><th>${words.theirs}</th></tr></thead>
      <tbody>${differences(conflict).map(
        ([name, mine, theirs]) => html`<tr key=${name}><td>${name}</td><td>${mine}</td><td>${theirs}</td></tr>`,
      )}</tbody></table>
    <div class="row"><${Button} onClick=${() => onSettle("mine")}>${words.keepMine}<//>
      <${Button} onClick=${() => onSettle("theirs")}>${words.takeTheirs}<//></div></section>`;
}

/** Both shapes on their frame: one's own full, the other dashed. @param {{session: Session, conflict: Conflict}} props */
function Picture({ session, conflict }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const shapes = /** @type {any[]} */ ([
    { row: conflict.mine, color: MINE, isComputed: false, label: words.yours },
    { row: conflict.theirs?.row, color: THEIRS, isComputed: true, label: words.theirs },
  ]).filter(({ row }) => row && hasPlace(row.shape));
  const frame = shapes[0]?.row?.frame ?? 0;
  useEffect(() => {
    if (!shapes.length) return;
    session.player
      ?.picture(frame)
      .then((picture) => {
        const versions = shapes.map(({ row, ...rest }) => ({
          ...rest,
          kind: session.kindOf(row),
          shape: row.shape,
          skeleton: session.refining.of(row).skeleton,
        }));
        if (canvas.current) drawPair(canvas.current, picture, versions);
      })
      .catch(() => undefined);
  }, [conflict]);
  return shapes.length
    ? html`<canvas class="conflict-picture" ref=${canvas} role="img" aria-label=${words.bothShapes} />`
    : null;
}

/** Members that differ, as [name, mine, theirs] texts. @param {import("./document.js").Conflict} conflict @returns {[string, string, string][]} */
export function differences({ mine, theirs }) {
  if (!mine || !theirs)
    return [["", mine ? shapeText(mine) : words.deleted, theirs ? shapeText(theirs.row) : words.deleted]];
  /** @type {[string, string, string][]} */
  const found = [];
  const add = (/** @type {string} */ name, /** @type {string} */ one, /** @type {string} */ two) => {
    if (one !== two) found.push([name, one, two]);
  };
  add(words.position, shapeText(mine), shapeText(theirs.row));
  for (const name of new Set([...Object.keys(mine.attributes), ...Object.keys(theirs.row.attributes)]))
    add(name, valueText(mine.attributes[name]), valueText(theirs.row.attributes[name]));
  return found;
}

const percent = (/** @type {any} */ value) =>
  Array.isArray(value) ? value.map((each) => each.map(percent).join("/")).join(" ") : `${decimal(value * 100, 1)} %`;

/** Where a row is. @param {import("./document.js").Row} row */
const shapeText = (row) =>
  row.kind === "state"
    ? words.trackOf(row.members?.length ?? 0)
    : Object.entries(row.shape ?? {})
        .map(([name, value]) => `${memberName(name)} ${memberText(name, value)}`)
        .join(", ");

/** A member of a shape. @param {string} name @param {any} value */
function memberText(name, value) {
  if (name === "mask") return shapeWords.maskText(value.size, runsOf(value.counts));
  if (name === "angle") return `${decimal(value, 1)}°`;
  if (name === "holes") return value.map(percent).join("; ");
  return ["form", "closed", "visible"].includes(name) ? String(value) : percent(value);
}
