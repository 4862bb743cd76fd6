"""`tf.lookup` and `tf.contrib.lookup`: tables as Python objects, as TensorFlow has them."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as ours


@pytest.fixture(params=["ours", pytest.param("theirs", marks=pytest.mark.oracle)])
def tf(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    module: Any = ours
    if request.param == "theirs":
        module = pytest.importorskip("tensorflow.compat.v1")
        module.disable_eager_execution()
    monkeypatch.chdir(tmp_path)
    Path("words").write_bytes(b"emerson\nlake\npalmer\n")
    Path("columns").write_bytes(b"0\tbrain\t1\n1\tsalad\t5\n2\tsurgery\t6\n")
    with module.Graph().as_default():
        yield module


def run(tf: Any, *fetches: Any, first: Any = ()) -> list[Any]:
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        for one in first:
            session.run(one)
        return list(session.run(list(fetches)))


def words_to_numbers(tf: Any) -> Any:
    return tf.lookup.KeyValueTensorInitializer(
        ["brain", "salad", "surgery"], [0, 1, 2], tf.string, tf.int64, name="init"
    )


def test_a_static_table_of_tensors(tf: Any) -> None:
    table = tf.lookup.StaticHashTable(words_to_numbers(tf), -1, name="t")
    found = table.lookup(tf.constant([["brain", "tank"], ["salad", "brain"]]))
    assert found.shape.as_list() == [2, 2]
    assert (table.key_dtype, table.value_dtype) == (tf.string, tf.int64)
    assert table.name == "t"
    assert found.op.type == "LookupTableFindV2"
    assert tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS)
    values, size = run(tf, found, table.size())
    np.testing.assert_array_equal(values, [[0, -1], [1, 0]])
    assert size == 3


def test_a_table_looks_up_sparse_keys(tf: Any) -> None:
    table = tf.lookup.StaticHashTable(words_to_numbers(tf), -1)
    keys = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["salad", "tank", "brain"], [2, 2])
    (found,) = run(tf, table.lookup(keys))
    np.testing.assert_array_equal(found.values, [1, -1, 0])
    np.testing.assert_array_equal(found.indices, [[0, 0], [0, 1], [1, 0]])


def test_a_table_that_is_not_filled_says_so(tf: Any) -> None:
    table = tf.lookup.StaticHashTable(words_to_numbers(tf), -1)
    found = table.lookup(tf.constant(["brain"]))
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="not initialized"):
        session.run(found)


def test_keys_of_another_dtype_are_refused(tf: Any) -> None:
    table = tf.lookup.StaticHashTable(words_to_numbers(tf), -1)
    with pytest.raises(TypeError):
        table.lookup(tf.constant([1, 2]))
    with pytest.raises((TypeError, ValueError)):
        tf.lookup.StaticHashTable(words_to_numbers(tf), "UNK")


def test_a_static_table_of_a_file(tf: Any) -> None:
    index = tf.lookup.TextFileIndex
    ids = tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer("words", tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER), -1
    )
    columns = tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer("columns", tf.string, 1, tf.int64, 2, delimiter="\t"), -7
    )
    first, second = run(
        tf, ids.lookup(tf.constant(["palmer", "x"])), columns.lookup(tf.constant(["surgery", "x"]))
    )
    assert (first.tolist(), second.tolist()) == ([2, -1], [6, -7])
    paths = tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)
    assert [path.op.type for path in paths] == ["Const", "Const"]


def test_what_a_file_initializer_refuses(tf: Any) -> None:
    index, make = tf.lookup.TextFileIndex, tf.lookup.TextFileInitializer
    with pytest.raises(ValueError, match=r"Filename required for|`filename` argument required"):
        make("", tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER, name="n")
    with pytest.raises(ValueError, match=r"Invalid vocab_size|`vocab_size` should be > 0"):
        make("words", tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER, vocab_size=0)
    with pytest.raises(ValueError, match=r"(?i)keys? must be|must be dtype|key_dtype. must be"):
        make("words", tf.string, index.LINE_NUMBER, tf.int64, index.WHOLE_LINE)


def test_a_vocabulary_table_has_buckets_after_its_words(tf: Any) -> None:
    table = tf.lookup.StaticVocabularyTable(words_to_numbers(tf), num_oov_buckets=2)
    found, size = run(tf, table.lookup(tf.constant(["salad", "brain", "tank", "UNK"])), table.size())
    assert found[:2].tolist() == [1, 0]
    assert set(found[2:]) <= {3, 4}
    assert size == 5
    only = tf.lookup.StaticVocabularyTable(None, num_oov_buckets=5)
    assert run(tf, only.lookup(tf.constant(["brain", "salad", "x"])))[0].tolist() == [3, 1, 0]


def test_a_vocabulary_of_numbers_takes_keys_of_another_size(tf: Any) -> None:
    initializer = tf.lookup.KeyValueTensorInitializer([42, 1, -1000], [0, 1, 2], tf.int64, tf.int64)
    table = tf.lookup.StaticVocabularyTable(initializer, num_oov_buckets=1, lookup_key_dtype=tf.int32)
    assert run(tf, table.lookup(tf.constant([42, 7, -1000], tf.int32)))[0].tolist() == [0, 3, 2]


def test_what_a_vocabulary_table_refuses(tf: Any) -> None:
    with pytest.raises(ValueError, match="must be > 0"):
        tf.lookup.StaticVocabularyTable(words_to_numbers(tf), num_oov_buckets=0)
    floats = tf.lookup.KeyValueTensorInitializer(["a"], [1.0], tf.string, tf.float32)
    with pytest.raises(TypeError, match=r"Invalid .?value.dtype"):
        tf.lookup.StaticVocabularyTable(floats, num_oov_buckets=1)


def dense(tf: Any, **options: Any) -> Any:
    arguments = {"default_value": -1, "empty_key": 0, "deleted_key": -9, "initial_num_buckets": 4, **options}
    return tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, **arguments)


def test_a_dense_table_takes_and_gives_up_entries(tf: Any) -> None:
    table = dense(tf)
    steps = [table.insert(tf.constant([1, 2, 3], tf.int64), tf.constant([10, 20, 30], tf.int64))]
    steps.append(table.remove(tf.constant([2, 7], tf.int64)))
    found = table.lookup(tf.constant([1, 2, 3, 4], tf.int64))
    assert found.shape.as_list() == [4]
    size, values = run(tf, table.size(), found, first=steps)
    assert size == 2
    np.testing.assert_array_equal(values, [10, -1, 30, -1])


def test_a_dense_table_of_vectors_knows_its_shapes(tf: Any) -> None:
    table = dense(tf, default_value=[-1, -2, -3], empty_key=[0, 0], deleted_key=[-9, -9])
    keys = tf.constant([[1, 2], [3, 4]], tf.int64)
    found = table.lookup(tf.placeholder_with_default(keys, [None, 2]))
    assert found.shape.as_list() == [None, 3]
    step = table.insert(keys[:1], tf.constant([[7, 8, 9]], tf.int64))
    np.testing.assert_array_equal(run(tf, found, first=[step])[0], [[7, 8, 9], [-1, -2, -3]])


def test_the_marks_of_a_dense_table_are_no_keys(tf: Any) -> None:
    table = dense(tf)
    step = table.insert(tf.constant([0], tf.int64), tf.constant([1], tf.int64))
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty_key"):
        run(tf, first=[step])


class TestContrib:
    """The names of `tf.contrib.lookup`, which TensorFlow 2 has not."""

    def test_words_of_a_tensor_and_back(self) -> None:
        tf = ours
        with tf.Graph().as_default():
            ids = tf.contrib.lookup.index_table_from_tensor(["a", "b"], num_oov_buckets=1)
            words = tf.contrib.lookup.index_to_string_table_from_tensor(["a", "b"], default_value="?")
            found = ids.lookup(tf.constant(["b", "zz", "a"]))
            back = words.lookup(found)
            assert [each.tolist() for each in run(tf, found, back)] == [[1, 2, 0], [b"b", b"?", b"a"]]

    def test_words_of_a_file(self, tmp_path: Path) -> None:
        tf = ours
        (tmp_path / "words").write_bytes(b"x\ny\n")
        with tf.Graph().as_default():
            ids = tf.contrib.lookup.index_table_from_file(str(tmp_path / "words"), default_value=-5)
            words = tf.contrib.lookup.index_to_string_table_from_file(str(tmp_path / "words"))
            found = ids.lookup(tf.constant(["y", "z"])), words.lookup(tf.constant([0, 5], tf.int64))
            assert [each.tolist() for each in run(tf, *found)] == [[1, -5], [b"x", b"UNK"]]

    def test_a_shared_table_is_one_table(self) -> None:
        tf = ours
        with tf.Graph().as_default():
            one, other = (
                tf.contrib.lookup.MutableHashTable(tf.string, tf.float32, 0.0, shared_name="s", name=name)
                for name in ("one", "other")
            )
            step = one.insert(tf.constant(["k"]), tf.constant([2.5]))
            assert run(tf, other.lookup(tf.constant(["k"])), first=[step])[0].tolist() == [2.5]

    def test_a_hash_table_has_init(self) -> None:
        tf = ours
        with tf.Graph().as_default(), tf.Session() as session:
            table = tf.contrib.lookup.HashTable(words_to_numbers(tf), -1, shared_name="words")
            session.run(table.init)
            assert session.run(table.lookup(tf.constant("salad"))) == 1

    def test_what_is_refused(self) -> None:
        tf = ours
        with pytest.raises(ValueError, match="mapping must be specified"):
            tf.contrib.lookup.index_table_from_tensor(None)
        with pytest.raises(ValueError, match="vocabulary_file must be specified"):
            tf.contrib.lookup.index_table_from_file("")
        with pytest.raises(ValueError, match="num_oov_buckets must be greater or equal than 0"):
            tf.contrib.lookup.index_table_from_tensor(["a"], num_oov_buckets=-1)
        with pytest.raises(AttributeError, match="lookup"):
            operator.attrgetter("contrib.lookup.nothing")(tf)
