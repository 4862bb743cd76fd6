"""Which op types have a translation, and what a translation sees of the operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import attr_value, shape_inference
from ..operation import Operation, Tensor
from ..shapes import Shape
from .blocks import Builder, Inexpressible

if TYPE_CHECKING:
    from .translate import Scope

Translation = Callable[["Call"], Any]
TRANSLATIONS: dict[str, Translation] = {}


def translates(*ops: str) -> Callable[[Translation], Translation]:
    """Makes a function the translation of some op types: from a `Call` to the names of the outputs."""

    def register(function: Translation) -> Translation:
        for op in ops:
            assert op not in TRANSLATIONS, op
            TRANSLATIONS[op] = function
        return function

    return register


@dataclass(frozen=True)
class Absent:
    """What stands for an output that ONNX does not have."""

    tensor: Tensor


class Call:
    """One operation that is translated.

    Attributes:
        op: The operation.
        inputs: Its input tensors, as the passes of the compiler replaced them.
        scope: Where it is: gives the names of tensors, translates functions.
        make: Makes ONNX's nodes.
    """

    def __init__(self, op: Operation, inputs: list[Tensor], scope: Scope) -> None:
        self.op = op
        self.inputs = inputs
        self.scope = scope
        self.make: Builder = scope.make

    def __getitem__(self, index: int) -> str:
        """The name of input `index`."""
        name = self.given(index)
        if isinstance(name, Absent):
            raise Inexpressible(f"it takes '{name.tensor.name}', which ONNX does not give")
        if not isinstance(name, str):
            raise Inexpressible("it takes a list or array of tensors as a whole")
        return name

    def given(self, index: int) -> Any:
        """Input `index`: a name, or an array of tensors."""
        return self.scope.get(self.inputs[index])

    @property
    def names(self) -> list[str]:
        """The names of all inputs."""
        return [self[index] for index in range(len(self.inputs))]

    def attr(self, name: str) -> Any:
        """Attribute `name` as kernels get it."""
        return attr_value.for_kernel(self.op.attr(name))

    def value(self, index: int) -> np.ndarray | None:
        """The constant value of input `index`, or None."""
        return self.scope.draft.value(self.inputs[index])

    def known(self, index: int, what: str) -> np.ndarray:
        """The constant value of input `index`.

        Raises:
            Inexpressible: It is not constant, though ONNX has it as an attribute.
        """
        value = self.value(index)
        if value is None:
            raise Inexpressible(f"its {what} is computed; ONNX takes a constant")
        return value

    def axis(self, index: int, rank: int) -> int:
        """Input `index`, a constant axis, counted from the front."""
        return int(self.known(index, "axis").reshape(())) % max(rank, 1)

    def shape(self, index: int) -> Shape:
        """The static shape of input `index`; None where not even the rank is known."""
        return self.scope.draft.shape(self.inputs[index])

    def dims(self, index: int) -> tuple[int | None, ...]:
        """The static shape of input `index`.

        Raises:
            Inexpressible: Its rank is not known.
        """
        shape = self.shape(index)
        if shape is None:
            raise Inexpressible("the rank of its input is not known; set the placeholders' shapes")
        return shape

    def rank(self, index: int) -> int:
        """The rank of input `index`. Errors as `dims`."""
        return len(self.dims(index))

    def partial(self, index: int) -> Shape:
        """Input `index`, a vector, read as a shape: -1 and unknown entries are None."""
        return shape_inference.value_as_shape(self.inputs[index], self.scope.draft)

    def result_shape(self, index: int = 0) -> Shape:
        """The static shape of output `index`."""
        return self.scope.draft.shape(self.op.output(index))

    def dtype(self, index: int) -> np.dtype:
        """The dtype of input `index`."""
        return np.dtype(self.inputs[index].dtype.np)

    def out_dtype(self, index: int = 0) -> np.dtype:
        """The dtype of output `index`."""
        return np.dtype(self.op.output(index).dtype.np)

    def emit(self, op: str, *inputs: str, **attrs: Any) -> str:
        """The output of a new node."""
        return self.make.emit(op, *inputs, **attrs)

    def const(self, value: Any, dtype: Any = None) -> str:
        """A constant."""
        return self.make.const(value, dtype)

    def ints(self, index: int) -> str:
        """The name of input `index`, integers, as int64."""
        value = self.value(index)
        if value is not None:
            return self.make.const(np.asarray(value, np.int64))
        return self.make.as_int64(self[index])

    def like(self, index: int, value: float) -> str:
        """A constant scalar of input `index`'s dtype."""
        if self.dtype(index).kind == "O":
            raise Inexpressible("ONNX has no operators on strings")
        return self.make.const(value, self.dtype(index))

    def shape_of(self, index: int) -> str:
        """The shape of input `index`, int64: a constant where it is known."""
        shape = self.shape(index)
        if shape is not None and None not in shape:
            return self.make.const(np.array(shape, np.int64))
        return self.emit("Shape", self[index])

    def size_of(self, index: int, axis: int) -> str:
        """A vector of one element, int64: the size of an axis of input `index`."""
        size = self.dims(index)[axis]
        if size is not None:
            return self.make.ints(size)
        return self.emit("Gather", self.emit("Shape", self[index]), self.make.ints(axis))
