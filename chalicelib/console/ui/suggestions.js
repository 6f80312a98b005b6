// Completion of a text from the leaves of the project's label trees, as the attribute's definition names them.
import { get, ROOT } from "../client.js";
import { html, useEffect, useState } from "../lib.js";

const PAUSE_MS = 150;

/**
 * The path of suggestions below /rest/; "" where a definition names no leaves of this service. Other hosts are not asked.
 * @param {any} type the definition of an attribute
 */
export function suggestionPath(type) {
  const given = type.autocomplete?.serviceUrl;
  if (typeof given !== "string" || (type.autocomplete.mode ?? "tator") !== "tator") return "";
  const url = new URL(given, ROOT);
  const found = /\/rest\/(Leaves\/Suggestion\/[^?#]+)$/.exec(url.pathname);
  return found && url.origin === new URL(ROOT).origin ? found[1] : "";
}

/** The options of an input's `list`. @param {{id: string, path: string, type: any, draft: string | null}} props */
export function Suggestions({ id, path, type, draft }) {
  const [found, setFound] = useState(/** @type {any[]} */ ([]));
  useEffect(() => {
    if (!draft) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const query = { query: type.autocomplete.match_any ? `*${draft}` : draft, min_level: type.autocomplete.minLevel };
      get(path, query, { signal: stop.signal }).then(setFound, () => undefined);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [path, draft]);
  return html`<datalist id=${id}>${found.slice(0, 50).map((/** @type {any} */ { value, group, data }) => html`<option key=${`${group}/${value}`} value=${value}>${[group, data?.alias].filter(Boolean).join(", ")}</option>`)}</datalist>`;
}
