// A box for search strings with completion of names and values, as a combobox.
import { html, useEffect, useRef, useState } from "../lib.js";
import { text } from "../strings.js";
import { Button, useId } from "./controls.js";
import { Icon } from "./icons.js";
import { complete } from "./search.js";

/**
 * @param {{value: string, fields: import("./search.js").FieldOfSearch[], onSearch: (value: string) => void, placeholder: string, error?: string}} props
 *   `onSearch` is called on Enter, on clearing, and after a value was completed
 */
export function SearchBox({ value, fields, onSearch, placeholder, error }) {
  const [given, setGiven] = useState(value);
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const [cursor, setCursor] = useState(0);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const id = useId();
  useEffect(() => setGiven(value), [value]);
  const options = open ? complete(given.slice(0, cursor), fields) : [];
  const send = (/** @type {string} */ wanted) => {
    setOpen(false);
    setChosen(-1);
    onSearch(wanted.trim());
  };
  const take = (/** @type {import("./search.js").Completion} */ option) => {
    const next = given.slice(0, option.from) + option.text + given.slice(cursor);
    const at = option.from + option.text.length;
    setGiven(next);
    setCursor(at);
    setChosen(-1);
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(at, at);
    });
    if (option.text.endsWith(" ")) send(next);
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      if (options[chosen]) take(options[chosen]);
      else send(given);
    } else if (event.key === "Escape" && open) {
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      setOpen(true);
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (options.length)
        setChosen((chosen + step + options.length + (chosen < 0 && step < 0 ? 1 : 0)) % options.length);
    } else if (event.key === "Tab" && options[chosen]) {
      event.preventDefault();
      take(options[chosen]);
    }
  };
  const track = (/** @type {any} */ event) => setCursor(event.currentTarget.selectionStart ?? given.length);
  return html`<div class="search-box" role="search"><${Icon} name="search" />
    <input ref=${input} class="input" type="text" role="combobox" aria-label=${text.search} aria-expanded=${options.length > 0} aria-controls=${`${id}-list`} aria-autocomplete="list"
      aria-activedescendant=${options[chosen] ? `${id}-${chosen}` : undefined} aria-invalid=${error ? "true" : undefined} autocomplete="off" spellcheck=${false} placeholder=${placeholder} value=${given}
      onInput=${(/** @type {any} */ e) => {
        setGiven(e.currentTarget.value);
        setCursor(e.currentTarget.selectionStart);
        setOpen(true);
        setChosen(-1);
      }}
      onKeyDown=${onKeyDown} onKeyUp=${track} onClick=${(/** @type {any} */ e) => {
        track(e);
        setOpen(true);
      }} onBlur=${() => setOpen(false)} />
    ${
      given &&
      html`<${Button} small kind="quiet" icon="close" title=${text.clearSearch} onClick=${() => {
        setGiven("");
        send("");
      }} />`
    }
    <div class="search-list" role="listbox" id=${`${id}-list`} aria-label=${text.completions} hidden=${!options.length}>${options.map(
      (
        option,
        index,
      ) => html`<div role="option" key=${option.text + index} id=${`${id}-${index}`} aria-selected=${index === chosen}
      onMouseDown=${(/** @type {Event} */ e) => {
        e.preventDefault();
        take(option);
      }}><span class="cut grow">${option.label}</span><span class="muted small">${option.detail}</span></div>`,
    )}</div>
    ${error && html`<div class="search-error note bad" role="alert">${error}</div>`}</div>`;
}
