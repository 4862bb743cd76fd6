"""`tf.gradients`: derivatives as new nodes of the graph, by reverse accumulation.

The gradients of a graph are built out of TensorFlow's own ops, so a training graph that is exported
trains in TensorFlow as well.

Source: the algorithm is that of tensorflow/python/ops/gradients_util.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from . import registry
from .control_contexts import ENTER, EXIT, SWITCH, is_loop_switch
from .convert import constant, convert_to_tensor, convert_to_tensor_or_indexed_slices
from .default import get_default_graph, name_scope
from .dtypes import int32
from .errors import InvalidTypeError, InvalidValueError
from .indexed_slices import IndexedSlices
from .loop_gradients import LoopGradients, zeros_outside_loop
from .op import raw_ops
from .operation import Operation, Tensor
from .ops.tensor_array import TensorArray
from .while_loops import while_loop

# Of these dtypes there are derivatives; a resource's and a variant's are those of what they hold.
_TRAINABLE_HANDLES = frozenset({"resource", "variant"})


class AggregationMethod:
    """How several gradients of one tensor are added; every method gives the same sum here."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


class UnconnectedGradients:
    """What the gradient of something that `ys` does not depend on is."""

    NONE = "none"
    ZERO = "zero"


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: str = UnconnectedGradients.NONE,
) -> list[Any]:
    """The sum over `ys` of the derivatives of y with respect to each x in `xs`.

    Args:
        ys: A tensor or list of tensors.
        xs: A tensor, variable or list of them.
        grad_ys: The gradients that reach `ys` (None: ones), tensors of the shapes of `ys`.
        name: Name scope of the new nodes.
        colocate_gradients_with_ops: Put each gradient into the colocation group of its operation.
        gate_gradients: Compute all gradients before any is used.
        aggregation_method: See `AggregationMethod`.
        stop_gradients: Tensors that count as constants.
        unconnected_gradients: "none" or "zero".

    Returns:
        For each x a tensor of its shape, IndexedSlices where only some rows have a gradient, or None
        where no y depends on it.

    Raises:
        TypeError: A y is not floating point or complex and `grad_ys` does not say what its gradient is.
        ValueError: Shapes of `grad_ys` do not fit, or `unconnected_gradients` is unknown.
        LookupError: An operation on the way has no gradient.
    """
    if str(unconnected_gradients).lower() not in ("none", "zero", "unconnectedgradients.none"):
        raise InvalidValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}")
    ys, xs = _as_list(ys), _as_list(xs)
    stops = _as_list(stop_gradients) if stop_gradients is not None else []
    grads_in = _as_list(grad_ys) if grad_ys is not None else [None] * len(ys)
    if len(grads_in) != len(ys):
        raise InvalidValueError(f"Passed {len(grads_in)} grad_ys for {len(ys)} ys")
    with name_scope(name, "gradients", [*ys, *xs, *[g for g in grads_in if g is not None]]):
        y_tensors = [convert_to_tensor(y, name="y") for y in ys]
        x_tensors = [_x_tensor(x) for x in xs]
        stop_tensors = [_x_tensor(x) for x in stops]
        seeds = [_seed(y, g, colocate_gradients_with_ops) for y, g in zip(y_tensors, grads_in)]
        builder = _Builder(colocate_gradients_with_ops, gate_gradients)
        found = builder.run(y_tensors, x_tensors, seeds, stop_tensors)
        if str(unconnected_gradients).lower() == "zero":
            found = [raw_ops.ZerosLike(x) if g is None else g for x, g in zip(x_tensors, found)]
        return found


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _x_tensor(x: Any) -> Tensor:
    """The tensor to differentiate by: a resource variable's handle, a ref variable's reference."""
    if hasattr(x, "handle"):
        handle: Tensor = x.handle
        return handle
    if isinstance(x, IndexedSlices):
        values: Tensor = x.values
        return values
    tensor: Tensor = convert_to_tensor(x, name="x", as_ref=True)
    return tensor


def _seed(y: Tensor, grad: Any, colocate: bool) -> Any:
    """The gradient that reaches y from outside."""
    dtype = y.dtype.base_dtype
    if grad is not None:
        grad = convert_to_tensor_or_indexed_slices(grad, name="grad_ys")
        given = grad.dtype.base_dtype
        exact = dtype.is_integer or dtype.name in ("resource", "variant")
        if given != dtype and not exact and not given.is_integer:
            raise InvalidTypeError(
                f"Gradient type {grad.dtype.name} generated for {y.name} does not match the type "
                f"{dtype.name} of y"
            )
        if isinstance(grad, Tensor):
            y.get_shape().assert_is_compatible_with(grad.get_shape())
        return grad
    if not (dtype.is_floating or dtype.is_integer):
        if dtype.is_complex:
            raise InvalidTypeError(
                f"Gradients of complex tensors must set grad_ys (y.dtype = tf.{dtype.name})"
            )
        raise InvalidTypeError(f"Gradients of tensors of dtype {dtype.name} must set grad_ys")
    with _colocation(y.op, colocate):
        return raw_ops.Fill(_shape_of(y), constant(1, dtype, name="grad_ys_0/Const"), name="grad_ys_0")


def _shape_of(tensor: Tensor) -> Any:
    static = tensor.get_shape()
    if static.is_fully_defined():
        return constant(np.array(static.as_list(), np.int32), name="Shape")
    return raw_ops.Shape(tensor)


class _Colocation:
    """A colocation scope, or nothing."""

    def __init__(self, operation: Operation, wanted: bool) -> None:
        self._scope = operation.graph.colocate_with(operation) if wanted else None

    def __enter__(self) -> None:
        if self._scope is not None:
            self._scope.__enter__()

    def __exit__(self, *exc: Any) -> None:
        if self._scope is not None:
            self._scope.__exit__(*exc)


_colocation = _Colocation


class _Builder:
    """Builds the gradient nodes of one call.

    Gradients that reach a tensor are collected until all operations between it and the ys are done;
    then they are added up and passed to the operation's gradient function.
    """

    def __init__(self, colocate: bool, gate: bool) -> None:
        self.colocate = colocate
        self.gate = gate
        self.grads: dict[Tensor, list[Any]] = {}
        self.loops: LoopGradients | None = None

    def run(self, ys: list[Tensor], xs: list[Tensor], seeds: list[Any], stops: list[Tensor]) -> list[Any]:
        between, pending, loops = _between(ys, xs, self.colocate)
        for y, seed in zip(ys, seeds):
            self.grads.setdefault(y, []).append(seed)
        self.loops = loops
        x_set, stopped = set(xs), {tensor.op for tensor in stops}
        first = dict.fromkeys(y.op for y in ys if y.op in between and not pending.get(y.op, 0))
        ready = deque(first)
        if loops is not None:
            for exit_ in loops.start(pending, first, between):
                if is_trainable(exit_):
                    self.grads.setdefault(exit_, []).append(loops.zeros_for_exit(exit_))
                    ready.append(exit_.op)
        while ready:
            operation = ready.popleft()
            with _colocation(operation, self.colocate):
                if operation not in stopped:
                    self._differentiate(operation, between, x_set)
            for tensor in operation._inputs:
                producer = tensor.op
                if producer not in pending:
                    continue
                pending[producer] -= 1
                left = pending[producer]
                if not left or (loops is not None and left > 0 and is_loop_switch(producer)):
                    self._reached(producer, tensor, between, ready)
        if loops is not None:
            loops.finish()
        return [self._sum(x) for x in xs]

    def _reached(
        self, producer: Operation, tensor: Tensor, between: set[Operation], ready: deque[Operation]
    ) -> None:
        """Queues an operation all of whose gradients are there; the results of a loop wait for each other."""
        if producer not in between:
            return
        state = self.loops.state_of(producer, before=False) if self.loops is not None else None
        if state is None or producer.type not in EXIT:
            ready.append(producer)
            return
        assert self.loops is not None
        state.deferred_exits.append(tensor)
        state.waiting_exits -= 1
        if state.waiting_exits:
            return
        used = [each for each in state.deferred_exits if self.grads.get(each)]
        state.unused_exits.extend(each for each in state.deferred_exits if each not in used)
        ready.extend(each.op for each in used)
        for unused in state.unused_exits:
            if used and is_trainable(unused):
                self.grads.setdefault(unused, []).append(self.loops.zeros_for_exit(unused))
            ready.append(unused.op)

    def _differentiate(self, operation: Operation, between: set[Operation], xs: set[Tensor]) -> None:
        outputs, loops = operation.outputs, self.loops
        with loops.inside(operation, before=True) if loops is not None else nullcontext():
            out_grads = [self._sum(tensor) for tensor in outputs]
        if all(grad is None for grad in out_grads):
            return
        inputs = operation._inputs
        wanted = [tensor.op in between or tensor in xs for tensor in inputs]
        if not any(wanted) and operation.type not in ENTER:
            return
        function = _gradient_function(operation)
        if function is None:
            return
        with loops.inside(operation, before=False) if loops is not None else nullcontext():
            _check_initial_value(operation, xs)
            for index, grad in enumerate(out_grads):
                if grad is None and is_trainable(outputs[index]):
                    # A gradient function may rely on all of its arguments.
                    like = zeros_outside_loop if loops is None else loops.zeros_like
                    out_grads[index] = like(operation, index)
            with name_scope(f"{operation.name}_grad"):
                result = function(operation, *out_grads)
                in_grads = list(result) if isinstance(result, (list, tuple)) else [result]
                if len(in_grads) != len(inputs):
                    raise InvalidValueError(
                        f"Num gradients {len(in_grads)} generated for op {operation.node_def} do not match "
                        f"num inputs {len(inputs)}"
                    )
                if self.gate and sum(grad is not None for grad in in_grads) > 1:
                    in_grads = _tuple(in_grads)
            for tensor, grad, is_wanted in zip(inputs, in_grads, wanted):
                if grad is None or not is_wanted:
                    continue
                if isinstance(grad, Tensor) and tensor.dtype.name != "resource":
                    try:
                        grad.set_shape(tensor.get_shape())
                    except ValueError as error:
                        raise InvalidValueError(
                            "Incompatible shapes between op input and calculated input gradient. Forward "
                            "operation: "
                            f"{operation.name}. Input index: {inputs.index(tensor)}. Original input shape: "
                            f"{tensor.get_shape()}. Calculated input gradient shape: {grad.get_shape()}"
                        ) from error
                self.grads.setdefault(tensor, []).append(grad)

    def _sum(self, tensor: Tensor) -> Any:
        """All gradients of `tensor` that have come together so far, added up."""
        grads = self.grads.get(tensor)
        if not grads:
            return None
        if len(grads) == 1:
            return grads[0]
        if all(isinstance(grad, IndexedSlices) for grad in grads):
            total: Any = self._concatenated(grads)
        else:
            total = raw_ops.AddN([convert_to_tensor(grad) for grad in grads])
        self.grads[tensor] = [total]
        return total

    def _concatenated(self, grads: Sequence[IndexedSlices]) -> IndexedSlices:
        return IndexedSlices(
            raw_ops.ConcatV2([grad.values for grad in grads], 0),
            raw_ops.ConcatV2([grad.indices for grad in grads], 0),
            grads[0].dense_shape,
        )


def _gradient_function(operation: Operation) -> Any:
    """The gradient function of an operation; of a call of a function by its name, SymbolicGradient."""
    if isinstance(operation.kind, registry.FunctionOp) and not operation.has_attr("_gradient_op_type"):
        return registry.gradient_function_of("PartitionedCall")
    return registry.gradient_function(operation)


def is_trainable(tensor: Tensor) -> bool:
    """Whether a tensor's dtype has derivatives."""
    dtype = tensor.dtype.base_dtype
    return dtype.is_floating or dtype.is_complex or dtype.name in _TRAINABLE_HANDLES


def _tuple(grads: list[Any]) -> list[Any]:
    """The gradients behind a barrier: none is used before all are computed."""
    operations = [grad.op for grad in grads if grad is not None]
    with get_default_graph().control_dependencies(operations):
        gate = get_default_graph().add_node("NoOp", [], {}, "tuple/group_deps")
    with get_default_graph().control_dependencies([gate]):
        name = "tuple/control_dependency"
        return [
            None
            if grad is None
            else grad._rebuilt(raw_ops.Identity(grad.values, name=name))
            if isinstance(grad, IndexedSlices)
            else raw_ops.Identity(grad, name=name)
            for grad in grads
        ]


def _between(
    ys: list[Tensor], xs: list[Tensor], colocate: bool
) -> tuple[set[Operation], dict[Operation, int], LoopGradients | None]:
    """The operations on paths from an x to a y over values that have derivatives.

    Returns:
        The operations; how many times each is an input of one of them; the loops that they lie in.
    """
    reached: set[Operation] = set()
    queue = deque(x.op for x in xs)
    while queue:
        operation = queue.popleft()
        if operation not in reached:
            reached.add(operation)
            for output in operation.outputs:
                if is_trainable(output):
                    queue.extend(output.consumers())
    between: list[Operation] = []
    members: set[Operation] = set()
    queue = deque(y.op for y in ys)
    while queue:
        operation = queue.popleft()
        if operation in reached and operation not in members:
            members.add(operation)
            between.append(operation)
            queue.extend(tensor.op for tensor in operation._inputs)
    loops = LoopGradients.of(between, members, colocate)
    pending: dict[Operation, int] = dict.fromkeys(between, 0)
    for operation in between:
        for tensor in operation._inputs:
            if tensor.op in members:
                pending[tensor.op] += 1
    return members, pending, loops


def _check_initial_value(operation: Operation, xs: set[Tensor]) -> None:
    """Refuses gradients, asked for inside a loop, by what a loop variable starts with.

    Raises:
        ValueError: The operation is the Switch of a variable of the loop that is being built.
    """
    context = operation._control_flow_context
    if operation.type not in SWITCH or context is None or not context.is_loop:
        return
    if context is not get_default_graph()._scopes.control_flow_context:
        return
    sources = {x.op for x in xs}
    seen: set[Operation] = set()
    queue = deque([operation])
    while queue:
        current = queue.popleft()
        if current in sources:
            raise InvalidValueError(
                f"Cannot compute gradient inside while loop with respect to op '{current.name}'. We do not "
                "support taking the gradient wrt or through the initial value of a loop variable. Gradients "
                "can be computed through loop invariants or wrt the input parameters to the loop body."
            )
        if current not in seen:
            seen.add(current)
            queue.extend(tensor.op for tensor in current._inputs)


class RegisterGradient:
    """`@tf.RegisterGradient("Name")`: registers a function `(op, *grads)` under an op type or a name."""

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise InvalidTypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, function: Any) -> Any:
        """Registers `function`."""
        registry.register_gradient(self._op_type, function)
        return function


def not_differentiable(op_type: str) -> None:
    """`tf.NotDifferentiable`: declares that ops of a type have no gradient."""
    registry.register_gradient(op_type, None)


def hessians(
    ys: Any,
    xs: Any,
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
) -> list[Any]:
    """`tf.hessians`: the second derivatives of sum(ys) by each x.

    Args:
        ys: A tensor, or a list of them.
        xs: A tensor, or a list of them, of any shape.
        name: Without effect, as in TensorFlow.
        colocate_gradients_with_ops: See `gradients`.
        gate_gradients: See `gradients`.
        aggregation_method: See `gradients`.

    Returns:
        For each x a tensor of its shape twice over.
    """
    options = {
        "colocate_gradients_with_ops": colocate_gradients_with_ops,
        "gate_gradients": gate_gradients,
        "aggregation_method": aggregation_method,
    }
    xs = _as_list(xs)
    results = []
    for gradient, x in zip(gradients(ys, xs, **options), xs):
        flat = raw_ops.Reshape(gradient, [-1])
        count = raw_ops.Size(x)

        def row(j: Any, rows: Any, flat: Any = flat, x: Any = x) -> Any:
            return j + 1, rows.write(j, gradients(flat[j], x)[0])

        start = [constant(0, int32), TensorArray(x.dtype.base_dtype, count)]
        _, rows = while_loop(lambda j, _, count=count: j < count, row, start)
        shape = raw_ops.Shape(x)
        results.append(raw_ops.Reshape(rows.stack(), raw_ops.ConcatV2([shape, shape], 0)))
    return results
