// Cameras beside each other: the active one takes the tools, the others follow it by time.
import { get, patch, request } from "../client.js";
import { classes, effect, html, signal, useEffect, useRef, useState } from "../lib.js";
import { setQuery } from "../router.js";
import { may } from "../store.js";
import { annotate as words } from "../strings_annotate.js";
import { shapes } from "../strings_shapes.js";
import { Button, CommittedInput, Select } from "../ui/controls.js";
import { Await, useAsync } from "../ui/states.js";
import { toast, toastError } from "../ui/toast.js";
import { Cameras } from "../player/cameras.js";
import { Player } from "../player/player.js";
import { CalibrationSelect, useCalibration } from "../draw/calibrations.js";
import { Rectified } from "./annotate_rectified.js";
import { Guides, Stereo } from "./annotate_stereo.js";

const DAY = 86400;

/**
 * @typedef {object} Rig
 * @property {Cameras} cameras
 * @property {number} active the part with the tools
 * @property {(part: number, shown: number) => void} activate a part, while the active one shows a frame
 * @property {import("../lib.js").Signal<(number | null)[]>} marks the frame marked in each part
 * @property {{current: import("./annotate_stereo.js").Seen[]}} seen what was drawn last on each of the first two parts
 * @property {import("../lib.js").Signal<number[][][]>} guides epipolar lines of the second part
 * @property {{current: Player[]}} players of the parts that follow
 * @property {ReturnType<typeof useCalibration>} calibration of the first two parts
 * @property {import("../lib.js").Signal<boolean>} rectified whether these are shown rectified
 * @property {(change: {frameOffset?: number[], layout?: number[]}, pinned?: Cameras["pinned"]) => void} change store it
 */

/** @param {{media: any, query: any, render: (part: any, rig: Rig) => any}} props `render` gives the view of the active part */
export function SideBySide({ media, query, render }) {
  const found = useAsync(() => Cameras.read(media, DAY), [media]);
  return html`<${Await} of=${found}>${(/** @type {Cameras} */ cameras) => html`<${Active} key=${media.id} cameras=${cameras} query=${query} render=${render} />`}<//>`;
}

/** @param {{cameras: Cameras, query: any, render: (part: any, rig: Rig) => any}} props */
function Active({ cameras, query, render }) {
  const [present, setPresent] = useState(cameras);
  const [marks] = useState(() => signal(/** @type {(number | null)[]} */ (cameras.parts.map(() => null))));
  const [guides] = useState(() => signal(/** @type {number[][][]} */ ([])));
  const [rectified] = useState(() => signal(false));
  const players = useRef(/** @type {Player[]} */ ([]));
  const calibration = useCalibration(cameras.media);
  const seen = useRef(/** @type {import("./annotate_stereo.js").Seen[]} */ ([null, null]));
  const active = Math.min(Number(query.part) || 0, cameras.parts.length - 1);
  const change = async (
    /** @type {{frameOffset?: number[], layout?: number[]}} */ multi,
    /** @type {Cameras["pinned"]} */ pinned = null,
  ) => {
    const files = { ...present.media.media_files, ...multi };
    const after = new Cameras({ ...present.media, media_files: files }, present.parts, present.clocks);
    after.pinned = pinned;
    setPresent(after);
    if (may("Can Edit")) await patch(`Media/${present.media.id}`, { multi }).catch(toastError);
  };
  const activate = (/** @type {number} */ part, /** @type {number} */ shown) => {
    const frame = present.nearest(part, active, shown);
    if (present.shown(part, active, shown) !== null) present.pin(part, frame, active, shown);
    setQuery({ part: part || "", frame: frame || "" });
  };
  return render(present.parts[active], {
    ...{ cameras: present, active, activate, marks, seen, guides, change },
    ...{ players, calibration, rectified },
  });
}

/** The pictures in their layout; `stage` is that of the active part. @param {{rig: Rig, session: import("../draw/session.js").Session, stage: any}} props */
export function Pictures({ rig, session, stage }) {
  const [rows, columns] = rig.cameras.layout;
  const style = { gridTemplate: `repeat(${rows}, minmax(0, 1fr)) / repeat(${columns}, minmax(0, 1fr))` };
  return html`<div class="cameras" style=${style}>${rig.cameras.parts.map((part, at) =>
    at === rig.active ? stage : html`<${Follower} key=${part.id} rig=${rig} at=${at} session=${session} />`,
  )}${rig.rectified.value && rig.calibration.chosen && html`<${Rectified} rig=${rig} session=${session} />`}</div>`;
}

/** A camera that follows the active one; a click makes it the active one. @param {{rig: Rig, at: number, session: import("../draw/session.js").Session}} props */
function Follower({ rig, at, session }) {
  const part = rig.cameras.parts[at];
  const root = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const latest = useRef(rig);
  const follow = useRef(/** @type {() => void} */ (() => {}));
  latest.current = rig;
  useEffect(() => {
    const button = /** @type {HTMLButtonElement} */ (root.current);
    const player = new Player(/** @type {HTMLCanvasElement} */ (canvas.current), {
      reload: () => get(`Media/${part.id}`, { presigned: DAY, no_cache: true }),
      fetchFrame: (frame, quality) =>
        request("GET", `GetFrame/${part.id}`, {
          query: { frames: frame, quality, format: "jpg" },
          as: "blob",
          accept: "*/*",
        }),
    });
    rig.players.current[at] = player;
    let isOpen = false;
    const show = (/** @type {number} */ frame) => {
      const { cameras, active } = latest.current;
      const own = cameras.shown(at, active, frame);
      button.dataset.due = String(own ?? "");
      button.classList.toggle("none", own === null);
      if (!isOpen || own === null) return;
      if (session.player?.isPlaying) player.source?.prepare?.(own, session.player.direction);
      if (own !== player.frame || own !== player.target) player.seek(own);
    };
    follow.current = () => session.isShown.peek() && show(session.frame.peek());
    player.addEventListener("frame", () => {
      button.dataset.frame = String(player.frame);
    });
    player
      .open(part)
      .then(() => {
        isOpen = true;
        follow.current();
      })
      .catch(toastError);
    const stop = effect(() => {
      const frame = session.frame.value;
      if (session.isShown.value) show(frame);
    });
    return () => {
      stop();
      player.close();
    };
  }, [part, session]);
  useEffect(() => follow.current(), [rig]);
  const activate = () => rig.activate(at, session.frame.peek());
  return html`<button type="button" class="camera" ref=${root} title=${words.camera.take(part.name)} aria-label=${words.camera.take(part.name)} onClick=${activate}>
    <canvas class="follower" ref=${canvas} width="16" height="9" />${at === 1 && html`<${Guides} rig=${rig} part=${part} />`}<span class="camera-name cut">${part.name}</span></button>`;
}

/** Offsets by number and by marks, and the layout. @param {{rig: Rig, session: import("../draw/session.js").Session}} props */
export function CameraBar({ rig, session }) {
  const { cameras, active } = rig;
  const marks = rig.marks.value;
  const count = cameras.parts.length;
  const layouts = [...Array(count).keys()].map((rows) => [rows + 1, Math.ceil(count / (rows + 1))]);
  const set = (/** @type {number} */ part, /** @type {string} */ text) => {
    const wanted = Number(text);
    if (text.trim() === "" || !Number.isInteger(wanted)) toast(words.camera.whole, { seconds: 5 });
    else rig.change({ frameOffset: cameras.offsets.map((offset, at) => (at === part ? wanted : offset)) });
  };
  const mark = () => {
    rig.marks.value = marks.map((each, at) => (at === active ? session.frame.peek() : each));
  };
  const align = () => {
    const first = marks.findIndex((each) => each !== null);
    const frame = session.frame.peek();
    // the marked frame stands for the marked moment, which may be within it
    const moment = cameras.moment(first, /** @type {number} */ (marks[first]));
    rig.change(
      { frameOffset: cameras.aligned(marks) },
      marks[active] === frame ? { part: active, frame, moment } : null,
    );
    rig.marks.value = marks.map(() => null);
    toast(words.camera.aligned, { kind: "good" });
  };
  return html`<div class="camera-bar" role="toolbar" aria-label=${words.camera.bar}>
    ${cameras.parts.map(
      (
        part,
        at,
      ) => html`<label class=${classes("row", at === active && "chosen")} key=${part.id}><span class="cut">${part.name}</span>
      <${CommittedInput} class="input small number" type="number" step="1" aria-label=${words.camera.offset(part.name)} title=${words.camera.offsetLead} value=${cameras.offsets[at]} disabled=${!session.mayEdit || !cameras.clocks[at]}
        onCommit=${(/** @type {string} */ text) => set(at, text)} />
      ${marks[at] !== null && html`<span class="chip accent number">${words.camera.marked(/** @type {number} */ (marks[at]))}</span>`}</label>`,
    )}
    ${count > 1 && html`<${CalibrationSelect} ...${rig.calibration} none=${null} name=${shapes.measure.calibration} />`}
    ${
      count > 1 &&
      rig.calibration.chosen &&
      html`<${Button} small kind="quiet" pressed=${rig.rectified.value} title=${words.stereo.rectifiedLead} onClick=${() => {
        rig.rectified.value = !rig.rectified.value;
      }}>${words.stereo.rectified}<//>`
    }
    <${Stereo} rig=${rig} session=${session} /><span class="grow" />
    ${
      session.mayEdit &&
      html`<${Button} small kind="quiet" title=${words.camera.markLead} onClick=${mark}>${words.camera.mark}<//>
      <${Button} small kind="quiet" disabled=${marks.filter((each) => each !== null).length < 2} onClick=${align}>${words.camera.align}<//>`
    }
    <${Select} small name=${words.camera.layout} value=${cameras.layout.join(" × ")} options=${layouts.map((each) => [each.join(" × "), each.join(" × ")])}
      onChange=${(/** @type {string} */ value) => rig.change({ layout: value.split(" × ").map(Number) })} /></div>`;
}
