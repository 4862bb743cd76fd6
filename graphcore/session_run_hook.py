"""Hooks: objects that a monitored session calls around each of its runs.

Source: tensorflow/python/training/session_run_hook.py (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class SessionRunArgs(NamedTuple):
    """What a hook wants of the next run.

    Attributes:
        fetches: What to compute besides what the caller asks for, in any structure of fetches.
        feed_dict: Values to feed.
        options: A RunOptions message; the options of all hooks are merged.
    """

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """What a run gave to a hook.

    Attributes:
        results: The values of `SessionRunArgs.fetches`, in their structure; None where there were none.
        options: The RunOptions of the run.
        run_metadata: The RunMetadata that the run filled.
    """

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """The run that a hook is called around.

    Args:
        original_args: The `SessionRunArgs` of the caller of `run`.
        session: The session.
    """

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """What the caller of `run` asked for."""
        return self._original_args

    @property
    def session(self) -> Any:
        """The session that runs."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether somebody called `request_stop`."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Makes this run the last one: `should_stop` of the monitored session is true after it."""
        self._stop_requested = True


class SessionRunHook:
    """The base of hooks; each method does nothing."""

    def begin(self) -> None:
        """Called once, before the session is made: the graph may still be added to."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called when a session was made or made anew, with the coordinator of its threads.

        The graph is final. After a recovery it is called again.
        """

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Called before each run; gives what the hook wants of it, or None."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after each run that did not fail, with what the hook had asked for."""

    def end(self, session: Any) -> None:
        """Called once, after the last run; not where the session ends by an error."""
