"""Static shapes and constant values of tensors, by the rules that the ops declare.

The same rules serve twice: on the graph, where placeholders may be unknown, and inside a plan, where
the fed shapes are known. An *environment* answers what is known of a tensor in either place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import attr_value
from .dead import DEAD
from .errors import InvalidValueError, OpError
from .shapes import Shape, common_shape, format_shape, is_fully_defined, num_elements

if TYPE_CHECKING:
    from .operation import Operation, Tensor

# Values that shape rules may ask for are small: shapes, axes, paddings.
MAX_VALUE_ELEMENTS = 1000
_MAX_DEPTH = 60
# The default of a placeholder may be fed; what one branch or iteration gives is not what others give.
_NEVER_CONSTANT = frozenset(
    {
        "PlaceholderWithDefault",
        "Merge",
        "RefMerge",
        "NextIteration",
        "RefNextIteration",
    }
)
_LOOP_OPS = frozenset({"NextIteration", "RefNextIteration"})


class Environment:
    """What is known on the graph itself, without feeds."""

    def __init__(self) -> None:
        self._values: dict[Tensor, np.ndarray | None] = {}

    def shape(self, tensor: Tensor) -> Shape:
        """The static shape of `tensor`."""
        return tensor.static_shape

    def value(self, tensor: Tensor, depth: int = 0) -> np.ndarray | None:
        """The constant that `tensor` always has, or None where that is not known."""
        if tensor in self._values:
            return self._values[tensor]
        value = self._evaluate(tensor, depth)
        if value is not None or depth == 0:
            # What the depth limit cut off may still be found when it is asked for itself.
            self._values[tensor] = value
        return value

    def _evaluate(self, tensor: Tensor, depth: int) -> np.ndarray | None:
        operation = tensor.op
        op = operation.kind
        if op is None or depth > _MAX_DEPTH or operation.type in _NEVER_CONSTANT:
            return None
        if operation.type == "Const":
            constant: np.ndarray = attr_value.constant(operation)
            return constant
        if operation.type in ("Switch", "RefSwitch"):  # either side has the data, or is not there
            return self.value(operation._inputs[0], depth + 1)
        known = from_shapes(operation, self)
        if known is not None:
            return known[tensor.value_index]
        if not op.is_pure or not operation.inputs:
            return None
        if operation.type == "StridedSlice":
            dim = _scalar_of(tensor, self, depth + 1)
            if dim is not None:  # one known entry of a shape that is not known as a whole
                return np.array(dim, tensor.dtype.np)
        values = []
        for source in operation.inputs:
            size = num_elements(self.shape(source))
            if size is None or size > MAX_VALUE_ELEMENTS:
                return None
            value = self.value(source, depth + 1)
            if value is None:
                return None
            values.append(value)
        try:
            with np.errstate(all="ignore"):
                result = op.bind(operation)(*values)
        except Exception:  # the run reports it, with the node's name; here it only is not constant
            return None
        outputs: list[np.ndarray] = list(result) if isinstance(result, (tuple, list)) else [result]
        result = outputs[tensor.value_index]
        return None if result is DEAD else result


def from_shapes(operation: Operation, environment: Any) -> list[np.ndarray] | None:
    """The results of Shape, ShapeN, Size and Rank where the input's static shape tells them."""
    kind = operation.type
    if kind not in ("Shape", "ShapeN", "Size", "Rank"):
        return None
    results = []
    for source in operation.inputs:
        shape = environment.shape(source)
        if shape is None or (kind != "Rank" and not is_fully_defined(shape)):
            return None
        if kind == "Rank":
            results.append(np.array(len(shape), np.int32))
        else:
            dtype = operation.attr("out_type").np
            results.append(np.array(num_elements(shape) if kind == "Size" else shape, dtype))
    return results


class ShapeContext:
    """What a shape rule sees of one node: attributes, input shapes, constant inputs.

    Inputs are numbered flat, list inputs in order.
    """

    __slots__ = ("_environment", "node", "shapes")

    def __init__(self, node: Operation, environment: Any) -> None:
        self.node = node
        self._environment = environment
        self.shapes: list[Shape] = [environment.shape(tensor) for tensor in node._inputs]

    def shape(self, index: int) -> Shape:
        """The static shape of input `index`."""
        return self.shapes[index]

    def attr(self, name: str) -> Any:
        """Attribute `name` as kernels get it (str, NumPy dtype, tuple for a shape)."""
        return attr_value.for_kernel(self.node.attr(name))

    @property
    def num_inputs(self) -> int:
        """How many tensors the node takes."""
        return len(self.shapes)

    @property
    def num_outputs(self) -> int:
        """How many tensors the node gives."""
        return self.node.num_outputs

    def value(self, index: int) -> np.ndarray | None:
        """The constant value of input `index`, or None where it is not known."""
        value: np.ndarray | None = self._environment.value(self.node._inputs[index])
        return value

    def value_as_shape(self, index: int) -> Shape:
        """Input `index`, an integer vector, as a partial shape: -1 and unknown entries are None."""
        return value_as_shape(self.node._inputs[index], self._environment)


def value_as_shape(tensor: Tensor, environment: Any, depth: int = 0) -> Shape:
    """A vector tensor read as a shape, as far as its entries are known."""
    value = environment.value(tensor)
    if value is not None:
        return None if np.ndim(value) != 1 else tuple(None if v < 0 else int(v) for v in value.tolist())
    operation = tensor.op
    if depth < _MAX_DEPTH:
        known: Shape = _PARTIAL.get(operation.type, _unknown)(operation, environment, depth + 1)
        if known is not None:
            return known
    shape: Shape = environment.shape(tensor)
    if shape is None or len(shape) != 1 or shape[0] is None:
        return None
    return (None,) * shape[0]


def _unknown(operation: Operation, environment: Any, depth: int) -> Shape:
    return None


def _of_shape(operation: Operation, environment: Any, depth: int) -> Shape:
    shape: Shape = environment.shape(operation._inputs[0])
    return shape


def _of_cast(operation: Operation, environment: Any, depth: int) -> Shape:
    return value_as_shape(operation._inputs[0], environment, depth)


def _of_pack(operation: Operation, environment: Any, depth: int) -> Shape:
    dims: list[int | None] = []
    for source in operation._inputs:
        value = environment.value(source)
        if value is not None and np.ndim(value) == 0:
            dims.append(None if value < 0 else int(value))
        else:
            dims.append(_scalar_of(source, environment, depth))
    return tuple(dims)


def _scalar_of(tensor: Tensor, environment: Any, depth: int) -> int | None:
    """A scalar picked from a partially known shape: `tf.shape(x)[1]` where x is (?, 3)."""
    if tensor.op.type != "StridedSlice":
        return None
    picked = _of_strided_slice(tensor.op, environment, depth, scalar=True)
    return picked[0] if picked else None


def _of_concat(operation: Operation, environment: Any, depth: int) -> Shape:
    sources = operation._inputs[1:] if operation.type == "Concat" else operation._inputs[:-1]
    dims: tuple[int | None, ...] = ()
    for source in sources:
        part = value_as_shape(source, environment, depth)
        if part is None:
            return None
        dims += part
    return dims


def _of_strided_slice(operation: Operation, environment: Any, depth: int, scalar: bool = False) -> Shape:
    source, *bounds = operation._inputs
    base = value_as_shape(source, environment, depth)
    values = [environment.value(bound) for bound in bounds]
    if base is None or any(value is None or np.size(value) != 1 for value in values):
        return None
    masks = [operation.attr(name) & 1 for name in ("begin_mask", "end_mask", "shrink_axis_mask")]
    if operation.attr("ellipsis_mask") or operation.attr("new_axis_mask") or bool(masks[2]) != scalar:
        return None
    begin, end, stride = (int(value[0]) for value in values)
    if scalar:
        return (base[begin],) if -len(base) <= begin < len(base) else None
    return base[slice(None if masks[0] else begin, None if masks[1] else end, stride)]


_PARTIAL: dict[str, Any] = {
    "Shape": _of_shape,
    "Cast": _of_cast,
    "Identity": _of_cast,
    "Pack": _of_pack,
    "Concat": _of_concat,
    "ConcatV2": _of_concat,
    "StridedSlice": _of_strided_slice,
}


def infer(operation: Operation, environment: Any) -> list[Shape]:
    """The shapes of all outputs of one operation whose inputs are inferred.

    Raises:
        InvalidValueError: The inputs do not fit, in TensorFlow 1.15's words.
    """
    op = operation.kind
    count = operation.num_outputs
    if op is None or op.shape_fn is None:
        return [None] * count
    context = ShapeContext(operation, environment)
    try:
        result = op.shape_fn(context)
    except ValueError as error:
        if isinstance(error, OpError) and error.op is not None:
            raise
        shapes = ", ".join(format_shape(shape) for shape in context.shapes)
        located = InvalidValueError(
            f"{error} for '{operation.name}' (op: '{operation.type}') with input shapes: {shapes}.",
            node=operation.name,
            op=operation.type,
        )
        located.op = operation
        raise located from error
    return list(result) if isinstance(result, list) else [result] * count


def infer_ancestors(operation: Operation, environment: Environment) -> None:
    """Infers `operation` and everything before it that is not inferred yet, without recursion."""
    stack = [operation]
    pending: dict[Operation, None] = {}  # behind a loop variable, whose back edge is not known yet
    while stack:
        current = stack[-1]
        if current._shapes is not None or current in pending:
            stack.pop()
            continue
        sources = [tensor.op for tensor in current._inputs if tensor.op._shapes is None]
        back = [source for source in sources if source.type in _LOOP_OPS]
        waiting = [source for source in sources if source not in pending and source not in back]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        if sources:
            pending[current] = None
            stack[:0] = back
        else:
            current._shapes = infer(current, environment)
    if pending:
        _infer_loops(list(pending), environment)


def _infer_loops(operations: list[Operation], environment: Environment) -> None:
    """Infers operations in and behind loops, given in an order in which only back edges lead backwards.

    A loop variable has the shape with which it enters, unless an iteration gives it another one: then what
    both have in common, until no iteration changes it any more.
    """
    assumed = _Assumed({})
    try:
        while _changes(operations, assumed):
            assumed = _Assumed(assumed.shapes)
    except InvalidValueError:  # a loop may change a shape that an operation in it takes at first only
        assumed = _Assumed({each: [None] * each.num_outputs for each in operations if each.type in _LOOP_OPS})
        _changes(operations, assumed)
    for operation in operations:
        operation._shapes = assumed.shapes[operation]


class _Assumed(Environment):
    """What is known where some operations are taken to have certain shapes."""

    def __init__(self, shapes: dict[Operation, list[Shape]]) -> None:
        super().__init__()
        self.shapes = shapes

    def shape(self, tensor: Tensor) -> Shape:
        known = self.shapes.get(tensor.op)
        return tensor.static_shape if known is None else known[tensor.value_index]


def _changes(operations: list[Operation], assumed: _Assumed) -> bool:
    """Infers all once; tells whether a loop variable's next value turned out to have another shape."""
    shapes, changed = assumed.shapes, False
    for operation in operations:
        for tensor in operation._inputs:
            if tensor.op.type in _LOOP_OPS and tensor.op._shapes is None and tensor.op not in shapes:
                shapes[tensor.op] = [assumed.shape(operation._inputs[0])]
        found = infer(operation, assumed)
        if operation.type in _LOOP_OPS and operation in shapes:
            found = [common_shape(shapes[operation][0], found[0])]
            changed = changed or found != shapes[operation]
        shapes[operation] = found
    return changed
