// The change log: who changed what, filtered by person and kind; deletions are undone from here.
import { get, post, request } from "../client.js";
import { html, useEffect, useState } from "../lib.js";
import { link, setQuery } from "../router.js";
import { may, project, typeById, user } from "../store.js";
import { text } from "../strings.js";
import { history as words } from "../strings_manage.js";
import { memberName } from "../strings_words.js";
import { Button, Checkbox, CommittedInput, Field, Select } from "../ui/controls.js";
import { ago, date, decimal, valueText } from "../ui/format.js";
import { Await, Empty, useAsync } from "../ui/states.js";
import { toast, toastError } from "../ui/toast.js";

const KINDS = ["media", "localization", "state", "leaf"];
const DELETIONS = ["media.deleted", "localization.deleted", "state.deleted", "leaf.deleted", "section.deleted"];
const PAGE = 200;
const CHANGES_PER_REQUEST = 100;
const ALL = "all";
const DAY = 86400e3;
/** The spans of time that are read until they have a page of changes: the log begins with the oldest. */
const SPANS = [DAY, 7 * DAY, 30 * DAY, 365 * DAY, Infinity];
/** An entry's id is the number of its commit times this. */
const ENTRIES_OF_A_COMMIT = 10_000;

/** The newest changes that match, newest first. @param {number} project_ @param {any} filter @param {number} count @param {AbortSignal} signal */
async function newest(project_, filter, count, signal) {
  /** @type {any[]} */
  let found = [];
  for (const span of SPANS) {
    const since = span === Infinity ? "1970-01-01T00:00:00Z" : new Date(Date.now() - span).toISOString();
    found = [];
    for (let after = 0; ; ) {
      const answer = await request("GET", `ChangeLog/${project_}`, {
        query: { ...filter, since, after: after || "", stop: 2000 },
        signal,
        as: "response",
      });
      const page = await answer.json();
      found = [...found, ...page].slice(-count);
      if (!answer.headers.get("Link") || !page.length) break;
      after = page[page.length - 1].id;
    }
    if (found.length >= count) break;
  }
  return found.reverse();
}

/**
 * What deletions since a commit deleted, by commit, and the deletions of sections, which the log does not have. Empty where the feed does
 * not reach back so far. @param {number} project_ @param {number} since @param {AbortSignal} signal
 */
async function deletions(project_, since, signal) {
  /** @type {Map<number, {kind: string, ids: number[], event: any}>} */
  const found = new Map();
  for (let after = String(Math.max(0, since - 1)); after; ) {
    const page = await get(`Events/${project_}`, { after, kinds: DELETIONS.join(","), limit: 500 }, { signal }).catch(
      (failure) => {
        if (failure.status === 410) return null;
        throw failure;
      },
    );
    for (const event of page?.events ?? []) {
      const kind = event.subject?.split("/")[0] ?? event.type.split(".")[1];
      found.set(event.commit, { kind, ids: [...(found.get(event.commit)?.ids ?? []), ...event.data.ids], event });
    }
    after = page?.behind > 0 && page.next !== after ? page.next : "";
  }
  return found;
}

/**
 * The kinds of changes, which their entries do not name: each kind's changes of the same time.
 * @param {number} project_ @param {any} filter @param {any[]} entries newest first @param {AbortSignal} signal @returns {Promise<Map<number, string>>} by id of the entry
 */
async function kindsOf(project_, filter, entries, signal) {
  const since = new Date(Date.parse(entries[entries.length - 1]?.modified_datetime ?? 0) - 1).toISOString();
  const read = async (/** @type {string} */ kind) =>
    (await get(`ChangeLog/${project_}`, { ...filter, entity_type: kind, since, stop: 2000 }, { signal })).map(
      (/** @type {any} */ each) => /** @type {[number, string]} */ ([each.id, kind]),
    );
  return new Map(
    entries.length && !filter.entity_type
      ? (await Promise.all(KINDS.map(read))).flat()
      : entries.map(({ id }) => [id, filter.entity_type]),
  );
}

/** @param {{query: Record<string, string>}} props */
export function History({ query }) {
  const open = /** @type {any} */ (project.value);
  const who = query.user ?? String(user.value?.id ?? "");
  const [count, setCount] = useState(PAGE);
  const [chosen, setChosen] = useState(/** @type {Set<number>} */ (new Set()));
  useEffect(() => {
    setCount(PAGE);
    setChosen(new Set());
  }, [open.id, who, query.kind, query.entity]);
  const found = useAsync(
    async (signal) => {
      const filter = { user_id: who === ALL ? "" : who, entity_type: query.kind, entity_id: query.entity };
      const entries = await newest(open.id, filter, count, signal);
      const [gone, kinds] = await Promise.all([
        deletions(open.id, entries.length < count ? 1 : changeOf(entries[entries.length - 1]), signal),
        kindsOf(open.id, filter, entries, signal),
      ]);
      const told = entries.map((entry) => ({
        ...entry,
        kind: kinds.get(entry.id),
        deletion: gone.get(changeOf(entry)),
      }));
      if (query.kind || query.entity) return told;
      for (const [commit, { kind, ids, event }] of gone) {
        if (kind === "section" && (who === ALL || Number(who) === event.user))
          told.push({
            id: (commit + 1) * ENTRIES_OF_A_COMMIT - 1,
            project: open.id,
            user: event.user,
            modified_datetime: event.time,
            description_of_change: { old: [], new: [{ name: "_deleted", value: true }] },
            deletion: { kind, ids },
          });
      }
      return told.sort((one, two) => two.id - one.id);
    },
    [open.id, who, query.kind, query.entity, count],
  );
  const nameOf = (/** @type {number} */ id) =>
    open.members.find((/** @type {any} */ each) => each.user === id)?.username ??
    (id ? text.userNumber(id) : text.theService);
  const restore = async (/** @type {number[]} */ numbers) => {
    try {
      for (let at = 0; at < numbers.length; at += CHANGES_PER_REQUEST)
        toast(
          words.restored(
            (await post(`Restore/${open.id}`, { changes: numbers.slice(at, at + CHANGES_PER_REQUEST) })).restored,
          ),
          { kind: "good" },
        );
    } catch (failure) {
      toastError(failure);
    }
    setChosen(new Set());
    found.again();
  };
  const toggle = (/** @type {number} */ number) =>
    setChosen((before) => {
      const next = new Set(before);
      if (!next.delete(number)) next.add(number);
      return next;
    });
  return html`<section class="column"><div><h1 class="title">${text.manage.history}</h1><p class="muted">${text.historyLead}</p></div>
    <div class="history-filter"><${Select} label=${text.person} value=${who} options=${[[ALL, text.everyone], ...open.members.map((/** @type {any} */ each) => [each.user, each.username])]} onChange=${(/** @type {string} */ value) => setQuery({ user: value })} />
      <${Select} label=${text.kind} value=${query.kind ?? ""} options=${[["", text.all], ...KINDS.map((each) => [each, text.kinds[/** @type {keyof typeof text.kinds} */ (each)]])]} onChange=${(/** @type {string} */ kind) => setQuery({ kind })} />
      <${Field} label=${text.idOf}>${(/** @type {string} */ id) => html`<${CommittedInput} class="input" id=${id} value=${query.entity ?? ""} inputmode="numeric" onCommit=${(/** @type {string} */ typed) => setQuery({ entity: typed.replace(/\D/g, "") })} />`}<//></div>
    ${
      chosen.size > 0 &&
      html`<div class="bulk card" role="region" aria-label=${text.selection}><strong class="number">${text.selected(chosen.size)}</strong><${Button} small kind="primary" icon="undo" onClick=${() => restore([...chosen])}>${words.restoreMany(chosen.size)}<//>
      <span class="grow" /><${Button} small kind="quiet" icon="close" onClick=${() => setChosen(new Set())}>${text.clearSelection}<//></div>`
    }
    <${Await} of=${found}>${(/** @type {any[]} */ entries) =>
      entries.length === 0
        ? html`<${Empty} icon="history" title=${text.noChanges} />`
        : html`<ol class="card history">${entries.map((entry) => html`<${Entry} key=${entry.id} entry=${entry} who=${nameOf(entry.user)} isChosen=${chosen.has(changeOf(entry))} onChoose=${() => toggle(changeOf(entry))} onRestore=${() => restore([changeOf(entry)])} />`)}</ol>
      ${entries.length >= count && html`<div><${Button} busy=${found.busy} onClick=${() => setCount(count + PAGE)}>${words.earlier}<//></div>`}`}<//></section>`;
}

/** The number of an entry's commit. @param {any} entry */
const changeOf = (entry) => Math.floor(entry.id / ENTRIES_OF_A_COMMIT);

/** What an entry did. @param {any[]} old @param {any[]} now @returns {"created" | "deleted" | "restored" | "changed"} */
function actionOf(old, now) {
  const isNothing = (/** @type {any} */ each) => each.value === null || each.value === undefined;
  const gone = now.find((/** @type {any} */ each) => each.name === "_deleted" || each.name === "_variant_deleted");
  if (now.some((/** @type {any} */ each) => each.name === "_id") && old.every(isNothing)) return "created";
  if (gone) return gone.value ? "deleted" : "restored";
  return now.every(isNothing) && old.some((/** @type {any} */ each) => each.name === "_id") ? "deleted" : "changed";
}
const CHIPS = /** @type {const} */ ({
  created: ["good", text.wasCreated],
  deleted: ["bad", text.wasDeleted],
  restored: ["good", words.wasRestored],
  changed: ["", text.wasChanged],
});

/** Members of a change that say nothing to a person. */
const SILENT = new Set(
  "id project created_by modified_by elemental_id gid uid md5 archive_status_date mark media_files variant_deleted"
    .split(" ")
    .map((each) => `_${each}`),
);
/** Attributes in which the service and its clients keep notes of their own. */
const INTERNAL = /^_?(?:tator|svc)_/;
const LISTS = /** @type {const} */ ({
  media: "mediaTypes",
  localization: "localizationTypes",
  state: "stateTypes",
  leaf: "leafTypes",
});

/** @param {any} value */
const short = (value) => (typeof value === "number" && !Number.isInteger(value) ? decimal(value, 4) : valueText(value));

/** @param {{entry: any, who: string, isChosen: boolean, onChoose: () => void, onRestore: () => void}} props */
function Entry({ entry, who, isChosen, onChoose, onRestore }) {
  const old = entry.description_of_change.old ?? [],
    now = entry.description_of_change.new ?? [];
  const action = actionOf(old, now),
    [kind, label] = CHIPS[action];
  const isNew = action === "created",
    id = now.find((/** @type {any} */ each) => each.name === "_id")?.value;
  const shown = /** @type {{each: any, before: any}[]} */ (
    now
      .map((/** @type {any} */ each, /** @type {number} */ index) => ({ each, before: old[index]?.value }))
      .filter((/** @type {any} */ { each }) => !SILENT.has(each.name) && !INTERNAL.test(each.name))
      .slice(0, 8)
  );
  const valueOf = (/** @type {string} */ name, /** @type {any} */ value) =>
    name === "_type" && entry.kind
      ? (typeById(LISTS[/** @type {keyof typeof LISTS} */ (entry.kind)], value)?.name ?? short(value))
      : name === "_primary_section"
        ? (project.value?.sections.find((/** @type {any} */ each) => each.id === value)?.name ?? short(value))
        : short(value);
  const mayRestore = action === "deleted" && may("Can Edit");
  return html`<li><div class="row">${mayRestore && html`<${Checkbox} label=${html`<span class="visually-hidden">${words.choose(who, date(entry.modified_datetime))}</span>`} checked=${isChosen} onChange=${onChoose} />`}<strong>${who}</strong><span class=${`chip ${kind}`}>${label}</span>${entry.deletion && action === "deleted" && html`<span class="muted small cut">${words.deletionOf(entry.deletion.kind, entry.deletion.ids)}</span>`}${entry.kind && !(entry.deletion && action === "deleted") && html`<span class="muted small">${words.entity(entry.kind, id ?? "")}</span>`}<span class="grow" />
      ${mayRestore && html`<${Button} small icon="undo" onClick=${onRestore}>${words.restore}<//>`}<time class="muted small" datetime=${entry.modified_datetime} title=${date(entry.modified_datetime)}>${ago(entry.modified_datetime)}</time></div>
    ${action === "deleted" || action === "restored" ? null : html`<dl class="changes">${shown.map(({ each, before }) => html`<div key=${each.name}><dt class="muted small">${each.name.startsWith("_") ? memberName(each.name.slice(1)) : each.name}</dt><dd>${!isNew && html`<del>${valueOf(each.name, before) || "–"}</del> `}<ins>${valueOf(each.name, each.value) || "–"}</ins></dd></div>`)}</dl>`}
    ${isNew && id && html`<a class="small" href=${link(`/projects/${entry.project}/manage/history`, { user: ALL, kind: entry.kind, entity: id })}>${text.changesOf(id)}</a>`}</li>`;
}
