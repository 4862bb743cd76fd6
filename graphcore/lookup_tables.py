"""Lookup tables: what a graph's table operations work on.

A hash table is filled once and then only read; a mutable one takes entries at any time. Keys and
values are kept as Python objects (a vector value as an array), in the order in which they came.

Source: tensorflow/core/kernels/{lookup_table_op,initializable_lookup_table,lookup_util}.cc and
core/framework/lookup_interface.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .dtypes import DType
from .errors import (
    AbortedError,
    FailedPreconditionError,
    InvalidArgumentError,
    OutOfRangeError,
    UnimplementedError,
)
from .shapes import format_shape

WHOLE_LINE, LINE_NUMBER = -2, -1
"""Column numbers of a text file that are no columns."""

_TYPE_NAMES = {"float16": "half", "float32": "float", "float64": "double"}


def type_name(dtype: DType) -> str:
    """A dtype as TensorFlow's kernels print it."""
    base = dtype.base_dtype.name
    return _TYPE_NAMES.get(base, base) + ("_ref" if dtype != dtype.base_dtype else "")


class Table:
    """What both kinds of tables share: shapes, dtypes and finding.

    Args:
        name: The table's name in messages.
        key_dtype: The dtype of a key.
        value_dtype: The dtype of a value.
        key_shape: The shape of one key.
        value_shape: The shape of one value.
    """

    def __init__(
        self,
        name: str,
        key_dtype: DType,
        value_dtype: DType,
        key_shape: tuple[int, ...] = (),
        value_shape: tuple[int, ...] = (),
    ) -> None:
        self.name = name
        self.key_dtype = key_dtype
        self.value_dtype = value_dtype
        self.key_shape = key_shape
        self.value_shape = value_shape
        self._entries: dict[Any, Any] = {}
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._entries)

    def check_same(self, key_dtype: DType, value_dtype: DType) -> None:
        """Raises InvalidArgumentError unless a node declares these dtypes."""
        if (key_dtype, value_dtype) != (self.key_dtype, self.value_dtype):
            raise InvalidArgumentError(
                f"Conflicting key/value dtypes {type_name(key_dtype)}->{type_name(value_dtype)} with "
                f"{type_name(self.key_dtype)}-{type_name(self.value_dtype)} for table {self.name}",
                table=self.name,
            )

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        """The values of `keys`; where there is none, the default.

        Args:
            keys: Any shape that ends with the shape of a key.
            default: One value, or one for each key.

        Raises:
            FailedPreconditionError: The table is not initialized.
            InvalidArgumentError: A shape is another.
        """
        with self._lock:
            self._check_readable()
            lead = self._lead(keys)
            shape = (*lead, *self.value_shape)
            if default.shape not in (self.value_shape, shape):
                raise InvalidArgumentError(
                    f"Expected shape {format_shape(self.value_shape)} or {format_shape(shape)} for "
                    f"default value, got {format_shape(default.shape)}"
                )
            result = np.empty(shape, self.value_dtype.np)
            result[...] = default
            rows = result.reshape(-1, *self.value_shape)
            missing = object()
            for row, key in enumerate(self._keys(keys)):
                value = self._entries.get(key, missing)
                if value is not missing:
                    rows[row] = value
            return result

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        """All keys and their values, in the order in which they came.

        Raises:
            AbortedError: The table is not initialized.
        """
        with self._lock:
            keys = np.empty((len(self), *self.key_shape), self.key_dtype.np)
            values = np.empty((len(self), *self.value_shape), self.value_dtype.np)
            for row, (key, value) in enumerate(self._entries.items()):
                keys[row], values[row] = key, value
            return keys, values

    def _check_readable(self) -> None:
        """Raises unless the table may be read."""

    def _lead(self, keys: np.ndarray) -> tuple[int, ...]:
        """The shape of `keys` without that of one key."""
        cut = keys.ndim - len(self.key_shape)
        if cut < 0 or keys.shape[cut:] != self.key_shape:
            raise InvalidArgumentError(
                f"Input key shape {format_shape(keys.shape)} must end with the table's key shape "
                f"{format_shape(self.key_shape)}"
            )
        return keys.shape[:cut]

    def _keys(self, keys: np.ndarray) -> list[Any]:
        if not self.key_shape:
            found: list[Any] = keys.reshape(-1).tolist()
            return found
        count = keys.size // max(1, int(np.prod(self.key_shape)))
        return [tuple(row) for row in keys.reshape(count, -1).tolist()]

    def _pairs(self, keys: np.ndarray, values: np.ndarray) -> Iterator[tuple[Any, Any]]:
        shape = (*self._lead(keys), *self.value_shape)
        if values.shape != shape:
            raise InvalidArgumentError(
                f"Expected shape {format_shape(shape)} for value, got {format_shape(values.shape)}"
            )
        if not self.value_shape:
            return zip(self._keys(keys), values.reshape(-1).tolist())
        # The caller may go on writing into its array.
        return zip(self._keys(keys), list(np.array(values).reshape(-1, *self.value_shape)))


class HashTable(Table):
    """A table that is filled once.

    Attributes:
        is_initialized: Whether it has been.
    """

    is_initialized = False

    def initialize(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Fills the table.

        Raises:
            InvalidArgumentError: There are no keys, or not as many values.
            FailedPreconditionError: It has other entries already, or a key comes with two values.
        """
        pairs = list(self._pairs(keys, values))
        if not pairs:
            raise InvalidArgumentError("keys and values cannot be empty tensors.")
        self.fill(pairs, len(pairs))

    def fill(self, pairs: Iterable[tuple[Any, Any]], total: int) -> None:
        """Fills the table with Python objects; errors as `initialize`.

        Args:
            pairs: Keys and values.
            total: How many pairs there are; TensorFlow takes equal counts for equal entries.
        """
        with self._lock:
            if self.is_initialized:
                if total != len(self):
                    raise FailedPreconditionError(
                        "Table was already initialized with different data.", table=self.name
                    )
                return
            for key, value in pairs:
                present = self._entries.setdefault(key, value)
                if present != value:
                    raise FailedPreconditionError(
                        f"HashTable has different value for same key. Key {_text(key)} has "
                        f"{_text(present)} and trying to add value {_text(value)}",
                        table=self.name,
                    )
            self.is_initialized = True

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Raises UnimplementedError."""
        raise UnimplementedError("Insert not supported by InitializableLookupTable implementations")

    def remove(self, keys: np.ndarray) -> None:
        """Raises UnimplementedError."""
        raise UnimplementedError("Remove not supported by InitializableLookupTable implementations")

    def replace(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Fills the table; errors as `initialize`."""
        self.initialize(keys, values)

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        """All keys and their values, in the order in which they came.

        Raises:
            AbortedError: The table is not initialized.
        """
        if not self.is_initialized:
            raise AbortedError("HashTable is not initialized.", table=self.name)
        return super().export()

    def _check_readable(self) -> None:
        if not self.is_initialized:
            raise FailedPreconditionError("Table not initialized.", table=self.name)

    def __len__(self) -> int:
        return len(self._entries) if self.is_initialized else 0


class MutableTable(Table):
    """A table that takes entries at any time; of equal keys the last one stays."""

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Adds or changes entries.

        Raises:
            InvalidArgumentError: A shape is another.
        """
        with self._lock:
            self._entries.update(self._pairs(keys, values))

    def remove(self, keys: np.ndarray) -> None:
        """Forgets keys; those that are not there do not matter.

        Raises:
            InvalidArgumentError: Their shape is another.
        """
        with self._lock:
            self._lead(keys)
            for key in self._keys(keys):
                self._entries.pop(key, None)

    def replace(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Puts these entries in the place of all others; errors as `insert`."""
        with self._lock:
            entries = dict(self._pairs(keys, values))
            self._entries = entries


class TextRows:
    """The keys and values in the lines of a text file.

    Args:
        path: The file's name in messages.
        content: Its bytes.
        table: The table that they are for.
        columns: The columns of key and value, or `WHOLE_LINE` or `LINE_NUMBER`.
        vocab_size: How many lines there must be at least, and are used; -1 for all.
        delimiter: What is between the columns, one byte.

    Attributes:
        total: How many lines there are.

    Raises:
        InvalidArgumentError: A column has not the dtype of the table.
        OutOfRangeError: There is nothing to read.
    """

    def __init__(
        self,
        path: str,
        content: bytes,
        table: Table,
        columns: tuple[int, int],
        vocab_size: int,
        delimiter: bytes,
    ) -> None:
        dtypes = (table.key_dtype, table.value_dtype)
        for what, column, dtype in zip(("Key", "Value"), columns, dtypes):
            if column == LINE_NUMBER and dtype.name != "int64":
                raise InvalidArgumentError(
                    f"{what} index for line number requires table {what.lower()} dtype of int64, got "
                    f"{type_name(dtype)}"
                )
            if column == WHOLE_LINE and not dtype.is_integer and dtype.name != "string":
                raise InvalidArgumentError(
                    f"{what} index for whole line requires string or integer table {what.lower()}, got "
                    f"{type_name(dtype)}"
                )
        self._path = path
        self._lines = content.split(b"\n")
        if not self._lines[-1]:
            self._lines.pop()
        self._columns = columns
        self._dtypes = dtypes
        self._vocab_size = vocab_size
        self._delimiter = delimiter
        self.total = len(self._lines) if vocab_size == -1 else vocab_size
        if not self._lines:
            raise OutOfRangeError(f"{path} has no lines to fill a table with", path=path)
        if vocab_size == 0:
            raise OutOfRangeError(f"Finished reading 0 of lines from {path}", path=path)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """The pairs.

        Raises:
            InvalidArgumentError: A line is empty, has too few columns or no number, or lines are missing.
        """
        most, position, wanted = max(self._columns), 0, self._vocab_size
        for number, raw in enumerate(self._lines):
            if number == wanted:
                return
            position += len(raw) + 1
            line = raw.removesuffix(b"\r")
            if not line:
                raise InvalidArgumentError(
                    f"Invalid content in {self._path}: empty line found at position {position}.",
                    path=self._path,
                )
            tokens = line.split(self._delimiter) if most >= 0 else []
            if most >= 0 and most >= len(tokens):
                raise InvalidArgumentError(
                    f"Invalid number of columns in {self._path} line {number} ({_text(line)}) : expected "
                    f"at least {most + 1} got {len(tokens)}",
                    path=self._path,
                )
            key, value = (
                number
                if column == LINE_NUMBER
                else _parsed(line if column == WHOLE_LINE else tokens[column], dtype, number)
                for column, dtype in zip(self._columns, self._dtypes)
            )
            yield key, value
        if wanted > len(self._lines):
            raise InvalidArgumentError(
                f"Invalid vocab_size in {self._path}: expected {wanted} but got {len(self._lines)}",
                path=self._path,
            )


def _parsed(token: bytes, dtype: DType, line: int) -> Any:
    """One field of a text file as a Python object that is exactly a value of `dtype`."""
    if dtype.name == "string":
        return token
    if dtype.name not in ("int32", "int64", "float32", "float64"):
        raise InvalidArgumentError(f"Data type {type_name(dtype)} not supported.")
    try:
        if b"_" in token:  # Python's numbers may have them
            raise ValueError(token)
        if dtype.is_integer:
            return np.array(int(token), dtype.np).item()
        with np.errstate(over="ignore"):
            return np.array(float(token), dtype.np).item()
    except (ValueError, OverflowError):
        raise InvalidArgumentError(
            f"Field {_text(token)} in line {line} is not a valid {type_name(dtype)}."
        ) from None


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
