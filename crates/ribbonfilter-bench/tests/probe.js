// Checks the layout of the page and lists the faults.
const faults = [];
const inside = (inner, outer) => inner.left >= outer.left - 0.5 && inner.right <= outer.right + 0.5
  && inner.top >= outer.top - 0.5 && inner.bottom <= outer.bottom + 0.5;
const overlap = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
  && a.top < b.bottom - 1 && b.top < a.bottom - 1;

if (document.documentElement.scrollWidth > innerWidth)
  faults.push(`the page is ${document.documentElement.scrollWidth} wide`);

for (const figure of document.querySelectorAll("svg")) {
  const name = figure.getAttribute("aria-label");
  const texts = [...figure.querySelectorAll("text")];
  const boxes = texts.map((text) => text.getBoundingClientRect());
  const scale = figure.getBoundingClientRect().width / figure.viewBox.baseVal.width;
  const size = parseFloat(getComputedStyle(texts[0]).fontSize) * scale;
  if (size < 9) faults.push(`${name}: letters of ${size} pixels`);
  if (texts.length < 8) faults.push(`${name}: few labels`);
  if (!figure.querySelector("title")) faults.push(`${name}: no tooltips`);
  texts.forEach((text, i) => {
    if (!inside(boxes[i], figure.getBoundingClientRect()))
      faults.push(`${name}: "${text.textContent}" is outside`);
    for (let j = 0; j < i; j++)
      if (overlap(boxes[i], boxes[j]))
        faults.push(`${name}: "${text.textContent}" overlaps "${texts[j].textContent}"`);
  });
}

// Blocks of the page do not overlap either.
const blocks = [...document.querySelectorAll("h1, h2, h3, p, figure, .scroll, nav")];
const rectangles = blocks.map((block) => block.getBoundingClientRect());
for (let i = 0; i < blocks.length; i++)
  for (let j = 0; j < i; j++)
    if (overlap(rectangles[i], rectangles[j]))
      faults.push(`${blocks[i].tagName} "${blocks[i].textContent.slice(0, 40)}" overlaps`);

// The last table sorts by its first column in both directions.
const table = [...document.querySelectorAll("table")].at(-1);
const heading = table.tHead.rows[0].cells[0];
const values = () => [...table.tBodies[0].rows].map((row) => +row.cells[0].dataset.value);
const sorted = (v) => v.every((value, i) => i === 0 || v[i - 1] <= value);
heading.firstElementChild.click();
if (!sorted(values())) faults.push("a table does not sort");
heading.firstElementChild.click();
if (!sorted(values().reverse())) faults.push("a table does not sort backwards");

const dark = matchMedia("(prefers-color-scheme: dark)").matches;
const colour = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
if ((colour[0] < 128) !== dark) faults.push(`the page is ${colour}`);

const verdict = document.createElement("pre");
verdict.id = "verdict";
verdict.textContent = `width ${innerWidth}, dark ${dark}: ${faults.join("; ") || "no faults"}`;
document.body.append(verdict);
