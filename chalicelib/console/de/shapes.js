import { number } from "../strings_plural.js";

export const shapes = {
  brush: "Pinsel",
  eraser: "Radierer",
  fill: "Löcher füllen",
  edges: "Kanten in der ausgewählten Box finden",
  smaller: "Kleinerer Pinsel",
  larger: "Größerer Pinsel",
  convert: "Polygon zu Maske, oder Maske zu Polygon",
  join: "Vereinigung der ausgewählten Masken",
  cut: "Differenz: die erste ausgewählte Maske ohne die anderen",
  ellipse: "Ellipse oder Box",
  hole: "Loch im Polygon zeichnen, oder das unter dem Zeiger schließen",
  point: "Punkt eines Skeletts: sichtbar, verdeckt oder nicht da",
  mode: (/** @type {string} */ mode, /** @type {number} */ diameter) =>
    ({
      brush: `Pinsel mit ${diameter} Pixeln: malen · ; ' Größe · Eingabe beginnt eine neue Maske · Esc beendet`,
      eraser: `Radierer mit ${diameter} Pixeln: wegmalen · ; ' Größe · Esc beendet`,
      fill: "Füllen: auf ein Loch der Maske klicken · Esc beendet",
    })[mode] ?? "",
  noMaskType:
    "Kein Boxtyp, der hier gezeichnet wird, erlaubt Masken. Die Projektleitung kann sie unter Verwalten erlauben.",
  noPolygonType: "Hier wird kein Polygontyp gezeichnet. Die Projektleitung kann unter Verwalten einen hinzufügen.",
  paintWhat: "Nehmen Sie einen Typ, der Masken erlaubt, oder wählen Sie eine Box eines solchen Typs aus.",
  eraseWhat: "Wählen Sie eine Box aus, deren Typ Masken erlaubt.",
  noHole: "Dort ist kein Loch der Maske.",
  noPixel: "Kein Pixel bliebe übrig.",
  tooManyRuns: (/** @type {number} */ found, /** @type {number} */ most) =>
    `Die Maske hätte ${number(found)} Zeichen, höchstens sind es ${number(most)}. Vereinfachen Sie den Umriss, oder teilen Sie sie.`,
  convertWhat: "Wählen Sie Polygone oder Masken der Ebene aus, in der Sie zeichnen.",
  combineWhat: "Wählen Sie mindestens zwei Boxen aus, deren Typen Masken erlauben.",
  edgesWhat: "Wählen Sie eine Box aus, deren Typ Masken erlaubt.",
  noEdges: "In der Box hebt sich kein Objekt durch seine Farben ab.",
  edgesFailed: (/** @type {string} */ why) => `Die Kanten wurden nicht gefunden: ${why}`,
  ellipseWhat: "Nehmen oder wählen Sie Boxen, deren Typ Ellipsen erlaubt.",
  holeWhat: "Wählen Sie ein Polygon aus, dessen Typ Löcher erlaubt.",
  holeHint: "Die Ecken des Lochs klicken · Eingabe beendet · Esc bricht ab",
  holeOutside: "Ein Loch liegt innerhalb seines Polygons.",
  pointWhat: "Zeigen Sie auf eine Stelle eines ausgewählten Skeletts, oder nehmen Sie einen Skeletttyp.",
  pointStates: (/** @type {string} */ name, /** @type {number} */ visible) =>
    `${name}: ${["nicht da", "verdeckt", "sichtbar"][visible]}`,
  skeletonHint: (
    /** @type {string} */ type,
    /** @type {string} */ point,
    /** @type {number} */ at,
    /** @type {number} */ of,
  ) => `${type}: ${point} klicken (${at} von ${of}) · Umschalt-Klick: verdeckt · V: nicht im Bild`,
  openHint: (/** @type {string} */ name) =>
    `${name}: die Ecken klicken · Eingabe beendet die Linie · die erste Ecke schließt sie`,
  ellipseHint: (/** @type {string} */ name) => `${name}: die Box um eine Ellipse aufziehen`,
  steps: {
    paint: "Pinsel",
    erase: "Radierer",
    fill: "Loch füllen",
    convert: "Polygon oder Maske",
    join: "Vereinigung",
    cut: "Differenz",
    edges: "Kanten finden",
    ellipse: "Ellipse oder Box",
    hole: "Loch",
    point: "Punkt eines Skeletts",
  },
};
