// An organization: its members, invitations, buckets and webhooks.
import { del, get, patch, post } from "../client.js";
import { html, useState } from "../lib.js";
import { user } from "../store.js";
import { access as accessWords } from "../strings_access.js";
import { text } from "../strings.js";
import { word, wordChoice } from "../strings_words.js";
import { Button } from "../ui/controls.js";
import { date } from "../ui/format.js";
import { RecordDialog, RecordTable } from "../ui/records.js";
import { Await, useAsync } from "../ui/states.js";
import { toast } from "../ui/toast.js";
import { webhooks as webhookWords } from "../strings_manage.js";
import { Webhooks } from "./manage_webhooks.js";
import { AuditLog } from "./organization_audit.js";
import { EraseDialog, Erasures } from "./organization_erasures.js";
import { IdentityProviders } from "./organization_providers.js";
import { Usage } from "./organization_usage.js";
import { OrganizationRecords } from "./organization_records.js";

const LEVELS = ["Member", "Admin"];
const STORES = ["AWS", "MINIO", "VAST", "OCI", "S3BASIC", "GCP"];

/** @param {{params: Record<string, string>}} props */
export default function Organization({ params }) {
  const id = params.organization;
  const found = useAsync(
    async (signal) => {
      const organization = await get(`Organization/${id}`, {}, { signal });
      const isAdmin = organization.permission === "Admin";
      const [affiliations, invitations, buckets] = await Promise.all([
        get(`Affiliations/${id}`, {}, { signal }),
        isAdmin ? get(`Invitations/${id}`, {}, { signal }) : [],
        isAdmin ? get(`Buckets/${id}`, {}, { signal }) : [],
      ]);
      return { organization, isAdmin, affiliations, invitations, buckets };
    },
    [id],
  );
  return html`<div class="page"><${Await} of=${found}>${(/** @type {any} */ value) => html`<${Content} ...${value} again=${found.again} />`}<//></div>`;
}

/** @param {{organization: any, isAdmin: boolean, affiliations: any[], invitations: any[], buckets: any[], again: () => void}} props */
function Content({ organization, isAdmin, affiliations, invitations, buckets, again }) {
  const [editing, setEditing] = useState(/** @type {any} */ (null));
  const close = () => setEditing(null);
  const saved = (/** @type {Promise<any>} */ work) => work.then(again);
  const dialogs = /** @type {Record<string, () => any>} */ ({
    organization: () =>
      html`<${RecordDialog} title=${text.editOrganization} isNew=${false} values=${organization} onClose=${close} onSave=${(/** @type {any} */ values) => saved(patch(`Organization/${organization.id}`, values))} members=${[{ name: "name", label: text.name, required: true }, { name: "default_membership_permission", label: text.defaultLevel, kind: "select", options: ["No Access", "View Only", "Can Edit", "Can Transfer", "Can Execute", "Full Control"].map(wordChoice) }, { name: "forbids_public_projects", label: accessWords.forbidsPublic, kind: "check" }]} />`,
    invitation: () =>
      html`<${RecordDialog} title=${text.invite} action=${text.sendInvitation} values=${{ permission: "Member" }} onClose=${close} onSave=${(/** @type {any} */ values) => saved(post(`Invitations/${organization.id}`, values).then(() => toast(text.invited(values.email), { kind: "good" })))} members=${[{ name: "email", label: text.email, required: true }, { name: "permission", label: text.level, kind: "select", options: LEVELS.map(wordChoice) }]} />`,
    affiliation: () =>
      html`<${RecordDialog} title=${editing.item.username} isNew=${false} values=${editing.item} onClose=${close} onSave=${(/** @type {any} */ values) => saved(patch(`Affiliation/${editing.item.id}`, values))} members=${[{ name: "permission", label: text.level, kind: "select", options: LEVELS.map(wordChoice) }]} />`,
    erasure: () =>
      html`<${EraseDialog} organization=${organization.id} person=${editing.item} onClose=${close} again=${again} />`,
    bucket: () =>
      html`<${RecordDialog} title=${editing.item?.name ?? text.newBucket} isNew=${!editing.item} values=${editing.item ?? { store_type: "AWS" }} onClose=${close} onSave=${(/** @type {any} */ values) => saved(editing.item ? patch(`Bucket/${editing.item.id}`, values) : post(`Buckets/${organization.id}`, values))} members=${BUCKET} />`,
  });
  return html`<header><h1>${organization.name}</h1>${isAdmin && html`<${Button} icon="edit" onClick=${() => setEditing({ kind: "organization" })}>${text.edit}<//>`}</header>
    <${RecordTable} title=${text.people} icon="people" items=${affiliations} nameOf=${(/** @type {any} */ each) => each.username} onCreate=${isAdmin ? () => setEditing({ kind: "invitation" }) : undefined} createLabel=${text.invite} isLocked=${(/** @type {any} */ each) => !isAdmin || each.user === user.value?.id}
      columns=${[{ name: text.name, render: (/** @type {any} */ each) => html`<strong>${`${each.first_name ?? ""} ${each.last_name ?? ""}`.trim() || each.username}</strong>` }, { name: text.email, render: (/** @type {any} */ each) => each.email }, { name: text.level, render: (/** @type {any} */ each) => html`<span class="chip">${word(each.permission)}</span>` }]}
      onChange=${(/** @type {any} */ item) => setEditing({ kind: "affiliation", item })} onRemove=${(/** @type {any} */ each) => saved(del(`Affiliation/${each.id}`))}
      more=${(/** @type {any} */ item) => [{ label: accessWords.erasePerson, icon: "trash", danger: true, run: () => setEditing({ kind: "erasure", item }) }]} />
    ${
      isAdmin &&
      invitations.length > 0 &&
      html`<${RecordTable} title=${text.invitations} icon="mail" items=${invitations} nameOf=${(/** @type {any} */ each) => each.email} onRemove=${(/** @type {any} */ each) => saved(del(`Invitation/${each.id}`))}
      columns=${[{ name: text.email, render: (/** @type {any} */ each) => each.email }, { name: text.level, render: (/** @type {any} */ each) => word(each.permission) }, { name: text.status, render: (/** @type {any} */ each) => html`<span class=${`chip ${each.status === "Accepted" ? "good" : each.status === "Expired" ? "warn" : "accent"}`}>${word(each.status)}</span>` }, { name: text.created, render: (/** @type {any} */ each) => date(each.created_datetime) }]} />`
    }
    ${
      isAdmin &&
      html`<${RecordTable} title=${text.buckets} lead=${text.bucketsLead} icon="bucket" items=${buckets} nameOf=${(/** @type {any} */ each) => each.name} onCreate=${() => setEditing({ kind: "bucket" })} createLabel=${text.newBucket} empty=${text.noBuckets}
      columns=${[{ name: text.name, render: (/** @type {any} */ each) => html`<strong>${each.name}</strong>` }, { name: text.store, render: (/** @type {any} */ each) => each.store_type }, { name: text.endpoint, render: (/** @type {any} */ each) => each.endpoint_url ?? each.region }]} onChange=${(/** @type {any} */ item) => setEditing({ kind: "bucket", item })} onRemove=${(/** @type {any} */ each) => saved(del(`Bucket/${each.id}`))} />`
    }
    ${isAdmin && html`<${OrganizationRecords} organization=${organization.id} people=${affiliations} />`}
    ${isAdmin && html`<${Webhooks} path=${`OrganizationWebhooks/${organization.id}`} lead=${webhookWords.organizationLead} nameOf=${(/** @type {number} */ user_) => affiliations.find((each) => each.user === user_)?.username ?? text.userNumber(user_)} />`}
    ${isAdmin && html`<${IdentityProviders} organization=${organization.id} />`}
    ${isAdmin && html`<${Usage} organization=${organization} again=${again} />`}
    ${isAdmin && html`<${Erasures} organization=${organization.id} people=${affiliations} />`}
    ${isAdmin && html`<${AuditLog} organization=${organization.id} />`}
    ${editing && dialogs[editing.kind]()}`;
}

const isGoogle = (/** @type {any} */ values) => values.store_type === "GCP";
/** @type {import("../ui/records.js").Member[]} */
const BUCKET = [
  { name: "name", label: text.bucketName, required: true },
  { name: "store_type", label: text.store, kind: "select", options: STORES, only: "create" },
  { name: "endpoint_url", label: text.endpoint, when: (values) => !isGoogle(values) },
  { name: "region", label: text.region, when: (values) => !isGoogle(values) },
  { name: "access_key", label: text.accessKey, when: (values) => !isGoogle(values) },
  { name: "secret_key", label: text.secretKey, kind: "password", when: (values) => !isGoogle(values) },
  { name: "gcs_key_info", label: text.googleKey, kind: "long", when: isGoogle },
  { name: "external_host", label: text.externalHost },
];
