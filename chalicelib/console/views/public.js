// Public projects: which there are, and one of them as anybody sees it, without an account.
import { get } from "../client.js";
import { html } from "../lib.js";
import { link } from "../router.js";
import { access as words } from "../strings_access.js";
import { Await, Empty, useAsync } from "../ui/states.js";
import { Gallery } from "./shared.js";

/** @param {{params: Record<string, string>}} props */
export default function Public({ params }) {
  return params.id ? html`<${One} key=${params.id} project=${Number(params.id)} />` : html`<${All} />`;
}

function All() {
  const found = useAsync((signal) => get("PublicProjects", { stop: 1000 }, { signal }), []);
  return html`<div class="page narrow"><header><h1>${words.publicProjects}</h1><p class="muted">${words.publicLead}</p></header><${Await} of=${found}>${(
    /** @type {any[]} */ projects,
  ) =>
    projects.length
      ? html`<ul class="card works">${projects.map((each) => html`<li key=${each.id}><a href=${link(`/public/${each.id}`)}><strong>${each.name}</strong></a><p class="muted">${each.summary}</p></li>`)}</ul>`
      : html`<${Empty} icon="grid" title=${words.noPublic} />`}<//></div>`;
}

/** @param {{project: number}} props */
function One({ project }) {
  const found = useAsync((signal) => get(`Project/${project}`, {}, { signal }), [project]);
  if ([401, 403, 404].includes(found.failure?.status))
    return html`<div class="page narrow"><${Empty} isPage icon="grid" title=${words.notPublic} action=${html`<a href=${link("/public")}>${words.publicProjects}</a>`} /></div>`;
  return html`<${Await} of=${found}>${(/** @type {any} */ { name }) => html`<${Gallery} link=${{ project, name }} />`}<//>`;
}
