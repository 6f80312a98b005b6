// What a person does to the annotations: each call is one step of undo.

import { annotate as words } from "../strings_annotate.js";
import { keyOf } from "./document.js";
import { hasPlace, MEMBERS, moved, standard } from "./geometry.js";
import { fits, fitted } from "./paint.js";
import { computedKey } from "./track_set.js";
import * as tracks from "./tracks.js";

/**
 * @typedef {import("./document.js").Row} Row
 * @typedef {import("./geometry.js").Shape} Shape
 * @typedef {import("./document.js").Edit} Edit
 * @typedef {import("./document.js").AnnotationDocument} AnnotationDocument
 */

/** Why shapes are not those of one track; null where they are. @param {Row[]} rows @returns {string | null} */
function oneTrack(rows) {
  if (new Set(rows.map((row) => row.type)).size > 1) return words.trackOfOneType;
  const frames = rows.map((row) => row.frame ?? 0).sort((one, two) => one - two);
  const twice = frames.find((frame, at) => frame === frames[at - 1]);
  return twice === undefined ? null : words.trackTwice(twice);
}

/** How far pasted shapes are moved: not, and ever further to either side. */
const SHIFTS = Array.from({ length: 41 }, (_, at) => 0.02 * (at % 2 ? 1 : -1) * Math.ceil(at / 2));

/** The place of a shape, by which shapes that lie over each other are found. @param {import("./geometry.js").Kind} kind @param {Shape} shape */
const placeText = (kind, shape) =>
  JSON.stringify([kind, MEMBERS[kind].map((name) => shape[name])], (_, value) =>
    typeof value === "number" ? Math.round(value * 2000) : value,
  );

export class Hand {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    /** How often it was begun to move the selection by keys. */
    this.moves = 0;
    /** @type {WeakMap<import("../masks/runs.js").Mask, import("../masks/runs.js").Mask>} of what a mask was scaled from */
    this.origins = new WeakMap();
  }

  /** Move the selection by keys from now on: one step of undo, apart from those before. */
  beginMove() {
    this.moves += 1;
    this.session.isMoving.value = this.session.shapes().length > 0;
  }

  /** A new shape of the type in hand. @param {Shape} [shape] */
  create(shape) {
    const type = this.session.tool.peek();
    if (!type || !this.session.mayEdit) return;
    /** @type {Row} */
    const row = {
      kind: "localization",
      type: type.id,
      version: this.session.layer.peek(),
      elemental: crypto.randomUUID(),
      frame: this.session.frame.peek(),
      shape: shape ?? {
        ...standard(type.dtype, type.skeleton?.points.length),
        ...(this.session.refining.ellipses.peek().has(type.id) && { form: /** @type {const} */ ("ellipse") }),
      },
      attributes: { ...this.defaults(type), ...this.session.labels.next.peek().get(type.id) },
    };
    const key = keyOf(row);
    const track = this.session.trackSet.armed.peek();
    this.session.doc.change(words.steps.draw, track ? this.#drawn(track, [key, row]) : [[key, row]]);
    this.session.selected.value = new Set([key]);
    if (!shape) this.session.isMoving.value = true;
    this.session.stage?.invalidate();
  }

  /** A shape drawn into a track: a keyframe of it; of a keyframe that is there it takes the place. @param {string} track @param {[string, Row]} drawn @returns {Edit[]} */
  #drawn(track, [key, row]) {
    const { doc } = this.session;
    if (!this.session.isEditable(/** @type {Row} */ (doc.rows.get(track)), track)) return [[key, row]];
    const { at } = tracks.placeIn(doc, track, row.frame ?? 0);
    const types = this.session.trackSet.typesOf(track);
    const isOther = types.size > 0 && !types.has(row.type);
    if (!isOther && !(at && hasPlace(at[1].shape))) return tracks.keyed(doc, track, [[key, row]]);
    this.session.say(isOther ? words.trackOfOneType : words.trackHasFrame);
    return [[key, row]];
  }

  /** @param {Map<string, Shape>} shapes @param {string} [label] @param {boolean} [isGesture] presses of keys that follow each other are one step @param {Edit[]} [more] of the same step */
  reshape(shapes, label = words.steps.reshape, isGesture = false, more = []) {
    const changes = [...shapes].flatMap(([key, shape]) => {
      const row = this.session.trackSet.row(key);
      const made = this.#scaled(shape);
      return row && made ? [/** @type {[string, Row]} */ ([key, { ...row, shape: made }])] : [];
    });
    const what = [...shapes.keys()].map((key) => this.session.trackSet.of(key) ?? key);
    this.#edit(label, changes, isGesture ? `${this.moves} ${label} ${what.sort().join()}` : undefined, more);
  }

  /** A shape whose mask has the size of its box: one that is scaled again is made of what it was at first. @param {Shape} shape */
  #scaled(shape) {
    const { size } = this.session.paint;
    if (!shape.mask || fits(shape, size)) return shape;
    const mask = this.origins.get(shape.mask) ?? shape.mask;
    const made = fitted({ ...shape, mask }, size, this.session.say);
    if (made?.mask && made.mask !== mask) this.origins.set(made.mask, mask);
    return made;
  }

  /** What takes localizations of the active layer away, from their tracks too. @param {string[]} keys @returns {Edit[]} */
  removal(keys) {
    const { doc, layer } = this.session;
    return tracks.removed(
      doc,
      keys.filter((key) => doc.rows.get(key)?.version === layer.peek()),
    );
  }

  /**
   * Change rows, each in the active layer; of what a track shows between its keyframes a keyframe is made.
   * @param {string} label @param {[string, Row][]} changes @param {string} [gesture]
   * @param {Edit[]} [more]
   */
  #edit(label, changes, gesture, more = []) {
    const chosen = new Set(this.session.selected.peek());
    /** @type {Edit[]} */
    const edits = [];
    for (const [key, row] of changes) {
      const [target, made] = this.#own(key, row);
      edits.push(...made);
      if (target !== key && chosen.delete(key)) chosen.add(target);
    }
    this.session.doc.change(label, [...edits, ...more], gesture);
    for (const [key, row] of more) if (!row) chosen.delete(key);
    this.session.selected.value = chosen;
  }

  /** Set an attribute of the selected rows that may be changed and whose type has it. @param {string} name @param {any} value @returns {number} how many rows */
  setAttribute(name, value, label = words.steps.attribute) {
    return this.setAttributes({ [name]: value }, label);
  }

  /**
   * Set attributes of what is selected, each where its type has it, and has the choice.
   * @param {Record<string, any>} values by name @param {string} [label] of the step of undo
   * @returns {number} how many annotations changed
   */
  setAttributes(values, label = words.steps.attribute) {
    const own = (/** @type {Row} */ row) => {
      const fits = (/** @type {any} */ each) =>
        each.dtype !== "enum" || !values[each.name] || each.choices.includes(values[each.name]);
      const names = (this.session.typeOf(row)?.attribute_types ?? [])
        .filter(fits)
        .map((/** @type {any} */ each) => each.name);
      return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
    };
    const changes = this.session
      .chosen()
      .filter(([key, row]) => this.session.isEditable(row, key) && Object.keys(own(row)).length)
      .map(
        ([key, row]) =>
          /** @type {[string, Row]} */ ([key, { ...row, attributes: { ...row.attributes, ...own(row) } }]),
      );
    for (const [, row] of changes)
      for (const [name, value] of Object.entries(own(row))) this.session.labels.note(row, name, value);
    this.#edit(label, changes);
    return changes.length;
  }

  /**
   * Delete what is selected, except rows of other layers and locked ones, which stay selected. In a track that is
   * interpolated a gap begins.
   * @param {{isWhole?: boolean}} [how] whole: keyframes are taken away, and what is between the others is seen there
   * @returns {number} how many stay
   */
  removeSelected({ isWhole = false } = {}) {
    const { session } = this;
    const isOwn = (/** @type {string} */ key, /** @type {Row} */ row) =>
      row.version === session.layer.peek() && session.isEditable(row, key);
    const chosen = session.chosen();
    /** @type {Edit[]} */
    const edits = [];
    const alone = [];
    for (const [key, row] of chosen.filter(([key, row]) => isOwn(key, row))) {
      const track = row.kind === "localization" ? session.trackSet.of(key) : null;
      const state = track && session.doc.rows.get(track);
      if (track && state && isOwn(track, state) && session.trackSet.isFilled(track) && !isWhole)
        edits.push(...tracks.gap(session.doc, track, row.frame ?? 0, session.typeOf));
      else if (!key.startsWith("~")) alone.push(key);
    }
    session.doc.change(words.steps.remove, [...edits, ...tracks.removed(session.doc, alone)]);
    session.select(chosen.filter(([key, row]) => !isOwn(key, row)).map(([key]) => key));
    return session.selected.peek().size;
  }

  /** Move a keyframe of a track to another frame, between its neighbours. @param {string} key @param {number} frame */
  moveKeyframe(key, frame) {
    const { session } = this;
    const row = session.doc.rows.get(key);
    const track = session.trackSet.of(key);
    if (!row || !track || row.version !== session.layer.peek() || !session.isEditable(row, key)) return;
    const { before, after } = tracks.placeIn(session.doc, track, row.frame ?? 0);
    const first = before ? (before[1].frame ?? 0) + 1 : 0;
    const last = after ? (after[1].frame ?? 0) - 1 : (session.player?.frames ?? 1) - 1;
    session.doc.change(words.steps.moveKeyframe, [[key, { ...row, frame: Math.max(first, Math.min(last, frame)) }]]);
  }

  /** A keyframe of the active track on the present frame, as it is seen. */
  makeKeyframe() {
    const track = this.session.trackSet.active;
    const row = track && this.session.trackSet.row(computedKey(track));
    if (track && row && this.session.isEditable(row, track))
      this.#edit(words.steps.keyframe, [[computedKey(track), row]]);
    if (track) this.session.trackSet.follow();
  }

  /** Copy the selection to a neighbouring frame and go there. Copies join the tracks of their originals. @param {number} direction */
  async copyOn(direction) {
    const frame = this.session.frame.peek() + direction;
    const shapes = this.session.shapes().filter(([, row]) => row.frame === this.session.frame.peek());
    if (!shapes.length || frame < 0 || frame >= (this.session.player?.frames ?? 0)) return;
    const { doc, trackSet } = this.session;
    /** @type {Edit[]} */
    const edits = [];
    const keys = shapes.map(([key, row]) => {
      const copy = tracks.copyTo({ ...row, version: this.session.layer.peek() }, frame);
      const track = trackSet.of(key);
      const at = track && tracks.placeIn(doc, track, frame).at;
      const isFree = track && !(at && hasPlace(at[1].shape));
      edits.push(...(isFree ? tracks.keyed(doc, track, [copy]) : [copy]));
      return copy[0];
    });
    doc.change(words.steps.copy, edits);
    await this.session.player?.step(direction);
    this.session.select(keys);
  }

  /** Put shapes that were copied on the present frame: at their places, or beside shapes that lie there. @returns {number} how many */
  paste() {
    const { session } = this;
    if (!session.mayEdit) return 0;
    const copies = session.labels.copied().flatMap(({ type, shape: copied, attributes }) => {
      const shape = fitted(copied, session.paint.size, session.say);
      return shape ? [{ type, shape, attributes }] : [];
    });
    const taken = new Set(session.shown.peek().map(([, row]) => placeText(session.kindOf(row), row.shape ?? {})));
    const at = SHIFTS.find((by) =>
      copies.every(({ type, shape }) => !taken.has(placeText(type.dtype, moved(type.dtype, shape, by, by)))),
    );
    const shift = at ?? 0;
    const made = copies.map(({ type, shape, attributes }) => {
      /** @type {Row} */
      const row = {
        kind: "localization",
        type: type.id,
        version: session.layer.peek(),
        elemental: crypto.randomUUID(),
        frame: session.frame.peek(),
        shape: shift ? moved(type.dtype, shape, shift, shift) : shape,
        attributes,
      };
      return /** @type {[string, Row]} */ ([keyOf(row), row]);
    });
    session.doc.change(words.steps.paste, made);
    if (made.length) session.select(made.map(([key]) => key));
    return made.length;
  }

  /** @param {(doc: AnnotationDocument, track: string) => Edit[]} make @param {string} label @returns {number} how many rows changed */
  editTrack(make, label) {
    const track = this.session.trackSet.active;
    const row = track ? this.session.doc.rows.get(track) : null;
    if (!track || !row || !this.session.isEditable(row, track)) return 0;
    const edits = make(this.session.doc, track);
    this.session.doc.change(label, edits);
    return edits.length;
  }

  /** A track of the selected shapes of one type, into which the next ones are drawn; what is in a track stays in it. */
  makeTrack() {
    const { trackSet } = this.session;
    const shapes = this.session.shapes().filter(([key]) => !trackSet.of(key));
    if (!shapes.length) {
      if (trackSet.active) trackSet.arm(trackSet.active);
      return;
    }
    if (!this.session.trackTypes.length) return;
    const refusal = oneTrack(shapes.map(([, row]) => row));
    if (refusal) {
      this.session.say(refusal);
      return;
    }
    const edit = this.newTrack(shapes.map(([key]) => key));
    this.session.doc.change(words.steps.track, [edit]);
    this.session.trackSet.armed.value = edit[0];
  }

  /** A track of the first type of tracks. @param {string[]} keys of its localizations @returns {Edit} */
  newTrack(keys) {
    const [type] = this.session.trackTypes;
    return tracks.newTrack(type.id, this.session.layer.peek(), keys, this.defaults(type));
  }

  /** A state of the present frame or of the whole media. @param {any} type */
  createState(type) {
    /** @type {Row} */
    const row = {
      kind: "state",
      type: type.id,
      version: this.session.layer.peek(),
      elemental: crypto.randomUUID(),
      frame: type.association === "Frame" ? this.session.frame.peek() : null,
      members: [],
      attributes: this.defaults(type),
    };
    this.session.doc.change(words.steps.state, [[keyOf(row), row]]);
    this.session.select([keyOf(row)]);
  }

  mergeTracks() {
    const [into, ...others] = this.session
      .chosen()
      .filter(([key, row]) => this.session.isTrack(row) && this.session.isEditable(row, key))
      .map(([key]) => key);
    if (!others.length) return;
    const members = new Map([into, ...others].flatMap((key) => this.session.doc.path(key)));
    const types = new Set([into, ...others].map((key) => this.session.doc.rows.get(key)?.type));
    const refusal = types.size > 1 ? words.mergeOneType : oneTrack([...members.values()]);
    if (refusal) {
      this.session.say(refusal);
      return;
    }
    this.session.doc.change(words.steps.merge, tracks.merged(this.session.doc, into, others));
    this.session.select([into]);
  }

  /**
   * A changed row in the active layer: itself, a copy with its elemental id where it shows through from below, or a new
   * keyframe where it was computed. The key, and the edits.
   * @param {string} key @param {Row} row @returns {[string, Edit[]]}
   */
  #own(key, row) {
    const { doc, layer } = this.session;
    const track = key.startsWith("~") ? this.session.trackSet.of(key) : null;
    if (track) {
      const copy = tracks.copyTo({ ...row, version: layer.peek() }, row.frame ?? 0);
      return [copy[0], tracks.keyed(doc, track, [copy])];
    }
    const own = row.version === layer.peek() ? /** @type {Edit} */ ([key, row]) : tracks.lifted(row, layer.peek());
    return [own[0], [own]];
  }

  /** The values that a new row of a type has. @param {any} type @returns {Record<string, any>} */
  defaults(type) {
    const filled = (type.attribute_types ?? []).filter(
      (/** @type {any} */ each) => each.default !== null && each.default !== undefined,
    );
    return Object.fromEntries(filled.map((/** @type {any} */ each) => [each.name, each.default]));
  }
}
