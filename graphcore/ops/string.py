"""Strings: joining, cutting, matching, hashing, and to and from numbers."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..dtypes import (
    INDEX,
    as_dtype,
    bool_,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
)
from ..errors import InvalidArgumentError, InvalidValueError, UnimplementedError
from ..kernels import hashes, regex
from ..op import GraphOp, op, raw_ops
from ..shapes import Shape, broadcast, format_shape, merge, with_rank
from ..sparse_tensor import SparseTensor
from . import rules
from .array_functions import either

_NO_GRAD = "strings have no derivative"
_UNIT = "unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'"


def mapped(function: Callable[..., Any], *arrays: Any, dtype: Any = object) -> np.ndarray:
    """`function` of each element (of each row of broadcast arrays), as an array of `dtype`."""
    shape = np.broadcast_shapes(*(np.shape(array) for array in arrays))
    flat = [np.broadcast_to(array, shape).reshape(-1).tolist() for array in arrays]
    result = np.empty(len(flat[0]), dtype)
    for index, values in enumerate(zip(*flat)):
        result[index] = function(*values)
    return result.reshape(shape)


def text_of(data: bytes) -> str:
    """Bytes as text; bytes that are no UTF-8 come back as they were from `bytes_of`."""
    return data.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    """Text as bytes, the inverse of `text_of`."""
    return text.encode("utf-8", "surrogateescape")


def _item(value: Any) -> Any:
    """The only element of an array."""
    return np.reshape(value, -1)[0]


def _elementwise(name: str, signature: str, kernel: Callable[..., Any], *attrs: str, **types: Any) -> GraphOp:
    """Declares an op that treats each string on its own."""
    declared = op(name, signature, *attrs, no_grad=_NO_GRAD, **types)(kernel)
    declared.shape(rules.unchanged)
    return declared


@op("StringJoin", "inputs: N * string -> output: string", "separator: string = ''", no_grad=_NO_GRAD)
def string_join_op(inputs: list[Any], *, separator: str) -> Any:
    """Strings of tensors of one shape put together; scalars are repeated."""
    shapes = {np.shape(item) for item in inputs} - {()}
    if len(shapes) > 1:
        raise InvalidArgumentError(
            "Input shapes do not match: " + " vs. ".join(str(list(np.shape(item))) for item in inputs)
        )
    between = bytes_of(separator)
    return mapped(lambda *parts: between.join(parts), *inputs)


@string_join_op.shape
def _(node: Any) -> Shape:
    result: Shape = ()
    for shape in node.shapes:
        if shape is not None and shape != ():
            result = shape if result == () else merge(result, shape)
    return None if result == () and None in node.shapes else result


# Splitting: indices, values and shape of a sparse matrix


def _ragged(rows: list[list[bytes]]) -> tuple[Any, Any, Any]:
    indices = [(row, column) for row, parts in enumerate(rows) for column in range(len(parts))]
    values = np.empty(len(indices), object)
    values[:] = [part for parts in rows for part in parts]
    shape = [len(rows), max(map(len, rows), default=0)]
    return np.array(indices, np.int64).reshape(-1, 2), values, np.array(shape, np.int64)


def _split_shape(node: Any) -> list[Shape]:
    with_rank(node.shape(0), 1)
    return [(None, 2), (None,), (2,)]


@op(
    "StringSplit",
    "input: string, delimiter: string -> indices: int64, values: string, shape: int64",
    "skip_empty: bool = true",
    no_grad=_NO_GRAD,
)
def string_split_op(input: Any, delimiter: Any, *, skip_empty: bool) -> Any:
    """Strings cut at each character of `delimiter`; into single bytes where it is empty."""
    marks = _item(delimiter)
    pattern = re.compile(b"[" + re.escape(marks) + b"]") if marks else None

    def parts_of(text: bytes) -> list[bytes]:
        if not text:
            return []
        parts = [text[i : i + 1] for i in range(len(text))] if pattern is None else pattern.split(text)
        return [part for part in parts if part] if skip_empty else parts

    return _ragged([parts_of(text) for text in np.reshape(input, -1).tolist()])


@op(
    "StringSplitV2",
    "input: string, sep: string -> indices: int64, values: string, shape: int64",
    "maxsplit: int = -1",
    no_grad=_NO_GRAD,
)
def string_split_v2(input: Any, sep: Any, *, maxsplit: int) -> Any:
    """Strings cut as Python's `split` does: at `sep`, or at white space where it is empty."""
    between = _item(sep) or None
    texts = np.reshape(input, -1).tolist()
    if not maxsplit:
        return _ragged([[text] for text in texts])
    return _ragged([text.split(between, maxsplit) for text in texts])


for _split in (string_split_op, string_split_v2):
    _split.shape(_split_shape)


# Pieces and properties


@op("Substr", "input: string, pos: T, len: T -> output: string", _UNIT, T=INDEX, no_grad=_NO_GRAD)
def substr_op(input: Any, pos: Any, len: Any, *, unit: str) -> Any:
    """Pieces from `pos` on (from the end where negative), `len` bytes or characters long."""
    if np.shape(pos) != np.shape(len):
        raise InvalidArgumentError(
            f"pos and len should have the same shape, got: {format_shape(np.shape(pos))} vs. "
            f"{format_shape(np.shape(len))}"
        )

    def piece(data: bytes, start: int, size: int) -> bytes:
        text: Any = data if unit == "BYTE" else _characters(data)
        total = text.__len__()
        if not -total <= start <= total:
            raise InvalidArgumentError(
                f"pos {start} out of range for string b'{data.decode(errors='replace')}'"
            )
        start = start + total if start < 0 else start
        # A negative length counts as very large, as the C++ of TensorFlow converts it.
        found = text[start : start + size] if size >= 0 else text[start:]
        return found if isinstance(found, bytes) else b"".join(found)

    return mapped(piece, input, pos, len)


@substr_op.shape
def _(node: Any) -> Shape:
    pos, size = node.shape(1), node.shape(2)
    try:
        merge(pos, size)
    except InvalidValueError:
        text = f"pos and len shapes must match: {format_shape(pos)} vs. {format_shape(size)}"
        raise InvalidValueError(text) from None
    return broadcast(node.shape(0), pos)


def _characters(data: bytes) -> list[bytes]:
    """The characters of UTF-8 text: each byte that is no continuation begins one."""
    starts = [index for index, byte in enumerate(data) if byte & 0xC0 != 0x80]
    return [data[a:b] for a, b in zip(starts, [*starts[1:], len(data)])]


def _string_length(input: Any, *, unit: str) -> Any:
    """How many bytes or characters each string has."""
    count: Any = len if unit == "BYTE" else lambda data: sum(byte & 0xC0 != 0x80 for byte in data)
    return mapped(count, input, dtype=np.int32)


def _cased(ascii_only: Any, full: Any) -> Any:
    def kernel(input: Any, *, encoding: str) -> Any:
        if encoding not in ("", "utf-8"):
            raise InvalidArgumentError(f"only utf-8 or '' (no encoding) is supported, received {encoding}")
        convert = ascii_only if not encoding else lambda data: bytes_of(full(text_of(data)))
        return mapped(convert, input)

    return kernel


_ENCODING = "encoding: string = ''"
string_length_op = _elementwise("StringLength", "input: string -> output: int32", _string_length, _UNIT)
_lower, _upper = _cased(bytes.lower, str.lower), _cased(bytes.upper, str.upper)
string_lower = _elementwise(
    "StringLower",
    "input: string -> output: string",
    _lower,
    _ENCODING,
    text="Small letters; of UTF-8 on request, else of ASCII.",
)
string_upper = _elementwise(
    "StringUpper",
    "input: string -> output: string",
    _upper,
    _ENCODING,
    text="Capital letters; of UTF-8 on request, else of ASCII.",
)
string_strip = _elementwise(
    "StringStrip",
    "input: string -> output: string",
    lambda input: mapped(lambda data: data.strip(b" \t\n\v\f\r"), input),
    text="Strings without white space at their ends.",
)


# Numbers

_DECIMAL = re.compile(rb"[+-]?\d+")
_FLOAT = re.compile(rb"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf(inity)?|nan)", re.IGNORECASE)
_HEXADECIMAL = re.compile(rb"[+-]?0[xX][0-9a-fA-F]+")
_SPACE = b" \t\n\v\f\r"


def parse_number(data: bytes, dtype: Any) -> Any:
    """The number that a string spells in decimal, or None where it spells none of that dtype.

    White space around it is left out. Too large a float is an infinity, as for TensorFlow.
    """
    text = data.strip(_SPACE)
    kind = np.dtype(dtype)
    if kind.kind == "f":
        if _HEXADECIMAL.fullmatch(text):
            return kind.type(int(text, 16))
        if not _FLOAT.fullmatch(text):
            return None
        with np.errstate(over="ignore", under="ignore"):
            return kind.type(float(text))
    if not _DECIMAL.fullmatch(text):
        return None
    value = int(text)
    limits = np.iinfo(kind)
    return value if limits.min <= value <= limits.max else None


def _string_to_number(string_tensor: Any, *, out_type: Any) -> Any:
    """The numbers that strings spell."""

    def convert(data: bytes) -> Any:
        value = parse_number(data, out_type)
        if value is None:
            raise InvalidArgumentError(
                f"StringToNumberOp could not correctly convert string: {data.decode(errors='replace')}"
            )
        return value

    return mapped(convert, string_tensor, dtype=out_type)


_elementwise(
    "StringToNumber",
    "string_tensor: string -> output: out_type",
    _string_to_number,
    out_type=((float32, float64, int32, int64), float32),
)


def _as_string(input: Any, *, precision: int, scientific: bool, shortest: bool, width: int, fill: str) -> Any:
    """Numbers as C's printf writes them."""
    kind = input.dtype.kind
    if len(fill) > 1:
        raise InvalidArgumentError(f"Fill string must be one or fewer characters: '{fill}'")
    if fill not in ("", " ", "+", "-", "0"):
        raise InvalidArgumentError(f'Fill argument not supported: "{fill}"')
    if scientific and shortest:
        raise InvalidArgumentError("Cannot select both scientific and shortest notation")
    if kind not in "fc" and (scientific or shortest):
        raise InvalidArgumentError(f"scientific and shortest format not supported for datatype {input.dtype}")
    if kind not in "fc" and precision >= 0:
        raise InvalidArgumentError(f"precision not supported for datatype {input.dtype}")
    if kind == "b" and fill:
        raise InvalidArgumentError(f"Fill not supported for datatype {input.dtype}")
    letter = "e" if scientific else "g" if shortest else "f"
    number = "%" + fill + (str(width) if width >= 0 else "")
    number += "d" if kind in "iu" else (f".{precision}" if precision >= 0 else "") + letter

    def write(value: Any) -> bytes:
        if kind == "b":
            return b"true" if value else b"false"
        if kind == "c":
            return f"({_printf(number, value.real)},{_printf(number, value.imag)})".encode()
        return _printf(number, value).encode()

    return mapped(write, input)


def _printf(how: str, value: Any) -> str:
    """C's printf of one number, which fills what is not finite with spaces, not zeros."""
    finite = isinstance(value, int) or math.isfinite(value)
    return str((how if finite else how.replace("%0", "%")) % value)


_elementwise(
    "AsString",
    "input: T -> output: string",
    _as_string,
    "precision: int = -1",
    "scientific: bool = false",
    "shortest: bool = false",
    "width: int = -1",
    "fill: string = ''",
    T=(bool_, complex128, complex64, float32, float64, int16, int32, int64, int8),
)


# Regular expressions


def _replace(input: Any, pattern: str, rewrite: str, everywhere: bool) -> Any:
    return mapped(lambda data: bytes_of(regex.replace(pattern, rewrite, text_of(data), everywhere)), input)


def _full_match(input: Any, pattern: str) -> Any:
    compiled = regex.compile_pattern(pattern)
    return mapped(lambda data: compiled.fullmatch(text_of(data)) is not None, input, dtype=np.bool_)


def _regex_replace(input: Any, pattern: Any, rewrite: Any, *, replace_global: bool) -> Any:
    """What matches a pattern, replaced."""
    return _replace(input, text_of(_item(pattern)), text_of(_item(rewrite)), replace_global)


def _static_regex_replace(input: Any, *, pattern: str, rewrite: str, replace_global: bool) -> Any:
    """What matches a pattern, replaced."""
    return _replace(input, pattern, rewrite, replace_global)


def _regex_full_match(input: Any, pattern: Any) -> Any:
    """Whether whole strings match a pattern."""
    return _full_match(input, text_of(_item(pattern)))


def _static_regex_full_match(input: Any, *, pattern: str) -> Any:
    """Whether whole strings match a pattern."""
    return _full_match(input, pattern)


_GLOBAL = "replace_global: bool = true"
_PATTERN = ("input: string, pattern: string", "pattern: string")
_elementwise("RegexReplace", f"{_PATTERN[0]}, rewrite: string -> output: string", _regex_replace, _GLOBAL)
_elementwise("RegexFullMatch", f"{_PATTERN[0]} -> output: bool", _regex_full_match)
_elementwise("StaticRegexFullMatch", "input: string -> output: bool", _static_regex_full_match, _PATTERN[1])
_elementwise(
    "StaticRegexReplace",
    "input: string -> output: string",
    _static_regex_replace,
    _PATTERN[1],
    "rewrite: string",
    _GLOBAL,
)


# Hashes


def _bucketed(function: Callable[[bytes], int], strings: Any, num_buckets: int) -> Any:
    return mapped(lambda data: function(data) % num_buckets, strings, dtype=np.int64)


def _hash_bucket(string_tensor: Any, *, num_buckets: int) -> Any:
    """MurmurHash of each string, modulo the number of buckets."""
    return _bucketed(hashes.murmur, string_tensor, num_buckets)


def _hash_bucket_fast(input: Any, *, num_buckets: int) -> Any:
    """FarmHash of each string, modulo the number of buckets."""
    return _bucketed(hashes.farm_fingerprint, input, num_buckets)


def _hash_bucket_strong(input: Any, *, num_buckets: int, key: list[int]) -> Any:
    """SipHash of each string under a key, modulo the number of buckets."""
    if len(key) != 2:
        raise InvalidArgumentError(f"Key must have 2 elements, but has {len(key)}")
    return _bucketed(lambda data: hashes.sip(data, key), input, num_buckets)


_BUCKETS = "num_buckets: int >= 1"
string_to_hash_bucket = _elementwise(
    "StringToHashBucket", "string_tensor: string -> output: int64", _hash_bucket, _BUCKETS
)
string_to_hash_bucket_fast = _elementwise(
    "StringToHashBucketFast", "input: string -> output: int64", _hash_bucket_fast, _BUCKETS
)
string_to_hash_bucket_strong = _elementwise(
    "StringToHashBucketStrong",
    "input: string -> output: int64",
    _hash_bucket_strong,
    _BUCKETS,
    "key: list(int)",
)


# Base 64, with `-` and `_`, and without padding unless asked for


def _encode_base64(input: Any, *, pad: bool) -> Any:
    """Strings in web-safe base 64."""

    def encode(data: bytes) -> bytes:
        text = base64.urlsafe_b64encode(data)
        return text if pad else text.rstrip(b"=")

    return mapped(encode, input)


def _decode_base64(input: Any) -> Any:
    """What strings in web-safe base 64 stand for; padding may be there or not."""

    def decode(data: bytes) -> bytes:
        bare = data.rstrip(b"=") if len(data) % 4 == 0 and len(data) - len(data.rstrip(b"=")) < 3 else data
        if len(bare) % 4 == 1:
            raise InvalidArgumentError("Base64 string length cannot be 1 modulo 4.")
        if not re.fullmatch(rb"[A-Za-z0-9_-]*", bare):
            raise InvalidArgumentError("Invalid character found in base64.")
        try:
            return base64.urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))
        except binascii.Error as error:
            raise InvalidArgumentError(f"{data!r} is not base64: {error}") from error

    return mapped(decode, input)


encode_base64 = _elementwise(
    "EncodeBase64", "input: string -> output: string", _encode_base64, "pad: bool = false"
)
decode_base64 = _elementwise("DecodeBase64", "input: string -> output: string", _decode_base64)


# Joining along axes


@op(
    "ReduceJoin",
    "inputs: string, reduction_indices: int32 -> output: string",
    "keep_dims: bool = false",
    "separator: string = ''",
    no_grad=_NO_GRAD,
)
def reduce_join_op(inputs: Any, reduction_indices: Any, *, keep_dims: bool, separator: str) -> Any:
    """The strings along the given axes put together, the first given axis varying fastest."""
    rank, given = np.ndim(inputs), np.reshape(reduction_indices, -1).tolist()
    axes = []
    for axis in given:
        if not -rank <= axis < rank:
            raise InvalidArgumentError(
                f"Invalid reduction dimension {axis} for input with {rank} dimension(s)"
            )
        axes.append(axis % rank)
    for place, axis in enumerate(axes):
        if axis in axes[:place]:
            raise InvalidArgumentError(f"Duplicate reduction dimension {given[place]}")
    kept = [axis for axis in range(rank) if axis not in axes]
    if not axes:
        return np.array(inputs, object)
    between = bytes_of(separator)
    count = int(np.prod([np.shape(inputs)[axis] for axis in kept], dtype=np.int64))
    result = np.empty(count, object)
    length = int(np.prod([np.shape(inputs)[axis] for axis in axes], dtype=np.int64))
    for index, line in enumerate(np.transpose(inputs, kept + axes[::-1]).reshape(count, length)):
        result[index] = between.join(line.tolist())
    shape = [1 if axis in axes else size for axis, size in enumerate(np.shape(inputs))]
    return result.reshape(shape if keep_dims else [np.shape(inputs)[axis] for axis in kept])


@reduce_join_op.shape
def _(node: Any) -> Shape:
    shape, axes = node.shape(0), node.value(1)
    if shape is None:
        return None
    if axes is None:
        return (None,) * len(shape) if node.attr("keep_dims") else None
    chosen = {rules.check_axis(int(axis), len(shape)) for axis in np.reshape(axes, -1)}
    if node.attr("keep_dims"):
        return tuple(1 if axis in chosen else dim for axis, dim in enumerate(shape))
    return tuple(dim for axis, dim in enumerate(shape) if axis not in chosen)


# TensorFlow's Python functions


def string_join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """`tf.string_join`: strings of tensors of one shape put together."""
    return string_join_op(list(inputs), separator=separator, name=name)


def string_split(
    source: Any,
    sep: Any = None,
    skip_empty: bool = True,
    delimiter: Any = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> Any:
    """`tf.string_split`: a SparseTensor of the pieces of each string of a vector.

    Args:
        source: A vector of strings.
        sep: Each of its bytes separates, by default the space; an empty one means single bytes.
        skip_empty: Leave empty pieces out.
        delimiter: `sep` under its older name.
        result_type: "SparseTensor"; there are no ragged tensors here.
        name: Name of the operation.
    """
    _check_result_type(result_type)
    given = either(sep, delimiter, "sep", "delimiter")
    mark = convert_to_tensor(" " if given is None else given, "string", name="delimiter")
    found = string_split_op(
        convert_to_tensor(source, "string", name="source"), mark, skip_empty=skip_empty, name=name
    )
    return SparseTensor(*found)


def string_split_by(
    input: Any = None,
    sep: Any = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: Any = None,
    name: str | None = None,
) -> Any:
    """`tf.strings.split` of a vector, as a SparseTensor: cut at `sep`, by default at white space.

    Args:
        input: A vector of strings.
        sep: What separates.
        maxsplit: The most cuts; -1 for all.
        result_type: "SparseTensor"; there are no ragged tensors here.
        source: `input` under its older name.
        name: Name of the operation.

    Raises:
        UnimplementedError: Another result type.
    """
    _check_result_type(result_type)
    value = input if source is None else source
    return SparseTensor(*string_split_v2(value, sep or "", maxsplit=maxsplit, name=name))


def _check_result_type(result_type: str) -> None:
    if result_type != "SparseTensor":
        raise UnimplementedError(
            f"result_type must be 'SparseTensor', not {result_type!r}: sgtool has no ragged tensors"
        )


def substr(input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE") -> Any:
    """`tf.substr`: pieces of strings, from `pos` on, `len` bytes or UTF8_CHARs long."""
    return substr_op(input, pos, len, unit=unit, name=name)


def string_length(input: Any, name: str | None = None, unit: str = "BYTE") -> Any:
    """`tf.strings.length`: how many bytes or UTF8_CHARs each string has."""
    return string_length_op(input, unit=unit, name=name)


def string_to_number(
    string_tensor: Any = None, out_type: Any = float32, name: str | None = None, input: Any = None
) -> Any:
    """`tf.string_to_number`: the numbers that strings spell, as float32, float64, int32 or int64."""
    source = string_tensor if input is None else input
    return raw_ops.StringToNumber(source, out_type=as_dtype(out_type), name=name)


def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Any:
    """`tf.as_string`: numbers as text, in C's `%d`, `%f`, `%e` (scientific) or `%g` (shortest).

    Args:
        input: Numbers or booleans.
        precision: Digits after the point; -1 for C's default.
        scientific: Write an exponent.
        shortest: Whichever notation is shorter.
        width: The least number of characters.
        fill: What fills up to `width`: a space, or `"0"`, `"+"`, `"-"` as flags of C.
        name: Name of the operation.
    """
    options = {
        "precision": precision,
        "scientific": scientific,
        "shortest": shortest,
        "width": width,
        "fill": fill,
    }
    return raw_ops.AsString(input, **options, name=name)


def regex_replace(
    input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None
) -> Any:
    r"""`tf.regex_replace`: what matches a regular expression of RE2, replaced; `\1` stands for a group."""
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return raw_ops.StaticRegexReplace(
            input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name
        )
    return raw_ops.RegexReplace(input, pattern, rewrite, replace_global=replace_global, name=name)


def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Any:
    """`tf.strings.regex_full_match`: whether whole strings match a regular expression of RE2."""
    if isinstance(pattern, (str, bytes)):
        return raw_ops.StaticRegexFullMatch(input, pattern=pattern, name=name)
    return raw_ops.RegexFullMatch(input, pattern, name=name)


def hash_bucket(
    string_tensor: Any = None, num_buckets: int | None = None, name: str | None = None, input: Any = None
) -> Any:
    """`tf.string_to_hash_bucket`: a number below `num_buckets` for each string."""
    return string_to_hash_bucket(
        string_tensor if input is None else input, num_buckets=num_buckets, name=name
    )


def reduce_join(
    inputs: Any,
    axis: Any = None,
    keep_dims: bool | None = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: Any = None,
    keepdims: bool | None = None,
) -> Any:
    """`tf.reduce_join`: the strings along `axis` put together; by default all, in row-major order.

    Args:
        inputs: Strings.
        axis: One axis or several, in the order of joining.
        keep_dims: Keep the joined axes, with length 1.
        separator: What goes between.
        name: Name of the operation.
        reduction_indices: `axis` under its older name.
        keepdims: `keep_dims` under its later name.

    Raises:
        ValueError: No axis is given and the rank is unknown.
    """
    inputs = convert_to_tensor(inputs, "string", name="inputs")
    axes = axis if axis is not None else reduction_indices
    if axes is None:
        rank = inputs.get_shape().ndims
        if rank is None:
            raise InvalidValueError("The rank of inputs must be known to join along all axes")
        axes = list(range(rank - 1, -1, -1))
    keep = keepdims if keepdims is not None else bool(keep_dims)
    return reduce_join_op(
        inputs, convert_to_tensor(axes, int32), keep_dims=keep, separator=separator, name=name
    )
