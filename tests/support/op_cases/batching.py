"""Batch and its kin, of one run at a time."""

import numpy as np

from . import case, floats

OPTIONS = {
    "num_batch_threads": 1,
    "max_batch_size": 10,
    "batch_timeout_micros": 1000,
    "grad_timeout_micros": 1000000,
}
INDEX = np.array([[7, 0, 2], [9, 2, 5]])
NUMBER = "TensorFlow draws the number of a batch at random"
ROWS = floats(5, 2)

CASES = [
    case(
        "Batch",
        [ROWS, np.arange(5)],
        **OPTIONS,
        expect=lambda given: (*given, np.array([[0, 0, 5]]), np.int64(0)),
        oracle=NUMBER,
        grad="each run has a number of its own: tests of batching",
    ),
    case(
        "Batch",
        [ROWS[:3]],
        allowed_batch_sizes=[2, 4, 10],
        **OPTIONS,
        expect=lambda given: (np.concatenate([given[0], given[0][:1]]), np.array([[0, 0, 3]]), np.int64(0)),
        oracle=NUMBER,
        grad="each run has a number of its own: tests of batching",
        note="padded",
    ),
    case(
        "Unbatch",
        ROWS,
        INDEX,
        np.int64(7),
        timeout_micros=1000,
        expect=ROWS[:2],
        grad="the gradient is of the rows of all runs: tests of batching",
    ),
    case(
        "UnbatchGrad",
        ROWS[:2],
        np.array([[7, 0, 2]]),
        floats(2, 2, seed=3),
        np.int64(7),
        expect=lambda original, index, grad, number: grad,
    ),
]
