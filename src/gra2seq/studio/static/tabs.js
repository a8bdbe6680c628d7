/** Tabs as screen readers and keys expect them: arrows move, one tab is in the focus order. */

/**
 * @param {HTMLElement} list
 * @param {(name: string) => void} changed called with the id of the panel that is shown
 * @returns {(name: string) => void} shows a panel
 */
export function tabs(list, changed) {
  const every = [...list.querySelectorAll("button")];

  /** @param {string} name */
  function choose(name) {
    for (const tab of every) {
      const panel = tab.getAttribute("aria-controls") ?? "";
      const isChosen = panel === name;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      const shown = document.getElementById(panel);
      if (shown) shown.hidden = !isChosen;
    }
    changed(name);
  }

  every.forEach((tab, number) => {
    tab.addEventListener("click", () => choose(tab.getAttribute("aria-controls") ?? ""));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      const next = every[(number + step + every.length) % every.length];
      next.focus();
      next.click();
    });
  });
  return choose;
}
