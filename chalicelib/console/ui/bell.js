// What the user is told of: a bell with the number of what is new, read again from time to time.
import { get, patch } from "../client.js";
import { html } from "../lib.js";
import { route } from "../router.js";
import { user } from "../store.js";
import { text } from "../strings.js";
import { ago } from "./format.js";
import { Icon } from "./icons.js";
import { Menu } from "./menu.js";
import { useAsync, usePolling } from "./states.js";
import { toastError } from "./toast.js";

const PAUSE_SECONDS = 60;
const MOST = 12;
const ICONS = /** @type {Record<string, string>} */ ({
  mentions: "comment",
  tasks: "check",
  jobs: "jobs",
  imports: "import",
  quality: "plot",
});

export function Bell() {
  const who = user.value?.id;
  const found = useAsync(
    (signal) => (who ? get("Notifications", { unread: true }, { signal }) : Promise.resolve([])),
    [who, route.value.path],
  );
  usePolling(found.again, true, PAUSE_SECONDS);
  const items = [...(found.value ?? [])].reverse();
  const read = (/** @type {number[]} */ ids) => patch("Notifications", { ids }).then(found.again, toastError);
  const label = text.notifications(items.length);
  return html`<${Menu} class="button quiet icon bell" title=${label} label=${html`<${Icon} name="bell" />${items.length > 0 && html`<span class="bell-count number" aria-hidden="true">${items.length}</span>`}`} items=${
    items.length
      ? [
          ...items.slice(0, MOST).map((each) => ({
            label: html`<span class="notice">${each.text}<span class="muted small">${ago(each.created_datetime)}</span></span>`,
            icon: ICONS[each.topic],
            href: each.link,
            run: () => read([each.id]),
          })),
          "line",
          { label: text.readAll, icon: "check", run: () => read(items.map(({ id }) => id)) },
        ]
      : [{ title: text.noNotifications }]
  } />`;
}
