// The scores of people on honeypots: tasks whose annotations are known. A manager suspends people, and lets them again.
import { del, get, patch } from "../client.js";
import { html } from "../lib.js";
import { link } from "../router.js";
import { project } from "../store.js";
import { text } from "../strings.js";
import { team, quality as words } from "../strings_team.js";
import { Button } from "../ui/controls.js";
import { confirm } from "../ui/dialog.js";
import { ago, decimal } from "../ui/format.js";
import { Await, Empty, useAsync } from "../ui/states.js";
import { toastError } from "../ui/toast.js";
import { layerName } from "./quality.js";
import { mediaById, personName, TeamHead } from "./team_head.js";

const percent = (/** @type {number | null} */ value) => (value === null ? "–" : `${decimal(value * 100, 1)} %`);

export default function QualityPeople() {
  const number = /** @type {any} */ (project.value).id;
  const found = useAsync(
    (signal) =>
      Promise.all([get(`HoneypotScores/${number}`, {}, { signal }), get(`Honeypots/${number}`, {}, { signal })]),
    [number],
  );
  const again = found.again;
  const known = useAsync(
    (signal) =>
      mediaById(
        (found.value?.[0] ?? []).flatMap((/** @type {any} */ score) =>
          score.results.map((/** @type {any} */ each) => each.media_id),
        ),
        signal,
      ),
    [found.value],
  );
  const nameOf = (/** @type {number} */ id) => known.value?.get(id)?.name ?? words.mediaNumber(id);
  return html`<div class="page wide quality"><${TeamHead} at="quality"><${Button} icon="back" href=${link(`/projects/${number}/quality`)}>${words.allReports}<//><//>
    <h2>${words.allScores}</h2><${Await} of=${found}>${([scores, sets] = /** @type {[any[], any[]]} */ ([[], []])) =>
      html`${
        scores.length
          ? html`<div class="card scroll"><table class="table"><thead><tr><th scope="col">${words.person}</th><th scope="col">${team.set}</th><th scope="col" class="end">${words.score}</th><th scope="col">${words.lastResults}</th><th scope="col">${words.status}</th><th><span class="visually-hidden">${text.actions}</span></th></tr></thead>
          <tbody>${scores.map((score) => html`<${Score} key=${score.uid} score=${score} nameOf=${nameOf} again=${again} />`)}</tbody></table></div>`
          : html`<${Empty} icon="plot" title=${words.noScores}>${words.noScoresLead}<//>`
      }${sets.length > 0 && html`<section class="column"><h3>${words.setsOf}</h3><ul class="column">${sets.map((set) => html`<${HoneypotSet} key=${set.uid} set=${set} again=${again} />`)}</ul></section>`}`}<//></div>`;
}

/** @param {{score: any, nameOf: (id: number) => string, again: () => void}} props */
function Score({ score, nameOf, again }) {
  const name = personName(score.user);
  const isSuspended = score.suspended_datetime !== null;
  const action = isSuspended ? words.reinstate(name) : words.suspend(name);
  const change = async () => {
    const message = isSuspended ? words.reinstateLead : words.suspendLead;
    if (await confirm({ title: action, message, action, danger: !isSuspended }))
      patch(`HoneypotScore/${score.uid}`, { suspended: !isSuspended }).then(again, toastError);
  };
  const result = (/** @type {any} */ each) =>
    html`<a key=${each.task} class="count-link number" title=${words.resultOf(percent(each.f1), nameOf(each.media_id))} href=${link(`/projects/${score.project}/media/${each.media_id}`, { frame: each.start_frame || "", version: each.version })}>${percent(each.f1)}</a>`;
  return html`<tr><th scope="row">${name}</th><td>${score.name}</td><td class="end number">${percent(score.score)}</td><td><span class="row wrap small">${score.results.map(result)}</span></td>
    <td>${isSuspended ? html`<span class="chip bad">${words.suspended}</span> <span class="muted small">${ago(score.suspended_datetime)}</span>` : html`<span class="chip good">${words.active}</span>`}</td>
    <td class="end"><${Button} small onClick=${change}>${action}<//></td></tr>`;
}

/** @param {{set: any, again: () => void}} props */
function HoneypotSet({ set, again }) {
  const { reference, minimum, last } = set.spec;
  const action = words.endHoneypots(set.name);
  const end = async () => {
    if (await confirm({ title: action, message: words.endLead, action, danger: true }))
      del(`Honeypot/${set.uid}`).then(again, toastError);
  };
  return html`<li class="row wrap"><strong>${set.name}</strong><span class="muted small">${words.setRule(layerName(reference), percent(minimum), last)}</span><${Button} small kind="quiet" icon="trash" title=${action} onClick=${end} /></li>`;
}
