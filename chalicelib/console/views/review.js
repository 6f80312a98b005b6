// Review: who is to look at which media and how far they are, and what has been decided about annotations.
import { get, post } from "../client.js";
import { classes, html, useMemo, useRef, useState } from "../lib.js";
import { link } from "../router.js";
import { may, project, reload, user } from "../store.js";
import { review as words } from "../strings_annotate.js";
import { Button, Progress, Segmented } from "../ui/controls.js";
import { Icon } from "../ui/icons.js";
import { STORED } from "../ui/review_names.js";
import { SEEN } from "../ui/search.js";
import { Empty, useAsync } from "../ui/states.js";
import { toast, toastError } from "../ui/toast.js";
import { Annotations } from "./review_annotations.js";
import { Work } from "./review_work.js";

/** The attributes that review lives in, by the kind of type that has them. Exports, searches and clients see them as any other. */
export const ATTRIBUTES = {
  media: [
    { name: STORED.assigned, dtype: "string", description: "User name of who works on the media.", order: 900 },
    {
      name: STORED.status,
      dtype: "enum",
      choices: [STORED.todo, STORED.busy, STORED.done],
      default: STORED.todo,
      order: 901,
    },
  ],
  annotation: [
    {
      name: STORED.attribute,
      dtype: "enum",
      choices: [STORED.open, STORED.accepted, STORED.rejected],
      default: STORED.open,
      order: 900,
    },
    { name: STORED.comment, dtype: "string", style: "long_string", order: 901 },
  ],
};

const has = (/** @type {any} */ type, /** @type {string} */ name) =>
  (type.attribute_types ?? []).some((/** @type {any} */ each) => each.name === name);

/** What is missing before a project can be reviewed, as [entity type, type, attribute]. @param {any} open */
function missingOf(open) {
  const of = (/** @type {string} */ entity, /** @type {any[]} */ types, /** @type {any[]} */ attributes) =>
    types.flatMap((type) =>
      attributes.filter(({ name }) => !has(type, name)).map((attribute) => [entity, type, attribute]),
    );
  const tracks = open.stateTypes.filter((/** @type {any} */ type) => type.association === "Localization");
  return [
    ...of("MediaType", open.mediaTypes, ATTRIBUTES.media),
    ...of("LocalizationType", open.localizationTypes, ATTRIBUTES.annotation),
    ...of("StateType", tracks, ATTRIBUTES.annotation),
  ];
}

/** @param {{query: any}} props */
export default function Review({ query }) {
  const open = /** @type {any} */ (project.value);
  const tab = query.tab === "annotations" ? "annotations" : "work";
  const [turn, setTurn] = useState(0);
  const missing = missingOf(open);
  const isReady = open.mediaTypes.some((/** @type {any} */ type) => has(type, STORED.status));
  const timer = useRef(/** @type {any} */ (null));
  const again = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setTurn((/** @type {number} */ before) => before + 1), tab === "work" ? 0 : 800);
  };
  const who = query.who ?? "";
  if (!isReady) return html`<${SetUp} missing=${missing} />`;
  return html`<div class="with-side"><${People} who=${who} tab=${tab} turn=${turn} />
    <section class="review column"><header class="row wrap"><h1 class="grow">${words.title}</h1>
      <${Segmented} name=${words.title} value=${tab} options=${[["work", words.work], ["annotations", words.annotations]]} onChange=${(
        /** @type {string} */ next,
      ) => {
        location.hash = link(`/projects/${open.id}/review`, { tab: next, who }).slice(1);
      }} /></header>
      ${missing.length > 0 && may("Full Control") && html`<${SetUp} isSmall missing=${missing} />`}
      ${tab === "work" ? html`<${Work} who=${who} turn=${turn} onChange=${again} />` : html`<${Annotations} who=${who} onChange=${again} />`}</section></div>`;
}

/** Offer to add the attributes. @param {{missing: any[], isSmall?: boolean}} props */
function SetUp({ missing, isSmall }) {
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      for (const [entity, type, addition] of missing)
        await post(`AttributeType/${type.id}`, { entity_type: entity, addition });
      await reload("mediaTypes", "localizationTypes", "stateTypes");
      toast(words.wasSetUp, { kind: "good" });
    } catch (failure) {
      toastError(failure);
    }
    setBusy(false);
  };
  const button = may("Full Control")
    ? html`<${Button} kind="primary" icon="check" busy=${busy} onClick=${run}>${words.setUp}<//>`
    : html`<p>${words.setUpMissing}</p>`;
  if (isSmall)
    return html`<div class="note row wrap"><span class="grow">${words.setUpNew([...new Set(missing.map(([, type]) => type.name))].join(", "))}</span>${button}</div>`;
  return html`<h1 class="visually-hidden">${words.title}</h1><${Empty} icon="check" title=${words.setUpTitle} action=${button}>${words.setUpLead}<//>`;
}

/** The members, how much they have and how much of it is done. @param {{who: string, tab: string, turn: number}} props */
function People({ who, tab, turn }) {
  const open = /** @type {any} */ (project.value);
  const me = user.value?.username;
  const people = useMemo(
    () =>
      [...open.members].sort(
        (one, two) =>
          Number(two.username === me) - Number(one.username === me) || one.username.localeCompare(two.username),
      ),
    [open.members],
  );
  const counts = useAsync(
    async (signal) => {
      const count = (/** @type {any} */ query) =>
        get(tab === "work" ? `MediaCount/${open.id}` : `LocalizationCount/${open.id}`, query, { signal });
      return Promise.all(
        [null, ...people].map(async (person) => {
          const [all, rest] = tab === "work" ? workOf(person) : annotationsOf(person);
          const [total, left] = await Promise.all([count(all), count(rest)]);
          return { total, done: total - left };
        }),
      );
    },
    [open.id, tab, turn, people],
  );
  const address = (/** @type {string} */ name) => link(`/projects/${open.id}/review`, { tab, who: name });
  const row = (/** @type {string} */ name, /** @type {any} */ label, /** @type {number} */ index) => {
    const { total = 0, done = 0 } = counts.value?.[index] ?? {};
    return html`<a key=${name} class=${classes("item person")} href=${address(name)} aria-current=${who === name ? "page" : undefined}>
      <span class="row"><span class="grow cut">${label}</span><span class="number muted small">${total ? `${done}/${total}` : ""}</span></span>
      ${total > 0 && html`<${Progress} name=${words.progress(done, total)} value=${done / total} />`}</a>`;
  };
  return html`<aside class="side" aria-label=${words.people}><h2>${words.people}</h2><nav class="people">${row("", words.everyone, 0)}
    ${people.map((/** @type {any} */ person, /** @type {number} */ index) => row(person.username, person.username === me ? `${person.username} (${words.me})` : person.username, index + 1))}
    ${tab === "work" && html`<a class="item person" href=${address("-")} aria-current=${who === "-" ? "page" : undefined}><span class="row"><${Icon} name="person" /><span>${words.nobody}</span></span></a>`}</nav></aside>`;
}

/** Queries of all media of a person, and of those that are not done. @param {any} person */
function workOf(person) {
  const mine = person ? [`${STORED.assigned}::${person.username}`] : [];
  return [
    { attribute: mine },
    {
      attribute: mine,
      encoded_search: encoded({
        method: "not",
        operations: [{ attribute: STORED.status, operation: "eq", value: STORED.done }],
      }),
    },
  ];
}

/** Queries of all localizations that a person made, and of those that are open. @param {any} person */
function annotationsOf(person) {
  const mine = person
    ? { search: SEEN, encoded_search: encoded({ attribute: "$created_by", operation: "eq", value: person.user }) }
    : { search: SEEN };
  return [mine, { ...mine, attribute: [`${STORED.attribute}::${STORED.open}`] }];
}

/** An object search as a parameter. @param {any} search */
export const encoded = (search) => btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(search))));
