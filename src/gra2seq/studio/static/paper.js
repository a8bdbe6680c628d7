/** The drawing on the page: its changes can be undone, and it survives a reload. */

import { emptyRegion } from "./geometry.js";

/** @import { Drawing, Region, Stroke } from "./types.js" */

const KEY = "gra2seq-studio";
const MAX_UNDO = 200;

/** Fires "change" whenever the drawing is another one. */
export class Paper extends EventTarget {
  /** @type {Drawing} */
  drawing = { strokes: [], region: emptyRegion() };
  /** @type {Drawing[]} */
  #past = [];
  /** @type {Drawing[]} */
  #future = [];

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  get isBlank() {
    return this.drawing.strokes.length === 0;
  }

  /**
   * Replace the drawing; `undo` brings the former one back.
   * @param {Drawing} drawing
   */
  replace(drawing) {
    this.#past.push(this.drawing);
    if (this.#past.length > MAX_UNDO) this.#past.shift();
    this.#future = [];
    this.#show(drawing);
  }

  /** @param {Stroke[]} strokes a whole drawing, of which nothing is erased */
  put(strokes) {
    this.replace({ strokes, region: emptyRegion() });
  }

  /** @param {Stroke} stroke */
  addStroke(stroke) {
    this.replace({ ...this.drawing, strokes: [...this.drawing.strokes, stroke] });
  }

  /** @param {Partial<Region>} more */
  erase(more) {
    const { boxes, erasers } = this.drawing.region;
    const region = { boxes: [...boxes, ...(more.boxes ?? [])], erasers: [...erasers, ...(more.erasers ?? [])] };
    this.replace({ ...this.drawing, region });
  }

  undo() {
    const before = this.#past.pop();
    if (!before) return;
    this.#future.push(this.drawing);
    this.#show(before);
  }

  redo() {
    const after = this.#future.pop();
    if (!after) return;
    this.#past.push(this.drawing);
    this.#show(after);
  }

  /** Bring back what the last visit left. */
  restore() {
    try {
      const kept = JSON.parse(localStorage.getItem(KEY) ?? "null");
      if (isDrawing(kept)) this.#show(kept);
    } catch {
      // What is kept is damaged, or may not be read: begin with a blank page.
    }
  }

  /** @param {Drawing} drawing */
  #show(drawing) {
    this.drawing = drawing;
    try {
      localStorage.setItem(KEY, JSON.stringify(drawing));
    } catch {
      // No room or no permission: the drawing is not kept, and everything else works.
    }
    this.dispatchEvent(new Event("change"));
  }
}

/**
 * @param {any} value
 * @returns {value is Drawing}
 */
function isDrawing(value) {
  return isStrokes(value?.strokes) && Array.isArray(value.region?.boxes) && Array.isArray(value.region?.erasers);
}

/**
 * @param {any} value
 * @returns {value is Stroke[]}
 */
export function isStrokes(value) {
  return (
    Array.isArray(value) &&
    value.every(
      (stroke) =>
        Array.isArray(stroke) &&
        stroke.length > 0 &&
        stroke.every((point) => Array.isArray(point) && point.length === 2 && point.every(Number.isFinite)),
    )
  );
}
