"""tf.data: tables, databases, files, structures and options, in both systems where TensorFlow is at hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from op_cases.parsing import example
from pipelines import elements, plain, rows_of, sparse

from sgtool import graphcore as ours
from sgtool.graphcore.op import raw_ops


@pytest.fixture(params=["ours", pytest.param("theirs", marks=pytest.mark.oracle)])
def tf(request: pytest.FixtureRequest) -> Iterator[Any]:
    module: Any = ours
    if request.param == "theirs":
        module = pytest.importorskip("tensorflow.compat.v1")
        module.disable_eager_execution()
        module.logging.set_verbosity("ERROR")
    with module.Graph().as_default():
        yield module


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A CSV file with everything in it that is right and wrong."""
    path = tmp_path / "table.csv"
    path.write_bytes(
        b'a,b,c\r\n1,2.5,x\n2,,"y,\n""z"""\r3,NA,\n4,1.5,q"\n\n5,0.5,"a"b"\n6,x,y\n7,1,y,z\n8,2.5,last'
    )
    return path


def all_of(tf: Any, dataset: Any) -> list[Any]:
    """The elements, or the first words of the error that is there instead of one."""
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    found: list[Any] = []
    with tf.Session() as session:
        while True:
            try:
                found.append(plain(session.run(following)))
            except tf.errors.OutOfRangeError:
                return found
            except tf.errors.InvalidArgumentError as error:
                found.append(next(text for text in CSV_ERRORS if text in str(error)))


CSV_ERRORS = [
    "Unquoted fields cannot have quotes inside",
    "Quote inside a string has to be escaped by another quote",
    "Field 0 is required but missing in record!",
    "Field 1 is required but missing in record!",
    "Field 1 in record is not a valid float: x",
    "Expect 3 fields but have more in record",
    "Expect 2 fields but have 1 in record",
    "Reached end of file without closing quoted field in record",
]


def test_csv_files(tf: Any, table: Path) -> None:
    dataset = tf.data.experimental.CsvDataset(
        str(table), [tf.int32, [-1.0], ["none"]], header=True, na_value="NA"
    )
    assert dataset.output_types if tf is ours else True
    assert all_of(tf, dataset) == [
        (1, 2.5, b"x"),
        (2, -1.0, b'y,\n"z"'),
        (3, -1.0, b"none"),
        "Unquoted fields cannot have quotes inside",
        "Field 0 is required but missing in record!",
        "Quote inside a string has to be escaped by another quote",
        "Field 1 in record is not a valid float: x",
        "Expect 3 fields but have more in record",
        (8, 2.5, b"last"),
    ]


def test_columns_of_csv_files(tf: Any, tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b'1|2|3\n4|"5|\n6\n7||8|9|\n"a'))
    dataset = tf.data.experimental.CsvDataset(
        [str(path)],
        [tf.string, tf.string],
        field_delim="|",
        select_cols=[0, 2],
        compression_type="GZIP",
        use_quote_delim=False,
    )
    few = "Expect 2 fields but have 1 in record"
    missing = "Field 1 is required but missing in record!"
    assert all_of(tf, dataset) == [(b"1", b"3"), missing, few, (b"7", b"8"), few]


def test_databases(tf: Any, tmp_path: Path) -> None:
    import sqlite3

    path = str(tmp_path / "d.sqlite")
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (i INTEGER, r REAL, s TEXT, n TEXT)")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?, ?, ?)", [(1, 2.75, "x", None), (300, -1e20, "12.5abc", "7")]
        )
    make = tf.data.experimental.SqlDataset
    types = (tf.int32, tf.float64, tf.string, tf.int64)
    assert elements(tf, make("sqlite", path, "SELECT i, r, s, n FROM t", types)) == [
        (1, 2.75, b"x", 0),
        (300, -1e20, b"12.5abc", 7),
    ]
    other = (tf.uint8, tf.string, tf.float64, tf.bool)
    assert elements(tf, make("sqlite", path, "SELECT i, i, s, n FROM t", other)) == [
        (1, b"1", 0.0, False),
        (44, b"300", 12.5, True),
    ]
    for query, error, message in (
        ("SELECT i FROM t", tf.errors.InvalidArgumentError, "number of columns in query"),
        ("SELECT nope FROM t", tf.errors.UnknownError, "no such column: nope"),
    ):
        with pytest.raises(error, match=message):
            elements(tf, make("sqlite", path, query, types))
    with pytest.raises(tf.errors.InvalidArgumentError, match="The database type, x, is not supported"):
        elements(tf, make("x", path, "SELECT i FROM t", (tf.int32,)))


def test_names_of_files(tf: Any, tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "c.dat", "sub/d.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    names = [f"{tmp_path}/{each}".encode() for each in ("a.txt", "b.txt", "sub/d.txt")]
    with tf.Session() as session:
        for pattern, expected in (
            (f"{tmp_path}/*.txt", names[:2]),
            (f"{tmp_path}/[b-z].txt", names[1:2]),
            (f"{tmp_path}/*/?.txt", names[2:]),
            ([f"{tmp_path}/s*/*", f"{tmp_path}/a.txt"], [names[0], names[2]]),
            (f"{tmp_path}/no*", []),
        ):
            assert session.run(tf.io.matching_files(pattern)).tolist() == expected
    made = tf.data.Dataset.list_files(f"{tmp_path}/*.txt", shuffle=False)
    assert elements(tf, made) == names[:2]
    assert sorted(elements(tf, tf.data.Dataset.list_files(f"{tmp_path}/*.txt"))) == names[:2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched pattern"):
        elements(tf, tf.data.Dataset.list_files(f"{tmp_path}/no*"))


def test_records_out_of_a_dataset(tf: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "r.tfrecord")
    writer = tf.data.experimental.TFRecordWriter(path, "GZIP")
    with tf.Session() as session:
        session.run(writer.write(tf.data.Dataset.from_tensor_slices(["a", "bb"])))
    assert elements(tf, tf.data.TFRecordDataset(path, "GZIP")) == [b"a", b"bb"]


def test_batches_of_features(tf: Any, tmp_path: Path) -> None:
    path = tmp_path / "examples"
    with ours.python_io.TFRecordWriter(str(path)) as writer:
        for number in range(3):
            writer.write(example(a=[number], b=[float(number)] * number if number else None))
    made = tf.data.experimental.make_batched_features_dataset(
        str(path),
        2,
        {"a": tf.FixedLenFeature([], tf.int64), "b": tf.VarLenFeature(tf.float32)},
        label_key="a",
        num_epochs=1,
        shuffle=False,
    )
    assert elements(tf, made) == [
        ({"b": ([[1, 0]], [1.0], [2, 1])}, [0, 1]),
        ({"b": ([[0, 0], [0, 1]], [2.0, 2.0], [1, 2])}, [2]),
    ]


def test_the_structure_of_sparse_elements(tf: Any) -> None:
    made = rows_of(tf, tf.data.Dataset)
    assert tf.data.get_output_classes(made) == (tf.SparseTensor, tf.Tensor)
    assert tf.data.get_output_types(made) == (tf.int32, tf.float32)
    iterator = tf.data.Iterator.from_structure(
        tf.data.get_output_types(made),
        tf.data.get_output_shapes(made),
        None,
        tf.data.get_output_classes(made),
    )
    start, following = iterator.make_initializer(made), iterator.get_next()
    with tf.Session() as session:
        session.run(start)
        assert plain(session.run(following)) == (([[1]], [5], [4]), 1.0)


def test_options_of_pipelines() -> None:
    D = ours.data.Dataset
    with ours.Graph().as_default():
        first, second = ours.data.Options(), ours.data.Options()
        first.experimental_threading.private_threadpool_size = 3
        second.experimental_deterministic = False
        made = D.range(2).with_options(first).with_options(second)
        assert made.options().experimental_threading.private_threadpool_size == 3
        assert made.options().experimental_deterministic is False
        assert D.range(2).options() == ours.data.Options()
        third = ours.data.Options()
        third.experimental_deterministic = True
        with pytest.raises(ValueError, match="Cannot merge incompatible values"):
            made.with_options(third)
    with pytest.raises(AttributeError, match="Cannot set the property nope on Options"):
        first.nope = 1
    with pytest.raises(TypeError, match="must be of type"):
        first.experimental_slack = "yes"


def test_a_position_that_is_taken_up_again() -> None:
    with ours.Graph().as_default():
        made = ours.data.Dataset.range(20).shuffle(7, seed=3)
        iterator = ours.data.make_initializable_iterator(made)
        other = ours.data.make_initializable_iterator(ours.data.Dataset.range(1))
        following = iterator.get_next()
        with ours.Session() as session:
            state = raw_ops.SerializeIterator(iterator._iterator_resource)
            restored = raw_ops.DeserializeIterator(other._iterator_resource, state)
            with pytest.raises(ours.errors.FailedPreconditionError, match="not been initialized"):
                session.run(restored)
            session.run(iterator.initializer)
            for _ in range(8):
                session.run(following)
            session.run(restored)
            rest = [session.run(other.get_next()).item() for _ in range(12)]
            assert rest == [session.run(following).item() for _ in range(12)]
            assert rest != sorted(rest)
            with pytest.raises(ours.errors.OutOfRangeError):
                session.run(other.get_next())


def test_optional_elements(tf: Any) -> None:
    iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.range(1))
    made = tf.data.experimental.get_next_as_optional(iterator)
    there, value = made.has_value(), made.get_value()
    with tf.Session() as session:
        assert session.run([there, value]) == [True, 0]
        assert not session.run(there)
    known = tf.data.experimental.Optional.from_value((1, "a")) if tf is ours else None
    if known is not None:
        with tf.Session() as session:
            assert plain(session.run(known.get_value())) == (1, b"a")


def test_single_elements_and_cardinality(tf: Any) -> None:
    one = tf.data.experimental.get_single_element(tf.data.Dataset.from_tensors(sparse(tf)))
    with tf.Session() as session:
        assert plain(session.run(one))[1] == [5, 6, 7]
        assert session.run(tf.data.experimental.cardinality(tf.data.Dataset.range(5).batch(2))) == 3


def test_ragged_features_of_examples(tf: Any) -> None:
    records = [example(ids=list(range(number)) or None, x=[0.5]) for number in (2, 0, 1)]
    kinds: dict[str, Any] = {"output_types": [tf.variant, tf.float32], "output_shapes": [None, [None]]}
    dataset = tf.data.Dataset.from_tensor_slices(records).batch(2)
    parsed = tf.raw_ops.ParseExampleDatasetV2(
        input_dataset=dataset._variant_tensor,
        num_parallel_calls=tf.constant(1, tf.int64),
        dense_defaults=[tf.zeros([0])],
        sparse_keys=[],
        dense_keys=["x"],
        ragged_keys=["ids"],
        sparse_types=[],
        dense_shapes=[[]],
        ragged_value_types=[tf.int64],
        ragged_split_types=[tf.int32],
        **kinds,
    )
    iterator = tf.raw_ops.IteratorV2(shared_name="", container="", **kinds)
    start = tf.raw_ops.MakeIterator(dataset=parsed, iterator=iterator)
    ids, _ = tf.raw_ops.IteratorGetNext(iterator=iterator, **kinds)
    back = tf.raw_ops.RaggedTensorFromVariant(
        encoded_ragged=ids, input_ragged_rank=1, output_ragged_rank=1, Tvalues=tf.int64, Tsplits=tf.int32
    )
    with tf.Session() as session:
        session.run(start)
        found = [session.run([back.output_nested_splits[0], back.output_dense_values]) for _ in range(2)]
    assert [[part.tolist() for part in each] for each in found] == [[[0, 2, 2], [0, 1]], [[0, 1], [0]]]
    assert found[0][0].dtype == np.int32


def test_batches_of_csv_files(tf: Any, tmp_path: Path) -> None:
    for name, lines in (("a.csv", "n,x,s\n1,1,p\n3000000000,,q\n"), ("b.csv", 'n,x,s\n5,2.5,"r,s"\n')):
        (tmp_path / name).write_text(lines)
    make = tf.data.experimental.make_csv_dataset
    pattern = f"{tmp_path}/*.csv"
    found = elements(tf, make(pattern, 2, num_epochs=1, shuffle=False))
    assert found == [
        {"n": [1, 3000000000], "x": [1.0, 0.0], "s": [b"p", b"q"]},
        {"n": [5], "x": [2.5], "s": [b"r,s"]},
    ]
    made = make(pattern, 3, label_name="s", select_columns=["s", 0], num_epochs=1, shuffle=False)
    assert tf.data.get_output_types(made) == ({"n": tf.int64}, tf.string)
    assert elements(tf, made) == [({"n": [1, 3000000000, 5]}, [b"p", b"q", b"r,s"])]
    typed = make(
        pattern, 3, column_defaults=[tf.int32, 9.5, "z"], num_epochs=1, shuffle=False, ignore_errors=True
    )
    assert elements(tf, typed) == [{"n": [1, 5], "x": [1.0, 2.5], "s": [b"p", b"r,s"]}]
    for options, message in (
        ({"header": False}, "header"),
        ({"label_name": "q"}, "must be one of the columns"),
        ({"select_columns": ["q"]}, "not a valid column index or name"),
        ({"select_columns": [9]}, "out of valid range"),
        ({"select_columns": [0, "n"]}, "duplicate columns"),
        ({"column_names": ["a", "a", "b"]}, "Cannot have duplicate column names"),
    ):
        with pytest.raises(ValueError, match=message if tf is ours else None):
            make(pattern, 2, **options)
    with pytest.raises(ValueError, match="No files"):
        make(f"{tmp_path}/none*", 2)


def test_elements_dealt_out_to_devices(tf: Any) -> None:
    kinds: dict[str, Any] = {"output_types": [tf.int64], "output_shapes": [[]]}
    raw = tf.raw_ops
    handle = raw.MultiDeviceIterator(devices=["/cpu:0", "/cpu:0"], shared_name="", container="", **kinds)
    number = raw.MultiDeviceIteratorInit(
        dataset=tf.data.Dataset.range(5)._variant_tensor, multi_device_iterator=handle, max_buffer_size=5
    )
    given = tf.placeholder(tf.int64, [])
    text = raw.MultiDeviceIteratorToStringHandle(multi_device_iterator=handle)
    name = tf.placeholder(tf.string, [])
    again = raw.MultiDeviceIteratorFromStringHandle(string_handle=name, **kinds)
    shards = [
        raw.MultiDeviceIteratorGetNextFromShard(
            multi_device_iterator=source, shard_num=shard, incarnation_id=given, **kinds
        )[0]
        for shard, source in enumerate((handle, again))
    ]
    with tf.Session() as session:
        feeds = {given: session.run(number), name: session.run(text)}
        assert [session.run(shards[1], feeds) for _ in range(2)] == [1, 3]
        assert [session.run(shards[0], feeds) for _ in range(3)] == [0, 2, 4]
        for each in shards:
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(each, feeds)
        feeds[given] = session.run(number)
        assert session.run(shards[0], feeds) == 0
        with pytest.raises(tf.errors.InvalidArgumentError, match="Provided: 9; Expected"):
            session.run(shards[0], feeds | {given: 9})
