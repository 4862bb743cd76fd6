"""`tf.dtypes`: the dtypes, and what changes a tensor's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import not_yet
from .dtypes import (
    DType,
    as_dtype,
    bfloat16,
    bool_ as bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from .ops.math_functions import complex_of as complex, saturate_cast
from .ops.math_unary import tf_cast as cast
from .ops.string import as_string

QUANTIZED_DTYPES = frozenset(
    each for dtype in (qint8, quint8, qint16, quint16, qint32) for each in (dtype, dtype._as_ref)
)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing("sgtool.graphcore.dtypes", name)


__all__ = [
    "QUANTIZED_DTYPES", "DType", "as_dtype", "as_string", "bfloat16", "bool", "cast", "complex",
    "complex64", "complex128", "double", "float16", "float32", "float64", "half", "int8", "int16",
    "int32", "int64", "qint8", "qint16", "qint32", "quint8", "quint16", "resource", "saturate_cast",
    "string", "uint8", "uint16", "uint32", "uint64", "variant",
]  # fmt: skip
