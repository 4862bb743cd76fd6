"""Session bundles, the exports before SavedModel: signatures and assets, in the form of SavedModels.

    export.meta                     collections serving_signatures, serving_assets, serving_graph (Any)
    export-?????-of-NNNNN, or       the variables: a first-generation checkpoint
    export.index, export.data-...   or a bundle
    assets/                         the files that serving_assets names

Source: `manifest.proto` of TensorFlow 1's contrib/session_bundle.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import protos
from .errors import DataLossError

SIGNATURES, ASSETS = "serving_signatures", "serving_assets"
SAVED_MODEL_ASSETS = "saved_model_assets"
DEFAULT, PREDICT = "serving_default", "predict"
_METHOD = "tensorflow/serving/"


def signature_defs(meta_graph: Any) -> dict[str, Any]:
    """The SignatureDef messages of a MetaGraphDef by key; those of a session bundle where it has no own.

    The default signature of a bundle becomes `serving_default`; its named signatures `inputs` and
    `outputs`, which belong together, become `predict`; any other keeps its name, its tensors being
    inputs.
    """
    if meta_graph.signature_def or SIGNATURES not in meta_graph.collection_def:
        return dict(meta_graph.signature_def)
    nodes = {node.name: node for node in meta_graph.graph_def.node}
    found: dict[str, Any] = {}
    for item in meta_graph.collection_def[SIGNATURES].any_list.value:
        try:
            signatures = protos.parse(protos.Signatures, item.value, SIGNATURES)
        except DataLossError:
            continue  # the collection still tells that it is there
        if signatures.default_signature.WhichOneof("type"):
            found[DEFAULT] = _converted(signatures.default_signature, nodes)
        named = dict(signatures.named_signatures)
        pair = [named.pop(key, protos.Signature()) for key in ("inputs", "outputs")]
        maps = [dict(one.generic_signature.map) for one in pair]
        if any(maps):
            found[PREDICT] = _signature("predict", maps[0], maps[1], nodes)
        found |= {key: _converted(one, nodes) for key, one in named.items()}
    return found


def assets(meta_graph: Any) -> dict[str, str]:
    """The name in `assets/` of each asset of a SavedModel or session bundle, by the tensor fed its path."""
    found = {one.tensor_info.name: one.filename for one in meta_graph.asset_file_def}
    for key, message in ((SAVED_MODEL_ASSETS, protos.AssetFileDef), (ASSETS, protos.AssetFile)):
        items = meta_graph.collection_def[key].any_list.value if key in meta_graph.collection_def else ()
        for item in items:
            try:
                asset = protos.parse(message, item.value, key)
            except DataLossError:
                continue
            info = asset.tensor_info.name if key == SAVED_MODEL_ASSETS else asset.tensor_binding.tensor_name
            found[info] = asset.filename
    return found


def _converted(signature: Any, nodes: Mapping[str, Any]) -> Any:
    kind = signature.WhichOneof("type")
    if kind == "regression_signature":
        one = signature.regression_signature
        return _signature("regress", {"inputs": one.input}, {"outputs": one.output}, nodes)
    if kind == "classification_signature":
        one = signature.classification_signature
        outputs = {"classes": one.classes, "scores": one.scores}
        outputs = {key: binding for key, binding in outputs.items() if binding.tensor_name}
        return _signature("classify", {"inputs": one.input}, outputs, nodes)
    return _signature("generic", dict(signature.generic_signature.map), {}, nodes)


def _signature(
    method: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any], nodes: Mapping[str, Any]
) -> Any:
    signature = protos.SignatureDef(method_name=_METHOD + method)
    for bindings, target in ((inputs, signature.inputs), (outputs, signature.outputs)):
        for key, binding in bindings.items():
            target[key].name = binding.tensor_name
            node = nodes.get(binding.tensor_name.partition(":")[0])
            for attribute in ("dtype", "T"):
                if node is not None and attribute in node.attr:
                    target[key].dtype = node.attr[attribute].type
                    break
    return signature
