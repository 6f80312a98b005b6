// Jobs of a project: launch an algorithm, follow its jobs and their steps, read the logs. Transcodes are here, too.
import { del, get, post } from "../client.js";
import { html, useState } from "../lib.js";
import { link, setQuery } from "../router.js";
import { may, project } from "../store.js";
import { text } from "../strings.js";
import { word } from "../strings_words.js";
import { Button, Progress, Segmented, Select, TextField } from "../ui/controls.js";
import { confirm, Dialog } from "../ui/dialog.js";
import { ago, date, number } from "../ui/format.js";
import { Icon } from "../ui/icons.js";
import { Await, Empty, Loading, useAsync, usePolling } from "../ui/states.js";
import { explain, toast, toastError } from "../ui/toast.js";

const ENDED = new Set(["Succeeded", "Failed", "Canceled", "succeeded", "failed", "canceled"]);
const SECONDS = 4;
/** So many launches are shown at first. */
const PAGE = 100;

/** @param {string} status */
const chipOf = (status) =>
  ({ succeeded: "good", failed: "bad", canceled: "warn", running: "accent" })[
    /** @type {string} */ (status.toLowerCase())
  ] ?? "";

/** @param {{query: Record<string, string>}} props */
export default function Jobs({ query }) {
  const open = /** @type {any} */ (project.value);
  const isTranscodes = query.show === "transcodes";
  // a title says what runs: the algorithm, or the file that is transcoded
  const found = useAsync(
    async (signal) => {
      if (isTranscodes)
        return (await get(`Transcodes/${open.id}`, {}, { signal })).map((/** @type {any} */ each) => ({
          ...(each.job ?? each),
          title: each.spec?.name,
        }));
      const [jobs, algorithms] = await Promise.all([
        get(`Jobs/${open.id}`, {}, { signal }),
        get(`Algorithms/${open.id}`, {}, { signal }),
      ]);
      const names = new Map(algorithms.map((/** @type {any} */ each) => [each.id, each.name]));
      return jobs.map((/** @type {any} */ each) => ({ ...each, title: names.get(each.alg_id) }));
    },
    [open.id, isTranscodes],
  );
  const [launching, setLaunching] = useState(Boolean(query.launch));
  const jobs = /** @type {any[] | undefined} */ (found.value);
  usePolling(found.again, Boolean(jobs?.some((each) => !ENDED.has(each.status))), SECONDS);
  return html`<div class="page"><header><h1>${text.tabs.jobs}</h1><div class="row"><${Segmented} name=${text.kind} value=${isTranscodes ? "transcodes" : "jobs"} options=${[["jobs", text.algorithmJobs], ["transcodes", text.transcodes]]} onChange=${(/** @type {string} */ show) => setQuery({ show: show === "jobs" ? "" : show })} />
      <${Button} kind="quiet" icon="reload" title=${text.reload} onClick=${found.again} />${may("Can Execute") && html`<${Button} kind="primary" icon="play" onClick=${() => setLaunching(true)}>${text.launch}<//>`}</div></header>
    <${Await} of=${found}>${(/** @type {any[]} */ items) => (items.length === 0 ? html`<${Empty} icon="jobs" title=${isTranscodes ? text.noTranscodes : text.noJobs}>${isTranscodes ? "" : text.noJobsLead}<//>` : html`<${Groups} jobs=${items} again=${found.again} />`)}<//>
    ${
      launching &&
      html`<${Launch} name=${query.launch ?? ""} onClose=${() => {
        setLaunching(false);
        setQuery({ launch: "" });
      }} onDone=${found.again} />`
    }</div>`;
}

/** Jobs by the launch they belong to, the newest first. @param {{jobs: any[], again: () => void}} props */
function Groups({ jobs, again }) {
  const groups = [...Map.groupBy(jobs, (each) => each.gid || each.uid)].sort(([, a], [, b]) =>
    b[0].start_time.localeCompare(a[0].start_time),
  );
  const [most, setMost] = useState(PAGE);
  return html`<div class="column">${groups.slice(0, most).map(([gid, members]) => html`<${Group} key=${gid} gid=${gid} jobs=${members} again=${again} />`)}${groups.length > most && html`<div><${Button} onClick=${() => setMost(most + PAGE)}>${text.showMore(number(groups.length - most))}<//></div>`}</div>`;
}

/** @param {{gid: string, jobs: any[], again: () => void}} props */
function Group({ gid, jobs, again }) {
  const [open, setOpen] = useState(jobs.length === 1);
  const counts = Object.entries(
    jobs.reduce(
      (/** @type {Record<string, number>} */ found, each) => ({
        ...found,
        [each.status]: (found[each.status] ?? 0) + 1,
      }),
      {},
    ),
  );
  const done = jobs.reduce((sum, each) => sum + (each.progress?.done ?? 0), 0),
    total = jobs.reduce((sum, each) => sum + (each.progress?.total ?? 0), 0);
  const isRunning = jobs.some((each) => !ENDED.has(each.status));
  const cancel = async () => {
    if (await confirm({ title: text.cancelJobs(jobs.length), action: text.cancelThem, danger: true }))
      del(`Jobs/${project.value?.id}`, undefined, { gid }).then(() => {
        toast(text.canceled, { kind: "good" });
        again();
      }, toastError);
  };
  return html`<section class="card job-group"><div class="row"><button type="button" class="job-head" aria-expanded=${open} onClick=${() => setOpen(!open)}><${Icon} name=${open ? "down" : "next"} /><strong class="cut">${jobs[0].title ?? text.launchOf(jobs.length)}</strong>${jobs[0].title && jobs.length > 1 && html`<span class="muted small">${text.launchOf(jobs.length)}</span>`}<span class="muted small">${ago(jobs[0].start_time)}</span></button>
      <span class="grow" />${counts.map(([status, count]) => html`<span key=${status} class=${`chip ${chipOf(status)}`}>${word(status)}${jobs.length > 1 ? ` ${count}` : ""}</span>`)}${isRunning && jobs[0].alg_id && html`<${Button} small kind="danger" icon="stop" onClick=${cancel}>${text.cancelJob}<//>`}</div>
    ${isRunning && total > 0 && html`<${Progress} value=${done / total} name=${text.progress} />`}
    ${open && html`<ul class="jobs">${jobs.map((each) => html`<${Job} key=${each.uid} job=${each} />`)}</ul>`}</section>`;
}

/** @param {{job: any}} props */
function Job({ job }) {
  const [log, setLog] = useState(/** @type {string | null} */ (null));
  const media = job.media_ids?.length ?? 0;
  return html`<li><div class="row"><code class="muted cut">${job.uid}</code>${media > 0 && html`<span class="muted small">${text.mediaCount(media)}</span>`}<span class="grow" />${job.progress?.total > 0 && html`<span class="small number muted">${job.progress.done} / ${job.progress.total} ${job.progress.message ?? ""}</span>`}<span class=${`chip ${chipOf(job.status)}`}>${word(job.status)}</span></div>
    ${job.message && html`<p class="note bad small job-message">${job.message}</p>`}
    ${job.nodes?.length > 0 && html`<ol class="nodes">${job.nodes.map((/** @type {any} */ node) => html`<li key=${node.id}><span class=${`chip ${chipOf(node.status)}`}>${word(node.status)}</span><span class="cut grow">${node.task}</span><span class="muted small">${lasted(node)}</span><${Button} small kind="quiet" icon="list" onClick=${() => setLog(node.id)}>${text.log}<//></li>`)}</ol>`}
    ${log !== null && html`<${Log} uid=${job.uid} node=${log} onClose=${() => setLog(null)} />`}</li>`;
}

/** @param {any} node */
function lasted(node) {
  if (!node.start_time) return "";
  const seconds = Math.max(
    0,
    ((node.stop_time ? Date.parse(node.stop_time) : Date.now()) - Date.parse(node.start_time)) / 1000,
  );
  return seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

/** @param {{uid: string, node: string, onClose: () => void}} props */
function Log({ uid, node, onClose }) {
  const found = useAsync((signal) => get(`JobLog/${uid}`, { node, lines: 500 }, { signal }), [uid, node]);
  return html`<${Dialog} wide title=${text.logOf(found.value?.task ?? node)} onClose=${onClose} footer=${html`<${Button} icon="reload" onClick=${found.again}>${text.reload}<//>`}>
    <${Await} of=${found}>${(/** @type {any} */ value) => html`<pre class="log" tabindex="0">${value.lines.join("\n") || text.emptyLog}</pre>`}<//><//>`;
}

/** Choose an algorithm, the media and its parameters. @param {{name: string, onClose: () => void, onDone: () => void}} props */
function Launch({ name, onClose, onDone }) {
  const open = /** @type {any} */ (project.value);
  const found = useAsync((signal) => get(`Algorithms/${open.id}`, {}, { signal }), [open.id]);
  const [algorithm, setAlgorithm] = useState(name);
  const [section, setSection] = useState("");
  const [values, setValues] = useState(/** @type {Record<string, string>} */ ({}));
  const [failure, setFailure] = useState("");
  const count = useAsync((signal) => get(`MediaCount/${open.id}`, { section }, { signal }), [open.id, section]);
  const algorithms = found.value ?? [];
  const chosen = algorithms.find((/** @type {any} */ each) => each.name === algorithm) ?? algorithms[0];
  const submit = () =>
    post(`Jobs/${open.id}`, {
      algorithm_name: chosen.name,
      media_query: section ? `?section=${section}` : "?",
      extra_params: Object.entries(values)
        .filter(([, value]) => value !== "")
        .map(([key, value]) => ({ name: key, value })),
    }).then(
      () => {
        toast(text.launched(chosen.name), { kind: "good" });
        onDone();
        onClose();
      },
      (reason) => setFailure(explain(reason)),
    );
  return html`<${Dialog} title=${text.launchAlgorithm} onClose=${onClose} onSubmit=${submit} footer=${html`<${Button} onClick=${onClose}>${text.cancel}<//><${Button} kind="primary" icon="play" type="submit" disabled=${!chosen || !count.value}>${text.launch}<//>`}>
    ${failure && html`<div class="note bad" role="alert">${failure}</div>`}
    ${
      found.value === undefined
        ? html`<${Loading} />`
        : !chosen
          ? html`<p>${text.noAlgorithms}</p>${may("Full Control") && html`<p><a href=${link(`/projects/${open.id}/manage/algorithms`)}>${text.registerAlgorithm}</a></p>`}`
          : html`<${Select} label=${text.algorithm} value=${chosen.name} options=${algorithms.map((/** @type {any} */ each) => each.name)} onChange=${setAlgorithm} />
      ${chosen.description && html`<p class="muted">${chosen.description}</p>`}
      <${Select} label=${text.overMedia} value=${section} options=${[["", text.allMedia], ...open.sections.map((/** @type {any} */ each) => [each.id, each.name])]} onChange=${setSection} hint=${count.value === undefined ? "" : text.jobsOf(number(count.value), number(Math.ceil(count.value / Math.max(1, chosen.files_per_job))))} />
      ${(chosen.parameters ?? []).map((/** @type {any} */ each) => html`<${TextField} key=${each.name} label=${each.name} placeholder=${String(each.value ?? "")} value=${values[each.name] ?? ""} onInput=${(/** @type {string} */ value) => setValues({ ...values, [each.name]: value })} />`)}`
    }<//>`;
}
