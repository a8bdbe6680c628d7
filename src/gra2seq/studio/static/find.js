/** Find and Guess: the nearest drawings of the gallery, and what they are called. */

import { call, isAbort } from "./api.js";
import { box, make, say } from "./dom.js";
import { fitted } from "./geometry.js";
import { onColourChange, picture } from "./ink.js";

/** @import { Found } from "./types.js" */
/** @import { Paper } from "./paper.js" */
/** @typedef {{unlike: boolean, names: {name: string, share: number}[]}} Guess */

const COUNT = 14;

export class Find {
  /** @type {AbortController | null} */
  #request = null;
  /** @type {Found[]} */
  #found = [];

  /** @param {Paper} paper */
  constructor(paper) {
    this.paper = paper;
    this.strip = box("strip");
    this.text = box("find-text");
    this.guess = box("guess");
    onColourChange(() => this.#showFound());
  }

  /** Look for what is like the drawing on the page. */
  async refresh() {
    this.#request?.abort();
    const request = (this.#request = new AbortController());
    const { strokes, region } = this.paper.drawing;
    if (!strokes.length) {
      this.#found = [];
      this.#showFound();
      this.guess.replaceChildren();
      say(this.text, "Here the nearest drawings of the gallery appear, as soon as there is something on the page.");
      return;
    }
    const body = { strokes, region };
    try {
      const [found, guess] = await Promise.all([
        call("search", { ...body, count: COUNT }, request.signal),
        call("guess", body, request.signal),
      ]);
      this.#found = found.results;
      this.#showFound();
      say(this.text, `The nearest of ${found.drawings} in the gallery (${found.gallery}). Click one to draw on it.`);
      this.#showGuess(guess);
    } catch (error) {
      if (!isAbort(error)) say(this.text, /** @type {Error} */ (error).message);
    }
  }

  #showFound() {
    const cards = this.#found.map(({ name, strokes }) => {
      const card = make("button", { label: `${name || "drawing"}: put it on the page` }, make("canvas"), make("span", { text: name }));
      card.addEventListener("click", () => this.paper.put(fitted(strokes)));
      return card;
    });
    this.strip.replaceChildren(...cards);
    cards.forEach((card, number) => {
      const canvas = card.querySelector("canvas");
      if (canvas) picture(canvas, this.#found[number].strokes);
    });
  }

  /** @param {Guess} guess */
  #showGuess({ unlike, names }) {
    if (unlike) {
      const nearest = names[0] ? ` The nearest is ${names[0].name}.` : "";
      this.guess.replaceChildren(make("b", { text: "Unlike anything I know." }), nearest);
      return;
    }
    const [first, ...others] = names.map(({ name, share }) => `${name} ${Math.round(share * 100)} %`);
    const rest = others.length ? `, ${others.join(", ")}` : "";
    this.guess.replaceChildren("Looks like ", make("b", { text: first }), rest);
  }
}
