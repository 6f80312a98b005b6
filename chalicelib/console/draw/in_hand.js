// The shape that is drawn, dragged or alone selected.

/** @param {import("./session.js").Session} session @returns {{kind: string, shape: any} | null} */
export function inHand(session) {
  const { stage } = session;
  if (!stage) return null;
  const drawn = stage.pen.item;
  if (drawn) return { kind: drawn.kind, shape: drawn.shape };
  const [key, more] = session.selected.peek();
  const row = key && !more ? session.rowsOn(session.frame.peek()).find(([each]) => each === key)?.[1] : null;
  return row ? { kind: session.kindOf(row), shape: stage.draft.get(key) ?? row.shape } : null;
}
