"""Softmax and the cross entropies on top of it.

Each subtracts a row's maximum before it exponentiates. A row that holds NaN or +inf, or nothing but
-inf, becomes NaN, as in TensorFlow. Half precision is computed in float32.
"""

from __future__ import annotations

import numpy as np

from ...formats.errors import InvalidArgumentError
from .arrays import Array, shape_text, widened


def softmax(logits: Array) -> Array:
    """TensorFlow's Softmax over the last axis.

    Raises:
        InvalidArgumentError: `logits` is a scalar.
    """
    shifted = _shifted(logits)
    np.exp(shifted, out=shifted)
    shifted /= np.sum(shifted, axis=-1, keepdims=True)
    return shifted.astype(logits.dtype, copy=False)


def log_softmax(logits: Array) -> Array:
    """TensorFlow's LogSoftmax over the last axis.

    Raises:
        InvalidArgumentError: `logits` is a scalar.
    """
    shifted = _shifted(logits)
    shifted -= np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))
    return shifted.astype(logits.dtype, copy=False)


def softmax_cross_entropy(logits: Array, labels: Array) -> tuple[Array, Array]:
    """TensorFlow's SoftmaxCrossEntropyWithLogits.

    Args:
        logits: (batch, classes), or anything that broadcasts with `labels` to two dimensions.
        labels: Probabilities, alike.

    Returns:
        `(loss, backprop)` of shapes (batch,) and (batch, classes), in the dtype of `logits`; `backprop`
        is the gradient of the loss with respect to the logits.

    Raises:
        InvalidArgumentError: The shapes do not broadcast to two dimensions.
    """
    try:
        shape = np.broadcast_shapes(logits.shape, labels.shape)
    except ValueError:
        raise InvalidArgumentError(
            f"logits and labels must be broadcastable: logits_size={shape_text(logits.shape)} "
            f"labels_size={shape_text(labels.shape)}",
            logits_shape=list(logits.shape),
            labels_shape=list(labels.shape),
        ) from None
    if len(shape) != 2:
        raise InvalidArgumentError(
            "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional, but have "
            f"shapes {shape_text(logits.shape)} and {shape_text(labels.shape)}",
            logits_shape=list(logits.shape),
            labels_shape=list(labels.shape),
        )
    shifted = _shifted(np.broadcast_to(logits, shape))
    targets = labels.astype(shifted.dtype, copy=False)
    exponential = np.exp(shifted)
    total = np.sum(exponential, axis=1, keepdims=True)
    np.subtract(np.log(total), shifted, out=shifted)
    shifted *= targets
    exponential /= total
    exponential -= targets
    loss = np.sum(shifted, axis=1)
    return loss.astype(logits.dtype, copy=False), exponential.astype(logits.dtype, copy=False)


def sparse_softmax_cross_entropy(logits: Array, labels: Array) -> tuple[Array, Array]:
    """TensorFlow's SparseSoftmaxCrossEntropyWithLogits.

    Args:
        logits: (batch, classes).
        labels: (batch,), the class of each row; integers.

    Returns:
        `(loss, backprop)` of shapes (batch,) and (batch, classes), in the dtype of `logits`.

    Raises:
        InvalidArgumentError: Shapes that do not fit, or a label that is no class (as on TensorFlow's CPU).
    """
    if logits.ndim != 2:
        raise InvalidArgumentError(f"logits must be 2-D, but got shape {shape_text(logits.shape)}")
    if labels.ndim != 1:
        raise InvalidArgumentError(f"labels must be 1-D, but got shape {shape_text(labels.shape)}")
    if logits.shape[0] != labels.shape[0]:
        raise InvalidArgumentError(
            "logits and labels must have the same first dimension, got logits shape "
            f"{shape_text(logits.shape)} and labels shape {shape_text(labels.shape)}",
            logits_shape=list(logits.shape),
            labels_shape=list(labels.shape),
        )
    classes = logits.shape[1]
    if classes == 0:
        raise InvalidArgumentError(
            f"Must have at least one class, but got logits shape {shape_text(logits.shape)}"
        )
    outside = (labels < 0) | (labels >= classes)
    if outside.any():
        raise InvalidArgumentError(
            f"Received a label value of {labels[outside][0]} which is outside the valid range of "
            f"[0, {classes}).  Label values: {' '.join(map(str, labels))}",
            label=int(labels[outside][0]),
            classes=classes,
        )
    shifted = _shifted(logits)
    rows = np.arange(len(labels))
    of_label = shifted[rows, labels]
    np.exp(shifted, out=shifted)
    total = np.sum(shifted, axis=1)
    loss = np.log(total) - of_label
    shifted /= total[:, None]
    shifted[rows, labels] -= 1
    return loss.astype(logits.dtype, copy=False), shifted.astype(logits.dtype, copy=False)


def _shifted(logits: Array) -> Array:
    """A fresh array of `logits` less each row's maximum, in the dtype of the arithmetic."""
    if logits.ndim == 0:
        raise InvalidArgumentError("logits must have >= 1 dimension, got []")
    wide = widened(logits)
    # `initial` is for rows of no classes; -inf never wins over a logit.
    return np.asarray(wide - np.max(wide, axis=-1, keepdims=True, initial=-np.inf))
