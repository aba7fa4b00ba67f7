"""Filters of keys that lie in Spark, built and asked on the cluster (PySpark 3.5 and 4).

    from ribbonfilter.spark import build_filter, contains

    build_filter(seen, "url", "/shared/seen.ribbon", fpr=0.001)
    fresh = pages.where(~contains("url", "/shared/seen.ribbon"))

The file is one of `ribbonfilter.Shards`: Python, Rust and the command `ribbon` open it unchanged,
and `Shards.build` makes the same bytes of the same keys on one machine. `docs/spark.md` tells how
it is done. The package must be installed where the executors run, too.
"""

from ._build import build_filter
from ._contains import contains

__all__ = ["build_filter", "contains"]
