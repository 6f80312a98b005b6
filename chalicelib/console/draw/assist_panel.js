// The part of the panel about annotators: what they predict here, and the decisions on it.
import { html, useState } from "../lib.js";
import { may } from "../store.js";
import { text } from "../strings.js";
import { assist as words } from "../strings_assist.js";
import { Button, Progress, Select, TextField } from "../ui/controls.js";
import { Dialog } from "../ui/dialog.js";
import { titled } from "../ui/key_map.js";

/** @param {{session: import("./session.js").Session, run: (id: string) => void}} props */
export function AssistPart({ session, run }) {
  const { assist } = session;
  const [isRange, setRange] = useState(false);
  session.revision.value;
  const all = assist.annotators.value;
  const detectors = all.filter((each) => each.kind === "detector");
  const interactors = all.filter((each) => each.kind === "interactor");
  const chosen = assist.chosen.value;
  const [least, progress, isBusy] = [assist.least.value, assist.progress.value, assist.isBusy.value];
  if (!all.length || !session.mayEdit) return null;
  const classes = assist.classes();
  const count = classes.reduce((sum, [, each]) => sum + each, 0);
  const decide = (/** @type {"accept" | "reject"} */ decision, /** @type {string | undefined} */ label) =>
    assist.decide(decision, { label });
  const choose = (/** @type {string} */ id) => {
    assist.chosen.value = all.find((each) => String(each.id) === id);
  };
  const isVideo = (session.player?.frames ?? 0) > 1;
  const isAble = may("Can Execute");
  return html`<section class="part assist" aria-label=${words.title}><header class="row"><h2 class="grow">${words.title}</h2>
      ${isBusy && html`<span class="spinner" />`}${count > 0 && html`<span class="chip number">${words.drafts(count)}</span>`}</header>
    ${
      chosen &&
      html`<div class="row"><${Select} small name=${words.annotator} value=${chosen.id} options=${detectors.map((each) => [each.id, each.name])} onChange=${choose} />
      ${isAble && chosen.url && html`<${Button} small disabled=${isBusy} title=${titled(session.commands, "predict", words.predictKey)} onClick=${() => run("predict")}>${words.predict}<//>`}
      ${isAble && isVideo && html`<${Button} small kind="quiet" disabled=${isBusy} onClick=${() => setRange(true)}>${words.range}<//>`}</div>`
    }
    ${isAble && interactors.map((each) => html`<${Button} key=${each.id} small icon="polygon" pressed=${assist.clicking.value === each} onClick=${() => assist.toggleClicks(each)}>${interactors.length > 1 ? words.segmentBy(each.name) : words.segment}<//>`)}
    ${progress !== null && html`<${Progress} value=${progress} name=${words.working} />`}
    ${chosen?.confidence_attribute && html`<label class="slider"><span>${words.least(Math.round(least * 100))}</span><input type="range" min="0" max="1" step="0.01" value=${least} onInput=${(/** @type {any} */ e) => assist.setLeast(Number(e.currentTarget.value))} /></label>`}
    ${
      count > 0 &&
      html`<ul class="list" aria-label=${words.draftsByClass}>${classes.map(
        ([
          label,
          each,
        ]) => html`<li key=${label} class="row"><span class="grow cut">${label || words.noClass}</span><span class="number muted small">${each}</span>
          ${label && html`<${Button} small kind="quiet" icon="check" title=${words.acceptClass(label)} disabled=${isBusy} onClick=${() => decide("accept", label)} /><${Button} small kind="quiet" icon="close" title=${words.rejectClass(label)} disabled=${isBusy} onClick=${() => decide("reject", label)} />`}</li>`,
      )}</ul>
      <div class="row"><${Button} small icon="check" disabled=${isBusy} onClick=${() => decide("accept", undefined)}>${words.acceptAll}<//><${Button} small icon="close" disabled=${isBusy} onClick=${() => decide("reject", undefined)}>${words.rejectAll}<//></div>
      <p class="muted small">${words.draftKeys}</p>`
    }
    ${isRange && html`<${Range} session=${session} onClose=${() => setRange(false)} />`}</section>`;
}

/** On which frames. @param {{session: import("./session.js").Session, onClose: () => void}} props */
function Range({ session, onClose }) {
  const player = /** @type {import("../player/player.js").Player} */ (session.player);
  const [first, last] = player.range();
  const [given, setGiven] = useState({ start: first, stop: last, every: Math.max(1, Math.round(player.fps)) });
  const field = (/** @type {keyof typeof given} */ name, /** @type {string} */ label, /** @type {number} */ least) =>
    html`<${TextField} label=${label} type="number" min=${least} max=${player.frames - 1} required value=${given[name]} onInput=${(/** @type {string} */ value) => setGiven({ ...given, [name]: Number(value) })} />`;
  const submit = () => {
    onClose();
    session.assist.predictRange(given);
  };
  return html`<${Dialog} title=${words.rangeTitle(session.assist.chosen.value.name)} onClose=${onClose} onSubmit=${submit}
    footer=${html`<${Button} onClick=${onClose}>${text.cancel}<//><${Button} kind="primary" type="submit" disabled=${given.stop < given.start || given.every < 1}>${words.predict}<//>`}>
    <p class="muted">${words.rangeLead}</p>${field("start", words.from, 0)}${field("stop", words.to, 0)}${field("every", words.every, 1)}<//>`;
}

/** What the pointer does for an annotator, by the prompts that it takes. @param {import("./assist.js").Assist} assist @param {any} annotator @param {boolean} isThere */
function hintOf(assist, annotator, isThere) {
  if (!assist.takes("points")) return isThere ? words.boxMore : words.boxHint(annotator.name);
  if (isThere) return words.clickMore;
  return assist.takes("box") ? words.promptHint(annotator.name) : words.clickHint(annotator.name);
}

/** Over the picture while one clicks. @param {{session: import("./session.js").Session}} props */
export function ClickHint({ session }) {
  const { assist } = session;
  session.revision.value;
  const annotator = assist.clicking.value;
  if (!annotator) return null;
  const isThere = Boolean(assist.object);
  return html`<p class="stage-hint clicks" role="status" data-object=${isThere}>${assist.isBusy.value && html`<span class="spinner" /> `}${hintOf(assist, annotator, isThere)}</p>`;
}
