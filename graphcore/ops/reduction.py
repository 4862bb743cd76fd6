"""Reductions over axes, cumulative sums, and arg-reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..dtypes import FLOATING, INDEX, NUMBER, REAL, float16, float32, float64, int32, int64
from ..errors import InvalidArgumentError, InvalidValueError
from ..op import GraphOp, op, raw_ops
from ..shapes import Shape, format_shape, reduce, with_rank, with_rank_at_least, with_rank_at_most
from . import rules

_ARGS = "input: {0}, reduction_indices: Tidx -> output: {0}"


_ADD: Any = np.add.reduce
_MULTIPLY: Any = np.multiply.reduce
_LOGICAL_AND: Any = np.logical_and.reduce
_LOGICAL_OR: Any = np.logical_or.reduce


def axes_of(reduction_indices: Any, rank: int) -> tuple[int, ...]:
    """The axes of a reduction as a tuple of non-negative ints.

    Raises:
        InvalidArgumentError: One lies outside the rank.
    """
    axes = np.reshape(reduction_indices, -1).tolist()
    for axis in axes:
        if not -rank <= axis < rank:
            raise InvalidArgumentError(
                f"Invalid reduction dimension ({axis} for input with {rank} dimension(s)"
            )
    return tuple(sorted({axis % rank for axis in axes}))


def _reduce_shape(node: Any) -> Shape:
    with_rank_at_most(node.shape(1), 1)
    value = node.value(1)
    axes = None if value is None else np.reshape(value, -1).tolist()
    if axes is not None and not axes:
        shape: Shape = node.shape(0)
        return shape
    return reduce(node.shape(0), axes, node.attr("keep_dims"))


def reduction(name: str, text: str, function: Callable[..., Any], grad: Any, dtype: str = "T") -> GraphOp:
    """Declares a reduction; `function(array, axis, keepdims)` keeps the dtype."""

    def kernel(input: Any, reduction_indices: Any, *, keep_dims: bool) -> Any:
        return function(input, axes_of(reduction_indices, input.ndim), keep_dims)

    options = {"T": NUMBER} if dtype == "T" else {}
    reason = grad if isinstance(grad, str) else None
    declared = op(
        name,
        _ARGS.format(dtype),
        "keep_dims: bool = false",
        **options,
        Tidx=(INDEX, int32),
        no_grad=reason,
        text=text,
    )(kernel)
    declared.shape(_reduce_shape)

    def specialize(view: Any) -> Any:
        """With constant axes and a known rank there is nothing left to decide at run time."""
        axes, shape = view.value(1), view.shape(0)
        if axes is None or shape is None:
            return None
        try:
            axis = axes_of(axes, len(shape))
        except InvalidArgumentError:
            return None  # the kernel will say so
        keep = view.attr("keep_dims")
        return lambda input, _: function(input, axis, keep)

    declared.specialize(specialize)
    if not isinstance(grad, str):
        declared.grad(grad)
    return declared


def _sum(input: Any, axis: tuple[int, ...], keep_dims: bool) -> Any:
    if input.dtype.itemsize == 2 and input.dtype.kind not in "iu":
        # float16 and bfloat16 accumulate in float32
        return _ADD(input.astype(np.float32), axis, keepdims=keep_dims).astype(input.dtype)
    return _ADD(input, axis, dtype=input.dtype, keepdims=keep_dims)


def _prod(input: Any, axis: tuple[int, ...], keep_dims: bool) -> Any:
    return _MULTIPLY(input, axis, dtype=input.dtype, keepdims=keep_dims)


def _mean(input: Any, axis: tuple[int, ...], keep_dims: bool) -> Any:
    count = 1
    for item in axis:
        count *= input.shape[item]
    if input.dtype.kind in "iu":
        total = _ADD(input, axis, dtype=input.dtype, keepdims=keep_dims)
        quotient = np.trunc(np.divide(total, count)) if count else np.zeros_like(total)
        return np.asarray(quotient).astype(input.dtype)
    if input.dtype.itemsize == 2:
        total = _ADD(input.astype(np.float32), axis, keepdims=keep_dims)
        return np.divide(total, np.float32(count)).astype(input.dtype)
    total = _ADD(input, axis, keepdims=keep_dims)
    return np.divide(total, total.dtype.type(count))


def _extreme(ufunc: Any, lowest: bool) -> Callable[..., Any]:
    def function(input: Any, axis: tuple[int, ...], keep_dims: bool) -> Any:
        if input.size == 0:
            return ufunc.reduce(input, axis, keepdims=keep_dims, initial=_limit(input.dtype, lowest))
        return ufunc.reduce(input, axis, keepdims=keep_dims)

    return function


def _limit(dtype: Any, lowest: bool) -> Any:
    """What the maximum (lowest) or minimum of nothing is: -inf or inf, or the integer limit."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return info.min if lowest else info.max
    return dtype.type(-np.inf if lowest else np.inf)


def kept_shape(node: Any) -> Any:
    """The input's run-time shape with reduced dimensions 1, as TensorFlow's gradients compute it."""
    return reduced_shape(raw_ops.Shape(node.inputs[0]), node.inputs[1])


def reduced_shape(shape: Any, axes: Any) -> Any:
    """A shape (int32) with reduced dimensions 1, as operations."""
    rank = raw_ops.Size(shape)
    axes = (axes if axes.dtype == int32 else raw_ops.Cast(axes, DstT=int32)) + rank
    axes = raw_ops.FloorMod(axes, rank, name="mod")
    all_axes = raw_ops.Range(0, rank, 1, name="range")
    return raw_ops.DynamicStitch([all_axes, axes], [shape, raw_ops.Fill(raw_ops.Shape(axes), 1)])


def static_kept_shape(node: Any) -> list[int | None] | None:
    """The same where it is known statically."""
    shape = node.inputs[0].static_shape
    axes = node.graph.constant_value(node.inputs[1])
    if shape is None or axes is None or None in shape:
        return None
    return list(reduce(shape, np.reshape(axes, -1).tolist(), True) or ())


def _sum_grad(node: Any, dy: Any) -> Any:
    x = node.inputs[0]
    axes = node.graph.constant_value(node.inputs[1])
    if x.static_shape is not None and np.array_equal(axes, np.arange(len(x.static_shape))):
        whole = raw_ops.Reshape(dy, np.ones(len(x.static_shape), np.int32))
        known = None not in x.static_shape
        tiles = convert_to_tensor(np.int32(x.static_shape)) if known else raw_ops.Shape(x)
        return [raw_ops.Tile(whole, tiles), None]
    kept = static_kept_shape(node)
    if kept is not None:
        tiles = [size if size and keep == 1 else 1 for size, keep in zip(x.static_shape, kept)]
        if 0 not in x.static_shape:
            return [
                raw_ops.Tile(
                    raw_ops.Reshape(dy, kept or np.zeros(0, np.int32)), tiles or np.zeros(0, np.int32)
                ),
                None,
            ]
    kept = kept_shape(node)
    shape = raw_ops.Shape(x)
    tiles = raw_ops.FloorDiv(shape, raw_ops.Maximum(kept, 1), name="floordiv")
    return [raw_ops.Tile(raw_ops.Reshape(dy, kept), tiles), None]


def _mean_grad(node: Any, dy: Any) -> Any:
    grad = _sum_grad(node, dy)[0]
    x, y = node.inputs[0], node.outputs[0]
    sizes = [tensor.get_shape().num_elements() for tensor in (x, y)]
    if None not in sizes:
        factor: Any = convert_to_tensor(sizes[0] // max(sizes[1], 1), grad.dtype)
    else:
        counts = [raw_ops.Prod(shape, [0]) for shape in [raw_ops.Shape(x), raw_ops.Shape(y)]]
        factor = raw_ops.FloorDiv(counts[0], raw_ops.Maximum(counts[1], 1), name="floordiv")
        factor = raw_ops.Cast(factor, DstT=grad.dtype)
    return [raw_ops.RealDiv(grad, factor, name="truediv"), None]


def _extreme_grad(node: Any, dy: Any) -> Any:
    """Shared evenly among the elements that are equal to the extreme."""
    x, axes = node.inputs
    kept = kept_shape(node)
    y, dy = raw_ops.Reshape(node.outputs[0], kept), raw_ops.Reshape(dy, kept)
    is_chosen = raw_ops.Cast(raw_ops.Equal(y, x), DstT=dy.dtype)
    count = raw_ops.Reshape(raw_ops.Sum(is_chosen, axes), kept)
    return [raw_ops.RealDiv(is_chosen, count) * dy, None]


def _prod_grad(node: Any, dy: Any) -> Any:
    """The product of the others, by exclusive products from both sides, so that zeros are right."""
    x = node.inputs[0]
    shape = raw_ops.Shape(x)
    axes = raw_ops.Cast(raw_ops.Reshape(node.inputs[1], [-1]), DstT=int32)
    dy = raw_ops.Tile(
        raw_ops.Reshape(dy, kept_shape(node)), raw_ops.FloorDiv(shape, raw_ops.Maximum(kept_shape(node), 1))
    )
    rank = raw_ops.Rank(x)
    axes = raw_ops.FloorMod(axes + rank, rank)
    others = raw_ops.ListDiff(raw_ops.Range(0, rank, 1), axes).out
    perm = raw_ops.ConcatV2([axes, others], 0)
    reduced = raw_ops.Prod(raw_ops.GatherV2(shape, axes, 0), [0])
    rest = raw_ops.Prod(raw_ops.GatherV2(shape, others, 0), [0])
    turned = raw_ops.Transpose(x, perm)
    turned_shape = raw_ops.Shape(turned)
    flat = raw_ops.Reshape(turned, raw_ops.Pack([reduced, rest]))
    left = raw_ops.Cumprod(flat, 0, exclusive=True)
    right = raw_ops.Cumprod(flat, 0, exclusive=True, reverse=True)
    product = raw_ops.Reshape(rules.conjugate(left) * rules.conjugate(right), turned_shape)
    return [raw_ops.Reshape(dy * raw_ops.Transpose(product, raw_ops.InvertPermutation(perm)), shape), None]


sum_ = reduction("Sum", "The sum over some axes.", _sum, _sum_grad)
mean = reduction("Mean", "The mean over some axes.", _mean, _mean_grad)
prod = reduction("Prod", "The product over some axes.", _prod, _prod_grad)
max_ = reduction("Max", "The largest over some axes.", _extreme(np.maximum, lowest=True), _extreme_grad)
min_ = reduction("Min", "The smallest over some axes.", _extreme(np.minimum, lowest=False), _extreme_grad)
all_ = reduction(
    "All",
    "Whether all are true over some axes.",
    lambda x, axis, keep: _LOGICAL_AND(x, axis, keepdims=keep),
    "booleans have no derivative",
    "bool",
)
any_ = reduction(
    "Any",
    "Whether any is true over some axes.",
    lambda x, axis, keep: _LOGICAL_OR(x, axis, keepdims=keep),
    "booleans have no derivative",
    "bool",
)


def _euclidean_norm(input: Any, axis: tuple[int, ...], keep_dims: bool) -> Any:
    """The square root of the sum of squares."""
    wide = input.astype(np.float32) if input.dtype.itemsize == 2 and input.dtype.kind not in "iu" else input
    squares = _ADD((wide * np.conj(wide)).real, axis, keepdims=keep_dims)
    return np.sqrt(squares.astype(np.float64) if wide.dtype.kind in "iu" else squares).astype(input.dtype)


def _euclidean_norm_grad(node: Any, dy: Any) -> Any:
    kept = kept_shape(node)
    scale = raw_ops.RealDiv(raw_ops.Reshape(dy, kept), raw_ops.Reshape(node.outputs[0], kept))
    return [node.inputs[0] * scale, None]


euclidean_norm = reduction(
    "EuclideanNorm", "The root of the sum of squares over some axes.", _euclidean_norm, _euclidean_norm_grad
)


def _arg_reduction(name: str, text: str, function: Callable[..., Any], worst: float) -> GraphOp:
    def kernel(input: Any, dimension: Any, *, output_type: Any) -> Any:
        axis = int(dimension)
        if not -input.ndim <= axis < input.ndim:
            raise InvalidArgumentError(
                f"Expected dimension in the range [{-input.ndim}, {input.ndim}), but got {axis}"
            )
        if input.shape[axis] == 0:
            raise InvalidArgumentError(f"Reduction axis {axis} is empty in shape {format_shape(input.shape)}")
        places = function(input, axis)
        if input.dtype.kind in "fV":
            # NumPy finds the first NaN; TensorFlow passes them over.
            found = np.take_along_axis(input, np.expand_dims(places, axis), axis)
            if np.isnan(found).any():
                places = function(np.where(np.isnan(input), input.dtype.type(worst), input), axis)
        return places.astype(output_type)

    declared = op(
        name,
        "input: T, dimension: Tidx -> output: output_type",
        T=NUMBER,
        Tidx=(INDEX, int32),
        output_type=(INDEX, int64),
        no_grad="its results are indices",
        text=text,
    )(kernel)

    @declared.shape
    def _(node: Any) -> Shape:
        shape = node.shape(0)
        if shape is None:
            return None
        if len(shape) == 0:
            raise InvalidValueError("Shape must be at least rank 1 but is rank 0")
        axis = rules.static_axis(node, 1, len(shape))
        if axis is None:
            return (None,) * (len(shape) - 1)
        return (*shape[:axis], *shape[axis + 1 :])

    return declared


arg_max = _arg_reduction(
    "ArgMax", "Where the largest is along an axis, the first of equal ones.", np.argmax, -np.inf
)
arg_min = _arg_reduction(
    "ArgMin", "Where the smallest is along an axis, the first of equal ones.", np.argmin, np.inf
)


def _cumulative(name: str, text: str, ufunc: Any, identity: Any, grad: Any, types: Any = NUMBER) -> GraphOp:
    def kernel(x: Any, axis: Any, *, exclusive: bool, reverse: bool) -> Any:
        if np.ndim(axis):
            raise InvalidArgumentError(f"ScanOp: axis must be a scalar, not {format_shape(np.shape(axis))}")
        position = int(axis)
        if not -x.ndim <= position < x.ndim:
            raise InvalidArgumentError(
                f"{name}: Expected scan axis in the range [{-x.ndim}, {x.ndim}), but got {position}"
            )
        if reverse:
            x = np.flip(x, position)
        result = ufunc.accumulate(x, position, dtype=x.dtype)
        if exclusive:
            shifted = np.full_like(result, identity(x.dtype) if callable(identity) else identity)
            head: list[Any] = [slice(None)] * x.ndim
            tail: list[Any] = [slice(None)] * x.ndim
            head[position], tail[position] = slice(1, None), slice(None, -1)
            shifted[tuple(head)] = result[tuple(tail)]
            result = shifted
        return np.ascontiguousarray(np.flip(result, position)) if reverse else result

    declared = op(
        name,
        "x: T, axis: Tidx -> out: T",
        "exclusive: bool = false",
        "reverse: bool = false",
        T=types,
        Tidx=(INDEX, int32),
        text=text,
    )(kernel)
    declared.shape(rules.unchanged)
    declared.grad(grad)
    return declared


def _cumsum_grad(node: Any, dy: Any) -> Any:
    exclusive, reverse = node.attr("exclusive"), node.attr("reverse")
    return [raw_ops.Cumsum(dy, node.inputs[1], exclusive=exclusive, reverse=not reverse), None]


def _cumprod_grad(node: Any, dy: Any) -> Any:
    x, axis = node.inputs
    options = {"exclusive": node.attr("exclusive"), "reverse": node.attr("reverse")}
    product = raw_ops.Cumprod(x, axis, **options)
    options["reverse"] = not options["reverse"]
    return [raw_ops.RealDiv(raw_ops.Cumsum(product * dy, axis, **options), x), None]


cumsum = _cumulative("Cumsum", "The running sum along an axis.", np.add, 0, _cumsum_grad)
cumprod = _cumulative("Cumprod", "The running product along an axis.", np.multiply, 1, _cumprod_grad)


def _cumulative_logsumexp_grad(node: Any, dy: Any) -> Any:
    """In logarithms, of the positive and the negative part of the gradient."""
    x, axis = node.inputs
    y = node.outputs[0]
    options = {"exclusive": node.attr("exclusive"), "reverse": not node.attr("reverse")}
    zeros = raw_ops.ZerosLike(dy)
    lowest = raw_ops.Fill(raw_ops.Shape(dy), convert_to_tensor(dy.dtype.min, dy.dtype))

    def part(is_there: Any, size: Any) -> Any:
        logs = raw_ops.Select(is_there, raw_ops.Log(size), lowest)
        return raw_ops.Exp(raw_ops.CumulativeLogsumexp(logs - y, axis, **options) + x)

    return [part(raw_ops.Greater(dy, zeros), dy) - part(raw_ops.Less(dy, zeros), -dy), None]


cumulative_logsumexp_op = _cumulative(
    "CumulativeLogsumexp",
    "The logarithm of the running sum of exp(x) along an axis.",
    np.logaddexp,
    lambda dtype: np.finfo(dtype).min,
    _cumulative_logsumexp_grad,
    (float16, float32, float64),
)


@op("L2Loss", "t: T -> output: T", T=FLOATING)
def l2_loss(t: Any) -> Any:
    """Half the sum of squares."""
    flat = t.reshape(-1)
    return (np.dot(flat, flat) * flat.dtype.type(0.5)).astype(t.dtype)


l2_loss.shape(rules.scalar)
l2_loss.grad(lambda node, dy: node.inputs[0] * dy)


@op("NthElement", "input: T, n: int32 -> values: T", "reverse: bool = false", T=REAL)
def nth_element(input: Any, n: Any, *, reverse: bool) -> Any:
    """The element of the last dimension that would be number n in order, falling if `reverse`."""
    if np.ndim(n):
        raise InvalidArgumentError(f"N must be scalar, got shape {format_shape(np.shape(n))}")
    if n < 0:
        raise InvalidArgumentError(f"Need n >= 0, got {n}")
    if not input.ndim:
        raise InvalidArgumentError("Input must be >= 1-D, got shape []")
    if input.shape[-1] <= n:
        raise InvalidArgumentError(
            f"Input must have at least n+1 columns, but n is {n} and its shape {format_shape(input.shape)}"
        )
    place = input.shape[-1] - int(n) - 1 if reverse else int(n)
    return np.partition(input, place)[..., place]


@nth_element.shape
def _(node: Any) -> Shape:
    shape, n = with_rank_at_least(node.shape(0), 1), node.value(1)
    with_rank(node.shape(1), 0)
    if shape is None:
        return None
    if n is not None and shape[-1] is not None and shape[-1] <= n:
        raise InvalidValueError(f"Input must have last dimension > n = {n} but is {shape[-1]}")
    return shape[:-1]


@nth_element.grad
def _(node: Any, dy: Any) -> Any:
    """Shared out among the elements that are equal to the one chosen."""
    equal = raw_ops.Equal(raw_ops.ExpandDims(node.outputs[0], -1), node.inputs[0])
    indicators = raw_ops.Cast(equal, DstT=dy.dtype.base_dtype)
    selected = raw_ops.ExpandDims(raw_ops.Sum(indicators, -1), -1)
    return [raw_ops.RealDiv(indicators, selected) * raw_ops.ExpandDims(dy, -1), None]


# TensorFlow's Python functions


def _reduction_function(declared: GraphOp, name: str) -> Callable[..., Any]:
    def function(
        input_tensor: Any,
        axis: Any = None,
        keepdims: Any = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: Any = None,
    ) -> Any:
        axis = reduction_indices if axis is None else axis
        keep = keep_dims if keepdims is None else keepdims
        input_tensor = convert_to_tensor(input_tensor)
        return declared(
            input_tensor, all_axes(input_tensor) if axis is None else axis, keep_dims=bool(keep), name=name
        )

    function.__name__ = name
    function.__doc__ = f"""`tf.{name}`: the op `{declared.name}` over `axis` (None: all axes).

    Args:
        input_tensor: The tensor.
        axis: An int or list of ints, negative from the end; None for all.
        keepdims: Keep the reduced dimensions with length 1.
        name: Name of the operation.
        reduction_indices: Old name of `axis`.
        keep_dims: Old name of `keepdims`.
    """
    return function


def all_axes(tensor: Any) -> Any:
    """All axes of a tensor: a constant where the rank is known, else a Range over the Rank."""
    shape = tensor.static_shape
    if shape is not None:
        return convert_to_tensor(np.arange(len(shape), dtype=np.int32), name="Const")
    return raw_ops.Range(0, raw_ops.Rank(tensor), 1, name="range")


reduce_sum = _reduction_function(sum_, "reduce_sum")
reduce_mean = _reduction_function(mean, "reduce_mean")
reduce_prod = _reduction_function(prod, "reduce_prod")
reduce_max = _reduction_function(max_, "reduce_max")
reduce_min = _reduction_function(min_, "reduce_min")
reduce_all = _reduction_function(all_, "reduce_all")
reduce_any = _reduction_function(any_, "reduce_any")


def argmax(
    input: Any, axis: Any = None, name: str | None = None, dimension: Any = None, output_type: Any = int64
) -> Any:
    """`tf.argmax`: the index of the largest value along `axis` (default 0); the first of equal ones."""
    chosen = dimension if axis is None else axis
    return arg_max(input, 0 if chosen is None else chosen, output_type=output_type, name=name)


def argmin(
    input: Any, axis: Any = None, name: str | None = None, dimension: Any = None, output_type: Any = int64
) -> Any:
    """`tf.argmin`: the index of the smallest value along `axis` (default 0); the first of equal ones."""
    chosen = dimension if axis is None else axis
    return arg_min(input, 0 if chosen is None else chosen, output_type=output_type, name=name)


def tf_cumsum(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """`tf.cumsum`: the running sum along `axis`."""
    return cumsum(x, axis, exclusive=exclusive, reverse=reverse, name=name)


def tf_cumprod(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """`tf.cumprod`: the running product along `axis`."""
    return cumprod(x, axis, exclusive=exclusive, reverse=reverse, name=name)


def reduce_logsumexp(
    input_tensor: Any,
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
) -> Any:
    """`tf.reduce_logsumexp`: log(sum(exp(x))) without overflow."""
    x = convert_to_tensor(input_tensor)
    axis = reduction_indices if axis is None else axis
    keep = bool(keep_dims if keepdims is None else keepdims)
    largest = reduce_max(x, axis, keepdims=True)
    finite = raw_ops.Select(raw_ops.IsFinite(largest), largest, raw_ops.ZerosLike(largest))
    shift = raw_ops.StopGradient(finite)
    result = raw_ops.Log(reduce_sum(raw_ops.Exp(x - shift), axis, keepdims=True)) + shift
    if keep:
        return raw_ops.Identity(result, name=name)
    return raw_ops.Reshape(result, raw_ops.Shape(reduce_sum(x, axis)), name=name)
