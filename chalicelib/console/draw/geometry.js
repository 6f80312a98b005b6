// Shapes in fractions of the picture's width and height: their bounds, handles, hits, moves. Pure functions.

/**
 * @typedef {"box" | "line" | "dot" | "poly"} Kind
 * @typedef {{x?: number, y?: number, width?: number, height?: number, u?: number, v?: number, points?: number[][],
 *   angle?: number, form?: "ellipse", mask?: import("../masks/runs.js").Mask, closed?: boolean, holes?: number[][][], visible?: number[]}} Shape
 *   `angle`: degrees clockwise by which a box is turned about its middle; `visible`: of each point 0 not there, 1 hidden, 2 visible
 * @typedef {{x: number, y: number}} Point
 * @typedef {Point & {name: string}} Handle
 * @typedef {{width: number, height: number}} Size of the picture on the screen, in pixels
 */

/** @type {Record<Kind, (keyof Shape)[]>} the members of each kind */
export const MEMBERS = {
  box: ["x", "y", "width", "height"],
  line: ["x", "y", "u", "v"],
  dot: ["x", "y"],
  poly: ["points"],
};

/** What refines a box or polygon (`core/values/shapes.py`). @type {(keyof Shape)[]} */
export const REFINING = ["angle", "form", "mask", "closed", "holes", "visible"];

/** @param {number} value */
export const clamp = (value, low = 0, high = 1) => Math.min(high, Math.max(low, value));
const n = (/** @type {number | undefined} */ value) => value ?? 0;

/** The corners or points that make a shape. @param {Kind} kind @param {Shape} shape @returns {Point[]} */
export function pointsOf(kind, shape) {
  const { x, y } = { x: n(shape.x), y: n(shape.y) };
  if (kind === "poly") return (shape.points ?? []).map(([px, py]) => ({ x: px, y: py }));
  if (kind === "dot") return [{ x, y }];
  if (kind === "line")
    return [
      { x, y },
      { x: x + n(shape.u), y: y + n(shape.v) },
    ];
  const [right, bottom] = [x + n(shape.width), y + n(shape.height)];
  return [
    { x, y },
    { x: right, y },
    { x: right, y: bottom },
    { x, y: bottom },
  ];
}

/** What refines a shape, but what is named. @param {Shape} shape @param {(keyof Shape)[]} [but] @returns {Shape} */
export const refinedBy = (shape, but = []) =>
  Object.fromEntries(
    REFINING.filter((name) => !but.includes(name) && (shape[name] ?? null) !== null).map((name) => [name, shape[name]]),
  );

/** Whether a point of a shape is there: of a skeleton, one that was marked. @param {Shape} shape @param {number} at */
export const isThere = (shape, at) => shape.visible?.[at] !== 0;

/** Whether a shape has a place. @param {Shape | undefined} shape */
export const hasPlace = (shape) => Boolean(shape && (shape.points?.length || shape.x !== undefined));

/** The smallest box around a shape. @param {Kind} kind @param {Shape} shape @param {Size} [size] of the picture, for turned boxes */
export function boundsOf(kind, shape, size) {
  const all = size && shape.angle ? turnedIn(shape, size) : pointsOf(kind, shape);
  const there = all.filter((_, at) => isThere(shape, at));
  const points = there.length ? there : all;
  const [left, top] = [Math.min(...points.map((p) => p.x)), Math.min(...points.map((p) => p.y))];
  const [right, bottom] = [Math.max(...points.map((p) => p.x)), Math.max(...points.map((p) => p.y))];
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** How far the handle that turns a box is from it, in pixels of the screen. */
const TURN_REACH = 26;

/**
 * The points by which a shape is changed: a box has eight, named by compass, and one that turns it; holes have `hole.point`.
 * A box with a mask has handles only while it is scaled on purpose: its pixels become others.
 * @param {Kind} kind @param {Shape} shape @param {Size} size @param {boolean} [isTurned] whether its type allows an angle @param {boolean} [isScaled] @returns {Handle[]}
 */
export function handlesOf(kind, shape, size, isTurned = false, isScaled = false) {
  const points = pointsOf(kind, shape);
  if (kind !== "box") {
    const outer = points.map((point, index) => ({ ...point, name: String(index) }));
    const inner = (shape.holes ?? []).flatMap((hole, place) =>
      hole.map(([x, y], index) => ({ x, y, name: `${place}.${index}` })),
    );
    return [...outer.filter((_, at) => isThere(shape, at)), ...inner];
  }
  if (shape.mask && !isScaled) return [];
  const [nw, ne, se, sw] = turnedIn(shape, size);
  const middle = (/** @type {Point} */ a, /** @type {Point} */ b, /** @type {string} */ name) => ({
    x: (a.x + b.x) / 2,
    y: (a.y + b.y) / 2,
    name,
  });
  const top = middle(nw, ne, "n");
  const turn = ((shape.angle ?? 0) * Math.PI) / 180;
  return [
    { ...nw, name: "nw" },
    { ...ne, name: "ne" },
    { ...se, name: "se" },
    { ...sw, name: "sw" },
    top,
    middle(ne, se, "e"),
    middle(se, sw, "s"),
    middle(sw, nw, "w"),
    ...(isTurned && !shape.mask
      ? [
          {
            x: top.x + (TURN_REACH * Math.sin(turn)) / size.width,
            y: top.y - (TURN_REACH * Math.cos(turn)) / size.height,
            name: "turn",
          },
        ]
      : []),
  ];
}

/** Round to a hundred-thousandth: far below a pixel, and short in JSON. */
const round = (/** @type {number} */ value) => Math.round(value * 1e5) / 1e5;

/** @param {Kind} kind @param {Point[]} points inside of the picture @returns {Shape} */
export function fromPoints(kind, points) {
  const inside = points.map(({ x, y }) => ({ x: round(clamp(x)), y: round(clamp(y)) }));
  if (kind === "poly") return { points: inside.map(({ x, y }) => [x, y]) };
  const [a, b] = [inside[0], inside[1] ?? inside[0]];
  if (kind === "dot") return { x: a.x, y: a.y };
  if (kind === "line") return { x: a.x, y: a.y, u: round(b.x - a.x), v: round(b.y - a.y) };
  const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)];
  return { x, y, width: round(Math.abs(a.x - b.x)), height: round(Math.abs(a.y - b.y)) };
}

/** A shape moved, and kept inside of the picture. @param {Kind} kind @param {Shape} shape @param {number} dx @param {number} dy @returns {Shape} */
export function moved(kind, shape, dx, dy) {
  const { x, y, width, height } = boundsOf(kind, shape);
  const [by, down] = [clamp(dx, -x, 1 - x - width), clamp(dy, -y, 1 - y - height)];
  const points = pointsOf(kind, shape).map((point, at) =>
    isThere(shape, at) ? { x: point.x + by, y: point.y + down } : point,
  );
  const made = fromPoints(kind, kind === "box" ? [points[0], points[2]] : points);
  const holes = shape.holes?.map((hole) => hole.map(([px, py]) => [round(clamp(px + by)), round(clamp(py + down))]));
  return { ...made, ...refinedBy(shape), ...(holes && { holes }) };
}

/** The corners of a box on the screen, turned by its angle: a turn is one of pixels. @param {Point[]} corners in pixels @param {number | undefined} angle degrees @returns {Point[]} */
export function turned(corners, angle) {
  if (!angle) return corners;
  const [c, s] = [Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)];
  const middle = { x: (corners[0].x + corners[2].x) / 2, y: (corners[0].y + corners[2].y) / 2 };
  return corners.map(({ x, y }) => ({
    x: middle.x + c * (x - middle.x) - s * (y - middle.y),
    y: middle.y + s * (x - middle.x) + c * (y - middle.y),
  }));
}

/** The corners of a box where they are seen, in fractions. @param {Shape} shape @param {Size} size @returns {Point[]} */
function turnedIn(shape, size) {
  const corners = pointsOf("box", shape).map(({ x, y }) => ({ x: x * size.width, y: y * size.height }));
  return turned(corners, shape.angle).map(({ x, y }) => ({ x: x / size.width, y: y / size.height }));
}

/** Degrees to which a turn by hand snaps. */
const SNAP = 15;

/**
 * A shape with one handle at another place.
 * @param {Kind} kind @param {Shape} shape @param {string} handle @param {Point} to @param {Size} size @param {boolean} [isSnapped] turn by steps @returns {Shape}
 */
export function reshaped(kind, shape, handle, to, size, isSnapped = false) {
  if (kind === "box") return reshapedBox(shape, handle, to, size, isSnapped);
  const [hole, index] = handle.split(".").map(Number);
  if (index !== undefined) {
    const holes = (shape.holes ?? []).map((ring) => [...ring]);
    holes[hole][index] = [round(clamp(to.x)), round(clamp(to.y))];
    return { ...shape, holes };
  }
  const points = pointsOf(kind, shape);
  points[hole] = to;
  return { ...fromPoints(kind, points), ...refinedBy(shape) };
}

/** @param {Shape} shape @param {string} handle @param {Point} to @param {Size} size @param {boolean} isSnapped @returns {Shape} */
function reshapedBox(shape, handle, to, size, isSnapped) {
  const middle = { x: n(shape.x) + n(shape.width) / 2, y: n(shape.y) + n(shape.height) / 2 };
  const off = { x: (to.x - middle.x) * size.width, y: (to.y - middle.y) * size.height };
  if (handle === "turn") {
    const angle = (Math.atan2(off.x, -off.y) * 180) / Math.PI;
    const snapped = isSnapped ? Math.round(angle / SNAP) * SNAP : Math.round(angle * 10) / 10;
    const { angle: _, ...rest } = shape;
    return snapped % 360 ? { ...rest, angle: Math.round(((snapped + 360) % 360) * 10) / 10 } : rest;
  }
  const turn = (n(shape.angle) * Math.PI) / 180;
  const [c, s] = [Math.cos(turn), Math.sin(turn)];
  // in pixels along the sides of the box, from its middle
  const own = { x: c * off.x + s * off.y, y: c * off.y - s * off.x };
  const [wide, high] = [(n(shape.width) * size.width) / 2, (n(shape.height) * size.height) / 2];
  const [a, b] = [
    { x: handle.includes("w") ? own.x : -wide, y: handle.includes("n") ? own.y : -high },
    { x: handle.includes("e") ? own.x : wide, y: handle.includes("s") ? own.y : high },
  ];
  const [along, down] = [(a.x + b.x) / 2, (a.y + b.y) / 2];
  const centre = {
    x: middle.x + (c * along - s * down) / size.width,
    y: middle.y + (s * along + c * down) / size.height,
  };
  const half = { x: Math.abs(b.x - a.x) / 2 / size.width, y: Math.abs(b.y - a.y) / 2 / size.height };
  const corners = [
    { x: centre.x - half.x, y: centre.y - half.y },
    { x: centre.x + half.x, y: centre.y + half.y },
  ];
  return { ...fromPoints("box", corners), ...refinedBy(shape) };
}

/** A shape larger or smaller by its lower right end. @param {Kind} kind @param {Shape} shape @param {number} dx @param {number} dy @returns {Shape} */
export function resized(kind, shape, dx, dy) {
  if (kind === "dot") return shape;
  const points = pointsOf(kind, shape);
  const last = kind === "box" ? 2 : points.length - 1;
  points[last] = { x: points[last].x + dx, y: points[last].y + dy };
  const made = fromPoints(kind, kind === "box" ? [points[0], points[2]] : points);
  return { ...made, ...refinedBy(shape) };
}

/** A shape in the middle of the picture, for those who draw by keyboard. @param {Kind} kind @param {number} [corners] of a skeleton @returns {Shape} */
export function standard(kind, corners) {
  if (kind === "poly" && corners)
    return {
      ...fromPoints(
        "poly",
        Array.from({ length: corners }, (_, at) => ({
          x: 0.5 - 0.1 * Math.sin((2 * Math.PI * at) / corners),
          y: 0.5 - 0.1 * Math.cos((2 * Math.PI * at) / corners),
        })),
      ),
      visible: Array(corners).fill(2),
    };
  const [low, high] = [0.4, 0.6];
  if (kind === "poly")
    return {
      points: pointsOf("box", { x: low, y: low, width: 0.2, height: 0.2 }).map(({ x, y }) => [round(x), round(y)]),
    };
  return fromPoints(
    kind,
    kind === "dot"
      ? [{ x: 0.5, y: 0.5 }]
      : [
          { x: low, y: low },
          { x: high, y: high },
        ],
  );
}

/** Whether a shape is too small to be meant: less than three pixels. @param {Kind} kind @param {Shape} shape @param {Size} size */
export function isTiny(kind, shape, size) {
  if (kind === "dot") return false;
  const { width, height } = boundsOf(kind, shape);
  const [wide, high] = [width * size.width, height * size.height];
  return kind === "line"
    ? Math.hypot(wide, high) < 3
    : kind === "poly"
      ? n(shape.points?.length) < (shape.visible ? 1 : shape.closed === false ? 2 : 3)
      : wide < 3 || high < 3;
}

/** Distance in pixels of a point from a stretch. */
function distance(
  /** @type {Point} */ p,
  /** @type {Point} */ a,
  /** @type {Point} */ b,
  /** @type {Size} */ { width, height },
) {
  const [px, py, ax, ay, bx, by] = [p.x * width, p.y * height, a.x * width, a.y * height, b.x * width, b.y * height];
  const length = (bx - ax) ** 2 + (by - ay) ** 2;
  const share = length ? clamp(((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / length) : 0;
  return Math.hypot(px - ax - share * (bx - ax), py - ay - share * (by - ay));
}

/**
 * Whether a pointer is on a shape: within `reach` pixels of its outline, or inside.
 * @param {Kind} kind @param {Shape} shape @param {Point} point @param {Size} size @param {number} [reach]
 */
export function isHit(kind, shape, point, size, reach = 6) {
  const points = outlineOf(kind, shape, size);
  const isNear = (/** @type {Point} */ a, /** @type {Point} */ b) => distance(point, a, b, size) <= reach;
  if (shape.visible)
    return points.some((each, at) => isThere(shape, at) && distance(point, each, each, size) <= reach * 1.5);
  if (kind === "dot" || points.length < 2)
    return points.length > 0 && distance(point, points[0], points[0], size) <= reach * 1.5;
  if (kind === "line") return isNear(points[0], points[1]);
  const isOpen = shape.closed === false;
  if (points.some((each, at) => at + 1 < points.length && isNear(each, points[at + 1]))) return true;
  if (isOpen) return false;
  if (isNear(points[points.length - 1], points[0])) return true;
  return isInside(points, point) && !(shape.holes ?? []).some((hole) => isInside(placesOf(hole), point));
}

/** @param {number[][]} points @returns {Point[]} */
export const placesOf = (points) => points.map(([x, y]) => ({ x, y }));

const ELLIPSE_CORNERS = 48;

/** The points around a shape where they are seen, in fractions; of an ellipse some of its border. @param {Kind} kind @param {Shape} shape @param {Size} size @returns {Point[]} */
export function outlineOf(kind, shape, size) {
  if (kind !== "box") return pointsOf(kind, shape);
  if (shape.form !== "ellipse") return turnedIn(shape, size);
  const turn = (n(shape.angle) * Math.PI) / 180;
  return Array.from({ length: ELLIPSE_CORNERS }, (_, at) => {
    const step = (2 * Math.PI * at) / ELLIPSE_CORNERS;
    const [along, down] = [
      (Math.cos(step) * n(shape.width) * size.width) / 2,
      (Math.sin(step) * n(shape.height) * size.height) / 2,
    ];
    return {
      x: n(shape.x) + n(shape.width) / 2 + (along * Math.cos(turn) - down * Math.sin(turn)) / size.width,
      y: n(shape.y) + n(shape.height) / 2 + (along * Math.sin(turn) + down * Math.cos(turn)) / size.height,
    };
  });
}

/** Whether a point lies inside of a polygon, by counting crossings. @param {Point[]} points @param {Point} point */
export function isInside(points, point) {
  let inside = false;
  points.forEach((a, index) => {
    const b = points[(index + points.length - 1) % points.length];
    if (a.y > point.y !== b.y > point.y && point.x < ((b.x - a.x) * (point.y - a.y)) / (b.y - a.y) + a.x)
      inside = !inside;
  });
  return inside;
}

/** @type {Record<string, string>} */
const CURSORS = {
  n: "ns-resize",
  s: "ns-resize",
  e: "ew-resize",
  w: "ew-resize",
  nw: "nwse-resize",
  se: "nwse-resize",
  ne: "nesw-resize",
  sw: "nesw-resize",
};

/** The pointer over a handle. @param {{name: string}} handle */
export const cursorOf = (handle) => CURSORS[handle.name] ?? "move";
