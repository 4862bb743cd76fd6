"""`tf.contrib.lookup`: the tables of `tf.lookup` as they were called before, and tables of words.

Source: tensorflow/contrib/lookup/lookup_ops.py (r1.15), signatures and texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import mutable_tables, not_yet, tables, vocabulary_tables
from .dtypes import string
from .errors import InvalidValueError
from .table_initializers import (
    KeyValueTensorInitializer,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileInitializer,
    TextFileStringTableInitializer,
)
from .tables import (
    FastHashSpec,
    HasherSpec,
    IdTableWithHashBuckets,
    LookupInterface,
    StrongHashSpec,
)
from .vocabulary_tables import index_table_from_file, index_to_string_table_from_file


class HashTable(tables.HashTable):
    """A table that is filled once, and shared by all that give one name.

    Args:
        initializer: What fills it.
        default_value: The value of keys that are not there.
        shared_name: The name under which it is shared.
        name: Name of the table.
    """

    def __init__(
        self, initializer: Any, default_value: Any, shared_name: str | None = None, name: str | None = None
    ) -> None:
        self._make(initializer, default_value, shared_name or initializer._shared_name, name)


class MutableHashTable(mutable_tables.MutableHashTable):
    """A table that takes entries at any time; arguments as `HashTable` and `tf.lookup`'s tables have them."""

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        shared_name: str | None = None,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
    ) -> None:
        self._shared_name = shared_name or ""
        super().__init__(key_dtype, value_dtype, default_value, name, checkpoint)


class MutableDenseHashTable(mutable_tables.DenseHashTable):
    """A table with keys that mark unused buckets; arguments as `tf.lookup.experimental.DenseHashTable`."""

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        shared_name: str | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
    ) -> None:
        self._shared_name = shared_name or ""
        super().__init__(
            key_dtype,
            value_dtype,
            default_value,
            empty_key,
            deleted_key,
            initial_num_buckets,
            name,
            checkpoint,
        )


def index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    dtype: Any = string,
    name: str | None = None,
) -> Any:
    """A table from words (or integers) to ids: their places in `mapping`.

    Raises:
        ValueError: There are no words, they have another dtype, or a number is too small.
    """
    if mapping is None:
        raise InvalidValueError("mapping must be specified.")
    return vocabulary_tables.index_table_from_tensor(
        mapping, num_oov_buckets, default_value, hasher_spec, dtype, name
    )


def index_to_string_table_from_tensor(
    mapping: Any, default_value: str = "UNK", name: str | None = None
) -> Any:
    """A table from ids to words: those of a vector.

    Raises:
        ValueError: There are no words.
    """
    if mapping is None:
        raise InvalidValueError("mapping must be specified.")
    return vocabulary_tables.index_to_string_table_from_tensor(mapping, default_value, name)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "FastHashSpec", "HashTable", "HasherSpec", "IdTableWithHashBuckets", "KeyValueTensorInitializer",
    "LookupInterface", "MutableDenseHashTable", "MutableHashTable", "StrongHashSpec",
    "TextFileIdTableInitializer", "TextFileIndex", "TextFileInitializer", "TextFileStringTableInitializer",
    "index_table_from_file", "index_table_from_tensor", "index_to_string_table_from_file",
    "index_to_string_table_from_tensor",
]  # fmt: skip
