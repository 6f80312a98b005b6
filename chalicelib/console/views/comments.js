// The inbox: comments that mention me, or all of the project, with their threads; walked through by keys.
import { get } from "../client.js";
import { html, useState } from "../lib.js";
import { link, setQuery } from "../router.js";
import { may, project, user } from "../store.js";
import { text } from "../strings.js";
import { comments as words } from "../strings_team.js";
import { Button, Segmented } from "../ui/controls.js";
import { Keys } from "../ui/key_sheet.js";
import { useKeys } from "../ui/keys.js";
import { Await, Empty, useAsync } from "../ui/states.js";
import { settle, Thread, threadsOf } from "../ui/thread.js";
import { toastError } from "../ui/toast.js";
import { mediaById, mediaName, TeamHead } from "./team_head.js";

const PAGE = 50;

/** The address of what a comment is on. @param {any} comment */
const commentLink = (comment) =>
  link(`/projects/${comment.project}/media/${comment.media_id}`, {
    frame: comment.frame || "",
    select: comment.localization_id ?? comment.state_id,
    of: comment.state_id ? "track" : "",
    comment: comment.parent ?? comment.id,
  });

/** @param {{query: Record<string, string>}} props */
export default function Comments({ query }) {
  const open = /** @type {any} */ (project.value);
  const me = user.value?.id;
  const which = query.of === "all" ? "all" : "me";
  const state = Object.hasOwn(words.states, query.state ?? "") ? query.state : "open";
  const [count, setCount] = useState(PAGE);
  const [at, setAt] = useState(0);
  const found = useAsync(
    async (signal) => {
      const all = await get(`Comments/${open.id}`, {}, { signal });
      const threads = threadsOf(all)
        .filter(({ first }) => state === "every" || first.resolved === (state === "resolved"))
        .filter(
          ({ first, replies }) => which === "all" || [first, ...replies].some(({ mentions }) => mentions.includes(me)),
        )
        .reverse();
      const media = await mediaById(
        threads.slice(0, count).map(({ first }) => first.media_id),
        signal,
      );
      return { threads, media };
    },
    [open.id, me, which, state, count],
  );
  const threads = found.value?.threads.slice(0, count) ?? [];
  const step = (/** @type {number} */ direction) => () => {
    const next = Math.max(0, Math.min(threads.length - 1, at + direction));
    setAt(next);
    /** @type {HTMLElement | null} */ (document.querySelector(`[data-thread="${threads[next]?.first.id}"]`))?.focus();
  };
  useKeys({
    ArrowDown: step(1),
    ArrowUp: step(-1),
    Enter: (event) => {
      const isControl = /** @type {HTMLElement} */ (event.target).closest("a, button");
      if (isControl) /** @type {HTMLElement} */ (isControl).click();
      else if (threads[at]) location.hash = commentLink(threads[at].first).slice(1);
    },
  });
  const run = () => threads[at] && may("Can Edit") && settle(threads[at].first).then(found.again, toastError);
  const commands = [{ id: "comments.resolve", group: "review", label: words.resolve, keys: ["e"], run }];
  const title = (/** @type {any} */ first, /** @type {Map<number, any>} */ media) =>
    html`<a href=${commentLink(first)}>${mediaName(first, media)}</a>`;
  return html`<div class="page"><${TeamHead} at="comments" />
    <div class="row wrap"><${Segmented} name=${words.whose} value=${which} options=${Object.entries(words.which)} onChange=${(/** @type {string} */ of) => setQuery({ of })} />
      <${Segmented} name=${words.state} value=${state} options=${Object.entries(words.states)} onChange=${(/** @type {string} */ value) => setQuery({ state: value })} /></div>
    <div class="row wrap"><${Keys} commands=${commands} /><span class="muted small">${words.inboxKeys}</span></div>
    <${Await} of=${found}>${(/** @type {any} */ value) =>
      value.threads.length
        ? html`<div class="column inbox">${threads.map(
            (thread, index) =>
              html`<div class="card" key=${thread.first.id} onClick=${() => setAt(index)}><${Thread} thread=${thread} isChosen=${index === at} onChange=${found.again}>${title(thread.first, value.media)}<//></div>`,
          )}</div>${value.threads.length > count && html`<div><${Button} onClick=${() => setCount(count + PAGE)}>${text.more}<//></div>`}`
        : html`<${Empty} icon="comment" title=${words.none[which]}>${words.noneLead}<//>`}<//></div>`;
}
