// The annotations of one media as the person sees them, beside the rows that the service last answered. What is not
// saved is the difference of the two, so a change that is undone leaves nothing to save.

import { REFINING } from "./geometry.js";

/**
 * @typedef {object} Row what a person can change of an annotation
 * @property {"localization" | "state"} kind
 * @property {number} type
 * @property {number} version
 * @property {string} elemental
 * @property {number | null} frame
 * @property {import("./geometry.js").Shape} [shape] of localizations
 * @property {string[]} [members] of states: keys of localizations, or `id:7` for one that is not shown
 * @property {Record<string, any>} attributes
 *
 * @typedef {object} Base a row as the service has it
 * @property {number} id
 * @property {string} modified `modified_datetime`
 * @property {number} [by] `modified_by`
 * @property {Row} row
 *
 * @typedef {[string, Row | null]} Edit a key and its row from now on; null deletes
 * @typedef {{label: string, edits: {key: string, before: Row | null, after: Row | null}[], gesture?: string, at?: number}} Step
 * @typedef {{key: string, mine: Row | null, theirs: Base | null}} Conflict
 */

const MOST_STEPS = 200;
/** How long a gesture may pause, such as between presses of an arrow key. */
const GESTURE_MS = 2000;
const SHAPE = ["x", "y", "width", "height", "u", "v", "points", ...REFINING];

/** @param {Row} row */
export const keyOf = (row) => `${row.kind}/${row.version}/${row.elemental}`;

/** Text that is equal for equal values, whatever the order of members of objects and of tracks. @param {any} value @returns {string} */
const canonical = (value) =>
  JSON.stringify(value, (name, each) =>
    name === "members" && Array.isArray(each)
      ? [...each].sort()
      : each && typeof each === "object" && !Array.isArray(each)
        ? Object.fromEntries(
            Object.entries(each)
              .filter(([, v]) => v !== null && v !== undefined)
              .sort(([a], [b]) => (a < b ? -1 : 1)),
          )
        : each,
  );

/** @param {Row | null | undefined} one @param {Row | null | undefined} two */
export const isSame = (one, two) =>
  one === two || (!one && !two) || Boolean(one && two && canonical(one) === canonical(two));

/**
 * A row as the service lists it. @param {"localization" | "state"} kind @param {any} item @param {(id: number) => string} [keyById]
 * @returns {Base}
 */
export function baseOf(kind, item, keyById = (id) => `id:${id}`) {
  /** @type {Row} */
  const row = {
    kind,
    type: item.type,
    version: item.version,
    elemental: item.elemental_id,
    frame: item.frame ?? null,
    attributes: item.attributes ?? {},
  };
  if (kind === "localization")
    row.shape = Object.fromEntries(
      SHAPE.filter((name) => item[name] !== null && item[name] !== undefined).map((name) => [name, item[name]]),
    );
  else row.members = (item.localizations ?? []).map(keyById);
  return { id: item.id, modified: item.modified_datetime, by: item.modified_by, row };
}

export class AnnotationDocument extends EventTarget {
  constructor() {
    super();
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    /** @type {Map<string, Base>} */
    this.base = new Map();
    /** @type {Set<string>} keys whose row differs from its base */
    this.unsaved = new Set();
    /** @type {Map<string, Conflict>} */
    this.conflicts = new Map();
    /** @type {Step[]} */
    this.undoSteps = [];
    /** @type {Step[]} */
    this.redoSteps = [];
    /** @type {Map<number, Set<string>>} */
    this.frames = new Map();
    /** @type {Map<string, Set<string>>} the states that contain a localization */
    this.tracks = new Map();
    /** @type {Set<string>} the localizations that several states contain */
    this.shared = new Set();
    /** @type {Set<string>} */
    this.stateKeys = new Set();
    /** @type {Map<string, [string, Row][]>} the members of states by frame, as they are asked for */
    this.paths = new Map();
    /** @type {Record<Row["kind"], Map<number, string>>} keys by id */
    this.keys = { localization: new Map(), state: new Map() };
    /** @type {Map<number, Map<number, number>>} how many localizations each layer has on each frame */
    this.counts = new Map();
  }

  /** Take over rows of the service. Rows with unsaved changes keep them. @param {Base[]} bases */
  load(bases) {
    for (const base of bases) {
      const key = keyOf(base.row);
      const isClean = !this.unsaved.has(key);
      this.#know(key, base);
      // a row that is as it was stays the same object, for which pictures are kept
      if (isClean && !isSame(this.rows.get(key), base.row)) this.#put(key, base.row);
      else if (!isClean) this.#mark(key);
    }
    this.#tell();
  }

  /** Forget rows that the service no longer lists. @param {string[]} keys */
  forget(keys) {
    for (const key of keys) {
      this.#know(key, null);
      if (!this.unsaved.has(key)) this.#put(key, null);
      this.#mark(key);
    }
    this.#tell();
  }

  /**
   * Make a change that can be undone. Changes of one gesture that follow each other are one step.
   * @param {string} label says what it does @param {Edit[]} edits @param {string} [gesture]
   */
  change(label, edits, gesture) {
    /** @type {Step} */
    const step = { label, edits: edits.map(([key, after]) => ({ key, before: this.rows.get(key) ?? null, after })) };
    step.edits = step.edits.filter(({ before, after }) => !isSame(before, after));
    if (!step.edits.length) return;
    const last = this.undoSteps[this.undoSteps.length - 1];
    const now = Date.now();
    if (gesture && last?.gesture === gesture && now - (last.at ?? 0) < GESTURE_MS)
      for (const edit of step.edits) {
        const known = last.edits.find(({ key }) => key === edit.key);
        if (known) known.after = edit.after;
        else last.edits.push(edit);
      }
    else this.undoSteps.push(step);
    if (gesture) Object.assign(this.undoSteps[this.undoSteps.length - 1], { gesture, at: now });
    if (this.undoSteps.length > MOST_STEPS) this.undoSteps.shift();
    this.redoSteps = [];
    this.#apply(step.edits.map(({ key, after }) => [key, after]));
  }

  undo() {
    const step = this.undoSteps.pop();
    if (!step) return null;
    this.redoSteps.push(step);
    this.#apply(step.edits.map(({ key, before }) => [key, before]));
    return step;
  }

  redo() {
    const step = this.redoSteps.pop();
    if (!step) return null;
    this.undoSteps.push(step);
    this.#apply(step.edits.map(({ key, after }) => [key, after]));
    return step;
  }

  /** The service has this now. @param {string} key @param {Base | null} base null: it is deleted */
  saved(key, base) {
    this.#know(key, base);
    this.#mark(key);
    this.#tell();
  }

  /** The service made a row; values that it filled in are not a change of the person. @param {string} key @param {Base} base */
  created(key, base) {
    const row = this.rows.get(key);
    if (row) this.#put(key, { ...row, attributes: { ...base.row.attributes, ...row.attributes } });
    this.saved(key, base);
  }

  /** Somebody else changed a row that has unsaved changes here. @param {Conflict} conflict */
  conflict(conflict) {
    this.conflicts.set(conflict.key, conflict);
    this.#tell();
  }

  /** Settle a conflict. @param {string} key @param {"mine" | "theirs"} choice */
  resolve(key, choice) {
    const conflict = this.conflicts.get(key);
    if (!conflict) return;
    this.conflicts.delete(key);
    this.#know(key, conflict.theirs);
    if (choice === "theirs") this.#put(key, conflict.theirs?.row ?? null);
    this.#mark(key);
    this.#tell();
  }

  /** Localizations on a frame. @param {number} frame @returns {[string, Row][]} */
  on(frame) {
    return [...(this.frames.get(frame) ?? [])].map((key) => [key, /** @type {Row} */ (this.rows.get(key))]);
  }

  /** @returns {[string, Row][]} */
  states() {
    return [...this.stateKeys].map((key) => [key, /** @type {Row} */ (this.rows.get(key))]);
  }

  /** The localizations of a state by frame; those that are not shown are left out. @param {string} key @returns {[string, Row][]} */
  path(key) {
    const known = this.paths.get(key);
    if (known) return known;
    /** @type {[string, Row][]} */
    const found = [];
    for (const member of this.rows.get(key)?.members ?? []) {
      const row = this.rows.get(member);
      if (row) found.push([member, row]);
    }
    found.sort(([, one], [, two]) => (one.frame ?? 0) - (two.frame ?? 0));
    this.paths.set(key, found);
    return found;
  }

  /** Those of them that count to this state: of several that contain a localization, it is the first one. @param {string} key @returns {[string, Row][]} */
  ownPath(key) {
    const path = this.path(key);
    return this.shared.size
      ? path.filter(([member]) => !this.shared.has(member) || this.tracksOf(member)[0] === key)
      : path;
  }

  /** The key of a row of the service; `id:7` where it is not here. @param {Row["kind"]} kind @param {number} id */
  keyById = (kind, id) => this.keys[kind].get(id) ?? `id:${id}`;

  /** The tracks that contain a localization, the first that was made before the others. @param {string} key @returns {string[]} */
  tracksOf(key) {
    const found = [...(this.tracks.get(key) ?? [])];
    const number = (/** @type {string} */ track) => this.base.get(track)?.id ?? Infinity;
    return found.length < 2 ? found : found.sort((one, two) => number(one) - number(two) || (one < two ? -1 : 1));
  }

  /** What has to be kept over a reload. */
  pending() {
    return {
      changes: [...this.unsaved].map((key) => ({
        key,
        row: this.rows.get(key) ?? null,
        base: this.base.get(key) ?? null,
      })),
      undo: this.undoSteps.slice(-50),
    };
  }

  /**
   * Take up what was kept; what others changed on the service meanwhile becomes a conflict.
   * @param {ReturnType<AnnotationDocument["pending"]>} kept @param {number} user whose creations are no conflicts
   */
  restore(kept, user) {
    for (const { key, row, base } of kept.changes) {
      const now = this.base.get(key) ?? null;
      if (isSame(now?.row, row)) continue;
      this.#put(key, row);
      this.#mark(key);
      const isOwnCreation = !base && now?.by === user;
      if ((now?.modified ?? null) !== (base?.modified ?? null) && !isOwnCreation)
        this.conflicts.set(key, { key, mine: row, theirs: now });
    }
    this.undoSteps = kept.undo ?? [];
    this.#tell();
  }

  #apply(/** @type {Edit[]} */ edits) {
    for (const [key, row] of edits) {
      this.#put(key, row);
      this.#mark(key);
    }
    this.#tell();
  }

  #put(/** @type {string} */ key, /** @type {Row | null} */ row) {
    const before = this.rows.get(key);
    if (before?.kind === "localization") {
      // a row that stays on its frame keeps its place among those there
      if (row?.frame !== before.frame) this.frames.get(before.frame ?? 0)?.delete(key);
      this.#count(before, -1);
    }
    for (const member of before?.members ?? []) {
      this.tracks.get(member)?.delete(key);
      if ((this.tracks.get(member)?.size ?? 0) < 2) this.shared.delete(member);
    }
    this.paths.delete(key);
    for (const track of this.tracks.get(key) ?? []) this.paths.delete(track);
    if (!row) {
      this.rows.delete(key);
      this.stateKeys.delete(key);
      return;
    }
    this.rows.set(key, row);
    const add = (/** @type {Map<any, Set<string>>} */ map, /** @type {any} */ at) =>
      map.get(at)?.add(key) ?? map.set(at, new Set([key]));
    if (row.kind === "localization") {
      add(this.frames, row.frame ?? 0);
      this.#count(row, 1);
    } else this.stateKeys.add(key);
    for (const member of row.members ?? []) {
      add(this.tracks, member);
      if ((this.tracks.get(member)?.size ?? 0) > 1) this.shared.add(member);
    }
  }

  /** Note what the service has. */
  #know(/** @type {string} */ key, /** @type {Base | null} */ base) {
    const before = this.base.get(key);
    if (before) this.keys[before.row.kind].delete(before.id);
    if (base) {
      this.base.set(key, base);
      this.keys[base.row.kind].set(base.id, key);
    } else this.base.delete(key);
  }

  #count(/** @type {Row} */ row, /** @type {number} */ by) {
    const frames = this.counts.get(row.version) ?? new Map();
    this.counts.set(row.version, frames);
    const left = (frames.get(row.frame ?? 0) ?? 0) + by;
    if (left) frames.set(row.frame ?? 0, left);
    else frames.delete(row.frame ?? 0);
  }

  #mark(/** @type {string} */ key) {
    if (isSame(this.rows.get(key), this.base.get(key)?.row)) this.unsaved.delete(key);
    else this.unsaved.add(key);
  }

  #tell() {
    this.dispatchEvent(new Event("change"));
  }
}
