// A person's bookmarks in the open project: the page that is shown can be kept, and opened again.
import { del, get, patch, post } from "../client.js";
import { html, useState } from "../lib.js";
import { project } from "../store.js";
import { records as words } from "../strings_records.js";
import { text } from "../strings.js";
import { Dialog } from "./dialog.js";
import { Icon } from "./icons.js";
import { Menu } from "./menu.js";
import { RecordDialog, RecordTable } from "./records.js";
import { useAsync } from "./states.js";
import { toast } from "./toast.js";

export function Bookmarks() {
  const open = project.value;
  const found = useAsync(
    (signal) => (open ? get(`Bookmarks/${open.id}`, {}, { signal }) : Promise.resolve([])),
    [open?.id],
  );
  const [doing, setDoing] = useState(/** @type {"" | "add" | "edit"} */ (""));
  if (!open) return null;
  const items = found.value ?? [];
  const add = (/** @type {any} */ { name }) =>
    post(`Bookmarks/${open.id}`, { name, uri: location.hash }).then(() => {
      toast(words.bookmarkSaved, { kind: "good" });
      found.again();
    });
  return html`<${Menu} class="button quiet icon" title=${words.bookmarks} label=${html`<${Icon} name="star" />`} items=${[
    ...items.map((/** @type {any} */ each) => ({ label: each.name, icon: "star", href: each.uri })),
    items.length > 0 && "line",
    { label: words.addBookmark, icon: "add", run: () => setDoing("add") },
    items.length > 0 && { label: words.editBookmarks, icon: "edit", run: () => setDoing("edit") },
  ]} />
    ${doing === "add" && html`<${RecordDialog} title=${words.addBookmark} values=${{ name: document.title }} action=${text.save} onSave=${add} onClose=${() => setDoing("")} members=${[{ name: "name", label: words.bookmarkName, required: true }]} />`}
    ${doing === "edit" && html`<${Edit} items=${found.value} again=${found.again} onClose=${() => setDoing("")} />`}`;
}

/** @param {{items: any[], again: () => void, onClose: () => void}} props */
function Edit({ items, again, onClose }) {
  const [editing, setEditing] = useState(/** @type {any} */ (null));
  if (editing)
    return html`<${RecordDialog} title=${editing.name} isNew=${false} values=${editing} onSave=${(/** @type {any} */ values) => patch(`Bookmark/${editing.id}`, values).then(again)} onClose=${() => setEditing(null)} members=${[
      { name: "name", label: words.bookmarkName, required: true },
      { name: "uri", label: words.address, required: true },
    ]} />`;
  return html`<${Dialog} wide title=${words.bookmarks} onClose=${onClose}><${RecordTable} title="" items=${items} empty=${words.noBookmarks} icon="star" nameOf=${(/** @type {any} */ each) => each.name}
    columns=${[
      { name: text.name, render: (/** @type {any} */ each) => each.name },
      { name: words.address, render: (/** @type {any} */ each) => html`<code class="cut">${each.uri}</code>` },
    ]} onChange=${setEditing} onRemove=${(/** @type {any} */ each) => del(`Bookmark/${each.id}`).then(again)} /><//>`;
}
