"""From ordered nodes to steps over slots: lifetimes, in-place reuse, guards for untaken branches."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from ..dead import DEAD
from ..operation import Operation, Tensor
from ..resources import Ref
from ..shapes import num_elements
from .draft import Draft, Node, NodeView
from .plan import Plan, Step
from .simplify import VARIABLES

# Below this many elements, allocating costs less than asking whether a buffer may be reused.
_MIN_REUSE_ELEMENTS = 4096
_MERGES = frozenset({"Merge", "RefMerge"})
_PRODUCTS = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "SparseMatMul"})
_SWITCHES = frozenset({"Switch", "RefSwitch"})


@dataclass
class _Draft:
    """A step before lifetimes are known."""

    operation: Operation
    function: Callable[..., Any]
    reads: list[int]
    writes: list[int]
    single: bool
    reuse: int = -1  # which of `reads` may give its buffer to the result


def run(draft: Draft) -> Plan:
    """Gives the plan."""
    return _Lowering(draft).plan()


class _Lowering:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.template: list[Any] = [None]
        self.slots: dict[Tensor | Operation, int] = {}
        self.computed: set[int] = set()
        self.steps: list[_Draft] = []
        self.has_products = False
        self.chains: dict[int, list[Operation]] = {}
        self.control_sources = {source for node in draft.nodes.values() for source in node.control}

    def new_slot(self, value: Any = None) -> int:
        self.template.append(value)
        return len(self.template) - 1

    def slot_of(self, tensor: Tensor) -> int:
        """The slot that holds `tensor`."""
        tensor = self.draft.resolve(tensor)
        if tensor not in self.slots:
            # Only constants have no node that would have made the slot.
            value = self.draft.constants[tensor]
            if value.flags.writeable:
                value = value.copy()
                value.flags.writeable = False
            self.slots[tensor] = self.new_slot(value)
        return self.slots[tensor]

    def plan(self) -> Plan:
        draft = self.draft
        for tensor in draft.feeds:
            self.slots[tensor] = self.new_slot()
        for node in draft.nodes.values():
            self.lower(node)
        fetch_slots = [self.slot_of(fetch) if isinstance(fetch, Tensor) else -1 for fetch in draft.fetches]
        return Plan(
            self.with_lifetimes(set(fetch_slots)),
            [step.operation for step in self.steps],
            self.template,
            [self.slots[tensor] for tensor in draft.feeds],
            fetch_slots,
            [fetch.name for fetch in draft.fetches],
            self.has_products,
            self.chains,
        )

    def lower(self, node: Node) -> None:
        operation, draft = node.operation, self.draft
        if node.loop is not None:
            self.lower_loop(node)
            return
        kind = operation.kind
        assert kind is not None
        if operation.type in VARIABLES and not node.may_be_dead:
            self.slots[operation.output(0)] = self.new_slot(VARIABLES[operation.type](draft.state, operation))
            return
        if operation.type in ("NoOp", "ControlTrigger") and not node.may_be_dead:
            return
        if node.chain is not None:
            self.lower_chain(node)
            return
        is_ref = self.ref_arguments(node)
        reads = [
            self.slot_of(tensor) if wants_ref else self.value_slot(tensor, operation)
            for tensor, wants_ref in zip(node.inputs, is_ref)
        ]
        single = kind.definition.fixed_outputs == 1
        function = self.function(node)
        self.has_products |= operation.type in _PRODUCTS and function is not np.matmul
        if kind.takes_ctx:
            reads.insert(0, 0)
        step = _Draft(operation, function, reads, self.output_slots(node), single)
        if node.may_be_dead:
            self.guard(node, step)
        elif draft.options.reuse and kind.elementwise and single:
            step.reuse = self.reusable(node)
        self.steps.append(step)

    def lower_loop(self, node: Node) -> None:
        """A while loop is one step: from what enters to what leaves."""
        reads = [0]
        for enter, tensor in zip(node.loop.enters, node.inputs):
            takes_ref = enter.type == "RefEnter"
            reads.append(self.slot_of(tensor) if takes_ref else self.value_slot(tensor, node.operation))
        self.has_products |= any(plan.has_products for plan in node.loop.plans)
        step = _Draft(node.operation, node.loop.run, reads, self.output_slots(node), False)
        if node.may_be_dead:
            self.guard(node, step)
        self.steps.append(step)

    def lower_chain(self, node: Node) -> None:
        """Nodes that were joined are one step."""
        reads = [self.value_slot(tensor, node.operation) for tensor in node.inputs]
        if node.chain.links:
            self.chains[len(self.steps)] = node.chain.operations
        step = _Draft(node.operation, node.chain.bind(), reads, self.output_slots(node)[:1], True)
        if self.draft.options.reuse and node.chain.root.kind.elementwise:
            position = self.reusable(node)
            step.reuse = position if position < node.chain.count else -1
        self.steps.append(step)

    def ref_arguments(self, node: Node) -> list[bool]:
        """For each flat input, whether the kernel takes the reference itself."""
        definition = node.operation.definition
        assert definition is not None
        flags: list[bool] = []
        for arg, size in zip(definition.inputs, definition.input_sizes(node.operation.attr)):
            flags.extend([arg.is_ref] * size)
        return flags

    def value_slot(self, tensor: Tensor, operation: Operation) -> int:
        """The slot of a value; a reference is read right before `operation`."""
        slot = self.slot_of(tensor)
        tensor = self.draft.resolve(tensor)
        is_fed = tensor in self.draft.feeds and not self.draft.feeds_may_be_refs
        if is_fed or not tensor.dtype._is_ref_dtype:
            return slot
        value = self.new_slot()
        self.computed.add(value)
        self.steps.append(_Draft(operation, _read, [slot], [value], True))
        return value

    def function(self, node: Node) -> Callable[..., Any]:
        operation, kind = node.operation, node.operation.kind
        assert kind is not None
        if kind.specialize_fn is not None and self.draft.options.specialize:
            special: Callable[..., Any] | None = kind.specialize_fn(NodeView(operation, self.draft))
            if special is not None:
                return special
        return kind.bind(operation)

    def output_slots(self, node: Node) -> list[int]:
        writes = []
        for tensor in node.outputs:
            slot = self.new_slot()
            self.computed.add(slot)
            if tensor not in self.draft.feeds:
                self.slots[tensor] = slot
            writes.append(slot)
        return writes

    def guard(self, node: Node, step: _Draft) -> None:
        """Makes a step pass DEAD on where an input, or the source of a control edge, is dead."""
        operation = node.operation
        count = len(step.reads)
        sources = [source for source in node.control if self.draft.nodes[source].may_be_dead]
        step.reads += [self.slots[source] for source in sources if source in self.slots]
        if not step.writes:
            slot = self.new_slot()
            self.computed.add(slot)
            step.writes, step.single = [slot], True
        self.slots[operation] = step.writes[0]
        dead: Any = DEAD if step.single else [DEAD] * len(step.writes)
        guard = _guard_merge if operation.type in _MERGES else _guard
        if operation.type in _SWITCHES and operation in self.control_sources:
            # What waits for a Switch waits for it to have run, on whichever side its data went.
            step.function = _and_done(step.function)
            self.slots[operation] = self.new_slot()
            self.computed.add(self.slots[operation])
            step.writes, dead = [*step.writes, self.slots[operation]], [*dead, DEAD]
        step.function = guard(step.function, count, dead)

    def reusable(self, node: Node) -> int:
        """Which input's buffer the result may take, by static shape and dtype; -1 for none."""
        result = node.operation.output(0)
        shape = self.draft.shape(result)
        size = num_elements(shape)
        if size is None or size < _MIN_REUSE_ELEMENTS:
            return -1
        for position, tensor in enumerate(node.inputs):
            same = tensor.dtype.np == result.dtype.np and self.draft.shape(tensor) == shape
            if (
                same
                and node.inputs.count(tensor) == 1
                and self.slots.get(self.draft.resolve(tensor)) in self.computed
            ):
                return position
        return -1

    def with_lifetimes(self, kept: set[int]) -> list[Step]:
        last: dict[int, int] = {}
        for index, step in enumerate(self.steps):
            for slot in step.reads + step.writes:
                last[slot] = index
        steps: list[Step] = []
        for index, step in enumerate(self.steps):
            dying = {
                slot
                for slot in step.reads + step.writes
                if last[slot] == index and slot in self.computed and slot not in kept
            }
            function = step.function
            if step.reuse >= 0 and step.reads[step.reuse] in dying:
                function = _reusing(function, step.reuse, len(step.reads))
            get: Any = None
            if len(step.reads) == 1:
                get = step.reads[0]
            elif step.reads:
                get = itemgetter(*step.reads)
            out = step.writes[0] if step.single and step.writes else -1
            outs = () if step.single else tuple(step.writes)
            dead = tuple(sorted(dying)) if self.draft.options.free else ()
            steps.append((function, len(step.reads), get, out, outs, dead))
        return steps


def _read(reference: Any) -> Any:
    # Handles of first-generation queues, tables and arrays are references, too: to themselves.
    return reference.read() if isinstance(reference, Ref) else reference


def _and_done(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: (*function(*values), None)


def _guard(function: Callable[..., Any], count: int, dead: Any) -> Callable[..., Any]:
    def guarded(*values: Any) -> Any:
        for value in values:
            if value is DEAD:
                return dead
        return function(*values[:count])

    return guarded


def _guard_merge(function: Callable[..., Any], count: int, dead: Any) -> Callable[..., Any]:
    def guarded(*values: Any) -> Any:
        if all(value is DEAD for value in values[:count]):
            return dead
        return function(*values[:count])

    return guarded


def _reusing(function: Callable[..., Any], position: int, arity: int) -> Callable[..., Any]:
    """`function` with `out=` the buffer of one input, where only its slot holds that array.

    Views, fed arrays, variables and fetched arrays are held by somebody else as well, which their
    reference count shows; then the result gets a buffer of its own.
    """
    sole = _SOLE_HOLDER[arity == 1]

    def reusing(*values: Any) -> Any:
        buffer = values[position]
        if type(buffer) is np.ndarray and buffer.base is None and sys.getrefcount(buffer) <= sole:
            return function(*values, out=buffer)
        return function(*values)

    return reusing


def _measure_sole_holder() -> tuple[int, int]:
    """What `sys.getrefcount` says in `reusing` for an array that only its slot holds.

    Called through the same code path as in a run, with several arguments and with one.
    """

    def same_path(*values: Any) -> int:
        buffer = values[0]
        return sys.getrefcount(buffer)

    slots: list[Any] = [np.zeros(1), np.zeros(1)]
    several = same_path(*itemgetter(0, 1)(slots))
    return several, same_path(slots[0])


_SOLE_HOLDER = _measure_sole_holder()
