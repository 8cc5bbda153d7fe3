"use strict";
// What a page gains where scripts run: headings that sort, tips on pictures, one button for all fold-outs.
// Without it nothing is missing.

// Headings sort: up, down, and back to the order of the page.
const headingsOf = (head) => {
  const taken = [...head.rows].map(() => []), found = [];
  [...head.rows].forEach((row, line) => {
    let column = 0;
    for (const cell of row.cells) {
      while (taken[line][column]) column += 1;
      for (let down = line; down < line + cell.rowSpan; down += 1)
        for (let right = column; right < column + cell.colSpan; right += 1) taken[down][right] = true;
      const last = line + cell.rowSpan === head.rows.length && cell.colSpan === 1;
      if (last && cell.textContent.trim()) found.push([cell, column]);
      column += cell.colSpan;
    }
  });
  return found;
};

const keyOf = (cell) => {
  const figure = cell.querySelector("data"), text = cell.textContent.trim();
  if (text === "" || text === "–") return { rank: 2 };
  if (figure && (cell.classList.contains("n") || text.startsWith(figure.textContent.trim()))) {
    const number = figure.value === "inf" ? Infinity : Number(figure.value);
    if (!Number.isNaN(number)) return { rank: 0, number };
  }
  return { rank: 1, text };
};

const compared = (one, other, way) =>
  one.rank - other.rank ||
  way * (one.rank ? (one.text || "").localeCompare(other.text || "", undefined, { numeric: true })
    : one.number < other.number ? -1 : one.number > other.number ? 1 : 0);

for (const table of document.querySelectorAll("main table")) {
  const body = table.querySelector("tbody.sortable") || table.tBodies[0], rows = body ? [...body.rows] : [];
  const even = rows.every((row) => row.cells.length === rows[0].cells.length && ![...row.cells].some((cell) => cell.colSpan > 1 || cell.rowSpan > 1));
  if (!table.tHead || rows.length < 3 || !even) continue;
  const headings = headingsOf(table.tHead);
  for (const [heading, column] of headings) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const now = { null: "ascending", ascending: "descending", descending: null }[heading.getAttribute("aria-sort")];
      for (const [each] of headings) each.removeAttribute("aria-sort");
      if (now) heading.setAttribute("aria-sort", now);
      const keyed = rows.map((row) => [row, keyOf(row.cells[column])]);
      if (now) keyed.sort((one, other) => compared(one[1], other[1], now === "ascending" ? 1 : -1));
      body.append(...keyed.map(([row]) => row));
    });
  }
}

// One button opens and closes all fold-outs; paper has them open.
const folds = [...document.querySelectorAll("main details")];
if (folds.length > 1) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "all";
  const open = () => folds.every((fold) => fold.open);
  const named = () => { button.textContent = open() ? "Close all fold-outs" : "Open all fold-outs"; };
  button.addEventListener("click", () => {
    const now = !open();
    for (const fold of folds) fold.open = now;
    named();
  });
  for (const fold of folds) fold.addEventListener("toggle", named);
  named();
  (document.querySelector("nav.contents") || document.querySelector("header > div")).append(button);
}
let closed = [];
addEventListener("beforeprint", () => {
  closed = folds.filter((fold) => !fold.open);
  for (const fold of closed) fold.open = true;
});
addEventListener("afterprint", () => { for (const fold of closed) fold.open = false; });

// Marks of pictures say what they stand for: under the pointer, and by the arrow keys once a picture has the focus.
const tip = document.createElement("div");
tip.className = "tip";
tip.setAttribute("role", "status");
document.body.append(tip);
let shown = null;
const show = (mark) => {
  if (shown) shown.classList.remove("at");
  shown = mark;
  tip.classList.toggle("seen", Boolean(mark));
  tip.textContent = mark ? mark.dataset.tip.split("; ").join("\n") : "";
  if (!mark) return;
  mark.classList.add("at");
  const at = mark.getBoundingClientRect(), size = tip.getBoundingClientRect();
  const left = Math.min(Math.max(at.left + at.width / 2 - size.width / 2, 4), document.documentElement.clientWidth - size.width - 4);
  tip.style.left = `${Math.max(left, 4)}px`;
  tip.style.top = `${at.top - size.height - 8 < 4 ? at.bottom + 8 : at.top - size.height - 8}px`;
};
for (const chart of document.querySelectorAll("svg.chart")) {
  const marks = [...chart.querySelectorAll("[data-tip]")];
  if (!marks.length) continue;
  const title = chart.querySelector("title");
  if (title) title.remove(); // it says what the label says, and browsers would show it over the tip
  chart.setAttribute("tabindex", "0");
  chart.setAttribute("aria-label", `${chart.getAttribute("aria-label")} Arrow keys go from mark to mark.`);
  let place = 0;
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  chart.addEventListener("pointerover", (event) => show(event.target.closest("[data-tip]")));
  chart.addEventListener("pointerleave", () => show(null));
  chart.addEventListener("focus", () => { if (chart.matches(":focus-visible")) show(marks[place]); });
  chart.addEventListener("blur", () => show(null));
  chart.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return show(null);
    if (!(event.key in steps)) return undefined;
    event.preventDefault();
    place = (place + steps[event.key] + marks.length) % marks.length;
    marks[place].scrollIntoView({ block: "nearest", inline: "nearest" });
    return show(marks[place]);
  });
}
addEventListener("scroll", () => { if (shown) show(shown); }, { capture: true, passive: true });
