"""Reading and counting the global step, as hooks do.

Source: tensorflow/python/training/training_util.py (r1.15), behaviour and names of nodes.
"""

from __future__ import annotations

from typing import Any

from .default import add_to_collection, control_dependencies, get_default_graph
from .errors import InvalidStateError, InvalidValueError
from .variable_scope import get_global_step
from .variables import assign_add

GLOBAL_STEP_READ_KEY = "global_step_read_op_cache"


def _get_global_step_read(graph: Any = None) -> Any:
    """The tensor that `_get_or_create_global_step_read` made, or None.

    Raises:
        RuntimeError: There are several.
    """
    found = (graph or get_default_graph()).get_collection(GLOBAL_STEP_READ_KEY)
    if len(found) > 1:
        raise InvalidStateError(
            f"There are multiple items in collection {GLOBAL_STEP_READ_KEY}. There should be only one."
        )
    return found[0] if found else None


def _get_or_create_global_step_read(graph: Any = None) -> Any:
    """A tensor that reads the global step, one for a graph; None where there is no global step.

    A run that fetches it and increments the step may see either value; hooks read it before.
    """
    graph = graph or get_default_graph()
    found = _get_global_step_read(graph)
    step = get_global_step(graph)
    if found is not None or step is None:
        return found
    with graph.as_default(), graph.name_scope(None), graph.name_scope(f"{step.op.name}/"):
        value = step.initialized_value() if hasattr(step, "initialized_value") else step
        read = value + 0
        add_to_collection(GLOBAL_STEP_READ_KEY, read)
    return read


def _increment_global_step(increment: Any, graph: Any = None) -> Any:
    """An operation that adds to the global step, after the read of it.

    Raises:
        ValueError: There is no global step.
    """
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    if step is None:
        raise InvalidValueError(
            "Global step tensor should be created by tf.train.get_or_create_global_step before calling "
            "increment."
        )
    read = _get_or_create_global_step_read(graph)
    scope = f"{step.op.name}/"
    with graph.as_default(), graph.name_scope(None), graph.name_scope(scope), control_dependencies([read]):
        return assign_add(step, increment)
