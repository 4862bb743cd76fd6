"""Gradients of while loops: for each forward loop a second loop that runs its iterations backwards.

    forward loop                              loop of gradients
    f_count: counts the iterations ---------> b_count: runs as many
    value --push--> stack f_acc ------------> pop --> the value of the same iteration
    loop variable: Enter..Exit <------------- b_exit: Enter .. b_switch: Merge .. Exit
    loop invariant: Enter      <------------- b_acc: adds its gradients up

What a gradient function uses of the forward loop is pushed there onto a stack and popped in the loop of
gradients; `LoopGradient.real_value` does so, asked by the context of the loop of gradients whenever an
operation in it takes a tensor of the forward loop. Control edges keep pushes and pops in the order of
the iterations, for TensorFlow, which runs several iterations at a time.

Source: tensorflow/python/ops/control_flow_state.py and control_flow_grad.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

import numpy as np

from . import control_contexts as contexts, control_nodes
from .control_contexts import CondContext, WhileContext
from .convert import constant
from .default import get_default_graph
from .dtypes import int32
from .errors import InvalidTypeError
from .indexed_slices import IndexedSlices
from .op import raw_ops
from .operation import Operation, Tensor
from .ops.array_create import zeros, zeros_like


def _around(context: Any) -> Any:
    """The block in which operations are made in `context`; where there is none, as before."""
    return nullcontext() if context is None else context


class LoopGradient:
    """What a forward loop and its loop of gradients share while gradients are built.

    Attributes:
        forward_context: The forward loop.
        outer: The same for the loop around the forward loop, or None.
        grad_context: The loop of gradients.
        forward_index: The NextIteration of the forward loop's counter.
        grad_index: The NextIteration of the counter of the loop of gradients.
        kept: For names of forward tensors, their values in the loop of gradients.
        merges: For Switches of the forward loop, the Merges of their gradients.
        exits: The results of the forward loop, as they were before gradients were built.
        waiting_exits: How many of these have not been reached.
        deferred_exits: Those that were reached, until all are.
        unused_exits: Those that nothing depends on.
    """

    def __init__(self, forward: WhileContext, outer: LoopGradient | None) -> None:
        self.graph = get_default_graph()
        self.outer = outer
        self.kept: dict[str, Tensor] = {}
        self.merges: dict[Operation, Tensor] = {}
        self.exits = list(forward.loop_exits)
        self.waiting_exits = len(self.exits)
        self.deferred_exits: list[Tensor] = []
        self.unused_exits: list[Tensor] = []
        self._forward_sync: Operation | None = None
        self._grad_sync: Operation | None = None
        self.forward_context = forward
        around = outer.forward_context if outer is not None else forward.outer_context
        with _around(around):
            count, self.forward_index = self._count_forward()
        if outer is None:
            with _around(around):
                self.grad_context = self._new_context()
                self.grad_index = self._count_backward(count)
        else:
            assert around is not None
            around.values.add(count.name)
            history = outer.push_history(count)
            with outer.grad_context:
                self.grad_context = self._new_context()
                real_count = outer.pop_history(history, count)
                self.grad_index = self._count_backward(real_count)

    def _new_context(self) -> WhileContext:
        forward = self.forward_context
        return WhileContext(
            maximum_iterations=forward.maximum_iterations,
            parallel_iterations=forward.parallel_iterations,
            back_prop=forward.allows_gradients,
            swap_memory=forward.swap_memory,
            name=forward.name,
            grad_state=self,
        )

    # Counters

    def _count_forward(self) -> tuple[Tensor, Tensor]:
        """Makes the forward loop count its iterations; gives the number and the counter's NextIteration."""
        forward = self.forward_context
        start = constant(0, name="f_count")
        if self.outer is not None:
            # The inner loop's pushes of one outer iteration come after those of the one before.
            start.op._add_control_input(self.outer.forward_index.op._inputs[0].op)
        with forward:
            merged = forward.add_variable(start, "f_count")
            switch = raw_ops.Switch(merged, forward.pivot)
            following = control_nodes.next_iteration_of(raw_ops.Add(switch[1], 1))
            control_nodes.close_back_edge(merged, following)
            total = forward.exit(switch[0], "f_count")
            forward.exit_result([total])
        return total, following

    def _count_backward(self, count: Tensor) -> Tensor:
        """Makes the loop of gradients run `count` times; gives its counter's NextIteration."""
        context = self.grad_context
        one = constant(1, name="b_count")
        with context:
            merged = context.add_variable(count, "b_count")
            context.pivot_for_pred = merged
            context.pivot = raw_ops.LoopCond(raw_ops.GreaterEqual(merged, one), name="b_count")
            switch = raw_ops.Switch(merged, context.pivot)
            index = raw_ops.Sub(switch[1], one)
            context.pivot_for_body = index
            following = control_nodes.next_iteration_of(index)
            control_nodes.close_back_edge(merged, following)
            final = context.exit(switch[0], "b_count")
            if self.outer is not None:
                self.outer.grad_sync._add_control_input(final.op)
            context.exit_result([final])
        return following

    @property
    def forward_sync(self) -> Operation:
        """What an iteration of the forward loop waits for: pushes that only some iterations do."""
        if self._forward_sync is None:
            with self.graph.control_dependencies(None):
                self._forward_sync = raw_ops.ControlTrigger(name="f_sync")
            self._forward_sync._control_flow_context = self.forward_context
            self.forward_index.op._add_control_input(self._forward_sync)
        return self._forward_sync

    @property
    def grad_sync(self) -> Operation:
        """What an iteration of the loop of gradients waits for: all pops of the one before."""
        if self._grad_sync is None:
            with self.graph.control_dependencies(None):
                self._grad_sync = raw_ops.ControlTrigger(name="b_sync")
            self._grad_sync._control_flow_context = self.grad_context
            self.grad_index.op._add_control_input(self._grad_sync)
        return self._grad_sync

    # Values of the forward loop

    def push_history(self, value: Tensor, dead_branch: bool = False) -> Tensor:
        """Keeps a value of each iteration of the forward loop; gives the stack.

        Called in the context in which gradients were asked for.

        Args:
            value: A tensor of the forward loop.
            dead_branch: Whether it is alive only when its branch is not taken.
        """
        forward, graph = self.forward_context, self.graph
        home = graph._scopes.control_flow_context
        with graph.control_dependencies(None):
            with _around(home), graph.colocate_with(value):
                stack: Tensor = raw_ops.StackV2(
                    constant(-1, int32), elem_type=value.dtype.base_dtype, name="f_acc"
                )
            entered = forward.add_value(stack)
            found = contexts.output_context(value.op)
            inside = found.outer_context if dead_branch else found
            with inside:
                push = raw_ops.StackPushV2(entered, value, swap_memory=forward.swap_memory)
            if found is forward:
                self.forward_index.op._add_control_input(push.op)
            else:
                if not isinstance(found, CondContext):
                    raise InvalidTypeError(f"value_ctxt is not a CondContext: {found}")
                push.op._control_flow_context = found
                self.forward_sync._add_control_input(push.op)
            push.op._add_control_input(self.forward_index.op._inputs[0].op)
        return stack

    def pop_history(self, stack: Tensor, value: Tensor, dead_branch: bool = False) -> Tensor:
        """In the loop of gradients, the value that was kept of the same iteration of the forward loop."""
        branch: CondContext | None = None
        around = value.op._control_flow_context
        home = stack.op._control_flow_context
        while around is not None and around is not home:
            if isinstance(around, CondContext):
                branch = around
                break
            around = around.outer_context
        with self.graph.control_dependencies(None), self.grad_context:
            if branch is not None:
                state: LoopGradient | None = self
                pred = None
                while pred is None and state is not None:
                    pred = state.kept.get(branch.pred.name)
                    state = state.outer
                side = 1 - branch.branch if dead_branch else branch.branch
                stack = control_nodes.switch_of(stack, branch.pred if pred is None else pred)[side]
            popped: Tensor = raw_ops.StackPopV2(stack, elem_type=value.dtype.base_dtype)
            popped.set_shape(value.get_shape())
        if self.grad_context.parallel_iterations > 1:
            self.grad_sync._add_control_input(popped.op)
        return popped

    def real_value(self, value: Tensor) -> Tensor:
        """What stands in the loop of gradients for a tensor of the forward loop.

        A loop invariant and a constant need no stack.
        """
        found = self.kept.get(value.name)
        if found is not None:
            return found
        current, state = value, self
        real: Tensor | None = None
        while True:
            entered = _constant_enter(current)
            if entered is not None:
                current = entered._inputs[0]
                if state.outer is None:
                    real = self.grad_context.add_value(current)
                    break
                state = state.outer
            elif current.op.type == "Const":
                real = constant(self.graph.constant_value(current), dtype=current.dtype)
                break
            else:
                with _Left(self.grad_context):
                    stack = state.push_history(current)
                break
        if real is None:
            real = state.pop_history(stack, current)
            if state is not self:
                real = self.grad_context.add_value(real)
        self.kept[value.name] = real
        return real

    def real_pred(self, pred: Tensor) -> Tensor:
        """What stands in the loop of gradients for the predicate of a conditional in the forward loop."""
        if pred.name not in self.kept:
            with _Left(self.grad_context):
                stack = self.push_history(pred)
            self.kept[pred.name] = self.pop_history(stack, pred)
        return self.kept[pred.name]

    # Gradients of what enters

    def accumulate(self, enter: Operation, grad: Any) -> Any:
        """The gradient of a loop invariant: the sum over the iterations of its gradients.

        Args:
            enter: The Enter of the invariant.
            grad: Its gradient in one iteration, a tensor or IndexedSlices.
        """
        if isinstance(grad, IndexedSlices):
            return self._accumulate_rows(enter, grad)
        context = self.grad_context
        with _Left(context):
            start = self._zeros_outside(enter.inputs[0], grad)
        with context:
            merged = context.add_variable(start, "b_acc", merge_name="b_acc")
            off, on = raw_ops.Switch(merged, context.pivot)
            control_nodes.close_back_edge(merged, control_nodes.next_iteration_of(raw_ops.Add(on, grad)))
            result = context.exit(off, "b_acc")
            context.exit_result([result])
        return result

    def _zeros_outside(self, value: Tensor, grad: Tensor) -> Any:
        """Zeros of a gradient's shape around the loop of gradients."""
        outer = self.grad_context.outer_context
        shape = grad.get_shape()
        if shape.is_fully_defined():
            with _around(outer):
                zero = np.zeros((), grad.dtype.base_dtype.np)
                return constant(zero, shape=shape.as_list(), name="b_acc")
        if isinstance(outer, WhileContext) and outer.grad_state is not None:
            assert self.outer is not None
            with _around(self.forward_context.outer_context):
                sizes = raw_ops.Shape(value)
            stack = self.outer.push_history(sizes)
            with outer:
                return zeros(self.outer.pop_history(stack, sizes), grad.dtype)
        with _around(outer):
            return zeros(raw_ops.Shape(value), grad.dtype)

    def _accumulate_rows(self, enter: Operation, grad: IndexedSlices) -> IndexedSlices:
        """The same for rows: all rows of all iterations, one after the other, behind one row of zeros."""
        context = self.grad_context
        values, indices, dense = grad.values, grad.indices, grad.dense_shape
        source = enter.inputs[0]
        with _Left(context), _around(context.outer_context):
            rest = values.get_shape()[1:]
            if values.get_shape().is_fully_defined():
                zero = np.zeros((), values.dtype.base_dtype.np)
                row = constant(zero, shape=[1, *rest.as_list()], name="b_acc")
            else:
                row = zeros(raw_ops.ConcatV2([[1], _shape_of_target(source)[1:]], 0), values.dtype)
            starts = [constant(np.zeros(1, indices.dtype.base_dtype.np)), row]
            if dense is not None and dense.get_shape().is_fully_defined():
                none = np.zeros((), dense.dtype.base_dtype.np)
                starts.append(constant(none, shape=dense.get_shape().as_list()))
            elif dense is not None:
                starts.append(raw_ops.ZerosLike(raw_ops.Shape(source, out_type=dense.dtype)))
        width = None if rest.ndims is None else tuple(rest.as_list())
        shapes = [(None,), None if width is None else (None, *width), None]
        with context:
            merged = [
                context.add_variable(start, "b_acc", merge_name="b_acc", shape=shape)
                for start, shape in zip(starts, shapes)
            ]
            switches = [raw_ops.Switch(merge, context.pivot) for merge in merged]
            following = [
                raw_ops.ConcatV2([switch[1], new], 0) for switch, new in zip(switches, (indices, values))
            ]
            if dense is not None:
                following.append(raw_ops.Maximum(dense, switches[2][1]))
            for merge, value in zip(merged, following):
                control_nodes.close_back_edge(merge, control_nodes.next_iteration_of(value))
            exits = [context.exit(switch[0], "b_acc") for switch in switches]
            context.exit_result(exits)
        return IndexedSlices(exits[1], exits[0], exits[2] if dense is not None else None)


class _Left:
    """The block in which the graph is as it was before `context` was entered."""

    def __init__(self, context: WhileContext) -> None:
        self._context = context

    def __enter__(self) -> None:
        self._context.__exit__()

    def __exit__(self, *exc: Any) -> None:
        self._context.__enter__()


def _constant_enter(tensor: Tensor) -> Operation | None:
    """The Enter of the loop invariant that a tensor is, or None."""
    operation = tensor.op
    while operation._type in ("Switch", "RefSwitch", "Identity", "RefIdentity"):
        operation = operation._inputs[0].op
    return operation if contexts.is_constant_enter(operation) else None


def _shape_of_target(tensor: Tensor) -> Any:
    """The shape of a tensor, or of the variable behind a handle, as a tensor."""
    if tensor.dtype.base_dtype.name != "resource":
        return raw_ops.Shape(tensor)
    return raw_ops.VariableShape(tensor)


class LoopGradients:
    """All loops that the gradients of one call go through."""

    def __init__(self) -> None:
        self._states: dict[WhileContext, LoopGradient] = {}

    @staticmethod
    def of(between: list[Operation], members: set[Operation], colocate: bool) -> LoopGradients | None:
        """The state for the loops among `between`, or None where there are none.

        Both `between` and `members`, the same operations, grow by the other results of these loops.
        """
        found: LoopGradients | None = None
        for operation in between:
            if operation._type in contexts.EXIT and contexts.loop_of(operation) is not None:
                found = found or LoopGradients()
                scope = get_default_graph().colocate_with(operation) if colocate else nullcontext()
                with scope:
                    found._add(operation, between, members)
        return found

    def _add(self, exit_: Operation, between: list[Operation], members: set[Operation]) -> None:
        forward = contexts.loop_of(exit_)
        assert forward is not None
        if forward in self._states:
            return
        around = contexts.containing_loop(forward.outer_context)
        state = LoopGradient(forward, self._states.get(around) if around is not None else None)
        self._states[forward] = state
        for tensor in state.exits:
            if tensor.op not in members:
                members.add(tensor.op)
                between.append(tensor.op)

    def state_of(self, operation: Operation, before: bool) -> LoopGradient | None:
        """The state of the loop that an operation lies in.

        Args:
            operation: The operation.
            before: Whether an Exit counts as outside of its loop.
        """
        if before and operation._type in contexts.EXIT:
            loop = contexts.containing_loop(contexts.output_context(operation))
        else:
            loop = contexts.loop_of(operation)
        return self._states.get(loop) if loop is not None else None

    def inside(self, operation: Operation, before: bool) -> Any:
        """The block in which the gradient of an operation is built."""
        state = self.state_of(operation, before)
        return nullcontext() if state is None else state.grad_context

    def start(
        self, pending: dict[Operation, int], ys: Iterable[Operation], between: set[Operation]
    ) -> list[Tensor]:
        """Results of loops that nothing depends on, but whose gradients must enter as zeros.

        The Enters of all loop variables join `between`: each gradient of a loop variable leaves its loop, so
        that
        the loop of gradients has a way back for gradients of its own.
        """
        found: list[Tensor] = []
        ys = set(ys)
        for state in self._states.values():
            for tensor in state.exits:
                if not pending.get(tensor.op):
                    state.waiting_exits -= 1
                    if tensor.op not in ys:
                        state.unused_exits.append(tensor)
                    if not state.waiting_exits:
                        found.extend(state.unused_exits)
            for tensor in state.forward_context.loop_enters:
                if not pending.get(tensor.op):
                    pending[tensor.op] = 1
                    between.add(tensor.op)
        return found

    def zeros_for_exit(self, value: Tensor) -> Any:
        """Zeros as the gradient of a result of a loop that nothing depends on."""
        shape = value.get_shape()
        forward = value.op._control_flow_context
        around = contexts.containing_loop(forward.outer_context)
        outer = self._states.get(around) if around is not None else None
        if outer is None:
            if shape.is_fully_defined():
                return zeros(shape, value.dtype)
            return zeros_like(value, optimize=False)
        if shape.is_fully_defined():
            with outer.grad_context:
                return zeros(shape, value.dtype)
        with forward.outer_context:
            sizes = raw_ops.Shape(value)
        stack = outer.push_history(sizes)
        with outer.grad_context:
            return zeros(outer.pop_history(stack, sizes), value.dtype)

    def zeros_like(self, operation: Operation, index: int) -> Any:
        """Zeros as the gradient of an output that nothing depends on; None for a loop variable's Switch."""
        if contexts.is_loop_switch(operation):
            return None
        dead = operation._type in contexts.SWITCH
        forward = contexts.loop_of(operation)
        state = self._states.get(forward) if forward is not None else None
        if state is None:
            return zeros_outside_loop(operation, index)
        context: Any = operation._control_flow_context
        value = operation.output(index)
        shape = value.get_shape()
        if shape.is_fully_defined():
            zero = np.zeros((), value.dtype.base_dtype.np)
            result: Tensor = constant(zero, shape=shape.as_list())
            if dead:
                pred = state.kept.get(context.pred.name)
                result = control_nodes.switch_of(result, pred)[1 - context.branch]
            return result
        if dead:
            with context.outer_context:
                value = control_nodes.switch_of(operation.inputs[0], context.pred)[1 - context.branch]
                sizes = raw_ops.Shape(value)
            value.op._control_flow_context = context
            sizes.op._control_flow_context = context
        else:
            with context:
                sizes = raw_ops.Shape(value)
        with _Left(state.grad_context):
            stack = state.push_history(sizes, dead_branch=dead)
        return zeros(state.pop_history(stack, sizes, dead_branch=dead), value.dtype)

    def finish(self) -> None:
        """Closes the loops of gradients of variables whose next value does not depend on them."""
        for state in self._states.values():
            for merge in state.merges.values():
                start, following = merge.op._inputs
                if start is not following:
                    continue
                shape = start.get_shape()
                if shape.is_fully_defined():
                    with state.grad_context:
                        zero = np.zeros((), start.dtype.base_dtype.np)
                        value = constant(zero, shape=shape.as_list())
                        following = control_nodes.next_iteration_of(value)
                else:
                    with _around(state.grad_context.outer_context):
                        value = zeros(raw_ops.Shape(start.op._inputs[0]), start.dtype)
                    with state.grad_context:
                        following = control_nodes.next_iteration_of(value)
                control_nodes.close_back_edge(merge, following)


def zeros_outside_loop(operation: Operation, index: int) -> Any:
    """Zeros as the gradient of an output that nothing depends on; of a Switch, on the untaken branch."""
    value = operation.output(index)
    is_handle = value.dtype.base_dtype.name == "resource"
    context = operation._control_flow_context
    if operation._type not in contexts.SWITCH or not isinstance(context, CondContext):
        return zeros_of_handle(value) if is_handle else zeros_like(value, optimize=False)
    other = control_nodes.switch_of(operation.inputs[0], context.pred)[1 - context.branch]
    pivot = raw_ops.Identity(other)
    graph = value.graph
    if is_handle:
        with graph.control_dependencies([pivot]):
            return zeros_of_handle(other)
    sizes = raw_ops.Shape(other)
    with graph.control_dependencies([pivot]):
        return zeros(sizes, value.dtype)


def zeros_of_handle(handle: Tensor) -> Any:
    """Zeros of the shape and dtype of the variable behind a resource handle."""
    source = handle
    while source.op.inputs and not source.op.has_attr("dtype"):
        source = source.op.inputs[0]
    dtype = source.op.get_attr("dtype")
    return zeros(raw_ops.VariableShape(handle), dtype)
