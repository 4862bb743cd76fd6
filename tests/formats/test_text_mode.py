"""Files that went through a transfer as text, which adds or removes carriage returns, are told so by all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool.formats import protos, registry
from sgtool.formats.bundle import write_bundle
from sgtool.formats.declared_size import declared_size
from sgtool.formats.entry import Entry, entry_of
from sgtool.formats.errors import OpError
from sgtool.formats.ordered_code import encode_slice_key
from sgtool.formats.table import TableWriter
from sgtool.formats.verify import verify

GOLDEN = Path(__file__).parents[1] / "golden"
Change = Callable[[bytes], bytes]


def to_dos(data: bytes) -> bytes:
    return data.replace(b"\n", b"\r\n")


def to_dos_once(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def to_unix(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def without_returns(data: bytes) -> bytes:
    return data.replace(b"\r", b"")


def decoded(data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode()


def encoded(data: bytes) -> bytes:
    return data.decode("latin-1").encode()


CHANGES = [to_dos, to_dos_once, to_unix, without_returns, decoded, encoded]
ENDS = np.frombuffer(b"\r\n" * 2 + b"\n" * 4, np.uint8)
NOISE = np.random.default_rng(3).integers(0, 256, 200_000, dtype=np.uint8)
TENSORS = {
    "a": np.arange(100, dtype=np.float32),
    "b\r\nb\n": np.concatenate([ENDS, np.zeros(30, np.uint8)]),
    "c": np.ones(50, np.int64),
    "d": NOISE,
    "e": np.full(9, 7, np.int32),
}


def entries() -> list[Entry]:
    return [entry_of(name, value) for name, value in TENSORS.items()]


def told(path: Path) -> str:
    """What is said of the damage to a file, which there must be."""
    found = verify(path)
    assert not all(one.whole for one in found)
    return " ".join(
        [*(cause for one in found for cause in one.causes), *(d.why for one in found for d in one.damaged)]
    )


def change(path: Path, how: Change) -> None:
    before = path.read_bytes()
    assert how(before) != before
    path.write_bytes(how(before))


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("part", ["data-00000-of-00001", "index"])
def test_a_checkpoint(how: Change, part: str, tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", entries())
    change(tmp_path / f"m.{part}", how)
    said = told(tmp_path / "m")
    assert "transferred as text" in said or "read and written again as text" in said
    assert "mixed" not in said
    assert "cut off" not in said
    assert "binary mode" in said


def test_the_only_tensor_lost_its_returns(tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", [entry_of("w", np.concatenate([ENDS, NOISE[:50]]))])
    change(tmp_path / "m.data-00000-of-00001", to_unix)
    assert "transferred as text" in told(tmp_path / "m")


def test_a_large_file_of_few_pairs(tmp_path: Path) -> None:
    noise = np.random.default_rng(4).integers(0, 256, 1 << 20, dtype=np.uint8)
    noise[7:11] = np.frombuffer(b"a\r\r\n", np.uint8)  # a pair is there still once one is removed
    write_bundle(tmp_path / "m", [entry_of("v", noise), entry_of("w", noise[::-1])])
    change(tmp_path / "m.data-00000-of-00001", to_unix)
    assert "transferred as text" in told(tmp_path / "m")


def test_what_was_cut_off_is_no_text(tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", [entry_of("v", NOISE[:300]), entry_of("w", NOISE[300:900])])
    path = tmp_path / "m.data-00000-of-00001"
    path.write_bytes(path.read_bytes()[:-3])
    said = told(tmp_path / "m")
    assert "cut off: it has 897 of 900 bytes" in said
    assert "text" not in said


def test_many_line_feeds_that_were_cut_off_are_no_text(tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", [entry_of("v", np.full(5000, 10)), entry_of("w", np.full(900, 10))])
    path = tmp_path / "m.data-00000-of-00001"
    path.write_bytes(path.read_bytes()[:-300])
    said = told(tmp_path / "m")
    assert "cut off" in said
    assert "text" not in said


def test_bytes_lost_in_the_middle_are_no_text(tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", entries())
    path = tmp_path / "m.data-00000-of-00001"
    data = path.read_bytes()
    path.write_bytes(data[:5] + data[9:])
    assert f"lacks 4 of {len(data)} bytes, not at its end but before" in told(tmp_path / "m")


@pytest.mark.parametrize("how", [to_dos, to_unix])
@pytest.mark.parametrize("suffix", [".h5", ".npz", ".safetensors"])
def test_stores(how: Change, suffix: str, tmp_path: Path) -> None:
    if suffix == ".safetensors":
        pytest.importorskip("safetensors")
    path = tmp_path / f"s{suffix}"
    registry.write_store(path, entries())
    change(path, how)
    said = told(path)
    if how is to_dos or suffix != ".safetensors":  # that has neither checksums nor an end
        assert "as text" in said


def write_v1(path: Path, name: str, value: Any) -> None:
    head, body = protos.SavedTensorSlices(), protos.SavedTensorSlices()
    tensor = head.meta.tensor.add(name=name, type=1)
    tensor.shape.dim.add(size=len(value))
    tensor.slice.add().extent.add()
    body.data.name = name
    body.data.slice.extent.add()
    body.data.data.float_val.extend(value)
    with path.open("wb") as file:
        writer = TableWriter(file)
        writer.add(b"", protos.encode(head))
        writer.add(encode_slice_key(name.encode(), [(0, -1)]), protos.encode(body))
        writer.finish()


@pytest.mark.parametrize("how", [to_dos, to_unix])
def test_first_generation(how: Change, tmp_path: Path) -> None:
    write_v1(tmp_path / "m", "a\r\nb\n", np.arange(9, dtype=np.float32))
    assert verify(tmp_path / "m")[0].whole
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "m"')
    change(tmp_path / "m", how)
    assert "transferred as text" in told(tmp_path / "m")


def graph(count: int) -> bytes:
    """A graph whose nodes have names of 13 letters: each begins with 0a 0d, and follows a line feed."""
    message = protos.GraphDef()
    for number in range(count):
        node = message.node.add(name=f"node_{number:08d}", op="NoOp")
        node.attr["s"].s = b"\r\n"
    return bytes(protos.encode(message))


@pytest.mark.parametrize("how", [to_dos, to_unix])
@pytest.mark.parametrize("count", [3, 2000])
@pytest.mark.parametrize("name", ["g.pb", "g.meta", "g"])
def test_graphs(how: Change, count: int, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(graph(count))
    assert verify(path)[0].whole
    change(path, how)
    try:
        said = told(path)
    except OpError as error:
        said = str(error)
    assert "transferred as text" in said


def test_a_small_saved_model(tmp_path: Path) -> None:
    model = protos.SavedModel(saved_model_schema_version=1)
    meta = model.meta_graphs.add()
    meta.meta_info_def.tags.append("serve")
    meta.graph_def.MergeFromString(graph(3))
    meta.signature_def["s"].method_name = "m\n"
    (tmp_path / "saved_model.pb").write_bytes(protos.encode(model))
    change(tmp_path / "saved_model.pb", to_unix)
    assert "transferred as text" in told(tmp_path / "saved_model.pb")


@pytest.mark.parametrize("cut", [1, 3, 30])
def test_a_graph_that_was_cut_off_is_no_text(cut: int, tmp_path: Path) -> None:
    (tmp_path / "g.pb").write_bytes(graph(3).replace(b"\r\n", b"xx")[:-cut])
    said = told(tmp_path / "g.pb")
    assert "cut short" in said
    assert "as text" not in said


@pytest.mark.parametrize("seed", range(20))
def test_any_bytes_are_looked_at_once(seed: int, tmp_path: Path) -> None:
    generator = np.random.default_rng(seed)
    tags = generator.choice([0x0A, 0x12, 0x1A, 0, 1, 2, 3, 9], 3000).astype(np.uint8)
    (tmp_path / "g.pb").write_bytes(tags.tobytes())
    told(tmp_path / "g.pb")  # an end, whatever it is


def test_sizes_that_files_declare(tmp_path: Path) -> None:
    for name in ("s.npz", "s.h5", "s.safetensors", "s"):
        if name.endswith("safetensors"):
            pytest.importorskip("safetensors")
        registry.write_store(tmp_path / name, entries())
    for path in (
        *(tmp_path / name for name in ("s.npz", "s.h5", "s.safetensors", "s.index")),
        GOLDEN / "keras.h5",
    ):
        declared = declared_size(path)
        assert declared is not None
        assert declared.size == path.stat().st_size
    (tmp_path / "text").write_text("words")
    assert declared_size(tmp_path / "text") is None
