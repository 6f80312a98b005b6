// Waiting, nothing there, failed: and a hook that knows which.
import { html, useCallback, useEffect, useRef, useState } from "../lib.js";
import { text } from "../strings.js";
import { Button } from "./controls.js";
import { Icon } from "./icons.js";
import { explain } from "./toast.js";

/** @param {{label?: string}} props */
export const Loading = ({ label = text.loading }) =>
  html`<div class="loading" role="status"><span class="spinner" />${label}</div>`;

/** @param {{icon?: string, title: string, children?: any, action?: any, isPage?: boolean}} props `isPage`: the title is that of the page */
export const Empty = ({
  icon = "folder",
  title,
  children,
  action,
  isPage,
}) => html`<div class="empty"><${Icon} name=${icon} /><${isPage ? "h1" : "h2"} class="title">${title}<//>
  ${children && html`<p>${children}</p>`}${action}</div>`;

/** @param {{failure: any, again?: () => void, isPage?: boolean}} props `isPage`: nothing else is on the page */
export const Failure = ({
  failure,
  again,
  isPage,
}) => html`<div class="empty" role="alert"><${Icon} name="alert" /><${isPage ? "h1" : "h2"} class="title">${text.failed}<//><p>${explain(failure)}</p>
  ${again && html`<${Button} icon="reload" onClick=${again}>${text.again}<//>`}</div>`;

/**
 * Run an asynchronous read, again when `inputs` change; late answers of earlier inputs are dropped.
 * @template T @param {(signal: AbortSignal) => Promise<T>} read @param {any[]} inputs
 * @returns {{value: T | undefined, failure: any, busy: boolean, again: () => void}} `value` stays while it is read again
 */
export function useAsync(read, inputs) {
  const [state, setState] = useState(/** @type {any} */ ({ busy: true }));
  const [turn, setTurn] = useState(0);
  const latest = useRef(read);
  latest.current = read;
  useEffect(() => {
    const abort = new AbortController();
    setState((/** @type {any} */ before) => ({ ...before, busy: true }));
    latest.current(abort.signal).then(
      (value) => {
        if (!abort.signal.aborted) setState({ value, busy: false });
      },
      (failure) => {
        if (!abort.signal.aborted) setState((/** @type {any} */ before) => ({ ...before, failure, busy: false }));
      },
    );
    return () => abort.abort();
  }, [...inputs, turn]);
  return { ...state, again: useCallback(() => setTurn((before) => before + 1), []) };
}

/** Call `again` every so many seconds while `isWanted`, but not while the page is hidden. @param {() => void} again @param {boolean} isWanted @param {number} seconds */
export function usePolling(again, isWanted, seconds) {
  const latest = useRef(again);
  latest.current = again;
  useEffect(() => {
    if (!isWanted) return undefined;
    const timer = setInterval(() => !document.hidden && latest.current(), seconds * 1000);
    return () => clearInterval(timer);
  }, [isWanted, seconds]);
}

/** Show a read: waiting, failed, or what `children` makes of the value, with a note where it could not be read again. @param {{of: any, children: (value: any) => any}} props */
export function Await({ of, children }) {
  if (of.value !== undefined && of.failure)
    return html`<div class="note bad row" role="alert"><span class="grow">${text.notAgain(explain(of.failure))}</span><${Button} small icon="reload" busy=${of.busy} onClick=${of.again}>${text.again}<//></div>${children(of.value)}`;
  if (of.value !== undefined) return children(of.value);
  return of.failure ? html`<${Failure} failure=${of.failure} again=${of.again} />` : html`<${Loading} />`;
}
