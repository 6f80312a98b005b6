// Inputs for attribute values, by the definition of the attribute.
import { html, useState } from "../lib.js";
import { text } from "../strings.js";
import { Field, Select, TextField, useId } from "./controls.js";
import { PositionInput } from "./position.js";
import { suggestionPath, Suggestions } from "./suggestions.js";

/**
 * The value of an attribute as its definition wants it. Throws Error with a sentence where the text is not one.
 * @param {any} type the definition @param {string} given @returns {any} null for an empty text
 */
export function parseValue(type, given) {
  const value = given.trim();
  if (value === "") return type.dtype === "string" ? "" : null;
  if (type.dtype === "int" || type.dtype === "float") {
    const number = Number(value);
    if (!Number.isFinite(number) || (type.dtype === "int" && !Number.isInteger(number)))
      throw new Error(type.dtype === "int" ? text.wantsInteger : text.wantsNumber);
    if (typeof type.minimum === "number" && number < type.minimum) throw new Error(text.atLeast(type.minimum));
    if (typeof type.maximum === "number" && number > type.maximum) throw new Error(text.atMost(type.maximum));
    return number;
  }
  if (type.dtype === "bool") return value === "true";
  if (type.dtype === "datetime") {
    const instant = new Date(value);
    if (Number.isNaN(instant.getTime())) throw new Error(text.wantsDate);
    return instant.toISOString();
  }
  if (type.dtype === "geopos" || type.dtype === "float_array") {
    const numbers = value.split(/[\s,;]+/).map(Number);
    if (numbers.some((number) => !Number.isFinite(number))) throw new Error(text.wantsNumbers);
    if (type.dtype === "geopos") {
      const [latitude, longitude] = numbers;
      if (numbers.length !== 2 || Math.abs(latitude) > 90 || Math.abs(longitude) > 180)
        throw new Error(text.wantsPlace);
      return [longitude, latitude];
    }
    if (type.size && numbers.length !== type.size) throw new Error(text.wantsCount(type.size));
    return numbers;
  }
  return value;
}

/** An attribute's value as the text of its input. @param {any} type @param {any} value */
function inputText(type, value) {
  if (value === null || value === undefined) return "";
  if (type.dtype === "geopos" && Array.isArray(value)) return `${value[1]}, ${value[0]}`;
  if (type.dtype === "datetime") {
    const instant = new Date(value);
    return Number.isNaN(instant.getTime())
      ? String(value)
      : new Date(instant.getTime() - instant.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
  }
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** Definitions in the order in which they are shown. @param {any[]} types @returns {any[]} */
export const ordered = (types) =>
  [...(types ?? [])].filter((type) => type.visible !== false).sort((a, b) => (a.order ?? 0) - (b.order ?? 0));

/**
 * One input. `onChange` gets a valid value; texts and numbers are taken when the field is left or on Enter.
 * @param {{type: any, value: any, onChange: (value: any) => void, disabled?: boolean, error?: string, placeholder?: string}} props
 */
function AttributeInput({ type, value, onChange, disabled, error, placeholder }) {
  const [draft, setDraft] = useState(/** @type {string | null} */ (null));
  const [wrong, setWrong] = useState("");
  const id = useId();
  const hint = type.description || undefined;
  const label = type.required ? `${type.name} *` : type.name;
  if (type.dtype === "bool") {
    return html`<${Select} label=${label} hint=${hint} value=${value === true ? "true" : value === false ? "false" : ""} disabled=${disabled}
      options=${[["", "–"], ["true", text.yes], ["false", text.no]]} onChange=${(/** @type {string} */ given) => onChange(given === "" ? null : given === "true")} />`;
  }
  if (type.dtype === "enum") {
    const labels = type.labels ?? [];
    const options = (type.choices ?? []).map((/** @type {string} */ choice, /** @type {number} */ index) => [
      choice,
      labels[index] ?? choice,
    ]);
    return html`<${Select} label=${label} hint=${hint} value=${value ?? ""} disabled=${disabled} options=${[["", "–"], ...options]} onChange=${(/** @type {string} */ given) => onChange(given === "" ? null : given)} />`;
  }
  if (type.dtype === "geopos")
    return html`<${PositionInput} type=${type} value=${value} onChange=${onChange} disabled=${disabled} error=${error} placeholder=${placeholder} />`;
  const take = () => {
    if (draft === null) return;
    try {
      const next = parseValue(type, draft);
      setWrong("");
      setDraft(null);
      onChange(next);
    } catch (failure) {
      setWrong(/** @type {Error} */ (failure).message);
    }
  };
  const shared = {
    label,
    hint,
    error: wrong || error,
    disabled,
    placeholder,
    value: draft ?? inputText(type, value),
    onInput: setDraft,
    onBlur: take,
    onKeyDown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        take();
      }
    },
  };
  if (type.dtype === "datetime") return html`<${TextField} ...${shared} type="datetime-local" step="1" />`;
  if (type.dtype === "int" || type.dtype === "float") return html`<${TextField} ...${shared} inputmode="decimal" />`;
  const path = type.dtype === "string" ? suggestionPath(type) : "";
  if (path)
    return html`<${TextField} ...${shared} list=${id} autocomplete="off" /><${Suggestions} id=${id} path=${path} type=${type} draft=${draft} />`;
  return html`<${TextField} ...${shared} rows=${type.style?.includes("long_string") ? 3 : undefined} />`;
}

/**
 * All inputs of a type. Values that a definition does not know are shown as text.
 * @param {{types: any[], values: Record<string, any>, onChange: (name: string, value: any) => void, disabled?: boolean, errors?: Record<string, string>}} props
 */
export const AttributeForm = ({ types, values, onChange, disabled, errors }) =>
  html`<div class="column attribute-form">${ordered(types).map((type) =>
    type.dtype === "blob"
      ? html`<${Field} key=${type.name} label=${type.name}>${() => html`<span class="muted">${text.binary}</span>`}<//>`
      : html`<${AttributeInput} key=${type.name} type=${type} value=${values?.[type.name]} disabled=${disabled} error=${errors?.[type.name]} onChange=${(/** @type {any} */ value) => onChange(type.name, value)} />`,
  )}</div>`;
