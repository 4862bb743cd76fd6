"""Specs of what datasets hold, datasets out of variants, and resampling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf

experimental = tf.data.experimental


def rows(dataset: Any, count: int) -> list[Any]:
    iterator = tf.data.make_initializable_iterator(dataset)
    following = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        return [session.run(following) for _ in range(count)]


def test_the_spec_of_elements() -> None:
    with tf.Graph().as_default():
        sparse = tf.SparseTensor([[0, 1]], [1.0], [2, 3])
        dataset = tf.data.Dataset.from_tensors({"a": np.zeros([2, 3], np.int32), "b": (sparse,)})
        spec = {"a": tf.TensorSpec([2, 3], tf.int32), "b": (tf.SparseTensorSpec([2, 3], tf.float32),)}
        assert dataset.element_spec == experimental.get_structure(dataset) == spec
        assert tf.data.make_one_shot_iterator(dataset).element_spec == spec
        windows = tf.data.Dataset.range(4).window(2)
        assert windows.element_spec == tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
        assert experimental.TensorStructure(tf.int32, [2]) == tf.TensorSpec([2], tf.int32)
        with pytest.raises(TypeError, match="must be a Dataset or Iterator object"):
            experimental.get_structure(3)


def test_specs_that_hold_specs() -> None:
    one = tf.data.DatasetSpec((tf.TensorSpec([None, 2]), tf.TensorSpec([])))
    other = tf.data.DatasetSpec((tf.TensorSpec([3, 2]), tf.TensorSpec([])))
    assert one.is_compatible_with(other)
    assert other.most_specific_compatible_type(one) == one
    assert not one.is_compatible_with(tf.data.DatasetSpec(tf.TensorSpec([None, 2])))
    with pytest.raises(ValueError, match="No TypeSpec is compatible with both"):
        one.most_specific_compatible_type(tf.OptionalSpec(tf.TensorSpec([])))
    with tf.Graph().as_default():
        optional = experimental.Optional.from_value((tf.constant(1.0), tf.constant([2])))
        spec = tf.OptionalSpec.from_value(optional)
        assert spec == tf.OptionalSpec((tf.TensorSpec([]), tf.TensorSpec([1], tf.int32)))
        assert spec.is_compatible_with(optional)


def test_the_spec_of_an_array() -> None:
    with tf.Graph().as_default():
        array = tf.TensorArray(tf.int32, 3, dynamic_size=True, element_shape=[2])
        spec = tf.TensorArraySpec.from_value(array)
        assert spec == tf.TensorArraySpec([2], tf.int32, True)
        assert spec.is_compatible_with(array)
        assert not spec.is_compatible_with(tf.TensorArray(tf.int32, 3, element_shape=[2]))
        assert not spec.is_compatible_with(tf.TensorSpec([2], tf.int32))


def test_a_dataset_out_of_a_variant() -> None:
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.from_tensor_slices(([1, 2], [[1.0], [2.0]]))
        variant = experimental.to_variant(dataset)
        again = experimental.from_variant(variant, experimental.get_structure(dataset))
        assert [(a.item(), b.tolist()) for a, b in rows(again, 2)] == [(1, [1.0]), (2, [2.0])]
        with pytest.raises(TypeError, match="described by TensorSpec"):
            experimental.from_variant(variant, tf.OptionalSpec(tf.TensorSpec([])))


def test_devices_of_datasets_are_the_cpu() -> None:
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.range(3).apply(experimental.copy_to_device("/cpu:0"))
        assert rows(dataset.apply(experimental.prefetch_to_device("/cpu:0", 2)), 3) == [0, 1, 2]


def resampled(tf: Any, initial: Any) -> list[int]:
    numbers = np.random.default_rng(0).integers(0, 3, 300).astype(np.int32)
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        resample = tf.data.experimental.rejection_resample(lambda x: x, [0.2, 0.2, 0.6], initial, seed=7)
        dataset = tf.data.Dataset.from_tensor_slices(numbers).repeat().apply(resample)
        iterator = tf.data.make_initializable_iterator(dataset)
        following = iterator.get_next()
        with tf.Session() as session:
            session.run(iterator.initializer)
            pairs = [session.run(following) for _ in range(300)]
    assert all(number == element for number, element in pairs)
    return [int(number) for number, _ in pairs]


@pytest.mark.parametrize("initial", [None, [0.34, 0.33, 0.33]], ids=["estimated", "given"])
def test_classes_become_as_frequent_as_wanted(initial: Any) -> None:
    shares = np.bincount(resampled(tf, initial), minlength=3) / 300
    np.testing.assert_allclose(shares, [0.2, 0.2, 0.6], atol=0.06)


def test_a_distribution_that_is_there_already_drops_nothing() -> None:
    with tf.Graph().as_default():
        resample = experimental.rejection_resample(lambda x: x % 2, [0.5, 0.5], [0.5, 0.5])
        dataset = tf.data.Dataset.range(4).map(lambda x: tf.cast(x, tf.int32)).apply(resample)
        assert rows(dataset, 4) == [(0, 0), (1, 1), (0, 2), (1, 3)]


@pytest.mark.oracle
@pytest.mark.parametrize("initial", [None, [0.5, 0.3, 0.2]], ids=["estimated", "given"])
def test_the_draws_are_tensorflows(initial: Any) -> None:
    theirs = pytest.importorskip("tensorflow.compat.v1")
    theirs.disable_eager_execution()
    assert resampled(tf, initial) == resampled(theirs, initial)


def test_an_optional_that_is_absent() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        spec = (tf.TensorSpec([], tf.int32), tf.SparseTensorSpec([2], tf.float32))
        absent = experimental.Optional.none_from_structure(spec)
        assert absent.value_structure == spec
        assert not session.run(absent.has_value())
        sparse = tf.SparseTensor([[0]], [1.0], [2])
        assert tf.SparseTensorSpec.from_value(sparse) == spec[1]
