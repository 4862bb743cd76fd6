"""Tables between words and their numbers, out of a list or a file.

Source: tensorflow/python/ops/lookup_ops.py (r1.15), behaviour, names of nodes and texts.
"""

from __future__ import annotations

from typing import Any

from .convert import convert_to_tensor
from .default import get_default_graph, name_scope
from .dtypes import as_dtype, int64, string
from .errors import InvalidTypeError, InvalidValueError
from .lookup_tables import LINE_NUMBER, WHOLE_LINE
from .op import raw_ops
from .operation import Tensor
from .ops.array_create import tf_range
from .ops.math_unary import tf_cast
from .table_initializers import (
    KeyValueTensorInitializer,
    TextFileIdTableInitializer,
    TextFileStringTableInitializer,
)
from .tables import FastHashSpec, IdTableWithHashBuckets, StaticHashTable


def _check_words(num_oov_buckets: int, dtype: Any) -> None:
    if num_oov_buckets < 0:
        raise InvalidValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")
    if not dtype.is_integer and dtype.base_dtype != string:
        raise InvalidTypeError("Only integer and string keys are supported.")


def _check_file(vocabulary_file: Any, vocab_size: int | None, say_file: bool) -> None:
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise InvalidValueError("vocabulary_file must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        where = vocabulary_file
        if isinstance(vocabulary_file, Tensor):
            where = get_default_graph().constant_value(vocabulary_file)
            where = "?" if where is None else where.item()
        tail = f" vocabulary_file: {where}" if say_file else ""
        raise InvalidValueError(f"vocab_size must be greater than 0, got {vocab_size}.{tail}")


def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    key_dtype: Any = string,
    name: str | None = None,
    key_column_index: int = WHOLE_LINE,
    value_column_index: int = LINE_NUMBER,
    delimiter: str = "\t",
) -> Any:
    """A table from words (or integers) to ids: the numbers of the lines they stand in.

    Args:
        vocabulary_file: The file.
        num_oov_buckets: How many buckets there are for words that are not in it.
        vocab_size: How many lines to use; by default all.
        default_value: The id of other words where there are no buckets.
        hasher_spec: How words are spread over the buckets.
        key_dtype: The dtype of the words.
        name: Name scope.
        key_column_index: The column of the words, or a `TextFileIndex`.
        value_column_index: The column of the ids, or a `TextFileIndex`.
        delimiter: What is between the columns.

    Raises:
        ValueError: There is no file, or a number is too small.
        TypeError: The words are neither strings nor integers.
    """
    key_dtype = as_dtype(key_dtype)
    _check_file(vocabulary_file, vocab_size, True)
    _check_words(num_oov_buckets, key_dtype)
    with name_scope(name, "string_to_index"):
        with name_scope(None, "hash_table"):
            initializer = TextFileIdTableInitializer(
                vocabulary_file,
                key_column_index,
                value_column_index,
                vocab_size,
                delimiter,
                "table_init",
                int64 if key_dtype.is_integer else key_dtype,
            )
            table = StaticHashTable(initializer, default_value)
        if num_oov_buckets:
            return IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, key_dtype=key_dtype)
        return table


def index_table_from_tensor(
    vocabulary_list: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    dtype: Any = string,
    name: str | None = None,
) -> Any:
    """A table from words (or integers) to ids: their places in `vocabulary_list`.

    Args:
        vocabulary_list: The words, a vector.
        num_oov_buckets: How many buckets there are for words that are not in it.
        default_value: The id of other words where there are no buckets.
        hasher_spec: How words are spread over the buckets.
        dtype: The dtype of the words looked up.
        name: Name scope.

    Raises:
        ValueError: There are no words, they have another dtype, or a number is too small.
        TypeError: The words are neither strings nor integers.
    """
    dtype = as_dtype(dtype)
    if vocabulary_list is None:
        raise InvalidValueError("vocabulary_list must be specified.")
    _check_words(num_oov_buckets, dtype)
    with name_scope(name, "string_to_index"):
        keys = convert_to_tensor(vocabulary_list)
        if keys.dtype.is_integer != dtype.is_integer:
            kind = "integer" if dtype.is_integer else "non-integer"
            raise InvalidValueError(f"Expected {kind}, got {keys.dtype}.")
        if not dtype.is_integer and keys.dtype.base_dtype != dtype:
            raise InvalidValueError(f"Expected {dtype}, got {keys.dtype}.")
        values = tf_cast(tf_range(raw_ops.Size(keys)), int64)
        with name_scope(None, "hash_table"):
            table_keys = tf_cast(keys, int64) if keys.dtype.is_integer else keys
            initializer = KeyValueTensorInitializer(
                table_keys, values, table_keys.dtype.base_dtype, int64, name="table_init"
            )
            table = StaticHashTable(initializer, default_value)
        if num_oov_buckets:
            return IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, key_dtype=dtype)
        return table


def index_to_string_table_from_file(
    vocabulary_file: Any,
    vocab_size: int | None = None,
    default_value: str = "UNK",
    name: str | None = None,
    key_column_index: int = LINE_NUMBER,
    value_column_index: int = WHOLE_LINE,
    delimiter: str = "\t",
) -> StaticHashTable:
    """A table from ids to words: the lines of a file; arguments as `index_table_from_file`."""
    _check_file(vocabulary_file, vocab_size, False)
    with name_scope(name, "index_to_string"):
        initializer = TextFileStringTableInitializer(
            vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter, "table_init"
        )
        return StaticHashTable(initializer, default_value)


def index_to_string_table_from_tensor(
    vocabulary_list: Any, default_value: str = "UNK", name: str | None = None
) -> StaticHashTable:
    """A table from ids to words: those of a vector.

    Raises:
        ValueError: There are no words.
    """
    if vocabulary_list is None:
        raise InvalidValueError("vocabulary_list must be specified.")
    with name_scope(name, "index_to_string"):
        words = convert_to_tensor(vocabulary_list, string)
        keys = tf_cast(tf_range(raw_ops.Size(words)), int64)
        return StaticHashTable(
            KeyValueTensorInitializer(keys, words, int64, string, name="table_init"), default_value
        )
