// Addresses of views: the part behind #, such as #/projects/3/media/7?frame=40. The server sees none of it.
import { getAhead } from "./client.js";
import { computed, signal } from "./lib.js";

/**
 * A view: the pattern of its address, and its module, loaded when it is first shown. The module's default export is a
 * component that gets `params` (strings by name) and `query` (an object of strings).
 * @typedef {{pattern: string, load: () => Promise<any>, open?: boolean, frameless?: boolean, tab?: string, ahead?: (params: any, query: any) => [string, any][]}} View
 */

/** @type {View[]} `open` views need no session; `frameless` ones fill the window; `tab` is the project tab they belong to; `ahead` names what they read first: addresses and queries, exactly as they ask */
export const VIEWS = [
  { pattern: "/", load: () => import("./views/projects.js") },
  { pattern: "/sign-in", load: () => import("./views/sign_in.js"), open: true, frameless: true },
  { pattern: "/shared/:token", load: () => import("./views/shared.js"), open: true, frameless: true },
  { pattern: "/public", load: () => import("./views/public.js"), open: true, frameless: true },
  { pattern: "/public/:id", load: () => import("./views/public.js"), open: true, frameless: true },
  { pattern: "/device", load: () => import("./views/device.js") },
  { pattern: "/profile", load: () => import("./views/profile.js") },
  { pattern: "/organizations/:organization", load: () => import("./views/organization.js") },
  { pattern: "/projects/:project", load: () => import("./views/media.js"), tab: "media" },
  { pattern: "/projects/:project/media", load: () => import("./views/media.js"), tab: "media" },
  {
    pattern: "/projects/:project/media/:media",
    load: () => import("./views/annotate.js"),
    tab: "media",
    ahead: ({ project, media }, { frame }) => [
      [`Media/${media}`, { presigned: 86400 }],
      [`Localizations/${project}`, { media_id: media, merge: 0, frame: Number(frame) || 0 }],
    ],
  },
  { pattern: "/projects/:project/crops", load: () => import("./views/crops.js"), tab: "crops" },
  { pattern: "/projects/:project/review", load: () => import("./views/review.js"), tab: "review" },
  { pattern: "/projects/:project/work", load: () => import("./views/work.js"), tab: "team" },
  { pattern: "/projects/:project/tasks", load: () => import("./views/tasks.js"), tab: "team" },
  { pattern: "/projects/:project/comments", load: () => import("./views/comments.js"), tab: "team" },
  { pattern: "/projects/:project/quality", load: () => import("./views/quality.js"), tab: "team" },
  { pattern: "/projects/:project/quality/people", load: () => import("./views/quality_people.js"), tab: "team" },
  { pattern: "/projects/:project/quality/:report", load: () => import("./views/quality.js"), tab: "team" },
  { pattern: "/projects/:project/upload", load: () => import("./views/upload.js"), tab: "upload" },
  { pattern: "/projects/:project/transfers", load: () => import("./views/transfers.js"), tab: "transfers" },
  { pattern: "/projects/:project/jobs", load: () => import("./views/jobs.js"), tab: "jobs" },
  { pattern: "/projects/:project/statistics", load: () => import("./views/statistics.js"), tab: "statistics" },
  { pattern: "/projects/:project/map", load: () => import("./views/map.js"), tab: "map" },
  { pattern: "/projects/:project/applets/:applet", load: () => import("./views/applet.js"), tab: "manage" },
  { pattern: "/projects/:project/manage", load: () => import("./views/manage.js"), tab: "manage" },
  { pattern: "/projects/:project/manage/:page", load: () => import("./views/manage.js"), tab: "manage" },
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
