// The user's access tokens: for scripts, with limits and an end.
import { del, get, patch, post } from "../client.js";
import { html, useState } from "../lib.js";
import { LEVELS } from "../store.js";
import { access as words } from "../strings_access.js";
import { text } from "../strings.js";
import { word, wordChoice } from "../strings_words.js";
import { Button } from "../ui/controls.js";
import { date, day } from "../ui/format.js";
import { RecordDialog, RecordTable } from "../ui/records.js";
import { Await, useAsync } from "../ui/states.js";
import { toast, toastError } from "../ui/toast.js";

const DAY_MS = 86_400_000;

export function AccessTokens() {
  const [editing, setEditing] = useState(/** @type {any} */ (null));
  const [made, setMade] = useState("");
  const tokens = useAsync((signal) => get("AccessTokens", {}, { signal }), []);
  const save = async (/** @type {any} */ { days, scope, projects, ...given }) => {
    const body = {
      ...given,
      ...(scope && { operations: [scope] }),
      ...(projects && { projects: projects.length ? projects.map(Number) : null }),
      ...(days && { expires_datetime: new Date(Date.now() + days * DAY_MS).toISOString() }),
    };
    if (editing.id) await patch(`AccessToken/${editing.id}`, body);
    else setMade((await post("AccessTokens", body)).token);
    tokens.again();
  };
  return html`<section class="column">${made && html`<div class="note good row"><code class="grow token">${made}</code><${Button} small icon="copy" onClick=${() => navigator.clipboard.writeText(made).then(() => toast(text.copied, { kind: "good" }), toastError)}>${text.copy}<//></div>`}
    <${Await} of=${tokens}>${(
      /** @type {any[]} */ found,
    ) => html`<${RecordTable} title=${words.accessTokens} lead=${words.accessLead} icon="key" items=${found} empty=${words.noTokens} nameOf=${(/** @type {any} */ each) => each.name} onCreate=${() => setEditing({})} createLabel=${words.newToken} onChange=${setEditing} removeMessage=${words.tokenGone}
      onRemove=${(/** @type {any} */ each) => del(`AccessToken/${each.id}`).then(tokens.again)}
      columns=${[{ name: text.name, render: (/** @type {any} */ each) => html`<strong>${each.name}</strong>` }, { name: text.level, render: (/** @type {any} */ each) => word(each.level) }, { name: words.scope, render: (/** @type {any} */ each) => each.operations.map(word).join(", ") }, { name: words.lastUse, render: (/** @type {any} */ each) => (each.used_on ? day(each.used_on) : words.never) }, { name: words.ends, render: (/** @type {any} */ each) => date(each.expires_datetime) }]} />`}<//>
    ${
      editing &&
      html`<${RecordDialog} title=${editing.name ?? words.newToken} isNew=${!editing.id} values=${editing.id ? { ...editing, scope: editing.operations[0] } : { level: "Full Control", scope: "all", days: "90" }} onClose=${() => setEditing(null)} onSave=${save}
      members=${[
        { name: "name", label: text.name, required: true },
        { name: "level", label: text.level, kind: "select", options: LEVELS.slice(1, 6).map(wordChoice) },
        { name: "scope", label: words.scope, kind: "select", options: Object.entries(words.scopes) },
        { name: "projects", label: words.projects, hint: words.projectsHint, kind: "lines" },
        { name: "networks", label: words.networks, hint: words.networksHint, kind: "lines" },
        { name: "days", label: words.days, kind: "number" },
      ]} />`
    }</section>`;
}
