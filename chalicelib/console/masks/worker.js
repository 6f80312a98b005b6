// The object in a box beside the page: gets the picture and the box, and answers its pixels.

import { objectIn } from "./edges.js";

/**
 * @typedef {object} Question
 * @property {ImageBitmap} picture
 * @property {{left: number, top: number, right: number, bottom: number}} cut what is looked at, in fractions of the picture
 * @property {{x: number, y: number, width: number, height: number}} box in fractions of the picture
 * @property {number} finest the longest side at which it is looked at, in pixels
 * @property {{width: number, height: number}} made the size of the answer: a byte for each pixel of the box, row by row
 */

onmessage = (/** @type {MessageEvent<Question>} */ { data: { picture, cut, box, finest, made } }) => {
  const [wide, high] = [(cut.right - cut.left) * picture.width, (cut.bottom - cut.top) * picture.height];
  const scale = Math.min(1, finest / Math.max(wide, high));
  const [width, height] = [Math.max(2, Math.round(wide * scale)), Math.max(2, Math.round(high * scale))];
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (
    new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true })
  );
  context.imageSmoothingQuality = "medium";
  context.drawImage(picture, cut.left * picture.width, cut.top * picture.height, wide, high, 0, 0, width, height);
  picture.close();
  const across = (/** @type {number} */ x) => Math.round(((x - cut.left) / (cut.right - cut.left)) * width);
  const down = (/** @type {number} */ y) => Math.round(((y - cut.top) / (cut.bottom - cut.top)) * height);
  const area = {
    left: across(box.x),
    right: across(box.x + box.width),
    top: down(box.y),
    bottom: down(box.y + box.height),
  };
  const likely = objectIn(context.getImageData(0, 0, width, height), area);
  const bits = new Uint8Array(made.width * made.height);
  // between the middles of its pixels the answer changes evenly, so that borders are smooth at the size of the media
  const [stepX, stepY] = [(area.right - area.left) / made.width, (area.bottom - area.top) / made.height];
  const at = (/** @type {number} */ x, /** @type {number} */ y) =>
    likely[Math.min(Math.max(y, 0), height - 1) * width + Math.min(Math.max(x, 0), width - 1)];
  for (let y = 0; y < made.height; y += 1) {
    const v = area.top + (y + 0.5) * stepY - 0.5;
    const [row, below] = [Math.floor(v), v - Math.floor(v)];
    for (let x = 0; x < made.width; x += 1) {
      const u = area.left + (x + 0.5) * stepX - 0.5;
      const [column, right] = [Math.floor(u), u - Math.floor(u)];
      const upper = at(column, row) * (1 - right) + at(column + 1, row) * right;
      const lower = at(column, row + 1) * (1 - right) + at(column + 1, row + 1) * right;
      if (upper * (1 - below) + lower * below > 0.5) bits[y * made.width + x] = 1;
    }
  }
  postMessage(bits, { transfer: [bits.buffer] });
};
