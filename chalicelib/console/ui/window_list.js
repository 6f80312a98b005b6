// A list of equal rows of which only those in sight are in the page.
import { html, useState } from "../lib.js";

const ROW = 31;
const SPARE = 4;
const FEW = 30;

/**
 * @param {{items: any[], name: string, render: (item: any) => any, keyOf: (item: any) => string}} props `render` gives what is in a row
 */
export function WindowList({ items, name, render, keyOf }) {
  const [top, setTop] = useState(0);
  const isFew = items.length <= FEW;
  const first = isFew ? 0 : Math.max(0, Math.min(Math.floor(top / ROW) - SPARE, items.length - FEW));
  const shown = items.slice(first, first + FEW);
  const space = (/** @type {number} */ rows) =>
    rows > 0 ? html`<li aria-hidden="true" style=${{ height: `${rows * ROW}px` }} />` : null;
  return html`<ul class="list window" aria-label=${name} onScroll=${(/** @type {any} */ e) => setTop(e.currentTarget.scrollTop)}>
    ${space(first)}${shown.map(
      (item, index) =>
        html`<li key=${keyOf(item)} aria-setsize=${items.length} aria-posinset=${first + index + 1}>${render(item)}</li>`,
    )}${space(items.length - first - shown.length)}</ul>`;
}
