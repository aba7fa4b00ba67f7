// Untrusted bytes: mutated golden files, most with valid checksums, are opened and queried. Nothing may
// happen but an error of this package or some result: no trap, no endless loop.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ExactSet, Filter, FormatError, Part, RibbonError, StaticFunction } from "ribbonfilter";
import { golden } from "./support.mjs";

const MUTATIONS = 100_000;
const FOOTER = 40;

/** The multipliers of the footer's checksum; see docs/format.md. */
const CHECK = [0x9159015a3070dd17n, 0x152fecd8f70e5939n, 0x67332667ffc00b31n, 0x8eb44a8768581511n, 0xdb0c2e0d64f98fa7n];
const WORD = (1n << 64n) - 1n;

function fold(a, b) {
  const product = a * b;
  return (product & WORD) ^ (product >> 64n);
}

/** Makes the footer valid in all that opening compares: magic number, version and checksum. */
function seal(bytes) {
  if (bytes.length < FOOTER) {
    return;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - FOOTER, FOOTER);
  view.setUint8(31, (view.getUint8(31) & 0xf0) | 1);
  view.setUint16(38, 0xbf52, true);
  const [a, b, c, d, e] = [0, 8, 16, 24, 32].map((at) => view.getBigUint64(at, true));
  const first = fold(a ^ CHECK[0], b ^ CHECK[1]);
  const second = fold(c ^ CHECK[2], d ^ CHECK[3]);
  const check = fold(first ^ second ^ (e & 0xffff0000ffffffffn), CHECK[4]);
  view.setUint16(36, Number(check & 0xffffn), true);
}

/** Random numbers that are the same in every run. */
function* random(seed) {
  let state = seed;
  while (true) {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value = (value + Math.imul(value ^ (value >>> 7), value | 61)) ^ value;
    yield (value ^ (value >>> 14)) >>> 0;
  }
}

/** Values that overflow, or nearly, in 32 bits or fewer. */
const EXTREME = [0, 1, 2, 0x7f, 0x80, 0xff];

function mutated(bytes, next) {
  let copy = bytes.slice();
  for (let count = 1 + (next() % 3); count > 0; count--) {
    const near = Math.min(copy.length, [FOOTER, FOOTER, 100, copy.length][next() % 4]);
    const at = copy.length - 1 - (next() % Math.max(near, 1));
    switch (next() % 5) {
      case 0:
        copy[at] ^= 1 << (next() % 8);
        break;
      case 1:
        copy[at] = next();
        break;
      case 2:
        copy.fill(EXTREME[next() % EXTREME.length], at, Math.min(at + 1 + (next() % 6), copy.length - 10));
        break;
      case 3: {
        // Bytes are missing, or there are more, before the footer.
        const end = Math.max(copy.length - FOOTER, 0);
        const cut = next() % (end + 1);
        const data = next() % 2 ? copy.slice(0, cut) : [...copy.slice(0, end), ...new Uint8Array(next() % 70)];
        copy = new Uint8Array([...data, ...copy.slice(end)]);
        break;
      }
      default:
        copy[copy.length - 1 - (next() % Math.min(FOOTER, copy.length))] ^= 1 << (next() % 8);
    }
  }
  if (next() % 8 > 0) {
    seal(copy);
  }
  return copy;
}

const CLASSES = [Filter, Part, ExactSet, StaticFunction];
const KEYS = [0, -1, "ada", 1n << 70n, ...Array.from({ length: 40 }, (_, index) => index * 7919)];

/** Runs every query. */
function queried(structure) {
  void [structure.size, structure.byteLength, structure.keySeed, structure.falsePositiveRate, structure.columns];
  if (structure instanceof StaticFunction) {
    structure.getManyBigInt(KEYS);
    structure.lookupBigInt("ada");
  } else {
    structure.hasMany(KEYS);
    structure.has("ada");
  }
  structure.coversMany?.(KEYS);
  structure.hasManyIn?.(7, KEYS);
  try {
    structure.verify();
  } catch (error) {
    assert.ok(error instanceof FormatError, error);
  }
}

/** Loads and queries. Returns whether the bytes could be loaded. */
async function tried(Class, bytes) {
  let structure;
  try {
    structure = await Class.load(bytes);
  } catch (error) {
    assert.ok(error instanceof RibbonError, error);
    return false;
  }
  queried(structure);
  structure.dispose();
  return true;
}

test("mutated files neither trap nor hang", async () => {
  const files = golden().filter(([, bytes]) => bytes.length < 12_000);
  const numbers = random(1);
  const next = () => numbers.next().value;
  let opened = 0;
  for (let round = 0; round < MUTATIONS; round++) {
    const [name, original] = files[next() % files.length];
    const bytes = mutated(original, next);
    const index = [/-part-/, /-exact-/, /-function-/].findIndex((kind) => kind.test(name)) + 1;
    try {
      opened += (await tried(CLASSES[next() % 16 ? index : next() % 4], bytes)) ? 1 : 0;
    } catch (error) {
      throw new Error(`mutation ${round} of ${name}`, { cause: error });
    }
  }
  console.log(`${opened} of ${MUTATIONS} mutated files could be opened`);
  assert.ok(opened > MUTATIONS / 5);
});

/** The footer of a Homogeneous filter. */
function footer({ width, segmentBits, segmentSlots, columns, boundary, keys = 1n << 40n }) {
  const bytes = new Uint8Array(FOOTER);
  const put = (at, size, value) => {
    for (let index = 0; index < size; index++) {
      bytes[at + index] = Number((BigInt(value) >> BigInt(8 * index)) & 0xffn);
    }
  };
  put(8, 6, keys);
  put(14, 4, segmentSlots);
  put(18, 5, boundary);
  put(26, 2, columns);
  bytes[28] = (1 << 2) | ([16, 32, 64, 128].indexOf(width) << 4);
  bytes[29] = segmentBits;
  return bytes;
}

function file(dataBytes, fields) {
  const bytes = new Uint8Array([...new Uint8Array(dataBytes).fill(0xa5), ...footer(fields)]);
  seal(bytes);
  return bytes;
}

test("slots beyond 2^32 that take no space", async () => {
  for (const width of [16, 32, 64, 128]) {
    const blockSlots = BigInt(Math.min(width, 64));
    for (const [segmentBits, segmentSlots] of [[0, 0xffff_ffc0], [7, 0xffff_ffc0], [13, 0xffff_ff00], [31, 64], [31, 1 << 14]]) {
      const blocks = (BigInt(segmentSlots) << BigInt(segmentBits)) / blockSlots;
      for (const stored of [1, 2, 3, 8, 100]) {
        const fields = { width, segmentBits, segmentSlots, columns: 1, boundary: blocks - BigInt(stored) };
        const bytes = file(stored * Number(blockSlots / 8n), fields);
        const isOpened = await tried(Filter, bytes);
        assert.equal(isOpened, blocks <= 1n << 40n, JSON.stringify({ width, segmentBits, segmentSlots, stored }));
        if (isOpened) {
          // Nearly all keys start in blocks without columns, which say yes to every key.
          const filter = await Filter.load(bytes);
          assert.ok(filter.hasMany(KEYS).every((hit) => hit === 1));
          filter.dispose();
        }
      }
    }
  }
});

test("lengths that are right only modulo 2^32", async () => {
  for (const [width, columns, more] of [[64, 32, 1], [128, 32, 3], [64, 16, 5], [16, 32, 7]]) {
    const blockBytes = (columns * Math.min(width, 64)) / 8;
    for (const multiple of [1, 2, 255]) {
      const blocks = (2 ** 32 / blockBytes) * multiple + more;
      const slots = blocks * Math.min(width, 64);
      const segmentBits = Math.max(0, Math.ceil(Math.log2(slots / 2 ** 32)));
      if (slots % (64 * 2 ** segmentBits) !== 0 && segmentBits > 0) {
        continue;
      }
      const fields = { width, segmentBits, segmentSlots: slots / 2 ** segmentBits, columns, boundary: 0 };
      await assert.rejects(Filter.load(file(more * blockBytes, fields)), /bytes but should have/);
    }
  }
});
