// Every sentence of the views of webhooks, trigger rules, versions of datasets and restoring.

/** @param {number} count @param {string} one @param {string} [many] */
const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

export const webhooks = {
  title: "Webhooks", lead: "Events of the project, sent to a server of yours as signed requests.", organizationLead: "Events of all projects of the organization, sent to a server of yours.",
  add: "Register a webhook", none: "No webhooks yet", url: "URL", urlHint: "https at a public address. Redirects are not followed.", types: "Types of events", typesHint: "One per line: a type, a beginning that ends with .*, or *.",
  query: "Only entities that match", queryHint: "Parameters of the list of the one kind that the types name, such as ?attribute=Species::Cod.",
  active: "Active", paused: "Paused", disabled: (/** @type {string} */ reason) => `Disabled: ${REASONS[reason] ?? reason}`, pause: "Pause", resume: "Resume", resumed: "The webhook continues after the last event that was accepted.", owner: "Owner",
  secret: "The secret", secretLead: "Verify messages with it. It is shown only now.", secretUntil: (/** @type {string} */ time) => `Messages are signed with the secret before, too, until ${time}.`, rotate: "Replace the secret", rotateLead: "Messages carry both signatures for as long as the old secret stays valid.", keepHours: "Hours for which the old secret stays valid",
  ping: "Send a ping", pinged: (/** @type {string} */ result, /** @type {number} */ ms) => `The server answered ${result} after ${ms} ms.`, noAnswer: "The server did not answer.",
  deliveries: "Deliveries", deliveriesOf: (/** @type {string} */ name) => `Deliveries of ${name}`, deliveriesLead: "The attempts of seven days, newest first.", noDeliveries: "Nothing was sent yet", onlyFailed: "Only failed ones", more: "Show earlier ones",
  time: "Time", event: "Event", attempt: "Attempt", manual: "by hand", result: "Answer", next: (/** @type {string} */ time) => `Next attempt ${time}`, redeliver: "Send again", redelivered: "The event is sent again.", redeliverSince: "Send all again from here", redeliverAllLead: "All later events of the project are sent again, in order.", of: (/** @type {string} */ project) => `project ${project}`,
};

export const rules = {
  title: "Trigger rules", lead: "Launch an algorithm on each media that an event is about, once for each media.", add: "Add a rule", none: "No trigger rules yet", algorithm: "Algorithm", noAlgorithms: "Register an algorithm first.",
};

const REASONS = /** @type {Record<string, string>} */ ({
  gone: "the server answered 410 Gone", failing: "no event was accepted for three days", owner_lost_access: "its owner may not register it any more",
  algorithm_missing: "its algorithm is gone", token_invalid: "the token of its owner was revoked", refused: "the launch was refused",
});

export const history = {
  restore: "Restore", restoreMany: (/** @type {number} */ count) => `Restore ${plural(count, "deletion")}`, restored: (/** @type {Record<string, number>} */ counts) => `Restored: ${Object.entries(counts).map(([kind, count]) => `${count.toLocaleString("en")} ${KINDS[kind]?.[count === 1 ? 0 : 1] ?? kind}`).join(", ")}.`,
  choose: (/** @type {string} */ who, /** @type {string} */ when) => `Select the deletion by ${who}, ${when}`, deletionOf: (/** @type {string} */ kind, /** @type {number[]} */ ids) => `${KINDS[kind]?.[ids.length === 1 ? 0 : 1] ?? kind} ${ids.slice(0, 5).join(", ")}${ids.length > 5 ? ` and ${plural(ids.length - 5, "other")}` : ""}`, wasRestored: "restored", undo: "Undo", earlier: "Show earlier changes", changed: (/** @type {number} */ count) => plural(count, "change"),
};

const KINDS = /** @type {Record<string, [string, string]>} */ ({ media: ["media", "media"], localization: ["localization", "localizations"], state: ["state", "states"], section: ["section", "sections"], leaf: ["leaf", "leaves"] });

export const datasets = {
  title: "Versions of datasets", lead: "Media and annotations as they are now, kept under a name until the version is deleted.", add: "Freeze a version", none: "No versions yet", freeze: "Freeze", started: "The version is being made.",
  about: (/** @type {string} */ labels, /** @type {string} */ media, /** @type {number} */ commit) => `${labels} labels of ${media} media at commit ${commit}`,
  compare: "Compare", compareTitle: (/** @type {string} */ name) => `Compare ${name}`, with: "With the earlier version", added: "Added", changed: "Changed", removed: "Removed", rows: { media: "Media", localizations: "Localizations", states: "Tracks and states" }, ids: "The first of them",
  of: "Version of a dataset", present: "The project as it is now", export_: "Export", deleteLead: "Its rows are deleted. The project's annotations stay.",
};
