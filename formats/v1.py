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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import checkpoint_state, dtypes, files, protos, sniff
from .entry import Entry
from .errors import (
    DataLossError,
    InvalidTypeError,
    MissingFileError,
    MissingNameError,
    UnimplementedError,
    did_you_mean,
)
from .ordered_code import encode_slice_key
from .parts import Part, assemble, part_name
from .registry import Format
from .table import read_table
from .tensor_proto import typed_values

if TYPE_CHECKING:
    import numpy as np


@dataclass(slots=True)
class _Tensor:
    """A tensor as the meta entries describe it, and its parts: where each is and its serialized value."""

    number: int
    shape: tuple[int, ...]
    parts: list[tuple[Part, bytes, str]] = field(default_factory=list)


def open_v1(prefix: files.Path) -> V1Checkpoint:
    """Opens the first-generation checkpoint in a file, or in the files of a pattern `P-?????-of-NNNNN`.

    Raises:
        MissingFileError: No such file.
        DataLossError: Damaged, or another kind of table.
    """
    name = os.fspath(prefix)
    paths = checkpoint_state.v1_files(name)
    if not paths:
        raise MissingFileError(f"{name} is not a first-generation checkpoint: no such table.", path=name)
    return V1Checkpoint(name, paths)


class V1Checkpoint(Mapping[str, Entry]):
    """The tensors of a first-generation checkpoint by name, sorted.

    Attributes:
        prefix: The file, or the pattern.
        producer: The version of the format that wrote it.
    """

    def __init__(self, prefix: str, paths: list[str]) -> None:
        self.prefix = prefix
        self.producer = 0
        tensors: dict[str, _Tensor] = {}
        for path in paths:
            self._read_file(path, tensors)
        self._tensors = dict(sorted(tensors.items()))

    def __getitem__(self, name: str) -> Entry:
        tensor = self._tensors.get(name)
        if tensor is None:
            raise MissingNameError(
                f"Key {name} not found in checkpoint {self.prefix}.{did_you_mean(name, self._tensors)}",
                name=name,
                prefix=self.prefix,
            )
        try:
            info = dtypes.from_number(tensor.number)
        except InvalidTypeError as error:
            raise UnimplementedError(
                f"{self.prefix}: tensor '{name}' has an unknown dtype: {error}"
            ) from error
        nbytes = math.prod(tensor.shape) * (info.size or 0)
        where = ", ".join(dict.fromkeys(os.path.basename(path) for _, _, path in tensor.parts))
        return Entry(name, info, tensor.shape, nbytes, where, lambda: self._read(name, tensor, info))

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __contains__(self, name: object) -> bool:
        return name in self._tensors

    def get(self, name: str, default: Any = None) -> Any:
        """The entry, or `default`."""
        return self[name] if name in self._tensors else default

    def _read_file(self, path: str, tensors: dict[str, _Tensor]) -> None:
        records = dict(read_table(files.read_bytes(path), path))
        head = protos.parse(protos.SavedTensorSlices, records.get(b"", b""), f"The description in {path}")
        if not head.HasField("meta"):
            raise DataLossError(
                f"{path} is a table but not a first-generation checkpoint: it describes no tensors."
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
                value = records.get(encode_slice_key(saved.name.encode("utf-8", "surrogateescape"), extents))
                if value is None or len(extents) != len(shape) or not part.is_inside:
                    raise DataLossError(
                        f"{path} is damaged: part {list(extents)} (start, length) of tensor '{saved.name}' "
                        f"of shape {list(shape)} is described but not there.",
                        name=saved.name,
                    )
                tensor.parts.append((part, value, path))

    def _read(self, name: str, tensor: _Tensor, info: dtypes.DTypeInfo) -> np.ndarray[Any, Any]:
        pieces = [
            (part, _reader(part_name(name, part), part, value, path, info))
            for part, value, path in tensor.parts
        ]
        if len(pieces) == 1 and pieces[0][0].is_full:
            return pieces[0][1]()
        ranges = tuple((0, size) for size in tensor.shape)
        return assemble(pieces, ranges, info, f"Tensor '{name}' of {self.prefix}")


def _reader(
    label: str, part: Part, value: bytes, path: str, info: dtypes.DTypeInfo
) -> Callable[[], np.ndarray[Any, Any]]:
    def read() -> np.ndarray[Any, Any]:
        what = f"Tensor '{label}' of {path}"
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
