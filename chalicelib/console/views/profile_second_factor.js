// The second factor of the user's sign-ins by password: codes of an authenticator app.
import { del, get, post, put } from "../client.js";
import { html, useState } from "../lib.js";
import { access as words } from "../strings_access.js";
import { text } from "../strings.js";
import { Button, TextField } from "../ui/controls.js";
import { date } from "../ui/format.js";
import { Await, useAsync } from "../ui/states.js";
import { explain, toast, toastError } from "../ui/toast.js";

export function SecondFactor() {
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [begun, setBegun] = useState(/** @type {{secret: string, uri: string} | null} */ (null));
  const [recovery, setRecovery] = useState(/** @type {string[]} */ ([]));
  const [failure, setFailure] = useState("");
  const state = useAsync((signal) => get("SecondFactor", {}, { signal }), []);
  /** @param {() => Promise<any>} work */
  const attempt = async (work) => {
    setFailure("");
    try {
      await work();
      setPassword("");
      setCode("");
      state.again();
    } catch (reason) {
      setFailure(explain(reason));
    }
  };
  const begin = () => attempt(async () => setBegun(await post("SecondFactor", { password })));
  const confirm = () =>
    attempt(async () => {
      setRecovery((await put("SecondFactor", { code })).recovery_codes);
      setBegun(null);
    });
  const end = () =>
    attempt(async () => {
      await del("SecondFactor", { code });
      setRecovery([]);
      toast(words.factorEnded, { kind: "good" });
    });
  const codeField = html`<div class="grow"><${TextField} label=${words.code} autocomplete="one-time-code" value=${code} onInput=${setCode} required /></div>`;
  return html`<section class="column"><h2>${words.secondFactor}</h2><p class="muted">${words.factorLead}</p>${failure && html`<div class="note bad" role="alert">${failure}</div>`}
    ${recovery.length > 0 && html`<div class="note good column"><p>${words.recoveryLead}</p><code class="token recovery">${recovery.join("\n")}</code><${Button} small icon="copy" onClick=${() => navigator.clipboard.writeText(recovery.join("\n")).then(() => toast(text.copied, { kind: "good" }), toastError)}>${text.copy}<//></div>`}
    <${Await} of=${state}>${(/** @type {any} */ found) =>
      found.is_on
        ? html`<p><span class="chip good">${words.factorOn}</span> ${words.factorSince(date(found.confirmed_datetime), found.recovery_codes)}</p>
      <form class="row wrap token-form" onSubmit=${submit(confirm)}>${codeField}<${Button} type="submit" icon="key" disabled=${!code}>${words.newRecovery}<//><${Button} kind="danger" disabled=${!code} onClick=${end}>${words.endFactor}<//></form>`
        : begun
          ? html`<p>${words.factorSecret}</p><p><code class="token">${begun.secret}</code></p><p><a href=${begun.uri}>${words.openApp}</a></p>
      <form class="row wrap token-form" onSubmit=${submit(confirm)}>${codeField}<${Button} type="submit" icon="key" disabled=${!code}>${words.confirmCode}<//></form>`
          : html`<form class="row wrap token-form" onSubmit=${submit(begin)}><div class="grow"><${TextField} label=${words.passwordForFactor} type="password" autocomplete="current-password" value=${password} onInput=${setPassword} required /></div><${Button} type="submit" icon="key" disabled=${!password}>${words.beginFactor}<//></form>`}<//></section>`;
}

/** @param {() => void} work */
const submit = (work) => (/** @type {Event} */ event) => {
  event.preventDefault();
  work();
};
