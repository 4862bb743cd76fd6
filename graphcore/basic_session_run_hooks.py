"""Hooks that watch a training: logging, stopping, waiting, feeding.

Those that write files are in `saving_hooks`.

Source: tensorflow/python/training/basic_session_run_hooks.py (r1.15), behaviour only.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from . import logging
from .default import GraphKeys, get_default_graph
from .errors import InvalidStateError, InvalidValueError, OutOfRangeError
from .global_steps import _get_or_create_global_step_read
from .initializers import ones_initializer
from .session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from .variable_scope import AUTO_REUSE, get_global_step, get_variable, variable_scope


class _HookTimer:
    """Says for which steps something is to be done; the base of timers."""

    def reset(self) -> None:
        """Forgets what was done."""

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether it is to be done for this step."""
        raise NotImplementedError

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Notes that it was done; gives the seconds and steps since the time before, None the first time."""
        raise NotImplementedError

    def last_triggered_step(self) -> int | None:
        """The step for which it was last done, or None."""
        raise NotImplementedError


class SecondOrStepTimer(_HookTimer):
    """Says yes for the first step, and then once in so many seconds or so many steps.

    Args:
        every_secs: Seconds.
        every_steps: Steps.

    Raises:
        ValueError: Neither or both are given.
    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if every_secs is None and every_steps is None:
            raise InvalidValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise InvalidValueError("Can not provide both every_secs and every_steps.")
        self._every_secs = every_secs
        self._every_steps = every_steps
        self.reset()

    def reset(self) -> None:
        """Forgets what was done."""
        self._last_triggered_step: int | None = None
        self._last_triggered_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether it is to be done for this step; never twice for one step."""
        if self._last_triggered_step is None or self._last_triggered_time is None:
            return True
        if step == self._last_triggered_step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_triggered_time + self._every_secs
        assert self._every_steps is not None
        return bool(step >= self._last_triggered_step + self._every_steps)

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Notes that it was done; gives the seconds and steps since the time before, None the first time."""
        now = time.time()
        since: tuple[float | None, int | None] = (None, None)
        if self._last_triggered_time is not None and self._last_triggered_step is not None:
            since = now - self._last_triggered_time, step - self._last_triggered_step
        self._last_triggered_time, self._last_triggered_step = now, step
        return since

    def last_triggered_step(self) -> int | None:
        """The step for which it was last done, or None."""
        return self._last_triggered_step


class NeverTriggerTimer(_HookTimer):
    """Says no for each step."""

    def should_trigger_for_step(self, step: int) -> bool:
        """False."""
        return False

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Nothing is noted."""
        return None, None

    def last_triggered_step(self) -> int | None:
        """None."""
        return None


def global_step_read(hook: str) -> Any:
    """The tensor that reads the global step, for a hook of that name.

    Raises:
        RuntimeError: The graph has no global step.
    """
    found = _get_or_create_global_step_read()
    if found is None:
        raise InvalidStateError(f"Global step should be created to use {hook}.")
    return found


class LoggingTensorHook(SessionRunHook):
    """Logs values of tensors at level INFO.

    Args:
        tensors: Tensors or names of some, listed, or in a dict from the tags to show.
        every_n_iter: Once in so many runs.
        every_n_secs: Once in so many seconds.
        at_end: Also, or only, at the end.
        formatter: Makes the text of a dict from tags to values.

    Raises:
        ValueError: Not exactly one of `every_n_iter` and `every_n_secs` is given, unless only at the end;
            `every_n_iter` is not positive.
    """

    def __init__(
        self,
        tensors: Any,
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[Any, Any]], str] | None = None,
    ) -> None:
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise InvalidValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs must be provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise InvalidValueError(f"invalid every_n_iter={every_n_iter}.")
        self._tag_order = sorted(tensors) if isinstance(tensors, dict) else list(tensors)
        self._tensors = tensors if isinstance(tensors, dict) else {item: item for item in tensors}
        self._formatter = formatter
        self._timer: _HookTimer = (
            NeverTriggerTimer() if only_at_end else SecondOrStepTimer(every_n_secs, every_n_iter)
        )
        self._log_at_end = at_end

    def begin(self) -> None:
        """Looks the tensors up.

        Raises:
            ValueError: A tensor is of another graph, or a name stands for several outputs.
        """
        self._timer.reset()
        self._iter_count = 0
        self._current_tensors = {tag: _as_graph_element(tensor) for tag, tensor in self._tensors.items()}

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Asks for the tensors when it is time."""
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Logs them."""
        if self._should_trigger:
            self._log_tensors(run_values.results)
        self._iter_count += 1

    def end(self, session: Any) -> None:
        """Logs them with `at_end`."""
        if self._log_at_end:
            self._log_tensors(session.run(self._current_tensors))

    def _log_tensors(self, values: dict[Any, Any]) -> None:
        seconds, _ = self._timer.update_last_triggered_step(self._iter_count)
        with np.printoptions(suppress=True):
            if self._formatter is not None:
                logging.info(self._formatter(values))
                return
            text = ", ".join(f"{tag} = {values[tag]}" for tag in self._tag_order)
        if seconds is None:
            logging.info("%s", text)
        else:
            logging.info("%s (%.3f sec)", text, seconds)


def _as_graph_element(item: Any) -> Any:
    """A tensor or operation of the default graph; a name without ":" is an operation of one output."""
    graph = get_default_graph()
    if not isinstance(item, str):
        if getattr(item, "graph", None) is not graph:
            raise InvalidValueError(
                f"Passed {item} should have graph attribute that is equal to current graph {graph}."
            )
        return item
    if ":" in item:
        return graph.as_graph_element(item)
    element: Any = graph.as_graph_element(f"{item}:0")
    if len(element.op.outputs) > 1:
        raise InvalidValueError(
            f"Name {item} is ambiguous, as this `Operation` has multiple outputs (at least 2)."
        )
    return element


def _check_one_limit(num_steps: int | None, last_step: int | None) -> None:
    if num_steps is None and last_step is None:
        raise InvalidValueError("One of num_steps or last_step must be specified.")
    if num_steps is not None and last_step is not None:
        raise InvalidValueError("Only one of num_steps or last_step can be specified.")


class StopAtStepHook(SessionRunHook):
    """Requests a stop at a step.

    Args:
        num_steps: How many steps to make, counted from where the session starts.
        last_step: The global step to stop at.

    Raises:
        ValueError: Neither or both are given.
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        _check_one_limit(num_steps, last_step)
        self._num_steps = num_steps
        self._last_step = last_step

    def begin(self) -> None:
        """Looks the global step up.

        Raises:
            RuntimeError: There is none.
        """
        self._global_step_tensor = global_step_read("StopAtStepHook")

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Counts from here, the first time."""
        if self._last_step is None:
            self._last_step = session.run(self._global_step_tensor) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the global step."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Requests a stop where the step is reached."""
        assert self._last_step is not None
        # The value may be from before this run or from after it: read again where it may be the last.
        may_be_last = run_values.results + 1 >= self._last_step
        if may_be_last and run_context.session.run(self._global_step_tensor) >= self._last_step:
            run_context.request_stop()


def get_or_create_steps_per_run_variable() -> Any:
    """The local int32 variable that says how many steps one run makes; 1 where nobody set it.

    Raises:
        RuntimeError: There are several.
    """
    name = "hooks_steps_per_run"
    found = get_default_graph().get_collection(name)
    if len(found) > 1:
        raise InvalidStateError("Multiple steps_per_run_var in collection.")
    if found:
        return found[0]
    with variable_scope("hooks", reuse=AUTO_REUSE):
        return get_variable(
            "steps_per_run", [], "int32", ones_initializer(), trainable=False,
            collections=[name, GraphKeys.LOCAL_VARIABLES], use_resource=True,
        )  # fmt: skip


class _MultiStepStopAtStepHook(SessionRunHook):
    """As StopAtStepHook, where one run makes several steps: sets how many the next one makes."""

    def __init__(
        self, num_steps: int | None = None, last_step: int | None = None, steps_per_run: int | None = 1
    ) -> None:
        _check_one_limit(num_steps, last_step)
        if steps_per_run is None or steps_per_run < 1:
            raise InvalidValueError("steps_per_run should be greater than 0")
        self._num_steps = num_steps
        self._last_step = last_step
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        self._global_step_tensor = get_global_step()
        if self._global_step_tensor is None:
            raise InvalidStateError("Global step should be created to use StopAtStepHook.")
        self._steps_per_run_variable = get_or_create_steps_per_run_variable()

    def _set_steps(self, step: int, session: Any) -> None:
        assert self._last_step is not None
        self._steps_per_run_variable.load(min(self._last_step - step, self._steps_per_run), session=session)

    def after_create_session(self, session: Any, coord: Any) -> None:
        step = session.run(self._global_step_tensor)
        if self._last_step is None:
            self._last_step = step + self._num_steps
        self._set_steps(step, session)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = run_context.session.run(self._global_step_tensor)
        assert self._last_step is not None
        if step >= self._last_step:
            run_context.request_stop()
        else:
            self._set_steps(step, run_context.session)


class NanLossDuringTrainingError(RuntimeError):
    """The loss became NaN."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Stops when a loss becomes NaN.

    Args:
        loss_tensor: The loss, a scalar.
        fail_on_nan_loss: Raise an error; else request a stop.
    """

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the loss."""
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Looks at it.

        Raises:
            NanLossDuringTrainingError: It is NaN, and `fail_on_nan_loss` is true.
        """
        if not np.isnan(run_values.results):
            return
        text = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            logging.error(text)
            raise NanLossDuringTrainingError
        logging.warning(text)
        run_context.request_stop()


class GlobalStepWaiterHook(SessionRunHook):
    """Holds the first run back until the global step, which other threads count, is large enough.

    Args:
        wait_until_step: The step.
    """

    def __init__(self, wait_until_step: int) -> None:
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        """Looks the global step up.

        Raises:
            RuntimeError: There is none.
        """
        self._worker_is_started = False
        self._global_step_tensor = global_step_read("_GlobalStepWaiterHook")

    def before_run(self, run_context: SessionRunContext) -> None:
        """Waits, the first time."""
        if self._worker_is_started:
            return
        if self._wait_until_step > 0:
            logging.info("Waiting for global step %d before starting training.", self._wait_until_step)
            told = 0
            while (step := run_context.session.run(self._global_step_tensor)) < self._wait_until_step:
                if step - told > 1000:
                    logging.info(
                        "Waiting for global step %d before starting training. Current step is %d.",
                        self._wait_until_step,
                        step,
                    )
                    told = step
                time.sleep(0.5)
        self._worker_is_started = True


class FinalOpsHook(SessionRunHook):
    """Runs something at the end of the session.

    Args:
        final_ops: What to run, in any structure of fetches.
        final_ops_feed_dict: Values to feed.
    """

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None) -> None:
        self._final_ops = final_ops
        self._feed_dict = final_ops_feed_dict
        self._values: Any = None

    @property
    def final_ops_values(self) -> Any:
        """What they gave; None before the end."""
        return self._values

    def end(self, session: Any) -> None:
        """Runs them.

        Raises:
            OutOfRangeError: They read from an input that has ended, which a warning says.
        """
        if self._final_ops is None:
            return
        try:
            self._values = session.run(self._final_ops, feed_dict=self._feed_dict)
        except (OutOfRangeError, StopIteration):
            logging.warning(
                "An OutOfRangeError or StopIteration exception is raised by the code in FinalOpsHook. The "
                "operations have a dependency back to some input source, which has ended; they should only "
                "read variables."
            )
            raise


class FeedFnHook(SessionRunHook):
    """Feeds each run.

    Args:
        feed_fn: Called before each run; gives a feed_dict.
    """

    def __init__(self, feed_fn: Callable[[], Any]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Feeds what `feed_fn` gives."""
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())
