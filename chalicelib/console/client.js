// The one client of the REST interface. Nothing else in the console calls the service.
import { signal } from "./lib.js";
import { failures } from "./strings_words.js";

/** The address of the service, with a slash at the end: two folders above this build. */
export const ROOT = new URL("../../", import.meta.url).href;
const REST = `${ROOT}rest/`;
/** Where in local storage the mark of the sign-in is. */
export const SESSION_KEY = "limn.session";
const ATTEMPTS = 4;
const RETRIED = new Set([429, 502, 503, 504]);

/**
 * The mark of the sign-in of this browser, or "". It is no secret: the token is in a cookie that scripts cannot read. All
 * tabs share the mark, and end with it.
 */
export const session = signal(localStorage.getItem(SESSION_KEY) ?? "");
addEventListener("storage", ({ key, newValue }) => {
  if (key === SESSION_KEY || key === null) session.value = newValue ?? "";
});
/** False while requests fail for want of a network. */
export const online = signal(navigator.onLine);
addEventListener("online", () => {
  online.value = true;
});
addEventListener("offline", () => {
  online.value = false;
});

/** Note that this browser is signed in, in all tabs. */
export function noteSignIn() {
  const mark = crypto.randomUUID();
  localStorage.setItem(SESSION_KEY, mark);
  session.value = mark;
}

/** Note that this browser is not signed in any more, in all tabs. */
export function noteSignOut() {
  localStorage.removeItem(SESSION_KEY);
  session.value = "";
}

/** An answer that is not a success. `status` is 0 where no answer came. `details` names the field and the rule, `needs` what is missing, `rule` which rule is broken, or they are ""; `passkey` is what passkeys are asked for, if one may be given. */
export class ApiError extends Error {
  /** @param {number} status @param {string} message @param {string} [details] @param {string} [needs] @param {any} [passkey] @param {string} [rule] */
  constructor(status, message, details = "", needs = "", passkey = null, rule = "") {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.details = details;
    this.needs = needs;
    this.passkey = passkey;
    this.rule = rule;
  }
}

/**
 * @typedef {Record<string, string | number | boolean | null | undefined | Array<string | number>>} Query
 * @typedef {{query?: Query, body?: unknown, signal?: AbortSignal, as?: "json" | "blob" | "text" | "response",
 *   accept?: string, headers?: Record<string, string>, retry?: boolean, keepalive?: boolean}} Options
 */

/** The token of a guest of a share link, while one is shown; it counts before the sign-in of the browser. */
export const guest = { token: "" };

/**
 * Send one request and decode its answer.
 *
 * Reads are repeated on 429, 502-504 and network failures, with growing pauses and as Retry-After says; writes only if
 * `retry` says that repeating is safe. A 401 ends the session that the request was sent in.
 *
 * @param {string} method
 * @param {string} path below /rest/, such as "Medias/3"; a path with a leading slash is below the service's root
 * @param {Options} [options] `query` leaves out null, undefined and ""; an array becomes repeated parameters
 * @returns {Promise<any>}
 */
export async function request(method, path, options = {}) {
  const url = address(path, options.query);
  /** @type {Record<string, string>} */
  const headers = {
    Accept: options.accept ?? (options.as && options.as !== "json" ? "*/*" : "application/json"),
    "Limn-Session": "1", // the cookie counts with it only, and pages of other origins cannot send it
    ...(guest.token && { Authorization: `Token ${guest.token}` }),
    ...options.headers,
  };
  const sent = session.value;
  const body = options.body === undefined ? undefined : JSON.stringify(options.body);
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const repeat = options.retry ?? method === "GET";
  for (let attempt = 1; ; attempt++) {
    let answer;
    try {
      answer = await fetch(url, {
        method,
        headers,
        body,
        signal: options.signal,
        keepalive: options.keepalive,
        credentials: "same-origin",
      });
    } catch (failure) {
      if (options.signal?.aborted) throw failure;
      if (repeat && attempt < ATTEMPTS && navigator.onLine) {
        await pause(attempt, null, options.signal);
        continue;
      }
      online.value = navigator.onLine && online.value;
      throw new ApiError(0, failures.noService);
    }
    if (RETRIED.has(answer.status) && repeat && attempt < ATTEMPTS) {
      await pause(attempt, answer.headers.get("Retry-After"), options.signal);
      continue;
    }
    if (answer.ok) return decoded(answer, options.as ?? "json");
    const error = await errorOf(answer);
    if (answer.status === 401 && !guest.token && sent && sent === session.value) noteSignOut();
    throw error;
  }
}

/** What was asked for before the view that needs it is there, by address. @type {Map<string, Promise<any>>} */
const ahead = new Map();
/** So long an answer may wait for the view, in milliseconds. */
const AHEAD_MS = 10_000;

/** Ask for what a view will read, while its modules load; the first `get` of the same address takes the answer. @param {string} path @param {Query} [query] */
export function getAhead(path, query) {
  const url = address(path, query);
  if (ahead.has(url)) return;
  const asked = request("GET", path, { query });
  ahead.set(url, asked);
  asked.catch(() => ahead.delete(url)); // the view asks again, and tells
  setTimeout(() => ahead.delete(url), AHEAD_MS);
}

/** @param {string} path @param {Query} [query] @param {Options} [options] */
export function get(path, query, options) {
  const url = address(path, query);
  const asked = ahead.get(url);
  ahead.delete(url);
  return asked ?? request("GET", path, { ...options, query });
}
/** @param {string} path @param {unknown} body @param {Query} [query] */
export const post = (path, body, query) => request("POST", path, { body, query });
/** @param {string} path @param {unknown} body @param {Query} [query] */
export const patch = (path, body, query) => request("PATCH", path, { body, query });
/** @param {string} path @param {unknown} body @param {Query} [query] @param {Options} [options] */
export const put = (path, body, query, options) => request("PUT", path, { body, query, ...options });
/** @param {string} path @param {unknown} [body] @param {Query} [query] */
export const del = (path, body, query) => request("DELETE", path, { body, query });

/** A picture or file behind the token, as a Blob. @param {string} path @param {Query} [query] @param {AbortSignal} [signal] */
export const blob = (path, query, signal) => request("GET", path, { query, as: "blob", accept: "*/*", signal });

/** @param {string} path @param {Query} [query] */
export function address(path, query) {
  const url = new URL(path.startsWith("/") ? path.slice(1) : path, path.startsWith("/") ? ROOT : REST);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (Array.isArray(value)) for (const item of value) url.searchParams.append(name, String(item));
    else if (value !== null && value !== undefined && value !== "") url.searchParams.set(name, String(value));
  }
  return url.href;
}

/**
 * Every item of a long list, page by page.
 * @param {string} path @param {Query} query @param {(items: any[], start: number) => void | boolean} take gets each page;
 *   false stops @param {{size?: number, signal?: AbortSignal}} [options]
 */
export async function pages(path, query, take, { size = 500, signal: stop } = {}) {
  for (let start = 0; ; start += size) {
    const items = await get(path, { ...query, start, stop: start + size }, { signal: stop });
    if (take(items, start) === false || items.length < size) return;
  }
}

/** @param {Response} answer @param {string} as */
async function decoded(answer, as) {
  if (as === "response") return answer;
  if (as === "blob") return answer.blob();
  if (as === "text") return answer.text();
  const text = await answer.text();
  return text ? JSON.parse(text) : null;
}

/** @param {Response} answer */
async function errorOf(answer) {
  const text = await answer.text().catch(() => "");
  try {
    const said = JSON.parse(text);
    // the service writes "None" where a message needs no details
    return new ApiError(
      answer.status,
      String(said.message ?? answer.statusText),
      said.details === "None" ? "" : String(said.details ?? ""),
      String(said.needs ?? ""),
      said.passkey,
      String(said.rule ?? ""),
    );
  } catch {
    return new ApiError(answer.status, failures.answered(answer.status, answer.statusText));
  }
}

/** @param {number} attempt @param {string | null} after @param {AbortSignal} [stop] */
function pause(attempt, after, stop) {
  const seconds = Math.min(Number(after) || (2 ** attempt / 8) * (1 + Math.random()), 20);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    stop?.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        reject(stop.reason);
      },
      { once: true },
    );
  });
}
