"""Published models exported to ONNX, run under onnxruntime, and compared with what TensorFlow recorded.

Of a model that ONNX cannot express as a whole the rest is exported: what does not depend on the nodes that
the refusal lists. `REFUSED` has those of which something is refused, by the op types that are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from corpus_files import model_folders
from corpus_runs import Model as Recorded
from onnx_runs import frozen, run

from sgtool.formats.errors import InvalidValueError, UnimplementedError
from sgtool.formats.rewrite import Model
from sgtool.graphcore import onnx as exporter

# Arrays of tensors that somebody fetched count as refused ops.
REFUSED = {
    "chiron_dna": {"CTCBeamSearchDecoder", "CTCLoss", "TensorArrayScatterV3", "TensorArrayV3"},
    "guesslang": {
        "Bincount",
        "NotEqual",
        "SparseFillEmptyRows",
        "SparseReshape",
        "SparseSegmentMean",
        "SparseSegmentSum",
        "StringNGrams",
        "StringSplit",
        "StringToHashBucketFast",
    },
    "max_lstm": {"TensorArrayScatterV3", "TensorArrayV3"},
    "tf115_half_plus_two": {"ParseExample"},
    "tf115_half_plus_two_main_op": {"ParseExample"},
    "tf115_half_plus_two_pbtxt": {"ParseExample"},
    "tf115_half_plus_two_v2": {"ParseExample"},
    "txt_tensor_array_loop": {"TensorArrayV3"},
}
# Their results are values that they assign while they are computed.
ASSIGNING = {"t2o_assign", "txt_nested_while"}
CALLS = {"If", "StatelessIf", "While", "StatelessWhile", "PartitionedCall", "StatefulPartitionedCall"}
SHORT = ("mtcnn_pnet", "max_lstm", "txt_argmax", "tf2x_SimpleWhileLoop", "tf115_half_plus_two")


def models() -> list[Any]:
    """All models; but for one of every kind they run with `make oracle`."""
    short = {f"models/{name}" for name in SHORT}
    rows = []
    for row in model_folders():
        marks = [*row.marks] if row.id in short or row.id == "absent" else [*row.marks, pytest.mark.oracle]
        rows.append(pytest.param(*row.values, marks=marks, id=row.id))
    return rows


def depends(recorded: Recorded, name: str, refused: set[str], fed: set[str]) -> bool:
    """Whether a tensor needs the results of one of some nodes."""
    seen, stack = set(), [recorded.graph.get_tensor_by_name(name)]
    while stack:
        tensor = stack.pop()
        if tensor.name in fed or tensor.op in seen:
            continue
        seen.add(tensor.op)
        within = tuple(name for name in refused if name.startswith(f"{tensor.op.name}/"))
        if tensor.op.name in refused or (within and tensor.op.type in CALLS):
            return True
        stack += tensor.op.inputs
    return False


@pytest.mark.filterwarnings("ignore:These variables were restored")
@pytest.mark.parametrize("folder", models())
def test_a_corpus_model_runs_under_onnxruntime(folder: Path, tmp_path: Path) -> None:
    recorded = Recorded(folder)
    feeds = {key if ":" in key else f"{key}:0": value for key, value in recorded.feeds.items()}
    fetches = [name for name in recorded.fetches if ":" in name]
    tensors = [recorded.graph.get_tensor_by_name(name) for name in fetches]
    if folder.name in ASSIGNING:
        with pytest.raises(InvalidValueError, match=r"written|update"):
            frozen(recorded.session, tensors)
        return
    model: Model = frozen(recorded.session, tensors)
    rows: list[dict[str, str]] = []
    inputs = [name for name in feeds if name.partition(":")[0] in model.nodes]
    try:
        exported = exporter.export(model, fetches, inputs)
    except UnimplementedError as error:
        rows = error.fields["nodes"]
    if rows:
        assert {row["op"] for row in rows} == REFUSED.get(folder.name), rows
        refused = {row["name"] for row in rows}
        # What is fetched itself does not keep others from being had.
        arrays = {row["name"] for row in rows if row["op"].startswith("TensorArray")}
        fetches = [
            name
            for name in fetches
            if name.partition(":")[0] not in refused
            and not depends(recorded, name, refused - arrays, set(feeds))
        ]
        if not fetches:
            return
        exported = exporter.export(model, fetches, inputs)
    exported.write(tmp_path / "model.onnx")
    for name in set(exported.inputs) - set(feeds):  # they have a default
        feeds[name] = recorded.session.run(name)
    got = run(tmp_path / "model.onnx", exported.outputs, feeds)
    lines = [
        recorded.compare(f"fetch/{name}", value) for name, value in zip(exported.outputs, got, strict=True)
    ]
    assert not any(lines), "\n".join(filter(None, lines))
