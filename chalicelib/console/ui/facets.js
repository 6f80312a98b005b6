// Facets: values of attributes with counts, chosen by clicking. They become part of the search string.
import { get } from "../client.js";
import { html, useEffect, useState } from "../lib.js";
import { project } from "../store.js";
import { text } from "../strings.js";
import { number } from "./format.js";
import { Icon } from "./icons.js";
import { allOf, facetString } from "./search.js";

const MOST_VALUES = 24;
const MOST_FACETS = 10;

/** @typedef {{name: string, values: any[], isMany: boolean}} FacetOf an attribute with known values; of many, the most frequent are shown */

/** Attributes that make facets. @param {any[]} types @returns {FacetOf[]} */
export function facetsOf(types) {
  /** @type {Map<string, any[]>} */
  const found = new Map();
  for (const type of types) {
    for (const attribute of type.attribute_types ?? []) {
      const values =
        attribute.dtype === "bool" ? [true, false] : attribute.dtype === "enum" ? (attribute.choices ?? []) : null;
      if (values && attribute.visible !== false)
        found.set(attribute.name, [...new Set([...(found.get(attribute.name) ?? []), ...values])]);
    }
  }
  return [...found].map(([name, values]) => ({ name, values, isMany: values.length > MOST_VALUES }));
}

/** The facets of an address. @param {string | undefined} given @returns {Record<string, any[]>} */
export function readFacets(given) {
  try {
    const read = JSON.parse(given || "{}");
    return Object.fromEntries(
      Object.entries(read)
        .filter(([, values]) => Array.isArray(values))
        .map(([name, values]) => [name, /** @type {any[]} */ (values)]),
    );
  } catch {
    return {};
  }
}

/** @param {Record<string, any[]>} facets */
export const writeFacets = (facets) => {
  const given = Object.entries(facets).filter(([, values]) => values.length);
  return given.length ? JSON.stringify(Object.fromEntries(given)) : "";
};

/** With a value chosen, or not chosen any more. @param {Record<string, any[]>} facets @param {string} name @param {any} value */
export function toggled(facets, name, value) {
  const values = facets[name] ?? [];
  return { ...facets, [name]: values.includes(value) ? values.filter((each) => each !== value) : [...values, value] };
}

/**
 * The facets of a list, with the number of matches of each value while the other filters hold.
 * @param {{facets: FacetOf[], chosen: Record<string, any[]>, kind: "media" | "localization", query: Record<string, any>, search: string, turn?: any,
 *   onToggle: (name: string, value: any) => void}} props counts are read again when `turn` changes
 */
export function Facets({ facets, chosen, kind, query, search, onToggle, turn }) {
  const [closed, setClosed] = useState(/** @type {Record<string, boolean>} */ ({}));
  const [counts, setCounts] = useState(/** @type {Record<string, Map<any, number>>} */ ({}));
  const key = JSON.stringify([project.value?.id, kind, query, search, chosen, facets, turn]);
  useEffect(() => {
    const abort = new AbortController();
    const open = project.peek();
    const ask = (/** @type {string[]} */ names, /** @type {Record<string, any[]>} */ others) =>
      names.length
        ? get(
            `Statistics/${open?.id}`,
            { ...query, kind, facets: names, limit: MOST_VALUES, search: allOf(search, facetString(others)) },
            { signal: abort.signal },
          )
        : { facets: [] };
    const own = facets.filter((each) => chosen[each.name]?.length).map((each) => each.name);
    const rest = facets.map((each) => each.name).filter((name) => !own.includes(name));
    // a facet with chosen values counts as if it had none; all others share one request
    Promise.all([
      ask(rest.slice(0, MOST_FACETS), chosen),
      ...own.map((name) => ask([name], { ...chosen, [name]: [] })),
    ]).then(
      (answers) => {
        if (abort.signal.aborted) return;
        const found = answers.flatMap((answer) => answer.facets ?? []);
        setCounts(
          Object.fromEntries(
            found.map((/** @type {any} */ each) => [
              each.name,
              new Map(each.values.map((/** @type {any} */ value) => [value.value, value.count])),
            ]),
          ),
        );
      },
      () => {
        if (!abort.signal.aborted) setCounts({});
      },
    );
    return () => abort.abort();
  }, [key]);
  return html`<div class="facets">${facets.map(
    (
      facet,
      index,
    ) => html`<${Facet} key=${facet.name} facet=${facet} own=${chosen[facet.name] ?? []} counts=${counts[facet.name]} onToggle=${onToggle}
    open=${!(closed[facet.name] ?? index > 3)} onOpen=${() => setClosed({ ...closed, [facet.name]: !(closed[facet.name] ?? index > 3) })} />`,
  )}</div>`;
}

/** @param {{facet: FacetOf, own: any[], counts: Map<any, number> | undefined, open: boolean, onToggle: (name: string, value: any) => void, onOpen: () => void}} props */
function Facet({ facet, own, counts, open, onToggle, onOpen }) {
  const largest = Math.max(1, ...(counts?.values() ?? []));
  const shown = facet.isMany
    ? [...new Set([...own, ...(counts?.keys() ?? [])])].filter((value) => value !== null)
    : facet.values;
  return html`<section class="facet"><button type="button" class="facet-name" aria-expanded=${open} onClick=${onOpen}><${Icon} name=${open ? "down" : "next"} /><span class="cut grow">${facet.name}</span>${own.length > 0 && html`<span class="chip accent">${own.length}</span>`}</button>
    ${
      open &&
      html`${facet.isMany && html`<p class="muted small side-note">${text.mostFrequent(facet.values.length)}</p>`}<ul>${shown.map(
        (
          value,
        ) => html`<li key=${String(value)}><button type="button" class="facet-value" aria-pressed=${own.includes(value)} onClick=${() => onToggle(facet.name, value)}>
      <span class="facet-bar" style=${{ width: `${((counts?.get(value) ?? 0) / largest) * 100}%` }} /><span class="cut grow" title=${String(value)}>${value === true ? text.yes : value === false ? text.no : value}</span><span class="number muted">${counts ? number(counts.get(value) ?? 0) : ""}</span></button></li>`,
      )}</ul>`
    }</section>`;
}

/** The chosen values as chips that are removed by a click. @param {{chosen: Record<string, any[]>, onToggle: (name: string, value: any) => void, onClear: () => void}} props */
export function FacetChips({ chosen, onToggle, onClear }) {
  const all = Object.entries(chosen).flatMap(([name, values]) => values.map((value) => [name, value]));
  if (!all.length) return null;
  return html`<div class="row wrap">${all.map(([name, value]) => html`<button type="button" class="chip accent" key=${name + String(value)} onClick=${() => onToggle(name, value)} aria-label=${text.removeFilter(name, String(value))}>${name}: ${value === true ? text.yes : value === false ? text.no : value}<${Icon} name="close" /></button>`)}
    <button type="button" class="chip" onClick=${onClear}>${text.clearFilters}</button></div>`;
}
