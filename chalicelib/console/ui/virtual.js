// Long lists: only the cards in sight are in the page, and only the pages in sight are read.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../lib.js";
import { route } from "../router.js";
import { toastError } from "./toast.js";

const OVERSCAN = 2;
/** The size of text for which cards are measured; they grow with it on very wide windows. */
const USUAL_PX = 14;
/** Where lists were scrolled to, for the way back to them. @type {Map<string, number>} */
const places = new Map();

/**
 * A grid of equal cards. Arrow keys, Home and End move the focus between cards.
 * @param {{count: number, minWidth: number, ratio: number, extra: number, gap?: number, name: string, onRange?: (first: number, end: number) => void,
 *   render: (index: number) => any, head?: any, scrollKey?: any}} props `ratio` is the height of the picture for a width of 1, `extra` the pixels below it;
 *   another `scrollKey` scrolls to the start
 */
export function VirtualGrid({ count, minWidth, ratio, extra, gap = 14, name, onRange, render, head, scrollKey }) {
  const outer = useRef(/** @type {HTMLElement | null} */ (null));
  const inner = useRef(/** @type {HTMLElement | null} */ (null));
  const [box, setBox] = useState({ width: 0, height: 0, scale: 1 });
  const [top, setTop] = useState(0);
  const wanted = useRef(-1);
  useLayoutEffect(() => {
    const element = /** @type {HTMLElement} */ (outer.current);
    const measure = () =>
      setBox({
        width: inner.current?.clientWidth ?? 0,
        height: element.clientHeight,
        scale: parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL_PX,
      });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const place = `${route.peek().path} ${scrollKey}`;
    outer.current?.scrollTo(0, places.get(place) ?? 0);
    return () => {
      places.delete(place);
      places.set(place, latest.current);
    };
  }, [scrollKey, Boolean(count && box.width)]);
  const latest = useRef(0);
  latest.current = top;
  const columns = Math.max(1, Math.floor((box.width + gap) / (minWidth * box.scale + gap)));
  const width = Math.floor((box.width - gap * (columns - 1)) / columns);
  const pitch = Math.round(width * ratio + extra * box.scale) + gap;
  const rows = Math.ceil(count / columns);
  const offset = inner.current?.offsetTop ?? 0;
  const firstRow = Math.max(0, Math.floor((top - offset) / pitch) - OVERSCAN);
  const endRow = Math.min(rows, Math.ceil((top - offset + box.height) / pitch) + OVERSCAN);
  const first = firstRow * columns,
    end = Math.max(first, Math.min(count, endRow * columns));
  useEffect(() => {
    if (box.width && end > first) onRange?.(first, end);
  }, [first, end, box.width, onRange]);
  const focus = (/** @type {number} */ index) =>
    /** @type {HTMLElement | null} */ (
      inner.current?.querySelector(`[data-index="${index}"] a, [data-index="${index}"] button`)
    )?.focus();
  useLayoutEffect(() => {
    if (wanted.current >= 0) {
      focus(wanted.current);
      wanted.current = -1;
    }
  });
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const cell = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (event.target).closest("[data-index]"));
    const at = Number(cell?.dataset.index ?? -1);
    const moves = /** @type {Record<string, number>} */ ({
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      ArrowDown: at + columns,
      ArrowUp: at - columns,
      Home: 0,
      End: count - 1,
    });
    if (at < 0 || !(event.key in moves) || event.altKey || event.ctrlKey) return;
    event.preventDefault();
    const target = Math.max(0, Math.min(count - 1, moves[event.key]));
    const y = Math.floor(target / columns) * pitch + offset,
      element = /** @type {HTMLElement} */ (outer.current);
    wanted.current = target;
    if (y < element.scrollTop) element.scrollTop = y - gap;
    else if (y + pitch > element.scrollTop + box.height) element.scrollTop = y + pitch - box.height;
    setTop(element.scrollTop);
    focus(target);
  };
  const cells = [];
  if (box.width) {
    for (let index = first; index < end; index++) {
      const x = (index % columns) * (width + gap),
        y = Math.floor(index / columns) * pitch;
      cells.push(html`<div class="virtual-cell" role="listitem" key=${index} data-index=${index} aria-setsize=${count} aria-posinset=${index + 1}
        style=${{ width: `${width}px`, height: `${pitch - gap}px`, transform: `translate(${x}px, ${y}px)` }}>${render(index)}</div>`);
    }
  }
  return html`<div class="virtual scroll" ref=${outer} onScroll=${(/** @type {any} */ e) => setTop(e.currentTarget.scrollTop)} onKeyDown=${onKeyDown} tabindex="-1">${head}
    <div class="virtual-inner" ref=${inner} role="list" aria-label=${name} style=${{ height: `${Math.max(0, rows * pitch - gap)}px` }}>${cells}</div></div>`;
}

/**
 * Items of a long list, read in pages when they come into sight.
 * @param {(start: number, stop: number, signal: AbortSignal) => Promise<any[]>} read @param {any[]} inputs another list begins when one changes
 * @param {number} [size] @returns {{item: (index: number) => any, need: (first: number, end: number) => void, drop: () => void, update: (change: (item: any) => any) => void}}
 *   `item` is undefined while it is read; `drop` forgets what was read; `update` changes what was read in place
 */
export function usePages(read, inputs, size = 100) {
  const [, redraw] = useState(0);
  const latest = useRef(read);
  latest.current = read;
  const state = useMemo(() => ({ pages: new Map(), abort: new AbortController() }), inputs);
  useEffect(() => () => state.abort.abort(), [state]);
  return useMemo(
    () => ({
      item: (/** @type {number} */ index) => {
        const page = state.pages.get(Math.floor(index / size));
        return Array.isArray(page) ? page[index % size] : undefined;
      },
      need: (/** @type {number} */ first, /** @type {number} */ end) => {
        for (let page = Math.floor(first / size); page * size < end; page++) {
          if (state.pages.has(page)) continue;
          state.pages.set(page, null);
          latest.current(page * size, (page + 1) * size, state.abort.signal).then(
            (items) => {
              state.pages.set(page, items);
              redraw((turn) => turn + 1);
            },
            (failure) => {
              state.pages.delete(page);
              // a wrong question is told where it was asked, by the count
              if (!state.abort.signal.aborted && failure?.status !== 400) toastError(failure);
            },
          );
        }
      },
      drop: () => {
        state.pages.clear();
        redraw((turn) => turn + 1);
      },
      update: (/** @type {(item: any) => any} */ change) => {
        for (const [page, items] of state.pages) if (items) state.pages.set(page, items.map(change));
        redraw((turn) => turn + 1);
      },
    }),
    [state],
  );
}
