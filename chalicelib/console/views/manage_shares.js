// The share links of a project: what guests without an account may see, and until when.
import { del, get } from "../client.js";
import { html, useState } from "../lib.js";
import { project } from "../store.js";
import { access as words } from "../strings_access.js";
import { text } from "../strings.js";
import { date } from "../ui/format.js";
import { RecordDialog, RecordTable } from "../ui/records.js";
import { ShareDialog } from "../ui/share.js";
import { Await, useAsync } from "../ui/states.js";

export function Shares() {
  const open = /** @type {any} */ (project.value);
  const [section, setSection] = useState(/** @type {number | null} */ (null));
  const [choosing, setChoosing] = useState(false);
  const links = useAsync((signal) => get(`ShareLinks/${open.id}`, {}, { signal }), [open.id]);
  const folders = open.sections.filter((/** @type {any} */ each) => each.dtype === "folder");
  const nameOf = (/** @type {any} */ each) =>
    each.section
      ? (folders.find((/** @type {any} */ one) => one.id === each.section)?.name ?? String(each.section))
      : words.mediaCount(each.media_ids.length);
  return html`<div class="page"><${Await} of=${links}>${(
    /** @type {any[]} */ found,
  ) => html`<${RecordTable} isPage title=${words.links} lead=${words.linksLead} icon="link" items=${found} empty=${words.noLinks} nameOf=${(/** @type {any} */ each) => each.name || nameOf(each)} removeMessage=${words.endLink}
      onCreate=${folders.length ? () => setChoosing(true) : undefined} createLabel=${words.share} onRemove=${(/** @type {any} */ each) => del(`ShareLink/${each.id}`).then(links.again)}
      columns=${[{ name: text.name, render: (/** @type {any} */ each) => html`<strong>${each.name}</strong>` }, { name: words.shows, render: nameOf }, { name: words.opened, render: (/** @type {any} */ each) => `${each.openings}${each.most_openings ? ` / ${each.most_openings}` : ""}` }, { name: words.ends, render: (/** @type {any} */ each) => date(each.expires_datetime) || words.never }]} />`}<//>
    ${choosing && html`<${RecordDialog} title=${words.share} action=${words.share} values=${{ section: folders[0].id }} onClose=${() => setChoosing(false)} onSave=${async (/** @type {any} */ values) => setSection(Number(values.section))} members=${[{ name: "section", label: text.folders, kind: "select", options: folders.map((/** @type {any} */ each) => [each.id, each.name]) }]} />`}
    ${section !== null && html`<${ShareDialog} project=${open.id} what=${{ section }} onMade=${links.again} onClose=${() => setSection(null)} />`}</div>`;
}
