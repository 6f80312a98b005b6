// How shapes are shown, and which of them: opacity, outline, labels, a grid; only those of a type, with a value, of a track.

import { signal } from "../lib.js";

const KEY = "limn.display";

/** @typedef {{opacity: number, outline: number, labels: "auto" | "always" | "never", grid: boolean}} Style */
/** @typedef {{type: number, value: string, isTrackOnly: boolean}} Only */
/** @type {Style} */
const USUAL = { opacity: 1, outline: 1, labels: "auto", grid: false };
/** @type {Only} */
export const ALL = { type: 0, value: "", isTrackOnly: false };

/** @returns {Style} */
function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    const isSame = (/** @type {string} */ name, /** @type {any} */ value) => typeof found[name] === typeof value;
    return /** @type {Style} */ (
      Object.fromEntries(
        Object.entries(USUAL).map(([name, value]) => [name, isSame(name, value) ? found[name] : value]),
      )
    );
  } catch {
    return USUAL;
  }
}

/** How shapes are shown; kept in this browser. */
export const style = signal(kept());

/** @param {Partial<Style>} change */
export function setStyle(change) {
  style.value = { ...style.peek(), ...change };
  localStorage.setItem(KEY, JSON.stringify(style.value));
}

export class Display {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    this.only = signal(ALL);
  }

  /** Whether a row is among those that are shown. @param {string} key @param {import("./document.js").Row} row */
  shows(key, row) {
    const { type, value, isTrackOnly } = this.only.value;
    if (type && row.type !== type) return false;
    if (isTrackOnly && this.session.trackSet.of(key) !== this.session.trackSet.active) return false;
    const wanted = value.trim().toLowerCase();
    const isWanted = (/** @type {any} */ each) =>
      String(each ?? "")
        .toLowerCase()
        .includes(wanted);
    return !wanted || Object.values(row.attributes).some(isWanted);
  }
}
