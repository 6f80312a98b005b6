// Which cards of a gallery are selected: by click, Ctrl, Shift for a range, or the keyboard.
import { useRef, useState } from "../lib.js";

/**
 * @param {(index: number) => any} item the item of an index, with an `id`
 * @returns {{ids: Set<number>, toggle: (index: number, event?: any) => void, clear: () => void, add: (ids: Iterable<number>) => void}}
 */
export function useSelection(item) {
  const [ids, setIds] = useState(/** @type {Set<number>} */ (new Set()));
  const last = useRef(-1);
  const toggle = (/** @type {number} */ index, /** @type {any} */ event) => {
    const next = new Set(ids),
      found = item(index);
    if (!found) return;
    if (event?.shiftKey && last.current >= 0) {
      for (let at = Math.min(index, last.current); at <= Math.max(index, last.current); at++) {
        const each = item(at);
        if (each) next.add(each.id);
      }
    } else if (next.has(found.id)) next.delete(found.id);
    else next.add(found.id);
    last.current = index;
    setIds(next);
  };
  return {
    ids,
    toggle,
    clear: () => {
      last.current = -1;
      setIds(new Set());
    },
    add: (more) => setIds(new Set([...ids, ...more])),
  };
}
