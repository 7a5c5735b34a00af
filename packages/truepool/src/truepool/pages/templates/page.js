"use strict";
// A header button sorts its table: by the first number of a cell, else by its words.
const numeric = /[-+]?(\d[\d,]*\.?\d*|\.\d+)(e[-+]?\d+)?/i;
function key(row, column) {
  const cell = row.cells[column];
  const text = cell.textContent.trim();
  const found = cell.tagName === "TD" ? text.match(numeric) : null;
  return { text, number: found ? parseFloat(found[0].replaceAll(",", "")) : NaN };
}
function compare(a, b) {
  if (!Number.isNaN(a.number) && !Number.isNaN(b.number)) return a.number - b.number;
  return a.text.localeCompare(b.text, undefined, { numeric: true });
}
function sort(button) {
  const head = button.closest("th");
  const table = head.closest("table");
  const up = head.getAttribute("aria-sort") !== "ascending";
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const numbers = [...table.tBodies[0].rows].some((row) => !Number.isNaN(key(row, head.cellIndex).number));
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, key: key(row, head.cellIndex) }));
  const blank = (entry) => numbers && Number.isNaN(entry.key.number);
  rows.sort((a, b) => {
    if (blank(a) || blank(b)) return blank(a) - blank(b); // what is not known goes last
    return up ? compare(a.key, b.key) : compare(b.key, a.key);
  });
  table.tBodies[0].append(...rows.map((entry) => entry.row));
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("table.sortable th button");
  if (button) sort(button);
});
