// The second factor of the user's sign-ins by password: codes of an authenticator app, or passkeys.
import { del, get, post, put } from "../client.js";
import { html, useState } from "../lib.js";
import { proving } from "../passkeys.js";
import { access as words } from "../strings_access.js";
import { text } from "../strings.js";
import { Button, TextField } from "../ui/controls.js";
import { date } from "../ui/format.js";
import { Await, useAsync } from "../ui/states.js";
import { explain, toast, toastError } from "../ui/toast.js";

/** @param {{changes: number}} props how often the passkeys were changed */
export function SecondFactor({ changes }) {
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [begun, setBegun] = useState(/** @type {{secret: string, uri: string} | null} */ (null));
  const [recovery, setRecovery] = useState(/** @type {string[]} */ ([]));
  const [failure, setFailure] = useState("");
  const state = useAsync((signal) => get("SecondFactor", {}, { signal }), []);
  const passkeys = useAsync((signal) => get("Passkeys", {}, { signal }), [changes]);
  const picture = useAsync(async () => begun && (await import("../ui/qr_code.js")).default, [begun]);
  const hasPasskeys = (passkeys.value?.length ?? 0) > 0;
  const proof = code ? { code } : {};
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
      const made = await proving((passkey) => put("SecondFactor", { ...proof, ...passkey }), Boolean(code));
      setRecovery(made.recovery_codes);
      setBegun(null);
    });
  const end = () =>
    attempt(async () => {
      await proving((passkey) => del("SecondFactor", { ...proof, ...passkey }), Boolean(code));
      setRecovery([]);
      toast(words.factorEnded, { kind: "good" });
    });
  const codeField = html`<div class="grow"><${TextField} label=${words.code} autocomplete="one-time-code" value=${code} onInput=${setCode} required=${!hasPasskeys || !!begun} hint=${hasPasskeys && !begun ? words.orPasskey : undefined} /></div>`;
  return html`<section class="column"><h2>${words.secondFactor}</h2><p class="muted">${words.factorLead}</p>${failure && html`<div class="note bad" role="alert">${failure}</div>`}
    ${recovery.length > 0 && html`<div class="note good column"><p>${words.recoveryLead}</p><code class="token recovery">${recovery.join("\n")}</code><${Button} small icon="copy" onClick=${() => navigator.clipboard.writeText(recovery.join("\n")).then(() => toast(text.copied, { kind: "good" }), toastError)}>${text.copy}<//></div>`}
    <${Await} of=${state}>${(/** @type {any} */ found) =>
      found.is_on
        ? html`<p><span class="chip good">${words.factorOn}</span> ${words.factorSince(date(found.confirmed_datetime), found.recovery_codes)}</p>
      <form class="row wrap token-form" onSubmit=${submit(confirm)}>${codeField}<${Button} type="submit" icon="key" disabled=${!code && !hasPasskeys}>${words.newRecovery}<//><${Button} kind="danger" disabled=${!code && !hasPasskeys} onClick=${end}>${words.endFactor}<//></form>`
        : begun
          ? html`<p>${words.factorSecret}</p><${Await} of=${picture}>${(/** @type {any} */ QrCode) => html`<${QrCode} of=${begun.uri} label=${words.factorPicture} />`}<//><p><code class="token">${begun.secret}</code></p><p><a href=${begun.uri}>${words.openApp}</a></p>
      <form class="row wrap token-form" onSubmit=${submit(confirm)}>${codeField}<${Button} type="submit" icon="key" disabled=${!code}>${words.confirmCode}<//></form>`
          : html`<form class="row wrap token-form" onSubmit=${submit(begin)}><div class="grow"><${TextField} label=${words.passwordForFactor} type="password" autocomplete="current-password" value=${password} onInput=${setPassword} required /></div><${Button} type="submit" icon="key" disabled=${!password}>${words.beginFactor}<//>
      ${hasPasskeys && html`<${Button} icon="key" onClick=${confirm}>${words.passkeyFactor}<//>`}</form>`}<//></section>`;
}

/** @param {() => void} work */
const submit = (work) => (/** @type {Event} */ event) => {
  event.preventDefault();
  work();
};
