// Over the picture: what is followed, how far, why it ended, and the decision.
import { html } from "../lib.js";
import { assist as words } from "../strings_assist.js";
import { Button } from "../ui/controls.js";

/** @param {{session: import("./session.js").Session, run: (id: string) => void}} props */
export function Proposal({ session, run }) {
  const { follow } = session;
  const at = follow.at.value;
  const proposal = follow.proposal.value;
  if (at !== null)
    return html`<p class="stage-hint proposal" role="status"><span class="spinner" /> ${words.following(at)}</p>`;
  if (!proposal) return null;
  const { path, keyframes, replaced, stop } = proposal;
  const parts = [
    words.followed(path.size - 1, keyframes.length),
    words.followStops[stop.reason](stop.frame),
    replaced.length > 0 && words.followReplaces(replaced.length),
  ].filter(Boolean);
  return html`<div class="stage-hint proposal row" role="status" data-stop=${stop.reason}><span>${parts.join(" · ")}</span>
    <${Button} small kind="primary" icon="check" title=${words.acceptOrDiscard} onClick=${() => run("enter")}>${words.accept}<//>
    <${Button} small icon="close" onClick=${() => run("escape")}>${words.discard}<//></div>`;
}
