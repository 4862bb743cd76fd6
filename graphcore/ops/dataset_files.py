"""tf.data's datasets of files. All of them go through the session's file policy."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...formats import files, tfrecord
from .. import readers
from ..datasets import Dataset, Row, Rows, Source, all_rows, as_dataset
from ..errors import InvalidArgumentError
from ..op import op
from . import rules
from .dataset import NO_GRAD, dataset_op


def _names(filenames: Any) -> list[str]:
    return [name.decode("utf-8", "surrogateescape") for name in np.reshape(filenames, -1).tolist()]


def _text(value: Any) -> str:
    return np.asarray(value).item().decode()  # type: ignore[no-any-return]


def _records(node: Any, filenames: Any, open_file: Callable[[str], Iterator[Any]]) -> Dataset:
    """The records of files one after the other, each a scalar string."""
    who = f"node '{node.name}' (op {node.type})"
    names = _names(filenames)

    def of(source: Source, name: str) -> Rows:
        source.ctx.policy.check_read(name, who)
        for _, record in open_file(name):
            yield (np.array(record, object),)

    def rows(source: Source) -> Iterator[Row]:
        return itertools.chain.from_iterable(of(source, name) for name in names)

    return Dataset(rows)


@dataset_op(
    "TFRecordDataset",
    "filenames: string, compression_type: string, buffer_size: int64 -> handle: variant",
    stateful=True,
)
def tf_record_dataset(filenames: Any, compression_type: Any, buffer_size: Any, *, node: Any) -> Any:
    """The records of TFRecord files."""
    compression = _text(compression_type)
    return _records(node, filenames, lambda name: readers.records(name, compression))


@dataset_op(
    "TextLineDataset",
    "filenames: string, compression_type: string, buffer_size: int64 -> handle: variant",
    stateful=True,
)
def text_line_dataset(filenames: Any, compression_type: Any, buffer_size: Any, *, node: Any) -> Any:
    """The lines of text files, without their ends."""
    compression = _text(compression_type)

    def lines(name: str) -> Iterator[Any]:
        if not compression:
            return readers.text_lines(name)
        data = tfrecord.decompress(files.read_bytes(name), compression, name)
        whole = data.removesuffix(b"\n").split(b"\n") if data else []
        return ((b"", line.replace(b"\r", b"")) for line in whole)

    return _records(node, filenames, lines)


def _fixed_length(
    filenames: Any,
    header_bytes: Any,
    record_bytes: Any,
    footer_bytes: Any,
    buffer_size: Any,
    compression_type: Any = b"",
    *,
    node: Any,
) -> Any:
    """Pieces of files of a fixed size."""
    sizes = (int(header_bytes), int(record_bytes), int(footer_bytes), 0)
    compression = _text(np.asarray(compression_type, object))
    return _records(node, filenames, lambda name: readers.fixed_length(name, *sizes, compression))


_FIXED = (
    "filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64"
)
dataset_op("FixedLengthRecordDataset", f"{_FIXED} -> handle: variant", stateful=True)(_fixed_length)
dataset_op(
    "FixedLengthRecordDatasetV2", f"{_FIXED}, compression_type: string -> handle: variant", stateful=True
)(_fixed_length)


def _write(ctx: Any, input_dataset: Any, filename: Any, compression_type: Any, *, node: Any) -> None:
    """Writes the elements of a dataset of strings into a TFRecord file."""
    (name,), compression = _names(filename), _text(compression_type)
    ctx.policy.check_write(name, f"node '{node.name}' (op {node.type})")
    with tfrecord.RecordWriter(name, compression) as writer:
        for row in all_rows(as_dataset(input_dataset), ctx):
            if len(row) != 1 or np.ndim(row[0]):
                raise InvalidArgumentError("A TFRecord file takes datasets of scalar strings only")
            writer.write(np.asarray(row[0], object).item())


for _name in ("DatasetToTFRecord", "ExperimentalDatasetToTFRecord"):
    op(
        _name,
        "input_dataset: variant, filename: string, compression_type: string ->",
        stateful=True,
        no_grad=NO_GRAD,
    )(_write).shape(rules.nothing)
