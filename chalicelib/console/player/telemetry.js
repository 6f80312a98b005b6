// Telemetry: a CSV attached to a media, with times and values. Times are seconds since the first frame, or instants.

const TIME = /^(time|times|seconds?|timestamp|date|datetime|utc|t)$/i;

/** @typedef {{name: string, times: number[], values: string[], numbers: number[] | null}} Column values at ascending seconds since the first frame; `numbers` where all are numbers */

/** The cells of a CSV; quotes may hold commas, quotes and line ends. @param {string} text @returns {string[][]} */
export function cells(text) {
  /** @type {string[][]} */
  const rows = [];
  let row = /** @type {string[]} */ ([]),
    cell = "",
    isQuoted = false;
  const end = () => {
    row.push(cell);
    cell = "";
  };
  for (let at = text.charCodeAt(0) === 0xfeff ? 1 : 0; at < text.length; at++) {
    const sign = text[at];
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') {
        cell += sign;
        at += 1;
      } else isQuoted = false;
    } else if (sign === '"') isQuoted = true;
    else if (sign === ",") end();
    else if (sign === "\n") {
      end();
      rows.push(row);
      row = [];
    } else if (sign !== "\r") cell += sign;
  }
  if (cell || row.length) {
    end();
    rows.push(row);
  }
  return rows.filter((each) => each.some((one) => one.trim()));
}

/**
 * The columns of a file, without that of the times.
 * @param {string} text @param {string[]} starts dates of the media, of which the first that lies in the file is the time of the first frame
 * @returns {Column[]} none where the file has no times
 */
export function columnsOf(text, starts) {
  const [names = [], ...rows] = cells(text);
  const named = names.findIndex((name) => TIME.test(name.trim())),
    place = named < 0 ? 0 : named;
  const isSeconds = rows.every((row) => Number.isFinite(Number(row[place] || "x")));
  const moments = rows.map((row) => (isSeconds ? Number(row[place]) : instant(row[place] ?? "")));
  if (!rows.length || moments.some(Number.isNaN)) return [];
  const order = moments.map((_, index) => index).sort((one, two) => moments[one] - moments[two]);
  const [first, last] = [moments[order[0]], moments[order[order.length - 1]]];
  const start = isSeconds ? 0 : (starts.map(instant).find((each) => each >= first - 86400 && each <= last) ?? first);
  return names.flatMap((name, index) => {
    if (index === place) return [];
    const given = order.filter((each) => (rows[each][index] ?? "").trim());
    const values = given.map((each) => rows[each][index].trim()),
      numbers = values.map(Number);
    return values.length
      ? [
          {
            name: name.trim(),
            times: given.map((each) => moments[each] - start),
            values,
            numbers: numbers.every(Number.isFinite) ? numbers : null,
          },
        ]
      : [];
  });
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

/** Seconds since 1970; an instant without a zone is in UTC, as the service reads it. @param {string} text */
const instant = (text) =>
  Date.parse(
    /\d\d:\d\d/.test(text) && !/(Z|[+-]\d\d:?\d\d)\s*$/i.test(text) ? `${text.trim().replace(" ", "T")}Z` : text,
  ) / 1000;
