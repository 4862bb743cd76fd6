"""Keeps what the fetches need, stopping at feeds; reports all that is missing in one error."""

from __future__ import annotations

from ...formats.errors import bullets
from ..absent_ops import why
from ..errors import InvalidArgumentError, UnimplementedError
from ..operation import Operation, Tensor
from ..shapes import format_shape
from .draft import Draft, Node

PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2"})


def run(draft: Draft) -> None:
    """Fills `draft.nodes` with the operations that the fetches need, in no particular order.

    Raises:
        InvalidArgumentError: Placeholders among them are not fed.
        UnimplementedError: Ops among them are not implemented.
    """
    wanted_by: dict[Operation, Operation | Tensor] = {}
    stack: list[tuple[Operation, Operation | Tensor]] = []
    fed_placeholders = {tensor.op for tensor in draft.feeds if tensor.op.type in PLACEHOLDERS}
    stack.extend(
        (fetch.op if isinstance(fetch, Tensor) else fetch, fetch)
        for fetch in draft.fetches
        if fetch not in draft.feeds and fetch not in fed_placeholders
    )
    while stack:
        operation, fetch = stack.pop()
        if operation in wanted_by:
            continue
        wanted_by[operation] = fetch
        inputs = operation._inputs
        control = [op for op in operation._control_inputs if op not in fed_placeholders]
        if draft.within is not None:
            control = [op for op in control if op in draft.within]
        draft.nodes[operation] = Node(operation, list(inputs), control)
        stack.extend((tensor.op, fetch) for tensor in inputs if tensor not in draft.feeds)
        stack.extend((op, fetch) for op in control)
    _check_placeholders(draft)
    _check_implemented(wanted_by)


def _check_placeholders(draft: Draft) -> None:
    missing = [operation for operation in draft.nodes if operation.type in PLACEHOLDERS]
    if not missing:
        return
    missing.sort(key=lambda operation: operation._id)
    sentences = []
    for operation in missing:
        tensor = operation.output(0)
        shape = tensor.static_shape
        known = f" and shape {format_shape(shape)}" if shape else ""
        enum = tensor.dtype._info.enum.removeprefix("DT_").lower()
        sentences.append(f"placeholder tensor '{operation.name}' with dtype {enum}{known}")
    head = f"You must feed a value for {sentences[0]}"
    if len(missing) > 1:
        head = f"You must feed a value for {len(missing)} placeholders:" + bullets(
            [f"You must feed a value for {sentence}" for sentence in sentences]
        )
    needed = ", ".join(fetch.name for fetch in draft.fetches[:5])
    error = InvalidArgumentError(
        f"{head}\n\t [[needed by the fetches {needed}]]",
        placeholders=[
            {
                "name": operation.outputs[0].name,
                "dtype": operation.outputs[0].dtype.name,
                "shape": operation.outputs[0]._shape_as_list,
            }
            for operation in missing
        ],
    )
    error.op, error.node_def = missing[0], missing[0].node_def
    raise error


def _check_implemented(wanted_by: dict[Operation, Operation | Tensor]) -> None:
    missing = [operation for operation in wanted_by if operation.kind is None]
    if not missing:
        return
    missing.sort(key=lambda operation: operation._id)
    lines = [
        f"node '{op.name}' (op: {op.type}), needed by the fetch '{wanted_by[op].name}'" for op in missing
    ]
    types = sorted({operation.type for operation in missing})
    reasons = [f"{name}: {reason}. " for name in types if (reason := why(name))]
    raise UnimplementedError(
        f"{'These ops are' if len(types) > 1 else 'The op is'} not implemented: {', '.join(types)}. "
        f"{''.join(reasons[:5])}"
        f"Fetch a tensor before them, or feed their outputs.{bullets(lines, 20)}",
        ops=types,
        nodes=[operation.name for operation in missing],
    )
