// What one can do to tracks, as edits of the document: states whose members are one object over time.

import { between } from "./geometry.js";
import { keyOf } from "./document.js";

/**
 * @typedef {import("./document.js").Row} Row
 * @typedef {import("./document.js").Edit} Edit
 * @typedef {import("./document.js").AnnotationDocument} AnnotationDocument
 * @typedef {(row: Row) => import("./geometry.js").Kind} KindOf
 */

const fresh = () => crypto.randomUUID();

/** The localizations of a track that are shown, by frame. @param {AnnotationDocument} doc @param {string} key @returns {[string, Row][]} */
export function membersOf(doc, key) {
  const found = /** @type {[string, Row][]} */ ((doc.rows.get(key)?.members ?? []).map((each) => [each, doc.rows.get(each)]).filter(([, row]) => row));
  return found.sort(([, one], [, two]) => (one.frame ?? 0) - (two.frame ?? 0));
}

/** Runs of consecutive frames, each [first, last]. @param {AnnotationDocument} doc @param {string} key */
export function segmentsOf(doc, key) {
  /** @type {[number, number][]} */
  const runs = [];
  for (const [, row] of membersOf(doc, key)) {
    const last = runs[runs.length - 1];
    const frame = row.frame ?? 0;
    if (last && frame <= last[1] + 1) last[1] = frame;
    else runs.push([frame, frame]);
  }
  return runs;
}

/** A copy of a localization on another frame. @param {Row} row @param {number} frame @returns {[string, Row]} */
export function copyTo(row, frame) {
  const copy = { ...row, frame, elemental: fresh() };
  return [keyOf(copy), copy];
}

/** @param {AnnotationDocument} doc @param {string} track @param {string[]} keys @returns {Edit[]} */
export function joined(doc, track, keys) {
  const row = doc.rows.get(track);
  return row ? [[track, { ...row, members: [...new Set([...(row.members ?? []), ...keys])] }]] : [];
}

/** @param {number} type @param {number} version @param {string[]} keys @param {Record<string, any>} attributes @returns {Edit} */
export function newTrack(type, version, keys, attributes) {
  /** @type {Row} */
  const row = { kind: "state", type, version, elemental: fresh(), frame: null, members: keys, attributes };
  return [keyOf(row), row];
}

/**
 * Copies of the member nearest to a frame on all frames up to it; in either direction.
 * @param {AnnotationDocument} doc @param {string} track @param {number} frame @returns {Edit[]}
 */
export function extended(doc, track, frame) {
  const members = membersOf(doc, track);
  if (!members.length) return [];
  const [first, last] = [members[0][1], members[members.length - 1][1]];
  const [from, to] = [first.frame ?? 0, last.frame ?? 0];
  /** @type {Edit[]} */
  const made = [];
  for (let each = to + 1; each <= frame; each++) made.push(copyTo(last, each));
  for (let each = frame; each < from; each++) made.push(copyTo(first, each));
  return made.length ? [...made, ...joined(doc, track, made.map(([key]) => key))] : [];
}

/**
 * Shapes on the frames between members: each number changes linearly. Polygons are not filled.
 * @param {AnnotationDocument} doc @param {string} track @param {KindOf} kindOf @returns {Edit[]}
 */
export function filled(doc, track, kindOf) {
  const members = membersOf(doc, track);
  /** @type {Edit[]} */
  const made = [];
  members.forEach(([, row], index) => {
    const next = members[index + 1]?.[1];
    if (!next || next.type !== row.type) return;
    const [from, to] = [row.frame ?? 0, next.frame ?? 0];
    for (let frame = from + 1; frame < to; frame++) {
      const shape = between(kindOf(row), row.shape ?? {}, next.shape ?? {}, (frame - from) / (to - from));
      if (!shape) return;
      const [key, copy] = copyTo(row, frame);
      made.push([key, { ...copy, shape }]);
    }
  });
  return made.length ? [...made, ...joined(doc, track, made.map(([key]) => key))] : [];
}

/** One track of several: the first one stays. @param {AnnotationDocument} doc @param {string} into @param {string[]} others @returns {Edit[]} */
export const merged = (doc, into, others) => [...joined(doc, into, others.flatMap((key) => doc.rows.get(key)?.members ?? [])), ...others.map((key) => /** @type {Edit} */ ([key, null]))];

/** Two tracks of one: the second begins at a frame. @param {AnnotationDocument} doc @param {string} track @param {number} frame @returns {Edit[]} */
export function split(doc, track, frame) {
  const row = doc.rows.get(track);
  const later = membersOf(doc, track).filter(([, member]) => (member.frame ?? 0) >= frame).map(([key]) => key);
  if (!row || !later.length || later.length === row.members?.length) return [];
  return [[track, { ...row, members: row.members?.filter((key) => !later.includes(key)) }], newTrack(row.type, row.version, later, row.attributes)];
}

/**
 * Cut off all before a frame, or all behind it. Localizations in no other track are deleted.
 * @param {AnnotationDocument} doc @param {string} track @param {number} frame @param {"start" | "end"} end @returns {Edit[]}
 */
export function trimmed(doc, track, frame, end) {
  const row = doc.rows.get(track);
  const out = membersOf(doc, track).filter(([, member]) => (end === "start" ? (member.frame ?? 0) < frame : (member.frame ?? 0) > frame)).map(([key]) => key);
  if (!row || !out.length) return [];
  const gone = out.filter((key) => doc.tracksOf(key).every((each) => each === track));
  return [[track, { ...row, members: row.members?.filter((key) => !out.includes(key)) }], ...gone.map((key) => /** @type {Edit} */ ([key, null]))];
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

/** A localization of the present layer in place of one of a layer below. @param {Row} row @param {number} version @returns {[string, Row]} */
export function lifted(row, version) {
  const copy = { ...row, version };
  return [keyOf(copy), copy];
}
