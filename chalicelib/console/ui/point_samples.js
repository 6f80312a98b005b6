// Draws sampled points on frames of media: dots in a layer of their own, to be labelled one by one.
import { post } from "../client.js";
import { html } from "../lib.js";
import { navigate } from "../router.js";
import { project, reload } from "../store.js";
import { annotate } from "../strings_annotate.js";
import { records as words } from "../strings_records.js";
import { choice, RecordDialog, recordOptions } from "./records.js";
import { toast } from "./toast.js";

const METHODS = Object.entries(words.pointMethods);

/** @param {{what: {media_ids: number[]} | {media_query: string}, count: number, frame?: number, onClose: () => void, onDone?: (layer: number) => void}} props `count` of the media */
export function PointsDialog({ what, count, frame = 0, onClose, onDone }) {
  const open = /** @type {NonNullable<typeof project.value>} */ (project.value);
  const types = open.localizationTypes.filter((/** @type {any} */ each) => each.dtype === "dot");
  const layers = open.versions.filter((/** @type {any} */ each) => each.number >= 0);
  const layerNamed = async (/** @type {string} */ name) => {
    const there = layers.find((/** @type {any} */ each) => each.name === name);
    const { id } = there ?? (await post(`Versions/${open.id}`, { name }));
    if (!there) await reload("versions"); // one that is sent again finds it
    return id;
  };
  const draw = async (/** @type {any} */ { frames: _, layer, version, ...sample }) => {
    if (!types.length) throw new Error(words.noDotType);
    const into = version ?? (await layerNamed(layer));
    const made = await post(`PointSamples/${open.id}`, { ...what, ...sample, version: into });
    const [media] = "media_ids" in what ? what.media_ids : [];
    const label = () => navigate(`/projects/${open.id}/media/${media}`, { version: into, frame: sample.frame });
    const more = !onDone && media && { action: words.labelPoints, run: label };
    toast(words.pointsDrawn(made.id.length, made.frames), { kind: "good", ...more });
    onDone?.(into);
  };
  const isEvery = (/** @type {any} */ given) => given.frames === "every";
  const values = { type: types[0]?.id, frames: "frame", frame: String(frame), every: "100", method: "random" };
  return html`<${RecordDialog} title=${words.drawPoints} action=${words.drawPoints} values=${{ ...values, count: "50", seed: "0", version: "", layer: words.points }} onSave=${draw} onClose=${onClose}
    first=${html`<p class="muted">${types.length ? words.pointsLead(count) : words.noDotType}</p>`} members=${[
      choice("type", words.type, recordOptions(types)),
      choice("frames", words.pointFrames, Object.entries(words.pointFramesOf)),
      {
        name: "frame",
        label: words.frame,
        kind: "number",
        required: true,
        when: (/** @type {any} */ given) => !isEvery(given),
      },
      { name: "every", label: words.everyFrames, kind: "number", required: true, when: isEvery },
      choice("method", words.pointMethod, METHODS),
      { name: "count", label: words.pointCount, kind: "number", required: true },
      { name: "seed", label: words.seed, hint: words.seedHint, kind: "number", required: true },
      choice("version", words.layer, recordOptions(layers, annotate.addLayer)),
      { name: "layer", label: annotate.layerName, required: true, when: (/** @type {any} */ given) => !given.version },
    ]} />`;
}
