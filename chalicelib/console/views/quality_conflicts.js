// The work list of a report: conflicts that the address narrows, each drawn on its frame with both versions.
import { get } from "../client.js";
import { classes, html, useEffect, useRef, useState } from "../lib.js";
import { link, setQuery } from "../router.js";
import { project } from "../store.js";
import { quality as words } from "../strings_team.js";
import { hasPlace, MEMBERS, refinedBy } from "../draw/geometry.js";
import { drawPair, MINE, THEIRS } from "../draw/pair.js";
import { Button } from "../ui/controls.js";
import { Icon } from "../ui/icons.js";
import { useKeys } from "../ui/keys.js";
import { picture } from "../ui/pictures.js";
import { Await, useAsync } from "../ui/states.js";
import { layerName } from "./quality.js";
import { mediaById, personName } from "./team_head.js";

const MOST = 300;

/** @param {{result: any, query: Record<string, string>}} props */
export function Conflicts({ result, query }) {
  const { labels } = result.confusion;
  const isMeant = (/** @type {any} */ each) =>
    ["kind", "row", "column", "user", "media"].every((name) => !query[name] || String(each[name]) === query[name]);
  const found = result.conflicts.filter(isMeant);
  const [at, setAt] = useState(0);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const narrowing = [query.kind, query.row, query.column, query.user, query.media].join();
  useEffect(() => setAt(0), [narrowing, result]);
  const shown = found.slice(0, MOST);
  const chosen = shown[Math.min(at, shown.length - 1)];
  const media = useAsync(
    (signal) =>
      mediaById(
        shown.map((/** @type {any} */ each) => each.media),
        signal,
      ),
    [narrowing, result],
  );
  const nameOf = (/** @type {any} */ each) => media.value?.get(each.media)?.name ?? words.mediaNumber(each.media);
  const label = (/** @type {number} */ place) =>
    place < labels.length ? labels[place] || words.noClass : words.noPartner;
  const step = (/** @type {number} */ by) => () => {
    const next = Math.max(0, Math.min(shown.length - 1, at + by));
    setAt(next);
    list.current?.children[next]?.scrollIntoView({ block: "nearest" });
  };
  useKeys({
    ArrowDown: step(1),
    ArrowUp: step(-1),
    j: step(1),
    k: step(-1),
    Enter: (event) => {
      const control = /** @type {HTMLElement} */ (event.target).closest("a, button");
      if (control && !list.current?.contains(control)) /** @type {HTMLElement} */ (control).click();
      else if (chosen) location.hash = conflictLink(result, chosen).slice(1);
    },
  });
  return html`<section class="card panel column quality-conflicts" aria-label=${words.conflicts}>
    <header class="row"><h3 class="grow">${words.conflicts}</h3><span class="chip number">${words.ofAll(found.length, result.conflict_count)}</span>
      ${narrowing.replaceAll(",", "") && html`<${Button} small onClick=${() => setQuery({ kind: "", row: "", column: "", user: "", media: "" })}>${words.showAll}<//>`}</header>
    <p class="muted small">${words.conflictKeys}</p>
    ${chosen ? html`<${Both} key=${`${chosen.reference_id}/${chosen.id}`} result=${result} conflict=${chosen} />` : html`<p class="muted">${words.noConflicts}</p>`}
    <ul class="list conflict-list" ref=${list}>${shown.map(
      (/** @type {any} */ each, /** @type {number} */ index) =>
        html`<li key=${index}><button type="button" class=${classes("item", index === at && "chosen")} aria-pressed=${index === at} onClick=${() => setAt(index)}>
      <${Icon} name=${{ missing: "hidden", extra: "add", class: "tag" }[/** @type {"missing" | "extra" | "class"} */ (each.kind)]} /><span class="grow cut">${words.kinds[/** @type {keyof typeof words.kinds} */ (each.kind)]}: ${each.kind === "class" ? words.instead(label(each.column), label(each.row)) : label(each.kind === "missing" ? each.row : each.column)}</span>
      <span class="muted small cut">${nameOf(each)}</span><span class="number muted small">${words.frame(each.frame)}</span></button></li>`,
    )}</ul></section>`;
}

/** The frame of a conflict, with both layers and the shape selected. @param {any} result @param {any} conflict */
const conflictLink = (result, conflict) =>
  link(`/projects/${project.value?.id}/media/${conflict.media}`, {
    frame: conflict.frame || "",
    version: conflict.id ? result.version : result.reference,
    select: conflict.id ?? conflict.reference_id,
  });

/** Both versions on their frame: the reference dashed. @param {{result: any, conflict: any}} props */
function Both({ result, conflict }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const found = useAsync(
    async (signal) => {
      const read = (/** @type {number | null} */ id) => id && get(`Localization/${id}`, {}, { signal });
      const [reference, other, url] = await Promise.all([
        read(conflict.reference_id),
        read(conflict.id),
        picture(`GetFrame/${conflict.media}`, { frames: conflict.frame, quality: 720 }, signal),
      ]);
      const image = new Image();
      image.src = url;
      await image.decode();
      const version = (
        /** @type {any} */ row,
        /** @type {string} */ color,
        /** @type {number} */ layer,
        /** @type {boolean} */ isComputed,
      ) =>
        row && {
          kind: kindOf(row),
          shape: shapeOf(row),
          skeleton: typeOf(row)?.skeleton,
          color,
          label: layerName(layer),
          isComputed,
        };
      const versions = [
        version(reference, THEIRS, result.reference, true),
        version(other, MINE, result.version, false),
      ];
      return { image, versions: versions.filter((each) => each && hasPlace(each.shape)) };
    },
    [conflict],
  );
  useEffect(() => {
    if (found.value?.versions.length && canvas.current)
      drawPair(canvas.current, found.value.image, found.value.versions);
  }, [found.value]);
  const who = conflict.user ? words.by(personName(conflict.user)) : "";
  return html`<figure class="conflict-both"><${Await} of=${found}>${() => html`<canvas class="conflict-picture" ref=${canvas} role="img" aria-label=${words.bothDrawn} />`}<//>
    <figcaption class="row wrap small"><span class="reference-mark">${layerName(result.reference)}</span><span class="other-mark">${layerName(result.version)}</span><span class="grow">${who}</span><${Button} small icon="next" href=${conflictLink(result, conflict)}>${words.openFrame(conflict.frame)}<//></figcaption></figure>`;
}

/** @param {any} row @returns {import("../draw/geometry.js").Kind} */
const kindOf = (row) => typeOf(row)?.dtype ?? "box";

const typeOf = (/** @type {any} */ row) =>
  project.value?.localizationTypes.find((/** @type {any} */ type) => type.id === row.type);

/** @param {any} row @returns {any} */
const shapeOf = (row) => ({
  ...Object.fromEntries(
    MEMBERS[kindOf(row)].map((name) => [name, row[name] ?? undefined]).filter(([, value]) => value !== undefined),
  ),
  ...refinedBy(row),
});
