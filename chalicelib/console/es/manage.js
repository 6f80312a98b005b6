import { MOST_MATCHES, number, plural } from "../strings_plural.js";

export const webhooks = {
  title: "Webhooks",
  lead: "Eventos del proyecto, enviados a un servidor suyo como peticiones firmadas.",
  organizationLead: "Eventos de todos los proyectos de la organización, enviados a un servidor suyo.",
  add: "Registrar un webhook",
  none: "Aún no hay webhooks",
  url: "URL",
  urlHint: "https en una dirección pública. No se siguen redirecciones.",
  types: "Tipos de eventos",
  typesHint: "Uno por línea: un tipo, un comienzo que termina en .*, o *.",
  query: "Solo lo que cumple",
  queryHint: "Parámetros de la lista de la única clase que nombran los tipos, como ?attribute=Species::Cod.",
  active: "Activo",
  paused: "En pausa",
  disabled: (/** @type {string} */ reason) => `Desactivado: ${REASONS[reason] ?? reason}`,
  pause: "Pausar",
  resume: "Reanudar",
  resumed: "El webhook continúa tras el último evento aceptado.",
  owner: "Propietario",
  secret: "El secreto",
  secretLead: "Verifique con él los mensajes. Solo se muestra ahora.",
  secretUntil: (/** @type {string} */ time) => `Los mensajes llevan también la firma anterior hasta ${time}.`,
  rotate: "Reemplazar el secreto",
  rotateLead: "Los mensajes llevan ambas firmas mientras el secreto antiguo sea válido.",
  keepHours: "Horas de validez del secreto antiguo",
  ping: "Enviar un ping",
  pinged: (/** @type {string} */ result, /** @type {number} */ ms) =>
    `El servidor respondió ${result} en ${number(ms)} ms.`,
  noAnswer: "El servidor no respondió.",
  deliveries: "Entregas",
  deliveriesOf: (/** @type {string} */ name) => `Entregas de ${name}`,
  deliveriesLead: "Los intentos de siete días, los más recientes primero.",
  noDeliveries: "Aún no se ha enviado nada",
  onlyFailed: "Solo las fallidas",
  more: "Mostrar anteriores",
  time: "Hora",
  event: "Evento",
  attempt: "Intento",
  manual: "a mano",
  result: "Respuesta",
  next: (/** @type {string} */ time) => `Próximo intento ${time}`,
  redeliver: "Enviar de nuevo",
  redeliverSince: "Enviar de nuevo todo desde aquí",
  redeliverAllLead: "Todos los eventos posteriores del proyecto se envían de nuevo, en orden.",
};

export const rules = {
  title: "Reglas de inicio",
  lead: "Lanzan un algoritmo o un anotador en cada medio del que trata un evento, una vez por medio.",
  add: "Añadir una regla",
  none: "Aún no hay reglas",
  runs: "Ejecuta",
  annotator: (/** @type {string} */ name) => `Anotador ${name}`,
  every: "Cada n fotogramas",
  onImport: "Predecir al importar",
  noAlgorithms: "Registre antes un algoritmo o un anotador.",
};

const REASONS = /** @type {Record<string, string>} */ ({
  gone: "el servidor respondió 410 Gone",
  failing: "ningún evento fue aceptado en tres días",
  owner_lost_access: "su propietario ya no podría registrarlo",
  algorithm_missing: "su algoritmo ya no existe",
  token_invalid: "el token de su propietario se revocó",
  launches_itself: "sus trabajos crean medios que lo lanzan de nuevo; restrinja su consulta antes de activarlo",
  algorithm_changed: "otra persona cambió lo que ejecuta su algoritmo; actívelo para aprobarlo",
  refused: "se rechazó el lanzamiento",
  query_refused: "se rechaza su consulta",
  error: "falló durante tres días",
});

export const history = {
  restore: "Restaurar",
  restoreMany: (/** @type {number} */ count) => `Restaurar ${plural(count, "eliminación", "eliminaciones")}`,
  restored: (/** @type {Record<string, number>} */ counts) =>
    `Restaurado: ${Object.entries(counts)
      .map(([kind, count]) => plural(count, ...(KINDS[kind] ?? [kind, kind])))
      .join(", ")}.`,
  choose: (/** @type {string} */ who, /** @type {string} */ when) => `Seleccionar la eliminación de ${who}, ${when}`,
  deletionOf: (/** @type {string} */ kind, /** @type {number[]} */ ids) =>
    `${KINDS[kind]?.[ids.length === 1 ? 0 : 1] ?? kind} ${ids.slice(0, 5).join(", ")}${ids.length > 5 ? ` y ${number(ids.length - 5)} más` : ""}`,
  wasRestored: "restaurado",
  entity: (/** @type {string} */ kind, /** @type {string | number} */ id) => `${KINDS[kind]?.[0] ?? kind} ${id}`.trim(),
  undo: "Deshacer",
  earlier: "Mostrar cambios anteriores",
};

const KINDS = /** @type {Record<string, [string, string]>} */ ({
  media: ["medio", "medios"],
  localization: ["localización", "localizaciones"],
  state: ["estado", "estados"],
  section: ["sección", "secciones"],
  leaf: ["hoja", "hojas"],
});

export const sources = {
  title: "Fuentes en buckets",
  lead: "Prefijos en los buckets de la organización. Lo que hay allí se convierte en medios, sin copia.",
  add: "Registrar un prefijo",
  none: "Aún no hay fuentes en buckets",
  needBucket: "Quien administra la organización registra antes un bucket.",
  bucket: "Bucket",
  prefix: "Prefijo",
  prefixHint: "Carpetas con una barra al final; vacío para todo el bucket.",
  mediaTypes: "Tipos de medios",
  mediaTypesHint: "Uno por línea: una extensión y el nombre de un tipo de medios, como: mp4 Dive.",
  section: "Carpeta de los medios nuevos",
  pattern: "Qué objetos",
  patternHint: "* es cualquier texto, ? un carácter.",
  hours: "Horas entre dos listados; 0 para ninguno",
  objects: "Objetos",
  counts: (/** @type {any} */ each) =>
    [
      [each.created, "nuevos"],
      [each.changed, "cambiados"],
      [each.missing, "ausentes"],
      [each.skipped, "omitidos"],
    ]
      .filter(([count]) => count > 0)
      .map(([count, word]) => `${number(count)} ${word}`)
      .join(", "),
  listNow: "Listar ahora",
  begun: "El listado ha comenzado.",
  deleteLead: "Sus medios quedan, y se refieren a sus objetos como antes.",
  noType: (/** @type {string} */ line) => `tipos de medios: «${line}» no termina con el nombre de un tipo de medios.`,
};

export const datasets = {
  title: "Versiones de conjuntos de datos",
  lead: "Medios y anotaciones tal como están, guardados con un nombre hasta que se elimine la versión.",
  add: "Congelar una versión",
  none: "Aún no hay versiones",
  freeze: "Congelar",
  started: "La versión se está creando.",
  about: (/** @type {string} */ labels, /** @type {string} */ media, /** @type {number} */ commit) =>
    `${labels} etiquetas de ${media} medios en el commit ${commit}`,
  compare: "Comparar",
  compareTitle: (/** @type {string} */ name) => `Comparar ${name}`,
  with: "Con la versión anterior",
  added: "Añadidos",
  changed: "Cambiados",
  removed: "Quitados",
  rows: { media: "Medios", localizations: "Localizaciones", states: "Trayectorias y estados" },
  ids: "Los primeros",
  of: "Versión de un conjunto de datos",
  present: "El proyecto tal como está",
  export_: "Exportar",
  deleteLead: "Sus filas se eliminan. Las anotaciones del proyecto quedan.",
};

export const leaves = {
  taxa: {
    name: "Taxones",
    open: "Importar taxones",
    title: "Importar una lista de taxones",
    lead: "Un archivo Darwin Core de WoRMS o GBIF, su tabla de taxones, o un CSV con AphiaID y ScientificName. Cada taxón aceptado se convierte en una hoja con su identificador, rango, autoridad y sinónimos. Lo que ya existe se queda.",
    into: "Nombre del árbol",
    intoHint: "Uno existente se continúa; otro nombre crea uno nuevo.",
    file: "Archivo",
    within: "Solo estos y lo que está debajo",
    withinHint: "Un nombre por línea, como Gadidae; vacío para toda la lista.",
    import: "Importar",
    counted: (/** @type {string} */ count, /** @type {number} */ skipped) =>
      `${count} taxones aceptados${skipped ? `; ${plural(skipped, "fila", "filas")} sin identificador o nombre` : ""}`,
    done: (/** @type {number} */ created, /** @type {number} */ present) =>
      `${plural(created, "taxón creado", "taxones creados")}, ${number(present)} ya existían.`,
    noTaxon: (/** @type {string} */ name) => `La lista no tiene ningún taxón aceptado «${name}».`,
    noTable: "la primera línea no tiene taxonID (o AphiaID) y scientificName, o no sigue ningún taxón aceptado.",
    noArchive: "el archivo debe tener un fichero taxon.txt, .tsv o .csv.",
    unread: (/** @type {string} */ file, /** @type {string} */ why) => `${file}: ${why}`,
    lacking: (/** @type {string} */ type, /** @type {string} */ names) =>
      `A ${type} le faltan atributos para taxones: ${names}. Añádalos en Tipos, o importe en un árbol nuevo.`,
    about: {
      taxonID: "Identificador del taxón en su lista.",
      AphiaID: "Número del taxón en WoRMS.",
      rank: "Rango, como species.",
      authority: "Quién lo nombró, y cuándo.",
      synonyms: "Otros nombres, separados por punto y coma.",
    },
  },
  title: "Árboles de etiquetas",
  lead: "Nombres ordenados, como una taxonomía. Los textos de las anotaciones se completan con ellos.",
  readOnly: "Los cambian los miembros con control total.",
  noTypes: "Aún no hay árboles de etiquetas",
  noTypesLead: "Un árbol de etiquetas es un tipo de hojas. Cree uno, y después sus hojas.",
  newTree: "Árbol de etiquetas nuevo",
  tree: "Árbol de etiquetas",
  empty: "Aún no hay hojas",
  emptyLead: "Empiece por las de arriba.",
  find: "Buscar una hoja",
  matches: (/** @type {number} */ count) =>
    count >= MOST_MATCHES
      ? `Los primeros ${number(MOST_MATCHES)} resultados`
      : plural(count, "resultado", "resultados"),
  addTop: "Añadir arriba",
  addBelow: "Añadir debajo",
  addBeside: "Añadir al lado",
  addBelowOf: (/** @type {string} */ name) => `Añadir debajo de ${name}`,
  names: "Nombres",
  namesHint: "Uno por línea. Letras, cifras, espacios, _ - ( ) y puntos.",
  added: (/** @type {number} */ count) => plural(count, "hoja añadida.", "hojas añadidas."),
  editLeaf: "Cambiar el nombre o editar",
  saved: (/** @type {string} */ name) => `${name} está guardada.`,
  path: "Ruta",
  move: "Mover",
  moving: (/** @type {string} */ name) => `Moviendo ${name}: elija la hoja debajo de la que va.`,
  moveHere: (/** @type {string} */ name) => `Poner ${name} debajo de esta`,
  toTop: "Arriba del todo",
  moved: (/** @type {string} */ name, /** @type {string} */ below) =>
    `${name} está ahora ${below ? `debajo de ${below}` : "arriba del todo"}.`,
  deleteLead: (/** @type {number} */ below) =>
    `${below ? `También se ${below === 1 ? "elimina" : "eliminan"} ${below >= MOST_MATCHES ? `${number(MOST_MATCHES)} hojas o más` : plural(below, "hoja", "hojas")} de debajo. ` : ""}Las anotaciones conservan los nombres.`,
  showMore: (/** @type {number} */ count) => `Mostrar ${number(count)} más`,
  keys: "Las flechas mueven, n añade debajo, Intro edita, x toma y v deja, Supr elimina.",
  completion: "Se completa con",
  completionNone: "Nada",
  completionHint: "Los textos se completan con las hojas de debajo.",
};

export const transfers = {
  yoloTask: "Etiquetas",
  tasks: { detect: "Cajas", segment: "Polígonos" },
  firstPixel: "Número del primer píxel",
  imageFormat: "Formato de las imágenes",
  imageHeight: "Altura de las imágenes",
  imageHeightHint: "Las más altas se reducen a ella.",
  splitTest: "Con un conjunto de prueba (70 : 20 : 10)",
  classAttribute: "El nombre de la clase será",
  classAttributeHint: "El valor de un atributo, o el tipo de ese nombre.",
  outside: "Formas que salen de la imagen",
  unknownAttributes: "Atributos que el tipo no tiene",
  refuse: "Rechazar la fila",
  clip: "Recortarlas",
  drop: "Omitirlos",
  intoFolder: "Carpeta de los medios nuevos",
  begin: "Empezar",
  importNow: "Importarlo ahora",
};
