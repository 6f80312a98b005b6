// The types of a project and their attributes.
import { ApiError, del, get, patch, post, request } from "../client.js";
import { html, useState } from "../lib.js";
import { link } from "../router.js";
import { colorOf, may, project, reload } from "../store.js";
import { text } from "../strings.js";
import { parseValue } from "../ui/attributes.js";
import { Button, Dot } from "../ui/controls.js";
import { confirm } from "../ui/dialog.js";
import { number, valueText } from "../ui/format.js";
import { Icon } from "../ui/icons.js";
import { Menu } from "../ui/menu.js";
import { leaves as leafWords } from "../strings_manage.js";
import { shapes as shapeWords } from "../strings_shapes.js";
import { choice, RecordDialog } from "../ui/records.js";
import { suggestionPath } from "../ui/suggestions.js";
import { Empty, useAsync } from "../ui/states.js";
import { toast, toastError } from "../ui/toast.js";

/** Kinds of types: their list in the store, the word of their operations, and their choices. */
const KINDS = /** @type {const} */ ([
  ["mediaTypes", "MediaType", "video"],
  ["localizationTypes", "LocalizationType", "box"],
  ["stateTypes", "StateType", "track"],
  ["leafTypes", "LeafType", "list"],
  ["fileTypes", "FileType", "save"],
]);
const MOST_TOPS = 200;

export function Types() {
  const open = /** @type {any} */ (project.value);
  const [creating, setCreating] = useState(/** @type {any} */ (null));
  const [editing, setEditing] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const isAllowed = may("Full Control");
  const mediaTypes = open.mediaTypes.map((/** @type {any} */ each) => [each.id, each.name]);
  const allMedia = mediaTypes.map((/** @type {any} */ each) => each[0]);
  const [list, word] = creating ?? editing?.kind ?? [];
  const members = membersOf(word, mediaTypes, Boolean(editing));
  const save = (/** @type {any} */ values) => {
    const { color, points, edges, ...rest } = values;
    if (points || edges)
      rest.skeleton = skeletonOf(points ?? editing?.type.skeleton?.points, edges ?? edgeLines(editing?.type.skeleton));
    const body = color ? { ...rest, color_map: { ...(editing?.type.color_map ?? {}), default: color } } : rest;
    return (
      editing
        ? patch(`${word}/${editing.type.id}`, body)
        : post(
            `${word}s/${open.id}`,
            word === "LocalizationType" || word === "StateType" ? { media_types: allMedia, ...body } : body,
          )
    ).then(() => reload(list));
  };
  const addUsual = () => {
    setBusy(true);
    createUsual(open.id)
      .catch(toastError)
      .finally(() => setBusy(false));
  };
  const empty = KINDS.every(([name]) => !open[name].length);
  return html`<section class="column types-page"><div class="row"><div class="grow"><h1 class="title">${text.manage.types}</h1><p class="muted">${text.typesLead}</p></div>
      ${isAllowed && html`<${Menu} icon="add" kind="primary" label=${text.newType} items=${KINDS.map((kind) => ({ label: text.typeKinds[kind[1]], icon: kind[2], run: () => setCreating(kind) }))} />`}</div>
    ${empty && html`<${Empty} icon="tag" title=${text.noTypes} action=${isAllowed && html`<${Button} kind="primary" icon="add" busy=${busy} title=${text.usualTypesHint} onClick=${addUsual}>${text.usualTypes}<//>`}>${text.noTypesLead}<//>`}
    ${KINDS.filter(([name]) => open[name].length).map((kind) => html`<div class="column" key=${kind[0]}><h2 class="type-kind"><${Icon} name=${kind[2]} />${text.typeKinds[kind[1]]}</h2>${open[kind[0]].map((/** @type {any} */ type) => html`<${Type} key=${type.id} type=${type} kind=${kind} onEdit=${() => setEditing({ type, kind })} isAllowed=${isAllowed} />`)}</div>`)}
    ${creating && html`<${RecordDialog} title=${`${text.newType}: ${text.typeKinds[/** @type {keyof typeof text.typeKinds} */ (word)]}`} members=${members} values=${{ dtype: word === "MediaType" ? "video" : "box", association: "Localization", interpolation: "latest", media_types: allMedia }} onSave=${save} onClose=${() => setCreating(null)} />`}
    ${editing && html`<${RecordDialog} title=${editing.type.name} isNew=${false} members=${members} values=${{ ...editing.type, media_types: editing.type.media, color: hex(editing.type), points: editing.type.skeleton?.points, edges: edgeLines(editing.type.skeleton) }} onSave=${save} onClose=${() => setEditing(null)} />`}</section>`;
}

/** Types with which one can begin. @param {number} project */
async function createUsual(project) {
  const media = [];
  for (const [name, dtype] of [
    [text.video, "video"],
    [text.image, "image"],
  ])
    media.push((await post(`MediaTypes/${project}`, { name, dtype })).id);
  await post(`LocalizationTypes/${project}`, {
    name: text.shapes.box,
    dtype: "box",
    media_types: media,
    attribute_types: [{ name: text.usualLabel, dtype: "string", default: "" }],
  });
  await post(`StateTypes/${project}`, { name: text.usualTrack, association: "Localization", media_types: media });
  await reload("mediaTypes", "localizationTypes", "stateTypes");
}

/** @param {any} type */
const hex = (type) => (/^#[0-9a-fA-F]{6}$/.test(colorOf(type)) ? colorOf(type) : undefined);

/** What types may allow, by dtype. @type {Record<string, (keyof typeof shapeWords.refinements)[]>} */
const REFINEMENTS = { box: ["mask", "angle", "ellipse"], poly: ["open", "holes", "skeleton"] };

const isSkeleton = (/** @type {any} */ values) =>
  values.dtype === "poly" && (values.refinements ?? []).includes("skeleton");

/** The edges of a skeleton by the names of their points. @param {any} skeleton */
const edgeLines = (skeleton) =>
  (skeleton?.edges ?? []).map((/** @type {[number, number]} */ edge) =>
    edge.map((at) => skeleton.points[at]).join(" - "),
  );

/** @param {string[] | undefined} points @param {string[]} edges */
function skeletonOf(points = [], edges = []) {
  const pairs = edges.map((line) => {
    const found = line.split(" - ").map((name) => points.indexOf(name.trim()));
    if (found.length !== 2 || found.includes(-1)) throw new ApiError(400, shapeWords.badEdge(line));
    return found;
  });
  return { points, edges: pairs };
}

/** @param {string} word @param {any[]} mediaTypes @param {boolean} isChange @returns {import("../ui/records.js").Member[]} */
function membersOf(word, mediaTypes, isChange) {
  const shapes = ["box", "line", "dot", "poly"].map((each) => [
    each,
    text.shapes[/** @type {keyof typeof text.shapes} */ (each)],
  ]);
  /** @type {[string, string][]} */
  const kinds = [
    ["video", text.video],
    ["image", text.image],
    ["multi", text.multi],
  ];
  /** @type {import("../ui/records.js").Member[]} */
  const common = [
    { name: "name", label: text.name, required: true },
    { name: "description", label: text.description, kind: "long" },
  ];
  if (word === "MediaType") common.push(choice("dtype", text.mediaKind, kinds, { only: "create" }));
  if (word === "LocalizationType")
    common.push(
      { name: "dtype", label: text.shape, kind: "select", options: /** @type {any} */ (shapes), only: "create" },
      { name: "color", label: text.color, kind: "color" },
      { name: "line_width", label: text.lineWidth, kind: "number" },
      ...Object.entries(REFINEMENTS).map(
        ([dtype, names]) =>
          /** @type {import("../ui/records.js").Member} */ ({
            name: "refinements",
            label: shapeWords.allowed,
            kind: "choices",
            options: names.map((name) => [name, shapeWords.refinements[name]]),
            when: (values) => values.dtype === dtype,
          }),
      ),
      { name: "points", label: shapeWords.points, hint: shapeWords.pointsHint, kind: "lines", when: isSkeleton },
      { name: "edges", label: shapeWords.edgesOf, hint: shapeWords.edgesHint, kind: "lines", when: isSkeleton },
    );
  if (word === "StateType")
    common.push(
      choice("association", text.association, Object.entries(text.associations), { only: "create" }),
      choice("interpolation", text.interpolation, Object.entries(text.interpolations)),
    );
  if ((word === "LocalizationType" || word === "StateType") && !isChange)
    common.push({ name: "media_types", label: text.onMediaTypes, kind: "choices", options: mediaTypes });
  return common;
}

/** So many choices are listed beside an attribute. */
const MOST_CHOICES = 20;

/** @param {string[] | undefined} choices */
const choicesText = (choices) =>
  choices &&
  (choices.length > MOST_CHOICES
    ? `${choices.slice(0, MOST_CHOICES).join(", ")}, ${text.furtherLines(number(choices.length - MOST_CHOICES))}`
    : choices.join(", "));

/** One type with its attributes. @param {{type: any, kind: readonly [any, any, string], onEdit: () => void, isAllowed: boolean}} props */
function Type({ type, kind, onEdit, isAllowed }) {
  const [editing, setEditing] = useState(/** @type {any} */ (null));
  const [list, word] = kind;
  const open = /** @type {any} */ (project.value);
  // texts can be completed from what is below a leaf at the top of a label tree
  const tops = useAsync(
    (signal) =>
      editing && open.leafTypes.length
        ? get(`Leaves/${open.id}`, { depth: 0, sort_by: ["$name"], stop: MOST_TOPS }, { signal })
        : Promise.resolve([]),
    [Boolean(editing), open.id],
  );
  const completion = completionMembers(open, tops.value ?? [], editing);
  const about =
    word === "LocalizationType"
      ? text.shapes[/** @type {keyof typeof text.shapes} */ (type.dtype)]
      : word === "StateType"
        ? text.associations[/** @type {keyof typeof text.associations} */ (type.association)]
        : word === "MediaType"
          ? text[/** @type {"video" | "image" | "multi"} */ (type.dtype)]
          : "";
  const remove = async () => {
    if (
      await confirm({
        title: text.deleteNamed(type.name),
        message: text.deleteTypeLead,
        action: text.delete,
        danger: true,
        type: type.name,
      })
    )
      del(`${word}/${type.id}`).then(() => {
        toast(text.deleted, { kind: "good" });
        reload(list);
      }, toastError);
  };
  const removeAttribute = async (/** @type {any} */ each) => {
    if (
      await confirm({
        title: text.deleteNamed(each.name),
        message: text.deleteAttributeLead,
        action: text.delete,
        danger: true,
      })
    )
      request("DELETE", `AttributeType/${type.id}`, { body: { entity_type: word, name: each.name } }).then(
        () => reload(list),
        toastError,
      );
  };
  const save = async (/** @type {any} */ values) => {
    const { completion, ...given } = values;
    if (completion !== undefined)
      given.autocomplete = completion ? { serviceUrl: `/rest/${completion}`, mode: "tator" } : null;
    if (typeof given.default === "string") given.default = parseValue({ ...editing, ...given }, given.default);
    await (editing.name
      ? patch(`AttributeType/${type.id}`, {
          entity_type: word,
          current_name: editing.name,
          attribute_type_update: { ...given, dtype: editing.dtype },
        })
      : post(`AttributeType/${type.id}`, { entity_type: word, addition: given }));
    await reload(list);
  };
  return html`<div class="card type-card"><div class="row"><${Dot} color=${colorOf(type)} /><strong class="cut">${type.name}</strong>${about && html`<span class="chip">${about}</span>`}<span class="muted small cut grow">${type.description}</span>
      ${word === "LocalizationType" && html`<a class="small" href=${link(`/projects/${open.id}/crops`, { type: type.id })}>${text.tabs.crops}</a>`}
      ${isAllowed && html`<${Button} small icon="add" onClick=${() => setEditing({ dtype: "string" })}>${text.addAttribute}<//><${Menu} small kind="quiet" icon="more" title=${text.actionsOf(type.name)} items=${[{ label: text.edit, icon: "edit", run: onEdit }, { label: text.delete, icon: "trash", danger: true, run: remove }]} />`}</div>
    ${
      type.attribute_types.length > 0 &&
      html`<table class="table attributes"><thead><tr><th scope="col">${text.attribute}</th><th scope="col">${text.dtype}</th><th scope="col">${text.valuesOf}</th><th scope="col">${text.default}</th><th><span class="visually-hidden">${text.actions}</span></th></tr></thead><tbody>${type.attribute_types.map(
        (
          /** @type {any} */ each,
        ) => html`<tr key=${each.name}><td>${each.name}${each.required && html` <span class="chip">${text.required}</span>`}${each.description && html`<div class="muted small">${each.description}</div>`}</td><td><code>${each.dtype}</code></td>
      <td class="muted">${choicesText(each.choices) ?? ([each.minimum !== undefined && each.minimum !== null && `≥ ${each.minimum}`, each.maximum !== undefined && each.maximum !== null && `≤ ${each.maximum}`].filter(Boolean).join(" ") || "")}</td><td>${valueText(each.default)}</td>
      <td class="end">${isAllowed && html`<${Menu} small kind="quiet" icon="more" title=${text.actionsOf(each.name)} items=${[{ label: text.edit, icon: "edit", run: () => setEditing(each) }, { label: text.delete, icon: "trash", danger: true, run: () => removeAttribute(each) }]} />`}</td></tr>`,
      )}</tbody></table>`
    }
    ${editing && html`<${RecordDialog} title=${editing.name ?? text.addAttribute} isNew=${!editing.name} values=${{ ...editing, default: valueText(editing.default), completion: suggestionPath(editing) || undefined }} members=${[...ATTRIBUTE, ...completion]} onSave=${save} onClose=${() => setEditing(null)} />`}</div>`;
}

/** @param {any} open @param {any[]} tops leaves at the top @param {any} attribute @returns {import("../ui/records.js").Member[]} */
function completionMembers(open, tops, attribute) {
  const present = attribute ? suggestionPath(attribute) : "";
  const found = tops.map(
    (each) =>
      /** @type {[string, string]} */ ([
        encodeURI(`Leaves/Suggestion/${each.path}/${open.id}`),
        `${open.leafTypes.find((/** @type {any} */ type) => type.id === each.type)?.name}: ${each.name}`,
      ]),
  );
  if (present && !found.some(([path]) => path === present)) found.push([present, present.split("/")[2]]);
  return found.length
    ? [
        choice("completion", leafWords.completion, [["", leafWords.completionNone], ...found], {
          hint: leafWords.completionHint,
          when: (values) => values.dtype === "string",
        }),
      ]
    : [];
}

const isNumber = (/** @type {any} */ values) => values.dtype === "int" || values.dtype === "float";
/** @type {import("../ui/records.js").Member[]} */
const ATTRIBUTE = [
  { name: "name", label: text.name, required: true },
  {
    name: "dtype",
    label: text.dtype,
    kind: "select",
    options: Object.entries(text.dtypes),
    only: "create",
  },
  { name: "description", label: text.description },
  {
    name: "choices",
    label: text.choices,
    kind: "lines",
    hint: text.onePerLine,
    required: true,
    when: (values) => values.dtype === "enum",
  },
  { name: "minimum", label: text.minimum, kind: "number", when: isNumber },
  { name: "maximum", label: text.maximum, kind: "number", when: isNumber },
  { name: "size", label: text.arraySize, kind: "number", when: (values) => values.dtype === "float_array" },
  { name: "default", label: text.default, when: (values) => values.dtype !== "blob" && values.dtype !== "float_array" },
  { name: "order", label: text.order, kind: "number", hint: text.orderHint },
  { name: "required", label: text.required, kind: "check" },
];
