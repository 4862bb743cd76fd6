"""Ops on quantized numbers: the real numbers that integers stand for, and back, in double precision."""

import numpy as np

from . import Quantized, case, floats, ints
from .nn_conv import Direct as Convolution
from .nn_pool import Direct as Pooling

PLAIN = {
    "quint8": np.uint8,
    "qint8": np.int8,
    "quint16": np.uint16,
    "qint16": np.int16,
    "qint32": np.int32,
}
NO_CPU = "TensorFlow's CPU has no kernel"


def away(x):
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


def bounds(dtype):
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def step(low, high, dtype):
    lowest, highest = bounds(dtype)
    return (float(high) - float(low)) / (highest - lowest)


def real(x, low, high):
    """What integers stand for: the range begins at a whole number of steps."""
    size = step(low, high, x.dtype)
    return (away(float(low) / size) + x.astype(np.float64) - bounds(x.dtype)[0]) * size


def integer(x, low, high, *, dtype):
    size, (lowest, highest) = step(low, high, dtype), bounds(dtype)
    return np.clip(away(x / size) - away(float(low) / size) + lowest, lowest, highest).astype(dtype)


def numbers(name, *shape, seed=0):
    lowest, highest = bounds(PLAIN[name])
    return Quantized(
        np.random.default_rng(seed)
        .integers(lowest, highest, shape, np.int64, endpoint=True)
        .astype(PLAIN[name]),
        name,
    )


LOW, HIGH = np.float32(-1.5), np.float32(4.25)
SINGLE = {"rtol": 1e-5, "atol": 1e-5}
CASES = []


def quantize_v2(mode, dtype, even):
    def expect(x, low, high):
        low, high = min(0.0, float(low)), float(high)
        lowest, highest = bounds(dtype)
        if mode == "MIN_FIRST":
            return integer(x, low, high, dtype=dtype), low, high
        if mode == "MIN_COMBINED":
            # In single precision, which tells in 16 bits.
            scale = np.float32(1 / step(low, high, dtype))
            moved = (np.clip(x, np.float32(low), np.float32(high)) - np.float32(low)) * scale
            half = (highest - lowest + 1) / 2 if lowest else 0
            return away(moved - half).astype(dtype), low, high
        scale = min(q / r for q, r in ((lowest, low), (highest, high)) if q * r > 0)
        low, high = lowest / scale, highest / scale
        scaled = np.clip(x.astype(float), low, high) * scale
        return (np.rint(scaled) if even else away(scaled)).astype(dtype), low, high

    return expect


def dequantize(mode):
    def expect(x, low, high):
        lowest, highest = bounds(x.dtype)
        if mode == "MIN_FIRST":
            return real(x, low, high)
        if mode == "MIN_COMBINED":
            half = (highest - lowest + 1) / 2 if lowest else 0
            return (x.astype(float) + half) * step(low, high, x.dtype) + float(low)
        return x * (float(high) / highest if not lowest else max(low / lowest, high / highest))

    return expect


X = floats(30, low=-2, high=5)
for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
    for name in ("quint8", "qint8", "quint16", "qint16"):
        note = f"{mode}_{name}"
        CASES += [
            case(
                "QuantizeV2",
                X,
                LOW,
                HIGH,
                T=name,
                mode=mode,
                expect=quantize_v2(mode, PLAIN[name], False),
                note=note,
            ),
            case(
                "Dequantize",
                numbers(name, 5, 7),
                LOW,
                HIGH,
                mode=mode,
                expect=dequantize(mode),
                note=note,
                **SINGLE,
            ),
        ]

CASES += [
    case(
        "QuantizeV2",
        X,
        LOW,
        HIGH,
        T="qint8",
        mode="SCALED",
        round_mode="HALF_TO_EVEN",
        expect=quantize_v2("SCALED", np.int8, True),
        note="even",
    ),
    case(
        "QuantizeV2",
        np.array([0.0, 0.004, 0.01], np.float32),
        np.float32(0.0),
        np.float32(0.0),
        T="quint8",
        expect=(np.array([0, 102, 255], np.uint8), 0.0, 0.01),
        note="no_range",
        **SINGLE,
    ),
    case(
        "QuantizeV2",
        np.zeros((0, 2), np.float32),
        LOW,
        HIGH,
        T="quint8",
        expect=(np.zeros((0, 2)), LOW, HIGH),
        note="empty",
    ),
]


def used(x, low, high):
    ends = real(np.array([x.min(), x.max()]), low, high)
    return min(0.0, ends[0]), ends[1]


# Within 24 bits, so that single precision tells the integers apart.
SUMS = Quantized(ints(6, 5, low=-(1 << 20), high=1 << 20), "qint32")
WIDE = np.float32(-5000.0), np.float32(5000.0)
NEW = np.float32(-1.0), np.float32(2.0)


def requantized(dtype):
    return lambda x, low, high, *new: (integer(real(x, low, high), *new, dtype=dtype), *new)


def shrunk(x, low, high):
    new = used(x, low, high)
    return integer(real(x, low, high), *new, dtype=np.uint8), *new


CASES += [
    case("Requantize", SUMS, *WIDE, *NEW, out_type="quint8", expect=requantized(np.uint8)),
    case("Requantize", SUMS, *WIDE, *NEW, out_type="qint8", expect=requantized(np.int8)),
    case(
        "Requantize",
        Quantized(ints(4, low=-(1 << 20), high=1 << 20), "qint32"),
        *WIDE,
        np.float32(0.0),
        np.float32(0.0),
        out_type="quint8",
        expect=(np.zeros(4), 0.0, 0.0),
        note="no_range",
    ),
    case("RequantizationRange", SUMS, *WIDE, expect=used, **SINGLE),
    case("QuantizeDownAndShrinkRange", SUMS, *WIDE, out_type="quint8", expect=shrunk, **SINGLE),
    case(
        "RequantizePerChannel",
        Quantized(ints(1, 2, 2, 3, low=-(1 << 30), high=1 << 30), "qint32"),
        np.array([-1, -2, -0.5], np.float32),
        np.array([1, 1, 1], np.float32),
        np.float32(-0.8),
        np.float32(0.7),
        out_type="qint8",
        expect=lambda x, low, high, a, b: (
            np.clip(np.rint(x * [1.0, 2.0, 1.0] / 2.0**31 / 0.8 * 127), -128, 127),
            a,
            b,
        ),
        oracle=NO_CPU,
    ),
    case(
        "RequantizationRangePerChannel",
        Quantized(ints(1, 2, 2, 3, low=-(1 << 30), high=1 << 30), "qint32"),
        np.array([-1, -2, -0.5], np.float32),
        np.array([1, 1, 1], np.float32),
        clip_value_max=1e30,
        expect=lambda x, low, high: (
            -(np.abs(x).max((0, 1, 2)) * [1.0, 2.0, 1.0]).max() / 2.0**31,
            (np.abs(x).max((0, 1, 2)) * [1.0, 2.0, 1.0]).max() / 2.0**31,
        ),
        oracle=NO_CPU,
        **SINGLE,
    ),
]


def centred(x, low, high):
    """Integers, 0 for the real number 0."""
    return x.astype(np.int64) - (bounds(x.dtype)[0] - int(away(float(low) / step(low, high, x.dtype))))


def products(low_a, high_a, low_b, high_b, *, dtype):
    size = step(low_a, high_a, dtype) * step(low_b, high_b, dtype)
    return size * -(2.0**31), size * (2.0**31 - 1)


def matmul(transpose_a, transpose_b):
    def expect(a, b, *ends):
        a, b = (a.T if transpose_a else a), (b.T if transpose_b else b)
        return centred(a, *ends[:2]) @ centred(b, *ends[2:]), *products(*ends, dtype=np.uint8)

    return expect


OTHER = np.float32(-0.75), np.float32(2.0)
A, B = numbers("quint8", 3, 4), numbers("quint8", 4, 5, seed=1)
for first, second in ((False, False), (True, False), (False, True), (True, True)):
    CASES.append(
        case(
            "QuantizedMatMul",
            Quantized(A.value.T.copy(), "quint8") if first else A,
            Quantized(B.value.T.copy(), "quint8") if second else B,
            LOW,
            HIGH,
            *OTHER,
            transpose_a=first,
            transpose_b=second,
            Toutput="qint32",
            expect=matmul(first, second),
            note=f"{first}_{second}",
            **SINGLE,
        )
    )
IMAGES, FILTERS = numbers("quint8", 2, 6, 5, 3), numbers("quint8", 3, 2, 3, 4, seed=2)
for padding, strides in (("SAME", [1, 1, 1, 1]), ("VALID", [1, 2, 2, 1]), ("SAME", [1, 2, 2, 1])):
    direct = Convolution(strides=strides, padding=padding)
    CASES.append(
        case(
            "QuantizedConv2D",
            IMAGES,
            FILTERS,
            LOW,
            HIGH,
            *OTHER,
            strides=strides,
            padding=padding,
            out_type="qint32",
            expect=lambda x, w, *ends, direct=direct: (
                direct.forward(centred(x, *ends[:2]), centred(w, *ends[2:])),
                *products(*ends, dtype=np.uint8),
            ),
            note=f"{padding}_{strides[1]}",
            **SINGLE,
        )
    )


def summed(x, y, *ends):
    high = np.abs(np.array(ends, float)).max() * 2**14
    total = 0
    for part, *given in ((x, *ends[:2]), (y, *ends[2:])):
        exact = integer(real(part, *given), -high, high, dtype=np.int32).astype(np.int64)
        # An array goes by multiples of the first step, rounded once.
        first = integer(real(np.array([0, 1], np.uint8), *given), -high, high, dtype=np.int32).astype(
            np.int64
        )
        total = total + (
            exact if part.size == 1 else first[0] + part.astype(np.int64) * (first[1] - first[0])
        )
    return total, -high, high


def multiplied(x, y, *ends):
    return centred(x, *ends[:2]) * centred(y, *ends[2:]), *products(*ends, dtype=np.uint8)


for note, shapes in (("same", [(3, 4), (3, 4)]), ("vector", [(2, 3, 4), (4,)]), ("scalar", [(), (5,)])):
    pair = numbers("quint8", *shapes[0]), numbers("quint8", *shapes[1], seed=3)
    options = {"Toutput": "qint32", "note": note, **SINGLE}
    CASES += [
        case("QuantizedAdd", *pair, LOW, HIGH, *OTHER, expect=summed, **options),
        case("QuantizedMul", *pair, LOW, HIGH, *OTHER, expect=multiplied, **options),
    ]


def biased(x, b, *ends):
    high = np.abs(np.array(ends, float)).max() * 2**17
    # Conversions are in single precision there: compared to its steps.
    parts = [
        integer(real(part, *given), -high, high, dtype=np.int32).astype(np.int64)
        for part, given in (
            (x, ends[:2]),
            (b, ends[2:]),
        )
    ]
    return parts[0] + parts[1], -high, high


for name in ("quint8", "qint8"):
    CASES.append(
        case(
            "QuantizedBiasAdd",
            numbers(name, 2, 3, 4),
            numbers(name, 4, seed=1),
            LOW,
            HIGH,
            *OTHER,
            out_type="qint32",
            expect=biased,
            note=name,
            **SINGLE,
        )
    )


def clamped(top=None):
    def expect(x, *ends):
        value = top
        if len(ends) == 3:
            value, ends = float(ends[0]), ends[1:]
        out = np.maximum(x, integer(np.zeros(()), *ends, dtype=x.dtype))
        return out if value is None else np.minimum(
            out, integer(np.array(value), *ends, dtype=x.dtype)
        ), *ends

    return expect


RANGE = np.float32(-3.0), np.float32(9.0)
CASES += [
    case("QuantizedRelu", numbers("quint8", 4, 5), *RANGE, out_type="quint8", expect=clamped()),
    case(
        "QuantizedRelu", numbers("qint32", 4, 5), *RANGE, out_type="qint32", expect=clamped(), note="qint32"
    ),
    case("QuantizedRelu6", numbers("quint8", 4, 5), *RANGE, out_type="quint8", expect=clamped(6.0)),
    case(
        "QuantizedReluX",
        numbers("quint8", 4, 5),
        np.float32(2.5),
        *RANGE,
        out_type="quint8",
        expect=clamped(),
        oracle=NO_CPU,
    ),
    case(
        "QuantizedReshape",
        numbers("quint8", 2, 6),
        np.array([3, -1], np.int32),
        *RANGE,
        expect=lambda x, _, low, high: (x.reshape(3, 4), low, high),
    ),
]


def joined(axis, values, lows, highs):
    low, high = min(0.0, *map(float, lows)), max(map(float, highs))
    if values[0].dtype.kind == "i":
        high = max(abs(low), abs(high))
        low = -high
    dtype = values[0].dtype
    parts = [
        part if (float(a), float(b)) == (low, high) else integer(real(part, a, b), low, high, dtype=dtype)
        for part, a, b in zip(values, lows, highs, strict=True)
    ]
    return np.concatenate(parts, int(axis)), low, high


CASES += [
    case(
        "QuantizedConcat",
        np.int32(1),
        [numbers("quint8", 2, 3), numbers("quint8", 2, 1, seed=1), numbers("quint8", 2, 2, seed=2)],
        [np.float32(-1.1), np.float32(0.5), np.float32(-2.1)],
        [np.float32(0.9), np.float32(2.0), np.float32(2.0)],
        expect=joined,
    ),
    case(
        "QuantizedMaxPool",
        IMAGES,
        LOW,
        HIGH,
        ksize=[1, 2, 3, 1],
        strides=[1, 2, 1, 1],
        padding="SAME",
        expect=lambda x, *ends: (Pooling([1, 2, 3, 1], [1, 2, 1, 1], "SAME").pool(np.max)(x), *ends),
    ),
    case(
        "QuantizedAvgPool",
        IMAGES,
        LOW,
        HIGH,
        ksize=[1, 2, 3, 1],
        strides=[1, 2, 2, 1],
        padding="SAME",
        expect=lambda x, *ends: (
            np.floor(Pooling([1, 2, 3, 1], [1, 2, 2, 1], "SAME").pool(np.mean)(x.astype(float))),
            *ends,
        ),
    ),
]


def batch_norm(scaled):
    def expect(*inputs):
        x, mean, variance, beta, gamma = (real(*inputs[start : start + 3]) for start in range(0, 15, 3))
        scale = (gamma if scaled else 1) / np.sqrt(variance + 0.25)
        low, high = -float(1 << 20), float(1 << 20)
        x, scale, offset, one = (
            integer(part, low, high, dtype=np.int32).astype(np.int64)
            for part in (x, scale, beta - mean * scale, np.ones(()))
        )
        product = (x * scale).astype(np.int32).astype(np.int64)
        return np.trunc(product / one) + offset, low, high

    return expect


# Small enough that no product of 32-bit integers overflows.
NORMED = [numbers("quint8", 1, 2, 3, 2), np.float32(-1e-1), np.float32(1e-1)]
for index in range(4):
    NORMED += [numbers("quint8", 2, seed=index + 1), np.float32(0.0 if index == 1 else -0.1), np.float32(0.5)]
CASES += [
    case(
        "QuantizedBatchNormWithGlobalNormalization",
        *NORMED,
        variance_epsilon=0.25,
        scale_after_normalization=scaled,
        out_type="qint32",
        expect=batch_norm(scaled),
        note=str(scaled),
    )
    for scaled in (True, False)
]


def instance_norm(given):
    def expect(x, low, high):
        size = step(low, high, np.uint8)
        wide = x.astype(float)
        moved = size * (wide - wide.mean((1, 2), keepdims=True))
        normed = moved / np.sqrt((moved**2).mean((1, 2), keepdims=True) + 1e-5)
        ends = given or (normed.min(), normed.max())
        return integer(normed, *ends, dtype=np.uint8), *ends

    return expect


CASES += [
    case("QuantizedInstanceNorm", IMAGES, LOW, HIGH, expect=instance_norm(None), **SINGLE),
    case(
        "QuantizedInstanceNorm",
        IMAGES,
        LOW,
        HIGH,
        output_range_given=True,
        given_y_min=-1.0,
        given_y_max=1.5,
        expect=instance_norm((-1.0, 1.5)),
        note="given",
    ),
]


def resized(align, half):
    """Bilinear in fixed-point numbers: 7 bits after the point for 8-bit integers, 30 for 32-bit ones."""

    def weights(size, out):
        place = np.arange(out, dtype=np.float32)
        scale = np.float32((size - 1) / (out - 1)) if align else np.float32(size / out)
        place = (place + np.float32(0.5)) * scale - np.float32(0.5) if half else place * scale
        low = np.maximum(np.floor(place).astype(int), 0)
        high = np.minimum(np.ceil(place).astype(int), size - 1)
        return zip(low, high, place - np.floor(place), strict=True)

    def expect(x, size, low, high):
        one = 2**7 if x.dtype == np.uint8 else 2**30
        out = np.zeros((x.shape[0], *size, x.shape[3]), x.dtype)
        for i, (top, bottom, down) in enumerate(weights(x.shape[1], size[0])):
            for j, (left, right, across) in enumerate(weights(x.shape[2], size[1])):
                for b, c in np.ndindex(x.shape[0], x.shape[3]):
                    p, q, r, s = (np.float32(x[b, y, z, c]) for y in (top, bottom) for z in (left, right))
                    if x.dtype.kind == "f":
                        upper, lower = p + (q - p) * across, r + (s - r) * across
                        out[b, i, j, c] = upper + (lower - upper) * down
                        continue
                    p, q, r, s = map(int, (p, q, r, s))
                    share = int(across * np.float32(one))
                    upper, lower = p * one + (q - p) * share, r * one + (s - r) * share
                    step = abs(lower - upper) // one * (1 if lower > upper else -1)
                    whole = upper + step * int(down * np.float32(one)) + one // 2
                    out[b, i, j, c] = abs(whole) // one * (1 if whole > 0 else -1)
        return out, low, high

    return expect


for align, half in ((False, False), (True, False), (False, True)):
    flags = {"align_corners": align, "half_pixel_centers": half}
    for images in (numbers("quint8", 2, 4, 3, 2), numbers("qint32", 1, 4, 3, 2), floats(1, 4, 3, 2)):
        CASES.append(
            case(
                "QuantizedResizeBilinear",
                images,
                np.array([5, 7], np.int32),
                LOW,
                HIGH,
                expect=resized(align, half),
                note=f"{align}_{half}",
                **flags,
                **SINGLE,
            )
        )
CASES.append(
    case(
        "QuantizedResizeBilinear",
        numbers("quint8", 1, 2, 3, 1),
        np.array([2, 3], np.int32),
        LOW,
        HIGH,
        expect=lambda x, _, *ends: (x, *ends),
        note="as_it_is",
    )
)
