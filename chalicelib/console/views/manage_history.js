// The change log: who changed what, filtered by person and kind.
import { get } from "../client.js";
import { html } from "../lib.js";
import { link, setQuery } from "../router.js";
import { project, user } from "../store.js";
import { text } from "../strings.js";
import { Select, TextField } from "../ui/controls.js";
import { ago, date, valueText } from "../ui/format.js";
import { Await, Empty, useAsync } from "../ui/states.js";

const KINDS = ["media", "localization", "state", "leaf"];
const MOST = 300;
const ALL = "all";

/** @param {{query: Record<string, string>}} props */
export function History({ query }) {
  const open = /** @type {any} */ (project.value);
  const who = query.user ?? String(user.value?.id ?? "");
  const found = useAsync(async (signal) => {
    const isOpen = who === ALL && !query.kind && !query.entity; // the operation wants one filter at least
    const lists = await Promise.all((isOpen ? KINDS : [query.kind]).map((kind) => get(`ChangeLog/${open.id}`, { user_id: who === ALL ? "" : who, entity_type: kind, entity_id: query.entity }, { signal })));
    return lists.flat().sort((a, b) => a.modified_datetime.localeCompare(b.modified_datetime));
  }, [open.id, who, query.kind, query.entity]);
  const nameOf = (/** @type {number} */ id) => open.members.find((/** @type {any} */ each) => each.user === id)?.username ?? (id ? text.userNumber(id) : text.theService);
  return html`<section class="column"><div><h1 class="title">${text.manage.history}</h1><p class="muted">${text.historyLead}</p></div>
    <div class="history-filter"><${Select} label=${text.person} value=${who} options=${[[ALL, text.everyone], ...open.members.map((/** @type {any} */ each) => [each.user, each.username])]} onChange=${(/** @type {string} */ value) => setQuery({ user: value })} />
      <${Select} label=${text.kind} value=${query.kind ?? ""} options=${[["", text.all], ...KINDS.map((each) => [each, text.kinds[/** @type {keyof typeof text.kinds} */ (each)]])]} onChange=${(/** @type {string} */ kind) => setQuery({ kind })} />
      <${TextField} label=${text.idOf} value=${query.entity ?? ""} inputmode="numeric" onChange=${(/** @type {any} */ e) => setQuery({ entity: e.currentTarget.value.replace(/\D/g, "") })} /></div>
    <${Await} of=${found}>${(/** @type {any[]} */ entries) => entries.length === 0 ? html`<${Empty} icon="history" title=${text.noChanges} />` : html`<ol class="card history">${entries.slice(-MOST).reverse().map((entry) => html`<${Entry} key=${entry.id} entry=${entry} who=${nameOf(entry.user)} project=${open.id} />`)}</ol>`}<//></section>`;
}

/** @param {any} value */
const short = (value) => (typeof value === "number" && !Number.isInteger(value) ? value.toFixed(4) : valueText(value));

/** @param {{entry: any, who: string, project: number}} props */
function Entry({ entry, who, project: number_ }) {
  const old = entry.description_of_change.old ?? [], now = entry.description_of_change.new ?? [];
  const isNew = old.every((/** @type {any} */ each) => each.value === null || each.value === undefined);
  const isGone = now.every((/** @type {any} */ each) => each.value === null || each.value === undefined);
  return html`<li><div class="row"><strong>${who}</strong><span class=${`chip ${isNew ? "good" : isGone ? "bad" : ""}`}>${isNew ? text.wasCreated : isGone ? text.wasDeleted : text.wasChanged}</span><span class="grow" /><time class="muted small" datetime=${entry.modified_datetime} title=${date(entry.modified_datetime)}>${ago(entry.modified_datetime)}</time></div>
    <dl class="changes">${now.slice(0, 8).map((/** @type {any} */ each, /** @type {number} */ index) => html`<div key=${each.name}><dt class="muted small">${each.name.replace(/^_/, "")}</dt><dd>${!isNew && html`<del>${short(old[index]?.value) || "–"}</del> `}${!isGone && html`<ins>${short(each.value) || "–"}</ins>`}</dd></div>`)}</dl>
    ${entry.ref_id && html`<a class="small" href=${link(`/projects/${number_}/manage/history`, { user: ALL, entity: entry.ref_id })}>${text.changesOf(entry.ref_id)}</a>`}</li>`;
}
