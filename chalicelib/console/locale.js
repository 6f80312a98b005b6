// Which language the console has: the one chosen in the profile, else the first of the browser's that there is, else English.

/** The languages, by their codes, in their own names. */
export const LANGUAGES = /** @type {Record<string, string>} */ ({ en: "English", de: "Deutsch", es: "Español" });
/** A language for tests: English in brackets, longer by 40 %. Chosen by `localStorage["limn.language"] = "pseudo"`. */
export const PSEUDO = "pseudo";
const KEY = "limn.language";

/** @param {string} tag such as de-CH */
const code = (tag) => tag.toLowerCase().split("-")[0];

/** The choice of this browser, or "" for the languages of the browser. */
export const chosen = localStorage.getItem(KEY) ?? "";
/** The code of the language in use. */
export const language =
  (chosen ? [chosen] : navigator.languages).map(code).find((each) => each in LANGUAGES || each === PSEUDO) ?? "en";
/** The locale of dates and numbers: the browser's of that language, such as de-CH, else the language. */
export const locale =
  language === PSEUDO ? "en" : (navigator.languages.find((each) => code(each) === language) ?? language);
document.documentElement.lang = language === PSEUDO ? "en" : language;

/** Choose a language, or "" for those of the browser, and load the page again in it. @param {string} next */
export function chooseLanguage(next) {
  if (next) localStorage.setItem(KEY, next);
  else localStorage.removeItem(KEY);
  location.reload();
}
