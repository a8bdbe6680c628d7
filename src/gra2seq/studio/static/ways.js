/** Nine ways: drawings of the model in a grid; one can be compared with the damaged drawing and taken over. */

import { drawings, isAbort } from "./api.js";
import { box, input, make, say } from "./dom.js";
import { PAGE, boxOf, emptyRegion, isEmpty, onPage } from "./geometry.js";
import { onColourChange, show, still } from "./ink.js";

/** @import { Box, Drawn } from "./types.js" */
/** @import { Board } from "./board.js" */
/** @import { Paper } from "./paper.js" */
/** @typedef {"heal" | "complete" | "redraw"} Kind */

const WAYS = 9;
const oneColumn = matchMedia("(max-width: 900px)"); // as in the style sheet: the grid is below the page
/** @type {Record<Kind, string>} */
const DOING = { heal: "Healing …", complete: "Finishing your drawing …", redraw: "Drawing it anew …" };
const RETRY = 1500; // ms until the next attempt while the model is loading or busy

export class Ways {
  /** @type {(Drawn | null)[]} */
  #drawn = [];
  /** @type {AbortController | null} */
  #request = null;
  /** @type {HTMLButtonElement[]} */
  #cards = [];
  /** @type {Kind} what was asked for last */
  kind = "heal";

  /**
   * @param {Paper} paper
   * @param {Board} board
   */
  constructor(paper, board) {
    this.paper = paper;
    this.board = board;
    this.text = box("ways-text");
    this.compareRow = box("compare-row");
    this.slider = input("compare");
    this.slider.addEventListener("input", () => this.#compared());
    this.#emptyGrid();
    onColourChange(() => this.#drawn.forEach((_, number) => this.#paint(number, false)));
  }

  /** Give up what is under way and clear the grid. */
  forget() {
    this.#request?.abort();
    this.#request = null;
    this.#emptyGrid();
    this.compareRow.hidden = true;
    this.board.preview(null);
  }

  /**
   * Ask the model for nine drawings.
   * @param {Kind} kind
   * @param {boolean} [reveal] scroll to them on a small screen, as soon as one is there
   */
  async ask(kind, reveal = false) {
    const { strokes, region } = this.paper.drawing;
    if (!strokes.length) return say(this.text, "There is nothing on the page yet: draw something first.", true);
    if (kind === "heal" && isEmpty(region)) {
      return say(this.text, "Nothing is erased yet: take the eraser or the box and erase a part of it.", true);
    }
    this.forget();
    this.kind = kind;
    const request = (this.#request = new AbortController());
    box("grid").classList.add("busy");
    say(this.text, DOING[kind]);
    try {
      await this.#receive(kind, reveal, request.signal);
      const kept = kind === "redraw" ? "" : "Your lines stayed; the new ones are coloured. ";
      say(this.text, `${kept}Click a drawing to take it over and go on with it.`);
    } catch (error) {
      if (isAbort(error)) return;
      await this.#failed(kind, /** @type {Error} */ (error), reveal, request.signal);
    } finally {
      if (this.#request === request) box("grid").classList.remove("busy");
    }
  }

  /**
   * Take a drawing over: it becomes the drawing on the page.
   * @param {number} number
   */
  take(number) {
    const drawn = this.#drawn[number];
    if (!drawn || drawn.provisional) return;
    this.forget();
    this.paper.replace({ strokes: onPage(drawn.strokes), region: emptyRegion() });
    say(this.text, "Taken over: it is your drawing now. Undo brings the old one back.");
    this.board.canvas.focus({ preventScroll: true });
  }

  /** @param {Kind} kind @param {boolean} reveal @param {AbortSignal} signal */
  async #receive(kind, reveal, signal) {
    const { strokes, region } = this.paper.drawing;
    const body = {
      strokes,
      region,
      frame: kind === "heal" ? frameOf(boxOf(strokes)) : null,
      page: [0, 0, PAGE, PAGE],
      samples: WAYS,
      seed: Number(input("seed").value) || 0,
      temperature: Number(input("temperature").value),
    };
    for await (const drawn of drawings(kind, body, signal)) {
      const first = this.#drawn[0] === null;
      this.#drawn[drawn.number] = drawn;
      this.#paint(drawn.number, true);
      if (drawn.number === 0) this.#preview(0, first);
      if (first && reveal && oneColumn.matches) {
        box("grid").scrollIntoView({ block: "nearest", behavior: still.matches ? "instant" : "smooth" });
      }
    }
  }

  /**
   * While the model is loading or the server away, try again.
   * @param {Kind} kind
   * @param {Error} error
   * @param {boolean} reveal
   * @param {AbortSignal} signal
   */
  async #failed(kind, error, reveal, signal) {
    const passing = "isPassing" in error && error.isPassing;
    say(this.text, error.message.charAt(0).toUpperCase() + error.message.slice(1), !passing);
    if (!passing) return;
    await new Promise((resolve) => setTimeout(resolve, RETRY));
    if (!signal.aborted) await this.ask(kind, reveal);
  }

  #emptyGrid() {
    this.#drawn = Array(WAYS).fill(null);
    this.#cards = this.#drawn.map((_, number) => this.#card(number));
    box("grid").classList.remove("busy");
    box("grid").replaceChildren(...this.#cards);
  }

  /** @param {number} number */
  #card(number) {
    const label = `Way ${number + 1}: take it over`;
    const digit = make("span", { text: String(number + 1), className: "number" });
    const card = make("button", { className: "card waiting", label }, make("canvas"), digit);
    card.disabled = true;
    card.addEventListener("click", () => this.take(number));
    card.addEventListener("pointerenter", () => this.#preview(number, false));
    card.addEventListener("focus", () => this.#preview(number, false));
    return card;
  }

  /** @param {number} number @param {boolean} moving */
  #paint(number, moving) {
    const [drawn, card] = [this.#drawn[number], this.#cards[number]];
    const canvas = card?.querySelector("canvas");
    if (!drawn || !canvas) return;
    card.disabled = drawn.provisional;
    card.classList.toggle("provisional", drawn.provisional);
    card.classList.remove("waiting");
    show(canvas, drawn, { moving });
  }

  /** Show a way on the page itself. @param {number} number @param {boolean} moving */
  #preview(number, moving) {
    const drawn = this.#drawn[number];
    if (!drawn || this.board.isDrawing) return;
    this.slider.value = "2";
    this.slider.setAttribute("aria-valuetext", "healed");
    this.compareRow.hidden = this.kind !== "heal";
    this.board.preview(drawn, moving);
  }

  #compared() {
    const value = Number(this.slider.value);
    this.slider.setAttribute("aria-valuetext", ["original", "damaged", "healed"][Math.round(value)]);
    this.board.compare(value);
  }
}

/** The frame of a drawing for the service: no point may lie outside by rounding. @param {Box} box @returns {Box} */
function frameOf([x, y, width, height]) {
  return [x - 0.05, y - 0.05, width + 0.1, height + 0.1];
}
