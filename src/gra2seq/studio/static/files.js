/** Take away and bring in: SVG, PNG, animated SVG, ndjson, and links that hold the drawing themselves. */

import { call } from "./api.js";
import { PAGE, fitted, rounded } from "./geometry.js";
import { paint } from "./ink.js";
import { isStrokes } from "./paper.js";

/** @import { Point, Stroke } from "./types.js" */

const MARK = "data-gra2seq-page"; // in SVG of this page: its units are those of the page, and nothing is fitted
const PEN = 5;
const SECONDS_PER_UNIT = 1 / 700;
const PNG_SIDE = 1024;
const PICTURE_SIDE = 1200; // px of a picture that is traced
const QUALITIES = [0.9, 0.7, 0.4]; // of the JPEG that is sent, the first that is small enough
const MAX_PICTURE = 900_000; // characters of it: what the service reads

/** @param {Stroke} stroke @returns {string} the path of a stroke; a dot is a line to itself */
const pathOf = (stroke) => `M${(stroke.length > 1 ? stroke : [stroke[0], stroke[0]]).map((point) => point.join(" ")).join("L")}`;

const SVG_HEAD =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${PAGE} ${PAGE}" ${MARK}="${PAGE}">\n` +
  `<g fill="none" stroke="#1c2740" stroke-width="${PEN}" stroke-linecap="round" stroke-linejoin="round">\n`;

/** @param {Stroke[]} strokes @returns {string} */
export function toSvg(strokes) {
  return `${SVG_HEAD}${strokes.map((stroke) => `<path d="${pathOf(stroke)}"/>`).join("\n")}\n</g>\n</svg>\n`;
}

/**
 * An SVG that draws itself, stroke by stroke; whoever shows no animation shows the whole drawing.
 * @param {Stroke[]} strokes
 * @returns {string}
 */
export function toAnimatedSvg(strokes) {
  let begin = 0;
  const paths = strokes.map((stroke) => {
    const length = stroke.reduce((sum, [x, y], n) => sum + (n ? Math.hypot(x - stroke[n - 1][0], y - stroke[n - 1][1]) : 0), 0);
    const seconds = Math.max(length * SECONDS_PER_UNIT, 0.05);
    const [start, duration] = [begin.toFixed(2), seconds.toFixed(2)];
    const path =
      `<path d="${pathOf(stroke)}" pathLength="1" stroke-dasharray="1 2">` +
      `<set attributeName="opacity" to="0" begin="0s" end="${start}s"/>` +
      `<animate attributeName="stroke-dashoffset" from="1" to="0" begin="${start}s" dur="${duration}s"/></path>`;
    begin += seconds + 0.08;
    return path;
  });
  return `${SVG_HEAD}${paths.join("\n")}\n</g>\n</svg>\n`;
}

/** @param {Stroke[]} strokes @returns {Promise<Blob>} */
export function toPng(strokes) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = PNG_SIDE;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.fillStyle = "white";
  context.fillRect(0, 0, PNG_SIDE, PNG_SIDE);
  context.scale(PNG_SIDE / PAGE, PNG_SIDE / PAGE);
  context.lineCap = context.lineJoin = "round";
  paint(context, strokes, "#1c2740", PEN);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture could not be made"))));
  });
}

/** A line of QuickDraw's ndjson: a stroke is [[x…], [y…]]. @param {Stroke[]} strokes @returns {string} */
export function toNdjson(strokes) {
  const drawing = strokes.map((stroke) => [stroke.map(([x]) => x), stroke.map(([, y]) => y)]);
  return `${JSON.stringify({ word: "drawing", page: PAGE, drawing })}\n`;
}

/**
 * The drawing in a text: SVG or ndjson. Drawings of this page come back where they were, others are fitted to it.
 * @param {string} text
 * @returns {Promise<Stroke[]>}
 */
export async function fromText(text) {
  const begins = text.trimStart();
  if (begins.startsWith("<")) {
    const { strokes } = await call("read", { svg: text });
    return text.includes(`${MARK}="${PAGE}"`) ? strokes.map(roundedStroke) : fitted(strokes);
  }
  if (begins.startsWith("{") || begins.startsWith("[")) return fromNdjson(begins);
  throw new Error("this is neither SVG nor QuickDraw's ndjson");
}

/**
 * The lines of a drawing in a picture, traced by the service. The picture is scaled down here: it need not be large.
 * @param {Blob} file
 * @returns {Promise<Stroke[]>}
 */
export async function fromPicture(file) {
  const image = await createImageBitmap(file).catch(() => {
    throw new Error("this picture is damaged, or of a kind that is not known");
  });
  const scale = Math.min(PICTURE_SIDE / Math.max(image.width, image.height), 1);
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(Math.round(image.width * scale), 1);
  canvas.height = Math.max(Math.round(image.height * scale), 1);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.fillStyle = "white";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const { strokes } = await call("read", { picture: smallJpeg(canvas) });
  return fitted(strokes);
}

/** A JPEG in base64, as good as the service takes: grain and texture make pictures large. @param {HTMLCanvasElement} canvas */
function smallJpeg(canvas) {
  let picture = "";
  for (const quality of QUALITIES) {
    picture = canvas.toDataURL("image/jpeg", quality).split(",")[1];
    if (picture.length <= MAX_PICTURE) break;
  }
  return picture;
}

/** @param {string} text the first line counts @returns {Stroke[]} */
export function fromNdjson(text) {
  const line = text.split("\n", 1)[0];
  const about = readJson(line) ?? readJson(text);
  const drawing = Array.isArray(about) ? about : about?.drawing;
  const strokes = Array.isArray(drawing) ? drawing.map(pointsOf) : null;
  if (!isStrokes(strokes) || !strokes.length) throw new Error('no drawing is in this text: {"drawing": [[[x…], [y…]], …]}');
  return about?.page === PAGE ? strokes : fitted(strokes);
}

/** @param {string} text @returns {any} */
function readJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Points of a stroke, which is [[x…], [y…]] or [[x, y], …]. @param {any} stroke @returns {any} */
function pointsOf(stroke) {
  const isColumns = Array.isArray(stroke) && (stroke.length === 2 || stroke.length === 3) && stroke[0]?.length === stroke[1]?.length;
  if (!isColumns || !Array.isArray(stroke[0])) return stroke;
  return stroke[0].map((/** @type {number} */ x, /** @type {number} */ index) => [x, stroke[1][index]]);
}

/** @param {Stroke} stroke @returns {Stroke} */
const roundedStroke = (stroke) => stroke.map(([x, y]) => /** @type {Point} */ ([rounded(x), rounded(y)]));

/**
 * Offer something as a file.
 * @param {string} name
 * @param {Blob} blob
 */
export function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
