"""Writing SavedModels out of sessions.

Source: tensorflow/python/saved_model/{builder,main_op,simple_save}*.py (r1.15), behaviour and texts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..formats import files, graph_file, protos
from ..formats.errors import InvalidUseError, bullets
from ..formats.saved_model_writer import (
    ASSETS_KEY,
    LEGACY_INIT_OP_KEY,
    MAIN_OP_KEY,
    SCHEMA_VERSION,
    VARIABLES_DIRECTORY,
    asset_names,
    check_empty,
    graph_path,
    variables_prefix,
    write_assets,
)
from .default import GraphKeys, control_dependencies, get_default_graph
from .dtypes import string
from .errors import InvalidTypeError, InvalidValueError, MissingFileError, MissingNameError
from .graph import Graph
from .op import group
from .operation import Operation, Tensor
from .saved_model_signatures import DEFAULT_SERVING_SIGNATURE_DEF_KEY, RESERVED, predict_signature_def
from .saver import V2, Saver
from .variables import global_variables_initializer, local_variables_initializer, tables_initializer

SERVING = "serve"


class SavedModelBuilder:
    """Builds a SavedModel: the first graph brings the variables, others share them.

    Args:
        export_dir: Where; it must be empty, or not exist.

    Raises:
        AssertionError: There is something in the directory.
    """

    def __init__(self, export_dir: str | os.PathLike[str]) -> None:
        self._export_dir = os.fspath(export_dir)
        check_empty(self._export_dir)
        files.make_directory(self._export_dir, parents=True)
        self._saved_model = protos.SavedModel(saved_model_schema_version=SCHEMA_VERSION)
        self._assets: dict[str, str] = {}  # name -> file
        self._has_saved_variables = False

    def add_meta_graph_and_variables(
        self,
        sess: Any,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Iterable[Any] | None = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Adds the session's graph and writes its variables and assets.

        Nothing is written unless all of the arguments are right.

        Args:
            sess: The session.
            tags: What the graph is to be found by.
            signature_def_map: Its signatures.
            assets_collection: Constants with the names of files that the graph reads; these are copied.
            legacy_init_op: Old name of `main_op`.
            clear_devices: Leave the nodes' devices out.
            main_op: An operation to run once it is loaded (to fill tables, say).
            strip_default_attrs: Leave out attributes that have their default.
            saver: What saves the variables; by default all are saved, and tables.

        Raises:
            AssertionError: It is the second time, or a signature is incomplete; lists all that is wrong.
            KeyError: A signature has a reserved key.
            TypeError: `main_op` is no operation, an asset no constant string.
            ValueError: The graph has a main op already, or an asset has no name.
        """
        if self._has_saved_variables:
            raise InvalidUseError(
                "Graph state including variables and assets has already been saved. Please invoke "
                "`add_meta_graph()` instead."
            )
        with sess.graph.as_default():
            saver, meta, assets = self._prepared(
                signature_def_map, assets_collection, legacy_init_op if main_op is None else main_op,
                clear_devices, strip_default_attrs, saver,
            )  # fmt: skip
            files.make_directory(os.path.join(self._export_dir, VARIABLES_DIRECTORY))
            saver.save(sess, variables_prefix(self._export_dir), write_meta_graph=False, write_state=False)
        self._add(meta, tags, assets)
        self._has_saved_variables = True

    def add_meta_graph(
        self,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Iterable[Any] | None = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Adds the default graph, which shares the variables of the first.

        Arguments and errors as `add_meta_graph_and_variables`, which must have been called before.
        """
        if not self._has_saved_variables:
            raise InvalidUseError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )
        _, meta, assets = self._prepared(
            signature_def_map, assets_collection, legacy_init_op if main_op is None else main_op,
            clear_devices, strip_default_attrs, saver,
        )  # fmt: skip
        self._add(meta, tags, assets)

    def save(self, as_text: bool = False) -> bytes:
        """Writes the graphs, atomically and last; before, the directory is no SavedModel.

        Args:
            as_text: Write `saved_model.pbtxt` instead of `saved_model.pb`.

        Returns:
            The path of the file, as bytes.

        Raises:
            AssertionError: No graph was added.
        """
        if not self._saved_model.meta_graphs:
            raise InvalidUseError(
                "The SavedModel has no graph. Please invoke `add_meta_graph_and_variables()` first."
            )
        files.make_directory(self._export_dir, parents=True)
        path = graph_path(self._export_dir, as_text)
        graph_file.write_graph(path, self._saved_model, text=as_text)
        return path.encode()

    def _prepared(
        self,
        signatures: Mapping[str, Any] | None,
        assets: Iterable[Any] | None,
        main_op: Any,
        clear_devices: bool,
        strip_default_attrs: bool,
        saver: Saver | None,
    ) -> tuple[Saver, Any, dict[str, str]]:
        """The saver, the MetaGraphDef, and the files to copy by name; nothing is written yet."""
        graph = get_default_graph()
        _check_signatures(signatures or {})
        _check_main_op(graph, main_op)
        named, described = self._named_assets(graph, assets or ())
        if saver is None:
            saver = Saver(sharded=True, write_version=V2, allow_empty=True)
        meta = saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=strip_default_attrs)
        meta.signature_def.clear()
        for key, signature in (signatures or {}).items():
            meta.signature_def[key].CopyFrom(signature)
        if main_op is not None:
            meta.collection_def[MAIN_OP_KEY].node_list.value.append(main_op.name)
        for asset in described:
            meta.collection_def[ASSETS_KEY].any_list.value.add().Pack(asset)
        return saver, meta, named

    def _named_assets(self, graph: Graph, tensors: Iterable[Any]) -> tuple[dict[str, str], list[Any]]:
        """The files by the names that they get, and an AssetFileDef for each tensor."""
        paths = [(tensor, _asset_path(graph, tensor)) for tensor in tensors]
        missing = [path for _, path in paths if not files.is_file(path)]
        if missing:
            raise MissingFileError(f"These assets do not exist:{bullets(missing)}", paths=missing)
        names = asset_names([path for _, path in paths])
        described = []
        for tensor, path in paths:
            asset = protos.AssetFileDef(filename=names[path])
            asset.tensor_info.name = tensor.name
            described.append(asset)
        return {name: path for path, name in names.items()}, described

    def _add(self, meta: Any, tags: Iterable[str], assets: dict[str, str]) -> None:
        write_assets(self._export_dir, assets)
        meta.meta_info_def.tags.extend([tags] if isinstance(tags, str) else tags)
        self._saved_model.meta_graphs.add().CopyFrom(meta)


def _check_signatures(signatures: Mapping[str, Any]) -> None:
    reserved = [key for key in signatures if key in RESERVED]
    if reserved:
        raise MissingNameError(
            f'SignatureDef map key "{reserved[0]}" is reserved for {RESERVED[reserved[0]]}. Please use a '
            "different key.",
            keys=reserved,
        )
    problems = [
        f"{key}, {kind} '{name}': {problem}"
        for key, signature in signatures.items()
        for kind, infos in (("input", signature.inputs), ("output", signature.outputs))
        for name, info in infos.items()
        if (problem := _problem_of(info))
    ]
    if problems:
        raise InvalidUseError(
            "All TensorInfo protos used in the SignatureDefs must have the name and dtype fields set"
            f":{bullets(problems)}",
            problems=problems,
        )


def _problem_of(info: Any) -> str:
    """What a TensorInfo lacks, or ""."""
    encoding = info.WhichOneof("encoding")
    if encoding is None:
        return "it must have one of the 'encoding' fields (e.g., name or coo_sparse) set"
    if encoding == "composite_tensor":
        return next(filter(None, map(_problem_of, info.composite_tensor.components)), "")
    return "" if info.dtype else "it must have the dtype field set"


def _check_main_op(graph: Graph, main_op: Any) -> None:
    if main_op is None:
        return
    if not isinstance(main_op, Operation):
        raise InvalidTypeError(f"main_op needs to be an Operation: {main_op!r}")
    for key in (MAIN_OP_KEY, LEGACY_INIT_OP_KEY):
        if graph.get_collection(key):
            raise InvalidValueError(
                f"Graph already contains one or more main ops under the collection {key}."
            )


def _asset_path(graph: Graph, tensor: Any) -> str:
    """The file that a constant names."""
    if not isinstance(tensor, Tensor):
        raise InvalidTypeError("Asset path tensor must be a Tensor.")
    if tensor.op.type != "Const":
        raise InvalidTypeError("Asset path tensor must be of type constant.")
    if tensor.dtype != string:
        raise InvalidTypeError("Asset path tensor must be of dtype string.")
    value = np.asarray(graph.constant_value(tensor))
    if value.size != 1:
        raise InvalidTypeError("Asset path tensor must be a scalar.")
    path: bytes = value.reshape(-1)[0]
    if not path:
        raise InvalidValueError(f"Invalid asset filepath tensor {tensor}")
    return path.decode()


def simple_save(
    session: Any,
    export_dir: str | os.PathLike[str],
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    legacy_init_op: Any = None,
) -> None:
    """`tf.saved_model.simple_save`: a SavedModel for serving, with one signature for prediction.

    Files named in the collection `ASSET_FILEPATHS` are its assets.

    Args:
        session: The session with the variables.
        export_dir: Where; it must be empty, or not exist.
        inputs: The inputs by name.
        outputs: The outputs by name.
        legacy_init_op: An operation to run once it is loaded.

    Raises:
        AssertionError: There is something in the directory.
        ValueError: There are no inputs or no outputs.
    """
    signatures = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: predict_signature_def(inputs, outputs)}
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session,
        [SERVING],
        signatures,
        session.graph.get_collection(GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op,
        clear_devices=True,
    )
    builder.save()


def main_op() -> Operation:
    """The operation that initializes variables, local variables and tables."""
    return group(global_variables_initializer(), local_variables_initializer(), tables_initializer())


def main_op_with_restore(restore_op_name: Any) -> Operation:
    """As `main_op`, followed by another operation.

    Args:
        restore_op_name: The operation that restores, or its name.
    """
    operation = restore_op_name
    if isinstance(restore_op_name, str):
        operation = get_default_graph().get_operation_by_name(restore_op_name)
    with control_dependencies([main_op()]):
        return group(operation)
