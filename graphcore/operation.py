"""`tf.Operation` and `tf.Tensor`: the nodes and edges of a graph.

An operation that was imported keeps its NodeDef message as it was read and decodes attributes when
asked for; one that was built keeps decoded attributes and writes a NodeDef when asked. Outputs,
dtypes and static shapes are made on demand, so that importing a large graph costs little.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..formats import protos
from . import attr_value, op_def, registry
from .dtypes import DType
from .errors import InvalidTypeError, InvalidValueError
from .shapes import Shape
from .tensor_operators import Reference, TensorOperators
from .tensor_shape import TensorShape, as_shape

if TYPE_CHECKING:
    from .graph import Graph

_PACKAGE = __name__.rpartition(".")[0]


def user_stack() -> tuple[tuple[Any, int], ...]:
    """The (code, line) pairs of the calling stack outside this package, innermost first."""
    frame: Any = sys._getframe(1)
    stack = []
    while frame is not None:
        if not frame.f_globals.get("__name__", "").startswith(_PACKAGE):
            stack.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return tuple(stack)


class Operation:
    """A node of a graph; made by the op functions or by importing, never directly."""

    __slots__ = (
        "__weakref__",
        "_attrs",
        "_control_flow_context",
        "_control_inputs",
        "_definition",
        "_device",
        "_graph",
        "_id",
        "_inputs",
        "_name",
        "_output_dtypes",
        "_outputs",
        "_shapes",
        "_source",
        "_stack",
        "_type",
        "kind",
    )

    def __init__(
        self,
        graph: Graph,
        name: str,
        type_: str,
        inputs: list[Tensor],
        control_inputs: list[Operation],
        attrs: dict[str, Any],
        device: str = "",
        source: Any = None,
        definition: op_def.OpDef | None = None,
    ) -> None:
        self._graph = graph
        self._name = name
        self._type = type_
        self._inputs = inputs
        self._control_inputs = control_inputs
        self._attrs = attrs
        self._device = device
        self._source = source  # the NodeDef message that it was read from
        self.kind = registry.find(type_)
        self._definition = definition
        self._outputs: list[Tensor | None] = []
        self._output_dtypes: list[DType] | None = None
        self._shapes: list[Shape] | None = None
        self._control_flow_context: Any = None
        self._stack: tuple[tuple[Any, int], ...] = () if source is not None else user_stack()
        self._id = graph._add(self)

    # What it is

    @property
    def name(self) -> str:
        """The full name, scopes included."""
        return self._name

    @property
    def type(self) -> str:
        """The op type, such as `MatMul`."""
        return self._type

    @property
    def graph(self) -> Graph:
        """The graph that it is part of."""
        return self._graph

    @property
    def device(self) -> str:
        """The device name that it was given, or ""."""
        return self._device

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The data inputs in order."""
        return tuple(self._inputs)

    @property
    def control_inputs(self) -> list[Operation]:
        """The operations that must run before this one without giving it data."""
        return list(self._control_inputs)

    @property
    def outputs(self) -> list[Tensor]:
        """The output tensors."""
        return [self.output(index) for index in range(self.num_outputs)]

    def values(self) -> tuple[Tensor, ...]:
        """The output tensors as a tuple."""
        return tuple(self.outputs)

    @property
    def definition(self) -> op_def.OpDef | None:
        """The declaration of the op type; None for an op that neither we nor the file knows."""
        return self._definition or (self.kind.definition if self.kind else None)

    @property
    def op_def(self) -> Any:
        """The declaration as a `tensorflow.OpDef` message; empty but for the name where unknown."""
        return self.definition.to_proto() if self.definition else protos.OpDef(name=self._type)

    # Outputs, made when first asked for

    @property
    def output_dtypes(self) -> list[DType]:
        """The dtypes of all outputs; an op without a declaration gets them from `_output_shapes`."""
        if self._output_dtypes is None:
            definition = self.definition
            if definition is not None:
                self._output_dtypes = definition.output_dtypes(self.attr)
            else:
                self._output_dtypes = []
        return self._output_dtypes

    @property
    def num_outputs(self) -> int:
        """How many output tensors there are; for an unknown op, as many as anything refers to."""
        definition = self.definition
        if definition is None:
            return len(self._outputs)
        fixed = definition.fixed_outputs
        return len(self.output_dtypes) if fixed is None else fixed

    def output(self, index: int) -> Tensor:
        """Output number `index`, always the same Tensor object.

        Raises:
            IndexError: The operation has fewer outputs.
        """
        outputs = self._outputs
        if index >= len(outputs):
            if self.definition is not None and index >= self.num_outputs:
                raise IndexError(index)
            outputs.extend([None] * (index + 1 - len(outputs)))
        tensor = outputs[index]
        if tensor is None:
            tensor = outputs[index] = Tensor(self, index)
        return tensor

    # Attributes

    def attr(self, name: str) -> Any:
        """Attribute `name` decoded (see `attr_value`), or its declared default.

        Raises:
            InvalidArgumentError: The node has no such attribute and the op declares no default.
        """
        attrs = self._attrs
        if name in attrs:
            return attrs[name]
        if self._source is not None and name in self._source.attr:
            value = attr_value.from_proto(self._source.attr[name])
            attrs[name] = value
            return value
        definition = self.definition
        if definition is not None and name in definition.attrs:
            default = definition.attrs[name].default
            if default is not op_def.MISSING:
                return default
        raise op_def.missing_attr(self._type, name)

    def as_call(self) -> Any:
        """The NameAttrList of a function that is called under its own name: op type and attributes."""
        call = protos.NameAttrList(name=self._type)
        for name, value in self.node_def.attr.items():
            call.attr[name].CopyFrom(value)
        return call

    def has_attr(self, name: str) -> bool:
        """Whether the node itself carries attribute `name`, defaults aside."""
        return name in self._attrs or (self._source is not None and name in self._source.attr)

    def attr_names(self) -> Iterator[str]:
        """The names of the attributes that the node itself carries."""
        yield from self._attrs
        if self._source is not None:
            yield from (name for name in self._source.attr if name not in self._attrs)

    def get_attr(self, name: str) -> Any:
        """Attribute `name` as TensorFlow's `Operation.get_attr` gives it.

        Raises:
            ValueError: There is no such attribute.
        """
        try:
            value = self.attr(name)
        except Exception as error:
            raise InvalidValueError(f"Operation '{self._name}' has no attr named '{name}'.") from error
        return _public_attr(value)

    def _set_attr(self, name: str, value: Any) -> None:
        """Sets an attribute to an AttrValue message or a decoded value."""
        if hasattr(value, "DESCRIPTOR") and value.DESCRIPTOR.name == "AttrValue":
            value = attr_value.from_proto(value)
        self._graph._before_mutation()
        self._attrs[name] = value

    # Changing a node: each of these makes compiled plans that hold it invalid.

    def _set_device(self, device: Any) -> None:
        self._graph._before_mutation()
        self._device = device if isinstance(device, str) else device.to_string()

    def _add_control_inputs(self, operations: list[Operation]) -> None:
        self._graph._before_mutation()
        self._control_inputs.extend(op for op in operations if op not in self._control_inputs)

    def _add_control_input(self, operation: Operation) -> None:
        self._add_control_inputs([operation])

    def _update_input(self, index: int, tensor: Tensor) -> None:
        self._graph._before_mutation()
        self._inputs[index] = tensor
        self._graph._forget_consumers()

    def _extend(self, inputs: list[Tensor], attrs: dict[str, Any]) -> None:
        """Adds inputs at the end and sets attributes, which may give it more outputs."""
        self._graph._before_mutation()
        self._inputs = [*self._inputs, *inputs]
        known = self._shapes
        self._attrs.update(attrs)
        self._output_dtypes = self._shapes = None
        if known is not None:
            self._shapes = [*known, *[None] * (self.num_outputs - len(known))]
        self._graph._forget_consumers()

    def _remove_all_control_inputs(self) -> None:
        self._graph._before_mutation()
        self._control_inputs.clear()

    def colocation_groups(self) -> list[bytes]:
        """The `loc:@NAME` groups of this operation, its own name where it declares none."""
        groups: list[bytes] = self.attr("_class") if self.has_attr("_class") else []
        return [group for group in groups if group.startswith(b"loc:@")] or [f"loc:@{self._name}".encode()]

    # Where it came from

    @property
    def traceback(self) -> list[tuple[str, int, str, str | None]]:
        """The stack that made the operation, outermost first: (file, line, function, source line)."""
        import linecache

        return [
            (code.co_filename, line, code.co_name, linecache.getline(code.co_filename, line).strip() or None)
            for code, line in reversed(self._stack)
        ]

    @property
    def traceback_with_start_lines(self) -> list[tuple[str, int, str, str | None, int]]:
        """As `traceback`, each with the line on which its function begins."""
        starts = [code.co_firstlineno for code, _ in reversed(self._stack)]
        return [(*entry, start) for entry, start in zip(self.traceback, starts)]

    @property
    def defined_at(self) -> str:
        """`file:line` of the innermost user code that made the operation, or ""."""
        if not self._stack:
            return ""
        code, line = self._stack[0]
        return f"{code.co_filename}:{line}"

    @property
    def node_def(self) -> Any:
        """The operation as a NodeDef message."""
        return self.to_proto()

    def to_proto(self, shapes: bool = False) -> Any:
        """The operation as a NodeDef.

        Args:
            shapes: Add `_output_shapes`.
        """
        node = protos.NodeDef()
        if self._source is not None:
            node.CopyFrom(self._source)
            del node.input[:]
        node.name, node.op, node.device = self._name, self._type, self._device
        node.input.extend(input_name(tensor) for tensor in self._inputs)
        node.input.extend(f"^{op._name}" for op in self._control_inputs)
        definition = self.definition
        kinds = definition.attrs if definition else {}
        for name, value in self._attrs.items():
            attr_value.fill(node.attr[name], value, kinds[name].kind if name in kinds else "")
        if shapes and self.num_outputs:
            node.attr["_output_shapes"].CopyFrom(
                attr_value.to_proto([tensor.get_shape() for tensor in self.outputs])
            )
        return node

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Runs the operation in `session`, by default the default one."""
        Tensor._evaluate(self, feed_dict, session, self._graph)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self._name}' type={self._type}>"

    def __str__(self) -> str:
        return str(self.node_def)


def input_name(tensor: Tensor) -> str:
    """A tensor as a NodeDef input says it: `x` for output 0, else `x:1`."""
    return tensor._op._name if tensor._index == 0 else f"{tensor._op._name}:{tensor._index}"


def _dtype_that_consumers_take(tensor: Tensor) -> DType | None:
    """The dtype of an output of an op without declaration: what an operation that takes it declares."""
    for consumer in tensor.consumers():
        definition = consumer.definition
        if definition is None:
            continue
        position = consumer._inputs.index(tensor)
        for arg, size in zip(definition.inputs, definition.input_sizes(consumer.attr)):
            if position < size:
                dtypes = definition.arg_dtypes(arg, consumer.attr)
                return dtypes[position].base_dtype
            position -= size
    return None


def _public_attr(value: Any) -> Any:
    """A decoded attribute in the form TF's `get_attr` returns: shapes and arrays as messages."""
    if isinstance(value, list):
        return [_public_attr(item) for item in value]
    if isinstance(value, TensorShape):
        return value.as_proto()
    if hasattr(value, "dtype") and hasattr(value, "shape") and hasattr(value, "flags"):
        return attr_value.to_proto(value).tensor
    return value


class Tensor(TensorOperators):
    """An output of an operation: a symbolic handle on a value that a run computes.

    Tensors are compared and hashed by identity, as in TensorFlow 1. The arithmetic operators are
    installed by the op families that implement them (`_override_operator`).
    """

    __slots__ = ("__weakref__", "_index", "_op", "assign")
    __array_priority__ = 100
    assign: Callable[..., Any]  # of slices of variables only: sets that slice

    OVERLOADABLE_OPERATORS = frozenset(
        f"__{name}__"
        for name in [
            "add",
            "radd",
            "sub",
            "rsub",
            "mul",
            "rmul",
            "div",
            "rdiv",
            "truediv",
            "rtruediv",
            "floordiv",
            "rfloordiv",
            "mod",
            "rmod",
            "lt",
            "le",
            "gt",
            "ge",
            "and",
            "rand",
            "or",
            "ror",
            "xor",
            "rxor",
            "getitem",
            "pow",
            "rpow",
            "invert",
            "neg",
            "abs",
            "matmul",
            "rmatmul",
        ]
    )

    def __init__(self, op: Operation, value_index: int) -> None:
        self._op = op
        self._index = value_index

    @classmethod
    def _override_operator(cls, operator: str, function: Callable[..., Any]) -> None:
        setattr(cls, operator, function)

    # Which session evaluates is known to session.py, which installs itself here.
    _evaluate: Callable[..., Any]

    @property
    def op(self) -> Operation:
        """The operation that computes it."""
        return self._op

    @property
    def value_index(self) -> int:
        """Which output of the operation it is."""
        return self._index

    @property
    def graph(self) -> Graph:
        """The graph that it is part of."""
        return self._op._graph

    @property
    def name(self) -> str:
        """`OPERATION:INDEX`."""
        return f"{self._op._name}:{self._index}"

    @property
    def device(self) -> str:
        """The device name of the operation."""
        return self._op._device

    @property
    def dtype(self) -> DType:
        """The element type; a reference type for ref variables.

        Raises:
            InvalidTypeError: The op type is unknown, so nobody knows the dtype.
        """
        dtypes = self._op.output_dtypes
        if self._index >= len(dtypes):
            wanted = _dtype_that_consumers_take(self)
            if wanted is not None:
                return wanted
            raise InvalidTypeError(
                f"The dtype of tensor '{self.name}' is unknown: op type {self._op._type} is neither "
                "implemented "
                "here nor described in the file."
            )
        return dtypes[self._index]

    @property
    def static_shape(self) -> Shape:
        """The static shape as a plain tuple, or None for unknown rank."""
        shapes = self._op._shapes
        if shapes is None:
            shapes = self._op._graph._infer_shapes(self._op)
        return shapes[self._index] if self._index < len(shapes) else None

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return TensorShape(self.static_shape)

    def get_shape(self) -> TensorShape:
        """The static shape."""
        return TensorShape(self.static_shape)

    def set_shape(self, shape: Any) -> None:
        """Adds to what is known of the static shape.

        Raises:
            ValueError: `shape` contradicts it.
        """
        merged = self.shape.merge_with(as_shape(shape))
        shapes = self._op._shapes
        assert shapes is not None
        shapes[self._index] = merged.as_tuple()

    def experimental_ref(self) -> Reference:
        """A key for this very tensor, for dictionaries and sets; `deref()` gives it back."""
        return Reference(self)

    def consumers(self) -> list[Operation]:
        """The operations that take it as an input."""
        return self.graph._consumers(self)

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Its value in `session`, by default the default one."""
        return Tensor._evaluate(self, feed_dict, session, self.graph)

    @property
    def _shape_as_list(self) -> list[int | None] | None:
        shape = self.static_shape
        return None if shape is None else list(shape)

    def __len__(self) -> int:
        raise InvalidTypeError(
            f"object of type 'Tensor' has no len(). Use tf.shape({self.name})[0] for the run-time size."
        )

    def __iter__(self) -> Iterator[Any]:
        raise InvalidTypeError(
            "Tensor objects are only iterable when eager execution is enabled. To iterate over this "
            "tensor use tf.map_fn."
        )

    def __bool__(self) -> bool:
        raise InvalidTypeError(
            "Using a `tf.Tensor` as a Python `bool` is not allowed. Use `if t is not None:` instead of "
            "`if t:` "
            "to test if a tensor is defined, and use TensorFlow ops such as tf.cond to execute subgraphs "
            "conditioned on the value of a tensor."
        )

    __nonzero__ = __bool__

    def __array__(self, *_: Any, **__: Any) -> Any:
        # As TensorFlow's: code that probes for arrays expects NotImplementedError.
        raise NotImplementedError(f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array.")

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __copy__(self) -> Tensor:
        return self

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self._dtype_name}>"

    def __str__(self) -> str:
        shape = f", shape={self.shape}" if self.shape.ndims is not None else ""
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self._dtype_name}{device})'

    @property
    def _dtype_name(self) -> str:
        try:
            return self.dtype.name
        except InvalidTypeError:
            return "unknown"
