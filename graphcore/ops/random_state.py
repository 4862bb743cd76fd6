"""Random numbers of more distributions, and those whose generator's state is a variable of the user's."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import ANY, FLOATING, INDEX, as_dtype, float16, float32, float64, int32, int64, uint64
from ..errors import InvalidArgumentError, InvalidValueError
from ..kernels import philox as kernels, philox_rejection
from ..kernels.philox import Philox
from ..kernels.philox_binomial import random_binomial
from ..op import GraphOp, op, raw_ops
from ..random_seed import get_seed
from ..shapes import Shape, format_shape, with_rank, with_rank_at_most
from .random import draw

_SEEDS = ("seed: int = 0", "seed2: int = 0")
_UNDEFINED = "TensorFlow has none"
_FLOATS = (float16, float32, float64)
_PARAMETERS = (*_FLOATS, int32, int64)


def _leading_shape(node: Any) -> Shape:
    """The shape in the first input, followed by that of the second."""
    with_rank(node.shape(0), 1)
    lead, rest = node.value_as_shape(0), node.shape(1)
    return None if lead is None or rest is None else (*lead, *rest)


@op("RandomGamma", "shape: S, alpha: T -> output: T", *_SEEDS, S=INDEX, T=_FLOATS, stateful=True)
def random_gamma_op(ctx: Any, shape: Any, alpha: Any, *, node: Any) -> Any:
    """Numbers with density x^(alpha - 1) exp(-x) / gamma(alpha), for each alpha."""
    return draw(ctx, node, philox_rejection.random_gamma, shape, alpha)


@random_gamma_op.grad
def _(node: Any, dy: Any) -> Any:
    """By implicit differentiation, summed over the samples of each alpha."""
    shape, alpha = node.inputs
    count = raw_ops.Shape(shape)[0]
    ones = raw_ops.Fill(raw_ops.ExpandDims(count, 0), 1)
    spread = raw_ops.Reshape(alpha, raw_ops.ConcatV2([ones, raw_ops.Shape(alpha)], 0))
    slope = raw_ops.RandomGammaGrad(spread, node.outputs[0])
    return None, raw_ops.Sum(dy * slope, raw_ops.Range(0, count, 1))


@op(
    "RandomPoisson",
    "shape: S, rate: dtype -> output: dtype",
    *_SEEDS,
    S=INDEX,
    dtype=_FLOATS,
    stateful=True,
    undefined_grad=_UNDEFINED,
)
def random_poisson_v1(ctx: Any, shape: Any, rate: Any, *, node: Any) -> Any:
    """How often a rare event of each rate happens."""
    return draw(ctx, node, philox_rejection.random_poisson, shape, rate, rate.dtype)


@op(
    "RandomPoissonV2",
    "shape: S, rate: R -> output: dtype",
    *_SEEDS,
    S=INDEX,
    R=(_PARAMETERS, float64),
    dtype=(_PARAMETERS, int64),
    stateful=True,
    undefined_grad=_UNDEFINED,
)
def random_poisson_v2(ctx: Any, shape: Any, rate: Any, *, dtype: Any, node: Any) -> Any:
    """How often a rare event of each rate happens."""
    return draw(ctx, node, philox_rejection.random_poisson, shape, rate, dtype)


for _declared in (random_gamma_op, random_poisson_v1, random_poisson_v2):
    _declared.shape(_leading_shape)


@op(
    "ParameterizedTruncatedNormal",
    "shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype -> output: dtype",
    *_SEEDS,
    dtype=FLOATING,
    T=INDEX,
    stateful=True,
    no_grad="random numbers do not depend on the inputs",
)
def parameterized_truncated_normal_op(
    ctx: Any, shape: Any, means: Any, stdevs: Any, minvals: Any, maxvals: Any, *, node: Any
) -> Any:
    """Normally distributed numbers within bounds, each batch with parameters of its own."""
    parameters = [np.asarray(value) for value in (means, stdevs, minvals, maxvals)]
    return draw(ctx, node, philox_rejection.parameterized_truncated_normal, shape, *parameters)


@parameterized_truncated_normal_op.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(0), 1)
    for index in range(1, 5):
        shape = node.shape(index)
        if shape is not None and len(shape) > 1:
            raise InvalidValueError(f"Shape must be at most rank 1 but is rank {len(shape)}")
    known: Shape = node.value_as_shape(0)
    return known


# Generators in variables: [low counter, high counter, key], int64


def from_state(resource: Any, algorithm: int, function: Callable[[Philox], Any]) -> Any:
    """`function` of the generator in a variable, which moves on.

    Raises:
        InvalidArgumentError: Another algorithm than Philox (1), or the variable holds no state.
    """
    with resource.lock:
        state = resource.read()
        if state.dtype != np.int64:
            raise InvalidArgumentError(f"dtype of RNG state variable must be int64, not {state.dtype.name}")
        if state.ndim != 1:
            raise InvalidArgumentError(f"RNG state must have one and only one dimension, not {state.ndim}")
        if algorithm != 1:
            raise InvalidArgumentError(f"Unsupported algorithm id: {algorithm}")
        if state.size < 3:
            raise InvalidArgumentError(
                f"For the Philox algorithm, the size of state must be at least 3; got {state.size}"
            )
        low, high, key = (int(word) & (1 << 64) - 1 for word in state[:3])
        generator = Philox(key, high << 64 | low)
        result = function(generator)
        counter = generator.counter
        moved = np.array([counter & (1 << 64) - 1, counter >> 64, key], np.uint64).view(np.int64)
        resource.assign(np.concatenate([moved, state[3:]]))
    return result


def _algorithm(value: Any) -> int:
    if np.ndim(value):
        raise InvalidArgumentError(
            f"input 1 (0-based) must have shape [], not {format_shape(np.shape(value))}"
        )
    return int(value)


def _stateful(name: str, function: Callable[..., Any], default: Any) -> GraphOp:
    def kernel(resource: Any, algorithm: Any, shape: Any, *, dtype: Any) -> Any:
        return from_state(resource, _algorithm(algorithm), lambda philox: function(philox, shape, dtype))

    kernel.__doc__ = f"{_TEXTS[name]}, by a generator whose state is a variable."
    declared = op(
        name,
        "resource: resource, algorithm: int64, shape: shape_dtype -> output: dtype",
        dtype=(ANY, default),
        shape_dtype=(ANY, int64),
        stateful=True,
        ctx=False,
        undefined_grad=_UNDEFINED,
    )(kernel)
    declared.shape(_shape_in_third)
    return declared


_TEXTS = {
    "StatefulUniform": "Numbers in [0, 1)",
    "StatefulStandardNormalV2": "Normally distributed numbers",
    "StatefulTruncatedNormal": "Normally distributed numbers, those beyond 2 deviations drawn again",
    "StatefulUniformFullInt": "Integers of all values",
}


def _shape_in_third(node: Any) -> Shape:
    with_rank(node.shape(1), 0)
    with_rank(node.shape(2), 1)
    shape: Shape = node.value_as_shape(2)
    return shape


_stateful("StatefulUniform", kernels.random_uniform, float32)
_stateful("StatefulStandardNormalV2", kernels.random_standard_normal, float32)
_stateful("StatefulTruncatedNormal", kernels.truncated_normal, float32)
_stateful("StatefulUniformFullInt", kernels.random_full_int, uint64)


@op(
    "StatefulStandardNormal",
    "resource: resource, shape: shape_dtype -> output: dtype",
    dtype=(ANY, float32),
    shape_dtype=(ANY, int64),
    stateful=True,
    ctx=False,
    undefined_grad=_UNDEFINED,
)
def stateful_standard_normal(resource: Any, shape: Any, *, dtype: Any) -> Any:
    """Normally distributed numbers, by a generator in a variable that begins with the algorithm's number."""
    with resource.lock:
        state = resource.read()
        if state.ndim != 1 or not state.size:
            raise InvalidArgumentError("Size of tensor must be at least 1")
        rest = _Part(state[1:])
        result = from_state(
            rest, int(state[0]), lambda philox: kernels.random_standard_normal(philox, shape, dtype)
        )
        resource.assign(np.concatenate([state[:1], rest.value]))
    return result


class _Part:
    """A piece of a variable's value, to be read and assigned like one; its lock is held already."""

    def __init__(self, value: Any) -> None:
        import contextlib

        self.value, self.lock = value, contextlib.nullcontext()

    def read(self) -> Any:
        return self.value

    def assign(self, value: Any) -> None:
        self.value = value


@stateful_standard_normal.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(1), 1)
    shape: Shape = node.value_as_shape(1)
    return shape


@op(
    "StatefulUniformInt",
    "resource: resource, algorithm: int64, shape: shape_dtype, minval: dtype, maxval: dtype -> output: dtype",
    dtype=(ANY, int64),
    shape_dtype=(ANY, int64),
    stateful=True,
    ctx=False,
    undefined_grad=_UNDEFINED,
)
def stateful_uniform_int(
    resource: Any, algorithm: Any, shape: Any, minval: Any, maxval: Any, *, dtype: Any
) -> Any:
    """Integers in [minval, maxval), by a generator whose state is a variable."""
    for name, bound in (("minval", minval), ("maxval", maxval)):
        if np.ndim(bound):
            raise InvalidArgumentError(f"{name} must be 0-D, got shape {format_shape(np.shape(bound))}")
    return from_state(
        resource,
        _algorithm(algorithm),
        lambda philox: kernels.random_uniform_int(philox, shape, minval, maxval, dtype),
    )


@stateful_uniform_int.shape
def _(node: Any) -> Shape:
    for index in (3, 4):
        with_rank(node.shape(index), 0)
    return _shape_in_third(node)


@op(
    "RngSkip",
    "resource: resource, algorithm: int64, delta: int64 ->",
    stateful=True,
    ctx=False,
    undefined_grad=_UNDEFINED,
)
def rng_skip(resource: Any, algorithm: Any, delta: Any) -> None:
    """Moves a generator on as if `delta` numbers had been drawn."""
    if np.ndim(delta):
        raise InvalidArgumentError(
            f"input 2 (0-based) must have shape [], not {format_shape(np.shape(delta))}"
        )
    from_state(resource, _algorithm(algorithm), lambda philox: philox.skip(int(delta) * kernels.RESERVED))


rng_skip.shape(lambda node: [])


@op(
    "NonDeterministicInts",
    "shape: shape_dtype -> output: dtype",
    dtype=(ANY, int64),
    shape_dtype=(ANY, int64),
    stateful=True,
    ctx=False,
    undefined_grad=_UNDEFINED,
)
def non_deterministic_ints(shape: Any, *, dtype: Any) -> Any:
    """Integers of all values from the system's source of randomness."""
    kind = np.dtype(dtype)
    if kind.name not in ("int32", "uint32", "int64", "uint64"):
        raise InvalidArgumentError(f"Unsupported dtype: {as_dtype(kind).name}")
    sizes, count = kernels.sizes_of(shape)
    return np.frombuffer(secrets.token_bytes(count * kind.itemsize), kind).reshape(sizes).copy()


@non_deterministic_ints.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(0), 1)
    shape: Shape = node.value_as_shape(0)
    return shape


@op(
    "StatefulRandomBinomial",
    "resource: resource, algorithm: int64, shape: S, counts: T, probs: T -> output: dtype",
    S=INDEX,
    T=(_PARAMETERS, float64),
    dtype=(_PARAMETERS, int64),
    stateful=True,
    ctx=False,
    undefined_grad=_UNDEFINED,
)
def stateful_random_binomial(
    resource: Any, algorithm: Any, shape: Any, counts: Any, probs: Any, *, dtype: Any
) -> Any:
    """How many of `counts` trials succeed, by a generator whose state is a variable."""
    if np.ndim(algorithm):
        raise InvalidArgumentError(f"algorithm must be of shape [], not {format_shape(np.shape(algorithm))}")
    if np.ndim(shape) != 1:
        raise InvalidArgumentError(
            f"Input shape should be a vector, got shape: {format_shape(np.shape(shape))}"
        )
    return from_state(
        resource,
        int(algorithm),
        lambda philox: random_binomial(philox, shape, np.asarray(counts), np.asarray(probs), dtype),
    )


@stateful_random_binomial.shape
def _(node: Any) -> Shape:
    with_rank_at_most(node.shape(3), 1)
    with_rank_at_most(node.shape(4), 1)
    shape: Shape = node.value_as_shape(2)
    return shape


# TensorFlow's Python functions


def random_gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """`tf.random_gamma`: gamma-distributed numbers, for each alpha and beta.

    Args:
        shape: Of the samples for each.
        alpha: Shape of the distribution, positive.
        beta: Its rate, 1 by default; broadcasts with alpha.
        dtype: float16, float32 or float64.
        seed: The op's seed.
        name: Name of the operation.
    """
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert_to_tensor(shape, int32, name="shape")
        alpha = convert_to_tensor(alpha, dtype, name="alpha")
        beta = convert_to_tensor(1 if beta is None else beta, dtype, name="beta")
        both = alpha + raw_ops.ZerosLike(beta)
        seed1, seed2 = get_seed(seed)
        numbers = random_gamma_op(shape, both, seed=seed1, seed2=seed2)
        tiny = float(np.finfo(alpha.dtype.as_numpy_dtype).tiny)
        return raw_ops.Maximum(convert_to_tensor(tiny, alpha.dtype), raw_ops.RealDiv(numbers, beta))


def random_poisson(
    lam: Any, shape: Any, dtype: Any = float32, seed: int | None = None, name: str | None = None
) -> Any:
    """`tf.random_poisson`: Poisson-distributed numbers, of a shape for each rate `lam`."""
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = convert_to_tensor(shape, int32, name="shape")
        seed1, seed2 = get_seed(seed)
        return random_poisson_v2(shape, lam, dtype=dtype, seed=seed1, seed2=seed2)


def parameterized_truncated_normal(
    shape: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Normally distributed numbers within bounds, by the op `ParameterizedTruncatedNormal`."""
    with name_scope(name, "parameterized_truncated_normal", [shape, means, stddevs, minvals, maxvals]):
        shape = convert_to_tensor(shape, preferred_dtype=int32, name="shape")
        names = ("means", "stddevs", "minvals", "maxvals")
        values = [
            convert_to_tensor(value, dtype, name=each)
            for each, value in zip(names, (means, stddevs, minvals, maxvals))
        ]
        seed1, seed2 = get_seed(seed)
        return parameterized_truncated_normal_op(shape, *values, seed=seed1, seed2=seed2)
