// The dialogs that begin an export or an import, with all their options.
import { post } from "../client.js";
import { html, useState } from "../lib.js";
import { may, project } from "../store.js";
import { text } from "../strings.js";
import { datasets as datasetWords, transfers as words } from "../strings_manage.js";
import { Progress } from "../ui/controls.js";
import { sendFile } from "../ui/files.js";
import { choice, RecordDialog, recordOptions } from "../ui/records.js";
import { did } from "../ui/tour.js";
import { toast } from "../ui/toast.js";

/** @typedef {import("../ui/records.js").Member} Member */

/** @type {[string, string][]} */
export const FORMATS = [
  ["coco", "COCO"],
  ["kwcoco", "KWCOCO"],
  ["yolo", "YOLO"],
  ["voc", "Pascal VOC"],
  ["mot", "MOT"],
  ["mots", "MOTS"],
  ["cvat", "CVAT"],
  ["dota", "DOTA"],
  ["masks", "PNG masks (VOC)"],
  ["viame", "VIAME / DIVE CSV"],
  ["dive", "DIVE JSON"],
  ["coralnet", "CoralNet CSV"],
  ["fathomnet", "FathomNet"],
  ["dwca", "Darwin Core Archive"],
  ["camtrapdp", "Camtrap DP"],
  ["ifdo", "iFDO"],
  ["biigle", "BIIGLE reports"],
  ["vars", "MBARI VARS JSON"],
  ["eventmeasure", "EventMeasure"],
  ["geojson", "GeoJSON"],
  ["csv", "CSV"],
  ["jsonl", "JSON Lines"],
  ["parquet", "Parquet"],
];
const WRITTEN_ONLY = ["fathomnet", "dwca", "geojson"];
const READ = FORMATS.filter(([name]) => !WRITTEN_ONLY.includes(name));
/** @type {[string, string][]} */
const PICTURES = [
  ["jpg", "JPEG"],
  ["png", "PNG"],
];
const OF_CLASSES = ["enum", "string", "bool", "int"];

const TRIED = "limn.tried";

/** Imports of this tab's session that were only tried, as they were asked for. @returns {Record<string, any>} */
export function tried() {
  try {
    return JSON.parse(sessionStorage.getItem(TRIED) ?? "{}");
  } catch {
    return {};
  }
}

/** @param {string} uid @param {any} [body] none forgets it */
const keepTried = (uid, body) => sessionStorage.setItem(TRIED, JSON.stringify({ ...tried(), [uid]: body }));

/** Names of attributes that can hold a class. @param {string[]} dtypes @returns {string[]} */
const attributes = (dtypes) => [
  ...new Set(
    /** @type {any} */ (project.value).localizationTypes.flatMap((/** @type {any} */ each) =>
      each.attribute_types
        .filter((/** @type {any} */ attribute) => dtypes.includes(attribute.dtype))
        .map((/** @type {any} */ attribute) => attribute.name),
    ),
  ),
];

/** From which number VOC counts pixels. */
const FIRST_PIXEL = choice("first_pixel", words.firstPixel, ["1", "0"], { when: (values) => values.format === "voc" });

/** @param {{dataset: string, onClose: () => void, onDone: () => void}} props `dataset` is the name of a version of a dataset; "" exports the project as it is */
export function CreateExport({ dataset, onClose, onDone }) {
  const open = /** @type {any} */ (project.value);
  const save = (
    /** @type {any} */ {
      attribute,
      section,
      version,
      split,
      test,
      frames = "none",
      every,
      task,
      first_pixel: firstPixel,
      ...rest
    },
  ) => {
    const conventions = { ...(task && { task }), ...(firstPixel && { first_pixel: Number(firstPixel) }) };
    const shares = test ? { train: 0.7, val: 0.2, test: 0.1 } : {};
    return post(`Exports/${open.id}`, {
      ...rest,
      frames,
      ...(frames === "every" && { every: every || 10 }),
      ...(attribute && { classes: { attribute } }),
      ...(section && { sections: [Number(section)] }),
      ...(version && { versions: [Number(version)] }),
      ...(split && { split: shares }),
      ...(Object.keys(conventions).length && { conventions }),
    }).then(() => {
      toast(text.exportStarted, { kind: "good" });
      did("hand", open.id);
      onDone();
    });
  };
  const hasPictures = (/** @type {any} */ values) => values.frames !== "none";
  const isOfProject = (/** @type {any} */ values) => !values.dataset;
  /** @type {Member[]} */
  const members = [
    choice("format", text.format, FORMATS),
    { name: "name", label: text.name },
    choice("task", words.yoloTask, Object.entries(words.tasks), { when: (values) => values.format === "yolo" }),
    FIRST_PIXEL,
    choice("dataset", datasetWords.of, [["", datasetWords.present], dataset], { when: () => Boolean(dataset) }),
    choice("section", text.ofMedia, recordOptions(open.sections, text.allMedia), { when: isOfProject }),
    choice("version", text.version, recordOptions(open.versions, text.allVersions), { when: isOfProject }),
    choice("attribute", text.classesFrom, [["", text.typeName], ...attributes(OF_CLASSES)], { hint: text.classesHint }),
    choice("frames", text.pictures, [
      ["none", text.noPictures],
      ["frames", text.labeledFrames],
      ["crops", text.cropsOf],
      ["every", text.everyFrame],
    ]),
    { name: "every", label: text.everyN, kind: "number", when: (values) => values.frames === "every" },
    choice("image_format", words.imageFormat, PICTURES, { when: hasPictures }),
    { name: "image_height", label: words.imageHeight, kind: "number", hint: words.imageHeightHint, when: hasPictures },
    { name: "split", label: text.splitMedia, kind: "check" },
    { name: "test", label: words.splitTest, kind: "check", when: (values) => Boolean(values.split) },
    { name: "interpolate", label: text.interpolateTracks, kind: "check" },
  ];
  return html`<${RecordDialog} title=${text.newExport} action=${text.export_} values=${{ format: "coco", frames: "none", interpolate: true, dataset, ...(dataset && { name: dataset }) }} onSave=${save} onClose=${onClose} members=${members} />`;
}

/** @param {{onClose: () => void, onDone: () => void}} props */
export function CreateImport({ onClose, onDone }) {
  const open = /** @type {any} */ (project.value);
  const [file, setFile] = useState(/** @type {File | null} */ (null));
  const [sent, setSent] = useState(-1);
  const save = async (/** @type {any} */ { version, first_pixel: firstPixel, ...rest }) => {
    if (!file) throw new Error(text.needArchive);
    try {
      setSent(0);
      const key = await sendFile(open.id, file, (done) => setSent(done));
      const body = {
        create_media: false,
        ...rest,
        key,
        name: file.name,
        ...(version && { version: Number(version) }),
        ...(firstPixel && { first_pixel: Number(firstPixel) }),
      };
      const { uid } = await post(`Imports/${open.id}`, body);
      if (body.dry_run) keepTried(uid, body);
      onDone();
    } finally {
      setSent(-1);
    }
  };
  /** @type {Member[]} */
  const members = [
    choice("format", text.format, READ),
    FIRST_PIXEL,
    choice("match", text.findMedia, [
      ["name", text.byName],
      ["path", text.byPath],
      ["md5", text.byMd5],
    ]),
    choice("version", text.version, recordOptions(open.versions, text.sameVersion)),
    choice("class_attribute", words.classAttribute, [["", text.typeName], ...attributes(["enum", "string"])], {
      hint: words.classAttributeHint,
    }),
    choice("outside", words.outside, [
      ["refuse", words.refuse],
      ["clip", words.clip],
    ]),
    choice("unknown_attributes", words.unknownAttributes, [
      ["refuse", words.refuse],
      ["drop", words.drop],
    ]),
    { name: "create_media", label: text.createMedia, kind: "check" },
    { name: "section", label: words.intoFolder, when: (values) => Boolean(values.create_media) },
    { name: "create_types", label: text.createTypes, kind: "check", when: () => may("Full Control") },
    { name: "dry_run", label: text.dryRunLead, kind: "check" },
  ];
  const first = {
    format: "coco",
    match: "name",
    outside: "refuse",
    unknown_attributes: "refuse",
    create_media: true,
    dry_run: true,
  };
  return html`<${RecordDialog} title=${text.newImport} action=${words.begin} values=${first} onSave=${save} onClose=${onClose} members=${members}
    first=${html`<label class="field"><span class="label">${text.archive}</span><input class="input file" type="file" onChange=${(/** @type {any} */ e) => setFile(e.currentTarget.files[0] ?? null)} /><span class="hint">${text.archiveHint}</span></label>`}>
    ${sent >= 0 && html`<${Progress} value=${sent} name=${text.uploadStatus.uploading} />`}<//>`;
}

/** Carry out an import that was tried. @param {string} uid */
export async function importTried(uid) {
  await post(`Imports/${project.value?.id}`, { ...tried()[uid], dry_run: false });
  keepTried(uid);
}
