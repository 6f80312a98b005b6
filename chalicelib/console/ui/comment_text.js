// The text of a comment: a little Markdown, in which HTML is text, and a field that completes the names of members.
import { html, useRef, useState } from "../lib.js";
import { project } from "../store.js";
import { comments as words } from "../strings_team.js";
import { useId } from "./controls.js";

const MOST_NAMES = 6;
/** code, strong, emphasis, a link of the web, a mention */
const INLINE =
  /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|_([^_\s][^_]*)_(?!\w)|\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)|(https?:\/\/[^\s<>)]+)|(?<![\w.+@-])@([\w.+-]+)/g;
const TYPED = /(?:^|[^\w.+@-])@([\w.+-]*)$/;

/** @param {string} line @returns {any[]} texts and elements */
function inline(line) {
  const found = [];
  let end = 0;
  for (const match of line.matchAll(INLINE)) {
    found.push(line.slice(end, match.index));
    const [whole, code, strong, star, low, label, target, address, name] = match;
    end = match.index + whole.length;
    if (code) found.push(html`<code>${code}</code>`);
    else if (strong) found.push(html`<strong>${strong}</strong>`);
    else if (star || low) found.push(html`<em>${star || low}</em>`);
    else if (target || address)
      found.push(html`<a href=${target || address} rel="noreferrer noopener" target="_blank">${label || address}</a>`);
    else found.push(isMember(name) ? html`<span class="mention">@${name}</span>` : whole);
  }
  return [...found, line.slice(end)];
}

const isMember = (/** @type {string} */ name) =>
  project.value?.members.some(
    (/** @type {any} */ each) => each.username.toLowerCase() === name.replace(/\.$/, "").toLowerCase(),
  );

/** @param {{text: string}} props paragraphs, lists, quotes and code of the lines of a text */
export function CommentText({ text }) {
  const lines = text.split("\n").map((line, index) => {
    const item = /^\s*(?:[-*+]|\d+\.)\s+(.*)/.exec(line);
    const quote = /^>\s?(.*)/.exec(line);
    const title = /^#{1,6}\s+(.*)/.exec(line);
    if (item) return html`<span class="line item" key=${index}>${inline(item[1])}</span>`;
    if (quote) return html`<span class="line quote" key=${index}>${inline(quote[1])}</span>`;
    return html`<span class="line" key=${index}>${title ? html`<strong>${inline(title[1])}</strong>` : inline(line)}</span>`;
  });
  return html`<div class="comment-text">${lines}</div>`;
}

/**
 * A field for a comment: `@` completes the names of members, Ctrl Enter sends, Escape gives up.
 * @param {{label: string, value: string, onInput: (text: string) => void, onSend: () => void, onCancel?: () => void} & Record<string, any>} props
 */
export function CommentField({ label, value, onInput, onSend, onCancel, ...rest }) {
  const id = useId();
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const [typed, setTyped] = useState(/** @type {string | null} */ (null));
  const [chosen, setChosen] = useState(0);
  const names =
    typed === null
      ? []
      : (project.value?.members ?? [])
          .map((/** @type {any} */ each) => each.username)
          .filter((/** @type {string} */ name) => name.toLowerCase().startsWith(typed.toLowerCase()))
          .slice(0, MOST_NAMES);
  const look = (/** @type {any} */ event) => {
    const { value: text, selectionStart: at } = event.currentTarget;
    const found = TYPED.exec(text.slice(0, at));
    setTyped(found ? found[1] : null);
    setChosen(0);
  };
  const take = (/** @type {string} */ name) => {
    const area = /** @type {HTMLTextAreaElement} */ (field.current);
    const at = area.selectionStart;
    area.setRangeText(`${name} `, at - (typed ?? "").length, at, "end");
    setTyped(null);
    onInput(area.value);
    area.focus();
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (names.length && step) setChosen((chosen + step + names.length) % names.length);
    else if (names.length && ["Enter", "Tab"].includes(event.key)) take(names[chosen]);
    else if (names.length && event.key === "Escape") setTyped(null);
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onSend();
    else if (event.key === "Escape" && onCancel) onCancel();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<div class="comment-field"><textarea class="input" rows="2" ref=${field} aria-label=${label} placeholder=${label} maxlength="10000" value=${value}
      aria-autocomplete="list" aria-controls=${`${id}-names`} aria-activedescendant=${names.length ? `${id}-${chosen}` : undefined}
      onInput=${(/** @type {any} */ e) => {
        onInput(e.currentTarget.value);
        look(e);
      }} onClick=${look} onBlur=${() => setTyped(null)} onKeyDown=${onKeyDown} ...${rest} />
    <div class="names" role="listbox" id=${`${id}-names`} aria-label=${words.members} hidden=${!names.length}>${names.map(
      (/** @type {string} */ name, /** @type {number} */ index) =>
        html`<div role="option" key=${name} id=${`${id}-${index}`} aria-selected=${index === chosen} onMouseDown=${(
          /** @type {Event} */ e,
        ) => {
          e.preventDefault();
          take(name);
        }}>@${name}</div>`,
    )}</div></div>`;
}
