// Sign in with a password or a token, or ask for a link to set a new password.
import { ApiError, get, post } from "../client.js";
import { html, useEffect, useState } from "../lib.js";
import { canUse, prove, proving } from "../passkeys.js";
import { link, navigate } from "../router.js";
import { arrive, signIn, user } from "../store.js";
import { access as words } from "../strings_access.js";
import { text } from "../strings.js";
import { Button, Segmented, TextField } from "../ui/controls.js";
import { Mark } from "../ui/icons.js";
import { explain } from "../ui/toast.js";

/** @param {{query: Record<string, string>}} props `next` in the query is the address to go to */
export default function SignIn({ query }) {
  const [mode, setMode] = useState(/** @type {"password" | "token" | "reset"} */ ("password"));
  const [given, setGiven] = useState({ username: "", password: "", code: "", token: "", email: "" });
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState("");
  const [sent, setSent] = useState(false);
  const [asksCode, setAsksCode] = useState(false);
  const set = (/** @type {string} */ name) => (/** @type {string} */ value) =>
    setGiven((before) => ({ ...before, [name]: value }));
  const [providers, setProviders] = useState(/** @type {{id: number, name: string}[]} */ ([]));
  const offer = (/** @type {string} */ email) => get("SignInProviders", { email }).then(setProviders, () => undefined);
  useEffect(() => {
    if (query.done) arrive().catch((reason) => setFailure(explain(reason)));
    else offer("");
  }, []);
  const begin = async (/** @type {number} */ id) => {
    try {
      const place = `/${link("/sign-in", { next: target(query.next), done: 1 })}`;
      location.href = (await post(`SignIn/${id}`, { return_to: place })).url;
    } catch (reason) {
      setFailure(explain(reason));
    }
  };
  useEffect(() => {
    if (user.value) navigate(target(query.next), {}, { replace: true });
  }, [user.value]);

  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    setFailure("");
    try {
      if (mode === "reset") {
        await post("PasswordReset", { email: given.email.trim() });
        setSent(true);
      } else {
        const { username, password, code, token } = given;
        const body = { username: username.trim(), password, ...(asksCode && { code: code.trim() }) };
        if (mode === "token") await signIn({ token: token.trim() });
        else await proving((proof) => signIn({ ...body, ...proof }), asksCode);
      }
    } catch (reason) {
      const isAsked = reason instanceof ApiError && reason.needs === "code";
      setAsksCode(asksCode || isAsked);
      setFailure(isAsked ? "" : explain(reason));
    }
    setBusy(false);
  };

  const usePasskey = async () => {
    setFailure("");
    try {
      await signIn({ passkey: await prove(await post("PasskeyChallenge", {})) });
    } catch (reason) {
      setFailure(explain(reason));
    }
  };

  return html`<div class="welcome"><div class="welcome-art" aria-hidden="true"><${Sketch} /></div>
    <div class="welcome-form"><form class="column" onSubmit=${submit}>
      <div class="row wordmark"><${Mark} /><span>Limn</span></div>
      <h1>${mode === "reset" ? text.forgot : text.signIn}</h1><p class="muted">${mode === "reset" ? text.resetLead : text.signInLead}</p>
      ${mode !== "reset" && html`<${Segmented} name=${text.signIn} value=${mode} options=${[["password", text.withPassword], ["token", text.withToken]]} onChange=${setMode} />`}
      ${failure && html`<div class="note bad" role="alert">${failure}</div>`}
      ${sent && mode === "reset" && html`<div class="note good" role="status">${text.linkSent}</div>`}
      ${
        mode === "password" &&
        html`<${TextField} label=${text.username} value=${given.username} onInput=${set("username")} onBlur=${() => given.username.includes("@") && offer(given.username.trim())} autocomplete="username" autofocus required />
        <${TextField} label=${text.password} value=${given.password} onInput=${set("password")} type="password" autocomplete="current-password" required />
        ${asksCode && html`<${TextField} label=${words.code} hint=${words.codeHint} value=${given.code} onInput=${set("code")} autocomplete="one-time-code" autofocus required />`}`
      }
      ${mode === "token" && html`<${TextField} label=${text.token} value=${given.token} onInput=${set("token")} type="password" autocomplete="off" hint=${text.tokenHint} required />`}
      ${mode === "reset" && html`<${TextField} label=${text.email} value=${given.email} onInput=${set("email")} type="email" autocomplete="email" required />`}
      <${Button} kind="primary" type="submit" busy=${busy}>${mode === "reset" ? text.sendLink : text.signIn}<//>
      ${mode !== "reset" && canUse() && html`<${Button} icon="key" onClick=${usePasskey}>${words.passkeySignIn}<//>`}
      ${mode !== "reset" && providers.map((each) => html`<${Button} key=${each.id} icon="key" onClick=${() => begin(each.id)}>${text.signInWith(each.name)}<//>`)}
      <${Button} kind="quiet" onClick=${() => {
        setFailure("");
        setMode(mode === "reset" ? "password" : "reset");
      }}>${mode === "reset" ? text.back : text.forgot}<//>
      <a class="small" href=${link("/public")}>${words.publicProjects}</a>
    </form></div></div>`;
}

/** Only addresses within the console are followed. @param {string | undefined} next */
const target = (next) =>
  next && next.startsWith("/") && !next.startsWith("//") && !next.startsWith("/sign-in") ? next : "/";

/** A drawing of what the product does: a shape, outlined and labelled over frames. */
const Sketch = () => html`<svg viewBox="0 0 520 520">
  <g class="sketch-frames"><rect x="70" y="90" width="340" height="220" rx="10" /><rect x="95" y="120" width="340" height="220" rx="10" /><rect x="120" y="150" width="340" height="220" rx="10" /></g>
  <path class="sketch-fish" d="M205 262c38-48 112-52 150-4l34-24-8 42 10 36-36-20c-40 42-112 36-150-30z" /><circle class="sketch-eye" cx="243" cy="255" r="5" />
  <rect class="sketch-box" x="190" y="206" width="214" height="118" rx="2" /><g class="sketch-handles"><rect x="185" y="201" width="10" height="10" /><rect x="399" y="201" width="10" height="10" /><rect x="185" y="319" width="10" height="10" /><rect x="399" y="319" width="10" height="10" /></g>
  <path class="sketch-track" d="M120 430c60-40 90 20 150-8s80-46 190-20" /><g class="sketch-keys"><circle cx="120" cy="430" r="6" /><circle cx="270" cy="422" r="6" /><circle cx="460" cy="402" r="6" /></g></svg>`;
