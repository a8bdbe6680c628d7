/** Small helpers for the page's elements. */

/**
 * The element of this id, which the page must have.
 * @template {Element} T
 * @param {string} id
 * @param {new (...args: any[]) => T} kind
 * @returns {T}
 */
export function element(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${kind.name} called ${id}`);
  return found;
}

/** @param {string} id */
export const button = (id) => element(id, HTMLButtonElement);

/** @param {string} id */
export const input = (id) => element(id, HTMLInputElement);

/** @param {string} id */
export const box = (id) => element(id, HTMLElement);

/**
 * A new element with text inside.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {{text?: string, className?: string, label?: string}} [about]
 * @param {...Node} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, { text, className, label } = {}, ...children) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  if (label) made.setAttribute("aria-label", label);
  made.append(...children);
  return made;
}

let hiding = 0;

/** @param {string} message shown at the foot of the page for some seconds */
export function toast(message) {
  const place = box("toast");
  place.textContent = message;
  place.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => {
    place.hidden = true;
  }, 5000);
}

/**
 * Say something in a line of the page.
 * @param {HTMLElement} place
 * @param {string} message
 * @param {boolean} [isError]
 */
export function say(place, message, isError = false) {
  place.textContent = message;
  place.classList.toggle("error", isError);
}

/**
 * Call `work` when nothing has happened for a while.
 * @param {number} milliseconds
 * @param {() => void} work
 * @returns {() => void}
 */
export function settled(milliseconds, work) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, milliseconds);
  };
}
