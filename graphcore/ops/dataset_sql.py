"""tf.data's datasets of the rows that a database gives.

Source: tensorflow/core/kernels/data/experimental/sql_dataset_op.cc and sql/sqlite_query_connection.cc
(r1.15), behaviour and texts.
"""

from __future__ import annotations

import os
import re
import urllib.parse
from typing import Any

import numpy as np

from ...formats import files
from ..datasets import Dataset, Row, Rows, Source
from ..dtypes import DType
from ..errors import InvalidArgumentError, UnknownError
from ..ops.string import text_of
from .dataset import OUT, dataset_op

_TYPES = ("string", "int8", "int16", "int32", "int64", "uint8", "uint16", "bool", "float64")
_WORDS = "DT_STRING, DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_UINT8, DT_UINT16, DT_BOOL, DT_DOUBLE "


def _integer(value: Any) -> int:
    """What sqlite makes of a value that is asked for as an integer."""
    if isinstance(value, bytes):
        found = re.match(rb"\s*([+-]?\d+)", value)
        return int(found[1]) if found else 0
    if isinstance(value, float):
        return int(min(max(value, -(2.0**63)), 2.0**63 - 1024))
    return value or 0


def _number(value: Any) -> float:
    """What sqlite makes of a value that is asked for as a floating number."""
    if isinstance(value, bytes):
        found = re.match(rb"\s*([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)", value)
        return float(found[1]) if found else 0.0
    return float(value or 0)


def _bytes(value: Any) -> bytes:
    """What sqlite makes of a value that is asked for as text."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, float):
        text = f"{value:.15g}"
        return (text if any(mark in text for mark in ".en") else f"{text}.0").encode()
    return b"" if value is None else str(value).encode()


def _scalar(value: Any, dtype: DType) -> np.ndarray:
    if dtype.name == "string":
        return np.array(_bytes(value), object)
    if dtype.name == "float64":
        return np.array(_number(value))
    if dtype.name == "bool":
        return np.array(_integer(value) != 0)
    return np.array(_integer(value), np.int64).astype(dtype.np)


@dataset_op(
    "SqlDataset",
    "driver_name: string, data_source_name: string, query: string -> handle: variant",
    *OUT,
    experimental=True,
    stateful=True,
)
def sql_dataset(driver_name: Any, data_source_name: Any, query: Any, *, node: Any) -> Any:
    """The rows of a query to an SQLite file, a scalar for each column; the file is only read."""
    driver, path, text = (
        text_of(np.asarray(value, object).item()) for value in (driver_name, data_source_name, query)
    )
    dtypes = node.attr("output_types")
    if any(dtype.name not in _TYPES for dtype in dtypes):
        raise InvalidArgumentError(f"Each element of `output_types_` must be one of: {_WORDS}")
    if any(shape.ndims != 0 for shape in node.attr("output_shapes")):
        raise InvalidArgumentError("Each element of `output_shapes_` must be a scalar.")
    if driver != "sqlite":
        raise InvalidArgumentError(
            f"The database type, {driver}, is not supported by SqlDataset. The set of supported databases "
            "is: {'sqlite'}."
        )

    def rows(source: Source) -> Rows:
        import sqlite3

        source.ctx.policy.check_read(path, f"node '{node.name}' (op {node.type})")
        files.read_head(path, 0)  # what is not there is said as for other files
        uri = f"file:{urllib.parse.quote(os.path.abspath(path))}?mode=ro"
        try:
            connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
            connection.text_factory = bytes
            cursor = connection.execute(text)
            count = len(cursor.description or ())
            if count != len(dtypes):
                raise InvalidArgumentError(
                    f"The number of columns in query ({count}) must match the number of elements in "
                    f"output_types ({len(dtypes)})."
                )
            for row in cursor:
                yield _typed(row, dtypes)
        except sqlite3.Error as error:
            raise UnknownError(f"{error}: of the query {text!r} to {path}", path=path) from error

    return Dataset(rows)


def _typed(row: Any, dtypes: list[DType]) -> Row:
    return tuple(_scalar(value, dtype) for value, dtype in zip(row, dtypes))
