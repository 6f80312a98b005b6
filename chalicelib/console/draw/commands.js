// Every command of the annotation view with its keys: one table for the keyboard, the buttons and the list of keys.

import { moved, resized } from "./geometry.js";
import { annotate as words } from "../strings_annotate.js";
import * as tracks from "./tracks.js";

/** @typedef {{id: string, group: keyof typeof words.keyGroups, label: string, keys: string[], run: (event?: any) => any, isVideo?: boolean}} Command */

const ARROWS = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] });

/**
 * @param {import("./session.js").Session} session
 * @param {{open: (which: "next" | "previous") => void, help: () => void, goTo: () => void, toast: (text: string) => void, decide: (decision: string) => void}} ui
 * @returns {Command[]}
 */
export function commandsOf(session, ui) {
  const player = () => /** @type {import("../player/player.js").Player} */ (session.player);
  const second = () => Math.max(1, Math.round(player().fps));
  const here = () => session.frame.peek();
  const isImage = Boolean(session.media.media_files?.image?.length);
  /** @type {Command[]} */
  const list = [
    { id: "play", group: "play", label: `${words.play} / ${words.pause}`, keys: [" ", "k"], run: () => player().toggle(), isVideo: true },
    { id: "forward", group: "play", label: "Play forward; again: faster", keys: ["l"], run: () => shuttle(player(), 1), isVideo: true },
    { id: "backward", group: "play", label: "Play backward; again: faster", keys: ["j"], run: () => shuttle(player(), -1), isVideo: true },
    { id: "next", group: "play", label: words.next, keys: ["ArrowRight", "."], run: () => player().step(1), isVideo: true },
    { id: "previous", group: "play", label: words.previous, keys: ["ArrowLeft", ","], run: () => player().step(-1), isVideo: true },
    { id: "next10", group: "play", label: "Ten frames on", keys: ["Shift+ArrowRight"], run: () => player().step(10), isVideo: true },
    { id: "previous10", group: "play", label: "Ten frames back", keys: ["Shift+ArrowLeft"], run: () => player().step(-10), isVideo: true },
    { id: "nextSecond", group: "play", label: "A second on", keys: ["Ctrl+ArrowRight"], run: () => player().step(second()), isVideo: true },
    { id: "previousSecond", group: "play", label: "A second back", keys: ["Ctrl+ArrowLeft"], run: () => player().step(-second()), isVideo: true },
    { id: "first", group: "play", label: words.first, keys: ["Home"], run: () => player().seek(0), isVideo: true },
    { id: "last", group: "play", label: words.last, keys: ["End"], run: () => player().seek(player().frames - 1), isVideo: true },
    { id: "slower", group: "play", label: "Slower", keys: ["<"], run: () => player().changeSpeed(-1), isVideo: true },
    { id: "faster", group: "play", label: "Faster", keys: [">"], run: () => player().changeSpeed(1), isVideo: true },
    { id: "loopStart", group: "play", label: words.loopStart, keys: ["["], run: () => player().setLoop([here(), player().loop?.[1] ?? player().frames - 1]), isVideo: true },
    { id: "loopEnd", group: "play", label: words.loopEnd, keys: ["]"], run: () => player().setLoop([player().loop?.[0] ?? 0, here()]), isVideo: true },
    { id: "loopClear", group: "play", label: words.loopClear, keys: ["\\"], run: () => player().setLoop(null), isVideo: true },
    { id: "sound", group: "play", label: words.sound, keys: ["s"], run: () => session.sound?.toggle(), isVideo: true },
    { id: "goTo", group: "play", label: "Go to a frame or time", keys: ["g"], run: ui.goTo, isVideo: true },
    { id: "nextAnnotated", group: "play", label: "Next frame with annotations", keys: ["PageDown"], run: () => session.seekAnnotated(1), isVideo: true },
    { id: "previousAnnotated", group: "play", label: "Previous frame with annotations", keys: ["PageUp"], run: () => session.seekAnnotated(-1), isVideo: true },
    { id: "nextMedia", group: "view", label: words.nextMedia.split(" (")[0], keys: isImage ? ["ArrowRight", "Shift+PageDown"] : ["Shift+PageDown"], run: () => ui.open("next") },
    { id: "previousMedia", group: "view", label: words.previousMedia.split(" (")[0], keys: isImage ? ["ArrowLeft", "Shift+PageUp"] : ["Shift+PageUp"], run: () => ui.open("previous") },
    { id: "select", group: "draw", label: words.select, keys: ["v"], run: () => session.take(null) },
    ...session.drawable.slice(0, 9).map((/** @type {any} */ type, /** @type {number} */ index) => /** @type {Command} */ ({ id: `type${type.id}`, group: "draw", label: type.name, keys: [String(index + 1)], run: () => session.take(type) })),
    { id: "enter", group: "draw", label: "Draw in the middle, or end a polygon", keys: ["Enter"], run: () => enter(session) },
    { id: "escape", group: "draw", label: "Give up, then select, then nothing", keys: ["Escape"], run: () => escape(session) },
    { id: "move", group: "draw", label: "Move and resize by arrow keys", keys: ["m"], run: () => { session.isMoving.value = session.shapes().length > 0; } },
    { id: "copyNext", group: "edit", label: "Copy to the next frame", keys: ["c"], run: () => session.copyOn(1), isVideo: true },
    { id: "copyPrevious", group: "edit", label: "Copy to the previous frame", keys: ["C"], run: () => session.copyOn(-1), isVideo: true },
    { id: "remove", group: "edit", label: words.remove, keys: ["Delete", "Backspace"], run: () => { if (!session.stage?.removePoint() && session.removeSelected() && session.mayEdit) ui.toast(words.notRemoved); } },
    { id: "undo", group: "edit", label: words.undo, keys: ["Ctrl+z"], run: (event) => { const step = event?.shiftKey ? session.doc.redo() : session.doc.undo(); if (step) ui.toast(event?.shiftKey ? words.redid(step.label) : words.undid(step.label)); } },
    { id: "redo", group: "edit", label: words.redo, keys: ["Ctrl+y", "Ctrl+Z"], run: () => { const step = session.doc.redo(); if (step) ui.toast(words.redid(step.label)); } },
    { id: "save", group: "edit", label: words.save, keys: ["Ctrl+s"], run: () => session.sync.save() },
    { id: "nextShape", group: "edit", label: "Select the next annotation", keys: ["n"], run: () => session.cycle(1) },
    { id: "previousShape", group: "edit", label: "Select the previous annotation", keys: ["N"], run: () => session.cycle(-1) },
    { id: "fields", group: "edit", label: words.editFields, keys: ["f"], run: () => /** @type {HTMLElement | null} */ (document.querySelector(".annotate-panel .selection .attribute-form :is(input, select, textarea)"))?.focus() },
    { id: "selectAll", group: "edit", label: "Select all on this frame", keys: ["Ctrl+a"], run: () => session.select(session.rowsOn(here()).map(([key]) => key)) },
    { id: "track", group: "tracks", label: words.track.make, keys: ["t"], run: () => session.makeTrack() },
    { id: "extend", group: "tracks", label: words.track.extend, keys: ["e"], run: () => session.editTrack((doc, track) => tracks.extended(doc, track, here()), words.steps.extend), isVideo: true },
    { id: "fill", group: "tracks", label: words.track.fill, keys: ["i"], run: () => { const count = session.editTrack((doc, track) => tracks.filled(doc, track, session.kindOf), words.steps.fill); ui.toast(count ? words.filledFrames(count - 1) : words.nothingToFill); }, isVideo: true },
    { id: "split", group: "tracks", label: words.track.split, keys: ["x"], run: () => session.editTrack((doc, track) => tracks.split(doc, track, here()), words.steps.split), isVideo: true },
    { id: "trimStart", group: "tracks", label: words.track.trimStart, keys: ["{"], run: () => session.editTrack((doc, track) => tracks.trimmed(doc, track, here(), "start"), words.steps.trim), isVideo: true },
    { id: "trimEnd", group: "tracks", label: words.track.trimEnd, keys: ["}"], run: () => session.editTrack((doc, track) => tracks.trimmed(doc, track, here(), "end"), words.steps.trim), isVideo: true },
    { id: "merge", group: "tracks", label: words.track.merge, keys: ["M"], run: () => session.mergeTracks(), isVideo: true },
    { id: "zoomIn", group: "view", label: words.zoomIn, keys: ["+", "="], run: () => session.stage?.zoomBy(1.5) },
    { id: "zoomOut", group: "view", label: words.zoomOut, keys: ["-"], run: () => session.stage?.zoomBy(1 / 1.5) },
    { id: "zoomReset", group: "view", label: words.zoomReset, keys: ["z"], run: () => session.stage?.zoomBy(0) },
    { id: "hide", group: "view", label: `${words.hide} / ${words.show}`, keys: ["h"], run: () => { session.isHidden.value = !session.isHidden.value; session.stage?.invalidate(); } },
    { id: "help", group: "view", label: words.shortcuts, keys: ["?"], run: ui.help },
    { id: "accept", group: "review", label: "Accept the selection", keys: ["a"], run: () => ui.decide("Accepted") },
    { id: "reject", group: "review", label: "Reject the selection", keys: ["r"], run: () => ui.decide("Rejected") },
    { id: "reopen", group: "review", label: "Open the selection again", keys: ["o"], run: () => ui.decide("Open") },
  ];
  return isImage ? list.filter((command) => !command.isVideo) : list;
}

/** Key names to functions, for `useKeys`. @param {import("./session.js").Session} session @param {Command[]} commands */
export function keysOf(session, commands) {
  const keys = /** @type {Record<string, (event: KeyboardEvent) => void>} */ (Object.fromEntries(commands.flatMap(({ keys: names, run }) => names.map((name) => [name, run]))));
  for (const [arrow, [x, y]] of Object.entries(ARROWS))
    for (const shift of ["", "Shift+"]) {
      const usual = keys[shift + arrow];
      keys[shift + arrow] = (event) => (session.isMoving.peek() ? nudge(session, x, y, Boolean(shift)) : usual?.(event));
    }
  return keys;
}

/** Move or resize the selection by two pixels of the media. */
function nudge(/** @type {import("./session.js").Session} */ session, /** @type {number} */ x, /** @type {number} */ y, /** @type {boolean} */ isResize) {
  const { width, height } = /** @type {HTMLCanvasElement} */ (session.player?.canvas);
  const act = isResize ? resized : moved;
  const shapes = session.shapes().map(([key, row]) => /** @type {const} */ ([key, act(session.kindOf(row), row.shape ?? {}, (x * 2) / width, (y * 2) / height)]));
  session.reshape(new Map(shapes), isResize ? words.steps.reshape : words.steps.move);
}

function enter(/** @type {import("./session.js").Session} */ session) {
  if (session.isMoving.peek()) session.isMoving.value = false;
  else if (session.stage?.points.length) session.stage.finish();
  else session.create();
}

function escape(/** @type {import("./session.js").Session} */ session) {
  if (session.stage?.cancel()) return;
  if (session.isMoving.peek()) session.isMoving.value = false;
  else if (session.tool.peek()) session.take(null);
  else session.select([]);
}

/** Play in a direction; at twice the speed where it plays so already. */
function shuttle(/** @type {import("../player/player.js").Player} */ player, /** @type {number} */ direction) {
  if (player.direction === direction) player.changeSpeed(1);
  else {
    player.setSpeed(1);
    player.play(direction);
  }
}
