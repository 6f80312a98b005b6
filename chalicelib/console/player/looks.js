// How the picture is looked at: brightness, contrast, gamma, sharpness, one channel. Drawn by WebGL over the picture while one
// of them is set; the picture itself, what is exported and what others see stay as they are.
import { signal } from "../lib.js";
import { load, prepared } from "./webgl.js";

export const CHANNELS = ["all", "red", "green", "blue", "gray"];
/** @typedef {{brightness: number, contrast: number, gamma: number, sharpen: number, channel: string}} Look */
/** @type {Look} */
export const NEUTRAL = { brightness: 1, contrast: 1, gamma: 1, sharpen: 0, channel: "all" };

/** The look of this page; it is stored nowhere. */
export const look = signal(NEUTRAL);

const VERTICES = `attribute vec2 at; varying vec2 place;
void main() { place = vec2(at.x + 1.0, 1.0 - at.y) / 2.0; gl_Position = vec4(at, 0.0, 1.0); }`;
const FRAGMENTS = `precision mediump float;
varying vec2 place; uniform sampler2D picture; uniform vec2 pixel;
uniform float brightness, contrast, gamma, sharpen; uniform int channel;
void main() {
  vec3 color = texture2D(picture, place).rgb;
  if (sharpen > 0.0) {
    vec3 around = texture2D(picture, place + vec2(pixel.x, 0.0)).rgb + texture2D(picture, place - vec2(pixel.x, 0.0)).rgb
      + texture2D(picture, place + vec2(0.0, pixel.y)).rgb + texture2D(picture, place - vec2(0.0, pixel.y)).rgb;
    color = color * (1.0 + 4.0 * sharpen) - around * sharpen;
  }
  color = ((color - 0.5) * contrast + 0.5) * brightness;
  color = pow(max(color, 0.0), vec3(1.0 / gamma));
  if (channel == 1) color = vec3(color.r);
  if (channel == 2) color = vec3(color.g);
  if (channel == 3) color = vec3(color.b);
  if (channel == 4) color = vec3(dot(color, vec3(0.2126, 0.7152, 0.0722)));
  gl_FragColor = vec4(color, 1.0);
}`;

const isNeutral = () =>
  Object.entries(NEUTRAL).every(([name, value]) => look.peek()[/** @type {keyof Look} */ (name)] === value);

export class Looks {
  /** @param {import("./player.js").Player} player @param {HTMLCanvasElement} canvas over the picture, of its size and place */
  constructor(player, canvas) {
    this.player = player;
    this.canvas = canvas;
    /** The context and its program, made when they are first needed. @type {ReturnType<typeof prepared>} */
    this.made = null;
    this.stop = new AbortController();
    player.addEventListener("frame", () => this.draw(), { signal: this.stop.signal });
    this.unsubscribe = look.subscribe(() => this.draw());
  }

  close() {
    this.stop.abort();
    this.unsubscribe();
  }

  draw() {
    this.canvas.hidden = isNeutral() || this.player.frame < 0;
    if (this.canvas.hidden) return;
    const picture = this.player.canvas;
    this.made ??= prepared(this.canvas, VERTICES, FRAGMENTS, ["at"], [-1, -1, 1, -1, -1, 1, 1, 1]);
    if (!this.made) {
      this.canvas.hidden = true;
      return;
    }
    const { gl, program } = this.made;
    const { width, height } = picture;
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    gl.viewport(0, 0, width, height);
    load(gl, picture);
    const place = (/** @type {string} */ name) => gl.getUniformLocation(program, name);
    const { channel, ...numbers } = look.peek();
    for (const [name, value] of Object.entries(numbers)) gl.uniform1f(place(name), value);
    gl.uniform1i(place("channel"), CHANNELS.indexOf(channel));
    gl.uniform2f(place("pixel"), 1 / width, 1 / height);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }
}
