// What several views share, as signals: the user, the open project and its types, the theme.
import { ApiError, get, noteSignIn, noteSignOut, request, SESSION_KEY, session } from "./client.js";
import { computed, effect, signal } from "./lib.js";
import { text } from "./strings.js";

/** The signed-in user (`User` of the reference), or null. */
export const user = signal(/** @type {any} */ (null));

/**
 * The open project, or null while none is loaded.
 * @typedef {{id: number, name: string, permission: string, project: any, mediaTypes: any[], localizationTypes: any[],
 *   stateTypes: any[], leafTypes: any[], fileTypes: any[], versions: any[], members: any[], sections: any[]}} OpenProject
 */
export const project = signal(/** @type {OpenProject | null} */ (null));

/** Levels of permission, lowest first. */
export const LEVELS = ["No Access", "View Only", "Can Edit", "Can Transfer", "Can Execute", "Full Control", "Creator"];

/** Whether the user has a level in the open project. @param {string} level one of LEVELS */
export const may = (level) => LEVELS.indexOf(project.value?.permission ?? "") >= LEVELS.indexOf(level);

/** "light", "dark" or "system". */
export const theme = signal(localStorage.getItem("limn.theme") ?? "system");
const dark = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(dark.matches);
dark.addEventListener("change", () => {
  systemDark.value = dark.matches;
});
/** Whether the page is dark now. */
export const isDark = computed(() => theme.value === "dark" || (theme.value === "system" && systemDark.value));
effect(() => {
  document.documentElement.dataset.theme = isDark.value ? "dark" : "light";
  localStorage.setItem("limn.theme", theme.value);
});

effect(() => {
  if (!session.value) {
    user.value = null;
    project.value = null;
  }
});

const PROVIDER_KEY = "limn.provider";
const RENEWAL_MS = 20 * 60_000;

/**
 * Sign this browser in, for all tabs. Throws ApiError where the service refuses.
 * @param {{username: string, password: string, passkey?: any} | {token: string} | {passkey: any}} given `passkey` alone signs in, too
 */
export async function signIn(given) {
  if ("token" in given) await request("POST", "Session", { headers: { Authorization: `Token ${given.token}` } });
  else if ("username" in given) await request("POST", "Session", { body: given });
  else await request("POST", "PasskeySession", { body: given.passkey });
  user.value = await readUser();
  localStorage.removeItem(PROVIDER_KEY);
  noteSignIn();
}

/** Take over the sign-in that an identity provider has just made: its cookie is there. */
export async function arrive() {
  user.value = await readUser();
  localStorage.setItem(PROVIDER_KEY, "1");
  noteSignIn();
}

// a sign-in of an identity provider ends after an hour, unless the provider confirms the user again
setInterval(() => {
  if (session.value && localStorage.getItem(PROVIDER_KEY)) request("POST", "SessionRenewal").catch(() => undefined);
}, RENEWAL_MS);

const readUser = () => get("User/GetCurrent", { presigned: 86400 });

// another tab signed in
addEventListener("storage", ({ key, newValue }) => {
  if (key === SESSION_KEY && newValue) resume().catch(() => undefined);
});

/** Load the user of this browser's sign-in; false where there is none. */
export async function resume() {
  if (!session.value) return false;
  try {
    user.value = await readUser();
    return true;
  } catch (failure) {
    if (failure instanceof ApiError && failure.status === 401) return false;
    throw failure;
  }
}

/** End the sign-in of this browser, in all tabs. */
export async function signOut() {
  await request("DELETE", "Session", { retry: true });
  noteSignOut();
}

/** Lists of a project that `reload` can read again, as member → path. */
const LISTS = /** @type {const} */ ({
  mediaTypes: "MediaTypes",
  localizationTypes: "LocalizationTypes",
  stateTypes: "StateTypes",
  leafTypes: "LeafTypes",
  fileTypes: "FileTypes",
  versions: "Versions",
  members: "Memberships",
  sections: "Sections",
});

/** So long a project is shown as it was read, before a change of the view reads it again. */
const STALE_MS = 60_000;
let readAt = 0;
/** The project that is being read. @type {{number: number, found: Promise<OpenProject>} | null} */
let opening = null;

/** Open a project. One that is open is read again behind the view, if it was read long ago. @param {number | string} id @returns {Promise<OpenProject>} */
export async function openProject(id) {
  const number = Number(id);
  if (!Number.isSafeInteger(number) || number < 1) throw new ApiError(404, text.noProject(String(id)));
  if (project.value?.id === number) {
    if (Date.now() - readAt > STALE_MS) refresh().catch(() => undefined);
    return project.value;
  }
  if (opening?.number !== number) opening = { number, found: read(number) };
  const { found } = opening;
  try {
    project.value = await found;
  } finally {
    if (opening?.found === found) opening = null;
  }
  return found;
}

/** @param {number} number @returns {Promise<OpenProject>} */
async function read(number) {
  readAt = Date.now();
  const [found, ...lists] = await Promise.all([
    get(`Project/${number}`),
    ...Object.values(LISTS).map((path) => get(`${path}/${number}`)),
  ]);
  const members = Object.fromEntries(Object.keys(LISTS).map((name, index) => [name, lists[index]]));
  return /** @type {OpenProject} */ ({
    id: number,
    name: found.name,
    permission: found.permission,
    project: found,
    ...members,
  });
}

/** Read the open project again. Lists that are as before stay the same objects, so that views keep what depends on them. */
export async function refresh() {
  const number = project.value?.id;
  if (!number) return;
  const found = await read(number),
    before = /** @type {Record<string, any>} */ (project.value);
  if (before?.id !== number) return;
  const changed = Object.entries(found).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  );
  if (changed.length) project.value = /** @type {OpenProject} */ ({ ...before, ...Object.fromEntries(changed) });
}

/** Read lists of the open project again, after a change. @param {...keyof typeof LISTS} names */
export async function reload(...names) {
  const open = project.value;
  if (!open) return;
  const lists = await Promise.all(names.map((name) => get(`${LISTS[name]}/${open.id}`)));
  if (project.value?.id === open.id)
    project.value = { ...project.value, ...Object.fromEntries(names.map((name, index) => [name, lists[index]])) };
}

/**
 * A type of the open project; each kind counts its ids by itself.
 * @param {"mediaTypes" | "localizationTypes" | "stateTypes" | "leafTypes" | "fileTypes"} list @param {number} id @returns {any}
 */
export const typeById = (list, id) => project.value?.[list].find((type) => type.id === id);

/**
 * The color of a type, or of one of its annotations by the attribute that its color map names; stable for the type's id.
 * @param {any} type @param {Record<string, any>} [attributes] of an annotation
 */
export function colorOf(type, attributes) {
  const { key, map, default: usual } = type?.color_map ?? {};
  const given = (key && attributes ? map?.[attributes[key]] : undefined) ?? usual;
  if (typeof given === "string" && /^#[0-9a-fA-F]{6}$/.test(given)) return given;
  if (Array.isArray(given) && given.length >= 3)
    return `rgb(${given
      .slice(0, 3)
      .map((part) => Number(part) || 0)
      .join(" ")})`;
  return PALETTE[(type?.id ?? 0) % PALETTE.length];
}
/** Twelve hues that stay apart on dark and light pictures. */
export const PALETTE = [
  "#ff5a3c",
  "#3aa0ff",
  "#ffc21a",
  "#2fce8f",
  "#c678ff",
  "#ff7ab8",
  "#19c8d4",
  "#a4d03c",
  "#ff9a3d",
  "#7d8bff",
  "#e0564f",
  "#4fd66f",
];
