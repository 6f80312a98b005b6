// The commands that play and seek.

import { annotate as words } from "../strings_annotate.js";

/** @param {import("./session.js").Session} session @param {() => void} goTo @returns {import("./commands.js").Command[]} */
export function playCommands(session, goTo) {
  const player = () => /** @type {import("../player/player.js").Player} */ (session.player);
  const second = () => Math.max(1, Math.round(player().fps));
  const here = () => session.frame.peek();
  return [
    {
      id: "play",
      group: "play",
      label: `${words.play} / ${words.pause}`,
      keys: [" ", "k"],
      run: () => player().toggle(),
      isVideo: true,
    },
    {
      id: "forward",
      group: "play",
      label: words.commands.playForward,
      keys: ["l"],
      run: () => shuttle(player(), 1),
      isVideo: true,
    },
    {
      id: "backward",
      group: "play",
      label: words.commands.playBackward,
      keys: ["j"],
      run: () => shuttle(player(), -1),
      isVideo: true,
    },
    {
      id: "next",
      group: "play",
      label: words.next,
      keys: ["ArrowRight", "."],
      run: () => player().step(1),
      isVideo: true,
    },
    {
      id: "previous",
      group: "play",
      label: words.previous,
      keys: ["ArrowLeft", ","],
      run: () => player().step(-1),
      isVideo: true,
    },
    {
      id: "next10",
      group: "play",
      label: words.commands.tenOn,
      keys: ["Shift+ArrowRight"],
      run: () => player().step(10),
      isVideo: true,
    },
    {
      id: "previous10",
      group: "play",
      label: words.commands.tenBack,
      keys: ["Shift+ArrowLeft"],
      run: () => player().step(-10),
      isVideo: true,
    },
    {
      id: "nextSecond",
      group: "play",
      label: words.commands.secondOn,
      keys: ["Ctrl+ArrowRight"],
      run: () => player().step(second()),
      isVideo: true,
    },
    {
      id: "previousSecond",
      group: "play",
      label: words.commands.secondBack,
      keys: ["Ctrl+ArrowLeft"],
      run: () => player().step(-second()),
      isVideo: true,
    },
    { id: "first", group: "play", label: words.first, keys: ["Home"], run: () => player().seek(0), isVideo: true },
    {
      id: "last",
      group: "play",
      label: words.last,
      keys: ["End"],
      run: () => player().seek(player().frames - 1),
      isVideo: true,
    },
    {
      id: "slower",
      group: "play",
      label: words.commands.slower,
      keys: ["<"],
      run: () => player().changeSpeed(-1),
      isVideo: true,
    },
    {
      id: "faster",
      group: "play",
      label: words.commands.faster,
      keys: [">"],
      run: () => player().changeSpeed(1),
      isVideo: true,
    },
    {
      id: "loopStart",
      group: "play",
      label: words.loopStart,
      keys: ["["],
      run: () => player().setLoop([here(), player().loop?.[1] ?? player().frames - 1]),
      isVideo: true,
    },
    {
      id: "loopEnd",
      group: "play",
      label: words.loopEnd,
      keys: ["]"],
      run: () => player().setLoop([player().loop?.[0] ?? 0, here()]),
      isVideo: true,
    },
    {
      id: "loopClear",
      group: "play",
      label: words.loopClear,
      keys: ["\\"],
      run: () => player().setLoop(null),
      isVideo: true,
    },
    { id: "sound", group: "play", label: words.sound, keys: ["s"], run: () => session.sound?.toggle(), isVideo: true },
    { id: "goTo", group: "play", label: words.commands.goTo, keys: ["g"], run: goTo, isVideo: true },
    {
      id: "nextAnnotated",
      group: "play",
      label: words.commands.nextAnnotated,
      keys: ["PageDown"],
      run: () => session.seekAnnotated(1),
      isVideo: true,
    },
    {
      id: "previousAnnotated",
      group: "play",
      label: words.commands.previousAnnotated,
      keys: ["PageUp"],
      run: () => session.seekAnnotated(-1),
      isVideo: true,
    },
  ];
}

/** Play in a direction; one speed faster where it plays so already. */
function shuttle(/** @type {import("../player/player.js").Player} */ player, /** @type {number} */ direction) {
  if (player.direction === direction) player.changeSpeed(1);
  else {
    player.setSpeed(1);
    player.play(direction);
  }
}
