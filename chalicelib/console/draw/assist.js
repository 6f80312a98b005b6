// Annotators at one media: predictions as drafts in layers of their own, decisions on them, and objects by clicks.

import { ApiError, get, post } from "../client.js";
import { batch, signal } from "../lib.js";
import { may, project, reload } from "../store.js";
import { assist as words } from "../strings_assist.js";
import { toast, toastError } from "../ui/toast.js";

/**
 * @typedef {import("./document.js").Row} Row
 * @typedef {{x: number, y: number, positive: boolean}} Click
 * @typedef {"accept" | "reject"} Decision
 */

/** The key of the object that clicks gave, among the shapes of its frame. */
const CLICKED = "?click";
const POLL_MS = 1500;
/** The states of jobs that have ended. */
const ENDED = ["succeeded", "failed", "canceled"];

export class Assist {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    this.annotators = signal(/** @type {any[]} */ ([]));
    /** The annotator that predicts. */
    this.chosen = signal(/** @type {any} */ (null));
    /** Drafts with less confidence are hidden. */
    this.least = signal(0);
    /** How far a job on a range is, from 0 to 1; null without one. */
    this.progress = signal(/** @type {number | null} */ (null));
    this.isBusy = signal(false);
    /** The annotator that is clicked for; null where clicks select and draw. */
    this.clicking = signal(/** @type {any} */ (null));
    this.clicks = signal(/** @type {Click[]} */ ([]));
    /** @type {import("./geometry.js").Shape | null} the box that was dragged around the object */
    this.box = null;
    /** @type {[string, Row] | null} */
    this.object = null;
    this.asked = 0;
    /** @type {Map<number, any>} annotators by their layer of drafts */
    this.byLayer = new Map();
  }

  /** Read the annotators, and show their layers. */
  async load() {
    const open = /** @type {NonNullable<typeof project.value>} */ (project.value);
    const found = await get(`Annotators/${open.id}`);
    const { session } = this;
    const drafts = new Set(found.map((/** @type {any} */ each) => each.drafts));
    if ([...drafts].some((id) => id && !open.versions.some((/** @type {any} */ each) => each.id === id)))
      await reload("versions");
    const known = new Set(session.layers.peek().map((/** @type {any} */ each) => each.id));
    const more = project.value?.versions.filter(
      (/** @type {any} */ each) => drafts.has(each.id) && !known.has(each.id),
    );
    batch(() => {
      this.byLayer = new Map(found.map((/** @type {any} */ each) => [each.drafts, each]));
      this.annotators.value = found;
      this.chosen.value = found.find((/** @type {any} */ each) => each.kind === "detector") ?? null;
      if (more?.length) {
        session.layers.value = [...session.layers.peek(), ...more];
        session.shownLayers.value = new Set([
          ...session.shownLayers.peek(),
          ...more.map((/** @type {any} */ each) => each.id),
        ]);
      }
    });
    this.#changed();
  }

  /** Whether a row is a draft. @param {Row} row */
  isDraft = (row) => this.byLayer.has(row.version) && row.version !== this.session.layer.peek();

  /** The confidence of a draft; null where its annotator tells none. @param {Row} row @returns {number | null} */
  confidenceOf(row) {
    const value = row.attributes[this.byLayer.get(row.version)?.confidence_attribute];
    return typeof value === "number" ? value : null;
  }

  /** Whether a row is shown: a draft with enough confidence, and every other row. @param {Row} row */
  shows(row) {
    return !this.isDraft(row) || (this.confidenceOf(row) ?? 1) >= this.least.peek();
  }

  /** @param {number} least */
  setLeast(least) {
    this.least.value = least;
    this.#changed();
  }

  /** The drafts of the chosen annotator in this media that are shown, by class. @returns {[string, number][]} */
  classes() {
    const { doc } = this.session;
    const annotator = this.chosen.peek();
    /** @type {Map<string, number>} */
    const found = new Map();
    for (const frame of doc.frames.keys())
      for (const [, row] of doc.on(frame)) {
        if (row.version !== annotator?.drafts || !this.isDraft(row) || !this.shows(row)) continue;
        const label = String(row.attributes[annotator.label_attribute] ?? "");
        found.set(label, (found.get(label) ?? 0) + 1);
      }
    return [...found].sort(([one], [two]) => one.localeCompare(two));
  }

  /** The selected drafts. @returns {[string, Row][]} */
  selected() {
    return this.session.chosen().filter(([, row]) => this.isDraft(row));
  }

  /** Ask the chosen detector about the present frame, and store what it finds as drafts. */
  async predict() {
    const annotator = this.chosen.peek();
    const { session } = this;
    if (!annotator || this.isBusy.peek() || !session.mayEdit || !may("Can Execute")) return;
    const frame = session.frame.peek();
    await this.#work(async () => {
      const found = await post(`Prediction/${session.media.id}`, { annotator: annotator.id, frame });
      if (!found.version) throw new ApiError(409, words.noDrafts);
      // those of an earlier prediction of this frame make room
      const before = session.doc.on(frame).filter(([, row]) => row.version === found.version);
      const ids = before.map(([key]) => session.doc.base.get(key)?.id).filter(Boolean);
      if (ids.length) await post(`Drafts/${annotator.id}`, { decision: "reject", ids });
      const media = session.media.id;
      const rows = found.localizations.map((/** @type {any} */ each) => ({ ...each, media_id: media }));
      if (rows.length) await post(`Localizations/${project.value?.id}`, rows);
      const states = found.states.map((/** @type {any} */ each) => ({ ...each, media_ids: [media] }));
      if (states.length) await post(`States/${project.value?.id}`, states);
      toast(words.predicted(rows.length + states.length, found.model ?? annotator.name), { seconds: 4 });
    });
  }

  /** Run the chosen annotator on a range of frames. @param {{start: number, stop: number, every: number}} range `stop` is the last frame */
  async predictRange({ start, stop, every }) {
    const annotator = this.chosen.peek();
    const body = { annotator: annotator.id, media_ids: [this.session.media.id], start, stop: stop + 1, every };
    await this.#work(async () => {
      const { gid } = await post(`Annotate/${project.value?.id}`, body);
      this.progress.value = 0;
      try {
        await this.#finished(gid);
      } finally {
        this.progress.value = null;
      }
    });
  }

  /** @param {string} gid */
  async #finished(gid) {
    while (!this.session.isStopped) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      const [group] = await get(`JobGroups/${project.value?.id}`, { gid });
      const { statuses, jobs, progress } = group ?? { statuses: {}, jobs: 0, progress: {} };
      const isEnded = (/** @type {string} */ status) => ENDED.includes(status.toLowerCase());
      const ended = Object.keys(statuses).filter((status) => statuses[status] > 0 && isEnded(status));
      this.progress.value = progress.total ? progress.done / progress.total : 0;
      await this.session.feed.read();
      if (jobs && ended.reduce((sum, status) => sum + statuses[status], 0) === jobs) {
        if (ended.some((status) => status.toLowerCase() !== "succeeded")) throw new ApiError(500, words.jobFailed);
        return;
      }
    }
  }

  /**
   * Decide on drafts: those given by keys, of one class, or all that are shown of the chosen annotator in this media.
   * @param {Decision} decision @param {{keys?: string[], label?: string}} which
   */
  async decide(decision, { keys, label } = {}) {
    const { session } = this;
    const { doc } = session;
    if (!session.mayEdit) return;
    const first = keys && doc.rows.get(keys[0]);
    const annotator = first ? this.byLayer.get(first.version) : this.chosen.peek();
    const ids = keys?.map((key) => doc.base.get(key)?.id).filter(Boolean);
    if (!annotator || (ids && !ids.length)) return;
    const body = {
      decision,
      ...(decision === "accept" && { version: session.layer.peek() }),
      ...(ids ? { ids } : { media_ids: [session.media.id] }),
      ...(label !== undefined && { labels: [label] }),
      ...(!ids && this.least.peek() > 0 && { least: this.least.peek() }),
    };
    const next = ids ? this.#after(new Set(keys)) : [];
    await this.#work(async () => {
      const said = await post(`Drafts/${annotator.id}`, body);
      session.select(next);
      const undo = () => this.#undo(said.change);
      toast(said.message, { kind: "good", seconds: 8, ...(said.change && { action: words.undo, run: undo }) });
    });
  }

  /** The draft to look at after others are decided on: the next one of the frame. */
  #after(/** @type {Set<string>} */ gone) {
    const left = this.session.rowsOn(this.session.frame.peek());
    const next = left.find(([key, row]) => this.isDraft(row) && !gone.has(key));
    return next ? [next[0]] : [];
  }

  /** @param {number} change */
  #undo(change) {
    return this.#work(() => post(`Restore/${project.value?.id}`, { changes: [change] }));
  }

  // --- objects by clicks ---------------------------------------------------------------------------------------------

  /** Begin to click for an interactor, the first one by default, or end it. @param {any} [given] */
  toggleClicks(given) {
    const interactor = given ?? this.annotators.peek().find((/** @type {any} */ each) => each.kind === "interactor");
    const before = this.clicking.peek();
    if (before) this.endClicks();
    if (before && (!given || given === before)) return;
    if (!interactor || !this.session.mayEdit || !may("Can Execute")) {
      this.session.say(words.noInteractor);
      return;
    }
    this.session.take(null);
    this.session.select([]);
    this.clicking.value = interactor;
    this.#changed();
  }

  endClicks() {
    this.forgetClicks();
    this.clicking.value = null;
  }

  /** Begin with another object. Whether there was one. */
  forgetClicks() {
    const had = this.clicks.peek().length > 0 || this.box !== null;
    this.clicks.value = [];
    this.box = null;
    this.object = null;
    this.asked += 1;
    this.#changed();
    return had;
  }

  /** Whether the annotator that is clicked for takes a kind of prompt. @param {"points" | "box"} prompt */
  takes(prompt) {
    return Boolean(this.clicking.peek()?.prompts?.includes(prompt));
  }

  /** A click: the object with it, or without the place. @param {Click} click */
  click(click) {
    if (!this.takes("points")) {
      this.session.say(words.boxAlone);
      return undefined;
    }
    this.#atFrame();
    this.clicks.value = [...this.clicks.peek(), click];
    return this.#ask();
  }

  /** A box around an object: another one than before. @param {import("./geometry.js").Shape} box */
  enclose(box) {
    this.forgetClicks();
    this.box = box;
    return this.#ask();
  }

  /** Prompts of another frame are not about the present one. */
  #atFrame() {
    if (this.object && this.object[1].frame !== this.session.frame.peek()) this.forgetClicks();
  }

  /** Ask for the object of the prompts; an answer that another prompt overtook is let go. */
  async #ask() {
    const { session } = this;
    const annotator = this.clicking.peek();
    const frame = session.frame.peek();
    this.asked += 1;
    const turn = this.asked;
    session.stage?.invalidate();
    this.isBusy.value = true;
    try {
      const points = this.clicks.peek();
      const body = {
        annotator: annotator.id,
        frame,
        ...(points.length && { points }),
        ...(this.box && { box: this.box }),
      };
      const found = await post(`Segmentation/${session.media.id}`, body);
      if (turn !== this.asked) return;
      this.object = found.localization ? [CLICKED, this.#rowOf(found.localization, frame)] : null;
      if (!this.object) session.say(words.nothingClicked);
    } catch (failure) {
      if (turn === this.asked) toastError(failure);
    } finally {
      if (turn === this.asked) this.isBusy.value = false;
      this.#changed();
    }
  }

  /** @param {any} spec a body of a localization @param {number} frame @returns {Row} */
  #rowOf({ type, attributes = {}, frame: _frame, version: _version, ...shape }, frame) {
    const version = this.session.layer.peek();
    return { kind: "localization", type, version, elemental: crypto.randomUUID(), frame, shape, attributes };
  }

  /** Draw the object that was clicked. Whether there was one. */
  acceptClicks() {
    if (!this.object) return false;
    const [, row] = this.object;
    const key = `${row.kind}/${row.version}/${row.elemental}`;
    this.forgetClicks();
    this.session.doc.change(words.clickStep, [[key, row]]);
    this.session.select([key]);
    return true;
  }

  /** What clicks show on a frame. @param {number} frame @returns {[string, Row][]} */
  on(frame) {
    return this.object && this.object[1].frame === frame ? [this.object] : [];
  }

  /** Do one thing at a time, take over what it changed on the service, and tell its failure. */
  async #work(/** @type {() => Promise<any>} */ act) {
    this.isBusy.value = true;
    try {
      await act();
      await this.session.feed.read();
    } catch (failure) {
      toastError(failure);
    } finally {
      this.isBusy.value = false;
      this.#changed();
    }
  }

  #changed() {
    this.session.revision.value += 1;
    this.session.stage?.invalidate();
  }
}
