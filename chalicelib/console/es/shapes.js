import { number } from "../strings_plural.js";

export const shapes = {
  brush: "Pincel",
  eraser: "Borrador",
  fill: "Rellenar huecos",
  edges: "Buscar bordes en la caja seleccionada",
  smaller: "Pincel más pequeño",
  larger: "Pincel más grande",
  convert: "De polígono a máscara, o de máscara a polígono",
  join: "Unión de las máscaras seleccionadas",
  cut: "Diferencia: la primera máscara seleccionada sin las demás",
  ellipse: "Elipse o caja",
  hole: "Dibujar un hueco en el polígono, o cerrar el que está bajo el puntero",
  point: "Punto de un esqueleto: visible, oculto o ausente",
  mode: (/** @type {string} */ mode, /** @type {number} */ diameter) =>
    ({
      brush: `Pincel de ${diameter} píxeles: pintar · ; ' tamaño · Intro empieza otra máscara · Esc termina`,
      eraser: `Borrador de ${diameter} píxeles: borrar · ; ' tamaño · Esc termina`,
      fill: "Rellenar: clic en un hueco de la máscara · Esc termina",
    })[mode] ?? "",
  noMaskType:
    "Ningún tipo de cajas que se dibuja aquí admite máscaras. Quien administra el proyecto puede permitirlas en Administrar.",
  noPolygonType:
    "Aquí no se dibuja ningún tipo de polígonos. Quien administra el proyecto puede añadir uno en Administrar.",
  paintWhat: "Tome un tipo que admita máscaras, o seleccione una caja de un tipo así.",
  eraseWhat: "Seleccione una caja cuyo tipo admita máscaras.",
  noHole: "Ahí no hay ningún hueco de la máscara.",
  noPixel: "No quedaría ningún píxel.",
  tooManyRuns: (/** @type {number} */ found, /** @type {number} */ most) =>
    `La máscara tendría ${number(found)} caracteres, y como máximo son ${number(most)}. Simplifique su contorno, o divídala.`,
  convertWhat: "Seleccione polígonos o máscaras de la capa en la que dibuja.",
  combineWhat: "Seleccione dos o más cajas cuyos tipos admitan máscaras.",
  edgesWhat: "Seleccione una caja cuyo tipo admita máscaras.",
  noEdges: "Ningún objeto destaca en la caja por sus colores.",
  edgesFailed: (/** @type {string} */ why) => `No se encontraron los bordes: ${why}`,
  ellipseWhat: "Tome o seleccione cajas cuyo tipo admita elipses.",
  holeWhat: "Seleccione un polígono cuyo tipo admita huecos.",
  holeHint: "Clic en los vértices del hueco · Intro termina · Esc abandona",
  holeOutside: "Un hueco queda dentro de su polígono.",
  pointWhat: "Señale un punto de un esqueleto seleccionado, o tome un tipo de esqueletos.",
  pointStates: (/** @type {string} */ name, /** @type {number} */ visible) =>
    `${name}: ${["ausente", "oculto", "visible"][visible]}`,
  skeletonHint: (
    /** @type {string} */ type,
    /** @type {string} */ point,
    /** @type {number} */ at,
    /** @type {number} */ of,
  ) => `${type}: clic en ${point} (${at} de ${of}) · Mayús y clic: oculto · V: fuera de la imagen`,
  openHint: (/** @type {string} */ name) =>
    `${name}: clic en los vértices · Intro termina la línea · el primer vértice la cierra`,
  ellipseHint: (/** @type {string} */ name) => `${name}: arrastre la caja alrededor de una elipse`,
  maskText: (/** @type {number[]} */ [height, width], /** @type {number[]} */ runs) =>
    `de ${number(runs.filter((_, at) => at % 2).reduce((sum, run) => sum + run, 0))} píxeles en ${width} × ${height}`,
  allowed: "Además se admiten",
  refinements: {
    mask: "Máscaras",
    angle: "Cajas giradas",
    ellipse: "Elipses",
    open: "Polilíneas",
    holes: "Huecos",
    skeleton: "Un esqueleto de puntos con nombre",
  },
  points: "Puntos del esqueleto",
  pointsHint: "Un nombre por línea, en el orden en que se hace clic en ellos.",
  edgesOf: "Aristas del esqueleto",
  edgesHint: "Dos nombres por línea: nariz - ojo izquierdo",
  badEdge: (/** @type {string} */ line) =>
    `Aristas del esqueleto: «${line}» no son los nombres de dos puntos con « - » en medio.`,
  steps: {
    paint: "pincel",
    erase: "borrador",
    fill: "rellenar un hueco",
    convert: "polígono o máscara",
    join: "unión",
    cut: "diferencia",
    edges: "buscar bordes",
    ellipse: "elipse o caja",
    hole: "hueco",
    point: "punto de un esqueleto",
  },
};
