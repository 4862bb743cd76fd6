"""`sgtool train`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sgtool.formats import checkpoint_state, registry

if TYPE_CHECKING:
    from .conftest import Tool

FEEDS = ("--feed", "x=data.npz", "--feed", "t=data.npz")


@pytest.fixture
def model(linear: Path, sgtool: Tool) -> str:
    """graph.meta without values; data.npz with 64 rows of t = 3 x0 - 2 x1 + 1."""
    assert sgtool("build", linear, "-o", "graph.meta").code == 0
    random = np.random.default_rng(0)
    x = random.standard_normal((64, 2)).astype(np.float32)
    np.savez("data.npz", x=x, t=x @ np.array([[3.0], [-2.0]], np.float32) + 1)
    return "graph.meta"


def read(path: str) -> dict[str, Any]:
    return {name: entry.read() for name, entry in registry.open_store(path).items()}


@pytest.mark.parametrize(("optimizer", "rate"), [("sgd", "0.1"), ("momentum", "0.02"), ("adam", "0.1")])
def test_the_loss_goes_down_and_the_variables_are_saved(
    optimizer: str, rate: str, model: str, sgtool: Tool
) -> None:
    result = sgtool(
        "train",
        model,
        *FEEDS,
        "--optimizer",
        optimizer,
        "--lr",
        rate,
        "--epochs",
        "60",
        "-o",
        "out",
        "--json",
    )
    assert result.code == 0, result.err
    document = result.json
    assert document["steps"] == 120
    assert document["loss"]["last"] < 0.01 * document["loss"]["first"]
    assert document["checkpoint"] == "out"
    assert len(document["history"]) == 120
    got = read("out")
    np.testing.assert_allclose(got["w"], [[3], [-2]], atol=0.2)
    assert got["global_step"] == 120
    answer = sgtool("run", "out", "--fetch", "y", "--feed", "x=[[1,1]]", "--json")
    np.testing.assert_allclose(answer.json["outputs"]["y"]["value"], [[2]], atol=0.3)


def test_a_seed_gives_the_same_training_again(model: str, sgtool: Tool) -> None:
    def losses(*seed: str) -> list[float]:
        found = sgtool("train", model, *FEEDS, "--steps", "10", "--json", *seed).json["history"]
        return [row["loss"] for row in found]

    assert losses("--seed", "3") == losses("--seed", "3")
    assert losses("--seed", "3") != losses("--seed", "4")
    assert losses("--no-shuffle") == losses("--no-shuffle")


def test_checkpoints_are_kept_and_resumed(model: str, sgtool: Tool) -> None:
    arguments = ("train", model, *FEEDS, "--no-shuffle", "--lr", "0.1", "-o", "ckpt/m", "--save-every", "5")
    assert sgtool(*arguments, "--steps", "17", "--keep", "2").code == 0
    assert checkpoint_state.latest_checkpoint("ckpt") == "ckpt/m-17"
    assert {path.suffixes[0] if path.suffixes else "" for path in Path("ckpt").glob("m-*")}
    assert {path.name.split(".")[0] for path in Path("ckpt").glob("m-*")} == {"m-15", "m-17"}
    result = sgtool(*arguments, "--steps", "20", "--resume")
    assert result.code == 0, result.err
    assert "17 steps" in result.err
    assert (
        sgtool("train", model, *FEEDS, "--no-shuffle", "--lr", "0.1", "-o", "one", "--steps", "17").code == 0
    )
    straight = read("one")
    np.testing.assert_array_equal(read("ckpt/m-17")["w"], straight["w"])
    assert read("ckpt/m-20")["global_step"] == 20


def test_training_goes_on_from_a_checkpoint(model: str, sgtool: Tool) -> None:
    first = sgtool("train", model, *FEEDS, "--lr", "0.1", "--epochs", "20", "-o", "a", "--json").json
    again = sgtool("train", "a", *FEEDS, "--epochs", "1", "-o", "b", "--json")
    assert again.code == 0, again.err
    assert again.json["loss"]["first"] < 2 * first["loss"]["last"] + 1e-3


def test_validation_and_events(model: str, sgtool: Tool) -> None:
    result = sgtool(
        "train", model, *FEEDS, "--epochs", "3", "--json", "--logdir", "log",
        "--validation", "x=data.npz", "--validation", "t=data.npz",
    )  # fmt: skip
    assert result.code == 0, result.err
    assert [row["step"] for row in result.json["history"] if "validation" in row] == [2, 4, 6]
    assert result.json["validation"] > 0
    assert any("tfevents" in path.name for path in Path("log").iterdir())


def test_an_interrupt_saves_and_ends(model: str, sgtool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    from sgtool.cli import training

    steps = iter(range(100))
    plain = training.Training.step

    def step(self: training.Training, feed: Any) -> Any:
        if next(steps) == 4:
            raise KeyboardInterrupt
        return plain(self, feed)

    monkeypatch.setattr(training.Training, "step", step)
    result = sgtool("train", model, *FEEDS, "--steps", "50", "-o", "out")
    assert result.code == 130
    assert "out" in result.out
    assert read("out")["global_step"] == 4


def test_a_loss_that_is_no_number_ends_it(model: str, sgtool: Tool) -> None:
    result = sgtool("train", model, *FEEDS, "--lr", "1e30", "--steps", "50", "-o", "out", "--json")
    assert result.code == 7
    assert "--lr" in result.error["message"]
    assert not Path("out.index").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--loss", "los"], 3, "Did you mean 'loss'"),
        (["--loss", "y"], 5, "one number"),
        (["--train-op", "loss", "--lr", "1"], 2, "--train-op"),
        (["--resume"], 2, "-o"),
        (["--save-every", "3"], 2, "-o"),
        (["--resume", "-o", "nothing"], 3, "nothing"),
        (["--optimizer", "adamm"], 2, "adam"),
        (["--set", "a=1"], 2, "spec"),
        (["--feed", "nope=1"], 3, "nope"),
        (["--validation", "x=data.npz"], 5, "placeholder"),
    ],
)
def test_usage(arguments: list[str], code: int, said: str, model: str, sgtool: Tool) -> None:
    result = sgtool("train", model, *FEEDS, *arguments, "--json")
    assert result.code == code, result.err
    assert said in result.error["message"]


def test_rows_must_agree(model: str, sgtool: Tool) -> None:
    np.save("t.npy", np.zeros((3, 1), np.float32))
    result = sgtool("train", model, "--feed", "x=data.npz", "--feed", "t=t.npy", "--json")
    assert result.code == 5
    assert result.error["rows"] == {"x:0": 64, "t:0": 3}


def test_a_graph_that_has_nothing_to_minimise(sgtool: Tool) -> None:
    Path("m.py").write_text("def build(tf):\n    tf.get_variable('w', [2])\n    tf.constant(1.0, name='c')\n")
    assert sgtool("build", "m.py", "-o", "m.meta").code == 0
    result = sgtool("train", "m.meta", "--steps", "1")
    assert result.code == 2
    assert "--loss" in result.err


def test_a_second_optimizer_of_the_same_kind(sgtool: Tool) -> None:
    Path("m.py").write_text(
        "def build(tf):\n"
        "    w = tf.get_variable('w', [2])\n"
        "    loss = tf.reduce_sum(w * w, name='loss')\n"
        "    step = tf.train.AdamOptimizer().minimize(loss, name='go')\n"
        "    tf.add_to_collection('train_op', step)\n"
    )
    assert sgtool("build", "m.py", "-o", "m.meta").code == 0
    result = sgtool("train", "m.meta", "--loss", "loss", "--optimizer", "adam", "--steps", "1")
    assert result.code == 2
    assert "--train-op go" in result.err
    assert "w/Adam" in result.err
    assert sgtool("train", "m.meta", "--loss", "loss", "--optimizer", "momentum", "--steps", "1").code == 0
    assert sgtool("train", "m.meta", "--train-op", "go", "--steps", "1").code == 0


def test_what_was_done_now_and_in_all(model: str, sgtool: Tool) -> None:
    assert sgtool("train", model, *FEEDS, "--steps", "7", "-o", "a").code == 0
    result = sgtool("train", "a", *FEEDS, "--steps", "3", "-o", "b")
    assert "10, 3 of them now (1.5 epochs)" in result.out
    document = sgtool("train", "a", *FEEDS, "--epochs", "3", "--batch-size", "6", "--json").json
    assert (document["steps"], document["ran"], document["epochs"]) == (40, 33, 3)


def test_nothing_to_do(model: str, sgtool: Tool) -> None:
    assert sgtool("train", model, *FEEDS, "--steps", "7", "-o", "a").code == 0
    before = Path("a.index").stat().st_mtime_ns
    result = sgtool("train", model, *FEEDS, "--resume", "--steps", "5", "-o", "a")
    assert result.code == 0
    assert "Already at step 7: nothing to do" in result.out
    assert "steps/s" not in result.out
    document = sgtool("train", model, *FEEDS, "--resume", "--steps", "5", "-o", "a", "--json").json
    assert (document["steps"], document["ran"], document["epochs"]) == (7, 0, 0)
    assert document["checkpoint"] == "a"
    assert Path("a.index").stat().st_mtime_ns == before
