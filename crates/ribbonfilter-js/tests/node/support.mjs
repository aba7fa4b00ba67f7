// What the tests share: the expected figures that the Rust test writes, and the golden files.

import { readFileSync, readdirSync } from "node:fs";

const EXPECTED = new URL("../expected.txt", import.meta.url);
export const GOLDEN = new URL("../../../ribbonfilter/tests/golden/", import.meta.url);

/** The lines of `expected.txt` that begin with a word, split into fields. */
export function expected(word) {
  const lines = readFileSync(EXPECTED, "utf8").trimEnd().split("\n");
  const found = lines.map((line) => line.split(" ")).filter(([first]) => first === word);
  if (found.length === 0) {
    throw new Error(`expected.txt has no line that begins with ${word}`);
  }
  return found.map(([, ...fields]) => fields);
}

/** The golden files, by name. */
export function golden() {
  return readdirSync(GOLDEN).map((name) => [name, new Uint8Array(readFileSync(new URL(name, GOLDEN)))]);
}

/** The bytes of a text in hexadecimal digits. */
export function unhex(text) {
  return Uint8Array.from(text.match(/../g) ?? [], (digits) => parseInt(digits, 16));
}

export function hex(hash) {
  return hash.toString(16).padStart(16, "0");
}

/** The integers from `begin` to before `end`. */
export function range(begin, end) {
  return Array.from({ length: end - begin }, (_, index) => begin + index);
}
