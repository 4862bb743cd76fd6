"""`tf.linalg.LinearOperator`: matrices, and batches of them, that know what is special about them.

The base computes everything from the dense matrix; `linear_operators.py` has what is cheaper than that.

Source: tensorflow/python/ops/linalg/linear_operator.py (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

from .checks import assert_near
from .convert import convert_to_tensor
from .default import name_scope
from .dtypes import as_dtype
from .errors import InvalidValueError
from .op import raw_ops
from .operation import Tensor
from .ops.array_functions import broadcast_dynamic_shape
from .ops.array_shape import broadcast_to, tf_shape
from .ops.control_flow import tf_assert
from .ops.linalg import matmul
from .ops.math_unary import tf_abs
from .ops.matrix_diag import matrix_diag_part
from .ops.reduction import reduce_all, reduce_sum
from .tensor_shape import TensorShape


class LinearOperator:
    """A linear map between spaces of finite dimension: a matrix, or a batch of matrices.

    A subclass defines `_shape`, `_shape_tensor` and `_to_dense`, and whatever it computes faster.

    Args:
        dtype: The dtype of the entries.
        graph_parents: The tensors that it is made of.
        is_non_singular: Whether it is known to have an inverse (or not to); None where it is not known.
        is_self_adjoint: Whether it is known to equal its conjugate transpose.
        is_positive_definite: Whether x^H A x is known to have a positive real part for each x but zero.
        is_square: Whether it is known to be square.
        name: The name of the operations that it makes.

    Raises:
        ValueError: The hints contradict each other.
    """

    def __init__(
        self,
        dtype: Any,
        graph_parents: Any = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        if is_positive_definite and is_non_singular is False:
            raise InvalidValueError("A positive definite matrix is always non-singular.")
        is_non_singular = True if is_positive_definite else is_non_singular
        if is_square is False and is_non_singular:
            raise InvalidValueError("A non-singular matrix is always square.")
        if is_square is False and is_self_adjoint:
            raise InvalidValueError("A self-adjoint matrix is always square.")
        self._is_square_hint = True if is_non_singular or is_self_adjoint else is_square
        self._dtype = as_dtype(dtype)
        self._graph_parents = list(graph_parents or [])
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._name = name or type(self).__name__

    # What is known of it

    @property
    def dtype(self) -> Any:
        """The dtype of the entries."""
        return self._dtype

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def graph_parents(self) -> list[Any]:
        """The tensors that it is made of."""
        return self._graph_parents

    @property
    def is_non_singular(self) -> bool | None:
        """Whether it has an inverse; None where that is not known."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """Whether it equals its conjugate transpose; None where that is not known."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """Whether it is positive definite; None where that is not known."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether it is square; None where that is not known.

        Raises:
            ValueError: The static shape contradicts the hint.
        """
        rows, columns = self.range_dimension.value, self.domain_dimension.value
        if rows is None or columns is None:
            return self._is_square_hint
        if self._is_square_hint is not None and self._is_square_hint != (rows == columns):
            raise InvalidValueError("User provided is_square hint conflicts with static shape.")
        return bool(rows == columns)

    @property
    def shape(self) -> TensorShape:
        """The static shape: that of the batch, then rows and columns."""
        return self._shape()

    @property
    def batch_shape(self) -> TensorShape:
        """The static shape of the batch."""
        shape: TensorShape = self.shape[:-2]
        return shape

    @property
    def tensor_rank(self) -> int | None:
        """The static rank."""
        return self.shape.ndims

    @property
    def domain_dimension(self) -> Any:
        """The static number of columns."""
        return self.shape[-1]

    @property
    def range_dimension(self) -> Any:
        """The static number of rows."""
        return self.shape[-2]

    def _shape(self) -> TensorShape:
        raise NotImplementedError

    def _shape_tensor(self) -> Tensor:
        raise NotImplementedError

    def _to_dense(self) -> Tensor:
        raise NotImplementedError

    def shape_tensor(self, name: str = "shape_tensor") -> Any:
        """The shape as an int32 vector."""
        with name_scope(f"{self._name}/{name}"):
            if self.shape.is_fully_defined():
                return convert_to_tensor(self.shape.as_list(), dtype="int32")
            return self._shape_tensor()

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """The shape of the batch as an int32 vector."""
        return self.shape_tensor(name)[:-2]

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Any:
        """The rank as an int32 scalar."""
        return raw_ops.Size(self.shape_tensor(name))

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Any:
        """The number of columns as an int32 scalar."""
        return self.shape_tensor(name)[-1]

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Any:
        """The number of rows as an int32 scalar."""
        return self.shape_tensor(name)[-2]

    def _check_square(self, what: str) -> None:
        if self.is_square is False:
            raise InvalidValueError(f"{what} not implemented for non-square operators: {self.shape}")

    # What it computes

    def to_dense(self, name: str = "to_dense") -> Any:
        """The matrix as a tensor."""
        with name_scope(f"{self._name}/{name}"):
            return self._to_dense()

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        """The product with a matrix; with another operator, their composition.

        Args:
            x: A tensor (..., columns, n), or a LinearOperator.
            adjoint: Multiply with the conjugate transpose of this one.
            adjoint_arg: Multiply with the conjugate transpose of `x`.
            name: Name of the operations.
        """
        if isinstance(x, LinearOperator):
            from .linear_operators import LinearOperatorComposition

            left = self.adjoint() if adjoint else self
            return LinearOperatorComposition([left, x.adjoint() if adjoint_arg else x])
        with name_scope(f"{self._name}/{name}"):
            tensor = convert_to_tensor(x, preferred_dtype=self._dtype, name="x")
            return self._matmul(tensor, adjoint, adjoint_arg)

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """The product with a vector (..., columns)."""
        with name_scope(f"{self._name}/{name}"):
            tensor = convert_to_tensor(x, preferred_dtype=self._dtype, name="x")
            return raw_ops.Squeeze(self._matmul(tensor[..., None], adjoint, False), squeeze_dims=[-1])

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Any:
        """X such that A X = rhs.

        Args:
            rhs: A tensor (..., rows, n), or a LinearOperator.
            adjoint: Solve with the conjugate transpose of this one.
            adjoint_arg: Take the conjugate transpose of `rhs`.
            name: Name of the operations.

        Raises:
            NotImplementedError: The operator is known to be singular or not square.
        """
        for known, what in ((self.is_non_singular, "singular"), (self.is_square, "not square")):
            if known is False:
                raise NotImplementedError(
                    f"Exact solve not implemented for an operator that is expected to be {what}."
                )
        if isinstance(rhs, LinearOperator):
            left = self.adjoint() if adjoint else self
            return left.inverse().matmul(rhs.adjoint() if adjoint_arg else rhs)
        with name_scope(f"{self._name}/{name}"):
            tensor = convert_to_tensor(rhs, preferred_dtype=self._dtype, name="rhs")
            return self._solve(conjugate_transpose(tensor) if adjoint_arg else tensor, adjoint)

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        matrix, right = same_batch(self._to_dense(), rhs)
        return raw_ops.MatrixSolve(matrix, right, adjoint=adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """X such that A x = rhs, a vector (..., rows)."""
        tensor = convert_to_tensor(rhs, preferred_dtype=self._dtype, name="rhs")
        return raw_ops.Squeeze(self.solve(tensor[..., None], adjoint, name=name), squeeze_dims=[-1])

    def determinant(self, name: str = "det") -> Any:
        """The determinant of each matrix of the batch."""
        self._check_square("Determinant")
        with name_scope(f"{self._name}/{name}"):
            return self._determinant()

    def _determinant(self) -> Any:
        return raw_ops.MatrixDeterminant(self._to_dense())

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        """The logarithm of the absolute value of the determinant."""
        self._check_square("Determinant")
        with name_scope(f"{self._name}/{name}"):
            return self._log_abs_determinant()

    def _log_abs_determinant(self) -> Any:
        return raw_ops.LogMatrixDeterminant(self._to_dense())[1]

    def diag_part(self, name: str = "diag_part") -> Any:
        """The diagonal (..., min(rows, columns))."""
        with name_scope(f"{self._name}/{name}"):
            return self._diag_part()

    def _diag_part(self) -> Any:
        return matrix_diag_part(self._to_dense())

    def trace(self, name: str = "trace") -> Any:
        """The sum of the diagonal."""
        with name_scope(f"{self._name}/{name}"):
            return reduce_sum(self._diag_part(), axis=-1)

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Any:
        """The matrix plus a tensor."""
        with name_scope(f"{self._name}/{name}"):
            return self._to_dense() + convert_to_tensor(x, preferred_dtype=self._dtype, name="x")

    # Other operators

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The conjugate transpose, as an operator."""
        if self._is_self_adjoint:
            return self
        from .linear_operators import LinearOperatorAdjoint

        return LinearOperatorAdjoint(self)

    @property
    def H(self) -> LinearOperator:
        """The conjugate transpose, as an operator."""
        return self.adjoint()

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The inverse, as an operator.

        Raises:
            ValueError: It is known to be singular or not square.
        """
        if self.is_square is False or self.is_non_singular is False:
            raise InvalidValueError("Cannot take the Inverse: This operator is not square, or is singular.")
        from .linear_operators import LinearOperatorInversion

        return LinearOperatorInversion(self)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The Cholesky factor, a lower triangular operator.

        Raises:
            ValueError: It is not known to be positive definite and self-adjoint.
        """
        if not (self._is_positive_definite and self._is_self_adjoint):
            raise InvalidValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix."
            )
        from .linear_operators import LinearOperatorLowerTriangular

        with name_scope(f"{self._name}/{name}"):
            factor = raw_ops.Cholesky(self._to_dense())
        return LinearOperatorLowerTriangular(
            factor, is_non_singular=True, is_self_adjoint=False, is_square=True
        )

    # Checks

    def assert_non_singular(self, name: str = "assert_non_singular") -> Any:
        """An operation that fails where the matrix has hardly an inverse."""
        with name_scope(f"{self._name}/{name}"):
            values = raw_ops.Svd(self._to_dense(), compute_uv=False).s
            least = values[..., -1] > values[..., 0] * values.dtype.as_numpy_dtype(1e-6)
            return tf_assert(reduce_all(least), ["Singular matrix up to precision epsilon."])

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Any:
        """An operation that fails where the matrix is not its conjugate transpose."""
        with name_scope(f"{self._name}/{name}"):
            dense = self._to_dense()
            return assert_near(
                dense, conjugate_transpose(dense), message="Matrix was not equal to its adjoint."
            )

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Any:
        """An operation that fails where the self-adjoint matrix is not positive definite."""
        with name_scope(f"{self._name}/{name}"):
            if self._is_self_adjoint:
                factor = raw_ops.Cholesky(self._to_dense())
                return tf_assert(
                    reduce_all(tf_abs(matrix_diag_part(factor)) > 0), ["Matrix was not positive definite."]
                )
            raise NotImplementedError("assert_positive_definite is not implemented.")


def conjugate_transpose(matrix: Any) -> Any:
    """The conjugate transpose of each matrix of a batch."""
    from .ops.array_shape import matrix_transpose

    return matrix_transpose(matrix, conjugate=True)


def same_batch(matrix: Any, other: Any) -> tuple[Any, Any]:
    """Two batches of matrices, repeated so that both have one shape of the batch."""
    one, two = matrix.get_shape()[:-2], other.get_shape()[:-2]
    if one.is_fully_defined() and two.is_fully_defined() and one.as_list() == two.as_list():
        return matrix, other
    shapes = [tf_shape(each) for each in (matrix, other)]
    batch = broadcast_dynamic_shape(shapes[0][:-2], shapes[1][:-2])
    results = [
        broadcast_to(each, raw_ops.ConcatV2([batch, shape[-2:]], 0))
        for each, shape in zip((matrix, other), shapes)
    ]
    return results[0], results[1]
