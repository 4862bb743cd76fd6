"""Lists of tensors as values: what goes in comes out, with TensorFlow's errors, shapes and gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as ours
from sgtool.graphcore.op import raw_ops as our_ops

VALUE = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, -6.0], [7.0, 8.0]], np.float32)
LENGTHS = np.array([1, 0, 3], np.int64)


class Ops:
    """raw_ops of either system by positional inputs, in the order of the declaration."""

    def __init__(self, tf: Any) -> None:
        self.tf = tf

    def __getattr__(self, name: str) -> Any:
        if self.tf is ours:
            return getattr(our_ops, name)
        definition = getattr(our_ops, name).definition
        call = getattr(self.tf.raw_ops, name)
        return lambda *inputs, **attrs: call(
            **dict(zip([arg.name for arg in definition.inputs], inputs)), **attrs
        )


@pytest.fixture(params=["ours", pytest.param("theirs", marks=pytest.mark.oracle)])
def tf(request: pytest.FixtureRequest) -> Iterator[Any]:
    module: Any = ours
    if request.param == "theirs":
        module = pytest.importorskip("tensorflow.compat.v1")
        module.disable_eager_execution()
    with module.Graph().as_default():
        yield module


def floats(tf: Any) -> dict[str, Any]:
    return {"element_dtype": tf.float32}


def int32s(tf: Any, *values: int) -> Any:
    return tf.constant(np.array(values, np.int32))


def int64s(tf: Any, *values: int) -> Any:
    return tf.constant(np.array(values, np.int64))


def stacked(tf: Any, x: Any) -> Any:
    r = Ops(tf)
    found = r.TensorListFromTensor(x, int32s(tf, 2))
    return r.TensorListStack(found, int32s(tf, -1), **floats(tf)) ** 2.0


def set_and_get(tf: Any, x: Any) -> Any:
    r = Ops(tf)
    found = r.TensorListFromTensor(x, int32s(tf, 2))
    found = r.TensorListSetItem(found, 1, x[0] * 3.0)
    first = r.TensorListGetItem(found, 1, int32s(tf, 2), **floats(tf))
    return first * r.TensorListStack(found, int32s(tf, 2), **floats(tf))


def pushed_and_popped(tf: Any, x: Any) -> Any:
    r = Ops(tf)
    found = r.EmptyTensorList(int32s(tf, 2), 5, **floats(tf))
    for row in range(3):
        found = r.TensorListPushBack(found, x[row] * (row + 1.0))
    found, last = r.TensorListPopBack(found, int32s(tf, 2), **floats(tf))
    return last * last + r.TensorListGetItem(found, 0, int32s(tf, 2), **floats(tf))


def missing_elements(tf: Any, x: Any) -> Any:
    r = Ops(tf)
    found = r.TensorListReserve(int32s(tf, -1), 3, **floats(tf))
    found = r.TensorListSetItem(found, 1, x[2])
    return r.TensorListStack(found, int32s(tf, 2), **floats(tf)) * 2.0


def scattered_and_gathered(tf: Any, x: Any) -> Any:
    r = Ops(tf)
    found = r.TensorListScatterV2(x, int32s(tf, 3, 0, 1, 2), int32s(tf, 2), 6)
    found = r.TensorListScatterIntoExistingList(found, x[:1] * 10.0, int32s(tf, 5))
    return r.TensorListGather(found, int32s(tf, 5, 0, 4, 0), int32s(tf, 2), **floats(tf)) ** 2.0


def old_scatter(tf: Any, x: Any) -> Any:
    r = Ops(tf)
    found = r.TensorListScatter(x, int32s(tf, 3, 0, 1, 2), int32s(tf, 2))
    return r.TensorListStack(found, int32s(tf, 2), **floats(tf)) ** 2.0


def split_and_joined(tf: Any, x: Any) -> Any:
    r = Ops(tf)
    found = r.TensorListSplit(x, int32s(tf, -1, 2), int64s(tf, *LENGTHS))
    joined, lengths = r.TensorListConcatV2(found, int32s(tf, -1, 2), int64s(tf), **floats(tf))
    return joined * tf.cast(tf.reduce_max(lengths), tf.float32)


def old_join(tf: Any, x: Any) -> Any:
    r = Ops(tf)
    found = r.TensorListSplit(x * x, int32s(tf, -1, 2), int64s(tf, 2, 2))
    return r.TensorListConcat(found, element_shape=[None, 2], **floats(tf)).tensor * 2.0


def resized(tf: Any, x: Any) -> Any:
    r = Ops(tf)
    found = r.TensorListResize(r.TensorListFromTensor(x, int32s(tf, 2)), 5)
    return r.TensorListStack(found, int32s(tf, 2), **floats(tf)) ** 2.0


TWICE = 2.0 * VALUE
ZERO = np.zeros(2, np.float32)
EXPECTED: dict[Any, tuple[np.ndarray, np.ndarray]] = {
    stacked: (VALUE**2, TWICE),
    set_and_get: (
        3.0 * VALUE[0] * np.stack([VALUE[0], 3.0 * VALUE[0], VALUE[2], VALUE[3]]),
        np.stack(
            [
                3.0 * VALUE[0] + 3.0 * (VALUE[0] + 3.0 * VALUE[0] + VALUE[2] + VALUE[3]) + 9.0 * VALUE[0],
                ZERO,
                3.0 * VALUE[0],
                3.0 * VALUE[0],
            ]
        ),
    ),
    pushed_and_popped: (9.0 * VALUE[2] ** 2 + VALUE[0], np.stack([ZERO + 1, ZERO, 18.0 * VALUE[2], ZERO])),
    missing_elements: (np.stack([ZERO, 2.0 * VALUE[2], ZERO]), np.stack([ZERO, ZERO, ZERO + 2, ZERO])),
    scattered_and_gathered: (
        np.stack([100.0 * VALUE[0] ** 2, VALUE[1] ** 2, ZERO, VALUE[1] ** 2]),
        np.stack([200.0 * VALUE[0], 4.0 * VALUE[1], ZERO, ZERO]),
    ),
    old_scatter: (VALUE[[1, 2, 3, 0]] ** 2, TWICE),
    split_and_joined: (3.0 * VALUE, np.full((4, 2), 3.0, np.float32)),
    old_join: (2.0 * VALUE**2, 4.0 * VALUE),
    resized: (np.concatenate([VALUE**2, [ZERO]]), TWICE),
}


# Two rows of one element get both gradients in TensorFlow, the last one's here and there alike.
@pytest.mark.parametrize("build", [build for build in EXPECTED if build is not scattered_and_gathered])
def test_values_and_gradients(tf: Any, build: Any) -> None:
    x = tf.placeholder(tf.float32, [4, 2])
    result = build(tf, x)
    (gradient,) = tf.gradients(tf.reduce_sum(result), x)
    with tf.Session() as session:
        for value, wanted in zip(session.run([result, gradient], {x: VALUE}), EXPECTED[build], strict=True):
            np.testing.assert_allclose(value, wanted)


def test_gathered_values(tf: Any) -> None:
    x = tf.placeholder(tf.float32, [4, 2])
    with tf.Session() as session:
        value = session.run(scattered_and_gathered(tf, x), {x: VALUE})
    np.testing.assert_allclose(value, EXPECTED[scattered_and_gathered][0])


def test_lengths_and_shapes(tf: Any) -> None:
    r = Ops(tf)
    x = tf.placeholder(tf.float32, [4, 2])
    found = r.TensorListFromTensor(x, int32s(tf, 2))
    unknown = r.EmptyTensorList(tf.constant(-1), -1, **floats(tf))
    fetches = [
        r.TensorListLength(found),
        r.TensorListElementShape(found, shape_type=tf.int64),
        r.TensorListElementShape(unknown, shape_type=tf.int32),
    ]
    with tf.Session() as session:
        length, shape, none = session.run(fetches, {x: VALUE})
    assert (length, shape.tolist(), none) == (4, [2], -1)
    assert shape.dtype == np.int64


def test_lists_of_lists(tf: Any) -> None:
    r = Ops(tf)
    x = tf.placeholder(tf.float32, [4, 2])
    first = r.TensorListFromTensor(x, int32s(tf, 2))
    both = tf.stack([first, r.TensorListResize(first, 2)])
    pushed = r.TensorListPushBackBatch(both, tf.constant(VALUE[:2] * 9.0))
    joined = r.TensorListConcatLists(pushed, both, **floats(tf))
    one, two = tf.unstack(joined, num=2)
    outer = r.TensorListPushBack(r.EmptyTensorList(int32s(tf), -1, element_dtype=tf.variant), two)
    again = r.TensorListGetItem(outer, 0, int32s(tf), element_dtype=tf.variant)
    fetches = [r.TensorListStack(each, int32s(tf, 2), **floats(tf)) for each in (one, again)]
    with tf.Session() as session:
        values = session.run(fetches, {x: VALUE})
    np.testing.assert_array_equal(values[0], np.concatenate([VALUE, [VALUE[0] * 9.0], VALUE]))
    np.testing.assert_array_equal(values[1], np.concatenate([VALUE[:2], [VALUE[1] * 9.0], VALUE[:2]]))


ERRORS: list[tuple[Any, str]] = [
    (
        lambda tf, r, x: (
            r.TensorListPopBack(
                r.EmptyTensorList(int32s(tf, 2), -1, **floats(tf)), int32s(tf, 2), **floats(tf)
            ).tensor
        ),
        "Trying to pop from an empty list.",
    ),
    (
        lambda tf, r, x: r.TensorListGetItem(
            r.TensorListFromTensor(x, int32s(tf, 2)), 4, int32s(tf, 2), **floats(tf)
        ),
        "Trying to access element 4 in a list with 4 elements.",
    ),
    (
        lambda tf, r, x: r.TensorListLength(
            r.TensorListSetItem(r.TensorListFromTensor(x, int32s(tf, 2)), 4, x[0])
        ),
        "Trying to modify element 4 in a list with 4 elements.",
    ),
    (
        lambda tf, r, x: r.TensorListStack(
            r.TensorListReserve(int32s(tf, -1), 2, **floats(tf)), int32s(tf, -1), **floats(tf)
        ),
        "Tried to stack list which only contains uninitialized tensors",
    ),
    (
        lambda tf, r, x: r.TensorListStack(
            r.TensorListFromTensor(x, int32s(tf, 2)), int32s(tf, 2), num_elements=3, **floats(tf)
        ),
        "Operation expected a list with 3 elements but got a list with 4 elements.",
    ),
    (
        lambda tf, r, x: r.TensorListLength(r.TensorListSplit(x, int32s(tf, -1, 2), int64s(tf, 1, 2))),
        "Unused values in tensor. Length of tensor: 4 Values used: 3",
    ),
    (
        lambda tf, r, x: r.TensorListLength(
            r.TensorListPushBack(r.EmptyTensorList(int32s(tf, 2), 0, **floats(tf)), x[0])
        ),
        "Tried to push item into a full list",
    ),
]


@pytest.mark.parametrize(("build", "message"), ERRORS, ids=[message[:30] for _, message in ERRORS])
def test_errors(tf: Any, build: Any, message: str) -> None:
    x = tf.placeholder(tf.float32, None)
    result = build(tf, Ops(tf), x)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(result, {x: VALUE})


def test_optional_values(tf: Any) -> None:
    r = Ops(tf)
    value = r.OptionalFromValue([tf.constant(3), tf.constant([1.5, 2.5])])
    none = r.OptionalNone()
    kinds = {"output_types": [tf.int32, tf.float32], "output_shapes": [[], [2]]}
    parts = r.OptionalGetValue(value, **kinds)
    assert parts[1].get_shape().as_list() == [2]
    with tf.Session() as session:
        assert session.run([r.OptionalHasValue(value), r.OptionalHasValue(none)]) == [True, False]
        first, second = session.run(list(parts))
        assert (first, second.tolist()) == (3, [1.5, 2.5])
        with pytest.raises(tf.errors.InvalidArgumentError, match="The given optional does not have a value"):
            session.run(list(r.OptionalGetValue(none, **kinds)))


def test_the_gradient_of_an_optional_value(tf: Any) -> None:
    r = Ops(tf)
    x = tf.placeholder(tf.float32, [2])
    (value,) = r.OptionalGetValue(
        r.OptionalFromValue([x * 3.0]), output_types=[tf.float32], output_shapes=[[2]]
    )
    (gradient,) = tf.gradients(value * value, x)
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(gradient, {x: [1.0, -2.0]}), [18.0, -36.0])
