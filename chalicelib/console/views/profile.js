// The user's own account: name, address, password, tokens, appearance.
import { ApiError, del, get, patch, post } from "../client.js";
import { chooseLanguage, chosen, LANGUAGES } from "../locale.js";
import { html, useState } from "../lib.js";
import { proving } from "../passkeys.js";
import { signIn, theme, user } from "../store.js";
import { access as words } from "../strings_access.js";
import { text } from "../strings.js";
import { Button, Segmented, Select, TextField } from "../ui/controls.js";
import { confirm } from "../ui/dialog.js";
import { date, day } from "../ui/format.js";
import { RecordDialog } from "../ui/records.js";
import { Await, useAsync } from "../ui/states.js";
import { explain, toast, toastError } from "../ui/toast.js";
import { Passkeys } from "./profile_passkeys.js";
import { SecondFactor } from "./profile_second_factor.js";
import { AccessTokens } from "./profile_tokens.js";

export default function Profile() {
  const who = user.value;
  const [editing, setEditing] = useState(false);
  if (!who) return null;
  const refresh = async () => {
    user.value = await get("User/GetCurrent", { presigned: 86400 });
  };
  const save = async (/** @type {any} */ values) => {
    await patch(`User/${who.id}`, values);
    await refresh();
    toast(values.email ? text.addressMailed : text.saved, { kind: "good" });
  };
  const avatar = (/** @type {File} */ file) => {
    const reader = new FileReader();
    reader.onload = () => patch(`User/${who.id}`, { new_avatar: reader.result }).then(refresh, toastError);
    reader.readAsDataURL(file);
  };
  const picture = who.profile?.avatar;
  return html`<div class="page narrow"><header><h1>${text.profile}</h1></header>
    <section class="card panel row profile-head"><span class="avatar large">${typeof picture === "string" && /^https?:/.test(picture) ? html`<img src=${picture} alt="" />` : `${who.first_name?.[0] ?? ""}${who.last_name?.[0] ?? ""}`.toUpperCase()}</span>
      <div class="grow column tight"><strong>${`${who.first_name ?? ""} ${who.last_name ?? ""}`.trim()}</strong><span class="muted">${who.username}</span><span class="muted">${who.email}</span></div>
      <div class="column tight"><${Button} icon="edit" onClick=${() => setEditing(true)}>${text.edit}<//><label class="button">${text.newPicture}<input class="visually-hidden" type="file" accept="image/png,image/jpeg" onChange=${(/** @type {any} */ e) => e.currentTarget.files[0] && avatar(e.currentTarget.files[0])} /></label></div></section>
    <section class="column"><h2>${text.theme}</h2><${Segmented} name=${text.theme} value=${theme.value} options=${[["light", text.light], ["dark", text.dark], ["system", text.system]]} onChange=${(
      /** @type {string} */ value,
    ) => {
      theme.value = value;
    }} /></section>
    <section class="column"><h2>${text.language}</h2><${Select} name=${text.language} value=${chosen} options=${[["", text.browserLanguage], ...Object.entries(LANGUAGES)]} onChange=${chooseLanguage} /></section>
    <${Notifications} />
    <${Tokens} username=${who.username} />
    <${AccessTokens} />
    <${SignInProofs} />
    <${Password} who=${who} />
    ${editing && html`<${RecordDialog} title=${text.editProfile} isNew=${false} values=${who} onSave=${save} onClose=${() => setEditing(false)} members=${[{ name: "first_name", label: text.firstName }, { name: "last_name", label: text.lastName }, { name: "email", label: text.email, hint: text.emailHint }]} />`}</div>`;
}

/** Passkeys, and the second factor that they may be. */
function SignInProofs() {
  const [changes, setChanges] = useState(0);
  return html`<${Passkeys} onChange=${() => setChanges(changes + 1)} /><${SecondFactor} changes=${changes} />`;
}

/** Where the user is told of what. */
function Notifications() {
  const found = useAsync((signal) => get("NotificationSettings", {}, { signal }), []);
  const set = (/** @type {string} */ topic) => (/** @type {string} */ way) =>
    patch("NotificationSettings", { [topic]: way }).then(() => {
      toast(text.saved, { kind: "good" });
      found.again();
    }, toastError);
  return html`<section class="column"><h2>${text.notificationsTitle}</h2><p class="muted">${text.notificationsLead}</p><${Await} of=${found}>${(
    /** @type {any} */ value,
  ) =>
    html`<div class="card panel column">${Object.entries(text.topics).map(([topic, label]) => html`<${Select} key=${topic} label=${label} value=${value[topic]} options=${Object.entries(text.ways)} onChange=${set(topic)} />`)}</div>`}<//></section>`;
}

/** Change the password with the present one, or have a link mailed. @param {{who: any}} props */
function Password({ who }) {
  const [present, setPresent] = useState("");
  const [next, setNext] = useState("");
  const [failure, setFailure] = useState("");
  const change = async () => {
    setFailure("");
    try {
      await patch(`User/${who.id}`, { password: next, current_password: present });
      setPresent("");
      setNext("");
      toast(text.passwordChanged, { kind: "good" });
    } catch (reason) {
      setFailure(explain(reason));
    }
  };
  return html`<section class="column"><h2>${text.password}</h2><p class="muted">${text.passwordLead}</p>${failure && html`<div class="note bad" role="alert">${failure}</div>`}
    <form class="row wrap token-form" onSubmit=${(/** @type {Event} */ e) => {
      e.preventDefault();
      change();
    }}><div class="grow"><${TextField} label=${text.presentPassword} type="password" autocomplete="current-password" value=${present} onInput=${setPresent} required /></div>
      <div class="grow"><${TextField} label=${text.newPassword} type="password" autocomplete="new-password" value=${next} onInput=${setNext} required /></div><${Button} type="submit" icon="key" disabled=${!present || !next}>${text.changePassword}<//>
      <${Button} icon="mail" onClick=${() => post("PasswordReset", { email: who.email }).then(() => toast(text.linkSent, { kind: "good" }), toastError)}>${text.mailReset}<//></form></section>`;
}

/** The valid tokens, each of which can be revoked; make one for scripts, or end all earlier ones. A token is shown once. @param {{username: string}} props */
function Tokens({ username }) {
  const [password, setPassword] = useState("");
  const [name, setName] = useState("");
  const [code, setCode] = useState("");
  const [asksCode, setAsksCode] = useState(false);
  const [made, setMade] = useState("");
  const valid = useAsync((signal) => get("Token", {}, { signal }), []);
  const revoke = async (/** @type {any} */ token) => {
    if (
      !(await confirm({
        title: `${text.revoke}: ${token.name || text.unnamed}`,
        message: text.revokeLead,
        action: text.revoke,
        danger: true,
      }))
    )
      return;
    del("Token", undefined, { id: token.id }).then(() => {
      toast(text.revoked, { kind: "good" });
      valid.again();
    }, toastError);
  };
  const [failure, setFailure] = useState("");
  const create = async (/** @type {boolean} */ refresh) => {
    setFailure("");
    try {
      const body = { username, password, refresh, name, ...(asksCode && { code }) };
      const { token } = await proving((proof) => post("Token", { ...body, ...proof }), asksCode);
      setPassword("");
      setCode("");
      setName("");
      setMade(token);
      if (refresh) await signIn(token);
      valid.again();
    } catch (reason) {
      setAsksCode(asksCode || (reason instanceof ApiError && reason.needs === "code"));
      setFailure(explain(reason));
    }
  };
  return html`<section class="column"><h2>${text.tokens}</h2><p class="muted">${text.tokensLead}</p>${failure && html`<div class="note bad" role="alert">${failure}</div>`}
    ${made && html`<div class="note good row"><code class="grow token">${made}</code><${Button} small icon="copy" onClick=${() => navigator.clipboard.writeText(made).then(() => toast(text.copied, { kind: "good" }), toastError)}>${text.copy}<//></div>`}
    <form class="row wrap token-form" onSubmit=${(/** @type {Event} */ e) => {
      e.preventDefault();
      create(false);
    }}><div class="grow"><${TextField} label=${text.yourPassword} type="password" autocomplete="current-password" value=${password} onInput=${setPassword} required /></div>
      ${asksCode && html`<div class="grow"><${TextField} label=${words.code} autocomplete="one-time-code" value=${code} onInput=${setCode} required /></div>`}<div class="grow"><${TextField} label=${text.tokenName} maxlength="100" value=${name} onInput=${setName} /></div><${Button} type="submit" icon="key" disabled=${!password}>${text.newToken}<//><${Button} kind="danger" disabled=${!password} onClick=${() => create(true)}>${text.endTokens}<//></form>
    <h3>${text.tokensOf}</h3><${Await} of=${valid}>${(/** @type {any[]} */ tokens) =>
      html`<ul class="card panel column">${tokens.map(
        (
          each,
        ) => html`<li key=${each.id} class="row"><span class="grow">${each.name || html`<span class="muted">${text.unnamed}</span>`}</span><code class="muted">${each.id}</code><span class="muted">${words.signedInOn(date(each.created_datetime))}${each.used_on ? `, ${words.usedOn(day(each.used_on))}` : ""}</span>
      ${each.is_present ? html`<span class="chip good">${text.present}</span>` : html`<${Button} small kind="danger" onClick=${() => revoke(each)}>${text.revoke}<//>`}</li>`,
      )}</ul>`}<//></section>`;
}
