"""Resizing of images, pixel by pixel along each axis."""

import math

import numpy as np

from . import case, floats, ints

X = floats(2, 5, 4, 3)
NONE = "TensorFlow has no second derivative"
MODES = {
    "plain": {},
    "corners": {"align_corners": True},
    "half": {"half_pixel_centers": True},
}
SIZES = {"up": (7, 9), "down": (3, 2), "one": (1, 1)}


def place(i, size, out, align_corners=False, half_pixel_centers=False):
    scale = (
        np.float32(size - 1) / np.float32(out - 1) if align_corners and out > 1 else np.float32(size) / out
    )
    return (
        float((np.float32(i) + np.float32(0.5)) * scale)
        if half_pixel_centers
        else float(np.float32(i) * scale)
    )


def linear(i, size, out, half_pixel_centers=False, **mode):
    at = place(i, size, out, half_pixel_centers=half_pixel_centers, **mode) - 0.5 * half_pixel_centers
    low = math.floor(at)
    return [(min(max(low, 0), size - 1), 1 - (at - low)), (min(low + 1, size - 1) if at > 0 else 0, at - low)]


def nearest(i, size, out, align_corners=False, **mode):
    at = place(i, size, out, align_corners, **mode)
    return [(min(math.floor(at + 0.5 * align_corners), size - 1), 1.0)]


def cubic(i, size, out, half_pixel_centers=False, **mode):
    at = place(i, size, out, half_pixel_centers=half_pixel_centers, **mode) - 0.5 * half_pixel_centers
    a = -0.5 if half_pixel_centers else -0.75
    low = math.floor(at)
    share = round((at - low) * 1024) / 1024

    def weight(x):
        return (a + 2) * x**3 - (a + 3) * x**2 + 1 if x <= 1 else a * (x**3 - 5 * x**2 + 8 * x - 4)

    taps = [(low + step, weight(abs(step - share))) for step in range(-1, 3)]
    if not half_pixel_centers:
        return [(min(max(at, 0), size - 1), w) for at, w in taps]
    inside = [(at, w) for at, w in taps if 0 <= at < size]
    total = sum(w for _, w in inside)
    return [(at, w / total) for at, w in inside]


def area(i, size, out, **mode):
    first, last = place(i, size, out, **mode), place(i + 1, size, out, **mode)
    pixels = range(math.floor(first), math.ceil(last))
    covered = [(min(at, size - 1), min(at + 1, last) - max(at, first)) for at in pixels]
    return [(at, share / (last - first)) for at, share in covered]


def matrix(method, size, out, **mode):
    weights = np.zeros((out, size))
    for i in range(out):
        for at, weight in method(i, size, out, **mode):
            weights[i, at] += weight
    return weights


def resized(method, **mode):
    def expect(x, size):
        rows, columns = (matrix(method, n, out, **mode) for n, out in zip(x.shape[1:3], size, strict=True))
        return np.einsum("yh,xw,nhwc->nyxc", rows, columns, x.astype(np.float64))

    return expect


def brought_back(method, **mode):
    def expect(grads, image):
        sizes = image.shape[1:3] if image.ndim == 4 else image
        rows, columns = (matrix(method, n, o, **mode) for n, o in zip(sizes, grads.shape[1:3], strict=True))
        return np.einsum("yh,xw,nyxc->nhwc", rows, columns, grads.astype(np.float64))

    return expect


CASES = []
for mode, attrs in MODES.items():
    for note, size in SIZES.items():
        options = {"note": f"{note}_{mode}", "rtol": 1e-5, "atol": 1e-6, "second": NONE}
        shape = np.array(size, np.int32)
        CASES += [
            case("ResizeNearestNeighbor", X, shape, expect=resized(nearest, **attrs), **options, **attrs),
            case("ResizeBilinear", X, shape, expect=resized(linear, **attrs), **options, **attrs),
            case("ResizeBicubic", X, shape, expect=resized(cubic, **attrs), **options, **attrs),
        ]
        grads = floats(2, *size, 3, seed=1)
        CASES += [
            case(
                "ResizeNearestNeighborGrad",
                grads,
                np.array([5, 4], np.int32),
                expect=brought_back(nearest, **attrs),
                **options,
                **attrs,
            ),
            case("ResizeBilinearGrad", grads, X, expect=brought_back(linear, **attrs), **options, **attrs),
            case("ResizeBicubicGrad", grads, X, expect=brought_back(cubic, **attrs), **options, **attrs),
        ]
        if mode != "half" and (mode, note) != ("corners", "one"):
            CASES.append(case("ResizeArea", X, shape, expect=resized(area, **attrs), **options, **attrs))

TYPES = ["int8", "uint8", "int16", "uint16", "int32", "int64", "float16", "float64"]
SIZE = np.array([3, 7], np.int32)
ROUNDED = {"rtol": 1e-5, "atol": 1e-4, "second": NONE}
for dtype in TYPES:
    x = ints(1, 5, 4, 2, low=0, high=100, dtype=dtype)
    CASES += [
        case("ResizeNearestNeighbor", x, SIZE, expect=resized(nearest), note=dtype, second=NONE),
        case("ResizeBilinear", x, SIZE, expect=resized(linear), note=dtype, **ROUNDED),
        case("ResizeBicubic", x, SIZE, expect=resized(cubic), note=dtype, **ROUNDED),
        case("ResizeArea", x, SIZE, expect=resized(area), note=dtype, **ROUNDED),
    ]
for dtype in ["uint8", "int8", "int32", "float16", "float64"]:
    grads = ints(1, 5, 4, 2, low=0, high=9, dtype=dtype)
    CASES.append(case("ResizeNearestNeighborGrad", grads, SIZE, expect=brought_back(nearest), note=dtype))
for dtype in ["float16", "float64"]:
    grads, image = floats(1, 3, 7, 2), np.zeros((1, 5, 4, 2), dtype)
    CASES.append(case("ResizeBilinearGrad", grads, image, expect=brought_back(linear), note=dtype, **ROUNDED))
CASES += [
    case(
        "ResizeBicubicGrad",
        floats(1, 3, 7, 2),
        np.zeros((1, 5, 4, 2)),
        expect=brought_back(cubic),
        note="float64",
        **ROUNDED,
    ),
    case(
        "ResizeNearestNeighbor",
        X,
        SIZE,
        expect=resized(nearest, half_pixel_centers=True),
        half_pixel_centers=True,
        note="wide",
        second=NONE,
    ),
    case(
        "ResizeNearestNeighborGrad",
        floats(1, 3, 7, 2),
        np.array([5, 4], np.int32),
        expect=brought_back(nearest, align_corners=True, half_pixel_centers=True),
        align_corners=True,
        half_pixel_centers=True,
        note="both",
        rtol=1e-5,
    ),
    *(
        case(
            name,
            np.zeros((0, 2, 3, 1), np.float32),
            SIZE,
            expect=np.zeros((0, 3, 7, 1)),
            note="empty",
            grad="empty",
        )
        for name in ("ResizeNearestNeighbor", "ResizeBilinear", "ResizeBicubic", "ResizeArea")
    ),
    case(
        "ResizeBilinear",
        np.array([np.nan, np.inf, 1, 2], np.float32).reshape(1, 1, 4, 1),
        np.array([1, 2], np.int32),
        expect=np.array([np.nan, 1], np.float32).reshape(1, 1, 2, 1),
        grad="nan",
        note="nan",
    ),
    case(
        "ResizeArea",
        np.array([np.inf, 3, 1, 2], np.float32).reshape(1, 1, 4, 1),
        np.array([1, 2], np.int32),
        expect=np.array([np.inf, 1.5], np.float32).reshape(1, 1, 2, 1),
        note="inf",
    ),
]

CASES.append(
    case(
        "ResizeArea",
        X[:, :, :1],
        np.array([3, 4], np.int32),
        align_corners=True,
        expect=lambda x, _: resized(area, align_corners=True)(np.repeat(x, 4, 2), (3, 4)),
        note="one_column",
        rtol=1e-5,
    )
)

# Scaling and shifting


def triangle(x):
    return max(0.0, 1 - x)


def box(x):
    return 1.0 if x < 0.5 else 0.5 if x == 0.5 else 0.0


def gaussian(x):
    return math.exp(-2 * x * x) if x < 1.5 else 0.0


def lanczos(radius):
    return lambda x: 0.0 if x > radius else np.sinc(x) * np.sinc(x / radius)


def keys(x):
    if x >= 2:
        return 0.0
    return -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2 if x >= 1 else 1.5 * x**3 - 2.5 * x**2 + 1


def mitchell(x):
    if x >= 2:
        return 0.0
    if x >= 1:
        return (-7 * x**3 + 36 * x**2 - 60 * x + 32) / 18
    return (21 * x**3 - 36 * x**2 + 16) / 18


KERNELS = {
    "lanczos1": (lanczos(1), 1),
    "lanczos3": (lanczos(3), 3),
    "lanczos5": (lanczos(5), 5),
    "gaussian": (gaussian, 1.5),
    "box": (box, 1),
    "triangle": (triangle, 1),
    "keyscubic": (keys, 2),
    "MitchellCubic": (mitchell, 2),
}


def sampled(size, out, scale, translation, kernel, radius, antialias):
    weights = np.zeros((out, size))
    grown = max(1 / scale, 1) if antialias else 1
    for i in range(out):
        at = (i + 0.5 - translation) / scale
        if not 0 <= at <= size:
            continue
        near = [j for j in range(size) if abs(j + 0.5 - at) <= radius * grown]
        values = [kernel(abs(j + 0.5 - at) / grown) for j in near]
        if values and abs(sum(values)) > 1e-30:
            weights[i, near] = np.divide(values, sum(values))
    return weights


def moved(kernel_type="lanczos3", antialias=True, back=False):
    def expect(x, size, scale, translation):
        sizes = size.shape[1:3] if back else x.shape[1:3]
        outs = x.shape[1:3] if back else size
        options = (*KERNELS[kernel_type], antialias)
        rows, columns = (
            sampled(n, out, float(s), float(t), *options)
            for n, out, s, t in zip(sizes, outs, scale, translation, strict=True)
        )
        return np.einsum(
            "yh,xw,nyxc->nhwc" if back else "yh,xw,nhwc->nyxc", rows, columns, x.astype(np.float64)
        )

    return expect


SCALE, SHIFT = np.array([0.6, 1.7], np.float32), np.array([0.37, -1.13], np.float32)
LOOSE = {"rtol": 1e-4, "atol": 1e-5, "second": NONE}
for kernel_type in KERNELS:
    for antialias in (True, False):
        options = {"kernel_type": kernel_type, "antialias": antialias}
        note = f"{kernel_type}{'' if antialias else '_plain'}"
        expect = moved(**options)
        CASES.append(
            case(
                "ScaleAndTranslate",
                X,
                np.array([4, 8], np.int32),
                SCALE,
                SHIFT,
                expect=expect,
                grad=[0],
                note=note,
                **LOOSE,
                **options,
            )
        )
CASES += [
    case(
        "ScaleAndTranslateGrad",
        floats(2, 4, 8, 3),
        X,
        SCALE,
        SHIFT,
        expect=moved("triangle", back=True),
        kernel_type="triangle",
        rtol=1e-4,
        atol=1e-5,
    ),
    *(
        case(
            "ScaleAndTranslate",
            ints(1, 5, 4, 2, low=0, high=100, dtype=dtype),
            np.array([4, 8], np.int32),
            SCALE,
            SHIFT,
            expect=moved(),
            grad=[0],
            note=dtype,
            oracle_grad="TensorFlow's has float32 only" if dtype in ("float16", "float64") else True,
            **{**LOOSE, "atol": 1e-3},
        )
        for dtype in TYPES
    ),
]

# Crops


def cropped(method="bilinear", extrapolation_value=0.0):
    def expect(image, boxes, places, crop_size):
        image = image.astype(np.float64)
        out = np.full((len(boxes), *crop_size, image.shape[3]), extrapolation_value)
        for index, box in enumerate(boxes.astype(np.float64)):
            axes = []
            for axis in (0, 1):
                span, count = image.shape[axis + 1] - 1, crop_size[axis]
                ends = box[axis] * span, box[axis + 2] * span
                axes.append(np.linspace(*ends, count) if count > 1 else [sum(ends) / 2])
            for y, at_y in enumerate(axes[0]):
                for x, at_x in enumerate(axes[1]):
                    if not (0 <= at_y <= image.shape[1] - 1 and 0 <= at_x <= image.shape[2] - 1):
                        continue
                    plane = image[places[index]]
                    if method == "nearest":
                        out[index, y, x] = plane[math.floor(at_y + 0.5), math.floor(at_x + 0.5)]
                        continue
                    low_y, low_x = math.floor(at_y), math.floor(at_x)
                    high_y, high_x = math.ceil(at_y), math.ceil(at_x)
                    top = plane[low_y, low_x] * (1 - at_x + low_x) + plane[low_y, high_x] * (at_x - low_x)
                    low = plane[high_y, low_x] * (1 - at_x + low_x) + plane[high_y, high_x] * (at_x - low_x)
                    out[index, y, x] = top * (1 - at_y + low_y) + low * (at_y - low_y)
        return out

    return expect


def transposed(function, shape, grads):
    """The transpose of a linear function of an image, column by column."""
    out = np.zeros(int(np.prod(shape)))
    for index in range(out.size):
        unit = np.zeros(out.size)
        unit[index] = 1
        out[index] = np.sum(function(unit.reshape(shape)) * grads)
    return out.reshape(shape)


BOXES = np.array([[0.11, 0.07, 0.83, 0.91], [0.93, 0.13, 0.21, 0.52], [-0.31, 0.4, 1.22, 0.77]], np.float32)
PLACES = np.array([0, 1, 0], np.int32)
CROP = np.array([3, 4], np.int32)
for method in ("bilinear", "nearest"):
    CASES += [
        case(
            "CropAndResize",
            X,
            BOXES,
            PLACES,
            np.array(size, np.int32),
            method=method,
            extrapolation_value=-1.5,
            expect=cropped(method, -1.5),
            # The gradient by boxes is that of bilinear resizing for both methods.
            grad=[0, 1] if method == "bilinear" else [0],
            note=f"{method}_{size[0]}",
            second=NONE,
            rtol=1e-5,
            atol=1e-5,
        )
        for size in ((3, 4), (1, 1))
    ]
    CASES.append(
        case(
            "CropAndResizeGradImage",
            floats(3, 3, 4, 3),
            BOXES,
            PLACES,
            np.array([2, 5, 4, 3], np.int32),
            T=np.float32,
            method=method,
            expect=lambda grads, boxes, places, size, method=method: transposed(
                lambda image: cropped(method)(image, boxes, places, grads.shape[1:3]), tuple(size), grads
            ),
            note=method,
            rtol=1e-5,
            atol=1e-5,
        )
    )


def by_boxes(grads, image, boxes, places):
    out, step = np.zeros((len(boxes), 4)), 1e-3
    for index in np.ndindex(*out.shape):
        ends = []
        for sign in (1, -1):
            other = boxes.astype(np.float64)
            other[index] += sign * step
            ends.append(np.sum(cropped()(image, other, places, grads.shape[1:3]) * grads))
        out[index] = (ends[0] - ends[1]) / (2 * step)
    return out


CASES += [
    case(
        "CropAndResizeGradBoxes",
        floats(3, *size, 3),
        X,
        BOXES,
        PLACES,
        expect=by_boxes,
        note=f"{size[0]}",
        rtol=1e-3,
        atol=1e-3,
    )
    for size in ((3, 4), (1, 1))
]
CASES += [
    case(
        "CropAndResize",
        ints(2, 5, 4, 2, low=0, high=100, dtype=dtype),
        BOXES,
        PLACES,
        CROP,
        expect=cropped(),
        grad=[1],
        numeric="its rounding in float32" if dtype != "float64" else True,
        note=dtype,
        second=NONE,
        rtol=1e-5,
        atol=1e-4,
    )
    for dtype in TYPES
]
CASES.append(
    case(
        "CropAndResize",
        X,
        np.zeros((0, 4), np.float32),
        np.zeros(0, np.int32),
        CROP,
        expect=np.zeros((0, 3, 4, 3)),
        grad="empty",
        note="empty",
    )
)
