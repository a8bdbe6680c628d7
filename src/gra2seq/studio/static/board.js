/** The canvas: draws with mouse, pen, finger or keys, and shows the drawing. */

import { PAGE, isEmpty, rounded, sparse } from "./geometry.js";
import { colour, contextFor, onColourChange, paint, paintRegion, show } from "./ink.js";

/** @import { Drawn, Point } from "./types.js" */
/** @import { Paper } from "./paper.js" */
/** @typedef {"pen" | "eraser" | "box"} Tool */

const RADIUS = 24; // of the eraser, in units of the page
const LEAST = 1.2; // units between two points of a stroke
const KEY_STEP = 8;
const KEY_STEP_FINE = 1;

/** Fires "begin" when a stroke begins, "lift" when it ends, and "cancel" when it is given up. */
export class Board extends EventTarget {
  /** @type {Tool} */
  tool = "pen";
  /** @type {Drawn | null} a drawing of the model that is shown instead of the paper */
  #preview = null;
  /** 0: original, 1: damaged, 2: healed */
  #compare = 2;
  /** @type {Point[]} of the stroke that is being drawn */
  #path = [];
  /** @type {Point | null} where the keyboard's pen is */
  #cursor = null;
  #waiting = false;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {Paper} paper
   */
  constructor(canvas, paper) {
    super();
    this.canvas = canvas;
    this.paper = paper;
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#up(event));
    canvas.addEventListener("pointercancel", () => this.#cancel());
    canvas.addEventListener("keydown", (event) => this.#key(event));
    canvas.addEventListener("blur", () => this.#hideCursor());
    paper.addEventListener("change", () => this.repaint());
    onColourChange(() => this.repaint());
    new ResizeObserver(() => this.repaint()).observe(canvas);
  }

  get isDrawing() {
    return this.#path.length > 0;
  }

  /**
   * Show a drawing of the model over the paper; null shows the paper.
   * @param {Drawn | null} drawn
   * @param {boolean} [moving] stroke by stroke
   */
  preview(drawn, moving = false) {
    this.#preview = drawn;
    this.#compare = 2;
    if (drawn && moving) show(this.canvas, drawn, { box: [0, 0, PAGE, PAGE], width: 5 });
    else this.repaint();
  }

  /** @param {number} value 0: original, 1: damaged, 2: healed, and between them */
  compare(value) {
    this.#compare = value;
    this.repaint();
  }

  repaint() {
    if (this.#waiting) return;
    this.#waiting = true;
    requestAnimationFrame(() => {
      this.#waiting = false;
      this.#paint();
    });
  }

  #paint() {
    const { strokes, region } = this.paper.drawing;
    if (this.#preview && this.#compare === 2) {
      show(this.canvas, this.#preview, { box: [0, 0, PAGE, PAGE], width: 5, moving: false });
      return;
    }
    const context = contextFor(this.canvas);
    paint(context, strokes, colour("ink"));
    context.globalAlpha = this.#preview ? Math.min(this.#compare, 1) : 1;
    paintRegion(context, region, colour("lost"));
    if (this.#preview) {
      context.globalAlpha = Math.max(this.#compare - 1, 0);
      paintRegion(context, region, colour("surface"));
      paint(context, this.#preview.strokes.slice(this.#preview.first_new), colour("new"));
    }
    context.globalAlpha = 1;
    this.#paintPath(context);
    if (this.#cursor) this.#paintCursor(context, this.#cursor);
  }

  /** @param {CanvasRenderingContext2D} context */
  #paintPath(context) {
    if (!this.#path.length) return;
    if (this.tool === "pen") paint(context, [this.#path], colour("ink"));
    else paintRegion(context, this.#erased(), colour("lost"));
  }

  /** @param {CanvasRenderingContext2D} context @param {Point} cursor */
  #paintCursor(context, [x, y]) {
    const size = this.tool === "eraser" ? RADIUS : 12;
    context.globalAlpha = 0.7;
    paint(context, [[[x - size, y], [x + size, y]], [[x, y - size], [x, y + size]]], colour("muted"), 2);
    context.globalAlpha = 1;
  }

  /** What the path of the eraser or the box erases. @returns {import("./types.js").Region} */
  #erased() {
    if (this.tool === "eraser") return { boxes: [], erasers: [{ path: this.#path, radius: RADIUS }] };
    const [[ax, ay], [bx, by]] = [this.#path[0], this.#path[this.#path.length - 1]];
    const corner = /** @type {Point} */ ([Math.min(ax, bx), Math.min(ay, by)]);
    const [width, height] = [rounded(Math.abs(bx - ax)), rounded(Math.abs(by - ay))];
    return { boxes: width > 1 && height > 1 ? [[...corner, width, height]] : [], erasers: [] };
  }

  /** @param {PointerEvent} event @returns {Point} */
  #place(event) {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    const x = ((event.clientX - left) / width) * PAGE;
    const y = ((event.clientY - top) / height) * PAGE;
    return [rounded(Math.min(Math.max(x, 0), PAGE)), rounded(Math.min(Math.max(y, 0), PAGE))];
  }

  /** @param {PointerEvent} event */
  #down(event) {
    if (event.button !== 0 || !event.isPrimary) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.#cursor = null;
    this.#begin(this.#place(event));
  }

  /** @param {PointerEvent} event */
  #move(event) {
    if (!this.#path.length || !event.isPrimary || this.#cursor) return;
    const every = event.getCoalescedEvents?.() ?? [];
    for (const one of every.length ? every : [event]) this.#extend(this.#place(one));
    this.repaint();
  }

  /** @param {PointerEvent} event */
  #up(event) {
    if (!this.#path.length || !event.isPrimary || this.#cursor) return;
    this.#extend(this.#place(event));
    this.#end();
  }

  #cancel() {
    this.#path = [];
    this.repaint();
    this.dispatchEvent(new Event("cancel"));
  }

  /** @param {Point} place */
  #begin(place) {
    this.preview(null);
    this.#path = [place];
    this.dispatchEvent(new Event("begin"));
    this.repaint();
  }

  /** @param {Point} place */
  #extend(place) {
    const [x, y] = this.#path[this.#path.length - 1];
    if (Math.hypot(place[0] - x, place[1] - y) >= LEAST) this.#path.push(place);
  }

  #end() {
    const erased = this.#erased();
    const path = this.#path;
    this.#path = [];
    if (this.tool === "pen") {
      this.paper.addStroke(path);
    } else if (!isEmpty(erased)) {
      const erasers = erased.erasers.map((eraser) => ({ ...eraser, path: sparse(path, RADIUS / 6) }));
      this.paper.erase({ ...erased, erasers });
    }
    this.repaint();
    this.dispatchEvent(new Event("lift"));
  }

  /** Arrow keys move the pen, Space puts it down and lifts it. @param {KeyboardEvent} event */
  #key(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const way = ways[/** @type {keyof typeof ways} */ (event.key)];
    if (!way && event.key !== " ") return;
    event.preventDefault();
    const [x, y] = this.#cursor ?? [PAGE / 2, PAGE / 2];
    const step = event.shiftKey ? KEY_STEP_FINE : KEY_STEP;
    this.#cursor = way
      ? [Math.min(Math.max(x + way[0] * step, 0), PAGE), Math.min(Math.max(y + way[1] * step, 0), PAGE)]
      : [x, y];
    if (!way && this.isDrawing) this.#end();
    else if (!way) this.#begin(this.#cursor);
    else if (this.isDrawing) this.#extend(this.#cursor);
    this.repaint();
  }

  #hideCursor() {
    if (this.#cursor && this.isDrawing) this.#end();
    this.#cursor = null;
    this.repaint();
  }
}
