// Only adds: every page can be used without it.
"use strict";
document.addEventListener("submit", (event) => {
  const asked = event.submitter && event.submitter.dataset.confirm;
  if (asked && !window.confirm(asked)) event.preventDefault();
});
// What went wrong is shown where the answer would have been.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.xhr.status >= 400) { event.detail.shouldSwap = true; event.detail.isError = false; }
});
