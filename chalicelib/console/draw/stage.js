// The picture with the shapes over it: zoom and pan, selection, drawing, moving and reshaping by pointer.

import { Bounds } from "./bounds.js";
import { clamp, cursorOf, fromPoints, handlesOf, moved, reshaped } from "./geometry.js";
import { Pen } from "./pen.js";
import {
  cleared,
  drawClicks,
  drawGrid,
  drawGuides,
  drawHandles,
  drawItems,
  drawMarquee,
  LABELS_UP_TO,
  place,
} from "./scene.js";

/**
 * @typedef {import("./geometry.js").Point} Point
 * @typedef {import("./geometry.js").Shape} Shape
 * @typedef {import("./geometry.js").Kind} Kind
 * @typedef {import("./document.js").Row} Row
 *
 * @typedef {object} Hooks what the stage asks of its owner
 * @property {() => [string, Row][]} rows localizations to show, lowest layer first
 * @property {(row: Row) => Kind} kindOf
 * @property {(key: string, row: Row) => string} colorOf
 * @property {(key: string, row: Row) => string} labelOf
 * @property {(row: Row, key: string) => boolean} isEditable
 * @property {(key: string, row: Row) => boolean} isComputed whether a track shows it between its keyframes, or it is a draft
 * @property {() => (Point & {positive: boolean})[] | null} clicks for an object; null where clicks select and draw
 * @property {(click: Point & {positive: boolean}) => void} clicked
 * @property {() => Shape | null} box the box around the object that is clicked for
 * @property {() => ((box: Shape) => void) | null} boxed what takes a box that is dragged; null where boxes mean nothing
 * @property {() => Set<string>} selected
 * @property {(keys: string[]) => void} select
 * @property {() => import("./display.js").Style} style
 * @property {(row: Row) => {isTurned: boolean, isScaled: boolean, skeleton: import("./scene.js").Skeleton | null}} refinedOf what the type of a row allows
 * @property {() => import("./paint.js").Paint | null} paint the brush in hand
 * @property {(shapes: Map<string, Shape>) => void} reshaped
 * @typedef {Hooks & import("./pen.js").Hooks} AllHooks
 */

const REACH = 8;
/** A pointer that moved less than so many pixels has clicked. */
const CLICK_REACH = 4;
const MOST_ZOOM = 40;
export class Stage {
  /**
   * @param {HTMLElement} root @param {HTMLCanvasElement[]} pictures the picture, and what lies over it at the same place
   * @param {HTMLCanvasElement} overlay for the shapes @param {HTMLCanvasElement} hands for those under the hand
   * @param {AllHooks} hooks
   */
  constructor(root, pictures, overlay, hands, hooks) {
    this.root = root;
    this.pictures = pictures;
    this.picture = pictures[0];
    this.overlay = overlay;
    this.hands = hands;
    /** @type {{rows: [string, Row][], below: string}} what the overlay shows */
    this.painted = { rows: [], below: "" };
    this.hooks = hooks;
    this.bounds = new Bounds(hooks.kindOf);
    this.zoom = 1;
    this.pan = { x: 0, y: 0 };
    this.rect = { left: 0, top: 0, width: 1, height: 1 };
    /** @type {string | null} */
    this.hover = null;
    /** @type {number[][][]} lines to look along, in fractions of the picture */
    this.guides = [];
    /** @type {(() => void) | null} after what is under the hand was drawn */
    this.onDraw = null;
    /** @type {Map<string, Shape>} shapes while they are dragged */
    this.draft = new Map();
    this.pen = new Pen(hooks, () => this.rect);
    /** @type {Point | null} where the pointer is */
    this.pointer = null;
    /** @type {any} */
    this.drag = null;
    this.dirty = 0;
    this.watch = new AbortController();
    const { signal } = this.watch;
    const on = (/** @type {string} */ name, /** @type {(event: any) => void} */ act, more = {}) =>
      root.addEventListener(name, act, { signal, ...more });
    on("pointerdown", (event) => this.#down(event));
    on("pointermove", (event) => this.#move(event));
    on("pointerup", (event) => this.#up(event));
    on("pointercancel", () => this.cancel());
    on("pointerleave", () => this.#hoverAt(null));
    on("dblclick", (event) => this.#finish(event));
    on("wheel", (event) => this.#wheel(event), { passive: false });
    on("contextmenu", (event) => event.preventDefault());
    this.resizes = new ResizeObserver(() => this.layout());
    this.resizes.observe(root);
  }

  close() {
    this.watch.abort();
    this.resizes.disconnect();
    cancelAnimationFrame(this.dirty);
  }

  /** Place the picture after its size, the stage's size, zoom or pan changed. */
  layout() {
    const [wide, high] = [this.root.clientWidth, this.root.clientHeight];
    const scale = Math.min(wide / (this.picture.width || 1), high / (this.picture.height || 1)) * this.zoom;
    const [width, height] = [this.picture.width * scale, this.picture.height * scale];
    const slack = (/** @type {number} */ whole, /** @type {number} */ part) =>
      Math.max(0, (part - whole) / 2) + (this.zoom > 1 ? whole / 4 : 0);
    this.pan.x = clamp(this.pan.x, -slack(wide, width), slack(wide, width));
    this.pan.y = clamp(this.pan.y, -slack(high, height), slack(high, height));
    this.rect = { left: (wide - width) / 2 + this.pan.x, top: (high - height) / 2 + this.pan.y, width, height };
    for (const { style } of this.pictures) {
      style.left = `${this.rect.left}px`;
      style.top = `${this.rect.top}px`;
      style.width = `${width}px`;
      style.height = `${height}px`;
      style.imageRendering = scale > 3 ? "pixelated" : "auto";
    }
    this.invalidate();
  }

  /** Draw with the next frame of the screen. */
  invalidate() {
    this.dirty ||= requestAnimationFrame(() => {
      this.dirty = 0;
      this.draw();
    });
  }

  /** Draw what is under the hand: what is selected, pointed at, dragged or drawn. Shapes below are drawn only where they changed. */
  draw() {
    const rows = this.hooks.rows();
    const { left, top, width, height } = this.rect;
    const drafted = [...this.draft.keys()].join();
    const style = this.hooks.style();
    const [wide, high] = [this.root.clientWidth, this.root.clientHeight];
    const below = [
      left,
      top,
      width,
      height,
      wide,
      high,
      drafted,
      globalThis.devicePixelRatio,
      JSON.stringify(style),
    ].join();
    this.overlay.style.opacity = String(style.opacity);
    if (rows !== this.painted.rows || below !== this.painted.below) {
      const there = new Set(this.painted.rows.map(([, row]) => row));
      const added = rows.filter(([, row]) => !there.has(row));
      // of many shapes only those are drawn that were added
      const isMore =
        below === this.painted.below &&
        there.size > LABELS_UP_TO &&
        rows.length - added.length === this.painted.rows.length;
      const context = isMore
        ? /** @type {CanvasRenderingContext2D} */ (this.overlay.getContext("2d"))
        : cleared(this.overlay);
      this.painted = { rows, below };
      const items = (isMore ? added : rows)
        .filter(([key]) => !this.draft.has(key))
        .map(([key, row]) => this.#item(key, row));
      if (style.grid && !isMore) drawGrid(context, this.rect);
      const isLabelled = style.labels === "always" || (style.labels === "auto" && rows.length <= LABELS_UP_TO);
      drawItems(context, this.rect, items, isLabelled, style.outline);
    }
    const selected = this.hooks.selected();
    const context = cleared(this.hands);
    const held = rows.filter(([key]) => selected.has(key) || key === this.hover || this.draft.has(key));
    const items = held.map(([key, row]) => this.#item(key, row, selected.has(key) ? "selected" : "hover"));
    const drawn = this.pen.item;
    drawItems(context, this.rect, drawn ? [...items, drawn] : items, style.labels !== "never", style.outline);
    const paint = this.hooks.paint();
    paint?.draw(context, this.rect, this.pointer);
    const chosen = items.filter(({ look }) => look === "selected");
    if (chosen.length === 1 && !paint) drawHandles(context, chosen[0], this.rect);
    drawClicks(context, this.rect, this.hooks.clicks() ?? []);
    const marquee = this.drag?.marquee ?? this.hooks.box();
    if (marquee) drawMarquee(context, this.rect, marquee);
    drawGuides(context, this.rect, this.guides);
    this.onDraw?.();
  }

  /** @param {string} key @param {Row} row @param {import("./scene.js").Item["look"]} [look] @returns {import("./scene.js").Item} */
  #item(key, row, look) {
    return {
      key,
      kind: this.hooks.kindOf(row),
      shape: this.draft.get(key) ?? row.shape ?? {},
      color: this.hooks.colorOf(key, row),
      label: this.hooks.labelOf(key, row),
      look: look ?? (this.hooks.isEditable(row, key) || this.hooks.isComputed(key, row) ? "plain" : "faint"),
      isComputed: this.hooks.isComputed(key, row),
      ...this.hooks.refinedOf(row),
    };
  }

  /** @param {number} factor @param {Point} [at] the point of the picture that stays where it is */
  zoomBy(factor, at = { x: 0.5, y: 0.5 }) {
    const before = place(at, this.rect);
    this.zoom = clamp(this.zoom * factor, 1, MOST_ZOOM);
    if (this.zoom === 1) this.pan = { x: 0, y: 0 };
    this.layout();
    const after = place(at, this.rect);
    if (this.zoom > 1) this.pan = { x: this.pan.x + before.x - after.x, y: this.pan.y + before.y - after.y };
    this.layout();
  }

  /** Look at a point from near. @param {Point} point in fractions of the picture @param {number} zoom */
  lookAt({ x, y }, zoom) {
    this.zoom = clamp(zoom, 1, MOST_ZOOM);
    this.layout();
    this.pan = { x: (0.5 - x) * this.rect.width, y: (0.5 - y) * this.rect.height };
    this.layout();
  }

  /** Give up what is being drawn or dragged. Whether there was anything. */
  cancel() {
    const had = this.pen.isDrawing || Boolean(this.drag);
    this.pen.clear();
    this.hooks.paint()?.cancel();
    this.draft.clear();
    this.drag = null;
    this.invalidate();
    return had;
  }

  /** The point of the only selected shape under the pointer, by its place in the shape; null without one. */
  get pointed() {
    const handle = this.pointer && this.#handle(this.pointer);
    return handle && handle.kind === "poly" && !handle.name.includes(".") ? Number(handle.name) : null;
  }

  /** The topmost shape under a point: of several, the smallest. @param {Point} point */
  hit(point) {
    return this.bounds.hit(this.hooks.rows(), point, this.rect, REACH);
  }

  /** Where an event is, in fractions of the picture. */
  #at(/** @type {MouseEvent} */ event) {
    const { left, top } = this.root.getBoundingClientRect();
    return {
      x: (event.clientX - left - this.rect.left) / this.rect.width,
      y: (event.clientY - top - this.rect.top) / this.rect.height,
    };
  }

  /** The handle of the only selected shape under a point. */
  #handle(/** @type {Point} */ point) {
    const selected = this.hooks.selected();
    if (selected.size !== 1) return null;
    const found = this.hooks.rows().find(([key, row]) => selected.has(key) && this.hooks.isEditable(row, key));
    if (!found) return null;
    const [key, row] = found;
    const kind = this.hooks.kindOf(row);
    const { isTurned, isScaled } = this.hooks.refinedOf(row);
    const near = handlesOf(kind, row.shape ?? {}, this.rect, isTurned, isScaled).find(
      (each) => Math.hypot((each.x - point.x) * this.rect.width, (each.y - point.y) * this.rect.height) <= REACH,
    );
    return near && kind !== "dot" ? { key, row, kind, name: near.name } : null;
  }

  #down(/** @type {PointerEvent} */ event) {
    const point = this.#at(event);
    this.root.focus({ preventScroll: true });
    if (this.hooks.clicks() && event.button !== 1) {
      const positive = event.button === 0 && !event.altKey && !event.shiftKey;
      if (point.x < 0 || point.x > 1 || point.y < 0 || point.y > 1) return;
      this.drag = { click: { ...point, positive }, marquee: null };
      this.root.setPointerCapture(event.pointerId);
      return;
    }
    if (event.button === 1 || event.button === 2 || event.altKey) {
      this.drag = { pan: { ...this.pan }, x: event.clientX, y: event.clientY };
    } else if (event.button === 0) {
      const paint = this.hooks.paint();
      if (paint) this.drag = paint.down(point) ? { paint } : null;
      else if (this.pen.tool) this.drag = this.pen.press(point, event.shiftKey) ? { draws: true } : null;
      else this.#pick(event, point);
    }
    if (this.drag) this.root.setPointerCapture(event.pointerId);
    this.invalidate();
  }

  /** The box between two points inside of the picture; null while they are as near as those of a click. */
  #boxFrom(/** @type {Point} */ from, /** @type {Point} */ to) {
    const { width, height } = this.rect;
    if (Math.hypot((to.x - from.x) * width, (to.y - from.y) * height) < CLICK_REACH) return null;
    const box = fromPoints("box", [from, { x: clamp(to.x, 0, 1), y: clamp(to.y, 0, 1) }]);
    return box.width && box.height ? box : null;
  }

  #pick(/** @type {PointerEvent} */ event, /** @type {Point} */ point) {
    const handle = this.#handle(point);
    if (handle) {
      this.drag = { handle };
      return;
    }
    const key = this.hit(point);
    const selected = this.hooks.selected();
    if (!key) {
      if (!event.shiftKey) this.hooks.select([]);
      this.drag = { from: point, marquee: null, kept: event.shiftKey ? [...selected] : [] };
      return;
    }
    if (event.shiftKey) {
      this.hooks.select(selected.has(key) ? [...selected].filter((each) => each !== key) : [...selected, key]);
      return;
    }
    if (!selected.has(key)) this.hooks.select([key]);
    const moving = this.hooks
      .rows()
      .filter(([each, row]) => this.hooks.selected().has(each) && this.hooks.isEditable(row, each));
    this.drag = { from: point, moving };
  }

  #move(/** @type {PointerEvent} */ event) {
    const point = this.#at(event);
    this.pointer = point;
    if (!this.drag) {
      if (this.pen.isDrawing) this.pen.move(point);
      else this.#hoverAt(point);
      if (this.pen.isDrawing || this.hooks.paint()) this.invalidate();
      return;
    }
    const { drag } = this;
    if (drag.click) {
      if (drag.click.positive && this.hooks.boxed()) drag.marquee = this.#boxFrom(drag.click, point);
    } else if (drag.pan) {
      this.pan = { x: drag.pan.x + event.clientX - drag.x, y: drag.pan.y + event.clientY - drag.y };
      this.layout();
    } else if (drag.paint) for (const each of event.getCoalescedEvents?.() ?? [event]) drag.paint.move(this.#at(each));
    else if (drag.draws) this.pen.move(point);
    else if (drag.handle) {
      const { key, kind, row, name } = drag.handle;
      this.draft.set(key, reshaped(kind, row.shape, name, point, this.rect, event.shiftKey));
    } else if (drag.moving) {
      const [dx, dy] = [point.x - drag.from.x, point.y - drag.from.y];
      if (Math.hypot(dx * this.rect.width, dy * this.rect.height) < 2 && !this.draft.size) return;
      for (const [key, row] of drag.moving) this.draft.set(key, moved(this.hooks.kindOf(row), row.shape, dx, dy));
    } else drag.marquee = fromPoints("box", [drag.from, point]);
    this.invalidate();
  }

  #up(/** @type {PointerEvent} */ event) {
    const { drag } = this;
    this.drag = null;
    if (drag?.click) {
      if (drag.marquee) this.hooks.boxed()?.(drag.marquee);
      else this.hooks.clicked(drag.click);
    } else if (drag?.paint) drag.paint.up();
    else if (drag?.draws) this.pen.release();
    else if (drag?.marquee) {
      const inside = this.bounds.inside(this.hooks.rows(), drag.marquee, this.rect);
      this.hooks.select([...new Set([...drag.kept, ...inside])]);
    } else if (this.draft.size) this.hooks.reshaped(new Map(this.draft));
    this.draft.clear();
    this.#hoverAt(this.#at(event));
    this.invalidate();
  }

  #finish(/** @type {MouseEvent} */ event) {
    event.preventDefault();
    this.pen.finish();
  }

  #hoverAt(/** @type {Point | null} */ point) {
    const tool = this.pen.tool || this.hooks.paint();
    if (!point) this.pointer = null;
    const handle = point && !tool ? this.#handle(point) : null;
    const key = point && !tool ? this.hit(point) : null;
    this.root.style.cursor =
      tool || this.hooks.clicks() ? "crosshair" : handle ? cursorOf(handle) : key ? "pointer" : "default";
    if (key === this.hover) return;
    this.hover = key;
    this.invalidate();
  }

  #wheel(/** @type {WheelEvent} */ event) {
    event.preventDefault();
    this.zoomBy(Math.exp(-event.deltaY / 400), this.#at(event));
  }
}
