"""Static shapes under the fed shapes, and values that are known when compiling.

With the fed shapes known, most of what a training graph computes about shapes (Shape,
BroadcastGradientArgs, the axes and sizes around them) folds away.
"""

from __future__ import annotations

import numpy as np

from .. import attr_value, shape_inference
from ..shapes import Shape, num_elements
from .draft import Draft, Node


def run(draft: Draft) -> None:
    """Fills `draft.shapes` and `draft.constants`; nodes whose outputs are all constant go."""
    draft.shapes.update(draft.feeds)
    with np.errstate(all="ignore"):
        for operation, node in list(draft.nodes.items()):
            if node.loop is not None:
                draft.shapes.update({tensor: tensor.static_shape for tensor in node.outputs})
                continue
            values = _fold(draft, node) if draft.options.fold or operation.type == "Const" else None
            if values is not None:
                for index, value in enumerate(values):
                    tensor = operation.output(index)
                    if tensor not in draft.feeds:
                        draft.constants[tensor] = value
                        draft.shapes[tensor] = np.shape(value)
                del draft.nodes[operation]
                continue
            try:
                shapes = shape_inference.infer(operation, draft)
            except ValueError:
                # The kernel will say what does not fit, with the values at hand.
                shapes = [None] * operation.num_outputs
            for index, shape in enumerate(shapes):
                tensor = operation.output(index)
                if tensor not in draft.feeds:
                    draft.shapes[tensor] = shape


def _fold(draft: Draft, node: Node) -> list[np.ndarray] | None:
    """The outputs of `node` where they are constant, else None."""
    operation = node.operation
    if not node.is_pure or node.may_be_dead:
        return None
    if operation.type == "Const":
        return [attr_value.constant(operation)]
    known = shape_inference.from_shapes(operation, draft)
    if known is not None:
        return known
    inputs = [draft.constants.get(tensor) for tensor in node.inputs]
    if not inputs or any(value is None for value in inputs):
        return None
    if sum(value.nbytes for value in inputs if value is not None) > draft.options.max_fold_bytes:
        return None
    try:
        shapes = shape_inference.infer(operation, draft)
        if _too_large(draft, node, shapes):
            return None
        assert operation.kind is not None
        result = operation.kind.bind(operation)(*inputs)
    except Exception:  # the run reports it, with the node's name and its inputs
        return None
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    # What NumPy makes of two scalar strings is no array.
    return [np.array(value, object) if isinstance(value, bytes) else value for value in results]


def _too_large(draft: Draft, node: Node, shapes: list[Shape]) -> bool:
    total = 0
    for shape, dtype in zip(shapes, node.operation.output_dtypes):
        size = num_elements(shape)
        total += dtype.size * (size if size is not None else 0)
    return total > draft.options.max_fold_bytes
