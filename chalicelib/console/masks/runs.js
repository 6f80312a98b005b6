// Masks of boxes as COCO's compressed run lengths, column by column: `core/values/rle.py` of the service in the browser.

/** @typedef {{size: [number, number], counts: string}} Mask height and width in pixels of the box, and the runs */

/** The longest text of one mask that the service takes. */
export const MOST_CHARACTERS = 65_536;

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

/** The text of run lengths. @param {number[]} runs @returns {string} */
export function textOf(runs) {
  /** @type {string[]} */
  const text = [];
  for (let place = 0; place < runs.length; place += 1) {
    let value = place > 2 ? runs[place] - runs[place - 2] : runs[place];
    for (let isMore = true; isMore; ) {
      const group = value & 31;
      value >>= 5;
      isMore = value !== (group & 16 ? -1 : 0);
      text.push(String.fromCharCode(48 + group + (isMore ? 32 : 0)));
    }
  }
  return text.join("");
}
