/**
 * A drawing and a seed in the fragment of a link, which browsers never send.
 *
 * Coordinates are tenths of a unit, each the difference to the point before, as numbers of seven bits a byte with
 * the sign in the lowest bit, in base64url.
 */

import { PAGE } from "./geometry.js";

/** @import { Point, Stroke } from "./types.js" */

const VERSION = "1";
const TENTHS = 10;

/**
 * @param {Stroke[]} strokes
 * @param {number} seed
 * @returns {string} a fragment without #
 */
export function toFragment(strokes, seed) {
  /** @type {number[]} */
  const bytes = [];
  let [x, y] = [0, 0];
  writeNumber(bytes, strokes.length);
  for (const stroke of strokes) {
    writeNumber(bytes, stroke.length);
    for (const [px, py] of stroke) {
      const [nx, ny] = [Math.round(px * TENTHS), Math.round(py * TENTHS)];
      writeNumber(bytes, signed(nx - x));
      writeNumber(bytes, signed(ny - y));
      [x, y] = [nx, ny];
    }
  }
  const text = btoa(bytes.map((byte) => String.fromCharCode(byte)).join(""));
  return `v=${VERSION}&seed=${seed}&d=${text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/**
 * @param {string} fragment with or without #
 * @returns {{strokes: Stroke[], seed: number} | null} null if it holds no drawing
 */
export function fromFragment(fragment) {
  const values = new URLSearchParams(fragment.replace(/^#/, ""));
  const text = values.get("d");
  if (values.get("v") !== VERSION || !text) return null;
  try {
    const reader = numbers(atob(text.replaceAll("-", "+").replaceAll("_", "/")));
    let [x, y] = [0, 0];
    /** @type {Stroke[]} */
    const strokes = Array.from({ length: next(reader) }, () =>
      Array.from({ length: next(reader) }, () => {
        x += unsigned(next(reader));
        y += unsigned(next(reader));
        return /** @type {Point} */ ([x / TENTHS, y / TENTHS]);
      }),
    );
    const seed = Number(values.get("seed"));
    const fits = strokes.flat().every(([px, py]) => px >= 0 && py >= 0 && px <= PAGE && py <= PAGE);
    return fits && strokes.length ? { strokes, seed: Number.isSafeInteger(seed) && seed >= 0 ? seed : 0 } : null;
  } catch {
    return null;
  }
}

/** @param {number[]} bytes @param {number} value not negative */
function writeNumber(bytes, value) {
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  bytes.push(value);
}

/** @param {string} text @returns {Generator<number, void, unknown>} */
function* numbers(text) {
  let [value, weight] = [0, 1];
  for (const letter of text) {
    const byte = letter.charCodeAt(0);
    value += (byte % 128) * weight;
    weight *= 128;
    if (byte < 128) {
      yield value;
      [value, weight] = [0, 1];
    }
  }
}

/** @param {Generator<number, void, unknown>} reader @returns {number} */
function next(reader) {
  const { value, done } = reader.next();
  if (done || value === undefined || value > 1e6) throw new RangeError("the link is cut short or damaged");
  return value;
}

/** @param {number} value */
const signed = (value) => (value < 0 ? -2 * value - 1 : 2 * value);

/** @param {number} value */
const unsigned = (value) => (value % 2 ? -(value + 1) / 2 : value / 2);
