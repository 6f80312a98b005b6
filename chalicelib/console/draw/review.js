// Decisions and comments on annotations: values of two attributes of their type, so every client reads and finds them.
import { html, useEffect, useState } from "../lib.js";
import { review as words } from "../strings_annotate.js";
import { Button } from "../ui/controls.js";
import { STORED } from "../ui/review_names.js";

/** Whether a type can be reviewed. @param {any} type */
export const isReviewable = (type) =>
  (type?.attribute_types ?? []).some((/** @type {any} */ each) => each.name === STORED.attribute);

/** The attributes of a type that are not those of review. @param {any} type @returns {any[]} */
export const ownAttributes = (type) =>
  (type?.attribute_types ?? []).filter(
    (/** @type {any} */ each) => each.name !== STORED.attribute && each.name !== STORED.comment,
  );

/** @param {{session: import("./session.js").Session, rows: [string, import("./document.js").Row][]}} props */
export function ReviewButtons({ session, rows }) {
  const reviewed = rows.filter(([key, row]) => isReviewable(session.typeOf(row)) && session.isEditable(row, key));
  const comment = reviewed.length === 1 ? (reviewed[0][1].attributes[STORED.comment] ?? "") : "";
  const [text, setText] = useState(comment);
  useEffect(() => setText(comment), [comment, reviewed[0]?.[0]]);
  if (!reviewed.length || !session.mayEdit) return null;
  const decision = reviewed.every(
    ([, row]) => row.attributes[STORED.attribute] === reviewed[0][1].attributes[STORED.attribute],
  )
    ? reviewed[0][1].attributes[STORED.attribute]
    : null;
  const decide = (/** @type {string} */ value) => session.hand.setAttribute(STORED.attribute, value);
  return html`<div class="review-buttons" role="group" aria-label=${words.decision}>
    <span class="row"><${Button} small icon="check" pressed=${decision === STORED.accepted} onClick=${() => decide(STORED.accepted)}>${words.accept}<//>
      <${Button} small icon="close" pressed=${decision === STORED.rejected} onClick=${() => decide(STORED.rejected)}>${words.reject}<//>
      ${decision && decision !== STORED.open && html`<${Button} small kind="quiet" icon="undo" title=${words.reopen} onClick=${() => decide(STORED.open)} />`}</span>
    <input class="input small" aria-label=${words.commentLabel} placeholder=${words.commentLabel} value=${text} onInput=${(/** @type {any} */ e) => setText(e.currentTarget.value)}
      onChange=${() => text !== comment && session.hand.setAttribute(STORED.comment, text)} /></div>`;
}
