"""What `inspect` says of files that are neither a graph nor a checkpoint of TensorFlow 1."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest

from sgtool.formats import registry
from sgtool.formats.entry import entry_of
from sgtool.formats.hdf5_store import write_hdf5

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


def test_one_damaged_dataset_leaves_the_others(sgtool: Tool) -> None:
    values = {f"layer_{i}/w": np.full(200, i, np.float32) for i in range(4)}
    write_hdf5("w.h5", [entry_of(name, value) for name, value in values.items()])
    with h5py.File("w.h5") as file:
        at = h5py.h5o.get_info(file["layer_2/w:0"].id).addr
    with Path("w.h5").open("r+b") as stream:
        stream.seek(at)
        stream.write(b"\xff" * 24)
    result = sgtool("inspect", "w.h5", "--json")
    assert result.code == 4
    assert [row["name"] for row in result.json["variables"]] == ["layer_0/w", "layer_1/w", "layer_3/w"]
    assert list(result.json["damaged"]) == ["layer_2/w"]
    assert result.error["names"] == ["layer_2/w"]
    stats = sgtool("inspect", "w.h5", "--stats", "--json").json["stats"]
    assert {name: row["mean"] for name, row in stats.items()} == {f"layer_{i}/w": i for i in (0, 1, 3)}
    assert sgtool("inspect", "w.h5", "--values", "layer_1/w").out.startswith("layer_1/w  float32 [200]")


def keras_file(path: str, optimizer: dict[str, tuple[int, ...]]) -> None:
    """A whole model of Keras 2: a Dense layer, and what its optimizer keeps."""
    with h5py.File(path, "w") as file:
        layers, own = file.create_group("model_weights"), file.create_group("optimizer_weights")
        layers.attrs["layer_names"] = [b"dense"]
        layer = layers.create_group("dense")
        layer.attrs["weight_names"] = [b"dense/kernel:0", b"dense/bias:0"]
        layer["dense/kernel:0"] = np.ones((3, 2), np.float32)
        layer["dense/bias:0"] = np.ones(2, np.float32)
        own.attrs["weight_names"] = [f"{name}:0".encode() for name in optimizer]
        for name, shape in optimizer.items():
            own[f"{name}:0"] = np.zeros(shape, np.float32)


def test_what_keras_keeps_of_its_optimizer_is_no_weight(sgtool: Tool) -> None:
    slots = {
        "Adam/iterations": (),
        "training/Adam/dense/kernel/m": (3, 2),
        "training/Adam/dense/bias/m": (2,),
        "adam/dense_kernel_velocity": (3, 2),
        "training/Adam/Variable_1": (2,),
    }
    keras_file("k.h5", slots)
    found = sgtool("inspect", "k.h5", "--json").json
    assert found["parameters"] == 8
    assert {row["name"]: row["slot_of"] for row in found["variables"] if "slot_of" in row} == {
        "Adam/iterations": None,
        "training/Adam/dense/kernel/m": "dense/kernel",
        "training/Adam/dense/bias/m": "dense/bias",
        "adam/dense_kernel_velocity": "dense/kernel",
        "training/Adam/Variable_1": None,
    }
    assert "Optimizer slots" in sgtool("inspect", GOLDEN / "keras.h5").out


def test_a_cut_store_is_explained_as_by_verify(sgtool: Tool) -> None:
    for name in ("w.npz", "w.h5", "w.safetensors"):
        if name == "w.safetensors":
            pytest.importorskip("safetensors")
        registry.write_store(
            name, [entry_of(key, np.random.default_rng(0).normal(size=5000)) for key in "abcd"]
        )
        data = Path(name).read_bytes()
        for keep in (100_000, 30_000):
            Path(f"cut_{name}").write_bytes(data[:keep])
            checked = sgtool("verify", f"cut_{name}", "--json").json["checked"][0]
            result = sgtool("inspect", f"cut_{name}")
            assert result.code == 4
            for why in [one["why"] for one in checked["damaged"]] + checked["causes"]:
                assert why in result.err
            if checked["intact"]:
                shown = sgtool("inspect", f"cut_{name}", "--json").json
                assert [row["name"] for row in shown["variables"]] == checked["intact"]
                assert shown.get("causes", []) == checked["causes"]


def test_a_link_out_of_a_file_is_named(sgtool: Tool) -> None:
    with h5py.File("x.h5", "w") as file:
        file["a:0"] = np.ones(3)
        file["outside:0"] = h5py.ExternalLink("other.h5", "/z:0")
    assert "it is a link to /z:0 in the file other.h5, which is not read" in sgtool("inspect", "x.h5").out
    result = sgtool("inspect", "x.h5", "--values", "outside")
    assert (result.code, "It is there, but it is a link to /z:0" in result.err) == (3, True)
