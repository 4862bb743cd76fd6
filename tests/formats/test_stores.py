"""What every store of variables must do, whatever its format; and what each promises beyond that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from golden_values import named_values
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from sgtool.formats import dtypes, files, registry
from sgtool.formats.entry import Entry, entry_of
from sgtool.formats.errors import (
    DataLossError,
    InvalidTypeError,
    InvalidValueError,
    MissingFileError,
    MissingNameError,
    UnimplementedError,
)

STORES = ["x.npz", "x.h5", "x.hdf5", "x"]
SPECIAL_NAMES = [
    "w",
    "w/Adam",
    "w/Adam/x:0",
    "w:0",
    "a//b",
    ".",
    "..",
    "../x",
    "/lead",
    "trail/",
    "__sgtool__/x",
    "v:0/b",
    "é",
    "a\0b",
    "sp ace",
    "x.npy",
    "x.raw",
    "back\\slash",
    "UPPER",
    "upper",
    "\udcff",
    "__sgtool__.json",
    "_CHECKPOINTABLE",
]


@pytest.fixture(params=STORES)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / request.param


def check_same(path: Path, expected: dict[str, tuple[dtypes.DTypeInfo, np.ndarray[Any, Any]]]) -> None:
    store = registry.open_store(path)
    assert list(store) == sorted(expected, key=lambda name: name.encode("utf-8", "surrogateescape"))
    for name, (info, array) in expected.items():
        entry = store[name]
        assert (entry.name, entry.dtype, entry.shape) == (name, info, array.shape)
        assert name in store
        values = entry.read()
        assert (values.dtype, values.shape) == (info.numpy, array.shape)
        np.testing.assert_array_equal(values, array)


def test_every_dtype_and_shape(path: Path) -> None:
    expected = named_values()
    registry.write_store(path, [entry_of(name, array, info) for name, (info, array) in expected.items()])
    check_same(path, expected)


def test_every_name(path: Path) -> None:
    expected = {name: np.float32(len(name)) * np.ones(2, np.float32) for name in SPECIAL_NAMES}
    if path.name == "x":  # a key that begins with NUL is a slice's
        assert not any(name.startswith("\0") for name in expected)
    registry.write_store(path, [entry_of(name, array) for name, array in expected.items()])
    check_same(path, {name: (dtypes.from_name("float32"), array) for name, array in expected.items()})


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=12),
        st.sampled_from(["float32", "int64", "bool", "complex64"]).flatmap(
            lambda name: hnp.arrays(name, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
        ),
        max_size=4,
    )
)
def test_any_names_and_arrays(path: Path, arrays: dict[str, np.ndarray[Any, Any]]) -> None:
    arrays = {name: array for name, array in arrays.items() if name.isprintable()}
    registry.write_store(path, [entry_of(name, array) for name, array in arrays.items()])
    check_same(path, {name: (dtypes.from_numpy(array.dtype), array) for name, array in arrays.items()})


def test_empty_store(path: Path) -> None:
    registry.write_store(path, [])
    assert len(registry.open_store(path)) == 0


def test_missing_names_name_the_nearest(path: Path) -> None:
    registry.write_store(path, [entry_of("weights", 1.0)])
    store = registry.open_store(path)
    with pytest.raises(MissingNameError, match=r"'?weight'? .*Did you mean 'weights'"):
        store["weight"]
    assert store.get("weight") is None
    assert "weight" not in store
    with pytest.raises(KeyError):
        store["weight"]


def test_duplicates_and_objects_are_refused_before_writing(path: Path) -> None:
    handle = Entry("h", dtypes.from_name("variant"), (), 0, "", lambda: np.zeros(()))
    with pytest.raises(InvalidTypeError, match=r"h \(variant\)"):
        registry.write_store(path, [entry_of("a", 1.0), handle])
    with pytest.raises(InvalidValueError, match="twice"):
        registry.write_store(path, [entry_of("a", 1.0), entry_of("a", 1.0)])
    lying = Entry("a", dtypes.from_name("float32"), (3,), 12, "", lambda: np.zeros(2, np.float32))
    with pytest.raises(InvalidValueError, match=r"declares shape \[3\] but its values have shape \[2\]"):
        registry.write_store(path, [lying])
    assert list(path.parent.iterdir()) == []


def test_a_failed_write_keeps_the_old_store(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.write_store(path, [entry_of("a", 1.0)])
    before = {p.name: p.read_bytes() for p in path.parent.iterdir()}
    for step in ("open", "sync", "replace"):
        monkeypatch.setattr(
            files, "fault_hook", lambda happening, _, step=step: 1 / 0 if happening == step else None
        )
        with pytest.raises(ZeroDivisionError):
            registry.write_store(path, [entry_of("a", 2.0)])
        monkeypatch.undo()
        assert {p.name: p.read_bytes() for p in path.parent.iterdir()} == before
    with pytest.raises(MissingFileError, match=r"directory .* does not exist"):
        registry.write_store(path.parent / "no" / path.name, [entry_of("a", 2.0)])


def test_equal_content_gives_equal_files(path: Path) -> None:
    def content() -> list[bytes]:
        registry.write_store(path, [entry_of("a", 1.0), entry_of("b", "text")])
        return [p.read_bytes() for p in sorted(path.parent.iterdir())]

    assert content() == content()


def test_from_any_store_to_any(path: Path, tmp_path: Path) -> None:
    expected = named_values()
    registry.write_store(path, [entry_of(name, array, info) for name, (info, array) in expected.items()])
    for other in STORES:
        target = tmp_path / f"copy-{other}"
        registry.write_store(target, registry.open_store(path).values())
        check_same(target, expected)


@pytest.mark.parametrize("name", ["x.npz", "x.h5"])
def test_meta_graph_is_kept(tmp_path: Path, name: str) -> None:
    graph = bytes(range(256)) * 1000  # over the 64 KB that an attribute of HDF5 holds
    registry.write_store(tmp_path / name, [entry_of("a", 1.0)], graph)
    store: Any = registry.open_store(tmp_path / name)
    assert store.meta_graph == graph
    assert list(store) == ["a"]
    registry.write_store(tmp_path / "ckpt", [entry_of("a", 1.0)], graph)
    assert (tmp_path / "ckpt.meta").read_bytes() == graph


def test_content_decides_not_the_suffix(tmp_path: Path) -> None:
    for name, format in (("x.npz", "npz"), ("x.h5", "hdf5")):
        registry.write_store(tmp_path / name, [entry_of("a", 1.0)])
        (tmp_path / name).rename(tmp_path / "weights.bin")
        assert registry.detect(tmp_path / "weights.bin").name == format
        assert list(registry.open_store(tmp_path / "weights.bin")) == ["a"]
    (tmp_path / "t.txt").write_text("hello")
    with pytest.raises(UnimplementedError, match="the formats that are read are: bundle, graph, hdf5, npz"):
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
    assert sorted(store.skipped) == ["claim", "nothing", "outside", "table"]


def test_a_changed_value_does_not_match_its_checksum(tmp_path: Path) -> None:
    registry.write_store(tmp_path / "x.h5", [entry_of("w", np.arange(4.0)), entry_of("v", 1.0)])
    with h5py.File(tmp_path / "x.h5", "r+") as file:
        file["w:0"][1] = 7
    with pytest.raises(DataLossError, match=r"'w' in .* do not match their checksum"):
        registry.open_store(tmp_path / "x.h5")["w"].read()
    assert registry.open_store(tmp_path / "x.h5")["v"].read() == 1
