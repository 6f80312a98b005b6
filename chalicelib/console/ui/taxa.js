// Lists of taxa as WoRMS and GBIF publish them: the table Taxon of a Darwin Core Archive, or the table alone. The rules are
// those of infra/client/taxa.py: rows name their parent, those of synonyms the accepted taxon.
import { leaves as words } from "../strings_manage.js";

/** @typedef {{id: string, name: string, rank: string, authority: string, parent: string, accepted: string, aphia: number | null}} Taxon `accepted` of synonyms only */

/** The attributes of the leaves of a list. */
export const ATTRIBUTES = [
  { name: "taxonID", dtype: "string", description: words.taxa.about.taxonID },
  { name: "AphiaID", dtype: "int", description: words.taxa.about.AphiaID },
  { name: "rank", dtype: "string", description: words.taxa.about.rank },
  { name: "authority", dtype: "string", description: words.taxa.about.authority },
  { name: "synonyms", dtype: "string", description: words.taxa.about.synonyms },
];
const LONGEST_NAME = 255;
const WORMS = "urn:lsid:marinespecies.org:taxname:";
const APHIA = /^.*marinespecies\.org.*[:/=](\d{1,12})$/;
const TABLE = /^(.*\/)?taxon\.(txt|tsv|csv)$/i;
const [END_OF_ZIP, ENTRY, DEFLATED] = [0x06054b50, 0x02014b50, 8];

export class Taxa {
  constructor() {
    /** @type {Map<string, Taxon>} */
    this.accepted = new Map();
    /** @type {Map<string, Set<string>>} the synonyms of accepted taxa, by id */
    this.synonyms = new Map();
    /** Rows without an id or name. */
    this.skipped = 0;
  }

  /** @param {Record<string, string>} row by term in lower case */
  add(row) {
    const [id, given, authority] = [row.taxonid ?? "", row.scientificname ?? "", row.scientificnameauthorship ?? ""];
    const bare = authority && given.endsWith(authority) ? given.slice(0, -authority.length).trim() : given;
    const name = row.canonicalname || bare;
    if (!id || !name || [...name].length > LONGEST_NAME) {
      this.skipped++;
      return;
    }
    const accepted = row.acceptednameusageid ?? "";
    if (accepted && accepted !== id) {
      this.synonyms.set(accepted, (this.synonyms.get(accepted) ?? new Set()).add(name));
      return;
    }
    const aphia = APHIA.exec(id) ?? APHIA.exec(row.scientificnameid ?? "");
    const [rank, parent] = [(row.taxonrank ?? "").toLowerCase(), row.parentnameusageid ?? ""];
    this.accepted.set(id, { id, name, rank, authority, parent, accepted: "", aphia: aphia && Number(aphia[1]) });
  }

  /**
   * The accepted taxa with the ids of their parents, level by level; of roots the parent is empty.
   * @param {string[]} within names whose taxa are the roots; without any, those whose parent is not in the list
   * @returns {[Taxon, string][][]}
   */
  levels(within) {
    /** @type {Map<string, Taxon[]>} */
    const below = new Map();
    for (const taxon of this.accepted.values()) {
      const parent = this.accepted.has(taxon.parent) && taxon.parent !== taxon.id ? taxon.parent : "";
      const siblings = below.get(parent);
      if (siblings) siblings.push(taxon);
      else below.set(parent, [taxon]);
    }
    let roots = below.get("") ?? [];
    if (within.length) {
      roots = [...this.accepted.values()].filter((each) => within.includes(each.name));
      const missing = within.find((name) => !roots.some((each) => each.name === name));
      if (missing !== undefined) throw new Error(words.taxa.noTaxon(missing));
    }
    const [seen, found] = [new Set(), /** @type {[Taxon, string][][]} */ ([])];
    let level = roots.map((taxon) => /** @type {[Taxon, string]} */ ([taxon, ""]));
    while (level.length) {
      for (const [taxon] of level) seen.add(taxon.id);
      found.push(level);
      level = level.flatMap(([taxon]) =>
        (below.get(taxon.id) ?? [])
          .filter((each) => !seen.has(each.id))
          .map((each) => /** @type {[Taxon, string]} */ ([each, taxon.id])),
      );
    }
    return found;
  }

  /** The values of the attributes of a leaf. @param {Taxon} taxon */
  attributesOf(taxon) {
    const { id: taxonID, aphia: AphiaID, rank, authority } = taxon;
    const synonyms = [...(this.synonyms.get(taxon.id) ?? [])].sort().join("; ");
    const given = { taxonID, AphiaID, rank, authority, synonyms };
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== ""));
  }
}

/** The taxa of a file. @param {File} file */
export async function readTaxa(file) {
  const found = new Taxa();
  /** @type {string[] | null} */
  let names = null;
  let isWorms = false;
  for await (const values of rowsOf(await tableOf(file))) {
    if (!names) {
      const terms = values.map(term);
      isWorms = terms.includes("aphiaid") && !terms.includes("taxonid");
      names = terms.map((name) => (isWorms && name === "aphiaid" ? "taxonid" : name));
      if (!names.includes("taxonid") || !names.includes("scientificname")) throw new Error(words.taxa.noTable);
      continue;
    }
    const known = names;
    const row = Object.fromEntries(values.slice(0, known.length).map((value, at) => [known[at], value.trim()]));
    if (isWorms && row.taxonid) row.taxonid = WORMS + row.taxonid;
    found.add(row);
  }
  if (!found.accepted.size) throw new Error(words.taxa.noTable);
  return found;
}

/** The term of a column: the last part of a URI, whatever its case. @param {string} name */
function term(name) {
  const last = name.trim().replaceAll('"', "").split(/[/:#]/).pop()?.toLowerCase() ?? "";
  return last === "authority" ? "scientificnameauthorship" : last;
}

/** The table of a file: itself, or the one in its archive. @param {File} file @returns {Promise<ReadableStream<Uint8Array<ArrayBuffer>>>} */
async function tableOf(file) {
  const start = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (String.fromCharCode(...start) !== "PK") return file.stream();
  const tail = new DataView(await file.slice(-65_557).arrayBuffer());
  let end = tail.byteLength - 22;
  while (end >= 0 && tail.getUint32(end, true) !== END_OF_ZIP) end--;
  if (end < 0) throw new Error(words.taxa.noArchive);
  const list = new DataView(
    await file
      .slice(tail.getUint32(end + 16, true), tail.getUint32(end + 16, true) + tail.getUint32(end + 12, true))
      .arrayBuffer(),
  );
  const tables = [];
  for (let at = 0; at + 46 <= list.byteLength && list.getUint32(at, true) === ENTRY; ) {
    const [name, extra, comment] = [28, 30, 32].map((place) => list.getUint16(at + place, true));
    const path = new TextDecoder().decode(new Uint8Array(list.buffer, at + 46, name));
    const [method, size, from] = [
      list.getUint16(at + 10, true),
      ...[20, 42].map((each) => list.getUint32(at + each, true)),
    ];
    if (TABLE.test(path)) tables.push({ method, size, from });
    at += 46 + name + extra + comment;
  }
  if (tables.length !== 1) throw new Error(words.taxa.noArchive);
  const [{ method, size, from }] = tables;
  const head = new DataView(await file.slice(from, from + 30).arrayBuffer());
  const begin = from + 30 + head.getUint16(26, true) + head.getUint16(28, true);
  const content = file.slice(begin, begin + size).stream();
  return method === DEFLATED ? content.pipeThrough(new DecompressionStream("deflate-raw")) : content;
}

/** The rows of a table: with tabs if its first line has one, and then without quotes; else CSV. @param {ReadableStream<Uint8Array<ArrayBuffer>>} bytes */
async function* rowsOf(bytes) {
  const reader = bytes.pipeThrough(new TextDecoderStream("utf-8", { fatal: true })).getReader();
  let [kept, isTab] = ["", /** @type {boolean | null} */ (null)];
  for (;;) {
    const { value, done } = await reader.read();
    kept += value ?? "";
    if (isTab === null && (done || kept.includes("\n"))) isTab = kept.split("\n", 1)[0].includes("\t");
    if (isTab === null) continue;
    const lines = isTab ? kept.split("\n") : linesOf(kept);
    kept = done ? "" : (lines.pop() ?? "");
    for (const line of lines) {
      const bare = line.replace(/\r$/, "");
      if (bare) yield isTab ? bare.split("\t") : cellsOf(bare);
    }
    if (done) return;
  }
}

/** The lines of a CSV, of which quoted cells may have several; the last one may go on. @param {string} text */
function linesOf(text) {
  const found = [];
  let open = "";
  for (const line of text.split("\n")) {
    open = open === "" ? line : `${open}\n${line}`;
    if (open.split('"').length % 2 === 0) continue;
    found.push(open);
    open = "";
  }
  return open === "" ? found : [...found, open];
}

/** The cells of a line of CSV. @param {string} line */
function cellsOf(line) {
  const found = [];
  for (const [, plain, quoted, end] of line.matchAll(/("((?:[^"]|"")*)"|[^,]*)(,|$)/g)) {
    found.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (!end) break;
  }
  return found;
}
