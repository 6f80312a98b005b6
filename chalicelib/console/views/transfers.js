// Exports and imports of a project: datasets as archives in the formats of others.
import { ApiError, del, get } from "../client.js";
import { html, useEffect, useRef, useState } from "../lib.js";
import { may, project, refresh } from "../store.js";
import { text } from "../strings.js";
import { word } from "../strings_words.js";
import { transfers as words } from "../strings_manage.js";
import { Button, Progress } from "../ui/controls.js";
import { confirm, Dialog } from "../ui/dialog.js";
import { ago, bytes, date, number } from "../ui/format.js";
import { Icon } from "../ui/icons.js";
import { Await, Empty, useAsync, usePolling } from "../ui/states.js";
import { toastError } from "../ui/toast.js";
import { CreateExport, CreateImport, FORMATS, importTried, tried } from "./transfers_new.js";
import { TourCard } from "../ui/tour_card.js";
import { Datasets } from "./transfers_datasets.js";

const SECONDS = 2;
const isEnded = (/** @type {any} */ work) => /^(done|succeeded|failed|canceled|expired)$/i.test(work.status);
const isDone = (/** @type {any} */ work) => /^(done|succeeded)$/i.test(work.status);
const formatName = (/** @type {string} */ id) => FORMATS.find(([name]) => name === id)?.[1] ?? id;

export default function Transfers() {
  const open = /** @type {any} */ (project.value);
  const exports_ = useAsync((signal) => get(`Exports/${open.id}`, {}, { signal }), [open.id]);
  const imports = useAsync(
    (signal) =>
      get(`Imports/${open.id}`, {}, { signal }).catch((failure) => {
        if (failure instanceof ApiError && failure.status === 404) return null;
        throw failure;
      }),
    [open.id],
  );
  const [dialog, setDialog] = useState("");
  const [dataset, setDataset] = useState("");
  const isRunning = [...(exports_.value ?? []), ...(imports.value ?? [])].some((each) => !isEnded(each));
  const again = () => {
    exports_.again();
    imports.again();
  };
  usePolling(again, isRunning, SECONDS);
  // an import makes types, folders and versions
  const made = imports.value?.filter((/** @type {any} */ each) => isDone(each) && !each.dry_run).length,
    before = useRef(made);
  useEffect(() => {
    if (before.current !== undefined && made > before.current) refresh().catch(toastError);
    before.current = made;
  }, [made]);
  const remove =
    (/** @type {"Export" | "Import"} */ word, /** @type {any} */ again) => async (/** @type {any} */ work) => {
      if (isEnded(work) || (await confirm({ title: text.cancelWork, action: text.cancelJob, danger: true })))
        del(`${word}/${work.uid}`).then(again, toastError);
    };
  return html`<div class="page"><header><h1>${text.tabs.transfers}</h1></header><${TourCard} project=${open.id} />
    <section class="column"><div class="row"><div class="grow"><h2>${text.exports}</h2><p class="muted">${text.exportsLead}</p></div><${Button} kind="primary" icon="download" onClick=${() => setDialog("export")}>${text.newExport}<//></div>
      <${Await} of=${exports_}>${(/** @type {any[]} */ items) => (items.length === 0 ? html`<${Empty} icon="download" title=${text.noExports} />` : html`<ul class="card works">${[...items].reverse().map((each) => html`<${Work} key=${each.uid} work=${each} about=${exportText(each)} onRemove=${remove("Export", exports_.again)} />`)}</ul>`)}<//></section>
    <${Datasets} onExport=${(/** @type {string} */ name) => {
      setDataset(name);
      setDialog("export");
    }} />
    ${
      imports.value !== null &&
      may("Can Transfer") &&
      html`<section class="column"><div class="row"><div class="grow"><h2>${text.imports}</h2><p class="muted">${text.importsLead}</p></div><${Button} icon="import" onClick=${() => setDialog("import")}>${text.newImport}<//></div>
      <${Await} of=${imports}>${(/** @type {any[]} */ items) => (items.length === 0 ? html`<${Empty} icon="import" title=${text.noImports} />` : html`<ul class="card works">${[...items].reverse().map((each) => html`<${Work} key=${each.uid} work=${each} about=${reportText(each.report)} report=${each.report ?? null} onImport=${tried()[each.uid] ? () => importTried(each.uid).then(imports.again, toastError) : undefined} onRemove=${remove("Import", imports.again)} />`)}</ul>`)}<//></section>`
    }
    ${
      dialog === "export" &&
      html`<${CreateExport} dataset=${dataset} onClose=${() => {
        setDialog("");
        setDataset("");
      }} onDone=${exports_.again} />`
    }${dialog === "import" && html`<${CreateImport} onClose=${() => setDialog("")} onDone=${imports.again} />`}</div>`;
}

/** What an export holds, how much of it was computed, and what is not in it. @param {any} work */
const exportText = (work) =>
  [
    text.exported(number(work.labels), number(work.media)),
    work.interpolated > 0 && text.exportInterpolated(number(work.interpolated)),
    work.left_out > 0 && text.exportLeftOut(number(work.left_out)),
  ]
    .filter(Boolean)
    .join(", ");

/** @param {any} report */
const reportText = (report) =>
  report
    ? [
        text.imported(
          number(report.localizations?.accepted ?? 0),
          number(report.media?.accepted ?? 0),
          number((report.localizations?.refused ?? 0) + (report.media?.refused ?? 0)),
        ),
        report.dropped?.length > 0 &&
          text.importDropped(
            report.dropped.map((/** @type {any} */ each) => `${each.name} (${number(each.rows)})`).join(", "),
          ),
        report.note_count > 0 && text.importNotes(number(report.note_count)),
      ]
        .filter(Boolean)
        .join(", ")
    : "";

/** Go to the archive of an export; its URL is made for one hour when it is asked for. @param {string} uid */
const fetchArchive = (uid) =>
  get(`Export/${uid}`).then((work) => {
    const anchor = Object.assign(document.createElement("a"), { href: work.url, rel: "noreferrer" });
    anchor.click();
  }, toastError);

/** One export or import. @param {{work: any, about: string, report?: any, onImport?: () => void, onRemove: (work: any) => void}} props `report` of an import, null before it has one; `onImport` carries out what was tried */
function Work({ work, about, report, onImport, onRemove }) {
  const [reading, setReading] = useState(false);
  const share = work.progress?.total ? work.progress.done / work.progress.total : 0;
  const chip = isDone(work) ? "good" : /^failed$/i.test(work.status) ? "bad" : "accent";
  return html`<li><div class="row"><${Icon} name=${report === undefined ? "download" : "import"} /><div class="grow column tight"><div class="row"><strong class="cut">${work.name || formatName(work.format)}</strong><span class="chip">${formatName(work.format)}</span>${work.dry_run && html`<span class="chip">${text.dryRun}</span>`}</div>
      <span class="muted small" title=${date(work.created_datetime)}>${[ago(work.created_datetime), isDone(work) && about, work.size > 0 && bytes(work.size)].filter(Boolean).join(" · ")}</span></div><span class=${`chip ${chip}`}>${word(work.status)}</span>
      ${onImport && isDone(work) && html`<${Button} small kind="primary" icon="import" onClick=${onImport}>${words.importNow}<//>`}${report && html`<${Button} small onClick=${() => setReading(true)}>${text.report}<//>`}${report === undefined && isDone(work) && html`<${Button} small kind="primary" icon="download" onClick=${() => fetchArchive(work.uid)}>${text.download}<//>`}
      <${Button} small kind="quiet" icon="close" title=${isEnded(work) ? text.delete : text.cancelJob} onClick=${() => onRemove(work)} /></div>
    ${!isEnded(work) && html`<${Progress} value=${share} name=${work.name || work.format} />`}${work.message && html`<p class="note bad small">${work.message}</p>`}
    ${
      reading &&
      html`<${Dialog} wide title=${text.report} onClose=${() => setReading(false)}><p>${about}</p>${
        report.types?.length > 0 &&
        html`<p>${text.plannedTypes}</p><ul>${report.types.map(
          (/** @type {any} */ each, /** @type {number} */ index) =>
            html`<li key=${index}><strong>${each.name}</strong> <span class="chip">${each.dtype}</span> <span class="muted">${Object.entries(
              each.attributes,
            )
              .map(([name, dtype]) => `${name} (${dtype})`)
              .join(", ")}</span></li>`,
        )}</ul>`
      }${[...(report.refusals ?? []), ...(report.notes ?? [])].length > 0 && html`<table class="table"><thead><tr><th scope="col">${text.place}</th><th scope="col">${text.reason}</th></tr></thead><tbody>${[...(report.refusals ?? []), ...(report.notes ?? [])].map((row, index) => html`<tr key=${index}><td><code>${row.place}</code></td><td>${row.reason}</td></tr>`)}</tbody></table>`}<//>`
    }</li>`;
}
