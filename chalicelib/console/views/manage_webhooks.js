// Webhooks of a project or an organization with their deliveries, and the trigger rules of a project.
import { del, get, patch, post } from "../client.js";
import { html, useState } from "../lib.js";
import { project } from "../store.js";
import { text } from "../strings.js";
import { rules as ruleWords, webhooks as words } from "../strings_manage.js";
import { Button, Checkbox } from "../ui/controls.js";
import { confirm, Dialog } from "../ui/dialog.js";
import { ago, date } from "../ui/format.js";
import { RecordDialog, RecordTable } from "../ui/records.js";
import { Await, useAsync, usePolling } from "../ui/states.js";
import { toast, toastError } from "../ui/toast.js";

const PAGE = 50;
const SECONDS = 3;

/** What webhooks and rules have in common. @type {import("../ui/records.js").Member[]} */
const SELECTION = [
  { name: "types", label: words.types, kind: "lines", hint: words.typesHint, required: true },
  { name: "query", label: words.query, hint: words.queryHint },
];

/** The page of a project. */
export function ProjectWebhooks() {
  const open = /** @type {any} */ (project.value);
  const nameOf = (/** @type {number} */ id) =>
    open.members.find((/** @type {any} */ each) => each.user === id)?.username ?? text.userNumber(id);
  return html`<div class="column sections"><${Webhooks} isPage path=${`Webhooks/${open.id}`} lead=${words.lead} nameOf=${nameOf} /><${Rules} nameOf=${nameOf} /></div>`;
}

/** @param {{active: boolean, disabled_reason?: string | null}} item */
const status = (item) =>
  item.active
    ? html`<span class="chip good">${words.active}</span>`
    : html`<span class=${`chip ${item.disabled_reason ? "bad" : "warn"}`}>${item.disabled_reason ? words.disabled(item.disabled_reason) : words.paused}</span>`;

/** @param {{types: string[], query?: string | null}} item */
const types = (item) =>
  html`<div class="column tight">${item.types.map((each) => html`<code key=${each}>${each}</code>`)}${item.query && html`<code class="muted">${item.query}</code>`}</div>`;

/** The sentence for a delivery. @param {any} delivery */
const resultOf = (delivery) =>
  delivery.status ? `${delivery.status} ${delivery.excerpt}`.trim() : delivery.excerpt || words.noAnswer;

/** @param {{path: string, lead: string, nameOf: (id: number) => string, isPage?: boolean}} props `path` is that of their list */
export function Webhooks({ path, lead, nameOf, isPage }) {
  const found = useAsync((signal) => get(path, {}, { signal }), [path]);
  const [dialog, setDialog] = useState(/** @type {any} */ (null));
  const [secret, setSecret] = useState("");
  const close = () => setDialog(null);
  const item = dialog?.item;
  const save = async (/** @type {any} */ values) => {
    if (item)
      await patch(`Webhook/${item.id}`, { ...values, ...("query" in values && { query: values.query || null }) });
    else setSecret((await post(path, values)).secret);
    found.again();
  };
  const setActive = (/** @type {any} */ each) =>
    patch(`Webhook/${each.id}`, { active: !each.active }).then(() => {
      if (!each.active) toast(words.resumed, { kind: "good" });
      found.again();
    }, toastError);
  const ping = (/** @type {any} */ each) =>
    post(`WebhookPing/${each.id}`, {}).then(
      (sent) =>
        toast(sent.status ? words.pinged(resultOf(sent), sent.milliseconds) : resultOf(sent), {
          kind: sent.status >= 200 && sent.status < 300 ? "good" : "bad",
        }),
      toastError,
    );
  const rotate = (/** @type {any} */ values) =>
    post(`WebhookSecret/${item.id}`, { keep_hours: Number(values.keep_hours ?? 0) }).then((made) => {
      setSecret(made.secret);
      found.again();
    });
  const members = [
    { name: "name", label: text.name, required: true },
    { name: "url", label: words.url, hint: words.urlHint, required: true },
    ...SELECTION,
  ];
  return html`<${Await} of=${found}>${(
    /** @type {any[]} */ items,
  ) => html`<${RecordTable} isPage=${isPage} title=${words.title} lead=${lead} icon="link" items=${items} empty=${words.none} nameOf=${(/** @type {any} */ each) => each.name} onCreate=${() => setDialog({ kind: "edit" })} createLabel=${words.add}
      columns=${[
        {
          name: text.name,
          render: (/** @type {any} */ each) =>
            html`<div class="column tight"><strong>${each.name}</strong><span class="muted small">${each.url}</span></div>`,
        },
        { name: words.types, render: types },
        { name: words.owner, render: (/** @type {any} */ each) => nameOf(each.user) },
        {
          name: text.status,
          render: (/** @type {any} */ each) =>
            html`${status(each)}${each.previous_secret_until && Date.parse(each.previous_secret_until) > Date.now() && html`<div class="muted small">${words.secretUntil(date(each.previous_secret_until))}</div>`}`,
        },
      ]}
      more=${(/** @type {any} */ each) => [{ label: words.deliveries, icon: "list", run: () => setDialog({ kind: "deliveries", item: each }) }, { label: words.ping, icon: "play", run: () => ping(each) }, { label: each.active ? words.pause : words.resume, icon: each.active ? "pause" : "reload", run: () => setActive(each) }, { label: words.rotate, icon: "key", run: () => setDialog({ kind: "rotate", item: each }) }, "line"]}
      onChange=${(/** @type {any} */ each) => setDialog({ kind: "edit", item: each })} onRemove=${(/** @type {any} */ each) => del(`Webhook/${each.id}`).then(found.again)} />`}<//>
    ${dialog?.kind === "edit" && html`<${RecordDialog} title=${item?.name ?? words.add} isNew=${!item} values=${item ?? { types: ["limn.media.*"] }} members=${members} onSave=${save} onClose=${close} />`}
    ${dialog?.kind === "rotate" && html`<${RecordDialog} title=${words.rotate} action=${words.rotate} values=${{ keep_hours: 24 }} onSave=${rotate} onClose=${close} members=${[{ name: "keep_hours", label: words.keepHours, kind: "number", hint: words.rotateLead }]} />`}
    ${dialog?.kind === "deliveries" && html`<${Deliveries} webhook=${item} onClose=${close} />`}
    ${secret && html`<${Secret} value=${secret} onClose=${() => setSecret("")} />`}`;
}

/** The secret, shown once. @param {{value: string, onClose: () => void}} props */
const Secret = ({
  value,
  onClose,
}) => html`<${Dialog} title=${words.secret} onClose=${onClose} footer=${html`<${Button} kind="primary" onClick=${onClose}>${text.done}<//>`}><p>${words.secretLead}</p>
  <div class="note good row"><code class="grow token">${value}</code><${Button} small icon="copy" onClick=${() => navigator.clipboard.writeText(value).then(() => toast(text.copied, { kind: "good" }), toastError)}>${text.copy}<//></div><//>`;

/** The attempts to send events, newest first. @param {{webhook: any, onClose: () => void}} props */
function Deliveries({ webhook, onClose }) {
  const [isFailed, setFailed] = useState(false);
  const [older, setOlder] = useState(/** @type {any[]} */ ([]));
  const [hasMore, setMore] = useState(true);
  const read = (/** @type {any} */ more, /** @type {AbortSignal} */ signal) =>
    get(`WebhookDeliveries/${webhook.id}`, { stop: PAGE, failed: isFailed ? 1 : 0, ...more }, { signal });
  const found = useAsync(
    (signal) => {
      setOlder([]);
      return read({}, signal).then((page) => {
        setMore(page.length === PAGE);
        return page;
      });
    },
    [webhook.id, isFailed],
  );
  const all = [...(found.value ?? []), ...older];
  usePolling(found.again, older.length === 0, SECONDS); // earlier deliveries that were read stay
  const more = () =>
    get(`WebhookDeliveries/${webhook.id}`, {
      stop: PAGE,
      failed: isFailed ? 1 : 0,
      before: all[all.length - 1].page,
    }).then((page) => {
      setOlder([...older, ...page]);
      setMore(page.length === PAGE);
    }, toastError);
  const again = (/** @type {any} */ body) =>
    post(`WebhookRedelivery/${webhook.id}`, body).then((said) => {
      toast(said.message, { kind: "good" });
      found.again();
    }, toastError);
  const since = async (/** @type {any} */ each) => {
    const of = webhook.organization ? { project: each.project } : {};
    if (await confirm({ title: words.redeliverSince, message: words.redeliverAllLead, action: words.redeliver }))
      again({ since: each.time, ...of });
  };
  const isGood = (/** @type {any} */ each) => each.status >= 200 && each.status < 300;
  return html`<${Dialog} wide title=${words.deliveriesOf(webhook.name)} onClose=${onClose} footer=${html`<${Button} icon="reload" onClick=${found.again}>${text.reload}<//>`}>
    <div class="row wrap"><p class="muted grow">${words.deliveriesLead}</p><${Checkbox} label=${words.onlyFailed} checked=${isFailed} onChange=${setFailed} /></div>
    <${Await} of=${found}>${() =>
      all.length === 0
        ? html`<p>${words.noDeliveries}</p>`
        : html`<div class="table-card" tabindex="0" role="group" aria-label=${words.deliveries}><table class="table deliveries"><thead><tr><th scope="col">${words.time}</th><th scope="col">${words.event}</th><th scope="col">${words.attempt}</th><th scope="col">${words.result}</th><th><span class="visually-hidden">${text.actions}</span></th></tr></thead><tbody>
      ${all.map(
        (
          each,
        ) => html`<tr key=${each.page}><td title=${date(each.time)}>${ago(each.time)}</td><td><code>${each.type}</code><div class="muted small">${each.event}</div></td><td class="number">${each.attempt || words.manual}</td>
        <td><span class=${`chip ${isGood(each) ? "good" : "bad"}`}>${each.status ?? "–"}</span> <span class="muted small number">${each.milliseconds} ms</span><div class="muted small">${each.status ? each.excerpt : each.excerpt || words.noAnswer}</div>${each.next_attempt && html`<div class="small">${words.next(date(each.next_attempt))}</div>`}</td>
        <td class="end">${each.type !== "limn.ping" && html`<div class="column tight"><${Button} small icon="reload" onClick=${() => again({ event: each.event })}>${words.redeliver}<//><${Button} small kind="quiet" onClick=${() => since(each)}>${words.redeliverSince}<//></div>`}</td></tr>`,
      )}</tbody></table></div>
      ${hasMore && html`<div><${Button} small onClick=${more}>${words.more}<//></div>`}`}<//><//>`;
}

/** What a rule runs, as one value of a form: its algorithm or its annotator. @param {any} rule */
const runsOf = (rule) => (rule.annotator ? `annotator:${rule.annotator}` : `algorithm:${rule.algorithm}`);

/** The same as members of a body. @param {string} runs */
const runMembers = (runs) => {
  const at = runs.indexOf(":");
  const name = runs.slice(at + 1);
  return runs.startsWith("annotator:") ? { annotator: Number(name) } : { algorithm: name };
};

/** Which events launch which algorithm or annotator. @param {{nameOf: (id: number) => string}} props */
function Rules({ nameOf }) {
  const open = /** @type {any} */ (project.value);
  const found = useAsync(
    async (signal) => {
      const [items, algorithms, annotators] = await Promise.all([
        get(`TriggerRules/${open.id}`, {}, { signal }),
        get(`Algorithms/${open.id}`, {}, { signal }),
        get(`Annotators/${open.id}`, {}, { signal }),
      ]);
      return { items, algorithms, detectors: annotators.filter((/** @type {any} */ each) => each.kind === "detector") };
    },
    [open.id],
  );
  const [editing, setEditing] = useState(/** @type {any} */ (null));
  const save = (/** @type {any} */ { runs, ...values }) => {
    const body = { ...values, ...(runs && runMembers(runs)) };
    return (
      editing.id
        ? patch(`TriggerRule/${editing.id}`, { ...body, ...("query" in values && { query: values.query || null }) })
        : post(`TriggerRules/${open.id}`, body)
    ).then(found.again);
  };
  const setActive = (/** @type {any} */ each) =>
    patch(`TriggerRule/${each.id}`, { active: !each.active }).then(found.again, toastError);
  return html`<${Await} of=${found}>${(/** @type {any} */ { items, algorithms, detectors }) => {
    const options = [
      ...algorithms.map((/** @type {any} */ each) => [runsOf({ algorithm: each.name }), each.name]),
      ...detectors.map((/** @type {any} */ each) => [runsOf({ annotator: each.id }), ruleWords.annotator(each.name)]),
    ];
    const [detector] = detectors;
    const nameOfRun = (/** @type {any} */ each) =>
      options.find(([runs]) => runs === runsOf(each))?.[1] ?? each.algorithm ?? `#${each.annotator}`;
    /** @type {import("../ui/records.js").Member[]} */
    const members = [
      { name: "name", label: text.name, required: true },
      { name: "runs", label: ruleWords.runs, kind: "select", options },
      {
        name: "every",
        label: ruleWords.every,
        kind: "number",
        when: ({ runs }) => Boolean(runs?.startsWith("annotator:")),
      },
      ...SELECTION,
    ];
    const isNone = options.length === 0;
    const predict = () =>
      setEditing({ name: ruleWords.onImport, types: ["limn.media.ready"], runs: runsOf({ annotator: detector.id }) });
    return html`<${RecordTable} title=${ruleWords.title} lead=${html`${ruleWords.lead} ${isNone && ruleWords.noAlgorithms}${detector && html` <${Button} small icon="play" onClick=${predict}>${ruleWords.onImport}<//>`}`} icon="jobs" items=${items} empty=${ruleWords.none} nameOf=${(/** @type {any} */ each) => each.name} onCreate=${isNone ? undefined : () => setEditing({ types: ["limn.media.ready"], runs: options[0][0] })} createLabel=${ruleWords.add}
        columns=${[{ name: text.name, render: (/** @type {any} */ each) => html`<strong>${each.name}</strong>` }, { name: ruleWords.runs, render: nameOfRun }, { name: words.types, render: types }, { name: words.owner, render: (/** @type {any} */ each) => nameOf(each.user) }, { name: text.status, render: status }]}
        more=${(/** @type {any} */ each) => [{ label: each.active ? words.pause : words.resume, icon: each.active ? "pause" : "reload", run: () => setActive(each) }]}
        onChange=${(/** @type {any} */ each) => setEditing({ ...each, runs: runsOf(each) })} onRemove=${(/** @type {any} */ each) => del(`TriggerRule/${each.id}`).then(found.again)} />
      ${editing && html`<${RecordDialog} title=${editing.name ?? ruleWords.add} isNew=${!editing.id} values=${editing} members=${members} onSave=${save} onClose=${() => setEditing(null)} />`}`;
  }}<//>`;
}
