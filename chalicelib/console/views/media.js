// The gallery of a project's media.
import { get } from "../client.js";
import { html } from "../lib.js";
import { link } from "../router.js";
import { text } from "../strings.js";
import { Await, Empty, useAsync } from "../ui/states.js";

/** @param {{params: Record<string, string>, query: Record<string, string>}} props */
export default function Media({ params, query }) {
  const found = useAsync((signal) => get(`Medias/${params.project}`, { presigned: 3600, section: query.section, stop: 200 }, { signal }), [params.project, query.section]);
  return html`<div class="page"><${Await} of=${found}>${(/** @type {any[]} */ medias) => !medias.length ? html`<${Empty} icon="video" title=${text.noMatch} />` : html`<ul>${medias.map((each) => html`<li key=${each.id}><a href=${link(`/projects/${params.project}/media/${each.id}`)}>${each.name}</a></li>`)}</ul>`}<//></div>`;
}
