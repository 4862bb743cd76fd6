"""While loops as Loop, conditionals of functions as If, calls in the caller's place.

TensorFlow                            ONNX
while c(v): v = b(v)                  Loop(cond = c(v0), v0): v = b(v); cond = c(v)
an array written at iteration i       a scan output of Loop
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..compiler.draft import Node as DraftNode
from ..operation import Operation
from .arrays import Array, Written, joined
from .blocks import Block, Builder, Inexpressible, Port
from .table import Call, translates
from .translate import Scope, prepare

Step = Callable[[Sequence[Any]], list[Any]]


def while_loop(scope: Scope, operation: Operation, node: DraftNode) -> None:
    """Translates a loop of TensorFlow 1, which the compiler has made one node of."""
    loop = node.loop
    entered = [scope.get(tensor) for tensor in node.inputs]
    draft = scope.draft
    # What enters and is not changed may be constant, and have a better shape than the graph knows.
    changing = set(loop.starts)
    known = [None if index in changing else draft.value(tensor) for index, tensor in enumerate(node.inputs)]
    prepared = {}
    for inner in loop.plans:
        feeds = list(inner.feeds)
        for index, tensor in enumerate(node.inputs):
            shape = draft.shape(tensor)
            if index not in changing and shape is not None:
                inner.feeds[feeds[index]] = shape
        prepared[id(inner)] = prepare(inner, known)
    where = f"{scope.where}{operation.name}/" if scope.where else ""

    def step(inner: Any) -> Step:
        def run(variables: Sequence[Any]) -> list[Any]:
            read = list(variables)
            if loop.switched is not None:
                read = [variables[index] for index in loop.switched]
            values = [*entered, *variables, *read]
            return scope.inner(inner, prepared[id(inner)], values, where)

        return run

    starts = [entered[index] for index in loop.starts]
    dtypes = [node.inputs[index].dtype.np for index in loop.starts]
    results = build_loop(scope.make, starts, dtypes, step(loop.condition), step(loop.body))
    if loop.last is not None:
        results = step(loop.last)(results)
    for leaving, index in zip(loop.exits, loop.results):
        scope.values[leaving.output(0)] = results[index]


def build_loop(
    make: Builder, starts: Sequence[Any], dtypes: Sequence[Any], condition: Step, body: Step
) -> list[Any]:
    """A Loop; gives the last values of its variables.

    Args:
        make: Makes the nodes.
        starts: The first values: names, and arrays of tensors, which are no variables in ONNX.
        dtypes: The dtypes of those that have names.
        condition: Makes the condition's nodes in the block in hand, from the names of the variables.
        body: Likewise the body's; gives the next values.

    Raises:
        Inexpressible: An array is written otherwise than once in each iteration, in order.
    """
    (first,) = condition(starts)
    carried = [index for index, value in enumerate(starts) if isinstance(value, str)]
    scanned: list[int] = []
    block = Block(inputs=[make.port(make.fresh(), np.int64, ()), make.port(make.fresh(), np.bool_, ())])
    variables = list(starts)
    for index in carried:
        variables[index] = make.fresh()
        block.inputs.append(make.port(variables[index], dtypes[index]))

    def fill() -> None:
        after = body(variables)
        shown = list(after)
        scans: list[Port] = []
        for index, value in enumerate(after):
            if isinstance(value, str):
                continue
            if value == variables[index]:
                continue  # handed on as it is
            if not isinstance(value, Written) or value.array != variables[index]:
                raise Inexpressible("it changes an array of tensors otherwise than by one write")
            _check_counts(make, starts, variables, after, value)
            shown[index] = variables[index]
            scans.append(Port(make.copied(value.value), value.array.dtype))
            scanned.append(index)
        (again,) = condition(shown)
        block.outputs.append(Port(make.copied(again), np.bool_, ()))
        block.outputs += [Port(make.copied(after[index]), dtypes[index]) for index in carried]
        block.outputs += scans

    make.inside(block, fill)
    given = ["", first, *[starts[index] for index in carried]]
    names = make.emit_many("Loop", given, len(carried) + len(scanned), body=block)
    results = list(starts)
    for index, name in zip(carried, names):
        results[index] = name
        make.dtypes[name] = np.dtype(dtypes[index]).name
    for index, name in zip(scanned, names[len(carried) :]):
        make.dtypes[name] = np.dtype(starts[index].dtype).name
        contents = joined(make, starts[index], name)
        results[index] = Array(contents, starts[index].size, starts[index].dtype)
    return results


def _check_counts(
    make: Builder, starts: Sequence[Any], variables: Sequence[Any], after: Sequence[Any], written: Written
) -> None:
    """Refuses an index that does not go on from what is written, by one in each iteration."""
    if written.index in variables:
        index = list(variables).index(written.index)
        start = make.constants.get(starts[index])
        node = make.producers.get(after[index])
        if start is not None and int(start.reshape(())) == len(written.array.first) and node is not None:
            steps = [make.constants.get(name) for name in node.inputs if name != written.index]
            if node.op == "Add" and len(steps) == 1 and steps[0] is not None and (steps[0] == 1).all():
                return
    raise Inexpressible("it writes elements in another order than that of the iterations", written.by)


def _arguments(call: Call, first: int) -> tuple[list[Any], list[Any], list[Any]]:
    """Names, shapes and constant values of the inputs from `first` on."""
    where = range(first, len(call.inputs))
    return [call.given(i) for i in where], [call.shape(i) for i in where], [call.value(i) for i in where]


@translates("PartitionedCall", "StatefulPartitionedCall")
def _call(call: Call) -> list[Any]:
    return call.scope.call(call.op.attr("f"), *_arguments(call, 0))


@translates("If", "StatelessIf")
def _if(call: Call) -> list[Any]:
    value = call.value(0)
    if value is not None:
        taken = value.item() if not value.ndim else value.size
        return call.scope.call(call.op.attr("then_branch" if taken else "else_branch"), *_arguments(call, 1))
    return _choose(call, _truth(call), call.op.attr("then_branch"), lambda: _else(call, "else_branch"))


def _else(call: Call, name: str) -> list[Any]:
    return call.scope.call(call.op.attr(name), *_arguments(call, 1))


def _truth(call: Call) -> str:
    if call.rank(0) or call.dtype(0).kind == "O":
        raise Inexpressible("its condition is no number")
    if call.dtype(0) == np.bool_:
        return call[0]
    return call.make.cast(call[0], np.bool_)


def _choose(call: Call, condition: str, function: Any, otherwise: Callable[[], list[Any]]) -> list[Any]:
    """An If between a function and what `otherwise` makes."""
    blocks = []
    for fill in (lambda: call.scope.call(function, *_arguments(call, 1)), otherwise):
        block = Block()

        def ports(fill: Callable[[], list[Any]] = fill, block: Block = block) -> None:
            for index, value in enumerate(fill()):
                if not isinstance(value, str):
                    raise Inexpressible("a branch gives an array of tensors")
                block.outputs.append(Port(call.make.copied(value), call.out_dtype(index)))

        call.make.inside(block, ports)
        blocks.append(block)
    count = call.op.num_outputs
    names = call.make.emit_many("If", [condition], count, then_branch=blocks[0], else_branch=blocks[1])
    for index, name in enumerate(names):
        call.make.dtypes[name] = call.out_dtype(index).name
    return list(names)


@translates("Case", "StatelessCase")
def _case(call: Call) -> list[Any]:
    functions = call.op.attr("branches")
    index = call.ints(0)

    def from_(number: int) -> list[Any]:
        if number == len(functions) - 1:
            return call.scope.call(functions[number], *_arguments(call, 1))
        condition = call.emit("Equal", index, call.const(np.int64(number)))
        return _choose(call, condition, functions[number], lambda: from_(number + 1))

    return from_(0)


@translates("While", "StatelessWhile")
def _while(call: Call) -> list[Any]:
    names = [call.given(index) for index in range(len(call.inputs))]
    declared = [call.result_shape(index) for index in range(len(names))]

    def step(name: str) -> Step:
        def run(variables: Sequence[Any]) -> list[Any]:
            return call.scope.call(call.op.attr(name), variables, declared, [None] * len(names))

        return run

    dtypes = [call.inputs[index].dtype.np for index in range(len(names))]
    return build_loop(call.make, names, dtypes, step("cond"), step("body"))
