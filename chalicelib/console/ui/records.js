// Lists of small records (versions, members, buckets) with a dialog that creates and changes one.
import { html, useState } from "../lib.js";
import { text } from "../strings.js";
import { Button, Checkbox, Select, TextField } from "./controls.js";
import { confirm, Dialog } from "./dialog.js";
import { Menu } from "./menu.js";
import { Empty } from "./states.js";
import { explain, toast, toastError } from "./toast.js";

/**
 * One member of a form. `kind` is "text" by default; `only` limits it to "create" or "change".
 * @typedef {{name: string, label: string, kind?: "text"|"long"|"number"|"select"|"check"|"password"|"lines"|"color"|"choices", options?: Array<string | [any, string]>, hint?: any,
 *   required?: boolean, only?: "create"|"change", when?: (values: Record<string, any>) => boolean}} Member
 */

/**
 * A member whose value is one of some options.
 * @param {string} name @param {string} label @param {Array<string | [any, string]>} options @param {Partial<Member>} [more] @returns {Member}
 */
export const choice = (name, label, options, more) => ({ name, label, kind: "select", options, ...more });

/** Records by id as options of a choice. @param {any[]} records @param {string} [first] the option for none of them @returns {[any, string][]} */
export const recordOptions = (records, first) => [
  ...(first === undefined ? [] : [/** @type {[any, string]} */ (["", first])]),
  ...records.map((each) => /** @type {[any, string]} */ ([each.id, each.name])),
];

/**
 * A dialog with the members of a record. Members that stay empty are not sent on creation; a change sends what changed.
 * @param {{title: string, members: Member[], values?: Record<string, any>, isNew?: boolean, action?: string, onSave: (values: Record<string, any>) => Promise<any>, onClose: () => void, wide?: boolean, first?: any, children?: any}} props
 *   `first` stands above the members, `children` below them
 */
export function RecordDialog({
  title,
  members,
  values = {},
  isNew = true,
  action,
  onSave,
  onClose,
  wide,
  first,
  children,
}) {
  const [given, setGiven] = useState(/** @type {Record<string, any>} */ ({ ...values }));
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  const shown = members.filter(
    (each) => (!each.only || each.only === (isNew ? "create" : "change")) && (!each.when || each.when(given)),
  );
  const submit = async () => {
    setBusy(true);
    setFailure("");
    try {
      await onSave(collect(shown, given, values, isNew));
      onClose();
    } catch (reason) {
      setFailure(explain(reason));
      setBusy(false);
    }
  };
  const set = (/** @type {string} */ name) => (/** @type {any} */ value) =>
    setGiven((before) => ({ ...before, [name]: value }));
  return html`<${Dialog} title=${title} wide=${wide} onClose=${onClose} onSubmit=${submit} footer=${html`<${Button} onClick=${onClose}>${text.cancel}<//><${Button} kind="primary" type="submit" busy=${busy}>${action ?? (isNew ? text.create : text.save)}<//>`}>
    ${failure && html`<div class="note bad" role="alert">${failure}</div>`}${first}${shown.map((each, index) => html`<${Input} key=${each.name} member=${each} value=${given[each.name]} onChange=${set(each.name)} first=${index === 0} />`)}${children}<//>`;
}

/** @param {{member: Member, value: any, onChange: (value: any) => void, first: boolean}} props */
function Input({ member, value, onChange, first }) {
  const { label, hint, required } = member;
  const own = { label, hint, required, autofocus: first };
  if (member.kind === "select")
    return html`<${Select} label=${label} hint=${hint} value=${value} options=${member.options ?? []} onChange=${onChange} />`;
  if (member.kind === "check")
    return html`<${Checkbox} label=${label} checked=${Boolean(value)} onChange=${onChange} />`;
  if (member.kind === "choices") {
    const chosen = new Set(value ?? []);
    return html`<fieldset class="choices"><legend class="label">${label}</legend>${(member.options ?? []).map(
      (option) => {
        const [given, name] = Array.isArray(option) ? option : [option, option];
        return html`<${Checkbox} key=${given} label=${name} checked=${chosen.has(given)} onChange=${(
          /** @type {boolean} */ on,
        ) => {
          const next = new Set(chosen);
          if (on) next.add(given);
          else next.delete(given);
          onChange([...next]);
        }} />`;
      },
    )}</fieldset>`;
  }
  if (member.kind === "lines")
    return html`<${TextField} ...${own} rows=${4} value=${Array.isArray(value) ? value.join("\n") : (value ?? "")} onInput=${onChange} />`;
  if (member.kind === "color")
    return html`<${TextField} ...${own} type="color" value=${value ?? "#3aa0ff"} onInput=${onChange} />`;
  return html`<${TextField} ...${own} rows=${member.kind === "long" ? 3 : undefined} type=${member.kind === "password" ? "password" : "text"} autocomplete=${member.kind === "password" ? "new-password" : "off"}
    inputmode=${member.kind === "number" ? "decimal" : undefined} value=${value ?? ""} onInput=${onChange} />`;
}

/** @param {Member[]} members @param {Record<string, any>} given @param {Record<string, any>} before @param {boolean} isNew */
function collect(members, given, before, isNew) {
  /** @type {Record<string, any>} */
  const found = {};
  for (const { name, kind, options } of members) {
    let value = given[name];
    if (kind === "lines" && typeof value === "string")
      value = value
        .split("\n")
        .map((each) => each.trim())
        .filter(Boolean);
    else if (kind === "number" && typeof value === "string" && value.trim())
      value = Number.isNaN(Number(value)) ? value : Number(value); // what is no number is refused by the service
    else if (kind === "select" && value === "" && before[name] !== undefined) value = null;
    else if (kind === "select" && typeof value === "string")
      value =
        (options ?? []).map((each) => (Array.isArray(each) ? each[0] : each)).find((each) => String(each) === value) ??
        value;
    else if (typeof value === "string") value = value.trim();
    const isEmpty = value === undefined || value === "" || value === null || (Array.isArray(value) && !value.length);
    if (
      isNew
        ? !isEmpty
        : JSON.stringify(value) !== JSON.stringify(before[name]) &&
          !(isEmpty && (before[name] === undefined || before[name] === null))
    )
      found[name] = value;
  }
  return found;
}

/**
 * A table of records with actions.
 * @param {{title: string, lead?: any, items: any[], columns: Array<{name: string, render: (item: any) => any, end?: boolean}>, nameOf: (item: any) => string, icon?: string, empty?: string,
 *   onCreate?: () => void, createLabel?: string, onChange?: (item: any) => void, onRemove?: (item: any) => Promise<any>, removeMessage?: any, more?: (item: any) => any[], isLocked?: (item: any) => boolean, isPage?: boolean}} props `isPage`: the title is that of the page
 */
export function RecordTable({
  title,
  lead,
  items,
  columns,
  nameOf,
  icon,
  empty,
  onCreate,
  createLabel,
  onChange,
  onRemove,
  removeMessage,
  more,
  isLocked,
  isPage,
}) {
  const remove = async (/** @type {any} */ item) => {
    if (
      !(await confirm({
        title: text.deleteNamed(nameOf(item)),
        message: removeMessage,
        action: text.delete,
        danger: true,
      }))
    )
      return;
    Promise.resolve(onRemove?.(item)).then(() => toast(text.deleted, { kind: "good" }), toastError);
  };
  const create =
    onCreate && html`<${Button} kind="primary" icon="add" onClick=${onCreate}>${createLabel ?? text.create}<//>`;
  const hasActions = Boolean(onChange || onRemove || more);
  return html`<section class="column"><div class="row"><div class="grow">${isPage ? html`<h1 class="title">${title}</h1>` : html`<h2>${title}</h2>`}${lead && html`<p class="muted">${lead}</p>`}</div>${items.length > 0 && create}</div>
    ${
      items.length === 0
        ? html`<${Empty} icon=${icon} title=${empty ?? text.nothingYet} action=${create} />`
        : html`<div class="card table-card"><table class="table"><thead><tr>${columns.map((each) => html`<th key=${each.name} class=${each.end ? "end" : ""} scope="col">${each.name}</th>`)}${hasActions && html`<th><span class="visually-hidden">${text.actions}</span></th>`}</tr></thead>
      <tbody>${items.map((item) => html`<tr key=${item.id ?? nameOf(item)}>${columns.map((each) => html`<td key=${each.name} class=${each.end ? "end number" : ""}>${each.render(item)}</td>`)}${hasActions && html`<td class="end">${!isLocked?.(item) && html`<${Menu} small kind="quiet" icon="more" title=${text.actionsOf(nameOf(item))} items=${[...(more?.(item) ?? []), onChange && { label: text.edit, icon: "edit", run: () => onChange(item) }, onRemove && { label: text.delete, icon: "trash", danger: true, run: () => remove(item) }]} />`}</td>`}</tr>`)}</tbody></table></div>`
    }</section>`;
}
