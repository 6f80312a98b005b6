// Facets: values of attributes with counts, chosen by clicking. They become part of the search string.
import { get } from "../client.js";
import { html, useEffect, useState } from "../lib.js";
import { text } from "../strings.js";
import { number } from "./format.js";
import { Icon } from "./icons.js";
import { allOf, facetString } from "./search.js";

const MOST_VALUES = 24;

/** Attributes that make facets: few, known values. @param {any[]} types @returns {{name: string, values: any[]}[]} */
export function facetsOf(types) {
  /** @type {Map<string, any[]>} */
  const found = new Map();
  for (const type of types) {
    for (const attribute of type.attribute_types ?? []) {
      const values = attribute.dtype === "bool" ? [true, false] : attribute.dtype === "enum" ? attribute.choices ?? [] : null;
      if (values && attribute.visible !== false) found.set(attribute.name, [...new Set([...(found.get(attribute.name) ?? []), ...values])]);
    }
  }
  return [...found].filter(([, values]) => values.length <= MOST_VALUES).map(([name, values]) => ({ name, values }));
}

/** The facets of an address. @param {string | undefined} given @returns {Record<string, any[]>} */
export function readFacets(given) {
  try {
    const read = JSON.parse(given || "{}");
    return Object.fromEntries(Object.entries(read).filter(([, values]) => Array.isArray(values)).map(([name, values]) => [name, /** @type {any[]} */ (values)]));
  } catch { return {}; }
}

/** @param {Record<string, any[]>} facets */
export const writeFacets = (facets) => { const given = Object.entries(facets).filter(([, values]) => values.length); return given.length ? JSON.stringify(Object.fromEntries(given)) : ""; };

/** With a value chosen, or not chosen any more. @param {Record<string, any[]>} facets @param {string} name @param {any} value */
export function toggled(facets, name, value) {
  const values = facets[name] ?? [];
  return { ...facets, [name]: values.includes(value) ? values.filter((each) => each !== value) : [...values, value] };
}

/**
 * The facets of a list, with the number of matches of each value while the other filters hold.
 * @param {{facets: {name: string, values: any[]}[], chosen: Record<string, any[]>, path: string, query: Record<string, any>, search: string, turn?: any,
 *   onToggle: (name: string, value: any) => void}} props `path` is the count operation; counts are read again when `turn` changes
 */
export function Facets({ facets, chosen, path, query, search, onToggle, turn }) {
  const [closed, setClosed] = useState(/** @type {Record<string, boolean>} */ ({}));
  return html`<div class="facets">${facets.map((facet, index) => html`<${Facet} key=${facet.name} ...${{ facet, chosen, path, query, search, onToggle, turn }}
    open=${!(closed[facet.name] ?? index > 3)} onOpen=${() => setClosed({ ...closed, [facet.name]: !(closed[facet.name] ?? index > 3) })} />`)}</div>`;
}

/** @param {any} props */
function Facet({ facet, chosen, path, query, search, onToggle, open, onOpen, turn }) {
  const [counts, setCounts] = useState(/** @type {(number | undefined)[]} */ ([]));
  const others = facetString({ ...chosen, [facet.name]: [] });
  const key = JSON.stringify([path, query, search, others, facet.values, turn]);
  useEffect(() => {
    if (!open) return undefined;
    const abort = new AbortController();
    Promise.all(facet.values.map((/** @type {any} */ value) => get(path, { ...query, search: allOf(search, others, facetString({ [facet.name]: [value] })) }, { signal: abort.signal }).catch(() => undefined)))
      .then((found) => { if (!abort.signal.aborted) setCounts(found); });
    return () => abort.abort();
  }, [key, open]);
  const largest = Math.max(1, ...counts.map((count) => count ?? 0));
  const own = chosen[facet.name] ?? [];
  return html`<section class="facet"><button type="button" class="facet-name" aria-expanded=${open} onClick=${onOpen}><${Icon} name=${open ? "down" : "next"} /><span class="cut grow">${facet.name}</span>${own.length > 0 && html`<span class="chip accent">${own.length}</span>`}</button>
    ${open && html`<ul>${facet.values.map((/** @type {any} */ value, /** @type {number} */ index) => html`<li key=${String(value)}><button type="button" class="facet-value" aria-pressed=${own.includes(value)} onClick=${() => onToggle(facet.name, value)}>
      <span class="facet-bar" style=${{ width: `${((counts[index] ?? 0) / largest) * 100}%` }} /><span class="cut grow">${value === true ? text.yes : value === false ? text.no : value}</span><span class="number muted">${counts[index] === undefined ? "" : number(/** @type {number} */ (counts[index]))}</span></button></li>`)}</ul>`}</section>`;
}

/** The chosen values as chips that are removed by a click. @param {{chosen: Record<string, any[]>, onToggle: (name: string, value: any) => void, onClear: () => void}} props */
export function FacetChips({ chosen, onToggle, onClear }) {
  const all = Object.entries(chosen).flatMap(([name, values]) => values.map((value) => [name, value]));
  if (!all.length) return null;
  return html`<div class="row wrap">${all.map(([name, value]) => html`<button type="button" class="chip accent" key=${name + String(value)} onClick=${() => onToggle(name, value)} aria-label=${text.removeFilter(name, String(value))}>${name}: ${value === true ? text.yes : value === false ? text.no : value}<${Icon} name="close" /></button>`)}
    <button type="button" class="chip" onClick=${onClear}>${text.clearFilters}</button></div>`;
}
