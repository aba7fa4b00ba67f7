// Compares queries and builds with other filters for JavaScript, in one process:
// `node bench/compare.mjs [keys]`. Run scripts/build-js first.
//
// Everything is measured in turn, round after round, over keys of which half are in the set. A time is the
// best of all rounds, in nanoseconds per key; a ratio is the median of those of the rounds. NATIVE names the
// example `native` of this crate, compiled, which measures the library's batch in Rust with the portable
// kernel (`cargo build --release -p ribbonfilter-js --example native`).

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Filter } from "ribbonfilter/build";
import { Filter as Querying } from "ribbonfilter";

const require = createRequire(import.meta.url);
const { BloomFilter: SlowBloom } = require("bloom-filters");
const { BloomFilter } = await import("bloomfilter");

const count = Number(process.argv[2] ?? 1e6);
const RATE = 0.01;
const ROUNDS = 11;

const keys = Array.from({ length: count }, (_, index) => `user-${(index * 7919) % (2 * count)}@example.org`);
const queried = Array.from({ length: count }, (_, index) => `user-${(index * 104_729) % (4 * count)}@example.org`);

/** The time of a call, per key. */
function time(run) {
  const began = performance.now();
  run();
  return ((performance.now() - began) * 1e6) / count;
}

/** The best of as many calls as `native` makes. */
function best(run) {
  return Math.min(...Array.from({ length: 5 }, () => time(run)));
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

await Filter.build(["warm"]);
await Querying.load((await Filter.build(["warm"])).bytes);

let began = performance.now();
const ribbon = await Filter.build(keys, { falsePositiveRate: RATE });
console.log(`build from strings: ${(performance.now() - began).toFixed(0)} ms, ${ribbon.bitsPerKey.toFixed(2)} bits per key`);
let shortest = Infinity;
for (let round = 0; round < 5; round++) {
  began = performance.now();
  (await Filter.build(keys, { falsePositiveRate: RATE })).dispose();
  shortest = Math.min(shortest, performance.now() - began);
}
console.log(`build from strings, best of 5: ${shortest.toFixed(0)} ms`);

const bloom = new BloomFilter(Math.ceil((count * Math.log2(1 / RATE)) / Math.LN2), Math.round(Math.log2(1 / RATE)));
keys.forEach((key) => bloom.add(key));
const slow = SlowBloom.create(count, RATE);
keys.slice(0, count).forEach((key) => slow.add(key));

const querying = await Querying.load(ribbon.bytes);
const hashes = querying.keyHashes(queried);
const measured = {
  bloomfilter: () => time(() => queried.forEach((key) => bloom.test(key))),
  has: () => time(() => queried.forEach((key) => querying.has(key))),
  hasMany: () => time(() => querying.hasMany(queried)),
  hasHashes: () => best(() => querying.hasHashes(hashes)),
  "hasHashes, ribbonfilter/build": () => best(() => ribbon.hasHashes(hashes)),
};
const directory = mkdtempSync(join(tmpdir(), "ribbonfilter-"));
if (process.env.NATIVE) {
  const files = ["filter", "hashes"].map((name) => join(directory, name));
  writeFileSync(files[0], ribbon.bytes);
  writeFileSync(files[1], hashes);
  measured.native = () => Number(execFileSync(process.env.NATIVE, files));
}
const times = Object.fromEntries(Object.keys(measured).map((name) => [name, []]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, measure] of Object.entries(measured)) {
    times[name].push(measure());
  }
}
rmSync(directory, { recursive: true });
times["bloom-filters"] = [time(() => queried.forEach((key) => slow.has(key)))];

for (const [name, values] of Object.entries(times)) {
  console.log(`${name.padEnd(44)} ${Math.min(...values).toFixed(1).padStart(8)} ns per key`);
}

/** The ratio of two times, round by round. */
function compare(name, other) {
  if (times[other]) {
    const ratios = times[name].map((value, round) => value / (times[other][round] ?? times[other][0]));
    const [low, high] = [Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(3));
    console.log(`${`${name} / ${other}`.padEnd(44)} ${median(ratios).toFixed(3).padStart(8)} (${low} to ${high})`);
  }
}
compare("hasMany", "bloomfilter");
compare("hasMany", "bloom-filters");
compare("has", "bloomfilter");
compare("hasHashes", "native");
compare("hasHashes, ribbonfilter/build", "native");
