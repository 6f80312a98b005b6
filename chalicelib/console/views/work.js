// My work: one button gets the next task, and what I have is listed.
import { get, post } from "../client.js";
import { html, useState } from "../lib.js";
import { may, project, user } from "../store.js";
import { team as words } from "../strings_team.js";
import { word } from "../strings_words.js";
import { Button } from "../ui/controls.js";
import { ago, date } from "../ui/format.js";
import { Keys } from "../ui/key_sheet.js";
import { Await, Empty, useAsync } from "../ui/states.js";
import { toast, toastError } from "../ui/toast.js";
import { mediaById, mediaName, spanOf, stageOf, taskLink, TeamHead, Thumbnail, workTime } from "./team_head.js";

/**
 * Lease the next task and open it. @param {number} open the project @param {"open" | "review"} stage
 * @returns {Promise<boolean>} false where none waits
 */
export async function openNext(open, stage) {
  try {
    location.hash = taskLink(await post(`NextTask/${open}`, { stage })).slice(1);
    return true;
  } catch (failure) {
    if (/** @type {any} */ (failure).status !== 404) throw failure;
    toast(stage === "review" ? words.nothingToReview : words.nothingWaits);
    return false;
  }
}

export default function Work() {
  const open = /** @type {any} */ (project.value);
  const me = user.value?.id;
  const [busy, setBusy] = useState(false);
  const found = useAsync(
    async (signal) => {
      const ask = (/** @type {any} */ query) => get(`Tasks/${open.id}`, query, { signal });
      const [workflow, done, held] = await Promise.all([
        get(`TaskWorkflow/${open.id}`, {}, { signal }),
        ask({ assignee: me }),
        ask({ leased_by: me }),
      ]);
      const tasks = [...new Map([...done, ...held].map((task) => [task.id, task])).values()];
      const isHeld = (/** @type {any} */ task) => task.leased_by === me && Date.parse(task.leased_until) > Date.now();
      tasks.sort((one, two) => Number(isHeld(two)) - Number(isHeld(one)) || two.id - one.id);
      return {
        workflow,
        tasks,
        isHeld,
        media: await mediaById(
          tasks.map((task) => task.media_id),
          signal,
        ),
      };
    },
    [open.id, me],
  );
  const next = (/** @type {"open" | "review"} */ stage) => {
    if (busy) return;
    setBusy(true);
    openNext(open.id, stage)
      .catch(toastError)
      .finally(() => setBusy(false));
  };
  const mayDraw = may("Can Edit"),
    mayReview = may("Can Transfer");
  const commands = [
    { id: "work.task", group: "review", label: words.nextTask, keys: ["n"], run: () => next("open") },
    { id: "work.review", group: "review", label: words.nextReview, keys: ["r"], run: () => next("review") },
  ].slice(0, mayReview ? 2 : 1);
  return html`<div class="page"><${TeamHead} at="work" />
    ${
      mayDraw &&
      html`<section class="card panel row wrap next-task"><div class="grow"><p class="muted">${words.workLead}</p><${Keys} commands=${commands} /></div>
      <div class="row">${mayReview && html`<${Button} icon="check" disabled=${busy} onClick=${() => next("review")}>${words.nextReview}<//>`}
      <${Button} kind="primary" icon="play" busy=${busy} onClick=${() => next("open")}>${words.nextTask}<//></div></section>`
    }
    <section class="column"><h2>${words.mine}</h2><${Await} of=${found}>${(/** @type {any} */ value) => (value.tasks.length ? html`<${Mine} ...${value} />` : html`<${Empty} icon="check" title=${words.noneMine}>${mayDraw && words.noneMineLead}<//>`)}<//></section></div>`;
}

/** @param {{tasks: any[], workflow: import("./team_head.js").Workflow, isHeld: (task: any) => boolean, media: Map<number, any>}} props */
const Mine = ({ tasks, workflow, isHeld, media }) => html`<div class="card scroll"><table class="table work"><thead><tr>
  <th><span class="visually-hidden">${words.picture}</span></th><th>${words.media}</th><th>${words.set}</th><th>${words.frames}</th><th>${words.state}</th><th>${words.due}</th><th class="end">${words.time}</th><th><span class="visually-hidden">${words.open}</span></th></tr></thead>
  <tbody>${tasks.map(
    (task) => html`<tr key=${task.id}><td class="thumb"><${Thumbnail} media=${media.get(task.media_id)} /></td>
    <td><a href=${taskLink(task)}>${mediaName(task, media)}</a>${task.reason && html`<div class="small muted">${task.reason}</div>`}</td><td>${task.name}</td><td class="number">${spanOf(task)}</td>
    <td><${StateChip} workflow=${workflow} state=${task.state} /> ${isHeld(task) && html`<span class="small muted">${words.held(ago(task.leased_until))}</span>`}</td>
    <td><${Due} task=${task} workflow=${workflow} /></td><td class="end number">${workTime(task.seconds)}</td>
    <td class="end"><${Button} small kind=${isHeld(task) ? "primary" : undefined} href=${taskLink(task)}>${isHeld(task) ? words.resume : words.look}<//></td></tr>`,
  )}</tbody></table></div>`;

const KINDS = { open: "", active: "accent", review: "warn", closed: "good" };

/** @param {{workflow: import("./team_head.js").Workflow, state: string}} props */
export const StateChip = ({ workflow, state }) =>
  html`<span class=${`chip ${KINDS[stageOf(workflow, state)]}`}>${word(state)}</span>`;

/** @param {{task: any, workflow: import("./team_head.js").Workflow}} props */
export const Due = ({ task, workflow }) => {
  if (!task.due_datetime) return null;
  const isLate = Date.parse(task.due_datetime) < Date.now() && stageOf(workflow, task.state) !== "closed";
  return html`<span class="small" title=${date(task.due_datetime)}>${ago(task.due_datetime)} ${isLate && html`<span class="chip bad">${words.overdue}</span>`}</span>`;
};
