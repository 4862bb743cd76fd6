"""Diagonals and bands of matrices."""

import numpy as np

from . import case, floats, ints


def set_diag(x, d):
    result = np.array(x)
    index = np.arange(min(x.shape[-2:]))
    result[..., index, index] = d
    return result


def diag(d):
    return set_diag(np.zeros((*d.shape, d.shape[-1]), d.dtype), d)


def part(x):
    return np.diagonal(x, axis1=-2, axis2=-1)


def band(x, lower, upper):
    rows, columns = x.shape[-2:]
    i, j = np.arange(rows)[:, None], np.arange(columns)
    return np.where(((lower < 0) | (i - j <= lower)) & ((upper < 0) | (j - i <= upper)), x, 0).astype(x.dtype)


X, D = floats(2, 3, 4), floats(2, 3, seed=1)
CASES = []
for prefix in ("", "Batch"):
    old = "removed from TensorFlow long ago: files that have it are old" if prefix else True
    for values, note in (
        (D, ""),
        (floats(3, dtype=np.float64), "float64"),
        (ints(2, 2), "int32"),
        (np.array([True, False]), "bool"),
        ((D + 1j).astype(np.complex64), "complex"),
        (floats(2, 0), "empty"),
    ):
        CASES.append(
            case(
                f"{prefix}MatrixDiag",
                values,
                expect=diag,
                note=note,
                oracle=old,
                grad="empty" if note == "empty" else None,
            )
        )
    for values, note in (
        (X, ""),
        (floats(3, 3), "square"),
        (floats(4, 2, dtype=np.float64), "tall"),
        (ints(2, 2), "int32"),
        (floats(0, 3, 2), "empty"),
    ):
        empty = "empty" if note == "empty" else None
        CASES += [
            case(f"{prefix}MatrixDiagPart", values, expect=part, note=note, oracle=old, grad=empty),
            case(
                f"{prefix}MatrixSetDiag",
                values,
                part(values) * 2,
                expect=set_diag,
                note=note,
                oracle=old,
                grad=empty,
            ),
        ]
    lower_type = np.int64
    for lower, upper in ((0, 0), (-1, 0), (1, -1), (0, -1), (2, 1), (-1, -1), (3, 4)):
        CASES.append(
            case(f"{prefix}MatrixBandPart", X, lower_type(lower), lower_type(upper), expect=band, oracle=old)
        )
    CASES += [
        case(
            f"{prefix}MatrixBandPart",
            ints(3, 3),
            lower_type(1),
            lower_type(0),
            expect=band,
            note="int32",
            oracle=old,
        ),
        case(
            f"{prefix}MatrixBandPart",
            floats(0, 2),
            lower_type(0),
            lower_type(0),
            expect=band,
            note="empty",
            oracle=old,
            grad="empty",
        ),
    ]
CASES.append(case("MatrixBandPart", X, np.int32(1), np.int32(0), expect=band, note="int32_bounds"))

K = np.int32
CASES += [
    case(
        "MatrixDiagV2",
        D,
        K(1),
        K(-1),
        K(-1),
        np.float32(9),
        expect=[np.where(np.eye(4, k=1), np.pad(D, [(0, 0), (1, 0)])[:, None, :], 9)],
        grad=[0],
    ),
    case(
        "MatrixDiagV2",
        D,
        K([-1]),
        K(-1),
        K(-1),
        np.float32(0),
        expect=[np.stack([np.diag(d, -1) for d in D])],
        note="below",
        grad=[0],
    ),
    case(
        "MatrixDiagV2",
        D,
        K(0),
        K(5),
        K(3),
        np.float32(0),
        expect=[np.pad(diag(D), [(0, 0), (0, 2), (0, 0)])],
        note="rows",
        grad=[0],
    ),
    case(
        "MatrixDiagV2",
        D,
        K(0),
        K(-1),
        K(4),
        np.float32(0),
        expect=[np.pad(diag(D), [(0, 0), (0, 0), (0, 1)])],
        note="columns",
        grad=[0],
    ),
    case(
        "MatrixDiagV2",
        np.float32([[1, 2, 3], [4, 5, 0]]),
        K([0, 1]),
        K(-1),
        K(-1),
        np.float32(0),
        expect=[[[4, 1, 0], [0, 5, 2], [0, 0, 0]]],
        note="several",
        grad="the padding is not read",
        oracle=True,
    ),
    case(
        "MatrixDiagV2",
        ints(2, 2),
        K(0),
        K(-1),
        K(-1),
        K(7),
        expect=[np.stack([np.where(np.eye(2), np.diag(d), 7) for d in ints(2, 2)])],
        note="int32",
    ),
    case("MatrixDiagPartV2", X, K(1), np.float32(0), expect=[np.diagonal(X, 1, -2, -1)], grad=[0]),
    case(
        "MatrixDiagPartV2",
        X,
        K([-1, 1]),
        np.float32(9),
        expect=[[[[*np.diagonal(x, 1)], [*np.diagonal(x)], [*np.diagonal(x, -1), 9]] for x in X]],
        note="several",
        grad=[0],
        second=True,
    ),
    case(
        "MatrixDiagPartV2",
        floats(4, 2),
        K([-3]),
        np.float32(0),
        expect=[np.diagonal(floats(4, 2), -3)],
        note="corner",
        grad=[0],
    ),
    case(
        "MatrixDiagPartV2",
        ints(3, 3),
        K([0, 2]),
        K(-5),
        expect=[
            np.int32([[ints(3, 3)[0, 2], -5, -5], [*np.diagonal(ints(3, 3), 1), -5], np.diagonal(ints(3, 3))])
        ],
        note="int32",
    ),
    case(
        "MatrixSetDiagV2",
        X,
        np.diagonal(X, 1, -2, -1) * 2,
        K(1),
        expect=[np.where(np.eye(3, 4, 1), 2 * X, X)],
    ),
    case(
        "MatrixSetDiagV2",
        X,
        floats(2, 3, 3, seed=4),
        K([-1, 1]),
        expect=[
            np.stack(
                [
                    sum(
                        np.diag(r[: 3 if k >= 0 else 2], k)[:3, :4]
                        if np.diag(r[: 3 if k >= 0 else 2], k).shape[1] >= 4
                        else np.pad(
                            np.diag(r[: 3 if k >= 0 else 2], k)[:3],
                            [(0, 0), (0, 4 - np.diag(r[: 3 if k >= 0 else 2], k).shape[1])],
                        )
                        for k, r in zip((1, 0, -1), d)
                    )
                    + band(x, -1, -1)
                    - np.where(abs(np.arange(4) - np.arange(3)[:, None]) <= 1, x, 0)
                    for x, d in zip(X, floats(2, 3, 3, seed=4))
                ]
            )
        ],
        note="several",
        atol=1e-6,
    ),
    case("Diag", D, expect=lambda d: np.diag(d.ravel()).reshape(2, 3, 2, 3)),
    case("Diag", floats(3, dtype=np.float64), expect=np.diag, note="float64"),
    case("Diag", ints(3), expect=np.diag, note="int32"),
    case("Diag", (D[0] + 1j).astype(np.complex64), expect=np.diag, note="complex"),
    case("Diag", floats(0), expect=np.zeros((0, 0)), note="empty", grad="empty"),
    case("DiagPart", floats(2, 3, 2, 3), expect=lambda x: np.diag(x.reshape(6, 6)).reshape(2, 3)),
    case("DiagPart", floats(3, 3, dtype=np.float64), expect=np.diag, note="float64"),
    case("DiagPart", ints(3, 3), expect=np.diag, note="int32"),
    case("DiagPart", floats(0, 0), expect=np.zeros(0), note="empty", grad="empty"),
]
