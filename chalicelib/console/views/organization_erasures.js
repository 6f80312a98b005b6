// Erasing a person, with the user name typed as a confirmation, and the reports of erasures.
import { get, post } from "../client.js";
import { html } from "../lib.js";
import { access as words } from "../strings_access.js";
import { text } from "../strings.js";
import { date } from "../ui/format.js";
import { RecordDialog, RecordTable } from "../ui/records.js";
import { Await, useAsync, usePolling } from "../ui/states.js";
import { toast } from "../ui/toast.js";

const SECONDS = 5;
/** @type {Record<string, string>} */
const PLACES = words.erasedPlaces;
/** @type {Record<string, string>} */
const STATES = words.erasureStates;

/** @param {{organization: number, person: any, onClose: () => void, again: () => void}} props */
export function EraseDialog({ organization, person, onClose, again }) {
  const erase = async (/** @type {Record<string, any>} */ values) => {
    if (values.username !== person.username) throw new Error(words.typeName(person.username));
    await post(`Erasures/${organization}`, { user: person.user });
    toast(words.erasureBegun, { kind: "good" });
    again();
  };
  return html`<${RecordDialog} title=${words.eraseTitle(person.username)} action=${words.erase} onClose=${onClose} onSave=${erase} first=${html`<p>${words.eraseLead}</p>`}
    members=${[{ name: "username", label: words.typeName(person.username), required: true }]} />`;
}

/** @param {{organization: number, people: any[]}} props  read again when `people` are */
export function Erasures({ organization, people }) {
  const found = useAsync((signal) => get(`Erasures/${organization}`, {}, { signal }), [organization, people]);
  const isWorking = (found.value ?? []).some((/** @type {any} */ each) => each.status === "Running");
  usePolling(found.again, isWorking, SECONDS);
  const columns = [
    { name: words.user, render: (/** @type {any} */ each) => html`<strong>${text.userNumber(each.user)}</strong>` },
    { name: words.begun, render: (/** @type {any} */ each) => date(each.created_datetime) },
    {
      name: text.status,
      render: (/** @type {any} */ each) =>
        html`<span class=${`chip ${each.status === "Completed" ? "good" : "accent"}`}>${STATES[each.status]}</span>`,
    },
    {
      name: words.found,
      render: (/** @type {any} */ each) =>
        each.found.map((/** @type {any} */ one) => `${PLACES[one.place] ?? one.place}: ${one.number}`).join(", "),
    },
    {
      name: words.copiesEnd,
      render: (/** @type {any} */ each) => each.copies_end_datetime && date(each.copies_end_datetime),
    },
  ];
  return html`<${Await} of=${found}>${(/** @type {any[]} */ items) =>
    items.length > 0 &&
    html`<${RecordTable} title=${words.erasures} lead=${words.erasuresLead} icon="trash" items=${items} nameOf=${(/** @type {any} */ each) => text.userNumber(each.user)} columns=${columns} />`}<//>`;
}
