// The loudness of a sound over time, read beside the page: gets the address of a fragmented MP4 with AAC and how long the
// media is, and answers with peaks as often as more is known.
//
// What is small is read whole. Of films of hours spots are read, evenly over the file, so that neither bytes nor time grow
// with the film. Never more than one part of the file and one of its fragments are in memory.

import { fragmentsIn, readSamples, readSoundHeader } from "./boxes.js";

/** @typedef {{url: string, size: number, seconds: number, bins: number, most: number}} Question `size` is that of the file, `most` how much of it is read, in bytes */
/** @typedef {{peaks: Float32Array, isWhole: boolean}} Answer peaks from 0 to 1, NaN where nothing was read; `isWhole` is said by the last one */

const HEAD = 16 * 1024;
const PART = 1024 * 1024;
/** A little more than a fragment of five seconds, so that one begins in it. */
const SPOT = 96 * 1024;
const QUEUED = 200;

/** @param {string} url @param {number} start @param {number} stop */
async function read(url, start, stop) {
  const answer = await fetch(url, { credentials: "omit", headers: { Range: `bytes=${start}-${stop - 1}` } });
  if (answer.status !== 206) throw new Error(`the sound answers ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** Decodes samples, and keeps the peak of each bin. */
class Peaks {
  /** @param {import("./boxes.js").SoundHeader} header @param {Question} question */
  constructor(header, { seconds, bins }) {
    this.peaks = new Float32Array(bins).fill(NaN);
    this.scale = bins / seconds;
    this.header = header;
    this.values = new Float32Array(0);
    this.decoder = new AudioDecoder({
      output: (data) => this.#take(data),
      error: (failure) => {
        this.failure = failure;
      },
    });
    this.decoder.configure(header.config);
  }

  /** @param {import("./boxes.js").Sample[]} samples */
  async add(samples) {
    for (const { data, time } of samples) {
      if (this.failure) throw this.failure;
      this.decoder.decode(
        new EncodedAudioChunk({ type: "key", timestamp: (time / this.header.timescale) * 1e6, data: data.slice() }),
      );
      if (this.decoder.decodeQueueSize > QUEUED) await this.decoder.flush();
    }
    await this.decoder.flush();
  }

  #take(/** @type {AudioData} */ data) {
    const count = data.numberOfFrames;
    if (this.values.length < count) this.values = new Float32Array(count);
    const [begin, rate] = [data.timestamp / 1e6, data.sampleRate];
    for (let planeIndex = 0; planeIndex < data.numberOfChannels; planeIndex += 1) {
      data.copyTo(this.values, { planeIndex, format: "f32-planar", frameCount: count });
      for (let at = 0; at < count; at += 1) {
        const bin = Math.floor((begin + at / rate) * this.scale);
        const loud = Math.abs(this.values[at]);
        if (bin >= 0 && bin < this.peaks.length && !(this.peaks[bin] >= loud)) this.peaks[bin] = Math.min(1, loud);
      }
    }
    data.close();
  }
}

/** @param {Question} question */
async function measure(question) {
  const { url, size, most } = question;
  const header = readSoundHeader(await read(url, 0, Math.min(size, HEAD)));
  if (!(await AudioDecoder.isConfigSupported(header.config)).supported) throw new Error("the browser has no decoder");
  const found = new Peaks(header, question);
  const tell = (/** @type {boolean} */ isWhole) => postMessage({ peaks: found.peaks, isWhole });
  const isWhole = size <= most;
  const spots = Math.floor(most / SPOT);
  let left = new Uint8Array(0);
  for (let turn = 0, at = 0; at < size; turn += 1) {
    const stop = Math.min(size, at + (isWhole ? PART : SPOT));
    const bytes = await read(url, at, stop);
    const part = new Uint8Array(left.length + bytes.length);
    part.set(left);
    part.set(bytes, left.length);
    // what goes on in the next part waits for it; in a spot, samples that are there are taken
    let done = 0;
    for (const { start, end } of fragmentsIn(part)) {
      if (end > part.length && isWhole) break;
      await found.add(readSamples(part.subarray(start, end), header, end > part.length));
      done = end;
    }
    left = isWhole ? part.slice(done) : left;
    tell(false);
    at = isWhole ? stop : Math.floor(((turn + 1) / spots) * size);
  }
  tell(true);
}

onmessage = ({ data }) => measure(data).catch((failure) => postMessage({ failure: String(failure) }));
