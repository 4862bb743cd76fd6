"""Work on several cores: the blocks of one kernel, handed out to a few threads.

NumPy releases the interpreter's lock inside its loops, so Python threads run on all cores as long as a
block is large. Blocks are handed out one by one: a thread that the system does not run costs nothing, the
others take its share. That is why matrix products run on one thread a block, with BLAS limited to one: its
own threads wait for each other in every product, for a whole time slice of the system where the machine does
something else as well (measured: 0.4 ms, or 24 ms).

The number of threads is that of the cores that this process may use, at most `MOST`, or the environment
variable SGTOOL_NUM_THREADS.
"""

from __future__ import annotations

import contextvars
import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from queue import SimpleQueue
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from ...formats.errors import InvalidValueError
from .arrays import Array

Item = TypeVar("Item")

MOST = 16
"""Threads beyond these wait for the interpreter's lock more than they compute."""
ALONE = 1 << 18
"""Multiplications of a product from which BLAS would use threads of its own."""
SHARED = 1 << 22
"""Multiplications from which a product is split among threads."""
_WORTHWHILE = 1 << 15
"""Elements from which simple work on an array is split among threads."""
_NARROW = 64
"""Rows (or columns) below which a part of a product repeats more of its preparation than it computes."""


@lru_cache
def threads() -> int:
    """How many threads run blocks, the calling one among them.

    Raises:
        InvalidValueError: SGTOOL_NUM_THREADS is no positive integer.
    """
    named = os.environ.get("SGTOOL_NUM_THREADS")
    if named:
        if not named.isdecimal() or int(named) < 1:
            raise InvalidValueError(
                f"The environment variable SGTOOL_NUM_THREADS is {named!r}; it must be a positive integer.",
                value=named,
            )
        return min(MOST, int(named))
    affinity = getattr(os, "sched_getaffinity", None)
    return min(MOST, len(affinity(0)) if affinity else os.cpu_count() or 1)


def parts(work: int) -> int:
    """Into how many parts something of so many multiplications is split."""
    return threads() if work >= SHARED else 1


def for_each(items: Iterable[Item], body: Callable[[Item], None]) -> None:
    """Calls `body` with each item, on several threads at once; what it raises first is raised here.

    The calls may overlap in any order, so each must write to a place of its own. Inside of `body`, BLAS runs
    on one thread, and `for_each` runs in order.
    """
    listed = list(items)
    if _inside.get():
        for item in listed:
            body(item)
        return
    with single_threaded_blas():
        if len(listed) < 2 or threads() < 2 or not _help.is_wanted():
            _Job(listed, body).work()
            return
        job = _Job(listed, body)
        started = perf_counter()
        _pool().call(job, min(threads(), len(listed)) - 1)
        job.work()
        worked = perf_counter()
        job.finish()
        _help.note(worked - started, perf_counter() - worked)


class _Help:
    """Whether the other threads are worth waiting for.

    Where other programs use the cores, a thread that took a block may not run for some milliseconds, and all
    wait for it. Then the next calls do without, the more the more often that happens.
    """

    def __init__(self) -> None:
        self.skipped = 0
        self.pause = 0

    def is_wanted(self) -> bool:
        """Whether this call should use other threads."""
        if self.skipped < self.pause:
            self.skipped += 1
            return False
        self.skipped = 0
        return True

    def note(self, worked: float, waited: float) -> None:
        """Takes note of what a call took: working here, and waiting for the others, in seconds."""
        if waited > max(worked, _PATIENCE):
            self.pause = min(64, 2 * self.pause + 4)
        elif self.pause:
            self.pause //= 2


_help = _Help()
_PATIENCE = 5e-4
"""Seconds of waiting that are never too much."""


def matmul(a: Array, b: Array, out: Array | None = None) -> Array:
    """`np.matmul`, of two matrices of one dtype split among threads where that pays."""
    if a.ndim != 2 or b.ndim != 2 or a.dtype.kind not in "fc":
        return np.matmul(a, b, out=out)
    rows, depth = a.shape
    columns = b.shape[1]
    work = rows * depth * columns
    if work < ALONE or (work < SHARED and limit.inside) or _inside.get():
        return np.matmul(a, b, out=out)
    count = parts(work)
    if count < 2:
        with single_threaded_blas():
            return np.matmul(a, b, out=out)
    result = np.empty((rows, columns), a.dtype) if out is None else out
    if rows >= columns or rows >= count * _NARROW:
        for_each(ranges(rows, count), lambda part: _into(a[part], b, result[part]))
    else:
        for_each(ranges(columns, count), lambda part: _into(a, b[:, part], result[:, part]))
    return result


def _into(a: Array, b: Array, out: Array) -> None:
    np.matmul(a, b, out=out)


def ranges(size: int, parts: int, least: int = 8) -> list[slice]:
    """About equal slices of `size`, each but the last a multiple of `least` long."""
    length = max(least, math.ceil(size / parts / least) * least)
    return [slice(start, min(size, start + length)) for start in range(0, size, length)]


def by_images(images: Array, body: Callable[[slice], None]) -> None:
    """Calls `body` with slices of the first axis that cover it, on several threads where that pays."""
    count = images.shape[0] if images.size >= _WORTHWHILE else 1
    if count < 2:
        body(slice(0, images.shape[0]))
        return
    for_each(ranges(images.shape[0], min(count, 2 * threads()), 1), body)


def sum_rows(rows: Array) -> Array:
    """The sum of the rows of a matrix of floats: a product with ones, which BLAS adds fast and exactly."""
    ones = np.ones(rows.shape[0], rows.dtype)
    if rows.size < _WORTHWHILE or _inside.get():
        return np.asarray(ones @ rows)
    shares = ranges(rows.shape[0], threads())
    sums = np.empty((len(shares), rows.shape[1]), rows.dtype)

    def add_up(index: int) -> None:
        np.matmul(ones[shares[index]], rows[shares[index]], out=sums[index])

    for_each(range(len(shares)), add_up)
    return np.asarray(sums.sum(0))


def scratch(size: int, dtype: np.dtype[Any]) -> Array:
    """A flat buffer of this thread with any content, which the next call gives out again."""
    nbytes = size * dtype.itemsize
    buffer: Array | None = getattr(_own, "buffer", None)
    if buffer is None or buffer.nbytes < nbytes:
        buffer = np.empty(nbytes, np.uint8)
        if nbytes <= _KEPT:
            _own.buffer = buffer
    return buffer[:nbytes].view(dtype)


_own = threading.local()
_KEPT = 1 << 24
"""Bytes of a buffer that a thread keeps: new memory costs as much as filling it."""


# ---- the threads -------------------------------------------------------------------------------

_inside: contextvars.ContextVar[bool] = contextvars.ContextVar("inside a block", default=False)


class _Job:
    """The items of one `for_each`, as far as nobody took them."""

    def __init__(self, items: list[Any], body: Callable[[Any], None]) -> None:
        self.next = iter(items).__next__
        self.body = body
        self.errors: list[BaseException] = []
        self.lock = threading.Lock()
        self.helping = 0
        self.closed = False
        self.done = threading.Event()

    def work(self) -> None:
        """Takes items until there are none."""
        token = _inside.set(True)
        try:
            while True:
                try:
                    item = self.next()
                except StopIteration:
                    return
                self.body(item)
        finally:
            _inside.reset(token)

    def help(self) -> None:
        """As `work`, in another thread: unless the work is done, and errors wait for `finish`."""
        if not self._join():
            return
        try:
            self.work()
        except BaseException as error:
            self.errors.append(error)
        self._leave()

    def _join(self) -> bool:
        with self.lock:
            self.helping += not self.closed
            return not self.closed

    def _leave(self) -> None:
        with self.lock:
            self.helping -= 1
            if self.closed and not self.helping:
                self.done.set()

    def finish(self) -> None:
        """Waits for those that took items still; a thread that did not come yet comes too late."""
        with self.lock:
            self.closed = True
            waits = self.helping > 0
        if waits:
            self.done.wait()
        for error in self.errors:
            raise error


class _Pool:
    """Threads that wait for jobs, on other cores than the thread that calls.

    A thread that is woken often starts on the core of the one that wakes it (they share its cache), and there
    the two would take turns until the system moves one: longer than most jobs take.
    """

    def __init__(self, count: int) -> None:
        self.jobs: SimpleQueue[_Job] = SimpleQueue()
        self.current_core = _current_core()
        self.cores = os.sched_getaffinity(0) if self.current_core is not None else set()
        self.kept_off: int | None = None
        self.members = [
            threading.Thread(target=self._serve, name=f"sgtool-{number}", daemon=True)
            for number in range(count)
        ]
        for thread in self.members:
            thread.start()

    def call(self, job: _Job, count: int) -> None:
        """Offers a job to so many threads."""
        if self.current_core is not None:
            self._keep_off(self.current_core())
        for _ in range(count):
            self.jobs.put(job)

    def _keep_off(self, core: int) -> None:
        if core == self.kept_off or len(self.cores) < 2:
            return
        self.kept_off = core
        for thread in self.members:
            if thread.native_id is not None:
                with suppress(OSError):
                    os.sched_setaffinity(thread.native_id, self.cores - {core})

    def _serve(self) -> None:
        np.seterr(all="ignore")  # as in a run: kernels tell what is wrong, not the processor
        while True:
            job = self.jobs.get()
            job.help()
            del job  # with the arrays that it holds


def _current_core() -> Callable[[], int] | None:
    """What tells the core that the calling thread runs on, where that can be told and chosen (Linux)."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    import ctypes

    try:
        return ctypes.CDLL(None).sched_getcpu
    except (AttributeError, OSError):
        return None


_pools: list[_Pool] = []
_starting = threading.Lock()


def _pool() -> _Pool:
    with _starting:
        if not _pools:
            _pools.append(_Pool(threads() - 1))
        return _pools[0]


if hasattr(os, "register_at_fork"):  # a child has no threads but the one that forked
    os.register_at_fork(after_in_child=_pools.clear)


# ---- BLAS --------------------------------------------------------------------------------------


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """BLAS uses one thread inside; nested and concurrent uses share the limit."""
    limit.enter()
    try:
        yield
    finally:
        limit.leave()


class _Limit:
    """How many users need BLAS to run on one thread, and what it is set to outside."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        self.restore: list[int] = []

    def enter(self) -> None:
        with self.lock:
            if not self.inside:
                self.restore = [library.get_num_threads() for library in _libraries()]
                for library in _libraries():
                    library.set_num_threads(1)
            self.inside += 1

    def leave(self) -> None:
        with self.lock:
            self.inside -= 1
            if not self.inside:
                for library, number in zip(_libraries(), self.restore):
                    library.set_num_threads(number)


limit = _Limit()
"""Of this process; a run whose plan has products enters it once."""


@lru_cache
def _libraries() -> list[Any]:
    """The BLAS libraries that are loaded and whose number of threads can be set."""
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)
