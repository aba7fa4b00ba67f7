"""A filter in an expression: the executors query it, a batch of keys at a time."""

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

# A float represents every integer up to this one.
EXACT = 1 << 53


def contains(column, path):
    """Whether keys might be in the filter at `path`, as a `Column` of booleans; null for a null.

    `column` is a `Column` or the name of a column; its type is integer, string or binary. The file
    holds a `Filter` or `Shards`. A local path must name the same file on all executors, which map
    it; any other file is copied to each executor once.

    The result is true for every key of the set. `df.where(~contains("url", path))` therefore has
    only rows that are not in the set, and lacks a fraction `expected_rate` of them.
    """
    path, name = _locate(os.fspath(path))
    column = F.col(column) if isinstance(column, str) else column
    if hasattr(F, "arrow_udf"):
        return _by_arrow(column, path, name)
    return _by_pandas(column, path, name)


def _by_arrow(column, path, name):
    """For PySpark 4.1 and later."""

    def query(keys: pa.Array) -> pa.Array:
        return _opened(path, name).contains(keys, nulls="skip")

    return F.arrow_udf(query, "boolean")(column)


def _by_pandas(column, path, name):
    """Passes the type of the column as well, since pandas represents integers with nulls as floats."""
    import pandas as pd

    def query(keys: pd.Series, kinds: pd.Series) -> pd.Series:
        return _opened(path, name).contains(_with_type(keys, kinds), nulls="skip").to_pandas()

    return F.pandas_udf(query, "boolean")(column, F.typeof(column))


def _with_type(keys, kinds):
    """The keys as an Arrow array: integers, if the column has integers that pandas made floats."""
    array = pa.array(keys, from_pandas=True)
    if len(keys) == 0 or not pa.types.is_floating(array.type) or kinds.iloc[0] in ("float", "double"):
        return array
    if keys.abs().max() >= EXACT:
        raise ValueError(
            "pandas converts integers to floats if there are nulls, and these are 2^53 or more: remove the nulls first"
        )
    return array.cast(pa.int64())


def _opened(path, name):
    path = path or SparkFiles.get(name)
    status = os.stat(path)
    return _mapped(path, status.st_ino, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _mapped(path, *_version):
    """Maps a file once per process, and again after it was replaced."""
    return _open(path)


def _open(path):
    try:
        return Shards.open(path)
    except FormatError as of_shards:
        try:
            return Filter.open(path)
        except FormatError as error:
            # For a corrupt container the second error only says that it is no filter.
            raise (of_shards if "container" in str(error) else error) from None


def _locate(path):
    """Where executors find a file: a path, or the name under which Spark distributes it."""
    spark = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    found = hadoop(spark, path)
    if found is None:
        path = local(path)
        _open(path)  # Reports errors in the driver instead of in a task.
        return path, None
    with java_errors(path):
        return None, _distribute(spark, *found)


# The distributed files: the name and the directory of a copy, by application, path and version.
_copies = {}


def _distribute(spark, files, path):
    """Lets Spark distribute the current version of a file; returns a name unique to the version."""
    status = files.getFileStatus(path)
    version = (spark.sparkContext.applicationId, path.toString(), status.getModificationTime(), status.getLen())
    if version not in _copies:
        directory = tempfile.TemporaryDirectory(prefix="ribbon-")  # Removed when the driver exits.
        copy = os.path.join(directory.name, f"{uuid.uuid4().hex}.ribbon")
        to = spark._jvm.org.apache.hadoop.fs.Path(f"file://{copy}")
        files.copyToLocalFile(False, path, to, True)
        _open(copy)
        spark.sparkContext.addFile(copy)
        _copies[version] = os.path.basename(copy), directory
    return _copies[version][0]
