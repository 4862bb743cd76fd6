"""Fractional max and average pooling, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import float32, float64, int32, int64
from ..errors import InvalidArgumentError, InvalidValueError
from ..kernels import fractional_pooling as kernels
from ..kernels.philox import Philox
from ..op import GraphOp, op, raw_ops
from ..shapes import Dim, Shape, with_rank

_TYPES = (float32, float64, int32, int64)
_NONE = "TensorFlow has none for the gradient of this op"
_SEQUENCES = "row_pooling_sequence: int64, col_pooling_sequence: int64"


def _declare(name: str, pool: Callable[..., Any]) -> GraphOp:
    def run(
        value: Any,
        *,
        pooling_ratio: Any,
        pseudo_random: bool,
        overlapping: bool,
        deterministic: bool,
        seed: int,
        seed2: int,
    ) -> tuple[Any, Any, Any]:
        if not deterministic and (seed or seed2):
            raise InvalidArgumentError("Both seed and seed2 should be 0 if deterministic is false.")
        _, height, width, _ = kernels.output_sizes(value.shape, pooling_ratio)
        generator = Philox.from_seeds(seed, seed2)
        rows = kernels.cuts(generator, value.shape[1], height, pseudo_random)
        columns = kernels.cuts(generator, value.shape[2], width, pseudo_random)
        return pool(value, rows, columns, overlapping), rows, columns

    run.__doc__ = f"{pool.__doc__} The windows are cut at random."
    declared = op(
        name,
        f"value: T -> output: T, {_SEQUENCES}",
        "pooling_ratio: list(float) >= 4",
        "pseudo_random: bool = false",
        "overlapping: bool = false",
        "deterministic: bool = false",
        "seed: int = 0",
        "seed2: int = 0",
        T=_TYPES,
        effects=True,
    )(run)
    declared.shape(_pooled)
    return declared


def _pooled(node: Any) -> list[Shape]:
    x, ratios = with_rank(node.shape(0), 4), node.attr("pooling_ratio")
    if len(ratios) != 4:
        raise InvalidValueError("pooling_ratio field must specify 4 dimensions")
    if min(ratios) < 1:
        raise InvalidValueError(f"pooling_ratio cannot be smaller than 1, got: {min(ratios):g}")
    dims: list[Dim] = [
        None if size is None else int(np.floor(np.float32(size) / np.float32(ratio)))
        for size, ratio in zip(x, ratios)
    ]
    # One more cut than windows; TensorFlow's rule forgets it.
    rows, columns = (None if dim is None else dim + 1 for dim in dims[1:3])
    return [tuple(dims), (rows,), (columns,)]


fractional_max_pool_op = _declare("FractionalMaxPool", kernels.max_pool)
fractional_avg_pool_op = _declare("FractionalAvgPool", kernels.avg_pool)


@op(
    "FractionalMaxPoolGrad",
    f"orig_input: T, orig_output: T, out_backprop: T, {_SEQUENCES} -> output: T",
    "overlapping: bool = false",
    T=_TYPES,
    undefined_grad=_NONE,
)
def fractional_max_pool_grad(
    orig_input: Any,
    orig_output: Any,
    out_backprop: Any,
    row_pooling_sequence: Any,
    col_pooling_sequence: Any,
    *,
    overlapping: bool,
) -> Any:
    """Each gradient put where the maximum of its window was."""
    return kernels.max_pool_grad(
        orig_input, orig_output, out_backprop, row_pooling_sequence, col_pooling_sequence, overlapping
    )


@op(
    "FractionalAvgPoolGrad",
    f"orig_input_tensor_shape: int64, out_backprop: T, {_SEQUENCES} -> output: T",
    "overlapping: bool = false",
    T=_TYPES,
    undefined_grad=_NONE,
)
def fractional_avg_pool_grad(
    orig_input_tensor_shape: Any,
    out_backprop: Any,
    row_pooling_sequence: Any,
    col_pooling_sequence: Any,
    *,
    overlapping: bool,
) -> Any:
    """Each gradient shared out among its window."""
    shape = np.reshape(orig_input_tensor_shape, -1).tolist()
    return kernels.avg_pool_grad(shape, out_backprop, row_pooling_sequence, col_pooling_sequence, overlapping)


fractional_max_pool_grad.shape(lambda node: with_rank(node.shape(0), 4))
fractional_avg_pool_grad.shape(lambda node: with_rank(node.value_as_shape(0), 4))


@fractional_max_pool_op.grad
def _(node: Any, dy: Any, *_: Any) -> Any:
    y, rows, columns = node.outputs
    return fractional_max_pool_grad(
        node.inputs[0], y, dy, rows, columns, overlapping=node.attr("overlapping")
    )


@fractional_avg_pool_op.grad
def _(node: Any, dy: Any, *_: Any) -> Any:
    _, rows, columns = node.outputs
    shape = raw_ops.Shape(node.inputs[0], out_type=int64)
    return fractional_avg_pool_grad(shape, dy, rows, columns, overlapping=node.attr("overlapping"))


# TensorFlow's Python functions


def fractional_max_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Any:
    """`tf.nn.fractional_max_pool` of TensorFlow 1: `(output, row sequence, column sequence)`.

    Args:
        value: (batch, height, width, channels).
        pooling_ratio: Four floats, those of batch and channels 1.
        pseudo_random: Whether windows are cut evenly from a random start on.
        overlapping: Whether windows share their border elements.
        deterministic: Whether the seeds count.
        seed: With `seed2`, makes the cuts the same in each run.
        seed2: See `seed`.
        name: Name of the operation.

    Raises:
        ValueError: A ratio is below 1.
    """
    return fractional_max_pool_op(
        value,
        pooling_ratio=list(pooling_ratio),
        pseudo_random=pseudo_random,
        overlapping=overlapping,
        deterministic=deterministic,
        seed=seed,
        seed2=seed2,
        name=name,
    )


def fractional_avg_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Any:
    """`tf.nn.fractional_avg_pool` of TensorFlow 1; see `fractional_max_pool`.

    Raises:
        ValueError: A ratio is below 1.
    """
    return fractional_avg_pool_op(
        value,
        pooling_ratio=list(pooling_ratio),
        pseudo_random=pseudo_random,
        overlapping=overlapping,
        deterministic=deterministic,
        seed=seed,
        seed2=seed2,
        name=name,
    )
