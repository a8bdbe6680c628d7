/** The page: makes its parts and lets them know of each other. */

import { Watch, call } from "./api.js";
import { Board } from "./board.js";
import { box, button, element, input, settled, toast } from "./dom.js";
import { download, fromPicture, fromText, toAnimatedSvg, toNdjson, toPng, toSvg } from "./files.js";
import { Find } from "./find.js";
import { emptyRegion, fitted, isEmpty, visibleStrokes } from "./geometry.js";
import { listen } from "./keys.js";
import { fromFragment, toFragment } from "./link.js";
import { Morph } from "./morph.js";
import { Paper } from "./paper.js";
import { tabs } from "./tabs.js";
import { Ways } from "./ways.js";
import { Why } from "./why.js";

/** @import { Tool } from "./board.js" */

const QUIET = 300; // ms after the last change until the strip and the guess follow
const PAUSE = 500; // ms after the pen was lifted until "finish as I draw" begins
const MAX_FILE = 900_000; // bytes: what the service reads

const paper = new Paper();
const board = new Board(element("board", HTMLCanvasElement), paper);
const watch = new Watch();
const ways = new Ways(paper, board);
const why = new Why(paper);
const morph = new Morph(paper);
const find = new Find(paper);

const openTab = tabs(/** @type {HTMLElement} */ (document.querySelector(".tabs")), (name) => {
  why.open(name === "why");
  if (name === "why") ways.forget();
  if (name === "morph") morph.repaint();
  box("settings").hidden = name === "why";
});

/** @param {Tool} tool */
function useTool(tool) {
  board.tool = tool;
  document.querySelectorAll("[data-tool]").forEach((one) => {
    one.setAttribute("aria-pressed", String(one instanceof HTMLElement && one.dataset.tool === tool));
  });
}

/** @param {"heal" | "complete" | "redraw"} kind */
function ask(kind) {
  openTab("ways");
  ways.ask(kind, true);
}

function others() {
  const seed = input("seed");
  seed.value = String((Number(seed.value) || 0) + 1);
  ask(ways.kind);
}

function backToDrawing() {
  ways.forget();
  why.release();
}

async function surprise() {
  try {
    const { name, strokes } = await call("doodle");
    paper.put(fitted(strokes));
    toast(`Here is a drawing of: ${name}. Erase something and press Heal.`);
  } catch (error) {
    toast(/** @type {Error} */ (error).message);
  }
}

/** @param {Promise<import("./types.js").Stroke[]>} drawing */
async function bringIn(drawing) {
  try {
    paper.put(await drawing);
  } catch (error) {
    toast(`It could not be read: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {File | undefined | null} file */
async function openFile(file) {
  if (!file) return;
  if (/^image\/(png|jpe?g|webp)/.test(file.type)) await bringIn(fromPicture(file));
  else await bringIn(beginningOf(file).then(fromText));
}

/** The text of a file; of ndjson, which may be huge, the first line is enough. @param {File} file */
async function beginningOf(file) {
  const text = await file.slice(0, MAX_FILE).text();
  if (file.size <= MAX_FILE || /^\s*\{.*\n/.test(text)) return text;
  throw new Error("it is too large; at most 0.9 MB are read");
}

/** @param {string} kind svg, png, animation, ndjson or link */
async function takeAway(kind) {
  const strokes = visibleStrokes(paper.drawing);
  if (!strokes.length) return toast("There is nothing on the page yet.");
  if (kind === "svg") download("drawing.svg", new Blob([toSvg(strokes)], { type: "image/svg+xml" }));
  if (kind === "animation") download("drawing-animated.svg", new Blob([toAnimatedSvg(strokes)], { type: "image/svg+xml" }));
  if (kind === "ndjson") download("drawing.ndjson", new Blob([toNdjson(strokes)], { type: "application/x-ndjson" }));
  if (kind === "png") download("drawing.png", await toPng(strokes));
  if (kind === "link") await copyLink();
  element("save", HTMLDetailsElement).open = false;
}

async function copyLink() {
  const fragment = toFragment(visibleStrokes(paper.drawing), Number(input("seed").value) || 0);
  history.replaceState(null, "", `#${fragment}`);
  try {
    await navigator.clipboard.writeText(location.href);
    toast("The link is copied. It holds the drawing itself; nothing was sent.");
  } catch {
    toast("The link is in the address bar now. It holds the drawing itself; nothing was sent.");
  }
}

/** The drawing of a link becomes the one on the page; the link is not needed any more. */
function openLink() {
  const linked = fromFragment(location.hash);
  if (!linked) return;
  input("seed").value = String(linked.seed);
  paper.put(linked.strokes);
  history.replaceState(null, "", location.pathname);
}

function cutOut() {
  paper.replace({ strokes: visibleStrokes(paper.drawing), region: emptyRegion() });
}

function showState() {
  button("undo").disabled = !paper.canUndo;
  button("redo").disabled = !paper.canRedo;
  button("clear").disabled = paper.isBlank;
  button("cut").hidden = isEmpty(paper.drawing.region);
  box("invitation").hidden = !paper.isBlank || board.isDrawing;
}

function showHealth() {
  const { status, error, gallery } = watch.health;
  const place = box("status");
  const encoding = gallery && gallery.encoded < gallery.drawings ? `ready · gallery ${gallery.encoded}/${gallery.drawings}` : "ready";
  place.dataset.state = status;
  place.textContent = { loading: "loading the model …", ready: encoding, failed: error, lost: "reconnecting …" }[status];
}

function showTemperature() {
  element("temperature-out", HTMLOutputElement).value = Number(input("temperature").value).toFixed(2);
}

const refresh = settled(QUIET, () => {
  if (watch.hasGallery) find.refresh();
  why.refresh();
});
const finishSoon = settled(PAUSE, () => {
  if (!input("as-i-draw").checked || board.tool !== "pen" || board.isDrawing || paper.isBlank || why.isOpen) return;
  openTab("ways");
  ways.ask("complete");
});

let lastBoot = "";
let lastEncoded = 0;
watch.addEventListener("change", () => {
  showHealth();
  const { boot, gallery, temperature } = watch.health;
  if (!watch.isReady) return;
  if (lastBoot && lastBoot !== boot) toast("The studio was restarted; your drawing is still here.");
  if (!lastBoot && temperature !== null && input("temperature").value === input("temperature").defaultValue) {
    input("temperature").value = String(temperature);
    showTemperature();
  }
  const encoded = gallery?.encoded ?? 0;
  const isComplete = gallery !== null && encoded === gallery.drawings;
  if (lastBoot !== boot || (encoded !== lastEncoded && (isComplete || lastEncoded === 0))) refresh();
  [lastBoot, lastEncoded] = [boot, encoded];
});

paper.addEventListener("change", () => {
  showState();
  ways.forget();
  refresh();
});
board.addEventListener("begin", () => {
  ways.forget();
  showState();
});
board.addEventListener("cancel", showState);
board.addEventListener("lift", () => {
  showState();
  finishSoon();
});

for (const one of document.querySelectorAll("button[data-tool]")) {
  one.addEventListener("click", () => one instanceof HTMLElement && useTool(/** @type {Tool} */ (one.dataset.tool)));
}
for (const one of document.querySelectorAll("button[data-save]")) {
  one.addEventListener("click", () => one instanceof HTMLElement && takeAway(one.dataset.save ?? ""));
}
/** @type {[string, () => void][]} */
const clicks = [
  ["undo", () => paper.undo()],
  ["redo", () => paper.redo()],
  ["clear", () => paper.put([])],
  ["surprise", surprise],
  ["open", () => input("file").click()],
  ["heal", () => ask("heal")],
  ["finish", () => ask("complete")],
  ["redraw", () => ask("redraw")],
  ["again", others],
  ["cut", cutOut],
  ["help-button", () => element("help", HTMLDialogElement).showModal()],
];
for (const [id, work] of clicks) button(id).addEventListener("click", work);

input("temperature").addEventListener("input", showTemperature);
input("file").addEventListener("change", async () => {
  await openFile(input("file").files?.[0]);
  input("file").value = "";
});
addEventListener("hashchange", openLink);
addEventListener("paste", (event) => {
  const text = event.clipboardData?.getData("text/plain") ?? "";
  const file = event.clipboardData?.files[0];
  if (file) openFile(file);
  else if (/^\s*[<{[]/.test(text)) bringIn(fromText(text));
});
addEventListener("dragover", (event) => {
  event.preventDefault();
  box("frame").classList.add("dropping");
});
addEventListener("dragleave", () => box("frame").classList.remove("dropping"));
addEventListener("drop", (event) => {
  event.preventDefault();
  box("frame").classList.remove("dropping");
  openFile(event.dataTransfer?.files[0]);
});
addEventListener("click", (event) => {
  const menu = element("save", HTMLDetailsElement);
  if (event.target instanceof Node && !menu.contains(event.target)) menu.open = false;
});

listen([
  { keys: ["p"], shown: "P", what: "pen", run: () => useTool("pen") },
  { keys: ["e"], shown: "E", what: "eraser", run: () => useTool("eraser") },
  { keys: ["b"], shown: "B", what: "erase a box", run: () => useTool("box") },
  { keys: ["Ctrl+z", "u"], shown: "Ctrl Z", what: "undo", run: () => paper.undo(), repeats: true },
  { keys: ["Ctrl+Shift+z", "Ctrl+y"], shown: "Ctrl Shift Z", what: "redo", run: () => paper.redo(), repeats: true },
  { keys: ["delete"], shown: "Delete", what: "clear the page", run: () => paper.put([]) },
  { keys: ["s"], shown: "S", what: "surprise me", run: surprise },
  { keys: ["o"], shown: "O", what: "open a file", run: () => input("file").click() },
  { keys: ["h"], shown: "H", what: "heal", run: () => ask("heal") },
  { keys: ["f"], shown: "F", what: "finish my drawing", run: () => ask("complete") },
  { keys: ["n"], shown: "N", what: "others: the next seed", run: others },
  { keys: "123456789".split(""), shown: "1 … 9", what: "take a way over", run: (key) => ways.take(Number(key) - 1) },
  { keys: ["w"], shown: "W", what: "see why", run: () => openTab(why.isOpen ? "ways" : "why") },
  { keys: ["m"], shown: "M", what: "morph", run: () => openTab("morph") },
  { keys: ["escape"], shown: "Esc", what: "back to my drawing", run: backToDrawing },
  { keys: ["?"], shown: "?", what: "this help", run: () => element("help", HTMLDialogElement).showModal() },
  { keys: [], shown: "↑ ↓ ← →", what: "on the page: move the pen; with Shift, finely", run: () => {} },
  { keys: [], shown: "Space", what: "on the page: put the pen down, lift it", run: () => {} },
]);

paper.restore();
openLink();
showState();
showTemperature();
find.refresh();
watch.look();
