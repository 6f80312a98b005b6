// Versions of datasets: freeze what is there under a name, compare two, export one.
import { del, get, post } from "../client.js";
import { html, useState } from "../lib.js";
import { may, project } from "../store.js";
import { text } from "../strings.js";
import { access } from "../strings_access.js";
import { word } from "../strings_words.js";
import { datasets as words } from "../strings_manage.js";
import { Button, Progress, Select } from "../ui/controls.js";
import { confirm, Dialog } from "../ui/dialog.js";
import { ago, bytes, date, number } from "../ui/format.js";
import { Icon } from "../ui/icons.js";
import { Menu } from "../ui/menu.js";
import { choice, RecordDialog, recordOptions } from "../ui/records.js";
import { ShareDialog } from "../ui/share.js";
import { Await, Empty, useAsync, usePolling } from "../ui/states.js";
import { toast, toastError } from "../ui/toast.js";

const SECONDS = 2;
const TABLES = /** @type {const} */ (["media", "localizations", "states"]);
const KINDS = /** @type {const} */ (["added", "changed", "removed"]);
const isDone = (/** @type {any} */ each) => each.status === "succeeded";

/** @param {{onExport: (name: string) => void}} props */
export function Datasets({ onExport }) {
  const open = /** @type {any} */ (project.value);
  const found = useAsync((signal) => get(`Datasets/${open.id}`, {}, { signal }), [open.id]);
  const [dialog, setDialog] = useState(/** @type {any} */ (null));
  const isRunning = (found.value ?? []).some((/** @type {any} */ each) => ["pending", "running"].includes(each.status));
  usePolling(found.again, isRunning, SECONDS);
  const remove = async (/** @type {any} */ each) => {
    if (
      await confirm({
        title: text.deleteNamed(each.name),
        message: words.deleteLead,
        action: text.delete,
        danger: true,
      })
    )
      del(`Dataset/${each.uid}`).then(() => {
        toast(text.deleted, { kind: "good" });
        found.again();
      }, toastError);
  };
  const create =
    may("Can Edit") && html`<${Button} icon="lock" onClick=${() => setDialog({ kind: "freeze" })}>${words.add}<//>`;
  return html`<section class="column"><div class="row"><div class="grow"><h2>${words.title}</h2><p class="muted">${words.lead}</p></div>${create}</div>
    <${Await} of=${found}>${(/** @type {any[]} */ items) => (items.length === 0 ? html`<${Empty} icon="lock" title=${words.none} />` : html`<ul class="card works">${[...items].reverse().map((each) => html`<${Version} key=${each.uid} version=${each} others=${items.filter((other) => isDone(other) && other.uid !== each.uid)} onExport=${onExport} onShare=${() => setDialog({ kind: "share", version: each })} onCompare=${() => setDialog({ kind: "compare", version: each, others: items.filter((other) => isDone(other) && other.uid !== each.uid) })} onRemove=${() => remove(each)} />`)}</ul>`)}<//>
    ${dialog?.kind === "share" && html`<${ShareDialog} project=${open.id} what=${{ dataset: dialog.version.uid }} onClose=${() => setDialog(null)} />`}${dialog?.kind === "freeze" && html`<${Freeze} onClose=${() => setDialog(null)} onDone=${found.again} />`}${dialog?.kind === "compare" && html`<${Compare} version=${dialog.version} others=${dialog.others} onClose=${() => setDialog(null)} />`}</section>`;
}

/** @param {{version: any, others: any[], onExport: (name: string) => void, onShare: () => void, onCompare: () => void, onRemove: () => void}} props */
function Version({ version, others, onExport, onShare, onCompare, onRemove }) {
  const chip = isDone(version) ? "good" : version.status === "failed" ? "bad" : "accent";
  const share = version.progress?.total ? version.progress.done / version.progress.total : 0;
  const about = [
    ago(version.created_datetime),
    isDone(version) && words.about(number(version.labels), number(version.media), version.seq),
    version.size > 0 && bytes(version.size),
  ];
  return html`<li><div class="row"><${Icon} name="lock" /><div class="grow column tight"><strong class="cut">${version.name}</strong>${version.description && html`<span class="small">${version.description}</span>`}<span class="muted small" title=${date(version.created_datetime)}>${about.filter(Boolean).join(" · ")}</span></div><span class=${`chip ${chip}`}>${word(version.status)}</span>
      <${Menu} small kind="quiet" icon="more" title=${text.actionsOf(version.name)} items=${[isDone(version) && { label: words.export_, icon: "download", run: () => onExport(version.name) }, isDone(version) && may("Full Control") && { label: access.share, icon: "link", run: onShare }, isDone(version) && others.length > 0 && { label: words.compare, icon: "list", run: onCompare }, may("Can Edit") && { label: text.delete, icon: "trash", danger: true, run: onRemove }]} /></div>
    ${["pending", "running"].includes(version.status) && html`<${Progress} value=${share} name=${version.name} />`}${version.message && html`<p class="note bad small">${version.message}</p>`}</li>`;
}

/** @param {{onClose: () => void, onDone: () => void}} props */
function Freeze({ onClose, onDone }) {
  const open = /** @type {any} */ (project.value);
  const save = (/** @type {any} */ { section, version, ...rest }) =>
    post(`Datasets/${open.id}`, {
      ...rest,
      ...(section && { sections: [Number(section)] }),
      ...(version && { versions: [Number(version)] }),
    }).then(() => {
      toast(words.started, { kind: "good" });
      onDone();
    });
  return html`<${RecordDialog} title=${words.add} action=${words.freeze} onSave=${save} onClose=${onClose} members=${[
    { name: "name", label: text.name, required: true },
    { name: "description", label: text.description, kind: "long" },
    choice("section", text.ofMedia, recordOptions(open.sections, text.allMedia)),
    choice("version", text.version, recordOptions(open.versions, text.allVersions)),
  ]} />`;
}

/** What changed between two versions. @param {{version: any, others: any[], onClose: () => void}} props */
function Compare({ version, others, onClose }) {
  const earlier = others.filter((each) => each.seq <= version.seq);
  const [base, setBase] = useState((earlier[earlier.length - 1] ?? others[0]).uid);
  const found = useAsync(
    (signal) => get(`DatasetComparison/${version.uid}`, { base, most_ids: 20 }, { signal }),
    [version.uid, base],
  );
  return html`<${Dialog} wide title=${words.compareTitle(version.name)} onClose=${onClose}><${Select} label=${words.with} value=${base} options=${others.map((each) => [each.uid, each.name])} onChange=${setBase} />
    <${Await} of=${found}>${(
      /** @type {any} */ value,
    ) => html`<div class="table-card"><table class="table"><thead><tr><th scope="col"><span class="visually-hidden">${text.kind}</span></th>${KINDS.map((kind) => html`<th key=${kind} scope="col" class="end">${words[kind]}</th>`)}</tr></thead><tbody>
      ${TABLES.map((table) => html`<tr key=${table}><th scope="row">${words.rows[table]}</th>${KINDS.map((kind) => html`<td key=${kind} class="end number"><strong>${number(value[table][kind])}</strong>${value[table][`${kind}_ids`].length > 0 && html`<div class="muted small" title=${words.ids}>${value[table][`${kind}_ids`].join(", ")}</div>`}</td>`)}</tr>`)}</tbody></table></div>`}<//><//>`;
}
