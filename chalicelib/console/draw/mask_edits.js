// Changes of whole masks: from polygons and back, joined, cut, and found by the colors of the picture in a box.

import { pictureOf } from "../assist/path.js";
import { outlinesOf } from "../masks/outline.js";
import { Region } from "../masks/region.js";
import { shapes as words } from "../strings_shapes.js";
import { keyOf } from "./document.js";
import { boundsOf } from "./geometry.js";
import { regionOf, shapeOf } from "./paint.js";

/**
 * @typedef {import("./session.js").Session} Session
 * @typedef {import("./document.js").Row} Row
 * @typedef {import("./document.js").Edit} Edit
 * @typedef {import("./geometry.js").Shape} Shape
 */

/** The longest side at which a box is looked at. */
const FINEST = 480;
/** How much of its surroundings is looked at, as a share of a box. */
const MARGIN = 0.25;

const has = (/** @type {Session} */ session, /** @type {Row} */ row) =>
  Boolean(session.typeOf(row)?.refinements?.includes("mask"));

/** Make masks of the selected polygons, and polygons of the selected masks. @param {Session} session */
export function convert(session) {
  const { size } = session.paint;
  const polygons = session.drawable.filter(
    (/** @type {any} */ type) => type.dtype === "poly" && !type.refinements?.includes("skeleton"),
  );
  const holed = polygons.find((/** @type {any} */ type) => type.refinements?.includes("holes"));
  /** @type {[string, Row[]][]} */
  const made = [];
  for (const [key, row] of session.shapes()) {
    const shape = /** @type {Shape} */ (row.shape);
    if (session.kindOf(row) === "poly" && !shape.visible && shape.closed !== false) {
      const [type] = session.maskTypes;
      if (!type) return session.say(words.noMaskType);
      const mask = shapeOf(regionOf("poly", shape, size), session.say);
      if (mask) made.push([key, [as(session, row, type, mask)]]);
    } else if (shape.mask) {
      const type = holed ?? polygons[0];
      if (!type) return session.say(words.noPolygonType);
      const found = outlinesOf(regionOf("box", shape, size)).map(({ ring, holes }) => {
        const unit = (/** @type {import("../masks/region.js").Pixel[]} */ points) =>
          points.map(({ x, y }) => [x / size.width, y / size.height]);
        return as(session, row, type, {
          points: unit(ring),
          ...(holed && holes.length && { holes: holes.map(unit) }),
        });
      });
      if (found.length) made.push([key, found]);
    }
  }
  if (!made.length) return session.say(words.convertWhat);
  const removed = session.hand.removal(made.map(([key]) => key));
  const edits = made.flatMap(([, rows]) => rows.map((row) => /** @type {Edit} */ ([keyOf(row), row])));
  session.doc.change(words.steps.convert, [...removed, ...edits]);
  return session.select(edits.map(([key]) => key));
}

/** A row of another type with the attributes that both have. @param {Session} session @param {Row} row @param {any} type @param {Shape} shape @returns {Row} */
function as(session, row, type, shape) {
  const attributes = session.hand.defaults(type);
  for (const { name } of type.attribute_types ?? [])
    if (row.attributes[name] !== undefined) attributes[name] = row.attributes[name];
  const version = session.layer.peek();
  return {
    kind: "localization",
    type: type.id,
    version,
    elemental: crypto.randomUUID(),
    frame: row.frame,
    shape,
    attributes,
  };
}

/** Join the selected masks into the first, or take the others away from it, which then stay. @param {Session} session @param {"join" | "cut"} how */
export function combine(session, how) {
  const chosen = session.shapes().filter(([, row]) => has(session, row) && session.kindOf(row) === "box");
  if (chosen.length < 2) return session.say(words.combineWhat);
  const [[key, first], ...others] = chosen;
  const { size } = session.paint;
  const region = regionOf("box", first.shape ?? {}, size).copy();
  for (const [, row] of others) region[how](regionOf("box", row.shape ?? {}, size));
  const shape = shapeOf(region, session.say);
  if (!shape) return undefined;
  const removed = how === "join" ? session.hand.removal(others.map(([each]) => each)) : [];
  session.hand.reshape(new Map([[key, shape]]), words.steps[how], false, removed);
  return undefined;
}

/** Find the object in the selected box by its colors, in a worker. @param {Session} session */
export async function findEdges(session) {
  const chosen = session.shapes().filter(([, row]) => session.kindOf(row) === "box" && has(session, row));
  const { player } = session;
  if (chosen.length !== 1 || !player) return session.say(words.edgesWhat);
  const [[key, row]] = chosen;
  const { size } = session.paint;
  const box = boundsOf("box", row.shape ?? {}, size);
  const picture = await pictureOf(player, row.frame ?? 0);
  const worker = new Worker(new URL("../masks/worker.js", import.meta.url), { type: "module" });
  try {
    const cut = {
      left: Math.max(0, box.x - box.width * MARGIN),
      top: Math.max(0, box.y - box.height * MARGIN),
      right: Math.min(1, box.x + box.width * (1 + MARGIN)),
      bottom: Math.min(1, box.y + box.height * (1 + MARGIN)),
    };
    /** @type {Promise<Uint8Array>} */
    const answered = new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (event) => reject(new Error(event.message));
    });
    const area = {
      left: Math.round(box.x * size.width),
      top: Math.round(box.y * size.height),
      right: Math.round((box.x + box.width) * size.width),
      bottom: Math.round((box.y + box.height) * size.height),
    };
    worker.postMessage(
      { picture, cut, box, finest: FINEST, made: { width: area.right - area.left, height: area.bottom - area.top } },
      [picture],
    );
    const shape = shapeOf(Region.ofBits(await answered, area, size), () => session.say(words.noEdges));
    // the person may have changed it meanwhile
    if (shape && session.trackSet.row(key)?.shape === row.shape)
      session.hand.reshape(new Map([[key, shape]]), words.steps.edges);
  } catch (failure) {
    session.say(words.edgesFailed(String(/** @type {Error} */ (failure).message ?? failure)));
  } finally {
    worker.terminate();
  }
  return undefined;
}
