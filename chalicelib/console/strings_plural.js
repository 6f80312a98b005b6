// Numbers in sentences, for the catalogues of all languages.
import { locale } from "./locale.js";

const rules = new Intl.PluralRules(locale);
const digits = new Intl.NumberFormat(locale);

/** @param {number} count */
export const number = (count) => digits.format(count);

/** A number with its noun. @param {number} count @param {string} one @param {string} [many] */
export const plural = (count, one, many = `${one}s`) =>
  `${number(count)} ${rules.select(count) === "one" ? one : many}`;

/** So many leaves are read at once. */
export const MOST_MATCHES = 1000;
