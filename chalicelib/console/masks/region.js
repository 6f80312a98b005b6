// The pixels of a mask in the whole picture: for each column the rows at which it begins and ends, in pairs. An edit makes
// anew only the columns that it touches, so it costs as much as what it changes, whatever the size of the picture.

import { runsOf, textOf } from "./runs.js";

/**
 * @typedef {import("./runs.js").Mask} Mask
 * @typedef {{width: number, height: number}} Size in pixels
 * @typedef {{left: number, top: number, right: number, bottom: number}} Area in pixels, without its right column and bottom row
 * @typedef {{x: number, y: number}} Pixel a place in pixels; 0.5 is the middle of the first
 * @typedef {Int32Array | number[]} Column begin and end of each stretch, ascending
 */

/** @type {number[]} */
const NOTHING = [];

/** The stretches that are in one column, the other or both, or in the first alone. @param {Column} one @param {Column} two @param {boolean} isUnion else the difference @returns {number[]} */
export function combined(one, two, isUnion) {
  /** @type {number[]} */
  const made = [];
  let [a, b, isOn] = [0, 0, false];
  while (a < one.length || b < two.length) {
    const at = Math.min(one[a] ?? Infinity, two[b] ?? Infinity);
    while (one[a] === at) a += 1;
    while (two[b] === at) b += 1;
    const isNow = isUnion ? a % 2 === 1 || b % 2 === 1 : a % 2 === 1 && b % 2 === 0;
    if (isNow !== isOn) made.push(at);
    isOn = isNow;
  }
  return made;
}

export class Region {
  /** @param {Size} size of the picture @param {Column[]} [columns] */
  constructor(size, columns) {
    this.size = size;
    this.columns = columns ?? Array.from({ length: size.width }, () => NOTHING);
  }

  /** The pixels of a box with a mask. @param {import("../draw/geometry.js").Shape} shape @param {Size} size */
  static of(shape, size) {
    const region = new Region(size);
    if (!shape.mask) return region;
    const [height, width] = shape.mask.size;
    const left = Math.max(0, Math.min(Math.round((shape.x ?? 0) * size.width), size.width - width));
    const top = Math.max(0, Math.min(Math.round((shape.y ?? 0) * size.height), size.height - height));
    let from = 0;
    for (const [turn, length] of runsOf(shape.mask.counts).entries()) {
      if (turn % 2)
        for (let at = from; at < from + length; ) {
          const column = Math.floor(at / height);
          const end = Math.min(from + length, (column + 1) * height);
          const place = left + column;
          if (region.columns[place] === NOTHING) region.columns[place] = [];
          /** @type {number[]} */ (region.columns[place]).push(top + at - column * height, top + end - column * height);
          at = end;
        }
      from += length;
    }
    return region;
  }

  /** The pixels that a box with a mask of another picture's size covers. @param {import("../draw/geometry.js").Shape} shape @param {Size} size */
  static scaled({ x = 0, y = 0, width = 0, height = 0, mask }, size) {
    const region = new Region(size);
    if (!mask) return region;
    const [tall, wide] = mask.size;
    const { columns } = Region.of({ x: 0, y: 0, mask }, { width: wide, height: tall });
    const [left, right] = [x, x + width].map((each) => Math.round(each * size.width));
    const [top, bottom] = [y, y + height].map((each) => Math.round(each * size.height));
    for (let at = left; at < right; at += 1) {
      const rows = [...columns[Math.floor(((at - left + 0.5) * wide) / (right - left))]].map(
        (row) => top + Math.round((row * (bottom - top)) / tall),
      );
      for (let row = 0; row < rows.length; row += 2)
        if (rows[row] < rows[row + 1])
          region.columns[at] = combined(region.columns[at], rows.slice(row, row + 2), true);
    }
    return region;
  }

  /** The pixels whose middles lie within an odd number of outlines. @param {Pixel[][]} rings @param {Size} size */
  static filled(rings, size) {
    /** @type {number[][]} */
    const crossings = Array.from({ length: size.width }, () => []);
    for (const ring of rings)
      ring.forEach((a, index) => {
        const b = ring[(index + 1) % ring.length];
        const [low, high] = [Math.ceil(a.x - 0.5), Math.ceil(b.x - 0.5)];
        for (let x = Math.max(Math.min(low, high), 0); x < Math.min(Math.max(low, high), size.width); x += 1)
          crossings[x].push(a.y + ((x + 0.5 - a.x) / (b.x - a.x)) * (b.y - a.y));
      });
    const limit = (/** @type {number} */ y) => Math.min(Math.max(Math.ceil(y - 0.5), 0), size.height);
    const columns = crossings.map((heights) => {
      const rows = heights.sort((a, b) => a - b).map(limit);
      const stretches = rows.flatMap((top, at) => (at % 2 === 0 && rows[at + 1] > top ? [[top, rows[at + 1]]] : []));
      return stretches.reduce((made, stretch) => combined(made, stretch, true), NOTHING);
    });
    return new Region(size, columns);
  }

  /** The pixels of a bitmap at a place of the picture. @param {Uint8Array} bits row by row, 0 outside @param {Area} area @param {Size} size */
  static ofBits(bits, { left, top, right, bottom }, size) {
    const region = new Region(size);
    const wide = right - left;
    for (let x = left; x < right; x += 1) {
      /** @type {number[]} */
      const column = [];
      for (let y = top, isOn = false; y <= bottom; y += 1) {
        const isNow = y < bottom && bits[(y - top) * wide + x - left] > 0;
        if (isNow !== isOn) column.push(y);
        isOn = isNow;
      }
      if (column.length) region.columns[x] = column;
    }
    return region;
  }

  copy() {
    return new Region(this.size, [...this.columns]);
  }

  get isEmpty() {
    return this.columns.every((column) => !column.length);
  }

  /** How many pixels it has. */
  get count() {
    let sum = 0;
    for (const column of this.columns) for (let at = 0; at < column.length; at += 2) sum += column[at + 1] - column[at];
    return sum;
  }

  /** @param {number} x @param {number} y whole numbers */
  has(x, y) {
    const column = this.columns[x] ?? NOTHING;
    let at = 0;
    while (at < column.length && column[at] <= y) at += 1;
    return at % 2 === 1;
  }

  /** The smallest area with all pixels. @returns {Area | null} null without pixels */
  get bounds() {
    let found = /** @type {Area | null} */ (null);
    this.columns.forEach((column, x) => {
      if (!column.length) return;
      const [top, bottom] = [column[0], column[column.length - 1]];
      found ??= { left: x, top, right: x, bottom };
      found = { left: found.left, top: Math.min(found.top, top), right: x + 1, bottom: Math.max(found.bottom, bottom) };
    });
    return found;
  }

  /** Paint or erase what a round brush covers on its way: pixels whose middles are within its radius. @param {Pixel} from @param {Pixel} to @param {number} radius @param {boolean} isErasing @returns {Area} what may have changed */
  stroke(from, to, radius, isErasing) {
    const { width, height } = this.size;
    const area = {
      left: Math.max(0, Math.floor(Math.min(from.x, to.x) - radius)),
      right: Math.min(width, Math.ceil(Math.max(from.x, to.x) + radius) + 1),
      top: Math.max(0, Math.floor(Math.min(from.y, to.y) - radius)),
      bottom: Math.min(height, Math.ceil(Math.max(from.y, to.y) + radius) + 1),
    };
    for (let x = area.left; x < area.right; x += 1) {
      const span = spanOf(from, to, radius, x + 0.5);
      if (!span) continue;
      const stretch = [Math.max(0, Math.ceil(span[0] - 0.5)), Math.min(height, Math.floor(span[1] - 0.5) + 1)];
      if (stretch[1] > stretch[0]) this.columns[x] = combined(this.columns[x], stretch, !isErasing);
    }
    return area;
  }

  /** Fill the hole around a pixel. @param {number} x @param {number} y whole numbers @returns {boolean} whether there was one: neither a pixel of the mask, nor joined with the border of the picture */
  fill(x, y) {
    if (this.has(x, y)) return false;
    const { width, height } = this.size;
    const gaps = this.columns.map((column) => combined([0, height], column, false));
    /** @type {boolean[][]} */
    const seen = gaps.map(() => []);
    const at = (/** @type {number} */ column, /** @type {number} */ row) => {
      const found = gaps[column].findIndex(
        (begin, place) => place % 2 === 0 && begin <= row && row < gaps[column][place + 1],
      );
      return /** @type {[number, number]} */ ([column, found]);
    };
    const open = [at(x, y)];
    const hole = new Region(this.size);
    for (let next = open.pop(); next; next = open.pop()) {
      const [column, place] = next;
      if (seen[column][place]) continue;
      seen[column][place] = true;
      const [begin, end] = [gaps[column][place], gaps[column][place + 1]];
      if (begin === 0 || end === height || column === 0 || column === width - 1) return false;
      hole.columns[column] = combined(hole.columns[column], [begin, end], true);
      for (const beside of [column - 1, column + 1])
        gaps[beside].forEach((first, other) => {
          if (other % 2 === 0 && first < end && gaps[beside][other + 1] > begin) open.push([beside, other]);
        });
    }
    this.join(hole);
    return true;
  }

  /** Add the pixels of another. @param {Region} other */
  join(other) {
    this.columns = this.columns.map((column, x) =>
      other.columns[x].length ? combined(column, other.columns[x], true) : column,
    );
  }

  /** Take the pixels of another away. @param {Region} other */
  cut(other) {
    this.columns = this.columns.map((column, x) =>
      other.columns[x].length ? combined(column, other.columns[x], false) : column,
    );
  }

  /** The box around it with its mask; null without pixels. @returns {{x: number, y: number, width: number, height: number, mask: Mask} | null} */
  get shape() {
    const area = this.bounds;
    if (!area) return null;
    const [width, height] = [area.right - area.left, area.bottom - area.top];
    /** @type {number[]} */
    const ends = [];
    for (let x = 0; x < width; x += 1) {
      const column = this.columns[area.left + x];
      for (let at = 0; at < column.length; at += 1) {
        const place = x * height + column[at] - area.top;
        // what goes on in the next column is one run
        if (at === 0 && ends.length && ends[ends.length - 1] === place) ends.pop();
        else ends.push(place);
      }
    }
    const runs = ends.map((end, at) => end - (at ? ends[at - 1] : 0));
    if (ends[ends.length - 1] < width * height) runs.push(width * height - ends[ends.length - 1]);
    return {
      x: area.left / this.size.width,
      y: area.top / this.size.height,
      width: width / this.size.width,
      height: height / this.size.height,
      mask: { size: [height, width], counts: textOf(runs) },
    };
  }

  /** Write its pixels of an area. @param {Uint32Array} pixels row by row, of the area alone @param {Area} area @param {number} value of a pixel inside */
  paint(pixels, { left, top, right, bottom }, value) {
    const wide = right - left;
    for (let x = left; x < right; x += 1) {
      const column = this.columns[x];
      for (let at = 0; at < column.length; at += 2) {
        const end = Math.min(column[at + 1], bottom);
        for (let y = Math.max(column[at], top); y < end; y += 1) pixels[(y - top) * wide + x - left] = value;
      }
    }
  }
}

/** The rows that a brush covers on a line down the picture. @param {Pixel} from @param {Pixel} to @param {number} radius @param {number} x @returns {[number, number] | null} */
function spanOf(from, to, radius, x) {
  let [low, high] = [Infinity, -Infinity];
  for (const end of [from, to]) {
    const half = radius ** 2 - (x - end.x) ** 2;
    if (half < 0) continue;
    low = Math.min(low, end.y - Math.sqrt(half));
    high = Math.max(high, end.y + Math.sqrt(half));
  }
  const [along, down] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(along, down);
  // the two sides between the round ends
  if (length > 0)
    for (const side of [-radius, radius]) {
      const [shiftX, shiftY] = [(-down / length) * side, (along / length) * side];
      const share = along ? (x - from.x - shiftX) / along : -1;
      if (share < 0 || share > 1) continue;
      low = Math.min(low, from.y + shiftY + share * down);
      high = Math.max(high, from.y + shiftY + share * down);
    }
  return high >= low ? [low, high] : null;
}
