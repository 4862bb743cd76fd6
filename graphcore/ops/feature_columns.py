"""What feature columns compute: crosses of features, and which bucket a number is in.

Source: tensorflow/core/kernels/sparse_cross_op.cc and boosted_trees/quantile_ops.cc (r1.15), behaviour and
texts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..dtypes import int64, string
from ..errors import InvalidArgumentError, InvalidValueError
from ..kernels import hashes
from ..op import op
from ..shapes import Shape, format_shape, with_rank

_KINDS = (int64, string)


@op(
    "SparseCross",
    "indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types -> "
    "output_indices: int64, output_values: out_type, output_shape: int64",
    "N: int >= 0",
    "hashed_output: bool",
    "num_buckets: int >= 0",
    "hash_key: int",
    "sparse_types: list({int64, string}) >= 0",
    "dense_types: list({int64, string}) >= 0",
    out_type=_KINDS,
    internal_type=_KINDS,
    no_grad="its results are strings or hashes",
)
def sparse_cross(
    indices: list[Any],
    values: list[Any],
    shapes: list[Any],
    dense_inputs: list[Any],
    *,
    num_buckets: int,
    hash_key: int,
    node: Any,
) -> tuple[Any, Any, Any]:
    """Every combination of one feature of each column in a row: joined by `_X_`, or a hash of all."""
    is_hashed = node.attr("out_type") == int64  # TensorFlow does not look at `hashed_output` either
    for position, shape in enumerate(shapes):
        if np.shape(shape) != (2,):
            raise InvalidArgumentError(
                f"Input shapes should be vectors of 2 elements, but shapes[{position}] has shape "
                f"{format_shape(np.shape(shape))}"
            )
    batch = int(shapes[0][0]) if shapes else len(dense_inputs[0]) if dense_inputs else 0
    columns = [
        *(
            _sparse_rows(*parts, batch, position)
            for position, parts in enumerate(zip(indices, values, shapes))
        ),
        *(_dense_rows(array, batch, position) for position, array in enumerate(dense_inputs)),
    ]
    convert: Callable[[Any], Any] = _number if is_hashed else _text
    rows = [[[convert(item) for item in row] for row in column] for column in columns]
    places: list[tuple[int, int]] = []
    crosses: list[Any] = []
    largest = 0
    for row in range(batch):
        found = list(itertools.product(*(column[row] for column in rows)))
        places += [(row, number) for number in range(len(found))]
        crosses += (
            [_hashed(each, hash_key, num_buckets) for each in found] if is_hashed else map(b"_X_".join, found)
        )
        largest = max(largest, len(found))
    result = np.empty(len(crosses), np.int64 if is_hashed else object)
    result[:] = crosses
    return np.array(places, np.int64).reshape(-1, 2), result, np.array([batch, largest], np.int64)


def _sparse_rows(indices: Any, values: Any, shape: Any, batch: int, position: int) -> list[list[Any]]:
    """The values in each row of a sparse matrix."""
    for name, array, rank, kind in (("indices", indices, 2, "matrix"), ("values", values, 1, "std::vector")):
        if np.ndim(array) != rank:
            raise InvalidArgumentError(
                f"Input {name} should be a {kind} but received shape {format_shape(np.shape(array))} at "
                f"position {position}"
            )
    if indices.shape[1] != 2 or np.shape(shape) != (2,):
        raise InvalidArgumentError(
            f"Expected D2 of index to be 2 got {indices.shape[1]} at position {position}"
        )
    if len(indices) != len(values):
        raise InvalidArgumentError(
            f"Expected size of values to be {len(indices)} got {len(values)} at position {position}"
        )
    if shape[0] != batch:
        raise InvalidArgumentError(f"Expected batch size {batch} got {shape[0]} at position {position}")
    rows: list[list[Any]] = [[] for _ in range(batch)]
    for row, value in zip(indices[:, 0].tolist(), values.tolist()):
        if not 0 <= row < batch:
            raise InvalidArgumentError(
                f"Row {row} of the indices at position {position} is not in [0, {batch})"
            )
        rows[row].append(value)
    return rows


def _dense_rows(array: Any, batch: int, position: int) -> list[list[Any]]:
    if array.ndim != 2:
        raise InvalidArgumentError(
            f"Dense inputs should be a matrix but received shape {format_shape(array.shape)} at position "
            f"{position}"
        )
    if len(array) != batch:
        raise InvalidArgumentError(f"Expected batch size {batch} got {len(array)} at dense tensor {position}")
    rows: list[list[Any]] = array.tolist()
    return rows


def _text(item: Any) -> bytes:
    return item if isinstance(item, bytes) else str(item).encode()


def _number(item: Any) -> int:
    return hashes.farm_fingerprint(item) if isinstance(item, bytes) else item & (1 << 64) - 1


def _hashed(items: Sequence[int], key: int, buckets: int) -> int:
    found = key & (1 << 64) - 1
    for item in items:
        found = hashes.fingerprint_cat(found, item)
    return found % (buckets or (1 << 63) - 1)


sparse_cross.shape(lambda node: [(None, 2), (None,), (2,)])


@op(
    "BoostedTreesBucketize",
    "float_values: num_features * float32, bucket_boundaries: num_features * float32 -> "
    "buckets: num_features * int32",
    "num_features: int >= 0",
    undefined_grad="TensorFlow registers none",
)
def boosted_trees_bucketize(float_values: list[Any], bucket_boundaries: list[Any]) -> list[Any]:
    """For each feature the first boundary that is not smaller than each value, at most the last one."""
    return [
        np.minimum(np.searchsorted(bounds, values, "left"), max(len(bounds) - 1, 0)).astype(np.int32)
        for values, bounds in zip(float_values, bucket_boundaries)
    ]


@boosted_trees_bucketize.shape
def _(node: Any) -> list[Shape]:
    count = node.attr("num_features")
    sizes: set[int | None] = set()
    for shape in node.shapes[:count]:
        sizes |= {with_rank(shape, 1)[0]}
    known = {size for size in sizes if size is not None}
    if len(known) > 1:
        raise InvalidValueError(f"Dimensions must be equal, but are {' and '.join(map(str, sorted(known)))}")
    return [(next(iter(known), None),)] * count
