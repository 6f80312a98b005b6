// Attribute mode: one attribute over all shapes of a frame, then of the next, by keys alone.
import { classes, html, useEffect, useRef, useState } from "../lib.js";
import { annotate as words } from "../strings_annotate.js";
import { Select } from "../ui/controls.js";
import { isTyping, keyName } from "../ui/keys.js";
import { boundsOf, hasPlace } from "./geometry.js";
import { MOST_VALUES } from "./labels.js";

/** @typedef {import("./document.js").Row} Row */

const YES_NO = [true, false];
/** What is smaller, in fractions of the picture, is shown so many times larger while it is asked. */
const SMALL = 1 / 30;
const NEAR = 6;

/** The attributes of a type that a key can answer: choices, and yes or no. @param {any} type @returns {any[]} */
const questions = (type) =>
  (type?.attribute_types ?? []).filter((/** @type {any} */ each) => each.dtype === "enum" || each.dtype === "bool");

/** The attribute of a row with a place, as its type has it: other types have other choices. @param {import("./session.js").Session} session @param {Row} row @param {string} name */
const asked = (session, row, name) =>
  hasPlace(row.shape) ? questions(session.typeOf(row)).find((each) => each.name === name) : undefined;

/** @param {{session: import("./session.js").Session, onEnd: () => void}} props */
export function AttributeMode({ session, onEnd }) {
  const types = [...session.types.localization.values()];
  const all = [...new Set(types.flatMap(questions).map((each) => each.name))];
  const isEditable = (/** @type {[string, Row]} */ [key, row]) => session.isEditable(row, key);
  const [name, setName] = useState(() => {
    const rows = session.shown.peek().filter(isEditable);
    return all.find((each) => rows.some(([, row]) => asked(session, row, each))) ?? all[0] ?? "";
  });
  const [typed, setTyped] = useState("");
  session.revision.value;
  const [chosen] = session.selected.value.size ? session.chosen() : [];
  const attribute = chosen
    ? asked(session, chosen[1], name)
    : types.flatMap(questions).find((each) => each.name === name);
  const choices = attribute?.dtype === "bool" ? YES_NO : (attribute?.choices ?? []);
  const isLong = choices.length > MOST_VALUES;
  const matching = choices.filter((/** @type {any} */ value) => ` ${value}`.toLowerCase().includes(` ${typed}`));
  const values = matching.slice(0, MOST_VALUES);
  const has = (/** @type {[string, Row]} */ each) => asked(session, each[1], name) !== undefined;
  const askedOn = (/** @type {number} */ frame) => session.rowsOn(frame).filter(has).filter(isEditable);
  const isOpen = (/** @type {[string, Row]} */ [, row]) => (row.attributes[name] ?? "") === "";
  /** How the picture was shown before it was zoomed to a small shape. */
  const before = useRef(/** @type {{zoom: number, pan: {x: number, y: number}} | null} */ (null));
  const restore = () => {
    if (before.current && session.stage) Object.assign(session.stage, before.current).layout();
    before.current = null;
  };
  const pick = (/** @type {[string, Row]} */ [key, row]) => {
    session.select([key]);
    const { stage } = session;
    const { x, y, width, height } = boundsOf(session.kindOf(row), row.shape ?? {});
    if (!stage || Math.max(width, height) > SMALL) return restore();
    before.current ??= { zoom: stage.zoom, pan: { ...stage.pan } };
    stage.lookAt({ x: x + width / 2, y: y + height / 2 }, Math.max(stage.zoom, NEAR));
  };
  /** The frame of the next shape without an answer: a later frame, else from the beginning. */
  const openFrame = () => {
    const here = session.frame.peek();
    const there = [...session.doc.rows].filter(has);
    const own = there.filter(isEditable);
    const frames = [...new Set(own.filter(isOpen).map(([, row]) => row.frame ?? 0))];
    frames.sort((a, b) => Number(a <= here) - Number(b <= here) || a - b);
    const found = frames.find((frame) => askedOn(frame).some(isOpen));
    if (found === undefined) session.say(there.length && !own.length ? words.layerLocked : words.allAnswered);
    return found;
  };
  /** What is looked for on the frame that is sought: in which direction, and whether it has no answer. */
  const wanted = useRef(/** @type {[number, boolean]} */ ([1, false]));
  /** @param {number} direction @param {boolean} [isOpenOnly] pass over what has an answer */
  const go = (direction, isOpenOnly = false) => {
    const rows = askedOn(session.frame.peek());
    const at = rows.findIndex(([key]) => session.selected.peek().has(key));
    const others = direction > 0 ? rows.slice(at + 1) : rows.slice(0, at < 0 ? undefined : at).reverse();
    const next = others.find((each) => !isOpenOnly || isOpen(each));
    if (next) return pick(next);
    const frame = isOpenOnly ? openFrame() : undefined;
    if (isOpenOnly && frame === undefined) return;
    if (frame === session.frame.peek()) return pick(/** @type {[string, Row]} */ (rows.find(isOpen)));
    session.select([]);
    wanted.current = [direction, isOpenOnly];
    if (frame === undefined) session.seekAnnotated(direction);
    else session.player?.seek(frame);
  };
  const answer = (/** @type {any} */ value) => {
    setTyped("");
    if (value !== undefined && session.hand.setAttribute(name, value)) go(1);
  };
  const act = (/** @type {KeyboardEvent} */ event) => {
    if (isTyping(event) || document.querySelector("dialog[open]")) return;
    const key = keyName(event);
    if (key === "Escape" && typed) setTyped("");
    else if (key === "Escape") onEnd();
    else if (key === "Enter" && typed) answer(values[0]);
    else if (key === "Enter") go(1, true);
    else if (key === "Tab" || key === "ArrowDown") go(1);
    else if (key === "Shift+Tab" || key === "ArrowUp") go(-1);
    else if (/^[1-9]$/.test(key)) answer(values[Number(key) - 1]);
    else if (isLong && key === "Backspace") setTyped(typed.slice(0, -1));
    else if (isLong && (typed ? /^[^\d]$/ : /^\p{L}$/u).test(key)) setTyped(typed + key.toLowerCase());
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const latest = useRef({ go, act });
  latest.current = { go, act };
  useEffect(() => {
    const stop = session.frame.subscribe(() => {
      if (!session.selected.peek().size) latest.current.go(...wanted.current);
    });
    const press = (/** @type {KeyboardEvent} */ event) => latest.current.act(event);
    document.addEventListener("keydown", press, { capture: true });
    return () => {
      stop();
      document.removeEventListener("keydown", press, { capture: true });
    };
  }, [session, name]);
  useEffect(() => restore, [session]);
  const ask = (/** @type {string} */ other) => {
    setName(other);
    setTyped("");
    session.stage?.root.focus(); // the keys are those of the mode again
  };
  const now = chosen && hasPlace(chosen[1].shape) ? chosen[1].attributes[name] : undefined;
  const left = matching.length - values.length;
  return html`<div class="attribute-mode row wrap" role="group" aria-label=${words.attributeMode}>
    <strong>${words.attributeMode}</strong>
    <${Select} small name=${words.attributeAsked} value=${name} options=${all} onChange=${ask} />
    ${values.map(
      (
        /** @type {any} */ value,
        /** @type {number} */ index,
      ) => html`<span class=${classes("row", "answer", value === now && "chosen")} key=${value}>
        <span class="key">${index + 1}</span> ${value === true ? words.yes : value === false ? words.no : value}</span>`,
    )}
    ${isLong && html`<span class="small" role="status"><strong>${typed}</strong> ${left > 0 && words.moreChoices(left)}</span>`}
    <span class="grow" /><span class="small">${words.attributeKeys}</span></div>`;
}
