"""Simulated quantization, by the formulas of TensorFlow's documentation in double precision."""

import numpy as np

from . import case, floats

STRAIGHT = "the gradient goes straight through the steps"
X = np.concatenate([floats(40, low=-9, high=9), np.array([0, -6, 6, 100, -100], np.float32)])


def away(x):
    """Rounded, halves away from 0."""
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


def nudged(low, high, bits, narrow):
    # Whether a half is rounded up is a matter of single precision.
    first, last = np.float32(int(narrow)), np.float32(2**bits - 1)
    scale = np.float32(high - low) / (last - first)
    zero = float(np.clip(away(first - np.float32(low) / scale), first, last))
    scale = (high - low) / float(last - first)
    return (float(first) - zero) * scale, (float(last) - zero) * scale, scale


def quantized(x, low, high, bits=8, narrow=False):
    bottom, top, scale = nudged(low, high, bits, narrow)
    moved = np.clip(x.astype(np.float64), bottom, top)
    return np.floor((moved - bottom) / scale + 0.5) * scale + bottom


def split(dy, x, low, high, bits=8, narrow=False):
    bottom, top, _ = nudged(low, high, bits, narrow)
    return dy * ((x >= bottom) & (x <= top)), dy * (x < bottom), dy * (x > top)


CASES = []
DY = floats(*X.shape, seed=3)
for note, low, high, attrs in [
    ("default", -5.9, 6.0, {}),
    ("bits", -1.0, 2.5, {"num_bits": 4}),
    ("narrow", -3.0, 1.0, {"num_bits": 5, "narrow_range": True}),
    ("positive", 0.5, 3.0, {}),
    ("negative", -3.0, -0.5, {"num_bits": 16}),
]:
    rest = attrs.get("num_bits", 8), attrs.get("narrow_range", False)
    shared = {"note": note, **attrs}
    limits = {"min": low, "max": high}
    ends = np.float32(low), np.float32(high)
    rows = X[:42].reshape(2, 3, 7)
    lows, highs = np.linspace(low, low - 1, 7).astype(np.float32), np.linspace(high, high + 1, 7)
    highs = highs.astype(np.float32)
    row_dy = DY[:42].reshape(rows.shape)
    near = {"rtol": 1e-5, "atol": 1e-5}

    def each(x, low, high, rest=rest):
        return np.stack([quantized(x[..., i], low[i], high[i], *rest) for i in range(7)], -1)

    def each_grad(dy, x, low, high, rest=rest):
        parts = [split(dy[..., i], x[..., i], low[i], high[i], *rest) for i in range(7)]
        inside, below, above = (np.stack(part, -1) for part in zip(*parts, strict=True))
        return inside, below.sum((0, 1)), above.sum((0, 1))

    def whole_grad(dy, x, low, high, rest=rest):
        inside, below, above = split(dy, x, low, high, *rest)
        return inside, below.sum(), above.sum()

    CASES += [
        case(
            "FakeQuantWithMinMaxArgs",
            X,
            expect=quantized(X, low, high, *rest),
            numeric=STRAIGHT,
            **limits,
            **shared,
            **near,
        ),
        case(
            "FakeQuantWithMinMaxArgsGradient",
            DY,
            X,
            expect=split(DY, X, low, high, *rest)[0],
            **limits,
            **shared,
        ),
        case(
            "FakeQuantWithMinMaxVars",
            X,
            *ends,
            expect=lambda x, low, high, rest=rest: quantized(x, float(low), float(high), *rest),
            numeric=STRAIGHT,
            **shared,
            **near,
        ),
        case("FakeQuantWithMinMaxVarsGradient", DY, X, *ends, expect=whole_grad, **shared, **near),
        case(
            "FakeQuantWithMinMaxVarsPerChannel",
            rows,
            lows,
            highs,
            expect=each,
            numeric=STRAIGHT,
            **shared,
            **near,
        ),
        case(
            "FakeQuantWithMinMaxVarsPerChannelGradient",
            row_dy,
            rows,
            lows,
            highs,
            expect=each_grad,
            **shared,
            **near,
        ),
    ]
ZERO = np.float32(0)
CASES += [
    case("FakeQuantWithMinMaxVars", X, ZERO, ZERO, expect=np.zeros_like(X), numeric=STRAIGHT, note="zeros"),
    case("FakeQuantWithMinMaxVarsGradient", DY, X, ZERO, ZERO, expect=(DY, 0.0, 0.0), note="zeros"),
    case(
        "FakeQuantWithMinMaxArgs",
        np.zeros((0, 2), np.float32),
        expect=np.zeros((0, 2)),
        grad="empty",
        note="empty",
    ),
]


def steps(x, low, high, signed=True, bits=8, given=True, narrow=False, up=False):
    wide = x.astype(np.float64)
    first = -(2 ** (bits - 1)) + narrow if signed else 0
    last = 2 ** (bits - 1) - 1 if signed else 2**bits - 1
    low, high = (float(low), float(high)) if given else (wide.min(), wide.max())
    scales = [q / r for q, r in ((first, low), (last, high)) if q * r > 0]
    scale = min(scales)
    if given:
        wide = np.clip(wide, first / scale, last / scale)
    return (np.floor(wide * scale + 0.5) if up else np.rint(wide * scale)) / scale


FINE = floats(30, low=-3, high=5)
for note, attrs, low, high in [
    ("range", {}, -4.0, 3.0),
    ("unsigned", {"signed_input": False}, 0.0, 4.0),
    ("bits", {"num_bits": 3}, -1.0, 5.0),
    ("found", {"range_given": False}, 0.0, 0.0),
    ("narrow", {"narrow_range": True, "num_bits": 4}, -2.0, 1.0),
    ("up", {"round_mode": "HALF_UP", "num_bits": 4}, -4.0, 4.0),
]:
    options = {"range_given": True, **attrs}
    names = {
        "signed_input": "signed",
        "num_bits": "bits",
        "range_given": "given",
        "narrow_range": "narrow",
    }
    plain = {names[key]: value for key, value in options.items() if key in names}

    def expect(x, low, high, *_, plain=plain, up="round_mode" in attrs):
        return steps(x, low, high, up=up, **plain)

    near = {"rtol": 1e-5, "atol": 1e-5, "note": note, "numeric": STRAIGHT, "grad": [0]}
    ends = np.float32(low), np.float32(high)
    CASES.append(case("QuantizeAndDequantizeV2", FINE, *ends, expect=expect, **options, **near))
    if "round_mode" not in attrs:
        bits = np.int32(options.pop("num_bits", 8))
        CASES.append(case("QuantizeAndDequantizeV3", FINE, *ends, bits, expect=expect, **options, **near))
    if not {"round_mode", "narrow_range"} & attrs.keys():
        options = {"range_given": True, **attrs, "input_min": low, "input_max": high}
        found = expect(FINE, low, high)
        near["oracle"] = "TensorFlow refuses it in graphs of our version"
        CASES.append(case("QuantizeAndDequantize", FINE, expect=found, **options, **near))
CASES += [
    case(
        "QuantizeAndDequantizeV2",
        FINE.astype(dtype),
        dtype(-4.0),
        dtype(4.0),
        expect=steps,
        range_given=True,
        numeric=STRAIGHT,
        grad=[0],
    )
    for dtype in (np.float64,)
]
