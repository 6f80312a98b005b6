// Confirm the sign-in of a device by the code that it shows, and what it may do.
import { get, patch } from "../client.js";
import { html, useEffect, useState } from "../lib.js";
import { LEVELS } from "../store.js";
import { access as words } from "../strings_access.js";
import { text } from "../strings.js";
import { wordChoice } from "../strings_words.js";
import { Button, Select, TextField } from "../ui/controls.js";
import { ago } from "../ui/format.js";
import { explain } from "../ui/toast.js";

const MOST_DAYS = 90;

/** @param {{query: Record<string, string>}} props `code` in the query is typed already; it is never confirmed by itself */
export default function Device({ query }) {
  const [code, setCode] = useState(query.code ?? "");
  const [asked, setAsked] = useState(/** @type {any} */ (null));
  const [failure, setFailure] = useState("");
  const [done, setDone] = useState("");
  const scopes = /** @type {const} */ (["all", "read"]);
  const attempt = (/** @type {Promise<any>} */ what) =>
    what.then(
      () => setFailure(""),
      (reason) => setFailure(explain(reason)),
    );
  const read = (/** @type {any} */ found) => {
    const groups = found.operations.length === 1 && scopes.includes(found.operations[0]) ? null : found.operations;
    setAsked({ ...found, groups, scope: groups ? "" : found.operations[0], lines: (found.projects ?? []).join("\n") });
  };
  const find = (/** @type {string} */ given) => attempt(get("DeviceAuthorization", { user_code: given }).then(read));
  useEffect(() => {
    setCode(query.code ?? "");
    setAsked(null);
    setDone("");
    if (query.code) find(query.code);
  }, [query.code]);
  const decide = (/** @type {"approve" | "deny"} */ decision) => {
    const { level, scope, groups, lines } = asked;
    const projects = lines.trim() ? lines.trim().split(/\s+/).map(Number) : null;
    const limits = decision === "approve" ? { level, operations: scope ? [scope] : groups, projects } : {};
    attempt(
      patch("DeviceAuthorization", { user_code: code, decision, ...limits }).then(() =>
        setDone(words.deviceDone[decision]),
      ),
    );
  };
  return html`<div class="page narrow"><header><h1>${asked ? words.deviceAsks(asked.name) : words.device}</h1><p class="muted">${words.deviceLead}</p></header>
    ${failure && html`<div class="note bad" role="alert">${failure}</div>`}
    ${done && html`<div class="note good" role="status">${done}</div>`}
    ${
      !asked &&
      html`<form class="card panel column" onSubmit=${(/** @type {Event} */ event) => {
        event.preventDefault();
        find(code);
      }}><${TextField} label=${words.deviceCode} value=${code} onInput=${setCode} autocomplete="off" spellcheck="false" maxlength="20" autofocus required /><${Button} kind="primary" type="submit">${words.goOn}<//></form>`
    }
    ${
      asked &&
      !done &&
      html`<section class="card panel column"><p>${words.deviceFrom(asked.network_address, ago(asked.created_datetime))} ${words.deviceEnds(MOST_DAYS)}</p><p><code class="token">${code.toUpperCase()}</code></p>
        <${Select} label=${text.level} value=${asked.level} options=${LEVELS.slice(1, 6).map(wordChoice)} onChange=${(/** @type {string} */ level) => setAsked({ ...asked, level })} />
        <${Select} label=${words.scope} value=${asked.scope} options=${[...scopes.map((name) => [name, words.scopes[name]]), ...(asked.groups ? [["", asked.groups.join(", ")]] : [])]} onChange=${(/** @type {string} */ scope) => setAsked({ ...asked, scope })} />
        <${TextField} label=${words.projects} hint=${words.projectsHint} rows=${2} value=${asked.lines} onInput=${(/** @type {string} */ lines) => setAsked({ ...asked, lines })} />
        <div class="row"><${Button} kind="primary" icon="key" onClick=${() => decide("approve")}>${words.approve}<//><${Button} onClick=${() => decide("deny")}>${words.deny}<//></div></section>`
    }</div>`;
}
