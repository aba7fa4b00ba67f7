// The page of examples/web in a real browser: a build, a download, queries, a password, errors.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { Filter } from "ribbonfilter/build";
import { GOLDEN } from "../node/support.mjs";

const ROOT = new URL("../../../../examples/web/", import.meta.url);
const SCREENSHOTS = new URL("../../../../target/js/screenshots/", import.meta.url);
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

let server;
let browser;
let page;
const problems = [];

/** A static server, as any other. */
async function serve(request, response) {
  const path = new URL(request.url, "http://localhost").pathname;
  try {
    const body = await readFile(new URL(`.${path === "/" ? "/index.html" : path}`, ROOT));
    response.setHeader("Content-Type", TYPES[extname(path)] ?? "text/html");
    response.end(body);
  } catch {
    response.statusCode = 404;
    response.end();
  }
}

before(async () => {
  assert.ok(process.env.CHROMIUM, "CHROMIUM must name a browser, as scripts/test-js does");
  server = createServer(serve);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await page.goto(`http://localhost:${server.address().port}/`);
  mkdirSync(SCREENSHOTS, { recursive: true });
});

after(async () => {
  await browser?.close();
  server?.close();
});

function upload(id, name, text) {
  return page.setInputFiles(`#${id}`, { name, mimeType: "text/plain", buffer: Buffer.from(text) });
}

/** Measures the longest time for which the page does not react, until the result is awaited. */
async function longestPause(during) {
  await page.evaluate(() => {
    const pauses = { last: performance.now(), longest: 0 };
    globalThis.pauses = pauses;
    pauses.timer = setInterval(() => {
      const now = performance.now();
      pauses.longest = Math.max(pauses.longest, now - pauses.last);
      pauses.last = now;
    }, 5);
  });
  await during();
  return page.evaluate(() => (clearInterval(globalThis.pauses.timer), globalThis.pauses.longest));
}

test("builds a million keys while the page stays responsive, and downloads the filter", async () => {
  const keys = Array.from({ length: 1_000_000 }, (_, index) => `key ${index}`);
  await upload("keys", "keys.txt", keys.join("\r\n"));
  await page.getByLabel("False-positive rate").selectOption("0.001");
  const fractions = await page.evaluateHandle(() => {
    const seen = [];
    new MutationObserver(() => seen.push(document.getElementById("progress").value)).observe(
      document.getElementById("progress"),
      { attributes: true },
    );
    return seen;
  });
  const pause = await longestPause(async () => {
    await page.getByRole("button", { name: "Build" }).click();
    await page.getByRole("link", { name: "Download the filter" }).waitFor();
  });
  console.log(`the page paused for at most ${Math.round(pause)} ms`);
  assert.ok(pause < 250, `${pause} ms`);
  const seen = await fractions.jsonValue();
  assert.ok(seen.length > 5 && seen.some((value) => value > 0.1 && value < 0.9), `${seen.length} reports`);
  assert.match(await page.locator("#status").textContent(), /Built in .* ms/);
  assert.match(await page.locator("#summary").textContent(), /keys\.ribbon: 1,000,000 keys, .* 0\.\d+ %/);

  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download the filter" }).click();
  const download = await downloading;
  assert.equal(download.suggestedFilename(), "keys.ribbon");
  const bytes = new Uint8Array(readFileSync(await download.path()));
  const built = await Filter.build(keys, { falsePositiveRate: 0.001 });
  assert.deepEqual(bytes, built.bytes);
});

test("queries what was built", async () => {
  const answer = page.locator("#answer");
  const ask = async (key, kind) => {
    await page.getByLabel("Key", { exact: true }).fill(key);
    await page.getByLabel("The key is").selectOption(kind);
    await page.getByRole("button", { name: "Query" }).click();
    await answer.filter({ hasText: /./ }).waitFor();
    return answer.textContent();
  };
  assert.match(await ask("key 999999", "text"), /In the set/);
  assert.match(await ask("key 1000001", "text"), /Certainly not/);
  assert.match(await ask("6b65792037", "hex"), /In the set/);
  assert.match(await ask("seven", "integer"), /not an integer/);
});

test("screenshots at two widths, light and dark, without sideways scrolling", async () => {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `${overflow} pixels too wide at ${width}`);
      const path = fileURLToPath(new URL(`page-${width}-${colorScheme}.png`, SCREENSHOTS));
      await page.screenshot({ path, fullPage: true });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 900 });
});

test("checks passwords against a list of digests", async () => {
  const digests = ["hunter2", "password", "letmein"].map((password, index) => {
    const digest = createHash("sha1").update(password).digest("hex").toUpperCase();
    return `${digest}:${index + 1}`;
  });
  await upload("keys", "breached.txt", digests.join("\n"));
  await page.getByLabel("Each line is").selectOption("hex");
  await page.getByLabel("False-positive rate").selectOption("0.000001");
  await page.getByRole("button", { name: "Build" }).click();
  await page.locator("#summary", { hasText: "breached.ribbon: 3 keys" }).waitFor();
  const verdict = page.locator("#verdict");
  await page.getByLabel("Password").fill("hunter2");
  await page.getByRole("button", { name: "Check" }).click();
  await verdict.filter({ hasText: "do not use it" }).waitFor();
  await page.getByLabel("Password").fill("correct horse battery staple");
  await page.keyboard.press("Enter");
  await verdict.filter({ hasText: "Certainly not in the list" }).waitFor();
});

test("opens a file, and says what is wrong with another", async () => {
  const alert = page.locator("#error[role=alert]");
  await page.setInputFiles("#file", fileURLToPath(new URL("v1-bumped-64.ribbon", GOLDEN)));
  await page.locator("#summary", { hasText: "v1-bumped-64.ribbon: 5,000 keys" }).waitFor();
  assert.equal(await alert.textContent(), "");
  const corrupt = readFileSync(new URL("v1-bumped-64.ribbon", GOLDEN));
  corrupt[100] ^= 1;
  await page.setInputFiles("#file", { name: "x.ribbon", mimeType: "application/octet-stream", buffer: corrupt });
  await alert.filter({ hasText: "data is corrupt" }).waitFor();
  await page.setInputFiles("#file", { name: "x.ribbon", mimeType: "text/plain", buffer: Buffer.from("no filter".repeat(9)) });
  await alert.filter({ hasText: "not a ribbon filter" }).waitFor();
  await upload("keys", "empty.txt", "");
  await page.getByRole("button", { name: "Build" }).click();
  await alert.filter({ hasText: "no keys" }).waitFor();
});

test("drops a file", async () => {
  const bytes = [...readFileSync(new URL("v1-standard-64.ribbon", GOLDEN))];
  await page.evaluate((bytes) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([new Uint8Array(bytes)], "dropped.ribbon"));
    const event = new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true });
    document.querySelector("[data-drop=file]").dispatchEvent(event);
  }, bytes);
  await page.locator("#summary", { hasText: "dropped.ribbon: 1,000 keys" }).waitFor();
});

test("cancels a build, and builds again", async () => {
  const keys = Array.from({ length: 2_000_000 }, (_, index) => index).join("\n");
  await upload("keys", "many.txt", keys);
  await page.getByLabel("Each line is").selectOption("text");
  await page.getByRole("button", { name: "Build" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.locator("#error[role=alert]").filter({ hasText: "cancelled" }).waitFor();
  await upload("keys", "few.txt", "ada\ngrace\n");
  await page.getByRole("button", { name: "Build" }).click();
  await page.locator("#summary", { hasText: "few.ribbon: 2 keys" }).waitFor();
});

test("works with the keyboard alone, and every control has a name", async () => {
  const unnamed = await page.evaluate(() =>
    [...document.querySelectorAll("input, select, progress")]
      .filter((control) => !(control.labels?.length > 0))
      .map((control) => control.id),
  );
  assert.deepEqual(unnamed, []);
  await page.evaluate(() => document.activeElement?.blur());
  const reached = new Set();
  for (let count = 0; count < 30; count++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.id));
  }
  for (const id of ["keys", "format", "rate", "start", "download", "file", "key", "kind", "password", "digest"]) {
    assert.ok(reached.has(id), `Tab does not reach ${id}`);
  }
});

test("reads the same keys as the command", async () => {
  await page.getByLabel("Each line is").selectOption("text");
  await upload("keys", "marked.txt", "\ufeffada\n\ngrace\r\nedsger");
  await page.getByRole("button", { name: "Build" }).click();
  await page.locator("#summary", { hasText: "marked.ribbon: 4 keys" }).waitFor();
});

test("the focus follows a build", async () => {
  const focused = () => page.evaluate(() => document.activeElement.id);
  const keys = Array.from({ length: 1_000_000 }, (_, index) => index).join("\n");
  await upload("keys", "many.txt", keys);
  await page.getByRole("button", { name: "Build" }).press("Enter");
  assert.equal(await focused(), "cancel");
  await page.keyboard.press("Enter");
  await page.locator("#error[role=alert]").filter({ hasText: "cancelled" }).waitFor();
  assert.equal(await focused(), "start");
});

test("says that its worker cannot be loaded", async () => {
  const other = await browser.newPage();
  await other.route("**/worker.js", (route) => route.abort());
  await other.goto(page.url());
  await other.locator("#error[role=alert]").filter({ hasText: "worker could not be started" }).waitFor();
  await other.setInputFiles("#keys", { name: "x.txt", mimeType: "text/plain", buffer: Buffer.from("ada") });
  await other.getByRole("button", { name: "Build" }).click();
  await other.locator("#working[hidden]").waitFor({ state: "attached" });
  await other.close();
});

test("the inline entry point works under the same policy", async () => {
  const found = await page.evaluate(async (bytes) => {
    const { Filter } = await import("/ribbonfilter/inline.js");
    return (await Filter.load(new Uint8Array(bytes))).size;
  }, [...readFileSync(new URL("v1-standard-64.ribbon", GOLDEN))]);
  assert.equal(found, 1000);
});

test("nothing was blocked, and no script failed", () => {
  assert.deepEqual(problems, []);
});
