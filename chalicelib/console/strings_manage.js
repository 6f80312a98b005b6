// Every sentence of the views of label trees, webhooks, trigger rules, versions of datasets and restoring.

import { translated } from "./languages.js";
import { MOST_MATCHES, number, plural } from "./strings_plural.js";

export { MOST_MATCHES };

export const webhooks = translated("webhooks", {
  title: "Webhooks",
  lead: "Events of the project, sent to a server of yours as signed requests.",
  organizationLead: "Events of all projects of the organization, sent to a server of yours.",
  add: "Register a webhook",
  none: "No webhooks yet",
  url: "URL",
  urlHint: "https at a public address. Redirects are not followed.",
  types: "Types of events",
  typesHint: "One per line: a type, a beginning that ends with .*, or *.",
  query: "Only entities that match",
  queryHint: "Parameters of the list of the one kind that the types name, such as ?attribute=Species::Cod.",
  active: "Active",
  paused: "Paused",
  disabled: (/** @type {string} */ reason) => `Disabled: ${REASONS[reason] ?? reason}`,
  pause: "Pause",
  resume: "Resume",
  resumed: "The webhook continues after the last event that was accepted.",
  owner: "Owner",
  secret: "The secret",
  secretLead: "Verify messages with it. It is shown only now.",
  secretUntil: (/** @type {string} */ time) => `Messages are signed with the secret before, too, until ${time}.`,
  rotate: "Replace the secret",
  rotateLead: "Messages carry both signatures for as long as the old secret stays valid.",
  keepHours: "Hours for which the old secret stays valid",
  ping: "Send a ping",
  pinged: (/** @type {string} */ result, /** @type {number} */ ms) => `The server answered ${result} after ${ms} ms.`,
  noAnswer: "The server did not answer.",
  deliveries: "Deliveries",
  deliveriesOf: (/** @type {string} */ name) => `Deliveries of ${name}`,
  deliveriesLead: "The attempts of seven days, newest first.",
  noDeliveries: "Nothing was sent yet",
  onlyFailed: "Only failed ones",
  more: "Show earlier ones",
  time: "Time",
  event: "Event",
  attempt: "Attempt",
  manual: "by hand",
  result: "Answer",
  next: (/** @type {string} */ time) => `Next attempt ${time}`,
  redeliver: "Send again",
  redeliverSince: "Send all again from here",
  redeliverAllLead: "All later events of the project are sent again, in order.",
});

export const rules = translated("rules", {
  title: "Trigger rules",
  lead: "Launch an algorithm or annotator on each media that an event is about, once for each media.",
  add: "Add a rule",
  none: "No trigger rules yet",
  runs: "Runs",
  annotator: (/** @type {string} */ name) => `Annotator ${name}`,
  every: "Every n-th frame",
  onImport: "Predict on import",
  noAlgorithms: "Register an algorithm or annotator first.",
});

const REASONS = /** @type {Record<string, string>} */ ({
  gone: "the server answered 410 Gone",
  failing: "no event was accepted for three days",
  owner_lost_access: "its owner may not register it any more",
  algorithm_missing: "its algorithm is gone",
  token_invalid: "the token of its owner was revoked",
  launches_itself: "its jobs make media that launch it again; narrow its query before you activate it",
  algorithm_changed: "somebody else changed what its algorithm runs; activate it to approve that",
  refused: "the launch was refused",
  query_refused: "its query is refused",
  error: "it failed for three days",
});

export const history = translated("history", {
  restore: "Restore",
  restoreMany: (/** @type {number} */ count) => `Restore ${plural(count, "deletion")}`,
  restored: (/** @type {Record<string, number>} */ counts) =>
    `Restored: ${Object.entries(counts)
      .map(([kind, count]) => `${number(count)} ${KINDS[kind]?.[count === 1 ? 0 : 1] ?? kind}`)
      .join(", ")}.`,
  choose: (/** @type {string} */ who, /** @type {string} */ when) => `Select the deletion by ${who}, ${when}`,
  deletionOf: (/** @type {string} */ kind, /** @type {number[]} */ ids) =>
    `${KINDS[kind]?.[ids.length === 1 ? 0 : 1] ?? kind} ${ids.slice(0, 5).join(", ")}${ids.length > 5 ? ` and ${plural(ids.length - 5, "other")}` : ""}`,
  wasRestored: "restored",
  entity: (/** @type {string} */ kind, /** @type {string | number} */ id) => `${KINDS[kind]?.[0] ?? kind} ${id}`.trim(),
  undo: "Undo",
  earlier: "Show earlier changes",
});

const KINDS = /** @type {Record<string, [string, string]>} */ ({
  media: ["media", "media"],
  localization: ["localization", "localizations"],
  state: ["state", "states"],
  section: ["section", "sections"],
  leaf: ["leaf", "leaves"],
});

export const sources = translated("sources", {
  title: "Bucket sources",
  lead: "Prefixes of the organization's buckets. What lies there becomes media, without a copy.",
  add: "Register a prefix",
  none: "No bucket sources yet",
  needBucket: "An administrator of the organization registers a bucket first.",
  bucket: "Bucket",
  prefix: "Prefix",
  prefixHint: "Folders with a slash at the end; empty for the whole bucket.",
  mediaTypes: "Media types",
  mediaTypesHint: "One per line: an extension and the name of a media type, such as: mp4 Dive.",
  section: "Folder of new media",
  pattern: "Which objects",
  patternHint: "* is any text, ? one character.",
  hours: "Hours between two listings; 0 for none",
  objects: "Objects",
  counts: (/** @type {any} */ each) =>
    [
      [each.created, "new"],
      [each.changed, "changed"],
      [each.missing, "missing"],
      [each.skipped, "skipped"],
    ]
      .filter(([count]) => count > 0)
      .map(([count, word]) => `${number(count)} ${word}`)
      .join(", "),
  listNow: "List now",
  begun: "The listing has begun.",
  deleteLead: "Its media stay, and refer to their objects as before.",
  noType: (/** @type {string} */ line) => `media types: "${line}" does not end with the name of a media type.`,
});

export const datasets = translated("datasets", {
  title: "Versions of datasets",
  lead: "Media and annotations as they are now, kept under a name until the version is deleted.",
  add: "Freeze a version",
  none: "No versions yet",
  freeze: "Freeze",
  started: "The version is being made.",
  about: (/** @type {string} */ labels, /** @type {string} */ media, /** @type {number} */ commit) =>
    `${labels} labels of ${media} media at commit ${commit}`,
  compare: "Compare",
  compareTitle: (/** @type {string} */ name) => `Compare ${name}`,
  with: "With the earlier version",
  added: "Added",
  changed: "Changed",
  removed: "Removed",
  rows: { media: "Media", localizations: "Localizations", states: "Tracks and states" },
  ids: "The first of them",
  of: "Version of a dataset",
  present: "The project as it is now",
  export_: "Export",
  deleteLead: "Its rows are deleted. The project's annotations stay.",
});

export const leaves = translated("leaves", {
  taxa: {
    name: "Taxa",
    open: "Import taxa",
    title: "Import a list of taxa",
    lead: "A Darwin Core Archive of WoRMS or GBIF, its table of taxa, or a CSV with AphiaID and ScientificName. Each accepted taxon becomes a leaf with its id, rank, authority and synonyms. What is there stays.",
    into: "Name of the label tree",
    intoHint: "An existing one is continued; another name makes a new one.",
    file: "File",
    within: "Only these and what is below",
    withinHint: "A name on each line, such as Gadidae; empty for the whole list.",
    import: "Import",
    counted: (/** @type {string} */ count, /** @type {number} */ skipped) =>
      `${count} accepted taxa${skipped ? `; ${plural(skipped, "row")} without an id or name` : ""}`,
    done: (/** @type {number} */ created, /** @type {number} */ present) =>
      `${plural(created, "taxon", "taxa")} created, ${number(present)} present.`,
    noTaxon: (/** @type {string} */ name) => `The list has no accepted taxon "${name}".`,
    noTable: "its first line has no taxonID (or AphiaID) and scientificName, or no accepted taxon follows.",
    noArchive: "the archive must have one file taxon.txt, .tsv or .csv.",
    unread: (/** @type {string} */ file, /** @type {string} */ why) => `${file}: ${why}`,
    lacking: (/** @type {string} */ type, /** @type {string} */ names) =>
      `${type} lacks attributes for taxa: ${names}. Add them under Types, or import into a new label tree.`,
    about: {
      taxonID: "Identifier of the taxon in its list.",
      AphiaID: "Number of the taxon in WoRMS.",
      rank: "Rank, such as species.",
      authority: "Who named it, and when.",
      synonyms: "Other names of it, separated by semicolons.",
    },
  },
  title: "Label trees",
  lead: "Names in an order of their own, such as a taxonomy. Texts of annotations are completed from them.",
  readOnly: "Members with full control change them.",
  noTypes: "No label trees yet",
  noTypesLead: "A label tree is a type of leaves. Create one, then its leaves.",
  newTree: "New label tree",
  tree: "Label tree",
  empty: "No leaves yet",
  emptyLead: "Begin with those at the top.",
  find: "Find a leaf",
  matches: (/** @type {number} */ count) =>
    count >= MOST_MATCHES ? `The first ${MOST_MATCHES} matches` : plural(count, "match", "matches"),
  addTop: "Add at the top",
  addBelow: "Add below",
  addBeside: "Add beside",
  addBelowOf: (/** @type {string} */ name) => `Add below ${name}`,
  names: "Names",
  namesHint: "One per line. Letters, digits, blanks, _ - ( ) and dots.",
  added: (/** @type {number} */ count) => `Added ${plural(count, "leaf", "leaves")}.`,
  editLeaf: "Rename or edit",
  saved: (/** @type {string} */ name) => `${name} is saved.`,
  path: "Path",
  move: "Move",
  moving: (/** @type {string} */ name) => `Moving ${name}: choose the leaf that it goes below.`,
  moveHere: (/** @type {string} */ name) => `Put ${name} below this`,
  toTop: "To the top",
  moved: (/** @type {string} */ name, /** @type {string} */ below) =>
    `${name} is ${below ? `below ${below}` : "at the top"} now.`,
  deleteLead: (/** @type {number} */ below) =>
    `${below ? `${below >= MOST_MATCHES ? `${MOST_MATCHES} or more` : plural(below, "leaf", "leaves")} below it ${below === 1 ? "is" : "are"} deleted with it. ` : ""}Annotations keep the names.`,
  showMore: (/** @type {number} */ count) => `Show ${number(count)} more`,
  keys: "Arrow keys move, n adds below, Enter edits, x takes up and v puts down, Delete deletes.",
  completion: "Completed from",
  completionNone: "Nothing",
  completionHint: "Texts are completed from the leaves below it.",
});

export const transfers = translated("transfers", {
  yoloTask: "Labels",
  tasks: { detect: "Boxes", segment: "Polygons" },
  firstPixel: "Number of the first pixel",
  imageFormat: "Format of pictures",
  imageHeight: "Height of pictures",
  imageHeightHint: "Higher ones are scaled down to it.",
  splitTest: "With a test set (70 : 20 : 10)",
  classAttribute: "The name of the class becomes",
  classAttributeHint: "The value of an attribute, or the type of that name.",
  outside: "Shapes beyond the picture",
  unknownAttributes: "Attributes that the type lacks",
  refuse: "Refuse the row",
  clip: "Cut them off",
  drop: "Leave them out",
  intoFolder: "Folder of new media",
  begin: "Begin",
  importNow: "Import it now",
});
