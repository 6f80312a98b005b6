// As few keyframes as reproduce a path: what is between two of them changes linearly. Pure functions.

/** How far a path of keyframes may be from the one that was followed: in sizes of the box. */
export const TOLERANCE = 0.02;

/**
 * The least number of points of a path, its first and last among them, so that lines between them pass every other point
 * within its reach. The shortest way through the graph of all lines that do (Imai and Iri, 1988): Douglas and Peucker's
 * method keeps up to twice as many.
 * @param {number[]} frames in order, each once @param {number[][]} values at each frame @param {number[][]} reach how far each value may be off, at each frame
 * @returns {number[]} their indices
 */
export function fewest(frames, values, reach) {
  const last = frames.length - 1;
  const cost = new Array(frames.length).fill(Infinity);
  const from = new Array(frames.length).fill(0);
  cost[0] = 0;
  for (let one = 0; one < last; one += 1)
    for (let two = last; two > one; two -= 1)
      if (cost[one] + 1 < cost[two] && passes(frames, values, reach, one, two)) {
        cost[two] = cost[one] + 1;
        from[two] = one;
      }
  const kept = [last];
  while (kept[0] > 0) kept.unshift(from[kept[0]]);
  return last < 0 ? [] : kept;
}

/** Whether a line from one point to another passes those between them within their reach. @param {number[]} frames @param {number[][]} values @param {number[][]} reach @param {number} one @param {number} two */
function passes(frames, values, reach, one, two) {
  const length = frames[two] - frames[one];
  for (let at = one + 1; at < two; at += 1) {
    const share = (frames[at] - frames[one]) / length;
    for (let part = 0; part < values[at].length; part += 1) {
      const line = values[one][part] + (values[two][part] - values[one][part]) * share;
      if (Math.abs(line - values[at][part]) > reach[at][part]) return false;
    }
  }
  return true;
}
