// Watch a media and annotate it: the picture with shapes over it, tools at its left, details at its right.
import { get } from "../client.js";
import { classes, effect, html, useComputed, useEffect, useMemo, useRef, useState } from "../lib.js";
import { link, navigate, readAhead, route, setQuery } from "../router.js";
import { user } from "../store.js";
import { annotate as words } from "../strings_annotate.js";
import { shapes } from "../strings_shapes.js";
import { Button, Dot } from "../ui/controls.js";
import { chosenKeys, firstKey, titled } from "../ui/key_map.js";
import { useKeys } from "../ui/keys.js";
import { STORED } from "../ui/review_names.js";
import { useSettled } from "../ui/settled.js";
import { Await, Empty, Loading, useAsync } from "../ui/states.js";
import { explain, toast } from "../ui/toast.js";
import { beginTour } from "../ui/tour.js";
import { TourCard } from "../ui/tour_card.js";
import { ClickHint } from "../draw/assist_panel.js";
import { AttributeMode } from "../draw/attribute_mode.js";
import { commandsOf, keysOf } from "../draw/commands.js";
import { Conflicts } from "../draw/conflicts.js";
import { Panel } from "../draw/panel.js";
import { style } from "../draw/display.js";
import { Proposal } from "../draw/proposal.js";
import { labelAttribute } from "../draw/labels.js";
import { isReviewable } from "../draw/review.js";
import { Session } from "../draw/session.js";
import { Stage } from "../draw/stage.js";
import { watchTour } from "../draw/tour_watch.js";
import { WAYS } from "../player/player.js";
import { Timeline } from "../player/timeline.js";
import { Transport } from "../player/transport.js";
import { CameraBar, Pictures, SideBySide } from "./annotate_cameras.js";
import { contextOf, Head, useNeighbours } from "./annotate_head.js";
import { Help } from "../ui/key_sheet.js";
import { TaskPart, useTask } from "./annotate_task.js";

const ICONS = /** @type {Record<string, string>} */ ({ box: "box", line: "line", dot: "dot", poly: "polygon" });
const DAY = 86400;
/** @type {[string, import("../draw/document.js").Row][]} */
const NOTHING = [];

/** @param {{params: any, query: any}} props */
export default function Annotate({ params, query }) {
  const media = useAsync(() => {
    readAhead();
    return get(`Media/${params.media}`, { presigned: DAY });
  }, [params.media]);
  return html`<${Await} of=${media}>${(/** @type {any} */ found) => {
    if (found.id !== Number(params.media)) return html`<${Loading} />`; // that of before, until the next one is read
    const files = found.media_files ?? {};
    const show = (/** @type {any} */ part, /** @type {import("./annotate_cameras.js").Rig | undefined} */ rig) =>
      html`<${Workplace} key=${[part.id, query.version, query.select, query.task].join()} media=${part} rig=${rig} params=${params} query=${query} />`;
    if (files.ids?.length) return html`<${SideBySide} media=${found} query=${query} render=${show} />`;
    // a video that lies in a bucket of the organization has no streaming file: its frames come from the service
    return files.streaming?.length || files.image?.length || (files.archival?.length && found.num_frames)
      ? show(found, undefined)
      : html`<${Empty} icon="video" title=${words.noMedia} action=${html`<${Button} href=${link(`/projects/${params.project}`, contextOf(query))}>${words.back}<//>`}>${words.noMediaLead}<//>`;
  }}<//>`;
}

/** @param {{media: any, rig?: import("./annotate_cameras.js").Rig, params: any, query: any}} props `rig` where the media is one of several cameras */
function Workplace({ media, rig, params, query }) {
  const home = rig?.cameras.media ?? media;
  const session = useMemo(
    () =>
      new Session(media, {
        version: Number(query.version) || undefined,
        user: user.value,
        isAlone: Boolean(query.task),
      }),
    [media],
  );
  const [dialog, setDialog] = useState(/** @type {"help" | "conflicts" | "attributes" | null} */ (null));
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  const picture = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const overlay = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const looked = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const hands = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const speaker = useRef(/** @type {HTMLAudioElement | null} */ (null));
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const context = contextOf(query);
  const neighbours = useNeighbours(home.id, context);
  const openMedia = (/** @type {number | undefined} */ id) =>
    id
      ? navigate(`/projects/${params.project}/media/${id}`, { ...context, version: query.version })
      : toast(words.noNeighbour, { seconds: 3 });
  const work = useTask(query.task, session);
  const task = useRef(work);
  task.current = work;
  const latest = useRef(neighbours);
  latest.current = neighbours;
  const nextCamera = useRef(() => {});
  if (rig) nextCamera.current = () => rig.activate((rig.active + 1) % rig.cameras.parts.length, session.frame.peek());
  const commands = useMemo(
    () =>
      commandsOf(session, {
        open: (which) => openMedia(latest.current[which]),
        help: () => setDialog("help"),
        attributes: () => session.mayEdit && setDialog("attributes"),
        goTo: () => field.current?.focus(),
        toast: (text) => toast(text, { seconds: 3 }),
        task: query.task ? () => task.current : undefined,
        camera: rig && (() => nextCamera.current()),
        decide: (decision) => {
          const drafts = session.assist.selected().map(([key]) => key);
          if (drafts.length) {
            if (decision !== STORED.open)
              session.assist.decide(decision === STORED.accepted ? "accept" : "reject", { keys: drafts });
            return;
          }
          const isMeant =
            session.mayEdit && session.chosen().some((/** @type {any} */ [, row]) => isReviewable(session.typeOf(row)));
          if (isMeant && !session.hand.setAttribute(STORED.attribute, decision, words.steps.review))
            toast(session.trackSet.whyLocked(session.chosen()), { seconds: 5 });
        },
      }),
    [session],
  );
  session.commands = commands;
  const run = (/** @type {string} */ id) => commands.find((/** @type {any} */ command) => command.id === id)?.run();
  useKeys(keysOf(session, commands, chosenKeys.value));
  useEffect(() => {
    if (!root.current || !picture.current || !overlay.current || !hands.current) return undefined;
    let stopTour = () => {};
    session.stage = stageOf(
      session,
      root.current,
      [picture.current, /** @type {HTMLCanvasElement} */ (looked.current)],
      overlay.current,
      hands.current,
    );
    const ways = query.player
      ? String(query.player)
          .split(",")
          .filter((way) => WAYS.includes(way))
      : undefined;
    session
      .start(
        picture.current,
        /** @type {HTMLCanvasElement} */ (looked.current),
        speaker.current,
        Number(query.frame) || 0,
        ways,
      )
      .then(() => {
        stopTour = session.isStopped ? stopTour : watchTour(session);
        session.comments.chosen.value = Number(query.comment) || null;
        if (query.select)
          session.select(
            [...session.doc.base]
              .filter(
                ([key, base]) =>
                  base.id === Number(query.select) && key.startsWith(query.of === "track" ? "state/" : "localization/"),
              )
              .map(([key]) => key),
          );
      })
      .catch((/** @type {any} */ failure) => {
        session.failure.value = failure;
      });
    return () => {
      stopTour();
      session.stop();
    };
  }, [session]);
  // an address with `tour` leads to the tour, once
  const mayTour = session.mayEdit && session.drawable.length > 0 && session.trackTypes.length > 0;
  useEffect(() => {
    if (!query.tour) return;
    if (mayTour) beginTour(Number(params.project));
    setQuery({ tour: "" });
  }, [query.tour]);
  const startTour = () => {
    beginTour(Number(params.project));
    setDialog(null);
  };
  const tourKey = (/** @type {string} */ id) => {
    const wanted = id === "type" ? `type${tourType(session)?.id}` : id;
    return firstKey(commands, wanted) || (commands.find((/** @type {any} */ each) => each.id === wanted)?.label ?? id);
  };
  useEffect(() => {
    /** @type {any} */
    let timer;
    const { path } = route.peek();
    const stop = session.frame.subscribe((/** @type {number} */ frame) => {
      clearTimeout(timer);
      if (!session.isShown.peek()) return; // until the picture is there, the address says which it will be
      timer = setTimeout(() => {
        const now = route.peek();
        // a link that was followed meanwhile keeps its frame
        if (now.path !== path || (Number(now.query.frame) || 0) !== written.current) return;
        written.current = frame;
        setQuery({ frame: frame || "" });
      }, 400);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [session]);
  // the frame is written into the page without making its components anew: they need not change with each frame
  useEffect(
    () =>
      effect(() => {
        const frame = session.frame.value;
        if (session.isShown.value) /** @type {HTMLElement} */ (root.current).dataset.frame = String(frame);
      }),
    [session],
  );
  const count = useSettled(useComputed(() => [session.frame.value, session.onFrame.value.length]));
  useEffect(() => root.current?.setAttribute("aria-label", words.stage(media.name, count[0], count[1])), [count]);
  // a link to another frame of the same media was followed
  const written = useRef(Number(query.frame) || 0);
  useEffect(() => {
    const wanted = Number(query.frame) || 0;
    if (wanted !== written.current) session.player?.seek(wanted);
    written.current = wanted;
  }, [query.frame]);
  const address = () =>
    new URL(
      link(`/projects/${params.project}/media/${home.id}`, {
        frame: session.frame.peek(),
        version: query.version,
        part: query.part,
      }),
      location.href,
    ).href;
  const stage = html`<div class=${classes("stage", session.tool.value && "draws")} aria-label=${media.name} ref=${root} tabindex="0" role="application">
      <canvas class="picture" ref=${picture} width="16" height="9" /><canvas class="looked" ref=${looked} hidden /><canvas class="shapes" ref=${overlay} /><canvas class="shapes" ref=${hands} /><audio ref=${speaker} preload="auto" />
      ${session.failure.value && html`<p class="note bad stage-note" role="alert">${explain(session.failure.value)}</p>`}
      <${Hint} session=${session} /><${Proposal} session=${session} run=${run} /><${ClickHint} session=${session} /><${Spoken} session=${session} />
    </div>`;
  return html`<div class="annotate">
    <${Head} session=${session} media=${home} back=${link(`/projects/${params.project}`, context)} neighbours=${neighbours} run=${run} onConflicts=${() => setDialog("conflicts")} />
    <${Tools} session=${session} run=${run} />
    <div class="stage-column">
      ${rig ? html`<${Pictures} rig=${rig} session=${session} stage=${stage} />` : stage}
      ${rig && html`<${CameraBar} rig=${rig} session=${session} />`}
      <${Timeline} session=${session} /><${Transport} session=${session} field=${field} onLink=${address} />
    </div>
    <${Panel} session=${session} run=${run} first=${html`<${TourCard} project=${Number(params.project)} keyOf=${tourKey} isTask=${Boolean(work)} />${work && html`<${TaskPart} work=${work} />`}`} />
    ${dialog === "attributes" && html`<${AttributeMode} session=${session} onEnd=${() => setDialog(null)} />`}
    ${dialog === "help" && html`<${Help} commands=${commands} onClose=${() => setDialog(null)} onTour=${mayTour ? startTour : undefined} />`}
    ${dialog === "conflicts" && html`<${Conflicts} session=${session} onClose=${() => setDialog(null)} />`}
  </div>`;
}

/** @param {Session} session @param {HTMLElement} root @param {HTMLCanvasElement[]} pictures @param {HTMLCanvasElement} overlay @param {HTMLCanvasElement} hands */
const stageOf = (session, root, pictures, overlay, hands) =>
  new Stage(root, pictures, overlay, hands, {
    rows: () => (session.isHidden.peek() || !session.isShown.peek() ? NOTHING : session.shown.peek()),
    kindOf: session.kindOf,
    colorOf: (key, row) => session.colorOf(key, row),
    labelOf: (_key, row) => labelOf(session, row),
    clicks: () => (session.assist.clicking.peek() ? session.assist.clicks.peek() : null),
    clicked: (click) => session.assist.click(click),
    box: () => (session.assist.clicking.peek() ? session.assist.box : null),
    boxed: () => (session.assist.takes("box") ? (box) => session.assist.enclose(box) : null),
    isEditable: session.isEditable,
    isComputed: (key, row) => key.startsWith("~") || key.startsWith("?") || session.assist.isDraft(row),
    selected: () => session.selected.peek(),
    select: (keys) => session.select(keys),
    tool: () => {
      const type = session.tool.peek();
      return type && session.refining.toolOf(type, colorOf(session, type));
    },
    hole: () => session.refining.holeIn,
    holed: (hole) => session.refining.drawn(hole),
    pointed: (count) => {
      session.refining.pointed.value = count;
    },
    refinedOf: (row) => session.refining.of(row),
    paint: () => (session.paint.mode.peek() ? session.paint : null),
    style: () => style.peek(),
    created: (shape) => session.hand.create(shape),
    reshaped: (shapes) => session.hand.reshape(shapes),
  });

/** What a shape is, and of a draft how sure its model is. @param {Session} session @param {import("../draw/document.js").Row} row */
function labelOf(session, row) {
  const confidence = session.assist.isDraft(row) ? session.assist.confidenceOf(row) : null;
  return confidence === null ? session.labelOf(row) : `${session.labelOf(row)} ${Math.round(confidence * 100)} %`;
}

/** What is drawn in the tour: a type of boxes with labels where there is one. @param {Session} session */
const tourType = ({ drawable }) =>
  drawable.find((/** @type {any} */ type) => type.dtype === "box" && labelAttribute(type)) ?? drawable[0];

/** The color of new shapes of a type. @param {Session} session @param {any} type */
const colorOf = (session, type) =>
  session.colorOf("", /** @type {any} */ ({ kind: "localization", type: type.id, attributes: {} }));

/** @param {{session: Session, run: (id: string) => void}} props */
function Tools({ session, run }) {
  const tool = session.tool.value;
  const view = (/** @type {string} */ id, /** @type {string} */ icon, /** @type {string} */ title) =>
    html`<${Button} kind="quiet" icon=${icon} title=${title} onClick=${() => run(id)} />`;
  return html`<nav class="tools" aria-label=${words.tools}>
    <${Button} kind="quiet" icon="cursor" title=${titled(session.commands, "select", words.select)} pressed=${!tool} onClick=${() => session.take(null)} />
    ${
      session.mayEdit &&
      session.drawable.map((/** @type {any} */ type) => {
        const key = firstKey(session.commands, `type${type.id}`);
        return html`<${Button} key=${type.id} kind="quiet" class="tool" icon=${ICONS[type.dtype]} title=${titled(session.commands, `type${type.id}`, type.name)} pressed=${tool?.id === type.id} onClick=${() => session.take(type)}>
      <span class="tool-name cut">${type.name}</span><span class="row tool-foot"><${Dot} color=${colorOf(session, type)} />${key && html`<span class="key" aria-hidden="true">${key}</span>`}</span><//>`;
      })
    }
    ${
      session.mayEdit &&
      session.maskTypes.length > 0 &&
      /** @type {const} */ ([
        ["brush", "brush"],
        ["eraser", "eraser"],
        ["fill", "fillHoles"],
      ]).map(
        ([mode, command]) =>
          html`<${Button} key=${mode} kind="quiet" icon=${mode} title=${titled(session.commands, command, shapes[mode])} pressed=${session.paint.mode.value === mode} onClick=${() => run(command)} />`,
      )
    }
    <span class="grow" />
    <${Button} kind="quiet" icon="eye" title=${session.isHidden.value ? words.show : words.hide} pressed=${session.isHidden.value} onClick=${() => run("hide")} />
    ${view("fullscreen", "expand", words.fullscreen)}${view("zoomIn", "zoom_in", words.zoomIn)}${view("zoomOut", "zoom_out", words.zoomOut)}${view("zoomReset", "fullscreen", words.zoomReset)}</nav>`;
}

/** Says what is selected to those who do not see it. @param {{session: Session}} props */
function Spoken({ session }) {
  session.selected.value;
  const chosen = session.chosen();
  const text =
    chosen.length === 1
      ? words.isSelected(session.labelOf(chosen[0][1]))
      : chosen.length
        ? words.selectedCount(chosen.length)
        : "";
  return html`<p class="visually-hidden" role="status">${text}</p>`;
}

/** What the pointer does now. @param {Session} session @param {any} tool @returns {string} */
function hintOf(session, tool) {
  const { paint, refining } = session;
  if (paint.mode.value) return shapes.mode(paint.mode.value, paint.diameter.value);
  if (refining.holed.value) return shapes.holeHint;
  if (!tool) return "";
  const names = tool.skeleton?.points;
  const at = Math.min(refining.pointed.value, names?.length - 1);
  if (names) return shapes.skeletonHint(tool.name, names[at], at + 1, names.length);
  if (refining.ellipses.value.has(tool.id)) return shapes.ellipseHint(tool.name);
  return tool.refinements?.includes("open") ? shapes.openHint(tool.name) : words.drawHint(tool.name, tool.dtype);
}

/** @param {{session: Session}} props */
function Hint({ session }) {
  const tool = session.tool.value;
  const armed = session.trackSet.armed.value;
  const text = session.isMoving.value ? words.moveMode : hintOf(session, tool);
  return html`${armed && html`<p class="stage-hint armed" role="status">${words.drawsInto(session.trackSet.nameOf(armed))}</p>`}
    ${text && html`<p class="stage-hint" role="status">${text}<${ValueKeys} session=${session} /></p>`}`;
}

/** The keys of the values of what is drawn. @param {{session: Session}} props */
function ValueKeys({ session }) {
  const { labels } = session;
  const attribute = labelAttribute(session.tool.value);
  const chosen = labels.next.value.get(session.tool.value?.id)?.[attribute?.name] ?? attribute?.default;
  if (!attribute) return null;
  return labels.values.map(
    (value, index) =>
      html` <span class=${classes("key", value === chosen && "chosen")} key=${value}>Alt ${index + 1}</span> ${value}`,
  );
}
