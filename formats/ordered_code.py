r"""Keys of tensor slices: an encoding whose bytewise order is the order of the values.

    slice key   number 0, string name, number rank, per dimension signed start, signed length
    number      1 byte with the length, then as many bytes, big-endian, without leading zeros
    string      \x00 as \x00\xff and \xff as \xff\x00, ended by \x00\x01
    signed      n bytes for [-2^(7n-1), 2^(7n-1)): two's complement, big-endian, with the first n
                bits flipped from the sign: 1...10 before a positive number, 0...01 before a negative

Source: TensorFlow's `ordered_code` and `EncodeTensorNameSlice`.
"""

from __future__ import annotations

from collections.abc import Iterable

from .errors import DataLossError

_ESCAPES = {0x00: b"\0\xff", 0xFF: b"\xff\0"}


def encode_slice_key(name: bytes, extents: Iterable[tuple[int, int]]) -> bytes:
    """The key of one slice; `extents` are (start, length) per dimension, length -1 for all of it."""
    pairs = list(extents)
    numbers = b"".join(encode_signed(number) for pair in pairs for number in pair)
    return encode_number(0) + encode_string(name) + encode_number(len(pairs)) + numbers


def decode_slice_key(key: bytes) -> tuple[bytes, tuple[tuple[int, int], ...]]:
    """The inverse of `encode_slice_key`.

    Raises:
        DataLossError: Not such a key.
    """
    try:
        zero, at = _decode_number(key, 0)
        name, at = _decode_string(key, at)
        rank, at = _decode_number(key, at)
        numbers = []
        while at < len(key):
            number, at = _decode_signed(key, at)
            numbers.append(number)
        extents = tuple(zip(numbers[::2], numbers[1::2], strict=True))
        if zero == 0 and rank == len(extents):
            return name, extents
    except (IndexError, ValueError):
        pass
    raise DataLossError(f"{key!r} is not the key of a tensor slice.", key=key.hex())


def encode_number(value: int) -> bytes:
    """A non-negative number below 2^64."""
    length = (value.bit_length() + 7) // 8
    return bytes((length,)) + value.to_bytes(length, "big")


def encode_string(value: bytes) -> bytes:
    """A byte string."""
    return b"".join(_ESCAPES.get(byte, bytes((byte,))) for byte in value) + b"\0\x01"


def encode_signed(value: int) -> bytes:
    """A number in [-2^63, 2^63)."""
    magnitude = ~value if value < 0 else value
    length = magnitude.bit_length() // 7 + 1
    # The sign bit is n bits long here, all of them flipped: that is xor with n ones at the front.
    ones = ((1 << length) - 1) << 7 * length
    return ((value & ((1 << 8 * length) - 1)) ^ ones).to_bytes(length, "big")


def _decode_number(data: bytes, at: int) -> tuple[int, int]:
    length = data[at]
    end = at + 1 + length
    if length > 8 or end > len(data):
        raise ValueError("a number that is too long")
    return int.from_bytes(data[at + 1 : end], "big"), end


def _decode_string(data: bytes, at: int) -> tuple[bytes, int]:
    out = bytearray()
    while True:
        byte = data[at]
        if byte in (0, 0xFF):
            follower = data[at + 1]
            if byte == 0 and follower == 1:
                return bytes(out), at + 2
            if follower != 0xFF - byte:
                raise ValueError("an escape that does not exist")
            at += 1
        out.append(byte)
        at += 1


def _decode_signed(data: bytes, at: int) -> tuple[int, int]:
    positive = data[at] & 0x80
    length = 0
    while length < 10 and bool(data[at + length // 8] & 0x80 >> length % 8) == bool(positive):
        length += 1
    end = at + length
    if end > len(data):
        raise ValueError("a number that is cut short")
    ones = ((1 << length) - 1) << 7 * length
    return int.from_bytes(
        (int.from_bytes(data[at:end], "big") ^ ones).to_bytes(length, "big"), "big", signed=True
    ), end
