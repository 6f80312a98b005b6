// Every sentence of the views that play, draw and review.

/** @param {number} count @param {string} one @param {string} [many] */
const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

export const annotate = {
  stage: (/** @type {string} */ name, /** @type {number} */ frame, /** @type {number} */ count) => `${name}, frame ${frame}, ${plural(count, "annotation")}`,
  back: "Back to the project's media",
  nextMedia: "Next media (Shift Page Down)", previousMedia: "Previous media (Shift Page Up)", noNeighbour: "There is no further media in this list.",
  noMedia: "This media has no file that can be shown yet",
  noMediaLead: "It may still be transcoded. Reload the page when the job has ended.",
  // transport
  play: "Play", pause: "Pause", next: "Next frame", previous: "Previous frame", first: "First frame", last: "Last frame",
  speed: "Speed", sound: "Sound on or off", quality: "Quality", auto: "Auto", frameField: "Frame number or time", loop: "Loop", loopStart: "Loop from here", loopEnd: "Loop up to here", loopClear: "Do not loop",
  link: "Copy a link to this frame", linkCopied: "The link to this frame is in the clipboard.", timeline: "Timeline", waiting: "Reading",
  ways: { codecs: "Frames by WebCodecs", video: "Frames by the browser's player", service: "Frames by the service: slower", image: "Image" },
  frameOf: (/** @type {number} */ frame, /** @type {number} */ frames) => `Frame ${frame} of ${frames}`,
  // tools
  tools: "Tools", select: "Select", shortcuts: "Keyboard shortcuts", undo: "Undo", redo: "Redo",
  undid: (/** @type {string} */ what) => `Undone: ${what}`, redid: (/** @type {string} */ what) => `Done again: ${what}`,
  zoomIn: "Zoom in", zoomOut: "Zoom out", zoomReset: "Show the whole picture", hide: "Hide annotations", show: "Show annotations",
  moveMode: "Arrow keys move the shape, with Shift they resize it. Enter or Escape ends.",
  drawHint: (/** @type {string} */ name, /** @type {string} */ kind) => ({
    box: `${name}: drag a box, or press Enter for one in the middle`, line: `${name}: drag a line, or press Enter for one in the middle`,
    dot: `${name}: click a place, or press Enter for the middle`, poly: `${name}: click the corners, Enter or a double click ends`,
  })[kind] ?? "",
  // saving
  save: "Save now", saved: "All changes are saved", saving: "Saving…", automatic: "Save automatically",
  unsaved: (/** @type {number} */ count) => `${plural(count, "change")} not saved yet`,
  offline: (/** @type {number} */ count) => `No connection. ${plural(count, "change")} kept on this device`,
  failed: (/** @type {number} */ count) => `${plural(count, "change")} refused`,
  conflicts: (/** @type {number} */ count) => plural(count, "conflict"),
  // panel
  onFrame: "Annotations on this frame", tracks: "Tracks", states: "States", wholeMedia: "media", layers: "Layers", details: "Details", nothingHere: "Nothing on this frame.",
  nothingHereLead: (/** @type {string} */ key) => `Press ${key} to draw the first type, or ? for all keys.`, noTracks: "No tracks yet. Select a shape and press t.",
  noTypes: "No type can be drawn here", addTypes: "Add types", noTypesLead: "A project manager adds localization types under Manage.",
  selectedCount: (/** @type {number} */ count) => `${plural(count, "annotation")} selected`, isSelected: (/** @type {string} */ label) => `${label} is selected`, remove: "Delete", several: "several values",
  trackOf: (/** @type {number} */ count) => plural(count, "frame"), joinTrack: "Draw into this track", leaveTrack: "Stop drawing into this track",
  layerActive: "Draw here", layerVisible: (/** @type {string} */ name) => `Show ${name}`, layerLocked: "In another layer. Draw in that layer to change it.", notRemoved: "What lies in another layer is deleted there: choose Draw here for that layer first.",
  addLayer: "New layer", layerName: "Name of the layer", layerBase: "Annotations of the layer you draw in now show through.", create: "Create",
  geometry: "Position and size", noAttributes: "This type has no attributes.", author: (/** @type {string} */ name, /** @type {string} */ when) => `Changed by ${name}, ${when}`, mine: "not saved yet",
  readOnly: "You may look at this project and not change it.",
  addState: "Add", newState: (/** @type {string} */ name) => `Add ${name}`, noStates: "Nothing is said about frames or the whole media yet.", about: "Media", aboutSaved: "The attributes of the media are saved.", editFields: "Edit the attributes of the selection",
  telemetry: "Telemetry", telemetryFailed: "The file cannot be read.", atFrame: (/** @type {string} */ name, /** @type {string} */ value) => `${name}: ${value}`,
  // steps of undo
  steps: {
    draw: "draw", move: "move", reshape: "change a shape", remove: "delete", copy: "copy to another frame", attribute: "change attributes", track: "new track", extend: "extend a track",
    fill: "fill a track", merge: "merge tracks", split: "split a track", trim: "trim a track", join: "add to a track", state: "add a state", review: "review",
  },
  nothingToFill: "The track has no gaps between shapes of one kind. Polygons are not filled.",
  filledFrames: (/** @type {number} */ count) => `Filled ${plural(count, "frame")}.`,
  track: { make: "New track of the selection", extend: "Extend to this frame", fill: "Fill between shapes", split: "Split at this frame", trimStart: "Cut off before this frame", trimEnd: "Cut off after this frame", merge: "Merge the selected tracks" },
  // conflicts
  conflictTitle: "Changed by somebody else", conflictLead: "While you worked, these annotations were changed elsewhere. Choose for each which one counts.",
  keepMine: "Keep mine", takeTheirs: "Take theirs", allMine: "Keep all of mine", allTheirs: "Take all of theirs", deleted: "deleted", theirs: "Theirs", yours: "Yours", field: "Value", position: "position",
  // keys
  keyGroups: { play: "Play", draw: "Draw", edit: "Change", tracks: "Tracks", view: "View", review: "Review" },
};

export const review = {
  title: "Review", work: "Work", annotations: "Annotations", people: "People",
  attribute: "Review", comment: "Review comment", assigned: "Assigned to", status: "Work status",
  accepted: "Accepted", rejected: "Rejected", open: "Open", todo: "To do", busy: "In progress", done: "Done",
  accept: "Accept", reject: "Reject", reopen: "Open again", commentLabel: "Comment", noComment: "No comment",
  setUp: "Set up review", setUpTitle: "Review and assignments are attributes",
  setUpLead: "Limn keeps decisions, comments and assignments as attributes of your types, so that searches, exports and clients see them. They are added to the types of this project once.",
  setUpMissing: "A project manager has to set up review first.", wasSetUp: "Review is set up.", setUpNew: (/** @type {string} */ names) => `Types without the attributes of review: ${names}.`, save: "Save", anyType: "All types", picture: "Picture",
  everyone: "Everyone", nobody: "Not assigned", me: "Me", all: "All", assign: "Assign", assignTo: (/** @type {number} */ count) => `Assign ${plural(count, "media", "media")} to`, distribute: "Distribute evenly", distributed: "The media are distributed.",
  progress: (/** @type {number} */ done, /** @type {number} */ all) => `${done.toLocaleString("en")} of ${all.toLocaleString("en")} done`,
  reviewed: (/** @type {number} */ done, /** @type {number} */ all) => `${done.toLocaleString("en")} of ${all.toLocaleString("en")} reviewed`,
  openMedia: "Open", nothing: "Nothing to review here", nothingLead: "Choose another person or status.", type: "Type", kind: "Shapes or tracks", kinds: { Localization: "Shapes", State: "Tracks" }, by: "Drawn by", decision: "Decision", person: "Person", media: "Media", selectAll: "Select all", frame: (/** @type {number} */ n) => `frame ${n}`,
  keys: "a accepts, r rejects, c comments, o opens again; arrow keys move", track: "Track", more: "Show more", changed: "Last change",
};
