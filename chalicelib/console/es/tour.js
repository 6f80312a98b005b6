/** @typedef {import("../strings_tour.js").KeyOf} KeyOf */

export const tour = {
  title: "Recorrido",
  at: (/** @type {number} */ step, /** @type {number} */ all) => `Paso ${step} de ${all}`,
  start: "Empezar el recorrido",
  resume: "Continuar el recorrido",
  leave: "Dejar el recorrido",
  steps: {
    draw: {
      title: "Dibujar una caja",
      lead: (/** @type {KeyOf} */ key) =>
        `Pulse ${key("type")} y arrastre sobre algo de la imagen, de esquina a esquina.`,
    },
    name: {
      title: "Nombrarla con una tecla",
      lead: (/** @type {KeyOf} */ key) =>
        `La caja está seleccionada. ${key("value2")} le da el segundo valor de su etiqueta; cada valor tiene un número.`,
    },
    track: {
      title: "Seguirla por el vídeo",
      lead: (/** @type {KeyOf} */ key) =>
        `Pulse ${key("track")}: con la caja empieza una trayectoria. Avance unos fotogramas con ${key("next")} y dibújela otra vez: es un fotograma clave. Entre ellos, la consola completa.`,
    },
    undo: {
      title: "Deshacer",
      lead: (/** @type {KeyOf} */ key) =>
        `Pulse ${key("undo")}. Todo cambio se puede deshacer; ${key("redo")} lo repone.`,
    },
    hand: {
      title: "Llevarse el trabajo",
      lead: (/** @type {KeyOf} */ _) =>
        "Abra Importar y exportar, elija Exportación nueva e iníciela en cualquier formato.",
    },
    submit: {
      title: "Entregar",
      lead: (/** @type {KeyOf} */ key) => `Pulse ${key("submitTask")}: todo se guarda y la tarea pasa a revisión.`,
    },
    done: {
      title: "Todo hecho",
      lead: (/** @type {KeyOf} */ _) =>
        "Dibujado, nombrado, seguido, deshecho y entregado. Junto a una imagen, ? muestra todas las teclas.",
    },
  },
};
