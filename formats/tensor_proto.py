"""TensorProto <-> NumPy array, TensorShapeProto <-> tuple.

A TensorProto spells its elements in one of three ways: as raw little-endian bytes in C order
(`tensor_content`), as a list in the field of its type (`float_val`, `int_val`, ...; the last value
repeats until the shape is full), or not at all (all zeros, or empty strings). half and bfloat16 are
bit patterns in `half_val`; complex numbers are pairs. Source: `tensorflow/core/framework/tensor.proto`
and what TensorFlow's `Tensor::FromProto` accepts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import dtypes, protos
from .errors import InvalidArgumentError, InvalidTypeError, InvalidValueError, ResourceExhaustedError

if TYPE_CHECKING:
    import numpy as np

SPLAT_LIMIT = 1 << 31
"""Bytes that a tensor whose values are not all spelled out may take: more is refused as a claim."""

# TensorFlow writes these as bytes when there is more than one element, all others element by element.
_AS_BYTES = frozenset(
    [
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "int32",
        "uint8",
        "int16",
        "int8",
        "int64",
        "qint8",
        "quint8",
        "qint16",
        "quint16",
        "qint32",
        "uint32",
        "uint64",
        "float8_e5m2",
        "float8_e4m3fn",
    ]
)
_COMPLEX_PARTS = {"complex64": "float32", "complex128": "float64"}


def to_array(proto: Any, what: str = "a tensor") -> np.ndarray[Any, Any]:
    """The array that a `tensorflow.TensorProto` stands for.

    Args:
        proto: The message; left as it is.
        what: Where it comes from, for errors ("node 'conv/weights'").

    Returns:
        A read-only array of the declared dtype and shape; strings as an object array of `bytes`,
        resources and variants as an object array of messages.

    Raises:
        InvalidArgumentError: The shape is unknown or negative, or does not fit the values present.
        InvalidTypeError: No dtype, or one that TensorFlow does not have.
        ResourceExhaustedError: Values that are not spelled out would take over `SPLAT_LIMIT` bytes.
    """
    import numpy as np

    try:
        info = dtypes.from_number(proto.dtype)
    except InvalidTypeError as error:
        raise InvalidTypeError(f"{what} has no valid dtype: {error}", dtype=proto.dtype) from error
    shape, count = _checked_shape(proto.tensor_shape, what)
    content = proto.tensor_content  # each access copies: once
    if content and info.kind not in ("string", "handle"):
        array = _from_content(content, info, shape, count, what)
    else:
        array = _from_values(typed_values(proto, info, content, what), info, shape, count, what)
    array.setflags(write=False)
    return array if array.shape == shape else np.reshape(array, shape)


def from_array(array: Any, dtype: Any = None) -> Any:
    """The TensorProto of an array, encoded as TensorFlow's own `make_tensor_proto` does.

    Args:
        array: An array (or anything `numpy.asarray` takes); strings as `bytes` or `str` elements.
        dtype: A `DTypeInfo`, name or NumPy dtype to convert to; by default the array's own. Needed
            for the quantized types, which NumPy does not have.

    Raises:
        InvalidTypeError: TensorFlow has no such element type.
        InvalidValueError: Over 2 GB, which protobuf cannot hold.
    """
    import numpy as np

    info = _dtype_info(array, dtype)
    if info.kind == "handle":
        raise InvalidTypeError(f"An array cannot be made a constant of dtype {info.name}.", dtype=info.name)
    values = np.asarray(array) if info.kind == "string" else np.asarray(array, dtype=info.numpy)
    proto = protos.TensorProto(dtype=info.number, tensor_shape=shape_to_proto(values.shape))
    if values.nbytes >= 1 << 31:
        raise InvalidValueError(
            f"A constant of shape {list(values.shape)} and dtype {info.name} takes {values.nbytes} bytes; "
            "a graph file holds less than 2 GiB. Make it a variable, whose values live in the checkpoint.",
            shape=list(values.shape),
            nbytes=values.nbytes,
        )
    if values.size > 1 and info.name in _AS_BYTES:
        proto.tensor_content = _little_endian(values).tobytes()
    else:
        add_typed_values(proto, values, info)
    return proto


def add_typed_values(proto: Any, values: np.ndarray[Any, Any], info: dtypes.DTypeInfo) -> None:
    """Spells the values of an array out in the field of their type."""
    import numpy as np

    flat = values.reshape(-1)
    if info.kind == "string":
        proto.string_val.extend(map(as_bytes, flat.tolist()))
    elif info.field == "half_val":
        proto.half_val.extend(flat.view(np.uint16).tolist())
    elif info.field == "float8_val":
        proto.float8_val = flat.tobytes()
    elif info.kind == "complex":
        getattr(proto, info.field).extend(flat.view(_COMPLEX_PARTS[info.name]).tolist())
    else:
        plain = flat.astype(np.int32) if info.name in ("int4", "uint4") else flat
        getattr(proto, info.field).extend(plain.tolist())


def shape_from_proto(proto: Any) -> tuple[int | None, ...] | None:
    """A shape as a tuple, None for a dimension that is not known; None if the rank is not known."""
    if proto.unknown_rank:
        return None
    return tuple(None if dim.size < 0 else dim.size for dim in proto.dim)


def shape_to_proto(shape: Sequence[int | None] | None) -> Any:
    """The `tensorflow.TensorShapeProto` of a shape; the inverse of `shape_from_proto`."""
    if shape is None:
        return protos.TensorShapeProto(unknown_rank=True)
    proto = protos.TensorShapeProto()
    for size in shape:
        proto.dim.add(size=-1 if size is None else int(size))
    return proto


def as_bytes(element: Any) -> bytes:
    """One element of a string tensor as bytes; text is encoded as UTF-8.

    Raises:
        InvalidTypeError: Neither bytes nor text.
    """
    if isinstance(element, bytes):
        return element
    if isinstance(element, str):
        return element.encode("utf-8", "surrogateescape")
    raise InvalidTypeError(
        f"An element of a string tensor must be bytes or str, not {type(element).__name__} ({element!r:.60})."
    )


def _dtype_info(array: Any, dtype: Any) -> dtypes.DTypeInfo:
    import numpy as np

    if isinstance(dtype, dtypes.DTypeInfo):
        return dtype
    if isinstance(dtype, str):
        return dtypes.from_name(dtype)
    return dtypes.from_numpy(np.asarray(array).dtype if dtype is None else dtype)


def _checked_shape(proto: Any, what: str) -> tuple[tuple[int, ...], int]:
    """The fully known shape and the number of elements (a Python int: it cannot overflow)."""
    if proto.unknown_rank or any(dim.size < 0 for dim in proto.dim):
        raise InvalidArgumentError(
            f"{what} declares the shape {list(shape_from_proto(proto) or ['unknown rank'])}; "
            "a tensor with values needs every dimension."
        )
    shape = tuple(dim.size for dim in proto.dim)
    count = math.prod(shape)
    if len(shape) > 64:
        raise InvalidArgumentError(f"{what} has rank {len(shape)}; NumPy stops at 64.", rank=len(shape))
    if not count and math.prod(size for size in shape if size) > 1 << 56:  # NumPy multiplies the others, too
        raise InvalidArgumentError(f"{what} declares the impossible shape {list(shape)}.", shape=list(shape))
    return shape, count


def _from_content(
    content: bytes, info: dtypes.DTypeInfo, shape: tuple[int, ...], count: int, what: str
) -> np.ndarray[Any, Any]:
    import numpy as np

    assert info.size is not None
    if len(content) != count * info.size:
        raise InvalidArgumentError(
            f"{what} declares shape {list(shape)} and dtype {info.name}, which take {count * info.size} "
            f"bytes, but holds {len(content)}.",
            shape=list(shape),
            dtype=info.name,
            expected=count * info.size,
            present=len(content),
        )
    return _from_little_endian(np.frombuffer(content, _stored_dtype(info)), info).reshape(shape)


def typed_values(proto: Any, info: dtypes.DTypeInfo, content: bytes, what: str) -> np.ndarray[Any, Any]:
    """The values in the field of the type, one-dimensional; possibly fewer than elements."""
    import numpy as np

    field = getattr(proto, info.field)
    if info.kind in ("string", "handle"):
        elements = decode_string_list(content, what) if content and info.kind == "string" else list(field)
        return object_array(elements)
    if info.field == "half_val":
        return np.array(field, np.int32).astype(np.uint16).view(info.numpy)
    if info.field == "float8_val":
        return np.frombuffer(field, info.numpy)
    if info.kind == "complex":
        parts = np.array(field, _COMPLEX_PARTS[info.name])
        return parts[: len(parts) // 2 * 2].view(info.numpy)
    wide = {"int_val": "int32", "uint32_val": "uint32", "uint64_val": "uint64", "int64_val": "int64"}
    return np.fromiter(field, wide.get(info.field, info.numpy), count=len(field)).astype(
        info.numpy, copy=False
    )


def _from_values(
    values: np.ndarray[Any, Any], info: dtypes.DTypeInfo, shape: tuple[int, ...], count: int, what: str
) -> np.ndarray[Any, Any]:
    import numpy as np

    if len(values) >= count:  # TensorFlow ignores values beyond the last element
        return values[:count].reshape(shape)
    if count * (info.size or 8) > SPLAT_LIMIT:
        raise ResourceExhaustedError(
            f"{what} declares shape {list(shape)} and dtype {info.name}, {count * (info.size or 8)} bytes, "
            f"but spells out {len(values)} of {count} elements; at most {SPLAT_LIMIT} bytes are filled in. "
            "The shape is damaged, or this should be a variable or a tf.fill.",
            shape=list(shape),
            dtype=info.name,
            present=len(values),
        )
    if not len(values):
        if info.kind == "handle":
            raise InvalidArgumentError(f"{what} has dtype {info.name} and no values.", dtype=info.name)
        if info.kind != "string":
            return np.zeros(shape, info.numpy)
    full = np.empty(count, info.numpy)
    full[: len(values)] = values
    full[len(values) :] = values[-1] if len(values) else b""
    return full.reshape(shape)


def object_array(elements: Sequence[Any]) -> np.ndarray[Any, Any]:
    """A one-dimensional object array; `np.array` would look into the elements."""
    import numpy as np

    array = np.empty(len(elements), object)
    array[:] = elements
    return array


def decode_string_list(content: bytes, what: str) -> list[bytes]:
    """The strings in a string tensor's `tensor_content`: all lengths as varints, then all bytes."""
    lengths: list[int] = []
    at, total = 0, 0
    while at + total < len(content):
        value = shift = 0
        while at < len(content):
            byte = content[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        lengths.append(value)
        total += value
    if at + total != len(content):
        raise InvalidArgumentError(
            f"{what}: the string lengths in tensor_content do not fit its {len(content)} bytes."
        )
    strings = []
    for length in lengths:
        strings.append(content[at : at + length])
        at += length
    return strings


def _stored_dtype(info: dtypes.DTypeInfo) -> Any:
    return info.numpy.newbyteorder("<") if info.numpy.isbuiltin == 1 else info.numpy


def _from_little_endian(array: np.ndarray[Any, Any], info: dtypes.DTypeInfo) -> np.ndarray[Any, Any]:
    return array if array.dtype.isnative else array.astype(info.numpy)


def _little_endian(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array if array.dtype.byteorder not in ">" or array.dtype.isbuiltin != 0 else array.astype("<")
