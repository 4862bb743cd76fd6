"""ONNX's messages out of blocks, checked by the onnx package, and written.

    model.onnx           the ModelProto
    model.onnx.data      the weights, where all of it would be over 2 GB, each from a multiple of 64 bytes on

Source: onnx.proto and ExternalData.md of the onnx repository.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...formats import files
from ..errors import InternalError, MissingExtraError
from .blocks import DTYPES, Block, Builder, Node, Port
from .schemas import OPSET

IR_VERSION = 8
MESSAGE_LIMIT = 1_900_000_000
"""Bytes of weights up to which they are in the model's own file."""
_ALIGNED = 64
_SMALL = 1024


def library() -> Any:
    """The onnx package.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        import onnx
        import onnx.checker
        import onnx.helper
        import onnx.shape_inference
    except ImportError as error:
        raise MissingExtraError(
            "ONNX models are made with the onnx library. Install it: pip install 'sgtool[onnx]'.",
            extra="onnx",
        ) from error
    return onnx


def write_model(path: files.Path, make: Builder, limit: int = MESSAGE_LIMIT) -> int:
    """Checks a model and writes it, atomically.

    Args:
        path: The file; weights over `limit` go to a file beside it, whose name ends in `.data`.
        make: What was made of the graph.
        limit: Bytes of weights that the file itself may hold.

    Returns:
        How many bytes of weights there are.

    Raises:
        MissingExtraError: The onnx package is not installed.
        InternalError: Its checker refuses the model: a defect here.
        OpError: The file cannot be written; what was there before stays.
    """
    onnx = library()
    total = sum(_nbytes(value) for value in make.constants.values())
    outside: dict[str, tuple[int, int]] = {}
    if total > limit:
        at = 0
        for name, value in make.constants.items():
            if value.dtype != object and value.nbytes > _SMALL:
                outside[name] = (at, value.nbytes)
                at += -(-value.nbytes // _ALIGNED) * _ALIGNED
    where = files.location(path)
    beside = f"{where}.data"
    model = _model(onnx, make, outside, os.path.basename(beside))
    _check(onnx, model, outside)
    with files.atomic_files() as replacement:
        if outside:
            file = replacement.open(beside)
            for name, (at, size) in outside.items():
                file.write(b"\0" * (at - file.tell()))
                file.write(_raw(make.constants[name]))
                assert file.tell() == at + size
        replacement.open(where).write(model.SerializeToString(deterministic=True))
    return total


def _nbytes(value: np.ndarray) -> int:
    return sum(map(len, value.reshape(-1))) if value.dtype == object else value.nbytes


def _model(onnx: Any, make: Builder, outside: Mapping[str, tuple[int, int]], beside: str) -> Any:
    model = onnx.ModelProto(ir_version=IR_VERSION, producer_name="sgtool")
    model.opset_import.add(domain="", version=OPSET)
    _graph(onnx, model.graph, make.root, "graph")
    for name, value in make.constants.items():
        tensor = model.graph.initializer.add(name=name)
        _tensor(onnx, tensor, value, outside.get(name), beside)
    return model


def _tensor(onnx: Any, tensor: Any, value: np.ndarray, place: tuple[int, int] | None, beside: str) -> None:
    tensor.data_type = DTYPES[value.dtype.name]
    tensor.dims.extend(value.shape)
    if value.dtype == object:
        tensor.string_data.extend(value.reshape(-1).tolist())
    elif place is None:
        tensor.raw_data = bytes(_raw(value))
    else:
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, text in (("location", beside), ("offset", place[0]), ("length", place[1])):
            tensor.external_data.add(key=key, value=str(text))


def _raw(value: np.ndarray) -> Any:
    array = np.ascontiguousarray(value)
    if array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and not np.little_endian):
        array = array.astype(array.dtype.newbyteorder("<"))
    return array.reshape(-1).view(np.uint8).data


def _graph(onnx: Any, graph: Any, block: Block, name: str) -> None:
    graph.name = name
    for port in block.inputs:
        _port(graph.input.add(), port)
    for port in block.outputs:
        _port(graph.output.add(), port)
    for node in block.nodes:
        _node(onnx, graph.node.add(), node)


def _port(info: Any, port: Port) -> None:
    info.name = port.name
    kind = info.type.tensor_type
    kind.elem_type = DTYPES[np.dtype(port.dtype).name]
    if port.shape is not None:
        kind.shape.SetInParent()
        for axis, size in enumerate(port.shape):
            if size is None:
                kind.shape.dim.add(dim_param=f"{port.name}[{axis}]")
            else:
                kind.shape.dim.add(dim_value=size)


def _node(onnx: Any, message: Any, node: Node) -> None:
    message.op_type = node.op
    message.name = node.outputs[0]
    message.input.extend(node.inputs)
    message.output.extend(node.outputs)
    for key, value in node.attrs.items():
        if key.startswith("_"):
            continue
        if isinstance(value, Block):
            attribute = message.attribute.add(name=key, type=onnx.AttributeProto.GRAPH)
            _graph(onnx, attribute.g, value, f"{node.outputs[0]}/{key}")
        else:
            message.attribute.append(onnx.helper.make_attribute(key, value))


def _check(onnx: Any, model: Any, outside: Mapping[str, Any]) -> None:
    """Has the onnx package check a model; fills in the ranks of outputs that only it infers."""
    checked = model
    if outside:  # its weights are not where the checker would look: to it they are inputs
        checked = onnx.ModelProto()
        checked.CopyFrom(model)
        kept = [one for one in checked.graph.initializer if one.name not in outside]
        for one in checked.graph.initializer:
            if one.name in outside:
                info = checked.graph.input.add(name=one.name)
                info.type.tensor_type.elem_type = one.data_type
                for size in one.dims:
                    info.type.tensor_type.shape.dim.add(dim_value=size)
        del checked.graph.initializer[:]
        checked.graph.initializer.extend(kept)
    try:
        inferred = onnx.shape_inference.infer_shapes(checked, check_type=True, strict_mode=True)
        for port, known in zip(model.graph.output, inferred.graph.output):
            if not port.type.tensor_type.HasField("shape"):
                port.CopyFrom(known)
        # A placeholder of unknown rank has no shape, which runtimes take and the checker does not.
        for port in (*inferred.graph.input, *inferred.graph.output):
            port.type.tensor_type.shape.SetInParent()
        onnx.checker.check_model(inferred)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise InternalError(
            f"The exported model is not valid ONNX, which is a defect of sgtool: {str(error).strip()}"
        ) from error
