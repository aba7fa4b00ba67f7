/// <reference lib="esnext.disposable" />

/**
 * Ribbon filters: static sets in a few bits per key. This entry point loads and queries them;
 * `ribbonfilter/build` also builds them.
 */

/**
 * A key: text (as UTF-8), bytes, or an integer from -2^127 to 2^128 - 1, of which a number must be safe.
 * The same key has the same hash in Rust, Python, C and the command. Typed arrays of other types than
 * bytes are several keys.
 */
export type Key = string | Uint8Array | Uint8ClampedArray | ArrayBuffer | bigint | number;

/** Several keys: any iterable of them, or a typed array of integers. */
export type Keys =
  | Iterable<Key>
  | Int8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

/** What `load` takes. An address with `file:` is read from disk, if the platform has one. */
export type Source = Response | ArrayBufferLike | ArrayBufferView | Blob | URL;

export type Variant = "standard" | "homogeneous" | "balanced" | "bumped";
export type Width = 16 | 32 | 64 | 128;

/** What all errors of this package are. */
export class RibbonError extends Error {}
/** The bytes are not what was expected, or they are truncated or corrupt. */
export class FormatError extends RibbonError {}
/** A setting is invalid, or there is no filter for these keys. */
export class BuildError extends RibbonError {}
/** The memory of the WebAssembly module cannot grow any further. */
export class MemoryError extends RibbonError {}
/** A key is of a wrong type or out of range. */
export class KeyError extends RibbonError {}

/** What filters, parts, exact sets and static functions have in common. */
declare abstract class Structure {
  protected constructor();

  /** The number of keys. Of a part, that of its filter. */
  readonly size: number;
  /** The size in bytes. */
  readonly byteLength: number;
  /** The size in bits divided by the number of keys. */
  readonly bitsPerKey: number;
  /** A copy of the bytes: write them anywhere, and load them again, in any language. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The seed under which keys are hashed. */
  readonly keySeed: bigint;

  /**
   * Reads all bytes and compares the checksums, for bytes that may be corrupt. Loading checks only the
   * last bytes.
   * @throws {FormatError} if they are.
   */
  verify(): void;
  /** The hash of a key. */
  keyHash(key: Key): bigint;
  /** The hashes of several keys. */
  keyHashes(keys: Keys): BigUint64Array<ArrayBuffer>;
  /** Frees the memory now, instead of when the garbage collector finds out that it is not used. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** What filters, parts and exact sets have in common. */
declare abstract class KeySet extends Structure {
  /** Whether a key may be in the set. */
  has(key: Key): boolean;
  /** As `has`, for a hash. */
  hasHash(hash: bigint): boolean;
  /** As `has`, for several keys: a byte for each, 1 or 0. */
  hasMany(keys: Keys): Uint8Array<ArrayBuffer>;
  /** As `hasMany`, for hashes: the fastest way to query many keys. */
  hasHashes(hashes: BigUint64Array): Uint8Array<ArrayBuffer>;
}

/** A set of keys in a few bits each, or a container of shards. A key that was put in is always found. */
export class Filter extends KeySet {
  /**
   * Loads a filter, or a container of shards.
   * @throws {FormatError} if the bytes are not one.
   * @throws {MemoryError} if there is not enough memory.
   */
  static load(source: Source | PromiseLike<Source>): Promise<Filter>;

  /** The probability that a key is found that was not put in. */
  readonly falsePositiveRate: number;
  readonly variant: Variant;
  readonly width: Width;
  /** The bits that are stored per slot; not a whole number if some slots have one bit more. */
  readonly columns: number;
  /** The number of shards; 1 if it is no container. */
  readonly shards: number;
}

/** A part of a filter, as the command `ribbon cut` makes them. `has` is true for keys of other parts. */
export class Part extends KeySet {
  /** Loads a part. Errors as in `Filter.load`. */
  static load(source: Source | PromiseLike<Source>): Promise<Part>;

  /** The rate of the filter. */
  readonly falsePositiveRate: number;
  readonly variant: Variant;
  readonly width: Width;
  /** The number of this part, from 0. */
  readonly number: number;
  /** The number of parts. */
  readonly parts: number;
  /** Whether this part decides about a key. */
  covers(key: Key): boolean;
  /** As `covers`, for several keys: a byte for each, 1 or 0. */
  coversMany(keys: Keys): Uint8Array<ArrayBuffer>;
}

/** A set without false positives among the keys of its universe. Of other keys it knows nothing. */
export class ExactSet extends KeySet {
  /** Loads an exact set. Errors as in `Filter.load`. */
  static load(source: Source | PromiseLike<Source>): Promise<ExactSet>;

  /** The number of all keys that it knows, members and others. */
  readonly universeSize: number;
  /** The number of groups. */
  readonly groups: number;
  /** Whether a key of a group is a member; `undefined` if the universe has no key of the group. */
  hasIn(group: Key, key: Key): boolean | undefined;
  /** As `hasIn`, for several keys of a group: a byte for each, 1 or 0. */
  hasManyIn(group: Key, keys: Keys): Uint8Array<ArrayBuffer> | undefined;
}

/**
 * A map from keys to integers of 1 to 64 bits that does not store the keys. For a key that was not put
 * in it returns any value, unless it has fingerprints: then `lookup` returns `undefined` for most.
 */
export class StaticFunction extends Structure {
  /** Loads a static function. Errors as in `Filter.load`. */
  static load(source: Source | PromiseLike<Source>): Promise<StaticFunction>;

  /** The bits of a value. */
  readonly valueBits: number;
  /** The bits of a fingerprint. */
  readonly fingerprintBits: number;
  /**
   * The value of a key.
   * @throws {RangeError} if values have more than 53 bits: use `getBigInt`.
   */
  get(key: Key): number;
  /** The value of a key. */
  getBigInt(key: Key): bigint;
  /** The value of a key, or `undefined` if its fingerprint is not there. */
  lookup(key: Key): number | undefined;
  /** The value of a key, or `undefined` if its fingerprint is not there. */
  lookupBigInt(key: Key): bigint | undefined;
  /** As `get`, for several keys. */
  getMany(keys: Keys): Float64Array<ArrayBuffer>;
  /** As `getBigInt`, for several keys. */
  getManyBigInt(keys: Keys): BigUint64Array<ArrayBuffer>;
}

/** What the WebAssembly module can be loaded from. */
export type ModuleSource = WebAssembly.Module | Response | ArrayBufferLike | ArrayBufferView | URL;

/**
 * Loads the WebAssembly module from a given place. Only needed where the package cannot find it, such as
 * in workers that get modules as imports; else it is loaded at the first use.
 */
export function init(source?: ModuleSource | PromiseLike<ModuleSource>): Promise<void>;

/** The hash of a key under a seed, 0 by default. */
export function keyHash(key: Key, keySeed?: bigint | number): Promise<bigint>;

// Only types: these classes have no constructors, and no module exports them.
export type { Structure, KeySet };
