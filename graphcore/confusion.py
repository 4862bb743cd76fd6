"""`tf.math.confusion_matrix`, and labels and predictions brought to one rank.

Source: tensorflow/python/ops/confusion_matrix.py (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

from .checks import assert_less, assert_non_negative
from .conditional import cond
from .convert import convert_to_tensor
from .default import name_scope
from .dtypes import int32, int64
from .op import raw_ops
from .operation import Tensor
from .ops.array_create import ones_like, zeros
from .ops.array_join import stack
from .ops.array_shape import squeeze, tf_rank
from .ops.control_flow import with_dependencies
from .ops.math_unary import tf_cast
from .ops.reduction import reduce_max
from .sparse import add
from .sparse_tensor import SparseTensor


def remove_squeezable_dimensions(
    labels: Any, predictions: Any, expected_rank_diff: int = 0, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Labels and predictions, the one with a rank too many without its last dimension of size 1.

    Args:
        labels: Tensor.
        predictions: Tensor.
        expected_rank_diff: What the rank of `predictions` minus that of `labels` should be.
        name: Name scope.

    Returns:
        `(labels, predictions)`. Where a rank is not known now, the run decides.

    Raises:
        ValueError: The dimension to take away has another size.
    """
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions = convert_to_tensor(predictions)
        labels = convert_to_tensor(labels)
        ranks = [tensor.get_shape().ndims for tensor in (labels, predictions)]
        if None not in ranks:
            difference = ranks[1] - ranks[0]
            if difference == expected_rank_diff + 1:
                predictions = squeeze(predictions, [-1])
            elif difference == expected_rank_diff - 1:
                labels = squeeze(labels, [-1])
            return labels, predictions
        actual = tf_rank(predictions) - tf_rank(labels)
        return (
            _squeezed_if(labels, expected_rank_diff - 1, actual),
            _squeezed_if(predictions, expected_rank_diff + 1, actual),
        )


def _squeezed_if(tensor: Tensor, difference: int, actual: Tensor) -> Any:
    shape = tensor.get_shape()
    if shape.ndims is not None and not (shape.ndims and shape.as_list()[-1] in (None, 1)):
        return tensor
    return cond(raw_ops.Equal(difference, actual), lambda: squeeze(tensor, [-1]), lambda: tensor)


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
