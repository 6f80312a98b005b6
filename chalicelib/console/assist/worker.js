// The tracker beside the page: gets pictures of frames, one after the other, and answers where the object is.
//
// A message with `begin` has the first picture, and the size and pose of the object; every other one has the next picture.

import { blank, grayOf } from "./gray.js";
import { Tracker } from "./tracker.js";

/** @typedef {{frame: number, picture: ImageBitmap, begin?: {size: import("./template.js").Size, pose: import("./template.js").Pose}}} Question */

/** @type {Map<number, ImageBitmap>} the pictures of two frames */
const pictures = new Map();
/** @type {Tracker | null} */
let tracker = null;
const canvas = new OffscreenCanvas(1, 1);
const context = /** @type {OffscreenCanvasRenderingContext2D} */ (
  canvas.getContext("2d", { willReadFrequently: true, alpha: false })
);

/** A part of a picture, scaled; outside of the picture its border goes on. @type {import("./tracker.js").Cut} */
function cut(frame, rect, width, height) {
  const picture = /** @type {ImageBitmap} */ (pictures.get(frame));
  const [left, top] = [Math.max(0, rect.x), Math.max(0, rect.y)];
  const wide = Math.min(picture.width, rect.x + rect.width) - left;
  const high = Math.min(picture.height, rect.y + rect.height) - top;
  const [across, down] = [width / rect.width, height / rect.height];
  const inside = { width: Math.max(2, Math.round(wide * across)), height: Math.max(2, Math.round(high * down)) };
  const shift = { x: Math.round((left - rect.x) * across), y: Math.round((top - rect.y) * down) };
  if (canvas.width < inside.width || canvas.height < inside.height)
    Object.assign(canvas, {
      width: Math.max(canvas.width, inside.width),
      height: Math.max(canvas.height, inside.height),
    });
  context.imageSmoothingQuality = "medium";
  context.drawImage(picture, left, top, wide, high, 0, 0, inside.width, inside.height);
  const gray = grayOf(context.getImageData(0, 0, inside.width, inside.height));
  if (inside.width === width && inside.height === height) return gray;
  const whole = blank(width, height);
  for (let y = 0, to = 0; y < height; y += 1) {
    const row = Math.min(inside.height - 1, Math.max(0, y - shift.y)) * inside.width;
    for (let x = 0; x < width; x += 1, to += 1)
      whole.data[to] = gray.data[row + Math.min(inside.width - 1, Math.max(0, x - shift.x))];
  }
  return whole;
}

onmessage = (/** @type {MessageEvent<Question>} */ { data: { frame, picture, begin } }) => {
  pictures.set(frame, picture);
  if (begin) {
    const size = { ...begin.size, pictureWidth: picture.width, pictureHeight: picture.height };
    tracker = new Tracker(cut, size, frame, begin.pose);
    return postMessage({ frame, pose: begin.pose, score: 1 });
  }
  const before = /** @type {Tracker} */ (tracker).frame;
  const found = /** @type {Tracker} */ (tracker).next(frame);
  if (!("reason" in found)) {
    pictures.get(before)?.close();
    pictures.delete(before);
  }
  return postMessage({ frame, ...found });
};
