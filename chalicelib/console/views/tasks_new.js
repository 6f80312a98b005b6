// The dialog that makes tasks of a selection of media, with a layer for each copy.
import { post } from "../client.js";
import { html } from "../lib.js";
import { project, reload } from "../store.js";
import { quality, team as words } from "../strings_team.js";
import { choice, RecordDialog, recordOptions } from "../ui/records.js";
import { toast } from "../ui/toast.js";

const EACH = "each";
const hasHoneypots = (/** @type {any} */ values) => Boolean(values.reference);

/** The names of the attributes of localizations. @returns {string[]} */
export const classAttributes = () => [
  ...new Set(
    project.value?.localizationTypes.flatMap((/** @type {any} */ type) =>
      type.attribute_types.map((/** @type {any} */ each) => each.name),
    ),
  ),
];

/** The choice of all media or of a folder, as parameters of a list. @param {string} name of the member */
export const whichMedia = (name) =>
  choice(name, words.which, [
    ["", words.allMedia],
    ...recordOptions(project.value?.sections ?? []).map(
      ([id, of]) => /** @type {[any, string]} */ ([`section=${id}`, words.folder(of)]),
    ),
  ]);

/** @param {{onMade: () => void, onClose: () => void}} props */
export function NewTasks({ onMade, onClose }) {
  const open = /** @type {any} */ (project.value);
  const layers = open.versions.filter((/** @type {any} */ each) => each.number >= 0);
  const save = async (/** @type {any} */ values) => {
    const { which = "", layer = "", checklist, due_datetime: due, copies = 1, ...given } = values;
    const { reference, share = 10, minimum = 80, class_attribute, ...rest } = given;
    const honeypots = reference && { reference, share: share / 100, minimum: minimum / 100, class_attribute };
    const versions =
      layer === EACH || (honeypots && layer === "")
        ? await makeLayers(values.name, copies)
        : layer === ""
          ? undefined
          : [Number(layer)];
    const spec = { ...rest, copies, media_query: which, versions, checklist, honeypots };
    const { id, existing } = await post(`Tasks/${open.id}`, {
      ...spec,
      due_datetime: due && (due.length === 10 ? `${due}T23:59:59Z` : due),
    });
    toast(words.wasMade(id.length, existing), { kind: "good" });
    onMade();
  };
  return html`<${RecordDialog} title=${words.newTasks} values=${{ copies: 1, which: "", layer: "", reference: "", share: 10, minimum: 80 }} onSave=${save} onClose=${onClose} members=${[
    { name: "name", label: words.name, required: true, hint: words.nameHint },
    whichMedia("which"),
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
    {
      name: "reference",
      label: words.honeypots,
      hint: words.honeypotsHint,
      kind: "select",
      options: [["", words.noHoneypots], ...layers.map((/** @type {any} */ each) => [each.id, each.name])],
    },
    { name: "share", label: words.honeypotShare, kind: "number", when: hasHoneypots },
    {
      name: "minimum",
      label: words.honeypotMinimum,
      hint: words.honeypotMinimumHint,
      kind: "number",
      when: hasHoneypots,
    },
    {
      name: "class_attribute",
      label: quality.classes,
      kind: "select",
      options: [["", quality.byType], ...classAttributes().map((/** @type {string} */ name) => [name, name])],
      when: hasHoneypots,
    },
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
