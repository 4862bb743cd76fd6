"""`tf.nn.nce_loss` and `tf.nn.sampled_softmax_loss`: losses over many classes by a sample of them.

Source: tensorflow/python/ops/nn_impl.py (r1.15), behaviour only; Gutmann and Hyvärinen, "Noise-contrastive
estimation" (2010); Jean et al., arXiv:1412.2007.
"""

from __future__ import annotations

from typing import Any

from .convert import convert_to_tensor
from .default import name_scope
from .dtypes import int32, int64
from .embeddings import embedding_lookup, parts_of
from .op import raw_ops
from .ops.array_create import ones, ones_like, zeros_like
from .ops.array_join import concat, stack
from .ops.array_select import sparse_to_dense
from .ops.array_shape import expand_dims, tf_reshape, tf_shape
from .ops.array_slice import tf_slice
from .ops.linalg import matmul
from .ops.math_unary import tf_cast
from .ops.nn_loss import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits_v2
from .ops.random_candidates import compute_accidental_hits, log_uniform_candidate_sampler


def _sum_rows(x: Any) -> Any:
    # As TensorFlow: a product, of which the gradient is cheaper than that of a sum.
    columns = tf_shape(x)[1]
    return tf_reshape(matmul(x, ones(stack([columns, 1]), x.dtype)), [-1])


def compute_sampled_logits(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    subtract_log_q: bool = True,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str | None = None,
    seed: int | None = None,
) -> tuple[Any, Any]:
    """Logits and labels of the true classes and of a sample.

    Args:
        weights: (num_classes, dim), also in parts as `embedding_lookup` takes them.
        biases: (num_classes,), also in parts.
        labels: Numbers of the true classes, (batch, num_true).
        inputs: (batch, dim).
        num_sampled: Size of the sample, one for the batch.
        num_classes: Number of classes.
        num_true: True classes an example.
        sampled_values: What a `*_candidate_sampler` gave; by default a log-uniform one is used.
        subtract_log_q: Take the logarithm of what the sampler expects off the logits.
        remove_accidental_hits: Make a sampled class that is a true one count for nothing.
        partition_strategy: See `embedding_lookup`.
        name: Name scope.
        seed: Op seed of the sampler.

    Returns:
        Two float tensors of shape (batch, num_true + num_sampled).
    """
    weights = parts_of(weights)
    with name_scope(name, "compute_sampled_logits", [*weights, biases, inputs, labels]):
        labels, inputs = tf_cast(convert_to_tensor(labels), int64), convert_to_tensor(inputs)
        flat = tf_reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(
                true_classes=labels, num_true=num_true, num_sampled=num_sampled, unique=True,
                range_max=num_classes, seed=seed,
            )  # fmt: skip
        sampled, true_expected, sampled_expected = (raw_ops.StopGradient(item) for item in sampled_values)
        sampled = tf_cast(sampled, int64)
        ids = concat([flat, sampled], 0)

        all_w = tf_cast(embedding_lookup(weights, ids, partition_strategy), inputs.dtype)
        true_w = tf_slice(all_w, [0, 0], stack([tf_shape(flat)[0], -1]))
        sampled_w = tf_slice(all_w, stack([tf_shape(flat)[0], 0]), [-1, -1])
        sampled_logits = matmul(inputs, sampled_w, transpose_b=True)
        all_b = tf_cast(embedding_lookup(biases, ids, partition_strategy), inputs.dtype)
        true_b = tf_slice(all_b, [0], tf_shape(flat))
        sampled_b = tf_slice(all_b, tf_shape(flat), [-1])

        dim = tf_shape(true_w)[1:2]
        grouped = tf_reshape(true_w, concat([[-1, num_true], dim], 0))
        products = tf_reshape(expand_dims(inputs, 1) * grouped, concat([[-1], dim], 0))
        true_logits = tf_reshape(_sum_rows(products), [-1, num_true]) + tf_reshape(true_b, [-1, num_true])
        sampled_logits = sampled_logits + sampled_b
        if remove_accidental_hits:
            sampled_logits = sampled_logits + _hits(labels, sampled, num_true, num_sampled, inputs.dtype)
        if subtract_log_q:
            true_logits = true_logits - raw_ops.Log(true_expected)
            sampled_logits = sampled_logits - raw_ops.Log(sampled_expected)
        logits = concat([true_logits, sampled_logits], 1)
        return logits, concat([ones_like(true_logits) / num_true, zeros_like(sampled_logits)], 1)


def _hits(labels: Any, sampled: Any, num_true: int, num_sampled: int, dtype: Any) -> Any:
    """A great negative number where a sampled class is a true one."""
    examples, ids, values = compute_accidental_hits(labels, sampled, num_true=num_true)
    columns = [tf_reshape(examples, [-1, 1]), tf_reshape(tf_cast(ids, int32), [-1, 1])]
    indices = concat(columns, 1, "sparse_indices")
    shape = concat([tf_shape(labels)[:1], expand_dims(num_sampled, 0)], 0)
    return sparse_to_dense(indices, shape, tf_cast(values, dtype), default_value=0.0, validate_indices=False)


def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str = "nce_loss",
) -> Any:
    """Noise-contrastive estimation: telling true classes from sampled ones; (batch,).

    See `compute_sampled_logits` for the arguments.
    """
    logits, targets = compute_sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        True, remove_accidental_hits, partition_strategy, name,
    )  # fmt: skip
    return _sum_rows(sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name="sampled_losses"))


def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_softmax_loss",
    seed: int | None = None,
) -> Any:
    """Cross entropy of a softmax over the true classes and a sample; (batch,). For training only.

    See `compute_sampled_logits` for the arguments.
    """
    logits, targets = compute_sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        True, remove_accidental_hits, partition_strategy, name, seed,
    )  # fmt: skip
    targets = raw_ops.StopGradient(targets, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=targets, logits=logits)
