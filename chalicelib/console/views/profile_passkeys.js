// The user's passkeys: they sign in without a password.
import { ApiError, del, get, patch, post } from "../client.js";
import { html, useState } from "../lib.js";
import { canUse, make, proving } from "../passkeys.js";
import { access as words } from "../strings_access.js";
import { text } from "../strings.js";
import { Button, TextField } from "../ui/controls.js";
import { confirm } from "../ui/dialog.js";
import { date, day } from "../ui/format.js";
import { RecordDialog } from "../ui/records.js";
import { Await, useAsync } from "../ui/states.js";
import { explain, toast, toastError } from "../ui/toast.js";

/** @param {{onChange: () => void}} props `onChange` is called after each change */
export function Passkeys({ onChange }) {
  const [given, setGiven] = useState({ name: "", password: "", code: "" });
  const [asksCode, setAsksCode] = useState(false);
  const [failure, setFailure] = useState("");
  const [renamed, setRenamed] = useState(/** @type {any} */ (null));
  const found = useAsync((signal) => get("Passkeys", {}, { signal }), []);
  const set = (/** @type {string} */ name) => (/** @type {string} */ value) =>
    setGiven((before) => ({ ...before, [name]: value }));
  const changed = () => {
    found.again();
    onChange();
  };
  const register = async () => {
    setFailure("");
    try {
      const body = { password: given.password, ...(asksCode && { code: given.code.trim() }) };
      const asked = await proving((proof) => post("PasskeyRegistration", { ...body, ...proof }), asksCode);
      await post("Passkeys", await make(asked, given.name.trim()));
      setGiven({ name: "", password: "", code: "" });
      setAsksCode(false);
      toast(words.passkeyAdded, { kind: "good" });
      changed();
    } catch (reason) {
      const isAsked = reason instanceof ApiError && reason.needs === "code";
      setAsksCode(asksCode || isAsked);
      setFailure(isAsked ? "" : explain(reason));
    }
  };
  const remove = async (/** @type {any} */ passkey) => {
    const title = `${words.removePasskey}: ${passkey.name}`;
    if (await confirm({ title, message: words.passkeyGone, action: words.removePasskey, danger: true }))
      del(`Passkey/${passkey.id}`).then(changed, toastError);
  };
  return html`<section class="column"><h2>${words.passkeys}</h2><p class="muted">${words.passkeysLead}</p>${failure && html`<div class="note bad" role="alert">${failure}</div>`}
    <${Await} of=${found}>${(/** @type {any[]} */ all) =>
      all.length > 0 &&
      html`<ul class="card panel column" aria-label=${words.passkeys}>${all.map(
        (each) => html`<li key=${each.id} class="row"><span class="grow">${each.name}</span>
      <span class="muted">${words.passkeySince(date(each.created_datetime))}${each.used_on ? `, ${words.usedOn(day(each.used_on))}` : ""}</span>
      <${Button} small icon="edit" onClick=${() => setRenamed(each)}>${text.edit}<//><${Button} small kind="danger" onClick=${() => remove(each)}>${words.removePasskey}<//></li>`,
      )}</ul>`}<//>
    ${
      canUse()
        ? html`<form class="row wrap token-form" onSubmit=${(/** @type {Event} */ event) => {
            event.preventDefault();
            register();
          }}><div class="grow"><${TextField} label=${words.passkeyName} maxlength="100" value=${given.name} onInput=${set("name")} required /></div>
      <div class="grow"><${TextField} label=${words.passkeyPassword} type="password" autocomplete="current-password" value=${given.password} onInput=${set("password")} required /></div>
      ${asksCode && html`<div class="grow"><${TextField} label=${words.code} autocomplete="one-time-code" value=${given.code} onInput=${set("code")} required /></div>`}
      <${Button} type="submit" icon="key" disabled=${!given.password || !given.name.trim()}>${words.addPasskey}<//></form>`
        : html`<p class="note">${words.passkeyPlace}</p>`
    }
    ${renamed && html`<${RecordDialog} title=${words.passkeyName} isNew=${false} values=${renamed} members=${[{ name: "name", label: words.passkeyName, required: true }]} onSave=${(/** @type {any} */ values) => patch(`Passkey/${renamed.id}`, values).then(changed)} onClose=${() => setRenamed(null)} />`}</section>`;
}
