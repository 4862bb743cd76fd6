"""From a MODEL argument to a graph with its variables in a session, for the commands that run one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..formats.errors import MissingNameError, bullets, did_you_mean
from . import models
from .feeds import Feed

INIT_COLLECTIONS = ("saved_model_main_op", "legacy_init_op", "table_initializer")
"""What a SavedModel runs after its variables are restored; the first that the graph has counts."""


@dataclass(frozen=True, slots=True)
class Running:
    """A model that can be run.

    Attributes:
        graph: Its `graphcore.Graph`.
        session: A session on it, variables restored.
        saver: The model's own Saver, or None.
        signatures: SignatureDef by name.
        located: Where it came from.
    """

    graph: Any
    session: Any
    saver: Any
    signatures: dict[str, Any]
    located: models.Located


@contextmanager
def open_model(
    model: str, *, checkpoint: str | None = None, allow_files: Sequence[str] = ()
) -> Iterator[Running]:
    """The graph of `model` in a session, variables restored from its checkpoint.

    Args:
        model: A MODEL argument.
        checkpoint: Take the variables from here instead.
        allow_files: Directories that the graph's own file ops may read and write; none by default.

    Raises:
        MissingFileError: No graph, or no such checkpoint.
    """
    from .. import graphcore as tf

    located = models.find(model)
    file = models.graph_of(located)
    variables = models.find(checkpoint).variables if checkpoint else located.variables
    graph = tf.Graph()
    saver = None
    signatures: dict[str, Any] = {}
    with graph.as_default():
        if file.meta_graphs:
            meta_graph = models.serving_graph(file)
            saver = tf.train.import_meta_graph(meta_graph)
            signatures = dict(meta_graph.signature_def)
        else:
            tf.import_graph_def(file.message, name="")
    with tf.Session(graph=graph) as session:
        yield Running(graph, session, saver, signatures, located)


def is_tensor(item: Any) -> bool:
    """Whether a named thing is a tensor, not an operation without outputs."""
    return hasattr(item, "value_index")


def fed_arrays(graph: Any, feeds: Sequence[Feed], batch: int | None = None) -> dict[Any, Any]:
    """The array for each fed tensor, read, converted and checked against its dtype and shape.

    Args:
        graph: A `graphcore.Graph`.
        feeds: What to feed.
        batch: Rows that are fed at a time: axis 0 may be longer where the tensor's is `batch`.

    Raises:
        MissingNameError: Some tensors do not exist.
        InvalidValueError: A value does not fit its tensor.
    """
    from .feeds import load, to_array

    fed = {}
    for feed, tensor in zip(feeds, named(graph, [feed.name for feed in feeds]), strict=True):
        shape = tensor.get_shape()
        dims = None if shape.ndims is None else shape.as_list()
        if batch is not None and dims and dims[0] == batch:
            dims = [None, *dims[1:]]
        fed[tensor] = to_array(feed, load(feed), tensor.dtype.base_dtype.as_numpy_dtype, dims)
    return fed


def named(graph: Any, names: Sequence[str]) -> list[Any]:
    """The tensor or operation of each name; `y` is `y:0`, or the operation where it has no outputs.

    Raises:
        MissingNameError: Some do not exist; all of them, each with the nearest names.
    """
    found, wrong = [], []
    operations = {operation.name: operation for operation in graph.get_operations()}
    for name in names:
        head, colon, number = name.rpartition(":")
        op_name, index = (head, int(number)) if colon and number.isdigit() else (name, 0)
        operation = operations.get(op_name)
        if operation is None:
            wrong.append(f"'{name}': there is no operation '{op_name}'.{did_you_mean(op_name, operations)}")
        elif index < len(operation.outputs):
            found.append(operation.outputs[index])
        elif not colon:
            found.append(operation)
        else:
            wrong.append(
                f"'{name}': operation '{op_name}' ({operation.type}) has {len(operation.outputs)} outputs."
            )
    if wrong:
        raise MissingNameError(f"The graph has no such tensor:{bullets(wrong)}", names=list(names))
    return found
