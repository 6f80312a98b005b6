// A button that opens a menu: arrow keys move, Enter chooses, Escape and clicks outside close.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../lib.js";
import { Button } from "./controls.js";
import { Icon } from "./icons.js";

/**
 * @typedef {{label: any, icon?: string, run?: () => void, href?: string, danger?: boolean, checked?: boolean} | "line" | {title: string} | null | false | undefined} Item
 * @param {{label?: any, title?: string, icon?: string, kind?: any, small?: boolean, items: Item[] | (() => Item[]), trigger?: any} & Record<string, any>} props
 *   `trigger` replaces the content of the button
 */
export function Menu({ label, title, icon, kind, small, items, ...rest }) {
  const [open, setOpen] = useState(false);
  const host = useRef(/** @type {HTMLElement | null} */ (null));
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const focusButton = () => /** @type {HTMLElement | null} */ (host.current?.querySelector("button"))?.focus();
  useLayoutEffect(() => {
    if (!open || !host.current || !list.current) return;
    const button = host.current.getBoundingClientRect(),
      menu = list.current;
    const box = menu.getBoundingClientRect();
    const below = button.bottom + 4 + box.height <= innerHeight;
    menu.style.left = `${Math.max(8, Math.min(button.left, innerWidth - box.width - 8))}px`;
    menu.style.top = `${below ? button.bottom + 4 : Math.max(8, button.top - 4 - box.height)}px`;
    /** @type {HTMLElement | null} */ (menu.querySelector("[role^=menuitem]"))?.focus({ preventScroll: true });
  }, [open]);
  useEffect(() => {
    if (!open) return undefined;
    const away = (/** @type {any} */ e) => {
      if (!host.current?.contains(e.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", away, true);
    return () => document.removeEventListener("pointerdown", away, true);
  }, [open]);
  const onKeyDown = (/** @type {KeyboardEvent} */ e) => {
    if (!open) return;
    e.stopPropagation();
    if (e.key === "Escape" || e.key === "Tab") {
      setOpen(false);
      focusButton();
      return;
    }
    const all = /** @type {HTMLElement[]} */ ([...(list.current?.querySelectorAll("[role^=menuitem]") ?? [])]);
    const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const moves = /** @type {Record<string, number>} */ ({
      ArrowDown: at + 1,
      ArrowUp: at - 1 + all.length,
      Home: 0,
      End: all.length - 1,
    });
    if (e.key in moves && all.length) {
      e.preventDefault();
      all[moves[e.key] % all.length].focus();
    }
  };
  const shown = open ? (typeof items === "function" ? items() : items) : [];
  return html`<span class="menu-host" ref=${host} onKeyDown=${onKeyDown}>
    <${Button} icon=${icon} kind=${kind} small=${small} title=${title} aria-haspopup="menu" aria-expanded=${open} onClick=${() => setOpen(!open)} ...${rest}>${label}<//>
    ${
      open &&
      html`<div class="menu" role="menu" aria-label=${title ?? label} ref=${list}>${shown
        .filter(Boolean)
        .map((item, index) =>
          renderItem(item, index, () => {
            setOpen(false);
            focusButton();
          }),
        )}</div>`
    }</span>`;
}

/** @param {any} item @param {number} index @param {() => void} close */
function renderItem(item, index, close) {
  if (item === "line") return html`<hr key=${index} />`;
  if (item.title) return html`<div class="title" key=${index}>${item.title}</div>`;
  const inner = html`${item.icon && html`<${Icon} name=${item.icon} />`}<span class="grow">${item.label}</span>${item.checked && html`<${Icon} name="check" />`}`;
  const role = item.checked === undefined ? "menuitem" : "menuitemradio";
  const more = { role, key: index, tabIndex: -1, class: item.danger ? "danger" : "", "aria-checked": item.checked };
  return item.href
    ? html`<a ...${more} href=${item.href} onClick=${() => {
        close();
        item.run?.();
      }}>${inner}</a>`
    : html`<button type="button" ...${more} onClick=${() => {
        close();
        item.run?.();
      }}>${inner}</button>`;
}
