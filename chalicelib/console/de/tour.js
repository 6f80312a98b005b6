/** @typedef {import("../strings_tour.js").KeyOf} KeyOf */

export const tour = {
  title: "Rundgang",
  at: (/** @type {number} */ step, /** @type {number} */ all) => `Schritt ${step} von ${all}`,
  start: "Rundgang beginnen",
  resume: "Rundgang fortsetzen",
  leave: "Rundgang verlassen",
  steps: {
    draw: {
      title: "Eine Box zeichnen",
      lead: (/** @type {KeyOf} */ key) => `${key("type")} drücken und im Bild von Ecke zu Ecke über etwas ziehen.`,
    },
    name: {
      title: "Mit einer Taste benennen",
      lead: (/** @type {KeyOf} */ key) =>
        `Die Box ist ausgewählt. ${key("value2")} gibt ihr den zweiten Wert des Labels; jeder Wert hat eine Nummer.`,
    },
    track: {
      title: "Durch das Video verfolgen",
      lead: (/** @type {KeyOf} */ key) =>
        `${key("track")} drücken: Mit der Box beginnt eine Spur. Mit ${key("next")} einige Frames weitergehen und noch einmal zeichnen: Das ist ein Keyframe. Dazwischen ergänzt die Konsole.`,
    },
    undo: {
      title: "Zurücknehmen",
      lead: (/** @type {KeyOf} */ key) =>
        `${key("undo")} drücken. Jede Änderung lässt sich zurücknehmen; ${key("redo")} stellt sie wieder her.`,
    },
    hand: {
      title: "Die Arbeit mitnehmen",
      lead: (/** @type {KeyOf} */ _) =>
        "Import und Export öffnen, Neuer Export wählen und ihn in einem beliebigen Format starten.",
    },
    submit: {
      title: "Einreichen",
      lead: (/** @type {KeyOf} */ key) =>
        `${key("submitTask")} drücken: Alles wird gespeichert, und die Aufgabe geht in die Prüfung.`,
    },
    done: {
      title: "Alles geschafft",
      lead: (/** @type {KeyOf} */ _) =>
        "Gezeichnet, benannt, verfolgt, zurückgenommen und weitergegeben. Neben einem Bild zeigt ? alle Tasten.",
    },
  },
};
