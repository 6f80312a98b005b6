// Tiles that the operator names, on a map whose degrees are all equally high: each tile of Web Mercator in strips.
const named = document.querySelector('meta[name="tiles"]');
/** The address of tiles with {z}, {x} and {y}, and who made them; empty where the operator names none. */
export const TILES = {
  address: named?.getAttribute("content") ?? "",
  source: named?.getAttribute("data-source") ?? "",
};
const DEEPEST = 19;
/** The zoom at which eight tiles are as wide as the map. */
const FIRST = 3;

/** @typedef {{west: number, east: number, south: number, north: number}} Bounds in degrees */
/** @typedef {{north: number, south: number, from: number, share: number}} Strip `from` and `share` are fractions of the tile's height */

/** The latitude of a fraction of the height of the map of Mercator, from the north. @param {number} share */
const latitudeOf = (share) => (Math.atan(Math.sinh(Math.PI * (1 - 2 * share))) * 180) / Math.PI;

/** The fraction of the height of the map of Mercator at a latitude. @param {number} latitude */
function shareOf(latitude) {
  const angle = (Math.max(-85, Math.min(85, latitude)) * Math.PI) / 180;
  return 0.5 - Math.asinh(Math.tan(angle)) / (2 * Math.PI);
}

/** The tiles within bounds. @param {Bounds} bounds @param {number} zoom of the map, 1 for the whole world @returns {{address: string, west: number, east: number, strips: Strip[]}[]} */
export function tilesOf({ west, east, south, north }, zoom) {
  const level = Math.min(DEEPEST, FIRST + Math.max(0, Math.round(Math.log2(zoom))));
  const count = 2 ** level;
  // within a strip the height of a degree differs by less than a pixel
  const strips = level < 5 ? 8 : level < 9 ? 2 : 1;
  const columns = [
    Math.max(0, Math.floor(((west + 180) / 360) * count)),
    Math.min(count, Math.ceil(((east + 180) / 360) * count)),
  ];
  const rows = [Math.max(0, Math.floor(shareOf(north) * count)), Math.min(count, Math.ceil(shareOf(south) * count))];
  const found = [];
  for (let row = rows[0]; row < rows[1]; row++)
    for (let column = columns[0]; column < columns[1]; column++)
      found.push({
        address: TILES.address.replace("{z}", String(level)).replace("{x}", String(column)).replace("{y}", String(row)),
        west: (column / count) * 360 - 180,
        east: ((column + 1) / count) * 360 - 180,
        strips: Array.from({ length: strips }, (_, at) => ({
          north: latitudeOf((row + at / strips) / count),
          south: latitudeOf((row + (at + 1) / strips) / count),
          from: at / strips,
          share: 1 / strips,
        })),
      });
  return found;
}
