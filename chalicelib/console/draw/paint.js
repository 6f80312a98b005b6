// Masks by hand: brush, eraser and filling. A stroke changes only the pixels that it touches, and is one step of undo.

import { Region } from "../masks/region.js";
import { MOST_CHARACTERS } from "../masks/runs.js";
import { signal } from "../lib.js";
import { shapes as words } from "../strings_shapes.js";
import { keepPicture, pixelOf, repaint } from "./masks.js";
import { outlineOf } from "./geometry.js";

/**
 * @typedef {import("./geometry.js").Point} Point
 * @typedef {import("./geometry.js").Shape} Shape
 * @typedef {import("./document.js").Row} Row
 * @typedef {import("../masks/region.js").Area} Area
 * @typedef {import("../masks/region.js").Size} Size
 * @typedef {"brush" | "eraser" | "fill"} Mode
 */

const FIRST_SIZE = 0.02;
const LARGER = 1.25;
/** @type {WeakMap<import("../masks/runs.js").Mask, {region: Region, x?: number, y?: number}>} with the place of the mask, which may be moved */
const regions = new WeakMap();

/** The pixels of a shape in its picture; of one without a mask what its outline encloses. @param {import("./geometry.js").Kind} kind @param {Shape} shape @param {Size} size */
export function regionOf(kind, shape, size) {
  const known = shape.mask && regions.get(shape.mask);
  if (known && known.x === shape.x && known.y === shape.y) return known.region;
  if (shape.mask) return Region.of(shape, size);
  const inPixels = (/** @type {Point[]} */ points) =>
    points.map(({ x, y }) => ({ x: x * size.width, y: y * size.height }));
  const holes = (shape.holes ?? []).map((hole) => hole.map(([x, y]) => ({ x, y })));
  return Region.filled([outlineOf(kind, shape, size), ...holes].map(inPixels), size);
}

/** The box with the mask of a region; null where it has no pixel or too many runs, which is said. @param {Region} region @param {(text: string) => void} say */
export function shapeOf(region, say) {
  const { shape } = region;
  if (!shape) say(words.noPixel);
  else if (shape.mask.counts.length > MOST_CHARACTERS)
    say(words.tooManyRuns(shape.mask.counts.length, MOST_CHARACTERS));
  else {
    regions.set(shape.mask, { region, x: shape.x, y: shape.y });
    return shape;
  }
  return null;
}

/** Whether a mask has the size of its box. @param {Shape} shape @param {Size} size of the picture */
export const fits = ({ mask, width = 0, height = 0 }, size) =>
  !mask || (mask.size[0] === Math.round(height * size.height) && mask.size[1] === Math.round(width * size.width));

/** A shape for a picture of a size: a mask of a picture of another size with the pixels that it covers there. @param {Shape} shape @param {Size} size @param {(text: string) => void} say @returns {Shape | null} null where nothing is left, which is said */
export function fitted(shape, size, say) {
  return fits(shape, size) ? shape : shapeOf(Region.scaled(shape, size), say);
}

/** @param {Area | null} one @param {Area | null} two @returns {Area | null} */
const around = (one, two) =>
  one && two
    ? {
        left: Math.min(one.left, two.left),
        top: Math.min(one.top, two.top),
        right: Math.max(one.right, two.right),
        bottom: Math.max(one.bottom, two.bottom),
      }
    : (one ?? two);

export class Paint {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    this.mode = signal(/** @type {Mode | null} */ (null));
    const { width = 1, height = 1 } = session.media;
    /** @type {Size} of the media */
    this.size = { width, height };
    /** The brush's diameter in pixels of the media. */
    this.diameter = signal(Math.max(4, Math.round(Math.min(width, height) * FIRST_SIZE)));
    /** @type {{key: string | null, shape: Shape, region: Region, color: string, at: Point, area: Area | null} | null} */
    this.stroke = null;
    /** @type {OffscreenCanvas | null} the mask that is edited, at the size of the media */
    this.sheet = null;
    /** @type {{mask: import("../masks/runs.js").Mask | null, color: string}} what the sheet shows */
    this.shown = { mask: null, color: "" };
  }

  /** Take a tool, or put it away. @param {Mode} mode */
  toggle(mode) {
    const { session } = this;
    if (this.mode.peek() === mode) return this.end();
    if (!session.mayEdit) return;
    if (!this.#target() && !session.maskTypes.length) return session.say(words.noMaskType);
    const isReady = this.#target() || session.tool.peek()?.refinements?.includes("mask");
    if (!isReady) session.take(session.maskTypes[0]);
    session.stage?.cancel();
    this.mode.value = mode;
    this.#context(); // its memory is made now, and not with the first stroke
    session.stage?.invalidate();
  }

  /** Put the tool away. Whether there was one. */
  end() {
    const had = this.mode.peek() !== null;
    this.cancel();
    this.mode.value = null;
    this.session.stage?.invalidate();
    return had;
  }

  /** Begin another mask with the next stroke. Whether one was begun. */
  next() {
    const { session } = this;
    if (!this.mode.peek() || !session.selected.peek().size) return false;
    const [row] = session.shapes().map(([, each]) => each);
    if (row && session.typeOf(row)?.refinements?.includes("mask")) session.tool.value = session.typeOf(row);
    session.select([]);
    return true;
  }

  /** @param {number} direction larger 1, smaller -1 */
  resize(direction) {
    const before = this.diameter.peek();
    const wanted = Math.round(before * LARGER ** direction);
    this.diameter.value = Math.max(1, Math.min(wanted === before ? before + direction : wanted, this.size.width));
    this.session.stage?.invalidate();
  }

  /** Forget the stroke that is drawn. */
  cancel() {
    if (this.stroke) this.shown = { mask: null, color: "" };
    this.stroke = null;
  }

  /** The box that is painted: the only selected one whose type has masks. @returns {[string, Row] | null} */
  #target() {
    const { session } = this;
    const found = session.shapes().filter(([, row]) => session.typeOf(row)?.refinements?.includes("mask"));
    return found.length === 1 && session.selected.peek().size === 1 ? found[0] : null;
  }

  /** The pointer goes down. Whether a stroke begins. @param {Point} point */
  down(point) {
    const { session } = this;
    const target = this.#target();
    const mode = this.mode.peek();
    const type = session.tool.peek();
    const isNew = !target && mode === "brush" && type?.refinements?.includes("mask");
    if (!target && !isNew) {
      session.say(mode === "brush" ? words.paintWhat : words.eraseWhat);
      return false;
    }
    const shape = target?.[1].shape ?? {};
    // the brush begins a mask, the eraser takes from what the box encloses
    const isBlank = !shape.mask && mode === "brush";
    const region = isBlank ? new Region(this.size) : regionOf("box", shape, this.size).copy();
    const at = this.#pixel(point);
    if (mode === "fill") {
      if (region.fill(Math.floor(at.x), Math.floor(at.y)))
        this.#keep(target?.[0] ?? null, region, shape, words.steps.fill);
      else session.say(words.noHole);
      return false;
    }
    const color = target
      ? session.colorOf(...target)
      : session.colorOf("", /** @type {any} */ ({ kind: "localization", type: type.id, attributes: {} }));
    this.stroke = { key: target?.[0] ?? null, shape, region, color, at, area: region.bounds };
    this.#show(shape.mask ?? null, region, color.slice(0, 7));
    if (target) session.stage?.draft.set(target[0], { ...shape, mask: undefined });
    this.move(point);
    return true;
  }

  /** @param {Point} point */
  move(point) {
    if (!this.stroke || !this.sheet) return;
    const to = this.#pixel(point);
    const { region, at, color } = this.stroke;
    const area = region.stroke(at, to, this.diameter.peek() / 2, this.mode.peek() === "eraser");
    repaint(this.sheet, region, area, pixelOf(color));
    this.stroke.area = around(this.stroke.area, area);
    this.stroke.at = to;
  }

  /** The stroke ends: it becomes the mask of its box. */
  up() {
    const { stroke } = this;
    this.stroke = null;
    if (stroke)
      this.#keep(
        stroke.key,
        stroke.region,
        stroke.shape,
        words.steps[this.mode.peek() === "eraser" ? "erase" : "paint"],
      );
  }

  /** Draw the mask that is edited, and the brush. @param {CanvasRenderingContext2D} context @param {import("./scene.js").Rect} rect @param {Point | null} pointer */
  draw(context, rect, pointer) {
    const area = this.stroke?.area;
    const [across, down] = [rect.width / this.size.width, rect.height / this.size.height];
    if (area && this.sheet) {
      const [wide, high] = [area.right - area.left, area.bottom - area.top];
      context.imageSmoothingEnabled = across < 1;
      context.drawImage(
        ...[this.sheet, area.left, area.top, wide, high],
        ...[rect.left + area.left * across, rect.top + area.top * down, wide * across, high * down],
      );
    }
    if (!pointer || this.mode.peek() === "fill") return;
    const radius = this.diameter.peek() / 2;
    context.beginPath();
    const { x, y } = { x: rect.left + pointer.x * rect.width, y: rect.top + pointer.y * rect.height };
    context.ellipse(x, y, radius * across, radius * down, 0, 0, Math.PI * 2);
    for (const [style, width] of /** @type {const} */ ([
      ["#000a", 3],
      [this.mode.peek() === "eraser" ? "#ff5a3c" : "#fff", 1],
    ])) {
      context.strokeStyle = style;
      context.lineWidth = width;
      context.stroke();
    }
  }

  #context() {
    const { width, height } = this.size;
    if (this.sheet) return /** @type {OffscreenCanvasRenderingContext2D} */ (this.sheet.getContext("2d"));
    this.sheet = new OffscreenCanvas(width, height);
    const context = /** @type {OffscreenCanvasRenderingContext2D} */ (
      this.sheet.getContext("2d", { willReadFrequently: true })
    );
    context.clearRect(0, 0, width, height);
    return context;
  }

  /** The sheet with a region. */
  #show(/** @type {Shape["mask"] | null} */ mask, /** @type {Region} */ region, /** @type {string} */ color) {
    const { width, height } = this.size;
    if (mask) keepPicture(mask, null); // a picture of it may be this sheet, which changes now
    if (this.sheet && mask && this.shown.mask === mask && this.shown.color === color) return;
    this.#context().clearRect(0, 0, width, height);
    const area = region.bounds;
    if (area) repaint(/** @type {OffscreenCanvas} */ (this.sheet), region, area, pixelOf(color));
    this.shown = { mask: mask ?? null, color };
  }

  /** Make the pixels the mask of a box, or of a new one; of a box without a pixel nothing is left. */
  #keep(
    /** @type {string | null} */ key,
    /** @type {Region} */ region,
    /** @type {Shape} */ before,
    /** @type {string} */ step,
  ) {
    const { session } = this;
    session.stage?.draft.clear();
    if (key && region.isEmpty) {
      this.shown = { mask: null, color: "" };
      session.hand.removeSelected();
      return;
    }
    const shape = shapeOf(region, session.say);
    if (!shape) {
      this.shown = { mask: null, color: "" };
      return;
    }
    const area = region.bounds;
    if (this.sheet && area && step !== words.steps.fill) {
      keepPicture(shape.mask, { color: this.shown.color, picture: this.sheet, area });
      if (before.mask) keepPicture(before.mask, null);
      this.shown.mask = shape.mask;
    } else this.shown = { mask: null, color: "" };
    if (key) session.hand.reshape(new Map([[key, shape]]), step);
    else session.hand.create(shape);
  }

  #pixel(/** @type {Point} */ { x, y }) {
    return { x: x * this.size.width, y: y * this.size.height };
  }
}
