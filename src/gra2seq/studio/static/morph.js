/** Morph: the drawings between two on a slider, and between four on a sheet. */

import { call, drawings, isAbort } from "./api.js";
import { box, button, input, make, say } from "./dom.js";
import { emptyRegion, fitted, visibleStrokes } from "./geometry.js";
import { onColourChange, picture } from "./ink.js";

/** @import { Stroke } from "./types.js" */
/** @import { Paper } from "./paper.js" */

const NAMES = ["A", "B", "C", "D"];
const STEPS = 8;

export class Morph {
  /** @type {(Stroke[] | null)[]} */
  #slots = [null, null, null, null];
  /** @type {HTMLCanvasElement[]} */
  #pictures = [];
  /** @type {Stroke[][]} */
  #way = [];
  /** @type {AbortController | null} */
  #request = null;

  /** @param {Paper} paper */
  constructor(paper) {
    this.paper = paper;
    this.text = box("morph-text");
    this.slider = input("morph-slider");
    this.shown = button("morph-shown");
    this.shown.append(make("canvas"));
    box("slots").append(...NAMES.map((name, number) => this.#slot(name, number)));
    this.slider.addEventListener("input", () => this.#showStep());
    this.shown.addEventListener("click", () => this.#take(this.#way[Number(this.slider.value)]));
    button("morph-two").addEventListener("click", () => this.#ask(2));
    button("morph-four").addEventListener("click", () => this.#ask(4));
    onColourChange(() => this.repaint());
  }

  /** Paint what is shown; needed when the panel has become visible. */
  repaint() {
    this.#slots.forEach((strokes, number) => strokes && picture(this.#pictures[number], strokes));
    this.#showStep();
  }

  /** @param {string} name @param {number} number */
  #slot(name, number) {
    const canvas = make("canvas");
    this.#pictures.push(canvas);
    const label = `Put the drawing on the page into ${name}`;
    const slot = make("button", { className: "card", label }, canvas, make("span", { text: name, className: "number" }));
    slot.title = label;
    slot.addEventListener("click", () => this.#fill(number));
    return slot;
  }

  /** The drawing on the page, or a doodle while it is blank. @param {number} number */
  async #fill(number) {
    const own = visibleStrokes(this.paper.drawing);
    try {
      this.#slots[number] = own.length ? own : fitted((await call("doodle")).strokes);
      say(this.text, `${NAMES[number]} is set.`);
      this.repaint();
    } catch (error) {
      say(this.text, /** @type {Error} */ (error).message, true);
    }
  }

  /** @param {2 | 4} count */
  async #ask(count) {
    const chosen = this.#slots.slice(0, count);
    const missing = NAMES.filter((_, number) => number < count && !this.#slots[number]);
    if (missing.length) return say(this.text, `Click on ${missing.join(", ")} to put a drawing there first.`, true);
    this.#request?.abort();
    const request = (this.#request = new AbortController());
    const body = {
      drawings: chosen,
      steps: STEPS,
      seed: Number(input("seed").value) || 0,
      temperature: Number(input("temperature").value),
    };
    say(this.text, "Morphing …");
    try {
      /** @type {Stroke[][]} */
      const drawn = [];
      for await (const { strokes } of drawings("morph", body, request.signal)) drawn.push(strokes);
      if (count === 2) this.#showWay(drawn);
      else this.#showSheet(drawn);
      say(this.text, "Click a drawing to take it over.");
    } catch (error) {
      if (!isAbort(error)) say(this.text, /** @type {Error} */ (error).message, true);
    }
  }

  /** @param {Stroke[][]} drawn */
  #showWay(drawn) {
    this.#way = drawn;
    box("morph-sheet").replaceChildren();
    box("morph-row").hidden = false;
    this.slider.max = String(drawn.length - 1);
    this.slider.value = String(Math.floor(drawn.length / 2));
    this.#showStep();
  }

  #showStep() {
    const strokes = this.#way[Number(this.slider.value)];
    const canvas = this.shown.querySelector("canvas");
    if (strokes && canvas) picture(canvas, strokes);
  }

  /** @param {Stroke[][]} drawn */
  #showSheet(drawn) {
    box("morph-row").hidden = true;
    const cards = drawn.map((strokes, number) => {
      const card = make("button", { className: "card", label: `Drawing ${number + 1}: take it over` }, make("canvas"));
      card.addEventListener("click", () => this.#take(strokes));
      return card;
    });
    box("morph-sheet").replaceChildren(...cards);
    cards.forEach((card, number) => {
      const canvas = card.querySelector("canvas");
      if (canvas) picture(canvas, drawn[number]);
    });
  }

  /** @param {Stroke[] | undefined} strokes */
  #take(strokes) {
    if (strokes) this.paper.replace({ strokes: fitted(strokes), region: emptyRegion() });
  }
}
