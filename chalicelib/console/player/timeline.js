// The timeline: how dense annotations are, where tracks run and have their keyframes, what is looped, the present frame.
//
// The canvas is drawn anew only where something on it changed; the present frame is an element above it.
import { effect, html, useEffect, useRef } from "../lib.js";
import { isDark } from "../store.js";
import { annotate as words } from "../strings_annotate.js";
import { hasPlace } from "../draw/geometry.js";
import { runsOf } from "../draw/tracks.js";
import { timecode } from "./timecode.js";
import { paintWave } from "./wave.js";

const LANE = 10;
const LANES = 5;
const BAR = 4;
const DENSITY = 26;
const TOP = DENSITY + 8;
/** The row of the waveform; there is none without sound. */
const WAVE = 24;
const REACH = 5;

/**
 * @typedef {import("../draw/session.js").Session} Session
 * @typedef {{key: string, frame: number}} Grip a keyframe that is dragged, and where it is now
 */

/** @param {{session: Session}} props */
export function Timeline({ session }) {
  session.playerRevision.value;
  const { player } = session;
  return player && player.frames > 1 ? html`<${Bar} session=${session} />` : null;
}

/** @param {{session: Session}} props */
function Bar({ session }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const head = useRef(/** @type {HTMLElement | null} */ (null));
  const view = useRef({ first: 0, shown: "", grip: /** @type {Grip | null} */ (null), request: () => {} });
  const player = /** @type {import("./player.js").Player} */ (session.player);
  const last = player.frames - 1;
  useEffect(() => {
    const element = /** @type {HTMLCanvasElement} */ (canvas.current);
    let due = 0;
    const request = () => {
      due ||= requestAnimationFrame(() => {
        due = 0;
        paint(element, session, view.current);
      });
    };
    view.current.request = request;
    const stops = [
      effect(() => {
        session.revision.value;
        session.shownLayers.value;
        session.playerRevision.value;
        isDark.value;
        session.comments.threads.value;
        session.trackSet.active;
        session.wave?.peaks.value;
        request();
      }),
      effect(() => {
        const frame = session.frame.value;
        /** @type {HTMLElement} */ (head.current).style.left = `${(frame / last) * 100}%`;
        element.setAttribute("aria-valuenow", String(frame));
        element.setAttribute("aria-valuetext", `${words.frameOf(frame, last)}, ${timecode(frame, player.fps)}`);
      }),
    ];
    const watch = new ResizeObserver(request);
    watch.observe(element);
    return () => {
      stops.forEach((stop) => stop());
      watch.disconnect();
      cancelAnimationFrame(due);
    };
  }, [session, last]);
  const frameAt = (/** @type {PointerEvent} */ event) => {
    const { left, width } = /** @type {HTMLElement} */ (canvas.current).getBoundingClientRect();
    return Math.max(0, Math.min(last, Math.round(((event.clientX - left) / width) * last)));
  };
  const onPointerDown = (/** @type {PointerEvent} */ event) => {
    player.pause();
    /** @type {HTMLElement} */ (event.currentTarget).setPointerCapture(event.pointerId);
    const key = keyframeAt(event, session, view.current.first, last);
    if (key) view.current.grip = { key, frame: session.doc.rows.get(key)?.frame ?? 0 };
    else player.seek(frameAt(event));
  };
  const onPointerMove = (/** @type {PointerEvent} */ event) => {
    const { grip, request } = view.current;
    if (!event.buttons) {
      const isOver = keyframeAt(event, session, view.current.first, last);
      /** @type {HTMLElement} */ (event.currentTarget).classList.toggle("on-keyframe", Boolean(isOver));
    } else if (grip) {
      grip.frame = frameAt(event);
      request();
    } else player.seek(frameAt(event));
  };
  const onPointerUp = () => {
    const { grip, request } = view.current;
    view.current.grip = null;
    if (grip) session.hand.moveKeyframe(grip.key, grip.frame);
    request();
  };
  const onWheel = (/** @type {WheelEvent} */ event) => {
    const most = Math.max(0, shownTracks(session).length - LANES);
    view.current.first = Math.max(0, Math.min(most, view.current.first + Math.sign(event.deltaY)));
    view.current.request();
  };
  const isHeard = session.wave?.isPossible.value;
  return html`<div class="timeline" data-wave=${isHeard ? "" : undefined} style=${{ "--tracks": `${topOf(session) + LANES * LANE}px` }}>
    <canvas ref=${canvas} tabindex="0" role="slider" aria-label=${words.timeline} aria-valuemin="0" aria-valuemax=${last}
      onPointerDown=${onPointerDown} onPointerMove=${onPointerMove} onPointerUp=${onPointerUp} onWheel=${onWheel} />
    <span class="playhead" ref=${head} aria-hidden="true" /></div>`;
}

/** Where the first track is. @param {Session} session */
const topOf = (session) => TOP + (session.wave?.isPossible.peek() ? WAVE : 0);

/** The tracks of the layers that are shown. @param {Session} session */
const shownTracks = (session) => session.tracks().filter(([, row]) => session.shownLayers.peek().has(row.version));

/** The keyframe under a pointer that may be moved. @param {PointerEvent} event @param {Session} session @param {number} first the track in the first lane @param {number} last */
function keyframeAt(event, session, first, last) {
  const { left, top, width } = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
  const lane = Math.floor((event.clientY - top - topOf(session)) / LANE);
  const track = lane >= 0 && lane < LANES ? shownTracks(session)[first + lane] : undefined;
  if (!track) return null;
  let [found, least] = [/** @type {string | null} */ (null), REACH + 1];
  for (const [key, row] of session.doc.path(track[0])) {
    const far = Math.abs(((row.frame ?? 0) / last) * width - (event.clientX - left));
    if (far < least && session.isEditable(row, key)) [found, least] = [key, far];
  }
  return found;
}

/** @param {HTMLCanvasElement} canvas @param {Session} session @param {{first: number, shown: string, grip: Grip | null}} view */
function paint(canvas, session, view) {
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
    const height = count ? 3 + Math.sqrt(count / most) * (DENSITY - 4) : 0;
    context.fillRect(at * width, DENSITY + 4 - height, width, height);
  });
  const peaks = session.wave?.isPossible.peek() ? session.wave.peaks.peek() : null;
  context.fillStyle = color("--text-3");
  if (peaks) paintWave(context, peaks, { top: DENSITY + 6, width: wide, height: WAVE - 2 });
  const tracks = shownTracks(session);
  const { active } = session.trackSet;
  const at = tracks.findIndex(([key]) => key === active);
  if (at >= 0 && active !== view.shown) view.first = Math.max(at - LANES + 1, Math.min(at, view.first));
  view.shown = active ?? "";
  view.first = Math.max(0, Math.min(view.first, tracks.length - LANES));
  tracks.slice(view.first, view.first + LANES).forEach(([key, row], lane) => {
    const middle = topOf(session) + lane * LANE + LANE / 2;
    context.fillStyle = session.colorOf(key, row);
    context.globalAlpha = session.trackSet.hidden.peek().has(key) ? 0.25 : key === active ? 1 : 0.6;
    for (const [first, end] of runsOf(session.doc, key, session.trackSet.isFilled(key)))
      context.fillRect(x(first), middle - BAR / 2, Math.max(3, x(end) - x(first)), BAR);
    if (key === active || perFrame > 0.5)
      for (const [member, keyframe] of session.doc.path(key))
        diamond(
          context,
          x(member === view.grip?.key ? view.grip.frame : (keyframe.frame ?? 0)),
          middle,
          hasPlace(keyframe.shape),
        );
  });
  context.globalAlpha = 1;
  for (const { first } of session.comments.threads.peek()) {
    if (first.frame === null) continue;
    context.fillStyle = color(first.resolved ? "--text-3" : "--warn");
    const [begin, end] = [x(first.frame), x(first.end_frame ?? first.frame)];
    context.fillRect(begin, 0, Math.max(2, end - begin), 2);
    commentMark(context, begin);
  }
}

/** A comment: a flag at the upper edge. @param {CanvasRenderingContext2D} context @param {number} x */
function commentMark(context, x) {
  context.fillRect(x - 1, 0, 2, DENSITY + 4);
  context.beginPath();
  context.moveTo(x, 0);
  context.lineTo(x + 9, 4);
  context.lineTo(x, 8);
  context.fill();
}

/** A keyframe; hollow where a gap begins. */
function diamond(
  /** @type {CanvasRenderingContext2D} */ context,
  /** @type {number} */ x,
  /** @type {number} */ y,
  /** @type {boolean} */ isFull,
) {
  context.beginPath();
  context.moveTo(x, y - 4);
  context.lineTo(x + 4, y);
  context.lineTo(x, y + 4);
  context.lineTo(x - 4, y);
  context.closePath();
  if (isFull) context.fill();
  context.strokeStyle = isFull ? "#0008" : context.fillStyle;
  context.lineWidth = 1;
  context.stroke();
}

/** How many localizations lie in each bin. */
function density(
  /** @type {Session} */ session,
  /** @type {number} */ count,
  /** @type {(frame: number) => number} */ bin,
) {
  const bins = new Array(count).fill(0);
  for (const [version, frames] of session.doc.counts)
    if (session.shownLayers.peek().has(version)) for (const [frame, number] of frames) bins[bin(frame)] += number;
  return bins;
}
