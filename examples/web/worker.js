// Builds, opens and queries filters, away from the page, which stays responsive.
//
// Every message of the page has a number, an action and its arguments; the answer has the same number and
// a result or an error. Reports of progress have no number.

import { Filter } from "./ribbonfilter/build.js";

/** The filter that is queried. */
let filter;

/** The fraction of the progress bar that reading the keys takes; the rest is the build. */
const READING = 0.6;

function report(step, fraction) {
  postMessage({ step, fraction });
}

/** The bytes of hexadecimal digits. */
function unhex(text) {
  if (!/^([0-9a-f]{2})+$/i.test(text)) {
    throw new Error(`“${text.slice(0, 50)}” is not a digest in hexadecimal digits: choose text instead`);
  }
  return Uint8Array.from(text.match(/../g), (digits) => parseInt(digits, 16));
}

/** The keys of some lines, as `ribbon build` reads them. Lists of digests may have a count after a colon. */
function keysOf(lines, format) {
  const keys = lines.map((line) => line.replace(/\r$/, ""));
  return format === "hex" ? keys.map((line) => unhex(line.split(":")[0].trim())) : keys;
}

/** Adds the lines of a file to a builder, as they are read. */
async function addLines(builder, file, format) {
  const reader = file.stream().getReader();
  // A mark at the beginning of the file is part of the first key, as in the command.
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let rest = "";
  let read = 0;
  for (;;) {
    const { done, value } = await reader.read();
    const lines = (rest + decoder.decode(value, { stream: !done })).split("\n");
    // What follows the last end of a line is no line if it is empty.
    rest = lines.pop();
    if (done && rest !== "") {
      lines.push(rest);
    }
    builder.addMany(keysOf(lines, format));
    if (done) {
      return;
    }
    read += value.length;
    report("Reading keys", (READING * read) / file.size);
  }
}

async function build({ file, format, rate }) {
  const onProgress = ({ phase, fraction }) => {
    report("Building the filter", READING + (1 - READING) * (phase === "solving" ? fraction : 0));
  };
  const builder = await Filter.builder({ falsePositiveRate: rate, onProgress });
  try {
    await addLines(builder, file, format);
    if (builder.size === 0) {
      throw new Error("the list has no keys: choose a file with one key per line");
    }
    const began = performance.now();
    const built = builder.finish();
    return { ...opened(built), bytes: built.bytes, milliseconds: performance.now() - began };
  } catch (error) {
    throw error instanceof TypeError ? new Error("the list is not text in UTF-8: choose a text file") : error;
  } finally {
    builder.discard();
  }
}

async function open({ file }) {
  const loaded = await Filter.load(file);
  try {
    loaded.verify();
  } catch (error) {
    loaded.dispose();
    throw error;
  }
  return opened(loaded);
}

/** Replaces the filter, and describes the new one. */
function opened(next) {
  filter?.dispose();
  filter = next;
  const { size, byteLength, falsePositiveRate } = next;
  return { size, byteLength, falsePositiveRate };
}

function query({ key, kind }) {
  switch (kind) {
    case "hex":
      return filter.has(unhex(key.trim()));
    case "integer":
      if (!/^\s*-?\d+\s*$/.test(key)) {
        throw new Error(`“${key.slice(0, 50)}” is not an integer`);
      }
      return filter.has(BigInt(key.trim()));
    default:
      return filter.has(key);
  }
}

const ACTIONS = { build, open, query };

addEventListener("message", async ({ data: { number, action, ...given } }) => {
  try {
    postMessage({ number, result: await ACTIONS[action](given) });
  } catch (error) {
    postMessage({ number, error: error.message });
  }
});
