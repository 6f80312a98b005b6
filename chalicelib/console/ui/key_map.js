// The keys of commands: those of the program, and those that a person chose instead, kept in this browser.
import { signal } from "../lib.js";
import { annotate as words } from "../strings_annotate.js";

const KEY = "limn.keys";

/** The chosen keys by command. */
export const chosenKeys = signal(/** @type {Record<string, string[]>} */ (read()));

function read() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    const isKeys = (/** @type {any} */ each) => Array.isArray(each) && each.every((key) => typeof key === "string");
    return Object.fromEntries(Object.entries(found).filter(([, keys]) => isKeys(keys)));
  } catch {
    return {};
  }
}

/** @typedef {{id: string, keys: string[]}} Keyed */

/** The view of a command, by which its keys are its own: `work.` of `work.next`; nothing of those of the player. @param {string} id */
const viewOf = (id) => id.slice(0, id.indexOf(".") + 1);

/** The keys of a command: the chosen one, else its own without those that were chosen for others of its view. @param {Keyed} command @param {Record<string, string[]>} [chosen] */
export function keysFor(command, chosen = chosenKeys.value) {
  if (chosen[command.id]) return chosen[command.id];
  const others = Object.keys(chosen).filter((id) => viewOf(id) === viewOf(command.id));
  const taken = new Set(others.flatMap((id) => chosen[id]));
  return command.keys.filter((key) => !taken.has(key));
}

/** Give a command another key; no other command of its view keeps it. @param {string} id @param {string} key */
export function choose(id, key) {
  const others = Object.entries(chosenKeys.peek()).filter(
    ([each, keys]) => each !== id && !(viewOf(each) === viewOf(id) && keys.includes(key)),
  );
  chosenKeys.value = { ...Object.fromEntries(others), [id]: [key] };
  localStorage.setItem(KEY, JSON.stringify(chosenKeys.peek()));
}

/** The name of a key for people. @param {string} key such as "Shift+ArrowLeft" */
export function keyText(key) {
  const parts = key.split(/(?<=.)\+(?=.)/);
  const last = parts[parts.length - 1];
  if (parts[0] === "Ctrl" && /^\p{Lu}$/u.test(last)) parts.splice(-1, 1, "Shift", last.toLowerCase());
  return parts.map((part) => /** @type {Record<string, string>} */ (words.keyNames)[part] ?? part).join(" ");
}

/** A label with the first key of a command, as a tooltip says it. @param {Keyed[]} commands @param {string} id @param {string} label */
export function titled(commands, id, label) {
  const key = firstKey(commands, id);
  return key ? `${label} (${key})` : label;
}

/** The name of the first key of a command; empty where it has none. @param {Keyed[]} commands @param {string} id */
export function firstKey(commands, id) {
  const command = commands.find((each) => each.id === id);
  const [key] = command ? keysFor(command) : [];
  return key ? keyText(key) : "";
}

/** Give all commands their own keys again. */
export function reset() {
  chosenKeys.value = {};
  localStorage.removeItem(KEY);
}
