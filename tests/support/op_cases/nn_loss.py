"""Cross entropies."""

import numpy as np

from . import case, floats
from .nn import log_softmax, softmax

LOGITS = floats(4, 3)
LABELS = softmax(floats(4, 3, seed=1))
CLASSES = np.array([2, 0, 1, 2], np.int32)
FUSED = "the gradient of its gradient is refused, as in TensorFlow"


def dense(logits, labels):
    return -np.sum(labels * log_softmax(logits), axis=1), softmax(logits) - labels


def sparse(logits, labels):
    one_hot = np.eye(logits.shape[1])[labels].reshape(len(labels), logits.shape[1])
    return dense(logits, one_hot)


CASES = [
    case(
        "SoftmaxCrossEntropyWithLogits",
        LOGITS,
        LABELS,
        expect=dense,
        through=[0],
        second="TensorFlow leaves the labels out of the second derivative",
        atol=1e-6,
    ),
    case(
        "SoftmaxCrossEntropyWithLogits",
        LOGITS,
        LABELS,
        expect=dense,
        grad=[0],
        through=[0],
        atol=1e-6,
        note="logits",
    ),
    case(
        "SoftmaxCrossEntropyWithLogits",
        LOGITS,
        LABELS[:1],
        expect=dense,
        grad="TensorFlow's gradient does not sum",
        note="broadcast",
        atol=1e-6,
    ),
    case(
        "SoftmaxCrossEntropyWithLogits",
        np.zeros((0, 3), np.float32),
        np.zeros((0, 3), np.float32),
        expect=dense,
        grad="empty",
    ),
    case(
        "SparseSoftmaxCrossEntropyWithLogits",
        LOGITS,
        CLASSES,
        expect=sparse,
        second=FUSED,
        through=[0],
        atol=1e-6,
    ),
    case(
        "SparseSoftmaxCrossEntropyWithLogits",
        LOGITS.astype(np.float64),
        CLASSES.astype(np.int64),
        expect=sparse,
        grad="as float32",
    ),
    case(
        "SparseSoftmaxCrossEntropyWithLogits",
        np.zeros((0, 3), np.float32),
        np.zeros(0, np.int32),
        expect=sparse,
        grad="empty",
    ),
]
