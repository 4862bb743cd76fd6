"""The one place that touches the file system: reading, mapping, atomic replacement, policy.

Any path may be a URL of a remote file system (`s3://bucket/model.ckpt`); `remote.py` reads those.

A file is written under a temporary name in its own directory, synced, and renamed over the old one;
several files that belong together (data and index of a checkpoint) are renamed only after all of
them are whole, and put back if a rename fails. Errors of the operating system become ours here.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from . import remote
from .errors import (
    DataLossError,
    InvalidValueError,
    MissingFileError,
    PermissionDeniedError,
)
from .system_errors import (
    NOT_DAMAGE as NOT_DAMAGE,
    absence as absence,
    missing_file as missing_file,
    obstacle as obstacle,
    os_errors as os_errors,
    raise_os_error_in as raise_os_error_in,
)

if TYPE_CHECKING:
    import mmap

Path = str | os.PathLike[str]

fault_hook: Callable[[str, str], None] | None = None
"""For tests: called with a step (`read`; `open`, `write`, `sync`, `replace`) and a path before it happens."""

_mapped: ContextVar[bool] = ContextVar("_mapped", default=True)
_TEMPORARY = re.compile(r"\.sgtmp-[0-9a-f]{8}$")


def read_bytes(path: Path) -> bytes:
    """The content of a file.

    Raises:
        MissingFileError: No such file.
        InvalidValueError: It is a directory.
        PermissionDeniedError: The operating system refuses.
    """
    name = location(path)
    if remote.is_url(name):
        return remote.read(name)
    with os_errors(name, "read"), _opened(name) as file:
        return file.read()


def read_found(path: Path) -> bytes:
    """As `read_bytes`, of a file that was found by looking: only what a user names may be a pipe.

    Raises:
        InvalidValueError: A pipe, socket or device, which is not opened: that would wait for its writer.
    """
    name = location(path)
    if not remote.is_url(name):
        check_regular(name)
    return read_bytes(name)


def read_head(path: Path, length: int) -> bytes:
    """The first `length` bytes of a file, or all it has."""
    return read_range(path, 0, length)


def read_range(path: Path, offset: int, length: int) -> bytes:
    """Up to `length` bytes from `offset` on: fewer where the file ends before. Errors as `read_bytes`."""
    name = location(path)
    if remote.is_url(name):
        return remote.read(name, offset, min(offset + length, remote.size(name)))
    check_regular(name)
    with os_errors(name, "read"), _opened(name) as file:
        file.seek(offset)
        return file.read(length)


def check_regular(path: Path) -> None:
    """Refuses what has no size and cannot be read twice; to open a pipe would wait for a writer.

    Raises:
        InvalidValueError: A pipe, socket or device.
        OpError: As `read_bytes`.
    """
    name = location(path)
    with os_errors(name, "read"):
        mode = os.stat(name).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return
    kind = "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    raise InvalidValueError(
        f"Cannot read {name}: it is {kind}, not a file. Copy what it gives to a file, and name that.",
        path=name,
        errno=errno.ESPIPE,
    )


class Content:
    """The bytes of a file, got at by ranges: a local file is mapped, of a remote one each range is read.

    Attributes:
        size: How many there are.
    """

    def __init__(self, size: int, view: Callable[[int, int], bytes | memoryview]) -> None:
        self.size = size
        self._view = view

    def view(self, offset: int, length: int) -> bytes | memoryview:
        """`length` bytes from `offset` on, which must lie within the file; no copy of a local one."""
        assert 0 <= offset <= offset + length <= self.size
        return self._view(offset, length)

    def bytes(self, offset: int, length: int) -> bytes:
        """As `view`, as bytes of their own; fewer where the file ends before."""
        return bytes(self.view(min(offset, self.size), max(0, min(length, self.size - offset))))


def open_content(path: Path) -> Content:
    """The bytes of a file by ranges; nothing is read yet. Errors as `read_bytes`."""
    name = location(path)
    if remote.is_url(name):
        return Content(remote.size(name), lambda offset, length: remote.read(name, offset, offset + length))
    if not _mapped.get():
        return Content(file_size(name), lambda offset, length: _exactly(name, offset, length))
    data = memoryview(map_bytes(name))
    return Content(len(data), lambda offset, length: data[offset : offset + length])


@contextmanager
def unmapped() -> Iterator[None]:
    """While it lasts, `open_content` reads ranges instead of mapping the file.

    Where a disk fails, to read is an error; to touch what is mapped ends the process (SIGBUS).
    """
    token = _mapped.set(False)
    try:
        yield
    finally:
        _mapped.reset(token)


def _exactly(name: str, offset: int, length: int) -> bytes:
    data = read_range(name, offset, length)
    if len(data) < length:
        raise DataLossError(f"{name} became shorter while it was read.", path=name)
    return data


def map_bytes(path: Path) -> mmap.mmap | bytes:
    """The content of a file as a read-only memory map (`bytes` where it is empty or remote).

    Errors as `read_found`.
    """
    import mmap

    name = location(path)
    if remote.is_url(name):
        return remote.read(name)
    check_regular(name)
    with os_errors(name, "read"), _opened(name) as file:
        if not os.fstat(file.fileno()).st_size:
            return b""
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def open_binary(path: Path) -> IO[bytes]:
    """A file open for reading; the caller closes it. Errors as `read_bytes`."""
    name = location(path)
    if remote.is_url(name):
        return remote.open_reader(name)
    with os_errors(name, "read"):
        return _opened(name)


def _opened(name: str) -> IO[bytes]:
    """The one place where files on this machine are opened to be read."""
    _fault("read", name)
    return open(name, "rb")


def file_size(path: Path) -> int:
    """Bytes in a file. Errors as `read_bytes`."""
    name = location(path)
    if remote.is_url(name):
        return remote.size(name)
    with os_errors(name, "read"):
        return os.stat(name).st_size


def modified(path: Path) -> int:
    """When a file was last changed, in nanoseconds since 1970. Errors as `read_bytes`."""
    name = location(path)
    if remote.is_url(name):
        return remote.modified(name)
    with os_errors(name, "read"):
        return os.stat(name).st_mtime_ns


def is_file(path: Path) -> bool:
    """Whether `path` is a file (or a device or pipe), links followed."""
    name = location(path)
    if remote.is_url(name):
        return remote.is_file(name)
    return os.path.exists(name) and not os.path.isdir(name)


def is_directory(path: Path) -> bool:
    """Whether `path` is a directory, links followed."""
    name = location(path)
    return remote.is_directory(name) if remote.is_url(name) else os.path.isdir(name)


def remembered() -> AbstractContextManager[None]:
    """While it lasts, a remote file that was asked about is not asked about again: for one command."""
    return remote.remembered()


def refusal(path: Path) -> str:
    """What a server says instead of giving a remote file ("403 Forbidden"); "" where it is just not there."""
    return remote.refusal(location(path))


def list_directory(path: Path) -> list[str]:
    """The names in a directory, sorted.

    Raises:
        MissingFileError: No such directory.
        PermissionDeniedError: The operating system refuses.
    """
    name = location(path)
    if remote.is_url(name):
        return remote.list_directory(name)
    with os_errors(name, "list"):
        return sorted(os.listdir(name))


def location(path: Path) -> str:
    """`path` as text: a URL of a file system as it is, `file://` as the local path that it means."""
    name = os.fspath(path)
    return name if "://" not in name else remote.local_path(name) or name


def is_remote(path: Path) -> bool:
    """Whether `path` is the URL of a file that is not on this machine."""
    return remote.is_url(location(path))


def check_writable(path: Path) -> None:
    """Raises UnimplementedError for a URL that can only be read."""
    if is_remote(path):
        remote.check_writable(location(path))


def is_temporary(name: str) -> bool:
    """Whether a file name is one that an interrupted write of ours left behind."""
    return _TEMPORARY.search(name) is not None


class Replacement:
    """Files that are written aside and take their places together; see `atomic_files`."""

    def __init__(self) -> None:
        self._pending: list[tuple[str, str, IO[bytes]]] = []  # final name, temporary name, file

    def open(self, path: Path) -> IO[bytes]:
        """A binary file to write; it becomes `path` when the block ends without an error."""
        with os_errors(path, "write"):
            _fault("open", path)
            if is_remote(path):
                return self._open_remote(location(path))
            final = os.path.realpath(location(path))  # through a link: its target is replaced, the link stays
            if os.path.exists(final) and not stat.S_ISREG(os.stat(final).st_mode):
                if os.path.isdir(final):
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
                temporary = ""  # a device or pipe: nothing to replace
                file: IO[bytes] = open(final, "wb")  # noqa: SIM115
            else:
                temporary = _temporary_name(final)
                file = open(temporary, "xb")  # noqa: SIM115
            self._pending.append((final, temporary, file))
            return _Checked(file, final) if fault_hook else file  # type: ignore[return-value]

    def _open_remote(self, url: str) -> IO[bytes]:
        """A local file that is copied to `url` in the end."""
        import tempfile

        remote.check_writable(url)

        descriptor, temporary = tempfile.mkstemp(prefix="sgtool-")
        file = os.fdopen(descriptor, "wb")
        self._pending.append((url, temporary, file))
        return file

    def reserve(self, path: Path) -> str:
        """The name of an empty file that becomes `path`, for a library that opens by name."""
        file = self.open(path)
        file.close()
        temporary = self._pending[-1][1]
        if not temporary:
            raise InvalidValueError(f"Cannot write {path}: it is not a regular file.", path=os.fspath(path))
        return temporary

    def commit(self) -> None:
        """Syncs all files, then renames each over its final name, in the order they were opened."""
        for final, temporary, file in self._pending:
            with os_errors(final, "write"):
                if not file.closed:
                    file.flush()
                if temporary:
                    _fault("sync", final)
                    _sync(temporary if file.closed else file)
                file.close()
        backups: list[tuple[str, str | None]] = []
        made: list[str] = []
        try:
            for final, temporary, _ in self._pending:
                if temporary and remote.is_url(final):
                    remote.upload(temporary, final)
                    os.unlink(temporary)
                elif temporary:
                    new = not os.path.exists(final)
                    backup = self._keep_old(final) if len(self._pending) > 1 else None
                    backups.append((final, backup))
                    with os_errors(final, "write"):
                        _fault("replace", final)
                        os.replace(temporary, final)
                    if new:
                        made.append(final)
        except BaseException:
            for final in made:
                with suppress(OSError):
                    os.unlink(final)
            for final, backup in reversed(backups):
                if backup:
                    with suppress(OSError):
                        os.replace(backup, final)
            raise
        finally:
            for _, backup in backups:
                if backup:
                    with suppress(OSError):
                        os.unlink(backup)
        for folder in dict.fromkeys(
            os.path.dirname(final)
            for final, temporary, _ in self._pending
            if temporary and not remote.is_url(final)
        ):
            _sync_directory(folder)

    def discard(self) -> None:
        """Closes and removes everything that is not in place yet."""
        for _, temporary, file in self._pending:
            with suppress(OSError):
                file.close()
            if temporary:
                with suppress(OSError):
                    os.unlink(temporary)

    @staticmethod
    def _keep_old(final: str) -> str | None:
        """A second name of the file that is about to be replaced, where the file system has links."""
        backup = _temporary_name(final)
        with suppress(OSError):
            os.link(final, backup)
            return backup
        return None


@contextmanager
def atomic_files() -> Iterator[Replacement]:
    """Several files that replace their predecessors together, or not at all.

    On an error inside the block, or in a rename, nothing is left behind and the old files stay.

    Raises:
        MissingFileError: The directory of a file does not exist.
        PermissionDeniedError: The operating system refuses.
        ResourceExhaustedError: The disk is full.
    """
    replacement = Replacement()
    try:
        yield replacement
        replacement.commit()
    except OSError as error:
        replacement.discard()
        if isinstance(error, MissingFileError):
            raise
        names = [final for final, _, _ in replacement._pending] or ["a file"]
        with os_errors(names[-1], "write"):
            raise
    except BaseException:
        replacement.discard()
        raise


@contextmanager
def atomic_writer(path: Path) -> Iterator[IO[bytes]]:
    """One file that replaces `path` when the block ends without an error; errors as `atomic_files`."""
    with atomic_files() as replacement:
        yield replacement.open(path)


def write_bytes(path: Path, data: bytes) -> None:
    """Makes `data` the content of `path`, atomically; errors as `atomic_files`."""
    with atomic_writer(path) as file:
        file.write(data)


def remove_file(path: Path) -> None:
    """Deletes a file; errors as `read_bytes`."""
    with os_errors(path, "delete"):
        _fault("remove", path)
        if is_remote(path):
            remote.remove(location(path))
        else:
            os.unlink(location(path))


def remove_directory(path: Path) -> None:
    """Removes a directory where it is empty. Object stores have none."""
    if not is_remote(path):
        with suppress(OSError):
            os.rmdir(location(path))


def make_directory(path: Path, parents: bool = False) -> None:
    """Makes a directory unless it is there; with `parents` also those above it. Object stores have none."""
    if is_remote(path):
        return
    path = location(path)
    with os_errors(path, "make the directory"):
        if parents:
            os.makedirs(path, exist_ok=True)
        elif not os.path.isdir(path):
            os.mkdir(path)


def is_inside(path: Path, root: Path) -> bool:
    """Whether `path` is `root` or below it, once links and `..` in both are resolved."""
    real, real_root = _real(path), _real(root)
    return real == real_root or real.startswith(real_root.rstrip(os.sep) + os.sep)


def _real(path: Path) -> str:
    name = location(path)
    if not remote.is_url(name):
        return os.path.realpath(name)
    scheme, _, rest = name.partition("://")
    return f"{scheme}://{os.path.normpath(f'/{rest}')[1:]}"  # `..` does not lead to another place


def contained(root: Path, name: str) -> str:
    """`root/name`, which must not lead out of `root`.

    Raises:
        PermissionDeniedError: It does (`..`, an absolute name, a link).
    """
    path = os.path.join(root, name)
    if not is_inside(path, root):
        raise PermissionDeniedError(
            f"'{name}' leads out of {root}; it is refused.", name=name, root=os.fspath(root)
        )
    return path


@dataclass(frozen=True, slots=True)
class FilePolicy:
    """Which files the ops of a graph (ReadFile, WriteFile, SaveV2, ...) may touch.

    Attributes:
        allow_read: `"everything"`, `"nothing"`, or the directories (and files) that may be read.
        allow_write: The same for writing.
        how: How the user allows more, for the error ("pass --allow-files DIR").
    """

    allow_read: str | tuple[str, ...] = "everything"
    allow_write: str | tuple[str, ...] = "everything"
    how: str = "run it with a FilePolicy that allows this path"

    def check_read(self, path: Path, what: str = "the graph") -> None:
        """Raises PermissionDeniedError unless `what` (a node and its op) may read `path`."""
        self._check(self.allow_read, path, what, "read")

    def check_write(self, path: Path, what: str = "the graph") -> None:
        """Raises PermissionDeniedError unless `what` (a node and its op) may write `path`."""
        self._check(self.allow_write, path, what, "write")

    def _check(self, allowed: str | tuple[str, ...], path: Path, what: str, doing: str) -> None:
        if allowed == "everything":
            return
        roots = () if allowed == "nothing" else (allowed,) if isinstance(allowed, str) else allowed
        if any(is_inside(path, root) for root in roots):
            return
        scope = f"only below {', '.join(roots)}" if roots else "no files at all"
        raise PermissionDeniedError(
            f"{what} wants to {doing} {os.fspath(path)}, but may {doing} {scope}. "
            f"If you trust this graph, {self.how}.",
            path=os.fspath(path),
            action=doing,
            node=what,
        )


class _Checked:
    """A file whose writes pass the fault hook; only made while one is set."""

    def __init__(self, file: IO[bytes], path: str) -> None:
        self._file, self._path = file, path

    def write(self, data: Any) -> int:
        _fault("write", self._path)
        return self._file.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _fault(step: str, path: Path) -> None:
    if fault_hook is not None:
        fault_hook(step, os.fspath(path))


def _temporary_name(final: str) -> str:
    folder, name = os.path.split(final)
    return os.path.join(folder, f"{name[:60]}.sgtmp-{os.urandom(4).hex()}")  # short: names end at 255 bytes


def _sync(file: IO[bytes] | str) -> None:
    if isinstance(file, str):
        with open(file, "rb+") as opened:
            os.fsync(opened.fileno())
    else:
        os.fsync(file.fileno())


def _sync_directory(folder: str) -> None:
    """Makes renames in `folder` durable, where the system can (Windows cannot open a directory)."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
