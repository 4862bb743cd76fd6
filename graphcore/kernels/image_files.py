"""JPEG, GIF and BMP files to arrays and back. JPEG and GIF need Pillow, the extra `image`.

TensorFlow's libjpeg computes by default with a fast, rough cosine transform (JDCT_IFAST), Pillow's with the
accurate one: pixels differ by up to 9 steps of 255, by 1 in the mean. With dct_method="INTEGER_ACCURATE" they
are the same; but not at the left edge of a crop where colours have half the resolution (a few steps), nor in
the row of blocks in which a recovered file ends.

Source: tensorflow/core/lib/jpeg/jpeg_mem.cc, lib/gif/gif_io.cc, kernels/decode_bmp_op.cc (r1.15).
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...formats.errors import InvalidArgumentError, MissingExtraError, UnimplementedError
from .arrays import Array
from .png import SIGNATURE

_END_OF_IMAGE = b"\xff\xd9"


def file_format(data: bytes) -> str:
    """JPEG, PNG, GIF or BMP by a file's first bytes; else what it is, for an error's text."""
    for name, start in (("JPEG", b"\xff\xd8\xff"), ("PNG", SIGNATURE), ("GIF", b"GIF8"), ("BMP", b"BM")):
        if data.startswith(start):
            return name
    if not data:
        return "empty file"
    shown = "".join(chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}" for byte in data[:16])
    return f"unknown format starting with '{shown}'"


def _pillow(what: str) -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError(
            f"{what} needs Pillow. Install it: pip install 'sgtool[image]'.", extra="image"
        ) from error
    return Image


# JPEG


def decode_jpeg(
    data: bytes,
    channels: int = 0,
    ratio: int = 1,
    *,
    crop: tuple[int, int, int, int] | None = None,
    fancy_upscaling: bool = True,
    recover: bool = False,
    acceptable_fraction: float = 1.0,
) -> Array:
    """The pixels of a JPEG file.

    Args:
        data: The file.
        channels: 1 or 3; 0: as many as the file has. CMYK becomes RGB.
        ratio: 1, 2, 4 or 8: the image is so many times smaller.
        crop: y, x, height and width of the part to decode, of the smaller image.
        fancy_upscaling: Whether colours of a lower resolution are interpolated; else they are repeated.
        recover: Whether what a truncated file lacks is filled up.
        acceptable_fraction: What part of the rows a truncated file must have; only 1 is implemented.

    Returns:
        uint8 (height, width, channels).

    Raises:
        InvalidArgumentError: The file is damaged, or the crop lies outside.
        MissingExtraError: Pillow is not installed.
        UnimplementedError: A truncated file, of which a fraction is acceptable; without fancy upscaling,
            colours of a lower resolution that is not half in both directions.
    """
    image_module = _pillow("Decoding JPEG")
    problem = f"Invalid JPEG data or crop window, data size {len(data)}"
    try:
        source = data + _END_OF_IMAGE if recover else data
        image = image_module.open(io.BytesIO(source), formats=["JPEG"])
        cmyk, adobe = image.mode == "CMYK", "adobe" in image.info
        gray = channels == 1 or (channels == 0 and image.mode == "L")
        if cmyk and gray:
            raise ValueError("CMYK is not decoded to one channel")
        plain = (
            fancy_upscaling or gray or cmyk or ratio > 1 or len({layer[1:3] for layer in image.layer}) == 1
        )
        size = tuple(-(-side // ratio) for side in image.size)
        if not cmyk:
            image.draft("L" if gray else "RGB", tuple(max(side // ratio, 1) for side in image.size))
        if image.size != size:  # smaller than Pillow can ask libjpeg for
            image = image.reduce(ratio)
        pixels = np.asarray(image) if plain else _boxed_colors(image_module, source, image)
    except (OSError, ValueError, SyntaxError, struct.error, image_module.DecompressionBombError) as error:
        if acceptable_fraction < 1 and "truncated" in str(error):
            raise UnimplementedError(
                f"A truncated JPEG file with acceptable_fraction {acceptable_fraction:g} is not decoded. Use "
                "try_recover_truncated.",
                size=len(data),
            ) from error
        raise InvalidArgumentError(f"{problem}: {error}", size=len(data)) from error
    if cmyk:
        wide = pixels.astype(np.int64)
        wide = 255 - wide if adobe else wide  # Pillow takes all for Adobe's, which are inverted
        pixels = (wide[..., 3:] * wide[..., :3] // 255).astype(np.uint8)
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    if pixels.shape[2] != (1 if gray else 3):
        pixels = np.repeat(pixels[..., :1], 3, axis=2)
    if crop is not None:
        top, left, height, width = crop
        if height <= 0 or width <= 0 or top < 0 or left < 0:
            raise InvalidArgumentError(f"{problem}: the crop window is {list(crop)}", size=len(data))
        if top + height > pixels.shape[0] or left + width > pixels.shape[1]:
            raise InvalidArgumentError(
                f"{problem}: the crop window {list(crop)} is not inside of {list(pixels.shape[:2])}",
                size=len(data),
            )
        pixels = pixels[top : top + height, left : left + width]
    return np.ascontiguousarray(pixels)


def _boxed_colors(image_module: Any, data: bytes, image: Any) -> Array:
    """The pixels where colours of half the resolution are repeated.

    Pillow always interpolates them. But decoding to half the size leaves just them at their resolution,
    and decoding to gray gives the luminance.
    """
    if [layer[1:3] for layer in image.layer] != [(2, 2), (1, 1), (1, 1)]:
        raise UnimplementedError(
            "JPEG with colours of such a resolution is decoded with fancy_upscaling only.",
            layers=[list(layer) for layer in image.layer],
        )
    width, height = image.size
    parts = []
    for mode, ratio in (("L", 1), ("YCbCr", 2)):
        part = image_module.open(io.BytesIO(data), formats=["JPEG"])
        part.draft(mode, (max(width // ratio, 1), max(height // ratio, 1)))
        parts.append(np.asarray(part).astype(np.int64))
    light, small = parts
    if small.shape[:2] != (-(-height // 2), -(-width // 2)):  # too small for Pillow to halve
        small = small[::2, ::2]
    blue, red = np.moveaxis(small.repeat(2, 0).repeat(2, 1)[:height, :width, 1:] - 128, -1, 0)
    # libjpeg's tables: 16 bits behind the point, rounded once (jdcolor.c).
    half = 1 << 15
    return (
        np.stack(
            [
                light + (91881 * red + half >> 16),
                light + (-22554 * blue - 46802 * red + half >> 16),
                light + (116130 * blue + half >> 16),
            ],
            axis=-1,
        )
        .clip(0, 255)
        .astype(np.uint8)
    )


def jpeg_shape(data: bytes) -> tuple[int, int, int]:
    """Height, width and channels, from the frame header of a JPEG file.

    Raises:
        InvalidArgumentError: There is none.
    """
    position = 2
    while data.startswith(b"\xff\xd8") and position + 4 <= len(data) and data[position] == 0xFF:
        marker = data[position + 1]
        if marker == 0xFF:  # a fill byte
            position += 1
            continue
        (length,) = struct.unpack_from(">H", data, position + 2)
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC) and position + 10 <= len(data):
            height, width, channels = struct.unpack_from(">HHB", data, position + 5)
            return height, width, channels
        position += 2 + length
    raise InvalidArgumentError(f"Invalid JPEG data, size {len(data)}", size=len(data))


def encode_jpeg(
    image: Array,
    quality: int = 95,
    *,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density: tuple[int, int, int] = (1, 300, 300),
    xmp_metadata: bytes = b"",
) -> bytes:
    """A JPEG file of an image.

    Args:
        image: uint8 (height, width, 1 or 3).
        quality: 0 to 100.
        progressive: Whether it shows up in steps.
        optimize_size: Whether the Huffman tables are made for the image.
        chroma_downsampling: Whether colours have half the resolution.
        density: Unit (1: per inch, 2: per cm), of x and of y.
        xmp_metadata: XMP to put into the file.

    Returns:
        The file.

    Raises:
        MissingExtraError: Pillow is not installed.
    """
    image_module = _pillow("Encoding JPEG")
    picture = image_module.fromarray(image[..., 0] if image.shape[2] == 1 else image)
    buffer = io.BytesIO()
    picture.save(
        buffer,
        "JPEG",
        quality=max(quality, 1),
        progressive=progressive,
        optimize=optimize_size,
        subsampling="4:2:0" if chroma_downsampling else "4:4:4",
    )
    data = buffer.getvalue()
    # FFD8, then FFE0, length (2), 'JFIF' 0, version (2), density unit (1), x (2), y (2)
    data = data[:13] + struct.pack(">BHH", *density) + data[18:]
    if xmp_metadata:
        part = b"http://ns.adobe.com/xap/1.0/\0" + xmp_metadata
        data = data[:20] + b"\xff\xe1" + struct.pack(">H", len(part) + 2) + part + data[20:]
    return data


# GIF


def decode_gif(data: bytes) -> Array:
    """All frames of a GIF file, each drawn over the one before.

    A transparent pixel shows the frame before, or black: so does TensorFlow 2; 1.15 takes it for a colour.

    Args:
        data: The file.

    Returns:
        uint8 (frames, height, width, 3), as large as the largest frame.

    Raises:
        InvalidArgumentError: The file is damaged.
        MissingExtraError: Pillow is not installed.
    """
    image_module = _pillow("Decoding GIF")
    frames = []
    try:
        for left, top, table, transparent, single in _gif_frames(data):
            indices = np.asarray(image_module.open(io.BytesIO(single), formats=["GIF"]))
            drawn = indices != transparent
            largest = indices.max(where=drawn, initial=0)
            if largest >= len(table):
                raise ValueError(f"found color index {largest} outside of color map range {len(table)}")
            frames.append((left, top, table[np.where(drawn, indices, 0)], drawn))
    except (OSError, ValueError, IndexError, EOFError, struct.error, SyntaxError) as error:
        raise InvalidArgumentError(f"Invalid GIF data (size {len(data)}), {error}", size=len(data)) from error
    if not frames:
        raise InvalidArgumentError(
            f"Invalid GIF data (size {len(data)}), gif file does not contain any image", size=len(data)
        )
    height, width = (max(frame.shape[axis] for _, _, frame, _ in frames) for axis in (0, 1))
    out = np.zeros((len(frames), height, width, 3), np.uint8)
    for number, (left, top, frame, drawn) in enumerate(frames):
        if number:
            out[number] = out[number - 1]
        target = out[number, top : top + len(frame), left : left + frame.shape[1]]
        rows, columns = target.shape[:2]
        target[drawn[:rows, :columns]] = frame[:rows, :columns][drawn[:rows, :columns]]
    return out


def _gif_frames(data: bytes) -> Iterator[tuple[int, int, Array, int, bytes]]:
    """Of each frame: left, top, palette (colours, 3), transparent index or -1, and a file of it alone.

        'GIF89a' | width, height (2 each) | flags, background, aspect | palette
        blocks: 2C left, top, width, height (2 each), flags, palette, code size, sub-blocks   a frame
                21 label, sub-blocks                                                          an extension,
                   label F9: 4, flags (1: transparent), delay (2), transparent index, 0
                3B                                                                            the end

    Raises:
        ValueError: The file ends early, or a frame has no palette.
    """
    if len(data) < 13:
        raise ValueError("failed to open gif file: Failed to read from given file")

    def palette(flags: int, start: int) -> tuple[bytes, int]:
        size = 3 << ((flags & 7) + 1) if flags & 0x80 else 0
        return data[start : start + size], start + size

    def sub_blocks(start: int) -> int:
        while data[start]:
            start += data[start] + 1
        return start + 1

    common, position = palette(data[10], 13)
    transparent = -1
    while position < len(data) and data[position] != 0x3B:
        if data[position] == 0x21:
            if data[position + 1] == 0xF9:
                transparent = data[position + 6] if data[position + 3] & 1 else -1
            position = sub_blocks(position + 2)
            continue
        if data[position] != 0x2C:
            raise ValueError("failed to slurp gif file: Wrong record type detected")
        left, top, width, height, flags = struct.unpack_from("<HHHHB", data, position + 1)
        own, start = palette(flags, position + 10)
        position = sub_blocks(start + 1)
        colors = own or common
        if not colors:
            raise ValueError("missing color map for a frame")
        bits = (len(colors) // 3).bit_length() - 2
        single = (
            b"GIF87a",
            struct.pack("<HHBBB", width, height, 0x80 | bits, 0, 0),
            colors,
            struct.pack("<BHHHHB", 0x2C, 0, 0, width, height, flags & 0x40),
            data[start:position],
            b"\x3b",
        )
        yield left, top, np.frombuffer(colors, np.uint8).reshape(-1, 3), transparent, b"".join(single)
        transparent = -1


# BMP


def decode_bmp(data: bytes, channels: int = 0) -> Array:
    """The pixels of an uncompressed BMP file of 8, 24 or 32 bits; 8 bits are taken for gray.

    Args:
        data: The file: offset of the pixels at 10, width at 18, height at 22 (negative: the first row is
            the top one), bits at 28, all little-endian; rows of BGR or BGRA, padded to four bytes.
        channels: 1, 3 or 4, what the file must have; 0: any.

    Returns:
        uint8 (height, width, channels).

    Raises:
        InvalidArgumentError: The file is damaged or of another kind, with TensorFlow's text.
    """
    if len(data) < 32:
        raise InvalidArgumentError(
            "Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and "
            f"bpp, got {len(data)} bytes"
        )
    (start,) = struct.unpack_from("<i", data, 10)
    width, height = struct.unpack_from("<ii", data, 18)
    (bits,) = struct.unpack_from("<H", data, 28)
    if channels and channels != bits // 8:
        raise InvalidArgumentError(
            f"channels attribute {channels} does not match bits per pixel from file {bits // 8}"
        )
    channels = bits // 8
    if channels not in (1, 3, 4):
        raise InvalidArgumentError(f"Number of channels must be 1, 3 or 4, was {channels}")
    for wrong, text in (
        (width <= 0, "Width must be positive"),
        (height == 0, "Height must be nonzero"),
        (start < 0, "header size must be nonnegative"),
        (width * abs(height) >= (2**31 - 1) // 8, "Total possible pixel bytes must be less than 2^30"),
    ):
        if wrong:
            raise InvalidArgumentError(text)
    stride = (channels * width + 3) // 4 * 4
    needed = start + (abs(height) - 1) * stride + width * channels
    if len(data) < needed:
        raise InvalidArgumentError(
            f"Incomplete bmp content, requires at least {needed} bytes, got {len(data)} bytes"
        )
    padded = data[start:].ljust(abs(height) * stride, b"\0")[: abs(height) * stride]
    rows = np.frombuffer(padded, np.uint8).reshape(abs(height), stride)[:, : width * channels]
    pixels = rows.reshape(abs(height), width, channels)[:: 1 if height < 0 else -1]
    order = {1: [0], 3: [2, 1, 0], 4: [2, 1, 0, 3]}[channels]
    return np.ascontiguousarray(pixels[..., order])
