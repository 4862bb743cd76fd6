"""The metrics of the k best predictions: precision, recall and average precision at k.

Source: tensorflow/python/ops/metrics_impl.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import sparse
from .conditional import cond
from .convert import convert_to_tensor
from .default import get_default_graph, name_scope
from .dtypes import float64, int32, int64
from .errors import InvalidValueError
from .metric_base import Metric, metric_variable, published
from .op import raw_ops
from .ops.array_create import ones_like, tf_fill, zeros_like
from .ops.array_join import concat, tf_tile
from .ops.array_select import top_k
from .ops.array_shape import expand_dims, tf_rank, tf_reshape, tf_shape, tf_size
from .ops.array_slice import tf_slice
from .ops.math_binary import tf_div
from .ops.math_unary import tf_cast
from .ops.reduction import reduce_sum, tf_cumsum
from .ops.sets import set_difference, set_intersection, set_size
from .sparse_tensor import SparseTensor, SparseTensorValue
from .variables import assign_add
from .weights_broadcast import assert_broadcastable, broadcast_weights


def _tensor(value: Any) -> Any:
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    return value if isinstance(value, SparseTensor) else convert_to_tensor(value)


def _at_k_name(name: str, k: int | None = None, class_id: int | None = None) -> str:
    name = f"{name}_at_k" if k is None else f"{name}_at_{k}"
    return name if class_id is None else f"{name}_class{class_id}"


def _expanded_labels(labels: Any, predictions: Any) -> Any:
    """Labels with a last dimension more where the predictions have one; a label then is a set of one."""
    with name_scope(None, "expand_labels", [predictions]) as scope:
        labels = _tensor(labels)
        if isinstance(labels, SparseTensor):
            shape = labels.dense_shape
            lacking = raw_ops.Equal(tf_rank(predictions), tf_size(shape) + 1)
            longer = concat([shape, convert_to_tensor([1], int64)], 0)
            made = cond(
                lacking,
                lambda: list(sparse.reshape(labels, longer, name=scope)._components()),
                lambda: list(labels._components()),
            )
            return SparseTensor(*made)
        ranks = labels.get_shape().ndims, predictions.get_shape().ndims
        if None not in ranks:
            if ranks[1] == ranks[0]:
                return labels
            if ranks[1] == ranks[0] + 1:
                return expand_dims(labels, -1, name=scope)
            raise InvalidValueError(
                f"Unexpected labels shape {labels.get_shape()} for predictions shape "
                f"{predictions.get_shape()}."
            )
        return cond(
            raw_ops.Equal(tf_rank(predictions), tf_rank(labels) + 1),
            lambda: expand_dims(labels, -1, name=scope),
            lambda: labels,
        )


def _of_class(ids: Any, class_id: int | None) -> Any:
    """Of each set only the number `class_id`, all of them where it is None."""
    if class_id is None:
        return ids
    ids = _tensor(ids)
    wanted = convert_to_tensor(class_id, int64)
    if isinstance(ids, SparseTensor):
        return sparse.retain(ids, raw_ops.Equal(ids.values, tf_cast(wanted, ids.values.dtype)))
    shape = tf_shape(ids, out_type=int64)
    one = concat([shape[:-1], convert_to_tensor([1], int64)], 0)
    common = set_intersection(tf_cast(tf_fill(one, wanted), ids.dtype), ids)
    return SparseTensor(common.indices, common.values, shape)


_SETS: dict[str, Callable[[Any, Any], Any]] = {
    "true_positive": set_intersection,
    "false_positive": set_difference,
    "false_negative": lambda predictions, labels: set_difference(predictions, labels, aminusb=False),
}


def _sizes(
    kind: str,
    labels: Any,
    predictions_idx: Any,
    class_id: int | None,
    weights: Any = None,
    name: str | None = None,
) -> Any:
    """How many numbers of each set are of a kind, by weight."""
    with name_scope(name, f"{kind}s", [predictions_idx]):
        labels, predictions_idx = _of_class(labels, class_id), _of_class(predictions_idx, class_id)
        sizes = tf_cast(set_size(_SETS[kind](predictions_idx, labels)), float64)
        if weights is not None:
            with get_default_graph().control_dependencies([assert_broadcastable(weights, sizes)]):
                sizes = raw_ops.Mul(sizes, tf_cast(weights, float64))
        return sizes


def _streaming(
    kind: str, labels: Any, predictions_idx: Any, k: int | None, class_id: int | None, weights: Any
) -> Metric:
    """(variable, update) of the sum of `_sizes`."""
    with name_scope(None, _at_k_name(kind, k, class_id), [predictions_idx]) as scope:
        total = tf_cast(reduce_sum(_sizes(kind, labels, predictions_idx, class_id, weights)), float64)
        variable = metric_variable([], float64, name=scope)
        return variable, assign_add(variable, total, name="update")


def _share_at_top_k(title: str, other: str, text: str) -> Callable[..., Metric]:
    def metric(
        labels: Any,
        predictions_idx: Any,
        k: int | None = None,
        class_id: int | None = None,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with name_scope(name, _at_k_name(title, k, class_id), [predictions_idx]) as scope:
            predictions_idx = convert_to_tensor(predictions_idx)
            labels = _expanded_labels(labels, predictions_idx)
            best = tf_cast(predictions_idx, int64)
            right, right_update = _streaming("true_positive", labels, best, k, class_id, weights)
            wrong, wrong_update = _streaming(other, labels, best, k, class_id, weights)
            return published(
                metrics_collections,
                updates_collections,
                lambda: tf_div(right, right + wrong, name=scope),
                lambda: tf_div(right_update, right_update + wrong_update, name="update"),
            )

    metric.__name__ = f"{title}_at_top_k"
    metric.__doc__ = f"""`tf.metrics.{title}_at_top_k`: {text}.

    Args:
        labels: int64 class numbers, dense or sparse, (..., labels), or (...) where each has one.
        predictions_idx: The numbers of the best classes, (..., k).
        k: Only for the names.
        class_id: Count this class only.
        weights: A scalar, or a tensor of the rank of (...); or None.
        metrics_collections: Collections to add the value to.
        updates_collections: Collections to add the update to.
        name: Name scope.

    Returns:
        (value, update), float64 scalars.

    Raises:
        ValueError: The shapes do not fit.
    """
    return metric


precision_at_top_k = _share_at_top_k(
    "precision", "false_positive", "the share of right ones among the best k classes"
)
recall_at_top_k = _share_at_top_k(
    "recall", "false_negative", "the share of labels that are among the best k classes"
)


def _share_at_k(title: str, at_top_k: Callable[..., Metric], text: str) -> Callable[..., Metric]:
    def metric(
        labels: Any,
        predictions: Any,
        k: int,
        class_id: int | None = None,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with name_scope(name, _at_k_name(title, k, class_id), [predictions]) as scope:
            _, best = top_k(predictions, k)
            return at_top_k(
                labels, best, k, class_id, weights, metrics_collections, updates_collections, scope
            )

    metric.__name__ = f"{title}_at_k"
    metric.__doc__ = f"""`tf.metrics.{title}_at_k`: {text}.

    Args:
        labels: int64 class numbers, dense or sparse, (..., labels), or (...) where each has one.
        predictions: The classes' scores, (..., classes).
        k: How many classes count as predicted.
        class_id: Count this class only.
        weights: A scalar, or a tensor of the rank of (...); or None.
        metrics_collections: Collections to add the value to.
        updates_collections: Collections to add the update to.
        name: Name scope.

    Returns:
        (value, update), float64 scalars.

    Raises:
        ValueError: The shapes do not fit.
    """
    return metric


precision_at_k = _share_at_k(
    "precision", precision_at_top_k, "the share of right ones among the best k classes"
)
recall_at_k = _share_at_k("recall", recall_at_top_k, "the share of labels that are among the best k classes")
sparse_precision_at_k = precision_at_k


def average_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean of the examples' average precisions over their best 1 to k classes.

    Args:
        labels: int64 class numbers, dense or sparse, (..., labels), or (...) where each has one.
        predictions: The classes' scores, (..., classes).
        k: How many classes count as predicted.
        weights: A scalar, or a tensor of the rank of (...); or None.
        metrics_collections: Collections to add the value to.
        updates_collections: Collections to add the update to.
        name: Name scope.

    Returns:
        (value, update), float64 scalars.

    Raises:
        ValueError: `k` is not positive, or the shapes do not fit.
    """
    if k < 1:
        raise InvalidValueError(f"Invalid k={k}.")
    with name_scope(name, _at_k_name("average_precision", k), [predictions]) as outer:
        _, best = top_k(predictions, k)
        labels = _within_classes(_tensor(labels), tf_cast(tf_shape(predictions)[-1], int64))
        with name_scope(outer, "average_precision_at_top_k", [best]) as scope:
            precisions = _average_precisions(labels, best)
            if weights is not None:
                weights = broadcast_weights(tf_cast(weights, float64), precisions)
                precisions = raw_ops.Mul(precisions, weights)
            with name_scope(None, "max", [precisions]) as inner:
                highest = metric_variable([], float64, name=inner)
                if weights is None:
                    batch = tf_cast(tf_size(precisions, name="batch_max"), float64)
                else:
                    batch = reduce_sum(weights, name="batch_max")
                new_highest = assign_add(highest, batch, name="update")
            with name_scope(None, "total", [precisions]) as inner:
                total = metric_variable([], float64, name=inner)
                new_total = assign_add(total, reduce_sum(precisions, name="batch_total"), name="update")
            return published(
                metrics_collections,
                updates_collections,
                lambda: raw_ops.DivNoNan(total, highest, name="mean"),
                lambda: raw_ops.DivNoNan(new_total, new_highest, name=scope),
            )


sparse_average_precision_at_k = average_precision_at_k


def _within_classes(labels: Any, num_classes: Any) -> Any:
    """Labels with -1, which is no class, for numbers of `num_classes` or more."""
    values = labels.values if isinstance(labels, SparseTensor) else labels
    outside = values >= tf_cast(num_classes, values.dtype)
    values = raw_ops.SelectV2(outside, -1 * ones_like(values), values)
    if isinstance(labels, SparseTensor):
        return SparseTensor(labels.indices, values, labels.dense_shape)
    return values


def _average_precisions(labels: Any, predictions_idx: Any) -> Any:
    """For each example the mean of the precisions at its right predictions, (...)."""
    with name_scope(None, "average_precision", [predictions_idx]) as scope:
        predictions_idx = tf_cast(predictions_idx, int64)
        if predictions_idx.get_shape().ndims == 0:
            raise InvalidValueError("The rank of predictions_idx must be at least 1.")
        k = predictions_idx.get_shape().as_list()[-1]
        if k is None:
            raise InvalidValueError("The last dimension of predictions_idx must be set.")
        labels = _expanded_labels(labels, predictions_idx)
        # Each prediction alone is compared with all labels.
        each = expand_dims(predictions_idx, -1, name="predictions_idx_per_k")
        relevant = _sizes("true_positive", _repeated(labels, k), each, None, name="relevant_per_k")
        right = tf_cumsum(relevant, axis=-1, name="tp_per_k")
        retrieved = tf_cumsum(ones_like(relevant), axis=-1, name="retrieved_per_k")
        precisions = tf_div(right, retrieved, name="precision_per_k")
        total = reduce_sum(raw_ops.Mul(precisions, relevant), (-1,), name="precision_sum")
        return tf_div(total, tf_cast(_num_relevant(labels, k), float64), name=scope)


def _repeated(labels: Any, k: int) -> Any:
    """Labels (..., n) as (..., k, n)."""
    with name_scope("labels_per_k"):
        if isinstance(labels, SparseTensor):
            last = tf_reshape(tf_size(labels.dense_shape) - 1, [1])
            one = convert_to_tensor([1], int64)
            shape = concat(
                [
                    tf_slice(labels.dense_shape, [0], last),
                    one,
                    tf_slice(labels.dense_shape, last, [-1]),
                ],
                0,
            )
            expanded = sparse.reshape(labels, shape)
            return expanded if k == 1 else sparse.concat(-2, [expanded] * k)
        expanded = expand_dims(labels, -2)
        ones = ones_like(tf_shape(labels))
        return tf_tile(expanded, concat([ones[:-1], [k], ones[-1:]], 0))


def _num_relevant(labels: Any, k: int) -> Any:
    """How many right predictions there can be among k."""
    if isinstance(labels, SparseTensor):
        return raw_ops.Minimum(set_size(labels), k)
    valid = raw_ops.SelectV2(labels >= 0, ones_like(labels), zeros_like(labels))
    return raw_ops.Minimum(tf_cast(reduce_sum(valid, -1), int32), k)
