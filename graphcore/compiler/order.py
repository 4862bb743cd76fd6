"""Orders the nodes: inputs and control inputs first, otherwise as the graph was made.

Creation order makes runs deterministic and gives a read that was made before a write, with no edge
between the two, the old value, as a reader of the program expects.
"""

from __future__ import annotations

import heapq

from ..errors import InvalidArgumentError
from ..operation import Operation
from .draft import Draft, Node


def run(draft: Draft) -> None:
    """Sorts `draft.nodes`; drops control edges that order nothing; marks what may be dead.

    Raises:
        InvalidArgumentError: The nodes have a cycle.
    """
    nodes = draft.nodes
    waiting: dict[Operation, int] = {}
    consumers: dict[Operation, list[Operation]] = {operation: [] for operation in nodes}
    ready: list[tuple[int, Operation]] = []
    for operation, node in nodes.items():
        sources = set(draft.sources(node))
        waiting[operation] = len(sources)
        for source in sources:
            consumers[source].append(operation)
        if not sources:
            ready.append((operation._id, operation))
    heapq.heapify(ready)
    ordered: dict[Operation, Node] = {}
    while ready:
        _, operation = heapq.heappop(ready)
        ordered[operation] = nodes[operation]
        for consumer in consumers[operation]:
            waiting[consumer] -= 1
            if not waiting[consumer]:
                heapq.heappush(ready, (consumer._id, consumer))
    if len(ordered) < len(nodes):
        stuck = sorted(operation.name for operation in nodes if operation not in ordered)
        raise InvalidArgumentError(
            f"{len(stuck)} nodes in a cycle: {', '.join(stuck[:5])}{', ...' if len(stuck) > 5 else ''}",
            nodes=stuck,
        )
    draft.nodes = ordered
    _settle_control(draft)


def _settle_control(draft: Draft) -> None:
    """Marks nodes that a Switch may leave dead, and drops control edges without meaning.

    An edge means something where its source, or anything before it, is stateful, or may be dead.
    """
    matters: set[Operation] = set()
    for operation, node in draft.nodes.items():
        sources = draft.sources(node)
        # A ControlTrigger runs whatever its sources did: that is what it is for.
        node.may_be_dead = operation.type in ("Switch", "RefSwitch") or (
            operation.type != "ControlTrigger" and any(draft.nodes[source].may_be_dead for source in sources)
        )
        kind = operation.kind
        is_pure = kind is not None and kind.is_pure and node.loop is None
        if node.may_be_dead or not is_pure or any(source in matters for source in sources):
            matters.add(operation)
        control = [draft.owners.get(source, source) for source in node.control]
        node.control = [source for source in control if source in matters]
