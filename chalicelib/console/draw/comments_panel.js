// Comments beside the picture: a field for a new one, and the threads of the media, those of the frame first.
import { html, useEffect, useRef, useState } from "../lib.js";
import { comments as words } from "../strings_team.js";
import { CommentField } from "../ui/comment_text.js";
import { Button, Checkbox, Select } from "../ui/controls.js";
import { titled } from "../ui/key_map.js";
import { useSettled } from "../ui/settled.js";
import { Thread } from "../ui/thread.js";
import { toastError } from "../ui/toast.js";

const MOST = 30;

/** @param {{session: import("./session.js").Session}} props */
export function Comments({ session }) {
  const set = session.comments;
  const threads = set.threads.value;
  const chosen = set.chosen.value;
  const frame = useSettled(session.frame);
  const [showsAll, setShowsAll] = useState(false);
  const host = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (chosen) host.current?.querySelector(`[data-thread="${chosen}"]`)?.scrollIntoView({ block: "nearest" });
  }, [chosen, threads]);
  const isHere = (/** @type {any} */ { first }) =>
    first.frame !== null && first.frame <= frame && frame <= (first.end_frame ?? first.frame);
  const open = threads.filter(({ first }) => !first.resolved).length;
  const shown = threads
    .filter((each) => showsAll || !each.first.resolved || each.first.id === chosen)
    .sort((one, two) => Number(isHere(two)) - Number(isHere(one)) || (one.first.frame ?? -1) - (two.first.frame ?? -1))
    .slice(0, MOST);
  return html`<section class="part comments" aria-label=${words.title} ref=${host}>
    <header class="row"><h2 class="grow">${words.title}</h2><span class="chip number" title=${words.unresolved}>${open}</span>
      <${Button} small kind="quiet" icon="up" title=${titled(session.commands, "previousComment", words.previous)} disabled=${!open} onClick=${() => set.next(-1)} /><${Button} small kind="quiet" icon="down" title=${titled(session.commands, "nextComment", words.next)} disabled=${!open} onClick=${() => set.next(1)} /></header>
    ${session.mayEdit && html`<${Write} session=${session} />`}
    ${shown.map((thread) => html`<${Thread} key=${thread.first.id} thread=${thread} isChosen=${thread.first.id === chosen} onChange=${() => set.load()} onOpen=${() => set.open(thread.first)} />`)}
    ${threads.length > open && html`<${Checkbox} label=${words.showResolved(threads.length - open)} checked=${showsAll} onChange=${setShowsAll} />`}</section>`;
}

/** @param {{session: import("./session.js").Session}} props */
function Write({ session }) {
  const [draft, setDraft] = useState("");
  const [on, setOn] = useState("");
  const [busy, setBusy] = useState(false);
  session.selected.value;
  session.playerRevision.value;
  const targets = session.comments.targets();
  const isVideo = (session.player?.frames ?? 0) > 1;
  const names = Object.keys(targets).filter((name) => isVideo || name !== "frame");
  const chosen = names.includes(on) ? on : names[0];
  const send = async () => {
    if (!draft.trim() || busy) return;
    setBusy(true);
    try {
      await session.comments.send(draft, session.comments.targets()[chosen]);
      setDraft("");
      session.stage?.root.focus({ preventScroll: true });
    } catch (failure) {
      toastError(failure);
    }
    setBusy(false);
  };
  return html`<${CommentField} class="input write-comment" label=${words.write} value=${draft} onInput=${setDraft} onSend=${send} />
    ${
      draft &&
      html`<div class="row"><${Select} small name=${words.on} value=${chosen} options=${names.map((name) => [name, words.targets[/** @type {keyof typeof words.targets} */ (name)]])} onChange=${setOn} />
      <${Button} small kind="primary" title=${`${words.send} (Ctrl Enter)`} busy=${busy} onClick=${send}>${words.send}<//></div>`
    }`;
}
