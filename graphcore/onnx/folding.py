"""What is computed while a model is exported: operators on constants, as NumPy has them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

_NAMES = {
    1: np.float32,
    2: np.uint8,
    3: np.int8,
    4: np.uint16,
    5: np.int16,
    6: np.int32,
    7: np.int64,
    9: np.bool_,
    10: np.float16,
    11: np.float64,
    12: np.uint32,
    13: np.uint64,
}


def evaluate(op: str, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> np.ndarray | None:
    """The value of an operator on constants, or None where that is left to the run."""
    function = _TABLE.get(op)
    if function is None or any(value is not None and value.dtype == object for value in inputs):
        return None
    with np.errstate(all="ignore"):
        result = function(*inputs, **attrs)
    return None if result is None else np.asarray(result)


def _reshape(x: np.ndarray, shape: np.ndarray, allowzero: int = 0) -> np.ndarray:
    kept = not allowzero
    return x.reshape([x.shape[i] if kept and n == 0 else int(n) for i, n in enumerate(shape.tolist())])


def _unsqueeze(x: np.ndarray, axes: np.ndarray) -> np.ndarray:
    rank = x.ndim + axes.size
    return np.expand_dims(x, tuple(int(axis) % rank for axis in axes))


def _squeeze(x: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
    return np.squeeze(x, None if axes is None else tuple(axes.tolist()))


def _cast(x: np.ndarray, to: int) -> np.ndarray | None:
    return x.astype(_NAMES[to]) if to in _NAMES else None


def _div(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    quotient: np.ndarray
    if a.dtype.kind == "f":
        quotient = a / b
        return quotient
    if not (b.size and (a >= 0).all() and (b > 0).all()):
        return None
    quotient = a // b
    return quotient


def _slice(x: np.ndarray, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> np.ndarray:
    axes = range(len(starts)) if axes is None else axes
    steps = np.ones(len(starts), np.int64) if steps is None else steps
    where: list[Any] = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts.tolist(), ends.tolist(), axes, steps.tolist()):
        backwards_to_first = step < 0 and end < -x.shape[axis]
        where[axis] = slice(start, None if backwards_to_first else end, step)
    part: np.ndarray = x[tuple(where)]
    return part


def _prod(x: np.ndarray, axes: Any = None, keepdims: int = 1, **_: Any) -> np.ndarray:
    along = None if axes is None else tuple(axes.tolist())
    return np.asarray(np.prod(x, axis=along, keepdims=bool(keepdims)), x.dtype)


_TABLE: dict[str, Callable[..., Any]] = {
    "Transpose": lambda x, perm: x.transpose(perm),
    "Reshape": _reshape,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Cast": _cast,
    "Identity": lambda x: x,
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": _div,
    "Max": lambda a, *rest: functools.reduce(np.maximum, rest, a),
    "Min": lambda a, *rest: functools.reduce(np.minimum, rest, a),
    "Floor": np.floor,
    "Neg": lambda x: -x,
    "Sqrt": np.sqrt,
    "Reciprocal": lambda x: np.ones((), x.dtype) / x,
    "Concat": lambda *parts, axis: np.concatenate(parts, axis),
    "Gather": lambda x, at, axis=0: x.take(at, axis),
    "Slice": _slice,
    "Shape": lambda x: np.array(x.shape, np.int64),
    "Size": lambda x: np.array(x.size, np.int64),
    "Expand": lambda x, shape: np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(shape.tolist()))),
    "Equal": lambda a, b: a == b,
    "Less": lambda a, b: a < b,
    "Not": lambda a: ~a,
    "And": lambda a, b: a & b,
    "Or": lambda a, b: a | b,
    "Where": lambda c, a, b: np.where(c, a, b),
    "ReduceProd": _prod,
}
