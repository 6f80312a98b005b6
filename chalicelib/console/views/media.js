// The gallery of a project's media: sections, search, facets, thumbnails, and what is done with a selection.
import { del, get, patch, post } from "../client.js";
import { html, useCallback, useEffect, useMemo, useState } from "../lib.js";
import { link, setQuery } from "../router.js";
import { may, project, reload, typeById } from "../store.js";
import { records } from "../strings_records.js";
import { text } from "../strings.js";
import { annotate as words } from "../strings_annotate.js";
import { assist } from "../strings_assist.js";
import { AttributeForm } from "../ui/attributes.js";
import { Button, Select } from "../ui/controls.js";
import { confirm, Dialog, prompt } from "../ui/dialog.js";
import { FacetChips, Facets, facetsOf, readFacets, toggled, writeFacets } from "../ui/facets.js";
import { duration, number, valueText } from "../ui/format.js";
import { Icon } from "../ui/icons.js";
import { Menu } from "../ui/menu.js";
import { toastDeleted } from "../ui/restore.js";
import { allOf, facetString, fieldsOf } from "../ui/search.js";
import { SearchBox } from "../ui/search_box.js";
import { DRAGGED_MEDIA, Sections } from "../ui/sections.js";
import { CopyDialog } from "../ui/copy_media.js";
import { PointsDialog } from "../ui/point_samples.js";
import { useSelection } from "../ui/selection.js";
import { ShareDialog } from "../ui/share.js";
import { access } from "../strings_access.js";
import { Empty, Failure, Loading, useAsync } from "../ui/states.js";
import { explain, toast, toastError } from "../ui/toast.js";
import { usePages, VirtualGrid } from "../ui/virtual.js";

const FIELDS =
  "id,name,type,fps,num_frames,width,height,attributes,created_datetime,damaged_frames,media_files.thumbnail,media_files.thumbnail_gif";
const SORTS = [
  ["", text.sortName],
  ["-$name", text.sortNameDown],
  ["-$created_datetime", text.sortNewest],
  ["$created_datetime", text.sortOldest],
  ["-$num_frames", text.sortLongest],
];
const SIZES = { small: 150, medium: 220, large: 320 };

/** @param {{params: Record<string, string>, query: Record<string, string>}} props */
export default function MediaGallery({ query }) {
  const open = /** @type {any} */ (project.value);
  const chosen = useMemo(() => readFacets(query.facets), [query.facets]);
  const [turn, setTurn] = useState(0);
  const [size, setSize] = useState(/** @type {keyof typeof SIZES} */ (localStorage.getItem("limn.size") ?? "medium"));
  const [editing, setEditing] = useState(false);
  const [pointed, setPointed] = useState(/** @type {any} */ (null));
  const search = allOf(query.search ?? "", facetString(chosen));
  const filter = { section: query.section, search };
  const inputs = [open.id, query.section, search, query.sort, turn];
  const count = useAsync((signal) => get(`MediaCount/${open.id}`, filter, { signal }), inputs);
  const { item, need } = usePages(
    (start, stop, signal) =>
      get(
        `Medias/${open.id}`,
        {
          ...filter,
          sort_by: query.sort,
          start,
          stop,
          fields: FIELDS,
          presigned: 43200,
          presign_only: ["thumbnail", "thumbnail_gif"],
        },
        { signal },
      ),
    inputs,
  );
  const selection = useSelection(item);
  const fields = useMemo(() => fieldsOf(open.mediaTypes, "media"), [open.mediaTypes]);
  const facets = useMemo(() => facetsOf(open.mediaTypes), [open.mediaTypes]);
  const again = useCallback(() => setTurn((before) => before + 1), []);
  const toggle = (/** @type {string} */ name, /** @type {any} */ value) =>
    setQuery({ facets: writeFacets(toggled(chosen, name, value)) });
  const isFiltered = Boolean(search);
  useEffect(() => {
    selection.clear();
  }, [open.id, query.section, search]);
  useEffect(() => {
    localStorage.setItem("limn.size", size);
  }, [size]);

  const saveSearch = async () => {
    const name = await prompt({ title: text.saveSearch, label: text.name, action: text.save });
    if (name)
      post(`Sections/${open.id}`, { name, dtype: "saved_search", lucene_string: search }).then(() => {
        reload("sections");
        toast(text.searchSaved, { kind: "good" });
      }, toastError);
  };
  const sorts = [
    ...SORTS,
    ...fields
      .filter((each) => !each.name.startsWith("_") && each.name !== "filename")
      .map((each) => [each.name, text.sortBy(each.name)]),
  ];
  const total = count.value ?? 0;
  const asked = new URLSearchParams(Object.entries(filter).filter(([, value]) => value)).toString();
  const isWrong = count.failure?.status === 400;
  return html`<div class="with-side"><aside class="side"><${Sections} chosen=${query.section ?? ""} onClear=${() => setQuery({ section: "" })} onMoved=${() => {
    selection.clear();
    again();
  }} />
      ${facets.length > 0 && html`<h2>${text.filters}</h2><${Facets} facets=${facets} chosen=${chosen} kind="media" query=${{ section: query.section }} search=${query.search ?? ""} turn=${turn} onToggle=${toggle} />`}</aside>
    <div class="gallery"><h1 class="visually-hidden">${text.tabs.media}</h1>
      <div class="gallery-bar"><${SearchBox} value=${query.search ?? ""} fields=${fields} placeholder=${text.searchMedia} error=${isWrong ? explain(count.failure) : ""} onSearch=${(/** @type {string} */ given) => setQuery({ search: given })} />
        <${Select} name=${text.sort} value=${query.sort ?? ""} options=${sorts} onChange=${(/** @type {string} */ sort) => setQuery({ sort })} />
        <${Menu} icon="more" kind="quiet" title=${text.moreActions} items=${[
          { title: text.cardSize },
          ...Object.keys(SIZES).map((name) => ({
            label: text.sizes[/** @type {keyof typeof SIZES} */ (name)],
            checked: size === name,
            run: () => setSize(/** @type {any} */ (name)),
          })),
          "line",
          isFiltered && may("Can Edit") && { label: text.saveSearch, icon: "save", run: saveSearch },
          total > 0 &&
            may("Can Edit") && {
              label: records.drawPoints,
              icon: "dot",
              run: () => setPointed({ media_query: asked }),
            },
          { label: text.reload, icon: "reload", run: again },
        ]} />
        ${may("Can Transfer") && html`<${Button} kind="primary" icon="upload" href=${link(`/projects/${open.id}/upload`, { section: query.section })}>${text.upload}<//>`}</div>
      ${selection.ids.size > 0 && html`<${Bulk} selection=${selection} total=${total} onEdit=${() => setEditing(true)} onPoints=${() => setPointed({ media_ids: [...selection.ids] })} onDone=${again} />`}
      ${pointed && html`<${PointsDialog} what=${pointed} count=${pointed.media_ids?.length ?? total} onClose=${() => setPointed(null)} />`}
      ${
        count.failure && !isWrong
          ? html`<${Failure} failure=${count.failure} again=${count.again} />`
          : count.value === undefined && !isWrong
            ? html`<${Loading} />`
            : html`
        <${VirtualGrid} count=${isWrong ? 0 : total} minWidth=${SIZES[size]} ratio=${9 / 16} extra=${52} name=${text.tabs.media} onRange=${need} scrollKey=${`${query.section} ${search} ${query.sort}`}
          head=${html`<div class="gallery-head"><p class="muted small number" role="status">${text.mediaCount(total)}</p><${FacetChips} chosen=${chosen} onToggle=${toggle} onClear=${() => setQuery({ facets: "" })} /></div>
            ${total === 0 && !isWrong && html`<${Nothing} isFiltered=${isFiltered || Boolean(query.section)} />`}`}
          render=${(/** @type {number} */ index) => html`<${Card} media=${item(index)} context=${{ section: query.section, search, sort: query.sort }} selected=${selection.ids.has(item(index)?.id)} ids=${selection.ids} selecting=${selection.ids.size > 0} onSelect=${(/** @type {any} */ event) => selection.toggle(index, event)} />`} />`
      }
    </div>
    ${
      editing &&
      html`<${EditMedia} media=${chosenOf(item, total, selection.ids)} onClose=${() => setEditing(false)} onDone=${() => {
        setEditing(false);
        selection.clear();
        again();
      }} />`
    }</div>`;
}

/** @param {{isFiltered: boolean}} props */
const Nothing = ({ isFiltered }) =>
  isFiltered
    ? html`<${Empty} icon="search" title=${text.noMatch}>${text.noMatchLead}<//>`
    : html`<${Empty} icon="upload" title=${text.noMedia} action=${may("Can Transfer") && html`<${Button} kind="primary" icon="upload" href=${link(`/projects/${project.value?.id}/upload`)}>${text.upload}<//>`}>${text.noMediaLead}<//>`;

/** One media as a card, which is dragged with the selection if it is part of it. @param {{media: any, ids: Set<number>, context: Record<string, any>, selected: boolean, selecting: boolean, onSelect: (event: any) => void}} props */
function Card({ media, ids, context, selected, selecting, onSelect }) {
  const [over, setOver] = useState(false);
  if (!media) return html`<div class="media-card waiting" />`;
  const files = media.media_files ?? {};
  const still = files.thumbnail?.[0]?.path,
    moving = files.thumbnail_gif?.[0]?.path;
  const isVideo = typeById("mediaTypes", media.type)?.dtype === "video";
  const seconds = isVideo && media.fps ? media.num_frames / media.fps : 0;
  const first = typeById("mediaTypes", media.type)?.attribute_types?.find(
    (/** @type {any} */ each) => each.dtype === "enum",
  )?.name;
  const open = (/** @type {any} */ event) => {
    if (selecting || event.ctrlKey || event.metaKey || event.shiftKey) {
      event.preventDefault();
      onSelect(event);
    }
  };
  return html`<div class=${`media-card${selected ? " selected" : ""}`} onMouseEnter=${() => setOver(true)} onMouseLeave=${() => setOver(false)}>
    <a class="media-link" href=${link(`/projects/${media.project ?? project.value?.id}/media/${media.id}`, context)} onClick=${open} draggable=${may("Can Edit")} onDragStart=${(/** @type {DragEvent} */ event) => event.dataTransfer?.setData(DRAGGED_MEDIA, JSON.stringify(ids.has(media.id) ? [...ids] : [media.id]))} onFocus=${() => setOver(true)} onBlur=${() => setOver(false)}>
      <span class="media-picture">${still || moving ? html`<img src=${over && moving ? moving : (still ?? moving)} alt="" loading="lazy" draggable=${false} />` : html`<${Icon} name=${isVideo ? "video" : "image"} />`}
        ${seconds > 0 && html`<span class="media-length number">${duration(seconds)}</span>`}</span>
      <span class="media-name cut">${media.name}</span><span class="media-about muted small cut">${[first && valueText(media.attributes?.[first]), isVideo ? text.frames(media.num_frames ?? 0) : media.width && `${media.width} × ${media.height}`, media.damaged_frames && words.damagedFrames(media.damaged_frames.count)].filter(Boolean).join(" · ")}</span></a>
    <label class="media-check"><input type="checkbox" checked=${selected} onClick=${onSelect} /><span class="visually-hidden">${text.select(media.name)}</span></label></div>`;
}

/** The selected media. @param {(index: number) => any} item @param {number} total @param {Set<number>} ids @returns {any[]} */
function chosenOf(item, total, ids) {
  const found = [];
  for (let index = 0; index < total && found.length < ids.size; index++) {
    const each = item(index);
    if (each && ids.has(each.id)) found.push(each);
  }
  return found;
}

/** What can be done with a selection. @param {{selection: any, total: number, onEdit: () => void, onPoints: () => void, onDone: () => void}} props */
function Bulk({ selection, onEdit, onPoints, onDone }) {
  const open = /** @type {any} */ (project.value);
  const ids = [...selection.ids];
  const act = (/** @type {Promise<any>} */ work, /** @type {string} */ message) =>
    work.then(() => {
      toast(message, { kind: "good" });
      selection.clear();
      onDone();
    }, toastError);
  const remove = async () => {
    if (
      await confirm({
        title: text.deleteMedia(ids.length),
        message: text.deleteMediaLead,
        action: text.delete,
        danger: true,
      })
    )
      del(`Medias/${open.id}`, { ids }, { count: ids.length }).then(() => {
        toastDeleted(open.id, "media", ids, onDone);
        selection.clear();
        onDone();
      }, toastError);
  };
  const isAble = may("Can Execute");
  const annotators = useAsync(() => (isAble ? get(`Annotators/${open.id}`) : Promise.resolve([])), [open.id, isAble]);
  const detectors = (annotators.value ?? []).filter((/** @type {any} */ each) => each.kind === "detector");
  const annotate = (/** @type {any} */ annotator) =>
    act(post(`Annotate/${open.id}`, { annotator: annotator.id, media_ids: ids }), assist.annotating(ids.length));
  const folders = open.sections.filter((/** @type {any} */ each) => each.dtype === "folder");
  const [sharing, setSharing] = useState(false);
  const [copying, setCopying] = useState(false);
  return html`<div class="bulk" role="region" aria-label=${text.selection}>${copying && html`<${CopyDialog} project=${open.id} ids=${ids} onClose=${() => setCopying(false)} />`}${sharing && html`<${ShareDialog} project=${open.id} what=${{ media_ids: ids }} onClose=${() => setSharing(false)} />`}<strong class="number">${text.selected(ids.length)}</strong>
    ${may("Full Control") && html`<${Button} small icon="link" onClick=${() => setSharing(true)}>${access.share}<//>`}
    ${
      may("Can Edit") &&
      html`<${Button} small icon="edit" onClick=${onEdit}>${text.editAttributes}<//>
      <${Button} small icon="dot" onClick=${onPoints}>${records.drawPoints}<//>
      <${Menu} small icon="folder" label=${text.moveTo} items=${[...folders.map((/** @type {any} */ each) => ({ label: each.name, icon: "folder", run: () => act(patch(`Medias/${open.id}`, { ids, primary_section: each.id }), text.movedTo(each.name)) })), folders.length && "line", { label: text.noFolder, run: () => act(patch(`Medias/${open.id}`, { ids, primary_section: -1 }), text.saved) }]} />`
    }
    ${detectors.length > 0 && html`<${Menu} small icon="jobs" label=${assist.annotateBy} items=${detectors.map((/** @type {any} */ each) => ({ label: each.name, run: () => annotate(each) }))} />`}
    ${may("Can Transfer") && html`<${Button} small icon="copy" onClick=${() => setCopying(true)}>${records.copyTo}<//>`}
    ${may("Can Transfer") && html`<${Button} small kind="danger" icon="trash" onClick=${remove}>${text.delete}<//>`}
    <span class="grow" /><${Button} small kind="quiet" icon="close" onClick=${selection.clear}>${text.clearSelection}<//></div>`;
}

/** Change attributes of media: those that all of their types have. @param {{media: any[], onClose: () => void, onDone: () => void}} props */
function EditMedia({ media, onClose, onDone }) {
  const open = /** @type {any} */ (project.value);
  const ofType = [...Map.groupBy(media, (each) => each.type)];
  const [first, ...others] = ofType.map(([id]) => typeById("mediaTypes", id)?.attribute_types ?? []);
  const common = (first ?? []).filter((/** @type {any} */ one) =>
    others.every((all) => all.some((/** @type {any} */ two) => two.name === one.name && two.dtype === one.dtype)),
  );
  const [failure, setFailure] = useState("");
  const [values, setValues] = useState(
    /** @type {Record<string, any>} */ (media.length === 1 ? { ...media[0].attributes } : {}),
  );
  const [changed, setChanged] = useState(/** @type {Record<string, any>} */ ({}));
  const set = (/** @type {string} */ name, /** @type {any} */ value) => {
    setValues({ ...values, [name]: value });
    setChanged({ ...changed, [name]: value });
  };
  const save = async () => {
    if (!Object.keys(changed).length) return;
    const attributes = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== null));
    const nulls = Object.keys(changed).filter((name) => changed[name] === null);
    const body = {
      ...(Object.keys(attributes).length && { attributes }),
      ...(nulls.length && { null_attributes: nulls }),
    };
    setFailure("");
    try {
      // one request changes media of one type
      for (const [type, some] of ofType)
        await patch(`Medias/${open.id}`, { ids: some.map((each) => each.id), ...body }, { type, count: some.length });
      toast(text.saved, { kind: "good" });
      onDone();
    } catch (reason) {
      setFailure(explain(reason));
    }
  };
  return html`<${Dialog} title=${text.editAttributesOf(number(media.length))} onClose=${onClose} onSubmit=${save}
    footer=${html`<${Button} onClick=${onClose}>${text.cancel}<//><${Button} kind="primary" type="submit">${text.save}<//>`}>
    ${failure && html`<div class="note bad" role="alert">${failure}</div>`}${media.length > 1 && html`<p class="muted">${text.editManyLead} ${others.length ? text.editTypesLead : ""}</p>`}${!common.length && html`<p>${text.noCommonAttributes}</p>`}<${AttributeForm} types=${common} values=${values} onChange=${set} /><//>`;
}
