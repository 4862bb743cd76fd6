"""The table of op cases: what to feed to an op and what comes out, one file per family.

Each family file has a list `CASES`. The generic tests in tests/graphcore/ops run all of them, against
NumPy (`expect`) and, where a TensorFlow is at hand, against it.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Var:
    """An input that is a variable: a ref or a resource, as the op declares, with an initial value."""

    value: Any


@dataclass(frozen=True)
class Quantized:
    """An input of a quantized dtype, `quint8` and the like, by the integers that stand for it."""

    value: Any
    dtype: str


@dataclass(frozen=True)
class Case:
    """One call of an op.

    Attributes:
        op: The op type.
        inputs: An array, a list of arrays (list inputs), a Var or a Quantized for each input argument.
        attrs: Attributes that do not follow from the inputs.
        expect: The outputs (a tuple of several), or a function of the inputs that gives them; after
            them the final values of all Vars.
        grad: Which inputs the gradient is checked for (None: all floating ones), or why for none.
        through: The outputs that are differentiated (None: all floating ones).
        numeric: Whether the gradient is checked against a difference, or why not.
        second: Whether the gradient of the gradient is checked as well, or why not.
        oracle: Whether TensorFlow's values are compared, or of which outputs, or why not.
        oracle_grad: The same for its gradients.
        exported: Whether TensorFlow runs the gradients that we build, or why not.
        rtol: Relative tolerance, where the dtype's own is not enough.
        atol: Absolute tolerance.
        note: What is special, part of the test's name.
    """

    op: str
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]
    expect: Any
    grad: Sequence[int] | str | None = None
    through: Sequence[int] | None = None
    numeric: bool | str = True
    second: bool | str = True
    oracle: bool | str | tuple[int, ...] = True
    oracle_grad: bool | str = True
    exported: bool | str = True
    rtol: float = 0.0
    atol: float = 0.0
    note: str = ""

    def expected(self) -> list[np.ndarray]:
        """The expected outputs."""
        value = self.expect
        if callable(value):
            with np.errstate(all="ignore"):
                value = value(*[_plain(item) for item in self.inputs])
        return list(value) if isinstance(value, (tuple, list)) else [value]


_OPTIONS = (
    "grad",
    "through",
    "numeric",
    "second",
    "oracle",
    "oracle_grad",
    "exported",
    "rtol",
    "atol",
    "note",
)


def case(op: str, *inputs: Any, expect: Any, **attrs: Any) -> Case:
    """A case; keywords that are no fields of `Case` are attributes of the op."""
    options = {key: attrs.pop(key) for key in _OPTIONS if key in attrs}
    return Case(op, tuple(_array(item) for item in inputs), attrs, expect, **options)


def _plain(item: Any) -> Any:
    if isinstance(item, list):
        return [_plain(part) for part in item]
    return item.value if isinstance(item, (Var, Quantized)) else item


def _array(item: Any) -> Any:
    if isinstance(item, Var):
        return Var(_array(item.value))
    if isinstance(item, Quantized) or (isinstance(item, list) and item and isinstance(item[0], Quantized)):
        return item
    if isinstance(item, list) and item and isinstance(item[0], (np.ndarray, np.generic)):
        return [np.asarray(part) for part in item]
    if isinstance(item, np.ndarray):
        return item
    array = np.asarray(item)
    if array.dtype.kind in "SU":
        return text(item)
    if array.dtype == np.float64 and not isinstance(item, np.generic):
        return array.astype(np.float32)
    if array.dtype == np.int64 and not isinstance(item, np.generic):
        return array.astype(np.int32)
    return array


def text(value: Any) -> np.ndarray:
    """An array of bytes."""
    array = np.array(value, dtype=object)
    encode = np.frompyfunc(lambda item: item.encode() if isinstance(item, str) else item, 1, 1)
    result = np.empty(array.shape, object)
    result[...] = encode(array)
    return result


def floats(
    *shape: int, seed: int = 0, low: float = -2.0, high: float = 2.0, dtype: Any = np.float32
) -> np.ndarray:
    """Reproducible numbers in [low, high), none close to another one or to an integer.

    Gradients of maxima, relu and the like are not checked at their corners this way.
    """
    count = int(np.prod(shape, dtype=np.int64))
    steps = (np.arange(count) + 0.37) / max(count, 1)
    order = np.random.default_rng(seed).permutation(count)
    return (low + (high - low) * steps[order]).reshape(shape).astype(dtype)


def ints(*shape: int, seed: int = 0, low: int = -9, high: int = 10, dtype: Any = np.int32) -> np.ndarray:
    """Reproducible integers in [low, high)."""
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def specials(dtype: Any = np.float32) -> np.ndarray:
    """Numbers that element-wise functions treat in their own ways."""
    large = 6e4 if np.dtype(dtype).itemsize == 2 else 1e30
    return np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1 / large, -large], dtype)


@functools.cache
def families() -> dict[str, list[Case]]:
    """The cases of each family file."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            with np.errstate(all="ignore"):
                found[module.name] = list(importlib.import_module(f"{__name__}.{module.name}").CASES)
    return found


def all_cases() -> list[tuple[str, Case]]:
    """Every case with a name of its own: `Op-3-note`."""
    rows, counts = [], dict[str, int]()
    for cases in families().values():
        for item in cases:
            number = counts[item.op] = counts.get(item.op, -1) + 1
            rows.append((f"{item.op}-{number}{'-' + item.note if item.note else ''}", item))
    return rows


Function = Callable[..., Any]
