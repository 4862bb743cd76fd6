"""Heaps of text in HDF5 files: damaged ones are found wherever they lie, before the library hangs in them."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from sgtool.formats import hdf5_heaps
from sgtool.formats.errors import DataLossError
from sgtool.formats.hdf5_store import open_damaged_hdf5, open_hdf5

MAGIC = b"GCOL\x01\0\0\0"
HALF = 36 << 20


def with_text_in_the_middle(path: Path) -> int:
    """A file with a heap far from both ends; where it is."""
    with h5py.File(path, "w") as file:
        file["a"] = np.zeros(HALF, np.uint8)
        file.flush()
        file["a"].attrs["note"] = ["one", "two"]
        file.flush()
        file["b"] = np.zeros(HALF, np.uint8)
    at = path.read_bytes().index(MAGIC)
    assert HALF <= at <= HALF + (1 << 20)
    return at


def test_a_damaged_heap_in_the_middle_of_a_large_file(tmp_path: Path) -> None:
    at = with_text_in_the_middle(tmp_path / "m.h5")
    assert list(open_hdf5(tmp_path / "m.h5")) == ["a", "b"]
    with (tmp_path / "m.h5").open("r+b") as file:
        file.seek(at + 16)
        file.write(bytes(64))
    for opened in (open_hdf5, open_damaged_hdf5):
        with pytest.raises(DataLossError, match=f"the text at byte {at + 16} is overwritten"):
            opened(tmp_path / "m.h5")


def test_the_values_of_large_datasets_are_no_heaps(tmp_path: Path) -> None:
    values = np.zeros(2 << 20, np.uint8)
    values[1000:1016] = np.frombuffer(MAGIC + (4096).to_bytes(8, "little"), np.uint8)
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file["w"] = values
    np.testing.assert_array_equal(open_hdf5(tmp_path / "m.h5")["w"].read(), values)


def test_what_lies_in_one_piece_is_not_searched(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file["large"] = np.zeros(2 << 20, np.uint8)
        file["small"] = np.zeros(20, np.uint8)
        file.create_dataset("chunked", data=np.zeros(2 << 20, np.uint8), chunks=True)
        file.create_dataset("never_written", (2 << 20,), np.uint8)
        [(begin, end)] = hdf5_heaps.places_of_values(file.values())
        assert end - begin == 2 << 20
