// Copies media into another project: the copies show the same files.
import { get, post } from "../client.js";
import { html } from "../lib.js";
import { LEVELS } from "../store.js";
import { records as words } from "../strings_records.js";
import { RecordDialog } from "./records.js";
import { useAsync } from "./states.js";
import { toast } from "./toast.js";

const FIRST_TYPE = -1;
const NEEDED = LEVELS.indexOf("Can Transfer");

/** @param {{project: number, ids: number[], onClose: () => void}} props */
export function CopyDialog({ project, ids, onClose }) {
  const found = useAsync((signal) => get("Projects", {}, { signal }), []);
  if (!found.value) return null;
  const others = found.value.filter(
    (/** @type {any} */ each) => each.id !== project && LEVELS.indexOf(each.permission) >= NEEDED,
  );
  const copy = async (/** @type {any} */ values) => {
    if (!others.length) throw new Error(words.noOtherProject);
    const made = await post(
      `CloneMedia/${project}`,
      { dest_type: FIRST_TYPE, ...values },
      { media_id: ids.map(String) },
    );
    toast(words.wereCopied(made.id?.length ?? ids.length), { kind: "good" });
  };
  return html`<${RecordDialog} title=${words.copyTo} action=${words.copyTo} values=${{ dest_project: others[0]?.id }} onSave=${copy} onClose=${onClose} first=${html`<p class="muted">${words.copyLead}</p>`} members=${[
    {
      name: "dest_project",
      label: words.otherProject,
      kind: "select",
      options: others.map((/** @type {any} */ each) => [each.id, each.name]),
    },
    { name: "dest_section", label: words.folderThere },
  ]} />`;
}
