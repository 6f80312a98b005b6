// A place on the globe: latitude and longitude as numbers, and a plain map of degrees to click on. No map is fetched from elsewhere.
import { html, useEffect, useRef, useState } from "../lib.js";
import { text } from "../strings.js";
import { Button, TextField } from "./controls.js";

const WIDTH = 360,
  HEIGHT = 180;
const STEPS = [30, 10, 5, 1, 0.5, 0.1, 0.05, 0.01];
const CLOSEST = 1024;
const DIGITS = 5;

/** @param {number} value @param {number} least @param {number} most */
const within = (value, least, most) => Math.min(most, Math.max(least, value));

/** A number of degrees without needless digits. @param {number} value */
const rounded = (value) => Number(value.toFixed(DIGITS));

/** Degrees with the hemisphere, such as 46.95° N. @param {number} value @param {string} positive @param {string} negative */
const degrees = (value, positive, negative) =>
  `${rounded(Math.abs(value))}°${value === 0 ? "" : ` ${value > 0 ? positive : negative}`}`;

/** A place as people read it. @param {[number, number]} place longitude and latitude, as stored */
export const placeText = ([longitude, latitude]) => `${degrees(latitude, "N", "S")}, ${degrees(longitude, "E", "W")}`;

/**
 * The input of an attribute of dtype geopos. `value` and what `onChange` gets are [longitude, latitude], the order in which places are stored.
 * @param {{type: any, value: any, onChange: (value: [number, number] | null) => void, disabled?: boolean, error?: string, placeholder?: string}} props
 */
export function PositionInput({ type, value, onChange, disabled, error, placeholder }) {
  const [longitude, latitude] = Array.isArray(value) ? value : ["", ""];
  const [draft, setDraft] = useState({ latitude: String(latitude), longitude: String(longitude) });
  const [wrong, setWrong] = useState("");
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    setDraft({ latitude: String(latitude), longitude: String(longitude) });
    setWrong("");
  }, [latitude, longitude]);
  const take = () => {
    const given = [draft.longitude.trim(), draft.latitude.trim()];
    if (given[0] === String(longitude) && given[1] === String(latitude)) {
      setWrong("");
      return;
    }
    if (!given[0] && !given[1]) {
      setWrong("");
      onChange(null);
      return;
    }
    if (!given[0] || !given[1]) return; // the other number is still to come
    const [x, y] = given.map(Number);
    if (!(Math.abs(y) <= 90) || !(Math.abs(x) <= 180)) {
      setWrong(text.wantsPlace);
      return;
    }
    setWrong("");
    onChange([x, y]);
  };
  const field = (
    /** @type {"latitude" | "longitude"} */ name,
    /** @type {string} */ label,
  ) => html`<${TextField} label=${`${type.name}${type.required ? " *" : ""}: ${label}`} inputmode="decimal" autocomplete="off" disabled=${disabled} placeholder=${placeholder}
    value=${draft[name]} onInput=${(/** @type {string} */ given) => setDraft({ ...draft, [name]: given })} onBlur=${take} onKeyDown=${(
      /** @type {KeyboardEvent} */ event,
    ) => {
      if (event.key === "Enter") {
        event.preventDefault();
        take();
      }
    }} />`;
  return html`<fieldset class="position"><legend class="visually-hidden">${type.name}</legend><div class="position-fields">${field("latitude", text.latitude)}${field("longitude", text.longitude)}
      <${Button} icon="grid" title=${text.mapOf(type.name)} aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)} /></div>
    ${type.description && html`<div class="hint">${type.description}</div>`}${(wrong || error) && html`<div class="error" role="alert">${wrong || error}</div>`}
    ${isOpen && html`<${Map_} name=${type.name} place=${Array.isArray(value) ? value : null} onChange=${disabled ? undefined : onChange} />`}</fieldset>`;
}

/** @param {{name: string, place: [number, number] | null, onChange?: (place: [number, number]) => void}} props */
function Map_({ name, place, onChange }) {
  const [zoom, setZoom] = useState(1);
  const [centre, setCentre] = useState(/** @type {[number, number]} */ (place ?? [0, 0]));
  const picture = useRef(/** @type {SVGSVGElement | null} */ (null));
  useEffect(() => {
    if (place) setCentre(place);
  }, [place?.[0], place?.[1]]);
  const wide = WIDTH / zoom,
    high = HEIGHT / zoom;
  const west = within(centre[0] - wide / 2, -180, 180 - wide),
    south = within(centre[1] - high / 2, -90, 90 - high);
  const step = STEPS.find((each) => wide / each >= 6) ?? STEPS[STEPS.length - 1];
  const lines = (/** @type {number} */ from, /** @type {number} */ length) =>
    Array.from({ length: Math.floor((from + length) / step) - Math.ceil(from / step) + 1 }, (_, index) =>
      rounded((Math.ceil(from / step) + index) * step),
    );
  const x = (/** @type {number} */ longitude) => (longitude - west) * zoom,
    y = (/** @type {number} */ latitude) => (south + high - latitude) * zoom;
  const choose = (/** @type {number} */ longitude, /** @type {number} */ latitude) =>
    onChange?.([rounded(within(longitude, -180, 180)), rounded(within(latitude, -90, 90))]);
  const click = (/** @type {MouseEvent} */ event) => {
    const box = /** @type {SVGSVGElement} */ (picture.current).getBoundingClientRect();
    choose(
      west + ((event.clientX - box.left) / box.width) * wide,
      south + (1 - (event.clientY - box.top) / box.height) * high,
    );
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const moves = /** @type {Record<string, [number, number]>} */ ({
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, 1],
      ArrowDown: [0, -1],
    });
    const zooms = /** @type {Record<string, number>} */ ({ "+": 2, "=": 2, "-": 0.5 });
    if (event.key in moves)
      choose(centre[0] + (moves[event.key][0] * wide) / 90, centre[1] + (moves[event.key][1] * wide) / 90);
    else if (event.key in zooms) setZoom(within(zoom * zooms[event.key], 1, CLOSEST));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<div class="position-map"><svg ref=${picture} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} tabindex="0" role="application" aria-label=${`${text.mapOf(name)}: ${place ? placeText(place) : text.none}. ${text.mapKeys}`} onClick=${click} onKeyDown=${onKeyDown}>
      ${lines(west, wide).map((longitude) => html`<line key=${`x${longitude}`} class=${longitude === 0 ? "main" : ""} x1=${x(longitude)} x2=${x(longitude)} y1="0" y2=${HEIGHT} /><text key=${`tx${longitude}`} x=${x(longitude) + 2} y=${HEIGHT - 3}>${degrees(longitude, "E", "W")}</text>`)}
      ${lines(south, high).map((latitude) => html`<line key=${`y${latitude}`} class=${latitude === 0 ? "main" : ""} x1="0" x2=${WIDTH} y1=${y(latitude)} y2=${y(latitude)} /><text key=${`ty${latitude}`} x="2" y=${y(latitude) - 2}>${degrees(latitude, "N", "S")}</text>`)}
      ${place && html`<circle cx=${x(place[0])} cy=${y(place[1])} r="5" />`}</svg>
    <div class="row"><${Button} small icon="zoom_in" title=${text.mapCloser} disabled=${zoom >= CLOSEST} onClick=${() => setZoom(zoom * 2)} /><${Button} small icon="zoom_out" title=${text.mapWider} disabled=${zoom <= 1} onClick=${() => setZoom(zoom / 2)} /><span class="muted small grow">${place ? `${placeText(place)}. ${text.storedAs(place)}` : text.mapLead}</span></div></div>`;
}
