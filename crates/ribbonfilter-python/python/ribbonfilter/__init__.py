"""Ribbon filters: static sets of keys in a few bits a key.

A filter answers "might this key be in the set?", never wrongly with no, and wrongly with yes
at a rate you choose. A key has the same hash in Python, Rust and the command `ribbon`, so they
exchange files.

>>> from ribbonfilter import Filter
>>> f = Filter.build(["ada", "grace", "edsger"], fpr=0.001)
>>> "ada" in f, "niklaus" in f
(True, False)
"""

from ._errors import FormatError, NullKeyError
from ._native import Builder, Filter, Function, Plan, __version__, key_hash, max_keys, plan

__all__ = [
    "Builder",
    "Filter",
    "FormatError",
    "Function",
    "NullKeyError",
    "Plan",
    "key_hash",
    "max_keys",
    "plan",
]
