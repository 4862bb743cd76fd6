"""`tf.data.experimental`'s datasets of tables: CSV files and databases.

Source: tensorflow/python/data/experimental/ops/readers.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import nest
from .convert import constant, convert_to_tensor
from .data_datasets import Dataset
from .data_elements import Element, scalar_of
from .dtypes import DType, as_dtype, int64, string
from .op import raw_ops
from .tensor_shape import TensorShape

_BUFFER = 4 * 1024 * 1024


def _default(value: Any) -> Any:
    """A column's default; a dtype alone stands for a required one."""
    is_dtype = isinstance(value, (DType, type, np.dtype))
    return constant([], as_dtype(value)) if is_dtype else convert_to_tensor(value, name="record_defaults")


class CsvDataset(Dataset):
    """The records of CSV files, a tuple of scalars each.

    Args:
        filenames: A string tensor.
        record_defaults: For each column that is taken a dtype, where it is required, or a default.
        compression_type: "", "ZLIB" or "GZIP".
        buffer_size: Kept for TensorFlow.
        header: Whether the first line of each file is left out.
        field_delim: The character between fields.
        use_quote_delim: Whether `"` may enclose a field.
        na_value: A further text that counts as empty.
        select_cols: Which columns to take, in increasing order; by default all.
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Sequence[Any],
        compression_type: Any = None,
        buffer_size: Any = None,
        header: Any = False,
        field_delim: Any = ",",
        use_quote_delim: Any = True,
        na_value: Any = "",
        select_cols: Any = None,
    ) -> None:
        defaults = [_default(value) for value in record_defaults]
        element = Element(
            tuple(each.dtype.base_dtype for each in defaults), tuple(TensorShape([]) for _ in defaults)
        )
        columns = np.array([], np.int64) if select_cols is None else select_cols
        made = raw_ops.CSVDataset(
            convert_to_tensor(filenames, string, name="filenames"),
            scalar_of(compression_type or "", string, "compression_type"),
            scalar_of(_BUFFER if buffer_size is None else buffer_size, int64, "buffer_size"),
            convert_to_tensor(header, name="header"),
            scalar_of(field_delim, string, "field_delim"),
            convert_to_tensor(use_quote_delim, name="use_quote_delim"),
            scalar_of(na_value, string, "na_value"),
            convert_to_tensor(columns, int64, name="select_cols"),
            defaults,
            output_shapes=element.flat_shapes,
        )
        super().__init__(made, element)


class SqlDataset(Dataset):
    """The rows that a query to a database gives, a scalar for each column.

    Args:
        driver_name: "sqlite".
        data_source_name: The file.
        query: The SQL.
        output_types: The columns' dtypes, in a structure.
    """

    def __init__(self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any) -> None:
        types = nest.map_structure(as_dtype, output_types)
        element = Element(types, nest.map_structure(lambda _: TensorShape([]), types))
        made = raw_ops.SqlDataset(
            scalar_of(driver_name, string, "driver_name"),
            scalar_of(data_source_name, string, "data_source_name"),
            scalar_of(query, string, "query"),
            **element.attrs(),
        )
        super().__init__(made, element)
