// What the views of a team share: their head with tabs, the names of people and media, and the changes of a task.
import { get, patch } from "../client.js";
import { html } from "../lib.js";
import { link } from "../router.js";
import { LEVELS, project, user } from "../store.js";
import { text } from "../strings.js";
import { team as words } from "../strings_team.js";
import { word } from "../strings_words.js";
import { confirm, prompt } from "../ui/dialog.js";
import { decimal } from "../ui/format.js";
import { Icon } from "../ui/icons.js";
import { toastError } from "../ui/toast.js";

const TABS = /** @type {[keyof typeof words.tabs, string][]} */ ([
  ["work", "play"],
  ["tasks", "grid"],
  ["comments", "comment"],
  ["quality", "plot"],
]);
const MEDIA_PER_REQUEST = 100;
const DAY = 86400;

/** @typedef {{name: string, stage: "open" | "active" | "review" | "closed"}} State */
/** @typedef {{source: string, target: string, level: string, needs_reason: boolean}} Transition */
/** @typedef {{states: State[], transitions: Transition[]}} Workflow */

/** @param {{at: keyof typeof words.tabs, children?: any}} props `children` stand at the end of the row */
export const TeamHead = ({ at, children }) =>
  html`<header class="team-head column"><div class="row wrap"><h1 class="grow">${words.tabs[at]}</h1>${children}</div>
    <nav class="tabs" aria-label=${words.title}>${TABS.map(
      ([name, icon]) =>
        html`<a key=${name} href=${link(`/projects/${project.value?.id}/${name}`)} aria-current=${name === at ? "page" : undefined}><${Icon} name=${icon} />${words.tabs[name]}</a>`,
    )}</nav></header>`;

/** The user name of a member. @param {number | null} id */
export const personName = (id) =>
  id === null
    ? words.nobody
    : (project.value?.members.find((/** @type {any} */ each) => each.user === id)?.username ??
      (id === user.value?.id ? user.value?.username : words.userNumber(id)));

/** Media by id, with name and thumbnail. @param {number[]} ids @param {AbortSignal} signal @returns {Promise<Map<number, any>>} */
export async function mediaById(ids, signal) {
  const wanted = [...new Set(ids)];
  const query = { fields: "id,name,media_files.thumbnail", presigned: DAY, presign_only: ["thumbnail"] };
  const parts = [];
  for (let at = 0; at < wanted.length; at += MEDIA_PER_REQUEST)
    parts.push(
      get(`Medias/${project.peek()?.id}`, { ...query, media_id: wanted.slice(at, at + MEDIA_PER_REQUEST) }, { signal }),
    );
  return new Map((await Promise.all(parts)).flat().map((each) => [each.id, each]));
}

/** The name of a task's media. @param {any} task @param {Map<number, any> | undefined} media */
export const mediaName = (task, media) => media?.get(task.media_id)?.name ?? words.mediaNumber(task.media_id);

/** The frames of a task. @param {any} task */
export const spanOf = (task) =>
  task.start_frame === null ? words.wholeMedia : words.span(task.start_frame, task.end_frame);

/** The address of a task: its media at the first frame, in its layer. @param {any} task */
export const taskLink = (task) =>
  link(`/projects/${task.project}/media/${task.media_id}`, {
    frame: task.start_frame || "",
    version: task.version,
    task: task.id,
  });

/** The stage of a state. @param {Workflow} workflow @param {string} state */
export const stageOf = (workflow, state) => workflow.states.find(({ name }) => name === state)?.stage ?? "open";

/** The transitions of a task that the user's level allows. @param {Workflow} workflow @param {any} task */
export const stepsOf = (workflow, task) =>
  workflow.transitions.filter(
    ({ source, level }) =>
      source === task.state && LEVELS.indexOf(project.value?.permission ?? "") >= LEVELS.indexOf(level),
  );

/** Change the state of a task; asks for the reason where one is needed. @param {any} task @param {Transition} step @returns {Promise<any>} the task; null where it stays */
export async function changeState(task, step) {
  const reason = step.needs_reason
    ? await prompt({
        title: words.reasonFor(word(step.target)),
        label: words.reason,
        action: words.moveTo(word(step.target)),
      })
    : undefined;
  if (reason === null) return null;
  try {
    return await patch(`Task/${task.id}`, { state: step.target, ...(reason ? { reason } : {}) });
  } catch (failure) {
    toastError(failure);
    return null;
  }
}

/** Ask before a task is deleted. @param {any} task */
export const confirmDeletion = (task) =>
  confirm({ title: words.deleteTask(task.id), message: words.deleteTaskLead, action: text.delete, danger: true });

/** Hours and minutes of work. @param {number} seconds */
export const workTime = (seconds) =>
  seconds < 60
    ? `${seconds} s`
    : seconds < 3600
      ? `${Math.round(seconds / 60)} min`
      : `${decimal(seconds / 3600, 1)} h`;

/** The picture of a media. @param {{media: any}} props */
export const Thumbnail = ({ media }) => {
  const path = media?.media_files?.thumbnail?.[0]?.path;
  return path ? html`<img src=${path} alt="" loading="lazy" />` : html`<${Icon} name="image" />`;
};
