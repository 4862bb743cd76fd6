"""`tf.layers.InputSpec`: what a layer asks of its inputs.

Source: tensorflow/python/keras/engine/input_spec.py (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

from . import nest
from .dtypes import as_dtype
from .errors import InvalidTypeError, InvalidValueError


class InputSpec:
    """Rank, dtype and shape of one input; what is None is not asked for.

    Args:
        dtype: The dtype.
        shape: The shape, None for dimensions of any size.
        ndim: The rank.
        max_ndim: The highest rank.
        min_ndim: The lowest rank.
        axes: Sizes of single axes, by their numbers.

    Raises:
        TypeError: A key of `axes` is no integer.
        ValueError: An axis lies outside the rank.
    """

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: dict[int, Any] | None = None,
    ) -> None:
        self.dtype = None if dtype is None else as_dtype(dtype).name
        self.shape = shape
        self.ndim = ndim if shape is None else len(shape)
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        try:
            self.axes = {int(axis): size for axis, size in (axes or {}).items()}
        except (ValueError, TypeError):
            raise InvalidTypeError("The keys in axes must be integers.") from None
        limit = self.ndim or self.max_ndim
        if self.axes and limit is not None and max(self.axes) > limit - 1:
            raise InvalidValueError(
                f"Axis {max(self.axes)} is greater than the maximum allowed value: {limit - 1}"
            )

    def __repr__(self) -> str:
        found = [f"{key}={value}" for key, value in self.get_config().items() if value]
        return f"InputSpec({', '.join(found)})"

    def get_config(self) -> dict[str, Any]:
        """What it was made with."""
        return {
            "dtype": self.dtype, "shape": self.shape, "ndim": self.ndim,
            "max_ndim": self.max_ndim, "min_ndim": self.min_ndim, "axes": self.axes,
        }  # fmt: skip

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> InputSpec:
        """A specification made with `config`."""
        return cls(**config)


def assert_compatible(input_spec: Any, inputs: Any, layer_name: str) -> None:
    """Refuses inputs that are not as a layer's specification says.

    Raises:
        ValueError: An input does not fit.
    """
    if not input_spec:
        return
    flat, specs = nest.flatten(inputs), nest.flatten(input_spec)
    if len(flat) != len(specs):
        raise InvalidValueError(
            f"Layer {layer_name} expects {len(specs)} inputs, but it received {len(flat)} input tensors. "
            f"Inputs received: {flat}"
        )
    for number, (tensor, spec) in enumerate(zip(flat, specs)):
        problem = None if spec is None else _problem(tensor, spec)
        if problem is not None:
            raise InvalidValueError(
                f"Input {number} of layer {layer_name} is incompatible with the layer: {problem}"
            )


def _problem(tensor: Any, spec: InputSpec) -> str | None:
    """What is wrong with a tensor, or None."""
    rank = tensor.get_shape().ndims
    wanted = spec.ndim, spec.min_ndim, spec.max_ndim
    if rank is None:
        if wanted != (None, None, None):
            return "its rank is undefined, but the layer requires a defined rank."
    else:
        shape = tensor.get_shape().as_list()
        if spec.ndim is not None and rank != spec.ndim:
            return f"expected ndim={spec.ndim}, found ndim={rank}. Full shape received: {shape}"
        if spec.max_ndim is not None and rank > spec.max_ndim:
            return f"expected max_ndim={spec.max_ndim}, found ndim={rank}"
        if spec.min_ndim is not None and rank < spec.min_ndim:
            return f": expected min_ndim={spec.min_ndim}, found ndim={rank}. Full shape received: {shape}"
    if spec.dtype is not None and tensor.dtype.name != spec.dtype:
        return f"expected dtype={spec.dtype}, found dtype={tensor.dtype!r}"
    if rank is None:
        return None
    for axis, size in spec.axes.items():
        size = getattr(size, "value", size)
        if size is not None and shape[axis] not in (size, None):
            return (
                f"expected axis {axis} of input shape to have value {size} but received input with shape "
                f"{shape}"
            )
    for have, want in zip(shape, spec.shape or ()):
        if None not in (have, want) and have != want:
            return f"expected shape={spec.shape}, found shape={shape}"
    return None
