// Numbers, sizes, times and frames as people read them.

import { locale } from "../locale.js";
import { text } from "../strings.js";
import { number } from "../strings_plural.js";

export { number };

/** @param {number} value @param {number} places after the point */
export const decimal = (value, places) =>
  value.toLocaleString(locale, { minimumFractionDigits: places, maximumFractionDigits: places });

/** @param {number} size in bytes */
export function bytes(size) {
  if (!size) return "0 B";
  const power = Math.min(Math.floor(Math.log10(size) / 3), 4);
  const scaled = size / 1000 ** power;
  return `${decimal(scaled, power && scaled < 100 ? 1 : 0)} ${["B", "kB", "MB", "GB", "TB"][power]}`;
}

/** @param {number} seconds */
export function duration(seconds) {
  const whole = Math.round(seconds),
    hours = Math.floor(whole / 3600),
    minutes = Math.floor((whole % 3600) / 60);
  const two = (/** @type {number} */ value) => String(value).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
const absolute = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });

const calendar = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" });

/** A day without a time as text. @param {string} iso such as 2026-11-24 */
export const day = (iso) => calendar.format(new Date(iso));

/** A date as text. @param {string | null | undefined} iso */
export const date = (iso) => (iso ? absolute.format(new Date(iso)) : "");

/** How long ago. @param {string | null | undefined} iso */
export function ago(iso) {
  if (!iso) return "";
  const seconds = (Date.parse(iso) - Date.now()) / 1000;
  for (const [unit, size] of /** @type {const} */ ([
    ["year", 31536000],
    ["month", 2592000],
    ["day", 86400],
    ["hour", 3600],
    ["minute", 60],
  ])) {
    if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit);
  }
  return relative.format(0, "second");
}

/** An attribute's value as text. @param {any} value */
export function valueText(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return (value ? text.yes : text.no).toLocaleLowerCase(locale);
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
