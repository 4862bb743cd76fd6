"""Convolution and pooling of volumes, against sums and maxima over the taps."""

import itertools

import numpy as np
from ml_dtypes import bfloat16

from . import case, floats, ints
from .nn_conv import padding_of

X, W = floats(2, 4, 5, 6, 3), floats(2, 3, 2, 3, 4, seed=1)
FIRST = np.moveaxis(X, -1, 1).copy()
ONES = [1, 1, 1, 1, 1]
ON_CPU = "TensorFlow's CPU has no NCDHW"
DILATED = "TensorFlow's CPU has no dilated Conv3D"


class Direct:
    """Windows over a volume, and what a convolution and pooling make of them."""

    def __init__(self, strides, padding, ksize=None, data_format="NDHWC", dilations=ONES):
        self.first = data_format == "NCDHW"
        where = (2, 3, 4) if self.first else (1, 2, 3)
        self.strides, self.dilations = [strides[i] for i in where], [dilations[i] for i in where]
        self.window = ksize and [ksize[i] for i in where]
        self.padding = padding

    def last(self, x):
        return np.moveaxis(x, 1, -1) if self.first else x

    def back(self, x):
        return np.moveaxis(x, -1, 1) if self.first else x

    def taps(self, shape, window, fill=0.0):
        """The padding, and of each tap the slices of the padded input that it meets."""
        pads, outs = [], []
        for size, taps, stride, dilation in zip(
            shape[1:4], window, self.strides, self.dilations, strict=True
        ):
            before, after = padding_of(size, taps, stride, dilation, self.padding, (0, 0))
            pads.append((before, max(after, 0)))
            outs.append((size + before + after - (taps - 1) * dilation - 1) // stride + 1)
        parts = []
        for tap in itertools.product(*map(range, window)):
            spans = [
                slice(t * dilation, t * dilation + (out - 1) * stride + 1, stride)
                for t, dilation, out, stride in zip(tap, self.dilations, outs, self.strides, strict=True)
            ]
            parts.append((tap, (slice(None), *spans)))
        return [(0, 0), *pads, (0, 0)], parts

    def crop(self, padded, pads, shape):
        return padded[tuple(slice(b, b + n) for (b, _), n in zip(pads, shape, strict=True))]

    def conv(self, x, w):
        pads, parts = self.taps(self.last(x).shape, w.shape[:3])
        padded = np.pad(self.last(x), pads)
        return self.back(sum(padded[part] @ w[tap] for tap, part in parts))

    def by_input(self, sizes, w, dy):
        shape = self.last(np.zeros(tuple(sizes))).shape
        pads, parts = self.taps(shape, w.shape[:3])
        padded = np.pad(np.zeros(shape, dy.dtype), pads)
        for tap, part in parts:
            padded[part] += self.last(dy) @ w[tap].T
        return self.back(self.crop(padded, pads, shape))

    def by_filter(self, x, sizes, dy):
        out = np.zeros(tuple(sizes), dy.dtype)
        pads, parts = self.taps(self.last(x).shape, out.shape[:3])
        padded = np.pad(self.last(x), pads)
        for tap, part in parts:
            out[tap] = np.tensordot(padded[part], self.last(dy), ([0, 1, 2, 3], [0, 1, 2, 3]))
        return out

    def windows(self, x):
        """The taps of every window, stacked; NaN where padding is."""
        pads, parts = self.taps(x.shape, self.window)
        padded = np.pad(x, pads, constant_values=np.nan)
        return np.stack([padded[part] for _, part in parts])

    def max(self, x):
        return self.back(np.nanmax(self.windows(self.last(x)), 0))

    def mean(self, x):
        return self.back(np.nanmean(self.windows(self.last(x)), 0))

    def spread(self, shape, share):
        """Adds share(tap number, windows that have it) into an array of `shape`."""
        pads, parts = self.taps(shape, self.window)
        padded = np.pad(np.zeros(shape, np.float32), pads)
        for number, (_, part) in enumerate(parts):
            padded[part] += share[number]
        return self.crop(padded, pads, shape)

    def mean_grad(self, sizes, dy):
        shape = self.last(np.zeros(tuple(sizes))).shape
        there = ~np.isnan(self.windows(np.zeros(shape)))
        return self.back(self.spread(shape, there * (self.last(dy) / there.sum(0))))

    def max_grad(self, x, y, dy):
        x, y, dy = self.last(x), self.last(y), self.last(dy)
        return self.back(self.spread(x.shape, (self.windows(x) == y) * dy))

    def max_grad_grad(self, x, y, dx):
        x, y, dx = self.last(x), self.last(y), self.last(dx)
        return self.back(np.nansum((self.windows(x) == y) * self.windows(dx), 0))


CASES = []
for note, x, w, attrs, oracle in [
    ("same", X, W, {"strides": ONES, "padding": "SAME"}, True),
    ("valid", X, W, {"strides": ONES, "padding": "VALID"}, True),
    ("strides", X, W, {"strides": [1, 2, 3, 2, 1], "padding": "SAME"}, True),
    ("pointwise", X, floats(1, 1, 1, 3, 4, seed=1), {"strides": ONES, "padding": "VALID"}, True),
    ("gaps", X, floats(1, 1, 1, 3, 4, seed=1), {"strides": [1, 2, 2, 2, 1], "padding": "SAME"}, True),
    ("whole", X, floats(4, 5, 6, 3, 2, seed=1), {"strides": ONES, "padding": "VALID"}, True),
    ("dilated", X, W, {"strides": ONES, "padding": "SAME", "dilations": [1, 2, 1, 2, 1]}, DILATED),
    ("ncdhw", FIRST, W, {"strides": [1, 1, 2, 1, 2], "padding": "SAME", "data_format": "NCDHW"}, ON_CPU),
]:
    direct = Direct(**attrs)
    dy = floats(*direct.conv(x, w).shape, seed=2)
    x_size, w_size = np.array(x.shape, np.int32), np.array(w.shape, np.int32)
    options = {
        "atol": 1e-4,
        "rtol": 1e-5,
        "note": note,
        "oracle": oracle,
        "oracle_grad": oracle,
        "exported": oracle,
    }
    by_input, by_filter = "Conv3DBackpropInput", "Conv3DBackpropFilter"
    CASES += [
        case("Conv3D", x, w, expect=direct.conv, **options, **attrs),
        case(f"{by_input}V2", x_size, w, dy, expect=direct.by_input, **options, **attrs),
        case(f"{by_filter}V2", x, w_size, dy, expect=direct.by_filter, **options, **attrs),
    ]
    if note != "ncdhw":
        options["oracle"] = "TensorFlow refuses it in graphs of our version"
        CASES += [
            case(by_input, x, w, dy, expect=direct.by_input(x.shape, w, dy), **options, **attrs),
            case(by_filter, x, w, dy, expect=direct.by_filter(x, w.shape, dy), **options, **attrs),
        ]
SAME = Direct(ONES, "SAME")
CASES += [
    case(
        "Conv3D",
        np.zeros((0, 4, 4, 4, 3), np.float32),
        W,
        strides=ONES,
        padding="SAME",
        expect=np.zeros((0, 4, 4, 4, 4)),
        grad="empty",
        note="empty",
    ),
    case(
        "Conv3D",
        X.astype(np.float16),
        W.astype(np.float16),
        strides=ONES,
        padding="SAME",
        expect=lambda x, w: SAME.conv(x.astype(np.float32), w.astype(np.float32)),
        grad="half",
        note="float16",
        rtol=1e-2,
        atol=4e-2,
    ),
    case(
        "Conv3D",
        X.astype(np.float64),
        W.astype(np.float64),
        strides=ONES,
        padding="SAME",
        expect=SAME.conv,
        grad="as float32",
    ),
    case(
        "Conv3DBackpropInputV2",
        np.array(X.shape, np.int64),
        W,
        SAME.conv(X, W),
        strides=ONES,
        padding="SAME",
        expect=SAME.by_input,
        atol=1e-4,
        rtol=1e-5,
        note="int64",
    ),
]

BRAIN = {"strides": ONES, "padding": "SAME", "grad": "half", "note": "bfloat16"}
CASES.append(
    case(
        "Conv3D",
        X.astype(bfloat16),
        W.astype(bfloat16),
        expect=lambda x, w: SAME.conv(x.astype(np.float32), w.astype(np.float32)),
        oracle="TensorFlow adds up in bfloat16",
        **BRAIN,
    )
)

CORNER = "through the maximum: zero but at ties"
SINGLE = "its own gradient has no double precision: TensorFlow's values are compared"
for note, x, attrs, oracle in [
    ("valid", X, {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID"}, True),
    ("same", X, {"ksize": [1, 3, 2, 3, 1], "strides": [1, 2, 1, 3, 1], "padding": "SAME"}, True),
    (
        "ncdhw",
        FIRST,
        {
            "ksize": [1, 1, 2, 3, 2],
            "strides": [1, 1, 1, 2, 2],
            "padding": "SAME",
            "data_format": "NCDHW",
        },
        ON_CPU,
    ),
]:
    direct = Direct(**attrs)
    y = direct.max(x)
    dy, dx = floats(*y.shape, seed=1), floats(*x.shape, seed=2)
    options = {"note": note, "oracle": oracle, "oracle_grad": oracle, "exported": oracle, **attrs}
    size = np.array(x.shape, np.int32)
    CASES += [
        case("MaxPool3D", x, expect=direct.max, second=CORNER, **options),
        case("AvgPool3D", x, expect=direct.mean, rtol=1e-5, **options),
        case("AvgPool3DGrad", size, dy, expect=direct.mean_grad, rtol=1e-5, **options),
        case("MaxPool3DGrad", x, y, dy, expect=direct.max_grad, grad=[2], second=CORNER, **options),
        case("MaxPool3DGradGrad", x, y, dx, expect=direct.max_grad_grad, grad=[2], numeric=SINGLE, **options),
    ]
TWO = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID"}
HALVES = Direct(**TWO)
CASES += [
    case(
        "AvgPool3D",
        X.astype(np.float16),
        expect=lambda x: HALVES.mean(x.astype(np.float32)),
        grad="half",
        note="float16",
        oracle="TensorFlow's CPU has no half",
        atol=2e-3,
        **TWO,
    ),
    case(
        "MaxPool3D",
        X.astype(np.float16),
        expect=HALVES.max,
        grad="half",
        note="float16",
        oracle="TensorFlow's CPU has no half",
        **TWO,
    ),
    case(
        "AvgPool3D",
        np.zeros((0, 2, 2, 2, 1), np.float32),
        expect=np.zeros((0, 1, 1, 1, 1)),
        grad="empty",
        note="empty",
        **TWO,
    ),
    case(
        "MaxPool3DGrad",
        np.ones((1, 2, 2, 2, 1), np.float32),
        np.ones((1, 1, 1, 1, 1), np.float32),
        np.full((1, 1, 1, 1, 1), 3.0, np.float32),
        expect=np.full((1, 2, 2, 2, 1), 3.0),
        grad="ties: not continuous",
        note="ties",
        **TWO,
    ),
    case(
        "MaxPool3DGradGrad",
        ints(1, 4, 4, 4, 2, low=0, high=3),
        HALVES.windows(ints(1, 4, 4, 4, 2, low=0, high=3).astype(np.float32)).max(0).astype(np.int32),
        ints(1, 4, 4, 4, 2, seed=1),
        expect=lambda x, y, dx: np.take_along_axis(
            HALVES.windows(dx.astype(np.float64)), HALVES.windows(x.astype(np.float64)).argmax(0)[None], 0
        )[0],
        note="int32",
        oracle="TensorFlow's CPU has real numbers only",
        **TWO,
    ),
]

# Where strides leave elements over, TensorFlow shares them out before and after; its gradients do not.
LINE = np.arange(8, dtype=np.float32).reshape(1, 8, 1, 1, 1)
FAR = {"strides": [1, 4, 1, 1, 1], "padding": "SAME"}
CASES += [
    case(
        "Conv3D",
        LINE,
        np.ones((1, 1, 1, 1, 1), np.float32),
        expect=np.array([1, 5], np.float32).reshape(1, 2, 1, 1, 1),
        numeric="TensorFlow's gradient is that of other windows",
        note="far",
        **FAR,
    ),
    case(
        "AvgPool3D",
        LINE,
        ksize=[1, 2, 1, 1, 1],
        expect=np.array([1.5, 5.5], np.float32).reshape(1, 2, 1, 1, 1),
        numeric="TensorFlow's gradient is that of other windows",
        note="far",
        **FAR,
    ),
    case(
        "MaxPool3D",
        LINE,
        ksize=[1, 2, 1, 1, 1],
        expect=np.array([2, 6], np.float32).reshape(1, 2, 1, 1, 1),
        numeric="TensorFlow's gradient is that of other windows",
        note="far",
        **FAR,
    ),
    case(
        "MaxPool3D",
        np.array([-np.inf, np.nan, -np.inf, np.nan] * 8, np.float32)
        .reshape(8, 4)
        .T.reshape(1, 4, 1, 1, 8)
        .copy(),
        ksize=[1, 2, 1, 1, 1],
        strides=[1, 2, 1, 1, 1],
        padding="VALID",
        expect=np.full((1, 2, 1, 1, 8), -np.inf, np.float32),
        grad="nan",
        note="nan",
    ),
]

for name, expect in (("MaxPool3D", HALVES.max), ("AvgPool3D", HALVES.mean)):
    CASES.append(
        case(
            name,
            X.astype(bfloat16),
            expect=lambda x, expect=expect: expect(x.astype(np.float32)),
            grad="half",
            note="bfloat16",
            atol=1e-2,
            **TWO,
        )
    )

IMAGES = floats(2, 4, 4, 3)
PLACES = np.array([0, 4, 8, 2, 17, 47, 40, 5, 9, 46, 3, 1]).reshape(2, 1, 2, 3)
for batch in (False, True):
    flat = IMAGES.reshape(2, -1) if not batch else IMAGES.reshape(1, -1)
    CASES.append(
        case(
            "MaxPoolGradGradWithArgmax",
            IMAGES,
            floats(2, 4, 4, 3, seed=3),
            PLACES,
            expect=lambda x, grad, where, batch=batch: (
                grad.reshape(-1)[where]
                if batch
                else np.take_along_axis(grad.reshape(2, -1), where.reshape(2, -1), 1).reshape(where.shape)
            ),
            oracle="TensorFlow's CPU has no kernel",
            include_batch_in_index=batch,
            ksize=[1, 4, 2, 1],
            strides=[1, 4, 2, 1],
            padding="VALID",
        )
    )
