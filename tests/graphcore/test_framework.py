"""What scripts use around their graphs: messages of tensors, templates, custom gradients, flags, logging,
`tf.test`."""

from __future__ import annotations

import logging as standard_logging
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf


@pytest.fixture
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


@pytest.mark.usefixtures("graph")
class TestTensorProtos:
    @pytest.mark.parametrize(
        ("value", "dtype", "want"),
        [
            (1.5, None, np.float32(1.5)),
            ([1, 2], None, np.array([1, 2], np.int32)),
            (2**40, None, np.int64(2**40)),
            (np.array([1.0, 2.0]), None, np.array([1.0, 2.0])),
            ([True, False], None, np.array([True, False])),
            (["a", b"b"], None, np.array([b"a", b"b"], object)),
            ([1, 2], tf.complex64, np.array([1, 2], np.complex64)),
        ],
    )
    def test_round_trip(self, value: Any, dtype: Any, want: Any) -> None:
        got = tf.make_ndarray(tf.make_tensor_proto(value, dtype))
        np.testing.assert_array_equal(got, want)
        assert got.dtype == want.dtype

    def test_fewer_values_than_elements(self) -> None:
        proto = tf.make_tensor_proto([10.0, 20.0], shape=[2, 2])
        assert list(proto.float_val) == [10, 20]
        array = tf.make_ndarray(proto)
        assert array.tolist() == [[10, 20], [20, 20]]
        array[0] = 5  # the caller's own

    def test_refuses(self) -> None:
        with pytest.raises(ValueError, match="Needed at most 2, but received 3"):
            tf.make_tensor_proto([1, 2, 3], shape=[2])
        with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(2, 2\), got \(1,\)"):
            tf.make_tensor_proto([1], shape=[2, 2], verify_shape=True)
        with pytest.raises(ValueError, match="None values not supported"):
            tf.make_tensor_proto(None)
        with pytest.raises(ValueError, match="not both allowed"):
            tf.make_tensor_proto(1, verify_shape=True, allow_broadcast=True)
        with pytest.raises(TypeError, match="Incompatible types"):
            tf.make_tensor_proto(np.array(["a"]), tf.int32)

    def test_static_values(self) -> None:
        one = tf.constant(1)
        fed = tf.placeholder(tf.int32, [])
        assert tf.get_static_value(tf.stack([one, one])).tolist() == [1, 1]
        assert tf.get_static_value(tf.stack([one, fed])) is None
        assert tf.get_static_value(tf.stack([one, fed]), partial=True).tolist() == [1, None]
        assert tf.get_static_value(tf.identity(one)) is None  # left to the run, as in TensorFlow 1.15
        assert tf.get_static_value("text") == "text"
        assert tf.is_tensor(one)
        assert not tf.is_tensor(1)


@pytest.mark.usefixtures("graph")
class TestTemplates:
    def test_shares_variables(self) -> None:
        def net(x: Any, size: int) -> Any:
            return x * tf.get_variable("w", [size], initializer=tf.ones_initializer())

        template = tf.make_template("net", net, size=2)
        other = tf.make_template("net", net, size=2)
        template(1.0)
        template(2.0)
        other(1.0)
        assert [variable.name for variable in tf.global_variables()] == ["net/w:0", "net_1/w:0"]
        assert [variable.name for variable in template.variables] == ["net/w:0"]
        assert other.variable_scope_name == "net_1/"

    def test_scope_now(self) -> None:
        first = tf.make_template("net", lambda: tf.get_variable("w", []), create_scope_now_=True)
        second = tf.make_template("net", lambda: tf.get_variable("w", []), create_scope_now_=True)
        assert second().name == "net_1/w:0"
        assert first().name == "net/w:0"

    def test_a_second_call_makes_no_variable(self) -> None:
        template = tf.make_template("net", lambda: tf.Variable(1.0))
        template()
        with pytest.raises(ValueError, match="Trainable variable created when calling a template after"):
            template()

    def test_an_error_says_where_it_was_made(self) -> None:
        def net() -> None:
            raise ValueError("broken")

        with pytest.raises(ValueError, match=r"(?s)broken.*originally defined at:.*test_framework"):
            tf.make_template("net", net)()


@pytest.mark.usefixtures("graph")
class TestCustomGradients:
    def test_of_arguments(self) -> None:
        @tf.custom_gradient
        def square(x: Any) -> Any:
            return x * x, lambda dy: 10 * dy

        x = tf.constant([3.0])
        y = square(x)
        with tf.Session() as session:
            assert session.run([y, tf.gradients(2 * y, x)[0]]) == [[9], [20]]

    def test_of_variables(self) -> None:
        @tf.custom_gradient
        def layer(x: Any) -> Any:
            w = tf.get_variable("w", [], initializer=tf.constant_initializer(2.0), use_resource=True)

            def grad(dy: Any, variables: Any = None) -> Any:
                return 3 * dy, [7 * dy for _ in variables]

            return x * w, grad

        x = tf.constant(1.0)
        y = layer(x)
        grads = tf.gradients(y, [x, tf.global_variables()[0]])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run([y, *grads]) == [2, 3, 7]

    def test_refuses(self) -> None:
        @tf.custom_gradient
        def plain(x: Any) -> Any:
            return x * tf.get_variable("w", []), lambda dy: dy

        with pytest.raises(TypeError, match="must be `ResourceVariable`s"):
            plain(1.0)
        with pytest.raises(ValueError, match="keywords arguments only when eager"):
            plain(x=1.0)

        @tf.custom_gradient
        def untold(x: Any) -> Any:
            return x * tf.get_variable("r", [], use_resource=True), lambda dy: dy

        with pytest.raises(TypeError, match="must accept a keyword argument 'variables'"):
            untold(1.0)

    def test_recompute_and_pass_through(self) -> None:
        x = tf.constant(2.0)
        recomputed = tf.recompute_grad(lambda x: tf.exp(x))(x)
        passed = tf.grad_pass_through(tf.round)(x * 1.3)
        with tf.Session() as session:
            got = session.run([tf.gradients(recomputed, x)[0], passed, tf.gradients(passed, x)[0]])
        np.testing.assert_allclose(got, [np.exp(2.0), 3, 1.3], rtol=1e-6)


@pytest.mark.usefixtures("graph")
class TestModes:
    def test_one_mode(self) -> None:
        assert not tf.executing_eagerly()
        tf.disable_v2_behavior()
        tf.disable_eager_execution()
        with pytest.raises(tf.errors.UnimplementedError, match=r"tf.Session\(\)"):
            tf.enable_eager_execution()

    def test_init_scope_leaves_control_dependencies(self) -> None:
        with tf.control_dependencies([tf.no_op("before")]), tf.init_scope():
            assert not tf.constant(1).op.control_inputs


class TestLogging:
    def test_levels_and_counts(self, caplog: pytest.LogCaptureFixture) -> None:
        before = tf.logging.get_verbosity()
        try:
            tf.logging.set_verbosity(tf.logging.INFO)
            with caplog.at_level(standard_logging.INFO, "tensorflow"):
                for i in range(5):
                    tf.logging.log_every_n(tf.logging.INFO, "every %d", 2, i)
                    tf.logging.log_first_n(tf.logging.INFO, "first %d", 1, i)
                tf.logging.debug("not shown")
                tf.logging.log_if(tf.logging.ERROR, "not either", False)
                tf.logging.warning("warned")
            assert [record.getMessage() for record in caplog.records] == [
                "every 0", "first 0", "every 2", "every 4", "warned",
            ]  # fmt: skip
        finally:
            tf.logging.set_verbosity(before)
        assert tf.get_logger().name == "tensorflow"


SCRIPT = """
from sgtool import graphcore as tf
tf.app.flags.DEFINE_integer("steps", 3, "how many")
tf.flags.DEFINE_string(flag_name="name", default_value="x", docstring="whose")
FLAGS = tf.app.flags.FLAGS
def main(argv):
    print(FLAGS.steps, FLAGS.name, argv[1:])
if __name__ == "__main__":
    tf.app.run()
"""


def test_flags_and_app(tmp_path: Any) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script), "--steps=5", "rest", "--unknown=1"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "5 x ['rest', '--unknown=1']\n"


class Sample(tf.test.TestCase):
    """Run by the tests below, not collected."""

    __test__ = False

    def runTest(self) -> None:
        with self.cached_session() as session, self.cached_session() as again:
            assert session is again
        self.assertAllEqual([1, np.nan], tf.constant([1.0, np.nan]))
        self.assertAllClose({"a": [1.0]}, {"a": tf.constant([1.0 + 1e-7])})
        self.assertAllEqual([b"a"], ["a"])
        self.assertAllInRange([1, 2], 0, 2)
        self.assertNotAllClose(1.0, 1.1)
        with self.assertRaisesOpError("Incompatible shapes"):
            two, three = (tf.placeholder_with_default(value, None) for value in ([1, 2], [1, 2, 3]))
            self.evaluate(two + three)
        thread = self.checkedThread(lambda: None)
        thread.start()
        thread.join()


class TestTestCase:
    def test_passes(self) -> None:
        result = Sample().run()
        assert result is not None
        assert not result.failures + result.errors, result

    @pytest.mark.parametrize(
        ("check", "text"),
        [
            (lambda case: case.assertAllEqual([1, 2], [1, 3]), r"1 of 2 elements are not equal\n  at \[1\]"),
            (lambda case: case.assertAllEqual([1, 2], [1]), "Shape mismatch"),
            (lambda case: case.assertAllClose([1.0], [1.1]), "not close"),
            (lambda case: case.assertNear(1, 2, 0.5), r"1 != 2 \+/- 0.5"),
            (lambda case: case.assertAllGreater([1, 2], 1), "elements are not > 1"),
            (lambda case: case.assertStartsWith("abc", "b"), "does not start with"),
            (lambda case: case.assertProtoEquals("producer: 2", tf.GraphDef().versions), "producer"),
        ],
    )
    def test_fails(self, check: Any, text: str) -> None:
        case = Sample()
        case.setUp()
        with pytest.raises(AssertionError, match=text):
            check(case)


@pytest.mark.usefixtures("graph")
class TestGradientChecker:
    def test_right_and_wrong(self) -> None:
        x = tf.constant(np.array([[1.0, 2.0]]))
        w = tf.constant(np.array([[1.0], [3.0]]))
        y = tf.matmul(x, w)
        with tf.Session():
            jacobians = tf.test.compute_gradient([x, w], [[1, 2], [2, 1]], y, [1, 1])
            for theoretical, numeric in jacobians:
                np.testing.assert_allclose(theoretical, numeric, atol=1e-6)
            point = np.array([[1.2, 2.2]])
            assert tf.test.compute_gradient_error(x, [1, 2], tf.round(x) + x, [1, 2], point) < 1e-6
            with tf.get_default_graph().gradient_override_map({"Identity": "Wrong"}):
                wrong = tf.identity(x)
            assert tf.test.compute_gradient_error(x, [1, 2], wrong, [1, 2]) > 0.9

    def test_complex(self) -> None:
        z = tf.constant(np.array([1 + 2j]))
        with tf.Session():
            assert tf.test.compute_gradient_error(z, [1], tf.square(z), [1]) < 1e-3

    def test_needs_a_session(self) -> None:
        x = tf.constant(1.0)
        with pytest.raises(ValueError, match="default session"):
            tf.test.compute_gradient(x, [], x, [])


@tf.RegisterGradient("Wrong")
def _wrong(node: Any, dy: Any) -> Any:
    return 2 * dy
