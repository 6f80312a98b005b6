// Draws shapes over the picture. A thousand boxes are a few paths: shapes of one color and one look are stroked together.

import { boundsOf, handlesOf, isThere, placesOf, pointsOf, turned } from "./geometry.js";
import { drawMask } from "./masks.js";

/**
 * @typedef {{left: number, top: number, width: number, height: number}} Rect of the picture, in CSS pixels
 * @typedef {{key: string, kind: import("./geometry.js").Kind, shape: import("./geometry.js").Shape, color: string,
 *   label: string, look: "plain" | "faint" | "hover" | "selected", isComputed?: boolean, isTurned?: boolean, isScaled?: boolean, skeleton?: Skeleton | null}} Item
 *   `isTurned`: whether it may be turned; `isScaled`: whether its mask is scaled
 * @typedef {{points: string[], edges: [number, number][]}} Skeleton the names of its points and which of them a line joins
 * @typedef {{area: Path2D, lines: Path2D, dots: Path2D, rings: Path2D}} Paths outlines that are filled when selected, lines, places, and hidden ones
 */

const HANDLE = 4;
export const LABELS_UP_TO = 40;
const COMPUTED_DASH = [8, 5];
const FAINT_DASH = [2, 3];
const WIDTH = { faint: 1, plain: 2, hover: 3, selected: 2 };

/** @param {import("./geometry.js").Point} point @param {Rect} rect */
export const place = (point, rect) => ({ x: rect.left + point.x * rect.width, y: rect.top + point.y * rect.height });

/** A cleared canvas of the size at which it is shown. @param {HTMLCanvasElement} canvas */
export function cleared(canvas) {
  const ratio = globalThis.devicePixelRatio || 1;
  const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.lineJoin = "round";
  return context;
}

/** Draw items. @param {CanvasRenderingContext2D} context @param {Rect} rect @param {Item[]} items @param {boolean} isLabelled @param {number} [outline] times the usual width */
export function drawItems(context, rect, items, isLabelled, outline = 1) {
  /** @type {Map<string, {item: Item, paths: Paths}>} */
  const groups = new Map();
  for (const item of items) {
    const name = `${item.look}${item.color}${item.isComputed}`;
    const paths = groups.get(name)?.paths ?? {
      area: new Path2D(),
      lines: new Path2D(),
      dots: new Path2D(),
      rings: new Path2D(),
    };
    groups.set(name, { item, paths });
    trace(item, rect, paths);
  }
  const order = ["faint", "plain", "hover", "selected"];
  for (const { item, paths } of [...groups.values()].sort(
    (a, b) => order.indexOf(a.item.look) - order.indexOf(b.item.look),
  )) {
    context.globalAlpha = item.look === "faint" ? 0.5 : 1;
    if (item.look === "selected" || item.look === "hover") {
      context.strokeStyle = "#000a";
      context.lineWidth = WIDTH[item.look] * outline + 2;
      context.stroke(paths.area);
      context.stroke(paths.lines);
      context.fillStyle = `${item.color.slice(0, 7)}26`;
      context.fill(paths.area);
    }
    context.setLineDash(item.isComputed ? COMPUTED_DASH : item.look === "faint" ? FAINT_DASH : []);
    context.strokeStyle = context.fillStyle = item.color;
    context.lineWidth = WIDTH[item.look] * outline;
    context.stroke(paths.area);
    context.stroke(paths.lines);
    context.fill(paths.dots);
    context.setLineDash([]);
    context.stroke(paths.rings);
    context.strokeStyle = "#000a";
    context.lineWidth = 1;
    context.stroke(paths.dots);
  }
  context.globalAlpha = 1;
  for (const { shape, color, kind } of items)
    if (kind === "box" && shape.mask)
      drawMask(context, shape.mask, color, {
        ...place({ x: shape.x ?? 0, y: shape.y ?? 0 }, rect),
        width: (shape.width ?? 0) * rect.width,
        height: (shape.height ?? 0) * rect.height,
      });
  for (const item of items)
    if (item.skeleton && (item.look === "selected" || item.look === "hover")) drawNames(context, item, rect);
  if (isLabelled) for (const item of items) drawLabel(context, item, rect);
}

/** Lines at each tenth of the picture. @param {CanvasRenderingContext2D} context @param {Rect} rect */
export function drawGrid(context, rect) {
  context.strokeStyle = "#fff6";
  context.lineWidth = 1;
  context.beginPath();
  for (let tenth = 0; tenth <= 10; tenth += 1) {
    const { x, y } = place({ x: tenth / 10, y: tenth / 10 }, rect);
    context.moveTo(x, rect.top);
    context.lineTo(x, rect.top + rect.height);
    context.moveTo(rect.left, y);
    context.lineTo(rect.left + rect.width, y);
  }
  context.stroke();
}

/** Lines to look along. @param {CanvasRenderingContext2D} context @param {Rect} rect @param {number[][][]} lines */
export function drawGuides(context, rect, lines) {
  context.strokeStyle = "#ffc21a";
  context.lineWidth = 1;
  for (const line of lines) {
    context.beginPath();
    for (const point of placesOf(line)) {
      const { x, y } = place(point, rect);
      context.lineTo(x, y);
    }
    context.stroke();
  }
}

/** Clicks for an object: a cross for a place in it, a bar for one beside it. @param {CanvasRenderingContext2D} context @param {Rect} rect @param {(import("./geometry.js").Point & {positive: boolean})[]} clicks */
export function drawClicks(context, rect, clicks) {
  for (const click of clicks) {
    const { x, y } = place(click, rect);
    context.fillStyle = click.positive ? "#2fce8f" : "#ff5a3c";
    context.strokeStyle = "#000";
    context.lineWidth = 1;
    context.beginPath();
    context.arc(x, y, 7, 0, Math.PI * 2);
    context.fill();
    context.stroke();
    context.fillStyle = "#000";
    context.fillRect(x - 4, y - 1, 8, 2);
    if (click.positive) context.fillRect(x - 1, y - 4, 2, 8);
  }
}

/** @param {CanvasRenderingContext2D} context @param {Rect} rect @param {{x: number, y: number, width: number, height: number}} marquee in fractions of the picture */
export function drawMarquee(context, rect, marquee) {
  const corner = place(marquee, rect);
  context.setLineDash([4, 3]);
  context.strokeStyle = "#fff";
  context.lineWidth = 1;
  context.strokeRect(corner.x, corner.y, marquee.width * rect.width, marquee.height * rect.height);
  context.setLineDash([]);
}

const DOT = { dot: 5, chosen: 6, end: 3, hole: 2 };

function trace(/** @type {Item} */ item, /** @type {Rect} */ rect, /** @type {Paths} */ { area, lines, dots, rings }) {
  const { kind, shape } = item;
  const placed = pointsOf(kind, shape).map((point) => place(point, rect));
  if (!placed.length) return;
  const circle = (
    /** @type {Path2D} */ path,
    /** @type {{x: number, y: number}} */ at,
    /** @type {number} */ radius,
    isHole = false,
  ) => {
    path.moveTo(at.x + radius, at.y);
    path.arc(at.x, at.y, radius, 0, Math.PI * 2, isHole);
  };
  if (item.skeleton || shape.visible) {
    for (const [one, two] of item.skeleton?.edges ?? [])
      if (placed[one] && placed[two] && isThere(shape, one) && isThere(shape, two))
        follow(lines, [placed[one], placed[two]]);
    placed.forEach((at, index) => {
      if (isThere(shape, index)) circle(shape.visible?.[index] === 1 ? rings : dots, at, DOT.dot);
    });
    return;
  }
  if (kind === "box" && shape.form === "ellipse") {
    const [{ x, y }, , far] = placed;
    const turn = ((shape.angle ?? 0) * Math.PI) / 180;
    const [middle, half] = [
      { x: (x + far.x) / 2, y: (y + far.y) / 2 },
      { x: Math.abs(far.x - x) / 2, y: Math.abs(far.y - y) / 2 },
    ];
    area.moveTo(middle.x + half.x * Math.cos(turn), middle.y + half.x * Math.sin(turn));
    area.ellipse(middle.x, middle.y, half.x, half.y, turn, 0, Math.PI * 2);
    return;
  }
  if (kind === "dot") {
    circle(dots, placed[0], item.look === "selected" ? DOT.chosen : DOT.dot);
    return circle(dots, placed[0], DOT.hole, true); // through it one sees what the dot is on
  }
  const isOpen = kind === "line" || shape.closed === false;
  const points = turned(placed, shape.angle);
  if (kind === "line" || (isOpen && item.look !== "plain")) for (const at of points) circle(dots, at, DOT.end);
  follow(isOpen ? lines : area, points);
  if (isOpen) return;
  area.closePath();
  for (const hole of shape.holes ?? []) {
    const ring = placesOf(hole).map((point) => place(point, rect));
    // the other way round, so that it is not filled
    follow(area, isClockwise(ring) === isClockwise(points) ? ring.reverse() : ring);
    area.closePath();
  }
}

function follow(/** @type {Path2D} */ path, /** @type {import("./geometry.js").Point[]} */ points) {
  path.moveTo(points[0].x, points[0].y);
  for (const { x, y } of points.slice(1)) path.lineTo(x, y);
}

/** @param {import("./geometry.js").Point[]} points */
const isClockwise = (points) =>
  points.reduce((sum, a, at) => {
    const b = points[(at + 1) % points.length];
    return sum + a.x * b.y - b.x * a.y;
  }, 0) > 0;

/** The names of the points of a skeleton. @param {CanvasRenderingContext2D} context @param {Item} item @param {Rect} rect */
function drawNames(context, { shape, skeleton }, rect) {
  context.font = "11px system-ui, sans-serif";
  context.lineWidth = 3;
  context.strokeStyle = "#000c";
  context.fillStyle = "#fff";
  pointsOf("poly", shape).forEach((point, at) => {
    if (!isThere(shape, at)) return;
    const { x, y } = place(point, rect);
    context.strokeText(skeleton?.points[at] ?? "", x + 8, y + 4);
    context.fillText(skeleton?.points[at] ?? "", x + 8, y + 4);
  });
}

export function drawHandles(
  /** @type {CanvasRenderingContext2D} */ context,
  /** @type {Item} */ item,
  /** @type {Rect} */ rect,
) {
  if (item.kind === "dot") return;
  context.fillStyle = "#fff";
  context.strokeStyle = "#000";
  context.lineWidth = 1;
  for (const handle of handlesOf(item.kind, item.shape, rect, item.isTurned, item.isScaled)) {
    const { x, y } = place(handle, rect);
    if (handle.name === "turn") {
      context.beginPath();
      context.arc(x, y, HANDLE + 1, 0, Math.PI * 2);
      context.fill();
      context.stroke();
      continue;
    }
    context.fillRect(x - HANDLE, y - HANDLE, HANDLE * 2, HANDLE * 2);
    context.strokeRect(x - HANDLE, y - HANDLE, HANDLE * 2, HANDLE * 2);
  }
}

function drawLabel(
  /** @type {CanvasRenderingContext2D} */ context,
  /** @type {Item} */ item,
  /** @type {Rect} */ rect,
) {
  if (!item.label) return;
  const bounds = boundsOf(item.kind, item.shape, rect);
  const { x, y } = place(bounds, rect);
  const text = item.label.length > 40 ? `${item.label.slice(0, 39)}…` : item.label;
  context.font = "600 12px system-ui, sans-serif";
  const width = context.measureText(text).width + 10;
  const top = y - 19 < 0 ? y + 2 : y - 19;
  context.fillStyle = item.color;
  context.beginPath();
  context.roundRect(x - 1, top, width, 17, 3);
  context.fill();
  context.fillStyle = isLight(item.color) ? "#111" : "#fff";
  context.fillText(text, x + 4, top + 12.5);
}

/** Whether black text reads better than white on a color of six digits. @param {string} color */
function isLight(color) {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18;
}
