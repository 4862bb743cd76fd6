"""What Print, print and Assert write."""

import logging
import sys
import time

import numpy as np
import pytest

from sgtool import graphcore as tf
from sgtool.graphcore.printing import summarize_value

ARRAYS = {
    "scalar": np.float32(1 / 3),
    "vector": np.arange(5),
    "matrix": np.arange(6, dtype=np.int32).reshape(2, 3),
    "cube": np.arange(8.0).reshape(2, 2, 2),
    "strings": np.array([b'a"b', b"\n'"], object),
    "bools": np.array([[True], [False]]),
    "empty": np.zeros((2, 0), np.float32),
    "complex": np.complex64([1, 2]),
}


def test_a_value_is_summarized_as_tensorflow_does():
    assert summarize_value(np.arange(5), 3) == "0 1 2..."
    assert summarize_value(ARRAYS["matrix"], 4) == "[0 1 2][3...]..."
    assert summarize_value(ARRAYS["matrix"], -1) == "[0 1 2][3 4 5]"
    assert summarize_value(ARRAYS["scalar"], 3) == "0.333333343"
    assert summarize_value(ARRAYS["strings"], 3) == "a\\\"b \\n\\'"
    assert summarize_value(ARRAYS["cube"], 5, v2=True) == "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]"


def test_print_tells_its_data_a_few_times_and_passes_its_input_on(capfd):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        y = tf.Print(x, [x, "said"], message="here: ", first_n=2) * 2
        for _ in range(3):
            np.testing.assert_array_equal(session.run(y, {x: [1, 2]}), [2, 4])
        assert session.run(tf.gradients(y, x)[0], {x: [1, 2]}).tolist() == [2, 2]
    assert capfd.readouterr().err == "here: [1 2][said]\n" * 2


def test_print_of_structures_goes_to_streams_files_and_the_log(capfd, tmp_path, caplog):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([[1, 2], [3, 4]])
        session.run(tf.print("x:", x, {"a": tf.constant("s"), "b": 2}, output_stream=sys.stdout))
        session.run(tf.print(tf.constant("alone"), end=""))
        session.run(tf.print("to", "file", sep="-", output_stream=f"file://{tmp_path / 'out'}"))
        with caplog.at_level(logging.INFO, "sgtool"):
            session.run(tf.print("logged", output_stream=logging.WARNING, end=""))
    out, err = capfd.readouterr()
    assert out == "x: [[1 2]\n [3 4]] {'a': \"s\", 'b': 2}\n"
    assert err == "alone"
    assert (tmp_path / "out").read_text() == "to-file\n"
    assert [(each.levelname, each.message) for each in caplog.records] == [("WARNING", "logged")]


def test_print_names_the_streams_that_there_are():
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"sys\.stdout, sys\.stderr"):
        tf.print("x", output_stream="nowhere")


def test_format_says_how_many_placeholders_do_not_fit():
    with tf.Graph().as_default(), tf.Session() as session:
        assert (
            session.run(tf.strings.format("{} and {}", [tf.constant(1), tf.constant([2, 3])]))
            == b"1 and [2 3]"
        )
        with pytest.raises(ValueError, match=r"1 placeholder\(s\) in template does not match 2 tensor\(s\)"):
            tf.strings.format("{}", [tf.constant(1), tf.constant(2)])


def test_a_timestamp_is_the_time_of_the_run():
    with tf.Graph().as_default(), tf.Session() as session:
        now = tf.timestamp()
        before = time.time()
        assert before - 1e-3 <= session.run(now) <= time.time() + 1e-3
        assert session.run(now) > before


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("name", "count"),
    # TensorFlow 2 writes no "..." after none of the elements of a matrix of bools; 1.15 does.
    [(name, count) for name in sorted(ARRAYS) for count in (0, 1, 3, 5, -1) if (name, count) != ("bools", 0)],
)
def test_assert_says_what_tensorflow_says(name, count):
    tensorflow = pytest.importorskip("tensorflow.compat.v1")

    def message(api):
        with api.Graph().as_default(), api.Session() as session:
            operation = api.raw_ops.Assert(
                condition=api.placeholder_with_default(False, []), data=[ARRAYS[name]], summarize=count
            )
            with pytest.raises(api.errors.InvalidArgumentError) as error:
                session.run(operation)
        return next(line for line in str(error.value).splitlines() if "assertion failed" in line)

    ours, theirs = message(tf), message(tensorflow)
    assert ours.strip() == theirs.strip()
