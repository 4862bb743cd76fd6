"""The default graph, and the functions that act on it (`tf.name_scope`, `tf.get_collection`, ...).

Where no graph was made the default by a `with` block, one global graph is; `reset_default_graph`
replaces it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .errors import InvalidValueError
from .graph import Graph
from .stacks import graph_stack, session_stack

_global_graph: list[Graph] = []


def get_default_graph() -> Graph:
    """The default graph of this thread, else the global one."""
    top: Graph | None = graph_stack.top
    if top is not None:
        return top
    if not _global_graph:
        _global_graph.append(Graph())
    return _global_graph[0]


def reset_default_graph() -> None:
    """Replaces the global default graph by an empty one.

    Raises:
        AssertionError: A graph is the default by a `with` block now.
    """
    if graph_stack.items:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, "
            "exit the nesting and create a new graph."
        )
    _global_graph.clear()


def get_default_session() -> Any:
    """The default session of this thread, or None."""
    return session_stack.top


def graph_of(values: Sequence[Any], graph: Graph | None = None) -> Graph:
    """The graph that the graph elements among `values` share, else the default one.

    Raises:
        ValueError: They are of different graphs.
    """
    first = None
    if graph is None and get_default_graph()._takes_outside_tensors:
        return get_default_graph()
    for value in values:
        found = getattr(value, "graph", None)
        if not isinstance(found, Graph):
            continue
        if graph is None:
            graph, first = found, value
        elif found is not graph:
            other = f" as {first}" if first is not None else " as the given graph"
            raise InvalidValueError(f"{value} must be from the same graph{other}.")
    return graph or get_default_graph()


class name_scope:
    """`tf.name_scope(name, default_name=None, values=None)`: a scope for names.

    Checks that all `values` are of one graph and makes that the default inside.
    """

    def __init__(self, name: str | None, default_name: str | None = None, values: Any = None) -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError("name for name_scope must be a string.")
        if name is None and values is not None and default_name is None:
            raise InvalidValueError(
                "At least one of name (None) and default_name (None) should be provided when values is given"
            )
        self._name = default_name if name is None else name
        self._values = values

    @property
    def name(self) -> str | None:
        """The scope that was asked for."""
        return self._name

    def __enter__(self) -> str:
        graph = graph_of(self._values or ())
        self._default = graph_stack.push(graph)
        self._default.__enter__()
        self._scope = graph.name_scope(self._name)
        try:
            return self._scope.__enter__()
        except BaseException as error:
            self._default.__exit__(type(error), error, error.__traceback__)
            raise

    def __exit__(self, *exc: Any) -> None:
        self._scope.__exit__(*exc)
        self._default.__exit__(*exc)


def op_scope(values: Any, name: str | None, default_name: str | None = None) -> name_scope:
    """`tf.op_scope`: older order of `name_scope`'s arguments."""
    return name_scope(name, default_name, values)


def device(device_name_or_function: Any) -> Any:
    """`tf.device`: gives the operations of the default graph made inside a device name."""
    return get_default_graph().device(device_name_or_function)


def container(container_name: str) -> Any:
    """`tf.container` on the default graph."""
    return get_default_graph().container(container_name)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    """`tf.colocate_with` on the default graph."""
    return get_default_graph().colocate_with(op, ignore_existing)


def control_dependencies(control_inputs: Any) -> Any:
    """`tf.control_dependencies` on the default graph."""
    return get_default_graph().control_dependencies(control_inputs)


def add_to_collection(name: Any, value: Any) -> None:
    """Appends to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Appends to several collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """A copy of a collection of the default graph."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    """The list behind a collection of the default graph."""
    return get_default_graph().get_collection_ref(key)


def get_all_collection_keys() -> list[Any]:
    """The names of the collections of the default graph."""
    return get_default_graph().get_all_collection_keys()


class GraphKeys:
    """Standard names of collections; `tf.GraphKeys`."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    VARIABLES = "variables"
