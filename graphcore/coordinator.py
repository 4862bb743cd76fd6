"""`tf.train.Coordinator`: lets several threads stop together, and brings their errors to the main thread.

Source: tensorflow/python/training/coordinator.py (r1.15), behaviour only.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from .errors import OutOfRangeError

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]


class Coordinator:
    """Says when to stop, to threads that ask.

        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(coord=coord)
        try:
            while not coord.should_stop():
                ...
        except Exception as error:
            coord.request_stop(error)
        finally:
            coord.request_stop()
            coord.join(threads)

    Args:
        clean_stop_exception_types: Errors that mean the normal end; by default OutOfRangeError.
    """

    def __init__(self, clean_stop_exception_types: tuple[type[BaseException], ...] | None = None) -> None:
        self._clean = (
            (OutOfRangeError,) if clean_stop_exception_types is None else tuple(clean_stop_exception_types)
        )
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._joined = False
        self._registered_threads: set[threading.Thread] = set()

    @property
    def joined(self) -> bool:
        """Whether `join` has ended."""
        return self._joined

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._stop.is_set()

    def request_stop(self, ex: Any = None) -> None:
        """Makes `should_stop` true from now on.

        Args:
            ex: The error that is the reason, or a `sys.exc_info()` tuple; `join` raises the first one,
                unless it means the normal end.

        Raises:
            Exception: `ex` itself, where all threads have been joined already.
        """
        error = ex[1] if isinstance(ex, tuple) else ex
        with self._lock:
            if self._joined:
                if error is not None:
                    raise error
                return
            if not self._stop.is_set():
                if error is not None and not isinstance(error, self._clean):
                    self._error = error
                self._stop.set()

    def clear_stop(self) -> None:
        """Makes the coordinator as new: no stop requested, no error."""
        with self._lock:
            self._joined = False
            self._error = None
            self._stop.clear()

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits until a stop is requested, at most `timeout` seconds; whether it was."""
        return self._stop.wait(timeout)

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """A context manager for the body of a thread: an error in it requests a stop."""
        try:
            yield
        except BaseException as error:  # whatever ends a thread ends them all
            self.request_stop(error)

    def register_thread(self, thread: threading.Thread) -> None:
        """Adds a thread for `join` to wait for."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits for threads to end: without limit until a stop is requested, then for a while.

        Args:
            threads: Threads besides the registered ones.
            stop_grace_period_secs: How long to wait after a stop was requested, in seconds.
            ignore_live_threads: Do not complain of threads that still run after that.

        Raises:
            Exception: The error with which a stop was requested.
            RuntimeError: Threads still run.
        """
        with self._lock:
            waited = list(self._registered_threads | set(threads or ()))
        while any(thread.is_alive() for thread in waited) and not self.wait_for_stop(0.05):
            pass
        # Threads that ended without one leave nothing to wait for.
        self._stop.set()
        until = time.monotonic() + stop_grace_period_secs
        for thread in waited:
            thread.join(max(0.0, until - time.monotonic()))
        alive = sorted(thread.name for thread in waited if thread.is_alive())
        with self._lock:
            self._joined = True
            self._registered_threads.clear()
            error = self._error
        if error is not None:
            raise error
        if alive and not ignore_live_threads:
            raise RuntimeError("Coordinator stopped with threads still running: " + " ".join(alive))

    def raise_requested_exception(self) -> None:
        """Raises the error with which a stop was requested, if any."""
        with self._lock:
            error = self._error
        if error is not None:
            raise error


class LooperThread(threading.Thread):
    """A thread that calls something again and again until its coordinator stops.

    Args:
        coord: The coordinator.
        timer_interval_secs: Seconds from one call to the next; None for no pause.
        target: What to call; by default a subclass overrides `run_loop`.
        args: Its positional arguments.
        kwargs: Its keyword arguments.
    """

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Any = None,
        args: Any = None,
        kwargs: Any = None,
    ) -> None:
        super().__init__(daemon=True)
        self._coord = coord
        self._interval = timer_interval_secs
        self._call = target
        self._call_args, self._call_kwargs = args or (), kwargs or {}
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Any,
        args: Any = None,
        kwargs: Any = None,
    ) -> LooperThread:
        """Starts a LooperThread; arguments as its own."""
        looper = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        """Calls `run_loop` until the coordinator stops."""
        with self._coord.stop_on_exception():
            self.start_loop()
            following = time.monotonic()
            while not self._coord.should_stop():
                if self._interval is not None:
                    following += self._interval
                    if self._coord.wait_for_stop(max(0.0, following - time.monotonic())):
                        break
                self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Called once before the first call."""

    def stop_loop(self) -> None:
        """Called once after the last call."""

    def run_loop(self) -> None:
        """One call."""
        if self._call is not None:
            self._call(*self._call_args, **self._call_kwargs)
