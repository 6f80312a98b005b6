/** Frame numbers, times and links. */

/**
 * Hours, minutes, seconds and the frame within the second, `00:01:23:07`.
 * @param {number} frame
 * @param {number} fps
 */
export function timecode(frame, fps) {
  if (!(fps > 0)) return `#${frame}`;
  const seconds = Math.floor(frame / fps + 1e-9);
  const rest = frame - Math.ceil(seconds * fps - 1e-9);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60, Math.max(0, rest)];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}

/**
 * The frame that a person means by `77`, `12.5s` or `12,5s`, `1:23` or `00:01:23:07`; null if it means none.
 * @param {string} text
 * @param {number} fps
 */
export function parseFrame(text, fps) {
  const said = text.trim();
  if (/^#?\d+$/.test(said)) return Number(said.replace("#", ""));
  const seconds = /^(\d+(?:[.,]\d+)?)\s*s$/.exec(said);
  if (seconds) return Math.floor(Number(seconds[1].replace(",", ".")) * fps + 1e-9);
  if (!/^\d+(:\d+){1,3}$/.test(said)) return null;
  const parts = said.split(":").map(Number);
  const frames = parts.length === 4 ? /** @type {number} */ (parts.pop()) : 0;
  const total = parts.reduce((sum, part) => sum * 60 + part, 0);
  return Math.ceil(total * fps - 1e-9) + frames;
}
