// Consensus layers on the page of tasks: ordered for a set of tasks, and what became of them.
import { del, get, post } from "../client.js";
import { html, useEffect, useState } from "../lib.js";
import { link } from "../router.js";
import { project, reload } from "../store.js";
import { consensus as words, quality } from "../strings_team.js";
import { word } from "../strings_words.js";
import { Button } from "../ui/controls.js";
import { number } from "../ui/format.js";
import { choice, RecordDialog } from "../ui/records.js";
import { useAsync } from "../ui/states.js";
import { toastError } from "../ui/toast.js";
import { classAttributes, whichMedia } from "./tasks_new.js";

const PAUSE_MS = 1500;
const KINDS = /** @type {Record<string, string>} */ ({ succeeded: "good", failed: "bad", running: "accent" });
const isWorking = (/** @type {any} */ layer) => ["pending", "running"].includes(layer.status);

/** The button that orders a layer, and the layers of the caller. @param {{sets: string[], set?: string, onDone: () => void}} props */
export function Consensus({ sets, set, onDone }) {
  const open = /** @type {any} */ (project.value);
  const [adding, setAdding] = useState(false);
  const layers = useAsync((signal) => get(`ConsensusLayers/${open.id}`, {}, { signal }), [open.id]);
  const found = /** @type {any[]} */ (layers.value ?? []);
  const isAtWork = found.some(isWorking);
  useEffect(() => {
    if (!isAtWork || layers.busy) return undefined;
    const timer = setTimeout(async () => {
      await reload("versions");
      layers.again();
      onDone();
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [isAtWork, layers.busy]);
  return html`<section class="column" aria-label=${words.title}><div><${Button} icon="check" onClick=${() => setAdding(true)}>${words.make}<//></div>
    ${found.length > 0 && html`<ul class="column">${[...found].reverse().map((layer) => html`<${Layer} key=${layer.uid} layer=${layer} again=${layers.again} />`)}</ul>`}
    ${adding && html`<${NewConsensus} sets=${sets} set=${set} onMade=${layers.again} onClose=${() => setAdding(false)} />`}</section>`;
}

/** @param {{layer: any, again: () => void}} props */
function Layer({ layer, again }) {
  const at = `/projects/${layer.project}`;
  const { name } = layer.spec;
  return html`<li class="row wrap small"><strong>${name}</strong><span class=${`chip ${KINDS[layer.status] ?? ""}`}>${word(layer.status)}</span>${layer.message && html`<span>${layer.message}</span>`}
    <span class="number muted">${words.counts(number(layer.kept), number(layer.dropped), number(layer.undecided))}</span>
    ${layer.status !== "pending" && html`<a href=${link(`${at}/crops`, { version: layer.version })}>${words.look}</a>`}
    ${layer.review_tasks > 0 && html`<a href=${link(`${at}/tasks`, { set: name })}>${words.tasks(layer.review_tasks)}</a>`}
    <${Button} small kind="quiet" icon="trash" title=${words.forget(name)} onClick=${() => del(`ConsensusLayer/${layer.uid}`).then(again, toastError)} /></li>`;
}

/** @param {{sets: string[], set?: string, onMade: () => void, onClose: () => void}} props */
function NewConsensus({ sets, set, onMade, onClose }) {
  const open = /** @type {any} */ (project.value);
  const first = set && sets.includes(set) ? set : sets[0];
  const save = async (/** @type {any} */ { agreement = "0.5", tasks = first, ...spec }) => {
    await post(`ConsensusLayers/${open.id}`, { ...spec, tasks, agreement: Number(agreement) });
    onMade();
  };
  return html`<${RecordDialog} title=${words.make} values=${{ name: words.nameOf(first), tasks: first, query: "", agreement: "0.5" }} onSave=${save} onClose=${onClose} members=${[
    { name: "name", label: words.name, required: true },
    choice("tasks", words.of, sets),
    whichMedia("query"),
    choice("class_attribute", words.classes, [["", quality.byType], ...classAttributes()]),
    { name: "agreement", label: words.agreement, hint: words.agreementHint },
  ]} />`;
}
