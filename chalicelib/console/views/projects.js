// The projects of the user, as cards, by organization.
import { get, post } from "../client.js";
import { html, useState } from "../lib.js";
import { link, navigate } from "../router.js";
import { text } from "../strings.js";
import { Button, Select, TextField } from "../ui/controls.js";
import { Dialog } from "../ui/dialog.js";
import { Icon } from "../ui/icons.js";
import { Await, Empty, useAsync } from "../ui/states.js";
import { bytes, duration } from "../ui/format.js";
import { explain } from "../ui/toast.js";

export default function Projects() {
  const found = useAsync(async (signal) => {
    const [projects, organizations] = await Promise.all([
      get("Projects", {}, { signal }),
      get("Organizations", {}, { signal }),
    ]);
    return { projects, organizations };
  }, []);
  return html`<${Await} of=${found}>${(/** @type {any} */ value) => html`<${List} ...${value} again=${found.again} />`}<//>`;
}

/** @param {{projects: any[], organizations: any[], again: () => void}} props */
function List({ projects, organizations, again }) {
  const [creating, setCreating] = useState("");
  const [search, setSearch] = useState("");
  const shown = projects.filter((each) => each.name.toLowerCase().includes(search.trim().toLowerCase()));
  const groups = Map.groupBy(shown, (/** @type {any} */ each) => each.organization);
  const nameOf = (/** @type {number} */ id) => organizations.find((each) => each.id === id)?.name ?? text.organization;
  const create = organizations.length
    ? html`<${Button} kind="primary" icon="add" onClick=${() => setCreating("project")}>${text.newProject}<//>`
    : html`<${Button} kind="primary" icon="add" onClick=${() => setCreating("organization")}>${text.newOrganization}<//>`;
  return html`<div class="page">
    <header><h1>${text.projects}</h1><div class="row">
      ${projects.length > 6 && html`<input class="input" type="search" aria-label=${text.findProject} placeholder=${text.findProject} value=${search} onInput=${(/** @type {any} */ e) => setSearch(e.currentTarget.value)} />`}
      ${organizations.length > 0 && html`<${Button} onClick=${() => setCreating("organization")}>${text.newOrganization}<//>`}${projects.length > 0 && create}</div></header>
    ${!projects.length && html`<${Empty} icon="folder" title=${text.noProjects} action=${create}>${organizations.length ? text.noProjectsLead : text.needOrganization}<//>`}
    ${projects.length > 0 && !shown.length && html`<${Empty} icon="search" title=${text.noMatch} />`}
    ${[...groups].map(
      ([
        id,
        members,
      ]) => html`<section class="column" key=${id}><h2 class="organization-name"><a class="organization" href=${link(`/organizations/${id}`)}>${nameOf(id)}</a></h2>
      <div class="project-cards">${members.map((/** @type {any} */ each) => html`<${Card} key=${each.id} project=${each} />`)}</div></section>`,
    )}
    ${organizations.filter((each) => !groups.has(each.id) && !search).map((each) => html`<section class="column" key=${`o${each.id}`}><h2 class="organization-name"><a class="organization" href=${link(`/organizations/${each.id}`)}>${each.name}</a></h2><p class="muted">${text.noProjects}</p></section>`)}
    ${creating === "project" && html`<${CreateProject} organizations=${organizations} onClose=${() => setCreating("")} />`}
    ${
      creating === "organization" &&
      html`<${CreateOrganization} onClose=${() => setCreating("")} onDone=${() => {
        setCreating("");
        again();
      }} />`
    }</div>`;
}

/** @param {{project: any}} props */
const Card = ({ project }) => html`<a class="card project-card" href=${link(`/projects/${project.id}`)}>
  <span class="project-picture">${project.thumb ? html`<img src=${project.thumb} alt="" loading="lazy" />` : html`<${Icon} name="video" />`}</span>
  <span class="project-text"><strong class="cut">${project.name}</strong>${project.summary && html`<span class="muted small project-summary">${project.summary}</span>`}
    <span class="muted small number">${[text.files(project.num_files), project.duration > 0 && duration(project.duration), project.size > 0 && bytes(project.size)].filter(Boolean).join(" · ")}</span></span></a>`;

/** @param {{organizations: any[], onClose: () => void}} props */
function CreateProject({ organizations, onClose }) {
  const [given, setGiven] = useState({ name: "", summary: "", organization: organizations[0].id });
  const [failure, setFailure] = useState("");
  const submit = () =>
    post("Projects", {
      name: given.name.trim(),
      organization: Number(given.organization),
      ...(given.summary.trim() ? { summary: given.summary.trim() } : {}),
    }).then(
      (made) => navigate(`/projects/${made.id}/manage/types`),
      (reason) => setFailure(explain(reason)),
    );
  return html`<${Dialog} title=${text.newProject} onClose=${onClose} onSubmit=${submit} footer=${html`<${Button} onClick=${onClose}>${text.cancel}<//><${Button} kind="primary" type="submit">${text.create}<//>`}>
    ${failure && html`<div class="note bad" role="alert">${failure}</div>`}
    <${TextField} label=${text.name} value=${given.name} required maxlength="128" autofocus onInput=${(/** @type {string} */ name) => setGiven({ ...given, name })} />
    <${TextField} label=${text.projectSummary} value=${given.summary} rows=${2} onInput=${(/** @type {string} */ summary) => setGiven({ ...given, summary })} />
    <${Select} label=${text.organization} value=${given.organization} options=${organizations.map((each) => [each.id, each.name])} onChange=${(/** @type {any} */ organization) => setGiven({ ...given, organization })} /><//>`;
}

/** @param {{onClose: () => void, onDone: () => void}} props */
function CreateOrganization({ onClose, onDone }) {
  const [name, setName] = useState("");
  const [failure, setFailure] = useState("");
  const submit = () =>
    post("Organizations", { name: name.trim() }).then(onDone, (reason) => setFailure(explain(reason)));
  return html`<${Dialog} title=${text.newOrganization} onClose=${onClose} onSubmit=${submit} footer=${html`<${Button} onClick=${onClose}>${text.cancel}<//><${Button} kind="primary" type="submit">${text.create}<//>`}>
    ${failure && html`<div class="note bad" role="alert">${failure}</div>`}<${TextField} label=${text.name} value=${name} required maxlength="128" autofocus onInput=${setName} /><//>`;
}
