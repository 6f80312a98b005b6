// The object in a box, by its colors (decision 200): how often each color is inside and outside of the box says how likely
// a pixel belongs to the object; a filter guided by the picture then draws the border where the colors change. What was found
// gives better counts of colors, a few times over.

/** @typedef {{width: number, height: number, data: Uint8ClampedArray}} Picture red, green, blue and alpha of each pixel */
/** @typedef {{left: number, top: number, right: number, bottom: number}} Area in pixels of the picture */

const ROUNDS = 4;
/** Colors are counted in so many steps of each channel. */
const STEPS = 32;
/** How far the filter looks, as a share of the shorter side of the box. */
const RADIUS = 0.05;
/** Changes of brightness whose square is far below this are no edges. */
const EVENNESS = 4e-3;

/**
 * Which pixels of a box belong to the object in it.
 * @param {Picture} picture of the box and what is around it @param {Area} box in the picture
 * @returns {Uint8Array} 1 inside of the object, row by row, of the whole picture; none outside of the box
 */
export function objectIn(picture, box) {
  const { width, height } = picture;
  const count = width * height;
  const inBox = new Uint8Array(count);
  for (let y = box.top; y < box.bottom; y += 1) inBox.fill(1, y * width + box.left, y * width + box.right);
  const bins = binsOf(picture);
  const gray = new Float32Array(count);
  for (let at = 0; at < count; at += 1)
    gray[at] = (0.3 * picture.data[4 * at] + 0.59 * picture.data[4 * at + 1] + 0.11 * picture.data[4 * at + 2]) / 255;
  // at first, what is in the middle of the box belongs to it more than what is at its border
  const likely = new Float32Array(count);
  const [middle, half] = [
    { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 },
    { x: (box.right - box.left) / 2, y: (box.bottom - box.top) / 2 },
  ];
  for (let at = 0; at < count; at += 1) {
    const off = Math.hypot(
      ((at % width) + 0.5 - middle.x) / half.x,
      (Math.floor(at / width) + 0.5 - middle.y) / half.y,
    );
    likely[at] = inBox[at] ? Math.max(0.05, Math.min(0.95, 1.25 - off * 0.9)) : 0;
  }
  const radius = Math.max(2, Math.round(Math.min(box.right - box.left, box.bottom - box.top) * RADIUS));
  for (let round = 0; round < ROUNDS; round += 1) {
    const [inside, outside] = countsOf(bins, likely);
    const raw = new Float32Array(count);
    for (let at = 0; at < count; at += 1) {
      if (!inBox[at]) continue;
      const [own, other] = [inside[bins[at]] + 1e-7, outside[bins[at]] + 1e-7];
      raw[at] = own / (own + other);
    }
    likely.set(guided(gray, raw, width, height, radius));
    for (let at = 0; at < count; at += 1) if (!inBox[at]) likely[at] = 0;
  }
  const found = Uint8Array.from(likely, (value) => (value > 0.5 ? 1 : 0));
  return withoutCrumbs(found, width, height);
}

/** The color of each pixel, in steps. @param {Picture} picture */
function binsOf({ width, height, data }) {
  const bins = new Uint16Array(width * height);
  const step = 256 / STEPS;
  for (let at = 0; at < bins.length; at += 1) {
    const [red, green, blue] = [0, 1, 2].map((channel) => Math.floor(data[4 * at + channel] / step));
    bins[at] = (red * STEPS + green) * STEPS + blue;
  }
  return bins;
}

/** How often each color is inside and outside, as a share of all pixels there. @param {Uint16Array} bins @param {Float32Array} likely */
function countsOf(bins, likely) {
  const counts = [new Float32Array(STEPS ** 3), new Float32Array(STEPS ** 3)];
  bins.forEach((bin, at) => {
    counts[0][bin] += likely[at];
    counts[1][bin] += 1 - likely[at];
  });
  return counts.map((each) => {
    const sum = each.reduce((whole, value) => whole + value, 0) || 1;
    return each.map((value) => value / sum);
  });
}

/** He's guided filter: `values` smoothed, with their edges where the guide has its own. @param {Float32Array} guide @param {Float32Array} values @param {number} width @param {number} height @param {number} radius */
function guided(guide, values, width, height, radius) {
  const mean = (/** @type {Float32Array} */ of) => boxed(of, width, height, radius);
  const [meanGuide, meanValue] = [mean(guide), mean(values)];
  const square = mean(guide.map((value) => value * value));
  const product = mean(guide.map((value, at) => value * values[at]));
  const slope = product.map(
    (value, at) => (value - meanGuide[at] * meanValue[at]) / (square[at] - meanGuide[at] ** 2 + EVENNESS),
  );
  const rest = meanValue.map((value, at) => value - slope[at] * meanGuide[at]);
  const [meanSlope, meanRest] = [mean(slope), mean(rest)];
  return guide.map((value, at) => meanSlope[at] * value + meanRest[at]);
}

/** The means of the square around each pixel. @param {Float32Array} of @param {number} width @param {number} height @param {number} radius */
function boxed(of, width, height, radius) {
  const across = new Float32Array(of.length);
  const made = new Float32Array(of.length);
  const slide = (
    /** @type {Float32Array} */ from,
    /** @type {Float32Array} */ to,
    /** @type {number} */ start,
    /** @type {number} */ length,
    /** @type {number} */ stride,
  ) => {
    let [sum, count] = [0, 0];
    for (let at = -radius; at < length; at += 1) {
      if (at + radius < length) [sum, count] = [sum + from[start + (at + radius) * stride], count + 1];
      if (at - radius - 1 >= 0) [sum, count] = [sum - from[start + (at - radius - 1) * stride], count - 1];
      if (at >= 0) to[start + at * stride] = sum / count;
    }
  };
  for (let y = 0; y < height; y += 1) slide(of, across, y * width, width, 1);
  for (let x = 0; x < width; x += 1) slide(across, made, x, height, width);
  return made;
}

/** The largest part alone, with its holes filled that are less than a twentieth of it. @param {Uint8Array} bits @param {number} width @param {number} height */
function withoutCrumbs(bits, width, height) {
  const parts = partsOf(bits, 1, width, height);
  const [largest] = parts.sort((one, two) => two.length - one.length);
  const made = new Uint8Array(bits.length);
  for (const at of largest ?? []) made[at] = 1;
  for (const gap of partsOf(made, 0, width, height)) {
    const isOpen = gap.some(
      (at) => at % width === 0 || at % width === width - 1 || at < width || at >= width * (height - 1),
    );
    if (!isOpen && gap.length < largest.length / 20) for (const at of gap) made[at] = 1;
  }
  return made;
}

/** The pixels of each part of one value, joined by their sides. @param {Uint8Array} bits @param {number} value @param {number} width @param {number} height */
function partsOf(bits, value, width, height) {
  const seen = new Uint8Array(bits.length);
  /** @type {number[][]} */
  const parts = [];
  for (let start = 0; start < bits.length; start += 1) {
    if (seen[start] || bits[start] !== value) continue;
    const part = [start];
    seen[start] = 1;
    for (let next = 0; next < part.length; next += 1) {
      const at = part[next];
      const x = at % width;
      const y = Math.floor(at / width);
      for (const beside of [
        x > 0 && at - 1,
        x < width - 1 && at + 1,
        y > 0 && at - width,
        y < height - 1 && at + width,
      ])
        if (beside !== false && !seen[beside] && bits[beside] === value) {
          seen[beside] = 1;
          part.push(beside);
        }
    }
    parts.push(part);
  }
  return parts;
}
