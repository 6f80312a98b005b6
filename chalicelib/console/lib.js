// Preact, htm and signals under one import. Every component of the console takes what it needs from here.
import { h, render, Fragment, Component, createRef } from "./vendor/preact.js";
import { useCallback, useEffect, useErrorBoundary, useLayoutEffect, useMemo, useRef, useState } from "./vendor/preact-hooks.js";
import { batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect } from "./vendor/signals.js";
import htm from "./vendor/htm.js";

/** Markup as a tagged template: html`<p class="x">${text}</p>`. Values are text, never markup. */
export const html = htm.bind(h);

export {
  h, render, Fragment, Component, createRef,
  useCallback, useEffect, useErrorBoundary, useLayoutEffect, useMemo, useRef, useState,
  batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect,
};

/** Join the names of classes; falsy ones are left out. @param {...(string|false|null|undefined)} names */
export const classes = (...names) => names.filter(Boolean).join(" ");
