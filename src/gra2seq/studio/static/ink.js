/** Painting: strokes, regions, small pictures, and drawings that appear stroke by stroke. */

import { PAGE, boxOf } from "./geometry.js";

/** @import { Box, Drawn, Point, Region, Stroke } from "./types.js" */

const PEN = 5; // thickness of a line, of a page of 640
const SHARPEST = 0.45; // cosine of the sharpest turn that is drawn smoothly: about 63 degrees
const SECONDS = 1.1; // that a drawing takes to appear
const dark = matchMedia("(prefers-color-scheme: dark)");
export const still = matchMedia("(prefers-reduced-motion: reduce)");

/** @param {() => void} repaint called when the system changes between light and dark */
export const onColourChange = (repaint) => dark.addEventListener("change", repaint);

/** @param {"ink" | "new" | "lost" | "surface" | "muted"} name @returns {string} a colour of the style sheet */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/**
 * A context whose units are those of `box`, shown in the middle of a canvas at the screen's resolution.
 * @param {HTMLCanvasElement} canvas
 * @param {Box} [box]
 * @returns {CanvasRenderingContext2D}
 */
export function contextFor(canvas, box = [0, 0, PAGE, PAGE]) {
  const side = Math.max(Math.round((canvas.clientWidth || 120) * Math.min(devicePixelRatio || 1, 3)), 1);
  if (canvas.width !== side) canvas.width = canvas.height = side;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const [x, y, width, height] = box;
  const scale = side / Math.max(width, height, 1e-9);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, side, side);
  context.setTransform(scale, 0, 0, scale, side / 2 - (x + width / 2) * scale, side / 2 - (y + height / 2) * scale);
  context.lineCap = context.lineJoin = "round";
  return context;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Iterable<Stroke>} strokes
 * @param {string} style
 * @param {number} [width]
 */
export function paint(context, strokes, style, width = PEN) {
  context.strokeStyle = style;
  context.lineWidth = width;
  context.beginPath();
  for (const stroke of strokes) trace(context, stroke);
  context.stroke();
}

/**
 * A smooth line through all points of a stroke; where it turns sharply, the corner stays.
 * @param {CanvasRenderingContext2D} context
 * @param {Stroke} stroke
 */
function trace(context, stroke) {
  context.moveTo(...stroke[0]);
  if (stroke.length < 3) {
    context.lineTo(...(stroke[1] ?? stroke[0]));
    return;
  }
  let [tx, ty] = [0, 0]; // direction of the line at the last point; zero at ends and corners
  for (let n = 1; n < stroke.length; n += 1) {
    const [[ax, ay], [bx, by]] = [stroke[n - 1], stroke[n]];
    const [ux, uy] = direction(stroke[n - 1], stroke[n], stroke[n + 1]);
    const reach = Math.hypot(bx - ax, by - ay) / 3;
    context.bezierCurveTo(ax + tx * reach, ay + ty * reach, bx - ux * reach, by - uy * reach, bx, by);
    [tx, ty] = [ux, uy];
  }
}

/**
 * The direction of a smooth line at b, on its way from a to c, as a vector of length 1; zero at a corner or an end.
 * @param {Point} a
 * @param {Point} b
 * @param {Point | undefined} c
 * @returns {Point}
 */
function direction(a, b, c) {
  if (!c) return [0, 0];
  const [ax, ay, bx, by] = [b[0] - a[0], b[1] - a[1], c[0] - b[0], c[1] - b[1]];
  const [before, after, through] = [Math.hypot(ax, ay), Math.hypot(bx, by), Math.hypot(ax + bx, ay + by)];
  const isCorner = (ax * bx + ay * by) < SHARPEST * before * after;
  return isCorner || !through ? [0, 0] : [(ax + bx) / through, (ay + by) / through];
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Region} region
 * @param {string} style
 */
export function paintRegion(context, region, style) {
  context.fillStyle = style;
  for (const box of region.boxes) context.fillRect(...box);
  context.strokeStyle = style;
  for (const { path, radius } of region.erasers) {
    context.lineWidth = 2 * radius;
    context.beginPath();
    context.moveTo(...path[0]);
    for (const point of path) context.lineTo(...point);
    context.stroke();
  }
}

/**
 * The box of a small picture: around all strokes, square, with a margin.
 * @param {Stroke[]} strokes
 * @returns {Box}
 */
export function around(strokes) {
  const [x, y, width, height] = boxOf(strokes);
  const side = Math.max(width, height, 1) * 1.16;
  return [x + (width - side) / 2, y + (height - side) / 2, side, side];
}

/**
 * A small picture of a drawing.
 * @param {HTMLCanvasElement} canvas
 * @param {Stroke[]} strokes
 * @param {Box} [box] what part of it is shown; default: all
 */
export function picture(canvas, strokes, box = around(strokes)) {
  paint(contextFor(canvas, box), strokes, colour("ink"), Math.max(box[2], box[3]) / 55);
}

/**
 * Paint a drawing of the model: given strokes in ink, the new ones in another colour up to `share` of their length.
 * @param {CanvasRenderingContext2D} context
 * @param {Drawn} drawn
 * @param {number} share
 * @param {number} width
 */
function paintDrawn(context, drawn, share, width) {
  const added = drawn.strokes.slice(drawn.first_new);
  paint(context, drawn.strokes.slice(0, drawn.first_new), colour("ink"), width);
  paint(context, beginning(added, share), colour(drawn.first_new ? "new" : "ink"), width);
}

/**
 * The first `share` of the way along the strokes.
 * @param {Stroke[]} strokes
 * @param {number} share
 * @returns {Stroke[]}
 */
export function beginning(strokes, share) {
  if (share >= 1) return strokes;
  const length = strokes.reduce((sum, stroke) => sum + walk(stroke), 0);
  let rest = length * share;
  /** @type {Stroke[]} */
  const shown = [];
  for (const stroke of strokes) {
    if (rest <= 0) break;
    /** @type {Stroke} */
    const part = [stroke[0]];
    for (let n = 1; n < stroke.length && rest > 0; n += 1) {
      const [[ax, ay], [bx, by]] = [stroke[n - 1], stroke[n]];
      const way = Math.hypot(bx - ax, by - ay);
      const taken = way ? Math.min(rest / way, 1) : 1;
      part.push([ax + (bx - ax) * taken, ay + (by - ay) * taken]);
      rest -= way;
    }
    shown.push(part);
  }
  return shown;
}

/** @param {Stroke} stroke */
function walk(stroke) {
  let length = 0;
  for (let n = 1; n < stroke.length; n += 1) {
    length += Math.hypot(stroke[n][0] - stroke[n - 1][0], stroke[n][1] - stroke[n - 1][1]);
  }
  return length;
}

/** @type {WeakMap<HTMLCanvasElement, number>} the frame that each canvas waits for */
const frames = new WeakMap();

/**
 * Show a drawing of the model, its new strokes one after the other as a hand would draw them.
 * @param {HTMLCanvasElement} canvas
 * @param {Drawn} drawn
 * @param {{box?: Box, width?: number, moving?: boolean}} [how]
 */
export function show(canvas, drawn, { box = around(drawn.strokes), width = Math.max(box[2], box[3]) / 55, moving = true } = {}) {
  cancelAnimationFrame(frames.get(canvas) ?? 0);
  const began = performance.now();
  /** @param {number} now */
  const frame = (now) => {
    const share = moving && !still.matches ? Math.min((now - began) / 1000 / SECONDS, 1) : 1;
    paintDrawn(contextFor(canvas, box), drawn, share, width);
    if (share < 1) frames.set(canvas, requestAnimationFrame(frame));
  };
  frame(began);
}
