// The same hashes, results and bytes as the library in Rust.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as querying from "ribbonfilter";
import * as building from "ribbonfilter/build";
import * as inline from "ribbonfilter/inline";
import * as buildingInline from "ribbonfilter/build/inline";
import { expected, golden, hex, range, unhex } from "./support.mjs";

const { keyHash } = querying;
const digestOf = async ({ bytes }) => hex(await keyHash(bytes));

test("key hashes of text, one by one and in batches", async () => {
  const empty = await building.Filter.build([]);
  for (const [digits, seed, hash] of expected("text")) {
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(unhex(digits));
    assert.equal(hex(await keyHash(text, BigInt(seed))), hash, text);
    if (seed === "0") {
      assert.equal(hex(empty.keyHashes([text, "x", text])[2]), hash, text);
    }
  }
});

test("key hashes of bytes", async () => {
  for (const [digits = "", seed, hash] of expected("bytes")) {
    const bytes = unhex(digits);
    assert.equal(hex(await keyHash(bytes, BigInt(seed))), hash);
    assert.equal(hex(await keyHash(bytes.buffer, BigInt(seed))), hash);
    assert.equal(hex(await keyHash(Buffer.from(bytes), BigInt(seed))), hash);
  }
});

test("key hashes of integers: bigint, number, typed arrays", async () => {
  for (const [digits, seed, hash] of expected("integer")) {
    const key = BigInt(digits);
    assert.equal(hex(await keyHash(key, BigInt(seed))), hash, digits);
    const filter = await building.Filter.build([], { keySeed: BigInt(seed) });
    if (Number.isSafeInteger(Number(key))) {
      assert.equal(hex(await keyHash(Number(key), BigInt(seed))), hash, digits);
      assert.equal(hex(filter.keyHashes([Number(key)])[0]), hash, digits);
    }
    for (const Type of [Int8Array, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array]) {
      const isBig = Type === BigInt64Array || Type === BigUint64Array;
      const array = Type.of(isBig ? key : Number(key));
      if (BigInt(array[0]) === key) {
        assert.equal(hex(filter.keyHashes(array)[0]), hash, `${digits} in ${Type.name}`);
      }
    }
    filter.dispose();
  }
});

test("golden files of every kind, in every entry point", async () => {
  const files = new Map(golden());
  const wanted = expected("golden");
  assert.equal(wanted.length, files.size);
  for (const { Filter, Part, ExactSet, StaticFunction } of [querying, building, inline, buildingInline]) {
    for (const [name, digest] of wanted) {
      assert.equal(hex(await keyHash(await resultsOf(name, files.get(name)))), digest, name);
    }

    async function resultsOf(name, bytes) {
      const keys = range(0, 2000);
      const Class = name.includes("-part-")
        ? Part
        : name.includes("-exact-")
          ? ExactSet
          : name.includes("-function-")
            ? StaticFunction
            : Filter;
      const structure = await Class.load(bytes);
      structure.verify();
      assert.deepEqual(structure.bytes, bytes);
      assert.equal(structure.byteLength, bytes.length);
      if (structure instanceof StaticFunction) {
        const view = new DataView(new ArrayBuffer(9 * keys.length));
        structure.getManyBigInt(keys).forEach((value, key) => {
          view.setBigUint64(9 * key, value, true);
          view.setUint8(9 * key + 8, structure.lookupBigInt(key) === undefined ? 0 : 1);
        });
        return new Uint8Array(view.buffer);
      }
      const results = structure.hasMany(keys);
      keys.forEach((key) => assert.equal(structure.has(key), results[key] === 1));
      assert.deepEqual(structure.hasHashes(structure.keyHashes(keys)), results);
      if (structure instanceof Part) {
        structure.coversMany(keys).forEach((covers, key) => (results[key] += 2 * covers));
      }
      if (structure instanceof ExactSet) {
        const inGroup = new Map([[true, 2], [false, 4], [undefined, 6]]);
        keys.forEach((key) => (results[key] += inGroup.get(structure.hasIn(key % 50, key))));
      }
      return results;
    }
  }
});


test("Balanced ribbons built by Rust are queried, and builds say what to do instead", async () => {
  const refused = (error) => {
    assert.ok(error instanceof building.BuildError && error instanceof building.RibbonError);
    assert.match(error.message, /Balanced ribbon cannot be built in WebAssembly, only queried: use Bumped, or build it elsewhere/);
    return true;
  };
  const balanced = golden().filter(([name]) => name.startsWith("v1-balanced-"));
  assert.ok(balanced.length >= 4);
  for (const entry of [building, buildingInline]) {
    await assert.rejects(entry.Filter.build(["ada"], { variant: "balanced" }), refused);
    await assert.rejects(entry.StaticFunction.build({ ada: 36 }, { variant: "balanced" }), refused);
    await assert.rejects(async () => (await entry.Filter.builder({ variant: "balanced" })).add("ada").finish(), refused);
    for (const [name, bytes] of balanced) {
      const filter = await entry.Filter.load(bytes);
      assert.equal(filter.variant, "balanced", name);
      assert.ok(filter.hasMany(range(0, filter.size).map((key) => `golden key ${key}`)).every((hit) => hit === 1), name);
      const absent = filter.hasMany(range(1e9, 1e9 + 20_000)).reduce((sum, hit) => sum + hit, 0);
      assert.ok(absent < 2 * 20_000 * filter.falsePositiveRate + 50, name);
      filter.dispose();
    }
    // The module is as usable as before.
    assert.ok((await entry.Filter.build(["ada"])).has("ada"));
  }
});

test("filters have the same bytes", async () => {
  for (const [keys, variant, width, columns, digest] of expected("filter")) {
    const options = { variant, width: Number(width), columns: Number(columns), keySeed: BigInt(keys) };
    if (variant === "balanced") {
      const refused = { name: "BuildError", message: /Balanced ribbon cannot be built in WebAssembly, only queried: use Bumped/ };
      await assert.rejects(building.Filter.build(range(0, Number(keys)), options), refused);
      await assert.rejects(building.StaticFunction.build({ ada: 36 }, { variant }), refused);
      continue;
    }
    const filter = await building.Filter.build(range(0, Number(keys)), options);
    assert.equal(await digestOf(filter), digest, `${keys} ${variant} ${width} ${columns}`);
    assert.equal(filter.size, Number(keys));
    assert.equal(filter.variant, variant);
    filter.dispose();
  }
  for (const [keys, effort, digest] of expected("strings")) {
    const names = range(0, Number(keys)).map((key) => `key ${key}`);
    const filter = await building.Filter.build(names, { falsePositiveRate: 0.003, effort });
    assert.equal(await digestOf(filter), digest, `${keys} ${effort}`);
    assert.ok(filter.hasMany(names).every((hit) => hit === 1));
    filter.dispose();
  }
});

test("static functions have the same bytes", async () => {
  for (const [keys, valueBits, fingerprintBits, digest] of expected("function")) {
    const bits = Number(valueBits);
    const hashes = await Promise.all(range(0, Number(keys)).map((key) => keyHash(key, 3n)));
    const entries = hashes.map((hash, key) => [key, hash >> BigInt(64 - bits)]);
    const options = { valueBits: bits, fingerprintBits: Number(fingerprintBits) };
    const built = await building.StaticFunction.build(entries, options);
    assert.equal(await digestOf(built), digest, `${keys} ${valueBits} ${fingerprintBits}`);
    entries.forEach(([key, value]) => assert.equal(built.lookupBigInt(key), value));
  }
});

test("exact sets have the same bytes", async () => {
  for (const [members, others, digest] of expected("exact")) {
    const [begin, end] = [Number(members), Number(members) + Number(others)];
    const set = await building.ExactSet.build(range(0, begin), range(begin, end));
    assert.equal(await digestOf(set), digest, `${members} ${others}`);
    assert.equal(set.universeSize, end);
    assert.deepEqual(set.hasMany(range(0, end)), Uint8Array.from(range(0, end), (key) => (key < begin ? 1 : 0)));
  }
  const [[count, digest]] = expected("groups");
  const groups = range(0, Number(count)).map((group) => ({
    group,
    members: range(0, 10 * group),
    others: range(10 * group, 1000),
  }));
  const set = await building.ExactSet.buildGroups(groups);
  assert.equal(await digestOf(set), digest);
  assert.equal(set.hasIn(7, 69), true);
  assert.equal(set.hasIn(7, 70), false);
  assert.equal(set.hasIn(40, 7), undefined);
  assert.equal(set.hasManyIn("nobody", [1, 2]), undefined);
  assert.equal(set.hasManyIn("nobody", []), undefined);
  assert.deepEqual(set.hasManyIn(7, []), new Uint8Array());
});
