"""A column of a frame becomes a set in shards.

The executors hash the keys and send 8 bytes of each to the task of its shard, which builds that
shard alone. Spark writes the shards beside the target, so its commit protocol decides which of
several attempts of a task counts; it hardly matters, since a shard's bytes follow from its keys.
The driver fetches the shards and assembles them, which checks every byte, that all are of the
same settings, and that none is missing; only then does the file take its name.
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

# One row has up to so many hashes of one shard that `hash_and_split` says.
HASHES = "slot int, shard int, hashes binary"
# A piece of a finished shard, and where it belongs.
PIECES = "shard int, start long, bytes binary"

MIB = 1 << 20

# Fewer keys are not worth a task of their own.
WORTHWHILE = 1 << 16

# A task each, and a map of the driver's when they are put together: Linux has 65,530 for a process.
MOST_SHARDS = 1 << 15


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
    """Builds a filter of a column on the cluster and gives it, opened, as `ribbonfilter.Shards`.

    `column` is the name of a column of integers, strings or binary, or a `Column`. `path` is where
    the file goes, as Spark understands paths; a file that is there is replaced when the new one is
    complete, and not before. A path of the local file system must be the same for all executors.

    `fpr`, `columns`, `variant`, `width`, `effort` and `key_seed` are those of `Shards.build`, which
    makes the same bytes of the same keys and number of shards. `nulls="skip"` leaves nulls out.

    `shards` is a power of two. Without it the keys are counted first, unless `count` tells about
    how many there are, and the number is chosen so that a shard fits in the memory of a task and
    all cores have one.
    """
    spark = df.sparkSession
    settings = dict(
        fpr=fpr, columns=columns, variant=variant, width=width, effort=effort, key_seed=key_seed
    )
    # An empty shard refuses what would be refused when all keys have come.
    Shard.build(0, [], shards=1 if shards is None else shards, **settings)
    if shards is not None and shards > MOST_SHARDS:
        raise ValueError(f"each shard takes a task: use at most {MOST_SHARDS} shards, not {shards}")
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
    """A frame of the one column "key", of a type that can be keys."""
    try:
        keys = df.select((F.col(column) if isinstance(column, str) else column).alias("key"))
        kind = keys.schema["key"].dataType
    except AnalysisException as error:
        if "UNRESOLVED_COLUMN" not in str(error):
            raise
        raise KeyError(f"no column {column!r}: the frame has {', '.join(df.columns)}") from error
    if not isinstance(kind, KEY_TYPES):
        raise TypeError(
            f"a column of {kind.simpleString()} cannot be keys: "
            "select one of integers, strings or binary, or cast it"
        )
    return keys


def _count(keys):
    rows, present = keys.agg(F.count("*"), F.count("key")).first()
    if present < rows:
        raise NullKeyError(f'{rows - present} of {rows} keys are null: leave them out with nulls="skip"')
    return rows


def shards_for(count, memory, cores, settings):
    """The least power of two for which a shard takes half the memory of a task and, if keys are
    many, no core is idle."""
    shards = 1
    while shards < MOST_SHARDS and (
        _memory_of_shard(count // shards, settings) > memory // 2
        or (shards < cores and count // shards > 2 * WORTHWHILE)
    ):
        shards *= 2
    return shards


def _memory_of_shard(keys, settings):
    """Bytes: what a filter takes, the hashes again without those bits that tell the shard, and the
    shard beside its filter. Shards are not all of the same size."""
    keys += int(5 * keys**0.5)
    width, columns = settings["width"], settings["columns"]
    fpr = settings["fpr"] if columns is None else 2**-columns
    variant = settings["variant"] or ("standard" if width == 16 else "bumped")
    try:
        outlook = plan(keys, fpr, variant=variant, width=width, effort=settings["effort"], threads=1)
    except ValueError:
        return float("inf")  # So many keys make no sense with these settings; fewer may.
    return outlook.peak_memory + 8 * keys + outlook.nbytes


def _task_memory(conf):
    """Bytes that Spark leaves to the Python process of a task: `conf` is that of a session."""
    cores = int(conf.get("spark.executor.cores", "1")) // int(conf.get("spark.task.cpus", "1"))
    memory = conf.get("spark.executor.pyspark.memory", None) or conf.get("spark.executor.memoryOverhead", None)
    if memory is None:
        return max(384 * MIB, _bytes(conf.get("spark.executor.memory", "1g")) // 10) // max(cores, 1)
    return _bytes(memory) // max(cores, 1)


def _bytes(text):
    """A size as Spark writes it: 512, which are MiB, 512m, 2gb or 4096b."""
    found = re.fullmatch(r"\s*(\d+)\s*(|b|[kmgtp]b?)\s*", text.lower())
    if not found:
        raise ValueError(f"{text!r} is no size of memory that Spark knows")
    number, unit = found.groups()
    return int(number) << (10 * "bkmgtp".index((unit or "m")[0]))


def _cores(spark):
    context = getattr(spark, "_sc", None)  # none in a client of Spark Connect
    return context.defaultParallelism if context is not None else 1


def _shard_frame(keys, shards, settings):
    """The frame of all finished shards in pieces, one task a shard."""
    slots = _slots(keys.sparkSession, shards)
    split = partial(hash_and_split, shards=shards, slots=slots, key_seed=settings["key_seed"])
    # A row for every shard: one without keys has a task, too.
    empty = keys.sparkSession.createDataFrame([(slot, n, b"") for n, slot in enumerate(slots)], HASHES)
    hashes = keys.mapInArrow(split, HASHES).unionByName(empty)
    return hashes.repartition(shards, "slot").mapInArrow(partial(build, shards=shards, **settings), PIECES)


def _slots(spark, shards):
    """For each shard a number that Spark sends to a partition of its own.

    Rows go to the partition `pmod(hash(column), partitions)`, so numbers are tried until every
    partition has one."""
    slots = {}
    start, step = 0, 8 * shards
    while len(slots) < shards:
        tried = spark.range(start, start + step, numPartitions=1).select(F.col("id").cast("int").alias("slot"))
        for slot, partition in tried.select("slot", F.expr(f"pmod(hash(slot), {shards})")).collect():
            slots.setdefault(partition, slot)
        start += step
    return [slots[shard] for shard in range(shards)]


def _fetch(pieces, folder):
    """Puts the pieces of shards, in any order, into one file a shard."""
    for shard, start, data in pieces.toLocalIterator():
        with open(os.open(os.path.join(folder, str(shard)), os.O_CREAT | os.O_WRONLY), "wb") as file:
            file.seek(start)
            file.write(data)


@contextmanager
def _errors_of_tasks():
    """What an executor raised about keys or memory is raised here, too."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        for kind in (NullKeyError, MemoryError, UnicodeError):
            found = re.search(rf"\b{kind.__name__}: (.*)", str(error))
            if found:
                raise kind(found[1]) from error
        raise
