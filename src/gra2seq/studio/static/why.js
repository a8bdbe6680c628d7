/** See why: the patches of the drawing, their links, and what the model takes for alike. */

import { call } from "./api.js";
import { box, make, say } from "./dom.js";
import { emptyRegion, isEmpty, visibleStrokes } from "./geometry.js";
import { onColourChange, picture } from "./ink.js";

/** @import { Box, Graph, Stroke } from "./types.js" */
/** @import { Paper } from "./paper.js" */

const SVG = "http://www.w3.org/2000/svg";
const THICKEST = 9; // of a link, in units of the page, at the largest weight of the drawing
const MOST_ALIKE = 4; // linked patches that are shown

export class Why {
  /** @type {Graph | null} */
  #graph = null;
  #asked = 0;
  /** @type {number | null} the patch that is shown */
  #chosen = null;
  isOpen = false;

  /** @param {Paper} paper */
  constructor(paper) {
    this.paper = paper;
    this.overlay = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (document.getElementById("overlay")));
    this.text = box("why-text");
    this.detail = box("why-detail");
    box("why").addEventListener("change", () => this.refresh());
    onColourChange(() => this.#chosen !== null && this.#choose(this.#chosen));
  }

  /** @param {boolean} open */
  open(open) {
    this.isOpen = open;
    this.overlay.toggleAttribute("hidden", !open);
    this.#chosen = null;
    if (open) this.refresh();
  }

  /** Show all patches alike, none of them chosen. */
  release() {
    this.#chosen = null;
    this.overlay.classList.remove("chosen");
    this.overlay.querySelectorAll(".active, .near").forEach((one) => one.classList.remove("active", "near"));
    this.detail.replaceChildren();
  }

  /** Ask for the graph of the drawing and show it; the patch that is shown stays. */
  async refresh() {
    if (!this.isOpen) return;
    const asked = (this.#asked += 1);
    this.#graph = null;
    this.detail.replaceChildren();
    this.overlay.replaceChildren();
    const { strokes, region } = this.paper.drawing;
    if (!strokes.length) return say(this.text, "There is nothing on the page yet: draw something first.");
    const rule = document.querySelector('input[name="links"]:checked');
    const links = rule instanceof HTMLInputElement ? rule.value : "synonymous";
    try {
      const lost = isEmpty(region) ? emptyRegion() : region;
      const graph = await call("graph", { strokes, region: lost, links });
      if (asked !== this.#asked) return;
      this.#graph = graph;
      this.#draw(graph);
      if (this.#chosen !== null && this.#chosen < graph.patches.length) this.#choose(this.#chosen);
      else this.#chosen = null;
      say(this.text, `${graph.patches.length} patches. Point at a dot on the drawing, tap it, or reach it with the Tab key.`);
    } catch (error) {
      if (asked === this.#asked) say(this.text, /** @type {Error} */ (error).message, true);
    }
  }

  /** @param {Graph} graph */
  #draw({ patches, links }) {
    this.overlay.classList.remove("chosen");
    const largest = Math.max(...links.map(([, , weight]) => weight), 1e-9);
    for (const [from, to, weight] of links) {
      const line = this.#shape("line", "link", this.overlay);
      const [[x1, y1], [x2, y2]] = [patches[from].centre, patches[to].centre];
      setAll(line, { x1, y1, x2, y2, "stroke-width": Math.max((weight / largest) * THICKEST, 0.8) });
      line.dataset.ends = `${from} ${to}`;
    }
    patches.forEach(({ centre: [cx, cy], box: [x, y, width, height] }, number) => {
      const group = this.#shape("g", "patch", this.overlay);
      setAll(this.#shape("rect", "box", group), { x, y, width, height, rx: 6 });
      setAll(this.#shape("circle", "dot", group), { cx, cy, r: 6 });
      setAll(this.#shape("circle", "hit", group), { cx, cy, r: 16 });
      setAll(group, { tabindex: 0, role: "button", "aria-label": `Patch ${number + 1} of ${patches.length}` });
      group.addEventListener("pointerenter", () => this.#choose(number));
      group.addEventListener("focus", () => this.#choose(number));
      group.addEventListener("click", () => this.#choose(number));
    });
  }

  /** @param {string} tag @param {string} name @param {Element} parent @returns {SVGElement} */
  #shape(tag, name, parent) {
    const shape = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
    shape.setAttribute("class", name);
    parent.append(shape);
    return shape;
  }

  /** Show one patch: its links, the patches like it, and its cluster. @param {number} number */
  #choose(number) {
    const graph = this.#graph;
    if (!graph) return;
    this.#chosen = number;
    const linked = graph.links.filter(([from, to]) => from === number || to === number);
    const near = new Set(linked.map(([from, to]) => (from === number ? to : from)));
    this.overlay.classList.add("chosen");
    this.overlay.querySelectorAll(".patch").forEach((patch, index) => {
      patch.classList.toggle("active", index === number);
      patch.classList.toggle("near", near.has(index));
    });
    this.overlay.querySelectorAll("line").forEach((line) => {
      line.classList.toggle("active", (line.dataset.ends ?? "").split(" ").includes(String(number)));
    });
    const order = [...near].sort((a, b) => graph.cosines[number][b] - graph.cosines[number][a]).slice(0, MOST_ALIKE);
    this.#describe(graph, number, order);
  }

  /** @param {Graph} graph @param {number} number @param {number[]} linked */
  #describe(graph, number, linked) {
    const own = visibleStrokes(this.paper.drawing);
    const { cluster, alike, box: place } = graph.patches[number];
    const crops = make("ul", { className: "crops" });
    const others = make("ul", { className: "crops" });
    const detail = make("div", { className: "detail" }, make("h2", { text: `Patch ${number + 1} and its links` }), crops);
    if (alike.length) detail.append(make("h2", { text: `Cluster ${cluster}: patches of other drawings` }), others);
    this.detail.replaceChildren(detail);
    crop(crops, own, place, "this patch", "main");
    for (const other of linked) {
      crop(crops, own, graph.patches[other].box, `patch ${other + 1}: cosine ${graph.cosines[number][other].toFixed(2)}`);
    }
    for (const one of alike) crop(others, one.strokes, one.box, `cosine ${one.cosine.toFixed(2)}`);
  }
}

/**
 * A piece of a drawing with a caption.
 * @param {HTMLElement} list
 * @param {Stroke[]} strokes
 * @param {Box} place
 * @param {string} caption
 * @param {string} [className]
 */
function crop(list, strokes, place, caption, className) {
  const canvas = make("canvas");
  list.append(make("li", { className }, canvas, make("span", { text: caption })));
  picture(canvas, strokes, place);
}

/** @param {Element} shape @param {Record<string, string | number>} values */
function setAll(shape, values) {
  for (const [name, value] of Object.entries(values)) shape.setAttribute(name, String(value));
}
