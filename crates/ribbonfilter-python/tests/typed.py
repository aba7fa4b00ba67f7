"""Code that type checkers must accept, and the types they must infer: `scripts/test-python`."""

from typing import TYPE_CHECKING, assert_type

import numpy as np
import numpy.typing as npt
from pyspark.sql import DataFrame

from ribbonfilter import Builder, ExactSet, Filter, Function, Plan, Shard, Shards, hash_and_shard, key_hash, plan
from ribbonfilter.spark import build_filter, contains

f = Filter.build(["ada", "grace"], fpr=0.001, variant="bumped", width=64, effort="normal", threads=2)
assert_type(f, Filter)
assert_type("ada" in f, bool)
assert_type(f.contains("ada"), bool)
assert_type(f.contains(["ada", "grace"]), npt.NDArray[np.bool_])
assert_type(f.contains(np.arange(5)), npt.NDArray[np.bool_])
assert_type(f.split_columns([1, 2]), list[Filter])
assert_type(Filter.open("names.ribbon"), Filter)
assert_type(Filter.from_bytes(memoryview(f)), Filter)
assert_type(f == Filter(f), bool)
Filter.build(["ada", None], nulls="skip")

builder = Builder(bits_per_key=9.5)
builder.push(7)
builder.extend(range(10))
assert_type(builder.finish(), Filter)

ages = Function.build({"ada": 36}, fingerprint_bits=8)
assert_type(ages["ada"], int)
assert_type(ages.get("ada"), int | None)
assert_type(plan(10**6, fpr=0.01, effort="thorough"), Plan)
assert_type(key_hash("ada"), int)

revoked = ExactSet.build([17], range(100, 1000), effort="thorough", max_memory=10**9)
assert_type(revoked, ExactSet)
assert_type(ExactSet.build(["ada", None], lambda: iter(["grace"]), nulls="skip"), ExactSet)
assert_type(ExactSet.build(np.arange(5), lambda: np.arange(9), others_include_members=True), ExactSet)
assert_type(17 in revoked, bool)
assert_type(revoked.contains(17), bool)
assert_type(revoked.contains([17, 18]), npt.NDArray[np.bool_])
issued = ExactSet.build_groups({"issuer": [17]}, lambda: ((f"issuer {n}", range(n)) for n in range(9)))
assert_type(issued, ExactSet)
assert_type(issued.contains_in("issuer", 17), bool | None)
assert_type(issued.contains_in("issuer", np.arange(5)), npt.NDArray[np.bool_] | None)
assert_type(issued.expected_rate_in(None), float | None)

pieces = hash_and_shard(["ada", "grace"], shards=2)
assert_type(pieces, list[npt.NDArray[np.uint64]])
parts = [Shard.build(n, [pieces[n]], fpr=0.001, shards=2) for n in range(2)]
assert_type(Shards.assemble(parts), Shards)
assert_type(Shards.assemble([part.to_bytes() for part in parts], "names.ribbon"), Shards)
assert_type("ada" in Shards.build(["ada"], shards=2, columns=7.5), bool)
assert_type(Shards.build(["ada"], shards="until-full"), Shards)
assert_type(Shards.build(["ada"], shards=2, shard_bytes=100), Shards)
assert_type(Shards.open("names.ribbon").contains(np.arange(5)), npt.NDArray[np.bool_])

# The types of PySpark can be checked without a cluster.
if TYPE_CHECKING:
    frame: DataFrame
    assert_type(build_filter(frame, "url", "seen.ribbon", fpr=0.001, shards=8, effort="thorough"), Shards)
    assert_type(frame.where(~contains("url", "seen.ribbon")), DataFrame)
