"""What layers share: their arguments checked, sizes of their results, names of activations and initializers.

Source: tensorflow/python/layers/utils.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import initializers
from .activations import activation_of
from .errors import InvalidValueError

# The defaults of layers' initializers: None asks for the scope's.
ZEROS, ONES = initializers.Zeros(), initializers.Ones()
_FORMATS = {3: ("NWC", "NCW"), 4: ("NHWC", "NCHW"), 5: ("NDHWC", "NCDHW")}


def convert_data_format(data_format: str, ndim: int) -> str:
    """TensorFlow's name of "channels_last" or "channels_first" for inputs of rank `ndim`.

    Raises:
        ValueError: The rank or the format is another.
    """
    if data_format not in ("channels_last", "channels_first"):
        raise InvalidValueError(f"Invalid data_format: {data_format}")
    if ndim not in _FORMATS:
        raise InvalidValueError(f"Input rank not supported: {ndim}")
    return _FORMATS[ndim][data_format == "channels_first"]


def normalize_tuple(value: Any, n: int, name: str) -> tuple[int, ...]:
    """`value` as a tuple of `n` ints: one int stands for all.

    Raises:
        ValueError: It is something else.
    """
    if isinstance(value, int):
        return (value,) * n
    wrong = f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
    try:
        items = tuple(value)
    except TypeError:
        raise InvalidValueError(wrong) from None
    if len(items) != n:
        raise InvalidValueError(wrong)
    for item in items:
        try:
            int(item)
        except (ValueError, TypeError):
            raise InvalidValueError(f"{wrong} including element {item} of type {type(item)}") from None
    return items


def normalize_data_format(value: str) -> str:
    """`value` in lower case.

    Raises:
        ValueError: It is neither "channels_first" nor "channels_last".
    """
    data_format = str(value).lower()
    if data_format not in ("channels_first", "channels_last"):
        raise InvalidValueError(
            f'The `data_format` argument must be one of "channels_first", "channels_last". Received: {value}'
        )
    return data_format


def normalize_padding(value: str) -> str:
    """`value` in lower case.

    Raises:
        ValueError: It is neither "valid" nor "same".
    """
    padding = str(value).lower()
    if padding not in ("valid", "same"):
        raise InvalidValueError(f'The `padding` argument must be one of "valid", "same". Received: {padding}')
    return padding


def conv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """The size of a convolution's result along an axis; padding "same", "valid" or "full"."""
    if input_length is None:
        return None
    taps = filter_size + (filter_size - 1) * (dilation - 1)
    extra = {"same": 0, "valid": 1 - taps, "full": taps - 1}[padding]
    return (input_length + extra + stride - 1) // stride


def conv_input_length(output_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """The size of an input that gives a result of `output_length`."""
    if output_length is None:
        return None
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * pad + filter_size


def deconv_output_length(input_length: Any, filter_size: int, padding: str, stride: int) -> Any:
    """The size of a transposed convolution's result along an axis: an int or a scalar tensor, as given."""
    if input_length is None:
        return None
    length = input_length * stride
    if padding == "valid":
        return length + max(filter_size - stride, 0)
    return length - (stride + filter_size - 2) if padding == "full" else length


def activation(value: Any) -> Callable[[Any], Any] | None:
    """An activation function, also by its name; None where there is none."""
    return None if value is None else activation_of(value)


def initializer(value: Any) -> Any:
    """An initializer, also by its name, such as "zeros".

    Raises:
        ValueError: There is none of that name.
    """
    if not isinstance(value, str):
        return value
    found = getattr(initializers, value, None)
    if found is None:
        raise InvalidValueError(f"Unknown initializer: {value}")
    return found()
