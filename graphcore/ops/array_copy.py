"""Copies of tensors, copies with changed rows, fingerprints of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import ANY
from ..errors import InvalidArgumentError, InvalidValueError
from ..kernels.hashes import farm_fingerprint
from ..op import op
from ..shapes import Shape, format_shape, with_rank, with_rank_at_least
from . import rules

_UNDEFINED = "TensorFlow has none"


def _copied(name: str, text: str, **flags: Any) -> None:
    def kernel(x: Any) -> Any:
        return np.array(x)

    kernel.__doc__ = text
    signature = "x: T -> y: T" if name == "DeepCopy" else "input: T -> output: T"
    op(name, signature, T=ANY, undefined_grad=_UNDEFINED, **flags)(kernel).shape(rules.unchanged)


_copied("DeepCopy", "A copy that nothing else holds.", stateful=True, ctx=False)
_copied("Snapshot", "A copy of the input as it is now.")


@op("GuaranteeConst", "input: T -> output: T", T=ANY, stateful=True, ctx=False, undefined_grad=_UNDEFINED)
def guarantee_const(input: Any) -> Any:
    """The input, of which its author says that it never changes."""
    return input


guarantee_const.shape(rules.unchanged)


@op(
    "Empty",
    "shape: int32 -> output: dtype",
    "init: bool = false",
    dtype=ANY,
    stateful=True,
    ctx=False,
    undefined_grad=_UNDEFINED,
)
def empty(shape: Any, *, dtype: Any) -> Any:
    """A tensor of a shape; TensorFlow leaves its elements undefined unless `init`, here they are zero."""
    if np.ndim(shape) != 1:
        raise InvalidArgumentError(f"shape must be a vector of int32, got shape {format_shape(shape.shape)}")
    if np.any(np.less(shape, 0)):
        raise InvalidArgumentError(f"Dimensions must be >= 0, got {shape.tolist()}")
    dims = shape.tolist()
    return np.full(dims, b"", object) if np.dtype(dtype).kind == "O" else np.zeros(dims, dtype)


@empty.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(0), 1)
    known: Shape = node.value_as_shape(0)
    return known


def _inplace(name: str, change: Any, text: str) -> None:
    def kernel(x: Any, i: Any, v: Any) -> Any:
        if np.ndim(i) != 1:
            raise InvalidArgumentError(f"i must be a vector. {format_shape(np.shape(i))}")
        shapes = f"{format_shape(x.shape)} vs. {format_shape(v.shape)}"
        if x.ndim != v.ndim:
            raise InvalidArgumentError(f"x and v shape doesn't match (ranks differ): {shapes}")
        for axis in range(1, x.ndim):
            if x.shape[axis] != v.shape[axis]:
                raise InvalidArgumentError(f"x and v shape doesn't match at index {axis} : {shapes}")
        if len(i) != (v.shape[0] if v.ndim else None):
            raise InvalidArgumentError(
                f"i and x shape doesn't match at index 0: {format_shape(i.shape)} vs. {format_shape(v.shape)}"
            )
        result = np.array(x)
        if result.size and v.size:
            rows = np.mod(i, len(x))
            if change is None:
                for row, value in zip(rows, v):  # in order: of equal rows the last one counts
                    result[row] = value
            else:
                change.at(result, rows, v)
        return result

    kernel.__doc__ = text
    declared = op(name, "x: T, i: int32, v: T -> y: T", T=ANY, undefined_grad=_UNDEFINED)(kernel)
    declared.shape(rules.unchanged)


# TensorFlow writes into x, whose value is undefined afterwards; here x stays as it is.
_inplace("InplaceUpdate", None, "x with the rows i replaced by those of v; row numbers wrap around.")
_inplace("InplaceAdd", np.add, "x with the rows of v added to rows i; row numbers wrap around.")
_inplace("InplaceSub", np.subtract, "x with the rows of v subtracted from rows i; row numbers wrap around.")


@op("Fingerprint", "data: T, method: string -> fingerprint: uint8", T=ANY, undefined_grad=_UNDEFINED)
def fingerprint(data: Any, method: Any) -> Any:
    """A hash of 8 bytes of each row; the method is `farmhash64`."""
    name = bytes(method.item() if isinstance(method, np.ndarray) else method)
    if name != b"farmhash64":
        raise InvalidArgumentError(f"Unsupported method: {name.decode(errors='replace')}")
    if np.ndim(data) < 1:
        raise InvalidArgumentError(
            f"`data` should have at least one dimension: {format_shape(np.shape(data))}"
        )
    rows = data.reshape(len(data), -1) if data.size else np.empty((len(data), 0), data.dtype)
    if data.dtype != object:
        hashes = [farm_fingerprint(row.tobytes()) for row in rows]
    elif rows.shape[1] == 1:
        hashes = [farm_fingerprint(row[0]) for row in rows]
    else:
        hashes = [
            farm_fingerprint(b"".join(_eight_bytes(farm_fingerprint(item)) for item in row)) for row in rows
        ]
    return np.frombuffer(b"".join(map(_eight_bytes, hashes)), np.uint8).reshape(len(rows), 8)


def _eight_bytes(number: int) -> bytes:
    return number.to_bytes(8, "little")


@fingerprint.shape
def _(node: Any) -> Shape:
    data = with_rank_at_least(node.shape(0), 1)
    with_rank(node.shape(1), 0)
    method = node.value(1)
    if method is not None and method.item() != b"farmhash64":
        raise InvalidValueError(f"Unsupported method: {method.item().decode(errors='replace')}")
    return None if data is None else data[0], 8 if method is not None else None
