"""Ribbon filters: static sets of keys in a few bits per key.

A filter reports whether a key might be in the set: without false negatives, and with false
positives at a rate you choose. A key has the same hash in Python, Rust and the command `ribbon`, so
they can exchange files. `ExactSet` has no false positives for keys of a known universe. `Shards` is for sets that exceed one machine; `ribbonfilter.spark` builds
it on a cluster.

>>> from ribbonfilter import Filter
>>> f = Filter.build(["ada", "grace", "edsger"], fpr=0.001)
>>> "ada" in f, "niklaus" in f
(True, False)
"""

from ._errors import FormatError, NullKeyError
from ._native import (
    Builder,
    ExactSet,
    Filter,
    Function,
    Plan,
    Shard,
    Shards,
    __version__,
    hash_and_shard,
    key_hash,
    max_keys,
    plan,
)

__all__ = [
    "Builder",
    "ExactSet",
    "Filter",
    "FormatError",
    "Function",
    "NullKeyError",
    "Plan",
    "Shard",
    "Shards",
    "hash_and_shard",
    "key_hash",
    "max_keys",
    "plan",
]
