"""Python functions as ops: `tf.py_func`. They live as long as the process and are not saved with a graph.

Source: tensorflow/python/ops/script_ops.py and tensorflow/python/lib/core/py_func.cc (r1.15), behaviour only.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..convert import convert_n_to_tensor
from ..default import get_default_graph
from ..dtypes import as_dtype
from ..errors import InvalidArgumentError, OpError, OutOfRangeError, UnknownError
from ..op import op, raw_ops

_FUNCTIONS: weakref.WeakValueDictionary[str, _Entry] = weakref.WeakValueDictionary()
_NUMBERS = itertools.count()
_ATTRS = ("token: string", "Tin: list(type) >= 0", "Tout: list(type) >= 0")


class _Entry:
    """A registered function; its graph holds it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


def register(function: Callable[..., Any], graph: Any = None) -> str:
    """The token of a Python function, which lives as long as the graph."""
    token = f"pyfunc_{next(_NUMBERS)}"
    entry = _Entry(function)
    _FUNCTIONS[token] = entry
    graph = graph or get_default_graph()
    while getattr(graph, "outer", None) is not None:
        graph = graph.outer
    graph.get_collection_ref(("py_funcs",)).append(entry)
    return token


def _py_func(input: Any, *, token: str, node: Any) -> Any:
    """What a Python function gives."""
    entry = _FUNCTIONS.get(token)
    if entry is None:
        raise InvalidArgumentError(
            f"'{node.name}' calls the Python function {token}, which is of another process or graph: Python "
            "functions are not saved with a graph. Feed its outputs, or build the graph here."
        )
    wanted = node.attr("Tout")
    try:
        given = entry.function(*input)
    except StopIteration as error:
        raise OutOfRangeError(f"StopIteration: {error}") from error
    except OpError:
        raise
    except Exception as error:
        kind = InvalidArgumentError if isinstance(error, (TypeError, ValueError)) else UnknownError
        raise kind(f"{type(error).__name__}: {error}") from error
    results = list(given) if isinstance(given, (list, tuple)) and len(wanted) != 1 else [given]
    if len(wanted) == 1 and isinstance(given, (list, tuple)) and len(given) == 1:
        results = [given[0]]
    if not wanted:
        return []
    if len(results) != len(wanted):
        raise InvalidArgumentError(
            f"{token} returns {len(results)} values, but expects to see {len(wanted)} values."
        )
    return [
        _converted(token, index, value, dtype) for index, (value, dtype) in enumerate(zip(results, wanted))
    ]


def _converted(token: str, index: int, value: Any, dtype: Any) -> np.ndarray:
    array = np.asarray(value)
    if dtype.name == "string":
        encode = np.frompyfunc(lambda item: item.encode() if isinstance(item, str) else bytes(item), 1, 1)
        result = np.empty(array.shape, object)
        result[...] = encode(array.astype(object))
        return result
    if array.dtype != dtype.np:
        raise InvalidArgumentError(
            f"{index}-th value returned by {token} is {as_dtype(array.dtype).name}, but expects {dtype.name}"
        )
    return array


for _name, _stateful in (("PyFunc", True), ("PyFuncStateless", False)):
    op(
        _name,
        "input: Tin -> output: Tout",
        *_ATTRS,
        stateful=_stateful,
        ctx=False,
        effects=True,
        no_grad="Python functions have no derivative",
    )(_py_func).shape(lambda node: [None] * node.num_outputs)


def py_func(
    func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool = True, name: str | None = None
) -> Any:
    """`tf.py_func`: a Python function of arrays as an operation.

    Args:
        func: Takes an array for each input, gives an array or number for each of `Tout`, of its dtype.
        inp: The inputs.
        Tout: The dtypes of the results, or one dtype.
        stateful: Whether equal inputs may give different results.
        name: The operation's name.

    Returns:
        A list of tensors, or one tensor where `Tout` is one dtype.
    """
    single = not isinstance(Tout, (list, tuple))
    dtypes = [as_dtype(dtype) for dtype in ([Tout] if single else Tout)]
    kind = raw_ops.PyFunc if stateful else raw_ops.PyFuncStateless
    result = kind(
        convert_n_to_tensor(inp),
        token=register(func).encode(),
        Tout=dtypes,
        name=name,
    )
    if not dtypes:
        return result
    return result[0] if single else list(result)
