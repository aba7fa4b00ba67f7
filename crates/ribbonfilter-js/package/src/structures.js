// What can be loaded and queried: filters, parts of filters, exact sets, static functions.

import { bytesAt, checked } from "./engine.js";
import { RibbonError, lastError } from "./errors.js";
import { checkInteger, copyBatches, hashBatches, hashOf, indexed, isBuffer, writeKey } from "./keys.js";
import { Owner } from "./owner.js";

/** The key of the static property with the engine of a class. */
export const ENGINE = Symbol("engine");

/** Proves that a constructor is called by this package. */
export const INTERNAL = Symbol("internal");

/** The properties of a structure, by the numbers of `src/structure.rs`. */
const PROPERTY = {
  size: 0,
  rate: 1,
  columns: 2,
  width: 3,
  variant: 4,
  pieces: 5,
  number: 6,
  universe: 7,
  groups: 8,
  valueBits: 9,
  fingerprintBits: 10,
};

export const VARIANTS = ["standard", "homogeneous", "balanced", "bumped"];

/** The bytes of whatever `load` accepts. */
async function bytesOf(source) {
  const given = await source;
  if (ArrayBuffer.isView(given)) {
    return new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
  }
  if (isBuffer(given) || isShared(given)) {
    return new Uint8Array(given);
  }
  if (given instanceof URL) {
    return new Uint8Array(await bytesAt(given));
  }
  // A response or a blob. Their methods, not their classes: they may come from another realm.
  if (typeof given?.arrayBuffer === "function") {
    return new Uint8Array(await (typeof given.ok === "boolean" ? checked(given) : given).arrayBuffer());
  }
  const hint = typeof given === "string" ? ": for a path or an address, use new URL(text, import.meta.url)" : "";
  throw new TypeError(`load takes a Response, ArrayBuffer, Uint8Array, Blob or URL${hint}`);
}

function isShared(value) {
  return Object.prototype.toString.call(value) === "[object SharedArrayBuffer]";
}

/** Bytes in the memory of a module, and what all kinds of them have in common. */
export class Structure extends Owner {
  static FREE = "close";

  constructor(internal, engine, handle) {
    if (internal !== INTERNAL) {
      throw new TypeError(`there is no constructor: use ${new.target.name}.load`);
    }
    super(engine, handle);
  }

  static async load(source) {
    const [engine, bytes] = await Promise.all([this[ENGINE].start(), bytesOf(source)]);
    return new this(INTERNAL, engine, engine.open(bytes, this.KIND));
  }

  _spent() {
    return new RibbonError(`this ${this.constructor.name} was disposed of: load it again`);
  }

  _property(number) {
    return this._engine.exports.property(this._handle, number);
  }

  get size() {
    return this._property(PROPERTY.size);
  }

  get byteLength() {
    return this._engine.exports.byte_length(this._handle) >>> 0;
  }

  get bytes() {
    const { _engine: engine, byteLength } = this;
    return engine.view(Uint8Array, engine.exports.bytes(this._handle) >>> 0, byteLength).slice();
  }

  get keySeed() {
    return BigInt.asUintN(64, this._engine.exports.key_seed(this._handle));
  }

  /** The number of bits per key. */
  get bitsPerKey() {
    return (8 * this.byteLength) / this.size;
  }

  verify() {
    if (!this._engine.exports.verify(this._handle)) {
      throw lastError(this._engine);
    }
  }

  keyHash(key) {
    return hashOf(this._engine, this.keySeed, key);
  }

  keyHashes(keys) {
    const engine = this._engine;
    const all = indexed(keys);
    const hashes = new BigUint64Array(all.length);
    hashBatches(engine, this.keySeed, all, (first, count) => {
      hashes.set(engine.view(BigUint64Array, engine.hashes, count), first);
    });
    return hashes;
  }

  dispose() {
    this._free();
  }

  /** Queries one key. */
  _has(key) {
    const engine = this._engine;
    if (typeof key === "number") {
      checkInteger(key);
      return engine.exports.has_integer(this._handle, key) !== 0;
    }
    const length = writeKey(engine, key);
    return engine.exports.has_bytes(this._handle, engine.bytes, length) !== 0;
  }

  /** Queries the keys with a function of the module that writes a byte for each. */
  _bytesOfMany(keys, query) {
    const engine = this._engine;
    const all = indexed(keys);
    const results = new Uint8Array(all.length);
    hashBatches(engine, this.keySeed, all, byBatch(engine, results, query));
    return results;
  }

  /** As `_bytesOfMany`, for keys that are hashed already. */
  _bytesOfHashes(hashes, query) {
    const engine = this._engine;
    const results = new Uint8Array(hashes?.length ?? 0);
    copyBatches(engine, hashes, byBatch(engine, results, query));
    return results;
  }
}

/** Node, Deno and Bun have `using`; older engines have no symbol for it. */
const DISPOSE = Symbol.dispose ?? Symbol.for("Symbol.dispose");
Object.defineProperty(Structure.prototype, DISPOSE, {
  value() {
    this.dispose();
  },
});

/** Queries a batch and copies its results. */
function byBatch(engine, results, query) {
  return (first, count) => {
    query(engine.hashes, count, engine.results);
    results.set(engine.u8.subarray(engine.results, engine.results + count), first);
  };
}

/** `has` and its batches, for all structures that say yes or no. */
class Set extends Structure {
  has(key) {
    return this._has(key);
  }

  hasHash(hash) {
    return this.hasHashes(BigUint64Array.of(hash))[0] === 1;
  }

  hasMany(keys) {
    return this._bytesOfMany(keys, this.#query());
  }

  hasHashes(hashes) {
    return this._bytesOfHashes(hashes, this.#query());
  }

  #query() {
    const { exports } = this._engine;
    return (hashes, count, results) => exports.has_hashes(this._handle, hashes, count, results);
  }
}

/** What filters and their parts say of themselves. */
class Filtering extends Set {
  get falsePositiveRate() {
    return this._property(PROPERTY.rate);
  }

  get variant() {
    return VARIANTS[this._property(PROPERTY.variant)];
  }

  get width() {
    return this._property(PROPERTY.width);
  }
}

/** A set of keys in a few bits each, or a container of shards of one. */
export class Filter extends Filtering {
  static KIND = 0;

  get columns() {
    return this._property(PROPERTY.columns);
  }

  get shards() {
    return this._property(PROPERTY.pieces);
  }
}

/** A part of a filter that was cut. */
export class Part extends Filtering {
  static KIND = 1;

  get number() {
    return this._property(PROPERTY.number);
  }

  get parts() {
    return this._property(PROPERTY.pieces);
  }

  covers(key) {
    return this.coversMany([key])[0] === 1;
  }

  coversMany(keys) {
    const { exports } = this._engine;
    return this._bytesOfMany(keys, (...batch) => exports.covers_hashes(this._handle, ...batch));
  }
}

/** A set without false positives among the keys of its universe. */
export class ExactSet extends Set {
  static KIND = 2;

  get universeSize() {
    return this._property(PROPERTY.universe);
  }

  get groups() {
    return this._property(PROPERTY.groups);
  }

  hasIn(group, key) {
    const results = this.hasManyIn(group, [key]);
    return results && results[0] === 1;
  }

  hasManyIn(group, keys) {
    const { exports } = this._engine;
    const groupHash = this.keyHash(group);
    let isKnown = true;
    const results = this._bytesOfMany(keys, (...batch) => {
      isKnown &&= exports.has_hashes_in(this._handle, groupHash, ...batch) !== 0;
    });
    if (results.length === 0) {
      // No batch looked for the group. Any key does, and one is at hand.
      isKnown = this.hasIn(group, group) !== undefined;
    }
    return isKnown ? results : undefined;
  }
}

/** The integers up to which numbers are exact. */
const NUMBER_BITS = 53;

/** A map from keys to integers that does not store the keys. */
export class StaticFunction extends Structure {
  static KIND = 3;

  get valueBits() {
    return this._property(PROPERTY.valueBits);
  }

  get fingerprintBits() {
    return this._property(PROPERTY.fingerprintBits);
  }

  get(key) {
    this.#checkNumber("getBigInt");
    return Number(this.getBigInt(key));
  }

  getBigInt(key) {
    return this.getManyBigInt([key])[0];
  }

  lookup(key) {
    this.#checkNumber("lookupBigInt");
    const value = this.lookupBigInt(key);
    return value === undefined ? undefined : Number(value);
  }

  lookupBigInt(key) {
    return this._has(key) ? this.getBigInt(key) : undefined;
  }

  getMany(keys) {
    this.#checkNumber("getManyBigInt");
    return Float64Array.from(this.getManyBigInt(keys), Number);
  }

  getManyBigInt(keys) {
    const engine = this._engine;
    const all = indexed(keys);
    const values = new BigUint64Array(all.length);
    hashBatches(engine, this.keySeed, all, (first, count) => {
      engine.exports.get_hashes(this._handle, engine.hashes, count, engine.results);
      values.set(engine.view(BigUint64Array, engine.results, count), first);
    });
    return values;
  }

  #checkNumber(instead) {
    if (this.valueBits > NUMBER_BITS) {
      throw new RangeError(`values of ${this.valueBits} bits do not fit into a number: use ${instead}`);
    }
  }
}

/** The same class, for an entry point with this engine. */
function withEngine(engine, Class) {
  return class extends Class {
    static [ENGINE] = engine;
    static name = Class.name;
  };
}

/** What an entry point exports: classes, by default those for queries, and functions. */
export function classesOf(engine, classes = { Filter, Part, ExactSet, StaticFunction }) {
  const entries = Object.entries(classes).map(([name, Class]) => [name, withEngine(engine, Class)]);
  return {
    ...Object.fromEntries(entries),
    /** Loads the module from a given place, before anything else is called. */
    async init(source) {
      await engine.start(source);
    },
    /** The hashes of keys under a seed. */
    async keyHash(key, keySeed = 0n) {
      return hashOf(await engine.start(), BigInt(keySeed), key);
    },
  };
}

