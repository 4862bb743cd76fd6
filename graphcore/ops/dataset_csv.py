"""tf.data's datasets of CSV files.

Source: tensorflow/core/kernels/data/experimental/csv_dataset_op.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...formats import files, tfrecord
from ..datasets import Dataset, Row, Rows, Source, Steps
from ..dtypes import DType
from ..errors import InvalidArgumentError
from ..shapes import format_shape
from .dataset import dataset_op
from .string import parse_number, text_of

_TYPES = (
    "output_types: list({float32, float64, int32, int64, string}) >= 1",
    "output_shapes: list(shape) >= 1",
)
_WORDS = {"float32": "float", "float64": "double"}


class _Reader:
    """The records of one file; one that is wrong is left behind.

    Args:
        data: The file's bytes.
        delimiter: The byte between fields.
        quotes: Whether `"` may enclose a field.
    """

    def __init__(self, data: bytes, delimiter: bytes, quotes: bool) -> None:
        self._data, self._delimiter, self._quotes = data, delimiter, quotes
        self._at = 0
        self._end_of_field = re.compile(b"[" + re.escape(delimiter) + b"\n\r]")

    @property
    def is_at_end(self) -> bool:
        """Whether there are no more records."""
        return self._at >= len(self._data)

    def record(self) -> tuple[list[bytes], list[str]]:
        """The fields of the next record, and what is wrong with it."""
        fields: list[bytes] = []
        wrong: list[str] = []
        is_last = False
        while not is_last:
            if self.is_at_end:  # behind a delimiter at the end of the file
                fields.append(b"")
                break
            if self._quotes and self._data.startswith(b'"', self._at):
                is_last = self._quoted(fields, wrong)
            else:
                found = self._end_of_field.search(self._data, self._at)
                end = found.start() if found else len(self._data)
                text = self._data[self._at : end]
                if self._quotes and b'"' in text:
                    wrong.append("Unquoted fields cannot have quotes inside")
                fields.append(text)
                is_last = self._past(end)
        return fields, wrong

    def _past(self, end: int) -> bool:
        """Goes behind the delimiter or line end at `end`; whether the record ends there."""
        mark = self._data[end : end + 1]
        self._at = end + len(mark)
        if mark == b"\r" and self._data.startswith(b"\n", self._at):
            self._at += 1
        return mark != self._delimiter

    def _quoted(self, fields: list[bytes], wrong: list[str]) -> bool:
        start = at = self._at + 1
        while True:
            quote = self._data.find(b'"', at)
            if quote < 0:
                wrong.append("Reached end of file without closing quoted field in record")
                self._at = len(self._data)
                return True
            following = self._data[quote + 1 : quote + 2]
            if following in (b"", b"\n", b"\r", self._delimiter):
                fields.append(self._data[start:quote].replace(b'""', b'"'))
                return self._past(quote + 1)
            if following != b'"':
                wrong.append("Quote inside a string has to be escaped by another quote")
            at = quote + 2


def _value(text: bytes, index: int, dtype: DType, default: Any, missing: bytes) -> Any:
    if not text or text == missing:
        if default.size != 1:
            raise InvalidArgumentError(f"Field {index} is required but missing in record!", field=index)
        return np.array(default.reshape(-1)[0], dtype.np)
    if dtype.name == "string":
        return np.array(text, object)
    value = parse_number(text, dtype.np)
    if value is None:
        kind = _WORDS.get(dtype.name, dtype.name)
        raise InvalidArgumentError(
            f"Field {index} in record is not a valid {kind}: {text.decode(errors='replace')}", field=index
        )
    return np.array(value, dtype.np)


def _row(
    record: tuple[list[bytes], list[str]],
    columns: Sequence[int],
    dtypes: Sequence[DType],
    defaults: Sequence[Any],
    missing: bytes,
) -> Row:
    fields, wrong = record
    if wrong:
        raise InvalidArgumentError(wrong[0])
    taken = [fields[column] for column in columns if column < len(fields)] if len(columns) else fields
    if len(taken) > len(dtypes):
        raise InvalidArgumentError(f"Expect {len(dtypes)} fields but have more in record")
    values = [
        _value(text, index, dtype, default, missing)
        for index, (text, dtype, default) in enumerate(zip(taken, dtypes, defaults))
    ]
    if len(values) != len(dtypes):
        raise InvalidArgumentError(f"Expect {len(dtypes)} fields but have {len(values)} in record")
    return tuple(values)


@dataset_op(
    "CSVDataset",
    "filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, "
    "use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: output_types -> "
    "handle: variant",
    *_TYPES,
    experimental=True,
    stateful=True,
)
def csv_dataset(
    filenames: Any,
    compression_type: Any,
    buffer_size: Any,
    header: Any,
    field_delim: Any,
    use_quote_delim: Any,
    na_value: Any,
    select_cols: Any,
    record_defaults: Any,
    *,
    node: Any,
) -> Any:
    """The records of CSV files, a scalar for each column."""
    if np.ndim(filenames) > 1:
        raise InvalidArgumentError("`filenames` must be a scalar or a vector.")
    for index, default in enumerate(record_defaults):
        if default.ndim > 1:
            raise InvalidArgumentError("Each record default should be at most rank 1")
        if default.size > 1:
            raise InvalidArgumentError(
                f"There should only be 1 default per field but field {index} has {default.size}"
            )
    if np.ndim(select_cols) != 1:
        raise InvalidArgumentError(
            f"`select_cols` must be a vector, not of shape {format_shape(np.shape(select_cols))}."
        )
    if buffer_size <= 0:
        raise InvalidArgumentError("buffer_size should be positive")
    delimiter, missing, compression = (
        np.asarray(value, object).item() for value in (field_delim, na_value, compression_type)
    )
    if len(delimiter) != 1:
        raise InvalidArgumentError("field_delim should be only 1 char")
    if compression not in (b"", b"ZLIB", b"GZIP"):
        raise InvalidArgumentError(f"Unsupported compression_type: {compression.decode(errors='replace')}.")
    dtypes, columns = node.attr("output_types"), select_cols.tolist()
    if columns and len(columns) != len(dtypes):
        raise InvalidArgumentError("select_cols should match output size")
    if any(a >= b for a, b in itertools.pairwise(columns)):
        raise InvalidArgumentError("select_cols should be strictly increasing indices")
    if columns and columns[0] < 0:
        raise InvalidArgumentError("select_cols should be non-negative indices")
    names = [text_of(name) for name in np.reshape(filenames, -1).tolist()]
    who = f"node '{node.name}' (op {node.type})"

    def opened(source: Source, name: str) -> _Reader:
        source.ctx.policy.check_read(name, who)
        data = files.read_bytes(name)
        if compression:
            data = tfrecord.decompress(data, compression.decode(), name)
        reader = _Reader(data, delimiter, bool(use_quote_delim))
        if header:
            if reader.is_at_end:
                raise InvalidArgumentError(f"Can't read header of file {name}", path=name)
            reader.record()
        return reader

    def rows(source: Source) -> Rows:
        state: dict[str, Any] = {"next": 0, "reader": None}

        def step() -> Row:
            while state["reader"] is None or state["reader"].is_at_end:
                if state["next"] == len(names):
                    raise StopIteration
                state["next"] += 1
                state["reader"] = opened(source, names[state["next"] - 1])
            return _row(state["reader"].record(), columns, dtypes, record_defaults, missing)

        return Steps(step)

    return Dataset(rows)
