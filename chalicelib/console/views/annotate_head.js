// Above the picture: back to the gallery, the media before and behind in its list, what is saved, undo.
import { get } from "../client.js";
import { classes, html } from "../lib.js";
import { annotate as words } from "../strings_annotate.js";
import { Button, Checkbox } from "../ui/controls.js";
import { titled } from "../ui/key_map.js";
import { useAsync } from "../ui/states.js";
import { FileMenu } from "./annotate_file.js";

/** @typedef {{previous?: number, next?: number}} Neighbours ids of the media before and behind */

/** What the gallery shows that a media was opened from. @param {Record<string, string>} query of the address */
export const contextOf = ({ section, search, sort }) => ({ section, search, sort });

/** The media before and behind in the list of the gallery. @param {number} media @param {Record<string, any>} context @returns {Neighbours} */
export function useNeighbours(media, { section, search, sort }) {
  const query = { section, search, sort_by: sort };
  const found = useAsync(
    async (signal) => {
      const [{ prev }, { next }] = await Promise.all([
        get(`MediaPrev/${media}`, query, { signal }),
        get(`MediaNext/${media}`, query, { signal }),
      ]);
      return { previous: prev > 0 ? prev : undefined, next: next > 0 ? next : undefined };
    },
    [media, section, search, sort],
  );
  return found.value ?? {};
}

/** @param {{session: import("../draw/session.js").Session, media: any, back: string, neighbours: Neighbours, run: (id: string) => void, onConflicts: () => void}} props */
export function Head({ session, media, back, neighbours, run, onConflicts }) {
  session.revision.value;
  const { state, message, unsaved, conflicts } = session.saving.value;
  const said =
    /** @type {Record<string, string>} */ ({
      reading: words.waiting,
      saved: words.saved,
      saving: words.saving,
      unsaved: words.unsaved(unsaved),
      offline: words.offline(unsaved),
      failed: message || words.failed(unsaved),
      conflict: words.conflicts(conflicts),
    })[state] ?? "";
  const kind =
    { saved: "good", offline: "warn", failed: "bad", conflict: "bad", unsaved: "accent" }[
      /** @type {string} */ (state)
    ] ?? "";
  return html`<header class="annotate-head row"><${Button} kind="quiet" icon="back" title=${words.back} href=${back} />
    <h1 class="cut">${media.name}</h1>
    ${media.damaged_frames && html`<span class="chip warn" title=${words.damagedSpans(media.damaged_frames.spans, media.damaged_frames.missing_ends)} data-damaged>${words.damagedFrames(media.damaged_frames.count)}</span>`}
    <${Button} small kind="quiet" icon="up" title=${titled(session.commands, "previousMedia", words.previousMedia)} disabled=${!neighbours.previous} onClick=${() => run("previousMedia")} /><${Button} small kind="quiet" icon="down" title=${titled(session.commands, "nextMedia", words.nextMedia)} disabled=${!neighbours.next} onClick=${() => run("nextMedia")} /><span class="grow" />
    ${
      session.mayEdit
        ? html`${conflicts > 0 ? html`<${Button} small kind="danger" icon="alert" data-saving=${state} onClick=${onConflicts}>${words.conflicts(conflicts)}<//>` : html`<span class=${classes("chip", kind)} role="status" data-saving=${state}>${said}</span>`}
      <${Checkbox} label=${words.automatic} checked=${session.sync.isAutomatic} onChange=${(
        /** @type {boolean} */ is,
      ) => {
        session.sync.isAutomatic = is;
        if (is) session.sync.save();
      }} />
      <${Button} small kind="quiet" icon="save" title=${words.save} disabled=${!unsaved} onClick=${() => run("save")} />
      <${Button} small kind="quiet" icon="undo" title=${words.undo} disabled=${!session.doc.undoSteps.length} onClick=${() => run("undo")} />
      <${Button} small kind="quiet" icon="redo" title=${words.redo} disabled=${!session.doc.redoSteps.length} onClick=${() => run("redo")} />`
        : html`<span class="chip">${words.readOnly}</span>`
    }
    <${FileMenu} session=${session} media=${media} /><${Button} small kind="quiet" icon="help" title=${words.shortcuts} onClick=${() => run("help")} /></header>`;
}
