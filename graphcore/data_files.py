"""`tf.data`'s datasets of files.

Source: tensorflow/python/data/ops/readers.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .convert import convert_to_tensor
from .data_datasets import Dataset
from .data_elements import Element, scalar_of
from .dtypes import int64, string
from .op import raw_ops
from .tensor_shape import TensorShape


class TFRecordDataset(Dataset):
    """The records of TFRecord files.

    Args:
        filenames: A string tensor, or a dataset of scalars.
        compression_type: "", "ZLIB" or "GZIP".
        buffer_size: Kept for TensorFlow.
        num_parallel_reads: Mix so many files.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        compression = scalar_of(compression_type or "", string, "compression_type")
        size = scalar_of(buffer_size or 256 * 1024, int64, "buffer_size")
        super().__init__(
            *_of_files(
                filenames, num_parallel_reads, lambda name: raw_ops.TFRecordDataset(name, compression, size)
            )
        )


class TextLineDataset(Dataset):
    """The lines of text files, without their ends.

    Args:
        filenames: A string tensor, or a dataset of scalars.
        compression_type: "", "ZLIB" or "GZIP".
        buffer_size: Kept for TensorFlow.
        num_parallel_reads: Mix so many files.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        compression = scalar_of(compression_type or "", string, "compression_type")
        size = scalar_of(buffer_size or 256 * 1024, int64, "buffer_size")
        super().__init__(
            *_of_files(
                filenames, num_parallel_reads, lambda name: raw_ops.TextLineDataset(name, compression, size)
            )
        )


class FixedLengthRecordDataset(Dataset):
    """Pieces of files of a fixed size.

    Args:
        filenames: A string tensor, or a dataset of scalars.
        record_bytes: Bytes of a record.
        header_bytes: Bytes left out at the start of each file.
        footer_bytes: Bytes left out at its end.
        buffer_size: Kept for TensorFlow.
        compression_type: "", "ZLIB" or "GZIP".
        num_parallel_reads: Mix so many files.
    """

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        numbers = [
            scalar_of(value or 0, int64, name)
            for value, name in (
                (header_bytes, "header_bytes"),
                (record_bytes, "record_bytes"),
                (footer_bytes, "footer_bytes"),
                (buffer_size or 256 * 1024, "buffer_size"),
            )
        ]
        compression = scalar_of(compression_type or "", string, "compression_type")
        super().__init__(
            *_of_files(
                filenames,
                num_parallel_reads,
                lambda name: raw_ops.FixedLengthRecordDatasetV2(name, *numbers, compression),
            )
        )


def _of_files(filenames: Any, mixed: Any, make: Callable[[Any], Any]) -> tuple[Any, Element]:
    element = Element(string, TensorShape([]))
    if not isinstance(filenames, Dataset) and mixed is None:
        return make(convert_to_tensor(filenames, string, name="filenames")), element
    if not isinstance(filenames, Dataset):
        names = convert_to_tensor(filenames, string, name="filenames")
        filenames = Dataset.from_tensor_slices(raw_ops.Reshape(names, [-1]))

    def open_file(name: Any) -> Dataset:
        return Dataset(make(name), element)

    found = filenames.flat_map(open_file) if mixed is None else filenames.interleave(open_file, mixed)
    return found._variant_tensor, element
