// Exports and imports of a project: datasets as archives in the formats of others.
import { ApiError, del, get, post } from "../client.js";
import { html, useEffect, useState } from "../lib.js";
import { may, project } from "../store.js";
import { text } from "../strings.js";
import { Button, Checkbox, Progress, Select } from "../ui/controls.js";
import { confirm, Dialog } from "../ui/dialog.js";
import { sendFile } from "../ui/files.js";
import { ago, bytes, date, number } from "../ui/format.js";
import { Icon } from "../ui/icons.js";
import { RecordDialog } from "../ui/records.js";
import { Await, Empty, useAsync } from "../ui/states.js";
import { explain, toast, toastError } from "../ui/toast.js";
import { datasets as datasetWords } from "../strings_manage.js";
import { Datasets } from "./transfers_datasets.js";

const FORMATS = [["coco", "COCO"], ["yolo", "YOLO"], ["voc", "Pascal VOC"], ["mot", "MOT"], ["cvat", "CVAT"], ["fathomnet", "FathomNet"], ["geojson", "GeoJSON"], ["csv", "CSV"], ["jsonl", "JSON Lines"], ["parquet", "Parquet"]];
const READ = ["coco", "yolo", "voc", "mot", "cvat", "csv", "jsonl", "parquet"];
const SECONDS = 2;
const isEnded = (/** @type {any} */ work) => /^(done|succeeded|failed|canceled|expired)$/i.test(work.status);
const isDone = (/** @type {any} */ work) => /^(done|succeeded)$/i.test(work.status);
const formatName = (/** @type {string} */ id) => FORMATS.find(([name]) => name === id)?.[1] ?? id;

export default function Transfers() {
  const open = /** @type {any} */ (project.value);
  const exports_ = useAsync((signal) => get(`Exports/${open.id}`, {}, { signal }), [open.id]);
  const imports = useAsync((signal) => get(`Imports/${open.id}`, {}, { signal }).catch((failure) => { if (failure instanceof ApiError && failure.status === 404) return null; throw failure; }), [open.id]);
  const [dialog, setDialog] = useState("");
  const [dataset, setDataset] = useState("");
  const isRunning = [...(exports_.value ?? []), ...(imports.value ?? [])].some((each) => !isEnded(each));
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => { exports_.again(); imports.again(); }, SECONDS * 1000);
    return () => clearInterval(timer);
  }, [isRunning]);
  const remove = (/** @type {"Export" | "Import"} */ word, /** @type {any} */ again) => async (/** @type {any} */ work) => {
    if (isEnded(work) || (await confirm({ title: text.cancelWork, action: text.cancelJob, danger: true }))) del(`${word}/${work.uid}`).then(again, toastError);
  };
  return html`<div class="page"><header><h1>${text.tabs.transfers}</h1></header>
    <section class="column"><div class="row"><div class="grow"><h2>${text.exports}</h2><p class="muted">${text.exportsLead}</p></div><${Button} kind="primary" icon="download" onClick=${() => setDialog("export")}>${text.newExport}<//></div>
      <${Await} of=${exports_}>${(/** @type {any[]} */ items) => items.length === 0 ? html`<${Empty} icon="download" title=${text.noExports} />` : html`<ul class="card works">${[...items].reverse().map((each) => html`<${Work} key=${each.uid} work=${each} about=${text.exported(number(each.labels), number(each.media))} onRemove=${remove("Export", exports_.again)} />`)}</ul>`}<//></section>
    <${Datasets} onExport=${(/** @type {string} */ name) => { setDataset(name); setDialog("export"); }} />
    ${imports.value !== null && may("Can Transfer") && html`<section class="column"><div class="row"><div class="grow"><h2>${text.imports}</h2><p class="muted">${text.importsLead}</p></div><${Button} icon="import" onClick=${() => setDialog("import")}>${text.newImport}<//></div>
      <${Await} of=${imports}>${(/** @type {any[]} */ items) => items.length === 0 ? html`<${Empty} icon="import" title=${text.noImports} />` : html`<ul class="card works">${[...items].reverse().map((each) => html`<${Work} key=${each.uid} work=${each} about=${reportText(each.report)} report=${each.report} onRemove=${remove("Import", imports.again)} />`)}</ul>`}<//></section>`}
    ${dialog === "export" && html`<${CreateExport} dataset=${dataset} onClose=${() => { setDialog(""); setDataset(""); }} onDone=${exports_.again} />`}${dialog === "import" && html`<${CreateImport} onClose=${() => setDialog("")} onDone=${imports.again} />`}</div>`;
}

/** @param {any} report */
const reportText = (report) => (report ? text.imported(number(report.localizations?.accepted ?? 0), number(report.media?.accepted ?? 0), number((report.localizations?.refused ?? 0) + (report.media?.refused ?? 0))) : "");

/** Go to the archive of an export; its URL is made for one hour when it is asked for. @param {string} uid */
const fetchArchive = (uid) => get(`Export/${uid}`).then((work) => { const anchor = Object.assign(document.createElement("a"), { href: work.url, rel: "noreferrer" }); anchor.click(); }, toastError);

/** One export or import. @param {{work: any, about: string, report?: any, onRemove: (work: any) => void}} props */
function Work({ work, about, report, onRemove }) {
  const [reading, setReading] = useState(false);
  const share = work.progress?.total ? work.progress.done / work.progress.total : 0;
  const chip = isDone(work) ? "good" : /^failed$/i.test(work.status) ? "bad" : "accent";
  return html`<li><div class="row"><${Icon} name=${report === undefined ? "download" : "import"} /><div class="grow column tight"><div class="row"><strong class="cut">${work.name || formatName(work.format)}</strong><span class="chip">${formatName(work.format)}</span>${work.dry_run && html`<span class="chip">${text.dryRun}</span>`}</div>
      <span class="muted small" title=${date(work.created_datetime)}>${[ago(work.created_datetime), isDone(work) && about, work.size > 0 && bytes(work.size)].filter(Boolean).join(" · ")}</span></div><span class=${`chip ${chip}`}>${work.status}</span>
      ${report && html`<${Button} small onClick=${() => setReading(true)}>${text.report}<//>`}${report === undefined && isDone(work) && html`<${Button} small kind="primary" icon="download" onClick=${() => fetchArchive(work.uid)}>${text.download}<//>`}
      <${Button} small kind="quiet" icon="close" title=${isEnded(work) ? text.delete : text.cancelJob} onClick=${() => onRemove(work)} /></div>
    ${!isEnded(work) && html`<${Progress} value=${share} name=${work.name || work.format} />`}${work.message && html`<p class="note bad small">${work.message}</p>`}
    ${reading && html`<${Dialog} wide title=${text.report} onClose=${() => setReading(false)}><p>${about}</p>${[...(report.refusals ?? []), ...(report.notes ?? [])].length > 0 && html`<table class="table"><thead><tr><th scope="col">${text.place}</th><th scope="col">${text.reason}</th></tr></thead><tbody>${[...(report.refusals ?? []), ...(report.notes ?? [])].map((row, index) => html`<tr key=${index}><td><code>${row.place}</code></td><td>${row.reason}</td></tr>`)}</tbody></table>`}<//>`}</li>`;
}

/** @param {{dataset: string, onClose: () => void, onDone: () => void}} props `dataset` is the name of a version of a dataset; "" exports the project as it is */
function CreateExport({ dataset, onClose, onDone }) {
  const open = /** @type {any} */ (project.value);
  const names = [...new Set(open.localizationTypes.flatMap((/** @type {any} */ each) => each.attribute_types.filter((/** @type {any} */ attribute) => ["enum", "string", "bool", "int"].includes(attribute.dtype)).map((/** @type {any} */ attribute) => attribute.name)))];
  const save = (/** @type {any} */ values) => {
    const { attribute, section, version, split, frames, every, ...rest } = values;
    return post(`Exports/${open.id}`, { ...rest, frames: frames ?? "none", ...(frames === "every" && { every: every || 10 }), ...(attribute && { classes: { attribute } }), ...(section && { sections: [Number(section)] }), ...(version && { versions: [Number(version)] }), ...(split && { split: {} }) })
      .then(() => { toast(text.exportStarted, { kind: "good" }); onDone(); });
  };
  return html`<${RecordDialog} title=${text.newExport} action=${text.export_} values=${{ format: "coco", frames: "none", interpolate: true, dataset, ...(dataset && { name: dataset }) }} onSave=${save} onClose=${onClose} members=${[
    { name: "format", label: text.format, kind: "select", options: /** @type {any} */ (FORMATS) }, { name: "name", label: text.name },
    { name: "dataset", label: datasetWords.of, kind: "select", options: dataset ? [["", datasetWords.present], dataset] : [["", datasetWords.present]], when: () => Boolean(dataset) },
    { name: "section", label: text.ofMedia, kind: "select", when: (/** @type {any} */ values) => !values.dataset, options: [["", text.allMedia], ...open.sections.map((/** @type {any} */ each) => [each.id, each.name])] },
    { name: "version", label: text.version, kind: "select", when: (/** @type {any} */ values) => !values.dataset, options: [["", text.allVersions], ...open.versions.map((/** @type {any} */ each) => [each.id, each.name])] },
    { name: "attribute", label: text.classesFrom, kind: "select", options: [["", text.typeName], .../** @type {any} */ (names)], hint: text.classesHint },
    { name: "frames", label: text.pictures, kind: "select", options: [["none", text.noPictures], ["frames", text.labeledFrames], ["crops", text.cropsOf], ["every", text.everyFrame]] }, { name: "every", label: text.everyN, kind: "number", when: (/** @type {any} */ values) => values.frames === "every" },
    { name: "split", label: text.splitMedia, kind: "check" }, { name: "interpolate", label: text.interpolateTracks, kind: "check" }]} />`;
}

/** @param {{onClose: () => void, onDone: () => void}} props */
function CreateImport({ onClose, onDone }) {
  const open = /** @type {any} */ (project.value);
  const [file, setFile] = useState(/** @type {File | null} */ (null));
  const [given, setGiven] = useState({ format: "coco", match: "name", dry_run: true, create_media: true, create_types: false, version: "" });
  const [failure, setFailure] = useState("");
  const [sent, setSent] = useState(-1);
  const submit = async () => {
    if (!file) { setFailure(text.needArchive); return; }
    setFailure("");
    try {
      setSent(0);
      const key = await sendFile(open.id, file, (done) => setSent(done));
      const { version, ...rest } = given;
      await post(`Imports/${open.id}`, { ...rest, key, name: file.name, ...(version && { version: Number(version) }) });
      onDone();
      onClose();
    } catch (reason) { setFailure(explain(reason)); setSent(-1); }
  };
  const set = (/** @type {string} */ name) => (/** @type {any} */ value) => setGiven({ ...given, [name]: value });
  return html`<${Dialog} title=${text.newImport} onClose=${onClose} onSubmit=${submit} footer=${html`<${Button} onClick=${onClose}>${text.cancel}<//><${Button} kind="primary" type="submit" busy=${sent >= 0} disabled=${!file}>${given.dry_run ? text.tryImport : text.import_}<//>`}>
    ${failure && html`<div class="note bad" role="alert">${failure}</div>`}${sent >= 0 && html`<${Progress} value=${sent} name=${text.uploadStatus.uploading} />`}
    <label class="field"><span class="label">${text.archive}</span><input class="input file" type="file" onChange=${(/** @type {any} */ e) => setFile(e.currentTarget.files[0] ?? null)} /><span class="hint">${text.archiveHint}</span></label>
    <${Select} label=${text.format} value=${given.format} options=${FORMATS.filter(([name]) => READ.includes(name))} onChange=${set("format")} />
    <${Select} label=${text.findMedia} value=${given.match} options=${[["name", text.byName], ["path", text.byPath], ["md5", text.byMd5]]} onChange=${set("match")} />
    <${Select} label=${text.version} value=${given.version} options=${[["", text.sameVersion], ...open.versions.map((/** @type {any} */ each) => [each.id, each.name])]} onChange=${set("version")} />
    <${Checkbox} label=${text.createMedia} checked=${given.create_media} onChange=${set("create_media")} />${may("Full Control") && html`<${Checkbox} label=${text.createTypes} checked=${given.create_types} onChange=${set("create_types")} />`}<${Checkbox} label=${text.dryRunLead} checked=${given.dry_run} onChange=${set("dry_run")} /><//>`;
}
