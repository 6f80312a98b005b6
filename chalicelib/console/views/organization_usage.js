// What the projects of an organization use in a month, and the limits that are set for all of them.
import { get, patch } from "../client.js";
import { html, useState } from "../lib.js";
import { access as words } from "../strings_access.js";
import { Button, TextField } from "../ui/controls.js";
import { bytes, decimal } from "../ui/format.js";
import { RecordDialog, RecordTable } from "../ui/records.js";
import { Await, useAsync } from "../ui/states.js";

/** @type {Record<string, string>} */
const NAMES = words.limitNames;
const LIMITS = ["bytes", "transcoded_minutes", "mails"];

/** @param {{organization: any, again: () => void}} props */
export function Usage({ organization, again }) {
  const [since, setSince] = useState("");
  const [isEditing, setEditing] = useState(false);
  const found = useAsync((signal) => get(`Usage/${organization.id}`, { since }, { signal }), [organization.id, since]);
  const limits = organization.usage_limits ?? {};
  const save = async (/** @type {Record<string, any>} */ changed) => {
    const wanted = { ...limits, ...changed };
    const kept = LIMITS.filter((name) => wanted[name] !== "" && wanted[name] !== null && wanted[name] !== undefined);
    const usage_limits = kept.length ? Object.fromEntries(kept.map((name) => [name, wanted[name]])) : null;
    await patch(`Organization/${organization.id}`, { usage_limits });
    again();
  };
  const columns = [
    { name: words.month, render: (/** @type {any} */ row) => row.month },
    {
      name: words.projectName,
      render: (/** @type {any} */ row) =>
        html`<strong>${row.name}</strong>${row.exhausted.length > 0 && html` <span class="chip warn">${words.limitReached}</span>`}`,
    },
    { name: words.originals, end: true, render: (/** @type {any} */ row) => bytes(row.originals) },
    { name: words.renditions, end: true, render: (/** @type {any} */ row) => bytes(row.renditions) },
    { name: words.derived, end: true, render: (/** @type {any} */ row) => bytes(row.derived) },
    { name: words.minutes, end: true, render: (/** @type {any} */ row) => decimal(row.transcoded_minutes, 1) },
    { name: words.requests, end: true, render: (/** @type {any} */ row) => decimal(row.requests, 0) },
    { name: words.mails, end: true, render: (/** @type {any} */ row) => decimal(row.mails, 0) },
    { name: words.cost, end: true, render: (/** @type {any} */ row) => `$ ${decimal(row.estimated_cost, 2)}` },
  ];
  const told = LIMITS.filter((name) => limits[name] !== undefined && limits[name] !== null);
  return html`<section class="column"><div class="row wrap"><div class="grow"><${TextField} label=${words.since} type="month" value=${since} onInput=${setSince} /></div><${Button} icon="edit" onClick=${() => setEditing(true)}>${words.editLimits}<//></div>
    ${told.length > 0 && html`<p>${words.limits}: ${told.map((name) => `${NAMES[name]} ${name === "bytes" ? bytes(limits[name]) : decimal(limits[name], 0)}`).join(", ")}</p>`}
    <${Await} of=${found}>${(/** @type {any[]} */ rows) =>
      html`<${RecordTable} title=${words.usage} lead=${words.usageLead} icon="plot" items=${rows.map((row) => ({ ...row, id: `${row.month} ${row.project}` }))} empty=${words.noUsage} nameOf=${(/** @type {any} */ row) => row.name} columns=${columns} />`}<//>
    ${isEditing && html`<${RecordDialog} title=${words.editLimits} isNew=${false} values=${limits} onClose=${() => setEditing(false)} onSave=${save} members=${LIMITS.map((name) => ({ name, label: NAMES[name], kind: "number", hint: words.limitHint }))} />`}</section>`;
}
