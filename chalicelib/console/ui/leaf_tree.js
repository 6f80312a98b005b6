// The leaves of a type as a tree. It is read from the top, as far down as one answer reaches; the rest when it is opened.
import { get, pages } from "../client.js";
import { MOST_MATCHES as MOST } from "../strings_manage.js";

/** @typedef {{id: number, name: string, parent: number | null, path: string, depth: number, type: number, attributes: Record<string, any>}} Leaf */

export class LeafTree {
  /** @param {number} project @param {number} type */
  constructor(project, type) {
    this.project = project;
    this.type = type;
    /** Leaves by id, as far as they are read. @type {Map<number, Leaf>} */
    this.leaves = new Map();
    /** Children by the id of their parent, null for those at the top. A leaf whose children are not read has none here. @type {Map<number | null, Leaf[]>} */
    this.children = new Map();
  }

  /**
   * Read what is below a leaf, or below the top: levels that one answer holds, the first of them whole.
   * @param {Leaf | null} parent @param {AbortSignal} [signal]
   */
  async read(parent, signal) {
    const query = { type: this.type, ancestor: parent?.path, sort_by: ["$depth", "$name"] };
    /** @type {Leaf[]} */
    let found = (await get(`Leaves/${this.project}`, { ...query, stop: MOST }, { signal })).filter(
      (/** @type {Leaf} */ each) => each.id !== parent?.id,
    );
    const isWhole = found.length < MOST - 1;
    const first = parent ? parent.depth + 1 : 0;
    let last = found.length ? found[found.length - 1].depth : first;
    if (!isWhole && last === first) {
      found = [];
      await pages(
        `Leaves/${this.project}`,
        { ...query, depth: first },
        (items) => {
          found.push(...items);
        },
        { size: MOST, signal },
      );
    } else if (!isWhole) {
      found = found.filter((each) => each.depth < last);
      last -= 1;
    }
    this.#forget(parent?.id ?? null);
    const below = Map.groupBy(found, (each) => each.parent);
    this.children.set(parent?.id ?? null, below.get(parent?.id ?? null) ?? []);
    for (const each of found) {
      this.leaves.set(each.id, each);
      if (isWhole || each.depth < last) this.children.set(each.id, below.get(each.id) ?? []);
    }
  }

  /** The rows to show, from the top: those whose ancestors are all open. @param {Set<number>} open @param {Map<number | null, number>} most how many children are shown of each @param {number} usual */
  rows(open, most, usual) {
    /** @type {Array<{leaf: Leaf, level: number, at: number, of: number} | {more: number, parent: number | null, level: number}>} */
    const rows = [];
    const walk = (/** @type {number | null} */ parent, /** @type {number} */ level) => {
      const all = this.children.get(parent) ?? [],
        count = most.get(parent) ?? usual;
      all.slice(0, count).forEach((leaf, index) => {
        rows.push({ leaf, level, at: index + 1, of: all.length });
        if (open.has(leaf.id)) walk(leaf.id, level + 1);
      });
      if (all.length > count) rows.push({ more: all.length - count, parent, level });
    };
    walk(null, 1);
    return rows;
  }

  /** Whether a leaf is another one or lies below it. @param {Leaf} leaf @param {Leaf} other */
  isWithin(leaf, other) {
    for (let at = /** @type {Leaf | undefined} */ (leaf); at; at = this.leaves.get(/** @type {any} */ (at.parent)))
      if (at.id === other.id) return true;
    return leaf.path === other.path || leaf.path.startsWith(`${other.path}.`);
  }

  #forget(/** @type {number | null} */ id) {
    const children = this.children.get(id) ?? [];
    this.children.delete(id);
    for (const each of children) {
      this.#forget(each.id);
      this.leaves.delete(each.id);
    }
  }
}
