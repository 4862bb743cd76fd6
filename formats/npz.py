"""The npz store: a zip archive with one .npy per variable, readable with `numpy.load`, never pickled.

    <name>.npy                 an entry of a dtype that NumPy has, in NumPy's own format
    <name>.raw                 one of another dtype (bfloat16, float8, int4, quantized, strings): its
                               bytes as a checkpoint's data file holds them
    __sgtool__/<n>.npy, .raw   one whose name a zip archive cannot hold
    __sgtool__/meta_graph.pb   the MetaGraphDef, if one is kept
    __sgtool__.json            {"entries": {member: {"name", "dtype", "shape", "crc32c"}}} for the three
                               kinds that need it; absent if there are none

Members are stored, not compressed; deflated ones are read. The checksums are the archive's CRC-32.
Source: NumPy's NEP 1, PKWARE's APPNOTE.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from . import dtypes, files, sniff
from .entry import PIECE, Entry
from .errors import (
    DataLossError,
    InvalidTypeError,
    InvalidValueError,
    OpError,
    UnimplementedError,
    bullets,
    is_unreadable,
)
from .npy import NpyHeader, read_npy_header
from .registry import Format
from .store import Store
from .tensor_bytes import check_writable, decode_tensor, encode_tensor, flat_bytes, size_problem, values_of

if TYPE_CHECKING:
    import numpy as np

_FOLDER = "__sgtool__/"
_MANIFEST = "__sgtool__.json"
_META_GRAPH = f"{_FOLDER}meta_graph.pb"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest that zip can say: equal content gives equal files


def open_npz(path: files.Path) -> NpzStore:
    """Opens an npz archive and reads its directory and headers.

    Raises:
        MissingFileError: No such file.
        DataLossError: Not a zip archive, or damaged.
    """
    return NpzStore(files.location(path))


class NpzStore(Store):
    """The arrays in an npz archive by name, sorted.

    Attributes:
        path: The file.
        meta_graph: The serialized MetaGraphDef kept with them, or None.
        skipped: Members that are not tensors, and why.
    """

    def __init__(self, path: str, lenient: bool = False) -> None:
        self.path = self.where = path
        self.skipped = {}
        self.damaged = {}
        self.meta_graph: bytes | None = None
        entries: dict[str, Entry] = {}
        with _zip_errors(path):
            self._stream = files.open_binary(path)
            self._zip = self._open_damaged() if lenient else zipfile.ZipFile(self._stream)
            if not lenient:
                self._check_count()
            manifest = self._read_manifest()
            for info in self._zip.infolist():
                if info.filename == _META_GRAPH:
                    self.meta_graph = self._read_graph(info, lenient)
                elif info.filename != _MANIFEST:
                    row = manifest.pop(info.filename, None)
                    entry = self._entry_or_damage(info, row) if lenient else self._entry(info, row)
                    if entry is not None:
                        if entry.name in entries:
                            raise DataLossError(
                                f"{path} is damaged: '{entry.name}' is in it twice.", path=path
                            )
                        entries[entry.name] = entry
        if manifest and not lenient:
            raise DataLossError(
                f"{path} is damaged: members that it lists are missing:{bullets(sorted(manifest))}"
            )
        for member, row in manifest.items():
            why = f"{path} is damaged: the member {member} is missing."
            self.damaged.setdefault(str(row["name"]), DataLossError(why, path=path, member=member))
        self._entries = dict(sorted(entries.items()))

    def _open_damaged(self) -> zipfile.ZipFile:
        """The archive, or where its directory is lost the members that are there whole."""
        try:
            return zipfile.ZipFile(self._stream)
        except zipfile.BadZipFile:
            from .zip_repair import open_without_directory
        archive, cut = open_without_directory(self._stream, files.file_size(self.path))
        for member in cut:
            why = f"{self.path} is damaged: the end of the member {member} is missing, and all after it."
            name = member.removesuffix(".npy")
            self.damaged[name] = DataLossError(why, path=self.path, member=member)
        return archive

    def _read_graph(self, info: zipfile.ZipInfo, lenient: bool) -> bytes | None:
        try:
            with _zip_errors(self.path, info.filename):
                return self._zip.read(info)
        except OpError as error:
            if not lenient or not (isinstance(error, DataLossError) or is_unreadable(error)):
                raise
            self.damaged[info.filename] = error
            return None

    def _entry_or_damage(self, info: zipfile.ZipInfo, row: dict[str, Any] | None) -> Entry | None:
        name = str(row["name"]) if row is not None else info.filename.removesuffix(".npy")
        try:
            with _zip_errors(self.path, info.filename):
                if row is None and (info.filename.startswith(_FOLDER) or info.filename.endswith(".raw")):
                    raise DataLossError(
                        f"{self.path} is damaged: {_MANIFEST}, which says what {info.filename} is, is lost.",
                        path=self.path,
                        member=info.filename,
                    )
                return self._entry(info, row)
        except OpError as error:
            if not isinstance(error, DataLossError) and not is_unreadable(error):
                raise
            self.damaged[name] = error
            return None

    def __del__(self) -> None:
        # zipfile leaves a stream that it was handed open; entries keep the store, so none needs it now.
        if hasattr(self, "_stream"):
            self._stream.close()

    def _check_count(self) -> None:
        """The end record says how many members there are, which zipfile does not compare."""
        end = files.read_range(self.path, files.file_size(self.path) - 22 - len(self._zip.comment), 12)
        count = int.from_bytes(end[10:12], "little")
        if count not in (0xFFFF, len(self._zip.infolist())):
            raise DataLossError(
                f"{self.path} is damaged: it says that it has {count} members, but lists "
                f"{len(self._zip.infolist())}.",
                path=self.path,
            )

    def _read_manifest(self) -> dict[str, dict[str, Any]]:
        if _MANIFEST not in self._zip.namelist():
            return {}
        manifest = json.loads(self._zip.read(_MANIFEST))["entries"]
        return {str(member): dict(row) for member, row in manifest.items()}

    def _entry(self, info: zipfile.ZipInfo, row: dict[str, Any] | None) -> Entry | None:
        if row is not None and info.filename.endswith(".raw"):
            dtype, shape = dtypes.from_name(row["dtype"]), tuple(map(int, row["shape"]))
            return self._raw_entry(info, str(row["name"]), dtype, shape, int(row["crc32c"]))
        name = str(row["name"]) if row is not None else info.filename.removesuffix(".npy")
        if not info.filename.endswith(".npy"):
            with self._zip.open(info):  # which compares the name with the one beside the data
                self.skipped[info.filename] = "it is no .npy member"
            return None
        header = self._header(info)
        if isinstance(header, str):
            self.skipped[name] = header
            return None
        dtype = dtypes.from_numpy(header.dtype)
        where = f"{os.path.basename(self.path)}, member {info.filename}"
        nbytes = info.file_size - header.start
        return Entry(
            name,
            dtype,
            header.shape,
            nbytes,
            where,
            lambda: self._read_npy(info, header),
            stream=lambda: self._npy_pieces(info, header),
        )

    def _header(self, info: zipfile.ZipInfo) -> NpyHeader | str:
        """The array header of a member, or why it cannot be read as a tensor."""
        with self._zip.open(info) as member:
            return read_npy_header(member, info.file_size, f"{self.path}, member {info.filename},")

    def _read_npy(self, info: zipfile.ZipInfo, header: NpyHeader) -> np.ndarray[Any, Any]:
        with _zip_errors(self.path, info.filename):
            data = self._zip.read(info)
        return header.array(memoryview(data)[header.start :])

    def _npy_pieces(self, info: zipfile.ZipInfo, header: NpyHeader) -> Iterator[np.ndarray[Any, Any]]:
        import numpy as np

        if header.fortran or header.dtype.kind in "SU" or info.file_size <= PIECE:
            yield self._read_npy(info, header)
            return
        with _zip_errors(self.path, info.filename), self._zip.open(info) as member:
            member.read(header.start)
            step = PIECE // header.dtype.itemsize * header.dtype.itemsize
            while data := member.read(step):
                if len(data) % header.dtype.itemsize:
                    raise EOFError("the last element is not whole")
                yield np.frombuffer(data, header.dtype).astype(header.dtype.newbyteorder("="), copy=False)

    def _raw_entry(
        self, info: zipfile.ZipInfo, name: str, dtype: dtypes.DTypeInfo, shape: tuple[int, ...], crc: int
    ) -> Entry:
        problem = size_problem(dtype, shape, info.file_size) or (
            "" if min(shape, default=0) >= 0 else "negative"
        )
        if problem:
            raise DataLossError(
                f"{self.path} is damaged: {problem} for '{name}', {dtype.name} {list(shape)}.",
                member=info.filename,
            )

        def read() -> np.ndarray[Any, Any]:
            import numpy as np

            with _zip_errors(self.path, info.filename):
                data = self._zip.read(info)
            return decode_tensor(np.frombuffer(data, np.uint8), dtype, shape, crc, f"'{name}' in {self.path}")

        where = f"{os.path.basename(self.path)}, member {info.filename}"
        return Entry(name, dtype, shape, info.file_size, where, read)


def write_npz(path: files.Path, entries: Iterable[Entry], meta_graph: bytes | None = None) -> None:
    """Writes entries to an npz archive, atomically; each is read once, when its turn comes.

    Args:
        path: The file.
        entries: What to write.
        meta_graph: A serialized MetaGraphDef to keep with them.

    Raises:
        InvalidTypeError: Entries whose values are objects; lists all of them.
        InvalidValueError: Two entries of one name.
        OpError: The file cannot be written, or an entry not read; the old file stays.
    """
    pending = list(entries)
    _check(pending)
    manifest: dict[str, Any] = {}
    with files.atomic_writer(path) as file, zipfile.ZipFile(file, "w") as archive:
        for number, entry in enumerate(pending):
            native = _is_native(entry.dtype)
            stem = entry.name if _is_member_name(entry.name) else f"{_FOLDER}{number}"
            member = f"{stem}{'.npy' if native else '.raw'}"
            values = values_of(entry)
            if native:
                _write_npy(archive, member, values, entry.dtype)
                crc = None
            else:
                content, crc = encode_tensor(values, entry.dtype)
                with _open_member(archive, member) as out:
                    out.write(content)
            if stem != entry.name or not native:
                row = {
                    "name": entry.name,
                    "dtype": entry.dtype.name,
                    "shape": list(entry.shape),
                    "crc32c": crc,
                }
                manifest[member] = row
        if meta_graph is not None:
            with _open_member(archive, _META_GRAPH) as out:
                out.write(meta_graph)
        if manifest:
            with _open_member(archive, _MANIFEST) as out:
                out.write(json.dumps({"entries": manifest}, indent=1).encode())


def _check(entries: list[Entry]) -> None:
    unwritable = [why for entry in entries if (why := check_writable(entry.dtype, entry.name))]
    if unwritable:
        raise InvalidTypeError(
            f"An npz file cannot hold these tensors, whose values are objects:{bullets(unwritable)}",
            names=unwritable,
        )
    names = [entry.name for entry in entries]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InvalidValueError(f"These names come twice:{bullets(twice)}", names=twice)


def _write_npy(
    archive: zipfile.ZipFile, member: str, values: np.ndarray[Any, Any], dtype: dtypes.DTypeInfo
) -> None:
    import numpy as np

    little = dtype.numpy.newbyteorder("<")
    header = {"descr": np.lib.format.dtype_to_descr(little), "fortran_order": False, "shape": values.shape}
    with _open_member(archive, member) as out:
        np.lib.format.write_array_header_1_0(out, header)
        out.write(flat_bytes(values, dtype).data)


def _open_member(archive: zipfile.ZipFile, member: str) -> IO[bytes]:
    info = zipfile.ZipInfo(member, _EPOCH)
    info.external_attr = 0o644 << 16
    return archive.open(info, "w", force_zip64=True)


def _is_native(dtype: dtypes.DTypeInfo) -> bool:
    """Whether NumPy alone has this dtype."""
    return dtype.name == dtype.numpy_name


def _is_member_name(name: str) -> bool:
    """Whether a zip member can be called so and `numpy.load` gives the same name back."""
    plain = name.isprintable() and name.isascii() and "\\" not in name and not name.endswith(".npy")
    return (
        plain
        and all(part not in ("", ".", "..") for part in name.split("/"))
        and not name.startswith("__sgtool__")
    )


@contextmanager
def _zip_errors(path: str, member: str = "") -> Iterator[None]:
    """Turns what zipfile, zlib, json and NumPy raise on a damaged archive into ours."""
    where = f"{path}, member {member}," if member else path
    try:
        yield
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OverflowError,
        ValueError,
        KeyError,
        TypeError,
        OSError,
    ) as error:
        if isinstance(error, OpError):
            raise
        with files.os_errors(path, "read"):
            files.raise_os_error_in(error, files.NOT_DAMAGE)
        raise DataLossError(
            f"{where} is damaged or not an npz file: {error}", path=path, member=member
        ) from error
    except (NotImplementedError, RuntimeError) as error:  # another compression, or encrypted
        raise UnimplementedError(f"{where} cannot be read: {error}", path=path, member=member) from error


def _matches(head: bytes, tail: bytes, path: str) -> bool:
    if not head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return False
    return b".npy" in head + tail or (path.endswith(".npz") and sniff.archive_kind(head + tail) is None)


FORMAT = Format(
    name="npz",
    suffixes=(".npz",),
    matches=_matches,
    kind="store",
    read=open_npz,
    write=write_npz,
    read_damaged=lambda path: NpzStore(files.location(path), lenient=True),
)
