"""Recurrent cells that are one op: LSTMBlockCell, BlockLSTM, GRUBlockCell, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import float16, float32
from ..errors import InvalidValueError
from ..kernels import rnn_block as kernels
from ..kernels.arrays import widened
from ..op import op, raw_ops
from ..shapes import Dim, Shape, with_rank

_HALF = (float16, float32)
_NONE = "TensorFlow has none for the gradient of this op"
_CELL = "x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T"
_STATES = "i: T, cs: T, f: T, o: T, ci: T, co: T"
_PEEPHOLE = "use_peephole: bool = false"
_FORGET = "forget_bias: float = 1.0"
_CLIP = "cell_clip: float = 3.0"


def _narrowed(arrays: Any, dtype: Any) -> tuple[Any, ...]:
    return tuple(np.ascontiguousarray(array).astype(dtype, copy=False) for array in arrays)


# One step of an LSTM


@op(
    "LSTMBlockCell",
    f"{_CELL} -> {_STATES}, h: T",
    _FORGET,
    _CLIP,
    _PEEPHOLE,
    T=_HALF,
)
def lstm_block_cell(
    x: Any,
    cs_prev: Any,
    h_prev: Any,
    w: Any,
    wci: Any,
    wcf: Any,
    wco: Any,
    b: Any,
    *,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
) -> tuple[Any, ...]:
    """One step of an LSTM; the gates are input, cell, forget, output."""
    kernels.check_ranks(x=(x, 2))
    peepholes = kernels.Peepholes(wci, wcf, wco)
    kernels.check_lstm(x, cs_prev, h_prev, w, b, peepholes)
    xh = np.concatenate([widened(x), widened(h_prev)], 1)
    found = kernels.lstm_step(
        xh @ widened(w) + widened(b),
        widened(cs_prev),
        kernels.Peepholes(*map(widened, peepholes)) if use_peephole else None,
        forget_bias=forget_bias,
        cell_clip=cell_clip,
        order=kernels.ICFO,
    )
    return _narrowed(found, x.dtype)


@lstm_block_cell.shape
def _(node: Any) -> list[Shape]:
    batch, _ = with_rank(node.shape(0), 2)
    _, cell = with_rank(node.shape(1), 2)
    return [(batch, cell)] * 7


@op(
    "LSTMBlockCellGrad",
    f"{_CELL}, {_STATES}, cs_grad: T, h_grad: T -> "
    "cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T",
    "use_peephole: bool",
    T=_HALF,
    undefined_grad=_NONE,
)
def lstm_block_cell_grad(
    x: Any,
    cs_prev: Any,
    h_prev: Any,
    w: Any,
    wci: Any,
    wcf: Any,
    wco: Any,
    b: Any,
    i: Any,
    cs: Any,
    f: Any,
    o: Any,
    ci: Any,
    co: Any,
    cs_grad: Any,
    h_grad: Any,
    *,
    use_peephole: bool,
) -> tuple[Any, ...]:
    """The gradient of one step of an LSTM, with respect to its gates, its state and the peepholes."""
    kernels.check_ranks(x=(x, 2))
    peepholes = kernels.Peepholes(wci, wcf, wco)
    kernels.check_lstm(x, cs_prev, h_prev, w, b, peepholes)
    states = {"i": i, "cs": cs, "f": f, "o": o, "ci": ci, "co": co, "cs_grad": cs_grad, "h_grad": h_grad}
    kernels.check_ranks(**{name: (array, 2) for name, array in states.items()})
    kernels.check_sizes(
        [
            (f"{name}.dim_size({axis})", array.shape[axis], what, cs_prev.shape[axis])
            for name, array in states.items()
            for axis, what in enumerate(("batch_size", "cell_size"))
        ]
    )
    found = kernels.lstm_step_grad(
        widened(cs_prev),
        [widened(array) for array in (i, cs, f, o, ci, co)],
        widened(cs_grad),
        widened(h_grad),
        kernels.Peepholes(*map(widened, peepholes)) if use_peephole else None,
        kernels.ICFO,
    )
    return _narrowed((found.cs_prev, found.gates, *found.peepholes), x.dtype)


@lstm_block_cell_grad.shape
def _(node: Any) -> list[Shape]:
    batch, _ = with_rank(node.shape(0), 2)
    _, cell = with_rank(node.shape(1), 2)
    return [(batch, cell), (batch, None if cell is None else 4 * cell), (cell,), (cell,), (cell,)]


@lstm_block_cell.grad
def _(node: Any, *grads: Any) -> Any:
    x, _, h_prev, w, *_ = node.inputs
    *states, _ = node.outputs
    cs_prev_grad, gates, *peepholes = lstm_block_cell_grad(
        *node.inputs, *states, grads[1], grads[6], use_peephole=node.attr("use_peephole")
    )
    xh_grad = raw_ops.MatMul(gates, w, transpose_b=True)
    x_grad, h_prev_grad = _parts(xh_grad, x, h_prev)
    w_grad = raw_ops.MatMul(raw_ops.ConcatV2([x, h_prev], 1), gates, transpose_a=True)
    return [x_grad, cs_prev_grad, h_prev_grad, w_grad, *peepholes, raw_ops.BiasAddGrad(gates)]


def _parts(joined: Any, x: Any, h: Any) -> tuple[Any, Any]:
    """The columns of `joined` that belong to x and to h."""
    batch, inputs = with_rank(x.static_shape, 2)
    _, cell = with_rank(h.static_shape, 2)
    if inputs is None or cell is None:
        start = raw_ops.Pack([0, raw_ops.Shape(x)[1]])
        return raw_ops.Slice(joined, [0, 0], raw_ops.Shape(x)), raw_ops.Slice(joined, start, raw_ops.Shape(h))
    rows = -1 if batch is None else batch
    return raw_ops.Slice(joined, [0, 0], [rows, inputs]), raw_ops.Slice(joined, [0, inputs], [rows, cell])


# An LSTM over time


def _block_lstm(name: str, order: tuple[int, ...], *attrs: str) -> None:
    """Declares `name` and its gradient, whose gates are in the given order."""
    inputs = f"seq_len_max: int64, {_CELL}"

    def run(
        seq_len_max: Any,
        x: Any,
        cs_prev: Any,
        h_prev: Any,
        w: Any,
        wci: Any,
        wcf: Any,
        wco: Any,
        b: Any,
        *,
        forget_bias: float = 0.0,
        cell_clip: float,
        use_peephole: bool,
    ) -> tuple[Any, ...]:
        return kernels.block_lstm(
            int(seq_len_max),
            x,
            cs_prev,
            h_prev,
            w,
            kernels.Peepholes(wci, wcf, wco),
            b,
            forget_bias=forget_bias,
            cell_clip=cell_clip,
            use_peephole=use_peephole,
            order=order,
        )

    def run_grad(
        seq_len_max: Any,
        x: Any,
        cs_prev: Any,
        h_prev: Any,
        w: Any,
        wci: Any,
        wcf: Any,
        wco: Any,
        b: Any,
        i: Any,
        cs: Any,
        f: Any,
        o: Any,
        ci: Any,
        co: Any,
        h: Any,
        cs_grad: Any,
        h_grad: Any,
        *,
        use_peephole: bool,
    ) -> tuple[Any, ...]:
        return kernels.block_lstm_grad(
            int(seq_len_max),
            x,
            cs_prev,
            h_prev,
            w,
            kernels.Peepholes(wci, wcf, wco),
            b,
            (i, cs, f, o, ci, co, h),
            cs_grad,
            h_grad,
            use_peephole=use_peephole,
            order=order,
        )

    run.__doc__ = "An LSTM over the time steps of its input."
    run_grad.__doc__ = f"The gradient of {name}."
    forward = op(name, f"{inputs} -> {_STATES}, h: T", *attrs, _PEEPHOLE, T=_HALF)(run)
    gradient_name = name.removesuffix("V2") + "Grad" + ("V2" if name.endswith("V2") else "")
    backward = op(
        gradient_name,
        f"{inputs}, {_STATES}, h: T, cs_grad: T, h_grad: T -> x_grad: T, cs_prev_grad: T, h_prev_grad: T, "
        "w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: T",
        "use_peephole: bool",
        T=_HALF,
        undefined_grad=_NONE,
    )(run_grad)

    @forward.shape
    def _(node: Any) -> list[Shape]:
        times, batch, _ = with_rank(node.shape(1), 3)
        (bias,) = with_rank(node.shape(8), 1)
        cell: Dim = None
        if bias is not None:
            if bias % 4:
                raise InvalidValueError(f"Dimension size must be evenly divisible by 4 but is {bias}")
            cell = bias // 4
        return [(times, batch, cell)] * 7

    @backward.shape
    def _(node: Any) -> list[Shape]:
        ranks = (3, 2, 2, 2, 1, 1, 1, 1)
        return [with_rank(node.shape(index), rank) for index, rank in enumerate(ranks, 1)]

    # TensorFlow differentiates BlockLSTMV2 with BlockLSTMGrad, whose gates are in another order: not here.
    @forward.grad
    def _(node: Any, *grads: Any) -> Any:
        options = {"use_peephole": node.attr("use_peephole")}
        return [None, *backward(*node.inputs, *node.outputs, grads[1], grads[6], **options)]


_block_lstm("BlockLSTM", kernels.ICFO, _FORGET, _CLIP)
_block_lstm("BlockLSTMV2", kernels.IFCO, "cell_clip: float = 0.0")


# One step of a GRU

_GRU = "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T"

gru_block_cell = op("GRUBlockCell", f"{_GRU} -> r: T, u: T, c: T, h: T", T=(float32,))(kernels.gru_cell)
gru_block_cell_grad = op(
    "GRUBlockCellGrad",
    f"{_GRU}, r: T, u: T, c: T, d_h: T -> d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T",
    T=(float32,),
    undefined_grad=_NONE,
)(kernels.gru_cell_grad)


@gru_block_cell.shape
def _(node: Any) -> list[Shape]:
    batch, _ = with_rank(node.shape(0), 2)
    _, cell = with_rank(node.shape(1), 2)
    return [(batch, cell)] * 4


@gru_block_cell_grad.shape
def _(node: Any) -> list[Shape]:
    x, h_prev, w_ru = (with_rank(node.shape(index), 2) for index in range(3))
    state = (x[0], h_prev[1])
    return [x, state, state, (x[0], w_ru[1])]


@gru_block_cell.grad
def _(node: Any, *grads: Any) -> Any:
    (x, h_prev, *_), (r, u, c, _) = node.inputs, node.outputs
    d_x, d_h_prev, d_c_bar, d_ru_bar = gru_block_cell_grad(*node.inputs, r, u, c, grads[3])
    d_w_ru = raw_ops.MatMul(raw_ops.ConcatV2([x, h_prev], 1), d_ru_bar, transpose_a=True)
    d_w_c = raw_ops.MatMul(raw_ops.ConcatV2([x, h_prev * r], 1), d_c_bar, transpose_a=True)
    return [d_x, d_h_prev, d_w_ru, d_w_c, raw_ops.BiasAddGrad(d_ru_bar), raw_ops.BiasAddGrad(d_c_bar)]
