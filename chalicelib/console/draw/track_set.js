// The tracks of a media as a person sees them: which one is drawn into, which are hidden or locked, what each shows now.

import { signal } from "../lib.js";
import { annotate as words } from "../strings_annotate.js";
import { hasPlace } from "./geometry.js";
import * as tracks from "./tracks.js";

/** @typedef {import("./document.js").Row} Row */

const COMPUTED = "~";

/** The key of what a track shows between its keyframes, on the present frame. @param {string} track */
export const computedKey = (track) => COMPUTED + track;

export class TrackSet {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    /** The track that shapes are drawn into; null draws shapes alone. */
    this.armed = signal(/** @type {string | null} */ (null));
    this.hidden = signal(/** @type {Set<string>} */ (new Set()));
    this.locked = signal(/** @type {Set<string>} */ (new Set()));
    /** What was computed last of each track: the same row while it is the same. @type {Map<string, Row>} */
    this.computed = new Map();
  }

  /** The track of a key: of a track, of a localization in one, or of what one shows between its keyframes. @param {string} key @returns {string | null} */
  of(key) {
    const { doc } = this.session;
    if (key.startsWith(COMPUTED)) return key.slice(1);
    const row = doc.rows.get(key);
    if (row?.kind === "state") return this.session.isTrack(row) ? key : null;
    for (const each of doc.tracksOf(key))
      if (this.session.isTrack(/** @type {Row} */ (doc.rows.get(each)))) return each;
    return null;
  }

  /** The row of a key; what a track shows between its keyframes is that of the present frame. @param {string} key @returns {Row | null} */
  row(key) {
    const { doc, frame } = this.session;
    if (!key.startsWith(COMPUTED)) return doc.rows.get(key) ?? null;
    const track = key.slice(1);
    return this.isFilled(track) ? tracks.computedAt(doc, track, frame.peek(), this.session.typeOf) : null;
  }

  /** Whether a track has shapes between its keyframes. @param {string} track */
  isFilled(track) {
    const row = this.session.doc.rows.get(track);
    return Boolean(row) && this.session.typeOf(/** @type {Row} */ (row))?.interpolation !== "none";
  }

  /** For edits of a track: how to find types where it is interpolated, else null. @param {string} track */
  typeOf = (track) => (this.isFilled(track) ? this.session.typeOf : null);

  /** What tracks show on a frame between their keyframes. @param {number} frame @returns {[string, Row][]} */
  computedOn(frame) {
    const { doc, shownLayers } = this.session;
    /** @type {[string, Row][]} */
    const found = [];
    for (const key of doc.stateKeys) {
      const state = /** @type {Row} */ (doc.rows.get(key));
      if ((state.members?.length ?? 0) < 2 || !this.session.isTrack(state) || !this.isFilled(key)) continue;
      if (this.hidden.peek().has(key)) continue;
      const row = tracks.computedAt(doc, key, frame, this.session.typeOf);
      if (row && shownLayers.peek().has(row.version)) found.push([computedKey(key), this.#known(key, row)]);
    }
    return found;
  }

  #known(/** @type {string} */ key, /** @type {Row} */ row) {
    const before = this.computed.get(key);
    if (before && JSON.stringify(before) === JSON.stringify(row)) return before;
    this.computed.set(key, row);
    return row;
  }

  /** Whether a localization is shown: those of hidden tracks, and those that only begin a gap, are not. @param {string} key @param {Row} row */
  isShown(key, row) {
    if (!this.session.doc.tracks.has(key)) return true;
    const track = this.of(key);
    return !track || (hasPlace(row.shape) && !this.hidden.peek().has(track));
  }

  /** Whether a key belongs to a locked track. @param {string} key */
  isLocked(key) {
    if (!this.locked.peek().size) return false;
    const track = this.of(key);
    return Boolean(track && this.locked.peek().has(track));
  }

  /** Whether one of some rows is in a locked track. @param {[string, Row][]} rows */
  hasLocked = (rows) => rows.some(([key]) => this.isLocked(key));

  /** Why rows cannot be changed. @param {[string, Row][]} rows */
  whyLocked = (rows) => (this.hasLocked(rows) ? words.trackLocked : words.layerLocked);

  /** The track that commands act on: of the selection, else the one drawn into. */
  get active() {
    const keys = [...this.session.selected.value];
    const found = new Set(keys.map((key) => this.of(key)).filter(Boolean));
    return found.size === 1 ? /** @type {string} */ ([...found][0]) : found.size ? null : this.armed.value;
  }

  /** The types of shapes that a track takes: those it has, and the one that its type declares. @param {string} track @returns {Set<number>} */
  typesOf(track) {
    const { doc } = this.session;
    const types = new Set(doc.path(track).map(([, row]) => row.type));
    const declared = this.session.typeOf(/** @type {Row} */ (doc.rows.get(track)))?.default_localization;
    if (declared) types.add(declared);
    return types;
  }

  /** Draw into a track from now on, with the type of its shapes; null ends it. @param {string | null} track */
  arm(track) {
    this.armed.value = track;
    if (!track) return;
    const types = this.typesOf(track);
    const tool = this.session.tool.peek();
    const type = this.session.drawable.find((/** @type {any} */ each) => types.has(each.id));
    if (type && !types.has(tool?.id)) this.session.take(type);
  }

  /** The name of a track: what it shows, and its number among the tracks of the media. @param {string} key */
  nameOf(key) {
    const row = /** @type {Row} */ (this.session.doc.rows.get(key));
    const own = this.session.labelOf(row);
    const [first] = this.session.doc.path(key);
    const label = own === this.session.typeOf(row)?.name && first ? this.session.labelOf(first[1]) : own;
    return words.trackName(label, [...this.session.doc.stateKeys].indexOf(key) + 1);
  }

  /** @param {"hidden" | "locked"} what @param {string} key */
  toggle(what, key) {
    const next = new Set(this[what].peek());
    if (!next.delete(key)) next.add(key);
    this[what].value = next;
    this.session.revision.value += 1;
    this.session.stage?.invalidate();
  }

  /** The selection on another frame: what the same tracks show there. */
  follow() {
    const { session } = this;
    const selected = session.selected.peek();
    if (!selected.size) return;
    const frame = session.frame.peek();
    const next = [...selected].map((key) => {
      const track = key.startsWith("state/") ? null : this.of(key);
      if (!track || (!key.startsWith(COMPUTED) && session.doc.rows.get(key)?.frame === frame)) return key;
      const { at } = tracks.placeIn(session.doc, track, frame);
      return at && hasPlace(at[1].shape) ? at[0] : computedKey(track);
    });
    if (next.some((key) => !selected.has(key))) session.selected.value = new Set(next);
  }
}
