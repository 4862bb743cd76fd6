"""Batch normalization and local response normalization, with their gradients.

Statistics are float32 (float64 for float64 inputs) whatever the input, as in TensorFlow. Sums over
pixels are products with a vector of ones: BLAS adds columns faster, and more exactly, than np.sum.
"""

from __future__ import annotations

import numpy as np

from ...formats.errors import InvalidArgumentError
from . import parallel
from .arrays import Array, shape_text, widened


def fused_batch_norm(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    *,
    epsilon: float = 0.0001,
    data_format: str = "NHWC",
    is_training: bool = True,
    exponential_avg_factor: float = 1.0,
) -> tuple[Array, Array, Array, Array, Array]:
    """TensorFlow's FusedBatchNorm, V2 and V3 (whose sixth output is a scalar zero on a CPU).

    Args:
        x: (..., channels), or channels second; float16, bfloat16, float32 or float64.
        scale: (channels,), float32.
        offset: (channels,).
        mean: (channels,): the population's, or the running mean; empty when training from scratch.
        variance: (channels,), alike.
        epsilon: Added to the variance.
        data_format: "NHWC" or "NCHW", or their five-dimensional kin "NDHWC" and "NCDHW".
        is_training: Whether to normalize with the statistics of this batch.
        exponential_avg_factor: Weight of this batch in the running statistics that are returned.

    Returns:
        `(y, batch_mean, batch_variance, reserve_1, reserve_2)`. When training, `batch_variance` has
        Bessel's correction and the reserves hold the mean and the variance without it, for the
        gradient; both statistics of an empty batch are NaN. Otherwise all four are `mean`, `variance`.

    Raises:
        InvalidArgumentError: Shapes that do not fit.
    """
    rows = _rows(x, data_format)
    _check_channels(
        rows.shape[1], mean_needed=not is_training, scale=scale, offset=offset, mean=mean, variance=variance
    )
    if not is_training:
        factor = scale / np.sqrt(variance + variance.dtype.type(epsilon))
        y = rows * factor
        y += offset - mean * factor
        return _unrow(y, x, data_format), mean, variance, mean, variance
    count = rows.shape[0]
    if count == 0:
        unknown, zeros = np.full(scale.shape, np.nan, scale.dtype), np.zeros_like(scale)
        return x.copy(), unknown, unknown.copy(), zeros, zeros.copy()
    batch_mean = parallel.sum_rows(rows) / count
    y = rows - batch_mean
    batch_variance = parallel.sum_rows(y * y) / count
    y *= scale / np.sqrt(batch_variance + batch_variance.dtype.type(epsilon))
    y += offset
    corrected = batch_variance * scale.dtype.type(count / max(1, count - 1))
    new_mean = batch_mean
    if exponential_avg_factor != 1.0:
        weight = scale.dtype.type(exponential_avg_factor)
        new_mean = (1 - weight) * mean + weight * batch_mean
        corrected = (1 - weight) * variance + weight * corrected
    return _unrow(y, x, data_format), new_mean, corrected, batch_mean.copy(), batch_variance


def fused_batch_norm_grad(
    y_backprop: Array,
    x: Array,
    scale: Array,
    reserve_1: Array,
    reserve_2: Array,
    *,
    epsilon: float = 0.0001,
    data_format: str = "NHWC",
    is_training: bool = True,
) -> tuple[Array, Array, Array]:
    """TensorFlow's FusedBatchNormGrad, V2 and V3 (whose last two outputs are empty vectors).

    Args:
        y_backprop: Gradient with respect to y.
        x: The input of `fused_batch_norm`.
        scale: (channels,).
        reserve_1: The mean used: of the batch when training, else the population's.
        reserve_2: The variance used, without Bessel's correction.
        epsilon: As in `fused_batch_norm`.
        data_format: See there.
        is_training: See there.

    Returns:
        Gradients with respect to x, scale and offset.

    Raises:
        InvalidArgumentError: Shapes that do not fit.
    """
    if x.shape != y_backprop.shape:
        raise InvalidArgumentError(
            f"x and y_backprop must have same shape, but x has shape {shape_text(x.shape)} "
            f"and y_backprop has shape {shape_text(y_backprop.shape)}",
            x_shape=list(x.shape),
            y_backprop_shape=list(y_backprop.shape),
        )
    rows, dy = _rows(x, data_format), _rows(y_backprop, data_format)
    _check_channels(rows.shape[1], mean_needed=True, scale=scale, reserve_1=reserve_1, reserve_2=reserve_2)
    inverse = 1 / np.sqrt(reserve_2 + reserve_2.dtype.type(epsilon))
    centered = rows - reserve_1
    d_offset = parallel.sum_rows(dy)
    d_scale = parallel.sum_rows(dy * centered) * inverse
    if is_training:
        count = max(1, rows.shape[0])
        # scale * inverse * (dy - mean(dy) - normalized * mean(dy * normalized))
        centered *= -(d_scale * inverse) / count
        centered += dy
        centered -= d_offset / count
        centered *= scale * inverse
        dx = centered
    else:
        dx = dy * (scale * inverse)
    return _unrow(dx, x, data_format), d_scale, d_offset


def lrn(
    x: Array, *, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5
) -> Array:
    """TensorFlow's LRN: x / (bias + alpha * sum of squares over near-by channels) ** beta.

    Args:
        x: (batch, height, width, channels); float16, bfloat16 or float32.
        depth_radius: Channels on either side that count as near-by.
        bias: See the formula.
        alpha: See the formula.
        beta: See the formula.

    Raises:
        InvalidArgumentError: x is not 4-D.
    """
    if x.ndim != 4:
        raise InvalidArgumentError("in must be 4-dimensional", shape=list(x.shape))
    wide = widened(x)
    norm = bias + alpha * _near_sum(wide * wide, depth_radius)
    return np.asarray(wide * norm**-beta).astype(x.dtype, copy=False)


def lrn_grad(
    input_grads: Array,
    input_image: Array,
    output_image: Array,
    *,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
) -> Array:
    """TensorFlow's LRNGrad.

    Args:
        input_grads: Gradient with respect to the output of `lrn`.
        input_image: Its input.
        output_image: Its output.
        depth_radius: As in `lrn`, and so are the rest.
        bias: See there.
        alpha: See there.
        beta: See there.

    Returns:
        The gradient with respect to the input.

    Raises:
        InvalidArgumentError: The three arrays differ in shape or are not 4-D.
    """
    if not input_grads.shape == input_image.shape == output_image.shape or input_image.ndim != 4:
        shapes = ", ".join(shape_text(a.shape) for a in (input_grads, input_image, output_image))
        raise InvalidArgumentError(
            f"input_grads, input_image, and out_image should have the same 4-D shape, but have {shapes}"
        )
    dy, x, y = widened(input_grads), widened(input_image), widened(output_image)
    norm = bias + alpha * _near_sum(x * x, depth_radius)
    # Neighbourhood is mutual: channel k counts in the norms of the channels that count in its own.
    shared = _near_sum(dy * y / norm, depth_radius)
    return np.asarray(dy * norm**-beta - (2 * alpha * beta) * x * shared).astype(
        input_grads.dtype, copy=False
    )


def _near_sum(a: Array, radius: int) -> Array:
    """Sums over the channels at most `radius` away, as a product with a band matrix."""
    channel = np.arange(a.shape[-1])
    band = (np.abs(channel[:, None] - channel) <= radius).astype(a.dtype)
    return np.asarray(a @ band)


def _rows(x: Array, data_format: str) -> Array:
    """The input as (pixels, channels), contiguous, in the dtype of the statistics."""
    if x.ndim not in (4, 5):
        raise InvalidArgumentError(
            f"input must be 4 or 5-dimensional{shape_text(x.shape)}", shape=list(x.shape)
        )
    if data_format not in ("NHWC", "NCHW", "NDHWC", "NCDHW"):
        raise InvalidArgumentError(f"Invalid data format {data_format!r}", data_format=data_format)
    moved = x if data_format.endswith("C") else np.moveaxis(x, 1, -1)
    return np.ascontiguousarray(widened(moved)).reshape(-1 if x.size else 0, moved.shape[-1])


def _unrow(rows: Array, x: Array, data_format: str) -> Array:
    """Rows of pixels in the shape, order and dtype of `x`."""
    if data_format.endswith("C"):
        return rows.reshape(x.shape).astype(x.dtype, copy=False)
    shape = (x.shape[0], *x.shape[2:], x.shape[1])
    return np.moveaxis(rows.reshape(shape), -1, 1).astype(x.dtype, order="C")


def _check_channels(channels: int, *, mean_needed: bool, **vectors: Array) -> None:
    """All vectors must have one element a channel; the mean and variance only if they are read."""
    wrong = []
    for name, vector in vectors.items():
        optional = name in ("mean", "variance") and not mean_needed
        if vector.shape == (channels,) or (optional and vector.size == 0):
            continue
        lead = "When is_training=false, " if name in ("mean", "variance") and mean_needed else ""
        count = vector.size if vector.ndim == 1 else shape_text(vector.shape)
        wrong.append(
            f"{lead}{name} must have the same number of elements as the channels of x, "
            f"got {count} and {channels}"
        )
    if wrong:
        raise InvalidArgumentError("; ".join(wrong), channels=channels)


def check_global_inputs(x: Array, **vectors: Array) -> None:
    """Raises InvalidArgumentError unless x is 4-D and each vector has an element a channel."""
    wrong = [] if x.ndim == 4 else [f"input must be 4-dimensional: {shape_text(x.shape)}"]
    for name, vector in vectors.items():
        if vector.ndim != 1:
            wrong.append(f"{name} must be 1-dimensional: {shape_text(vector.shape)}")
        elif x.ndim == 4 and vector.shape[0] != x.shape[3]:
            wrong.append(f"{name} must have {x.shape[3]} elements, but has {vector.shape[0]}")
    if wrong:
        raise InvalidArgumentError("; ".join(wrong))


def check_same_shape(x: Array, gradient: Array) -> None:
    """Raises InvalidArgumentError unless the gradient is shaped like x."""
    if x.shape != gradient.shape:
        raise InvalidArgumentError(
            f"out_backprop must be shaped like input: {shape_text(gradient.shape)} vs. {shape_text(x.shape)}"
        )


def batch_norm_with_global_normalization(
    x: Array, mean: Array, variance: Array, beta: Array, gamma: Array | None, epsilon: float
) -> Array:
    """TensorFlow's BatchNormWithGlobalNormalization.

    Args:
        x: (batch, height, width, channels); half precision is computed in float32.
        mean: (channels,), as are the rest.
        variance: See there.
        beta: Added.
        gamma: Multiplied with, or None.
        epsilon: Added to the variance.
    """
    scale = _inverse_deviation(variance, epsilon)
    if gamma is not None:
        scale = scale * widened(gamma)
    return np.asarray((widened(x) - widened(mean)) * scale + widened(beta)).astype(x.dtype)


def batch_norm_with_global_normalization_grad(
    x: Array, mean: Array, variance: Array, gamma: Array | None, dy: Array, epsilon: float
) -> tuple[Array, ...]:
    """TensorFlow's BatchNormWithGlobalNormalizationGrad.

    Args:
        x: As given to `batch_norm_with_global_normalization`, and so are the next three.
        mean: See there.
        variance: See there.
        gamma: See there.
        dy: Gradient with respect to its output.
        epsilon: As given there.

    Returns:
        The gradients of x, mean, variance, beta and gamma; zeros for a gamma that is None.
    """
    inverse, wide = _inverse_deviation(variance, epsilon), widened(dy)
    scale = inverse if gamma is None else inverse * widened(gamma)
    by_beta = wide.sum((0, 1, 2))
    moved = (wide * (widened(x) - widened(mean))).sum((0, 1, 2))
    by_gamma = np.zeros_like(by_beta) if gamma is None else moved * inverse
    by_variance = moved * scale * inverse * inverse * inverse.dtype.type(-0.5)
    results = wide * scale, -by_beta * scale, by_variance, by_beta, by_gamma
    return tuple(np.asarray(array).astype(x.dtype, copy=False) for array in results)


def _inverse_deviation(variance: Array, epsilon: float) -> Array:
    wide = widened(variance)
    kind = wide.dtype.type
    inverse: Array = kind(1) / np.sqrt(wide + kind(epsilon))
    return inverse
