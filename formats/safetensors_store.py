"""The safetensors store: a JSON header and the tensors' bytes, read through the library of that name.

    fixed64 length of the header | JSON {name: {"dtype", "shape", "data_offsets"}} | bytes, without gaps

The library checks the header; the bytes of a tensor are mapped, since it has no arrays for float8. It
has no strings, quantized types, complex128 or 4-bit integers: a writer lists what it cannot hold. The
MetaGraphDef is kept in base64 in the header's metadata, under `sgtool_meta_graph`. No checksums.
Reading needs the extra `safetensors`. Source: the format's description in huggingface/safetensors.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import os
import tempfile
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import dtypes, files
from .entry import Entry
from .errors import DataLossError, InvalidTypeError, InvalidValueError, MissingExtraError, bullets
from .registry import Format
from .store import Store
from .tensor_bytes import array_of_bytes, flat_bytes, values_of

if TYPE_CHECKING:
    import numpy as np

_META_GRAPH = "sgtool_meta_graph"
_LENGTH = 8
_HEADER_LIMIT = 100_000_000
"""Bytes that the library lets a header have."""
_DTYPES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "F8_E5M2": "float8_e5m2",
    "F8_E4M3": "float8_e4m3fn",
    "I16": "int16",
    "U16": "uint16",
    "F16": "float16",
    "BF16": "bfloat16",
    "I32": "int32",
    "U32": "uint32",
    "F32": "float32",
    "I64": "int64",
    "U64": "uint64",
    "F64": "float64",
    "C64": "complex64",
}
_WRITABLE = frozenset(_DTYPES.values())
_STORED = {name: stored for stored, name in _DTYPES.items()}
_ORDER = (
    "bool",
    "uint8",
    "int8",
    "float8_e5m2",
    "float8_e4m3fn",
    "int16",
    "uint16",
    "float16",
    "bfloat16",
    "int32",
    "uint32",
    "float32",
    "complex64",
    "float64",
    "int64",
    "uint64",
)
"""The library's own order of dtypes; the last come first in a file."""


def open_safetensors(path: files.Path) -> SafetensorsStore:
    """Opens a safetensors file and reads its header.

    Raises:
        MissingFileError: No such file.
        MissingExtraError: The library is not installed.
        DataLossError: The header is damaged, or bytes are missing.
    """
    return SafetensorsStore(files.location(path))


class SafetensorsStore(Store):
    """The tensors in a safetensors file by name, sorted.

    Attributes:
        path: The file.
        meta_graph: The serialized MetaGraphDef kept with them, or None.
        skipped: Tensors of dtypes that TensorFlow does not have.
    """

    def __init__(self, path: str, lenient: bool = False) -> None:
        self.path = self.where = path
        self.skipped = {}
        self.damaged = {}
        self.meta_graph: bytes | None = None
        content = files.open_content(path)
        start = _LENGTH + int.from_bytes(content.bytes(0, _LENGTH), "little")
        entries: dict[str, Entry] = {}
        metadata, rows = (_cut_header if lenient else _header)(path, content, start)
        for name, stored, shape, size in rows:
            if stored not in _DTYPES:
                self.skipped[name] = f"it is of dtype {stored}, which TensorFlow does not have"
            elif start + size > content.size:
                self.damaged[name] = DataLossError(
                    f"'{name}' in {path} is damaged: its bytes are {start} to {start + size}, but the file "
                    f"ends at {content.size}.",
                    path=path,
                    offset=start,
                    size=size,
                )
            else:
                entries[name] = _entry(path, content, name, dtypes.from_name(_DTYPES[stored]), shape, start)
            start += size
        if _META_GRAPH in metadata:
            try:
                self.meta_graph = base64.b64decode(metadata[_META_GRAPH], validate=True)
            except binascii.Error as error:
                raise DataLossError(f"{path} is damaged: its graph is not base64: {error}.") from error
        self._entries = dict(sorted(entries.items()))


def _header(
    path: str, content: files.Content, start: int
) -> tuple[dict[str, str], list[tuple[str, str, tuple[int, ...], int]]]:
    """The metadata, and (name, dtype, shape, bytes) of each tensor in the order of their bytes."""
    library = _library(path)
    if start > min(content.size, _HEADER_LIMIT):
        raise DataLossError(
            f"{path} is damaged or not a safetensors file: it says that its header ends at byte {start}, "
            f"but has {content.size}.",
            path=path,
        )
    head = content.bytes(0, start)
    # The library opens local files only: of a remote one it gets the header, and the length by a hole.
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as copy:
        if files.is_remote(path):
            copy.write(head)
            copy.truncate(content.size)
            copy.flush()
        try:
            with library.safe_open(copy.name if files.is_remote(path) else path, framework="np") as opened:
                rows = []
                for name in opened.offset_keys():
                    about = opened.get_slice(name)
                    shape = tuple(map(int, about.get_shape()))
                    rows.append((name, str(about.get_dtype()), shape, 0))
                metadata = dict(opened.metadata() or {})
        except (library.SafetensorError, ValueError, OverflowError, OSError) as error:
            raise DataLossError(
                f"{path} is damaged or not a safetensors file: {error}.", path=path
            ) from error
    return metadata, [(name, dtype, shape, _size(dtype, shape)) for name, dtype, shape, _ in rows]


def _cut_header(
    path: str, content: files.Content, start: int
) -> tuple[dict[str, str], list[tuple[str, str, tuple[int, ...], int]]]:
    """As `_header`, of a file that the library refuses since its end is missing."""
    if start > min(content.size, _HEADER_LIMIT):
        raise DataLossError(f"{path} is cut off within its header, at {content.size} bytes.", path=path)
    try:
        head = json.loads(bytes(content.bytes(_LENGTH, start - _LENGTH)))
        metadata = dict(head.pop("__metadata__", {}))
        rows = []
        at = 0
        for name, row in sorted(head.items(), key=lambda item: item[1]["data_offsets"]):
            shape = tuple(map(int, row["shape"]))
            size = _size(row["dtype"], shape)
            if min(shape, default=0) < 0 or list(row["data_offsets"]) != [at, at + size]:
                raise ValueError(f"the place of '{name}' does not fit its shape")
            rows.append((name, str(row["dtype"]), shape, size))
            at += size
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise DataLossError(f"{path} is damaged: its header cannot be read: {error}.", path=path) from error
    return metadata, rows


def _size(stored: str, shape: tuple[int, ...]) -> int:
    """Bytes of a tensor: the number in a dtype's name is that of its bits."""
    digits = "".join(one for one in stored.partition("_")[0] if one.isdigit())
    return math.prod(shape) * int(digits or 8) // 8


def _entry(
    path: str, content: files.Content, name: str, info: dtypes.DTypeInfo, shape: tuple[int, ...], start: int
) -> Entry:
    nbytes = math.prod(shape) * (info.size or 0)
    where = f"{os.path.basename(path)}, bytes {start} to {start + nbytes}"

    def read() -> np.ndarray[Any, Any]:
        return array_of_bytes(content.view(start, nbytes), info, shape)

    return Entry(name, info, shape, nbytes, where, read)


def refusal(entry: Entry) -> str:
    """Why a file of this format cannot hold an entry; "" where it can."""
    if entry.dtype.name not in _WRITABLE:
        return f"safetensors has no dtype {entry.dtype.name}"
    if entry.name == "__metadata__" or not _is_text(entry.name):
        return "safetensors has no such name"
    return ""


def write_safetensors(path: files.Path, entries: Iterable[Entry], meta_graph: bytes | None = None) -> None:
    """Writes entries to a safetensors file, atomically; each is read once, when its turn comes.

    The file is the one that the library writes: tensors of wide elements first, each kind by name.

    Args:
        path: The file.
        entries: What to write.
        meta_graph: A serialized MetaGraphDef to keep with them.

    Raises:
        InvalidTypeError: Entries of dtypes that the format does not have; lists all of them.
        InvalidValueError: Two entries of one name, or a header that the library would not read.
        OpError: The file cannot be written, or an entry not read; the old file stays.
    """
    pending = list(entries)
    _check(pending)
    pending.sort(key=lambda entry: (-_ORDER.index(entry.dtype.name), entry.name))
    header: dict[str, Any] = {}
    if meta_graph is not None:
        header["__metadata__"] = {_META_GRAPH: base64.b64encode(meta_graph).decode()}
    at = 0
    for entry in pending:
        assert entry.dtype.size is not None
        end = at + entry.size * entry.dtype.size
        header[entry.name] = {
            "dtype": _STORED[entry.dtype.name],
            "shape": list(entry.shape),
            "data_offsets": [at, end],
        }
        at = end
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _LENGTH)
    if len(text) > _HEADER_LIMIT:
        raise InvalidValueError(
            f"{path} would need a header of {len(text)} bytes, of which safetensors allows {_HEADER_LIMIT}: "
            "leave the graph out, or use .h5, .npz or a checkpoint.",
            size=len(text),
        )
    with files.atomic_writer(path) as file:
        file.write(len(text).to_bytes(_LENGTH, "little") + text)
        for number, entry in enumerate(pending):
            pending[number] = None  # type: ignore[call-overload]  # its values may be dropped once written
            file.write(flat_bytes(values_of(entry), entry.dtype).data)


def _check(entries: list[Entry]) -> None:
    unwritable = [f"{e.name} ({e.dtype.name})" for e in entries if e.dtype.name not in _WRITABLE]
    if unwritable:
        raise InvalidTypeError(
            f"A safetensors file cannot hold these tensors, whose dtypes it does not have:"
            f"{bullets(unwritable)}\nLeave them out, or use .h5, .npz or a checkpoint.",
            names=unwritable,
        )
    counts = Counter(entry.name for entry in entries)
    odd = sorted(name for name, count in counts.items() if count > 1)
    if odd:
        raise InvalidValueError(f"These names come twice:{bullets(odd)}", names=odd)
    odd = [entry.name for entry in entries if refusal(entry)]
    if odd:
        raise InvalidValueError(
            f"A safetensors file cannot hold these names:{bullets(list(map(repr, odd)))}", names=odd
        )


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Library:
    """What is used of the library."""

    def __init__(self) -> None:
        import safetensors
        import safetensors.numpy

        self.safe_open: Any = safetensors.safe_open
        self.SafetensorError: Any = safetensors.SafetensorError


def _library(path: str) -> _Library:
    try:
        return _Library()
    except ImportError as error:
        raise MissingExtraError(
            f"{path} is a safetensors file; those need the safetensors library. "
            "Install it: pip install 'sgtool[safetensors]'.",
            path=path,
            extra="safetensors",
        ) from error


def _matches(head: bytes, tail: bytes, path: str) -> bool:
    length = int.from_bytes(head[:_LENGTH], "little")
    return 2 <= length <= _HEADER_LIMIT and head[_LENGTH : _LENGTH + 2] in (b'{"', b"{}")


FORMAT = Format(
    name="safetensors",
    suffixes=(".safetensors",),
    matches=_matches,
    kind="store",
    read=open_safetensors,
    write=write_safetensors,
    read_damaged=lambda path: SafetensorsStore(files.location(path), lenient=True),
)
