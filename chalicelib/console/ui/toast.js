// Short messages at the lower edge; errors stay until they are closed.
import { html, signal, useLayoutEffect, useRef } from "../lib.js";
import { text } from "../strings.js";
import { Button } from "./controls.js";

const shown = signal(/** @type {Array<{id: number, message: string, kind: string, action?: string, run?: () => void}>} */ ([]));
let numbers = 0;

/**
 * Show a message. @param {string} message @param {{kind?: "good"|"bad"|"info", action?: string, run?: () => void, seconds?: number}} [options]
 *   `action` is the label of a button that calls `run`
 */
export function toast(message, { kind = "info", action, run, seconds = kind === "bad" ? 0 : 6 } = {}) {
  const id = ++numbers;
  shown.value = [...shown.value.slice(-4), { id, message, kind, action, run }];
  if (seconds) setTimeout(() => close(id), seconds * 1000);
}

/** Show a failure as a message. @param {any} failure */
export const toastError = (failure) => {
  if (failure?.name !== "AbortError") toast(explain(failure), { kind: "bad" });
};

/** The sentences of an error: what failed, then the field and the rule. @param {any} failure */
export function explain(failure) {
  const message = String(failure?.message ?? failure), details = failure?.details ?? "";
  return details ? `${message}${/[.:!?]$/.test(message) ? "" : ":"} ${details}` : message;
}

/** @param {number} id */
const close = (id) => { shown.value = shown.value.filter((each) => each.id !== id); };

/** The messages; stands once in the frame. As a popover they lie above dialogs. */
export function Toasts() {
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const all = shown.value;
  useLayoutEffect(() => {
    list.current?.hidePopover?.();
    if (all.length) list.current?.showPopover?.();
  }, [all]);
  return html`<div class="toasts" role="status" aria-live="polite" popover="manual" ref=${list}>${all.map((each) => html`
  <div class=${`toast ${each.kind}`} key=${each.id}><p>${each.message}</p>
    ${each.action && html`<${Button} small onClick=${() => { close(each.id); each.run?.(); }}>${each.action}<//>`}
    <${Button} small kind="quiet" icon="close" title=${text.close} onClick=${() => close(each.id)} /></div>`)}</div>`;
}
