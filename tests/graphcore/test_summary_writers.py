"""Event files that a graph writes itself."""

from __future__ import annotations

import numpy as np
import pytest

from sgtool import graphcore as ours
from sgtool.formats import protos, tfrecord
from sgtool.formats.files import FilePolicy


@pytest.fixture(params=["ours", pytest.param("theirs", marks=pytest.mark.oracle)])
def tf(request):
    module = ours
    if request.param == "theirs":
        module = pytest.importorskip("tensorflow.compat.v1")
        module.disable_eager_execution()
    with module.Graph().as_default():
        yield module


def writer(tf, directory, suffix=".x"):
    """The handle, and the operation that creates the file."""
    handle = tf.raw_ops.SummaryWriter(shared_name="", container="")
    created = tf.raw_ops.CreateSummaryFileWriter(
        writer=handle,
        logdir=str(directory),
        max_queue=10,
        flush_millis=100000,
        filename_suffix=suffix,
    )
    return handle, created


def events(directory):
    (path,) = directory.iterdir()
    assert path.name.startswith("events.out.tfevents.")
    assert path.name.endswith(".x")
    return [protos.Event.FromString(record) for record in tfrecord.read_records(path)]


def test_every_kind_of_summary(tf, tmp_path):
    handle, created = writer(tf, tmp_path / "log")
    step = tf.constant(7, tf.int64)
    raw = tf.raw_ops
    event = protos.Event(step=3, wall_time=5.0)
    event.summary.value.add(tag="imported", simple_value=1.5)
    metadata = protos.SummaryMetadata(display_name="shown").SerializeToString()
    image = np.arange(12, dtype=np.uint8).reshape(1, 2, 2, 3)
    graph = protos.GraphDef(versions={"producer": 21}).SerializeToString()
    writes = [
        raw.WriteScalarSummary(writer=handle, step=step, tag="scalar", value=tf.constant(2, tf.int32)),
        raw.WriteHistogramSummary(
            writer=handle, step=step, tag="histogram", values=tf.constant([1.0, 2.0, 4.0])
        ),
        raw.WriteImageSummary(
            writer=handle, step=step, tag="image", tensor=image, bad_color=np.uint8([255, 0, 0, 255])
        ),
        raw.WriteAudioSummary(
            writer=handle, step=step, tag="audio", tensor=tf.zeros([1, 8]), sample_rate=tf.constant(100.0)
        ),
        raw.WriteSummary(
            writer=handle, step=step, tensor=tf.constant([1.0, 2.0]), tag="tensor", summary_metadata=metadata
        ),
        raw.WriteRawProtoSummary(
            writer=handle,
            step=step,
            tensor=[event.summary.SerializeToString(), event.summary.SerializeToString()],
        ),
        raw.WriteGraphSummary(writer=handle, step=step, tensor=graph),
        raw.ImportEvent(writer=handle, event=event.SerializeToString()),
    ]
    with tf.Session() as session:
        session.run(created)
        session.run(created)  # stays the same file
        for write in writes:
            session.run(write)
        session.run(raw.FlushSummaryWriter(writer=handle))
        found = events(tmp_path / "log")
        session.run(raw.CloseSummaryWriter(writer=handle))
        with pytest.raises(tf.errors.NotFoundError):
            session.run(writes[0])
    assert found[0].file_version == "brain.Event:2"
    first, histogram, image, audio, tensor, both, graph_event, imported = found[1:]
    assert [each.step for each in found[1:]] == [7] * 7 + [3]
    assert all(each.wall_time > 0 for each in found)
    assert (first.summary.value[0].tag, first.summary.value[0].simple_value) == ("scalar", 2.0)
    assert histogram.summary.value[0].histo.sum == 7
    assert image.summary.value[0].image.width == 2
    assert audio.summary.value[0].audio.sample_rate == 100
    assert tensor.summary.value[0].metadata.display_name == "shown"
    assert tensor.summary.value[0].tensor.tensor_content == np.float32([1, 2]).tobytes()
    assert [value.tag for value in both.summary.value] == ["imported", "imported"]
    assert protos.GraphDef.FromString(graph_event.graph_def).versions.producer == 21
    assert imported.wall_time == 5.0


def test_a_full_queue_is_written(tf, tmp_path):
    handle = tf.raw_ops.SummaryWriter(shared_name="", container="")
    created = tf.raw_ops.CreateSummaryFileWriter(
        writer=handle, logdir=str(tmp_path), max_queue=1, flush_millis=100000, filename_suffix=".x"
    )
    write = tf.raw_ops.WriteScalarSummary(
        writer=handle, step=tf.constant(1, tf.int64), tag="a", value=tf.constant(1.0)
    )
    with tf.Session() as session:
        session.run(created)
        counts = []
        for _ in range(3):
            session.run(write)
            counts.append(len(events(tmp_path)))
    assert counts[0] <= 1
    assert counts[1] == 3


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda raw, handle, step: raw.WriteRawProtoSummary(writer=handle, step=step, tensor=[b"\xff"]),
            "DataLossError",
            "Bad tf.compat.v1.Summary binary proto tensor string at index 0",
        ),
        (
            lambda raw, handle, step: raw.ImportEvent(writer=handle, event=b"\xff"),
            "DataLossError",
            "Bad tf.Event binary proto tensor string",
        ),
        (
            lambda raw, handle, step: raw.WriteHistogramSummary(
                writer=handle, step=step, tag="h", values=np.float32([np.nan])
            ),
            "InvalidArgumentError",
            "in summary histogram for: h",
        ),
    ],
)
def test_what_cannot_be_written(tf, tmp_path, make, error, message):
    handle, created = writer(tf, tmp_path)
    write = make(tf.raw_ops, handle, tf.constant(1, tf.int64))
    with tf.Session() as session:
        session.run(created)
        with pytest.raises(getattr(tf.errors, error), match=message):
            session.run(write)


def test_a_policy_that_denies(tmp_path):
    with ours.Graph().as_default():
        _, created = writer(ours, tmp_path)
        with (
            ours.Session(file_policy=FilePolicy(allow_write="nothing")) as session,
            pytest.raises(ours.errors.PermissionDeniedError),
        ):
            session.run(created)
