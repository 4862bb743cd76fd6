"""Files as TensorFlow 1 programs open, list and move them; `tf.gfile` and `tf.io.gfile` name what is here.

Source: tensorflow/python/lib/io/file_io.py (r1.15), behaviour only. Paths are those of this machine; what
only reads takes URLs too.
"""

from __future__ import annotations

import binascii
import glob
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..formats import files
from .compat import as_bytes, as_text
from .errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    InvalidTypeError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
)

_Name = str | bytes | os.PathLike[str]


def _path(name: _Name) -> str:
    return os.fsdecode(name)


class FileStatistics(NamedTuple):
    """What `stat` tells.

    Attributes:
        length: The size in bytes.
        mtime_nsec: When it was last written, in nanoseconds since the epoch.
        is_directory: Whether it is a directory.
    """

    length: int
    mtime_nsec: int
    is_directory: bool


class FileIO:
    """A file that is opened at its first use; gives text in mode "r", bytes in "rb". A context manager.

    Args:
        name: The path.
        mode: "r", "w", "a", "r+", "w+", "a+", each with "b" for bytes.

    Raises:
        InvalidArgumentError: There is no such mode.
        NotFoundError: At the first use: there is no such file.
        PermissionDeniedError: At the first use: the mode does not let one read, or write.
    """

    def __init__(self, name: _Name, mode: str) -> None:
        self._name = name
        self._mode = mode
        self._binary = "b" in mode
        kind = mode.replace("b", "")
        if kind not in ("r", "w", "a", "r+", "w+", "a+"):
            raise InvalidArgumentError("mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'", mode=mode)
        self._may_read = kind in ("r", "r+", "w+", "a+")
        self._may_write = kind != "r"
        self._reader: Any = None
        self._writer: Any = None

    @property
    def name(self) -> _Name:
        """The path."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode."""
        return self._mode

    def _reading(self) -> Any:
        if not self._may_read:
            raise PermissionDeniedError("File isn't open for reading", path=_path(self._name))
        self.flush()
        if self._reader is None:
            self._reader = files.open_binary(_path(self._name))
        return self._reader

    def _writing(self) -> Any:
        if not self._may_write:
            raise PermissionDeniedError("File isn't open for writing", path=_path(self._name))
        if self._writer is None:
            path = _path(self._name)
            mode = self._mode.replace("b", "").replace("w+", "w").replace("a+", "a")
            if mode == "r+" and not file_exists(path):
                mode = "w"
            with files.os_errors(path, "open"):
                self._writer = Path(path).open(f"{mode}b")  # noqa: SIM115  # closed by close()
        return self._writer

    def _as_read(self, data: bytes) -> Any:
        return data if self._binary else as_text(data)

    def read(self, n: int = -1) -> Any:
        """The next `n` bytes, as text or bytes; by default all that is left."""
        return self._as_read(self._reading().read(n))

    def readline(self) -> Any:
        r"""The next line with its end (without "\r"); empty at the end of the file."""
        return self._as_read(self._reading().readline().replace(b"\r", b""))

    def readlines(self) -> list[Any]:
        """All lines that are left."""
        return list(self)

    def write(self, file_content: Any) -> None:
        """Writes text or bytes."""
        self._writing().write(as_bytes(file_content))

    def size(self) -> int:
        """The file's size in bytes."""
        return stat(self._name).length

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Goes to a position to read from.

        Args:
            offset: Bytes from the start.
            whence: 0; 1 counts from where one is, 2 from the end.
            position: Old name of `offset`.

        Raises:
            TypeError: Not exactly one of `offset` and `position` is given.
            InvalidArgumentError: `whence` is none of these, or the position is before the start.
        """
        reader = self._reading()
        if offset is None and position is None:
            raise InvalidTypeError("seek(): offset argument required")
        if offset is not None and position is not None:
            raise InvalidTypeError("seek(): offset and position may not be set simultaneously.")
        if whence not in (0, 1, 2):
            raise InvalidArgumentError(f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.")
        target = (position if offset is None else offset) or 0
        target += (0, reader.tell() if whence == 1 else 0, self.size() if whence == 2 else 0)[whence]
        if target < 0:
            raise InvalidArgumentError(f"Seek to position {target}, before the start of the file")
        reader.seek(target)

    def tell(self) -> int:
        """The position: that of reading, where the mode lets one read."""
        return int((self._reading() if self._may_read else self._writing()).tell())

    def seekable(self) -> bool:
        """True."""
        return True

    def flush(self) -> None:
        """Hands what is written to the system."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Closes the file, where it was opened."""
        for file in (self._reader, self._writer):
            if file is not None:
                file.close()
        self._reader = self._writer = None

    def __enter__(self) -> FileIO:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__


def file_exists(filename: _Name) -> bool:
    """Whether there is a file or directory of that name."""
    path = _path(filename)
    return files.is_file(path) or files.is_directory(path)


def delete_file(filename: _Name) -> None:
    """Removes a file.

    Raises:
        NotFoundError: There is no such file.
    """
    with files.os_errors(_path(filename), "remove"):
        Path(_path(filename)).unlink()


def read_file_to_string(filename: _Name, binary_mode: bool = False) -> Any:
    """The content of a file: text, or bytes in `binary_mode`."""
    with FileIO(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: _Name, file_content: Any) -> None:
    """Makes text or bytes the content of a file."""
    with FileIO(filename, "w") as file:
        file.write(file_content)


def atomic_write_string_to_file(filename: str, contents: Any, overwrite: bool = True) -> None:
    """Makes text or bytes the content of a file: all of it, or none.

    Raises:
        AlreadyExistsError: The file is there, and `overwrite` is false.
    """
    temporary = f"{filename}.tmp{uuid.uuid4().hex}"
    write_string_to_file(temporary, contents)
    try:
        rename(temporary, filename, overwrite)
    except OpError:
        delete_file(temporary)
        raise


def get_matching_files(filename: Any) -> list[str]:
    """The paths that match a pattern, or any of several, in order."""
    patterns = [filename] if isinstance(filename, (str, bytes, os.PathLike)) else filename
    return [path for one in patterns for path in sorted(glob.glob(_path(one)))]


def create_dir(dirname: _Name) -> None:
    """Makes a directory.

    Raises:
        AlreadyExistsError: It is there.
        NotFoundError: The directory above it is not there.
    """
    path = _path(dirname)
    _check_free(path, overwrite=False)
    with files.os_errors(path, "make the directory"):
        Path(path).mkdir()


def recursive_create_dir(dirname: _Name) -> None:
    """Makes a directory and those above it; it may be there already."""
    files.make_directory(_path(dirname), parents=True)


def delete_recursively(dirname: _Name) -> None:
    """Removes a directory with all that is in it.

    Raises:
        NotFoundError: There is no such directory.
    """
    with files.os_errors(_path(dirname), "remove"):
        shutil.rmtree(_path(dirname))


def _check_free(path: str, overwrite: bool) -> None:
    if not overwrite and file_exists(path):
        raise AlreadyExistsError(f"file already exists: {path}", path=path)


def copy(oldpath: _Name, newpath: _Name, overwrite: bool = False) -> None:
    """Copies a file.

    Raises:
        AlreadyExistsError: `newpath` is there, and `overwrite` is false.
    """
    _check_free(_path(newpath), overwrite)
    with files.os_errors(_path(oldpath), "copy"):
        shutil.copyfile(_path(oldpath), _path(newpath))


def rename(oldname: _Name, newname: _Name, overwrite: bool = False) -> None:
    """Moves a file or directory.

    Raises:
        AlreadyExistsError: `newname` is there, and `overwrite` is false.
    """
    _check_free(_path(newname), overwrite)
    with files.os_errors(_path(oldname), "rename"):
        Path(_path(oldname)).replace(_path(newname))


def is_directory(dirname: _Name) -> bool:
    """Whether it is a directory."""
    return files.is_directory(_path(dirname))


def list_directory(dirname: _Name) -> list[str]:
    """The names in a directory.

    Raises:
        NotFoundError: There is no such directory.
    """
    if not is_directory(dirname):
        raise NotFoundError(f"Could not find directory {_path(dirname)}", path=_path(dirname))
    return files.list_directory(_path(dirname))


def walk(top: _Name, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """(directory, directories in it, files in it) for each directory from `top` down.

    Args:
        top: Where to start; nothing is given where it is no directory.
        in_order: A directory before those in it; else after them.
    """
    return walk_v2(top, in_order)


def walk_v2(
    top: _Name, topdown: bool = True, onerror: Callable[[Exception], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """`tf.io.gfile.walk`: as `walk`; errors of listing a directory are given to `onerror`."""
    path = _path(top)
    try:
        names = list_directory(path)
    except NotFoundError as error:
        if onerror is not None:
            onerror(error)
        return
    folders = [name for name in names if is_directory(os.path.join(path, name))]
    here = path, folders, [name for name in names if name not in set(folders)]
    if topdown:
        yield here
    for name in folders:
        yield from walk_v2(os.path.join(path, name), topdown, onerror)
    if not topdown:
        yield here


def stat(filename: _Name) -> FileStatistics:
    """Size and time of a file or directory.

    Raises:
        NotFoundError: There is none.
    """
    path = _path(filename)
    if files.is_remote(path):
        return FileStatistics(files.file_size(path), files.modified(path), files.is_directory(path))
    with files.os_errors(path, "look at"):
        found = Path(path).stat()
    return FileStatistics(found.st_size, found.st_mtime_ns, Path(path).is_dir())


def filecmp(filename_a: _Name, filename_b: _Name) -> bool:
    """Whether two files have the same size and CRC-32."""
    if stat(filename_a).length != stat(filename_b).length:
        return False
    return file_crc32(filename_a) == file_crc32(filename_b)


def file_crc32(filename: _Name, block_size: int = 2**20) -> str:
    """The CRC-32 of a file's content in hexadecimal; read by `block_size` bytes."""
    checksum = 0
    with FileIO(filename, "rb") as file:
        while block := file.read(block_size):
            checksum = binascii.crc32(block, checksum)
    return hex(checksum)
