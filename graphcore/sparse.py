"""`tf.sparse`: functions of `SparseTensor`s, and the same under their names without the module.

A sparse tensor's values are taken to be in row-major order; `reorder` brings others in order.

Source: tensorflow/python/ops/sparse_ops.py (r1.15), behaviour and texts.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

from . import not_yet
from .convert import constant, convert_to_tensor
from .default import control_dependencies, name_scope
from .dtypes import as_dtype, bool_, float32, int32, int64, string
from .errors import InvalidTypeError, InvalidValueError
from .op import raw_ops
from .ops.accumulator import SparseConditionalAccumulator
from .ops.array_create import placeholder as dense_placeholder
from .ops.array_functions import sparse_mask as mask
from .ops.control_flow import tf_assert
from .ops.segment import (
    sparse_segment_mean as segment_mean,
    sparse_segment_sqrt_n as segment_sqrt_n,
    sparse_segment_sum as segment_sum,
)
from .sparse_tensor import SparseTensor, SparseTensorValue
from .tensor_shape import TensorShape


def _sparse(given: Any) -> SparseTensor:
    """A SparseTensor of one, or of its value."""
    if isinstance(given, SparseTensorValue):
        return SparseTensor.from_value(given)
    if not isinstance(given, SparseTensor):
        raise InvalidTypeError(f"Input must be a SparseTensor; got {given!r}.")
    return given


def _all_sparse(given: Any) -> list[SparseTensor]:
    if not isinstance(given, (list, tuple)):
        raise InvalidTypeError(f"Inputs must be a list of SparseTensors; got {given!r}.")
    return [_sparse(item) for item in given]


def _alias(value: Any, old: Any, name: str, old_name: str) -> Any:
    """An argument that has an older name, too."""
    if value is not None and old is not None:
        raise InvalidValueError(f"Cannot specify both '{name}' and '{old_name}'")
    return old if value is None else value


# Making


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """`tf.sparse.placeholder`: a sparse tensor that is to be fed.

    Args:
        dtype: The dtype of the values.
        shape: The shape of the whole: a list (None for unknown sizes) or, to know nothing, None.
        name: A prefix of the names of the three placeholders.
    """

    def part(suffix: str) -> str | None:
        return None if name is None else f"{name}/{suffix}"

    sizes = None if shape is None else TensorShape(shape).as_list()
    rank = None if sizes is None else len(sizes)
    if sizes is None or None in sizes:
        dense_shape = dense_placeholder(int64, [rank], part("shape"))
    else:
        dense_shape = convert_to_tensor(np.array(sizes, np.int64), name=part("shape"))
    values = dense_placeholder(dtype, [None], part("values"))
    indices = dense_placeholder(int64, [None, rank], part("indices"))
    return SparseTensor(indices, values, dense_shape)


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """`tf.sparse.from_dense`: the values that are not zero."""
    with name_scope(name, "dense_to_sparse"):
        tensor = convert_to_tensor(tensor)
        zero = "" if tensor.dtype == string else 0
        indices = raw_ops.Where(raw_ops.NotEqual(tensor, constant(zero, tensor.dtype)))
        values = raw_ops.GatherNd(tensor, indices)
        return SparseTensor(indices, values, raw_ops.Shape(tensor, out_type=int64))


def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = float32, name: str | None = None
) -> SparseTensor:
    """`tf.sparse.eye`: a sparse matrix with ones on the diagonal."""
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = raw_ops.Cast(convert_to_tensor(num_rows), DstT=int64)
        columns = rows if num_columns is None else raw_ops.Cast(convert_to_tensor(num_columns), DstT=int64)
        size = raw_ops.Minimum(rows, columns)
        places = raw_ops.Range(constant(0, int64), size, constant(1, int64))
        ones = raw_ops.Fill(raw_ops.ExpandDims(size, 0), constant(1, as_dtype(dtype)))
        return SparseTensor(
            raw_ops.Pack([places, places], axis=1), ones, raw_ops.Pack([rows, columns], axis=0)
        )


def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Any:
    """`tf.sparse.to_dense`: a dense tensor, `default_value` (zero, or no text) where there is nothing."""
    sp_input = _sparse(sp_input)
    if default_value is None:
        default_value = constant("" if sp_input.dtype == string else 0, sp_input.dtype)
    return raw_ops.SparseToDense(
        sp_input.indices,
        sp_input.dense_shape,
        sp_input.values,
        default_value,
        validate_indices=validate_indices,
        name=name,
    )


def to_indicator(sp_input: Any, vocab_size: int, name: str | None = None) -> Any:
    """`tf.sparse.to_indicator`: bools that say which ids are in each row; the last axis has `vocab_size`."""
    sp_input = _sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sp_input]) as scope:
        yes = raw_ops.Fill(raw_ops.Shape(sp_input.values), constant(True, bool_))
        merged = merge(sp_input, SparseTensor(sp_input.indices, yes, sp_input.dense_shape), vocab_size)
        return to_dense(merged, default_value=False, validate_indices=False, name=scope)


def merge(
    sp_ids: Any, sp_values: Any, vocab_size: Any, name: str | None = None, already_sorted: bool = False
) -> SparseTensor:
    """`tf.sparse.merge`: values at the ids that another sparse tensor has in the same places.

    Args:
        sp_ids: Ids (int32 or int64), or a list of such, one for each new axis.
        sp_values: Values in the same places.
        vocab_size: How many ids there are, or a list.
        name: The name scope.
        already_sorted: Whether ids rise in each row, so that nothing is brought in order.
    """
    many = list(sp_ids) if isinstance(sp_ids, (list, tuple)) else [sp_ids]
    sizes = list(vocab_size) if isinstance(vocab_size, (list, tuple)) else [vocab_size]
    if len(many) != len(sizes):
        raise InvalidValueError("sp_ids and vocab_size have to have equal lengths.")
    many, sp_values = [_sparse(each) for each in many], _sparse(sp_values)
    with name_scope(name, "SparseMerge", [*many, sp_values]):
        columns = [
            raw_ops.ExpandDims(
                each.values if each.dtype == int64 else raw_ops.Cast(each.values, DstT=int64), 1
            )
            for each in many
        ]
        indices = raw_ops.ConcatV2([many[0].indices[:, :-1], *columns], 1)
        ends = [raw_ops.Cast(convert_to_tensor([size]), DstT=int64) for size in sizes]
        shape = raw_ops.ConcatV2([many[0].dense_shape[:-1], *ends], 0)
        result = SparseTensor(indices, sp_values.values, shape)
        return result if already_sorted else reorder(result)


# Shapes and parts


def expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """`tf.sparse.expand_dims`: an axis of size 1 more, by default the last."""
    sp_input = _sparse(sp_input)
    axis = -1 if axis is None else axis
    with name_scope(name, "expand_dims", [sp_input]):
        rank = sp_input.indices.get_shape()[1].value
        if rank is None:
            raise InvalidValueError(f"The rank of {sp_input} must be known")
        if not -rank - 1 <= axis <= rank:
            raise InvalidValueError(f"axis must be in [{-rank - 1}, {rank}], got {axis}")
        axis = axis % (rank + 1)
        column = raw_ops.ExpandDims(raw_ops.ZerosLike(sp_input.indices[:, 0]), 1)
        indices = raw_ops.ConcatV2([sp_input.indices[:, :axis], column, sp_input.indices[:, axis:]], 1)
        one = constant([1], int64)
        shape = raw_ops.ConcatV2([sp_input.dense_shape[:axis], one, sp_input.dense_shape[axis:]], 0)
        return SparseTensor(indices, sp_input.values, shape)


def reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """`tf.sparse.reshape`: the same values in another shape, of which one size may be -1.

    Raises:
        ValueError: The sizes are known and do not fit.
    """
    sp_input = _sparse(sp_input)
    wanted = raw_ops.Cast(convert_to_tensor(shape), DstT=int64)
    with name_scope(name, "SparseReshape", [sp_input]) as scope:
        made = raw_ops.SparseReshape(sp_input.indices, sp_input.dense_shape, wanted, name=scope)
        return SparseTensor(made.output_indices, sp_input.values, made.output_shape)


def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """`tf.sparse.reset_shape`: the same indices in a larger shape, or in the smallest that holds them.

    Raises:
        ValueError: The new shape is known to be too small.
    """
    sp_input = _sparse(sp_input)
    old = sp_input.dense_shape
    if new_shape is None:
        largest = raw_ops.Max(sp_input.indices, 0)
        shape = raw_ops.Maximum(constant(0, int64), raw_ops.Add(largest, raw_ops.OnesLike(old)))
        return SparseTensor(sp_input.indices, sp_input.values, shape)
    shape = raw_ops.Cast(convert_to_tensor(new_shape), DstT=int64)
    before, after = (each.graph.constant_value(each) for each in (old, shape))
    if before is not None and after is not None:
        if len(before) != len(after) or (before > after).any():
            raise InvalidValueError(
                "Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape "
                f"({after.tolist()}), sp_input.shape ({before.tolist()})."
            )
        return SparseTensor(sp_input.indices, sp_input.values, shape)
    fits = raw_ops.All(raw_ops.LessEqual(old, shape), [0])
    check = tf_assert(fits, ["new_shape is smaller than sp_input.shape:", shape, old], summarize=10)
    with control_dependencies([check]):
        shape = raw_ops.Identity(shape)
    return SparseTensor(sp_input.indices, sp_input.values, shape)


def transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """`tf.sparse.transpose`: the axes in the order `perm`, by default the reverse."""
    sp_input = _sparse(sp_input)
    with name_scope(name, "SparseTranspose", [sp_input]):
        if perm is None:
            rank = raw_ops.Size(sp_input.dense_shape)
            perm = (rank - 1) - raw_ops.Range(0, rank, 1)
        perm = convert_to_tensor(perm, name="perm")
        turned = raw_ops.Transpose(
            raw_ops.GatherV2(raw_ops.Transpose(sp_input.indices, [1, 0]), perm, 0), [1, 0]
        )
        shape = raw_ops.GatherV2(sp_input.dense_shape, perm, 0)
        return reorder(SparseTensor(turned, sp_input.values, shape))


def reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """`tf.sparse.reorder`: the same values in row-major order."""
    sp_input = _sparse(sp_input)
    indices, values = raw_ops.SparseReorder(
        sp_input.indices, sp_input.values, sp_input.dense_shape, name=name
    )
    return SparseTensor(indices, values, raw_ops.Identity(sp_input.dense_shape))


def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """`tf.sparse.retain`: the values for which a vector of bools is true."""
    sp_input = _sparse(sp_input)
    to_retain = convert_to_tensor(to_retain)
    to_retain.get_shape()[0].assert_is_compatible_with(sp_input.values.get_shape()[0])
    at = raw_ops.Reshape(raw_ops.Where(to_retain), [-1])
    indices, values = (raw_ops.GatherV2(each, at, 0) for each in (sp_input.indices, sp_input.values))
    return SparseTensor(indices, values, raw_ops.Identity(sp_input.dense_shape))


def slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """`tf.sparse.slice`: a box of a sparse tensor."""
    sp_input = _sparse(sp_input)
    start, size = (convert_to_tensor(each, int64) for each in (start, size))
    with name_scope(name, "SparseSlice", [sp_input]) as scope:
        parts = raw_ops.SparseSlice(
            sp_input.indices, sp_input.values, sp_input.dense_shape, start, size, name=scope
        )
        return SparseTensor(*parts)


def split(
    keyword_required: Any = None,
    sp_input: Any = None,
    num_split: int | None = None,
    axis: Any = None,
    name: str | None = None,
    split_dim: Any = None,
) -> list[SparseTensor]:
    """`tf.sparse.split`: parts along an axis. All arguments go by keyword, as in TensorFlow 1.

    Raises:
        ValueError: An argument is missing or goes by position.
    """
    if keyword_required is not None:
        raise InvalidValueError("Keyword arguments are required for this function.")
    axis = _alias(axis, split_dim, "axis", "split_dim")
    missing = [
        key
        for key, each in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis))
        if each is None
    ]
    if missing:
        raise InvalidValueError(f"{' and '.join(missing)} must be given")
    sp_input = _sparse(sp_input)
    axis = raw_ops.Cast(convert_to_tensor(axis), DstT=int64)
    made = raw_ops.SparseSplit(
        axis, sp_input.indices, sp_input.values, sp_input.dense_shape, num_split=num_split, name=name
    )
    return [SparseTensor(*parts) for parts in zip(*made)]


def concat(
    axis: Any,
    sp_inputs: Any,
    name: str | None = None,
    expand_nonconcat_dim: bool | None = None,
    concat_dim: Any = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """`tf.sparse.concat`: sparse tensors one after the other along an axis.

    Args:
        axis: The axis, a number.
        sp_inputs: The sparse tensors.
        name: The operation's name.
        expand_nonconcat_dim: Whether other sizes may differ; the largest are taken.
        concat_dim: The older name of `axis`.
        expand_nonconcat_dims: Another name of `expand_nonconcat_dim`.
    """
    axis = _alias(axis, concat_dim, "axis", "concat_dim")
    expands = _alias(
        expand_nonconcat_dims, expand_nonconcat_dim, "expand_nonconcat_dims", "expand_nonconcat_dim"
    )
    given = _all_sparse(sp_inputs)
    if len(given) == 1:
        return given[0]
    shapes: list[Any] = [each.dense_shape for each in given]
    if expands:
        largest = raw_ops.Max(raw_ops.Pack(shapes, axis=0), 0)
        after = None if axis == -1 else axis + 1
        own = [shape[axis:after] for shape in shapes]
        ends = [] if axis == -1 else [largest[axis + 1 :]]
        shapes = [raw_ops.ConcatV2([largest[:axis], each, *ends], 0) for each in own]
    made = raw_ops.SparseConcat(
        [each.indices for each in given],
        [each.values for each in given],
        shapes,
        concat_dim=axis,
        name=name,
    )
    return SparseTensor(*made)


def fill_empty_rows(sp_input: Any, default_value: Any, name: str | None = None) -> tuple[SparseTensor, Any]:
    """`tf.sparse.fill_empty_rows`: a value in each row that had none, and which those were."""
    sp_input = _sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp_input]):
        default_value = convert_to_tensor(default_value, sp_input.values.dtype)
        made = raw_ops.SparseFillEmptyRows(
            sp_input.indices, sp_input.values, sp_input.dense_shape, default_value
        )
        filled = SparseTensor(made.output_indices, made.output_values, sp_input.dense_shape)
        return filled, made.empty_row_indicator


# Arithmetic


def add(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """`tf.sparse.add`: the sum of two tensors of one shape, at least one of them sparse.

    Args:
        a: A sparse or dense tensor.
        b: A sparse or dense tensor.
        threshold: Of two sparse tensors, sums that are smaller are left out.
        thresh: The older name of `threshold`.

    Returns:
        A SparseTensor if both are sparse, else a tensor.

    Raises:
        TypeError: Both are dense.
    """
    kinds = (SparseTensor, SparseTensorValue)
    if not isinstance(a, kinds) and not isinstance(b, kinds):
        raise InvalidTypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    threshold = _alias(threshold, thresh, "threshold", "thresh")
    if isinstance(a, kinds) and isinstance(b, kinds):
        a, b = _sparse(a), _sparse(b)
        least = convert_to_tensor(0 if threshold is None else threshold, a.values.dtype.real_dtype.base_dtype)
        parts = raw_ops.SparseAdd(
            a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, least
        )
        return SparseTensor(*parts)
    if not isinstance(a, kinds):
        a, b = b, a
    a = _sparse(a)
    return raw_ops.SparseTensorDenseAdd(a.indices, a.values, a.dense_shape, b)


def sparse_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Any:
    """`tf.sparse.matmul` (`tf.sparse_tensor_dense_matmul`): the product of a sparse and a dense matrix."""
    sp_a = _sparse(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul", [sp_a.indices, sp_a.values, b]) as scope:
        return raw_ops.SparseTensorDenseMatMul(
            sp_a.indices,
            sp_a.values,
            sp_a.dense_shape,
            convert_to_tensor(b, name="b"),
            adjoint_a=adjoint_a,
            adjoint_b=adjoint_b,
            name=scope,
        )


matmul = sparse_dense_matmul


def _extreme(kind: str, sp_a: Any, sp_b: Any, name: str | None) -> SparseTensor:
    sp_a, sp_b = _sparse(sp_a), _sparse(sp_b)
    with name_scope(name, f"SparseSparse{kind}", [sp_a.indices, sp_a.values, sp_b.indices, sp_b.values]):
        indices, values = getattr(raw_ops, f"SparseSparse{kind}")(
            sp_a.indices, sp_a.values, sp_a.dense_shape, sp_b.indices, sp_b.values, sp_b.dense_shape
        )
        return SparseTensor(indices, values, sp_a.dense_shape)


def maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """`tf.sparse.maximum`: the larger value in each place; a missing one is zero."""
    return _extreme("Maximum", sp_a, sp_b, name)


def minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """`tf.sparse.minimum`: the smaller value in each place; a missing one is zero."""
    return _extreme("Minimum", sp_a, sp_b, name)


def softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """`tf.sparse.softmax`: the softmax along the last axis of the values that are there."""
    sp_input = _sparse(sp_input)
    with name_scope(name, "SparseSoftmax", [sp_input.indices, sp_input.values]):
        values = raw_ops.SparseSoftmax(sp_input.indices, sp_input.values, sp_input.dense_shape)
        return SparseTensor(sp_input.indices, values, sp_input.dense_shape)


def _reduced(op: str, sp_input: Any, axis: Any, keepdims: Any, reduction_axes: Any, keep_dims: Any) -> Any:
    sp_input = _sparse(sp_input)
    keeps = _alias(keepdims, keep_dims, "keepdims", "keep_dims")
    axis = _alias(axis, reduction_axes, "axis", "reduction_axes")
    if axis is None:
        axis = raw_ops.Range(0, raw_ops.Size(sp_input.dense_shape), 1)
    return getattr(raw_ops, op)(
        sp_input.indices,
        sp_input.values,
        sp_input.dense_shape,
        convert_to_tensor(axis, int32),
        keep_dims=builtins.bool(keeps),
    )


def reduce_sum(
    sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None
) -> Any:
    """`tf.sparse.reduce_sum`: sums over some axes (all by default), as a dense tensor."""
    return _reduced("SparseReduceSum", sp_input, axis, keepdims, reduction_axes, keep_dims)


def reduce_max(
    sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None
) -> Any:
    """`tf.sparse.reduce_max`: the largest values over some axes (all by default), as a dense tensor."""
    return _reduced("SparseReduceMax", sp_input, axis, keepdims, reduction_axes, keep_dims)


def reduce_sum_sparse(
    sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None
) -> SparseTensor:
    """`tf.sparse.reduce_sum_sparse`: sums over some axes (all by default), as a sparse tensor."""
    return SparseTensor(
        *_reduced("SparseReduceSumSparse", sp_input, axis, keepdims, reduction_axes, keep_dims)
    )


def reduce_max_sparse(
    sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None
) -> SparseTensor:
    """`tf.sparse.reduce_max_sparse`: the largest values over some axes, as a sparse tensor."""
    return SparseTensor(
        *_reduced("SparseReduceMaxSparse", sp_input, axis, keepdims, reduction_axes, keep_dims)
    )


# As strings


def serialize_sparse(sp_input: Any, name: str | None = None, out_type: Any = string) -> Any:
    """`tf.io.serialize_sparse`: a sparse tensor as a vector of three strings (or variants)."""
    sp_input = _sparse(sp_input)
    return raw_ops.SerializeSparse(
        sp_input.indices, sp_input.values, sp_input.dense_shape, out_type=out_type, name=name
    )


def serialize_many_sparse(sp_input: Any, name: str | None = None, out_type: Any = string) -> Any:
    """`tf.io.serialize_many_sparse`: each row of a sparse tensor as three strings (or variants)."""
    sp_input = _sparse(sp_input)
    return raw_ops.SerializeManySparse(
        sp_input.indices, sp_input.values, sp_input.dense_shape, out_type=out_type, name=name
    )


def deserialize_many_sparse(
    serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """`tf.io.deserialize_many_sparse`: the sparse tensors in a matrix of strings as one.

    Args:
        serialized_sparse: Strings of shape (n, 3).
        dtype: The dtype of the values.
        rank: The rank of each sparse tensor, if it is known; the result has one more.
        name: The operation's name.
    """
    made = raw_ops.DeserializeManySparse(serialized_sparse, dtype=as_dtype(dtype), name=name)
    indices, values, shape = made
    whole = None if rank is None else rank + 1
    indices.set_shape([None, whole])
    shape.set_shape([whole])
    return SparseTensor(indices, values, shape)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "SparseConditionalAccumulator",
    "SparseTensor",
    "add",
    "concat",
    "expand_dims",
    "eye",
    "fill_empty_rows",
    "from_dense",
    "mask",
    "matmul",
    "maximum",
    "merge",
    "minimum",
    "placeholder",
    "reduce_max",
    "reduce_max_sparse",
    "reduce_sum",
    "reduce_sum_sparse",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "segment_mean",
    "segment_sqrt_n",
    "segment_sum",
    "slice",
    "softmax",
    "sparse_dense_matmul",
    "split",
    "to_dense",
    "to_indicator",
    "transpose",
]  # fmt: skip
