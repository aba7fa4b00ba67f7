"""Many keys on a cluster of two executors: `scripts/test-spark [KEYS]`, 5 * 10^7 by default.

Builds a filter from strings in a Parquet table and compares its bytes with those of one machine,
kills an executor during a second build, and counts the rows that are not in the filter.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import cluster  # noqa: E402
from ribbonfilter import Shards  # noqa: E402

FPR = 0.01


def timed(what, work):
    start = time.perf_counter()
    result = work()
    print(f"{what:42} {time.perf_counter() - start:8.1f} s", flush=True)
    return result


def main(n, directory):
    import pyspark
    from pyspark.sql import functions as F
    from ribbonfilter.spark import build_filter, contains

    print(f"{n} strings of 16 bytes, PySpark {pyspark.__version__}")
    spark = timed("start of the cluster", lambda: cluster.start(**{"spark.sql.shuffle.partitions": "8"}))

    def strings(start, end):
        return spark.range(start, end).select(F.lpad(F.col("id").cast("string"), 16, "0").alias("key"))

    table = f"{directory}/keys.parquet"
    timed("writing the table", lambda: strings(0, n).write.parquet(table))
    keys = spark.read.parquet(table)
    path, again = f"{directory}/keys.ribbon", f"{directory}/again.ribbon"
    f = timed("build_filter", lambda: build_filter(keys, "key", path, fpr=FPR))
    print(f)

    # The stage that builds is the only one with one task per shard.
    def building(stage):
        return stage.numTasks == f.shard_count and stage.numCompletedTasks >= 1

    with cluster.Killer(spark, building) as killer:
        timed("build_filter, an executor killed", lambda: build_filter(keys, "key", again, fpr=FPR, shards=f.shard_count))
    assert killer.killed is not None, "the build finished before an executor could be killed"
    assert Path(again).read_bytes() == Path(path).read_bytes(), "the killed executor changed the bytes"

    queried = strings(n // 2, n + n // 2)
    absent = timed("counting rows that are not in the filter", lambda: queried.where(~contains("key", path)).count())
    spark.stop()

    column = pq.read_table(table).column("key")
    alone = timed("Shards.build on one machine", lambda: Shards.build(column, fpr=FPR, shards=f.shard_count))
    assert alone.to_bytes() == Path(path).read_bytes(), "one machine makes different bytes"
    assert len(os.listdir(directory)) == 3, os.listdir(directory)
    import numpy as np
    import pyarrow as pa

    strangers = pc.utf8_lpad(pa.array(np.arange(n, n + n // 2)).cast(pa.string()), 16, "0")
    false = int(pc.sum(alone.contains(strangers)).as_py() or 0)
    assert absent == len(strangers) - false, (absent, len(strangers), false)
    print(f"the same bytes in all three builds; {absent} rows absent, {false} false positives ({false / len(strangers):.5f})")


if __name__ == "__main__":
    count = int(float(sys.argv[1])) if len(sys.argv) > 1 else 5 * 10**7
    with tempfile.TemporaryDirectory(prefix="ribbon-spark-", dir=os.environ.get("RIBBONFILTER_WORK")) as work:
        main(count, work)
