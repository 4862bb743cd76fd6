"""What lookup tables are filled with: tensors, or the lines of a text file.

Source: tensorflow/python/ops/lookup_ops.py (r1.15), behaviour, names of nodes and texts.
"""

from __future__ import annotations

from typing import Any

from .convert import convert_to_tensor
from .default import GraphKeys, add_to_collection, name_scope
from .dtypes import DType, as_dtype, int64, string
from .errors import InvalidTypeError, InvalidValueError
from .lookup_tables import LINE_NUMBER, WHOLE_LINE
from .modes import init_scope
from .op import raw_ops
from .operation import Operation, Tensor


class TextFileIndex:
    """Column numbers of a text file that stand for something else."""

    WHOLE_LINE = WHOLE_LINE
    LINE_NUMBER = LINE_NUMBER


class TableInitializerBase:
    """What fills a table.

    Args:
        key_dtype: The dtype of the keys.
        value_dtype: The dtype of the values.
    """

    _shared_name = ""

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

    def initialize(self, table: Any) -> Operation:
        """The operation that fills `table`."""
        raise NotImplementedError(f"{type(self).__name__} does not say how a table is filled")

    def _check(self, table: Any) -> None:
        for what, mine, theirs in (
            ("key", self._key_dtype, table.key_dtype),
            ("value", self._value_dtype, table.value_dtype),
        ):
            if mine.base_dtype != theirs:
                raise InvalidTypeError(f"Invalid {what} dtype, expected {theirs} but got {mine}.")


class KeyValueTensorInitializer(TableInitializerBase):
    """Fills a table with tensors.

    Args:
        keys: The keys, a vector.
        values: The values, as many.
        key_dtype: The dtype of the keys.
        value_dtype: The dtype of the values.
        name: Name scope of the operation.
    """

    def __init__(
        self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: str | None = None
    ) -> None:
        with init_scope():
            self._keys = convert_to_tensor(keys, key_dtype, name="keys")
            self._values = convert_to_tensor(values, value_dtype, name="values")
        self._name = "key_value_init" if name is None else name
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: Any) -> Operation:
        """The operation that fills `table`; also in the collection `TABLE_INITIALIZERS`.

        Raises:
            TypeError: The table has other dtypes.
        """
        self._check(table)
        with name_scope(self._name, values=(table.resource_handle, self._keys, self._values)):
            operation: Operation = raw_ops.LookupTableImportV2(
                table.resource_handle, self._keys, self._values
            )
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, operation)
        return operation


class TextFileInitializer(TableInitializerBase):
    """Fills a table with the lines of a text file.

    Args:
        filename: The file, a string or a tensor.
        key_dtype: The dtype of the keys.
        key_index: The column of the keys, or one of `TextFileIndex`.
        value_dtype: The dtype of the values.
        value_index: The column of the values, or one of `TextFileIndex`.
        vocab_size: How many lines to use; by default all.
        delimiter: What is between the columns.
        name: Name scope of the operation.

    Raises:
        ValueError: There is no file, or columns and dtypes do not fit.
    """

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
    ) -> None:
        if not isinstance(filename, Tensor) and not filename:
            raise InvalidValueError(f"Filename required for {name}.")
        super().__init__(key_dtype, value_dtype)
        for what, index, dtype in (
            ("Key", key_index, self.key_dtype),
            ("Value", value_index, self.value_dtype),
        ):
            if index < -2:
                raise InvalidValueError(f"Invalid {what.lower()} index {index}.")
            if index == LINE_NUMBER and dtype != int64:
                raise InvalidValueError(f"Signature mismatch. {what}s must be dtype {int64}, got {dtype}.")
        if key_index == WHOLE_LINE and not self.key_dtype.is_integer and self.key_dtype != string:
            raise InvalidValueError(
                f"Signature mismatch. Keys must be integer or string, got {self.key_dtype}."
            )
        if value_index == WHOLE_LINE and self.value_dtype != string:
            raise InvalidValueError(
                f"Signature mismatch. Values must be dtype {string}, got {self.value_dtype}."
            )
        if vocab_size is not None and vocab_size <= 0:
            raise InvalidValueError(f"Invalid vocab_size {vocab_size}.")
        self._filename_arg = filename
        with init_scope():
            self._filename = convert_to_tensor(filename, string, name="asset_path")
        self._key_index = key_index
        self._value_index = value_index
        self._vocab_size = vocab_size
        self._delimiter = delimiter
        self._name = name

    @property
    def _shared_name(self) -> str:  # type: ignore[override]
        size = f"_{self._vocab_size}" if self._vocab_size else ""
        return f"hash_table_{self._filename_arg}{size}_{self._key_index}_{self._value_index}"

    def initialize(self, table: Any) -> Operation:
        """The operation that fills `table`; also in the collection `TABLE_INITIALIZERS`.

        The name of a file that is known is in the collection `ASSET_FILEPATHS`.

        Raises:
            TypeError: The table has other dtypes.
        """
        self._check(table)
        with name_scope(self._name, "text_file_init", (table.resource_handle,)):
            operation: Operation = raw_ops.InitializeTableFromTextFileV2(
                table.resource_handle,
                self._filename,
                key_index=self._key_index,
                value_index=self._value_index,
                vocab_size=-1 if self._vocab_size is None else self._vocab_size,
                delimiter=self._delimiter,
            )
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, operation)
        if self._filename.op.type == "Const":
            add_to_collection(GraphKeys.ASSET_FILEPATHS, self._filename)
        return operation


class TextFileStringTableInitializer(TextFileInitializer):
    """Fills a table from line numbers to lines; arguments as `TextFileInitializer`."""

    def __init__(
        self,
        filename: Any,
        key_column_index: int = LINE_NUMBER,
        value_column_index: int = WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_string_table_init",
    ) -> None:
        super().__init__(
            filename, int64, key_column_index, string, value_column_index, vocab_size, delimiter, name
        )


class TextFileIdTableInitializer(TextFileInitializer):
    """Fills a table from lines to their numbers; arguments as `TextFileInitializer`."""

    def __init__(
        self,
        filename: Any,
        key_column_index: int = WHOLE_LINE,
        value_column_index: int = LINE_NUMBER,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_id_table_init",
        key_dtype: Any = string,
    ) -> None:
        super().__init__(
            filename, key_dtype, key_column_index, int64, value_column_index, vocab_size, delimiter, name
        )
