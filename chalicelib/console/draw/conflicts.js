// Conflicts in the open: what one changed here beside what somebody else saved, member by member.
import { html } from "../lib.js";
import { annotate as words } from "../strings_annotate.js";
import { Button } from "../ui/controls.js";
import { Dialog } from "../ui/dialog.js";
import { valueText } from "../ui/format.js";

/** @param {{session: import("./session.js").Session, onClose: () => void}} props */
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
    ${conflicts.map((conflict) => html`<section key=${conflict.key} class="card panel column"><h3>${session.typeOf(/** @type {any} */ (conflict.mine ?? conflict.theirs?.row))?.name}, ${words.frameOf(conflict.mine?.frame ?? conflict.theirs?.row.frame ?? 0, (session.player?.frames ?? 1) - 1)}</h3>
      <table class="table"><thead><tr><th>${words.field}</th><th>${words.yours}</th><th>${words.theirs}</th></tr></thead><tbody>
        ${differences(conflict).map(([name, mine, theirs]) => html`<tr key=${name}><td>${name}</td><td>${mine}</td><td>${theirs}</td></tr>`)}</tbody></table>
      <div class="row"><${Button} onClick=${() => settle([conflict.key], "mine")}>${words.keepMine}<//><${Button} onClick=${() => settle([conflict.key], "theirs")}>${words.takeTheirs}<//></div></section>`)}<//>`;
}

/** Members that differ, as [name, mine, theirs] texts. @param {import("./document.js").Conflict} conflict @returns {[string, string, string][]} */
export function differences({ mine, theirs }) {
  if (!mine || !theirs) return [["", mine ? shapeText(mine) : words.deleted, theirs ? shapeText(theirs.row) : words.deleted]];
  /** @type {[string, string, string][]} */
  const found = [];
  const add = (/** @type {string} */ name, /** @type {string} */ one, /** @type {string} */ two) => { if (one !== two) found.push([name, one, two]); };
  add(words.position, shapeText(mine), shapeText(theirs.row));
  for (const name of new Set([...Object.keys(mine.attributes), ...Object.keys(theirs.row.attributes)])) add(name, valueText(mine.attributes[name]), valueText(theirs.row.attributes[name]));
  return found;
}

const percent = (/** @type {any} */ value) => (Array.isArray(value) ? value.map((each) => each.map(percent).join("/")).join(" ") : `${(value * 100).toFixed(1)} %`);

/** Where a row is. @param {import("./document.js").Row} row */
const shapeText = (row) => (row.kind === "state" ? words.trackOf(row.members?.length ?? 0) : Object.entries(row.shape ?? {}).map(([name, value]) => `${name} ${percent(value)}`).join(", "));
