// The side of the annotation view: what is selected with its attributes, what is on the frame, tracks, layers.
import { html, useRef } from "../lib.js";
import { link } from "../router.js";
import { may, project, user } from "../store.js";
import { annotate as words } from "../strings_annotate.js";
import { assist } from "../strings_assist.js";
import { AttributeForm } from "../ui/attributes.js";
import { Button, Checkbox, Dot } from "../ui/controls.js";
import { prompt } from "../ui/dialog.js";
import { ago } from "../ui/format.js";
import { Icon } from "../ui/icons.js";
import { firstKey } from "../ui/key_map.js";
import { isTyping } from "../ui/keys.js";
import { Menu } from "../ui/menu.js";
import { shown, STORED } from "../ui/review_names.js";
import { useSettled } from "../ui/settled.js";
import { toastError } from "../ui/toast.js";
import { WindowList } from "../ui/window_list.js";
import { post, get } from "../client.js";
import { reload } from "../store.js";
import { About, Telemetry } from "./about.js";
import { Favorites } from "./favorites.js";
import { AssistPart } from "./assist_panel.js";
import { Comments } from "./comments_panel.js";
import { Measures } from "./measure_panel.js";
import { Find, View } from "./view_panel.js";
import { ownAttributes, ReviewButtons } from "./review.js";
import { runsOf } from "./tracks.js";

const ICONS = /** @type {Record<string, string>} */ ({ box: "box", line: "line", dot: "dot", poly: "polygon" });

/** @typedef {{session: import("./session.js").Session, run: (id: string) => void}} Props */

/** @param {Props & {first?: any}} props `first` stands above all parts */
export function Panel({ first, ...props }) {
  const { session } = props;
  const isPointer = useRef(false);
  const toStage = () => session.stage?.root.focus({ preventScroll: true });
  // a value that was given is done: the keys act on the picture again. A choice made by arrow keys goes on
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    isPointer.current = false;
    if (
      isTyping(event) &&
      (event.key === "Escape" ||
        (event.key === "Enter" && /** @type {HTMLElement} */ (event.target).tagName !== "TEXTAREA"))
    ) {
      event.stopPropagation();
      setTimeout(toStage);
    }
  };
  const onChange = (/** @type {Event} */ event) => {
    if (isPointer.current && /** @type {HTMLElement} */ (event.target).tagName === "SELECT") setTimeout(toStage);
  };
  return html`<aside class="annotate-panel scroll" aria-label=${words.details} onKeyDown=${onKeyDown} onPointerDown=${() => {
    isPointer.current = true;
  }} onChange=${onChange}>
    ${first}<${Find} ...${props} /><${Details} ...${props} /><${AssistPart} ...${props} /><${OnFrame} ...${props} /><${Tracks} ...${props} /><${States} ...${props} /><${Comments} session=${session} /><${Telemetry} session=${session} /><${Measures} session=${session} /><${About} session=${session} /><${Layers} ...${props} /><${View} session=${session} /></aside>`;
}

/** @param {Props} props */
function Details({ session, run }) {
  session.revision.value;
  session.selected.value;
  const chosen = session.chosen();
  if (!chosen.length) return null;
  const rows = chosen.map(([, row]) => row);
  const types = new Set(rows.map((row) => `${row.kind}${row.type}`));
  const type = session.typeOf(rows[0]);
  const isEditable = chosen.every(([each, row]) => session.isEditable(row, each));
  const [key, row] = chosen[0];
  const base = session.doc.base.get(key);
  const refusal = session.sync.refused.get(key);
  const who =
    project.value?.members.find((/** @type {any} */ member) => member.user === base?.by)?.username ??
    (base?.by === user.value?.id ? user.value?.username : `#${base?.by}`);
  return html`<section class="part selection" aria-label=${words.details}>
    <header class="row"><${Dot} color=${session.colorOf(key, row)} /><h2 class="grow cut">${rows.length > 1 ? words.selectedCount(rows.length) : type?.name}</h2>
      ${types.size === 1 && isEditable && html`<${Favorites} project=${project.value?.id} kind=${rows[0].kind} type=${type} values=${shared(rows)} onChoose=${(/** @type {Record<string, any>} */ values) => session.hand.setAttributes(values)} />`}
      ${isEditable && html`<${Button} small kind="quiet" icon="trash" title=${words.remove} onClick=${() => run("remove")} />`}</header>
    ${refusal && html`<p class="note bad small" role="alert">${refusal.message}</p>`}
    ${!isEditable && session.mayEdit && html`<p class="note small">${chosen.every(([, each]) => session.assist.isDraft(each)) ? assist.draftNote : session.trackSet.whyLocked(chosen)}</p>`}
    ${
      types.size === 1 &&
      (ownAttributes(type).length
        ? html`<${AttributeForm} key=${chosen.map(([each]) => each).join()} types=${ownAttributes(type)} values=${shared(rows)} disabled=${!isEditable}
          onChange=${(/** @type {string} */ name, /** @type {any} */ value) => session.hand.setAttribute(name, value)} />`
        : html`<p class="muted small">${words.noAttributes}</p>`)
    }
    ${chosen.length === 1 && row.kind === "localization" && base && hasVector(type, row) && html`<${Button} small icon="search" href=${link(`/projects/${project.value?.id}/crops`, { type: row.type, like: base.id })}>${assist.similar}<//>`}
    <${ReviewButtons} session=${session} rows=${chosen} />
    <p class="muted small">${base ? words.author(who, ago(base.modified)) : key.startsWith("~") ? words.computedShape : words.mine}</p></section>`;
}

/** Whether a row has a vector, by which the similar are found. @param {any} type @param {import("./document.js").Row} row */
const hasVector = (type, row) =>
  type?.attribute_types.some((/** @type {any} */ each) => each.dtype === "float_array" && row.attributes[each.name]);

/** Values that all rows have in common. @param {any[]} rows */
function shared(rows) {
  const [first, ...others] = rows;
  return Object.fromEntries(
    Object.entries(first.attributes).filter(([name, value]) =>
      others.every((row) => JSON.stringify(row.attributes[name]) === JSON.stringify(value)),
    ),
  );
}

/** How the first type is drawn. @param {Props["session"]} session */
const leadOf = ({ commands, drawable }) =>
  words.nothingHereLead(firstKey(commands, `type${drawable[0].id}`), firstKey(commands, "help"));

/** @param {Props} props */
function OnFrame({ session }) {
  const rows = useSettled(session.onFrame);
  session.revision.value;
  session.layer.value;
  const selected = session.selected.value;
  const { isRead, read, total } = session.reading.value;
  const none = session.mayEdit && session.drawable.length ? leadOf(session) : "";
  const select = (/** @type {MouseEvent} */ e, /** @type {string} */ key) =>
    session.select(e.shiftKey || e.ctrlKey || e.metaKey ? toggled(selected, key) : [key]);
  const toTypes = may("Full Control")
    ? html`<a href=${link(`/projects/${project.value?.id}/manage/types`)}>${words.addTypes}</a>`
    : words.noTypesLead;
  return html`<section class="part">
    <header class="row"><h2 class="grow">${words.onFrame}</h2><span class="chip number">${rows.length}</span></header>
    ${session.mayEdit && !session.drawable.length && html`<div class="note small"><strong>${words.noTypes}.</strong> ${toTypes}</div>`}
    ${!isRead && html`<p class="muted small row" role="status"><span class="spinner" />${words.stillReading(read, total)}</p>`}
    ${isRead && !rows.length && html`<p class="muted small">${words.nothingHere} ${none}</p>`}
    <${WindowList} name=${words.onFrame} items=${[...rows].reverse()} keyOf=${(/** @type {any} */ [key]) => key}
      render=${(
        /** @type {[string, import("./document.js").Row]} */ [key, row],
      ) => html`<button type="button" class="item"
        aria-pressed=${selected.has(key)} onClick=${(/** @type {MouseEvent} */ e) => select(e, key)}>
      <span class="swatch" style=${{ "--dot": session.colorOf(key, row) }}><${Icon} name=${ICONS[session.kindOf(row)] ?? "box"} /></span>
      <span class="grow cut">${session.labelOf(row)}</span><${Marks} session=${session} at=${key} row=${row} /></button>`} /></section>`;
}

/** What is special about a row: its decision, that it is not saved, refused, locked. @param {{session: import("./session.js").Session, at: string, row: import("./document.js").Row}} props */
function Marks({ session, at, row }) {
  const decision = row.attributes.Review;
  return html`${/^[~?]/.test(at) && html`<span class="chip" title=${words.computedShape}>┄</span>`}${decision === STORED.accepted && html`<span class="chip good"><${Icon} name="check" /><span class="visually-hidden">${shown(decision)}</span></span>`}
    ${decision === STORED.rejected && html`<span class="chip bad"><${Icon} name="close" /><span class="visually-hidden">${shown(decision)}</span></span>`}
    ${session.sync.refused.has(at) && html`<span class="chip bad" title=${session.sync.refused.get(at)?.message}>!</span>`}
    ${session.doc.unsaved.has(at) && html`<span class="unsaved" title=${words.mine}><span class="visually-hidden">${words.mine}</span></span>`}
    ${!session.isEditable(row, at) && session.mayEdit && !at.startsWith("?") && html`<${Icon} name="lock" />`}`;
}

/** @param {Set<string>} selected @param {string} key */
const toggled = (selected, key) =>
  selected.has(key) ? [...selected].filter((each) => each !== key) : [...selected, key];

/** @param {Props} props */
function Tracks({ session, run }) {
  session.revision.value;
  const { trackSet } = session;
  const active = trackSet.active;
  const selected = session.selected.value;
  const isVideo = (session.player?.frames ?? 0) > 1;
  const states = session.tracks().filter(([, row]) => session.shownLayers.value.has(row.version));
  if (!states.length && !isVideo) return null;
  const act = (/** @type {string} */ id, /** @type {string} */ icon, /** @type {string} */ label, isOff = false) =>
    html`<${Button} small kind="quiet" icon=${icon} title=${label} disabled=${isOff} onClick=${() => run(id)} />`;
  const chosen = states.filter(([key]) => selected.has(key)).length;
  return html`<section class="part"><header class="row"><h2 class="grow">${words.tracks}</h2><span class="chip number">${states.length}</span></header>
    ${
      session.mayEdit &&
      session.trackTypes.length > 0 &&
      html`<div class="row wrap" role="toolbar" aria-label=${words.tracks}>
      ${act("track", "add", words.track.make, !session.shapes().length)}${act("extend", "next", words.track.extend, !active)}${act("keyframe", "keyframe", words.track.keyframe, !active)}${act("arm", "edit", words.track.arm, !active)}
      ${act("split", "split", words.track.split, !active)}${act("trimStart", "frame_next", words.track.trimStart, !active)}${act("trimEnd", "frame_previous", words.track.trimEnd, !active)}${act("merge", "merge", words.track.merge, chosen < 2)}${act("hideTrack", "hidden", words.track.hide, !active)}${act("lockTrack", "lock", words.track.lock, !active)}</div>`
    }
    ${!states.length && html`<p class="muted small">${words.noTracks(firstKey(session.commands, "track"))}</p>`}
    <${WindowList} name=${words.tracks} items=${states} keyOf=${(/** @type {any} */ [key]) => key}
      render=${(/** @type {[string, import("./document.js").Row]} */ [key, row]) => html`<${TrackRow} session=${session} at=${key} row=${row} />`} /></section>`;
}

/** @param {{session: import("./session.js").Session, at: string, row: import("./document.js").Row}} props */
function TrackRow({ session, at, row }) {
  const { trackSet } = session;
  session.revision.value;
  const selected = session.selected.value;
  const runs = runsOf(session.doc, at, trackSet.isFilled(at));
  const onClick = (/** @type {MouseEvent} */ e) => {
    const isMore = e.shiftKey || e.ctrlKey || e.metaKey;
    session.select(isMore ? toggled(selected, at) : [at]);
    const frame = session.frame.peek();
    const isHere = runs.some(([first, last]) => frame >= first && frame <= last);
    if (!e.shiftKey && runs.length && !isHere) session.player?.seek(runs[0][0]);
  };
  const marks = [
    trackSet.armed.value === at && html`<span class="chip accent"><${Icon} name="edit" /></span>`,
    trackSet.hidden.value.has(at) &&
      html`<span class="chip" title=${words.track.hide}><${Icon} name="hidden" /></span>`,
    trackSet.locked.value.has(at) && html`<span class="chip" title=${words.track.lock}><${Icon} name="lock" /></span>`,
  ];
  return html`<button type="button" class="item" aria-pressed=${selected.has(at)} onClick=${onClick}>
    <${Dot} color=${session.colorOf(at, row)} /><span class="grow cut">${trackSet.nameOf(at)}</span>${marks}
    <${Marks} session=${session} at=${at} row=${row} />
    <span class="number muted small">${runs.length ? `${runs[0][0]}–${runs[runs.length - 1][1]}` : session.doc.path(at).length}</span></button>`;
}

/** States of frames and of the whole media. @param {Props} props */
function States({ session }) {
  session.revision.value;
  const selected = session.selected.value;
  const states = session.doc
    .states()
    .filter(([, row]) => !session.isTrack(row) && session.shownLayers.value.has(row.version))
    .sort(([, one], [, two]) => (one.frame ?? -1) - (two.frame ?? -1));
  if (!states.length && !session.stateTypes.length) return null;
  const add = session.stateTypes.map((/** @type {any} */ type) => ({
    label: type.name,
    run: () => session.hand.createState(type),
  }));
  return html`<section class="part"><header class="row"><h2 class="grow">${words.states}</h2>${session.mayEdit && add.length > 0 && (add.length === 1 ? html`<${Button} small kind="quiet" icon="add" title=${words.newState(add[0].label)} onClick=${add[0].run} />` : html`<${Menu} small kind="quiet" icon="add" title=${words.addState} items=${add} />`)}<span class="chip number">${states.length}</span></header>
    ${!states.length && html`<p class="muted small">${words.noStates}</p>`}
    <ul class="list" aria-label=${words.states}>${states.map(
      ([
        key,
        row,
      ]) => html`<li key=${key}><button type="button" class="item" aria-pressed=${selected.has(key)} onClick=${() => {
        session.select([key]);
        if (row.frame !== null) session.player?.seek(row.frame);
      }}>
      <${Dot} color=${session.colorOf(key, row)} /><span class="grow cut">${session.labelOf(row)}</span><${Marks} session=${session} at=${key} row=${row} /><span class="number muted small">${row.frame ?? words.wholeMedia}</span></button></li>`,
    )}</ul></section>`;
}

/** @param {Props} props */
function Layers({ session }) {
  const active = session.layer.value;
  const shown = session.shownLayers.value;
  const show = (/** @type {number} */ id, /** @type {boolean} */ isShown) => {
    session.shownLayers.value = new Set(isShown ? [...shown, id] : [...shown].filter((each) => each !== id));
    session.stage?.invalidate();
  };
  const add = async () => {
    const name = await prompt({ title: words.addLayer, label: words.layerName, action: words.create });
    if (!name || !project.value) return;
    try {
      const { id } = await post(`Versions/${project.value.id}`, { name, bases: active ? [active] : [] });
      await reload("versions");
      await session.drawIn(id);
    } catch (failure) {
      toastError(failure);
    }
  };
  return html`<section class="part"><header class="row"><h2 class="grow">${words.layers}</h2>
    ${session.mayEdit && html`<${Button} small kind="quiet" icon="add" title=${words.addLayer} onClick=${add} />`}</header>
    <ul class="list">${session.layers.value.map(
      (
        /** @type {any} */ layer,
      ) => html`<li key=${layer.id} class="row layer"><${Checkbox} label=${html`<span class="cut">${layer.name}</span>`} checked=${shown.has(layer.id)} disabled=${layer.id === active}
      aria-label=${words.layerVisible(layer.name)} onChange=${(/** @type {boolean} */ is) => show(layer.id, is)} /><span class="grow" />
      ${session.mayEdit && html`<${Button} small kind="quiet" icon="edit" title=${`${words.layerActive}: ${layer.name}`} pressed=${layer.id === active} onClick=${() => session.drawIn(layer.id)} />`}</li>`,
    )}</ul></section>`;
}
