// What one can do to tracks, as edits of the document: states whose localizations are the keyframes of one object.
//
// Between two keyframes the shape is computed (`interpolation.js`), unless the track's type says that it is not. A keyframe
// without a place begins a gap: the object is outside of the picture until the next keyframe.

import { hasPlace } from "./geometry.js";
import { blend } from "./interpolation.js";
import { keyOf } from "./document.js";

/**
 * @typedef {import("./document.js").Row} Row
 * @typedef {import("./document.js").Edit} Edit
 * @typedef {import("./document.js").AnnotationDocument} AnnotationDocument
 * @typedef {(row: Row) => {dtype: import("./geometry.js").Kind, skeleton?: any} | undefined} TypeOf
 * @typedef {[string, Row]} Member
 * @typedef {{at: Member | null, before: Member | null, after: Member | null}} Place the keyframe on a frame, before, behind
 */

const fresh = () => crypto.randomUUID();
const frameOf = (/** @type {Member | undefined} */ member) => member?.[1].frame ?? 0;

/** Where a frame lies in a track. @param {AnnotationDocument} doc @param {string} track @param {number} frame @returns {Place} */
export function placeIn(doc, track, frame) {
  const path = doc.path(track);
  const next = indexFrom(path, frame);
  const at = path[next] && frameOf(path[next]) === frame ? path[next] : null;
  let after = next;
  while (path[after] && frameOf(path[after]) === frame) after += 1;
  return { at, before: path[next - 1] ?? null, after: path[after] ?? null };
}

/** The index of the first member on a frame or behind it. */
function indexFrom(/** @type {Member[]} */ path, /** @type {number} */ frame) {
  let [low, high] = [0, path.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (frameOf(path[middle]) < frame) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @type {WeakMap<Row, {after: Row, at: ReturnType<typeof blend>}>} what was matched, by the row before the gap */
const blends = new WeakMap();

/** The row between two keyframes; null where nothing is seen. @param {Row} one @param {Row} two @param {number} frame @param {TypeOf} typeOf @returns {Row | null} */
function between(one, two, frame, typeOf) {
  const type = typeOf(one);
  if (!type || !hasPlace(one.shape) || !hasPlace(two.shape) || one.type !== two.type) return null;
  let known = blends.get(one);
  if (known?.after !== two) {
    known = { after: two, at: blend(type.dtype, one.shape ?? {}, two.shape ?? {}, Boolean(type.skeleton)) };
    blends.set(one, known);
  }
  const [from, to] = [one.frame ?? 0, two.frame ?? 0];
  return { ...one, frame, shape: known.at((frame - from) / (to - from)) };
}

/** What a track has on a frame between its keyframes; null on a keyframe, in a gap, before and behind the track. @param {AnnotationDocument} doc @param {string} track @param {number} frame @param {TypeOf} typeOf */
export function computedAt(doc, track, frame, typeOf) {
  const path = doc.ownPath(track);
  if (path.length < 2 || frame <= frameOf(path[0]) || frame >= frameOf(path[path.length - 1])) return null;
  const next = indexFrom(path, frame);
  const [one, two] = [path[next - 1], path[next]];
  const isTwice = (/** @type {Member | undefined} */ a, /** @type {Member} */ b) => a && frameOf(a) === frameOf(b);
  if (frameOf(two) === frame || isTwice(path[next - 2], one) || isTwice(path[next + 1], two)) return null;
  return between(one[1], two[1], frame, typeOf);
}

/** The frames on which a track is seen, as runs [first, last]. @param {AnnotationDocument} doc @param {string} track @param {boolean} isFilled whether it is interpolated */
export function runsOf(doc, track, isFilled) {
  /** @type {[number, number][]} */
  const runs = [];
  let isOpen = false;
  for (const [, row] of doc.path(track)) {
    const frame = row.frame ?? 0;
    const last = runs[runs.length - 1];
    if (!hasPlace(row.shape)) isOpen = false;
    else if (last && isOpen && (isFilled || frame <= last[1] + 1)) last[1] = frame;
    else {
      runs.push([frame, frame]);
      isOpen = true;
    }
  }
  return runs;
}

/** A copy of a localization on another frame. @param {Row} row @param {number} frame @returns {Member} */
export function copyTo(row, frame) {
  const copy = { ...row, frame, elemental: fresh() };
  return [keyOf(copy), copy];
}

/**
 * Keyframes put into a track, in place of gaps that begin on their frames.
 * @param {AnnotationDocument} doc @param {string} track @param {Member[]} keyframes @returns {Edit[]}
 */
export function keyed(doc, track, keyframes) {
  const row = doc.rows.get(track);
  if (!row) return [];
  const frames = new Set(keyframes.map(frameOf));
  const gaps = doc.path(track).filter((each) => frames.has(frameOf(each)) && !hasPlace(each[1].shape));
  const gone = new Set(gaps.map(([key]) => key));
  const members = [...(row.members ?? []).filter((key) => !gone.has(key)), ...keyframes.map(([key]) => key)];
  return [
    ...keyframes,
    ...gaps.map(([key]) => /** @type {Edit} */ ([key, null])),
    [track, { ...row, members: [...new Set(members)] }],
  ];
}

/** @param {number} type @param {number} version @param {string[]} keys @param {Record<string, any>} attributes @returns {Edit} */
export function newTrack(type, version, keys, attributes) {
  /** @type {Row} */
  const row = { kind: "state", type, version, elemental: fresh(), frame: null, members: keys, attributes };
  return [keyOf(row), row];
}

/**
 * The last keyframe before a frame, or the first one behind it, again on that frame; on all frames up to it where the
 * track is not interpolated.
 * @param {AnnotationDocument} doc @param {string} track @param {number} frame @param {boolean} isFilled @returns {Edit[]}
 */
export function extended(doc, track, frame, isFilled) {
  const path = doc.path(track).filter(([, row]) => hasPlace(row.shape));
  if (!path.length) return [];
  const [first, last] = [path[0][1], path[path.length - 1][1]];
  const [from, to] = [first.frame ?? 0, last.frame ?? 0];
  /** @type {Member[]} */
  const made = [];
  if (isFilled) {
    if (frame > to) made.push(copyTo(last, frame));
    else if (frame < from) made.push(copyTo(first, frame));
  } else {
    for (let each = to + 1; each <= frame; each++) made.push(copyTo(last, each));
    for (let each = frame; each < from; each++) made.push(copyTo(first, each));
  }
  return made.length ? keyed(doc, track, made) : [];
}

/** One track of several: the first one stays. @param {AnnotationDocument} doc @param {string} into @param {string[]} others @returns {Edit[]} */
export function merged(doc, into, others) {
  const row = doc.rows.get(into);
  if (!row) return [];
  const members = [...(row.members ?? []), ...others.flatMap((key) => doc.rows.get(key)?.members ?? [])];
  return [
    [into, { ...row, members: [...new Set(members)] }],
    ...others.map((key) => /** @type {Edit} */ ([key, null])),
  ];
}

/** What is seen on a frame between keyframes as a keyframe; none where there is one, or nothing. @param {AnnotationDocument} doc @param {string} track @param {number} frame @param {TypeOf | null} typeOf null: the track is not interpolated @returns {Member[]} */
function seenAsKey(doc, track, frame, typeOf) {
  const row = typeOf && computedAt(doc, track, frame, typeOf);
  return row ? [copyTo(row, frame)] : [];
}

/** Two tracks of one: the second begins at a frame. @param {AnnotationDocument} doc @param {string} track @param {number} frame @param {TypeOf | null} typeOf @returns {Edit[]} */
export function split(doc, track, frame, typeOf) {
  const row = doc.rows.get(track);
  const later = doc.path(track).filter((each) => frameOf(each) >= frame);
  if (!row || !later.length || later.length === row.members?.length) return [];
  const [end, begin] = [seenAsKey(doc, track, frame - 1, typeOf), seenAsKey(doc, track, frame, typeOf)];
  const moved = new Set(later.map(([key]) => key));
  const kept = [...(row.members ?? []).filter((key) => !moved.has(key)), ...end.map(([key]) => key)];
  const keys = [...begin.map(([key]) => key), ...moved];
  return [...end, ...begin, [track, { ...row, members: kept }], newTrack(row.type, row.version, keys, row.attributes)];
}

/**
 * Cut off all before a frame, or all behind it. Localizations in no other track are deleted.
 * @param {AnnotationDocument} doc @param {string} track @param {number} frame @param {"start" | "end"} end @param {TypeOf | null} typeOf @returns {Edit[]}
 */
export function trimmed(doc, track, frame, end, typeOf) {
  const row = doc.rows.get(track);
  const out = doc
    .path(track)
    .filter((each) => (end === "start" ? frameOf(each) < frame : frameOf(each) > frame))
    .map(([key]) => key);
  if (!row || !out.length) return [];
  const edge = seenAsKey(doc, track, frame, typeOf);
  const gone = out.filter((key) => doc.tracksOf(key).every((each) => each === track));
  const members = (row.members ?? []).filter((key) => !out.includes(key));
  return [
    ...edge,
    [track, { ...row, members: [...members, ...edge.map(([key]) => key)] }],
    ...gone.map((key) => /** @type {Edit} */ ([key, null])),
  ];
}

/**
 * A gap from a frame to the next keyframe: what is seen before the frame stays as it is seen.
 * @param {AnnotationDocument} doc @param {string} track @param {number} frame @param {TypeOf} typeOf @returns {Edit[]}
 */
export function gap(doc, track, frame, typeOf) {
  const row = doc.rows.get(track);
  if (!row) return [];
  const { at, before, after } = placeIn(doc, track, frame);
  const isSeenBefore = before && hasPlace(before[1].shape);
  const edge = seenAsKey(doc, track, frame - 1, typeOf);
  /** @type {Member[]} */
  const marker = [];
  if (isSeenBefore && after) marker.push(copyTo({ ...before[1], shape: {} }, frame));
  const members = (row.members ?? []).filter((key) => key !== at?.[0]);
  return [
    ...edge,
    ...marker,
    ...(at && doc.tracksOf(at[0]).length === 1 ? [/** @type {Edit} */ ([at[0], null])] : []),
    [track, { ...row, members: [...members, ...[...edge, ...marker].map(([key]) => key)] }],
  ];
}

/** Deletion of annotations, and of deleted localizations from their tracks. @param {AnnotationDocument} doc @param {string[]} keys @returns {Edit[]} */
export function removed(doc, keys) {
  const gone = new Set(keys);
  const tracks = new Set(keys.flatMap((key) => doc.tracksOf(key)).filter((key) => !gone.has(key)));
  /** @type {Edit[]} */
  const edits = keys.map((key) => [key, null]);
  for (const key of tracks) {
    const row = /** @type {Row} */ (doc.rows.get(key));
    edits.push([key, { ...row, members: row.members?.filter((member) => !gone.has(member)) }]);
  }
  return edits;
}

/** A localization of the present layer in place of one of a layer below. @param {Row} row @param {number} version @returns {Member} */
export function lifted(row, version) {
  const copy = { ...row, version };
  return [keyOf(copy), copy];
}
