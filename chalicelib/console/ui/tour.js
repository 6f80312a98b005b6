// The tour: five things that a new annotator does with the hands. How far one is, is kept in this browser.
import { computed, signal } from "../lib.js";
import { user } from "../store.js";

const KEY = "limn.tour";

/** What is done in each step. */
export const STEPS = /** @type {const} */ (["draw", "name", "track", "undo", "hand"]);

/** @typedef {{user: number, project: number, step: number, isLeft: boolean}} Tour `step` is the number of steps that are done */

const kept = signal(/** @type {Tour | null} */ (read()));

/** The tour of the user; null where there is none. */
export const tour = computed(() => (kept.value?.user === user.value?.id ? kept.value : null));

/** @returns {Tour | null} */
function read() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "null");
    return Number.isInteger(found?.step) && Number.isInteger(found.project) ? found : null;
  } catch {
    return null;
  }
}

/** @param {Tour | null} next */
function keep(next) {
  kept.value = next;
  if (next) localStorage.setItem(KEY, JSON.stringify(next));
  else localStorage.removeItem(KEY);
}

/** Go on with the tour of a project, or begin it. @param {number} project */
export function beginTour(project) {
  const found = tour.peek();
  if (found?.project === project && found.step < STEPS.length) keep({ ...found, isLeft: false });
  else keep({ user: user.peek()?.id, project, step: 0, isLeft: false });
}

/** Leave the tour; it goes on where it was. */
export function leaveTour() {
  const found = tour.peek();
  if (found) keep(found.step < STEPS.length ? { ...found, isLeft: true } : null);
}

/** Something was done in a project; the step that waits for it is done. @param {typeof STEPS[number]} what @param {number} project */
export function did(what, project) {
  const found = tour.peek();
  if (found && !found.isLeft && found.project === project && STEPS[found.step] === what)
    keep({ ...found, step: found.step + 1 });
}
