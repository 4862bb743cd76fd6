"""Device specs, and which device operations beside others get."""

from __future__ import annotations

from typing import Any

import pytest

from sgtool import graphcore as tf


def test_a_spec_reads_and_writes_names() -> None:
    spec = tf.DeviceSpec.from_string("/job:ps/replica:2/task:3/device:GPU:1")
    assert (spec.job, spec.replica, spec.task, spec.device_type, spec.device_index) == ("ps", 2, 3, "GPU", 1)
    assert spec.to_string() == "/job:ps/replica:2/task:3/device:GPU:1"
    assert tf.DeviceSpec.from_string("/cpu").to_string() == "/device:CPU:*"
    assert tf.DeviceSpec(job="ps", device_type="gpu", device_index="0").to_string() == "/job:ps/device:GPU:0"
    assert tf.DeviceSpec().to_string() == ""


def test_a_spec_takes_over_what_another_says() -> None:
    spec = tf.DeviceSpec(job="a", task=1)
    other = tf.DeviceSpec(job="b", device_type="CPU", device_index=0)
    assert spec.make_merged_spec(other).to_string() == "/job:b/task:1/device:CPU:0"
    assert spec.replace(task=None, replica=2).to_string() == "/job:a/replica:2"
    spec.merge_from(other)
    assert spec == tf.DeviceSpec.from_string("/job:b/task:1/cpu:0")
    assert hash(spec) == hash(tf.DeviceSpec.from_string("/job:b/task:1/cpu:0"))
    assert repr(spec) == "DeviceSpec(job='b', task=1, device_type='CPU', device_index=0)"


@pytest.mark.parametrize(
    ("name", "text"),
    [("/jobs:a", "Unknown attribute: 'jobs' in '/jobs:a'"), ("/cpu:0/gpu:1", "Cannot specify multiple")],
)
def test_what_is_no_device_name(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        tf.DeviceSpec.from_string(name)


def test_an_unknown_component() -> None:
    with pytest.raises(AttributeError, match="Did you mean 'task'"):
        tf.DeviceSpec().tasks = 1


def test_operations_beside_others() -> None:
    """The blocks around `colocate_with` do not count, those inside do, and so does each of the group."""
    with tf.Graph().as_default() as graph:
        with tf.device(tf.DeviceSpec(job="a")):
            there = tf.constant(1.0, name="there")
        nowhere = tf.constant(1.0, name="nowhere")
        devices: dict[str, Any] = {}

        def make(name: str) -> None:
            devices[name] = tf.constant(1, name=name).device

        with tf.device("/cpu:3"):
            with graph.colocate_with(nowhere):
                make("reset")
                with tf.device("/gpu:1"):
                    make("inside")
                with graph.colocate_with(there):
                    make("inner")
            with graph.colocate_with(there):
                with graph.colocate_with(nowhere):
                    make("outer")
                with graph.colocate_with(nowhere, ignore_existing=True):
                    make("only")
            make("after")
    assert devices == {
        "reset": "",
        "inside": "/device:GPU:1",
        "inner": "/job:a",
        "outer": "/job:a",
        "only": "",
        "after": "/device:CPU:3",
    }
