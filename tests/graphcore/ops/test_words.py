"""Vocabularies: matrices brought from one to another, and word2vec's own ops."""

from __future__ import annotations

import numpy as np
import pytest

from sgtool import graphcore as tf
from sgtool.formats.files import FilePolicy

OLD, NEW = ["knight", "queen", "rook", "pawn"], ["pawn", "bishop", "knight", "king"]
MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two vocabularies and a checkpoint in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old").write_text("".join(f"{word}\n" for word in OLD))
    (tmp_path / "new").write_text("\n".join(NEW))
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("m", initializer=MATRIX)
        tf.get_variable("v", initializer=MATRIX[0])
        tf.get_variable("i", initializer=[[1, 2]])
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, "./model", write_meta_graph=False)
    return tmp_path


def run(fetches, **options):
    with tf.Session(**options) as session:
        return session.run(fetches)


def remapping(new="new", old="old", offset=0, count=4, size=-1):
    return tf.raw_ops.GenerateVocabRemapping(
        new, old, new_vocab_offset=offset, num_new_vocab=count, old_vocab_size=size
    )


def loaded(rows, columns=(), values=(), name="m", sizes=None, path="./model", **options):
    sizes = sizes or (len(rows), len(columns) or 3)
    return tf.raw_ops.LoadAndRemapMatrix(
        path,
        name,
        tf.constant(list(rows), tf.int64, [len(rows)]),
        tf.constant(list(columns), tf.int64, [len(columns)]),
        tf.constant(list(values), tf.float32, [len(values)]),
        num_rows=sizes[0],
        num_cols=sizes[1],
        **options,
    )


@pytest.mark.parametrize(
    ("arguments", "places"),
    [
        ({}, [3, -1, 0, -1]),
        ({"offset": 1, "count": 2}, [-1, 0]),
        ({"offset": 4, "count": 0}, []),
        ({"size": 3}, [-1, -1, 0, -1]),
    ],
)
def test_where_words_stand(files, arguments, places):
    made = remapping(**arguments)
    assert made.remapping.get_shape().as_list() == [len(places)]
    found, present = run([made.remapping, made.num_present])
    assert found.tolist() == places
    assert present == sum(place >= 0 for place in places)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"count": 5}, "lookup table size must be larger than last new vocab entry's line"),
        ({"new": ""}, "new vocab filename cannot be empty."),
        ({"size": 9}, "Invalid vocab_size"),
    ],
)
def test_vocabularies_that_do_not_fit(files, arguments, sentence):
    with pytest.raises(tf.errors.InvalidArgumentError, match=sentence):
        run(remapping(**arguments).remapping)


def test_vocabularies_are_files(files):
    with pytest.raises(tf.errors.NotFoundError):
        run(remapping(new="nothing").remapping)
    for fetch in (remapping().remapping, loaded([0])):
        with pytest.raises(tf.errors.PermissionDeniedError):
            run(fetch, file_policy=FilePolicy(allow_read="nothing"))


LOADED = [
    ({"rows": [2, 0]}, MATRIX[[2, 0]]),
    ({"rows": [2, -1, 0], "values": [7, 8, 9]}, np.float32([MATRIX[2], [7, 8, 9], MATRIX[0]])),
    ({"rows": [1], "columns": [2, 1]}, MATRIX[[1]][:, [2, 1]]),
    (
        {"rows": [-1, 3], "columns": [0, -1, 1, -1], "values": range(1, 7), "max_rows_in_memory": 1},
        np.float32([[1, 2, 3, 4], [9, 5, 10, 6]]),
    ),
    ({"rows": [-1], "values": [1, 2, 3]}, np.float32([[1, 2, 3]])),
    ({"rows": []}, np.zeros((0, 3), np.float32)),
]


@pytest.mark.parametrize(("arguments", "expected"), LOADED)
def test_a_matrix_in_another_order(files, arguments, expected):
    made = loaded(**arguments)
    assert made.get_shape().as_list() == list(expected.shape)
    found = run(made)
    assert found.dtype == np.float32
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"rows": [0, 0]}, tf.errors.UnimplementedError, "Old ID 0 is mapped to both new ID 0 and 1"),
        (
            {"rows": [0], "sizes": (2, 3)},
            tf.errors.InvalidArgumentError,
            "Size of row_remapping is 1 instead",
        ),
        (
            {"rows": [0], "columns": [1], "sizes": (1, 3)},
            tf.errors.InvalidArgumentError,
            "Provided col_remapping, but its size is 1 instead of being equal to num_cols=3",
        ),
        ({"rows": [0], "sizes": (1, 2)}, tf.errors.InvalidArgumentError, "size of its 2nd dimension is 3"),
        ({"rows": [4]}, tf.errors.InvalidArgumentError, "row 4 of tensor m"),
        ({"rows": [0], "name": "v"}, tf.errors.InvalidArgumentError, "of invalid rank 1"),
        ({"rows": [0], "name": "i"}, tf.errors.InvalidArgumentError, "has invalid type int32"),
        ({"rows": [0], "name": "nope"}, tf.errors.NotFoundError, "Key nope not found"),
        ({"rows": [-1], "values": [1]}, tf.errors.InvalidArgumentError, "but more missing values remain"),
        ({"rows": [0], "values": [1]}, tf.errors.InvalidArgumentError, "but only 0 elements were used"),
    ],
)
def test_matrices_that_cannot_be_brought(files, arguments, error, sentence):
    with pytest.raises(error, match=sentence):
        run(loaded(**arguments))


@pytest.fixture
def text(tmp_path):
    """A text whose words all have frequencies of their own."""
    words = [f"w{number}" for number in range(1, 25) for _ in range(number)]
    path = tmp_path / "text"
    path.write_text(" ".join(np.random.default_rng(4).permutation(words)))
    return str(path)


def examples(path, subsample=1e-3, **options):
    return tf.raw_ops.Skipgram(filename=path, batch_size=700, subsample=subsample, **options)


def test_examples_of_a_text(text):
    made = examples(text, min_count=4, window_size=2)
    with tf.Session() as session:
        first, second = session.run(list(made)), session.run(list(made))
    words, counts, size, _, _, inputs, labels = first
    assert words.tolist() == [b"UNK", *[f"w{number}".encode() for number in range(24, 3, -1)]]
    assert counts.tolist() == [6, *range(24, 3, -1)]
    assert size == 300
    assert inputs.dtype == labels.dtype == np.int32
    assert inputs.max() < len(words)
    assert (second[5] != inputs).any()


def test_texts_that_are_too_short(tmp_path):
    path = tmp_path / "short"
    path.write_text("a b c")
    with pytest.raises(tf.errors.InvalidArgumentError, match="contains too little data: 3 words"):
        run(examples(str(path)).examples)
    with pytest.raises(tf.errors.PermissionDeniedError):
        run(examples(str(path)).examples, file_policy=FilePolicy(allow_read="nothing"))


def trained(count=3, **changes):
    start = {
        "w_in": np.float32([[1, 2], [3, 4], [0.5, 1]]),
        "w_out": np.float32([[0.1, 0], [0, 0.2], [1, 1]]),
    }
    variables = {name: tf.Variable(value, use_resource=False) for name, value in start.items()}
    inputs = {
        **{name: variable._ref() for name, variable in variables.items()},
        "examples": [1, 0],
        "labels": [2, 1],
        "lr": 0.5,
        **changes,
    }
    update = tf.raw_ops.NegTrain(**inputs, vocab_count=[5, 4, 3], num_negative_samples=count)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update)
        return session.run(list(variables.values()))


def test_word_vectors_without_negative_samples():
    found_in, found_out = trained(count=0)
    w_in = np.array([[1, 2], [3, 4], [0.5, 1]])
    w_out = np.array([[0.1, 0], [0, 0.2], [1, 1]])
    for example, label in ((1, 2), (0, 1)):
        slope = 0.5 / (np.exp(w_in[example] @ w_out[label]) + 1)
        change = w_out[label] * slope
        w_out[label] += w_in[example] * slope
        w_in[example] += change
    np.testing.assert_allclose(found_in, w_in, rtol=1e-6)
    np.testing.assert_allclose(found_out, w_out, rtol=1e-6)


def test_negative_samples_push_away():
    found_in, found_out = trained(count=50)
    assert np.isfinite(found_in).all()
    assert (found_out[0] < [0.1, 0]).all()  # never a label


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"lr": [0.5]}, "Must be a scalar"),
        ({"examples": [[1, 0]]}, "Must be a vector"),
        ({"labels": [1]}, "examples.shape == labels.shape"),
        ({"examples": [3, 0]}, "examples must lie in"),
    ],
)
def test_training_that_cannot_be(changes, sentence):
    with pytest.raises(tf.errors.InvalidArgumentError, match=sentence):
        trained(**changes)


def test_samples_follow_their_weights():
    from sgtool.graphcore.kernels.candidates import SimplePhilox
    from sgtool.graphcore.kernels.philox import Philox
    from sgtool.graphcore.ops.word2vec import _Weighted

    weights = np.float32([5, 1, 0, 3, 1])
    sampler, random = _Weighted(weights), SimplePhilox(Philox(3))
    counts = np.bincount([sampler.draw(random) for _ in range(20000)], minlength=5)
    np.testing.assert_allclose(counts / 20000, weights / 10, atol=0.02)


@pytest.mark.oracle
@pytest.mark.parametrize(("arguments", "expected"), LOADED)
def test_tensorflow_brings_the_same(files, arguments, expected):
    tensorflow = pytest.importorskip("tensorflow").compat.v1
    made = loaded(**arguments)
    with tensorflow.Graph().as_default(), tensorflow.Session() as session:
        data = made.graph.as_graph_def().SerializeToString()
        tensorflow.import_graph_def(tensorflow.GraphDef.FromString(data), name="")
        assert session.run(made.name).tolist() == expected.tolist()


@pytest.mark.oracle
@pytest.mark.parametrize("subsample", [0.0, 1e-3])
def test_tensorflow_gives_the_same_examples(text, subsample):
    tensorflow = pytest.importorskip("tensorflow").compat.v1
    made = examples(text, min_count=4, window_size=3, subsample=subsample)
    data = tensorflow.GraphDef.FromString(made[0].graph.as_graph_def().SerializeToString())
    data.versions.producer = 18  # the op is deprecated
    names = [tensor.name for tensor in made]
    with tf.Session() as session:
        ours = [session.run(list(made)) for _ in range(12)]
    with tensorflow.Graph().as_default(), tensorflow.Session() as session:
        tensorflow.import_graph_def(data, name="")
        theirs = [session.run(names) for _ in range(12)]
    for one, other in zip(ours, theirs, strict=True):
        for mine, its in zip(one, other, strict=True):
            assert mine.dtype == its.dtype
            assert mine.tolist() == its.tolist()


@pytest.mark.parametrize("module", ["ours", pytest.param("theirs", marks=pytest.mark.oracle)])
def test_a_constant_in_a_file(tmp_path, module):
    path = tmp_path / "constant"
    path.write_bytes(MATRIX.tobytes())
    api = tf if module == "ours" else pytest.importorskip("tensorflow").compat.v1
    with api.Graph().as_default(), api.Session() as session:
        make = api.raw_ops.ImmutableConst
        whole = make(dtype=api.float32, shape=[4, 3], memory_region_name=str(path))
        part = make(dtype=api.int32, shape=[2], memory_region_name=str(path))
        assert whole.shape.as_list() == [4, 3]
        assert session.run(whole).tolist() == MATRIX.tolist()
        assert session.run(part).tolist() == MATRIX[0, :2].view(np.int32).tolist()
        with pytest.raises(api.errors.NotFoundError):
            session.run(make(dtype=api.int32, shape=[2], memory_region_name=f"{path}x"))
    if module == "ours":
        with tf.Session() as session, pytest.raises(tf.errors.ResourceExhaustedError, match="has 48 bytes"):
            session.run(tf.raw_ops.ImmutableConst(dtype=tf.int64, shape=[7], memory_region_name=str(path)))
