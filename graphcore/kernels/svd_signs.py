"""The signs that TensorFlow's singular vectors have: those of Eigen's two-sided Jacobi method.

A decomposition is unique up to the signs of pairs of vectors. TensorFlow's come of what its library does with
matrices of less than 16 columns: a QR decomposition with column pivoting where they are not square, then
rotations of pairs of rows and columns until the matrix is diagonal. It is done here for a whole batch at
once, in double precision, and the signs are taken from it, and what completes the vectors to a basis.

Source: the method is that of Hestenes and Kogbetliantz; the order of rotations and the choice of angles are
those of Eigen's JacobiSVD, behaviour only.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array

LIMIT = 16
"""Matrices with this many columns are decomposed in another way."""
_SWEEPS = 60


def as_tensorflow(x: Array, s: Array, u: Array, v: Array) -> tuple[Array, Array]:
    """Singular vectors with TensorFlow's signs.

    Args:
        x: Real matrices, (..., m, n), finite.
        s: Their singular values, falling.
        u: Left singular vectors in columns, (..., m, k) or more columns.
        v: Right singular vectors in columns.

    Returns:
        `(u, v)`, pairs of columns negated where TensorFlow's are; the columns behind, which belong to no
        singular value, replaced by TensorFlow's where the matrix has full rank.
    """
    rows, columns = x.shape[-2:]
    inner = min(rows, columns)
    u, v = np.array(u), np.array(v)
    if not x.size:
        return u, v
    flat = x.reshape(-1, rows, columns).astype(np.float64)
    flat = flat if rows >= columns else np.swapaxes(flat, -1, -2)
    vectors, rest = _left_vectors(flat, is_wide=rows < columns)
    long = u if rows >= columns else v
    mine = long[..., :inner].reshape(len(flat), -1, inner)
    sign = np.where(np.sum(mine * vectors, axis=-2) < 0, -1, 1).reshape(*x.shape[:-2], 1, inner)
    u[..., :inner] *= sign.astype(u.dtype)
    v[..., :inner] *= sign.astype(v.dtype)
    if long.shape[-1] > inner:
        has_full_rank = s[..., -1] > 1e-5 * s[..., 0]
        rest = rest.reshape(long[..., inner:].shape)
        long[..., inner:] = np.where(has_full_rank[..., None, None], rest, long[..., inner:])
    return u, v


def _left_vectors(x: Array, is_wide: bool) -> tuple[Array, Array]:
    """The left vectors of square or tall matrices, by falling singular values, and the rest of their space.

    Of wide matrices `x` is the transpose, and the rotations are those of the matrix itself.
    """
    columns = x.shape[-1]
    if x.shape[-2] == columns:
        identity = np.broadcast_to(np.eye(columns), x.shape)
        u, _, values = _jacobi(x, identity, identity)
        return _sorted(u, values), x[:, :, columns:]
    q, r, permutation = _pivoted_qr(x)
    if is_wide:
        _, u, values = _jacobi(np.swapaxes(r, -1, -2), permutation, q[:, :, :columns])
    else:
        u, _, values = _jacobi(r, q[:, :, :columns], permutation)
    return _sorted(u, values), q[:, :, columns:]


def _sorted(vectors: Array, values: Array) -> Array:
    order = np.argsort(-values, axis=-1, kind="stable")
    return np.take_along_axis(vectors, order[:, None, :], axis=-1)


def _pivoted_qr(x: Array) -> tuple[Array, Array, Array]:
    """Householder's QR decomposition of tall matrices, the column with the largest rest first.

    Returns:
        `(q, r, permutation)`: (batch, m, m), (batch, n, n), and permutation matrices.
    """
    work = np.array(x)
    batch, rows, columns = work.shape
    which = np.arange(batch)
    q = np.broadcast_to(np.eye(rows), (batch, rows, rows)).copy()
    order = np.broadcast_to(np.arange(columns), (batch, columns)).copy()
    for k in range(columns):
        largest = k + np.argmax(np.sum(work[:, k:, k:] ** 2, axis=1), axis=1)
        for part in (np.swapaxes(work, 1, 2), order):
            part[which, k], part[which, largest] = part[which, largest].copy(), part[which, k].copy()
        head, tail = work[:, k, k].copy(), work[:, k + 1 :, k].copy()
        norm = np.sqrt(head**2 + np.sum(tail**2, axis=1))
        moves = np.sum(tail**2, axis=1) > np.finfo(np.float64).tiny
        beta = np.where(head >= 0, -norm, norm)
        with np.errstate(all="ignore"):
            essential = np.where(moves[:, None], tail / (head - beta)[:, None], 0)
            tau = np.where(moves, (beta - head) / beta, 0)
        vector = np.concatenate([np.ones((batch, 1)), essential], axis=1)
        work[:, k:, :] -= (tau[:, None] * vector)[..., None] * (vector[:, None, :] @ work[:, k:, :])
        q[:, :, k:] -= (q[:, :, k:] @ vector[..., None]) * (tau[:, None] * vector)[:, None, :]
    permutation = np.zeros((batch, columns, columns))
    permutation[which[:, None], order, np.arange(columns)] = 1
    return q, np.triu(work[:, :columns]), permutation


def _jacobi(work: Array, u: Array, v: Array) -> tuple[Array, Array, Array]:
    """Rotates square matrices to diagonal ones; u and v gather the rotations."""
    work, u, v = np.array(work), np.array(u), np.array(v)
    size = work.shape[-1]
    index = np.arange(size)
    largest = np.max(np.abs(work[:, index, index]), axis=1, initial=0)
    precision = 2 * np.finfo(np.float64).eps
    for _ in range(_SWEEPS):
        is_done = True
        for p in range(1, size):
            for q in range(p):
                threshold = np.maximum(precision * largest, np.finfo(np.float64).tiny)
                turn = (np.abs(work[:, p, q]) > threshold) | (np.abs(work[:, q, p]) > threshold)
                if not np.any(turn):
                    continue
                is_done = False
                left, right = _angles(work[:, [[p, p], [q, q]], [[p, q], [p, q]]], turn)
                _rotate(np.swapaxes(work, 1, 2), p, q, left)
                _rotate(u, p, q, left)
                _rotate(work, p, q, (right[0], -right[1]))
                _rotate(v, p, q, (right[0], -right[1]))
                here = np.maximum(np.abs(work[:, p, p]), np.abs(work[:, q, q]))
                largest = np.where(turn, np.maximum(largest, here), largest)
        if is_done:
            break
    diagonal = work[:, index, index]
    u *= np.where(diagonal < 0, -1, 1)[:, None, :]
    return u, v, np.abs(diagonal)


def _angles(m: Array, turn: Array) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Cosine and sine of the rotations from the left and right that make 2 x 2 matrices diagonal."""
    tiny = np.finfo(np.float64).tiny
    with np.errstate(all="ignore"):
        t, d = m[:, 0, 0] + m[:, 1, 1], m[:, 1, 0] - m[:, 0, 1]
        ratio = t / d
        root = np.sqrt(1 + ratio * ratio)
        flat = np.abs(d) < tiny
        c1, s1 = np.where(flat, 1, ratio / root), np.where(flat, 0, 1 / root)
        x = c1 * m[:, 0, 0] + s1 * m[:, 1, 0]
        y = c1 * m[:, 0, 1] + s1 * m[:, 1, 1]
        z = -s1 * m[:, 0, 1] + c1 * m[:, 1, 1]
        tau = (x - z) / (2 * np.abs(y))
        w = np.sqrt(tau * tau + 1)
        tangent = np.where(tau > 0, 1 / (tau + w), 1 / (tau - w))
        n = 1 / np.sqrt(tangent * tangent + 1)
        plain = 2 * np.abs(y) < tiny
        c2 = np.where(plain, 1, n)
        s2 = np.where(plain, 0, -np.sign(tangent) * np.sign(y) * np.abs(tangent) * n)
    # the first rotation times the second one, transposed
    left = c1 * c2 + s1 * s2, s1 * c2 - c1 * s2
    return (
        (np.where(turn, left[0], 1), np.where(turn, left[1], 0)),
        (np.where(turn, c2, 1), np.where(turn, s2, 0)),
    )


def _rotate(x: Array, p: int, q: int, angle: tuple[Array, Array]) -> None:
    """Columns p and q of each matrix turned in their plane."""
    c, s = (part[:, None] for part in angle)
    first, second = x[:, :, p].copy(), x[:, :, q].copy()
    x[:, :, p], x[:, :, q] = c * first + s * second, c * second - s * first
