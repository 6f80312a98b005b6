// The first two cameras warped so that what both see is on the same row, over their pictures; rows of marks and pointer.
import { get } from "../client.js";
import { html, useEffect, useMemo, useRef, useState } from "../lib.js";
import { shownAt, trianglesOf, warper } from "../player/warp.js";
import { annotate as words } from "../strings_annotate.js";
import { Await, useAsync } from "../ui/states.js";

/** @typedef {import("../player/warp.js").Point} Point */
/** @typedef {{rig: import("./annotate_cameras.js").Rig, session: import("../draw/session.js").Session}} Props */

/** @param {Props} props */
export function Rectified({ rig, session }) {
  const { cameras, calibration } = rig;
  const key = calibration.chosen?.key;
  const found = useAsync(
    (signal) => get(`StereoRectification/${cameras.media.id}`, { ...calibration.chosen?.query }, { signal }),
    [cameras.media.id, key],
  );
  return html`<div class="rectified" role="group" aria-label=${words.stereo.rectified}><${Await} of=${found}>${(
    /** @type {import("../player/warp.js").Rectification} */ map,
  ) => html`<${Pair} key=${key} map=${map} rig=${rig} session=${session} />`}<//></div>`;
}

/** @param {Props & {map: import("../player/warp.js").Rectification}} props */
function Pair({ map, rig, session }) {
  const [marks, setMarks] = useState(/** @type {Point[][]} */ ([[], []]));
  const [pointer, setPointer] = useState(/** @type {number | null} */ (null));
  const [isLost, setLost] = useState(false);
  const canvases = useRef(/** @type {HTMLCanvasElement[]} */ ([]));
  const triangles = useMemo(() => [0, 1].map((side) => trianglesOf(map, side)), [map]);
  const latest = useRef(rig);
  latest.current = rig;
  useEffect(() => {
    const draw = canvases.current.map((canvas, side) => warper(canvas, triangles[side]));
    setLost(draw.some((each) => !each));
    let [ticking, before] = [0, ""];
    const tick = () => {
      ticking = requestAnimationFrame(tick);
      const { cameras, active, players, seen } = latest.current;
      const frame = session.frame.peek();
      const due = [0, 1].map((side) => (side === active ? frame : cameras.shown(side, active, frame)));
      const shown = [0, 1].map((side) => (side === active ? session.player : players.current[side]));
      const now = JSON.stringify([due, shown.map((each) => [each?.frame, each?.canvas.width]), seen.current]);
      if (now === before) return;
      before = now;
      for (const side of [0, 1]) {
        const player = shown[side];
        draw[side]?.(player && player.frame >= 0 && due[side] !== null ? player.canvas : null);
        canvases.current[side].dataset.frame = String(player?.frame ?? "");
      }
      const places = seen.current.map((each, side) =>
        each && each.frame === due[side] ? each.ends.map((end) => shownAt(triangles[side], end)) : [],
      );
      setMarks(places.map((each) => /** @type {Point[]} */ (each.filter(Boolean))));
    };
    tick();
    return () => cancelAnimationFrame(ticking);
  }, [triangles, session]);
  const [wide, high] = map.size;
  const across = map.is_vertical ? wide : high;
  const onMove = (/** @type {PointerEvent} */ event) => {
    const svg = /** @type {SVGSVGElement} */ (event.currentTarget);
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM()?.inverse());
    setPointer((map.is_vertical ? at.x : at.y) / across);
  };
  const line = (/** @type {number} */ share, /** @type {string} */ kind) =>
    map.is_vertical
      ? html`<line class=${kind} x1=${share * wide} x2=${share * wide} y1="0" y2=${high} />`
      : html`<line class=${kind} x1="0" x2=${wide} y1=${share * high} y2=${share * high} />`;
  const layout = map.is_vertical ? { gridTemplateRows: "1fr 1fr" } : { gridTemplateColumns: "1fr 1fr" };
  if (isLost) return html`<p class="note bad" role="alert">${words.stereo.noGraphics}</p>`;
  return html`<div class="rectified-pair" style=${layout}>${[0, 1].map(
    (side) => html`<div class="rectified-camera" key=${side}>
      <canvas ref=${(/** @type {HTMLCanvasElement | null} */ each) => {
        if (each) canvases.current[side] = each;
      }} width=${wide} height=${high} aria-label=${words.stereo.rectifiedOf(rig.cameras.parts[side].name)} role="img" />
      <svg viewBox=${`0 0 ${wide} ${high}`} onPointerMove=${onMove} onPointerLeave=${() => setPointer(null)} aria-hidden="true">
        ${marks[0].map((place) => line(place[map.is_vertical ? 0 : 1], "epipolar"))}
        ${marks[side].map(([x, y]) => html`<circle cx=${x * wide} cy=${y * high} r=${wide / 200} />`)}
        ${pointer !== null && line(pointer, "pointer")}</svg>
      <span class="camera-name cut">${words.stereo.rectifiedOf(rig.cameras.parts[side].name)}</span></div>`,
  )}</div>`;
}
