// Every sentence of masks and other refined shapes.

import { translated } from "./languages.js";
import { number } from "./strings_plural.js";

export const shapes = translated("shapes", {
  brush: "Brush",
  eraser: "Eraser",
  fill: "Fill holes",
  edges: "Smart edges in the selected box",
  smaller: "Smaller brush",
  larger: "Larger brush",
  convert: "Polygon to mask, or mask to polygon",
  join: "Union of the selected masks",
  cut: "Difference: the first selected mask without the others",
  ellipse: "Ellipse or box",
  hole: "Draw a hole in the polygon, or close the one under the pointer",
  point: "Point of a skeleton: visible, hidden or not there",
  mode: (/** @type {string} */ mode, /** @type {number} */ diameter) =>
    ({
      brush: `Brush of ${diameter} pixels: paint · ; ' size · Enter begins another mask · Esc ends`,
      eraser: `Eraser of ${diameter} pixels: paint away · ; ' size · Esc ends`,
      fill: "Fill: click a hole of the mask · Esc ends",
    })[mode] ?? "",
  noMaskType: "No type of boxes that is drawn here allows masks. A project manager can allow them under Manage.",
  noPolygonType: "No type of polygons is drawn here. A project manager can add one under Manage.",
  paintWhat: "Take a type that allows masks, or select one box of such a type.",
  eraseWhat: "Select one box whose type allows masks.",
  noHole: "No hole of the mask is there.",
  noPixel: "No pixel would be left.",
  tooManyRuns: (/** @type {number} */ found, /** @type {number} */ most) =>
    `The mask would have ${number(found)} characters, of at most ${number(most)}. Make its outline simpler, or cut it into several.`,
  convertWhat: "Select polygons or masks of the layer in which you draw.",
  combineWhat: "Select two or more boxes whose types allow masks.",
  edgesWhat: "Select one box whose type allows masks.",
  noEdges: "No object stands out in the box by its colors.",
  edgesFailed: (/** @type {string} */ why) => `The edges are not found: ${why}`,
  ellipseWhat: "Take or select boxes whose type allows ellipses.",
  holeWhat: "Select one polygon whose type allows holes.",
  holeHint: "Click the corners of the hole · Enter ends · Esc gives up",
  holeOutside: "A hole lies within its polygon.",
  pointWhat: "Point at a place of a selected skeleton, or take a type of skeletons.",
  pointStates: (/** @type {string} */ name, /** @type {number} */ visible) =>
    `${name}: ${["not there", "hidden", "visible"][visible]}`,
  skeletonHint: (
    /** @type {string} */ type,
    /** @type {string} */ point,
    /** @type {number} */ at,
    /** @type {number} */ of,
  ) => `${type}: click ${point} (${at} of ${of}) · Shift click: hidden · V: not in the picture`,
  openHint: (/** @type {string} */ name) =>
    `${name}: click the corners · Enter ends the line · the first corner closes it`,
  ellipseHint: (/** @type {string} */ name) => `${name}: drag the box around an ellipse`,
  maskText: (/** @type {number[]} */ [height, width], /** @type {number[]} */ runs) =>
    `of ${runs.filter((_, at) => at % 2).reduce((sum, run) => sum + run, 0)} pixels in ${width} × ${height}`,
  allowed: "Allowed besides",
  refinements: {
    mask: "Masks",
    angle: "Turned boxes",
    ellipse: "Ellipses",
    open: "Polylines",
    holes: "Holes",
    skeleton: "A skeleton of named points",
  },
  points: "Points of the skeleton",
  pointsHint: "A name on each line, in the order in which they are clicked.",
  edgesOf: "Edges of the skeleton",
  edgesHint: "Two names on each line: nose - left eye",
  badEdge: (/** @type {string} */ line) =>
    `Edges of the skeleton: "${line}" is not two names of points with " - " between.`,
  steps: {
    paint: "brush",
    erase: "eraser",
    fill: "fill a hole",
    convert: "polygon or mask",
    join: "union",
    cut: "difference",
    edges: "smart edges",
    ellipse: "ellipse or box",
    hole: "hole",
    point: "point of a skeleton",
  },
});
