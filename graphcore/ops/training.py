"""The optimizers' update ops, (Resource)(Sparse)Apply*: a table of rules, each declared in up to four forms.

The rules are in `kernels.updates`. Shape rules and error texts are those of
tensorflow/core/ops/training_ops.cc and tensorflow/core/kernels/training_ops.cc (r1.15).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dtypes import FLOATING, INDEX, NUMBER
from ..errors import InvalidArgumentError, InvalidValueError, UnimplementedError
from ..kernels import updates
from ..op import op
from ..shapes import Shape, merge, merge_dims, with_rank
from . import rules

_NO_GRAD = "updates of variables are not differentiable"
_NESTEROV, _SLOTS = "use_nesterov: bool = false", "update_slots: bool = true"
_DENSE = ("", "Resource")
_SPARSE = ("Sparse", "ResourceSparse")
_BOTH = _DENSE + _SPARSE


@dataclass(frozen=True)
class _Row:
    """One rule.

    Attributes:
        name: What follows `Apply`.
        variables: The variables that are updated, the first the one that is trained.
        arguments: The further inputs; the sparse forms have `indices` after the gradient.
        rule: The function of `kernels.updates`.
        attrs: Attributes besides use_locking.
        forms: What precedes `Apply`.
        signs: Inputs whose sign is checked.
        by_rows: Whether the rule is told when it gets rows.
    """

    name: str
    variables: str
    arguments: str
    rule: updates.Rule
    attrs: tuple[str, ...] = ()
    forms: tuple[str, ...] = _BOTH
    signs: tuple[str, ...] = ()
    by_rows: bool = False


_ADAM = "beta1_power beta2_power lr beta1 beta2 epsilon grad"
_FTRL_SIGNS = ("lr", "l1", "l2", "l2_shrinkage", "lr_power")
_ROWS = (
    _Row("GradientDescent", "var", "alpha delta", updates.gradient_descent, forms=_DENSE),
    _Row("Momentum", "var accum", "lr grad momentum", updates.momentum, (_NESTEROV,)),
    _Row(
        "KerasMomentum",
        "var accum",
        "lr grad momentum",
        updates.keras_momentum,
        (_NESTEROV,),
        ("Resource", "ResourceSparse"),
    ),
    _Row("Adam", "var m v", _ADAM, updates.adam, (_NESTEROV,), _DENSE),
    _Row("AdamWithAmsgrad", "var m v vhat", _ADAM, updates.adam_with_amsgrad, forms=("Resource",)),
    _Row("AdaMax", "var m v", "beta1_power lr beta1 beta2 epsilon grad", updates.ada_max, forms=_DENSE),
    _Row("AddSign", "var m", "lr alpha sign_decay beta grad", updates.add_sign, forms=_DENSE),
    _Row("PowerSign", "var m", "lr logbase sign_decay beta grad", updates.power_sign, forms=_DENSE),
    _Row("Adagrad", "var accum", "lr grad", updates.adagrad, (_SLOTS,), by_rows=True),
    _Row("AdagradV2", "var accum", "lr epsilon grad", updates.adagrad_v2, (_SLOTS,)),
    _Row(
        "AdagradDA",
        "var gradient_accumulator gradient_squared_accumulator",
        "grad lr l1 l2 global_step",
        updates.adagrad_da,
    ),
    _Row("Adadelta", "var accum accum_update", "lr rho epsilon grad", updates.adadelta, by_rows=True),
    _Row("RMSProp", "var ms mom", "lr rho momentum epsilon grad", updates.rms_prop, by_rows=True),
    _Row(
        "CenteredRMSProp",
        "var mg ms mom",
        "lr rho momentum epsilon grad",
        updates.centered_rms_prop,
        by_rows=True,
    ),
    _Row("Ftrl", "var accum linear", "grad lr l1 l2 lr_power", updates.ftrl, signs=_FTRL_SIGNS, by_rows=True),
    _Row(
        "FtrlV2",
        "var accum linear",
        "grad lr l1 l2 l2_shrinkage lr_power",
        updates.ftrl_v2,
        signs=_FTRL_SIGNS,
        by_rows=True,
    ),
    _Row("ProximalAdagrad", "var accum", "lr l1 l2 grad", updates.proximal_adagrad, signs=("lr", "l1", "l2")),
    _Row("ProximalGradientDescent", "var", "alpha l1 l2 delta", updates.proximal_gradient_descent),
)

# How messages call an input, and which sign it must have where that is checked.
_CALLED = {
    "l1": "l1 regularization strength",
    "l2": "l2 regularization strength",
    "l2_shrinkage": "l2 shrinkage regularization strength",
}
_SIGNS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "lr": ("positive", lambda value: value > 0),
    "lr_power": ("non-positive", lambda value: value <= 0),
}
_NOT_NEGATIVE: tuple[str, Callable[[Any], Any]] = ("non-negative", lambda value: value >= 0)


def _declare(row: _Row, form: str) -> None:
    by_ref, sparse = "Resource" not in form, "Sparse" in form
    names, others = row.variables.split(), row.arguments.split()
    place = next(index for index, name in enumerate(others) if name in ("grad", "delta"))
    inputs = [f"{other}: {'int64' if other == 'global_step' else 'T'}" for other in others]
    types: dict[str, Any] = {"T": NUMBER}
    if sparse:
        inputs[place : place + 1] = ["grad: T", "indices: Tindices"]
        types["Tindices"] = INDEX
    keywords = [attr.split(":")[0] for attr in row.attrs]
    lead = len(names)

    def run(args: tuple[Any, ...], **options: Any) -> Any:
        holders, values = args[:lead], list(args[lead:])
        indices = values.pop(place + 1) if sparse else None
        with holders[0].lock:
            arrays = [holder.writable() for holder in holders]
            _check(row, names, arrays, others, values, indices)
            if indices is not None:
                grad = values.pop(place)
                if row.by_rows:
                    options["by_rows"] = True
                updates.apply_to_rows(row.rule, arrays, indices, grad, place, values, **options)
            else:
                updates.apply(row.rule, arrays, place, values, **options)
        return holders[0] if by_ref else None

    def kernel(*args: Any) -> Any:
        return run(args)

    def kernel_with_attrs(*args: Any, node: Any) -> Any:
        return run(args, **{name: node.attr(name) for name in keywords})

    chosen = kernel_with_attrs if keywords else kernel
    chosen.__doc__ = row.rule.__doc__
    kind, results = ("Ref(T)", "out: Ref(T)") if by_ref else ("resource", "")
    signature = ", ".join([f"{name}: {kind}" for name in names] + inputs)
    declared = op(
        f"{form}Apply{row.name}",
        f"{signature} -> {results}",
        "use_locking: bool = false",
        *row.attrs,
        stateful=not by_ref,
        ctx=False,
        no_grad=_NO_GRAD,
        **types,
    )(chosen)

    def shape(node: Any) -> Any:
        found: Shape = rules.shape_of_variable(node, 0)
        for index in range(1, lead):
            found = merge(found, rules.shape_of_variable(node, index))
        for index in range(lead, lead + len(inputs)):
            if index == lead + place:
                found = _with_gradient(node, index, found, sparse)
            elif index != lead + place + 1 or not sparse:
                with_rank(node.shape(index), 0)
        return found if by_ref else []

    declared.shape(shape)


def _with_gradient(node: Any, index: int, shape: Shape, sparse: bool) -> Shape:
    """The variable's shape, merged with that of the gradient in input `index`."""
    grad: Shape = node.shape(index)
    if not sparse:
        return merge(shape, grad)
    (count,) = with_rank(node.shape(index + 1), 1)
    if grad is None:
        return shape
    if not grad:
        raise InvalidValueError("Shape must be at least rank 1 but is rank 0")
    merge_dims(count, grad[0])
    return merge(shape, (None, *grad[1:]))


def _check(
    row: _Row, names: list[str], arrays: list[Any], others: list[str], values: list[Any], indices: Any
) -> None:
    """Raises InvalidArgumentError where an input does not fit the variable."""
    var = arrays[0]
    if var.dtype.kind != "f" and var.dtype.name not in _FLOATING:
        raise UnimplementedError(
            f"Variables of {var.dtype.name} cannot be updated: they must be one of "
            f"{', '.join(sorted(_FLOATING))}"
        )
    for name, array in zip(names[1:], arrays[1:]):
        if array.shape != var.shape:
            raise InvalidArgumentError(
                f"var and {name} do not have the same shape{_text(var.shape)} {_text(array.shape)}"
            )
    for name, value in zip(others, values):
        if name in ("grad", "delta"):
            if indices is not None:
                _check_rows(var, value, indices)
            elif value.shape != var.shape:
                raise InvalidArgumentError(
                    f"var and {name} do not have the same shape{_text(var.shape)} {_text(value.shape)}"
                )
            continue
        word, fits = _SIGNS.get(name, _NOT_NEGATIVE)
        if np.ndim(value) or (name in row.signs and not fits(value)):
            what = f"a {word} scalar" if name in row.signs else "a scalar"
            raise InvalidArgumentError(
                f"{_CALLED.get(name, name)} is not {what}: {_text(np.shape(value))}",
                value=np.asarray(value).tolist(),
            )


def _check_rows(var: Any, grad: Any, indices: Any) -> None:
    if not var.ndim:
        raise InvalidArgumentError("var must be at least 1 dimensional")
    if indices.ndim != 1:
        raise InvalidArgumentError("indices must be one-dimensional")
    for axis in range(1, var.ndim):
        if axis >= grad.ndim or grad.shape[axis] != var.shape[axis]:
            raise InvalidArgumentError(f"var and grad must match in dimension {axis}")
    if grad.ndim != var.ndim or grad.shape[0] != len(indices):
        raise InvalidArgumentError("grad must be the same size as indices in the first dimension.")
    wrong = np.flatnonzero((indices < 0) | (indices >= len(var)))
    if wrong.size:
        at = int(wrong[0])
        raise InvalidArgumentError(
            f"Index {indices[at]} at offset {at} in indices is out of range",
            index=int(indices[at]),
            offset=at,
        )


def _text(shape: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, shape))}]"


_FLOATING = frozenset(dtype.name for dtype in FLOATING)

for _row in _ROWS:
    for _form in _row.forms:
        _declare(_row, _form)
