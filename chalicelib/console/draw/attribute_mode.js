// Attribute mode: one attribute over all shapes of a frame, then of the next, by keys alone.
import { classes, html, useEffect, useState } from "../lib.js";
import { annotate as words } from "../strings_annotate.js";
import { Select } from "../ui/controls.js";
import { isTyping, keyName } from "../ui/keys.js";
import { hasPlace } from "./geometry.js";

const YES_NO = [true, false];

/** The attributes that a key can answer: choices, and yes or no. @param {import("./session.js").Session} session @returns {any[]} */
function questions(session) {
  const found = new Map();
  for (const type of session.types.localization.values())
    for (const each of type.attribute_types ?? [])
      if (each.dtype === "enum" || each.dtype === "bool") found.set(each.name, each);
  return [...found.values()];
}

/** @param {{session: import("./session.js").Session, onEnd: () => void}} props */
export function AttributeMode({ session, onEnd }) {
  const all = questions(session);
  const [name, setName] = useState(all[0]?.name ?? "");
  const attribute = all.find((each) => each.name === name);
  const values = attribute?.dtype === "bool" ? YES_NO : (attribute?.choices ?? []);
  session.revision.value;
  const [chosen] = session.selected.value.size ? session.chosen() : [];
  const has = (/** @type {import("./document.js").Row} */ row) =>
    (session.typeOf(row)?.attribute_types ?? []).some((/** @type {any} */ each) => each.name === name);
  const asked = () => session.shown.peek().filter(([key, row]) => has(row) && session.isEditable(row, key));
  const go = (/** @type {number} */ direction) => {
    const keys = asked().map(([key]) => key);
    const at = keys.findIndex((key) => session.selected.peek().has(key));
    const next = keys[at < 0 ? (direction > 0 ? 0 : keys.length - 1) : at + direction];
    if (next) session.select([next]);
    else {
      session.select([]);
      session.seekAnnotated(direction);
    }
  };
  useEffect(() => {
    const stop = session.frame.subscribe(() => {
      if (!session.selected.peek().size) go(1);
    });
    const act = (/** @type {KeyboardEvent} */ event) => {
      if (isTyping(event) || document.querySelector("dialog[open]")) return;
      const key = keyName(event);
      const number = /^[1-9]$/.test(key) ? Number(key) - 1 : -1;
      if (key === "Escape") onEnd();
      else if (key === "Tab" || key === "Enter" || key === "ArrowDown") go(1);
      else if (key === "Shift+Tab" || key === "ArrowUp") go(-1);
      else if (number >= 0) {
        if (number < values.length && session.hand.setAttribute(name, values[number])) go(1);
      } else return;
      event.preventDefault();
      event.stopPropagation();
    };
    document.addEventListener("keydown", act, { capture: true });
    return () => {
      stop();
      document.removeEventListener("keydown", act, { capture: true });
    };
  }, [session, name]);
  const now = chosen && hasPlace(chosen[1].shape) ? chosen[1].attributes[name] : undefined;
  return html`<div class="attribute-mode row wrap" role="group" aria-label=${words.attributeMode}>
    <strong>${words.attributeMode}</strong>
    <${Select} small name=${words.attributeAsked} value=${name} options=${all.map((each) => each.name)} onChange=${setName} />
    ${values.map(
      (
        /** @type {any} */ value,
        /** @type {number} */ index,
      ) => html`<span class=${classes("row", "answer", value === now && "chosen")} key=${value}>
        <span class="key">${index + 1}</span> ${value === true ? words.yes : value === false ? words.no : value}</span>`,
    )}
    <span class="grow" /><span class="small">${words.attributeKeys}</span></div>`;
}
