"""Static functions: build, lookup, fingerprints, files."""

import pickle

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from ribbonfilter import Function


@pytest.mark.parametrize("n", [0, 1, 2, 64, 5000, 60_000])
@pytest.mark.parametrize("fingerprint_bits", [0, 12])
def test_every_key_has_its_value(n, fingerprint_bits):
    keys = np.random.default_rng(n).integers(-(2**63), 2**63, n)
    values = np.random.default_rng(n + 1).integers(0, 1000, n)
    f = Function.build(keys, values, value_bits=10, fingerprint_bits=fingerprint_bits)
    assert len(f) == n and (f.value_bits, f.fingerprint_bits) == (10, fingerprint_bits)
    found = f.values(keys)
    assert found.dtype == np.uint64 and (found == values).all()
    assert f.values(pa.array(keys)).to_pylist() == values.tolist()
    assert [f[key] for key in keys[:100].tolist()] == values[:100].tolist()
    assert f.found(keys).all()
    strangers = np.arange(20_000)
    if n:
        expected = 1 if fingerprint_bits == 0 else 2**-fingerprint_bits
        assert abs(f.found(strangers).mean() - expected) < 0.002


def test_efforts():
    keys, values = np.arange(4000), np.arange(4000) % 100
    normal, thorough = (Function.build(keys, values, effort=effort) for effort in ("normal", "thorough"))
    assert thorough.nbytes < normal.nbytes
    assert (thorough.values(keys) == values).all()


def test_absent_keys():
    ages = Function.build({"ada": 36, "grace": 85}, fingerprint_bits=30)
    assert ages["ada"] == 36 and ages.get("grace") == 85
    assert ages.get("niklaus") is None and ages.get("niklaus", 7) == 7
    with pytest.raises(KeyError, match="niklaus"):
        ages["niklaus"]
    assert ages.values(["niklaus", "ada"]).tolist() == [0, 36]
    assert ages.values(pa.array(["niklaus", "ada"])).to_pylist() == [None, 36]
    keys = pl.Series("who", ["ada", None, "niklaus"])
    assert ages.values(keys, nulls="skip").to_list() == [36, None, None]
    assert ages.found(keys, nulls="skip").to_list() == [True, None, False]


def test_values_in_every_form():
    keys, values = ["a", "b", "c"], [3, 0, 2**40]
    expected = Function.build(dict(zip(keys, values))).to_bytes()
    for form in (values, tuple(values), iter(values), np.array(values), pa.array(values), pl.Series(values)):
        assert Function.build(keys, form).to_bytes() == expected
    large = Function.build(["a"], np.array([2**64 - 1], dtype=np.uint64))
    assert large.value_bits == 64 and large["a"] == 2**64 - 1


def test_files_and_pickle(tmp_path):
    f = Function.build({n: n * n for n in range(1000)})
    f.save(tmp_path / "squares")
    for g in (Function.open(tmp_path / "squares"), pickle.loads(pickle.dumps(f)), Function(f)):
        assert g[31] == 961 and bytes(g) == memoryview(f)
        g.verify()
