"""Crosses of features, and buckets."""

import numpy as np

from . import case, text

INDICES = [np.array([[0, 0], [1, 0], [1, 1]]), np.array([[0, 0], [1, 0], [2, 0]])]
SHAPES = [np.array([3, 2]), np.array([3, 1])]
WORDS = [text(["a", "b", "c"]), text(["x", "y", "z"])]
NUMBERS = np.array([3, -1, 7])
PLAIN = {"hashed_output": False, "num_buckets": 0, "hash_key": 0, "out_type": object, "internal_type": object}
HASHED = {"hashed_output": True, "hash_key": 0xDECAFCAFFE, "out_type": np.int64, "internal_type": np.int64}
ROWS = np.array([[0, 0], [1, 0], [1, 1]])

CASES = [
    case(
        "SparseCross",
        INDICES,
        WORDS,
        SHAPES,
        [],
        **PLAIN,
        expect=(ROWS, text(["a_X_x", "b_X_y", "c_X_y"]), np.array([3, 2])),
    ),
    case(
        "SparseCross",
        INDICES[:1],
        [NUMBERS],
        SHAPES[:1],
        [np.array([[1, 2], [3, 4], [5, 6]]), text([["p"], ["q"], ["r"]])],
        **PLAIN | {"internal_type": np.int64},
        expect=(
            np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [1, 3]]),
            text(["3_X_1_X_p", "3_X_2_X_p", "-1_X_3_X_q", "-1_X_4_X_q", "7_X_3_X_q", "7_X_4_X_q"]),
            np.array([3, 4]),
        ),
        note="numbers_and_dense",
    ),
    case(
        "SparseCross",
        INDICES,
        WORDS,
        SHAPES,
        [],
        **HASHED,
        num_buckets=100,
        expect=(ROWS, np.array([92, 5, 60]), np.array([3, 2])),
        note="buckets",
    ),
    case(
        "SparseCross",
        INDICES,
        [NUMBERS, WORDS[1]],
        SHAPES,
        [],
        **HASHED,
        num_buckets=0,
        expect=(
            ROWS,
            np.array([306214652172042612, 2989579173287419001, 6080331003608173075]),
            np.array([3, 2]),
        ),
        note="hashes",
    ),
    case(
        "BoostedTreesBucketize",
        [np.float32([-1, 0, 0.5, 9]), np.float32([1, 2, 3, 4])],
        [np.float32([0, 1, 2]), np.float32([2.5])],
        expect=(np.int32([0, 0, 1, 2]), np.int32([0, 0, 0, 0])),
        oracle="TensorFlow 2 has no kernel for it",
    ),
]
