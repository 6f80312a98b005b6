// The shape of a track between two of its localizations: the rule of `formats/interpolation.py` of the service.

import { MEMBERS, refinedBy } from "./geometry.js";

/** @typedef {import("./geometry.js").Kind} Kind @typedef {import("./geometry.js").Shape} Shape @typedef {number[]} Corner */

const MOST_STARTS = 256;

/**
 * The shapes between two of one kind, by the share of the way: 0 is the first, 1 the second.
 * @param {Kind} kind @param {Shape} first @param {Shape} second @param {boolean} [isSkeleton] by its type
 * @returns {(share: number) => Shape}
 */
export function blend(kind, first, second, isSkeleton = false) {
  const mix = (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ share) => a + (b - a) * share;
  const kept = refinedBy(first, ["mask", "holes", "angle"]);
  if (kind === "poly") {
    const [from, to] = [first.points ?? [], second.points ?? []];
    // the points of polylines and skeletons correspond by their order
    const isOrdered = (isSkeleton || first.closed === false || first.visible) && from.length === to.length;
    const [one, two] = isOrdered ? [from, to] : matched(from, to);
    return (share) => ({
      ...kept,
      points: one.map(([x, y], at) => [mix(x, two[at][0], share), mix(y, two[at][1], share)]),
    });
  }
  const from = first.angle ?? 0;
  const turn = (((((second.angle ?? 0) - from + 180) % 360) + 360) % 360) - 180;
  return (share) => ({
    ...kept,
    ...Object.fromEntries(
      MEMBERS[kind].map((name) => [name, mix(Number(first[name] ?? 0), Number(second[name] ?? 0), share)]),
    ),
    ...(first.angle || second.angle ? { angle: from + turn * share } : {}),
  });
}

/** Two polygons with as many corners each, in the order in which the corners correspond. */
function matched(/** @type {Corner[]} */ first, /** @type {Corner[]} */ second) {
  const one = divided(first, second.length);
  const two = divided(second, one.length);
  const step = Math.ceil(one.length / MOST_STARTS);
  let [best, least] = [two, distance(one, two)];
  for (const order of [two, [...two].reverse()])
    for (let start = 0; start < one.length; start += step) {
      const turned = [...order.slice(start), ...order.slice(0, start)];
      const far = distance(one, turned);
      if (far < least) [best, least] = [turned, far];
    }
  return [one, best];
}

/** An outline with at least so many corners: its longest edge, and of several the first, is halved repeatedly. */
function divided(/** @type {Corner[]} */ points, /** @type {number} */ number) {
  const made = [...points];
  while (made.length && made.length < number) {
    const lengths = made.map((point, at) => distance([point], [made[(at + 1) % made.length]]));
    const at = lengths.indexOf(Math.max(...lengths));
    const [[ax, ay], [bx, by]] = [made[at], made[(at + 1) % made.length]];
    made.splice(at + 1, 0, [(ax + bx) / 2, (ay + by) / 2]);
  }
  return made;
}

/** The sum of the squared distances of corners that correspond. */
function distance(/** @type {Corner[]} */ one, /** @type {Corner[]} */ two) {
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += (one[at][0] - two[at][0]) ** 2 + (one[at][1] - two[at][1]) ** 2;
  return sum;
}
