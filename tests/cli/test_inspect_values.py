"""`inspect --values` and `--stats`: every dtype, all elements, in pieces, and beside damage."""

from __future__ import annotations

import tracemalloc
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sgtool.formats import entry, protos, registry
from sgtool.formats.bundle import write_bundle
from sgtool.formats.entry import entry_of
from sgtool.formats.errors import DataLossError
from sgtool.formats.hdf5_store import open_hdf5, write_hdf5
from sgtool.formats.parts import Part
from sgtool.formats.statistics import statistics

if TYPE_CHECKING:
    from .conftest import Tool

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize(
    "dtype", ["qint8", "quint8", "qint16", "quint16", "qint32", "bfloat16", "int4", "string"]
)
def test_the_dtype_is_the_files(dtype: str, sgtool: Tool) -> None:
    name = f"{dtype}/2x3"
    assert sgtool("inspect", GOLDEN / "dtypes", "--values", name).out.startswith(f"{name}  {dtype} [2, 3]\n")
    found = sgtool("inspect", GOLDEN / "dtypes", "--values", name, "--json").json
    assert found["value_types"] == {name: {"dtype": dtype, "shape": [2, 3]}}
    assert np.shape(found["values"][name]) == (2, 3)


def test_a_variant_and_a_constant(sgtool: Tool) -> None:
    assert sgtool("inspect", GOLDEN / "variants", "--values", "list").out.startswith("list  variant []\n")
    text = """node { name: "q" op: "Const" attr { key: "value" value { tensor { dtype: DT_QUINT8
      tensor_shape { dim { size: 2 } } int_val: 3 int_val: 4 } } } }"""
    Path("q.pbtxt").write_text(text)
    assert sgtool("inspect", "q.pbtxt", "--values", "q").out == "q  quint8 [2]\n[3 4]\n"
    shapes = [row["shape"] for row in sgtool("inspect", "q.pbtxt", "--tensors", "--json").json["tensors"]]
    assert shapes == [[2]]


def test_full_prints_every_element(sgtool: Tool) -> None:
    words = np.array([str(i).encode() for i in range(2000)], object)
    write_bundle("m", [entry_of("big", np.arange(5000)), entry_of("words", words)])
    short = sgtool("inspect", "m", "--values", "big").out
    assert " 2500 " not in short
    shown = sgtool("inspect", "m", "--full", "--values", "big", "--values", "words").out
    assert all(f" {i} " in shown.replace("\n", " ") for i in range(1, 4999))
    assert "b'1234'" in shown
    assert "Statistics" not in shown
    refused = sgtool("inspect", "m", "--full")
    assert refused.code == 2
    assert "--values" in refused.err


def damaged() -> None:
    tensors = [entry_of(name, np.full(50, 2.0, np.float32)) for name in "abcd"]
    write_bundle("m", tensors)
    data = bytearray(Path("m.data-00000-of-00001").read_bytes())
    data[210] ^= 1  # in b
    data[650] ^= 1  # in d
    Path("m.data-00000-of-00001").write_bytes(data)


def test_stats_go_on_after_damage(sgtool: Tool) -> None:
    damaged()
    result = sgtool("inspect", "m", "--stats", "--json")
    assert result.code == 4
    stats = result.json["stats"]
    assert stats["a"]["mean"] == stats["c"]["mean"] == 2
    assert "Checksum does not match" in stats["b"]["damaged"]
    assert result.error["names"] == ["b", "d"]
    assert "'b'" in result.error["message"]
    assert "'d'" in result.error["message"]
    shown = sgtool("inspect", "m", "--stats")
    assert shown.code == 4
    assert [line.split()[:2] for line in shown.out.splitlines()[-4:]] == [
        ["a", "50"],
        ["b", "damaged"],
        ["c", "50"],
        ["d", "damaged"],
    ]


def test_values_beside_damaged_ones(sgtool: Tool) -> None:
    damaged()
    result = sgtool("inspect", "m", "--values", "b", "--values", "a", "--values", "d", "--json")
    assert result.code == 4
    assert list(result.json["values"]) == ["a"]
    assert result.error["names"] == ["b", "d"]
    alone = sgtool("inspect", "m", "--values", "b", "--json")
    assert alone.code == 4
    assert "Tensor 'b' at bytes 200 to 400" in alone.error["message"]
    assert sgtool("inspect", "m", "--stats", "--values", "a", "--json").json["stats"]["a"]["mean"] == 2


def test_stats_of_a_frozen_graph_are_those_of_its_constants(sgtool: Tool) -> None:
    graph = protos.GraphDef()
    for name, dims in (("w", [2, 2]), ("scalar", [])):
        tensor = graph.node.add(name=name, op="Const").attr["value"].tensor
        tensor.dtype = 1
        for size in dims:
            tensor.tensor_shape.dim.add(size=size)
        tensor.float_val.append(3)
    Path("g.pb").write_bytes(protos.encode(graph))
    stats = sgtool("inspect", "g.pb", "--stats", "--json").json["stats"]
    assert list(stats) == ["w"]
    assert (stats["w"]["mean"], stats["w"]["size"]) == (3, 4)
    graph.node[0].attr["value"].tensor.tensor_content = b"123"
    Path("g.pb").write_bytes(protos.encode(graph))
    assert sgtool("inspect", "g.pb", "--stats", "--json").code == 4


def test_stats_of_nothing(sgtool: Tool) -> None:
    Path("g.pbtxt").write_text('node { name: "a" op: "NoOp" }')
    assert "Nothing is stored here" in sgtool("inspect", "g.pbtxt", "--stats").out
    assert sgtool("inspect", "g.pbtxt", "--stats", "--json").json["stats"] == {}


def test_stats_of_complex_numbers_are_those_of_absolute_values(sgtool: Tool) -> None:
    write_bundle("m", [entry_of("z", np.array([3 + 4j, 0], np.complex64))])
    stats = sgtool("inspect", "m", "--stats", "--json").json["stats"]["z"]
    assert (stats["min"], stats["max"], stats["mean"], stats["zeros"]) == (0, 5, 2.5, 1)
    assert "absolute values" in sgtool("inspect", "--help").out


def test_pieces_join_to_the_whole() -> None:
    array = np.arange(10_000, dtype=np.float32).reshape(100, 100) - 77
    whole = statistics(array)
    joined = statistics(iter([array[:3], array[3:50], array[50:]]))
    assert whole == {key: pytest.approx(value) for key, value in joined.items()}
    assert statistics(iter([])) == {"size": 0}


@pytest.mark.parametrize("shape", [(), (7,), (3, 5), (2, 1, 40), (1, 300), (0, 4), (5, 0)])
def test_pieces_of_any_shape(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "PIECE", 64)
    array = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    pieces = [array[index] for index in entry.pieces_of(shape, 4)]
    assert all(piece.nbytes <= 64 for piece in pieces)
    flat = np.concatenate([np.zeros(0, np.float32), *map(np.ravel, pieces)])
    np.testing.assert_array_equal(flat, array.ravel())


def big_store(kind: str) -> str:
    """A store of one array of 64 MB."""
    array = np.ones((16, 1 << 20), np.float32)
    array[3, 5] = 9
    if kind == "parts":
        parts = [Part(array.shape, ((start, 4), (0, 1 << 20))) for start in range(0, 16, 4)]
        write_bundle("big", [entry_of("w", array[p.extents[0][0] :][:4], part=p) for p in parts])
        return "big"
    if kind == "misaligned":
        write_bundle("big", [entry_of("a", np.zeros(3, np.uint8)), entry_of("w", array)])
        return "big"
    if kind == "zipped.npz":
        np.savez_compressed(kind, w=array)
    else:
        registry.write_store(kind, [entry_of("w", array)])
    return kind


@pytest.mark.parametrize("kind", ["big.h5", "big.npz", "zipped.npz", "parts", "misaligned"])
def test_a_large_tensor_is_read_in_pieces(kind: str, sgtool: Tool) -> None:
    path = big_store(kind)
    sgtool("inspect", path)
    tracemalloc.start()
    stats = sgtool("inspect", path, "--stats", "--json").json["stats"]["w"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (stats["max"], stats["size"]) == (9, 1 << 24)
    assert peak < 50 << 20  # the array has 64 MB


def test_pieces_are_checked_as_the_whole_is(sgtool: Tool) -> None:
    write_hdf5("w.h5", [entry_of("w", np.arange(6.0))])
    at = Path("w.h5").read_bytes().index(np.arange(6.0).tobytes())
    with Path("w.h5").open("r+b") as file:
        file.seek(at + 9)
        file.write(b"\1")
    with pytest.raises(DataLossError, match="checksum"):
        list(open_hdf5("w.h5")["w"].read_pieces())


def test_a_damaged_member_in_pieces(monkeypatch: pytest.MonkeyPatch, sgtool: Tool) -> None:
    np.savez("w.npz", w=np.arange(1000.0), v=np.ones(3))
    with zipfile.ZipFile("w.npz") as archive:
        at = archive.getinfo("w.npy").header_offset
    with Path("w.npz").open("r+b") as file:
        file.seek(at + 1000)
        file.write(b"\xff")
    monkeypatch.setattr("sgtool.formats.npz.PIECE", 512)
    result = sgtool("inspect", "w.npz", "--stats", "--json")
    assert result.code == 4
    assert result.json["stats"]["v"]["mean"] == 1
    assert "damaged" in result.json["stats"]["w"]
