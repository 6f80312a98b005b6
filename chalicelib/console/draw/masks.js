// Masks of boxes: COCO's compressed run lengths, column by column, as pictures to draw. Pure but for the canvas.

/** @typedef {{size: [number, number], counts: string}} Mask height and width in pixels of the box, and the runs */

const ALPHA = 110;
/** @type {WeakMap<Mask, {color: string, picture: OffscreenCanvas}>} */
const drawn = new WeakMap();

/** The lengths of runs, of pixels outside and inside by turns. @param {string} counts @returns {number[]} */
export function runsOf(counts) {
  /** @type {number[]} */
  const runs = [];
  for (let at = 0; at < counts.length; ) {
    let value = 0;
    let shift = 0;
    for (let isMore = true; isMore && at < counts.length; at += 1, shift += 5) {
      const part = counts.charCodeAt(at) - 48;
      value |= (part & 31) << shift;
      isMore = (part & 32) !== 0;
      if (!isMore && part & 16) value |= -1 << (shift + 5);
    }
    runs.push(runs.length > 2 ? value + runs[runs.length - 2] : value);
  }
  return runs;
}

/** A mask in a color. @param {Mask} mask @param {string} color of six digits */
export function pictureOfMask(mask, color) {
  const known = drawn.get(mask);
  if (known?.color === color) return known.picture;
  const [height, width] = mask.size;
  const picture = new OffscreenCanvas(width, height);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (picture.getContext("2d"));
  const pixels = context.createImageData(width, height);
  const channels = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  let from = 0;
  for (const [turn, length] of runsOf(mask.counts).entries()) {
    if (turn % 2)
      for (let at = from; at < from + length; at += 1)
        pixels.data.set([...channels, ALPHA], 4 * ((at % height) * width + Math.floor(at / height)));
    from += length;
  }
  context.putImageData(pixels, 0, 0);
  drawn.set(mask, { color, picture });
  return picture;
}
