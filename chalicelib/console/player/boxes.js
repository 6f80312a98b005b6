/**
 * Read the boxes of fragmented MP4: the decoder's configuration from the header, the samples from a fragment.
 * Only what a player of one video track needs, and what a waveform needs of one of sound; other boxes are skipped.
 */

/**
 * @typedef {object} Header
 * @property {string} codec the codec as WebCodecs names it, such as `avc1.64001f`
 * @property {Uint8Array} [description] the decoder configuration record, where the codec has one
 * @property {number} width displayed width in pixels, with the pixels' shape taken into account
 * @property {number} height displayed height in pixels
 * @property {number} track id of the video track
 * @property {{duration: number, size: number, flags: number}} defaults of samples, from `trex`
 * @property {boolean} isUpright whether the track is shown without turning or mirroring
 *
 * @typedef {object} SoundHeader
 * @property {AudioDecoderConfig} config
 * @property {number} timescale units of the track's clock in a second
 * @property {number} track
 * @property {Header["defaults"]} defaults
 *
 * @typedef {object} Sample
 * @property {Uint8Array} data
 * @property {number} time presentation time, in units of the track's clock
 * @property {boolean} key whether decoding may begin here
 */

const NOT_SYNC = 0x10000;

/** The four letters at an offset. */
const fourcc = (/** @type {DataView} */ view, /** @type {number} */ at) =>
  String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));

/**
 * The boxes in a part of a buffer.
 * @param {DataView} view
 * @param {number} start
 * @param {number} stop
 * @returns {Generator<{type: string, start: number, body: number, stop: number}>}
 */
export function* boxes(view, start, stop) {
  while (start + 8 <= stop) {
    let size = view.getUint32(start);
    let body = start + 8;
    if (size === 1) {
      size = Number(view.getBigUint64(body));
      body += 8;
    } else if (size === 0) size = stop - start;
    if (size < body - start || start + size > stop) throw new Error(`box at ${start}: size ${size} is out of bounds`);
    yield { type: fourcc(view, start + 4), start, body, stop: start + size };
    start += size;
  }
}

/** The first box of a type below a box, by a path such as `mdia/minf/stbl`. */
function find(
  /** @type {DataView} */ view,
  /** @type {{body: number, stop: number}} */ within,
  /** @type {string} */ path,
) {
  let found = within;
  for (const type of path.split("/")) {
    const next = [...boxes(view, found.body, found.stop)].find((box) => box.type === type);
    if (!next) return null;
    found = next;
  }
  return /** @type {{type: string, start: number, body: number, stop: number}} */ (found);
}

const viewOf = (/** @type {Uint8Array} */ bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const hex = (/** @type {number} */ byte) => byte.toString(16).padStart(2, "0");

/**
 * What decoding needs to know, from `ftyp` and `moov`.
 * @param {Uint8Array} bytes
 * @returns {Header}
 * @throws {Error} there is no video track, or its codec is unknown
 */
export function readHeader(bytes) {
  const view = viewOf(bytes);
  const moov = find(view, { body: 0, stop: bytes.length }, "moov");
  if (!moov) throw new Error("the file has no moov box");
  for (const trak of boxes(view, moov.body, moov.stop)) {
    if (trak.type !== "trak") continue;
    const hdlr = find(view, trak, "mdia/hdlr");
    if (!hdlr || fourcc(view, hdlr.body + 8) !== "vide") continue;
    const tkhd = /** @type {NonNullable<ReturnType<typeof find>>} */ (find(view, trak, "tkhd"));
    const wide = view.getUint8(tkhd.body) === 1 ? 12 : 0;
    const track = view.getUint32(tkhd.body + (wide ? 20 : 12));
    const matrix = tkhd.body + 40 + wide;
    const isUpright = [0, 4, 12, 16].every((at, i) => view.getInt32(matrix + at) === [65536, 0, 0, 65536][i]);
    const stsd = find(view, trak, "mdia/minf/stbl/stsd");
    const entry = stsd && boxes(view, stsd.body + 8, stsd.stop).next().value;
    if (!entry) break;
    return {
      ...codecOf(view, bytes, entry),
      width: Math.round(view.getUint32(matrix + 36) / 65536) || view.getUint16(entry.body + 24),
      height: Math.round(view.getUint32(matrix + 40) / 65536) || view.getUint16(entry.body + 26),
      track,
      defaults: defaultsOf(view, moov, track),
      isUpright,
    };
  }
  throw new Error("the file has no video track");
}

/**
 * What decoding AAC needs to know, from `ftyp` and `moov`.
 * @param {Uint8Array} bytes
 * @returns {SoundHeader}
 * @throws {Error} there is no track of sound, or it is not AAC
 */
export function readSoundHeader(bytes) {
  const view = viewOf(bytes);
  // what follows the header is not looked at: the part may end in it
  const moov = boxesBefore(view, "moof").find(({ type }) => type === "moov");
  for (const trak of moov ? boxes(view, moov.body, moov.stop) : []) {
    const [hdlr, mdhd, tkhd] = ["mdia/hdlr", "mdia/mdhd", "tkhd"].map((path) => find(view, trak, path));
    if (trak.type !== "trak" || !hdlr || !mdhd || !tkhd || fourcc(view, hdlr.body + 8) !== "soun") continue;
    const stsd = find(view, trak, "mdia/minf/stbl/stsd");
    const entry = stsd && boxes(view, stsd.body + 8, stsd.stop).next().value;
    const esds = entry && find(view, { body: entry.body + 28, stop: entry.stop }, "esds");
    if (!esds) break;
    const description = decoderOf(bytes.slice(esds.body + 4, esds.stop));
    const track = view.getUint32(tkhd.body + (view.getUint8(tkhd.body) === 1 ? 20 : 12));
    return {
      config: {
        codec: `mp4a.40.${description[0] >> 3}`,
        description,
        sampleRate: view.getUint32(entry.body + 24) >>> 16,
        numberOfChannels: view.getUint16(entry.body + 16),
      },
      timescale: view.getUint32(mdhd.body + (view.getUint8(mdhd.body) === 1 ? 20 : 12)),
      track,
      defaults: defaultsOf(view, moov, track),
    };
  }
  throw new Error("the file has no AAC");
}

/** The boxes at the beginning, until one of a type. @param {DataView} view @param {string} end */
function boxesBefore(view, end) {
  const found = [];
  for (let at = 0; at + 8 <= view.byteLength && fourcc(view, at + 4) !== end; at = found[found.length - 1].stop)
    found.push(boxes(view, at, Math.min(view.byteLength, at + view.getUint32(at))).next().value ?? never(at));
  return found;
}

/** @param {number} at @returns {never} */
function never(at) {
  throw new Error(`box at ${at}: it is cut`);
}

/** The AudioSpecificConfig in the descriptors of `esds`. @param {Uint8Array} bytes */
function decoderOf(bytes) {
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at];
    let [length, more] = [0, true];
    for (at += 1; more; at += 1) {
      length = (length << 7) | (bytes[at] & 127);
      more = bytes[at] > 127;
    }
    if (tag === 5) return bytes.slice(at, at + length);
    at += { 3: 3, 4: 13 }[tag] ?? length; // those contain the next one, behind their own members
  }
  throw new Error("the sound has no configuration");
}

/**
 * The fragments that begin in a part of a file, wherever the part begins.
 * @param {Uint8Array} bytes
 * @returns {{start: number, end: number}[]} where each one begins, and where its data end: perhaps outside of the part
 */
export function fragmentsIn(bytes) {
  const view = viewOf(bytes);
  const found = [];
  for (let at = 0; at + 16 <= bytes.length; at += 1) {
    if (bytes[at + 4] !== 0x6d || fourcc(view, at + 4) !== "moof" || fourcc(view, at + 12) !== "mfhd") continue;
    const data = at + view.getUint32(at);
    if (data + 8 > bytes.length) break;
    if (fourcc(view, data + 4) !== "mdat") continue;
    found.push({ start: at, end: data + view.getUint32(data) });
    at = Math.min(bytes.length, data + view.getUint32(data)) - 1;
  }
  return found;
}

/** The codec's name and configuration, from the sample entry. */
function codecOf(/** @type {DataView} */ view, /** @type {Uint8Array} */ bytes, /** @type {any} */ entry) {
  const inside = { body: entry.body + 78, stop: entry.stop };
  for (const box of boxes(view, inside.body, inside.stop)) {
    const record = bytes.slice(box.body, box.stop);
    if (box.type === "avcC")
      return { codec: `avc1.${hex(record[1])}${hex(record[2])}${hex(record[3])}`, description: record };
    if (box.type === "hvcC") return { codec: hevc(record), description: record };
    if (box.type === "av1C") {
      const depth = record[2] & 0x40 ? (record[2] & 0x20 ? 12 : 10) : 8;
      const level = String(record[1] & 31).padStart(2, "0");
      const tier = record[2] & 0x80 ? "H" : "M";
      return { codec: `av01.${record[1] >> 5}.${level}${tier}.${String(depth).padStart(2, "0")}` };
    }
    if (box.type === "vpcC") {
      const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
      return { codec: `${entry.type}.${two(record[4])}.${two(record[5])}.${two(record[6] >> 4)}` };
    }
  }
  throw new Error(`the codec ${entry.type} is not known`);
}

/** The name of an HEVC stream, from its configuration record. */
function hevc(/** @type {Uint8Array} */ record) {
  const compatibility = viewOf(record).getUint32(2);
  let reversed = 0;
  for (let bit = 0; bit < 32; bit += 1) reversed = (reversed << 1) | ((compatibility >>> bit) & 1);
  const constraints = [...record.slice(6, 12)];
  while (constraints.length && constraints[constraints.length - 1] === 0) constraints.pop();
  const space = ["", "A", "B", "C"][record[1] >> 6];
  const tier = record[1] & 0x20 ? "H" : "L";
  const parts = [`hvc1.${space}${record[1] & 31}`, (reversed >>> 0).toString(16), `${tier}${record[12]}`];
  return [...parts, ...constraints.map((byte) => byte.toString(16))].join(".");
}

/** What samples of a track are where a fragment does not say. */
function defaultsOf(/** @type {DataView} */ view, /** @type {any} */ moov, /** @type {number} */ track) {
  const mvex = find(view, moov, "mvex");
  for (const box of mvex ? boxes(view, mvex.body, mvex.stop) : [])
    if (box.type === "trex" && view.getUint32(box.body + 4) === track)
      return {
        duration: view.getUint32(box.body + 12),
        size: view.getUint32(box.body + 16),
        flags: view.getUint32(box.body + 20),
      };
  return { duration: 0, size: 0, flags: 0 };
}

/**
 * The samples of the track in fragments, in decoding order.
 * @param {Uint8Array} bytes one `moof` with its `mdat`, or several in a row
 * @param {Pick<Header, "track" | "defaults">} header
 * @param {boolean} [isCut] the data of the one fragment go on: samples that are not whole are left out
 * @returns {Sample[]}
 */
export function readSamples(bytes, header, isCut = false) {
  const view = viewOf(bytes);
  /** @type {Sample[]} */
  const samples = [];
  for (const moof of boxes(view, 0, isCut ? view.getUint32(0) : bytes.length))
    if (moof.type === "moof")
      for (const traf of boxes(view, moof.body, moof.stop))
        if (traf.type === "traf") readTraf(view, bytes, moof.start, traf, header, samples, isCut);
  return samples;
}

function readTraf(
  /** @type {DataView} */ view,
  /** @type {Uint8Array} */ bytes,
  /** @type {number} */ moof,
  /** @type {any} */ traf,
  /** @type {Pick<Header, "track" | "defaults">} */ header,
  /** @type {Sample[]} */ samples,
  /** @type {boolean} */ isCut,
) {
  const tfhd = find(view, traf, "tfhd");
  if (!tfhd || view.getUint32(tfhd.body + 4) !== header.track) return;
  const flags = view.getUint32(tfhd.body) & 0xffffff;
  let at = tfhd.body + 8 + (flags & 1 ? 8 : 0) + (flags & 2 ? 4 : 0);
  const take = (/** @type {number} */ bit, /** @type {number} */ otherwise) => {
    if (!(flags & bit)) return otherwise;
    at += 4;
    return view.getUint32(at - 4);
  };
  const duration = take(8, header.defaults.duration);
  const size = take(16, header.defaults.size);
  const usual = take(32, header.defaults.flags);
  const tfdt = find(view, traf, "tfdt");
  let clock = !tfdt
    ? 0
    : view.getUint8(tfdt.body)
      ? Number(view.getBigUint64(tfdt.body + 4))
      : view.getUint32(tfdt.body + 4);
  let place = moof;
  for (const trun of boxes(view, traf.body, traf.stop)) {
    if (trun.type !== "trun") continue;
    const has = view.getUint32(trun.body) & 0xffffff;
    const count = view.getUint32(trun.body + 4);
    let read = trun.body + 8;
    const next = (/** @type {number} */ bit) => {
      if (!(has & bit)) return undefined;
      read += 4;
      return view.getUint32(read - 4);
    };
    // a base of the whole file (tfhd flag 1) means nothing in a part of it: offsets count from the moof
    const offset = next(1);
    if (offset !== undefined) place = moof + (offset | 0);
    const first = next(4);
    for (let index = 0; index < count; index += 1) {
      const lasts = next(0x100) ?? duration;
      const length = next(0x200) ?? size;
      const marks = next(0x400) ?? (index === 0 && first !== undefined ? first : usual);
      const shift = (next(0x800) ?? 0) | 0;
      if (place + length > bytes.length && isCut) return;
      if (place + length > bytes.length) throw new Error("a sample lies outside of its fragment");
      samples.push({ data: bytes.subarray(place, place + length), time: clock + shift, key: !(marks & NOT_SYNC) });
      place += length;
      clock += lasts;
    }
  }
}
