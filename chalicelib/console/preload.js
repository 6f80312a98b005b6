// Modules that are asked for before what imports them is there. Imports nothing: languages are read before all else.

/** What the page says: the paths of modules, and by entry the places of all that it needs and `app.js` does not. @type {{paths: string[], ahead: Record<string, number[]>}} */
const modules = JSON.parse(document.querySelector('meta[name="modules"]')?.getAttribute("content") ?? '{"ahead": {}}');

/** Ask for all modules of an entry at once. @param {string} entry such as "views/media.js" */
export function preload(entry) {
  for (const place of modules.ahead[entry] ?? []) {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = new URL(modules.paths[place], import.meta.url).href;
    document.head.append(link);
  }
  delete modules.ahead[entry];
}
