// Draws shapes over the picture. A thousand boxes are a few paths: shapes of one color and one look are stroked together.

import { boundsOf, handlesOf, pointsOf, turned } from "./geometry.js";
import { pictureOfMask } from "./masks.js";

/**
 * @typedef {{left: number, top: number, width: number, height: number}} Rect of the picture, in CSS pixels
 * @typedef {{key: string, kind: import("./geometry.js").Kind, shape: import("./geometry.js").Shape, color: string,
 *   label: string, look: "plain" | "faint" | "hover" | "selected", isComputed?: boolean}} Item
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
  /** @type {Map<string, {item: Item, path: Path2D, dots: Path2D}>} */
  const groups = new Map();
  for (const item of items) {
    const name = `${item.look}${item.color}${item.isComputed}`;
    const group = groups.get(name) ?? { item, path: new Path2D(), dots: new Path2D() };
    groups.set(name, group);
    trace(item, rect, group.path, group.dots);
  }
  const order = ["faint", "plain", "hover", "selected"];
  for (const { item, path, dots } of [...groups.values()].sort(
    (a, b) => order.indexOf(a.item.look) - order.indexOf(b.item.look),
  )) {
    context.globalAlpha = item.look === "faint" ? 0.5 : 1;
    if (item.look === "selected" || item.look === "hover") {
      context.strokeStyle = "#000a";
      context.lineWidth = WIDTH[item.look] * outline + 2;
      context.stroke(path);
      context.fillStyle = `${item.color.slice(0, 7)}26`;
      context.fill(path);
    }
    context.setLineDash(item.isComputed ? COMPUTED_DASH : item.look === "faint" ? FAINT_DASH : []);
    context.strokeStyle = context.fillStyle = item.color;
    context.lineWidth = WIDTH[item.look] * outline;
    context.stroke(path);
    context.fill(dots);
    context.strokeStyle = "#000a";
    context.lineWidth = 1;
    context.setLineDash([]);
    context.stroke(dots);
  }
  context.globalAlpha = 1;
  for (const { shape, color, kind } of items)
    if (kind === "box" && shape.mask) {
      const corner = place({ x: shape.x ?? 0, y: shape.y ?? 0 }, rect);
      const [wide, high] = [(shape.width ?? 0) * rect.width, (shape.height ?? 0) * rect.height];
      context.drawImage(pictureOfMask(shape.mask, color), corner.x, corner.y, wide, high);
    }
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

function trace(
  /** @type {Item} */ item,
  /** @type {Rect} */ rect,
  /** @type {Path2D} */ path,
  /** @type {Path2D} */ dots,
) {
  const placed = pointsOf(item.kind, item.shape).map((point) => place(point, rect));
  const points = turned(placed, item.shape.angle);
  if (!points.length) return;
  if (item.kind === "box" && !item.shape.angle) {
    path.rect(points[0].x, points[0].y, points[2].x - points[0].x, points[2].y - points[0].y);
    return;
  }
  const radius = item.kind === "dot" ? (item.look === "selected" ? 6 : 5) : 3;
  if (item.kind !== "poly" && item.kind !== "box")
    for (const { x, y } of points) {
      dots.moveTo(x + radius, y);
      dots.arc(x, y, radius, 0, Math.PI * 2);
    }
  if (item.kind === "dot") return;
  path.moveTo(points[0].x, points[0].y);
  for (const { x, y } of points.slice(1)) path.lineTo(x, y);
  if (item.kind === "poly" || item.kind === "box") path.closePath();
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
  for (const handle of handlesOf(item.kind, item.shape)) {
    const { x, y } = place(handle, rect);
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
  const bounds = boundsOf(item.kind, item.shape);
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
export function isLight(color) {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18;
}
