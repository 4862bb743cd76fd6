"""What TensorFlow's debugger puts between operations, and copies between devices.

Nothing is sent to the debugger's addresses: `debug_urls` is kept and has no effect. What is gated by a
debugger that must be connected gives an empty vector, as in TensorFlow where none is.
Source: tensorflow/core/kernels/debug_ops.h (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import ANY
from ..op import op
from ..shapes import Shape
from . import rules

_UNDEFINED = "TensorFlow declares none"
_URLS = ("device_name: string = ''", "tensor_name: string = ''", "debug_urls: list(string) = []")
_GATED = "gated_grpc: bool = false"


def _same(input: Any) -> Any:
    """The input."""
    return input


for _name in ("Copy", "CopyHost"):
    op(
        _name,
        "input: T -> output: T",
        "tensor_name: string = ''",
        "debug_ops_spec: list(string) = []",
        T=ANY,
        allows_uninitialized_input=True,
        undefined_grad=_UNDEFINED,
    )(_same).shape(rules.unchanged)


@op(
    "DebugIdentity",
    "input: T -> output: T",
    *_URLS,
    _GATED,
    T=ANY,
    allows_uninitialized_input=True,
    undefined_grad=_UNDEFINED,
)
def debug_identity(input: Any, *, gated_grpc: bool) -> Any:
    """The input."""
    return np.asarray(input).reshape(-1)[:0] if gated_grpc else input


@debug_identity.shape
def _(node: Any) -> Shape:
    given: Shape = node.shape(0)
    return (0,) if node.attr("gated_grpc") else given


@op(
    "DebugNanCount",
    "input: T -> output: int64",
    *_URLS,
    _GATED,
    T=ANY,
    allows_uninitialized_input=True,
    undefined_grad=_UNDEFINED,
)
def debug_nan_count(input: Any, *, gated_grpc: bool) -> Any:
    """How many numbers are NaN."""
    if gated_grpc:
        return np.empty(0, np.int64)
    return np.array([np.count_nonzero(np.isnan(np.asarray(input, np.float64)))], np.int64)


debug_nan_count.shape(lambda node: (0,) if node.attr("gated_grpc") else (1,))


@op(
    "DebugNumericSummary",
    "input: T -> output: float64",
    *_URLS,
    "lower_bound: float = -inf",
    "upper_bound: float = inf",
    "mute_if_healthy: bool = false",
    _GATED,
    T=ANY,
    allows_uninitialized_input=True,
    undefined_grad=_UNDEFINED,
)
def debug_numeric_summary(
    input: Any, *, lower_bound: float, upper_bound: float, gated_grpc: bool, node: Any
) -> Any:
    """How many numbers are of which kind, and what they are like, in 14 numbers and the shape."""
    if gated_grpc:
        return np.empty(0, np.float64)
    values = np.asarray(input, np.float64).reshape(-1)
    finite = values[np.isfinite(values)]
    low = finite <= lower_bound if np.isfinite(lower_bound) else np.zeros(len(finite), bool)
    high = ~low & (finite >= upper_bound) if np.isfinite(upper_bound) else np.zeros(len(finite), bool)
    rest = finite[~low & ~high]
    mean = finite.sum() / len(finite) if len(finite) else np.nan
    head = [
        1,
        len(values),
        np.count_nonzero(np.isnan(values)),
        np.count_nonzero(values == -np.inf) + np.count_nonzero(low),
        np.count_nonzero(rest < 0),
        np.count_nonzero(rest == 0),
        np.count_nonzero(rest > 0),
        np.count_nonzero(values == np.inf) + np.count_nonzero(high),
        finite.min(initial=np.inf),
        finite.max(initial=-np.inf),
        mean,
        ((finite - mean) ** 2).sum() / len(finite) if len(finite) else np.nan,
        node.attr("T").base_dtype.as_datatype_enum,
        np.ndim(input),
    ]
    return np.array([*head, *np.shape(input)], np.float64)


@debug_numeric_summary.shape
def _(node: Any) -> Shape:
    given = node.shape(0)
    if node.attr("gated_grpc"):
        return (0,)
    return (None if given is None else 14 + len(given),)


# The debugger finds these by their type, and gradients go through them.
_gradient_identity = op(
    "DebugGradientIdentity", "input: T -> output: T", T=ANY, allows_uninitialized_input=True
)(_same)
_gradient_ref_identity = op(
    "DebugGradientRefIdentity", "input: Ref(T) -> output: Ref(T)", T=ANY, allows_uninitialized_input=True
)(_same)
for _declared in (_gradient_identity, _gradient_ref_identity):
    _declared.shape(rules.unchanged)
    _declared.grad(lambda node, dy: dy)
