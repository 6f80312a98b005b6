// From a mask to polygons with holes: along the sides of its pixels, then with as few corners as a tolerance allows.

import { isInside } from "../draw/geometry.js";
import { combined } from "./region.js";

/**
 * @typedef {import("./region.js").Pixel} Pixel
 * @typedef {{ring: Pixel[], holes: Pixel[][]}} Outline in pixels
 * @typedef {{from: Pixel, to: Pixel}} Edge with the mask at its right
 */

const TOLERANCE = 1.05;
/** Parts and holes with fewer pixels are left out. */
const LEAST = 4;

/** The outlines of a mask, the largest first. @param {import("./region.js").Region} region @returns {Outline[]} */
export function outlinesOf(region) {
  const rings = ringsOf(region).filter((ring) => Math.abs(areaOf(ring)) >= LEAST);
  const outer = rings.filter((ring) => areaOf(ring) > 0).sort((one, two) => areaOf(one) - areaOf(two));
  /** @type {Map<Pixel[], Pixel[][]>} */
  const holes = new Map(outer.map((ring) => [ring, []]));
  for (const hole of rings.filter((ring) => areaOf(ring) < 0)) {
    const around = outer.find((ring) => isInside(ring, withinOf(hole)));
    if (around) holes.get(around)?.push(hole);
  }
  return outer.reverse().map((ring) => {
    const simple = simplified(ring);
    const own = (holes.get(ring) ?? []).map(simplified).filter((hole) => hole.length > 2);
    // where a wall is thinner than the tolerance all corners stay
    const isWhole = simple.length > 2 && own.every((hole) => hole.every((point) => isInside(simple, point)));
    return isWhole ? { ring: simple, holes: own } : { ring, holes: holes.get(ring) ?? [] };
  });
}

/** The outlines along the sides of pixels; those of holes run the other way. @param {import("./region.js").Region} region @returns {Pixel[][]} */
function ringsOf({ columns, size }) {
  /** @type {Map<number, Edge[]>} */
  const starts = new Map();
  const keyOf = (/** @type {Pixel} */ at) => at.x * (size.height + 1) + at.y;
  const add = (/** @type {number[]} */ [x1, y1, x2, y2]) => {
    const from = { x: x1, y: y1 };
    starts.set(keyOf(from), [...(starts.get(keyOf(from)) ?? []), { from, to: { x: x2, y: y2 } }]);
  };
  for (let x = 0; x <= size.width; x += 1) {
    const [before, here] = [columns[x - 1] ?? [], columns[x] ?? []];
    const [left, right] = [combined(here, before, false), combined(before, here, false)];
    for (let at = 0; at < left.length; at += 2) add([x, left[at + 1], x, left[at]]);
    for (let at = 0; at < right.length; at += 2) add([x, right[at], x, right[at + 1]]);
    for (let at = 0; at < here.length; at += 2) {
      add([x, here[at], x + 1, here[at]]);
      add([x + 1, here[at + 1], x, here[at + 1]]);
    }
  }
  /** @type {Pixel[][]} */
  const rings = [];
  for (const edges of starts.values())
    while (edges.length) {
      const first = /** @type {Edge} */ (edges.pop());
      const ring = [first.from];
      for (let edge = first; keyOf(edge.to) !== keyOf(first.from); ) {
        const next = starts.get(keyOf(edge.to)) ?? [];
        // where two pixels touch at a corner, the ring stays with its own
        const at = next.length > 1 && crossOf(edge, next[0]) < crossOf(edge, next[1]) ? 1 : 0;
        const [taken] = next.splice(at, 1);
        if (crossOf(edge, taken) !== 0) ring.push(taken.from);
        edge = taken;
      }
      rings.push(ring);
    }
  return rings;
}

/** Above 0 where the second edge turns right of the first. @param {Edge} one @param {Edge} two */
const crossOf = (one, two) =>
  (one.to.x - one.from.x) * (two.to.y - two.from.y) - (one.to.y - one.from.y) * (two.to.x - two.from.x);

/** The area within a ring, negative for a hole. @param {Pixel[]} ring */
function areaOf(ring) {
  let sum = 0;
  ring.forEach((a, at) => {
    const b = ring[(at + 1) % ring.length];
    sum += a.x * b.y - b.x * a.y;
  });
  return sum / 2;
}

/** The middle of a pixel within a hole: beside its first edge that has a length. @param {Pixel[]} hole @returns {Pixel} */
function withinOf([a, b]) {
  const length = Math.hypot(b.x - a.x, b.y - a.y);
  const [along, down] = [(b.x - a.x) / length, (b.y - a.y) / length];
  return { x: a.x + along / 2 + down / 2, y: a.y + down / 2 - along / 2 };
}

/** A ring with as few corners as lie within the tolerance, by Douglas and Peucker. @param {Pixel[]} ring @returns {Pixel[]} */
function simplified(ring) {
  const [start] = ring;
  let far = 0;
  ring.forEach((point, at) => {
    if (distance(point, start, start) > distance(ring[far], start, start)) far = at;
  });
  const closed = [...ring, start];
  const kept = new Uint8Array(closed.length);
  kept[0] = kept[far] = 1;
  const open = [
    [0, far],
    [far, ring.length],
  ];
  for (let part = open.pop(); part; part = open.pop()) {
    const [first, last] = part;
    let [most, at] = [TOLERANCE, -1];
    for (let place = first + 1; place < last; place += 1) {
      const off = distance(closed[place], closed[first], closed[last]);
      if (off > most) [most, at] = [off, place];
    }
    if (at < 0) continue;
    kept[at] = 1;
    open.push([first, at], [at, last]);
  }
  return ring.filter((_, at) => kept[at]);
}

/** The distance of a point from a line, or from the place where it has no length. @param {Pixel} p @param {Pixel} a @param {Pixel} b */
function distance(p, a, b) {
  const length = Math.hypot(b.x - a.x, b.y - a.y);
  if (!length) return Math.hypot(p.x - a.x, p.y - a.y);
  return Math.abs((b.x - a.x) * (a.y - p.y) - (a.x - p.x) * (b.y - a.y)) / length;
}
