from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, final, overload

from typing_extensions import Buffer, Self

import numpy as np
import numpy.typing as npt

__version__: str
__all__ = [
    "Builder",
    "ExactSet",
    "Filter",
    "FormatError",
    "Function",
    "NullKeyError",
    "Plan",
    "Shard",
    "Shards",
    "hash_and_shard",
    "key_hash",
    "max_keys",
    "plan",
]

_Key: TypeAlias = str | bytes | bytearray | memoryview | int | np.integer[Any]
_Nulls: TypeAlias = Literal["error", "skip"]
_Variant: TypeAlias = Literal["standard", "homogeneous", "balanced", "bumped"]
_Width: TypeAlias = Literal[16, 32, 64, 128]
_Effort: TypeAlias = Literal["normal", "thorough"]

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

_Keys: TypeAlias = Iterable[_Key] | npt.NDArray[Any] | _ArrowArray | _ArrowStream

# The keys of one side of an exact set, without and with groups.
_Side: TypeAlias = _Keys | Iterable[_Key | None]
_Grouped: TypeAlias = Mapping[Any, _Side] | Iterable[tuple[Any, _Side]]

class FormatError(ValueError): ...
class NullKeyError(TypeError, ValueError): ...

class Filter:
    def __new__(cls, data: Buffer, /) -> Self: ...
    @classmethod
    def build(
        cls,
        keys: _Keys | Iterable[_Key | None],
        fpr: float | None = None,
        *,
        bits_per_key: float | None = None,
        total_bytes: int | None = None,
        variant: _Variant | None = None,
        width: _Width | None = None,
        effort: _Effort = "normal",
        threads: int = 0,
        nulls: _Nulls = "error",
        key_seed: int = 0,
        max_memory: int | None = None,
    ) -> Self: ...
    @classmethod
    def open(cls, path: str | PathLike[str], mmap: bool = True) -> Self: ...
    @classmethod
    def from_bytes(cls, data: Buffer) -> Self: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def to_bytes(self) -> bytes: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __contains__(self, key: _Key, /) -> bool: ...
    # A str or bytes object is one key, although it is also a sequence.
    @overload
    def contains(  # type: ignore[overload-overlap]
        self, keys: _Key, *, nulls: _Nulls = "error", threads: int = 1
    ) -> bool: ...
    @overload
    def contains(
        self,
        keys: Sequence[_Key | None] | npt.NDArray[Any],
        *,
        nulls: _Nulls = "error",
        threads: int = 1,
    ) -> npt.NDArray[np.bool_]: ...
    @overload
    def contains(
        self, keys: _ArrowArray | _ArrowStream, *, nulls: _Nulls = "error", threads: int = 1
    ) -> Any: ...
    @overload
    def contains(
        self, keys: Iterable[_Key | None], *, nulls: _Nulls = "error", threads: int = 1
    ) -> npt.NDArray[np.bool_]: ...
    def __len__(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def bits_per_key(self) -> float: ...
    @property
    def expected_rate(self) -> float: ...
    @property
    def variant(self) -> _Variant: ...
    @property
    def width(self) -> _Width: ...
    @property
    def columns(self) -> float: ...
    @property
    def key_seed(self) -> int: ...
    def verify(self) -> None: ...
    def shrink_to_rate(self, fpr: float) -> Self: ...
    def shrink_to_bytes(self, nbytes: int) -> Self: ...
    def split_columns(self, columns: Sequence[int]) -> list[Self]: ...

@final
class Builder:
    def __new__(
        cls,
        fpr: float | None = None,
        *,
        bits_per_key: float | None = None,
        total_bytes: int | None = None,
        variant: _Variant | None = None,
        width: _Width | None = None,
        effort: _Effort = "normal",
        threads: int = 0,
        key_seed: int = 0,
        max_memory: int | None = None,
    ) -> Self: ...
    def push(self, key: _Key) -> None: ...
    def extend(self, keys: _Keys | Iterable[_Key | None], *, nulls: _Nulls = "error") -> None: ...
    def finish(self) -> Filter: ...
    def __len__(self) -> int: ...

class ExactSet:
    def __new__(cls, data: Buffer, /) -> Self: ...
    @classmethod
    def build(
        cls,
        members: _Side,
        others: _Side | Callable[[], _Side],
        *,
        others_include_members: bool = False,
        effort: _Effort = "normal",
        threads: int = 0,
        nulls: _Nulls = "error",
        key_seed: int = 0,
        max_memory: int | None = None,
    ) -> Self: ...
    @classmethod
    def build_groups(
        cls,
        members: _Grouped,
        others: _Grouped | Callable[[], _Grouped],
        *,
        others_include_members: bool = False,
        effort: _Effort = "normal",
        threads: int = 0,
        nulls: _Nulls = "error",
        key_seed: int = 0,
        max_memory: int | None = None,
    ) -> Self: ...
    @classmethod
    def open(cls, path: str | PathLike[str], mmap: bool = True) -> Self: ...
    @classmethod
    def from_bytes(cls, data: Buffer) -> Self: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def to_bytes(self) -> bytes: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __contains__(self, key: _Key, /) -> bool: ...
    # A str or bytes object is one key, although it is also a sequence.
    @overload
    def contains(  # type: ignore[overload-overlap]
        self, keys: _Key, *, nulls: _Nulls = "error", threads: int = 1
    ) -> bool: ...
    @overload
    def contains(
        self,
        keys: Sequence[_Key | None] | npt.NDArray[Any],
        *,
        nulls: _Nulls = "error",
        threads: int = 1,
    ) -> npt.NDArray[np.bool_]: ...
    @overload
    def contains(
        self, keys: _ArrowArray | _ArrowStream, *, nulls: _Nulls = "error", threads: int = 1
    ) -> Any: ...
    @overload
    def contains(
        self, keys: Iterable[_Key | None], *, nulls: _Nulls = "error", threads: int = 1
    ) -> npt.NDArray[np.bool_]: ...
    @overload
    def contains_in(  # type: ignore[overload-overlap]
        self, group: _Key | None, keys: _Key, *, nulls: _Nulls = "error", threads: int = 1
    ) -> bool | None: ...
    @overload
    def contains_in(
        self,
        group: _Key | None,
        keys: Sequence[_Key | None] | npt.NDArray[Any],
        *,
        nulls: _Nulls = "error",
        threads: int = 1,
    ) -> npt.NDArray[np.bool_] | None: ...
    @overload
    def contains_in(
        self,
        group: _Key | None,
        keys: _ArrowArray | _ArrowStream,
        *,
        nulls: _Nulls = "error",
        threads: int = 1,
    ) -> Any: ...
    @overload
    def contains_in(
        self,
        group: _Key | None,
        keys: Iterable[_Key | None],
        *,
        nulls: _Nulls = "error",
        threads: int = 1,
    ) -> npt.NDArray[np.bool_] | None: ...
    def __len__(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def universe_len(self) -> int: ...
    @property
    def group_count(self) -> int: ...
    @property
    def bits_per_member(self) -> float: ...
    @property
    def lower_bound_bits(self) -> float: ...
    @property
    def overhead(self) -> float: ...
    @property
    def expected_rate(self) -> float: ...
    def expected_rate_in(self, group: _Key | None) -> float | None: ...
    @property
    def key_seed(self) -> int: ...
    def verify(self) -> None: ...

class Shards:
    def __new__(cls, data: Buffer, /) -> Self: ...
    @classmethod
    def build(
        cls,
        keys: _Keys | Iterable[_Key | None],
        fpr: float | None = None,
        *,
        shards: int | Literal["until-full"],
        columns: float | None = None,
        shard_bytes: int | None = None,
        variant: _Variant | None = None,
        width: _Width | None = None,
        effort: _Effort = "normal",
        threads: int = 0,
        nulls: _Nulls = "error",
        key_seed: int = 0,
    ) -> Self: ...
    @classmethod
    def assemble(
        cls, shards: Iterable[Shard | Buffer], path: str | PathLike[str] | None = None
    ) -> Self: ...
    @classmethod
    def open(cls, path: str | PathLike[str], mmap: bool = True) -> Self: ...
    @classmethod
    def from_bytes(cls, data: Buffer) -> Self: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def to_bytes(self) -> bytes: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __contains__(self, key: _Key, /) -> bool: ...
    # A str or bytes object is one key, although it is also a sequence.
    @overload
    def contains(  # type: ignore[overload-overlap]
        self, keys: _Key, *, nulls: _Nulls = "error", threads: int = 1
    ) -> bool: ...
    @overload
    def contains(
        self,
        keys: Sequence[_Key | None] | npt.NDArray[Any],
        *,
        nulls: _Nulls = "error",
        threads: int = 1,
    ) -> npt.NDArray[np.bool_]: ...
    @overload
    def contains(
        self, keys: _ArrowArray | _ArrowStream, *, nulls: _Nulls = "error", threads: int = 1
    ) -> Any: ...
    @overload
    def contains(
        self, keys: Iterable[_Key | None], *, nulls: _Nulls = "error", threads: int = 1
    ) -> npt.NDArray[np.bool_]: ...
    def __len__(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def shard_count(self) -> int: ...
    @property
    def bits_per_key(self) -> float: ...
    @property
    def expected_rate(self) -> float: ...
    @property
    def variant(self) -> _Variant: ...
    @property
    def width(self) -> _Width: ...
    @property
    def columns(self) -> float: ...
    @property
    def key_seed(self) -> int: ...
    def verify(self) -> None: ...

class Shard:
    def __new__(cls, data: Buffer, /) -> Self: ...
    @classmethod
    def build(
        cls,
        number: int,
        hashes: Iterable[npt.NDArray[np.uint64]],
        fpr: float | None = None,
        *,
        shards: int,
        columns: float | None = None,
        shard_bytes: int | None = None,
        variant: _Variant | None = None,
        width: _Width | None = None,
        effort: _Effort = "normal",
        threads: int = 0,
        key_seed: int = 0,
    ) -> Self: ...
    @classmethod
    def open(cls, path: str | PathLike[str], mmap: bool = True) -> Self: ...
    @classmethod
    def from_bytes(cls, data: Buffer) -> Self: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def to_bytes(self) -> bytes: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __len__(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def number(self) -> int: ...
    @property
    def shard_count(self) -> int: ...
    def verify(self) -> None: ...

class Function:
    def __new__(cls, data: Buffer, /) -> Self: ...
    @classmethod
    def build(
        cls,
        keys: Mapping[Any, int] | _Keys,
        values: Iterable[int] | npt.NDArray[Any] | _ArrowArray | _ArrowStream | None = None,
        *,
        value_bits: int | None = None,
        fingerprint_bits: int = 0,
        variant: _Variant | None = None,
        width: _Width | None = None,
        effort: _Effort = "normal",
        threads: int = 0,
        key_seed: int = 0,
        max_memory: int | None = None,
    ) -> Self: ...
    @classmethod
    def open(cls, path: str | PathLike[str], mmap: bool = True) -> Self: ...
    @classmethod
    def from_bytes(cls, data: Buffer) -> Self: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def to_bytes(self) -> bytes: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __getitem__(self, key: _Key, /) -> int: ...
    @overload
    def get(self, key: _Key, default: None = None) -> int | None: ...
    @overload
    def get(self, key: _Key, default: int) -> int: ...
    def values(self, keys: _Keys | Iterable[_Key | None], *, nulls: _Nulls = "error") -> Any: ...
    def found(self, keys: _Keys | Iterable[_Key | None], *, nulls: _Nulls = "error") -> Any: ...
    def __len__(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def value_bits(self) -> int: ...
    @property
    def fingerprint_bits(self) -> int: ...
    @property
    def bits_per_key(self) -> float: ...
    @property
    def variant(self) -> _Variant: ...
    @property
    def width(self) -> _Width: ...
    @property
    def key_seed(self) -> int: ...
    def verify(self) -> None: ...

@final
class Plan:
    @property
    def keys(self) -> int: ...
    @property
    def variant(self) -> _Variant: ...
    @property
    def width(self) -> _Width: ...
    @property
    def columns(self) -> float: ...
    @property
    def expected_rate(self) -> float: ...
    @property
    def expected_solutions(self) -> float: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def bits_per_key(self) -> float: ...
    @property
    def peak_memory(self) -> int: ...

def plan(
    n: int,
    fpr: float | None = None,
    *,
    bits_per_key: float | None = None,
    total_bytes: int | None = None,
    variant: _Variant | None = None,
    width: _Width | None = None,
    effort: _Effort = "normal",
    threads: int = 0,
    key_seed: int = 0,
    max_memory: int | None = None,
) -> Plan: ...
def max_keys(
    nbytes: int,
    fpr: float | None = None,
    *,
    bits_per_key: float | None = None,
    variant: _Variant | None = None,
    width: _Width | None = None,
    effort: _Effort = "normal",
) -> int: ...
@overload
def key_hash(  # type: ignore[overload-overlap]
    keys: _Key, *, key_seed: int = 0, nulls: _Nulls = "error"
) -> int: ...
@overload
def key_hash(
    keys: Sequence[_Key | None] | npt.NDArray[Any], *, key_seed: int = 0, nulls: _Nulls = "error"
) -> npt.NDArray[np.uint64]: ...
@overload
def key_hash(
    keys: _ArrowArray | _ArrowStream, *, key_seed: int = 0, nulls: _Nulls = "error"
) -> Any: ...
def hash_and_shard(
    keys: _Keys | Iterable[_Key | None], *, shards: int, key_seed: int = 0, nulls: _Nulls = "error"
) -> list[npt.NDArray[np.uint64]]: ...
