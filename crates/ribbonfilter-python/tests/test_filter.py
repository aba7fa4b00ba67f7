"""Filters: build, query, files, bytes, shrinking, threads."""

import copy
import itertools
import os
import pickle
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ribbonfilter import Builder, Filter, FormatError, max_keys, plan

VARIANTS = [
    *itertools.product(["standard", "homogeneous"], [16, 32, 64, 128]),
    *itertools.product(["balanced", "bumped"], [32, 64, 128]),
]


@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 1000, 2048, 2049, 5000, 100_000])
def test_every_key_is_found(n):
    keys = np.random.default_rng(n).integers(0, 2**64, n, dtype=np.uint64)
    f = Filter.build(keys, fpr=0.01)
    assert len(f) == n
    assert f.contains(keys).all()
    assert f.contains(keys.tolist()).all()
    assert all(key in f for key in keys[:1000].tolist())
    assert f.contains(pa.array(keys)).true_count == n
    strangers = np.arange(100_000, dtype=np.int64)
    assert f.contains(strangers).mean() < 0.012
    assert f.expected_rate <= 0.01


@pytest.mark.parametrize("variant, width", VARIANTS)
def test_variants_and_widths(variant, width):
    n = 300 if width == 16 else 3000
    f = Filter.build(range(n), variant=variant, width=width)
    assert (f.variant, f.width) == (variant, width)
    assert f.contains(np.arange(n)).all()
    planned = plan(n, variant=variant, width=width)
    assert (planned.keys, planned.variant, planned.width) == (n, variant, width)
    assert planned.nbytes == f.nbytes


@pytest.mark.parametrize("n", [1000, 4000, 20_000, 50_000])
def test_efforts(n):
    normal, thorough = (Filter.build(range(n), effort=effort) for effort in ("normal", "thorough"))
    assert Filter.build(range(n)).to_bytes() == normal.to_bytes()
    assert thorough.nbytes <= normal.nbytes
    assert thorough.contains(np.arange(n)).all()
    for f, effort in ((normal, "normal"), (thorough, "thorough")):
        planned = plan(n, effort=effort)
        assert (planned.nbytes, planned.variant, planned.width) == (f.nbytes, f.variant, f.width)
    builder = Builder(effort="Thorough")
    builder.extend(range(n))
    assert builder.finish().to_bytes() == thorough.to_bytes()
    assert max_keys(thorough.nbytes, effort="thorough") >= n


def test_targets():
    keys = np.arange(100_000)
    assert Filter.build(keys, 0.05).expected_rate <= 0.05
    assert 8.19 < Filter.build(keys, bits_per_key=8.2).bits_per_key <= 8.2
    assert 99_990 < Filter.build(keys, total_bytes=100_000).nbytes <= 100_000
    assert Filter.build(keys).to_bytes() == Filter.build(keys, fpr=0.01, variant=None).to_bytes()
    f = Filter.build(keys, fpr=0.01)
    assert f.bits_per_key == 8 * f.nbytes / len(f)
    assert plan(max_keys(4096), 0.01).nbytes <= 4096


def test_bytes_do_not_depend_on_order_threads_and_input_type():
    keys = np.random.default_rng(1).integers(0, 2**63, 200_000)
    expected = Filter.build(keys, threads=1).to_bytes()
    assert Filter.build(keys[::-1], threads=2).to_bytes() == expected
    assert Filter.build(keys.tolist(), threads=3).to_bytes() == expected
    assert Filter.build(pa.chunked_array([keys[:7], keys[7:]])).to_bytes() == expected
    assert Filter.build(pl.Series(keys)).to_bytes() == expected
    builder = Builder()
    for key in keys[:10].tolist():
        builder.push(key)
    builder.extend(keys[10:1000])
    builder.extend(iter(keys[1000:].tolist()))
    assert len(builder) == 200_000
    assert builder.finish().to_bytes() == expected


def test_a_builder_builds_once():
    builder = Builder()
    builder.finish()
    with pytest.raises(ValueError, match="already"):
        builder.finish()
    with pytest.raises(ValueError, match="already"):
        builder.push("ada")


def test_results_have_the_type_of_the_keys():
    f = Filter.build(["ada", "grace"], fpr=1e-9)
    names, expected = ["ada", "niklaus", "grace"], [True, False, True]
    for keys in (names, tuple(names), iter(names), np.array(names), pd.Series(names)):
        hits = f.contains(keys)
        assert type(hits) is np.ndarray and hits.dtype == np.bool_
        assert hits.tolist() == expected
        hits[0] = False  # The caller may write to the result.
    hits = f.contains(pa.array(names))
    assert type(hits) is pa.BooleanArray and hits.to_pylist() == expected
    hits = f.contains(pa.chunked_array([names[:1], names[1:], []]))
    assert type(hits) is pa.ChunkedArray and hits.to_pylist() == expected
    assert [len(chunk) for chunk in hits.chunks] == [1, 2, 0]
    assert f.contains(pa.chunked_array([], pa.string())).type == pa.bool_()
    hits = f.contains(pl.Series("names", names))
    assert type(hits) is pl.Series and hits.name == "names" and hits.to_list() == expected
    assert f.contains("ada") is True and f.contains(b"niklaus") is False


def test_nulls_can_be_skipped():
    keys = ["ada", None, "grace", None, None]
    expected = Filter.build(["ada", "grace"]).to_bytes()
    forms = [
        keys,
        np.array(keys, dtype=object),
        pa.array(keys),
        pa.array(keys, pa.string_view()),
        pa.array(keys).dictionary_encode(),
        pa.chunked_array([keys[:2], keys[2:]]),
        pl.Series(keys),
        pd.Series(keys),
        pd.Series(keys, dtype="string"),
    ]
    present = [True, False, True, False, False]
    for form in forms:
        f = Filter.build(form, nulls="skip")
        assert len(f) == 2 and f.to_bytes() == expected, type(form)
        hits = f.contains(form, nulls="skip")
        if isinstance(hits, np.ndarray):
            assert hits.tolist() == present
        else:
            hits = hits.to_list() if isinstance(hits, pl.Series) else hits.to_pylist()
            assert hits == [True, None, True, None, None]
    numbers = pa.array([1, None, 3] * 2000)
    f = Filter.build(numbers, nulls="skip", fpr=1e-9)
    assert f.contains(numbers, nulls="skip").to_pylist() == [True, None, True] * 2000
    assert len(Filter.build(pa.nulls(5), nulls="skip")) == 0


@pytest.mark.parametrize("mmap", [True, False])
def test_files(tmp_path, mmap):
    keys = np.arange(50_000)
    f = Filter.build(keys)
    path = tmp_path / "keys.ribbon"
    f.save(path)
    f.save(str(path))
    assert os.listdir(tmp_path) == ["keys.ribbon"]
    assert path.read_bytes() == f.to_bytes()
    loaded = Filter.open(path, mmap=mmap)
    os.remove(path)
    assert loaded.contains(keys).all()
    loaded.verify()
    loaded.save(path)
    assert path.read_bytes() == f.to_bytes()


def test_a_mapped_file_may_be_replaced(tmp_path):
    path = tmp_path / "keys.ribbon"
    Filter.build(range(100_000)).save(path)
    mapped = Filter.open(path)
    Filter.build(["other"]).save(path)
    assert mapped.contains(np.arange(100_000)).all()
    assert "other" in Filter.open(path)


def test_save_follows_links_and_leaves_no_other_files(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    f = Filter.build(["ada"])
    f.save(link)
    assert link.is_symlink() and target.read_bytes() == f.to_bytes()
    with pytest.raises(IsADirectoryError):
        f.save(tmp_path)
    with pytest.raises(FileNotFoundError):
        f.save(tmp_path / "no" / "such" / "file")
    assert sorted(os.listdir(tmp_path)) == ["link", "target"]


def test_bytes_buffer_pickle_copy():
    f = Filter.build(range(10_000))
    data = f.to_bytes()
    view = memoryview(f)
    assert view.readonly and view.nbytes == f.nbytes and view.format == "B" and view == data
    assert bytes(f) == data and np.frombuffer(f, np.uint8).nbytes == f.nbytes
    del f
    assert view == data  # The view keeps its filter alive.
    for source in (data, bytearray(data), memoryview(data), view, np.frombuffer(data, np.uint8)):
        assert Filter.from_bytes(source).contains(np.arange(10_000)).all()
    f = Filter(data)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(f, protocol)).to_bytes() == data
    assert copy.deepcopy(f).to_bytes() == copy.copy(f).to_bytes() == data
    with pytest.raises(TypeError):
        memoryview(f)[0] = 1


def test_changing_a_bytearray_does_not_change_the_filter():
    data = bytearray(Filter.build(["ada"]).to_bytes())
    f = Filter.from_bytes(data)
    data[:] = bytes(len(data))
    assert "ada" in f


def test_subclasses_stay_subclasses():
    class Names(Filter):
        pass

    names = Names.build(["ada"])
    assert type(names) is Names and type(names.shrink_to_rate(0.5)) is Names
    assert memoryview(names).nbytes == names.nbytes


def test_shrink_and_split():
    keys = np.arange(50_000)
    f = Filter.build(keys, fpr=1 / 256)
    assert f.shrink_to_rate(0.05).to_bytes() == Filter.build(keys, fpr=0.05).to_bytes()
    assert f.shrink_to_bytes(30_000).nbytes <= 30_000
    parts = f.split_columns([3, 5])
    assert all(part.contains(keys).all() for part in parts)
    strangers = np.arange(50_000, 150_000)
    together = parts[0].contains(strangers) & parts[1].contains(strangers)
    assert (together == f.contains(strangers)).all()


def test_corrupt_bytes_are_detected():
    data = bytearray(Filter.build(range(1000)).to_bytes())
    data[10] ^= 1
    with pytest.raises(FormatError):
        Filter.from_bytes(data).verify()


def test_other_threads_run_meanwhile():
    """Builds and queries release the GIL: another thread runs at the same time."""
    keys = np.arange(3_000_000)
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.001):
            ticks.append(None)

    ticker = threading.Thread(target=tick)
    ticker.start()
    f = Filter.build(keys, threads=1)
    while_building = len(ticks)
    f.contains(keys)
    while_querying = len(ticks) - while_building
    stop.set()
    ticker.join()
    # If the GIL were not released, the other thread would run once or twice.
    assert while_building > 10 and while_querying > 5


@pytest.mark.parametrize("threads", [0, 1, 2, 3, 7])
def test_threads_give_the_same_results(threads):
    keys = np.arange(500_000)
    f = Filter.build(keys[::2])
    expected = f.contains(keys)
    assert (f.contains(keys, threads=threads) == expected).all()
    column = pa.chunked_array([pa.array(keys[:123_457], mask=keys[:123_457] % 5 == 0), keys[123_457:]])
    hits = f.contains(column, nulls="skip", threads=threads)
    assert hits.equals(f.contains(column, nulls="skip"))
    assert hits.null_count == 24_692
    assert f.contains(keys[:10].tolist(), threads=threads).tolist() == expected[:10].tolist()


def test_a_filter_is_shared_by_threads():
    keys = np.arange(100_000)
    f = Filter.build(keys)
    failures = []

    def query():
        if not f.contains(keys).all():
            failures.append(None)

    threads = [threading.Thread(target=query) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
