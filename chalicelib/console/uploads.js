// Uploads: files go to the object store in parts, then become media. They go on while views change; they can be paused,
// and resumed after a reload by dropping the same files again.
import { get, post, put } from "./client.js";
import { faultOf } from "./file_checks.js";
import { effect, signal } from "./lib.js";
import { project as open, reload } from "./store.js";
import { text } from "./strings.js";
import { failures } from "./strings_words.js";

const PART = 16 * 1024 * 1024;
const MOST_PARTS = 10000;
const PARALLEL_FILES = 3;
const FOLLOW_MS = 1500;
const PARALLEL_PARTS = 3;
const ATTEMPTS = 6;
const IMAGE = /\.(jpe?g|png|gif|webp|bmp|tiff?|avif|heic|heif|dng)$/i;
const VIDEO = /\.(mp4|mov|m4v|avi|mkv|webm|mpe?g|mts|m2ts|ts|wmv|flv|3gp|ogv)$/i;

/**
 * @typedef {"checking" | "waiting" | "uploading" | "paused" | "creating" | "transcoding" | "importing" | "done" | "failed"} Status
 * @typedef {{id: number, project: number, file: File, name: string, type: number, isVideo: boolean, section: {section?: string, section_id?: number},
 *   status: Status, sent: number, message: string, media: number | null, transcode: string | null, progress: number, abort: AbortController}} Upload
 */

/** Uploads of this tab, the newest last. @type {import("./lib.js").Signal<Upload[]>} */
export const uploads = signal(/** @type {Upload[]} */ ([]));
let numbers = 0;

/** Statuses in which the tab still has to send something. */
const SENDING = new Set(["checking", "waiting", "uploading", "creating"]);
const warn = (/** @type {Event} */ event) => event.preventDefault();
effect(() => {
  if (uploads.value.some((each) => SENDING.has(each.status))) addEventListener("beforeunload", warn);
  else removeEventListener("beforeunload", warn);
});

/**
 * The ids of nested folders, which are created where the project lacks them.
 * @param {number} project @param {string[][]} wanted names from the top down @returns {Promise<Map<string, number>>} by their names with / between
 */
export async function foldersOf(project, wanted) {
  const label = (/** @type {string} */ name) => name.replace(/[^A-Za-z0-9_]/g, "_");
  const found = new Map();
  const known = new Map((await get(`Sections/${project}`)).map((/** @type {any} */ each) => [each.path, each]));
  for (const names of wanted) {
    for (let depth = 1; depth <= names.length; depth++) {
      const part = names.slice(0, depth),
        path = part.map(label).join(".");
      if (!known.has(path))
        known.set(path, await post(`Sections/${project}`, { name: part[depth - 1], path, dtype: "folder" }));
      found.set(part.join("/"), known.get(path).id);
    }
  }
  await reload("sections");
  return found;
}

/** Show a folder that the service made for a file. @param {Upload} upload */
async function showFolder({ project, section }) {
  const name = section.section?.toLowerCase();
  if (name && open.peek()?.id === project && !open.peek()?.sections.some((each) => each.name.toLowerCase() === name))
    await reload("sections").catch(() => undefined);
}

/** "video", "image", or "" for files that are neither. @param {File} file */
export const kindOf = (file) =>
  file.type.startsWith("video/") || VIDEO.test(file.name)
    ? "video"
    : file.type.startsWith("image/") || IMAGE.test(file.name)
      ? "image"
      : "";

/**
 * Add files, and begin.
 * @param {number} project @param {File[]} files @param {{video?: number, image?: number}} types media types by kind
 * @param {(file: File) => {section?: string, section_id?: number}} sectionOf where each goes
 * @returns {File[]} files that are neither a video nor an image, or have no media type
 */
export function add(project, files, types, sectionOf) {
  const refused = [];
  const made = [];
  for (const file of files) {
    const kind = kindOf(file),
      type = kind && types[/** @type {"video"|"image"} */ (kind)];
    if (!type) {
      refused.push(file);
      continue;
    }
    made.push(
      /** @type {Upload} */ ({
        id: ++numbers,
        project,
        file,
        name: file.name,
        type,
        isVideo: kind === "video",
        section: sectionOf(file),
        status: "checking",
        sent: 0,
        message: "",
        media: null,
        transcode: null,
        progress: 0,
        abort: new AbortController(),
      }),
    );
  }
  uploads.value = [...uploads.value, ...made];
  check(made.map((each) => each.id));
  return refused;
}

/** Judge files by their content, then let them be sent. @param {number[]} ids */
async function check(ids) {
  for (const id of ids) {
    const upload = find(id);
    if (upload?.status !== "checking") continue;
    const fault = await faultOf(upload.file).catch(() => /** @type {const} */ ("unreadable"));
    if (find(id)?.status !== "checking") continue; // paused or removed meanwhile
    if (fault) change(id, { status: "failed", message: text.fileFaults[fault] });
    else change(id, { status: "waiting" });
    advance();
  }
}

/** Stop sending; what has arrived is kept. @param {number} id */
export function pause(id) {
  const upload = find(id);
  if (!upload || !["checking", "waiting", "uploading"].includes(upload.status)) return;
  upload.abort.abort();
  change(id, { status: "paused" });
  advance();
}

/** Go on with what is paused or failed. @param {number} id */
export function resume(id) {
  change(id, { status: "checking", message: "", abort: new AbortController() });
  check([id]);
}

/** Take an upload off the list. @param {number} id */
export function remove(id) {
  find(id)?.abort.abort();
  uploads.value = uploads.value.filter((each) => each.id !== id);
  advance();
}

/** @param {number} id */
const find = (id) => uploads.peek().find((each) => each.id === id);

/** @param {number} id @param {Partial<Upload>} changes */
function change(id, changes) {
  uploads.value = uploads.value.map((each) => (each.id === id ? { ...each, ...changes } : each));
}

/** Send the next files. Only what is being sent counts: what the service does with files that arrived takes no place. */
function advance() {
  const active = uploads.peek().filter((each) => ["uploading", "creating"].includes(each.status)).length;
  for (const upload of uploads
    .peek()
    .filter((each) => each.status === "waiting")
    .slice(0, Math.max(0, PARALLEL_FILES - active))) {
    change(upload.id, { status: "uploading" });
    run(/** @type {Upload} */ (find(upload.id)))
      .catch((failure) => {
        if (find(upload.id)?.status !== "paused")
          change(upload.id, {
            status: "failed",
            message: [failure.message, failure.details].filter(Boolean).join(" "),
          });
      })
      .finally(advance);
  }
}

/** @param {Upload} upload */
async function run(upload) {
  const { id, file, project, abort } = upload;
  const key = await send(upload);
  if (abort.signal.aborted) return;
  change(id, { status: "creating", sent: file.size });
  const [{ url }] = await post(`DownloadInfo/${project}`, { keys: [key] }, { expiration: 86400 });
  const spec = {
    type: upload.type,
    gid: crypto.randomUUID(),
    uid: crypto.randomUUID(),
    url,
    name: upload.name,
    md5: "",
    size: file.size,
    ...upload.section,
  };
  if (upload.isVideo) {
    const made = await post(`Transcode/${project}`, spec);
    change(id, { status: "transcoding", media: made.media_id, transcode: made.id });
    forget(upload);
    showFolder(upload);
    follow();
  } else {
    const { size, ...image } = spec;
    const made = await post(`Medias/${project}`, image);
    change(id, { status: "importing", media: Array.isArray(made.id) ? made.id[0] : made.id });
    forget(upload);
    showFolder(upload);
    follow();
  }
}

/** Send the file; parts that arrived before are not sent again. @param {Upload} upload @returns {Promise<string>} the key of the object */
async function send(upload) {
  const { file, project } = upload;
  const size = Math.max(PART, Math.ceil(file.size / MOST_PARTS / 1048576) * 1048576);
  const parts = Math.max(1, Math.ceil(file.size / size));
  /** @type {{key: string, urls: string[], upload_id: string, etags: (string | null)[], until: number}} */
  let plan = remembered(upload, parts);
  if (!plan) {
    const info = await get(`UploadInfo/${project}`, { num_parts: parts }, { signal: upload.abort.signal });
    plan = { ...info, etags: Array(parts).fill(null), until: Date.now() + 20 * 3600 * 1000 };
  }
  const loaded = plan.etags.map((etag, index) => (etag ? partSize(file, size, index) : 0));
  const report = () => change(upload.id, { sent: loaded.reduce((sum, each) => sum + each, 0) });
  report();
  const left = plan.etags.map((_, index) => index).filter((index) => !plan.etags[index]);
  const worker = async () => {
    for (let index = left.shift(); index !== undefined; index = left.shift()) {
      const at = index;
      plan.etags[at] = await putPart(
        plan.urls[at],
        file.slice(at * size, (at + 1) * size),
        upload.abort.signal,
        (sent) => {
          loaded[at] = sent;
          report();
        },
      );
      remember(upload, plan);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_PARTS }, worker));
  if (parts > 1)
    await post(`UploadCompletion/${project}`, {
      key: plan.key,
      upload_id: plan.upload_id,
      parts: plan.etags.map((etag, index) => ({ ETag: etag, PartNumber: index + 1 })),
    });
  return plan.key;
}

/** @param {File} file @param {number} size @param {number} index */
const partSize = (file, size, index) => Math.min(size, file.size - index * size);

/**
 * Put one part, with pauses between attempts while the network is away.
 * @param {string} url @param {Blob} content @param {AbortSignal} stop @param {(sent: number) => void} report @returns {Promise<string>} its ETag
 */
async function putPart(url, content, stop, report) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await putOnce(url, content, stop, report);
    } catch (failure) {
      if (stop.aborted || attempt >= ATTEMPTS || /** @type {any} */ (failure).isFinal) throw failure;
      report(0);
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** attempt));
    }
  }
}

/** @param {string} url @param {Blob} content @param {AbortSignal} stop @param {(sent: number) => void} report @returns {Promise<string>} */
const putOnce = (url, content, stop, report) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest(); // fetch does not report what was sent
    const abort = () => request.abort();
    stop.addEventListener("abort", abort, { once: true });
    request.upload.onprogress = (event) => report(event.loaded);
    request.onload = () => {
      if (request.status < 300) resolve(request.getResponseHeader("ETag") ?? "none");
      else
        reject(
          Object.assign(new Error(failures.storeAnswered(request.status)), {
            isFinal: request.status >= 400 && request.status < 500 && request.status !== 408 && request.status !== 429,
          }),
        );
    };
    request.onerror = () => reject(new Error(failures.noStore));
    request.onabort = () => reject(new DOMException("Paused", "AbortError"));
    request.onloadend = () => stop.removeEventListener("abort", abort);
    request.open("PUT", url);
    request.send(content);
  });

let isFollowing = false;
const AT_WORK = new Set(["transcoding", "importing"]);
const MOST_ASKED = 500;
/** Follow what the service does with all uploads until none is left, with one request a project and kind at a time. */
async function follow() {
  if (isFollowing) return;
  isFollowing = true;
  for (;;) {
    const left = uploads.peek().filter((each) => AT_WORK.has(each.status));
    if (!left.length) break;
    for (const project of new Set(left.map((each) => each.project))) {
      const own = left.filter((each) => each.project === project);
      const [videos, images] = [true, false].map((is) =>
        own.filter((each) => each.isVideo === is).slice(0, MOST_ASKED),
      );
      await Promise.all([followTranscodes(project, videos), followImports(project, images)]).catch(() => undefined);
    }
    await new Promise((resolve) => setTimeout(resolve, FOLLOW_MS));
  }
  isFollowing = false;
}

/** @param {number} project @param {Upload[]} videos */
async function followTranscodes(project, videos) {
  if (!videos.length) return;
  const found = await put(`Transcodes/${project}`, { ids: videos.map(({ media }) => media) }, {}, { retry: true });
  const jobs = new Map(found.map((/** @type {any} */ each) => [each.spec.uid, each.job]));
  for (const { id, transcode } of videos) if (jobs.has(transcode)) note(id, jobs.get(transcode));
}

/** @param {number} project @param {Upload[]} images */
async function followImports(project, images) {
  if (!images.length) return;
  const found = await put(`Medias/${project}`, { ids: images.map(({ media }) => media) }, {}, { retry: true });
  const media = new Map(found.map((/** @type {any} */ each) => [each.id, each]));
  for (const { id, media: number } of images) {
    const made = media.get(number);
    if (made?.import_error) change(id, { status: "failed", message: made.import_error });
    else if (!made || Object.values(made.media_files ?? {}).some((each) => each?.length))
      change(id, { status: "done" });
  }
}

/** @param {number} id @param {any} job of its transcode */
function note(id, job) {
  const { done = 0, total = 0 } = job.progress ?? {};
  if (job.status === "succeeded") change(id, { status: "done", progress: 1 });
  else if (["failed", "canceled"].includes(job.status))
    change(id, { status: "failed", message: job.message ?? job.status });
  else change(id, { progress: total ? done / total : 0 });
}

// What was sent of a file is kept for this tab's session, so that the same file dropped after a reload goes on.
/** @param {Upload} upload */
const memory = (upload) =>
  `limn.upload.${upload.project}.${upload.file.name}.${upload.file.size}.${upload.file.lastModified}`;
/** @param {Upload} upload @param {any} plan */
function remember(upload, plan) {
  try {
    if (plan.urls.length > 1) sessionStorage.setItem(memory(upload), JSON.stringify(plan));
  } catch {
    /* a full storage costs the resume only */
  }
}
/** @param {Upload} upload @param {number} parts */
function remembered(upload, parts) {
  try {
    const plan = JSON.parse(sessionStorage.getItem(memory(upload)) ?? "null");
    return plan && plan.until > Date.now() && plan.urls.length === parts ? plan : null;
  } catch {
    return null;
  }
}
/** @param {Upload} upload */
const forget = (upload) => sessionStorage.removeItem(memory(upload));
