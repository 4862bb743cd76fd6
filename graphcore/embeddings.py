"""`tf.nn.embedding_lookup` and its kin: rows of tables that may lie in several parts.

Source: tensorflow/python/ops/embedding_ops.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import sparse
from .clip import clip_by_norm
from .convert import convert_n_to_tensor, convert_to_tensor
from .default import get_default_graph, name_scope
from .dtypes import bfloat16, bool_, float16, float32, int32
from .errors import InvalidTypeError, InvalidValueError
from .op import raw_ops
from .ops.array_create import ones_like, tf_fill, tf_range, zeros_like
from .ops.array_join import concat, stack, tf_tile
from .ops.array_select import gather, where
from .ops.array_shape import tf_rank, tf_reshape, tf_shape, tf_size
from .ops.array_slice import tf_slice
from .ops.math_binary import tf_div
from .ops.math_unary import tf_cast
from .ops.reduction import reduce_prod, reduce_sum
from .ops.segment import sparse_segment_mean, sparse_segment_sqrt_n, sparse_segment_sum
from .partitioned_variable import PartitionedVariable
from .sparse_tensor import SparseTensor
from .tensor_shape import dimension_value, unknown_shape
from .variables import ResourceVariable


def parts_of(params: Any) -> list[Any]:
    """The parts of a table: a list as it is, the slices of a partitioned variable, or the table alone."""
    if isinstance(params, (PartitionedVariable, list)):
        return list(params)
    return [params]


def embedding_lookup(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: Any = None,
) -> Any:
    """Rows of a table by their numbers.

    Args:
        params: The table, of shape (rows, ...): a tensor or variable, a partitioned variable, or a list of
            P tensors, its parts.
        ids: int32 or int64 numbers of rows.
        partition_strategy: Which rows are in which of several parts: "mod", row `i` is in part `i % P`; or
            "div", each part has consecutive rows, the first ones one more where P does not divide.
        name: Name of the operations.
        validate_indices: Not used, as in TensorFlow.
        max_norm: Rows of a greater L2 norm are scaled down to it.

    Returns:
        A tensor of shape `ids.shape + params.shape[1:]`.

    Raises:
        ValueError: There is no part, or `partition_strategy` is unknown.
    """
    return embedding_lookup_and_transform(params, ids, partition_strategy, name, max_norm)


def embedding_lookup_and_transform(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    max_norm: Any = None,
    transform_fn: Callable[[Any], Any] | None = None,
) -> Any:
    """As `embedding_lookup`, with a function applied to the rows of each part where that part is."""
    if params is None:
        raise InvalidValueError("params must be specified")
    if isinstance(params, (list, tuple)) and not params:
        raise InvalidValueError("Need at least one param")
    params = parts_of(params)
    graph = get_default_graph()
    with name_scope(name, "embedding_lookup", [*params, ids]) as scope:
        if not any(isinstance(part, ResourceVariable) for part in params):
            params = convert_n_to_tensor(params, name="params")
        ids = convert_to_tensor(ids, name="ids")
        if len(params) == 1 and (transform_fn is None or ids.get_shape().ndims == 1):
            with graph.colocate_with(params[0].op):
                result = _clipped(gather(params[0], ids, name=scope), ids, max_norm)
                if transform_fn:
                    result = transform_fn(result)
            return raw_ops.Identity(result)
        flat = tf_reshape(ids, [-1])
        positions = tf_range(tf_size(flat))
        owners, rows = _owners(params, flat, partition_strategy)
        owners = tf_cast(owners, int32)
        rows = raw_ops.DynamicPartition(rows, owners, num_partitions=len(params))
        places = raw_ops.DynamicPartition(positions, owners, num_partitions=len(params))
        found = []
        for part, part_rows in zip(params, rows):
            with graph.colocate_with(part.op):
                result = gather(part, part_rows)
                if transform_fn:
                    result = transform_fn(_clipped(result, part_rows, max_norm))
            found.append(result)
        joined = raw_ops.ParallelDynamicStitch(places, found, name=scope)
        return _restored(joined, params, ids, max_norm, transform_fn)


def _owners(params: list[Any], flat: Any, strategy: str) -> tuple[Any, Any]:
    """For each row's number: the part that it is in, and its number there."""
    count = len(params)
    if strategy == "mod":
        return flat % count, flat // count
    if strategy != "div":
        raise InvalidValueError(f"Unrecognized partition strategy: {strategy}")
    sizes = [dimension_value(part.get_shape()[0]) for part in params]
    if None not in sizes and sum(sizes):
        total = convert_to_tensor(sum(sizes), flat.dtype)
    else:
        dynamic = []
        for part, size in zip(params, sizes):
            if size is not None:
                dynamic.append(size)
                continue
            with get_default_graph().colocate_with(part.op):
                dynamic.append(tf_shape(part)[0])
        total = reduce_sum(tf_cast(stack(dynamic), flat.dtype))
    each, longer = total // count, total % count
    owners = raw_ops.Maximum(flat // (each + 1), (flat - longer) // each)
    return owners, where(owners < longer, flat % (each + 1), (flat - longer) % each)


def _restored(joined: Any, params: list[Any], ids: Any, max_norm: Any, transform_fn: Any) -> Any:
    """The rows in the shape of `ids`."""
    if transform_fn is None:
        static = params[0].get_shape()[1:]
        for part in params[1:]:
            static = static.merge_with(part.get_shape()[1:])
    else:
        static = joined.get_shape()[1:]
    if static.is_fully_defined():
        row: Any = static
    elif transform_fn is None:
        with get_default_graph().colocate_with(params[0].op):
            whole = tf_shape(params[0])
        row = whole[1:]
    else:
        row = tf_shape(joined)[1:]
    joined = tf_reshape(joined, concat([tf_shape(ids), row], 0))
    joined.set_shape(ids.get_shape().concatenate(static))
    return joined if transform_fn else _clipped(joined, ids, max_norm)


def _clipped(rows: Any, ids: Any, max_norm: Any) -> Any:
    """Rows of a norm above `max_norm` scaled down; each of `ids` has one."""
    if max_norm is None:
        return rows
    ranks = [tensor.get_shape().ndims or None for tensor in (ids, rows)]
    known: Any = [tf_rank(tensor) if rank is None else rank for tensor, rank in zip((ids, rows), ranks)]
    axes = list(range(*known)) if None not in ranks else tf_range(*known)
    return clip_by_norm(rows, max_norm, axes=axes)


_SEGMENTS = {"sum": sparse_segment_sum, "mean": sparse_segment_mean, "sqrtn": sparse_segment_sqrt_n}


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: Any = None,
) -> Any:
    """Rows of a table combined into one for each row of a sparse tensor of numbers.

    Args:
        params: The table; see `embedding_lookup`.
        sp_ids: A SparseTensor (N, M) of the rows' numbers; each of its rows has at least one.
        sp_weights: A SparseTensor with their weights at the same indices, or None where all are 1.
        partition_strategy: See `embedding_lookup`.
        name: Name of the operations.
        combiner: "sum"; "mean" (the default), that divided by the sum of weights; or "sqrtn", divided by
            the root of the sum of the weights' squares.
        max_norm: See `embedding_lookup`.

    Returns:
        A tensor of shape (N, ...).

    Raises:
        TypeError: Numbers or weights are not sparse.
        ValueError: `combiner` is unknown.
    """
    combiner = "mean" if combiner is None else combiner
    if combiner not in _SEGMENTS:
        raise InvalidValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    params = parts_of(params)
    if not isinstance(sp_ids, SparseTensor):
        raise InvalidTypeError("sp_ids must be SparseTensor")
    if sp_weights is not None:
        if not isinstance(sp_weights, SparseTensor):
            raise InvalidTypeError("sp_weights must be either None or SparseTensor")
        for key in ("values", "indices", "dense_shape"):
            ids_shape = getattr(sp_ids, key).get_shape()
            ids_shape.assert_is_compatible_with(getattr(sp_weights, key).get_shape())
    with name_scope(name, "embedding_lookup_sparse", [*params, sp_ids]) as scope:
        segments = tf_cast(sp_ids.indices[:, 0], int32)
        ids, positions = raw_ops.Unique(sp_ids.values)
        rows = embedding_lookup(params, ids, partition_strategy, max_norm=max_norm)
        if rows.dtype.base_dtype in (float16, bfloat16):
            rows = tf_cast(rows, float32)
        if sp_weights is None:
            return _SEGMENTS[combiner](rows, positions, segments, name=scope)
        weights = tf_cast(sp_weights.values, rows.dtype)
        rows = gather(rows, positions)
        ones = tf_fill(raw_ops.ExpandDims(tf_rank(rows) - 1, 0), 1)
        static = weights.get_shape()
        weights = tf_reshape(weights, concat([tf_shape(weights), ones], 0))
        if rows.get_shape().ndims is not None:
            weights.set_shape(static.concatenate([1] * (rows.get_shape().ndims - 1)))
        rows = rows * weights
        if combiner == "sum":
            return raw_ops.SegmentSum(rows, segments, name=scope)
        total = raw_ops.SegmentSum(rows, segments)
        if combiner == "mean":
            return tf_div(total, raw_ops.SegmentSum(weights, segments), name=scope)
        squares = raw_ops.SegmentSum(raw_ops.Pow(weights, convert_to_tensor(2, weights.dtype)), segments)
        return tf_div(total, raw_ops.Sqrt(squares), name=scope)


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: Any = None,
) -> Any:
    """As `embedding_lookup_sparse`, for numbers below 0 and rows without any.

    Negative numbers and those of a weight of 0 or less are left out (the latter not for "sum").

    Args:
        embedding_weights: The table; see `embedding_lookup`.
        sparse_ids: A SparseTensor (d_0, ..., d_n) of the rows' numbers.
        sparse_weights: A SparseTensor with their weights, or None.
        combiner: See `embedding_lookup_sparse`.
        default_id: The row that stands where there is none; by default zeros do.
        name: Name of the operations.
        partition_strategy: See `embedding_lookup`.
        max_norm: See `embedding_lookup`.

    Returns:
        A tensor of shape (d_0, ..., d_(n-1), ...).

    Raises:
        ValueError: There is no table.
    """
    if embedding_weights is None or (isinstance(embedding_weights, list) and not embedding_weights):
        raise InvalidValueError(f"Missing embedding_weights {embedding_weights}.")
    dtype = None if sparse_weights is None else sparse_weights.dtype
    tables = [
        table
        if isinstance(table, ResourceVariable) and dtype in (None, table.dtype)
        else convert_to_tensor(table, dtype)
        for table in parts_of(embedding_weights)
    ]
    with name_scope(name, "embedding_lookup", [*tables, sparse_ids, sparse_weights]) as scope:
        shape = sparse_ids.dense_shape
        static_rank = dimension_value(shape.get_shape()[0])
        rank = tf_size(shape) if static_rank is None else static_rank
        lines = reduce_prod(tf_slice(shape, [0], [rank - 1]))
        ids = sparse.reshape(sparse_ids, [lines, gather(shape, rank - 1)])
        weights = sparse_weights
        if weights is not None:
            weights = SparseTensor(ids.indices, weights.values, ids.dense_shape)
        ids, weights = _pruned(ids, weights, combiner)
        ids, is_empty = sparse.fill_empty_rows(ids, default_id or 0)
        if weights is not None:
            weights, _ = sparse.fill_empty_rows(weights, 1.0)
        result = embedding_lookup_sparse(
            tables,
            ids,
            weights,
            partition_strategy,
            None if default_id is None else scope,
            combiner,
            max_norm,
        )
        if default_id is None:
            empty = tf_tile(tf_reshape(is_empty, [-1, 1]), stack([1, tf_shape(result)[1]]))
            result = where(empty, zeros_like(result), result, name=scope)
        outer = tf_slice(tf_cast(shape, int32), [0], [rank - 1])
        final = tf_reshape(result, concat([outer, tf_slice(tf_shape(result), [1], [-1])], 0))
        leading = unknown_shape(None if static_rank is None else static_rank - 1)
        final.set_shape(leading.concatenate(result.get_shape()[1:]))
        return final


def _pruned(ids: Any, weights: Any, combiner: str) -> tuple[Any, Any]:
    """Numbers and weights without those that do not count."""
    valid = ids.values >= 0
    if weights is None:
        return sparse.retain(ids, valid), None
    valid = raw_ops.LogicalAnd(valid, ones_like(weights.values, dtype=bool_))
    ids, weights = sparse.retain(ids, valid), sparse.retain(weights, valid)
    if combiner != "sum":
        valid = weights.values > 0
        ids, weights = sparse.retain(ids, valid), sparse.retain(weights, valid)
    return ids, weights
