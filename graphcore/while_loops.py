"""`tf.while_loop`: a loop as TensorFlow 1 builds it, out of Enter, Merge, Switch, NextIteration and Exit.

Source: tensorflow/python/ops/control_flow_ops.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import control_contexts as contexts, control_nodes, nest
from .control_contexts import WhileContext
from .convert import constant, convert_to_tensor
from .default import GraphKeys, add_to_collection, name_scope
from .errors import InvalidTypeError, InvalidValueError
from .op import raw_ops
from .operation import Tensor
from .ops.tensor_array import TensorArray
from .shapes import Shape
from .sparse_tensor import SparseTensor
from .tensor_shape import TensorShape


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """Repeats `body` while `cond` holds.

    Args:
        cond: From the loop variables to a boolean scalar.
        body: From the loop variables to their next values, of the same structure and dtypes.
        loop_vars: The first values: a list or tuple, possibly nested, of tensors, `TensorArray`s,
            `IndexedSlices` and `SparseTensor`s.
        shape_invariants: The shapes (or `TensorSpec`s and their kin) that hold in all iterations, in the
            structure of `loop_vars`; by default those of the first values.
        parallel_iterations: Kept for TensorFlow; here iterations run one after the other.
        back_prop: Whether gradients may go through the loop.
        swap_memory: Kept for TensorFlow.
        name: Name scope.
        maximum_iterations: A scalar; the loop ends after so many iterations at the latest.
        return_same_structure: Give a list or tuple of one as such.

    Returns:
        The last values, in the structure of `loop_vars`; the value itself where there is one only.

    Raises:
        TypeError: `cond` or `body` is not callable, or a value is of another dtype than its variable.
        ValueError: There are no loop variables, structures differ, or a shape changes that may not.
    """
    if not callable(cond):
        raise InvalidTypeError("cond must be callable.")
    if not callable(body):
        raise InvalidTypeError("body must be callable.")
    if parallel_iterations < 1:
        raise InvalidTypeError("parallel_iterations must be a positive integer.")
    with name_scope(name, "while", nest.flatten(loop_vars)):
        if not loop_vars:
            raise InvalidValueError("No loop variables provided")
        limit = None
        if maximum_iterations is not None:
            limit = convert_to_tensor(maximum_iterations, name="maximum_iterations")
            if limit.get_shape().ndims != 0:
                raise InvalidValueError(
                    f"maximum_iterations must be a scalar, saw shape: {limit.get_shape()}"
                )
            cond, body, loop_vars = _counted(limit, cond, body, loop_vars, return_same_structure)
            if shape_invariants is not None:
                shape_invariants = (TensorShape([]), shape_invariants)
        if shape_invariants is not None:
            _check_invariants(loop_vars, shape_invariants)
        context = WhileContext(limit, parallel_iterations, back_prop, swap_memory)
        if context.outer_context is None:  # what is nested is kept inside the outermost
            add_to_collection(GraphKeys.WHILE_CONTEXT, context)
        result = _build(context, cond, body, loop_vars, shape_invariants)
        if limit is not None:
            return result[1]
        if len(nest.flatten(result, expand_composites=True)) == 1 and not return_same_structure:
            return result[0]
        return result


def _counted(
    limit: Tensor, cond: Any, body: Any, loop_vars: Any, keep_structure: bool
) -> tuple[Any, Any, Any]:
    """The loop with an iteration counter before its variables."""
    counter = constant(0, dtype=limit.dtype, name="iteration_counter")
    if len(loop_vars) == 1 and not keep_structure:
        return (
            lambda i, value: raw_ops.LogicalAnd(i < limit, cond(value)),
            lambda i, value: (i + 1, body(value)),
            (counter, loop_vars[0]),
        )
    return (
        lambda i, values: raw_ops.LogicalAnd(i < limit, cond(*values)),
        lambda i, values: (i + 1, body(*values)),
        (counter, loop_vars),
    )


def _check_invariants(loop_vars: Any, shapes: Any) -> None:
    """Checks that the invariants have the variables' structure; a shape counts as one leaf."""
    leaves = nest.flatten(shapes)
    wrong = [leaf for leaf in leaves if not isinstance(leaf, TensorShape) and not _is_spec(leaf)]
    if wrong:
        raise InvalidValueError(f"`shapes` must be a (possibly nested) list of shapes; got {wrong}")
    nest.assert_same_structure(loop_vars, shapes)


def _is_spec(value: Any) -> bool:
    return hasattr(value, "value_type")


def _shape_of_invariant(variable: Any, invariant: Any) -> Any:
    """The TensorShape that a shape or spec stands for; None for that of the variable itself.

    Raises:
        TypeError: The variable is not what the spec says.
    """
    if not _is_spec(invariant):
        return invariant
    if not invariant.is_compatible_with(variable):
        raise InvalidTypeError(f"TypeSpec {invariant!r} is not compatible with {variable!r}")
    return None if isinstance(variable, TensorArray) else invariant.shape


def _invariant(value: Any, shape: Any) -> list[Shape]:
    """The shape invariants of the components of one loop variable."""
    if isinstance(value, Tensor):
        return [value.static_shape if shape is None else shape.as_tuple()]
    if shape is None and isinstance(value, SparseTensor):
        # The number of its elements may change in each iteration, its rank not.
        rank = value.get_shape().ndims
        relaxed: list[Shape] = value._component_shapes((rank,))
        return relaxed
    if shape is None:
        own: list[Shape] = [part.static_shape for part in value._components()]
        return own
    found: list[Shape] = value._component_shapes(shape.as_tuple())
    return found


def _build(context: WhileContext, cond: Any, body: Any, loop_vars: Any, invariants: Any) -> Any:
    """Builds condition and body; gives the results in the structure of what the body gives."""
    leaves = nest.flatten(loop_vars)
    values = [leaf.flow if isinstance(leaf, TensorArray) else leaf for leaf in leaves]
    values = [value if hasattr(value, "_components") else convert_to_tensor(value) for value in values]
    given = [None] * len(values) if invariants is None else nest.flatten(invariants)
    variables = [leaf if isinstance(leaf, TensorArray) else value for leaf, value in zip(leaves, values)]
    given = [_shape_of_invariant(variable, each) for variable, each in zip(variables, given)]
    shapes = [shape for value, each in zip(values, given) for shape in _invariant(value, each)]
    tensors = nest.flatten(values, expand_composites=True)
    with context:
        results, exits = _build_frame(context, cond, body, loop_vars, tensors, shapes)
    arrays = nest.flatten(results, expand_composites=True)
    return nest.pack_sequence_as(results, _with_arrays(arrays, exits), expand_composites=True)


def _build_frame(
    context: WhileContext, cond: Any, body: Any, loop_vars: Any, tensors: list[Tensor], shapes: list[Shape]
) -> tuple[Any, list[Tensor]]:
    """Builds what is inside the loop; gives what the body gave, and the Exits of all components."""
    enters = _enter_all(context, tensors, shapes)
    context.values = {tensor.name for tensor in enters}
    context.loop_enters = list(enters)
    merges = [control_nodes.merge_of(tensor) for tensor in enters]
    context.pivot_for_pred = merges[0]
    arrays = nest.flatten(loop_vars, expand_composites=True)

    def packed(flat: list[Tensor]) -> Any:
        return nest.pack_sequence_as(loop_vars, _with_arrays(arrays, flat), expand_composites=True)

    context.pivot = raw_ops.LoopCond(convert_to_tensor(cond(*packed(merges))), name="LoopCond")
    switches = [control_nodes.switch_of(merge, context.pivot) for merge in merges]
    inside = [control_nodes.identity_of(switch[1]) for switch in switches]
    context.pivot_for_body = inside[0]
    variables = packed(inside)
    result = _call_body(body, variables)
    nest.assert_same_structure(list(variables), list(result), expand_composites=True)
    following = [
        convert_to_tensor(leaf.flow if isinstance(leaf, TensorArray) else leaf)
        for leaf in nest.flatten(result, expand_composites=True)
    ]
    for merge, tensor in zip(merges, following):
        _close(merge, tensor)
    exits = [control_nodes.exit_of(switch[0]) for switch in switches]
    context.loop_exits = list(exits)
    context.exit_result(exits)
    return result, exits


def _call_body(body: Any, structure: Any) -> Any:
    """What the body gives, as a sequence."""
    result = body(*structure)
    return result if nest.is_nested(result) else [result]


def _enter_all(context: WhileContext, tensors: list[Tensor], shapes: list[Shape]) -> list[Tensor]:
    graph, outer = context.graph, context.outer_context
    context.values = {tensor.name for tensor in tensors}
    real = tensors if outer is None else [outer.add_value(tensor) for tensor in tensors]
    with graph.control_dependencies(None):
        enters = []
        for tensor, shape in zip(real, shapes):
            if not _at_least_as_specific(tensor.static_shape, shape):
                raise InvalidValueError(
                    f"The shape invariant specified for {tensor.name} is not compatible with the initial "
                    f"shape of the loop variable. It enters the loop with shape {tensor.get_shape()}, but "
                    f"the specified shape invariant is {TensorShape(shape)}."
                )
            enters.append(context.enter(tensor, shape=shape))
            graph.prevent_feeding(enters[-1])
    pivot = None
    around = outer
    while around is not None and pivot is None:
        pivot, around = around.control_pivot, around.outer_context
    if pivot is not None:
        for entered in enters:
            if contexts.is_constant_enter(entered.op._inputs[0].op):
                entered.op._add_control_input(pivot.op)
    context.adopt_enters(enters)
    return enters


def _with_arrays(like: list[Any], tensors: list[Tensor]) -> list[Any]:
    """The tensors, those in the places of arrays as arrays with that flow."""
    return [
        array._with_flow(tensor) if isinstance(array, TensorArray) else tensor
        for array, tensor in zip(like, tensors)
    ]


def _at_least_as_specific(shape: Shape, invariant: Shape) -> bool:
    if invariant is None:
        return True
    if shape is None or len(shape) != len(invariant):
        return False
    return all(wanted is None or wanted == dim for dim, wanted in zip(shape, invariant))


def _close(merge: Tensor, value: Tensor) -> None:
    """The back edge of a loop variable.

    Raises:
        ValueError: The dtype or shape differs from the variable's.
    """
    if value.dtype.base_dtype != merge.dtype.base_dtype:
        source = merge.op._inputs[0].op._inputs[0]
        raise InvalidTypeError(
            f"Input tensor '{source.name}' enters the loop with dtype {source.dtype.base_dtype.name}, but "
            f"has dtype {value.dtype.base_dtype.name} after one iteration ('{value.name}')."
        )
    following = control_nodes.next_iteration_of(value)
    if not _at_least_as_specific(following.static_shape, merge.static_shape):
        source = merge.op._inputs[0].op._inputs[0]
        raise InvalidValueError(
            f"Input tensor '{source.name}' enters the loop with shape {source.get_shape()}, but has shape "
            f"{following.get_shape()} after one iteration. To allow the shape to vary across iterations, use "
            "the `shape_invariants` argument of tf.while_loop to specify a less-specific shape."
        )
    control_nodes.close_back_edge(merge, following)
