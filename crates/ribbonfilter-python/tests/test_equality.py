"""Filters, functions, exact sets, shards and containers are equal if they have the same class and the same bytes."""

import copy
import pickle
from unittest.mock import ANY

import pytest

from ribbonfilter import ExactSet, Filter, Function, Shard, Shards, key_hash

BUILDS = {
    Filter: lambda keys: Filter.build(keys),
    Function: lambda keys: Function.build({key: 7 for key in keys}),
    ExactSet: lambda keys: ExactSet.build(keys, range(-5000, 0)),
    Shards: lambda keys: Shards.build(keys, shards=2),
    Shard: lambda keys: Shard.build(0, [key_hash(keys)], shards=2),
}


@pytest.fixture(params=BUILDS, ids=lambda cls: cls.__name__)
def cls(request):
    return request.param


def test_same_bytes_are_equal(cls, tmp_path):
    f = BUILDS[cls](range(1000))
    f.save(tmp_path / "file")
    copies = {
        "itself": f,
        "pickle": pickle.loads(pickle.dumps(f)),
        "copy": copy.copy(f),
        "deepcopy": copy.deepcopy(f),
        "from_bytes": cls.from_bytes(f.to_bytes()),
        "from_buffer": cls.from_bytes(bytearray(f.to_bytes())),
        "from_object": cls(f),
        "mapped": cls.open(tmp_path / "file"),
        "read": cls.open(tmp_path / "file", mmap=False),
        "built": BUILDS[cls](range(1000)),
    }
    for name, other in copies.items():
        assert f == other and other == f, name
        assert not f != other and not other != f, name


def test_other_bytes_are_not_equal(cls):
    f, other = BUILDS[cls](range(1000)), BUILDS[cls](range(900))
    assert f != other and not f == other
    # The same length and the same footer: only the content differs.
    corrupt = bytearray(f.to_bytes())
    corrupt[0] ^= 1
    assert f != cls(corrupt) and not f == cls(corrupt)


def test_other_types_are_not_equal(cls):
    f = BUILDS[cls](range(1000))
    for other in (3, None, "text", object(), f.to_bytes(), cls):
        assert f.__eq__(other) is NotImplemented and f.__ne__(other) is NotImplemented, type(other)
        assert f != other and not f == other and other != f, type(other)
    # The other operand decides: a memoryview equals every buffer with the same bytes.
    for other in (ANY, memoryview(f)):
        assert f.__eq__(other) is NotImplemented
        assert f == other and other == f and not f != other


def test_classes_do_not_mix():
    objects = [build(range(1000)) for build in BUILDS.values()]
    for first, a in enumerate(objects):
        for second, b in enumerate(objects):
            assert (a == b) == (first == second)


def test_a_subclass_is_another_type(cls):
    class Derived(cls):
        pass

    f = BUILDS[cls](range(1000))
    derived = Derived(f)
    assert derived != f and f != derived
    assert derived == Derived(f.to_bytes())


def test_there_is_no_order(cls):
    f, other = BUILDS[cls](range(1000)), BUILDS[cls](range(900))
    for compare in (lambda: f < other, lambda: f <= other, lambda: f > other, lambda: f >= other, lambda: f <= f):
        with pytest.raises(TypeError, match="not supported"):
            compare()


def test_objects_are_unhashable(cls):
    f = BUILDS[cls](range(1000))
    assert cls.__hash__ is None
    with pytest.raises(TypeError, match="unhashable"):
        hash(f)
    with pytest.raises(TypeError, match="unhashable"):
        {f}


def test_lists_find_their_items(cls):
    f, other = BUILDS[cls](range(1000)), BUILDS[cls](range(900))
    listed = [other, f]
    assert listed.index(pickle.loads(pickle.dumps(f))) == 1
    assert pickle.loads(pickle.dumps(listed)) == listed
