"""Event files: the framing, byte by byte, and what a real TensorFlow reads of it."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from sgtool.formats import crc, protos
from sgtool.formats.errors import OpError
from sgtool.formats.event_file import EventWriter


def test_each_record_is_framed_with_checksums(tmp_path: Path) -> None:
    with EventWriter(tmp_path / "a" / "b") as writer:
        writer.scalars(7, {"loss": 0.5, "rate": 2.0})
    (file,) = (tmp_path / "a" / "b").iterdir()
    assert "tfevents" in file.name
    data, at, events = file.read_bytes(), 0, []
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        assert struct.unpack_from("<I", data, at + 8)[0] == crc.masked_crc32c(data[at : at + 8])
        message = data[at + 12 : at + 12 + length]
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == crc.masked_crc32c(message)
        events.append(protos.Event.FromString(message))
        at += 16 + length
    assert events[0].file_version == "brain.Event:2"
    assert events[1].step == 7
    assert {value.tag: value.simple_value for value in events[1].summary.value} == {"loss": 0.5, "rate": 2.0}


def test_a_file_in_the_way_is_our_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OpError):
        EventWriter(tmp_path / "file")


@pytest.mark.oracle
def test_tensorflow_reads_the_scalars(tmp_path: Path) -> None:
    import tensorflow.compat.v1 as tf

    with EventWriter(tmp_path) as writer:
        writer.scalars(3, {"loss": 0.25})
    events = list(tf.train.summary_iterator(writer.path))
    assert events[0].file_version == "brain.Event:2"
    assert (events[1].step, events[1].summary.value[0].tag, events[1].summary.value[0].simple_value) == (
        3,
        "loss",
        0.25,
    )
