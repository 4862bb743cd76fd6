"""Functions of TensorFlow's over the linear algebra ops: contractions over axes, norms, and the like."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import int32
from ..errors import InvalidValueError
from ..op import raw_ops
from .array_shape import transpose
from .linalg import matmul
from .math_unary import tf_abs
from .reduction import all_axes, euclidean_norm, reduce_max, reduce_sum


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
    """`tf.tensordot`: the product of two tensors, summed over some axes of both.

    Args:
        a: A tensor.
        b: A tensor of the same dtype.
        axes: How many of the last axes of `a` and the first of `b`; or a pair of axes, or of lists of them.
        name: Name of the operation.

    Raises:
        ValueError: The axes are none of these, or not as many of `a` as of `b`.
    """
    with name_scope(name, "Tensordot", [a, b, axes]) as scope:
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        axes_a, axes_b = _contracted(a, b, axes)
        left, free_a, static_a = _as_matrix(a, axes_a, flipped=False)
        right, free_b, static_b = _as_matrix(b, axes_b, flipped=True)
        product = matmul(left, right)
        if isinstance(free_a, list) and isinstance(free_b, list):
            return raw_ops.Reshape(product, np.array([*free_a, *free_b], np.int32), name=scope)
        parts = [convert_to_tensor(free, int32) for free in (free_a, free_b)]
        result = raw_ops.Reshape(product, raw_ops.ConcatV2(parts, 0), name=scope)
        if static_a is not None and static_b is not None:
            result.set_shape([*static_a, *static_b])
        return result


def _contracted(a: Any, b: Any, axes: Any) -> tuple[Any, Any]:
    if isinstance(axes, (int, np.integer)):
        rank = a.get_shape().ndims
        if axes < 0:
            raise InvalidValueError("'axes' must be at least 0.")
        if rank is None:
            count = raw_ops.Rank(a)
            return raw_ops.Range(count - int(axes), count, 1), raw_ops.Range(0, int(axes), 1)
        if axes > rank:
            raise InvalidValueError(f"'axes' must not be larger than the number of dimensions of tensor {a}.")
        return list(range(rank - axes, rank)), list(range(axes))
    if not isinstance(axes, (list, tuple, np.ndarray)):
        both = convert_to_tensor(axes, int32, name="axes")
        return both[0], both[1]
    if len(axes) != 2:
        raise InvalidValueError("'axes' must be an integer or have length 2.")
    first, second = ([axis] if np.ndim(axis) == 0 else list(axis) for axis in axes)
    if len(first) != len(second):
        raise InvalidValueError(
            f"Different number of contraction axes 'a' and 'b', {len(first)} != {len(second)}."
        )
    return first, second


def _as_matrix(x: Any, axes: Any, flipped: bool) -> tuple[Any, Any, Any]:
    """`x` with the axes that stay in front and those of the sum behind, or flipped; and what stays.

    Returns:
        The matrix, the dimensions that stay (a list where all are known, else a tensor), and what is
        statically known of them.
    """
    static = x.static_shape
    if static is not None and isinstance(axes, list):
        summed = [int(axis) + (len(static) if axis < 0 else 0) for axis in axes]
        free = [axis for axis in range(len(static)) if axis not in summed]
        known = [static[axis] for axis in free]
        if None not in static:
            sizes = [int(np.prod([static[axis] for axis in part])) for part in (free, summed)]
            perm, shape = [*free, *summed], sizes
            if flipped:
                perm, shape = [*summed, *free], sizes[::-1]
            turned = transpose(x, np.array(perm, np.int32))
            return raw_ops.Reshape(turned, np.array(shape, np.int32)), known, known
        at, rest = convert_to_tensor(summed, int32, name="axes"), convert_to_tensor(free, int32, name="free")
        what: Any = known
    else:
        rank = raw_ops.Rank(x)
        at = raw_ops.FloorMod(convert_to_tensor(axes, int32, name="axes") + rank, rank)
        rest, what = raw_ops.ListDiff(raw_ops.Range(0, rank, 1), at).out, None
    shape_of_x = raw_ops.Shape(x)
    free_dims, summed_dims = raw_ops.GatherV2(shape_of_x, rest, 0), raw_ops.GatherV2(shape_of_x, at, 0)
    order = [(rest, raw_ops.Prod(free_dims, [0])), (at, raw_ops.Prod(summed_dims, [0]))]
    order = order[::-1] if flipped else order
    turned = transpose(x, raw_ops.ConcatV2([part for part, _ in order], 0))
    return raw_ops.Reshape(turned, raw_ops.Pack([size for _, size in order])), free_dims, what


_EUCLIDEAN = ("fro", "euclidean", 2)


def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    keep_dims: Any = None,
) -> Any:
    """`tf.norm`: the norm of vectors, or of matrices.

    Args:
        tensor: A floating or complex tensor.
        ord: 'euclidean', 'fro', 1, 2, np.inf, or of vectors any positive number.
        axis: None: of all elements; an int: of vectors; a pair: of matrices.
        keepdims: Keep the reduced dimensions with length 1.
        name: Name of the operation.
        keep_dims: Old name of `keepdims`.

    Raises:
        ValueError: Another order, or axes that are none of these.
    """
    keep = bool(keep_dims if keepdims is None else keepdims)
    is_matrix = isinstance(axis, (tuple, list)) and len(axis) == 2
    if is_matrix:
        if not all(isinstance(item, int) for item in axis) or axis[0] == axis[1]:
            raise InvalidValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
        if ord not in ("euclidean", "fro", 1, 2, np.inf):
            raise InvalidValueError(
                f"'ord' must be a supported matrix norm in {['euclidean', 'fro', 1, 2, np.inf]}, got {ord}"
            )
    else:
        if not (axis is None or isinstance(axis, int)):
            raise InvalidValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
        if ord != "euclidean" and (isinstance(ord, str) or ord <= 0):
            raise InvalidValueError(f"'ord' must be a supported vector norm, got {ord}")
    axes = tuple(axis) if is_matrix else None if axis is None else (axis,)
    with name_scope(name, "norm", [tensor]):
        x = convert_to_tensor(tensor)
        if is_matrix and ord == 2:
            result = _largest_singular_value(x, axes)
        elif ord in _EUCLIDEAN:
            conjugate = raw_ops.Conj(x) if x.dtype.is_complex else x
            result = raw_ops.Sqrt(reduce_sum(x * conjugate, axes, keepdims=True))
        else:
            result = _power_norm(tf_abs(x), ord, axes, is_matrix)
        return result if keep else raw_ops.Squeeze(result, squeeze_dims=list(axes or ()))


def _power_norm(x: Any, order: Any, axes: Any, is_matrix: bool) -> Any:
    first = None if axes is None else axes[0]
    if order == 1:
        result = reduce_sum(x, first, keepdims=True)
        return reduce_max(result, axes[1], keepdims=True) if is_matrix else result
    if order == np.inf:
        x = reduce_sum(x, axes[1], keepdims=True) if is_matrix else x
        return reduce_max(x, first, keepdims=True)
    power, inverse = (convert_to_tensor(number, x.dtype.base_dtype) for number in (order, 1.0 / order))
    return raw_ops.Pow(reduce_sum(raw_ops.Pow(x, power), axes, keepdims=True), inverse)


def _largest_singular_value(x: Any, axes: Any) -> Any:
    rank = x.get_shape().ndims
    if rank is None:
        raise InvalidValueError("The matrix 2-norm needs a tensor of known rank")
    pair = [axis % rank for axis in axes]
    perm = [*(axis for axis in range(rank) if axis not in pair), *pair]
    s = raw_ops.Svd(transpose(x, perm), compute_uv=False).s
    largest = raw_ops.ExpandDims(reduce_max(tf_abs(s), -1, keepdims=True), -1)
    return transpose(largest, np.argsort(perm).astype(np.int32))


def reduce_euclidean_norm(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """`tf.math.reduce_euclidean_norm`: the root of the sum of squares over `axis` (None: all axes)."""
    x = convert_to_tensor(input_tensor)
    return euclidean_norm(x, all_axes(x) if axis is None else axis, keep_dims=bool(keepdims), name=name)


def cumulative_logsumexp(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """`tf.math.cumulative_logsumexp`: log(cumsum(exp(x))) along `axis`, without overflow."""
    with name_scope(name, "CumulativeLogsumexp", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return raw_ops.CumulativeLogsumexp(x, axis, exclusive=exclusive, reverse=reverse, name=scope)


def lu(input: Any, output_idx_type: Any = int32, name: str | None = None) -> Any:
    """`tf.linalg.lu`: `(lu, p)`, the triangular factors in one matrix, and the permutation of rows."""
    return raw_ops.Lu(input, output_idx_type=output_idx_type, name=name)
