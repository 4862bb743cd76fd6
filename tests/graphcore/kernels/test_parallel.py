"""Blocks on several threads: all of them, once, with errors told and BLAS limited."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

from sgtool.graphcore.errors import InvalidValueError
from sgtool.graphcore.kernels import parallel


def test_each_item_once() -> None:
    done: list[int] = []
    parallel.for_each(range(1000), done.append)
    assert sorted(done) == list(range(1000))


def test_an_error_is_raised_and_the_next_call_works() -> None:
    def fail(item: int) -> None:
        if item == 7:
            raise InvalidValueError("seven")

    for _ in range(20):
        with pytest.raises(InvalidValueError, match="seven"):
            parallel.for_each(range(16), fail)
    test_each_item_once()


def test_nested_calls_and_several_callers() -> None:
    totals = [0] * 8

    def count(index: int) -> None:
        inner: list[int] = []
        parallel.for_each(range(50), inner.append)
        totals[index] += len(inner)

    callers = [
        threading.Thread(target=parallel.for_each, args=(range(at, at + 2), count)) for at in (0, 2, 4, 6)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert totals == [50] * 8


def test_blas_is_limited_inside_only() -> None:
    libraries = parallel._libraries()
    if not libraries:
        pytest.skip("NumPy's BLAS has no number of threads to set")
    before = [library.get_num_threads() for library in libraries]
    seen: list[list[int]] = []
    with parallel.single_threaded_blas():
        parallel.for_each(
            range(2), lambda _: seen.append([library.get_num_threads() for library in libraries])
        )
    assert seen == [[1] * len(libraries)] * 2
    assert [library.get_num_threads() for library in libraries] == before


@pytest.mark.parametrize("sizes", [(3, 4, 5), (700, 300, 90), (5, 900, 2000), (300, 300, 300)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_products_in_parts_are_those_of_numpy(
    sizes: tuple[int, int, int], dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "SHARED", 1)
    monkeypatch.setattr(parallel, "threads", lambda: 3)
    rows, depth, columns = sizes
    random = np.random.default_rng(0)
    a: Any = random.integers(-9, 9, (depth, rows)).astype(dtype).T
    b: Any = random.integers(-9, 9, (depth, columns)).astype(dtype)
    np.testing.assert_array_equal(parallel.matmul(a, b), np.matmul(a, b))


def test_sums_of_rows_do_not_depend_on_who_is_fast() -> None:
    rows = np.random.default_rng(0).normal(size=(4099, 37)).astype(np.float32)
    first = parallel.sum_rows(rows)
    np.testing.assert_allclose(first, rows.sum(0), rtol=1e-4, atol=1e-3)
    for _ in range(10):
        np.testing.assert_array_equal(parallel.sum_rows(rows), first)


def test_a_forked_child_has_threads_of_its_own() -> None:
    program = (
        "import os\n"
        "from sgtool.graphcore.kernels import parallel\n"
        "def work():\n"
        "    done = []\n"
        "    parallel.for_each(range(100), done.append)\n"
        "    assert len(done) == 100\n"
        "work()\n"
        "child = os.fork()\n"
        "work()\n"
        "if child:\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
    )
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=60)


def test_the_number_of_threads_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    parallel.threads.cache_clear()
    try:
        monkeypatch.setenv("SGTOOL_NUM_THREADS", "3")
        assert parallel.threads() == 3
        parallel.threads.cache_clear()
        monkeypatch.setenv("SGTOOL_NUM_THREADS", "many")
        with pytest.raises(InvalidValueError, match="SGTOOL_NUM_THREADS is 'many'"):
            parallel.threads()
    finally:
        monkeypatch.undo()
        parallel.threads.cache_clear()


def test_threads_that_keep_one_waiting_are_left_alone_for_a_while() -> None:
    help = parallel._Help()
    assert all(help.is_wanted() for _ in range(10))
    help.note(0.001, 0.004)
    pauses = [help.is_wanted() for _ in range(6)]
    assert pauses == [False] * 4 + [True, False]
    help.note(0.001, 0.004)
    assert help.pause == 12
    for _ in range(5):
        help.note(0.001, 0.0001)
    assert help.pause == 0
    assert help.is_wanted()
