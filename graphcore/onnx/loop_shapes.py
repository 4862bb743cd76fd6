"""Static shapes of what goes round in loops.

When it reads a graph, TensorFlow knows no shape of a loop's variable, since what comes back is not known yet.
Here a variable is taken to keep the shape that it enters with, and less is assumed where what comes back does
not have it, until all agrees: then it holds in each iteration, as it holds in the first. What is read from an
array has the shape of what the array was filled with.
"""

from __future__ import annotations

from .. import shape_inference
from ..graph import Graph
from ..operation import Operation
from ..shapes import Shape

_BACK = frozenset({"NextIteration", "RefNextIteration"})
_MERGE = frozenset({"Merge", "RefMerge"})
_HANDED_ON = frozenset({"Enter", "Identity", "Switch", "Merge"})
_PASSES = 10


def settle(graph: Graph) -> None:
    """Gives the Merges of all loops in a graph, and what follows, static shapes."""
    operations = list(graph._operations.values())
    merges = [
        operation
        for operation in operations
        if operation.type in _MERGE and any(tensor.op.type in _BACK for tensor in operation._inputs)
    ]
    if not merges:
        return
    guesses: dict[Operation, Shape] = {}
    for _ in range(_PASSES):
        if _agree(graph, operations, merges, guesses):
            return
    _reset(graph, operations)


def _agree(
    graph: Graph, operations: list[Operation], merges: list[Operation], guesses: dict[Operation, Shape]
) -> bool:
    """Infers all shapes from the guesses, and widens those that do not hold; whether all do."""
    _reset(graph, operations)
    try:
        for merge in merges:
            merge._shapes = [None, ()]  # whoever comes round here first finds it unknown
        for merge in merges:
            entering = next(tensor for tensor in merge._inputs if tensor.op.type not in _BACK)
            merge._shapes = [guesses.setdefault(merge, entering.static_shape), ()]
        for operation in operations:
            if operation.type == "TensorArrayReadV3":
                operation._shapes = [_element_shape(operation)]
        changed = False
        for merge in merges:
            for tensor in merge._inputs:
                source = tensor.op._inputs[0] if tensor.op.type in _BACK else tensor
                wider = _join(guesses[merge], source.static_shape)
                changed |= wider != guesses[merge]
                guesses[merge] = wider
    except ValueError:  # shapes that do not fit come of a guess that does not hold
        guesses.update(dict.fromkeys(merges))
        return False
    return not changed


def _element_shape(read: Operation) -> Shape:
    """The shape of an array's elements, where one tensor was spread over it before the loop."""
    source = read._inputs[2].op
    while source.type in _HANDED_ON:
        source = next(tensor.op for tensor in source._inputs if tensor.op.type not in _BACK)
    whole = source._inputs[2].static_shape if source.type == "TensorArrayScatterV3" else None
    return whole[1:] if whole else None


def _join(a: Shape, b: Shape) -> Shape:
    """What two shapes have in common."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b))


def _reset(graph: Graph, operations: list[Operation]) -> None:
    for operation in operations:
        operation._shapes = None
    graph._environment = shape_inference.Environment()  # it remembers values, which may follow from shapes
