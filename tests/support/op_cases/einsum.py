"""Einstein summation."""

import ml_dtypes
import numpy as np

from . import case, floats, ints

A, B = floats(2, 3, 4), floats(2, 4, 5, seed=1)
M, N = floats(3, 4), floats(4, 5, seed=1)
SQUARE = floats(3, 3)


def row(equation, *inputs, numpy=None, **options):
    return case(
        "Einsum",
        list(inputs),
        equation=equation,
        expect=lambda values: np.einsum(numpy or equation, *values),
        atol=1e-5,
        oracle_grad=options.pop("oracle_grad", True),
        **options,
    )


CASES = [
    row("ij,jk->ik", M, N),
    row("bij,bjk->bik", A, B),
    row("bij,bjk->ikb", A, B),
    row("bij,bjk->", A, B),
    row("bij,jk->bik", A, N),
    row("ij,kj->ik", M, M[:2]),
    row("i,j->ij", M[0], N[0]),
    row("i,i->", M[0], M[1]),
    row("ij,ij->ij", M, M + 1),
    row("bfi,bti->bft", A, A[:, :2]),
    row("BTNH,BFNH->BNFT", floats(2, 3, 2, 4), floats(2, 5, 2, 4, seed=1), note="attention"),
    row("abc->cb", A),
    row("abc->", A),
    row("ab->ba", M),
    row("ii->i", SQUARE),
    row("ii->", SQUARE, note="trace"),
    row("ij,k->ik", M, N[0], note="summed_alone"),
    row("iij,jk->ik", floats(3, 3, 4), N, note="diagonal"),
    row("...ij,...jk->...ik", A, B, note="ellipsis"),
    row("...ij,jk->...ik", A, N, note="ellipsis_of_one"),
    row("...ij,...jk->...ik", A[:1], B, note="broadcast"),
    row("...ij,...jk->...ik", floats(3, 1, 2, 4), B, note="broadcast_rank"),
    row("...a->a...", A, note="turned"),
    case("Einsum", [M[0]], equation="i->ii", expect=lambda values: np.diag(values[0]), note="to_diagonal"),
    row("ij,jk->ik", M.astype(np.float64), N.astype(np.float64), grad="as float32", note="float64"),
    row("ij,jk->ik", (M + 1j).astype(np.complex64), (N - 2j).astype(np.complex64), note="complex"),
    row("ij,jk->ik", ints(2, 3), ints(3, 2, seed=1), note="int32"),
    row("ij,jk->ik", M[:0], N, grad="empty", note="empty"),
    row("ij,jk->ik", M[:, :0], N[:0], grad="empty", note="nothing_to_sum"),
    row(
        "ij,jk->ik",
        M.astype(ml_dtypes.bfloat16),
        N.astype(ml_dtypes.bfloat16),
        grad="as float32",
        note="bfloat16",
        rtol=2e-2,
    ),
]
CASES[-1] = case(
    "Einsum",
    CASES[-1].inputs[0],
    equation="ij,jk->ik",
    expect=lambda values: values[0].astype(np.float32) @ values[1].astype(np.float32),
    grad="as float32",
    note="bfloat16",
    rtol=2e-2,
)
