// The map of a project: media and annotations at their places, an area to search in, and the way to the frame.
import { get } from "../client.js";
import { html, useEffect, useMemo, useRef, useState } from "../lib.js";
import { link, setQuery } from "../router.js";
import { colorOf, project, typeById } from "../store.js";
import { text } from "../strings.js";
import { settings } from "../strings_settings.js";
import { Button, Select } from "../ui/controls.js";
import { number } from "../ui/format.js";
import { TILES, tilesOf } from "../ui/map_tiles.js";
import { placeText } from "../ui/position.js";
import { SEEN } from "../ui/search.js";
import { encoded } from "./review.js";
import { Empty, Failure, useAsync } from "../ui/states.js";

const words = settings.map;
const MOST = 2000;
const LISTED = 100;
const [WIDTH, HEIGHT] = [1440, 720];
/** Units of the picture per degree, at the zoom of 1. */
const DEGREE = WIDTH / 360;
const CLOSEST = 4096;
const STEPS = [30, 10, 5, 1, 0.5, 0.1, 0.05, 0.01, 0.005, 0.001];
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const FEWEST = 3,
  MOST_CORNERS = 100;

/** @typedef {[number, number]} Place longitude and latitude */
/** @typedef {{centre: Place, zoom: number}} Window */

/** The attributes with places, of media and of localizations. */
function placesOf() {
  const open = /** @type {any} */ (project.value);
  const names = (/** @type {string} */ kind, /** @type {any[]} */ types) => [
    ...new Set(
      types.flatMap((type) =>
        (type.attribute_types ?? [])
          .filter((/** @type {any} */ each) => each.dtype === "geopos")
          .map((/** @type {any} */ each) => `${kind}:${each.name}`),
      ),
    ),
  ];
  return [...names("localization", open.localizationTypes), ...names("media", open.mediaTypes)];
}

/** @param {{query: Record<string, string>}} props */
export default function Map_({ query }) {
  const open = /** @type {any} */ (project.value);
  const choices = placesOf();
  const by = choices.includes(query.by) ? query.by : choices[0];
  if (!by)
    return html`<div class="page wide"><header><h1>${text.tabs.map}</h1></header><${Empty} icon="map" title=${words.none}>${words.noneWhy}<//></div>`;
  return html`<${Places} key=${`${open.id}/${by}`} open=${open} by=${by} choices=${choices} area=${areaOf(query.area)} />`;
}

/** The corners of an area in an address: "8,47;9,47;8.5,48". @param {string | undefined} given @returns {Place[]} */
function areaOf(given) {
  const corners = (given ?? "").split(";").map((each) => each.split(",").map(Number));
  const isArea = corners.length >= FEWEST && corners.every((each) => each.length === 2 && each.every(Number.isFinite));
  return isArea ? /** @type {Place[]} */ (corners) : [];
}

/** @param {{open: any, by: string, choices: string[], area: Place[]}} props */
function Places({ open, by, choices, area }) {
  const [kind, name] = [by.slice(0, by.indexOf(":")), by.slice(by.indexOf(":") + 1)];
  const key = JSON.stringify(area);
  const found = useAsync(
    async (signal) => {
      const search = area.length
        ? { attribute: name, operation: "polygon", value: area }
        : { attribute: name, operation: "isnull", value: false };
      const query = { encoded_search: encoded(search), search: kind === "media" ? "" : SEEN };
      const page = { ...query, start: 0, stop: MOST };
      const [rows, total] = await Promise.all(
        kind === "media"
          ? [get(`Medias/${open.id}`, page, { signal }), get(`MediaCount/${open.id}`, query, { signal })]
          : [get(`Localizations/${open.id}`, page, { signal }), get(`LocalizationCount/${open.id}`, query, { signal })],
      );
      return { rows: rows.filter((/** @type {any} */ row) => Array.isArray(row.attributes[name])), total };
    },
    [open.id, by, key],
  );
  const [corners, setCorners] = useState(/** @type {Place[] | null} */ (null));
  const rows = found.value?.rows ?? [];
  const places = useMemo(() => rows.map((/** @type {any} */ row) => placeOf(kind, name, row, open.id)), [rows]);
  const search = () => {
    setQuery({ area: (corners ?? []).map((each) => each.join(",")).join(";") });
    setCorners(null);
  };
  return html`<div class="page wide"><header><h1>${text.tabs.map}</h1></header>
    <div class="statistics-bar"><${Select} name=${words.of} value=${by} options=${choices.map((each) => [each, optionText(each)])} onChange=${(/** @type {string} */ value) => setQuery({ by: value })} />
      ${corners ? html`<${Button} kind="primary" disabled=${corners.length < FEWEST} onClick=${search}>${words.search}<//><${Button} onClick=${() => setCorners(null)}>${text.cancel}<//><span class="muted small" role="status">${words.drawing}</span>` : html`<${Button} icon="polygon" onClick=${() => setCorners([])}>${words.draw}<//>`}
      ${area.length > 0 && !corners && html`<${Button} icon="close" onClick=${() => setQuery({ area: "" })}>${words.clear}<//>`}
      <span class="grow" />${found.value && html`<span class="muted" role="status">${words.shown(number(rows.length), number(found.value.total))}</span>`}</div>
    ${found.failure && html`<${Failure} failure=${found.failure} />`}
    <${Picture} places=${places} area=${corners ?? area} onCorner=${corners && ((/** @type {Place} */ corner) => corners.length < MOST_CORNERS && setCorners([...corners, corner]))} />
    <p class="muted small">${words.source}${TILES.source && ` · ${TILES.source}`}</p>
    <ul class="map-list">${places.slice(0, LISTED).map((/** @type {any} */ each) => html`<li key=${each.id}><a href=${each.href}>${each.title}</a> <span class="muted small">${placeText(each.place)}</span></li>`)}</ul></div>`;
}

/** @param {string} by */
const optionText = (by) =>
  `${by.startsWith("media:") ? text.tabs.media : text.annotations}: ${by.slice(by.indexOf(":") + 1)}`;

/** What is drawn of a row. @param {string} kind @param {string} name @param {any} row @param {number} number_ the project */
function placeOf(kind, name, row, number_) {
  const place = /** @type {Place} */ (row.attributes[name]);
  if (kind === "media")
    return {
      id: row.id,
      place,
      title: row.name,
      color: undefined,
      href: link(`/projects/${number_}/media/${row.id}`),
    };
  const type = typeById("localizationTypes", row.type);
  return {
    id: row.id,
    place,
    title: words.frame(type?.name ?? "", number(row.frame)),
    color: colorOf(type, row.attributes),
    href: link(`/projects/${number_}/media/${row.media}`, { frame: row.frame, select: row.id }),
  };
}

/** The window that shows all places. @param {Place[]} places @returns {Window} */
function around(places) {
  if (!places.length) return { centre: [0, 0], zoom: 1 };
  const [xs, ys] = [places.map((each) => each[0]), places.map((each) => each[1])];
  const [west, east, south, north] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const zoom = Math.min(300 / Math.max(east - west, 0.5), 150 / Math.max(north - south, 0.25));
  return {
    centre: [(west + east) / 2, (south + north) / 2],
    zoom: Math.min(CLOSEST, Math.max(1, 2 ** Math.floor(Math.log2(zoom)))),
  };
}

/** @param {{places: any[], area: Place[], onCorner: ((corner: Place) => void) | null}} props */
function Picture({ places, area, onCorner }) {
  const [land, setLand] = useState("");
  const [view, setView] = useState(/** @type {Window | null} */ (null));
  const host = useRef(/** @type {SVGSVGElement | null} */ (null));
  const drag = useRef(/** @type {{x: number, y: number, moved: boolean} | null} */ (null));
  useEffect(() => {
    import("../ui/coastline.js").then((module) => setLand(module.LAND));
  }, []);
  const { centre, zoom } = view ?? around(places.map((each) => each.place));
  const size = DEGREE * zoom;
  const x = (/** @type {number} */ longitude) => WIDTH / 2 + (longitude - centre[0]) * size,
    y = (/** @type {number} */ latitude) => HEIGHT / 2 - (latitude - centre[1]) * size;
  const move = (/** @type {number} */ east, /** @type {number} */ north, /** @type {number} */ factor = 1) =>
    setView({
      centre: [within(centre[0] + east, 180), within(centre[1] + north, 90)],
      zoom: Math.min(CLOSEST, Math.max(1, zoom * factor)),
    });
  const at = (/** @type {MouseEvent} */ event) => {
    const box = /** @type {SVGSVGElement} */ (host.current).getBoundingClientRect();
    const [right, down] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    return /** @type {Place} */ ([
      rounded(centre[0] + ((right - 0.5) * WIDTH) / size),
      rounded(within(centre[1] - ((down - 0.5) * HEIGHT) / size, 90)),
    ]);
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const arrow = KEYS[/** @type {keyof typeof KEYS} */ (event.key)];
    if (arrow) move((arrow[0] * 40) / zoom, (arrow[1] * 20) / zoom);
    else if (event.key === "+" || event.key === "=") move(0, 0, 2);
    else if (event.key === "-") move(0, 0, 0.5);
    else return;
    event.preventDefault();
  };
  const onPointerMove = (/** @type {PointerEvent} */ event) => {
    const from = drag.current;
    if (!from || (!from.moved && Math.hypot(event.clientX - from.x, event.clientY - from.y) < 4)) return;
    const scale = WIDTH / /** @type {SVGSVGElement} */ (host.current).getBoundingClientRect().width / size;
    move((from.x - event.clientX) * scale, (event.clientY - from.y) * scale);
    drag.current = { x: event.clientX, y: event.clientY, moved: true };
  };
  const end = () => {
    drag.current = null;
  };
  return html`<div class="map"><svg ref=${host} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} tabindex="0" role="group" aria-label=${words.name(number(places.length))} class=${onCorner ? "drawing" : ""} onKeyDown=${onKeyDown}
      onPointerDown=${(/** @type {PointerEvent} */ event) => {
        drag.current = onCorner ? null : { x: event.clientX, y: event.clientY, moved: false };
      }} onPointerMove=${onPointerMove} onPointerUp=${end} onPointerLeave=${end} onClick=${(/** @type {MouseEvent} */ event) => onCorner?.(at(event))}>
      ${TILES.address && html`<${Tiles} centre=${centre} zoom=${zoom} x=${x} y=${y} />`}
      <path class=${TILES.address ? "land outline" : "land"} d=${land} transform=${`translate(${x(0)} ${y(0)}) scale(${size / 10})`} />
      <${Lines} x=${x} y=${y} zoom=${zoom} centre=${centre} />
      ${area.length > 0 && html`<polygon class="area" points=${area.map((each) => `${x(each[0])},${y(each[1])}`).join(" ")} />`}
      ${onCorner ? area.map((each, index) => html`<circle key=${index} class="corner" cx=${x(each[0])} cy=${y(each[1])} r="5" />`) : places.map((each) => html`<a key=${each.id} href=${each.href} aria-label=${`${each.title}: ${placeText(each.place)}`}><circle class="place" cx=${x(each.place[0])} cy=${y(each.place[1])} r="7" style=${{ fill: each.color }}><title>${each.title}</title></circle></a>`)}</svg>
    <div class="map-zoom"><${Button} icon="zoom_in" title=${text.mapCloser} onClick=${() => move(0, 0, 2)} /><${Button} icon="zoom_out" title=${text.mapWider} onClick=${() => move(0, 0, 0.5)} /></div></div>`;
}

/** @param {number} value @param {number} most */
const within = (value, most) => Math.min(most, Math.max(-most, value));

/** @param {number} value */
const rounded = (value) => Number(value.toFixed(5));

/** What lies below the coastline. @param {{x: (value: number) => number, y: (value: number) => number, zoom: number, centre: Place}} props */
function Tiles({ x, y, zoom, centre }) {
  const [wide, high] = [180 / zoom, 90 / zoom];
  const window_ = { west: centre[0] - wide, east: centre[0] + wide, south: centre[1] - high, north: centre[1] + high };
  return html`<g class="tiles" aria-hidden="true">${tilesOf(window_, zoom).map(({ address, west, east, strips }) =>
    strips.map(
      ({ north, south, from, share }, at) =>
        html`<svg key=${`${address}/${at}`} x=${x(west)} width=${x(east) - x(west)} y=${y(north)} height=${y(south) - y(north)} viewBox=${`0 ${from} 1 ${share}`} preserveAspectRatio="none"><image href=${address} width="1" height="1" preserveAspectRatio="none" /></svg>`,
    ),
  )}</g>`;
}

/** Meridians and parallels. @param {{x: (value: number) => number, y: (value: number) => number, zoom: number, centre: Place}} props */
function Lines({ x, y, zoom, centre }) {
  const wide = 360 / zoom,
    step = STEPS.find((each) => wide / each >= 6) ?? STEPS[STEPS.length - 1];
  const lines = (/** @type {number} */ middle, /** @type {number} */ length, /** @type {number} */ most) => {
    const first = Math.ceil(Math.max(-most, middle - length / 2) / step),
      last = Math.floor(Math.min(most, middle + length / 2) / step);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => rounded((first + index) * step));
  };
  return html`<g class="lines" aria-hidden="true">${lines(centre[0], wide, 180).map((each) => html`<line key=${`x${each}`} x1=${x(each)} x2=${x(each)} y1="0" y2=${HEIGHT} /><text key=${`tx${each}`} x=${x(each) + 4} y=${HEIGHT - 6}>${each}°</text>`)}
    ${lines(centre[1], wide / 2, 90).map((each) => html`<line key=${`y${each}`} x1="0" x2=${WIDTH} y1=${y(each)} y2=${y(each)} /><text key=${`ty${each}`} x="4" y=${y(each) - 4}>${each}°</text>`)}</g>`;
}
