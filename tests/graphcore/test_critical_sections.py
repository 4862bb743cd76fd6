"""Critical sections: parts of a graph that run one after the other."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from sgtool import graphcore as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


def counter() -> tuple[Any, Any]:
    variable = tf.get_variable("v", initializer=0.0, use_resource=True)

    def count() -> Any:
        value = variable.read_value()
        with tf.control_dependencies([value]), tf.control_dependencies([variable.assign_add(1.0)]):
            return tf.identity(value)

    return variable, count


def test_executions_come_one_after_the_other_in_all_threads() -> None:
    variable, count = counter()
    section = tf.CriticalSection(shared_name="cs")
    results = [section.execute(count) for _ in range(20)]
    seen: list[float] = []
    with tf.Session() as session:
        session.run(variable.initializer)
        assert sorted(session.run(results)) == list(range(20))

        def work() -> None:
            seen.extend(session.run(results[0]) for _ in range(25))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(seen) == list(range(20, 120))


def test_results_of_any_structure() -> None:
    variable, count = counter()
    section = tf.CriticalSection()
    result = section.execute(lambda: {"now": count(), "twice": [variable.assign_add(2.0).op]})
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(result)["now"] == 0.0
        assert session.run(variable) == 3.0


def test_a_section_within_itself_is_an_error() -> None:
    section = tf.CriticalSection(shared_name="one")
    again = tf.CriticalSection(shared_name="one")
    with pytest.raises(ValueError, match="attempts to directly access the CriticalSection in which it"):
        section.execute(lambda: again.execute(lambda: tf.constant(1.0)))


def test_two_sections_do_not_share_a_variable_unawares() -> None:
    _, count = counter()
    first, second = tf.CriticalSection(), tf.CriticalSection()
    first.execute(count, exclusive_resource_access=False)
    second.execute(count, exclusive_resource_access=False)
    with pytest.raises(ValueError, match="requested exclusive resource access of this resource"):
        second.execute(count)


def test_the_graph_is_the_one_that_tensorflow_makes(graph: Any) -> None:
    section = tf.CriticalSection(name="cs")
    assert section.name == "cs"
    section.execute(lambda: tf.constant(1.0), name="run")
    types = [op.type for op in graph.get_operations()]
    assert types[:3] == ["MutexV2", "MutexLock", "Const"]
    assert "ConsumeMutexLock" in types
    assert tf.get_collection("critical_sections") == [section]
    (execution,) = tf.get_collection("critical_section_executions")
    assert execution.op.type == "MutexLock"
