"""The operating system's errors, and what libraries tell of them, as ours; why a file is not there."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from . import remote
from .errors import (
    InvalidValueError,
    MissingFileError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnavailableError,
    did_you_mean,
)

Path = str | os.PathLike[str]

NOT_DAMAGE = frozenset(
    (
        errno.EACCES,
        errno.EPERM,
        errno.ENOENT,
        errno.EIO,
        errno.EISDIR,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENXIO,
        errno.ENODEV,
        errno.ENOMEM,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ESTALE,
        errno.ETIMEDOUT,
    )
)
"""What the system says of files that it does not give, and never of what is in them."""
_OS_ERROR = re.compile(r"(?:errno = |os error )(\d+)")


@contextmanager
def os_errors(path: Path, doing: str) -> Iterator[None]:
    """Turns the operating system's errors inside into ours; `doing` is a verb for the message."""
    try:
        yield
    except FileNotFoundError as error:
        if isinstance(error, MissingFileError):
            raise
        raise missing_file(path, doing) from error
    except (IsADirectoryError, NotADirectoryError) as error:
        why = "it is a directory" if os.path.isdir(path) else obstacle(path) or "it lies below a file"
        raise InvalidValueError(f"Cannot {doing} {path}: {why}.", **_facts(path, error)) from error
    except PermissionError as error:
        why = f"Cannot {doing} {path}: permission denied."
        raise PermissionDeniedError(why, **_facts(path, error)) from error
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE)
        invalid = error.errno in (errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL)
        cls = ResourceExhaustedError if full else InvalidValueError if invalid else UnavailableError
        text = error.strerror or str(error)
        raise cls(f"Cannot {doing} {path}: {text}.", **_facts(path, error)) from error
    except ValueError as error:
        if "null" not in str(error):  # open() and stat() say so of a NUL in the name
            raise
        raise InvalidValueError(f"Cannot {doing} {os.fspath(path)!r}: {error}.") from error


def _facts(path: Path, error: OSError) -> dict[str, Any]:
    return {"path": os.fspath(path), "errno": error.errno}


def raise_os_error_in(error: BaseException, only: Container[int] | None = None) -> None:
    """Raises the operating system's error that a library tells as its own, in words; else does nothing.

    HDF5's errors while a file is closed hide the one that was first; they tell it, too.

    Args:
        error: What the library raised.
        only: The numbers (of `errno`) that count; by default all, and errors without a number.
    """
    told = _OS_ERROR.search(str(error))
    number = int(told[1]) if told else getattr(error, "errno", None)
    if only is not None and number not in only:
        return
    if isinstance(error, OSError):
        raise error
    if number:
        raise OSError(number, os.strerror(number)) from error


def missing_file(path: Path, doing: str = "read") -> MissingFileError:
    """The error for a file that is not there: what of its path exists, and similar names beside it."""
    name = os.fspath(path)
    parent = os.path.dirname(name) or "."
    if remote.is_url(_location(name)):
        answer = remote.refusal(_location(name))
        told = f"the server answers {answer}" if answer else "no such file"
        return MissingFileError(f"Cannot {doing} {name}: {told}.", path=name)
    why = obstacle(name)
    if why:
        return MissingFileError(f"Cannot {doing} {name}: {why}.", path=name)
    if not os.path.isdir(parent):
        return MissingFileError(f"Cannot {doing} {name}: the directory {parent} does not exist.", path=name)
    with suppress(OSError):
        hint = did_you_mean(os.path.basename(name), os.listdir(parent))
        return MissingFileError(f"Cannot {doing} {name}: no such file.{hint}", path=name)
    return MissingFileError(f"Cannot {doing} {name}: no such file.", path=name)


def absence(path: Path) -> str:
    """A clause that says of a file that is not there that it is not, and why if that is known."""
    answer = remote.refusal(_location(path))
    if answer:
        return f"{path} is not given (the server answers {answer})"
    return obstacle(path) or f"{path} does not exist"


def obstacle(path: Path) -> str:
    """What on the way to a file that is not there is in the way: a broken link, a file; "" if nothing is."""
    name = _location(path)
    place = "" if remote.is_url(name) else name
    while place:
        if os.path.islink(place) and not os.path.exists(place):
            try:
                os.stat(place)
            except OSError as error:
                if error.errno == errno.ELOOP:
                    return f"{place} is a link that leads back to itself"
            return f"{place} is a link to {os.readlink(place)}, which does not exist"
        if os.path.exists(place):
            below = place != name and not os.path.isdir(place)
            return f"{place} is a file, not a directory" if below else ""
        parent = os.path.dirname(place)
        place = parent if parent != place else ""
    return ""


def _location(path: Path) -> str:
    name = os.fspath(path)
    return remote.local_path(name) or name
