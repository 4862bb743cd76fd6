"""Asking for and changing shapes; passing tensors on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..convert import constant, convert_to_tensor
from ..dtypes import ANY, INDEX, NUMERIC, as_dtype, int32
from ..errors import InvalidArgumentError, InvalidValueError
from ..op import op, raw_ops
from ..shapes import Shape, format_shape, is_fully_defined, merge_dims, num_elements, with_rank, with_value
from . import rules


@op("Identity", "input: T -> output: T", T=ANY, effects=False)
def identity(input: Any) -> Any:
    """The input."""
    return input


identity.shape(rules.unchanged)
identity.grad(lambda node, dy: dy)


@op("RefIdentity", "input: Ref(T) -> output: Ref(T)", T=ANY, allows_uninitialized_input=True)
def ref_identity(input: Any) -> Any:
    """The reference."""
    return input


ref_identity.shape(rules.unchanged)
ref_identity.grad(lambda node, dy: dy)


@op("IdentityN", "input: T -> output: T", "T: list(type) >= 1", effects=False)
def identity_n(input: list[Any]) -> list[Any]:
    """The inputs."""
    return input


identity_n.shape(lambda node: list(node.shapes))
identity_n.grad(lambda node, *dys: list(dys))


@op("StopGradient", "input: T -> output: T", T=ANY, no_grad="that is what the op is for")
def stop_gradient(input: Any) -> Any:
    """The input; gradients do not pass."""
    return input


stop_gradient.shape(rules.unchanged)


@op("PreventGradient", "input: T -> output: T", "message: string = ''", T=ANY)
def prevent_gradient(input: Any) -> Any:
    """The input; asking for a gradient through it is an error."""
    return input


prevent_gradient.shape(rules.unchanged)


@prevent_gradient.grad
def _(node: Any, dy: Any) -> Any:
    raise LookupError(f"Gradient explicitly disabled. Reason: {node.attr('message')!r}")


# Shapes as values


@op("Shape", "input: T -> output: out_type", T=ANY, out_type=(INDEX, int32), no_grad="its result is a shape")
def shape(input: Any, *, out_type: Any) -> Any:
    """The shape of a tensor as a vector."""
    return np.array(np.shape(input), out_type)


shape.shape(lambda node: (None if node.shape(0) is None else len(node.shape(0)),))


@op(
    "ShapeN",
    "input: N * T -> output: N * out_type",
    T=ANY,
    out_type=(INDEX, int32),
    no_grad="its results are shapes",
)
def shape_n(input: list[Any], *, out_type: Any) -> list[Any]:
    """The shapes of several tensors."""
    return [np.array(np.shape(item), out_type) for item in input]


shape_n.shape(lambda node: [(None if item is None else len(item),) for item in node.shapes])


@op("Size", "input: T -> output: out_type", T=ANY, out_type=(INDEX, int32), no_grad="its result is a size")
def size(input: Any, *, out_type: Any) -> Any:
    """The number of elements."""
    return np.array(np.size(input), out_type)


@op("Rank", "input: T -> output: int32", T=ANY, no_grad="its result is a rank")
def rank(input: Any) -> Any:
    """The number of dimensions."""
    return np.array(np.ndim(input), np.int32)


size.shape(rules.scalar)
rank.shape(rules.scalar)


# Changing the shape


@op("Reshape", "tensor: T, shape: Tshape -> output: T", T=ANY, Tshape=(INDEX, int32))
def reshape(tensor: Any, shape: Any) -> Any:
    """The same elements in another shape; one dimension may be -1."""
    if np.ndim(shape) != 1 and not (np.ndim(shape) == 1 or np.size(shape) == 0):
        raise InvalidArgumentError(f"sizes input must be 1-D, not shape {format_shape(np.shape(shape))}")
    dims = np.reshape(shape, -1).tolist()
    if dims.count(-1) > 1:
        first = dims.index(-1)
        raise InvalidArgumentError(
            f"Only one input size may be -1, not both {first} and {dims.index(-1, first + 1)}"
        )
    if any(dim < -1 for dim in dims):
        raise InvalidArgumentError(
            f"Size {next(i for i, d in enumerate(dims) if d < -1)} must be non-negative, not {min(dims)}"
        )
    known = 1
    for dim in dims:
        known *= dim if dim != -1 else 1
    total = np.size(tensor)
    if -1 in dims:
        if known == 0:
            raise InvalidArgumentError(
                "Reshape cannot infer the missing input size for an empty tensor unless all specified "
                "input sizes "
                "are non-zero"
            )
        if total % known:
            raise InvalidArgumentError(
                f"Input to reshape is a tensor with {total} values, but the requested shape requires a "
                f"multiple of {known}"
            )
    elif known != total:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {total} values, but the requested shape has {known}"
        )
    return np.reshape(tensor, dims)


@reshape.shape
def _(node: Any) -> Shape:
    source: Shape = node.shape(0)
    wanted: Shape = node.value_as_shape(1)
    if wanted is None:
        return None
    value = node.value(1)
    total = num_elements(source)
    exact = value is not None
    known = num_elements(tuple(1 if dim is None else dim for dim in wanted)) or 0
    unknown = [index for index, dim in enumerate(wanted) if dim is None]
    if total is None or (not exact and len(unknown) > 1):
        return wanted
    if len(unknown) == 1:
        if known == 0:
            return wanted
        if total % known:
            raise InvalidValueError(f"Dimension size must be evenly divisible by {known} but is {total}")
        return rules.replace_dim(wanted, unknown[0], total // known)
    if not unknown and known != total:
        raise InvalidValueError(
            f"Cannot reshape a tensor with {total} elements to shape {list(wanted)} ({known} elements)"
        )
    return wanted


@reshape.specialize
def _(view: Any) -> Any:
    """A complete static result shape needs no checks."""
    result, source = view.value(1), view.shape(0)
    if result is None or not is_fully_defined(source) or np.any(result < 0):
        return None
    dims = tuple(result.tolist())
    if num_elements(dims) != num_elements(source):
        return None
    return lambda tensor, _: tensor.reshape(dims)


reshape.grad(lambda node, dy: [raw_ops.Reshape(dy, raw_ops.Shape(node.inputs[0])), None])


@op("ExpandDims", "input: T, dim: Tdim -> output: T", T=ANY, Tdim=(INDEX, int32))
def expand_dims_op(input: Any, dim: Any) -> Any:
    """A dimension of length 1 put in at `dim`."""
    axis = int(np.reshape(dim, -1)[0])
    if not -input.ndim - 1 <= axis <= input.ndim:
        raise InvalidArgumentError(
            f"Tried to expand dim index {axis} for tensor with {input.ndim} dimensions."
        )
    return np.expand_dims(input, axis)


@expand_dims_op.shape
def _(node: Any) -> Shape:
    source, axis = node.shape(0), node.value(1)
    if axis is not None and np.size(axis) != 1:
        raise InvalidValueError(
            f"'dim' input must be a tensor with a single value, not of shape {np.shape(axis)}"
        )
    if source is None:
        return None
    if axis is None:
        return (None,) * (len(source) + 1)
    position = int(np.reshape(axis, -1)[0])
    rank = len(source) + 1
    if not -rank <= position < rank:
        raise InvalidValueError(f"dim {position} not in the interval [{-rank}, {rank - 1}].")
    position %= rank
    return (*source[:position], 1, *source[position:])


expand_dims_op.grad(lambda node, dy: [raw_ops.Reshape(dy, raw_ops.Shape(node.inputs[0])), None])


@op("Squeeze", "input: T -> output: T", "squeeze_dims: list(int) >= 0 = []", T=ANY)
def squeeze_op(input: Any, *, squeeze_dims: list[int]) -> Any:
    """Dimensions of length 1 taken out: all of them, or those named."""
    if not squeeze_dims:
        return input.reshape([dim for dim in input.shape if dim != 1])
    for axis in squeeze_dims:
        if not -input.ndim <= axis < input.ndim:
            raise InvalidArgumentError(
                f"Tried to squeeze dim index {axis} for tensor with {input.ndim} dimensions."
            )
        if input.shape[axis] != 1:
            raise InvalidArgumentError(
                f"Can not squeeze dim[{axis % input.ndim}], expected a dimension of 1, got "
                f"{input.shape[axis]}"
            )
    return np.squeeze(input, tuple({axis % input.ndim for axis in squeeze_dims}))


@squeeze_op.shape
def _(node: Any) -> Shape:
    source, dims = node.shape(0), node.attr("squeeze_dims")
    if source is None:
        return None
    if not dims:
        return None if None in source else tuple(dim for dim in source if dim != 1)
    chosen = set()
    for axis in dims:
        if not -len(source) <= axis < len(source):
            raise InvalidValueError(
                f"squeeze_dims[{dims.index(axis)}] not in [{-len(source)},{len(source)})."
            )
        if source[axis] not in (1, None):
            raise InvalidValueError(
                f"Can not squeeze dim[{axis % len(source)}], expected a dimension of 1, got {source[axis]}"
            )
        chosen.add(axis % len(source))
    return tuple(dim for index, dim in enumerate(source) if index not in chosen)


squeeze_op.grad(lambda node, dy: raw_ops.Reshape(dy, raw_ops.Shape(node.inputs[0])))


@op("Transpose", "x: T, perm: Tperm -> y: T", T=ANY, Tperm=(INDEX, int32))
def transpose_op(x: Any, perm: Any) -> Any:
    """The axes in the order `perm`."""
    order = np.reshape(perm, -1).tolist()
    if len(order) != x.ndim:
        raise InvalidArgumentError(
            f"transpose expects a vector of size {x.ndim}. But input(1) is a vector of size {len(order)}"
        )
    for axis in order:
        if not -x.ndim <= axis < x.ndim:
            raise InvalidArgumentError(f"{axis} is out of range [0 .. {x.ndim})")
    if sorted(axis % x.ndim if -x.ndim <= axis < x.ndim else -1 for axis in order) != list(range(x.ndim)):
        found = {axis % x.ndim for axis in order if -x.ndim <= axis < x.ndim}
        missing = next(axis for axis in range(x.ndim) if axis not in found)
        shown = ",".join(str(axis % x.ndim if -x.ndim <= axis < 0 else axis) for axis in order)
        raise InvalidArgumentError(f"{missing} is missing from {{{shown}}}.")
    return np.ascontiguousarray(np.transpose(x, order)) if x.ndim else x


@transpose_op.shape
def _transposed(node: Any) -> Shape:
    source, perm = node.shape(0), node.value(1)
    lengths = node.shape(1)
    if source is not None and lengths is not None and len(lengths) == 1:
        with_value(lengths[0], len(source))
    if perm is None:
        if source is not None:
            return (None,) * len(source)
        return None if lengths is None or lengths[0] is None else (None,) * lengths[0]
    order = np.reshape(perm, -1).tolist()
    if source is None:
        return (None,) * len(order)
    with_rank(source, len(order))
    _check_order(order, len(order))
    return tuple(source[axis] for axis in order)


def _check_order(order: list[int], rank: int) -> None:
    for axis in order:
        if not -rank <= axis < rank:
            raise InvalidValueError(f"perm dim {axis} is out of range of input rank {rank}")


transpose_op.grad(lambda node, dy: [raw_ops.Transpose(dy, raw_ops.InvertPermutation(node.inputs[1])), None])


@op("ConjugateTranspose", "x: T, perm: Tperm -> y: T", T=ANY, Tperm=(INDEX, int32))
def conjugate_transpose(x: Any, perm: Any) -> Any:
    """The axes in the order `perm`, complex numbers conjugated."""
    turned = transpose_op.kernel(x, perm)
    return np.conj(turned) if turned.dtype.kind == "c" else turned


conjugate_transpose.shape(_transposed)
conjugate_transpose.grad(
    lambda node, dy: [raw_ops.ConjugateTranspose(dy, raw_ops.InvertPermutation(node.inputs[1])), None]
)


@op("InvertPermutation", "x: T -> y: T", T=(INDEX, int32), no_grad="integers have no derivative")
def invert_permutation(x: Any) -> Any:
    """The permutation y with y[x[i]] = i."""
    if np.ndim(x) != 1:
        raise InvalidArgumentError("invert_permutation expects a 1D vector.")
    result = np.full_like(x, -1)
    for index, item in enumerate(x.tolist()):
        if not 0 <= item < len(x):
            raise InvalidArgumentError(f"{item} is not between 0 and {len(x)}")
        if result[item] != -1:
            raise InvalidArgumentError(f"{item} is duplicated in the input.")
        result[item] = index
    return result


invert_permutation.shape(lambda node: with_rank(node.shape(0), 1))


@op(
    "UnravelIndex",
    "indices: Tidx, dims: Tidx -> output: Tidx",
    Tidx=(INDEX, int32),
    undefined_grad="TensorFlow has none",
)
def unravel_index(indices: Any, dims: Any) -> Any:
    """Flat positions in a tensor of shape `dims` as positions along each axis, one row an axis."""
    if np.ndim(indices) > 1:
        raise InvalidArgumentError(
            f'The indices can only be scalar or vector, got "{format_shape(indices.shape)}"'
        )
    if np.ndim(dims) != 1:
        raise InvalidArgumentError(f'The indices can only be 1-D, got "{format_shape(np.shape(dims))}"')
    total, limit = 1, np.iinfo(dims.dtype).max
    for index, dim in enumerate(dims.tolist()):
        if dim == 0:
            raise InvalidArgumentError(
                f"Input dims cannot contain a dim of zero, but dims contains zero at index {index}"
            )
        if dim < 0:
            raise InvalidArgumentError(f"Input dims cannot be negative. Got dim = {dim} at index {index}")
        total *= dim
        if total > limit:
            raise InvalidArgumentError(f"Input dims product is causing integer overflow: ({dims.tolist()})")
    flat = np.reshape(indices, -1)
    if np.any(flat >= total):
        wrong = flat[flat >= total][0]
        raise InvalidArgumentError(f"index is out of bound as with dims: {wrong} is not in [0, {total})")
    steps = np.append(np.cumprod(dims[:0:-1])[::-1], 1)[: len(dims)]
    # As in C, where the quotient is rounded towards 0: negative places count from the start, backwards.
    result = np.fmod(flat, (steps * dims)[:, None])
    result = np.where(result < 0, -(-result // steps[:, None]), result // steps[:, None])
    return result.reshape((len(dims), *np.shape(indices))).astype(indices.dtype)


@unravel_index.shape
def _(node: Any) -> Shape:
    indices, (rank,) = node.shape(0), with_rank(node.shape(1), 1)
    if indices is None:
        return None
    return (rank,) if not indices else (rank, num_elements(indices))


@op("BroadcastTo", "input: T, shape: Tidx -> output: T", T=ANY, Tidx=(INDEX, int32))
def broadcast_to(input: Any, shape: Any) -> Any:
    """The input repeated along dimensions of length 1 to `shape`."""
    dims = np.reshape(shape, -1).tolist()
    try:
        return np.broadcast_to(input, dims)
    except ValueError:
        raise InvalidArgumentError(
            f"Incompatible shapes: {format_shape(input.shape)} vs. {format_shape(dims)}"
        ) from None


@broadcast_to.shape
def _(node: Any) -> Shape:
    shape, wanted = node.shape(0), node.value_as_shape(1)
    with_rank(node.shape(1), 1)
    if shape is None or wanted is None:
        return wanted  # type: ignore[no-any-return]
    if len(shape) > len(wanted):
        raise InvalidValueError(f"Shape must be at most rank {len(wanted)} but is rank {len(shape)}")
    lead = len(wanted) - len(shape)
    dims = [b if a in (None, 1) else merge_dims(a, b) for a, b in zip(shape, wanted[lead:])]
    return (*wanted[:lead], *dims)


@broadcast_to.grad
def _(node: Any, dy: Any) -> Any:
    x, shape = node.inputs
    _, axes = raw_ops.BroadcastGradientArgs(shape, raw_ops.Shape(x, out_type=shape.dtype))
    return [raw_ops.Reshape(raw_ops.Sum(dy, axes), raw_ops.Shape(x)), None]


@op("BroadcastArgs", "s0: T, s1: T -> r0: T", T=(INDEX, int32), no_grad="its result is a shape")
def broadcast_args(s0: Any, s1: Any) -> Any:
    """The broadcast of two shapes."""
    try:
        return np.array(np.broadcast_shapes(s0.tolist(), s1.tolist()), s0.dtype)
    except ValueError:
        raise InvalidArgumentError(
            f"Incompatible shapes: {format_shape(s0.tolist())} vs. {format_shape(s1.tolist())}"
        ) from None


@broadcast_args.shape
def _(node: Any) -> Shape:
    sizes: list[Any] = [None if item is None else item[0] for item in node.shapes]
    return (None if None in sizes else max(sizes),)


@op("Bitcast", "input: T -> output: type", T=NUMERIC, type=NUMERIC, undefined_grad="bits have no derivative")
def bitcast(input: Any, *, type: Any) -> Any:
    """The same bytes read as another dtype; a last dimension appears or goes where sizes differ."""
    source, target = input.dtype.itemsize, type.itemsize
    if source == target:
        return input.view(type)
    if source > target:
        return np.ascontiguousarray(input).reshape(*input.shape, 1).view(type)
    ratio = target // source
    if input.ndim == 0 or input.shape[-1] != ratio:
        raise InvalidArgumentError(
            f"Cannot bitcast from {input.dtype.name} to {type.name}: the last dimension must be "
            f"{ratio}, shape is {format_shape(input.shape)}"
        )
    return np.ascontiguousarray(input).view(type).reshape(input.shape[:-1])


@bitcast.shape
def _(node: Any) -> Shape:
    source: Shape = node.shape(0)
    sizes = node.node.inputs[0].dtype.size, node.node.attr("type").size
    if source is None or sizes[0] == sizes[1]:
        return source
    if sizes[0] > sizes[1]:
        return (*source, sizes[0] // sizes[1])
    if not source or source[-1] not in (None, sizes[1] // sizes[0]):
        raise InvalidValueError(
            f"Cannot bitcast due to shape. {source[-1] if source else 0} does not match "
            f"{sizes[1] // sizes[0]}"
        )
    return source[:-1]


# TensorFlow's Python functions


def tf_reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """`tf.reshape`: the same elements in another shape; one dimension may be -1."""
    return reshape(tensor, shape, name=name)


def tf_shape(input: Any, name: str | None = None, out_type: Any = int32) -> Any:
    """`tf.shape`: the shape as a vector; a constant where it is fully known statically."""
    return _known(input, name, "Shape", out_type, lambda dims: dims)


def tf_shape_n(input: Any, out_type: Any = int32, name: str | None = None) -> Any:
    """`tf.shape_n`: the shapes of several tensors of one dtype, as vectors."""
    return list(raw_ops.ShapeN(input, out_type=out_type, name=name))


def tf_size(input: Any, name: str | None = None, out_type: Any = int32) -> Any:
    """`tf.size`: the number of elements; a constant where it is known statically."""
    return _known(input, name, "Size", out_type, lambda dims: int(np.prod(dims, dtype=np.int64)))


def _known(input: Any, name: str | None, kind: str, out_type: Any, value: Any) -> Any:
    if hasattr(input, "dense_shape"):
        dense = raw_ops.Cast(input.dense_shape, DstT=out_type)
        return dense if kind == "Shape" else raw_ops.Prod(dense, 0, name=name)
    tensor = convert_to_tensor(input)
    static = tensor.get_shape()
    if static.is_fully_defined():
        return constant(
            value(static.as_list()),
            as_dtype(out_type),
            name=name or kind,
            shape=[len(static)] if kind == "Shape" else None,
        )
    return getattr(raw_ops, kind)(tensor, out_type=out_type, name=name)


def tf_rank(input: Any, name: str | None = None) -> Any:
    """`tf.rank`: the number of dimensions; a constant where it is known statically."""
    tensor = convert_to_tensor(input)
    ndims = tensor.get_shape().ndims
    return rank(tensor, name=name) if ndims is None else constant(ndims, int32, name=name or "Rank")


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """`tf.expand_dims`: a dimension of length 1 put in at `axis`."""
    chosen = dim if axis is None else axis
    if chosen is None:
        raise InvalidValueError("Must specify an axis argument to tf.expand_dims()")
    return expand_dims_op(input, chosen, name=name)


def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Any:
    """`tf.squeeze`: dimensions of length 1 taken out: all, or those in `axis`."""
    chosen = squeeze_dims if axis is None else axis
    if chosen is not None and not isinstance(chosen, Sequence):
        chosen = [chosen]
    return squeeze_op(input, squeeze_dims=list(chosen or []), name=name)


def transpose(a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False) -> Any:
    """`tf.transpose`: the axes in the order `perm`, reversed by default."""
    from ..default import name_scope

    with name_scope(name, "transpose", [a]) as scope:
        tensor = convert_to_tensor(a, name="a")
        if perm is None:
            ndims = tensor.get_shape().ndims
            if ndims is not None:
                perm = np.arange(ndims - 1, -1, -1, dtype=np.int32)
            else:
                count = raw_ops.Rank(tensor)
                perm = (count - 1) - raw_ops.Range(0, count, 1)
        is_conjugate = conjugate and tensor.dtype.is_complex
        return (conjugate_transpose if is_conjugate else transpose_op)(tensor, perm, name=scope)


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Any:
    """`tf.matrix_transpose`: the last two axes exchanged.

    Args:
        a: A tensor of rank >= 2.
        name: Name of the operation.
        conjugate: Whether complex numbers are conjugated.

    Raises:
        ValueError: The rank is less than 2.
    """
    from ..default import name_scope

    with name_scope(name, values=[a]):
        a = convert_to_tensor(a, name="a")
        ndims = a.get_shape().ndims
        if ndims is None:
            rank = raw_ops.Rank(a)
            perm = raw_ops.ConcatV2([raw_ops.Range(0, rank - 2, 1), raw_ops.Pack([rank - 1, rank - 2])], 0)
            return transpose(a, perm, conjugate=conjugate)
        if ndims < 2:
            raise InvalidValueError(
                f"Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: {a.get_shape()}"
            )
        return transpose(a, [*range(ndims - 2), ndims - 1, ndims - 2], conjugate=conjugate)
