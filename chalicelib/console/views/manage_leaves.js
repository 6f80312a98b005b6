// Label trees: the leaves of a leaf type, created, renamed, moved and deleted, by pointer or by keyboard.
import { del, get, patch, post } from "../client.js";
import { html, useEffect, useMemo, useRef, useState } from "../lib.js";
import { setQuery } from "../router.js";
import { may, project, reload } from "../store.js";
import { text } from "../strings.js";
import { leaves as words, MOST_MATCHES } from "../strings_manage.js";
import { AttributeForm } from "../ui/attributes.js";
import { Button, Select, TextField } from "../ui/controls.js";
import { confirm, Dialog } from "../ui/dialog.js";
import { valueText } from "../ui/format.js";
import { LeafTree } from "../ui/leaf_tree.js";
import { RecordDialog } from "../ui/records.js";
import { toastDeleted } from "../ui/restore.js";
import { Await, Empty, useAsync } from "../ui/states.js";
import { explain, toast, toastError } from "../ui/toast.js";
import { Tree } from "../ui/tree.js";
import { ImportTaxa } from "./manage_taxa.js";

/** @typedef {import("../ui/leaf_tree.js").Leaf} Leaf */

/** A tree of at most so many leaves is shown open. */
const SMALL = 60;

/** @param {{query: Record<string, string>}} props */
export function Leaves({ query }) {
  const open = /** @type {any} */ (project.value);
  const [creating, setCreating] = useState(false);
  const type = open.leafTypes.find((/** @type {any} */ each) => String(each.id) === query.type) ?? open.leafTypes[0];
  const create = (/** @type {any} */ values) =>
    post(`LeafTypes/${open.id}`, values).then(async ({ id }) => {
      await reload("leafTypes");
      setQuery({ type: id });
    });
  const [importing, setImporting] = useState(false);
  const [turn, setTurn] = useState(0);
  const newTree = (/** @type {"primary" | undefined} */ kind) =>
    may("Full Control") &&
    html`<${Button} icon="upload" onClick=${() => setImporting(true)}>${words.taxa.open}<//><${Button} kind=${kind} icon="add" onClick=${() => setCreating(true)}>${words.newTree}<//>`;
  return html`<section class="column"><div class="row"><div class="grow"><h1 class="title">${words.title}</h1><p class="muted">${words.lead} ${may("Full Control") ? "" : words.readOnly}</p></div>
      ${open.leafTypes.length > 1 && html`<${Select} name=${words.tree} value=${type.id} options=${open.leafTypes.map((/** @type {any} */ each) => [each.id, each.name])} onChange=${(/** @type {string} */ id) => setQuery({ type: id })} />`}${type && newTree(undefined)}</div>
    ${type ? html`<${Editor} key=${`${type.id}/${turn}`} type=${type} />` : html`<${Empty} icon="tree" title=${words.noTypes} action=${newTree("primary")}>${words.noTypesLead}<//>`}
    ${
      importing &&
      html`<${ImportTaxa} types=${open.leafTypes} onClose=${() => setImporting(false)} onDone=${(
        /** @type {number} */ id,
      ) => {
        setTurn(turn + 1);
        setQuery({ type: id });
      }} />`
    }
    ${creating && html`<${RecordDialog} title=${words.newTree} onSave=${create} onClose=${() => setCreating(false)} members=${[{ name: "name", label: text.name, required: true }, { name: "description", label: text.description, kind: "long" }]} />`}</section>`;
}

/** @param {{type: any}} props */
function Editor({ type }) {
  const tree = useMemo(() => new LeafTree(type.project, type.id), [type.id]);
  const [opened, setOpened] = useState(/** @type {Set<number>} */ (new Set()));
  const [active, setActive] = useState(/** @type {number | null} */ (null));
  const [moving, setMoving] = useState(/** @type {Leaf | null} */ (null));
  const [dialog, setDialog] = useState(/** @type {{kind: "add" | "edit", leaf: Leaf | null} | null} */ (null));
  const [wanted, setWanted] = useState("");
  const [, redraw] = useState(0);
  const latest = useRef(opened);
  latest.current = opened;
  const isAllowed = may("Full Control");
  const top = useAsync(
    (signal) =>
      tree.read(null, signal).then(() => {
        if (tree.leaves.size <= SMALL) setOpened(new Set(tree.leaves.keys()));
        return true;
      }),
    [tree],
  );
  const found = useAsync(
    (signal) =>
      wanted
        ? get(
            `Leaves/${type.project}`,
            { type: type.id, search: nameSearch(wanted), sort_by: ["$name"], stop: MOST_MATCHES },
            { signal },
          )
        : Promise.resolve(null),
    [wanted],
  );

  const refresh = async (/** @type {(number | null)[]} */ ...parents) => {
    const read = (/** @type {number | null} */ id) => tree.read(id === null ? null : (tree.leaves.get(id) ?? null));
    try {
      for (const id of new Set(parents)) if (id === null || tree.leaves.has(id)) await read(id);
      // what lies below an open leaf of a large tree was forgotten with the level above
      for (const id of latest.current) if (tree.leaves.has(id) && !tree.children.has(id)) await read(id);
    } catch (failure) {
      toastError(failure);
    }
    if (wanted) found.again();
    redraw((turn) => turn + 1);
  };
  const setOpen = (/** @type {Leaf} */ leaf, /** @type {boolean} */ isOpen) => {
    setOpened((before) => {
      const next = new Set(before);
      if (isOpen) next.add(leaf.id);
      else next.delete(leaf.id);
      return next;
    });
    if (isOpen && !tree.children.has(leaf.id)) refresh(leaf.id);
  };
  const put = (/** @type {Leaf} */ leaf, /** @type {Leaf | null} */ below) => {
    setMoving(null);
    if (below ? tree.isWithin(below, leaf) || leaf.parent === below.id : leaf.parent === null) return;
    const send = (/** @type {number | null} */ parent) =>
      patch(`Leaf/${leaf.id}`, { parent: parent ?? -1 }).then(async () => {
        if (below) setOpen(below, true);
        await refresh(leaf.parent, below?.id ?? null);
        setActive(leaf.id);
      });
    send(below?.id ?? null).then(
      () =>
        toast(words.moved(leaf.name, below?.name ?? ""), {
          kind: "good",
          action: text.undo,
          run: () => send(leaf.parent).catch(toastError),
        }),
      toastError,
    );
  };
  const remove = async (/** @type {Leaf} */ leaf) => {
    try {
      const all = await get(`Leaves/${type.project}`, { ancestor: leaf.path, stop: MOST_MATCHES + 1 });
      if (
        !(await confirm({
          title: text.deleteNamed(leaf.name),
          message: words.deleteLead(all.length - 1),
          action: text.delete,
          danger: true,
        }))
      )
        return;
      const siblings = tree.children.get(leaf.parent) ?? [],
        at = siblings.findIndex((each) => each.id === leaf.id);
      await del(`Leaf/${leaf.id}`);
      setActive((siblings[at + 1] ?? siblings[at - 1])?.id ?? leaf.parent);
      toastDeleted(type.project, "leaf", [leaf.id], () => refresh(leaf.parent));
      await refresh(leaf.parent);
    } catch (failure) {
      toastError(failure);
    }
  };
  const add = (/** @type {Leaf | null} */ leaf) => setDialog({ kind: "add", leaf }),
    edit = (/** @type {Leaf} */ leaf) => setDialog({ kind: "edit", leaf });
  const above = (/** @type {Leaf} */ leaf) => (leaf.parent === null ? null : (tree.leaves.get(leaf.parent) ?? null));
  const keys = (/** @type {Leaf} */ leaf) =>
    /** @type {Record<string, () => void>} */ (
      !isAllowed
        ? {}
        : {
            Enter: () => edit(leaf),
            F2: () => edit(leaf),
            n: () => add(leaf),
            N: () => add(above(leaf)),
            Delete: () => remove(leaf),
            x: () => setMoving(leaf),
            ...(moving && { v: () => put(moving, leaf), Escape: () => setMoving(null) }),
          }
    );
  const actions = (/** @type {Leaf} */ leaf) => [
    { label: words.addBelow, icon: "add", run: () => add(leaf) },
    { label: words.addBeside, icon: "add", run: () => add(above(leaf)) },
    { label: words.editLeaf, icon: "edit", run: () => edit(leaf) },
    { label: words.move, icon: "track", run: () => setMoving(leaf) },
    leaf.parent !== null && { label: words.toTop, icon: "up", run: () => put(leaf, null) },
    "line",
    { label: text.delete, icon: "trash", danger: true, run: () => remove(leaf) },
  ];
  const saved = async (/** @type {Leaf | null} */ parent, /** @type {number[]} */ ids) => {
    if (parent) setOpen(parent, true);
    await refresh(parent?.id ?? null);
    setActive(ids[0]);
  };
  return html`<div class="leaves column">
    <div class="row wrap"><div class="grow leaf-find"><${TextField} type="search" label=${words.find} value=${wanted} onInput=${setWanted} autocomplete="off" /></div>${isAllowed && html`<${Button} kind="primary" icon="add" onClick=${() => add(null)}>${words.addTop}<//>`}</div>
    ${moving && html`<div class="note row" role="status"><span class="grow">${words.moving(moving.name)}</span>${moving.parent !== null && html`<${Button} small icon="up" onClick=${() => put(moving, null)}>${words.toTop}<//>`}<${Button} small onClick=${() => setMoving(null)}>${text.cancel}<//></div>`}
    <${Await} of=${top}>${() => {
      const matches = wanted ? found.value : null;
      if (!tree.children.get(null)?.length)
        return html`<${Empty} icon="tree" title=${words.empty}>${words.emptyLead}<//>`;
      if (wanted && !matches)
        return found.failure
          ? html`<p class="note bad" role="alert">${explain(found.failure)}</p>`
          : html`<p class="muted" role="status">${text.loading}</p>`;
      return html`${matches && html`<p class="muted small" role="status">${words.matches(matches.length)}</p>`}
        <${Tree} name=${type.name} tree=${tree} matches=${matches} opened=${opened} active=${active} onActive=${setActive} onOpen=${setOpen} keys=${keys} actions=${isAllowed ? actions : null} moving=${moving} onPut=${put}
          about=${(/** @type {Leaf} */ leaf) =>
            matches
              ? leaf.path.split(".").slice(1, -1).join(" › ").replaceAll("_", " ")
              : Object.values(leaf.attributes ?? {})
                  .map(valueText)
                  .filter(Boolean)
                  .join(" · ")} />
        ${isAllowed && html`<p class="muted small">${words.keys}</p>`}`;
    }}<//>
    ${dialog?.kind === "add" && html`<${AddLeaves} type=${type} parent=${dialog.leaf} onClose=${() => setDialog(null)} onDone=${saved} />`}
    ${dialog?.kind === "edit" && html`<${EditLeaf} type=${type} leaf=${dialog.leaf} onClose=${() => setDialog(null)} onDone=${refresh} />`}</div>`;
}

/** The search string of names that contain a text; signs of the query language are taken as text. @param {string} given */
const nameSearch = (given) => `$name:*${given.trim().replace(/[\s+\-&|!(){}[\]^"~*?:\\/<>]/g, "\\$&")}*`;

/** @param {{type: any, parent: Leaf | null, onClose: () => void, onDone: (parent: Leaf | null, ids: number[]) => any}} props */
function AddLeaves({ type, parent, onClose, onDone }) {
  const save = async (/** @type {{names?: string[]}} */ { names = [] }) => {
    const { id } = await post(
      `Leaves/${type.project}`,
      names.map((name) => ({ name, type: type.id, ...(parent && { parent: parent.id }) })),
    );
    toast(words.added(id.length), { kind: "good" });
    onDone(parent, id);
  };
  return html`<${RecordDialog} title=${parent ? words.addBelowOf(parent.name) : words.addTop} action=${text.add} onSave=${save} onClose=${onClose} members=${[{ name: "names", label: words.names, kind: "lines", hint: words.namesHint, required: true }]} />`;
}

/** @param {{type: any, leaf: any, onClose: () => void, onDone: (...parents: (number | null)[]) => any}} props */
function EditLeaf({ type, leaf, onClose, onDone }) {
  const [name, setName] = useState(leaf.name);
  const [changed, setChanged] = useState(/** @type {Record<string, any>} */ ({}));
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  const send = (/** @type {string} */ given, /** @type {Record<string, any>} */ values) => {
    const set = Object.entries(values).filter(([, value]) => value !== null && value !== undefined),
      nulls = Object.keys(values).filter((each) => !set.some(([one]) => one === each));
    return patch(`Leaf/${leaf.id}`, {
      name: given,
      ...(set.length && { attributes: Object.fromEntries(set) }),
      ...(nulls.length && { null_attributes: nulls }),
    }).then(() => onDone(leaf.parent));
  };
  const save = async () => {
    if (name.trim() === leaf.name && !Object.keys(changed).length) return;
    setBusy(true);
    setFailure("");
    try {
      await send(name.trim(), changed);
      const before = Object.fromEntries(Object.keys(changed).map((each) => [each, leaf.attributes[each]]));
      toast(words.saved(name.trim()), {
        kind: "good",
        action: text.undo,
        run: () => send(leaf.name, before).catch(toastError),
      });
      onClose();
    } catch (reason) {
      setFailure(explain(reason));
      setBusy(false);
    }
  };
  return html`<${Dialog} title=${leaf.name} onClose=${onClose} onSubmit=${save} footer=${html`<${Button} onClick=${onClose}>${text.cancel}<//><${Button} kind="primary" type="submit" busy=${busy} disabled=${!name.trim()}>${text.save}<//>`}>
    ${failure && html`<div class="note bad" role="alert">${failure}</div>`}<${TextField} label=${text.name} value=${name} onInput=${setName} autofocus required />
    <p class="muted small">${words.path}: <code>${leaf.path}</code></p><${AttributeForm} types=${type.attribute_types} values=${{ ...leaf.attributes, ...changed }} onChange=${(/** @type {string} */ each, /** @type {any} */ value) => setChanged({ ...changed, [each]: value })} /><//>`;
}
