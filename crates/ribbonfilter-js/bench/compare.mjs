// Compares queries and builds with other filters for JavaScript, in one process:
// `node bench/compare.mjs [keys]`. Run scripts/build-js first.
//
// Each time is the best of several rounds, in nanoseconds per key, over keys of which half are in the
// set. NATIVE_NS is the time of the library's batch in Rust with the portable kernel, if it is measured in
// the same session.

import { createRequire } from "node:module";
import { Filter } from "ribbonfilter/build";
import { Filter as Querying } from "ribbonfilter";

const require = createRequire(import.meta.url);
const { BloomFilter: SlowBloom } = require("bloom-filters");
const { BloomFilter } = await import("bloomfilter");

const count = Number(process.argv[2] ?? 1e6);
const RATE = 0.01;

const keys = Array.from({ length: count }, (_, index) => `user-${(index * 7919) % (2 * count)}@example.org`);
const queried = Array.from({ length: count }, (_, index) => `user-${(index * 104_729) % (4 * count)}@example.org`);

/** The best time of several rounds, per key. */
function best(rounds, run) {
  let best = Infinity;
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    run();
    best = Math.min(best, performance.now() - began);
  }
  return (best * 1e6) / count;
}

function show(name, nanoseconds, of) {
  const ratio = of ? `  ${(nanoseconds / of).toFixed(3)} of the other's` : "";
  console.log(`${name.padEnd(44)} ${nanoseconds.toFixed(1).padStart(8)} ns per key${ratio}`);
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
const many = best(7, () => querying.hasMany(queried));
const one = best(5, () => queried.forEach((key) => querying.has(key)));
const hashes = querying.keyHashes(queried);
const hashed = best(15, () => querying.hasHashes(hashes));
const building = best(15, () => ribbon.hasHashes(hashes));
const blooms = best(5, () => queried.forEach((key) => bloom.test(key)));
const slows = best(1, () => queried.forEach((key) => slow.has(key)));

show("bloomfilter", blooms);
show("bloom-filters", slows);
show("has", one);
show("hasMany, to bloomfilter", many, blooms);
show("hasMany, to bloom-filters", many, slows);
show("hasHashes", hashed);
show("hasHashes, ribbonfilter/build", building);
if (process.env.NATIVE_NS) {
  show("hasHashes, to Rust's batch, portable kernel", hashed, Number(process.env.NATIVE_NS));
}
