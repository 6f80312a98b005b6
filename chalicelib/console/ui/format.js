// Numbers, sizes, times and frames as people read them.

/** @param {number} count */
export const number = (count) => count.toLocaleString("en");

/** @param {number} size in bytes */
export function bytes(size) {
  if (!size) return "0 B";
  const power = Math.min(Math.floor(Math.log10(size) / 3), 4);
  return `${(size / 1000 ** power).toFixed(power && size / 1000 ** power < 100 ? 1 : 0)} ${["B", "kB", "MB", "GB", "TB"][power]}`;
}

/** @param {number} seconds */
export function duration(seconds) {
  const whole = Math.round(seconds),
    hours = Math.floor(whole / 3600),
    minutes = Math.floor((whole % 3600) / 60);
  const two = (/** @type {number} */ value) => String(value).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** The time code of a frame: hours, minutes, seconds and frame within the second. @param {number} frame @param {number} fps */
export function timecode(frame, fps) {
  const rate = Math.max(1, Math.round(fps)),
    whole = Math.floor(frame / fps + 1e-9);
  const rest = Math.round(frame - Math.ceil(whole * fps - 1e-9));
  const two = (/** @type {number} */ value) => String(value).padStart(2, "0");
  return `${two(Math.floor(whole / 3600))}:${two(Math.floor((whole % 3600) / 60))}:${two(whole % 60)}:${two(Math.min(rest, rate - 1))}`;
}

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const absolute = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

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
  return "just now";
}

/** An attribute's value as text. @param {any} value */
export function valueText(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
