"""The hash functions behind TensorFlow's string-to-bucket ops, on bytes, as 64-bit integers.

Sources: MurmurHash64A (Austin Appleby, public domain description) with TensorFlow's seed; FarmHash's
`Fingerprint64`, which is its `na` variant (Geoff Pike, Google, 2014); SipHash-2-4 (Aumasson and
Bernstein, "SipHash: a fast short-input PRF", 2012).
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import unpack_from

_M64 = (1 << 64) - 1


def murmur(data: bytes) -> int:
    """MurmurHash64A of `data` with the seed 0xDECAFCAFFE."""
    factor = 0xC6A4A7935BD1E995
    result = 0xDECAFCAFFE ^ (len(data) * factor & _M64)
    whole = len(data) & ~7
    for (word,) in (unpack_from("<Q", data, at) for at in range(0, whole, 8)):
        word = word * factor & _M64
        word = (word ^ word >> 47) * factor & _M64
        result = (result ^ word) * factor & _M64
    if len(data) > whole:
        result = (result ^ int.from_bytes(data[whole:], "little")) * factor & _M64
    result = (result ^ result >> 47) * factor & _M64
    return result ^ result >> 47


_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def _rotate(value: int, count: int) -> int:
    """`value` rotated right by `count` bits."""
    return (value >> count | value << (64 - count)) & _M64


def _mix(value: int) -> int:
    return value ^ value >> 47


def _pair(u: int, v: int, factor: int) -> int:
    a = _mix((u ^ v) * factor & _M64)
    return _mix((v ^ a) * factor & _M64) * factor & _M64


def _word(data: bytes, at: int) -> int:
    value: int = unpack_from("<Q", data, at)[0]
    return value


def farm_fingerprint(data: bytes) -> int:
    """FarmHash's Fingerprint64 of `data`."""
    size = len(data)
    if size <= 16:
        return _farm_short(data, size)
    factor = _K2 + size * 2
    if size <= 32:
        a, b = _word(data, 0) * _K1 & _M64, _word(data, 8)
        c, d = _word(data, size - 8) * factor & _M64, _word(data, size - 16) * _K2 & _M64
        first = _rotate(a + b & _M64, 43) + _rotate(c, 30) + d & _M64
        return _pair(first, a + _rotate(b + _K2 & _M64, 18) + c & _M64, factor)
    if size <= 64:
        return _farm_medium(data, size, factor)
    return _farm_long(data, size)


def _farm_short(data: bytes, size: int) -> int:
    if size >= 8:
        factor = _K2 + size * 2
        a, b = _word(data, 0) + _K2 & _M64, _word(data, size - 8)
        c = _rotate(b, 37) * factor + a & _M64
        d = (_rotate(a, 25) + b) * factor & _M64
        return _pair(c, d, factor)
    if size >= 4:
        factor = _K2 + size * 2
        head, tail = int.from_bytes(data[:4], "little"), int.from_bytes(data[-4:], "little")
        return _pair(size + (head << 3) & _M64, tail, factor)
    if size:
        y = data[0] + (data[size >> 1] << 8)
        z = size + (data[-1] << 2)
        return _mix(y * _K2 & _M64 ^ z * _K0 & _M64) * _K2 & _M64
    return _K2


def _farm_medium(data: bytes, size: int, factor: int) -> int:
    a, b = _word(data, 0) * _K2 & _M64, _word(data, 8)
    c, d = _word(data, size - 8) * factor & _M64, _word(data, size - 16) * _K2 & _M64
    y = _rotate(a + b & _M64, 43) + _rotate(c, 30) + d & _M64
    z = _pair(y, a + _rotate(b + _K2 & _M64, 18) + c & _M64, factor)
    e, f = _word(data, 16) * factor & _M64, _word(data, 24)
    g = (y + _word(data, size - 32)) * factor & _M64
    h = (z + _word(data, size - 24)) * factor & _M64
    return _pair(
        _rotate(e + f & _M64, 43) + _rotate(g, 30) + h & _M64,
        e + _rotate(f + a & _M64, 18) + g & _M64,
        factor,
    )


def _weak(data: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    w, x, y, z = unpack_from("<4Q", data, at)
    a = a + w & _M64
    b = _rotate(b + a + z & _M64, 21)
    c = a
    a = a + x + y & _M64
    return a + z & _M64, b + _rotate(a, 44) + c & _M64


def _farm_long(data: bytes, size: int) -> int:
    x, y, z = 81, 81 * _K1 + 113 & _M64, 0
    z = _mix(y * _K2 + 113 & _M64) * _K2 & _M64
    v, w = (0, 0), (0, 0)
    x = x * _K2 + _word(data, 0) & _M64
    end = (size - 1) // 64 * 64
    last = end + (size - 1 & 63) - 63
    for at in range(0, end, 64):
        x = _rotate(x + y + v[0] + _word(data, at + 8) & _M64, 37) * _K1 & _M64
        y = _rotate(y + v[1] + _word(data, at + 48) & _M64, 42) * _K1 & _M64
        x ^= w[1]
        y = y + v[0] + _word(data, at + 40) & _M64
        z = _rotate(z + w[0] & _M64, 33) * _K1 & _M64
        v = _weak(data, at, v[1] * _K1 & _M64, x + w[0] & _M64)
        w = _weak(data, at + 32, z + w[1] & _M64, y + _word(data, at + 16) & _M64)
        z, x = x, z
    factor = _K1 + ((z & 0xFF) << 1) & _M64
    w = (w[0] + (size - 1 & 63) & _M64, w[1])
    v = (v[0] + w[0] & _M64, v[1])
    w = (w[0] + v[0] & _M64, w[1])
    x = _rotate(x + y + v[0] + _word(data, last + 8) & _M64, 37) * factor & _M64
    y = _rotate(y + v[1] + _word(data, last + 48) & _M64, 42) * factor & _M64
    x ^= w[1] * 9 & _M64
    y = y + v[0] * 9 + _word(data, last + 40) & _M64
    z = _rotate(z + w[0] & _M64, 33) * factor & _M64
    v = _weak(data, last, v[1] * factor & _M64, x + w[0] & _M64)
    w = _weak(data, last + 32, z + w[1] & _M64, y + _word(data, last + 16) & _M64)
    z, x = x, z
    return _pair(
        _pair(v[0], w[0], factor) + _mix(y) * _K0 + z & _M64, _pair(v[1], w[1], factor) + x & _M64, factor
    )


def sip(data: bytes, key: Sequence[int]) -> int:
    """SipHash-2-4 of `data` under a key of two 64-bit numbers."""
    first, second = (int(part) & _M64 for part in key)
    state = [
        first ^ 0x736F6D6570736575,
        second ^ 0x646F72616E646F6D,
        first ^ 0x6C7967656E657261,
        second ^ 0x7465646279746573,
    ]
    whole = len(data) & ~7
    words = [_word(data, at) for at in range(0, whole, 8)]
    words.append(int.from_bytes(data[whole:], "little") | (len(data) & 0xFF) << 56)
    for word in words:
        state[3] ^= word
        _sip_round(state)
        _sip_round(state)
        state[0] ^= word
    state[2] ^= 0xFF
    for _ in range(4):
        _sip_round(state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _sip_round(state: list[int]) -> None:
    a, b, c, d = state
    a = a + b & _M64
    c = c + d & _M64
    b = _rotate(b, 51) ^ a
    d = _rotate(d, 48) ^ c
    a = _rotate(a, 32)
    c = c + b & _M64
    a = a + d & _M64
    b = _rotate(b, 47) ^ c
    d = _rotate(d, 43) ^ a
    state[:] = a, b, _rotate(c, 32), d


def fingerprint_cat(first: int, second: int) -> int:
    """The fingerprint of two, as TensorFlow's FingerprintCat64 puts them together."""
    factor = 0xC6A4A7935BD1E995
    result = first ^ factor ^ (_mix(second * factor & _M64) * factor & _M64)
    for _ in range(2):
        result = _mix(result * factor & _M64)
    return result
