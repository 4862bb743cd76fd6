"""Calls of functions in the graph's library: conditionals, loops and calls of TensorFlow 2's making.

Gradients: a call's is SymbolicGradient, as in TensorFlow 1.15. A conditional's is a conditional of such
gradients. A loop is made to keep the values of each iteration in lists, which a second loop takes back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import protos
from ..convert import constant
from ..default import get_default_graph
from ..dtypes import ANY, DType, as_dtype, bool_ as bool_dtype, float32, int32, variant
from ..errors import InvalidArgumentError, UnimplementedError
from ..function_defs import FunctionWriter, unique_function_name
from ..op import op, raw_ops
from ..shapes import Shape

_CALL = ("Tin: list(type) >= 0", "Tout: list(type) >= 0", "f: func")
_CALL_OPTIONS = ("config: string = ''", "config_proto: string = ''", "executor_type: string = ''")
_IF = (
    "Tin: list(type) >= 0",
    "Tout: list(type) >= 0",
    "then_branch: func",
    "else_branch: func",
    "output_shapes: list(shape) = []",
)
_CASE = (
    "Tin: list(type) >= 0",
    "Tout: list(type) >= 0",
    "branches: list(func) >= 1",
    "output_shapes: list(shape) = []",
)
_WHILE = (
    "T: list(type) >= 0",
    "cond: func",
    "body: func",
    "output_shapes: list(shape) = []",
    "parallel_iterations: int = 10",
)


def _partitioned_call(ctx: Any, args: Any, *, f: Any, node: Any) -> Any:
    """The results of a function of the graph."""
    return ctx.call(f, args, node.name)


def _if(ctx: Any, cond: Any, input: Any, *, then_branch: Any, else_branch: Any, node: Any) -> Any:
    """One of two functions of the graph, by a condition."""
    return ctx.call(then_branch if _is_true(cond) else else_branch, input, node.name)


def _case(ctx: Any, branch_index: Any, input: Any, *, branches: Any, node: Any) -> Any:
    """The function of that number; the last one for every other number."""
    index = int(branch_index)
    return ctx.call(branches[index if 0 <= index < len(branches) else -1], input, node.name)


def _while(ctx: Any, input: Any, *, cond: Any, body: Any, node: Any) -> Any:
    """A function of the graph again and again, while another says so."""
    values = list(input)
    while _is_true(ctx.call(cond, values, node.name)[0]):
        values = ctx.call(body, values, node.name)
        ctx.check_cancelled()
    return values


def _is_true(value: Any) -> bool:
    """What If and While take for true: a scalar other than zero, a string or tensor that is not empty."""
    array = np.asarray(value)
    if array.ndim:
        return array.size > 0
    return bool(array.item())


def _declared(node: Any) -> list[Shape]:
    """The shapes that the node's makers wrote down."""
    operation = node.node
    count = operation.num_outputs
    for name in ("output_shapes", "_output_shapes"):
        shapes = operation.attr(name) if operation.has_attr(name) else ()
        if len(shapes) == count:
            return [shape.as_tuple() for shape in shapes]
    return [None] * count


_calls, _ifs, _cases, _whiles = [], [], [], []
for _stateful, _prefix in ((True, "Stateful"), (False, "")):
    _calls.append(
        op(
            f"{_prefix}PartitionedCall",
            "args: Tin -> output: Tout",
            *_CALL,
            *_CALL_OPTIONS,
            stateful=_stateful,
            ctx=True,
        )(_partitioned_call)
    )
for _stateful, _prefix in ((True, ""), (False, "Stateless")):
    _ifs.append(
        op(
            f"{_prefix}If",
            "cond: Tcond, input: Tin -> output: Tout",
            *_IF,
            Tcond=ANY,
            stateful=_stateful,
            ctx=True,
        )(_if)
    )
    _cases.append(
        op(
            f"{_prefix}Case",
            "branch_index: int32, input: Tin -> output: Tout",
            *_CASE,
            stateful=_stateful,
            ctx=True,
        )(_case)
    )
    _whiles.append(
        op(f"{_prefix}While", "input: T -> output: T", *_WHILE, stateful=_stateful, ctx=True)(_while)
    )
for _each in (*_calls, *_ifs, *_cases, *_whiles):
    _each.shape(_declared)


@op(
    "For",
    "start: int32, limit: int32, delta: int32, input: T -> output: T",
    "T: list(type) >= 0",
    "body: func",
    ctx=True,
    undefined_grad="TensorFlow registers none",
)
def for_op(ctx: Any, start: Any, limit: Any, delta: Any, input: Any, *, body: Any, node: Any) -> Any:
    """body(i, *values) for each i of the range."""
    if delta == 0:
        raise InvalidArgumentError("delta cannot be zero")
    values = list(input)
    for index in range(int(start), int(limit), int(delta)):
        values = ctx.call(body, [np.array(index, np.int32), *values], node.name)
        ctx.check_cancelled()
    return values


@op(
    "RemoteCall",
    "target: string, args: Tin -> output: Tout",
    "Tin: list(type) >= 1",
    "Tout: list(type) >= 1",
    "f: func",
    stateful=True,
    undefined_grad="TensorFlow registers none",
)
def remote_call(ctx: Any, target: Any, args: Any, *, f: Any, node: Any) -> Any:
    """A call on a device; there is one here."""
    return ctx.call(f, args, node.name)


for_op.shape(lambda node: [None] * node.num_outputs)
remote_call.shape(lambda node: [None] * node.num_outputs)


@op(
    "SymbolicGradient",
    "input: Tin -> output: Tout",
    "Tin: list(type) >= 1",
    "Tout: list(type) >= 1",
    "f: func",
    ctx=True,
    undefined_grad="TensorFlow registers none",
)
def symbolic_gradient(ctx: Any, input: Any, *, f: Any, node: Any) -> Any:
    """The gradients of a function's arguments, from these and the gradients of its results."""
    return ctx.call_gradient(f, input, node.name)


@symbolic_gradient.shape
def _(node: Any) -> list[Shape]:
    types = node.node.attr("Tin")
    return [None if types[i].name == "resource" else node.shape(i) for i in range(node.num_outputs)]


@op("FakeParam", "-> output: dtype", "shape: shape", dtype=ANY, no_grad="it has no inputs")
def fake_param(*, dtype: Any, shape: Shape) -> Any:
    """What a branch of a conditional gives for a value that only the other branch has."""
    sizes = [dim or 0 for dim in shape or ()]
    return np.full(sizes, b"", object) if np.dtype(dtype).hasobject else np.zeros(sizes, dtype)


fake_param.shape(lambda node: node.attr("shape"))


# Gradients


def _gradient_dtype(dtype: DType) -> DType:
    """The dtype of a gradient: that of the value; a variable's, behind a handle, is taken for float32."""
    return float32 if dtype.name == "resource" else dtype.base_dtype


def _with_zeros(node: Any, grads: Any) -> list[Any]:
    """The gradients of all outputs; zeros where there is none."""
    return [
        grad if grad is not None else raw_ops.ZerosLike(output) for output, grad in zip(node.outputs, grads)
    ]


def _call_gradient(node: Any, *grads: Any) -> Any:
    call = protos.NameAttrList()
    call.CopyFrom(node.attr("f") if node.type.endswith("PartitionedCall") else node.as_call())
    dtypes = [_gradient_dtype(tensor.dtype) for tensor in node.inputs]
    return raw_ops.SymbolicGradient([*node.inputs, *_with_zeros(node, grads)], Tout=dtypes, f=call)


for _each in _calls:
    _each.grad(_call_gradient)


def _is_trainable(dtype: DType) -> bool:
    base = dtype.base_dtype
    return base.is_floating or base.is_complex or base.name in ("resource", "variant")


def _branch_gradient(node: Any, *grads: Any) -> Any:
    """A conditional of the gradients of its branches."""
    graph = get_default_graph()
    first, *inputs = node.inputs
    grads = tuple(_with_zeros(node, grads))
    wanted = [index for index, tensor in enumerate(inputs) if _is_trainable(tensor.dtype)]
    if not wanted:
        return [None] * len(node.inputs)
    given = [tensor.dtype.base_dtype for tensor in (*inputs, *grads)]
    dtypes = [_gradient_dtype(tensor.dtype) for tensor in inputs]
    is_case = "Case" in node.type
    branches = node.attr("branches") if is_case else [node.attr("then_branch"), node.attr("else_branch")]
    made = []
    for branch in branches:
        writer = FunctionWriter(unique_function_name(graph._functions, f"{branch.name}_grad"))
        outputs = writer.node("SymbolicGradient", writer.args(given), Tin=given, Tout=dtypes, f=branch)
        made.append(
            writer.finish([outputs[i] for i in wanted], [dtypes[i] for i in wanted], graph._functions)
        )
    options = {"Tout": [dtypes[index] for index in wanted]}
    kind = getattr(raw_ops, node.type)
    if is_case:
        results = kind(first, [*inputs, *grads], branches=made, **options)
    else:
        results = kind(first, [*inputs, *grads], then_branch=made[0], else_branch=made[1], **options)
    found = dict(zip(wanted, results))
    return [None, *[found.get(index) for index in range(len(inputs))]]


for _each in (*_ifs, *_cases):
    _each.grad(_branch_gradient)


class _LoopFacts:
    """What the gradient of a loop needs to know of its body.

    Attributes:
        body: The NameAttrList of the body as it was.
        is_extended: Whether the loop keeps its history already.
        dtypes: The loop variables' dtypes.
        invariant: For each loop variable, whether the body gives it back as it was.
        kept: Numbers of the variables whose values of each iteration are kept.
        trainable: Numbers of those that have derivatives.
    """

    def __init__(self, node: Any, library: Any) -> None:
        self.body = node.attr("body")
        body = library[self.body.name]
        inner = [each for each in body.node_def if each.op.endswith("PartitionedCall")]
        self.is_extended = len(inner) == 1 and body.signature.name.startswith(
            f"{inner[0].attr['f'].func.name}_kept_"
        )
        if self.is_extended:  # gradients were asked for before
            self.body = inner[0].attr["f"].func
            body = library[self.body.name]
        arguments = [arg.name for arg in body.signature.input_arg]
        returned = [body.ret[arg.name] for arg in body.signature.output_arg]
        self.dtypes = [tensor.dtype.base_dtype for tensor in node.inputs[: len(arguments)]]
        self.invariant = [_is_argument(body, ret, arg) for ret, arg in zip(returned, arguments)]
        for dtype, invariant, name in zip(self.dtypes, self.invariant, arguments):
            if dtype.name == "resource" and not invariant:
                raise UnimplementedError(
                    f"The body {body.signature.name} of the loop '{node.name}' changes its resource argument "
                    f"'{name}'; the gradient of such a loop is not implemented."
                )
        self.kept = [index for index, invariant in enumerate(self.invariant) if not invariant]
        self.trainable = [index for index, dtype in enumerate(self.dtypes) if _is_trainable(dtype)]


def _is_argument(body: Any, result: str, argument: str) -> bool:
    """Whether what a function returns is one of its arguments, perhaps behind Identities."""
    nodes = {node.name: node for node in body.node_def}
    while result != argument:
        node = nodes.get(result.partition(":")[0])
        if node is None or node.op != "Identity":
            return False
        result = node.input[0]
    return True


def _keep_history(node: Any, facts: _LoopFacts) -> tuple[Any, list[Any]]:
    """Makes a loop count its iterations and keep values; gives the number and the lists.

    As in TensorFlow, the node itself changes: it gets new functions, inputs and outputs.
    """
    graph = get_default_graph()
    library = graph._functions
    dtypes, kept = facts.dtypes, facts.kept
    if facts.is_extended:
        return node.outputs[len(dtypes)], node.outputs[len(dtypes) + 1 :]
    call = "PartitionedCall" if node.type.startswith("Stateless") else "StatefulPartitionedCall"
    cond, body = node.attr("cond"), node.attr("body")
    longer = [*dtypes, int32, *[variant] * len(kept)]
    size = len(dtypes)

    test = FunctionWriter(unique_function_name(library, f"{cond.name}_kept"), call[0] == "S")
    arguments = test.args(longer)
    kind = _result_dtype(library, cond.name)
    decision = test.node(call, arguments[:size], Tin=dtypes, Tout=[kind], f=cond)
    new_cond = test.finish(decision, [kind], library)

    step = FunctionWriter(unique_function_name(library, f"{body.name}_kept"), call[0] == "S")
    arguments = step.args(longer)
    pushed = [
        step.node("TensorListPushBack", [stack, arguments[index]], element_dtype=dtypes[index])[0]
        for index, stack in zip(kept, arguments[size + 1 :])
    ]
    count = step.node("AddV2", [arguments[size], step.constant(1, int32)], T=int32)
    results = step.node(call, arguments[:size], Tin=dtypes, Tout=dtypes, f=body)
    new_body = step.finish([*results, *count, *pushed], longer, library)

    lists = [raw_ops.EmptyTensorList(-1, -1, element_dtype=dtypes[index]) for index in kept]
    node._extend(
        [constant(0, int32), *lists],
        {"T": longer, "cond": new_cond, "body": new_body, "output_shapes": []},
    )
    outputs = node.outputs
    return outputs[size], outputs[size + 1 :]


def _result_dtype(library: Any, name: str) -> DType:
    return as_dtype(library[name].signature.output_arg[0].type)


def _loop_gradient(node: Any, *grads: Any) -> Any:
    graph = get_default_graph()
    library = graph._functions
    facts = _LoopFacts(node, library)
    dtypes, kept, trainable = facts.dtypes, facts.kept, facts.trainable
    size = len(dtypes)
    inputs, body = list(node.inputs), facts.body
    starts = {}
    for index in trainable:
        grad = grads[index] if index < len(grads) else None
        if dtypes[index].name == "resource":
            starts[index] = _zeros_of_variable(inputs[index])
        else:
            starts[index] = grad if grad is not None else raw_ops.ZerosLike(node.outputs[index])
    count, lists = _keep_history(node, facts)
    others = [index for index in range(size) if index not in kept]
    derived = [starts[index].dtype.base_dtype for index in trainable]
    passed = [dtypes[index] for index in others]
    state = [int32, *derived, *[variant] * len(kept), *passed]

    def split(arguments: list[str]) -> tuple[str, dict[int, str], list[str], dict[int, str]]:
        first = 1 + len(trainable)
        second = first + len(kept)
        return (
            arguments[0],
            dict(zip(trainable, arguments[1:first])),
            arguments[first:second],
            dict(zip(others, arguments[second:])),
        )

    test = FunctionWriter(unique_function_name(library, f"{body.name}_grad_cond"))
    left, *_ = split(test.args(state))
    more = test.node("Greater", [left, test.constant(0, int32)], T=int32)
    new_cond = test.finish(more, [bool_dtype], library)

    step = FunctionWriter(unique_function_name(library, f"{body.name}_grad"))
    left, arriving, stacks, values = split(step.args(state))
    rest = []
    for index, stack in zip(kept, stacks):
        popped = step.node(
            "TensorListPopBack", [stack, step.constant(-1, int32)], element_dtype=dtypes[index]
        )
        rest.append(popped[0])
        values[index] = popped[1]
    seeds = [
        arriving[index] if index in arriving else step.node("ZerosLike", [values[index]], T=dtypes[index])[0]
        for index in range(size)
    ]
    seed_types = [
        starts[index].dtype.base_dtype if index in starts else dtypes[index] for index in range(size)
    ]
    results = step.node(
        "SymbolicGradient",
        [*[values[index] for index in range(size)], *seeds],
        Tin=[*dtypes, *seed_types],
        Tout=seed_types,
        f=body,
    )
    next_grads = []
    for index in trainable:
        if dtypes[index].name == "resource":  # each iteration adds its part
            added = step.node("AddV2", [arriving[index], results[index]], T=seed_types[index])
            next_grads += added
        else:
            next_grads.append(results[index])
    fewer = step.node("Sub", [left, step.constant(1, int32)], T=int32)
    new_body = step.finish([*fewer, *next_grads, *rest, *[values[i] for i in others]], state, library)

    kind = getattr(raw_ops, node.type)
    outputs = kind(
        [count, *[starts[i] for i in trainable], *lists, *[inputs[i] for i in others]],
        cond=new_cond,
        body=new_body,
    )
    found = dict(zip(trainable, outputs[1:]))
    return [found.get(index) for index in range(len(inputs))]


for _each in _whiles:
    _each.grad(_loop_gradient)


def _zeros_of_variable(handle: Any) -> Any:
    source = handle
    while source.op.inputs and not source.op.has_attr("dtype"):
        source = source.op.inputs[0]
    dtype = source.op.get_attr("dtype").base_dtype if source.op.has_attr("dtype") else float32
    return raw_ops.Fill(raw_ops.VariableShape(handle), constant(np.zeros((), dtype.np)))
