"""`tf.math.confusion_matrix`: how often each class was predicted for each label.

Source: tensorflow/python/ops/confusion_matrix.py (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

from .checks import assert_less, assert_non_negative
from .convert import convert_to_tensor
from .default import name_scope
from .dtypes import int32, int64
from .op import raw_ops
from .ops.array_create import ones_like, zeros
from .ops.array_join import stack
from .ops.control_flow import with_dependencies
from .ops.math_unary import tf_cast
from .ops.reduction import reduce_max
from .sparse import add
from .sparse_tensor import SparseTensor
from .weights_broadcast import remove_squeezable_dimensions


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    dtype: Any = int32,
    name: str | None = None,
    weights: Any = None,
) -> Any:
    """How often each class was predicted as each: rows are labels, columns predictions.

    Args:
        labels: Vector of class numbers.
        predictions: Vector of class numbers, of the same length.
        num_classes: How many classes; one more than the largest number by default.
        dtype: The dtype of the matrix.
        name: Name scope.
        weights: Tensor of the shape of `predictions`: what each case counts; 1 by default.

    Returns:
        A matrix [num_classes, num_classes].

    Raises:
        ValueError: Shapes do not fit.
        InvalidArgumentError: In the run: a class number is negative or too large.
    """
    with name_scope(name, "confusion_matrix", [predictions, labels, num_classes, weights]):
        labels, predictions = remove_squeezable_dimensions(
            convert_to_tensor(labels, name="labels"), convert_to_tensor(predictions, name="predictions")
        )
        sides = {"predictions": tf_cast(predictions, int64), "labels": tf_cast(labels, int64)}
        for side in ("labels", "predictions"):
            check = assert_non_negative(sides[side], message=f"`{side}` contains negative values")
            sides[side] = with_dependencies([check], sides[side])
        if num_classes is None:
            largest = raw_ops.Maximum(reduce_max(sides["predictions"]), reduce_max(sides["labels"]))
            num_classes = largest + 1
        else:
            limit = tf_cast(num_classes, int64)
            for side in ("labels", "predictions"):
                check = assert_less(sides[side], limit, message=f"`{side}` out of bound")
                sides[side] = with_dependencies([check], sides[side])
        labels, predictions = sides["labels"], sides["predictions"]
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            predictions.get_shape().assert_is_compatible_with(weights.get_shape())
            weights = tf_cast(weights, dtype)
        shape = stack([num_classes, num_classes])
        indices = stack([labels, predictions], axis=1)
        values = ones_like(predictions, dtype) if weights is None else weights
        cases = SparseTensor(indices, values, tf_cast(shape, int64))
        return add(zeros(tf_cast(shape, int32), dtype), cases)
