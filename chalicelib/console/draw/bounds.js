// Which shape lies under a point: the bounds of all that are shown, made once for each list of them.

import { boundsOf, isHit } from "./geometry.js";

/**
 * @typedef {import("./document.js").Row} Row
 * @typedef {import("./geometry.js").Kind} Kind
 * @typedef {{key: string, row: Row, kind: Kind, x: number, y: number, right: number, bottom: number, area: number}} Bound
 */

export class Bounds {
  /** @param {(row: Row) => Kind} kindOf */
  constructor(kindOf) {
    this.kindOf = kindOf;
    /** @type {[string, Row][]} */
    this.rows = [];
    /** @type {Bound[]} */
    this.bounds = [];
  }

  /** @param {[string, Row][]} rows @param {import("./geometry.js").Size} size of the picture on the screen @returns {Bound[]} */
  of(rows, size) {
    if (this.rows !== rows) {
      this.rows = rows;
      this.bounds = rows.map(([key, row]) => {
        const kind = this.kindOf(row);
        const { x, y, width, height } = boundsOf(kind, row.shape ?? {}, size);
        return { key, row, kind, x, y, right: x + width, bottom: y + height, area: width * height };
      });
    }
    return this.bounds;
  }

  /**
   * The topmost shape under a point: of several, the smallest.
   * @param {[string, Row][]} rows @param {import("./geometry.js").Point} point
   * @param {import("./geometry.js").Size} size of the picture on the screen @param {number} reach in pixels
   */
  hit(rows, point, size, reach) {
    const [dx, dy] = [(reach * 1.5) / size.width, (reach * 1.5) / size.height];
    let found = null;
    let least = Infinity;
    for (const { key, row, kind, x, y, right, bottom, area } of this.of(rows, size)) {
      if (area >= least || point.x < x - dx || point.x > right + dx || point.y < y - dy || point.y > bottom + dy)
        continue;
      if (!isHit(kind, row.shape ?? {}, point, size, reach)) continue;
      found = key;
      least = area;
    }
    return found;
  }

  /** The keys of shapes that lie inside of a box. @param {[string, Row][]} rows @param {{x: number, y: number, width: number, height: number}} box @param {import("./geometry.js").Size} size */
  inside(rows, { x, y, width, height }, size) {
    const isIn = (/** @type {Bound} */ each) =>
      each.x >= x && each.y >= y && each.right <= x + width && each.bottom <= y + height;
    return this.of(rows, size)
      .filter(isIn)
      .map(({ key }) => key);
  }
}
