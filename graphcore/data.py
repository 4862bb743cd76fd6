"""`tf.data`: pipelines of elements, as datasets in the graph and iterators over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import data_experimental as experimental, not_yet
from .data_datasets import (
    Dataset,
    get_output_classes,
    get_output_shapes,
    get_output_types,
)
from .data_files import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from .data_iterators import Iterator, make_initializable_iterator, make_one_shot_iterator
from .data_options import Options
from .data_structures import DatasetSpec

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "Dataset", "DatasetSpec", "FixedLengthRecordDataset", "Iterator", "Options", "TFRecordDataset",
    "TextLineDataset", "experimental", "get_output_classes", "get_output_shapes", "get_output_types",
    "make_initializable_iterator", "make_one_shot_iterator",
]  # fmt: skip
