"""From a settled draft to ONNX's nodes: each operation by its translation, branches and loops as blocks."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, MutableMapping, Sequence
from typing import Any

import numpy as np

from .. import functions
from ..absent_ops import why
from ..compiler.draft import Draft, Node, Options
from ..errors import OpError
from ..operation import Operation, Tensor
from ..resources import SessionState
from ..shapes import Shape
from . import branches as branching
from .blocks import Block, Builder, Inexpressible, Port, dtype_number
from .branches import NOWHERE, Branches, Guard
from .table import TRANSLATIONS, Absent, Call

HANDLES = frozenset({"resource", "variant"})


class Problems:
    """What cannot be expressed: rows of a node's name, its op and the reason."""

    def __init__(self) -> None:
        self.rows: list[dict[str, str]] = []
        self._seen: set[str] = set()

    def add(self, operation: Operation, where: str, reason: str) -> None:
        """Adds a row for an operation, once."""
        name = f"{where}{operation.name}"
        if name not in self._seen:
            self._seen.add(name)
            self.rows.append({"name": name, "op": operation.type, "reason": reason})


class Scope:
    """The translation of one draft into one block and those inside it.

    Attributes:
        make: Makes the nodes.
        draft: What is translated.
        values: The name of each tensor that is translated (or the array of tensors that it stands for).
    """

    def __init__(
        self,
        make: Builder,
        draft: Draft,
        branches: Branches,
        problems: Problems,
        where: str = "",
        values: MutableMapping[Tensor, Any] | None = None,
    ) -> None:
        self.make = make
        self.draft = draft
        self.branches = branches
        self.problems = problems
        self.where = where
        self.values: ChainMap[Tensor, Any] = ChainMap(values if values is not None else {})
        self.done: ChainMap[Operation, bool] = ChainMap()

    def get(self, tensor: Tensor) -> Any:
        """The name of a tensor, or the array of tensors that it stands for."""
        tensor = self.draft.resolve(tensor)
        if tensor in self.draft.constants:
            value = self.draft.constants[tensor]
            return self.make.const(value, wish=f"{self.where}{tensor.op.name}" if value.nbytes > 1024 else "")
        return self.values[tensor]

    def run(self) -> list[Any]:
        """Translates all of the draft; gives what stands for its fetches."""
        self._walk(self.draft.nodes.items(), NOWHERE)
        return [self.get(tensor) for tensor in self.draft.fetches if isinstance(tensor, Tensor)]

    def _walk(self, nodes: Iterable[tuple[Operation, Node]], assumed: Guard) -> None:
        for operation, node in nodes:
            if operation in self.done or not self.branches.guards[operation] <= assumed:
                continue
            before, self.make.scope = self.make.scope, f"{self.where}{operation.name}"
            try:
                self._translate(operation, node, assumed)
            except Inexpressible as error:
                self.problems.add(error.operation or operation, self.where, str(error))
                for tensor in node.outputs:
                    self.values.setdefault(tensor, f"?{tensor.name}")
            self.make.scope = before
            self.done[operation] = True

    def _translate(self, operation: Operation, node: Node, assumed: Guard) -> None:
        if node.loop is not None:
            from .control import while_loop

            while_loop(self, operation, node)
        elif operation.type in ("Merge", "RefMerge"):
            self._branch(operation, assumed)
        elif operation.type in ("Switch", "RefSwitch"):
            for tensor in operation.outputs:
                self.values[tensor] = self.get(node.inputs[0])
        else:
            translation = TRANSLATIONS.get(operation.type)
            if translation is None and operation.kind is None:
                raise Inexpressible(_reason(operation))
            for tensor in [*node.inputs, *operation.outputs]:
                if tensor.dtype.base_dtype.name not in HANDLES:
                    dtype_number(tensor.dtype.np)
            if translation is None:
                raise Inexpressible(_reason(operation))
            made = translation(Call(operation, node.inputs, self))
            self._give(operation, made)

    def _give(self, operation: Operation, made: Any) -> None:
        results = list(made) if isinstance(made, (list, tuple)) else [made]
        for index, value in enumerate(results):
            self.values[operation.output(index)] = value
        for index in range(len(results), operation.num_outputs):
            self.values[operation.output(index)] = Absent(operation.output(index))

    # Conditionals of TensorFlow 1

    def _branch(self, operation: Operation, assumed: Guard) -> None:
        """An If for a Merge, and for those that the same predicate decides and that can be had here."""
        if operation not in self.branches.chosen:
            raise Inexpressible("no single condition decides between its inputs")
        predicate = self.branches.chosen[operation][0]
        merges = [operation]
        reached = {side: self._reach([operation], side) for side in (True, False)}
        for other, chosen in self.branches.chosen.items():
            if other is operation or chosen[0] is not predicate or other not in self.draft.nodes:
                continue
            if other in self.done or not self.branches.guards[other] <= assumed:
                continue
            more = {side: self._reach([other], side) for side in (True, False)}
            if all(not self.branches.guards[one] <= assumed for part in more.values() for one in part):
                merges.append(other)
                for side, part in more.items():
                    reached[side] |= part
        condition = self.get(predicate)
        blocks = []
        for side in (True, False):
            tensors = [self.branches.chosen[merge][1 if side else 2] for merge in merges]
            nodes = [(one, node) for one, node in self.draft.nodes.items() if one in reached[side]]
            blocks.append(self._side(nodes, tensors, assumed | {(predicate, side)}))
        names = self.make.emit_many(
            "If", [condition], len(merges), then_branch=blocks[0], else_branch=blocks[1]
        )
        for merge, name in zip(merges, names):
            self.values[merge.output(0)] = name
            self.make.dtypes[name] = np.dtype(merge.output(0).dtype.np).name
            # which input it was
            first_if_true = self.branches.chosen[merge][1] is self._first(merge)
            index = self.make.emit(
                "Where",
                condition,
                self.make.const(np.int32(not first_if_true)),
                self.make.const(np.int32(first_if_true)),
            )
            self.values[merge.output(1)] = index
            self.done[merge] = True

    def _first(self, merge: Operation) -> Tensor:
        return self.draft.nodes[merge].inputs[0]

    def _reach(self, merges: Sequence[Operation], side: bool) -> set[Operation]:
        """What a side of some Merges needs that is not translated yet."""
        stack = [self.branches.chosen[merge][1 if side else 2] for merge in merges]
        found: set[Operation] = set()
        while stack:
            tensor = self.draft.resolve(stack.pop())
            source = self.draft.source(tensor)
            if tensor in self.draft.feeds or tensor in self.draft.constants:
                continue
            if source in found or source in self.done or source not in self.draft.nodes:
                continue
            found.add(source)
            stack += self.draft.nodes[source].inputs
            if source in self.branches.chosen:
                stack.append(self.branches.chosen[source][0])
        return found

    def _side(self, nodes: list[tuple[Operation, Node]], tensors: Sequence[Tensor], assumed: Guard) -> Block:
        block = Block()
        outer_values, outer_done = self.values, self.done
        self.values, self.done = self.values.new_child(), self.done.new_child()

        def fill() -> None:
            self._walk(nodes, assumed)
            for tensor in tensors:
                value = self.get(tensor)
                if not isinstance(value, str):
                    raise Inexpressible("a branch gives an array of tensors")
                block.outputs.append(Port(self.make.copied(value), tensor.dtype.np))

        try:
            self.make.inside(block, fill)
        finally:
            self.values, self.done = outer_values, outer_done
        return block

    # Functions

    def call(
        self, function: Any, arguments: Sequence[Any], shapes: Sequence[Shape], constants: Sequence[Any]
    ) -> list[Any]:
        """Translates a function of the graph's library into the block in hand.

        Args:
            function: The NameAttrList message.
            arguments: The names that its arguments have.
            shapes: Their static shapes.
            constants: Their values, None where they are not constant.
        """
        try:
            body = functions.build(self.draft.graph._functions, function)
        except OpError as error:
            raise Inexpressible(str(error)) from None
        feeds = dict(zip(body.inputs, shapes))
        draft = Draft(body.graph, list(body.outputs), feeds, SessionState(), Options())
        prepared = prepare(draft, constants)
        return self.inner(draft, prepared, arguments, f"{self.make.scope}/")

    def inner(self, draft: Draft, prepared: Branches, values: Sequence[Any], where: str) -> list[Any]:
        """Translates another draft, whose feeds have these values, into the block in hand."""
        given = dict(zip(draft.feeds, values))
        return Scope(self.make, draft, prepared, self.problems, where, given).run()


def prepare(draft: Draft, constants: Sequence[Any]) -> Branches:
    """Settles a draft some of whose feeds are constant (None: not)."""
    for tensor, value in zip(list(draft.feeds), constants):
        if value is not None:
            draft.constants[tensor] = value
            draft.feeds[tensor] = np.shape(value)
    return branching.settle(draft)


def _reason(operation: Operation) -> str:
    known = why(operation.type)
    if known:
        return known
    if operation.kind is None:
        return "no such op is known here"
    tensors = [*operation._inputs, *operation.outputs]
    if any(tensor.dtype.base_dtype.name == "string" for tensor in tensors):
        return "ONNX has no operators on strings"
    if operation.kind.definition.stateful:
        return "it depends on state, which an ONNX model has not"
    return "ONNX has no operators that compute it, as far as is known here"
