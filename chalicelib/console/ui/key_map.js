// The keys of commands: those of the program, and those that a person chose instead, kept in this browser.
import { signal } from "../lib.js";

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

/** The keys of a command. @param {{id: string, keys: string[]}} command @param {Record<string, string[]>} [chosen] */
export const keysFor = (command, chosen = chosenKeys.value) => chosen[command.id] ?? command.keys;

/**
 * Give a command another key; a command that has it loses it.
 * @param {{id: string, keys: string[]}[]} commands @param {string} id @param {string | null} key null gives it its own keys again
 */
export function choose(commands, id, key) {
  const next = { ...chosenKeys.peek() };
  delete next[id];
  if (key !== null) {
    for (const each of commands)
      if (each.id !== id && keysFor(each, next).includes(key))
        next[each.id] = keysFor(each, next).filter((other) => other !== key);
    next[id] = [key];
  }
  chosenKeys.value = next;
  localStorage.setItem(KEY, JSON.stringify(next));
}

/** Give all commands their own keys again. */
export function reset() {
  chosenKeys.value = {};
  localStorage.removeItem(KEY);
}
