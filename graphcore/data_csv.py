"""`tf.data.experimental.make_csv_dataset`: batches out of CSV files that say themselves what is in them.

Source: tensorflow/python/data/experimental/ops/readers.py (r1.15), behaviour only.
"""

from __future__ import annotations

import csv
import gzip
import itertools
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..formats import files
from . import gfile
from .convert import constant
from .data_datasets import Dataset
from .data_readers import CsvDataset
from .data_transformations import (
    AUTOTUNE,
    ignore_errors as without_errors,
    parallel_interleave,
    shuffle_and_repeat,
)
from .default import get_default_graph
from .dtypes import DType, float32, float64, int32, int64, string
from .errors import InvalidValueError
from .operation import Tensor

_ORDER = (int32, int64, float32, float64, string)


def _names(file_pattern: Any) -> list[str]:
    patterns = list(file_pattern) if isinstance(file_pattern, (list, tuple)) else [file_pattern]
    if not patterns:
        raise InvalidValueError("File pattern is empty.")
    found = sorted(name for pattern in patterns for name in gfile.Glob(pattern))
    if not found:
        raise InvalidValueError(f"No files match {file_pattern}.")
    return found


class _Text:
    """How the files are written.

    Args:
        names: The files.
        delimiter: What is between the fields.
        quotes: Whether `"` may enclose a field.
        compression: "", "GZIP" or None.
    """

    def __init__(self, names: Sequence[str], delimiter: str, quotes: bool, compression: Any) -> None:
        known = (
            get_default_graph().constant_value(compression)
            if isinstance(compression, Tensor)
            else compression
        )
        if isinstance(compression, Tensor) and known is None:
            raise InvalidValueError("Received unknown compression_type")
        kind = known.item() if isinstance(known, np.ndarray) else known
        self._kind = (kind.decode() if isinstance(kind, bytes) else kind) or ""
        self._names = names
        self._options: Any = {
            "delimiter": delimiter,
            "quoting": csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        }

    def rows(self, name: str) -> Iterator[list[str]]:
        """The rows of a file.

        Raises:
            ValueError: It is compressed in a way that is not read here.
        """
        if self._kind not in ("", "GZIP"):
            raise InvalidValueError(f"compression_type ({self._kind}) is not supported for probing columns")
        data = files.read_bytes(name)
        text = (gzip.decompress(data) if self._kind else data).decode("utf-8", "surrogateescape")
        return csv.reader(text.splitlines(keepends=True), **self._options)

    def header(self) -> list[str]:
        """The names of columns, which all files begin with.

        Raises:
            ValueError: A file is empty, or begins with other names.
        """
        found: list[str] = []
        for name in self._names:
            row = next(self.rows(name), None)
            if row is None:
                raise InvalidValueError(
                    f"Received StopIteration when reading the header line of {name}.  Empty file?"
                )
            if found and row != found:
                raise InvalidValueError("Files have different column names in the header row.")
            found = row
        return found

    def types(
        self, columns: Sequence[int], count: int, header: bool, missing: str, limit: int | None
    ) -> list[DType]:
        """The narrowest dtypes of columns that hold what stands in the first rows.

        Raises:
            ValueError: A row has another number of fields than `count`.
        """
        found: list[DType | None] = [None] * len(columns)
        rows = itertools.chain.from_iterable(
            itertools.islice(self.rows(name), 1 if header else 0, None) for name in self._names
        )
        for row in itertools.islice(rows, limit):
            if len(row) != count:
                raise InvalidValueError(
                    "Problem inferring types: CSV row has different number of fields than expected."
                )
            for place, column in enumerate(columns):
                if row[column] not in ("", missing):
                    found[place] = _wider(row[column], found[place])
        return [string if each is None else each for each in found]


def _holds(text: str, dtype: DType) -> bool:
    try:
        if dtype.is_integer:
            limits = np.iinfo(dtype.np)
            return bool(limits.min <= int(text) <= limits.max)
        with np.errstate(over="ignore"):
            return dtype == string or bool(dtype.np.type(text) < np.inf)
    except (ValueError, OverflowError):
        return False


def _wider(text: str, before: DType | None) -> DType:
    start = 0 if before is None else _ORDER.index(before)
    return next(dtype for dtype in _ORDER[start:] if _holds(text, dtype))


def _selected(select_columns: Sequence[Any], names: Sequence[str]) -> list[int]:
    places = {name: place for place, name in enumerate(names)}
    found = []
    for each in select_columns:
        if isinstance(each, int):
            if not 0 <= each < len(names):
                raise InvalidValueError(
                    f"Column index {each} specified in select_columns out of valid range."
                )
            found.append(each)
        elif each in places:
            found.append(places[each])
        else:
            raise InvalidValueError(
                f"Value '{each}' specified in select_columns not a valid column index or name."
            )
    if len(set(found)) != len(found):
        raise InvalidValueError("select_columns contains duplicate columns")
    return sorted(found)


def make_csv_dataset(
    file_pattern: Any,
    batch_size: Any,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: Any = None,
    num_parallel_reads: Any = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: Any = None,
    ignore_errors: bool = False,
) -> Dataset:
    """Batches of the columns of CSV files, as dicts.

    Args:
        file_pattern: One pattern or several; the files are looked for now.
        batch_size: Rows in a batch.
        column_names: The columns; by default what the header says.
        column_defaults: For each column that is taken a dtype, where it is required, or a default; by default
            the dtype is what the first rows need, and 0 or "" stands for what is missing.
        label_name: The column that is given apart, as the second of a pair.
        select_columns: Which columns to take, by number or name; by default all.
        field_delim: The character between fields.
        use_quote_delim: Whether `"` may enclose a field.
        na_value: A further text that counts as empty.
        header: Whether each file begins with the names of the columns.
        num_epochs: How often to go through; for ever by default.
        shuffle: Whether to, files and rows.
        shuffle_buffer_size: Out of how many.
        shuffle_seed: Of the random order.
        prefetch_buffer_size: Kept for TensorFlow.
        num_parallel_reads: How many files to mix.
        sloppy: Kept for TensorFlow.
        num_rows_for_inference: How many rows to look at for the dtypes; None for all.
        compression_type: "", "GZIP" or, where names and defaults are given, "ZLIB".
        ignore_errors: Leave out rows that are wrong.

    Raises:
        ValueError: Nothing matches, names occur twice or cannot be told, or a column does not exist.
    """
    paths = _names(file_pattern)
    dataset: Dataset = Dataset.from_tensor_slices(paths)
    if shuffle:
        dataset = dataset.shuffle(len(paths), shuffle_seed)
    text = _Text(paths, field_delim, use_quote_delim, compression_type)
    if column_names is None:
        if not header:
            raise InvalidValueError("Cannot infer column names without a header line.")
        column_names = text.header()
    if len(set(column_names)) != len(column_names):
        raise InvalidValueError("Cannot have duplicate column names.")
    selected = None if select_columns is None else _selected(select_columns, column_names)
    if column_defaults is None:
        columns = range(len(column_names)) if selected is None else selected
        types = text.types(columns, len(column_names), header, na_value, num_rows_for_inference)
        column_defaults = [constant(["" if dtype == string else 0], dtype) for dtype in types]
    if selected is not None and len(column_defaults) != len(selected):
        raise InvalidValueError("If specified, column_defaults and select_columns must have same length.")
    taken = list(column_names) if selected is None else [column_names[place] for place in selected]
    if label_name is not None and label_name not in taken:
        raise InvalidValueError("`label_name` provided must be one of the columns.")

    def rows_of(name: Any) -> Dataset:
        made: Dataset = CsvDataset(
            name,
            column_defaults,
            compression_type=compression_type,
            header=header,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=selected,
        )
        return made.apply(without_errors()) if ignore_errors else made

    def named(*values: Any) -> Any:
        features = OrderedDict(zip(taken, values))
        if label_name is None:
            return features
        label = features.pop(label_name)
        return features, label

    reads = 1 if num_parallel_reads is None else max(num_parallel_reads, 1)
    dataset = dataset.apply(parallel_interleave(rows_of, cycle_length=reads, sloppy=sloppy))
    if num_epochs != 1 and shuffle:
        dataset = dataset.apply(shuffle_and_repeat(shuffle_buffer_size, num_epochs, shuffle_seed))
    elif shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    elif num_epochs != 1:
        dataset = dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(named)
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)
