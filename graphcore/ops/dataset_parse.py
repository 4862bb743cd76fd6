"""tf.data's parsing of Examples.

Source: tensorflow/core/kernels/data/experimental/parse_example_dataset_op.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..datasets import Dataset, Row, as_dataset, mapped
from ..errors import InvalidArgumentError, UnimplementedError
from .dataset import OUT, dataset_op
from .parsing import FEATURE_TYPES, Records

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
    if node.has_attr("ragged_keys") and node.attr("ragged_keys"):
        raise UnimplementedError(f"'{node.name}' gives ragged features, which datasets cannot hold here")
    sparse_types, dense_types = node.attr("sparse_types"), node.attr("Tdense")
    order = sorted([*sparse_keys, *dense_keys])

    def parsed(row: Row) -> Row:
        if np.ndim(row[0]) != 1:
            raise InvalidArgumentError(
                f"ParseExampleDataset expects vectors of strings, got shape {list(np.shape(row[0]))}"
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
        return tuple(found[key] for key in order)

    return Dataset(lambda source: mapped(parsed, dataset.rows(source)), dataset.cardinality)


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
