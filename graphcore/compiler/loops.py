r"""While loops of TensorFlow 1 (Enter, Merge, Switch, NextIteration, Exit), each run as one step.

    Enter ---> Merge ---> Switch --false--> Exit
                 ^  \       ^  \
                 |   \      |   `--true--> body ---> NextIteration --.
                 |    `-> condition ---> LoopCond                    |
                 `---------------------------------------------------'

`contract` finds the outermost frames among the nodes of a draft and puts in the place of each a single
node that is keyed by the loop's LoopCond. Condition and body are compiled as plans of their own, fed
with what Enter, Merge and Switch would give; frames inside them are found there in turn.

Source: the semantics are those of tensorflow/core/common_runtime/executor.cc (r1.15).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...formats.errors import bullets
from ..errors import InvalidArgumentError, UnimplementedError
from ..operation import Operation, Tensor
from .draft import Draft, Node
from .plan import Plan

Compile = Callable[[Draft], Plan]
Path = tuple[str, ...]

_ENTER = frozenset({"Enter", "RefEnter"})
_EXIT = frozenset({"Exit", "RefExit"})
_NEXT = frozenset({"NextIteration", "RefNextIteration"})
_MERGE = frozenset({"Merge", "RefMerge"})
_SWITCH = frozenset({"Switch", "RefSwitch"})
LOOP_OPS = _ENTER | _EXIT | _NEXT | {"LoopCond"}


@dataclass
class Loop:
    """One loop, compiled.

    Attributes:
        enters: The Enter operations; their inputs are the loop's.
        starts: For each loop variable, which of `enters` gives its first value.
        condition: Gives the predicate.
        body: Gives the next values of the loop variables.
        results: For each Exit, which loop variable it gives; where `last` is there, which of its results.
        exits: The Exit operations.
        switched: Which loop variables the body reads, as it is fed them; None for all.
        last: What is between Switches and Exits, where anything is: it runs once, after the last iteration.
    """

    enters: list[Operation]
    starts: list[int]
    condition: Plan
    body: Plan
    results: list[int]
    exits: list[Operation]
    switched: list[int] | None
    last: Plan | None

    @property
    def plans(self) -> list[Plan]:
        """All plans of the loop."""
        return [self.condition, self.body, *([] if self.last is None else [self.last])]

    def run(self, context: Any, *entered: Any) -> list[Any]:
        """Runs the loop from the values that enter it; gives those that leave."""
        variables = [entered[index] for index in self.starts]
        condition, body = self.condition, self.body
        while True:
            # Feeds: what entered, then each variable as Merge gives it and as Switch gives it.
            read = variables if self.switched is None else [variables[index] for index in self.switched]
            feeds = (*entered, *variables, *read)
            if not condition.run_inner(context, feeds)[0]:
                values = variables if self.last is None else self.last.run_inner(context, feeds)
                return [values[index] for index in self.results]
            variables = body.run_inner(context, feeds)
            context.check_cancelled()


_REPEATING = _NEXT | {"LoopCond"}


def contract(draft: Draft, compile_inner: Compile) -> None:
    """Replaces the nodes of each outermost frame in `draft.nodes` by one node.

    Raises:
        InvalidArgumentError: A fetch or feed lies inside a loop.
        UnimplementedError: A frame is not the loop that TensorFlow's while_loop makes.
    """
    if not any(operation.type in LOOP_OPS for operation in draft.nodes):
        return
    paths = _Paths(draft)
    frames: dict[str, list[Operation]] = {}
    for operation in draft.nodes:
        path = paths.of(operation)
        if path:
            frames.setdefault(path[0], []).append(operation)
    inside = {operation for members in frames.values() for operation in members}
    _check_outside(draft, inside)
    for name, members in frames.items():
        if not any(operation.type in _REPEATING for operation in members):
            continue  # nothing repeats: Enter and Exit pass on what they get
        direct = [operation for operation in members if paths.of(operation) == (name,)]
        _contract(draft, name, members, direct, compile_inner)


class _Paths:
    """The frames that each operation lies in, outermost first."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.known: dict[Operation, Path] = {}

    def of(self, operation: Operation) -> Path:
        """The frame path of an operation, found without recursion."""
        stack = [operation]
        while stack:
            current = stack[-1]
            if current in self.known:
                stack.pop()
                continue
            sources = self._sources(current)
            waiting = [source for source in sources if source not in self.known]
            if waiting:
                stack.extend(waiting)
                continue
            around: Path = max((self._after(source) for source in sources), key=len, default=())
            if current.type in _ENTER:
                around = (*around, current.attr("frame_name").decode())
            self.known[current] = around
            stack.pop()
        return self.known[operation]

    def _after(self, source: Operation) -> Path:
        """The frame that the results of `source` are in."""
        path = self.known[source]
        return path[:-1] if source.type in _EXIT else path

    def _sources(self, operation: Operation) -> list[Operation]:
        node = self.draft.nodes[operation]
        found = [tensor.op for tensor in node.inputs if tensor not in self.draft.feeds] + node.control
        if operation.type in _MERGE:  # the back edge
            found = [source for source in found if source.type not in _NEXT]
        return found


def _check_outside(draft: Draft, inside: set[Operation]) -> None:
    wrong = [
        f"the fetch '{fetch.name}'"
        for fetch in draft.fetches
        if (fetch.op if isinstance(fetch, Tensor) else fetch) in inside
        and (fetch.op if isinstance(fetch, Tensor) else fetch).type not in _EXIT
        and fetch not in draft.feeds
    ]
    wrong += [f"the feed '{tensor.name}'" for tensor in draft.feeds if tensor.op in inside]
    if wrong:
        raise InvalidArgumentError(
            "Inside a while loop a tensor has a value in each iteration, so it is neither fetched nor fed; "
            f"take what leaves the loop (its Exit operations):{bullets(wrong)}"
        )


def _contract(
    draft: Draft, name: str, members: list[Operation], direct: list[Operation], compile_inner: Compile
) -> None:
    conditions = [operation for operation in direct if operation.type == "LoopCond"]
    if len(conditions) != 1:
        raise UnimplementedError(
            f"The frame '{name}' has {len(conditions)} LoopCond operations instead of one; it is not the "
            "loop that tf.while_loop makes.",
            frame=name,
        )
    (loop_cond,) = conditions
    enters = [operation for operation in direct if operation.type in _ENTER]
    merges = [
        operation
        for operation in direct
        if operation.type in _MERGE and any(tensor.op.type in _NEXT for tensor in operation._inputs)
    ]
    switches = _switches(direct, loop_cond)
    feeds = [enter.output(0) for enter in enters]
    feeds += [merge.output(0) for merge in merges]
    # A variable that only the condition reads may have lost its Switch.
    switched = [index for index, merge in enumerate(merges) if merge in switches]
    on = [switches[merges[index]].output(1) for index in switched]
    off = [switches[merges[index]].output(0) for index in switched]
    nexts = [_input_of_type(merge, _NEXT) for merge in merges]
    starts = [enters.index(_input_of_type(merge, _ENTER)) for merge in merges]
    exits = [operation for operation in direct if operation.type in _EXIT]
    within = {*members} - {*enters, *merges, *[tensor.op for tensor in on]}

    def inner(fetches: list[Tensor], sides: list[Tensor]) -> Plan:
        return _inner(draft, fetches, [*feeds, *sides], within, compile_inner)

    leaving = [operation._inputs[0] for operation in exits]
    given = dict(zip(off, switched))
    is_direct = all(tensor in given for tensor in leaving)
    loop = Loop(
        enters,
        starts,
        inner([loop_cond.output(0)], on),
        inner([operation.output(0) for operation in nexts], on),
        [given[tensor] for tensor in leaving] if is_direct else list(range(len(exits))),
        exits,
        None if len(switched) == len(merges) else switched,
        None if is_direct else inner(leaving, off),
    )
    inputs = [draft.nodes[enter].inputs[0] for enter in enters]
    own = set(members)
    control = [source for member in members for source in draft.nodes[member].control if source not in own]
    for member in members:
        del draft.nodes[member]
    draft.nodes[loop_cond] = Node(loop_cond, inputs, list(dict.fromkeys(control)), loop=loop)
    draft.owners.update(dict.fromkeys(exits, loop_cond))


def _input_of_type(operation: Operation, types: frozenset[str]) -> Operation:
    return next(tensor.op for tensor in operation._inputs if tensor.op.type in types)


def _switches(direct: list[Operation], loop_cond: Operation) -> dict[Operation, Operation]:
    """The Switch of each loop variable, by its Merge."""
    return {
        operation._inputs[0].op: operation
        for operation in direct
        if operation.type in _SWITCH and operation._inputs[1].op is loop_cond
    }


def _inner(
    outer: Draft,
    fetches: Sequence[Tensor],
    feeds: list[Tensor],
    within: set[Operation],
    compile_inner: Compile,
) -> Plan:
    """The plan of a condition or body; its feeds may carry references."""
    shapes = {tensor: tensor.static_shape for tensor in feeds}
    draft = Draft(
        outer.graph,
        list(fetches),
        shapes,
        outer.state,
        outer.options,
        feeds_may_be_refs=True,
        within=within,
    )
    return compile_inner(draft)
