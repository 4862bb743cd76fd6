"""The dense hash table, here and in TensorFlow, bucket for bucket."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as ours


class Dense:
    """A dense table in a new graph of one of the two systems."""

    def __init__(self, tf: Any, empty: Any, deleted: Any, value_dtype: Any, **options: Any) -> None:
        self.tf, self.value_dtype = tf, value_dtype
        self.empty = self.key(empty)
        self.handle = tf.raw_ops.MutableDenseHashTableV2(
            empty_key=self.empty, deleted_key=self.key(deleted), value_dtype=value_dtype, **options
        )

    def key(self, value: Any) -> Any:
        is_text = np.asarray(value).dtype.kind in "SU"
        return self.tf.constant(value, self.tf.string if is_text else self.tf.int64)

    def insert(self, keys: Any, values: Any) -> Any:
        values = self.tf.constant(values, self.value_dtype)
        return self.tf.raw_ops.LookupTableInsertV2(
            table_handle=self.handle, keys=self.key(keys), values=values
        )

    def remove(self, keys: Any) -> Any:
        return self.tf.raw_ops.LookupTableRemoveV2(table_handle=self.handle, keys=self.key(keys))

    def find(self, keys: Any, default: Any) -> Any:
        default = self.tf.constant(default, self.value_dtype)
        return self.tf.raw_ops.LookupTableFindV2(
            table_handle=self.handle, keys=self.key(keys), default_value=default
        )

    def size(self) -> Any:
        return self.tf.raw_ops.LookupTableSizeV2(table_handle=self.handle)

    def export(self) -> Any:
        return list(
            self.tf.raw_ops.LookupTableExportV2(
                table_handle=self.handle, Tkeys=self.empty.dtype, Tvalues=self.value_dtype
            )
        )


def integers(tf: Any, run: Any) -> list[Any]:
    table = Dense(tf, -1, -2, tf.float32, initial_num_buckets=4)
    run(table.insert([11, 12, 3], [1.0, 2.0, 3.0]))
    found = [run(table.size()), run(table.find([12, 3, 8], -5.0)), *run(table.export())]
    run(table.insert([12, 19, 27, -7], [20.0, 4.0, 5.0, 6.0]))
    run(table.remove([3, 99]))
    return [*found, run(table.size()), run(table.find([12, 3, -7, 27], 0.0)), *run(table.export())]


def text(tf: Any, run: Any) -> list[Any]:
    table = Dense(tf, "", "gone", tf.int64, initial_num_buckets=8, max_load_factor=0.5)
    run(table.insert(["a", "brown", "fox"], [1, 2, 3]))
    run(table.insert(["jumps", "over", "it"], [4, 5, 6]))
    run(table.remove(["brown"]))
    return [run(table.find(["fox", "brown"], -1)), run(table.size()), *run(table.export())]


def vectors(tf: Any, run: Any) -> list[Any]:
    table = Dense(tf, [0, 0], [-1, -1], tf.int32, value_shape=[3], initial_num_buckets=4)
    run(table.insert([[1, 2], [3, -4], [5, 6], [7, 8]], np.arange(12).reshape(4, 3)))
    return [run(table.find([[3, -4], [9, 9]], [-1, -2, -3])), run(table.size()), *run(table.export())]


PROGRAMS = {"integers": integers, "text": text, "vectors": vectors}
EXPECTED = {
    "integers": {0: 3, 1: [2, 3, -5], 4: 5, 5: [20, 0, 6, 5]},
    "text": {0: [3, -1], 1: 5},
    "vectors": {0: [[3, 4, 5], [-1, -2, -3]], 1: 4},
}


def results(tf: Any, name: str) -> list[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        return [np.asarray(item).tolist() for item in PROGRAMS[name](tf, session.run)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_entries(name: str) -> None:
    found = results(ours, name)
    assert {place: found[place] for place in EXPECTED[name]} == EXPECTED[name]


def test_an_export_goes_in_again() -> None:
    with ours.Graph().as_default(), ours.Session() as session:
        first = Dense(ours, -1, -2, ours.float32, initial_num_buckets=4)
        second = Dense(ours, -1, -2, ours.float32)
        session.run(first.insert([5, 6], [1.0, 2.0]))
        keys, values = first.export()
        session.run(ours.raw_ops.LookupTableImportV2(second.handle, keys, values))
        assert session.run(second.find([6, 5, 4], 0.0)).tolist() == [2, 1, 0]
        assert [item.tolist() for item in session.run(second.export())] == [
            item.tolist() for item in session.run([keys, values])
        ]


@pytest.mark.oracle
@pytest.mark.parametrize("name", PROGRAMS)
def test_entries_and_buckets_in_tensorflow(name: str) -> None:
    tf = pytest.importorskip("tensorflow.compat.v1")
    tf.disable_v2_behavior()
    assert results(ours, name) == results(tf, name)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"deleted": -1}, "Empty and deleted keys cannot be equal"),
        ({"initial_num_buckets": 6}, "must be at least 4 and a power of 2, got: 6"),
        ({"max_load_factor": 1.0}, "max_load_factor must be between 0 and 1, got: 1"),
        ({"deleted": [-2, -2]}, "must have same shape"),
    ],
)
def test_refused_tables(options: dict[str, Any], text: str) -> None:
    with ours.Graph().as_default(), ours.Session() as session:
        deleted = options.pop("deleted", -2)
        table = Dense(ours, -1, deleted, ours.float32, **options)
        with pytest.raises(ours.errors.InvalidArgumentError, match=text):
            session.run(table.size())


@pytest.mark.parametrize(("key", "what"), [(-1, "empty_key"), (-2, "deleted_key")])
def test_refused_keys(key: int, what: str) -> None:
    with ours.Graph().as_default(), ours.Session() as session:
        table = Dense(ours, -1, -2, ours.float32)
        for operation in (table.insert([key], [1.0]), table.find([key], 0.0), table.remove([key])):
            with pytest.raises(ours.errors.InvalidArgumentError, match=f"Using the {what} as a table key"):
                session.run(operation)


def test_tables_and_queues_by_handles_of_the_first_generation() -> None:
    with ours.Graph().as_default(), ours.Session() as session:
        table = ours.raw_ops.MutableDenseHashTable(ours.constant(-1, ours.int64), value_dtype=ours.float32)
        insert = ours.raw_ops.LookupTableInsert(table, ours.constant([3], ours.int64), [1.5])
        session.run(insert)
        assert session.run(ours.raw_ops.LookupTableSize(table)) == 1
        queue = ours.FIFOQueue(3, [ours.int32], [[]])
        session.run(queue.enqueue(7))
        assert session.run(ours.raw_ops.QueueSize(ours.raw_ops.FakeQueue(queue.queue_ref))) == 1
