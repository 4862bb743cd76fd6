"""The HDF5 store: one dataset per variable, readable with h5py alone.

    /<name>:0                  the variable; `:0` keeps `w` and `w/Adam` apart, as in Keras's files
    /__sgtool__/entry_<n>      one whose name HDF5 cannot hold, with the attribute `sgtool_name`
    /__sgtool__/meta_graph     the serialized MetaGraphDef, as bytes (an attribute ends at 64 KB)

Attributes of a dataset: `sgtool_dtype` where HDF5 lacks the dtype (bfloat16 is stored as uint16,
float8, int4 and the quantized types as integers of their size), `sgtool_crc32c` the checksum that a
checkpoint would have. Strings are stored padded to the longest one's length, or, where that loses
something or wastes much, as bytes in a checkpoint's encoding with `sgtool_dtype` and `sgtool_shape`.
Nothing is stored in variable-length elements: the heap that holds those is the one part of HDF5
without checksums, and a damaged one can send the library into an endless loop. Other metadata has
checksums, since the file format is that of HDF5 1.8. Files of others are read too: the weights in
Keras's by their names (`keras_weights.py`), every other dataset by its path.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import dtypes, files, hdf5_heaps, hdf5_walk, keras_weights
from .crc import crc32c, mask
from .entry import Entry, pieces_of
from .errors import (
    DataLossError,
    InvalidTypeError,
    InvalidValueError,
    OpError,
    bullets,
    is_unreadable,
)
from .registry import Format
from .store import Store
from .tensor_bytes import (
    check_writable,
    decode_tensor,
    encode_tensor,
    flat_bytes,
    size_problem,
    values_of,
)
from .tensor_proto import as_bytes, object_array

if TYPE_CHECKING:
    import numpy as np

_GROUP = "__sgtool__"
_META_GRAPH = f"/{_GROUP}/meta_graph"
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_STORED_AS = {
    "bfloat16": "uint16",
    "float8_e5m2": "uint8",
    "float8_e4m3fn": "uint8",
    "int4": "int8",
    "uint4": "uint8",
}
_EXPANSION = 1100
"""Bytes that one stored byte can stand for: the best that deflate does is 1032."""


def open_hdf5(path: files.Path) -> Hdf5Store:
    """Opens an HDF5 file and lists its datasets.

    Raises:
        MissingFileError: No such file.
        DataLossError: Not HDF5, or damaged.
    """
    return Hdf5Store(files.location(path))


def open_damaged_hdf5(path: files.Path) -> Hdf5Store:
    """As `open_hdf5`, of a file of which parts are damaged: the rest, and in `damaged` what cannot be opened.

    Raises:
        DataLossError: Nothing can be opened.
    """
    return Hdf5Store(files.location(path), tolerant=True)


class Hdf5Store(Store):
    """The datasets of an HDF5 file by variable name, sorted.

    Attributes:
        path: The file.
        meta_graph: The serialized MetaGraphDef kept with them, or None.
        skipped: Datasets that are not tensors, and why.
        damaged: In a file opened as damaged: the error of each dataset or group that cannot be opened.
        missing: Weights that Keras lists in the file and that are not in it, and why.
        about: What Keras says of a file that it wrote (versions, `model_config`), JSON-ready.
        optimizer_weights: The names of the entries that Keras keeps apart, as its optimizer's.
    """

    def __init__(self, path: str, tolerant: bool = False) -> None:
        import h5py

        self.path = self.where = path
        self.skipped = {}
        self.damaged = {}
        self._tolerant = tolerant
        self.meta_graph: bytes | None = None
        if not files.is_remote(path):  # ours, not h5py's, error if it is not there or a pipe
            files.check_regular(path)
        with _h5_errors(path):
            # HDF5 opens a local file itself; of a remote one it reads what it needs through our reader.
            self._file = h5py.File(files.open_binary(path) if files.is_remote(path) else path, "r")
            if files.is_remote(path):
                # HDF5 must not come back to our reader while the interpreter is being taken down.
                weakref.finalize(self, self._file.close)
            try:
                datasets = self._datasets()
                if not files.is_remote(path):  # before attributes are read, which lie in these heaps
                    hdf5_heaps.check_heaps(path, hdf5_heaps.places_of_values(datasets))
                self._entries = dict(sorted(self._read_entries(datasets).items()))
                with self._tolerated(""):
                    for path, why in hdf5_walk.unfollowed_links(self._file).items():
                        self.skipped.setdefault(path.strip("/").removesuffix(":0"), why)
            except BaseException:
                self._file.close()  # HDF5 would go on taking the path for this file
                raise

    def _read_entries(self, datasets: list[Any]) -> dict[str, Entry]:
        named: dict[str, str] = {}
        self.about: dict[str, Any] = {}
        self.optimizer_weights: list[str] = []
        self.missing: dict[str, str] = {}
        with self._tolerated(""):
            named = keras_weights.weight_names(self._file)
            self.about = keras_weights.about(self._file)
            self.missing = keras_weights.missing_weights(self._file)
        entries: dict[str, Entry] = {}
        for dataset in datasets:
            entry = None
            with self._tolerated(dataset.name):
                if dataset.name == _META_GRAPH:
                    if _dtype_of(dataset, {})[0] is not None:
                        self.meta_graph = dataset[...].tobytes()
                    continue
                entry = self._entry(dataset, named.get(dataset.name))
            if entry is not None:
                if entry.name in entries:
                    raise DataLossError(
                        f"{self.path}: two datasets are called '{entry.name}'.", path=self.path
                    )
                entries[entry.name] = entry
                if keras_weights.is_optimizers(dataset.name):
                    self.optimizer_weights.append(entry.name)
        return entries

    def _datasets(self) -> list[Any]:
        import h5py

        found: list[Any] = []
        if self._tolerant:
            return hdf5_walk.datasets(self._file, self._tolerated)
        self._file.visititems(lambda _, node: found.append(node) if isinstance(node, h5py.Dataset) else None)
        return found

    @contextmanager
    def _tolerated(self, path: str) -> Iterator[None]:
        """Notes what is damaged at a path in the file where that is tolerated."""
        try:
            with _h5_errors(self.path, path):
                yield
        except OpError as error:
            if not self._tolerant or not (isinstance(error, DataLossError) or is_unreadable(error)):
                raise
            name = path.strip("/").removesuffix(":0")
            if name:
                self.damaged[name] = error

    def _entry(self, dataset: Any, weight: str | None) -> Entry | None:
        attributes = dataset.attrs
        path = dataset.name
        if "sgtool_name" in attributes:
            name = bytes(attributes["sgtool_name"]).decode("utf-8", "surrogateescape")
        else:
            name = weight or path.removeprefix("/").removesuffix(":0")
        info, why = _dtype_of(dataset, attributes)
        if info is None:
            self.skipped[name] = why
            return None
        crc = int(attributes["sgtool_crc32c"]) if "sgtool_crc32c" in attributes else None
        where = f"{os.path.basename(self.path)}, dataset {path}"
        shape = tuple(map(int, attributes["sgtool_shape"])) if "sgtool_shape" in attributes else dataset.shape
        return Entry(
            name,
            info,
            shape,
            dataset.nbytes,
            where,
            lambda: self._read(dataset, name, info, shape, crc),
            stream=lambda: self._pieces(dataset, name, info, shape, crc),
        )

    def _pieces(
        self, dataset: Any, name: str, info: dtypes.DTypeInfo, shape: tuple[int, ...], crc: int | None
    ) -> Iterator[np.ndarray[Any, Any]]:
        if info.kind == "string":
            yield self._read(dataset, name, info, shape, crc)
            return
        found = 0
        for index in pieces_of(dataset.shape, dataset.dtype.itemsize):
            with _h5_errors(self.path, name):
                piece = _as_values(dataset[index], info)
            if crc is not None:
                found = crc32c(flat_bytes(piece, info), found)
            yield piece
        if crc is not None and mask(found) != crc:
            raise self._wrong_checksum(name)

    def _read(
        self, dataset: Any, name: str, info: dtypes.DTypeInfo, shape: tuple[int, ...], crc: int | None
    ) -> np.ndarray[Any, Any]:
        import numpy as np

        what = f"'{name}' in {self.path}"
        with _h5_errors(self.path, name):
            raw = dataset[...]
        if info.kind == "string" and raw.dtype == np.uint8:
            problem = size_problem(info, shape, raw.size)
            if problem or crc is None:
                raise DataLossError(
                    f"{what} is damaged: {problem or 'no checksum'}.", path=self.path, name=name
                )
            return decode_tensor(raw, info, shape, crc, what)
        if info.kind == "string":
            flat = [one.encode() if isinstance(one, str) else bytes(one) for one in raw.reshape(-1).tolist()]
            array = object_array(flat)
        else:
            array = _as_values(raw, info)
        array = array.reshape(shape)
        if crc is not None and encode_tensor(array, info)[1] != crc:
            raise self._wrong_checksum(name)
        return array

    def _wrong_checksum(self, name: str) -> DataLossError:
        what = f"'{name}' in {self.path}"
        return DataLossError(
            f"{what} is damaged: the values do not match their checksum.", path=self.path, name=name
        )


def _as_values(raw: Any, info: dtypes.DTypeInfo) -> np.ndarray[Any, Any]:
    """What HDF5 stores, in the dtype that it stands for."""
    import numpy as np

    if info.name in _STORED_AS:
        return np.ascontiguousarray(raw, _STORED_AS[info.name]).view(info.numpy)
    values: np.ndarray[Any, Any] = np.asarray(raw).astype(info.numpy, copy=False)
    return values


def _dtype_of(dataset: Any, attributes: Any) -> tuple[dtypes.DTypeInfo | None, str]:
    """The dtype of a dataset, or None and why it is no tensor."""
    import h5py

    if dataset.shape is None:
        return None, "it has no values (a null dataspace)"
    if dataset.external or dataset.is_virtual:
        return None, "its values lie in other files, which are not read"
    kind = dataset.dtype.kind
    text = h5py.check_string_dtype(dataset.dtype) is not None
    if kind == "O" and not text:
        return None, "its elements are not numbers or strings"
    stored = dataset.id.get_storage_size()
    if dataset.nbytes > (1 << 20) + _EXPANSION * stored:
        return None, f"it claims {dataset.nbytes} bytes, of which the file has {stored}"
    try:
        if "sgtool_dtype" in attributes:
            return dtypes.from_name(bytes(attributes["sgtool_dtype"]).decode()), ""
        return dtypes.from_numpy(dataset.dtype), ""
    except InvalidTypeError as error:
        return None, str(error)


def write_hdf5(path: files.Path, entries: Iterable[Entry], meta_graph: bytes | None = None) -> None:
    """Writes entries to an HDF5 file, atomically; each is read once, when its turn comes.

    Args:
        path: The file.
        entries: What to write.
        meta_graph: A serialized MetaGraphDef to keep with them.

    Raises:
        InvalidTypeError: Entries whose values are objects; lists all of them.
        InvalidValueError: Two entries of one name.
        OpError: The file cannot be written, or an entry not read; the old file stays.
    """
    import h5py
    import numpy as np

    pending = list(entries)
    unwritable = [why for entry in pending if (why := check_writable(entry.dtype, entry.name))]
    if unwritable:
        raise InvalidTypeError(
            f"An HDF5 file cannot hold these tensors, whose values are objects:{bullets(unwritable)}",
            names=unwritable,
        )
    seen: set[str] = set()
    twice = sorted({entry.name for entry in pending if entry.name in seen or seen.add(entry.name)})  # type: ignore[func-returns-value]
    if twice:
        raise InvalidValueError(f"These names come twice:{bullets(twice)}", names=twice)
    with files.atomic_files() as replacement:
        temporary = replacement.reserve(path)
        with write_errors(os.fspath(path)), h5py.File(temporary, "w", libver=("v108", "v108")) as file:
            for number, entry in enumerate(pending):
                plain = _is_dataset_name(entry.name)
                dataset = _create(file, f"/{entry.name}:0" if plain else f"/{_GROUP}/entry_{number}", entry)
                if not plain:
                    dataset.attrs["sgtool_name"] = np.void(entry.name.encode("utf-8", "surrogateescape"))
            if meta_graph is not None:
                file.create_dataset(_META_GRAPH, data=np.frombuffer(meta_graph, np.uint8))


def _create(file: Any, path: str, entry: Entry) -> Any:
    import numpy as np

    values = values_of(entry)
    content, crc = encode_tensor(values, entry.dtype)
    if entry.dtype.kind == "string":
        strings = list(map(as_bytes, values.reshape(-1).tolist()))
        longest = max(map(len, strings), default=0) or 1
        if _can_be_padded(strings, longest):
            padded = np.array(strings, f"S{longest}").reshape(values.shape)
            dataset = file.create_dataset(path, data=padded)
        else:
            dataset = file.create_dataset(path, data=np.frombuffer(content, np.uint8))
            dataset.attrs["sgtool_dtype"] = np.bytes_(b"string")
            dataset.attrs["sgtool_shape"] = np.array(values.shape, np.int64)
    else:
        stored = np.dtype(_STORED_AS.get(entry.dtype.name, entry.dtype.numpy_name))
        array = content.view(stored.newbyteorder("<")).reshape(values.shape)
        dataset = file.create_dataset(path, data=array)
        if entry.dtype.name != entry.dtype.numpy_name:
            dataset.attrs["sgtool_dtype"] = np.bytes_(entry.dtype.name.encode())
    dataset.attrs["sgtool_crc32c"] = np.uint32(crc)
    return dataset


def _can_be_padded(strings: list[bytes], longest: int) -> bool:
    """Whether strings of one length lose nothing (NULs at the end are padding) and waste little."""
    exact = not any(one.endswith(b"\0") for one in strings)
    return exact and longest * len(strings) <= 4 * sum(map(len, strings)) + 4096


def _is_dataset_name(name: str) -> bool:
    """Whether `/name:0` is a path of HDF5 that no other variable's dataset can be an ancestor of."""
    if "\0" in name or not name.isprintable():
        return False
    *groups, _ = parts = name.split("/")
    return (
        parts[0] != _GROUP
        and all(part not in ("", ".", "..") for part in parts)
        and not any(group.endswith(":0") for group in groups)
    )


@contextmanager
def _h5_errors(path: str, name: str = "") -> Iterator[None]:
    """Turns what h5py raises on a damaged file into ours."""
    try:
        yield
    except OpError:
        raise
    # What h5py raises where HDF5 finds something wrong (OSError, RuntimeError, KeyError), where a name is no
    # text or a dtype cannot be (ValueError, TypeError), and what odd attributes give (TypeError).
    except (OSError, RuntimeError, KeyError, ValueError, TypeError) as error:
        with files.os_errors(path, "read"):
            files.raise_os_error_in(error, files.NOT_DAMAGE)
        where = f"'{name}' in {path}" if name else path
        raise DataLossError(f"{where} is damaged or not HDF5: {error}", path=path, name=name) from error


@contextmanager
def write_errors(path: str) -> Iterator[None]:
    """Turns what h5py raises while it writes into ours."""
    try:
        yield
    except OpError:
        raise
    except (OSError, RuntimeError, ValueError) as error:
        with files.os_errors(path, "write"):
            files.raise_os_error_in(error)
        raise InvalidValueError(f"{path} cannot be written as HDF5: {error}", path=path) from error


def _matches(head: bytes, tail: bytes, path: str) -> bool:
    return head.startswith(_SIGNATURE)


FORMAT = Format(
    name="hdf5",
    suffixes=(".h5", ".hdf5", ".keras.h5"),
    matches=_matches,
    kind="store",
    read=open_hdf5,
    write=write_hdf5,
    read_damaged=open_damaged_hdf5,
)
