"""Python and the command `ribbon` read each other's files and write the same bytes."""

import os
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from ribbonfilter import Filter

RIBBON = os.environ.get("RIBBON")
pytestmark = pytest.mark.skipif(RIBBON is None, reason="RIBBON is not set to the path of the command")

WORDS = [f"größe {n}" for n in range(5000)]


def ribbon(*arguments, status=0, **options):
    done = subprocess.run([RIBBON, *map(str, arguments)], capture_output=True, **options)
    assert done.returncode == status, done.stderr.decode()
    return done.stdout


def test_text(tmp_path):
    lines = "".join(word + "\n" for word in WORDS).encode()
    ribbon("build", "-o", tmp_path / "theirs", "--fpr", "0.001", input=lines)
    ours = Filter.build(pa.array(WORDS), fpr=0.001)
    ours.save(tmp_path / "ours")
    assert (tmp_path / "theirs").read_bytes() == ours.to_bytes()
    assert Filter.open(tmp_path / "theirs").contains(WORDS).all()
    assert ribbon("query", tmp_path / "ours", input=lines) == lines
    strangers = [f"stranger {n}" for n in range(5000)]
    found = ribbon("query", tmp_path / "ours", input="\n".join(strangers).encode()).decode()
    hits = ours.contains(strangers)
    assert found.splitlines() == [word for word, hit in zip(strangers, hits) if hit]


def test_integers(tmp_path):
    keys = np.random.default_rng(1).integers(0, 2**64, 40_000, dtype=np.uint64)
    keys.astype("<u8").tofile(tmp_path / "keys")
    ribbon("build", "--input", "u64le", tmp_path / "keys", "-o", tmp_path / "theirs")
    ours = Filter.build(keys)
    assert (tmp_path / "theirs").read_bytes() == ours.to_bytes()
    ours.save(tmp_path / "ours")
    ribbon("verify", "--input", "u64le", tmp_path / "ours", "--keys", tmp_path / "keys")


# The command needs its feature `parquet`; `scripts/test-python` builds it with it.
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_parquet(tmp_path, compression):
    n = 10**7 if "RIBBONFILTER_FULL" in os.environ else 50_000
    urls = pa.array(f"https://example.org/{i * 7919}" for i in range(n))
    table = pa.table({"number": pa.array(np.arange(n)), "url": urls})
    path = tmp_path / "pages.parquet"
    pa.parquet.write_table(table, path, compression=compression, row_group_size=n // 5)
    ribbon("build", "--input", "parquet", "--column", "url", path, "-o", tmp_path / "theirs", "--fpr", "0.001")
    column = pa.parquet.read_table(path, columns=["url"])["url"]
    ours = Filter.build(column, fpr=0.001)
    assert len(ours) == n
    assert (tmp_path / "theirs").read_bytes() == ours.to_bytes()
    assert np.all(ours.contains(column))


def test_shrink_and_split(tmp_path):
    ours = Filter.build(WORDS, fpr=1 / 256)
    ours.save(tmp_path / "ours")
    ribbon("shrink", tmp_path / "ours", "--fpr", "0.1", "-o", tmp_path / "smaller")
    assert (tmp_path / "smaller").read_bytes() == ours.shrink_to_rate(0.1).to_bytes()


def test_both_detect_corruption(tmp_path):
    data = bytearray(Filter.build(WORDS).to_bytes())
    data[100] ^= 1
    (tmp_path / "corrupt").write_bytes(data)
    ribbon("verify", tmp_path / "corrupt", status=2)
    with pytest.raises(ValueError):
        Filter.open(tmp_path / "corrupt").verify()
