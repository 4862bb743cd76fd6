"""Signatures of SavedModels: which tensors go in and out, by names of their own.

Source: tensorflow/python/saved_model/{utils,signature_def_utils}_impl.py (r1.15), behaviour and texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..formats import protos
from ..formats.saved_model_writer import INIT_OP_SIGNATURE_KEY, TRAIN_OP_SIGNATURE_KEY
from .default import get_default_graph
from .dtypes import DType, float32, string
from .errors import InvalidTypeError, InvalidValueError, UnimplementedError
from .operation import Tensor
from .sparse_tensor import SparseTensor

# Keys and method names
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

RESERVED = {INIT_OP_SIGNATURE_KEY: "initialization", TRAIN_OP_SIGNATURE_KEY: "the train op"}
"""Keys that writers use themselves, and for what."""


def build_tensor_info(tensor: Any) -> Any:
    """The TensorInfo of a tensor: name, dtype and shape; of a SparseTensor the names of its three tensors.

    Raises:
        TypeError: It is neither.
    """
    if not isinstance(tensor, (Tensor, SparseTensor)) and not hasattr(tensor, "_ref"):
        raise InvalidTypeError(f"A Tensor or SparseTensor is needed, not {type(tensor).__name__}: {tensor}")
    info = protos.TensorInfo(dtype=tensor.dtype.as_datatype_enum)
    info.tensor_shape.CopyFrom(tensor.get_shape().as_proto())
    if isinstance(tensor, SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def get_tensor_from_tensor_info(tensor_info: Any, graph: Any = None, import_scope: str | None = None) -> Any:
    """The Tensor or SparseTensor that a TensorInfo names.

    Args:
        tensor_info: The TensorInfo.
        graph: The graph; by default the default graph.
        import_scope: What to put before its names.

    Raises:
        KeyError: The graph has no such tensor.
        ValueError: It says no name.
        UnimplementedError: It is of another kind (ragged).
    """
    graph = graph or get_default_graph()

    def named(name: str) -> Any:
        return graph.get_tensor_by_name(f"{import_scope}/{name}" if import_scope else name)

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return named(tensor_info.name)
    if encoding == "coo_sparse":
        sparse = tensor_info.coo_sparse
        return SparseTensor(
            named(sparse.indices_tensor_name),
            named(sparse.values_tensor_name),
            named(sparse.dense_shape_tensor_name),
        )
    if encoding == "composite_tensor":
        raise UnimplementedError(
            "A ragged tensor, or one of a kind of its own, is not made from a TensorInfo"
        )
    raise InvalidValueError(f"Invalid TensorInfo.encoding: {encoding}")


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


def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Any:
    """A signature for prediction.

    Raises:
        ValueError: There are no inputs or no outputs.
    """
    for word, tensors in (("inputs", inputs), ("outputs", outputs)):
        if not tensors:
            raise InvalidValueError(f"Prediction {word} cannot be None or empty.")
    return build_signature_def(_infos(inputs), _infos(outputs), PREDICT_METHOD_NAME)


def _infos(tensors: Mapping[str, Any]) -> dict[str, Any]:
    return {name: build_tensor_info(tensor) for name, tensor in tensors.items()}


def regression_signature_def(examples: Any, predictions: Any) -> Any:
    """A signature for regression: serialized examples to float predictions.

    Raises:
        ValueError: One is not given, or has another dtype.
    """
    if examples is None:
        raise InvalidValueError("Regression examples cannot be None.")
    _check("Regression examples", examples, string)
    if predictions is None:
        raise InvalidValueError("Regression predictions cannot be None.")
    _check("Regression output", predictions, float32)
    return build_signature_def(
        {REGRESS_INPUTS: build_tensor_info(examples)},
        {REGRESS_OUTPUTS: build_tensor_info(predictions)},
        REGRESS_METHOD_NAME,
    )


def classification_signature_def(examples: Any, classes: Any, scores: Any) -> Any:
    """A signature for classification: serialized examples to classes, scores or both.

    Raises:
        ValueError: Neither is given, or a dtype is another.
    """
    if examples is None:
        raise InvalidValueError("Classification examples cannot be None.")
    _check("Classification examples", examples, string)
    if classes is None and scores is None:
        raise InvalidValueError("Classification classes and scores cannot both be None.")
    outputs = {}
    if classes is not None:
        _check("Classification classes", classes, string)
        outputs[CLASSIFY_OUTPUT_CLASSES] = build_tensor_info(classes)
    if scores is not None:
        _check("Classification scores", scores, float32)
        outputs[CLASSIFY_OUTPUT_SCORES] = build_tensor_info(scores)
    return build_signature_def({CLASSIFY_INPUTS: build_tensor_info(examples)}, outputs, CLASSIFY_METHOD_NAME)


def _check(what: str, tensor: Any, dtype: DType) -> None:
    """Raises ValueError unless `tensor` is a Tensor of `dtype`."""
    if not isinstance(tensor, Tensor) or tensor.dtype.base_dtype != dtype:
        word = "string" if dtype == string else "float"
        given = f"a Tensor of {tensor.dtype.name}" if isinstance(tensor, Tensor) else repr(tensor)
        raise InvalidValueError(f"{what} must be a {word} Tensor. It is {given}.")


_SERVED: dict[str, tuple[str, set[str], dict[str, DType]]] = {
    REGRESS_METHOD_NAME: (REGRESS_INPUTS, {REGRESS_OUTPUTS}, {REGRESS_OUTPUTS: float32}),
    CLASSIFY_METHOD_NAME: (
        CLASSIFY_INPUTS,
        set(),
        {CLASSIFY_OUTPUT_CLASSES: string, CLASSIFY_OUTPUT_SCORES: float32},
    ),
}
"""By method: its input, which is serialized examples, the outputs it must have, those it may, with dtypes."""


def is_valid_signature(signature_def: Any) -> bool:
    """Whether TensorFlow Serving takes a SignatureDef: its method's inputs and outputs, of their dtypes."""
    if signature_def is None or not signature_def.inputs or not signature_def.outputs:
        return False
    if signature_def.method_name == PREDICT_METHOD_NAME:
        return True
    if signature_def.method_name not in _SERVED:
        return False
    given, needed, dtypes = _SERVED[signature_def.method_name]
    inputs = {name: info.dtype for name, info in signature_def.inputs.items()}
    outputs = {name: info.dtype for name, info in signature_def.outputs.items()}
    return (
        inputs == {given: string.as_datatype_enum}
        and all(name in dtypes and dtype == dtypes[name].as_datatype_enum for name, dtype in outputs.items())
        and needed <= set(outputs)
    )
