// Buttons and inputs. Each has a name for screen readers: its label or its `title`.
import { classes, html, useMemo, useState } from "../lib.js";
import { Icon } from "./icons.js";

let numbers = 0;
/** An id that is unique in the page, the same for the life of a component. */
export const useId = () => useMemo(() => `i${++numbers}`, []);

/**
 * @param {{kind?: "primary"|"danger"|"quiet", icon?: string, title?: string, small?: boolean, busy?: boolean, href?: string,
 *   pressed?: boolean, disabled?: boolean, onClick?: (event: any) => void, type?: string, class?: string, children?: any}} props
 *   `title` names a button without text; `href` makes it a link
 */
export function Button({
  kind,
  icon,
  title,
  small,
  busy,
  href,
  pressed,
  disabled,
  type = "button",
  children,
  class: more,
  ...rest
}) {
  const named = classes("button", kind, small && "small", icon && !children && "icon", more);
  const inner = html`${busy ? html`<span class="spinner" />` : icon && html`<${Icon} name=${icon} />`}${children}`;
  if (href)
    return html`<a class=${named} href=${href} title=${title} aria-label=${children ? undefined : title} ...${rest}>${inner}</a>`;
  return html`<button class=${named} type=${type} title=${title} aria-label=${children ? undefined : title} aria-pressed=${pressed}
    disabled=${disabled || busy} ...${rest}>${inner}</button>`;
}

/** A label with its control, a hint and an error. @param {{label: string, hint?: any, error?: string, children: (id: string) => any}} props */
export function Field({ label, hint, error, children }) {
  const id = useId();
  return html`<div class="field"><label class="label" for=${id}>${label}</label>${children(id)}
    ${hint && html`<div class="hint" id=${`${id}-hint`}>${hint}</div>`}${error && html`<div class="error" role="alert">${error}</div>`}</div>`;
}

/**
 * A text input with a label. `onInput` gets the text.
 * @param {{label: string, value?: any, onInput?: (value: string) => void, hint?: any, error?: string, type?: string, rows?: number,
 *   small?: boolean} & Record<string, any>} props `rows` makes it a text area
 */
export function TextField({ label, value, onInput, hint, error, type = "text", rows, small, ...rest }) {
  return html`<${Field} label=${label} hint=${hint} error=${error}>${(/** @type {string} */ id) =>
    rows
      ? html`<textarea class="input" id=${id} rows=${rows} value=${value} aria-invalid=${error ? "true" : undefined} onInput=${(/** @type {any} */ e) => onInput?.(e.currentTarget.value)} ...${rest} />`
      : html`<input class=${classes("input", small && "small")} id=${id} type=${type} value=${value} aria-invalid=${error ? "true" : undefined}
          aria-describedby=${hint ? `${id}-hint` : undefined} onInput=${(/** @type {any} */ e) => onInput?.(e.currentTarget.value)} ...${rest} />`}<//>`;
}

/**
 * An input whose text counts when it is committed, by Enter or by leaving it: what is typed stays while the view around it
 * is drawn anew. @param {{value: any, onCommit: (value: string) => void} & Record<string, any>} props
 */
export function CommittedInput({ value, onCommit, ...rest }) {
  const [typed, setTyped] = useState(/** @type {string | null} */ (null));
  return html`<input value=${typed ?? value} onInput=${(/** @type {any} */ e) => setTyped(e.currentTarget.value)} onChange=${(
    /** @type {any} */ e,
  ) => {
    setTyped(null);
    onCommit(e.currentTarget.value);
  }} ...${rest} />`;
}

/**
 * A choice of one. Options are texts or [value, label] pairs; `onChange` gets the value as text.
 * @param {{label?: string, name?: string, value: any, options: Array<string | [any, string]>, onChange: (value: string) => void,
 *   hint?: any, small?: boolean} & Record<string, any>} props without `label`, `name` is what screen readers say
 */
export function Select({ label, name, value, options, onChange, hint, small, ...rest }) {
  const select = (
    /** @type {string | undefined} */ id,
  ) => html`<select class=${classes("input", small && "small")} id=${id} aria-label=${label ? undefined : name} value=${String(value ?? "")}
    onChange=${(/** @type {any} */ e) => onChange(e.currentTarget.value)} ...${rest}>
    ${options.map((option) => {
      const [given, text] = Array.isArray(option) ? option : [option, option];
      return html`<option key=${String(given)} value=${String(given)} selected=${String(given) === String(value ?? "")}>${text}</option>`;
    })}</select>`;
  return label ? html`<${Field} label=${label} hint=${hint}>${select}<//>` : select(undefined);
}

/** @param {{label: any, checked: boolean, onChange: (checked: boolean) => void, disabled?: boolean}} props */
export const Checkbox = ({
  label,
  checked,
  onChange,
  ...rest
}) => html`<label class="check"><input type="checkbox" checked=${checked}
  onChange=${(/** @type {any} */ e) => onChange(e.currentTarget.checked)} ...${rest} /><span>${label}</span></label>`;

/** Two to five alternatives beside each other. @param {{name: string, value: any, options: Array<[any, any]>, onChange: (value: any) => void}} props */
export const Segmented = ({
  name,
  value,
  options,
  onChange,
}) => html`<div class="segmented" role="group" aria-label=${name}>
  ${options.map(([given, text]) => html`<button key=${given} type="button" aria-pressed=${given === value} onClick=${() => onChange(given)}>${text}</button>`)}</div>`;

/** A color swatch. The color is set by script: the page's policy refuses style attributes in markup. @param {{color: string}} props */
export const Dot = ({ color }) => html`<span class="dot" style=${{ "--dot": color }} aria-hidden="true" />`;

/** @param {{value: number, name: string}} props `value` from 0 to 1 */
export const Progress = ({
  value,
  name,
}) => html`<div class="bar-of" role="progressbar" aria-label=${name} aria-valuemin="0" aria-valuemax="100"
  aria-valuenow=${Math.round(value * 100)}><span style=${{ width: `${Math.min(100, value * 100)}%` }} /></div>`;
