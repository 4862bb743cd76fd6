"""Assertions about the ranks and shapes of tensors: `tf.assert_rank`, `tf.debugging.assert_shapes` and kin.

What is known when the graph is built is checked then; the rest becomes an Assert operation.

Source: tensorflow/python/ops/check_ops.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .checks import assert_type
from .conditional import cond
from .convert import convert_to_tensor
from .default import control_dependencies, name_scope
from .dtypes import int32
from .errors import InvalidValueError
from .op import group, no_op, raw_ops
from .operation import Tensor
from .ops.array_shape import tf_rank, tf_shape
from .ops.control_flow import tf_assert, with_dependencies
from .tensor_util import constant_value


def _rank_check(
    kind: str,
    words: str,
    x: Any,
    ranks: Sequence[Any],
    holds: Callable[[int, Sequence[int]], bool],
    condition: Callable[[Any, Sequence[Any]], Any],
    shown: Callable[[Sequence[int]], str],
    data: Any,
    summarize: int | None,
    message: str | None,
    name: str | None,
) -> Any:
    """What the three rank assertions share.

    Args:
        kind: The function's name.
        words: What the error says of the ranks.
        x: The tensor.
        ranks: The ranks: one, but for `assert_rank_in`.
        holds: Whether a known rank is right, given the known ranks.
        condition: The same of tensors.
        shown: How the error writes the ranks.
        data: See `assert_rank`.
        summarize: See `assert_rank`.
        message: See `assert_rank`.
        name: See `assert_rank`.
    """
    with name_scope(name, kind, [x, *ranks, *(data or [])]):
        x = convert_to_tensor(x, name="x")
        ranks = [convert_to_tensor(rank, name="rank") for rank in ranks]
        message = message or ""
        if data is None:
            data = [message, f"Tensor {x.name} {words}", *ranks, "Received shape: ", tf_shape(x)]
        for rank in ranks:
            assert_type(rank, int32)
        known = [constant_value(rank) for rank in ranks]
        if all(rank is not None for rank in known):
            if any(np.ndim(rank) for rank in known):
                raise InvalidValueError("Rank must be a scalar.")
            actual = x.get_shape().ndims
            if actual is not None:
                if not holds(actual, known):
                    raise InvalidValueError(
                        f"{message}.  Tensor {x.name} {words} {shown(known)}.  Received rank {actual}, "
                        f"shape {x.get_shape()}"
                    )
                return no_op(name="static_checks_determined_all_ok")
        checked = condition(tf_rank(x), ranks)
        for rank, value in zip(ranks, known):
            if value is None:
                scalar = assert_rank(rank, 0, data=["Rank must be a scalar. Received rank: ", rank])
                checked = with_dependencies([scalar], checked)
        return tf_assert(checked, data, summarize=summarize)


def assert_rank(
    x: Any,
    rank: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """An operation that fails unless `x` has the rank `rank`.

    Args:
        x: Tensor.
        rank: Scalar int32.
        data: What the error shows; by default a sentence, the rank and the shape.
        summarize: How many elements of each tensor it shows, 3 by default.
        message: What the error says first.
        name: Name scope.

    Raises:
        ValueError: It is known now that the rank is another, or `rank` is no scalar.
    """
    return _rank_check(
        "assert_rank",
        "must have rank",
        x,
        [rank],
        lambda actual, given: actual == given[0],
        lambda actual, given: raw_ops.Equal(actual, given[0]),
        lambda given: str(int(given[0])),
        data,
        summarize,
        message,
        name,
    )


def assert_rank_at_least(
    x: Any,
    rank: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """An operation that fails unless the rank of `x` is at least `rank`; arguments as `assert_rank`.

    Raises:
        ValueError: It is known now that the rank is smaller, or `rank` is no scalar.
    """
    return _rank_check(
        "assert_rank_at_least",
        "must have rank at least",
        x,
        [rank],
        lambda actual, given: actual >= given[0],
        lambda actual, given: raw_ops.GreaterEqual(actual, given[0]),
        lambda given: str(int(given[0])),
        data,
        summarize,
        message,
        name,
    )


def assert_rank_in(
    x: Any,
    ranks: Iterable[Any],
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """An operation that fails unless the rank of `x` is one of `ranks`; arguments as `assert_rank`.

    Raises:
        ValueError: It is known now that it is none of them, or one of them is no scalar.
    """

    def is_one(actual: Any, given: Sequence[Any]) -> Any:
        if not given:
            return convert_to_tensor(False)
        result = raw_ops.Equal(given[0], actual)
        for rank in given[1:]:
            result = raw_ops.LogicalOr(result, raw_ops.Equal(rank, actual))
        return result

    return _rank_check(
        "assert_rank_in",
        "must have rank in",
        x,
        list(ranks),
        lambda actual, given: actual in given,
        is_one,
        lambda given: str(tuple(int(rank) for rank in given)),
        data,
        summarize,
        message,
        name,
    )


def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Any:
    """`tensor` as a tensor, checked to be a scalar.

    Raises:
        ValueError: Its static shape is not known to be that of a scalar.
    """
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name=scope)
        if tensor.get_shape().ndims != 0:
            raise InvalidValueError(
                f"{message or ''}Expected scalar shape for {tensor.name}, saw shape: {tensor.get_shape()}."
            )
        return tensor


def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """An operation that fails unless tensors have the shapes that symbols describe.

    Args:
        shapes: Pairs (a dict or a list) of a tensor and a tuple of, for each dimension, an int, a
            symbol (anything that hashes; one symbol stands for one size throughout), or None or "." for any
            size. A first entry `...` or "*" stands for any number of dimensions. A scalar counts as a
            vector of one element. None instead of a tuple says nothing.
        data: What the error shows.
        summarize: How many elements of each tensor it shows, 3 by default.
        message: What the error says first.
        name: Name scope.

    Raises:
        ValueError: It is known now that a shape is another, or a description is no such tuple.
    """
    message = message or ""
    pairs = list(shapes.items() if isinstance(shapes, dict) else shapes)
    with name_scope(name, "assert_shapes", [[tensor for tensor, _ in pairs], data]):
        rows = []
        for value, symbols in pairs:
            if symbols is None:
                continue
            tensor = convert_to_tensor(value)
            symbols, is_open = _symbols(tensor, symbols, message)
            rows.append((tensor, is_open, _sizes(tensor), symbols))
        ranks = []
        for tensor, is_open, _, symbols in rows:
            if len(symbols) > 1:
                check = assert_rank_at_least if is_open else assert_rank
                ranks.append(check(tensor, len(symbols), data, summarize, message, name))
            elif not is_open:
                ranks.append(assert_rank_in(tensor, [0, 1], data, summarize, message, name))
        checks = []
        seen: dict[Any, tuple[Any, str]] = {}
        for tensor, is_open, sizes, symbols in rows:
            for index, symbol in enumerate(symbols):
                if symbol is None or symbol == ".":
                    continue
                axis = index - len(symbols) if is_open else index
                actual = sizes[axis]
                size = _as_int(symbol)
                if size is not None:
                    wanted, source = size, "Specified explicitly"
                elif symbol in seen:
                    wanted, source = seen[symbol]
                else:
                    seen[symbol] = actual, f"Specified by tensor {tensor.name} dimension {axis}"
                    continue
                if isinstance(actual, int) and isinstance(wanted, int):
                    if actual != wanted:
                        raise InvalidValueError(
                            f"{message}.  {source}.  Tensor {tensor.name} dimension {axis} must have size "
                            f"{wanted}.  Received size {actual}, shape {tensor.get_shape()}"
                        )
                    continue
                shown = data or [
                    message,
                    source,
                    f"Tensor {tensor.name} dimension",
                    axis,
                    "must have size",
                    wanted,
                    "Received shape: ",
                    tf_shape(tensor),
                ]
                equal = raw_ops.Equal(convert_to_tensor(actual), convert_to_tensor(wanted))
                checks.append(tf_assert(equal, shown, summarize=summarize))
        with control_dependencies(ranks):
            return group(*checks)


def _symbols(tensor: Tensor, symbols: Any, message: str) -> tuple[tuple[Any, ...], bool]:
    """The described dimensions, and whether more may stand before them."""
    if not hasattr(symbols, "__iter__"):
        raise InvalidValueError(
            f"{message}.  Tensor {tensor.name}.  Specified shape must be an iterable.  An iterable has the "
            f"attribute `__iter__` or `__getitem__`.  Received specified shape: {symbols}"
        )
    symbols = tuple(symbols)
    for index, symbol in enumerate(symbols):
        if index and (symbol is Ellipsis or symbol == "*"):
            raise InvalidValueError(
                f"{message}.  Tensor {tensor.name} specified shape index {index}.  Symbol `...` or `*` for a "
                "variable number of unspecified dimensions is only allowed as the first entry"
            )
    is_open = bool(symbols) and (symbols[0] is Ellipsis or symbols[0] == "*")
    return (symbols[1:] if is_open else symbols) or (1,), is_open


def _sizes(tensor: Tensor) -> Any:
    """The sizes of the dimensions, ints where they are known now; a scalar has one of size 1."""
    static = tensor.get_shape()
    if static.ndims == 0:
        return (1,)
    dynamic = tf_shape(tensor)
    if static.ndims is None:
        return cond(
            raw_ops.Equal(tf_rank(tensor), 0),
            lambda: convert_to_tensor([1]),
            lambda: raw_ops.Identity(dynamic),
        )
    return [dynamic[axis] if size is None else size for axis, size in enumerate(static.as_list())]


def _as_int(symbol: Any) -> int | None:
    try:
        return int(symbol)
    except (TypeError, ValueError):
        return None
