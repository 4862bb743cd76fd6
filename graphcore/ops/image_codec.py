"""Image files in strings: PNG, JPEG, GIF and BMP, to pixels and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import INDEX, int32, uint8, uint16
from ..errors import InternalError, InvalidArgumentError, InvalidValueError
from ..kernels import image_files, png
from ..kernels.arrays import Array, shape_text
from ..op import op
from ..shapes import Shape, vector_of, with_rank
from . import rules

_NONE = "TensorFlow has none"
_CHANNELS = "channels: int = 0"


def _contents(value: Any) -> bytes:
    if np.ndim(value):
        raise InvalidArgumentError(f"contents must be scalar, got shape {shape_text(np.shape(value))}")
    return bytes(np.asarray(value, object)[()])


def _check_channels(channels: int) -> None:
    if channels not in (0, 1, 3, 4):
        raise InvalidArgumentError(f"channels must be 0, 1, 3, or 4, got {channels}")


def _decode(data: bytes, channels: int, dtype: Any = np.uint8, animated: bool = False, **jpeg: Any) -> Array:
    """The pixels of a file of any of the three formats: TensorFlow's decoders take all of them.

    Args:
        data: The file.
        channels: How many are asked for.
        dtype: uint8 or uint16.
        animated: Whether the result has a dimension of frames.
        **jpeg: Options of `image_files.decode_jpeg`.

    Raises:
        InvalidArgumentError: It is no image, or does not fit, with TensorFlow's text.
    """
    kind = image_files.file_format(data)
    if kind not in ("JPEG", "PNG", "GIF"):
        raise InvalidArgumentError(f"Expected image (JPEG, PNG, or GIF), got {kind}", size=len(data))
    if kind != "PNG" and dtype == np.uint16:
        raise InvalidArgumentError(f"{kind} does not support uint16 output")
    if kind == "PNG":
        pixels = png.decode_png(data, channels, np.dtype(dtype))
        return pixels[None] if animated else pixels
    if kind == "JPEG":
        if channels not in (0, 1, 3):
            raise InvalidArgumentError(f"channels must be 0, 1, or 3 for JPEG, got {channels}")
        pixels = image_files.decode_jpeg(data, channels, **jpeg)
        return pixels[None] if animated else pixels
    if channels not in (0, 3):
        raise InvalidArgumentError(f"channels must be 0 or 3 for GIF, got {channels}")
    frames = image_files.decode_gif(data)
    if animated:
        return frames
    if len(frames) != 1:
        raise InvalidArgumentError(
            f"Got {len(frames)} frames, but animated gifs can only be decoded by tf.image.decode_gif or "
            "tf.image.decode_image"
        )
    first: Array = frames[0]
    return first


@op(
    "DecodePng",
    "contents: string -> image: dtype",
    _CHANNELS,
    dtype=((uint8, uint16), uint8),
    undefined_grad=_NONE,
)
def decode_png(contents: Any, *, channels: int, dtype: Any) -> Any:
    """The pixels of a file."""
    _check_channels(channels)
    return _decode(_contents(contents), channels, dtype)


_JPEG = (
    _CHANNELS,
    "ratio: int = 1",
    "fancy_upscaling: bool = true",
    "try_recover_truncated: bool = false",
    "acceptable_fraction: float = 1.0",
    "dct_method: string = ''",
)


def _decode_jpeg(contents: Any, node: Any, crop: tuple[int, int, int, int] | None = None) -> Array:
    channels, ratio, method = (node.attr(key) for key in ("channels", "ratio", "dct_method"))
    _check_channels(channels)
    if ratio not in (1, 2, 4, 8):
        raise InvalidArgumentError(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    if method not in (b"", b"INTEGER_FAST", b"INTEGER_ACCURATE"):
        raise InvalidArgumentError(
            f"dct_method must be one of {{'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}}, got {method!r}"
        )
    return _decode(
        _contents(contents),
        channels,
        ratio=ratio,
        crop=crop,
        fancy_upscaling=node.attr("fancy_upscaling"),
        recover=node.attr("try_recover_truncated"),
        acceptable_fraction=node.attr("acceptable_fraction"),
    )


@op("DecodeJpeg", "contents: string -> image: uint8", *_JPEG, undefined_grad=_NONE)
def decode_jpeg(contents: Any, *, node: Any) -> Any:
    """The pixels of a file."""
    return _decode_jpeg(contents, node)


@op(
    "DecodeAndCropJpeg",
    "contents: string, crop_window: int32 -> image: uint8",
    *_JPEG,
    undefined_grad=_NONE,
)
def decode_and_crop_jpeg(contents: Any, crop_window: Any, *, node: Any) -> Any:
    """The pixels of a part of a file."""
    if crop_window.ndim != 1:
        raise InvalidArgumentError(f"crop_window must be 1-D, got shape {shape_text(crop_window.shape)}")
    if crop_window.shape != (4,):
        raise InvalidArgumentError(f"crop_size must have four elements {shape_text(crop_window.shape)}")
    return _decode_jpeg(contents, node, tuple(crop_window.tolist()))


@op("DecodeGif", "contents: string -> image: uint8", undefined_grad=_NONE)
def decode_gif(contents: Any) -> Any:
    """The pixels of all frames of a file."""
    return _decode(_contents(contents), 3, animated=True)


@op("DecodeBmp", "contents: string -> image: uint8", _CHANNELS, undefined_grad=_NONE)
def decode_bmp(contents: Any, *, channels: int) -> Any:
    """The pixels of a file."""
    if channels not in (0, 1, 3, 4):
        raise InvalidArgumentError(f"channels must be 0, 1, 3 or 4, got {channels}")
    return image_files.decode_bmp(_contents(contents), channels)


@op(
    "ExtractJpegShape",
    "contents: string -> image_shape: output_type",
    output_type=(INDEX, int32),
    undefined_grad=_NONE,
)
def extract_jpeg_shape(contents: Any, *, output_type: Any) -> Any:
    """Height, width and channels of a file, which is not decoded."""
    return np.array(image_files.jpeg_shape(_contents(contents)), output_type)


@decode_png.shape
@decode_jpeg.shape
@decode_and_crop_jpeg.shape
@decode_bmp.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(0), 0)
    channels = node.attr("channels")
    if channels < 0:
        raise InvalidValueError(f"channels must be non-negative, got {channels}")
    height = width = None
    if node.num_inputs == 2:
        vector_of(node.shape(1), 4)
        window = node.value(1)
        height, width = (None, None) if window is None else window.tolist()[2:]
    return (height, width, channels or None)


@decode_gif.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(0), 0)
    return (None, None, None, 3)


@extract_jpeg_shape.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(0), 0)
    return (3,)


# To files


def _check_image(image: Any) -> None:
    if image.ndim != 3:
        raise InvalidArgumentError(f"image must be 3-dimensional{shape_text(image.shape)}")


@op(
    "EncodePng",
    "image: T -> contents: string",
    "compression: int = -1",
    T=((uint8, uint16), uint8),
    undefined_grad=_NONE,
)
def encode_png(image: Any, *, compression: int) -> Any:
    """The PNG file of an image."""
    if not -1 <= compression <= 9:
        raise InvalidArgumentError(f"compression should be in [-1,9], got {compression}")
    _check_image(image)
    if not 1 <= image.shape[2] <= 4:
        raise InvalidArgumentError(f"image must have 1, 2, 3, or 4 channels, got {image.shape[2]}")
    if not image.size:
        raise InternalError(f"PNG encoding failed: the image has no pixels, {shape_text(image.shape)}")
    return np.array(png.encode_png(image, compression), object)


def _jpeg_channels(image: Any, name: str) -> None:
    _check_image(image)
    wanted = {"grayscale": 1, "rgb": 3}.get(name)
    if wanted is None and image.shape[2] not in (1, 3):
        raise InvalidArgumentError(f"image must have 1 or 3 channels, got {shape_text(image.shape)}")
    if wanted is not None and image.shape[2] != wanted:
        raise InvalidArgumentError(f"format {name} expects {wanted} channels, got {shape_text(image.shape)}")
    if not image.size:
        raise InternalError(f"JPEG encoding failed: the image has no pixels, {shape_text(image.shape)}")


def _check_quality(quality: int) -> None:
    if not 0 <= quality <= 100:
        raise InvalidArgumentError(f"quality must be in [0,100], got {quality}")


@op(
    "EncodeJpeg",
    "image: uint8 -> contents: string",
    "format: {'', 'grayscale', 'rgb'} = ''",
    "quality: int = 95",
    "progressive: bool = false",
    "optimize_size: bool = false",
    "chroma_downsampling: bool = true",
    "density_unit: {'in', 'cm'} = 'in'",
    "x_density: int = 300",
    "y_density: int = 300",
    "xmp_metadata: string = ''",
    undefined_grad=_NONE,
)
def encode_jpeg(image: Any, *, node: Any) -> Any:
    """The JPEG file of an image."""
    _check_quality(node.attr("quality"))
    _jpeg_channels(image, node.attr("format").decode())
    unit = 1 if node.attr("density_unit") == b"in" else 2
    data = image_files.encode_jpeg(
        image,
        node.attr("quality"),
        progressive=node.attr("progressive"),
        optimize_size=node.attr("optimize_size"),
        chroma_downsampling=node.attr("chroma_downsampling"),
        density=(unit, node.attr("x_density"), node.attr("y_density")),
        xmp_metadata=node.attr("xmp_metadata"),
    )
    return np.array(data, object)


@op(
    "EncodeJpegVariableQuality",
    "images: uint8, quality: int32 -> contents: string",
    undefined_grad=_NONE,
)
def encode_jpeg_variable_quality(images: Any, quality: Any) -> Any:
    """The JPEG file of an image, its quality an input."""
    if quality.ndim:
        raise InvalidArgumentError(f"quality must be scalar: {shape_text(quality.shape)}")
    _check_quality(int(quality))
    _jpeg_channels(images, "")
    return np.array(image_files.encode_jpeg(images, int(quality)), object)


@encode_png.shape
@encode_jpeg.shape
@encode_jpeg_variable_quality.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(0), 3)
    return rules.scalar(node)
