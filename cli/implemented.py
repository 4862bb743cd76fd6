"""Which ops can be run here, without loading them: `implemented_ops.txt` has the registry's names.

Loading the ops takes half a second, which a look into a file need not cost. `make op-lists` writes the
list, and a test keeps it equal to the registry.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

_LIST = Path(__file__).with_name("implemented_ops.txt")


@cache
def names() -> frozenset[str]:
    """The op types that have a kernel."""
    return frozenset(_LIST.read_text(encoding="utf-8").split())


def missing(ops: Iterable[str], functions: Iterable[str] = ()) -> list[str]:
    """Those of some op types that are neither run here nor functions of the graph's library, sorted."""
    return sorted(set(ops) - names() - set(functions))
