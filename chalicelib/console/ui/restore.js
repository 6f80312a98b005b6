// Undoing a deletion right after it, from its message.
import { ApiError, get, post } from "../client.js";
import { text } from "../strings.js";
import { history as words } from "../strings_manage.js";
import { toast, toastError } from "./toast.js";

/** So many entities are deleted by one commit; larger deletions are undone from the change history. */
const MOST = 90;

/**
 * Say that something was deleted, and offer to undo it.
 * @param {number} project @param {"media" | "localization" | "section" | "leaf"} kind @param {number[]} ids @param {() => void} onRestored
 */
export function toastDeleted(project, kind, ids, onRestored) {
  const undo = async () => {
    const changes = new Set();
    for (const id of new Set([ids[0], ids[ids.length - 1]])) {
      const entries = await get(`History/${project}/${kind}/${id}`, { stop: 1000 });
      const last = entries.findLast((/** @type {any} */ each) => each.action === "deleted");
      if (!last) throw new ApiError(404, text.noChanges);
      changes.add(last.change);
    }
    const { restored } = await post(`Restore/${project}`, { changes: [...changes] });
    toast(words.restored(restored), { kind: "good" });
    onRestored();
  };
  toast(text.deleted, {
    kind: "good",
    seconds: 12,
    ...(ids.length <= MOST && { action: words.undo, run: () => undo().catch(toastError) }),
  });
}
