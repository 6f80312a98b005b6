// The search string: how names and values are written in it, and what can be completed at a place in it.

const WORDS = /^(AND|OR|NOT|TO)$/;

/** A name or value as a search string writes it literally. @param {any} value */
export function quote(value) {
  const text = String(value);
  const marked = text.replace(/[^\p{L}\p{N}_.]/gu, "\\$&");
  return WORDS.test(text) ? `\\${marked}` : marked || '""';
}

/**
 * Chosen facets as a search string. A null value stands for "has no value".
 * @param {Record<string, any[]>} facets attribute → chosen values
 */
export function facetString(facets) {
  const parts = Object.entries(facets)
    .filter(([, values]) => values.length)
    .map(([name, values]) => {
      const terms = values.map((value) =>
        value === null ? `(NOT _exists_:${quote(name)})` : `${quote(name)}:${quote(value)}`,
      );
      return terms.length > 1 ? `(${terms.join(" OR ")})` : terms[0];
    });
  return parts.join(" AND ");
}

/** Localizations with a place: the one that begins a gap in a track has none. */
export const SEEN = "(_exists_:_x OR _exists_:_points)";

/** Search strings that all have to hold. @param {...string} strings */
export function allOf(...strings) {
  const given = strings.map((each) => conjunction(each.trim())).filter(Boolean);
  return given.length > 1 ? given.map((each) => `(${each})`).join(" AND ") : (given[0] ?? "");
}

// White space; a parenthesis; a clause with its escapes, phrases and ranges; or a character that opens and never closes.
const PARTS = /\s+|[()]|(?:\\.|"(?:\\.|[^"\\])*"|[[{][^\]}]*[\]}]|[^\s()\\"[\]{}])+|./gsu;
const CONNECTIVE = /^(?:AND|OR|&&|\|\|)$/;
/** What belongs to the clause after it: an operator in front, or a field that waits for its value. */
const OPEN = /^(?:NOT|[-+!])$|(?<!\\)[:<>=]$/;

/**
 * A search string with AND between clauses that nothing connects, as between filters; the service's blank means OR.
 * What is written stays: connectives, phrases, ranges, and values in parentheses behind a field, of which any will do.
 * So does a string that is not whole, so that the service says what is wrong with it.
 * @param {string} text
 */
export function conjunction(text) {
  let made = "",
    before = ""; // the part before, without white space
  /** @type {boolean[]} */
  const groups = []; // of each open parenthesis, whether it lists values of a field
  for (const [part] of text.matchAll(PARTS)) {
    const isClause = part !== ")" && !CONNECTIVE.test(part);
    if (!part.trim()) {
      made += part;
      continue;
    }
    if (part === ")" && !groups.length) return text;
    if (/^[\\"[\]{}]$/.test(part)) return text;
    const isSuffix = made.endsWith(")") && /^[\^~]/.test(part);
    const isConnected = !before || before === "(" || CONNECTIVE.test(before) || OPEN.test(before) || isSuffix;
    if (isClause && !isConnected && !groups.includes(true)) made += /\s$/.test(made) ? "AND " : " AND ";
    if (part === "(") groups.push(before.endsWith(":"));
    if (part === ")") groups.pop();
    made += part;
    before = part;
  }
  return groups.length ? text : made;
}

/**
 * @typedef {{name: string, values: string[], dtype: string}} FieldOfSearch a field, and the values that can be completed
 * @typedef {{text: string, label: string, detail: string, from: number}} Completion `text` replaces the string from `from` to the cursor
 */

/**
 * Completions at the end of a text: names of fields, or after a colon the values of that field.
 * @param {string} text up to the cursor @param {FieldOfSearch[]} fields @returns {Completion[]}
 */
export function complete(text, fields) {
  const word = lastWord(text);
  const colon = unescapedColon(word.text);
  if (colon >= 0) {
    const name = unquote(word.text.slice(0, colon)),
      begun = unquote(word.text.slice(colon + 1))
        .toLowerCase()
        .replace(/^"/, "");
    const field = fields.find((each) => each.name.toLowerCase() === name.toLowerCase());
    const from = word.from + colon + 1;
    return (field?.values ?? [])
      .filter((value) => value.toLowerCase().includes(begun))
      .slice(0, 12)
      .map((value) => ({ text: `${quote(value)} `, label: value, detail: field?.name ?? "", from }));
  }
  const begun = unquote(word.text)
    .replace(/^[-(]+/, "")
    .toLowerCase();
  const from = word.from + (word.text.match(/^[-(]+/)?.[0].length ?? 0);
  const names = fields
    .filter((each) => each.name.toLowerCase().includes(begun))
    .map((each) => ({ text: `${quote(each.name)}:`, label: each.name, detail: each.dtype, from }));
  if (!begun) return names.slice(0, 12);
  const values = fields.flatMap((each) =>
    each.values
      .filter((value) => value.toLowerCase().startsWith(begun))
      .map((value) => ({ text: `${quote(each.name)}:${quote(value)} `, label: value, detail: each.name, from })),
  );
  return [...names, ...values].slice(0, 12);
}

/** @param {string} text */
function lastWord(text) {
  let from = text.length;
  while (from > 0 && !(/\s/.test(text[from - 1]) && !isEscaped(text, from - 1))) from--;
  return { text: text.slice(from), from };
}

/** @param {string} text */
function unescapedColon(text) {
  for (let at = 0; at < text.length; at++) if (text[at] === ":" && !isEscaped(text, at)) return at;
  return -1;
}

/** @param {string} text @param {number} at */
function isEscaped(text, at) {
  let marks = 0;
  while (at - marks > 0 && text[at - marks - 1] === "\\") marks++;
  return marks % 2 === 1;
}

/** @param {string} text */
const unquote = (text) => text.replace(/\\(.)/g, "$1");

/** Built-in fields of media and of localizations in search strings. */
const BUILT_IN = {
  media: [
    ["filename", "string"],
    ["_id", "int"],
    ["_duration", "float"],
    ["_num_frames", "int"],
    ["_fps", "float"],
    ["_columns", "int"],
    ["_rows", "int"],
    ["_created_datetime", "datetime"],
    ["_created_by", "int"],
  ],
  localization: [
    ["_id", "int"],
    ["_frame", "int"],
    ["_media", "int"],
    ["_x", "float"],
    ["_y", "float"],
    ["_width", "float"],
    ["_height", "float"],
    ["_created_datetime", "datetime"],
    ["_created_by", "int"],
    ["_annotation_version", "int"],
  ],
};

/** The fields that a search of types can name. @param {any[]} types @param {keyof typeof BUILT_IN} kind @returns {FieldOfSearch[]} */
export function fieldsOf(types, kind) {
  /** @type {Map<string, FieldOfSearch>} */
  const found = new Map();
  for (const type of types) {
    for (const attribute of type.attribute_types ?? []) {
      const values = attribute.dtype === "bool" ? ["true", "false"] : (attribute.choices ?? []);
      const known = found.get(attribute.name);
      found.set(attribute.name, {
        name: attribute.name,
        dtype: attribute.dtype,
        values: [...new Set([...(known?.values ?? []), ...values])],
      });
    }
  }
  for (const [name, dtype] of BUILT_IN[kind]) found.set(name, { name, dtype, values: [] });
  return [...found.values()];
}
