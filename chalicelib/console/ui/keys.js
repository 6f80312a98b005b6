// Keyboard shortcuts of views. They do not act while a person types.
import { useEffect, useRef } from "../lib.js";

/** Whether an event belongs to a control that takes text. @param {KeyboardEvent} event */
export function isTyping(event) {
  const at = /** @type {HTMLElement} */ (event.target);
  return (
    at.isContentEditable ||
    /^(TEXTAREA|SELECT)$/.test(at.tagName) ||
    (at.tagName === "INPUT" && !/^(checkbox|radio|button|range)$/.test(/** @type {any} */ (at).type))
  );
}

/** The name of a key with its modifiers, such as "Shift+ArrowLeft" or "Ctrl+z". @param {KeyboardEvent} event */
export const keyName = (event) =>
  [
    (event.ctrlKey || event.metaKey) && "Ctrl",
    event.altKey && "Alt",
    event.shiftKey && event.key.length > 1 && "Shift",
    // with Alt some keyboards write another character: the key itself counts
    (event.altKey && /^(?:Key|Digit)(\w)$/.exec(event.code)?.[1]?.toLowerCase()) || event.key,
  ]
    .filter(Boolean)
    .join("+");

/** Call functions by key name while the component is shown. @param {Record<string, (event: KeyboardEvent) => void>} keys */
export function useKeys(keys) {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const act = (/** @type {KeyboardEvent} */ event) => {
      if (event.defaultPrevented || isTyping(event) || document.querySelector("dialog[open]")) return;
      const run = latest.current[keyName(event)];
      if (run) {
        event.preventDefault();
        run(event);
      }
    };
    document.addEventListener("keydown", act);
    return () => document.removeEventListener("keydown", act);
  }, []);
}
