import { plural } from "../strings_plural.js";

/** @param {number} count */
const keyframes = (count) => plural(count, "fotograma clave", "fotogramas clave");
/** @param {number} count */
const drafts = (count) => plural(count, "borrador", "borradores");

export const assist = {
  followForward: "Seguir hacia delante",
  followBack: "Seguir hacia atrás",
  followToKeyframe: "Seguir hasta el fotograma clave siguiente",
  followStep: "seguir",
  followWhat: "Seleccione una forma de este fotograma, en la capa en la que dibuja, para seguirla.",
  followNoTracks:
    "El proyecto no tiene un tipo de trayectorias. Quien administra el proyecto puede añadirlo en Administrar.",
  followNoKeyframe: "La trayectoria no tiene un fotograma clave posterior.",
  followNoFrames: "No hay más fotogramas en esa dirección.",
  followFailed: (/** @type {string} */ why) => `No se pudo seguir: ${why}`,
  followLostAtOnce:
    "No se encuentra el objeto en el fotograma siguiente. Quizá se mueve muy deprisa o tiene poca textura.",
  following: (/** @type {number} */ frame) => `Siguiendo: fotograma ${frame} · la misma tecla para, Esc abandona`,
  followed: (/** @type {number} */ frames, /** @type {number} */ keys) =>
    `${plural(frames, "fotograma seguido", "fotogramas seguidos")}, ${keyframes(keys)}`,
  followStops: {
    look: (/** @type {number} */ frame) => `perdido en el fotograma ${frame}: tapado o con otro aspecto`,
    border: (/** @type {number} */ frame) => `salió de la imagen en el fotograma ${frame}`,
    limit: (/** @type {number} */ frame) => `detenido antes del fotograma ${frame}: hasta ahí llega una pulsación`,
    asked: (/** @type {number} */ frame) => `detenido antes del fotograma ${frame}`,
    end: () => "",
  },
  followReplaces: (/** @type {number} */ count) => `reemplaza ${keyframes(count)}`,
  acceptOrDiscard: "Intro acepta, Esc descarta",
  title: "Anotadores",
  annotator: "Anotador",
  predict: "Predecir",
  predictKey: "Predecir este fotograma",
  predictFrame: "Predecir este fotograma",
  range: "Intervalo …",
  rangeTitle: (/** @type {string} */ name) => `Predecir con ${name}`,
  rangeLead: "Los borradores del anotador en estos fotogramas se reemplazan. Los aceptados no.",
  from: "Primer fotograma",
  to: "Último fotograma",
  every: "Cada n fotogramas",
  working: "Fotogramas del trabajo",
  jobFailed: "El trabajo falló. Trabajos muestra su salida.",
  noDrafts: "La capa de borradores se eliminó. Quien administra el proyecto puede dar otra al anotador.",
  predicted: (/** @type {number} */ count, /** @type {string} */ model) => `${drafts(count)} de ${model}`,
  drafts,
  draftsByClass: "Borradores por clase",
  noClass: "sin clase",
  least: (/** @type {number} */ percent) => `Como mínimo ${percent} %`,
  acceptClass: (/** @type {string} */ label) => `Aceptar ${label}`,
  rejectClass: (/** @type {string} */ label) => `Rechazar ${label}`,
  acceptAll: "Aceptar todos",
  rejectAll: "Rechazar todos",
  acceptDraft: "Aceptar la selección o sus borradores",
  rejectDraft: "Rechazar la selección o sus borradores",
  draftKeys: "Borradores visibles de este medio. a acepta el seleccionado, r lo rechaza.",
  undo: "Deshacer",
  segment: "Haga clic en un objeto",
  segmentBy: (/** @type {string} */ name) => `Haga clic en un objeto: ${name}`,
  clickHint: (/** @type {string} */ name) =>
    `${name}: clic en el objeto · Mayús o botón derecho: esto no · Esc termina`,
  promptHint: (/** @type {string} */ name) =>
    `${name}: arrastre una caja alrededor del objeto o haga clic en él · Mayús o botón derecho: esto no · Esc termina`,
  boxHint: (/** @type {string} */ name) => `${name}: arrastre una caja alrededor del objeto · Esc termina`,
  boxMore: "Intro acepta · arrastre otra caja · Esc empieza de nuevo",
  boxAlone: "Este anotador solo admite cajas: arrastre una alrededor del objeto.",
  clickMore: "Intro acepta · clic añade, Mayús o botón derecho quita · Esc empieza de nuevo",
  clickStep: "objeto por clics",
  nothingClicked: "Ahí no se encuentra nada. Haga clic en otro lugar.",
  noInteractor: "Ningún anotador de este proyecto admite clics. Quien administra el proyecto puede registrar uno.",
  queues: {
    uncertain: "Los más inciertos primero",
    unlike: "Los más distintos primero",
    duplicates: "Casi duplicados",
  },
  similar: "Buscar similares",
  similarTo: (/** @type {string} */ id) => `Similares a ${id}`,
  mostSimilar: "Los más similares primero",
  endSimilar: "Otra vez por tiempo",
  noVector:
    "Sin un vector en un float_array de su tipo, no se puede comparar con nada. Un calculador de vectores los crea.",
  votes: (/** @type {string} */ label, /** @type {number} */ count, /** @type {number} */ all) =>
    `${label} ${count}/${all}`,
  suggestion: (/** @type {string} */ label, /** @type {number} */ count, /** @type {number} */ all) =>
    `Etiquetar la selección como ${label}, igual que ${count} de los ${all} más cercanos`,
  draftNote: "Un borrador: a lo pasa a la capa en la que dibuja, r lo rechaza.",
  annotateBy: "Anotar con",
  annotating: (/** @type {number} */ count) =>
    `Anotando ${plural(count, "medio", "medios")}. Trabajos muestra el progreso.`,
  accept: "Aceptar",
  discard: "Descartar",
};
