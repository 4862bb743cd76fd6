"""`tf.DType` and the dtype constants (`tf.float32`, ...), over the table in `formats.dtypes`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formats import dtypes as table
from ..formats.errors import did_you_mean
from .errors import InvalidTypeError


class DType:
    """The element type of a tensor; one object per type, compared by TensorFlow's enum value.

    Attributes:
        as_datatype_enum: The `tensorflow.DataType` number; references are the base plus 100.
        name: `float32`, or `float32_ref` for a reference.
    """

    __slots__ = ("_info", "_is_ref_dtype", "as_datatype_enum", "name", "np")

    _info: table.DTypeInfo
    _is_ref_dtype: bool
    as_datatype_enum: int
    name: str
    np: np.dtype[Any]

    def __new__(cls, type_enum: int) -> DType:
        """The DType of a `tensorflow.DataType` number.

        Raises:
            TypeError: There is none of that number.
        """
        made = _BY_NUMBER.get(type_enum)
        if made is None:
            info = table.BY_NUMBER.get(type_enum % table.REF_OFFSET if isinstance(type_enum, int) else -1)
            if info is None or type_enum > 2 * table.REF_OFFSET:
                raise InvalidTypeError(f"type_enum is not a valid types_pb2.DataType: {type_enum!r}")
            made = _BY_NUMBER[type_enum] = super().__new__(cls)
            made._info = info
            made._is_ref_dtype = type_enum > table.REF_OFFSET
            made.as_datatype_enum = type_enum
            made.name = info.name + ("_ref" if made._is_ref_dtype else "")
            made.np = info.numpy
        return made

    @property
    def base_dtype(self) -> DType:
        """The non-reference dtype."""
        return _BY_NUMBER[self._info.number]

    @property
    def _as_ref(self) -> DType:
        return _BY_NUMBER[self._info.number + table.REF_OFFSET]

    @property
    def real_dtype(self) -> DType:
        """The dtype of the real part: float32 for complex64, float64 for complex128."""
        return {"complex64": float32, "complex128": float64}.get(self._info.name, self.base_dtype)

    @property
    def as_numpy_dtype(self) -> Any:
        """The NumPy scalar type (`np.float32`), or `object` for strings and handles."""
        return np.object_ if self.np.kind == "O" else self.np.type

    @property
    def is_numpy_compatible(self) -> bool:
        """Whether arrays of this dtype exist: everything but resources and variants."""
        return self._info.kind != "handle"

    @property
    def is_bool(self) -> bool:
        """Whether this is the boolean type."""
        return self._info.kind == "bool"

    @property
    def is_floating(self) -> bool:
        """Whether this is a non-quantized floating type."""
        return self._info.kind == "float"

    @property
    def is_integer(self) -> bool:
        """Whether this is a non-quantized integer type."""
        return self._info.kind in ("int", "uint")

    @property
    def is_unsigned(self) -> bool:
        """Whether this is an unsigned integer type."""
        return self._info.kind == "uint"

    @property
    def is_complex(self) -> bool:
        """Whether this is a complex type."""
        return self._info.kind == "complex"

    @property
    def is_quantized(self) -> bool:
        """Whether this is a quantized type."""
        return self._info.kind == "quantized"

    @property
    def size(self) -> int:
        """Bytes an element; 1 for types without a fixed size, as TensorFlow says."""
        return self._info.size or 1

    @property
    def min(self) -> Any:
        """The smallest finite value.

        Raises:
            TypeError: The dtype has no order.
        """
        return self._limit("min")

    @property
    def max(self) -> Any:
        """The largest finite value.

        Raises:
            TypeError: The dtype has no order.
        """
        return self._limit("max")

    def _limit(self, which: str) -> Any:
        if self._info.kind in ("string", "handle", "complex", "quantized"):
            raise InvalidTypeError(f"Cannot find {which}imum value of {self}.")
        if self.is_bool:
            return which == "max"
        if self.np.kind in "iu":
            return getattr(np.iinfo(self.np), which)
        import ml_dtypes

        finfo: Any = ml_dtypes.finfo
        return getattr(finfo(self.np), which)

    @property
    def limits(self) -> tuple[Any, Any]:
        """The intensity range of an image of this dtype: (0, 1) for floats, else (0, max)."""
        return (0, 1) if self.is_floating else (0, self.max)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a tensor of dtype `other` may stand where this is asked for."""
        other = as_dtype(other)
        return self.as_datatype_enum in (other.as_datatype_enum, other.base_dtype.as_datatype_enum)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other is None or other in (int, complex, str, bytes):  # names of dtypes here, but no dtypes
            return False
        if isinstance(other, DType):
            return self.as_datatype_enum == other.as_datatype_enum
        try:
            return as_dtype(other).as_datatype_enum == self.as_datatype_enum
        except TypeError:
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return self.as_datatype_enum

    def __repr__(self) -> str:
        return "tf." + self.name

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __int__(self) -> int:
        return self.as_datatype_enum

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


_BY_NUMBER: dict[int, DType] = {}
for _number in table.BY_NUMBER:
    for _ref in (0, table.REF_OFFSET):
        DType(_number + _ref)

float16 = half = _BY_NUMBER[19]
float32 = _BY_NUMBER[1]
float64 = double = _BY_NUMBER[2]
bfloat16 = _BY_NUMBER[14]
complex64 = _BY_NUMBER[8]
complex128 = _BY_NUMBER[18]
int8 = _BY_NUMBER[6]
int16 = _BY_NUMBER[5]
int32 = _BY_NUMBER[3]
int64 = _BY_NUMBER[9]
uint8 = _BY_NUMBER[4]
uint16 = _BY_NUMBER[17]
uint32 = _BY_NUMBER[22]
uint64 = _BY_NUMBER[23]
bool_ = _BY_NUMBER[10]
string = _BY_NUMBER[7]
qint8 = _BY_NUMBER[11]
quint8 = _BY_NUMBER[12]
qint16 = _BY_NUMBER[15]
quint16 = _BY_NUMBER[16]
qint32 = _BY_NUMBER[13]
resource = _BY_NUMBER[20]
variant = _BY_NUMBER[21]

# Groups for op declarations, named as in TensorFlow's own declarations.
FLOATING = (bfloat16, float16, float32, float64)
COMPLEX = (complex64, complex128)
FLOATING_OR_COMPLEX = FLOATING + COMPLEX
INTEGER = (int8, int16, int32, int64, uint8, uint16, uint32, uint64)
INDEX = (int32, int64)
QUANTIZED = (qint8, quint8, qint32, qint16, quint16)
REAL = FLOATING + INTEGER  # `realnumbertype`
NUMBER = (*REAL, *COMPLEX, qint8, quint8, qint32)  # `numbertype`
NUMERIC = (*REAL, *COMPLEX, *QUANTIZED)
SIGNED = (*FLOATING_OR_COMPLEX, int32, int64)  # what most unary math takes
ANY: tuple[DType, ...] = ()

_ALIASES: dict[Any, DType] = {
    float: float32,
    int: int32,
    bool: bool_,
    complex: complex128,
    str: string,
    bytes: string,
    object: string,
    np.str_: string,
    np.bytes_: string,
    np.object_: string,
}


def as_dtype(value: Any) -> DType:
    """The DType that `value` names: a DType, enum number, name, Python or NumPy type.

    Raises:
        TypeError: `value` names no TensorFlow dtype.
    """
    if isinstance(value, DType):
        return value
    try:
        found = _BY_NUMBER.get(value) if type(value) is int else _ALIASES.get(value)
    except TypeError:
        found = None
    if found is not None:
        return found
    if isinstance(value, str):
        base, ref = (value[:-4], True) if value.endswith("_ref") else (value, False)
        row = table.BY_NAME.get(base)
        if row is not None:
            return _BY_NUMBER[row.number + (table.REF_OFFSET if ref else 0)]
    try:
        return _BY_NUMBER[table.from_numpy(value).number]
    except (TypeError, ValueError) as error:
        hint = did_you_mean(value, table.BY_NAME) if isinstance(value, str) else ""
        raise InvalidTypeError(f"Cannot convert value {value!r} to a TensorFlow DType.{hint}") from error
