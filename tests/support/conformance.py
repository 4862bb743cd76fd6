"""What every store of variables must do, whatever its format: a suite that each format subclasses.

A subclass says how a store is written (by the format's writer, or by whatever other program makes such
files), which dtypes and names it can hold, and which of its files to damage. The tests are here.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_values import named_values
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from sgtool.formats import dtypes, files, registry, summary
from sgtool.formats.entry import Entry, entry_of
from sgtool.formats.errors import (
    DataLossError,
    InvalidTypeError,
    InvalidValueError,
    MissingFileError,
    MissingNameError,
    OpError,
    ResourceExhaustedError,
)

Values = dict[str, tuple[dtypes.DTypeInfo, np.ndarray[Any, Any]]]

SPECIAL_NAMES = (
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
    "[0]*?",
    "x.npy",
    "x.raw",
    "back\\slash",
    "UPPER",
    "upper",
    "\udcff",
    "__sgtool__.json",
    "_CHECKPOINTABLE",
    "層/重み",
)
SAMPLE: dict[str, np.ndarray[Any, Any]] = {
    "w": np.arange(6, dtype=np.float32).reshape(2, 3),
    "step": np.array(7, np.int64),
    "empty/w": np.zeros((0, 3), np.float32),
}


class StoreReading:
    """The tests of a reader; subclasses give `write` and `target`, and narrow what the format can hold."""

    file = "x"
    """The store's path below a new folder; a trailing slash is a folder."""
    damaged = "x"
    """The file whose bits are flipped, relative to the folder."""
    checksums = True
    """Whether each changed value is noticed; else a changed value may come out as another value."""
    dtype_names = frozenset(row.name for row in dtypes.BY_NUMBER.values() if row.kind != "handle")
    flips = True
    """Whether bits may be flipped; else the file is only cut short."""

    def write(self, path: str, values: Mapping[str, Any]) -> None:
        """Makes a store: of arrays, or of (dtype, array) where NumPy does not say the dtype."""
        raise NotImplementedError

    def can_name(self, name: str) -> bool:
        """Whether such a file can hold a tensor of this name."""
        return True

    @pytest.fixture
    def path(self, tmp_path: Path) -> str:
        return f"{tmp_path}/{self.file}"

    def values(self) -> Values:
        return {name: pair for name, pair in named_values().items() if pair[0].name in self.dtype_names}

    def check(self, path: str, expected: Values) -> None:
        store = registry.open_store(path)
        assert list(store) == sorted(expected, key=lambda name: name.encode("utf-8", "surrogateescape"))
        assert len(store) == len(expected)
        for name, (info, array) in expected.items():
            entry = store[name]
            # all of this is known before a byte of the values is read
            assert (entry.name, entry.dtype, entry.shape) == (name, info, array.shape)
            if info.size is not None:
                assert entry.nbytes == info.size * array.size
            assert entry.size == array.size
            assert entry.location
            assert name in store
            values = entry.read()
            assert (values.dtype, values.shape) == (info.numpy, array.shape)
            np.testing.assert_array_equal(values, array)

    def test_every_dtype_and_shape(self, path: str) -> None:
        expected = self.values()
        self.write(path, expected)
        self.check(path, expected)

    def test_every_name(self, path: str) -> None:
        names = [name for name in SPECIAL_NAMES if self.can_name(name)]
        assert len(names) > 4
        expected = {name: np.full(2, number, np.float32) for number, name in enumerate(names)}
        self.write(path, expected)
        self.check(path, {name: (dtypes.from_name("float32"), array) for name, array in expected.items()})

    def test_missing_names_name_the_nearest(self, path: str) -> None:
        self.write(path, {"weights": np.ones(2)})
        store = registry.open_store(path)
        with pytest.raises(MissingNameError, match=r"'?weight'? .*Did you mean 'weights'"):
            store["weight"]
        with pytest.raises(KeyError):
            store["weight"]
        assert store.get("weight") is None
        assert store.get("weight", 3) == 3
        assert "weight" not in store
        no_text: Any = 3
        assert no_text not in store

    def test_odd_folders_are_literal(self, path: str) -> None:
        folder, _, name = path.removesuffix("/").rpartition("/")
        for odd in ("a [b]*?", "sp ace", "ü層", "x-00000-of-00001"):
            self.make_folder(f"{folder}/{odd}")
            target = f"{folder}/{odd}/{name}{'/' * path.endswith('/')}"
            self.write(target, SAMPLE)
            assert sorted(registry.open_store(target)) == sorted(SAMPLE)
            assert len(summary.summarise(target)["variables"]) == len(SAMPLE)

    def make_folder(self, path: str) -> None:
        Path(path).mkdir()

    def test_pathlib_and_str_are_the_same(self, path: str) -> None:
        self.write(path, SAMPLE)
        assert list(registry.open_store(Path(path))) == list(registry.open_store(path)) == sorted(SAMPLE)

    def test_a_summary_reads_no_values(self, path: str) -> None:
        self.write(path, SAMPLE)
        found = {row["name"]: (row["dtype"], row["shape"]) for row in summary.summarise(path)["variables"]}
        assert found == {name: (array.dtype.name, list(array.shape)) for name, array in SAMPLE.items()}

    def test_values_may_be_read_in_any_order_and_again(self, path: str) -> None:
        self.write(path, SAMPLE)
        store = registry.open_store(path)
        for name in ("w", "step", "w", "empty/w", "w"):
            np.testing.assert_array_equal(store[name].read(), SAMPLE[name])
        entry = registry.open_store(path)["w"]  # the entry outlives the store
        np.testing.assert_array_equal(entry.read(), SAMPLE["w"])

    def test_copies_to_a_checkpoint(self, path: str, tmp_path: Path) -> None:
        self.write(path, SAMPLE)
        registry.write_store(tmp_path / "copy", registry.open_store(path).values())
        copied = registry.open_store(tmp_path / "copy")
        assert {name: entry.read().tolist() for name, entry in copied.items()} == {
            name: array.tolist() for name, array in SAMPLE.items()
        }

    def test_damage_is_a_right_value_or_our_error(self, path: str, tmp_path: Path) -> None:
        self.write(path, SAMPLE)
        expected = {name: array.tolist() for name, array in SAMPLE.items()}
        target = tmp_path / self.damaged
        whole = target.read_bytes()
        refused = 0
        for data in damaged_copies(whole, 60, self.flips):
            target.unlink()  # a library may take a file that was overwritten in place for the one it has open
            target.write_bytes(data)
            try:
                store = registry.open_store(path)
                found = {name: entry.read() for name, entry in store.items()}
            except OpError:
                refused += 1
                continue
            if self.checksums:
                assert {name: array.tolist() for name, array in found.items()} == expected
            assert all(array.shape == store[name].shape for name, array in found.items())
        assert refused > 20
        target.unlink()
        target.write_bytes(whole)
        assert {n: e.read().tolist() for n, e in registry.open_store(path).items()} == expected

    def test_empty_and_foreign_files_are_named(self, path: str, tmp_path: Path) -> None:
        self.write(path, SAMPLE)
        target = tmp_path / self.damaged
        for content in (
            b"",
            b"<html><body>404</body></html>",
            b"version https://git-lfs.github.com/spec/v1\n",
        ):
            target.write_bytes(content)
            with pytest.raises(OpError, match=r"empty|HTML|LFS|too short|damaged|MetaGraphDef") as caught:
                [entry.read() for entry in registry.open_store(path).values()]
            assert str(target.name) in str(caught.value)


class StoreWriting(StoreReading):
    """The tests of a format that is also written."""

    holds_graph = True

    def write(self, path: str, values: Mapping[str, Any]) -> None:
        registry.write_store(path, entries(values))

    @settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        st.dictionaries(
            st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=12),
            st.sampled_from(["float32", "int64", "bool", "uint8"]).flatmap(
                lambda name: hnp.arrays(
                    name, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
                )
            ),
            max_size=4,
        )
    )
    def test_any_names_and_arrays(self, path: str, arrays: dict[str, np.ndarray[Any, Any]]) -> None:
        arrays = {n: array for n, array in arrays.items() if n.isprintable() and self.can_name(n)}
        self.write(path, arrays)
        self.check(path, {name: (dtypes.from_numpy(array.dtype), array) for name, array in arrays.items()})

    def test_empty_store(self, path: str) -> None:
        registry.write_store(path, [])
        assert len(registry.open_store(path)) == 0

    def test_what_cannot_be_written_is_listed_before_writing(self, path: str, tmp_path: Path) -> None:
        def handle(name: str) -> Entry:
            return Entry(name, dtypes.from_name("resource"), (), 0, "", lambda: np.zeros(()))

        with pytest.raises(InvalidTypeError, match=r"h \(resource\)\n.*i \(resource\)"):
            registry.write_store(path, [entry_of("a", 1.0), handle("h"), handle("i")])
        with pytest.raises(InvalidValueError, match="twice"):
            registry.write_store(path, [entry_of("a", 1.0), entry_of("a", 1.0)])
        lying = Entry("a", dtypes.from_name("float32"), (3,), 12, "", lambda: np.zeros(2, np.float32))
        with pytest.raises(InvalidValueError, match=r"declares shape \[3\] but its values have shape \[2\]"):
            registry.write_store(path, [lying])
        assert list(tmp_path.iterdir()) == []

    def test_dtypes_that_it_lacks_are_listed(self, path: str, tmp_path: Path) -> None:
        lacking = {n: p for n, p in named_values().items() if p[0].name not in self.dtype_names}
        if lacking:
            with pytest.raises(InvalidTypeError) as caught:
                registry.write_store(path, entries({**lacking, "fine": np.float32(1)}))
            assert all(
                f"{name} ({info.name})" in caught.value.fields["names"] for name, (info, _) in lacking.items()
            )
            assert list(tmp_path.iterdir()) == []

    def test_a_failed_write_keeps_the_old_store(
        self, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        registry.write_store(path, [entry_of("a", 1.0)])
        before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
        for step in ("open", "sync", "replace"):
            monkeypatch.setattr(
                files, "fault_hook", lambda happening, _, step=step: 1 / 0 if happening == step else None
            )
            with pytest.raises(ZeroDivisionError):
                registry.write_store(path, [entry_of("a", 2.0)])
            monkeypatch.undo()
            assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before

        def fail() -> Any:
            raise DataLossError("the source is damaged")

        bad = Entry("b", dtypes.from_name("float32"), (), 4, "", fail)
        with pytest.raises(DataLossError, match="the source is damaged"):
            registry.write_store(path, [entry_of("a", 2.0), bad])
        assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
        with pytest.raises(MissingFileError, match=r"directory .* does not exist"):
            registry.write_store(tmp_path / "no" / self.file, [entry_of("a", 2.0)])

    def test_a_full_disc_is_told_as_such(self, path: str, tmp_path: Path) -> None:
        resource = pytest.importorskip("resource")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        values = np.random.default_rng(0).normal(size=50_000).astype(np.float32)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
        try:
            with pytest.raises(ResourceExhaustedError, match=r"Cannot write .*: File too large") as caught:
                registry.write_store(path, [entry_of("a", values), entry_of("b", 1.0)])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert str(tmp_path) in str(caught.value)
        assert list(tmp_path.iterdir()) == []

    def test_equal_content_gives_equal_files(self, path: str, tmp_path: Path) -> None:
        def content() -> list[bytes]:
            self.write(path, SAMPLE)
            return [p.read_bytes() for p in sorted(tmp_path.iterdir())]

        assert content() == content()

    def test_the_graph_is_kept(self, path: str, tmp_path: Path) -> None:
        graph = bytes(range(256)) * 1000  # over the 64 KB that an attribute of HDF5 holds
        registry.write_store(path, [entry_of("a", 1.0)], graph)
        store: Any = registry.open_store(path)
        assert list(store) == ["a"]
        kept = store.meta_graph if self.holds_graph else Path(f"{path}.meta").read_bytes()
        assert kept == graph


def entries(values: Mapping[str, Any]) -> Iterable[Entry]:
    """Entries of arrays, or of (dtype, array) pairs."""
    return [
        entry_of(name, value[1], value[0]) if isinstance(value, tuple) else entry_of(name, value)
        for name, value in values.items()
    ]


def damaged_copies(data: bytes, count: int, flips: bool = True) -> Iterator[bytes]:
    """`data` with a bit flipped, a byte overwritten, or cut short, at up to `count` places; repeatable."""
    choose = random.Random(len(data))
    places = range(len(data)) if len(data) <= count else sorted(choose.sample(range(len(data)), count))
    for at in places:
        if flips:
            yield data[:at] + bytes((data[at] ^ 1 << choose.randrange(8),)) + data[at + 1 :]
            yield data[:at] + bytes((choose.randrange(256),)) + data[at + 1 :]
        yield data[:at]
