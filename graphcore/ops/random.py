"""Random numbers: TensorFlow's, number for number, where an op's seeds are given.

A stateful op owns a generator in its session and moves it on in each run; a stateless one takes its
seed as an input.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import ANY, FLOATING, INDEX, REAL, as_dtype, float32, int32, int64
from ..errors import InvalidValueError
from ..kernels import philox as kernels
from ..kernels.philox import Philox
from ..op import GraphOp, op, raw_ops
from ..random_seed import get_seed
from ..shapes import Shape, vector_of, with_rank
from . import rules
from .control_flow import tf_assert, with_dependencies
from .reduction import reduce_all

_NO_GRAD = "random numbers do not depend on the inputs"
_SEEDS = ("seed: int = 0", "seed2: int = 0")


class _Generator:
    """The generator of one operation in one session; runs in several threads take turns."""

    def __init__(self, node: Any) -> None:
        self.philox = Philox.from_seeds(node.attr("seed"), node.attr("seed2"))
        self.lock = threading.Lock()


def draw(ctx: Any, node: Any, function: Callable[..., Any], *args: Any) -> Any:
    """`function(generator, *args)` with the generator of `node`."""
    generator = ctx.op_state(node, "random", lambda: _Generator(node))
    with generator.lock:
        return function(generator.philox, *args)


def _shape_in_first(node: Any) -> Shape:
    with_rank(node.shape(0), 1)
    shape: Shape = node.value_as_shape(0)
    return shape


def _random(name: str, function: Callable[..., Any]) -> GraphOp:
    """Declares a stateful op whose input is the shape."""

    def kernel(ctx: Any, shape: Any, *, dtype: Any, node: Any) -> Any:
        return draw(ctx, node, function, shape, dtype)

    kernel.__doc__ = function.__doc__
    declared = op(
        name, "shape: T -> output: dtype", *_SEEDS, dtype=FLOATING, T=INDEX, stateful=True, no_grad=_NO_GRAD
    )(kernel)
    declared.shape(_shape_in_first)
    return declared


def _stateless(name: str, function: Callable[..., Any]) -> GraphOp:
    """Declares a stateless op with inputs shape and seed."""

    def kernel(shape: Any, seed: Any, *, dtype: Any) -> Any:
        return function(Philox.from_stateless_seed(seed), shape, dtype)

    kernel.__doc__ = function.__doc__
    declared = op(
        name,
        "shape: T, seed: Tseed -> output: dtype",
        dtype=(FLOATING, float32),
        T=(INDEX, int32),
        Tseed=(INDEX, int64),
        no_grad=_NO_GRAD,
    )(kernel)
    declared.shape(_shape_with_seed)
    return declared


def _shape_with_seed(node: Any) -> Shape:
    (size,) = with_rank(node.shape(1), 1)
    if size not in (None, 2):
        raise InvalidValueError(f"Dimension must be 2 but is {size}")
    return _shape_in_first(node)


random_uniform_op = _random("RandomUniform", kernels.random_uniform)
random_standard_normal = _random("RandomStandardNormal", kernels.random_standard_normal)
truncated_normal_op = _random("TruncatedNormal", kernels.truncated_normal)
stateless_random_uniform_op = _stateless("StatelessRandomUniform", kernels.random_uniform)
stateless_random_normal_op = _stateless("StatelessRandomNormal", kernels.random_standard_normal)
stateless_truncated_normal_op = _stateless("StatelessTruncatedNormal", kernels.truncated_normal)


@op(
    "RandomUniformInt",
    "shape: T, minval: Tout, maxval: Tout -> output: Tout",
    *_SEEDS,
    Tout=INDEX,
    T=INDEX,
    stateful=True,
    no_grad=_NO_GRAD,
)
def random_uniform_int(ctx: Any, shape: Any, minval: Any, maxval: Any, *, Tout: Any, node: Any) -> Any:
    """Integers in [minval, maxval)."""
    return draw(ctx, node, kernels.random_uniform_int, shape, minval, maxval, Tout)


@op(
    "StatelessRandomUniformInt",
    "shape: T, seed: Tseed, minval: dtype, maxval: dtype -> output: dtype",
    dtype=INDEX,
    T=INDEX,
    Tseed=(INDEX, int64),
    no_grad=_NO_GRAD,
)
def stateless_random_uniform_int(shape: Any, seed: Any, minval: Any, maxval: Any, *, dtype: Any) -> Any:
    """Integers in [minval, maxval)."""
    return kernels.random_uniform_int(Philox.from_stateless_seed(seed), shape, minval, maxval, dtype)


@random_uniform_int.shape
def _(node: Any) -> Shape:
    for index in (1, 2):
        with_rank(node.shape(index), 0)
    return _shape_in_first(node)


@stateless_random_uniform_int.shape
def _(node: Any) -> Shape:
    for index in (2, 3):
        with_rank(node.shape(index), 0)
    return _shape_with_seed(node)


@op("RandomShuffle", "value: T -> output: T", *_SEEDS, T=ANY, stateful=True, no_grad=_NO_GRAD)
def random_shuffle_op(ctx: Any, value: Any, *, node: Any) -> Any:
    """The rows in random order."""
    return draw(ctx, node, kernels.random_shuffle, value)


random_shuffle_op.shape(rules.unchanged)


@op(
    "Multinomial",
    "logits: T, num_samples: int32 -> output: output_dtype",
    *_SEEDS,
    T=REAL,
    output_dtype=(INDEX, int64),
    stateful=True,
    no_grad=_NO_GRAD,
)
def multinomial_op(ctx: Any, logits: Any, num_samples: Any, *, output_dtype: Any, node: Any) -> Any:
    """Class numbers drawn from unnormalized log-probabilities."""
    return draw(ctx, node, kernels.multinomial, logits, num_samples, output_dtype)


@op(
    "StatelessMultinomial",
    "logits: T, num_samples: int32, seed: Tseed -> output: output_dtype",
    T=REAL,
    Tseed=(INDEX, int64),
    output_dtype=(INDEX, int64),
    no_grad=_NO_GRAD,
)
def stateless_multinomial_op(logits: Any, num_samples: Any, seed: Any, *, output_dtype: Any) -> Any:
    """Class numbers drawn from unnormalized log-probabilities."""
    return kernels.multinomial(Philox.from_stateless_seed(seed), logits, num_samples, output_dtype)


@multinomial_op.shape
@stateless_multinomial_op.shape
def _(node: Any) -> Shape:
    rows, _ = with_rank(node.shape(0), 2)
    with_rank(node.shape(1), 0)
    if node.num_inputs == 3:
        vector_of(node.shape(2), 2)
    count = node.value(1)
    return rows, None if count is None else int(count)


# TensorFlow's Python functions


def _shape_tensor(shape: Any) -> Any:
    """A shape as an integer vector; a static one as a constant of int32."""
    if isinstance(shape, (list, tuple)) and not shape:
        return convert_to_tensor(np.zeros(0, np.int32), name="shape")
    return convert_to_tensor(shape, preferred_dtype=int32, name="shape")


def _seeded(declared: GraphOp, seed: int | None, *args: Any, **kwargs: Any) -> Any:
    seed1, seed2 = get_seed(seed)
    return declared(*args, seed=seed1, seed2=seed2, **kwargs)


def random_uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """`tf.random_uniform`: numbers in [minval, maxval).

    Args:
        shape: Of the result.
        minval: Lowest value.
        maxval: 1 by default; required for integers.
        dtype: A floating dtype, int32 or int64.
        seed: The op's seed.
        name: Name of the operation.

    Raises:
        ValueError: Another dtype, or an integer one without `maxval`.
    """
    dtype = _checked_dtype(dtype, maxval)
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        shape = _shape_tensor(shape)
        low = convert_to_tensor(minval, dtype, name="min")
        high = convert_to_tensor(1 if maxval is None else maxval, dtype, name="max")
        if dtype.is_integer:
            return _seeded(random_uniform_int, seed, shape, low, high, name=scope)
        numbers = _seeded(random_uniform_op, seed, shape, dtype=dtype)
        return raw_ops.Add(numbers * (high - low), low, name=scope)


def _checked_dtype(dtype: Any, maxval: Any) -> Any:
    dtype = as_dtype(dtype).base_dtype
    if dtype not in (*FLOATING, int32, int64):
        raise InvalidValueError(f"Invalid dtype {dtype!r}")
    if maxval is None and dtype.is_integer:
        raise InvalidValueError(f"Must specify maxval for integer dtype {dtype!r}")
    return dtype


def _normal(declared: GraphOp, default: str) -> Callable[..., Any]:
    def function(
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = float32,
        seed: int | None = None,
        name: str | None = None,
    ) -> Any:
        dtype = as_dtype(dtype).base_dtype
        with name_scope(name, default, [shape, mean, stddev]) as scope:
            shape = _shape_tensor(shape)
            mean = convert_to_tensor(mean, dtype, name="mean")
            stddev = convert_to_tensor(stddev, dtype, name="stddev")
            numbers = _seeded(declared, seed, shape, dtype=dtype)
            return raw_ops.Add(numbers * stddev, mean, name=scope)

    function.__name__ = default
    function.__doc__ = f"""`tf.{default}`: normally distributed numbers (the op `{declared.name}`).

    Args:
        shape: Of the result.
        mean: Mean.
        stddev: Standard deviation, before truncation at two of them where that is done.
        dtype: A floating dtype.
        seed: The op's seed.
        name: Name of the operation.
    """
    return function


random_normal = _normal(random_standard_normal, "random_normal")
truncated_normal = _normal(truncated_normal_op, "truncated_normal")


def random_shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Any:
    """`tf.random_shuffle`: the rows of `value` in random order."""
    return _seeded(random_shuffle_op, seed, value, name=name)


def categorical(
    logits: Any, num_samples: Any, dtype: Any = None, seed: int | None = None, name: str | None = None
) -> Any:
    """`tf.random.categorical`: `multinomial` with its arguments in another order."""
    return multinomial(logits, num_samples, seed, name, dtype)


def multinomial(
    logits: Any, num_samples: Any, seed: int | None = None, name: str | None = None, output_dtype: Any = None
) -> Any:
    """`tf.multinomial`: class numbers (int64), `num_samples` for each row of log-probabilities."""
    with name_scope(name, "multinomial", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        return _seeded(multinomial_op, seed, logits, num_samples, output_dtype=output_dtype or int64)


def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Any:
    """`tf.random_crop`: a part of shape `size` at a random place."""
    with name_scope(name, "random_crop", [value, size]) as scope:
        value = convert_to_tensor(value, name="value")
        size = convert_to_tensor(size, int32, name="size")
        shape = raw_ops.Shape(value)
        check = tf_assert(
            reduce_all(raw_ops.GreaterEqual(shape, size)),
            ["Need value.shape >= size, got ", shape, size],
            summarize=1000,
        )
        shape = with_dependencies([check], shape)
        offset = random_uniform(raw_ops.Shape(shape), dtype=int32, maxval=int32.max, seed=seed)
        return raw_ops.Slice(value, raw_ops.FloorMod(offset, shape - size + 1), size, name=scope)


def stateless_random_uniform(
    shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32, name: str | None = None
) -> Any:
    """`tf.random.stateless_uniform`: numbers in [minval, maxval) that depend on the seed alone.

    Raises:
        ValueError: The dtype is not possible, or an integer one has no `maxval`.
    """
    dtype = _checked_dtype(dtype, maxval)
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as scope:
        shape = _shape_tensor(shape)
        low = convert_to_tensor(minval, dtype, name="min")
        high = convert_to_tensor(1 if maxval is None else maxval, dtype, name="max")
        if dtype.is_integer:
            return stateless_random_uniform_int(shape, seed, low, high, name=scope)
        numbers = stateless_random_uniform_op(shape, seed, dtype=dtype)
        return raw_ops.Add(numbers * (high - low), low, name=scope)


def _stateless_normal(declared: GraphOp, default: str, public: str) -> Callable[..., Any]:
    def function(
        shape: Any,
        seed: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = float32,
        name: str | None = None,
    ) -> Any:
        dtype = as_dtype(dtype).base_dtype
        with name_scope(name, default, [shape, seed, mean, stddev]) as scope:
            shape = _shape_tensor(shape)
            mean = convert_to_tensor(mean, dtype, name="mean")
            stddev = convert_to_tensor(stddev, dtype, name="stddev")
            numbers = declared(shape, seed, dtype=dtype)
            return raw_ops.Add(numbers * stddev, mean, name=scope)

    function.__name__ = default
    function.__doc__ = f"`tf.random.{public}`: normal numbers by a seed alone (`{declared.name}`)."
    return function


stateless_random_normal = _stateless_normal(
    stateless_random_normal_op, "stateless_random_normal", "stateless_normal"
)
stateless_truncated_normal = _stateless_normal(
    stateless_truncated_normal_op, "stateless_truncated_normal", "stateless_truncated_normal"
)


def stateless_categorical(
    logits: Any, num_samples: Any, seed: Any, dtype: Any = int64, name: str | None = None
) -> Any:
    """`tf.random.stateless_categorical`: `stateless_multinomial` by another name."""
    return stateless_multinomial(logits, num_samples, seed, dtype, name)


def stateless_multinomial(
    logits: Any, num_samples: Any, seed: Any, output_dtype: Any = int64, name: str | None = None
) -> Any:
    """`tf.random.stateless_multinomial`: class numbers that depend on the seed alone."""
    with name_scope(name, "stateless_multinomial", [logits, seed]):
        logits = convert_to_tensor(logits, name="logits")
        return stateless_multinomial_op(logits, num_samples, seed, output_dtype=output_dtype)
