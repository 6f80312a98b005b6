// Follow a shape through the frames of the video. What is found is a proposal, dashed, until it is accepted or discarded.

import { signal } from "../lib.js";
import { assist as words } from "../strings_assist.js";
import { followPath } from "../assist/path.js";
import { carried, ended, followed, reduced } from "../assist/shapes.js";
import { hasPlace } from "./geometry.js";
import * as tracks from "./tracks.js";

/**
 * @typedef {import("./document.js").Row} Row
 * @typedef {import("./document.js").Edit} Edit
 * @typedef {import("./geometry.js").Shape} Shape
 * @typedef {"forward" | "back" | "keyframe"} Way
 * @typedef {object} Proposal
 * @property {[string, Row]} from the shape that was followed
 * @property {string | null} track of that shape
 * @property {Map<number, Shape>} path the shape on each frame
 * @property {[number, Shape][]} keyframes the frames and shapes that are kept, by frame
 * @property {string[]} replaced keyframes that are there already on these frames
 * @property {import("../assist/path.js").Followed["stop"]} stop
 */

/** The key of the proposal among the shapes of a frame. */
const PROPOSED = "?follow";
const MOST_FRAMES = 1000;

export class Follow {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    this.proposal = signal(/** @type {Proposal | null} */ (null));
    /** The frame that is followed now; null while nothing is followed. */
    this.at = signal(/** @type {number | null} */ (null));
    this.abort = new AbortController();
  }

  /** What is proposed on a frame. @param {number} frame @returns {[string, Row][]} */
  on(frame) {
    const proposal = this.proposal.peek();
    const shape = proposal?.path.get(frame);
    return proposal && shape && frame !== proposal.from[1].frame
      ? [[PROPOSED, { ...proposal.from[1], frame, shape }]]
      : [];
  }

  /** Follow the selected shape. A second time, what is followed ends where it is. @param {Way} way */
  async start(way) {
    const { session } = this;
    if (this.at.peek() !== null) {
      this.abort.abort();
      return;
    }
    if (!session.mayEdit || !session.player) return;
    this.discard();
    const from = this.#chosen();
    const track = from && session.trackSet.of(from[0]);
    if (!from || (track && !session.isEditable(/** @type {Row} */ (session.doc.rows.get(track)), track))) {
      session.say(words.followWhat);
      return;
    }
    if (!track && !session.trackTypes.length) {
      session.say(words.followNoTracks);
      return;
    }
    const [frame, end] = [session.frame.peek(), this.#end(way, track)];
    if (end === null || end === frame) {
      session.say(way === "keyframe" ? words.followNoKeyframe : words.followNoFrames);
      return;
    }
    session.player.pause();
    this.abort = new AbortController();
    this.at.value = frame;
    try {
      await this.#run(from, track, frame, end, way);
    } catch (error) {
      session.say(words.followFailed(String(/** @type {Error} */ (error).message ?? error)));
    } finally {
      this.at.value = null;
      this.#changed();
    }
  }

  /** Make keyframes of what is proposed: one step of undo. Whether anything was. */
  accept() {
    const proposal = this.proposal.peek();
    if (!proposal) return false;
    const { session } = this;
    const { doc } = session;
    const { from, track, keyframes, replaced } = proposal;
    this.discard();
    const version = session.layer.peek();
    const start = from[1].frame ?? 0;
    const isKeyed = !from[0].startsWith("~");
    const made = keyframes
      .filter(([frame]) => !isKeyed || frame !== start)
      .map(([frame, shape]) => tracks.copyTo({ ...from[1], shape, version }, frame));
    /** @type {Edit[]} */
    const edits = [...replaced.map((key) => /** @type {Edit} */ ([key, null])), ...made];
    const row = track && doc.rows.get(track);
    const keys = made.map(([key]) => key);
    if (track && row) {
      const gone = new Set(replaced);
      edits.push([track, { ...row, members: [...(row.members ?? []).filter((key) => !gone.has(key)), ...keys] }]);
    } else edits.push(session.hand.newTrack([from[0], ...keys]));
    doc.change(words.followStep, edits);
    session.trackSet.follow();
    return true;
  }

  /** Give up what is proposed or followed. Whether anything was. */
  discard() {
    const had = this.proposal.peek() !== null || this.at.peek() !== null;
    this.isGivenUp = this.at.peek() !== null;
    this.abort.abort();
    this.proposal.value = null;
    if (had) this.#changed();
    return had;
  }

  /** @param {[string, Row]} from @param {string | null} track @param {number} frame @param {number} end @param {Way} way */
  async #run(from, track, frame, end, way) {
    const { session } = this;
    const player = /** @type {import("../player/player.js").Player} */ (session.player);
    const kind = session.kindOf(from[1]);
    const shape = /** @type {Shape} */ (from[1].shape);
    this.isGivenUp = false;
    const { poses, stop, picture } = await followPath(player, {
      frame,
      stop: end,
      begin: (size) => followed(kind, shape, size),
      onStep: (at) => {
        this.at.value = at;
      },
      signal: this.abort.signal,
    });
    if (this.isGivenUp || session.isStopped) return;
    const start = poses[0][1];
    /** @type {[number, Shape][]} */
    let path = poses.map(([at, pose], index) => [at, index ? carried(kind, shape, start, pose, picture) : shape]);
    const aim = way === "keyframe" && stop.reason === "end" && this.#keyframeAt(track, end);
    if (aim && session.kindOf(aim[1]) === kind)
      path = ended(kind, path, /** @type {Shape} */ (aim[1].shape), picture).slice(0, -1);
    if (path.length < 2) {
      session.say(words.followLostAtOnce);
      return;
    }
    path.sort(([one], [two]) => one - two);
    const [first, last] = [path[0][0], path[path.length - 1][0]];
    const isThere = (/** @type {[string, Row]} */ [, row]) =>
      (row.frame ?? 0) >= first && (row.frame ?? 0) <= last && row.frame !== frame;
    const replaced = track ? session.doc.path(track).filter(isThere) : [];
    const isLimit = stop.reason === "end" && Math.abs(end - frame) === MOST_FRAMES;
    this.proposal.value = {
      from,
      track,
      path: new Map(path),
      keyframes: reduced(kind, path, picture),
      replaced: replaced.map(([key]) => key),
      stop: isLimit ? { ...stop, reason: "limit" } : stop,
    };
    if (stop.reason === "look" || stop.reason === "border")
      await player.seek(path[frame === first ? path.length - 1 : 0][0]);
  }

  /** The one selected shape that lies on the present frame. @returns {[string, Row] | null} */
  #chosen() {
    const { session } = this;
    const frame = session.frame.peek();
    const found = session
      .shapes()
      .filter(([, row]) => row.frame === frame && row.version === session.layer.peek() && hasPlace(row.shape));
    return found.length === 1 ? found[0] : null;
  }

  /** The last frame to follow to; null where there is none. @param {Way} way @param {string | null} track */
  #end(way, track) {
    const { session } = this;
    const player = /** @type {import("../player/player.js").Player} */ (session.player);
    const frame = session.frame.peek();
    const [first, last] = player.range();
    if (way === "back") return Math.min(frame, Math.max(frame - MOST_FRAMES, first));
    if (way === "forward") return Math.max(frame, Math.min(frame + MOST_FRAMES, last));
    const next = track && tracks.placeIn(session.doc, track, frame).after;
    return next ? (next[1].frame ?? null) : null;
  }

  #keyframeAt(/** @type {string | null} */ track, /** @type {number} */ frame) {
    const found = track ? tracks.placeIn(this.session.doc, track, frame).at : null;
    return found && hasPlace(found[1].shape) ? found : null;
  }

  #changed() {
    this.session.revision.value += 1;
    this.session.stage?.invalidate();
  }
}
