"""npz archives that were streamed: each member's sizes stand behind it, and the directory may be lost."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool.formats.npz import FORMAT, open_npz

ARRAYS = {name: np.arange(i, i + 50.0) for i, name in enumerate("abc")}


class Pipe(io.RawIOBase):
    """A file that cannot go back, as a socket."""

    def __init__(self) -> None:
        self.content = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.content += bytes(data)
        return len(data)


def streamed(method: int, big: bool) -> bytes:
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", method) as archive:
        for name, array in ARRAYS.items():
            with archive.open(f"{name}.npy", "w", force_zip64=big) as member:
                np.save(member, array)
    with zipfile.ZipFile(io.BytesIO(bytes(pipe.content))) as archive:
        assert all(info.flag_bits & 8 for info in archive.infolist())
    return bytes(pipe.content)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("big", [False, True])
def test_a_streamed_archive_is_read_with_and_without_its_directory(
    method: int, big: bool, tmp_path: Path
) -> None:
    data = streamed(method, big)
    path = tmp_path / "w.npz"
    path.write_bytes(data)
    assert list(open_npz(path)) == list(ARRAYS)
    assert FORMAT.read_damaged is not None
    last = data.rindex(b"PK\3\4")
    for cut, whole, lost in (
        (data.index(b"PK\1\2"), ["a", "b", "c"], []),
        (last + 100, ["a", "b"], ["c"]),
    ):
        path.write_bytes(data[:cut])
        store = FORMAT.read_damaged(path)
        assert list(store) == whole
        assert list(store.damaged) == lost
        for name in whole:
            np.testing.assert_array_equal(store[name].read(), ARRAYS[name])


def test_a_descriptor_in_the_values_is_none(tmp_path: Path) -> None:
    pipe = Pipe()
    values = np.frombuffer(b"PK\7\x08" * 20, np.uint8)
    with zipfile.ZipFile(pipe, "w") as archive, archive.open("w.npy", "w") as member:
        np.save(member, values)
    (tmp_path / "w.npz").write_bytes(bytes(pipe.content)[:-40])
    assert FORMAT.read_damaged is not None
    np.testing.assert_array_equal(FORMAT.read_damaged(tmp_path / "w.npz")["w"].read(), values)
