"""What is left over goes: identities, equal nodes, nodes and inputs that nobody takes."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, MutableMapping
from typing import Any

import numpy as np

from .blocks import Block, Builder, Node

_DRAWS = frozenset({"RandomUniformLike", "RandomNormalLike"})


def tidy(make: Builder) -> None:
    """Rewrites all blocks of a model in place."""
    _drop_identities(make.root, {}, make)
    _share(make.root, ChainMap(), {})
    _drop_identities(make.root, {}, make)
    while _drop_unused(make.root):
        pass
    taken = make.root.taken()
    make.forget([name for name in make.constants if name not in taken])


def _renamed(node: Node, names: dict[str, str]) -> None:
    node.inputs = [names.get(name, name) for name in node.inputs]


def _drop_identities(block: Block, outer: dict[str, str], make: Builder) -> None:
    """Takes the input of an Identity in its output's place, and renames what makes a block's output."""
    names = dict(outer)
    outputs = {port.name for port in block.outputs}
    kept = []
    for node in block.nodes:
        _renamed(node, names)
        for inner in node.blocks:
            _drop_identities(inner, names, make)
        if node.op == "Identity" and node.outputs[0] not in outputs:
            names[node.outputs[0]] = node.inputs[0]
            continue
        kept.append(node)
    made = {name: node for node in kept for name in node.outputs}
    renamed: dict[str, str] = {}
    rest = []
    for node in kept:
        source = made.get(node.inputs[0]) if node.op == "Identity" else None
        if source is None or node.inputs[0] in outputs or node.inputs[0] in renamed:
            rest.append(node)
            continue
        renamed[node.inputs[0]] = node.outputs[0]
        source.outputs = [renamed.get(name, name) for name in source.outputs]
    if renamed:
        for node in rest:
            _rename_deep(node, renamed)
    block.nodes = rest


def _rename_deep(node: Node, names: dict[str, str]) -> None:
    _renamed(node, names)
    for inner in node.blocks:
        for port in inner.outputs:
            port.name = names.get(port.name, port.name)
        for one in inner.nodes:
            _rename_deep(one, names)


def _share(block: Block, seen: MutableMapping[Hashable, Node], outer: dict[str, str]) -> None:
    """Makes of equal nodes one."""
    names = dict(outer)
    outputs = {port.name for port in block.outputs}
    kept = []
    for node in block.nodes:
        _renamed(node, names)
        if node.blocks:
            for inner in node.blocks:
                _share(inner, ChainMap({}, seen), names)
            kept.append(node)
            continue
        key = (node.op, tuple(node.inputs), len(node.outputs), repr(sorted(node.attrs.items())))
        twin = seen.get(key)
        if twin is None or node.op in _DRAWS or outputs & set(node.outputs):
            if node.op not in _DRAWS:
                seen.setdefault(key, node)
            kept.append(node)
        else:
            names.update(zip(node.outputs, twin.outputs))
    block.nodes = kept


def _drop_unused(block: Block) -> bool:
    needed = {port.name for port in block.outputs}
    kept: list[Node] = []
    for node in reversed(block.nodes):
        if not needed.intersection(node.outputs):
            continue
        kept.append(node)
        needed.update(node.inputs)
        for inner in node.blocks:
            needed |= inner.taken()
    changed = len(kept) < len(block.nodes)
    block.nodes = kept[::-1]
    for node in block.nodes:
        for inner in node.blocks:
            changed |= _drop_unused(inner)
    return changed


def fold_into_convolutions(make: Builder) -> None:
    """Scales and offsets by channel that follow a convolution become part of its weights."""
    for block in {id(block): block for block, _ in make.root.walk()}.values():
        again = True
        while again:
            again = _fold_once(make, block)


def _fold_once(make: Builder, block: Block) -> bool:
    uses: dict[str, int] = {}
    for name in [name for node in block.nodes for name in node.inputs] + [p.name for p in block.outputs]:
        uses[name] = uses.get(name, 0) + 1
    captured = {name for node in block.nodes for inner in node.blocks for name in inner.taken()}
    made = {name: node for node in block.nodes for name in node.outputs}
    for node in block.nodes:
        found = _scale_and_offset(make, node, made)
        if found is None:
            continue
        conv, scale, offset = found
        if uses[conv.outputs[0]] != 1 or conv.outputs[0] in captured:
            continue
        weights = make.constants[conv.inputs[1]]
        bias = (
            make.constants[conv.inputs[2]] if len(conv.inputs) > 2 else np.zeros(len(weights), weights.dtype)
        )
        scaled = weights * scale.reshape(-1, *[1] * (weights.ndim - 1))
        conv.inputs[1:] = [
            make.const(scaled.astype(weights.dtype), wish=f"{conv.outputs[0]}_weights"),
            make.const((bias * scale + offset).astype(weights.dtype), wish=f"{conv.outputs[0]}_bias"),
        ]
        conv.outputs = list(node.outputs)
        block.nodes.remove(node)
        return True
    return False


def _scale_and_offset(make: Builder, node: Node, made: dict[str, Node]) -> Any:
    """The convolution before a node that scales by channel, with scale and offset (float64 vectors)."""
    if node.op == "BatchNormalization":
        conv = made.get(node.inputs[0])
        values = [make.constants.get(name) for name in node.inputs[1:]]
        if not _is_conv(make, conv) or any(value is None for value in values):
            return None
        gamma, beta, mean, variance = (np.asarray(value, np.float64) for value in values)
        scale = gamma / np.sqrt(variance + node.attrs["epsilon"])
        return conv, scale, beta - mean * scale
    if node.op not in ("Mul", "Add", "Sub", "Div"):
        return None
    for index in (0, 1) if node.op in ("Mul", "Add") else (0,):
        conv, value = made.get(node.inputs[index]), make.constants.get(node.inputs[1 - index])
        if not _is_conv(make, conv) or value is None:
            continue
        assert conv is not None
        weights = make.constants[conv.inputs[1]]
        vector = _by_channel(value, len(weights), weights.ndim)
        if vector is None:
            continue
        one, zero = np.ones(len(weights)), np.zeros(len(weights))
        return {
            "Mul": (conv, vector, zero),
            "Div": (conv, 1 / vector, zero) if np.all(vector) else None,
            "Add": (conv, one, vector),
            "Sub": (conv, one, -vector),
        }[node.op]
    return None


def _is_conv(make: Builder, node: Node | None) -> bool:
    return node is not None and node.op == "Conv" and all(name in make.constants for name in node.inputs[1:])


def _by_channel(value: np.ndarray, channels: int, rank: int) -> np.ndarray | None:
    """A constant as one number a channel (axis 1), or None."""
    if value.ndim > rank or value.size not in (1, channels):
        return None
    shape = (1,) * (rank - value.ndim) + value.shape
    if value.size > 1 and shape[1] != channels:
        return None
    return np.broadcast_to(np.asarray(value, np.float64).reshape(-1), (channels,))
