/**
 * Frames of a fragmented MP4 by WebCodecs. Every chunk is given its frame number as timestamp, which the decoder hands
 * through: the picture of frame n is the one with timestamp n, whatever the order of decoding and the file's clock.
 */

import { readHeader, readSamples } from "./boxes.js";
import { Pictures } from "./pictures.js";
import { Ranges, spanAt, spansOf } from "./ranges.js";

/** @typedef {import("./ranges.js").StreamingFile} StreamingFile */

/** The file cannot be played in this way; another one may. */
export class Unsupported extends Error {}

const AHEAD_SPANS = 3;
const STEP = 1000; // microseconds between timestamps of neighbouring frames
const MOST_FAILURES = 3;

export class FragmentSource {
  /**
   * @param {StreamingFile} file with presigned URLs
   * @param {() => Promise<StreamingFile>} renew the same file with fresh URLs
   * @returns {Promise<FragmentSource>}
   * @throws {Unsupported} without WebCodecs, a segment file, or a decoder of the codec
   */
  static async open(file, renew) {
    if (typeof VideoDecoder === "undefined") throw new Unsupported("the browser has no WebCodecs");
    if (!file.segment_info) throw new Unsupported("the file has no segment file");
    const answer = await fetch(file.segment_info, { credentials: "omit" });
    if (!answer.ok) throw new Unsupported(`the segment file answers ${answer.status}`);
    const { header: size, spans } = spansOf(await answer.json());
    const ranges = new Ranges(file.path, async () => (await renew()).path);
    const header = readHeader(await ranges.read(0, size));
    if (!header.isUpright) throw new Unsupported("the track is turned");
    /** @type {VideoDecoderConfig} */
    const config = { codec: header.codec, optimizeForLatency: false };
    if (header.description) config.description = header.description;
    const found = await VideoDecoder.isConfigSupported(config);
    if (!found.supported) throw new Unsupported(`no decoder of ${header.codec}`);
    return new FragmentSource(ranges, spans, header, config);
  }

  /**
   * @param {Ranges} ranges
   * @param {import("./ranges.js").Span[]} spans
   * @param {import("./boxes.js").Header} header
   * @param {VideoDecoderConfig} config
   */
  constructor(ranges, spans, header, config) {
    this.name = "codecs";
    this.ranges = ranges;
    this.spans = spans;
    this.header = header;
    this.config = config;
    this.frames = spans[spans.length - 1].first + spans[spans.length - 1].count;
    this.pictures = new Pictures();
    /** @type {Map<number, {promise: Promise<ImageBitmap>, resolve: Function, reject: Function}>} */
    this.waiting = new Map();
    /** @type {Set<number>} spans that are read, queued or decoded */
    this.underway = new Set();
    /** @type {number[]} spans whose bytes are there; the last one is decoded first */
    this.ready = [];
    this.failures = 0;
    this.isBusy = false;
    this.isClosed = false;
    /** @type {VideoDecoder | null} */
    this.decoder = null;
  }

  /** @param {number} frame the picture if it is decoded already */
  get(frame) {
    return this.pictures.get(frame);
  }

  /**
   * @param {number} frame
   * @returns {Promise<ImageBitmap>} valid until the frame is far from the centre of what is kept
   */
  frame(frame) {
    this.pictures.centre = frame;
    const picture = this.pictures.get(frame);
    if (picture) return Promise.resolve(picture);
    let entry = this.waiting.get(frame);
    if (!entry) {
      const made = Promise.withResolvers();
      made.promise.catch(() => undefined);
      entry = made;
      this.waiting.set(frame, entry);
    }
    this.#request(spanAt(this.spans, frame));
    return entry.promise;
  }

  /**
   * Read and decode what playing will need.
   * @param {number} frame
   * @param {number} direction 1 or -1
   */
  prepare(frame, direction) {
    this.pictures.centre = frame;
    const at = spanAt(this.spans, frame);
    for (let step = AHEAD_SPANS; step >= 0; step -= 1) {
      const span = this.spans[at + step * direction];
      if (!span) continue;
      this.ranges.read(span.start, span.stop).catch(() => undefined);
      const edge = direction > 0 ? span.first : span.first + span.count - 1;
      const near = Math.abs(edge - frame) < this.#capacity() / 2 || step === 0;
      if (near && !this.#isDecoded(span, frame, direction)) this.#request(at + step * direction);
    }
  }

  close() {
    this.isClosed = true;
    if (this.decoder && this.decoder.state !== "closed") this.decoder.close();
    this.pictures.clear();
    for (const { reject } of this.waiting.values()) reject(new DOMException("the file was closed", "AbortError"));
    this.waiting.clear();
  }

  /** How many pictures fit into memory. */
  #capacity() {
    return Math.max(8, this.pictures.budget / (this.header.width * this.header.height * 4));
  }

  /** Whether the frames of a span that are still to be shown are all there. */
  #isDecoded(
    /** @type {import("./ranges.js").Span} */ span,
    /** @type {number} */ frame,
    /** @type {number} */ direction,
  ) {
    for (let each = span.first; each < span.first + span.count; each += 1)
      if ((each - frame) * direction >= 0 && !this.pictures.get(each)) return false;
    return true;
  }

  #request(/** @type {number} */ index) {
    const place = this.ready.indexOf(index);
    if (place >= 0) {
      this.ready.splice(place, 1);
      this.ready.push(index);
    }
    if (this.underway.has(index)) return;
    this.underway.add(index);
    const span = this.spans[index];
    this.ranges.read(span.start, span.stop).then(
      () => {
        this.ready.push(index);
        this.#work();
      },
      (error) => {
        this.underway.delete(index);
        this.#refuse(index, error);
      },
    );
  }

  async #work() {
    if (this.isBusy) return;
    this.isBusy = true;
    while (this.ready.length && !this.isClosed) {
      const index = /** @type {number} */ (this.ready.pop());
      try {
        await this.#decode(index);
        this.failures = 0;
        this.underway.delete(index);
        this.#refuse(index, new Error("the frame is missing from the file"));
      } catch (error) {
        this.underway.delete(index);
        this.decoder = null;
        this.failures += 1;
        if (this.failures < MOST_FAILURES) this.#request(index);
        else this.#refuse(index, new Unsupported(`decoding failed: ${error}`));
      }
    }
    this.isBusy = false;
  }

  /** Reject those that wait for frames of a span. */
  #refuse(/** @type {number} */ index, /** @type {unknown} */ error) {
    const { first, count } = this.spans[index];
    for (const [frame, entry] of this.waiting)
      if (frame >= first && (frame < first + count || index === this.spans.length - 1)) {
        this.waiting.delete(frame);
        entry.reject(error);
      }
  }

  /** Chunks of a span in decoding order; it begins with earlier spans where it cannot be decoded by itself. */
  async #chunks(/** @type {number} */ index) {
    /** @type {EncodedVideoChunk[]} */
    let chunks = [];
    for (let each = index; each >= 0; each -= 1) {
      const span = this.spans[each];
      const samples = readSamples(await this.ranges.read(span.start, span.stop), this.header);
      const order = samples.map((sample) => sample.time).sort((one, two) => one - two);
      const part = samples.map(
        (sample) =>
          new EncodedVideoChunk({
            type: sample.key ? "key" : "delta",
            timestamp: (span.first + order.indexOf(sample.time)) * STEP,
            data: sample.data,
          }),
      );
      chunks = [...part, ...chunks];
      if (samples[0]?.key) break;
    }
    return chunks;
  }

  async #decode(/** @type {number} */ index) {
    const span = this.spans[index];
    const chunks = await this.#chunks(index);
    if (this.isClosed) return;
    /** @type {Promise<void>[]} */
    const copies = [];
    const { promise: failed, reject } = Promise.withResolvers();
    failed.catch(() => undefined);
    this.decoder ??= this.#configured();
    this.output = (/** @type {VideoFrame} */ picture) => {
      const frame = Math.round(picture.timestamp / STEP);
      if (frame < span.first || this.pictures.get(frame)) return picture.close();
      copies.push(
        createImageBitmap(picture).then((bitmap) => {
          picture.close();
          this.#arrive(frame, bitmap);
        }),
      );
    };
    this.failure = reject;
    for (const chunk of chunks) this.decoder.decode(chunk);
    await Promise.race([this.decoder.flush(), failed]);
    await Promise.all(copies);
  }

  #configured() {
    const decoder = new VideoDecoder({
      output: (picture) => this.output?.(picture),
      error: (error) => this.failure?.(error),
    });
    decoder.configure(this.config);
    return decoder;
  }

  #arrive(/** @type {number} */ frame, /** @type {ImageBitmap} */ bitmap) {
    if (this.isClosed) return bitmap.close();
    const entry = this.waiting.get(frame);
    this.waiting.delete(frame);
    if (entry) this.pictures.centre = frame;
    this.pictures.add(frame, bitmap);
    entry?.resolve(bitmap);
  }
}
