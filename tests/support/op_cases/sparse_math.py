"""Arithmetic of sparse tensors, against the same of dense ones."""

import numpy as np

from . import case, floats, ints, text

SHAPE = np.array([3, 4])
A = np.array([[0, 1], [1, 0], [1, 3], [2, 2]])
B = np.array([[0, 0], [1, 0], [1, 2]])
MIXED = np.array([[2, 2], [0, 1], [1, 3], [1, 0]])
NONE = np.zeros((0, 2), np.int64)
CUBE = np.array([[0, 0, 1], [0, 1, 0], [1, 1, 0], [1, 1, 1], [1, 2, 1]])
CUBE_SHAPE = np.array([2, 3, 2])


def dense(indices, values, shape):
    result = np.zeros(tuple(shape), values.dtype)
    np.add.at(result, tuple(indices.T), values)
    return result


def of_places(places, values, shape):
    """A sparse tensor of what a dense one has in some places."""
    index = np.stack(np.nonzero(places), 1)
    return index, values[tuple(index.T)], np.array(shape)


def filled_places(*sparse):
    return sum(dense(indices, np.ones(len(indices)), shape) for indices, shape in sparse) > 0


def added(ai, av, ash, bi, bv, bsh, thresh):
    total = dense(ai, av, ash) + dense(bi, bv, bsh)
    both = (filled_places((ai, ash)) & filled_places((bi, bsh))) * 1
    return of_places(filled_places((ai, ash), (bi, bsh)) & (np.abs(total) >= thresh * both), total, ash)


def extreme(choose):
    def expect(ai, av, ash, bi, bv, bsh):
        return of_places(
            filled_places((ai, ash), (bi, bsh)), choose(dense(ai, av, ash), dense(bi, bv, bsh)), ash
        )[:2]

    return expect


def cwise(function):
    def expect(indices, values, shape, other):
        return function(values, np.broadcast_to(other, shape)[tuple(indices.T)]).astype(values.dtype)

    return expect


def product(indices, values, shape, b):
    return dense(indices, values, shape) @ b


def softmax(indices, values, shape):
    whole = np.zeros(tuple(shape), values.dtype)
    whole[tuple(indices.T)] = np.exp(values)
    return (whole / np.maximum(whole.sum(-1, keepdims=True), 1e-30))[tuple(indices.T)]


def summed(axes, keep=False):
    return lambda indices, values, shape, _: dense(indices, values, shape).sum(axis=axes, keepdims=keep)


def summed_sparse(axes, keep=False):
    def expect(indices, values, shape, _):
        total = dense(indices, values, shape).sum(axis=axes, keepdims=keep)
        there = filled_places((indices, shape)).any(axis=axes, keepdims=keep)
        return of_places(there, total, total.shape)

    return expect


def parts(axis, count):
    def expect(_, indices, values, shape):
        pieces = zip(
            np.array_split(dense(indices, values, shape), count, axis),
            np.array_split(filled_places((indices, shape)), count, axis),
            strict=True,
        )
        made = [of_places(there, piece, piece.shape) for piece, there in pieces]
        return [each for column in zip(*made, strict=True) for each in column]

    return expect


def box(indices, values, shape, start, size):
    at = tuple(slice(first, first + many) for first, many in zip(start, size, strict=True))
    piece = dense(indices, values, shape)[at]
    return of_places(filled_places((indices, shape))[at], piece, piece.shape)


ZERO = np.float32(0)
ONCE = "TensorFlow differentiates it once"
CASES = [
    case(
        "SparseReorder",
        MIXED,
        floats(4),
        SHAPE,
        expect=lambda i, v, s: (np.array([[0, 1], [1, 0], [1, 3], [2, 2]]), v[[1, 3, 2, 0]]),
    ),
    case(
        "SparseReorder",
        np.array([[1, 0], [0, 0], [1, 0]]),
        text(["a", "b", "c"]),
        SHAPE,
        expect=([[0, 0], [1, 0], [1, 0]], text(["b", "a", "c"])),
        note="equal_indices",
    ),
    case("SparseReorder", NONE, floats(0), SHAPE, expect=(NONE, floats(0)), note="empty"),
    case("SparseAdd", A, floats(4), SHAPE, B, floats(3, seed=1), SHAPE, ZERO, expect=added, second=ONCE),
    case(
        "SparseAdd",
        A,
        ints(4),
        SHAPE,
        NONE,
        ints(0),
        SHAPE,
        np.int32(0),
        expect=added,
        second=ONCE,
        note="one_empty",
    ),
    case(
        "SparseAdd",
        A,
        np.float32([1, 2, 3, 4]),
        SHAPE,
        B,
        np.float32([0.1, -1.8, 0.5]),
        SHAPE,
        np.float32(0.3),
        expect=added,
        second=ONCE,
        note="threshold",
    ),
    case(
        "SparseAddGrad",
        floats(2),
        A,
        B,
        np.array([[0, 1], [1, 0]]),
        expect=lambda g, a, b, s: ([g[0], g[1], 0, 0], [0, g[1], 0]),
        grad="TensorFlow has none",
    ),
    case(
        "SparseSparseMaximum",
        A,
        floats(4),
        SHAPE,
        B,
        floats(3, seed=1),
        SHAPE,
        expect=extreme(np.maximum),
        grad="TensorFlow has none",
    ),
    case(
        "SparseSparseMinimum",
        A,
        ints(4),
        SHAPE,
        B,
        ints(3, seed=1),
        SHAPE,
        expect=extreme(np.minimum),
        grad="TensorFlow has none",
    ),
    case(
        "SparseDenseCwiseAdd",
        A,
        floats(4),
        SHAPE,
        floats(3, 1),
        expect=cwise(np.add),
        grad="TensorFlow has none",
    ),
    case(
        "SparseDenseCwiseMul",
        A,
        floats(4),
        SHAPE,
        floats(3, 4, seed=1),
        expect=cwise(np.multiply),
        note="whole",
    ),
    case(
        "SparseDenseCwiseMul", A, floats(4), SHAPE, floats(4, seed=1), expect=cwise(np.multiply), note="rows"
    ),
    case("SparseDenseCwiseMul", A, ints(4), SHAPE, np.int32(3), expect=cwise(np.multiply), note="scalar"),
    case("SparseDenseCwiseMul", NONE, floats(0), SHAPE, floats(4), expect=cwise(np.multiply), note="empty"),
    case("SparseDenseCwiseDiv", A, floats(4), SHAPE, floats(3, 1, low=1.0), expect=cwise(np.divide)),
    case(
        "SparseDenseCwiseDiv",
        A,
        np.array([-7, -7, 8, 0]),
        SHAPE,
        np.array([2, -2, 3, 3]),
        expect=np.array([3, -3, 2, 0]),
        note="integers",
    ),
    case(
        "SparseTensorDenseAdd",
        A,
        floats(4),
        SHAPE,
        floats(3, 4, seed=1),
        expect=lambda i, v, s, b: dense(i, v, s) + b,
    ),
    case(
        "SparseTensorDenseAdd",
        A[[0, 0, 1]].astype(np.int32),
        floats(3),
        SHAPE.astype(np.int32),
        floats(3, 4, seed=1),
        expect=lambda i, v, s, b: dense(i, v, s) + b,
        note="repeated_int32",
    ),
    case("SparseTensorDenseMatMul", A, floats(4), SHAPE, floats(4, 2, seed=1), expect=product),
    case(
        "SparseTensorDenseMatMul",
        A,
        floats(4),
        SHAPE,
        floats(3, 2, seed=1),
        adjoint_a=True,
        expect=lambda i, v, s, b: dense(i, v, s).T @ b,
        note="adjoint_a",
    ),
    case(
        "SparseTensorDenseMatMul",
        A.astype(np.int32),
        floats(4, dtype=np.float64),
        SHAPE,
        floats(2, 4, seed=1, dtype=np.float64),
        adjoint_b=True,
        expect=lambda i, v, s, b: dense(i, v, s) @ b.T,
        note="adjoint_b_int32",
    ),
    case(
        "SparseTensorDenseMatMul",
        MIXED[[0, 1, 2, 3, 3]],
        floats(5),
        SHAPE,
        floats(4, 2, seed=1),
        expect=product,
        note="unordered_repeated",
    ),
    case(
        "SparseTensorDenseMatMul",
        A,
        (floats(4) + 1j * floats(4, seed=2)).astype(np.complex64),
        SHAPE,
        (floats(2, 3, seed=1) + 1j * floats(2, 3, seed=3)).astype(np.complex64),
        adjoint_a=True,
        adjoint_b=True,
        expect=lambda i, v, s, b: dense(i, v, s).conj().T @ b.conj().T,
        grad="TensorFlow has none of complex numbers",
        note="complex",
    ),
    case("SparseTensorDenseMatMul", NONE, floats(0), SHAPE, floats(4, 2), expect=product, note="empty"),
    case("SparseReduceSum", A, floats(4), SHAPE, np.array([1], np.int32), expect=summed(1)),
    case(
        "SparseReduceSum",
        A,
        floats(4),
        SHAPE,
        np.array([-2], np.int32),
        keep_dims=True,
        expect=summed(0, True),
        note="keep",
    ),
    case("SparseReduceSum", A, floats(4), SHAPE, np.int32(0), expect=summed(0), note="scalar_axis"),
    case(
        "SparseReduceSum",
        A,
        floats(4),
        SHAPE,
        np.array([0, 1], np.int32),
        expect=summed((0, 1)),
        note="all",
    ),
    case(
        "SparseReduceSum",
        CUBE,
        floats(5),
        CUBE_SHAPE,
        np.array([0, 2], np.int32),
        expect=summed((0, 2)),
        note="cube",
    ),
    case(
        "SparseReduceMax",
        A,
        floats(4),
        SHAPE,
        np.array([1], np.int32),
        expect=lambda i, v, s, _: np.array([v[0], max(v[1], v[2]), v[3]]),
        grad="TensorFlow has none",
    ),
    case(
        "SparseReduceSumSparse", CUBE, floats(5), CUBE_SHAPE, np.array([1], np.int32), expect=summed_sparse(1)
    ),
    case(
        "SparseReduceSumSparse",
        CUBE,
        floats(5),
        CUBE_SHAPE,
        np.array([0], np.int32),
        keep_dims=True,
        expect=summed_sparse(0, True),
        note="keep",
    ),
    case(
        "SparseReduceMaxSparse",
        A,
        floats(4),
        SHAPE,
        np.array([1], np.int32),
        expect=lambda i, v, s, _: ([[0], [1], [2]], [v[0], max(v[1], v[2]), v[3]], [3]),
    ),
    case(
        "SparseReduceSum",
        A,
        floats(4),
        SHAPE,
        np.zeros(0, np.int32),
        expect=lambda i, v, s, _: dense(i, v, s),
        note="no_axes",
    ),
    case("SparseSoftmax", A, floats(4), SHAPE, expect=softmax, second=ONCE),
    case(
        "SparseSoftmax",
        CUBE,
        floats(5, dtype=np.float64),
        CUBE_SHAPE,
        expect=softmax,
        second=ONCE,
        note="cube",
    ),
    case(
        "SparseConcat",
        [A, B],
        [floats(4), floats(3, seed=1)],
        [SHAPE, SHAPE],
        concat_dim=0,
        expect=lambda i, v, s: of_places(
            np.concatenate([filled_places((A, SHAPE)), filled_places((B, SHAPE))]),
            np.concatenate([dense(A, v[0], SHAPE), dense(B, v[1], SHAPE)]),
            (6, 4),
        ),
        grad="TensorFlow has none",
    ),
    case(
        "SparseConcat",
        [A, B],
        [ints(4), ints(3, seed=1)],
        [SHAPE, np.array([3, 3])],
        concat_dim=-1,
        expect=lambda i, v, s: of_places(
            np.concatenate([filled_places((A, SHAPE)), filled_places((B, (3, 3)))], 1),
            np.concatenate([dense(A, v[0], SHAPE), dense(B, v[1], (3, 3))], 1),
            (3, 7),
        ),
        note="last",
    ),
    case(
        "SparseSplit",
        np.int64(1),
        A,
        floats(4),
        SHAPE,
        num_split=3,
        expect=parts(1, 3),
        grad="TensorFlow has none",
        note="uneven",
    ),
    case("SparseSplit", np.int64(0), A, ints(4), SHAPE, num_split=3, expect=parts(0, 3), note="even"),
    case("SparseSlice", A, floats(4), SHAPE, np.array([1, 0]), np.array([2, 3]), expect=box, second=ONCE),
    case(
        "SparseSlice",
        A,
        floats(4),
        SHAPE,
        np.array([1, 1]),
        np.array([5, 9]),
        expect=box,
        second=ONCE,
        note="beyond",
    ),
    case(
        "SparseSlice",
        np.array([[0, 2], [1, 3], [3, 2]]),
        floats(3),
        SHAPE,
        np.array([1, 1]),
        np.array([5, 9]),
        expect=lambda i, v, *_: (np.array([[0, 2], [2, 1]]), v[1:], [2, 3]),
        second=ONCE,
        note="index_out_of_shape",
    ),
    case(
        "SparseSliceGrad",
        floats(2),
        A,
        np.array([1, 0]),
        np.array([[0, 0], [1, 2]]),
        expect=lambda g, i, start, o: np.array([0, g[0], 0, g[1]]),
        grad="TensorFlow has none",
    ),
]
