// Gray pictures as arrays of numbers, and reading them between their pixels. Pure functions.

/** @typedef {{width: number, height: number, data: Float32Array}} Gray luma, row by row, 0…255 */

/** @param {number} width @param {number} height @returns {Gray} */
export const blank = (width, height) => ({ width, height, data: new Float32Array(width * height) });

/** Luma (BT.601) of pixels as a canvas has them. @param {ImageData | {width: number, height: number, data: Uint8ClampedArray}} pixels @returns {Gray} */
export function grayOf({ width, height, data }) {
  const made = blank(width, height);
  for (let at = 0, from = 0; at < made.data.length; at += 1, from += 4)
    made.data[at] = 0.299 * data[from] + 0.587 * data[from + 1] + 0.114 * data[from + 2];
  return made;
}

/** Half the width and height: each pixel is the mean of four. @param {Gray} picture @returns {Gray} */
export function half({ width, height, data }) {
  const made = blank(width >> 1, height >> 1);
  for (let y = 0, to = 0; y < made.height; y += 1)
    for (let x = 0, at = 2 * y * width; x < made.width; x += 1, at += 2, to += 1)
      made.data[to] = (data[at] + data[at + 1] + data[at + width] + data[at + width + 1]) / 4;
  return made;
}

/** The value at a place, linearly between the four pixels around it; at the border its nearest pixel. @param {Gray} picture @param {number} x @param {number} y pixel (0, 0) has its middle at 0, 0 */
export function sample({ width, height, data }, x, y) {
  const inX = x < 0 ? 0 : x > width - 1.001 ? width - 1.001 : x;
  const inY = y < 0 ? 0 : y > height - 1.001 ? height - 1.001 : y;
  const left = inX | 0;
  const top = inY | 0;
  const at = top * width + left;
  const u = inX - left;
  const v = inY - top;
  return (
    (1 - v) * ((1 - u) * data[at] + u * data[at + 1]) + v * ((1 - u) * data[at + width] + u * data[at + width + 1])
  );
}
