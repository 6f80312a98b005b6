// A tree as screen readers know it: one stop of Tab, arrow keys between rows, each row with a menu.
import { classes, html, useLayoutEffect, useRef, useState } from "../lib.js";
import { text } from "../strings.js";
import { leaves as words } from "../strings_manage.js";
import { Button } from "./controls.js";
import { Icon } from "./icons.js";
import { Menu } from "./menu.js";

/** @typedef {import("./leaf_tree.js").Leaf} Leaf */

const USUAL = 200;
const DRAGGED = "application/x-limn-leaf";

/**
 * @param {{name: string, tree: import("./leaf_tree.js").LeafTree, matches: Leaf[] | null | undefined, opened: Set<number>, active: number | null, onActive: (id: number) => void, onOpen: (leaf: Leaf, isOpen: boolean) => void,
 *   keys: (leaf: Leaf) => Record<string, () => void>, actions: ((leaf: Leaf) => any[]) | null, moving: Leaf | null, onPut: (leaf: Leaf, below: Leaf) => void, about: (leaf: Leaf) => string}} props
 *   `matches` are shown in place of the tree; `keys` are more keys of a row; without `actions` the tree is only read
 */
export function Tree({ name, tree, matches, opened, active, onActive, onOpen, keys, actions, moving, onPut, about }) {
  const [most, setMost] = useState(/** @type {Map<number | null, number>} */ (new Map()));
  const [over, setOver] = useState(0);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const rows = matches
    ? matches.map((leaf, index) => ({ leaf, level: 1, at: index + 1, of: matches.length }))
    : tree.rows(opened, most, USUAL);
  const shown = /** @type {{leaf: Leaf, level: number, at: number, of: number}[]} */ (
    rows.filter((row) => "leaf" in row)
  );
  const current = shown.find(({ leaf }) => leaf.id === active) ?? shown[0];
  const before = useRef(active);
  useLayoutEffect(() => {
    // a row that became the active one by a change gets the focus, once no dialog is open: a dialog gives it back as it closes
    if (before.current === active || document.querySelector("dialog[open]")) return;
    before.current = active;
    if (active !== null) focus(active);
  });
  const focus = (/** @type {number} */ id) =>
    /** @type {HTMLElement | null} */ (list.current?.querySelector(`[data-leaf="${id}"]`))?.focus();
  const go = (/** @type {Leaf | undefined} */ leaf) => {
    if (leaf) {
      onActive(leaf.id);
      focus(leaf.id);
    }
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (
      !current ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      !(/** @type {HTMLElement} */ (event.target).matches("[role=treeitem]"))
    )
      return;
    const at = shown.indexOf(current),
      { leaf } = current;
    const isOpen = !matches && opened.has(leaf.id),
      isEnd = tree.children.get(leaf.id)?.length === 0;
    const moves = /** @type {Record<string, () => void>} */ ({
      ArrowDown: () => go(shown[at + 1]?.leaf),
      ArrowUp: () => go(shown[at - 1]?.leaf),
      Home: () => go(shown[0].leaf),
      End: () => go(shown[shown.length - 1].leaf),
      ArrowRight: () => {
        if (matches || isEnd) return;
        if (isOpen) go(shown[at + 1]?.leaf);
        else onOpen(leaf, true);
      },
      ArrowLeft: () => {
        if (isOpen && !isEnd) onOpen(leaf, false);
        else go(shown.find((row) => row.leaf.id === leaf.parent)?.leaf);
      },
      ...keys(leaf),
    });
    const act = moves[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  const drop = (/** @type {Leaf} */ leaf) =>
    !actions
      ? {}
      : {
          draggable: true,
          onDragStart: (/** @type {DragEvent} */ event) => event.dataTransfer?.setData(DRAGGED, String(leaf.id)),
          onDragLeave: () => setOver(0),
          onDragOver: (/** @type {DragEvent} */ event) => {
            if (event.dataTransfer?.types.includes(DRAGGED)) {
              event.preventDefault();
              setOver(leaf.id);
            }
          },
          onDrop: (/** @type {DragEvent} */ event) => {
            event.preventDefault();
            setOver(0);
            const dragged = tree.leaves.get(Number(event.dataTransfer?.getData(DRAGGED)));
            if (dragged) onPut(dragged, leaf);
          },
        };
  return html`<ul class="card leaf-tree" role="tree" aria-label=${name} ref=${list} onKeyDown=${onKeyDown}>${rows.map(
    (row) => {
      if (!("leaf" in row))
        return html`<li key=${`more${row.parent}`} class="leaf-row" role="treeitem" tabindex="-1" aria-level=${row.level} aria-label=${words.showMore(row.more)} style=${{ "--depth": row.level }}><${Button} small kind="quiet" onClick=${() => setMost(new Map(most).set(row.parent, (most.get(row.parent) ?? USUAL) + row.more))}>${words.showMore(row.more)}<//></li>`;
      const { leaf, level, at, of } = row;
      const isEnd = Boolean(matches) || tree.children.get(leaf.id)?.length === 0,
        isOpen = opened.has(leaf.id),
        mayTake = moving && moving.id !== leaf.id && !tree.isWithin(leaf, moving) && moving.parent !== leaf.id;
      const children = tree.children.get(leaf.id)?.length;
      return html`<li key=${leaf.id} class=${classes("leaf-row", over === leaf.id && "drop", moving?.id === leaf.id && "moving")} style=${{ "--depth": level }} role="treeitem" data-leaf=${leaf.id} tabindex=${leaf.id === current?.leaf.id ? 0 : -1}
      aria-level=${level} aria-posinset=${at} aria-setsize=${of} aria-expanded=${isEnd ? undefined : isOpen} aria-selected=${leaf.id === current?.leaf.id} aria-label=${leaf.name} onFocus=${() => onActive(leaf.id)} ...${drop(leaf)}>
      <button type="button" class="leaf-open" tabindex="-1" aria-hidden="true" disabled=${isEnd} onClick=${() => onOpen(leaf, !isOpen)}>${!isEnd && html`<${Icon} name=${isOpen ? "down" : "next"} />`}</button>
      <div class="leaf-name grow" onClick=${() => go(leaf)} onDblClick=${() => !isEnd && onOpen(leaf, !isOpen)}><strong class="cut">${leaf.name}</strong>${children ? html`<span class="chip number">${children}</span>` : ""}<span class="muted small cut">${about(leaf)}</span></div>
      ${mayTake && html`<${Button} small tabindex="-1" onClick=${() => onPut(moving, leaf)}>${words.moveHere(moving.name)}<//>`}
      ${actions && html`<${Menu} small kind="quiet" icon="more" title=${text.actionsOf(leaf.name)} items=${() => actions(leaf)} />`}</li>`;
    },
  )}</ul>`;
}
