"""What random draws of op calls found: fixed draws against TensorFlow, and calls that must be refused."""

import os
import subprocess
import sys

import numpy as np
import op_fuzz
import op_runs
import pytest
from op_cases import case, floats, text

from sgtool import graphcore as tf

DRAWS = int(os.environ.get("SGTOOL_FUZZ_DRAWS", "4"))  # a draw for each op takes about 4 seconds


def test_draws_are_the_same_each_time_and_change_the_rows():
    rows = op_fuzz.rows()
    first, second = ([op_fuzz.shown(draw) for draw in op_fuzz.draws("Add", rows["Add"], 20)] for _ in "12")
    assert first == second
    assert len(set(first)) > 10
    assert set(op_fuzz.EXEMPT) | set(op_fuzz.FINITE) <= set(rows)


@pytest.mark.oracle
def test_draws_agree_with_tensorflow():
    pytest.importorskip("tensorflow")
    done = subprocess.run(
        [sys.executable, op_fuzz.__file__, "--draws", str(DRAWS)],
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr[-2000:]
    assert done.stdout.endswith(
        f"{DRAWS} draws for each of {len(op_fuzz.rows()) - len(op_fuzz.EXEMPT)} ops\n"
    )
    assert done.stdout.count("\n") == 1, done.stdout


A, SHAPE = np.array([[0, 1], [3, 3]]), np.array([3, 4])
REFUSED = [
    (case("SplitV", floats(4), np.array([1, 3]), 0, num_split=3, expect=None), "same elements as outputs"),
    (case("SplitV", floats(4), np.array([-1, -1]), 0, num_split=2, expect=None), "only be one -1"),
    (
        case("StridedSlice", floats(3, 4), [0], [1], [1], ellipsis_mask=3, expect=None),
        "Multiple ellipses in slice spec not allowed",
    ),
    (
        case("ConcatOffset", 1, [np.int32([2]), np.int32([2])], expect=None),
        "Concat dim is out of range: 1 vs. 1",
    ),
    (
        case("ConcatOffset", 0, [np.int32([2, 3]), np.int32([2, 4])], expect=None),
        "All dimensions except 0 must match",
    ),
    (
        case("PlaceholderWithDefault", floats(2, 1), shape=[None, 3], expect=None),
        r"Dimension 1 in both shapes must be equal, but are 1 and 3",
    ),
    (
        case("DecodeCSV", text(["1,2"]), [np.int32([1]), np.int32([1, 2])], expect=None),
        "Shape of a default must be a length-0 or length-1 vector",
    ),
    (
        case(
            "ParseSingleExample",
            text(""),
            [floats(0)],
            num_sparse=2,
            sparse_keys=["c"],
            sparse_types=[tf.string],
            dense_keys=["a"],
            dense_shapes=[[]],
            expect=None,
        ),
        r"num_sparse \(2\) must match the size of sparse_keys \(1\) and sparse_types \(1\)",
    ),
    (
        case("SparseSplit", np.int64(0), A, floats(2), SHAPE, num_split=3, expect=None),
        r"indices\[1\] = \[3,3\] is out of bounds",
    ),
    (
        case("SparseReduceSum", A, floats(2), SHAPE, np.int32([0]), keep_dims=False, expect=None),
        r"indices\[1\] = \[3,3\] is out of bounds",
    ),
    (
        case("SparseSliceGrad", floats(2), A, np.array([0, 0]), np.array([[0, 1], [1, 1]]), expect=None),
        "aren't all propagated",
    ),
    (
        case("RaggedRange", np.float32(0), np.float32(np.inf), np.float32(1), expect=None),
        "Requires finite starts, limits and deltas",
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_a_call_that_makes_no_sense_is_refused_with_the_reason(call, message):
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.InternalError, ValueError), match=message):
        op_runs.run(tf, call)


def test_a_histogram_of_the_largest_integers_has_them_at_its_ends():
    values = np.int32([-(2**31), -1, 4, 2**31 - 1])
    call = case("HistogramFixedWidth", values, np.int32([-1, 4]), np.int32(5), expect=None)
    assert op_runs.run(tf, call)[1][0].tolist() == [2, 0, 0, 0, 2]
