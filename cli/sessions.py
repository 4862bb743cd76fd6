"""From a MODEL argument to a graph with its variables in a session, for the commands that run one."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..formats import files
from ..formats.errors import (
    FailedPreconditionError,
    MissingNameError,
    UnimplementedError,
    bullets,
    did_you_mean,
)
from ..formats.files import FilePolicy
from . import models, render, specs
from .feeds import Feed

if TYPE_CHECKING:
    from ..formats.entry import Entry
    from ..formats.restore_report import RestoreReport

INIT_COLLECTIONS = ("saved_model_main_op", "legacy_init_op", "table_initializer")
"""What is run once the variables are restored (look-up tables are filled): the first that the graph has."""


@dataclass(frozen=True, slots=True)
class Running:
    """A model that can be run.

    Attributes:
        graph: Its `graphcore.Graph`.
        session: A session on it; its variables have values.
        signatures: SignatureDef by name.
    """

    graph: Any
    session: Any
    signatures: dict[str, Any]


def file_policy(allow_files: Sequence[str], assets: Collection[str] = ()) -> FilePolicy:
    """What the ops of a loaded graph may do with files: nothing, but for the directories that are named.

    Args:
        allow_files: Directories that may be read and written.
        assets: Files of the model itself, which may be read.
    """
    how = "allow it with --allow-files DIR"
    return FilePolicy((*allow_files, *assets) or "nothing", tuple(allow_files) or "nothing", how)


@contextmanager
def open_model(
    model: str,
    *,
    checkpoint: str | None = None,
    overrides: Sequence[str] = (),
    allow_files: Sequence[str] = (),
) -> Iterator[Running]:
    """The graph of `model` in a session, its variables restored; those of a spec are initialised.

    Args:
        model: A MODEL argument, or a spec.
        checkpoint: Take the variables from here instead.
        overrides: `KEY=VALUE` for a spec.
        allow_files: Directories that the graph's own file ops may read and write; none by default.

    Raises:
        MissingFileError: No graph, or no such checkpoint.
        MissingNameError: A variable of the graph is not in the checkpoint.
    """
    from .. import graphcore as tf

    signatures: dict[str, Any]
    assets: dict[str, str]
    specs.check_overrides(model, overrides)
    if specs.is_spec(model):
        graph = specs.build(model, specs.parse_overrides(overrides)).graph

        variables, saver, signatures, assets, fresh = None, None, {}, {}, True
    else:
        located = models.find(model)
        graph, saver, signatures, assets = import_model(located)
        variables, fresh = located.variables, False
        if checkpoint is None:
            models.check_lost(located)
    if checkpoint is not None:
        variables = models.store_path(checkpoint)
    policy = file_policy(allow_files, assets.values())
    with render.prints_aside(), tf.Session(graph=graph, file_policy=policy) as session:
        with graph.as_default():
            if fresh and variables is None:
                session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
                render.message("The variables have their initial values; --checkpoint takes trained ones.")
            elif variables is not None:
                restore_variables(graph, session, variables, saver)
            run_initial_ops(graph, session, assets)
        try:
            yield Running(graph, session, signatures)
        except FailedPreconditionError as error:
            if variables is None and not fresh:
                error.message = (
                    f"{error.message}\n{model} has no checkpoint beside it; name one with --checkpoint."
                )
            raise


def import_model(located: models.Located) -> tuple[Any, Any, dict[str, Any], dict[str, str]]:
    """A model's graph, its Saver (or None), its signatures, and its assets (path by the tensor fed it)."""
    from .. import graphcore as tf
    from ..formats import session_bundle

    file = models.graph_of(located)
    graph = tf.Graph()
    with graph.as_default():
        if not file.meta_graphs:
            tf.import_graph_def(file.message, name="")
            return graph, None, {}, {}
        meta_graph = models.serving_graph(file)
        saver = tf.train.import_meta_graph(meta_graph)
        folder = os.path.join(os.path.split(file.path)[0], "assets")  # the path may be an address
        assets = {
            tensor: files.contained(folder, name)
            for tensor, name in session_bundle.assets(meta_graph).items()
        }
        return graph, saver, session_bundle.signature_defs(meta_graph), assets


def restore_variables(
    graph: Any,
    session: Any,
    path: str,
    saver: Any = None,
    only: Collection[str] | None = None,
    partial: bool = False,
) -> RestoreReport:
    """Gives the variables of a session the values in a checkpoint or store; all are read before one is set.

    Args:
        graph: A `graphcore.Graph`.
        session: A session on it.
        path: A checkpoint prefix, `.h5` or `.npz`.
        saver: The graph's Saver, whose keys count; by default each variable's own name.
        only: Names of the variables' operations to restore; by default all.
        partial: Leave out what is missing; else it is an error.

    Raises:
        MissingNameError: Variables are not in the store; lists all.
        InvalidArgumentError: Shapes or dtypes differ; lists all.
        DataLossError: The store is damaged.
    """
    from ..formats import registry
    from ..graphcore.restore import check, compare, read_all

    store = registry.open_store(path)
    wanted = [each for each in _saveables(graph, saver) if only is None or each.variable.name in only]
    report, chosen, complaint = compare(store, wanted, path)
    check(report, complaint, partial)
    values = read_all(store, chosen)
    for (each, _), value in zip(chosen, values, strict=True):
        each.holder(session._state).assign(value)
    return report


def _saveables(graph: Any, saver: Any) -> list[Any]:
    """What a checkpoint of the graph holds: by its saver, its collections, or its variable operations."""
    from ..graphcore.saveables import Saveable, of_variables

    if saver is not None:
        return list(saver.saveables)
    found = of_variables(None, graph)
    variables = (op for op in graph.get_operations() if op.type in ("VariableV2", "Variable", "VarHandleOp"))
    return found or [Saveable(op.name, op) for op in variables]


@render.prints_aside()
def initial_values(located: models.Located, keys: Sequence[str]) -> dict[str, Entry]:
    """The initial values of some variables of a model, made by its own initializers.

    Raises:
        FailedPreconditionError: The graph does not say how they begin.
    """
    from .. import graphcore as tf

    graph, saver, _, _ = import_model(located)
    with graph.as_default(), tf.Session(graph=graph, file_policy=file_policy(())) as session:
        session.run(tf.global_variables_initializer())
        found = {
            each.key: each.entry(session._state) for each in _saveables(graph, saver) if each.key in keys
        }
    unknown = sorted(key for key in keys if found.get(key) is None)
    if unknown:
        raise FailedPreconditionError(
            f"The model has no checkpoint and no initializer for:{bullets(unknown)}", names=unknown
        )
    return found


def run_initial_ops(graph: Any, session: Any, assets: Mapping[str, str]) -> None:
    """Fills look-up tables and whatever else a model does once before it is run.

    Args:
        graph: A `graphcore.Graph`.
        session: A session on it.
        assets: The paths of the model's own files, by the tensor that is fed each.
    """
    for name in INIT_COLLECTIONS:
        operations = [item for item in graph.get_collection(name) if hasattr(item, "node_def")]
        if operations:
            try:
                session.run(operations, dict(assets))
            except UnimplementedError as error:
                render.message(f"{name} was not run, since {error}")
            return


def is_tensor(item: Any) -> bool:
    """Whether a named thing is a tensor, not an operation without outputs."""
    return hasattr(item, "value_index")


def fed_arrays(
    graph: Any, feeds: Sequence[Feed], batch: int | None = None, any_rows: bool = False
) -> dict[Any, Any]:
    """The array for each fed tensor, read, converted and checked against its dtype and shape.

    Args:
        graph: A `graphcore.Graph`.
        feeds: What to feed.
        batch: Rows that are fed at a time: axis 0 may be longer where the tensor's is `batch`.
        any_rows: Axis 0 may be of any length: the caller cuts it into batches.

    Raises:
        MissingNameError: Some tensors do not exist.
        InvalidValueError: A value does not fit its tensor.
    """
    import numpy as np

    from .feeds import load, to_array

    fed = {}
    for feed, tensor in zip(feeds, named(graph, [feed.name for feed in feeds], to_feed=True), strict=True):
        shape = tensor.get_shape()
        dims = None if shape.ndims is None else shape.as_list()
        if dims and (any_rows or dims[0] == batch):
            dims = [None, *dims[1:]]
        fed[tensor] = to_array(feed, load(feed), np.dtype(tensor.dtype.base_dtype.as_numpy_dtype), dims)
    return fed


def named(graph: Any, names: Sequence[str], to_feed: bool = False) -> list[Any]:
    """The tensor or operation of each name; `y` is `y:0`, or the operation where it has no outputs.

    Args:
        graph: A `graphcore.Graph`.
        names: The names.
        to_feed: They are to be fed: of a wrong name the error lists the placeholders.

    Raises:
        MissingNameError: Some do not exist; all of them, each with the nearest names.
        UnimplementedError: Some are outputs of ops that are not implemented.
    """
    found, opaque = [], {}
    wrong: dict[str, str] = {}
    operations = {operation.name: operation for operation in graph.get_operations()}
    for name in names:
        head, colon, number = name.rpartition(":")
        op_name, index = (head, int(number)) if colon and number.isdigit() else (name, 0)
        operation = operations.get(op_name)
        if operation is None:
            hint = did_you_mean(op_name, operations) or (_placeholders(graph) if to_feed else "")
            wrong[name] = f"'{name}': there is no operation '{op_name}'.{hint}"
        elif index < len(operation.outputs):
            found.append(operation.outputs[index])
        elif not colon:
            found.append(operation)
        elif operation.definition is None:
            opaque[name] = operation.type
        else:
            outputs = len(operation.outputs)
            count = f"{outputs} output{'' if outputs == 1 else 's'}"
            wrong[name] = f"'{name}': operation '{op_name}' ({operation.type}) has {count}."
    if wrong:
        text = f"The graph has no such tensor:{bullets(list(wrong.values()))}"
        raise MissingNameError(text, names=list(wrong))
    if opaque:
        lines = [f"'{name}' ({op})" for name, op in opaque.items()]
        raise UnimplementedError(
            f"These are outputs of ops that are not implemented:{bullets(lines)}",
            ops=sorted(set(opaque.values())),
        )
    return found


def _placeholders(graph: Any, shown: int = 10) -> str:
    """A sentence that lists what can be fed."""
    every = [op.name for op in graph.get_operations() if op.type.startswith("Placeholder")]
    names = [name for name in every if not name.startswith("save/")]  # where a saver takes its file's name
    if not names:
        return " The graph has no placeholders."
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return f" The placeholders are: {', '.join(names[:shown])}{more}."
