// What a project is made of: its types, members, versions, algorithms, applets, and what changed.
import { del, get, patch, post } from "../client.js";
import { html, useState } from "../lib.js";
import { link, navigate } from "../router.js";
import { LEVELS, may, project, reload, user } from "../store.js";
import { access } from "../strings_access.js";
import { text } from "../strings.js";
import { word, wordChoice } from "../strings_words.js";
import { Button } from "../ui/controls.js";
import { confirm } from "../ui/dialog.js";
import { bytes, date, duration, number } from "../ui/format.js";
import { Icon } from "../ui/icons.js";
import { RecordDialog, RecordTable } from "../ui/records.js";
import { Await, Empty, useAsync } from "../ui/states.js";
import { toast, toastError } from "../ui/toast.js";
import { saveFile } from "../ui/files.js";
import { History } from "./manage_history.js";
import { Leaves } from "./manage_leaves.js";
import { Shares } from "./manage_shares.js";
import { Sources } from "./manage_sources.js";
import { Types } from "./manage_types.js";
import { Files } from "./manage_files.js";
import { Mail } from "./manage_mail.js";
import { Protections } from "./manage_protections.js";
import { ProjectWebhooks } from "./manage_webhooks.js";

const PAGES = /** @type {const} */ ([
  ["", "gear"],
  ["types", "tag"],
  ["leaves", "tree"],
  ["members", "people"],
  ["versions", "layers"],
  ["algorithms", "jobs"],
  ["applets", "applet"],
  ["files", "list"],
  ["sources", "bucket"],
  ["webhooks", "link"],
  ["shares", "people"],
  ["history", "history"],
]);
const COMPONENTS = /** @type {Record<string, any>} */ ({
  "": General,
  types: Types,
  leaves: Leaves,
  members: Members,
  versions: Versions,
  algorithms: Algorithms,
  applets: Applets,
  files: Files,
  sources: Sources,
  webhooks: ProjectWebhooks,
  shares: Shares,
  history: History,
});

/** @param {{params: Record<string, string>, query: Record<string, string>}} props */
export default function Manage({ params, query }) {
  const open = /** @type {any} */ (project.value);
  const page = params.page ?? "";
  const component = COMPONENTS[page];
  return html`<div class="with-side"><aside class="side"><nav aria-label=${text.tabs.manage}>${PAGES.filter(([name]) => !["webhooks", "sources", "shares"].includes(name) || may("Full Control")).map(([name, icon]) => html`<a key=${name} class="item" href=${link(`/projects/${open.id}/manage${name ? `/${name}` : ""}`)} aria-current=${page === name ? "page" : undefined}><${Icon} name=${icon} />${text.manage[name]}</a>`)}
      <h2>${text.organization}</h2><a class="item" href=${link(`/organizations/${open.project.organization}`)}><${Icon} name="bucket" />${text.organizationLead}</a></nav></aside>
    <div class="scroll manage-page" tabindex="-1">${component ? html`<${component} query=${query} />` : html`<${Empty} icon="search" title=${text.noView} />`}</div></div>`;
}

function General() {
  const open = /** @type {any} */ (project.value);
  const [editing, setEditing] = useState(false);
  // only administrators of the organization may read its buckets and choose one
  const buckets = useAsync(
    (signal) =>
      may("Full Control")
        ? get(`Buckets/${open.project.organization}`, {}, { signal }).catch(() => [])
        : Promise.resolve([]),
    [open.id],
  );
  const about = open.project;
  const refresh = async () => {
    const found = await get(`Project/${open.id}`);
    project.value = { .../** @type {any} */ (project.value), name: found.name, project: found };
  };
  const save = (/** @type {any} */ values) => patch(`Project/${open.id}`, values).then(refresh);
  const remove = async () => {
    if (
      await confirm({
        title: text.deleteNamed(open.name),
        message: text.deleteProjectLead,
        action: text.delete,
        danger: true,
        type: open.name,
      })
    )
      del(`Project/${open.id}`).then(() => {
        toast(text.deleted, { kind: "good" });
        navigate("/");
      }, toastError);
  };
  const facts = [
    [text.files_, number(about.num_files)],
    [text.size, bytes(about.size)],
    [text.length, duration(about.duration)],
    [text.created, date(about.created)],
    [text.yourLevel, word(open.permission)],
  ];
  return html`<section class="column"><div class="row"><div class="grow"><h1>${open.name}</h1><p class="muted">${about.summary}</p></div>${may("Full Control") && html`<${Button} icon="edit" onClick=${() => setEditing(true)}>${text.edit}<//>`}</div>
    <dl class="card facts">${facts.map(([name, value]) => html`<div key=${name}><dt class="muted small">${name}</dt><dd class="number">${value}</dd></div>`)}</dl>
    ${may("Full Control") && html`<h2>${text.dangerZone}</h2><div class="card panel row"><p class="grow muted">${text.deleteProjectLead}</p><${Button} kind="danger" icon="trash" onClick=${remove}>${text.deleteProject}<//></div>`}
    ${editing && html`<${RecordDialog} title=${text.editProject} isNew=${false} values=${about} onClose=${() => setEditing(false)} onSave=${save} members=${[{ name: "name", label: text.name, required: true }, { name: "summary", label: text.projectSummary, kind: "long" }, { name: "enable_downloads", label: text.enableDownloads, kind: "check" }, { name: "public", label: access.isPublic, kind: "select", options: Object.entries(access.publicStates) }, { name: "public_downloads", label: access.publicDownloads, kind: "check" }, ...bucketMembers(buckets.value ?? [])]} />`}</section>`;
}

/** Where the files of a project lie. @param {any[]} buckets of the organization @returns {import("../ui/records.js").Member[]} */
const bucketMembers = (buckets) =>
  buckets.length
    ? /** @type {const} */ (["bucket", "upload_bucket", "backup_bucket"]).map((name) => ({
        name,
        label: text.projectBuckets[name],
        kind: "select",
        options: [["", text.ownBucket], ...buckets.map((each) => /** @type {[any, string]} */ ([each.id, each.name]))],
      }))
    : [];

function Members() {
  const open = /** @type {any} */ (project.value);
  const [editing, setEditing] = useState(/** @type {any} */ (null));
  const levels = LEVELS.slice(1, 6).map(wordChoice);
  const save = async (/** @type {any} */ values) => {
    if (editing.id) await patch(`Membership/${editing.id}`, values);
    else {
      const found = await get("Users", values.who.includes("@") ? { email: values.who } : { username: values.who });
      if (!found.length) throw new Error(text.noUser(values.who));
      await post(`Memberships/${open.id}`, {
        user: found[0].id,
        permission: values.permission ?? "View Only",
        default_version: values.default_version,
      });
    }
    await reload("members");
  };
  const members = [
    {
      name: "who",
      label: text.userOrEmail,
      required: true,
      only: /** @type {const} */ ("create"),
      hint: text.userHint,
    },
    { name: "permission", label: text.level, kind: /** @type {const} */ ("select"), options: levels },
    {
      name: "default_version",
      label: text.defaultVersion,
      kind: /** @type {const} */ ("select"),
      options: [["", "–"], ...open.versions.map((/** @type {any} */ each) => [each.id, each.name])],
    },
  ];
  return html`<div class="column sections"><${RecordTable} isPage title=${text.manage.members} lead=${text.membersLead} icon="people" items=${open.members} nameOf=${(/** @type {any} */ each) => each.username} onCreate=${may("Full Control") ? () => setEditing({ permission: "View Only" }) : undefined} createLabel=${text.addMember}
      columns=${[
        {
          name: text.name,
          render: (/** @type {any} */ each) =>
            html`<div class="row"><span class="avatar small" aria-hidden="true">${(each.first_name?.[0] ?? each.username[0]).toUpperCase()}</span><div class="column tight"><strong>${`${each.first_name ?? ""} ${each.last_name ?? ""}`.trim() || each.username}</strong><span class="muted small">${each.email ?? each.username}</span></div></div>`,
        },
        {
          name: text.level,
          render: (/** @type {any} */ each) => html`<span class="chip">${word(each.permission)}</span>`,
        },
        {
          name: text.defaultVersion,
          render: (/** @type {any} */ each) =>
            open.versions.find((/** @type {any} */ version) => version.id === each.default_version)?.name ?? "",
        },
      ]}
      onChange=${may("Full Control") ? setEditing : undefined} onRemove=${may("Full Control") ? (/** @type {any} */ each) => del(`Membership/${each.id}`).then(() => reload("members")) : undefined} isLocked=${(/** @type {any} */ each) => each.user === user.value?.id} />
    <${Mail} /><${Protections} /></div>
    ${editing && html`<${RecordDialog} title=${editing.id ? editing.username : text.addMember} isNew=${!editing.id} action=${editing.id ? text.save : text.add} values=${editing} members=${members} onSave=${save} onClose=${() => setEditing(null)} />`}`;
}

function Versions() {
  const open = /** @type {any} */ (project.value);
  const [editing, setEditing] = useState(/** @type {any} */ (null));
  const save = (/** @type {any} */ values) =>
    (editing.id ? patch(`Version/${editing.id}`, values) : post(`Versions/${open.id}`, values)).then(() =>
      reload("versions"),
    );
  const others = open.versions
    .filter((/** @type {any} */ each) => each.id !== editing?.id)
    .map((/** @type {any} */ each) => [each.id, each.name]);
  return html`<${RecordTable} isPage title=${text.manage.versions} lead=${text.versionsLead} icon="layers" items=${open.versions} nameOf=${(/** @type {any} */ each) => each.name} onCreate=${may("Can Edit") ? () => setEditing({}) : undefined}
      columns=${[{ name: text.name, render: (/** @type {any} */ each) => html`<strong>${each.name}</strong>` }, { name: text.description, render: (/** @type {any} */ each) => each.description }, { name: text.bases, render: (/** @type {any} */ each) => (each.bases ?? []).map((/** @type {number} */ id) => open.versions.find((/** @type {any} */ other) => other.id === id)?.name ?? id).join(", ") }]}
      onChange=${may("Can Edit") ? setEditing : undefined} onRemove=${may("Full Control") ? (/** @type {any} */ each) => del(`Version/${each.id}`).then(() => reload("versions")) : undefined} />
    ${editing && html`<${RecordDialog} title=${editing.name ?? text.newVersion} isNew=${!editing.id} values=${editing} onSave=${save} onClose=${() => setEditing(null)} members=${[{ name: "name", label: text.name, required: true }, { name: "description", label: text.description, kind: "long" }, { name: "bases", label: text.bases, kind: "choices", options: others }]} />`}`;
}

function Algorithms() {
  const open = /** @type {any} */ (project.value);
  const found = useAsync((signal) => get(`Algorithms/${open.id}`, {}, { signal }), [open.id]);
  const [editing, setEditing] = useState(/** @type {any} */ (null));
  const [file, setFile] = useState(/** @type {File | null} */ (null));
  const save = async (/** @type {any} */ values) => {
    if (editing.id) await patch(`Algorithm/${editing.id}`, values);
    else {
      if (!file) throw new Error(text.needManifest);
      const url = await saveFile(open.id, file);
      const saved = await post(`SaveAlgorithmManifest/${open.id}`, { name: file.name, upload_url: url });
      await post(`Algorithms/${open.id}`, { files_per_job: 1, ...values, user: user.value.id, manifest: saved.url });
    }
    found.again();
  };
  const members = [
    { name: "name", label: text.name, required: true },
    { name: "description", label: text.description, kind: /** @type {const} */ ("long") },
    {
      name: "files_per_job",
      label: text.filesPerJob,
      kind: /** @type {const} */ ("number"),
      hint: text.filesPerJobHint,
    },
    { name: "categories", label: text.categories, kind: /** @type {const} */ ("lines"), hint: text.onePerLine },
  ];
  return html`<${Await} of=${found}>${(
    /** @type {any[]} */ items,
  ) => html`<${RecordTable} isPage title=${text.manage.algorithms} lead=${text.algorithmsLead} icon="jobs" items=${items} nameOf=${(/** @type {any} */ each) => each.name} onCreate=${
    may("Full Control")
      ? () => {
          setFile(null);
          setEditing({});
        }
      : undefined
  } createLabel=${text.registerAlgorithm}
      columns=${[{ name: text.name, render: (/** @type {any} */ each) => html`<strong>${each.name}</strong>` }, { name: text.description, render: (/** @type {any} */ each) => each.description }, { name: text.filesPerJob, end: true, render: (/** @type {any} */ each) => each.files_per_job }, { name: text.categories, render: (/** @type {any} */ each) => (each.categories ?? []).map((/** @type {string} */ name) => html`<span class="chip" key=${name}>${name}</span>`) }]}
      more=${(/** @type {any} */ each) => [may("Can Execute") && { label: text.launch, icon: "play", href: link(`/projects/${open.id}/jobs`, { launch: each.name }) }]}
      onChange=${may("Full Control") ? setEditing : undefined} onRemove=${may("Full Control") ? (/** @type {any} */ each) => del(`Algorithm/${each.id}`).then(found.again) : undefined} />`}<//>
    ${editing && html`<${RecordDialog} title=${editing.name ?? text.registerAlgorithm} isNew=${!editing.id} values=${editing} members=${members} onSave=${save} onClose=${() => setEditing(null)}>${!editing.id && html`<${FileInput} label=${text.manifest} accept=".yaml,.yml" hint=${text.manifestHint} onFile=${setFile} />`}<//>`}`;
}

function Applets() {
  const open = /** @type {any} */ (project.value);
  const found = useAsync((signal) => get(`Applets/${open.id}`, {}, { signal }), [open.id]);
  const [editing, setEditing] = useState(/** @type {any} */ (null));
  const [file, setFile] = useState(/** @type {File | null} */ (null));
  const save = async (/** @type {any} */ values) => {
    if (file) {
      const url = await saveFile(open.id, file);
      const saved = await post(`SaveGenericFile/${open.id}`, { name: `${crypto.randomUUID()}.html`, upload_url: url });
      values = { ...values, html_file: saved.url };
    } else if (!editing.id) throw new Error(text.needPage);
    await (editing.id ? patch(`Applet/${editing.id}`, values) : post(`Applets/${open.id}`, values));
    found.again();
  };
  const members = [
    { name: "name", label: text.name, required: true },
    { name: "description", label: text.description, kind: /** @type {const} */ ("long") },
    { name: "categories", label: text.categories, kind: /** @type {const} */ ("lines"), hint: text.onePerLine },
  ];
  return html`<${Await} of=${found}>${(
    /** @type {any[]} */ items,
  ) => html`<${RecordTable} isPage title=${text.manage.applets} lead=${text.appletsLead} icon="applet" items=${items} nameOf=${(/** @type {any} */ each) => each.name} onCreate=${
    may("Can Execute")
      ? () => {
          setFile(null);
          setEditing({});
        }
      : undefined
  } createLabel=${text.registerApplet}
      columns=${[{ name: text.name, render: (/** @type {any} */ each) => html`<a href=${link(`/projects/${open.id}/applets/${each.id}`)}><strong>${each.name}</strong></a>` }, { name: text.description, render: (/** @type {any} */ each) => each.description }, { name: text.created, render: (/** @type {any} */ each) => date(each.created_datetime) }]}
      more=${(/** @type {any} */ each) => [{ label: text.openApplet, icon: "applet", href: link(`/projects/${open.id}/applets/${each.id}`) }]}
      onChange=${
        may("Can Execute")
          ? (/** @type {any} */ each) => {
              setFile(null);
              setEditing(each);
            }
          : undefined
      } onRemove=${may("Can Execute") ? (/** @type {any} */ each) => del(`Applet/${each.id}`).then(found.again) : undefined} />`}<//>
    ${editing && html`<${RecordDialog} title=${editing.name ?? text.registerApplet} isNew=${!editing.id} values=${editing} members=${members} onSave=${save} onClose=${() => setEditing(null)}><${FileInput} label=${text.page} accept=".html,.htm" hint=${text.pageHint} onFile=${setFile} /><//>`}`;
}

/** @param {{label: string, accept: string, hint: string, onFile: (file: File | null) => void}} props */
const FileInput = ({ label, accept, hint, onFile }) =>
  html`<label class="field"><span class="label">${label}</span><input class="input file" type="file" accept=${accept} onChange=${(/** @type {any} */ e) => onFile(e.currentTarget.files[0] ?? null)} /><span class="hint">${hint}</span></label>`;
