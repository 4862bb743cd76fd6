"""Verification: each kind of damage is found, placed and explained, and what is intact is told."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from sgtool.formats import files, graph_file, protos, registry, summary
from sgtool.formats.bundle import write_bundle
from sgtool.formats.entry import entry_of
from sgtool.formats.errors import (
    AlreadyExistsError,
    DataLossError,
    InvalidValueError,
    MissingFileError,
    OpError,
    UnimplementedError,
)
from sgtool.formats.leftovers import leftovers
from sgtool.formats.parts import Part
from sgtool.formats.verification import Verification
from sgtool.formats.verify import salvage, verify

GOLDEN = Path(__file__).parents[1] / "golden"
VALUES: dict[str, Any] = {
    "a": np.arange(1, 4097, dtype=np.float32),
    "b": np.full((4, 4), 7, np.int32),
    "c": np.array([b"x", b"yy"], object),
    "d": np.random.default_rng(0).normal(size=100_000).astype(np.float32),
}


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    write_bundle(tmp_path / "m", [entry_of(name, value) for name, value in VALUES.items()])
    return tmp_path / "m"


def data_of(prefix: Path) -> Path:
    return Path(f"{prefix}.data-00000-of-00001")


def check(path: Path) -> Verification:
    (found,) = verify(path)
    return found


def poke(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def test_what_is_whole(prefix: Path) -> None:
    found = check(prefix)
    assert found.whole
    assert (found.intact, found.damaged, found.causes, found.notes) == (list(VALUES), [], [], [])
    assert found.nbytes == data_of(prefix).stat().st_size


def test_a_changed_byte_is_placed(prefix: Path) -> None:
    at = 4096 * 4 + 5
    poke(data_of(prefix), at, b"\xff")
    found = check(prefix)
    (damage,) = found.damaged
    assert (damage.name, damage.kind, damage.path) == ("b", "checksum", str(data_of(prefix)))
    assert (damage.offset, damage.size) == (4096 * 4, 64)
    assert damage.expected != damage.found
    assert f"stored {damage.expected} vs. calculated on the restored bytes {damage.found}" in damage.why
    assert found.intact == ["a", "c", "d"]


def test_a_file_that_was_cut_off_at_a_round_size(prefix: Path) -> None:
    whole = data_of(prefix).stat().st_size
    os.truncate(data_of(prefix), 4096 * 5)
    found = check(prefix)
    (damage,) = found.damaged
    assert (damage.name, damage.kind, damage.expected) == ("d", "length", 400_000)
    assert damage.found == 4096 * 5 - damage.offset  # type: ignore[operator]
    assert found.causes == [
        f"{data_of(prefix)} is cut off: it has 20480 of {whole} bytes. 20480 is a multiple of 4096: an "
        "interrupted download or copy, or a full disk."
    ]


def test_a_transfer_as_text(prefix: Path) -> None:
    data = data_of(prefix)
    before = data.read_bytes()
    data.write_bytes(before.replace(b"\n", b"\r\n"))
    found = check(prefix)
    assert {damage.name for damage in found.damaged} >= {"d"}
    (cause,) = found.causes
    assert "transferred as text" in cause
    assert f"{before.count(10)} bytes longer than it was" in cause


def test_an_unfinished_download_full_of_zeros(prefix: Path) -> None:
    poke(data_of(prefix), 0, bytes(4096 * 4))
    (damage,) = check(prefix).damaged
    assert damage.name == "a"
    assert "holds nothing but zeros" in damage.why


def test_an_index_that_was_appended_to_itself(prefix: Path) -> None:
    index = Path(f"{prefix}.index")
    size = index.stat().st_size
    index.write_bytes(index.read_bytes() * 2)
    found = check(prefix)
    assert found.whole
    assert found.notes == [
        f"{index} has {size} bytes between its last block and its footer: of another file?"
    ]


def test_data_of_another_save(prefix: Path, tmp_path: Path) -> None:
    other = {name: value + 1 if value.dtype != object else value[::-1] for name, value in VALUES.items()}
    write_bundle(tmp_path / "other", [entry_of(name, value) for name, value in other.items()])
    shutil.move(data_of(tmp_path / "other"), data_of(prefix))
    os.utime(f"{prefix}.index", (1, 1))
    found = check(prefix)
    assert len(found.damaged) == 4
    (cause,) = found.causes
    assert (
        f"4 of the 4 tensors that lie within its {data_of(prefix).stat().st_size} bytes do not match" in cause
    )
    assert "s after the index" in cause
    assert "Files of two saves are mixed." in cause


def test_data_of_another_save_that_is_shorter(prefix: Path, tmp_path: Path) -> None:
    other = {"a": VALUES["a"] + 1, "b": VALUES["b"] + 1, "c": VALUES["c"], "d": VALUES["d"][:10]}
    write_bundle(tmp_path / "other", [entry_of(name, value) for name, value in other.items()])
    shutil.move(data_of(tmp_path / "other"), data_of(prefix))
    (cause,) = check(prefix).causes
    assert "Files of two saves are mixed." in cause


def test_missing_data_files(tmp_path: Path) -> None:
    entries = [entry_of(name, value) for name, value in VALUES.items()]
    write_bundle(tmp_path / "m", entries, 2, shard_of=lambda entry: int(entry.name > "b"))
    gone = tmp_path / "m.data-00001-of-00002"
    gone.unlink()
    found = check(tmp_path / "m")
    assert found.intact == ["a", "b"]
    assert [(one.name, one.kind) for one in found.damaged] == [(n, "missing") for n in ("", "c", "d")]
    assert found.damaged[0].why == f"{gone} does not exist; the checkpoint has 2 data files."


def test_a_damaged_part_names_its_range(tmp_path: Path) -> None:
    value = np.arange(12, dtype=np.float32).reshape(4, 3)
    parts = [Part((4, 3), ((at, 2), (0, -1))) for at in (0, 2)]
    write_bundle(
        tmp_path / "m", [entry_of("w", value[p.ranges[0][0] : p.ranges[0][1]], part=p) for p in parts]
    )
    assert check(tmp_path / "m").intact == ["w"]
    poke(data_of(tmp_path / "m"), 30, b"\xff")
    found = check(tmp_path / "m")
    assert (found.intact, [(one.name, one.offset) for one in found.damaged]) == (
        [],
        [("w[[2, 4], [0, 3]]", 24)],
    )


def test_an_index_of_which_one_block_is_damaged(tmp_path: Path) -> None:
    names = [f"block_{i:05d}/a_rather_long_name_so_that_there_are_several_blocks" for i in range(12_000)]
    write_bundle(tmp_path / "m", (entry_of(name, np.float32(i)) for i, name in enumerate(names)))
    poke(tmp_path / "m.index", 300_000, b"\xff\xff")
    found = check(tmp_path / "m")
    (damage,) = found.damaged
    assert damage.why.startswith("All tensors with names after 'block_")
    assert (damage.kind, damage.path) == ("checksum", str(tmp_path / "m.index"))
    assert 1000 < len(found.intact) < 12_000
    _, written, _ = salvage([found], tmp_path / "rescued")
    assert written == found.intact
    assert float(registry.open_store(tmp_path / "rescued")[names[5]].read()) == 5


def test_an_index_that_is_beyond_reading(prefix: Path) -> None:
    index = Path(f"{prefix}.index")
    index.write_bytes(b"\xff" * 5 + index.read_bytes()[5:-20])
    found = check(prefix)
    assert found.intact == []
    assert "bad magic number" in found.damaged[0].why
    with pytest.raises(InvalidValueError, match="0 sets of tensors"):
        salvage([found], "out")


@pytest.mark.parametrize(
    "name",
    [
        "m.data-00000-of-00001.tempstate123456789",
        "m.index.tempstate42",
        "m.meta.tmp0123456789abcdef0123456789abcdef",
        "m_temp_0123456789abcdef",
        "m.data-00000-of-00001.sgtmp-0a1b2c3d",
        "m.index.crdownload",
        ".m.data-00000-of-00001.Xy12Zq",
    ],
)
def test_left_over_files_are_recognised(name: str, prefix: Path) -> None:
    (prefix.parent / name).mkdir() if name.endswith("cdef") and "_temp" in name else (
        prefix.parent / name
    ).write_bytes(b"")
    assert leftovers(prefix.parent, "m") == [str(prefix.parent / name)]
    assert leftovers(prefix.parent, "other") == []
    (prefix.parent / "m2.index.tempstate7").write_bytes(b"")  # of another prefix
    found = check(prefix)
    assert found.whole
    assert found.notes == [
        f"{prefix.parent / name} is left over from a save or copy that did not finish; it can be deleted."
    ]


def test_a_save_that_did_not_finish(tmp_path: Path) -> None:
    (tmp_path / "m.data-00000-of-00001").write_bytes(b"12")
    (tmp_path / "m.index.tempstate1").write_bytes(b"")
    found = check(tmp_path / "m")
    assert found.damaged[0].why.startswith(f"{tmp_path / 'm.index'} does not exist")
    assert "m.index.tempstate1 is left over" in found.causes[0]
    with pytest.raises(MissingFileError):
        verify(tmp_path / "other")


def test_left_over_files_by_their_own_names(prefix: Path, tmp_path: Path) -> None:
    index, data = Path(f"{prefix}.index"), data_of(prefix)
    for whole in (index, data):
        left = Path(f"{whole}.tempstate5")
        shutil.copy(whole, left)
        found = check(left)
        assert (found.format, len(found.damaged)) == ("left-over file", 1)
        assert (
            f"{left} is left over from a save or copy of {whole} that did not finish" in found.damaged[0].why
        )
        assert f"{whole} is there: delete the other" in found.damaged[0].why
    (found,) = verify(tmp_path)  # no checkpoint of the first generation is seen in the index left over
    assert found.whole
    with pytest.raises(OpError, match="left over from a save or copy"):
        registry.open_store(f"{index}.tempstate5")
    index.unlink()
    found = check(prefix)
    assert f"{index}.tempstate5 is a whole index: copy it to {index}" in found.causes[0]
    assert "is not there: write or copy it again" in check(Path(f"{index}.tempstate5")).damaged[0].why


def test_a_tensor_without_bytes_is_intact_whatever_became_of_its_file(tmp_path: Path) -> None:
    values = [entry_of("a", np.ones(100)), entry_of("b", np.zeros((0, 3), np.float32))]
    write_bundle(tmp_path / "m", values)
    os.truncate(data_of(tmp_path / "m"), 10)
    found = check(tmp_path / "m")
    assert (found.intact, [one.name for one in found.damaged]) == (["b"], ["a"])
    data_of(tmp_path / "m").unlink()
    found = check(tmp_path / "m")
    assert (found.intact, [one.name for one in found.damaged]) == (["b"], ["", "a"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 1\n", "is a Git LFS pointer"),
        (b"<html><body>404</body></html>" * 400, "is an HTML or XML page"),
        (b"", "is empty"),
    ],
)
@pytest.mark.parametrize("count", [1, 20])
def test_what_lies_in_the_place_of_a_data_file(content: bytes, said: str, count: int, tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", [entry_of(f"t{i:02}", np.full(3, i, np.float32)) for i in range(count)])
    data_of(tmp_path / "m").write_bytes(content)
    (cause,) = check(tmp_path / "m").causes
    assert cause.startswith(f"{data_of(tmp_path / 'm')} {said}")


def test_something_else_by_the_name_of_an_index_hides_no_other_checkpoint(
    prefix: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.index").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    other, found = verify(tmp_path)
    assert (other.path, other.whole, found.path, found.whole) == (
        str(tmp_path / "a"),
        False,
        str(prefix),
        True,
    )
    assert "PNG image" in other.damaged[0].why


def test_a_directory(prefix: Path, tmp_path: Path) -> None:
    write_bundle(tmp_path / "n", [entry_of("a", np.float32(1))])
    poke(data_of(tmp_path / "n"), 0, b"\xff")
    (tmp_path / "checkpoint").write_text(
        'model_checkpoint_path: "n"\nall_model_checkpoint_paths: "gone-3"\nall_model_checkpoint_paths: "n"\n'
    )
    first, second = verify(tmp_path)
    assert (first.path, first.whole) == (str(prefix), True)
    assert (second.path, second.whole) == (str(tmp_path / "n"), False)
    assert second.notes == [f"{tmp_path / 'checkpoint'} names {tmp_path / 'gone-3'}, which is not there."]
    with pytest.raises(InvalidValueError, match="2 sets of tensors"):
        salvage([first, second], tmp_path / "out")
    (tmp_path / "checkpoint").write_text("")
    assert verify(tmp_path)[-1].notes == [f"{tmp_path / 'checkpoint'} names no checkpoint: it is empty."]
    (tmp_path / "checkpoint").write_text("nonsense")
    assert verify(tmp_path)[-1].damaged[0].path == str(tmp_path / "checkpoint")


@pytest.mark.parametrize("suffix", [".h5", ".npz"])
def test_stores(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"s{suffix}"
    registry.write_store(path, [entry_of(name, value) for name, value in VALUES.items()])
    assert sorted(check(path).intact) == sorted(VALUES)
    size = path.stat().st_size
    if suffix == ".npz":  # a zip has a checksum of each member
        poke(path, size // 2, b"\x01\x02\x03\x04\x05")
        found = check(path)
        assert [damage.name for damage in found.damaged] == ["d"]
        _, written, left_out = salvage([found], tmp_path / "out")
        assert (sorted(written), left_out) == (["a", "b", "c"], ["d"])
    os.truncate(path, size // 2)
    found = check(path)
    assert not found.whole


def damaged_npz(tmp_path: Path, at: bytes, put: bytes) -> Path:
    path = tmp_path / "s.npz"
    registry.write_store(path, [entry_of(name, value) for name, value in VALUES.items()], meta_graph=b"")
    poke(path, path.read_bytes().index(at), put)
    return path


def saved(path: Path) -> dict[str, Any]:
    return {name: entry.read() for name, entry in registry.open_store(path).items()}


def salvaged(found: Verification, tmp_path: Path) -> dict[str, Any]:
    output = tmp_path / f"out{len(list(tmp_path.glob('out*.index')))}"
    salvage([found], output)
    return saved(output)


def same(found: dict[str, Any], *names: str) -> None:
    assert list(found) == list(names)
    for name in names:
        np.testing.assert_array_equal(found[name], VALUES[name])


def test_one_cut_file_in_a_folder_of_npy(tmp_path: Path) -> None:
    folder = tmp_path / "arrays"
    folder.mkdir()
    for name in "abd":
        np.save(folder / f"{name}.npy", VALUES[name])
    os.truncate(folder / "b.npy", 150)
    found = check(folder)
    assert (found.intact, [one.name for one in found.damaged]) == (["a", "d"], ["b"])
    assert "b.npy is damaged: it declares shape [4, 4]" in found.damaged[0].why
    same(salvaged(found, tmp_path), "a", "d")
    with pytest.raises(OpError, match=r"b\.npy"):  # who does not ask for what is left gets nothing
        registry.open_store(folder)


def test_safetensors_cut_behind_the_header(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    path = tmp_path / "s.safetensors"
    registry.write_store(path, [entry_of(name, VALUES[name]) for name in "abd"])
    os.truncate(path, path.stat().st_size - 30)
    found = check(path)
    (damage,) = found.damaged
    assert len(found.intact) == 2
    assert damage.name not in found.intact
    assert damage.offset is not None
    same(salvaged(found, tmp_path), *found.intact)
    os.truncate(path, 20)
    assert [one.name for one in check(path).damaged] == [""]


def test_safetensors_have_no_checksums(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    path = tmp_path / "s.safetensors"
    registry.write_store(path, [entry_of(name, VALUES[name]) for name in "abd"])
    found = check(path)
    assert (found.whole, found.intact) == (True, ["a", "b", "d"])
    (note,) = found.notes
    assert "no checksums of its tensors" in note
    whole = path.read_bytes()
    poke(path, len(whole) - 5, b"\xff\xff")  # a changed number cannot be told from the right one
    assert check(path).whole
    for at in (1, 12, 40):  # the length of the header, and the header
        path.write_bytes(whole)
        poke(path, at, b"\xff")
        assert not check(path).whole
    path.write_bytes(whole[:-500] + b"123" + whole[-500:])
    found = check(path)
    assert not found.whole
    assert found.causes[0].startswith(f"{path} has 3 bytes more than the {len(whole)} it should have")


def test_an_npz_with_its_end_cut(tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    registry.write_store(path, [entry_of(name, VALUES[name]) for name in "abd"])
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])  # no directory, but all members
    found = check(path)
    assert (found.intact, [one.name for one in found.damaged]) == (["a", "b", "d"], [""])
    same(salvaged(found, tmp_path), "a", "b", "d")
    path.write_bytes(whole[: len(whole) // 2])
    found = check(path)
    assert (found.intact, [one.name for one in found.damaged]) == (["a", "b"], ["d"])
    same(salvaged(found, tmp_path), "a", "b")


def hdf5_of(path: Path) -> dict[str, tuple[int, int]]:
    """An HDF5 file of the values below groups; where the header and the elements of each dataset are."""
    import h5py

    registry.write_store(path, [entry_of(f"net/{name}", value) for name, value in VALUES.items()])
    with h5py.File(path) as file:
        datasets = {name: file[f"net/{name}:0"] for name in VALUES}
        return {name: (h5py.h5o.get_info(d.id).addr, d.id.get_offset()) for name, d in datasets.items()}


@pytest.mark.parametrize("part", [0, 1])
def test_one_bad_dataset_of_an_hdf5_file(part: int, tmp_path: Path) -> None:
    at = hdf5_of(tmp_path / "s.h5")["b"][part]
    poke(tmp_path / "s.h5", at + 2, b"\xff\xff\xff")
    found = check(tmp_path / "s.h5")
    assert (found.intact, [one.name for one in found.damaged]) == (["net/a", "net/c", "net/d"], ["net/b"])
    _, written, left_out = salvage([found], tmp_path / "rescued.h5")
    assert (written, left_out) == (["net/a", "net/c", "net/d"], ["net/b"])
    rescued = saved(tmp_path / "rescued.h5")
    for name in "acd":
        np.testing.assert_array_equal(rescued[f"net/{name}"], VALUES[name])


def test_one_bad_group_of_a_file_of_keras(tmp_path: Path) -> None:
    import h5py

    path = tmp_path / "k.h5"
    shutil.copy(GOLDEN / "keras.h5", path)
    names = list(registry.open_store(GOLDEN / "keras.h5"))
    with h5py.File(path) as file:
        group = next(name for name in file["model_weights"] if list(file["model_weights"][name]))
        group = f"model_weights/{group}"
        address = h5py.h5o.get_info(file[group].id).addr
    poke(path, address, b"\xff")
    found = check(path)
    assert group in [one.name for one in found.damaged]
    assert 0 < len(found.intact) < len(names)


@pytest.mark.parametrize("change", [b"NUMPX", b"\x93NUMP\xff"])
def test_one_bad_header_in_an_npz(change: bytes, tmp_path: Path) -> None:
    path = damaged_npz(tmp_path, b"\x93NUMPY", change)
    found = check(path)
    assert (found.intact, [one.name for one in found.damaged]) == (["b", "c", "d"], ["a"])
    same(salvaged(found, tmp_path), "b", "c", "d")


def test_a_directory_of_the_first_generation(tmp_path: Path) -> None:
    for name in ("old-1", "old-2"):
        shutil.copy(GOLDEN / "slices_v1", tmp_path / name)
    write_bundle(tmp_path / "new", [entry_of("w", np.float32(1))])
    assert [Path(one.path).name for one in verify(tmp_path)] == ["new", "old-1", "old-2"]
    rows = summary.summarise(tmp_path / "old-1")["checkpoints"]
    assert [(row["prefix"], row["step"]) for row in rows] == [
        (str(tmp_path / "old-1"), 1),
        (str(tmp_path / "old-2"), 2),
    ]


def test_first_generation(tmp_path: Path) -> None:
    shutil.copy(GOLDEN / "slices_v1", tmp_path / "v1")
    assert check(tmp_path / "v1").whole
    poke(tmp_path / "v1", 200, b"\xff\xff\xff")
    found = check(tmp_path / "v1")
    assert found.damaged
    assert "checksum mismatch" in found.damaged[0].why
    assert found.damaged[0].kind == "checksum"


def test_first_generation_that_is_cut_off_or_incomplete(tmp_path: Path) -> None:
    data = (GOLDEN / "slices_v1").read_bytes()
    (tmp_path / "model.ckpt").write_bytes(data[:-30])
    found = check(tmp_path / "model.ckpt")  # its first bytes say that it is a checkpoint
    assert (found.format, found.damaged[0].kind) == ("v1 checkpoint", "structure")
    (tmp_path / "model.ckpt").write_bytes(b"\x07\xff" * 100)
    with pytest.raises(UnimplementedError):  # nothing says that it is one
        verify(tmp_path / "model.ckpt")
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt"')
    found = check(tmp_path / "model.ckpt")
    assert (found.format, found.damaged[0].kind) == ("v1 checkpoint", "structure")
    assert "not an sstable (bad magic number)" in found.damaged[0].why

    (tmp_path / "s-00000-of-00002").write_bytes(data)
    for path in (tmp_path / "s-00000-of-00002", tmp_path / "s-?????-of-00002"):
        found = check(path)
        assert found.intact
        missing = tmp_path / "s-00001-of-00002"
        assert [(one.kind, one.path) for one in found.damaged] == [("missing", str(missing))]


@pytest.mark.parametrize("keep", [20, 200, 1500, -30, -1])
def test_a_cut_file_of_the_first_generation_is_damaged_to_every_reader(keep: int, tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes((GOLDEN / "slices_v1").read_bytes()[:keep])
    for read in (registry.detect, registry.open_store):
        with pytest.raises(
            DataLossError, match=r"weights(: .* sstable| is a first-generation checkpoint that is cut off)"
        ):
            read(path)
    assert not check(path).whole
    if keep == 20:
        with pytest.raises(DataLossError, match="too short to be an sstable"):
            summary.summarise(path)
        return
    shown = summary.summarise(path)  # what the rest describes
    assert "sstable" in shown["damaged"][str(path)]
    assert shown["variables"]


@pytest.mark.parametrize("beside", ["weights.meta", "checkpoint"])
def test_an_overwritten_file_that_another_calls_a_checkpoint_is_damaged(beside: str, tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(b"\x07\xff" * 100)
    with pytest.raises(UnimplementedError):
        registry.open_store(path)
    write_meta(tmp_path / "weights.meta")
    if beside == "checkpoint":
        (tmp_path / "weights.meta").unlink()
        (tmp_path / beside).write_text('model_checkpoint_path: "/gone/weights"')
    with pytest.raises(
        DataLossError, match=f"it is a checkpoint by .*{beside}, but its 200 bytes begin with 07"
    ):
        registry.open_store(path)
    assert not verify(path)[0].whole


def test_a_missing_data_file_is_told_by_every_name(tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", [entry_of(name, value) for name, value in VALUES.items()], 3)
    every = [tmp_path / f"m.data-{shard:05d}-of-00003" for shard in range(3)]
    every[1].unlink()
    expected = check(tmp_path / "m")
    assert expected.intact
    assert expected.damaged[0].path == str(every[1])
    for path in (*every, tmp_path / "m.index"):
        found = check(path)
        assert (found.format, found.intact) == ("checkpoint", expected.intact)
        assert found.damaged == expected.damaged


def test_data_files_that_may_not_be_read_do_not_hide_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {name: np.ones(8, np.float32) for name in "abcd"}
    write_bundle(tmp_path / "m", [entry_of(name, value) for name, value in values.items()], 4)
    refused = [str(tmp_path / f"m.data-{shard:05d}-of-00004") for shard in (0, 2)]
    refuse(monkeypatch, refused)
    found = check(tmp_path / "m")
    assert found.intact == ["b", "d"]
    told = [(one.name, one.kind, one.path) for one in found.damaged]
    names = [(name, "unreadable", path) for name, path in zip("ac", refused, strict=True)]
    assert told == [("", "unreadable", path) for path in refused] + names
    write_meta(tmp_path / "m.meta")
    refuse(monkeypatch, [str(tmp_path / "m.meta"), str(tmp_path / "m.index")])
    assert [one.damaged[0].kind for one in verify(tmp_path / "m")] == ["unreadable", "unreadable"]


def refuse(monkeypatch: pytest.MonkeyPatch, paths: list[str]) -> None:
    """Makes the system refuse to open files, also to root."""

    def opened(path: str, *mode: Any) -> Any:
        if path in paths:
            raise PermissionError(13, "Permission denied", path)
        return Path(path).open(*mode)

    monkeypatch.setattr(files, "open", opened, raising=False)


def test_weights_that_keras_lists_and_a_file_lacks(tmp_path: Path) -> None:
    path = tmp_path / "k.h5"
    with h5py.File(path, "w") as file:
        file.attrs["layer_names"] = [b"dense", b"gone"]
        file["dense/kernel:0"] = np.ones(2, np.float32)
        file["dense"].attrs["weight_names"] = [b"kernel:0", b"bias:0", b"scale:0"]
    found = check(path)
    assert found.intact == ["kernel"]
    assert [(one.name, one.kind) for one in found.damaged] == [
        ("gone", "missing"),
        ("dense/bias", "missing"),
        ("dense/scale", "missing"),
    ]
    assert list(summary.summarise(path)["damaged"]) == ["gone", "dense/bias", "dense/scale"]
    whole = Path(shutil.copy(path, tmp_path / "whole.h5"))
    with h5py.File(whole, "a") as file:
        file.create_group("gone")
        file["dense/bias:0"] = file["dense/scale:0"] = np.ones(2, np.float32)
    assert check(whole).whole


def write_meta(path: Path) -> None:
    graph_file.write_graph(path, node_graph(lambda meta: None))


def forms_agree(kind: str, gone: Path, *paths: Path) -> None:
    """Whichever path names an incomplete checkpoint, the same file of it is told, and its graph is whole."""
    for path in paths:
        rest, graph = verify(path)
        assert ([(one.kind, one.path) for one in rest.damaged], graph.whole) == ([(kind, str(gone))], True)


def test_a_graph_beside_an_incomplete_checkpoint_of_the_first_generation(tmp_path: Path) -> None:
    data = (GOLDEN / "slices_v1").read_bytes()
    write_meta(tmp_path / "s.meta")
    second = tmp_path / "s-00001-of-00002"
    (tmp_path / "s-00000-of-00002").write_bytes(data)
    forms_agree("missing", second, tmp_path / "s.meta", tmp_path / "s", tmp_path)
    second.write_bytes(data[:100])
    forms_agree("structure", second, tmp_path / "s.meta", tmp_path / "s", tmp_path)
    assert verify(tmp_path / "s")[0].intact
    second.unlink()
    (tmp_path / "s-00000-of-00002").rename(tmp_path / "s")
    os.truncate(tmp_path / "s", 128)
    forms_agree("structure", tmp_path / "s", tmp_path / "s.meta", tmp_path / "s")


def test_a_graph_beside_data_without_an_index(prefix: Path, tmp_path: Path) -> None:
    write_meta(tmp_path / "m.meta")
    assert all(one.whole for one in verify(tmp_path / "m.meta"))
    Path(f"{prefix}.index").unlink()
    index = tmp_path / "m.index"
    forms_agree("missing", index, tmp_path / "m.meta", tmp_path / "m", data_of(prefix), tmp_path)
    data_of(prefix).unlink()
    assert check(tmp_path / "m.meta").whole  # a graph alone lacks nothing


def test_the_variables_of_a_saved_model_are_gone(tmp_path: Path) -> None:
    def add_variable(meta: Any) -> None:
        meta.graph_def.node.add(name="w", op="VariableV2").attr["dtype"].type = 1
        meta.graph_def.node.add(name="restore", op="NoOp")
        meta.saver_def.restore_op_name = "restore"

    model = protos.SavedModel(saved_model_schema_version=1)
    model.meta_graphs.add().CopyFrom(node_graph(add_variable))
    graph_file.write_graph(tmp_path / "saved_model.pb", model)
    index = tmp_path / "variables" / "variables.index"
    for path in (tmp_path, tmp_path / "saved_model.pb"):
        assert [(one.kind, one.path) for one in check(path).damaged] == [("missing", str(index))]
    index.parent.mkdir()
    write_bundle(tmp_path / "variables" / "variables", [entry_of("w", np.float32(1))])
    assert all(one.whole for one in verify(tmp_path))


@pytest.mark.parametrize("form", ["", "saved_model.pb"])
def test_every_part_of_a_saved_model_by_every_name(form: str, tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(GOLDEN / "saved_model", model)
    graph, variables = verify(model / form)
    assert (graph.format, graph.whole, variables.whole) == ("saved_model", True, True)
    poke(model / "variables" / "variables.data-00000-of-00001", 0, b"\xff")
    assert [one.whole for one in verify(model / form)] == [True, False]
    for change in (lambda data: data[:300], lambda data: data.replace(b"\n", b"\r\n"), lambda data: b""):
        (model / "saved_model.pb").write_bytes(change((GOLDEN / "saved_model/saved_model.pb").read_bytes()))
        assert [one.whole for one in verify(model / form)] == [False, False]


def node_graph(change: Callable[[Any], None]) -> Any:
    meta = protos.MetaGraphDef()
    graph = meta.graph_def
    graph.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    graph.node.add(name="y", op="Identity", input=["x:0", "^x"])
    constant = graph.node.add(name="c", op="Const")
    constant.attr["dtype"].type = 1
    constant.attr["value"].tensor.dtype = 1
    constant.attr["value"].tensor.tensor_shape.SetInParent()
    constant.attr["value"].tensor.float_val.append(2)
    change(meta)
    return meta


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda meta: None, ""),
        (
            lambda meta: meta.graph_def.node[1].input.append("gone:1"),
            "Node 'y' (Identity) takes its input from 'gone', not there.",
        ),
        (lambda meta: meta.graph_def.node.add(name="x", op="NoOp"), "Two nodes are called 'x'."),
        (
            lambda meta: (
                meta.graph_def.node[1].input.append("x:1"),
                meta.meta_info_def.stripped_op_list.op.add(name="Placeholder").output_arg.add(
                    type_attr="dtype"
                ),
            ),
            "Node 'y' (Identity) takes x:1, but Placeholder has 1 output.",
        ),
        (lambda meta: meta.graph_def.node[2].attr.clear(), "The constant 'c' has no value."),
        (
            lambda meta: setattr(meta.saver_def, "restore_op_name", "save/restore_all"),
            "The saver's node save/restore_all is not in the graph.",
        ),
        (
            lambda meta: setattr(meta.signature_def["s"].inputs["in"], "name", "z:0"),
            "Signature 's' names z:0 as 'in', which is not in the graph.",
        ),
    ],
)
def test_graphs(change: Callable[[Any], None], why: str, tmp_path: Path) -> None:
    graph_file.write_graph(tmp_path / "g.pb", node_graph(change))
    found = check(tmp_path / "g.pb")
    assert [damage.why for damage in found.damaged] == ([why] if why else [])


def test_a_graph_that_does_not_parse(tmp_path: Path) -> None:
    data = protos.encode(node_graph(lambda meta: None))
    (tmp_path / "g.meta").write_bytes(data[:-3])
    found = check(tmp_path / "g.meta")
    assert "cut short" in found.damaged[0].why


def test_what_of_a_graph_is_whole_before_it_breaks(tmp_path: Path) -> None:
    data = protos.encode(node_graph(lambda meta: None).graph_def)
    (tmp_path / "g.pb").write_bytes(data[:-3])
    found = check(tmp_path / "g.pb")
    assert found.notes == [
        "2 nodes are whole before the place where it breaks, 0 of them constants; the last is 'y'."
    ]


@pytest.mark.parametrize("encoding", [("latin-1", "strict"), ("utf-8", "replace")])
def test_a_graph_that_was_written_again_as_text(encoding: tuple[str, str], tmp_path: Path) -> None:
    data = (GOLDEN / "model/model.ckpt-2.meta").read_bytes()
    (tmp_path / "g.meta").write_bytes(data.decode(*encoding).encode())
    (damage,) = check(tmp_path / "g.meta").damaged
    assert "transferred as text" in damage.why
    assert "it is cut short" not in damage.why
    (tmp_path / "g.meta").write_bytes(data[: len(data) // 2])
    (damage,) = check(tmp_path / "g.meta").damaged
    assert "text" not in damage.why
    assert "it is cut short" in damage.why


def test_what_is_no_kind_of_model(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(UnimplementedError, match="PNG"):
        verify(tmp_path / "x.png")
    with pytest.raises(MissingFileError):
        verify(tmp_path)


def test_salvage_writes_what_is_intact(prefix: Path, tmp_path: Path) -> None:
    Path(f"{prefix}.meta").write_bytes(protos.encode(node_graph(lambda meta: None)))
    poke(data_of(prefix), 0, b"\xff")
    checked = verify(prefix)
    format, written, left_out = salvage(checked, tmp_path / "out.npz")
    assert (format.name, written, left_out) == ("npz", ["b", "c", "d"], ["a"])
    store: Any = registry.open_store(tmp_path / "out.npz")
    np.testing.assert_array_equal(store["d"].read(), VALUES["d"])
    assert store.meta_graph
    salvage(checked, tmp_path / "out")
    assert Path(f"{tmp_path}/out.meta").read_bytes() == Path(f"{prefix}.meta").read_bytes()
    for there in ("m", "out", "out.npz"):
        before = {path: path.read_bytes() for path in tmp_path.iterdir()}
        with pytest.raises(AlreadyExistsError, match=rf"{there}.* is there already"):
            salvage(checked, tmp_path / there)
        assert before == {path: path.read_bytes() for path in tmp_path.iterdir()}


def test_memory_is_that_of_the_largest_tensor(tmp_path: Path) -> None:
    import tracemalloc

    each = 4 << 20
    values = [entry_of(f"t{i}", np.full(each // 4, i, np.float32)) for i in range(8)]
    for name in ("m", "m.npz", "m.h5"):
        registry.write_store(tmp_path / name, values)
        tracemalloc.start()
        found = check(tmp_path / name)
        salvage([found], tmp_path / f"out_{name}.npz")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(found.intact) == 8
        assert peak < 3 * each, name


def test_no_changed_byte_of_data_or_index_goes_unseen(prefix: Path) -> None:
    generator = np.random.default_rng(0)
    index = Path(f"{prefix}.index")
    for path, size in ((data_of(prefix), data_of(prefix).stat().st_size), (index, index.stat().st_size)):
        whole = path.read_bytes()
        footer = range(size - 48, size) if path == index else ()
        for at in (*generator.integers(0, size, 60), *footer):
            poke(path, int(at), bytes([whole[at] ^ (1 << int(generator.integers(8)))]))
            found = check(prefix)
            assert not found.whole, (path, at)
            if path != index:
                (damage,) = found.damaged
                assert damage.offset is not None
                assert damage.size is not None
                assert damage.offset <= at < damage.offset + damage.size
            poke(path, int(at), whole[at : at + 1])
    assert check(prefix).whole


@pytest.mark.parametrize("keep", [0, 1, 4096, 1 << 14, (1 << 14) + 64, 100_000])
def test_every_cut_names_what_is_lost(keep: int, prefix: Path) -> None:
    os.truncate(data_of(prefix), keep)
    found = check(prefix)
    ends = {"a": 1 << 14, "b": (1 << 14) + 64, "c": (1 << 14) + 73, "d": (1 << 14) + 73 + 400_000}
    assert found.intact == [name for name, end in ends.items() if end <= keep]
    assert "is cut off" in " ".join(found.causes) or keep == 0


@pytest.mark.parametrize(("present", "kinds"), [(True, []), (False, ["missing"])])
def test_the_assets_of_a_saved_model(present: bool, kinds: list[str], tmp_path: Path) -> None:
    model = protos.SavedModel(saved_model_schema_version=1)
    meta = model.meta_graphs.add()
    meta.CopyFrom(node_graph(lambda meta: None))
    meta.asset_file_def.add(filename="words.txt").tensor_info.name = "c:0"
    graph_file.write_graph(tmp_path / "saved_model.pb", model)
    (tmp_path / "assets").mkdir()
    if present:
        (tmp_path / "assets" / "words.txt").write_text("a")
    (found,) = verify(tmp_path)
    assert [one.kind for one in found.damaged] == kinds
    if not present:
        assert found.damaged[0].path == str(tmp_path / "assets" / "words.txt")
        graph_file.write_graph(tmp_path / "alone.meta", meta)
        (note,) = check(tmp_path / "alone.meta").notes
        assert "words.txt, whose path c:0 is fed, does not exist" in note


@pytest.mark.parametrize(
    "source",
    [
        "slices_v1",
        "model/model.ckpt-2.meta",
        "model/graph.pbtxt",
        "slices.index",
        "slices.data-00000-of-00001",
        "saved_model/saved_model.pb",
        "npz",
        "h5",
        "safetensors",
    ],
)
def test_whatever_is_changed_the_answer_is_a_verification_or_our_error(source: str, tmp_path: Path) -> None:
    generator = np.random.default_rng(7)
    target = tmp_path / (Path(source).name if "." in source or "_" in source else f"x.{source}")
    if source == "safetensors":
        pytest.importorskip("safetensors")
    if source in ("npz", "h5", "safetensors"):
        entries = registry.open_store(GOLDEN / "slices").values()
        registry.write_store(target, [one for one in entries if one.dtype.name != "string"])
        whole = target.read_bytes()
    else:
        whole = (GOLDEN / source).read_bytes()
        for name in ("slices.index", "slices.data-00000-of-00001"):
            shutil.copy(GOLDEN / name, tmp_path)
    refused = []
    for _ in range(60):
        data = bytearray(whole)
        for at in generator.integers(0, len(data), generator.choice([1, 3, 20])):
            data[at] = generator.integers(256)
        target.write_bytes(data[: generator.integers(1, len(data))] if generator.random() < 0.2 else data)
        try:
            assert verify(target)
        except OpError as error:
            refused.append(str(error))
    assert all(str(target) in message for message in refused)
