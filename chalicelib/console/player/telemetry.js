// Telemetry of a media: the columns that the service answers, with times after the first frame.
import { get } from "../client.js";

/** @typedef {{name: string, times: number[], values: string[], numbers: number[] | null}} Column values at ascending seconds since the first frame; `numbers` where all are numbers */
/** @typedef {{columns: Column[], file: string, isPlaced: boolean, start?: string}} Telemetry without `isPlaced`, times begin with the file */

/** The endings of attachments that the service takes for telemetry. */
export const TELEMETRY = /\.(csv|nmea|nma|gpx|log|txt|klv|ts)$/i;

/** @param {number} media @param {AbortSignal} signal @returns {Promise<Telemetry>} */
export async function telemetryOf(media, signal) {
  const found = await get(`Telemetry/${media}`, {}, { signal });
  const columns = found.columns.map((/** @type {Column} */ column) => {
    const numbers = column.values.map(Number);
    return { ...column, numbers: numbers.every(Number.isFinite) ? numbers : null };
  });
  return { columns, file: found.file, isPlaced: found.is_placed, start: found.start };
}

/** The value at a time or the last before it; "" before the first. @param {Column} column @param {number} time */
export function valueAt({ times, values }, time) {
  let low = 0,
    high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time + 1e-9) low = middle + 1;
    else high = middle;
  }
  return low ? values[low - 1] : "";
}
