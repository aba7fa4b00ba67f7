"""The tasks of the executors: `hash_and_split` takes keys, `build` the hashes of one shard."""

from itertools import chain

import numpy as np
import pyarrow as pa

from .. import Shard, hash_and_shard

# The number of hashes in a row. Spark passes 10,000 rows at a time to Python: 40 MB.
ROW = 512

# Keys are collected until the rows are about full, or one of these limits is reached.
MAX_KEYS = 1 << 22
MAX_BYTES = 64 << 20

# The size of a piece of a finished shard, in bytes.
PIECE = 4 << 20


def hash_and_split(batches, *, shards, slots, key_seed):
    """Turns keys into rows of hashes, each row of one shard."""
    slots = np.array(slots, dtype=np.int32)
    for keys in _collected(batches, min(ROW * shards, MAX_KEYS)):
        hashes = hash_and_shard(keys, shards=shards, key_seed=key_seed)
        lengths = np.array([len(piece) for piece in hashes])
        rows = -(-lengths // ROW)
        numbers = np.repeat(np.arange(shards, dtype=np.int32), rows)
        # All rows of a shard but the last are full.
        row_of_shard = np.arange(len(numbers)) - np.repeat(np.cumsum(rows) - rows, rows)
        starts = np.repeat(np.cumsum(lengths) - lengths, rows) + ROW * row_of_shard
        ends = np.append(starts, lengths.sum()).astype(np.int32) * 8
        data = np.concatenate(hashes).astype("<u8", copy=False)
        column = pa.Array.from_buffers(
            pa.binary(), len(numbers), [None, pa.py_buffer(ends), pa.py_buffer(data)]
        )
        yield pa.record_batch([pa.array(slots[numbers]), pa.array(numbers), column], ["slot", "shard", "hashes"])


def _collected(batches, enough):
    """Joins the columns of several batches, so that a row has more than a few hashes even if there
    are many shards."""
    chunks, count, size = [], 0, 0
    for batch in batches:
        column = batch.column(0)
        chunks.append(column)
        count += len(column)
        size += column.nbytes
        if count >= enough or size >= MAX_BYTES:
            yield pa.chunked_array(chunks)
            chunks, count, size = [], 0, 0
    if count:
        yield pa.chunked_array(chunks)


def build(batches, *, shards, **settings):
    """Builds a shard from its rows and yields it in pieces."""
    first = next(batches, None)
    if first is None:
        return
    number = first.column("shard")[0].as_py()
    hashes = (_hashes(batch, number) for batch in chain([first], batches))
    shard = memoryview(Shard.build(number, hashes, shards=shards, threads=1, **settings))
    for start in range(0, len(shard), PIECE):
        yield pa.record_batch(
            [
                pa.array([number], pa.int32()),
                pa.array([start], pa.int64()),
                pa.array([shard[start : start + PIECE]], pa.binary()),
            ],
            ["shard", "start", "bytes"],
        )


def _hashes(batch, number):
    """All hashes in a batch of rows of one shard, not copied."""
    others = set(batch.column("shard").unique().to_pylist()) - {number}
    if others:
        raise RuntimeError(f"Spark assigned shards {number} and {others} to one task: pass a different `shards`")
    column = batch.column("hashes")
    _, offsets, data = column.buffers()
    if data is None:
        return np.empty(0, dtype="<u8")
    wide = np.int64 if pa.types.is_large_binary(column.type) else np.int32
    ends = np.frombuffer(offsets, wide)[column.offset :]
    return np.frombuffer(data, np.uint8)[ends[0] : ends[len(column)]].view("<u8")
