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
from collections.abc import Callable
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
from .table import Table
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
        DataLossError: Damaged, or another kind of table.
    """
    name = files.location(prefix)
    paths = checkpoint_state.v1_files(name)
    if not paths:
        raise MissingFileError(f"{name} is not a first-generation checkpoint: no such table.", path=name)
    return V1Checkpoint(name, paths)


class V1Checkpoint(Store):
    """The tensors of a first-generation checkpoint by name, sorted.

    Attributes:
        prefix: The file, or the pattern.
        producer: The version of the format that wrote it.
    """

    def __init__(self, prefix: str, paths: list[str]) -> None:
        self.prefix = self.where = prefix
        self.skipped = {}
        self.producer = 0
        tensors: dict[str, _Tensor] = {}
        for path in paths:
            self._read_file(path, tensors)
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
        return Entry(name, info, tensor.shape, nbytes, where, lambda: self._read(name, tensor, info))

    def _missing(self, name: str) -> MissingNameError:
        return MissingNameError(
            f"Key {name} not found in checkpoint {self.prefix}.{self._hint(name)}",
            name=name,
            prefix=self.prefix,
        )

    def _read_file(self, path: str, tensors: dict[str, _Tensor]) -> None:
        table = Table(files.open_content(path), path)
        head = protos.parse(protos.SavedTensorSlices, table.get(b"") or b"", f"The description in {path}")
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

    def _read(self, name: str, tensor: _Tensor, info: dtypes.DTypeInfo) -> np.ndarray[Any, Any]:
        pieces = [
            (part, _reader(part_name(name, part), part, table, key, path, info))
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
