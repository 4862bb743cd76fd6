"""The ONNX graph in the making: nodes over names, blocks for what If and Loop run, constants at the root.

This knows neither TensorFlow's ops nor ONNX's messages (`write.py` makes those). A name is unique in the
whole model, so that a block may use what an outer one made, as ONNX allows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import folding, schemas
from .dtypes import (
    DTYPES as DTYPES,
    Inexpressible as Inexpressible,
    dtype_number as dtype_number,
)

_SHARED_BYTES = 1024


@dataclass
class Node:
    """One operator of ONNX; attributes may be blocks."""

    op: str
    inputs: list[str]
    outputs: list[str]
    attrs: dict[str, Any]

    @property
    def blocks(self) -> list[Block]:
        """What it runs inside."""
        return [value for value in self.attrs.values() if isinstance(value, Block)]


@dataclass
class Port:
    """An input or output of a block: its name, dtype and static shape (None: unknown rank)."""

    name: str
    dtype: Any
    shape: tuple[int | None, ...] | None = None


@dataclass
class Block:
    """A graph, or what If and Loop run.

    Attributes:
        nodes: In the order of running.
        inputs: What it is given.
        outputs: What it gives.
    """

    nodes: list[Node] = field(default_factory=list)
    inputs: list[Port] = field(default_factory=list)
    outputs: list[Port] = field(default_factory=list)

    def walk(self) -> Iterator[tuple[Block, Node]]:
        """All nodes, those of inner blocks too, each with its block."""
        for node in self.nodes:
            yield self, node
            for block in node.blocks:
                yield from block.walk()

    def taken(self) -> set[str]:
        """All names that nodes or outputs take, in inner blocks too."""
        found = {port.name for port in self.outputs}
        for node in self.nodes:
            found.update(node.inputs)
            for block in node.blocks:
                found |= block.taken()
        return found


class Builder:
    """Makes nodes in a block; computes at once what is constant.

    Attributes:
        root: The whole graph.
        block: Where nodes go.
        constants: The values of names that are constant (initializers, in ONNX's words).
        producers: The node that made a name.
        scope: What the names of nodes begin with: the operation's that is translated.
    """

    def __init__(self) -> None:
        self.root = self.block = Block()
        self.constants: dict[str, np.ndarray] = {}
        self.producers: dict[str, Node] = {}
        self.dtypes: dict[str, str] = {}  # NumPy's names, as far as they are known
        self.scope = ""
        self._counts: dict[str, int] = {}
        self._shared: dict[tuple[Any, ...], str] = {}

    def fresh(self, wish: str = "") -> str:
        """A name that nothing has yet."""
        base = wish or re.sub(r":", "_", self.scope) or "value"
        count = self._counts.get(base, 0)
        self._counts[base] = count + 1
        if not count:
            return base
        return self.fresh(f"{base}__{count}")

    def const(self, value: Any, dtype: Any = None, wish: str = "") -> str:
        """The name of a constant; small equal ones are one, and large ones that are the same array."""
        array = np.asarray(value, dtype)
        dtype_number(array.dtype)
        key: tuple[Any, ...]
        if array.nbytes > _SHARED_BYTES or array.dtype == object:
            key = (id(array),)  # which `constants` keeps from being another's
        else:
            key = (array.dtype.name, array.shape, array.tobytes())
        if key not in self._shared:
            self._shared[key] = name = self.fresh(wish or f"{self.scope or 'constant'}_value")
            self.constants[name] = array
            self.dtypes[name] = array.dtype.name
        return self._shared[key]

    def forget(self, names: Sequence[str]) -> None:
        """Drops constants that nothing takes."""
        for name in names:
            del self.constants[name]
        self._shared = {key: name for key, name in self._shared.items() if name in self.constants}

    def ints(self, *values: int) -> str:
        """A vector of int64, as shapes and axes are in ONNX."""
        return self.const(np.array(values, np.int64))

    def emit(self, op: str, *inputs: str, **attrs: Any) -> str:
        """The only output of a new node (or of an equal constant)."""
        return self.emit_many(op, inputs, 1, **attrs)[0]

    def emit_many(self, op: str, inputs: Sequence[str], count: int, **attrs: Any) -> list[str]:
        """The outputs of a new node."""
        given = [self.constants.get(name) for name in inputs]
        if count == 1 and inputs and all(value is not None or not name for value, name in zip(given, inputs)):
            value = folding.evaluate(op, given, attrs)
            if value is not None:
                return [self.const(value)]
        dtypes = [self.dtypes.get(name) for name in inputs]
        if schemas.widened(op, dtypes):
            return self._wide(op, inputs, dtypes, count, attrs)
        names = [self.fresh() for _ in range(count)]
        node = Node(op, list(inputs), names, attrs)
        if node.blocks:
            made: list[str | None] = [None] * count
        else:
            made = schemas.results(op, dtypes, attrs, count)
        self.block.nodes.append(node)
        for name, dtype in zip(names, made):
            self.producers[name] = node
            if dtype is not None:
                self.dtypes[name] = dtype
        return names

    def _wide(
        self, op: str, inputs: Sequence[str], dtypes: Sequence[str | None], count: int, attrs: dict[str, Any]
    ) -> list[str]:
        """Computes in float32 what ONNX does not in half precision."""
        (half,) = {dtype for dtype in dtypes if dtype in ("float16", "bfloat16")}
        wide = [self.cast(name, np.float32) if dtype == half else name for name, dtype in zip(inputs, dtypes)]
        results = self.emit_many(op, wide, count, **attrs)
        to = DTYPES[half]
        return [
            self.emit("Cast", name, to=to) if self.dtypes.get(name) == "float32" else name for name in results
        ]

    def port(self, name: str, dtype: Any, shape: tuple[int | None, ...] | None = None) -> Port:
        """An input of a block."""
        self.dtypes[name] = np.dtype(dtype).name
        return Port(name, dtype, shape)

    def inside(self, block: Block, make: Callable[[], Any]) -> Any:
        """Calls `make` while nodes go into `block`."""
        outer, self.block = self.block, block
        try:
            return make()
        finally:
            self.block = outer

    def copied(self, name: str) -> str:
        """An Identity in the block in hand: what a block gives must be made in it."""
        made = self.fresh()
        node = Node("Identity", [name], [made], {})
        self.block.nodes.append(node)
        self.producers[made] = node
        if name in self.dtypes:
            self.dtypes[made] = self.dtypes[name]
        return made

    # What many translations are made of

    def cast(self, name: str, dtype: Any) -> str:
        """A value as another dtype."""
        return self.emit("Cast", name, to=dtype_number(dtype))

    def as_int64(self, name: str) -> str:
        """An integer value as int64; one that came from int64 by `as_dtype_of_sizes` as it was."""
        producer = self.producers.get(name)
        if producer is not None and producer.op == "Cast" and producer.attrs.get("_narrowed"):
            return producer.inputs[0]
        value = self.constants.get(name)
        if value is not None:
            return self.const(value.astype(np.int64))
        return self.cast(name, np.int64)

    def sizes_as(self, name: str, dtype: Any) -> str:
        """Sizes and positions, int64 in ONNX, as the integers that TensorFlow has there."""
        if np.dtype(dtype) == np.int64:
            return name
        if name in self.constants:
            return self.const(self.constants[name].astype(dtype))
        made = self.cast(name, dtype)
        self.producers[made].attrs["_narrowed"] = True
        return made

    def reshape(self, name: str, *shape: int) -> str:
        """A value of another shape (-1: what is left; 0: as it is)."""
        return self.emit("Reshape", name, self.ints(*shape))

    def transpose(self, name: str, perm: Sequence[int]) -> str:
        """A value with its axes in another order."""
        if list(perm) == list(range(len(perm))):
            return name
        return self.emit("Transpose", name, perm=[int(axis) for axis in perm])

    def unsqueeze(self, name: str, *axes: int) -> str:
        """A value with axes of one element put in."""
        return self.emit("Unsqueeze", name, self.ints(*axes)) if axes else name

    def squeeze(self, name: str, *axes: int) -> str:
        """A value without some axes of one element."""
        return self.emit("Squeeze", name, self.ints(*axes)) if axes else name

    def slice(self, name: str, axis: int, start: int, stop: int, step: int = 1) -> str:
        """Part of a value along one axis."""
        return self.emit("Slice", name, self.ints(start), self.ints(stop), self.ints(axis), self.ints(step))
