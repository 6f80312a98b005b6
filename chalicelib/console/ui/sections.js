// Sections in the side of the gallery: folders as a tree, playlists, saved searches.
import { del, patch, post } from "../client.js";
import { html, useState } from "../lib.js";
import { link } from "../router.js";
import { may, project, reload } from "../store.js";
import { text } from "../strings.js";
import { Button } from "./controls.js";
import { confirm, prompt } from "./dialog.js";
import { Icon } from "./icons.js";
import { Menu } from "./menu.js";
import { toastDeleted } from "./restore.js";
import { toast, toastError } from "./toast.js";

/** Folders by the path of their parent. @param {any[]} folders */
function tree(folders) {
  const paths = new Set(folders.map((each) => each.path));
  const parent = (/** @type {string} */ path) => { const above = path.split(".").slice(0, -1).join("."); return paths.has(above) ? above : ""; };
  return Map.groupBy([...folders].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true })), (each) => parent(each.path));
}

/** @param {{chosen: string, onClear: () => void}} props `chosen` is the id of the open section, or "" */
export function Sections({ chosen, onClear }) {
  const open = /** @type {any} */ (project.value);
  const folders = open.sections.filter((/** @type {any} */ each) => each.dtype === "folder" && each.visible !== false);
  const children = tree(folders);
  const others = (/** @type {string} */ dtype) => open.sections.filter((/** @type {any} */ each) => each.dtype === dtype).sort((/** @type {any} */ a, /** @type {any} */ b) => a.name.localeCompare(b.name));
  const create = async () => {
    const name = await prompt({ title: text.newFolder, label: text.name, action: text.create });
    if (name) post(`Sections/${open.id}`, { name, dtype: "folder" }).then(() => reload("sections"), toastError);
  };
  /** @type {(path: string, depth: number) => any} */
  const level = (path, depth) => (children.get(path) ?? []).map((/** @type {any} */ each) => html`<${Item} key=${each.id} section=${each} icon="folder" chosen=${chosen} depth=${depth} onClear=${onClear} />${level(each.path, depth + 1)}`);
  return html`<nav aria-label=${text.sections}>
    <a class="item" href=${link(`/projects/${open.id}`)} aria-current=${chosen ? undefined : "page"}><${Icon} name="grid" /><span class="grow">${text.allMedia}</span></a>
    <h2>${text.folders}${may("Can Edit") && html`<${Button} small kind="quiet" icon="add" title=${text.newFolder} onClick=${create} />`}</h2>
    ${folders.length ? level("", 0) : html`<p class="muted small side-note">${text.noFolders}</p>`}
    ${others("playlist").length > 0 && html`<h2>${text.playlists}</h2>${others("playlist").map((/** @type {any} */ each) => html`<${Item} key=${each.id} section=${each} icon="list" chosen=${chosen} depth=${0} onClear=${onClear} />`)}`}
    <h2>${text.savedSearches}</h2>
    ${others("saved_search").length ? others("saved_search").map((/** @type {any} */ each) => html`<${Item} key=${each.id} section=${each} icon="search" chosen=${chosen} depth=${0} onClear=${onClear} />`) : html`<p class="muted small side-note">${text.noSavedSearches}</p>`}</nav>`;
}

/** @param {{section: any, icon: string, chosen: string, depth: number, onClear: () => void}} props */
function Item({ section, icon, chosen, depth, onClear }) {
  const [busy, setBusy] = useState(false);
  const after = (/** @type {Promise<any>} */ change, /** @type {string} */ message) => { setBusy(true); change.then(() => { reload("sections"); toast(message, { kind: "good" }); }, toastError).finally(() => setBusy(false)); };
  const rename = async () => {
    const name = await prompt({ title: text.renameSection, label: text.name, value: section.name, action: text.save });
    if (name) after(patch(`Section/${section.id}`, { name }), text.saved);
  };
  const remove = async () => {
    if (!(await confirm({ title: text.deleteSection(section.name), message: text.deleteSectionLead, action: text.delete, danger: true }))) return;
    if (chosen === String(section.id)) onClear();
    setBusy(true);
    del(`Section/${section.id}`).then(() => { toastDeleted(section.project, "section", [section.id], () => reload("sections")); return reload("sections"); }).catch(toastError).finally(() => setBusy(false));
  };
  return html`<div class="side-row" style=${{ "--depth": depth }}><a class="item" href=${link(`/projects/${section.project}`, { section: section.id })} aria-current=${chosen === String(section.id) ? "page" : undefined}><${Icon} name=${icon} /><span class="cut grow">${section.name}</span></a>
    ${may("Can Edit") && html`<${Menu} small kind="quiet" icon="more" title=${text.actionsOf(section.name)} disabled=${busy} items=${[{ label: text.rename, icon: "edit", run: rename }, { label: text.delete, icon: "trash", danger: true, run: remove }]} />`}</div>`;
}
