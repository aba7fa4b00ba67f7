// The package: what it loads, frees and refuses.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import { ExactSet, Filter, FormatError, KeyError, Part, RibbonError, StaticFunction, init, keyHash } from "ribbonfilter";
import * as building from "ribbonfilter/build";
import { GOLDEN, range } from "./support.mjs";

const NAMES = ["ada", "grace", "edsger"];
const { BuildError, MemoryError } = building;

async function names(options) {
  return building.Filter.build(NAMES, options);
}

test("loads from everything that has bytes", async () => {
  const { bytes } = await names();
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  const sources = {
    Uint8Array: bytes,
    ArrayBuffer: bytes.buffer,
    DataView: new DataView(bytes.buffer),
    SharedArrayBuffer: shared.buffer,
    Blob: new Blob([bytes]),
    Response: new Response(bytes),
    "promise of a response": Promise.resolve(new Response(bytes)),
    "a part of a buffer": new Uint8Array([0, ...bytes, 0]).subarray(1, -1),
  };
  for (const [what, source] of Object.entries(sources)) {
    const filter = await Filter.load(source);
    assert.ok(filter.has("ada") && filter.size === 3, what);
  }
  const file = await Filter.load(new URL("v1-bumped-64.ribbon", GOLDEN));
  assert.equal(file.size, 5000);
});

test("loads from a server, and refuses its error page", async (context) => {
  const { bytes } = await names();
  const server = createServer((request, response) => {
    response.statusCode = request.url === "/names.ribbon" ? 200 : 404;
    response.end(request.url === "/names.ribbon" ? bytes : "<html>");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.after(() => server.close());
  const base = `http://127.0.0.1:${server.address().port}`;
  assert.ok((await Filter.load(fetch(`${base}/names.ribbon`))).has("grace"));
  assert.ok((await Filter.load(new URL("/names.ribbon", base))).has("grace"));
  await assert.rejects(Filter.load(fetch(`${base}/other`)), /404/);
  await assert.rejects(Filter.load(new URL("/other", base)), /404/);
});

test("init loads a module that is compiled already, once", async () => {
  const bytes = readFileSync(new URL("../../package/ribbonfilter.wasm", import.meta.url));
  await init(await WebAssembly.compile(bytes));
  assert.equal(await keyHash("ada"), 0x691d_4463_952c_802fn);
});

test("what a filter says of itself", async () => {
  const filter = await building.Filter.build(range(0, 10_000), { falsePositiveRate: 0.001, keySeed: 7 });
  assert.equal(filter.size, 10_000);
  assert.ok(filter.falsePositiveRate <= 0.001 && filter.falsePositiveRate > 0.0008);
  assert.equal(filter.byteLength, filter.bytes.length);
  assert.ok(filter.bitsPerKey < 10.2);
  assert.equal(filter.keySeed, 7n);
  assert.ok(VARIANTS.includes(filter.variant) && [64, 128].includes(filter.width));
  assert.ok(filter.columns > 9 && filter.columns <= 10);
  assert.equal(filter.shards, 1);
  assert.equal(filter.verify(), undefined);
  assert.ok(filter.hasHash(filter.keyHash(7)));
  assert.equal(filter.constructor.name, "Filter");
  const absent = filter.hasMany(range(10_000, 210_000)).reduce((sum, hit) => sum + hit, 0);
  assert.ok(absent > 120 && absent < 290, `${absent} of 200000`);
});

const VARIANTS = ["standard", "homogeneous", "balanced", "bumped"];

test("every way to pass several keys", async () => {
  const filter = await names();
  const all = [1, 1, 1, 0];
  const keys = [...NAMES, "nobody"];
  for (const several of [keys, new Set(keys), keys.values(), keys.map((key) => new TextEncoder().encode(key))]) {
    assert.deepEqual([...filter.hasMany(several)], all);
  }
  const many = [...NAMES, "x".repeat(300_000), ...range(0, 9000).map((key) => `${"y".repeat(key % 200)}${key}`)];
  const large = await building.Filter.build(many);
  assert.ok(large.hasMany(many).every((hit) => hit === 1));
  assert.ok(many.every((key) => large.has(key)));
  assert.equal(filter.hasMany([]).length, 0);
  async function* later() {
    yield* NAMES;
  }
  assert.deepEqual((await building.Filter.build(later())).bytes, filter.bytes);
});

test("a builder takes keys bit by bit", async () => {
  const builder = await building.Filter.builder({ columns: 9 });
  for (const name of NAMES) {
    builder.addMany([name]);
  }
  const other = await names({ columns: 9 });
  assert.equal(builder.size, 3);
  assert.equal(builder.plan().byteLength, other.byteLength);
  assert.deepEqual(builder.finish().bytes, other.bytes);
  assert.throws(() => builder.finish(), BuildError);
  const hashed = await building.Filter.builder({ columns: 9 });
  hashed.addHashes(other.keyHashes(NAMES));
  assert.deepEqual(hashed.finish().bytes, other.bytes);
});

test("progress, and stopping a build", async () => {
  const keys = new Uint32Array(300_000).map((_, index) => index);
  const seen = [];
  const onProgress = ({ phase, fraction }) => seen.push([phase, fraction]);
  const filter = await building.Filter.build(keys, { onProgress });
  assert.equal(filter.size, keys.length);
  assert.ok(seen.some(([phase]) => phase === "solving"));
  assert.ok(seen.every(([, fraction]) => fraction >= 0 && fraction <= 1));
  const failure = new Error("enough");
  const thrower = () => {
    throw failure;
  };
  await assert.rejects(building.Filter.build(keys, { onProgress: thrower }), failure);
  await assert.rejects(building.Filter.build(keys, { signal: AbortSignal.abort() }), { name: "AbortError" });
  assert.ok((await building.Filter.build(keys)).has(299_999));
});

test("static functions", async () => {
  const ages = await building.StaticFunction.build({ ada: 36, grace: 85 }, { fingerprintBits: 20 });
  assert.equal(ages.valueBits, 7);
  assert.equal(ages.get("ada"), 36);
  assert.equal(ages.lookup("grace"), 85);
  assert.equal(ages.lookup("alan"), undefined);
  assert.deepEqual([...ages.getMany(["grace", "ada"])], [85, 36]);
  const loaded = await StaticFunction.load(ages.bytes);
  assert.equal(loaded.lookupBigInt("ada"), 36n);
  const wide = await building.StaticFunction.build(new Map([[1, (1n << 64n) - 1n]]));
  assert.equal(wide.getBigInt(1), (1n << 64n) - 1n);
  assert.throws(() => wide.get(1), /getBigInt/);
  await assert.rejects(building.StaticFunction.build([["ada", 1], ["ada", 2]]), BuildError);
  await assert.rejects(building.StaticFunction.build([["ada", -1]]), BuildError);
  await assert.rejects(building.StaticFunction.build([["ada", 300]], { valueBits: 8 }), /300.*8 bits/);
});

test("static functions of objects, and their bits", async () => {
  const ages = Object.assign(Object.create(null), { ada: 36 });
  assert.equal((await building.StaticFunction.build(ages)).get("ada"), 36);
  for (const options of [
    { fingerprintBits: "8" },
    { fingerprintBits: 2 ** 32 },
    { fingerprintBits: 2.5 },
    { valueBits: 8.9 },
    { valueBits: 0 },
    { maxMemory: NaN },
    { maxMemory: -5 },
  ]) {
    await assert.rejects(building.StaticFunction.build(ages, options), BuildError, JSON.stringify(options));
  }
});

test("a key on both sides of an exact set", async () => {
  await assert.rejects(building.ExactSet.build([1, 2], [2, 3]), /key_seed|both|members/);
});

test("what is not a key is refused, with the reason", async () => {
  const filter = await names();
  const refused = [undefined, null, true, {}, [], 1.5, NaN, 2 ** 53, Symbol.iterator, new Date(0), 1n << 128n, -(1n << 127n) - 1n];
  for (const key of refused) {
    assert.throws(() => filter.has(key), KeyError, String(key));
    assert.throws(() => filter.hasMany(["ada", key]), KeyError, String(key));
    await assert.rejects(building.Filter.build([key]), KeyError, String(key));
  }
  const surrogates = ["\ud800", "\udc00", "a\ud83c", "\ud83cb", "\udf80\ud83c", `${"x".repeat(1000)}\ud800`, `é${"x".repeat(1000)}\udfff`];
  for (const text of surrogates) {
    assert.throws(() => filter.has(text), /lone surrogate/);
    assert.throws(() => filter.hasMany([text]), /lone surrogate/);
  }
  for (const one of ["ada", new Uint8Array(3), new ArrayBuffer(3), 7, undefined]) {
    assert.throws(() => filter.hasMany(one), KeyError);
  }
  assert.throws(() => filter.hasHashes([1n]), KeyError);
  // The filter is as usable as before.
  assert.ok(filter.has("ada"));
});

test("keys and files of another realm", async () => {
  const realm = runInNewContext("({ Uint8Array, Uint16Array, BigUint64Array, ArrayBuffer, Array })");
  const ada = realm.Uint8Array.from([97, 100, 97]);
  const filter = await building.Filter.build(realm.Array.of(ada, "grace", "edsger"));
  assert.deepEqual(filter.bytes, (await names()).bytes);
  assert.ok(filter.has(ada) && filter.has(ada.buffer));
  assert.throws(() => filter.hasMany(ada), KeyError);
  await assert.rejects(building.Filter.build(ada), KeyError);
  assert.ok((await Filter.load(realm.Uint8Array.from(filter.bytes))).has("ada"));
  assert.ok((await Filter.load(realm.Uint8Array.from(filter.bytes).buffer)).has("ada"));
  const integers = realm.Uint16Array.of(7, 65535);
  const numbers = await building.Filter.build(integers);
  assert.deepEqual([...numbers.hasMany([7, 65535])], [1, 1]);
  const hashes = realm.BigUint64Array.from(numbers.keyHashes(integers));
  assert.deepEqual([...numbers.hasHashes(hashes)], [1, 1]);
});

test("arrays that were transferred are not taken for empty ones", async () => {
  const filter = await names();
  const builder = await building.Filter.builder();
  for (const array of [Int32Array.of(1, 2), BigUint64Array.of(1n), Uint8Array.of(1)]) {
    structuredClone(array.buffer, { transfer: [array.buffer] });
    assert.throws(() => filter.hasMany(array.BYTES_PER_ELEMENT === 1 ? [array] : array), KeyError);
    assert.throws(() => builder.addHashes(array), KeyError);
  }
  const buffer = new ArrayBuffer(8);
  structuredClone(buffer, { transfer: [buffer] });
  assert.throws(() => filter.has(buffer), KeyError);
  assert.deepEqual([...filter.hasMany(new Int32Array())], []);
  builder.discard();
});

test("elements may run code that uses the same module", async () => {
  const filter = await names();
  const meanwhile = { get: () => (filter.hasMany(["q", "r"]), filter.has("y".repeat(1e6)), "grace") };
  for (const last of ["edsger", 7n]) {
    const keys = Object.defineProperty(["ada", "", last], 1, meanwhile);
    assert.deepEqual([...filter.hasMany(keys).slice(0, 2)], [1, 1]);
    assert.deepEqual([...filter.keyHashes(keys).slice(0, 2)], NAMES.slice(0, 2).map((key) => filter.keyHash(key)));
  }
  const other = await names();
  const disposing = Object.defineProperty([""], 0, { get: () => (other.dispose(), "ada") });
  assert.throws(() => other.hasMany(disposing), RibbonError);
  assert.ok(filter.has("ada"));
});

test("a build within the progress of another", async () => {
  const phases = [[], []];
  const inner = await building.Filter.builder({ onProgress: ({ phase }) => phases[1].push(phase) });
  inner.addMany(NAMES);
  let built;
  const onProgress = ({ phase }) => {
    phases[0].push(phase);
    built ??= inner.finish();
  };
  const alone = [];
  await names({ onProgress: ({ phase }) => alone.push(phase) });
  const outer = await names({ onProgress });
  assert.deepEqual(phases, [alone, alone]);
  assert.deepEqual(outer.bytes, built.bytes);
});

test("invalid options are refused, with the reason", async () => {
  const refused = [
    [{ falsePositiveRate: 0 }, /between 0 and 1/],
    [{ falsePositiveRate: 2 }, /between 0 and 1/],
    [{ falsePositiveRate: NaN }, /between 0 and 1/],
    [{ falsePositiveRate: "0.01" }, /must be a number/],
    [{ fpr: 0.01 }, /no option fpr/],
    [{ bitsPerKey: 8, columns: 8 }, /exclude each other/],
    [{ columns: 99 }, /columns/],
    [{ variant: "Bumped" }, /variant must be one of/],
    [{ width: 8 }, /width must be one of/],
    [{ keySeed: -1 }, /keySeed/],
    [{ keySeed: 1.5 }, /keySeed/],
    [{ overhead: -1 }, /overhead/],
  ];
  for (const [options, message] of refused) {
    await assert.rejects(names(options), (error) => error instanceof BuildError && message.test(error.message), JSON.stringify(options));
  }
});

test("bytes that are no filter are refused, with the reason", async () => {
  const { bytes } = await names();
  const corrupt = bytes.slice();
  corrupt[0] ^= 1;
  const footer = bytes.slice();
  footer[footer.length - 20] ^= 1;
  await assert.rejects(Filter.load(new Uint8Array()), FormatError);
  await assert.rejects(Filter.load(new TextEncoder().encode("<html>".repeat(20))), FormatError);
  await assert.rejects(Filter.load(bytes.subarray(1)), /truncated/);
  await assert.rejects(Filter.load(bytes.subarray(0, -1)), FormatError);
  await assert.rejects(Filter.load(footer), FormatError);
  await assert.rejects(ExactSet.load(bytes), /a filter, not an exact set: load it with Filter.load/);
  await assert.rejects(Part.load(bytes), /Filter.load/);
  const damaged = await Filter.load(corrupt);
  assert.throws(() => damaged.verify(), FormatError);
  await assert.rejects(Filter.load("names.ribbon"), /new URL/);
  await assert.rejects(Filter.load(7), TypeError);
  assert.throws(() => new Filter(), TypeError);
});

test("a filter that was disposed of", async () => {
  const filter = await names();
  filter.dispose();
  filter.dispose();
  for (const use of [(f) => f.has("ada"), (f) => f.hasMany(["ada"]), (f) => f.size, (f) => f.bytes, (f) => f.verify()]) {
    assert.throws(() => use(filter), (error) => error instanceof RibbonError && /disposed/.test(error.message));
  }
  const again = await names();
  again[Symbol.dispose ?? Symbol.for("Symbol.dispose")]();
  assert.throws(() => again.has("ada"), RibbonError);
});

/** 60 MB a hundred times are more than there is, unless memory is used again. */
test("memory of disposed and of forgotten filters is used again", async () => {
  const large = new Uint8Array(60e6);
  for (let round = 0; round < 100; round++) {
    await assert.rejects(Filter.load(large), FormatError);
  }
  const keys = new Uint32Array(300_000).map((_, index) => index);
  const { bytes } = await building.Filter.build(keys, { columns: 32, variant: "homogeneous", overhead: 49 });
  assert.ok(bytes.length > 50e6);
  for (let round = 0; round < 100; round++) {
    (await Filter.load(bytes)).dispose();
  }
  assert.ok(globalThis.gc, "run with --expose-gc");
  for (let round = 0; round < 100; round++) {
    assert.ok((await Filter.load(bytes)).has(7));
    if (round % 5 === 4) {
      globalThis.gc();
      await setTimeout(1);
    }
  }
});

test("more memory than there is gives an error, and nothing else breaks", async () => {
  const filter = await names();
  const keys = new Uint32Array(2_000_000).map((_, index) => index);
  // 200 million slots of 32 bits are 800 MB, of 64 bits twice that and with the build's own memory more
  // than 4 GiB.
  const options = { columns: 32, variant: "homogeneous" };
  await assert.rejects(building.Filter.build(keys, { ...options, overhead: 500 }), BuildError);
  await assert.rejects(building.Filter.build(keys, { maxMemory: 1e6 }), BuildError);
  const builder = await building.Filter.builder({ ...options, overhead: 99 });
  for (let round = 0; round < 8; round++) {
    builder.addMany(keys.map((key) => key + round * keys.length));
  }
  assert.ok(builder.plan().byteLength > 2 ** 32);
  assert.throws(() => builder.finish(), MemoryError);
  // The pages of this buffer are not touched, so it takes no memory.
  await assert.rejects(Filter.load(new ArrayBuffer(2 ** 32)), MemoryError);
  assert.ok(filter.has("ada"));
  assert.ok((await names()).has("ada"));
});
