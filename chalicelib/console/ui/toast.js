// Short messages at the lower edge, or at the upper edge of a picture that is worked on; errors stay until they are
// closed or their project is left.
import { effect, html, signal, useLayoutEffect, useRef } from "../lib.js";
import { route } from "../router.js";
import { text } from "../strings.js";
import { refusals } from "../strings_words.js";
import { Button } from "./controls.js";

const MOST = 2;
const MARGIN = 12;

/**
 * @typedef {{id: number, message: string, kind: string, action?: string, run?: () => void, times: number, project: string, timer?: number}} Toast
 *   `times` says how often it was given; `project` is the open one then
 */
const shown = signal(/** @type {Toast[]} */ ([]));
let numbers = 0;
const place = () => route.peek().params.project ?? "";

effect(() => {
  const here = route.value.params.project ?? "";
  const stay = shown.peek().filter((each) => each.project === here || (!each.project && each.kind !== "bad"));
  if (stay.length < shown.peek().length) shown.value = stay;
});

/**
 * Show a message. @param {string} message @param {{kind?: "good"|"bad"|"info", action?: string, run?: () => void, seconds?: number}} [options]
 *   `action` is the label of a button that calls `run`
 */
export function toast(message, { kind = "info", action, run, seconds = kind === "bad" ? 0 : 6 } = {}) {
  const id = ++numbers;
  const same = shown.value.find((each) => each.message === message && each.kind === kind);
  clearTimeout(same?.timer);
  const timer = seconds ? setTimeout(() => close(id), seconds * 1000) : undefined;
  const made = { id, message, kind, action, run, times: (same?.times ?? 0) + 1, project: place(), timer };
  const all = [...shown.value.filter((each) => each !== same), made];
  // the oldest goes, an error last
  const gone = all.length > MOST && (all.slice(0, -1).find((each) => each.kind !== "bad") ?? all[0]);
  shown.value = all.filter((each) => each !== gone);
}

/** Show a failure as a message. @param {any} failure */
export const toastError = (failure) => {
  if (failure?.name !== "AbortError") toast(explain(failure), { kind: "bad" });
};

/** The sentences of an error: what failed, then the field and the rule, in English as the service has them. @param {any} failure */
export function explain(failure) {
  const message = String(failure?.message ?? failure),
    details = failure?.details ?? "";
  const said = details ? `${message}${/[.:!?]$/.test(message) ? "" : ":"} ${details}` : message;
  const refusal = refusals[failure?.rule] || refusals[failure?.status];
  return refusal ? `${refusal} (${said})` : said;
}

/** @param {number} id */
const close = (id) => {
  shown.value = shown.value.filter((each) => each.id !== id);
};

/** The messages; stands once in the frame. As a popover they lie above dialogs. */
export function Toasts() {
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const all = shown.value;
  useLayoutEffect(() => {
    const element = /** @type {HTMLElement} */ (list.current);
    const put = () => putBeside(element);
    element.hidePopover?.();
    if (all.length) element.showPopover?.();
    put();
    // the picture moves with the window
    const stage = document.querySelector(".stage");
    if (!all.length || !stage) return undefined;
    const watch = new ResizeObserver(put);
    watch.observe(stage);
    return () => watch.disconnect();
  }, [all]);
  return html`<div class="toasts" role="status" aria-live="polite" popover="manual" ref=${list}>${all.map(
    (each) => html`
  <div class=${`toast ${each.kind}`} key=${each.id}><p>${each.message}${each.times > 1 && html` <span class="chip number">${text.times(each.times)}</span>`}</p>
    ${
      each.action &&
      html`<${Button} small onClick=${() => {
        close(each.id);
        each.run?.();
      }}>${each.action}<//>`
    }
    <${Button} small kind="quiet" icon="close" title=${text.close} onClick=${() => close(each.id)} /></div>`,
  )}</div>`;
}

/** Where a picture is worked on, within its upper edge: nothing of panel, tools and transport is covered, and the pointer goes through to the picture. @param {HTMLElement} list */
function putBeside(list) {
  const stage = document.querySelector(".stage")?.getBoundingClientRect();
  list.classList.toggle("over-picture", Boolean(stage));
  list.style.inset = stage ? `${stage.top + MARGIN}px auto auto ${stage.left + MARGIN}px` : "";
  list.style.maxWidth = stage ? `${stage.width - 2 * MARGIN}px` : "";
}
