// Only adds: files can be dropped, and sending shows how far it is.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const zone = document.querySelector(".drop");
  if (!zone) return;
  const form = zone.querySelector("form"), input = zone.querySelector("input[type=file]");
  zone.querySelector(".drop-hint").hidden = false;
  for (const name of ["dragenter", "dragover"]) zone.addEventListener(name, (event) => { event.preventDefault(); zone.classList.add("over"); });
  for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    form.requestSubmit();
  });
  const sending = zone.querySelector(".sending"), bar = zone.querySelector("progress");
  form.addEventListener("htmx:beforeRequest", () => { bar.value = 0; sending.hidden = false; });
  form.addEventListener("htmx:xhr:progress", (event) => { if (event.detail.total) bar.value = (100 * event.detail.loaded) / event.detail.total; });
  form.addEventListener("htmx:afterRequest", () => { sending.hidden = true; });
});
