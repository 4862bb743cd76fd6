"""Joins element-wise nodes to what they work on, so that each block is finished while it is in the cache.

A chain is a convolution, or a first element-wise node of a large array, and the element-wise nodes that take
its result one after another, nobody else taking what is between: a bias, batch normalization by fixed
statistics, an activation, a sum with another array of the same shape. It becomes one node in the place of its
last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..kernels import chain, winograd
from ..operation import Operation, Tensor
from ..shapes import Shape, num_elements
from . import simplify
from .draft import Draft, Node

_ROOTS = frozenset({"Conv2D", "DepthwiseConv2dNative"})
_NORMALIZATIONS = frozenset({"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
_READS = frozenset(
    {"Identity", "ReadVariableOp", "VariableV2", "Variable", "VarHandleOp", "Placeholder", "NoOp"}
)
_DTYPES = frozenset({"float32", "float64"})
_LARGE = 1 << 16
"""Elements from which a chain without a convolution is worth its blocks."""


@dataclass
class Link:
    """An element-wise node of a chain: which of its inputs is the chain's result, and the others."""

    operation: Operation
    position: int
    others: list[Tensor]


@dataclass
class Chain:
    """What one node stands for.

    Attributes:
        root: The first operation.
        count: How many of the node's inputs are the root's; those of the links follow.
        links: What follows it.
        transformed: What gives the transformed filters of a convolution, or None (see `kernels.winograd`).
    """

    root: Operation
    count: int
    links: list[Link]
    transformed: Callable[[], Any] | None = None

    @property
    def operations(self) -> list[Operation]:
        """All that it stands for, in order."""
        return [self.root, *(link.operation for link in self.links)]

    def bind(self) -> Callable[..., Any]:
        """What runs: it takes the node's inputs; of a chain without convolution also `out=`."""
        kind = self.root.kind
        assert kind is not None
        kernel, count = kind.bind(self.root), self.count
        prepare = [_prepared(link) for link in self.links]
        sizes = [len(link.others) for link in self.links]

        def links(values: Sequence[Any]) -> list[tuple[Any, int, Sequence[Any]]]:
            found, at = [], count
            for make, size in zip(prepare, sizes):
                found.append(make(values[at : at + size]))
                at += size
            return found

        if self.root.type in _ROOTS:
            depthwise = self.root.type == "DepthwiseConv2dNative"
            options = {} if self.transformed is None else {"transformed": self.transformed}

            def convolve(*values: Any) -> Any:
                *_, channels, filters = values[1].shape
                finish = chain.finisher(links(values), channels * filters if depthwise else filters)
                return kernel(*values[:count], finish=finish, **options)

            return convolve

        def run(*values: Any, out: Any = None) -> Any:
            if out is None:
                largest = max(values[:count], key=np.size)
                out = np.empty(largest.shape, largest.dtype)
            return chain.run(kernel, values[:count], links(values), out)

        return run


def _prepared(link: Link) -> Callable[[Sequence[Any]], tuple[Any, int, Sequence[Any]]]:
    """From the values of a link's other inputs to what `chain.finisher` takes."""
    operation = link.operation
    if operation.type in _NORMALIZATIONS:
        epsilon = operation.attr("epsilon")

        def normalization(values: Sequence[Any]) -> tuple[Any, int, Sequence[Any]]:
            scale, offset, mean, variance = values
            factor = scale / np.sqrt(variance + variance.dtype.type(epsilon))
            return chain.normalize, 0, (factor, offset - mean * factor)

        return normalization
    kind = operation.kind
    assert kind is not None
    kernel, position = kind.bind(operation), link.position
    return lambda values: (kernel, position, values)


def run(draft: Draft) -> None:
    """Joins chains in `draft`, in place."""
    uses: Counter[Tensor] = Counter()
    for node in draft.nodes.values():
        node.inputs = [draft.resolve(tensor) for tensor in node.inputs]
        uses.update(node.inputs)
    uses.update(draft.resolve(fetch) for fetch in draft.fetches if isinstance(fetch, Tensor))
    consumers: dict[Tensor, Operation] = {}
    effects: dict[Operation, int] = {}
    count = 0
    for operation, node in draft.nodes.items():
        consumers.update(dict.fromkeys(node.inputs, operation))
        kind = operation.kind
        if node.loop is not None or kind is None or not (kind.is_pure or operation.type in _READS):
            count += 1
        effects[operation] = count
    for_control = {source for node in draft.nodes.values() for source in node.control}

    def plain(node: Node | None) -> bool:
        return (
            node is not None
            and node.is_pure
            and node.chain is None
            and not node.may_be_dead
            and node.operation not in for_control
            and not any(output in draft.feeds for output in node.operation.outputs)
        )

    written = simplify.written_variables(draft)
    joined: set[Operation] = set()
    for operation, node in list(draft.nodes.items()):
        if operation in joined or not plain(node) or not _begins(draft, node):
            continue
        links: list[Link] = []
        result = operation.output(0)
        while uses[result] == 1:
            follower = draft.nodes.get(consumers.get(result))  # type: ignore[arg-type]
            if follower is None or not plain(follower) or effects[follower.operation] != effects[operation]:
                break
            link = _link(draft, follower, result, uses)
            if link is None:
                break
            links.append(link)
            result = follower.operation.output(0)
        transformed = _transformed(draft, node, written) if operation.type == "Conv2D" else None
        if not links and operation.type in _ROOTS and transformed is None:
            continue
        last = links[-1].operation if links else operation
        inputs = list(node.inputs)
        for link in links:
            inputs += link.others
        replaced = draft.nodes[last]
        draft.nodes[last] = Node(
            last, inputs, replaced.control, chain=Chain(operation, len(node.inputs), links, transformed)
        )
        for gone in [operation, *(link.operation for link in links)]:
            joined.add(gone)
            if gone is not last:
                del draft.nodes[gone]


def _transformed(draft: Draft, node: Node, written: set[Tensor]) -> Callable[[], Any] | None:
    """What gives the transformed filters of a 3x3 convolution whose filters this plan does not change."""
    w = node.inputs[1]
    shape = draft.shape(w)
    if not draft.options.winograd or w.dtype.name != "float32" or shape is None or shape[:2] != (3, 3):
        return None
    constant = draft.value(w)
    if constant is not None:
        return lru_cache(1)(lambda: winograd.transform_filters(constant))
    if w.op.type not in ("Identity", "ReadVariableOp") or w in draft.feeds or not w.op._inputs:
        return None
    variable = w.op._inputs[0]
    find = simplify.VARIABLES.get(variable.op.type)
    if find is None or variable in draft.feeds or variable in written:
        return None
    holder = find(draft.state, variable.op)
    return lambda: holder.derive(winograd.transform_filters)


def _begins(draft: Draft, node: Node) -> bool:
    """Whether a chain may begin with a node."""
    operation = node.operation
    kind = operation.kind
    assert kind is not None
    if operation.num_outputs != 1 or operation.output(0).dtype.name not in _DTYPES:
        return False
    if operation.type in _ROOTS:
        x, w = draft.shape(node.inputs[0]), draft.shape(node.inputs[1])
        if operation.attr("data_format") != b"NHWC" or x is None or w is None or len(x) != 4 or len(w) != 4:
            return False
        return None not in (x[3], w[2], w[3]) and x[3] == w[2]
    shape = draft.shape(operation.output(0))
    size = num_elements(shape)
    if (
        not kind.elementwise
        or kind.definition.fixed_outputs != 1
        or size is None
        or size < _LARGE
        or not shape
    ):
        return False
    every = [draft.shape(tensor) for tensor in node.inputs]
    same_dtype = all(tensor.dtype.name == operation.output(0).dtype.name for tensor in node.inputs)
    return same_dtype and shape in every and all(_fits(other, shape) for other in every)


def _fits(other: Shape, shape: Shape) -> bool:
    """Whether a value of a shape can be taken apart as one of `shape` is: whole, by rows, or a scalar."""
    if other is None or shape is None or None in other:
        return False
    size = num_elements(other)
    if size == 1:
        return len(other) <= len(shape)
    return other == shape or (len(other) <= len(shape) and size == other[-1] == shape[-1])


def _link(draft: Draft, node: Node, result: Tensor, uses: Counter[Tensor]) -> Link | None:
    """A node as the next of the chain that gives `result`, or None if it cannot be."""
    operation = node.operation
    kind = operation.kind
    assert kind is not None
    if not operation.num_outputs or operation.output(0).dtype.name != result.dtype.name:
        return None
    position = node.inputs.index(result)
    others = [tensor for index, tensor in enumerate(node.inputs) if index != position]
    shape, after = draft.shape(result), draft.shape(operation.output(0))
    if not shape or not after or shape[-1] is None or shape[-1] != after[-1] or len(shape) != len(after):
        return None
    if operation.type in _NORMALIZATIONS:
        rest = any(uses[output] for output in operation.outputs[1:])
        fits = (
            position == 0
            and not rest
            and not operation.attr("is_training")
            and operation.attr("data_format") == b"NHWC"
            and all(
                draft.shape(other) == (shape[-1],) and other.dtype.name == result.dtype.name
                for other in others
            )
        )
        return Link(operation, position, others) if fits else None
    if not kind.elementwise or kind.definition.fixed_outputs != 1:
        return None
    if any(other.dtype.name != result.dtype.name or not _fits(draft.shape(other), shape) for other in others):
        return None
    return Link(operation, position, others)
