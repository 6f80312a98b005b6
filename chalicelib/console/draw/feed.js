// What others change on the same media while one works on it, read from the project's feed.

import { baseOf, keyOf } from "./document.js";

const PAUSE_MS = 5000;
const HIDDEN_MS = 30_000;
const WORD = { localization: "Localizations", state: "States" };

export class Feed {
  /** @param {import("./sync.js").Sync} sync */
  constructor(sync) {
    this.sync = sync;
    this.after = "now";
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.isStopped = false;
  }

  /** Read from now on, every few seconds; more rarely while the page is hidden. */
  start() {
    const turn = async () => {
      try {
        await this.read();
      } catch (error) {
        // the feed has forgotten where we were: read everything anew. Other failures pass.
        if (/** @type {any} */ (error).status === 410) {
          this.after = "now";
          await this.sync.load().catch(() => undefined);
        }
      }
      if (!this.isStopped) this.timer = setTimeout(turn, document.hidden ? HIDDEN_MS : PAUSE_MS);
    };
    turn();
  }

  stop() {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  /** Take over what changed since the last time. */
  async read() {
    const { project, request } = this.sync;
    const page = await request("GET", `Events/${project}`, {
      query: { after: this.after, limit: 1000, kinds: ["localization", "state"] },
    });
    this.after = page.next;
    for (const kind of /** @type {const} */ (["localization", "state"])) {
      const ids = page.events
        .filter((/** @type {any} */ event) => event.subject.startsWith(kind))
        .flatMap((/** @type {any} */ event) => this.#ours(kind, event));
      if (ids.length) await this.#take(kind, [...new Set(ids)]);
    }
  }

  /** The ids of an event that belong to this media. */
  #ours(/** @type {"localization" | "state"} */ kind, /** @type {any} */ event) {
    const known = this.sync.doc.keys[kind];
    const isHere = (/** @type {any} */ change) =>
      known.has(change.id) || [change.new?.media ?? []].flat().includes(this.sync.media);
    return event.data.changes.filter(isHere).map((/** @type {any} */ change) => change.id);
  }

  async #take(/** @type {"localization" | "state"} */ kind, /** @type {number[]} */ ids) {
    const { doc, project, request } = this.sync;
    while (this.sync.running) await this.sync.running; // what this page saves itself is no news
    const items = await request("PUT", `${WORD[kind]}/${project}`, { body: { ids }, query: { merge: 0 } });
    if (this.isStopped) return;
    const bases = items.map((/** @type {any} */ item) => baseOf(kind, item, (id) => doc.keyById("localization", id)));
    const there = new Set(bases.map((/** @type {any} */ base) => keyOf(base.row)));
    const gone = /** @type {string[]} */ (
      ids.map((id) => doc.keys[kind].get(id)).filter((key) => key && !there.has(key))
    );
    const isNews = (/** @type {string} */ key, /** @type {string | null} */ modified) =>
      (doc.base.get(key)?.modified ?? null) !== modified;
    for (const key of gone)
      if (doc.unsaved.has(key) && doc.rows.has(key))
        doc.conflict({ key, mine: doc.rows.get(key) ?? null, theirs: null });
    doc.forget(gone.filter((key) => !doc.conflicts.has(key)));
    const news = bases.filter((/** @type {any} */ base) => isNews(keyOf(base.row), base.modified));
    for (const base of news) {
      const key = keyOf(base.row);
      if (doc.unsaved.has(key)) doc.conflict({ key, mine: doc.rows.get(key) ?? null, theirs: base });
    }
    doc.load(news.filter((/** @type {any} */ base) => !doc.conflicts.has(keyOf(base.row))));
  }
}
