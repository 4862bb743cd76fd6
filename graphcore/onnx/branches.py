"""Prepares a draft for translation: what decides between branches, and what is decided already.

A frozen graph has no effects, so that control edges say nothing but on which branch a node is. Each
operation gets its *guard*: the pairs (predicate, side) under which Switches let it run. A Switch whose
predicate is constant goes, with the branch that is never taken.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from .. import shape_inference
from ..compiler import fold, loops, order, prune, simplify
from ..compiler.draft import Draft, Node
from ..errors import UnimplementedError
from ..operation import Operation, Tensor

Guard = frozenset[tuple[Any, bool]]
NOWHERE: Guard = frozenset()
_SWITCH = frozenset({"Switch", "RefSwitch"})
_MERGE = frozenset({"Merge", "RefMerge"})
_DEAD = ("never", False)


class _Known(shape_inference.Environment):
    """What is constant on the graph, or was found constant by whoever feeds it."""

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self._draft = draft

    def value(self, tensor: Tensor, depth: int = 0) -> np.ndarray | None:
        if tensor in self._draft.constants:
            return self._draft.constants[tensor]
        return None if tensor in self._draft.feeds else super().value(tensor, depth)


class Branches:
    """The guards of a draft's operations, and what chooses between the inputs of its Merges."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.guards: dict[Operation, Guard] = {}
        self.chosen: dict[
            Operation, tuple[Tensor, Tensor, Tensor]
        ] = {}  # Merge: predicate, if true, if false
        self._known = _Known(draft)

    def guard(self, tensor: Tensor) -> Guard:
        """Under what a tensor has a value."""
        if tensor in self.draft.feeds:
            return NOWHERE
        around = self.guards.get(self.draft.source(tensor), NOWHERE)
        if tensor.op.type in _SWITCH:
            return around | {self._side(tensor)}
        return around

    def _side(self, tensor: Tensor) -> tuple[Any, bool]:
        predicate, side = self.draft.resolve(tensor.op._inputs[1]), tensor.value_index == 1
        while predicate.op.type == "Identity" and predicate not in self.draft.feeds:
            predicate = self.draft.resolve(predicate.op._inputs[0])  # tf.cond makes switches of both
        value = self._known.value(predicate)
        if value is None:
            return predicate, side
        return _DEAD if bool(value) != side else ("always", True)

    def settle(self) -> None:
        """Finds all guards, and replaces what constant predicates decide."""
        draft = self.draft
        for operation, node in draft.nodes.items():
            if operation.type in _SWITCH:
                for tensor in operation.outputs:
                    if self._side(tensor) == ("always", True):
                        draft.replaced[tensor] = node.inputs[0]
            inputs = [self.guard(tensor) - {("always", True)} for tensor in node.inputs]
            if operation.type in _MERGE and node.loop is None:
                self.guards[operation] = self._merge(operation, node, inputs)
                continue
            found = NOWHERE.union(*inputs)
            for source in node.control:
                found |= self.guards.get(draft.owners.get(source, source), NOWHERE)
            self.guards[operation] = found

    def _merge(self, operation: Operation, node: Node, inputs: list[Guard]) -> Guard:
        live = [index for index, guard in enumerate(inputs) if _DEAD not in guard]
        if len(live) == 1:
            self.draft.replaced[operation.output(0)] = node.inputs[live[0]]
            self.draft.constants[operation.output(1)] = np.array(live[0], np.int32)
            return inputs[live[0]]
        if len(inputs) == 2:
            for predicate, side in inputs[0]:
                if (predicate, not side) in inputs[1]:
                    pair = node.inputs if side else node.inputs[::-1]
                    self.chosen[operation] = (predicate, pair[0], pair[1])
                    return (inputs[0] - {(predicate, side)}) | (inputs[1] - {(predicate, not side)})
        return NOWHERE.union(*inputs) if len(live) else frozenset({_DEAD})


def settle(draft: Draft) -> Branches:
    """Runs the compiler's passes over a draft, so that its nodes are what is to translate, in order.

    Raises:
        UnimplementedError: A while loop is not the one that TensorFlow makes.
        InvalidArgumentError: The graph has a cycle.
    """
    with suppress(UnimplementedError):  # they are translated all the same, or named with all the others
        prune.run(draft)
    loops.contract(draft, lambda inner: inner)  # type: ignore[arg-type, return-value]
    order.run(draft)
    branches = Branches(draft)
    branches.settle()
    draft.fetches = [draft.resolve(one) if isinstance(one, Tensor) else one for one in draft.fetches]
    needed = set()
    known = {*draft.feeds, *draft.constants}
    stack = [draft.source(one) for one in draft.fetches if isinstance(one, Tensor) and one not in known]
    while stack:
        operation = stack.pop()
        if operation in needed or operation not in draft.nodes:
            continue
        needed.add(operation)
        node = draft.nodes[operation]
        node.inputs = [draft.resolve(tensor) for tensor in node.inputs]
        if operation in branches.chosen:
            # the predicate is no input of the Merge, and may be one of no node that is left
            stack.append(draft.source(branches.chosen[operation][0]))
        stack += [draft.source(tensor) for tensor in node.inputs if tensor not in known]
    for operation, node in list(draft.nodes.items()):
        if operation not in needed:
            del draft.nodes[operation]
            continue
        node.control = []
        node.may_be_dead = operation.type in _SWITCH | _MERGE
    predicates = [chosen[0] for operation, chosen in branches.chosen.items() if operation in needed]
    fetches, draft.fetches = draft.fetches, [*draft.fetches, *dict.fromkeys(predicates)]
    fold.run(draft)
    simplify.run(draft)
    draft.fetches = fetches
    return branches
