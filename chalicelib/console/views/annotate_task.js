// The task that is worked on beside the picture: its instructions and steps, and how it is handed in.
import { get, patch } from "../client.js";
import { html, useEffect, useRef, useState } from "../lib.js";
import { link, navigate } from "../router.js";
import { user } from "../store.js";
import { team as words } from "../strings_team.js";
import { word } from "../strings_words.js";
import { Button, Checkbox } from "../ui/controls.js";
import { confirm } from "../ui/dialog.js";
import { explain, toast, toastError } from "../ui/toast.js";
import { did } from "../ui/tour.js";
import { changeState, spanOf, stageOf, stepsOf } from "./team_head.js";
import { Due, openNext, StateChip } from "./work.js";

/** So often the lease is renewed while a person works: below the two minutes above which a pause is no work. */
const BEAT_MS = 60_000;
const ACTS = ["pointerdown", "keydown", "wheel"];

/** @typedef {import("./team_head.js").Workflow} Workflow */
/**
 * @typedef {object} Work
 * @property {any} task null until it is read
 * @property {Workflow | null} workflow
 * @property {any} failure
 * @property {boolean} isMine whether the user holds the lease
 * @property {() => void} submit hand it in, or accept it
 * @property {() => void} reject
 * @property {(checklist: boolean[]) => void} tick
 */

/** The task of an address, with its lease kept while one works. @param {string | undefined} id @param {import("../draw/session.js").Session} session @returns {Work | null} null without a task */
export function useTask(id, session) {
  const [state, setState] = useState(/** @type {any} */ ({ task: null, workflow: null, failure: null }));
  const isActive = useRef(true);
  const set = (/** @type {any} */ change) => setState((/** @type {any} */ before) => ({ ...before, ...change }));
  /** The task as it is shown, with steps whose ticks are on their way. */
  const shown = useRef(/** @type {any} */ (null));
  const ticking = useRef(/** @type {Promise<unknown>} */ (Promise.resolve()));
  const show = (/** @type {any} */ found) => {
    shown.current = found;
    set({ task: found });
  };
  const { task, workflow } = state;
  const isMine = task?.leased_by === user.value?.id && Date.parse(task?.leased_until ?? 0) > Date.now();
  useEffect(() => {
    if (!id) return undefined;
    let current = true;
    get(`Task/${id}`)
      .then(async (found) => [found, await get(`TaskWorkflow/${found.project}`)])
      .then(
        ([found, graph]) => {
          if (!current) return;
          set({ workflow: graph });
          show(found);
        },
        (failure) => current && set({ failure }),
      );
    return () => {
      current = false;
    };
  }, [id]);
  // the lease is renewed while the person acts; what is not renewed returns to the others
  useEffect(() => {
    if (!isMine) return undefined;
    const act = () => {
      isActive.current = true;
    };
    for (const name of ACTS) addEventListener(name, act, { passive: true });
    const timer = setInterval(() => {
      if (!isActive.current) return;
      isActive.current = false;
      patch(`Task/${id}`, { lease_seconds: 1800 }).then(
        (renewed) => show({ ...renewed, checklist: shown.current.checklist }),
        (failure) => [403, 404].includes(failure.status) && set({ failure: new Error(words.gone) }),
      );
    }, BEAT_MS);
    return () => {
      clearInterval(timer);
      for (const name of ACTS) removeEventListener(name, act);
    };
  }, [id, isMine]);
  useEffect(() => {
    if (!task || task.start_frame === null) return undefined;
    const stop = session.isShown.subscribe((isShown) => {
      if (isShown) queueMicrotask(() => session.player?.setLoop([task.start_frame, task.end_frame]));
    });
    return stop;
  }, [task?.id]);
  const isSending = useRef(false);
  const move = async (/** @type {import("./team_head.js").Transition | undefined} */ step) => {
    if (!step || isSending.current) return;
    isSending.current = true;
    try {
      await session.sync.save();
      if (session.doc.unsaved.size) return toast(words.notSaved, { kind: "bad" });
      await ticking.current;
      const left = shown.current.checklist.filter((/** @type {any} */ each) => !each.done).length;
      const isEnd = ["review", "closed"].includes(stageOf(workflow, step.target));
      if (
        left &&
        isEnd &&
        !(await confirm({
          title: words.stepsLeft(left),
          message: words.stepsLeftLead,
          action: words.moveTo(word(step.target)),
        }))
      )
        return;
      const changed = await changeState(task, step);
      if (!changed) return;
      show(changed);
      if (isEnd) did("hand", task.project);
      toast(words.sent(word(changed.state)), { kind: "good" });
      const stage = stageOf(workflow, task.state) === "review" ? "review" : "open";
      if (!(await openNext(task.project, stage))) navigate(`/projects/${task.project}/work`);
    } catch (failure) {
      toastError(failure);
    } finally {
      isSending.current = false;
    }
  };
  const tick = (/** @type {boolean[]} */ checklist) => {
    show({
      ...task,
      checklist: task.checklist.map((/** @type {any} */ each, /** @type {number} */ at) => ({
        ...each,
        done: checklist[at],
      })),
    });
    ticking.current = ticking.current.then(() =>
      patch(`Task/${id}`, { checklist }).catch((failure) => {
        toastError(failure);
        return get(`Task/${id}`).then(show, toastError);
      }),
    );
  };
  if (!id) return null;
  const steps = task && workflow ? stepsOf(workflow, task) : [];
  const to = (/** @type {string[]} */ stages) =>
    steps.find(({ target, needs_reason: isReasoned }) => !isReasoned && stages.includes(stageOf(workflow, target)));
  return {
    ...state,
    isMine,
    submit: () => move(to(["review", "closed"])),
    reject: () => move(steps.find((each) => each.needs_reason)),
    tick,
  };
}

/** @param {{work: Work}} props */
export function TaskPart({ work }) {
  const { task, workflow, failure, isMine } = work;
  if (failure)
    return html`<section class="part task-part"><p class="note bad" role="alert">${explain(failure)}</p></section>`;
  if (!task || !workflow) return null;
  const isReview = stageOf(workflow, task.state) === "review";
  const steps = stepsOf(workflow, task);
  const tick = (/** @type {number} */ at) => (/** @type {boolean} */ done) =>
    work.tick(
      task.checklist.map((/** @type {any} */ each, /** @type {number} */ index) => (index === at ? done : each.done)),
    );
  const canEnd = isMine && steps.some(({ target }) => ["review", "closed"].includes(stageOf(workflow, target)));
  return html`<section class="part task-part" aria-label=${words.task(task.id)}>
    <header class="row"><h2 class="grow cut">${task.name}</h2><${StateChip} workflow=${workflow} state=${task.state} /></header>
    <p class="small muted row wrap"><span>${words.frames}: ${spanOf(task)}</span>${task.copy > 1 && html`<span>${words.copyOf(task.copy)}</span>`}<${Due} task=${task} workflow=${workflow} /></p>
    ${task.reason && html`<p class="note warn small">${task.reason}</p>`}
    ${task.instructions && html`<p class="instructions small">${task.instructions}</p>`}
    ${task.checklist.length > 0 && html`<ul class="column tight">${task.checklist.map((/** @type {any} */ each, /** @type {number} */ at) => html`<li key=${at}><${Checkbox} label=${each.text} checked=${each.done} disabled=${!isMine} onChange=${tick(at)} /></li>`)}</ul>`}
    <div class="row wrap">${canEnd && html`<${Button} small kind="primary" icon="check" title=${`${isReview ? words.accept : words.submitTask} (Ctrl Enter)`} onClick=${work.submit}>${isReview ? words.accept : words.submitTask}<//>`}
      ${isMine && steps.some((each) => each.needs_reason) && html`<${Button} small kind="danger" icon="close" title=${`${words.rejectTask} (Ctrl Backspace)`} onClick=${work.reject}>${words.rejectTask}<//>`}
      <${Button} small kind="quiet" href=${link(`/projects/${task.project}/work`)}>${words.leave}<//></div></section>`;
}
