// Addresses of views: the part behind #, such as #/projects/3/media/7?frame=40. The server sees none of it.
import { getAhead } from "./client.js";
import { computed, signal } from "./lib.js";
import { preload } from "./preload.js";

/**
 * A view: the pattern of its address, and its module in `views/`, loaded when it is first shown. The module's default
 * export is a component that gets `params` (strings by name) and `query` (an object of strings).
 * @typedef {{pattern: string, view: string, open?: boolean, frameless?: boolean, tab?: string, ahead?: (params: any, query: any) => [string, any][]}} View
 */

/** @type {View[]} `open` views need no session; `frameless` ones fill the window; `tab` is the project tab they belong to; `ahead` names what they read first: addresses and queries, exactly as they ask */
export const VIEWS = [
  { pattern: "/", view: "projects" },
  { pattern: "/sign-in", view: "sign_in", open: true, frameless: true },
  { pattern: "/shared/:token", view: "shared", open: true, frameless: true },
  { pattern: "/public", view: "public", open: true, frameless: true },
  { pattern: "/public/:id", view: "public", open: true, frameless: true },
  { pattern: "/device", view: "device" },
  { pattern: "/profile", view: "profile" },
  { pattern: "/organizations/:organization", view: "organization" },
  { pattern: "/projects/:project", view: "media", tab: "media" },
  { pattern: "/projects/:project/media", view: "media", tab: "media" },
  {
    pattern: "/projects/:project/media/:media",
    view: "annotate",
    tab: "media",
    ahead: ({ project, media }, { frame }) => [
      [`Media/${media}`, { presigned: 86400 }],
      [`Localizations/${project}`, { media_id: media, merge: 0, frame: Number(frame) || 0 }],
    ],
  },
  { pattern: "/projects/:project/crops", view: "crops", tab: "crops" },
  { pattern: "/projects/:project/review", view: "review", tab: "review" },
  { pattern: "/projects/:project/work", view: "work", tab: "team" },
  { pattern: "/projects/:project/tasks", view: "tasks", tab: "team" },
  { pattern: "/projects/:project/comments", view: "comments", tab: "team" },
  { pattern: "/projects/:project/quality", view: "quality", tab: "team" },
  { pattern: "/projects/:project/quality/people", view: "quality_people", tab: "team" },
  { pattern: "/projects/:project/quality/:report", view: "quality", tab: "team" },
  { pattern: "/projects/:project/upload", view: "upload", tab: "upload" },
  { pattern: "/projects/:project/transfers", view: "transfers", tab: "transfers" },
  { pattern: "/projects/:project/jobs", view: "jobs", tab: "jobs" },
  { pattern: "/projects/:project/statistics", view: "statistics", tab: "statistics" },
  { pattern: "/projects/:project/map", view: "map", tab: "map" },
  { pattern: "/projects/:project/applets/:applet", view: "applet", tab: "manage" },
  { pattern: "/projects/:project/manage", view: "manage", tab: "manage" },
  { pattern: "/projects/:project/manage/:page", view: "manage", tab: "manage" },
];

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
});

/**
 * The current address: `view` is null where none matches.
 * @typedef {{view: View | null, params: Record<string, string>, query: Record<string, string>, path: string}} Route
 */
export const route = computed(() => parse(hash.value));

/** The module of a view. @param {View} view @returns {Promise<any>} */
export function load({ view }) {
  preload(`views/${view}.js`);
  return import(`./views/${view}.js`);
}

/** Ask for what the current view reads first, before its modules and its project are there. */
export function readAhead() {
  const { view, params, query } = route.peek();
  for (const [path, asked] of view?.ahead?.(params, query) ?? []) getAhead(path, asked);
}

/** @param {string} text such as "#/projects/3?section=2" @returns {Route} */
export function parse(text) {
  const [path, search] = split(text.replace(/^#/, "") || "/");
  const query = Object.fromEntries(new URLSearchParams(search));
  for (const view of VIEWS) {
    const params = match(view.pattern, path);
    if (params) return { view, params, query, path };
  }
  return { view: null, params: {}, query, path };
}

/** The address of a view, for `href`. @param {string} path @param {Record<string, any>} [query] empty values are left out */
export function link(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `#${path}${search ? `?${search}` : ""}`;
}

/** Go to a view. @param {string} path @param {Record<string, any>} [query] @param {{replace?: boolean}} [options] `replace` adds no history */
export function navigate(path, query = {}, { replace = false } = {}) {
  const target = link(path, query);
  if (replace) {
    history.replaceState(null, "", target);
    hash.value = target;
  } else location.hash = target;
}

/** Change members of the current address's query, without a step of history. @param {Record<string, any>} changes */
export function setQuery(changes) {
  const { path, query } = route.peek();
  navigate(path, { ...query, ...changes }, { replace: true });
}

/** @param {string} text */
function split(text) {
  const at = text.indexOf("?");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** @param {string} pattern @param {string} path @returns {Record<string, string> | null} */
function match(pattern, path) {
  const wanted = pattern.split("/"),
    given = path.replace(/\/$/, "").split("/");
  if (pattern === "/") return path === "/" || path === "" ? {} : null;
  if (wanted.length !== given.length) return null;
  /** @type {Record<string, string>} */
  const params = {};
  for (const [index, part] of wanted.entries()) {
    if (part.startsWith(":")) {
      if (!given[index]) return null;
      try {
        params[part.slice(1)] = decodeURIComponent(given[index]);
      } catch {
        return null;
      }
    } else if (part !== given[index]) return null;
  }
  return params;
}
