// Pictures warped by a mesh, as GetStereoRectification has it: where a place of one is in the other, and drawing by WebGL.
import { load, prepared } from "./webgl.js";

/** @typedef {[number, number]} Point in fractions of a picture */
/** @typedef {{size: number[], columns: number, rows: number, is_vertical: boolean, meshes: (Point | null)[][]}} Rectification */
/** @typedef {{at: Point, from: Point}[]} Triangle its corners: where they are shown, and of where in the camera's picture */

/** The triangles of the mesh of a side whose corners the camera sees. @param {Rectification} map @param {number} side @returns {Triangle[]} */
export function trianglesOf({ columns, rows, meshes }, side) {
  /** @type {Triangle[]} */
  const found = [];
  const corner = (/** @type {number} */ column, /** @type {number} */ row) => {
    const from = meshes[side][row * (columns + 1) + column];
    return from && { at: /** @type {Point} */ ([column / columns, row / rows]), from };
  };
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const [a, b, c, d] = [
        corner(column, row),
        corner(column + 1, row),
        corner(column, row + 1),
        corner(column + 1, row + 1),
      ];
      for (const each of [
        [a, b, c],
        [b, d, c],
      ])
        if (each.every(Boolean)) found.push(/** @type {Triangle} */ (each));
    }
  return found;
}

/** Where a place of the camera's picture is shown; null where it is not. @param {Triangle[]} triangles @param {Point} place @returns {Point | null} */
export function shownAt(triangles, [x, y]) {
  for (const [a, b, c] of triangles) {
    const [ux, uy, vx, vy] = [
      b.from[0] - a.from[0],
      b.from[1] - a.from[1],
      c.from[0] - a.from[0],
      c.from[1] - a.from[1],
    ];
    const whole = ux * vy - uy * vx;
    const s = ((x - a.from[0]) * vy - (y - a.from[1]) * vx) / whole;
    const t = (ux * (y - a.from[1]) - uy * (x - a.from[0])) / whole;
    if (s >= -1e-9 && t >= -1e-9 && s + t <= 1 + 1e-9)
      return [
        a.at[0] + s * (b.at[0] - a.at[0]) + t * (c.at[0] - a.at[0]),
        a.at[1] + s * (b.at[1] - a.at[1]) + t * (c.at[1] - a.at[1]),
      ];
  }
  return null;
}

const VERTEX = `attribute vec2 at; attribute vec2 from; varying vec2 place;
void main() { place = from; gl_Position = vec4(at.x * 2.0 - 1.0, 1.0 - at.y * 2.0, 0.0, 1.0); }`;
const FRAGMENT = `precision highp float; varying vec2 place; uniform sampler2D picture;
void main() {
  bool isOutside = any(lessThan(place, vec2(0.0))) || any(greaterThan(place, vec2(1.0)));
  gl_FragColor = isOutside ? vec4(0.0, 0.0, 0.0, 1.0) : texture2D(picture, place);
}`;

/** What draws pictures of a camera warped onto a canvas; null where the browser has no WebGL. @param {HTMLCanvasElement} canvas @param {Triangle[]} triangles @returns {((picture: HTMLCanvasElement | null) => void) | null} */
export function warper(canvas, triangles) {
  const corners = triangles.flat();
  const numbers = corners.flatMap(({ at, from }) => [...at, ...from]);
  const gl = prepared(canvas, VERTEX, FRAGMENT, ["at", "from"], numbers)?.gl;
  if (!gl) return null;
  const most = gl.getParameter(gl.MAX_TEXTURE_SIZE);
  return (picture) => {
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (!picture) return;
    load(gl, fitting(picture, most));
    gl.drawArrays(gl.TRIANGLES, 0, corners.length);
  };
}

/** A picture that is at most so many pixels wide and high. @param {HTMLCanvasElement} picture @param {number} most */
function fitting(picture, most) {
  const scale = most / Math.max(picture.width, picture.height);
  if (scale >= 1) return picture;
  const small = new OffscreenCanvas(Math.floor(picture.width * scale), Math.floor(picture.height * scale));
  /** @type {OffscreenCanvasRenderingContext2D} */ (small.getContext("2d")).drawImage(
    picture,
    0,
    0,
    small.width,
    small.height,
  );
  return small;
}
