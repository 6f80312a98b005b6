// The audit log of an organization, newest first, with a filter and a download.
import { get, request } from "../client.js";
import { html, useEffect, useState } from "../lib.js";
import { access as words } from "../strings_access.js";
import { word, wordChoice } from "../strings_words.js";
import { Button, Select } from "../ui/controls.js";
import { date } from "../ui/format.js";
import { toastError } from "../ui/toast.js";

const PAGE = 50;
const KINDS = [
  "sign-in",
  "account",
  "token",
  "membership",
  "policy",
  "share",
  "export",
  "download",
  "deletion",
  "refusal",
];

/** @param {{organization: number}} props */
export function AuditLog({ organization }) {
  const [kind, setKind] = useState("");
  const [entries, setEntries] = useState(/** @type {any[]} */ ([]));
  const [isMore, setMore] = useState(false);
  const read = (/** @type {any[]} */ before) =>
    get(`AuditLog/${organization}`, { kind, sort_by: "-number", after: before.at(-1)?.number, stop: PAGE }).then(
      (page) => {
        setEntries([...before, ...page]);
        setMore(page.length === PAGE);
      },
      toastError,
    );
  useEffect(() => {
    read([]);
  }, [organization, kind]);
  const save = async () => {
    const file = await request("GET", `AuditLog/${organization}`, {
      query: { kind, format: "csv", stop: 10_000 },
      as: "blob",
      accept: "*/*",
    });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = "audit-log.csv";
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return html`<section class="column"><header class="row"><h2 class="grow">${words.audit}</h2><${Select} small name=${words.kind} value=${kind} options=${[["", words.any], ...KINDS.map(wordChoice)]} onChange=${setKind} /><${Button} small icon="download" onClick=${() => save().catch(toastError)}>${words.download}<//></header><p class="muted">${words.auditLead}</p>
    ${
      entries.length
        ? html`<div class="card scroll-x"><table class="table"><thead><tr><th>${words.time}</th><th>${words.who}</th><th>${words.what}</th><th>${words.from}</th></tr></thead><tbody>${entries.map((each) => html`<tr key=${each.number}><td>${date(each.created_datetime)}</td><td>${each.username ?? each.credential ?? "–"}</td><td><span class=${`chip ${each.kind === "refusal" ? "warn" : ""}`}>${word(each.kind)}</span> ${each.operation} <span class="muted">${each.target ?? ""}</span></td><td>${each.network_address}</td></tr>`)}</tbody></table></div>`
        : html`<p class="muted">${words.noEntries}</p>`
    }
    ${isMore && html`<${Button} onClick=${() => read(entries)}>${words.older}<//>`}</section>`;
}
