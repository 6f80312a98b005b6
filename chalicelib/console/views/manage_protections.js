// Row protections: what a person or group may do with the project, a folder or a version, beyond the membership.
import { del, get, patch, post } from "../client.js";
import { html, useState } from "../lib.js";
import { LEVELS, may, project } from "../store.js";
import { records as words } from "../strings_records.js";
import { text } from "../strings.js";
import { word, wordChoice } from "../strings_words.js";
import { Select } from "../ui/controls.js";
import { RecordDialog, RecordTable } from "../ui/records.js";
import { useAsync } from "../ui/states.js";

/** The bits of each level for a record itself, as `access/masks.py` has them. */
const BITS = [0, 3, 31, 95, 127, 255];
const LEVEL_NAMES = LEVELS.slice(0, 6);
const WIDTH = 256;
const DEPTHS = 5;

/** The mask of a level on a record, and of another on all that it contains. @param {string} own @param {string} content */
function maskOf(own, content) {
  let mask = 0;
  for (let depth = DEPTHS - 1; depth >= 0; depth--)
    mask = mask * WIDTH + BITS[LEVEL_NAMES.indexOf(depth ? content : own)];
  return mask;
}

/** The levels of a mask; null where it is not made of levels. @param {number} mask */
function levelsOf(mask) {
  const own = LEVEL_NAMES[BITS.indexOf(mask % WIDTH)],
    content = LEVEL_NAMES[BITS.indexOf(Math.floor(mask / WIDTH) % WIDTH)];
  return own && content && maskOf(own, content) === mask ? { own, content } : null;
}

export function Protections() {
  const open = /** @type {any} */ (project.value);
  const targets = [
    ["project", open.id, open.name],
    ...open.sections.map((/** @type {any} */ each) => ["section", each.id, each.name]),
    ...open.versions.map((/** @type {any} */ each) => ["version", each.id, each.name]),
  ];
  const isAllowed = may("Full Control");
  const [on, setOn] = useState(`project ${open.id}`);
  const [kind, id] = on.split(" ");
  const found = useAsync(
    (signal) => (isAllowed ? get("RowProtections", { [kind]: id }, { signal }) : Promise.resolve([])),
    [on],
  );
  const groups = useAsync(
    (signal) =>
      isAllowed ? get(`Groups/${open.project.organization}`, {}, { signal }).catch(() => []) : Promise.resolve([]),
    [open.id],
  );
  const [editing, setEditing] = useState(/** @type {any} */ (null));
  if (!isAllowed) return null;
  const subjects = [
    ...open.members.map((/** @type {any} */ each) => [`user ${each.user}`, words.personNamed(each.username)]),
    ...(groups.value ?? []).map((/** @type {any} */ each) => [`group ${each.id}`, words.groupNamed(each.name)]),
  ];
  const subjectOf = (/** @type {any} */ each) =>
    subjects.find(([name]) => name === `user ${each.user}` || name === `group ${each.group}`)?.[1] ??
    text.userNumber(each.user ?? each.group ?? each.organization);
  const levelText = (/** @type {"own" | "content"} */ part) => (/** @type {any} */ each) => {
    const levels = levelsOf(each.permission);
    return levels ? word(levels[part]) : part === "own" ? words.mask(each.permission) : "";
  };
  const save = async (/** @type {any} */ { who, own, content }) => {
    const permission = maskOf(own ?? editing.own, content ?? editing.content);
    const [subject, number] = (who ?? subjects[0]?.[0] ?? "").split(" ");
    if (editing.id) await patch(`RowProtection/${editing.id}`, { permission });
    else await post("RowProtections", { [kind]: Number(id), [subject]: Number(number), permission });
    found.again();
  };
  return html`<div><${Select} label=${words.protectedOne} value=${on} options=${targets.map(([of, number, name]) => [`${of} ${number}`, name])} onChange=${setOn} /></div>
    <${RecordTable} title=${words.protections} lead=${words.protectionsLead} icon="lock" items=${found.value ?? []} empty=${words.noProtections} nameOf=${subjectOf} onCreate=${() => setEditing({ who: subjects[0]?.[0], own: "View Only", content: "View Only" })} createLabel=${words.newProtection}
      columns=${[
        { name: words.subject_, render: subjectOf },
        { name: words.onItself, render: levelText("own") },
        { name: words.onContent, render: levelText("content") },
      ]}
      onChange=${(/** @type {any} */ each) => setEditing({ ...each, ...(levelsOf(each.permission) ?? { own: "No Access", content: "No Access" }) })} onRemove=${(/** @type {any} */ each) => del(`RowProtection/${each.id}`).then(found.again)} />
    ${
      editing &&
      html`<${RecordDialog} title=${editing.id ? subjectOf(editing) : words.newProtection} isNew=${!editing.id} values=${editing} onSave=${save} onClose=${() => setEditing(null)} members=${[
        { name: "who", label: words.subject_, kind: "select", options: subjects, only: "create" },
        { name: "own", label: words.onItself, kind: "select", options: LEVEL_NAMES.map(wordChoice) },
        { name: "content", label: words.onContent, kind: "select", options: LEVEL_NAMES.map(wordChoice) },
      ]} />`
    }`;
}
