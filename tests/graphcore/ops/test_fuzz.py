"""What random draws of op calls found: fixed draws against TensorFlow, and calls that must be refused."""

import os
import subprocess
import sys

import numpy as np
import op_fuzz
import op_fuzz_checks as checks
import op_runs
import pytest
from op_cases import case, floats, text

from sgtool import graphcore as tf
from sgtool.graphcore import registry

DRAWS = int(os.environ.get("SGTOOL_FUZZ_DRAWS", "4"))  # a draw for each op takes about 4 seconds


def test_draws_are_the_same_each_time_and_change_the_rows():
    rows = op_fuzz.rows()
    first, second = ([op_fuzz.shown(draw) for draw in op_fuzz.draws("Add", rows["Add"], 20)] for _ in "12")
    assert first == second
    assert len(set(first)) > 10
    tables = (op_fuzz.EXEMPT, op_fuzz.FINITE, checks.SHAPES, checks.GRADIENTS, checks.TEXTS)
    assert set().union(*tables) <= set(rows)


def test_no_draw_ends_in_an_error_of_numpy_or_python():
    bare = []
    for op, cases in op_fuzz.rows().items():
        if op in op_fuzz.UNBOUNDED:
            continue
        for number, draw in enumerate(op_fuzz.draws(op, cases, 10, 200), 200):
            cause = op_fuzz.outcome(tf, draw)
            while isinstance(cause, BaseException) and cause.__cause__ is not None:
                if isinstance(cause.__cause__, tf.errors.OpError):
                    break
                cause = cause.__cause__
            ours = isinstance(cause, tf.errors.OpError) or type(cause).__module__.startswith("sgtool.")
            if isinstance(cause, BaseException) and not ours:
                bare.append(f"{op} {number}: {cause!r}")
    assert not bare


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
    assert done.stdout.endswith(f"{DRAWS} draws for each of {len(op_fuzz.rows())} ops\n")
    assert done.stdout.count("\n") == 1, done.stdout


A, SHAPE = np.array([[0, 1], [3, 3]]), np.array([3, 4])
REFUSED = [
    (case("Transpose", floats(2, 3), np.int32([1, 1]), expect=None), "0 is missing from {1,1}"),
    (
        case("MirrorPadGrad", floats(1, 3), np.int32([[1, 0], [0, 0]]), mode="SYMMETRIC", expect=None),
        "Total paddings must be less than the input dimension size: 1 was not less than 1",
    ),
    (
        case("SparseSegmentMeanGrad", floats(2, 2), np.int32([0, 1]), np.int32([0, 1, 1]), 3, expect=None),
        "Dimension 0 in both shapes must be equal, but are 3 and 2",
    ),
    (
        case("PadV2", floats(2, 3), np.zeros((2, 0), np.int32), np.float32(0), expect=None),
        "Dimension must be 2 but is 0",
    ),
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


INDEXED = [
    # As in C, where a quotient is rounded towards 0.
    (case("UnravelIndex", np.int32([-1, 4]), np.int32([2, 3]), expect=None), [[0, 1], [-1, 1]]),
    (case("UnsortedSegmentSum", np.zeros((0, 2), np.float32), np.zeros(0, np.int32), 0, expect=None), []),
    # TensorFlow does not compare the indices with the shape.
    (
        case(
            "SparseAdd",
            np.array([[1, 7]]),
            np.int32([1]),
            np.array([2, 3]),
            np.array([[0, -1], [1, 7]]),
            np.int32([5, 2]),
            np.array([2, 3]),
            np.int32(0),
            expect=None,
        ),
        [[0, -1], [1, 7]],
    ),
    # A threshold that is NaN lets nothing stay beside the best.
    (
        case(
            "NonMaxSuppressionWithOverlaps",
            np.eye(3, dtype=np.float32),
            np.float32([0.5, 0.9, 0.7]),
            3,
            np.float32(np.nan),
            np.float32(0),
            expect=None,
        ),
        [1],
    ),
]


@pytest.mark.parametrize(("call", "expected"), INDEXED, ids=lambda item: getattr(item, "op", ""))
def test_what_lies_outside_is_taken_as_tensorflow_takes_it(call, expected):
    assert op_runs.run(tf, call)[1][0].tolist() == expected


@pytest.mark.oracle
@pytest.mark.parametrize(("call", "expected"), INDEXED, ids=lambda item: getattr(item, "op", ""))
def test_tensorflow_takes_what_lies_outside_that_way(call, expected):
    tensorflow = pytest.importorskip("tensorflow.compat.v1")
    assert op_runs.run(tensorflow, call)[1][0].tolist() == expected


PARTLY = [  # (op, shapes or known values of the inputs, attributes, the first output's shape)
    ("MatrixSolve", (None, [None, 5]), {}, [None, 5]),
    ("MatrixSolveLs", ([None, 3], None, []), {}, [3, None]),
    ("GatherV2", ([None, 4, None], [7, None], []), {}, [None] * 4),
    ("SoftmaxCrossEntropyWithLogits", (None, [4, 3]), {}, [4]),
    (
        "MaxPoolGradWithArgmax",
        (None, None, None),
        {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1]},
        [None] * 4,
    ),
    ("BatchMatMul", ([None, None, 2], [6, 2, 4]), {}, [6, None, 4]),
    ("BatchMatMul", (None, [6, 2, 4]), {}, [6, None, 4]),
    ("MatrixSetDiag", (None, [2, 3]), {}, [2, None, None]),
    ("MatrixSetDiagV2", (None, [2, 3], []), {}, [2, None, None]),
    ("InvertPermutation", (None,), {}, [None]),
    ("Tile", ([0, 1], [2]), {}, [0, None]),
    ("DepthToSpace", (None,), {"block_size": 2, "data_format": "NCHW_VECT_C"}, [None] * 4 + [4]),
    ("SparseDenseCwiseMul", ([4, 2], [None], [2], None), {}, [4]),
    ("RaggedRange", ([None], [2], []), {}, [3]),
    ("Reverse", (None, [3]), {}, [None] * 3),
    ("MirrorPadGrad", (None, [2, 2]), {"mode": "REFLECT"}, [None] * 2),
    (
        "AvgPool",
        ([None, 4, 4, 2],),
        {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "data_format": "NCHW"},
        [None, 4, 2, 2],
    ),
]


@pytest.mark.parametrize(("name", "shapes", "attrs", "expected"), PARTLY, ids=lambda item: str(item)[:30])
def test_static_shapes_of_inputs_that_are_partly_known(name, shapes, attrs, expected):
    declared = registry.find(name).definition
    if "padding" in declared.attrs:
        attrs = attrs | {"padding": "VALID"}
    with tf.Graph().as_default():
        inputs = {}
        for arg, shape in zip(declared.inputs, shapes, strict=True):
            if arg.dtype is not None:
                dtype = arg.dtype
            else:
                allowed = declared.attrs[arg.type_attr].allowed
                dtype = tf.float32 if not allowed or tf.float32 in allowed else allowed[0]
            inputs[arg.name] = tf.placeholder(dtype, shape)
        output = op_runs.apply(tf, name, inputs | attrs).outputs[0]
        assert output.get_shape().as_list() == expected


def test_a_product_with_zero_repetitions_is_empty():
    with tf.Graph().as_default():
        times = tf.stack([tf.placeholder(tf.int32, []), 0])
        assert tf.tile(tf.placeholder(tf.float32, [None, 3]), times).get_shape().as_list() == [None, 0]


def test_assert_of_floats_is_a_conditional_as_tensorflow_builds_it():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [])
        check = tf.Assert(x > 0, [x])
        assert (check.name, check.type) == ("Assert/AssertGuard/Merge", "Merge")
        assert graph.get_operation_by_name("Assert/AssertGuard/Assert").type == "Assert"
        with tf.Session() as session:
            session.run(check, {x: 1.0})
            with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
                session.run(check, {x: -1.0})


def test_gradients_have_the_names_that_tensorflow_gives_them():
    with tf.Graph().as_default() as graph:
        w = tf.Variable(tf.zeros([3]))
        loss = tf.reduce_sum(tf.exp(w) * tf.sin(w))
        tf.train.GradientDescentOptimizer(0.1).compute_gradients(loss)
        names = {operation.name for operation in graph.get_operations()}
    assert {
        "gradients/Sum_grad/Const",
        "gradients/mul_grad/Mul",
        "gradients/mul_grad/Mul_1",
        "gradients/mul_grad/tuple/group_deps",
        "gradients/mul_grad/tuple/control_dependency",
        "gradients/mul_grad/tuple/control_dependency_1",
    } <= names


def test_a_histogram_of_the_largest_integers_has_them_at_its_ends():
    values = np.int32([-(2**31), -1, 4, 2**31 - 1])
    call = case("HistogramFixedWidth", values, np.int32([-1, 4]), np.int32(5), expect=None)
    assert op_runs.run(tf, call)[1][0].tolist() == [2, 0, 0, 0, 2]
