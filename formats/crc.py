"""CRC-32C as checkpoints store it: masked, so that checksums of data that holds checksums stay good.

Source: the block format of LevelDB's tables, which TensorFlow's checkpoints and record files share.
"""

from __future__ import annotations

from typing import Any

_DELTA = 0xA282EAD8


def crc32c(data: Any, start: int = 0) -> int:
    """The CRC-32C of `data` (bytes or a C-contiguous array), continued from the unmasked crc `start`."""
    import google_crc32c

    crc: int = google_crc32c.extend(start, data)
    return crc


def mask(crc: int) -> int:
    """The stored form of a crc: rotated right by 15 bits, plus a constant."""
    return ((crc >> 15 | crc << 17) + _DELTA) & 0xFFFFFFFF


def unmask(masked: int) -> int:
    """The crc whose stored form is `masked`."""
    rotated = (masked - _DELTA) & 0xFFFFFFFF
    return (rotated >> 17 | rotated << 15) & 0xFFFFFFFF


def masked_crc32c(data: Any) -> int:
    """The stored checksum of `data`."""
    return mask(crc32c(data))
