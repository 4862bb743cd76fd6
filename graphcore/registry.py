"""The table of ops: declaration, kernel, shape rule and gradient of each, in one `Op`.

An op is declared once, in its family file under `ops/`; nothing here knows graphs. `Op.bind` makes the
callable that a compiled plan runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any, TypeVar

from . import attr_value, op_def
from .errors import InternalError, InvalidArgumentError, NotFoundError
from .op_def import OpDef

Function = TypeVar("Function", bound=Callable[..., Any])


class Op:
    """One op type.

    Attributes:
        name: The op type, `MatMul`.
        kernel: Arrays in, arrays out; several outputs as a tuple, list inputs as a list. Keyword-only
            parameters are attributes (and `node`, the operation itself); see `attr_value.for_kernel`
            for their types. A `takes_ctx` kernel gets the run's context first.
        shape_fn: From a shape context (`shape_inference.ShapeContext`) to the output shape (a tuple
            or None), or to a list of them where the op has several outputs or a list output.
        grad_fn: From (operation, *output gradients) to the gradients of the inputs, built out of
            TensorFlow ops; None for an input without one.
        no_grad: Why the op has no gradient, or None; gradients stop there.
        undefined_grad: Why TensorFlow defines none, or None; asking for it is an error, as there.
        elementwise: Whether the kernel is element-wise and takes `out=`, so that a dead input's
            buffer can be reused.

    What the op computes is its docstring: `text`, or that of the kernel.
    """

    def __init__(
        self,
        name: str,
        signature: str,
        attrs: tuple[str, ...],
        types: dict[str, Any],
        kernel: Callable[..., Any],
        *,
        stateful: bool = False,
        ctx: bool | None = None,
        effects: bool | None = None,
        elementwise: bool = False,
        commutative: bool = False,
        aggregate: bool = False,
        allows_uninitialized_input: bool = False,
        no_grad: str | None = None,
        undefined_grad: str | None = None,
        text: str = "",
    ) -> None:
        self.name = name
        self.kernel = kernel
        self.takes_ctx = stateful if ctx is None else ctx
        self.elementwise = elementwise
        self.no_grad = no_grad
        self.undefined_grad = undefined_grad
        self.shape_fn: Callable[..., Any] | None = None
        self.grad_fn: Callable[..., Any] | None = None
        self.specialize_fn: Callable[..., Any] | None = None
        self._effects = effects
        self._declaration = (signature, attrs, types)
        self._flags = {
            "stateful": stateful,
            "commutative": commutative,
            "aggregate": aggregate,
            "allows_uninitialized_input": allows_uninitialized_input,
        }
        # A ufunc's own docstring is NumPy's, of many pages.
        self.__doc__ = text or (None if hasattr(kernel, "nin") else kernel.__doc__)
        self.__name__ = name

    @property
    def summary(self) -> str:
        """What the op computes, in one line."""
        return " ".join((self.__doc__ or "").split("\n\n")[0].split())

    @cached_property
    def definition(self) -> OpDef:
        """The parsed declaration."""
        signature, attrs, types = self._declaration
        return op_def.parse(self.name, signature, attrs, types, **self._flags)

    @cached_property
    def is_pure(self) -> bool:
        """Whether equal inputs always give equal outputs and nothing else happens.

        Only pure ops are folded, merged or moved.
        """
        if self._effects is not None:
            return not self._effects
        args = self.definition.inputs + self.definition.outputs
        handles = any(
            arg.is_ref or (arg.dtype is not None and arg.dtype.name in ("resource", "variant"))
            for arg in args
        )
        return not (self.definition.stateful or self.takes_ctx or handles)

    @cached_property
    def _keywords(self) -> tuple[str, ...]:
        known = {*self.definition.attrs, "node"}
        if hasattr(self.kernel, "nin"):  # a ufunc; before NumPy 2.3 they have no signature to ask
            return ()
        parameters = inspect.signature(self.kernel).parameters.values()
        return tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name in known)

    def bind(self, node: Any) -> Callable[..., Any]:
        """The kernel for one node, taking its input values flat (list inputs not grouped).

        Args:
            node: The operation; `node.attr(name)` gives decoded attributes.
        """
        keywords = {
            name: node if name == "node" else attr_value.for_kernel(node.attr(name))
            for name in self._keywords
        }
        kernel = partial(self.kernel, **keywords) if keywords else self.kernel
        if not self.definition.has_list_inputs:
            return kernel
        sizes = self.definition.input_sizes(node.attr)
        lists = [arg.is_list for arg in self.definition.inputs]
        lead = 1 if self.takes_ctx else 0
        if lists == [True] and not lead:
            return lambda *values: kernel(list(values))
        return _grouping(kernel, sizes, lists, lead)

    # Decorators that attach the rules, used right below the kernel.

    def shape(self, function: Function) -> Function:
        """Attaches the shape rule."""
        self.shape_fn = function
        return function

    def grad(self, function: Function) -> Function:
        """Attaches the gradient."""
        self.grad_fn = function
        return function

    def specialize(self, function: Function) -> Function:
        """Attaches the specializer: called once a plan, gives the callable that runs, or None."""
        self.specialize_fn = function
        return function

    def __repr__(self) -> str:
        return f"<op {self.name}>"


class FunctionOp(Op):
    """A function of a graph's library, called as a node whose op type is its name (old `Defun` calls).

    Args:
        signature: The function's OpDef message.
    """

    def __init__(self, signature: Any) -> None:
        super().__init__(signature.name, "->", (), {}, _call_function, ctx=True)
        self.__dict__["definition"] = op_def.from_proto(signature)

    def bind(self, node: Any) -> Callable[..., Any]:
        """The call of the function with the node's attributes."""
        return partial(_call_function, node=node)


def _call_function(ctx: Any, *args: Any, node: Any) -> Any:
    results = ctx.call(node.as_call(), args, node.name)
    return results[0] if node.num_outputs == 1 else results


def _grouping(
    kernel: Callable[..., Any], sizes: list[int], lists: list[bool], lead: int
) -> Callable[..., Any]:
    """`kernel` called with the flat inputs grouped into its list arguments."""

    def grouped(*values: Any) -> Any:
        args: list[Any] = list(values[:lead])
        start = lead
        for size, is_list in zip(sizes, lists):
            args.append(list(values[start : start + size]) if is_list else values[start])
            start += size
        return kernel(*args)

    return grouped


_OPS: dict[str, Op] = {}
_REGISTERED_GRADIENTS: dict[str, Callable[..., Any] | None] = {}


def register(op: Op) -> Op:
    """Adds an op to the table.

    Raises:
        InternalError: The op type is declared already.
    """
    if op.name in _OPS:
        raise InternalError(f"The op {op.name} is declared twice")
    _OPS[op.name] = op
    return op


def find(name: str) -> Op | None:
    """The op of that type, or None where we do not implement it."""
    return _OPS.get(name)


def all_ops() -> Iterator[Op]:
    """Every declared op, by name."""
    return iter([_OPS[name] for name in sorted(_OPS)])


def register_gradient(name: str, function: Callable[..., Any] | None) -> None:
    """Registers a user's gradient function under `name` (None: not differentiable).

    Raises:
        KeyError: The name is taken.
    """
    if name in _REGISTERED_GRADIENTS:
        raise KeyError(
            f"Registering two gradient with name '{name}'! (Previous registration was in register_gradient)"
        )
    _REGISTERED_GRADIENTS[name] = function


def gradient_function(node: Any) -> Callable[..., Any] | None:
    """The gradient function of an operation, or None where it is not differentiable.

    A `gradient_override_map` entry (attribute `_gradient_op_type`) comes first.

    Raises:
        NotFoundError: The overriding name is not registered.
        LookupError: The op type has no gradient, neither a function nor a decision.
    """
    override = node.attr("_gradient_op_type") if node.has_attr("_gradient_op_type") else None
    name = node.type if override is None else override.decode()
    if name in _REGISTERED_GRADIENTS:
        return _REGISTERED_GRADIENTS[name]
    op = _OPS.get(name)
    if op is None and override is not None:
        raise NotFoundError(f"The gradient '{name}' that operation '{node.name}' asks for is not registered")
    if op is None or (op.grad_fn is None and op.no_grad is None):
        reason = f": {op.undefined_grad}" if op is not None and op.undefined_grad else ""
        raise LookupError(f"No gradient defined for operation '{node.name}' (op type: {node.type}){reason}")
    return op.grad_fn


def gradient_function_of(op_type: str) -> Callable[..., Any] | None:
    """The gradient function of an op type."""
    return _OPS[op_type].grad_fn


def check_arity(op: str, given: int, expected: int) -> None:
    """Raises InvalidArgumentError unless a node has as many inputs as its op declares."""
    if given != expected:
        raise InvalidArgumentError(f"Op<name={op}> expects {expected} inputs, but {given} were given")
