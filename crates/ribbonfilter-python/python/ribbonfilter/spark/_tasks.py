"""What the executors do: `hash_and_split` where the keys are, `build` where a shard's hashes are."""

from itertools import chain

import numpy as np
import pyarrow as pa

from .. import Shard, hash_and_shard

# The hashes in one row. Spark hands 10,000 rows at a time to Python: 40 MB.
ROW = 512

# Keys are gathered until rows are about full, or until they take so much memory.
MOST_KEYS = 1 << 22
MOST_BYTES = 64 << 20

# The bytes of a piece of a finished shard.
PIECE = 4 << 20


def hash_and_split(batches, *, shards, slots, key_seed):
    """Keys become rows of hashes that belong to one shard."""
    slots = np.array(slots, dtype=np.int32)
    for keys in _gathered(batches, min(ROW * shards, MOST_KEYS)):
        hashes = hash_and_shard(keys, shards=shards, key_seed=key_seed)
        lengths = np.array([len(piece) for piece in hashes])
        rows = -(-lengths // ROW)
        numbers = np.repeat(np.arange(shards, dtype=np.int32), rows)
        # Rows are full but for the last of each shard.
        row_of_shard = np.arange(len(numbers)) - np.repeat(np.cumsum(rows) - rows, rows)
        starts = np.repeat(np.cumsum(lengths) - lengths, rows) + ROW * row_of_shard
        ends = np.append(starts, lengths.sum()).astype(np.int32) * 8
        data = np.concatenate(hashes).astype("<u8", copy=False)
        column = pa.Array.from_buffers(
            pa.binary(), len(numbers), [None, pa.py_buffer(ends), pa.py_buffer(data)]
        )
        yield pa.record_batch([pa.array(slots[numbers]), pa.array(numbers), column], ["slot", "shard", "hashes"])


def _gathered(batches, enough):
    """Columns of several batches, so that many shards get more than a few hashes a row."""
    chunks, count, size = [], 0, 0
    for batch in batches:
        column = batch.column(0)
        chunks.append(column)
        count += len(column)
        size += column.nbytes
        if count >= enough or size >= MOST_BYTES:
            yield pa.chunked_array(chunks)
            chunks, count, size = [], 0, 0
    if count:
        yield pa.chunked_array(chunks)


def build(batches, *, shards, **settings):
    """The rows of one shard become that shard, in pieces."""
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
    """All hashes in a batch of rows of one shard, without a copy."""
    others = set(batch.column("shard").unique().to_pylist()) - {number}
    if others:
        raise RuntimeError(f"Spark gave shards {number} and {others} to one task: pass other `shards`")
    column = batch.column("hashes")
    _, offsets, data = column.buffers()
    if data is None:
        return np.empty(0, dtype="<u8")
    wide = np.int64 if pa.types.is_large_binary(column.type) else np.int32
    ends = np.frombuffer(offsets, wide)[column.offset :]
    return np.frombuffer(data, np.uint8)[ends[0] : ends[len(column)]].view("<u8")
