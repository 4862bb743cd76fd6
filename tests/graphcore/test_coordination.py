"""Staging areas, accumulators, barriers and mutexes: here, and the same programs in TensorFlow."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as ours


def raw(tf: Any, op: str, **arguments: Any) -> Any:
    """An op by its own argument names: TensorFlow's raw_ops take keywords only."""
    return getattr(tf.raw_ops, op)(**arguments)


def staging(tf: Any, run: Any) -> list[Any]:
    common = {"shared_name": "area", "dtypes": [tf.int32, tf.string]}
    x = tf.placeholder(tf.int32, [])
    put = raw(tf, "Stage", values=[x, tf.as_string(x)], shared_name="area")
    for value in (3, 4, 5):
        run(put, {x: value})
    found = [run(raw(tf, "StageSize", **common)), run(raw(tf, "StagePeek", index=1, **common))]
    found += [run(raw(tf, "Unstage", **common)) for _ in range(2)]
    run(raw(tf, "StageClear", **common))
    return [*found, run(raw(tf, "StageSize", **common))]


def maps(tf: Any, run: Any, prefix: str) -> list[Any]:
    common = {"shared_name": "map"}
    both = {"dtypes": [tf.float32, tf.float32], **common}
    for key, indices, values in (
        (7, [0, 1], [1.0, 2.0]),
        (2, [1], [4.0]),
        (5, [0, 1], [5.0, 6.0]),
        (2, [0], [3.0]),
    ):
        arguments = {"key": tf.constant(key, tf.int64), "indices": indices, "values": values}
        run(raw(tf, f"{prefix}Stage", **arguments, **both))
    run(raw(tf, f"{prefix}Stage", key=tf.constant(9, tf.int64), indices=[0], values=[0.0], **both))
    sizes = [run(raw(tf, f"{prefix}{what}", **both)) for what in ("Size", "IncompleteSize")]
    seven, five = tf.constant(7, tf.int64), tf.constant(5, tf.int64)
    found = [run(raw(tf, f"{prefix}Peek", key=seven, indices=[0, 1], **both))]
    one = {"dtypes": [tf.float32], **common}
    found.append(run(raw(tf, f"{prefix}Unstage", key=seven, indices=[1], **one)))
    found.append(run(raw(tf, f"{prefix}Unstage", key=five, indices=[0, 1], **both)))
    found.append(run(raw(tf, f"{prefix}UnstageNoKey", indices=[0], **one)) if "Ordered" in prefix else None)
    sizes.append(run(raw(tf, f"{prefix}Size", **both)))
    run(raw(tf, f"{prefix}Clear", **both))
    sizes += [run(raw(tf, f"{prefix}{what}", **both)) for what in ("Size", "IncompleteSize")]
    return [*found, *sizes]


def accumulator(tf: Any, run: Any, resource: bool, reduction: str) -> list[Any]:
    if resource:
        made = tf.ConditionalAccumulator(tf.float32, [2], reduction_type=reduction)
        apply, take = made.apply_grad, made.take_grad
        count, advance = made.num_accumulated, made.set_global_step
    else:
        handle = raw(tf, "ConditionalAccumulator", dtype=tf.float32, shape=[2], reduction_type=reduction)

        def apply(grad: Any, local_step: int = 0) -> Any:
            step = tf.constant(local_step, tf.int64)
            return raw(tf, "AccumulatorApplyGradient", handle=handle, local_step=step, gradient=grad)

        def take(required: int) -> Any:
            arguments = {"num_required": required, "dtype": tf.float32}
            return raw(tf, "AccumulatorTakeGradient", handle=handle, **arguments)

        def count() -> Any:
            return raw(tf, "AccumulatorNumAccumulated", handle=handle)

        def advance(step: int) -> Any:
            step = tf.constant(step, tf.int64)
            return raw(tf, "AccumulatorSetGlobalStep", handle=handle, new_global_step=step)

    for grad in ([1.0, 2.0], [3.0, 4.0], [6.0, 7.0]):
        run(apply(tf.constant(grad)))
    found = [run(count()), run(take(2)), run(count())]
    run(apply(tf.constant([1.0, 1.0]), local_step=0))  # too old now
    run(apply(tf.constant([9.0, 1.0]), local_step=1))
    run(advance(5))
    run(apply(tf.constant([7.0, 7.0]), local_step=4))
    return [*found, run(count()), run(take(1))]


def sparse_accumulator(tf: Any, run: Any, reduction: str) -> list[Any]:
    made = tf.SparseConditionalAccumulator(tf.float32, [5, 2], reduction_type=reduction)
    first = tf.IndexedSlices(
        tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1, 3], tf.int64), tf.constant([5, 2], tf.int64)
    )
    run(made.apply_indexed_slices_grad(first))
    run(made.apply_grad([0, 3], tf.constant([[5.0, 5.0], [6.0, 6.0]])))
    run(made.apply_grad([4], tf.constant([[7.0, 7.0]]), grad_shape=[5, 2]))
    taken = run(list(made.take_grad(3)))
    run(made.apply_grad([2], tf.constant([[1.0, 1.0]]), local_step=1))
    slices = run(made.take_indexed_slices_grad(1))
    return [*taken, slices.indices, slices.values, slices.dense_shape, run(made.num_accumulated())]


def barrier(tf: Any, run: Any) -> list[Any]:
    types = [tf.float32, tf.int32]
    handle = raw(tf, "Barrier", component_types=types, shapes=[[2], []])
    insert = {"op": "BarrierInsertMany", "handle": handle}
    take = {"handle": handle, "component_types": types}
    run(raw(tf, keys=["a", "b"], values=[[1.0, 2.0], [3.0, 4.0]], component_index=0, **insert))
    run(raw(tf, keys=["c", "b"], values=[30, 20], component_index=1, **insert))
    sizes = [run(raw(tf, f"Barrier{what}Size", handle=handle)) for what in ("Ready", "Incomplete")]
    run(raw(tf, keys=["a"], values=[10], component_index=1, **insert))
    found = list(run(raw(tf, "BarrierTakeMany", num_elements=2, **take)))
    run(raw(tf, "BarrierClose", handle=handle))
    run(raw(tf, keys=["c"], values=[[5.0, 6.0]], component_index=0, **insert))
    found += list(run(raw(tf, "BarrierTakeMany", num_elements=3, allow_small_batch=True, **take)))
    return [*sizes, *found]


def mutex(tf: Any, run: Any) -> list[Any]:
    lock = raw(tf, "MutexV2", shared_name="m")
    held = raw(tf, "MutexLock", mutex=lock)
    with tf.control_dependencies([held]):
        value = tf.constant(1) + 1
    with tf.control_dependencies([value]):
        done = raw(tf, "ConsumeMutexLock", mutex_lock=held)
    with tf.control_dependencies([done]):
        value = tf.identity(value)
    return [run(value) for _ in range(3)]


PROGRAMS = {
    "staging": staging,
    "map": lambda tf, run: maps(tf, run, "Map"),
    "ordered_map": lambda tf, run: maps(tf, run, "OrderedMap"),
    "accumulator": lambda tf, run: accumulator(tf, run, True, "MEAN"),
    "accumulator_sum": lambda tf, run: accumulator(tf, run, True, "SUM"),
    "accumulator_by_ref": lambda tf, run: accumulator(tf, run, False, "MEAN"),
    "sparse_accumulator": lambda tf, run: sparse_accumulator(tf, run, "MEAN"),
    "sparse_accumulator_sum": lambda tf, run: sparse_accumulator(tf, run, "SUM"),
    "barrier": barrier,
    "mutex": mutex,
}
EXPECTED = {
    "staging": [3, [4, b"4"], [3, b"3"], [4, b"4"], 0],
    "map": [[1, 2], [2], [5, 6], None, 3, 1, 2, 0, 0],
    "ordered_map": [[1, 2], [2], [5, 6], [2, [3]], 3, 1, 2, 0, 0],
    "accumulator": [3, [10 / 3, 13 / 3], 0, 1, [9, 1]],
    "accumulator_sum": [3, [10, 13], 0, 1, [9, 1]],
    "accumulator_by_ref": [3, [10 / 3, 13 / 3], 0, 1, [9, 1]],
    "sparse_accumulator": [
        [0, 1, 3, 4],
        [[5, 5], [1, 2], [4.5, 5], [7, 7]],
        [5, 2],
        *([2], [[1, 1]], [5, 2], 0),
    ],
    "sparse_accumulator_sum": [
        [0, 1, 3, 4],
        [[5, 5], [1, 2], [9, 10], [7, 7]],
        [5, 2],
        *([2], [[1, 1]], [5, 2], 0),
    ],
    "barrier": [
        *(1, 2),
        *([-(2**63), -(2**63)], [b"b", b"a"], [[[3, 4], [1, 2]], [20, 10]]),
        *([1 - 2**63], [b"c"], [[[5, 6]], [30]]),
    ],
    "mutex": [2, 2, 2],
}


def plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return np.asarray(value).tolist() if value is not None and not isinstance(value, bytes) else value


def results(tf: Any, name: str) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return plain(PROGRAMS[name](tf, session.run))


def close(mine: Any, other: Any) -> bool:
    if isinstance(mine, list):
        return len(mine) == len(other) and all(close(a, b) for a, b in zip(mine, other, strict=True))
    return mine == pytest.approx(other) if isinstance(mine, float) else mine == other


@pytest.mark.parametrize("name", EXPECTED)
def test_programs(name: str) -> None:
    assert close(results(ours, name), EXPECTED[name])


# Without the one with references, which TensorFlow's raw_ops do not make.
@pytest.mark.oracle
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "accumulator_by_ref"])
def test_programs_in_tensorflow(name: str) -> None:
    tf = pytest.importorskip("tensorflow.compat.v1")
    tf.disable_v2_behavior()
    assert close(results(ours, name), results(tf, name))


# What waits


def test_staging_waits_for_room_and_for_tuples() -> None:
    with ours.Graph().as_default(), ours.Session() as session:
        x = ours.placeholder(ours.float32, [])
        put = ours.raw_ops.Stage([x], capacity=1, shared_name="s")
        get = ours.raw_ops.Unstage(dtypes=[ours.float32], capacity=1, shared_name="s")

        def fill() -> None:
            for number in range(5):
                session.run(put, {x: number})

        thread = threading.Thread(target=fill)
        thread.start()
        assert [session.run(get)[0] for _ in range(5)] == [0, 1, 2, 3, 4]
        thread.join(10)
        assert not thread.is_alive()
        with pytest.raises(ours.errors.DeadlineExceededError, match="Timed out waiting"):
            session.run(get, options=ours.RunOptions(timeout_in_ms=20))


def test_a_closed_session_ends_the_waiting() -> None:
    with ours.Graph().as_default():
        session = ours.Session()
        taken = ours.ConditionalAccumulator(ours.float32).take_grad(1)
        errors: list[Exception] = []

        def wait() -> None:
            try:
                session.run(taken)
            except ours.errors.CancelledError as error:
                errors.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        threading.Event().wait(0.1)
        session.close()
        thread.join(10)
        assert "TakeGrad operation was cancelled" in str(errors[0])


def test_a_lock_is_held_by_one() -> None:
    with ours.Graph().as_default(), ours.Session() as session:
        lock = ours.raw_ops.MutexV2()
        first = ours.raw_ops.MutexLock(lock)
        with ours.control_dependencies([first]):
            second = ours.raw_ops.MutexLock(lock)
        with ours.control_dependencies([second]):
            both = ours.raw_ops.ConsumeMutexLock(first)
        with pytest.raises(ours.errors.DeadlineExceededError):
            session.run(both, options=ours.RunOptions(timeout_in_ms=20))
        session.run(ours.raw_ops.ConsumeMutexLock(ours.raw_ops.MutexLock(lock)))  # that run let go of it


STAGED = {"dtypes": [ours.float32, ours.float32], "shared_name": "m"}
REFUSED = [
    (
        lambda tf: tf.raw_ops.Stage([tf.ones([10])], memory_limit=8),
        "ResourceExhaustedError",
        "combined size of '40' bytes into Staging Area with a memory limit of '8'",
    ),
    (
        lambda tf: tf.raw_ops.MapStage(1, [1, 0], [1.0, 2.0], **STAGED),
        "InvalidArgumentError",
        "Indices are not strictly ordered",
    ),
    (
        lambda tf: tf.raw_ops.MapStage(1, [0, 2], [1.0, 2.0], **STAGED | {"dtypes": [tf.float32] * 2}),
        "InvalidArgumentError",
        "Index '2' for key '1' was out of bounds '2'.",
    ),
    (
        lambda tf: tf.ConditionalAccumulator(tf.float32, [2]).apply_grad(
            tf.placeholder_with_default(np.float32([1, 2, 3]), None)
        ),
        "InvalidArgumentError",
        r"Shape mismatch: expected [2], got [3]",
    ),
    (
        lambda tf: tf.ConditionalAccumulator(tf.float32).take_grad(0),
        "InvalidArgumentError",
        "Argument num_required must be positive, but was 0",
    ),
    (
        lambda tf: tf.SparseConditionalAccumulator(tf.float32, [2]).apply_grad([5], [1.0]),
        "InvalidArgumentError",
        "index of slice 0 exceeded limits of shape; index is 5 exceeded 2",
    ),
    (
        lambda tf: tf.SparseConditionalAccumulator(tf.float32, [2, 3]).apply_grad(
            [1], np.ones((1, 4), np.float32)
        ),
        "InvalidArgumentError",
        "expected values dim 1 to be 3, got 4",
    ),
]


@pytest.mark.parametrize(
    ("make", "kind", "text"), REFUSED, ids=lambda item: item if isinstance(item, str) else ""
)
def test_refused(make: Any, kind: str, text: str) -> None:
    with ours.Graph().as_default(), ours.Session() as session:
        with pytest.raises(getattr(ours.errors, kind)) as caught:
            session.run(make(ours))
        assert text in caught.value.message


def test_barriers_refuse() -> None:
    with ours.Graph().as_default(), ours.Session() as session:
        handle = ours.raw_ops.Barrier(component_types=[ours.float32, ours.float32], shapes=[[], []])

        def insert(key: str, component: int) -> Any:
            return ours.raw_ops.BarrierInsertMany(handle, [key], [1.0], component_index=component)

        session.run(insert("a", 0))
        with pytest.raises(
            ours.errors.InvalidArgumentError, match="Key a already has a value for component 0"
        ):
            session.run(insert("a", 0))
        with pytest.raises(ours.errors.InvalidArgumentError, match="component ID is out of range 2"):
            session.run(insert("a", 2))
        session.run(ours.raw_ops.BarrierClose(handle))
        with pytest.raises(ours.errors.CancelledError, match="attempted to insert a brand new key: b"):
            session.run(insert("b", 0))
        with pytest.raises(ours.errors.CancelledError, match="is already closed"):
            session.run(ours.raw_ops.BarrierClose(handle))
        session.run(ours.raw_ops.BarrierClose(handle, cancel_pending_enqueues=True))
        taken = ours.raw_ops.BarrierTakeMany(handle, 1, component_types=[ours.float32, ours.float32])
        with pytest.raises(ours.errors.OutOfRangeError, match="is closed and has insufficient elements"):
            session.run(taken)
