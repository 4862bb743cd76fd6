"""Plans of the functions that nodes call, compiled at their first call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from .. import functions
from ..resources import RunContext, SessionState
from .draft import Draft, Options
from .plan import Plan


class FunctionPlans:
    """The compiled functions of one session."""

    def __init__(self, state: SessionState, options: Options, compile_draft: Callable[[Draft], Plan]) -> None:
        self._state = state
        self._options = options
        self._compile = compile_draft
        self._plans: dict[Any, tuple[Plan, int]] = {}
        self._lock = threading.RLock()

    def call(self, context: RunContext, function: Any, arguments: Sequence[Any]) -> list[Any]:
        """What the function that a NameAttrList message names returns for `arguments`.

        Raises:
            NotFoundError: The graph's library has no such function.
            UnimplementedError: Its body has ops that are not implemented.
            OpError: A kernel in it failed.
        """
        key = function.SerializeToString(deterministic=True) if function.attr else function.name
        found = self._plans.get(key)
        if found is None:
            with self._lock:
                found = self._plans[key] = self._plan(context.graph, function)
        plan, count = found
        return plan.run_inner(context, arguments)[:count]

    def _plan(self, graph: Any, function: Any) -> tuple[Plan, int]:
        body = functions.build(graph._functions, function)
        draft = Draft(
            body.graph,
            [*body.outputs, *body.effects],
            dict.fromkeys(body.inputs),
            self._state,
            self._options,
        )
        return self._compile(draft), len(body.outputs)
