// About the media itself: its attributes, and the telemetry that is attached to it.
import { patch } from "../client.js";
import { html, useEffect, useRef, useState } from "../lib.js";
import { may, typeById } from "../store.js";
import { text } from "../strings.js";
import { annotate as words } from "../strings_annotate.js";
import { TELEMETRY, telemetryOf, valueAt } from "../player/telemetry.js";
import { AttributeForm } from "../ui/attributes.js";
import { Button, TextField } from "../ui/controls.js";
import { Icon } from "../ui/icons.js";
import { Await, useAsync } from "../ui/states.js";
import { toast, toastError } from "../ui/toast.js";

/** The attributes of the media; a change is saved at once, and can be undone from its message. @param {{session: import("./session.js").Session}} props */
export function About({ session }) {
  const { media } = session;
  const type = typeById("mediaTypes", media.type);
  const [open, setOpen] = useState(false);
  const [values, setValues] = useState(media.attributes ?? {});
  if (!type?.attribute_types.length) return null;
  const set = (/** @type {string} */ name, /** @type {any} */ value) => {
    const before = values[name] ?? null;
    const send = (/** @type {any} */ given) =>
      patch(`Media/${media.id}`, given === null ? { null_attributes: [name] } : { attributes: { [name]: given } }).then(
        () => setValues((/** @type {any} */ all) => ({ ...all, [name]: given })),
      );
    send(value).then(
      () => toast(words.aboutSaved, { kind: "good", action: text.undo, run: () => send(before).catch(toastError) }),
      toastError,
    );
  };
  return html`<section class="part about"><button type="button" class="facet-name" aria-expanded=${open} onClick=${() => setOpen(!open)}><${Icon} name=${open ? "down" : "next"} /><h2 class="grow">${words.about}</h2></button>
    ${open && html`<${AttributeForm} types=${type.attribute_types} values=${values} disabled=${!may("Can Edit")} onChange=${set} />`}</section>`;
}

/** @param {{session: import("./session.js").Session}} props */
export function Telemetry({ session }) {
  const hasFile = (session.media.media_files?.attachment ?? []).some((/** @type {any} */ each) =>
    TELEMETRY.test(each.name ?? ""),
  );
  return hasFile && session.media.fps ? html`<${Values} session=${session} />` : null;
}

/** @param {{session: import("./session.js").Session}} props */
function Values({ session }) {
  const [set, setSet] = useState(0);
  const found = useAsync((signal) => telemetryOf(session.media.id, signal), [session.media.id, set]);
  const clock = () => setSet(set + 1);
  return html`<section class="part telemetry" aria-label=${words.telemetry}><header class="row"><h2 class="grow">${words.telemetry}</h2></header>
    <${Await} of=${found}>${(/** @type {import("../player/telemetry.js").Telemetry} */ telemetry) =>
      html`<p class="muted small cut">${telemetry.file}</p>${telemetry.columns.length ? html`<dl>${telemetry.start && html`<${Moment} session=${session} start=${telemetry.start} />`}${telemetry.columns.map((column) => html`<${Line} key=${column.name} session=${session} column=${column} />`)}</dl>` : html`<p class="muted small">${words.telemetryFailed}</p>`}
      ${!telemetry.isPlaced && html`<p class="small">${words.telemetryUnplaced}</p>`}
      ${(telemetry.start || !telemetry.isPlaced) && may("Can Edit") && html`<${Clock} session=${session} onSet=${clock} />`}`}<//></section>`;
}

/** The UTC of the frame. @param {{session: import("./session.js").Session, start: string}} props */
function Moment({ session, start }) {
  const at = new Date(Date.parse(start) + (session.frame.value / session.media.fps) * 1000);
  return html`<div class="telemetry-line"><dt class="cut muted">UTC</dt><dd class="number">${at.toISOString().replace("T", " ").slice(0, -1)}</dd></div>`;
}

/** Where a clock is burnt into the picture: its time at this frame gives that of all. @param {{session: import("./session.js").Session, onSet: () => void}} props */
function Clock({ session, onSet }) {
  const [instant, setInstant] = useState("");
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    patch(`FrameInstant/${session.media.id}`, { frame: session.frame.value, instant: instant.trim() }).then((said) => {
      toast(said.message, { kind: "good" });
      setInstant("");
      onSet();
    }, toastError);
  };
  return html`<form class="telemetry-clock" onSubmit=${send}><${TextField} label=${words.telemetryClock(session.frame.value)} hint=${words.telemetryClockHint} placeholder="2026-05-01T12:00:00Z" value=${instant} onInput=${setInstant} /><${Button} small type="submit" disabled=${!instant.trim()}>${words.telemetrySet}<//></form>`;
}

/** The value of a column at the frame, and its course over the media. @param {{session: import("./session.js").Session, column: import("../player/telemetry.js").Column}} props */
function Line({ session, column }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const { fps } = session.media,
    seconds = Math.max(1, (session.player?.frames ?? 1) - 1) / fps;
  const frame = session.frame.value;
  useEffect(() => {
    if (canvas.current && column.numbers) paint(canvas.current, column.times, column.numbers, seconds);
  }, [column, seconds]);
  const seek = (/** @type {PointerEvent} */ event) => {
    const { left, width } = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    session.player?.seek(((event.clientX - left) / width) * seconds * fps);
  };
  return html`<div class="telemetry-line"><dt class="cut muted">${column.name}</dt><dd class="number">${valueAt(column, frame / fps) || "–"}</dd>
    ${column.numbers && html`<div class="telemetry-course" aria-hidden="true" style=${{ "--at": `${(frame / fps / seconds) * 100}%` }} onPointerDown=${seek}><canvas ref=${canvas} /></div>`}</div>`;
}

/** @param {HTMLCanvasElement} canvas @param {number[]} times @param {number[]} numbers @param {number} seconds */
function paint(canvas, times, numbers, seconds) {
  const ratio = globalThis.devicePixelRatio || 1,
    [width, height] = [canvas.clientWidth * ratio, canvas.clientHeight * ratio];
  Object.assign(canvas, { width, height });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  let [low, high] = [Infinity, -Infinity];
  for (const each of numbers) {
    low = Math.min(low, each);
    high = Math.max(high, each);
  }
  context.strokeStyle = getComputedStyle(canvas).color;
  context.lineWidth = ratio;
  context.beginPath();
  times.forEach((time, index) =>
    context.lineTo((time / seconds) * width, height - 2 - ((numbers[index] - low) / (high - low || 1)) * (height - 4)),
  );
  context.stroke();
}
