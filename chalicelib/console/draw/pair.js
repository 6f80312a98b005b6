// Two versions of a shape on their frame, in a picture that is cut to what they need.
import { boundsOf, clamp } from "./geometry.js";
import { cleared, drawItems } from "./scene.js";

export const MINE = "#3aa0ff";
export const THEIRS = "#ffc21a";
/** The picture shows at least this share of the frame's width, and so many times what the shapes need. */
const LEAST = 0.1;
const AROUND = 1.6;

/** @typedef {{kind: import("./geometry.js").Kind, shape: import("./geometry.js").Shape, color: string, label: string, isComputed: boolean, skeleton?: import("./scene.js").Skeleton | null}} Version `isComputed` is dashed */

/** @param {HTMLCanvasElement} canvas @param {CanvasImageSource & {width: number, height: number}} picture @param {Version[]} versions one or more with a place */
export function drawPair(canvas, picture, versions) {
  const bounds = versions.map(({ kind, shape }) => boundsOf(kind, shape));
  const left = Math.min(...bounds.map(({ x }) => x));
  const top = Math.min(...bounds.map(({ y }) => y));
  const wide = Math.max(...bounds.map(({ x, width }) => x + width)) - left;
  const high = Math.max(...bounds.map(({ y, height }) => y + height)) - top;
  const span = Math.min(1, Math.max(wide, high, LEAST) * AROUND);
  const [x, y] = [clamp(left + wide / 2 - span / 2, 0, 1 - span), clamp(top + high / 2 - span / 2, 0, 1 - span)];
  canvas.style.aspectRatio = `${picture.width} / ${picture.height}`;
  const context = cleared(canvas);
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const source = [x * picture.width, y * picture.height, span * picture.width, span * picture.height];
  context.drawImage(picture, source[0], source[1], source[2], source[3], 0, 0, width, height);
  const rect = { left: (-x / span) * width, top: (-y / span) * height, width: width / span, height: height / span };
  const items = versions.map((each) => ({ ...each, key: each.label, look: /** @type {const} */ ("plain") }));
  drawItems(context, rect, items, true);
}
