// Follow an object through the frames of the player: pictures go to the worker one ahead of the other.

/**
 * @typedef {import("./template.js").Pose} Pose
 * @typedef {import("./template.js").Size} Size
 * @typedef {{poses: [number, Pose][], stop: {reason: import("./tracker.js").Reason | "asked" | "limit", frame: number}}} Followed
 *   the pose on each frame, the first one among them; why and on which frame it ended, the first that has none
 */

const AHEAD = 2;
const TRIES = 40;
const PAUSE_MS = 50;

/**
 * The picture of a frame as the player decoded it, for good.
 * @param {import("../player/player.js").Player} player @param {number} frame @param {Size} [size] where a finer file is played meanwhile, its pictures are made as large as those before
 * @returns {Promise<ImageBitmap>}
 */
export async function pictureOf(player, frame, size, tries = TRIES) {
  try {
    const found = await player.picture(frame);
    if (!size || (found.width === size.width && found.height === size.height)) return await createImageBitmap(found);
    return await createImageBitmap(found, { resizeWidth: size.width, resizeHeight: size.height });
  } catch (error) {
    // the person looked at another frame meanwhile, so that this one was given up or let go, or another file is opened
    if (tries <= 1) throw error;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    return pictureOf(player, frame, size, tries - 1);
  }
}

/**
 * @param {import("../player/player.js").Player} player
 * @param {{frame: number, stop: number, begin: (picture: Size) => {size: Size, pose: Pose}, onStep: (frame: number) => void, signal: AbortSignal}} what
 *   from a frame to another one, before or behind it; `begin` tells the object in the picture of the first frame
 * @returns {Promise<Followed & {picture: Size}>}
 */
export async function followPath(player, { frame: first, stop, begin, onStep, signal }) {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  const direction = Math.sign(stop - first);
  const { promise: broken, reject } = Promise.withResolvers();
  broken.catch(() => undefined);
  worker.onerror = (event) => reject(new Error(event.message));
  /** @type {((answer: any) => void)[]} */
  const waiting = [];
  worker.onmessage = ({ data }) => waiting.shift()?.(data);
  const ask = (/** @type {any} */ question) => {
    const answered = new Promise((resolve) => waiting.push(resolve));
    worker.postMessage(question, [question.picture]);
    return /** @type {Promise<any>} */ (Promise.race([answered, broken]));
  };
  try {
    const picture = await pictureOf(player, first);
    const size = { width: picture.width, height: picture.height };
    /** @type {[number, Pose][]} */
    const poses = [];
    /** @type {Promise<any>[]} */
    const asked = [ask({ frame: first, picture, begin: begin(size) })];
    const end = (/** @type {Followed["stop"]["reason"]} */ reason, /** @type {number} */ frame) => ({
      poses: poses.filter(([each]) => (frame - each) * direction > 0),
      stop: { reason, frame },
      picture: size,
    });
    let next = first;
    while (asked.length) {
      while (asked.length <= AHEAD && next !== stop) {
        next += direction;
        player.source?.prepare(next, direction);
        asked.push(ask({ frame: next, picture: await pictureOf(player, next, size) }));
      }
      const { frame, pose, reason, since } = await /** @type {Promise<any>} */ (asked.shift());
      if (reason) return end(reason, since);
      poses.push([frame, pose]);
      onStep(frame);
      if (signal.aborted) return end("asked", frame + direction);
    }
    return end("end", stop + direction);
  } finally {
    worker.terminate();
  }
}
