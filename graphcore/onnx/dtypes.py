"""ONNX's dtypes, and what is raised where it has no words for something."""

from __future__ import annotations

from typing import Any

import numpy as np

DTYPES = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "uint16": 4,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "object": 8,
    "bool": 9,
    "float16": 10,
    "float64": 11,
    "uint32": 12,
    "uint64": 13,
    "bfloat16": 16,
}
"""NumPy's names of dtypes (`object` holds strings) with ONNX's numbers. Complex ones have no ops there."""


class Inexpressible(Exception):
    """Why ONNX cannot say what a node computes; the exporter gathers one for each such node.

    Attributes:
        operation: The node, where it is another than the one in hand.
    """

    def __init__(self, reason: str, operation: Any = None) -> None:
        super().__init__(reason)
        self.operation = operation


def dtype_number(dtype: Any) -> int:
    """ONNX's number of a NumPy dtype.

    Raises:
        Inexpressible: ONNX has none.
    """
    name = np.dtype(dtype).name
    if name not in DTYPES:
        raise Inexpressible(f"ONNX has no operators for {name}")
    return DTYPES[name]
