"""Filters over columns of Spark data frames, built and queried on the cluster (PySpark 3.5 and 4).

    from ribbonfilter.spark import build_filter, contains

    build_filter(seen, "url", "/shared/seen.ribbon", fpr=0.001)
    fresh = pages.where(~contains("url", "/shared/seen.ribbon"))

The file is a container of `ribbonfilter.Shards`: Python, Rust and the command `ribbon` can open it,
and `Shards.build` makes the same bytes from the same keys on one machine. `docs/spark.md` describes
the steps of a build. The package must also be installed on the executors.
"""

from ._build import build_filter
from ._contains import contains

__all__ = ["build_filter", "contains"]
