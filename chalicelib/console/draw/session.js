// One person at work on one media: player, document, saving, selection, layers, the tool in hand.

import { get, request } from "../client.js";
import { batch, computed, signal } from "../lib.js";
import { colorOf as typeColor, may, PALETTE, project } from "../store.js";
import { Sound } from "../player/sound.js";
import { Looks } from "../player/looks.js";
import { Player } from "../player/player.js";
import { Wave } from "../player/wave.js";
import { STORED } from "../ui/review_names.js";
import { toast } from "../ui/toast.js";
import { CommentSet } from "./comments.js";
import { Assist } from "./assist.js";
import { AnnotationDocument, isSame } from "./document.js";
import { Display, style } from "./display.js";
import { Feed } from "./feed.js";
import { Follow } from "./follow.js";
import { hasPlace } from "./geometry.js";
import { Hand } from "./hand.js";
import { Keeper } from "./keep.js";
import { Labels } from "./labels.js";
import { Paint } from "./paint.js";
import { Refining } from "./refining.js";
import { Sync } from "./sync.js";
import { TrackSet } from "./track_set.js";

/** @typedef {import("./document.js").Row} Row */

/** Whether a key is that of something proposed, which is in no layer yet. @param {string} key */
const isDraft = (key) => key.startsWith("?");

const FRAME_PAUSE_MS = 150;
const FILES_PAUSE_MS = 10_000;
const MOST_PAUSE_MS = 300_000;

export class Session {
  /** @param {any} media with presigned files @param {{version?: number, user: any, isAlone?: boolean}} options `isAlone` shows the layer and its bases only */
  constructor(media, { version, user, isAlone }) {
    const open = /** @type {NonNullable<typeof project.value>} */ (project.value);
    this.media = media;
    /** What can be done by keys, for those who say the keys. @type {import("./commands.js").Command[]} */
    this.commands = [];
    this.user = user;
    this.doc = new AnnotationDocument();
    const byId = (/** @type {any[]} */ types) => new Map(types.map((type) => [type.id, type]));
    this.types = { localization: byId(open.localizationTypes), state: byId(open.stateTypes) };
    const fits = (/** @type {any} */ type) =>
      type.visible !== false && (!type.media?.length || type.media.includes(media.type));
    this.drawable = open.localizationTypes.filter((/** @type {any} */ type) => type.drawable !== false && fits(type));
    this.stateTypes = open.stateTypes.filter(
      (/** @type {any} */ type) => type.association !== "Localization" && fits(type),
    );
    this.trackTypes = open.stateTypes.filter(
      (/** @type {any} */ type) => type.association === "Localization" && fits(type),
    );
    this.layers = signal(open.versions.filter((/** @type {any} */ each) => each.number >= 0 || each.id === version));
    const own = open.members.find((/** @type {any} */ member) => member.user === user.id)?.default_version;
    const first = [version, own, this.layers.value[0]?.id].find((id) =>
      this.layers.value.some((/** @type {any} */ each) => each.id === id),
    );
    this.layer = signal(first ?? 0);
    const bases = this.layers.value.find((/** @type {any} */ each) => each.id === version)?.bases ?? [];
    const others = isAlone && version ? [] : this.layers.value.map((/** @type {any} */ each) => each.id);
    this.shownLayers = signal(new Set([...(isAlone && version ? [version, ...bases] : []), ...others]));
    this.frame = signal(0);
    this.isShown = signal(false);
    this.revision = signal(0);
    this.playerRevision = signal(0);
    this.tool = signal(/** @type {any} */ (null));
    this.selected = signal(/** @type {Set<string>} */ (new Set()));
    this.isMoving = signal(false);
    this.isHidden = signal(false);
    this.saving = signal({ state: "reading", message: "", unsaved: 0, conflicts: 0 });
    this.failure = signal(/** @type {any} */ (null));
    this.say = (/** @type {string} */ text) => toast(text, { seconds: 5 });
    this.mayEdit = may("Can Edit");
    /** @type {[string, Row][]} */
    let before = [];
    /** What is on the present frame. It stays the same array while its rows do, whatever is read of other frames. */
    this.onFrame = computed(() => {
      this.revision.value;
      this.shownLayers.value;
      this.layer.value;
      const rows = this.rowsOn(this.frame.value);
      const isAsBefore =
        rows.length === before.length &&
        rows.every(([key, row], at) => key === before[at][0] && isSame(row, before[at][1]));
      if (!isAsBefore) before = rows;
      return before;
    });
    /** Of those, what has a place in the picture. */
    this.shown = computed(() => this.onFrame.value.filter(([, row]) => hasPlace(row.shape)));
    /** @type {import("./stage.js").Stage | null} */
    this.stage = null;
    const send = (/** @type {string} */ method, /** @type {string} */ path, /** @type {any} */ options) =>
      method === "GET" ? get(path, options.query) : request(method, path, options);
    this.sync = new Sync(this.doc, {
      request: send,
      project: open.id,
      media: media.id,
      user: user.id,
      keeper: new Keeper(`${user.id}/${media.id}`),
    });
    this.reading = signal(this.sync.reading);
    this.feed = new Feed(this.sync);
    this.hand = new Hand(this);
    this.trackSet = new TrackSet(this);
    this.follow = new Follow(this);
    this.assist = new Assist(this);
    this.labels = new Labels(this);
    this.maskTypes = this.drawable.filter((/** @type {any} */ type) => type.refinements?.includes("mask"));
    this.paint = new Paint(this);
    this.refining = new Refining(this);
    this.display = new Display(this);
    this.comments = new CommentSet(this, open.id);
    /** The frames that a search in the media found. */
    this.found = signal(/** @type {number[] | null} */ (null));
    this.isStopped = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.frameTimer = undefined;
    this.isMoving.subscribe(() => this.stage?.invalidate());
    this.frame.subscribe(() => this.#leave());
    this.sync.addEventListener("reading", () => {
      this.reading.value = this.sync.reading;
    });
    this.sync.addEventListener("state", () => this.#tellSaving());
    this.doc.addEventListener("change", () => {
      this.revision.value += 1;
      const isThere = (/** @type {string} */ key) => this.doc.rows.has(key.replace("~", ""));
      const left = [...this.selected.peek()].filter(isThere);
      if (left.length < this.selected.peek().size) this.selected.value = new Set(left);
      if (!isThere(this.trackSet.armed.peek() ?? "")) this.trackSet.armed.value = null;
      this.#tellSaving();
      this.stage?.invalidate();
    });
  }

  /** @param {HTMLCanvasElement} canvas @param {HTMLCanvasElement} looked over it @param {HTMLAudioElement | null} speaker @param {number} frame @param {string[]} [ways] of the player */
  async start(canvas, looked, speaker, frame, ways) {
    this.frame.value = frame; // its annotations are listed before its picture is there
    this.player = new Player(
      canvas,
      {
        reload: () => get(`Media/${this.media.id}`, { presigned: 86400, no_cache: true }),
        fetchFrame: (number, quality) =>
          request("GET", `GetFrame/${this.media.id}`, {
            query: { frames: number, quality, format: "jpg" },
            as: "blob",
            accept: "*/*",
          }),
      },
      ways,
    );
    this.player.addEventListener("frame", () => {
      this.frame.value = /** @type {Player} */ (this.player).frame;
      this.isShown.value = true;
      if (!this.player?.isPlaying) this.trackSet.follow();
      if (!this.reading.peek().isRead) this.#readFrame();
      this.stage?.layout();
    });
    this.player.addEventListener("state", () => {
      this.playerRevision.value += 1;
    });
    this.player.addEventListener("error", (event) => {
      this.failure.value = /** @type {CustomEvent} */ (event).detail;
    });
    this.looks = new Looks(this.player, looked);
    this.stopStyle = style.subscribe(() => this.stage?.invalidate());
    const sound = this.media.media_files?.audio?.[0];
    if (sound?.path && speaker) {
      this.sound = new Sound(this.player, speaker, sound.path);
      this.wave = new Wave(sound.path, sound.size);
    }
    await Promise.all([this.player.open(this.media, frame), this.#layerThere().then(() => this.sync.start(frame))]);
    if (!this.isStopped) {
      this.feed.start();
      if (this.mayEdit) this.assist.load().catch(() => undefined);
      this.comments.start();
      this.wave?.start(this.player.frames / this.player.fps);
    }
    this.#awaitFiles(FILES_PAUSE_MS);
  }

  stop() {
    this.isStopped = true;
    this.follow.discard();
    this.feed.stop();
    this.comments.stop();
    this.sound?.close();
    this.wave?.close();
    this.looks?.close();
    this.stopStyle?.();
    this.player?.close();
    this.stage?.close();
    this.sync.finish();
  }

  /** Localizations that are shown on a frame; those of the active layer last, in place of those below with their elemental id. @param {number} frame @returns {[string, Row][]} */
  rowsOn(frame) {
    const active = this.layer.peek();
    const rows = this.doc
      .on(frame)
      .filter(([key, row]) => this.shownLayers.peek().has(row.version) && this.trackSet.isShown(key, row))
      .concat(this.trackSet.computedOn(frame))
      .concat(this.follow.on(frame), this.assist.on(frame))
      .filter(
        ([key, row]) => this.typeOf(row)?.visible !== false && this.display.shows(key, row) && this.assist.shows(row),
      );
    const above = new Set(rows.filter(([, row]) => row.version === active).map(([, row]) => row.elemental));
    return rows
      .filter(([, row]) => row.version === active || !above.has(row.elemental))
      .sort(([, one], [, two]) => Number(one.version === active) - Number(two.version === active));
  }

  /** The type of a row; ids of localization types and state types overlap. @param {{kind: Row["kind"], type: number}} row */
  typeOf = (row) => this.types[row.kind].get(row.type);

  /** Whether a row is a track: a state of localizations. @param {Row} row */
  isTrack = (row) => row.kind === "state" && (this.typeOf(row)?.association ?? "Localization") === "Localization";

  /** @returns {[string, Row][]} */
  tracks = () => this.doc.states().filter(([, row]) => this.isTrack(row));

  /** @param {Row} row @returns {import("./geometry.js").Kind} */
  kindOf = (row) => this.typeOf(row)?.dtype ?? "box";

  /** Whether the person may change a row: it lies in the active layer, or shows through it, and is not locked. @param {Row} row @param {string} key */
  isEditable = (row, key) =>
    this.mayEdit &&
    !isDraft(key) &&
    (row.version === this.layer.peek() || Boolean(this.#activeLayer()?.bases?.includes(row.version))) &&
    !this.trackSet.isLocked(key);

  /** The color of a row: by the type's map of values, by its track, or the type's. @param {string} key @param {Row} row */
  colorOf(key, row) {
    const type = this.typeOf(row);
    const map = type?.color_map ?? {};
    const mapped = map.key ? map.map?.[row.attributes[map.key]] : undefined;
    const given = mapped ?? map.default ?? map.defaultColor;
    if (typeof given === "string" && /^#[0-9a-f]{6}$/i.test(given)) return given;
    const track = row.kind === "state" ? key : this.trackSet.of(key);
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
        if (attribute.dtype === dtype && attribute.name !== STORED.attribute && value) return String(value);
      }
    return type?.name ?? "";
  }

  // --- selection, tools --------------------------------------------------------------------------------------------

  /** @param {string[]} keys */
  select(keys) {
    this.selected.value = new Set(keys);
    if (!keys.length) this.isMoving.value = false;
    this.stage?.invalidate();
  }

  /** @param {any} type null to select */
  take(type) {
    batch(() => {
      const { armed } = this.trackSet;
      if (armed.peek() && !(type && this.trackSet.typesOf(/** @type {string} */ (armed.peek())).has(type.id)))
        armed.value = null;
      this.tool.value = type;
      this.isMoving.value = false;
      if (type) this.selected.value = new Set();
    });
    this.refining.endHole();
    if (!type) this.paint.end();
    this.stage?.cancel();
  }

  /** Select no longer what the frame does not show, while something is drawn: keys would change what nobody sees. */
  #leave() {
    if (!this.tool.peek()) return;
    const kept = this.chosen().filter(
      ([key, row]) =>
        row.kind !== "localization" || row.frame === this.frame.peek() || this.trackSet.of(key.replace("~", "")),
    );
    if (kept.length < this.selected.peek().size) this.selected.value = new Set(kept.map(([key]) => key));
  }

  /** The selected rows. @returns {[string, Row][]} */
  chosen() {
    return /** @type {[string, Row][]} */ (
      [...this.selected.peek()].map((key) => [key, this.trackSet.row(key)]).filter(([, row]) => row)
    );
  }

  /** The selected localizations that may be changed. */
  shapes() {
    return this.chosen().filter(([key, row]) => row.kind === "localization" && this.isEditable(row, key));
  }

  /** @param {number} direction select the next shape on the frame, 1 or -1 */
  cycle(direction) {
    const keys = this.rowsOn(this.frame.peek()).map(([key]) => key);
    if (!keys.length) return;
    const at = keys.findIndex((key) => this.selected.peek().has(key));
    this.select([keys[at < 0 ? (direction > 0 ? 0 : keys.length - 1) : (at + direction + keys.length) % keys.length]]);
  }

  /** Seek the nearest frame with annotations before or after the present one. @param {number} direction @param {Iterable<number>} [among] */
  seekAnnotated(direction, among) {
    const here = this.player?.target ?? this.frame.peek();
    let best = direction * Infinity;
    for (const frame of among ?? this.doc.frames.keys())
      if (
        (frame - here) * direction > 0 &&
        (best - frame) * direction > 0 &&
        (among || this.doc.frames.get(frame)?.size)
      )
        best = frame;
    if (Number.isFinite(best)) this.player?.seek(best);
  }

  /** Draw in a layer from now on, which may have been made meanwhile. @param {number} id */
  drawIn = async (id) => {
    const isKnown = this.layers.peek().some((/** @type {any} */ each) => each.id === id);
    const made = isKnown ? [] : [await get(`Version/${id}`)];
    batch(() => {
      this.layers.value = [...this.layers.peek(), ...made];
      this.layer.value = id;
      this.shownLayers.value = new Set([...this.shownLayers.peek(), id]);
      this.select([]);
    });
  };

  #activeLayer() {
    return this.layers.peek().find((/** @type {any} */ each) => each.id === this.layer.peek());
  }

  /** A project without a layer gets one before the first shape. */
  async #layerThere() {
    if (this.layer.peek() || !this.mayEdit) return;
    const open = /** @type {NonNullable<typeof project.value>} */ (project.value);
    const { id } = await request("POST", `Versions/${open.id}`, { body: { name: "Baseline" } });
    await this.drawIn(id);
  }

  /** While the media is transcoded, look for finer files: rarely, and more rarely with time. @param {number} pause */
  #awaitFiles(pause) {
    const { player } = this;
    if (this.isStopped || !player?.lines || player.lines >= (this.media.height ?? 0) || pause > MOST_PAUSE_MS) return;
    setTimeout(async () => {
      if (!this.isStopped && !player.isPlaying) await player.refresh().catch(() => false);
      this.#awaitFiles(pause * 1.5);
    }, pause);
  }

  /** While annotations are read, those of the frame that one looks at come first. */
  #readFrame() {
    clearTimeout(this.frameTimer);
    this.frameTimer = setTimeout(() => {
      if (!this.isStopped) this.sync.loadFrame(this.frame.peek()).catch(() => undefined);
    }, FRAME_PAUSE_MS);
  }

  #tellSaving() {
    this.saving.value = {
      state: this.sync.state,
      message: this.sync.message ?? "",
      unsaved: this.doc.unsaved.size,
      conflicts: this.doc.conflicts.size,
    };
  }
}
