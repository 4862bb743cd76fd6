"""Variables and assignments to them."""

import numpy as np

from . import Var, case, floats, ints

V, U = floats(4, 3), floats(4, 3, seed=1)
ROWS = np.array([2, 0, 2], np.int32)
UPDATES = floats(3, 3, seed=2, low=0.5)
NO_INPUT = "TensorFlow's handles are scalars of resource"


def scattered(combine):
    def expect(value, indices, updates):
        out = value.copy()
        updates = np.broadcast_to(updates, (*indices.shape, *value.shape[1:]))
        for place, update in zip(indices.ravel(), updates.reshape(-1, *value.shape[1:]), strict=True):
            out[place] = update if combine is None else combine(out[place], update)
        return out

    return expect


def twice(function):
    return lambda *args: [function(*args)] * 2


CASES = [
    case("Assign", Var(V), U, expect=lambda v, u: [u, u]),
    case("Assign", Var(V), U[:2], validate_shape=False, expect=lambda v, u: [u, u], note="reshaped"),
    case("AssignAdd", Var(V), U, expect=twice(np.add)),
    case("AssignSub", Var(V), U, expect=twice(np.subtract)),
    case("AssignAdd", Var(np.int64(3)), np.int64(2), expect=[5, 5]),
    case("AssignVariableOp", Var(V), U, expect=lambda v, u: u),
    case("AssignAddVariableOp", Var(V), U, expect=np.add),
    case("AssignSubVariableOp", Var(V), U, expect=np.subtract),
    case("ReadVariableOp", Var(V), dtype=np.float32, expect=lambda v: [v, v]),
    case("VarIsInitializedOp", Var(V), expect=lambda v: [True, v]),
    case("IsVariableInitialized", Var(V), expect=lambda v: [True, v]),
    case("VariableShape", Var(V), expect=lambda v: [[4, 3], v]),
    case("VariableShape", Var(V), out_type=np.int64, expect=lambda v: [[4, 3], v]),
    case("CountUpTo", Var(np.int32(3)), limit=5, expect=[3, 4]),
    case("ResourceCountUpTo", Var(np.int64(3)), limit=5, T=np.int64, expect=[3, 4]),
    case("ResourceGather", Var(V), ROWS, dtype=np.float32, expect=lambda v, i: [v[i], v]),
    case("ResourceGather", Var(V), np.int64(1), dtype=np.float32, expect=lambda v, i: [v[1], v]),
]
COMBINE = {"Update": None, "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}
for name, combine in COMBINE.items():
    CASES += [
        case(f"Scatter{name}", Var(V), ROWS, UPDATES, expect=twice(scattered(combine))),
        case(
            f"Scatter{name}",
            Var(V),
            ROWS[None].astype(np.int64),
            UPDATES[None],
            expect=twice(scattered(combine)),
            note="rank_2",
        ),
        case(f"ResourceScatter{name}", Var(V), ROWS, UPDATES, expect=scattered(combine)),
    ]
    if combine is not None:
        integers = ints(4, 2), np.array([1, 1], np.int32), np.array([[2, -3], [3, 2]], np.int32)
        expect = scattered(combine if name != "Div" else lambda x, y: np.trunc(x / y))
        CASES += [
            case(
                f"Scatter{name}", Var(V), ROWS, np.float32(2), expect=twice(scattered(combine)), note="scalar"
            ),
            case(f"ResourceScatter{name}", Var(integers[0]), *integers[1:], expect=expect, note="int32"),
        ]

for name, combine in {"Min": np.minimum, "Max": np.maximum}.items():
    integers = ints(4, 2, dtype=np.int64), np.array([[1, 1]], np.int32), ints(1, 2, 2, seed=1, dtype=np.int64)
    CASES += [
        case(f"Scatter{name}", Var(V), ROWS, UPDATES, expect=twice(scattered(combine))),
        case(
            f"Scatter{name}", Var(V), ROWS, np.float32(0.2), expect=twice(scattered(combine)), note="scalar"
        ),
        case(f"Scatter{name}", Var(integers[0]), *integers[1:], expect=twice(scattered(combine))),
        case(f"ResourceScatter{name}", Var(V), ROWS, UPDATES, expect=scattered(combine)),
        case(f"ResourceScatter{name}", Var(integers[0]), *integers[1:], expect=scattered(combine)),
    ]


def scattered_nd(combine):
    def expect(value, indices, updates):
        out = value.copy()
        for place in np.ndindex(indices.shape[:-1]):
            at = tuple(indices[place])
            out[at] = updates[place] if combine is None else combine(out[at], updates[place])
        return out

    return expect


CUBE = floats(3, 2, 4, seed=3)
ND = [
    (CUBE, np.array([[2], [0]], np.int32), floats(2, 2, 4, seed=4), "slices"),
    (CUBE, np.array([[[2, 1], [0, 0]]], np.int64), floats(1, 2, 4, seed=4), "rows"),
    (CUBE, np.array([[2, 1, 3], [2, 1, 0]], np.int32), floats(2, seed=4), "elements"),
    (ints(5), np.array([[4], [0], [1]], np.int32), ints(3, seed=4), "int32"),
    (CUBE.astype(np.float16), np.array([[1, 1]], np.int32), floats(1, 4, seed=4, dtype=np.float16), "half"),
    (CUBE, np.zeros((0, 2), np.int32), np.zeros((0, 4), np.float32), "none"),
]
for name, combine in {"Update": None, "Add": np.add, "Sub": np.subtract}.items():
    for value, indices, updates, note in ND:
        expect = scattered_nd(combine)
        CASES += [
            case(f"ScatterNd{name}", Var(value), indices, updates, expect=twice(expect), note=note),
            case(f"ResourceScatterNd{name}", Var(value), indices, updates, expect=expect, note=note),
        ]
    if combine is not None:
        repeated = np.array([[1], [3], [1]], np.int32), floats(3, seed=5)
        expect = scattered_nd(combine)
        CASES.append(case(f"ScatterNd{name}", Var(V[:, 0]), *repeated, expect=twice(expect), note="repeated"))

CASES += [
    case(
        "ResourceGatherNd",
        Var(CUBE),
        np.array([[2, 1], [0, 0]], np.int32),
        dtype=np.float32,
        expect=lambda v, i: [v[tuple(i.T)], v],
    ),
    case(
        "ResourceGatherNd",
        Var(CUBE),
        np.array([[[1]]], np.int64),
        dtype=np.float32,
        expect=lambda v, i: [v[i[..., 0]], v],
    ),
]
