// Pictures of masks to draw over the picture of the media, made once for each mask and color.

import { Region } from "../masks/region.js";

/** @typedef {import("../masks/runs.js").Mask} Mask */
/** @typedef {import("../masks/region.js").Area} Area */
/** @typedef {{color: string, picture: OffscreenCanvas, area: Area}} Drawn the part of a picture that has the mask */

const ALPHA = 110;
/** @type {WeakMap<Mask, Drawn>} */
const drawn = new WeakMap();

/** A pixel of a color of six digits, half transparent, as it lies in memory. @param {string} color */
export function pixelOf(color) {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  return new Uint32Array(new Uint8Array([red, green, blue, ALPHA]).buffer)[0];
}

/** Draw the pixels of a region anew within an area of a picture. @param {OffscreenCanvas} picture @param {Region} region @param {Area} area @param {number} pixel */
export function repaint(picture, region, area, pixel) {
  const [wide, high] = [area.right - area.left, area.bottom - area.top];
  if (wide < 1 || high < 1) return;
  const image = new ImageData(wide, high);
  region.paint(new Uint32Array(image.data.buffer), area, pixel);
  /** @type {OffscreenCanvasRenderingContext2D} */ (picture.getContext("2d")).putImageData(image, area.left, area.top);
}

/** Take over a picture of a mask that is there already; null forgets it. @param {Mask} mask @param {Drawn | null} picture */
export function keepPicture(mask, picture) {
  if (picture) drawn.set(mask, picture);
  else drawn.delete(mask);
}

/** A mask in a color. @param {Mask} mask @param {string} color of six digits @returns {Drawn} */
function pictureOf(mask, color) {
  const known = drawn.get(mask);
  if (known?.color === color) return known;
  const [height, width] = mask.size;
  const area = { left: 0, top: 0, right: width, bottom: height };
  const picture = new OffscreenCanvas(width, height);
  repaint(picture, Region.of({ x: 0, y: 0, mask }, { width, height }), area, pixelOf(color));
  const made = { color, picture, area };
  drawn.set(mask, made);
  return made;
}

/** Draw a mask into its box on the screen. @param {CanvasRenderingContext2D} context @param {Mask} mask @param {string} color @param {{x: number, y: number, width: number, height: number}} box in pixels of the screen */
export function drawMask(context, mask, color, box) {
  const { picture, area } = pictureOf(mask, color);
  const [wide, high] = [area.right - area.left, area.bottom - area.top];
  context.imageSmoothingEnabled = box.width < wide;
  context.drawImage(picture, area.left, area.top, wide, high, box.x, box.y, box.width, box.height);
}
