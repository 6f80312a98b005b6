// A mail to members of the project.
import { post } from "../client.js";
import { html, useState } from "../lib.js";
import { may, project } from "../store.js";
import { records as words } from "../strings_records.js";
import { Button } from "../ui/controls.js";
import { RecordDialog } from "../ui/records.js";
import { toast } from "../ui/toast.js";

/** @type {(people: any[]) => import("../ui/records.js").Member[]} */
const members = (people) => [
  { name: "subject", label: words.subject, required: true },
  { name: "text", label: words.message, kind: "long", required: true },
  {
    name: "recipients",
    label: words.recipients,
    kind: "choices",
    options: people.map((each) => [each.email, each.username]),
  },
];

export function Mail() {
  const open = /** @type {any} */ (project.value);
  const [writing, setWriting] = useState(false);
  const people = open.members.filter((/** @type {any} */ each) => each.email);
  if (!may("Can Execute") || !people.length) return null;
  const send = async (/** @type {any} */ { recipients, ...mail }) => {
    if (!recipients?.length) throw new Error(words.needRecipient);
    await post(`Email/${open.id}`, { recipients, ...mail });
    toast(words.mailSent, { kind: "good" });
  };
  return html`<div><${Button} icon="mail" onClick=${() => setWriting(true)}>${words.mail}<//></div>
    ${writing && html`<${RecordDialog} title=${words.mail} action=${words.mail} first=${html`<p class="muted">${words.mailLead}</p>`} members=${members(people)} onSave=${send} onClose=${() => setWriting(false)} />`}`;
}
