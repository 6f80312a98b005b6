// A list of taxa as leaves of a label tree: what is there stays, so that a list is continued or updated by reading it again.
import { get, post } from "../client.js";
import { html, useMemo, useState } from "../lib.js";
import { project, reload } from "../store.js";
import { leaves as words } from "../strings_manage.js";
import { text } from "../strings.js";
import { Button, Field, TextField } from "../ui/controls.js";
import { Dialog } from "../ui/dialog.js";
import { number } from "../ui/format.js";
import { ATTRIBUTES, readTaxa } from "../ui/taxa.js";
import { explain, toast } from "../ui/toast.js";

const LEAVES_PER_REQUEST = 500;
const PAGE = 5000;

/** The leaves of a type by their `taxonID`. @param {any} type @returns {Promise<Map<string, number>>} */
async function knownOf(type) {
  const found = new Map();
  for (let after = 0; ; ) {
    const page = await get(`Leaves/${type.project}`, { type: type.id, after, stop: PAGE });
    for (const leaf of page) if (leaf.attributes?.taxonID) found.set(leaf.attributes.taxonID, leaf.id);
    if (page.length < PAGE) return found;
    after = page[page.length - 1].id;
  }
}

/** @param {{types: any[], onClose: () => void, onDone: (type: number) => void}} props the one of `types` that is named gets the leaves, or a new one */
export function ImportTaxa({ types, onClose, onDone }) {
  const open = /** @type {any} */ (project.value);
  const [name, setName] = useState(words.taxa.name);
  const [taxa, setTaxa] = useState(/** @type {import("../ui/taxa.js").Taxa | null} */ (null));
  const [within, setWithin] = useState("");
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  const [share, setShare] = useState(/** @type {number | null} */ (null));
  const roots = within
    .split("\n")
    .map((each) => each.trim())
    .filter(Boolean);
  const chosen = useMemo(() => {
    try {
      return { levels: taxa?.levels(roots) ?? [], problem: "" };
    } catch (problem) {
      return { levels: [], problem: explain(problem) };
    }
  }, [taxa, within]);
  const type = types.find((each) => each.name === name.trim());
  const count = chosen.levels.flat().length;
  const choose = async (/** @type {File | undefined} */ file) => {
    setTaxa(null);
    setFailure("");
    if (!file) return;
    setBusy(true);
    await readTaxa(file).then(setTaxa, (problem) => setFailure(words.taxa.unread(file.name, explain(problem))));
    setBusy(false);
  };
  const save = async () => {
    if (!taxa || !count) return;
    setBusy(true);
    setFailure("");
    try {
      const of = type ?? {
        id: (await post(`LeafTypes/${open.id}`, { name: name.trim(), attribute_types: ATTRIBUTES })).id,
        project: open.id,
      };
      const known = await knownOf(of);
      let [done, created] = [0, 0];
      for (const level of chosen.levels) {
        const missing = level.filter(([taxon]) => !known.has(taxon.id));
        for (let start = 0; start < missing.length; start += LEAVES_PER_REQUEST) {
          const some = missing.slice(start, start + LEAVES_PER_REQUEST);
          const bodies = some.map(([taxon, parent]) => ({
            name: taxon.name,
            type: of.id,
            ...(known.has(parent) && { parent: known.get(parent) }),
            attributes: taxa.attributesOf(taxon),
          }));
          const { id } = await post(`Leaves/${open.id}`, bodies);
          for (const [at, [taxon]] of some.entries()) known.set(taxon.id, id[at]);
          created += some.length;
          setShare((done + start + some.length) / count);
        }
        done += level.length;
      }
      await reload("leafTypes");
      toast(words.taxa.done(created, count - created), { kind: "good" });
      onDone(of.id);
      onClose();
    } catch (problem) {
      setFailure(explain(problem));
      if (!type) await reload("leafTypes");
    }
    setBusy(false);
  };
  const lacking =
    type && ATTRIBUTES.filter((each) => !type.attribute_types.some((/** @type {any} */ one) => one.name === each.name));
  return html`<${Dialog} title=${words.taxa.title} onClose=${onClose} onSubmit=${save} footer=${html`<${Button} onClick=${onClose}>${text.cancel}<//><${Button} kind="primary" type="submit" busy=${busy} disabled=${!count || !name.trim() || lacking?.length > 0}>${words.taxa.import}<//>`}>
    <p class="muted">${words.taxa.lead}</p>
    ${failure && html`<div class="note bad" role="alert">${failure}</div>`}
    ${lacking?.length > 0 && html`<div class="note bad" role="alert">${words.taxa.lacking(type.name, lacking.map((/** @type {any} */ each) => `${each.name} (${each.dtype})`).join(", "))}</div>`}
    <${TextField} label=${words.taxa.into} hint=${words.taxa.intoHint} value=${name} onInput=${setName} required />
    <${Field} label=${words.taxa.file}>${(/** @type {string} */ id) => html`<input class="input" id=${id} type="file" accept=".zip,.txt,.tsv,.csv" onChange=${(/** @type {any} */ e) => choose(e.currentTarget.files[0])} />`}<//>
    <${TextField} label=${words.taxa.within} hint=${words.taxa.withinHint} rows="3" value=${within} onInput=${setWithin} error=${chosen.problem} />
    ${taxa && !chosen.problem && html`<p role="status">${words.taxa.counted(number(count), taxa.skipped)}</p>`}
    ${share !== null && html`<progress value=${share} aria-label=${words.taxa.title} />`}<//>`;
}
