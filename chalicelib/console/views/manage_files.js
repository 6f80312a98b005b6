// Files that belong to the project, and what lies there for a day.
import { del, get, patch, post } from "../client.js";
import { html, useState } from "../lib.js";
import { may, project, typeById } from "../store.js";
import { records as words } from "../strings_records.js";
import { text } from "../strings.js";
import { Button } from "../ui/controls.js";
import { confirm } from "../ui/dialog.js";
import { download, sendFile } from "../ui/files.js";
import { date } from "../ui/format.js";
import { RecordDialog, RecordTable } from "../ui/records.js";
import { Await, useAsync } from "../ui/states.js";
import { toast, toastError } from "../ui/toast.js";

/** @typedef {{name: string, render: (each: any) => any}} Column */
const NAME = { name: text.name, render: (/** @type {any} */ each) => html`<strong>${each.name}</strong>` };

export function Files() {
  return html`<div class="column sections"><${ProjectFiles} /><${Temporary} /></div>`;
}

function ProjectFiles() {
  const open = /** @type {any} */ (project.value);
  const found = useAsync((signal) => get(`Files/${open.id}`, {}, { signal }), [open.id]);
  const [editing, setEditing] = useState(/** @type {any} */ (null));
  const [file, setFile] = useState(/** @type {File | null} */ (null));
  const edit = (/** @type {any} */ each) => {
    setFile(null);
    setEditing(each);
  };
  const save = async (/** @type {any} */ values) => {
    if (!editing.id && !open.fileTypes.length) throw new Error(words.needFileType);
    if (!editing.id && !file) throw new Error(words.needFile);
    const id =
      editing.id ??
      (await post(`Files/${open.id}`, { name: file?.name, description: "", type: open.fileTypes[0].id, ...values })).id;
    const content = file ? { path: await sendFile(open.id, file, () => {}, { file_id: id, filename: file.name }) } : {};
    const change = { ...(editing.id && values), ...content };
    if (Object.keys(change).length) await patch(`File/${id}`, change);
    found.again();
  };
  const fetchFile = (/** @type {any} */ each) =>
    post(`DownloadInfo/${open.id}`, { keys: [each.path] }).then(([{ url }]) => location.assign(url), toastError);
  const types = open.fileTypes.map((/** @type {any} */ each) => [each.id, each.name]);
  const members = /** @type {import("../ui/records.js").Member[]} */ ([
    { name: "name", label: text.name },
    { name: "description", label: text.description, kind: "long" },
    { name: "type", label: words.type, kind: "select", options: types },
  ]);
  const mayEdit = may("Can Transfer");
  return html`<${Await} of=${found}>${(/** @type {any[]} */ items) =>
    html`<${RecordTable} isPage title=${words.projectFiles} lead=${words.projectFilesLead} icon="list" items=${items} empty=${words.noFiles} nameOf=${(/** @type {any} */ each) => each.name} onCreate=${mayEdit ? () => edit({ type: open.fileTypes[0]?.id }) : undefined} createLabel=${words.addFile}
      columns=${[
        NAME,
        { name: text.description, render: (/** @type {any} */ each) => each.description },
        { name: words.type, render: (/** @type {any} */ each) => typeById("fileTypes", each.type)?.name },
        { name: text.created, render: (/** @type {any} */ each) => date(each.created_datetime) },
      ]}
      more=${(/** @type {any} */ each) => [each.path && { label: text.download, icon: "download", run: () => fetchFile(each) }]}
      onChange=${mayEdit ? edit : undefined} onRemove=${mayEdit ? (/** @type {any} */ each) => del(`File/${each.id}`).then(found.again) : undefined} />`}<//>
    ${editing && html`<${RecordDialog} title=${editing.name ?? words.addFile} isNew=${!editing.id} values=${editing} members=${members} onSave=${save} onClose=${() => setEditing(null)}><label class="field"><span class="label">${words.projectFiles}</span><input class="input file" type="file" onChange=${(/** @type {any} */ e) => setFile(e.currentTarget.files[0] ?? null)} /></label><//>`}`;
}

function Temporary() {
  const open = /** @type {any} */ (project.value);
  const found = useAsync((signal) => get(`TemporaryFiles/${open.id}`, {}, { signal }), [open.id]);
  const mayEdit = may("Can Transfer");
  const clear = async () => {
    const isSure = await confirm({
      title: text.deleteNamed(words.temporary),
      message: words.deleteAllLead,
      action: text.delete,
      danger: true,
    });
    if (isSure)
      del(`TemporaryFiles/${open.id}`).then(() => {
        toast(text.deleted, { kind: "good" });
        found.again();
      }, toastError);
  };
  return html`<${Await} of=${found}>${(/** @type {any[]} */ items) =>
    html`<${RecordTable} title=${words.temporary} lead=${words.temporaryLead} icon="clock" items=${items} empty=${words.noTemporary} nameOf=${(/** @type {any} */ each) => each.name}
      columns=${[
        NAME,
        { name: text.created, render: (/** @type {any} */ each) => date(each.created_datetime) },
        { name: words.until, render: (/** @type {any} */ each) => date(each.eol_datetime) },
      ]}
      more=${(/** @type {any} */ each) => [{ label: text.download, icon: "download", run: () => download(each).catch(toastError) }]}
      onRemove=${mayEdit ? (/** @type {any} */ each) => del(`TemporaryFile/${each.id}`).then(found.again) : undefined} />
    ${mayEdit && items.length > 0 && html`<div><${Button} kind="danger" icon="trash" onClick=${clear}>${words.deleteAll}<//></div>`}`}<//>`;
}
