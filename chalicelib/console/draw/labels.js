// Labels by keys: the values of the first choice of a type, the last label again, and shapes copied between frames and media.

import { signal } from "../lib.js";
import { STORED } from "../ui/review_names.js";
import { hasPlace } from "./geometry.js";

/** @typedef {import("./document.js").Row} Row @typedef {import("./session.js").Session} Session */

const CLIPBOARD = "limn.clipboard";
const MOST = 500;
export const MOST_VALUES = 9;

/** The attribute of a type whose values have keys: its first choice, without that of review. @param {any} type @returns {any} */
export const labelAttribute = (type) =>
  (type?.attribute_types ?? []).find(
    (/** @type {any} */ each) => each.dtype === "enum" && each.name !== STORED.attribute,
  );

export class Labels {
  /** @param {Session} session */
  constructor(session) {
    this.session = session;
    /** Values that new shapes of a type get, by the id of the type. */
    this.next = signal(/** @type {Map<number, Record<string, any>>} */ (new Map()));
    /** @type {Map<string, Record<string, any>>} the values that were set last, by kind and type */
    this.last = new Map();
  }

  /** The type that keys of values are about: of the selection, else of the tool. */
  get type() {
    const [row] = this.session.chosen().map(([, each]) => each);
    return row ? this.session.typeOf(row) : this.session.tool.value;
  }

  /** The values that have keys now. @returns {string[]} */
  get values() {
    return (labelAttribute(this.type)?.choices ?? []).slice(0, MOST_VALUES);
  }

  /** Set the value with a number, of what is selected, or of what the tool draws next. @param {number} index */
  choose(index) {
    const value = this.values[index];
    const attribute = labelAttribute(this.type);
    if (value === undefined) return;
    if (this.session.selected.peek().size) this.session.hand.setAttribute(attribute.name, value);
    else {
      const { id } = /** @type {any} */ (this.session.tool.peek());
      const known = this.next.peek().get(id) ?? {};
      this.next.value = new Map(this.next.peek()).set(id, { ...known, [attribute.name]: value });
    }
  }

  /** Note what was set, to be repeated. @param {Row} row @param {string} name @param {any} value */
  note(row, name, value) {
    const key = `${row.kind}${row.type}`;
    this.last.set(key, { ...this.last.get(key), [name]: value });
  }

  /** Set what was set last on shapes of the same type. */
  repeat() {
    for (const [, row] of this.session.chosen().slice(0, 1))
      this.session.hand.setAttributes(this.last.get(`${row.kind}${row.type}`) ?? {});
  }

  /** Keep the selected shapes for pasting, in any tab of this browser. @returns {number} how many */
  copy() {
    const shapes = this.session.chosen().filter(([, row]) => row.kind === "localization" && hasPlace(row.shape));
    const kept = shapes.slice(0, MOST).map(([, { type, shape, attributes }]) => ({ type, shape, attributes }));
    if (kept.length) localStorage.setItem(CLIPBOARD, JSON.stringify({ shapes: kept }));
    return kept.length;
  }

  /**
   * Shapes that were copied.
   * @returns {{type: any, shape: import("./geometry.js").Shape, attributes: Record<string, any>}[]} those of types that can be drawn here
   */
  copied() {
    try {
      const { shapes } = JSON.parse(localStorage.getItem(CLIPBOARD) ?? "{}");
      return (shapes ?? []).flatMap((/** @type {any} */ each) => {
        const type = this.session.drawable.find(({ id }) => id === each.type);
        return type ? [{ ...each, type }] : [];
      });
    } catch {
      return [];
    }
  }
}
