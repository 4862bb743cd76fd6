"""`tf.nn.ctc_loss_v2` and what prepares labels for it.

Source: tensorflow/python/ops/ctc_ops.py (r1.15), behaviour only; Graves et al., "Connectionist temporal
classification" (2006).
"""

from __future__ import annotations

from typing import Any

from .convert import convert_to_tensor
from .default import name_scope
from .dtypes import bool_, int32, int64
from .errors import InvalidValueError
from .higher_order import map_fn
from .op import raw_ops
from .ops.array_create import ones_like, tf_range
from .ops.array_functions import sequence_mask
from .ops.array_join import concat, pad, stack
from .ops.array_select import boolean_mask, scatter_nd, where
from .ops.array_shape import expand_dims, tf_reshape, tf_shape
from .ops.ctc import ctc_loss
from .ops.math_unary import tf_cast
from .ops.reduction import reduce_max, reduce_sum
from .sparse_tensor import SparseTensor
from .tensor_shape import dimension_value


def _size(tensor: Any, axis: int) -> Any:
    return dimension_value(tensor.get_shape()[axis]) or tf_shape(tensor)[axis]


def ctc_loss_v2(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Any:
    """The negative log probability of sequences of labels, (batch,).

    Args:
        labels: Class numbers, dense (batch, n) or sparse.
        logits: (time, batch, classes).
        label_length: (batch,), lengths of dense labels; not used of sparse ones.
        logit_length: (batch,).
        logits_time_major: False for logits of (batch, time, classes).
        unique: What `ctc_unique_labels` gave; not needed here.
        blank_index: The number of the blank, also counted from the end; by default 0 of dense labels.
        name: Name scope.

    Raises:
        ValueError: `blank_index` is not given with sparse labels.
    """
    if isinstance(labels, SparseTensor) and blank_index is None:
        raise InvalidValueError("blank_index must be given when using SparseTensor labels.")
    with name_scope(name, "ctc_loss_dense", [logits, logit_length]):
        logits = convert_to_tensor(logits, name="logits")
        if not isinstance(labels, SparseTensor):
            labels = dense_labels_to_sparse(labels, label_length)
        blank: Any = blank_index or 0
        if blank < 0:
            blank = blank + _size(logits, 2)
        # The op takes the last class for the blank.
        parts = [logits[:, :, :blank], logits[:, :, blank + 1 :], logits[:, :, blank : blank + 1]]
        values = where(labels.values < tf_cast(blank, labels.values.dtype), labels.values, labels.values - 1)
        moved = SparseTensor(labels.indices, tf_cast(values, int32), labels.dense_shape)
        return ctc_loss(moved, concat(parts, axis=2), logit_length, time_major=logits_time_major)


def dense_labels_to_sparse(dense: Any, length: Any) -> SparseTensor:
    """The first `length` labels of each row as int32, in a shape as wide as the longest."""
    dense, length = convert_to_tensor(dense), convert_to_tensor(length)
    mask = sequence_mask(length, maxlen=tf_shape(dense)[1])
    shape = stack([tf_shape(dense, out_type=int64)[0], tf_cast(reduce_max(length), int64)])
    return SparseTensor(raw_ops.Where(mask), tf_cast(boolean_mask(dense, mask), int32), shape)


def collapse_repeated(labels: Any, seq_length: Any, name: str | None = None) -> tuple[Any, Any]:
    """(labels, lengths) with each run of equal labels as one.

    Args:
        labels: (batch, n).
        seq_length: (batch,).
        name: Name scope.
    """
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = convert_to_tensor(labels, name="labels")
        seq_length = convert_to_tensor(seq_length, name="seq_length")
        first = ones_like(labels[:, :1], bool_)
        changes = concat([first, raw_ops.NotEqual(labels[:, 1:], labels[:, :-1])], axis=1)
        kept = raw_ops.LogicalAnd(changes, sequence_mask(seq_length, maxlen=_size(labels, 1)))
        lengths = reduce_sum(tf_cast(kept, int32), axis=1)
        longest = reduce_max(lengths)
        places = tf_reshape(sequence_mask(lengths, maxlen=longest), [-1])
        targets = boolean_mask(tf_range(_size(places, 0)), places)
        values = boolean_mask(tf_reshape(labels, [-1]), tf_reshape(kept, [-1]))
        flat = scatter_nd(expand_dims(targets, axis=1), values, tf_shape(places))
        return tf_reshape(flat, [_size(labels, 0), longest]), tf_cast(lengths, seq_length.dtype)


def ctc_unique_labels(labels: Any, name: str | None = None) -> list[Any]:
    """[the different labels of each row, padded with 0; for each label its place among them].

    Args:
        labels: (batch, n).
        name: Name scope.
    """
    with name_scope(name, "ctc_unique_labels", [labels]):
        labels = convert_to_tensor(labels, name="labels")

        def unique(row: Any) -> list[Any]:
            found = raw_ops.Unique(row)
            padded = pad(found.y, [[0, _size(found.idx, 0) - _size(found.y, 0)]])
            return [tf_cast(padded, int64), found.idx]

        return list(map_fn(unique, labels, dtype=[int64, int32]))
