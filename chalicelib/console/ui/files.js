// Files that a record refers to.
import { get, post, request } from "../client.js";
import { failures } from "../strings_words.js";

const PART = 16 * 1024 * 1024;

/** Upload a file of at most some megabytes. @param {number} project @param {Blob} content @returns {Promise<string>} the URL of what was uploaded */
export async function saveFile(project, content) {
  const key = await sendFile(project, content, () => {});
  const [found] = await post(`DownloadInfo/${project}`, { keys: [key] }, { expiration: 86400 });
  return found.url;
}

/** Upload a file in parts. @param {number} project @param {Blob} content @param {(share: number) => void} report @param {import("../client.js").Query} [of] what it becomes a file of @returns {Promise<string>} the key of the object */
export async function sendFile(project, content, report, of = {}) {
  const parts = Math.max(1, Math.ceil(content.size / PART));
  const info = await get(`UploadInfo/${project}`, { num_parts: parts, ...of });
  const tags = [];
  for (const [index, url] of info.urls.entries()) {
    const answer = await fetch(url, {
      method: "PUT",
      body: content.slice(index * PART, (index + 1) * PART),
      credentials: "omit",
    });
    if (!answer.ok) throw new Error(failures.storeAnswered(answer.status));
    tags.push({ ETag: answer.headers.get("ETag") ?? "none", PartNumber: index + 1 });
    report((index + 1) / parts);
  }
  if (parts > 1) await post(`UploadCompletion/${project}`, { key: info.key, upload_id: info.upload_id, parts: tags });
  return info.key;
}

/** Save a file that the token opens, under its name. @param {{path: string, name: string}} file */
export async function download({ path, name }) {
  const below = `/media/${path.split("/media/").pop()}`;
  saveBlob(await request("GET", below, { as: "blob" }), name);
}

/** Offer a file for download. @param {Blob} content @param {string} name */
export function saveBlob(content, name) {
  const anchor = Object.assign(document.createElement("a"), { href: URL.createObjectURL(content), download: name });
  anchor.click();
  URL.revokeObjectURL(anchor.href);
}
