// Building: filters, exact sets and static functions.

import { CANCELLED, BuildError, lastError } from "./errors.js";
import { copyBatches, hashBatches, hashOf, indexed } from "./keys.js";
import { Owner } from "./owner.js";
import { ENGINE, ExactSet, Filter, INTERNAL, Part, StaticFunction, VARIANTS, classesOf } from "./structures.js";

const WIDTHS = [16, 32, 64, 128];
const EFFORTS = ["normal", "thorough"];
const PHASES = ["partitioning", "solving", "writing"];

/** The targets of a filter's size, by the numbers of `src/builder.rs`. */
const TARGETS = ["falsePositiveRate", "bitsPerKey", "totalBytes", "columns"];

const COMMON = ["effort", "keySeed", "maxMemory", "onProgress", "signal"];
const SHAPE = ["variant", "width", "overhead"];

/** Refuses options that do not exist: a misspelt one would be ignored silently. */
function checkNames(options, known) {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new BuildError(`there is no option ${unknown}: the options are ${known.join(", ")}`);
  }
}

/** The position of a value among those that an option may have, from 1; 0 if it is not given. */
function position(options, name, values) {
  const value = options[name];
  const found = value === undefined ? -1 : values.indexOf(value);
  if (value !== undefined && found < 0) {
    throw new BuildError(`${name} must be one of ${values.join(", ")}, but is ${String(value)}`);
  }
  return found + 1;
}

/** The number of an option. */
function number(options, name, missing) {
  const value = options[name] ?? missing;
  if (typeof value !== "number") {
    throw new BuildError(`${name} must be a number, but is a ${typeof value}`);
  }
  return value;
}

/** An option that is an integer from `least` to `most`. */
function integer(options, name, missing, least, most) {
  const value = number(options, name, missing);
  if (value !== missing && !(Number.isInteger(value) && value >= least && value <= most)) {
    throw new BuildError(`${name} must be an integer from ${least} to ${most}, but is ${value}`);
  }
  return value;
}

/** The limit of the memory in bytes; -1 if there is none. */
function memoryOf(options) {
  const limit = number(options, "maxMemory", -1);
  if (options.maxMemory !== undefined && !(limit >= 0)) {
    throw new BuildError(`maxMemory must be a number of bytes, but is ${limit}`);
  }
  return limit;
}

/** The target of the size, and its amount. */
function targetOf(options) {
  const given = TARGETS.filter((name) => options[name] !== undefined);
  if (given.length > 1) {
    throw new BuildError(`${given.join(" and ")} exclude each other: pass only one of them`);
  }
  return given.length === 0 ? [0, 0] : [TARGETS.indexOf(given[0]) + 1, number(options, given[0])];
}

function keySeedOf({ keySeed = 0n }) {
  let seed;
  try {
    seed = BigInt(keySeed);
  } catch {
    seed = -1n;
  }
  if (seed < 0n || seed >= 1n << 64n) {
    throw new BuildError(`keySeed must be an integer from 0 to 2^64 - 1, but is ${String(keySeed)}`);
  }
  return seed;
}

/** Collects hashes in the module, and builds. */
class Builder extends Owner {
  static FREE = "discard";

  #Class;
  #options;
  keySeed;

  constructor(engine, Class, options, bits = 0, fingerprintBits = 0) {
    const keySeed = keySeedOf(options);
    const [target, amount] = targetOf(options);
    const handle = engine.exports.builder(
      Class.KIND,
      target,
      amount,
      position(options, "variant", VARIANTS),
      position(options, "width", WIDTHS),
      position(options, "effort", EFFORTS) === 2 ? 1 : 0,
      number(options, "overhead", 0),
      keySeed,
      memoryOf(options),
      bits,
      fingerprintBits,
    );
    super(engine, handle);
    this.keySeed = keySeed;
    this.#Class = Class;
    this.#options = options;
  }

  _spent() {
    return new BuildError("this builder has already finished: create another one");
  }

  /** Hashes keys and passes each batch on. */
  hashed(keys, push) {
    hashBatches(this._engine, this.keySeed, keys, push);
  }

  /** Plans for a number of keys: size, rate, and the memory of the build. */
  plan(keys) {
    const figures = [0, 1, 2].map((figure) => this._engine.exports.plan(this._handle, keys, figure));
    if (figures.some(Number.isNaN)) {
      throw lastError(this._engine);
    }
    const [byteLength, falsePositiveRate, peakMemory] = figures;
    return { byteLength, falsePositiveRate, peakMemory };
  }

  /** Builds. The builder is spent, whatever happens. */
  finish() {
    const engine = this._engine;
    const { onProgress, signal } = this.#options;
    let thrown;
    // A callback may build something else meanwhile, and then this build goes on.
    const outer = engine.progress;
    engine.progress = (phase, fraction) => {
      // An exception must not pass through the module, which would not free its memory.
      try {
        signal?.throwIfAborted();
        onProgress?.({ phase: PHASES[phase], fraction });
        return false;
      } catch (error) {
        thrown = { error };
        return true;
      }
    };
    try {
      const built = engine.exports.finish(this._release());
      if (built === 0) {
        throw thrown && engine.exports.error_kind() === CANCELLED ? thrown.error : lastError(engine);
      }
      return new this.#Class(INTERNAL, engine, built);
    } finally {
      engine.progress = outer;
    }
  }

  discard() {
    this._free();
  }
}

/** Builds a filter from keys that arrive one after another. */
export class FilterBuilder {
  #builder;
  #size = 0;

  constructor(internal, builder) {
    if (internal !== INTERNAL) {
      throw new TypeError("there is no constructor: use Filter.builder");
    }
    this.#builder = builder;
  }

  get size() {
    return this.#size;
  }

  addMany(keys) {
    const all = indexed(keys);
    this.#builder.hashed(all, (_, count) => this.#push(count));
    return this;
  }

  addHashes(hashes) {
    copyBatches(this.#builder._engine, hashes, (_, count) => this.#push(count));
    return this;
  }

  #push(count) {
    const { _engine: engine, _handle: handle } = this.#builder;
    engine.exports.push_hashes(handle, engine.hashes, count, 0);
    this.#size += count;
  }

  plan(keys = this.#size) {
    return this.#builder.plan(keys);
  }

  finish() {
    return this.#builder.finish();
  }

  discard() {
    this.#builder.discard();
  }
}

async function filterBuilder(Class, options = {}) {
  checkNames(options, [...TARGETS, ...SHAPE, ...COMMON]);
  const engine = await Class[ENGINE].start();
  const builder = new Builder(engine, Class, options);
  // Reports settings that are invalid before any key is read.
  try {
    builder.plan(0);
  } catch (error) {
    builder.discard();
    throw error;
  }
  return new FilterBuilder(INTERNAL, builder);
}

async function buildFilter(Class, keys, options) {
  const builder = await filterBuilder(Class, options);
  try {
    if (typeof keys?.[Symbol.asyncIterator] === "function") {
      await addAll(builder, keys);
    } else {
      builder.addMany(keys);
    }
    return builder.finish();
  } finally {
    builder.discard();
  }
}

/** Adds keys that arrive asynchronously, many in one call. */
async function addAll(builder, keys) {
  let waiting = [];
  for await (const key of keys) {
    waiting.push(key);
    if (waiting.length === 1 << 14) {
      builder.addMany(waiting);
      waiting = [];
    }
  }
  builder.addMany(waiting);
}

/** An iterable of groups, or one group without a name. */
async function buildExactSet(Class, sides, options = {}) {
  checkNames(options, COMMON);
  const engine = await Class[ENGINE].start();
  const builder = new Builder(engine, Class, options);
  const { exports } = engine;
  const push = (group, keys, isOther) => {
    const groupHash = group === undefined ? undefined : hashOf(engine, builder.keySeed, group);
    builder.hashed(indexed(keys), (_, count) =>
      groupHash === undefined
        ? exports.push_hashes(builder._handle, engine.hashes, count, isOther)
        : exports.push_hashes_in(builder._handle, groupHash, engine.hashes, count, isOther),
    );
  };
  try {
    for (const { group, members, others } of sides) {
      push(group, members, 0);
      push(group, others, 1);
    }
    return builder.finish();
  } finally {
    builder.discard();
  }
}

/** The values of a function, as integers of 64 bits. */
function valuesOf(pairs) {
  return BigUint64Array.from(pairs, ([, value], index) => {
    const isValid = typeof value === "bigint" ? value >= 0n && value < 1n << 64n : value >= 0 && Number.isSafeInteger(value);
    if (!isValid) {
      throw new BuildError(`value ${index} must be an integer from 0 to 2^64 - 1, but is ${String(value)}`);
    }
    return BigInt(value);
  });
}

/** The pairs of an object without an iterator, or of an iterable. */
function pairsOf(entries) {
  const isObject = typeof entries === "object" && entries !== null && !(Symbol.iterator in entries);
  return Array.from(isObject ? Object.entries(entries) : entries);
}

async function buildFunction(Class, entries, options = {}) {
  checkNames(options, ["valueBits", "fingerprintBits", "variant", "width", ...COMMON]);
  const fingerprintBits = integer(options, "fingerprintBits", 0, 0, 64);
  const engine = await Class[ENGINE].start();
  const pairs = pairsOf(entries);
  const values = valuesOf(pairs);
  const largest = values.reduce((max, value) => (value > max ? value : max), 1n);
  const bits = integer(options, "valueBits", largest.toString(2).length, 1, 64);
  const builder = new Builder(engine, Class, options, bits, fingerprintBits);
  const keys = pairs.map(([key]) => key);
  try {
    builder.hashed(keys, (first, count) => {
      engine.view(BigUint64Array, engine.results, count).set(values.subarray(first, first + count));
      engine.exports.push_pairs(builder._handle, engine.hashes, engine.results, count);
    });
    return builder.finish();
  } finally {
    builder.discard();
  }
}

class BuildingFilter extends Filter {
  static name = "Filter";

  static build(keys, options) {
    return buildFilter(this, keys, options);
  }

  static builder(options) {
    return filterBuilder(this, options);
  }
}

class BuildingExactSet extends ExactSet {
  static name = "ExactSet";

  static build(members, others, options) {
    return buildExactSet(this, [{ members, others }], options);
  }

  static buildGroups(groups, options) {
    return buildExactSet(this, groups, options);
  }
}

class BuildingFunction extends StaticFunction {
  static name = "StaticFunction";

  static build(entries, options) {
    return buildFunction(this, entries, options);
  }
}

/** What an entry point that builds exports. */
export function buildingClassesOf(engine) {
  return classesOf(engine, {
    Filter: BuildingFilter,
    Part,
    ExactSet: BuildingExactSet,
    StaticFunction: BuildingFunction,
  });
}
