/**
 * The player: shows exactly the frame it says it shows. `frame` is the number of the picture on the canvas; `target` is
 * the one on its way. Pictures come from the first source that works: WebCodecs, a video element, the service.
 *
 * Events: `frame` (another picture is shown), `state` (playing, speed, loop, quality, source, stall), `error`.
 */

import { FragmentSource } from "./fragments.js";
import { ElementSource, ImageSource, ServiceSource } from "./sources.js";

/**
 * @typedef {object} Media as the service lists it, with `presigned=`
 * @property {number} id
 * @property {number} [num_frames]
 * @property {number} [fps]
 * @property {number} [width]
 * @property {number} [height]
 * @property {{streaming?: any[], image?: any[], audio?: any[]}} [media_files]
 *
 * @typedef {object} Access how the player reaches the service
 * @property {() => Promise<Media>} reload the media with fresh URLs
 * @property {(frame: number, quality?: number) => Promise<Blob>} fetchFrame GetFrame
 */

export const SPEEDS = [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 6, 8];
export const WAYS = ["codecs", "video", "service"];

export class Player extends EventTarget {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {Access} access
   * @param {string[]} [ways] the ways to try, in order
   */
  constructor(canvas, access, ways = WAYS) {
    super();
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
    this.access = access;
    this.ways = ways;
    /** @type {Media | null} */
    this.media = null;
    /** @type {any} */
    this.source = null;
    this.frame = -1;
    this.target = 0;
    this.frames = 0;
    this.fps = 0;
    this.speed = 1;
    this.direction = 0;
    this.isStalled = false;
    /** @type {[number, number] | null} first and last frame of the loop */
    this.loop = null;
    /** @type {number | null} height of the streaming file; null chooses by the size of the canvas */
    this.quality = null;
    this.ticking = 0;
    this.began = { at: 0, frame: 0 };
  }

  get isPlaying() {
    return this.direction !== 0;
  }

  /** The heights one may choose from, highest first. */
  get qualities() {
    const files = this.media?.media_files?.streaming ?? [];
    return [...new Set(files.map((file) => file.resolution[0]))].sort((one, two) => two - one);
  }

  /**
   * @param {Media} media
   * @param {number} [frame]
   */
  async open(media, frame = 0) {
    this.media = media;
    const isImage = Boolean(media.media_files?.image?.length);
    this.fps = isImage ? 0 : (media.fps ?? 0);
    this.frames = isImage ? 1 : (media.num_frames ?? 0);
    this.target = frame; // a seek meanwhile replaces it
    await this.#connect(this.ways);
    await this.seek(this.target);
  }

  /** @param {number | null} height */
  async setQuality(height) {
    this.quality = height;
    await this.#connect(this.ways);
    this.frame = -1;
    await this.seek(this.target);
  }

  /**
   * Show a frame.
   * @param {number} frame outside of the media the nearest one is shown
   */
  async seek(frame) {
    this.target = Math.max(0, Math.min(Math.max(0, this.frames - 1), Math.round(frame)));
    if (this.isPlaying) this.began = { at: performance.now(), frame: this.target };
    const wanted = this.target;
    const source = this.source;
    if (!source) return;
    try {
      const picture = await source.frame(wanted);
      if (source === this.source && this.target === wanted) this.#show(wanted, picture);
    } catch (error) {
      if (/** @type {Error} */ (error).name !== "AbortError" && source === this.source) await this.#fall(error);
    }
  }

  /** The picture of a frame, which is not shown. @param {number} frame @returns {Promise<ImageBitmap>} */
  picture(frame) {
    return this.source ? this.source.frame(frame) : Promise.reject(new Error("nothing is open"));
  }

  /** Of how many lines the best file is that is there; fewer than the media's while it is transcoded. */
  get lines() {
    return this.qualities[0] ?? this.media?.height ?? 0;
  }

  /** Take over files that were added since the media was opened. Whether there were any. */
  async refresh() {
    const before = this.lines;
    this.media = await this.access.reload();
    if (this.lines <= before) return false;
    await this.setQuality(this.quality);
    return true;
  }

  /** @param {number} count */
  step(count) {
    this.pause();
    return this.seek(this.target + count);
  }

  /** @param {number} [direction] 1 forward, -1 backward */
  play(direction = 1) {
    if (this.frames < 2) return;
    const [first, last] = this.range();
    if (direction > 0 && this.target >= last) this.target = first;
    else if (direction < 0 && this.target <= first) this.target = last;
    this.direction = Math.sign(direction);
    this.began = { at: performance.now(), frame: this.target };
    cancelAnimationFrame(this.ticking);
    this.ticking = requestAnimationFrame(() => this.#tick());
    this.#tell("state");
  }

  pause() {
    if (!this.isPlaying) return;
    this.direction = 0;
    this.isStalled = false;
    cancelAnimationFrame(this.ticking);
    this.target = Math.max(0, this.frame);
    this.#tell("state");
  }

  toggle() {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  /** @param {number} speed times the media's rate */
  setSpeed(speed) {
    this.speed = speed;
    this.began = { at: performance.now(), frame: this.target };
    this.#tell("state");
  }

  /** @param {number} steps up or down among SPEEDS */
  changeSpeed(steps) {
    const at = SPEEDS.findIndex((speed) => speed >= this.speed);
    this.setSpeed(SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at + steps))]);
  }

  /** @param {[number, number] | null} range */
  setLoop(range) {
    this.loop = range && [Math.max(0, Math.min(...range)), Math.min(this.frames - 1, Math.max(...range))];
    this.#tell("state");
  }

  /** First and last frame that are played. */
  range() {
    return this.loop ?? [0, this.frames - 1];
  }

  close() {
    this.pause();
    this.source?.close();
    this.source = null;
  }

  /** Show the frame whose time has come; without its picture the clock waits. */
  #tick() {
    if (!this.isPlaying || !this.source) return;
    this.ticking = requestAnimationFrame(() => this.#tick());
    const [first, last] = this.range();
    const elapsed = (performance.now() - this.began.at) / 1000;
    let due = this.began.frame + this.direction * Math.floor(elapsed * this.fps * this.speed);
    if (due > last || due < first) {
      if (!this.loop) {
        due = due > last ? last : first;
      } else {
        due = due > last ? first : last;
        this.began = { at: performance.now(), frame: due };
      }
    }
    this.target = due;
    this.source.prepare(due, this.direction);
    const picture = this.source.get(due);
    if (picture) {
      this.#stall(false);
      if (due !== this.frame) this.#show(due, picture);
      if (!this.loop && due === (this.direction > 0 ? last : first)) this.pause();
      return;
    }
    this.#stall(true);
    this.began = { at: performance.now(), frame: due };
    if (this.source.name !== "codecs") this.#wait(due);
    else this.source.frame(due).catch((/** @type {unknown} */ error) => this.isPlaying && this.#fall(error));
  }

  /** Sources that do not read ahead: ask for one picture at a time while playing. */
  #wait(/** @type {number} */ due) {
    if (this.asked) return;
    this.asked = true;
    const source = this.source;
    source
      .frame(due)
      .then((/** @type {ImageBitmap} */ picture) => {
        if (!this.isPlaying || source !== this.source) return;
        this.#show(due, picture);
        this.began = { at: performance.now() - 1000 / (this.fps * this.speed), frame: due };
      })
      .catch(() => undefined)
      .finally(() => (this.asked = false));
  }

  #stall(/** @type {boolean} */ isStalled) {
    if (isStalled === this.isStalled) return;
    this.isStalled = isStalled;
    this.#tell("state");
  }

  #show(/** @type {number} */ frame, /** @type {ImageBitmap} */ picture) {
    if (this.canvas.width !== picture.width || this.canvas.height !== picture.height) {
      this.canvas.width = picture.width;
      this.canvas.height = picture.height;
    }
    this.context.drawImage(picture, 0, 0);
    this.frame = frame;
    this.#tell("frame");
  }

  /** The next way, after the present one failed. */
  async #fall(/** @type {unknown} */ error) {
    const rest = this.ways.slice(this.ways.indexOf(this.source?.name) + 1);
    const wasPlaying = this.direction;
    if (!rest.length || this.source?.name === "image") return this.#fail(error);
    await this.#connect(rest);
    await this.seek(this.target);
    if (wasPlaying) this.play(wasPlaying);
  }

  #fail(/** @type {unknown} */ error) {
    this.pause();
    this.dispatchEvent(new CustomEvent("error", { detail: error }));
  }

  /** The file to play: the smallest that fills the canvas, or the one nearest to the quality asked for. */
  #choose() {
    const height =
      this.quality ??
      (this.canvas.parentElement?.clientHeight ?? this.canvas.clientHeight) * (globalThis.devicePixelRatio || 1) * 0.9;
    const files = [...(this.media?.media_files?.streaming ?? [])].sort(
      (one, two) => one.resolution[0] - two.resolution[0],
    );
    const enough = files.filter((file) => file.resolution[0] >= height);
    return [...enough, ...files.filter((file) => file.resolution[0] < height).reverse()];
  }

  async #connect(/** @type {string[]} */ ways) {
    this.source?.close();
    this.source = null;
    /** @type {string[]} why earlier ways did not work */
    this.reasons = [];
    const image = this.media?.media_files?.image?.[0];
    const files = this.#choose();
    const attempts = [];
    if (image) attempts.push(() => ImageSource.open(image.path));
    for (const way of image ? ["service"] : ways) {
      if (way === "service")
        attempts.push(async () => new ServiceSource(this.access.fetchFrame, this.frames, this.quality ?? undefined));
      else
        for (const file of files)
          attempts.push(
            way === "codecs"
              ? () => FragmentSource.open(file, () => this.#renew(file))
              : () => ElementSource.open(file, this.fps, this.frames),
          );
    }
    for (const attempt of attempts)
      try {
        this.source = await attempt();
        break;
      } catch (error) {
        this.reasons.push(String(error));
      }
    if (!this.source) this.#fail(new Error(this.reasons.join("; ")));
    this.#tell("state");
  }

  /** The same file with fresh URLs. */
  async #renew(/** @type {any} */ file) {
    this.media = await this.access.reload();
    const files = this.media.media_files?.streaming ?? [];
    const bare = (/** @type {string} */ url) => url.split("?")[0];
    return files.find((each) => bare(each.path) === bare(file.path)) ?? file;
  }

  #tell(/** @type {string} */ name) {
    this.dispatchEvent(new Event(name));
  }
}
