// Counts as surveys report them: MaxN and MeanCount of each label by media or dive, how labels accumulate, and time at depth.
import { get, request } from "../client.js";
import { html, useMemo, useState } from "../lib.js";
import { link, setQuery } from "../router.js";
import { project } from "../store.js";
import { text } from "../strings.js";
import { settings } from "../strings_settings.js";
import { Button, Select, TextField } from "../ui/controls.js";
import { saveBlob } from "../ui/files.js";
import { decimal, number } from "../ui/format.js";
import { Await, useAsync } from "../ui/states.js";
import { toastError } from "../ui/toast.js";

const words = settings.sightings;
const MOST_ROWS = 200;
const MOST_BARS = 16;
const [WIDE, HIGH] = [600, 220];
const BAR = 22;

/** @param {string} operation @param {Record<string, any>} query @param {string} name */
const download = (operation, query, name) =>
  request("GET", `${operation}/${/** @type {any} */ (project.value).id}`, {
    query: { ...query, format: "csv" },
    as: "blob",
  })
    .then((content) => saveBlob(content, name))
    .catch(toastError);

/** @param {{project: number, label: string, filter: {type?: number, search?: string}, unit?: string}} props `label` is the attribute with what was seen, `unit` one of media such as the dive */
export function Sightings({ project: number_, label, filter, unit }) {
  const units = unitsOf();
  const by = unit && units.includes(unit) ? unit : undefined;
  const query = { label, type: filter.type, search: filter.search, unit: by };
  const found = useAsync(
    async (signal) => {
      const [rows, points] = await Promise.all([
        get(`Sightings/${number_}`, query, { signal }),
        get(`SpeciesAccumulation/${number_}`, query, { signal }),
      ]);
      return { rows, points };
    },
    [number_, label, filter.type, filter.search, by],
  );
  const choose =
    units.length > 0 &&
    html`<div class="statistics-bar"><${Select} name=${words.by} value=${by ?? ""} options=${[["", words.byMedia], ...units.map((each) => [each, text.sortBy(each)])]} onChange=${(/** @type {string} */ value) => setQuery({ unit: value })} /></div>`;
  return html`${choose}<${Await} of=${found}>${(/** @type {any} */ { rows, points }) =>
    rows.length > 0 &&
    html`<div class="plots"><figure class="card plot whole sightings"><figcaption class="row"><h2 class="grow">${words.title}</h2><${Button} small icon="download" onClick=${() => download("Sightings", query, "sightings.csv")}>${text.downloadCsv}<//></figcaption>
      <div class="scroll" tabindex="0" role="group" aria-label=${words.title}><table class="table"><thead><tr>${by && html`<th scope="col">${by}</th>`}<th scope="col">${words.media}</th><th scope="col">${label}</th><th scope="col" class="end">${words.maxn}</th><th scope="col" class="end">${words.mean}</th><th scope="col" class="end">${words.first}</th><th scope="col" class="end">${words.last}</th><th scope="col" class="end">${words.count}</th></tr></thead>
      <tbody>${rows.slice(0, MOST_ROWS).map((/** @type {any} */ row) => html`<tr key=${`${row.unit}/${row.media}/${row.label}`}>${by && html`<td class="cut">${row.unit}</td>`}<td class="cut">${row.name}</td><td>${row.label}</td><td class="end number"><a href=${link(`/projects/${number_}/media/${row.media}`, { frame: row.maxn_frame || "" })}>${number(row.maxn)}</a></td><td class="end number">${decimal(row.mean_count, 3)}</td><td class="end number">${time(row.first_time, row.first_frame)}</td><td class="end number">${time(row.last_time, row.last_frame)}</td><td class="end number">${number(row.count)}</td></tr>`)}</tbody></table></div>
      ${rows.length > MOST_ROWS && html`<p class="muted small">${words.more(number(rows.length - MOST_ROWS))}</p>`}</figure>
    <${Bars} title=${words.maxn} lead=${words.maxnLead} rows=${byLabel(rows, (all) => Math.max(...all.map((row) => row.maxn)))} shown=${number} />
    <${Bars} title=${words.mean} lead=${words.meanLead} rows=${byLabel(rows, (all) => all.reduce((sum, row) => sum + row.mean_count, 0) / all.length)} shown=${(/** @type {number} */ value) => decimal(value, 3)} />
    <${Accumulation} points=${points} query=${query} /></div>`}<//><${Depths} number_=${number_} />`;
}

/** The attributes of media by which dives are told apart. */
const unitsOf = () => [
  ...new Set(
    /** @type {any} */ (project.value).mediaTypes.flatMap((/** @type {any} */ type) =>
      (type.attribute_types ?? [])
        .filter((/** @type {any} */ each) => ["enum", "string", "int", "bool"].includes(each.dtype))
        .map((/** @type {any} */ each) => each.name),
    ),
  ),
];

/** The largest values by label. @param {any[]} rows @param {(rows: any[]) => number} measure @returns {[string, number][]} */
function byLabel(rows, measure) {
  const labels = new Map();
  for (const row of rows) labels.set(row.label, [...(labels.get(row.label) ?? []), row]);
  const found = [...labels].map(([label, all]) => /** @type {[string, number]} */ ([label, measure(all)]));
  return found.sort((one, two) => two[1] - one[1]).slice(0, MOST_BARS);
}

/** Horizontal bars with their values. @param {{title: string, lead?: string, rows: [string, number][], shown: (value: number) => string}} props */
function Bars({ title, lead, rows, shown }) {
  const most = Math.max(...rows.map(([, value]) => value)) || 1;
  return html`<figure class="card plot"><figcaption><h2>${title}</h2>${lead && html`<span class="muted small">${lead}</span>`}</figcaption>
    <svg class="counted" viewBox=${`0 0 ${WIDE} ${rows.length * BAR}`} role="img" aria-label=${`${title}: ${rows.map(([name, value]) => `${name} ${shown(value)}`).join(", ")}`}>${rows.map(
      (
        [name, value],
        at,
      ) => html`<g key=${name}><title>${name}</title><text x="0" y=${at * BAR + 15}>${name.length > 22 ? `${name.slice(0, 21)}…` : name}</text>
      <rect x="180" y=${at * BAR + 3} height=${BAR - 8} width=${Math.max(1, (value / most) * 340)} rx="3" /><text x=${186 + (value / most) * 340} y=${at * BAR + 15}>${shown(value)}</text></g>`,
    )}</svg></figure>`;
}

/** Seconds, or the number of the frame where the media has no rate. @param {number | null | undefined} seconds @param {number} frame */
const time = (seconds, frame) => (typeof seconds === "number" ? `${decimal(seconds, 1)} s` : `#${frame}`);

/** @param {{points: {samples: number, labels: number, chao2?: number | null}[], query: Record<string, any>}} props */
function Accumulation({ points, query }) {
  const estimate = points[points.length - 1]?.chao2 ?? 0;
  const most = Math.max(1, estimate, ...points.map((point) => point.labels));
  const line = useMemo(() => {
    const x = (/** @type {number} */ samples) => (samples / points.length) * WIDE;
    const y = (/** @type {number} */ labels) => HIGH - (labels / most) * HIGH;
    return [[0, 0], ...points.map((point) => [point.samples, point.labels])].map(([one, two]) => `${x(one)},${y(two)}`);
  }, [points, most]);
  const last = points[points.length - 1];
  const said = (query.unit ? words.accumulatedBy : words.accumulated)(
    number(last.samples),
    decimal(last.labels, 1),
    decimal(estimate, 1),
  );
  return html`<figure class="card plot whole"><figcaption class="row"><h2 class="grow">${words.accumulation}</h2><${Button} small icon="download" aria-label=${words.csvOf(words.accumulation)} onClick=${() => download("SpeciesAccumulation", query, "accumulation.csv")}>CSV<//></figcaption>
    <svg class="accumulation" viewBox="0 0 ${WIDE} ${HIGH}" role="img" aria-label=${said} preserveAspectRatio="none">
      <line x1="0" x2=${WIDE} y1=${HIGH - (estimate / most) * HIGH} y2=${HIGH - (estimate / most) * HIGH} class="estimate" /><polyline points=${line.join(" ")} /></svg>
    <p class="muted small">${said}</p></figure>`;
}

/** Time at depth, from telemetry with a name that media share. @param {{number_: number}} props the project */
function Depths({ number_ }) {
  const [form, setForm] = useState({ file: "", column: "depth", width: "10" });
  const [asked, setAsked] = useState(/** @type {Record<string, string> | null} */ (null));
  const found = useAsync(
    (signal) => (asked ? get(`TimeAtDepth/${number_}`, asked, { signal }) : Promise.resolve(null)),
    [asked],
  );
  const field = (/** @type {keyof typeof form} */ name, /** @type {string} */ label) =>
    html`<${TextField} label=${label} value=${form[name]} onInput=${(/** @type {string} */ value) => setForm({ ...form, [name]: value })} />`;
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    setAsked({ ...form });
  };
  return html`<section class="card plot depths" aria-label=${words.depths}><h2>${words.depths}</h2><form class="row" onSubmit=${send}>${field("file", words.depthFile)}${field("column", words.depthColumn)}${field("width", words.depthWidth)}
      <${Button} type="submit" disabled=${!form.file.trim() || !form.column.trim()}>${words.depthShow}<//>${asked && html`<${Button} icon="download" aria-label=${words.csvOf(words.depths)} onClick=${() => download("TimeAtDepth", asked, "depths.csv")}>CSV<//>`}</form>
    ${asked && html`<${Await} of=${found}>${(/** @type {any[] | null} */ rows) => rows && html`<${Bars} title=${words.depthMinutes} rows=${rows.map((row) => [`${decimal(row.depth, 1)} – ${decimal(row.depth + Number(asked.width), 1)}`, row.seconds / 60])} shown=${(/** @type {number} */ value) => decimal(value, 1)} />`}<//>`}</section>`;
}
