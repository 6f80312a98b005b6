// Shapes of annotations as the tracker follows them, and back: a box with a middle, a size and a turn. Pure functions.

import { boundsOf, clamp, pointsOf, refinedBy } from "../draw/geometry.js";
import { fewest, TOLERANCE } from "./keyframes.js";

/**
 * @typedef {import("../draw/geometry.js").Shape} Shape
 * @typedef {import("../draw/geometry.js").Kind} Kind
 * @typedef {import("./template.js").Pose} Pose
 * @typedef {{width: number, height: number}} Size in pixels
 */

/** A place without a size is followed with what is around it: of this share of the picture's longer side. */
const AROUND = 0.035;
const LEAST = 12;
const TURN = Math.PI / 180;
const round = (/** @type {number} */ value) => Math.round(value * 1e5) / 1e5;

/** The box that is followed for a shape, and its pose. @param {Kind} kind @param {Shape} shape @param {Size} picture @returns {{size: Size, pose: Pose}} */
export function followed(kind, shape, picture) {
  const bounds = boundsOf(kind, shape);
  const around = kind === "dot" ? AROUND * Math.max(picture.width, picture.height) : 0;
  const size = {
    width: Math.max(LEAST, around, bounds.width * picture.width),
    height: Math.max(LEAST, around, bounds.height * picture.height),
  };
  const pose = {
    x: (bounds.x + bounds.width / 2) * picture.width,
    y: (bounds.y + bounds.height / 2) * picture.height,
    scale: 1,
    angle: (shape.angle ?? 0) * TURN,
  };
  return { size, pose };
}

/** A shape where it is after its box moved from one pose to another. Upright boxes stay upright. @param {Kind} kind @param {Shape} shape @param {Pose} from @param {Pose} to @param {Size} picture @returns {Shape} */
export function carried(kind, shape, from, to, picture) {
  const scale = to.scale / from.scale;
  if (kind === "dot") return { x: round(clamp(to.x / picture.width)), y: round(clamp(to.y / picture.height)) };
  if (kind === "box") {
    const wide = (shape.width ?? 0) * scale;
    const high = (shape.height ?? 0) * scale;
    const [x, y] = [to.x / picture.width - wide / 2, to.y / picture.height - high / 2];
    const form = refinedBy(shape, ["mask", "angle"]);
    if (shape.angle !== undefined) {
      const angle = shape.angle + (to.angle - from.angle) / TURN;
      const turned = { x: round(clamp(x)), y: round(clamp(y)), angle: round(angle % 360) };
      return {
        ...form,
        ...turned,
        width: round(Math.min(wide, 1 - turned.x)),
        height: round(Math.min(high, 1 - turned.y)),
      };
    }
    const [left, top, right, bottom] = [x, y, x + wide, y + high].map((each) => round(clamp(each)));
    return { ...form, x: left, y: top, width: round(right - left), height: round(bottom - top) };
  }
  const [c, s] = [Math.cos(to.angle - from.angle) * scale, Math.sin(to.angle - from.angle) * scale];
  const points = pointsOf(kind, shape).map((point) => {
    const [u, v] = [point.x * picture.width - from.x, point.y * picture.height - from.y];
    return [(to.x + c * u - s * v) / picture.width, (to.y + s * u + c * v) / picture.height].map((each) =>
      round(clamp(each)),
    );
  });
  if (kind === "poly") return { points, ...refinedBy(shape, ["holes"]) };
  const [[x, y], [right, bottom]] = points;
  return { x, y, u: round(right - x), v: round(bottom - y) };
}

/** The numbers of a shape that change linearly between keyframes, its edges for a box, and how far each may be off. @param {Kind} kind @param {Shape} shape @param {Size} picture */
function measured(kind, shape, picture) {
  const { size } = followed(kind, shape, picture);
  const [wide, high] = [(TOLERANCE * size.width) / picture.width, (TOLERANCE * size.height) / picture.height];
  const points = pointsOf(kind, shape).filter((_, at) => kind !== "box" || at % 2 === 0);
  const values = points.flatMap(({ x, y }) => [x, y]);
  const reach = points.flatMap(() => [wide, high]);
  // a turn by twice the tolerance moves a corner by the tolerance of the diagonal
  return shape.angle === undefined
    ? { values, reach }
    : { values: [...values, shape.angle], reach: [...reach, (2 * TOLERANCE) / TURN] };
}

/** The fewest of the shapes on frames between which all others lie, within the tolerance. @param {Kind} kind @param {[number, Shape][]} path by frame @param {Size} picture @returns {[number, Shape][]} */
export function reduced(kind, path, picture) {
  const all = path.map(([, shape]) => measured(kind, shape, picture));
  const kept = fewest(
    path.map(([frame]) => frame),
    all.map(({ values }) => values),
    all.map(({ reach }) => reach),
  );
  return kept.map((at) => path[at]);
}

/**
 * A path that was followed to a frame on which the shape is known: what it is off there is spread evenly over the frames
 * before. Unchanged where the two have little in common.
 * @param {Kind} kind @param {[number, Shape][]} path its last frame is that of `end` @param {Shape} end @param {Size} picture @returns {[number, Shape][]}
 */
export function ended(kind, path, end, picture) {
  const last = path.length - 1;
  const far = followed(kind, path[last][1], picture);
  const aim = followed(kind, end, picture);
  const gap = { x: aim.pose.x - far.pose.x, y: aim.pose.y - far.pose.y };
  if (Math.hypot(gap.x, gap.y) > Math.hypot(aim.size.width, aim.size.height) / 3) return path;
  const scale = Math.sqrt((aim.size.width * aim.size.height) / (far.size.width * far.size.height));
  const angle = aim.pose.angle - far.pose.angle;
  return path.map(([frame, shape], at) => {
    if (at === last) return [frame, end];
    const share = at / last;
    const { pose } = followed(kind, shape, picture);
    const to = {
      x: pose.x + gap.x * share,
      y: pose.y + gap.y * share,
      scale: scale ** share,
      angle: pose.angle + angle * share,
    };
    return [frame, carried(kind, shape, pose, to, picture)];
  });
}
