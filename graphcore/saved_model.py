"""`tf.saved_model`: loading SavedModels, and building signatures.

Source: tensorflow/python/saved_model (r1.15), behaviour only.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..formats import checkpoint_state, files, graph_file, protos
from ..formats.errors import bullets
from . import meta_graph, not_yet
from .default import get_default_graph
from .errors import InvalidValueError, MissingFileError
from .operation import Tensor
from .saver import saver_of
from .session import Session

# Tags
SERVING = "serve"
TRAINING = "train"
EVAL = "eval"
GPU = "gpu"
TPU = "tpu"

# Keys and method names of signatures
DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
CLASSIFY_INPUTS = "inputs"
CLASSIFY_METHOD_NAME = "tensorflow/serving/classify"
CLASSIFY_OUTPUT_CLASSES = "classes"
CLASSIFY_OUTPUT_SCORES = "scores"
PREDICT_INPUTS = "inputs"
PREDICT_METHOD_NAME = "tensorflow/serving/predict"
PREDICT_OUTPUTS = "outputs"
REGRESS_INPUTS = "inputs"
REGRESS_METHOD_NAME = "tensorflow/serving/regress"
REGRESS_OUTPUTS = "outputs"

# Places
ASSETS_DIRECTORY = "assets"
SAVED_MODEL_FILENAME_PB = "saved_model.pb"
SAVED_MODEL_FILENAME_PBTXT = "saved_model.pbtxt"
VARIABLES_DIRECTORY = "variables"
VARIABLES_FILENAME = "variables"
MAIN_OP_KEY = "saved_model_main_op"
LEGACY_INIT_OP_KEY = "legacy_init_op"
INIT_OP_SIGNATURE_KEY = "__saved_model_init_op"


def contains_saved_model(export_dir: str | os.PathLike[str]) -> bool:
    """Whether a directory has a `saved_model.pb` or `saved_model.pbtxt`."""
    return any(
        files.is_file(os.path.join(export_dir, name))
        for name in (SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT)
    )


maybe_saved_model_directory = contains_saved_model


def pick_meta_graph(saved_model: Any, tags: Sequence[str], where: str) -> Any:
    """The MetaGraphDef whose tags are exactly `tags`.

    Raises:
        RuntimeError: There is none; lists those that there are.
    """
    wanted = set(tags)
    for candidate in saved_model.meta_graphs:
        if set(candidate.meta_info_def.tags) == wanted:
            return candidate
    found = [", ".join(sorted(item.meta_info_def.tags)) or "(none)" for item in saved_model.meta_graphs]
    raise RuntimeError(
        f"MetaGraphDef associated with tags {', '.join(sorted(wanted))} could not be found in "
        f"SavedModel {where}. "
        f"It has graphs with the tags:{bullets(found)}"
    )


def load(
    sess: Session,
    tags: Sequence[str],
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
        The MetaGraphDef message.

    Raises:
        OSError: There is no SavedModel.
        RuntimeError: It has no graph with these tags.
        OpError: It is damaged, or its initialization fails.
    """
    where = os.fspath(export_dir)
    if not contains_saved_model(where):
        raise MissingFileError(
            "SavedModel file does not exist at: "
            f"{where}/{{{SAVED_MODEL_FILENAME_PBTXT}|{SAVED_MODEL_FILENAME_PB}}}",
            path=where,
        )
    saved_model = graph_file.read_graph(where)
    meta = pick_meta_graph(saved_model, [tags] if isinstance(tags, str) else tags, where)
    graph = sess.graph
    with graph.as_default():
        imported = meta_graph.import_meta(meta, import_scope=import_scope, **saver_kwargs)
        saver = saver_of(imported)
        prefix = saved_model.variables_prefix
        if saver is not None and prefix is not None:
            saver.restore_report(sess, checkpoint_state.resolve_prefix(prefix))
        feeds = _asset_feeds(meta, imported, where)
        _run_initialization(sess, graph, meta, imported, feeds)
    return meta


def _asset_feeds(meta: Any, imported: meta_graph.Imported, where: str) -> dict[str, Any]:
    """Full paths of the asset files for the tensors that hold their names."""
    assets = list(meta.asset_file_def)
    if not assets and "saved_model_assets" in meta.collection_def:
        for item in meta.collection_def["saved_model_assets"].any_list.value:
            asset = protos.AssetFileDef()
            item.Unpack(asset)
            assets.append(asset)
    return {
        imported.rename(asset.tensor_info.name): np.array(
            files.contained(os.path.join(where, ASSETS_DIRECTORY), asset.filename).encode(), object
        )
        for asset in assets
    }


def _run_initialization(
    sess: Session, graph: Any, meta: Any, imported: meta_graph.Imported, feeds: dict[str, Any]
) -> None:
    """Runs the main op, or what older writers called the legacy init op."""
    names = []
    if INIT_OP_SIGNATURE_KEY in meta.signature_def:
        info = meta.signature_def[INIT_OP_SIGNATURE_KEY].outputs.get(INIT_OP_SIGNATURE_KEY)
        if info is not None:
            names.append(info.name)
    for key in (MAIN_OP_KEY, LEGACY_INIT_OP_KEY):
        if not names and key in meta.collection_def:
            names += list(meta.collection_def[key].node_list.value)
    for name in names:
        operation = graph.as_graph_element(imported.rename(name).rpartition(":")[0] or imported.rename(name))
        sess.run(
            operation,
            {key: value for key, value in feeds.items() if key.rpartition(":")[0] in graph._operations},
        )


# Signatures


def build_tensor_info(tensor: Tensor) -> Any:
    """The TensorInfo of a tensor: name, dtype and shape."""
    info = protos.TensorInfo(name=tensor.name, dtype=tensor.dtype.base_dtype.as_datatype_enum)
    info.tensor_shape.CopyFrom(tensor.get_shape().as_proto())
    return info


def get_tensor_from_tensor_info(
    tensor_info: Any, graph: Any = None, import_scope: str | None = None
) -> Tensor:
    """The tensor that a TensorInfo names."""
    graph = graph or get_default_graph()
    name = f"{import_scope}/{tensor_info.name}" if import_scope else tensor_info.name
    tensor: Tensor = graph.get_tensor_by_name(name)
    return tensor


def build_signature_def(
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    method_name: str | None = None,
) -> Any:
    """A SignatureDef of TensorInfos by name."""
    signature = protos.SignatureDef(method_name=method_name or "")
    for target, infos in ((signature.inputs, inputs or {}), (signature.outputs, outputs or {})):
        for name, info in infos.items():
            target[name].CopyFrom(info)
    return signature


def predict_signature_def(inputs: Mapping[str, Tensor], outputs: Mapping[str, Tensor]) -> Any:
    """A signature for prediction.

    Raises:
        ValueError: There are no inputs or no outputs.
    """
    for word, tensors in (("inputs", inputs), ("outputs", outputs)):
        if not tensors:
            raise InvalidValueError(f"Prediction {word} cannot be None or empty.")
    return build_signature_def(
        {name: build_tensor_info(tensor) for name, tensor in inputs.items()},
        {name: build_tensor_info(tensor) for name, tensor in outputs.items()},
        PREDICT_METHOD_NAME,
    )


def regression_signature_def(examples: Tensor, predictions: Tensor) -> Any:
    """A signature for regression: serialized examples to float predictions.

    Raises:
        ValueError: A dtype is another.
    """
    _check_dtype("Regression input tensors", examples, "string")
    _check_dtype("Regression output tensors", predictions, "float32")
    return build_signature_def(
        {REGRESS_INPUTS: build_tensor_info(examples)},
        {REGRESS_OUTPUTS: build_tensor_info(predictions)},
        REGRESS_METHOD_NAME,
    )


def classification_signature_def(examples: Tensor, classes: Tensor | None, scores: Tensor | None) -> Any:
    """A signature for classification: serialized examples to classes and scores.

    Raises:
        ValueError: Neither is given, or a dtype is another.
    """
    if classes is None and scores is None:
        raise InvalidValueError("Classification classes and scores cannot both be None.")
    _check_dtype("Classification input tensors", examples, "string")
    outputs = {}
    if classes is not None:
        _check_dtype("Classification classes", classes, "string")
        outputs[CLASSIFY_OUTPUT_CLASSES] = build_tensor_info(classes)
    if scores is not None:
        _check_dtype("Classification scores", scores, "float32")
        outputs[CLASSIFY_OUTPUT_SCORES] = build_tensor_info(scores)
    return build_signature_def({CLASSIFY_INPUTS: build_tensor_info(examples)}, outputs, CLASSIFY_METHOD_NAME)


def _check_dtype(what: str, tensor: Tensor, name: str) -> None:
    if tensor.dtype.base_dtype.name != name:
        raise InvalidValueError(f"{what} must be of type {name}, not {tensor.dtype.base_dtype.name}")


def is_valid_signature(signature_def: Any) -> bool:
    """Whether a SignatureDef has inputs, outputs and a known method, as serving needs it."""
    known = (PREDICT_METHOD_NAME, REGRESS_METHOD_NAME, CLASSIFY_METHOD_NAME)
    return bool(signature_def.inputs and signature_def.outputs) and signature_def.method_name in known


# Where TensorFlow 1.15 has them
loader = SimpleNamespace(load=load, maybe_saved_model_directory=maybe_saved_model_directory)
tag_constants = SimpleNamespace(SERVING=SERVING, TRAINING=TRAINING, EVAL=EVAL, GPU=GPU, TPU=TPU)
utils = SimpleNamespace(
    build_tensor_info=build_tensor_info, get_tensor_from_tensor_info=get_tensor_from_tensor_info
)
signature_def_utils = SimpleNamespace(
    build_signature_def=build_signature_def,
    predict_signature_def=predict_signature_def,
    regression_signature_def=regression_signature_def,
    classification_signature_def=classification_signature_def,
    is_valid_signature=is_valid_signature,
)
signature_constants = SimpleNamespace(
    **{
        name: value
        for name, value in globals().items()
        if name.startswith(("CLASSIFY_", "PREDICT_", "REGRESS_", "DEFAULT_"))
    }
)
constants = SimpleNamespace(
    ASSETS_DIRECTORY=ASSETS_DIRECTORY,
    ASSETS_KEY="saved_model_assets",
    MAIN_OP_KEY=MAIN_OP_KEY,
    LEGACY_INIT_OP_KEY=LEGACY_INIT_OP_KEY,
    SAVED_MODEL_FILENAME_PB=SAVED_MODEL_FILENAME_PB,
    SAVED_MODEL_FILENAME_PBTXT=SAVED_MODEL_FILENAME_PBTXT,
    SAVED_MODEL_SCHEMA_VERSION=1,
    VARIABLES_DIRECTORY=VARIABLES_DIRECTORY,
    VARIABLES_FILENAME=VARIABLES_FILENAME,
)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)
