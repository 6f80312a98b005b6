// Words of the service that the console shows: levels of permission, states of work and tasks, kinds of audits. They are stored in English.

import { translated } from "./languages.js";

export const words = translated("words", {
  "No Access": "No Access",
  "View Only": "View Only",
  "Can Edit": "Can Edit",
  "Can Transfer": "Can Transfer",
  "Can Execute": "Can Execute",
  "Full Control": "Full Control",
  Creator: "Creator",
  Member: "Member",
  Admin: "Admin",
  Pending: "Pending",
  Accepted: "Accepted",
  Expired: "Expired",
  Queued: "Queued",
  Started: "Started",
  Running: "Running",
  Finished: "Finished",
  Succeeded: "Succeeded",
  Failed: "Failed",
  Canceled: "Canceled",
  pending: "pending",
  running: "running",
  succeeded: "succeeded",
  failed: "failed",
  canceled: "canceled",
  expired: "expired",
  "to do": "to do",
  "in progress": "in progress",
  "to review": "to review",
  done: "done",
  rejected: "rejected",
  "sign-in": "sign-in",
  account: "account",
  token: "token",
  membership: "membership",
  policy: "policy",
  share: "share",
  export: "export",
  download: "download",
  deletion: "deletion",
  refusal: "refusal",
});

/** Members of records, as changes and conflicts name them. */
export const members = translated("members", {
  x: "left",
  y: "top",
  width: "width",
  height: "height",
  u: "to the right",
  v: "down",
  points: "points",
  mask: "mask",
  angle: "angle",
  form: "form",
  holes: "holes",
  closed: "closed",
  visible: "visible",
  type: "type",
  name: "name",
  media: "media",
  frame: "frame",
  version: "layer",
  parent: "parent",
  path: "path",
  section: "folder",
  primary_section: "folder",
  archive_state: "archived",
  localization_ids: "shapes",
});

/** The name of a member for people. @param {string} given */
export const memberName = (given) =>
  /** @type {Record<string, string>} */ (members)[given] ?? given.replaceAll("_", " ");

/** A word of the service in the language of the console; others stay as they are. @param {string} given @returns {string} */
export const word = (given) => /** @type {Record<string, string>} */ (words)[given] ?? given;
/** A value of the service as a choice: itself, and the word for it. @param {string} given @returns {[string, string]} */
export const wordChoice = (given) => [given, word(given)];

/** What the console itself has to say of a request that failed. */
export const failures = translated("failures", {
  noService: "The service cannot be reached. Check the connection and try again.",
  answered: (/** @type {number} */ status, /** @type {string} */ reason) => `The service answered ${status} ${reason}.`,
  storeAnswered: (/** @type {number} */ status) => `The object store answered ${status}.`,
  noStore: "The object store cannot be reached.",
});

/** What a refusal of the service is, by its rule or its status, said before its message in languages other than English. */
export const refusals = translated(
  "refusals",
  /** @type {Record<string, string>} */ ({
    taken: "",
    400: "",
    401: "",
    403: "",
    404: "",
    409: "",
    410: "",
    413: "",
    415: "",
    429: "",
    500: "",
    503: "",
  }),
);
