"""The debugger's operations."""

import numpy as np

from . import case, floats, specials, text

NUMBERS = np.concatenate([specials(np.float64), [3.0, 3.0, -7.5]]).reshape(3, 4)
FINITE = NUMBERS[np.isfinite(NUMBERS)]


def summary(value, number, low=-np.inf, high=np.inf):
    value = np.asarray(value, np.float64)
    finite = value[np.isfinite(value)]
    small = int((finite <= low).sum()) if np.isfinite(low) else 0
    large = int((finite >= high).sum()) if np.isfinite(high) else 0
    rest = finite[(finite > low) & (finite < high)]
    kinds = [int(np.isnan(value).sum()), int((value == -np.inf).sum()) + small]
    kinds += [int((rest < 0).sum()), int((rest == 0).sum()), int((rest > 0).sum())]
    kinds += [int((value == np.inf).sum()) + large]
    ends = [finite.min(initial=np.inf), finite.max(initial=-np.inf)]
    about = [finite.mean(), finite.var()] if finite.size else [np.nan, np.nan]
    return np.float64([1, value.size, *kinds, *ends, *about, number, value.ndim, *value.shape])


NAME = {"tensor_name": "x:0"}

CASES = [
    *[
        case(op, value, expect=lambda given: given, note=note, **attrs)
        for op, attrs in (
            ("Copy", {}),
            ("CopyHost", {}),
            ("DebugIdentity", NAME),
            (
                "DebugGradientIdentity",
                {"oracle_grad": "TensorFlow reads a debugger's name out of the node's"},
            ),
        )
        for note, value in (("floats", floats(2, 3)), ("strings", text(["a", "b"])), ("empty", floats(0, 2)))
    ],
    case("DebugNanCount", NUMBERS, **NAME, expect=np.int64([1])),
    case("DebugNanCount", np.int32([1, 2]), **NAME, expect=np.int64([0]), note="integers"),
    case("DebugNanCount", np.zeros((0, 2), np.float16), **NAME, expect=np.int64([0]), note="empty"),
    case("DebugNumericSummary", NUMBERS, **NAME, expect=lambda given: summary(given, 2)),
    case(
        "DebugNumericSummary",
        NUMBERS.astype(np.float32),
        **NAME,
        lower_bound=-2.0,
        upper_bound=1.0,
        expect=lambda given: summary(given, 1, -2, 1),
        note="bounds",
    ),
    case("DebugNumericSummary", np.int32(-3), **NAME, expect=summary(-3, 3), note="scalar"),
    case("DebugNumericSummary", np.array([True, False]), **NAME, expect=summary([1, 0], 10), note="bools"),
    case(
        "DebugNumericSummary",
        np.zeros((2, 0), np.float32),
        **NAME,
        expect=summary(np.zeros((2, 0)), 1),
        note="empty",
    ),
    case("DebugIdentity", floats(2, 3), **NAME, gated_grpc=True, expect=np.float32([]), note="gated"),
    case("DebugNanCount", floats(2, 3), **NAME, gated_grpc=True, expect=np.int64([]), note="gated"),
    case("DebugNumericSummary", floats(2, 3), **NAME, gated_grpc=True, expect=np.float64([]), note="gated"),
]
