"""What the passes work on: the nodes of one plan in order, what is known of their tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import shape_inference
from ..operation import Operation, Tensor
from ..resources import SessionState
from ..shapes import Shape


@dataclass(frozen=True)
class Options:
    """Which passes run; every one may be off without changing a result.

    Attributes:
        fold: Evaluate constant subgraphs when compiling.
        simplify: Drop identities and unused values, and share equal subexpressions.
        free: Forget values after their last use.
        reuse: Let element-wise kernels write into a dead input's buffer.
        fuse: Finish the blocks of large results with the element-wise nodes that follow, while in the cache.
        winograd: Convolve 3x3 windows by Winograd's algorithm where the filters stay as they are.
        specialize: Let ops choose a callable for the static shapes.
        max_fold_bytes: Largest constant that folding may make, in bytes.
    """

    fold: bool = True
    simplify: bool = True
    free: bool = True
    reuse: bool = True
    fuse: bool = True
    winograd: bool = True
    specialize: bool = True
    max_fold_bytes: int = 10_000_000


@dataclass
class Node:
    """One operation of a plan, with its inputs as the passes have replaced them."""

    operation: Operation
    inputs: list[Tensor]
    control: list[Operation]
    may_be_dead: bool = False
    loop: Any = None  # a while loop (loops.Loop) that runs as this one node; `operation` is its LoopCond
    chain: Any = None  # nodes that run as this one (fuse.Chain); `operation` is the last of them

    @property
    def is_pure(self) -> bool:
        """Whether the op is pure and nothing orders the node beyond its inputs."""
        kind = self.operation.kind
        return kind is not None and kind.is_pure and not self.control and self.loop is None

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that it gives."""
        if self.loop is not None:
            return [operation.output(0) for operation in self.loop.exits]
        return self.operation.outputs


@dataclass
class Draft:
    """A plan in the making.

    Attributes:
        fetches: What to compute; tensors and operations.
        feeds: Fed tensors with their shapes.
        nodes: The nodes by operation, in the order of running once `order` has run.
        constants: Values known when compiling.
        shapes: Static shapes under the fed shapes.
        replaced: Tensors that stand for another one now.
        owners: Operations that run as part of another one's node (Exits of a while loop).
        feeds_may_be_refs: Whether feeds of a reference dtype carry references (inside loops).
        within: Inside a loop, the operations that an iteration runs; a control edge from any other one,
            such as the Merges and Switches that the loop itself stands for, is met already.
    """

    graph: Any
    fetches: list[Tensor | Operation]
    feeds: dict[Tensor, Shape]
    state: SessionState
    options: Options
    nodes: dict[Operation, Node] = field(default_factory=dict)
    constants: dict[Tensor, np.ndarray] = field(default_factory=dict)
    shapes: dict[Tensor, Shape] = field(default_factory=dict)
    replaced: dict[Tensor, Tensor] = field(default_factory=dict)
    owners: dict[Operation, Operation] = field(default_factory=dict)
    feeds_may_be_refs: bool = False
    within: set[Operation] | None = None

    def source(self, tensor: Tensor) -> Operation:
        """The operation whose node gives `tensor`: for a loop's Exit, the loop's."""
        return self.owners.get(tensor.op, tensor.op)

    def sources(self, node: Node) -> list[Operation]:
        """The operations whose nodes must have run before `node`."""
        found = [self.source(tensor) for tensor in node.inputs if tensor not in self.feeds]
        return found + [self.owners.get(operation, operation) for operation in node.control]

    def resolve(self, tensor: Tensor) -> Tensor:
        """The tensor that stands for `tensor` now."""
        while tensor in self.replaced:
            tensor = self.replaced[tensor]
        return tensor

    # The environment that shape rules ask (see shape_inference).

    def shape(self, tensor: Tensor) -> Shape:
        """The static shape of `tensor` in this plan."""
        tensor = self.resolve(tensor)
        return self.shapes.get(tensor)

    def value(self, tensor: Tensor, depth: int = 0) -> np.ndarray | None:
        """The constant value of `tensor` in this plan, or None."""
        return self.constants.get(self.resolve(tensor))


class NodeView(shape_inference.ShapeContext):
    """What an op's specializer sees: the shape context, plus how the plain kernel is made."""

    def kernel(self) -> Callable[..., Any]:
        """The unspecialized callable."""
        kind = self.node.kind
        assert kind is not None
        return kind.bind(self.node)
