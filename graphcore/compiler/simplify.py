"""Drops identities and what only control edges ask for, and computes equal subexpressions once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from ..operation import Operation, Tensor
from .draft import Draft, Node

_IDENTITIES = frozenset({"Identity", "StopGradient", "PreventGradient", "CheckpointIdentity", "Snapshot"})
_READS = frozenset({"ReadVariableOp"})
VARIABLES: dict[str, Callable[..., Any]] = {
    "VariableV2": lambda state, operation: state.ref(operation),
    "Variable": lambda state, operation: state.ref(operation),
    "VarHandleOp": lambda state, operation: state.resource_variable(operation),
}
"""What finds the variable of an operation in a session's state."""


def run(draft: Draft) -> None:
    """Rewrites `draft` in place; see the package's head for what must not be touched."""
    _drop_unused(draft)
    written = written_variables(draft)
    seen: dict[Hashable, Operation] = {}
    kept_for_control = {source for node in draft.nodes.values() for source in node.control}
    for operation, node in list(draft.nodes.items()):
        node.inputs = [draft.resolve(tensor) for tensor in node.inputs]
        if node.control or node.may_be_dead or node.loop is not None or operation in kept_for_control:
            continue
        if any(operation.output(index) in draft.feeds for index in range(operation.num_outputs)):
            continue
        if operation.type in _IDENTITIES and not node.inputs[0].dtype._is_ref_dtype:
            draft.replaced[operation.output(0)] = node.inputs[0]
            del draft.nodes[operation]
            continue
        key = _key(node, written)
        if key is None:
            continue
        twin = seen.setdefault(key, operation)
        if twin is not operation:
            for index in range(operation.num_outputs):
                draft.replaced[operation.output(index)] = twin.output(index)
            del draft.nodes[operation]


def _drop_unused(draft: Draft) -> None:
    """Drops pure nodes whose values nobody takes, as TensorFlow's dependency optimizer does.

    `tf.gradients` ties the gradients of one node together by control edges, so that the gradient by a
    fed input would be computed for nothing. The nodes are in order already, so edges may go.
    """
    needed = {draft.source(fetch) if isinstance(fetch, Tensor) else fetch for fetch in draft.fetches}
    dropped = set()
    for operation, node in reversed(list(draft.nodes.items())):
        kind = operation.kind
        is_pure = kind is not None and kind.is_pure and node.loop is None
        if operation in needed or not is_pure or node.may_be_dead:
            needed.update(draft.source(draft.resolve(tensor)) for tensor in node.inputs)
        else:
            dropped.add(operation)
            del draft.nodes[operation]
    if dropped:
        for node in draft.nodes.values():
            node.control = [source for source in node.control if source not in dropped]


def written_variables(draft: Draft) -> set[Tensor]:
    """The handles (and refs) that some node of the plan may write."""
    written = set()
    for operation, node in draft.nodes.items():
        kind = operation.kind
        if operation.type in _READS or operation.type in _IDENTITIES or (kind is not None and kind.is_pure):
            continue
        for tensor in node.inputs:
            if tensor.dtype.name == "resource" or tensor.dtype._is_ref_dtype:
                written.add(_root(tensor))
    return written


def _root(tensor: Tensor) -> Tensor:
    """The variable behind a chain of identities and assignments."""
    while tensor.op.type not in VARIABLES and tensor.op._inputs:
        tensor = tensor.op._inputs[0]
    return tensor


def _key(node: Node, written: set[Tensor]) -> Hashable:
    """What two nodes must share to give the same value, or None where they may not be merged."""
    operation = node.operation
    is_read = operation.type in _READS or (
        operation.type in _IDENTITIES and node.inputs[0].dtype._is_ref_dtype
    )
    if is_read:
        root = _root(node.inputs[0])
        if root in written or root.op.type not in VARIABLES:
            return None
    elif not node.is_pure or not node.inputs:
        return None
    attrs = tuple(
        sorted(
            (name, _freeze(operation.attr(name)))
            for name in operation.attr_names()
            if not name.startswith("_")
        )
    )
    return operation.type, tuple(node.inputs), attrs


def _freeze(value: Any) -> Hashable:
    if isinstance(value, list):
        return tuple(_freeze(item) for item in value)
    if isinstance(value, np.ndarray):
        return (value.shape, str(value.dtype), value.tobytes())
    if hasattr(value, "SerializeToString"):
        return bytes(value.SerializeToString(deterministic=True))
    return repr(value)
