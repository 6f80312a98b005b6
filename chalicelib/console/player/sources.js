/** Other ways to a frame: a video element that seeks to its middle, pictures made by the service, and images. */

import { Pictures } from "./pictures.js";
import { Unsupported } from "./fragments.js";

/** @typedef {import("./ranges.js").StreamingFile} StreamingFile */

const SERVICE_BUDGET = 96 * 1024 * 1024;
const PATIENCE_MS = 20_000;
const PRESENT_MS = 3000;

/** Resolves with an event of an element; rejects on its error, or when it does not come. */
function once(/** @type {HTMLElement} */ element, /** @type {string} */ name) {
  return new Promise((resolve, reject) => {
    const watch = new AbortController();
    const end = (/** @type {() => void} */ act) => {
      clearTimeout(timer);
      watch.abort();
      act();
    };
    const timer = setTimeout(() => end(() => reject(new Unsupported(`${name} did not happen`))), PATIENCE_MS);
    const failed = () => end(() => reject(new Unsupported("the browser cannot play the file")));
    element.addEventListener(name, () => end(() => resolve(undefined)), { signal: watch.signal });
    element.addEventListener("error", failed, { signal: watch.signal });
  });
}

/** One request after the other; of those that wait only the last one is carried out. */
class Latest {
  constructor(/** @type {(frame: number) => Promise<ImageBitmap>} */ work) {
    this.work = work;
    /** @type {Promise<unknown>} */
    this.running = Promise.resolve();
    this.wanted = -1;
  }

  /** @param {number} frame */
  ask(frame) {
    this.wanted = frame;
    const turn = this.running.then(() => {
      if (this.wanted !== frame) throw new DOMException("another frame was asked for", "AbortError");
      return this.work(frame);
    });
    this.running = turn.catch(() => undefined);
    return turn;
  }
}

/** Frames that are made one at a time when they are asked for, and kept. */
class OnDemand {
  /**
   * @param {string} name
   * @param {number} frames
   * @param {Pictures} pictures
   * @param {(frame: number) => Promise<ImageBitmap>} make
   */
  constructor(name, frames, pictures, make) {
    this.name = name;
    this.frames = frames;
    this.pictures = pictures;
    this.latest = new Latest(async (frame) => {
      const picture = await make(frame);
      pictures.add(frame, picture);
      return picture;
    });
  }

  /** @param {number} frame */
  get(frame) {
    return this.pictures.get(frame);
  }

  /** @param {number} frame */
  frame(frame) {
    this.pictures.centre = frame;
    const picture = this.pictures.get(frame);
    return picture ? Promise.resolve(picture) : this.latest.ask(frame);
  }

  prepare() {}

  close() {
    this.pictures.clear();
  }
}

/** Frames by a `<video>` that is set to (n + ½) / fps. */
export class ElementSource extends OnDemand {
  /**
   * @param {StreamingFile} file
   * @param {number} fps
   * @param {number} frames
   */
  static async open(file, fps, frames) {
    const video = document.createElement("video");
    const mime = file.codec_mime || "video/mp4";
    if (file.codec_mime && !video.canPlayType(mime)) throw new Unsupported(`the browser does not play ${mime}`);
    Object.assign(video, { crossOrigin: "anonymous", muted: true, preload: "auto", playsInline: true });
    const loaded = once(video, "loadeddata");
    video.src = file.path;
    await loaded;
    if (!("requestVideoFrameCallback" in video)) throw new Unsupported("the browser does not say which frame it shows");
    if (!video.videoWidth) throw new Unsupported("the browser shows no picture of the file");
    return new ElementSource(video, fps, frames);
  }

  constructor(/** @type {HTMLVideoElement} */ video, /** @type {number} */ fps, /** @type {number} */ frames) {
    super("video", frames, new Pictures(), (frame) => this.#seek(frame));
    this.video = video;
    this.fps = fps;
    this.presented = -1;
  }

  close() {
    this.video.removeAttribute("src");
    this.video.load();
    super.close();
  }

  /** Seek, and take the picture when the browser says that it presents this frame: `seeked` comes earlier. */
  async #seek(/** @type {number} */ frame) {
    if (frame !== this.presented) {
      const presents = this.#presents(frame);
      this.video.currentTime = (frame + 0.5) / this.fps;
      await presents;
      this.presented = frame;
    }
    return createImageBitmap(this.video);
  }

  /** Resolves when the element presents a frame; rejects where it presents another one, or none. */
  async #presents(/** @type {number} */ frame) {
    const { promise, resolve, reject } = Promise.withResolvers();
    const timer = setTimeout(() => reject(new Unsupported(`the browser does not present frame ${frame}`)), PRESENT_MS);
    const look = (/** @type {number} */ _now, /** @type {VideoFrameCallbackMetadata} */ { mediaTime }) => {
      if (Math.round(mediaTime * this.fps) === frame) resolve(undefined);
      else handle = this.video.requestVideoFrameCallback(look);
    };
    let handle = this.video.requestVideoFrameCallback(look);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.video.cancelVideoFrameCallback(handle);
    }
  }
}

/** Frames as pictures of `GetFrame`: slow, and works everywhere. */
export class ServiceSource extends OnDemand {
  /**
   * @param {(frame: number, quality?: number) => Promise<Blob>} fetchFrame asks GetFrame
   * @param {number} frames
   * @param {number} [quality] height of the streaming file
   */
  constructor(fetchFrame, frames, quality) {
    super("service", frames, new Pictures(SERVICE_BUDGET), async (frame) =>
      createImageBitmap(await fetchFrame(frame, quality)),
    );
  }
}

/** An image: one frame. */
export class ImageSource {
  /** @param {string} url presigned */
  static async open(url) {
    const answer = await fetch(url, { credentials: "omit" });
    if (!answer.ok) throw new Unsupported(`the store answered ${answer.status}`);
    return new ImageSource(await createImageBitmap(await answer.blob()));
  }

  constructor(/** @type {ImageBitmap} */ picture) {
    this.name = "image";
    this.frames = 1;
    this.picture = picture;
  }

  get() {
    return this.picture;
  }

  frame() {
    return Promise.resolve(this.picture);
  }

  prepare() {}

  close() {
    this.picture.close();
  }
}
