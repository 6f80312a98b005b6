// A thread of comments: the first one, its replies, and what may be done with them.
import { del, patch, post } from "../client.js";
import { classes, html, useState } from "../lib.js";
import { may, project, user } from "../store.js";
import { text as common } from "../strings.js";
import { access } from "../strings_access.js";
import { comments as words } from "../strings_team.js";
import { CommentField, CommentText } from "./comment_text.js";
import { Button } from "./controls.js";
import { confirm } from "./dialog.js";
import { ago, date } from "./format.js";
import { Menu } from "./menu.js";
import { ShareDialog } from "./share.js";
import { toastError } from "./toast.js";

/** @typedef {{first: any, replies: any[]}} ThreadOf a first comment with its replies, oldest first */

/** Threads of comments; a reply whose first comment is not among them stands alone. @param {any[]} comments @returns {ThreadOf[]} */
export function threadsOf(comments) {
  const found = new Map();
  for (const each of comments) if (!each.parent) found.set(each.id, { first: each, replies: [] });
  for (const each of comments)
    if (each.parent) {
      if (!found.has(each.parent)) found.set(each.parent, { first: each, replies: [] });
      else found.get(each.parent).replies.push(each);
    }
  return [...found.values()];
}

/** Where a comment is. @param {any} comment */
export const placeOf = ({ frame, end_frame: end, localization_id: shape, state_id: state }) =>
  shape
    ? words.onShape(frame)
    : state
      ? words.onState(frame)
      : frame === null
        ? words.onMedia
        : words.onFrames(frame, end ?? frame);

/** The user name of an author. @param {number} id */
const authorOf = (id) =>
  project.value?.members.find((/** @type {any} */ each) => each.user === id)?.username ??
  (id === user.value?.id ? user.value?.username : words.userNumber(id));

/** Settle a thread, or open it again. @param {any} first @returns {Promise<any>} */
export const settle = (first) => patch(`Comment/${first.id}`, { resolved: !first.resolved });

/** @param {{thread: ThreadOf, onChange: () => void, isChosen?: boolean, onOpen?: () => void, children?: any}} props `onOpen` goes to where it is */
export function Thread({ thread: { first, replies }, onChange, isChosen, onOpen, children }) {
  const [draft, setDraft] = useState(/** @type {string | null} */ (null));
  const [busy, setBusy] = useState(false);
  const act = async (/** @type {Promise<any>} */ request) => {
    setBusy(true);
    try {
      await request;
      setDraft(null);
      onChange();
    } catch (failure) {
      toastError(failure);
    }
    setBusy(false);
  };
  const send = () =>
    draft?.trim() && act(post(`Comments/${first.project}`, { text: draft, parent: first.parent ?? first.id }));
  const mayWrite = may("Can Edit");
  const [sharing, setSharing] = useState(false);
  return html`<article class=${classes("thread", first.resolved && "resolved", isChosen && "chosen")} data-thread=${first.id} tabindex="-1" aria-label=${words.threadBy(authorOf(first.created_by))}>
    <div class="row small">${onOpen ? html`<button type="button" class="chip" onClick=${onOpen}>${placeOf(first)}</button>` : html`<span class="chip">${placeOf(first)}</span>`}<span class="grow" />
      ${first.resolved && html`<span class="chip good">${words.resolved}</span>`}
      ${sharing && html`<${ShareDialog} project=${first.project} what=${{ comment: first.id }} onClose=${() => setSharing(false)} />`}
      ${may("Full Control") && html`<${Button} small kind="quiet" icon="link" title=${access.share} onClick=${() => setSharing(true)} />`}
      ${mayWrite && !first.parent && html`<${Button} small kind="quiet" icon=${first.resolved ? "undo" : "check"} title=${first.resolved ? words.reopen : words.resolve} disabled=${busy} onClick=${() => act(settle(first))} />`}</div>
    ${children}
    ${[first, ...replies].map((each) => html`<${One} key=${each.id} comment=${each} onChange=${onChange} />`)}
    ${
      mayWrite &&
      (draft === null
        ? html`<div><${Button} small kind="quiet" icon="comment" onClick=${() => setDraft("")}>${words.reply}<//></div>`
        : html`<${CommentField} autofocus label=${words.reply} value=${draft} onInput=${setDraft} onSend=${send} onCancel=${() => setDraft(null)} />
          <div class="row"><${Button} small kind="primary" busy=${busy} disabled=${!draft.trim()} onClick=${send}>${words.send}<//><${Button} small kind="quiet" onClick=${() => setDraft(null)}>${common.cancel}<//></div>`)
    }</article>`;
}

/** One comment with its author. @param {{comment: any, onChange: () => void}} props */
function One({ comment, onChange }) {
  const [draft, setDraft] = useState(/** @type {string | null} */ (null));
  const isMine = comment.created_by === user.value?.id && may("Can Edit");
  const name = authorOf(comment.created_by);
  const save = () =>
    draft?.trim() &&
    patch(`Comment/${comment.id}`, { text: draft }).then(() => {
      setDraft(null);
      onChange();
    }, toastError);
  const remove = async () => {
    if (await confirm({ title: words.deleteComment, message: words.deleteLead, action: common.delete, danger: true }))
      del(`Comment/${comment.id}`).then(onChange, toastError);
  };
  const items = [
    isMine && { label: common.edit, icon: "edit", run: () => setDraft(comment.text) },
    (isMine || may("Full Control")) && { label: common.delete, icon: "trash", danger: true, run: remove },
  ].filter(Boolean);
  return html`<div class="comment"><div class="row small"><strong class="cut">${name}</strong><span class="muted" title=${date(comment.created_datetime)}>${ago(comment.created_datetime)}</span><span class="grow" />
      ${items.length > 0 && html`<${Menu} small kind="quiet" icon="more" title=${words.actionsOf(name)} items=${items} />`}</div>
    ${
      draft === null
        ? html`<${CommentText} text=${comment.text} />`
        : html`<${CommentField} autofocus label=${common.edit} value=${draft} onInput=${setDraft} onSend=${save} onCancel=${() => setDraft(null)} />
        <div class="row"><${Button} small kind="primary" disabled=${!draft.trim()} onClick=${save}>${common.save}<//><${Button} small kind="quiet" onClick=${() => setDraft(null)}>${common.cancel}<//></div>`
    }</div>`;
}
