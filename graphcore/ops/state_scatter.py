"""Updates and reads of parts of variables by index: Scatter*, ScatterNd*, ResourceGather*.

Source: tensorflow/core/kernels/scatter_op.cc and scatter_nd_op.cc (r1.15).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import ANY, FLOATING, INDEX, NUMBER, int32, int64
from ..errors import InvalidArgumentError, InvalidValueError
from ..indexed_slices import IndexedSlices
from ..kernels.gather_scatter import check_scatter, flat_positions, gather, gather_nd
from ..op import op, raw_ops
from ..shapes import Shape, format_shape, merge, with_rank_at_least
from . import rules
from .array_join import concat
from .array_select import gather_nd_shape

_NO_GRAD = "assignments are not differentiable"

_IN_PLACE: dict[str, Callable[..., Any]] = {
    "Add": np.add.at,
    "Sub": np.subtract.at,
    "Mul": np.multiply.at,
    "Div": np.divide.at,
    "Min": np.minimum.at,
    "Max": np.maximum.at,
}


def scatter(array: Any, indices: Any, updates: Any, how: str) -> None:
    """Updates rows of `array` in place; repeated indices add up (or the last one wins for Update).

    Raises:
        InvalidArgumentError: An index lies outside, or the shapes do not fit.
    """
    flat = np.reshape(indices, -1)
    wrong = np.flatnonzero((flat < 0) | (flat >= array.shape[0])) if array.ndim else np.arange(0)
    if wrong.size:
        place = [int(i) for i in np.unravel_index(wrong[0], np.shape(indices))]
        where = f"indices{place}" if place else "indices"
        raise InvalidArgumentError(f"{where} = {flat[wrong[0]]} is not in [0, {array.shape[0]})")
    if np.ndim(updates) and np.shape(updates) != np.shape(indices) + array.shape[1:]:
        raise InvalidArgumentError(
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
            "updates.shape "
            f"{format_shape(np.shape(updates))}, indices.shape {format_shape(np.shape(indices))}, "
            "params.shape "
            f"{format_shape(array.shape)}"
        )
    rows = updates if not np.ndim(updates) else np.reshape(updates, (flat.size, *array.shape[1:]))
    if how == "Update":
        array[flat] = rows
    elif how == "Div" and array.dtype.kind in "iu":
        for index, row in zip(flat, np.broadcast_to(rows, (flat.size, *array.shape[1:]))):
            array[index] = np.trunc(array[index] / row)
    else:
        _IN_PLACE[how](array, flat, rows)


def _scatter_shape(node: Any) -> Any:
    variable, indices, updates = rules.shape_of_variable(node, 0), node.shape(1), node.shape(2)
    if variable is not None and not variable:
        raise InvalidValueError("Shape must be at least rank 1 but is rank 0")
    if updates is None or updates:
        merge(updates, None if variable is None or indices is None else (*indices, *variable[1:]))
    return variable if node.num_outputs else []


def _update_ops(
    names: tuple[str, str], run: Callable[..., None], shape: Any, types: Any, *attrs: Any
) -> None:
    """Declares an update of the parts `indices` of a variable, by reference and by handle.

    Args:
        names: Their op types.
        run: From (array, indices, updates), in place.
        shape: Their shape rule.
        types: The dtypes of both, the name of the handle and of its dtype attribute.
        *attrs: The attributes of both.
    """
    (ref_types, resource_types), handle, attr = types

    def by_ref(ref: Any, indices: Any, updates: Any) -> Any:
        with ref.lock:
            run(ref.writable(), indices, updates)
        return ref

    def by_resource(resource: Any, indices: Any, updates: Any) -> None:
        with resource.lock:
            run(resource.writable(), indices, updates)

    by_ref.__doc__ = by_resource.__doc__ = run.__doc__
    op(
        names[0],
        "ref: Ref(T), indices: Tindices, updates: T -> output_ref: Ref(T)",
        *attrs[0],
        T=ref_types,
        Tindices=INDEX,
        no_grad=_NO_GRAD,
    )(by_ref).shape(shape)
    op(
        names[1],
        f"{handle}: resource, indices: Tindices, updates: {attr} ->",
        *attrs[1],
        **{attr: resource_types},
        Tindices=INDEX,
        stateful=True,
        ctx=False,
        no_grad=_NO_GRAD,
    )(by_resource).shape(shape)


def _scatter_op(how: str, types: Any, locking: str, resource_types: Any) -> None:
    def run(array: Any, indices: Any, updates: Any) -> None:
        scatter(array, indices, updates, how)

    run.__doc__ = f"{how} rows of a variable."
    attrs = ((f"use_locking: bool = {locking}",), ())
    names = (f"Scatter{how}", f"ResourceScatter{how}")
    _update_ops(names, run, _scatter_shape, ((types, resource_types), "resource", "dtype"), *attrs)


_scatter_op("Update", ANY, "true", ANY)
for _how in ("Add", "Sub", "Mul", "Div"):
    _scatter_op(_how, NUMBER, "false", NUMBER)
for _how in ("Min", "Max"):
    _scatter_op(_how, (*FLOATING, int32, int64), "false", NUMBER)


# By tuples of indices


def scatter_nd_into(array: Any, indices: Any, updates: Any, how: str) -> None:
    """Updates elements or slices of `array` in place at tuples of indices (..., depth).

    Args:
        array: C-contiguous.
        indices: Tuples in range.
        updates: Of shape indices.shape[:-1] + array.shape[depth:].
        how: `Update` (the last of repeated ones wins), `Add` or `Sub`.

    Raises:
        InvalidArgumentError: A tuple lies outside, or the shapes do not fit.
    """
    check_scatter(indices, updates, array.shape)
    places = flat_positions(indices, array.shape, "shape")
    if not array.size or not places.size:
        return
    depth = indices.shape[-1]
    rows = array.reshape(int(np.prod(array.shape[:depth], dtype=np.int64)), -1)
    values = updates.reshape(len(places), rows.shape[1])
    if how == "Update":
        rows[places] = values
    else:
        _IN_PLACE[how](rows, places, values)


def _scatter_nd_shape(node: Any) -> Any:
    variable = rules.shape_of_variable(node, 0)
    indices, updates = with_rank_at_least(node.shape(1), 1), with_rank_at_least(node.shape(2), 1)
    rules.check_scatter_nd(indices, updates, variable, "input")
    return variable if node.num_outputs else []


def _scatter_nd_op(how: str, types: Any, locking: str) -> None:
    def run(array: Any, indices: Any, updates: Any) -> None:
        scatter_nd_into(array, indices, updates, how)

    run.__doc__ = f"{how} slices of a variable at tuples of indices."
    attrs = ((f"use_locking: bool = {locking}",), ("use_locking: bool = true",))
    names = (f"ScatterNd{how}", f"ResourceScatterNd{how}")
    _update_ops(names, run, _scatter_nd_shape, ((types, ANY), "ref", "T"), *attrs)


_scatter_nd_op("Update", ANY, "true")
for _how in ("Add", "Sub"):
    _scatter_nd_op(_how, NUMBER, "false")


# Reads


@op(
    "ResourceGather",
    "resource: resource, indices: Tindices -> output: dtype",
    "batch_dims: int = 0",
    "validate_indices: bool = true",
    dtype=ANY,
    Tindices=INDEX,
    stateful=True,
    ctx=False,
)
def resource_gather(resource: Any, indices: Any, *, batch_dims: int) -> Any:
    """Rows of a resource variable."""
    return gather(resource.read(), indices, batch_dims, batch_dims)


@resource_gather.shape
def _(node: Any) -> Shape:
    params, indices = rules.shape_of_variable(node, 0), node.shape(1)
    if params is None or indices is None:
        return None
    batch = node.attr("batch_dims")
    return (*params[:batch], *indices[batch:], *params[batch + 1 :])


@resource_gather.grad
def _(node: Any, dy: Any) -> Any:
    """IndexedSlices of the rows that were read."""
    handle, indices = node.inputs
    shape = raw_ops.VariableShape(handle)
    tail = raw_ops.StridedSlice(shape, [1], [0], [1], end_mask=1)
    size = raw_ops.ExpandDims(raw_ops.Size(indices), 0)
    values = raw_ops.Reshape(dy, raw_ops.ConcatV2([size, tail], 0))
    return [IndexedSlices(values, raw_ops.Reshape(indices, size), shape), None]


@op(
    "ResourceGatherNd",
    "resource: resource, indices: Tindices -> output: dtype",
    dtype=ANY,
    Tindices=INDEX,
    stateful=True,
    ctx=False,
)
def resource_gather_nd(resource: Any, indices: Any) -> Any:
    """Slices of a resource variable at tuples of indices."""
    return gather_nd(resource.read(), indices)


resource_gather_nd.shape(lambda node: gather_nd_shape(rules.shape_of_variable(node, 0), node.shape(1)))


@resource_gather_nd.grad
def _(node: Any, dy: Any) -> Any:
    """IndexedSlices where rows were read, else zeros with the gradient at its places."""
    handle, indices = node.inputs
    shape = raw_ops.VariableShape(handle, out_type=indices.dtype)
    known = indices.static_shape
    if known is not None and len(known) == 2 and known[-1] == 1:
        return [IndexedSlices(dy, raw_ops.Squeeze(indices, squeeze_dims=[-1]), shape), None]
    return [raw_ops.ScatterNd(indices, dy, shape), None]


# TensorFlow's Python functions


def _by_name(how: str, doc: str, locking: bool = False) -> Callable[..., Any]:
    def function(
        ref: Any, indices: Any, updates: Any, use_locking: bool = locking, name: str | None = None
    ) -> Any:
        if hasattr(ref, "handle"):
            updates = convert_to_tensor(updates, ref.dtype.base_dtype)
            operation = getattr(raw_ops, f"Resource{how}")(ref.handle, indices, updates, name=name)
            return ref._changed(operation, True)
        return getattr(raw_ops, how)(ref, indices, updates, use_locking=use_locking, name=name)

    function.__doc__ = doc
    return function


scatter_update = _by_name("ScatterUpdate", "`tf.scatter_update`: sets rows of a variable.", True)
scatter_add = _by_name("ScatterAdd", "`tf.scatter_add`: adds to rows of a variable.")
scatter_sub = _by_name("ScatterSub", "`tf.scatter_sub`: subtracts from rows of a variable.")
scatter_mul = _by_name("ScatterMul", "`tf.scatter_mul`: multiplies rows of a variable.")
scatter_div = _by_name("ScatterDiv", "`tf.scatter_div`: divides rows of a variable.")
scatter_min = _by_name("ScatterMin", "`tf.scatter_min`: the minimum with rows of a variable.")
scatter_max = _by_name("ScatterMax", "`tf.scatter_max`: the maximum with rows of a variable.")
scatter_nd_update = _by_name(
    "ScatterNdUpdate", "`tf.scatter_nd_update`: sets slices of a variable at tuples of indices.", True
)
scatter_nd_add = _by_name(
    "ScatterNdAdd", "`tf.scatter_nd_add`: adds to slices of a variable at tuples of indices."
)
scatter_nd_sub = _by_name(
    "ScatterNdSub", "`tf.scatter_nd_sub`: subtracts from slices of a variable at tuples of indices."
)


def batch_scatter_update(
    ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None
) -> Any:
    """`tf.batch_scatter_update`: sets, in each batch, the slices that the last axis of `indices` names.

    Args:
        ref: A variable of shape [*batch, n, ...].
        indices: [*batch, k], of known rank.
        updates: [*batch, k, ...].
        use_locking: Passed to the update op.
        name: Name scope.

    Raises:
        ValueError: The rank of `indices` is unknown.
    """
    with name_scope(name):
        indices = convert_to_tensor(indices, name="indices")
        rank = indices.get_shape().ndims
        shape = raw_ops.Shape(indices)
        if rank is None:
            raise InvalidValueError("batch_gather does not allow indices with unknown shape.")
        last = raw_ops.ExpandDims(indices, -1)
        parts = []
        for axis in range(rank - 1):
            size = shape[axis]
            along = [1] * (rank + 1)
            along[axis] = size
            numbers = raw_ops.Reshape(raw_ops.Range(0, size, 1), along)
            if numbers.dtype != last.dtype:
                numbers = raw_ops.Cast(numbers, DstT=last.dtype)
            parts.append(numbers * raw_ops.OnesLike(last))
        return scatter_nd_update(ref, concat([*parts, last], axis=-1), updates, use_locking)
