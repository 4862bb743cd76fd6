"""First-generation checkpoints (V1), read: tables that hold the tensors themselves.

    PREFIX, or PREFIX-00000-of-00002, ...
        ""          -> SavedTensorSlices.meta: name, shape, dtype and slices of every tensor
        slice key   -> SavedTensorSlices.data: a TensorProto with the values in the field of their
                       type, and neither dtype nor shape (those are in meta)

Source: TensorFlow's `saved_tensor_slice.proto` and `tensor_slice_reader.cc`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import checkpoint_state, dtypes, files, leftovers, protos, sniff
from .entry import Entry
from .errors import (
    DataLossError,
    InvalidTypeError,
    MissingFileError,
    MissingNameError,
    UnimplementedError,
)
from .ordered_code import encode_slice_key
from .parts import Part, assemble, part_name
from .registry import Format
from .store import Store
from .table import Table, scan_table
from .tensor_proto import typed_values

if TYPE_CHECKING:
    import numpy as np


@dataclass(slots=True)
class _Tensor:
    """A tensor as the meta entries describe it, and its parts: each with its table, key and file."""

    number: int
    shape: tuple[int, ...]
    parts: list[tuple[Part, Table, bytes, str]] = field(default_factory=list)


def open_v1(prefix: files.Path) -> V1Checkpoint:
    """Opens the first-generation checkpoint in a file, or in the files of a pattern `P-?????-of-NNNNN`.

    Raises:
        MissingFileError: No such file.
        DataLossError: Damaged, or no table, or one of another kind.
    """
    name = files.location(prefix)
    paths = checkpoint_state.v1_files(name) or ([name] if files.is_file(name) else [])
    if not paths:
        raise MissingFileError(f"{name} is not a first-generation checkpoint: no such table.", path=name)
    return V1Checkpoint(name, paths)


def open_cut(path: files.Path) -> Table:
    """The blocks of a file whose end is lost that are there, for `V1Checkpoint`.

    Raises:
        DataLossError: There is nothing of a first-generation checkpoint.
    """
    name = files.location(path)
    content = files.open_content(name)
    table = Table(content, name, scan_table(content, name))
    if not (table.get(b"") or table.torn.get(b"")):
        raise DataLossError(f"{name} describes no tensors as far as it goes.", path=name)
    return table


class V1Checkpoint(Store):
    """The tensors of a first-generation checkpoint by name, sorted.

    Attributes:
        prefix: The file, or the pattern.
        producer: The version of the format that wrote it.
    """

    def __init__(self, prefix: str, paths: list[str], cut: Mapping[str, Table] | None = None) -> None:
        """Opens files, by `cut` those whose end is lost, as far as they go (`open_cut`)."""
        self.prefix = self.where = prefix
        self.skipped = {}
        self.producer = 0
        tensors: dict[str, _Tensor] = {}
        for path in paths:
            table = (cut or {}).get(path)
            self._read_file(path, table or Table(files.open_content(path), path), tensors)
        self._entries = dict(sorted(tensors.items()))

    def _entry_at(self, key: str) -> Entry:
        name, tensor = key, self._entries[key]
        try:
            info = dtypes.from_number(tensor.number)
        except InvalidTypeError as error:
            raise UnimplementedError(
                f"{self.prefix}: tensor '{name}' has an unknown dtype: {error}"
            ) from error
        nbytes = math.prod(tensor.shape) * (info.size or 0)
        where = ", ".join(dict.fromkeys(os.path.basename(path) for _, _, _, path in tensor.parts))
        parts = (lambda: self.parts(name)) if len(tensor.parts) > 1 else None
        read = lambda: self._read(name, tensor, info)  # noqa: E731
        return Entry(name, info, tensor.shape, nbytes, where, read, parts=parts)

    def _missing(self, name: str) -> MissingNameError:
        return MissingNameError(
            f"Key {name} not found in checkpoint {self.prefix}.{self._hint(name)}",
            name=name,
            prefix=self.prefix,
        )

    def _read_file(self, path: str, table: Table, tensors: dict[str, _Tensor]) -> None:
        description = table.get(b"") or table.torn.get(b"") or b""
        head = protos.parse(protos.SavedTensorSlices, description, f"The description in {path}")
        if not head.HasField("meta"):
            raise DataLossError(
                f"{path} is a table but not a first-generation checkpoint: it describes no tensors. "
                f"{leftovers.explain(path)}".rstrip(),
                path=path,
            )
        self.producer = max(self.producer, head.meta.versions.producer)
        for saved in head.meta.tensor:
            shape = tuple(dim.size for dim in saved.shape.dim)
            tensor = tensors.setdefault(saved.name, _Tensor(saved.type, shape))
            if (tensor.number, tensor.shape) != (saved.type, shape) or any(size < 0 for size in shape):
                raise DataLossError(
                    f"{path} is damaged: tensor '{saved.name}' has contradictory shapes or dtypes."
                )
            for slice_proto in saved.slice:
                extents = tuple(
                    (e.start, e.length if e.HasField("length") else -1) for e in slice_proto.extent
                )
                part = Part(shape, extents)
                key = encode_slice_key(saved.name.encode("utf-8", "surrogateescape"), extents)
                if len(extents) != len(shape) or not part.is_inside:
                    raise DataLossError(
                        f"{path} is damaged: part {list(extents)} (start, length) of tensor '{saved.name}' "
                        f"does not fit its shape {list(shape)}.",
                        name=saved.name,
                    )
                tensor.parts.append((part, table, key, path))

    def parts(self, name: str) -> list[Entry]:
        """The stored parts of a partitioned tensor; of another, itself. Errors as of `[name]`."""
        whole = self[name]
        found = []
        for part, table, key, path in self._entries[name].parts:
            own = None if part.is_full else part
            label = name if own is None else part_name(name, part)
            read = _reader(label, part, table, key, path, whole.dtype)
            nbytes = math.prod(part.shape) * (whole.dtype.size or 0)
            found.append(Entry(name, whole.dtype, part.shape, nbytes, os.path.basename(path), read, own))
        return found

    def _read(self, name: str, tensor: _Tensor, info: dtypes.DTypeInfo) -> np.ndarray[Any, Any]:
        pieces = [
            (part, _reader(name if part.is_full else part_name(name, part), part, table, key, path, info))
            for part, table, key, path in tensor.parts
        ]
        if len(pieces) == 1 and pieces[0][0].is_full:
            return pieces[0][1]()
        ranges = tuple((0, size) for size in tensor.shape)
        return assemble(pieces, ranges, info, f"Tensor '{name}' of {self.prefix}")


def _reader(
    label: str, part: Part, table: Table, key: bytes, path: str, info: dtypes.DTypeInfo
) -> Callable[[], np.ndarray[Any, Any]]:
    def read() -> np.ndarray[Any, Any]:
        what = f"Tensor '{label}' of {path}"
        value = table.get(key)
        if value is None and table.lost:
            there = key in table.torn
            why = "is in a block that is cut off: nothing vouches for it" if there else "is lost"
            raise DataLossError(f"{what} {why} ({table.lost}).", name=label, path=path)
        if value is None:
            raise DataLossError(f"{what} is damaged: it is described but not there.", name=label)
        proto = protos.parse(protos.SavedTensorSlices, value, what).data.data
        values = typed_values(proto, info, b"", what)
        if len(values) != math.prod(part.shape):
            raise DataLossError(
                f"{what} is damaged: shape {list(part.shape)} needs {math.prod(part.shape)} values, "
                f"{len(values)} are there.",
                name=label,
            )
        return values.reshape(part.shape)

    return read


def _matches(head: bytes, tail: bytes, path: str) -> bool:
    return tail.endswith(sniff.TABLE_MAGIC) and not path.endswith(".index")


FORMAT = Format(name="v1 checkpoint", suffixes=(), matches=_matches, kind="store", read=open_v1, write=None)
