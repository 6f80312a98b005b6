// What a file is by its content, before any of it is sent.

const HEAD = 512;
const ascii = (/** @type {string} */ text) => [...text].map((each) => each.charCodeAt(0));
/** @param {Uint8Array} head @param {number} at @param {string | number[]} expected */
const has = (head, at, expected) =>
  (typeof expected === "string" ? ascii(expected) : expected).every((each, index) => head[at + index] === each);

const BOXES = ["ftyp", "moov", "mdat", "free", "skip", "wide", "pnot", "uuid", "styp"];
/** The first type boxes of an ISO base media file (ISO/IEC 14496-12) or of QuickTime. @param {Uint8Array} head */
const isIso = (head) => BOXES.some((each) => has(head, 4, each));
/** MPEG transport streams repeat their sync byte; those of cameras have four bytes before each packet. @param {Uint8Array} head */
const isTransport = (head) => (head[0] === 0x47 && head[188] === 0x47) || (head[4] === 0x47 && head[196] === 0x47);

/** How the files of each extension begin. What is not listed is left to the service. @type {Array<[RegExp, (head: Uint8Array) => boolean]>} */
const STARTS = [
  [/\.jpe?g$/i, (head) => has(head, 0, [0xff, 0xd8, 0xff])],
  [/\.png$/i, (head) => has(head, 0, [0x89, 0x50, 0x4e, 0x47])],
  [/\.gif$/i, (head) => has(head, 0, "GIF8")],
  [/\.webp$/i, (head) => has(head, 0, "RIFF") && has(head, 8, "WEBP")],
  [/\.bmp$/i, (head) => has(head, 0, "BM")],
  [/\.(tiff?|dng)$/i, (head) => has(head, 0, "II") || has(head, 0, "MM")],
  [/\.(avif|hei[cf])$/i, isIso],
  [/\.(mp4|mov|m4v|3gp)$/i, isIso],
  [/\.(mkv|webm)$/i, (head) => has(head, 0, [0x1a, 0x45, 0xdf, 0xa3])],
  [/\.avi$/i, (head) => has(head, 0, "RIFF") && has(head, 8, "AVI ")],
  [/\.(mts|m2ts|ts)$/i, isTransport],
  [/\.wmv$/i, (head) => has(head, 0, [0x30, 0x26, 0xb2, 0x75])],
  [/\.flv$/i, (head) => has(head, 0, "FLV")],
  [/\.ogv$/i, (head) => has(head, 0, "OggS")],
];
/** All kinds: a file whose name has the extension of another kind is taken for what it is. */
const isKnown = (/** @type {Uint8Array} */ head) => STARTS.some(([, begins]) => begins(head));

/**
 * What is wrong with a file: "empty", "content" (it does not begin as its extension says, nor as any other kind),
 * "cut" (a video without its index, as a copy that stopped early); "" where nothing is seen.
 * @param {File} file @returns {Promise<"" | "empty" | "content" | "cut">}
 */
export async function faultOf(file) {
  if (!file.size) return "empty";
  const head = new Uint8Array(await file.slice(0, HEAD).arrayBuffer());
  const rule = STARTS.find(([extension]) => extension.test(file.name));
  if (!rule || !rule[1](head)) return rule && !isKnown(head) ? "content" : "";
  return rule[1] === isIso && /\.(mp4|mov|m4v)$/i.test(file.name) && !(await hasIndex(file)) ? "cut" : "";
}

/** Whether an ISO base media file has its `moov` box; the boxes before it are skipped, not read. @param {File} file */
async function hasIndex(file) {
  for (let at = 0; at + 8 <= file.size; ) {
    const view = new DataView(await file.slice(at, at + 16).arrayBuffer());
    if (view.getUint32(4) === 0x6d6f6f76) return at + view.getUint32(0) <= file.size;
    const short = view.getUint32(0);
    const size = short === 1 && view.byteLength === 16 ? Number(view.getBigUint64(8)) : short;
    if (size < 8) return false; // 0: to the end of the file
    at += size;
  }
  return false;
}
