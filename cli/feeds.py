"""`--feed NAME=VALUE`: which tensor, and the array for it.

VALUE is the first of these that fits:

    -                                  an npy file on standard input
    1.5  [[1,2],[3,4]]  true  "text"   JSON: a number, a list, true/false, a quoted string
    data.npy  data.npz[:key]  data.h5[:/path]  data.csv  data.json      a file, by its suffix

Files may be URLs. A file that is called `1.0` is `./1.0`. A bare word that is no file is an error, which
says how a string is written.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..formats import files
from ..formats.errors import (
    DataLossError,
    InvalidValueError,
    MissingFileError,
    MissingNameError,
    UnimplementedError,
    did_you_mean,
)
from .options import read_stdin

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

STDIN = "-"
_NOT_JSON = object()
_IN_CONTAINER = re.compile(r"(?s)(?P<path>.+\.(?:npz|h5|hdf5)):(?P<key>.+)")


@dataclass(frozen=True, slots=True)
class Feed:
    """One `--feed`.

    Attributes:
        name: The tensor's name, with its output number (`x:0`).
        text: VALUE as it was written.
    """

    name: str
    text: str

    @property
    def option(self) -> str:
        """The option as it could be written again, for messages."""
        return f"--feed {self.name}={self.text}"


def parse_feeds(texts: Sequence[str]) -> list[Feed]:
    """The feeds of a command line, in its order.

    Raises:
        click.UsageError: No `=`, an empty name or value, a tensor fed twice, or standard input used twice.
    """
    feeds, wrong = [], []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            wrong.append(
                f"--feed {text}: write NAME=VALUE, for example --feed x:0=data.npy or --feed 'x:0=[1, 2]'."
            )
        feeds.append(Feed(tensor_name(name), value))
    names = [feed.name for feed in feeds]
    wrong += [
        f"--feed {name} is given more than once." for name in sorted({n for n in names if names.count(n) > 1})
    ]
    if sum(feed.text == STDIN for feed in feeds) > 1:
        wrong.append("Standard input ('-') can be one feed's value only.")
    if wrong:
        raise click.UsageError("\n".join(wrong))
    return feeds


def tensor_name(name: str) -> str:
    """`x` -> `x:0`; a name with an output number stays as it is."""
    head, colon, number = name.rpartition(":")
    return name if colon and head and number.isdigit() else f"{name}:0"


def load(feed: Feed) -> Any:
    """The value of a feed: an array, or for JSON the Python value as it stands.

    Raises:
        MissingFileError: No such file, or a bare word.
        MissingNameError: The file has no such array.
        DataLossError: The file is damaged.
        InvalidValueError: The file is of no kind that can be fed, or holds several arrays.
    """
    if feed.text == STDIN:
        data = read_stdin(feed.option)
        return read_npy(data, f"{feed.option} (standard input)")
    value = _json(feed.text)
    if value is not _NOT_JSON:
        return value
    path, key = _path_and_key(feed.text)
    if not files.is_file(path):
        raise _no_file(feed, path)
    name = os.path.basename(path)
    suffix = Path(name).suffix
    reader = _READERS.get(suffix.lower())
    if reader is None:
        known = " ".join(sorted(_READERS))
        raise UnimplementedError(
            f"{feed.option}: files of kind '{suffix or name}' cannot be fed. There are: {known}.",
            path=path,
            feed=feed.name,
        )
    return reader(feed, path, key)


def to_array(feed: Feed, value: Any, dtype: np.dtype[Any], dims: Sequence[int | None] | None) -> Array:
    """`value` as an array for a tensor of `dtype` and static shape `dims`.

    TensorFlow turns a fed 1.5 into the int32 1 without a word; here a value that the dtype cannot
    hold is refused.

    Args:
        feed: Where the value comes from, for messages.
        value: What `load` gave.
        dtype: The tensor's dtype as NumPy's; `object` for strings.
        dims: Its static shape, None for an unknown dimension, or None for an unknown rank.

    Raises:
        InvalidValueError: Ragged lists, a value that does not fit the dtype, or another shape.
    """
    text = dtype.kind == "O"
    wanted = "string" if text else dtype.name
    try:
        array = _strings(value) if text else _regular(value)
        if not text and array.dtype != dtype:
            array = _cast(array, dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidValueError(
            f"{feed.option}: this is no {wanted} array: {error}.", feed=feed.name, dtype=wanted
        ) from error
    if dims is not None and len(dims) == 1 and array.shape[1:] == (1,) and feed.text.endswith(".csv"):
        array = array[:, 0]
    fits = dims is None or (
        len(dims) == array.ndim and all(d is None or d == n for d, n in zip(dims, array.shape, strict=True))
    )
    if not fits:
        from .render import shape

        raise InvalidValueError(
            f"{feed.option}: cannot feed value of shape {array.shape} for tensor '{feed.name}', "
            f"which has shape {shape(dims)}.",
            feed=feed.name,
            given_shape=list(array.shape),
            shape=list(dims or ()),
        )
    return array


def _regular(value: Any) -> Array:
    """The array of numbers or nested lists."""
    import numpy as np

    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError("its lists have different lengths") from None


def _cast(array: Array, dtype: np.dtype[Any]) -> Array:
    import numpy as np

    if array.dtype.kind in "SU" or array.dtype.kind == "O":
        # JSON has no NaN and Infinity but as the strings that `run --json` writes.
        if dtype.kind not in "fc" and dtype.name not in ("bfloat16",):
            raise TypeError("it holds text or lists of different lengths")
        words = [item for item in array.reshape(-1).tolist() if not _is_number(item)]
        if words:
            raise TypeError(f"it holds {words[0]!r}")
        return array.astype(np.float64).astype(dtype)
    if array.size == 0:
        return array.astype(dtype)
    if array.dtype.kind == "c" and dtype.kind != "c":
        raise TypeError("it holds complex numbers")
    with np.errstate(all="ignore"):
        cast = array.astype(dtype)
        if dtype.kind in "biu" or "int" in dtype.name:
            changed = (cast.astype(array.dtype) != array) | ((cast < 0) != (array < 0))
        else:
            changed = np.isinf(cast.astype(np.complex128)) & ~np.isinf(array)
    if changed.any():
        raise ValueError(f"{array[changed].flat[0]} is no value of that dtype")
    return cast


def _strings(value: Any) -> Array:
    """An object array of bytes out of a string, bytes, or nested lists or arrays of them."""
    import numpy as np

    array = _regular(value)
    if array.dtype.kind not in "SUO":
        raise TypeError(f'it holds {array.dtype.name}; strings are quoted: \'["a", "b"]\'')
    flat = [item.encode() if isinstance(item, str) else item for item in array.reshape(-1).tolist()]
    wrong = next((item for item in flat if not isinstance(item, bytes)), None)
    if wrong is not None:
        raise TypeError(f"{wrong!r} is no string")
    result = np.empty(len(flat), object)
    result[:] = flat
    return result.reshape(array.shape)


# ---- VALUE -------------------------------------------------------------------------------------


def _json(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return _NOT_JSON
    return _NOT_JSON if value is None or isinstance(value, dict) else value


def _path_and_key(text: str) -> tuple[str, str | None]:
    """A path that exists is taken literally; else `file.npz:key` is a file and what to take out of it."""
    match = _IN_CONTAINER.fullmatch(text)
    if match and not (files.is_file(text) or files.is_directory(text)):
        return match["path"], match["key"]
    return text, None


def _no_file(feed: Feed, path: str) -> MissingFileError:
    hint = ""
    folder, name = os.path.split(path)
    if "/" not in feed.text and "." not in feed.text:
        hint = f" For the string, write --feed '{feed.name}=\"{feed.text}\"'."
    elif feed.text.lstrip()[:1] in ("[", "{", '"'):
        hint = " As JSON it does not parse, either."
    elif files.is_directory(folder or "."):
        hint = did_you_mean(name, files.list_directory(folder or "."))
    directory = files.is_directory(path)
    what = f"'{path}' is a directory, not a file" if directory else f"there is no file '{path}'"
    return MissingFileError(f"--feed {feed.name}={feed.text}: {what}.{hint}", path=path, feed=feed.name)


# ---- files -------------------------------------------------------------------------------------


def read_npy(data: bytes, what: str) -> Array:
    """The array in the bytes of an npy file; `what` names it in errors.

    Raises:
        DataLossError: It is none, or holds Python objects.
    """
    import io

    from ..formats import sniff
    from ..formats.npy import read_npy_header

    if not data:
        raise DataLossError(f"{what}: nothing is there, where an npy file is expected.")
    if data[:6] != b"\x93NUMPY":
        kind = sniff.describe(data[: sniff.HEAD], data[-sniff.HEAD :])
        kind = (
            "a zip or npz archive"
            if data[:2] == b"PK"
            else kind or f"something that begins with {data[:16]!r}"
        )
        raise DataLossError(f"{what}: this is {kind}, where an npy file is expected.", found=kind)
    header = read_npy_header(io.BytesIO(data), len(data), what)
    if isinstance(header, str):
        raise DataLossError(f"{what}: {header}.")
    return header.array(memoryview(data)[header.start :])


def _read_npy(feed: Feed, path: str, _: str | None) -> Any:
    return read_npy(files.read_bytes(path), feed.option)


def _read_store(feed: Feed, path: str, key: str | None) -> Any:
    """One array of an npz or HDF5 file: the one named, else called as the tensor is, else the only one."""
    from ..formats import registry

    store = registry.open_store(path)
    wanted = key if key is not None else feed.name
    plain = wanted.removeprefix("/").removesuffix(":0")
    for name in (wanted, wanted.removeprefix("/"), plain, f"{plain}:0"):
        if name in store:
            return store[name].read()
    names = list(store)
    if key is not None:
        raise MissingNameError(
            f"{feed.option}: there is no '{key}' in {path}.{did_you_mean(plain, names)}{_holds(names)}",
            path=path,
            key=key,
            keys=names,
        )
    if len(names) == 1:
        return store[names[0]].read()
    raise InvalidValueError(
        f"{feed.option}: {path} holds {'several arrays' if names else 'no array'}; say which, "
        f"as in --feed {feed.name}={path}:KEY.{_holds(names)}",
        path=path,
        keys=names,
    )


def _holds(names: Sequence[str]) -> str:
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f" It holds: {', '.join(names[:20])}{more}." if names else ""


def _read_csv(feed: Feed, path: str, _: str | None) -> Any:
    """Rows of numbers (or of text, for a string tensor); a first row of names is left out."""
    import csv
    import io

    import numpy as np

    try:
        text = files.read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataLossError(f"{feed.option}: this is not UTF-8 text: {error}.", path=path) from error
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        line = next(i for i, row in enumerate(rows, 1) if len(row) != len(rows[0]))
        raise InvalidValueError(
            f"{feed.option}: row {line} has {len(rows[line - 1])} columns, the first has {len(rows[0])}.",
            path=path,
            row=line,
        )
    if (
        rows
        and not any(_is_number(cell) for cell in rows[0])
        and len(rows) > 1
        and any(map(_is_number, rows[1]))
    ):
        rows = rows[1:]
    try:
        return np.array(rows, dtype=np.float64)
    except ValueError:
        return np.array(rows, dtype=object)


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _read_json(feed: Feed, path: str, _: str | None) -> Any:
    try:
        return json.loads(files.read_bytes(path))
    except ValueError as error:
        raise DataLossError(f"{feed.option}: this is not JSON: {error}", path=path) from error


_READERS: dict[str, Callable[[Feed, str, str | None], Any]] = {
    ".npy": _read_npy,
    ".npz": _read_store,
    ".h5": _read_store,
    ".hdf5": _read_store,
    ".csv": _read_csv,
    ".json": _read_json,
}
