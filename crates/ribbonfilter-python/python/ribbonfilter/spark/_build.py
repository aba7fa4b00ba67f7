"""Builds a set in shards from a column of a data frame.

The executors hash the keys and send 8 bytes per key to the task of the key's shard, which builds
that shard alone. Spark writes the shards to a directory next to the target, so its commit protocol
selects one of several attempts of a task. All attempts give the same bytes, which depend on the
keys and the settings alone. The driver downloads the shards and assembles them. This verifies every
checksum, that all shards have the same settings, and that none is missing. Only then does the file
replace the target.
"""

import os
import re
from contextlib import contextmanager
from functools import partial

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import functions as F
from pyspark.sql import types as T

from .. import NullKeyError, Shard, Shards, plan
from ._files import Py4JJavaError, Target, literally
from ._tasks import build, hash_and_split

KEY_TYPES = (
    T.ByteType,
    T.ShortType,
    T.IntegerType,
    T.LongType,
    T.StringType,
    T.CharType,
    T.VarcharType,
    T.BinaryType,
)

# A row has up to `_tasks.ROW` hashes, all of one shard.
HASHES = "slot int, shard int, hashes binary"
# A piece of a finished shard and its offset in the shard.
PIECES = "shard int, start long, bytes binary"

MIB = 1 << 20

# Fewer keys than this do not justify a task.
MIN_KEYS_PER_TASK = 1 << 16

# Every shard takes a task, and a memory map in the driver while the shards are assembled. Linux
# allows a process 65,530 maps.
MAX_SHARDS = 1 << 15


def build_filter(
    df,
    column,
    path,
    fpr=None,
    *,
    shards=None,
    count=None,
    columns=None,
    variant=None,
    width=None,
    effort="normal",
    key_seed=0,
    nulls="error",
):
    """Builds a filter from a column on the cluster, opens it and returns it as `ribbonfilter.Shards`.

    `column` is a `Column` or the name of a column; its type is integer, string or binary. `path` is
    the path of the file, as Spark interprets paths. An existing file is replaced once the new one
    is complete. A path of the local file system must name the same file on all executors.

    `fpr`, `columns`, `variant`, `width`, `effort` and `key_seed` are those of `Shards.build`, which
    makes the same bytes from the same keys and the same number of shards. `nulls="skip"` ignores
    nulls.

    `shards` is a power of two. By default it is chosen so that a shard fits in the memory of a task
    and every core has a shard. This needs the number of keys: pass an estimate as `count`, or the
    keys are counted first.
    """
    spark = df.sparkSession
    settings = dict(
        fpr=fpr, columns=columns, variant=variant, width=width, effort=effort, key_seed=key_seed
    )
    # Building an empty shard reports invalid settings before any key is read.
    Shard.build(0, [], shards=1 if shards is None else shards, **settings)
    if shards is not None and shards > MAX_SHARDS:
        raise ValueError(f"shards must be at most {MAX_SHARDS}, since every shard takes a task, but is {shards}")
    if count is not None and count < 0:
        raise ValueError(f"count must not be negative, but is {count}")
    if nulls not in ("error", "skip"):
        raise ValueError(f'nulls must be "error" or "skip", but is {nulls!r}')
    keys = _keys(df, column)
    if nulls == "skip":
        keys = keys.where(F.col("key").isNotNull())
    with Target.of(spark, path) as target, _errors_of_tasks():
        if shards is None:
            count = _count(keys) if count is None else count
            shards = shards_for(count, _task_memory(spark.conf), _cores(spark), settings)
        _shard_frame(keys, shards, settings).write.options(
            **{"compression": "none", "parquet.enable.dictionary": "false", "parquet.block.size": 16 * MIB}
        ).parquet(target.stage)
        _fetch(spark.read.schema(PIECES).parquet(literally(target.stage)), target.scratch)
        parts = (Shard.open(os.path.join(target.scratch, name)) for name in os.listdir(target.scratch))
        return target.commit(parts)


def _keys(df, column):
    """A data frame with the single column "key", whose type is one of `KEY_TYPES`."""
    try:
        keys = df.select((F.col(column) if isinstance(column, str) else column).alias("key"))
        kind = keys.schema["key"].dataType
    except AnalysisException as error:
        if "UNRESOLVED_COLUMN" not in str(error):
            raise
        raise KeyError(f"no column {column!r}: the data frame has {', '.join(df.columns)}") from error
    if not isinstance(kind, KEY_TYPES):
        raise TypeError(
            f"a column of type {kind.simpleString()} cannot be used as keys: "
            "select a column of integers, strings or binary, or cast it"
        )
    return keys


def _count(keys):
    rows, present = keys.agg(F.count("*"), F.count("key")).first()
    if present < rows:
        raise NullKeyError(f'{rows - present} of {rows} keys are null: pass nulls="skip" to ignore nulls')
    return rows


def shards_for(count, memory, cores, settings):
    """The smallest power of two for which a shard is built in half the memory of a task and, if
    there are enough keys, no core is idle."""
    shards = 1
    while shards < MAX_SHARDS and (
        _memory_of_shard(count // shards, settings) > memory // 2
        or (shards < cores and count // shards > 2 * MIN_KEYS_PER_TASK)
    ):
        shards *= 2
    return shards


def _memory_of_shard(keys, settings):
    """The peak memory of building a shard, in bytes: that of a filter, plus a copy of the hashes
    without the bits that select the shard, plus the finished shard."""
    keys += int(5 * keys**0.5)  # The largest shard: five standard deviations above the mean.
    width, columns = settings["width"], settings["columns"]
    fpr = settings["fpr"] if columns is None else 2**-columns
    variant = settings["variant"] or ("standard" if width == 16 else "bumped")
    try:
        planned = plan(keys, fpr, variant=variant, width=width, effort=settings["effort"], threads=1)
    except ValueError:
        return float("inf")  # Too many keys for these settings: smaller shards may be possible.
    return planned.peak_memory + 8 * keys + planned.nbytes


def _task_memory(conf):
    """The memory in bytes that Spark leaves to the Python process of a task. `conf` is the
    configuration of a session."""
    cores = int(conf.get("spark.executor.cores", "1")) // int(conf.get("spark.task.cpus", "1"))
    memory = conf.get("spark.executor.pyspark.memory", None) or conf.get("spark.executor.memoryOverhead", None)
    if memory is None:
        return max(384 * MIB, _bytes(conf.get("spark.executor.memory", "1g")) // 10) // max(cores, 1)
    return _bytes(memory) // max(cores, 1)


def _bytes(text):
    """Parses a size in Spark's notation: 512 (MiB), 512m, 2gb or 4096b."""
    found = re.fullmatch(r"\s*(\d+)\s*(|b|[kmgtp]b?)\s*", text.lower())
    if not found:
        raise ValueError(f"{text!r} is not a memory size in Spark's notation")
    number, unit = found.groups()
    return int(number) << (10 * "bkmgtp".index((unit or "m")[0]))


def _cores(spark):
    context = getattr(spark, "_sc", None)  # A Spark Connect client has none.
    return context.defaultParallelism if context is not None else 1


def _shard_frame(keys, shards, settings):
    """The data frame of all finished shards in pieces, with one task per shard."""
    slots = _slots(keys.sparkSession, shards)
    split = partial(hash_and_split, shards=shards, slots=slots, key_seed=settings["key_seed"])
    # One row per shard, so that a shard without keys has a task as well.
    empty = keys.sparkSession.createDataFrame([(slot, n, b"") for n, slot in enumerate(slots)], HASHES)
    hashes = keys.mapInArrow(split, HASHES).unionByName(empty)
    return hashes.repartition(shards, "slot").mapInArrow(partial(build, shards=shards, **settings), PIECES)


def _slots(spark, shards):
    """One number per shard, such that Spark assigns each of them to a different partition.

    Spark assigns a row to the partition `pmod(hash(column), partitions)`, so numbers are tried
    until every partition has one."""
    slots = {}
    start, step = 0, 8 * shards
    while len(slots) < shards:
        tried = spark.range(start, start + step, numPartitions=1).select(F.col("id").cast("int").alias("slot"))
        for slot, partition in tried.select("slot", F.expr(f"pmod(hash(slot), {shards})")).collect():
            slots.setdefault(partition, slot)
        start += step
    return [slots[shard] for shard in range(shards)]


def _fetch(pieces, directory):
    """Writes the pieces, in any order, to one file per shard."""
    for shard, start, data in pieces.toLocalIterator():
        with open(os.open(os.path.join(directory, str(shard)), os.O_CREAT | os.O_WRONLY), "wb") as file:
            file.seek(start)
            file.write(data)


@contextmanager
def _errors_of_tasks():
    """Raises the executors' exceptions about keys and memory in the driver, with their own class."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        for kind in (NullKeyError, MemoryError, UnicodeError):
            found = re.search(rf"\b{kind.__name__}: (.*)", str(error))
            if found:
                raise kind(found[1]) from error
        raise
