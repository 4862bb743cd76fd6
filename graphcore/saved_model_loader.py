"""Loading SavedModels into a session: graph, variables, assets, initialization.

Source: tensorflow/python/saved_model/loader_impl.py (r1.15), behaviour and texts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..formats import checkpoint_state, files, graph_file, protos
from ..formats.errors import UnparsedFileError, bullets
from ..formats.saved_model_writer import (
    ASSETS_DIRECTORY,
    ASSETS_KEY,
    FILENAME_PB,
    FILENAME_PBTXT,
    INIT_OP_SIGNATURE_KEY,
    LEGACY_INIT_OP_KEY,
    MAIN_OP_KEY,
)
from . import meta_graph
from .errors import DataLossError, MissingFileError, MissingNameError
from .saver import saver_of
from .session import Session


def maybe_saved_model_directory(export_dir: str | os.PathLike[str]) -> bool:
    """Whether a directory has a `saved_model.pb` or `saved_model.pbtxt`; nothing is read."""
    return any(files.is_file(os.path.join(export_dir, name)) for name in (FILENAME_PB, FILENAME_PBTXT))


def pick_meta_graph(saved_model: Any, tags: Iterable[str], where: str) -> Any:
    """The MetaGraphDef whose tags are exactly `tags`.

    Raises:
        RuntimeError: There is none; lists those that there are.
    """
    wanted = set(tags)
    for candidate in saved_model.meta_graphs:
        if set(candidate.meta_info_def.tags) == wanted:
            return candidate
    found = [", ".join(sorted(item.meta_info_def.tags)) or "(none)" for item in saved_model.meta_graphs]
    named = ", ".join(map(repr, sorted(wanted)))
    raise RuntimeError(
        f"MetaGraphDef associated with tags {named} could not be found in SavedModel {where}. "
        f"It has graphs with the tags:{bullets(found)}"
    )


def read_saved_model(export_dir: str | os.PathLike[str]) -> graph_file.GraphFile:
    """The graph file of a SavedModel directory.

    Raises:
        OSError: There is none, or it is damaged.
    """
    where = os.fspath(export_dir)
    if not maybe_saved_model_directory(where):
        raise MissingFileError(
            f"SavedModel file does not exist at: {where}/{{{FILENAME_PBTXT}|{FILENAME_PB}}}", path=where
        )
    try:
        return graph_file.read_graph(where)
    except DataLossError as error:
        raise UnparsedFileError(f"Cannot parse file: {error}", **error.fields) from error


def load(
    sess: Session,
    tags: Iterable[str],
    export_dir: str | os.PathLike[str],
    import_scope: str | None = None,
    **saver_kwargs: Any,
) -> Any:
    """`tf.saved_model.loader.load`: adds a SavedModel's graph to the session's graph and restores it.

    Args:
        sess: The session.
        tags: The tags of the graph to load.
        export_dir: The SavedModel directory.
        import_scope: Prefix of all names.
        **saver_kwargs: `input_map` and others of `import_meta_graph`.

    Returns:
        The MetaGraphDef message, as it is in the file: without `import_scope`.

    Raises:
        OSError: There is no SavedModel, or it is damaged.
        RuntimeError: It has no graph with these tags, or more than one operation to initialize it.
        OpError: Its variables are damaged, or its initialization fails.
    """
    where = os.fspath(export_dir)
    saved_model = read_saved_model(where)
    meta = pick_meta_graph(saved_model, [tags] if isinstance(tags, str) else tags, where)
    graph = sess.graph
    with graph.as_default():
        imported = meta_graph.import_meta(meta, import_scope=import_scope, **saver_kwargs)
        saver = saver_of(imported)
        prefix = saved_model.variables_prefix
        if saver is not None and prefix is not None:
            saver.restore_report(sess, checkpoint_state.resolve_prefix(prefix))
        name = _initialization(meta)
        if name:
            _run_initialization(sess, name, imported, _asset_feeds(meta, imported, where))
    return meta


def _asset_feeds(meta: Any, imported: meta_graph.Imported, where: str) -> dict[str, Any]:
    """Full paths of the asset files for the tensors that hold their names."""
    assets = list(meta.asset_file_def)
    if not assets and ASSETS_KEY in meta.collection_def:
        for item in meta.collection_def[ASSETS_KEY].any_list.value:
            asset = protos.AssetFileDef()
            item.Unpack(asset)
            assets.append(asset)
    return {
        imported.rename(asset.tensor_info.name): np.array(
            files.contained(os.path.join(where, ASSETS_DIRECTORY), asset.filename).encode(), object
        )
        for asset in assets
    }


def _initialization(meta: Any) -> str:
    """The name in the message of what initializes the graph, or "".

    Raises:
        RuntimeError: A collection names not one operation.
    """
    if INIT_OP_SIGNATURE_KEY in meta.signature_def:
        info = meta.signature_def[INIT_OP_SIGNATURE_KEY].outputs.get(INIT_OP_SIGNATURE_KEY)
        if info is not None:
            return str(info.name)
    for key in (MAIN_OP_KEY, LEGACY_INIT_OP_KEY):
        if key in meta.collection_def:
            names = list(meta.collection_def[key].node_list.value)
            if len(names) != 1:
                raise RuntimeError(f"Expected exactly one SavedModel init op. Found: {names}")
            return str(names[0])
    return ""


def _run_initialization(
    sess: Session, name: str, imported: meta_graph.Imported, feeds: dict[str, Any]
) -> None:
    graph, renamed = sess.graph, imported.rename(name)
    operation = graph._operations.get(renamed.rpartition(":")[0] or renamed)
    if operation is None:
        raise MissingNameError(
            f"{name}, which initializes the SavedModel, could not be found in the graph.", name=name
        )
    known = {key: value for key, value in feeds.items() if key.rpartition(":")[0] in graph._operations}
    sess.run(operation, known)
