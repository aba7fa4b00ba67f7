"""The hash of a key does not depend on the type of the input."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ribbonfilter import Builder, Filter, Shard, Shards, hash_and_shard, key_hash

# The test vectors of the Rust library (`key.rs`).
VECTORS = {
    "": 0x2D06800538D394C2,
    "ada": 0x691D4463952C802F,
    b"ada": 0x691D4463952C802F,
    0: 0xC77B3ABB6F87ACD9,
    1: 0x2FBC593564DB792E,
    2**64 - 1: 0x5111C7E47D784413,
    -1: 0x722A202F07A4B313,
    2**64: 0x0CFBAEA74A8CC0E5,
    2**128 - 1: 0x65FF44E97AFD1D83,
}


@pytest.mark.parametrize("key", VECTORS, ids=repr)
def test_hashes_match_the_rust_library(key):
    assert key_hash(key) == VECTORS[key]
    assert key_hash([key]).tolist() == [VECTORS[key]]


# What JavaScript is tested against, too; a test in Rust writes it.
EXPECTED = Path(__file__).parents[2] / "ribbonfilter-js" / "tests" / "expected.txt"


@pytest.mark.parametrize("kind", ["text", "bytes", "integer"])
def test_hashes_match_those_of_javascript(kind):
    by_seed = {}
    for line in EXPECTED.read_text().splitlines():
        name, *fields = line.split(" ")
        if name == kind:
            digits, seed, expected = fields[0], int(fields[1]), int(fields[2], 16)
            key = int(digits) if kind == "integer" else bytes.fromhex(digits)
            key = key.decode() if kind == "text" else key
            assert key_hash(key, key_seed=seed) == expected, (key, seed)
            by_seed.setdefault(seed, []).append((key, expected))
    assert set(by_seed) == {0, 1, 2**64 - 1}
    for seed, pairs in by_seed.items():
        assert len(pairs) >= 4
        assert key_hash([key for key, _ in pairs], key_seed=seed).tolist() == [expected for _, expected in pairs]


def test_a_key_seed_changes_hashes():
    assert key_hash("ada", key_seed=1) == 0x017561899EF56D24
    f = Filter.build(["ada"], key_seed=1)
    assert f.key_seed == 1 and "ada" in f and f.contains(pa.array(["ada"])).to_pylist() == [True]


def test_a_builder_has_one_key_seed():
    builder = Builder(key_seed=1)
    builder.push("ada")
    for attempt in (
        lambda: builder.push("grace", key_seed=2),
        lambda: builder.extend(["grace"], key_seed=2),
        lambda: builder.finish(key_seed=2),
        lambda: setattr(builder, "key_seed", 2),
    ):
        with pytest.raises((TypeError, AttributeError)):
            attempt()
    builder.__init__(key_seed=2)  # Ignored: `__new__` takes the settings.
    builder.extend(["grace"])
    builder.extend(pa.array(["edsger"]))
    assert builder.finish() == Filter.build(["ada", "grace", "edsger"], key_seed=1)


def test_shards_have_one_key_seed():
    shards = [Shard.build(n, hash_and_shard(["ada"], shards=2, key_seed=n), shards=2, key_seed=n) for n in range(2)]
    with pytest.raises(ValueError, match="key.seed"):
        Shards.assemble(shards)


def hashes(keys):
    """The hashes as a list of int, for any type of array."""
    found = key_hash(keys)
    return found.to_pylist() if isinstance(found, pa.ChunkedArray) else [int(hash) for hash in np.asarray(found)]


def sliced(array):
    """The same Arrow array, as a slice of a longer one."""
    return pa.concat_arrays([array[:3], array, array[:2]])[3 : 3 + len(array)]


STRINGS = ["", "a", "ada", "größer", "日本語", "exactly twelve", "a" * 12, "b" * 13, "long " * 100]


@pytest.mark.parametrize(
    "convert",
    [
        tuple,
        iter,
        dict.fromkeys,
        lambda keys: (key for key in keys),
        lambda keys: [key.encode() for key in keys],
        lambda keys: [bytearray(key.encode()) for key in keys],
        lambda keys: [memoryview(key.encode()) for key in keys],
        np.array,
        lambda keys: np.array(keys, dtype=object),
        lambda keys: np.array([key.encode() for key in keys]),
        lambda keys: np.array(keys, dtype=np.dtypes.StringDType()),
        pa.array,
        lambda keys: sliced(pa.array(keys)),
        lambda keys: pa.array(keys, pa.large_string()),
        lambda keys: pa.array(keys, pa.string_view()),
        lambda keys: pa.array([key.encode() for key in keys]),
        lambda keys: pa.array([key.encode() for key in keys], pa.large_binary()),
        lambda keys: pa.array([key.encode() for key in keys], pa.binary_view()),
        lambda keys: pa.array(keys).dictionary_encode(),
        lambda keys: sliced(pa.array(keys)).dictionary_encode(),
        lambda keys: pa.chunked_array([keys[:4], [], keys[4:]]),
        pl.Series,
        lambda keys: pl.Series(keys).cast(pl.Categorical),
        lambda keys: pl.Series([key.encode() for key in keys]),
        pd.Series,
        pd.Index,
        lambda keys: pd.Series(keys, dtype="string"),
        lambda keys: pd.Series(keys, dtype="string[pyarrow]"),
        lambda keys: pd.Series(keys, dtype="category"),
        lambda keys: pd.Series(keys, dtype=pd.ArrowDtype(pa.string())),
    ],
)
def test_strings_in_every_form(convert):
    assert hashes(convert(STRINGS)) == [key_hash(key) for key in STRINGS]


INTEGERS = [0, 1, 2, 100, 127]


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", ">u2", ">u4", ">i8"])
def test_integers_of_every_numpy_type(dtype):
    expected = [key_hash(key) for key in INTEGERS]
    array = np.array(INTEGERS, dtype=dtype)
    assert hashes(array) == expected
    assert hashes(array[::-1]) == expected[::-1]
    assert hashes(np.repeat(array, 3)[::3]) == expected
    assert hashes(pd.Series(array)) == expected
    if not dtype.startswith(">"):
        assert hashes(pa.array(array)) == expected
        assert hashes(pl.Series(array)) == expected
        assert hashes(sliced(pa.array(array))) == expected
    if "i" in dtype:
        assert hashes(-array[1:]) == [key_hash(-key) for key in INTEGERS[1:]]
        extreme = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype=dtype)
        assert hashes(extreme) == [key_hash(int(key)) for key in extreme]


def test_numpy_scalars_and_unaligned_and_fields():
    assert key_hash(np.int16(-3)) == key_hash(-3)
    assert key_hash(np.str_("ada")) == key_hash(np.bytes_(b"ada")) == key_hash("ada")
    assert key_hash(pa.scalar("ada")) == key_hash("ada")
    records = np.zeros(5, dtype=[("flag", "u1"), ("key", "<u8")])
    records["key"] = [3, 1, 4, 1, 5]
    assert hashes(records["key"]) == [key_hash(key) for key in (3, 1, 4, 1, 5)]


def test_fixed_width_bytes():
    assert hashes(np.array([b"a\0b", b"a\0\0"])) == [key_hash(b"a\0b"), key_hash(b"a")]
    digests = np.array([b"0123456789abcde\0"], dtype="V16")
    assert hashes(digests) == [key_hash(b"0123456789abcde\0")]
    binary = pa.array([b"0123456789abcde\0"], pa.binary(16))
    assert hashes(binary) == hashes(digests)


@pytest.mark.skipif(sys.platform != "linux", reason="`ru_maxrss` is in KiB on Linux only")
def test_columns_are_not_copied():
    program = """
import resource
import numpy as np, pyarrow as pa
from ribbonfilter import Filter

numbers = np.arange(20_000_000)
f = Filter.build([1])
for keys in (numbers, pa.array(numbers)):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    f.contains(keys)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    # One or two bytes per result; a copy of the keys would be 8 bytes per key.
    assert all(int(grown) < 80_000 for grown in done.stdout.split()), done.stdout
