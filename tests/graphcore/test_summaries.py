"""`tf.summary`: images, sound, tensors and text, and the tags of all."""

from __future__ import annotations

import numpy as np
import pytest
from op_cases import floats, ints

from sgtool import graphcore
from sgtool.formats import protos, tensor_proto
from sgtool.graphcore.errors import InvalidArgumentError
from sgtool.graphcore.kernels.audio import decode_wav
from sgtool.graphcore.kernels.png import decode_png

PICTURES = floats(4, 5, 6, 3)
BAD = PICTURES[:1].copy()
BAD[0, 1, 2, 0], BAD[0, 3, 3] = np.nan, np.inf
SOUND = floats(2, 9, 2, low=-1, high=1)


def in_scope(tf, family=None):
    with tf.name_scope("outer"):
        return tf.summary.scalar("a b", 3.0, family=family)


def metadata(tf):
    message = tf.SummaryMetadata() if hasattr(tf, "SummaryMetadata") else protos.SummaryMetadata()
    message.plugin_data.plugin_name = "mine"
    return message


# name: a program of `tf`
PROGRAMS = {
    "scalar": lambda tf: in_scope(tf),
    "scalar_family": lambda tf: in_scope(tf, "group"),
    "histogram": lambda tf: tf.summary.histogram("h", [1.0, 2.0, 2.5], family="f"),
    "image": lambda tf: tf.summary.image("i", PICTURES),
    "image_one": lambda tf: tf.summary.image("i", np.abs(PICTURES), max_outputs=1, family="f"),
    "image_bytes": lambda tf: tf.summary.image(
        "i", tf.constant(ints(2, 3, 4, 4, low=0, high=256, dtype=np.uint8))
    ),
    "image_gray": lambda tf: tf.summary.image("i", tf.constant(PICTURES[..., :1], tf.float64)),
    "image_half": lambda tf: tf.summary.image("i", tf.constant(np.abs(PICTURES), tf.float16)),
    "image_bad": lambda tf: tf.summary.image("i", BAD),
    "image_zero": lambda tf: tf.summary.image("i", np.where(np.isfinite(BAD), 0, BAD)),
    "audio": lambda tf: tf.summary.audio("s", SOUND, 8000),
    "audio_one": lambda tf: tf.summary.audio("s", SOUND[..., 0], 8000.4, max_outputs=1),
    "audio_old": lambda tf: tf.raw_ops.AudioSummary(tag="s", tensor=SOUND, sample_rate=16000.0),
    "tensor": lambda tf: tf.summary.tensor_summary("t", [[1, 2]], "what it is", family="f", display_name="T"),
    "tensor_metadata": lambda tf: tf.summary.tensor_summary("t", [True], summary_metadata=metadata(tf)),
    "tensor_half": lambda tf: tf.summary.tensor_summary("t", tf.constant(1.5, tf.float16)),
    "tensor_old": lambda tf: tf.raw_ops.TensorSummary(tensor=[[1.0], [2.0]], display_name="x"),
    "text": lambda tf: tf.summary.text("words", tf.constant(["a", "b"])),
    "text_none": lambda tf: tf.summary.text("words", tf.constant([], tf.string)),
}


def run(tf, program):
    """The message, the collection's size, and the nodes but constants."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        summary = program(tf)
        collected = len(tf.get_collection(tf.GraphKeys.SUMMARIES))
        data = session.run(summary)
        nodes = [(node.type, node.name) for node in graph.get_operations() if node.type != "Const"]
    return protos.Summary.FromString(data), collected, nodes


def test_images():
    message, collected, _ = run(graphcore, PROGRAMS["image"])
    assert collected == 1
    assert [value.tag for value in message.value] == ["i/image/0", "i/image/1", "i/image/2"]
    for value, picture in zip(message.value, PICTURES, strict=False):
        assert (value.image.height, value.image.width, value.image.colorspace) == (5, 6, 3)
        pixels = decode_png(value.image.encoded_image_string, 0, np.dtype(np.uint8))
        np.testing.assert_array_equal(
            pixels, (picture * (127 / np.abs(picture).max()) + 128).astype(np.uint8)
        )
    message, _, nodes = run(graphcore, PROGRAMS["image_one"])
    assert [value.tag for value in message.value] == ["f/f/i/image"]
    assert nodes == [("ImageSummary", "f/i")]
    assert decode_png(message.value[0].image.encoded_image_string, 0, np.dtype(np.uint8)).max() in (254, 255)
    message, _, _ = run(graphcore, PROGRAMS["image_bad"])
    pixels = decode_png(message.value[0].image.encoded_image_string, 0, np.dtype(np.uint8))
    assert pixels[1, 2].tolist() == pixels[3, 3].tolist() == [255, 0, 0]


def test_sound():
    message, _, _ = run(graphcore, PROGRAMS["audio"])
    assert [value.tag for value in message.value] == ["s/audio/0", "s/audio/1"]
    for value, sound in zip(message.value, SOUND, strict=True):
        assert (value.audio.num_channels, value.audio.length_frames, value.audio.sample_rate) == (2, 9, 8000)
        samples, rate = decode_wav(value.audio.encoded_audio_string)
        assert rate == 8000
        np.testing.assert_allclose(samples, sound, atol=1 / 2**15)


def test_tensors_and_text():
    message, _, _ = run(graphcore, PROGRAMS["tensor"])
    (value,) = message.value
    assert (value.tag, value.metadata.display_name) == ("f/f/t", "T")
    assert value.metadata.summary_description == "what it is"
    np.testing.assert_array_equal(tensor_proto.to_array(value.tensor), [[1, 2]])
    (value,) = run(graphcore, PROGRAMS["text"])[0].value
    assert value.metadata.plugin_data.plugin_name == "text"
    assert tensor_proto.to_array(value.tensor).tolist() == [b"a", b"b"]
    (value,) = run(graphcore, PROGRAMS["tensor_old"])[0].value
    assert (value.node_name, value.tag) == ("TensorSummary", "")
    with graphcore.Graph().as_default(), pytest.raises(ValueError, match="to have dtype string, got"):
        graphcore.summary.text("words", graphcore.constant([1]))


def test_tags():
    assert run(graphcore, PROGRAMS["scalar"])[0].value[0].tag == "outer/a_b"
    assert run(graphcore, PROGRAMS["scalar_family"])[0].value[0].tag == "group/outer/group/a_b"


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (
            lambda tf: tf.summary.image("i", PICTURES[0]),
            "Tensor must be 4-D with last dim 1, 3, or 4, not [5,6,3]",
        ),
        (
            lambda tf: tf.summary.image("i", PICTURES[:, :0]),
            "input tensor must have non-zero dims. Found: [4, 0, 6, 3].",
        ),
        (lambda tf: tf.summary.audio("s", SOUND[0, 0], 8000), "Tensor must be 3-D or 2-D, got: [2]"),
        (lambda tf: tf.summary.audio("s", SOUND, 0), "sample_rate must be > 0"),
        (lambda tf: tf.summary.audio("s", SOUND[:, :0], 8000), "num_frames must be positive."),
    ],
)
def test_error(program, text):
    with pytest.raises(InvalidArgumentError) as raised:
        run(graphcore, program)
    assert text in str(raised.value)


@pytest.mark.oracle
@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - {"audio_old"}))  # graphs of today may not have it
def test_in_tensorflow(name):
    tensorflow = pytest.importorskip("tensorflow").compat.v1
    results = []
    for tf in (graphcore, tensorflow):
        message, collected, nodes = run(tf, PROGRAMS[name])
        for value in message.value:
            if value.HasField("image"):  # every encoder writes its own file
                pixels = decode_png(value.image.encoded_image_string, 0, np.dtype(np.uint8))
                value.image.encoded_image_string = pixels.tobytes()
        results.append((str(message), collected, nodes))
    assert results[0] == results[1]
