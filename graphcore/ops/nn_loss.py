"""Cross entropies and the other losses of `tf.nn`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..convert import constant, convert_to_tensor
from ..default import name_scope
from ..dtypes import FLOATING, INDEX, bfloat16, float16, float32, int64
from ..errors import InvalidValueError
from ..kernels import losses as kernels
from ..op import op, raw_ops
from ..shapes import Shape, broadcast, merge_dims, with_rank
from .array_shape import tf_rank, tf_shape
from .nn import to_last_axis


@op("SoftmaxCrossEntropyWithLogits", "features: T, labels: T -> loss: T, backprop: T", T=FLOATING)
def softmax_cross_entropy_op(features: Any, labels: Any) -> tuple[Any, Any]:
    """The cross entropy of softmax(features) with labels, row by row, and its gradient."""
    return kernels.softmax_cross_entropy(features, labels)


@softmax_cross_entropy_op.shape
def _(node: Any) -> list[Shape]:
    # one that is not known is taken for a matrix, to which the other may still be broadcast
    first, second = ((None, None) if shape is None else shape for shape in node.shapes)
    rows, classes = with_rank(broadcast(first, second), 2)
    return [(rows,), (rows, classes)]


def _times_rows(vector: Any, matrix: Any) -> Any:
    return raw_ops.ExpandDims(vector, -1) * matrix


def _is_zero(grad: Any) -> bool:
    if grad is None or grad.op.type == "ZerosLike":
        return True
    value = grad.graph.constant_value(grad)
    return value is not None and not np.any(value)


@softmax_cross_entropy_op.grad
def _(node: Any, loss_grad: Any, backprop_grad: Any) -> Any:
    logits, backprop = node.inputs[0], node.outputs[1]
    grad = _times_rows(loss_grad, backprop)
    if not _is_zero(backprop_grad):
        softmax = raw_ops.Softmax(logits)
        inner = raw_ops.BatchMatMulV2(raw_ops.ExpandDims(backprop_grad, 1), raw_ops.ExpandDims(softmax, 2))
        grad += (backprop_grad - raw_ops.Squeeze(inner, squeeze_dims=[1])) * softmax
    return grad, _times_rows(loss_grad, -raw_ops.LogSoftmax(logits))


@op(
    "SparseSoftmaxCrossEntropyWithLogits",
    "features: T, labels: Tlabels -> loss: T, backprop: T",
    T=FLOATING,
    Tlabels=(INDEX, int64),
)
def sparse_softmax_cross_entropy_op(features: Any, labels: Any) -> tuple[Any, Any]:
    """The cross entropy of softmax(features) with class numbers, and its gradient."""
    return kernels.sparse_softmax_cross_entropy(features, labels)


@sparse_softmax_cross_entropy_op.shape
def _(node: Any) -> list[Shape]:
    rows, classes = with_rank(node.shape(0), 2)
    rows = merge_dims(rows, with_rank(node.shape(1), 1)[0])
    return [(rows,), (rows, classes)]


@sparse_softmax_cross_entropy_op.grad
def _(node: Any, loss_grad: Any, _: Any) -> Any:
    backprop = raw_ops.PreventGradient(
        node.outputs[1],
        message="Currently there is no way to take the second derivative of "
        "sparse_softmax_cross_entropy_with_logits due to the fused implementation's interaction with "
        "tf.gradients()",
    )
    return _times_rows(loss_grad, backprop), None


# TensorFlow's Python functions


def _check_named(function: str, sentinel: Any, labels: Any, logits: Any) -> None:
    """Only named arguments are taken: older versions had them in the other order."""
    if sentinel is not None:
        raise InvalidValueError(f"Only call `{function}` with named arguments (labels=..., logits=..., ...)")
    if labels is None or logits is None:
        raise InvalidValueError("Both labels and logits must be provided.")


def _as_rows(x: Any) -> Any:
    """All axes but the last as one."""
    static = x.static_shape
    last = raw_ops.Slice(tf_shape(x), raw_ops.Pack([tf_rank(x) - 1]), [1])
    rows = raw_ops.Reshape(x, raw_ops.ConcatV2([[-1], last], 0))
    if static is not None:
        count = None if None in static[:-1] else math.prod(static[:-1])
        rows.set_shape([count, static[-1]])
    return rows


def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None
) -> Any:
    """`tf.nn.softmax_cross_entropy_with_logits_v2`: gradients reach the labels as well.

    Args:
        labels: Probabilities along `axis`.
        logits: Unscaled log-probabilities, of the same shape.
        axis: The axis of the classes; by default the last.
        name: Name scope of the operations.
        dim: Old name of `axis`.

    Returns:
        The cross entropies, of the shape without `axis`.

    Raises:
        ValueError: An argument is missing.
    """
    _check_named("softmax_cross_entropy_with_logits", None, labels, logits)
    chosen = dim if axis is None else axis
    chosen = -1 if chosen is None else chosen
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        dtype = logits.dtype.base_dtype
        is_half = dtype in (float16, bfloat16)
        precise = raw_ops.Cast(logits, DstT=float32) if is_half else logits
        if labels.dtype.base_dtype != precise.dtype.base_dtype:
            labels = raw_ops.Cast(labels, DstT=precise.dtype.base_dtype)
        static = logits.static_shape
        if chosen != -1 and not (static is not None and chosen == len(static) - 1):
            precise, labels = to_last_axis(precise, chosen), to_last_axis(labels, chosen)
        shape = tf_shape(precise)
        moved = precise.static_shape
        cost = softmax_cross_entropy_op(_as_rows(precise), _as_rows(labels), name=scope).loss
        outer = raw_ops.Slice(shape, [0], raw_ops.Pack([tf_rank(precise) - 1]))
        cost = raw_ops.Reshape(cost, outer)
        if moved is not None:
            cost.set_shape(list(moved[:-1]))
        return raw_ops.Cast(cost, DstT=dtype) if is_half else cost


def softmax_cross_entropy_with_logits(
    _sentinel: Any = None,
    labels: Any = None,
    logits: Any = None,
    dim: int = -1,
    name: str | None = None,
    axis: int | None = None,
) -> Any:
    """`tf.nn.softmax_cross_entropy_with_logits`: the labels count as constants for gradients.

    See `softmax_cross_entropy_with_logits_v2`.

    Raises:
        ValueError: Arguments are given by position or are missing.
    """
    _check_named("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as scope:
        labels = raw_ops.StopGradient(labels, name="labels_stop_gradient")
        return softmax_cross_entropy_with_logits_v2(
            labels=labels, logits=logits, axis=dim if axis is None else axis, name=scope
        )


def sparse_softmax_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    """`tf.nn.sparse_softmax_cross_entropy_with_logits`.

    Args:
        _sentinel: Not to be given: the rest is by name.
        labels: Class numbers, of the shape of `logits` without its last axis.
        logits: Unscaled log-probabilities along the last axis.
        name: Name scope of the operations.

    Returns:
        The cross entropies, of the shape of `labels`.

    Raises:
        ValueError: Arguments are given by position or are missing, or the shapes do not fit.
    """
    _check_named("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
        dtype = logits.dtype.base_dtype
        precise = raw_ops.Cast(logits, DstT=float32) if dtype == float16 else logits
        labels_shape, logits_shape = labels.get_shape(), logits.get_shape()
        if logits_shape.ndims == 0:
            raise InvalidValueError(f"Logits cannot be scalars - received shape {logits_shape}.")
        if (
            None not in (labels_shape.ndims, logits_shape.ndims)
            and labels_shape.ndims != logits_shape.ndims - 1
        ):
            raise InvalidValueError(
                f"Rank mismatch: Rank of labels (received {labels_shape.ndims}) should equal rank of logits "
                f"minus 1 (received {logits_shape.ndims})."
            )
        if not labels_shape.is_compatible_with(logits_shape[:-1]):
            raise InvalidValueError(
                f"Shape mismatch: The shape of labels (received {labels_shape}) should equal the shape of "
                f"logits except for the last dimension (received {logits_shape})."
            )
        if logits_shape.ndims == 2:
            cost = sparse_softmax_cross_entropy_op(precise, labels, name=name).loss
        else:
            shape = tf_shape(labels)
            flat = raw_ops.Reshape(labels, [-1])
            cost = sparse_softmax_cross_entropy_op(_as_rows(precise), flat, name=name).loss
            cost = raw_ops.Reshape(cost, shape)
            cost.set_shape(labels_shape)
        return raw_ops.Cast(cost, DstT=dtype) if dtype == float16 else cost


def _check_same_shape(labels: Any, logits: Any) -> None:
    if not labels.get_shape().is_compatible_with(logits.get_shape()):
        raise InvalidValueError(
            f"logits and labels must have the same shape ({logits.get_shape()} vs {labels.get_shape()})"
        )


def sigmoid_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    """`tf.nn.sigmoid_cross_entropy_with_logits`: max(x, 0) - x * z + log(1 + exp(-|x|)), element-wise.

    Raises:
        ValueError: Arguments are given by position or are missing, or the shapes differ.
    """
    _check_named("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _check_same_shape(labels, logits)
        zeros = raw_ops.ZerosLike(logits)
        is_positive = raw_ops.GreaterEqual(logits, zeros)
        positive = raw_ops.Select(is_positive, logits, zeros)
        minus_abs = raw_ops.Select(is_positive, -logits, logits)
        return raw_ops.Add(positive - logits * labels, raw_ops.Log1p(raw_ops.Exp(minus_abs)), name=scope)


def weighted_cross_entropy_with_logits(
    labels: Any = None,
    logits: Any = None,
    pos_weight: Any = None,
    name: str | None = None,
    targets: Any = None,
) -> Any:
    """`tf.nn.weighted_cross_entropy_with_logits`: the same with positive examples weighted.

    Raises:
        ValueError: The shapes of labels and logits differ.
    """
    labels = targets if labels is None else labels
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _check_same_shape(labels, logits)
        weight = 1 + (pos_weight - 1) * labels
        softplus = raw_ops.Log1p(raw_ops.Exp(-raw_ops.Abs(logits))) + raw_ops.Relu(-logits)
        return raw_ops.Add((1 - labels) * logits, weight * softplus, name=scope)


def log_poisson_loss(
    targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None
) -> Any:
    """`tf.nn.log_poisson_loss`: exp(x) - x * z, with Stirling's approximation of log(z!) on request.

    Raises:
        ValueError: The shapes differ.
    """
    with name_scope(name, "log_poisson_loss", [log_input, targets]):
        log_input = convert_to_tensor(log_input, name="log_input")
        targets = convert_to_tensor(targets, name="targets")
        if not targets.get_shape().is_compatible_with(log_input.get_shape()):
            raise InvalidValueError(
                f"log_input and targets must have the same shape ({log_input.get_shape()} vs "
                f"{targets.get_shape()})"
            )
        result = raw_ops.Exp(log_input) - log_input * targets
        if compute_full_loss:
            dtype = targets.dtype.base_dtype
            half, two_pi = constant(0.5, dtype), constant(2 * math.pi, dtype)
            stirling = targets * raw_ops.Log(targets) - targets + half * raw_ops.Log(two_pi * targets)
            zeros, ones = raw_ops.ZerosLike(targets), raw_ops.OnesLike(targets)
            small = raw_ops.LogicalAnd(raw_ops.GreaterEqual(targets, zeros), raw_ops.LessEqual(targets, ones))
            result += raw_ops.Select(small, zeros, stirling)
        return result


def zero_fraction(value: Any, name: str | None = None) -> Any:
    """`tf.nn.zero_fraction`: which part of the elements is 0, as a float32 scalar."""
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        axes = raw_ops.Range(0, raw_ops.Rank(value), 1)
        nonzero = raw_ops.Cast(raw_ops.NotEqual(value, raw_ops.ZerosLike(value)), DstT=int64)
        size = raw_ops.Size(value, out_type=int64)
        zeros = raw_ops.Cast(size - raw_ops.Sum(nonzero, axes), DstT=float32)
        return raw_ops.Identity(raw_ops.RealDiv(zeros, raw_ops.Cast(size, DstT=float32)), name="fraction")
