"""`Session.partial_run`: a run in several steps, each with more feeds; every operation runs once.

Source: tensorflow/core/common_runtime/direct_session.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .errors import InvalidArgumentError
from .operation import Operation, Tensor

_IN_FRAMES = frozenset(
    {"Enter", "RefEnter", "Merge", "RefMerge", "Switch", "RefSwitch", "NextIteration", "LoopCond"}
)


class PartialRun:
    """What one `partial_run_setup` prepared.

    TensorFlow's executor runs whatever the feeds so far allow. Here each step computes the tensors at the
    border
    between what can and what cannot be computed yet, keeps them, and feeds them to the later steps.

    Attributes:
        is_finished: Whether everything was fed and fetched.
    """

    def __init__(self, fetches: Sequence[Tensor | Operation], feeds: Sequence[Tensor]) -> None:
        self._fetches = set(fetches)
        self._feeds = set(feeds)
        self._fed: set[Tensor] = set()
        self._fetched: set[Tensor | Operation] = set()
        self._values: dict[Any, Any] = {}
        self._needed = self._closure(fetches)
        self._consumers: dict[Tensor | Operation, list[Operation]] = {}
        for operation in self._needed:
            sources: list[Tensor | Operation] = [*operation.inputs, *operation.control_inputs]
            for source in sources:
                self._consumers.setdefault(source, []).append(operation)

    @property
    def is_finished(self) -> bool:
        """Whether everything was fed and fetched."""
        return self._fed == self._feeds and self._fetched == self._fetches

    def _closure(self, fetches: Sequence[Tensor | Operation]) -> list[Operation]:
        found: dict[Operation, None] = {}
        stack: list[Any] = list(fetches)
        while stack:
            item = stack.pop()
            if isinstance(item, Tensor):
                if item in self._feeds:
                    continue
                item = item.op
            if item not in found:
                found[item] = None
                stack.extend(item.inputs)
                stack.extend(item.control_inputs)
        return list(found)

    def step(
        self,
        run: Callable[[list[Any], dict[Any, Any]], list[Any]],
        fetches: Sequence[Tensor | Operation],
        feeds: dict[Tensor, Any],
    ) -> list[Any]:
        """The values of `fetches` with `feeds` in addition to those of earlier steps.

        Args:
            run: Runs the graph: from a list of fetches and a feed dict to the values.
            fetches: Some of those that were set up, each fetched for the first time.
            feeds: Values for some of the feeds that were set up, each fed for the first time.

        Raises:
            InvalidArgumentError: A feed or fetch was not set up or was used before, or a fetch needs more
                feeds.
        """
        for kind, items, declared, used, verb in (
            ("feed", list(feeds), self._feeds, self._fed, "fed"),
            ("fetch", list(fetches), self._fetches, self._fetched, "fetched"),
        ):
            for item in items:
                if item not in declared:
                    raise InvalidArgumentError(
                        f"The {kind} {item.name} was not specified in partial_run_setup."
                    )
                if item in used:
                    raise InvalidArgumentError(f"The {kind} {item.name} has already been {verb}.")
        blocked = self._blocked(self._fed | feeds.keys())
        for item in fetches:
            if item in blocked:
                raise InvalidArgumentError(
                    f"Fetch {item.name} can't be computed from the feeds that have been fed so far."
                )
        wanted = [item for item in self._border(blocked) if item not in self._values]
        given = {key: value for key, value in self._values.items() if isinstance(key, Tensor)} | feeds
        self._values.update(zip(wanted, run(wanted, given) if wanted else []))
        self._values.update(feeds)
        self._fed |= feeds.keys()
        self._fetched.update(fetches)
        return [self._values[item] for item in fetches]

    def _blocked(self, fed: set[Tensor]) -> set[Any]:
        """The tensors and operations that need a feed which is still to come."""
        blocked: set[Any] = set()
        stack: list[Any] = [tensor for tensor in self._feeds if tensor not in fed]
        while stack:
            item = stack.pop()
            if item in blocked:
                continue
            blocked.add(item)
            for operation in self._consumers.get(item, ()):
                stack.append(operation)
                stack.extend(output for output in operation.outputs if output not in self._feeds)
        return blocked

    def _border(self, blocked: set[Any]) -> list[Any]:
        """What can be computed, and is fetched or waited for."""
        border: list[Any] = [item for item in self._fetches if item not in blocked]
        for operation in self._needed:
            if operation in blocked or operation.type in _IN_FRAMES:
                continue
            for output in operation.outputs:
                keeps = not output.dtype._is_ref_dtype and output.dtype.name not in ("resource", "variant")
                waits = any(consumer in blocked for consumer in self._consumers.get(output, ()))
                if keeps and waits and output not in self._feeds and output not in self._fetches:
                    border.append(output)
            if any(consumer in blocked for consumer in self._consumers.get(operation, ())):
                border.append(operation)
        return list(dict.fromkeys(border))
