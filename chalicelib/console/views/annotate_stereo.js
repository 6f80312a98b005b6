// Lengths while they are drawn: the shape of the left camera is kept, and measured with the one in hand on the right camera.
import { post } from "../client.js";
import { inHand } from "../draw/in_hand.js";
import { effect, html, useEffect, useState } from "../lib.js";
import { annotate as words } from "../strings_annotate.js";
import { decimal } from "../ui/format.js";
import { explain } from "../ui/toast.js";

const PAUSE_MS = 120;

/** @typedef {[number, number][]} Ends a dot or the ends of a line, in fractions of the picture */
/** @typedef {{frame: number, ends: Ends} | null} Seen */

/** @param {string} kind @param {any} shape @returns {Ends | null} */
function endsOf(kind, shape) {
  if (!shape || typeof shape.x !== "number") return null;
  if (kind === "dot") return [[shape.x, shape.y]];
  return kind === "line"
    ? [
        [shape.x, shape.y],
        [shape.x + shape.u, shape.y + shape.v],
      ]
    : null;
}

/** The measure, in the bar of the cameras. @param {{rig: import("./annotate_cameras.js").Rig, session: import("../draw/session.js").Session}} props */
export function Stereo({ rig, session }) {
  const { cameras, active, seen, guides } = rig;
  const given = rig.calibration.chosen?.query;
  const used = rig.calibration.chosen?.key;
  const [said, setSaid] = useState(/** @type {{measure?: any, failure?: any}} */ ({}));
  useEffect(() => {
    if (!used || active > 1) return undefined;
    /** @type {any} */
    let timer;
    let asked = "";
    const ask = async () => {
      const held = inHand(session),
        ends = held && endsOf(held.kind, held.shape),
        frame = session.frame.peek();
      if (ends) seen.current = seen.current.map((each, at) => (at === active ? { frame, ends } : each));
      const [left, right] = seen.current.map((each, at) =>
        each && each.frame === (at === active ? frame : cameras.shown(at, active, frame)) ? each.ends : null,
      );
      const body = left && { ...given, left, right: right?.length === left.length ? right : null };
      const key = JSON.stringify(body);
      if (key === asked) return;
      asked = key;
      if (!body) {
        guides.value = [];
        setSaid({});
        return;
      }
      try {
        const measure = await post(`StereoMeasure/${cameras.media.id}`, body);
        if (key !== asked) return;
        guides.value = measure.epipolar;
        setSaid({ measure });
      } catch (failure) {
        if (key === asked) setSaid({ failure });
      }
    };
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(ask, PAUSE_MS);
    };
    const stop = effect(() => {
      session.selected.value;
      session.revision.value;
      session.frame.value;
      if (session.isShown.value && session.stage) session.stage.onDraw = soon;
      soon();
    });
    const stopGuides = effect(() => {
      if (session.isShown.value && session.stage) session.stage.guides = active === 1 ? guides.value : [];
      session.stage?.invalidate();
    });
    return () => {
      stop();
      stopGuides();
      clearTimeout(timer);
      if (session.stage) session.stage.onDraw = null;
    };
  }, [used, active, session, cameras]);
  if (!used || active > 1) return null;
  const { measure, failure } = said;
  return html`<output class="stereo number" aria-label=${words.stereo.name}>${
    failure
      ? explain(failure)
      : typeof measure?.range === "number"
        ? [
            typeof measure.length === "number" && words.stereo.length(decimal(measure.length, 4)),
            words.stereo.range(decimal(measure.range, 3)),
            words.stereo.error(decimal(measure.error, 2)),
          ]
            .filter(Boolean)
            .join(" · ")
        : measure
          ? words.stereo.partner
          : words.stereo.lead
  }</output>`;
}

/** The epipolar lines over the right camera while it follows. @param {{rig: import("./annotate_cameras.js").Rig, part: any}} props */
export function Guides({ rig, part }) {
  const lines = rig.guides.value;
  const [wide, high] = [part.width || 1, part.height || 1];
  return (
    lines.length > 0 &&
    html`<svg class="guides" viewBox=${`0 0 ${wide} ${high}`} aria-hidden="true">${lines.map((line, at) => html`<polyline key=${at} points=${line.map(([x, y]) => `${x * wide},${y * high}`).join(" ")} />`)}</svg>`
  );
}
