"""The dense hash table: entries in buckets, as a file of them or an export has them.

Where a key stands follows from its hash, by quadratic probing, so that what is exported here is what
TensorFlow exports, bucket for bucket.

Source: MutableDenseHashTable in tensorflow/core/kernels/lookup_table_op.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import DType
from .errors import InvalidArgumentError, UnimplementedError
from .kernels.hashes import murmur
from .lookup_tables import Table
from .shapes import format_shape

_M64 = 2**64 - 1
_EMPTY, _DELETED = object(), object()


class DenseTable(Table):
    """A mutable table with two keys that may not be used: one marks an empty, one a deleted bucket.

    Args:
        name: The table's name in messages.
        key_dtype: The dtype of a key.
        value_dtype: The dtype of a value.
        value_shape: The shape of one value.
        empty_key: What an empty bucket has for a key; its shape is that of a key.
        deleted_key: The same of a deleted one; None where the table cannot delete.
        buckets: How many there are at first, a power of 2.
        max_load: Which part of them may be full before they become twice as many.

    Raises:
        InvalidArgumentError: The keys are equal or of different shapes, or a number is out of range.
    """

    def __init__(
        self,
        name: str,
        key_dtype: DType,
        value_dtype: DType,
        value_shape: tuple[int, ...],
        empty_key: np.ndarray,
        deleted_key: np.ndarray | None,
        buckets: int,
        max_load: float,
    ) -> None:
        super().__init__(name, key_dtype, value_dtype, empty_key.shape, value_shape)
        if not 0 < max_load < 1:
            raise InvalidArgumentError(f"max_load_factor must be between 0 and 1, got: {max_load:g}")
        for what, shape in (("value", value_shape), ("key", empty_key.shape)):
            if len(shape) > 1:
                raise InvalidArgumentError(
                    f"Empty {what} must be a scalar or a vector, got shape {format_shape(shape)}"
                )
        if deleted_key is not None and deleted_key.shape != empty_key.shape:
            raise InvalidArgumentError(
                "Empty and deleted keys must have same shape, got shapes: "
                f"{format_shape(empty_key.shape)} and {format_shape(deleted_key.shape)}"
            )
        if buckets < 4 or buckets & (buckets - 1):
            raise InvalidArgumentError(
                f"Number of buckets must be at least 4 and a power of 2, got: {buckets}"
            )
        self._empty = self._keys(empty_key)[0]
        self._deleted = None if deleted_key is None else self._keys(deleted_key)[0]
        if self._empty == self._deleted:
            raise InvalidArgumentError("Empty and deleted keys cannot be equal")
        self._max_load = max_load
        self._buckets: list[Any] = [_EMPTY] * buckets
        self._stale: dict[int, Any] = {}  # what deleted buckets still hold

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        """The values of `keys`; where there is none, the default; see `Table.find`."""
        self._check_keys(keys)
        return super().find(keys, default)

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Adds or changes entries.

        Raises:
            InvalidArgumentError: A shape is another, or a key is one of the two that mark buckets.
        """
        with self._lock:
            self._check_keys(keys)
            pairs = list(self._pairs(keys, values))
            count = len(self._buckets)
            while len(self._entries) + len(pairs) > count * self._max_load:
                count *= 2
            if count > len(self._buckets):
                self._rebuild(count)
            for key, value in pairs:
                if key not in self._entries:
                    self._place(key)
                self._entries[key] = value

    def remove(self, keys: np.ndarray) -> None:
        """Forgets keys; errors as `insert`."""
        if self._deleted is None:
            raise UnimplementedError("A table without a deleted_key cannot remove entries", table=self.name)
        with self._lock:
            self._check_keys(keys)
            for key in self._keys(keys):
                if key in self._entries:
                    at = self._buckets.index(key)
                    self._buckets[at] = _DELETED
                    self._stale[at] = self._entries.pop(key)

    def replace(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Puts buckets as `export` gives them in the place of all."""
        with self._lock:
            rows = keys.reshape(len(keys), *self.key_shape)
            pairs = self._pairs(rows, values.reshape(len(keys), *self.value_shape))
            marks = {self._empty: _EMPTY, self._deleted: _DELETED}
            self._entries, self._buckets, self._stale = {}, [], {}
            for key, value in pairs:
                self._buckets.append(marks.get(key, key))
                if key not in marks:
                    self._entries[key] = value

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        """The keys and values of all buckets, (buckets, size) each; unused ones have the marks."""
        with self._lock:
            count = len(self._buckets)
            width = int(np.prod(self.key_shape, dtype=np.int64))
            keys = np.empty((count, width), self.key_dtype.np)
            depth = int(np.prod(self.value_shape, dtype=np.int64))
            text = self.value_dtype.np.kind == "O"
            values = np.full((count, depth), b"" if text else 0, self.value_dtype.np)
            for row, key in enumerate(self._buckets):
                mark = self._empty if key is _EMPTY else self._deleted if key is _DELETED else key
                keys[row] = mark
                if key is mark:
                    values[row] = self._entries[key]
                elif row in self._stale:
                    values[row] = self._stale[row]
            return keys, values

    def _check_keys(self, keys: np.ndarray) -> None:
        count = len(keys) if keys.ndim else 1
        if keys.size != count * int(np.prod(self.key_shape, dtype=np.int64)):
            raise InvalidArgumentError(
                f"Expected key shape {format_shape((count, *self.key_shape))} got {format_shape(keys.shape)}"
            )
        found = set(self._keys(keys))
        for mark, what in ((self._empty, "empty_key"), (self._deleted, "deleted_key")):
            if mark in found:
                raise InvalidArgumentError(f"Using the {what} as a table key is not allowed", table=self.name)

    def _rebuild(self, count: int) -> None:
        old, self._buckets, self._stale = self._buckets, [_EMPTY] * count, {}
        for key in old:
            if key is not _EMPTY and key is not _DELETED:
                self._place(key)

    def _place(self, key: Any) -> None:
        mask = len(self._buckets) - 1
        at, probes = _hash(key) & mask, 0
        while self._buckets[at] is not _EMPTY and self._buckets[at] is not _DELETED:
            probes += 1
            at = (at + probes) & mask
        self._buckets[at] = key
        self._stale.pop(at, None)


def _hash(key: Any) -> int:
    if not isinstance(key, tuple):
        return _hash_one(key)
    if len(key) == 1:
        return _hash_one(key[0])
    result = 0
    for part in key:
        combined = _hash_one(part) + 0x9E3779B97F4A7800 + (result << 10 & _M64) + (result >> 4)
        result ^= combined & _M64
    return result


def _hash_one(key: Any) -> int:
    return murmur(key) if isinstance(key, bytes) else int(key) & _M64
