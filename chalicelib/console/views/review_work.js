// Work lists: media with who works on them and how far they are.
import { get, patch } from "../client.js";
import { html, useEffect, useState } from "../lib.js";
import { link } from "../router.js";
import { may, project } from "../store.js";
import { review as words } from "../strings_annotate.js";
import { Button, Segmented, Select } from "../ui/controls.js";
import { ago } from "../ui/format.js";
import { Icon } from "../ui/icons.js";
import { Menu } from "../ui/menu.js";
import { choice, STORED } from "../ui/review_names.js";
import { Await, Empty, useAsync } from "../ui/states.js";
import { toast, toastError } from "../ui/toast.js";

const PAGE = 60;
const FIELDS = "id,name,type,attributes,modified_datetime,modified_by,media_files.thumbnail";
const STATUSES = [STORED.todo, STORED.busy, STORED.done];
const KINDS = /** @type {Record<string, string>} */ ({ [STORED.busy]: "accent", [STORED.done]: "good" });

/** @param {{who: string, turn: number, onChange: () => void}} props `who` is a user name, "-" for nobody, "" for everyone */
export function Work({ who, turn, onChange }) {
  const open = /** @type {any} */ (project.value);
  const [status, setStatus] = useState("");
  const [stop, setStop] = useState(PAGE);
  const [chosen, setChosen] = useState(/** @type {Set<number>} */ (new Set()));
  const query = {
    attribute: [
      ...(who && who !== "-" ? [`${STORED.assigned}::${who}`] : []),
      ...(status ? [`${STORED.status}::${status}`] : []),
    ],
    attribute_null: who === "-" ? [`${STORED.assigned}::true`] : [],
  };
  const media = useAsync(
    (signal) =>
      get(
        `Medias/${open.id}`,
        { ...query, sort_by: "$name", stop, fields: FIELDS, presigned: 43200, presign_only: ["thumbnail"] },
        { signal },
      ),
    [open.id, who, status, stop, turn],
  );
  useEffect(() => {
    setChosen(new Set());
    setStop(PAGE);
  }, [open.id, who, status]);
  const mayEdit = may("Can Edit");
  const typeOf = new Map((media.value ?? []).map((/** @type {any} */ item) => [item.id, item.type]));
  const set = async (/** @type {any[]} */ ids, /** @type {any} */ change) => {
    try {
      // one request changes media of one type
      for (const of of new Set(ids.map((id) => typeOf.get(id))))
        await patch(`Medias/${open.id}`, { ids: ids.filter((id) => typeOf.get(id) === of), ...change });
      onChange();
      return true;
    } catch (failure) {
      toastError(failure);
      return false;
    }
  };
  const assign = (/** @type {number[]} */ ids, /** @type {string} */ name) =>
    set(ids, name ? { attributes: { [STORED.assigned]: name } } : { null_attributes: [STORED.assigned] });
  const distribute = async () => {
    const people = open.members
      .filter((/** @type {any} */ each) => !["No Access", "View Only"].includes(each.permission))
      .map((/** @type {any} */ each) => each.username);
    const shares = people.map((/** @type {string} */ _name, /** @type {number} */ at) =>
      [...chosen].filter((_id, index) => index % people.length === at),
    );
    for (const [at, ids] of shares.entries())
      if (ids.length && !(await set(ids, { attributes: { [STORED.assigned]: people[at] } }))) return;
    setChosen(new Set());
    toast(words.distributed, { kind: "good" });
  };
  const toggle = (/** @type {number} */ id) =>
    setChosen(
      (/** @type {Set<number>} */ before) =>
        new Set(before.has(id) ? [...before].filter((each) => each !== id) : [...before, id]),
    );
  const names = open.members.map((/** @type {any} */ each) => each.username);
  return html`<div class="row wrap"><${Segmented} name=${words.status} value=${status} options=${[["", words.all], ...STATUSES.map(choice)]} onChange=${setStatus} /><span class="grow" />
      ${
        mayEdit &&
        chosen.size > 0 &&
        html`<${Menu} kind="primary" icon="person" label=${words.assignTo(chosen.size)} items=${[
          ...names.map((/** @type {string} */ name) => ({
            label: name,
            run: () => {
              assign([...chosen], name);
              setChosen(new Set());
            },
          })),
          "line",
          { label: words.distribute, icon: "people", run: distribute },
          {
            label: words.nobody,
            icon: "close",
            run: () => {
              assign([...chosen], "");
              setChosen(new Set());
            },
          },
        ]} />`
      }</div>
    <${Await} of=${media}>${(/** @type {any[]} */ items) =>
      items.length
        ? html`<div class="card scroll"><table class="table work"><thead><tr>
      <th><input type="checkbox" aria-label=${words.selectAll} checked=${chosen.size === items.length} onChange=${(/** @type {any} */ e) => setChosen(new Set(e.currentTarget.checked ? items.map(({ id }) => id) : []))} disabled=${!mayEdit} /></th>
      <th><span class="visually-hidden">${words.picture}</span></th><th>${words.media}</th><th>${words.assigned}</th><th>${words.status}</th><th>${words.changed}</th><th><span class="visually-hidden">${words.openMedia}</span></th></tr></thead><tbody>
      ${items.map(
        (
          item,
        ) => html`<tr key=${item.id}><td><input type="checkbox" aria-label=${item.name} checked=${chosen.has(item.id)} onChange=${() => toggle(item.id)} disabled=${!mayEdit} /></td>
        <td class="thumb"><${Thumbnail} media=${item} /></td><td><a href=${link(`/projects/${open.id}/media/${item.id}`)}>${item.name}</a></td>
        <td><${Select} small name=${`${words.assigned}: ${item.name}`} value=${item.attributes?.[STORED.assigned] ?? ""} disabled=${!mayEdit} options=${options(names, item.attributes?.[STORED.assigned])} onChange=${(/** @type {string} */ name) => assign([item.id], name)} /></td>
        <td><span class=${`status chip ${KINDS[item.attributes?.[STORED.status]] ?? ""}`}><${Select} small name=${`${words.status}: ${item.name}`} value=${item.attributes?.[STORED.status] ?? STORED.todo} disabled=${!mayEdit} options=${STATUSES.map(choice)} onChange=${(/** @type {string} */ next) => set([item.id], { attributes: { [STORED.status]: next } })} /></span></td>
        <td class="muted small">${ago(item.modified_datetime)}</td><td><${Button} small icon="next" title=${`${words.openMedia} ${item.name}`} href=${link(`/projects/${open.id}/media/${item.id}`)} /></td></tr>`,
      )}</tbody></table></div>
      ${items.length === stop && html`<div><${Button} onClick=${() => setStop(stop + PAGE)}>${words.more}<//></div>`}`
        : html`<${Empty} icon="check" title=${words.nothing}>${words.nothingLead}<//>`}<//>`;
}

/** Members to choose from, and who is chosen although they have left. @param {string[]} names @param {string} [given] @returns {[string, string][]} */
const options = (names, given) => [
  ["", words.nobody],
  ...[...names, ...(given && !names.includes(given) ? [given] : [])].map(
    (name) => /** @type {[string, string]} */ ([name, name]),
  ),
];

/** @param {{media: any}} props */
const Thumbnail = ({ media }) => {
  const path = media.media_files?.thumbnail?.[0]?.path;
  return path ? html`<img src=${path} alt="" loading="lazy" />` : html`<${Icon} name="image" />`;
};
