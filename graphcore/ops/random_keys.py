"""Stateless random numbers by a key and a counter, as graphs of TensorFlow 2 have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import FLOATING, INDEX, float32, int32, int64, uint32, uint64
from ..errors import InvalidArgumentError, UnimplementedError
from ..kernels import philox as kernels
from ..kernels.philox import Philox
from ..op import GraphOp, op
from ..shapes import Shape, format_shape, vector_of, with_rank, with_value
from .random_state import from_state

_NO_GRAD = "random numbers do not depend on the inputs"
_UNDEFINED = "TensorFlow has none"
_INTEGERS = (int32, int64, uint32, uint64)
_WIDE = (1 << 64) - 1
PHILOX, AUTOMATIC = 1, 3
"""Numbers of algorithms; 2 is ThreeFry, which a CPU does not have."""


def _generator(key: Any, counter: Any, alg: Any) -> Philox:
    if np.ndim(alg):
        raise InvalidArgumentError(f"alg must be a scalar, not {format_shape(np.shape(alg))}")
    if int(alg) not in (PHILOX, AUTOMATIC):
        raise UnimplementedError(f"Unsupported algorithm id: {int(alg)}; a CPU has Philox (1) only")
    if np.shape(key) != (1,):
        raise InvalidArgumentError(f"key must have shape [1], not {format_shape(np.shape(key))}")
    if np.ndim(counter) != 1 or len(counter) < 2:
        raise InvalidArgumentError(
            f"counter must have at least 2 elements, its shape is {format_shape(np.shape(counter))}"
        )
    low, high = (int(word) for word in counter[:2])
    return Philox(int(key[0]), high << 64 | low)


def _shape(node: Any) -> Shape:
    for index, rank in ((0, 1), (1, 1), (2, 1), (3, 0)):
        with_rank(node.shape(index), rank)
    if node.shape(1) is not None:
        with_value(node.shape(1)[0], 1)
    result: Shape = node.value_as_shape(0)
    return result


def _by_key(name: str, text: str, function: Callable[..., Any], types: Any) -> GraphOp:
    def kernel(shape: Any, key: Any, counter: Any, alg: Any, *, dtype: Any) -> Any:
        return function(_generator(key, counter, alg), shape, dtype)

    declared = op(
        name,
        "shape: Tshape, key: uint64, counter: uint64, alg: int32 -> output: dtype",
        dtype=types,
        Tshape=(INDEX, int32),
        no_grad=_NO_GRAD,
        text=text,
    )(kernel)
    declared.shape(_shape)
    return declared


_by_key(
    "StatelessRandomUniformV2", "Numbers in [0, 1), by a key.", kernels.random_uniform, (FLOATING, float32)
)
_by_key(
    "StatelessRandomNormalV2",
    "Normally distributed numbers, by a key.",
    kernels.random_standard_normal,
    (FLOATING, float32),
)
_by_key(
    "StatelessTruncatedNormalV2",
    "Normally distributed numbers, those beyond 2 deviations drawn again, by a key.",
    kernels.truncated_normal,
    (FLOATING, float32),
)
_by_key(
    "StatelessRandomUniformFullIntV2",
    "Integers of all values, by a key.",
    kernels.random_full_int,
    (_INTEGERS, uint64),
)


@op(
    "StatelessRandomUniformIntV2",
    "shape: Tshape, key: uint64, counter: uint64, alg: int32, minval: dtype, maxval: dtype -> output: dtype",
    dtype=_INTEGERS,
    Tshape=(INDEX, int32),
    no_grad=_NO_GRAD,
)
def stateless_random_uniform_int_v2(
    shape: Any, key: Any, counter: Any, alg: Any, minval: Any, maxval: Any, *, dtype: Any
) -> Any:
    """Integers in [minval, maxval), by a key."""
    return kernels.random_uniform_int(_generator(key, counter, alg), shape, minval, maxval, dtype)


@stateless_random_uniform_int_v2.shape
def _(node: Any) -> Shape:
    for index in (4, 5):
        with_rank(node.shape(index), 0)
    return _shape(node)


@op(
    "StatelessRandomUniformFullInt",
    "shape: T, seed: Tseed -> output: dtype",
    dtype=(_INTEGERS, uint64),
    T=(INDEX, int32),
    Tseed=(_INTEGERS, int64),
    no_grad=_NO_GRAD,
)
def stateless_random_uniform_full_int(shape: Any, seed: Any, *, dtype: Any) -> Any:
    """Integers of all values, by a seed."""
    return kernels.random_full_int(Philox.from_stateless_seed(seed), shape, dtype)


@stateless_random_uniform_full_int.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(0), 1)
    vector_of(node.shape(1), 2)
    shape: Shape = node.value_as_shape(0)
    return shape


# Keys and counters


def _key_counter(seed: Any) -> tuple[Any, Any]:
    """The key and the counter that a seed of two numbers is scrambled to."""
    generator = Philox.from_stateless_seed(seed)
    counter = np.array([generator.counter & _WIDE, generator.counter >> 64], np.uint64)
    return np.array([generator.key], np.uint64), counter


def _key_counter_shape(node: Any) -> list[Shape]:
    vector_of(node.shape(0), 2)
    shapes: list[Shape] = [(1,), (2,), ()]
    return shapes[: node.num_outputs]


op(
    "StatelessRandomGetKeyCounter",
    "seed: Tseed -> key: uint64, counter: uint64",
    Tseed=(INDEX, int64),
    undefined_grad=_UNDEFINED,
)(_key_counter).shape(_key_counter_shape)


@op(
    "StatelessRandomGetKeyCounterAlg",
    "seed: Tseed -> key: uint64, counter: uint64, alg: int32",
    Tseed=(INDEX, int64),
    undefined_grad=_UNDEFINED,
)
def stateless_random_get_key_counter_alg(seed: Any) -> tuple[Any, Any, Any]:
    """The key and the counter of a seed, and the number of the algorithm."""
    return (*_key_counter(seed), np.array(PHILOX, np.int32))


stateless_random_get_key_counter_alg.shape(_key_counter_shape)


@op("StatelessRandomGetAlg", "-> alg: int32", stateful=True, ctx=False, undefined_grad=_UNDEFINED)
def stateless_random_get_alg() -> Any:
    """The number of the algorithm of this device."""
    return np.array(PHILOX, np.int32)


stateless_random_get_alg.shape(lambda node: ())


@op(
    "RngReadAndSkip",
    "resource: resource, alg: int32, delta: uint64 -> value: int64",
    stateful=True,
    ctx=False,
    undefined_grad=_UNDEFINED,
)
def rng_read_and_skip(resource: Any, alg: Any, delta: Any) -> Any:
    """A generator's state, which then moves on as if `delta` numbers had been drawn."""
    if np.ndim(alg) or np.ndim(delta):
        raise InvalidArgumentError("alg and delta must be scalars")

    def read(generator: Philox) -> Any:
        state = [generator.counter & _WIDE, generator.counter >> 64, generator.key]
        generator.skip(int(delta) * kernels.RESERVED)
        return np.array(state, np.uint64).view(np.int64)

    return from_state(resource, PHILOX if int(alg) == AUTOMATIC else int(alg), read)


@rng_read_and_skip.shape
def _(node: Any) -> Shape:
    for index in (1, 2):
        with_rank(node.shape(index), 0)
    return (3,)
