// Follows one object from frame to frame by its look (`template.js`): a search says about where it is, the alignment with the
// look of the first frame exactly where, so that errors do not add up. Where the look changed, that of the frame before
// takes its place (decision 183).

import { half, sample } from "./gray.js";
import { align, gridOf, look } from "./template.js";

/**
 * @typedef {import("./gray.js").Gray} Gray
 * @typedef {import("./template.js").Pose} Pose
 * @typedef {import("./template.js").Size} Size
 * @typedef {{x: number, y: number, width: number, height: number}} Rect
 * @typedef {(frame: number, rect: Rect, width: number, height: number) => Gray} Cut a part of a frame's picture, scaled
 * @typedef {"look" | "border" | "end"} Reason of a stop: the object looks otherwise or is covered; left the picture; no frame is left
 */

/** About how many pixels wide the object is when it is looked at. */
const FINE = 56;
const MOST_ENLARGED = 3;
/** How far around the object it is searched, in its own size: near where it should be, and where it is not found there. */
const [NEAR, WIDE] = [0.8, 2.2];
/** In how many rows and columns of points it is searched. */
const GRID = 12;
/** Less alike than this it is not the object; far from where it should be, it has to be more alike. */
const [LOST, LOST_FAR] = [0.6, 0.75];
/** Less alike than this, its look is taken anew from the frame before. */
const RENEW = 0.8;
/** So many new looks within so many frames are no object that turns, but one that is covered. */
const MOST_RENEWED = 3;
const RENEWED_WITHIN = 8;
const MOST_GROWTH = 1.25;
/** How much less alike a place counts at the end of the margin. */
const FAR = 0.2;
const LEAST_VISIBLE = 0.5;

export class Tracker {
  /**
   * @param {Cut} cut @param {Size & {pictureWidth: number, pictureHeight: number}} size of the object and of the picture, in pixels
   * @param {number} frame @param {Pose} pose on that frame
   */
  constructor(cut, size, frame, pose) {
    this.cut = cut;
    this.size = size;
    this.frame = frame;
    this.pose = pose;
    /** @type {{x: number, y: number} | null} how it moved last, in pixels a frame */
    this.speed = null;
    this.grid = gridOf(size);
    /** @type {number[]} frames of new looks */
    this.renewed = [];
    const window = this.#window(pose, NEAR);
    this.reference = this.#look(window, frame, pose);
    this.last = this.reference;
  }

  /**
   * Where the object is on another frame, the next one of those that are followed.
   * @param {number} frame @returns {{pose: Pose, score: number} | {reason: Reason, since: number}} `since`: the frame from which on it may be wrong
   */
  next(frame) {
    const found = (this.speed && this.#seek(frame, NEAR)) ?? this.#seek(frame, WIDE);
    if (!found) return { reason: "look", since: frame };
    const { pose } = found;
    if (this.renewed.length > MOST_RENEWED) return { reason: "look", since: this.renewed[0] };
    if (this.#visible(pose) < LEAST_VISIBLE) return { reason: "border", since: frame };
    this.speed = { x: pose.x - this.pose.x, y: pose.y - this.pose.y };
    this.pose = pose;
    this.frame = frame;
    return found;
  }

  /** The pose on a frame, looked for at a margin around where it is expected; null where nothing is alike. */
  #seek(/** @type {number} */ frame, /** @type {number} */ margin) {
    const speed = this.speed ?? { x: 0, y: 0 };
    const window = this.#window({ ...this.pose, x: this.pose.x + speed.x, y: this.pose.y + speed.y }, margin);
    const [before, now] = [this.#picture(window, this.frame), this.#picture(window, frame)];
    const start = inside(window, this.pose);
    const grid = scaled(this.grid, window.shrink);
    const shift = { x: speed.x * window.shrink, y: speed.y * window.shrink };
    const guess = this.#search(before, now, window.shrink, start, shift, margin);
    const near = { ...start, x: start.x + guess.x, y: start.y + guess.y };
    let [reference, found] = [this.reference, align(this.reference, now, grid, near)];
    if (found.score < RENEW || isFar(found.pose, near)) {
      const other = align(this.last, now, grid, near);
      if (isFar(found.pose, near) || other.score > found.score) [reference, found] = [this.last, other];
    }
    if (found.score < (margin === NEAR ? LOST : LOST_FAR) || isFar(found.pose, near) || isJump(found.pose, start))
      return null;
    if (reference !== this.reference) this.renewed.push(frame);
    this.reference = reference;
    this.renewed = this.renewed.filter((each) => Math.abs(each - frame) < RENEWED_WITHIN);
    this.last = look(now, grid, found.pose);
    return { pose: outside(window, found.pose), score: found.score };
  }

  /** The part of the picture in which the object is looked for, and how much smaller it is looked at. */
  #window(/** @type {Pose} */ pose, /** @type {number} */ margin) {
    const { width, height } = this.size;
    const [c, s] = [Math.abs(Math.cos(pose.angle)), Math.abs(Math.sin(pose.angle))];
    const [wide, high] = [(c * width + s * height) * pose.scale, (s * width + c * height) * pose.scale];
    const shrink = Math.min(MOST_ENLARGED, FINE / Math.sqrt(wide * high));
    const around = Math.sqrt(wide * high) * margin;
    return {
      x: Math.round(pose.x - wide / 2 - around),
      y: Math.round(pose.y - high / 2 - around),
      width: Math.round(wide + 2 * around),
      height: Math.round(high + 2 * around),
      shrink,
    };
  }

  /** The picture in a window. */
  #picture(/** @type {Window} */ window, /** @type {number} */ frame) {
    const [wide, high] = [Math.round(window.width * window.shrink), Math.round(window.height * window.shrink)];
    return this.cut(frame, window, wide, high);
  }

  #look(/** @type {Window} */ window, /** @type {number} */ frame, /** @type {Pose} */ pose) {
    return look(this.#picture(window, frame), scaled(this.grid, window.shrink), inside(window, pose));
  }

  /** About how far the object moved: to the place with the most similar picture, at half the size. */
  #search(
    /** @type {Gray} */ before,
    /** @type {Gray} */ now,
    /** @type {number} */ shrink,
    /** @type {Pose} */ start,
    /** @type {{x: number, y: number}} */ speed,
    /** @type {number} */ margin,
  ) {
    const [from, to] = [half(before), half(now)];
    const points = spread(start, this.size, shrink).map(({ x, y, weight }) => {
      const [px, py] = [(x + 0.5) / 2 - 0.5, (y + 0.5) / 2 - 0.5];
      return { x: px, y: py, value: sample(from, px, py), weight };
    });
    const reach = Math.ceil((FINE * margin) / 2);
    const [ex, ey] = [Math.round(speed.x / 2), Math.round(speed.y / 2)];
    let best = { x: ex, y: ey, score: -Infinity };
    const test = (/** @type {number} */ x, /** @type {number} */ y) => {
      const far = ((x - ex) ** 2 + (y - ey) ** 2) / (reach * reach);
      const score = correlation(points, to, x, y) - FAR * far;
      if (score > best.score) best = { x, y, score };
    };
    for (let dy = -reach; dy <= reach; dy += 2) for (let dx = -reach; dx <= reach; dx += 2) test(ex + dx, ey + dy);
    const { x, y } = best;
    for (let dy = -1; dy <= 1; dy += 1) for (let dx = -1; dx <= 1; dx += 1) test(x + dx, y + dy);
    return { x: best.x * 2, y: best.y * 2 };
  }

  /** The share of the box inside of the picture. */
  #visible(/** @type {Pose} */ pose) {
    const [wide, high] = [this.size.width * pose.scale, this.size.height * pose.scale];
    const share = (/** @type {number} */ middle, /** @type {number} */ length, /** @type {number} */ whole) =>
      Math.max(0, Math.min(whole, middle + length / 2) - Math.max(0, middle - length / 2)) / length;
    return share(pose.x, wide, this.size.pictureWidth) * share(pose.y, high, this.size.pictureHeight);
  }
}

/** @typedef {Rect & {shrink: number}} Window */

const inside = (/** @type {Window} */ { x, y, shrink }, /** @type {Pose} */ pose) => ({
  ...pose,
  x: (pose.x - x) * shrink - 0.5,
  y: (pose.y - y) * shrink - 0.5,
});

const outside = (/** @type {Window} */ { x, y, shrink }, /** @type {Pose} */ pose) => ({
  ...pose,
  x: (pose.x + 0.5) / shrink + x,
  y: (pose.y + 0.5) / shrink + y,
});

const scaled = (/** @type {ReturnType<typeof gridOf>} */ grid, /** @type {number} */ by) => ({
  ...grid,
  u: grid.u.map((each) => each * by),
  v: grid.v.map((each) => each * by),
});

/** Points spread over a box, row by row, and how near each is to its middle. @param {Pose} pose @param {Size} size @param {number} shrink @returns {{x: number, y: number, weight: number}[]} */
function spread(pose, { width, height }, shrink) {
  const [c, s] = [Math.cos(pose.angle), Math.sin(pose.angle)].map((each) => each * pose.scale * shrink);
  const middle = (GRID - 1) / 2;
  return Array.from({ length: GRID * GRID }, (_, at) => {
    const [u, v] = [(at % GRID) - middle, Math.floor(at / GRID) - middle].map((each) => each / GRID);
    return {
      x: pose.x + c * u * width - s * v * height,
      y: pose.y + s * u * width + c * v * height,
      weight: Math.exp(-6 * (u * u + v * v)),
    };
  });
}

/** Whether two poses are too far from each other to be the same find. @param {Pose} one @param {Pose} two */
const isFar = (one, two) => Math.hypot(one.x - two.x, one.y - two.y) > FINE / 4;

/** Whether an object grew or shrank more than one does from frame to frame. @param {Pose} one @param {Pose} two */
const isJump = (one, two) => Math.abs(Math.log(one.scale / two.scale)) > Math.log(MOST_GROWTH);

/** How alike two pictures are at points, moved in the second one. */
function correlation(
  /** @type {{x: number, y: number, value: number, weight: number}[]} */ points,
  /** @type {Gray} */ picture,
  /** @type {number} */ dx,
  /** @type {number} */ dy,
) {
  let n = 0;
  let a = 0;
  let b = 0;
  let aa = 0;
  let bb = 0;
  let ab = 0;
  for (const { x, y, value, weight } of points) {
    const px = Math.round(x + dx);
    const py = Math.round(y + dy);
    if (px < 0 || py < 0 || px >= picture.width || py >= picture.height) continue;
    const other = picture.data[py * picture.width + px];
    n += weight;
    a += weight * value;
    b += weight * other;
    aa += weight * value * value;
    bb += weight * other * other;
    ab += weight * value * other;
  }
  const power = (aa - (a * a) / n) * (bb - (b * b) / n);
  return power > 0 ? (ab - (a * b) / n) / Math.sqrt(power) : -1;
}
