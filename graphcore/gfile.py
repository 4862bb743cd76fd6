"""`tf.gfile`: files, as TensorFlow 1 programs open and list them.

Source: tensorflow/python/lib/io/file_io.py (r1.15), behaviour only. Paths are those of this machine.
"""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..formats import files
from . import not_yet
from .errors import AlreadyExistsError, InvalidArgumentError, NotFoundError

_Name = str | os.PathLike[str]


class GFile:
    """A file that is opened at its first use; text in mode "r", bytes in "rb".

    Args:
        name: The path.
        mode: "r", "w", "a", "r+", "w+", "a+", each with "b" for bytes.

    Raises:
        NotFoundError: At the first use: there is no such file.
    """

    def __init__(self, name: _Name, mode: str = "r") -> None:
        if mode.replace("b", "") not in ("r", "w", "a", "r+", "w+", "a+"):
            raise InvalidArgumentError(f"Mode '{mode}' is none of r, w, a, r+, w+, a+, with or without b.")
        self.name = os.fspath(name)
        self.mode = mode
        self._file: Any = None

    def _open(self) -> Any:
        if self._file is None:
            with files.os_errors(self.name, "open"):
                encoding = None if "b" in self.mode else "utf-8"
                self._file = Path(self.name).open(self.mode, encoding=encoding)  # noqa: SIM115  # closed by close()
        return self._file

    def read(self, n: int = -1) -> Any:
        """The next `n` characters or bytes; by default all that is left."""
        return self._open().read(n)

    def readline(self) -> Any:
        """The next line with its end; empty at the end of the file."""
        return self._open().readline()

    def readlines(self) -> list[Any]:
        """All lines that are left."""
        return list(self._open().readlines())

    def write(self, file_content: Any) -> None:
        """Writes text or bytes."""
        self._open().write(file_content)

    def size(self) -> int:
        """The file's size in bytes."""
        return files.file_size(self.name)

    def seek(self, offset: int, whence: int = 0) -> None:
        """Goes to a position."""
        self._open().seek(offset, whence)

    def tell(self) -> int:
        """The position."""
        return int(self._open().tell())

    def flush(self) -> None:
        """Hands what is written to the system."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Closes the file, where it was opened."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._open())


FastGFile = Open = GFile


def exists(path: _Name) -> bool:
    """`tf.gfile.Exists`: whether there is a file or directory of that name."""
    return files.is_file(path) or files.is_directory(path)


def is_directory(path: _Name) -> bool:
    """`tf.gfile.IsDirectory`."""
    return files.is_directory(path)


def list_directory(path: _Name) -> list[str]:
    """`tf.gfile.ListDirectory`: the names in a directory.

    Raises:
        NotFoundError: There is no such directory.
    """
    if not files.is_directory(path):
        raise NotFoundError(f"Could not find directory {os.fspath(path)}")
    return files.list_directory(path)


def find(pattern: _Name | list[str]) -> list[str]:
    """`tf.gfile.Glob`: the paths that match a pattern, or any of several, in order."""
    patterns = pattern if isinstance(pattern, list) else [os.fspath(pattern)]
    return [path for one in patterns for path in sorted(glob.glob(one))]


def make_directories(path: _Name) -> None:
    """`tf.gfile.MakeDirs`: makes a directory and those above it; it may be there already."""
    files.make_directory(path, parents=True)


def remove(path: _Name) -> None:
    """`tf.gfile.Remove`: removes a file.

    Raises:
        NotFoundError: There is no such file.
    """
    with files.os_errors(path, "remove"):
        Path(path).unlink()


def delete_recursively(path: _Name) -> None:
    """`tf.gfile.DeleteRecursively`: removes a directory with all that is in it.

    Raises:
        NotFoundError: There is no such directory.
    """
    with files.os_errors(path, "remove"):
        shutil.rmtree(path)


def _check_free(path: _Name, overwrite: bool) -> None:
    if not overwrite and exists(path):
        raise AlreadyExistsError(f"file already exists: {os.fspath(path)}")


def copy(oldpath: _Name, newpath: _Name, overwrite: bool = False) -> None:
    """`tf.gfile.Copy`.

    Raises:
        AlreadyExistsError: `newpath` is there, and `overwrite` is false.
    """
    _check_free(newpath, overwrite)
    with files.os_errors(oldpath, "copy"):
        shutil.copyfile(oldpath, newpath)


def rename(oldname: _Name, newname: _Name, overwrite: bool = False) -> None:
    """`tf.gfile.Rename`.

    Raises:
        AlreadyExistsError: `newname` is there, and `overwrite` is false.
    """
    _check_free(newname, overwrite)
    with files.os_errors(oldname, "rename"):
        Path(oldname).replace(newname)


def walk(top: _Name) -> Iterator[tuple[str, list[str], list[str]]]:
    """`tf.gfile.Walk`: (directory, directories in it, files in it) for each directory from `top` down."""
    return os.walk(os.fspath(top))


Exists, IsDirectory, ListDirectory, Glob = exists, is_directory, list_directory, find
MakeDirs, Remove, DeleteRecursively, Walk = make_directories, remove, delete_recursively, walk
Copy, Rename = copy, rename

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "Copy", "DeleteRecursively", "Exists", "FastGFile", "GFile", "Glob", "IsDirectory", "ListDirectory",
    "MakeDirs", "Open", "Remove", "Rename", "Walk",
]  # fmt: skip
