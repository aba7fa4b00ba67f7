// A click on a heading sorts its table, another turns the order around.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const heading = button.parentElement;
    const body = heading.closest("table").tBodies[0];
    const rising = heading.ariaSort !== "ascending";
    for (const other of heading.parentElement.children) other.removeAttribute("aria-sort");
    heading.ariaSort = rising ? "ascending" : "descending";
    const cell = (row) => row.cells[heading.cellIndex];
    const compare = (one, other) => {
      const [a, b] = [cell(one), cell(other)];
      if (a.textContent === "" || b.textContent === "")
        return (a.textContent === "") - (b.textContent === "");
      const order = a.dataset.value === undefined
        ? a.textContent.localeCompare(b.textContent) : a.dataset.value - b.dataset.value;
      return rising ? order : -order;
    };
    body.append(...[...body.rows].sort(compare));
  });
}
