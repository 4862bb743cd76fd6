"""Matrices that know what is special about them: diagonal, triangular, products, inverses.

Source: tensorflow/python/ops/linalg/linear_operator_*.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from .convert import convert_to_tensor
from .dtypes import float32
from .errors import InvalidTypeError, InvalidValueError
from .linear_operator import LinearOperator, conjugate_transpose, same_batch
from .op import raw_ops
from .ops.array_create import eye, ones
from .ops.array_shape import tf_shape
from .ops.math_unary import tf_abs
from .ops.matrix_diag import matrix_band_part, matrix_diag
from .ops.reduction import reduce_prod, reduce_sum
from .tensor_shape import TensorShape, broadcast_static_shape


class LinearOperatorFullMatrix(LinearOperator):
    """A matrix (..., rows, columns) without anything special.

    Args:
        matrix: The entries.
        is_non_singular: A hint.
        is_self_adjoint: A hint.
        is_positive_definite: A hint.
        is_square: A hint.
        name: The name.
    """

    def __init__(
        self,
        matrix: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        self._matrix = convert_to_tensor(matrix, name="matrix")
        if self._matrix.get_shape().ndims is not None and self._matrix.get_shape().ndims < 2:
            raise InvalidValueError(
                f"Argument matrix must have at least 2 dimensions.  Found: {self._matrix}"
            )
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(self._matrix.dtype, [self._matrix], *hints, name)

    def _shape(self) -> TensorShape:
        shape: TensorShape = self._matrix.get_shape()
        return shape

    def _shape_tensor(self) -> Any:
        return tf_shape(self._matrix)

    def _to_dense(self) -> Any:
        return self._matrix


class LinearOperatorLowerTriangular(LinearOperatorFullMatrix):
    """The lower triangle of a square matrix.

    Args:
        tril: The entries; those above the diagonal do not count.
        is_non_singular: A hint.
        is_self_adjoint: A hint.
        is_positive_definite: A hint.
        is_square: A hint.
        name: The name.

    Raises:
        ValueError: `is_square` is False.
    """

    def __init__(
        self,
        tril: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        if is_square is False:
            raise InvalidValueError("Only square lower triangular operators supported at this time.")
        super().__init__(tril, is_non_singular, is_self_adjoint, is_positive_definite, True, name)
        self._matrix = matrix_band_part(self._matrix, -1, 0)

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        matrix, right = same_batch(self._matrix, rhs)
        return raw_ops.MatrixTriangularSolve(matrix, right, lower=True, adjoint=adjoint)

    def _determinant(self) -> Any:
        return reduce_prod(self._diag_part(), axis=[-1])

    def _log_abs_determinant(self) -> Any:
        return reduce_sum(raw_ops.Log(tf_abs(self._diag_part())), axis=[-1])


class LinearOperatorDiag(LinearOperator):
    """A square diagonal matrix.

    Args:
        diag: The diagonal (..., n).
        is_non_singular: A hint.
        is_self_adjoint: A hint; True where the dtype is real.
        is_positive_definite: A hint.
        is_square: A hint.
        name: The name.

    Raises:
        ValueError: A hint says that a real diagonal matrix is not self-adjoint, or not square.
    """

    def __init__(
        self,
        diag: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        self._diag = convert_to_tensor(diag, name="diag")
        if self._diag.get_shape().ndims == 0:
            raise InvalidValueError(f"Argument diag must have at least 1 dimension.  Found: {self._diag}")
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise InvalidValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        if is_square is False:
            raise InvalidValueError("Only square diagonal operators currently supported.")
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, True)
        super().__init__(self._diag.dtype, [self._diag], *hints, name)

    @property
    def diag(self) -> Any:
        """The diagonal."""
        return self._diag

    def _shape(self) -> TensorShape:
        shape: TensorShape = self._diag.get_shape()
        return TensorShape(None) if shape.ndims is None else shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Any:
        shape = tf_shape(self._diag)
        return raw_ops.ConcatV2([shape, shape[-1:]], 0)

    def _to_dense(self) -> Any:
        return matrix_diag(self._diag)

    def _conjugated(self, adjoint: bool) -> Any:
        return raw_ops.Conj(self._diag) if adjoint and self.dtype.is_complex else self._diag

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return self._conjugated(adjoint)[..., None] * (conjugate_transpose(x) if adjoint_arg else x)

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        return rhs * raw_ops.Reciprocal(self._conjugated(adjoint))[..., None]

    def _determinant(self) -> Any:
        return reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self) -> Any:
        found = reduce_sum(raw_ops.Log(tf_abs(self._diag)), axis=[-1])
        return raw_ops.Cast(found, DstT=self.dtype) if self.dtype.is_complex else found

    def _diag_part(self) -> Any:
        return self._diag


class LinearOperatorIdentity(LinearOperatorDiag):
    """The identity.

    Args:
        num_rows: The number of rows and columns.
        batch_shape: The shape of the batch, an int32 vector; none by default.
        dtype: The dtype of the entries, float32 by default.
        is_non_singular: A hint.
        is_self_adjoint: A hint.
        is_positive_definite: A hint.
        is_square: A hint.
        name: The name.

    Raises:
        ValueError: A hint is False.
    """

    def __init__(
        self,
        num_rows: Any,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        hints = {
            "self adjoint": is_self_adjoint, "square": is_square, "non-singular": is_non_singular,
            "positive-definite": is_positive_definite,
        }  # fmt: skip
        wrong = [what for what, hint in hints.items() if not hint]
        if wrong:
            raise InvalidValueError(f"An identity operator is always {', '.join(wrong)}.")
        rows = convert_to_tensor(num_rows, dtype="int32", name="num_rows")
        if rows.get_shape().ndims not in (0, None):
            raise InvalidValueError(f"Argument num_rows must be a 0-D Tensor.  Found: {rows}")
        shape = rows[None]
        if batch_shape is not None:
            shape = raw_ops.ConcatV2([convert_to_tensor(batch_shape, dtype="int32"), shape], 0)
        super().__init__(ones(shape, dtype or float32), True, True, True, True, name)
        self._eye = None if batch_shape is not None else rows

    def _to_dense(self) -> Any:
        return super()._to_dense() if self._eye is None else eye(self._eye, dtype=self.dtype)


class LinearOperatorScaledIdentity(LinearOperatorDiag):
    """The identity times a number.

    Args:
        num_rows: The number of rows and columns.
        multiplier: The number, or a batch of numbers.
        is_non_singular: A hint.
        is_self_adjoint: A hint.
        is_positive_definite: A hint.
        is_square: A hint.
        name: The name.
    """

    def __init__(
        self,
        num_rows: Any,
        multiplier: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        self._multiplier = convert_to_tensor(multiplier, name="multiplier")
        rows = convert_to_tensor(num_rows, dtype="int32", name="num_rows")
        diag = self._multiplier[..., None] * ones(rows[None], self._multiplier.dtype)
        super().__init__(diag, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def multiplier(self) -> Any:
        """The number."""
        return self._multiplier


class LinearOperatorComposition(LinearOperator):
    """The product of operators, the last one applied first.

    Args:
        operators: The factors.
        is_non_singular: A hint.
        is_self_adjoint: A hint.
        is_positive_definite: A hint.
        is_square: A hint.
        name: The name; by default those of the factors.

    Raises:
        ValueError: There are none, or their dimensions do not fit.
        TypeError: Their dtypes differ.
    """

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._operators = list(operators)
        if not self._operators:
            raise InvalidValueError(f"Expected a non-empty list of operators. Found: {operators}")
        if len({each.dtype for each in self._operators}) > 1:
            found = ", ".join(f"{each.name}: {each.dtype.name}" for each in self._operators)
            raise InvalidTypeError(f"Expected all operators to have the same dtype.  Found {found}")
        for left, right in zip(self._operators, self._operators[1:]):
            left.domain_dimension.assert_is_compatible_with(right.range_dimension)
        if is_non_singular is None and all(each.is_non_singular for each in self._operators):
            is_non_singular = True
        parents = [tensor for each in self._operators for tensor in each.graph_parents]
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        name = name or "_o_".join(each.name for each in self._operators)
        super().__init__(self._operators[0].dtype, parents, *hints, name)

    @property
    def operators(self) -> list[LinearOperator]:
        """The factors."""
        return self._operators

    def _shape(self) -> TensorShape:
        batch = reduce(broadcast_static_shape, [each.batch_shape for each in self._operators])
        ends = [self._operators[0].range_dimension, self._operators[-1].domain_dimension]
        return batch.concatenate(TensorShape(ends))

    def _shape_tensor(self) -> Any:
        return tf_shape(self._to_dense())

    def _to_dense(self) -> Any:
        *rest, last = self._operators
        return reduce(lambda product, each: each.matmul(product), reversed(rest), last.to_dense())

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        product = conjugate_transpose(x) if adjoint_arg else x
        for each in self._operators if adjoint else reversed(self._operators):
            product = each.matmul(product, adjoint=adjoint)
        return product

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        for each in reversed(self._operators) if adjoint else self._operators:
            rhs = each.solve(rhs, adjoint=adjoint)
        return rhs

    def _determinant(self) -> Any:
        return reduce(
            lambda product, each: product * each.determinant(),
            self._operators[1:],
            self._operators[0].determinant(),
        )

    def _log_abs_determinant(self) -> Any:
        found = [each.log_abs_determinant() for each in self._operators]
        return reduce(lambda total, each: total + each, found)


class _Of(LinearOperator):
    """What is made of one operator."""

    _suffix = ""

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._operator = operator
        given = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        known = (
            operator.is_non_singular, operator.is_self_adjoint, operator.is_positive_definite,
            operator.is_square,
        )  # fmt: skip
        for hint, fact in zip(given, known):
            if hint is not None and fact is not None and hint != fact:
                raise InvalidValueError(f"A hint contradicts the operator {operator.name}.")
        hints = [fact if hint is None else hint for hint, fact in zip(given, known)]
        singular, adjoint, positive, square = hints
        full_name = name or operator.name + self._suffix
        super().__init__(
            operator.dtype, operator.graph_parents, singular, adjoint, positive, square, full_name
        )

    @property
    def operator(self) -> LinearOperator:
        """The operator that it is made of."""
        return self._operator


class LinearOperatorAdjoint(_Of):
    """The conjugate transpose of an operator.

    Args:
        operator: The operator.
        is_non_singular: A hint; by default as of the operator, like the others.
        is_self_adjoint: A hint.
        is_positive_definite: A hint.
        is_square: A hint.
        name: The name.

    Raises:
        ValueError: A hint contradicts that of the operator.
    """

    _suffix = "_adjoint"

    def _shape(self) -> TensorShape:
        shape = self._operator.shape
        return shape if shape.ndims is None else shape[:-2].concatenate([shape[-1], shape[-2]])

    def _shape_tensor(self) -> Any:
        shape = self._operator.shape_tensor()
        return raw_ops.ConcatV2([shape[:-2], shape[-1:], shape[-2:-1]], 0)

    def _to_dense(self) -> Any:
        return conjugate_transpose(self._operator.to_dense())

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        return self._operator.solve(rhs, adjoint=not adjoint)

    def _determinant(self) -> Any:
        found = self._operator.determinant()
        return raw_ops.Conj(found) if self.dtype.is_complex else found

    def _log_abs_determinant(self) -> Any:
        return self._operator.log_abs_determinant()

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The operator itself."""
        return self._operator


class LinearOperatorInversion(_Of):
    """The inverse of an operator.

    Args:
        operator: The operator.
        is_non_singular: A hint; by default as of the operator, like the others.
        is_self_adjoint: A hint.
        is_positive_definite: A hint.
        is_square: A hint.
        name: The name.

    Raises:
        ValueError: A hint contradicts that of the operator.
    """

    _suffix = "_inv"

    def _shape(self) -> TensorShape:
        return self._operator.shape

    def _shape_tensor(self) -> Any:
        return self._operator.shape_tensor()

    def _to_dense(self) -> Any:
        return self._operator.solve(eye(self.domain_dimension_tensor(), dtype=self.dtype))

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        return self._operator.matmul(rhs, adjoint=adjoint)

    def _determinant(self) -> Any:
        return 1.0 / self._operator.determinant()

    def _log_abs_determinant(self) -> Any:
        return -self._operator.log_abs_determinant()

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The operator itself."""
        return self._operator
