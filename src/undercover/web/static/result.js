// Only adds: copy buttons, and arrow keys from cell to cell, so that the table is one stop of the tabulator.
"use strict";
const begin = (within) => {
  for (const button of within.querySelectorAll("[data-copy]")) {
    if (!navigator.clipboard) continue;
    const said = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = button.dataset.copied;
      setTimeout(() => { button.textContent = said; }, 2000);
    });
  }
  const lines = [...within.querySelectorAll(".became tbody tr")].map((row) => [...row.querySelectorAll(".cell")]);
  lines.flat().forEach((cell, place) => { cell.tabIndex = place ? -1 : 0; });
  lines.forEach((cells, line) => cells.forEach((cell, place) => {
    cell.addEventListener("keydown", (event) => {
      const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
      if (event.key === "Escape") cell.blur();
      const next = steps && lines[line + steps[0]] && lines[line + steps[0]][place + steps[1]];
      if (!next) return;
      event.preventDefault();
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  }));
};
document.addEventListener("htmx:load", (event) => begin(event.detail.elt));
