// Drop files or folders; see them arrive and be transcoded.
import { html, useRef, useState } from "../lib.js";
import { link } from "../router.js";
import { may, project } from "../store.js";
import { text } from "../strings.js";
import { add, foldersOf, kindOf, pause, remove, resume, uploads } from "../uploads.js";
import { Button, Progress, Select } from "../ui/controls.js";
import { bytes, number } from "../ui/format.js";
import { Icon } from "../ui/icons.js";
import { Empty } from "../ui/states.js";
import { toastError } from "../ui/toast.js";

/** So many lines of uploads are shown. */
const MOST_LINES = 200;
const RANK = /** @type {Record<string, number>} */ ({
  failed: 0,
  uploading: 1,
  checking: 1,
  creating: 1,
  transcoding: 2,
  importing: 2,
  paused: 3,
  waiting: 4,
  done: 5,
});

/** @param {{query: Record<string, string>}} props */
export default function Upload({ query }) {
  const open = /** @type {any} */ (project.value);
  const of = (/** @type {string} */ dtype) => open.mediaTypes.filter((/** @type {any} */ each) => each.dtype === dtype);
  const [types, setTypes] = useState({ video: of("video")[0]?.id, image: of("image")[0]?.id });
  const [section, setSection] = useState(query.section ?? "");
  const [over, setOver] = useState(false);
  const [leftOut, setLeftOut] = useState(/** @type {{project: number, message: string} | null} */ (null));
  const files = useRef(/** @type {HTMLInputElement | null} */ (null));
  const folder = useRef(/** @type {HTMLInputElement | null} */ (null));
  const own = uploads.value.filter((each) => each.project === open.id);
  const folders = open.sections.filter((/** @type {any} */ each) => each.dtype === "folder");
  const take = async (/** @type {File[]} */ given, /** @type {Map<File, string>} */ paths = new Map()) => {
    const folderOf = (/** @type {File} */ file) =>
      (paths.get(file) ?? /** @type {any} */ (file).webkitRelativePath ?? "").split("/").filter(Boolean).slice(0, -1);
    const nested = new Map(
      section
        ? []
        : given
            .filter(kindOf)
            .map(folderOf)
            .filter((names) => names.length > 1)
            .map((names) => [names.join("/"), names]),
    );
    try {
      const ids = nested.size ? await foldersOf(open.id, [...nested.values()]) : new Map();
      const refused = add(open.id, given, types, (file) => {
        if (section) return { section_id: Number(section) };
        const names = folderOf(file),
          id = ids.get(names.join("/"));
        return id ? { section_id: id } : { section: names[0] ?? text.newFiles };
      });
      setLeftOut(
        refused.length ? { project: open.id, message: text.refusedFiles(refused.length, refused[0].name) } : null,
      );
    } catch (failure) {
      toastError(failure);
    }
  };
  const drop = async (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    setOver(false);
    const entries = [...(event.dataTransfer?.items ?? [])].map((each) => each.webkitGetAsEntry?.()).filter(Boolean);
    if (!entries.length) {
      take([...(event.dataTransfer?.files ?? [])]);
      return;
    }
    const paths = new Map();
    for (const entry of entries) await walk(/** @type {any} */ (entry), paths);
    take(
      [...paths.keys()].filter((file) =>
        entries.length === 1 && paths.size === 1 ? true : kindOf(file) || !file.name.startsWith("."),
      ),
      paths,
    );
  };
  if (!open.mediaTypes.length)
    return html`<${Empty} icon="upload" title=${text.noMediaTypes} action=${may("Full Control") && html`<${Button} kind="primary" href=${link(`/projects/${open.id}/manage/types`)}>${text.addTypes}<//>`}>${text.noMediaTypesLead}<//>`;
  const active = own.filter((each) => !["done", "failed", "paused"].includes(each.status));
  const count = (/** @type {string} */ status) => own.filter((each) => each.status === status).length;
  const lines =
    own.length > MOST_LINES
      ? [...own].sort((one, two) => RANK[one.status] - RANK[two.status]).slice(0, MOST_LINES)
      : own;
  return html`<div class="page"><header><h1>${text.tabs.upload}</h1></header>
    <div class=${`drop-zone${over ? " over" : ""}`} onDragOver=${(/** @type {Event} */ e) => {
      e.preventDefault();
      setOver(true);
    }} onDragLeave=${() => setOver(false)} onDrop=${drop}>
      <${Icon} name="upload" /><h2>${text.dropHere}</h2><p class="muted">${text.dropLead}</p>
      <div class="row"><${Button} kind="primary" onClick=${() => files.current?.click()}>${text.chooseFiles}<//><${Button} onClick=${() => folder.current?.click()}>${text.chooseFolder}<//></div>
      <input type="file" multiple hidden ref=${files} aria-label=${text.chooseFiles} onChange=${(
        /** @type {any} */ e,
      ) => {
        take([...e.currentTarget.files]);
        e.currentTarget.value = "";
      }} />
      <input type="file" webkitdirectory hidden ref=${folder} aria-label=${text.chooseFolder} onChange=${(
        /** @type {any} */ e,
      ) => {
        take([...e.currentTarget.files]);
        e.currentTarget.value = "";
      }} /></div>
    ${leftOut?.project === open.id && html`<div class="note bad" role="alert">${leftOut?.message}</div>`}
    <div class="upload-options">${["video", "image"].map((dtype) => of(dtype).length > 0 && html`<${Select} key=${dtype} label=${dtype === "video" ? text.videosBecome : text.imagesBecome} value=${types[/** @type {"video"|"image"} */ (dtype)]} options=${of(dtype).map((/** @type {any} */ each) => [each.id, each.name])} onChange=${(/** @type {string} */ id) => setTypes({ ...types, [dtype]: Number(id) })} />`)}
      <${Select} label=${text.intoFolder} value=${section} options=${[["", text.folderOfFiles], ...folders.map((/** @type {any} */ each) => [each.id, each.name])]} onChange=${setSection} /></div>
    ${
      own.length > 0 &&
      html`<section class="column"><div class="row"><h2>${text.uploadsCount(own.length)}</h2><span class="muted grow number">${text.uploadsDone(count("done"), count("failed"))}</span>
      ${active.length > 0 && html`<${Button} small icon="pause" onClick=${() => own.forEach((each) => pause(each.id))}>${text.pauseAll}<//>`}
      ${own.some((each) => each.status === "paused") && html`<${Button} small icon="play" onClick=${() => own.filter((each) => each.status === "paused").forEach((each) => resume(each.id))}>${text.resumeAll}<//>`}
      ${own.some((each) => each.status === "done") && html`<${Button} small onClick=${() => own.filter((each) => each.status === "done").forEach((each) => remove(each.id))}>${text.clearDone}<//>`}</div>
      <ul class="card upload-list">${lines.map((each) => html`<${Line} key=${each.id} upload=${each} />`)}</ul>${lines.length < own.length && html`<p class="muted small">${text.furtherLines(number(own.length - lines.length))}</p>`}</section>`
    }</div>`;
}

/** @param {{upload: import("../uploads.js").Upload}} props */
function Line({ upload }) {
  const share =
    upload.status === "transcoding" ? upload.progress : upload.file.size ? upload.sent / upload.file.size : 1;
  const isBusy = ["checking", "waiting", "uploading"].includes(upload.status);
  const chip = { done: "good", failed: "bad", paused: "warn" }[/** @type {string} */ (upload.status)] ?? "accent";
  return html`<li><${Icon} name=${upload.isVideo ? "video" : "image"} /><div class="grow column upload-text"><div class="row"><span class="cut grow">${upload.media && upload.status === "done" ? html`<a href=${link(`/projects/${upload.project}/media/${upload.media}`)}>${upload.name}</a>` : upload.name}</span><span class="muted small number">${bytes(upload.file.size)}</span><span class=${`chip ${chip}`}>${text.uploadStatus[upload.status]}</span></div>
    ${upload.status !== "done" && upload.status !== "failed" && html`<${Progress} value=${share} name=${upload.name} />`}${upload.message && html`<p class="small upload-message">${upload.message}</p>`}</div>
    ${isBusy && html`<${Button} small kind="quiet" icon="pause" title=${text.pause(upload.name)} onClick=${() => pause(upload.id)} />`}
    ${(upload.status === "paused" || upload.status === "failed") && html`<${Button} small kind="quiet" icon=${upload.status === "failed" ? "reload" : "play"} title=${text.resume(upload.name)} onClick=${() => resume(upload.id)} />`}
    <${Button} small kind="quiet" icon="close" title=${text.removeUpload(upload.name)} onClick=${() => remove(upload.id)} /></li>`;
}

/** All files below an entry of a drop, with their paths. @param {any} entry @param {Map<File, string>} found */
async function walk(entry, found) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    found.set(file, entry.fullPath);
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return;
    for (const each of some) await walk(each, found);
  }
}
