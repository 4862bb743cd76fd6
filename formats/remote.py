"""Files behind a URL (`s3://`, `gs://`, `https://`, `memory://`, ...), through fsspec.

Only `files.py` uses this module, for paths that begin with a scheme; local paths never come here, nor
is fsspec imported for them. Whatever a file system raises becomes one of our errors here.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .errors import (
    InvalidValueError,
    MissingExtraError,
    MissingFileError,
    OpError,
    PermissionDeniedError,
    UnavailableError,
    UnimplementedError,
    did_you_mean,
)

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*(::[A-Za-z][A-Za-z0-9+.\-]*)*://")
_WEB = ("http://", "https://")
_BUFFER = 1 << 16
"""Bytes that a reader of a remote file asks for at least: archives are read in small steps."""


def is_url(path: str) -> bool:
    """Whether a path names a file system by its scheme."""
    return "://" in path and _SCHEME.match(path) is not None


def local_path(url: str) -> str | None:
    """The local path that a `file://` URL means, else None."""
    return url.removeprefix("file://") if url.startswith("file://") else None


def read(url: str, start: int | None = None, stop: int | None = None) -> bytes:
    """The bytes of a file, or those of a range (fewer where the file ends before).

    Raises:
        MissingFileError: No such file.
        UnavailableError: The file system does not answer.
    """
    if start is not None and stop is not None and stop <= start:
        return b""
    with _errors(url, "read"):
        system, path = _open(url)
        data: bytes = system.cat_file(path, start=start, end=stop)
    if start is not None and stop is not None and len(data) > stop - start:
        return data[start:stop]  # a web server without range requests sends all of it
    return data


def size(url: str) -> int:
    """Bytes in a file; errors as `read`."""
    with _errors(url, "read"):
        system, path = _open(url)
        found = system.size(path)
    if found is None:
        raise UnimplementedError(f"{url} does not say its size, so parts of it cannot be read.", path=url)
    return int(found)


def is_file(url: str) -> bool:
    """Whether a URL is a file."""
    with _errors(url, "look for"):
        system, path = _open(url)
        if not url.startswith(_WEB):
            return bool(system.isfile(path))
        try:
            system.info(path)  # asks for the headers; isfile would begin to fetch the content
        except FileNotFoundError:
            return False
        return True


def is_directory(url: str) -> bool:
    """Whether a URL is a directory: there are files below it. On the web: whether it ends in a slash."""
    if url.startswith(_WEB):
        return url.endswith("/")
    with _errors(url, "look for"):
        system, path = _open(url)
        return bool(system.isdir(path))


def list_directory(url: str) -> list[str]:
    """The names in a directory, sorted; errors as `read`."""
    with _errors(url, "list"):
        system, path = _open(url)
        names = (os.path.basename(str(one).rstrip("/")) for one in system.ls(path, detail=False))
        return sorted({name for name in names if name})


def modified(url: str) -> int:
    """When a file was last changed, in nanoseconds since 1970; 0 where the file system does not say."""
    with _errors(url, "read"):
        system, path = _open(url)
        try:
            return int(system.modified(path).timestamp() * 1e9)
        except (NotImplementedError, KeyError, AttributeError):
            return 0


def open_reader(url: str) -> io.BufferedReader:
    """A seekable file that reads ranges as they are asked for; errors as `read`."""
    return io.BufferedReader(_RangeFile(url), _BUFFER)


def upload(source: str, url: str) -> None:
    """Copies a local file to a URL; the object stores make it appear whole or not at all."""
    with _errors(url, "write"):
        system, path = _open(url)
        system.put_file(source, path)


def remove(url: str) -> None:
    """Deletes a file; errors as `read`."""
    with _errors(url, "delete"):
        system, path = _open(url)
        system.rm_file(path)


class _RangeFile(io.RawIOBase):
    """A remote file, read by ranges."""

    def __init__(self, url: str) -> None:
        self._url, self._size, self._at = url, size(url), 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError(f"negative seek position {base + offset}")
        self._at = base + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        data = read(self._url, self._at, min(self._at + len(buffer), self._size))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def _open(url: str) -> tuple[Any, str]:
    """The file system of a URL and the path in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise MissingExtraError(
            f"{url} is a remote file; reading those needs fsspec. Install it: pip install 'sgtool[remote]' "
            "(and what its scheme needs: s3fs, gcsfs, aiohttp).",
            path=url,
            extra="remote",
        ) from error
    system, path = url_to_fs(url)
    return system, str(path)


@contextmanager
def _errors(url: str, doing: str) -> Iterator[None]:
    """Turns what fsspec and the file systems behind it raise into ours."""
    try:
        yield
    except OpError:
        raise
    except FileNotFoundError as error:
        raise MissingFileError(f"Cannot {doing} {url}: no such file.{_hint(url)}", path=url) from error
    except PermissionError as error:
        raise PermissionDeniedError(
            f"Cannot {doing} {url}: permission denied ({error}).", path=url
        ) from error
    except ImportError as error:  # fsspec says which package a scheme needs
        raise MissingExtraError(
            f"Cannot {doing} {url}: {str(error).rstrip('.')}.", path=url, extra="remote"
        ) from error
    except ValueError as error:
        if "Protocol not known" not in str(error):
            raise UnavailableError(f"Cannot {doing} {url}: {error}", path=url) from error
        scheme = url.partition("://")[0]
        raise InvalidValueError(
            f"Cannot {doing} {url}: no file system is called {scheme}.", path=url
        ) from error
    except Exception as error:  # each file system has errors of its own (botocore, aiohttp, ...)
        text = str(error) or type(error).__name__
        raise UnavailableError(f"Cannot {doing} {url}: {text}", path=url) from error


def _hint(url: str) -> str:
    """The nearest names beside a file that is not there, where its file system lists them."""
    folder, _, name = url.rpartition("/")
    try:
        system, path = _open(folder)
        names = [os.path.basename(str(one)) for one in system.ls(path, detail=False)]
    except Exception:  # a hint is not worth an error of its own
        return ""
    return did_you_mean(name, names)
