"""Slices: the ops Slice and StridedSlice, assignments to slices, and the indexing of tensors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..convert import constant, convert_to_tensor
from ..default import name_scope
from ..dtypes import ANY, INDEX, int32, int64
from ..errors import InvalidArgumentError, InvalidTypeError, InvalidValueError
from ..kernels import strided_slice as slicing
from ..op import GraphOp, op, raw_ops
from ..operation import Tensor
from ..shapes import Shape, format_shape, is_fully_defined, merge, with_rank
from . import rules


def _compact(array: Any) -> Any:
    """`array` itself, or a contiguous copy: what follows runs faster on it and the base can go."""
    return array if array.flags.c_contiguous else array.copy()


# Slices


@op("Slice", "input: T, begin: Index, size: Index -> output: T", T=ANY, Index=INDEX)
def slice_op(input: Any, begin: Any, size: Any) -> Any:
    """`size` elements from `begin` along each axis; a size of -1 is all that is left."""
    if np.shape(begin) != (input.ndim,) or np.shape(size) != (input.ndim,):
        raise InvalidArgumentError(
            f"Expected begin and size arguments to be 1-D tensors of size {input.ndim}, but got shapes "
            f"{format_shape(np.shape(begin))} and {format_shape(np.shape(size))} instead."
        )
    index = []
    for axis, (first, count, length) in enumerate(zip(begin.tolist(), size.tolist(), input.shape)):
        if not length and (first or count not in (0, -1)):
            raise InvalidArgumentError(
                f"Expected begin[{axis}] == 0 (got {first}) and size[{axis}] == 0 (got {count}) when "
                f"input.dim_size({axis}) == 0"
            )
        if not 0 <= first <= length:
            raise InvalidArgumentError(f"Expected begin[{axis}] in [0, {length}], but got {first}")
        count = length - first if count == -1 else count
        if not 0 <= count <= length - first:
            raise InvalidArgumentError(f"Expected size[{axis}] in [0, {length - first}], but got {count}")
        index.append(slice(first, first + count))
    return _compact(input[(*index, ...)])


@slice_op.shape
def _(node: Any) -> Shape:
    source, begin, size = node.shape(0), node.value(1), node.value(2)
    lengths = merge(with_rank(node.shape(1), 1), with_rank(node.shape(2), 1)) or (None,)
    rank = len(source) if source is not None else lengths[0]
    if lengths[0] is not None:
        with_rank(source, lengths[0])
    if rank is None:
        return None
    source = source or (None,) * rank
    if size is None:
        wanted = node.value_as_shape(2)
        # An unknown size may also be -1, "all that is left", which only the value tells.
        return (None,) * rank if wanted is None else wanted
    result: list[int | None] = []
    for axis, count in enumerate(size.tolist()):
        first = None if begin is None else int(begin[axis])
        length = source[axis]
        if count == -1:
            rest = None if length is None or first is None else length - first
            if rest is not None and rest < 0:
                raise InvalidValueError(
                    f"Negative dimension size caused by subtracting {first} from {length}"
                )
            result.append(0 if length == 0 else rest)
            continue
        if length is not None and first is not None and not 0 <= first <= first + count <= length:
            raise InvalidValueError(
                f"slice of {count} elements from {first} lies outside dimension {axis} of size {length}"
            )
        result.append(count)
    return tuple(result)


@slice_op.grad
def _(node: Any, dy: Any) -> Any:
    source, begin, _ = node.inputs
    shape = raw_ops.Pack([raw_ops.Rank(source), 1])
    before = raw_ops.Reshape(begin, shape)
    whole, part = (raw_ops.Shape(item, out_type=begin.dtype) for item in (source, node.outputs[0]))
    after = raw_ops.Reshape(whole - part - begin, shape)
    return raw_ops.Pad(dy, raw_ops.ConcatV2([before, after], 1)), None, None


_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
_MASK_ATTRS = tuple(f"{name}: int = 0" for name in _MASKS)
_BOUNDS = "begin: Index, end: Index, strides: Index"


def _masks(node: Any) -> dict[str, int]:
    return {name: node.attr(name) for name in _MASKS}


@op("StridedSlice", f"input: T, {_BOUNDS} -> output: T", *_MASK_ATTRS, T=ANY, Index=INDEX)
def strided_slice_op(
    input: Any,
    begin: Any,
    end: Any,
    strides: Any,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Any:
    """NumPy's basic indexing; what the masks mean stands in `kernels.strided_slice`."""
    masks = slicing.Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return _compact(slicing.strided_slice(input, begin, end, strides, **masks._asdict()))


@strided_slice_op.shape
def _(node: Any) -> Shape:
    return _sliced_shape(node, node.shape(0), 1)


def _sliced_shape(node: Any, source: Shape, first: int) -> Shape:
    """The shape of a slice of `source`; begin, end and strides are the inputs from `first` on."""
    lengths: Shape = None
    for index in range(first, first + 3):
        lengths = merge(lengths, with_rank(node.shape(index), 1))
    bounds = []
    for index in range(first, first + 3):
        value = node.value(index)
        bounds.append(value.tolist() if value is not None else node.value_as_shape(index))
    result: Shape = rules.as_value_error(slicing.infer_shape, source, *bounds, **_masks(node))
    return result


@strided_slice_op.specialize
def _(view: Any) -> Any:
    """With a static shape and constant bounds, only the indexing is left."""
    shape, bounds = view.shape(0), [view.value(index) for index in (1, 2, 3)]
    if not is_fully_defined(shape) or any(bound is None for bound in bounds):
        return None
    try:
        begin, end, strides = bounds
        index, _ = slicing.resolve(shape, begin, end, strides, **_masks(view))
    except InvalidArgumentError:
        return None  # the kernel will say so
    index = (*index, ...)
    return lambda input, *_: _compact(input[index])


def _static(tensor: Any) -> Any:
    """The constant value of `tensor` where it is known, else the tensor."""
    value = tensor.graph.constant_value(tensor)
    return tensor if value is None else constant(value)


@strided_slice_op.grad
def _(node: Any, dy: Any) -> Any:
    source, *bounds = node.inputs
    shape = _static(raw_ops.Shape(source, out_type=bounds[0].dtype))
    return raw_ops.StridedSliceGrad(shape, *bounds, dy, **_masks(node)), None, None, None


@op("StridedSliceGrad", f"shape: Index, {_BOUNDS}, dy: T -> output: T", *_MASK_ATTRS, T=ANY, Index=INDEX)
def strided_slice_grad(
    shape: Any,
    begin: Any,
    end: Any,
    strides: Any,
    dy: Any,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Any:
    """`dy` where the slice was, zeros elsewhere."""
    masks = slicing.Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return slicing.strided_slice_grad(shape, begin, end, strides, dy, **masks._asdict())


strided_slice_grad.shape(lambda node: node.value_as_shape(0))
strided_slice_grad.grad(
    lambda node, dy: [None, None, None, None, raw_ops.StridedSlice(dy, *node.inputs[1:4], **_masks(node))]
)


def _assigned(array: Any, bounds: tuple[Any, ...], value: Any, masks: tuple[int, ...]) -> None:
    """Writes `value` into a slice of `array`."""
    names = dict(zip(_MASKS, masks))
    begin, end, strides = bounds
    index, shape = slicing.resolve(array.shape, begin, end, strides, **names)
    try:
        array[(*index, ...)] = np.broadcast_to(value, shape)
    except ValueError:
        raise InvalidArgumentError(
            f"A value of shape {format_shape(np.shape(value))} does not broadcast to the slice, "
            f"{format_shape(shape)}."
        ) from None


def _slice_assignment(
    name: str, target: str, result: str, run: Callable[..., Any], shape: Any, **flags: Any
) -> GraphOp:
    def kernel(
        ref: Any,
        begin: Any,
        end: Any,
        strides: Any,
        value: Any,
        *,
        begin_mask: int,
        end_mask: int,
        ellipsis_mask: int,
        new_axis_mask: int,
        shrink_axis_mask: int,
    ) -> Any:
        masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
        return run(ref, (begin, end, strides), value, masks)

    declared = op(
        name,
        f"{target}, {_BOUNDS}, value: T -> {result}",
        *_MASK_ATTRS,
        T=ANY,
        Index=INDEX,
        text="A slice with steps set to a value.",
        **flags,
    )(kernel)
    declared.shape(shape)
    return declared


def _assign_in_place(holder: Any, bounds: tuple[Any, ...], value: Any, masks: tuple[int, ...]) -> Any:
    with holder.lock:
        _assigned(holder.writable(), bounds, value, masks)
    return holder


def _assign_in_copy(array: Any, bounds: tuple[Any, ...], value: Any, masks: tuple[int, ...]) -> Any:
    copy = array.copy()
    _assigned(copy, bounds, value, masks)
    return copy


_ASSIGNMENT = "assignments are not differentiable"
strided_slice_assign = _slice_assignment(
    "StridedSliceAssign",
    "ref: Ref(T)",
    "output_ref: Ref(T)",
    _assign_in_place,
    rules.unchanged,
    no_grad=_ASSIGNMENT,
)
resource_strided_slice_assign = _slice_assignment(
    "ResourceStridedSliceAssign",
    "ref: resource",
    "",
    _assign_in_place,
    rules.nothing,
    stateful=True,
    ctx=False,
    no_grad=_ASSIGNMENT,
)
tensor_strided_slice_update = _slice_assignment(
    "TensorStridedSliceUpdate", "input: T", "output: T", _assign_in_copy, rules.unchanged
)


@tensor_strided_slice_update.grad
def _(node: Any, dy: Any) -> Any:
    begin, end, strides, value = node.inputs[1:]
    masks = _masks(node)
    zeros = raw_ops.ZerosLike(value)
    grad_x = raw_ops.TensorStridedSliceUpdate(dy, begin, end, strides, zeros, **masks)
    cut = raw_ops.StridedSlice(dy, begin, end, strides, **masks)
    grad_value, _ = rules.unbroadcast(value, cut, cut, None)
    return grad_x, None, None, None, grad_value


# TensorFlow's Python functions


def tf_slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """`tf.slice`: `size` elements from `begin` along each axis; a size of -1 is all that is left."""
    return slice_op(input_, begin, size, name=name)


def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Any:
    """`tf.strided_slice`: NumPy's basic indexing, written out.

    Args:
        input_: The tensor.
        begin: A vector: the first index of each entry.
        end: One past the last index of each entry.
        strides: The steps; ones by default.
        begin_mask: Bit i: entry i has no `begin`.
        end_mask: Bit i: entry i has no `end`.
        ellipsis_mask: Bit i: entry i stands for all axes that no other entry names.
        new_axis_mask: Bit i: entry i is a new axis of length 1.
        shrink_axis_mask: Bit i: entry i is one index, and its axis goes.
        var: The variable that `input_` is the value of; then the result's `assign(value, name=None)` sets
            that slice of it.
        name: Name of the operation.
    """
    if strides is None:
        begin = convert_to_tensor(begin, name="begin")
        strides = _ones_like(begin)
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    result = strided_slice_op(input_, begin, end, strides, name=name, **dict(zip(_MASKS, masks)))
    if var is not None:
        _make_assignable(result, var, name or result.op.name)
    return result


def _ones_like(begin: Any) -> Any:
    shape = begin.get_shape()
    dtype = begin.dtype.base_dtype
    if shape.is_fully_defined():
        return constant(1, dtype, shape=shape.as_list(), name="ones_like")
    return raw_ops.OnesLike(begin)


def parse_index(spec: Any) -> tuple[list[Any], list[Any], list[Any], dict[str, int]]:
    """What stands in `tensor[...]` as begin, end and strides of each entry, and the masks.

    Raises:
        TypeError: An entry is none of ints, slices, `...`, `tf.newaxis` and scalar integer tensors.
    """
    begin: list[Any] = []
    end: list[Any] = []
    strides: list[Any] = []
    masks = dict.fromkeys(_MASKS, 0)
    for entry, item in enumerate(spec if isinstance(spec, (list, tuple)) else [spec]):
        bit = 1 << entry
        if isinstance(item, slice):
            for bounds, mask, bound in ((begin, "begin_mask", item.start), (end, "end_mask", item.stop)):
                if bound is None or (isinstance(bound, int) and bound == sys.maxsize):
                    bounds.append(0)
                    masks[mask] |= bit
                else:
                    bounds.append(_checked_index(bound))
            strides.append(1 if item.step is None else _checked_index(item.step))
        elif item is Ellipsis or item is None:
            begin.append(0)
            end.append(0)
            strides.append(1)
            masks["ellipsis_mask" if item is Ellipsis else "new_axis_mask"] |= bit
        else:
            begin.append(_checked_index(item))
            end.append(item + 1)
            strides.append(1)
            masks["shrink_axis_mask"] |= bit
    return begin, end, strides, masks


def _checked_index(item: Any) -> Any:
    if isinstance(item, (bool, np.bool_)):
        raise InvalidTypeError(_BAD_INDEX.format(item))
    if isinstance(item, (int, np.integer)) or hasattr(item, "__index__"):
        return item
    is_dimension = hasattr(item, "value") and not hasattr(item, "op")
    if is_dimension:
        return int(item)
    dtype = getattr(item, "dtype", None)
    shape = getattr(item, "shape", None)
    is_integer = dtype is not None and (
        dtype.is_integer if hasattr(dtype, "is_integer") else dtype.kind in "iu"
    )
    if not is_integer or (shape is not None and len(tuple(shape or ())) > 0):
        raise InvalidTypeError(_BAD_INDEX.format(item))
    return item


_BAD_INDEX = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors "
    "are valid indices, got {!r}"
)


def index_tensor(tensor: Any, spec: Any, var: Any = None) -> Any:
    """`tensor[spec]`: a StridedSlice; a boolean array or tensor as index is a mask."""
    dtype = getattr(spec, "dtype", None)
    is_mask = isinstance(spec, (bool, np.bool_)) or dtype == np.bool_ or getattr(dtype, "is_bool", False)
    if is_mask:
        from .array_select import boolean_mask

        return boolean_mask(tensor, spec)
    begin, end, strides, masks = parse_index(spec)
    with name_scope(None, "strided_slice", [tensor, *begin, *end, *strides]) as scope:
        result = strided_slice_op(tensor, *_stacked(begin, end, strides), name=scope, **masks)
        if var is None:
            result.assign = _not_assignable
        else:
            _make_assignable(result, var, scope)
        return result


def _not_assignable(value: Any, name: str | None = None) -> Any:
    """Refuses: a slice of what is no variable."""
    raise InvalidValueError("Sliced assignment is only supported for variables")


def _stacked(*bounds: list[Any]) -> list[Any]:
    """Each list of bounds as a vector: a constant where it can be, of int64 where one of them is."""
    if not bounds[0]:
        return [constant([], int32)] * len(bounds)
    vectors = [convert_to_tensor(bound, name="stack") for bound in bounds]
    if any(vector.dtype.base_dtype == int64 for vector in vectors):
        return [raw_ops.Cast(vector, DstT=int64) if vector.dtype == int32 else vector for vector in vectors]
    return vectors


def _make_assignable(result: Tensor, var: Any, prefix: str) -> None:
    """Gives a slice of a variable its `assign`."""
    node = result.op
    bounds, masks = node.inputs[1:], {mask: node.attr(mask) for mask in _MASKS}

    def assign(value: Any, name: str | None = None) -> Any:
        """Sets the slice to a value that broadcasts to it; gives the variable afterwards."""
        name = name or f"{prefix}_assign"
        if hasattr(var, "handle"):
            value = convert_to_tensor(value, var.dtype.base_dtype)
            operation = resource_strided_slice_assign(var.handle, *bounds, value, name=name, **masks)
            return var._changed(operation, True)
        return strided_slice_assign(var, *bounds, value, name=name, **masks)

    result.assign = assign


Tensor._override_operator("__getitem__", index_tensor)
