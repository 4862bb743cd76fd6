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
