"""LSTM and GRU cells by their equations, one step after the other."""

import numpy as np

from . import case, floats

BATCH, INPUTS, CELLS, TIMES = 3, 2, 4, 5
NONE = "TensorFlow has no second derivative"
CONTRIB = "TensorFlow 1.15 has it in contrib, later versions do not"


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def split(gates, order):
    parts = np.split(gates, 4, -1)
    return [parts[order.index(name)] for name in "ifco"]


def step(x, cs, h, w, peepholes, b, bias, clip, order):
    i, f, c, o = split(np.concatenate([x, h], 1) @ w + b, order)
    wci, wcf, wco = peepholes
    i, f, c = sigmoid(i + cs * wci), sigmoid(f + bias + cs * wcf), np.tanh(c)
    new = i * c + f * cs
    if clip > 0:
        new = np.clip(new, -clip, clip)
    o = sigmoid(o + new * wco)
    return i, new, f, o, c, np.tanh(new), o * np.tanh(new)


def step_grad(inputs, cs, outputs, cs_grad, h_grad, peepholes, order):
    """The gates' gradients, that of cs_prev, and the peepholes' before they are summed."""
    i, new, f, o, c, co = outputs
    wci, wcf, wco = peepholes
    do = h_grad * co * o * (1 - o)
    dcs = h_grad * o * (1 - co**2) + cs_grad + do * wco
    di, df, dc = dcs * c * i * (1 - i), dcs * cs * f * (1 - f), dcs * i * (1 - c**2)
    named = {"i": di, "f": df, "c": dc, "o": do}
    before = dcs * f + di * wci + df * wcf
    return np.concatenate([named[name] for name in order], -1), before, (di * cs, df * cs, do * new)


def cell_inputs(dtype=np.float32):
    return [
        floats(BATCH, INPUTS, seed=1, dtype=dtype),
        floats(BATCH, CELLS, seed=2, dtype=dtype),
        floats(BATCH, CELLS, seed=3, dtype=dtype),
        floats(INPUTS + CELLS, 4 * CELLS, seed=4, dtype=dtype),
        floats(CELLS, seed=5, dtype=dtype),
        floats(CELLS, seed=6, dtype=dtype),
        floats(CELLS, seed=7, dtype=dtype),
        floats(4 * CELLS, seed=8, dtype=dtype),
    ]


ZEROS = (0.0, 0.0, 0.0)


def cell(bias=1.0, clip=3.0, peephole=False):
    def expect(x, cs, h, w, wci, wcf, wco, b):
        wide = [array.astype(np.float64) for array in (x, cs, h, w, wci, wcf, wco, b)]
        peepholes = wide[4:7] if peephole else ZEROS
        x, cs, h, w = wide[:4]
        return step(x, cs, h, w, peepholes, wide[7], bias, clip, "icfo")

    return expect


def cell_grad(peephole):
    def expect(x, cs, h, w, wci, wcf, wco, b, *rest):
        peepholes = (wci, wcf, wco) if peephole else ZEROS
        gates, before, weights = step_grad(None, cs, rest[:6], rest[6], rest[7], peepholes, "icfo")
        sums = [part.sum(0) if peephole else np.zeros(CELLS) for part in weights]
        return before, gates, *sums

    return expect


CLOSE = {"rtol": 1e-5, "atol": 1e-5}
CASES = []
VARIANTS: list[tuple[str, dict[str, float]]] = [
    ("plain", {}),
    ("peephole", {"use_peephole": True}),
    ("clip", {"cell_clip": 0.5, "forget_bias": 0.25}),
    ("no_clip", {"cell_clip": -1.0, "forget_bias": 0.0, "use_peephole": True}),
]
for note, attrs in VARIANTS:
    peephole = bool(attrs.get("use_peephole"))
    inputs = cell_inputs()
    expect = cell(attrs.get("forget_bias", 1.0), attrs.get("cell_clip", 3.0), peephole)
    states = [np.asarray(part, np.float32) for part in expect(*inputs)[:6]]
    CASES += [
        case(
            "LSTMBlockCell",
            *inputs,
            expect=expect,
            through=[1, 6],
            grad=[0, 1, 2, 3, 4, 5, 6, 7] if note != "clip" else "clipping is not seen by the gradient",
            second=NONE,
            oracle_grad=CONTRIB,
            note=note,
            **CLOSE,
            **attrs,
        ),
        case(
            "LSTMBlockCellGrad",
            *inputs,
            *states,
            floats(BATCH, CELLS, seed=9),
            floats(BATCH, CELLS, seed=10),
            expect=cell_grad(peephole),
            # Without peepholes TensorFlow leaves their gradients as they happen to be.
            oracle=True if peephole else (0, 1),
            use_peephole=peephole,
            note=note,
            **CLOSE,
        ),
    ]
CASES.append(
    case(
        "LSTMBlockCell",
        *cell_inputs(np.float16),
        expect=cell(),
        grad="half",
        note="float16",
        rtol=5e-3,
        atol=5e-3,
    )
)


def sequence_inputs(dtype=np.float32, steps=TIMES, times=TIMES):
    return [np.int64(steps), floats(times, BATCH, INPUTS, seed=11, dtype=dtype), *cell_inputs(dtype)[1:]]


def sequence(bias, clip, peephole, order):
    def expect(steps, x, cs, h, w, wci, wcf, wco, b):
        outputs = np.zeros((7, len(x), BATCH, CELLS))
        peepholes = (wci, wcf, wco) if peephole else ZEROS
        for time in range(int(steps)):
            outputs[:, time] = step(x[time], cs, h, w, peepholes, b, bias, clip, order)
            cs, h = outputs[1, time], outputs[6, time]
        return tuple(outputs)

    return expect


def sequence_grad(peephole, order):
    def expect(steps, x, cs, h, w, wci, wcf, wco, b, *rest):
        outputs, cs_grads, h_grads = rest[:7], rest[7], rest[8]
        peepholes = (wci, wcf, wco) if peephole else ZEROS
        d_x, d_w, d_b = np.zeros(x.shape), np.zeros(w.shape), np.zeros(b.shape)
        d_peep = np.zeros((3, CELLS))
        d_cs, d_h = np.zeros(cs.shape), np.zeros(h.shape)
        for time in range(int(steps) - 1, -1, -1):
            before = outputs[1][time - 1] if time else cs
            h_before = outputs[6][time - 1] if time else h
            gates, d_cs, weights = step_grad(
                None,
                before,
                [part[time] for part in outputs[:6]],
                d_cs + cs_grads[time],
                d_h + h_grads[time],
                peepholes,
                order,
            )
            through = gates @ w.T
            d_x[time], d_h = through[:, :INPUTS], through[:, INPUTS:]
            d_w += np.concatenate([x[time], h_before], 1).T @ gates
            d_b += gates.sum(0)
            if peephole:
                d_peep += [part.sum(0) for part in weights]
        return d_x, d_cs, d_h, d_w, *d_peep, d_b

    return expect


for name, order in (("BlockLSTM", "icfo"), ("BlockLSTMV2", "ifco")):
    for note, attrs, steps in [
        ("plain", {"cell_clip": 0.0}, TIMES),
        ("peephole", {"use_peephole": True, "cell_clip": 0.0}, TIMES),
        ("clip", {"cell_clip": 0.5}, TIMES),
        ("short", {"cell_clip": -1.0}, 3),
        ("no_steps", {"cell_clip": 0.0}, 0),
    ]:
        first = name == "BlockLSTM"
        peephole = attrs.get("use_peephole", False)
        bias = {"forget_bias": 0.5} if first else {}
        inputs = sequence_inputs(steps=steps)
        expect = sequence(0.5 if first else 0.0, attrs["cell_clip"], peephole, order)
        states = [np.asarray(part, np.float32) for part in expect(*inputs)]
        CASES += [
            case(
                name,
                *inputs,
                expect=expect,
                through=[1, 6],
                grad=list(range(1, 9)) if note in ("plain", "peephole") else "clipped, or not all of it",
                second=NONE,
                oracle_grad=True if first else "TensorFlow takes BlockLSTMGrad: another order of gates",
                # TensorFlow fills only cs and h after the last step.
                oracle=True if steps == TIMES else (1, 6),
                note=note,
                **CLOSE,
                **attrs,
                **bias,
            ),
            case(
                "BlockLSTMGrad" if first else "BlockLSTMGradV2",
                *inputs,
                *states,
                floats(TIMES, BATCH, CELLS, seed=12),
                floats(TIMES, BATCH, CELLS, seed=13),
                expect=sequence_grad(peephole, order),
                use_peephole=peephole,
                note=note,
                rtol=1e-4,
                atol=1e-4,
            ),
        ]


def gru(x, h, w_ru, w_c, b_ru, b_c):
    r, u = np.split(sigmoid(np.concatenate([x, h], 1) @ w_ru + b_ru), 2, 1)
    c = np.tanh(np.concatenate([x, r * h], 1) @ w_c + b_c)
    return r, u, c, u * h + (1 - u) * c


def gru_grad(x, h, w_ru, w_c, b_ru, b_c, r, u, c, dh):
    dc = dh * (1 - u) * (1 - c**2)
    back = dc @ w_c.T
    dr, du = back[:, INPUTS:] * h * r * (1 - r), dh * (h - c) * u * (1 - u)
    gates = np.concatenate([dr, du], 1)
    more = gates @ w_ru.T
    return back[:, :INPUTS] + more[:, :INPUTS], more[:, INPUTS:] + back[:, INPUTS:] * r + dh * u, dc, gates


GRU = [
    floats(BATCH, INPUTS, seed=1),
    floats(BATCH, CELLS, seed=2),
    floats(INPUTS + CELLS, 2 * CELLS, seed=3),
    floats(INPUTS + CELLS, CELLS, seed=4),
    floats(2 * CELLS, seed=5),
    floats(CELLS, seed=6),
]
CASES += [
    case("GRUBlockCell", *GRU, expect=gru, through=[3], second=NONE, oracle_grad=CONTRIB, **CLOSE),
    case(
        "GRUBlockCell",
        np.zeros((0, INPUTS), np.float32),
        np.zeros((0, CELLS), np.float32),
        *GRU[2:],
        expect=tuple(np.zeros((0, CELLS)) for _ in range(4)),
        grad="empty",
        note="empty",
    ),
    case(
        "GRUBlockCellGrad",
        *GRU,
        *[np.asarray(part, np.float32) for part in gru(*GRU)[:3]],
        floats(BATCH, CELLS, seed=7),
        expect=gru_grad,
        **CLOSE,
    ),
]
