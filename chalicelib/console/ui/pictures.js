// Pictures behind the token, as object URLs: read six at a time, the newest wish first, and kept while they are few.
import { blob } from "../client.js";
import { html, useEffect, useState } from "../lib.js";
import { Icon } from "./icons.js";

const PARALLEL_REQUESTS = 6;
const MOST_KEPT = 600;

/** @type {Map<string, string>} path → object URL, the oldest first */
const kept = new Map();
/** @type {Array<{path: string, query: any, signal: AbortSignal, done: (url: string) => void, failed: (reason: any) => void}>} */
const waiting = [];
let running = 0;

/** The object URL of a picture. @param {string} path below /rest/ @param {any} query @param {AbortSignal} signal @returns {Promise<string>} */
export function picture(path, query, signal) {
  const key = `${path}?${JSON.stringify(query)}`;
  const found = kept.get(key);
  if (found) return Promise.resolve(found);
  return new Promise((done, failed) => {
    waiting.push({
      path,
      query,
      signal,
      done: (url) => {
        keep(key, url);
        done(url);
      },
      failed,
    });
    next();
  });
}

function next() {
  while (running < PARALLEL_REQUESTS && waiting.length) {
    const wish = /** @type {any} */ (waiting.pop());
    if (wish.signal.aborted) {
      wish.failed(wish.signal.reason);
      continue;
    }
    running++;
    blob(wish.path, wish.query, wish.signal)
      .then((content) => wish.done(URL.createObjectURL(content)), wish.failed)
      .finally(() => {
        running--;
        next();
      });
  }
}

/** @param {string} key @param {string} url */
function keep(key, url) {
  kept.set(key, url);
  if (kept.size > MOST_KEPT) {
    const [oldest, old] = /** @type {[string, string]} */ (kept.entries().next().value);
    kept.delete(oldest);
    URL.revokeObjectURL(old);
  }
}

/** A picture of the interface. @param {{path: string, query?: any, alt?: string}} props */
export function Picture({ path, query = {}, alt = "" }) {
  const [url, setUrl] = useState("");
  const [failed, setFailed] = useState(false);
  const key = JSON.stringify(query);
  useEffect(() => {
    const abort = new AbortController();
    setFailed(false);
    setUrl("");
    picture(path, query, abort.signal).then(setUrl, () => {
      if (!abort.signal.aborted) setFailed(true);
    });
    return () => abort.abort();
  }, [path, key]);
  if (failed) return html`<${Icon} name="image" />`;
  return url ? html`<img src=${url} alt=${alt} draggable=${false} />` : html`<span class="picture-waiting" />`;
}
