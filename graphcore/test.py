"""`tf.test`: a TestCase with sessions and array assertions, and numeric gradients."""

from __future__ import annotations

import contextlib
import difflib
import os
import random
import re
import tempfile
import threading
import unittest
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

from . import not_yet
from .benchmark import Benchmark, benchmark_config
from .default import get_default_graph, reset_default_graph
from .errors import OpError, UnimplementedError
from .gradient_checker import compute_gradient, compute_gradient_error
from .graph import Graph
from .operation import Operation, Tensor
from .random_seed import set_random_seed
from .session import Session
from .stub_out import StubOutForTesting

_temporary: tempfile.TemporaryDirectory[str] | None = None


def get_temp_dir() -> str:
    """A directory for the files of this process's tests; removed when it ends."""
    global _temporary
    if _temporary is None:
        _temporary = tempfile.TemporaryDirectory(prefix="sgtool-test-")
    return _temporary.name


def test_src_dir_path(relative_path: str) -> str:
    """`relative_path` below the directory named by TEST_SRCDIR, or else below the working directory."""
    return os.path.join(os.environ.get("TEST_SRCDIR", os.getcwd()), relative_path)


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the tests of the calling script, as `unittest.main` does."""
    unittest.main(argv=list(argv) if argv else None)


def is_built_with_cuda() -> bool:
    """False: sgtool runs on the CPU."""
    return False


def is_built_with_rocm() -> bool:
    """False: sgtool runs on the CPU."""
    return False


def is_built_with_gpu_support() -> bool:
    """False: sgtool runs on the CPU."""
    return False


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """False: sgtool runs on the CPU."""
    return False


def gpu_device_name() -> str:
    """The empty string: there is no GPU device."""
    return ""


def assert_equal_graph_def(
    actual: Any, expected: Any, checkpoint_v2: bool = False, hash_table_shared_name: bool = False
) -> None:
    """Asserts that two GraphDefs have the same nodes; their order, and versions, do not matter.

    Args:
        actual: A GraphDef.
        expected: A GraphDef.
        checkpoint_v2: Whether random file names of sharded saves are taken as equal.
        hash_table_shared_name: Whether random shared names of hash tables are taken as equal.

    Raises:
        AssertionError: They differ; says which nodes, and how.
        TypeError: An argument is not a GraphDef.
    """
    from google.protobuf.text_format import MessageToString

    sides = []
    for name, graph_def in (("actual", actual), ("expected", expected)):
        if type(graph_def).__name__ != "GraphDef":
            raise TypeError(f"Expected tf.GraphDef for {name}, got {type(graph_def).__name__}")
        nodes = {}
        for node in graph_def.node:
            text = MessageToString(node)
            if checkpoint_v2:
                text = re.sub(r"_temp_[0-9a-z]{32}/part", "_temp/part", text)
            if hash_table_shared_name:
                text = re.sub(r"hash_table_[0-9a-z\-]+", "hash_table", text)
            nodes[node.name] = text
        sides.append(nodes)
    have, want = sides
    wrong = [f"Found unexpected node '{name}'" for name in sorted(have.keys() - want.keys())]
    wrong += [f"Did not find node '{name}'" for name in sorted(want.keys() - have.keys())]
    for name in sorted(have.keys() & want.keys()):
        if have[name] != want[name]:
            lines = difflib.unified_diff(
                want[name].splitlines(), have[name].splitlines(), "expected", "actual", lineterm=""
            )
            wrong.append(f"Node '{name}' differs:\n" + "\n".join(lines))
    if wrong:
        raise AssertionError("\n".join(wrong))


class TestCase(unittest.TestCase):
    """`unittest.TestCase` with a fresh default graph per test, sessions, and assertions on arrays.

    Wherever an assertion takes an array it also takes a tensor or a structure of them, which it evaluates in
    the default session.
    """

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)
        self._cached: tuple[Any, Graph | None, Any] | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._threads: list[_CheckedThread] = []

    def setUp(self) -> None:
        """Empties the default graph and seeds Python's, NumPy's and the graph's generators."""
        super().setUp()
        reset_default_graph()
        random.seed(87654321)
        np.random.seed(87654321)  # noqa: NPY002 - the generator that tests use
        get_default_graph().seed = None
        set_random_seed(87654321)

    def tearDown(self) -> None:
        """Closes the cached session and joins the threads that the test left running."""
        for thread in self._threads:
            thread.check_termination()
        if self._cached is not None:
            self._cached[0].close()
            self._cached = None
        super().tearDown()

    def get_temp_dir(self) -> str:
        """A directory of this test alone; the same at each call."""
        if self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(dir=get_temp_dir())
        return self._temporary.name

    # Sessions

    @contextlib.contextmanager
    def session(
        self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> Iterator[Session]:
        """A new session on `graph`, the default session inside and closed after.

        Errors of a run are raised as they are. `use_gpu` and `force_gpu` have no effect.
        """
        with Session("", graph, config) as session:
            yield session

    @contextlib.contextmanager
    def cached_session(
        self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> Iterator[Session]:
        """The one session of this test, made at the first call and kept until the test ends.

        Raises:
            ValueError: A later call asks for another graph or configuration.
        """
        if self._cached is None:
            self._cached = (Session("", graph, config), graph, config)
        session, first_graph, first_config = self._cached
        if first_graph is not graph:
            raise ValueError(
                "The graph used to get the cached session is different than the one that was used to create "
                "the session. Maybe create a new session with self.session()"
            )
        if first_config is not config:
            raise ValueError(
                "The config used to get the cached session is different than the one that was used to create "
                "the session. Maybe create a new session with self.session()"
            )
        with session.graph.as_default(), session.as_default():
            yield session

    @contextlib.contextmanager
    def test_session(
        self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> Iterator[Session]:
        """`cached_session` without a graph, a session of its own with one (deprecated in TensorFlow)."""
        manager = self.cached_session if graph is None else self.session
        with manager(graph, config) as session:
            yield session

    def evaluate(self, tensors: Any) -> Any:
        """The values of `tensors`, in the default session; None stays None."""
        from .default import get_default_session

        session = get_default_session()
        if session is not None:
            return session.run(tensors)
        with self.cached_session() as session:
            return session.run(tensors)

    # Assertions

    def _value(self, value: Any) -> Any:
        if isinstance(value, (Tensor, Operation)) or hasattr(value, "_fetch_parts"):
            return self.evaluate(value)
        if hasattr(value, "value") and hasattr(value, "initializer"):
            return self.evaluate(value.value())
        return value

    def _array(self, value: Any) -> np.ndarray:
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            value = [self._array(item) if _holds_tensor(item) else item for item in value]
        value = self._value(value)
        try:
            return np.asarray(value)
        except ValueError:  # lists of different lengths
            return np.asarray(value, dtype=object)

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:
        """`actual` begins with `expected_start`."""
        if not actual.startswith(expected_start):
            self.fail(self._formatMessage(msg, f"{actual!r} does not start with {expected_start!r}"))

    def assertProtoEquals(self, expected_message_maybe_ascii: Any, message: Any, msg: Any = None) -> None:
        """Two messages are equal; the expected one may be text."""
        from google.protobuf import text_format

        expected = expected_message_maybe_ascii
        if isinstance(expected, (str, bytes)):
            expected = text_format.Parse(expected, type(message)())
        if expected != message:
            self.assertMultiLineEqual(
                text_format.MessageToString(expected), text_format.MessageToString(message), msg
            )
            self.fail(msg or "the messages differ")

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Two numbers differ by at most `err`."""
        f1, f2 = self._value(f1), self._value(f2)
        self.assertTrue(
            f1 == f2 or abs(f1 - f2) <= err,
            f"{f1!r} != {f2!r} +/- {err!r}" + (f" ({msg})" if msg is not None else ""),
        )

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: str | None = None) -> None:
        """Two sequences of numbers differ by at most `err` at each place."""
        first, second = self._array(farray1).ravel(), self._array(farray2).ravel()
        self.assertEqual(len(first), len(second), msg)
        for one, other in zip(first, second):
            self.assertNear(float(one), float(other), err, msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None) -> None:
        """The Euclidean distance of two arrays is at most `err`."""
        distance = float(np.linalg.norm(self._array(ndarray1) - self._array(ndarray2)))
        self.assertTrue(distance < err, msg or f"the arrays are {distance} apart, more than {err}")

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Two arrays have the same shape and elements; NaN equals NaN."""
        left, right = self._array(a), self._array(b)
        self._same_shape(left, right, msg)
        if left.dtype.kind in "OSU" or right.dtype.kind in "OSU":
            left, right = _as_bytes(left), _as_bytes(right)
            same = left == right
        else:
            with np.errstate(invalid="ignore"):
                same = (left == right) | ((left != left) & (right != right))
        self._report(left, right, same, msg, "not equal")

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """At least one element differs."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        self.fail(msg or "The two values are equal at all elements.")

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Two structures have the same form, and numbers |a - b| <= atol + rtol * |b|.

        Args:
            a: Array, tensor, or a list, tuple, dict or named tuple of them.
            b: Likewise.
            rtol: Relative tolerance.
            atol: Absolute tolerance.
            msg: What is added to the report.
        """
        self._close(a, b, rtol, atol, msg, "")

    def _close(self, a: Any, b: Any, rtol: float, atol: float, msg: str | None, path: str) -> None:
        if hasattr(a, "_asdict"):
            a = a._asdict()
        if hasattr(b, "_asdict"):
            b = b._asdict()
        if isinstance(a, dict) != isinstance(b, dict):
            raise ValueError(f"Can't compare dict to non-dict, a{path} vs b{path}. {msg or ''}")
        if isinstance(a, dict):
            self.assertEqual(a.keys(), b.keys(), f"mismatched keys: a{path} vs b{path}. {msg or ''}")
            for key in a:
                self._close(a[key], b[key], rtol, atol, msg, f"{path}[{key}]")
            return
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            try:
                left, right = self._array(a), self._array(b)
            except ValueError:
                left = right = np.array(None)
            if left.dtype == object or right.dtype == object:
                self.assertEqual(len(a), len(b), f"mismatched length: a{path} vs b{path}. {msg or ''}")
                for index, (one, other) in enumerate(zip(a, b)):
                    self._close(one, other, rtol, atol, msg, f"{path}[{index}]")
                return
        else:
            left, right = self._array(a), self._array(b)
        self._same_shape(left, right, msg)
        if "bfloat16" in (left.dtype.name, right.dtype.name):
            left, right = left.astype(np.float32), right.astype(np.float32)
        same = np.isclose(left, right, rtol, atol, equal_nan=True)
        self._report(left, right, same, msg, f"not close (rtol={rtol}, atol={atol})")

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """`assertAllClose` with the tolerances of the less precise of the two dtypes."""
        left, right = self._array(a), self._array(b)
        names = {left.dtype.name, right.dtype.name}
        for kinds, relative, absolute in (
            ({"float32", "complex64"}, float_rtol, float_atol),
            ({"float16"}, half_rtol, half_atol),
            ({"bfloat16"}, bfloat16_rtol, bfloat16_atol),
        ):
            if names & kinds:
                rtol, atol = max(rtol, relative), max(atol, absolute)
        self.assertAllClose(left, right, rtol, atol, msg)

    def assertNotAllClose(self, a: Any, b: Any, **kwargs: Any) -> None:
        """At least one pair of elements is not close."""
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        self.fail("The two values are close at all elements")

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Every element is greater than the target."""
        self._each(a, lambda x: x > comparison_target, f"> {comparison_target}")

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Every element is at least the target."""
        self._each(a, lambda x: x >= comparison_target, f">= {comparison_target}")

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Every element is less than the target."""
        self._each(a, lambda x: x < comparison_target, f"< {comparison_target}")

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Every element is at most the target."""
        self._each(a, lambda x: x <= comparison_target, f"<= {comparison_target}")

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Every element is between the bounds, which belong to the range unless opened."""

        def inside(x: np.ndarray) -> Any:
            above = x > lower_bound if open_lower_bound else x >= lower_bound
            return above & (x < upper_bound if open_upper_bound else x <= upper_bound)

        left, right = "(" if open_lower_bound else "[", ")" if open_upper_bound else "]"
        self._each(target, inside, f"in {left}{lower_bound}, {upper_bound}{right}")

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Every element is one of the set's."""
        self._each(target, lambda x: np.isin(x, list(expected_set)), f"in {expected_set}")

    def _each(self, a: Any, test: Callable[[np.ndarray], np.ndarray], what: str) -> None:
        array = self._array(a)
        wrong = array[~test(array)]
        if wrong.size:
            self.fail(f"{wrong.size} of {array.size} elements are not {what}, the first: {wrong.flat[0]}")

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """The values' dtype is `expected_dtype`."""
        for value in target if isinstance(target, (list, tuple)) else [target]:
            dtype = self._array(value).dtype
            self.assertEqual(dtype, np.dtype(getattr(expected_dtype, "as_numpy_dtype", expected_dtype)))

    def assertShapeEqual(self, np_array: np.ndarray, tf_tensor: Any, msg: str | None = None) -> None:
        """An array has the static shape of a tensor.

        Raises:
            TypeError: The first is not an array, or the second not a tensor.
        """
        if not isinstance(np_array, (np.ndarray, np.generic)):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        """Two device strings mean the same device."""
        from .device import format_fields, parse

        first, second = (format_fields(parse(device or "")) for device in (device1, device2))
        self.assertEqual(first, second, msg)

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: Any, expected_err_re_or_predicate: str | Callable[[Any], bool]
    ) -> Iterator[None]:
        """The block raises `exception_type`, and its text matches (or the predicate is true of it).

        Of an OpError the text is its message, and those of the operations that its own was made for.
        """
        if isinstance(expected_err_re_or_predicate, str):
            pattern = re.compile(expected_err_re_or_predicate)

            def predicate(error: Any) -> bool:
                return bool(pattern.search(str(error)))

            matches: Callable[[Any], bool] = predicate
        else:
            matches = expected_err_re_or_predicate
        try:
            yield
        except exception_type as error:
            if not matches(error):
                raise AssertionError(
                    f"Exception of type {type(error).__name__} does not match "
                    f"{expected_err_re_or_predicate!r}: {error}"
                ) from error
            return
        self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """The block raises an OpError whose text matches."""
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)

    def checkedThread(self, target: Callable[..., Any], args: Any = None, kwargs: Any = None) -> Any:
        """A thread whose failure fails the test; the test must join it."""
        thread = _CheckedThread(self, target, args or (), kwargs or {})
        self._threads.append(thread)
        return thread

    def _same_shape(self, left: np.ndarray, right: np.ndarray, msg: str | None) -> None:
        if left.shape != right.shape:
            self.fail(
                f"Shape mismatch: expected {left.shape}, got {right.shape}"
                f"{'' if msg is None else ' ' + msg}:\n{right}"
            )

    def _report(self, left: Any, right: Any, same: Any, msg: str | None, what: str) -> None:
        if np.all(same):
            return
        same = np.broadcast_to(same, left.shape)
        wrong = np.argwhere(~same)
        lines = [f"{len(wrong)} of {left.size} elements are {what}" + (f": {msg}" if msg else "")]
        lines += [
            f"  at {list(map(int, index))}: {left[index]!r} and {right[index]!r}"
            for index in map(tuple, wrong[:10])
        ]
        self.fail("\n".join(lines))


class _CheckedThread:
    """A thread that keeps what it raised, for `join` to raise again."""

    def __init__(
        self, case: TestCase, target: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> None:
        self._case = case
        self._thread = threading.Thread(target=self._protect, args=(target, args, kwargs), daemon=True)
        self._error: BaseException | None = None
        self._joined = False

    def _protect(self, target: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        try:
            target(*args, **kwargs)
        except Exception as error:
            self._error = error

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._thread.is_alive()

    def join(self) -> None:
        """Waits for its end; fails the test when the thread failed."""
        self._joined = True
        self._thread.join()
        if self._error is not None:
            text = f"Error in checkedThread: {self._error}"
            raise self._case.failureException(text) from self._error

    def check_termination(self) -> None:
        """Fails the test when nobody joined the thread."""
        if not self._joined:
            self._case.fail("checkedThread was not joined.")


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_holds_tensor(item) for item in value)
    return isinstance(value, Tensor) or hasattr(value, "initializer") or hasattr(value, "_fetch_parts")


def _as_bytes(array: np.ndarray) -> np.ndarray:
    """Text as bytes, so that 'a' and b'a' are equal, as in a graph."""
    flat = [item.encode() if isinstance(item, str) else item for item in array.ravel().tolist()]
    result = np.empty(array.size, object)
    result[:] = flat
    return result.reshape(array.shape)


def create_local_cluster(*args: Any, **kwargs: Any) -> Any:
    """Refused: sgtool runs in one process.

    Raises:
        UnimplementedError: Always.
    """
    raise UnimplementedError("sgtool runs graphs in one process: there are no clusters; use tf.Session()")


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "Benchmark", "StubOutForTesting", "TestCase", "assert_equal_graph_def", "benchmark_config",
    "compute_gradient", "compute_gradient_error", "create_local_cluster", "get_temp_dir",
    "gpu_device_name", "is_built_with_cuda", "is_built_with_gpu_support", "is_built_with_rocm",
    "is_gpu_available", "main", "mock", "test_src_dir_path",
]  # fmt: skip
