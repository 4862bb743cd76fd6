"""The stores of variables: each format through the conformance suite, and what it promises beyond that."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from conformance import StoreReading, StoreWriting, entries

from sgtool.formats import dtypes, files, protos, registry, summary, tensor_proto
from sgtool.formats.entry import entry_of
from sgtool.formats.errors import (
    DataLossError,
    InvalidValueError,
    MissingExtraError,
    MissingNameError,
    UnimplementedError,
)
from sgtool.formats.keras_weights import model_layers
from sgtool.formats.ordered_code import encode_slice_key
from sgtool.formats.table import TableWriter

STORES = ("x.npz", "x.h5", "x.hdf5", "x")
NUMPYS = frozenset(
    row.name for row in dtypes.BY_NUMBER.values() if row.name == row.numpy_name and row.kind != "handle"
)


def pair(value: Any) -> tuple[dtypes.DTypeInfo, np.ndarray[Any, Any]]:
    return value if isinstance(value, tuple) else (dtypes.from_numpy(value.dtype), value)


class TestBundle(StoreWriting):
    file = "x"
    damaged = "x.index"
    holds_graph = False


class TestBundleData(TestBundle):
    damaged = "x.data-00000-of-00001"


class TestNpz(StoreWriting):
    file = damaged = "x.npz"


class TestHdf5(StoreWriting):
    file = damaged = "x.h5"


class TestSafetensors(StoreWriting):
    file = damaged = "x.safetensors"
    checksums = False
    dtype_names = (NUMPYS | {"bfloat16", "float8_e5m2", "float8_e4m3fn"}) - {"complex128", "string"}

    def can_name(self, name: str) -> bool:
        return "\udcff" not in name


class TestRemote(StoreReading):
    """A checkpoint in fsspec's file system in memory."""

    def write(self, path: str, values: Mapping[str, Any]) -> None:
        registry.write_store(path, entries(values))

    @pytest.fixture
    def path(self, tmp_path: Path) -> Iterator[str]:
        fsspec = pytest.importorskip("fsspec")
        yield f"memory://conformance{tmp_path}/x"
        fsspec.filesystem("memory").store.clear()

    def make_folder(self, path: str) -> None:
        """A file system of objects has none."""

    # pathlib takes `//` out of a URL: only text names a remote file. What is read is damaged or foreign
    # in the same way wherever it lies; test_remote.py has what is different.
    test_pathlib_and_str_are_the_same = None  # type: ignore[assignment]
    test_damage_is_a_right_value_or_our_error = None  # type: ignore[assignment]
    test_empty_and_foreign_files_are_named = None  # type: ignore[assignment]


class TestFirstGeneration(StoreReading):
    """V1 checkpoints, as TensorFlow's SaveSlices makes them; that writer is no part of the product."""

    dtype_names = frozenset(
        row.name
        for row in dtypes.BY_NUMBER.values()
        if row.kind != "handle" and not row.name.startswith(("float8", "int4", "uint"))
    ) | {"uint8"}

    def write(self, path: str, values: Mapping[str, Any]) -> None:
        head, rows = protos.SavedTensorSlices(), {}
        head.meta.versions.producer = 1
        for name, value in values.items():
            info, array = pair(value)
            saved = head.meta.tensor.add(type=info.number, shape=tensor_proto.shape_to_proto(array.shape))
            saved.name = name
            piece = saved.slice.add()
            for _ in array.shape:
                piece.extent.add()
            row = protos.SavedTensorSlices()
            for index in np.ndindex(array.shape):  # element by element: no tensor_content in this format
                one = tensor_proto.from_array(np.array([array[index]], array.dtype), info)
                one.ClearField("tensor_shape")
                one.ClearField("dtype")
                row.data.data.MergeFrom(one)
            rows[encode_slice_key(name.encode(), [(0, -1)] * array.ndim)] = protos.encode(row)
        with Path(path).open("wb") as file:
            table = TableWriter(file, block_size=512)  # several blocks, though little is in them
            table.add(b"", protos.encode(head))
            for key in sorted(rows):
                table.add(key, rows[key])
            table.finish()

    def can_name(self, name: str) -> bool:
        return "\udcff" not in name

    def test_values_are_read_by_blocks(self, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.write(path, {f"v{i:03d}": np.full(100, i, np.float32) for i in range(200)})
        read = []
        original = files.Content.bytes

        def counted(content: files.Content, offset: int, length: int) -> bytes:
            read.append(length)
            return original(content, offset, length)

        monkeypatch.setattr(files.Content, "bytes", counted)
        store = registry.open_store(path)
        opened = sum(read)
        assert store["v123"].read()[0] == 123
        assert sum(read) - opened < 2000
        assert sum(read) < Path(path).stat().st_size / 3


class TestNpyFolder(StoreReading):
    file = "x/"
    damaged = "x/w.npy"
    checksums = False
    dtype_names = NUMPYS - {"string"}

    def write(self, path: str, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            target = Path(path) / f"{name}.npy"
            target.parent.mkdir(parents=True, exist_ok=True)
            np.save(target, pair(value)[1])

    def can_name(self, name: str) -> bool:
        plain = not any(part in ("", ".", "..") for part in name.split("/"))
        return plain and "\0" not in name and "." not in name.rpartition("/")[0]


class TestKeras(StoreReading):
    """Weights as Keras saves them: below a group of their layer, named by the layer's attribute."""

    file = damaged = "x.h5"
    checksums = False
    flips = (
        False  # HDF5's old structures have no checksums: a flipped bit may send the library round for ever
    )
    dtype_names = NUMPYS - {"string"}

    def write(self, path: str, values: Mapping[str, Any]) -> None:
        with h5py.File(path, "w") as file:
            file.attrs["layer_names"] = [b"layer_1", b"layer_2"]
            file.attrs["keras_version"] = b"2.2.4"
            groups = [file.create_group("layer_1"), file.create_group("layer_2")]
            names: list[list[bytes]] = [[], []]
            for number, (name, value) in zip(itertools.cycle((0, 1)), values.items()):
                groups[number][f"{name}:0"] = pair(value)[1]
                names[number].append(f"{name}:0".encode())
            for group, those in zip(groups, names, strict=True):
                if len(those) <= 50:
                    group.attrs["weight_names"] = those
                    continue
                for at in range(0, len(those), 50):  # Keras spreads long lists
                    group.attrs[f"weight_names{at // 50}"] = those[at : at + 50]

    def can_name(self, name: str) -> bool:
        return name.replace("/", "x").isalnum() and "//" not in name and not name.startswith("/")


def test_an_hdf5_file_whose_text_is_lost_is_damaged_and_read_to_an_end(tmp_path: Path) -> None:
    path = tmp_path / "k.h5"
    with h5py.File(path, "w") as file:
        file.attrs["layer_names"] = ["dense", "out"]
        file["w"] = np.zeros(3, np.float32)
    assert list(registry.open_store(path)) == ["w"]
    data = bytearray(path.read_bytes())
    at = data.index(b"GCOL") + 16  # two texts of up to 8 bytes with their headers, then free space
    data[at + 48 : at + 64] = bytes(16)
    path.write_bytes(data)
    with pytest.raises(DataLossError, match=f"the text at byte {at + 48} is overwritten"):
        registry.open_store(path)


def test_from_any_store_to_any(tmp_path: Path) -> None:
    suite = TestBundle()
    for source in STORES:
        suite.write(f"{tmp_path}/{source}", suite.values())
        for other in STORES:
            target = f"{tmp_path}/copy-{other}"
            registry.write_store(target, registry.open_store(f"{tmp_path}/{source}").values())
            suite.check(target, suite.values())


def test_content_decides_not_the_suffix(tmp_path: Path) -> None:
    for name, format in (("x.npz", "npz"), ("x.h5", "hdf5"), ("x.safetensors", "safetensors")):
        registry.write_store(tmp_path / name, [entry_of("a", 1.0)])
        (tmp_path / name).rename(tmp_path / "weights.bin")
        assert registry.detect(tmp_path / "weights.bin").name == format
        assert list(registry.open_store(tmp_path / "weights.bin")) == ["a"]
    (tmp_path / "t.txt").write_text("hello")
    with pytest.raises(UnimplementedError, match="the formats that are read are: bundle, graph, hdf5, npy"):
        registry.detect(tmp_path / "t.txt")
    with pytest.raises(InvalidValueError, match="cannot hold variables"):
        registry.write_store(tmp_path / "x.pb", [])


# ---- npz ---------------------------------------------------------------------------------------


def test_numpy_loads_our_npz(tmp_path: Path) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    registry.write_store(tmp_path / "x.npz", [entry_of("layer/w", array), entry_of("n", np.int64(3))])
    with np.load(tmp_path / "x.npz", allow_pickle=False) as loaded:
        assert sorted(loaded) == ["layer/w", "n"]
        np.testing.assert_array_equal(loaded["layer/w"], array)
        assert loaded["n"] == 3


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_we_load_numpys_npz(tmp_path: Path, save: Any) -> None:
    arrays = {
        "f": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "big": np.arange(3, dtype=">i2"),
        "u": np.array(["é", "x"]),
        "s": np.array([b"ab", b"c"]),
        "0": np.array(True),
        "e": np.zeros((0, 3)),
    }
    objects = {"pickled": np.array([{}], object), "rows": np.zeros(2, "i4,f4")}
    save(tmp_path / "x.npz", **arrays, **objects)
    store: Any = registry.open_store(tmp_path / "x.npz")
    assert sorted(store) == sorted(arrays)
    assert store["u"].read().tolist() == ["é".encode(), b"x"]
    for name in ("f", "big", "0", "e"):
        np.testing.assert_array_equal(store[name].read(), arrays[name])
        assert store[name].read().dtype.isnative
    assert "pickle can run any code" in store.skipped["pickled"]
    with pytest.raises(MissingNameError, match="pickled Python objects"):
        store["pickled"]


# ---- HDF5 --------------------------------------------------------------------------------------


def test_h5py_reads_our_file(tmp_path: Path) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    entries = [
        entry_of("w", array),
        entry_of("w/Adam", array * 2),
        entry_of("names", np.array([b"a", b"bc"], object)),
    ]
    registry.write_store(tmp_path / "x.h5", entries)
    with h5py.File(tmp_path / "x.h5") as file:
        np.testing.assert_array_equal(file["w:0"][...], array)
        np.testing.assert_array_equal(file["w/Adam:0"][...], array * 2)
        assert file["names:0"].asstr()[...].tolist() == ["a", "bc"]


def test_files_of_others(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "keras.h5", "w") as file:
        file.attrs["layer_names"] = [b"dense"]
        file["dense/dense/kernel:0"] = np.ones((2, 2), ">f4")
        file.create_dataset("packed", data=np.zeros(5000), compression="gzip")
        file["nothing"] = h5py.Empty("f")
        file.create_dataset("claim", (2**50,), "f4", chunks=(1024,))
        file["table"] = np.zeros(2, "i4,f4")
        file["elsewhere"] = h5py.ExternalLink("other.h5", "/x")
        file.create_dataset("outside", (4,), "u1", external=[(str(tmp_path / "secret"), 0, 4)])
    store: Any = registry.open_store(tmp_path / "keras.h5")
    assert sorted(store) == ["dense/dense/kernel", "packed"]
    assert store["dense/dense/kernel"].read().dtype == np.dtype("float32")
    assert sorted(store.skipped) == ["claim", "elsewhere", "nothing", "outside", "table"]


def test_a_changed_value_does_not_match_its_checksum(tmp_path: Path) -> None:
    registry.write_store(tmp_path / "x.h5", [entry_of("w", np.arange(4.0)), entry_of("v", 1.0)])
    with h5py.File(tmp_path / "x.h5", "r+") as file:
        file["w:0"][1] = 7
    with pytest.raises(DataLossError, match=r"'w' in .* do not match their checksum"):
        registry.open_store(tmp_path / "x.h5")["w"].read()
    assert registry.open_store(tmp_path / "x.h5")["v"].read() == 1


# ---- Keras -------------------------------------------------------------------------------------


def keras_file(path: Path, whole: bool) -> None:
    """Two layers with a weight of one name each, a nested scope, and a layer without weights."""
    with h5py.File(path, "w") as file:
        root = file.create_group("model_weights") if whole else file
        root.attrs["layer_names0"] = [b"dense_1", b"activation_1"]
        root.attrs["layer_names1"] = [b"lstm_2"]
        root.create_group("activation_1").attrs["weight_names"] = np.zeros(0)
        root["dense_1/kernel:0"] = np.ones((2, 2), np.float32)
        root["dense_1"].attrs["weight_names"] = [b"kernel:0"]
        root["lstm_2/kernel:0"] = np.zeros(3, np.float32)
        root["lstm_2/lstm_2/bias:0"] = np.full(3, 2, np.float32)
        root["lstm_2"].attrs["weight_names"] = [b"kernel:0", b"lstm_2/bias:0", b"gone:0"]
        root.attrs["keras_version"], root.attrs["backend"] = b"1.2.2", b"tensorflow"
        if whole:
            file["optimizer_weights/training/Adam/m_0:0"] = np.ones(1, np.float32)
            file["optimizer_weights"].attrs["weight_names"] = [b"training/Adam/m_0:0"]
            file.attrs["model_config"] = b'{"class_name": "Sequential"}'
            file.attrs["training_config"] = b"no JSON"


@pytest.mark.parametrize("whole", [False, True])
def test_keras_weights_by_their_names(tmp_path: Path, whole: bool) -> None:
    keras_file(tmp_path / "k.h5", whole)
    store = registry.open_store(tmp_path / "k.h5")
    names = {"dense_1/kernel": 1, "lstm_2/kernel": 0, "lstm_2/bias": 2}
    names |= {"training/Adam/m_0": 1} if whole else {}
    assert {name: entry.read().flat[0] for name, entry in store.items()} == names
    about = summary.summarise(tmp_path / "k.h5")["about"]
    assert (about["keras_version"], about["backend"]) == ("1.2.2", "tensorflow")
    assert about.get("model_config") == ({"class_name": "Sequential"} if whole else None)
    assert "training_config" not in about


def test_layers_of_keras_1_and_2() -> None:
    layer = {"class_name": "Dense", "config": {"name": "d", "units": 3}}
    assert model_layers({"class_name": "Sequential", "config": [layer]}) == [("Dense", "d")]
    named = {"class_name": "Dense", "name": "outer", "config": {}}
    assert model_layers({"class_name": "Model", "config": {"layers": [layer, named]}}) == [
        ("Dense", "d"),
        ("Dense", "outer"),
    ]
    oddities: list[Any] = [
        None,
        [],
        {},
        {"config": 3},
        {"config": {"layers": 3}},
        {"config": [1, {"config": 2}]},
    ]
    for odd in oddities:
        assert model_layers(odd) == []


# ---- extras ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "name", "extra"),
    [("safetensors", "x.safetensors", "safetensors"), ("fsspec.core", "memory://x.h5", "remote")],
)
def test_a_missing_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str, extra: str
) -> None:
    path = name if "://" in name else f"{tmp_path}/{name}"
    if "://" not in name:
        registry.write_store(path, [entry_of("w", 1.0)])
    monkeypatch.setitem(sys.modules, module, None)
    uses: list[Any] = [registry.open_store]
    if extra == "remote":  # a safetensors file is written without the library
        uses.append(lambda path: registry.write_store(path, [entry_of("w", 1.0)]))
    for use in uses:
        with pytest.raises(MissingExtraError, match=rf"pip install 'sgtool\[{extra}\]'") as caught:
            use(path)
        assert caught.value.fields["extra"] == extra


# ---- safetensors -------------------------------------------------------------------------------


def test_the_library_reads_our_safetensors_and_we_its(tmp_path: Path) -> None:
    numpy_side = pytest.importorskip("safetensors.numpy")
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    registry.write_store(tmp_path / "x.safetensors", [entry_of("layer/w", array), entry_of("n", np.int64(3))])
    loaded = numpy_side.load_file(tmp_path / "x.safetensors")
    assert sorted(loaded) == ["layer/w", "n"]
    np.testing.assert_array_equal(loaded["layer/w"], array)
    numpy_side.save_file(
        {"b": array.T.copy(), "a": np.zeros(0, np.int8)}, tmp_path / "y", metadata={"k": "v"}
    )
    store = registry.open_store(tmp_path / "y")
    np.testing.assert_array_equal(store["b"].read(), array.T)
    assert store["a"].shape == (0,)
    rows = {
        "odd": {"dtype": "F8_E8M0", "shape": [2], "data_offsets": [0, 2]},
        "w": {"dtype": "U8", "shape": [1], "data_offsets": [2, 3]},
    }
    header = json.dumps(rows).encode()
    (tmp_path / "z").write_bytes(len(header).to_bytes(8, "little") + header + b"\1\2\3")
    odd: Any = registry.open_store(tmp_path / "z")
    assert odd["w"].read().tolist() == [3]
    with pytest.raises(MissingNameError, match="F8_E8M0, which TensorFlow does not have"):
        odd["odd"]


def test_folders_of_arrays(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    np.save(tmp_path / "b.npy", np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    np.save(tmp_path / "sub" / "a.npy", np.array([1, 2], ">i4"))
    np.save(tmp_path / "text.npy", np.array(["é", "x"]))
    np.save(tmp_path / "objects.npy", np.array([{}], object), allow_pickle=True)
    (tmp_path / "notes.txt").write_text("nothing")
    store: Any = registry.open_store(tmp_path)
    assert list(store) == ["b", "sub/a", "text"]
    assert store["b"].read().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert store["sub/a"].read().dtype == np.dtype("int32")
    assert store["text"].read().tolist() == ["é".encode(), b"x"]
    assert "pickle can run any code" in store.skipped["objects"]
    found = summary.summarise(tmp_path)
    assert (found["format"], found["parameters"]) == ("npy folder", 8)


def test_links_of_hdf5_that_lead_nowhere_are_told(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["z:0"] = np.ones(3)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a:0"] = np.ones(3)
        file["same"] = h5py.SoftLink("/a:0")
        file["up/all"] = h5py.SoftLink("/")
        file["broken:0"] = h5py.SoftLink("/nothing")
        file["round"] = h5py.SoftLink("/round")
        file["layer/outside:0"] = h5py.ExternalLink("other.h5", "/z:0")
    store: Any = registry.open_store(tmp_path / "x.h5")
    assert list(store) == ["a"]
    assert store.skipped == {
        "broken": "it is a link to /nothing, which is not there",
        "round": "it is a link to /round, which is not there",
        "layer/outside": "it is a link to /z:0 in the file other.h5, which is not read",
    }
    with pytest.raises(MissingNameError, match=r"It is there, but it is a link to /z:0 in the file"):
        store["layer/outside"]
    assert summary.summarise(tmp_path / "x.h5")["skipped"] == store.skipped
