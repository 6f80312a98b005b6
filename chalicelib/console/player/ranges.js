/** Read parts of a streaming file by byte range, as its segment file says which bytes hold which frames. */

/**
 * @typedef {object} Span frames `first` … `first + count - 1` in the bytes `start` … `stop - 1`
 * @property {number} first
 * @property {number} count
 * @property {number} start
 * @property {number} stop
 *
 * @typedef {object} StreamingFile as a media with `presigned=` lists it
 * @property {string} path
 * @property {string} codec
 * @property {[number, number]} resolution height, width
 * @property {string} [segment_info]
 * @property {string} [codec_mime]
 */

const KEPT_BYTES = 64 * 1024 * 1024;

/** The server refused a range; `status` is its answer. */
class RangeRefused extends Error {
  constructor(/** @type {number} */ status) {
    super(`the store answered ${status}`);
    this.status = status;
  }
}

/**
 * The spans that a segment file lists.
 * @param {{segments: {name: string, offset: number, size: number, frame_start?: number, frame_samples?: number}[]}} info
 * @returns {{header: number, spans: Span[]}} the size of the header in bytes, and the spans in order
 */
export function spansOf(info) {
  const { segments } = info;
  /** @type {Span[]} */
  const spans = [];
  segments.forEach((moof, index) => {
    const mdat = segments[index + 1];
    if (moof.name !== "moof" || !mdat || moof.frame_start === undefined) return;
    spans.push({
      first: moof.frame_start,
      count: moof.frame_samples ?? 0,
      start: moof.offset,
      stop: mdat.offset + mdat.size,
    });
  });
  if (!spans.length) throw new Error("the segment file lists no fragment");
  if (spans[0].first > 0 && spans.length > 1) {
    // files of some tools count the first fragment's frames wrongly: read it together with the second
    const [one, two] = spans;
    spans.splice(0, 2, { first: 0, count: two.first + two.count, start: one.start, stop: two.stop });
  }
  return { header: segments[0].size + segments[1].size, spans };
}

/**
 * The index of the span that holds a frame; the last one for frames behind it.
 * @param {Span[]} spans
 * @param {number} frame
 */
export function spanAt(spans, frame) {
  let low = 0;
  let high = spans.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (spans[middle].first <= frame) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Ranges of one file. Remembers what it read, and asks for a new URL where the old one expired. */
export class Ranges {
  /**
   * @param {string} url
   * @param {() => Promise<string>} renew gives a fresh URL
   */
  constructor(url, renew) {
    this.url = url;
    this.renew = renew;
    /** @type {Map<number, {reading: Promise<Uint8Array>, size: number}>} in the order of their last use */
    this.kept = new Map();
  }

  /**
   * @param {number} start
   * @param {number} stop
   * @returns {Promise<Uint8Array>} the bytes `start` … `stop - 1`
   * @throws {RangeRefused}
   */
  read(start, stop) {
    const known = this.kept.get(start);
    const entry = known ?? { reading: this.#fetch(start, stop, true), size: 0 };
    this.kept.delete(start);
    this.kept.set(start, entry);
    if (!known)
      entry.reading.then(
        (bytes) => {
          entry.size = bytes.length;
          this.#shrink();
        },
        () => this.kept.delete(start),
      );
    return entry.reading;
  }

  /** @param {number} start @param {number} stop @param {boolean} mayRenew @returns {Promise<Uint8Array>} */
  async #fetch(start, stop, mayRenew) {
    const answer = await fetch(this.url, { headers: { Range: `bytes=${start}-${stop - 1}` }, credentials: "omit" });
    if (answer.status === 403 && mayRenew) {
      this.url = await this.renew();
      return this.#fetch(start, stop, false);
    }
    if (!answer.ok) throw new RangeRefused(answer.status);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    return answer.status === 206 ? bytes : bytes.subarray(start, stop);
  }

  #shrink() {
    let bytes = 0;
    for (const entry of this.kept.values()) bytes += entry.size;
    for (const [start, entry] of this.kept) {
      if (bytes <= KEPT_BYTES) break;
      bytes -= entry.size;
      this.kept.delete(start);
    }
  }
}
