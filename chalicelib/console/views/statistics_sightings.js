// Counts as surveys report them: MaxN and MeanCount of each label on each media, and how labels accumulate.
import { get, request } from "../client.js";
import { html, useMemo } from "../lib.js";
import { link } from "../router.js";
import { text } from "../strings.js";
import { settings } from "../strings_settings.js";
import { Button } from "../ui/controls.js";
import { saveBlob } from "../ui/files.js";
import { decimal, number } from "../ui/format.js";
import { Await, useAsync } from "../ui/states.js";
import { toastError } from "../ui/toast.js";

const words = settings.sightings;
const MOST_ROWS = 200;
const [WIDE, HIGH] = [600, 220];

/** @param {{project: number, label: string, filter: {type?: number, search?: string}}} props `label` is the attribute with what was seen */
export function Sightings({ project, label, filter }) {
  const query = { label, type: filter.type, search: filter.search };
  const found = useAsync(
    async (signal) => {
      const [rows, points] = await Promise.all([
        get(`Sightings/${project}`, query, { signal }),
        get(`SpeciesAccumulation/${project}`, query, { signal }),
      ]);
      return { rows, points };
    },
    [project, label, filter.type, filter.search],
  );
  const download = () =>
    request("GET", `Sightings/${project}`, { query: { ...query, format: "csv" }, as: "blob" })
      .then((content) => saveBlob(content, "sightings.csv"))
      .catch(toastError);
  return html`<${Await} of=${found}>${(/** @type {any} */ { rows, points }) =>
    rows.length > 0 &&
    html`<div class="plots"><figure class="card plot whole sightings"><figcaption class="row"><h2 class="grow">${words.title}</h2><${Button} small icon="download" onClick=${download}>${text.downloadCsv}<//></figcaption>
      <div class="scroll" tabindex="0" role="group" aria-label=${words.title}><table class="table"><thead><tr><th scope="col">${words.media}</th><th scope="col">${label}</th><th scope="col" class="end">${words.maxn}</th><th scope="col" class="end">${words.mean}</th><th scope="col" class="end">${words.first}</th><th scope="col" class="end">${words.last}</th><th scope="col" class="end">${words.count}</th></tr></thead>
      <tbody>${rows.slice(0, MOST_ROWS).map((/** @type {any} */ row) => html`<tr key=${`${row.media}/${row.label}`}><td class="cut">${row.name}</td><td>${row.label}</td><td class="end number"><a href=${link(`/projects/${project}/media/${row.media}`, { frame: row.maxn_frame || "" })}>${number(row.maxn)}</a></td><td class="end number">${decimal(row.mean_count, 3)}</td><td class="end number">${time(row.first_time, row.first_frame)}</td><td class="end number">${time(row.last_time, row.last_frame)}</td><td class="end number">${number(row.count)}</td></tr>`)}</tbody></table></div>
      ${rows.length > MOST_ROWS && html`<p class="muted small">${words.more(number(rows.length - MOST_ROWS))}</p>`}</figure>
    <${Accumulation} points=${points} /></div>`}<//>`;
}

/** Seconds, or the number of the frame where the media has no rate. @param {number | null | undefined} seconds @param {number} frame */
const time = (seconds, frame) => (typeof seconds === "number" ? `${decimal(seconds, 1)} s` : `#${frame}`);

/** @param {{points: {samples: number, labels: number, chao2?: number | null}[]}} props */
function Accumulation({ points }) {
  const estimate = points[points.length - 1]?.chao2 ?? 0;
  const most = Math.max(1, estimate, ...points.map((point) => point.labels));
  const line = useMemo(() => {
    const x = (/** @type {number} */ samples) => (samples / points.length) * WIDE;
    const y = (/** @type {number} */ labels) => HIGH - (labels / most) * HIGH;
    return [[0, 0], ...points.map((point) => [point.samples, point.labels])].map(([one, two]) => `${x(one)},${y(two)}`);
  }, [points, most]);
  const last = points[points.length - 1];
  return html`<figure class="card plot whole"><figcaption><h2>${words.accumulation}</h2></figcaption>
    <svg class="accumulation" viewBox="0 0 ${WIDE} ${HIGH}" role="img" aria-label=${words.accumulated(number(last.samples), decimal(last.labels, 1), decimal(estimate, 1))} preserveAspectRatio="none">
      <line x1="0" x2=${WIDE} y1=${HIGH - (estimate / most) * HIGH} y2=${HIGH - (estimate / most) * HIGH} class="estimate" /><polyline points=${line.join(" ")} /></svg>
    <p class="muted small">${words.accumulated(number(last.samples), decimal(last.labels, 1), decimal(estimate, 1))}</p></figure>`;
}
