"""PNG images to arrays and back, with the conversions that TensorFlow has libpng do.

    89 'PNG' 0D 0A 1A 0A
    chunks: length (4, big-endian) | name (4) | data | CRC-32 of name and data (4)
        IHDR  width (4), height (4), bit depth, colour type, 0, 0, interlace
        PLTE  palette, 3 bytes a colour        tRNS  alpha of the palette, or the transparent colour
        IDAT  parts of one zlib stream: rows of a filter byte and the filtered bytes
        IEND

Source: W3C Recommendation "Portable Network Graphics (PNG) Specification (Second Edition)", 2003.
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

import numpy as np

from ...formats.errors import InvalidArgumentError
from .arrays import Array

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GRAY, _PALETTE = 0, 3
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type
_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
# Adam7: first column and row of each pass, and the steps.
_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
# Red, green and blue in gray, in parts of 2 ** 15, as libpng rounds 0.299 and 0.587.
_LUMINANCE = (9797, 19234, 3737)
_LARGEST = 1 << 29


class _Header(NamedTuple):
    width: int
    height: int
    depth: int
    color: int
    interlaced: bool


def decode_png(data: bytes, channels: int, dtype: np.dtype[np.generic]) -> Array:
    """The pixels of a PNG file.

    Args:
        data: The file.
        channels: 1, 3 or 4; 0: as many as the file has.
        dtype: uint8 or uint16; the other depth is converted by repeating or dropping the low byte.

    Returns:
        (height, width, channels).

    Raises:
        InvalidArgumentError: The file is damaged.
    """
    header, chunks = _read_header(data)
    if header.width >= 1 << 27 or header.height >= 1 << 27 or header.width * header.height >= _LARGEST:
        raise InvalidArgumentError(f"PNG size too large for int: {header.width} by {header.height}")
    try:
        samples = _read_samples(header, b"".join(part for name, part in chunks if name == b"IDAT"))
    except (zlib.error, ValueError) as error:
        raise InvalidArgumentError(f"Invalid PNG data, size {len(data)}: {error}", size=len(data)) from error
    extra = {name: part for name, part in chunks if name in (b"PLTE", b"tRNS")}
    pixels = _convert(header, samples, extra.get(b"PLTE", b""), extra.get(b"tRNS"), channels, len(data))
    if dtype == np.uint16:
        return pixels if pixels.dtype == np.uint16 else pixels.astype(np.uint16) * np.uint16(257)
    return pixels if pixels.dtype == np.uint8 else (pixels >> np.uint16(8)).astype(np.uint8)


def _read_header(data: bytes) -> tuple[_Header, list[tuple[bytes, bytes]]]:
    """The header, and all chunks up to where the file ends or is damaged."""
    chunks, position = [], len(SIGNATURE)
    while position + 12 <= len(data):
        length, name = struct.unpack_from(">I4s", data, position)
        part = data[position + 8 : position + 8 + length]
        end = data[position + 8 + length : position + 12 + length]
        if len(end) < 4 or struct.unpack(">I", end)[0] != zlib.crc32(name + part):
            break
        chunks.append((name, part))
        position += 12 + length
        if name == b"IEND":
            break
    problem = InvalidArgumentError(f"Invalid PNG header, data size {len(data)}", size=len(data))
    if not data.startswith(SIGNATURE) or not chunks or chunks[0][0] != b"IHDR" or len(chunks[0][1]) != 13:
        raise problem
    width, height, depth, color, compression, filtering, interlace = struct.unpack(">IIBBBBB", chunks[0][1])
    if not width or not height or depth not in _DEPTHS.get(color, ()) or compression or filtering:
        raise problem
    if interlace > 1 or (color == _PALETTE and not any(name == b"PLTE" for name, _ in chunks)):
        raise problem
    return _Header(width, height, depth, color, bool(interlace)), chunks


def _read_samples(header: _Header, compressed: bytes) -> Array:
    """The file's own samples, (height, width, channels of the file)."""
    count = _CHANNELS[header.color]
    bits = header.depth * count
    passes = _PASSES if header.interlaced else ((0, 0, 1, 1),)
    sizes = []
    for x, y, step_x, step_y in passes:
        width, height = -(-(header.width - x) // step_x), -(-(header.height - y) // step_y)
        sizes.append((max(width, 0), max(height, 0)))
    needed = sum(height * (1 + -(-width * bits // 8)) for width, height in sizes if width)
    raw = np.frombuffer(zlib.decompressobj().decompress(compressed, needed), np.uint8)
    if raw.size < needed:
        raise ValueError(f"there are {raw.size} bytes of pixels instead of {needed}")
    out = np.empty((header.height, header.width, count), np.uint16 if header.depth == 16 else np.uint8)
    start = 0
    for (x, y, step_x, step_y), (width, height) in zip(passes, sizes):
        if not width or not height:
            continue
        stride = -(-width * bits // 8)
        rows = raw[start : start + height * (stride + 1)].reshape(height, stride + 1)
        start += rows.size
        plain = _unfilter(rows[:, 0], rows[:, 1:], max(bits // 8, 1))
        out[y::step_y, x::step_x] = _unpack(plain, width, count, header.depth)
    return out


def _unpack(rows: Array, width: int, count: int, depth: int) -> Array:
    if depth == 16:
        return rows.view(">u2").astype(np.uint16).reshape(len(rows), width, count)
    if depth == 8:
        return rows.reshape(len(rows), width, count)
    parts = np.unpackbits(rows, axis=1).reshape(len(rows), -1, depth)
    values = parts @ (1 << np.arange(depth - 1, -1, -1, dtype=np.uint8))
    return values[:, :width, None].astype(np.uint8)


def _unfilter(filters: Array, rows: Array, pixel: int) -> Array:
    """The bytes of rows before filtering; `pixel` is how far back the previous pixel is.

    Raises:
        ValueError: There is no such filter.
    """
    if filters.max(initial=0) > 4:
        raise ValueError(f"there is no row filter {filters.max()}")
    if filters.max(initial=0) <= 1:
        parts = rows.reshape(len(rows), -1, pixel)
        summed = np.cumsum(parts, axis=1, dtype=np.uint8)
        return np.where((filters == 1)[:, None, None], summed, parts).reshape(rows.shape)
    # A byte depends on those before and above it: all along one diagonal are done at once. With one
    # more row and column in front, going one down and one back is always `width` steps ahead.
    height, width = len(rows), rows.shape[1] // pixel
    padded = np.zeros((height + 1, width + 1, pixel), np.uint8)
    padded[1:, 1:] = rows.reshape(height, width, pixel)
    flat = padded.reshape(-1, pixel)
    kinds = np.concatenate([[0], filters])[:, None]
    for diagonal in range(2, height + width + 1):
        first, last = max(1, diagonal - width), min(height, diagonal - 1)
        start = first * (width + 1) + diagonal - first
        count = last - first + 1

        here, left, above, corner = (
            flat[start - step : start - step + (count - 1) * width + 1 : width]
            for step in (0, 1, width + 1, width + 2)
        )
        kind = kinds[first : last + 1]
        a, b, c = (item.astype(np.int16) for item in (left, above, corner))
        by_left, by_above = np.abs(b - c), np.abs(a - c)
        by_corner = np.abs(a + b - 2 * c)
        nearest = np.where(
            (by_left <= by_above) & (by_left <= by_corner), a, np.where(by_above <= by_corner, b, c)
        )
        guess = np.choose(kind, [np.int16(0), a, b, (a + b) >> 1, nearest])
        here += guess.astype(np.uint8)
    return padded[1:, 1:].reshape(rows.shape)


def _convert(
    header: _Header, samples: Array, palette: bytes, transparent: bytes | None, channels: int, size: int
) -> Array:
    """Samples as gray, gray and alpha, RGB or RGBA of 8 or 16 bits."""
    is_palette = header.color == _PALETTE
    if channels == 0:
        channels = _CHANNELS[header.color]
        if is_palette:
            channels = 3 if transparent is None else 4
    alpha = None
    # A made-up alpha is the largest sample of the file, also where these have fewer than 8 bits.
    opaque = samples.dtype.type((1 << header.depth) - 1)
    color = samples
    if header.color in (4, 6):
        color, alpha = samples[..., :-1], samples[..., -1]
    elif is_palette:
        table = np.frombuffer(palette[: len(palette) // 3 * 3], np.uint8).reshape(-1, 3)
        if samples.max() >= len(table):
            raise InvalidArgumentError(
                f"Invalid PNG data, size {size}: a pixel is of no colour in the palette"
            )
        color = table[samples[..., 0]]
        if transparent is not None:
            given = np.frombuffer(transparent, np.uint8)[: len(table)]
            alpha = np.concatenate([given, np.full(len(table) - len(given), 255, np.uint8)])[samples[..., 0]]
    elif transparent is not None and len(transparent) >= 2 * samples.shape[2]:
        hidden = np.frombuffer(transparent[: 2 * samples.shape[2]], ">u2").astype(samples.dtype)
        alpha = np.where((samples == hidden).all(-1), 0, np.iinfo(samples.dtype).max).astype(samples.dtype)
    if header.color == _GRAY and header.depth < 8:
        color = color * np.uint8(255 // ((1 << header.depth) - 1))
    if channels < 3 and color.shape[2] == 3:
        color = _to_gray(color)
    elif channels >= 3 and color.shape[2] == 1:
        color = np.repeat(color, 3, axis=2)
    if channels % 2:
        return np.ascontiguousarray(color)
    if alpha is None:
        alpha = np.full(color.shape[:2], opaque, color.dtype)
    return np.concatenate([color, alpha[..., None]], axis=2)


def _to_gray(color: Array) -> Array:
    total = color.astype(np.uint64) @ np.array(_LUMINANCE, np.uint64)
    if color.dtype == np.uint16:
        total += np.uint64(1 << 14)
    same = (color[..., 0] == color[..., 1]) & (color[..., 0] == color[..., 2])
    gray = np.where(same, color[..., 0], total >> np.uint64(15))
    return np.asarray(gray.astype(color.dtype)[..., None])


def encode_png(image: Array, compression: int = -1) -> bytes:
    """A PNG file of an image.

    Args:
        image: uint8 or uint16, (height, width, channels), 1 to 4 channels.
        compression: zlib's level, 0 to 9, or -1 for its default.

    Returns:
        The file. Each row has the filter after which its bytes are the smallest.
    """
    height, width, channels = image.shape
    depth = 8 * image.dtype.itemsize
    color = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    pixel = channels * image.dtype.itemsize
    rows = np.ascontiguousarray(image.astype(image.dtype.newbyteorder(">"))).view(np.uint8)
    rows = rows.reshape(height, width, pixel).astype(np.int16)
    padded = np.pad(rows, [(1, 0), (1, 0), (0, 0)])
    left, above, corner = padded[1:, :-1], padded[:-1, 1:], padded[:-1, :-1]
    by_left, by_above = np.abs(above - corner), np.abs(left - corner)
    by_corner = np.abs(left + above - 2 * corner)
    paeth = np.where(
        (by_left <= by_above) & (by_left <= by_corner), left, np.where(by_above <= by_corner, above, corner)
    )
    guesses = (np.zeros_like(rows), left, above, (left + above) >> 1, paeth)
    tried = np.stack([(rows - guess).astype(np.uint8).reshape(height, -1) for guess in guesses])
    costs = np.abs(tried.view(np.int8).astype(np.int16)).sum(2, dtype=np.int64)
    best = costs.argmin(0)
    chosen = tried[best, np.arange(height)]
    stream = np.concatenate([best[:, None].astype(np.uint8), chosen], axis=1).tobytes()

    def chunk(name: bytes, part: bytes) -> bytes:
        return struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part))

    return b"".join(
        (
            SIGNATURE,
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)),
            chunk(b"IDAT", zlib.compress(stream, compression)),
            chunk(b"IEND", b""),
        )
    )
