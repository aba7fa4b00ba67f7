// The page: forms, dropped files and results. The work is done in worker.js.

const $ = (id) => document.getElementById(id);

let worker;
let waiting = new Map();
let number = 0;
let downloaded;
/** Why the worker cannot be used. */
let broken;

function startWorker() {
  worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  worker.addEventListener("message", ({ data }) => {
    if (data.number === undefined) {
      showProgress(data.step, data.fraction);
      return;
    }
    const { resolve, reject } = waiting.get(data.number);
    waiting.delete(data.number);
    "error" in data ? reject(new Error(data.error)) : resolve(data.result);
  });
  worker.addEventListener("error", (event) => {
    broken = new Error(
      event.message || "the worker could not be started: is the package in the directory ribbonfilter of this page?",
    );
    showError(broken);
    failAll(broken.message);
  });
}

/** Ends everything that the worker was asked for. */
function failAll(message) {
  waiting.forEach(({ reject }) => reject(new Error(message)));
  waiting = new Map();
}

function asked(action, given) {
  return new Promise((resolve, reject) => {
    if (broken) {
      throw broken;
    }
    waiting.set(++number, { resolve, reject });
    worker.postMessage({ number, action, ...given });
  });
}

function showProgress(step, fraction) {
  $("step").textContent = step;
  $("progress").value = fraction;
}

function showError(error) {
  $("error").textContent = error ? capitalised(error.message) : "";
}

function capitalised(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const whole = new Intl.NumberFormat("en");
const rounded = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

/** A row of the table of sizes. */
function row(name, bytes, size) {
  const line = document.createElement("tr");
  const heading = document.createElement("th");
  heading.scope = "row";
  heading.textContent = name;
  line.append(heading);
  for (const text of [whole.format(Math.ceil(bytes)), rounded.format((8 * bytes) / size)]) {
    line.insertCell().textContent = text;
  }
  return line;
}

/** Shows an opened filter, beside what others would take at the same rate. */
function showFilter(name, { size, byteLength, falsePositiveRate }) {
  const bits = Math.log2(1 / falsePositiveRate);
  $("summary").textContent =
    `${name}: ${whole.format(size)} keys, false-positive rate ${short.format(100 * falsePositiveRate)} %`;
  const rows = [row("this ribbon filter", byteLength, size)];
  if (size > 0 && bits > 0) {
    rows.push(row("a Bloom filter", (size * bits) / Math.LN2 / 8, size));
    rows.push(row("the lower bound", (size * bits) / 8, size));
  }
  $("sizes").replaceChildren(...rows);
  for (const output of [$("answer"), $("verdict")]) {
    output.textContent = "";
  }
  $("opened").hidden = false;
}

function showBuilding(isBuilding) {
  $("working").hidden = !isBuilding;
  if (isBuilding) {
    $("cancel").hidden = false;
  }
  // An element that is disabled or hidden loses the focus, so it is moved first.
  const hadFocus = [$("start"), $("cancel")].includes(document.activeElement);
  if (isBuilding) {
    $("download").hidden = true;
    $("status").textContent = "";
    showProgress("Reading keys", 0);
    if (hadFocus) {
      $("cancel").focus();
    }
  }
  $("start").disabled = isBuilding;
  if (!isBuilding && hadFocus) {
    $("start").focus();
  }
  $("cancel").hidden = !isBuilding;
}

async function build() {
  const [file] = $("keys").files;
  showError();
  showBuilding(true);
  try {
    const built = await asked("build", { file, format: $("format").value, rate: Number($("rate").value) });
    const name = `${file.name.replace(/\.[^.]*$/, "")}.ribbon`;
    URL.revokeObjectURL(downloaded);
    downloaded = URL.createObjectURL(new Blob([built.bytes], { type: "application/octet-stream" }));
    $("download").href = downloaded;
    $("download").download = name;
    $("download").hidden = false;
    showFilter(name, built);
    $("status").textContent = `Built in ${whole.format(Math.ceil(built.milliseconds))} ms. It can be queried below.`;
  } catch (error) {
    showError(error);
    // The filter of an earlier build is still there.
    $("download").hidden = !downloaded || $("opened").hidden;
  } finally {
    showBuilding(false);
  }
}

async function open() {
  const [file] = $("file").files;
  if (!file) {
    return;
  }
  showError();
  $("status").textContent = "";
  try {
    showFilter(file.name, await asked("open", { file }));
    $("download").hidden = true;
    $("status").textContent = "Opened, and all checksums are right. It can be queried below.";
  } catch (error) {
    showError(error);
  }
}

/** Shows the result of a query, or why there is none. */
async function showAnswer(output, query, texts) {
  output.dataset.answer = "";
  output.textContent = "";
  try {
    const answer = (await query()) ? "yes" : "no";
    output.dataset.answer = answer;
    output.textContent = texts[answer];
  } catch (error) {
    output.dataset.answer = "error";
    output.textContent = capitalised(error.message);
  }
}

function query() {
  return showAnswer($("answer"), () => asked("query", { key: $("key").value, kind: $("kind").value }), {
    yes: "In the set, or a false positive.",
    no: "Certainly not in the set.",
  });
}

/** The digest of a password in hexadecimal digits. */
async function digestOf(password, algorithm) {
  if (!globalThis.crypto?.subtle) {
    throw new Error("browsers hash only on pages from https or localhost: serve this page from there");
  }
  const digest = await crypto.subtle.digest(algorithm, new TextEncoder().encode(password));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function check() {
  const [password, algorithm] = [$("password").value, $("digest").value];
  const asks = async () =>
    algorithm === ""
      ? asked("query", { key: password, kind: "text" })
      : asked("query", { key: await digestOf(password, algorithm), kind: "hex" });
  return showAnswer($("verdict"), asks, {
    yes: "In the list, or a false positive: do not use it.",
    no: "Certainly not in the list.",
  });
}

/** Lets a label take dropped files for its input. */
function takeDrops(label, input) {
  for (const type of ["dragenter", "dragover"]) {
    label.addEventListener(type, (event) => {
      event.preventDefault();
      label.classList.add("over");
    });
  }
  for (const type of ["dragleave", "drop"]) {
    label.addEventListener(type, () => label.classList.remove("over"));
  }
  label.addEventListener("drop", (event) => {
    event.preventDefault();
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change"));
  });
}

function onSubmit(id, action) {
  $(id).addEventListener("submit", (event) => {
    event.preventDefault();
    action();
  });
}

startWorker();
onSubmit("build", build);
onSubmit("query", query);
onSubmit("check", check);
$("file").addEventListener("change", open);
for (const input of [$("file"), $("keys")]) {
  // So that the same file can be chosen again.
  input.addEventListener("click", () => (input.value = ""));
}
$("cancel").addEventListener("click", () => {
  worker.terminate();
  startWorker();
  failAll("the build was cancelled");
  $("opened").hidden = true;
});
for (const label of document.querySelectorAll("[data-drop]")) {
  takeDrops(label, $(label.dataset.drop));
}
