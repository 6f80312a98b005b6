// Prefixes of registered buckets whose objects are media of the project, where they lie.
import { del, get, patch, post } from "../client.js";
import { html, useState } from "../lib.js";
import { link } from "../router.js";
import { may, project, typeById } from "../store.js";
import { text } from "../strings.js";
import { word } from "../strings_words.js";
import { sources as words } from "../strings_manage.js";
import { ago, date, number } from "../ui/format.js";
import { RecordDialog, RecordTable } from "../ui/records.js";
import { Await, Empty, useAsync, usePolling } from "../ui/states.js";
import { toast, toastError } from "../ui/toast.js";

const SECONDS = 3;
const EXTENSIONS = /** @type {Record<string, string[]>} */ ({
  video: ["mp4", "mov", "mkv", "avi", "webm", "m4v", "mpg", "mts", "ts"],
  image: ["jpg", "jpeg", "png", "tif", "tiff", "webp"],
});
const CHIPS = /** @type {Record<string, string>} */ ({ listed: "good", failed: "bad", listing: "accent" });

export function Sources() {
  const open = /** @type {any} */ (project.value);
  const found = useAsync(
    async (signal) => {
      const [items, buckets] = await Promise.all([
        get(`BucketSources/${open.id}`, {}, { signal }),
        get(`Buckets/${open.project.organization}`, {}, { signal }).catch(() => []),
      ]);
      return { items, buckets };
    },
    [open.id],
  );
  const [editing, setEditing] = useState(/** @type {any} */ (null));
  const isRunning = (found.value?.items ?? []).some((/** @type {any} */ each) => each.status === "listing");
  usePolling(found.again, isRunning, SECONDS);
  const save = (/** @type {any} */ values) => {
    const body = { ...values, ...(values.media_types && { media_types: values.media_types.map(parseType) }) };
    return (
      editing.id ? patch(`BucketSource/${editing.id}`, body) : post(`BucketSources/${open.id}`, { prefix: "", ...body })
    ).then(found.again);
  };
  const listNow = (/** @type {any} */ each) =>
    patch(`BucketSource/${each.id}`, { list_now: true }).then(() => {
      toast(words.begun, { kind: "good" });
      found.again();
    }, toastError);
  const shown = (/** @type {any} */ each) => ({
    ...each,
    media_types: each.media_types.map(
      (/** @type {any} */ { extension, type }) => `${extension} ${typeById("mediaTypes", type)?.name ?? type}`,
    ),
  });
  return html`<${Await} of=${found}>${(/** @type {any} */ { items, buckets }) => {
    const nameOf = (/** @type {number} */ id) => buckets.find((/** @type {any} */ each) => each.id === id)?.name ?? id;
    const folders = open.sections
      .filter((/** @type {any} */ each) => each.dtype === "folder")
      .map((/** @type {any} */ each) => [each.id, each.name]);
    const members = /** @type {import("../ui/records.js").Member[]} */ ([
      { name: "name", label: text.name, required: true },
      {
        name: "bucket",
        label: words.bucket,
        kind: "select",
        only: "create",
        options: buckets.map((/** @type {any} */ each) => [each.id, each.name]),
      },
      { name: "prefix", label: words.prefix, hint: words.prefixHint, only: "create" },
      { name: "media_types", label: words.mediaTypes, hint: words.mediaTypesHint, kind: "lines", required: true },
      { name: "section", label: words.section, kind: "select", options: [["", text.noFolder], ...folders] },
      { name: "pattern", label: words.pattern, hint: words.patternHint },
      { name: "listing_hours", label: words.hours, kind: "number" },
    ]);
    if (!buckets.length && !items.length)
      return html`<h1 class="title">${words.title}</h1><${Empty} icon="bucket" title=${words.none} action=${html`<a href=${link(`/organizations/${open.project.organization}`)}>${text.organizationLead}</a>`}>${words.needBucket}<//>`;
    return html`<${RecordTable} isPage title=${words.title} lead=${words.lead} icon="bucket" items=${items} empty=${words.none} removeMessage=${words.deleteLead} nameOf=${(/** @type {any} */ each) => each.name} onCreate=${may("Full Control") && buckets.length ? () => setEditing({ bucket: buckets[0].id, media_types: usualTypes(open.mediaTypes), pattern: "*", listing_hours: 24 }) : undefined} createLabel=${words.add}
        columns=${[
          {
            name: text.name,
            render: (/** @type {any} */ each) =>
              html`<div class="column tight"><strong>${each.name}</strong><code class="muted small">${nameOf(each.bucket)}/${each.prefix}</code></div>`,
          },
          {
            name: words.objects,
            render: (/** @type {any} */ each) =>
              html`<div class="column tight"><span class="number">${number(each.objects)}</span><span class="muted small">${words.counts(each)}</span></div>`,
          },
          {
            name: text.status,
            render: (/** @type {any} */ each) =>
              html`<div class="column tight"><span><span class=${`chip ${CHIPS[each.status]}`}>${word(each.status)}</span></span><span class="muted small" title=${date(each.listed_datetime)}>${each.message || ago(each.listed_datetime)}</span></div>`,
          },
        ]}
        more=${(/** @type {any} */ each) => [{ label: words.listNow, icon: "reload", run: () => listNow(each) }]} onChange=${(/** @type {any} */ each) => setEditing(shown(each))} onRemove=${(/** @type {any} */ each) => del(`BucketSource/${each.id}`).then(found.again)} />
      ${editing && html`<${RecordDialog} title=${editing.name ?? words.add} isNew=${!editing.id} values=${editing} members=${members} onSave=${save} onClose=${() => setEditing(null)} />`}`;
  }}<//>`;
}

/** The usual extensions with the first type of each kind, a line each. @param {any[]} types of media */
const usualTypes = (types) =>
  Object.entries(EXTENSIONS).flatMap(([dtype, extensions]) => {
    const type = types.find((each) => each.dtype === dtype);
    return type ? extensions.map((each) => `${each} ${type.name}`) : [];
  });

/** A line such as "mp4 Dive". Throws Error where the project has no such type. @param {string} line */
function parseType(line) {
  const [extension, ...rest] = line.trim().split(/\s+/),
    name = rest.join(" ");
  const type = project.peek()?.mediaTypes.find((each) => each.name === name);
  if (!type) throw new Error(words.noType(line));
  return { extension: extension.replace(/^\./, ""), type: type.id };
}
