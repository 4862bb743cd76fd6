"""Dilation and patches, window by window."""

import itertools

import numpy as np

from . import case, floats, ints
from .nn_conv import padding_of

X, W = floats(2, 5, 6, 3), floats(2, 3, 3, seed=4, low=-0.5, high=0.5)
ONES = [1, 1, 1, 1]
NONE = "TensorFlow has no second derivative"


def places(sizes, kernel, strides, rates, padding):
    """For each window: its place, and for each tap within the input the tap and the element."""
    axes = []
    for size, taps, stride, rate in zip(sizes, kernel, strides, rates, strict=True):
        before, after = padding_of(size, taps, stride, rate, padding, (0, 0))
        count = (size + before + after - (taps - 1) * rate - 1) // stride + 1
        axes.append(
            [
                [(tap, at) for tap in range(taps) if 0 <= (at := i * stride - before + tap * rate) < size]
                for i in range(count)
            ]
        )
    for window in itertools.product(*[range(len(axis)) for axis in axes]):
        met = itertools.product(*[axis[place] for axis, place in zip(axes, window, strict=True)])
        yield window, [tuple(zip(*pairs, strict=True)) for pairs in met]


class Direct:
    def __init__(self, strides, padding, rates=ONES):
        self.options = strides[1:3], rates[1:3], padding

    def windows(self, x, w):
        return list(places(x.shape[1:3], w.shape[:2], *self.options))

    def best(self, x, w):
        """(batch, place, channel, tap, element, value) of each maximum."""
        for window, met in self.windows(x, w):
            for b in range(x.shape[0]):
                for c in range(x.shape[3]):
                    values = [x[(b, *at, c)] + w[(*tap, c)] for tap, at in met]
                    index = int(np.argmax(values))
                    yield b, window, c, *met[index], values[index]

    def forward(self, x, w):
        out = np.zeros((x.shape[0], *np.add(self.windows(x, w)[-1][0], 1), x.shape[3]), x.dtype)
        for b, window, c, _, _, value in self.best(x, w):
            out[(b, *window, c)] = value
        return out

    def by_input(self, x, w, dy):
        out = np.zeros_like(x)
        for b, window, c, _, at, _ in self.best(x, w):
            out[(b, *at, c)] += dy[(b, *window, c)]
        return out

    def by_filter(self, x, w, dy):
        out = np.zeros_like(w)
        for b, window, c, tap, _, _ in self.best(x, w):
            out[(*tap, c)] += dy[(b, *window, c)]
        return out


CASES = []
for note, attrs in [
    ("same", {"strides": ONES, "padding": "SAME"}),
    ("valid", {"strides": [1, 2, 1, 1], "padding": "VALID"}),
    ("rates", {"strides": ONES, "padding": "SAME", "rates": [1, 2, 2, 1]}),
]:
    direct = Direct(**attrs)
    attrs = {"rates": ONES, **attrs, "note": note}
    dy = floats(*direct.forward(X, W).shape, seed=2)
    CASES += [
        case("Dilation2D", X, W, expect=direct.forward, second=NONE, **attrs),
        case("Dilation2DBackpropInput", X, W, dy, expect=direct.by_input, **attrs, rtol=1e-5),
        case("Dilation2DBackpropFilter", X, W, dy, expect=direct.by_filter, **attrs, rtol=1e-5),
    ]
LOST = np.full((1, 2, 2, 1), np.nan, np.float32)
LOST_OPTIONS = {"strides": ONES, "rates": ONES, "padding": "SAME", "note": "nan"}
CASES += [
    case(
        "Dilation2D",
        ints(1, 4, 4, 2),
        ints(2, 2, 2, seed=1),
        expect=Direct(ONES, "SAME").forward,
        strides=ONES,
        rates=ONES,
        padding="SAME",
        note="int32",
    ),
    case(
        "Dilation2D",
        LOST,
        np.zeros((2, 2, 1), np.float32),
        expect=np.full(LOST.shape, np.finfo(np.float32).min),
        grad="nan",
        **LOST_OPTIONS,
    ),
    case(
        "Dilation2DBackpropInput",
        LOST,
        np.zeros((3, 3, 1), np.float32),
        np.array([[[[1], [2]], [[3], [4]]]], np.float32),
        expect=np.array([[[[10], [0]], [[0], [0]]]], np.float32),
        **LOST_OPTIONS,
    ),
    case(
        "Dilation2DBackpropFilter",
        LOST,
        np.zeros((3, 3, 1), np.float32),
        np.array([[[[1], [2]], [[3], [4]]]], np.float32),
        expect=np.array([10] + [0] * 8, np.float32).reshape(3, 3, 1),
        **LOST_OPTIONS,
    ),
]


def patches(ksizes, strides, padding, rates=None):
    kernel = ksizes[1:-1]

    def expect(x):
        rate = rates[1:-1] if rates else [1] * len(kernel)
        found = list(places(x.shape[1:-1], kernel, strides[1:-1], rate, padding))
        shape = tuple(np.add(found[-1][0], 1)) if found else (0,) * len(kernel)
        out = np.zeros((x.shape[0], *shape, *kernel, x.shape[-1]), x.dtype)
        for window, met in found:
            for tap, at in met:
                out[(slice(None), *window, *tap)] = x[(slice(None), *at)]
        return out.reshape(x.shape[0], *shape, int(np.prod(kernel)) * x.shape[-1])

    return expect


for note, attrs in [
    ("same", {"ksizes": [1, 3, 2, 1], "strides": ONES, "rates": ONES, "padding": "SAME"}),
    ("valid", {"ksizes": [1, 2, 2, 1], "strides": [1, 2, 3, 1], "rates": ONES, "padding": "VALID"}),
    ("rates", {"ksizes": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "rates": [1, 2, 2, 1], "padding": "SAME"}),
]:
    CASES += [
        case("ExtractImagePatches", x, expect=patches(**attrs), note=f"{note}_{x.dtype}", **attrs)
        for x in (X, ints(1, 5, 6, 2))
    ]
VOLUME = floats(2, 3, 4, 5, 2)
for note, attrs in [
    ("same", {"ksizes": [1, 2, 3, 2, 1], "strides": [1, 1, 1, 1, 1], "padding": "SAME"}),
    ("valid", {"ksizes": [1, 2, 2, 3, 1], "strides": [1, 1, 2, 2, 1], "padding": "VALID"}),
]:
    CASES.append(case("ExtractVolumePatches", VOLUME, expect=patches(**attrs), note=note, **attrs))
CASES.append(
    case(
        "ExtractVolumePatches",
        np.arange(8, dtype=np.float32).reshape(1, 1, 8, 1, 1),
        ksizes=[1, 1, 2, 1, 1],
        strides=[1, 1, 4, 1, 1],
        padding="SAME",
        # What strides leave over is shared out before and after.
        expect=np.array([[1, 2], [5, 6]], np.float32).reshape(1, 1, 2, 1, 2),
        note="far",
    )
)
for size in ((2, 3), (3, 2)):
    CASES.append(
        case(
            "ExtractImagePatches",
            floats(1, *size, 2),
            ksizes=[1, 3, 3, 1],
            strides=[1, 2, 2, 1],
            rates=ONES,
            padding="VALID",
            expect=np.zeros((1, int(size[0] > 2), int(size[1] > 2), 18)),
            grad="empty",
            note=f"too_large_{size[0]}",
        )
    )
CASES.append(
    case(
        "ExtractImagePatches",
        np.zeros((0, 3, 3, 2), np.float32),
        ksizes=[1, 2, 2, 1],
        strides=ONES,
        rates=ONES,
        padding="VALID",
        expect=np.zeros((0, 2, 2, 8)),
        grad="empty",
        note="empty",
    )
)
