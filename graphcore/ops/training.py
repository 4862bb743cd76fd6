"""The optimizers' update ops (Apply*), for ref and resource variables.

Each update is a plain function on arrays, in place; both kinds of variables share it. Formulas are
those of tensorflow/core/kernels/training_ops.cc (r1.15), each named in its function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import INDEX, NUMBER
from ..errors import InvalidArgumentError
from ..op import op
from . import rules

_NO_GRAD = "updates of variables are not differentiable"
Update = Callable[..., None]


def apply_op(
    name: str, variables: str, arguments: str, update: Update, *attrs: str, sparse: bool = False
) -> None:
    """Declares `Apply<name>` and `ResourceApply<name>` (or their Sparse forms).

    Args:
        name: What follows `Apply`.
        variables: The variables that are updated, in order, the first the one that is trained.
        arguments: The further inputs in order.
        update: Function of the arrays in that order, attributes as keywords; updates in place.
        *attrs: Further attributes.
        sparse: Whether `indices` (an argument then) says which rows `grad` is for.
    """
    names, others = variables.split(), arguments.split()
    lead = len(names)
    kinds = {"indices": "Tindices"} if sparse else {}
    inputs = [f"{other}: {kinds.get(other, 'T')}" for other in others]
    types: dict[str, Any] = {"T": NUMBER} | ({"Tindices": INDEX} if sparse else {})
    prefix = "Sparse" if sparse else ""
    attrs = ("use_locking: bool = false", *attrs)
    keywords = [attr.split(":")[0].strip() for attr in attrs[1:]]

    def run(holders: tuple[Any, ...], values: tuple[Any, ...], options: dict[str, Any]) -> None:
        with holders[0].lock:
            arrays = [holder.writable() for holder in holders]
            _check(names, arrays, others, values, sparse)
            update(*arrays, *values, **options)

    def make(as_reference: bool) -> Callable[..., Any]:
        if "use_nesterov" in keywords:

            def kernel(*args: Any, use_nesterov: bool) -> Any:
                run(args[:lead], args[lead:], {"use_nesterov": use_nesterov})
                return args[0] if as_reference else None
        else:

            def kernel(*args: Any) -> Any:  # type: ignore[misc]
                run(args[:lead], args[lead:], {})
                return args[0] if as_reference else None

        kernel.__doc__ = update.__doc__
        return kernel

    refs = ", ".join([f"{item}: Ref(T)" for item in names] + inputs)
    declared = op(f"{prefix}Apply{name}", f"{refs} -> out: Ref(T)", *attrs, no_grad=_NO_GRAD, **types)(
        make(True)
    )
    declared.shape(rules.unchanged)
    handles = ", ".join([f"{item}: resource" for item in names] + inputs)
    declared = op(
        f"Resource{prefix}Apply{name}",
        f"{handles} ->",
        *attrs,
        stateful=True,
        ctx=False,
        no_grad=_NO_GRAD,
        **types,
    )(make(False))
    declared.shape(rules.nothing)


def _check(
    names: list[str], arrays: list[Any], others: list[str], values: tuple[Any, ...], sparse: bool
) -> None:
    """Raises InvalidArgumentError where a shape does not fit the variable's."""
    shape = arrays[0].shape
    for name, array in zip(names[1:], arrays[1:]):
        if array.shape != shape:
            raise InvalidArgumentError(
                f"var and {name} do not have the same shape{list(shape)} {list(array.shape)}"
            )
    for name, value in zip(others, values):
        if name in ("grad", "delta"):
            if not sparse and value.shape != shape:
                raise InvalidArgumentError(
                    f"var and {name} do not have the same shape{list(shape)} {list(value.shape)}"
                )
        elif name == "indices":
            flat = np.asarray(value)
            wrong = np.flatnonzero((flat < 0) | (flat >= shape[0]))
            if wrong.size:
                raise InvalidArgumentError(
                    f"Index {flat[wrong[0]]} at offset {wrong[0]} in indices is out of range"
                )
        elif np.ndim(value):
            raise InvalidArgumentError(f"{name} is not a scalar: {list(np.shape(value))}")


def _gradient_descent(var: Any, alpha: Any, delta: Any) -> None:
    """Var -= alpha * delta."""
    var -= alpha * delta


def _momentum(var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, *, use_nesterov: bool) -> None:
    """Accum = accum * momentum + grad; var -= lr * accum (Nesterov: lr * grad + lr * momentum * accum)."""
    accum *= momentum
    accum += grad
    if use_nesterov:
        var -= grad * lr + accum * momentum * lr
    else:
        var -= accum * lr


def _sparse_momentum(
    var: Any, accum: Any, lr: Any, grad: Any, indices: Any, momentum: Any, *, use_nesterov: bool
) -> None:
    """As ApplyMomentum on the rows `indices`, one after the other."""
    for row, index in enumerate(indices.tolist()):
        _momentum_row(var, accum, index, lr, grad[row], momentum, use_nesterov)


def _momentum_row(
    var: Any, accum: Any, index: int, lr: Any, grad: Any, momentum: Any, nesterov: bool
) -> None:
    accum[index] = accum[index] * momentum + grad
    var[index] -= grad * lr + accum[index] * momentum * lr if nesterov else accum[index] * lr


def _adam(
    var: Any,
    m: Any,
    v: Any,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: Any,
    *,
    use_nesterov: bool,
) -> None:
    """Adam (Kingma and Ba, 2015), with epsilon outside the bias correction as TensorFlow has it."""
    one = var.dtype.type(1)
    alpha = lr * np.sqrt(one - beta2_power) / (one - beta1_power)
    m += (grad - m) * (one - beta1)
    v += (np.square(grad) - v) * (one - beta2)
    step = grad * (one - beta1) + beta1 * m if use_nesterov else m
    var -= (step * alpha) / (np.sqrt(v) + epsilon)


apply_op("GradientDescent", "var", "alpha delta", _gradient_descent)
apply_op("Momentum", "var accum", "lr grad momentum", _momentum, "use_nesterov: bool = false")
apply_op(
    "Momentum",
    "var accum",
    "lr grad indices momentum",
    _sparse_momentum,
    "use_nesterov: bool = false",
    sparse=True,
)
apply_op(
    "Adam",
    "var m v",
    "beta1_power beta2_power lr beta1 beta2 epsilon grad",
    _adam,
    "use_nesterov: bool = false",
)
