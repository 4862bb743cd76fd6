"""Files behind a URL (`s3://`, `gs://`, `https://`, `memory://`, ...), through fsspec.

Only `files.py` uses this module, for paths that begin with a scheme; local paths never come here, nor
is fsspec imported for them. Whatever a file system raises becomes one of our errors here.

The web has no directories. A URL stands for one if it ends in a slash, if a page of HTML lies there (which
may list it), or if what makes a directory of models one lies below it. Many a server answers with a page
where there is nothing: that is no file, and no directory where it has the name of a file or of a checkpoint.

Inside `remembered()`, which a command runs in, a file that was asked about is not asked about again.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from . import sniff
from .errors import (
    InvalidValueError,
    MissingExtraError,
    MissingFileError,
    OpError,
    PermissionDeniedError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
    did_you_mean,
)

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*(::[A-Za-z][A-Za-z0-9+.\-]*)*://")
_WEB = ("http://", "https://")
_MODELS = ("checkpoint", "saved_model.pb", "saved_model.pbtxt")
"""What a directory of models has, one of them."""
_BUFFER = 1 << 16
"""Bytes that a reader of a remote file asks for at least: archives are read in small steps."""
_SMALL = 1 << 16
"""Bytes up to which a file is remembered whole, and a piece of a larger one as it is."""
_PACKAGES = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "http": "aiohttp",
    "https": "aiohttp",
    "az": "adlfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
    "hf": "huggingface_hub",
    "sftp": "paramiko",
    "ssh": "paramiko",
    "hdfs": "pyarrow",
}
_FILE = re.compile(
    r"\.(meta|index|data-\d{5}-of-\d{5}|pb|pbtxt|h5|hdf5|npz|npy|safetensors|ya?ml|json)$|-\d{5}-of-\d{5}$"
)
"""What no directory is called: a page there stands in for a file."""
_BEGINNING = 256
_GONE = (404, 410)
_REFUSED = (401, 403)
T = TypeVar("T")
_memory: ContextVar[dict[Any, Any] | None] = ContextVar("_memory", default=None)


@contextmanager
def remembered() -> Iterator[None]:
    """While it lasts, what was learnt of a remote file stays true until this process writes one."""
    token = _memory.set({})
    try:
        yield
    finally:
        _memory.reset(token)


def _once(key: tuple[Any, ...], ask: Callable[[], T]) -> T:
    """What `ask` gives, remembered under `key`."""
    memory = _memory.get()
    if memory is None:
        return ask()
    if key not in memory:
        memory[key] = ask()
    found: T = memory[key]
    return found


def _forget() -> None:
    memory = _memory.get()
    if memory is not None:
        memory.clear()


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
    memory = _memory.get()
    if memory is not None:
        if size(url) <= _SMALL or ("whole", url) in memory:
            return _once(("whole", url), lambda: _read(url, None, None))[start:stop]
        if start is not None and stop is not None and stop - start <= _SMALL:
            return _once(("piece", url, start, stop), lambda: _read(url, start, stop))
    return _read(url, start, stop)


def _read(url: str, start: int | None, stop: int | None) -> bytes:
    with _errors(url, "read"):
        system, path = _open(url)
        data: bytes = system.cat_file(path, start=start, end=stop)
    if start is not None and stop is not None and len(data) > stop - start:
        return data[start:stop]  # a web server without range requests sends all of it
    return data


def size(url: str) -> int:
    """Bytes in a file; errors as `read`."""
    return _once(("size", url), lambda: _size(url))


def _size(url: str) -> int:
    with _errors(url, "read"):
        system, path = _open(url)
        found = system.size(path)
    if found is None:  # a server that does not say: there is no way but to read it
        return len(_once(("whole", url), lambda: _read(url, None, None)))
    return int(found)


def is_file(url: str) -> bool:
    """Whether a URL is a file.

    On the web a page of HTML is none, nor is what the server refuses: many refuse what is not there.

    Raises:
        UnavailableError: The file system does not answer.
    """
    if url.startswith(_WEB):
        return _web_kind(url) == "file"
    return _once(("is_file", url), lambda: _asked(url, "isfile"))


def is_directory(url: str) -> bool:
    """Whether a URL is a directory: files are below it (on the web: as the head of this module says)."""
    if not url.startswith(_WEB):
        return _once(("is_directory", url), lambda: _asked(url, "isdir"))
    if url.endswith("/") or "/" not in url.partition("://")[2]:
        return True
    kind = _web_kind(url)
    if kind == "file" or _FILE.search(url) or is_file(f"{url}.index"):
        return False
    if kind == "page":
        return not is_file(f"{url}.meta")
    return any(is_file(f"{url}/{name}") for name in _MODELS)


def _asked(url: str, question: str) -> bool:
    with _errors(url, "look for"):
        system, path = _open(url)
        return bool(getattr(system, question)(path))


def _web_kind(url: str) -> str:
    """`file`, `page` (of HTML), "" where there is nothing, or what the server says instead."""
    return _once(("kind", url), lambda: _ask_web(url))


def _ask_web(url: str) -> str:
    try:
        with _errors(url, "look for", hint=False):
            system, path = _open(url)
            about = system.info(path)  # asks for the headers; isfile would begin to fetch the content
    except MissingFileError:
        return ""
    except (PermissionDeniedError, UnauthenticatedError) as error:
        return str(error.fields.get("status", error))
    size = about.get("size")
    if size is not None:
        _once(("size", url), lambda: int(size))
    named = str(about.get("mimetype", "")).startswith("text/html")
    return "page" if named or (size is not None and 0 < size <= _SMALL and _is_page(url)) else "file"


def _is_page(url: str) -> bool:
    """Whether a small file is a page of HTML by its content: not every server says so."""
    return sniff.is_page(read(url, 0, _BEGINNING))


def refusal(url: str) -> str:
    """What a web server says instead of giving a file ("403 Forbidden"), or "" where it is just not there."""
    kind = _web_kind(url) if url.startswith(_WEB) else ""
    return {"file": "", "page": "with a page (HTML)"}.get(kind, kind)


def list_directory(url: str) -> list[str]:
    """The names in a directory, sorted (on the web: what a page that lists it links to); errors as `read`."""
    return list(_once(("list", url), lambda: _list_web(url) if url.startswith(_WEB) else _list(url)))


def _list_web(url: str) -> list[str]:
    try:
        return _list(url.rstrip("/") + "/")  # what the page links to is below it
    except (MissingFileError, PermissionDeniedError, UnauthenticatedError):
        return []  # a directory that is not listed


def _list(url: str) -> list[str]:
    with _errors(url, "list", hint=False):
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
    check_writable(url)
    _forget()
    with _errors(url, "write"):
        system, path = _open(url)
        system.put_file(source, path)


def remove(url: str) -> None:
    """Deletes a file; errors as `read`."""
    check_writable(url)
    _forget()
    with _errors(url, "delete"):
        system, path = _open(url)
        system.rm_file(path)


def check_writable(url: str) -> None:
    """Raises UnimplementedError where nothing can be written, before there is anything to write."""
    if url.startswith(_WEB):
        raise UnimplementedError(
            f"Cannot write {url}: the web is only read. Write to a local file, or where the server has its "
            "files (s3://, gs://).",
            path=url,
        )


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
def _errors(url: str, doing: str, hint: bool = True) -> Iterator[None]:
    """Turns what fsspec and the file systems behind it raise into ours."""
    try:
        yield
    except OpError:
        raise
    except FileNotFoundError as error:
        # The file system of the web says so of all that a server answers but the file.
        cause = error.__cause__
        if url.startswith(_WEB) and cause is not None and _status(cause) not in _GONE:
            raise _unanswered(url, doing, cause) from error
        more = _hint(url) if hint else ""
        raise MissingFileError(f"Cannot {doing} {url}: no such file.{more}", path=url) from error
    except PermissionError as error:
        raise PermissionDeniedError(
            f"Cannot {doing} {url}: permission denied ({error}).", path=url
        ) from error
    except ImportError as error:
        raise _no_driver(url, doing, error) from error
    except ValueError as error:
        if "Protocol not known" not in str(error):
            raise UnavailableError(f"Cannot {doing} {url}: {error}", path=url) from error
        scheme = url.partition("://")[0]
        raise InvalidValueError(
            f"Cannot {doing} {url}: no file system is called {scheme}.", path=url
        ) from error
    except (AssertionError, AttributeError, MemoryError, NameError, TypeError):
        raise  # mistakes in code are no answer of a server
    except Exception as error:
        # Each file system raises the errors of the library behind it (botocore, aiohttp, google.auth, ...),
        # which have no class in common and are not installed where they are not used.
        raise _unanswered(url, doing, error) from error


def _status(error: BaseException) -> int | None:
    """What a web server answered."""
    status = getattr(error, "status", None)
    return status if isinstance(status, int) else None


def _unanswered(url: str, doing: str, error: BaseException) -> OpError:
    """The error of a file that a file system does not give."""
    status = _status(error)
    if status is None:
        return UnavailableError(f"Cannot {doing} {url}: {str(error) or type(error).__name__}", path=url)
    from http import HTTPStatus

    try:
        answer = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        answer = str(status)
    kind = {401: UnauthenticatedError, 403: PermissionDeniedError}.get(status, UnavailableError)
    return kind(f"Cannot {doing} {url}: the server answers {answer}.", path=url, status=answer)


def _no_driver(url: str, doing: str, error: ImportError) -> MissingExtraError:
    """The error of a scheme whose package is not installed."""
    scheme = url.partition("://")[0].rpartition("::")[2]
    package = _PACKAGES.get(scheme.lower())
    what = f"Install it: pip install {package}" if package else str(error).rstrip(".")
    return MissingExtraError(
        f"Cannot {doing} {url}: {scheme}:// needs a package that is not installed. {what}.",
        path=url,
        extra="remote",
        package=package,
    )


def _hint(url: str) -> str:
    """The nearest names beside a file that is not there, where its file system lists them."""
    folder, _, name = url.rpartition("/")
    if folder.count("/") < 2 or folder.endswith("/"):
        return ""  # nothing is above it
    try:
        return did_you_mean(name, list_directory(folder))
    except OpError:  # a hint is not worth an error of its own
        return ""
