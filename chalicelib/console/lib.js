// Preact, htm and signals under one import, with their types. Every component of the console takes what it needs from here.
import { h, render, Fragment, Component, createRef } from "./vendor/preact.js";
import * as hooks from "./vendor/preact-hooks.js";
import * as signals from "./vendor/signals.js";
import htm from "./vendor/htm.js";

/** @template T @typedef {{value: T, peek: () => T, subscribe: (see: (value: T) => void) => () => void}} Signal */
/** @template T @typedef {{readonly value: T, peek: () => T, subscribe: (see: (value: T) => void) => () => void}} Computed */

/** Markup as a tagged template: html`<p class="x">${text}</p>`. Values are text, never markup. @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(/** @type {any} */ (h));

export { h, render, Fragment, Component, createRef };

/** @type {<T>(value: T) => Signal<T>} */
export const signal = /** @type {any} */ (signals.signal);
/** @type {<T>(read: () => T) => Computed<T>} */
export const computed = /** @type {any} */ (signals.computed);
/** @type {(run: () => void | (() => void)) => () => void} */
export const effect = /** @type {any} */ (signals.effect);
/** @type {<T>(run: () => T) => T} */
export const batch = /** @type {any} */ (signals.batch);
/** @type {<T>(read: () => T) => Computed<T>} */
export const useComputed = /** @type {any} */ (signals.useComputed);

/** @type {<T>(first: T | (() => T)) => [T, (next: T | ((before: T) => T)) => void]} */
export const useState = /** @type {any} */ (hooks.useState);
/** @type {<T>(first: T) => {current: T}} */
export const useRef = /** @type {any} */ (hooks.useRef);
/** @type {<T>(make: () => T, inputs: any[]) => T} */
export const useMemo = /** @type {any} */ (hooks.useMemo);
/** @type {<T extends Function>(call: T, inputs: any[]) => T} */
export const useCallback = /** @type {any} */ (hooks.useCallback);
/** @type {(run: () => void | (() => void), inputs?: any[]) => void} */
export const useEffect = /** @type {any} */ (hooks.useEffect);
/** @type {(run: () => void | (() => void), inputs?: any[]) => void} */
export const useLayoutEffect = /** @type {any} */ (hooks.useLayoutEffect);
/** @type {() => [any, () => void]} */
export const useErrorBoundary = /** @type {any} */ (hooks.useErrorBoundary);

/** Join the names of classes; falsy ones are left out. @param {...(string|false|null|undefined)} names */
export const classes = (...names) => names.filter(Boolean).join(" ");
