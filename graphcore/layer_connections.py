"""What a layer was called with and gave: `layer.input`, `layer.output_shape` and their kin.

Source: tensorflow/python/keras/engine/base_layer.py (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

from . import nest
from .errors import InvalidStateError, InvalidValueError


class MissingAttribute(InvalidValueError, AttributeError):
    """An attribute that the layer's calls do not decide."""


class Connections:
    """The calls of a layer, in order, each as its inputs and outputs."""

    _calls: list[tuple[Any, Any]]
    name: Any

    @property
    def inbound_nodes(self) -> list[tuple[Any, Any]]:
        """The calls, each as its inputs and outputs."""
        return list(self._calls)

    def _at(self, index: int, part: int, what: str) -> Any:
        if not self._calls:
            raise InvalidStateError(f"The layer has never been called and thus has no defined {what}.")
        if index >= len(self._calls):
            raise InvalidValueError(
                f"Asked to get {what} at node {index}, but the layer has only {len(self._calls)} inbound "
                "nodes."
            )
        return self._calls[index][part]

    def get_input_at(self, node_index: int) -> Any:
        """The inputs of a call.

        Raises:
            RuntimeError: The layer was never called.
            ValueError: There were fewer calls.
        """
        return self._at(node_index, 0, "input")

    def get_output_at(self, node_index: int) -> Any:
        """The outputs of a call; raises as `get_input_at`."""
        return self._at(node_index, 1, "output")

    def get_input_shape_at(self, node_index: int) -> Any:
        """The shapes of a call's inputs, tuples; raises as `get_input_at`."""
        return _shapes(self._at(node_index, 0, "input shape"))

    def get_output_shape_at(self, node_index: int) -> Any:
        """The shapes of a call's outputs, tuples; raises as `get_input_at`."""
        return _shapes(self._at(node_index, 1, "output shape"))

    @property
    def input(self) -> Any:
        """The inputs of the first call.

        Raises:
            AttributeError: The layer was never called.
        """
        if not self._calls:
            raise MissingAttribute(f"Layer {self.name} is not connected, no input to return.")
        return self._calls[0][0]

    @property
    def output(self) -> Any:
        """The outputs of the first call.

        Raises:
            AttributeError: The layer was never called.
        """
        if not self._calls:
            raise MissingAttribute(f"Layer {self.name} has no inbound nodes.")
        return self._calls[0][1]

    @property
    def input_shape(self) -> Any:
        """The shapes of the inputs, tuples.

        Raises:
            AttributeError: The layer was never called, or with inputs of several shapes.
        """
        return self._one_shape(0, "input")

    @property
    def output_shape(self) -> Any:
        """The shapes of the outputs, tuples; raises as `input_shape`."""
        return self._one_shape(1, "output")

    def _one_shape(self, part: int, what: str) -> Any:
        if not self._calls:
            raise MissingAttribute(f"The layer has never been called and thus has no defined {what} shape.")
        shapes = [_shapes(call[part]) for call in self._calls]
        if any(shape != shapes[0] for shape in shapes):
            raise MissingAttribute(
                f'The layer "{self.name}" has multiple inbound nodes, with different {what} shapes. Hence '
                f'the notion of "{what} shape" is ill-defined for the layer. Use '
                f"`get_{what}_shape_at(node_index)` instead."
            )
        return shapes[0]


def _shapes(tensors: Any) -> Any:
    return nest.map_structure(
        lambda tensor: None if tensor.get_shape().ndims is None else tuple(tensor.get_shape().as_list()),
        tensors,
    )
