"""Moves transposes behind what does not mind them, until they meet and cancel.

In one pass from front to back each value that a Transpose gives is known as (value before it, permutation).
A node that works on such values in any order of axes is made to work on the values before; what it gives
is then such a value in turn. A Transpose is made anew only where somebody needs the order that it gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .blocks import Block, Builder, Node

_UNARY = frozenset((
    "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cast", "Ceil", "Cos", "Cosh", "Elu", "Erf",
    "Exp", "Floor", "Identity", "IsInf", "IsNaN", "LeakyRelu", "Log", "Neg", "Not", "Reciprocal", "Relu",
    "Round", "Selu", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "Clip",
))  # fmt: skip
_BROADCAST = frozenset((
    "Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "Mod", "Sum", "Where", "Less", "LessOrEqual", "Greater",
    "GreaterOrEqual", "Equal", "And", "Or", "Xor",
))  # fmt: skip
_REDUCE = frozenset((
    "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2",
))  # fmt: skip
_BY_AXIS = frozenset(("Softmax", "LogSoftmax", "Concat", "Split"))


def move(make: Builder) -> None:
    """Rewrites all blocks of a model in place."""
    _Mover(make).run(make.root)


class _Mover:
    def __init__(self, make: Builder) -> None:
        self.make = make
        self.before: dict[str, tuple[str, tuple[int, ...]]] = {}
        self.nodes: list[Node] = []
        self.shown: set[str] = set()  # names that a Transpose was made for

    def run(self, block: Block) -> None:
        outer = self.nodes, self.shown
        self.nodes, self.shown = [], set(self.shown)
        for node in block.nodes:
            self._node(node)
        for port in block.outputs:
            self._need(port.name)
        block.nodes = self.nodes
        self.nodes, self.shown = outer

    def _node(self, node: Node) -> None:
        if node.op == "Transpose":
            source, perm = node.inputs[0], tuple(node.attrs["perm"])
            if source in self.before:
                source, first = self.before[source]
                perm = tuple(first[axis] for axis in perm)
            self.before[node.outputs[0]] = (source, perm)
            return
        if not node.blocks and any(name in self.before for name in node.inputs) and self._moved(node):
            return
        for name in node.inputs:
            self._need(name)
        for inner in node.blocks:
            for name in inner.taken():
                self._need(name)
        for inner in node.blocks:
            self.run(inner)
        self.nodes.append(node)

    def _need(self, name: str) -> None:
        """Makes the Transpose (or Identity) that gives `name`, if none is made yet."""
        if name not in self.before or name in self.shown:
            return
        self.shown.add(name)
        source, perm = self.before[name]
        if perm == tuple(range(len(perm))):
            self._need(source)
            self.nodes.append(Node("Identity", [source], [name], {}))
        else:
            self.nodes.append(Node("Transpose", [source], [name], {"perm": list(perm)}))

    def _moved(self, node: Node) -> bool:
        """Lets a node work on the values before the transposes; whether that was possible."""
        perms = {self.before[name][1] for name in node.inputs if name in self.before}
        if len(perms) != 1:
            return False
        (perm,) = perms
        if all(axis == place for place, axis in enumerate(perm)):
            node.inputs = [self.before[name][0] if name in self.before else name for name in node.inputs]
            self._node(node)
            return True
        if node.op in _UNARY:
            return self._put(node, node.inputs, node.attrs, perm)
        if node.op in _BROADCAST:
            names = self._aligned(node.inputs, perm)
            return names is not None and self._put(node, names, node.attrs, perm)
        if node.op in _BY_AXIS:
            data = node.inputs if node.op == "Concat" else node.inputs[:1]
            if not all(name in self.before for name in data):
                return False
            axis = perm[node.attrs["axis"] % len(perm)]
            return self._put(node, node.inputs, {**node.attrs, "axis": axis}, perm)
        if node.op in _REDUCE:
            return self._reduce(node, perm)
        if node.op == "Pad" and len(node.inputs) < 4:
            return self._pad(node, perm)
        if node.op == "Slice" and len(node.inputs) > 3:
            return self._slice(node, perm)
        if node.op == "Squeeze" and len(node.inputs) == 2:
            return self._squeeze(node, perm)
        if node.op == "Shape" and not node.attrs:
            self.nodes.append(
                Node("Shape", [self.before[node.inputs[0]][0]], [inner := self.make.fresh()], {})
            )
            order = self.make.ints(*perm)
            self.nodes.append(Node("Gather", [inner, order], node.outputs, {"axis": 0}))
            return True
        return False

    def _put(
        self, node: Node, names: Sequence[str], attrs: dict[str, Any], perm: tuple[int, ...] | None
    ) -> bool:
        inputs = [self.before[name][0] if name in self.before else name for name in names]
        if perm is None or perm == tuple(range(len(perm))):
            self.nodes.append(Node(node.op, inputs, node.outputs, attrs))
            return True
        made = [self.make.fresh(f"{name}__before") for name in node.outputs]
        self.nodes.append(Node(node.op, inputs, made, attrs))
        for name, source in zip(node.outputs, made):
            self.before[name] = (source, perm)
        return True

    def _aligned(self, names: Sequence[str], perm: tuple[int, ...]) -> list[str] | None:
        """The inputs of a node that broadcasts; constants with their axes in the order before."""
        aligned = []
        for name in names:
            value = self.make.constants.get(name)
            if name in self.before:
                aligned.append(name)
            elif value is None or value.ndim > len(perm):
                return None
            elif value.ndim == 0:
                aligned.append(name)
            else:
                wide = value.reshape((1,) * (len(perm) - value.ndim) + value.shape)
                aligned.append(self.make.const(wide.transpose(np.argsort(perm)), wish=f"{name}__turned"))
        return aligned

    def _reduce(self, node: Node, perm: tuple[int, ...]) -> bool:
        axes = self.make.constants.get(node.inputs[1]) if len(node.inputs) > 1 else None
        if axes is None or node.inputs[0] not in self.before:
            return False
        along = {int(axis) % len(perm) for axis in axes}
        name = self.make.ints(*sorted(perm[axis] for axis in along))
        after: tuple[int, ...] = perm
        if not node.attrs.get("keepdims", 1):
            rest = [perm[axis] for axis in range(len(perm)) if axis not in along]
            ranks = {axis: rank for rank, axis in enumerate(sorted(rest))}
            after = tuple(ranks[axis] for axis in rest)
        return self._put(node, [node.inputs[0], name], node.attrs, after)

    def _pad(self, node: Node, perm: tuple[int, ...]) -> bool:
        pads = self.make.constants.get(node.inputs[1])
        if pads is None:
            return False
        order = np.argsort(perm)
        turned = pads.reshape(2, -1)[:, order].reshape(-1)
        names = [node.inputs[0], self.make.const(turned), *node.inputs[2:]]
        return self._put(node, names, node.attrs, perm)

    def _slice(self, node: Node, perm: tuple[int, ...]) -> bool:
        axes = self.make.constants.get(node.inputs[3])
        if axes is None or node.inputs[0] not in self.before:
            return False
        names = list(node.inputs)
        names[3] = self.make.ints(*[perm[int(axis) % len(perm)] for axis in axes])
        return self._put(node, names, node.attrs, perm)

    def _squeeze(self, node: Node, perm: tuple[int, ...]) -> bool:
        axes = self.make.constants.get(node.inputs[1])
        if axes is None:
            return False
        along = {int(axis) % len(perm) for axis in axes}
        rest = [perm[axis] for axis in range(len(perm)) if axis not in along]
        ranks = {axis: rank for rank, axis in enumerate(sorted(rest))}
        name = self.make.ints(*sorted(perm[axis] for axis in along))
        return self._put(node, [node.inputs[0], name], node.attrs, tuple(ranks[axis] for axis in rest))
