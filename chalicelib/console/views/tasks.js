// Tasks: a board with a column for each state, a list, and who has done how much.
import { del, get } from "../client.js";
import { html, useEffect, useRef, useState } from "../lib.js";
import { link, setQuery } from "../router.js";
import { may, project } from "../store.js";
import { text } from "../strings.js";
import { team as words } from "../strings_team.js";
import { word, wordChoice } from "../strings_words.js";
import { Button, Segmented, Select } from "../ui/controls.js";
import { number } from "../ui/format.js";
import { Menu } from "../ui/menu.js";
import { Await, Empty, useAsync } from "../ui/states.js";
import { toast, toastError } from "../ui/toast.js";
import { Consensus } from "./consensus.js";
import { NewTasks } from "./tasks_new.js";
import {
  changeState,
  confirmDeletion,
  mediaById,
  mediaName,
  personName,
  spanOf,
  stepsOf,
  taskLink,
  TeamHead,
  Thumbnail,
  workTime,
} from "./team_head.js";
import { Due, StateChip } from "./work.js";

const COLUMN = 50;
const PAGE = 100;

/** @typedef {import("./team_head.js").Workflow} Workflow */
/** @typedef {{workflow: Workflow, counts: any[], filter: any, again: () => void}} Props */

/** @param {{query: Record<string, string>}} props */
export default function Tasks({ query }) {
  const open = /** @type {any} */ (project.value);
  const [adding, setAdding] = useState(false);
  const way = Object.hasOwn(words.ways, query.way ?? "") ? query.way : "board";
  const head = useAsync(
    async (signal) => {
      const [workflow, counts] = await Promise.all([
        get(`TaskWorkflow/${open.id}`, {}, { signal }),
        get(`TaskCounts/${open.id}`, {}, { signal }),
      ]);
      return { workflow, counts };
    },
    [open.id],
  );
  const filter = { name: query.set, assignee: query.who, state: way === "board" ? undefined : query.state };
  const create =
    may("Full Control") &&
    html`<${Button} kind="primary" icon="add" onClick=${() => setAdding(true)}>${words.newTasks}<//>`;
  const shown = (/** @type {any} */ { workflow, counts }) => {
    const props = { workflow, counts, filter, again: head.again };
    if (!counts.length)
      return html`<${Empty} icon="check" title=${words.noTasks} action=${create}>${words.noTasksLead}<//>`;
    return html`<div class="row wrap task-filters"><${Segmented} name=${words.way} value=${way} options=${Object.entries(words.ways)} onChange=${(/** @type {string} */ value) => setQuery({ way: value })} />
        <${Filters} ...${props} way=${way} query=${query} /></div>
      ${may("Full Control") && html`<${Consensus} sets=${setsOf(counts)} set=${query.set} onDone=${head.again} />`}
      ${way === "board" ? html`<${Board} ...${props} />` : way === "list" ? html`<${List} ...${props} />` : html`<${People} ...${props} />`}`;
  };
  return html`<div class="page wide tasks"><${TeamHead} at="tasks">${head.value?.counts.length ? create : null}<//>
    <${Await} of=${head}>${shown}<//>
    ${adding && html`<${NewTasks} onMade=${head.again} onClose=${() => setAdding(false)} />`}</div>`;
}

/** The names of the sets of tasks. @param {any[]} counts */
const setsOf = (counts) => [...new Set(counts.map(({ name }) => name))];

/** @param {Props & {way: string, query: Record<string, string>}} props */
function Filters({ workflow, counts, way, query }) {
  const sets = setsOf(counts);
  const people = [...new Set(counts.map(({ assignee }) => assignee).filter(Boolean))];
  const states = workflow.states.map(({ name }) => name);
  return html`<${Select} name=${words.set} value=${query.set ?? ""} options=${[["", words.allSets], ...sets.map((name) => [name, name])]} onChange=${(/** @type {string} */ set) => setQuery({ set })} />
    ${way !== "people" && html`<${Select} name=${words.person} value=${query.who ?? ""} options=${[["", words.everyone], ...people.map((id) => [id, personName(id)])]} onChange=${(/** @type {string} */ who) => setQuery({ who })} />`}
    ${way === "list" && html`<${Select} name=${words.state} value=${query.state ?? ""} options=${[["", words.allStates], ...states.map(wordChoice)]} onChange=${(/** @type {string} */ state) => setQuery({ state })} />`}`;
}

/** The actions on a task. @param {{task: any, workflow: Workflow, again: () => void}} props */
function Actions({ task, workflow, again }) {
  const items = [
    { label: words.open, icon: "next", href: taskLink(task) },
    ...stepsOf(workflow, task).map((step) => ({
      label: words.moveTo(word(step.target)),
      icon: "flag",
      run: async () => (await changeState(task, step)) && again(),
    })),
    may("Full Control") && {
      label: text.delete,
      icon: "trash",
      danger: true,
      run: async () => {
        if (await confirmDeletion(task)) del(`Task/${task.id}`).then(again, toastError);
      },
    },
  ];
  return html`<${Menu} small kind="quiet" icon="more" title=${words.actionsOf(task.id)} items=${items} />`;
}

/** @param {Props} props */
function Board({ workflow, counts, filter, again }) {
  const open = /** @type {any} */ (project.value);
  const [stop, setStop] = useState(COLUMN);
  const found = useAsync(
    async (signal) => {
      const columns = await Promise.all(
        workflow.states.map(({ name }) => get(`Tasks/${open.id}`, { ...filter, state: name, stop }, { signal })),
      );
      return {
        columns,
        media: await mediaById(
          columns.flat().map((task) => task.media_id),
          signal,
        ),
      };
    },
    [open.id, filter.name, filter.assignee, stop, counts],
  );
  const total = (/** @type {string} */ state) =>
    counts
      .filter((each) => each.state === state && (!filter.name || each.name === filter.name))
      .filter((each) => !filter.assignee || String(each.assignee) === filter.assignee)
      .reduce((sum, { count }) => sum + count, 0);
  // a card that was moved has the focus again in its new column
  const moved = useRef(/** @type {number | null} */ (null));
  useEffect(() => {
    if (moved.current)
      /** @type {HTMLElement | null} */ (document.querySelector(`[data-task="${moved.current}"]`))?.focus();
    moved.current = null;
  }, [found.value]);
  const move = async (/** @type {any} */ task, /** @type {string} */ state) => {
    const step = stepsOf(workflow, task).find(({ target }) => target === state);
    if (!step) toast(words.noWay(word(state)), { seconds: 4 });
    else if (await changeState(task, step)) {
      moved.current = task.id;
      again();
    }
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const at = /** @type {HTMLElement} */ (event.target);
    if (!at.dataset.task || !found.value) return;
    const columns = [...document.querySelectorAll(".board-column")].map(
      (each) => /** @type {HTMLElement[]} */ ([...each.querySelectorAll("[data-task]")]),
    );
    const column = columns.findIndex((cards) => cards.includes(at)),
      row = columns[column]?.indexOf(at);
    const side = { ArrowLeft: -1, ArrowRight: 1 }[event.key],
      down = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (side === undefined && down === undefined) return;
    event.preventDefault();
    if (down) columns[column][row + down]?.focus();
    else if (event.shiftKey) {
      const task = found.value.columns.flat().find((/** @type {any} */ each) => String(each.id) === at.dataset.task);
      const target = nextState(workflow, task, /** @type {number} */ (side));
      if (target) move(task, target);
    } else {
      const reach = side === 1 ? columns.slice(column + 1) : columns.slice(0, column).reverse();
      const cards = reach.find((each) => each.length);
      cards?.[Math.min(row, cards.length - 1)].focus();
    }
  };
  const onDrop = (/** @type {string} */ state) => (/** @type {DragEvent} */ event) => {
    const id = event.dataTransfer?.getData("text/x-limn-task");
    const task = found.value?.columns.flat().find((/** @type {any} */ each) => String(each.id) === id);
    if (!task) return;
    event.preventDefault();
    move(task, state);
  };
  const columnOf = (/** @type {any} */ state, /** @type {any[]} */ tasks, /** @type {Map<number, any>} */ media) => {
    const count = total(state.name);
    return html`<section class="board-column" key=${state.name} aria-label=${word(state.name)} onDragOver=${(/** @type {Event} */ e) => e.preventDefault()} onDrop=${onDrop(state.name)}>
      <header class="row"><h2 class="grow"><${StateChip} workflow=${workflow} state=${state.name} /></h2><span class="number muted small">${number(count)}</span></header>
      <ul class="column">${tasks.map((task) => html`<${Card} key=${task.id} task=${task} media=${media} workflow=${workflow} again=${again} />`)}</ul>
      ${count > tasks.length && tasks.length === stop && html`<${Button} small onClick=${() => setStop(stop + PAGE)}>${words.more(count - tasks.length)}<//>`}</section>`;
  };
  return html`<p class="muted small">${words.boardKeys}</p><${Await} of=${found}>${(
    /** @type {any} */ { columns, media },
  ) =>
    html`<div class="board" onKeyDown=${onKeyDown}>${workflow.states.map((state, index) => columnOf(state, columns[index] ?? [], media))}</div>`}<//>`;
}

/** The nearest state on one side to which a task may go. @param {Workflow} workflow @param {any} task @param {number} side */
function nextState(workflow, task, side) {
  const names = workflow.states.map(({ name }) => name);
  const at = names.indexOf(task.state);
  const targets = new Set(stepsOf(workflow, task).map(({ target }) => target));
  const reach = side > 0 ? names.slice(at + 1) : names.slice(0, at).reverse();
  const found = reach.find((name) => targets.has(name));
  if (!found && reach.length) toast(words.noWay(word(reach[0])), { seconds: 4 });
  return found;
}

/** @param {{task: any, media: Map<number, any>, workflow: Workflow, again: () => void}} props */
const Card = ({ task, media, workflow, again }) => html`<li class="card board-card" draggable="true"
  onDragStart=${(/** @type {DragEvent} */ e) => e.dataTransfer?.setData("text/x-limn-task", String(task.id))}>
  <a href=${taskLink(task)} data-task=${task.id} draggable=${false}><span class="thumb"><${Thumbnail} media=${media.get(task.media_id)} /></span><strong class="cut">${mediaName(task, media)}</strong></a>
  <div class="row wrap small muted"><span class="cut">${task.name}</span>${task.start_frame !== null && html`<span class="number">${spanOf(task)}</span>`}${task.copy > 1 && html`<span>${words.copyOf(task.copy)}</span>`}<${Due} task=${task} workflow=${workflow} /></div>
  ${task.reason && html`<p class="small reason">${task.reason}</p>`}
  <div class="row small"><span class="grow cut">${task.assignee ? personName(task.assignee) : ""}</span>${task.seconds > 0 && html`<span class="number muted">${workTime(task.seconds)}</span>`}<${Actions} task=${task} workflow=${workflow} again=${again} /></div></li>`;

/** @param {Props} props */
function List({ workflow, filter, counts, again }) {
  const open = /** @type {any} */ (project.value);
  const [stop, setStop] = useState(PAGE);
  const found = useAsync(
    async (signal) => {
      const tasks = await get(`Tasks/${open.id}`, { ...filter, stop }, { signal });
      return {
        tasks,
        media: await mediaById(
          tasks.map((/** @type {any} */ task) => task.media_id),
          signal,
        ),
      };
    },
    [open.id, filter.name, filter.assignee, filter.state, stop, counts],
  );
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const links = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("tbody [data-task]")]);
    const at = links.indexOf(/** @type {HTMLElement} */ (event.target));
    if (!step || at < 0) return;
    event.preventDefault();
    links[at + step]?.focus();
  };
  return html`<${Await} of=${found}>${(/** @type {any} */ { tasks, media }) =>
    tasks.length
      ? html`<div class="card scroll"><table class="table work" onKeyDown=${onKeyDown}><thead><tr><th><span class="visually-hidden">${words.picture}</span></th><th>${words.media}</th><th>${words.set}</th><th>${words.frames}</th><th class="end">${words.copy}</th><th>${words.state}</th><th>${words.person}</th><th>${words.due}</th><th class="end">${words.time}</th><th><span class="visually-hidden">${text.actions}</span></th></tr></thead>
      <tbody>${tasks.map(
        (
          /** @type {any} */ task,
        ) => html`<tr key=${task.id}><td class="thumb"><${Thumbnail} media=${media.get(task.media_id)} /></td><td><a href=${taskLink(task)} data-task=${task.id}>${mediaName(task, media)}</a>${task.reason && html`<div class="small muted">${task.reason}</div>`}</td><td>${task.name}</td><td class="number">${spanOf(task)}</td><td class="end number">${task.copy}</td>
        <td><${StateChip} workflow=${workflow} state=${task.state} /></td><td>${task.assignee ? personName(task.assignee) : ""}</td><td><${Due} task=${task} workflow=${workflow} /></td><td class="end number">${workTime(task.seconds)}</td><td class="end"><${Actions} task=${task} workflow=${workflow} again=${again} /></td></tr>`,
      )}</tbody></table></div>${tasks.length === stop && html`<div><${Button} onClick=${() => setStop(stop + PAGE)}>${text.more}<//></div>`}`
      : html`<${Empty} icon="search" title=${words.noMatch} />`}<//>`;
}

/** How many tasks of each state a person has, and how long they took. @param {Props} props */
function People({ workflow, counts, filter }) {
  const own = counts.filter(({ name }) => !filter.name || name === filter.name);
  const people = [...new Set(own.map(({ assignee }) => assignee ?? null))].sort(
    (one, two) => Number(one === null) - Number(two === null) || personName(one).localeCompare(personName(two)),
  );
  const sum = (/** @type {any[]} */ rows, /** @type {"count" | "seconds"} */ member) =>
    rows.reduce((total, row) => total + row[member], 0);
  const cell = (/** @type {any[]} */ rows, /** @type {number | null} */ who, /** @type {string} */ state) => {
    const count = sum(
      rows.filter((row) => row.state === state),
      "count",
    );
    const address = link(`/projects/${project.value?.id}/tasks`, { way: "list", who, state, set: filter.name });
    return html`<td key=${state} class="end number">${count ? (who ? html`<a href=${address}>${number(count)}</a>` : number(count)) : html`<span class="muted">0</span>`}</td>`;
  };
  const line = (/** @type {any} */ label, /** @type {any[]} */ rows, /** @type {number | null} */ who) =>
    html`<tr key=${who}><th scope="row">${label}</th>${workflow.states.map(({ name }) => cell(rows, who, name))}<td class="end number">${number(sum(rows, "count"))}</td><td class="end number">${workTime(sum(rows, "seconds"))}</td></tr>`;
  return html`<div class="card scroll"><table class="table"><thead><tr><th scope="col">${words.person}</th>${workflow.states.map(({ name }) => html`<th key=${name} class="end" scope="col">${word(name)}</th>`)}<th class="end" scope="col">${words.total}</th><th class="end" scope="col">${words.time}</th></tr></thead>
    <tbody>${people.map((who) =>
      line(
        personName(who),
        own.filter(({ assignee }) => (assignee ?? null) === who),
        who,
      ),
    )}</tbody><tfoot>${line(words.total, own, null)}</tfoot></table></div>`;
}
