"""TensorBundle checkpoints: TensorFlow's own read, and written byte for byte; damage named; saves atomic."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_values import named_values

from sgtool.formats import dtypes, files, protos
from sgtool.formats.bundle import Bundle, open_bundle
from sgtool.formats.bundle_writer import write_bundle
from sgtool.formats.entry import Entry, entry_of
from sgtool.formats.errors import (
    DataLossError,
    InvalidTypeError,
    InvalidValueError,
    MissingFileError,
    MissingNameError,
    OpError,
    UnimplementedError,
)
from sgtool.formats.parts import Part
from sgtool.formats.table import TableWriter
from sgtool.formats.tensor_bytes import encode_tensor

GOLDEN = Path(__file__).parents[1] / "golden"
DATA = ".data-00000-of-00001"


def same_files(one: Path, other: Path) -> bool:
    """Whether two checkpoints have the same files with the same bytes."""

    def content(prefix: Path) -> dict[str, bytes]:
        return {
            p.name.removeprefix(prefix.name): p.read_bytes()
            for p in prefix.parent.glob(f"{prefix.name}.*-of-*")
        } | {"index": Path(f"{prefix}.index").read_bytes()}

    return content(one) == content(other)


def test_every_dtype_of_tensorflows_is_read(tmp_path: Path) -> None:
    read = open_bundle(GOLDEN / "dtypes")
    expected = named_values()
    assert list(read) == sorted(expected)
    for name, (info, array) in expected.items():
        entry = read[name]
        assert (entry.dtype, entry.shape) == (info, array.shape)
        values = entry.read()
        assert (values.dtype, values.shape) == (array.dtype, array.shape)
        assert values.tolist() == array.tolist()


def test_every_dtype_is_written_byte_for_byte(tmp_path: Path) -> None:
    expected = named_values()
    write_bundle(
        tmp_path / "dtypes", [entry_of(name, *reversed(expected[name])) for name in sorted(expected)]
    )
    assert same_files(tmp_path / "dtypes", GOLDEN / "dtypes")


def test_partitioned_variables(tmp_path: Path) -> None:
    value = np.arange(600, dtype=np.float32).reshape(200, 3)
    read = open_bundle(GOLDEN / "slices")
    assert list(read) == ["part", "step", "strings", "wide"]
    assert read["part"].shape == (200, 3)
    np.testing.assert_array_equal(read["part"].read(), value)
    np.testing.assert_array_equal(read["wide"].read(), value[:4])
    np.testing.assert_array_equal(read.read_slice("part", [(149, 3), (1, 1)]), value[149:152, 1:2])
    np.testing.assert_array_equal(read.read_slice("part", [(160, 2), (0, -1)]), value[160:162])
    np.testing.assert_array_equal(read.read_slice("step", []), 5)
    assert read.read_slice("strings", [(1, 1)]).tolist() == [b"yz"]
    assert [part.part for part in read.parts("wide")] == [Part.parse("4 3 -:0,2"), Part.parse("4 3 -:2,1")]
    with pytest.raises(InvalidValueError, match="not a slice"):
        read.read_slice("part", [(199, 2), (0, 3)])
    entries = [part for name in ("part", "wide", "strings", "step") for part in read.parts(name)]
    write_bundle(tmp_path / "slices", entries)
    assert same_files(tmp_path / "slices", GOLDEN / "slices")


def test_full_slices_are_ordinary_entries(tmp_path: Path) -> None:
    value = np.ones((2, 3), np.float32)
    write_bundle(tmp_path / "sliced", [entry_of("w", value, part=Part.parse("2 3 0,2:-"))])
    write_bundle(tmp_path / "plain", [entry_of("w", value)])
    assert same_files(tmp_path / "sliced", tmp_path / "plain")


def test_sharded(tmp_path: Path) -> None:
    read = open_bundle(GOLDEN / "sharded")
    assert {name: entry.read().tolist() for name, entry in read.items()} == {
        "a": [0, 1, 2, 3, 4],
        "b": [0, 1, 2, 3],
        "c": 2.5,
    }
    shard = {"a": 1, "b": 0, "c": 0}
    write_bundle(tmp_path / "sharded", read.values(), shards=2, shard_of=lambda entry: shard[entry.name])
    assert same_files(tmp_path / "sharded", GOLDEN / "sharded")


def test_shards_by_size(tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", [entry_of(f"v{i}", np.full(10, i, np.float32)) for i in range(9)], shards=3)
    assert [(tmp_path / f"m.data-0000{i}-of-00003").stat().st_size for i in range(3)] == [120] * 3
    assert open_bundle(tmp_path / "m")["v7"].read().tolist() == [7] * 10


def test_arrays_are_aligned_and_mapped(tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", [entry_of("a", np.int8(1)), entry_of("b", np.arange(3.0))])
    values = open_bundle(tmp_path / "m")["b"].read()
    assert values.flags.aligned
    assert values.tolist() == [0, 1, 2]


def test_big_endian(tmp_path: Path) -> None:
    header = protos.BundleHeaderProto(num_shards=1, endianness=protos.BundleHeaderProto.BIG)
    array = np.array([1.5, -2], ">f8")
    entry = protos.BundleEntryProto(dtype=2, size=16, crc32c=encode_tensor(array.view("u1"), byte)[1])
    entry.shape.dim.add(size=2)
    (tmp_path / f"m{DATA}").write_bytes(array.tobytes())
    with (tmp_path / "m.index").open("wb") as file:
        table = TableWriter(file)
        table.add(b"", protos.encode(header))
        table.add(b"x", protos.encode(entry))
        table.finish()
    assert open_bundle(tmp_path / "m")["x"].read().tolist() == [1.5, -2]


byte = entry_of("", np.uint8(0)).dtype


def copy(prefix: Path, to: Path, **changes: bytes | None) -> Bundle:
    """A copy of a checkpoint with some bytes changed; `index=`, `data=`."""
    for suffix, key in ((".index", "index"), (DATA, "data")):
        content = changes[key] if key in changes else Path(f"{prefix}{suffix}").read_bytes()
        if content is not None:
            Path(f"{to}{suffix}").write_bytes(content)
    return open_bundle(to)


def test_damage_names_tensor_shard_and_offset(tmp_path: Path) -> None:
    data = bytearray((GOLDEN / f"slices{DATA}").read_bytes())
    data[40] ^= 1
    damaged = copy(GOLDEN / "slices", tmp_path / "m", data=bytes(data))
    with pytest.raises(
        DataLossError, match=r"'part\[0:150, 0:3\]' at bytes 0 to 1800 of .*m\.data-.* Checksum does not"
    ):
        damaged["part"].read()
    assert damaged["step"].read() == 5
    short = copy(GOLDEN / "slices", tmp_path / "s", data=bytes(data[:2000]))
    with pytest.raises(DataLossError, match=r"Read less bytes than requested.*has 2000"):
        short["step"].read()
    missing = copy(GOLDEN / "slices", tmp_path / "n", data=None)
    with pytest.raises(MissingFileError, match=r"n\.data-00000-of-00001, which does not exist"):
        missing["step"].read()
    with pytest.raises(MissingFileError, match="Failed to find any matching files for"):
        open_bundle(tmp_path / "nothing")
    with pytest.raises(DataLossError, match="too short"):
        copy(GOLDEN / "slices", tmp_path / "t", index=b"short")
    with pytest.raises(DataLossError, match="HTML"):
        copy(GOLDEN / "slices", tmp_path / "h", index=b"<html>" * 20)


def test_missing_keys_name_the_nearest() -> None:
    with pytest.raises(MissingNameError, match=r"Key stepp not found in checkpoint .* Did you mean 'step'"):
        open_bundle(GOLDEN / "slices")["stepp"]
    assert open_bundle(GOLDEN / "slices").get("stepp") is None


def write_index(prefix: Path, header: object, **entries: object) -> None:
    with Path(f"{prefix}.index").open("wb") as file:
        table = TableWriter(file)
        table.add(b"", protos.encode(header))
        for key, entry in sorted(entries.items()):
            table.add(key.encode(), protos.encode(entry))
        table.finish()


def test_index_claims_are_checked(tmp_path: Path) -> None:
    header = protos.BundleHeaderProto(num_shards=1)
    huge = protos.BundleEntryProto(dtype=1, size=8)
    huge.shape.dim.add(size=2**60)
    beyond = protos.BundleEntryProto(dtype=1, size=2**40, offset=2**50)
    beyond.shape.dim.add(size=2**38)
    write_index(
        tmp_path / "m",
        header,
        huge=huge,
        beyond=beyond,
        dtype=protos.BundleEntryProto(dtype=77),
        shard=protos.BundleEntryProto(dtype=1, size=4, shard_id=5),
        variant=protos.BundleEntryProto(dtype=21),
        resource=protos.BundleEntryProto(dtype=20),
    )
    (tmp_path / f"m{DATA}").write_bytes(b"12345678")
    opened = open_bundle(tmp_path / "m")
    with pytest.raises(DataLossError, match="key huge; stored size 8; expected size 4611686018427387904"):
        opened["huge"].read()
    with pytest.raises(DataLossError, match="Read less bytes"):
        opened["beyond"].read()
    with pytest.raises(UnimplementedError, match="dtype"):
        opened["dtype"].read()
    with pytest.raises(DataLossError, match="data file 5 of 1"):
        opened["shard"].read()
    with pytest.raises(DataLossError, match="expected at least 5 for 1 variants"):
        opened["variant"].read()
    with pytest.raises(UnimplementedError, match="resource"):
        opened["resource"].read()
    write_index(
        tmp_path / "f", protos.BundleHeaderProto(num_shards=1, version=protos.VersionDef(min_consumer=2))
    )
    with pytest.raises(UnimplementedError, match="min consumer version 2 above current version 1"):
        open_bundle(tmp_path / "f")


def broken(entries: Iterable[Entry]) -> Iterable[Entry]:
    def fail() -> np.ndarray:
        raise DataLossError("the source is damaged")

    yield from entries
    yield Entry("z", byte, (3,), 3, "", fail)


def test_a_failed_save_leaves_the_previous_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = [entry_of("a", np.arange(4.0))]
    write_bundle(tmp_path / "m", old)
    shutil.copytree(tmp_path, tmp_path / "before")
    with pytest.raises(DataLossError, match="source is damaged"):
        write_bundle(tmp_path / "m", broken([entry_of("a", np.zeros(9))]))
    for step in ("write", "sync", "replace"):
        for suffix in (DATA, ".index"):

            def fault(happening: str, path: str, step: str = step, suffix: str = suffix) -> None:
                if happening == step and path.endswith(suffix):
                    raise OSError(28, "No space left on device")

            monkeypatch.setattr(files, "fault_hook", fault)
            with pytest.raises(Exception, match="No space left"):
                write_bundle(tmp_path / "m", [entry_of("a", np.zeros(9))])
            monkeypatch.undo()
            assert same_files(tmp_path / "m", tmp_path / "before" / "m")
            assert len(list(tmp_path.iterdir())) == 3


def test_what_cannot_be_written_is_listed_first(tmp_path: Path) -> None:
    handle = Entry("h", dtypes.from_name("resource"), (), 0, "", lambda: np.zeros(()))
    with pytest.raises(InvalidTypeError, match=r"h \(resource\)"):
        write_bundle(tmp_path / "m", [entry_of("ok", 1.0), handle])
    with pytest.raises(InvalidValueError, match="a comes twice"):
        write_bundle(tmp_path / "m", [entry_of("a", 1.0), entry_of("a", 2.0)])
    with pytest.raises(InvalidValueError, match="cannot be a key"):
        write_bundle(tmp_path / "m", [entry_of("", 1.0)])
    with pytest.raises(MissingFileError, match=r"directory .* does not exist"):
        write_bundle(tmp_path / "no" / "m", [entry_of("a", 1.0)])
    assert list(tmp_path.iterdir()) == []


def test_parts_that_do_not_cover_are_damage(tmp_path: Path) -> None:
    half = np.ones((1, 2), np.float32)
    write_bundle(tmp_path / "m", [entry_of("w", half, part=Part.parse("3 2 0,1:0,2"))])
    with pytest.raises(DataLossError, match="hold 2 of the 6 elements"):
        open_bundle(tmp_path / "m")["w"].read()
    assert open_bundle(tmp_path / "m").read_slice("w", [(0, 1), (0, 2)]).tolist() == [[1, 1]]


@pytest.mark.parametrize(
    "spec", ["3", "3 2", "3 2 0,1", "3 2 0,4:-", "a b", "3 2 0,1:x", "3 2 0,1:0,2:0,2", "-3 0,1"]
)
def test_bad_slice_specs(spec: str) -> None:
    with pytest.raises(InvalidValueError, match="is not a shape and slice"):
        Part.parse(spec)


@pytest.mark.parametrize(
    "prefix", [*GOLDEN.glob("*.index"), *GOLDEN.glob("tf2/**/*.index"), *GOLDEN.glob("model/*.index")]
)
def test_the_listing_is_that_of_the_entries(prefix: Path) -> None:
    store = open_bundle(str(prefix).removesuffix(".index"))
    rows = [(entry.name, entry.dtype.name, list(entry.shape), entry.nbytes) for entry in store.values()]
    assert list(store.listing()) == rows


@pytest.mark.parametrize(
    "value",
    [
        b"",  # no dtype
        b"\x08\x01",
        b"\x08\x01\x12\x04\x12\x02\x08\x03\x20\x80\x08\x28\x0c\x35abcd",  # as TensorFlow writes it
        b"\x08\x01\x12\x04\x12\x02\x08\x03\x28\x0c\x28\x0d",  # a field twice
        b"\x28\x0c\x08\x01\x12\x04\x12\x02\x08\x03",  # in another order
        b"\x08\x01\x12\x04\x12\x02\x08\x03\x28\x0c\x78\x01",  # a field of the future
        b"\x08\x01\x12\x30\x12\x02\x08\x03",  # cut short
        b"\x08\x63\x12\x00\x28\x0c",  # no such dtype
    ],
)
def test_entries_in_any_form_are_listed_as_they_are_opened(value: bytes, tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", [entry_of("w", np.zeros(3, np.float32))])
    store = open_bundle(tmp_path / "m")
    store._entries["w"] = value
    try:
        entry = store["w"]
    except OpError as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            list(store.listing())
        return
    assert list(store.listing()) == [("w", entry.dtype.name, list(entry.shape), entry.nbytes)]


@pytest.mark.parametrize("name", ["dtypes", "big_endian", "partitioned", "variants"])
def test_pieces_are_the_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sgtool.formats.tensor_bytes.PIECE", 16)
    for entry in open_bundle(GOLDEN / name).values():
        pieces = [piece.reshape(-1) for piece in entry.read_pieces()]
        joined = [one for piece in pieces for one in piece.tolist()]
        assert str(joined) == str(entry.read().reshape(-1).tolist())
        assert all(piece.dtype == entry.dtype.numpy for piece in pieces)


@pytest.mark.parametrize("value", [b"ends in zeros\0\0", [b"\0", b"", b"a\0"], [[b"a\0"], [b"b"]]])
def test_strings_that_end_in_zeros_are_kept(value: Any, tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", [entry_of("s", value, "string")])
    assert open_bundle(tmp_path / "m")["s"].read().tolist() == value
