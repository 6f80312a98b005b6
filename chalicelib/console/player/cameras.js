// Videos side by side by time: which frame of each belongs to a moment. The same arithmetic as chalicelib/video/cameras.py.
import { get } from "../client.js";

/** Seconds after a moment at which a frame still belongs to it: containers round the times of equal rates. */
const TOLERANCE = 5e-6;
const TIMES_A_READ = 100_000;

/** @typedef {{frames: number, rate: number, times: number[] | null}} Clock `times` of each frame in seconds; null where the rate is constant */

/** @param {Clock} clock @param {number} frame also outside of the video @returns {number} seconds after frame 0 */
function timeOf({ rate, times }, frame) {
  if (!times || frame < 0) return frame / rate;
  const last = Math.min(frame, times.length - 1);
  return times[last] + (frame - last) / rate;
}

/** The last frame that has begun at a time; outside of the video as `timeOf`. @param {Clock} clock @param {number} time */
export function frameAt({ rate, times }, time) {
  const at = time + TOLERANCE;
  if (!times || at < 0) return Math.floor(at * rate);
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= at) low = middle + 1;
    else high = middle;
  }
  const [found, last] = [low - 1, times.length - 1];
  return found < last ? found : last + Math.floor((at - times[last]) * rate);
}

/** The clock of a media, null for an image. @param {any} media @returns {Promise<Clock | null>} */
async function readClock(media) {
  if (media.media_files?.image?.length) return null;
  const first = await get(`FrameTimes/${media.id}`, { stop: 1 });
  const clock = { frames: first.num_frames, rate: first.rate[0] / first.rate[1], times: null };
  if (first.is_constant) return clock;
  const times = [];
  while (times.length < clock.frames) {
    const stop = Math.min(clock.frames, times.length + TIMES_A_READ);
    times.push(...(await get(`FrameTimes/${media.id}`, { start: times.length, stop })).times);
  }
  return { ...clock, times };
}

export class Cameras {
  /** @param {any} media that shows others @param {any[]} parts those, in their order @param {(Clock | null)[]} clocks */
  constructor(media, parts, clocks) {
    this.media = media;
    this.parts = parts;
    this.clocks = clocks;
    const { frameOffset = [], layout = [] } = media.media_files;
    this.offsets = parts.map((_, part) => frameOffset?.[part] ?? 0);
    const [rows, columns] = layout?.length === 2 ? layout : [0, 0];
    const wide = rows * columns >= parts.length ? columns : Math.ceil(Math.sqrt(parts.length));
    this.layout = [Math.ceil(parts.length / wide), wide];
    /** @type {{part: number, frame: number, moment: number} | null} a frame that stands for a later moment within it */
    this.pinned = null;
  }

  /** @param {any} media that shows others @param {number} seconds for which URLs of files are valid */
  static async read(media, seconds) {
    const parts = await Promise.all(
      media.media_files.ids.map((/** @type {number} */ id) => get(`Media/${id}`, { presigned: seconds })),
    );
    return new Cameras(media, parts, await Promise.all(parts.map(readClock)));
  }

  /** Seconds from moment 0 of the whole to a frame of a part. @param {number} part @param {number} frame */
  moment(part, frame) {
    const clock = this.clocks[part];
    return clock ? timeOf(clock, frame) - timeOf(clock, this.offsets[part]) : 0;
  }

  /** Have a frame of a part stand for the moment at which another shows one, so that a change of the active part moves none. @param {number} part @param {number} frame @param {number} other @param {number} shown */
  pin(part, frame, other, shown) {
    this.pinned = { part, frame, moment: this.#now(other, shown) };
  }

  /** @param {number} part @param {number} frame */
  #now(part, frame) {
    const { pinned } = this;
    if (pinned?.part !== part) return this.moment(part, frame);
    if (pinned.frame === frame) return pinned.moment;
    this.pinned = null; // another frame was sought
    return this.moment(part, frame);
  }

  /** The frame that a part shows while another shows one; null for none. @param {number} part @param {number} other @param {number} frame of the other */
  shown(part, other, frame) {
    const found = this.frameOf(part, this.#now(other, frame));
    const clock = this.clocks[part];
    return !clock || (found >= 0 && found < clock.frames) ? found : null;
  }

  /** As `shown`; the first or the last frame of the part where it shows none. @param {number} part @param {number} other @param {number} frame of the other */
  nearest(part, other, frame) {
    const last = (this.clocks[part]?.frames ?? 1) - 1;
    return Math.max(0, Math.min(last, this.frameOf(part, this.#now(other, frame))));
  }

  /** The frame of a part at a moment, also one that the part does not have. @param {number} part @param {number} moment @param {number} [offset] */
  frameOf(part, moment, offset = this.offsets[part]) {
    const clock = this.clocks[part];
    return clock ? frameAt(clock, moment + timeOf(clock, offset)) : 0;
  }

  /**
   * The offsets with which marked frames are shown at one moment: that of the first marked part.
   * @param {(number | null)[]} marks the frame of each part at which the same is seen; null for parts that stay
   */
  aligned(marks) {
    const first = marks.findIndex((mark) => mark !== null);
    if (first < 0) return this.offsets;
    const moment = this.moment(first, /** @type {number} */ (marks[first]));
    return this.offsets.map((offset, part) => {
      const mark = marks[part];
      const clock = this.clocks[part];
      if (mark === null || part === first || !clock) return offset;
      // the nearest frame; where rounding then shows another one than was marked, its neighbour
      const nearest = frameAt(clock, timeOf(clock, mark) - moment + 0.5 / clock.rate);
      return [nearest, nearest + 1, nearest - 1].find((each) => this.frameOf(part, moment, each) === mark) ?? nearest;
    });
  }
}
