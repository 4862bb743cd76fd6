"""The one table of dtypes: TensorFlow's number, names, size and NumPy equivalent.

Source: `tensorflow/core/framework/types.proto` (numbers) and the storage rules of TensorFlow's
checkpoints (sizes: int4 and uint4 take one byte an element; strings and variants have no fixed
size). A reference dtype (`float32_ref`) is the base number plus 100. NumPy is imported only when
an array dtype is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

from .errors import InvalidTypeError, did_you_mean

REF_OFFSET = 100


@dataclass(frozen=True, slots=True)
class DTypeInfo:
    """One dtype.

    Attributes:
        number: `tensorflow.DataType` enum value of the base (non-reference) type.
        name: TensorFlow's Python name, e.g. `float32`; NumPy's, too, where both have the type.
        enum: The enum's identifier in text protos, e.g. `DT_FLOAT`.
        size: Bytes an element in files, or None where elements have no fixed size.
        kind: One of `float`, `int`, `uint`, `bool`, `complex`, `quantized`, `string`, `handle`.
        numpy_name: What `numpy.dtype` (or `ml_dtypes`) calls the array element type.
        field: The typed field of TensorProto that holds values of this type.
    """

    number: int
    name: str
    enum: str
    size: int | None
    kind: str
    numpy_name: str
    field: str

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype of arrays in memory; `object` for strings, resources and variants."""
        return _numpy_dtype(self.numpy_name)


_ROWS = (
    DTypeInfo(1, "float32", "DT_FLOAT", 4, "float", "float32", "float_val"),
    DTypeInfo(2, "float64", "DT_DOUBLE", 8, "float", "float64", "double_val"),
    DTypeInfo(3, "int32", "DT_INT32", 4, "int", "int32", "int_val"),
    DTypeInfo(4, "uint8", "DT_UINT8", 1, "uint", "uint8", "int_val"),
    DTypeInfo(5, "int16", "DT_INT16", 2, "int", "int16", "int_val"),
    DTypeInfo(6, "int8", "DT_INT8", 1, "int", "int8", "int_val"),
    DTypeInfo(7, "string", "DT_STRING", None, "string", "object", "string_val"),
    DTypeInfo(8, "complex64", "DT_COMPLEX64", 8, "complex", "complex64", "scomplex_val"),
    DTypeInfo(9, "int64", "DT_INT64", 8, "int", "int64", "int64_val"),
    DTypeInfo(10, "bool", "DT_BOOL", 1, "bool", "bool", "bool_val"),
    DTypeInfo(11, "qint8", "DT_QINT8", 1, "quantized", "int8", "int_val"),
    DTypeInfo(12, "quint8", "DT_QUINT8", 1, "quantized", "uint8", "int_val"),
    DTypeInfo(13, "qint32", "DT_QINT32", 4, "quantized", "int32", "int_val"),
    DTypeInfo(14, "bfloat16", "DT_BFLOAT16", 2, "float", "ml_dtypes.bfloat16", "half_val"),
    DTypeInfo(15, "qint16", "DT_QINT16", 2, "quantized", "int16", "int_val"),
    DTypeInfo(16, "quint16", "DT_QUINT16", 2, "quantized", "uint16", "int_val"),
    DTypeInfo(17, "uint16", "DT_UINT16", 2, "uint", "uint16", "int_val"),
    DTypeInfo(18, "complex128", "DT_COMPLEX128", 16, "complex", "complex128", "dcomplex_val"),
    DTypeInfo(19, "float16", "DT_HALF", 2, "float", "float16", "half_val"),
    DTypeInfo(20, "resource", "DT_RESOURCE", None, "handle", "object", "resource_handle_val"),
    DTypeInfo(21, "variant", "DT_VARIANT", None, "handle", "object", "variant_val"),
    DTypeInfo(22, "uint32", "DT_UINT32", 4, "uint", "uint32", "uint32_val"),
    DTypeInfo(23, "uint64", "DT_UINT64", 8, "uint", "uint64", "uint64_val"),
    DTypeInfo(24, "float8_e5m2", "DT_FLOAT8_E5M2", 1, "float", "ml_dtypes.float8_e5m2", "float8_val"),
    DTypeInfo(25, "float8_e4m3fn", "DT_FLOAT8_E4M3FN", 1, "float", "ml_dtypes.float8_e4m3fn", "float8_val"),
    DTypeInfo(29, "int4", "DT_INT4", 1, "int", "ml_dtypes.int4", "int_val"),
    DTypeInfo(30, "uint4", "DT_UINT4", 1, "uint", "ml_dtypes.uint4", "int_val"),
)

BY_NUMBER: dict[int, DTypeInfo] = {row.number: row for row in _ROWS}
BY_NAME: dict[str, DTypeInfo] = {row.name: row for row in _ROWS} | {row.enum: row for row in _ROWS}
BY_NAME |= {"float": BY_NUMBER[1], "double": BY_NUMBER[2], "half": BY_NUMBER[19]}


def from_number(number: int) -> DTypeInfo:
    """The row of a `tensorflow.DataType` value; a reference number gives its base row.

    Raises:
        InvalidTypeError: No such number.
    """
    row = BY_NUMBER.get(number - REF_OFFSET if number > REF_OFFSET else number)
    if row is None:
        raise InvalidTypeError(f"{number} is not the number of a TensorFlow dtype.", number=number)
    return row


def from_name(name: str) -> DTypeInfo:
    """The row of a name (`float32`) or enum identifier (`DT_FLOAT`).

    Raises:
        InvalidTypeError: No such name; the message has the nearest ones.
    """
    row = BY_NAME.get(name)
    if row is None:
        raise InvalidTypeError(f"'{name}' is not a dtype.{did_you_mean(name, BY_NAME)}", name=name)
    return row


def name_of(number: int) -> str:
    """TensorFlow's name of a dtype number for display, with `_ref` for references; never fails."""
    row = BY_NUMBER.get(number - REF_OFFSET if number > REF_OFFSET else number)
    if row is None:
        return "unknown" if number == 0 else f"dtype {number}"
    return row.name + ("_ref" if number > REF_OFFSET else "")


def from_numpy(dtype: Any) -> DTypeInfo:
    """The row of a NumPy dtype, scalar type or dtype name; strings of any kind are `string`.

    Raises:
        InvalidTypeError: TensorFlow has no such element type.
    """
    import numpy as np

    resolved = np.dtype(dtype)
    if resolved.kind in "SUO":
        return BY_NAME["string"]
    row = BY_NAME.get(resolved.name)
    if row is None:
        raise InvalidTypeError(f"NumPy dtype {resolved} has no TensorFlow equivalent.", name=str(resolved))
    return row


@cache
def _numpy_dtype(name: str) -> np.dtype[Any]:
    import numpy as np

    if name.startswith("ml_dtypes."):
        import ml_dtypes

        name = getattr(ml_dtypes, name.removeprefix("ml_dtypes."))
    dtype: np.dtype[Any] = np.dtype(name)
    return dtype
