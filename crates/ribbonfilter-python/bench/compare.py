"""Compares the package with the Rust library and with other packages.

    cargo build --release -p ribbonfilter --example batch
    target/python/venv/bin/pip install pyfusefilter==1.3.0 rbloom==1.5.4 "xxhash<4"
    target/python/venv/bin/python crates/ribbonfilter-python/bench/compare.py [KEYS]

after `scripts/test-python`. The Rust figures come from the example, run between the rounds; each
figure is the minimum of several rounds.
"""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from ribbonfilter import Filter

ROUNDS = 5
RUST = Path(__file__).parents[3] / "target" / "release" / "examples" / "batch"


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def rust(n):
    """Nanoseconds per key by name, as the example prints them."""
    lines = subprocess.run([RUST, str(n)], capture_output=True, text=True, check=True).stdout
    return {name: float(value) for name, value in map(str.split, lines.splitlines())}


def compare_with_rust(n):
    numbers = np.random.default_rng(1).integers(0, 2**64, n, dtype=np.uint64)
    strings = pa.array(np.char.zfill(np.arange(n).astype("U16"), 16))
    column = pa.array(numbers)
    of_numbers = Filter.build(numbers, threads=1)
    of_strings = Filter.build(strings, threads=1)
    tasks = {
        "query_u64": lambda: of_numbers.contains(numbers),
        "query_str": lambda: of_strings.contains(strings),
        "build_u64": lambda: Filter.build(column, threads=1),
        "build_str": lambda: Filter.build(strings, threads=1),
    }
    ours = dict.fromkeys(tasks, float("inf"))
    theirs = dict.fromkeys(tasks, float("inf"))
    for _ in range(ROUNDS):
        for name, value in rust(n).items():
            theirs[name] = min(theirs[name], value)
        for name, work in tasks.items():
            ours[name] = min(ours[name], seconds(work) / n * 1e9)
    print(f"{n} keys, one thread, nanoseconds per key")
    for name, limit in zip(tasks, (1.5, 2, 1.3, 1.3)):
        ratio = ours[name] / theirs[name]
        verdict = "met" if ratio <= limit else "exceeded"
        print(f"{name:10} Python {ours[name]:6.1f}  Rust {theirs[name]:6.1f}  ratio {ratio:.2f}  limit {limit}: {verdict}")


def compare_with_others(n):
    import pyfusefilter
    import rbloom

    numbers = np.random.default_rng(2).integers(0, 2**63, n)
    keys = numbers.tolist()
    fuse = pyfusefilter.Fuse8(keys)
    bloom = rbloom.Bloom(n, 1 / 256)
    bloom.update(keys)
    ours = Filter.build(numbers, fpr=1 / 256)
    fast = Filter.build(numbers, fpr=1 / 256, variant="homogeneous", width=64)
    tasks = {
        "ribbonfilter": lambda: ours.contains(numbers),
        "all threads": lambda: ours.contains(numbers, threads=0),
        "homogeneous": lambda: fast.contains(numbers),
        "both": lambda: fast.contains(numbers, threads=0),
        "pyfusefilter": lambda: [key in fuse for key in keys],
        "rbloom": lambda: [key in bloom for key in keys],
    }
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(ROUNDS):
        for name, work in tasks.items():
            best[name] = min(best[name], seconds(work) / n * 1e9)
    sizes = {
        "ribbonfilter": ours.nbytes,
        "all threads": ours.nbytes,
        "homogeneous": fast.nbytes,
        "both": fast.nbytes,
        "pyfusefilter": fuse.size_in_bytes(),
        "rbloom": bloom.size_in_bits // 8,
    }
    print(f"\n{n} int keys, a rate of 1/256")
    for name, nanoseconds in best.items():
        times = nanoseconds / best["ribbonfilter"]
        print(f"{name:13} {nanoseconds:7.1f} ns per query ({times:5.1f} times ours), {8 * sizes[name] / n:5.2f} bits per key")


if __name__ == "__main__":
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7
    compare_with_rust(n)
    compare_with_others(min(n, 10**6))
