// The share links of a project: what guests without an account may see, and until when.
import { del, get } from "../client.js";
import { html, useState } from "../lib.js";
import { project } from "../store.js";
import { access as words } from "../strings_access.js";
import { text } from "../strings.js";
import { ago, date } from "../ui/format.js";
import { RecordDialog, RecordTable } from "../ui/records.js";
import { ShareDialog } from "../ui/share.js";
import { Await, useAsync } from "../ui/states.js";

export function Shares() {
  const open = /** @type {any} */ (project.value);
  const [section, setSection] = useState(/** @type {number | null} */ (null));
  const [choosing, setChoosing] = useState(false);
  const links = useAsync((signal) => get(`ShareLinks/${open.id}`, {}, { signal }), [open.id]);
  const folders = open.sections;
  const chosen = folders.find((/** @type {any} */ each) => each.id === section);
  const nameOf = (/** @type {any} */ each) => {
    const number = each.section ?? each.search;
    if (number) return open.sections.find((/** @type {any} */ one) => one.id === number)?.name ?? String(number);
    if (each.dataset) return words.datasetShared;
    if (each.comment) return words.commentShared;
    if (each.frames) return words.framesShared(each.frames.start, each.frames.stop - 1);
    return each.view ? words.viewShared : words.mediaCount(each.media_ids.length);
  };
  const uses = (/** @type {any} */ each) => {
    const count = `${each.openings}${each.most_openings ? ` / ${each.most_openings}` : ""}`;
    return each.last_opened_datetime ? `${count}, ${words.lastOpened(ago(each.last_opened_datetime))}` : count;
  };
  return html`<${Await} of=${links}>${(
    /** @type {any[]} */ found,
  ) => html`<${RecordTable} isPage title=${words.links} lead=${words.linksLead} icon="link" items=${found} empty=${words.noLinks} nameOf=${(/** @type {any} */ each) => each.name || nameOf(each)} removeMessage=${words.endLink}
      onCreate=${folders.length ? () => setChoosing(true) : undefined} createLabel=${words.share} onRemove=${(/** @type {any} */ each) => del(`ShareLink/${each.id}`).then(links.again)}
      columns=${[{ name: text.name, render: (/** @type {any} */ each) => html`<strong>${each.name}</strong>` }, { name: words.shows, render: nameOf }, { name: words.opened, render: uses }, { name: words.ends, render: (/** @type {any} */ each) => date(each.expires_datetime) || words.never }]} />`}<//>
    ${choosing && html`<${RecordDialog} title=${words.share} action=${words.share} values=${{ section: folders[0].id }} onClose=${() => setChoosing(false)} onSave=${async (/** @type {any} */ values) => setSection(Number(values.section))} members=${[{ name: "section", label: words.searches, kind: "select", options: folders.map((/** @type {any} */ each) => [each.id, each.name]) }]} />`}
    ${chosen && html`<${ShareDialog} project=${open.id} what=${chosen.dtype === "folder" ? { section } : { search: section }} onMade=${links.again} onClose=${() => setSection(null)} />`}`;
}
