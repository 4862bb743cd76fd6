"""The switches between TensorFlow 1.15's modes: here there is one, static graphs of TensorFlow 1.

What turns a mode off that is always off does nothing; what would turn one on is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .default import control_dependencies
from .errors import UnimplementedError


def executing_eagerly() -> bool:
    """False: operations are added to a graph and run by a session."""
    return False


def control_flow_v2_enabled() -> bool:
    """False: `cond` and `while_loop` build Switch and Merge, as TensorFlow 1 does."""
    return False


def _off(name: str) -> Callable[[], None]:
    def switch() -> None:
        pass

    switch.__name__ = switch.__qualname__ = name
    switch.__doc__ = "Does nothing: it is off."
    return switch


def _refused(name: str, reason: str) -> Callable[..., Any]:
    def switch(*args: Any, **kwargs: Any) -> Any:
        raise UnimplementedError(f"tf.{name}: {reason}")

    switch.__name__ = switch.__qualname__ = name
    switch.__doc__ = f"Refused: {reason}\n\n    Raises:\n        UnimplementedError: Always.\n    "
    return switch


disable_control_flow_v2 = _off("disable_control_flow_v2")
disable_eager_execution = _off("disable_eager_execution")
disable_tensor_equality = _off("disable_tensor_equality")
disable_v2_behavior = _off("disable_v2_behavior")
disable_v2_tensorshape = _off("disable_v2_tensorshape")

_GRAPHS = "sgtool runs static graphs of TensorFlow 1; build the graph and run it with tf.Session()"
enable_control_flow_v2 = _refused("enable_control_flow_v2", _GRAPHS)
enable_eager_execution = _refused("enable_eager_execution", _GRAPHS)
enable_tensor_equality = _refused("enable_tensor_equality", _GRAPHS)
enable_v2_behavior = _refused("enable_v2_behavior", _GRAPHS)
enable_v2_tensorshape = _refused("enable_v2_tensorshape", _GRAPHS)


@contextmanager
def init_scope() -> Iterator[None]:
    """A context outside of the control dependencies and the conds and loops around it."""
    with control_dependencies(None):
        yield
