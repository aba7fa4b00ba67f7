/** Ribbon filters: loading, querying and building them. */

import {
  ExactSet as QueriedExactSet,
  Filter as QueriedFilter,
  type Key,
  type Keys,
  type Source,
  StaticFunction as QueriedFunction,
  type Variant,
  type Width,
} from "./index.js";

export * from "./index.js";

/** How far a build has come. A phase may start over if other slots or seeds are needed. */
export interface Progress {
  phase: "partitioning" | "solving" | "writing";
  /** From 0 to 1. */
  fraction: number;
}

/**
 * The variants that can be built. Balanced ribbons can only be queried here: their code would be a seventh
 * of the module, and Bumped ones of width 128 are smaller from 28,000 keys on. To build one is a `BuildError`.
 */
export type BuiltVariant = Exclude<Variant, "balanced">;

/** The options that all builds have. */
export interface BuildOptions {
  /** `"thorough"` takes up to twice as long for a slightly smaller result. */
  effort?: "normal" | "thorough";
  /** The seed under which keys are hashed. */
  keySeed?: bigint | number;
  /** The maximum number of bytes of memory that the build takes. */
  maxMemory?: number;
  /** Called from time to time. What it throws stops the build, and is thrown again. */
  onProgress?: (progress: Progress) => void;
  /** Stops the build, if it is aborted before or in `onProgress`. */
  signal?: AbortSignal;
}

/** The options of a filter. At most one of the first four; by default the rate is 0.01. */
export interface FilterOptions extends BuildOptions {
  falsePositiveRate?: number;
  bitsPerKey?: number;
  totalBytes?: number;
  columns?: number;
  variant?: BuiltVariant;
  width?: Width;
  /** The minimum fraction of slots in addition to one per key. */
  overhead?: number;
}

/** The options of a static function. */
export interface FunctionOptions extends BuildOptions {
  /** The bits of a value; by default those of the largest one. */
  valueBits?: number;
  /** The bits of a fingerprint, for `lookup`; by default 0. */
  fingerprintBits?: number;
  variant?: Exclude<BuiltVariant, "homogeneous">;
  width?: Width;
}

/** What a build will give, and take. */
export interface Plan {
  byteLength: number;
  falsePositiveRate: number;
  /** The bytes of memory that the build takes. */
  peakMemory: number;
}

/** Collects keys that arrive one after another. */
export class FilterBuilder {
  private constructor();
  /** The number of keys so far. */
  readonly size: number;
  /** Adds keys. Duplicates do no harm. */
  addMany(keys: Keys): this;
  /** Adds hashes. */
  addHashes(hashes: BigUint64Array): this;
  /** What a filter of these keys, or of another number of keys, will be. */
  plan(keys?: number): Plan;
  /** Builds the filter. The builder cannot be used again. */
  finish(): Filter;
  /** Frees the memory of a builder that is not going to finish. */
  discard(): void;
}

export class Filter extends QueriedFilter {
  static load(source: Source | PromiseLike<Source>): Promise<Filter>;
  /**
   * Builds a filter. The same keys and options give the same bytes in every language, in any order.
   * @throws {BuildError} if an option is invalid.
   * @throws {KeyError} if a key is.
   * @throws {MemoryError} if there is not enough memory.
   */
  static build(keys: Keys | AsyncIterable<Key>, options?: FilterOptions): Promise<Filter>;
  /** A builder, for keys that arrive one after another. */
  static builder(options?: FilterOptions): Promise<FilterBuilder>;
}

export class ExactSet extends QueriedExactSet {
  static load(source: Source | PromiseLike<Source>): Promise<ExactSet>;
  /** Builds a set of members among all keys that will ever be queried. Errors as in `Filter.build`. */
  static build(members: Keys, others: Keys, options?: BuildOptions): Promise<ExactSet>;
  /** Builds a set of several groups, each with members and others of its own. */
  static buildGroups(
    groups: Iterable<{ group: Key; members: Keys; others: Keys }>,
    options?: BuildOptions,
  ): Promise<ExactSet>;
}

export class StaticFunction extends QueriedFunction {
  static load(source: Source | PromiseLike<Source>): Promise<StaticFunction>;
  /** Builds a function of keys and values: pairs, a `Map`, or an object. Errors as in `Filter.build`. */
  static build(
    entries: Iterable<readonly [Key, number | bigint]> | Readonly<Record<string, number | bigint>>,
    options?: FunctionOptions,
  ): Promise<StaticFunction>;
}
