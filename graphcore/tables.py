"""Lookup tables of a graph that are filled once, and tables with buckets for what is not in them.

Source: tensorflow/python/ops/lookup_ops.py (r1.15), behaviour, names of nodes and texts.
"""

from __future__ import annotations

import functools
import uuid
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from .convert import convert_to_tensor
from .default import name_scope
from .dtypes import DType, as_dtype, int64, string
from .errors import InvalidTypeError, InvalidValueError
from .modes import init_scope
from .op import no_op, raw_ops
from .operation import Operation
from .ops.array_functions import where_v2
from .ops.math_unary import tf_cast
from .ops.string import as_string, hash_bucket, string_to_hash_bucket_fast, string_to_hash_bucket_strong
from .sparse_tensor import SparseTensor
from .table_initializers import TableInitializerBase


class LookupInterface:
    """What all tables have: the dtypes of keys and values.

    Args:
        key_dtype: The dtype of the keys.
        value_dtype: The dtype of the values.
    """

    _resource_handle: Any = None
    _table_name: str | None = None

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype = as_dtype(key_dtype)
        self._value_dtype = as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return self._value_dtype

    @property
    def name(self) -> Any:
        """The table's name."""
        return self._table_name

    @property
    def resource_handle(self) -> Any:
        """The tensor that stands for the table."""
        return self._resource_handle

    def size(self, name: str | None = None) -> Any:
        """How many entries the table has, an int64."""
        raise NotImplementedError(f"{type(self).__name__} does not tell its size")

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of `keys`, or the default."""
        raise NotImplementedError(f"{type(self).__name__} does not look up")

    def _check_keys(self, keys: Any, dtype: DType) -> None:
        if dtype != self._key_dtype:
            raise InvalidTypeError(
                f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}."
            )


class StaticHashTable(LookupInterface):
    """A table that is filled once, by its `initializer`, and then read.

    Args:
        initializer: What fills it: a `KeyValueTensorInitializer` or `TextFileInitializer`.
        default_value: The value of keys that are not there.
        name: Name of the table.
    """

    def __init__(
        self, initializer: TableInitializerBase, default_value: Any, name: str | None = None
    ) -> None:
        self._make(initializer, default_value, initializer._shared_name, name)

    def _make(
        self, initializer: TableInitializerBase, default_value: Any, shared_name: str, name: str | None
    ) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._default_value = convert_to_tensor(default_value, self._value_dtype)
        self._default_value.get_shape().assert_has_rank(0)
        with init_scope():
            self._resource_handle = raw_ops.HashTableV2(
                shared_name=shared_name or f"hash_table_{uuid.uuid4()}",
                key_dtype=self._key_dtype,
                value_dtype=self._value_dtype,
                name=name or "hash_table",
            )
            self._table_name = self._resource_handle.op.name.split("/")[-1]
            self._init_op = initializer.initialize(self)

    @property
    def initializer(self) -> Operation:
        """The operation that fills the table."""
        return self._init_op

    @property
    def default_value(self) -> Any:
        """The value of keys that are not there."""
        return self._default_value

    def size(self, name: str | None = None) -> Any:
        """How many entries the table has, an int64."""
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]):
            return raw_ops.LookupTableSizeV2(self.resource_handle)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of `keys` (a tensor or SparseTensor of any shape), or the default.

        Raises:
            TypeError: The keys have another dtype.
            FailedPreconditionError: (when run) The table has not been filled.
        """
        self._check_keys(keys, keys.dtype.base_dtype)
        dense = keys.values if isinstance(keys, SparseTensor) else keys
        with name_scope(name, f"{self.name}_Lookup", (self.resource_handle, dense, self._default_value)):
            values = raw_ops.LookupTableFindV2(self.resource_handle, dense, self._default_value)
        values.set_shape(dense.get_shape())
        return keys._rebuilt(values) if isinstance(keys, SparseTensor) else values

    def export(self, name: str | None = None) -> tuple[Any, Any]:
        """All keys and their values."""
        with name_scope(name, f"{self.name}_Export", [self.resource_handle]):
            keys, values = raw_ops.LookupTableExportV2(
                self.resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype
            )
        values.set_shape(keys.get_shape().concatenate(self._default_value.get_shape()))
        return keys, values


class HashTable(StaticHashTable):
    """As `StaticHashTable`, with the old name of `initializer`.

    Args:
        initializer: What fills it.
        default_value: The value of keys that are not there.
        name: Name of the table.
    """

    @property
    def init(self) -> Operation:
        """The operation that fills the table."""
        return self.initializer


# What is not in a table goes into buckets


class HasherSpec(namedtuple("HasherSpec", ["hasher", "key"])):
    """How strings are spread over buckets: `fasthash`, `legacy` or, with a key, `stronghash`."""

    __slots__ = ()


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """The keyed hash.

    Args:
        key: Two unsigned integers.

    Raises:
        ValueError: They are not two.
        TypeError: They are no integers.
    """

    __slots__ = ()

    def __new__(cls, key: Any) -> StrongHashSpec:
        """Checks the key."""
        if len(key) != 2:
            raise InvalidValueError(f"key must have size 2, got {len(key)}.")
        if not all(isinstance(number, (int, np.integer)) for number in key):
            raise InvalidTypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


def _bucket_function(hasher_spec: Any) -> Callable[..., Any]:
    if not isinstance(hasher_spec, HasherSpec):
        raise InvalidTypeError(f"hasher_spec must be of type HasherSpec, got {hasher_spec}")
    functions: dict[str, Callable[..., Any]] = {
        "fasthash": string_to_hash_bucket_fast,
        "legacy": hash_bucket,
        "stronghash": functools.partial(string_to_hash_bucket_strong, key=hasher_spec.key),
    }
    if hasher_spec.hasher not in functions:
        raise InvalidValueError(f"Unknown hasher {hasher_spec.hasher}")
    return functions[hasher_spec.hasher]


def _check_ids(has: Any, key_dtype: DType) -> None:
    """Raises TypeError unless a table (or what fills it) goes from numbers or strings to ids."""
    if has.key_dtype not in (int64, string):
        raise InvalidTypeError(
            f"Invalid key dtype, expected one of {(int64, string)}, but got {has.key_dtype}."
        )
    if has.key_dtype.is_integer != key_dtype.is_integer:
        kind = "integer" if key_dtype.is_integer else "non-integer"
        raise InvalidTypeError(f"Invalid key dtype, expected {kind} but got {has.key_dtype}.")
    if has.value_dtype != int64:
        raise InvalidTypeError(f"Invalid value dtype, expected {int64} but got {has.value_dtype}.")


class _Bucketed(LookupInterface):
    """A table of ids, or none, and buckets behind it."""

    def __init__(
        self, table: Any, buckets: int, hasher_spec: Any, name: str | None, key_dtype: DType
    ) -> None:
        if not key_dtype.is_integer and key_dtype != string:
            raise InvalidTypeError(f"Invalid key_dtype, expected integer or string, got {key_dtype}.")
        self._table = table
        self._num_oov_buckets = buckets
        self._hasher_spec = hasher_spec
        name = name.rstrip("/") if name else table.name if table is not None else "hash_bucket"
        self._table_name = name.split("/")[-1] if name else None
        super().__init__(key_dtype, int64)

    @property
    def initializer(self) -> Operation:
        """The operation that fills the table."""
        if self._table is not None:
            operation: Operation = self._table.initializer
            return operation
        with name_scope(None, "init"):
            return no_op()

    @property
    def resource_handle(self) -> Any:
        """The tensor that stands for the table; None where there are only buckets."""
        return None if self._table is None else self._table.resource_handle

    def size(self, name: str | None = None) -> Any:
        """How many entries and buckets there are, an int64."""
        with name_scope(name, f"{self.name}_Size"):
            size = convert_to_tensor(0, int64) if self._table is None else self._table.size()
            return size + self._num_oov_buckets

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The ids of `keys`; those that are not in the table have the numbers of buckets after its size.

        Raises:
            TypeError: The keys have another dtype.
        """
        self._check_keys(keys, keys.dtype.base_dtype)
        dense = keys.values if isinstance(keys, SparseTensor) else keys
        if self._table is not None and self._table.key_dtype.base_dtype == int64:
            dense = tf_cast(dense, int64)
        if not self._num_oov_buckets:
            ids = self._table.lookup(dense, name=name)
        else:
            with name_scope(name, f"{self.name}_Lookup"):
                texts = dense if dense.dtype.base_dtype == string else as_string(dense)
                ids = _bucket_function(self._hasher_spec)(
                    texts, num_buckets=self._num_oov_buckets, name="hash_bucket"
                )
                if self._table is not None:
                    found = self._table.lookup(dense)
                    buckets = raw_ops.Add(ids, self._table.size())
                    known = raw_ops.NotEqual(found, self._table.default_value)
                    ids = where_v2(known, found, buckets)
        return keys._rebuilt(ids) if isinstance(keys, SparseTensor) else ids


class IdTableWithHashBuckets(_Bucketed):
    """A table from strings or numbers to ids, and buckets for keys that are not in it.

    Args:
        table: A table whose values are int64, or None for buckets alone.
        num_oov_buckets: How many buckets.
        hasher_spec: How keys are spread over them.
        name: Name of the lookups.
        key_dtype: The dtype of the keys looked up.

    Raises:
        TypeError: Dtypes do not fit.
        ValueError: There are neither a table nor buckets.
    """

    def __init__(
        self,
        table: Any,
        num_oov_buckets: int,
        hasher_spec: Any = FastHashSpec,
        name: str | None = None,
        key_dtype: Any = None,
    ) -> None:
        if table is not None:
            key_dtype = table.key_dtype if key_dtype is None else as_dtype(key_dtype)
            _check_ids(table, key_dtype)
        else:
            if num_oov_buckets <= 0:
                raise InvalidValueError("oov_buckets must be > 0 if no table is supplied.")
            key_dtype = string if key_dtype is None else as_dtype(key_dtype)
        if not isinstance(hasher_spec, HasherSpec):
            raise InvalidTypeError(f"hasher_spec must be of type HasherSpec, got {hasher_spec}")
        super().__init__(table, num_oov_buckets, hasher_spec, name, key_dtype)

    @property
    def init(self) -> Operation:
        """The operation that fills the table."""
        return self.initializer


class StaticVocabularyTable(_Bucketed):
    """A table of ids that is filled once, and buckets for keys that are not in it.

    Args:
        initializer: What fills the table (values are int64), or None for buckets alone.
        num_oov_buckets: How many buckets.
        lookup_key_dtype: The dtype of the keys looked up.
        name: Name of the lookups.

    Raises:
        TypeError: Dtypes do not fit.
        ValueError: There are no buckets.
    """

    def __init__(
        self,
        initializer: TableInitializerBase | None,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
    ) -> None:
        if num_oov_buckets <= 0:
            raise InvalidValueError("oov_buckets must be > 0.")
        table = None
        key_dtype = string
        if initializer is not None:
            key_dtype = initializer.key_dtype if lookup_key_dtype is None else as_dtype(lookup_key_dtype)
            _check_ids(initializer, key_dtype)
            table = HashTable(initializer, default_value=-1)
        super().__init__(table, num_oov_buckets, FastHashSpec, name, key_dtype)
