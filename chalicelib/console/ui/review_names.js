// What review stores: names of attributes and their values. They are data, the same in every language of the console.
import { review as words } from "../strings_annotate.js";

export const STORED = {
  attribute: "Review",
  comment: "Review comment",
  assigned: "Assigned to",
  status: "Work status",
  accepted: "Accepted",
  rejected: "Rejected",
  open: "Open",
  todo: "To do",
  busy: "In progress",
  done: "Done",
};

const SHOWN = new Map(
  /** @type {const} */ (["accepted", "rejected", "open", "todo", "busy", "done"]).map((name) => [
    STORED[name],
    words[name],
  ]),
);

/** A decision or status as a choice: what is stored, and the word for it. @param {string} value */
export const choice = (value) => [value, shown(value)];
/** The word for a decision or status. @param {string} value */
export const shown = (value) => SHOWN.get(value) ?? value;
