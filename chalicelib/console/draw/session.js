// One person at work on one media: player, document, saving, selection, layers, the tool in hand.

import { get, request } from "../client.js";
import { batch, computed, signal } from "../lib.js";
import { colorOf as typeColor, may, PALETTE, project } from "../store.js";
import { annotate as words } from "../strings_annotate.js";
import { Sound } from "../player/sound.js";
import { Player } from "../player/player.js";
import { AnnotationDocument, keyOf } from "./document.js";
import { Feed } from "./feed.js";
import { standard } from "./geometry.js";
import { Keeper } from "./keep.js";
import { Sync } from "./sync.js";
import * as tracks from "./tracks.js";

/** @typedef {import("./document.js").Row} Row @typedef {import("./geometry.js").Shape} Shape @typedef {import("./document.js").Edit} Edit */

export class Session {
  /** @param {any} media with presigned files @param {{version?: number, user: any}} options */
  constructor(media, { version, user }) {
    const open = /** @type {NonNullable<typeof project.value>} */ (project.value);
    this.media = media;
    this.user = user;
    this.doc = new AnnotationDocument();
    const byId = (/** @type {any[]} */ types) => new Map(types.map((type) => [type.id, type]));
    this.types = { localization: byId(open.localizationTypes), state: byId(open.stateTypes) };
    const fits = (/** @type {any} */ type) => type.visible !== false && (!type.media?.length || type.media.includes(media.type));
    this.drawable = open.localizationTypes.filter((/** @type {any} */ type) => type.drawable !== false && fits(type));
    this.stateTypes = open.stateTypes.filter((/** @type {any} */ type) => type.association !== "Localization" && fits(type));
    this.trackTypes = open.stateTypes.filter((/** @type {any} */ type) => type.association === "Localization" && fits(type));
    this.layers = signal(open.versions.filter((/** @type {any} */ each) => each.number >= 0 || each.id === version));
    const own = open.members.find((/** @type {any} */ member) => member.user === user.id)?.default_version;
    const first = [version, own, this.layers.value[0]?.id].find((id) => this.layers.value.some((/** @type {any} */ each) => each.id === id));
    this.layer = signal(first ?? 0);
    this.shownLayers = signal(new Set(this.layers.value.map((/** @type {any} */ each) => each.id)));
    this.frame = signal(0);
    this.isShown = signal(false);
    this.revision = signal(0);
    this.playerRevision = signal(0);
    this.tool = signal(/** @type {any} */ (null));
    this.selected = signal(/** @type {Set<string>} */ (new Set()));
    this.track = signal(/** @type {string | null} */ (null));
    this.isMoving = signal(false);
    this.isHidden = signal(false);
    this.saving = signal({ state: "reading", message: "", unsaved: 0, conflicts: 0 });
    this.failure = signal(/** @type {any} */ (null));
    this.mayEdit = may("Can Edit");
    this.onFrame = computed(() => { this.revision.value; this.shownLayers.value; this.layer.value; return this.rowsOn(this.frame.value); });
    /** @type {import("./stage.js").Stage | null} */
    this.stage = null;
    const send = (/** @type {string} */ method, /** @type {string} */ path, /** @type {any} */ options) => request(method, path, options);
    this.sync = new Sync(this.doc, { request: send, project: open.id, media: media.id, user: user.id, keeper: new Keeper(`${user.id}/${media.id}`) });
    this.feed = new Feed(this.sync);
    this.isStopped = false;
    this.sync.addEventListener("state", () => this.#tellSaving());
    this.doc.addEventListener("change", () => {
      this.revision.value += 1;
      const left = [...this.selected.peek()].filter((key) => this.doc.rows.has(key));
      if (left.length < this.selected.peek().size) this.selected.value = new Set(left);
      if (this.track.peek() && !this.doc.rows.has(/** @type {string} */ (this.track.peek()))) this.track.value = null;
      this.#tellSaving();
      this.stage?.invalidate();
    });
  }

  /** @param {HTMLCanvasElement} canvas @param {HTMLAudioElement | null} speaker @param {number} frame @param {string[]} [ways] of the player */
  async start(canvas, speaker, frame, ways) {
    this.player = new Player(canvas, {
      reload: () => get(`Media/${this.media.id}`, { presigned: 86400, no_cache: true }),
      fetchFrame: (number, quality) => request("GET", `GetFrame/${this.media.id}`, { query: { frames: number, quality, format: "jpg" }, as: "blob", accept: "*/*" }),
    }, ways);
    this.player.addEventListener("frame", () => {
      this.frame.value = /** @type {Player} */ (this.player).frame;
      this.isShown.value = true;
      this.stage?.layout();
    });
    this.player.addEventListener("state", () => { this.playerRevision.value += 1; });
    this.player.addEventListener("error", (event) => { this.failure.value = /** @type {CustomEvent} */ (event).detail; });
    const sound = this.media.media_files?.audio?.[0]?.path;
    if (sound && speaker) this.sound = new Sound(this.player, speaker, sound);
    await Promise.all([this.player.open(this.media, frame), this.#layerThere().then(() => this.sync.start())]);
    if (!this.isStopped) this.feed.start();
  }

  stop() {
    this.isStopped = true;
    this.feed.stop();
    this.sound?.close();
    this.player?.close();
    this.stage?.close();
    this.sync.finish();
  }

  /** Localizations that are shown on a frame; those of the active layer last, in place of those below with their elemental id. @param {number} frame @returns {[string, Row][]} */
  rowsOn(frame) {
    const active = this.layer.peek();
    const rows = this.doc.on(frame).filter(([, row]) => this.shownLayers.peek().has(row.version) && this.typeOf(row)?.visible !== false);
    const above = new Set(rows.filter(([, row]) => row.version === active).map(([, row]) => row.elemental));
    return rows.filter(([, row]) => row.version === active || !above.has(row.elemental)).sort(([, one], [, two]) => Number(one.version === active) - Number(two.version === active));
  }

  /** The type of a row; ids of localization types and state types overlap. @param {{kind: Row["kind"], type: number}} row */
  typeOf = (row) => this.types[row.kind].get(row.type);

  /** Whether a row is a track: a state of localizations. @param {Row} row */
  isTrack = (row) => row.kind === "state" && (this.typeOf(row)?.association ?? "Localization") === "Localization";

  /** @returns {[string, Row][]} */
  tracks = () => this.doc.states().filter(([, row]) => this.isTrack(row));

  /** @param {Row} row @returns {import("./geometry.js").Kind} */
  kindOf = (row) => this.typeOf(row)?.dtype ?? "box";

  /** Whether the person may change a row: it lies in the active layer, or shows through it. @param {Row} row */
  isEditable = (row) => this.mayEdit && (row.version === this.layer.peek() || Boolean(this.#activeLayer()?.bases?.includes(row.version)));

  /** The color of a row: by the type's map of values, by its track, or the type's. @param {string} key @param {Row} row */
  colorOf(key, row) {
    const type = this.typeOf(row);
    const map = type?.color_map ?? {};
    const mapped = map.key ? map.map?.[row.attributes[map.key]] : undefined;
    const given = mapped ?? map.default ?? map.defaultColor;
    if (typeof given === "string" && /^#[0-9a-f]{6}$/i.test(given)) return given;
    const [track] = row.kind === "state" ? [key] : this.doc.tracksOf(key);
    if (!track) return typeColor(type);
    let sum = 0;
    for (const letter of track) sum = (sum * 31 + letter.charCodeAt(0)) >>> 0;
    return PALETTE[sum % PALETTE.length];
  }

  /** A short text for a row: its first choice or text, else its type. @param {Row} row */
  labelOf(row) {
    const type = this.typeOf(row);
    for (const dtype of ["enum", "string"])
      for (const attribute of type?.attribute_types ?? []) {
        const value = row.attributes[attribute.name];
        if (attribute.dtype === dtype && attribute.name !== "Review" && value) return String(value);
      }
    return type?.name ?? "";
  }

  // --- selection, tools --------------------------------------------------------------------------------------------

  /** @param {string[]} keys */
  select(keys) {
    this.selected.value = new Set(keys);
    if (!keys.length) this.isMoving.value = false;
    const [track] = keys.length === 1 ? (keys[0].startsWith("state/") ? keys : this.doc.tracksOf(keys[0])) : [];
    if (track && this.isTrack(/** @type {Row} */ (this.doc.rows.get(track)))) this.track.value = track;
    this.stage?.invalidate();
  }

  /** @param {any} type null to select */
  take(type) {
    batch(() => {
      this.tool.value = type;
      this.isMoving.value = false;
      if (type) this.selected.value = new Set();
    });
    this.stage?.cancel();
  }

  /** The selected rows. @returns {[string, Row][]} */
  chosen() {
    return /** @type {[string, Row][]} */ ([...this.selected.peek()].map((key) => [key, this.doc.rows.get(key)]).filter(([, row]) => row));
  }

  /** The selected localizations that may be changed. */
  shapes() {
    return this.chosen().filter(([, row]) => row.kind === "localization" && this.isEditable(row));
  }

  /** @param {number} direction select the next shape on the frame, 1 or -1 */
  cycle(direction) {
    const keys = this.rowsOn(this.frame.peek()).map(([key]) => key);
    if (!keys.length) return;
    const at = keys.findIndex((key) => this.selected.peek().has(key));
    this.select([keys[at < 0 ? (direction > 0 ? 0 : keys.length - 1) : (at + direction + keys.length) % keys.length]]);
  }

  // --- changes -----------------------------------------------------------------------------------------------------

  /** A new shape of the type in hand. @param {Shape} [shape] */
  create(shape) {
    const type = this.tool.peek();
    if (!type || !this.mayEdit) return;
    /** @type {Row} */
    const row = { kind: "localization", type: type.id, version: this.layer.peek(), elemental: crypto.randomUUID(), frame: this.frame.peek(), shape: shape ?? standard(type.dtype), attributes: this.#defaults(type) };
    const key = keyOf(row);
    const track = this.track.peek();
    const isFree = track && !tracks.membersOf(this.doc, track).some(([, member]) => member.frame === row.frame);
    const fits = isFree && this.isEditable(/** @type {Row} */ (this.doc.rows.get(track)));
    this.doc.change(words.steps.draw, [[key, row], ...(fits ? tracks.joined(this.doc, track, [key]) : [])]);
    this.selected.value = new Set([key]);
    if (!shape) this.isMoving.value = true;
    this.stage?.invalidate();
  }

  /** @param {Map<string, Shape>} shapes @param {string} [label] */
  reshape(shapes, label = words.steps.reshape) {
    /** @type {Edit[]} */
    const edits = [];
    const chosen = new Set(this.selected.peek());
    for (const [key, shape] of shapes) {
      const row = /** @type {Row} */ (this.doc.rows.get(key));
      const [target, next] = this.#own(key, { ...row, shape });
      edits.push([target, next]);
      if (target !== key) { chosen.delete(key); chosen.add(target); }
    }
    this.doc.change(label, edits);
    this.selected.value = chosen;
  }

  /** @param {string} name of an attribute of the selected rows @param {any} value */
  setAttribute(name, value, label = words.steps.attribute) {
    const edits = this.chosen().filter(([, row]) => this.isEditable(row)).map(([key, row]) => this.#own(key, { ...row, attributes: { ...row.attributes, [name]: value } }));
    this.doc.change(label, edits);
    if (edits.length) this.selected.value = new Set(edits.map(([key]) => key));
  }

  /** Delete what is selected, except rows of other layers, which stay selected. @returns {number} how many stay */
  removeSelected() {
    const isOwn = (/** @type {Row} */ row) => this.mayEdit && row.version === this.layer.peek();
    const chosen = this.chosen(), keys = chosen.filter(([, row]) => isOwn(row)).map(([key]) => key);
    const kept = chosen.filter(([, row]) => !isOwn(row)).map(([key]) => key);
    this.doc.change(words.steps.remove, tracks.removed(this.doc, keys));
    this.select(kept);
    return kept.length;
  }

  /** Copy the selection to a neighbouring frame and go there. Copies join the tracks of their originals. @param {number} direction */
  async copyOn(direction) {
    const frame = this.frame.peek() + direction;
    const shapes = this.shapes().filter(([, row]) => row.frame === this.frame.peek());
    if (!shapes.length || frame < 0 || frame >= (this.player?.frames ?? 0)) return;
    /** @type {Map<string, string[]>} */
    const joins = new Map();
    const copies = shapes.map(([key, row]) => {
      const [made, copy] = tracks.copyTo({ ...row, version: this.layer.peek() }, frame);
      for (const track of this.doc.tracksOf(key)) joins.set(track, [...(joins.get(track) ?? []), made]);
      return /** @type {Edit} */ ([made, copy]);
    });
    const members = [...joins].flatMap(([track, keys]) => tracks.joined(this.doc, track, keys));
    this.doc.change(words.steps.copy, [...copies, ...members]);
    await this.player?.step(direction);
    this.select(copies.map(([key]) => key));
  }

  /** @param {(doc: AnnotationDocument, track: string) => Edit[]} make @param {string} label @returns {number} how many rows changed */
  editTrack(make, label) {
    const track = this.track.peek();
    const row = track ? this.doc.rows.get(track) : null;
    if (!track || !row || !this.isEditable(row)) return 0;
    const edits = make(this.doc, track);
    this.doc.change(label, edits);
    return edits.length;
  }

  /** A track of the selected shapes; into the present one where it has none on this frame. */
  makeTrack() {
    const shapes = this.shapes();
    const type = this.trackTypes[0];
    if (!shapes.length || !type) return;
    const edit = tracks.newTrack(type.id, this.layer.peek(), shapes.map(([key]) => key), this.#defaults(type));
    this.doc.change(words.steps.track, [edit]);
    this.track.value = edit[0];
  }

  /** A state of the present frame or of the whole media. @param {any} type */
  createState(type) {
    /** @type {Row} */
    const row = { kind: "state", type: type.id, version: this.layer.peek(), elemental: crypto.randomUUID(), frame: type.association === "Frame" ? this.frame.peek() : null, members: [], attributes: this.#defaults(type) };
    this.doc.change(words.steps.state, [[keyOf(row), row]]);
    this.select([keyOf(row)]);
  }

  mergeTracks() {
    const [into, ...others] = this.chosen().filter(([, row]) => this.isTrack(row) && this.isEditable(row)).map(([key]) => key);
    if (!others.length) return;
    this.doc.change(words.steps.merge, tracks.merged(this.doc, into, others));
    this.select([into]);
  }

  /** The nearest frame with annotations before or after the present one. @param {number} direction */
  seekAnnotated(direction) {
    const frames = [...this.doc.frames].filter(([, keys]) => keys.size).map(([frame]) => frame).filter((frame) => (frame - this.frame.peek()) * direction > 0);
    if (frames.length) this.player?.seek(direction > 0 ? Math.min(...frames) : Math.max(...frames));
  }

  /** The row in the active layer: itself, or a copy with its elemental id where it shows through from below. @param {string} key @param {Row} row @returns {[string, Row]} */
  #own(key, row) {
    return row.version === this.layer.peek() ? [key, row] : tracks.lifted(row, this.layer.peek());
  }

  #activeLayer() {
    return this.layers.peek().find((/** @type {any} */ each) => each.id === this.layer.peek());
  }

  /** A project without a layer gets one before the first shape. */
  async #layerThere() {
    if (this.layer.peek() || !this.mayEdit) return;
    const open = /** @type {NonNullable<typeof project.value>} */ (project.value);
    const { id } = await request("POST", `Versions/${open.id}`, { body: { name: "Baseline" } });
    const made = await get(`Version/${id}`);
    batch(() => { this.layers.value = [made]; this.layer.value = id; this.shownLayers.value = new Set([id]); });
  }

  #defaults(/** @type {any} */ type) {
    const filled = (type.attribute_types ?? []).filter((/** @type {any} */ each) => each.default !== null && each.default !== undefined);
    return Object.fromEntries(filled.map((/** @type {any} */ each) => [each.name, each.default]));
  }

  #tellSaving() {
    this.saving.value = { state: this.sync.state, message: this.sync.message ?? "", unsaved: this.doc.unsaved.size, conflicts: this.doc.conflicts.size };
  }
}
