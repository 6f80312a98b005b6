// A person's favorites: attribute values of a type, kept under a name, and set on the selection.
import { del, get, post } from "../client.js";
import { html, useState } from "../lib.js";
import { records as words } from "../strings_records.js";
import { text } from "../strings.js";
import { Menu } from "../ui/menu.js";
import { RecordDialog } from "../ui/records.js";
import { useAsync } from "../ui/states.js";
import { toast, toastError } from "../ui/toast.js";

const KINDS = { localization: "Localization", state: "State" };

/** @param {{project: number, kind: "localization" | "state", type: any, values: Record<string, any>, onChoose: (values: Record<string, any>) => void}} props */
export function Favorites({ project, kind, type, values, onChoose }) {
  const found = useAsync((signal) => get(`Favorites/${project}`, {}, { signal }), [project]);
  const [keeping, setKeeping] = useState(false);
  const own = (found.value ?? []).filter(
    (/** @type {any} */ each) => each.type === type.id && each.entity_type_name === KINDS[kind],
  );
  const keep = (/** @type {any} */ { name }) =>
    post(`Favorites/${project}`, { name, type: type.id, entity_type_name: KINDS[kind], values }).then(() => {
      toast(words.favoriteSaved(name), { kind: "good" });
      found.again();
    });
  return html`<${Menu} small kind="quiet" icon="star" title=${words.favorites} items=${[
    ...own.map((/** @type {any} */ each) => ({
      label: each.name,
      icon: "star",
      run: () => onChoose(each.values),
    })),
    own.length > 0 && "line",
    { label: words.keepFavorite, icon: "add", run: () => setKeeping(true) },
    ...own.map((/** @type {any} */ each) => ({
      label: words.removeFavorite(each.name),
      icon: "trash",
      danger: true,
      run: () => del(`Favorite/${each.id}`).then(found.again, toastError),
    })),
  ]} />${keeping && html`<${RecordDialog} title=${words.keepFavorite} action=${text.save} onSave=${keep} onClose=${() => setKeeping(false)} members=${[{ name: "name", label: words.favoriteName, required: true }]} />`}`;
}
