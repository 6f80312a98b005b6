// The identity providers of an organization: register, change, test, remove.
import { del, get, patch, post } from "../client.js";
import { html, useState } from "../lib.js";
import { access as words } from "../strings_access.js";
import { text } from "../strings.js";
import { RecordDialog, RecordTable } from "../ui/records.js";
import { Await, useAsync } from "../ui/states.js";
import { toast, toastError } from "../ui/toast.js";

/** @param {{organization: number}} props */
export function IdentityProviders({ organization }) {
  const [editing, setEditing] = useState(/** @type {any} */ (null));
  const found = useAsync((signal) => get(`IdentityProviders/${organization}`, {}, { signal }), [organization]);
  const save = async (/** @type {Record<string, any>} */ { mappings, ...given }) => {
    const body = { ...given, ...(mappings !== undefined && { mappings: mappings ? JSON.parse(mappings) : [] }) };
    if (editing.id) await patch(`IdentityProvider/${editing.id}`, body);
    else await post(`IdentityProviders/${organization}`, body);
    found.again();
  };
  const test = (/** @type {any} */ each) =>
    post(`SignIn/${each.id}`, {}).then(
      ({ url }) => toast(words.providerAnswers(new URL(url).host), { kind: "good" }),
      toastError,
    );
  const shown = editing && {
    ...editing,
    mappings: editing.mappings?.length ? JSON.stringify(editing.mappings, null, 1) : "",
  };
  return html`<${Await} of=${found}>${(/** @type {any[]} */ providers) =>
    html`<${RecordTable} title=${words.providers} lead=${words.providersLead} icon="key" items=${providers} empty=${words.noProviders} nameOf=${(/** @type {any} */ each) => each.name} onCreate=${() => setEditing({})} createLabel=${words.newProvider} onChange=${setEditing} removeMessage=${words.providerGone}
      more=${(/** @type {any} */ each) => [{ label: words.testProvider, icon: "play", run: () => test(each) }]} onRemove=${(/** @type {any} */ each) => del(`IdentityProvider/${each.id}`).then(found.again)}
      columns=${[{ name: text.name, render: (/** @type {any} */ each) => html`<strong>${each.name}</strong>` }, { name: words.issuer, render: (/** @type {any} */ each) => each.issuer }, { name: words.redirect, render: (/** @type {any} */ each) => html`<code class="token">${each.redirect_url ?? ""}</code>` }, { name: words.domains, render: (/** @type {any} */ each) => each.domains.join(", ") }]} />`}<//>
    ${
      editing &&
      html`<${RecordDialog} title=${editing.name ?? words.newProvider} isNew=${!editing.id} values=${editing.id ? shown : { admission: "automatic" }} onClose=${() => setEditing(null)} onSave=${save}
      members=${[
        { name: "name", label: text.name, required: true },
        { name: "issuer", label: words.issuer, hint: words.issuerHint, required: true },
        { name: "client_id", label: words.clientId, required: true },
        {
          name: "client_secret",
          label: words.clientSecret,
          kind: "password",
          hint: editing.has_secret ? words.secretKept : words.secretHint,
        },
        { name: "scopes", label: words.scopesAsked, kind: "lines" },
        { name: "groups_claim", label: words.groupsClaim },
        { name: "mappings", label: words.mappings, kind: "long", hint: words.mappingsHint },
        { name: "admission", label: words.admission, kind: "select", options: Object.entries(words.admissions) },
        { name: "unattended_hours", label: words.unattended, kind: "number" },
        { name: "is_listed", label: words.isListed, kind: "check" },
      ]} />`
    }`;
}
