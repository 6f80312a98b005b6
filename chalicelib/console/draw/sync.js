// Saves what differs between the document and the service, keeps it on this device meanwhile, and shows conflicts.
//
// New rows carry an elemental id made here, so a creation whose answer was lost is found again in place of repeated.
// Changes and deletions carry `If-Match` with the time of the row they are based on: what somebody else changed since
// answers 409 and becomes a conflict, which the person settles.

import { baseOf, keyOf } from "./document.js";
import { REFINING } from "./geometry.js";
import { settled } from "./keep.js";

/** The field and the rule that an error names. @param {any} error @returns {string} */
const ruleOf = ({ message, details }) => details || message;

/**
 * @typedef {import("./document.js").AnnotationDocument} AnnotationDocument
 * @typedef {import("./document.js").Row} Row
 * @typedef {"reading" | "saved" | "unsaved" | "saving" | "offline" | "conflict" | "failed"} State
 * @typedef {(method: string, path: string, options?: {body?: unknown, query?: any, headers?: Record<string, string>}) => Promise<any>} Request
 *   rejects with `status` (0: no answer) and `message`
 */

const PAUSE_MS = 1200;
const RETRY_MS = [2000, 5000, 15000];
const BATCH = 200;
const PAGE = 5000;
const LANES = 4;
const WORD = { localization: "Localization", state: "State" };

/** Media whose view was left while their changes are saved: the next view of one waits. @type {Map<number, Promise<void>>} */
const finishing = new Map();

export class Sync extends EventTarget {
  /**
   * @param {AnnotationDocument} doc
   * @param {{request: Request, project: number, media: number, user: number, keeper: import("./keep.js").Keeper}} place
   */
  constructor(doc, { request, project, media, user, keeper }) {
    super();
    this.doc = doc;
    this.request = request;
    this.project = project;
    this.media = media;
    this.user = user;
    this.keeper = keeper;
    this.message = "";
    /** @type {State} */
    this.state = "reading";
    /** @type {Map<string, {row: Row | null, message: string}>} rows that the service refused as they are */
    this.refused = new Map();
    /** @type {Set<string>} creations without an answer */
    this.uncertain = new Set();
    /** How far the annotations are read. */
    this.reading = { isRead: false, read: 0, total: 0 };
    /** @type {any} what was kept on this device, until all is read */
    this.kept = undefined;
    this.isAutomatic = true;
    this.failures = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {Promise<void> | null} */
    this.running = null;
    this.watch = new AbortController();
  }

  /**
   * Load the media's annotations, those of a frame first, take up what was kept here, and begin to save changes. What
   * is changed meanwhile is kept at once and saved when all is read.
   * @param {number} [frame]
   */
  async start(frame = 0) {
    await finishing.get(this.media);
    const { signal } = this.watch;
    const first = this.loadFrame(frame);
    first.catch(() => undefined); // told where it is awaited
    this.kept = await this.keeper.load().catch(() => undefined);
    this.doc.addEventListener("change", () => this.#changed(), { signal });
    await this.load(first);
    if (this.kept) this.doc.restore(this.kept, this.user);
    this.kept = undefined;
    addEventListener("online", () => this.#schedule(0), { signal });
    addEventListener(
      "beforeunload",
      (event) => this.doc.unsaved.size && this.keeper.writing && event.preventDefault(),
      { signal },
    );
    this.#changed();
  }

  stop() {
    this.watch.abort();
    clearTimeout(this.timer);
  }

  /** Stop when the view is left, and save what is left unless the person saves by hand. */
  finish() {
    this.stop();
    if (!this.isAutomatic || !this.#open().length) return;
    const saving = this.save()
      .then(() => this.stop())
      .finally(() => {
        if (finishing.get(this.media) === saving) finishing.delete(this.media);
        settled.value += 1;
      });
    finishing.set(this.media, saving);
  }

  /** Read the annotations of the media. @param {Promise<void>} [first] what is read before the rest */
  async load(first) {
    const before = new Set(this.doc.base.keys());
    this.#read({ ...this.reading, read: 0, total: 0 });
    const query = { media_id: this.media, merge: 0 };
    await first;
    const counted = this.request("GET", `LocalizationCount/${this.project}`, { query }).catch(() => 0);
    counted.then((total) => this.#read({ ...this.reading, total }));
    const there = new Set();
    const take = (/** @type {import("./document.js").Base[]} */ bases) => {
      for (const { row } of bases) there.add(keyOf(row));
      this.doc.load(bases);
    };
    for await (const items of this.#pages("Localizations", query)) {
      take(items.map((/** @type {any} */ item) => baseOf("localization", item)));
      this.#read({ ...this.reading, read: this.reading.read + items.length });
    }
    for await (const items of this.#pages("States", query))
      take(items.map((/** @type {any} */ item) => baseOf("state", item, this.#keyOf)));
    this.doc.forget([...before].filter((key) => !there.has(key) && !this.doc.unsaved.has(key)));
    this.#read({ ...this.reading, isRead: true });
  }

  /** Read the localizations of one frame. @param {number} frame */
  async loadFrame(frame) {
    const query = { media_id: this.media, merge: 0, frame };
    const items = await this.request("GET", `Localizations/${this.project}`, { query });
    this.doc.load(items.map((/** @type {any} */ item) => baseOf("localization", item)));
  }

  #read(/** @type {Sync["reading"]} */ reading) {
    this.reading = reading;
    this.dispatchEvent(new Event("reading"));
  }

  /** Save everything now; a call during a save waits for it and saves what is left. */
  async save() {
    clearTimeout(this.timer);
    while (this.running) await this.running;
    this.running = this.#run().finally(() => {
      this.running = null;
    });
    await this.running;
  }

  /** Try a row again that was refused, as after a change of its type. @param {string} key */
  retry(key) {
    this.refused.delete(key);
    this.#schedule(0);
  }

  /** The pages of a list, in order. @param {string} path @param {any} query */
  async *#pages(path, query) {
    for (let after; ; ) {
      const page = await this.request("GET", `${path}/${this.project}`, { query: { ...query, stop: PAGE, after } });
      yield page;
      if (page.length < PAGE) return;
      after = page[page.length - 1].id;
    }
  }

  #keep() {
    return this.keeper.save(() => {
      const pending = this.doc.pending();
      // what was kept before is not in the document until all is read
      const keys = new Set(pending.changes.map(({ key }) => key));
      const earlier = (this.kept?.changes ?? []).filter((/** @type {any} */ { key }) => !keys.has(key));
      return { ...pending, changes: [...earlier, ...pending.changes], project: this.project };
    });
  }

  #changed() {
    if (this.reading.isRead || this.doc.unsaved.size)
      this.#keep().catch(() => this.#tell("failed", "This browser cannot keep unsaved changes over a reload."));
    if (!this.reading.isRead) return;
    for (const [key, { row }] of this.refused)
      if (this.doc.rows.get(key) !== row && (row || this.doc.rows.has(key))) this.refused.delete(key);
    if (this.running) return;
    const left = this.#open();
    if (this.doc.conflicts.size) this.#tell("conflict");
    else if (!this.doc.unsaved.size) this.#tell("saved");
    else if (this.state !== "offline") this.#tell(left.length ? "unsaved" : "failed");
    if (left.length && this.isAutomatic) this.#schedule(PAUSE_MS);
  }

  #schedule(/** @type {number} */ pause) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), pause);
  }

  #tell(/** @type {State} */ state, message = "") {
    this.state = state;
    this.message = message;
    this.dispatchEvent(new Event("state"));
  }

  /** Keys that can be saved now. */
  #open() {
    return [...this.doc.unsaved].filter((key) => !this.doc.conflicts.has(key) && !this.refused.has(key));
  }

  async #run() {
    if (!this.#open().length) return;
    this.#tell("saving");
    try {
      if (this.uncertain.size) await this.#find([...this.uncertain]);
      for (const kind of /** @type {const} */ (["localization", "state"])) await this.#create(kind);
      await this.#each("state", (row) => Boolean(row));
      await this.#each("localization", (row) => Boolean(row));
      await this.#each("state", (row) => !row);
      await this.#each("localization", (row) => !row);
      this.failures = 0;
      this.#tell(
        this.doc.conflicts.size
          ? "conflict"
          : this.refused.size
            ? "failed"
            : this.doc.unsaved.size
              ? "unsaved"
              : "saved",
      );
      if (this.#open().length) this.#schedule(this.isAutomatic ? PAUSE_MS : 60_000);
    } catch (error) {
      const { status } = /** @type {any} */ (error);
      const isPassing = status === 0 || status === 429 || status >= 500;
      this.#tell(isPassing ? "offline" : "failed", ruleOf(error));
      if (isPassing) this.#schedule(RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)]);
    }
    await this.#keep().catch(() => undefined);
  }

  #keys(/** @type {string} */ kind) {
    return this.#open().filter((key) => key.startsWith(`${kind}/`));
  }

  /** Creations whose answer was lost: those that the service has are saved. */
  async #find(/** @type {string[]} */ keys) {
    for (const kind of /** @type {const} */ (["localization", "state"])) {
      const wanted = keys.filter((key) => key.startsWith(`${kind}/`)).map((key) => key.split("/")[2]);
      if (!wanted.length) continue;
      const items = await this.request("PUT", `${WORD[kind]}s/${this.project}`, {
        body: { elemental_ids: wanted },
        query: { merge: 0 },
      });
      this.#adopt(
        kind,
        items.filter((/** @type {any} */ item) => keys.includes(`${kind}/${item.version}/${item.elemental_id}`)),
      );
    }
    this.uncertain.clear();
  }

  #adopt(/** @type {"localization" | "state"} */ kind, /** @type {any[]} */ items) {
    for (const item of items) {
      const base = baseOf(kind, item, this.#keyOf);
      const key = `${kind}/${item.version}/${item.elemental_id}`;
      this.doc.created(key, base);
    }
  }

  async #create(/** @type {"localization" | "state"} */ kind) {
    for (;;) {
      const keys = this.#keys(kind)
        .filter((key) => this.doc.rows.has(key) && !this.doc.base.has(key))
        .slice(0, BATCH);
      if (!keys.length) return;
      const rows = keys.map((key) => /** @type {Row} */ (this.doc.rows.get(key)));
      try {
        keys.forEach((key) => this.uncertain.add(key));
        const { id } = await this.request("POST", `${WORD[kind]}s/${this.project}`, {
          body: rows.map((row) => this.#spec(row)),
        });
        this.#adopt(
          kind,
          await this.request("PUT", `${WORD[kind]}s/${this.project}`, { body: { ids: id }, query: { merge: 0 } }),
        );
        keys.forEach((key) => this.uncertain.delete(key));
      } catch (error) {
        const rule = ruleOf(error);
        if (/** @type {any} */ (error).status !== 400) throw error;
        keys.forEach((key) => this.uncertain.delete(key));
        const at = /^\[(\d+)\]\.?/.exec(rule);
        const bad = at ? [keys[Number(at[1])]] : keys;
        for (const key of bad)
          this.refused.set(key, { row: this.doc.rows.get(key) ?? null, message: rule.replace(/^\[\d+\]\.?/, "") });
      }
    }
  }

  #spec(/** @type {Row} */ row) {
    const attributes = Object.fromEntries(
      Object.entries(row.attributes).filter(([, value]) => value !== null && value !== undefined),
    );
    const common = { type: row.type, version: row.version, elemental_id: row.elemental, attributes };
    const frame = row.frame === null ? {} : { frame: row.frame };
    if (row.kind === "localization") return { ...common, ...row.shape, media_id: this.media, frame: row.frame ?? 0 };
    return { ...common, ...frame, media_ids: [this.media], localization_ids: this.#ids(row.members ?? []) };
  }

  #ids(/** @type {string[]} */ keys) {
    return keys
      .map((key) => (key.startsWith("id:") ? Number(key.slice(3)) : this.doc.base.get(key)?.id))
      .filter((id) => id !== undefined);
  }

  /** Change or delete rows, a few at a time. */
  async #each(/** @type {"localization" | "state"} */ kind, /** @type {(row: Row | undefined) => boolean} */ isMeant) {
    const keys = this.#keys(kind).filter((key) => this.doc.base.has(key) && isMeant(this.doc.rows.get(key)));
    const lane = async () => {
      for (let key = keys.shift(); key; key = keys.shift()) await this.#one(kind, key);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  }

  async #one(/** @type {"localization" | "state"} */ kind, /** @type {string} */ key) {
    const base = this.doc.base.get(key);
    const row = this.doc.rows.get(key);
    if (!base) return;
    const path = `${WORD[kind]}/${base.id}`;
    const headers = { "If-Match": `"${base.modified}"` };
    try {
      if (!row) {
        await this.request("DELETE", path, { headers });
        this.doc.saved(key, null);
        return;
      }
      const said = await this.request("PATCH", path, { headers, body: this.#patch(base.row, row) });
      this.doc.saved(key, baseOf(kind, said.object, this.#keyOf));
    } catch (error) {
      const { status } = /** @type {any} */ (error);
      if (status === 409 || status === 404) await this.#conflict(kind, key, base.id);
      else if (status === 400) this.refused.set(key, { row: row ?? null, message: ruleOf(error) });
      else throw error;
    }
  }

  /** The key of a member of a state. @param {number} id */
  #keyOf = (id) => this.doc.keyById("localization", id);

  /** The members that differ. @returns {Record<string, unknown>} */
  #patch(/** @type {Row} */ before, /** @type {Row} */ after) {
    /** @type {Record<string, any>} */
    const body = { ...(JSON.stringify(before.shape) === JSON.stringify(after.shape) ? {} : after.shape) };
    for (const name of REFINING)
      if ((before.shape?.[name] ?? null) !== null && (after.shape?.[name] ?? null) === null) body[name] = null;
    if (before.frame !== after.frame && after.frame !== null) body.frame = after.frame;
    const isOther = (/** @type {string} */ name) =>
      JSON.stringify(before.attributes[name] ?? null) !== JSON.stringify(after.attributes[name] ?? null);
    const names = [...new Set([...Object.keys(before.attributes), ...Object.keys(after.attributes)])].filter(isOther);
    const isNull = (/** @type {string} */ name) => (after.attributes[name] ?? null) === null;
    const given = names.filter((name) => !isNull(name));
    if (given.length) body.attributes = Object.fromEntries(given.map((name) => [name, after.attributes[name]]));
    if (given.length < names.length) body.null_attributes = names.filter(isNull);
    const [old, now] = [new Set(before.members), new Set(after.members)];
    const added = this.#ids([...now].filter((key) => !old.has(key)));
    const removed = this.#ids([...old].filter((key) => !now.has(key)));
    if (added.length) body.localization_ids_add = added;
    if (removed.length) body.localization_ids_remove = removed;
    return body;
  }

  async #conflict(/** @type {"localization" | "state"} */ kind, /** @type {string} */ key, /** @type {number} */ id) {
    const elemental = key.split("/")[2];
    const items = await this.request("PUT", `${WORD[kind]}s/${this.project}`, {
      body: { elemental_ids: [elemental] },
      query: { merge: 0 },
    });
    const item = items.find(
      (/** @type {any} */ each) => `${kind}/${each.version}/${each.elemental_id}` === key || each.id === id,
    );
    const mine = this.doc.rows.get(key) ?? null;
    if (!item && !mine) return this.doc.saved(key, null);
    const theirs = item ? baseOf(kind, item, this.#keyOf) : null;
    this.doc.conflict({ key, mine, theirs });
  }
}
