"""The messages: the committed descriptors, the private pool, parsing and its errors."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sgtool.formats import protos
from sgtool.formats.errors import DataLossError, InvalidValueError

SOURCE = Path(protos.__file__).resolve().parent / "proto_src"
# fmt: off
DEMANDED = [
    "AssetFileDef", "AttrValue", "BundleEntryProto", "BundleHeaderProto", "CheckpointState",
    "CollectionDef", "CondContextDef", "ConfigProto", "Event", "Example", "Features", "FunctionDef",
    "FunctionDefLibrary", "GraphDef", "HistogramProto", "MetaGraphDef", "NodeDef", "OpDef", "OpList",
    "QueueRunnerDef", "ResourceHandleProto", "RunMetadata", "RunOptions", "SaveSliceInfoDef", "SavedModel",
    "SavedObjectGraph", "SavedTensorSlices", "SaverDef", "SequenceExample", "SignatureDef", "StepStats",
    "Summary", "TensorProto", "TensorShapeProto", "TensorSliceProto", "TrackableObjectGraph", "VariableDef",
    "VariantTensorDataProto", "WhileContextDef",
]
# fmt: on
TENSORFLOWS = [  # the modules that make TensorFlow's own descriptors
    "core.framework.reader_base",
    "core.example.example",
    "core.framework.graph_debug_info",
    "core.protobuf.config",
    "core.protobuf.control_flow",
    "core.protobuf.queue_runner",
    "core.protobuf.saved_model",
    "core.protobuf.tensor_bundle",
    "core.util.event",
    "core.util.saved_tensor_slice",
    "python.training.checkpoint_state",
]


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


def test_descriptor_set_is_what_the_proto_files_compile_to() -> None:
    pytest.importorskip("grpc_tools")
    spec = importlib.util.spec_from_file_location("compile_protos", SOURCE / "compile.py")
    assert spec is not None
    assert spec.loader is not None
    compiler = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(compiler)
    committed = (SOURCE.parent / "descriptors.binpb").read_bytes()
    assert compiler.own_files(committed) == compiler.own_files(compiler.compile_descriptors())


@pytest.mark.parametrize("name", DEMANDED)
def test_messages_have_tensorflows_full_names(name: str) -> None:
    assert getattr(protos, name).DESCRIPTOR.full_name == f"tensorflow.{name}"
    assert name in protos.message_names()


def test_unknown_message_names_the_nearest() -> None:
    with pytest.raises(AttributeError, match="GraphDef"):
        _ = protos.GrapDef


def test_pool_is_private_and_any_is_in_it() -> None:
    from google.protobuf import descriptor_pool

    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("tensorflow.GraphDef")
    meta = protos.MetaGraphDef()
    meta.collection_def["c"].any_list.value.add().Pack(protos.AssetFileDef(filename="vocab"))
    text = protos.format_text(meta)
    assert "[type.googleapis.com/tensorflow.AssetFileDef]" in text
    assert protos.parse_text(protos.MetaGraphDef, text, "text") == meta


def test_import_needs_neither_numpy_nor_descriptor_pb2() -> None:
    code = (
        "import sys; from sgtool.formats import protos; protos.GraphDef();"
        "print(sorted({'numpy', 'h5py', 'google.protobuf.descriptor_pb2'} & set(sys.modules)))"
    )
    assert run(code).stdout.strip() == "[]"


def test_pure_python_protobuf_is_refused_by_name() -> None:
    result = run(
        "from sgtool.formats import protos; protos.GraphDef", PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION="python"
    )
    assert result.returncode
    assert "FailedPreconditionError: protobuf runs on its pure-Python implementation" in result.stderr


def test_garbage_is_data_loss() -> None:
    with pytest.raises(DataLossError, match=r"m\.pb is not a GraphDef") as caught:
        protos.parse(protos.GraphDef, b"\x0a\xff\xff", "m.pb")
    assert caught.value.fields["size"] == 3


def test_text_errors_name_line_field_and_nearest() -> None:
    with pytest.raises(
        InvalidValueError, match=r"g\.pbtxt, line 3: .*no field named \"opp\"\. Did you mean 'op'"
    ) as caught:
        protos.parse_text(protos.GraphDef, 'node {\n  name: "a"\n  opp: "Add"\n}', "g.pbtxt")
    assert caught.value.fields["line"] == 3
    with pytest.raises(InvalidValueError, match="line 1"):
        protos.parse_text(protos.GraphDef, 'node { name: "a" ', "g.pbtxt")


def test_unknown_binary_fields_survive() -> None:
    data = protos.encode(protos.NodeDef(name="a", op="Add")) + b"\xfa\x3e\x03xyz"  # field 1007
    assert protos.parse(protos.NodeDef, data, "").SerializeToString() == data


def test_memoryview_and_deterministic_encoding() -> None:
    node = protos.NodeDef(name="n")
    other = protos.NodeDef(name="n")
    for key in ("b", "a", "c"):
        node.attr[key].i = 1
    for key in ("c", "b", "a"):
        other.attr[key].i = 1
    assert protos.encode(node) == protos.encode(other)
    assert protos.parse(protos.NodeDef, memoryview(protos.encode(node)), "") == node


@pytest.mark.oracle
def test_every_field_number_and_type_is_tensorflows() -> None:
    import importlib

    from google.protobuf import descriptor_pool

    for module in TENSORFLOWS:
        importlib.import_module(f"tensorflow.{module}_pb2")
    theirs = descriptor_pool.Default()
    checked = 0
    todo = [getattr(protos, name).DESCRIPTOR for name in protos.message_names()]
    # TensorFlow 2 has no session bundles: their messages are checked on published files.
    todo = [one for one in todo if not one.full_name.startswith("tensorflow.serving.")]
    while todo:
        ours = todo.pop()
        other = theirs.FindMessageTypeByName(ours.full_name)
        for field in ours.fields:
            match = other.fields_by_number[field.number]
            assert (field.name, field.type, field.is_repeated) == (match.name, match.type, match.is_repeated)
            if field.message_type is not None:
                assert field.message_type.full_name == getattr(match.message_type, "full_name", None)
            if field.enum_type is not None:
                assert match.enum_type is not None
                assert field.enum_type.values_by_name.keys() == match.enum_type.values_by_name.keys()
            checked += 1
        todo += ours.nested_types
    assert checked > 500
