// The numbers of a quality report. Each is a link that narrows the list of conflicts to those that it counts.
import { html } from "../lib.js";
import { link, route, setQuery } from "../router.js";
import { classes } from "../lib.js";
import { quality as words } from "../strings_team.js";
import { Select } from "../ui/controls.js";
import { decimal, number } from "../ui/format.js";
import { useAsync } from "../ui/states.js";
import { Conflicts } from "./quality_conflicts.js";
import { layerName } from "./quality.js";
import { mediaById, personName } from "./team_head.js";

const MOST_MEDIA = 20;
const percent = (/** @type {number | null} */ value) => (value === null ? "–" : `${decimal(value * 100, 1)} %`);
const two = (/** @type {number | null} */ value) => (value === null ? "–" : decimal(value, 2));

/** Members of the address that narrow the conflicts. */
const NARROWING = ["kind", "row", "column", "user", "media"];

/** @param {{report: any, query: Record<string, string>}} props */
export function Report({ report, query }) {
  const results = report.results ?? [];
  const at = Math.min(Number(query.pair) || 0, results.length - 1);
  const result = results[at];
  const worst = result?.media.slice(0, MOST_MEDIA) ?? [];
  const media = useAsync(
    (signal) =>
      mediaById(
        worst.map((/** @type {any} */ each) => each.media),
        signal,
      ),
    [result],
  );
  if (!result) return null;
  const pairs = results.map((/** @type {any} */ each, /** @type {number} */ index) => [
    index,
    words.pair(layerName(each.reference), layerName(each.version)),
  ]);
  return html`${results.length > 1 && html`<div><${Select} name=${words.pairs} value=${at} options=${pairs} onChange=${(/** @type {string} */ pair) => setQuery({ ...none(), pair })} /></div>`}
    <${Numbers} report=${report} result=${result} />
    <div class="quality-parts"><div class="column quality-tables"><${Matrix} result=${result} query=${query} />
      <${Tally} title=${words.people} of=${words.person} rows=${result.people} keyOf=${(/** @type {any} */ row) => ({ user: row.user })} nameOf=${(/** @type {any} */ row) => personName(row.user)} />
      <${Tally} title=${words.byClass} of=${words.class} rows=${result.classes} keyOf=${(/** @type {any} */ row) => ({ class: row.class })} nameOf=${(/** @type {any} */ row) => row.class || words.noClass} labels=${result.confusion.labels} />
      <${Tally} title=${words.worstMedia} of=${words.media} rows=${worst} keyOf=${(/** @type {any} */ row) => ({ media: row.media })} nameOf=${(/** @type {any} */ row) => media.value?.get(row.media)?.name ?? words.mediaNumber(row.media)} />
      <${Weeks} weeks=${result.weeks ?? []} /></div>
      <${Conflicts} result=${result} query=${query} /></div>`;
}

const none = () => Object.fromEntries(NARROWING.map((name) => [name, ""]));

/** A link to the conflicts that a number counts. @param {{query: Record<string, any>, children?: any}} props */
const Count = ({ query, children }) => {
  const { path, query: now } = route.value;
  const address = link(path, { pair: now.pair, ...query });
  return html`<a class="count-link" href=${address} aria-current=${location.hash === address ? "true" : undefined}>${children}</a>`;
};

/** @param {{report: any, result: any}} props */
function Numbers({ report, result }) {
  const { overall } = result;
  const counted = (/** @type {"missing" | "extra"} */ kind, /** @type {string} */ name) =>
    overall[kind] ? html`<${Count} query=${{ kind }}>${name}<//>` : name;
  const [low, high] = report.alpha_interval ?? [];
  const items = [
    [words.f1, percent(overall.f1), ""],
    [words.precision, percent(overall.precision), counted("extra", words.extraCount(overall.extra))],
    [words.recall, percent(overall.recall), counted("missing", words.missingCount(overall.missing))],
    [words.meanIou, two(overall.mean_iou), words.pairsCount(overall.matched)],
    [words.kappa, two(result.kappa), html`<${Count} query=${{ kind: "class" }}>${words.classCount}<//>`],
    [words.alpha, two(report.alpha), low === undefined ? "" : words.interval(two(low), two(high))],
    ...(result.tracks
      ? [
          [words.hota, percent(result.tracks.hota), words.association(percent(result.tracks.association))],
          [words.idf1, percent(result.tracks.idf1), ""],
        ]
      : []),
    ...(result.states ? [[words.inTime, percent(result.states.agreement), words.ofFrames]] : []),
  ];
  return html`<dl class="quality-numbers">${items.map(([name, value, more]) => html`<div class="card panel" key=${name}><dt class="muted small">${name}</dt><dd class="number">${value}</dd>${more && html`<dd class="small">${more}</dd>`}</div>`)}</dl>`;
}

/** @param {{result: any, query: Record<string, string>}} props */
function Matrix({ result, query }) {
  const { labels, matrix } = result.confusion;
  const names = [...labels.map((/** @type {string} */ label) => label || words.noClass), words.noPartner];
  const most = Math.max(1, ...matrix.flat());
  const cell = (/** @type {number} */ count, /** @type {number} */ row, /** @type {number} */ column) => {
    const isSame = row === column;
    const kind = isSame ? "same" : "other";
    const isChosen = query.row === String(row) && query.column === String(column);
    return html`<td key=${column} class=${classes("end number cell", count > 0 && kind, isChosen && "chosen")} style=${{ "--share": count ? 0.12 + 0.6 * Math.sqrt(count / most) : 0 }}>${count && !isSame ? html`<${Count} query=${{ row, column }}>${number(count)}<//>` : count ? number(count) : ""}</td>`;
  };
  return html`<section class="card panel column"><h3>${words.matrix}</h3><p class="muted small">${words.matrixLead(layerName(result.reference), layerName(result.version))}</p>
    <div class="scroll"><table class="matrix"><thead><tr><td />${names.map((name) => html`<th key=${name} scope="col" class="end"><span class="cut">${name}</span></th>`)}</tr></thead>
    <tbody>${matrix.map((/** @type {number[]} */ counts, /** @type {number} */ row) => html`<tr key=${row}><th scope="row"><span class="cut">${names[row]}</span></th>${counts.map((count, column) => cell(count, row, column))}</tr>`)}</tbody></table></div></section>`;
}

/**
 * @param {{title: string, of: string, rows: any[], keyOf: (row: any) => Record<string, any>, nameOf: (row: any) => string, labels?: string[]}} props
 *   with `labels` the rows are classes: places of the confusion
 */
function Tally({ title, of, rows, keyOf, nameOf, labels }) {
  if (!rows.length) return null;
  const narrowed = (/** @type {any} */ row, /** @type {"missing" | "extra"} */ kind) => {
    if (!labels) return { ...keyOf(row), kind };
    const place = labels.indexOf(row.class);
    return { kind, [kind === "missing" ? "row" : "column"]: place };
  };
  const isOfPeople = "user" in keyOf(rows[0]);
  const count = (/** @type {any} */ row, /** @type {"missing" | "extra"} */ kind) =>
    row[kind] ? html`<${Count} query=${narrowed(row, kind)}>${number(row[kind])}<//>` : "0";
  return html`<section class="card panel column"><h3>${title}</h3><div class="scroll"><table class="table"><thead><tr><th scope="col">${of}</th><th class="end" scope="col">${words.matched}</th>${!isOfPeople && html`<th class="end" scope="col">${words.missing}</th>`}<th class="end" scope="col">${words.extra}</th><th class="end" scope="col">${words.precision}</th>${!isOfPeople && html`<th class="end" scope="col">${words.recall}</th>`}<th class="end" scope="col">${words.meanIou}</th></tr></thead>
    <tbody>${rows.map(
      (row) =>
        html`<tr key=${JSON.stringify(keyOf(row))}><th scope="row">${isOfPeople || labels ? nameOf(row) : html`<${Count} query=${keyOf(row)}>${nameOf(row)}<//>`}</th><td class="end number">${number(row.matched)}</td>${!isOfPeople && html`<td class="end number">${count(row, "missing")}</td>`}<td class="end number">${count(row, "extra")}</td><td class="end number">${percent(row.precision)}</td>${!isOfPeople && html`<td class="end number">${percent(row.recall)}</td>`}<td class="end number">${two(row.mean_iou)}</td></tr>`,
    )}</tbody></table></div></section>`;
}

/** The trend: precision by the week in which shapes were made. @param {{weeks: any[]}} props */
function Weeks({ weeks }) {
  if (!weeks.length) return null;
  return html`<section class="card panel column"><h3>${words.trend}</h3><ul class="bars weeks">${weeks.map(
    (each) =>
      html`<li key=${each.week}><span>${each.week}</span><span class="bar-track"><span style=${{ width: `${(each.precision ?? 0) * 100}%`, background: "var(--accent)" }} /></span><span class="number">${percent(each.precision)}</span><span class="number muted small">${words.shapes(each.matched + each.extra)}</span></li>`,
  )}</ul></section>`;
}
