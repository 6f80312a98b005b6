// What an organization has beside people and buckets: groups, clusters that run jobs, templates on other servers.
import { del, get, patch, post } from "../client.js";
import { html, useState } from "../lib.js";
import { records as words } from "../strings_records.js";
import { text } from "../strings.js";
import { RecordDialog, RecordTable } from "../ui/records.js";
import { useAsync } from "../ui/states.js";

/** @typedef {import("../ui/records.js").Member} Member */
const strong = (/** @type {any} */ each) => html`<strong>${each.name}</strong>`;
const NAME = { name: text.name, render: strong };

/**
 * Records of one kind, with the dialog that creates and changes them.
 * @param {{list: string, one: string, organization: number, title: string, lead: string, empty: string, createLabel: string, icon: string, columns: any[], members: Member[], isWhole?: boolean, toForm?: (item: any) => any, toBody?: (values: any, before: any) => any}} props
 *   `isWhole`: a change sends all members
 */
function Records({
  list,
  one,
  organization,
  members,
  isWhole,
  toForm = (item) => item,
  toBody = (values) => values,
  ...table
}) {
  const found = useAsync((signal) => get(`${list}/${organization}`, {}, { signal }), [list, organization]);
  const [editing, setEditing] = useState(/** @type {any} */ (null));
  const save = (/** @type {any} */ values) => {
    const body = toBody(values, editing);
    return (editing.id ? patch(`${one}/${editing.id}`, body) : post(`${list}/${organization}`, body)).then(found.again);
  };
  return html`<${RecordTable} ...${table} items=${found.value ?? []} nameOf=${(/** @type {any} */ each) => each.name} onCreate=${() => setEditing(toForm({}))} onChange=${(/** @type {any} */ each) => setEditing(toForm(each))} onRemove=${(/** @type {any} */ each) => del(`${one}/${each.id}`).then(found.again)} />
    ${editing && html`<${RecordDialog} title=${editing.name ?? table.createLabel} isNew=${!editing.id || Boolean(isWhole)} action=${editing.id ? text.save : text.create} values=${editing} members=${members} onSave=${save} onClose=${() => setEditing(null)} />`}`;
}

/** @param {{organization: number, people: any[]}} props */
export function OrganizationRecords({ organization, people }) {
  const names = new Map(people.map((each) => [each.user, each.username]));
  const shared = { organization };
  return html`<${Records} ...${shared} list="Groups" one="Group" icon="people" title=${words.groups} lead=${words.groupsLead} empty=${words.noGroups} createLabel=${words.newGroup} toBody=${groupBody}
      columns=${[NAME, { name: words.groupMembers, render: (/** @type {any} */ each) => each.members.map((/** @type {number} */ id) => names.get(id) ?? text.userNumber(id)).join(", ") }]}
      members=${[
        { name: "name", label: text.name, required: true },
        { name: "members", label: words.groupMembers, kind: "choices", options: [...names] },
      ]} />
    <${Records} ...${shared} list="JobClusters" one="JobCluster" icon="jobs" isWhole title=${words.clusters} lead=${words.clustersLead} empty=${words.noClusters} createLabel=${words.newCluster}
      columns=${[NAME, { name: words.host, render: (/** @type {any} */ each) => `${each.host}:${each.port}` }]} members=${CLUSTER} />
    <${Records} ...${shared} list="HostedTemplates" one="HostedTemplate" icon="link" title=${words.templates} lead=${words.templatesLead} empty=${words.noTemplates} createLabel=${words.newTemplate}
      columns=${[NAME, { name: words.url, render: (/** @type {any} */ each) => html`<code class="cut">${each.url}</code>` }]} members=${TEMPLATE}
      toForm=${(/** @type {any} */ each) => ({ ...each, headers: undefined, tparams: (each.tparams ?? []).map((/** @type {any} */ pair) => `${pair.name}=${pair.value}`) })}
      toBody=${(/** @type {any} */ { tparams, headers, ...values }) => ({ ...values, ...(tparams && { tparams: tparams.map(pairOf) }), ...(headers && { headers: headers.map(pairOf) }) })} />`;
}

/** A name and a value, as `name=value`. @param {string} line */
function pairOf(line) {
  const [name, ...rest] = line.split("=");
  return { name: name.trim(), value: rest.join("=").trim() };
}

/** A group is changed by who is added and who is removed. @param {any} values @param {any} before */
function groupBody({ name, members }, before) {
  const kept = before.members ?? [];
  if (!before.id) return { name, initial_members: members ?? [] };
  return {
    ...(name && { name }),
    ...(members && {
      add_members: members.filter((/** @type {number} */ each) => !kept.includes(each)),
      remove_members: kept.filter((/** @type {number} */ each) => !members.includes(each)),
    }),
  };
}

/** @type {Member[]} */
const CLUSTER = [
  { name: "name", label: text.name, required: true },
  { name: "host", label: words.host, required: true },
  { name: "port", label: words.port, kind: "number", required: true },
  { name: "token", label: words.clusterToken, kind: "password", required: true },
  { name: "cert", label: words.certificate, kind: "long", required: true },
];
/** @type {Member[]} */
const TEMPLATE = [
  { name: "name", label: text.name, required: true },
  { name: "url", label: words.url, required: true },
  { name: "tparams", label: words.parameters, kind: "lines" },
  { name: "headers", label: words.headers, hint: words.headersHint, kind: "lines" },
];
