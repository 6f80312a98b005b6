// The timeline: where annotations are, how dense, where tracks run, what is looped, and the present frame.
import { html, useEffect, useLayoutEffect, useRef } from "../lib.js";
import { isDark } from "../store.js";
import { annotate as words } from "../strings_annotate.js";
import { segmentsOf } from "../draw/tracks.js";
import { timecode } from "./timecode.js";

const TRACK = 6;
const GAP = 2;
const DENSITY = 26;
const MOST_TRACKS = 12;

/** @param {{session: import("../draw/session.js").Session}} props */
export function Timeline({ session }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  session.revision.value;
  session.playerRevision.value;
  session.shownLayers.value;
  const { player } = session;
  const frame = session.frame.value;
  const track = session.track.value;
  const dark = isDark.value;
  const rows = Math.min(MOST_TRACKS, session.tracks().length);
  const draw = () => canvas.current && player && paint(canvas.current, session, frame);
  useLayoutEffect(() => { draw(); });
  useEffect(() => {
    const watch = new ResizeObserver(() => draw());
    if (canvas.current) watch.observe(canvas.current);
    return () => watch.disconnect();
  }, [player, dark, track]);
  if (!player || player.frames < 2) return null;
  const seek = (/** @type {PointerEvent} */ event) => {
    const { left, width } = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    player.seek(((event.clientX - left) / width) * (player.frames - 1));
  };
  return html`<canvas class="timeline" ref=${canvas} tabindex="0" role="slider" aria-label=${words.timeline} aria-valuemin="0" aria-valuemax=${player.frames - 1} aria-valuenow=${frame}
    aria-valuetext=${`${words.frameOf(frame, player.frames - 1)}, ${timecode(frame, player.fps)}`} style=${{ height: `${DENSITY + 8 + rows * (TRACK + GAP)}px` }}
    onPointerDown=${(/** @type {PointerEvent} */ event) => { player.pause(); /** @type {HTMLElement} */ (event.currentTarget).setPointerCapture(event.pointerId); seek(event); }}
    onPointerMove=${(/** @type {PointerEvent} */ event) => event.buttons && seek(event)} />`;
}

function paint(/** @type {HTMLCanvasElement} */ canvas, /** @type {import("../draw/session.js").Session} */ session, /** @type {number} */ frame) {
  const player = /** @type {import("./player.js").Player} */ (session.player);
  const ratio = globalThis.devicePixelRatio || 1;
  const [wide, high] = [canvas.clientWidth, canvas.clientHeight];
  Object.assign(canvas, { width: Math.round(wide * ratio), height: Math.round(high * ratio) });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const color = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  const last = Math.max(1, player.frames - 1);
  const x = (/** @type {number} */ at) => (at / last) * wide;
  const [from, to] = player.range();
  context.fillStyle = color("--surface-2");
  context.fillRect(0, 0, wide, DENSITY + 4);
  if (player.loop) {
    context.fillStyle = color("--accent-soft");
    context.fillRect(x(from), 0, Math.max(2, x(to) - x(from)), DENSITY + 4);
  }
  const perFrame = wide / (last + 1);
  const width = Math.max(2, perFrame);
  const bins = density(session, Math.ceil(wide / width) + 1, (at) => (perFrame >= 2 ? at : Math.floor(x(at) / 2)));
  const most = Math.max(1, ...bins);
  context.fillStyle = color("--accent");
  bins.forEach((count, at) => {
    const height = count ? 3 + (Math.sqrt(count / most) * (DENSITY - 4)) : 0;
    context.fillRect(at * width, DENSITY + 4 - height, width, height);
  });
  session.tracks().slice(0, MOST_TRACKS).forEach(([key, row], index) => {
    const top = DENSITY + 8 + index * (TRACK + GAP);
    context.fillStyle = session.colorOf(key, row);
    context.globalAlpha = session.track.peek() === key || session.selected.peek().has(key) ? 1 : 0.6;
    for (const [first, end] of segmentsOf(session.doc, key)) context.fillRect(x(first), top, Math.max(3, x(end) - x(first)), TRACK);
  });
  context.globalAlpha = 1;
  context.fillStyle = color("--text");
  context.fillRect(Math.min(wide - 2, x(frame) - 1), 0, 2, high);
  context.beginPath();
  context.arc(Math.max(5, Math.min(wide - 5, x(frame))), 5, 5, 0, Math.PI * 2);
  context.fill();
}

/** How many localizations lie in each bin. */
function density(/** @type {import("../draw/session.js").Session} */ session, /** @type {number} */ count, /** @type {(frame: number) => number} */ bin) {
  const bins = new Array(count).fill(0);
  const shown = session.shownLayers.peek();
  for (const [frame, keys] of session.doc.frames) for (const key of keys) if (shown.has(/** @type {any} */ (session.doc.rows.get(key)).version)) bins[bin(frame)]++;
  return bins;
}
