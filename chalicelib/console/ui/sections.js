// Sections in the side of the gallery: folders as a tree, playlists, saved searches. Folders and media are moved by dragging them onto a
// folder, or by menus.
import { del, patch, post } from "../client.js";
import { locale } from "../locale.js";
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

/** The types of what is dragged: ids of media, as JSON; the id of a section. */
export const DRAGGED_MEDIA = "application/x-limn-media";
const DRAGGED_SECTION = "application/x-limn-section";

/** A find field stands above more folders than this. */
const MANY = 15;

/** Move a folder into another one, or to the top. @param {any} section @param {any} parent null for the top */
function moveSection(section, parent) {
  const name = section.path.split(".").pop();
  const path = parent ? `${parent.path}.${name}` : name;
  if (path === section.path || (parent && isWithin(parent, section))) return;
  patch(`Section/${section.id}`, { path }).then(() => {
    reload("sections");
    toast(text.movedTo(parent?.name ?? text.folders), { kind: "good" });
  }, toastError);
}

/** Whether a folder is another one or lies in it. @param {any} folder @param {any} other */
const isWithin = (folder, other) => folder.path === other.path || folder.path.startsWith(`${other.path}.`);

/** What makes an element take media and folders. @param {any} folder null for the top, which takes folders @param {(over: boolean) => void} setOver @param {() => void} onMoved */
function dropTarget(folder, setOver, onMoved) {
  if (!may("Can Edit")) return {};
  const types = folder ? [DRAGGED_MEDIA, DRAGGED_SECTION] : [DRAGGED_SECTION];
  return {
    onDragOver: (/** @type {DragEvent} */ event) => {
      if (types.some((each) => event.dataTransfer?.types.includes(each))) {
        event.preventDefault();
        setOver(true);
      }
    },
    onDragLeave: () => setOver(false),
    onDrop: (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      setOver(false);
      const open = /** @type {any} */ (project.peek()),
        ids = event.dataTransfer?.getData(DRAGGED_MEDIA),
        id = Number(event.dataTransfer?.getData(DRAGGED_SECTION));
      const section = open.sections.find((/** @type {any} */ each) => each.id === id);
      if (section) moveSection(section, folder);
      else if (ids)
        patch(`Medias/${open.id}`, { ids: JSON.parse(ids), primary_section: folder.id }).then(() => {
          toast(text.movedTo(folder.name), { kind: "good" });
          onMoved();
        }, toastError);
    },
  };
}

/** Folders by the path of their parent. @param {any[]} folders */
function tree(folders) {
  const paths = new Set(folders.map((each) => each.path));
  const parent = (/** @type {string} */ path) => {
    const above = path.split(".").slice(0, -1).join(".");
    return paths.has(above) ? above : "";
  };
  return Map.groupBy(
    [...folders].sort((a, b) => a.name.localeCompare(b.name, locale, { numeric: true })),
    (each) => parent(each.path),
  );
}

/** @param {{chosen: string, onClear: () => void, onMoved: () => void}} props `chosen` is the id of the open section, or "" */
export function Sections({ chosen, onClear, onMoved }) {
  const [isOver, setOver] = useState(false);
  const [wanted, setWanted] = useState("");
  const open = /** @type {any} */ (project.value);
  const folders = open.sections.filter((/** @type {any} */ each) => each.dtype === "folder" && each.visible !== false);
  const children = tree(folders);
  const matches = folders.filter((/** @type {any} */ each) =>
    each.name.toLowerCase().includes(wanted.trim().toLowerCase()),
  );
  const others = (/** @type {string} */ dtype) =>
    open.sections
      .filter((/** @type {any} */ each) => each.dtype === dtype)
      .sort((/** @type {any} */ a, /** @type {any} */ b) => a.name.localeCompare(b.name));
  const create = async () => {
    const name = await prompt({ title: text.newFolder, label: text.name, action: text.create });
    if (name) post(`Sections/${open.id}`, { name, dtype: "folder" }).then(() => reload("sections"), toastError);
  };
  /** @type {(path: string, depth: number) => any} */
  const level = (path, depth) =>
    (children.get(path) ?? []).map(
      (/** @type {any} */ each) =>
        html`<${Item} key=${each.id} section=${each} icon="folder" folders=${folders} onMoved=${onMoved} chosen=${chosen} depth=${depth} onClear=${onClear} />${level(each.path, depth + 1)}`,
    );
  return html`<nav aria-label=${text.sections}>
    <a class="item" href=${link(`/projects/${open.id}`)} aria-current=${chosen ? undefined : "page"}><${Icon} name="grid" /><span class="grow">${text.allMedia}</span></a>
    <h2 class=${isOver ? "drop" : ""} ...${dropTarget(null, setOver, onMoved)}>${text.folders}${may("Can Edit") && html`<${Button} small kind="quiet" icon="add" title=${text.newFolder} onClick=${create} />`}</h2>
    ${folders.length > MANY && html`<input class="input small" type="search" aria-label=${text.findFolder} placeholder=${text.findFolder} value=${wanted} onInput=${(/** @type {any} */ e) => setWanted(e.currentTarget.value)} />`}
    ${folders.length ? html`<div class="folders">${wanted.trim() ? matches.map((/** @type {any} */ each) => html`<${Item} key=${each.id} section=${each} icon="folder" folders=${folders} onMoved=${onMoved} chosen=${chosen} depth=${0} onClear=${onClear} />`) : level("", 0)}</div>` : html`<p class="muted small side-note">${text.noFolders}</p>`}
    ${others("playlist").length > 0 && html`<h2>${text.playlists}</h2>${others("playlist").map((/** @type {any} */ each) => html`<${Item} key=${each.id} section=${each} icon="list" chosen=${chosen} depth=${0} onClear=${onClear} />`)}`}
    <h2>${text.savedSearches}</h2>
    ${others("saved_search").length ? others("saved_search").map((/** @type {any} */ each) => html`<${Item} key=${each.id} section=${each} icon="search" chosen=${chosen} depth=${0} onClear=${onClear} />`) : html`<p class="muted small side-note">${text.noSavedSearches}</p>`}</nav>`;
}

/** @param {{section: any, icon: string, chosen: string, depth: number, onClear: () => void, folders?: any[], onMoved?: () => void}} props `folders` of the project, for one of them */
function Item({ section, icon, chosen, depth, onClear, folders, onMoved }) {
  const [isOver, setOver] = useState(false);
  const targets = (folders ?? []).filter(
    (each) => !isWithin(each, section) && section.path !== `${each.path}.${section.path.split(".").pop()}`,
  );
  const moves = [
    ...targets.map((each) => ({
      label: text.moveInto(each.name),
      icon: "folder",
      run: () => moveSection(section, each),
    })),
    folders &&
      section.path.includes(".") && { label: text.moveToTop, icon: "up", run: () => moveSection(section, null) },
  ];
  const drag =
    folders && may("Can Edit")
      ? {
          draggable: true,
          onDragStart: (/** @type {DragEvent} */ event) =>
            event.dataTransfer?.setData(DRAGGED_SECTION, String(section.id)),
          ...dropTarget(section, setOver, onMoved ?? (() => {})),
        }
      : {};
  const [busy, setBusy] = useState(false);
  const after = (/** @type {Promise<any>} */ change, /** @type {string} */ message) => {
    setBusy(true);
    change
      .then(() => {
        reload("sections");
        toast(message, { kind: "good" });
      }, toastError)
      .finally(() => setBusy(false));
  };
  const rename = async () => {
    const name = await prompt({ title: text.renameSection, label: text.name, value: section.name, action: text.save });
    if (name) after(patch(`Section/${section.id}`, { name }), text.saved);
  };
  const remove = async () => {
    if (
      !(await confirm({
        title: text.deleteSection(section.name),
        message: text.deleteSectionLead,
        action: text.delete,
        danger: true,
      }))
    )
      return;
    if (chosen === String(section.id)) onClear();
    setBusy(true);
    del(`Section/${section.id}`)
      .then(() => {
        toastDeleted(section.project, "section", [section.id], () => reload("sections"));
        return reload("sections");
      })
      .catch(toastError)
      .finally(() => setBusy(false));
  };
  return html`<div class="side-row" style=${{ "--depth": depth }}><a class=${`item${isOver ? " drop" : ""}`} ...${drag} href=${link(`/projects/${section.project}`, { section: section.id })} aria-current=${chosen === String(section.id) ? "page" : undefined}><${Icon} name=${icon} /><span class="cut grow">${section.name}</span></a>
    ${may("Can Edit") && html`<${Menu} small kind="quiet" icon="more" title=${text.actionsOf(section.name)} disabled=${busy} items=${[{ label: text.rename, icon: "edit", run: rename }, ...moves, { label: text.delete, icon: "trash", danger: true, run: remove }]} />`}</div>`;
}
