// The picture with the shapes over it: zoom and pan, selection, drawing, moving and reshaping by pointer.

import { Bounds } from "./bounds.js";
import { clamp, cursorOf, fromPoints, handlesOf, isTiny, moved, reshaped } from "./geometry.js";
import { cleared, drawClicks, drawGrid, drawHandles, drawItems, drawMarquee, LABELS_UP_TO, place } from "./scene.js";

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
 * @property {() => Set<string>} selected
 * @property {(keys: string[]) => void} select
 * @property {() => {id: number, kind: Kind, color: string} | null} tool the type that is drawn; null selects
 * @property {() => import("./display.js").Style} style
 * @property {(shape: Shape) => void} created
 * @property {(shapes: Map<string, Shape>) => void} reshaped
 */

const REACH = 8;
const MOST_ZOOM = 40;
export class Stage {
  /**
   * @param {HTMLElement} root @param {HTMLCanvasElement[]} pictures the picture, and what lies over it at the same place
   * @param {HTMLCanvasElement} overlay for the shapes @param {HTMLCanvasElement} hands for those under the hand
   * @param {Hooks} hooks
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
    /** @type {Map<string, Shape>} shapes while they are dragged */
    this.draft = new Map();
    /** @type {Point[]} points of the shape that is drawn */
    this.points = [];
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
      const there = this.painted.rows;
      // of many shapes only those are drawn that were added
      const isMore =
        below === this.painted.below &&
        there.length > LABELS_UP_TO &&
        there.every(([, row], at) => rows[at]?.[1] === row);
      const context = isMore
        ? /** @type {CanvasRenderingContext2D} */ (this.overlay.getContext("2d"))
        : cleared(this.overlay);
      this.painted = { rows, below };
      const items = rows
        .slice(isMore ? there.length : 0)
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
    const drawn = this.#drawnItem();
    drawItems(context, this.rect, drawn ? [...items, drawn] : items, style.labels !== "never", style.outline);
    const chosen = items.filter(({ look }) => look === "selected");
    if (chosen.length === 1) drawHandles(context, chosen[0], this.rect);
    drawClicks(context, this.rect, this.hooks.clicks() ?? []);
    if (this.drag?.marquee) drawMarquee(context, this.rect, this.drag.marquee);
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
    };
  }

  /** The shape that is being drawn. @returns {import("./scene.js").Item | null} */
  #drawnItem() {
    const tool = this.hooks.tool();
    if (!tool || !this.points.length || (tool.kind === "poly" && this.points.length < 2)) return null;
    const isEdge = tool.kind === "poly" && this.points.length === 2;
    return {
      kind: isEdge ? "line" : tool.kind,
      shape: isEdge ? fromPoints("line", this.points) : this.#drawn(tool.kind),
      color: tool.color,
      key: "",
      label: "",
      look: "hover",
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

  /** Give up what is being drawn or dragged. Whether there was anything. */
  cancel() {
    const had = this.points.length > 0 || Boolean(this.drag);
    this.points = [];
    this.draft.clear();
    this.drag = null;
    this.invalidate();
    return had;
  }

  /** End the polygon that is drawn. */
  finish() {
    const tool = this.hooks.tool();
    if (tool?.kind === "poly" && this.points.length >= 3) this.#create(tool.kind, this.#distinct());
  }

  /** Take back the last point of the polygon that is drawn. Whether there was one. */
  removePoint() {
    const had = this.points.length > 0;
    this.points.splice(-2, 1);
    if (this.points.length < 2) this.points = [];
    this.invalidate();
    return had;
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
    const near = handlesOf(kind, row.shape ?? {}).find(
      (each) => Math.hypot((each.x - point.x) * this.rect.width, (each.y - point.y) * this.rect.height) <= REACH,
    );
    return near && kind !== "dot" ? { key, row, kind, name: near.name } : null;
  }

  #down(/** @type {PointerEvent} */ event) {
    const point = this.#at(event);
    this.root.focus({ preventScroll: true });
    if (this.hooks.clicks() && event.button !== 1) {
      const positive = event.button === 0 && !event.altKey;
      if (point.x >= 0 && point.x <= 1 && point.y >= 0 && point.y <= 1) this.hooks.clicked({ ...point, positive });
      return;
    }
    if (event.button === 1 || event.button === 2 || event.altKey) {
      this.drag = { pan: { ...this.pan }, x: event.clientX, y: event.clientY };
    } else if (event.button === 0) {
      const tool = this.hooks.tool();
      if (tool) this.#draw(tool.kind, point);
      else this.#pick(event, point);
    }
    if (this.drag) this.root.setPointerCapture(event.pointerId);
    this.invalidate();
  }

  #draw(/** @type {Kind} */ kind, /** @type {Point} */ point) {
    const inside = { x: clamp(point.x), y: clamp(point.y) };
    if (kind === "dot") return this.#create(kind, [inside]);
    if (kind !== "poly") {
      this.points = [inside, inside];
      this.drag = { draws: true };
      return undefined;
    }
    const [first] = this.points;
    const isClosing =
      first &&
      this.points.length > 3 &&
      Math.hypot((first.x - inside.x) * this.rect.width, (first.y - inside.y) * this.rect.height) <= REACH;
    if (isClosing) return this.#create(kind, this.#distinct());
    this.points = this.points.length ? [...this.points.slice(0, -1), inside, inside] : [inside, inside];
    return undefined;
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
    if (!this.drag) {
      if (this.points.length) {
        this.points[this.points.length - 1] = { x: clamp(point.x), y: clamp(point.y) };
        this.invalidate();
      } else this.#hoverAt(point);
      return;
    }
    const { drag } = this;
    if (drag.pan) {
      this.pan = { x: drag.pan.x + event.clientX - drag.x, y: drag.pan.y + event.clientY - drag.y };
      this.layout();
    } else if (drag.draws) this.points[1] = { x: clamp(point.x), y: clamp(point.y) };
    else if (drag.handle)
      this.draft.set(drag.handle.key, reshaped(drag.handle.kind, drag.handle.row.shape, drag.handle.name, point));
    else if (drag.moving) {
      const [dx, dy] = [point.x - drag.from.x, point.y - drag.from.y];
      if (Math.hypot(dx * this.rect.width, dy * this.rect.height) < 2 && !this.draft.size) return;
      for (const [key, row] of drag.moving) this.draft.set(key, moved(this.hooks.kindOf(row), row.shape, dx, dy));
    } else drag.marquee = fromPoints("box", [drag.from, point]);
    this.invalidate();
  }

  #up(/** @type {PointerEvent} */ event) {
    const { drag } = this;
    this.drag = null;
    if (drag?.draws) {
      const tool = this.hooks.tool();
      if (tool && !isTiny(tool.kind, this.#drawn(tool.kind), this.rect)) this.#create(tool.kind, this.points);
      else this.points = [];
    } else if (drag?.marquee) {
      const inside = this.bounds.inside(this.hooks.rows(), drag.marquee);
      this.hooks.select([...new Set([...drag.kept, ...inside])]);
    } else if (this.draft.size) this.hooks.reshaped(new Map(this.draft));
    this.draft.clear();
    this.#hoverAt(this.#at(event));
    this.invalidate();
  }

  #finish(/** @type {MouseEvent} */ event) {
    event.preventDefault();
    this.finish();
  }

  #create(/** @type {Kind} */ kind, /** @type {Point[]} */ points) {
    this.points = [];
    this.drag = null;
    const shape = fromPoints(kind, points);
    if (!isTiny(kind, shape, this.rect)) this.hooks.created(shape);
  }

  /** The points of a polygon without the one at the pointer and without repetitions. */
  #distinct() {
    return this.points
      .slice(0, -1)
      .filter(
        (each, index, all) =>
          !index ||
          Math.hypot((each.x - all[index - 1].x) * this.rect.width, (each.y - all[index - 1].y) * this.rect.height) > 2,
      );
  }

  #drawn(/** @type {Kind} */ kind) {
    return fromPoints(kind, this.points);
  }

  #hoverAt(/** @type {Point | null} */ point) {
    const tool = this.hooks.tool();
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
