"""Convolutions and their gradients, against direct sums."""

import numpy as np

from . import case, floats

NHWC = {"data_format": "NHWC"}


def padding_of(size, taps, stride, dilation, padding, explicit):
    if padding == "EXPLICIT":
        return explicit
    if padding == "VALID":
        return 0, 0
    out = -(-size // stride)
    total = max(0, (out - 1) * stride + (taps - 1) * dilation + 1 - size)
    return total // 2, total - total // 2


def windows(x, w, strides, padding, explicit, dilations):
    """Pairs (tap, the part of the padded input that it meets) and the padding, NHWC."""
    pads, outs = [], []
    for axis in (1, 2):
        before, after = padding_of(
            x.shape[axis],
            w.shape[axis - 1],
            strides[axis],
            dilations[axis],
            padding,
            explicit[2 * axis : 2 * axis + 2],
        )
        pads.append((before, after))
        effective = (w.shape[axis - 1] - 1) * dilations[axis] + 1
        outs.append((x.shape[axis] + before + after - effective) // strides[axis] + 1)
    padded = np.pad(x, [(0, 0), *pads, (0, 0)])
    parts = []
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            rows = slice(i * dilations[1], i * dilations[1] + (outs[0] - 1) * strides[1] + 1, strides[1])
            columns = slice(j * dilations[2], j * dilations[2] + (outs[1] - 1) * strides[2] + 1, strides[2])
            parts.append(((i, j), (slice(None), rows, columns)))
    return padded, pads, parts


class Direct:
    """A convolution by sums over its taps, with its gradients."""

    def __init__(self, depthwise=False, **attrs):
        self.attrs = attrs
        self.depthwise = depthwise

    def options(self):
        ones = [1, 1, 1, 1]
        order = [0, 2, 3, 1] if self.first else [0, 1, 2, 3]
        explicit = self.attrs.get("explicit_paddings", [0] * 8)
        explicit = [explicit[2 * axis + side] for axis in order for side in (0, 1)]
        strides = [self.attrs["strides"][axis] for axis in order]
        dilations = [self.attrs.get("dilations", ones)[axis] for axis in order]
        return strides, self.attrs["padding"], explicit, dilations

    @property
    def first(self):
        return self.attrs.get("data_format") == "NCHW"

    def last(self, x):
        return np.moveaxis(x, 1, -1) if self.first else x

    def back(self, x):
        return np.moveaxis(x, -1, 1) if self.first else x

    def forward(self, x, w):
        padded, _, parts = windows(self.last(x), w, *self.options())
        total = 0
        for tap, part in parts:
            piece = padded[part]
            if self.depthwise:
                total = total + (piece[..., None] * w[tap]).reshape(*piece.shape[:3], -1)
            else:
                total = total + piece @ w[tap]
        return self.back(total)

    def by_input(self, sizes, w, dy):
        dy = self.last(dy)
        shape = self.last(np.zeros(tuple(sizes), dy.dtype)).shape
        padded, pads, parts = windows(np.zeros(shape, dy.dtype), w, *self.options())
        for tap, part in parts:
            if self.depthwise:
                padded[part] += (dy.reshape(*dy.shape[:3], *w.shape[2:]) * w[tap]).sum(-1)
            else:
                padded[part] += dy @ w[tap].T
        (top, _), (left, _) = pads
        return self.back(padded[:, top : top + shape[1], left : left + shape[2]])

    def by_filter(self, x, sizes, dy):
        dy = self.last(dy)
        out = np.zeros(tuple(sizes), dy.dtype)
        padded, _, parts = windows(self.last(x), out, *self.options())
        for tap, part in parts:
            piece = padded[part]
            if self.depthwise:
                out[tap] = (piece[..., None] * dy.reshape(*dy.shape[:3], *out.shape[2:])).sum((0, 1, 2))
            else:
                out[tap] = np.tensordot(piece, dy, ([0, 1, 2], [0, 1, 2]))
        return out


X, W = floats(2, 6, 5, 4), floats(3, 2, 4, 3, seed=1)
FIRST = np.moveaxis(X, -1, 1).copy()
ONES = [1, 1, 1, 1]
ON_CPU = "TensorFlow's CPU has no NCHW"
DILATED = "TensorFlow's CPU may have no gradient with dilation"

CONFIGURATIONS = [
    ("same", X, W, {"strides": ONES, "padding": "SAME"}, True),
    ("valid", X, W, {"strides": ONES, "padding": "VALID"}, True),
    ("strides", X, W, {"strides": [1, 2, 2, 1], "padding": "SAME"}, True),
    ("gaps", X, floats(1, 1, 4, 3, seed=1), {"strides": [1, 3, 3, 1], "padding": "VALID"}, True),
    (
        "explicit",
        X,
        W,
        {"strides": [1, 1, 2, 1], "padding": "EXPLICIT", "explicit_paddings": [0, 0, 2, 1, 0, 3, 0, 0]},
        True,
    ),
    ("dilated", X, W, {"strides": ONES, "padding": "SAME", "dilations": [1, 2, 2, 1]}, DILATED),
    ("nchw", FIRST, W, {"strides": [1, 1, 2, 2], "padding": "SAME", "data_format": "NCHW"}, ON_CPU),
]

CASES = []


def add(name, configurations, depthwise):
    for note, x, w, attrs, oracle in configurations:
        direct = Direct(depthwise, **attrs)
        y = direct.forward(x, w)
        dy = floats(*y.shape, seed=2)
        x_size, w_size = np.array(x.shape, np.int32), np.array(w.shape, np.int32)
        options = {
            "atol": 2e-5,
            "note": note,
            "oracle": oracle if oracle == ON_CPU else True,
            "oracle_grad": oracle,
            "exported": oracle,
        }
        CASES.extend(
            [
                case(name, x, w, expect=direct.forward, **options, **attrs),
                case(
                    f"{name}BackpropInput",
                    x_size,
                    w,
                    dy,
                    expect=direct.by_input,
                    **{**options, "oracle": oracle},
                    **attrs,
                ),
                case(
                    f"{name}BackpropFilter",
                    x,
                    w_size,
                    dy,
                    expect=direct.by_filter,
                    **{**options, "oracle": oracle},
                    **attrs,
                ),
            ]
        )


add("Conv2D", CONFIGURATIONS, False)
DEPTHWISE_W = floats(3, 2, 4, 2, seed=1)
add(
    "DepthwiseConv2dNative",
    [
        (note, x, DEPTHWISE_W if note != "gaps" else floats(1, 1, 4, 2, seed=1), attrs, oracle)
        for note, x, _, attrs, oracle in CONFIGURATIONS
        if note not in ("explicit", "dilated", "nchw")
        for attrs in [{**attrs, "strides": [1, 2, 2, 1] if note == "strides" else ONES}]
    ],
    True,
)
PLAIN = Direct(strides=ONES, padding="SAME")


def by_groups(x, w):
    return np.concatenate([PLAIN.forward(x[..., :2], w[..., :3]), PLAIN.forward(x[..., 2:], w[..., 3:])], -1)


CASES += [
    case(
        "Conv2D",
        X,
        floats(2, 2, 2, 6, seed=1),
        strides=ONES,
        padding="SAME",
        expect=by_groups,
        exported="TensorFlow's CPU has no gradient with groups",
        note="groups",
        oracle_grad="TensorFlow's CPU has no gradient with groups",
        atol=1e-5,
    ),
    case(
        "Conv2D",
        np.zeros((0, 5, 5, 4), np.float32),
        W,
        strides=ONES,
        padding="SAME",
        expect=np.zeros((0, 5, 5, 3)),
        grad="empty",
        note="empty",
    ),
    case(
        "Conv2D",
        X.astype(np.float16),
        W.astype(np.float16),
        strides=ONES,
        padding="SAME",
        expect=lambda x, w: PLAIN.forward(x.astype(np.float32), w.astype(np.float32)),
        grad="half",
        note="float16",
        rtol=1e-2,
        atol=2e-2,
    ),
    case(
        "Conv2D",
        X.astype(np.float64),
        W.astype(np.float64),
        strides=ONES,
        padding="SAME",
        expect=PLAIN.forward,
        grad="as float32",
    ),
]
