"""tf.data's parsing of Examples.

Source: tensorflow/core/kernels/data/experimental/parse_example_dataset_op.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..datasets import Dataset, Row, as_dataset, mapped
from ..errors import InvalidArgumentError
from ..shapes import format_shape
from .dataset import OUT, dataset_op
from .parsing import FEATURE_TYPES, Records
from .ragged_variant import RaggedVariant
from .string import text_of

_KEYS = ("sparse_keys: list(string) >= 0", "dense_keys: list(string) >= 0")
_ATTRS = (
    *_KEYS,
    f"sparse_types: list({FEATURE_TYPES}) >= 0",
    f"Tdense: list({FEATURE_TYPES}) >= 0",
    "dense_shapes: list(shape) >= 0",
    *OUT,
)
_SIGNATURE = "input_dataset: variant, num_parallel_calls: int64, dense_defaults: Tdense -> handle: variant"


def _parse(
    input_dataset: Any,
    num_parallel_calls: Any,
    dense_defaults: Any,
    *,
    sparse_keys: list[str],
    dense_keys: list[str],
    dense_shapes: Any,
    node: Any,
) -> Dataset:
    """The features of each vector of serialized Examples, in the order of their keys."""
    dataset = as_dataset(input_dataset)
    ragged_keys, ragged_types, split_types = _ragged(node)
    sparse_types, dense_types = node.attr("sparse_types"), node.attr("Tdense")
    order = sorted([*sparse_keys, *dense_keys, *ragged_keys])

    def parsed(row: Row) -> Row:
        if np.ndim(row[0]) != 1:
            raise InvalidArgumentError(
                f"ParseExampleDataset expects vectors of strings, got shape {format_shape(np.shape(row[0]))}"
            )
        records = Records(row[0])
        found: dict[str, Any] = dict(
            zip(dense_keys, records.dense(dense_keys, dense_types, dense_shapes, dense_defaults))
        )
        parts = records.sparse(sparse_keys, sparse_types)
        count = len(sparse_keys)
        for index, key in enumerate(sparse_keys):
            variants = np.empty(3, object)  # as DeserializeSparse takes it
            for place in range(3):
                variants[place] = parts[place * count + index]
            found[key] = variants
        ragged = records.ragged(ragged_keys, ragged_types, split_types)
        for index, key in enumerate(ragged_keys):
            found[key] = RaggedVariant([ragged[len(ragged_keys) + index]], ragged[index])
        return tuple(found[key] for key in order)

    return Dataset(lambda source: mapped(parsed, dataset.rows(source)), dataset.cardinality)


def _ragged(node: Any) -> tuple[list[str], Any, Any]:
    """The keys of ragged features, the dtypes of their values and of their row splits."""
    if not node.has_attr("ragged_keys"):
        return [], [], []
    keys = [text_of(key) for key in node.attr("ragged_keys")]
    types, splits = node.attr("ragged_value_types"), node.attr("ragged_split_types")
    if not len(keys) == len(types) == len(splits):
        raise InvalidArgumentError(
            f"ragged_keys ({len(keys)}) must match the size of ragged_value_types ({len(types)}) and "
            f"ragged_split_types ({len(splits)})"
        )
    return keys, types, splits


dataset_op("ParseExampleDataset", _SIGNATURE, *_ATTRS, "sloppy: bool = false")(_parse)
dataset_op("ExperimentalParseExampleDataset", _SIGNATURE, *_ATTRS, "sloppy: bool = false")(_parse)
dataset_op(
    "ParseExampleDatasetV2",
    _SIGNATURE,
    *_ATTRS,
    "deterministic: string = 'default'",
    "ragged_keys: list(string) = []",
    f"ragged_value_types: list({FEATURE_TYPES}) = []",
    "ragged_split_types: list({int32, int64}) = []",
)(_parse)
