// The comments of the media that is open: read again while it is, sent, and walked through by key.
import { get, post } from "../client.js";
import { computed, signal } from "../lib.js";
import { threadsOf } from "../ui/thread.js";

const PAUSE_MS = 20_000;

export class CommentSet {
  /** @param {import("./session.js").Session} session @param {number} project */
  constructor(session, project) {
    this.session = session;
    this.project = project;
    this.list = signal(/** @type {any[]} */ ([]));
    this.threads = computed(() => threadsOf(this.list.value));
    /** The id of the thread that was gone to. */
    this.chosen = signal(/** @type {number | null} */ (null));
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.isStopped = false;
  }

  /** Read the comments, now and from time to time. */
  start() {
    clearTimeout(this.timer);
    const again = () => {
      if (!this.isStopped) this.timer = setTimeout(() => this.start(), PAUSE_MS);
    };
    if (document.hidden) again();
    else this.load().finally(again);
  }

  stop() {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  /** Read the comments of the media. What cannot be read is tried again later. */
  async load() {
    try {
      const found = await get(`Comments/${this.project}`, { media_id: this.session.media.id });
      if (!this.isStopped && JSON.stringify(found) !== JSON.stringify(this.list.peek())) this.list.value = found;
    } catch {
      // the next turn reads them
    }
  }

  /** What a new comment can be on: members of its body by name. @returns {Record<string, Record<string, number>>} */
  targets() {
    const { session } = this;
    const media_id = session.media.id;
    const [key, row] = session.chosen().length === 1 ? session.chosen()[0] : [null, null];
    const id = key ? session.doc.base.get(key)?.id : undefined;
    const loop = session.player?.loop;
    return {
      ...(id && row ? { selected: { [row.kind === "state" ? "state_id" : "localization_id"]: id } } : {}),
      frame: { media_id, frame: session.frame.peek() },
      ...(loop ? { loop: { media_id, frame: loop[0], end_frame: loop[1] } } : {}),
      media: { media_id },
    };
  }

  /** @param {string} text @param {Record<string, number>} target */
  async send(text, target) {
    const { id } = await post(`Comments/${this.project}`, { text, ...target });
    await this.load();
    this.chosen.value = id;
  }

  /** Show a thread: its frame, and the annotation that it is on. @param {any} first */
  open(first) {
    this.chosen.value = first.id;
    if (first.frame !== null) this.session.player?.seek(first.frame);
    const kind = first.localization_id ? "localization/" : "state/";
    const id = first.localization_id ?? first.state_id;
    const found = [...this.session.doc.base].find(([key, base]) => base.id === id && key.startsWith(kind));
    if (found) this.session.select([found[0]]);
  }

  /** Go to the next open thread, around the end. @param {1 | -1} direction @returns {boolean} false where none is open */
  next(direction) {
    const place = (/** @type {any} */ each) => [each.first.frame ?? -1, each.first.id];
    const before = (/** @type {number[]} */ one, /** @type {number[]} */ two) => one[0] - two[0] || one[1] - two[1];
    const open = this.threads
      .peek()
      .filter(({ first }) => !first.resolved)
      .sort((one, two) => before(place(one), place(two)) * direction);
    const chosen = open.findIndex(({ first }) => first.id === this.chosen.peek());
    const here = [this.session.frame.peek(), direction > 0 ? -1 : Infinity];
    const ahead = open.findIndex((each) => before(place(each), here) * direction > 0);
    const found = open[chosen >= 0 ? (chosen + 1) % open.length : Math.max(0, ahead)];
    if (found) this.open(found.first);
    return Boolean(found);
  }
}
