// Unsaved changes, kept in IndexedDB over a reload or a crash of the browser. Nothing here is sent anywhere.

import { signal } from "../lib.js";

/** Grows when changes of a view that was left are saved, or could not be. */
export const settled = signal(0);

const NAME = "limn";
const STORE = "unsaved";

/** @type {Promise<IDBDatabase> | undefined} */
let opened;

function database() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opened;
}

/** @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest} act @returns {Promise<any>} */
async function transaction(mode, act) {
  const store = (await database()).transaction(STORE, mode, { durability: "strict" }).objectStore(STORE);
  const request = act(store);
  return new Promise((resolve, reject) => {
    request.onerror = () => reject(request.error);
    if (mode === "readonly") request.onsuccess = () => resolve(request.result);
    else store.transaction.oncomplete = () => resolve(undefined);
    store.transaction.onabort = () => reject(store.transaction.error);
  });
}

/** The changes of one person on one media. */
export class Keeper {
  /** @param {string} name of the person and the media, such as "5/120" */
  constructor(name) {
    this.name = name;
    /** @type {Promise<void> | null} */
    this.writing = null;
    /** @type {(() => any) | null} */
    this.next = null;
  }

  /** @returns {Promise<any>} what was kept, or undefined */
  load() {
    return transaction("readonly", (store) => store.get(this.name));
  }

  /** Write what `content` returns, at once; during a write only the newest state is written next. @param {() => any} content */
  save(content) {
    this.next = content;
    this.writing ??= this.#write().finally(() => {
      this.writing = null;
    });
    return this.writing;
  }

  async #write() {
    while (this.next) {
      const content = this.next();
      this.next = null;
      await transaction("readwrite", (store) =>
        content.changes.length ? store.put(content, this.name) : store.delete(this.name),
      );
    }
  }
}

/** Media with changes of a person that are kept here. @param {number} user @returns {Promise<{media: number, project: number}[]>} */
export async function keptMedia(user) {
  const [keys, contents] = [
    await transaction("readonly", (store) => store.getAllKeys()),
    await transaction("readonly", (store) => store.getAll()),
  ];
  const found = keys.map((/** @type {string} */ key, /** @type {number} */ index) => ({
    key,
    project: contents[index]?.project,
  }));
  return found
    .filter((/** @type {{key: string, project?: number}} */ { key, project }) => key.startsWith(`${user}/`) && project)
    .map((/** @type {{key: string, project: number}} */ { key, project }) => ({
      media: Number(key.split("/")[1]),
      project,
    }));
}
