// The step of the tour that is to be done, with the keys that do it.
import { html } from "../lib.js";
import { link } from "../router.js";
import { text } from "../strings.js";
import { tour as words } from "../strings_tour.js";
import { Button } from "./controls.js";
import { leaveTour, STEPS, tour } from "./tour.js";

/** The step of the tour of a project. @param {{project: number, keyOf?: (command: string) => string, isTask?: boolean}} props `keyOf` gives the key of a command, beside a picture; `isTask` where a task can be handed in */
export function TourCard({ project, keyOf, isTask }) {
  const found = tour.value;
  if (!found || found.isLeft || found.project !== project) return null;
  const isDone = found.step >= STEPS.length;
  const what = STEPS[found.step];
  const name = isDone ? "done" : what === "hand" && isTask ? "submit" : what;
  const step = words.steps[name];
  return html`<section class="part tour" aria-label=${words.title}>
    <header class="row"><h2 class="grow">${words.title}</h2><span class="chip number">${isDone ? "✓" : words.at(found.step + 1, STEPS.length)}</span></header>
    <progress class="tour-progress" max=${STEPS.length} value=${found.step} aria-label=${words.title} />
    <div role="status"><h3>${step.title}</h3><p class="small">${step.lead(keyOf ?? (() => ""))}</p></div>
    <div class="row wrap">${name === "hand" && keyOf && html`<${Button} small kind="primary" icon="download" href=${link(`/projects/${project}/transfers`)}>${text.tabs.transfers}<//>`}
      <${Button} small kind=${isDone ? "primary" : "quiet"} onClick=${leaveTour}>${isDone ? text.close : words.leave}<//></div></section>`;
}
