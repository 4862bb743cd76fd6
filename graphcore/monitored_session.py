"""`tf.train.MonitoredSession`: a session with hooks, queue runners, checkpoints, and recovery.

A monitored session is a pile: hooks around a session, a coordinator around that, and where it recovers a
layer that makes the lower ones anew.

Source: tensorflow/python/training/monitored_session.py (r1.15), behaviour only.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ..formats import protos
from . import logging
from .coordinator import Coordinator
from .default import GraphKeys, get_collection, get_default_graph
from .errors import AbortedError, InvalidStateError, InvalidValueError, OutOfRangeError, UnavailableError
from .queue_runner import start_queue_runners
from .saving_hooks import CheckpointSaverHook, StepCounterHook, SummarySaverHook
from .scaffold import ChiefSessionCreator, Scaffold, SessionCreator, WorkerSessionCreator
from .session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

# After these a session is made anew.
_PREEMPTION_ERRORS = (AbortedError, UnavailableError)

USE_DEFAULT: Any = object()


def MonitoredTrainingSession(
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: str | None = None,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: Any = USE_DEFAULT,
    save_summaries_steps: Any = USE_DEFAULT,
    save_summaries_secs: Any = USE_DEFAULT,
    config: Any = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: Any = USE_DEFAULT,
    summary_dir: str | None = None,
) -> MonitoredSession:
    """`tf.train.MonitoredTrainingSession`: a monitored session that saves checkpoints and summaries.

    Args:
        master: Empty.
        is_chief: Whether this one initializes and saves; else it waits for who does.
        checkpoint_dir: From where to restore and where to save; None for neither.
        scaffold: A Scaffold; by default a new one.
        hooks: More hooks.
        chief_only_hooks: Hooks for the chief only.
        save_checkpoint_secs: Seconds from one checkpoint to the next; by default 600, None for none.
        save_summaries_steps: Steps from one summary to the next; by default 100, None for none.
        save_summaries_secs: Seconds from one summary to the next; by default none.
        config: A ConfigProto.
        stop_grace_period_secs: How long to wait for threads after `close`, in seconds.
        log_step_count_steps: Once in how many steps to log steps per second; None or 0 for never.
        max_wait_secs: How long who is not chief waits, in seconds.
        save_checkpoint_steps: Steps from one checkpoint to the next; by default none.
        summary_dir: The directory of the event file; by default `checkpoint_dir`.
    """
    if save_summaries_steps is USE_DEFAULT and save_summaries_secs is USE_DEFAULT:
        save_summaries_steps = 100
    if save_checkpoint_steps is USE_DEFAULT and save_checkpoint_secs is USE_DEFAULT:
        save_checkpoint_secs = 600
    summary_secs, summary_steps, secs, steps = (
        None if value is USE_DEFAULT else value
        for value in (save_summaries_secs, save_summaries_steps, save_checkpoint_secs, save_checkpoint_steps)
    )
    scaffold = scaffold or Scaffold()
    if not is_chief:
        worker = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(worker, hooks, stop_grace_period_secs)
    all_hooks = list(chief_only_hooks or ())
    chief = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir:
        if log_step_count_steps and log_step_count_steps > 0:
            all_hooks.append(StepCounterHook(every_n_steps=log_step_count_steps, output_dir=summary_dir))
        if (summary_steps and summary_steps > 0) or (summary_secs and summary_secs > 0):
            all_hooks.append(
                SummarySaverHook(
                    save_steps=summary_steps,
                    save_secs=summary_secs,
                    output_dir=summary_dir,
                    scaffold=scaffold,
                )
            )
    if checkpoint_dir and ((secs and secs > 0) or (steps and steps > 0)):
        all_hooks.append(
            CheckpointSaverHook(checkpoint_dir, save_secs=secs, save_steps=steps, scaffold=scaffold)
        )
    return MonitoredSession(chief, [*all_hooks, *(hooks or ())], stop_grace_period_secs)


class StepContext:
    """What a function for `run_step_fn` is given.

    Args:
        session: The session, without hooks.
        run_with_hooks_fn: `run` with hooks.
    """

    def __init__(self, session: Any, run_with_hooks_fn: Callable[..., Any]) -> None:
        self._session = session
        self._run_with_hooks_fn = run_with_hooks_fn

    @property
    def session(self) -> Any:
        """The session, without hooks."""
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """`run` of the monitored session."""
        return self._run_with_hooks_fn(*args, **kwargs)

    def request_stop(self) -> None:
        """Ends the loop of steps.

        Raises:
            StopIteration: Always; the `with` of the monitored session ends at it without an error.
        """
        raise StopIteration("step_fn has requested the iterations to stop.")


class _MonitoredSession:
    """What `MonitoredSession` and `SingularMonitoredSession` share."""

    StepContext = StepContext

    def __init__(
        self,
        session_creator: SessionCreator | None,
        hooks: Sequence[SessionRunHook] | None,
        should_recover: bool,
        stop_grace_period_secs: float = 120,
    ) -> None:
        self._graph_was_finalized = get_default_graph().finalized
        self._hooks = hooks or []
        for hook in self._hooks:
            hook.begin()
        self._coordinated_creator = _CoordinatedSessionCreator(
            session_creator or ChiefSessionCreator(), self._hooks, stop_grace_period_secs
        )
        self._sess: _WrappedSession | None
        if should_recover:
            self._sess = _RecoverableSession(self._coordinated_creator)
        else:
            self._sess = self._coordinated_creator.create_session()

    @property
    def graph(self) -> Any:
        """The graph; None once the session is closed."""
        session = self._tf_sess()
        return None if session is None else session.graph

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """`Session.run`, with the hooks around it.

        Raises:
            RuntimeError: The session is closed, or a stop was requested.
        """
        return self._open().run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Calls a function that makes a step in several runs, and gives what it gives.

        Args:
            step_fn: A function, or method, with one argument `step_context`: a `StepContext`.

        Raises:
            ValueError: It has other arguments.
            StopIteration: It called `StepContext.request_stop`.
            RuntimeError: The session is closed.
        """
        arguments = tuple(inspect.signature(step_fn).parameters)
        if arguments not in (("step_context",), ("self", "step_context")):
            raise InvalidValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and `step_context` "
                f"arguments if it's an instance method. Got {arguments} instead."
            )
        return self._open().run_step_fn(step_fn, self._tf_sess(), None)

    def should_stop(self) -> bool:
        """Whether the training is to end: a stop was requested, or the session is closed."""
        return self._sess is None or self._sess.should_stop()

    def close(self) -> None:
        """Calls the hooks' `end`, stops the threads and closes the session.

        Raises:
            RuntimeError: It is closed already.
            Exception: An error of a thread, with which it requested a stop.
        """
        self._close_internal()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: Any, error: Any, where: Any) -> bool:
        if kind in (OutOfRangeError, StopIteration):  # the normal end of an input, of a step_fn
            kind = None
        self._close_internal(kind)
        return kind is None

    def _open(self) -> _WrappedSession:
        if self._sess is None:
            raise InvalidStateError("Session is already closed.")
        return self._sess

    def _close_internal(self, exception_type: Any = None) -> None:
        try:
            if exception_type is None:
                for hook in self._hooks:
                    hook.end(self._coordinated_creator.tf_sess)
        finally:
            try:
                self._open().close()
            finally:
                self._sess = None
                self._coordinated_creator.tf_sess = None
                self._coordinated_creator.coord = None
                if not self._graph_was_finalized:
                    get_default_graph()._unsafe_unfinalize()

    def _is_closed(self) -> bool:
        return self._coordinated_creator.tf_sess is None

    def _tf_sess(self) -> Any:
        return self._coordinated_creator.tf_sess


class MonitoredSession(_MonitoredSession):
    """A session with hooks that is made anew after an AbortedError or UnavailableError; a context manager.

    Args:
        session_creator: Makes the session; by default a ChiefSessionCreator.
        hooks: SessionRunHook objects.
        stop_grace_period_secs: How long to wait for threads after `close`, in seconds.
    """

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ) -> None:
        super().__init__(session_creator, hooks, True, stop_grace_period_secs)


class SingularMonitoredSession(_MonitoredSession):
    """A session with hooks that is not made anew; a context manager.

    Args:
        hooks: SessionRunHook objects.
        scaffold: A Scaffold; by default a new one.
        master: Empty.
        config: A ConfigProto.
        checkpoint_dir: From where to restore.
        stop_grace_period_secs: How long to wait for threads after `close`, in seconds.
        checkpoint_filename_with_path: The checkpoint to restore, in place of `checkpoint_dir`.
    """

    def __init__(
        self,
        hooks: Sequence[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: str | None = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path)
        super().__init__(creator, hooks, False, stop_grace_period_secs)

    def raw_session(self) -> Any:
        """The session, without hooks."""
        return self._tf_sess()


class _CoordinatedSessionCreator(SessionCreator):
    """Makes a session, starts its queue runners and tells the hooks."""

    def __init__(
        self,
        session_creator: SessionCreator,
        hooks: Sequence[SessionRunHook],
        stop_grace_period_secs: float,
    ) -> None:
        self._session_creator = session_creator
        self._hooks = hooks
        self._stop_grace_period_secs = stop_grace_period_secs
        self.coord: Coordinator | None = None
        self.tf_sess: Any = None

    def create_session(self) -> _CoordinatedSession:
        self.tf_sess = self._session_creator.create_session()
        # A queue that ended is an error here: the run that finds it empty raises it.
        self.coord = Coordinator(clean_stop_exception_types=())
        if get_collection(GraphKeys.QUEUE_RUNNERS):
            start_queue_runners(sess=self.tf_sess, coord=self.coord)
        for hook in self._hooks:
            hook.after_create_session(self.tf_sess, self.coord)
        return _CoordinatedSession(
            _HookedSession(self.tf_sess, self._hooks), self.coord, self._stop_grace_period_secs
        )


class _WrappedSession:
    """A layer around a session or around another layer."""

    def __init__(self, sess: Any) -> None:
        self._sess = sess

    @property
    def graph(self) -> Any:
        return self._sess.graph

    @property
    def sess_str(self) -> str:
        return str(self._sess.sess_str)

    def should_stop(self) -> bool:
        """Whether this layer or one below wants to stop; a closed one does."""
        if self._check_stop() or self._sess is None:
            return True
        return isinstance(self._sess, _WrappedSession) and self._sess.should_stop()

    def _check_stop(self) -> bool:
        return False

    def close(self) -> None:
        if self._sess is None:
            return
        try:
            self._sess.close()
        except _PREEMPTION_ERRORS as error:
            logging.warning("An error occurred when attempting to close the session. Error: %s", error)
        finally:
            self._sess = None

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return self._sess.run(*args, **kwargs)

    def run_step_fn(self, step_fn: Callable[..., Any], raw_session: Any, run_with_hooks: Any) -> Any:
        return step_fn(StepContext(raw_session, run_with_hooks or self.run))


class _RecoverableSession(_WrappedSession):
    """Makes the layers below anew after an AbortedError or UnavailableError."""

    def __init__(self, sess_creator: SessionCreator) -> None:
        self._sess_creator = sess_creator
        super().__init__(self._create_session())

    def _create_session(self) -> Any:
        while True:
            try:
                return self._sess_creator.create_session()
            except _PREEMPTION_ERRORS as error:
                logging.info(
                    "An error was raised while a session was being created. A new session will be created. "
                    "Error: %s",
                    error,
                )

    def _give_up(self, error: Exception) -> None:
        logging.info(
            "An error was raised. The current session will be closed and a new session will be created. "
            "Error: %s",
            error,
        )
        self.close()

    def _check_stop(self) -> bool:
        if self._sess is None:
            return True
        try:
            return bool(self._sess._check_stop())
        except _PREEMPTION_ERRORS as error:
            self._give_up(error)
            self._sess = self._create_session()
            return False
        except Exception:  # `run` raises it; who only asks is to stop
            return True

    def _retry(self, act: Callable[[Any], Any]) -> Any:
        while True:
            try:
                if self._sess is None:
                    self._sess = self._create_session()
                return act(self._sess)
            except _PREEMPTION_ERRORS as error:
                self._give_up(error)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return self._retry(lambda session: session.run(*args, **kwargs))

    def run_step_fn(self, step_fn: Callable[..., Any], raw_session: Any, run_with_hooks: Any) -> Any:
        return self._retry(lambda session: session.run_step_fn(step_fn, raw_session, session.run))


class _CoordinatedSession(_WrappedSession):
    """Stops when the coordinator does; errors of threads come before those that follow from them."""

    def __init__(self, sess: Any, coord: Coordinator, stop_grace_period_secs: float = 120) -> None:
        super().__init__(sess)
        self._coord = coord
        self._stop_grace_period_secs = stop_grace_period_secs

    def _check_stop(self) -> bool:
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self) -> None:
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True)
        finally:
            with suppress(Exception):  # the error that ends the session matters more
                super().close()

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._sess.run(*args, **kwargs)
        except _PREEMPTION_ERRORS:
            raise
        except Exception as error:
            try:
                self._coord.raise_requested_exception()
            except _PREEMPTION_ERRORS:  # what the run met is only its consequence
                raise
            except Exception:
                raise error from None
            raise


class _HookedSession(_WrappedSession):
    """Calls hooks around each run."""

    def __init__(self, sess: Any, hooks: Sequence[SessionRunHook]) -> None:
        super().__init__(sess)
        self._hooks = hooks
        self._should_stop = False

    def _check_stop(self) -> bool:
        return self._should_stop

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        if self.should_stop():
            raise InvalidStateError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._sess)
        wanted = {"caller": fetches}
        options = protos.RunOptions() if options is None else options
        run_metadata = protos.RunMetadata() if run_metadata is None else run_metadata
        feeds = self._ask_hooks(context, wanted, feed_dict, options)
        results = self._sess.run(wanted, feed_dict=feeds, options=options, run_metadata=run_metadata)
        for hook in self._hooks:
            hook.after_run(context, SessionRunValues(results.get(hook), options, run_metadata))
        self._should_stop = self._should_stop or context.stop_requested
        return results["caller"]

    def _ask_hooks(
        self, context: SessionRunContext, wanted: dict[Any, Any], user_feeds: Any, options: Any
    ) -> Any:
        """Adds to the fetches and options what the hooks want; gives all feeds."""
        feeds: dict[Any, Any] = {}
        for hook in self._hooks:
            request = hook.before_run(context)
            if request is None:
                continue
            if request.fetches is not None:
                wanted[hook] = request.fetches
            if request.feed_dict:
                _check_disjoint(feeds, request.feed_dict, "Same tensor is fed by two hooks.")
                feeds.update(request.feed_dict)
            if request.options:
                _merge_run_options(options, request.options)
        if not feeds or not user_feeds:
            return feeds or user_feeds
        _check_disjoint(user_feeds, feeds, "Same tensor is fed by a SessionRunHook and user.")
        return {**feeds, **user_feeds}


def _check_disjoint(first: Any, second: Any, text: str) -> None:
    both = set(first) & set(second)
    if both:
        raise InvalidStateError(f"{text} Conflict(s): {list(both)}")


def _merge_run_options(options: Any, more: Any) -> None:
    """Makes options ask for what either asks for."""
    for name in ("trace_level", "timeout_in_ms", "inter_op_thread_pool"):
        setattr(options, name, max(getattr(options, name), getattr(more, name)))
    for name in ("output_partition_graphs", "report_tensor_allocations_upon_oom"):
        setattr(options, name, getattr(options, name) or getattr(more, name))
    options.debug_options.debug_tensor_watch_opts.extend(more.debug_options.debug_tensor_watch_opts)
    options.debug_options.reset_disk_byte_usage |= more.debug_options.reset_disk_byte_usage


def basic_train_loop(
    supervisor: Any,
    train_step_fn: Callable[..., Any],
    args: Any = None,
    kwargs: Any = None,
    master: str = "",
) -> None:
    """`tf.train.basic_train_loop`: calls a function until a supervisor stops.

    Args:
        supervisor: An object with `managed_session(master)` and `should_stop()`.
        train_step_fn: Called with the session, `args` and `kwargs`.
        args: Positional arguments.
        kwargs: Keyword arguments.
        master: Passed to `managed_session`.
    """
    while True:
        try:
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *(args or ()), **(kwargs or {}))
            return
        except AbortedError:  # the work goes on in a new session
            continue
