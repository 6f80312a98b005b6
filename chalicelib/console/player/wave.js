// The waveform of a media's sound: peaks over its time, made by a worker from the file that is heard.
import { signal } from "../lib.js";

const BINS = 2048;
/** What is fainter does not fill the row. */
const FAINTEST = 0.02;
/** Of longer sounds spots are read: about 25 minutes of the service's own files. */
const MOST_BYTES = 24 * 1024 * 1024;

export class Wave {
  /** @param {string} url presigned @param {number} size of the file, in bytes */
  constructor(url, size) {
    this.url = url;
    this.size = size;
    /** From 0 to 1 over the time of the media, NaN where nothing was read; null until there are some. */
    this.peaks = signal(/** @type {Float32Array | null} */ (null));
    /** Whether all that will be read is. */
    this.isWhole = false;
    /** Whether this browser can make it. */
    this.isPossible = signal(typeof AudioDecoder !== "undefined" && size > 0);
  }

  /** Begin to read. @param {number} seconds of the media @param {number} [most] bytes that are read */
  start(seconds, most = MOST_BYTES) {
    if (this.worker || !this.isPossible.peek() || !(seconds > 0)) return;
    this.worker = new Worker(new URL("./wave_worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => {
      if (data.failure) return this.#fail();
      this.isWhole = data.isWhole;
      this.peaks.value = data.peaks;
      if (data.isWhole) this.close();
    };
    this.worker.onerror = () => this.#fail();
    this.worker.postMessage({ url: this.url, size: this.size, seconds, bins: BINS, most });
  }

  close() {
    this.worker?.terminate();
    this.worker = undefined;
  }

  /** Files in other forms than the service makes, and browsers without AAC: what was read stays. */
  #fail() {
    this.isPossible.value = this.peaks.peek() !== null;
    this.close();
  }
}

/**
 * Draw peaks, mirrored at the middle of a row. The loudest one fills it; between spots the one before counts.
 * @param {CanvasRenderingContext2D} context @param {Float32Array} peaks @param {{top: number, width: number, height: number}} row
 */
export function paintWave(context, peaks, { top, width, height }) {
  const most = peaks.reduce((found, peak) => (peak > found ? peak : found), FAINTEST);
  let last = 0;
  for (let x = 0; x < width; x += 1) {
    const from = Math.floor((x / width) * peaks.length);
    const to = Math.max(from + 1, Math.floor(((x + 1) / width) * peaks.length));
    let loud = NaN;
    for (let at = from; at < to; at += 1) if (!(loud >= peaks[at]) && peaks[at] >= 0) loud = peaks[at];
    if (loud >= 0) last = loud;
    const high = Math.max(1, (last / most) * height);
    context.fillRect(x, top + (height - high) / 2, 1, high);
  }
}
