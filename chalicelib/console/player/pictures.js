/** Decoded pictures by frame number: as many as fit into a budget of memory, those near the current frame stay. */

const BUDGET = 320 * 1024 * 1024;

export class Pictures {
  constructor(budget = BUDGET) {
    this.budget = budget;
    this.bytes = 0;
    /** The frame around which pictures are kept. */
    this.centre = 0;
    /** @type {Map<number, ImageBitmap>} */
    this.held = new Map();
  }

  /** @param {number} frame */
  get(frame) {
    return this.held.get(frame);
  }

  /**
   * Keep a picture; the farthest ones give way.
   * @param {number} frame
   * @param {ImageBitmap} picture
   */
  add(frame, picture) {
    const before = this.held.get(frame);
    if (before) this.#drop(frame, before);
    this.held.set(frame, picture);
    this.bytes += picture.width * picture.height * 4;
    while (this.bytes > this.budget && this.held.size > 2) {
      let farthest = frame;
      for (const each of this.held.keys())
        if (Math.abs(each - this.centre) > Math.abs(farthest - this.centre)) farthest = each;
      const picked = /** @type {ImageBitmap} */ (this.held.get(farthest));
      this.#drop(farthest, picked);
      if (farthest === frame) break;
    }
  }

  clear() {
    for (const [frame, picture] of this.held) this.#drop(frame, picture);
  }

  #drop(/** @type {number} */ frame, /** @type {ImageBitmap} */ picture) {
    this.held.delete(frame);
    this.bytes -= picture.width * picture.height * 4;
    picture.close();
  }
}
