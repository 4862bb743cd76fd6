"""`tf.confusion_matrix`: how often each class was predicted for each label.

Source: tensorflow/python/ops/confusion_matrix.py (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

from .convert import convert_to_tensor
from .default import name_scope
from .dtypes import int32, int64
from .op import raw_ops
from .ops.array_create import ones_like, zeros
from .ops.array_join import stack
from .ops.control_flow import tf_assert, with_dependencies
from .ops.math_unary import tf_cast
from .ops.reduction import reduce_all, reduce_max
from .sparse import add as sparse_add
from .sparse_tensor import SparseTensor
from .weights_broadcast import remove_squeezable_dimensions

_BELOW = "Condition x < y did not hold element-wise:"


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    dtype: Any = int32,
    name: str | None = None,
    weights: Any = None,
) -> Any:
    """A matrix with labels as rows and predictions as columns; both are class numbers from 0.

    Args:
        labels: (n,).
        predictions: (n,).
        num_classes: Size of the matrix; by default one more than the greatest number.
        dtype: Element type of the matrix.
        name: Name scope.
        weights: What each prediction counts, (n,).

    Raises:
        ValueError: The shapes do not fit.
        InvalidArgumentError: When it runs: a number is negative, or `num_classes` or more.
    """
    with name_scope(name, "confusion_matrix", [predictions, labels, num_classes, weights]):
        labels, predictions = remove_squeezable_dimensions(
            convert_to_tensor(labels, name="labels"), convert_to_tensor(predictions, name="predictions")
        )
        predictions, labels = tf_cast(predictions, int64), tf_cast(labels, int64)
        labels = _checked(labels, labels >= 0, "`labels` contains negative values")
        predictions = _checked(predictions, predictions >= 0, "`predictions` contains negative values")
        if num_classes is None:
            num_classes = raw_ops.Maximum(reduce_max(predictions), reduce_max(labels)) + 1
        else:
            count = tf_cast(num_classes, int64)
            labels = _checked(labels, labels < count, "`labels` out of bound", _BELOW, count)
            predictions = _checked(
                predictions, predictions < count, "`predictions` out of bound", _BELOW, count
            )
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            predictions.get_shape().assert_is_compatible_with(weights.get_shape())
            weights = tf_cast(weights, dtype)
        shape = stack([num_classes, num_classes])
        values = ones_like(predictions, dtype) if weights is None else weights
        cells = SparseTensor(stack([labels, predictions], axis=1), values, tf_cast(shape, int64))
        return sparse_add(zeros(tf_cast(shape, int32), dtype), cells)


def _checked(tensor: Any, condition: Any, message: str, *more: Any) -> Any:
    return with_dependencies(
        [tf_assert(reduce_all(condition), [message, *more[:1], tensor, *more[1:]])], tensor
    )
