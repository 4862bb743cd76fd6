"""Declaring ops, and building graph nodes by calling them.

`@op(...)` declares an op and gives an object that, called with tensors (or what converts to
tensors), adds a node to the default graph, with the naming, type inference and error texts of
TensorFlow's generated op functions. `raw_ops.MatMul(...)` reaches any op by its type, which is how
gradients of one family use ops of another.

Source: tensorflow/python/framework/op_def_library.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from typing import Any

from . import registry
from .convert import convert_to_tensor
from .default import get_default_graph, graph_of
from .dtypes import DType
from .errors import InvalidTypeError, InvalidValueError, UnimplementedError
from .op_def import MISSING, ArgDef, OpDef
from .operation import Operation, Tensor
from .registry import Op


class GraphOp(Op):
    """An op that adds a node when called: inputs, then attributes, then `name`."""

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Parameter names in order: inputs, attributes without default, attributes with one, name."""
        definition = self.definition
        free = [attr for attr in definition.attrs.values() if attr.name not in definition.inferred_attrs]
        required = [attr.name for attr in free if attr.default is MISSING]
        optional = [attr.name for attr in free if attr.default is not MISSING]
        return (*(arg.name for arg in definition.inputs), *required, *optional, "name")

    @cached_property
    def _result_type(self) -> Any:
        return namedtuple(self.name, [arg.name for arg in self.definition.outputs])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a node; gives its output tensor, list or named tuple of outputs, or the operation."""
        parameters = self.parameters
        if len(args) > len(parameters):
            raise InvalidTypeError(
                f"{self.name}() takes at most {len(parameters)} arguments, {len(args)} were given"
            )
        for key, value in zip(parameters, args):
            if key in kwargs:
                raise InvalidTypeError(f"{self.name}() got multiple values for argument '{key}'")
            kwargs[key] = value
        operation = self.node(kwargs.pop("name", None), kwargs)
        return self._pack_outputs(operation)

    def node(self, name: str | None, given: dict[str, Any]) -> Operation:
        """Adds a node from inputs and attributes by name."""
        definition = self.definition
        unknown = [key for key in given if key not in definition.attrs and key not in self.parameters]
        if unknown:
            raise InvalidTypeError(f"{self.name}() got an unexpected keyword argument '{unknown[0]}'")
        graph = graph_of(_flat_values([given.get(arg.name) for arg in definition.inputs]))
        with graph.as_default(), graph.name_scope(name or self.name) as scope:
            inputs, attrs = _convert_inputs(definition, given)
            for key, attr in definition.attrs.items():
                if key in attrs:
                    continue
                value = given.get(key)
                if value is None and attr.default is not MISSING:
                    attrs[key] = attr.default
                elif value is None and attr.kind != "shape":
                    raise InvalidTypeError(f"No argument for attr '{key}' of op '{self.name}' was given")
                else:
                    attrs[key] = definition.normalize_attr(key, value)
            with ExitStack() as stack:
                # What changes a variable is where the variable is.
                for tensor in _references(definition, inputs):
                    stack.enter_context(graph.colocate_with(tensor.op))
                return graph.add_node(self.name, inputs, attrs, scope)

    def _pack_outputs(self, operation: Operation) -> Any:
        definition = self.definition
        if not definition.outputs:
            return operation
        tensors = operation.outputs
        if len(definition.outputs) == 1:
            if definition.outputs[0].is_list:
                return tensors or operation
            return tensors[0]
        values: list[Any] = []
        start = 0
        for arg in definition.outputs:
            size = len(definition.arg_dtypes(arg, operation.attr))
            values.append(tensors[start : start + size] if arg.is_list else tensors[start])
            start += size
        return self._result_type(*values)


def _references(definition: OpDef, inputs: list[Tensor]) -> list[Tensor]:
    """The inputs that are references by declaration, where each argument is one tensor."""
    if not any(arg.is_ref for arg in definition.inputs) or any(arg.is_list for arg in definition.inputs):
        return []
    return [tensor for arg, tensor in zip(definition.inputs, inputs) if arg.is_ref]


def _flat_values(values: list[Any]) -> list[Any]:
    flat: list[Any] = []
    for value in values:
        if isinstance(value, (list, tuple)):
            flat.extend(value)
        else:
            flat.append(value)
    return flat


def _convert_inputs(definition: OpDef, given: dict[str, Any]) -> tuple[list[Tensor], dict[str, Any]]:
    """The input tensors, flat, and the attributes that follow from them."""
    attrs: dict[str, Any] = {}
    first: dict[str, str] = {}  # which argument decided a type attribute
    inputs: list[Tensor] = []
    for key in definition.attrs:
        if key in definition.inferred_attrs and given.get(key) is not None:
            attrs[key] = definition.normalize_attr(key, given[key])
    for arg in definition.inputs:
        if arg.name not in given:
            raise InvalidTypeError(f"No argument for input '{arg.name}' of op '{definition.name}' was given")
        value = given[arg.name]
        if arg.is_list:
            tensors = _convert_list(definition, arg, value, attrs, first)
        else:
            tensors = [_convert_one(definition, arg, value, arg.name, attrs, first)]
        if arg.is_ref:
            for tensor in tensors:
                if not tensor.dtype._is_ref_dtype:
                    raise InvalidTypeError(
                        f"'{definition.name}' Op requires that input '{arg.name}' be a mutable tensor "
                        "(e.g.: a tf.Variable)"
                    )
        inputs.extend(tensors)
    return inputs, attrs


def _convert_one(
    definition: OpDef, arg: ArgDef, value: Any, name: str, attrs: dict[str, Any], first: dict[str, str]
) -> Tensor:
    key = arg.type_attr
    dtype = arg.dtype if arg.dtype is not None else attrs.get(key)
    default = definition.attrs[key].default if key else MISSING
    preferred = default if dtype is None and default is not MISSING else None
    try:
        tensor = convert_to_tensor(value, dtype, name, preferred_dtype=preferred, as_ref=arg.is_ref)
    except (TypeError, ValueError) as error:
        if dtype is None:
            raise
        raise _type_error(definition, arg, value, dtype, first) from error
    found = tensor.dtype.base_dtype
    if key:
        if key not in attrs:
            attrs[key] = definition.normalize_attr(key, found)
            first[key] = name
        elif attrs[key] != found:
            raise _type_error(definition, arg, value, attrs[key], first)
    return tensor  # type: ignore[no-any-return]


def _type_error(
    definition: OpDef, arg: ArgDef, value: Any, dtype: DType, first: dict[str, str]
) -> InvalidTypeError:
    found = getattr(value, "dtype", None)
    if not isinstance(found, DType):
        return InvalidTypeError(
            f"Expected {dtype.name} passed to parameter '{arg.name}' of op '{definition.name}', "
            f"got {value!r} of type '{type(value).__name__}' instead."
        )
    head = (
        f"Input '{arg.name}' of '{definition.name}' Op has type {found.base_dtype.name} that does not match"
    )
    if arg.dtype is not None or arg.type_attr not in first:
        return InvalidTypeError(f"{head} expected type of {dtype.name}.")
    return InvalidTypeError(f"{head} type {dtype.name} of argument '{first[arg.type_attr]}'.")


def _convert_list(
    definition: OpDef, arg: ArgDef, values: Any, attrs: dict[str, Any], first: dict[str, str]
) -> list[Tensor]:
    if (
        isinstance(values, Tensor)
        or not hasattr(values, "__iter__")
        or isinstance(values, (str, bytes, dict))
    ):
        raise InvalidTypeError(
            f"Expected list for '{arg.name}' argument to '{definition.name}' Op, not {values}."
        )
    values = list(values)
    names = [f"{arg.name}_{index}" for index in range(len(values))]
    if arg.type_list_attr:
        dtypes = attrs.get(arg.type_list_attr) or [None] * len(values)
        if len(dtypes) != len(values):
            raise InvalidValueError(
                f"List argument '{arg.name}' to '{definition.name}' Op has {len(values)} values, "
                f"its attr '{arg.type_list_attr}' has {len(dtypes)}."
            )
        tensors = [
            convert_to_tensor(value, dtype, name, as_ref=arg.is_ref)
            for value, dtype, name in zip(values, dtypes, names)
        ]
        found = [tensor.dtype.base_dtype for tensor in tensors]
        attrs[arg.type_list_attr] = definition.normalize_attr(arg.type_list_attr, found)
        return tensors
    count = definition.normalize_attr(arg.number_attr, len(values))
    if attrs.setdefault(arg.number_attr, count) != count:
        raise InvalidValueError(
            f"List argument '{arg.name}' to '{definition.name}' Op with length {count} must match "
            f"length {attrs[arg.number_attr]} of the other list arguments."
        )
    key = arg.type_attr
    if key and key not in attrs:
        for value in values:
            dtype = getattr(value, "dtype", None)
            if isinstance(dtype, DType):
                attrs[key] = definition.normalize_attr(key, dtype.base_dtype)
                first.setdefault(
                    key, names[values.index(value)] if not isinstance(value, Tensor) else arg.name
                )
                break
    return [_convert_one(definition, arg, value, name, attrs, first) for value, name in zip(values, names)]


def op(name: str, signature: str, *attrs: str, **options: Any) -> Callable[[Callable[..., Any]], GraphOp]:
    """Declares the op `name` with the decorated function as its kernel; see `op_def` for the grammar.

    Args:
        name: The op type.
        signature: `"a: T, b: T -> product: T"`.
        *attrs: Attribute declarations.
        **options: `T=NUMERIC`, or `T=(NUMERIC, float32)` with a default, declares a type attribute;
            `stateful`, `ctx`, `effects`, `elementwise`, `no_grad` and so on are those of `registry.Op`.
    """
    flags = {key: options.pop(key) for key in _FLAGS & options.keys()}

    def declare(kernel: Callable[..., Any]) -> GraphOp:
        return registry.register(GraphOp(name, signature, attrs, options, kernel, **flags))  # type: ignore[return-value]

    return declare


_FLAGS = {
    "aggregate",
    "allows_uninitialized_input",
    "commutative",
    "ctx",
    "effects",
    "elementwise",
    "no_grad",
    "stateful",
    "text",
    "undefined_grad",
}


class _RawOps:
    """`tf.raw_ops`: every implemented op by its type."""

    def __getattr__(self, name: str) -> Any:
        found = registry.find(name)
        if found is None:
            if name.startswith("_"):
                raise AttributeError(name)
            raise UnimplementedError(f"The op '{name}' is not implemented.", op_type=name)
        return found

    def __dir__(self) -> list[str]:
        return [found.name for found in registry.all_ops()]


raw_ops = _RawOps()


def no_op(name: str | None = None) -> Operation:
    """`tf.no_op`: an operation that does nothing, to hang control edges on."""
    return get_default_graph().add_node("NoOp", [], {}, name or "NoOp")


def group(*inputs: Any, **kwargs: Any) -> Operation:
    """`tf.group`: an operation that finishes when all `inputs` have.

    Raises:
        TypeError: An input is no graph element.
        ValueError: A keyword other than `name` is given.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise InvalidValueError("Unknown keyword arguments: " + ", ".join(kwargs))
    operations: list[Operation] = []
    for item in _nested(inputs):
        if item is None:
            continue
        element = item if isinstance(item, (Tensor, Operation)) else getattr(item, "op", None)
        if element is None:
            raise InvalidTypeError(
                f"Expected tf.group() expected Tensor objects not None inputs, got {item!r}"
            )
        operations.append(element.op if isinstance(element, Tensor) else element)
    graph = graph_of(operations)
    with graph.as_default():
        by_device: dict[str, list[Operation]] = {}
        for operation in dict.fromkeys(operations):
            by_device.setdefault(operation.device, []).append(operation)
        if len(by_device) <= 1:
            with graph.device(next(iter(by_device), "")), graph.control_dependencies(operations):
                return no_op(name or "group_deps")
        with graph.name_scope(name or "group_deps") as scope:
            heads = []
            for device, members in sorted(by_device.items()):
                with graph.device(device), graph.control_dependencies(members):
                    heads.append(no_op())
            with graph.control_dependencies(heads):
                return no_op(scope)


def _nested(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _nested(item)]
    return [value]
