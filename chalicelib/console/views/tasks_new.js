// The dialog that makes tasks of a selection of media, with a layer for each copy.
import { post } from "../client.js";
import { html } from "../lib.js";
import { project, reload } from "../store.js";
import { team as words } from "../strings_team.js";
import { RecordDialog } from "../ui/records.js";
import { toast } from "../ui/toast.js";

const EACH = "each";

/** @param {{onMade: () => void, onClose: () => void}} props */
export function NewTasks({ onMade, onClose }) {
  const open = /** @type {any} */ (project.value);
  const sections = open.sections.map((/** @type {any} */ each) => [`section=${each.id}`, words.folder(each.name)]);
  const layers = open.versions.filter((/** @type {any} */ each) => each.number >= 0);
  const save = async (/** @type {any} */ values) => {
    const { which = "", layer = "", checklist, due_datetime: due, copies = 1, ...rest } = values;
    const versions =
      layer === EACH ? await makeLayers(values.name, copies) : layer === "" ? undefined : [Number(layer)];
    const spec = { ...rest, copies, media_query: which, versions, checklist };
    const { id, existing } = await post(`Tasks/${open.id}`, {
      ...spec,
      due_datetime: due && (due.length === 10 ? `${due}T23:59:59Z` : due),
    });
    toast(words.wasMade(id.length, existing), { kind: "good" });
    onMade();
  };
  return html`<${RecordDialog} title=${words.newTasks} values=${{ copies: 1, which: "", layer: "" }} onSave=${save} onClose=${onClose} members=${[
    { name: "name", label: words.name, required: true, hint: words.nameHint },
    { name: "which", label: words.which, kind: "select", options: [["", words.allMedia], ...sections] },
    { name: "frames", label: words.framesEach, kind: "number", hint: words.framesHint },
    { name: "overlap", label: words.overlap, kind: "number", when: (/** @type {any} */ values) => values.frames },
    { name: "copies", label: words.copies, kind: "number", hint: words.copiesHint },
    {
      name: "layer",
      label: words.layer,
      kind: "select",
      options: [
        ["", words.layerOfOne],
        [EACH, words.layerEach],
        ...layers.map((/** @type {any} */ each) => [each.id, each.name]),
      ],
    },
    { name: "instructions", label: words.instructions, kind: "long" },
    { name: "checklist", label: words.checklist, kind: "lines" },
    { name: "due_datetime", label: words.due, hint: words.dueHint },
  ]} />`;
}

/** The ids of a layer for each copy; those that a request before has made are taken again. @param {string} name @param {number} copies */
async function makeLayers(name, copies) {
  const open = /** @type {any} */ (project.peek());
  const found = [];
  for (let copy = 1; copy <= copies; copy++) {
    const wanted = words.layerName(name, copy);
    const there = open.versions.find((/** @type {any} */ each) => each.name === wanted);
    found.push(there?.id ?? (await post(`Versions/${open.id}`, { name: wanted })).id);
  }
  await reload("versions");
  return found;
}
