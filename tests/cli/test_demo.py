"""`sgtool demo`, and each shipped sample through build, train and run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sgtool import sample_models

if TYPE_CHECKING:
    from .conftest import Tool


def test_the_demo_shows_the_six_commands(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "demo"
    done = subprocess.run(
        [sys.executable, "-m", "sgtool.cli", "demo", str(folder)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    for name in ("build", "inspect", "train", "save", "restore", "run"):
        assert f"$ sgtool {name} " in done.stdout
    assert str(folder) in done.stdout.splitlines()[-1]
    assert {"model.meta", "trained.index", "weights.h5", "restored.index"} <= {
        p.name for p in folder.iterdir()
    }


@pytest.mark.parametrize("name", sample_models.NAMES)
def test_every_sample_goes_through_the_commands(name: str, sgtool: Tool) -> None:
    subprocess.run(
        [sys.executable, "-m", f"sgtool.sample_models.{name}", "data"], check=True, capture_output=True
    )
    assert sgtool("build", sample_models.spec_path(name), "-o", "m.meta").code == 0
    inputs = [row["name"] for row in sgtool("inspect", "m.meta", "--json").json["inputs"]]
    feeds = [word for name in inputs for word in ("--feed", f"{name}=data/train.npz")]
    held_out = [word.replace("train", "test") for word in feeds]
    trained = sgtool("train", "m.meta", *feeds, "--steps", "20", "--seed", "1", "-o", "out", "--json")
    assert trained.code == 0, trained.err
    assert trained.json["loss"]["last"] < trained.json["loss"]["first"]
    (output, *_) = sgtool("inspect", "out", "--json").json["collections"]["outputs"]
    result = sgtool("run", "out", "--fetch", output, *held_out, "-o", "out.npy")
    assert result.code == 0, result.err
    # A spec is trained and run as it stands, too.
    again = sgtool("train", sample_models.spec_path(name), *feeds, "--steps", "1", "--json")
    assert again.code == 0, again.err
    fresh = sgtool("run", sample_models.spec_path(name), "--fetch", output, *held_out, "--json")
    assert fresh.code == 0, fresh.err
    assert "initial values" not in fresh.out


def test_a_wrong_spec_names_file_line_and_key(sgtool: Tool) -> None:
    text = Path(sample_models.spec_path("linear")).read_text()
    Path("bad.yaml").write_text(text.replace("op: MatMul", "op: MatMull"))
    result = sgtool("build", "bad.yaml", "-o", "m.meta", "--json")
    assert result.code == 5
    message = result.error["message"]
    assert "bad.yaml" in message
    assert "line" in message
    assert "MatMul" in message
    assert sgtool("build", sample_models.spec_path("linear"), "-o", "m.meta", "--set", "featurse=3").code == 5
    assert sgtool("build", sample_models.spec_path("linear"), "-o", "m.meta", "--set", "features=3").code == 0
