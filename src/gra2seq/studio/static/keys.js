/** Keyboard shortcuts, and the list of them in the help. */

import { box, make } from "./dom.js";

/** @typedef {{keys: string[], shown: string, what: string, run: (key: string) => void, repeats?: boolean}} Shortcut */

/** @param {Shortcut[]} shortcuts */
export function listen(shortcuts) {
  const entries = shortcuts.flatMap(({ shown, what }) => [
    make("dt", {}, ...shown.split(" ").map((key) => make("kbd", { text: key }))),
    make("dd", { text: what }),
  ]);
  box("keys").append(...entries);
  addEventListener("keydown", (event) => {
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    const name = `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.shiftKey && event.ctrlKey ? "Shift+" : ""}${event.key.toLowerCase()}`;
    const shortcut = shortcuts.find(({ keys }) => keys.includes(name));
    if (!shortcut || event.altKey) return;
    event.preventDefault();
    if (!event.repeat || shortcut.repeats) shortcut.run(event.key);
  });
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  return target instanceof HTMLInputElement && !["range", "checkbox", "radio"].includes(target.type);
}
