"""The bytes of one tensor in a checkpoint's data file, and their checksum.

    numbers   the elements, little-endian, in C order; bool, int4 and uint4 take a byte each
    strings   varint length*, fixed32 masked crc32c of the lengths, the strings one after another
    variants  (varint length, serialized VariantTensorDataProto, fixed32 masked crc32c so far)*

The checksum of the lengths runs over each as a little-endian uint32 (uint64 where it does not fit),
not over the varints; the checksum of a string tensor goes on from there over those 4 bytes and the
strings. That of variants runs over each length as a uint64, the message and the checksum stored behind
it. A big-endian machine writes numbers, the lengths in checksums, and the checksum between lengths and
strings in its own order; there TensorFlow refuses variants. Source: TensorFlow's `tensor_bundle.cc`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import protos
from .crc import crc32c, mask
from .dtypes import DTypeInfo
from .entry import PIECE
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
    if info.kind == "handle":
        data, crc = _encode_variants(array.reshape(-1).tolist())
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
        UnimplementedError: A resource, or variants of a big-endian machine.
    """
    if info.name == "resource" or (info.kind == "handle" and big_endian):
        order = " of a big-endian machine" if big_endian else ""
        raise UnimplementedError(
            f"{what} is of dtype {info.name}{order}; its values cannot be read.", dtype=info.name
        )
    elements: list[Any] = []
    if info.kind == "string":
        elements, computed = _decode_strings(data, math.prod(shape), what, ">" if big_endian else "<")
    elif info.kind == "handle":
        elements, computed = _decode_variants(data, math.prod(shape), what)
    else:
        computed = crc32c(data)
    _compare(mask(computed), crc, what)
    if info.kind in ("string", "handle"):
        return object_array(elements).reshape(shape)
    return array_of_bytes(data, info, shape, big_endian)


def decode_pieces(
    data: np.ndarray[Any, Any], info: DTypeInfo, crc: int, what: str, big_endian: bool = False
) -> Iterator[np.ndarray[Any, Any]]:
    """As `decode_tensor` of numbers, in flat pieces; the checksum is compared behind the last one."""
    assert info.size is not None
    step = PIECE // info.size * info.size
    computed = 0
    for start in range(0, data.size, step):
        piece = data[start : start + step]
        computed = crc32c(piece, computed)
        yield array_of_bytes(piece, info, (piece.size // info.size,), big_endian)
    _compare(mask(computed), crc, what)


def _compare(calculated: int, stored: int, what: str) -> None:
    if calculated != stored:
        raise DataLossError(
            f"{what} is damaged: Checksum does not match: stored {stored} vs. calculated on the restored "
            f"bytes {calculated}.",
            stored=stored,
            calculated=calculated,
        )


def array_of_bytes(
    data: Any, info: DTypeInfo, shape: tuple[int, ...], big_endian: bool = False
) -> np.ndarray[Any, Any]:
    """The array whose elements are `data` (a buffer of exactly their bytes); a view where it is aligned."""
    import numpy as np

    flat = np.frombuffer(data, np.uint8)
    if flat.ctypes.data % info.numpy.alignment:
        flat = flat.copy()
    array = flat.view(info.numpy)
    if big_endian == _little() and info.numpy.itemsize > 1:
        array = array.byteswap()
    return array.reshape(shape)


def size_problem(info: DTypeInfo, shape: tuple[int, ...], size: int) -> str | None:
    """What is wrong with `size` bytes for such a tensor, in Python integers, before anything is allocated."""
    count = math.prod(shape)
    if info.size is None:
        if info.kind == "string" and size < count + 4:
            return f"stored size {size}; expected at least {count + 4} for {count} strings"
        if info.name == "variant" and size < 5 * count:
            return f"stored size {size}; expected at least {5 * count} for {count} variants"
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


def _fixed_lengths(sizes: list[int], order: str = "<") -> bytes:
    if max(sizes, default=0) <= 0xFFFFFFFF:
        return struct.pack(f"{order}{len(sizes)}I", *sizes)
    return b"".join(struct.pack(f"{order}{'I' if size <= 0xFFFFFFFF else 'Q'}", size) for size in sizes)


def _length(data: bytes, at: int, what: str) -> tuple[int, int]:
    """A length as a varint, and where the next byte is."""
    size = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise DataLossError(
                f"{what} is damaged: the lengths of its elements do not end within {len(data)} bytes."
            )
        byte = data[at]
        at += 1
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return size, at


def _encode_variants(messages: list[Any]) -> tuple[bytes, int]:
    parts, crc = [], 0
    for message in messages:
        body = protos.encode(message)
        crc = crc32c(body, crc32c(struct.pack("<Q", len(body)), crc))
        stored = struct.pack("<I", mask(crc))
        crc = crc32c(stored, crc)
        parts += [encode_varint(len(body)), body, stored]
    return b"".join(parts), crc


def _decode_variants(array: np.ndarray[Any, Any], count: int, what: str) -> tuple[list[Any], int]:
    """The VariantTensorDataProto messages and the unmasked checksum of them all."""
    data = array.tobytes()
    messages, at, crc = [], 0, 0
    for number in range(count):
        size, at = _length(data, at, what)
        end = at + size
        if end + 4 > len(data):
            raise DataLossError(f"{what} is damaged: element {number} does not end within {len(data)} bytes.")
        body, stored = data[at:end], data[end : end + 4]
        crc = crc32c(body, crc32c(struct.pack("<Q", size), crc))
        if stored != struct.pack("<I", mask(crc)):
            raise DataLossError(f"{what} is damaged: element {number} does not match its checksum.")
        crc = crc32c(stored, crc)
        messages.append(protos.parse(protos.VariantTensorDataProto, body, f"{what}, element {number},"))
        at = end + 4
    if at != len(data):
        raise DataLossError(f"{what} is damaged: {len(data) - at} bytes follow its last element.")
    return messages, crc


def _decode_strings(
    array: np.ndarray[Any, Any], count: int, what: str, order: str
) -> tuple[list[bytes], int]:
    """The strings and the unmasked checksum of them all; `order` is the writer's, as `struct` has it."""
    data = array.tobytes()
    sizes, at = [], 0
    for _ in range(count):
        size, at = _length(data, at, what)
        sizes.append(size)
    start = at + 4
    if start + sum(sizes) != len(data):
        raise DataLossError(
            f"{what} is damaged: its strings take {sum(sizes)} bytes by their lengths, but "
            f"{len(data) - start} are there."
        )
    crc = crc32c(_fixed_lengths(sizes, order))
    (stored,) = struct.unpack_from(f"{order}I", data, at)
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


def check_writable(info: DTypeInfo, name: str, variants: bool = False) -> str | None:
    """Which tensor of a dtype cannot be stored, or None; `variants` says whether variants can."""
    storable = info.kind != "handle" or (variants and info.name == "variant")
    return None if storable else f"{name} ({info.name})"


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
