// Decide about annotations: their crops side by side, accepted, rejected or commented by key.
import { blob, get, request } from "../client.js";
import { classes, html, useEffect, useRef, useState } from "../lib.js";
import { link } from "../router.js";
import { colorOf, may, project } from "../store.js";
import { review as words } from "../strings_annotate.js";
import { Button, Dot, Segmented, Select } from "../ui/controls.js";
import { prompt } from "../ui/dialog.js";
import { Icon } from "../ui/icons.js";
import { Keys } from "../ui/key_sheet.js";
import { useKeys } from "../ui/keys.js";
import { choice, shown as shownAs, STORED } from "../ui/review_names.js";
import { Await, Empty, useAsync } from "../ui/states.js";
import { toastError } from "../ui/toast.js";
import { valueText } from "../ui/format.js";
import { SEEN } from "../ui/search.js";
import { encoded } from "./review.js";
import { isReviewable } from "../draw/review.js";

const PAGE = 60;
/** How the boxes of a track are shown: one after the other. */
const TRACK = { mode: "animate", fps: 4, length: 16 };
/** @typedef {"Localization" | "State"} Kind */
const DECISIONS = [STORED.open, STORED.accepted, STORED.rejected];

/** @param {{who: string, onChange: () => void}} props `who` made the annotations; "" for everyone */
export function Annotations({ who, onChange }) {
  const open = /** @type {any} */ (project.value);
  const trackTypes = open.stateTypes.filter(
    (/** @type {any} */ each) => each.association === "Localization" && isReviewable(each),
  );
  const [kind, setKind] = useState(/** @type {Kind} */ ("Localization"));
  const types = kind === "State" ? trackTypes : open.localizationTypes.filter(isReviewable);
  const [decision, setDecision] = useState(STORED.open);
  const [type, setType] = useState("");
  const [stop, setStop] = useState(PAGE);
  const [at, setAt] = useState(0);
  const [changed, setChanged] = useState(/** @type {Record<number, any>} */ ({}));
  const grid = useRef(/** @type {HTMLElement | null} */ (null));
  const person = open.members.find((/** @type {any} */ each) => each.username === who);
  const query = {
    attribute: decision ? [`${STORED.attribute}::${decision}`] : [],
    type,
    search: kind === "Localization" ? SEEN : "",
    encoded_search: person ? encoded({ attribute: "$created_by", operation: "eq", value: person.user }) : "",
    stop,
  };
  const found = useAsync(
    async (signal) => ({ kind, items: await get(`${kind}s/${open.id}`, query, { signal }) }),
    [open.id, who, kind, decision, type, stop],
  );
  useEffect(() => {
    setAt(0);
    setChanged({});
    setStop(PAGE);
  }, [open.id, who, kind, decision, type]);
  const shown = found.value?.kind ?? kind; // until they are read, those of before are shown
  const items = (found.value?.items ?? []).map((/** @type {any} */ item) => changed[item.id] ?? item);
  const mayEdit = may("Can Edit");
  const focus = (/** @type {number} */ next) => {
    const index = Math.max(0, Math.min(items.length - 1, next));
    setAt(index);
    /** @type {HTMLElement | undefined} */ (grid.current?.querySelectorAll(".crop")[index])?.focus();
  };
  const set = async (/** @type {any} */ item, /** @type {any} */ attributes) => {
    try {
      const said = await request("PATCH", `${shown}/${item.id}`, {
        body: { attributes },
        headers: { "If-Match": `"${item.modified_datetime}"` },
      });
      setChanged((/** @type {any} */ before) => ({ ...before, [item.id]: said.object }));
      onChange();
    } catch (failure) {
      if (/** @type {any} */ (failure).status === 409) found.again();
      toastError(failure);
    }
  };
  const decide = (/** @type {string} */ value, index = at) => {
    const item = items[index];
    if (!item || !mayEdit) return;
    set(item, { [STORED.attribute]: value });
    focus(index + 1);
  };
  const comment = async (index = at) => {
    const item = items[index];
    if (!item || !mayEdit) return;
    const text = await prompt({
      title: words.comment,
      label: words.commentLabel,
      value: item.attributes[STORED.comment] ?? "",
      action: words.save,
    });
    if (text !== null) set(item, { [STORED.comment]: text });
  };
  const columns = () => {
    const cards = /** @type {HTMLElement[]} */ ([...(grid.current?.querySelectorAll(".crop") ?? [])]);
    return cards.filter((card) => card.offsetTop === cards[0].offsetTop).length || 1;
  };
  const commands = [
    { id: "review.accept", group: "review", label: words.accept, keys: ["a"], run: () => decide(STORED.accepted) },
    { id: "review.reject", group: "review", label: words.reject, keys: ["r"], run: () => decide(STORED.rejected) },
    { id: "review.comment", group: "review", label: words.commentLabel, keys: ["c"], run: () => comment() },
    { id: "review.reopen", group: "review", label: words.reopen, keys: ["o"], run: () => decide(STORED.open) },
  ];
  useKeys({
    ArrowRight: () => focus(at + 1),
    ArrowLeft: () => focus(at - 1),
    ArrowDown: () => focus(at + columns()),
    ArrowUp: () => focus(at - columns()),
  });
  return html`<div class="row wrap">${
    trackTypes.length > 0 &&
    html`<${Segmented} name=${words.kind} value=${kind} options=${[["Localization", words.kinds.Localization], ["State", words.kinds.State]]} onChange=${(
      /** @type {Kind} */ next,
    ) => {
      setKind(next);
      setType("");
    }} />`
  }
      <${Segmented} name=${words.decision} value=${decision} options=${[...DECISIONS.map(choice), ["", words.all]]} onChange=${setDecision} />
      <${Select} name=${words.type} value=${type} class="input type-filter" options=${[["", words.anyType], ...types.map((/** @type {any} */ each) => [each.id, each.name])]} onChange=${setType} /><span class="grow" /><${Keys} commands=${commands} /><span class="muted small">${words.keys}</span></div>
    <${Await} of=${found}>${() =>
      items.length
        ? html`<ul class="crops-review" ref=${grid}>${items.map((/** @type {any} */ item, /** @type {number} */ index) => html`<li key=${item.id}><${Crop} item=${item} kind=${shown} isCurrent=${index === at} onFocus=${() => setAt(index)} mayEdit=${mayEdit} decide=${(/** @type {string} */ value) => decide(value, index)} comment=${() => comment(index)} /></li>`)}</ul>
      ${found.value?.items.length === stop && html`<div><${Button} onClick=${() => setStop(stop + PAGE)}>${words.more}<//></div>`}`
        : html`<${Empty} icon="check" title=${words.nothing}>${words.nothingLead}<//>`}<//>`;
}

/** @param {{item: any, kind: Kind, isCurrent: boolean, onFocus: () => void, mayEdit: boolean, decide: (value: string) => void, comment: () => void}} props */
function Crop({ item, kind, isCurrent, onFocus, mayEdit, decide, comment }) {
  const open = /** @type {any} */ (project.value);
  const frame = item.frame ?? item.segments?.[0]?.[0] ?? 0;
  const type = (kind === "State" ? open.stateTypes : open.localizationTypes).find(
    (/** @type {any} */ each) => each.id === item.type,
  );
  const given = item.attributes[STORED.attribute] ?? STORED.open;
  const text = item.attributes[STORED.comment];
  const [label] = (type?.attribute_types ?? [])
    .filter(
      (/** @type {any} */ each) =>
        ["enum", "string"].includes(each.dtype) && ![STORED.attribute, STORED.comment].includes(each.name),
    )
    .map((/** @type {any} */ each) => valueText(item.attributes[each.name]))
    .filter(Boolean);
  return html`<article class=${classes("crop card", given === STORED.accepted && "accepted", given === STORED.rejected && "rejected")} tabindex=${isCurrent ? 0 : -1} onFocus=${onFocus} aria-label=${`${label ?? type?.name}, ${shownAs(given)}`}>
    <${CropPicture} item=${item} kind=${kind} />
    <div class="row"><${Dot} color=${colorOf(type)} /><span class="grow cut">${label ?? type?.name}</span><a class="small muted" href=${link(`/projects/${open.id}/media/${[item.media].flat()[0]}`, { frame, version: item.version, select: item.id, of: kind === "State" ? "track" : "" })}>${words.frame(frame)}</a></div>
    ${text && html`<p class="small muted cut" title=${text}>${text}</p>`}
    ${
      mayEdit &&
      html`<div class="row"><${Button} small icon="check" title=${words.accept} pressed=${given === STORED.accepted} onClick=${() => decide(STORED.accepted)} /><${Button} small icon="close" title=${words.reject} pressed=${given === STORED.rejected} onClick=${() => decide(STORED.rejected)} />
      <span class="grow" /><${Button} small kind="quiet" icon="comment" title=${words.comment} onClick=${comment} /></div>`
    }</article>`;
}

/** The part of the picture that a localization or track marks, read once it is near the visible part of the page. @param {{item: any, kind: Kind}} props */
function CropPicture({ item, kind }) {
  const host = useRef(/** @type {HTMLElement | null} */ (null));
  const [url, setUrl] = useState("");
  const [isFailed, setFailed] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    let made = "";
    const watch = new IntersectionObserver(
      ([entry]) => {
        if (!entry.isIntersecting) return;
        watch.disconnect();
        blob(
          `${kind}Graphic/${item.id}`,
          kind === "State" ? TRACK : { max_height: 240, format: "jpg" },
          stop.signal,
        ).then(
          (content) => {
            made = URL.createObjectURL(content);
            setUrl(made);
          },
          () => {
            if (!stop.signal.aborted) setFailed(true);
          },
        );
      },
      { rootMargin: "300px" },
    );
    if (host.current) watch.observe(host.current);
    return () => {
      stop.abort();
      watch.disconnect();
      URL.revokeObjectURL(made);
    };
  }, [item.id, kind]);
  return html`<div class="crop-picture" ref=${host}>${url ? html`<img src=${url} alt="" />` : isFailed ? html`<${Icon} name="image" />` : html`<span class="spinner" />`}</div>`;
}
