"""The value of a tensor on a branch that a run did not take.

Switch gives it, kernels never see it (a plan's guards pass it on), Merge takes whatever else there is.
"""

from __future__ import annotations

from typing import Any


class _Dead:
    def __repr__(self) -> str:
        return "DEAD"


DEAD: Any = _Dead()
