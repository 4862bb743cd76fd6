"""tf.data: pipelines and iterators, in both systems where TensorFlow is at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pipelines import PIPELINES, elements, leaves, parts_of, plain, sparse

from sgtool import graphcore as ours
from sgtool.formats import protos
from sgtool.graphcore.function_defs import FunctionWriter
from sgtool.graphcore.op import raw_ops

X = ours.data.experimental


@pytest.fixture(params=["ours", pytest.param("theirs", marks=pytest.mark.oracle)])
def tf(request: pytest.FixtureRequest) -> Iterator[Any]:
    module: Any = ours
    if request.param == "theirs":
        module = pytest.importorskip("tensorflow.compat.v1")
        module.disable_eager_execution()
        module.logging.set_verbosity("ERROR")
    with module.Graph().as_default():
        yield module


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines(tf: Any, name: str) -> None:
    build, expected = PIPELINES[name]
    assert elements(tf, build(tf, tf.data.Dataset)) == expected


@pytest.mark.oracle
@pytest.mark.parametrize(
    "build",
    [
        lambda D: D.range(20).shuffle(5, seed=3).repeat(2),
        lambda D: D.range(10).repeat(2).shuffle(4, seed=7, reshuffle_each_iteration=False),
        lambda D: D.range(6).shuffle(100, seed=1, reshuffle_each_iteration=False).repeat(3),
    ],
)
def test_shuffling_with_a_seed_gives_tensorflows_order(build: Any) -> None:
    theirs = pytest.importorskip("tensorflow.compat.v1")
    theirs.disable_eager_execution()
    found = []
    for module in (ours, theirs):
        with module.Graph().as_default():
            module.set_random_seed(5)
            found.append(elements(module, build(module.data.Dataset)))
    assert found[0] == found[1]


def test_shuffling(tf: Any) -> None:
    dataset = tf.data.Dataset.range(50).shuffle(10, seed=3)
    (once, again) = (elements(tf, dataset), elements(tf, dataset))
    assert sorted(once) == list(range(50)) != once
    assert once == again  # a new iterator begins with the seed
    assert all(value - place < 10 for place, value in enumerate(once))  # out of a buffer of 10
    epochs = elements(tf, tf.data.Dataset.range(8).shuffle(100, seed=3).repeat(2))
    assert sorted(epochs[:8]) == sorted(epochs[8:]) == list(range(8))
    assert epochs[:8] != epochs[8:]


def test_what_functions_use_from_outside(tf: Any) -> None:
    offset = tf.placeholder(tf.int64, [])
    factor = tf.Variable(10, dtype=tf.int64)
    dataset = tf.data.Dataset.range(3).map(lambda x: x * factor + offset)
    iterator = tf.data.make_initializable_iterator(dataset)
    following = iterator.get_next()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(iterator.initializer, {offset: 5})
        assert [session.run(following) for _ in range(3)] == [5, 15, 25]
        session.run(iterator.initializer, {offset: 1})
        assert session.run(following) == 1


def test_a_one_shot_iterator_is_shared_by_all_that_read_it(tf: Any) -> None:
    iterator = tf.data.make_one_shot_iterator(
        tf.data.Dataset.range(4).map(lambda x: x + tf.constant(1, tf.int64))
    )
    first, second = iterator.get_next(), iterator.get_next()
    with tf.Session() as session:
        assert sorted(session.run([first, second])) == [1, 2]
        assert session.run(first) == 3
    with tf.Session() as session:
        assert session.run(first) == 1  # another session begins anew


def test_a_one_shot_iterator_takes_no_placeholder(tf: Any) -> None:
    size = tf.placeholder(tf.int64, [], name="size")
    with pytest.raises(
        ValueError, match=r"Cannot capture a placeholder \(name:size, type:Placeholder\) by value"
    ):
        tf.data.make_one_shot_iterator(tf.data.Dataset.range(size))


def test_one_iterator_for_several_datasets(tf: Any) -> None:
    D = tf.data.Dataset
    iterator = tf.data.Iterator.from_structure(tf.int64, tf.TensorShape([]))
    train, test = iterator.make_initializer(D.range(3)), iterator.make_initializer(D.range(10, 12))
    following = iterator.get_next()
    with pytest.raises(TypeError, match="Expected output types"):
        iterator.make_initializer(D.from_tensors(1.0))
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="iterator has not been initialized"):
            session.run(following)
        session.run(train)
        assert session.run(following) == 0
        session.run(test)
        assert [session.run(following) for _ in range(2)] == [10, 11]
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            session.run(following)


def test_a_string_chooses_the_iterator(tf: Any) -> None:
    D = tf.data.Dataset
    iterators = [tf.data.make_one_shot_iterator(D.range(start, start + 3)) for start in (0, 100)]
    handles = [iterator.string_handle() for iterator in iterators]
    handle = tf.placeholder(tf.string, [])
    following = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    with tf.Session() as session:
        a, b = session.run(handles)
        values = [session.run(following, {handle: each}) for each in (a, b, a, b)]
        assert values == [0, 100, 1, 101]


def test_an_error_leaves_the_iterator_behind_the_element(tf: Any) -> None:
    dataset = tf.data.Dataset.range(4).map(
        lambda x: tf.check_numerics(1.0 / tf.cast(x - 1, tf.float32), "bad")
    )
    iterator = tf.data.make_one_shot_iterator(dataset)
    following = iterator.get_next()
    with tf.Session() as session:
        assert session.run(following) == -1.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad : Tensor had Inf"):
            session.run(following)
        assert session.run(following) == 1.0
        assert session.run(following) == 0.5


INT64: dict[str, Any] = {"output_types": [ours.int64], "output_shapes": [None]}


RAW: dict[str, tuple[Callable[[Any, Any], Any], list[Any]]] = {
    "window": (
        lambda r, d: r.FlatMapDataset(
            r.WindowDataset(d(7), 3, 2, 1, False, **INT64),
            [],
            f=function("window", [tf_variant()], [tf_variant()], lambda w, x: [x[0]]),
            **INT64,
        ),
        [0, 1, 2, 2, 3, 4, 4, 5, 6, 6],
    ),
    "sliding_window": (
        lambda r, d: r.SlidingWindowDataset(d(7), 3, 2, 2, **INT64),
        [[0, 2, 4], [2, 4, 6]],
    ),
    "unbatch": (lambda r, d: r.UnbatchDataset(r.BatchDataset(d(5), 2, **INT64), **INT64), [0, 1, 2, 3, 4]),
    "unique": (
        lambda r, d: r.UniqueDataset(r.ConcatenateDataset(d(3), d(5), **INT64), **INT64),
        [0, 1, 2, 3, 4],
    ),
    "directed_interleave": (
        lambda r, d: r.DirectedInterleaveDataset(
            r.TensorSliceDataset([np.array([1, 0, 0, 1])], output_shapes=[[]]),
            [d(2), r.RangeDataset(10, 20, 1, **INT64)],
            **INT64,
        ),
        [10, 0, 1, 11],
    ),
    "map_and_batch": (
        lambda r, d: r.MapAndBatchDataset(
            d(5), [], 2, 1, True, f=function("sq", [ours.int64], [ours.int64], square), **INT64
        ),
        [[0, 1], [4, 9]],
    ),
    "scan": (
        lambda r, d: r.ScanDataset(
            d(5),
            [np.int64(0)],
            [],
            f=function("sum", [ours.int64] * 2, [ours.int64] * 2, add_twice),
            **INT64,
        ),
        [0, 1, 3, 6, 10],
    ),
    "take_while": (
        lambda r, d: r.TakeWhileDataset(
            d(9), [], predicate=function("few", [ours.int64], [ours.bool], below_three), **INT64
        ),
        [0, 1, 2],
    ),
    "shuffle_and_repeat": (
        lambda r, d: r.BatchDataset(r.ShuffleAndRepeatDataset(d(3), 1, 1, 1, 2, **INT64), 10, **INT64),
        [[0, 1, 2, 0, 1, 2]],
    ),
    "ignore_errors": (
        lambda r, d: r.IgnoreErrorsDataset(
            r.MapDataset(d(4), [], f=function("odd", [ours.int64], [ours.int64], two_over), **INT64), **INT64
        ),
        [2, 1, 0],
    ),
    "sparse_slices": (
        lambda r, d: r.MapDataset(
            r.SparseTensorSliceDataset(
                np.array([[0, 1], [2, 0], [2, 3]]), np.array([5, 6, 7]), np.array([3, 4])
            ),
            [],
            f=function("values", [ours.int64] * 3, [ours.int64], lambda w, x: [x[1]]),
            **INT64,
        ),
        [[5], [], [6, 7]],
    ),
    "dense_to_sparse": (
        lambda r, d: r.MapDataset(
            r.DenseToSparseBatchDataset(r.BatchDataset(d(3), 2, **INT64), 2, np.array([-1]), **INT64),
            [],
            f=function("indices", [ours.variant], [ours.int64], indices_of),
            **INT64,
        ),
        [[[0, 0], [0, 1], [1, 0]]],
    ),
    "as_they_are": (
        lambda r, d: r.OptimizeDataset(
            r.ModelDataset(
                r.PrivateThreadPoolDataset(r.NonSerializableDataset(d(2), **INT64), 3, **INT64), **INT64
            ),
            np.array([b"x"], object),
            **INT64,
        ),
        [0, 1],
    ),
}


def tf_variant() -> Any:
    return ours.variant


def function(name: str, arguments: list[Any], results: list[Any], build: Any) -> Any:
    """A function of the default graph's library, written node by node."""
    writer = FunctionWriter(name)
    made = build(writer, writer.args(arguments))
    return writer.finish(made, results, ours.get_default_graph()._functions)


def square(writer: FunctionWriter, x: list[str]) -> list[str]:
    return writer.node("Mul", [x[0], x[0]], T=ours.int64)


def add_twice(writer: FunctionWriter, x: list[str]) -> list[str]:
    return writer.node("AddV2", x, T=ours.int64) * 2


def indices_of(writer: FunctionWriter, x: list[str]) -> list[str]:
    return writer.node("DeserializeSparse", x, dtype=ours.int64, Tserialized=ours.variant)[:1]


def below_three(writer: FunctionWriter, x: list[str]) -> list[str]:
    return writer.node("Less", [x[0], writer.constant(3, ours.int64)], T=ours.int64)


def two_over(writer: FunctionWriter, x: list[str]) -> list[str]:
    """Fails for 0."""
    return writer.node("FloorDiv", [writer.constant(2, ours.int64), x[0]], T=ours.int64)


@pytest.mark.parametrize("name", RAW)
def test_ops_without_a_method_of_their_own(name: str) -> None:
    build, expected = RAW[name]
    with ours.Graph().as_default():
        dataset = build(raw_ops, lambda stop: raw_ops.RangeDataset(0, stop, 1, **INT64))
        iterator = raw_ops.IteratorV2(shared_name=b"", container=b"", **INT64)
        start = raw_ops.MakeIterator(dataset, iterator)
        (following,) = raw_ops.IteratorGetNext(iterator, **INT64)
        with ours.Session() as session:
            session.run(start)
            found = [session.run(following).tolist() for _ in expected]
            with pytest.raises(ours.errors.OutOfRangeError):
                session.run(following)
    assert found == expected


def test_cardinality_and_single_elements() -> None:
    with ours.Graph().as_default():
        some = raw_ops.RangeDataset(0, 5, 2, **INT64)
        for_ever = raw_ops.RepeatDataset(some, -1, **INT64)
        (only,) = raw_ops.DatasetToSingleElement(raw_ops.TakeDataset(some, 1, **INT64), **INT64)
        with ours.Session() as session:
            sizes = [raw_ops.DatasetCardinality(each) for each in (some, for_ever)]
            assert session.run(sizes) == [3, -1]
            assert session.run(only) == 0
            with pytest.raises(ours.errors.InvalidArgumentError, match="more than one element"):
                session.run(raw_ops.DatasetToSingleElement(some, **INT64)[0])
            (last,) = raw_ops.DatasetToSingleElement(raw_ops.TakeDataset(some, 0, **INT64), **INT64)
            with pytest.raises(ours.errors.InvalidArgumentError, match="Dataset was empty"):
                session.run(last)


def test_an_optional_element() -> None:
    with ours.Graph().as_default():
        iterator = ours.data.make_one_shot_iterator(ours.data.Dataset.range(1))
        optional = raw_ops.IteratorGetNextAsOptional(iterator._iterator_resource, **INT64)
        has = raw_ops.OptionalHasValue(optional)
        with ours.Session() as session:
            assert [session.run(has), session.run(has)] == [True, False]


def test_reduce(tf: Any) -> None:
    total = tf.data.Dataset.range(5).reduce((np.int64(0), np.int64(1)), lambda s, x: (s[0] + x, s[1] * 2))
    with tf.Session() as session:
        assert session.run(total) == (10, 32)


def test_structure_is_known_when_the_graph_is_built(tf: Any) -> None:
    D = tf.data.Dataset
    dataset = D.from_tensor_slices((np.zeros([6, 2], np.float32), ["a"] * 6)).batch(3, drop_remainder=True)
    types, shapes = tf.data.get_output_types(dataset), tf.data.get_output_shapes(dataset)
    assert types == (tf.float32, tf.string)
    assert [shape.as_list() for shape in shapes] == [[3, 2], [3]]
    image, label = tf.data.make_one_shot_iterator(dataset).get_next()
    assert image.get_shape().as_list() == [3, 2]
    assert label.get_shape().as_list() == [3]


def test_files(tf: Any, tmp_path: Path) -> None:
    records, lines, pieces = (str(tmp_path / name) for name in ("a.tfrecord", "b.txt", "c.bin"))
    with tf.python_io.TFRecordWriter(records) as writer:
        for text in (b"one", b"two"):
            writer.write(text)
    Path(lines).write_bytes(b"first\r\nsecond\nthird")
    Path(pieces).write_bytes(b"HHabcdefT")
    data = tf.data
    assert elements(tf, data.TFRecordDataset(records)) == [b"one", b"two"]
    assert elements(tf, data.TextLineDataset([lines, lines]).skip(2)) == [
        b"third",
        b"first",
        b"second",
        b"third",
    ]
    assert elements(tf, data.FixedLengthRecordDataset(pieces, 3, 2, 1)) == [b"abc", b"def"]
    with pytest.raises(tf.errors.NotFoundError):
        elements(tf, data.TFRecordDataset(records + "x"))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda D: D.range(4).batch(0), "[Bb]atch[ _]size must be greater than zero"),
        (lambda D: D.range(4).shuffle(0), "buffer_size must be greater than zero"),
        (lambda D: D.range(4).shard(2, 5), "(I|i)ndex must be between 0 and 1"),
        (lambda D: D.range(0, 4, 0), "step must be a non-zero integer"),
        (
            lambda D: D.from_generator(lambda: iter([[1, 2], [3]]), np.int64).batch(2),
            "Cannot batch tensors with different shapes in component 0",
        ),
    ],
)
def test_errors_when_it_runs(tf: Any, build: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        elements(tf, build(tf.data.Dataset))


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda D: D.range(), ValueError, "Invalid arguments to RangeDataset"),
        (lambda D: D.zip(3), TypeError, "The argument to `Dataset.zip\\(\\)` must be a nested structure"),
        (lambda D: D.range(3).flat_map(lambda x: x), TypeError, "must return a `Dataset` object"),
        (lambda D: D.range(3).filter(lambda x: x), TypeError, "must return a scalar boolean tensor"),
        (lambda D: D.range(3).concatenate(D.from_tensors(1.0)), TypeError, "have different types"),
        (lambda D: D.from_generator(3, ours.int64), TypeError, "`generator` must be callable"),
        (lambda D: D.from_tensors(sparse(ours)).padded_batch(2, [4]), TypeError, "padded sparse tensors"),
        (lambda D: D.from_sparse_tensor_slices([1]), TypeError, "must be a `tf.SparseTensor` object"),
        (
            lambda D: D.range(3).concatenate(
                D.from_tensors(sparse(ours)).map(lambda s: ours.cast(s, ours.int64))
            ),
            TypeError,
            "different classes",
        ),
        (lambda D: D.range(3).apply(X.group_by_window(lambda x: x, None)), ValueError, "Must pass either"),
        (
            lambda D: D.range(3).apply(X.group_by_window(lambda x: x, lambda k, d: k, 2)),
            TypeError,
            "`reduce_func` must return",
        ),
        (lambda D: D.range(3).apply(X.scan(0, lambda s, x: s)), TypeError, "must return a pair"),
        (lambda D: D.range(3).apply(X.scan(0.5, lambda s, x: (x, x))), TypeError, "must match the initial"),
        (lambda D: D.range(3).apply(X.parse_example_dataset({})), TypeError, "vectors of strings"),
        (lambda D: X.bucket_by_sequence_length(len, [3], [2]), ValueError, "must equal len"),
        (lambda D: X.sample_from_datasets([D.range(3)], [1]), TypeError, "`weights` must be convertible"),
        (lambda D: X.choose_from_datasets([D.range(3)], D.from_tensors(0.5)), TypeError, "`choice_dataset`"),
    ],
)
def test_what_cannot_be_built_says_why(build: Any, error: Any, message: str) -> None:
    with ours.Graph().as_default(), pytest.raises(error, match=message):
        build(ours.data.Dataset)


@pytest.mark.oracle
@pytest.mark.parametrize("name", [name for name in PIPELINES if name != "from_generator"])
@pytest.mark.parametrize("direction", ["ours in TensorFlow", "TensorFlow's here"])
def test_pipelines_in_a_file_of_the_other_system(name: str, direction: str) -> None:
    theirs = pytest.importorskip("tensorflow.compat.v1")
    theirs.disable_eager_execution()
    build, expected = PIPELINES[name]
    writer, reader = (ours, theirs) if direction.startswith("ours") else (theirs, ours)
    with writer.Graph().as_default() as graph:
        iterator = writer.data.make_one_shot_iterator(build(writer, writer.data.Dataset))
        structure = iterator.get_next()
        tensors = ours.nest.flatten(structure)
        flat = [part.name for each in tensors for part in parts_of(each)]
        data = graph.as_graph_def().SerializeToString()
    with reader.Graph().as_default() as graph:
        reader.import_graph_def(reader.GraphDef.FromString(data), name="")
        with reader.Session() as session:
            found = [[plain(value) for value in session.run(flat)] for _ in expected]
            with pytest.raises(reader.errors.OutOfRangeError):
                session.run(flat)
    assert found == [leaves(row) for row in expected]


def test_a_python_function_in_a_graph(tf: Any) -> None:
    x = tf.placeholder(tf.float32, [None])
    one = tf.py_func(lambda a: a * 2.0, [x], tf.float32)
    two = tf.py_func(lambda a: (np.int64(len(a)), "text"), [x], [tf.int64, tf.string])
    wrong = tf.py_func(lambda a: np.float64(1.0), [x], tf.float32)
    with tf.Session() as session:
        value, (count, text) = session.run([one, two], {x: [1.0, 2.0]})
        assert (value.tolist(), count, text) == ([2.0, 4.0], 2, b"text")
        with pytest.raises(tf.errors.InvalidArgumentError, match="0-th value returned by pyfunc_"):
            session.run(wrong, {x: [1.0]})


@pytest.mark.parametrize("padded", [False, True])
def test_a_batch_of_strings_holds_bytes(padded):
    with ours.Graph().as_default(), ours.Session() as session:
        strings = ours.data.Dataset.from_tensor_slices(["a", "b"])
        batches = strings.padded_batch(2, []) if padded else strings.batch(2)
        lengths = batches.map(ours.strings.length).make_one_shot_iterator().get_next()
        batch = batches.make_one_shot_iterator().get_next()
        assert list(map(type, session.run(batch))) == [bytes, bytes]
        assert session.run(lengths).tolist() == [1, 1]


PARSE: dict[str, dict[str, Any]] = {
    "ParseExampleDataset": {},
    "ParseExampleDatasetV2": {"ragged_keys": [], "ragged_value_types": [], "ragged_split_types": []},
}


def parsed_examples(api, name):
    """Examples in batches of 2, dense and sparse features, by an op of a dataset."""
    example = protos.Example()
    records = []
    for number in range(3):
        example.features.feature["x"].float_list.value[:] = [number, number + 0.5]
        example.features.feature["ids"].int64_list.value[:] = range(number)
        records.append(example.SerializeToString())
    raw = api.raw_ops
    with api.Graph().as_default(), api.Session() as session:
        slices = raw.TensorSliceDataset(components=[api.constant(records)], output_shapes=[[]])
        batches = raw.BatchDatasetV2(
            input_dataset=slices,
            batch_size=api.constant(2, api.int64),
            drop_remainder=api.constant(False),
            output_types=[api.string],
            output_shapes=[[None]],
        )
        parsed = getattr(raw, name)(
            input_dataset=batches,
            num_parallel_calls=api.constant(1, api.int64),
            dense_defaults=[api.zeros([0])],
            sparse_keys=["ids"],
            dense_keys=["x"],
            sparse_types=[api.int64],
            dense_shapes=[[2]],
            output_types=[api.variant, api.float32],
            output_shapes=[None, [None, 2]],
            **PARSE[name],
        )
        iterator = raw.IteratorV2(
            shared_name="",
            container="",
            output_types=[api.variant, api.float32],
            output_shapes=[None, [None, 2]],
        )
        session.run(raw.MakeIterator(dataset=parsed, iterator=iterator))
        ids, x = raw.IteratorGetNext(
            iterator=iterator, output_types=[api.variant, api.float32], output_shapes=[None, [None, 2]]
        )
        fetches = [raw.DeserializeSparse(serialized_sparse=ids, dtype=api.int64), x]
        found = []
        for _ in range(2):
            (indices, values, shape), dense = session.run(fetches)
            found.append([item.tolist() for item in (indices, values, shape, dense)])
        with pytest.raises(api.errors.OutOfRangeError):
            session.run(fetches)
    return found


@pytest.mark.parametrize("name", sorted(PARSE))
def test_examples_are_parsed_in_a_pipeline(name):
    assert parsed_examples(ours, name) == [
        [[[1, 0]], [0], [2, 1], [[0, 0.5], [1, 1.5]]],
        [[[0, 0], [0, 1]], [0, 1], [1, 2], [[2, 2.5]]],
    ]


@pytest.mark.oracle
@pytest.mark.parametrize("name", sorted(PARSE))
def test_examples_are_parsed_as_in_tensorflow(name):
    tensorflow = pytest.importorskip("tensorflow.compat.v1")
    assert parsed_examples(ours, name) == parsed_examples(tensorflow, name)


def test_what_only_measures_changes_nothing() -> None:
    with ours.Graph().as_default():
        made = ours.data.Dataset.range(3).apply(X.latency_stats("a")).apply(X.bytes_produced_stats("b"))
        slow = raw_ops.SleepDataset(made._variant_tensor, 1, **INT64)
        fast = raw_ops.ChooseFastestDataset([slow, made._variant_tensor], num_experiments=2, **INT64)
        threads = raw_ops.ThreadPoolHandle(num_threads=2, display_name="two")
        pooled = raw_ops.ThreadPoolDataset(fast, threads, **INT64)
        watched = raw_ops.SetStatsAggregatorDataset(
            pooled, raw_ops.StatsAggregatorHandle(), "tag", "prefix", **INT64
        )
        assert elements(ours, ours.data.Dataset(watched, made._element)) == [0, 1, 2]


def test_rows_through_a_function(tf: Any) -> None:
    with ours.Graph().as_default():
        square_rows = raw_ops.MapDefun(
            [np.array([1, 2, 3])],
            [],
            f=function("sq", [ours.int64], [ours.int64], square),
            output_types=[ours.int64],
            output_shapes=[[]],
        )
        assert square_rows[0].get_shape().as_list() == [3]
        with ours.Session() as session:
            assert session.run(square_rows[0]).tolist() == [1, 4, 9]
