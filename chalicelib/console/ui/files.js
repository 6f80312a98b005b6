// Small files that a record refers to: uploaded in one part.
import { get, post } from "../client.js";

/** Upload a file of at most some megabytes. @param {number} project @param {Blob} content @returns {Promise<string>} the URL of what was uploaded */
export async function saveFile(project, content) {
  const info = await get(`UploadInfo/${project}`);
  const answer = await fetch(info.urls[0], { method: "PUT", body: content, credentials: "omit" });
  if (!answer.ok) throw new Error(`The object store answered ${answer.status}.`);
  const [found] = await post(`DownloadInfo/${project}`, { keys: [info.key] }, { expiration: 86400 });
  return found.url;
}
