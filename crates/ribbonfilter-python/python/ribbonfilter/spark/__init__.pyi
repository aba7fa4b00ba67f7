from os import PathLike

from pyspark.sql import Column, DataFrame

from ribbonfilter import Shards, _Effort, _Nulls, _Variant, _Width

__all__ = ["build_filter", "contains"]

def build_filter(
    df: DataFrame,
    column: str | Column,
    path: str | PathLike[str],
    fpr: float | None = None,
    *,
    shards: int | None = None,
    count: int | None = None,
    columns: float | None = None,
    variant: _Variant | None = None,
    width: _Width | None = None,
    effort: _Effort = "normal",
    key_seed: int = 0,
    nulls: _Nulls = "error",
) -> Shards: ...
def contains(column: str | Column, path: str | PathLike[str]) -> Column: ...
