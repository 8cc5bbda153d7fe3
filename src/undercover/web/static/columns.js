// Only adds: columns are found by their names, and a fold-out stays open when its figures change.
"use strict";
const filter = document.getElementById("filter");
if (filter) {
  const state = filter.parentElement.querySelector("[role=status]");
  filter.parentElement.hidden = false;
  filter.addEventListener("input", (event) => {
    event.stopPropagation();
    const wanted = filter.value.trim().toLowerCase();
    let shown = 0;
    for (const column of document.querySelectorAll("li.column")) {
      column.hidden = !column.dataset.name.includes(wanted);
      shown += column.hidden ? 0 : 1;
    }
    state.textContent = shown ? "" : filter.dataset.none;
  });
  filter.addEventListener("change", (event) => event.stopPropagation());
}
document.addEventListener("htmx:beforeSwap", (event) => {
  const fold = event.detail.target.querySelector("details");
  event.detail.target.dataset.open = fold && fold.open ? "yes" : "";
});
document.addEventListener("htmx:afterSwap", (event) => {
  const fold = event.detail.target.querySelector("details");
  if (fold && event.detail.target.dataset.open) fold.open = true;
});
