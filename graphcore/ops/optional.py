"""Values that may be absent, as iterators give them.

Source: tensorflow/core/kernels/data/optional_ops.cc (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..op import op, raw_ops
from . import rules

_NO_GRAD = "TensorFlow declares none"


class OptionalValue:
    """What an Optional variant holds: a tuple of values, or nothing."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[Any, ...] | None) -> None:
        self.values = values

    def __repr__(self) -> str:
        return "Optional(none)" if self.values is None else f"Optional({len(self.values)} components)"


def as_optional(value: Any) -> OptionalValue:
    """A variant that must be an optional value.

    Raises:
        InvalidArgumentError: It is something else.
    """
    found = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if not isinstance(found, OptionalValue):
        raise InvalidArgumentError(f"Input is not an optional value: {found!r}")
    return found


@op(
    "OptionalFromValue",
    "components: Toutput_types -> optional: variant",
    "Toutput_types: list(type) >= 1",
)
def optional_from_value(components: Any) -> Any:
    """A value that is there."""
    return OptionalValue(tuple(components))


@op("OptionalNone", "-> optional: variant", no_grad=_NO_GRAD)
def optional_none() -> Any:
    """A value that is absent."""
    return OptionalValue(None)


@op("OptionalHasValue", "optional: variant -> has_value: bool", no_grad=_NO_GRAD)
def optional_has_value(optional: Any) -> Any:
    """Whether it is there."""
    return np.array(as_optional(optional).values is not None)


@op(
    "OptionalGetValue",
    "optional: variant -> components: output_types",
    "output_types: list(type) >= 1",
    "output_shapes: list(shape) >= 1",
)
def optional_get_value(optional: Any, *, node: Any) -> Any:
    """The value."""
    values = as_optional(optional).values
    if values is None:
        raise InvalidArgumentError("The given optional does not have a value.")
    wanted = node.attr("output_types")
    if len(values) != len(wanted):
        raise InvalidArgumentError(
            f"The given optional has {len(values)} components, expected {len(wanted)}."
        )
    return list(values)


for _scalar in (optional_from_value, optional_none, optional_has_value):
    _scalar.shape(rules.scalar)
optional_get_value.shape(lambda node: [shape.as_tuple() for shape in node.node.attr("output_shapes")])


@optional_from_value.grad
def _(node: Any, grad: Any) -> Any:
    dtypes = [tensor.dtype.base_dtype for tensor in node.inputs]
    shapes = [tensor.get_shape() for tensor in node.inputs]
    return list(raw_ops.OptionalGetValue(grad, output_types=dtypes, output_shapes=shapes))


@optional_get_value.grad
def _(node: Any, *grads: Any) -> Any:
    return raw_ops.OptionalFromValue(
        [raw_ops.ZerosLike(output) if grad is None else grad for output, grad in zip(node.outputs, grads)]
    )
