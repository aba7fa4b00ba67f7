"""A filter in an expression: asked by the executors, a batch of keys at a time."""

import os
import tempfile
import uuid
from functools import lru_cache

import pyarrow as pa
from pyspark import SparkFiles
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from .. import Filter, FormatError, Shards
from ._files import hadoop, java_errors, local

# Up to here a float has every integer.
EXACT = 1 << 53


def contains(column, path):
    """Whether keys might be in the filter at `path`, as a `Column` of booleans; null for a null.

    `column` is a name or a `Column` of integers, strings or binary. The file is one of `Filter` or
    `Shards`. A local path must be the same for all executors, who map it; any other file is
    fetched once for each executor.

    A key that was put in gives true. `df.where(~contains("url", path))` is all rows that are not in
    the set, but for a share of `expected_rate`.
    """
    place, name = _place(os.fspath(path))
    column = F.col(column) if isinstance(column, str) else column
    if hasattr(F, "arrow_udf"):
        return _by_arrow(column, place, name)
    return _by_pandas(column, place, name)


def _by_arrow(column, place, name):
    """PySpark 4.1 and later."""

    def ask(keys: pa.Array) -> pa.Array:
        return _opened(place, name).contains(keys, nulls="skip")

    return F.arrow_udf(ask, "boolean")(column)


def _by_pandas(column, place, name):
    """To pandas integers with nulls are floats, so the true type comes along."""
    import pandas as pd

    def ask(keys: pd.Series, kinds: pd.Series) -> pd.Series:
        return _opened(place, name).contains(_true_keys(keys, kinds), nulls="skip").to_pandas()

    return F.pandas_udf(ask, "boolean")(column, F.typeof(column))


def _true_keys(keys, kinds):
    array = pa.array(keys, from_pandas=True)
    if len(keys) == 0 or not pa.types.is_floating(array.type) or kinds.iloc[0] in ("float", "double"):
        return array
    if keys.abs().max() >= EXACT:
        raise ValueError("integers of 2^53 and more with nulls among them: leave the nulls out first")
    return array.cast(pa.int64())


def _opened(place, name):
    place = place or SparkFiles.get(name)
    status = os.stat(place)
    return _mapped(place, status.st_ino, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _mapped(place, *_version):
    """Mapped once in a process, and again when another file has taken the place."""
    return _open(place)


def _open(place):
    try:
        return Shards.open(place)
    except FormatError as refused:
        try:
            return Filter.open(place)
        except FormatError as error:
            # Of a damaged container this would only say that it is no filter.
            raise (refused if "container" in str(error) else error) from None


def _place(path):
    """Where executors find a file: a path, or the name under which Spark sends it to them."""
    spark = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    found = hadoop(spark, path)
    if found is None:
        place = local(path)
        _open(place)  # What is wrong is told here, not in a task.
        return place, None
    with java_errors(path):
        return None, _sent(spark, *found)


# The files that were sent: by application, path and version, the name and the folder of a copy.
_copies = {}


def _sent(spark, files, path):
    """The name under which Spark sends a file as it is now; another version has another name."""
    status = files.getFileStatus(path)
    version = (spark.sparkContext.applicationId, path.toString(), status.getModificationTime(), status.getLen())
    if version not in _copies:
        folder = tempfile.TemporaryDirectory(prefix="ribbon-")  # Goes when the driver ends.
        copy = os.path.join(folder.name, f"{uuid.uuid4().hex}.ribbon")
        to = spark._jvm.org.apache.hadoop.fs.Path(f"file://{copy}")
        files.copyToLocalFile(False, path, to, True)
        _open(copy)
        spark.sparkContext.addFile(copy)
        _copies[version] = os.path.basename(copy), folder
    return _copies[version][0]
