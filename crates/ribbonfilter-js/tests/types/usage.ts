// Compiled, not run: what users write must have the types that they expect, and mistakes must not compile.

import { type KeySet } from "ribbonfilter";
import { ExactSet, Filter, FormatError, type Key, Part, StaticFunction, init, keyHash } from "ribbonfilter";
import { Filter as Building, ExactSet as BuildingExact, type Plan, StaticFunction as BuildingFunction } from "ribbonfilter/build";
import { Filter as Inline } from "ribbonfilter/inline";
import { FilterBuilder, Filter as BuildingInline } from "ribbonfilter/build/inline";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(_: Equal<A, B>): void {}

export async function queries(response: Promise<Response>, file: Blob, bytes: Uint8Array): Promise<void> {
  const breached = await Filter.load(response);
  const key: Key = await crypto.subtle.digest("SHA-1", new TextEncoder().encode("hunter2"));
  same<boolean, ReturnType<typeof breached.has>>(true);
  breached.has(key);
  breached.has(7n);
  breached.hasMany(["ada", 7, 7n, bytes]);
  breached.hasMany(new Set(["ada"]));
  breached.hasMany(new BigUint64Array(3));
  const hits: Uint8Array = breached.hasHashes(breached.keyHashes(["ada"]));
  const rate: number = breached.falsePositiveRate + breached.size + breached.byteLength + hits.length;
  breached.verify();
  new Blob([breached.bytes]);
  using again = await Inline.load(file);
  again.has("ada");
  const set = await ExactSet.load(bytes.buffer);
  same<boolean | undefined, ReturnType<typeof set.hasIn>>(true);
  const ages = await StaticFunction.load(new URL("https://example.org/ages.ribbon"));
  same<number | undefined, ReturnType<typeof ages.lookup>>(true);
  same<bigint, ReturnType<typeof ages.getBigInt>>(true);
  const part = await Part.load(bytes);
  part.covers("ada");
  await init(new URL("https://example.org/ribbonfilter.wasm"));
  const hash: bigint = await keyHash("ada", 7n);
  void [rate, hash, FormatError];

  // @ts-expect-error: a path is not a URL
  await Filter.load("names.ribbon");
  // @ts-expect-error: not a key
  breached.has({});
  // @ts-expect-error: a number is one key
  breached.hasMany(7);
  // @ts-expect-error: built by ribbonfilter/build
  await Filter.build(["ada"]);
  // @ts-expect-error: hashes have 64 bits
  breached.hasHashes(new Uint32Array(1));
  // @ts-expect-error: properties are read-only
  breached.size = 7;
}

export async function builds(): Promise<Plan> {
  const mine = await Building.build(["ada", "grace"], { falsePositiveRate: 0.001, onProgress: ({ fraction }) => void fraction });
  same<Building, typeof mine>(true);
  const queried: Filter = mine;
  const builder: FilterBuilder = await BuildingInline.builder({ bitsPerKey: 9, variant: "bumped", width: 64, keySeed: 7n });
  builder.addMany(["ada"]).addHashes(new BigUint64Array(1)).finish();
  // @ts-expect-error: only queried
  await Building.build(["ada"], { variant: "balanced" });
  // @ts-expect-error: only queried
  await BuildingFunction.build({ ada: 36 }, { variant: "balanced" });
  await BuildingExact.build([1, 2], [3, 4]);
  await BuildingExact.buildGroups([{ group: "issuer", members: [1], others: [2] }]);
  await BuildingFunction.build({ ada: 36 }, { fingerprintBits: 8 });
  await BuildingFunction.build(new Map([["ada", 36n]]));

  // @ts-expect-error: no such variant
  await Building.build([], { variant: "cuckoo" });
  // @ts-expect-error: no such option
  await Building.build([], { fpr: 0.01 });
  // @ts-expect-error: values are integers
  await BuildingFunction.build([["ada", "36"]]);
  void queried;
  return builder.plan();
}

export type Any = KeySet;
// @ts-expect-error: a type, not a value
export const value = KeySet;
