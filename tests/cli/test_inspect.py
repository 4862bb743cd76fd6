"""`sgtool inspect`: on real files of every kind, in every form of their names, and on wrong ones."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from corpus_files import corpus_params, model_folders

from sgtool.formats import protos
from sgtool.formats.bundle import write_bundle
from sgtool.formats.entry import Entry, entry_of

if TYPE_CHECKING:
    from .conftest import Tool

VALUES: dict[str, Any] = {
    "b": np.array([0.5, np.nan, np.inf], np.float32),
    "w": np.arange(6, dtype=np.float32).reshape(2, 3),
    "words": np.array([b"a", b"\xff"], object),
}


def small_graph() -> Any:
    """x [?, 2] times w, in a MetaGraphDef with one op that nobody knows."""
    text = """
    meta_info_def { tensorflow_version: "1.15.0" }
    graph_def {
      node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
             attr { key: "shape" value { shape { dim { size: -1 } dim { size: 2 } } } } }
      node { name: "w" op: "VariableV2" attr { key: "dtype" value { type: DT_FLOAT } }
             attr { key: "shape" value { shape { dim { size: 2 } dim { size: 3 } } } } }
      node { name: "y" op: "MatMul" input: "x" input: "w" attr { key: "T" value { type: DT_FLOAT } } }
      node { name: "z" op: "NobodyKnows" input: "y" attr { key: "T" value { type: DT_FLOAT } } }
      node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
             attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 2.5 } } } }
      versions { producer: 134 }
    }
    """
    return protos.parse_text(protos.MetaGraphDef, text, "test")


@pytest.fixture
def model(tmp_path: Path) -> str:
    prefix = str(tmp_path / "model.ckpt-1")
    write_bundle(prefix, [entry_of(name, value) for name, value in sorted(VALUES.items())])
    Path(f"{prefix}.meta").write_bytes(protos.encode(small_graph()))
    return prefix


@pytest.mark.parametrize("form", ["", ".meta", ".index", ".data-00000-of-00001", "-00000-of-00001"])
def test_every_name_of_a_model_gives_the_same(form: str, model: str, sgtool: Tool) -> None:
    plain = sgtool("inspect", model, "--json")
    other = sgtool("inspect", model + form, "--json")
    assert other.code == 0, other.err
    assert {k: v for k, v in other.json.items() if k != "how"} == plain.json


def test_json_has_the_promised_keys(model: str, sgtool: Tool) -> None:
    found = sgtool("inspect", model, "--json").json
    assert found["producer"]["tensorflow"] == "1.15.0"
    assert found["prefix"] == model
    assert found["inputs"] == [{"name": "x:0", "dtype": "float32", "shape": [None, 2]}]
    assert found["ops"]["NobodyKnows"] == 1
    assert found["nodes"] == 5
    rows = {row["name"]: row for row in found["variables"]}
    assert rows["w"] == {"name": "w", "dtype": "float32", "shape": [2, 3], "bytes": 24, "saved": True}
    assert {"outputs", "signatures", "collections", "parameters", "bytes"} <= found.keys()


def test_the_table_of_a_pipe_is_plain_text(model: str, sgtool: Tool) -> None:
    result = sgtool("inspect", model)
    assert result.code == 0
    assert result.err == ""
    assert "x:0     float32  [?, 2]" in result.out
    assert "TensorFlow 1.15.0, graph version 134" in result.out
    assert result.out.isascii()
    assert "\x1b" not in result.out


def test_ops_graph_and_tensors(model: str, sgtool: Tool) -> None:
    rows = [line for line in sgtool("inspect", model, "--ops").out.splitlines() if "NobodyKnows" in line]
    assert rows[-1].endswith("not implemented")
    assert sgtool("inspect", model, "--ops", "--json").json["unimplemented_ops"] == ["NobodyKnows"]
    graph = sgtool("inspect", model, "--graph", "--json").json["graph"]
    assert [(row["name"], row["inputs"]) for row in graph][2] == ("y", ["x", "w"])
    tensors = {row["name"]: row for row in sgtool("inspect", model, "--tensors", "--json").json["tensors"]}
    assert tensors["w"]["shape"] == [2, 3]
    assert "bytes 12 to 36" in tensors["w"]["stored"]
    assert tensors["y:0"]["op"] == "MatMul"
    for flags in (["--graph"], ["--tensors"], ["--stats"], ["--ops", "--graph"]):
        assert sgtool("inspect", model, *flags).code == 0


def test_values(model: str, sgtool: Tool) -> None:
    values = sgtool("inspect", model, "--json", "--values", "b", "--values", "words", "--values", "c:0").json[
        "values"
    ]
    assert values["b"] == [0.5, "NaN", "Infinity"]
    assert values["words"] == ["a", {"base64": "/w=="}]
    assert values["c:0"] == 2.5
    shown = sgtool("inspect", model, "--values", "w").out
    assert shown.splitlines()[0] == "w  float32 [2, 3]"
    wrong = sgtool("inspect", model, "--values", "wrods", "--values", "nothing", "--json")
    assert wrong.code == 3
    assert wrong.error["names"] == ["nothing", "wrods"]
    assert "Did you mean 'words'" in wrong.error["message"]


def test_stats(model: str, sgtool: Tool) -> None:
    stats = sgtool("inspect", model, "--stats", "--json").json["stats"]
    assert stats["w"]["mean"] == 2.5
    assert (stats["b"]["nan"], stats["b"]["inf"], stats["b"]["max"]) == (1, 1, "Infinity")
    assert stats["words"] == {"size": 2}


def test_stats_read_each_variable_once(model: str, sgtool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    read_pieces, names = Entry.read_pieces, []

    def counted(entry: Entry) -> Any:
        names.append(entry.name)
        return read_pieces(entry)

    monkeypatch.setattr(Entry, "read_pieces", counted)
    assert sgtool("inspect", model, "--stats").code == 0
    assert sorted(names) == sorted(VALUES)


def test_stores(model: str, sgtool: Tool) -> None:
    for output in ("w.h5", "w.npz"):
        assert sgtool("save", model, "-o", output).code == 0
        found = sgtool("inspect", output, "--json").json
        assert {row["name"] for row in found["variables"]} >= {"b", "w", "words"}
        assert found["ops"]["MatMul"] == 1  # the graph went along


def test_standard_input(model: str, sgtool: Tool) -> None:
    data = Path(f"{model}.meta").read_bytes()
    result = sgtool("inspect", "-", "--json", stdin=data)
    assert result.code == 0, result.err
    assert result.json["nodes"] == 5
    assert result.json["path"] == "standard input"
    assert sgtool("inspect", "-", stdin=data).out.splitlines()[1].split() == ["path", "standard", "input"]
    for wrong, arguments in ((b"", []), (b"hello", []), (data, ["--values", "nope"])):
        for flags in ([], ["--json"]):
            refused = sgtool("inspect", "-", *arguments, *flags, stdin=wrong)
            assert refused.code in (3, 4, 6)
            assert "standard input" in refused.err
            assert "/sgtool-" not in refused.err
    twice = sgtool("run", "-", "--fetch", "y", "--feed", "x=-", stdin=data)
    assert twice.code == 2
    assert "twice" in twice.err


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (None, 3, "model.pb"),
        (b"", 4, "empty"),
        (b"\x89PNG\r\n\x1a\n", 6, "PNG"),
        (b"node { name: 'a' ops: 'Const' }", 4, "line 1"),
        (b"\x0a\x99\x99\x99", 4, "damaged"),
        (b"hello, this is just text", 4, "model.pb"),
    ],
)
def test_wrong_files(content: bytes | None, code: int, said: str, sgtool: Tool) -> None:
    if content is not None:
        Path("model.pb").write_bytes(content)
    result = sgtool("inspect", "model.pb", "--json")
    assert result.code == code, result.err
    assert result.error["code"] == code
    assert said in result.error["message"]
    assert result.out == ""


def test_a_damaged_index_and_a_cut_graph(model: str, sgtool: Tool) -> None:
    index = Path(f"{model}.index")
    index.write_bytes(index.read_bytes()[:-9])
    assert sgtool("inspect", f"{model}.index").code == 4
    meta = Path(f"{model}.meta")
    meta.write_bytes(meta.read_bytes()[:-9])
    result = sgtool("inspect", str(meta))
    assert result.code == 4
    assert "cut short" in result.err


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """The prefix of a checkpoint with its graph, whole."""
    prefix = tmp_path / "p"
    write_bundle(prefix, [entry_of("w", np.arange(6, dtype=np.float32).reshape(2, 3))])
    Path(f"{prefix}.meta").write_bytes(protos.encode(small_graph()))
    return prefix


def cut(path: Path | str) -> None:
    """Takes the last bytes of a file away."""
    Path(path).write_bytes(Path(path).read_bytes()[:-9])


def test_a_damaged_graph_hides_no_variables(pair: Path, sgtool: Tool) -> None:
    cut(f"{pair}.meta")
    for form in ("p", "p.index", "p.data-00000-of-00001", "p.meta", "."):
        result = sgtool("inspect", form, "--json")
        assert (result.code, [row["name"] for row in result.json["variables"]]) == (4, ["w"])
        assert any(name.endswith("p.meta") for name in result.json["damaged"])
        assert "p.meta is not a MetaGraphDef" in result.err
    assert sgtool("inspect", "p", "--graph").code == sgtool("inspect", "p", "--tensors").code == 4
    values = sgtool("inspect", "p", "--values", "w")
    assert (values.code, "5" in values.out) == (0, True)
    assert values.err.startswith("Warning: p.meta is not")


def test_a_damaged_index_hides_no_graph(pair: Path, sgtool: Tool) -> None:
    cut(f"{pair}.index")
    for form in ("p", "p.index", "p.meta"):
        for option in ((), ("--tensors",), ("--graph",)):
            result = sgtool("inspect", form, *option, "--json")
            assert (result.code, result.json["ops"]["MatMul"]) == (4, 1)
            assert "p.index" in result.json["damaged"]
            assert "p.index" in result.err
    cut(f"{pair}.meta")
    both = sgtool("inspect", "p")
    assert both.code == 4
    assert "p.index" in both.err
    assert "p.meta" in both.err


@pytest.mark.parametrize("form", ["p", "p.meta", "p.data-00000-of-00001"])
def test_a_lost_index_is_damage(form: str, pair: Path, sgtool: Tool) -> None:
    Path(f"{pair}.index").unlink()
    result = sgtool("inspect", form, "--json")
    assert (result.code, result.json["ops"]["MatMul"]) == (4, 1)
    assert result.json["missing"].startswith("p.index does not exist")
    assert "p.index does not exist" in result.err


def test_a_lost_index_without_a_graph_is_damage(pair: Path, sgtool: Tool) -> None:
    Path(f"{pair}.index").unlink()
    Path(f"{pair}.meta").unlink()
    for form in ("p", "."):
        result = sgtool("inspect", form)
        assert result.code == 4
        assert "p.index does not exist" in result.err
    Path(f"{pair}.data-00000-of-00001").unlink()
    assert sgtool("inspect", "p").code == 3


def test_a_graph_alone_lost_nothing(pair: Path, sgtool: Tool) -> None:
    for suffix in ("index", "data-00000-of-00001"):
        Path(f"{pair}.{suffix}").unlink()
    result = sgtool("inspect", "p.meta", "--json")
    assert (result.code, "missing" in result.json) == (0, False)


def test_a_cut_checkpoint_of_the_first_generation_beside_a_graph_is_told(pair: Path, sgtool: Tool) -> None:
    for suffix in ("index", "data-00000-of-00001"):
        Path(f"{pair}.{suffix}").unlink()
    pair.write_bytes(bytes(100))
    for form in ("p", "p.meta"):
        result = sgtool("inspect", form, "--json")
        assert (result.code, result.json["ops"]["MatMul"]) == (4, 1)
        assert result.json["missing"]


def test_a_saved_model_without_its_variables_is_told(sgtool: Tool) -> None:
    text = f"""saved_model_schema_version: 1 meta_graphs {{ {protos.format_text(small_graph())} }}"""
    model = protos.parse_text(protos.SavedModel, text, "")
    save = model.meta_graphs[0]
    node = save.graph_def.node.add(name="save/restore_all", op="NoOp")
    save.saver_def.restore_op_name = node.name
    Path("saved_model.pb").write_bytes(protos.encode(model))
    result = sgtool("inspect", ".", "--json")
    told = sgtool("verify", ".")
    assert (result.code, told.code) == (4, 4)
    assert "variables.index does not exist" in result.json["missing"]
    assert "variables.index does not exist" in result.err


def test_missing_data_files_are_told(sgtool: Tool) -> None:
    for prefix, shards in (("m", 3), ("whole", 1)):
        write_bundle(prefix, [entry_of(f"w{i}", np.float32(i)) for i in range(3)], shards=shards)
    Path("m.data-00001-of-00003").unlink()
    for form in ("m", "m.index"):
        result = sgtool("inspect", form, "--json")
        assert result.code == 4
        assert result.json["missing_files"] == ["m.data-00001-of-00003"]
        assert len(result.json["variables"]) == 3
        assert "m.data-00001-of-00003 does not exist" in result.err
    assert "not there   m.data-00001-of-00003 (1 of 3 data files)\n" in sgtool("inspect", "m").out
    assert "missing_files" not in sgtool("inspect", "whole", "--json").json
    assert sgtool("inspect", ".", "--json").json["prefix"] == "./whole"
    Path("whole.index").unlink()
    alone = sgtool("inspect", ".", "--json")
    assert (alone.code, alone.json["missing_files"]) == (4, ["m.data-00001-of-00003"])
    Path("m.meta").write_bytes(protos.encode(small_graph()))
    assert sgtool("inspect", "m.meta", "--json").json["missing_files"] == ["m.data-00001-of-00003"]


def test_a_directory_without_a_model(sgtool: Tool) -> None:
    Path("empty").mkdir()
    result = sgtool("inspect", "empty")
    assert result.code == 3
    assert "Looked for" in result.err
    result = sgtool("inspect")
    assert result.code == 2
    assert "SGTOOL_MODEL" in result.err


def test_a_constant_that_claims_a_huge_shape(sgtool: Tool) -> None:
    text = """node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value"
      value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 1152921504606846976 } }
      tensor_content: "\\000\\000\\200?" } } } }"""
    Path("huge.pbtxt").write_text(text)
    assert sgtool("inspect", "huge.pbtxt").code == 0
    result = sgtool("inspect", "huge.pbtxt", "--values", "c")
    assert result.code in (4, 5), result.err


@pytest.mark.parametrize("path", model_folders("siamese_v1", "tdgammon", "txt_argmax", "refdata_dense"))
def test_corpus_other_forms(path: Path, sgtool: Tool) -> None:
    for file in sorted(path.iterdir()):
        if file.name in ("expected.npz", "checkpoint") or file.suffix == ".json" or file.is_dir():
            continue
        check_prints(file, sgtool)


def test_corpus_op_graphs(sgtool: Tool) -> None:
    (first, *_) = params = corpus_params("ops/*/graph.pb")
    if first.id == "absent":
        pytest.skip(first.marks[1].kwargs["reason"])
    for param in params[::10]:
        check_prints(param.values[0], sgtool)


def check_prints(path: Path, sgtool: Tool) -> dict[str, Any]:
    plain = sgtool("inspect", path)
    assert plain.code == 0, plain.err
    assert plain.out.startswith("format")
    result = sgtool("inspect", path, "--json")
    assert result.code == 0, result.err
    document: dict[str, Any] = result.json
    assert ("nodes" in document) == ("ops" in document)
    assert sum(document.get("ops", {}).values()) == document.get("nodes", 0)
    return document


def test_what_the_tables_say_about_inputs_outputs_and_slots(sgtool: Tool) -> None:
    meta = small_graph()
    graph = meta.graph_def
    slot = graph.node.add(name="w/Momentum")
    slot.CopyFrom(graph.node[1])
    slot.name = "w/Momentum"
    graph.node.add(name="rate", op="Placeholder")
    graph.node.add(name="apply", op="ApplyMomentum", input=["w", "w/Momentum", "rate", "y", "c"])
    graph.node[2].device = "/gpu:0"
    graph.versions.min_consumer = 12
    meta.meta_info_def.stripped_op_list.op.add(name="MatMul")
    Path("m.meta").write_bytes(protos.encode(meta))
    shown = sgtool("inspect", "m.meta").out
    for line in (
        "rate:0  ?        ?       no output needs it",
        "z:0     float32  ?      result  x:0",
        "w         float32  [2, 3]     24",
        "w/Momentum  float32  [2, 3]     24  w",
        "Optimizer slots",
        "devices             /gpu:0 (1)",
        "needs               a reader of graph version 12",
    ):
        assert line in shown, shown
    assert "not in the op list  ApplyMomentum, Const, NobodyKnows, Placeholder and 2 more" in shown


def test_large_values_are_printed_as_statistics(sgtool: Tool) -> None:
    write_bundle("m", [entry_of("big", np.arange(2000, dtype=np.float32)), entry_of("s", np.arange(1000))])
    shown = sgtool("inspect", "m", "--values", "big", "--values", "s").out
    assert "..." in shown
    assert "Statistics" in shown
    assert "big       2000    0  1999  999.5  577.35      1    0    0" in shown
    assert " 500 " in shown  # s is printed in full
    assert len(sgtool("inspect", "m", "--values", "big", "--json").json["values"]["big"]) == 2000


def test_neighbours(sgtool: Tool) -> None:
    for step in (1, 2):
        write_bundle(f"m-{step}", [entry_of("w", np.float32(step))])
    Path("checkpoint").write_text('model_checkpoint_path: "m-2"')
    assert "m-1        1  no" in sgtool("inspect", "m-1").out
    assert "./m-2      2  latest" in sgtool("inspect").out


REFERENCE = "import numpy; sum(map(len, map(str, range(1_000_000))))"
"""What commands are timed against: an import, and a third of a second of Python's own loops."""


def times_reference(pycache: Path, *arguments: str) -> float:
    """How many times longer a command takes than the reference, in processes of their own, the best of two.

    The first run of each leaves its bytecode behind, as an installation has it.
    """
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(pycache), "PYTHONDONTWRITEBYTECODE": ""}

    def once(*command: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, *command], check=True, capture_output=True, env=environment)
        return time.perf_counter() - start

    commands = (("-m", "sgtool.cli", *arguments), ("-c", REFERENCE))
    runs = [[once(*command) for command in commands] for _ in range(3)][1:]
    command, reference = map(min, zip(*runs, strict=True))
    return command / reference


def test_a_graph_of_seventeen_thousand_nodes(tmp_path: Path, sgtool: Tool) -> None:
    meta = protos.MetaGraphDef()
    meta.graph_def.node.add(name="n0", op="Placeholder").attr["dtype"].type = 1
    for i in range(1, 17_512):
        node = meta.graph_def.node.add(name=f"block/n{i}", op=("MatMul", "Relu", "VariableV2")[i % 3])
        node.input.append(f"block/n{i - 1}" if i > 1 else "n0")
        node.attr["T"].type = node.attr["dtype"].type = 1
        node.attr["_output_shapes"].list.shape.add().dim.add(size=3)
    meta.meta_info_def.stripped_op_list.op.add(name="MatMul")
    Path("g.meta").write_bytes(protos.encode(meta))
    assert times_reference(tmp_path / "pycache", "inspect", "g.meta") < 2.2  # 1.3 when this was written


@pytest.mark.parametrize("folder", model_folders("chiron_dna"))
def test_a_published_training_graph(folder: Path, tmp_path: Path, sgtool: Tool) -> None:
    (meta,) = folder.glob("*.meta")
    assert times_reference(tmp_path / "pycache", "inspect", str(meta)) < 1.5  # 0.8 when this was written


def test_a_checkpoint_of_a_hundred_thousand_variables_is_its_index_only(tmp_path: Path, sgtool: Tool) -> None:
    zeros = np.zeros(2, np.float32)
    write_bundle("big", (entry_of(f"scope_{i // 100}/layer_{i}/kernel", zeros) for i in range(100_000)))
    os.truncate("big.data-00000-of-00001", 0)
    assert times_reference(tmp_path / "pycache", "inspect", "big", "--json") < 3.3  # 2.2
    assert times_reference(tmp_path / "pycache", "inspect", "big") < 4.6  # 3.1


def test_what_this_package_made_says_so(sgtool: Tool) -> None:
    meta = small_graph()
    meta.meta_info_def.tensorflow_git_version = "sgtool"
    Path("m.meta").write_bytes(protos.encode(meta))
    assert "sgtool (as TensorFlow 1.15.0), graph version 134" in sgtool("inspect", "m.meta").out
    assert sgtool("inspect", "m.meta", "--json").json["producer"]["made_by"] == "sgtool"


def test_unknown_values_say_what_there_is(linear: Path, sgtool: Tool) -> None:
    assert sgtool("build", linear, "--init", "model").code == 0
    result = sgtool("inspect", "model", "--values", "zzz", "--json")
    assert result.code == 3
    assert result.error["names"] == ["zzz"]
    assert "There are b, w" in result.error["message"]


RESULTS = """
def build(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    middle = tf.nn.relu(x, name="middle")
    tf.add_to_collection("outputs", middle)
    tf.reduce_sum(middle, name="end")
"""


def test_what_the_file_calls_results_are_outputs(sgtool: Tool) -> None:
    Path("m.py").write_text(RESULTS)
    assert sgtool("build", "m.py", "-o", "m.meta").code == 0
    rows = sgtool("inspect", "m.meta", "--json").json["outputs"]
    assert [row["name"] for row in rows] == ["middle:0", "end:0"]
    assert rows[0] == {
        "name": "middle:0",
        "dtype": "float32",
        "shape": [None, 2],
        "role": "named",
        "needs": ["x:0"],
    }
    meta = protos.parse(protos.MetaGraphDef, Path("m.meta").read_bytes(), "m.meta")
    del meta.collection_def["outputs"]
    signature = meta.signature_def["serve"]
    signature.outputs["gone"].name = "gone:0"
    signature.outputs["y"].name = "middle:0"
    Path("signed.meta").write_bytes(meta.SerializeToString())
    rows = sgtool("inspect", "signed.meta", "--json").json["outputs"]
    assert [row["name"] for row in rows] == ["middle:0", "end:0"]


def test_paths_that_lead_nowhere_say_why(sgtool: Tool) -> None:
    os.mkfifo("pipe")
    Path("loop").symlink_to("loop")
    Path("gone").symlink_to("nothing")
    Path("m.meta").write_bytes(protos.encode(small_graph()))
    for path, code, said in (
        ("pipe", 5, "pipe: it is a pipe, not a file"),
        ("loop", 3, "loop is a link that leads back to itself"),
        ("gone", 3, "gone is a link to nothing, which does not exist"),
        ("m.meta/x", 3, "m.meta is a file, not a directory"),
    ):
        result = sgtool("inspect", path)
        assert result.code == code
        assert said in result.err
        assert "Did you mean" not in result.err


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "sgtool.cli", "inspect", "--help"]
    graph = [*words[:-1], "m.pb", "--graph"]
    message = protos.GraphDef()
    for i in range(5000):
        message.node.add(name=f"n{i}", op="NoOp")
    Path("m.pb").write_bytes(protos.encode(message))
    for command in (words, graph):
        ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
        assert (ended.returncode, ended.stderr) == (0, b"")
    os.close(writer)
