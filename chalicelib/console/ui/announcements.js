// What the operator announces, above every view until the user has acknowledged it.
import { del, get } from "../client.js";
import { html } from "../lib.js";
import { user } from "../store.js";
import { records as words } from "../strings_records.js";
import { Button } from "./controls.js";
import { Icon } from "./icons.js";
import { useAsync } from "./states.js";
import { toastError } from "./toast.js";

export function Announcements() {
  const who = user.value?.id;
  const found = useAsync((signal) => (who ? get("Announcements", {}, { signal }) : Promise.resolve([])), [who]);
  return (found.value ?? []).map(
    (/** @type {any} */ each) =>
      html`<section key=${each.id} class="announcement row" aria-label=${words.announcement}><${Icon} name="bell" /><div class="grow"><strong>${each.subject}</strong><p class="pre">${each.markdown}</p></div><${Button} small onClick=${() => del(`Announcement/${each.id}`).then(found.again, toastError)}>${words.understood}<//></section>`,
  );
}
