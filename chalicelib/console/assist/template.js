// The look of an object as a grid of values across its box, and where a picture shows the same look. Pure functions.

import { sample } from "./gray.js";

/**
 * @typedef {import("./gray.js").Gray} Gray
 * @typedef {{x: number, y: number, scale: number, angle: number}} Pose the middle of a box, its size against that of the first, its turn in radians
 * @typedef {{width: number, height: number}} Size of the first box
 * @typedef {{values: Float32Array, weights: Float32Array, slopes: Float32Array[], at: Float32Array[]}} Template
 */

const SIDE = 28;
/** How much the border of the box counts, where background shows, against its middle. */
const BORDER = 0.05;
const STEPS = 12;

/** Where the points of the grid lie in the box, and their weights. @param {Size} size */
export function gridOf({ width, height }) {
  const count = SIDE * SIDE;
  const [u, v, weights] = [new Float32Array(count), new Float32Array(count), new Float32Array(count)];
  for (let row = 0, at = 0; row < SIDE; row += 1)
    for (let column = 0; column < SIDE; column += 1, at += 1) {
      const [x, y] = [(column + 0.5) / SIDE - 0.5, (row + 0.5) / SIDE - 0.5];
      u[at] = x * width;
      v[at] = y * height;
      weights[at] = Math.exp(Math.log(BORDER) * 4 * (x * x + y * y));
    }
  return { u, v, weights, total: weights.reduce((sum, each) => sum + each, 0) };
}

/** Read a picture at a grid. Outside of the picture nothing is read: the share that was. */
function read(
  /** @type {Gray} */ picture,
  /** @type {ReturnType<typeof gridOf>} */ grid,
  /** @type {Pose} */ pose,
  /** @type {Float32Array} */ into,
) {
  const [a, b] = [pose.scale * Math.cos(pose.angle), pose.scale * Math.sin(pose.angle)];
  for (let at = 0; at < into.length; at += 1)
    into[at] = sample(picture, pose.x + a * grid.u[at] - b * grid.v[at], pose.y + b * grid.u[at] + a * grid.v[at]);
}

/** Values with the weighted mean 0 and the weighted square sum 1. @param {Float32Array} values @param {Float32Array} weights */
function standardize(values, weights) {
  let sum = 0;
  let all = 0;
  for (let at = 0; at < values.length; at += 1) {
    sum += weights[at] * values[at];
    all += weights[at];
  }
  const mean = sum / all;
  let power = 0;
  for (let at = 0; at < values.length; at += 1) {
    values[at] -= mean;
    power += weights[at] * values[at] * values[at];
  }
  const length = Math.sqrt(power) || 1;
  for (let at = 0; at < values.length; at += 1) values[at] /= length;
  return length;
}

const seen = new Float32Array(SIDE * SIDE);

/** What a picture shows at a pose. @param {Gray} picture @param {ReturnType<typeof gridOf>} grid @param {Pose} pose */
export function look(picture, grid, pose) {
  const values = new Float32Array(SIDE * SIDE);
  read(picture, grid, pose, values);
  standardize(values, grid.weights);
  return values;
}

/** How alike what a picture shows at a pose is to a look: 1 is the same, 0 is nothing in common. @param {Float32Array} values @param {Gray} picture @param {ReturnType<typeof gridOf>} grid @param {Pose} pose */
export function likeness(values, picture, grid, pose) {
  read(picture, grid, pose, seen);
  standardize(seen, grid.weights);
  let sum = 0;
  for (let at = 0; at < seen.length; at += 1) sum += grid.weights[at] * seen[at] * values[at];
  return sum;
}

/**
 * The pose near another one at which a picture shows a look best, by Gauss and Newton's method, and how alike it is there.
 * Brightness and contrast may differ.
 * @param {Float32Array} values the look @param {Gray} picture @param {ReturnType<typeof gridOf>} grid @param {Pose} start @returns {{pose: Pose, score: number}}
 */
export function align(values, picture, grid, start) {
  let pose = { ...start };
  let best = { pose: start, score: likeness(values, picture, grid, start) };
  const system = new Float64Array(20);
  const row = new Float64Array(4);
  for (let step = 0; step < STEPS; step += 1) {
    const [a, b] = [pose.scale * Math.cos(pose.angle), pose.scale * Math.sin(pose.angle)];
    read(picture, grid, pose, seen);
    const length = standardize(seen, grid.weights);
    system.fill(0);
    for (let at = 0; at < seen.length; at += 1) {
      const u = grid.u[at];
      const v = grid.v[at];
      const x = pose.x + a * u - b * v;
      const y = pose.y + b * u + a * v;
      const gx = (sample(picture, x + 1, y) - sample(picture, x - 1, y)) / 2;
      const gy = (sample(picture, x, y + 1) - sample(picture, x, y - 1)) / 2;
      row[0] = gx;
      row[1] = gy;
      row[2] = gx * u + gy * v;
      row[3] = gy * u - gx * v;
      const far = (values[at] - seen[at]) * length;
      const weight = grid.weights[at] / (1 + 2 * grid.total * (values[at] - seen[at]) ** 2);
      for (let i = 0; i < 4; i += 1) {
        for (let j = i; j < 4; j += 1) system[i * 4 + j] += weight * row[i] * row[j];
        system[16 + i] += weight * row[i] * far;
      }
    }
    const change = solved(system);
    if (!change) break;
    const [na, nb] = [a + change[2], b + change[3]];
    pose = {
      x: pose.x + change[0],
      y: pose.y + change[1],
      scale: Math.hypot(na, nb),
      angle: turned(pose.angle, na, nb),
    };
    const score = likeness(values, picture, grid, pose);
    if (score > best.score) best = { pose, score };
    if (Math.abs(change[0]) + Math.abs(change[1]) < 0.02 && Math.abs(change[2]) + Math.abs(change[3]) < 0.0005) break;
  }
  return best;
}

/** The angle of (a, b), in the turn of another one. */
const turned = (/** @type {number} */ near, /** @type {number} */ a, /** @type {number} */ b) => {
  const angle = Math.atan2(b, a);
  return angle + Math.round((near - angle) / (2 * Math.PI)) * 2 * Math.PI;
};

/** Four equations of which the upper triangle is given; null without a solution. @param {Float64Array} system */
function solved(system) {
  const rows = [0, 1, 2, 3].map((i) => [
    ...[0, 1, 2, 3].map((j) => (i <= j ? system[i * 4 + j] : system[j * 4 + i])),
    system[16 + i],
  ]);
  for (let i = 0; i < 4; i += 1) rows[i][i] *= 1 + 1e-6;
  for (let i = 0; i < 4; i += 1) {
    if (Math.abs(rows[i][i]) < 1e-9) return null;
    for (let j = 0; j < 4; j += 1) {
      if (i === j) continue;
      const share = rows[j][i] / rows[i][i];
      for (let k = i; k < 5; k += 1) rows[j][k] -= share * rows[i][k];
    }
  }
  return rows.map((row, i) => row[4] / row[i]);
}
