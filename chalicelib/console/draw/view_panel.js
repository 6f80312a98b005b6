// The part of the panel that says how one looks: the picture, the shapes, which of them, and what is found in the media.
import { get } from "../client.js";
import { html, useState } from "../lib.js";
import { project } from "../store.js";
import { annotate as words } from "../strings_annotate.js";
import { CHANNELS, look, NEUTRAL } from "../player/looks.js";
import { Button, Checkbox, Select, TextField } from "../ui/controls.js";
import { Icon } from "../ui/icons.js";
import { conjunction } from "../ui/search.js";
import { toastError } from "../ui/toast.js";
import { ALL, setStyle, style } from "./display.js";

const MOST_FOUND = 10_000;

/** @param {{label: string, value: number, min: number, max: number, onInput: (value: number) => void}} props */
const Slider = ({ label, value, min, max, onInput }) => html`<label class="slider"><span>${label}</span>
  <input type="range" min=${min} max=${max} step="0.05" value=${value} onInput=${(/** @type {any} */ e) => onInput(Number(e.currentTarget.value))} /></label>`;

/** @param {{session: import("./session.js").Session}} props */
export function View({ session }) {
  const [open, setOpen] = useState(false);
  return html`<section class="part about"><button type="button" class="facet-name" aria-expanded=${open} onClick=${() => setOpen(!open)}>
    <${Icon} name=${open ? "down" : "next"} /><h2 class="grow">${words.looking}</h2></button>
    ${open && html`<${Picture} /><${Shapes} session=${session} />`}</section>`;
}

function Picture() {
  const now = look.value;
  const set = (/** @type {any} */ change) => {
    look.value = { ...look.peek(), ...change };
  };
  return html`<div class="column tight" role="group" aria-label=${words.picture}>
    <${Slider} label=${words.looks.brightness} value=${now.brightness} min="0.2" max="3" onInput=${(/** @type {number} */ brightness) => set({ brightness })} />
    <${Slider} label=${words.looks.contrast} value=${now.contrast} min="0.2" max="3" onInput=${(/** @type {number} */ contrast) => set({ contrast })} />
    <${Slider} label=${words.looks.gamma} value=${now.gamma} min="0.3" max="3" onInput=${(/** @type {number} */ gamma) => set({ gamma })} />
    <${Slider} label=${words.looks.sharpen} value=${now.sharpen} min="0" max="2" onInput=${(/** @type {number} */ sharpen) => set({ sharpen })} />
    <div class="row"><${Select} small name=${words.looks.channel} value=${now.channel} options=${CHANNELS.map((each) => [each, words.channels[/** @type {keyof typeof words.channels} */ (each)]])}
      onChange=${(/** @type {string} */ channel) => set({ channel })} />
      <${Button} small onClick=${() => set(NEUTRAL)}>${words.asItIs}<//></div></div>`;
}

/** @param {{session: import("./session.js").Session}} props */
function Shapes({ session }) {
  const now = style.value;
  const only = session.display.only.value;
  const set = (/** @type {Partial<import("./display.js").Only>} */ change) => {
    session.display.only.value = { ...only, ...change };
    session.stage?.invalidate();
  };
  const types = [[0, words.allTypes], ...[...session.types.localization.values()].map((type) => [type.id, type.name])];
  return html`<div class="column tight" role="group" aria-label=${words.shapesLook}>
    <${Slider} label=${words.opacity} value=${now.opacity} min="0.1" max="1" onInput=${(/** @type {number} */ opacity) => setStyle({ opacity })} />
    <${Slider} label=${words.outline} value=${now.outline} min="0.5" max="3" onInput=${(/** @type {number} */ outline) => setStyle({ outline })} />
    <${Select} small label=${words.labelsShown} value=${now.labels} options=${Object.entries(words.labelsWhen)} onChange=${(/** @type {any} */ labels) => setStyle({ labels })} />
    <${Checkbox} label=${words.grid} checked=${now.grid} onChange=${(/** @type {boolean} */ grid) => setStyle({ grid })} />
    <${Select} small label=${words.onlyType} value=${only.type} options=${types} onChange=${(/** @type {string} */ type) => set({ type: Number(type) })} />
    <${TextField} small label=${words.onlyValue} value=${only.value} onInput=${(/** @type {string} */ value) => set({ value })} />
    <${Checkbox} label=${words.onlyTrack} checked=${only.isTrackOnly} onChange=${(/** @type {boolean} */ isTrackOnly) => set({ isTrackOnly })} />
    ${(only.type || only.value || only.isTrackOnly) && html`<${Button} small onClick=${() => set(ALL)}>${words.showAll}<//>`}</div>`;
}

/** Frames with annotations that a search finds. @param {{session: import("./session.js").Session, run: (id: string) => void}} props */
export function Find({ session, run }) {
  const [text, setText] = useState("");
  const { found } = session;
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    found.value = null;
    if (!text.trim()) return;
    try {
      const query = { media_id: session.media.id, search: conjunction(text), fields: "frame", stop: MOST_FOUND };
      const rows = await get(`Localizations/${project.value?.id}`, query);
      const frames = rows.map((/** @type {any} */ row) => row.frame);
      found.value = [...new Set(frames)].sort((one, two) => one - two);
      run("nextFound");
    } catch (failure) {
      toastError(failure);
    }
  };
  if ((session.player?.frames ?? 0) < 2) return null;
  return html`<form class="part row" role="search" onSubmit=${submit}>
    <input class="input small grow" type="search" aria-label=${words.findHere} placeholder=${words.findExample} value=${text} onInput=${(/** @type {any} */ e) => setText(e.currentTarget.value)} />
    ${found.value && html`<span class="chip number" role="status">${words.foundFrames(found.value.length)}</span>`}
    <${Button} small kind="quiet" icon="up" title=${words.previousFound} disabled=${!found.value?.length} onClick=${() => run("previousFound")} />
    <${Button} small kind="quiet" icon="down" title=${words.nextFound} disabled=${!found.value?.length} onClick=${() => run("nextFound")} /></form>`;
}
