// The sound of a media: an audio element that follows the player. The picture leads; sound is heard while it plays forward.
import { signal } from "../lib.js";

const KEY = "limn.sound";
/** Beyond this the sound is set to the picture again, in seconds. */
const DRIFT = 0.12;
const SLOWEST = 0.25,
  FASTEST = 4;

/** Whether sound is heard; kept in this browser. */
export const isOn = signal(localStorage.getItem(KEY) !== "off");

const VOLUME_KEY = "limn.volume";
/** How loud, from 0 to 1; kept in this browser. */
export const volume = signal(Math.min(1, Math.max(0, Number(localStorage.getItem(VOLUME_KEY) ?? 1) || 0)));

/** @param {number} value */
export function setVolume(value) {
  volume.value = value;
  localStorage.setItem(VOLUME_KEY, String(value));
}

export class Sound {
  /**
   * @param {import("./player.js").Player} player
   * @param {HTMLAudioElement} element
   * @param {string} url presigned
   */
  constructor(player, element, url) {
    this.player = player;
    this.element = element;
    element.src = url;
    const follow = () => this.#follow();
    this.stop = new AbortController();
    for (const name of ["frame", "state"]) player.addEventListener(name, follow, { signal: this.stop.signal });
    const stops = [isOn.subscribe(follow), volume.subscribe((loud) => Object.assign(element, { volume: loud }))];
    this.unsubscribe = () => stops.forEach((stop) => stop());
  }

  toggle() {
    isOn.value = !isOn.peek();
    localStorage.setItem(KEY, isOn.peek() ? "on" : "off");
  }

  close() {
    this.stop.abort();
    this.unsubscribe();
    this.element.pause();
    this.element.removeAttribute("src");
    this.element.load();
  }

  /** Play, pause and set the element as the player is. */
  #follow() {
    const { player, element } = this;
    const isHeard =
      isOn.peek() && player.direction > 0 && !player.isStalled && player.speed >= SLOWEST && player.speed <= FASTEST;
    if (!isHeard) {
      if (!element.paused) element.pause();
      return;
    }
    const due = player.frame / player.fps;
    if (Math.abs(element.currentTime - due) > DRIFT * Math.max(1, player.speed)) element.currentTime = due;
    if (element.playbackRate !== player.speed) element.playbackRate = player.speed;
    // refused before the person has touched the page, and where the sound is shorter than the picture
    if (element.paused && !(element.duration <= due)) element.play().catch(() => undefined);
  }
}
