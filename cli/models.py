"""A MODEL, CHECKPOINT or STORE argument, in any of its forms: where are its graph and its variables?"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..formats import files
from ..formats.errors import InvalidValueError, MissingFileError, bullets
from . import render

if TYPE_CHECKING:
    from ..formats.entry import Entry
    from ..formats.graph_file import GraphFile
    from ..formats.saved_variables import SavedVariable

_SAVED_MODEL_NAMES = ("saved_model.pb", "saved_model.pbtxt")
_SERVING_TAG = "serve"


@dataclass(frozen=True, slots=True)
class Located:
    """Where the parts of a model are.

    Attributes:
        given: The argument.
        graph: A graph file or SavedModel directory, or None.
        variables: A checkpoint prefix or a store, or None.
        is_checkpoint: Whether `variables` is the prefix of a checkpoint.
    """

    given: str
    graph: str | None
    variables: str | None
    is_checkpoint: bool = False


def find(model: str) -> Located:
    """Finds the parts of a model: a prefix or any file of a checkpoint, a graph file, a SavedModel, a store.

    Raises:
        MissingFileError: Nothing is there; lists what was looked for.
        DataLossError: A checkpoint that lost the file on which all depends, and has no graph.
        UnimplementedError: A file of a kind that is not read.
    """
    from ..formats import checkpoint_state, registry

    if os.path.basename(model) in _SAVED_MODEL_NAMES and files.is_file(model):
        model = model.removesuffix(os.path.basename(model)) or "."
    if files.is_directory(model) and any(
        files.is_file(os.path.join(model, name)) for name in _SAVED_MODEL_NAMES
    ):
        prefix = os.path.join(model, "variables", "variables")
        has_variables = files.is_file(f"{prefix}.index")
        return Located(model, model, prefix if has_variables else None, has_variables)
    try:
        resolved = checkpoint_state.resolve_prefix(model)
    except MissingFileError:
        if files.is_file(model) and not checkpoint_state.is_checkpoint_file(model):
            is_graph = registry.detect(model).kind == "graph"
            return Located(model, model, None) if is_graph else Located(model, None, model)
        if files.is_file(f"{model}.meta"):
            return Located(model, f"{model}.meta", None)
        if registry.store_directory(model) is not None:
            return Located(model, None, model)
        from ..formats import summary

        lost = summary.what_is_left(model)
        if lost is None:
            raise
        if lost.fields["meta"] is None:
            raise lost from None
        return Located(model, lost.fields["meta"], None)
    if resolved.how:
        render.message(f"Using {resolved.prefix}, {resolved.how}.")
    # A checkpoint may have any name, and the file by the name of its graph be another.
    graph = model if model.endswith(".meta") and resolved.prefix != model else resolved.meta
    return Located(model, graph, resolved.prefix, True)


def graph_of(located: Located) -> GraphFile:
    """The graph of a model.

    Raises:
        MissingFileError: It has none.
    """
    from ..formats import graph_file

    if located.graph is None:
        variables_of(located)  # raises what is wrong with it: more than that it has no graph
        kind = "checkpoint" if located.is_checkpoint else "store of variables"
        beside = f" There is no {located.variables}.meta beside it." if located.is_checkpoint else ""
        raise MissingFileError(
            f"{located.given} is a {kind} without a graph.{beside} Name the graph file (.meta, .pb), "
            f"and {located.variables} as its --checkpoint.",
            path=located.given,
        )
    return graph_file.read_graph(located.graph)


def check_lost(located: Located) -> None:
    """Refuses a model whose variables were beside it and are lost: it is not one without a checkpoint.

    Raises:
        DataLossError: Files are left of its checkpoint, or it is a SavedModel that restores variables.
    """
    from ..formats import checkpoint_state, summary
    from ..formats.errors import MissingPartError

    if located.variables is not None:
        there, gone = checkpoint_state.v1_shards(located.variables) if located.is_checkpoint else ([], [])
        if there and gone:
            raise MissingPartError(
                f"{located.variables} is one of {len(there) + len(gone)} files of a checkpoint, of which "
                f"these are missing:{bullets(gone)}",
                path=gone[0],
                missing=gone,
            )
        return
    saved_model = located.graph is not None and files.is_directory(located.graph)
    lost = summary.lost_variables(graph_of(located)) if saved_model else summary.what_is_left(located.given)
    if lost is not None:
        raise lost


def serving_graph(file: GraphFile) -> Any:
    """The MetaGraphDef of a file: the only one, or of a SavedModel the one to serve."""
    graphs = file.meta_graphs
    return next((graph for graph in graphs if _SERVING_TAG in graph.meta_info_def.tags), graphs[0])


def variables_of(located: Located) -> Mapping[str, Entry]:
    """The variables of a model, lazy, by name.

    Raises:
        MissingFileError: It has none.
        DataLossError: The checkpoint or store is damaged.
    """
    from ..formats import registry

    if located.variables is None:
        graph_of(located)  # raises what is wrong with it, if anything is
        check_lost(located)
        raise MissingFileError(
            f"{located.given} is a graph without a checkpoint: it holds no values of variables. "
            f"Looked for {located.given.removesuffix('.meta')}.index.",
            path=located.given,
        )
    return registry.open_store(located.variables)


def meta_graph_bytes(located: Located) -> bytes | None:
    """The serialized MetaGraphDef of a model that has one."""
    from ..formats import protos

    if located.graph is None:
        return None
    file = graph_of(located)
    if not file.meta_graphs:
        return None
    encoded: bytes = protos.encode(serving_graph(file))
    return encoded


def store_path(store: str) -> str:
    """A STORE argument: a checkpoint in any form, or a file of arrays, told on stderr where it was chosen."""
    located = find(store)
    if located.variables is None:
        variables_of(located)  # raises
    check_lost(located)
    return str(located.variables)


def saved_variables_of(located: Located) -> dict[str, SavedVariable]:
    """The checkpoint keys of a model's graph.

    Raises:
        MissingFileError: It has no graph.
        InvalidValueError: The graph has no variables.
    """
    from ..formats.saved_variables import saved_variables

    file = graph_of(located)
    if file.meta_graphs:
        meta_graph = serving_graph(file)
        found = saved_variables(meta_graph.graph_def, meta_graph.saver_def)
    else:
        found = saved_variables(file.message)
    if not found:
        raise InvalidValueError(
            f"{located.graph} has no variables: there is nothing to restore (a frozen graph?).",
            path=located.graph,
        )
    return found


def own_values(located: Located, keys: Sequence[str]) -> dict[str, Entry]:
    """The model's own values of some variables: of its checkpoint, else their initial values.

    Raises:
        DataLossError: Its checkpoint is lost.
    """
    check_lost(located)
    store = variables_of(located) if located.variables else {}
    found = {key: store[key] for key in keys if key in store}
    rest = [key for key in keys if key not in store]
    if rest:
        from . import sessions

        found |= sessions.initial_values(located, rest)
    return found
