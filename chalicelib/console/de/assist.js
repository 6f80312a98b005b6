import { plural } from "../strings_plural.js";

/** @param {number} count */
const keyframes = (count) => plural(count, "Keyframe", "Keyframes");
/** @param {number} count */
const drafts = (count) => plural(count, "Entwurf", "Entwürfe");

export const assist = {
  followForward: "Vorwärts verfolgen",
  followBack: "Rückwärts verfolgen",
  followToKeyframe: "Bis zum nächsten Keyframe verfolgen",
  followStep: "verfolgen",
  followWhat: "Wählen Sie eine Form auf diesem Frame, in der Ebene, in der Sie zeichnen.",
  followNoTracks: "Das Projekt hat keinen Spurtyp. Die Projektleitung kann unter Verwalten einen hinzufügen.",
  followNoKeyframe: "Die Spur hat keinen späteren Keyframe.",
  followNoFrames: "Dorthin gibt es keinen weiteren Frame.",
  followFailed: (/** @type {string} */ why) => `Verfolgen fehlgeschlagen: ${why}`,
  followLostAtOnce:
    "Auf dem nächsten Frame ist das Objekt nicht zu finden. Vielleicht ist es zu schnell oder hat zu wenig Struktur.",
  following: (/** @type {number} */ frame) => `Verfolgt: Frame ${frame} · dieselbe Taste hält an, Esc verwirft`,
  followed: (/** @type {number} */ frames, /** @type {number} */ keys) =>
    `${plural(frames, "Frame", "Frames")} verfolgt, ${keyframes(keys)}`,
  followStops: {
    look: (/** @type {number} */ frame) => `verloren auf Frame ${frame}: verdeckt, oder es sieht anders aus`,
    border: (/** @type {number} */ frame) => `hat das Bild auf Frame ${frame} verlassen`,
    limit: (/** @type {number} */ frame) => `angehalten vor Frame ${frame}, so weit reicht ein Tastendruck`,
    asked: (/** @type {number} */ frame) => `angehalten vor Frame ${frame}`,
    end: () => "",
  },
  followReplaces: (/** @type {number} */ count) => `ersetzt ${keyframes(count)}`,
  acceptOrDiscard: "Eingabe übernimmt, Esc verwirft",
  title: "Annotatoren",
  annotator: "Annotator",
  predict: "Vorhersagen",
  predictKey: "Diesen Frame vorhersagen",
  predictFrame: "Diesen Frame vorhersagen",
  range: "Abschnitt …",
  rangeTitle: (/** @type {string} */ name) => `Vorhersagen mit ${name}`,
  rangeLead: "Entwürfe des Annotators auf diesen Frames werden ersetzt, akzeptierte nicht.",
  from: "Erster Frame",
  to: "Letzter Frame",
  every: "Jeder n-te Frame",
  working: "Frames des Jobs",
  jobFailed: "Der Job ist fehlgeschlagen. Seine Ausgabe steht unter Jobs.",
  noDrafts: "Die Ebene der Entwürfe wurde gelöscht. Die Projektleitung kann dem Annotator eine andere geben.",
  predicted: (/** @type {number} */ count, /** @type {string} */ model) => `${drafts(count)} von ${model}`,
  drafts,
  draftsByClass: "Entwürfe nach Klasse",
  noClass: "ohne Klasse",
  least: (/** @type {number} */ percent) => `Mindestens ${percent} %`,
  acceptClass: (/** @type {string} */ label) => `${label} akzeptieren`,
  rejectClass: (/** @type {string} */ label) => `${label} ablehnen`,
  acceptAll: "Alle akzeptieren",
  rejectAll: "Alle ablehnen",
  acceptDraft: "Auswahl oder ihre Entwürfe akzeptieren",
  rejectDraft: "Auswahl oder ihre Entwürfe ablehnen",
  draftKeys: "Gezeigte Entwürfe in diesem Medium. a akzeptiert den ausgewählten, r lehnt ihn ab.",
  undo: "Rückgängig",
  segment: "Objekt anklicken",
  segmentBy: (/** @type {string} */ name) => `Objekt anklicken: ${name}`,
  clickHint: (/** @type {string} */ name) =>
    `${name}: auf das Objekt klicken · Umschalt oder rechte Taste: das nicht · Esc beendet`,
  promptHint: (/** @type {string} */ name) =>
    `${name}: Box um das Objekt ziehen oder darauf klicken · Umschalt oder rechte Taste: das nicht · Esc beendet`,
  boxHint: (/** @type {string} */ name) => `${name}: Box um das Objekt ziehen · Esc beendet`,
  boxMore: "Eingabe übernimmt · andere Box ziehen · Esc beginnt neu",
  boxAlone: "Dieser Annotator nimmt nur Boxen: Ziehen Sie eine um das Objekt.",
  clickMore: "Eingabe übernimmt · Klick fügt hinzu, Umschalt oder rechte Taste nimmt weg · Esc beginnt neu",
  clickStep: "Objekt durch Klicks",
  nothingClicked: "Dort ist nichts zu finden. Klicken Sie auf eine andere Stelle.",
  noInteractor: "Kein Annotator dieses Projekts versteht Klicks. Die Projektleitung kann einen registrieren.",
  queues: {
    uncertain: "Die unsichersten zuerst",
    unlike: "Die verschiedensten zuerst",
    duplicates: "Fast gleiche",
  },
  similar: "Ähnliche suchen",
  similarTo: (/** @type {string} */ id) => `Ähnlich wie ${id}`,
  mostSimilar: "Die ähnlichsten zuerst",
  endSimilar: "Wieder nach Zeit",
  noVector: "Ohne Vektor in einem float_array seines Typs ist kein Vergleich möglich. Ein Embedder berechnet Vektoren.",
  votes: (/** @type {string} */ label, /** @type {number} */ count, /** @type {number} */ all) =>
    `${label} ${count}/${all}`,
  suggestion: (/** @type {string} */ label, /** @type {number} */ count, /** @type {number} */ all) =>
    `Auswahl als ${label} labeln, wie ${count} der ${all} nächsten`,
  draftNote: "Ein Entwurf: a übernimmt ihn in die Ebene, in der Sie zeichnen, r lehnt ihn ab.",
  annotateBy: "Annotieren mit",
  annotating: (/** @type {number} */ count) =>
    `${plural(count, "Medium wird", "Medien werden")} annotiert. Den Fortschritt zeigt Jobs.`,
  accept: "Übernehmen",
  discard: "Verwerfen",
};
