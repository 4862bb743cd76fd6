r"""One .npy array: its header, checked, and its elements; pickled objects are refused, not read.

    b"\x93NUMPY" | version, 2 bytes | header length | Python dict literal | the elements

Source: NumPy's NEP 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from tokenize import TokenError
from typing import IO, TYPE_CHECKING, Any

from .errors import DataLossError, OpError

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class NpyHeader:
    """What the header of an array says, and where the elements start behind it.

    Attributes:
        shape: The shape.
        fortran: Whether the first dimension runs fastest.
        dtype: The NumPy dtype, with its byte order.
        start: Bytes before the elements.
    """

    shape: tuple[int, ...]
    fortran: bool
    dtype: Any
    start: int

    def array(self, data: Any) -> np.ndarray[Any, Any]:
        """The array whose elements are `data`: native byte order, text as an object array of bytes."""
        import numpy as np

        array = np.frombuffer(data, self.dtype, count=math.prod(self.shape))
        array = array.reshape(self.shape, order="F" if self.fortran else "C")
        if self.dtype.kind in "US":
            strings = np.empty(array.shape, object)
            strings[...] = np.strings.encode(array, "utf-8") if self.dtype.kind == "U" else array
            return strings
        return array.astype(self.dtype.newbyteorder("="), copy=False)


def read_npy_header(stream: IO[bytes], size: int, what: str) -> NpyHeader | str:
    """The header at the beginning of an array of `size` bytes, or why it is no tensor (`it is ...`).

    Args:
        stream: The array, from its first byte; afterwards at its elements.
        size: Bytes of header and elements.
        what: File or member, for errors.

    Raises:
        DataLossError: Not a .npy array, or not as many bytes as it declares.
    """
    import numpy as np

    try:
        version = np.lib.format.read_magic(stream)
        if version == (1, 0):
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        elif version == (2, 0):
            shape, fortran, dtype = np.lib.format.read_array_header_2_0(stream)
        else:
            return f"it is of version {version} of NumPy's format"
    except OpError:
        raise
    except (ValueError, TypeError, KeyError, OverflowError, EOFError, SyntaxError, TokenError) as error:
        raise DataLossError(f"{what} is damaged or not a .npy array: {error}", path=what) from error
    start = stream.tell()
    if dtype.hasobject:
        return "it is pickled Python objects, which are not read: a pickle can run any code"
    if not dtype.itemsize or dtype.kind not in "USbiufc" or (dtype.itemsize > 16 and dtype.kind not in "US"):
        return f"it is of NumPy dtype {dtype}, which TensorFlow does not have"
    declared = math.prod(shape) * dtype.itemsize
    if any(length < 0 for length in shape) or declared != size - start:
        raise DataLossError(
            f"{what} is damaged: it declares shape {list(shape)} and dtype {dtype}, {declared} bytes, "
            f"but holds {size - start}.",
            path=what,
        )
    return NpyHeader(shape, bool(fortran), dtype, start)
