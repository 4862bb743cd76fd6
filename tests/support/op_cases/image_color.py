"""Colours, by Python's own colorsys."""

import colorsys

import numpy as np

from . import case, floats, ints

X = floats(2, 3, 4, 3, low=0.05, high=0.98)
NONE = "TensorFlow has no second derivative"
CPU = "TensorFlow's CPU has float32 only"


def each(function):
    def expect(x, *rest):
        wide = x.astype(np.float64)
        return np.apply_along_axis(lambda color: function(*color, *rest), -1, wide) if x.size else wide

    return expect


def hue(r, g, b, delta):
    h, s, v = colorsys.rgb_to_hsv(r, g, b)
    return colorsys.hsv_to_rgb((h + float(delta)) % 1, s, v)


def saturation(r, g, b, scale):
    h, s, v = colorsys.rgb_to_hsv(r, g, b)
    return colorsys.hsv_to_rgb(h, min(1, max(0, s * float(scale))), v)


def contrast(x, factor, low=-np.inf, high=np.inf):
    wide = x.astype(np.float64)
    mean = wide.mean((-3, -2), keepdims=True) if x.size else 0
    return np.clip((wide - mean) * float(factor) + mean, low, high)


TIGHT = {"rtol": 1e-5, "atol": 1e-6}
GRAYS = np.array([[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.5], [1, 0, 0], [0, 1, 1], [1, 1, 0]], np.float32)
UNDEFINED = np.array([[1, 1, np.nan], [np.nan, 0.5, 0.25], [0.5, np.nan, 0.25], [0.2, 0.4, 0.6]], np.float32)
CASES = [
    case(
        "AdjustHue",
        UNDEFINED[None],
        np.float32(0.25),
        expect=np.array([[[1, 1, 1], [np.nan, 0.25, np.nan], [0.5, np.nan, np.nan], [0.6, 0.2, 0.6]]]),
        note="undefined",
    ),
    case("RGBToHSV", X, expect=each(colorsys.rgb_to_hsv), **TIGHT),
    case(
        "RGBToHSV",
        X.astype(np.float64),
        expect=each(colorsys.rgb_to_hsv),
        note="float64",
        oracle_grad=CPU,
        exported=CPU,
    ),
    case("RGBToHSV", GRAYS, expect=each(colorsys.rgb_to_hsv), grad="at corners", note="grays", **TIGHT),
    case(
        "RGBToHSV",
        X.astype(np.float16),
        expect=each(colorsys.rgb_to_hsv),
        grad=CPU,
        note="half",
        rtol=5e-3,
        atol=2e-3,
    ),
    case("RGBToHSV", np.zeros((0, 3), np.float32), expect=np.zeros((0, 3)), grad="empty", note="empty"),
    case("HSVToRGB", X, expect=each(colorsys.hsv_to_rgb), **TIGHT),
    case("HSVToRGB", X.astype(np.float64), expect=each(colorsys.hsv_to_rgb), note="float64"),
    case(
        "HSVToRGB", X.astype(np.float16), expect=each(colorsys.hsv_to_rgb), note="half", rtol=5e-3, atol=4e-3
    ),
    case("HSVToRGB", np.zeros((2, 0, 3)), expect=np.zeros((2, 0, 3)), note="empty"),
    *(
        case("AdjustHue", X, np.float32(delta), expect=each(hue), note=str(delta), **TIGHT)
        for delta in (0.0, 0.3, -0.7, 2.6)
    ),
    case("AdjustHue", GRAYS[None], np.float32(0.25), expect=each(hue), note="grays", **TIGHT),
    case(
        "AdjustHue",
        X.astype(np.float16),
        np.float32(0.25),
        expect=each(hue),
        note="half",
        oracle=CPU,
        atol=1e-3,
    ),
    case(
        "AdjustHue",
        np.zeros((0, 2, 3), np.float32),
        np.float32(0.1),
        expect=np.zeros((0, 2, 3)),
        note="empty",
    ),
    *(
        case("AdjustSaturation", X, np.float32(scale), expect=each(saturation), note=str(scale), **TIGHT)
        for scale in (0.0, 0.4, 1.0, 3.0)
    ),
    case("AdjustSaturation", GRAYS[None], np.float32(0.5), expect=each(saturation), note="grays", **TIGHT),
    case(
        "AdjustSaturation",
        X.astype(np.float16),
        np.float32(2),
        expect=each(saturation),
        note="half",
        oracle=CPU,
        atol=1e-3,
    ),
    case("AdjustContrastv2", X, np.float32(2.5), expect=contrast, **TIGHT),
    case("AdjustContrastv2", floats(5, 4, 2), np.float32(-0.5), expect=contrast, note="rank3", **TIGHT),
    case(
        "AdjustContrastv2",
        X.astype(np.float16),
        np.float32(2),
        expect=contrast,
        note="half",
        oracle=CPU,
        atol=2e-3,
    ),
    case(
        "AdjustContrastv2",
        np.zeros((0, 2, 3), np.float32),
        np.float32(2),
        expect=np.zeros((0, 2, 3)),
        note="empty",
    ),
    *(
        case(
            "AdjustContrast",
            ints(2, 3, 4, 2, low=0, high=100, dtype=dtype),
            np.float32(3),
            np.float32(5),
            np.float32(90),
            expect=lambda x, factor, low, high: contrast(x, factor, low, high),
            note=dtype,
            oracle="graphs of today may not have it",
            rtol=1e-5,
        )
        for dtype in ("uint8", "int8", "int16", "int32", "int64", "float32", "float64")
    ),
]
