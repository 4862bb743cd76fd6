"""Record files: round trips, damage, and what a real TensorFlow reads and writes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from sgtool.formats import event_file, tfrecord
from sgtool.formats.errors import DataLossError, InvalidValueError, MissingFileError, OpError

KINDS = ["", "GZIP", "ZLIB"]


def write(path, records, kind=""):
    with tfrecord.RecordWriter(path, kind) as writer:
        for record in records:
            writer.write(record)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20, deadline=None)
@given(records=st.lists(st.binary(max_size=300), max_size=5))
def test_round_trip(kind, records, tmp_path_factory):
    path = tmp_path_factory.mktemp("r") / "x"
    write(path, records, kind)
    assert list(tfrecord.read_records(path, kind)) == records


@pytest.mark.parametrize("kind", KINDS)
def test_records_larger_than_a_buffer(kind, tmp_path):
    records = [bytes([n]) * 700_000 for n in range(3)]
    write(tmp_path / "x", records, kind)
    assert list(tfrecord.read_records(tmp_path / "x", kind)) == records


def test_offsets_and_bytes(tmp_path):
    write(tmp_path / "x", [b"one", b""])
    assert list(tfrecord.RecordReader(tmp_path / "x")) == [(0, b"one"), (19, b"")]
    assert (tmp_path / "x").read_bytes() == tfrecord.frame(b"one") + tfrecord.frame(b"")


def test_every_flipped_byte_is_found(tmp_path):
    write(tmp_path / "x", [b"one", b"two!"])
    good = (tmp_path / "x").read_bytes()
    for at in range(len(good)):
        damaged = bytearray(good)
        damaged[at] ^= 0x10
        (tmp_path / "x").write_bytes(damaged)
        with pytest.raises(DataLossError, match="corrupted record at"):
            list(tfrecord.read_records(tmp_path / "x"))


@pytest.mark.parametrize("kind", KINDS)
def test_every_cut_ends_early_or_is_an_error(kind, tmp_path):
    write(tmp_path / "x", [b"one", b"two!"], kind)
    good = (tmp_path / "x").read_bytes()
    for size in range(len(good)):
        (tmp_path / "x").write_bytes(good[:size])
        try:
            found = list(tfrecord.read_records(tmp_path / "x", kind))
        except DataLossError:
            continue
        # Within the head of a record the file may still be being written; checksums of zlib come last.
        assert found == [b"one", b"two!"][: len(found)]
        assert kind or 16 + 3 - size >= 8 or len(found) == 1 or size < 12


def test_errors_of_use(tmp_path):
    with pytest.raises(MissingFileError):
        tfrecord.RecordReader(tmp_path / "x")
    with pytest.raises(InvalidValueError, match="no compression 'LZ4'"):
        tfrecord.RecordWriter(tmp_path / "x", "LZ4")
    with pytest.raises(OpError):
        tfrecord.RecordWriter(tmp_path)
    (tmp_path / "x").write_bytes(b"not compressed")
    with pytest.raises(DataLossError, match="cannot be decompressed"):
        list(tfrecord.read_records(tmp_path / "x", "GZIP"))


def test_events_come_back(tmp_path):
    with event_file.EventWriter(tmp_path) as writer:
        writer.scalars(3, {"loss": 0.25})
    first, second = event_file.read_events(writer.path)
    assert first.file_version == "brain.Event:2"
    assert (second.step, second.summary.value[0].tag) == (3, "loss")


@pytest.mark.oracle
@pytest.mark.parametrize("kind", KINDS)
def test_tensorflow_reads_and_writes_the_same(kind, tmp_path):
    import tensorflow.compat.v1 as tf

    records = [b"one", b"", b"x" * 5000]
    write(tmp_path / "ours", records, kind)
    with tf.Graph().as_default(), tf.Session() as session:  # eager or not: other tests switch it off
        dataset = tf.data.TFRecordDataset(str(tmp_path / "ours"), compression_type=kind)
        theirs = tf.data.make_one_shot_iterator(dataset).get_next()
        assert [session.run(theirs) for _ in records] == records
    with tf.io.TFRecordWriter(str(tmp_path / "theirs"), kind) as writer:
        for record in records:
            writer.write(record)
    assert list(tfrecord.read_records(tmp_path / "theirs", kind)) == records
    assert kind or (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
