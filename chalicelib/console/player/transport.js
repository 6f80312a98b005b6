// The bar below the picture: play, step, frame number, time code, speed, quality, loop, link.
import { html, useEffect, useRef, useState } from "../lib.js";
import { annotate as words } from "../strings_annotate.js";
import { Button, Select } from "../ui/controls.js";
import { titled } from "../ui/key_map.js";
import { toast } from "../ui/toast.js";
import { number } from "../ui/format.js";
import { SPEEDS } from "./player.js";
import { isOn, setVolume, volume } from "./sound.js";
import { parseFrame, timecode } from "./timecode.js";

/** Below this share of the media's lines, what is shown is called a preview. */
const PREVIEW = 0.7;

/** @param {{session: import("../draw/session.js").Session, field: any, onLink: () => string}} props `field` is a ref of the frame's input */
export function Transport({ session, field, onLink }) {
  session.playerRevision.value;
  const { player } = session;
  const hold = useRef(/** @type {any} */ (null));
  useEffect(() => () => clearInterval(hold.current), []);
  if (!player || player.frames < 2) return null;
  const copy = async () => {
    await navigator.clipboard?.writeText(onLink());
    toast(words.linkCopied, { kind: "good" });
  };
  const loops = player.loop;
  return html`<div class="transport" role="toolbar" aria-label=${words.play}>
    <span class="row">
      <${Button} kind="quiet" icon="frame_previous" title=${words.previous} onClick=${() => player.step(-1)} />
      <${Button} kind="primary" icon=${player.isPlaying ? "pause" : "play"} title=${player.isPlaying ? words.pause : words.play} onClick=${() => player.toggle()} />
      <${Button} kind="quiet" icon="frame_next" title=${words.next} onClick=${() => player.step(1)} />
      <${Jog} player=${player} />
    </span>
    <${FrameField} session=${session} field=${field} />
    ${player.isStalled && html`<span class="chip" role="status"><span class="spinner" />${words.waiting}</span>`}
    <span class="grow" />
    <span class="row">
      <${Button} small kind="quiet" title=${words.loopStart} aria-label=${words.loopStart} onClick=${() => player.setLoop([session.frame.peek(), loops?.[1] ?? player.frames - 1])}>[<//>
      <${Button} small kind="quiet" title=${loops ? words.loopClear : words.loop} pressed=${Boolean(loops)} icon="reload" onClick=${() => player.setLoop(loops ? null : [0, player.frames - 1])} />
      <${Button} small kind="quiet" title=${words.loopEnd} aria-label=${words.loopEnd} onClick=${() => player.setLoop([loops?.[0] ?? 0, session.frame.peek()])}>]<//>
    </span>
    ${
      session.sound &&
      html`<${Button} small kind="quiet" icon=${isOn.value ? "sound" : "sound_off"} title=${titled(session.commands, "sound", words.sound)} pressed=${isOn.value} onClick=${() => session.sound?.toggle()} />
      <input class="volume" type="range" min="0" max="1" step="0.05" aria-label=${words.volume} title=${words.volume} value=${volume.value}
        onInput=${(/** @type {any} */ e) => setVolume(Number(e.currentTarget.value))} />`
    }
    <${Select} small name=${words.speed} value=${player.speed} options=${SPEEDS.map((speed) => [speed, `${number(speed)}×`])} onChange=${(/** @type {string} */ value) => player.setSpeed(Number(value))} />
    <${Select} small name=${words.quality} value=${player.quality ?? ""} options=${[["", words.auto], ...player.qualities.map((height) => [height, `${height}p`])]}
      onChange=${(/** @type {string} */ value) => player.setQuality(value ? Number(value) : null)} />
    <${Way} player=${player} />
    <${Button} kind="quiet" icon="link" title=${words.link} onClick=${copy} /></div>`;
}

/** A wheel to jog: drag it left and right, a frame for each six pixels. The keys of the view do the same. @param {{player: import("./player.js").Player}} props */
function Jog({ player }) {
  const start = useRef(/** @type {any} */ (null));
  const turn = useRef(/** @type {HTMLElement | null} */ (null));
  const down = (/** @type {PointerEvent} */ event) => {
    player.pause();
    start.current = { x: event.clientX, frame: player.target };
    /** @type {HTMLElement} */ (event.currentTarget).setPointerCapture(event.pointerId);
  };
  const move = (/** @type {PointerEvent} */ event) => {
    if (!start.current) return;
    const moved = event.clientX - start.current.x;
    turn.current?.style.setProperty("--turn", `${moved}px`);
    player.seek(start.current.frame + Math.trunc(moved / 6));
  };
  return html`<span class="jog" ref=${turn} aria-hidden="true" onPointerDown=${down} onPointerMove=${move} onPointerUp=${() => {
    start.current = null;
  }}
    onWheel=${(/** @type {WheelEvent} */ event) => {
      event.preventDefault();
      player.step(Math.sign(event.deltaY));
    }} />`;
}

/** The number of the frame, in which another one or a time is typed. @param {{session: import("../draw/session.js").Session, field: any}} props */
function FrameField({ session, field }) {
  const player = /** @type {import("./player.js").Player} */ (session.player);
  const frame = session.frame.value;
  const [text, setText] = useState(/** @type {string | null} */ (null));
  const go = (/** @type {Event} */ event) => {
    event.preventDefault();
    const wanted = parseFrame(text ?? "", player.fps);
    if (wanted !== null) player.seek(wanted);
    setText(null);
    field.current?.blur();
  };
  return html`<form class="row frame-field" onSubmit=${go}>
      <input class="input small number" ref=${field} aria-label=${words.frameField} inputmode="text" value=${text ?? frame}
        onFocus=${(/** @type {any} */ e) => {
          player.pause();
          setText(String(player.frame));
          e.currentTarget.select();
        }} onInput=${(/** @type {any} */ e) => setText(e.currentTarget.value)} onBlur=${() => setText(null)} />
      <span class="number muted">/ ${player.frames - 1}</span>
      <span class="number timecode">${timecode(frame, player.fps)}</span>
    </form>`;
}

/** How frames are shown, and whether finer pictures are still made. @param {{player: import("./player.js").Player}} props */
function Way({ player }) {
  const way = /** @type {keyof typeof words.ways} */ (player.source?.name);
  const whole = player.media?.height ?? 0;
  if (way === "codecs" && player.lines && player.lines < whole * PREVIEW)
    return html`<span class="chip warn" role="status" title=${words.previewLead}>${words.preview(player.lines, whole)}</span>`;
  return html`<span class="chip" title=${words.ways[way] ?? ""}>${words.exact[way] ?? ""}</span>`;
}
