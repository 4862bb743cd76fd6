"""Diagonals and bands of matrices, and tensors made of diagonals.

Source: tensorflow/core/ops/array_ops.cc and kernels/matrix_diag_op.cc (r1.15), behaviour only. Several
diagonals are packed as rows, the highest one first, each from its beginning and padded at its end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..dtypes import ANY, INDEX, SIGNED, int64
from ..errors import InvalidArgumentError, InvalidValueError
from ..op import op, raw_ops
from ..shapes import Shape, format_shape, merge, merge_dims, with_rank, with_rank_at_least, with_rank_at_most

_UNDEFINED = "TensorFlow has none for this legacy op"


def _bounds(k: Any, empty: str = "Expected diag_index to have at least 1 element") -> tuple[int, int]:
    """The lowest and highest diagonal that `k` names: a scalar, or one or two numbers."""
    if np.ndim(k) > 1:
        raise InvalidArgumentError(
            f"diag_index must be a scalar or vector, received shape: {format_shape(np.shape(k))}"
        )
    numbers = np.reshape(k, -1).tolist()
    if not numbers:
        raise InvalidArgumentError(empty)
    if not 1 <= len(numbers) <= 2:
        raise InvalidArgumentError(
            f"diag_index must have only one or two elements, received {len(numbers)} elements."
        )
    return numbers[0], numbers[-1]


def _check_order(low: int, high: int) -> None:
    if low > high:
        raise InvalidArgumentError(
            f"lower_diag_index must not be larger than upper_diag_index: {low} > {high}"
        )


def _static_within(low: int, high: int, rows: int, columns: int) -> None:
    for name, index in (("lower", low), ("upper", high)):
        if index != 0 and not -rows < index < columns:
            raise InvalidValueError(f"{name}_diag_index is out of bound.")


def _check_within(low: int, high: int, rows: int, columns: int, lower_stop: str = ".") -> None:
    for name, index, stop in (("lower", low, lower_stop), ("upper", high, "")):
        if index != 0 and not -rows < index < columns:
            raise InvalidArgumentError(
                f"{name}_diag_index is out of bound: {index}{stop} It must be between {-rows} and {columns}"
            )
    _check_order(low, high)


def _longest(low: int, high: int, rows: int, columns: int) -> int:
    return min(rows + min(high, 0), columns - max(low, 0))


def _places(low: int, high: int, rows: int, columns: int) -> tuple[Any, ...]:
    """Where each element of the diagonals is: diagonal, position in it, row, column."""
    parts = []
    for number, offset in enumerate(range(high, low - 1, -1)):
        at = np.arange(max(0, min(rows + min(offset, 0), columns - max(offset, 0))))
        parts.append((np.full_like(at, number), at, at - min(offset, 0), at + max(offset, 0)))
    return tuple(np.concatenate(column) for column in zip(*parts))


def _scalar(value: Any, name: str) -> Any:
    if np.size(value) != 1:
        raise InvalidArgumentError(f"{name} must be scalar.")
    return np.reshape(value, -1)[0]


def _diag(diagonal: Any, k: Any, rows: int, columns: int, padding: Any) -> Any:
    low, high = _bounds(k)
    if diagonal.ndim < 1:
        raise InvalidArgumentError(
            f"diagonal must be at least 1-dim, received shape: {format_shape(diagonal.shape)}"
        )
    _check_order(low, high)
    if low != high and (diagonal.ndim < 2 or diagonal.shape[-2] != high - low + 1):
        raise InvalidArgumentError(
            "The number of diagonals provided in the input does not match the lower_diag_index and "
            "upper_diag_index range."
        )
    rows, columns = _extent(diagonal.shape[-1], low, high, rows, columns, InvalidArgumentError)
    packed = diagonal if low != high else diagonal[..., None, :]
    result = np.full((*packed.shape[:-2], rows, columns), padding, diagonal.dtype)
    number, at, row, column = _places(low, high, rows, columns)
    result[..., row, column] = packed[..., number, at]
    return result


def _extent(
    longest: int, low: int, high: int, rows: int, columns: int, error: type[Exception]
) -> tuple[int, int]:
    """The matrix's rows and columns; -1: as few as hold the diagonals, both: square."""
    least = longest - min(high, 0), longest + max(low, 0)
    if rows != -1 and rows < least[0]:
        raise error("The number of rows is too small.")
    if columns != -1 and columns < least[1]:
        raise error("The number of columns is too small.")
    if rows == columns == -1:
        rows = columns = max(least)
    elif rows == -1:
        rows = least[0]
    elif columns == -1:
        columns = least[1]
    if rows != least[0] and columns != least[1]:
        raise error(
            "The number of rows or columns is not consistent with the specified d_lower, d_upper, and "
            "diagonal."
        )
    return rows, columns


def _zero(dtype: Any) -> Any:
    return b"" if dtype.kind == "O" else dtype.type(0)


def _diag_part(input: Any, k: Any, padding: Any) -> Any:
    low, high = _bounds(k)
    if input.ndim < 2:
        raise InvalidArgumentError(
            f"input must be at least 2-dim, received shape: {format_shape(input.shape)}"
        )
    rows, columns = input.shape[-2:]
    _check_within(low, high, rows, columns)
    packed = np.full(
        (*input.shape[:-2], high - low + 1, _longest(low, high, rows, columns)), padding, input.dtype
    )
    number, at, row, column = _places(low, high, rows, columns)
    packed[..., number, at] = input[..., row, column]
    return packed if low != high else packed[..., 0, :]


def _set_diag(input: Any, diagonal: Any, k: Any) -> Any:
    low, high = _bounds(k, "diag_index must have at least one element")
    if input.ndim < 2:
        raise InvalidArgumentError(
            f"input must be at least 2-dim, received shape: {format_shape(input.shape)}"
        )
    if diagonal.ndim < 1:
        raise InvalidArgumentError(
            f"diagonal must be at least 1-dim, received shape: {format_shape(diagonal.shape)}"
        )
    rows, columns = input.shape[-2:]
    _check_within(low, high, rows, columns, "")
    count = () if low == high else (high - low + 1,)
    expected = (*input.shape[:-2], *count, _longest(low, high, rows, columns))
    if diagonal.shape != expected:
        raise InvalidArgumentError(
            "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not "
            "equal to the longests diagonal in range [lower_diag_index:upper_diag_index].\n"
            f"Input shape: {format_shape(input.shape)}\nDiagonal shape: {format_shape(diagonal.shape)}\n"
            f"Expected diagonal shape: {format_shape(expected)}"
        )
    result = np.array(input)
    number, at, row, column = _places(low, high, rows, columns)
    result[..., row, column] = (diagonal if low != high else diagonal[..., None, :])[..., number, at]
    return result


# Shape rules


def _static_bounds(node: Any, index: int) -> tuple[int, int] | None:
    value = node.value(index)
    if value is None:
        return None
    with_rank_at_most(np.shape(value), 1)
    if not 1 <= value.size <= 2:
        raise InvalidValueError(
            f"diag_index must be a vector with one or two elements. It has {value.size} elements."
        )
    low, high = value.reshape(-1)[[0, -1]].tolist()
    if low > high:
        raise InvalidValueError("lower_diag_index is greater than upper_diag_index")
    return low, high


def _square_shape(node: Any) -> Shape:
    """Of MatrixDiag: the last dimension twice."""
    shape = with_rank_at_least(node.shape(0), 1)
    return None if shape is None else (*shape, shape[-1])


def _shorter_side(node: Any) -> Shape:
    """Of MatrixDiagPart: the shorter of the last two dimensions."""
    shape = with_rank_at_least(node.shape(0), 2)
    if shape is None:
        return None
    return (*shape[:-2], None if None in shape[-2:] else min(shape[-2:]))  # type: ignore[type-var]


def _set_shape(node: Any) -> Shape:
    shape = with_rank_at_least(node.shape(0), 2)
    diagonal = with_rank_at_least(node.shape(1), 1)
    if diagonal is None:
        return shape
    if shape is None:
        return (*diagonal[:-1], None, None)
    with_rank(diagonal, len(shape) - 1)
    rest = merge(shape[:-2], diagonal[:-1])
    rows, columns = shape[-2:]
    if rows is not None and columns is not None:
        merge_dims(min(rows, columns), diagonal[-1])
    return None if rest is None else (*rest, rows, columns)


# name: the legacy op of the same effect, which has no gradient
for _name, _legacy in (("MatrixDiag", False), ("BatchMatrixDiag", True)):

    @op(_name, "diagonal: T -> output: T", T=ANY, undefined_grad=_UNDEFINED if _legacy else None)
    def matrix_diag_op(diagonal: Any) -> Any:
        """Square matrices with the last dimension on their diagonals."""
        return _diag(diagonal, 0, -1, -1, _zero(diagonal.dtype))

    matrix_diag_op.shape(_square_shape)

    @op(
        _name + "Part",
        "input: T -> diagonal: T",
        T=ANY,
        undefined_grad=_UNDEFINED if _legacy else None,
    )
    def matrix_diag_part_op(input: Any) -> Any:
        """The main diagonals of matrices."""
        return _diag_part(input, 0, _zero(input.dtype))

    matrix_diag_part_op.shape(_shorter_side)

    @op(
        _name.replace("Diag", "SetDiag"),
        "input: T, diagonal: T -> output: T",
        T=ANY,
        undefined_grad=_UNDEFINED if _legacy else None,
    )
    def matrix_set_diag_op(input: Any, diagonal: Any) -> Any:
        """The matrices with other main diagonals."""
        return _set_diag(input, diagonal, 0)

    matrix_set_diag_op.shape(_set_shape)

    if not _legacy:
        matrix_diag_op.grad(lambda node, dy: raw_ops.MatrixDiagPart(dy))

        @matrix_diag_part_op.grad
        def _(node: Any, dy: Any) -> Any:
            shape = node.inputs[0].static_shape
            if shape is not None and None not in shape[-2:] and shape[-2] == shape[-1]:
                return raw_ops.MatrixDiag(dy)
            return raw_ops.MatrixSetDiag(raw_ops.ZerosLike(node.inputs[0]), dy)

        @matrix_set_diag_op.grad
        def _(node: Any, dy: Any) -> Any:
            zeros = raw_ops.ZerosLike(node.inputs[1])
            return raw_ops.MatrixSetDiag(dy, zeros), raw_ops.MatrixDiagPart(dy)


@op(
    "MatrixDiagV2",
    "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T",
    T=ANY,
)
def matrix_diag_v2(diagonal: Any, k: Any, num_rows: Any, num_cols: Any, padding_value: Any) -> Any:
    """Matrices with given diagonals, between the numbers in k, and padding elsewhere."""
    rows, columns = (int(_scalar(size, "Size")) for size in (num_rows, num_cols))
    return _diag(diagonal, k, rows, columns, _scalar(padding_value, "Padding"))


@matrix_diag_v2.shape
def _(node: Any) -> Shape:
    shape, bounds = with_rank_at_least(node.shape(0), 1), _static_bounds(node, 1)
    if shape is None or bounds is None:
        return None
    low, high = bounds
    batch = shape[:-1] if low == high else shape[:-2]
    sizes = [node.value(index) for index in (2, 3)]
    if shape[-1] is None or any(size is None for size in sizes):
        return (*batch, *(None if size is None or size == -1 else int(size) for size in sizes))
    return (*batch, *_extent(shape[-1], low, high, int(sizes[0]), int(sizes[1]), InvalidValueError))


matrix_diag_v2.grad(
    lambda node, dy: [
        raw_ops.MatrixDiagPartV2(dy, node.inputs[1], _const(0, dy)),
        None,
        None,
        None,
        None,
    ]
)


def _const(value: float, like: Any) -> Any:
    return convert_to_tensor(value, like.dtype.base_dtype)


@op("MatrixDiagPartV2", "input: T, k: int32, padding_value: T -> diagonal: T", T=ANY)
def matrix_diag_part_v2(input: Any, k: Any, padding_value: Any) -> Any:
    """The diagonals of matrices between the numbers in k, padded at their ends."""
    return _diag_part(input, k, _scalar(padding_value, "Padding"))


@matrix_diag_part_v2.shape
def _(node: Any) -> Shape:
    shape, bounds = with_rank_at_least(node.shape(0), 2), _static_bounds(node, 1)
    if shape is None or bounds is None:
        return None
    low, high = bounds
    count = () if low == high else (high - low + 1,)
    rows, columns = shape[-2:]
    if rows is None or columns is None:
        return (*shape[:-2], *count, None)
    _static_within(low, high, rows, columns)
    return (*shape[:-2], *count, _longest(low, high, rows, columns))


@matrix_diag_part_v2.grad
def _(node: Any, dy: Any) -> Any:
    x, k, _ = node.inputs
    shape = x.static_shape
    if shape is not None and None not in shape[-2:]:
        rows, columns = shape[-2:]
        return raw_ops.MatrixDiagV2(dy, k, rows, columns, _const(0, dy)), None, None
    return raw_ops.MatrixSetDiagV2(raw_ops.ZerosLike(x), dy, k), None, None


@op("MatrixSetDiagV2", "input: T, diagonal: T, k: int32 -> output: T", T=ANY)
def matrix_set_diag_v2(input: Any, diagonal: Any, k: Any) -> Any:
    """The matrices with other diagonals between the numbers in k."""
    return _set_diag(input, diagonal, k)


@matrix_set_diag_v2.shape
def _(node: Any) -> Shape:
    shape, diagonal = with_rank_at_least(node.shape(0), 2), with_rank_at_least(node.shape(1), 1)
    k, bounds = with_rank_at_most(node.shape(2), 1), _static_bounds(node, 2)
    is_one = None if bounds is None else bounds[0] == bounds[1]
    if shape is not None:
        rank = len(shape)
        if is_one is None:
            with_rank_at_most(with_rank_at_least(diagonal, rank - 1), rank)
        else:
            diagonal = with_rank(diagonal, rank - is_one)
        rows, columns = shape[-2:]
        if bounds is not None and rows is not None and columns is not None:
            _static_within(*bounds, rows, columns)
        if is_one is None and diagonal is not None:
            is_one = len(diagonal) < rank
        if None not in shape:
            return shape
    elif k in ((), (1,)):
        is_one = True
    if diagonal is None or is_one is None:  # where TensorFlow counts the diagonals of a band as a batch
        return shape
    return merge(shape, (*(diagonal[:-1] if is_one else diagonal[:-2]), None, None))


@matrix_set_diag_v2.grad
def _(node: Any, dy: Any) -> Any:
    _, diagonal, k = node.inputs
    zeros = raw_ops.ZerosLike(diagonal)
    return raw_ops.MatrixSetDiagV2(dy, zeros, k), raw_ops.MatrixDiagPartV2(dy, k, _const(0, dy)), None


@op("Diag", "diagonal: T -> output: T", T=SIGNED)
def diag(diagonal: Any) -> Any:
    """A tensor of twice the rank with the input where both halves of the position are equal."""
    if diagonal.ndim < 1:
        raise InvalidArgumentError(f"Input must be at least rank 1, got {diagonal.ndim}")
    return np.diag(diagonal.ravel()).reshape(diagonal.shape * 2)


@diag.shape
def _(node: Any) -> Shape:
    shape = with_rank_at_least(node.shape(0), 1)
    return None if shape is None else shape * 2


@op("DiagPart", "input: T -> diagonal: T", T=SIGNED)
def diag_part(input: Any) -> Any:
    """The elements where both halves of the position are equal, of a tensor of even rank."""
    half = input.ndim // 2
    if input.ndim % 2 or not half:
        raise InvalidArgumentError(
            f"The rank of the tensor should be even and positive, got shape {format_shape(input.shape)}"
        )
    for axis in range(half):
        if input.shape[axis] != input.shape[axis + half]:
            raise InvalidArgumentError(
                f"Invalid shape {format_shape(input.shape)}: dimensions {axis} and {axis + half} do not "
                "match."
            )
    size = int(np.prod(input.shape[:half]))
    return np.diagonal(input.reshape(size, size)).reshape(input.shape[:half]).copy()


@diag_part.shape
def _(node: Any) -> Shape:
    shape = node.shape(0)
    if shape is None:
        return None
    if len(shape) % 2 or not shape:
        raise InvalidValueError(f"Input must have even and non-zero rank, input rank is {len(shape)}")
    half = len(shape) // 2
    return tuple(merge_dims(a, b) for a, b in zip(shape[:half], shape[half:]))


diag.grad(lambda node, dy: raw_ops.DiagPart(dy))
diag_part.grad(lambda node, dy: raw_ops.Diag(dy))


def _band_part(input: Any, num_lower: Any, num_upper: Any) -> Any:
    """The matrices with zeros outside a band of some diagonals below and above; negative numbers: all."""
    if input.ndim < 2:
        raise InvalidArgumentError(
            f"input must be at least 2-dim, received shape: {format_shape(input.shape)}"
        )
    rows, columns = input.shape[-2:]
    numbers = []
    for name, number, size in (("num_lower", num_lower, rows), ("num_upper", num_upper, columns)):
        if np.ndim(number):
            raise InvalidArgumentError(f"{name} must be scalar, got shape {format_shape(np.shape(number))}")
        if number > size:
            raise InvalidArgumentError(
                f"{name} must be negative or less or equal to number of "
                f"{'rows' if name == 'num_lower' else 'columns'} ({size}) got: {int(number)}"
            )
        numbers.append(int(number))
    distance = np.arange(columns) - np.arange(rows)[:, None]
    inside = np.ones((rows, columns), bool)
    if numbers[0] >= 0:
        inside &= distance >= -numbers[0]
    if numbers[1] >= 0:
        inside &= distance <= numbers[1]
    return np.where(inside, input, _zero(input.dtype)).astype(input.dtype)


matrix_band_part = op(
    "MatrixBandPart",
    "input: T, num_lower: Tindex, num_upper: Tindex -> band: T",
    T=ANY,
    Tindex=(INDEX, int64),
)(_band_part)
batch_matrix_band_part = op(
    "BatchMatrixBandPart",
    "input: T, num_lower: int64, num_upper: int64 -> band: T",
    T=ANY,
    undefined_grad=_UNDEFINED,
)(_band_part)
matrix_band_part.grad(lambda node, dy: [raw_ops.MatrixBandPart(dy, *node.inputs[1:]), None, None])


@matrix_band_part.shape
@batch_matrix_band_part.shape
def _(node: Any) -> Shape:
    for index in (1, 2):
        with_rank(node.shape(index), 0)
    return with_rank_at_least(node.shape(0), 2)


# TensorFlow's Python functions


def _is_number(value: Any, number: int) -> bool:
    return isinstance(value, (int, float, bool, np.number)) and value == number


def _padding(value: Any, tensor: Any) -> Any:
    return (
        value
        if hasattr(value, "op")
        else convert_to_tensor(np.array(value, tensor.dtype.as_numpy_dtype), tensor.dtype.base_dtype)
    )


def matrix_diag(
    diagonal: Any,
    name: str = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
) -> Any:
    """`tf.matrix_diag`: matrices with given diagonals.

    Args:
        diagonal: The diagonals: in the last dimension, or several of them in the last two.
        name: Name of the operation.
        k: The number of the diagonal, or the lowest and the highest one.
        num_rows: Rows of the matrices; -1: as few as hold the diagonals.
        num_cols: Columns of the matrices; -1 likewise.
        padding_value: What is elsewhere.
    """
    diagonal = convert_to_tensor(diagonal, name="diagonal")
    if all(_is_number(*pair) for pair in ((k, 0), (num_rows, -1), (num_cols, -1), (padding_value, 0))):
        return raw_ops.MatrixDiag(diagonal, name=name)
    return matrix_diag_v2(diagonal, k, num_rows, num_cols, _padding(padding_value, diagonal), name=name)


def matrix_diag_part(input: Any, name: str = "diag_part", k: Any = 0, padding_value: Any = 0) -> Any:
    """`tf.matrix_diag_part`: diagonals of matrices; `k` as in `matrix_diag`, short ones padded."""
    input = convert_to_tensor(input, name="input")
    if _is_number(k, 0) and _is_number(padding_value, 0):
        return raw_ops.MatrixDiagPart(input, name=name)
    return matrix_diag_part_v2(input, k, _padding(padding_value, input), name=name)


def matrix_set_diag(input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0) -> Any:
    """`tf.matrix_set_diag`: matrices with other diagonals; `k` as in `matrix_diag`."""
    if _is_number(k, 0):
        return raw_ops.MatrixSetDiag(input, diagonal, name=name)
    return matrix_set_diag_v2(input, diagonal, k, name=name)


def trace(x: Any, name: str | None = None) -> Any:
    """`tf.trace`: the sum of the main diagonal of each matrix."""
    from ..default import name_scope

    with name_scope(name, "Trace", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return raw_ops.Sum(matrix_diag_part(x), [-1], name=scope)


def tensor_diag_part(input: Any, name: str | None = None) -> Any:
    """`tf.diag_part`: the elements where both halves of the position are equal."""
    return diag_part(input, name=name)
