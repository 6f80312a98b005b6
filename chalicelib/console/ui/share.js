// Makes a share link for anything that can be shared, and shows its address once.
import { post } from "../client.js";
import { html, useRef, useState } from "../lib.js";
import { access as words } from "../strings_access.js";
import { text } from "../strings.js";
import { Button } from "./controls.js";
import { Dialog } from "./dialog.js";
import { RecordDialog } from "./records.js";
import { toast, toastError } from "./toast.js";

const DAY_MS = 86_400_000;

/** @param {{project: number, what: Record<string, any>, onClose: () => void, onMade?: () => void}} props */
export function ShareDialog({ project, what, onClose, onMade }) {
  const [url, setUrl] = useState("");
  const isMade = useRef(false);
  if (url)
    return html`<${Dialog} title=${words.shareTitle} onClose=${onClose}><p>${words.linkOnce}</p><div class="note good row"><code class="grow token">${url}</code>
      <${Button} small icon="copy" onClick=${() => navigator.clipboard.writeText(url).then(() => toast(text.copied, { kind: "good" }), toastError)}>${text.copy}<//></div><//>`;
  const make = async (/** @type {any} */ { days, ...given }) => {
    const end = days ? { expires_datetime: new Date(Date.now() + days * DAY_MS).toISOString() } : {};
    const made = await post(`ShareLinks/${project}`, { ...what, ...given, ...end });
    isMade.current = true;
    setUrl(made.url);
    onMade?.();
  };
  return html`<${RecordDialog} title=${words.shareTitle} action=${words.createLink} values=${{ days: "30" }} onSave=${make} onClose=${() => isMade.current || onClose()} first=${html`<p class="muted">${words.shareLead}</p>`}
    members=${[
      { name: "name", label: words.linkName },
      { name: "passphrase", label: words.passphrase, kind: "password" },
      !what.frames && { name: "downloads", label: words.downloads, kind: "check" },
      { name: "days", label: words.days, kind: "number" },
      { name: "most_openings", label: words.openings, kind: "number" },
    ].filter(Boolean)} />`;
}
