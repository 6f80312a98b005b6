// Plots of a project: annotations by label, over time, per person; media by attribute.
import { get, request } from "../client.js";
import { locale } from "../locale.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../lib.js";
import { setQuery } from "../router.js";
import { colorOf, isDark, project, typeById } from "../store.js";
import { text } from "../strings.js";
import { Button, Select } from "../ui/controls.js";
import { saveBlob } from "../ui/files.js";
import { number, valueText } from "../ui/format.js";
import { allOf, fieldsOf } from "../ui/search.js";
import { SearchBox } from "../ui/search_box.js";
import { Await, Empty, useAsync } from "../ui/states.js";
import { explain, toastError } from "../ui/toast.js";
import { Sightings } from "./statistics_sightings.js";

const MOST_BARS = 16;

/** @param {{query: Record<string, string>}} props */
export default function Statistics({ query }) {
  const open = /** @type {any} */ (project.value);
  const kind = query.kind === "media" ? "media" : "localization";
  const list = kind === "media" ? "mediaTypes" : "localizationTypes",
    types = open[list];
  const type = types.find((/** @type {any} */ each) => String(each.id) === query.type);
  const fields = useMemo(() => fieldsOf(type ? [type] : types, kind), [kind, type, types]);
  const names = [
    ...new Set(
      (type ? [type] : types).flatMap((/** @type {any} */ each) =>
        (each.attribute_types ?? [])
          .filter((/** @type {any} */ attribute) => ["enum", "bool", "string"].includes(attribute.dtype))
          .map((/** @type {any} */ attribute) => attribute.name),
      ),
    ),
  ];
  const by = names.includes(query.by) ? query.by : "$type";
  const filter = { kind, type: type?.id, search: allOf(query.search ?? "") };
  const ask = (/** @type {AbortSignal} */ signal, /** @type {string[]} */ groups, /** @type {any} */ more = {}) =>
    get(`Statistics/${open.id}`, { ...filter, group_by: groups, ...more }, { signal });
  const found = useAsync(
    async (signal) => {
      const [labels, days, people] = await Promise.all([
        ask(signal, [by], { order_by: "-count", limit: MOST_BARS }),
        ask(signal, ["$created_datetime::day"], { order_by: "$created_datetime::day" }),
        ask(signal, ["$created_by"], { order_by: "-count", limit: MOST_BARS }),
      ]);
      return { labels, days, people, kind, by, list };
    },
    [open.id, kind, type?.id, query.search, by],
  );
  const nameOf = (/** @type {number} */ id) =>
    open.members.find((/** @type {any} */ each) => each.user === id)?.username ?? text.userNumber(id);
  const labelOf = (/** @type {any} */ shown, /** @type {any} */ value) =>
    value === null || value === undefined
      ? text.withoutValue
      : shown.by === "$type"
        ? (typeById(shown.list, value)?.name ?? String(value))
        : valueText(value);
  const download = async () => {
    try {
      const content = await request("GET", `Statistics/${open.id}`, {
        query: { ...filter, group_by: [by], format: "csv" },
        as: "blob",
      });
      saveBlob(content, "statistics.csv");
    } catch (failure) {
      toastError(failure);
    }
  };
  const isWrong = found.failure?.status === 400;
  return html`<div class="page wide"><header><h1>${text.tabs.statistics}</h1><${Button} icon="download" onClick=${download}>${text.downloadCsv}<//></header>
    <div class="statistics-bar"><${Select} name=${text.kind} value=${kind} options=${[["localization", text.annotations], ["media", text.tabs.media]]} onChange=${(/** @type {string} */ value) => setQuery({ kind: value, type: "", by: "" })} />
      <${Select} name=${text.types} value=${type?.id ?? ""} options=${[["", text.allTypes], ...types.map((/** @type {any} */ each) => [each.id, each.name])]} onChange=${(/** @type {string} */ value) => setQuery({ type: value, by: "" })} />
      <${Select} name=${text.groupBy} value=${by} options=${[["$type", text.byType], ...names.map((name) => [name, text.sortBy(name)])]} onChange=${(/** @type {string} */ value) => setQuery({ by: value })} />
      <${SearchBox} value=${query.search ?? ""} fields=${fields} placeholder=${text.search} error=${isWrong ? explain(found.failure) : ""} onSearch=${(/** @type {string} */ search) => setQuery({ search })} /></div>
    <${Await} of=${isWrong ? { value: found.value ?? null } : found}>${(/** @type {any} */ value) =>
      !value || value.labels.matched === 0
        ? html`<${Empty} icon="plot" title=${text.noMatch} />`
        : html`
      <p class="statistics-total"><strong class="number">${number(value.labels.matched)}</strong> <span class="muted">${value.kind === "media" ? text.tabs.media : text.annotations}</span></p>
      <div class="plots"><${Bars} title=${value.by === "$type" ? text.byType : text.sortBy(value.by)} total=${value.labels.matched} rows=${value.labels.rows.map((/** @type {any} */ row) => ({ name: labelOf(value, row[value.by]), count: row.count, color: barColor(value.by, row[value.by], type, value.list) }))} />
        <${Bars} title=${text.byPerson} total=${value.people.matched} rows=${value.people.rows.map((/** @type {any} */ row) => ({ name: nameOf(row.$created_by), count: row.count }))} />
        <${Line} title=${text.overTime} rows=${value.days.rows.map((/** @type {any} */ row) => [Date.parse(row["$created_datetime::day"]) / 1000, row.count])} /></div>
      ${kind === "localization" && by !== "$type" && html`<${Sightings} project=${open.id} label=${by} filter=${filter} unit=${query.unit} />`}`}<//></div>`;
}

/** @param {string} by @param {any} value @param {any} type @param {"mediaTypes" | "localizationTypes"} list */
const barColor = (by, value, type, list) =>
  by === "$type"
    ? colorOf(typeById(list, value))
    : type?.color_map?.key === by
      ? colorOf(type, { [by]: value })
      : undefined;

/** @param {{title: string, total: number, rows: {name: string, count: number, color?: string}[]}} props the largest groups of `total` */
function Bars({ title, total, rows }) {
  const left = rows.length < MOST_BARS ? 0 : total - rows.reduce((sum, row) => sum + row.count, 0);
  const largest = Math.max(1, ...rows.map((row) => row.count));
  return html`<figure class="card plot"><figcaption><h2>${title}</h2></figcaption><ul class="bars">${rows.map((row) => html`<li key=${row.name}><span class="cut" title=${row.name}>${row.name}</span><span class="bar-track"><span style=${{ width: `${(row.count / largest) * 100}%`, background: row.color ?? "var(--accent)" }} /></span><span class="number">${number(row.count)}</span></li>`)}</ul>${left > 0 && html`<p class="muted small">${text.otherGroups(number(left))}</p>`}</figure>`;
}

/** Counts over days, drawn by uPlot. @param {{title: string, rows: [number, number][]}} props */
function Line({ title, rows }) {
  const host = useRef(/** @type {HTMLElement | null} */ (null));
  const [library, setLibrary] = useState(/** @type {any} */ (null));
  const dark = isDark.value;
  useEffect(() => {
    import("../vendor/uplot.js").then((module) => setLibrary(() => module.default), toastError);
  }, []);
  useLayoutEffect(() => {
    const element = host.current;
    if (!library || !element) return undefined;
    const style = getComputedStyle(document.documentElement),
      color = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    const axis = {
      stroke: color("--text-2"),
      grid: { stroke: color("--line"), width: 1 },
      ticks: { stroke: color("--line"), width: 1 },
    };
    const day = 86400,
      points = [[rows[0][0] - 3 * day, null], ...rows, [rows[rows.length - 1][0] + 3 * day, null]];
    const plot = new library(
      {
        width: element.clientWidth,
        height: 260,
        cursor: { y: false },
        legend: { live: false, show: false },
        axes: [
          {
            ...axis,
            incrs: [day, 2 * day, 7 * day, 30 * day, 91 * day, 365 * day],
            values: (/** @type {any} */ _, /** @type {number[]} */ at) =>
              at.map((each) =>
                new Date(each * 1000).toLocaleDateString(locale, { month: "short", day: "numeric", timeZone: "UTC" }),
              ),
          },
          { ...axis, size: 56 },
        ],
        scales: {
          y: {
            range: (/** @type {any} */ _, /** @type {number} */ low, /** @type {number} */ high) => [
              0,
              Math.max(1, high) * 1.1,
            ],
          },
        },
        series: [
          {},
          {
            label: title,
            stroke: color("--accent"),
            fill: color("--accent-soft"),
            width: 2,
            points: { show: false },
            paths: library.paths.bars({ size: [0.7, 64] }),
          },
        ],
      },
      [points.map((row) => row[0]), points.map((row) => row[1])],
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: 260 }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [library, rows, dark]);
  return html`<figure class="card plot whole"><figcaption><h2>${title}</h2></figcaption><div ref=${host} role="img" aria-label=${`${title}: ${text.daysOf(rows.length)}`} /></figure>`;
}
