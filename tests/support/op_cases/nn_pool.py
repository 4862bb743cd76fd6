"""Pooling and its gradients, against loops over windows."""

import numpy as np

from . import case, floats, ints
from .nn_conv import padding_of

X = floats(2, 5, 6, 3)
KEYS = ("ksize", "strides", "padding", "data_format")


def each_window(shape, ksize, strides, padding):
    """(output row, output column, the input region) of each window, NHWC."""
    spans = []
    for axis in (1, 2):
        before, after = padding_of(shape[axis], ksize[axis], strides[axis], 1, padding, (0, 0))
        count = (shape[axis] + before + after - ksize[axis]) // strides[axis] + 1
        starts = [index * strides[axis] - before for index in range(count)]
        spans.append([slice(max(start, 0), min(start + ksize[axis], shape[axis])) for start in starts])
    for i, rows in enumerate(spans[0]):
        for j, columns in enumerate(spans[1]):
            yield i, j, rows, columns, (len(spans[0]), len(spans[1]))


class Direct:
    """Pooling by a loop over the windows."""

    def __init__(self, ksize, strides, padding, data_format="NHWC"):
        self.first = data_format == "NCHW"
        order = [0, 2, 3, 1] if self.first else [0, 1, 2, 3]
        self.ksize, self.strides = [ksize[axis] for axis in order], [strides[axis] for axis in order]
        self.padding = padding

    def last(self, x):
        return np.moveaxis(x, 1, -1) if self.first else x

    def back(self, x):
        return np.moveaxis(x, -1, 1) if self.first else x

    def windows(self, shape):
        return each_window(shape, self.ksize, self.strides, self.padding)

    def pool(self, function):
        def expect(x, *_):
            x = self.last(x)
            parts = list(self.windows(x.shape))
            out = np.zeros((x.shape[0], *parts[0][4], x.shape[3]), x.dtype)
            for i, j, rows, columns, _ in parts:
                out[:, i, j] = function(x[:, rows, columns], axis=(1, 2))
            return self.back(out)

        return expect

    def spread_mean(self, shape, dy):
        dy = self.last(dy)
        out = self.last(np.zeros(tuple(shape), dy.dtype)).copy()
        for i, j, rows, columns, _ in self.windows(out.shape):
            count = (rows.stop - rows.start) * (columns.stop - columns.start)
            out[:, rows, columns] += dy[:, i : i + 1, j : j + 1] / count
        return self.back(out)

    def spread_max(self, x, y, dy, *_):
        x, y, dy = (self.last(item) for item in (x, y, dy))
        out = np.zeros_like(x)
        for i, j, rows, columns, _ in self.windows(x.shape):
            out[:, rows, columns] += (x[:, rows, columns] == y[:, i : i + 1, j : j + 1]) * dy[
                :, i : i + 1, j : j + 1
            ]
        return self.back(out)

    def gather_max(self, x, y, dy, *_):
        x, y, dy = (self.last(item) for item in (x, y, dy))
        out = np.zeros_like(y)
        for i, j, rows, columns, _ in self.windows(x.shape):
            chosen = x[:, rows, columns] == y[:, i : i + 1, j : j + 1]
            out[:, i, j] = np.sum(chosen * dy[:, rows, columns], (1, 2))
        return self.back(out)

    def argmax(self, with_batch):
        def expect(x):
            parts = list(self.windows(x.shape))
            places = np.arange(x[0].size).reshape(x.shape[1:])
            out = np.zeros((x.shape[0], *parts[0][4], x.shape[3]), np.int64)
            for i, j, rows, columns, _ in parts:
                flat = x[:, rows, columns].reshape(len(x), -1, x.shape[3])
                where = places[rows, columns].reshape(-1, x.shape[3])
                out[:, i, j] = np.take_along_axis(where[None], flat.argmax(1)[:, None], 1)[:, 0]
            if with_batch:
                out += (np.arange(len(x)) * x[0].size)[:, None, None, None]
            return self.pool(np.max)(x), out

        return expect


NCHW = "TensorFlow's CPU pools NHWC only"
CONFIGURATIONS = [
    ("valid", X, {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}),
    ("same", X, {"ksize": [1, 3, 2, 1], "strides": [1, 2, 3, 1], "padding": "SAME"}),
    ("overlap", X, {"ksize": [1, 3, 3, 1], "strides": [1, 1, 2, 1], "padding": "VALID"}),
    (
        "nchw",
        np.moveaxis(X, -1, 1).copy(),
        {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "padding": "SAME", "data_format": "NCHW"},
    ),
]

CASES = []
for note, x, attrs in CONFIGURATIONS:
    direct = Direct(**attrs)
    oracle = NCHW if note == "nchw" else True
    options = {"note": note, "oracle": oracle, "oracle_grad": oracle}
    y = direct.pool(np.max)(x)
    dy, dx = floats(*y.shape, seed=1), floats(*x.shape, seed=2)
    ksize, strides = np.array(attrs["ksize"], np.int32), np.array(attrs["strides"], np.int32)
    rest = {key: value for key, value in attrs.items() if key not in ("ksize", "strides")}
    corner = "through the maximum: zero but at ties"
    CASES += [
        case("MaxPool", x, expect=direct.pool(np.max), **options, **attrs),
        case("MaxPoolV2", x, ksize, strides, expect=direct.pool(np.max), **options, **rest),
        case("AvgPool", x, expect=direct.pool(np.mean), **options, **attrs, rtol=1e-5),
        case(
            "AvgPoolGrad",
            np.array(x.shape, np.int32),
            dy,
            expect=direct.spread_mean,
            **options,
            **attrs,
            rtol=1e-5,
        ),
        case("MaxPoolGrad", x, y, dy, expect=direct.spread_max, grad=[2], second=corner, **options, **attrs),
        case(
            "MaxPoolGradV2",
            x,
            y,
            dy,
            ksize,
            strides,
            expect=direct.spread_max,
            grad=[2],
            second=corner,
            **options,
            **rest,
        ),
        case(
            "MaxPoolGradGrad", x, y, dx, expect=direct.gather_max, grad=[2], second=corner, **options, **attrs
        ),
        case(
            "MaxPoolGradGradV2",
            x,
            y,
            dx,
            ksize,
            strides,
            expect=direct.gather_max,
            grad=[2],
            second=corner,
            **{**options, "oracle_grad": "TensorFlow has none"},
            **rest,
        ),
    ]
    if note != "nchw":
        for with_batch in (False, True):
            places = direct.argmax(with_batch)(x)[1]
            flag = {"include_batch_in_index": with_batch}
            CASES += [
                case(
                    "MaxPoolWithArgmax",
                    x,
                    expect=direct.argmax(with_batch),
                    second="TensorFlow has none",
                    **options,
                    **attrs,
                    **flag,
                ),
                case(
                    "MaxPoolGradWithArgmax",
                    x,
                    dy,
                    places,
                    expect=lambda x, dy, _, d=direct: d.spread_max(x, d.pool(np.max)(x), dy),
                    **options,
                    **attrs,
                    **flag,
                ),
            ]
CASES += [
    case(
        "MaxPool",
        ints(1, 4, 4, 2),
        ksize=[1, 2, 2, 1],
        strides=[1, 2, 2, 1],
        padding="VALID",
        expect=Direct([1, 2, 2, 1], [1, 2, 2, 1], "VALID").pool(np.max),
        note="int32",
    ),
    case(
        "MaxPool",
        floats(1, 2, 2, 4),
        ksize=[1, 1, 1, 2],
        strides=[1, 1, 1, 2],
        padding="VALID",
        expect=lambda x: x.reshape(1, 2, 2, 2, 2).max(-1),
        grad="depth: TensorFlow's gradient has none",
        note="depth",
    ),
    case(
        "AvgPool",
        np.zeros((0, 4, 4, 2), np.float32),
        ksize=[1, 2, 2, 1],
        strides=[1, 2, 2, 1],
        padding="VALID",
        expect=np.zeros((0, 2, 2, 2)),
        grad="empty",
        note="empty",
    ),
]
