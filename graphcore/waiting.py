"""Waiting for what other threads do, as long as the session is open and the run's time lasts."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from .errors import CancelledError, DeadlineExceededError
from .resources import RunContext

Result = TypeVar("Result")


class Monitor:
    """Something that threads share: one at a time changes it, others wait for a change.

    Args:
        name: For messages.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._changed = threading.Condition(threading.RLock())
        self._cancelled = False

    def cancel(self) -> None:
        """Makes everybody who waits give up, now and later: the session is closed."""
        with self._changed:
            self._cancelled = True
            self._changed.notify_all()

    def _wait(
        self,
        ctx: RunContext,
        what: str,
        step: Callable[[], Result | None],
        line: deque[object] | None = None,
    ) -> Result:
        """Calls `step` now and after each change until it gives something.

        Args:
            ctx: The run's context.
            what: What is done, for messages.
            step: Called with the lock held; gives None while it cannot be done.
            line: Those who wait for the same thing: only the first of them may act.

        Raises:
            CancelledError: The session was closed.
            DeadlineExceededError: The run's time is over.
        """
        ticket = object()
        with self._changed:
            if line is not None:
                line.append(ticket)
            try:
                while True:
                    if self._cancelled or ctx.state.cancelled:
                        raise CancelledError(f"{what} operation was cancelled", resource=self.name)
                    result = step() if line is None or line[0] is ticket else None
                    if result is not None:
                        return result
                    left = None if ctx.deadline is None else ctx.deadline - time.monotonic()
                    if left is not None and left <= 0:
                        raise DeadlineExceededError(
                            f"Timed out waiting for notification: {what} on '{self.name}'", resource=self.name
                        )
                    self._changed.wait(left)
            finally:
                if line is not None:
                    line.remove(ticket)
                self._changed.notify_all()
