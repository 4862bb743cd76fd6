"""`tf.custom_gradient`: functions that say themselves what their gradient is.

Source: tensorflow/python/ops/custom_gradient.py (r1.15), behaviour only.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from . import logging, nest
from .convert import convert_to_tensor
from .default import control_dependencies, get_default_graph
from .errors import InvalidTypeError, InvalidValueError
from .gradients import RegisterGradient, gradients
from .op import raw_ops
from .resource_variable import ResourceVariable
from .variable_scope import get_variable_scope
from .variables import global_variables, local_variables

_numbers = itertools.count()


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates `f` so that the gradient of its results is what it gives, and not that of its operations.

    Args:
        f: A function of tensors that gives `(result, grad_fn)`: a tensor or structure of tensors, and a
            function from
            the gradients of the results to those of the arguments (None where there is none). When `f` uses
            resource variables, `grad_fn` takes a keyword `variables` and gives `(gradients of the arguments,
            gradients of the variables)`.

    Returns:
        A function of the arguments of `f` that gives the result alone. It raises TypeError when `f` uses a
        variable that
        is no resource variable, or one that `grad_fn` cannot be told of, and ValueError on keyword
        arguments or a wrong number of gradients.
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise InvalidValueError(
                "The custom_gradient decorator currently supports keywords arguments only when eager "
                "execution "
                "is enabled."
            )
        return _decorated(f, [convert_to_tensor(arg) for arg in args])

    return decorated


def _decorated(f: Callable[..., Any], args: list[Any], variables_optional: bool = False) -> Any:
    known = {id(variable) for variable in _variables()}
    result, grad_fn = f(*args)
    if any(id(each) not in known and not isinstance(each, ResourceVariable) for each in _variables()):
        raise InvalidTypeError(
            "All variables used by a function wrapped with @custom_gradient must be `ResourceVariable`s. "
            "Ensure "
            "that no `variable_scope` is created with `use_resource=False`."
        )
    results = nest.flatten(result)
    variables = _used(results, args)
    parameters = inspect.getfullargspec(grad_fn)
    takes_variables = "variables" in (*parameters.args, *parameters.kwonlyargs) or bool(parameters.varkw)
    if variables and not takes_variables:
        raise InvalidTypeError(
            "If using @custom_gradient with a function that uses variables, then grad_fn must accept a "
            "keyword "
            "argument 'variables'."
        )
    if takes_variables and not variables and not variables_optional:
        if not get_variable_scope().use_resource:
            raise InvalidTypeError(
                "If using @custom_gradient with a function that uses variables, the enclosing variable "
                "scope must "
                "have use_resource=True."
            )
        logging.warn(
            "@custom_gradient grad_fn has 'variables' in signature, but no ResourceVariables were used on "
            "the "
            "forward pass."
        )
    # One op between the inside and the outside, whose registered gradient is the given one: it takes what the
    # results are made of as inputs, too, so that gradients reach it.
    kind = f"CustomGradient-{next(_numbers)}"

    @RegisterGradient(kind)
    def _(node: Any, *arriving: Any) -> Any:
        arriving = arriving[: len(results)]
        if variables:
            to_args, to_variables = grad_fn(*arriving, variables=variables)
            if len(to_variables) != len(variables):
                raise InvalidValueError(
                    "Must return gradient for each variable from @custom_gradient grad_fn."
                )
        else:
            to_args, to_variables = grad_fn(*arriving), []
        return [None] * len(results) + nest.flatten(to_args) + list(to_variables)

    with get_default_graph().gradient_override_map({"IdentityN": kind}):
        outputs = raw_ops.IdentityN([convert_to_tensor(each) for each in (*results, *args, *variables)])
    return nest.pack_sequence_as(result, list(outputs)[: len(results)])


def _variables() -> list[Any]:
    return global_variables() + local_variables()


def _used(results: Sequence[Any], args: Sequence[Any]) -> list[ResourceVariable]:
    """The resource variables that results depend on, other than through the arguments."""
    handles = {
        variable.handle: variable for variable in _variables() if isinstance(variable, ResourceVariable)
    }
    outside = set(args)
    found: dict[int, ResourceVariable] = {}
    seen: set[Any] = set()
    stack = [convert_to_tensor(result) for result in results]
    while stack:
        tensor = stack.pop()
        if tensor in seen or tensor in outside:
            continue
        seen.add(tensor)
        if tensor in handles:
            found[id(handles[tensor])] = handles[tensor]
        stack.extend(tensor.op.inputs)
    return list(found.values())


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, whose gradient computes it anew instead of keeping what it computed."""

    def inner(*args: Any) -> Any:
        result = f(*args)

        def grad(*arriving: Any, variables: Any = None) -> Any:
            with control_dependencies(list(arriving)):
                inputs = [raw_ops.Identity(arg) for arg in args]
                again = f(*inputs)
            every = [*inputs, *(variables or [])]
            found = gradients(nest.flatten(again), every, grad_ys=list(arriving))
            return found if variables is None else (found[: len(args)], found[len(args) :])

        return result, grad

    @functools.wraps(f)
    def wrapper(*args: Any) -> Any:
        return _decorated(inner, [convert_to_tensor(arg) for arg in args], variables_optional=True)

    return wrapper


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, with the identity as its gradient (the straight-through estimator)."""

    def inner(*args: Any) -> Any:
        def grad(*arriving: Any, **kwargs: Any) -> Any:
            variables = kwargs.get("variables")
            return arriving if variables is None else (arriving, [None] * len(variables))

        return f(*args), grad

    @functools.wraps(f)
    def wrapper(*args: Any) -> Any:
        return _decorated(inner, [convert_to_tensor(arg) for arg in args], variables_optional=True)

    return wrapper
