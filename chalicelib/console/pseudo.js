// A language for tests. A sentence without brackets is not from a catalogue; one that is cut has too little room.

const LONGER = 0.4;

/** @param {string} sentence */
const bracketed = (sentence) => sentence && `[${sentence}${"~".repeat(Math.ceil(sentence.length * LONGER))}]`;

/** A catalogue of English sentences with each of them in brackets, and longer. @param {any} english @returns {any} */
export function pseudo(english) {
  if (typeof english === "string") return bracketed(english);
  if (typeof english === "function")
    return (/** @type {any[]} */ ...given) => {
      const said = english(...given);
      return typeof said === "string" ? bracketed(said) : said;
    };
  if (typeof english !== "object" || english === null || Array.isArray(english)) return english;
  return Object.fromEntries(Object.entries(english).map(([member, value]) => [member, pseudo(value)]));
}
