"""Plans of the functions that nodes call, compiled at their first call."""

from __future__ import annotations

import threading
from collections import ChainMap
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
        # What gradients of functions add to a library; the graph's own stays as it is
        self._made: dict[str, Any] = {}
        self._lock = threading.RLock()

    def call(
        self, context: RunContext, function: Any, arguments: Sequence[Any], gradient: bool = False
    ) -> list[Any]:
        """What the function that a NameAttrList message names returns for `arguments`.

        Args:
            context: The run's context.
            function: The NameAttrList message.
            arguments: The values of the arguments; for a gradient, behind them those of the gradients
                that reach the results.
            gradient: Give the gradients of the arguments instead.

        Raises:
            NotFoundError: The graph's library has no such function.
            UnimplementedError: Its body has ops that are not implemented.
            OpError: A kernel in it failed.
        """
        name = function.SerializeToString(deterministic=True) if function.attr else function.name
        found = self._plans.get((gradient, name))
        if found is None:
            with self._lock:
                found = self._plans[gradient, name] = self._plan(context.graph, function, gradient)
        plan, count = found
        return plan.run_inner(context, arguments)[:count]

    def _plan(self, graph: Any, function: Any, gradient: bool) -> tuple[Plan, int]:
        library = ChainMap(self._made, graph._functions)
        if gradient:
            from ..function_gradients import gradient_of

            body = gradient_of(library, graph._gradient_defs, function)
        else:
            body = functions.build(library, function)
        draft = Draft(
            body.graph,
            [*body.outputs, *body.effects],
            dict.fromkeys(body.inputs),
            self._state,
            self._options,
        )
        return self._compile(draft), len(body.outputs)
