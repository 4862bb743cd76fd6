"""`tf.Session`: runs parts of a graph, and keeps its variables.

`run` looks the plan for (fetches, feeds, feed shapes) up in a cache and runs it; everything that can be
decided once is decided when the plan is compiled.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..formats.errors import bullets
from ..formats.files import FilePolicy
from . import nest, run_metadata as metadata
from .compat import as_text
from .compiler import Options, Plan, compile_plan, function_plans
from .default import get_default_graph, get_default_session
from .dtypes import DType
from .errors import InvalidArgumentError, InvalidTypeError, InvalidValueError, NotFoundError
from .fetches import FetchMapper, conversion_of
from .graph import Graph
from .operation import Operation, Tensor
from .ops.session_state import TensorHandle
from .partial_run import PartialRun
from .resources import RunContext, SessionState
from .stacks import graph_stack, session_stack

MAX_PLANS = 256
# After this many shapes of one set of feeds, one plan that assumes nothing about them.
MAX_SHAPES = 4


class BaseSession:
    """What `Session` and `InteractiveSession` share.

    Args:
        target: Kept for compatibility; only the empty target (in-process) exists.
        graph: The graph to run; by default the default graph.
        config: A ConfigProto-like object; kept, and otherwise of no effect here.
        file_policy: Which files the graph's own ops may read and write; by default all, as in
            TensorFlow. The command line passes one that denies all for graphs that it loads.
        options: Which compiler passes run.
    """

    def __init__(
        self,
        target: Any = "",
        graph: Any = None,
        config: Any = None,
        *,
        file_policy: FilePolicy | None = None,
        options: Options | None = None,
    ) -> None:
        if graph is not None and not isinstance(graph, Graph):
            raise InvalidTypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        if target is not None and not isinstance(target, (str, bytes)):
            hint = ""
            if _is_config(target):
                hint = ' Did you do "Session(config)" instead of "Session(config=config)"?'
            raise InvalidTypeError(f"target must be a string, but got {type(target)}.{hint}")
        if target:
            raise NotFoundError(
                "No session factory registered for the given session options: "
                f'{{target: "{as_text(target)}"}} Registered factories are {{DIRECT_SESSION}}: sgtool '
                "runs graphs "
                "in its own process, leave the target empty.",
                target=as_text(target),
            )
        if config is not None and not _is_config(config):
            raise InvalidTypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
        self._graph = graph if graph is not None else get_default_graph()
        self._target = target
        self._config = config
        self._options = options or Options()
        self._state = SessionState(file_policy)
        self._state.functions = function_plans(self._state, self._options)
        self._calls: OrderedDict[Any, _Call] = OrderedDict()
        self._mutations = self._graph._mutations
        self._closed = False
        self._lock = threading.RLock()
        self._partial_runs: dict[str, PartialRun] = {}

    @property
    def graph(self) -> Graph:
        """The graph that the session runs."""
        return self._graph

    @property
    def graph_def(self) -> Any:
        """The graph as a GraphDef message."""
        options = getattr(self._config, "graph_options", None)
        return self._graph.as_graph_def(add_shapes=bool(options and options.infer_shapes))

    @property
    def sess_str(self) -> str:
        """The target; empty for in-process sessions."""
        return as_text(self._target or "")

    def list_devices(self) -> list[Any]:
        """The devices: one CPU."""
        return [DeviceAttributes("/job:localhost/replica:0/task:0/device:CPU:0", "CPU", 0)]

    def close(self) -> None:
        """Frees the variables; later calls of `run` fail."""
        self._closed = True
        self._state.cancel()
        self._calls.clear()

    def as_default(self) -> Any:
        """A context manager that makes this the default session; does not close it."""
        return session_stack.push(self)

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Computes `fetches`.

        Args:
            fetches: A tensor, operation, variable or name of one, or a nested list, tuple, named
                tuple or dict of them.
            feed_dict: Values for tensors (or their names) in this run: anything that NumPy turns
                into an array of the tensor's dtype.
            options: A RunOptions message; with FULL_TRACE, `run_metadata` gets timings.
            run_metadata: A RunMetadata message to fill.

        Returns:
            The values in the structure of `fetches`: arrays, NumPy scalars for rank 0, bytes for
            scalar strings, None for operations. Arrays are the caller's to keep.

        Raises:
            RuntimeError: The session is closed or the graph empty.
            ValueError: A fetch or feed does not exist, or a fed value has the wrong shape.
            TypeError: A fetch or feed cannot be one.
            OpError: The run failed; the error names the node.
        """
        if self._closed or not self._graph._operations:
            self._check_open()
        if self._mutations != self._graph._mutations:
            with self._lock:
                self._calls.clear()
                self._mutations = self._graph._mutations
        call, values = self._prepare(fetches, feed_dict)
        plan = call.plan(self, values)
        if run_metadata is not None:
            run_metadata.Clear()
        context = RunContext(self._state, self._graph, _deadline(options, self._config))
        state = self._state
        watched = {}
        if state.restored and id(plan) not in state.harmless:
            watched = state.take_restored(plan.operations)
            if not watched:
                state.harmless.add(id(plan))
        if run_metadata is not None and _wants_trace(options):
            results, rows = plan.run_traced(context, values)
            metadata.fill(run_metadata, rows)
        else:
            results = plan.run(context, values)
        if watched:
            self._warn_of_overwritten(watched)
        if run_metadata is not None and getattr(options, "output_partition_graphs", False):
            run_metadata.partition_graphs.append(metadata.needed_graph(call.fetches))
        for index, dtype in call.handles:
            results[index] = TensorHandle(results[index], dtype, self)
        return results[0] if call.mapper is None else call.mapper.build(results)

    def _warn_of_overwritten(self, watched: dict[Operation, tuple[Any, str]]) -> None:
        """Warns where variables that were restored have lost what was restored to an initializer."""
        lost = [
            variable.name
            for variable, (before, _) in watched.items()
            if not np.array_equal(before, self._state.value_of(variable))
        ]
        if lost:
            _, prefix = next(iter(watched.values()))
            warnings.warn(
                f"These variables were restored from {prefix}, and have been initialized again: what was "
                f"restored is lost. Run initializers before restoring.{bullets(lost)}",
                stacklevel=3,
            )

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if not self._graph._operations:
            raise RuntimeError(
                "The Session graph is empty.  Add operations to the graph before calling run()."
            )

    def _prepare(self, fetches: Any, feed_dict: Any) -> tuple[_Call, list[np.ndarray]]:
        """The cached call of these fetches and feed keys, and the fed values as arrays."""
        if not feed_dict:
            keys: tuple[Any, ...] = ()
            raw: Sequence[Any] = ()
        elif type(feed_dict) is dict:
            keys, raw = tuple(feed_dict), list(feed_dict.values())
        else:
            if not hasattr(feed_dict, "items"):
                raise InvalidTypeError(f"feed_dict must be a dictionary, not {type(feed_dict).__name__}")
            keys, raw = tuple(key for key, _ in feed_dict.items()), [value for _, value in feed_dict.items()]
        key: Any = (_hashable(fetches), keys)
        try:
            call = self._calls.get(key)
        except TypeError:  # a structure that does not hash
            key, call = None, None
        if call is None:
            call = _Call(self._graph, fetches, keys)
            if key is not None:
                with self._lock:
                    self._calls[key] = call
                    if len(self._calls) > MAX_PLANS:
                        self._calls.popitem(last=False)
        return call, call.convert(raw)

    def make_callable(
        self, fetches: Any, feed_list: Sequence[Any] | None = None, accept_options: bool = False
    ) -> Any:
        """A function that takes values for `feed_list` in order and gives `fetches`."""
        keys = list(feed_list or ())

        def call(*values: Any, **kwargs: Any) -> Any:
            if len(values) != len(keys):
                raise InvalidValueError(f"Expected {len(keys)} feeds, got {len(values)}")
            return self.run(fetches, dict(zip(keys, values)), **kwargs)

        return call

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> str:
        """Prepares a run in several steps.

        Args:
            fetches: What the steps will fetch, each once.
            feeds: The tensors that the steps will feed, each once; by default none.

        Returns:
            A handle for `partial_run`.

        Raises:
            RuntimeError: The session is closed or the graph empty.
            TypeError: A fetch or feed cannot be one.
            InvalidArgumentError: Nothing is fetched.
        """
        self._check_open()
        mapper = FetchMapper(self._graph, fetches)
        listed = list(feeds) if isinstance(feeds, (list, tuple)) else [] if feeds is None else [feeds]
        call = _Call(self._graph, fetches, tuple(listed))
        if not mapper.elements:
            raise InvalidArgumentError("Must specify at least one target to fetch or execute.")
        with self._lock:
            handle = f"{len(self._partial_runs)}_{id(call):x}"
            self._partial_runs[handle] = PartialRun(mapper.elements, call.feeds)
        return handle

    def partial_run(self, handle: str, fetches: Any, feed_dict: Any = None) -> Any:
        """Goes on with a run in steps.

        Args:
            handle: What `partial_run_setup` gave.
            fetches: Some of the fetches that it was given, in any structure.
            feed_dict: Values for some of the feeds that it was given.

        Raises:
            InvalidArgumentError: There is no such run, or a feed or fetch is not one of its own or was used
                before, or a fetch needs feeds that are still to come.
        """
        self._check_open()
        part = self._partial_runs.get(handle)
        if part is None:
            raise InvalidArgumentError("Must run 'setup' before performing partial runs!", handle=handle)
        mapper = FetchMapper(self._graph, fetches)
        call = _Call(self._graph, fetches, tuple(feed_dict or ()))
        values = call.convert(list((feed_dict or {}).values()))
        results = part.step(self.run, mapper.elements, dict(zip(call.feeds, values)))
        if part.is_finished:
            with self._lock:
                self._partial_runs.pop(handle, None)
        return mapper.build(results)

    def __del__(self) -> None:
        # Nothing outside the process is held; kept so that subclasses may call it.
        self._closed = True


class _Call:
    """One set of fetches and feed keys, with a plan for each set of feed shapes."""

    def __init__(self, graph: Graph, fetches: Any, keys: tuple[Any, ...]) -> None:
        mapper = FetchMapper(graph, fetches)
        self.fetches = mapper.elements
        self.mapper = None if mapper.is_single else mapper
        self.handles = [
            (index, fetch.op.inputs[0].dtype.base_dtype)
            for index, fetch in enumerate(self.fetches)
            if isinstance(fetch, Tensor) and fetch.op.type in ("GetSessionHandle", "GetSessionHandleV2")
        ]
        self.feeds: list[Tensor] = []
        self.unpack: list[Callable[[Any], Sequence[Any]] | None] = []
        for key in keys:
            self._add_feed(graph, key)
        self.dtypes = [tensor.dtype.base_dtype for tensor in self.feeds]
        self.shapes = [tensor.static_shape for tensor in self.feeds]
        self.plans: dict[Any, Plan] = {}
        self.seen: set[Any] = set()

    def _add_feed(self, graph: Graph, key: Any) -> None:
        tensors, unpack = _feed_parts(key)
        self.unpack.append(unpack)
        for item in tensors:
            try:
                tensor = graph.as_graph_element(item, allow_operation=False)
            except (KeyError, ValueError, TypeError) as error:
                text = getattr(error, "message", error)
                raise InvalidTypeError(f"Cannot interpret feed_dict key as Tensor: {text}") from error
            assert isinstance(tensor, Tensor)
            if not graph.is_feedable(tensor):
                raise InvalidValueError(f"Tensor {tensor} may not be fed.")
            self.feeds.append(tensor)

    def convert(self, raw: Sequence[Any]) -> list[np.ndarray]:
        """The fed values as arrays of the tensors' dtypes, their shapes checked.

        Raises:
            TypeError: A value is a tensor or cannot be converted.
            ValueError: A value has the wrong shape.
        """
        if any(self.unpack):
            raw = [
                item
                for value, split in zip(raw, self.unpack)
                for item in (split(value) if split else (value,))
            ]
        values = []
        for tensor, dtype, shape, value in zip(self.feeds, self.dtypes, self.shapes, raw):
            array = _feed_array(tensor, dtype, value)
            if shape is not None and shape != getattr(array, "shape", shape):
                actual = array.shape
                if len(actual) != len(shape) or any(s is not None and s != a for s, a in zip(shape, actual)):
                    raise InvalidValueError(
                        f"Cannot feed value of shape {actual!r} for Tensor '{tensor.name}', "
                        f"which has shape '{tensor.get_shape()}'",
                        tensor=tensor.name,
                        shape=list(actual),
                    )
            values.append(array)
        return values

    def plan(self, session: BaseSession, values: Sequence[np.ndarray]) -> Plan:
        """The plan for these values' shapes, compiled where there is none."""
        key: Any = tuple([getattr(value, "shape", None) for value in values])
        plan = self.plans.get(key)
        if plan is None:
            with session._lock:
                if len(self.plans) >= MAX_SHAPES:
                    key = "any"
                    plan = self.plans.get(key)
                if plan is None:
                    shapes = self.shapes if key == "any" else key
                    feeds = dict(zip(self.feeds, shapes))
                    plan = compile_plan(session._graph, self.fetches, feeds, session._state, session._options)
                    self.plans[key] = plan
        return plan


def _hashable(fetches: Any) -> Any:
    """A key for a structure of fetches: lists and dicts become tuples that say what they were."""
    kind = type(fetches)
    if kind is list or isinstance(fetches, tuple):
        return (kind, *[_hashable(item) for item in fetches])
    if isinstance(fetches, dict):
        return (kind, *[(key, _hashable(item)) for key, item in fetches.items()])
    return fetches


def _feed_parts(key: Any) -> tuple[list[Any], Callable[[Any], Sequence[Any]] | None]:
    """The tensors of a feed's key, and what takes a value apart for them (None: it is the tensor's own)."""
    if hasattr(key, "_feed_tensors"):  # SparseTensor, IndexedSlices
        return key._feed_tensors(), list
    if isinstance(key, (tuple, list)):
        return nest.flatten(key), lambda value: _flat_like(key, value)
    found = conversion_of(key)
    if found is not None and found[2] is not None:
        pairs = found[2]
        return [tensor for tensor, _ in pairs(key, None)], lambda value: [
            part for _, part in pairs(key, value)
        ]
    return [key], None


def _flat_like(key: Any, value: Any) -> list[Any]:
    """The parts of a fed value for a key that is a tuple of tensors, nested or not."""
    if not isinstance(key, (tuple, list)):
        return [value]
    if len(key) != len(value):
        raise InvalidValueError(
            f"Could not flatten dictionary. Key had {len(key)} elements, but value had {len(value)} "
            f"elements. "
            f"Key: {key}, value: {value}."
        )
    return [part for one, other in zip(key, value) for part in _flat_like(one, other)]


def _feed_array(tensor: Tensor, dtype: DType, value: Any) -> Any:
    if type(value) is np.ndarray and value.dtype == dtype.np and dtype.np.kind != "O":
        return value
    if isinstance(value, Tensor):
        raise InvalidTypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python "
            "scalars, "
            f"strings, lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was {value} "
            f"which was passed to the feed with key {tensor}."
        )
    if isinstance(value, TensorHandle):
        value = value.handle if value.dtype != dtype and dtype.name == "string" else value.eval()
    if dtype.name == "string":
        if isinstance(value, (int, float)):
            raise _does_not_fit(value, dtype)
        from .convert import as_array

        return as_array(np.asarray(value, dtype=object) if isinstance(value, (list, tuple)) else value, dtype)
    if dtype.np.kind == "O":
        return value
    try:
        array = np.asarray(value, dtype=dtype.np)
    except OverflowError as error:
        raise _does_not_fit(value, dtype) from error
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(
            f"Cannot feed {value!r} for Tensor '{tensor.name}' with dtype {dtype.name}: {error}",
            tensor=tensor.name,
        ) from error
    if isinstance(value, int) and not isinstance(value, bool) and array.astype(object).item() != value:
        raise _does_not_fit(value, dtype)
    return array


def _does_not_fit(value: Any, dtype: DType) -> InvalidTypeError:
    return InvalidTypeError(
        f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type "
        f"{dtype.as_numpy_dtype}. Try explicitly setting the type of the feed tensor to a larger type "
        "(e.g. int64)."
    )


def _is_config(value: Any) -> bool:
    return type(value).__name__ == "ConfigProto"


def _wants_trace(options: Any) -> bool:
    return options is not None and getattr(options, "trace_level", 0) > 0


def _deadline(options: Any, config: Any) -> float | None:
    limit = getattr(options, "timeout_in_ms", 0) or getattr(config, "operation_timeout_in_ms", 0)
    return time.monotonic() + limit / 1000 if limit else None


class DeviceAttributes:
    """One row of `Session.list_devices`."""

    def __init__(self, name: str, device_type: str, memory_limit_bytes: int) -> None:
        self.name = name
        self.device_type = device_type
        self.memory_limit_bytes = memory_limit_bytes

    def __repr__(self) -> str:
        return f"_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit_bytes})"


class Session(BaseSession):
    """`tf.Session`; as a context manager it is the default session, its graph the default graph."""

    _entered: list[Any] | None = None

    def __enter__(self) -> Session:
        if self._entered is not None:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use `Session.as_default()` if you want to "
                "enter a "
                "session multiple times."
            )
        self._entered = [graph_stack.push(self._graph), session_stack.push(self)]
        for manager in self._entered:
            manager.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        entered, self._entered = self._entered, None
        for manager in reversed(entered or []):
            manager.__exit__(*exc)
        self.close()

    @staticmethod
    def reset(target: str, containers: Any = None, config: Any = None) -> None:
        """Kept for compatibility; sessions share nothing here."""


class InteractiveSession(BaseSession):
    """`tf.InteractiveSession`: the default session from its making until `close`."""

    _active_session_count = 0

    def __init__(
        self, target: str = "", graph: Graph | None = None, config: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(target, graph, config, **kwargs)
        if InteractiveSession._active_session_count:
            warnings.warn(
                "An interactive session is already active. This can cause out-of-memory errors in some "
                "cases. You "
                "must explicitly call `InteractiveSession.close()` to release resources held by the other "
                "session(s).",
                stacklevel=2,
            )
        InteractiveSession._active_session_count += 1
        self._managers = [session_stack.push(self)]
        if graph is not None:
            self._managers.insert(0, graph_stack.push(graph))
        for manager in self._managers:
            manager.__enter__()

    def close(self) -> None:
        """Closes the session and ends its being the default."""
        if not self._closed:
            InteractiveSession._active_session_count -= 1
        super().close()
        while self._managers:
            self._managers.pop().__exit__(None, None, None)


def _evaluate(element: Tensor | Operation, feed_dict: Any, session: Any, graph: Graph) -> Any:
    """What `Tensor.eval` and `Operation.run` do."""
    if session is None:
        session = get_default_session()
        what = (
            "evaluate tensor using `eval()`"
            if isinstance(element, Tensor)
            else "execute operation using `run()`"
        )
        if session is None:
            raise InvalidValueError(
                f"Cannot {what}: No default session is registered. Use `with sess.as_default()` or pass an "
                "explicit session to "
                + ("`eval(session=sess)`" if isinstance(element, Tensor) else "`run(session=sess)`")
            )
        if session.graph is not graph:
            raise InvalidValueError(
                f"Cannot use the default session to {what.split(' using')[0]}: the tensor's graph is "
                "different from "
                "the session's graph. Pass an explicit session to `eval(session=sess)`."
            )
    elif session.graph is not graph:
        raise InvalidValueError(
            "Cannot use the given session to evaluate tensor: the tensor's graph is different from the "
            "session's graph."
        )
    return session.run(element, feed_dict)


Tensor._evaluate = staticmethod(_evaluate)
