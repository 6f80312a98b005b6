// What a person does to refined shapes: ellipses, holes of polygons, points of skeletons.

import { signal } from "../lib.js";
import { shapes as words } from "../strings_shapes.js";
import { isInside, placesOf } from "./geometry.js";

/**
 * @typedef {import("./document.js").Row} Row
 * @typedef {import("./geometry.js").Shape} Shape
 */

export class Refining {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    /** The types of which ellipses are drawn. */
    this.ellipses = signal(/** @type {Set<number>} */ (new Set()));
    /** The polygon into which a hole is drawn. */
    this.holed = signal(/** @type {string | null} */ (null));
    /** How many points of the skeleton that is drawn are placed. */
    this.pointed = signal(0);
  }

  /** What the pen draws of a type. @param {any} type @param {string} color @returns {import("./pen.js").Tool} */
  toolOf(type, color) {
    return {
      id: type.id,
      kind: type.dtype,
      color,
      refined: this.ellipses.peek().has(type.id) ? { form: "ellipse" } : {},
      isOpen: this.#allows(type, "open"),
      skeleton: type.skeleton,
    };
  }

  #allows(/** @type {any} */ type, /** @type {string} */ name) {
    return Boolean(type?.refinements?.includes(name));
  }

  /** @param {Row} row */
  of(row) {
    const type = this.session.typeOf(row);
    const isScaled = this.session.isMoving.peek();
    return { isTurned: this.#allows(type, "angle"), isScaled, skeleton: type?.skeleton ?? null };
  }

  /** Make ellipses of the selected boxes, or boxes of ellipses; without any, say what is drawn next. */
  toggleEllipse() {
    const { session } = this;
    const isRight = (/** @type {any} */ type) => this.#allows(type, "ellipse");
    const chosen = session.shapes().filter(([, row]) => isRight(session.typeOf(row)) && !row.shape?.mask);
    const type = session.tool.peek();
    if (chosen.length) {
      const isEllipse = chosen[0][1].shape?.form === "ellipse";
      const changed = chosen.map(([key, row]) => {
        const { form: _, ...rest } = row.shape ?? {};
        return /** @type {[string, Shape]} */ ([key, isEllipse ? rest : { ...rest, form: "ellipse" }]);
      });
      session.hand.reshape(new Map(changed), words.steps.ellipse);
    } else if (isRight(type)) {
      const next = new Set(this.ellipses.peek());
      if (!next.delete(type.id)) next.add(type.id);
      this.ellipses.value = next;
    } else session.say(words.ellipseWhat);
  }

  /** Draw a hole into the selected polygon; where the pointer is in a hole of it, that one is closed. */
  hole() {
    const { session } = this;
    const chosen = session.shapes().filter(([, row]) => this.#allows(session.typeOf(row), "holes"));
    const isClosed = chosen.length === 1 && chosen[0][1].shape?.closed !== false;
    if (!isClosed) return session.say(words.holeWhat);
    const [[key, row]] = chosen;
    const pointer = session.stage?.pointer;
    const holes = row.shape?.holes ?? [];
    const left = holes.filter((hole) => !pointer || !isInside(placesOf(hole), pointer));
    if (left.length < holes.length) return this.#setHoles(key, row, left);
    session.tool.value = null;
    session.paint.end();
    this.holed.value = key;
    return undefined;
  }

  /** The polygon into which a hole is drawn. */
  get holeIn() {
    const key = this.holed.peek();
    const row = key && this.session.trackSet.row(key);
    return row ? { outer: row.shape?.points ?? [], color: this.session.colorOf(key, row) } : null;
  }

  /** A hole was drawn; null: it sticks out. @param {number[][] | null} ring */
  drawn(ring) {
    const key = this.holed.peek();
    const row = key && this.session.trackSet.row(key);
    if (!ring) this.session.say(words.holeOutside);
    else if (row) this.#setHoles(key, row, [...(row.shape?.holes ?? []), ring]);
    this.holed.value = null;
  }

  /** Draw no hole. Whether one was begun. */
  endHole() {
    const had = this.holed.peek() !== null;
    this.holed.value = null;
    return had;
  }

  #setHoles(/** @type {string} */ key, /** @type {Row} */ row, /** @type {number[][][]} */ holes) {
    const { holes: _, ...rest } = row.shape ?? {};
    this.session.hand.reshape(new Map([[key, holes.length ? { ...rest, holes } : rest]]), words.steps.hole);
  }

  /** The point of the selected skeleton under the pointer becomes hidden, then not there; one that is not there comes to the pointer. */
  point() {
    const { session } = this;
    const { stage } = session;
    if (session.tool.peek()?.skeleton) {
      stage?.pen.skip();
      stage?.invalidate();
      return;
    }
    const chosen = session.shapes().filter(([, row]) => this.of(row).skeleton);
    const pointer = stage?.pointer;
    if (chosen.length !== 1 || !pointer) {
      session.say(words.pointWhat);
      return;
    }
    const [[key, row]] = chosen;
    const shape = /** @type {Shape} */ (row.shape);
    const points = [...(shape.points ?? [])];
    const visible = shape.visible ? [...shape.visible] : points.map(() => 2);
    const under = stage.pointed;
    const at = under ?? visible.indexOf(0);
    if (at < 0 || (under !== null && visible[at] === 1 && visible.filter(Boolean).length === 1)) {
      session.say(words.pointWhat);
      return;
    }
    visible[at] = under === null ? 2 : visible[at] - 1;
    points[at] =
      under === null
        ? [pointer.x, pointer.y].map((each) => Math.min(1, Math.max(0, each)))
        : visible[at]
          ? points[at]
          : [0, 0];
    session.hand.reshape(new Map([[key, { ...shape, points, visible }]]), words.steps.point);
    session.say(words.pointStates(this.of(row).skeleton.points[at], visible[at]));
  }
}
