"""Readers: keys, values, counts and errors of each kind, as TensorFlow gives them."""

from __future__ import annotations

import gzip
import zlib

import pytest

from sgtool import graphcore as tf
from sgtool.formats.files import FilePolicy

pytestmark = pytest.mark.usefixtures("_files")


@pytest.fixture
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with tf.python_io.TFRecordWriter("a.tfr") as writer:
        for record in (b"one", b"", b"three"):
            writer.write(record)
    (tmp_path / "l.txt").write_bytes(b"h1\nh2\r\nx\n\ny z")
    (tmp_path / "m.txt").write_bytes(b"h1\nq\n")
    (tmp_path / "f.bin").write_bytes(bytes(range(22)))
    with tf.Graph().as_default():
        yield


def read(reader, *names, up_to=None, **options):
    """All (key, value) pairs of files, and the reader's counts."""
    queue = tf.FIFOQueue(20, tf.string, shapes=[[]], name="files")
    record = reader.read(queue) if up_to is None else reader.read_up_to(queue, up_to)
    found = []
    with tf.Session(**options) as session:
        session.run(queue.enqueue_many([list(names)]))
        session.run(queue.close())
        while True:
            try:
                key, value = session.run(record)
            except tf.errors.OutOfRangeError as error:
                assert "FIFOQueue '_0_files" in str(error)  # noqa: PT017 - the end of the loop
                break
            found.append((key, value) if up_to is None else list(zip(key, value, strict=True)))
        counts = session.run([reader.num_records_produced(), reader.num_work_units_completed()])
        session.run(reader.reset())
        assert session.run([reader.num_records_produced(), reader.num_work_units_completed()]) == [0, 0]
    return found, counts


RECORDS = [(b"a.tfr:0", b"one"), (b"a.tfr:19", b""), (b"a.tfr:35", b"three")]
LINES = [
    (b"l.txt:1", b"h1"),
    (b"l.txt:2", b"h2"),
    (b"l.txt:3", b"x"),
    (b"l.txt:4", b""),
    (b"l.txt:5", b"y z"),
]


def test_records():
    assert read(tf.TFRecordReader(), "a.tfr", "a.tfr") == (RECORDS * 2, [6, 2])
    assert read(tf.TFRecordReader(), "a.tfr", "a.tfr", up_to=2) == ([RECORDS[:2], RECORDS[2:]] * 2, [6, 2])


@pytest.mark.parametrize(("kind", "squeeze"), [("GZIP", gzip.compress), ("ZLIB", zlib.compress)])
def test_compressed_records(kind, squeeze, tmp_path):
    data = (tmp_path / "a.tfr").read_bytes()
    (tmp_path / "a.tfr").write_bytes(squeeze(data))
    options = tf.python_io.TFRecordOptions(getattr(tf.python_io.TFRecordCompressionType, kind))
    assert read(tf.TFRecordReader(options=options), "a.tfr") == (RECORDS, [3, 1])


def test_lines():
    assert read(tf.TextLineReader(), "l.txt") == (LINES, [5, 1])
    skipping = tf.TextLineReader(skip_header_lines=1)
    assert read(skipping, "l.txt", "m.txt") == ([*LINES[1:], (b"m.txt:2", b"q")], [5, 2])
    assert read(tf.TextLineReader(skip_header_lines=9), "l.txt", "m.txt") == ([], [0, 2])


def test_whole_files_and_names():
    assert read(tf.WholeFileReader(), "m.txt") == ([(b"m.txt", b"h1\nq\n")], [1, 1])
    assert read(tf.IdentityReader(), "any", "thing") == ([(b"any", b"any"), (b"thing", b"thing")], [2, 2])


def test_pieces_of_fixed_length():
    def pieces(*starts, size=6):
        return [(f"f.bin:{i}".encode(), bytes(range(s, s + size))) for i, s in enumerate(starts)]

    assert read(tf.FixedLengthRecordReader(6, header_bytes=2), "f.bin")[0] == pieces(2, 8, 14)
    assert read(tf.FixedLengthRecordReader(6, 2, 3), "f.bin")[0] == pieces(2, 8)
    assert read(tf.FixedLengthRecordReader(6, hop_bytes=4), "f.bin")[0] == pieces(0, 4, 8, 12, 16)
    assert read(tf.FixedLengthRecordReader(4, hop_bytes=7), "f.bin")[0] == pieces(0, 7, 14, size=4)


def test_handles_of_the_first_generation():
    raw = tf.raw_ops
    queue = raw.FIFOQueue(component_types=[tf.string], shapes=[[]], capacity=5)
    makers = {
        "TFRecordReader": ({}, b"one"),
        "TextLineReader": ({}, None),
        "WholeFileReader": ({}, None),
        "IdentityReader": ({}, b"a.tfr"),
        "FixedLengthRecordReader": ({"record_bytes": 1}, b"\x03"),
    }
    add, close = raw.QueueEnqueue(queue, [tf.constant("a.tfr")]), raw.QueueClose(queue)
    handles = {name: getattr(raw, name)(**attrs) for name, (attrs, _) in makers.items()}
    reads = {name: raw.ReaderRead(handle, queue) for name, handle in handles.items()}
    several = raw.ReaderReadUpTo(handles["TFRecordReader"], queue, 9)
    counts = [
        raw.ReaderNumRecordsProduced(handles["TFRecordReader"]),
        raw.ReaderNumWorkUnitsCompleted(handles["TFRecordReader"]),
    ]
    with tf.Session() as session:
        for name, (_, expected) in makers.items():
            session.run(add)
            value = session.run(reads[name].value)
            assert value == expected or expected is None
        assert session.run(several.values).tolist() == [b"", b"three"]
        session.run(close)
        assert session.run(counts) == [3, 1]
        session.run(raw.ReaderReset(handles["TFRecordReader"]))
        assert session.run(counts) == [0, 0]


def test_errors(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match=r"(?s)none\.tfr.*node ReaderReadV2"):
        read(tf.TFRecordReader(), "none.tfr")
    data = bytearray((tmp_path / "a.tfr").read_bytes())
    data[14] ^= 1
    (tmp_path / "bad.tfr").write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match=r"corrupted record at 12 in bad\.tfr"):
        read(tf.TFRecordReader(), "bad.tfr")
    numbers, pairs = tf.FIFOQueue(1, tf.int32), tf.FIFOQueue(1, [tf.string, tf.string])
    with tf.Session() as session:
        session.run([numbers.enqueue(1), pairs.enqueue(["a", "b"])])
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="Expected queue with single string component"
        ):
            session.run(tf.IdentityReader().read(numbers))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected single component queue"):
            session.run(tf.IdentityReader().read(pairs))


@pytest.mark.parametrize("reader", [tf.TFRecordReader, tf.TextLineReader, tf.WholeFileReader])
def test_a_policy_that_denies_is_named(reader):
    with pytest.raises(tf.errors.PermissionDeniedError, match=r"\(op \w+V2\).*may read no files at all"):
        read(reader(), "a.tfr", file_policy=FilePolicy(allow_read="nothing"))


def test_an_identity_reader_tells_how_far_it_has_come():
    queue = tf.FIFOQueue(20, tf.string, shapes=[[]])
    reader = tf.IdentityReader("one")
    other = tf.IdentityReader("other")
    with tf.Session() as session:
        session.run(queue.enqueue_many([["X", "Y", "Z"]]))
        empty = session.run(reader.serialize_state())
        assert empty == b""
        session.run(reader.read(queue))
        session.run(reader.read(queue))
        state = session.run(reader.serialize_state())
        assert state == b"\x08\x02\x10\x02\x18\x02\x22\x01Y"  # as TensorFlow writes it
        session.run(other.restore_state(state))
        assert session.run([other.num_records_produced(), other.num_work_units_completed()]) == [2, 2]
        assert session.run(other.serialize_state()) == state
        for wrong, text in (
            (b"\x08", "Could not parse state"),
            (b"\x08\x03\x10\x02", "Inconsistent work started vs. finished"),
            (b"\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "Unexpected negative value"),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                session.run(other.restore_state(wrong))
            assert session.run(other.num_records_produced()) == 0
        for kind in (tf.WholeFileReader, tf.TextLineReader, tf.TFRecordReader):
            with pytest.raises(tf.errors.UnimplementedError, match="Reader SerializeState"):
                session.run(kind().serialize_state())


@pytest.mark.oracle
def test_tensorflow_writes_the_same_state():
    theirs = pytest.importorskip("tensorflow.compat.v1")
    theirs.disable_v2_behavior()
    with theirs.Graph().as_default(), theirs.Session() as session:
        queue = theirs.FIFOQueue(20, theirs.string, shapes=[[]])
        reader = theirs.IdentityReader()
        session.run(queue.enqueue_many([["X", "Y", "Z"]]))
        session.run(reader.read(queue))
        session.run(reader.read(queue))
        assert session.run(reader.serialize_state()) == b"\x08\x02\x10\x02\x18\x02\x22\x01Y"


def test_records_of_many_files_in_random_order():
    for name, records in (("r1.tfr", "abc"), ("r2.tfr", "de")):
        with tf.python_io.TFRecordWriter(name) as writer:
            for record in records:
                writer.write(record.encode())
    source = tf.raw_ops.RecordInput(file_pattern="r1.*,r2.*", batch_size=5, file_buffer_size=3)
    assert source.get_shape().as_list() == [5]
    with tf.Session() as session:
        epochs = [session.run(source).tolist() for _ in range(8)]
        assert all(sorted(epoch) == [b"a", b"b", b"c", b"d", b"e"] for epoch in epochs)
        assert len({tuple(epoch) for epoch in epochs}) > 1
        missing = tf.raw_ops.RecordInput(file_pattern="nothing*")
        with pytest.raises(tf.errors.NotFoundError, match="Found no files at nothing"):
            session.run(missing)
    with (
        tf.Session(file_policy=FilePolicy(allow_read="nothing")) as session,
        pytest.raises(tf.errors.PermissionDeniedError),
    ):
        session.run(source)
