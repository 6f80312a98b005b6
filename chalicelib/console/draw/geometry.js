// Shapes in fractions of the picture's width and height: their bounds, handles, hits, moves. Pure functions.

/**
 * @typedef {"box" | "line" | "dot" | "poly"} Kind
 * @typedef {{x?: number, y?: number, width?: number, height?: number, angle?: number, mask?: import("./masks.js").Mask | null, u?: number, v?: number, points?: number[][]}} Shape `angle`: degrees clockwise by which a box is turned about its middle
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

/** Whether a shape has a place. @param {Shape | undefined} shape */
export const hasPlace = (shape) => Boolean(shape && (shape.points?.length || shape.x !== undefined));

/** The smallest box around a shape. @param {Kind} kind @param {Shape} shape */
export function boundsOf(kind, shape) {
  const points = pointsOf(kind, shape);
  const [left, top] = [Math.min(...points.map((p) => p.x)), Math.min(...points.map((p) => p.y))];
  const [right, bottom] = [Math.max(...points.map((p) => p.x)), Math.max(...points.map((p) => p.y))];
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** The points by which a shape is changed; a box has eight, named by compass. @param {Kind} kind @param {Shape} shape @returns {Handle[]} */
export function handlesOf(kind, shape) {
  const points = pointsOf(kind, shape);
  if (kind !== "box") return points.map((point, index) => ({ ...point, name: String(index) }));
  if (shape.angle) return [];
  const [nw, ne, se, sw] = points;
  const middle = (/** @type {Point} */ a, /** @type {Point} */ b, /** @type {string} */ name) => ({
    x: (a.x + b.x) / 2,
    y: (a.y + b.y) / 2,
    name,
  });
  return [
    { ...nw, name: "nw" },
    { ...ne, name: "ne" },
    { ...se, name: "se" },
    { ...sw, name: "sw" },
    middle(nw, ne, "n"),
    middle(ne, se, "e"),
    middle(se, sw, "s"),
    middle(sw, nw, "w"),
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
  const points = pointsOf(kind, shape).map((point) => ({ x: point.x + by, y: point.y + down }));
  const made = fromPoints(kind, kind === "box" ? [points[0], points[2]] : points);
  return { ...made, ...(shape.angle !== undefined && { angle: shape.angle }), ...(shape.mask && { mask: shape.mask }) };
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

/** A shape with one handle at another place. @param {Kind} kind @param {Shape} shape @param {string} handle @param {Point} to @returns {Shape} */
export function reshaped(kind, shape, handle, to) {
  const points = pointsOf(kind, shape);
  if (kind !== "box") {
    points[Number(handle)] = to;
    return fromPoints(kind, points);
  }
  const [nw, , se] = points;
  const [a, b] = [{ ...nw }, { ...se }];
  if (handle.includes("w")) a.x = to.x;
  if (handle.includes("e")) b.x = to.x;
  if (handle.includes("n")) a.y = to.y;
  if (handle.includes("s")) b.y = to.y;
  // pixels of a box of another size would be others
  return { ...fromPoints("box", [a, b]), ...(shape.mask && { mask: null }) };
}

/** A shape larger or smaller by its lower right end. @param {Kind} kind @param {Shape} shape @param {number} dx @param {number} dy */
export function resized(kind, shape, dx, dy) {
  if (kind === "dot") return shape;
  if (shape.angle)
    return {
      ...shape,
      ...fromPoints(
        "box",
        pointsOf("box", { ...shape, width: n(shape.width) + dx, height: n(shape.height) + dy }).filter(
          (_, at) => at % 2 === 0,
        ),
      ),
    };
  const handles = handlesOf(kind, shape);
  const handle = kind === "box" ? handles[2] : handles[handles.length - 1];
  return reshaped(kind, shape, handle.name, { x: handle.x + dx, y: handle.y + dy });
}

/** A shape in the middle of the picture, for those who draw by keyboard. @param {Kind} kind @returns {Shape} */
export function standard(kind) {
  if (kind === "poly")
    return {
      points: [
        [0.4, 0.4],
        [0.6, 0.4],
        [0.6, 0.6],
        [0.4, 0.6],
      ],
    };
  return fromPoints(
    kind,
    kind === "dot"
      ? [{ x: 0.5, y: 0.5 }]
      : [
          { x: 0.4, y: 0.4 },
          { x: 0.6, y: 0.6 },
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
      ? n(shape.points?.length) < 3
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
  const pixels = pointsOf(kind, shape).map(({ x, y }) => ({ x: x * size.width, y: y * size.height }));
  const points = turned(pixels, shape.angle).map(({ x, y }) => ({ x: x / size.width, y: y / size.height }));
  if (kind === "dot" || points.length < 2)
    return points.length > 0 && distance(point, points[0], points[0], size) <= reach * 1.5;
  if (kind === "line") return distance(point, points[0], points[1], size) <= reach;
  if (points.some((each, index) => distance(point, each, points[(index + 1) % points.length], size) <= reach))
    return true;
  return isInside(points, point);
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
