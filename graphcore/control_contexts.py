"""Control flow contexts: which branch of a conditional or which loop an operation was made in.

An operation that is made inside a context takes what comes from outside through the context's own
nodes: a Switch for a branch of `tf.cond`, an Enter for a loop of `tf.while_loop`. Gradients ask the
context of an operation which loop or branch its values belong to.

Source: tensorflow/python/ops/control_flow_ops.py and control_flow_util.py (r1.15), behaviour only;
the files' form of a context is tensorflow/core/protobuf/control_flow.proto.
"""

from __future__ import annotations

from typing import Any

from ..formats import protos
from .control_nodes import exit_of, merge_of, set_shape_to, switch_of
from .default import get_default_graph
from .errors import InvalidValueError
from .op import raw_ops
from .operation import Operation, Tensor

ENTER = frozenset({"Enter", "RefEnter"})
EXIT = frozenset({"Exit", "RefExit"})
SWITCH = frozenset({"Switch", "RefSwitch"})
MERGE = frozenset({"Merge", "RefMerge"})
_SHAPES_OF = frozenset({"Shape", "Size", "Rank"})


class ControlFlowContext:
    """What the contexts have in common.

    Attributes:
        name: The context's name, with scopes; a loop's is also its frame name.
        outer_context: The context around this one, or None.
        nested_contexts: The contexts made directly inside this one.
        values: Names of the tensors that this context has seen, its own ones and outside ones.
        external_values: For names of outside tensors, what stands for them inside.
    """

    def __init__(self, name: str) -> None:
        self.graph = get_default_graph()
        self.name = name
        self.outer_context: ControlFlowContext | None = self.graph._scopes.control_flow_context
        self.nested_contexts: list[ControlFlowContext] = []
        if self.outer_context is not None:
            self.outer_context.nested_contexts.append(self)
        self.values: set[str] = set()
        self.external_values: dict[str, Tensor] = {}
        self._entered: list[Any] = []

    def __enter__(self) -> Any:
        scopes = self.graph._scopes
        self._entered.append(scopes.control_flow_context)
        scopes.control_flow_context = self
        return self

    def __exit__(self, *exc: Any) -> None:
        self.graph._scopes.control_flow_context = self._entered.pop()

    # What kind of context it is, and where it lies

    @property
    def is_loop(self) -> bool:
        """Whether this is a while loop."""
        return isinstance(self, WhileContext)

    @property
    def loop(self) -> WhileContext | None:
        """The innermost loop that this context is or lies in."""
        return containing_loop(self)

    @property
    def grad_state(self) -> Any:
        """The gradient's side of a loop of gradients that this is or lies in, or None."""
        loop = self.loop
        return loop.loop_grad_state if loop is not None else None

    @property
    def back_prop(self) -> bool:
        """Whether gradients may go through the loop that this is or lies in."""
        loop = self.loop
        return loop.allows_gradients if loop is not None else False

    @property
    def control_pivot(self) -> Tensor | None:
        """The tensor that is alive when what is inside runs."""
        return None

    def __str__(self) -> str:
        return self.name

    # Building

    def check_use(self, operation: Operation, source: Operation) -> None:
        """Checks that `operation` may take what `source`, made in this context, gives.

        Raises:
            ValueError: `source` lies in a loop that `operation` does not lie in.
        """
        _check_use(operation, source)

    def add_value(self, tensor: Tensor) -> Tensor:
        """What stands for `tensor` inside this context.

        Args:
            tensor: A tensor of this context or of one around it.
        """
        raise NotImplementedError

    def add_op(self, operation: Operation) -> None:
        """Takes in an operation that was made in this context."""
        raise NotImplementedError

    def exit_result(self, tensors: list[Tensor]) -> None:
        """Makes results known in the context around."""
        if self.outer_context is not None:
            self.outer_context.values.update(tensor.name for tensor in tensors)

    def _drop_outside_edges(self, operation: Operation) -> tuple[list[Operation], list[Operation]]:
        """Takes control inputs from other loops off; gives those that stay and those that went."""
        loop = self.loop
        if loop is None or not operation._control_inputs:
            return operation._control_inputs, []
        inside: list[Operation] = []
        outside: list[Operation] = []
        for source in operation._control_inputs:
            context = output_context(source)
            same = context is not None and context.loop is loop
            (inside if same else outside).append(source)
        if outside:
            operation._control_inputs = inside
        return inside, outside

    def _seen_by_all(self, names: list[str]) -> None:
        context: ControlFlowContext | None = self
        while context is not None:
            context.values.update(names)
            context = context.outer_context

    # Files

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The context's message, or None where it lies outside `export_scope`."""
        raise NotImplementedError

    def _fill_values(self, definition: Any, strip: Any) -> None:
        values = definition.values_def
        values.values.extend(sorted(strip(name) for name in self.values))
        for name, tensor in self.external_values.items():
            values.external_values[strip(name)] = strip(tensor.name)
        for nested in self.nested_contexts:
            part = definition.nested_contexts.add()
            kind = part.while_ctxt if nested.is_loop else part.cond_ctxt
            kind.CopyFrom(nested.to_proto(strip.scope))


class CondContext(ControlFlowContext):
    """One branch of a conditional.

    Attributes:
        pred: The boolean tensor.
        pivot: The tensor that is alive when this branch is taken.
        branch: 1 for the true branch, 0 for the false one.
    """

    def __init__(self, pred: Tensor, pivot: Tensor, branch: int, name: str = "cond_text") -> None:
        super().__init__(get_default_graph().unique_name(name))
        self.pred = pred
        self.pivot = pivot
        self.branch = branch
        self.values.update((pred.name, pivot.name))
        self.external_values[pred.name] = pred
        pivot.op._control_flow_context = self

    @property
    def control_pivot(self) -> Tensor | None:
        """The tensor that is alive when this branch is taken."""
        return self.pivot

    def add_value(self, tensor: Tensor) -> Tensor:
        """The Switch output that stands for an outside `tensor` in this branch."""
        name = tensor.name
        if name in self.values:
            return self.external_values.get(name, tensor)
        self.values.add(name)
        source = tensor
        if self.outer_context is not None:
            source = self.outer_context.add_value(tensor)
            self.values.add(source.name)
            self.external_values[source.name] = source
        with self.graph.control_dependencies(None):
            result: Tensor = switch_of(source, self.pred)[self.branch]
        self.graph.prevent_fetching(result.op)
        result.op._control_flow_context = self
        self._seen_by_all([result.name])
        self.external_values[name] = result
        return result

    def add_op(self, operation: Operation) -> None:
        """Takes in an operation that was made in this branch."""
        if not operation._inputs:
            self._drop_outside_edges(operation)
            if not any(is_inside(source, self) for source in operation._control_inputs):
                operation._control_inputs.append(self.pivot.op)
        else:
            for index, tensor in enumerate(operation._inputs):
                back_edge = operation._type == "Merge" and tensor.op._type == "NextIteration"
                inside = tensor if back_edge else self.add_value(tensor)
                if inside is not tensor:
                    self.graph._redirect_new_input(operation, index, inside)
            self._drop_outside_edges(operation)
        self._seen_by_all([tensor.name for tensor in operation.outputs])
        if self.outer_context is not None or operation._type not in EXIT:
            self.graph.prevent_fetching(operation)

    def result(self, tensor: Tensor) -> Tensor:
        """What the branch gives for a result that may come from outside of it."""
        if tensor.name in self.values:
            return self.external_values.get(tensor.name, tensor)
        name = tensor.name
        self.values.add(name)
        if self.outer_context is not None:
            tensor = self.outer_context.add_value(tensor)
            self.values.add(tensor.name)
            self.external_values[tensor.name] = tensor
        inside: Tensor = switch_of(tensor, self.pred)[self.branch]
        self.external_values[name] = inside
        return inside

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The CondContextDef, or None where it lies outside `export_scope`."""
        strip = _Strip(export_scope)
        if not strip.covers(self.name):
            return None
        definition = protos.CondContextDef(
            context_name=strip(self.name),
            pred_name=strip(self.pred.name),
            pivot_name=strip(self.pivot.name),
            branch=self.branch,
        )
        self._fill_values(definition, strip)
        return definition


class WhileContext(ControlFlowContext):
    """A while loop.

    Attributes:
        maximum_iterations: A scalar tensor, or None.
        parallel_iterations: How many iterations TensorFlow runs at a time.
        allows_gradients: Whether gradients may go through it.
        swap_memory: Whether TensorFlow moves what gradients need between devices.
        pivot: The output of its LoopCond.
        pivot_for_pred: The first loop variable as the condition sees it.
        pivot_for_body: The first loop variable as the body sees it.
        loop_enters: The Enter outputs of the loop variables.
        loop_exits: The Exit outputs, the loop's results.
        loop_grad_state: For a loop of gradients, what it shares with its forward loop.
    """

    def __init__(
        self,
        maximum_iterations: Tensor | None = None,
        parallel_iterations: int = 10,
        back_prop: bool = True,
        swap_memory: bool = False,
        name: str = "while_context",
        grad_state: Any = None,
    ) -> None:
        if not isinstance(parallel_iterations, int) or parallel_iterations <= 0:
            raise InvalidValueError(
                f"`parallel_iterations` must be a positive integer: {parallel_iterations}"
            )
        super().__init__(get_default_graph().unique_name(name))
        self.maximum_iterations = maximum_iterations
        self.parallel_iterations = parallel_iterations
        self.allows_gradients = back_prop
        self.swap_memory = swap_memory
        self.loop_grad_state = grad_state
        self.pivot: Any = None
        self.pivot_for_pred: Any = None
        self.pivot_for_body: Any = None
        self.loop_enters: list[Tensor] = []
        self.loop_exits: list[Tensor] = []

    @property
    def control_pivot(self) -> Tensor | None:
        """The tensor that is alive in each iteration."""
        pivot: Tensor | None = self.pivot_for_body if self.pivot_for_body is not None else self.pivot_for_pred
        return pivot

    # Nodes of a loop

    def enter(
        self, tensor: Tensor, is_constant: bool = False, name: str | None = None, shape: Any = ...
    ) -> Tensor:
        """An Enter of this loop's frame, made in the current context.

        Args:
            tensor: What enters.
            is_constant: Whether it is the same in all iterations.
            name: The node's name.
            shape: The static shape of a loop variable; by default the input's.
        """
        kind = raw_ops.RefEnter if tensor.dtype._is_ref_dtype else raw_ops.Enter
        result: Tensor = kind(
            tensor,
            frame_name=self.name,
            is_constant=is_constant,
            parallel_iterations=self.parallel_iterations,
            name=name,
        )
        if shape is not ...:
            set_shape_to(result, shape)
        return result

    def add_variable(
        self, initial: Tensor, name: str, merge_name: str | None = None, shape: Any = ...
    ) -> Tensor:
        """The Merge of one more loop variable of a loop that is built already; see `close_back_edge`."""
        self.values.add(initial.name)
        entered = self.enter(initial, name=name, shape=shape)
        self.loop_enters.append(entered)
        return merge_of(entered, merge_name)

    def exit(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """The Exit of a loop variable, as the false side of its Switch gives it."""
        result: Tensor = exit_of(tensor, name)
        self.loop_exits.append(result)
        return result

    # Building

    def add_value(self, tensor: Tensor) -> Tensor:
        """The Enter, or in a loop of gradients the kept value, that stands for an outside `tensor`."""
        name = tensor.name
        if name in self.values or tensor.op._control_flow_context is self:
            return self.external_values.get(name, tensor)
        self.values.add(name)
        kept = self._kept_value(tensor)
        if kept is not None:
            self.external_values[name] = kept
            return kept
        result = tensor
        if self.outer_context is not None:
            result = self.outer_context.add_value(tensor)
        with self.graph.control_dependencies(None):
            entered = self.enter(result, is_constant=True)
            self.graph.prevent_feeding(entered)
        self.adopt_enters([entered])
        self.values.add(entered.name)
        self.external_values[name] = entered
        return entered

    def _kept_value(self, tensor: Tensor) -> Tensor | None:
        """In a loop of gradients, the value that `tensor` had in the same iteration of the forward loop."""
        current = self.graph._scopes.control_flow_context
        current = current.loop if current is not None else None
        state = current.grad_state if current is not None else None
        if state is None:
            return None
        context = output_context(tensor.op)
        if context is None or context.loop is not state.forward_context:
            return None
        kept: Tensor = state.real_value(tensor)
        return kept

    def add_op(self, operation: Operation) -> None:
        """Takes in an operation that was made in this loop."""
        if operation._type in _SHAPES_OF:
            # In a loop of gradients a shape is taken in the forward loop, so that only it is kept.
            current = self.graph._scopes.control_flow_context
            current = current.loop if current is not None else None
            state = current.grad_state if current is not None else None
            if state is not None:
                source = operation._inputs[0].op._control_flow_context
                if source is not None and source.loop is state.forward_context:
                    operation._control_flow_context = source
                    if source.is_loop:
                        source._add_op(operation)
                    else:
                        source.add_op(operation)
                    return
        self._add_op(operation)

    def _add_op(self, operation: Operation) -> None:
        if not operation._inputs:
            inside, outside = self._drop_outside_edges(operation)
            if not inside:
                assert self.control_pivot is not None
                operation._control_inputs.append(self.control_pivot.op)
        else:
            for index, tensor in enumerate(operation._inputs):
                real = self.add_value(tensor)
                if real is not tensor:
                    self.graph._redirect_new_input(operation, index, real)
            _, outside = self._drop_outside_edges(operation)
            if not operation._control_inputs and all(
                is_constant_enter(tensor.op) for tensor in operation._inputs
            ):
                # What depends on loop invariants only must still run once in each iteration.
                assert self.control_pivot is not None
                operation._control_inputs.append(self.control_pivot.op)
        self.values.update(tensor.name for tensor in operation.outputs)
        if outside:
            with self.graph.control_dependencies(None), self:
                held = [raw_ops.Identity(source.output(0)).op for source in outside if source.num_outputs]
            operation._control_inputs.extend(held)
        if self.outer_context is not None or operation._type not in EXIT:
            self.graph.prevent_fetching(operation)
            for tensor in operation.outputs:
                self.graph.prevent_feeding(tensor)

    def adopt_enters(self, enters: list[Tensor]) -> None:
        """Puts Enters that were made outside into this loop, with the control inputs that apply there."""
        around = self.outer_context.loop if self.outer_context is not None else None
        for entered in enters:
            kept = []
            for source in self.graph._control_inputs_for([entered.op._inputs[0]]):
                context, found = self.outer_context, output_context(source)
                while context is not found and context is not None and context is not around:
                    context = context.outer_context
                if context is found:
                    kept.append(source)
            entered.op._control_flow_context = self
            entered.op._control_inputs.extend(op for op in kept if op not in entered.op._control_inputs)
            for block in self.graph._scopes.control:
                block.made.add(entered.op)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The WhileContextDef, or None where it lies outside `export_scope`."""
        strip = _Strip(export_scope)
        if not strip.covers(self.name):
            return None
        definition = protos.WhileContextDef(
            context_name=strip(self.name),
            parallel_iterations=self.parallel_iterations,
            back_prop=self.allows_gradients,
            swap_memory=self.swap_memory,
            pivot_name=strip(self.pivot.name),
            pivot_for_pred_name=strip(self.pivot_for_pred.name),
            pivot_for_body_name=strip(self.pivot_for_body.name),
            loop_exit_names=[strip(tensor.name) for tensor in self.loop_exits],
            loop_enter_names=[strip(tensor.name) for tensor in self.loop_enters],
        )
        if self.maximum_iterations is not None:
            definition.maximum_iterations_name = strip(self.maximum_iterations.name)
        self._fill_values(definition, strip)
        return definition


# Reading contexts back


class _Strip:
    """Takes an export scope off names."""

    def __init__(self, scope: str | None) -> None:
        self.scope = scope
        self._prefix = f"{scope}/" if scope else ""

    def covers(self, name: str) -> bool:
        """Whether `name` lies in the scope."""
        return name.startswith(self._prefix)

    def __call__(self, name: str) -> str:
        return name.removeprefix(self._prefix)


# Questions about contexts


def containing_loop(context: ControlFlowContext | None) -> WhileContext | None:
    """The innermost loop that `context` is or lies in."""
    while context is not None and not isinstance(context, WhileContext):
        context = context.outer_context
    return context


def output_context(operation: Operation) -> Any:
    """The context that the results of an operation are in: an Exit's is the one around its loop."""
    context = operation._control_flow_context
    if context is not None and operation._type in EXIT:
        context = context.outer_context
    return context


def loop_of(operation: Operation) -> WhileContext | None:
    """The innermost loop that an operation was made in."""
    return containing_loop(operation._control_flow_context)


def is_inside(operation: Operation, context: ControlFlowContext) -> bool:
    """Whether an operation was made in `context` or one inside it."""
    found = operation._control_flow_context
    while found is not None and found is not context:
        found = found.outer_context
    return found is context


def _contains(outer: Any, inner: Any) -> bool:
    """Whether `outer` (None: the graph) is `inner` or around it."""
    while inner is not outer:
        if inner is None:
            return False
        inner = inner.outer_context
    return True


def is_constant_enter(operation: Operation) -> bool:
    """Whether an operation brings a loop invariant in."""
    return operation._type in ENTER and bool(operation.attr("is_constant"))


def is_loop_switch(operation: Operation) -> bool:
    """Whether an operation is the Switch of a loop variable."""
    if operation._type not in SWITCH:
        return False
    context = operation._control_flow_context
    return context is not None and context.is_loop and not _is_cond_switch(operation)


def _is_cond_switch(operation: Operation) -> bool:
    for output in operation.outputs:
        for consumer in output.consumers():
            context = consumer._control_flow_context
            if consumer._type in ENTER and context is not None:
                context = context.outer_context
            if context is None or context.is_loop:
                return False
    return True


def _check_use(operation: Operation, source: Operation) -> None:
    """Checks that an operation may take what `source` gives.

    Raises:
        ValueError: `source` lies in a loop that `operation` does not lie in.
    """
    source_loop = containing_loop(output_context(source))
    if source_loop is None or operation._type in ENTER or operation._type in SWITCH:
        return
    loop = loop_of(operation)
    if loop is not None:
        states = (loop.loop_grad_state, source_loop.loop_grad_state)
        if _contains(source_loop, loop):
            return
        if states[0] is not None:
            forward = states[0].forward_context
            if _contains(source_loop, forward) or forward is containing_loop(source_loop.outer_context):
                return
        if states[1] is not None:
            forward = states[1].forward_context
            again = forward.loop_grad_state
            if forward is loop or (again is not None and again.forward_context is loop):
                return
        reason = "they are in different while loops."
    else:
        reason = f"'{source.name}' is in a while loop."
    raise InvalidValueError(f"Cannot use '{source.name}' as input to '{operation.name}' because {reason}")
