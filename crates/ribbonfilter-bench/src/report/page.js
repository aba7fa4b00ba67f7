// A click on a heading sorts its table; another click reverses the order.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const heading = button.parentElement;
    const body = heading.closest("table").tBodies[0];
    const ascending = heading.ariaSort !== "ascending";
    for (const other of heading.parentElement.children) other.removeAttribute("aria-sort");
    heading.ariaSort = ascending ? "ascending" : "descending";
    const cell = (row) => row.cells[heading.cellIndex];
    const compare = (one, other) => {
      const [a, b] = [cell(one), cell(other)];
      if (a.textContent === "" || b.textContent === "")
        return (a.textContent === "") - (b.textContent === "");
      const order = a.dataset.value === undefined
        ? a.textContent.localeCompare(b.textContent) : a.dataset.value - b.dataset.value;
      return ascending ? order : -order;
    };
    body.append(...[...body.rows].sort(compare));
  });
}
