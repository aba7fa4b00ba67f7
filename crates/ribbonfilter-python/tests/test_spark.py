"""Filters built and queried by a real cluster of two executors."""

import os
import re
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import cluster
from ribbonfilter import Filter, FormatError, NullKeyError, Shard, Shards

pytestmark = [
    pytest.mark.skipif("JAVA_HOME" not in os.environ, reason="Spark needs Java 17 or later: set JAVA_HOME"),
    pytest.mark.filterwarnings("ignore"),  # PySpark raises warnings of its own.
]

RIBBON = os.environ.get("RIBBON")


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    mount = tmp_path_factory.mktemp("mount")
    session = cluster.start(
        **{
            # A Hadoop file system that does not count as local.
            "spark.hadoop.fs.viewfs.mounttable.cluster.link./data": f"file://{mount}",
            "spark.speculation": "true",
        }
    )
    session.mount = mount
    yield session
    session.stop()


@pytest.fixture
def words(spark):
    from pyspark.sql import functions as F

    return spark.range(30_000).select(F.concat(F.lit("größe "), F.col("id")).alias("word"), "id")


WORDS = [f"größe {n}" for n in range(30_000)]


def test_cluster_and_one_machine_make_the_same_bytes(spark, words, tmp_path):
    from ribbonfilter.spark import build_filter

    path = tmp_path / "größe [1] {a,b} *.ribbon"
    path.write_bytes(b"replaced")
    f = build_filter(words, "word", path, fpr=0.001, shards=4)
    assert isinstance(f, Shards) and (f.shard_count, len(f)) == (4, len(WORDS))
    assert path.read_bytes() == Shards.build(WORDS, fpr=0.001, shards=4).to_bytes()
    assert os.listdir(tmp_path) == [path.name]
    f.verify()
    if RIBBON:
        lines = "".join(word + "\n" for word in WORDS).encode()
        theirs = tmp_path / "theirs"
        command = [RIBBON, "build", "--shards", "4", "--fpr", "0.001", "-o", theirs]
        subprocess.run(command, input=lines, check=True)
        assert theirs.read_bytes() == path.read_bytes()
        subprocess.run([RIBBON, "verify", path], check=True)
        found = subprocess.run([RIBBON, "query", path], input=lines, capture_output=True, check=True)
        assert found.stdout == lines


def test_a_killed_executor_does_not_change_the_bytes(spark, tmp_path):
    from ribbonfilter.spark import build_filter

    def slowly(batches):
        for batch in batches:
            time.sleep(0.4)
            yield batch

    keys = spark.range(0, 60_000, 1, 6).mapInArrow(slowly, "id long")
    # Hashes that were written but not yet fetched are lost.
    with cluster.Killer(spark, lambda stage: stage.numTasks > 6 and stage.numCompletedTasks >= 2) as killer:
        f = build_filter(keys, "id", tmp_path / "ids.ribbon", shards=8)
    assert killer.killed is not None
    assert f.to_bytes() == Shards.build(np.arange(60_000), shards=8).to_bytes()
    assert os.listdir(tmp_path) == ["ids.ribbon"]


def test_settings_duplicates_and_nulls(spark, tmp_path):
    from pyspark.sql import functions as F
    from ribbonfilter.spark import build_filter

    settings = dict(shards=2, columns=7.0, variant="standard", width=64, effort="thorough", key_seed=9)
    rows = spark.range(20_000).select(F.when(F.col("id") % 5 > 0, F.col("id") % 7_000).alias("id"))
    keys = [n % 7_000 for n in range(20_000) if n % 5 > 0]
    f = build_filter(rows, F.col("id").cast("int"), tmp_path / "ids", nulls="skip", **settings)
    assert f.to_bytes() == Shards.build(keys, **settings).to_bytes()
    assert (f.variant, f.width, f.key_seed, f.columns) == ("standard", 64, 9, 7)
    for counted in (dict(shards=2), dict()):  # A task reports the null, or the count does.
        with pytest.raises(NullKeyError, match="skip"):
            build_filter(rows, "id", tmp_path / "none", **counted)
    assert os.listdir(tmp_path) == ["ids"]


def test_contains(spark, words, tmp_path):
    from pyspark.sql import functions as F
    from ribbonfilter.spark import build_filter, contains

    path = tmp_path / "words"
    f = build_filter(words.where("id % 2 = 0"), "word", path, fpr=0.01, count=15_000)
    assert words.where(contains("word", path) & (F.col("id") % 2 == 0)).count() == 15_000
    false = int(f.contains(WORDS).sum()) - 15_000
    assert words.where(~contains(F.col("word"), str(path))).count() == 15_000 - false
    # An exact anti-join: the filter removes most rows before the join.
    even = words.where("id % 2 = 0").select("word")
    perhaps = words.where(contains("word", path))
    assert perhaps.join(even, "word", "left_anti").count() == false
    # Integers with nulls, in a file that holds a `Filter`; then another filter replaces the file.
    Filter.build(range(100), fpr=1e-9).save(path)
    numbers = spark.createDataFrame([(5,), (None,), (2**53 - 1,), (-1,)], "n long")
    expected = [True, None, False, False]
    assert [row[0] for row in numbers.select(contains("n", path)).collect()] == expected
    binary = spark.createDataFrame([(bytearray(b"ada"),), (bytearray(b"\xff"),)], "b binary")
    Filter.build([b"ada"], fpr=1e-9).save(path)
    assert [row[0] for row in binary.select(contains("b", path)).collect()] == [True, False]


def test_a_hadoop_file_system(spark, words, monkeypatch):
    from ribbonfilter.spark import _files, build_filter, contains

    path = "viewfs://cluster/data/words.ribbon"
    # A new file, a replacement by renaming, and a replacement as on object stores.
    for fpr, renames in ((0.1, _files.RENAMES), (0.001, _files.RENAMES), (0.01, ())):
        monkeypatch.setattr(_files, "RENAMES", renames)
        f = build_filter(words, "word", path, fpr=fpr, shards=2)
        assert f.to_bytes() == Shards.build(WORDS, fpr=fpr, shards=2).to_bytes()
        assert (spark.mount / "words.ribbon").read_bytes() == f.to_bytes()
        assert words.where(contains("word", path)).count() == len(WORDS)
    assert not [name for name in os.listdir(spark.mount) if "shards" in name]
    with pytest.raises(IsADirectoryError):
        build_filter(words, "word", "viewfs://cluster/data", shards=2)
    for path in ("viewfs://cluster/elsewhere/x", "unknown://x/y"):
        with pytest.raises(OSError, match=path):
            build_filter(words, "word", path, shards=2)
    with pytest.raises(FileNotFoundError):
        contains("word", "viewfs://cluster/data/none")


def test_a_corrupt_container_is_reported_as_a_container(spark, words, tmp_path):
    from ribbonfilter.spark import contains

    path = tmp_path / "words.ribbon"
    path.write_bytes(Shards.build(WORDS, shards=4).to_bytes()[1:])
    with pytest.raises(FormatError, match="should have"):
        contains("word", path)


@pytest.mark.parametrize(
    "text, size",
    [("512", 512 << 20), ("4096b", 4096), ("3k", 3 << 10), ("512m", 512 << 20), (" 2GB ", 2 << 30)],
)
def test_memory_sizes(text, size):
    from ribbonfilter.spark._build import _bytes

    assert _bytes(text) == size
    with pytest.raises(ValueError, match="size"):
        _bytes(text + "?")


def test_no_keys(spark, words, tmp_path):
    from ribbonfilter.spark import build_filter

    for shards in (None, 4):
        f = build_filter(words.where("id < 0"), "word", tmp_path / "none", shards=shards)
        assert len(f) == 0 and "größe 1" not in f and f.shard_count == (shards or 1)


def test_invalid_arguments(spark, words, tmp_path):
    from pyspark.sql import functions as F
    from ribbonfilter.spark import build_filter, contains

    path = tmp_path / "f"
    with pytest.raises(KeyError, match="word, id"):
        build_filter(words, "wort", path)
    for column in (F.lit(1.5), F.array("word"), F.struct("word"), F.lit(True), F.current_date()):
        with pytest.raises(TypeError, match="cannot be used as keys"):
            build_filter(words, column, path)
    for settings in (dict(shards=3), dict(shards=0), dict(shards=2**17), dict(count=-1), dict(fpr=2.0), dict(width=7), dict(effort="most"), dict(nulls="no")):
        with pytest.raises(ValueError):
            build_filter(words, "word", path, **settings)
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises(NotADirectoryError):
        build_filter(words, "word", tmp_path / "file" / "f", shards=2)
    with pytest.raises(FileNotFoundError):
        build_filter(words, "word", tmp_path / "no" / "f", shards=2)
    with pytest.raises(IsADirectoryError):
        build_filter(words, "word", tmp_path, shards=2)
    with pytest.raises(FileNotFoundError):
        contains("word", path)
    path.write_bytes(Shards.build(WORDS, shards=2).to_bytes()[:-100])
    with pytest.raises(FormatError):
        contains("word", path)
    assert sorted(os.listdir(tmp_path)) == ["f", "file"]
    Filter.build(WORDS).save(path)
    with pytest.raises(Exception, match="(?i)double|float64"):
        words.select(contains(F.lit(1.5), path)).collect()


def test_the_number_of_shards():
    from ribbonfilter.spark._build import _task_memory, shards_for

    settings = dict(fpr=None, columns=None, variant=None, width=None, effort="normal")
    memory = _task_memory({})
    assert memory == 384 << 20
    counts = [0, 1, 10**5, 10**6, 10**7, 10**8, 10**9]
    assert [shards_for(count, memory, 2, settings) for count in counts] == [1, 1, 1, 2, 2, 16, 128]
    assert shards_for(10**7, memory, 1000, settings) == 128
    assert shards_for(10**7, 16 * memory, 1, settings) == 1
    # A thousand keys are too many for such a filter.
    assert shards_for(1000, memory, 1, {**settings, "width": 16, "columns": 7.5}) == 2
    conf = {"spark.executor.memory": "8g", "spark.executor.cores": "4"}
    assert _task_memory(conf) == (8 << 30) // 10 // 4
    assert _task_memory({**conf, "spark.executor.memoryOverhead": "1024"}) == 256 << 20
    assert _task_memory({**conf, "spark.executor.pyspark.memory": "2 GB", "spark.task.cpus": "2"}) == 1 << 30


class Frame:
    """The part of a data frame that `_fetch` uses."""

    def __init__(self, batches):
        self.rows = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]

    def toLocalIterator(self):
        return iter(self.rows[::-1])


@pytest.mark.parametrize("shards", [1, 2, 8])
@pytest.mark.parametrize("n", [0, 1, 511, 512, 513, 5000])
def test_tasks_without_a_cluster(n, shards, tmp_path, monkeypatch):
    import pyarrow as pa
    from ribbonfilter.spark import _build, _tasks

    monkeypatch.setattr(_tasks, "PIECE", 100)
    monkeypatch.setattr(_tasks, "MAX_KEYS", 1000)
    slots = [7 * number + 3 for number in range(shards)]
    batches = (pa.record_batch({"key": np.arange(start, min(start + 300, n))}) for start in range(0, n, 300))
    split = list(_tasks.hash_and_split(batches, shards=shards, slots=slots, key_seed=0))
    rows = pa.Table.from_batches(split) if split else pa.table({"slot": [], "shard": [], "hashes": []})
    assert all(len(hashes) <= 8 * _tasks.ROW for hashes in rows["hashes"].to_pylist())
    assert all(slots[number] == slot for slot, number in zip(*rows.select(["slot", "shard"]).to_pydict().values()))
    empty = {"slot": [0], "shard": pa.array([0], pa.int32()), "hashes": pa.array([b""])}
    for number in range(shards):
        own = [batch.filter(pa.compute.equal(batch.column("shard"), number)) for batch in split]
        own = [pa.record_batch({**empty, "shard": pa.array([number], pa.int32())}), *(batch for batch in own if len(batch))]
        _build._fetch(Frame(_tasks.build(iter(own), shards=shards)), tmp_path)
    assembled = Shards.assemble(Shard.open(path) for path in tmp_path.iterdir())
    assert assembled == Shards.build(range(n), shards=shards)
    assert list(_tasks.build(iter([]), shards=shards)) == []
    if shards > 1 and n == 5000:
        with pytest.raises(RuntimeError, match="one task"):
            list(_tasks.build(iter(split), shards=shards))


@pytest.mark.parametrize("document", ["README.md", "docs/spark.md"])
def test_documents(spark, document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[3] / document).read_text()
    blocks = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "ribbonfilter.spark" in block]
    assert blocks
    pages = spark.range(1000).selectExpr("concat('page ', id) url", "id")
    for block in blocks:
        exec(block, {"spark": spark, "seen": pages.where("id < 500"), "pages": pages})
