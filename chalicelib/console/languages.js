// Catalogues of sentences are in English. A folder named as another language has the same members, and is read before the
// first view where that language is in use. Its modules import nothing that waits for this one.
import { language, PSEUDO } from "./locale.js";
import { preload } from "./preload.js";

const path = language === PSEUDO ? "./pseudo.js" : `./${language}/index.js`;
preload(path.slice(2));
/** The catalogues of the language. Without a connection the console is in English. @type {Record<string, any>} */
const catalogues = language === "en" ? {} : await import(path).catch(() => ({}));

/**
 * A catalogue in the language in use. What the translation lacks stays English.
 * @template T @param {string} name that the catalogue has in a language's index @param {T} english @returns {T}
 */
export const translated = (name, english) =>
  catalogues.pseudo ? catalogues.pseudo(english) : merged(english, catalogues[name]);

/** @template T @param {T} english @param {any} other @returns {T} */
function merged(english, other) {
  if (typeof other !== typeof english) return english;
  if (typeof english !== "object" || english === null) return other;
  return /** @type {T} */ (
    Object.fromEntries(Object.entries(english).map(([member, value]) => [member, merged(value, other[member])]))
  );
}
