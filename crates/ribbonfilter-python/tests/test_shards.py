"""Sets in shards: the same file, built in one process or shard by shard."""

import os
import pickle

import numpy as np
import pyarrow as pa
import pytest

from ribbonfilter import Filter, FormatError, NullKeyError, Shard, Shards, hash_and_shard, key_hash

KEYS = np.random.default_rng(3).integers(0, 2**63, 30_000)


def built_separately(keys, shards, **settings):
    pieces = [hash_and_shard(part, shards=shards) for part in np.array_split(keys, 3)]
    return [Shard.build(n, (piece[n] for piece in pieces), shards=shards, **settings) for n in range(shards)]


@pytest.mark.parametrize("shards", [1, 2, 16, 1024])
@pytest.mark.parametrize("settings", [{}, {"fpr": 0.1, "variant": "standard"}, {"columns": 5.5, "width": 64}, {"effort": "thorough"}], ids=str)
def test_separate_builds_give_the_same_bytes(shards, settings):
    together = Shards.build(KEYS, shards=shards, **settings)
    assert Shards.assemble(reversed(built_separately(KEYS, shards, **settings))).to_bytes() == together.to_bytes()
    assert (together.shard_count, len(together)) == (shards, len(KEYS))
    assert together.contains(KEYS).all() and together.contains(KEYS, threads=2).all()
    assert all(key in together for key in KEYS[:500].tolist())
    strangers = together.contains(np.arange(100_000)).mean()
    assert abs(strangers - together.expected_rate) < 5 * (together.expected_rate / 100_000) ** 0.5
    assert together.bits_per_key == 8 * together.nbytes / len(together)


def test_shards_of_a_fixed_size():
    f = Shards.build(KEYS, shards=16, shard_bytes=2048)
    assert f.nbytes == 16 * (2048 + 32) + 40  # an entry of the directory for each, and the footer
    assert f.contains(KEYS).all()
    assert Shards.assemble(built_separately(KEYS, 16, shard_bytes=2048)) == f


def test_shards_filled_until_they_are_full():
    f = Shards.build(KEYS, fpr=0.01, shards="until-full", width=64)
    assert f.variant == "standard" and f.expected_rate <= 0.01
    assert len(KEYS) / 1024 <= f.shard_count < 1.1 * len(KEYS) / 1024  # of 64^2 / 4 slots
    assert f.contains(KEYS).all()
    with pytest.raises(ValueError, match="cannot be built alone"):
        Shard.build(0, [], shards="until-full")
    with pytest.raises(ValueError, match="shard_bytes needs a number of shards"):
        Shards.build(KEYS, shards="until-full", shard_bytes=2048)
    with pytest.raises(ValueError, match="until-full"):
        Shards.build(KEYS, shards="many")
    with pytest.raises(ValueError, match="mutually exclusive"):
        Shards.build(KEYS, 0.1, shards=2, shard_bytes=60_000)


def test_efforts():
    normal, thorough = (Shards.build(KEYS, shards=8, width=64, effort=effort) for effort in ("normal", "thorough"))
    assert thorough.nbytes < normal.nbytes
    assert thorough.contains(KEYS).all()


def test_every_key_belongs_to_one_shard():
    pieces = hash_and_shard(pa.array(["a", None, "b", "c"]), shards=8, nulls="skip")
    assert sorted(np.concatenate(pieces).tolist()) == sorted(key_hash(["a", "b", "c"]).tolist())
    assert all(piece.dtype == np.uint64 for piece in pieces)
    for n, piece in enumerate(hash_and_shard(KEYS, shards=8, key_seed=5)):
        assert len(Shard.build(n, [piece], shards=8, key_seed=5)) == len(piece)
        assert len(Shard.build((n + 1) % 8, [piece], shards=8, key_seed=5)) == 0


@pytest.mark.parametrize("mmap", [True, False])
def test_files(tmp_path, mmap):
    for shard in built_separately(KEYS, 4):
        shard.save(tmp_path / f"{shard.number}.shard")
    shards = [Shard.open(tmp_path / f"{n}.shard", mmap=mmap) for n in range(4)]
    assembled = Shards.assemble(shards, tmp_path / "assembled.ribbon")
    expected = Shards.build(KEYS, shards=4).to_bytes()
    assert (tmp_path / "assembled.ribbon").read_bytes() == assembled.to_bytes() == expected
    assert len(os.listdir(tmp_path)) == 5
    opened = Shards.open(tmp_path / "assembled.ribbon", mmap=mmap)
    for path in tmp_path.iterdir():
        path.unlink()
    opened.verify()
    assert opened.contains(KEYS).all() and assembled.contains(KEYS).all()
    assert memoryview(opened) == expected == bytes(pickle.loads(pickle.dumps(opened)))
    assert pickle.loads(pickle.dumps(shards[2])).number == 2
    assert repr(opened).startswith("<ribbonfilter.Shards: 30000 keys in 4 shards")
    assert repr(shards[1]).startswith("<ribbonfilter.Shard: number 1 of 4")


def test_assembling_invalid_shards(tmp_path):
    one, two = built_separately(KEYS, 2)
    (foreign, _) = built_separately(KEYS, 2, fpr=0.1)
    corrupt = bytearray(one.to_bytes())
    corrupt[5] ^= 1
    for shards, error, message in (
        ([], ValueError, "no pieces"),
        ([one], ValueError, "shard 1 is missing: give all 2"),
        ([one, one], ValueError, "twice"),
        ([foreign, two], ValueError, "rate"),
        ([corrupt, two], FormatError, "shard 0"),
        ([one.to_bytes()[:-1], two], FormatError, None),
        ([one.to_bytes()[:7], two], FormatError, None),
        ([Filter.build([1]), two], FormatError, "filter"),
        ([None], TypeError, "NoneType"),
        (None, TypeError, None),
    ):
        for path in (None, tmp_path / "assembled"):
            with pytest.raises(error, match=message):
                Shards.assemble(shards, path)
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError, match="no"):
        Shards.assemble([one, two], tmp_path / "no" / "file")
    with pytest.raises(IsADirectoryError):
        Shards.assemble([one, two], tmp_path)
    corrupt_set = bytearray(Shards.assemble([one, two]).to_bytes())
    corrupt_set[7] ^= 1
    with pytest.raises(FormatError, match="shard 0"):
        Shards(corrupt_set).verify()
    for cut in (0, 39, 40, 100, len(corrupt_set) - 1):
        with pytest.raises(FormatError):
            Shards(corrupt_set[:cut])


def test_invalid_arguments():
    for shards in (0, 3, 2**25):
        for attempt in (
            lambda: Shards.build([1], shards=shards),
            lambda: Shard.build(0, [], shards=shards),
            lambda: hash_and_shard([1], shards=shards),
        ):
            with pytest.raises(ValueError, match="shards"):
                attempt()
    with pytest.raises(ValueError, match="no shard 2"):
        Shard.build(2, [], shards=2)
    with pytest.raises(ValueError, match="one of them"):
        Shards.build([1], 0.1, shards=2, columns=7)
    for name in ("bits_per_key", "total_bytes", "max_memory"):
        with pytest.raises(TypeError, match=name):
            Shards.build([1], shards=2, **{name: 100})
    with pytest.raises(TypeError, match="columns"):
        Filter.build([1], columns=5)
    with pytest.raises(TypeError):
        Shards.build([1])
    for hashes in ([[1, 2]], [np.arange(3)], [np.arange(3.0)], ["abc"], [None], 5):
        with pytest.raises(TypeError):
            Shard.build(0, hashes, shards=1)
    with pytest.raises(ValueError, match="dimension"):
        Shard.build(0, [np.zeros((2, 2), np.uint64)], shards=1)
    with pytest.raises(NullKeyError):
        hash_and_shard(["a", None], shards=2)
    with pytest.raises(TypeError, match="one type"):
        hash_and_shard(["a", 1], shards=2)
    with pytest.raises(FormatError, match="filter"):
        Shards(Filter.build([1]))
