"""Invalid input raises an exception of the appropriate class and never crashes."""

import random
import signal
import subprocess
import sys
from unittest.mock import Mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ribbonfilter import Builder, ExactSet, Filter, FormatError, Function, NullKeyError, Shard, Shards, max_keys, plan


class Index:
    """An integer whose value cannot be read."""

    def __index__(self):
        raise RuntimeError("no value")


def failing():
    yield "ada"
    raise KeyError("from the generator")


INVALID = [
    (None, TypeError, "NoneType"),
    ("ada", TypeError, "list"),
    (b"ada", TypeError, "list"),
    (5, TypeError, "list"),
    (1.5, TypeError, "float"),
    (object(), TypeError, "object"),
    (["a", 1], TypeError, "position 1"),
    ([1, "a"], TypeError, "position 1"),
    (["a", b"a"], TypeError, "one type"),
    ([1, 2.0], TypeError, "float"),
    ([True], TypeError, "bool"),
    ([["a"]], TypeError, "of type list"),
    ([("a",)], TypeError, "tuple"),
    ([np.zeros(2, int)], TypeError, "position 0"),
    ([None], NullKeyError, "position 0"),
    (["a", None], NullKeyError, "nulls"),
    ([1, float("nan")], NullKeyError, "nulls"),
    ([2**128], OverflowError, "2\\^128"),
    ([-(2**127) - 1], OverflowError, "bytes"),
    (["\ud800"], UnicodeEncodeError, "surrogates"),
    ([Index()], RuntimeError, "no value"),
    (failing(), KeyError, "generator"),
    (np.arange(3.0), TypeError, "float64"),
    (np.array([True]), TypeError, "bool"),
    (np.array([1j]), TypeError, "complex"),
    (np.array(["2020-01-01"], "M8[D]"), TypeError, "datetime64"),
    (np.zeros((2, 2), int), ValueError, "one dimension"),
    (np.array(5), TypeError, "list"),
    (np.zeros(2, dtype=[("a", "u1"), ("b", "u8")]), TypeError, "cannot be used as keys"),
    (np.ma.array([1, 2], mask=[0, 1]), TypeError, "compressed"),
    (np.array(["a", 1], dtype=object), TypeError, "one type"),
    (pa.array([1.5]), TypeError, "Float64"),
    (pa.array([True]), TypeError, "Boolean"),
    (pa.array([[1], [2]]), TypeError, "List"),
    (pa.array([{"a": 1}]), TypeError, "Struct"),
    (pa.array([1, None]), NullKeyError, "position 1"),
    (pa.nulls(2), NullKeyError, "position 0"),
    (pa.chunked_array([[1, 2], [3, None]]), NullKeyError, "position 3"),
    (pa.table({"a": [1]}), TypeError, "column"),
    (pa.record_batch({"a": [1]}), TypeError, "column"),
    (pa.array([1, 2], pa.timestamp("s")), TypeError, "cast"),
    (pa.array([1.5]).dictionary_encode(), TypeError, "Float64"),
    (pl.Series([1.5]), TypeError, "Float64"),
    (pl.Series([1, None]), NullKeyError, "position 1"),
    (pl.Series([[1], [2]]), TypeError, "List"),
    (pl.DataFrame({"a": [1]}), TypeError, "column"),
    (pd.Series([1.5]), TypeError, "float64"),
    (pd.Series(["a", None]), NullKeyError, "position 1"),
    (pd.Series([1, None], dtype="Int64"), NullKeyError, "position 1"),
    (pd.DataFrame({"a": [1]}), TypeError, "column"),
]


@pytest.mark.parametrize("keys, error, message", INVALID, ids=lambda value: repr(value)[:40])
def test_invalid_keys(keys, error, message):
    calls = [Filter.build, Builder().extend]
    if message != "list":  # `contains` takes a single key as well.
        calls.append(Filter.build(["ada"]).contains)
    for call in calls:
        if hasattr(keys, "send"):
            keys = failing()
        with pytest.raises(error, match=message):
            call(keys)


class Scalar:
    """Looks like an Arrow scalar, and so does its value."""

    def as_py(self):
        return self


INVALID_KEYS = [None, 1.5, [], True, object(), {}, float("nan"), Mock(), Scalar(), pa.scalar(1.5)]


@pytest.mark.parametrize("key", INVALID_KEYS, ids=lambda key: type(key).__name__)
def test_invalid_single_key(key):
    f = Filter.build(["ada"])
    with pytest.raises(TypeError):
        key in f
    with pytest.raises(TypeError):
        Builder().push(key)
    with pytest.raises(TypeError):
        Function.build({"ada": 1})[key]


def test_a_builder_does_not_mix_types():
    builder = Builder()
    builder.push("ada")
    for mixed in ([1], np.arange(3), pa.array([1]), [b"ada"]):
        with pytest.raises(TypeError, match="one type"):
            builder.extend(mixed)
    with pytest.raises(TypeError, match="one type"):
        builder.push(1)
    builder.extend(pa.array(["grace"]))
    assert len(builder) == 2


def test_a_series_that_converts_to_itself():
    class Series:
        __module__ = "pandas"
        array = None

        def to_numpy(self):
            return self

    with pytest.raises(TypeError, match="iterable"):
        Filter.build(Series())


PIECE = 2048  # The number of keys that are hashed and pushed in one batch.


@pytest.mark.parametrize("n", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE - 1])
def test_keys_preceding_an_invalid_one_are_added(n):
    def interrupted():
        yield from range(n)
        raise KeyError("from the generator")

    for keys, error in (
        ([*range(n), 1.5], TypeError),
        ([*range(n), None, n], NullKeyError),
        ([*range(n), 2**128], OverflowError),
        (interrupted(), KeyError),
    ):
        builder = Builder()
        with pytest.raises(error):
            builder.extend(keys)
        assert len(builder) == n
        assert builder.finish().contains(range(n)).all()


def test_a_rejected_array_adds_no_keys():
    builder = Builder()
    for keys in (pa.array([1, 2, None]), pa.chunked_array([[1], [None]]), np.arange(3.0)):
        with pytest.raises(TypeError):
            builder.extend(keys)
    assert len(builder) == 0
    builder.push("ada")  # The rejected integers did not set the type of the keys.


@pytest.mark.parametrize(
    "settings, error",
    [
        ({"fpr": 0}, ValueError),
        ({"fpr": 1.5}, ValueError),
        ({"fpr": float("nan")}, ValueError),
        ({"fpr": "x"}, TypeError),
        ({"fpr": 0.1, "bits_per_key": 8}, ValueError),
        ({"total_bytes": 100, "bits_per_key": 8}, ValueError),
        ({"bits_per_key": -1}, ValueError),
        ({"total_bytes": 1}, ValueError),
        ({"total_bytes": -1}, ValueError),
        ({"total_bytes": 1.5}, TypeError),
        ({"variant": "bloom"}, ValueError),
        ({"variant": 5}, ValueError),
        ({"width": 7}, ValueError),
        ({"width": "64"}, TypeError),
        ({"effort": "most"}, ValueError),
        ({"effort": 1}, ValueError),
        ({"effort": None}, ValueError),
        ({"threads": -1}, ValueError),
        ({"nulls": "ignore"}, ValueError),
        ({"max_memory": 10}, MemoryError),
        ({"key_seed": 2**64}, ValueError),
        ({"fprr": 0.1}, TypeError),
    ],
    ids=repr,
)
def test_settings(settings, error):
    with pytest.raises(error):
        Filter.build(range(1000), **settings)


def test_invalid_efforts():
    for attempt in (
        lambda: Filter.build([1], effort="most"),
        lambda: Builder(effort="most"),
        lambda: Shards.build([1], shards=2, effort="most"),
        lambda: Shard.build(0, [], shards=2, effort="most"),
        lambda: Function.build({1: 1}, effort="most"),
        lambda: ExactSet.build([1], [2], effort="most"),
        lambda: plan(1, effort="most"),
        lambda: max_keys(4096, effort="most"),
    ):
        with pytest.raises(ValueError, match='^effort must be "normal" or "thorough", but is "most"$'):
            attempt()


def test_plans():
    with pytest.raises(ValueError, match="use width"):
        plan(10**6, variant="standard", width=16)
    with pytest.raises(ValueError):
        plan(-1)
    with pytest.raises(TypeError):
        plan("many")
    with pytest.raises(ValueError):
        plan(2**63)


def test_shrinking_too_far():
    f = Filter.build(range(1000))
    for attempt in (
        lambda: f.shrink_to_rate(0.001),
        lambda: f.shrink_to_rate(7),
        lambda: f.shrink_to_bytes(1),
        lambda: f.split_columns([1]),
        lambda: f.split_columns([]),
    ):
        with pytest.raises(ValueError):
            attempt()


def test_invalid_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        Filter.open(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        Filter.open(tmp_path)
    with pytest.raises(TypeError):
        Filter.open(5.5)
    path = tmp_path / "file"
    data = Filter.build(range(1000)).to_bytes()
    for mmap in (True, False):
        for cut in [*range(0, 60), len(data) // 2, len(data) - 41, len(data) - 40, len(data) - 1]:
            path.write_bytes(data[:cut])
            with pytest.raises(FormatError, match="file"):
                Filter.open(path, mmap=mmap)
        path.write_bytes(data + b"x")
        with pytest.raises(FormatError):
            Filter.open(path, mmap=mmap)
        path.write_bytes(Function.build({"a": 1}).to_bytes())
        with pytest.raises(FormatError, match="function"):
            Filter.open(path, mmap=mmap)


def test_invalid_bytes():
    for data in (None, 5, "text", [1, 2]):
        with pytest.raises(TypeError):
            Filter.from_bytes(data)
    numbers = random.Random(1)
    valid = Filter.build(range(5000)).to_bytes()
    for _ in range(300):
        data = bytearray(valid)
        for _ in range(numbers.randrange(1, 4)):
            data[-numbers.randrange(1, 60)] = numbers.randrange(256)
        try:
            Filter.from_bytes(data).contains(np.arange(1000))
        except FormatError:
            pass


def test_functions():
    with pytest.raises(TypeError, match="mapping"):
        Function.build(["a"])
    with pytest.raises(ValueError, match="2 keys and 1 values"):
        Function.build(["a", "b"], [1])
    with pytest.raises(ValueError, match="1 keys and 2 values"):
        Function.build(["a"], [1, 2])
    for values in ([-1], [2**64], np.array([-1]), pa.array([-1])):
        with pytest.raises(ValueError):
            Function.build(["a"], values)
    for values in ([1.5], ["x"], [None], np.array([1.5]), pa.array(["x"])):
        with pytest.raises(TypeError):
            Function.build(["a"], values)
    for mask in ([0, 1], [0, 0]):
        with pytest.raises(TypeError, match="filled"):
            Function.build(["a", "b"], np.ma.array([1, 2], mask=mask))
    with pytest.raises(ValueError, match="value_bits"):
        Function.build(["a"], [9], value_bits=3)
    with pytest.raises(ValueError, match="different values"):
        Function.build(["a", "a"], [1, 2])
    with pytest.raises(TypeError, match="fpr"):
        Function.build({"a": 1}, fpr=0.1)
    with pytest.raises(ValueError):
        Function.build({"a": 1}, variant="homogeneous")


class Liar:
    """An Arrow array or stream whose export method returns any given object."""

    def __init__(self, method, result):
        setattr(self, method, lambda requested_schema=None: result)


def test_streams_that_fail():
    for method in ("__arrow_c_array__", "__arrow_c_stream__"):
        for result in (None, 5, (1, 2), pa.array([1]).__arrow_c_array__()[0]):
            with pytest.raises((TypeError, ValueError)):
                Filter.build(Liar(method, result))


def build_of_array(schema, array):
    return Filter.build(Liar("__arrow_c_array__", (schema, array)))


def build_of_stream(stream):
    return Filter.build(Liar("__arrow_c_stream__", stream))


@pytest.mark.parametrize("use", [build_of_array, pa.Array._import_from_c_capsule])
def test_arrow_arrays_are_consumed_once(use):
    (schema, array), *fresh = (pa.array([1, 2]).__arrow_c_array__() for _ in range(3))
    use(schema, array)
    for pair in ((schema, array), (schema, fresh[0][1]), (fresh[1][0], array)):
        with pytest.raises(ValueError, match="already consumed"):
            build_of_array(*pair)


@pytest.mark.parametrize("use", [build_of_stream, pa.ChunkedArray._import_from_c_capsule])
def test_arrow_streams_are_consumed_once(use):
    stream = pa.chunked_array([[1], [2]]).__arrow_c_stream__()
    use(stream)
    with pytest.raises(ValueError, match="already consumed"):
        build_of_stream(stream)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_ctrl_c_stops_a_build():
    program = (
        "import itertools, ribbonfilter\n"
        "print('ready', flush=True)\n"
        "ribbonfilter.Filter.build(itertools.repeat(7))\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in child.communicate(timeout=60)[1]
