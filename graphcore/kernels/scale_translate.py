"""Scaling and shifting of images with a sampling kernel (Lanczos, cubic, ...), and its gradient.

Output pixel x lies at (x + 0.5 - translation) / scale in the input; it is the mean of the pixels
around it, weighted with the kernel at their distances, which are divided by the shrinking factor where
that is above 1 and `antialias` is set. A pixel that lies outside of the input is 0.

Source: tensorflow/core/kernels/scale_and_translate_op.cc and sampling_kernels.h (r1.15).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...formats.errors import InvalidArgumentError
from .arrays import Array, shape_text
from .resize import check_images
from .sampling import Taps

_PI = np.float32(3.14159265359)


def _lanczos(radius: float) -> Callable[[Array], Array]:
    def kernel(x: Array) -> Array:
        near = x <= 1e-3
        safe = np.where(near, np.float32(1), x)
        value = (
            radius * np.sin(_PI * safe) * np.sin(_PI * safe / np.float32(radius)) / (_PI * _PI * safe * safe)
        )
        return np.where(x > radius, 0, np.where(near, 1, value))

    return kernel


def _gaussian(x: Array) -> Array:
    return np.where(x >= 1.5, 0, np.exp(-x * x / 0.5))


def _box(x: Array) -> Array:
    return np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))


def _triangle(x: Array) -> Array:
    return np.where(x < 1, 1 - x, 0)


def _keys_cubic(x: Array) -> Array:
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


def _mitchell_cubic(x: Array) -> Array:
    near = (7 / 6 * x - 2) * x * x + 8 / 9
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


# Kernel and radius by name.
KERNELS: dict[str, tuple[Callable[[Array], Array], float]] = {
    "lanczos1": (_lanczos(1.0), 1.0),
    "lanczos3": (_lanczos(3.0), 3.0),
    "lanczos5": (_lanczos(5.0), 5.0),
    "gaussian": (_gaussian, 1.5),
    "box": (_box, 1.0),
    "triangle": (_triangle, 1.0),
    "keyscubic": (_keys_cubic, 2.0),
    "mitchellcubic": (_mitchell_cubic, 2.0),
}


def scale_and_translate(
    images: Array, size: Array, scale: Array, translation: Array, *, kernel_type: str, antialias: bool
) -> Array:
    """TensorFlow's ScaleAndTranslate.

    Args:
        images: (batch, height, width, channels), any real dtype.
        size: Height and width of the result.
        scale: Of rows and of columns; positive.
        translation: Of rows and of columns, in pixels of the result.
        kernel_type: A name of `KERNELS`, in any case.
        antialias: Whether the kernel grows where the image shrinks.

    Returns:
        float32 of shape (batch, *size, channels).

    Raises:
        InvalidArgumentError: An argument cannot be, with TensorFlow's text.
    """
    if images.ndim != 4:
        raise InvalidArgumentError(f"input must be 4-dimensional{shape_text(images.shape)}")
    if size.ndim != 1:
        raise InvalidArgumentError(f"output_shape_t must be 1-dimensional{shape_text(size.shape)}")
    if size.shape != (2,):
        raise InvalidArgumentError(f"output_shape_t must have two elements{shape_text(size.shape)}")
    if (size <= 0).any():
        raise InvalidArgumentError(f"output dimensions must be positive, but are {size.tolist()}")
    check_images(images)
    result = images.astype(np.float32, copy=False)
    for axis, taps in enumerate(
        _both_taps(images.shape[1:3], size.tolist(), scale, translation, kernel_type, antialias), start=1
    ):
        result = taps.gather(result, axis)
    return result


def scale_and_translate_grad(
    grads: Array,
    original_image: Array,
    scale: Array,
    translation: Array,
    *,
    kernel_type: str,
    antialias: bool,
) -> Array:
    """TensorFlow's ScaleAndTranslateGrad.

    Args:
        grads: float32, gradient with respect to the result.
        original_image: float32, what was scaled; only its shape counts.
        scale: As in `scale_and_translate`.
        translation: As in `scale_and_translate`.
        kernel_type: As in `scale_and_translate`.
        antialias: As in `scale_and_translate`.

    Returns:
        The gradient with respect to the images, float32.

    Raises:
        InvalidArgumentError: An argument cannot be, with TensorFlow's text.
    """
    for name, array in (("input_grad", grads), ("original_image", original_image)):
        if array.ndim != 4:
            raise InvalidArgumentError(f"{name} must be 4-dimensional{shape_text(array.shape)}")
    sizes, result = original_image.shape[1:3], grads
    taps = _both_taps(sizes, grads.shape[1:3], scale, translation, kernel_type, antialias)
    for axis in (1, 2):
        result = taps[axis - 1].spread(result, axis, sizes[axis - 1], skip_zeros=True)
    return result


def _both_taps(
    sizes: tuple[int, ...],
    outs: tuple[int, ...],
    scale: Array,
    translation: Array,
    kernel_type: str,
    antialias: bool,
) -> list[Taps]:
    if kernel_type.lower() not in KERNELS:
        raise InvalidArgumentError(
            f"Unrecognized kernel type: {kernel_type}; there are {', '.join(KERNELS)}",
            kernel_type=kernel_type,
        )
    for pair in (scale, translation):
        if pair.ndim != 1:
            raise InvalidArgumentError(f"t must be 1-dimensional{shape_text(pair.shape)}")
        if pair.shape != (2,):
            raise InvalidArgumentError(f"t must have two elements{shape_text(pair.shape)}")
    if not (scale > 0).all():
        raise InvalidArgumentError(f"Scale must be greater than zero. It is {scale.tolist()}")
    if 0 in sizes:
        raise InvalidArgumentError(f"An image must have pixels, but its height and width are {list(sizes)}")
    return [
        _span_taps(size, out, *pair, kernel_type=kernel_type.lower(), antialias=antialias)
        for size, out, *pair in zip(sizes, outs, scale, translation)
    ]


def _span_taps(
    size: int, out: int, scale: np.float32, translation: np.float32, *, kernel_type: str, antialias: bool
) -> Taps:
    kernel, radius = KERNELS[kernel_type]
    one = np.float32(1)
    inverse = one / scale
    kernel_scale = max(inverse, one) if antialias else one
    place = (np.arange(out, dtype=np.float32) + np.float32(0.5)) * inverse + -inverse * translation
    inside = (place >= 0) & (place <= size)
    reach = np.float32(radius) * kernel_scale
    first = np.ceil(np.where(inside, place, 0) - reach - np.float32(0.5)).astype(np.int64)
    last = np.floor(np.where(inside, place, 0) + reach - np.float32(0.5)).astype(np.int64)
    first = np.where(inside, np.clip(first, 0, size - 1), 0)
    last = np.where(inside, np.clip(last, 0, size - 1), -1)
    # All pixels have as many taps, those beyond their reach of weight 0.
    longest = min(2 * int(np.ceil(reach)) + 1, size)
    taps, pixels, owners = Taps.of_spans(first, np.minimum(first + longest, size))
    distance = pixels.astype(np.float32) + np.float32(0.5) - place[owners]
    weights = kernel(np.abs(distance * (one / kernel_scale))).astype(np.float32)
    weights = np.where(pixels <= last[owners], weights, np.float32(0))
    total = np.add.reduceat(weights, taps.starts) if out else np.zeros(0, np.float32)
    large = inside & (np.abs(total) >= np.float32(1000) * np.finfo(np.float32).tiny)
    factor = np.where(large, one / np.where(large, total, one), np.float32(0))
    taps.weights[:] = weights * factor[owners]
    return taps
