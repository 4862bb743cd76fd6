"""LSTM and GRU cells as one kernel each, an LSTM over time, and their gradients.

Half precision is computed in float32; the states between two steps are rounded, as they are outputs.
Source of the equations: TensorFlow's op documentation (LSTMBlockCell, BlockLSTM, GRUBlockCell), after
Zaremba et al., "Recurrent neural network regularization" (2014), and Cho et al. (2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...formats.errors import InvalidArgumentError
from .arrays import Array, shape_text, widened

ICFO, IFCO = (0, 2, 1, 3), (0, 1, 2, 3)
"""Where among the four gates the input, forget, cell and output gates are."""


class Peepholes(NamedTuple):
    """The diagonal weights from the cell state to the input, forget and output gates; zeros for none."""

    input: Array
    forget: Array
    output: Array


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x))."""
    out: Array = 1 / (1 + np.exp(-x))
    return out


def check_sizes(checks: Sequence[tuple[str, int, str, int]]) -> None:
    """Raises InvalidArgumentError with all (what, size, of what, expected size) that differ."""
    wrong = [
        f"{what} != {name}: {size} vs. {expected}"
        for what, size, name, expected in checks
        if size != expected
    ]
    if wrong:
        raise InvalidArgumentError("; ".join(wrong))


def check_ranks(**arrays: tuple[Array, int]) -> None:
    """Raises InvalidArgumentError naming every array that has another rank than it must have."""
    wrong = [
        f"{name} must be {rank}D but has shape {shape_text(array.shape)}"
        for name, (array, rank) in arrays.items()
        if array.ndim != rank
    ]
    if wrong:
        raise InvalidArgumentError("; ".join(wrong))


def check_lstm(x: Array, cs_prev: Array, h_prev: Array, w: Array, b: Array, peepholes: Peepholes) -> None:
    """Raises InvalidArgumentError unless the arrays of one step fit; x is (batch, inputs)."""
    check_ranks(cs_prev=(cs_prev, 2), h_prev=(h_prev, 2), w=(w, 2), b=(b, 1))
    check_ranks(wci=(peepholes.input, 1), wcf=(peepholes.forget, 1), wco=(peepholes.output, 1))
    (batch, inputs), cell = x.shape, cs_prev.shape[1]
    check_sizes(
        [
            ("cs_prev.dims(0)", cs_prev.shape[0], "batch_size", batch),
            ("h_prev.dims(0)", h_prev.shape[0], "batch_size", batch),
            ("h_prev.dims(1)", h_prev.shape[1], "cell_size", cell),
            ("w.dim_size(0)", w.shape[0], "input_size + cell_size", inputs + cell),
            ("w.dim_size(1)", w.shape[1], "cell_size * 4", cell * 4),
            ("b.dim_size(0)", b.shape[0], "cell_size * 4", cell * 4),
            *(
                (f"{name}.dim_size(0)", array.shape[0], "cell_size", cell)
                for name, array in zip(("wci", "wcf", "wco"), peepholes)
            ),
        ]
    )


def _split(gates: Array, order: Sequence[int]) -> list[Array]:
    """The input, forget, cell and output gates of (batch, 4 * cells)."""
    cell = gates.shape[-1] // 4
    return [gates[..., place * cell : (place + 1) * cell] for place in order]


def lstm_step(
    gates: Array,
    cs_prev: Array,
    peepholes: Peepholes | None,
    *,
    forget_bias: float,
    cell_clip: float,
    order: Sequence[int],
) -> tuple[Array, ...]:
    """One step of an LSTM from its gates before activation.

    Args:
        gates: `[x, h_prev] @ w + b`, (batch, 4 * cells).
        cs_prev: The cell state before, (batch, cells).
        peepholes: Weights from the cell state to the gates, or None.
        forget_bias: Added to the forget gate.
        cell_clip: Bound of the cell state, none where it is not positive.
        order: Where the gates are: `ICFO` or `IFCO`.

    Returns:
        `(i, cs, f, o, ci, co, h)`, each (batch, cells).
    """
    i, f, ci, o = _split(gates, order)
    if peepholes is not None:
        i, f = i + cs_prev * peepholes.input, f + cs_prev * peepholes.forget
    i, f, ci = sigmoid(i), sigmoid(f + f.dtype.type(forget_bias)), np.tanh(ci)
    cs = i * ci + f * cs_prev
    if cell_clip > 0:
        cs = np.clip(cs, -cs.dtype.type(cell_clip), cs.dtype.type(cell_clip))
    co = np.tanh(cs)
    o = sigmoid(o if peepholes is None else o + cs * peepholes.output)
    return i, cs, f, o, ci, co, o * co


class StepGradient(NamedTuple):
    """The gradients of one step: with respect to `cs_prev`, the gates and the peepholes."""

    cs_prev: Array
    gates: Array
    peepholes: list[Array]


def lstm_step_grad(
    cs_prev: Array,
    step: Sequence[Array],
    cs_grad: Array,
    h_grad: Array,
    peepholes: Peepholes | None,
    order: Sequence[int],
) -> StepGradient:
    """The gradient of `lstm_step`; clipping is not seen, as in TensorFlow.

    Args:
        cs_prev: As given to the step.
        step: `(i, cs, f, o, ci, co)` of the step.
        cs_grad: Gradient with respect to cs.
        h_grad: Gradient with respect to h.
        peepholes: As given to the step.
        order: As given to the step.
    """
    i, cs, f, o, ci, co = step
    d_o = o * (1 - o) * h_grad * co
    d_cs = (1 - co * co) * h_grad * o + cs_grad
    if peepholes is not None:
        d_cs = d_cs + d_o * peepholes.output
    d_ci = (1 - ci * ci) * d_cs * i
    d_f = f * (1 - f) * d_cs * cs_prev
    d_i = i * (1 - i) * d_cs * ci
    gates = np.empty((len(cs), 4 * cs.shape[1]), cs.dtype)
    for target, source in zip(_split(gates, order), (d_i, d_f, d_ci, d_o), strict=True):
        target[...] = source
    before = d_cs * f
    if peepholes is None:
        return StepGradient(before, gates, [np.zeros(cs.shape[1], cs.dtype) for _ in range(3)])
    before = before + d_i * peepholes.input + d_f * peepholes.forget
    weights = [(d_i * cs_prev).sum(0), (d_f * cs_prev).sum(0), (d_o * cs).sum(0)]
    return StepGradient(before, gates, weights)


def block_lstm(
    steps: int,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    peepholes: Peepholes,
    b: Array,
    *,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
    order: Sequence[int],
) -> tuple[Array, ...]:
    """An LSTM over the first `steps` of x, (time, batch, inputs).

    Returns:
        `(i, cs, f, o, ci, co, h)`, each (time, batch, cells), zeros after the last step.

    Raises:
        InvalidArgumentError: Shapes that do not fit.
    """
    _check_sequence(steps, x, cs_prev, h_prev, w, b, peepholes)
    times, batch, inputs = x.shape
    dtype, cells = x.dtype, cs_prev.shape[1]
    outputs = tuple(np.zeros((times, batch, cells), dtype) for _ in range(7))
    wide = widened(w)
    # What the inputs give is one product for all steps.
    given = widened(x[:steps]).reshape(steps * batch, inputs) @ wide[:inputs] + widened(b)
    given = given.reshape(steps, batch, 4 * cells)
    weights = Peepholes(*map(widened, peepholes)) if use_peephole else None
    cs, h = widened(cs_prev), widened(h_prev)
    for time in range(steps):
        found = lstm_step(
            given[time] + h @ wide[inputs:],
            cs,
            weights,
            forget_bias=forget_bias,
            cell_clip=cell_clip,
            order=order,
        )
        for target, value in zip(outputs, found, strict=True):
            target[time] = value
        cs, h = widened(outputs[1][time]), widened(outputs[6][time])
    return outputs


def block_lstm_grad(
    steps: int,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    peepholes: Peepholes,
    b: Array,
    outputs: Sequence[Array],
    cs_grad: Array,
    h_grad: Array,
    *,
    use_peephole: bool,
    order: Sequence[int],
) -> tuple[Array, ...]:
    """The gradient of `block_lstm`.

    Args:
        steps: As given to it, and so are the arrays up to `b`.
        x: See there.
        cs_prev: See there.
        h_prev: See there.
        w: See there.
        peepholes: See there.
        b: See there.
        outputs: Its seven outputs.
        cs_grad: Gradient with respect to cs, (time, batch, cells).
        h_grad: Gradient with respect to h, (time, batch, cells).
        use_peephole: As given to it.
        order: As given to it.

    Returns:
        The gradients of x, cs_prev, h_prev, w, the three peepholes and b.

    Raises:
        InvalidArgumentError: Shapes that do not fit.
    """
    _check_sequence(steps, x, cs_prev, h_prev, w, b, peepholes)
    times, batch, inputs = x.shape
    cells, dtype = cs_prev.shape[1], x.dtype
    check_sizes(
        [
            (f"{name}.dim_size({axis})", array.shape[axis], what, size)
            for name, array in (
                *zip(["i", "cs", "f", "o", "ci", "co", "h"], outputs),
                ("cs_grad", cs_grad),
                ("h_grad", h_grad),
            )
            for axis, (what, size) in enumerate(
                [("timelen", times), ("batch_size", batch), ("cell_size", cells)]
            )
        ]
    )
    wide, parts = widened(w), [widened(array) for array in outputs]
    weights = Peepholes(*map(widened, peepholes)) if use_peephole else None
    cs_before = np.concatenate([widened(cs_prev)[None], parts[1][: max(steps - 1, 0)]])
    h_before = np.concatenate([widened(h_prev)[None], parts[6][: max(steps - 1, 0)]])
    gates = np.zeros((steps, batch, 4 * cells), wide.dtype)
    d_cs, d_h = np.zeros_like(cs_before[0]), np.zeros_like(cs_before[0])
    d_peep = [np.zeros(cells, wide.dtype) for _ in range(3)]
    for time in range(steps - 1, -1, -1):
        found = lstm_step_grad(
            cs_before[time],
            [part[time] for part in parts[:6]],
            widened(cs_grad[time]) + d_cs,
            widened(h_grad[time]) + d_h,
            weights,
            order,
        )
        gates[time] = found.gates
        d_cs, d_h = found.cs_prev, found.gates @ wide[inputs:].T
        for target, value in zip(d_peep, found.peepholes, strict=True):
            target += value
    flat = gates.reshape(steps * batch, 4 * cells)
    d_x = np.zeros(x.shape, dtype)
    d_x[:steps] = (flat @ wide[:inputs].T).reshape(steps, batch, inputs)
    xh = np.concatenate([widened(x[:steps]), h_before[:steps]], 2).reshape(steps * batch, inputs + cells)
    results = d_x, d_cs, d_h, xh.T @ flat, *d_peep, flat.sum(0)
    return tuple(array.astype(dtype, copy=False) for array in results)


def _check_sequence(
    steps: int, x: Array, cs_prev: Array, h_prev: Array, w: Array, b: Array, peepholes: Peepholes
) -> None:
    check_ranks(x=(x, 3))
    if not 0 <= steps <= len(x):
        raise InvalidArgumentError(
            f"seq_len_max must lie between 0 and the number of time steps: {steps} vs. {len(x)}"
        )
    flat = np.broadcast_to(np.zeros((), x.dtype), x.shape[1:])
    check_lstm(flat, cs_prev, h_prev, w, b, peepholes)


def check_gru(x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array) -> None:
    """Raises InvalidArgumentError unless the inputs of a GRU cell fit."""
    check_ranks(x=(x, 2), h_prev=(h_prev, 2), w_ru=(w_ru, 2), w_c=(w_c, 2), b_ru=(b_ru, 1), b_c=(b_c, 1))
    (batch, inputs), cell = x.shape, h_prev.shape[1]
    check_sizes(
        [
            ("h_prev.dims(0)", h_prev.shape[0], "batch_size", batch),
            ("w_ru.dim_size(0)", w_ru.shape[0], "input_size + cell_size", inputs + cell),
            ("w_ru.dim_size(1)", w_ru.shape[1], "cell_size * 2", cell * 2),
            ("w_c.dim_size(0)", w_c.shape[0], "input_size + cell_size", inputs + cell),
            ("w_c.dim_size(1)", w_c.shape[1], "cell_size", cell),
            ("b_ru.dim_size(0)", b_ru.shape[0], "cell_size * 2", cell * 2),
            ("b_c.dim_size(0)", b_c.shape[0], "cell_size", cell),
        ]
    )


def gru_cell(
    x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array
) -> tuple[Array, Array, Array, Array]:
    """TensorFlow's GRUBlockCell.

    Args:
        x: (batch, inputs).
        h_prev: The state before, (batch, cells).
        w_ru: Weights of the reset and update gates, (inputs + cells, 2 * cells).
        w_c: Weights of the candidate, (inputs + cells, cells).
        b_ru: (2 * cells,).
        b_c: (cells,).

    Returns:
        `(r, u, c, h)`, each (batch, cells).

    Raises:
        InvalidArgumentError: Shapes that do not fit.
    """
    check_gru(x, h_prev, w_ru, w_c, b_ru, b_c)
    gates = sigmoid(np.concatenate([x, h_prev], 1) @ w_ru + b_ru)
    r, u = (np.ascontiguousarray(part) for part in np.split(gates, 2, 1))
    c = np.tanh(np.concatenate([x, h_prev * r], 1) @ w_c + b_c)
    return r, u, c, u * (h_prev - c) + c


def gru_cell_grad(
    x: Array,
    h_prev: Array,
    w_ru: Array,
    w_c: Array,
    b_ru: Array,
    b_c: Array,
    r: Array,
    u: Array,
    c: Array,
    d_h: Array,
) -> tuple[Array, Array, Array, Array]:
    """TensorFlow's GRUBlockCellGrad.

    Args:
        x: As given to `gru_cell`, and so are the next five.
        h_prev: See there.
        w_ru: See there.
        w_c: See there.
        b_ru: See there.
        b_c: See there.
        r: Its first output.
        u: Its second output.
        c: Its third output.
        d_h: Gradient with respect to its fourth output.

    Returns:
        Gradients with respect to x, h_prev, and what goes into the candidate and the gates.

    Raises:
        InvalidArgumentError: Shapes that do not fit.
    """
    check_gru(x, h_prev, w_ru, w_c, b_ru, b_c)
    check_ranks(r=(r, 2), u=(u, 2), c=(c, 2), d_h=(d_h, 2))
    check_sizes(
        [
            (f"{name}.dims({axis})", array.shape[axis], what, h_prev.shape[axis])
            for name, array in (("r", r), ("u", u), ("c", c), ("d_h", d_h))
            for axis, what in enumerate(("batch_size", "cell_size"))
        ]
    )
    inputs = x.shape[1]
    d_c_bar = d_h * (1 - u) * (1 - c * c)
    d_u_bar = d_h * (h_prev - c) * u * (1 - u)
    through_c = d_c_bar @ w_c.T
    d_hr = through_c[:, inputs:]
    d_r_bar = d_hr * h_prev * r * (1 - r)
    d_ru_bar = np.concatenate([d_r_bar, d_u_bar], 1)
    through_ru = d_ru_bar @ w_ru.T
    d_x: Any = through_ru[:, :inputs] + through_c[:, :inputs]
    return d_x, through_ru[:, inputs:] + d_hr * r + d_h * u, d_c_bar, d_ru_bar
