"""Queues and stacks: order, waiting, closing, cancelling, deadlines; and TensorFlow's words for each."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from sgtool import graphcore as tf
from sgtool.formats import protos

pytestmark = pytest.mark.usefixtures("_new_graph")


@pytest.fixture
def _new_graph():
    with tf.Graph().as_default():
        yield


def in_thread(function, *args):
    """Starts `function`; gives a function that waits and gives its result, or raises its error."""
    outcome = {}

    def run():
        try:
            outcome["value"] = function(*args)
        except Exception as error:  # handed to the main thread
            outcome["error"] = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def result():
        thread.join(10)
        assert not thread.is_alive(), "it still waits"
        if "error" in outcome:
            raise outcome["error"]
        return outcome["value"]

    result.is_waiting = thread.is_alive  # type: ignore[attr-defined]  # a function with a mark
    return result


def settle():
    time.sleep(0.05)


def queue_of(*values, capacity=10, kind=tf.FIFOQueue, **options):
    queue = kind(capacity, tf.int32, shapes=[[]], name="q", **options)
    return queue, queue.enqueue_many([np.array(values, np.int32)])


def test_first_in_first_out():
    queue, fill = queue_of(1, 2, 3, 4)
    with tf.Session() as session:
        session.run(fill)
        assert session.run(queue.size()) == 4
        assert session.run(queue.dequeue()) == 1
        np.testing.assert_array_equal(session.run(queue.dequeue_many(2)), [2, 3])
        assert not session.run(queue.is_closed())


def test_names_and_static_shapes_are_tensorflows():
    queue = tf.FIFOQueue(3, [tf.int32, tf.string], shapes=[[], [2]], name="q")
    with tf.name_scope("scope"):
        one, many, some = queue.dequeue(), queue.dequeue_many(3), queue.dequeue_up_to(3)
        names = [one[0].op.name, many[0].op.name, some[0].op.name, queue.close().name, queue.size().op.name]
        enqueue = queue.enqueue([1, ["a", "b"]])
    assert names == [
        "scope/q_Dequeue",
        "scope/q_DequeueMany",
        "scope/q_DequeueUpTo",
        "scope/q_Close",
        "scope/q_Size",
    ]
    assert enqueue.name == "scope/q_enqueue"
    assert [t.op.name for t in enqueue.inputs][1:] == [
        "scope/q_enqueue/component_0",
        "scope/q_enqueue/component_1",
    ]
    shapes = [[t.get_shape().as_list() for t in tensors] for tensors in (one, many, some)]
    assert shapes == [[[], [2]], [[3], [3, 2]], [[None], [None, 2]]]


@pytest.mark.parametrize("version", ["", "V2"])
def test_handles_of_both_generations(version):
    raw = tf.raw_ops
    handle = getattr(raw, f"FIFOQueue{version}")(component_types=[tf.int32], shapes=[[]], capacity=5)

    def act(name, *args, **attrs):
        return getattr(raw, f"{name}{version}")(handle, *args, **attrs)

    fill, one = act("QueueEnqueueMany", [[1, 2, 3]]), act("QueueEnqueue", [4])
    out = [{"component_types": [tf.int32]}][0]
    take, two = act("QueueDequeue", **out), act("QueueDequeueMany", 2, **out)
    rest, size, closed = act("QueueDequeueUpTo", 9, **out), act("QueueSize"), act("QueueIsClosed")
    close = act("QueueClose")
    assert handle.get_shape().as_list() == ([] if version else [2])
    with tf.Session() as session:
        session.run(fill)
        session.run(one)
        assert session.run(take) == [1]
        assert session.run(two)[0].tolist() == [2, 3]
        assert session.run([size, closed]) == [1, False]
        session.run(close)
        assert session.run(closed)
        assert session.run(rest)[0].tolist() == [4]


@pytest.mark.parametrize("version", ["", "V2"])
def test_stacks(version):
    raw = tf.raw_ops
    make = getattr(raw, f"Stack{version}")
    handle = make(2, elem_type=tf.float32) if version else make(elem_type=tf.float32)
    push = getattr(raw, f"StackPush{version}")(handle, tf.placeholder_with_default([1.0, 2.0], [2]))
    with tf.control_dependencies([push]):
        more = getattr(raw, f"StackPush{version}")(handle, push * 2.0)
    with tf.control_dependencies([more]):
        first = getattr(raw, f"StackPop{version}")(handle, elem_type=tf.float32)
    with tf.control_dependencies([first]):
        second = getattr(raw, f"StackPop{version}")(handle, elem_type=tf.float32)
    with tf.control_dependencies([second]):
        close = getattr(raw, f"StackClose{version}")(handle)
        third = getattr(raw, f"StackPop{version}")(handle, elem_type=tf.float32)
    with tf.Session() as session:
        values = session.run([first, second, close])
        assert [value.tolist() for value in values[:2]] == [[2.0, 4.0], [1.0, 2.0]]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Stack\[.*\] is empty when calling Pop"):
            session.run(third)
        again = session.run([first, second, close])  # each run has a stack of its own
        assert again[0].tolist() == [2.0, 4.0]


def test_a_dequeue_waits_for_an_enqueue():
    queue, fill = queue_of(7)
    take = queue.dequeue()
    with tf.Session() as session:
        waiting = in_thread(session.run, take)
        settle()
        assert waiting.is_waiting()
        session.run(fill)
        assert waiting() == 7


def test_an_enqueue_waits_for_room_and_many_go_in_piece_by_piece():
    queue, fill = queue_of(1, 2, 3, 4, 5, capacity=2)
    take = queue.dequeue()
    with tf.Session() as session:
        waiting = in_thread(session.run, fill)
        assert [session.run(take) for _ in range(5)] == [1, 2, 3, 4, 5]
        waiting()


def test_a_closed_queue_gives_what_is_left():
    queue, fill = queue_of(1, 2, 3)
    with tf.Session() as session:
        session.run(fill)
        session.run(queue.close())
        with pytest.raises(tf.errors.CancelledError, match=r"FIFOQueue '_0_q' is closed\."):
            session.run(fill)
        with pytest.raises(tf.errors.CancelledError, match="Queue '_0_q' is already closed"):
            session.run(queue.close())
        assert session.run(queue.dequeue()) == 1
        text = r"FIFOQueue '_0_q' is closed and has insufficient elements \(requested 3, current size 2\)"
        with pytest.raises(tf.errors.OutOfRangeError, match=text) as caught:
            session.run(queue.dequeue_many(3))
        assert (caught.value.fields["requested"], caught.value.fields["size"]) == (3, 2)
        assert session.run(queue.dequeue_up_to(9)).tolist() == [2, 3]
        with pytest.raises(tf.errors.OutOfRangeError, match=r"requested 1, current size 0\)"):
            session.run(queue.dequeue())


def test_closing_lets_in_what_waited_and_cancelling_does_not():
    queue, fill = queue_of(1, capacity=1)
    close, cancel, take = queue.close(), queue.close(cancel_pending_enqueues=True), queue.dequeue()
    with tf.Session() as session:
        session.run(fill)
        second = in_thread(session.run, fill)
        settle()
        closing = in_thread(session.run, close)
        settle()
        assert second.is_waiting()
        assert closing.is_waiting()
        assert [session.run(take), session.run(take)] == [1, 1]
        second()
        closing()
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(take)
    with tf.Session() as session:
        session.run(fill)
        second = in_thread(session.run, fill)
        settle()
        session.run(cancel)
        with pytest.raises(tf.errors.CancelledError, match="Enqueue operation was cancelled"):
            second()


def test_a_dequeue_that_waits_fails_when_the_queue_closes():
    queue, fill = queue_of(1)
    pair = queue.dequeue_many(2)
    with tf.Session() as session:
        session.run(fill)
        waiting = in_thread(session.run, pair)
        settle()
        session.run(queue.close())
        with pytest.raises(tf.errors.OutOfRangeError, match="requested 1, current size 0"):
            waiting()
        assert session.run(queue.size()) == 1  # what it had taken is back


def test_closing_the_session_wakes_everybody():
    _, fill = queue_of(1, capacity=1)
    other = tf.FIFOQueue(1, tf.int32)
    take = other.dequeue()
    session = tf.Session()
    session.run(fill)
    waiting = [in_thread(session.run, fill), in_thread(session.run, take)]
    settle()
    session.close()
    for result, word in zip(waiting, ("Enqueue", "Dequeue"), strict=True):
        with pytest.raises(tf.errors.CancelledError, match=f"{word} operation was cancelled"):
            result()


def test_a_deadline_ends_the_wait_and_loses_nothing():
    queue, fill = queue_of(1, 2)
    three = queue.dequeue_many(3)
    with tf.Session() as session:
        session.run(fill)
        start = time.monotonic()
        with pytest.raises(tf.errors.DeadlineExceededError, match="Timed out waiting for notification"):
            session.run(three, options=tf.RunOptions(timeout_in_ms=100))
        assert 0.09 < time.monotonic() - start < 5
        assert session.run(queue.dequeue_many(2)).tolist() == [1, 2]


def test_what_does_not_fit_is_refused():
    queue = tf.FIFOQueue(3, [tf.int32, tf.string], shapes=[[], [2]], name="q")
    number, text = tf.placeholder(tf.int32), tf.placeholder(tf.string)
    with pytest.raises(ValueError, match="incompatible"):
        queue.enqueue([[1, 2], ["a", "b"]])
    with pytest.raises(ValueError, match="2 components, 1 values"):
        queue.enqueue([1])
    one, many = queue.enqueue([number, text]), queue.enqueue_many([number, text])
    count = tf.placeholder(tf.int32)
    several = queue.dequeue_many(count)
    loose = tf.FIFOQueue(3, tf.int32)
    with tf.Session() as session:
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"tuple component 0. Expected \[\], got \[2\]"
        ):
            session.run(one, {number: [1, 2], text: ["a", "b"]})
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"component 1. Expected \[1,2\], got \[2,2\]"
        ):
            session.run(many, {number: [1], text: [["a", "b"]] * 2})
        with pytest.raises(tf.errors.InvalidArgumentError, match="at least one dimension"):
            session.run(many, {number: 1, text: [["a", "b"]]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="DequeueManyOp requested -1 < 0 elements"):
            session.run(several, {count: -1})
        with pytest.raises(tf.errors.InvalidArgumentError, match="components to have specified shapes"):
            session.run(loose.dequeue_many(1))
        assert [value.shape for value in session.run(several, {count: 0})] == [(0,), (0, 2)]


def test_elements_are_copies():
    queue = tf.FIFOQueue(3, tf.float32, shapes=[[2]])
    value = tf.placeholder(tf.float32, [2])
    add, add_many = queue.enqueue(value), queue.enqueue_many(tf.expand_dims(value, 0))
    buffer = np.zeros(2, np.float32)
    with tf.Session() as session:
        for step in (add, add_many):
            buffer[:] = 0
            session.run(step, {value: buffer})
            buffer[:] = 9
            assert session.run(queue.dequeue()).tolist() == [0, 0]


def test_named_components():
    queue = tf.FIFOQueue(10, [tf.int32, tf.float32], names=["a", "b"], shapes=[[2], []])
    with pytest.raises(ValueError, match=r"Dictionary: \['a'\],Queue: \['a', 'b'\]"):
        queue.enqueue({"a": [1, 2]})
    with pytest.raises(ValueError, match="must enqueue a dictionary"):
        queue.enqueue([[1, 2], 3.0])
    with tf.Session() as session:
        session.run(queue.enqueue({"b": 3.0, "a": [1, 2]}))
        value = session.run(queue.dequeue())
    assert value["a"].tolist() == [1, 2]
    assert value["b"] == 3


def test_padding():
    queue = tf.PaddingFIFOQueue(10, [tf.int32, tf.string], [[None], [None, 2]])
    number, text = tf.placeholder(tf.int32), tf.placeholder(tf.string)
    add = queue.enqueue([number, text])
    with tf.Session() as session:
        session.run(add, {number: [1], text: [["x", "y"]]})
        session.run(add, {number: [1, 2, 3], text: np.zeros((0, 2), object)})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected \[\?,2\], got \[1,3\]"):
            session.run(add, {number: [1], text: [["x", "y", "z"]]})
        numbers, texts = session.run(queue.dequeue_many(2))
        assert numbers.tolist() == [[1, 0, 0], [1, 2, 3]]
        assert texts.tolist() == [[[b"x", b"y"]], [[b"", b""]]]
        assert [v.shape for v in session.run(queue.dequeue_many(0))] == [(0, 0), (0, 0, 2)]


def test_shuffling_gives_tensorflows_order():
    # Recorded from TensorFlow: seed 7, no graph seed.
    queue = tf.RandomShuffleQueue(20, 2, [tf.int32], [[]], seed=7, name="q")
    fill, take = queue.enqueue_many([list(range(12))]), queue.dequeue()
    with tf.Session() as session:
        session.run(fill)
        assert [session.run(take) for _ in range(5)] == [3, 10, 5, 4, 0]
        assert session.run(queue.dequeue_many(3)).tolist() == [8, 7, 6]
        with pytest.raises(tf.errors.DeadlineExceededError):  # two must stay
            session.run(queue.dequeue_many(3), options=tf.RunOptions(timeout_in_ms=50))
        assert session.run(queue.size()) == 4
        session.run(queue.close())
        assert sorted(session.run(queue.dequeue_many(4)).tolist()) == [1, 2, 9, 11]


def test_priorities():
    queue = tf.PriorityQueue(20, [tf.string], [[]])
    fill = queue.enqueue_many([np.array([3, 1, 2, 1], np.int64), ["c", "a", "b", "a2"]])
    with tf.Session() as session:
        session.run(fill)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(queue.dequeue_many(5), options=tf.RunOptions(timeout_in_ms=20))
        numbers, texts = session.run(queue.dequeue_many(3))
        assert numbers.tolist() == [1, 1, 2]
        assert texts.tolist() == [b"a", b"a2", b"b"]
        assert session.run(queue.dequeue()) == [3, b"c"]


def test_a_shared_name_is_one_queue_that_all_declare_alike():
    first = tf.FIFOQueue(3, tf.int32, shared_name="shared", name="a")
    same = tf.FIFOQueue(3, tf.int32, shared_name="shared", name="b")
    wrong = {
        "capacity 3 but requested capacity was 4": tf.FIFOQueue(4, tf.int32, shared_name="shared"),
        "types int32 but requested component types were int64": tf.FIFOQueue(
            3, tf.int64, shared_name="shared"
        ),
        r"shapes \[\] but requested": tf.FIFOQueue(3, tf.int32, [[]], shared_name="shared"),
        "is a FIFOQueue, not a RandomShuffleQueue": tf.RandomShuffleQueue(
            3, 0, tf.int32, shared_name="shared"
        ),
    }
    with tf.Session() as session:
        session.run(first.enqueue(5))
        assert session.run(same.dequeue()) == 5
        for text, queue in wrong.items():
            with pytest.raises(tf.errors.InvalidArgumentError, match=f"Shared queue 'shared'.*{text}"):
                session.run(queue.size())


def test_many_threads_lose_and_double_nothing():
    queue = tf.FIFOQueue(5, tf.int32, shapes=[[]])
    number = tf.placeholder(tf.int32)
    add, take = queue.enqueue(number), queue.dequeue_up_to(3)
    found = []

    def produce(session, start):
        for value in range(start, start + 50):
            session.run(add, {number: value})

    def consume(session):
        while True:
            try:
                found.extend(session.run(take).tolist())
            except tf.errors.OutOfRangeError:
                return

    with tf.Session() as session:
        consumers = [in_thread(consume, session) for _ in range(3)]
        for result in [in_thread(produce, session, start) for start in (0, 50, 100)]:
            result()
        session.run(queue.close())
        for result in consumers:
            result()
    assert sorted(found) == list(range(150))


def test_an_imported_queue_has_its_shapes():
    queue = tf.FIFOQueue(3, [tf.int32, tf.string], shapes=[[], [2]], name="q")
    queue.dequeue_many(3)
    data = tf.get_default_graph().as_graph_def().SerializeToString()
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(protos.GraphDef.FromString(data), name="")
        outputs = graph.get_operation_by_name("q_DequeueMany").outputs
    assert [tensor.get_shape().as_list() for tensor in outputs] == [[3], [3, 2]]


def test_one_of_several_queues() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        queues = [tf.FIFOQueue(3, tf.int32, [shape]) for shape in ([2], [2])]
        index = tf.placeholder(tf.int32, [])
        chosen = tf.QueueBase.from_list(index, queues)
        assert [shape.as_list() for shape in chosen.shapes] == [[2]]
        session.run([queue.enqueue(([number, number],)) for number, queue in enumerate(queues)])
        taken = chosen.dequeue()
        assert [session.run(taken, {index: each}).tolist() for each in (1, 0)] == [[1, 1], [0, 0]]
        for wrong, text in (
            ([], "A list of queues expected"),
            ([queues[0], tf.FIFOQueue(3, tf.float32)], "Queues do not have matching component dtypes"),
            (
                [queues[0], tf.FIFOQueue(3, tf.int32, names=["a"])],
                "not have matching component names",
            ),
        ):
            with pytest.raises(TypeError, match=text):
                tf.QueueBase.from_list(index, wrong)


def test_components_of_rows_that_differ_in_number() -> None:
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(10, [tf.int32, tf.int32], [(), ()])
        with pytest.raises(ValueError, match=r"Shapes \(3,\) and \(2,\) are not compatible"):
            queue.enqueue_many(([1, 2, 3], [1, 2]))
