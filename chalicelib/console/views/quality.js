// Quality: reports of how far layers agree. A report's numbers open the conflicts that they count.
import { del, get, post } from "../client.js";
import { html, useEffect, useState } from "../lib.js";
import { link, navigate } from "../router.js";
import { may, project } from "../store.js";
import { text } from "../strings.js";
import { word } from "../strings_words.js";
import { quality as words } from "../strings_team.js";
import { Button } from "../ui/controls.js";
import { confirm } from "../ui/dialog.js";
import { ago, number } from "../ui/format.js";
import { choice, RecordDialog } from "../ui/records.js";
import { Await, Empty, useAsync } from "../ui/states.js";
import { toastError } from "../ui/toast.js";
import { Report } from "./quality_report.js";
import { classAttributes, whichMedia } from "./tasks_new.js";
import { TeamHead } from "./team_head.js";

const PAUSE_MS = 1500;
const KINDS = /** @type {Record<string, string>} */ ({ succeeded: "good", failed: "bad", running: "accent" });
const isWorking = (/** @type {any} */ report) => ["pending", "running"].includes(report.status);

/** The name of a layer. @param {number} id */
export const layerName = (id) =>
  project.value?.versions.find((/** @type {any} */ each) => each.id === id)?.name ?? words.layerNumber(id);

/** What a report compares. @param {any} spec */
const titleOf = ({ reference, versions }) =>
  reference === null || reference === undefined
    ? versions.map(layerName).join(" · ")
    : words.against(versions.map(layerName).join(", "), layerName(reference));

/** @param {{params: Record<string, string>, query: Record<string, string>}} props */
export default function Quality({ params, query }) {
  return params.report ? html`<${One} uid=${params.report} query=${query} />` : html`<${All} />`;
}

function All() {
  const open = /** @type {any} */ (project.value);
  const [adding, setAdding] = useState(false);
  const reports = useAsync((signal) => get(`QualityReports/${open.id}`, {}, { signal }), [open.id]);
  useWatch(reports, (reports.value ?? []).some(isWorking));
  const remove = async (/** @type {any} */ report) => {
    if (await confirm({ title: words.deleteReport, action: text.delete, danger: true }))
      del(`QualityReport/${report.uid}`).then(reports.again, toastError);
  };
  const create = html`<${Button} kind="primary" icon="add" onClick=${() => setAdding(true)}>${words.newReport}<//>`;
  const row = (
    /** @type {any} */ report,
  ) => html`<tr key=${report.uid}><td><a href=${link(`/projects/${open.id}/quality/${report.uid}`)}>${titleOf(report.spec)}</a>${report.message && html`<div class="small muted">${report.message}</div>`}</td>
    <td>${report.spec.class_attribute ?? words.byType}</td><td class="end number">${report.spec.iou}</td><td><span class=${`chip ${KINDS[report.status] ?? ""}`}>${word(report.status)}</span></td><td class="muted small">${ago(report.created_datetime)}</td>
    <td class="end"><${Button} small kind="quiet" icon="trash" title=${words.deleteOf(titleOf(report.spec))} onClick=${() => remove(report)} /></td></tr>`;
  return html`<div class="page"><${TeamHead} at="quality">${may("Full Control") && html`<${Button} icon="people" href=${link(`/projects/${open.id}/quality/people`)}>${words.people}<//>`}${reports.value?.length ? create : null}<//>
    <${Await} of=${reports}>${(/** @type {any[]} */ found) =>
      found.length
        ? html`<div class="card scroll"><table class="table"><thead><tr><th>${words.layers}</th><th>${words.classes}</th><th class="end">${words.iou}</th><th>${words.status}</th><th>${words.made}</th><th><span class="visually-hidden">${text.actions}</span></th></tr></thead><tbody>${[...found].reverse().map(row)}</tbody></table></div>`
        : html`<${Empty} icon="plot" title=${words.noReports} action=${create}>${words.noReportsLead}<//>`}<//>
    ${adding && html`<${NewReport} onClose=${() => setAdding(false)} />`}</div>`;
}

/** Read again while something is at work. @param {{again: () => void, busy: boolean}} of @param {boolean} isAtWork */
function useWatch(of, isAtWork) {
  useEffect(() => {
    if (!isAtWork || of.busy) return undefined;
    const timer = setTimeout(of.again, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [isAtWork, of.busy]);
}

/** @param {{uid: string, query: Record<string, string>}} props */
function One({ uid, query }) {
  const report = useAsync((signal) => get(`QualityReport/${uid}`, {}, { signal }), [uid]);
  useWatch(report, Boolean(report.value && isWorking(report.value)));
  const back = html`<${Button} icon="back" href=${link(`/projects/${project.value?.id}/quality`)}>${words.allReports}<//>`;
  return html`<div class="page wide quality"><${TeamHead} at="quality">${back}<//><${Await} of=${report}>${(
    /** @type {any} */ found,
  ) =>
    html`<h2>${titleOf(found.spec)}</h2>${
      isWorking(found)
        ? html`<p class="row" role="status"><span class="spinner" />${words.atWork}${found.compared ? html` <span class="number">${words.compared(number(found.compared))}</span>` : ""}</p>`
        : found.status === "failed"
          ? html`<p class="note bad" role="alert">${found.message}</p>`
          : html`<${Report} report=${found} query=${query} />`
    }`}<//></div>`;
}

/** @param {{onClose: () => void}} props */
function NewReport({ onClose }) {
  const open = /** @type {any} */ (project.value);
  const layers = open.versions.map((/** @type {any} */ each) => [each.id, each.name]);
  const save = async (/** @type {any} */ { iou = 0.5, which, query, ...spec }) => {
    const narrowed = [which, query].filter(Boolean).join("&") || undefined;
    const { uid } = await post(`QualityReports/${open.id}`, { ...spec, query: narrowed, iou: Number(iou) });
    navigate(`/projects/${open.id}/quality/${uid}`);
  };
  return html`<${RecordDialog} title=${words.newReport} values=${{ iou: "0.5", versions: [], reference: "", which: "" }} onSave=${save} onClose=${onClose} members=${[
    choice("reference", words.reference, [["", words.eachOther], ...layers]),
    { name: "versions", label: words.layers, kind: "choices", options: layers },
    whichMedia("which"),
    choice("class_attribute", words.classes, [["", words.byType], ...classAttributes()]),
    { name: "iou", label: words.iou, hint: words.iouHint },
    { name: "class_aware", label: words.classAware, kind: "check" },
    { name: "query", label: words.query, hint: words.queryHint },
  ]} />`;
}
