"""The commands that write another model: what they print, their JSON, their files, and wrong inputs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rewritten import trained

from sgtool import graphcore as tf
from sgtool.cli import rewriting
from sgtool.cli.main import COMMANDS
from sgtool.formats import files, registry, targets
from sgtool.formats.entry import entry_of

if TYPE_CHECKING:
    from .conftest import Tool

WRITING = ("convert", "freeze", "extract", "strip", "rename", "merge", "set-shape")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    return trained(tf, f"{tmp_path_factory.mktemp('model')}/model")


def words(name: str, source: str, output: str) -> list[str]:
    """A line of each command that works."""
    return {
        "convert": ["convert", source, output],
        "freeze": ["freeze", source, "-o", f"{output}.pb", "--fetch", "y:0"],
        "extract": ["extract", source, "-o", output, "--fetch", "y:0", "--cut", "net/h:0"],
        "strip": ["strip", source, "-o", output],
        "rename": ["rename", source, "net/=other/", "-o", output],
        "merge": ["merge", source, source, "-o", output],
        "set-shape": ["set-shape", source, "x:0=[?, 3]", "t:0=[8,2]", "-o", output],
    }[name]


def test_the_names_of_targets_are_the_librarys() -> None:
    assert tuple(one.name for one in targets.TARGETS) == rewriting.TARGETS
    assert set(WRITING) <= set(COMMANDS)


@pytest.mark.parametrize("name", WRITING)
def test_json_has_the_documented_keys(name: str, source: str, sgtool: Tool) -> None:
    result = sgtool(*words(name, source, "out"), "--json")
    assert (result.code, result.err) == (0, "")
    told = result.json
    assert {"output", "format", "nodes", "variables", "bytes"} <= set(told)
    text = re.sub(r"\s+", " ", sgtool(name, "-h").out)
    documented = re.findall(r'"(\w+)"', text.partition("--json gives")[2])
    assert set(told) <= {*documented, "bytes"}
    assert list(Path().glob("out*"))


@pytest.mark.parametrize("name", WRITING)
def test_text_ends_in_what_was_written(name: str, source: str, sgtool: Tool) -> None:
    result = sgtool(*words(name, source, "out"))
    assert result.code == 0, result.err
    assert result.out.splitlines()[-1].startswith("Wrote out")


@pytest.mark.parametrize("name", WRITING)
@pytest.mark.parametrize(
    ("output", "code", "message"),
    [
        ("-", 2, "standard output"),
        ("x.tflite", 2, "not written here"),
        ("no/such/folder/x", 3, "does not exist"),
    ],
)
def test_wrong_outputs(name: str, output: str, code: int, message: str, source: str, sgtool: Tool) -> None:
    line = [output if word.startswith("out") else word for word in words(name, source, "out")]
    if name == "freeze" and "/" in output:
        line[line.index(output)] = f"{output}.pb"
    result = sgtool(*line)
    assert (result.code, message in result.err) == (code, True), result.err
    assert not list(Path().iterdir())


@pytest.mark.parametrize("name", [*WRITING, "diff"])
def test_missing_and_damaged_models(name: str, source: str, sgtool: Tool) -> None:
    line = words(name, source, "out") if name != "diff" else ["diff", source, source]
    assert sgtool(*["nothing" if word == source else word for word in line]).code == 3
    Path("bad.meta").write_bytes(Path(f"{source}.meta").read_bytes()[:5000])
    result = sgtool(*["bad.meta" if word == source else word for word in line], "--json")
    assert (result.code, result.error["code"]) == (4, 4)
    assert [path.name for path in Path().iterdir()] == ["bad.meta"]


def test_convert_to_everything_and_back(source: str, sgtool: Tool) -> None:
    before = {key: entry.read() for key, entry in registry.open_store(source).items()}
    for output, option in (
        ("copy", []),
        ("sharded", ["--shards", "3"]),
        ("old", ["--to", "v1"]),
        ("export/", []),
        ("x.h5", []),
        ("x.npz", []),
        ("x.safetensors", []),
        ("x.weights.h5", []),
    ):
        assert sgtool("convert", source, output, *option).code == 0
        again = registry.open_store(f"{output}variables/variables" if output == "export/" else output)
        assert sorted(again) == sorted(before), output
        assert all(np.array_equal(again[key].read(), value) for key, value in before.items()), output
        if output != "x.weights.h5":  # the graph goes along, and comes back out of one file
            assert sgtool("convert", output, f"back_{len(output)}").code == 0
            assert sgtool("diff", source, f"back_{len(output)}").code == (1 if output == "export/" else 0), (
                output
            )
    assert len(list(Path().glob("sharded.data-*"))) == 3
    for output in ("x.pb", "x.pbtxt", "x.meta"):
        assert sgtool("convert", source, output, "--fetch", "y:0").code == 0
        assert sgtool("inspect", output).code == 0
    assert "VariableV2" not in sgtool("inspect", "x.pb", "--ops").out


def test_what_a_target_cannot_hold_is_listed_first(sgtool: Tool) -> None:
    registry.write_store("x", [entry_of("a", 1j), entry_of("b", np.float32(1)), entry_of("c", b"text")])
    result = sgtool("convert", "x", "x.safetensors", "--json")
    assert result.code == 5
    assert list(result.error["refused"]) == ["a", "c"]
    assert not Path("x.safetensors").exists()
    result = sgtool("convert", "x", "x.safetensors", "--skip", "--json")
    assert result.code == 0
    assert list(result.json["left_out"]) == ["a", "c"]
    assert list(registry.open_store("x.safetensors")) == ["b"]
    result = sgtool("convert", "x", "x.pb")
    assert result.code == 5
    assert "there is none" in result.err


def test_graphs_hold_no_values_and_that_is_told(source: str, sgtool: Tool) -> None:
    result = sgtool("convert", source, "x.meta")
    assert "variables: a meta file holds no values" in result.err
    assert sgtool("convert", source, "x.meta", "--json").json["left_out"] == {
        "variables": "a meta file holds no values"
    }


def test_a_directory_that_is_not_empty_is_no_new_saved_model(source: str, sgtool: Tool) -> None:
    Path("export").mkdir()
    Path("export/mine").write_text("kept")
    assert sgtool("convert", source, "export/").code in (5, 7)
    assert [path.name for path in Path("export").iterdir()] == ["mine"]


def test_freeze_tells_what_it_takes_for_results(source: str, sgtool: Tool) -> None:
    result = sgtool("freeze", source, "-o", "x.pb")
    assert result.code == 0
    assert "--fetch names others" in result.err
    assert sgtool("freeze", source, "-o", "x.pb", "--fetch", "yy").code == 3
    result = sgtool("freeze", source, "-o", "x.pb", "--fetch", "y:0", "--keep", "net2/*", "--json")
    assert "net2/w" not in result.json["frozen"]
    assert "global_step" in sgtool("freeze", source, "-o", "x.pb", "--fetch", "train").err


def test_strip_without_a_graph_goes_by_names(sgtool: Tool) -> None:
    values = {
        "w": (2, 3),
        "w/Adam": (2, 3),
        "w/Adam_1": (2, 3),
        "adam_layer/w": (2,),
        "momentum/Momentum": (4,),
        "scope/Adam": (2, 2),
        "beta1_power": (),
    }
    registry.write_store(
        "x.npz", [entry_of(name, np.zeros(shape, np.float32)) for name, shape in values.items()]
    )
    result = sgtool("strip", "x.npz", "-o", "y.npz", "--json")
    assert list(result.json["removed"]["variables"]) == ["beta1_power", "w/Adam", "w/Adam_1"]
    assert result.json["saved"] == 4 * (6 + 6 + 1)
    assert list(registry.open_store("y.npz")) == ["adam_layer/w", "momentum/Momentum", "scope/Adam", "w"]
    assert "Saved 52 B." in sgtool("strip", "x.npz", "-o", "y.npz").out


def test_rename_refuses(source: str, sgtool: Tool) -> None:
    for renames, code, message in (
        (["ne/=x/"], 3, "Did you mean 'net/'"),
        (["net=net2"], 5, "would both be 'net2/w'"),
        (["net/=%/"], 5, "takes for no name"),
        (["net=other/"], 5, "would be 'other//w', with an empty part"),
        (["=/"], 5, "takes for no name"),
        (["net"], 2, "OLD=NEW"),
        (["re:(=x"], 2, "regular expression"),
        ([], 2, "Missing argument"),
    ):
        result = sgtool("rename", source, *renames, "-o", "out")
        assert (result.code, message in result.err) == (code, True), result.err
    assert not list(Path().iterdir())


def test_merge_and_connect(source: str, sgtool: Tool) -> None:
    result = sgtool("merge", source, source, "-o", "out", "--connect", "y:0=t:0", "--prefix", "one", "two")
    assert result.code == 0, result.err
    assert "one/y -> two/t:0" in result.out
    assert "one/net/w" in registry.open_store("out")
    for links, code in ((["y:0"], 2), (["y:0=zz:0"], 3), (["loss:0=training:0"], 5)):
        assert sgtool("merge", source, source, "-o", "new", "--connect", *links).code == code
    assert sgtool("merge", source, source, "-o", "new", "--prefix", "x", "x").code == 5
    assert sgtool("merge", "-", "-", "-o", "new", stdin=b"").code in (2, 4)
    assert not Path("new.index").exists()


def test_merge_connects_nothing_inside_of_a_loop(source: str, sgtool: Tool) -> None:
    with tf.Graph().as_default():
        start = tf.ones([8, 2])
        end = tf.while_loop(lambda x: tf.reduce_sum(x) < 99, lambda x: tf.add(x, x, name="step"), [start])
        tf.identity(end, "end")
        tf.train.export_meta_graph("loop.meta")
    refused = sgtool("merge", "loop.meta", source, "-o", "out.meta", "--connect", "while/step:0=t:0")
    assert (refused.code, "inside of the while loop 'while/while_context'" in refused.err) == (5, True)
    wrong = sgtool("merge", "loop.meta", source, "-o", "out.meta", "--connect", "end:0=x:0")
    assert "'end:0' has the shape [8, 2], 'x:0' [?, 3]" in wrong.err
    assert not Path("out.meta").exists()
    for output in ("end:0", "while/Exit:0"):
        whole = sgtool("merge", "loop.meta", source, "-o", "out.meta", "--connect", f"{output}=t:0")
        assert whole.code == 0, whole.err


def test_set_shape(source: str, sgtool: Tool) -> None:
    result = sgtool("set-shape", source, "x:0=[4, 3]", "-o", "out")
    assert "x:0: [?, 3] -> [4, 3]" in result.out
    found = {row["name"]: row["shape"] for row in sgtool("inspect", "out", "--json").json["inputs"]}
    assert found["x:0"] == [4, 3]
    for shapes, code, message in (
        (["x:0=[4, 5]"], 5, "contradicts"),
        (["x:0=[a]"], 2, "is not a shape"),
        (["x:0"], 2, "NAME=SHAPE"),
        (["y:0=[1]"], 5, "Only placeholders"),
        (["xx=[1]"], 3, "Did you mean"),
    ):
        result = sgtool("set-shape", source, *shapes, "-o", "new")
        assert (result.code, message in result.err) == (code, True), result.err
    assert not list(Path().glob("new*"))


def test_diff(source: str, sgtool: Tool) -> None:
    result = sgtool("diff", source, source)
    assert (result.code, result.err) == (0, "")
    assert "No difference (graph and variables compared)." in result.out
    sgtool("rename", source, "net/=other/", "-o", "out")
    result = sgtool("diff", source, "out")
    assert result.code == 1
    assert "  + other/w" in result.out
    document = sgtool("diff", source, "out", "--json").json
    assert not document["equal"]
    assert "other/w" in document["variables"]["added"]
    assert document["nodes"]["changed"]
    values = {key: entry.read() for key, entry in registry.open_store(source).items()}
    values["net/w"] = values["net/w"] + np.float32(0.5)
    registry.write_store("x.npz", [entry_of(key, value) for key, value in values.items()])
    document = sgtool("diff", source, "x.npz", "--json").json
    assert list(document["variables"]["changed"]) == ["net/w"]
    assert document["variables"]["changed"]["net/w"]["largest"] == pytest.approx(0.5)
    assert sgtool("diff", source, "x.npz", "--tolerance", "0.6").code == 0
    assert sgtool("diff", source, "x.npz", "--graph").code == 5


def make_checkpoints(count: int) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("v", [4], initializer=tf.ones_initializer())
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver(max_to_keep=count)
        for step in range(count):
            saver.save(session, "ckpt/model", global_step=step)


def test_prune(sgtool: Tool) -> None:
    Path("ckpt").mkdir()
    make_checkpoints(5)
    Path("ckpt/model-4.index.tempstate123").write_bytes(b"left")
    Path("ckpt/model-9.index").write_bytes(b"no data")
    Path("ckpt/notes.txt").write_text("mine")
    before = sorted(path.name for path in Path("ckpt").iterdir())
    dry = sgtool("prune", "ckpt", "--keep", "2", "--dry-run", "--json").json
    assert sorted(path.name for path in Path("ckpt").iterdir()) == before
    assert [Path(one).name for one in dry["removed"]] == ["model-0", "model-1", "model-2"]
    assert [Path(one).name for one in dry["incomplete"]] == ["model-9"]
    result = sgtool("prune", "ckpt", "--keep", "2")
    assert "Removed 10 files" in result.out
    assert "model-9 is incomplete" in result.err
    left = {path.name for path in Path("ckpt").iterdir()}
    assert {
        "model-3.index",
        "model-4.index",
        "model-4.meta",
        "model-9.index",
        "notes.txt",
        "checkpoint",
    } <= left
    assert not any(name.startswith(("model-0", "model-1", "model-2")) or "tempstate" in name for name in left)
    state = tf.train.get_checkpoint_state("ckpt")
    assert [Path(one).name for one in state.all_model_checkpoint_paths] == ["model-3", "model-4"]
    assert sgtool("inspect", "ckpt").code == 0


def test_prune_keeps_the_times_of_what_stays(sgtool: Tool) -> None:
    Path("ckpt").mkdir()
    make_checkpoints(4)
    paths = [f"ckpt/model-{step}" for step in range(4)]
    tf.train.update_checkpoint_state(
        "ckpt",
        paths[-1],
        paths,
        all_model_checkpoint_timestamps=[10.0, 11.0, 12.0, 13.0],
        last_preserved_timestamp=9.0,
    )
    assert sgtool("prune", "ckpt", "--keep", "2").code == 0
    state = tf.train.get_checkpoint_state("ckpt")
    assert list(state.all_model_checkpoint_timestamps) == [12.0, 13.0]
    assert state.last_preserved_timestamp == 9.0
    Path("ckpt/checkpoint").write_text(
        'model_checkpoint_path: "model-3"\nall_model_checkpoint_paths: "model-3"\n'
        'all_model_checkpoint_paths: "model-2"\nall_model_checkpoint_timestamps: 13\n'
        "all_model_checkpoint_timestamps: 12\n"
    )
    assert sgtool("prune", "ckpt", "--keep", "1").code == 0
    state = tf.train.get_checkpoint_state("ckpt")
    assert [Path(one).name for one in state.all_model_checkpoint_paths] == ["model-3"]


def test_prune_keeps_the_latest_and_refuses(sgtool: Tool) -> None:
    Path("ckpt").mkdir()
    make_checkpoints(3)
    text = Path("ckpt/checkpoint").read_text()
    Path("ckpt/checkpoint").write_text(
        re.sub(r"^model_checkpoint_path.*", 'model_checkpoint_path: "model-0"', text)
    )
    kept = sgtool("prune", "ckpt", "--keep", "1", "--json").json["kept"]
    assert [Path(one).name for one in kept] == ["model-0"]
    assert sgtool("inspect", "ckpt").code == 0
    assert sgtool("prune", "ckpt", "--keep", "0").code == 2
    assert sgtool("prune", "nothing", "--keep", "1").code == 3
    assert sgtool("prune", "ckpt").code == 2


def test_a_failed_write_leaves_nothing(source: str, sgtool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(happening: str, path: Any) -> None:
        if happening == "replace":
            raise OSError(28, "No space left on device")

    for name in WRITING:
        with monkeypatch.context() as failing:
            failing.setattr(files, "fault_hook", fail)
            assert sgtool(*words(name, source, "out")).code == 7
        assert not list(Path().iterdir()), name


def test_completion(source: str, sgtool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_SGTOOL_COMPLETE", "bash_complete")
    for line, offered in (
        (f"sgtool extract {source} --cut net/h", "net/h:0"),
        (f"sgtool rename {source} net_z/a", "net_z/adam_layer/="),
    ):
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        assert offered in [one.partition(",")[2] for one in sgtool().out.split()]


@pytest.mark.parametrize("name", ["dtypes", "sharded", "partitioned", "slices", "variants", "big_endian"])
def test_stored_tensors_of_every_kind_are_rewritten_bit_for_bit(name: str, sgtool: Tool) -> None:
    golden = str(Path(__file__).parents[1] / "golden" / name)
    assert sgtool("rename", golden, "=q/", "-o", "renamed").code == 0
    assert sgtool("merge", golden, golden, "-o", "merged").code == 0
    before = registry.open_store(golden)
    for output, prefixes in (("renamed", ["q/"]), ("merged", ["a/", "b/"])):
        assert sgtool("verify", output).code == 0
        after = registry.open_store(output)
        assert sorted(after) == sorted(prefix + key for prefix in prefixes for key in before)
        for key in before:
            for prefix in prefixes:
                old, new = before[key], after[prefix + key]
                assert (new.shape, new.dtype) == (old.shape, old.dtype)
                np.testing.assert_array_equal(new.read(), old.read())


def test_freeze_takes_a_graph_and_a_checkpoint_of_another_name(source: str, sgtool: Tool) -> None:
    assert sgtool("convert", source, "graph.pbtxt").code == 0
    assert sgtool("freeze", "graph.pbtxt", "-o", "no.pb", "--fetch", "y:0").code == 7
    assert not Path("no.pb").exists()
    result = sgtool("freeze", "graph.pbtxt", "--checkpoint", source, "-o", "one.pb", "--fetch", "y:0")
    assert result.code == 0, result.err
    assert sgtool("freeze", source, "-o", "two.pb", "--fetch", "y:0").code == 0
    assert sgtool("diff", "one.pb", "two.pb").code == 0
    missing = sgtool("freeze", "graph.pbtxt", "--checkpoint", "nothing", "-o", "no.pb", "--fetch", "y:0")
    assert missing.code == 3


def test_convert_takes_a_graph_and_a_checkpoint_of_another_name(source: str, sgtool: Tool) -> None:
    assert sgtool("convert", source, "graph.pbtxt").code == 0
    result = sgtool("convert", "graph.pbtxt", "--checkpoint", source, "joined")
    assert result.code == 0, result.err
    assert sgtool("diff", "joined", source, "--variables").code == 0
    assert sgtool("convert", "graph.pbtxt", "--checkpoint", "nothing", "no").code == 3
    assert not list(Path().glob("no*"))
