// The sheet of keys: all commands with their keys, each of which a person can change.
import { html, useState } from "../lib.js";
import { text } from "../strings.js";
import { annotate as words } from "../strings_annotate.js";
import { Button } from "./controls.js";
import { Dialog } from "./dialog.js";
import { choose, chosenKeys, keysFor, keyText, reset } from "./key_map.js";
import { keyName, useKeys } from "./keys.js";
import { project } from "../store.js";
import { tour as tourWords } from "../strings_tour.js";
import { tour } from "./tour.js";

/** What is no key of a command: those that change others, and the one that goes through the page. */
const NO_KEYS = ["Control", "Shift", "Alt", "AltGraph", "Meta", "Tab"];

/** @typedef {{id: string, group: string, label: string, keys: string[], run: (event: KeyboardEvent) => void}} Keyed a command that a key runs */

/**
 * The keys of a view, where a person can change them; `?` opens their sheet.
 * @param {{commands: Keyed[]}} props their ids begin with the name of the view and a dot
 */
export function Keys({ commands }) {
  const [isOpen, setOpen] = useState(false);
  useKeys({
    ...Object.fromEntries(commands.flatMap((each) => keysFor(each).map((key) => [key, each.run]))),
    "?": () => setOpen(true),
  });
  return html`<span class="row wrap muted small">${commands.map((each) => html`<span key=${each.id}>${keysFor(each).map((key) => html`<span class="key" key=${key}>${keyText(key)}</span>`)} ${each.label}</span>`)}
    <${Button} small kind="quiet" title=${words.shortcuts} onClick=${() => setOpen(true)}><span class="key">?</span><//>${isOpen && html`<${Help} commands=${commands} onClose=${() => setOpen(false)} />`}</span>`;
}

/** @param {{commands: Keyed[], onClose: () => void, onTour?: () => void}} props `onTour` begins the tour, or goes on with it */
export function Help({ commands, onClose, onTour }) {
  const [waiting, setWaiting] = useState(/** @type {string | null} */ (null));
  const isChanged = Object.keys(chosenKeys.value).length > 0;
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (!waiting || NO_KEYS.includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key !== "Escape") choose(waiting, keyName(event));
    setWaiting(null);
  };
  const row = (/** @type {Keyed} */ command) => html`<div key=${command.id}>
    <dt><button type="button" class="key-button" aria-label=${words.changeKey(command.label)} title=${words.changeKey(command.label)}
      onClick=${() => setWaiting(command.id)} onKeyDown=${onKeyDown}>
      ${waiting === command.id ? words.pressKey : keysFor(command).length === 0 ? words.noKey : keysFor(command).map((key) => html`<span class="key" key=${key}>${keyText(key)}</span> `)}
    </button></dt><dd>${command.label}</dd></div>`;
  const groups = Object.entries(words.keyGroups).map(([group, title]) => {
    const own = commands.filter((command) => command.group === group);
    return own.length > 0 && html`<section key=${group}><h3>${title}</h3><dl>${own.map(row)}</dl></section>`;
  });
  return html`<${Dialog} wide title=${words.shortcuts} onClose=${onClose}
    footer=${html`${onTour && html`<${Button} icon="play" onClick=${onTour}>${tour.value?.project === project.value?.id ? tourWords.resume : tourWords.start}<//>`}<${Button} disabled=${!isChanged} onClick=${reset}>${words.resetKeys}<//><${Button} kind="primary" onClick=${onClose}>${text.close}<//>`}>
    <p class="muted small">${words.keysLead}</p>
    <div class="keys" tabindex="0" role="group" aria-label=${words.shortcuts}>${groups}</div><//>`;
}
