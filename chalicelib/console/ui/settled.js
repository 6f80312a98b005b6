// Values that change with every frame, for parts of the page that need not follow each of them.
import { useEffect, useState } from "../lib.js";

const QUIET_MS = 300;
const PAUSE_MS = 90;

/** The value of a signal: at once after a pause, and while it changes quickly only when it stops. @template T @param {import("../lib.js").Computed<T>} source @returns {T} */
export function useSettled(source) {
  const [value, setValue] = useState(/** @type {{now: T}} */ ({ now: source.peek() }));
  useEffect(() => {
    /** @type {any} */
    let timer;
    let last = -Infinity;
    let isFirst = true; // what is there already is no change
    const stop = source.subscribe((now) => {
      clearTimeout(timer);
      const at = performance.now();
      timer = setTimeout(() => setValue({ now }), at - last > QUIET_MS ? 0 : PAUSE_MS);
      if (!isFirst) last = at;
      isFirst = false;
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [source]);
  return value.now;
}
