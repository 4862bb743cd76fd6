"""Fractional pooling with given seeds, window by window."""

import numpy as np

from . import case, floats, ints

X = floats(2, 10, 7, 2)
NONE = "TensorFlow has no second derivative"
RATIO = [1.0, 1.5, 1.4, 1.0]
SEEDS = {"deterministic": True, "seed": 12, "seed2": 34, "pooling_ratio": RATIO}


def windows(rows, columns, overlapping):
    for i in range(len(rows) - 1):
        for j in range(len(columns) - 1):
            more = int(overlapping)
            yield i, j, slice(rows[i], rows[i + 1] + more), slice(columns[j], columns[j + 1] + more)


def pooled(x, rows, columns, *, overlapping, function):
    out = np.zeros((x.shape[0], len(rows) - 1, len(columns) - 1, x.shape[3]), x.dtype)
    for i, j, down, across in windows(rows, columns, overlapping):
        out[:, i, j] = function(x[:, down, across], axis=(1, 2))
    return out


def max_grad(x, y, dy, rows, columns, *, overlapping):
    out = np.zeros_like(x)
    for i, j, down, across in windows(rows, columns, overlapping):
        out[:, down, across] += (x[:, down, across] == y[:, i : i + 1, j : j + 1]) * dy[
            :, i : i + 1, j : j + 1
        ]
    return out


def mean_grad(shape, dy, rows, columns, *, overlapping):
    out = np.zeros(tuple(shape), dy.dtype)
    for i, j, down, across in windows(rows, columns, overlapping):
        part = out[:, down, across]
        part += dy[:, i : i + 1, j : j + 1] / (part.shape[1] * part.shape[2])
    return out


# Where TensorFlow cuts with these seeds.
CUTS = {
    False: ([0, 2, 3, 5, 6, 8, 10], [0, 1, 3, 4, 5, 7]),
    True: ([0, 1, 3, 5, 6, 8, 10], [0, 2, 3, 4, 6, 7]),
}
CASES = []
for pseudo in (False, True):
    for overlapping in (False, True):
        rows, columns = (np.array(cut) for cut in CUTS[pseudo])
        options = {"overlapping": overlapping, "note": f"{pseudo}_{overlapping}"}
        for name, function in (("Max", np.max), ("Avg", np.mean)):
            CASES.append(
                case(
                    f"Fractional{name}Pool",
                    X,
                    pseudo_random=pseudo,
                    **SEEDS,
                    expect=(
                        pooled(X, rows, columns, overlapping=overlapping, function=function),
                        rows,
                        columns,
                    ),
                    through=[0],
                    second=NONE,
                    rtol=1e-5,
                    **options,
                )
            )
        y = pooled(X, rows, columns, overlapping=overlapping, function=np.max)
        dy = floats(*y.shape, seed=1)
        cuts = {"overlapping": overlapping}
        CASES += [
            case(
                "FractionalMaxPoolGrad",
                X,
                y,
                dy,
                rows,
                columns,
                expect=lambda *args, overlapping=overlapping: max_grad(*args, overlapping=overlapping),
                rtol=1e-5,
                **options,
            ),
            case(
                "FractionalAvgPoolGrad",
                np.array(X.shape),
                dy,
                rows,
                columns,
                expect=lambda *args, overlapping=overlapping: mean_grad(*args, overlapping=overlapping),
                rtol=1e-5,
                **options,
            ),
        ]
WHOLE = ints(1, 10, 7, 2, low=-50, high=50)
CASES += [
    case(
        f"Fractional{name}Pool",
        WHOLE,
        **SEEDS,
        expect=(
            np.trunc(
                pooled(
                    WHOLE.astype(float),
                    *map(np.array, CUTS[False]),
                    overlapping=False,
                    function=function,
                )
            ),
            *CUTS[False],
        ),
        note="int32",
    )
    for name, function in (("Max", np.max), ("Avg", np.mean))
]
