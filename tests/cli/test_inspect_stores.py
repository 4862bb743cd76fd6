"""What `inspect` says of files that are neither a graph nor a checkpoint of TensorFlow 1."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .conftest import Tool

GOLDEN = Path(__file__).parents[1] / "golden"


def test_a_keras_model(sgtool: Tool) -> None:
    shown = sgtool("inspect", GOLDEN / "keras.h5")
    assert "made by     Keras 3" in shown.out
    assert "model       Sequential: InputLayer input_layer, Dense first, Dense second\n" in shown.out
    assert "net/first/kernel" in shown.out
    assert sgtool("inspect", GOLDEN / "keras.h5", "--json").json["about"]["backend"] == "tensorflow"


def test_a_saved_model_of_functions(sgtool: Tool) -> None:
    rows = sgtool("inspect", GOLDEN / "tf2" / "saved_model", "--json").json["variables"]
    keys = {row["key"].partition("/.")[0]: row["trainable"] for row in rows if "key" in row}
    assert keys == {"first": True, "inner/second": False, "count": True}
    assert "serving_default" in sgtool("inspect", GOLDEN / "tf2" / "saved_model").out


def test_a_folder_of_arrays_and_variants(sgtool: Tool, tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.arange(3.0))
    assert sgtool("inspect", tmp_path, "--values", "w").out.startswith("w  float64 [3]")
    assert "TensorList" in sgtool("inspect", GOLDEN / "variants", "--values", "list").out


def test_what_is_none_of_these(sgtool: Tool, tmp_path: Path) -> None:
    (tmp_path / "model.pt").write_bytes(b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.")
    refused = sgtool("inspect", tmp_path / "model.pt")
    assert refused.code == 6
    assert "a PyTorch file (a pickle), which is not read" in refused.err
