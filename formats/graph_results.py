"""Which tensors of a graph are its results, where the file does not say: a guess from the edges alone.

The rule. *Sources* are placeholders and what iterators, queues and readers give; data depends on a source
along data edges, but not through Shape, Size or Rank. A *label* is a source that meets results only: no
operation that depends on it reads a variable itself (in a graph without variables there are no labels). A
consumer does not count

- if it observes or trains: gradients, savers, summaries, asserts, prints, assignments, optimizers;
- if it depends on a label and the tensor does not: that is a loss or a metric;
- if it only decides or looks up at the end: `prob > 0.5`, ArgMax, TopK, a table's Find.

A tensor without a consumer that counts is a candidate, unless it depends on nothing that is fed or trained
(initial values, shapes), is a condition of an assert, or the new value of a moving average. What lies
between it and a loss under a default name (Transpose, Reshape, Cast), or in the name scope of the loss, is
left out in favour of what comes before. The order: results before those that depend on labels (losses and
metrics) before those that read no variable although others do; among each, names that somebody chose before
defaults such as `Mean_1`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

Described = list[tuple[str, str, list[str], Any]]

RESULT, LOSS, OTHER = "result", "loss", "other"
PLACEHOLDER_OPS = frozenset(("Placeholder", "PlaceholderV2", "PlaceholderWithDefault"))
_SOURCE = re.compile(
    r"Placeholder(V2|WithDefault)?|IteratorGetNext(Sync)?|OneShotIterator|Queue(Dequeue\w*)|"
    r"ReaderRead\w*|Unstage|_Retval|_Arg|RecvTPUEmbeddingActivations"
)
# Ops that end a graph without being a result: sources, writes, and those without outputs.
_NO_RESULT = re.compile(
    r"Const|Placeholder\w*|Variable(V2)?|VarHandleOp|AutoReloadVariable|HashTable\w*|MutableHashTable\w*|NoOp|Assert|"
    r"Abort|ControlTrigger|IsVariableInitialized|VarIsInitializedOp|Assign\w*|Apply\w+|SparseApply\w+|Resource\w+|"
    r"Scatter(Nd)?(Update|Add|Sub|Mul|Div|Min|Max)|\w*Enqueue\w*|Queue\w+|\w*QueueV?2?|InitializeTable\w*|"
    r"LookupTable(Insert|Import|Remove|Export|Size)\w*|\w*Summary(V2)?|Write\w+|\w*SummaryWriter|Print(V2)?|"
    r"DestroyResourceOp|MakeIterator|\w*IteratorV?2?|_Send|Stack\w*Close\w*|TensorArrayClose\w*|(Ref)?(Exit|Switch)|"
    r"IteratorGetNext\w*|ReaderRead\w*|\w*Reader(V2)?|\w*Dataset(V\d)?|Unstage|TensorArray(V\d)?|"
    r"TensorListReserve|EmptyTensorList|Stage|Barrier\w*"
)
_WRITE = re.compile(
    r"Assign\w*|(Resource)?(Sparse)?Apply[A-Z]\w*|(Resource)?Scatter(Nd)?(Update|Add|Sub|Mul|Div|Min|Max)|"
    r"\w*Enqueue\w*|Assert|PrintV2|LookupTable(Insert|Import)\w*|InitializeTable\w*|Write\w+|Stage"
)
_SUMMARY = re.compile(r"\w*Summary(V2)?")
_SHAPE = frozenset(("Shape", "ShapeN", "Size", "Rank", "ZerosLike", "OnesLike", "NoOp", "Const"))
_DECISION = re.compile(
    r"ArgM(ax|in)|Greater(Equal)?|Less(Equal)?|(Not)?Equal|Round|Sign|All|Any|Logical(And|Or|Not)|TopK(V2)?|InTopK(V2)?|LookupTableFind\w*|Print"
)
_PLUMBING = frozenset(
    ("Cast", "Identity", "Squeeze", "ExpandDims", "Reshape", "Transpose", "StopGradient", "AsString", "Print")
)
_BRIDGE = _PLUMBING | frozenset(
    ("Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "Neg", "Pow", "Square", "Maximum", "Minimum", "Floor")
)
_REDUCTION = frozenset(("Sum", "Mean", "Max", "Min", "Prod", "L2Loss"))
_OBSERVING_NAME = re.compile(
    r"(^|/)(assert_\w+|Assert(Guard)?(_\d+)?|zero_fraction(_\d+)?|AssignMovingAvg(_\d+)?|"
    r"save(_\d+)?)/"
)
_FRACTION_NAME = re.compile(r"(^|/)zero_fraction(_\d+)?/")
_AVERAGE_NAME = re.compile(r"(^|/)AssignMovingAvg(_\d+)?/")
_INNER_NAME = re.compile(r"(^|/)moments(_\d+)?/")
_PASSES_VARIABLE = frozenset(("Identity", "ReadVariableOp", "Enter", "RefEnter", "Switch", "RefSwitch"))
_DEFAULT_NAME = re.compile(
    r"add|sub|mul|div|truediv|floordiv|neg|pow|abs|stack|concat|strided_slice|split|ones|zeros|range|transpose|"
    r"to(float|double|int32|int64)|eq|not_equal|less|greater"
)
_NUMBER = re.compile(r"_\d+$")
_MERGES = ("Merge", "RefMerge")
_CONTROL_FLOW = frozenset(("If", "StatelessIf", "While", "StatelessWhile", "Case", "StatelessCase"))
_HOPS = 8
"""Operations between a tensor and a loss that are followed."""
_SWEEPS = 4
"""Passes over the nodes, which are in order but for the back edges of loops."""


@dataclass(slots=True)
class Results:
    """What was found.

    Attributes:
        tensors: (NodeDef, output index or None for all outputs, role), the likeliest first.
        labels: Names of the placeholders that only results are compared with.
        inner: (NodeDef, output index) of what results need of iterators, queues and readers: it can be fed.
    """

    tensors: list[tuple[Any, int | None, str]] = field(default_factory=list)
    labels: set[str] = field(default_factory=set)
    inner: list[tuple[Any, int]] = field(default_factory=list)


@lru_cache(4096)  # of the few ops that the many nodes of a graph have
def _is(kind: re.Pattern[str], op: str) -> bool:
    return kind.fullmatch(op) is not None


def is_no_result(op: str) -> bool:
    """Whether an op only gives, writes or ends something."""
    return _is(_NO_RESULT, op)


def find_results(described: Described, auxiliary: set[str], variables: Mapping[str, Any]) -> Results:
    """The likely results of a graph, as the module says.

    Args:
        described: (name, op, inputs, NodeDef) of each node.
        auxiliary: Nodes that are no part of the model: of savers, summaries, gradients, initializers.
        variables: The nodes that are variables, by name.
    """
    return _Search(described, auxiliary, variables).results()


class _Search:
    """The graph by node number, with what each node depends on."""

    def __init__(self, described: Described, auxiliary: set[str], variables: Mapping[str, Any]) -> None:
        self.described = described
        numbers = {name: number for number, (name, _, _, _) in enumerate(described)}
        self.inputs: list[list[tuple[int, int]]] = []  # (node, output) of each data input
        self.consumers: list[list[tuple[int, int, int]]] = [[] for _ in described]  # (node, output, position)
        for number, (_, _, inputs, _) in enumerate(described):
            own: list[tuple[int, int]] = []
            for one in inputs:
                if one[:1] == "^":
                    break
                name, colon, output = one.partition(":")
                source = numbers.get(name)
                if source is not None:
                    index = int(output) if colon and output.isdigit() else 0
                    self.consumers[source].append((number, index, len(own)))
                    own.append((source, index))
            self.inputs.append(own)
        self.auxiliary = [
            name in auxiliary or bool(_OBSERVING_NAME.search(name)) for name, _, _, _ in described
        ]
        self.summaries = [_is(_SUMMARY, op) for _, op, _, _ in described]
        self.writes = [_is(_WRITE, op) for _, op, _, _ in described]
        self.order = self._sorted()
        for number in self.order:
            op = described[number][1]
            if op in _MERGES or op == "Identity":
                self.writes[number] = any(self.writes[source] for source, _ in self.inputs[number])
        self.reads = [False] * len(described)  # a variable, or its value passed on
        for number in self.order:
            name, op, _, _ = described[number]
            self.reads[number] = name in variables or (
                op in _PASSES_VARIABLE and bool(self.inputs[number]) and self.reads[self.inputs[number][0][0]]
            )
        self._final: dict[tuple[int, int | None], bool] = {}
        self._level = 0
        self.bit_of: dict[tuple[int, int], int] = {}
        self._depend()

    def _sorted(self) -> Sequence[int]:
        """The nodes in an order in which each comes after its inputs, but for the back edges of loops."""
        is_back = [op in ("NextIteration", "RefNextIteration") for _, op, _, _ in self.described]
        every = range(len(self.described))
        if not any(at > number and not is_back[at] for number in every for at, _ in self.inputs[number]):
            return every
        waiting = [sum(not is_back[at] for at, _ in own) for own in self.inputs]
        order = [number for number in every if not waiting[number]]
        for number in order:  # grows
            for consumer, _, _ in self.consumers[number] if not is_back[number] else ():
                waiting[consumer] -= 1
                if not waiting[consumer]:
                    order.append(consumer)
        return order + [number for number in every if waiting[number]]  # what is left are cycles

    # ---- what depends on what ------------------------------------------------------------------

    def _depend(self) -> None:
        """For each node the sources it depends on, as bits; bit 0 are the variables."""
        bit_of = self.bit_of
        is_source = [_is(_SOURCE, op) for _, op, _, _ in self.described]
        for number, source in enumerate(is_source):
            if source:
                for output in {output for _, output, _ in self.consumers[number]} or {0}:
                    bit_of[number, output] = 1 << (len(bit_of) + 1)
        self.deps = deps = [0] * len(self.described)
        for number, source in enumerate(is_source):
            if source:
                for output in {output for _, output, _ in self.consumers[number]}:
                    deps[number] |= bit_of[number, output]
            elif self.reads[number]:
                deps[number] = 1
        rest = [
            number
            for number in self.order
            if not is_source[number] and self.described[number][1] not in _SHAPE and self.inputs[number]
        ]
        for _ in range(_SWEEPS):
            changed = False
            for number in rest:
                bits = deps[number]
                for at, output in self.inputs[number]:
                    bits |= bit_of[at, output] if is_source[at] else deps[at]
                if bits != deps[number]:
                    deps[number] = bits
                    changed = True
            if not changed:
                break
        self._find_labels(bit_of)

    def _find_labels(self, bit_of: Mapping[tuple[int, int], int]) -> None:
        learned = 0
        used = 0
        for number, (_, op, _, _) in enumerate(self.described):
            if self.auxiliary[number] or self.writes[number] or op in _SHAPE or _is(_SOURCE, op):
                continue
            used |= self.deps[number]
            if not self.reads[number] and any(self.reads[source] for source, _ in self.inputs[number]):
                consumers = self.consumers[number]
                if not consumers or not all(self.writes[one] for one, _, _ in consumers):
                    learned |= self.deps[number]
        every = sum(bit_of.values())
        self.labels = used & every & ~learned if learned & every else 0
        self._find_loss_scopes()
        self.label_names = {
            self.described[number][0] for (number, _), bit in bit_of.items() if bit & self.labels
        }

    def _find_loss_scopes(self) -> None:
        """Name scopes in which results meet labels and no variable is read: what is in them is the loss."""
        self.in_loss = [False] * len(self.described)
        if not self.labels:
            return
        meeting: set[str] = set()
        reading: set[str] = set()
        for number, (name, _, _, _) in enumerate(self.described):
            if self.auxiliary[number]:
                continue
            sources = [source for source, _ in self.inputs[number]]
            scope = name.rpartition("/")[0]
            if any(self.reads[source] for source in sources):
                while scope and scope not in reading:
                    reading.add(scope)
                    scope = scope.rpartition("/")[0]
            elif self.deps[number] & self.labels and any(
                self.deps[one] & 1 and not self.deps[one] & self.labels for one in sources
            ):
                meeting.add(scope)
        prefixes = tuple(f"{scope}/" for scope in meeting - reading - {""})
        if prefixes:
            self.in_loss = [name.startswith(prefixes) for name, _, _, _ in self.described]

    # ---- which tensors nothing that counts consumes ----------------------------------------------

    def _counts(self, consumer: int, node: int) -> bool:
        op = self.described[consumer][1]
        if self.auxiliary[consumer] or self.writes[consumer] or op in _SHAPE:
            return False
        if self.deps[consumer] & self.labels and not self.deps[node] & self.labels:
            return False
        if self.in_loss[consumer] and not self.in_loss[node]:
            return False
        if op in _REDUCTION and self._is_for_summary(consumer):
            return False
        if self.labels and self._is_bridge(consumer) and self._meets_label(consumer):
            return not self._is_final(consumer)
        return not (_is(_DECISION, op) and self._decides(consumer))

    def _is_for_summary(self, number: int) -> bool:
        """Whether only summaries consume it, and no label is behind it."""
        consumers = self.consumers[number]
        to_label = self.deps[number] & self.labels
        return not to_label and bool(consumers) and all(self.summaries[one] for one, _, _ in consumers)

    def _is_bridge(self, number: int) -> bool:
        """Whether it passes on one tensor, perhaps with a constant, under a name that nobody chose."""
        name, op, _, _ = self.described[number]
        if op not in _BRIDGE or not _is_default_name(name, op):
            return False
        return len({source for source, _ in self.inputs[number] if self.deps[source]}) == 1

    def _meets_label(self, number: int) -> bool:
        """Whether a label comes in where it is consumed, at once or after other bridges."""
        if not self.labels or self.deps[number] & self.labels:
            return False
        reached = {number}
        for _ in range(_HOPS):
            consumers = {c for one in reached for c, _, _ in self.consumers[one] if not self.auxiliary[c]}
            if any(self.deps[one] & self.labels for one in consumers):
                return True
            reached = {one for one in consumers if self._is_bridge(one)}
        return False

    def _decides(self, node: int) -> bool:
        """Whether a decision is the end, but for what only passes it on."""
        if self._level > _HOPS:
            return False
        self._level += 1
        ends = all(
            not self._counts(one, node)
            or (
                (self.described[one][1] in _PLUMBING or _is(_DECISION, self.described[one][1]))
                and self._is_final(one)
            )
            for one, _, _ in self.consumers[node]
        )
        self._level -= 1
        return ends

    def _is_final(self, node: int, output: int | None = None) -> bool:
        """Whether no consumer of a node, or of one of its outputs, counts."""
        key = (node, output)
        if key not in self._final:
            if self._level > _HOPS:
                return False
            self._final[key] = False  # while it is found out: a loop is no end
            self._level += 1
            self._final[key] = not any(
                self._counts(consumer, node)
                for consumer, at, _ in self.consumers[node]
                if output is None or at == output
            )
            self._level -= 1
        return self._final[key]

    def _is_candidate(self, number: int) -> bool:
        name, op, _, _ = self.described[number]
        if self.auxiliary[number] or self.reads[number] or op in _SHAPE or is_no_result(op):
            return False
        if self.writes[number] or _INNER_NAME.search(name):
            return False
        if self.in_loss[number] and not self.deps[number] & self.labels:
            return False
        consumers = self.consumers[number]
        is_named_loss = bool(self.deps[number] & self.labels) and not _is_default_name(name, op)
        if not is_named_loss and any(not output and self._is_written(c, at) for c, output, at in consumers):
            return False
        if op in _REDUCTION and self._is_for_summary(number):
            return False
        averaged = [_AVERAGE_NAME.search(self.described[c][0]) for c, output, _ in consumers if not output]
        if averaged and all(averaged) and _is_default_name(name, op):
            return False  # the statistics of a batch
        return not (op == "Identity" and self._is_left_over(name, number))

    def _is_written(self, writer: int, position: int) -> bool:
        """Whether a consumer updates a variable (not its initial value), or asserts that it is so."""
        name, op, _, _ = self.described[writer]
        if op == "Assert":
            return position == 0
        if not self.writes[writer] or not self.inputs[writer]:
            return False
        target = self.described[self.inputs[writer][0][0]][0]
        return op.startswith("Assign") and name != f"{target}/Assign"

    def _is_left_over(self, name: str, number: int) -> bool:
        """Whether it is one of the identities beside a functional If or While whose others are used."""
        if not self.inputs[number]:
            return False
        source = self.inputs[number][0][0]
        owner, op, _, _ = self.described[source]
        if op not in _CONTROL_FLOW or not name.startswith(f"{owner}/Identity"):
            return False
        siblings = [c for c, _, _ in self.consumers[source] if c != number]
        return any(self.consumers[one] or not self.described[one][0].startswith(owner) for one in siblings)

    # ---- the answer --------------------------------------------------------------------------------

    def results(self) -> Results:
        found: dict[tuple[int, int | None], None] = {}
        for number in range(len(self.described)):
            if not self._is_candidate(number):
                continue
            if self.described[number][1] in _MERGES:  # which of its inputs came is no result
                if self._is_final(number, 0):
                    found[number, 0] = None
                continue
            watched = any(output and self.auxiliary[c] for c, output, _ in self.consumers[number])
            if self._is_final(number) and not watched:
                found[self._before_loss(number)] = None
            elif (
                self.described[number][1] not in _CONTROL_FLOW
                and any(output for _, output, _ in self.consumers[number])
                and self._is_final(number, 0)
            ):
                found[number, 0] = None  # of an op with several outputs the first
        useful = [key for key in found if self._is_fed(key[0])] or self._bare_ends() or list(found)
        learned = any(self.deps[number] & 1 and self.deps[number] >> 1 for number, _ in useful)
        roles = {key: self._role(key[0], learned) for key in useful}
        ranks = {RESULT: 0, LOSS: 1, OTHER: 2}
        useful.sort(key=lambda key: (ranks[roles[key]], _is_default_name(*self.described[key[0]][:2])))
        needed = 0
        for key in useful:
            needed |= self.deps[key[0]] if roles[key] != OTHER else 0
        inner = [
            (self.described[number][3], output)
            for (number, output), bit in self.bit_of.items()
            if bit & needed and self.described[number][1] not in PLACEHOLDER_OPS
        ]
        return Results(
            [(self.described[number][3], output, roles[number, output]) for number, output in useful],
            self.label_names,
            inner,
        )

    def _is_fed(self, number: int) -> bool:
        """Whether it depends on what is fed or trained, or waits for something."""
        return bool(self.deps[number]) or any(one[:1] == "^" for one in self.described[number][2])

    def _bare_ends(self) -> list[tuple[int, int | None]]:
        """In a graph that is fed and trained nothing: what nothing consumes, whatever it is called."""
        return [
            (number, 0 if op in _MERGES else None)
            for number, (name, op, _, _) in enumerate(self.described)
            if not self.consumers[number]
            and not (self.reads[number] or is_no_result(op))
            and (not self.auxiliary[number] or _FRACTION_NAME.search(name))
        ]

    def _role(self, number: int, learned: bool) -> str:
        bits = self.deps[number]
        if bits & self.labels:  # what only prepares labels is no loss
            return LOSS if bits & ~self.labels else OTHER
        return RESULT if bits >> 1 and (bits & 1 or not learned) else OTHER

    def _before_loss(self, number: int) -> tuple[int, int | None]:
        """The tensor itself, or what it passes on to a loss under a default name."""
        at: tuple[int, int | None] = (number, None)
        if not self._meets_label(number):
            return at
        for _ in range(_HOPS):
            if not self._is_bridge(at[0]):
                break
            source, output = next(pair for pair in self.inputs[at[0]] if self.deps[pair[0]])
            if not self._is_candidate(source):
                break
            at = (source, output)
        return at


def _is_default_name(name: str, op: str) -> bool:
    """Whether a name is what TensorFlow gives where the program gives none."""
    last = _NUMBER.sub("", name.rpartition("/")[2]).lower()
    kind = op.lower()
    return bool(_DEFAULT_NAME.fullmatch(last)) or last in (kind, kind.rstrip("0123456789").removesuffix("v"))
