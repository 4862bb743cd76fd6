"""A folder of .npy files, read as a store: `w/Adam.npy` in it is the tensor `w/Adam`; never unpickled.

Folders below are looked into, files of other kinds are passed over. Source: NumPy's NEP 1.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import dtypes, files
from .entry import Entry
from .errors import DataLossError, InvalidTypeError, MissingFileError, OpError, is_unreadable
from .npy import read_npy_header
from .registry import Format
from .store import Store

if TYPE_CHECKING:
    import numpy as np

_SUFFIX = ".npy"
_HEADER = 1 << 16
"""Bytes that are read of each file for its header; NumPy's own are 128."""
_DEPTH = 16


def open_npy_folder(path: files.Path) -> NpyFolder:
    """Opens a folder of .npy files and reads their headers.

    Raises:
        MissingFileError: No such folder, or no .npy file in it.
        DataLossError: A file is damaged.
    """
    return NpyFolder(files.location(path))


class NpyFolder(Store):
    """The arrays in a folder by their path in it without `.npy`, sorted.

    Attributes:
        path: The folder.
        skipped: Arrays that are not tensors, and why.
    """

    def __init__(self, path: str, lenient: bool = False) -> None:
        self.path = self.where = path
        self.skipped = {}
        self.damaged = {}
        entries = {}
        for name in _names(path, "", _DEPTH):
            try:
                entry = self._entry(name.removesuffix(_SUFFIX), os.path.join(path, name))
            except OpError as error:
                if not lenient or not (isinstance(error, DataLossError) or is_unreadable(error)):
                    raise
                self.damaged[name.removesuffix(_SUFFIX)] = error
                continue
            if entry is not None:
                entries[entry.name] = entry
        if not entries and not self.skipped and not self.damaged:
            raise MissingFileError(f"{path} holds no {_SUFFIX} file.", path=path)
        self._entries = dict(sorted(entries.items()))

    def _entry(self, name: str, path: str) -> Entry | None:
        content = files.open_content(path)
        header = read_npy_header(io.BytesIO(content.bytes(0, _HEADER)), content.size, path)
        if isinstance(header, str):
            self.skipped[name] = header
            return None
        try:
            info = dtypes.from_numpy(header.dtype)
        except InvalidTypeError as error:
            self.skipped[name] = str(error)
            return None
        size = content.size - header.start

        def read() -> np.ndarray[Any, Any]:
            return header.array(content.view(header.start, size))

        return Entry(name, info, header.shape, size, f"{path}, bytes {header.start} to {content.size}", read)


def _names(folder: str, below: str, depth: int) -> Iterator[str]:
    for name in files.list_directory(os.path.join(folder, below)):
        inside = f"{below}{name}"
        if name.endswith(_SUFFIX) and name != _SUFFIX:
            if files.is_file(os.path.join(folder, inside)):
                yield inside
        elif depth and "." not in name and files.is_directory(os.path.join(folder, inside)):
            yield from _names(folder, f"{inside}/", depth - 1)


def is_npy_folder(path: str) -> bool:
    """Whether a directory holds .npy files (or a folder in it does)."""
    return files.is_directory(path) and next(_names(path, "", 2), None) is not None


FORMAT = Format(
    name="npy folder",
    suffixes=(),
    matches=lambda head, tail, path: False,
    kind="store",
    read=open_npy_folder,
    write=None,
    matches_directory=is_npy_folder,
    read_damaged=lambda path: NpyFolder(files.location(path), lenient=True),
)
