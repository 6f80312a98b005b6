// The bar above every view: where one is, the tabs of the project, the user's menu.
import { online } from "../client.js";
import { html, useEffect, useRef } from "../lib.js";
import { keptMedia, settled } from "../draw/keep.js";
import { link, route } from "../router.js";
import { may, project, signOut, theme, user } from "../store.js";
import { text } from "../strings.js";
import { Announcements } from "./announcements.js";
import { Bell } from "./bell.js";
import { Bookmarks } from "./bookmarks.js";
import { Menu } from "./menu.js";
import { useAsync } from "./states.js";
import { Icon, Mark } from "./icons.js";
import { toastError } from "./toast.js";

const TABS = /** @type {const} */ ([
  ["media", "", "video"],
  ["crops", "/crops", "crop"],
  ["review", "/review", "check"],
  ["team", "/work", "people"],
  ["upload", "/upload", "upload"],
  ["transfers", "/transfers", "download"],
  ["jobs", "/jobs", "jobs"],
  ["statistics", "/statistics", "plot"],
  ["map", "/map", "map"],
  ["manage", "/manage", "gear"],
]);

const CALM_MS = 1500;

/** @param {{children?: any}} props */
export function Frame({ children }) {
  const { view, params, path } = route.value;
  const open = params.project && project.value?.id === Number(params.project) ? project.value : null;
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const tab = view?.tab ? text.tabs[/** @type {keyof typeof text.tabs} */ (view.tab)] : "";
    document.title = [tab, open?.name, "Limn"].filter(Boolean).join(" · ");
  }, [view, open?.name]);
  useEffect(() => {
    main.current?.scrollTo?.(0, 0);
  }, [path]);
  return html`<div class="frame"><a class="skip" href="#main" onClick=${(/** @type {Event} */ e) => {
    e.preventDefault();
    main.current?.focus();
  }}>${text.skip}</a>
    <header class="bar">
      <a class="wordmark" href=${link("/")} aria-label=${text.home}><${Mark} /><span>Limn</span></a>
      ${
        open &&
        html`<a class="crumb" title=${open.name} href=${link(`/projects/${open.id}`)}><span class="cut">${open.name}</span></a>
        <nav aria-label=${text.project}>${TABS.filter(([name]) => visible(name)).map(
          ([
            name,
            rest,
            icon,
          ]) => html`<a key=${name} title=${text.tabs[name]} href=${link(`/projects/${open.id}${rest}`)}
          aria-current=${view?.tab === name ? "page" : undefined}><${Icon} name=${icon} /><span>${text.tabs[name]}</span></a>`,
        )}</nav>`
      }
      <span class="grow" />
      <${Unsaved} media=${Number(params.media)} />
      ${!online.value && html`<span class="offline" role="status">${text.offline}</span>`}
      <${Bookmarks} /><${Bell} /><${UserMenu} />
    </header>
    <${Announcements} />
    <main class="view" id="main" tabindex="-1" ref=${main}>${children}</main></div>`;
}

/** @param {string} name */
const visible = (name) =>
  name === "upload"
    ? may("Can Transfer")
    : ["team", "transfers", "jobs", "statistics"].includes(name)
      ? may("View Only")
      : true;

/** Where changes wait that could not be saved before their view was left. @param {{media: number}} props the media that is shown */
function Unsaved({ media }) {
  const isOnline = online.value,
    who = user.value?.id;
  const kept = useAsync(
    async (signal) => {
      await new Promise((resolve) => setTimeout(resolve, CALM_MS)); // saves that succeed are not worth a word
      return who && !signal.aborted ? keptMedia(who) : [];
    },
    [media, isOnline, who, route.value.path, settled.value],
  );
  const [first, ...more] = (kept.value ?? []).filter((each) => each.media !== media);
  return (
    first &&
    html`<a class="chip warn" href=${link(`/projects/${first.project}/media/${first.media}`)}>${text.unsavedMedia(more.length + 1)}</a>`
  );
}

function UserMenu() {
  const who = user.value;
  if (!who) return null;
  const initials =
    `${who.first_name?.[0] ?? ""}${who.last_name?.[0] ?? ""}`.toUpperCase() || who.username[0]?.toUpperCase();
  const choose = (/** @type {string} */ value, /** @type {string} */ label, /** @type {string} */ icon) => ({
    label,
    icon,
    checked: theme.value === value,
    run: () => {
      theme.value = value;
    },
  });
  return html`<${Menu} class="avatar" aria-label=${text.account(who.username)} title=${text.account(who.username)} label=${html`<span aria-hidden="true">${initials}</span>`} items=${() => [
    { title: `${who.first_name ?? ""} ${who.last_name ?? ""}`.trim() || who.username },
    { label: text.profile, icon: "person", href: link("/profile") },
    { label: text.apiDocs, icon: "help", href: "docs" },
    "line",
    { title: text.theme },
    choose("light", text.light, "sun"),
    choose("dark", text.dark, "moon"),
    choose("system", text.system, "gear"),
    "line",
    { label: text.signOut, icon: "back", run: () => signOut().catch(toastError) },
  ]} />`;
}
