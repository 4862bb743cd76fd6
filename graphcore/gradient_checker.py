"""Checks gradients against central differences: `tf.test.compute_gradient`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .default import get_default_session
from .errors import InvalidValueError
from .gradients import gradients
from .indexed_slices import IndexedSlices
from .operation import Tensor
from .ops.array_create import ones


def compute_gradient(
    x: Any,
    x_shape: Any,
    y: Tensor,
    y_shape: Sequence[int],
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: Any = None,
) -> Any:
    """The Jacobian of `y` by `x`, from the graph's gradient and from differences.

    Runs in the default session: once per element of `y`, twice per element of `x`.

    Args:
        x: A tensor, or a list of tensors.
        x_shape: Its shape, as a tuple or list; a list of shapes for a list.
        y: The tensor that depends on it.
        y_shape: Its shape.
        x_init_value: Where to take the derivative: an array of `x_shape` (a list for a list); uniform
            random numbers in [0, 1) by default.
        delta: The step of the differences.
        init_targets: Operations to run first, for instance initializers.
        extra_feed_dict: More feeds.

    Returns:
        `(theoretical, numeric)`: matrices of shape [size of x, size of y], a complex number counting
        as two; a list of such pairs for a list.

    Raises:
        ValueError: A shape does not fit, or there is no default session, or `y` is empty and its
            gradient is not zero.
    """
    xs = x if isinstance(x, list) else [x]
    shapes = x_shape if isinstance(x, list) else [x_shape]
    values = x_init_value if isinstance(x_init_value, list) else [x_init_value] * len(xs)
    session = get_default_session()
    if session is None:
        raise InvalidValueError("compute_gradient needs a default session: use `with tf.Session():`")
    # A product with a fed tensor gives each row of the Jacobian in a graph that is built once.
    dy = ones(y_shape, dtype=y.dtype)
    dxs = gradients(y, xs, grad_ys=dy)
    if init_targets is not None:
        session.run(list(init_targets) if isinstance(init_targets, (list, tuple)) else [init_targets])
    points = []
    for item, shape, value in zip(xs, shapes, values):
        dtype = item.dtype.base_dtype.as_numpy_dtype
        if value is None:
            value = np.random.random_sample(tuple(shape))  # noqa: NPY002 - the generator that tests seed
            if np.dtype(dtype).kind == "c":
                value = value + 1j * np.random.random_sample(tuple(shape))  # noqa: NPY002
        value = np.asarray(value, dtype=dtype)
        if list(value.shape) != list(shape):
            raise InvalidValueError(
                f"x_init_value has shape {list(value.shape)}, but x_shape is {list(shape)}"
            )
        points.append(value)
    feeds = dict(extra_feed_dict or {}) | dict(zip(xs, points))
    results = [
        (
            _theoretical(session, item, point, dx, dy, y_shape, feeds),
            _numeric(session, item, point, y, y_shape, delta, feeds),
        )
        for item, point, dx in zip(xs, points, dxs)
    ]
    return results if isinstance(x, list) else results[0]


def compute_gradient_error(
    x: Any,
    x_shape: Any,
    y: Tensor,
    y_shape: Sequence[int],
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: Any = None,
) -> float:
    """The largest difference between the two Jacobians of `compute_gradient`, whose arguments it takes."""
    pairs = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    error = 0.0
    for theoretical, numeric in pairs if isinstance(pairs, list) else [pairs]:
        if theoretical.size or numeric.size:
            error = np.maximum(error, np.fabs(theoretical - numeric).max())  # keeps NaN
    return error


def _as_reals(array: np.ndarray) -> np.ndarray:
    """A flat view of real numbers: of a complex one, its two parts."""
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _theoretical(
    session: Any,
    x: Any,
    point: np.ndarray,
    dx: Any,
    dy: Tensor,
    y_shape: Sequence[int],
    feeds: dict[Any, Any],
) -> np.ndarray:
    seed = np.zeros(tuple(y_shape), dy.dtype.as_numpy_dtype)
    columns = _as_reals(seed)
    rows = _as_reals(point)
    jacobian = np.zeros((rows.size, columns.size), rows.dtype)
    if dx is None:
        return jacobian
    for column in range(columns.size):
        columns[column] = 1
        jacobian[:, column] = _as_reals(_dense(session.run(dx, feeds | {dy: seed}), dx, point))
        columns[column] = 0
    if not columns.size:
        rest = _dense(session.run(dx, feeds | {dy: seed}), dx, point)
        if rest.shape != point.shape:
            raise InvalidValueError(
                f"Empty gradient has wrong shape: expected {point.shape}, got {rest.shape}"
            )
        if np.any(rest):
            raise InvalidValueError("Empty tensor with nonzero gradients")
    return jacobian


def _dense(value: Any, dx: Any, point: np.ndarray) -> np.ndarray:
    if not isinstance(dx, IndexedSlices):
        return np.ascontiguousarray(value)
    dense = np.zeros_like(point)
    np.add.at(dense, value.indices, value.values)
    return dense


def _numeric(
    session: Any,
    x: Any,
    point: np.ndarray,
    y: Tensor,
    y_shape: Sequence[int],
    delta: float,
    feeds: dict[Any, Any],
) -> np.ndarray:
    moved = point.copy()
    places = _as_reals(moved)
    size = int(np.prod(y_shape)) * (2 if y.dtype.is_complex else 1)
    jacobian = np.zeros((places.size, size), places.dtype)
    step = places.dtype.type(delta)
    for row in range(places.size):
        here = places[row]
        sides = []
        for place in (here + step, here - step):
            places[row] = place
            sides.append(_as_reals(np.ascontiguousarray(session.run(y, feeds | {x: moved}))).copy())
        places[row] = here
        jacobian[row] = (sides[0] - sides[1]) / (2 * step)
    return jacobian
