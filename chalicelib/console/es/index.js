// The catalogues of Spanish, under the names that `translated` asks for. Terms: docs/guides/translating.md.
export { access } from "./access.js";
export { annotate, review } from "./annotate.js";
export { assist } from "./assist.js";
export { text } from "./main.js";
export { datasets, history, leaves, rules, sources, transfers, webhooks } from "./manage.js";
export { records } from "./records.js";
export { settings } from "./settings.js";
export { shapes } from "./shapes.js";
export { comments, consensus, quality, team } from "./team.js";
export { tour } from "./tour.js";
export { failures, members, refusals, words } from "./words.js";
