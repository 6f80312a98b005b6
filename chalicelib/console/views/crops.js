// The gallery of crops: localizations as pictures, with selection and changes of many at once.
import { del, get, patch, post, put, request } from "../client.js";
import { html, useCallback, useEffect, useMemo, useState } from "../lib.js";
import { link, route, setQuery } from "../router.js";
import { colorOf, may, project, typeById } from "../store.js";
import { text } from "../strings.js";
import { assist as words } from "../strings_assist.js";
import { AttributeForm, ordered } from "../ui/attributes.js";
import { Button, Dot, Select } from "../ui/controls.js";
import { confirm, Dialog } from "../ui/dialog.js";
import { FacetChips, Facets, facetsOf, readFacets, toggled, writeFacets } from "../ui/facets.js";
import { number, valueText } from "../ui/format.js";
import { Icon } from "../ui/icons.js";
import { Menu } from "../ui/menu.js";
import { Picture } from "../ui/pictures.js";
import { toastDeleted } from "../ui/restore.js";
import { allOf, facetString, fieldsOf, SEEN } from "../ui/search.js";
import { SearchBox } from "../ui/search_box.js";
import { useSelection } from "../ui/selection.js";
import { Empty, Failure, Loading, useAsync } from "../ui/states.js";
import { explain, toast, toastError } from "../ui/toast.js";
import { usePages, VirtualGrid } from "../ui/virtual.js";

const SIZES = { small: 96, medium: 140, large: 220 };
const MAX_SELECTED = 5000;

/** @param {{query: Record<string, string>}} props */
export default function Crops({ query }) {
  const open = /** @type {any} */ (project.value);
  const types = open.localizationTypes;
  const type = types.find((/** @type {any} */ each) => String(each.id) === query.type) ?? types[0];
  const chosen = useMemo(() => readFacets(query.facets), [query.facets]);
  const [turn, setTurn] = useState(0);
  const [size, setSize] = useState(/** @type {keyof typeof SIZES} */ ("medium"));
  const [editing, setEditing] = useState(false);
  const search = allOf(query.search ?? "", facetString(chosen), SEEN);
  const filter = { type: type?.id, search, version: query.version };
  const likeness = useLikeness(type, query);
  const queued = useAsync(
    (signal) => (type && query.order ? readQueue(open.id, type, query, search, signal) : Promise.resolve(null)),
    [open.id, type?.id, query.order, query.version, search, turn],
  );
  const queue = query.order ? (queued.value ?? []) : null;
  const like = likeness.body && JSON.stringify(likeness.body);
  const inputs = [open.id, type?.id, search, query.version, query.sort, turn, query.like, like];
  const count = useAsync(
    (signal) =>
      !type || likeness.isWaiting
        ? Promise.resolve(0)
        : likeness.body
          ? put(`LocalizationCount/${open.id}`, likeness.body, filter, { signal })
          : get(`LocalizationCount/${open.id}`, filter, { signal }),
    inputs,
  );
  const { item, need, update } = usePages(
    (start, stop, signal) =>
      queue
        ? inOrder(open.id, queue.slice(start, stop), signal)
        : likeness.body
          ? put(`Localizations/${open.id}`, likeness.body, { ...filter, start, stop }, { signal })
          : get(`Localizations/${open.id}`, { ...filter, sort_by: query.sort || "-$id", start, stop }, { signal }),
    [...inputs, queue],
    200,
  );
  const selection = useSelection(item);
  const fields = useMemo(() => fieldsOf(type ? [type] : [], "localization"), [type]);
  const facets = useMemo(() => facetsOf(type ? [type] : []), [type]);
  const again = useCallback(() => setTurn((before) => before + 1), []);
  const toggle = (/** @type {string} */ name, /** @type {any} */ value) =>
    setQuery({ facets: writeFacets(toggled(chosen, name, value)) });
  useEffect(() => {
    selection.clear();
  }, [type?.id, search, query.version, query.like]);
  const first = ordered(type?.attribute_types).find((each) => each.dtype === "enum");
  const total = queue ? queue.length : (count.value ?? 0);
  const isWrong = count.failure?.status === 400;

  const change = (/** @type {Record<string, any>} */ attributes, /** @type {string[]} */ nulls = []) => {
    const ids = [...selection.ids];
    return patch(
      `Localizations/${open.id}`,
      { ids, ...(Object.keys(attributes).length && { attributes }), ...(nulls.length && { null_attributes: nulls }) },
      { type: type.id, count: ids.length },
    ).then((said) => {
      const picked = new Set(ids);
      update((each) =>
        picked.has(each.id)
          ? {
              ...each,
              attributes: {
                ...each.attributes,
                ...attributes,
                ...Object.fromEntries(nulls.map((name) => [name, null])),
              },
            }
          : each,
      );
      const undo = () => post(`Restore/${open.id}`, { changes: [said.change] }).then(again, toastError);
      toast(text.relabelled(ids.length), {
        kind: "good",
        seconds: 12,
        ...(said.change && { action: words.undo, run: undo }),
      });
      selection.clear();
      setTurn((before) => before + 1);
    });
  };
  const selectAll = async () => {
    try {
      const found = await get(`Localizations/${open.id}`, { ...filter, fields: "id", start: 0, stop: MAX_SELECTED });
      selection.add(found.map((/** @type {any} */ each) => each.id));
      if (total > MAX_SELECTED) toast(text.firstOfMany(MAX_SELECTED));
    } catch (failure) {
      toastError(failure);
    }
  };
  const remove = async () => {
    const ids = [...selection.ids];
    if (
      !(await confirm({
        title: text.deleteCrops(ids.length),
        message: text.deleteCropsLead,
        action: text.delete,
        danger: true,
      }))
    )
      return;
    del(`Localizations/${open.id}`, { ids }, { count: ids.length }).then(() => {
      toastDeleted(open.id, "localization", ids, again);
      selection.clear();
      again();
    }, toastError);
  };

  if (!type)
    return html`<${Empty} icon="crop" title=${text.noLocalizationTypes} action=${may("Full Control") && html`<${Button} kind="primary" href=${link(`/projects/${open.id}/manage/types`)}>${text.tabs.manage}<//>`}>${text.noLocalizationTypesLead}<//>`;
  return html`<div class="with-side"><aside class="side"><nav aria-label=${text.types}><h2>${text.types}</h2>${types.map((/** @type {any} */ each) => html`<a key=${each.id} class="item" href=${link(`/projects/${open.id}/crops`, { type: each.id })} aria-current=${each.id === type.id ? "page" : undefined}><${Dot} color=${colorOf(each)} /><span class="cut grow">${each.name}</span><span class="muted small">${text.shapes[/** @type {keyof typeof text.shapes} */ (each.dtype)]}</span></a>`)}</nav>
      ${open.versions.length > 1 && html`<h2>${text.version}</h2><${Select} small name=${text.version} value=${query.version ?? ""} options=${[["", text.allVersions], ...open.versions.map((/** @type {any} */ each) => [each.id, each.name])]} onChange=${(/** @type {string} */ version) => setQuery({ version })} />`}
      ${facets.length > 0 && html`<h2>${text.filters}</h2><${Facets} facets=${facets} chosen=${chosen} kind="localization" query=${{ type: type.id, version: query.version }} search=${query.search ?? ""} turn=${turn} onToggle=${toggle} />`}</aside>
    <div class="gallery"><h1 class="visually-hidden">${text.tabs.crops}</h1>
      <div class="gallery-bar"><${SearchBox} value=${query.search ?? ""} fields=${fields} placeholder=${text.searchCrops} error=${isWrong ? explain(count.failure) : ""} onSearch=${(/** @type {string} */ given) => setQuery({ search: given })} />
        <${Select} name=${text.sort} disabled=${Boolean(likeness.body || queue)} value=${query.sort ?? ""} options=${[["", text.sortNewest], ["$id", text.sortOldest], ["$frame", text.sortFrame], ["-$width", text.sortWidest], ...fields.filter((each) => !each.name.startsWith("_")).map((each) => [each.name, text.sortBy(each.name)])]} onChange=${(/** @type {string} */ sort) => setQuery({ sort })} />
        <${Menu} icon="more" kind="quiet" title=${text.moreActions} items=${[{ title: text.cardSize }, ...Object.keys(SIZES).map((name) => ({ label: text.sizes[/** @type {keyof typeof SIZES} */ (name)], checked: size === name, run: () => setSize(/** @type {any} */ (name)) })), "line", ...queuesOf(type).map((order) => ({ label: words.queues[order], checked: query.order === order, run: () => setQuery({ order: query.order === order ? "" : order, like: "" }) })), "line", { label: text.selectAllCrops, icon: "check", run: selectAll }, { label: text.reload, icon: "reload", run: again }]} /></div>
      ${
        selection.ids.size > 0 &&
        html`<div class="bulk" role="region" aria-label=${text.selection}><strong class="number">${text.selected(selection.ids.size)}</strong>
        ${may("Can Edit") && first && html`<${Menu} small icon="tag" label=${text.setTo(first.name)} items=${first.choices.map((/** @type {string} */ choice) => ({ label: choice, run: () => change({ [first.name]: choice }).catch(toastError) }))} />`}
        ${may("Can Edit") && html`<${Button} small icon="edit" onClick=${() => setEditing(true)}>${text.editAttributes}<//><${Button} small kind="danger" icon="trash" onClick=${remove}>${text.delete}<//>`}
        <span class="grow" />${selection.ids.size < total && html`<${Button} small kind="quiet" onClick=${selectAll}>${text.selectAllOf(total)}<//>`}<${Button} small kind="quiet" icon="close" onClick=${selection.clear}>${text.clearSelection}<//></div>`
      }
      ${
        count.failure && !isWrong
          ? html`<${Failure} failure=${count.failure} again=${count.again} />`
          : count.value === undefined && !isWrong
            ? html`<${Loading} />`
            : html`
        <${VirtualGrid} count=${isWrong ? 0 : total} minWidth=${SIZES[size]} ratio=${1} extra=${first ? 26 : 8} gap=${10} name=${text.tabs.crops} onRange=${need} scrollKey=${`${type.id} ${search} ${query.sort}`}
          head=${html`<div class="gallery-head"><p class="muted small number" role="status">${text.cropCount(total)}</p><${FacetChips} chosen=${chosen} onToggle=${toggle} onClear=${() => setQuery({ facets: "" })} />
            ${queue && html`<p class="small row" role="group" aria-label=${words.queues[/** @type {Order} */ (query.order)]}>${queued.failure ? explain(queued.failure) : words.queues[/** @type {Order} */ (query.order)]} <${Button} small kind="quiet" icon="close" onClick=${() => setQuery({ order: "" })}>${words.endSimilar}<//></p>`}
            ${query.like && html`<${Likeness} likeness=${likeness} id=${query.like} label=${first} selected=${selection.ids.size} onLabel=${(/** @type {string} */ value) => change({ [first.name]: value }).catch(toastError)} />`}</div>${total === 0 && html`<${Empty} icon="crop" title=${text.noMatch}>${text.noCropsLead}<//>`}`}
          render=${(/** @type {number} */ index) => html`<${Crop} crop=${item(index)} label=${first?.name} like=${likeness.name} selected=${selection.ids.has(item(index)?.id)} onSelect=${(/** @type {any} */ event) => selection.toggle(index, event)} />`} />`
      }
    </div>
    ${editing && html`<${EditCrops} type=${type} count=${selection.ids.size} onClose=${() => setEditing(false)} onSave=${(/** @type {any} */ attributes, /** @type {string[]} */ nulls) => change(attributes, nulls).then(() => setEditing(false))} />`}</div>`;
}

/** @typedef {"uncertain" | "unlike" | "duplicates"} Order */
const MOST_QUEUED = 500;

/** The attribute by which a queue of review is ordered. @param {any} type @param {Order} order @returns {string | undefined} */
const orderedBy = (type, order) => {
  const all = ordered(type?.attribute_types).filter(
    ({ dtype }) => dtype === (order === "uncertain" ? "float" : "float_array"),
  );
  return (all.find(({ name }) => /confidence|score/i.test(name)) ?? all[0])?.name;
};

/** The queues that a type has. @param {any} type */
const queuesOf = (type) =>
  /** @type {Order[]} */ (["uncertain", "unlike", "duplicates"]).filter((order) => orderedBy(type, order));

/** The ids of a queue of review; of duplicates, those of a pair follow each other. @param {number} project @param {any} type @param {Record<string, string>} query @param {string} search @param {AbortSignal} signal @returns {Promise<number[]>} */
async function readQueue(project, type, query, search, signal) {
  const order = /** @type {Order} */ (query.order);
  const body = {
    order,
    type: type.id,
    attribute: orderedBy(type, order),
    count: MOST_QUEUED,
    ...(query.version && { version: Number(query.version) }),
    ...(search && { query: `?${new URLSearchParams({ search })}` }),
  };
  const found = await request("POST", `ReviewQueue/${project}`, { body, signal, retry: true });
  return [...new Set(found.flatMap((/** @type {any} */ each) => [each.id, each.other ?? each.id]))];
}

/** Localizations in the order of their ids. @param {number} project @param {number[]} ids @param {AbortSignal} signal */
async function inOrder(project, ids, signal) {
  if (!ids.length) return [];
  const found = await put(`Localizations/${project}`, { ids }, {}, { signal });
  return found.sort((/** @type {any} */ one, /** @type {any} */ two) => ids.indexOf(one.id) - ids.indexOf(two.id));
}

/** So many of the nearest with a label vote on the labels that are suggested. */
const VOTERS = 15;
/** More than any cosine distance: a bound leaves out crops without a vector. */
const FARTHEST = 2.1;

/**
 * What a list of crops like one is asked by: its vector, in the first float_array of its type.
 * @param {any} type @param {Record<string, string>} query `like` is the id of a crop
 */
function useLikeness(type, query) {
  const name = type?.attribute_types?.find((/** @type {any} */ each) => each.dtype === "float_array")?.name;
  const found = useAsync(
    (signal) => (query.like && name ? get(`Localization/${query.like}`, {}, { signal }) : Promise.resolve(null)),
    [query.like, name],
  );
  const crop = found.value && String(found.value.id) === query.like ? found.value : null;
  const center = crop?.attributes?.[name];
  return {
    name,
    crop,
    isWaiting: Boolean(query.like && name) && !crop && !found.failure,
    isMissing: Boolean(query.like) && (!name || Boolean(crop && !center) || Boolean(found.failure)),
    body: center ? { float_array: [{ name, center, metric: "cosine", upper_bound: FARTHEST }] } : null,
  };
}

/**
 * What the gallery is sorted by, and the labels that the nearest have.
 * @param {{likeness: ReturnType<typeof useLikeness>, id: string, label: any, selected: number, onLabel: (value: string) => void}} props
 */
function Likeness({ likeness, id, label, selected, onLabel }) {
  const asked = useAsync(
    () =>
      label && likeness.body
        ? post(`LabelSuggestions/${project.value?.id}`, {
            ids: [Number(id)],
            embedding_attribute: likeness.name,
            label_attribute: label.name,
            neighbours: VOTERS,
            metric: "cosine",
          })
        : Promise.resolve([]),
    [id, likeness.name, label?.name, Boolean(likeness.body)],
  );
  const labels = asked.value?.[0]?.labels ?? [];
  const all = labels.reduce((/** @type {number} */ sum, /** @type {any} */ each) => sum + each.votes, 0);
  const suggested = labels
    .slice(0, 3)
    .map((/** @type {any} */ each) => /** @type {[string, number]} */ ([each.label, each.votes]));
  return html`<div class="likeness row wrap" role="group" aria-label=${words.similarTo(id)}>${
    likeness.isMissing
      ? html`<span class="note small">${words.noVector}</span>`
      : html`<span class="likeness-picture"><${Picture} path=${`LocalizationGraphic/${id}`} query=${{ max_height: 240, format: "jpg" }} /></span><span class="small">${words.mostSimilar}</span>`
  }
    ${suggested.map((/** @type {[string, number]} */ [value, count]) => html`<${Button} key=${value} small icon="tag" title=${words.suggestion(value, count, all)} disabled=${!selected || !may("Can Edit")} onClick=${() => onLabel(value)}>${words.votes(value, count, all)}<//>`)}
    <${Button} small kind="quiet" icon="close" onClick=${() => setQuery({ like: "" })}>${words.endSimilar}<//></div>`;
}

/** One crop: a click selects it, its link opens the frame. @param {{crop: any, label: string | undefined, like: string | undefined, selected: boolean, onSelect: (event: any) => void}} props */
function Crop({ crop, label, like, selected, onSelect }) {
  if (!crop) return html`<div class="crop waiting" />`;
  const type = typeById("localizationTypes", crop.type);
  const value = label ? valueText(crop.attributes?.[label]) : "";
  const name = text.cropName(value || type?.name, crop.media, crop.frame);
  return html`<div class=${`crop${selected ? " selected" : ""}`}><button type="button" class="crop-picture" aria-pressed=${selected} aria-label=${name} title=${name} onClick=${onSelect}><${Picture} path=${`LocalizationGraphic/${crop.id}`} query=${{ max_height: 240, format: "jpg" }} /></button>
    ${label && html`<span class="crop-label small"><${Dot} color=${colorOf(type, crop.attributes)} /><span class="cut">${value || "–"}</span></span>`}
    ${
      like &&
      crop.attributes?.[like] &&
      html`<a class="crop-open crop-like" href=${`#${route.value.path}`} onClick=${(/** @type {Event} */ event) => {
        event.preventDefault();
        setQuery({ like: String(crop.id), order: "" });
      }} aria-label=${words.similarTo(crop.id)} title=${words.similar}><${Icon} name="search" /></a>`
    }
    <a class="crop-open" href=${link(`/projects/${crop.project}/media/${crop.media}`, { frame: crop.frame, version: crop.version, select: crop.id })} aria-label=${text.openFrame(crop.frame)} title=${text.openFrame(crop.frame)}><${Icon} name="link" /></a></div>`;
}

/** @param {{type: any, count: number, onClose: () => void, onSave: (attributes: any, nulls: string[]) => Promise<any>}} props */
function EditCrops({ type, count, onClose, onSave }) {
  const [changed, setChanged] = useState(/** @type {Record<string, any>} */ ({}));
  const [failure, setFailure] = useState("");
  const save = () =>
    Object.keys(changed).length &&
    onSave(
      Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== null)),
      Object.keys(changed).filter((name) => changed[name] === null),
    ).catch((reason) => setFailure(explain(reason)));
  return html`<${Dialog} title=${text.editAttributesOf(number(count))} onClose=${onClose} onSubmit=${save}
    footer=${html`<${Button} onClick=${onClose}>${text.cancel}<//><${Button} kind="primary" type="submit">${text.save}<//>`}>
    ${failure && html`<div class="note bad" role="alert">${failure}</div>`}<p class="muted">${text.editManyLead}</p><${AttributeForm} types=${type.attribute_types} values=${changed} onChange=${(/** @type {string} */ name, /** @type {any} */ value) => setChanged({ ...changed, [name]: value })} /><//>`;
}
