// Measures of one camera: where its scale is known from, the measures of the shape in hand, and attributes that get them.
import { patch, post } from "../client.js";
import { effect, html, useEffect, useState } from "../lib.js";
import { may, project, typeById } from "../store.js";
import { shapes } from "../strings_shapes.js";
import { Button, Select, TextField } from "../ui/controls.js";
import { decimal } from "../ui/format.js";
import { Icon } from "../ui/icons.js";
import { explain, toast, toastError } from "../ui/toast.js";
import { CalibrationSelect, useCalibrations } from "./calibrations.js";
import { inHand } from "./in_hand.js";

const words = shapes.measure;
const PAUSE_MS = 120;
const PARTS = /** @type {const} */ (["length", "width", "area", "perimeter"]);
const MEMBERS = [
  "x",
  "y",
  "width",
  "height",
  "u",
  "v",
  "points",
  "mask",
  "angle",
  "form",
  "closed",
  "holes",
  "visible",
];

/** @typedef {{by: string, reference: string, length: string, frames: string, altitude: string, attribute: string, view: string, tilt: string, error: string, lens: string, side: string, into: Record<string, string>}} Form */
/** @type {Form} */
const EMPTY = {
  by: "",
  reference: "",
  length: "",
  frames: "0",
  altitude: "",
  attribute: "",
  view: "",
  tilt: "0",
  error: "1",
  lens: "",
  side: "left",
  into: {},
};
const keyOf = () => `limn.scale.${project.value?.id}`;

/** The scale that was entered last in the project; kept in this browser. @returns {Form} */
function kept() {
  try {
    return { ...EMPTY, ...JSON.parse(localStorage.getItem(keyOf()) ?? "{}") };
  } catch {
    return EMPTY;
  }
}

/** The scale as the service takes it; null while a number is missing. @param {Form} form @param {import("./calibrations.js").Calibration} [calibration] of the lens */
function scaleOf(form, calibration) {
  const lens = calibration && { lens: { ...calibration.query, side: form.side } };
  const common = { point_error: Number(form.error) || 0, ...lens };
  if (form.by === "reference" && form.reference && Number(form.length) > 0) {
    const frames = Math.max(0, Math.round(Number(form.frames) || 0));
    return { reference: { type: Number(form.reference), length: Number(form.length), frames }, ...common };
  }
  if (form.by !== "above" || !(lens || Number(form.view) > 0)) return null;
  const view = { ...(!lens && { field_of_view: Number(form.view) }), tilt: Number(form.tilt) || 0 };
  if (form.attribute) return { above: { ...view, attribute: form.attribute }, ...common };
  return Number(form.altitude) > 0 ? { above: { ...view, altitude: Number(form.altitude) }, ...common } : null;
}

/** The names of the attributes of dtype float of types. @param {any[]} types @returns {string[]} */
const floatsOf = (types) => [
  ...new Set(
    types.flatMap((type) =>
      (type?.attribute_types ?? [])
        .filter((/** @type {any} */ each) => each.dtype === "float")
        .map((/** @type {any} */ each) => each.name),
    ),
  ),
];

/** @param {{session: import("./session.js").Session}} props */
export function Measures({ session }) {
  const [open, setOpen] = useState(false);
  if (!session.media.width || !session.media.height) return null;
  return html`<section class="part about" aria-label=${words.name}><button type="button" class="facet-name" aria-expanded=${open} onClick=${() => setOpen(!open)}>
    <${Icon} name=${open ? "down" : "next"} /><h2 class="grow">${words.name}</h2></button>${open && html`<${Scale} session=${session} />`}</section>`;
}

/** @param {{session: import("./session.js").Session}} props */
function Scale({ session }) {
  const [form, setForm] = useState(kept);
  const set = (/** @type {Partial<Form>} */ change) => {
    const next = { ...form, ...change };
    setForm(next);
    localStorage.setItem(keyOf(), JSON.stringify(next));
  };
  const types = [...session.types.localization.values()];
  const references = types.filter((type) => type.dtype === "dot" || type.dtype === "line");
  const altitudes = floatsOf([typeById("mediaTypes", session.media.type), ...types]);
  const choices = (/** @type {string[]} */ names) => names.map((name) => [name, words.attribute(name)]);
  const field = (/** @type {"length" | "frames" | "altitude" | "view" | "tilt" | "error"} */ name, hint = "") =>
    html`<${TextField} small type="number" step="any" label=${words[name]} hint=${hint} value=${form[name]} onInput=${(/** @type {string} */ value) => set({ [name]: value })} />`;
  const calibrations = useCalibrations(session.media);
  const lens = calibrations.find((each) => each.key === form.lens);
  const scale = scaleOf(form, lens);
  return html`<div class="column tight" role="group" aria-label=${words.from}>
    <${Select} small label=${words.from} value=${form.by} options=${[["", words.by.none], ["reference", words.by.reference], ["above", words.by.above]]} onChange=${(/** @type {string} */ by) => set({ by })} />
    ${
      form.by === "reference" &&
      html`<${Select} small label=${words.reference} hint=${words.referenceLead} value=${form.reference} options=${[["", words.by.none], ...references.map((type) => [String(type.id), type.name])]} onChange=${(/** @type {string} */ reference) => set({ reference })} />
        <div class="row">${field("length")}${session.media.num_frames > 1 && field("frames")}</div>`
    }
    ${
      form.by === "above" &&
      html`<${Select} small label=${words.altitudeOf} value=${form.attribute} options=${[["", words.typed], ...choices(altitudes)]} onChange=${(/** @type {string} */ attribute) => set({ attribute })} />
        ${!form.attribute && field("altitude")}<div class="row">${!lens && field("view")}${field("tilt", words.tiltLead)}</div>`
    }
    ${
      form.by &&
      html`<${CalibrationSelect} choices=${calibrations} chosen=${lens ?? null} none=${words.noLens} label=${words.lens} choose=${(/** @type {string} */ key) => set({ lens: key })} />
        ${lens && html`<${Select} small label=${words.side} value=${form.side} options=${Object.entries(words.sides)} onChange=${(/** @type {string} */ side) => set({ side })} />`}
        ${field("error")}`
    }</div>
    ${scale && html`<${Live} session=${session} scale=${scale} />${may("Can Edit") && html`<${Store} session=${session} scale=${scale} form=${form} set=${set} />`}`}`;
}

/** The measures of the shape in hand. @param {{session: import("./session.js").Session, scale: any}} props */
function Live({ session, scale }) {
  const [said, setSaid] = useState(/** @type {{measure?: any, failure?: any}} */ ({}));
  const wanted = JSON.stringify(scale);
  useEffect(() => {
    /** @type {any} */
    let timer;
    let asked = "";
    const ask = async () => {
      const held = inHand(session);
      const isMeasured = held && held.kind !== "dot" && held.shape;
      const shape =
        isMeasured &&
        Object.fromEntries(
          MEMBERS.filter((name) => held.shape[name] !== undefined).map((name) => [name, held.shape[name]]),
        );
      const body = isMeasured ? { scale, frame: session.frame.peek(), shape } : null;
      // the document may have changed what the scale is known from
      const key = JSON.stringify([body, session.revision.peek(), session.saving.peek().unsaved]);
      if (key === asked) return;
      asked = key;
      /** @type {{measure?: any, failure?: any}} */
      let answer = {};
      if (body)
        try {
          answer = { measure: await post(`ScaledMeasure/${session.media.id}`, body) };
        } catch (failure) {
          answer = { failure };
        }
      if (key === asked) setSaid(answer);
    };
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(ask, PAUSE_MS);
    };
    const { stage } = session;
    if (stage) stage.onDraw ??= soon;
    const stop = effect(() => {
      session.selected.value;
      session.revision.value;
      session.frame.value;
      session.saving.value;
      soon();
    });
    return () => {
      stop();
      clearTimeout(timer);
      if (stage?.onDraw === soon) stage.onDraw = null;
    };
  }, [session, session.stage, wanted]);
  const { measure, failure } = said;
  if (failure) return html`<p class="note small" role="status">${explain(failure)}</p>`;
  if (!measure) return html`<p class="muted small" role="status">${words.lead}</p>`;
  return html`<dl class="measures" role="status">${PARTS.filter((part) => typeof measure[part] === "number").map(
    (part) =>
      html`<div class="telemetry-line" key=${part}><dt class="muted">${words.part[part]}</dt><dd class="number">${words.value(decimal(measure[part], 4), decimal(measure[`${part}_error`], 4))}</dd></div>`,
  )}</dl>`;
}

/** The attributes that get the measures of all shapes of the media. @param {{session: import("./session.js").Session, scale: any, form: Form, set: (change: Partial<Form>) => void}} props */
function Store({ session, scale, form, set }) {
  const [isBusy, setBusy] = useState(false);
  const floats = floatsOf([...session.types.localization.values()]);
  const attributes = Object.fromEntries(Object.entries(form.into).filter(([, name]) => floats.includes(name)));
  if (!floats.length) return null;
  const store = () => {
    setBusy(true);
    patch(`ScaledMeasurements/${project.value?.id}`, { media_ids: [session.media.id], scale, attributes })
      .then((answer) => toast(answer.message, { kind: "good" }), toastError)
      .finally(() => setBusy(false));
  };
  return html`<div class="column tight" role="group" aria-label=${words.storeLead}>
    ${PARTS.map((part) => html`<${Select} small key=${part} label=${words.into(words.part[part])} value=${form.into[part] ?? ""} options=${[["", words.nowhere], ...floats.map((name) => [name, name])]} onChange=${(/** @type {string} */ name) => set({ into: { ...form.into, [part]: name } })} />`)}
    <${Button} small busy=${isBusy} disabled=${!Object.keys(attributes).length} onClick=${store}>${words.store}<//></div>`;
}
