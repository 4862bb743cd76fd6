"""The bytes of one tensor in a checkpoint's data file, and their checksum.

    numbers   the elements, little-endian, in C order; bool, int4 and uint4 take a byte each
    strings   varint length*, fixed32 masked crc32c of the lengths, the strings one after another

The checksum of the lengths runs over each as a little-endian uint32 (uint64 where it does not fit),
not over the varints; the checksum of a string tensor goes on from there over those 4 bytes and the
strings. Source: TensorFlow's `tensor_bundle.cc`.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any

from .crc import crc32c, mask
from .dtypes import DTypeInfo
from .errors import DataLossError, InvalidValueError, UnimplementedError
from .table import encode_varint
from .tensor_proto import as_bytes, object_array

if TYPE_CHECKING:
    import numpy as np


def encode_tensor(array: np.ndarray[Any, Any], info: DTypeInfo) -> tuple[Any, int]:
    """The bytes of an array (bytes, or a flat uint8 view without a copy) and their masked checksum."""
    if info.kind == "string":
        data, crc = _encode_strings(list(map(as_bytes, array.reshape(-1).tolist())))
        return data, mask(crc)
    flat = flat_bytes(array, info)
    return flat, mask(crc32c(flat))


def flat_bytes(array: np.ndarray[Any, Any], info: DTypeInfo) -> np.ndarray[Any, Any]:
    """The elements as a flat uint8 array, little-endian; a view where the array is laid out so."""
    import numpy as np

    native = np.ascontiguousarray(array, dtype=info.numpy)
    if not _little() and info.numpy.itemsize > 1:
        native = native.byteswap()
    return native.reshape(-1).view(np.uint8)


def decode_tensor(
    data: np.ndarray[Any, Any],
    info: DTypeInfo,
    shape: tuple[int, ...],
    crc: int,
    what: str,
    big_endian: bool = False,
) -> np.ndarray[Any, Any]:
    """The array that a flat uint8 array (a view of a mapped file) holds, its checksum verified.

    Args:
        data: The bytes.
        info: The dtype.
        shape: The shape; `size_problem` must have found nothing.
        crc: The masked checksum stored.
        what: Tensor and place, for errors.
        big_endian: Whether the elements were written on a big-endian machine.

    Returns:
        A read-only view of `data`, or a copy where the elements are not aligned.

    Raises:
        DataLossError: Wrong checksum, or garbled strings.
        UnimplementedError: A dtype whose elements are objects of TensorFlow's.
    """
    if info.kind == "handle":
        raise UnimplementedError(
            f"{what} is of dtype {info.name}; its values cannot be read.", dtype=info.name
        )
    if info.kind == "string":
        strings, computed = _decode_strings(data, math.prod(shape), what)
    else:
        computed = crc32c(data)
    if mask(computed) != crc:
        raise DataLossError(
            f"{what} is damaged: Checksum does not match: stored {crc} vs. calculated on the restored bytes "
            f"{mask(computed)}.",
            stored=crc,
            calculated=mask(computed),
        )
    if info.kind == "string":
        return object_array(strings).reshape(shape)
    if data.ctypes.data % info.numpy.alignment:
        data = data.copy()
    array = data.view(info.numpy)
    if big_endian == _little() and info.numpy.itemsize > 1:
        array = array.byteswap()
    return array.reshape(shape)


def size_problem(info: DTypeInfo, shape: tuple[int, ...], size: int) -> str | None:
    """What is wrong with `size` bytes for such a tensor, in Python integers, before anything is allocated."""
    count = math.prod(shape)
    if info.size is None:
        if info.kind == "string" and size < count + 4:
            return f"stored size {size}; expected at least {count + 4} for {count} strings"
        return None
    expected = count * info.size
    return None if size == expected else f"stored size {size}; expected size {expected}"


def _encode_strings(strings: list[bytes]) -> tuple[bytes, int]:
    sizes = list(map(len, strings))
    crc = crc32c(_fixed_lengths(sizes))
    stored = struct.pack("<I", mask(crc))
    body = b"".join(strings)
    data = b"".join((*map(encode_varint, sizes), stored, body))
    return data, crc32c(body, crc32c(stored, crc))


def _fixed_lengths(sizes: list[int]) -> bytes:
    if max(sizes, default=0) <= 0xFFFFFFFF:
        return struct.pack(f"<{len(sizes)}I", *sizes)
    return b"".join(struct.pack("<I" if size <= 0xFFFFFFFF else "<Q", size) for size in sizes)


def _decode_strings(array: np.ndarray[Any, Any], count: int, what: str) -> tuple[list[bytes], int]:
    """The strings and the unmasked checksum of them all."""
    data = array.tobytes()
    sizes, at = [], 0
    for _ in range(count):
        size = shift = 0
        while True:
            if at >= len(data) or shift > 63:
                raise DataLossError(
                    f"{what} is damaged: the lengths of its strings do not end within {len(data)} bytes."
                )
            byte = data[at]
            at += 1
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        sizes.append(size)
    start = at + 4
    if start + sum(sizes) != len(data):
        raise DataLossError(
            f"{what} is damaged: its strings take {sum(sizes)} bytes by their lengths, but "
            f"{len(data) - start} are there."
        )
    crc = crc32c(_fixed_lengths(sizes))
    (stored,) = struct.unpack_from("<I", data, at)
    if stored != mask(crc):
        raise DataLossError(
            f"{what} is damaged: the lengths of its strings do not match their checksum "
            f"(stored {stored}, calculated {mask(crc)}).",
            stored=stored,
            calculated=mask(crc),
        )
    crc = crc32c(data[at:], crc)
    strings, at = [], start
    for size in sizes:
        strings.append(data[at : at + size])
        at += size
    return strings, crc


def check_writable(info: DTypeInfo, name: str) -> str | None:
    """Why a tensor of this dtype cannot be stored, or None."""
    return f"{name} ({info.name})" if info.kind == "handle" else None


def values_of(entry: Any) -> np.ndarray[Any, Any]:
    """The values of an entry to write, which must have the shape it declares.

    Raises:
        InvalidValueError: They do not.
    """
    import numpy as np

    values = np.asarray(entry.read())
    if values.shape != entry.shape:
        raise InvalidValueError(
            f"Entry '{entry.name}' declares shape {list(entry.shape)} but its values have shape "
            f"{list(values.shape)}.",
            name=entry.name,
        )
    return values


def _little() -> bool:
    import sys

    return sys.byteorder == "little"
