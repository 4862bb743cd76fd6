"""TensorBundle checkpoints (V2), read: an index, and data files memory-mapped when they are needed.

    PREFIX.index                 a table: "" -> BundleHeaderProto, name -> BundleEntryProto,
                                 slice key -> BundleEntryProto of one part of a partitioned variable
    PREFIX.data-00000-of-00001   the tensors' bytes, one after another; shard i of n

A partitioned variable's own entry has no bytes but the list of its parts. The writer is
`bundle_writer.py`. Source: TensorFlow's `tensor_bundle.proto` and `tensor_bundle.cc`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import dtypes, files, protos, sniff
from .bundle_writer import write_bundle as write_bundle
from .entry import Entry
from .errors import (
    DataLossError,
    InvalidTypeError,
    InvalidValueError,
    MissingFileError,
    MissingNameError,
    MissingPartError,
    UnimplementedError,
    bullets,
)
from .ordered_code import encode_slice_key
from .parts import Part, Ranges, assemble, part_name
from .registry import Format
from .store import Store
from .table import decode_varint, read_table
from .tensor_bytes import decode_pieces, decode_tensor, size_problem

if TYPE_CHECKING:
    import numpy as np

READER_VERSION = 1
_VARINT = rb"[\x80-\xff]{0,9}[\x00-\x7f]"
_REST = re.compile(
    rb"(?s)(?:\x18" + _VARINT + rb")?(?:\x20" + _VARINT + rb")?(?:\x28(" + _VARINT + rb"))?(?:\x35.{4})?"
)
"""What follows dtype and shape in a BundleEntryProto without parts: shard, offset, size, checksum."""


def open_bundle(prefix: files.Path) -> Bundle:
    """Opens the checkpoint `prefix`; reads its index, and no data yet.

    Raises:
        MissingFileError: No `prefix.index`.
        DataLossError: The index is damaged.
        UnimplementedError: It was written for readers of the future.
    """
    name = files.location(prefix)
    path = f"{name}.index"
    if not files.is_file(path):
        raise MissingFileError(
            f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {name} "
            f"({path} does not exist). Pass the checkpoint's prefix.",
            path=path,
        )
    data = files.read_found(path)
    foreign = sniff.describe(data[: sniff.HEAD], data[-sniff.HEAD :])
    if foreign is not None and not data.endswith(sniff.TABLE_MAGIC):
        text = f"{path}: not an sstable (bad magic number): it is {foreign}."
        raise sniff.refusal(foreign, text, path)
    return Bundle(name, data)


class Bundle(Store):
    """The tensors of a checkpoint by name, in the order of the names' bytes.

    Attributes:
        prefix: The checkpoint's prefix.
        index_path: Its index file.
        num_shards: Number of data files.
        producer: The version of the format that wrote it.
    """

    def __init__(self, prefix: str, index: bytes) -> None:
        self.prefix = self.where = prefix
        self.skipped = {}
        self.index_path = f"{prefix}.index"
        self._maps: dict[int, files.Content] = {}
        self._names: dict[int, str] = {}
        self._entries: dict[str, bytes] = {}
        self._parts: dict[bytes, bytes] = {}
        header = None
        for key, value in read_table(index, self.index_path):
            if key[:1] == b"\0":
                self._parts[key] = value
            elif key:
                self._entries[key.decode("utf-8", "surrogateescape")] = value
            else:
                header = value
        if header is None:
            raise DataLossError(
                f"{self.index_path} is a table but not the index of a checkpoint: it has no header.",
                path=self.index_path,
            )
        message = protos.parse(protos.BundleHeaderProto, header, f"The header of {self.index_path}")
        self._check_header(message)
        self.num_shards: int = message.num_shards
        self.producer: int = message.version.producer
        self._big_endian = message.endianness == protos.BundleHeaderProto.BIG

    def _entry_at(self, key: str) -> Entry:
        name = key
        proto = self._parse(self._entries[name], name)
        if proto.slices:
            info, shape = self._described(proto, name)
            pieces = self._pieces(proto, name)
            nbytes = sum(piece.size for piece, _ in pieces)
            where = f"{len(pieces)} parts in {self._shards_of(pieces)}"
            return Entry(
                name,
                info,
                shape,
                nbytes,
                where,
                lambda: self._assemble(name, None),
                parts=lambda: self.parts(name),
            )
        return self._plain(proto, name, name, None)

    def listing(self) -> Iterator[tuple[str, str, list[int], int]]:
        """As `Store.listing`; of entries as TensorFlow writes them without a message for each."""
        described: dict[bytes, tuple[str, tuple[int, ...]]] = {}
        for name, value in self._entries.items():
            plain = value[:1] == b"\x08" and value[2:3] == b"\x12" and max(value[1:4]) < 0x80
            end = 4 + value[3] if plain and len(value) > 3 else 0
            rest = _REST.fullmatch(value, end) if 0 < end <= len(value) else None
            if rest is None:
                entry = self._entry_at(name)
                yield name, entry.dtype.name, list(entry.shape), entry.nbytes
                continue
            head, size = value[:end], rest[1]
            found = described.get(head)
            if found is None:
                info, shape = self._described(self._parse(head, name), name)
                found = described[head] = info.name, shape
            yield name, found[0], list(found[1]), decode_varint(size) if size else 0

    def parts(self, name: str) -> list[Entry]:
        """The stored parts of a partitioned variable, in the order it lists them; of another, itself."""
        entry = self[name]
        name = entry.name
        proto = self._parse(self._entries[name], name)
        if not proto.slices:
            return [entry]
        return [
            self._plain(piece, name, part_name(name, part), part) for piece, part in self._pieces(proto, name)
        ]

    def places(self, name: str) -> list[tuple[str, int, int, int]]:
        """The data file, offset, size and masked checksum of each of `parts(name)`."""
        proto = self._parse(self._entries[self[name].name], name)
        stored = [piece for piece, _ in self._pieces(proto, name)] if proto.slices else [proto]
        return [(self.shard_path(one.shard_id), one.offset, one.size, one.crc32c) for one in stored]

    def read_slice(self, name: str, extents: Sequence[tuple[int, int]]) -> np.ndarray[Any, Any]:
        """A slice of a tensor, whatever the parts it is stored in.

        Args:
            name: The tensor.
            extents: Per dimension (start, length); length -1 is all of it.

        Raises:
            MissingNameError: No such tensor.
            InvalidValueError: The slice does not lie within the tensor.
            DataLossError: Damaged, or no parts cover the slice.
        """
        entry = self[name]
        name = entry.name
        part = Part(entry.shape, tuple((int(start), int(length)) for start, length in extents))
        if not part.is_inside:
            raise InvalidValueError(
                f"{list(part.extents)} (start, length) is not a slice of tensor '{name}' of shape "
                f"{list(entry.shape)}.",
                name=name,
                shape=list(entry.shape),
            )
        return self._assemble(name, part.ranges)

    def _missing(self, name: str) -> MissingNameError:
        return MissingNameError(
            f"Key {name} not found in checkpoint {self.prefix}.{self._hint(name)}",
            name=name,
            prefix=self.prefix,
        )

    def shard_path(self, shard: int) -> str:
        """The data file of a shard."""
        return f"{self.prefix}.data-{shard:05d}-of-{self.num_shards:05d}"

    def _file_name(self, shard: int) -> str:
        if shard not in self._names:
            self._names[shard] = os.path.basename(self.shard_path(shard))
        return self._names[shard]

    def _check_header(self, header: Any) -> None:
        if header.version.min_consumer > READER_VERSION or READER_VERSION in header.version.bad_consumers:
            raise UnimplementedError(
                f"Checkpoint min consumer version {header.version.min_consumer} above current version "
                f"{READER_VERSION}: {self.index_path} was written by a newer TensorFlow.",
                min_consumer=header.version.min_consumer,
            )
        if not 1 <= header.num_shards < 100_000:
            raise DataLossError(
                f"{self.index_path} is damaged: its header says {header.num_shards} data files.",
                num_shards=header.num_shards,
            )

    def _parse(self, value: bytes, name: str) -> Any:
        return protos.parse(protos.BundleEntryProto, value, f"The entry of '{name}' in {self.index_path}")

    def _described(self, proto: Any, name: str) -> tuple[dtypes.DTypeInfo, tuple[int, ...]]:
        """Dtype and shape of an entry."""
        shape = tuple([dim.size for dim in proto.shape.dim])
        if proto.shape.unknown_rank or len(shape) > 64 or (shape and min(shape) < 0):
            raise DataLossError(
                f"{self.index_path} is damaged: tensor '{name}' has the shape {list(shape)}.", name=name
            )
        try:
            return dtypes.from_number(proto.dtype), shape
        except InvalidTypeError as error:
            raise UnimplementedError(
                f"{self.index_path}: tensor '{name}' has a dtype that is not known: {error}",
                name=name,
                dtype=proto.dtype,
            ) from error

    def _plain(self, proto: Any, name: str, label: str, part: Part | None) -> Entry:
        info, shape = self._described(proto, label)
        begin, end = proto.offset, proto.offset + proto.size
        where = f"{self._file_name(proto.shard_id)}, bytes {begin} to {end}"
        return Entry(
            name,
            info,
            shape,
            proto.size,
            where,
            lambda: self._read(proto, label, info, shape),
            part,
            lambda: self._stream(proto, label, info, shape),
        )

    def _read(
        self, proto: Any, label: str, info: dtypes.DTypeInfo, shape: tuple[int, ...]
    ) -> np.ndarray[Any, Any]:
        """The verified values of an entry that has bytes."""
        view, what = self._bytes(proto, label, info, shape)
        return decode_tensor(view, info, shape, proto.crc32c, what, self._big_endian and bool(view.size))

    def _stream(
        self, proto: Any, label: str, info: dtypes.DTypeInfo, shape: tuple[int, ...]
    ) -> Iterator[np.ndarray[Any, Any]]:
        """The values of such an entry in pieces, which are verified at the end."""
        if info.size is None:
            yield self._read(proto, label, info, shape)
            return
        view, what = self._bytes(proto, label, info, shape)
        yield from decode_pieces(view, info, proto.crc32c, what, self._big_endian)

    def _bytes(
        self, proto: Any, label: str, info: dtypes.DTypeInfo, shape: tuple[int, ...]
    ) -> tuple[np.ndarray[Any, Any], str]:
        """The bytes of such an entry, and what they are, for errors."""
        import numpy as np

        problem = size_problem(info, shape, proto.size)
        if problem is not None:
            raise DataLossError(
                f"{self.index_path} is damaged: Invalid size in bundle entry: key {label}; {problem} "
                f"({info.name} {list(shape)}).",
                name=label,
            )
        end = proto.offset + proto.size
        path = self.shard_path(proto.shard_id)
        what = f"Tensor '{label}' at bytes {proto.offset} to {end} of {path}"
        if not proto.size:  # no bytes can be missing, whatever became of the file
            return np.empty(0, np.uint8), what
        data = self._map(proto.shard_id, label)
        if proto.offset < 0 or proto.size < 0 or end > data.size:
            raise DataLossError(
                f"{path} is damaged: Read less bytes than requested: tensor '{label}' is at bytes "
                f"{proto.offset} to {end}, but the file has {data.size}."
                f"{_instead(data)}",
                name=label,
                path=path,
                offset=proto.offset,
                size=proto.size,
                file_size=data.size,
            )
        return np.frombuffer(data.view(proto.offset, proto.size), np.uint8), what

    def _map(self, shard: int, label: str) -> files.Content:
        if shard not in self._maps:
            path = self.shard_path(shard)
            if not 0 <= shard < self.num_shards:
                raise DataLossError(
                    f"{self.index_path} is damaged: tensor '{label}' is in data file {shard} of "
                    f"{self.num_shards}.",
                    name=label,
                )
            if not files.is_file(path):
                missing = [p for p in map(self.shard_path, range(self.num_shards)) if not files.is_file(p)]
                raise MissingPartError(
                    f"Tensor '{label}' of checkpoint {self.prefix} is in {path}, which does not exist."
                    f"{_answers(path)} Of {self.num_shards} data files these are missing:{bullets(missing)}",
                    path=path,
                    missing=missing,
                )
            self._maps[shard] = files.open_content(path)
        return self._maps[shard]

    def _pieces(self, proto: Any, name: str) -> list[tuple[Any, Part]]:
        """The entry and place of each part of a partitioned tensor."""
        shape = self._described(proto, name)[1]
        found = []
        for slice_proto in proto.slices:
            extents = tuple((e.start, e.length if e.HasField("length") else -1) for e in slice_proto.extent)
            key = encode_slice_key(name.encode("utf-8", "surrogateescape"), extents)
            value = self._parts.get(key)
            if len(extents) != len(shape) or value is None:
                raise DataLossError(
                    f"{self.index_path} is damaged: part {list(extents)} (start, length) of tensor "
                    f"'{name}' is listed but not there.",
                    name=name,
                )
            part = Part(shape, extents)
            piece = self._parse(value, part_name(name, part))
            sizes = tuple(dim.size for dim in piece.shape.dim)
            if not part.is_inside or sizes != part.shape or piece.dtype != proto.dtype:
                raise DataLossError(
                    f"{self.index_path} is damaged: part {list(extents)} (start, length) does not fit "
                    f"tensor '{name}' of shape {list(shape)}.",
                    name=name,
                )
            found.append((piece, part))
        return found

    def _assemble(self, name: str, wanted: Ranges | None) -> np.ndarray[Any, Any]:
        """The whole of a tensor, or the ranges wanted of it, out of the parts stored."""
        proto = self._parse(self._entries[name], name)
        info, shape = self._described(proto, name)
        if not proto.slices:
            whole = self[name].read()
            return whole if wanted is None else whole[tuple(slice(*pair) for pair in wanted)]
        pieces = [
            (part, self._plain(piece, name, part_name(name, part), part).read)
            for piece, part in self._pieces(proto, name)
        ]
        ranges = wanted if wanted is not None else tuple((0, size) for size in shape)
        return assemble(pieces, ranges, info, f"Tensor '{name}' of {self.prefix}")

    def _shards_of(self, pieces: list[tuple[Any, Part]]) -> str:
        return ", ".join(
            dict.fromkeys(os.path.basename(self.shard_path(piece.shard_id)) for piece, _ in pieces)
        )


def _answers(path: str) -> str:
    """A sentence that says what a server gives in place of a file, if anything."""
    answer = files.refusal(path)
    return f" The server answers {answer}." if answer else ""


def _instead(data: files.Content) -> str:
    """A sentence that says what a data file is that is too short, if that is known."""
    kind = sniff.describe(data.bytes(0, sniff.HEAD))
    return f" It is {kind}." if kind is not None else ""


def _matches(head: bytes, tail: bytes, path: str) -> bool:
    return tail.endswith(sniff.TABLE_MAGIC) and path.endswith(".index")


def _read(path: files.Path) -> Bundle:
    return open_bundle(os.fspath(path).removesuffix(".index"))


def _write(path: files.Path, entries: Iterable[Entry], meta_graph: bytes | None = None) -> None:
    write_bundle(path, entries)
    if meta_graph is not None:
        files.write_bytes(f"{os.fspath(path)}.meta", meta_graph)


FORMAT = Format(
    name="bundle",
    suffixes=(".index",),
    matches=_matches,
    kind="store",
    read=_read,
    write=_write,
)
