/** Boxes, fitting, and cutting strokes at a region. */

/** @import { Box, Drawing, Point, Region, Stroke } from "./types.js" */

/** Width and height of the page, in its own units. */
export const PAGE = 640;
const MARGIN = 60;
const STEP = 1.5; // units between two looks along a line at whether it is inside of a region
const HALVINGS = 8; // of such a step, to find where the border is

/** @returns {Region} */
export const emptyRegion = () => ({ boxes: [], erasers: [] });

/** @param {Region} region */
export const isEmpty = (region) => region.boxes.length === 0 && region.erasers.length === 0;

/** @param {number} value @returns {number} a coordinate as it is kept: to a tenth of a unit */
export const rounded = (value) => Math.round(value * 10) / 10;

/**
 * The smallest box around all points.
 * @param {Stroke[]} strokes
 * @returns {Box}
 */
export function boxOf(strokes) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const stroke of strokes) {
    for (const [x, y] of stroke) {
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
  }
  return left > right ? [0, 0, 0, 0] : [left, top, right - left, bottom - top];
}

/**
 * The strokes moved and scaled so that their box fills a square but for a margin.
 * @param {Stroke[]} strokes
 * @param {number} [size]
 * @param {number} [margin]
 * @returns {Stroke[]}
 */
export function fitted(strokes, size = PAGE, margin = MARGIN) {
  const [left, top, width, height] = boxOf(strokes);
  const scale = (size - 2 * margin) / (Math.max(width, height) || 1);
  const dx = size / 2 - (left + width / 2) * scale;
  const dy = size / 2 - (top + height / 2) * scale;
  return mapPoints(strokes, ([x, y]) => [rounded(x * scale + dx), rounded(y * scale + dy)]);
}

/**
 * The strokes as they are if they lie on the page, otherwise fitted to it.
 * @param {Stroke[]} strokes
 * @returns {Stroke[]}
 */
export function onPage(strokes) {
  const [left, top, width, height] = boxOf(strokes);
  const inside = left >= 0 && top >= 0 && left + width <= PAGE && top + height <= PAGE;
  return inside ? mapPoints(strokes, ([x, y]) => [rounded(x), rounded(y)]) : fitted(strokes, PAGE, 20);
}

/**
 * @param {Stroke[]} strokes
 * @param {(point: Point) => Point} change
 * @returns {Stroke[]}
 */
export const mapPoints = (strokes, change) => strokes.map((stroke) => stroke.map(change));

/**
 * Whether a point was erased.
 * @param {Point} point
 * @param {Region} region
 */
export function isLost([x, y], region) {
  return (
    region.boxes.some(([left, top, width, height]) => x >= left && x < left + width && y >= top && y < top + height) ||
    region.erasers.some(({ path, radius }) => isNear([x, y], path, radius))
  );
}

/** @param {Point} point @param {Point[]} path @param {number} radius */
function isNear([x, y], path, radius) {
  return path.some(([ax, ay], index) => {
    const [bx, by] = path[index + 1] ?? [ax, ay];
    const length = (bx - ax) ** 2 + (by - ay) ** 2;
    const share = length ? Math.min(Math.max(((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length, 0), 1) : 0;
    return (x - ax - share * (bx - ax)) ** 2 + (y - ay - share * (by - ay)) ** 2 <= radius ** 2;
  });
}

/**
 * The parts of the strokes that were not erased.
 * @param {Drawing} drawing
 * @returns {Stroke[]}
 */
export function visibleStrokes({ strokes, region }) {
  if (isEmpty(region)) return strokes;
  return strokes.flatMap((stroke) => cutStroke(stroke, region));
}

/** @param {Stroke} stroke @param {Region} region @returns {Stroke[]} */
function cutStroke(stroke, region) {
  /** @type {Stroke[]} */
  const parts = [];
  /** @type {Stroke} */
  let part = [];
  let before = stroke[0];
  let lost = isLost(before, region);
  if (!lost) part.push(before);
  for (const goal of stroke.slice(1)) {
    const steps = Math.max(Math.ceil(Math.hypot(goal[0] - before[0], goal[1] - before[1]) / STEP), 1);
    let place = before;
    for (let step = 1; step <= steps; step += 1) {
      const next = step === steps ? goal : between(before, goal, step / steps);
      const nextLost = isLost(next, region);
      if (nextLost !== lost) {
        part.push(border(place, next, region, lost));
        if (nextLost) {
          parts.push(part);
          part = [];
        }
        lost = nextLost;
      }
      place = next;
    }
    if (!lost) part.push(goal);
    before = goal;
  }
  return (part.length ? [...parts, part] : parts).filter((kept) => kept.length > 1 || stroke.length === 1);
}

/** @param {Point} a @param {Point} b @param {number} share @returns {Point} */
const between = (a, b, share) => [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share];

/**
 * Where a line from a to b crosses the border of a region.
 * @param {Point} a
 * @param {Point} b
 * @param {Region} region
 * @param {boolean} startsLost
 * @returns {Point}
 */
function border(a, b, region, startsLost) {
  for (let turn = 0; turn < HALVINGS; turn += 1) {
    const middle = between(a, b, 0.5);
    if (isLost(middle, region) === startsLost) a = middle;
    else b = middle;
  }
  return [rounded(a[0]), rounded(a[1])];
}

/**
 * Fewer points for a path that needs not be exact: those nearer than `least` to the last kept one are dropped.
 * @param {Point[]} path
 * @param {number} least
 * @returns {Point[]}
 */
export function sparse(path, least) {
  /** @type {Point[]} */
  const kept = [];
  path.forEach((point, index) => {
    const last = kept.at(-1);
    const far = !last || Math.hypot(point[0] - last[0], point[1] - last[1]) >= least;
    if (far || index === path.length - 1) kept.push(point);
  });
  return kept;
}
