"""Exact sets: build, groups, two passes, queries, files, invalid input."""

import math
import pickle
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ribbonfilter import ExactSet, Filter, FormatError, NullKeyError


def is_exact(s, members, others):
    return bool(s.contains(members).all() and not s.contains(others).any())


def split(n, fraction, seed=1):
    """Distinct random keys, and which of them are members."""
    numbers = np.random.default_rng(seed)
    keys = numbers.permutation(numbers.integers(0, 2**40) + np.arange(n) * 977)
    return np.split(keys, [round(n * fraction)])


@pytest.mark.parametrize("n", [0, 1, 2, 1000, 100_000])
@pytest.mark.parametrize("fraction", [0, 0.001, 0.01, 0.1, 0.5, 0.9, 1])
def test_all_keys_of_the_universe_are_correct(n, fraction):
    members, others = split(n, fraction)
    s = ExactSet.build(members, others)
    assert (len(s), s.universe_len, s.group_count) == (len(members), n, 1)
    assert is_exact(s, members, others)
    assert is_exact(s, members.tolist(), others.tolist())
    assert all(key in s for key in members[:500].tolist())
    assert not any(key in s for key in others[:500].tolist())
    assert s == ExactSet.build(members, lambda: others)
    assert s == ExactSet.build(members, np.r_[others, members], others_include_members=True)
    s.verify()
    if n == 100_000 and 0 < fraction < 1:
        assert s.nbytes * 8 < 1.12 * s.lower_bound_bits + 2000
        assert s.overhead == pytest.approx(s.nbytes * 8 / s.lower_bound_bits - 1)
        assert s.bits_per_member == pytest.approx(s.nbytes * 8 / len(members))
        strangers = np.arange(-100_000, 0)
        assert abs(s.contains(strangers).mean() - s.expected_rate) < 0.01


def test_without_members_or_without_others():
    nothing, everything = ExactSet.build([], range(1000)), ExactSet.build(range(1000), [])
    assert not nothing and nothing.bits_per_member == float("inf")
    for s in (nothing, everything):
        assert s.lower_bound_bits == 0 and s.overhead == math.inf
    assert (nothing.expected_rate, everything.expected_rate) == (0, 1)
    assert max(nothing.nbytes, everything.nbytes) < 200


def test_keys_in_every_form():
    members, others = [f"größe {n}" for n in range(100)], [f"höhe {n}" for n in range(5000)]
    expected = ExactSet.build(members, others)
    forms = [tuple, iter, np.array, pa.array, pl.Series, pd.Series, lambda keys: [key.encode() for key in keys]]
    for form in forms:
        assert ExactSet.build(form(members), form(others)) == expected
        assert ExactSet.build(form(members), lambda: form(others)) == expected
    assert ExactSet.build(set(members), dict.fromkeys(others), threads=3) == expected
    assert expected.contains("größe 7") is True and expected.contains(b"h\xc3\xb6he 7") is False
    hits = expected.contains(pa.array(members[:2] + others[:2]))
    assert type(hits) is pa.BooleanArray and hits.to_pylist() == [True, True, False, False]
    assert expected.contains(pl.Series("k", others)).name == "k"
    assert expected.contains(np.array(members), threads=2).all()


def test_nulls_can_be_skipped():
    members, others = ["ada", None], ["grace", None, "edsger"]
    expected = ExactSet.build(["ada"], ["grace", "edsger"])
    for form in (list, pa.array, pl.Series):
        assert ExactSet.build(form(members), form(others), nulls="skip") == expected
        assert ExactSet.build(form(members), lambda: form(others), nulls="skip") == expected
        with pytest.raises(NullKeyError):
            ExactSet.build(["ada"], form(others))
        with pytest.raises(NullKeyError):
            ExactSet.build(["ada"], lambda: form(others))
    assert expected.contains(pa.array(others), nulls="skip").to_pylist() == [False, None, False]


def test_duplicates_on_one_side():
    s = ExactSet.build([1, 2, 1], [3, 3, 4])
    assert s == ExactSet.build([1, 2], [3, 4]) and (len(s), s.universe_len) == (2, 4)
    # A function's keys are not kept, so its duplicates are counted.
    s = ExactSet.build([1, 2, 1], lambda: [3, 3, 4])
    assert is_exact(s, [1, 2], [3, 4])


def test_settings():
    members, others = split(50_000, 0.01)
    normal, thorough, seeded = (
        ExactSet.build(members, others, **settings)
        for settings in ({"threads": 2}, {"effort": "thorough"}, {"key_seed": 7, "max_memory": 10**9})
    )
    assert normal == ExactSet.build(members[::-1], others[::-1], threads=1, max_memory=None)
    assert thorough.nbytes < normal.nbytes and is_exact(thorough, members, others)
    assert seeded.key_seed == 7 and seeded != normal and is_exact(seeded, members, others)
    with pytest.raises(MemoryError):
        ExactSet.build(members, others, max_memory=100_000)
    # Two passes store only a fraction of the others.
    assert ExactSet.build(members, lambda: others, max_memory=250_000) == normal
    with pytest.raises(MemoryError):
        ExactSet.build(members, lambda: others, max_memory=10_000)


def universe_of_groups():
    members, others = {}, {}
    for number, fraction in enumerate([0, 0.001, 0.01, 0.1, 0.5, 0.95, 1]):
        # All groups have the same keys.
        members[f"issuer {number}"], others[f"issuer {number}"] = split(5000, fraction)
    return members, others


def test_groups():
    members, others = universe_of_groups()
    s = ExactSet.build_groups(members, others)
    assert s.group_count == len(members) == 7
    assert len(s) == sum(map(len, members.values())) and s.universe_len == 35_000
    assert s.nbytes * 8 < 1.2 * s.lower_bound_bits + 2000
    for group in members:
        assert s.contains_in(group, members[group]).all() and not s.contains_in(group, others[group]).any()
        assert s.contains_in(group, members[group], threads=2).all()
        for key in members[group][:100].tolist():
            assert s.contains_in(group, key) is True
        for key in others[group][:100].tolist():
            assert s.contains_in(group, key) is False
        strangers = s.contains_in(group, np.arange(-20_000, 0))
        assert abs(strangers.mean() - s.expected_rate_in(group)) < 0.02
    assert s.contains_in("nobody", 7) is s.contains_in("nobody", [7]) is s.expected_rate_in("nobody") is None
    # No key is without a group.
    assert s.contains_in(None, 7) is None and not s.contains(members["issuer 6"]).any() and s.expected_rate == 0
    assert s.contains_in("issuer 0", pa.array([7, None]), nulls="skip").to_pylist() == [False, None]
    s.verify()


def test_groups_in_every_form():
    members, others = universe_of_groups()
    expected = ExactSet.build_groups(members, others)

    def pieces(side):
        for group, keys in side.items():
            yield group, keys[::2]
            yield group, iter(keys[1::2].tolist())

    def grouped(side):
        columns = [(group, key) for group, keys in side.items() for key in keys.tolist()]
        return pd.DataFrame(columns, columns=["issuer", "serial"]).groupby("issuer")["serial"]

    for form in (dict, lambda side: list(side.items()), pieces, grouped):
        assert ExactSet.build_groups(form(members), form(others)) == expected
        assert ExactSet.build_groups(form(members), lambda: form(others)) == expected
    universe = {group: np.r_[members[group], others[group]] for group in members}
    assert ExactSet.build_groups(members, universe, others_include_members=True) == expected


def test_keys_without_a_group():
    members, others = split(2000, 0.1)
    assert ExactSet.build_groups({None: members}, [(None, others)]) == ExactSet.build(members, others)
    s = ExactSet.build_groups({None: members, 5: others}, {None: others, 5: members})
    assert is_exact(s, members, others) and s.group_count == 2
    assert s.contains_in(None, members).all() and s.contains_in(5, others).all()
    assert not s.contains_in(None, others).any() and not s.contains_in(5, members).any()


def test_a_function_is_called_two_or_three_times():
    few, many = (range(100), range(100, 9000)), (range(9000), range(9000, 9100))
    for members, others in (few, many):
        calls = []

        def read():
            calls.append(None)
            return (key for key in others)

        s = ExactSet.build(members, read)
        assert is_exact(s, members, others) and s == ExactSet.build(members, others)
        assert len(calls) == 2

    # Others are stored in one group, and queried in the other.
    members, others = {"a": few[0], "b": many[0]}, {"a": few[1], "b": many[1]}
    calls = []

    def read_groups():
        calls.append(None)
        return others

    s = ExactSet.build_groups(members, read_groups)
    assert s == ExactSet.build_groups(members, others)
    assert len(calls) == 3


def test_functions_that_fail():
    with pytest.raises(ZeroDivisionError):
        ExactSet.build([1], lambda: 1 // 0)
    calls = []

    def fails_later():
        yield from range(1, 5000)
        calls.append(None)
        if len(calls) == 2:
            raise KeyError("from the generator")

    with pytest.raises(KeyError, match="generator"):
        ExactSet.build([0], fails_later)
    assert len(calls) == 2
    with pytest.raises(TypeError, match="iterable"):
        ExactSet.build([1], lambda: None)
    with pytest.raises(TypeError, match="position 1: a key is of type str"):
        ExactSet.build([1], lambda: [2, "x"])
    # The same iterator again has no keys left.
    with pytest.raises(ValueError, match="are 0 and not 99 as expected"):
        keys = iter(range(1, 100))
        ExactSet.build([0], lambda: keys)


def test_a_key_on_both_sides():
    for others in ([2, 3], lambda: [2, 3]):
        with pytest.raises(ValueError, match="among the members and among the others.*key_seed"):
            ExactSet.build([1, 2], others)
    with pytest.raises(ValueError, match="key_seed"):
        ExactSet.build_groups({"a": [1]}, {"a": [1], "b": [1]})
    s = ExactSet.build_groups({"a": [1]}, {"b": [1]})
    assert s.contains_in("a", 1) and not s.contains_in("b", 1)


@pytest.mark.parametrize(
    "members, others, error, message",
    [
        (1, [2], TypeError, "list"),
        ([1], "ada", TypeError, "list"),
        ([1], None, TypeError, "iterable"),
        ([1], ["ada"], TypeError, "one type"),
        ([1], [2.5], TypeError, "float"),
        (np.arange(3), pa.array(["a"]), TypeError, "one type"),
        ([1], [None], NullKeyError, "position 0"),
    ],
    ids=repr,
)
def test_invalid_keys(members, others, error, message):
    for build in (
        lambda: ExactSet.build(members, others),
        lambda: ExactSet.build(members, lambda: others),
        lambda: ExactSet.build_groups({"a": members}, {"b": others}),
    ):
        with pytest.raises(error, match=message):
            build()


@pytest.mark.parametrize(
    "groups, error, message",
    [
        (["issuer"], TypeError, "pairs of a group and keys, but got str"),
        ([[1, [2]]], TypeError, "pairs of a group and keys, but got list"),
        ([("a", [1], [2])], TypeError, "pairs of a group and keys, but got tuple"),
        ({"a": [1], 5: [2]}, TypeError, "in the name of a group: .* one type"),
        ({("a",): [1]}, TypeError, "in the name of a group: .* tuple"),
        ({float("nan"): [1]}, NullKeyError, "in the name of a group"),
        ({2**128: [1]}, OverflowError, "in the name of a group"),
        (7, TypeError, "iterable"),
    ],
    ids=repr,
)
def test_invalid_groups(groups, error, message):
    with pytest.raises(error, match=message):
        ExactSet.build_groups(groups, {})
    with pytest.raises(error, match=message):
        ExactSet.build_groups({}, lambda: groups)


@pytest.mark.parametrize(
    "settings, error",
    [
        ({"fpr": 0.1}, TypeError),
        ({"variant": "bumped"}, TypeError),
        ({"width": 64}, TypeError),
        ({"effort": "most"}, ValueError),
        ({"threads": -1}, ValueError),
        ({"nulls": "ignore"}, ValueError),
        ({"key_seed": 2**64}, ValueError),
        ({"max_memory": 10}, MemoryError),
        ({"others_include_members": 3}, TypeError),
    ],
    ids=repr,
)
def test_invalid_settings(settings, error):
    for build in (ExactSet.build, ExactSet.build_groups):
        with pytest.raises(error):
            # Without groups, the keys are "a" and "b".
            build({"a": [1]}, {"b": [2]}, **settings)


def test_invalid_queries():
    s = ExactSet.build_groups({"a": ["ada"]}, {"a": ["grace"]})
    for query in (lambda: 1.5 in s, lambda: s.contains(1.5), lambda: s.contains_in("a", None)):
        with pytest.raises(TypeError):
            query()
    for query in (lambda: s.contains_in(1.5, "ada"), lambda: s.expected_rate_in(["a"])):
        with pytest.raises(TypeError, match="in the name of a group"):
            query()


def test_files_bytes_and_pickle(tmp_path):
    members, others = split(20_000, 0.05)
    s = ExactSet.build(members, others)
    s.save(tmp_path / "revoked.ribbon")
    data = s.to_bytes()
    assert memoryview(s) == data and bytes(s) == data and len(data) == s.nbytes
    copies = [
        ExactSet.open(tmp_path / "revoked.ribbon"),
        ExactSet.open(tmp_path / "revoked.ribbon", mmap=False),
        ExactSet.from_bytes(bytearray(data)),
        ExactSet(s),
        pickle.loads(pickle.dumps(s)),
    ]
    for copy in copies:
        assert copy == s and is_exact(copy, members, others)
    with pytest.raises(FormatError, match="exact"):
        Filter.open(tmp_path / "revoked.ribbon")
    with pytest.raises(FormatError, match="filter"):
        ExactSet(Filter.build([1]))


def test_untrusted_bytes():
    data = ExactSet.build_groups(*universe_of_groups()).to_bytes()
    for cut in [*range(0, 100), len(data) // 2, len(data) - 1]:
        with pytest.raises(FormatError):
            ExactSet(data[:cut])
    numbers = np.random.default_rng(1)
    for _ in range(300):
        corrupt = bytearray(data)
        for at in numbers.integers(1, 300, 3):
            corrupt[-at] = numbers.integers(256)
        try:
            s = ExactSet(corrupt)
            s.contains_in("issuer 3", np.arange(1000))
            s.contains(np.arange(1000))
            s.expected_rate_in("issuer 3")
        except FormatError:
            continue
        if bytes(corrupt) != data:
            with pytest.raises(FormatError):
                s.verify()


def test_ctrl_c_while_others_are_read():
    program = (
        "import itertools, ribbonfilter\n"
        "def others():\n"
        "    print('ready', flush=True)\n"
        "    return itertools.count()\n"
        "ribbonfilter.ExactSet.build([-1], others)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in child.communicate(timeout=60)[1]
