"""From fetches and feeds to a plan: a row of small passes, each in its file, each switchable.

`prune` (what the fetches need, all that is missing or unimplemented in one error) -> `loops` (each while
loop becomes one node) -> `order` -> `fold` (static shapes under the fed shapes, constants) -> `simplify`
(identities, equal subexpressions) -> `fuse` (element-wise chains) -> `lower` (slots, lifetimes, in-place
reuse) -> `plan.Plan`.

Hazards that hold for every pass: only pure ops are folded or merged; a node with control inputs that
matter stays where it is; reads of a variable that the plan writes are never merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..operation import Operation, Tensor
from ..resources import SessionState
from ..shapes import Shape
from . import fold, fuse, loops, lower, order, prune, simplify
from .calls import FunctionPlans
from .draft import Draft, Options
from .plan import Plan

__all__ = ["Options", "Plan", "compile_plan", "function_plans"]


def compile_plan(
    graph: Any,
    fetches: Sequence[Tensor | Operation],
    feeds: dict[Tensor, Shape],
    state: SessionState,
    options: Options,
) -> Plan:
    """Compiles what `fetches` need, given `feeds`.

    Args:
        graph: The graph.
        fetches: Tensors and operations.
        feeds: The fed tensors in order, each with its shape (unknown dimensions allowed).
        state: The session's state; variables are resolved in it.
        options: Which passes run.

    Raises:
        InvalidArgumentError: Placeholders are not fed (all of them are listed), or there is a cycle.
        UnimplementedError: Ops are not implemented (all of them are listed).
    """
    return _compile(Draft(graph, list(fetches), dict(feeds), state, options))


def function_plans(state: SessionState, options: Options) -> FunctionPlans:
    """Where a session finds the plans of functions."""
    return FunctionPlans(state, options, _compile)


def _compile(draft: Draft) -> Plan:
    """The row of passes; a loop's condition and body go through it, too."""
    prune.run(draft)
    loops.contract(draft, _compile)
    order.run(draft)
    fold.run(draft)
    if draft.options.simplify:
        simplify.run(draft)
    if draft.options.fuse:
        fuse.run(draft)
    return lower.run(draft)
