"""What an op looks like from outside: its inputs, outputs and attributes.

An `OpDef` is read from our one-line declarations, which use the grammar of TensorFlow's own op
registrations (`"a: T, b: T -> product: T"`, `"transpose_a: bool = false"`), or from a `tensorflow.OpDef`
message (a file's `stripped_op_list`). It can be written back as that message.

Grammar of an argument: `name: TYPE`, where TYPE is a dtype name, a type attribute, `N * TYPE` with an
int attribute N, a `list(type)` attribute, or `Ref(TYPE)` (a list of references is `N * Ref(TYPE)`).
Grammar of an attribute: `name: KIND [>= minimum] [= default]`, where KIND is int, float, bool, string,
type, shape, tensor, func, `list(KIND)`, or a set of allowed values: `{'SAME', 'VALID'}` or `{int32, int64}`.

Source: tensorflow/core/framework/op_def.proto and op_def_builder.h (r1.15).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..formats import protos
from . import attr_value
from .dtypes import DType, as_dtype
from .errors import InternalError, InvalidArgumentError, InvalidTypeError, InvalidValueError

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "MISSING"})()


@dataclass(frozen=True)
class ArgDef:
    """One input or output argument; exactly one of `dtype`, `type_attr`, `type_list_attr` is set."""

    name: str
    dtype: DType | None = None
    type_attr: str = ""
    type_list_attr: str = ""
    number_attr: str = ""
    is_ref: bool = False

    @property
    def is_list(self) -> bool:
        """Whether the argument is a list of tensors."""
        return bool(self.number_attr or self.type_list_attr)


@dataclass(frozen=True)
class AttrDef:
    """One attribute. `kind` is as in OpDef.AttrDef.type (`int`, `list(type)`, ...)."""

    name: str
    kind: str
    default: Any = MISSING
    allowed: tuple[Any, ...] = ()
    minimum: int | None = None


@dataclass(frozen=True)
class OpDef:
    """The declaration of one op; see the module's head for the grammar.

    Attributes:
        name: The op type, `MatMul`.
        inputs: Input arguments in order.
        outputs: Output arguments in order.
        attrs: Attributes by name, in declaration order.
        stateful: Whether running it twice may differ, so that it is never folded or merged.
    """

    name: str
    inputs: tuple[ArgDef, ...]
    outputs: tuple[ArgDef, ...]
    attrs: dict[str, AttrDef]
    stateful: bool = False
    commutative: bool = False
    aggregate: bool = False
    allows_uninitialized_input: bool = False
    extra: Any = field(default=None, compare=False)

    @cached_property
    def inferred_attrs(self) -> frozenset[str]:
        """Attributes that follow from the inputs: their dtypes and list lengths."""
        names: set[str] = set()
        for arg in self.inputs:
            names.update(n for n in (arg.type_attr, arg.type_list_attr, arg.number_attr) if n)
        return frozenset(names)

    @cached_property
    def has_list_inputs(self) -> bool:
        """Whether any input argument is a list of tensors."""
        return any(arg.is_list for arg in self.inputs)

    @cached_property
    def fixed_outputs(self) -> int | None:
        """The number of output tensors, or None where an attribute decides it."""
        return None if any(arg.is_list for arg in self.outputs) else len(self.outputs)

    def arg_dtypes(self, arg: ArgDef, get_attr: Any) -> list[DType]:
        """The dtypes of the tensors of `arg`, references as such.

        Args:
            arg: One of this op's arguments.
            get_attr: Function from attribute name to its decoded value.
        """
        if arg.type_list_attr:
            dtypes = list(get_attr(arg.type_list_attr))
        else:
            dtype = arg.dtype if arg.dtype is not None else get_attr(arg.type_attr)
            dtypes = [dtype] * (get_attr(arg.number_attr) if arg.number_attr else 1)
        return [dtype._as_ref for dtype in dtypes] if arg.is_ref else dtypes

    def output_dtypes(self, get_attr: Any) -> list[DType]:
        """The dtypes of all output tensors."""
        return [dtype for arg in self.outputs for dtype in self.arg_dtypes(arg, get_attr)]

    def input_sizes(self, get_attr: Any) -> list[int]:
        """How many tensors each input argument takes."""
        sizes = []
        for arg in self.inputs:
            if arg.type_list_attr:
                sizes.append(len(get_attr(arg.type_list_attr)))
            else:
                sizes.append(get_attr(arg.number_attr) if arg.number_attr else 1)
        return sizes

    def normalize_attr(self, name: str, value: Any) -> Any:
        """`value` as the decoded form of attribute `name`, checked against its declaration.

        Raises:
            TypeError: It is not of the attribute's kind.
            ValueError: It is not among the allowed values or below the minimum.
        """
        attr = self.attrs[name]
        try:
            value = attr_value.normalize(value, attr.kind)
        except (TypeError, ValueError) as error:
            raise InvalidTypeError(
                f"Expected {attr.kind} for argument '{name}' of op '{self.name}' not {value!r}."
            ) from error
        if attr.allowed:
            self._check_allowed(attr, value)
        if attr.minimum is not None:
            size = len(value) if attr.kind.startswith("list(") else value
            if size < attr.minimum:
                raise InvalidValueError(
                    f"Attr '{name}' of '{self.name}' Op passed {size} less than minimum {attr.minimum}."
                )
        return value

    def _check_allowed(self, attr: AttrDef, value: Any) -> None:
        for item in value if isinstance(value, list) else [value]:
            item = item.base_dtype if isinstance(item, DType) else item
            if item in attr.allowed:
                continue
            if isinstance(item, DType):
                names = ", ".join(dtype.name for dtype in attr.allowed)
                raise InvalidTypeError(
                    f"Value passed to parameter '{self._parameter_of(attr.name)}' has DataType {item.name} "
                    f"not in list of allowed values: {names}"
                )
            names = '", "'.join(text.decode() for text in attr.allowed)
            raise InvalidValueError(
                f"Attr '{attr.name}' of '{self.name}' Op passed string '{item.decode(errors='replace')}' "
                f'not in: "{names}".'
            )

    def _parameter_of(self, attr: str) -> str:
        return next((arg.name for arg in self.inputs if attr in (arg.type_attr, arg.type_list_attr)), attr)

    def to_proto(self) -> Any:
        """This declaration as a `tensorflow.OpDef`."""
        proto = protos.OpDef(
            name=self.name,
            is_stateful=self.stateful,
            is_commutative=self.commutative,
            is_aggregate=self.aggregate,
            allows_uninitialized_input=self.allows_uninitialized_input,
        )
        for args, target in ((self.inputs, proto.input_arg), (self.outputs, proto.output_arg)):
            for arg in args:
                item = target.add(
                    name=arg.name,
                    type_attr=arg.type_attr,
                    type_list_attr=arg.type_list_attr,
                    number_attr=arg.number_attr,
                    is_ref=arg.is_ref,
                )
                if arg.dtype is not None:
                    item.type = arg.dtype.as_datatype_enum
        for attr in self.attrs.values():
            item = proto.attr.add(name=attr.name, type=attr.kind)
            if attr.default is not MISSING:
                item.default_value.CopyFrom(attr_value.to_proto(attr.default, attr.kind))
            if attr.allowed:
                attr_value.fill(item.allowed_values, list(attr.allowed), "list")
            if attr.minimum is not None:
                item.has_minimum, item.minimum = True, attr.minimum
        return proto


def parse(name: str, signature: str, attrs: Iterable[str], types: dict[str, Any], **flags: bool) -> OpDef:
    """The OpDef of a declaration.

    Args:
        name: The op type.
        signature: `"a: T, b: T -> product: T"`.
        attrs: Attribute declarations, `"transpose_a: bool = false"`.
        types: Allowed dtypes of type attributes by name (empty: any); a pair (dtypes, default)
            gives a default as well.
        **flags: `stateful` and the other boolean fields of OpDef.

    Raises:
        InternalError: The declaration does not follow the grammar.
    """
    table: dict[str, AttrDef] = {}
    for text in attrs:
        attr = _parse_attr(name, text)
        table[attr.name] = attr
    for key, allowed in types.items():
        default = MISSING
        if len(allowed) == 2 and isinstance(allowed[0], tuple):
            allowed, default = allowed
        table[key] = AttrDef(key, "type", default, tuple(allowed))
    left, arrow, right = signature.partition("->")
    if not arrow:
        raise InternalError(f"The declaration of {name} has no '->': {signature!r}")
    inputs = tuple(_parse_arg(name, text, table) for text in left.split(",") if text.strip())
    outputs = tuple(_parse_arg(name, text, table) for text in right.split(",") if text.strip())
    return OpDef(name, inputs, outputs, table, **flags)


def _parse_arg(op: str, text: str, attrs: dict[str, AttrDef]) -> ArgDef:
    name, colon, kind = (part.strip() for part in text.partition(":"))
    number = ""
    if "*" in kind:
        number, kind = (part.strip() for part in kind.split("*"))
        attrs.setdefault(number, AttrDef(number, "int", minimum=1))
    ref = re.fullmatch(r"Ref\((.+)\)", kind)
    if ref:
        kind = ref[1].strip()
    if not colon or not kind:
        raise InternalError(f"The declaration of {op} has a malformed argument {text!r}")
    known = attrs.get(kind)
    if known is not None and known.kind == "list(type)":
        return ArgDef(name, type_list_attr=kind, is_ref=bool(ref))
    if known is not None:
        return ArgDef(name, type_attr=kind, number_attr=number, is_ref=bool(ref))
    try:
        dtype = as_dtype(kind)
    except TypeError as error:
        raise InternalError(
            f"The declaration of {op} has no attribute {kind!r} for argument {text!r}"
        ) from error
    return ArgDef(name, dtype=dtype, number_attr=number, is_ref=bool(ref))


def _parse_attr(op: str, text: str) -> AttrDef:
    match = re.fullmatch(r"\s*(\w+)\s*:\s*(.+?)\s*(?:>=\s*(-?\d+)\s*)?(?:=\s*(.+?)\s*)?", text)
    if not match:
        raise InternalError(f"The declaration of {op} has a malformed attribute {text!r}")
    name, kind, minimum, default = match.groups()
    allowed: tuple[Any, ...] = ()
    listed = re.fullmatch(r"list\((.+)\)", kind)
    choice = re.fullmatch(r"\{(.+)\}", listed[1] if listed else kind)
    if choice:
        items = [item.strip() for item in choice[1].split(",")]
        if items[0][0] in "'\"":
            base, allowed = "string", tuple(item.strip("'\"").encode() for item in items)
        else:
            base, allowed = "type", tuple(as_dtype(item) for item in items)
        kind = f"list({base})" if listed else base
    value = MISSING if default is None else attr_value.parse(default, kind)
    return AttrDef(name, kind, value, allowed, None if minimum is None else int(minimum))


def from_proto(proto: Any) -> OpDef:
    """The OpDef of a `tensorflow.OpDef` message."""
    attrs = {}
    for attr in proto.attr:
        default = attr_value.from_proto(attr.default_value) if attr.HasField("default_value") else MISSING
        allowed = (
            tuple(attr_value.from_proto(attr.allowed_values) or ()) if attr.HasField("allowed_values") else ()
        )
        minimum = attr.minimum if attr.has_minimum else None
        attrs[attr.name] = AttrDef(attr.name, attr.type, default, allowed, minimum)

    def args(items: Any) -> tuple[ArgDef, ...]:
        return tuple(
            ArgDef(
                item.name,
                as_dtype(item.type) if item.type else None,
                item.type_attr,
                item.type_list_attr,
                item.number_attr,
                item.is_ref,
            )
            for item in items
        )

    return OpDef(
        proto.name,
        args(proto.input_arg),
        args(proto.output_arg),
        attrs,
        stateful=proto.is_stateful,
        commutative=proto.is_commutative,
        aggregate=proto.is_aggregate,
        allows_uninitialized_input=proto.allows_uninitialized_input,
        extra=proto,
    )


def missing_attr(op: str, name: str) -> InvalidArgumentError:
    """The error for a node without a required attribute, in TensorFlow's words."""
    return InvalidArgumentError(f"NodeDef missing attr '{name}' from Op<name={op}>", attr=name)
