"""`tf.saved_model`: writing and loading SavedModels, and their signatures."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ..formats.saved_model_writer import (
    ASSETS_DIRECTORY,
    ASSETS_KEY,
    FILENAME_PB as SAVED_MODEL_FILENAME_PB,
    FILENAME_PBTXT as SAVED_MODEL_FILENAME_PBTXT,
    LEGACY_INIT_OP_KEY,
    MAIN_OP_KEY,
    SCHEMA_VERSION as SAVED_MODEL_SCHEMA_VERSION,
    VARIABLES_DIRECTORY,
    VARIABLES_FILENAME,
)
from . import not_yet, saved_model_signatures as _signatures
from .saved_model_builder import (
    SERVING,
    SavedModelBuilder,
    SavedModelBuilder as Builder,
    main_op as _main_op,
    main_op_with_restore,
    simple_save,
)
from .saved_model_loader import (
    load,
    maybe_saved_model_directory,
    maybe_saved_model_directory as contains_saved_model,
    pick_meta_graph,
)
from .saved_model_signatures import (
    CLASSIFY_INPUTS,
    CLASSIFY_METHOD_NAME,
    CLASSIFY_OUTPUT_CLASSES,
    CLASSIFY_OUTPUT_SCORES,
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    PREDICT_INPUTS,
    PREDICT_METHOD_NAME,
    PREDICT_OUTPUTS,
    REGRESS_INPUTS,
    REGRESS_METHOD_NAME,
    REGRESS_OUTPUTS,
    build_signature_def,
    build_tensor_info,
    classification_signature_def,
    get_tensor_from_tensor_info,
    is_valid_signature,
    predict_signature_def,
    regression_signature_def,
)

# Tags
TRAINING = "train"
EVAL = "eval"
GPU = "gpu"
TPU = "tpu"

# Where TensorFlow 1.15 has them
builder = SimpleNamespace(SavedModelBuilder=SavedModelBuilder)
loader = SimpleNamespace(load=load, maybe_saved_model_directory=maybe_saved_model_directory)
main_op = SimpleNamespace(main_op=_main_op, main_op_with_restore=main_op_with_restore)
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
        for name, value in vars(_signatures).items()
        if name.startswith(("CLASSIFY_", "PREDICT_", "REGRESS_", "DEFAULT_"))
    }
)
constants = SimpleNamespace(
    ASSETS_DIRECTORY=ASSETS_DIRECTORY,
    ASSETS_KEY=ASSETS_KEY,
    MAIN_OP_KEY=MAIN_OP_KEY,
    LEGACY_INIT_OP_KEY=LEGACY_INIT_OP_KEY,
    SAVED_MODEL_FILENAME_PB=SAVED_MODEL_FILENAME_PB,
    SAVED_MODEL_FILENAME_PBTXT=SAVED_MODEL_FILENAME_PBTXT,
    SAVED_MODEL_SCHEMA_VERSION=SAVED_MODEL_SCHEMA_VERSION,
    VARIABLES_DIRECTORY=VARIABLES_DIRECTORY,
    VARIABLES_FILENAME=VARIABLES_FILENAME,
)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "ASSETS_DIRECTORY", "ASSETS_KEY", "CLASSIFY_INPUTS", "CLASSIFY_METHOD_NAME", "CLASSIFY_OUTPUT_CLASSES",
    "CLASSIFY_OUTPUT_SCORES", "DEFAULT_SERVING_SIGNATURE_DEF_KEY", "EVAL", "GPU", "LEGACY_INIT_OP_KEY",
    "MAIN_OP_KEY", "PREDICT_INPUTS", "PREDICT_METHOD_NAME", "PREDICT_OUTPUTS", "REGRESS_INPUTS",
    "REGRESS_METHOD_NAME", "REGRESS_OUTPUTS", "SAVED_MODEL_FILENAME_PB", "SAVED_MODEL_FILENAME_PBTXT",
    "SAVED_MODEL_SCHEMA_VERSION", "SERVING", "TPU", "TRAINING", "VARIABLES_DIRECTORY", "VARIABLES_FILENAME",
    "Builder", "build_signature_def", "build_tensor_info", "builder", "classification_signature_def",
    "constants", "contains_saved_model", "get_tensor_from_tensor_info", "is_valid_signature", "load",
    "loader", "main_op", "main_op_with_restore", "maybe_saved_model_directory", "pick_meta_graph",
    "predict_signature_def", "regression_signature_def", "signature_constants", "signature_def_utils",
    "simple_save", "tag_constants", "utils",
]  # fmt: skip
