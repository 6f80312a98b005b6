// The shape that is being drawn by pointer: boxes and lines by a drag, the others point by point.

import { clamp, fromPoints, isInside, isTiny, placesOf } from "./geometry.js";

/**
 * @typedef {import("./geometry.js").Point} Point
 * @typedef {import("./geometry.js").Shape} Shape
 * @typedef {import("./geometry.js").Size} Size
 *
 * @typedef {object} Tool the type that is drawn
 * @property {number} id
 * @property {import("./geometry.js").Kind} kind
 * @property {string} color
 * @property {Shape} [refined] what its shapes have besides their coordinates
 * @property {boolean} [isOpen] whether a polygon that is not closed is a polyline
 * @property {import("./scene.js").Skeleton | null} [skeleton]
 *
 * @typedef {object} Hooks
 * @property {() => Tool | null} tool null selects
 * @property {() => {outer: number[][], color: string} | null} hole the polygon into which a hole is drawn
 * @property {(shape: Shape) => void} created
 * @property {(hole: number[][] | null) => void} holed a hole was drawn, or one that sticks out
 * @property {(count: number) => void} pointed so many points of a skeleton are placed
 */

const REACH = 8;
/** @type {Tool} */
const HOLE = { id: 0, kind: "poly", color: "" };

export class Pen {
  /** @param {Hooks} hooks @param {() => Size} size of the picture on the screen, in pixels */
  constructor(hooks, size) {
    this.hooks = hooks;
    this.size = size;
    /** @type {Point[]} those of the shape; of polygons and skeletons the last one is at the pointer */
    this.points = [];
    /** @type {number[]} of the placed points of a skeleton */
    this.visible = [];
  }

  /** What is drawn: a hole, or a shape of the type in hand. */
  get tool() {
    return this.hooks.hole() ? HOLE : this.hooks.tool();
  }

  get isDrawing() {
    return this.points.length > 0;
  }

  /** Give up what is drawn. */
  clear() {
    this.points = [];
    this.visible = [];
    this.hooks.pointed(0);
  }

  /** The pointer goes down. Whether a drag begins. @param {Point} point @param {boolean} isHidden of a point of a skeleton */
  press(point, isHidden) {
    const { tool } = this;
    const inside = { x: clamp(point.x), y: clamp(point.y) };
    if (!tool) return false;
    if (tool.kind === "dot") this.#create([inside]);
    else if (tool.kind !== "poly") this.points = [inside, inside];
    else if (tool.skeleton) this.#mark(inside, isHidden ? 1 : 2);
    else if (this.#isClosing(inside)) this.#end(false);
    else this.points = [...this.#placed, inside, inside];
    return tool.kind === "box" || tool.kind === "line";
  }

  /** @param {Point} point */
  move(point) {
    this.points[this.points.length - 1] = { x: clamp(point.x), y: clamp(point.y) };
  }

  /** A drag ends. */
  release() {
    this.#create(this.points);
  }

  /** End the polygon or polyline that is drawn. */
  finish() {
    const { tool } = this;
    if (tool?.kind === "poly" && !tool.skeleton) this.#end(Boolean(tool.isOpen));
  }

  /** The next point of a skeleton is not in the picture. */
  skip() {
    if (this.tool?.skeleton) this.#mark({ x: 0, y: 0 }, 0);
  }

  /** Take back the last point. Whether there was one. */
  removePoint() {
    const had = this.isDrawing;
    this.points.splice(-2, 1);
    this.visible.pop();
    if (this.points.length < 2) this.clear();
    this.hooks.pointed(this.visible.length);
    return had;
  }

  /** What is drawn so far. @returns {import("./scene.js").Item | null} */
  get item() {
    const { tool } = this;
    if (!tool || !this.isDrawing || (tool.kind === "poly" && this.points.length < 2)) return null;
    const isEdge = tool.kind === "poly" && !tool.skeleton && this.points.length === 2;
    const shape = isEdge ? fromPoints("line", this.points) : this.#shape(tool, this.points);
    if (tool.skeleton) Object.assign(shape, { points: this.#placed.map(({ x, y }) => [x, y]), visible: this.visible });
    else if (tool.isOpen) shape.closed = false;
    const color = this.hooks.hole()?.color ?? tool.color;
    return {
      kind: isEdge ? "line" : tool.kind,
      shape,
      color,
      skeleton: tool.skeleton,
      key: "",
      label: "",
      look: "hover",
    };
  }

  get #placed() {
    return this.points.slice(0, -1);
  }

  #shape(/** @type {Tool} */ tool, /** @type {Point[]} */ points) {
    return { ...fromPoints(tool.kind, points), ...tool.refined };
  }

  #mark(/** @type {Point} */ point, /** @type {number} */ visible) {
    const tool = /** @type {Tool} */ (this.tool);
    this.points = [...this.#placed, point, point];
    this.visible.push(visible);
    this.hooks.pointed(this.visible.length);
    if (this.visible.length < /** @type {import("./scene.js").Skeleton} */ (tool.skeleton).points.length) return;
    const shape = { ...this.#shape(tool, this.#placed), visible: this.visible };
    this.clear();
    if (shape.visible.some((each) => each > 0)) this.hooks.created(shape);
  }

  #isClosing(/** @type {Point} */ point) {
    const [first] = this.points;
    return first && this.points.length > 3 && this.#pixels(first, point) <= REACH;
  }

  #end(/** @type {boolean} */ isOpen) {
    const points = this.#placed.filter((each, at, all) => !at || this.#pixels(each, all[at - 1]) > 2);
    if (points.length < (isOpen ? 2 : 3)) return;
    const hole = this.hooks.hole();
    if (!hole) return this.#create(points, isOpen ? { closed: false } : {});
    this.clear();
    const ring = fromPoints("poly", points).points ?? [];
    this.hooks.holed(placesOf(ring).every((point) => isInside(placesOf(hole.outer), point)) ? ring : null);
  }

  #create(/** @type {Point[]} */ points, /** @type {Shape} */ more = {}) {
    const tool = /** @type {Tool} */ (this.tool);
    const shape = { ...this.#shape(tool, points), ...more };
    this.clear();
    if (!isTiny(tool.kind, shape, this.size())) this.hooks.created(shape);
  }

  #pixels(/** @type {Point} */ a, /** @type {Point} */ b) {
    const { width, height } = this.size();
    return Math.hypot((a.x - b.x) * width, (a.y - b.y) * height);
  }
}
