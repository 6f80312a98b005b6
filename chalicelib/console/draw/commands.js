// Every command of the annotation view with its keys: one table for the keyboard, the buttons and the list of keys.

import { moved, resized } from "./geometry.js";
import { annotate as words } from "../strings_annotate.js";
import { comments as commentWords } from "../strings_team.js";
import { assist } from "../strings_assist.js";
import { playCommands } from "./commands_play.js";
import { STORED } from "../ui/review_names.js";
import { keysFor } from "../ui/key_map.js";
import { assistCommands } from "./commands_assist.js";
import { shapeCommands } from "./commands_shapes.js";
import { trackCommands } from "./commands_tracks.js";
import { MOST_VALUES } from "./labels.js";

/** @typedef {{id: string, group: keyof typeof words.keyGroups, label: string, keys: string[], run: (event?: any) => any, isVideo?: boolean}} Command */

const ARROWS = /** @type {Record<string, [number, number]>} */ ({
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
});

/**
 * @param {import("./session.js").Session} session
 * @param {{open: (which: "next" | "previous") => void, help: () => void, attributes: () => void, goTo: () => void, toast: (text: string) => void, decide: (decision: string) => void, task?: () => {submit: () => void, reject: () => void} | null, camera?: () => void}} ui `task` where one is worked on, `camera` where there are several
 * @returns {Command[]}
 */
export function commandsOf(session, ui) {
  const here = () => session.frame.peek();
  const isImage = Boolean(session.media.media_files?.image?.length);
  const isRefined = [...session.types.localization.values()].some((type) => type.refinements?.length);
  /** @type {Command[]} */
  const list = [
    ...playCommands(session, ui.goTo),
    {
      id: "nextMedia",
      group: "view",
      label: words.nextMedia,
      keys: isImage ? ["ArrowRight", "Shift+PageDown"] : ["Shift+PageDown"],
      run: () => ui.open("next"),
    },
    {
      id: "previousMedia",
      group: "view",
      label: words.previousMedia,
      keys: isImage ? ["ArrowLeft", "Shift+PageUp"] : ["Shift+PageUp"],
      run: () => ui.open("previous"),
    },
    { id: "select", group: "draw", label: words.select, keys: ["v"], run: () => session.take(null) },
    ...session.drawable.slice(0, 9).map(
      (/** @type {any} */ type, /** @type {number} */ index) =>
        /** @type {Command} */ ({
          id: `type${type.id}`,
          group: "draw",
          label: type.name,
          keys: [String(index + 1)],
          run: () => session.take(type),
        }),
    ),
    {
      id: "enter",
      group: "draw",
      label: words.commands.drawMiddle,
      keys: ["Enter"],
      run: () => enter(session),
    },
    {
      id: "escape",
      group: "draw",
      label: words.commands.giveUp,
      keys: ["Escape"],
      run: () => escape(session),
    },
    {
      id: "move",
      group: "draw",
      label: words.commands.byArrows,
      keys: ["m"],
      run: () => session.hand.beginMove(),
    },
    {
      id: "copyNext",
      group: "edit",
      label: words.commands.copyNext,
      keys: ["c"],
      run: () => session.hand.copyOn(1),
      isVideo: true,
    },
    {
      id: "copyPrevious",
      group: "edit",
      label: words.commands.copyPrevious,
      keys: ["C"],
      run: () => session.hand.copyOn(-1),
      isVideo: true,
    },
    {
      id: "copy",
      group: "edit",
      label: words.copyShapes,
      keys: ["Ctrl+c"],
      run: () => {
        const count = session.labels.copy();
        if (count) ui.toast(words.copiedShapes(count));
      },
    },
    {
      id: "paste",
      group: "edit",
      label: words.pasteShapes,
      keys: ["Ctrl+v"],
      run: () => !session.hand.paste() && session.mayEdit && ui.toast(words.nothingToPaste),
    },
    { id: "attributes", group: "edit", label: words.attributeMode, keys: ["A"], run: ui.attributes },
    { id: "repeat", group: "edit", label: words.repeatLabel, keys: ["R"], run: () => session.labels.repeat() },
    ...Array.from({ length: MOST_VALUES }, (_, index) => ({
      id: `value${index + 1}`,
      group: /** @type {const} */ ("draw"),
      label: words.valueKey(index + 1),
      keys: [`Alt+${index + 1}`],
      run: () => session.labels.choose(index),
    })),
    {
      id: "remove",
      group: "edit",
      label: words.remove,
      keys: ["Delete", "Backspace"],
      run: () => {
        if (!session.stage?.pen.removePoint() && session.hand.removeSelected() && session.mayEdit)
          ui.toast(session.trackSet.hasLocked(session.chosen()) ? words.trackLocked : words.notRemoved);
      },
    },
    {
      id: "undo",
      group: "edit",
      label: words.undo,
      keys: ["Ctrl+z"],
      run: (event) => {
        const step = event?.shiftKey ? session.doc.redo() : session.doc.undo();
        if (step) ui.toast(event?.shiftKey ? words.redid(step.label) : words.undid(step.label));
      },
    },
    {
      id: "redo",
      group: "edit",
      label: words.redo,
      keys: ["Ctrl+y", "Ctrl+Z"],
      run: () => {
        const step = session.doc.redo();
        if (step) ui.toast(words.redid(step.label));
      },
    },
    { id: "save", group: "edit", label: words.save, keys: ["Ctrl+s"], run: () => session.sync.save() },
    { id: "nextShape", group: "edit", label: words.commands.nextShape, keys: ["n"], run: () => session.cycle(1) },
    {
      id: "previousShape",
      group: "edit",
      label: words.commands.previousShape,
      keys: ["N"],
      run: () => session.cycle(-1),
    },
    {
      id: "fields",
      group: "edit",
      label: words.editFields,
      keys: ["f"],
      run: () =>
        /** @type {HTMLElement | null} */ (
          document.querySelector(".annotate-panel .selection .attribute-form :is(input, select, textarea)")
        )?.focus(),
    },
    {
      id: "selectAll",
      group: "edit",
      label: words.commands.selectAll,
      keys: ["Ctrl+a"],
      run: () => session.select(session.rowsOn(here()).map(([key]) => key)),
    },
    ...trackCommands(session),
    ...(isRefined ? shapeCommands(session) : []),
    ...assistCommands(session),
    { id: "zoomIn", group: "view", label: words.zoomIn, keys: ["+", "="], run: () => session.stage?.zoomBy(1.5) },
    { id: "zoomOut", group: "view", label: words.zoomOut, keys: ["-"], run: () => session.stage?.zoomBy(1 / 1.5) },
    { id: "zoomReset", group: "view", label: words.zoomReset, keys: ["z"], run: () => session.stage?.zoomBy(0) },
    {
      id: "hide",
      group: "view",
      label: `${words.hide} / ${words.show}`,
      keys: ["h"],
      run: () => {
        session.isHidden.value = !session.isHidden.value;
        session.stage?.invalidate();
      },
    },
    { id: "fullscreen", group: "view", label: words.fullscreen, keys: ["F"], run: toggleFullscreen },
    {
      id: "nextFound",
      group: "view",
      label: words.nextFound,
      keys: ["F3"],
      run: () => session.seekAnnotated(1, session.found.peek() ?? []),
      isVideo: true,
    },
    {
      id: "previousFound",
      group: "view",
      label: words.previousFound,
      keys: ["Shift+F3"],
      run: () => session.seekAnnotated(-1, session.found.peek() ?? []),
      isVideo: true,
    },
    { id: "help", group: "view", label: words.shortcuts, keys: ["?"], run: ui.help },
    { id: "accept", group: "review", label: assist.acceptDraft, keys: ["a"], run: () => ui.decide(STORED.accepted) },
    { id: "reject", group: "review", label: assist.rejectDraft, keys: ["r"], run: () => ui.decide(STORED.rejected) },
    { id: "reopen", group: "review", label: words.commands.reopen, keys: ["o"], run: () => ui.decide(STORED.open) },
    {
      id: "nextComment",
      group: "review",
      label: commentWords.next,
      keys: ["u"],
      run: () => session.comments.next(1) || ui.toast(commentWords.noOpen),
    },
    {
      id: "previousComment",
      group: "review",
      label: commentWords.previous,
      keys: ["U"],
      run: () => session.comments.next(-1) || ui.toast(commentWords.noOpen),
    },
    {
      id: "comment",
      group: "review",
      label: commentWords.write,
      keys: ["w"],
      run: () => /** @type {HTMLElement | null} */ (document.querySelector(".write-comment"))?.focus(),
    },
    ...(ui.task ? taskCommands(ui.task) : []),
    ...(ui.camera
      ? [{ id: "camera", group: /** @type {const} */ ("view"), label: words.camera.next, keys: ["K"], run: ui.camera }]
      : []),
  ];
  return isImage ? list.filter((command) => !command.isVideo) : list;
}

/** @param {() => {submit: () => void, reject: () => void} | null} task @returns {Command[]} */
const taskCommands = (task) => [
  { id: "submitTask", group: "review", label: words.submitTask, keys: ["Ctrl+Enter"], run: () => task()?.submit() },
  { id: "rejectTask", group: "review", label: words.rejectTask, keys: ["Ctrl+Backspace"], run: () => task()?.reject() },
];

/** Key names to functions, for `useKeys`. @param {import("./session.js").Session} session @param {Command[]} commands @param {Record<string, string[]>} chosen keys of commands that a person changed */
export function keysOf(session, commands, chosen) {
  const keys = /** @type {Record<string, (event: KeyboardEvent) => void>} */ (
    Object.fromEntries(commands.flatMap((command) => keysFor(command, chosen).map((name) => [name, command.run])))
  );
  for (const [arrow, [x, y]] of Object.entries(ARROWS))
    for (const shift of ["", "Shift+"]) {
      const usual = keys[shift + arrow];
      keys[shift + arrow] = (event) =>
        session.isMoving.peek() ? nudge(session, x, y, Boolean(shift)) : usual?.(event);
    }
  return keys;
}

/** Move or resize the selection by two pixels of the media. */
function nudge(
  /** @type {import("./session.js").Session} */ session,
  /** @type {number} */ x,
  /** @type {number} */ y,
  /** @type {boolean} */ isResize,
) {
  const { width, height } = /** @type {HTMLCanvasElement} */ (session.player?.canvas);
  const act = isResize ? resized : moved;
  const shapes = session
    .shapes()
    .map(
      ([key, row]) =>
        /** @type {const} */ ([key, act(session.kindOf(row), row.shape ?? {}, (x * 2) / width, (y * 2) / height)]),
    );
  session.hand.reshape(new Map(shapes), isResize ? words.steps.reshape : words.steps.move, true);
}

function toggleFullscreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.querySelector(".annotate")?.requestFullscreen();
}

function enter(/** @type {import("./session.js").Session} */ session) {
  if (session.follow.accept() || session.assist.acceptClicks()) return;
  if (session.isMoving.peek()) session.isMoving.value = false;
  else if (session.stage?.pen.isDrawing) session.stage.pen.finish();
  else if (!session.paint.next()) session.hand.create();
}

function escape(/** @type {import("./session.js").Session} */ session) {
  if (session.stage?.cancel() || session.follow.discard() || session.assist.forgetClicks()) return;
  if (session.refining.endHole() || session.paint.end()) return;
  if (session.assist.clicking.peek()) return session.assist.endClicks();
  if (session.isMoving.peek()) session.isMoving.value = false;
  else if (session.tool.peek() || session.trackSet.armed.peek()) session.take(null);
  else session.select([]);
}
