"""From Python values to tensors: `tf.constant`, `tf.convert_to_tensor` and what they rest on.

Source: tensorflow/python/framework/tensor_util.py and ops.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..formats import tensor_proto
from . import registry
from .default import get_default_graph
from .dtypes import DType, as_dtype, int32, int64
from .errors import InvalidTypeError, InvalidValueError
from .operation import Tensor
from .tensor_shape import Dimension, TensorShape

Conversion = Callable[..., Any]
_conversions: list[tuple[int, Any, Conversion]] = []

_EXPECTED: dict[str, tuple[type, ...]] = {
    "int": (int, np.integer, Dimension),
    "uint": (int, np.integer, Dimension),
    "quantized": (int, np.integer, tuple),
    "float": (int, float, np.integer, np.floating, Dimension),
    "complex": (int, float, complex, np.number),
    "string": (str, bytes),
    "bool": (bool, np.bool_),
}


def as_array(value: Any, dtype: DType | None = None, shape: Sequence[int] | None = None) -> np.ndarray:
    """The array that a constant of `value` holds.

    Python floats become float32 and Python ints int32 (int64 where they need it) unless `dtype` says
    otherwise; NumPy arrays keep their dtype. A value smaller than `shape` is repeated to fill it.

    Raises:
        TypeError: The values are not of `dtype`.
        ValueError: They have no rectangular shape, or more elements than `shape`.
    """
    if value is None:
        raise InvalidValueError("None values not supported.")
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if dtype is not None and dtype.np.kind != "O" and array.dtype.kind in "SU":
            raise InvalidTypeError(f"Incompatible types: {dtype!r} vs. {array.dtype}. Value is {value}")
        if dtype is not None and dtype.np.kind != "O" and array.dtype.kind != "O":
            array = array.astype(dtype.np, copy=False)
    else:
        array = _from_python(value, dtype)
    if array.dtype.kind in "SUO" and (dtype is None or dtype.name == "string"):
        array = _as_bytes(array)
    elif dtype is not None and dtype.name == "string":
        raise InvalidTypeError(f"Expected string, got {value!r} of type '{type(value).__name__}' instead.")
    if shape is None or tuple(shape) == array.shape:
        return array
    return _fill_shape(array, tuple(int(dim) for dim in shape))


def _fill_shape(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    total = int(np.prod(shape, dtype=np.int64))
    if array.size == total:
        return array.reshape(shape)
    if array.size == 1:
        # Stride 0: stays one value in memory and in the file.
        return np.broadcast_to(array.reshape(()), shape)
    if array.size > total:
        raise InvalidValueError(
            f"Too many elements provided. Needed at most {total}, but received {array.size}"
        )
    if array.size == 0:
        raise InvalidValueError(f"No elements provided to fill a tensor of shape {list(shape)}")
    flat = array.reshape(-1)
    return np.concatenate([flat, np.full(total - flat.size, flat[-1], flat.dtype)]).reshape(shape)


def _from_python(value: Any, dtype: DType | None) -> np.ndarray:
    if dtype is not None and dtype.is_numpy_compatible:
        expected = _EXPECTED[dtype._info.kind]
        for item in _leaves(value):
            is_wrong_bool = isinstance(item, (bool, np.bool_)) and dtype._info.kind != "bool"
            if not isinstance(item, expected) or is_wrong_bool:
                raise InvalidTypeError(
                    f"Expected {dtype.name}, got {item!r} of type '{type(item).__name__}' instead."
                )
    if isinstance(value, Dimension):
        value = value.value
    elif isinstance(value, (list, tuple)) and any(isinstance(item, Dimension) for item in value):
        value = [item.value if isinstance(item, Dimension) else item for item in value]
    strings = (dtype is not None and dtype.name == "string") or isinstance(
        next(_leaves(value), None), (str, bytes)
    )
    try:
        array = np.array(value, dtype=object if strings else (None if dtype is None else dtype.np))
    except OverflowError as error:
        raise InvalidValueError(
            f"{value!r} is outside the range of {dtype.name if dtype else 'int64'}"
        ) from error
    except (TypeError, ValueError) as error:
        raise InvalidValueError(f"Argument must be a dense tensor: {value!r} - {error}") from error
    if array.dtype == object and not strings:
        raise InvalidTypeError(
            f"Failed to convert object of type {type(value)} to Tensor. Contents: {value!r}. "
            "Consider casting elements to a supported type."
        )
    if dtype is None:
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        elif array.dtype == np.int64 and (array.size == 0 or np.array_equal(array.astype(np.int32), array)):
            array = array.astype(np.int32)
    return array


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, np.ndarray):
        if value.size:
            yield value.reshape(-1)[0]
    else:
        yield value


def _as_bytes(array: np.ndarray) -> np.ndarray:
    """Text of any kind as an object array of bytes (UTF-8)."""
    flat = []
    for item in array.reshape(-1).tolist():
        if isinstance(item, str):
            flat.append(item.encode())
        elif isinstance(item, bytes):
            flat.append(item)
        else:
            raise InvalidTypeError(f"Expected string, got {item!r} of type '{type(item).__name__}' instead.")
    result = np.empty(len(flat), object)
    result[:] = flat
    return result.reshape(array.shape)


def constant(
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    name: str = "Const",
    verify_shape: bool = False,
) -> Tensor:
    """`tf.constant`: a tensor that always has `value`.

    Args:
        value: A Python value, nested list or array.
        dtype: The element type; by default as `as_array` says.
        shape: The shape; a single value is repeated to fill it.
        name: Name of the operation.
        verify_shape: Refuse a value of another shape instead of filling.

    Raises:
        TypeError: The value is not of `dtype`.
        ValueError: It does not fit `shape`.
    """
    if type(value).__name__ == "TensorProto":
        kind = as_dtype(value.dtype)
        return get_default_graph().add_node("Const", [], {"value": value, "dtype": kind}, name).output(0)
    wanted = None if dtype is None else as_dtype(dtype)
    dims = None if shape is None else _complete(TensorShape(shape))
    array = as_array(value, wanted, None if verify_shape else dims)
    if verify_shape and dims is not None and array.shape != dims:
        raise InvalidTypeError(f"Expected Tensor's shape: {dims}, got {array.shape}.")
    if array.flags.writeable:
        array = array.copy() if array is value or array.base is value else array
        array.flags.writeable = False
    resolved = wanted.base_dtype if wanted is not None else as_dtype(array.dtype)
    operation = get_default_graph().add_node("Const", [], {"value": array, "dtype": resolved}, name)
    if resolved.is_quantized:
        operation._attrs["value"] = _quantized_proto(array, resolved)
    return operation.output(0)


def _complete(shape: TensorShape) -> tuple[int, ...]:
    if not shape.is_fully_defined():
        raise InvalidValueError(f"The shape of a constant must be fully known, not {shape}")
    return tuple(dim for dim in shape.as_list() if dim is not None)


def _quantized_proto(array: np.ndarray, dtype: DType) -> Any:
    """Arrays of quantized types look like plain integers, so the constant keeps a typed message."""
    return tensor_proto.from_array(array, dtype._info)


def register_tensor_conversion_function(
    base_type: Any, conversion_func: Conversion, priority: int = 100
) -> None:
    """Registers how objects of `base_type` (a type or tuple of types) become tensors.

    Args:
        base_type: The type or types.
        conversion_func: `f(value, dtype=None, name=None, as_ref=False)`, giving a Tensor or
            NotImplemented.
        priority: Lower comes first.

    Raises:
        TypeError: `base_type` is no type or the function is not callable.
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(item, type) for item in types):
        raise InvalidTypeError("base_type must be a type or a tuple of types.")
    if not callable(conversion_func):
        raise InvalidTypeError("conversion_func must be callable.")
    _conversions.append((priority, base_type, conversion_func))
    _conversions.sort(key=lambda row: row[0])


def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
    dtype_hint: Any = None,
    as_ref: bool = False,
) -> Any:
    """`tf.convert_to_tensor`: `value` itself where it is a tensor, else a tensor made of it.

    Args:
        value: A tensor, variable, Python value, array, or anything with a registered conversion.
        dtype: The element type that the tensor must have.
        name: Name of the operation where one is made.
        preferred_dtype: The element type to use if the value allows it.
        dtype_hint: The same under its later name.
        as_ref: Give variables as references.

    Raises:
        TypeError: The value cannot be of `dtype`.
        ValueError: It is a tensor of another dtype.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    preferred = preferred_dtype if preferred_dtype is not None else dtype_hint
    if isinstance(value, Tensor):
        if wanted is not None and not wanted.is_compatible_with(value.dtype):
            raise InvalidValueError(
                f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype "
                f"{value.dtype.name}: {str(value)!r}"
            )
        return value
    for _, types, function in _conversions:
        if not isinstance(value, types):
            continue
        if wanted is None and preferred is not None:
            try:
                result = function(value, dtype=as_dtype(preferred), name=name, as_ref=as_ref)
            except (TypeError, ValueError):
                result = NotImplemented  # the preference does not fit; what the value itself says counts
            if result is not NotImplemented and result.dtype.base_dtype == as_dtype(preferred):
                return result
        result = function(value, dtype=wanted, name=name, as_ref=as_ref)
        if result is NotImplemented:
            continue
        if wanted is not None and not wanted.is_compatible_with(result.dtype):
            raise InvalidValueError(
                f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype "
                f"{result.dtype.name}: {value!r}"
            )
        return result
    raise InvalidTypeError(
        f"Cannot convert {value!r} with type {type(value)} to Tensor: no conversion function registered."
    )


def convert_n_to_tensor(
    values: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> list[Any]:
    """Each of `values` as a tensor, named `NAME_0`, `NAME_1`, ..."""
    return [
        convert_to_tensor(value, dtype, f"{name}_{index}" if name else None, as_ref=as_ref)
        for index, value in enumerate(values)
    ]


def _convert_constant(
    value: Any, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Any:
    return constant(value, dtype, name=name or "Const")


def _convert_shape(
    value: TensorShape, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Any:
    if not value.is_fully_defined():
        raise InvalidValueError(f"Cannot convert a partially known TensorShape to a Tensor: {value}")
    large = [dim for dim in value.as_list() if dim is not None and dim >= 2**31]
    if dtype is None:
        dtype = int64 if large else int32
    elif dtype not in (int32, int64):
        raise InvalidTypeError(f"Cannot convert a TensorShape to dtype: {dtype}")
    elif large and dtype == int32:
        raise InvalidValueError(
            f"Cannot convert a TensorShape to dtype int32; a dimension is too large ({large[0]})"
        )
    return constant(value.as_list(), dtype, shape=[len(value)], name=name or "shape_as_tensor")


def _contains_tensor(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_contains_tensor(item) for item in value)
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")


def _convert_list(
    value: Any, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Any:
    """A list with tensors in it is packed; any other is a constant."""
    if not _contains_tensor(value):
        return constant(value, dtype, name=name or "Const")
    return _pack(value, dtype or _dtype_within(value), name or "packed")


def _dtype_within(value: Any) -> DType | None:
    if isinstance(value, (list, tuple)):
        for item in value:
            found = _dtype_within(item)
            if found is not None:
                return found
        return None
    if isinstance(value, Tensor) or hasattr(value, "_as_graph_element"):
        found = value.dtype.base_dtype
        return found if isinstance(found, DType) else None
    return None


def _cast_to(tensor: Tensor, dtype: DType) -> Any:
    """A tensor in a list that is packed to tensors of a dtype, cast where it has another."""
    if tensor.dtype.base_dtype == dtype.base_dtype:
        return tensor
    cast: Any = registry.find("Cast")
    return cast(tensor, DstT=dtype.base_dtype)


def _pack(value: Any, dtype: DType | None, name: str) -> Any:
    """Nested lists packed; constants among the tensors are called by their positions: `NAME/1`."""
    pack: Any = registry.find("Pack")
    with get_default_graph().name_scope(name) as scope:
        items = [
            _pack(item, dtype, str(index))
            if isinstance(item, (list, tuple)) and _contains_tensor(item)
            else _cast_to(item, dtype)
            if isinstance(item, Tensor) and dtype is not None
            else convert_to_tensor(item, dtype, str(index))
            for index, item in enumerate(value)
        ]
        return pack(items, name=scope)


register_tensor_conversion_function((list, tuple), _convert_list, 99)
register_tensor_conversion_function(TensorShape, _convert_shape, 100)
register_tensor_conversion_function(object, _convert_constant, 200)


def convert_to_tensor_or_indexed_slices(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """`value` itself where it is IndexedSlices or a SparseTensor, else as `convert_to_tensor`."""
    if hasattr(value, "indices") and hasattr(value, "values"):
        return value
    return convert_to_tensor(value, dtype, name)
