"""Batch normalization and local response normalization."""

import ml_dtypes
import numpy as np

from . import case, floats

X, DY = floats(3, 2, 4, 3), floats(3, 2, 4, 3, seed=1)
SCALE, OFFSET = floats(3, seed=2, low=0.5), floats(3, seed=3)
MEAN, VARIANCE = floats(3, seed=4, low=-0.5, high=0.5), floats(3, seed=5, low=0.5, high=2)
NONE = np.zeros(0, np.float32)
EPSILON = 0.001


def first(x):
    return np.moveaxis(x, -1, 1).copy()


def normalize(training, channels_first=False, reserve=False):
    def expect(x, scale, offset, mean, variance):
        x = np.moveaxis(x, 1, -1) if channels_first else x
        wide = x.astype(np.float64)
        reserves = mean, variance
        if training:
            mean, variance = wide.mean((0, 1, 2)), wide.var((0, 1, 2))
            count = wide[..., 0].size
            reserves = mean, variance
        y = (wide - mean) / np.sqrt(variance + EPSILON) * scale + offset
        if training:
            variance = variance * count / (count - 1)
        y = np.moveaxis(y, -1, 1) if channels_first else y
        result = [y, mean, variance, *reserves]
        return [*result, np.float32(0)] if reserve else result

    return expect


def backward(training, channels_first=False):
    def expect(dy, x, scale, mean, variance, *_):
        if channels_first:
            dy, x = np.moveaxis(dy, 1, -1), np.moveaxis(x, 1, -1)
        dy, x = dy.astype(np.float64), x.astype(np.float64)
        inverse = 1 / np.sqrt(variance + EPSILON)
        normalized = (x - mean) * inverse
        d_scale, d_offset = (dy * normalized).sum((0, 1, 2)), dy.sum((0, 1, 2))
        dx = dy * scale * inverse
        if training:
            dx -= scale * inverse * (d_offset + normalized * d_scale) / x[..., 0].size
        dx = np.moveaxis(dx, -1, 1) if channels_first else dx
        return dx, d_scale, d_offset, NONE, NONE

    return expect


def near_sum(x, radius):
    return sum(
        np.pad(x, [(0, 0)] * 3 + [(radius, radius)])[..., shift : shift + x.shape[-1]]
        for shift in range(2 * radius + 1)
    )


def lrn(x, radius=1, bias=1.5, alpha=0.7, beta=0.6):
    return x / (bias + alpha * near_sum(x * x, radius)) ** beta


def lrn_grad(dy, x, y, radius=1, bias=1.5, alpha=0.7, beta=0.6):
    norm = bias + alpha * near_sum(x * x, radius)
    return dy * norm**-beta - 2 * alpha * beta * x * near_sum(dy * y / norm, radius)


OF_X = "mean and variance are functions of x"
NCHW = "TensorFlow's CPU may have NHWC only"
CASES = []
for version in ("", "V2", "V3"):
    reserve = version == "V3"
    third = [np.float32(0)] if reserve else []
    for training in (True, False):
        statistics = (NONE, NONE) if training else (MEAN, VARIANCE)
        options = {"is_training": training, "epsilon": EPSILON, "rtol": 2e-5, "atol": 2e-5}
        # Its CPU leaves the reserved outputs as they come where nothing is trained.
        forward = {"oracle": True if training else (0, 1, 2)}
        where = [0, 1, 2]
        CASES.append(
            case(
                f"FusedBatchNorm{version}",
                X,
                SCALE,
                OFFSET,
                *statistics,
                expect=normalize(training, reserve=reserve),
                grad=where,
                through=[0],
                **options,
                **forward,
            )
        )
        mean, variance = (X.mean((0, 1, 2)), X.var((0, 1, 2))) if training else (MEAN, VARIANCE)
        CASES.append(
            case(
                f"FusedBatchNormGrad{version}",
                DY,
                X,
                SCALE,
                mean,
                variance,
                *third,
                expect=backward(training),
                grad=where,
                numeric=OF_X if training else True,
                second=False,
                oracle_grad="outputs 4 and 5 are empty",
                **options,
            )
        )
        options |= {"data_format": "NCHW", "oracle": NCHW, "oracle_grad": NCHW}
        CASES += [
            case(
                f"FusedBatchNorm{version}",
                first(X),
                SCALE,
                OFFSET,
                *statistics,
                expect=normalize(training, True, reserve),
                grad=where,
                through=[0],
                **options,
            ),
            case(
                f"FusedBatchNormGrad{version}",
                first(DY),
                first(X),
                SCALE,
                mean,
                variance,
                *third,
                expect=backward(training, True),
                grad=where,
                numeric=not training or OF_X,
                second=False,
                **options,
            ),
        ]
CASES += [
    case(
        "FusedBatchNormV2",
        X.astype(ml_dtypes.bfloat16),
        SCALE,
        OFFSET,
        NONE,
        NONE,
        epsilon=EPSILON,
        expect=normalize(True),
        grad="bfloat16",
        note="bfloat16",
        rtol=1e-2,
        atol=2e-2,
    ),
    case(
        "LRN",
        floats(2, 2, 3, 5),
        depth_radius=1,
        bias=1.5,
        alpha=0.7,
        beta=0.6,
        expect=lrn,
        second="TensorFlow has none",
        rtol=1e-5,
        atol=1e-6,
    ),
    case("LRN", floats(1, 2, 2, 3), expect=lambda x: lrn(x, 5, 1, 1, 0.5), grad="as above", note="defaults"),
    case(
        "LRNGrad",
        floats(2, 2, 3, 5, seed=1),
        floats(2, 2, 3, 5),
        lrn(floats(2, 2, 3, 5)),
        depth_radius=1,
        bias=1.5,
        alpha=0.7,
        beta=0.6,
        expect=lrn_grad,
        rtol=1e-4,
        atol=1e-5,
    ),
]


def globally(scaled):
    def expect(x, mean, variance, beta, gamma):
        y = (x.astype(np.float64) - mean) / np.sqrt(variance + np.float64(0.01))
        return y * (gamma if scaled else 1) + beta

    return expect


def globally_grad(scaled):
    def expect(x, mean, variance, gamma, dy):
        deviation = np.sqrt(variance + np.float64(0.01))
        scale = (gamma if scaled else 1) / deviation
        moved = (dy * (x.astype(np.float64) - mean)).sum((0, 1, 2))
        by_beta = dy.astype(np.float64).sum((0, 1, 2))
        by_gamma = moved / deviation if scaled else np.zeros(3)
        return dy * scale, -by_beta * scale, -0.5 * moved * scale / deviation**2, by_beta, by_gamma

    return expect


OLD = "TensorFlow refuses it in graphs of our version"
for scaled in (True, False):
    options = {
        "variance_epsilon": 0.01,
        "scale_after_normalization": scaled,
        "note": str(scaled),
        "oracle": OLD,
        "rtol": 1e-5,
        "atol": 1e-5,
    }
    CASES += [
        case(
            "BatchNormWithGlobalNormalization",
            X,
            MEAN,
            VARIANCE,
            OFFSET,
            SCALE,
            expect=globally(scaled),
            second="TensorFlow has none",
            **options,
        ),
        case(
            "BatchNormWithGlobalNormalizationGrad",
            X,
            MEAN,
            VARIANCE,
            SCALE,
            DY,
            expect=globally_grad(scaled),
            **options,
        ),
    ]
