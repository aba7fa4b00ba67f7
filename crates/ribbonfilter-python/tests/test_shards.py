"""Sets in shards: wherever they were built, one file."""

import os
import pickle

import numpy as np
import pyarrow as pa
import pytest

from ribbonfilter import Filter, FormatError, NullKeyError, Shard, Shards, hash_and_shard, key_hash

KEYS = np.random.default_rng(3).integers(0, 2**63, 30_000)


def built_apart(keys, shards, **settings):
    pieces = [hash_and_shard(part, shards=shards) for part in np.array_split(keys, 3)]
    return [Shard.build(n, (piece[n] for piece in pieces), shards=shards, **settings) for n in range(shards)]


@pytest.mark.parametrize("shards", [1, 2, 16, 1024])
@pytest.mark.parametrize("settings", [{}, {"fpr": 0.1, "variant": "standard"}, {"columns": 5.5, "width": 64}, {"effort": "thorough"}], ids=str)
def test_apart_or_at_once(shards, settings):
    at_once = Shards.build(KEYS, shards=shards, **settings)
    assert Shards.assemble(reversed(built_apart(KEYS, shards, **settings))).to_bytes() == at_once.to_bytes()
    assert (at_once.shard_count, len(at_once)) == (shards, len(KEYS))
    assert at_once.contains(KEYS).all() and at_once.contains(KEYS, threads=2).all()
    assert all(key in at_once for key in KEYS[:500].tolist())
    strangers = at_once.contains(np.arange(100_000)).mean()
    assert abs(strangers - at_once.expected_rate) < 5 * (at_once.expected_rate / 100_000) ** 0.5
    assert at_once.bits_per_key == 8 * at_once.nbytes / len(at_once)


def test_efforts():
    normal, thorough = (Shards.build(KEYS, shards=8, width=64, effort=effort) for effort in ("normal", "thorough"))
    assert thorough.nbytes < normal.nbytes
    assert thorough.contains(KEYS).all()


def test_every_key_has_its_shard():
    pieces = hash_and_shard(pa.array(["a", None, "b", "c"]), shards=8, nulls="skip")
    assert sorted(np.concatenate(pieces).tolist()) == sorted(key_hash(["a", "b", "c"]).tolist())
    assert all(piece.dtype == np.uint64 for piece in pieces)
    for n, piece in enumerate(hash_and_shard(KEYS, shards=8, key_seed=5)):
        assert len(Shard.build(n, [piece], shards=8, key_seed=5)) == len(piece)
        assert len(Shard.build((n + 1) % 8, [piece], shards=8, key_seed=5)) == 0


@pytest.mark.parametrize("mmap", [True, False])
def test_files(tmp_path, mmap):
    for shard in built_apart(KEYS, 4):
        shard.save(tmp_path / f"{shard.number}.shard")
    shards = [Shard.open(tmp_path / f"{n}.shard", mmap=mmap) for n in range(4)]
    whole = Shards.assemble(shards, tmp_path / "whole.ribbon")
    expected = Shards.build(KEYS, shards=4).to_bytes()
    assert (tmp_path / "whole.ribbon").read_bytes() == whole.to_bytes() == expected
    assert len(os.listdir(tmp_path)) == 5
    opened = Shards.open(tmp_path / "whole.ribbon", mmap=mmap)
    for path in tmp_path.iterdir():
        path.unlink()
    opened.verify()
    assert opened.contains(KEYS).all() and whole.contains(KEYS).all()
    assert memoryview(opened) == expected == bytes(pickle.loads(pickle.dumps(opened)))
    assert pickle.loads(pickle.dumps(shards[2])).number == 2
    assert repr(opened).startswith("<ribbonfilter.Shards: 30000 keys in 4 shards")
    assert repr(shards[1]).startswith("<ribbonfilter.Shard: number 1 of 4")


def test_shards_that_do_not_fit(tmp_path):
    one, two = built_apart(KEYS, 2)
    (foreign, _) = built_apart(KEYS, 2, fpr=0.1)
    altered = bytearray(one.to_bytes())
    altered[5] ^= 1
    for shards, error, message in (
        ([], ValueError, "no shard"),
        ([one], ValueError, "shard 1 of 2 is missing"),
        ([one, one], ValueError, "twice"),
        ([foreign, two], ValueError, "rate"),
        ([altered, two], FormatError, "shard 0 was altered"),
        ([one.to_bytes()[:-1], two], FormatError, None),
        ([one.to_bytes()[:7], two], FormatError, None),
        ([Filter.build([1]), two], FormatError, "filter"),
        ([None], TypeError, "NoneType"),
        (None, TypeError, None),
    ):
        for path in (None, tmp_path / "whole"):
            with pytest.raises(error, match=message):
                Shards.assemble(shards, path)
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError, match="no"):
        Shards.assemble([one, two], tmp_path / "no" / "folder")
    with pytest.raises(IsADirectoryError):
        Shards.assemble([one, two], tmp_path)
    damaged = bytearray(Shards.assemble([one, two]).to_bytes())
    damaged[7] ^= 1
    with pytest.raises(FormatError, match="shard 0"):
        Shards(damaged).verify()
    for cut in (0, 39, 40, 100, len(damaged) - 1):
        with pytest.raises(FormatError):
            Shards(damaged[:cut])


def test_what_is_refused():
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
