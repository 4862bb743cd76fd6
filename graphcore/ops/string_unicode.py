"""Unicode: decoding strings to code points, encoding them, and changing encodings.

Source: tensorflow/core/kernels/unicode_ops.cc, unicode_script_op.cc and
python/ops/ragged/ragged_string_ops.py (r1.15), behaviour and texts.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import INDEX, int32, int64
from ..errors import InvalidArgumentError, InvalidValueError, UnimplementedError
from ..kernels import unicode
from ..kernels.unicode_scripts import scripts
from ..op import op, raw_ops
from ..shapes import Shape, num_elements, with_rank
from . import rules
from .string import mapped

_NO_GRAD = "strings have no derivative"
_ERRORS = "errors: {'strict', 'replace', 'ignore'} = 'replace'"
_REPLACEMENT = ("replacement_char: int = 65533", "replace_control_characters: bool = false")
_OUT = "output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}"
_SPLITS = (INDEX, int64)


def _policy(errors: str, replacement: int, controls: bool = False) -> unicode.Policy:
    policy = unicode.Policy(errors, replacement, controls)
    policy.check()
    return policy


@op(
    "UnicodeTranscode",
    "input: string -> output: string",
    "input_encoding: string",
    _OUT,
    _ERRORS,
    *_REPLACEMENT,
    no_grad=_NO_GRAD,
)
def unicode_transcode_op(
    input: Any,
    *,
    input_encoding: str,
    output_encoding: str,
    errors: str,
    replacement_char: int,
    replace_control_characters: bool,
) -> Any:
    """Strings in another encoding."""
    policy = _policy(errors, replacement_char, replace_control_characters)
    decoder = unicode.Decoder(input_encoding)

    def transcode(data: bytes) -> bytes:
        return unicode.encode(decoder.decode(data, policy)[0], output_encoding, policy)

    return mapped(transcode, input)


unicode_transcode_op.shape(rules.unchanged)


def _decode(
    input: Any,
    *,
    input_encoding: str,
    errors: str,
    replacement_char: int,
    replace_control_characters: bool,
    Tsplits: Any,
) -> tuple[Any, Any, Any]:
    """The code points of all strings, where those of each begin, and the byte at which each does."""
    policy = _policy(errors, replacement_char, replace_control_characters)
    decoder = unicode.Decoder(input_encoding)
    pairs = [decoder.decode(data, policy) for data in np.reshape(input, -1).tolist()]
    splits = np.cumsum([0, *(len(points) for points, _ in pairs)], dtype=np.dtype(Tsplits))
    points, starts = ([item for pair in pairs for item in pair[part]] for part in (0, 1))
    return splits, np.array(points, np.int32), np.array(starts, np.int64)


def _decoded(node: Any) -> list[Shape]:
    count = num_elements(node.shape(0))
    return [(None if count is None else count + 1,), *[(None,)] * (node.num_outputs - 1)]


@op(
    "UnicodeDecode",
    "input: string -> row_splits: Tsplits, char_values: int32",
    "input_encoding: string",
    _ERRORS,
    *_REPLACEMENT,
    Tsplits=_SPLITS,
    no_grad=_NO_GRAD,
)
def unicode_decode_op(
    input: Any,
    *,
    input_encoding: str,
    errors: str,
    replacement_char: int,
    replace_control_characters: bool,
    Tsplits: Any,
) -> tuple[Any, Any]:
    """The code points of strings, as a ragged matrix."""
    return _decode(
        input,
        input_encoding=input_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
        Tsplits=Tsplits,
    )[:2]


unicode_decode_op.shape(_decoded)
unicode_decode_with_offsets_op = op(
    "UnicodeDecodeWithOffsets",
    "input: string -> row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64",
    "input_encoding: string",
    _ERRORS,
    *_REPLACEMENT,
    Tsplits=_SPLITS,
    no_grad=_NO_GRAD,
    text="The code points of strings and where each begins, as ragged matrices.",
)(_decode)
unicode_decode_with_offsets_op.shape(_decoded)


@op(
    "UnicodeEncode",
    "input_values: int32, input_splits: Tsplits -> output: string",
    "errors: {'ignore', 'replace', 'strict'} = 'replace'",
    _OUT,
    "replacement_char: int = 65533",
    Tsplits=_SPLITS,
    no_grad=_NO_GRAD,
)
def unicode_encode_op(
    input_values: Any, input_splits: Any, *, errors: str, output_encoding: str, replacement_char: int
) -> Any:
    """The rows of a ragged matrix of code points as strings."""
    policy = _policy(errors, replacement_char)
    ends = np.reshape(input_splits, -1)
    if not ends.size:
        raise InvalidArgumentError(
            "Input_splits should contain elements, but given input_values has 0 elements"
        )
    if ends[0]:
        raise InvalidArgumentError(f"First value in input_splits must be zero, got {ends[0]}")
    down = np.flatnonzero(ends[1:] < ends[:-1])
    if down.size:
        raise InvalidArgumentError(
            f"Values in input_splits must be equal or in ascending order, got {ends[down[0]]} and "
            f"{ends[down[0] + 1]}"
        )
    points = np.reshape(input_values, -1).tolist()
    if ends[-1] > len(points):
        raise InvalidArgumentError(
            f"Values in input_splits must be less than or equal to input_tensor length: {ends[-1]} > "
            f"{len(points)}"
        )
    result = np.empty(len(ends) - 1, object)
    for row, (start, end) in enumerate(itertools.pairwise(ends)):
        result[row] = unicode.encode(points[start:end], output_encoding, policy)
    return result


@unicode_encode_op.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(0), 1)
    (count,) = with_rank(node.shape(1), 1) or (None,)
    return (None if count is None else count - 1,)


@op("UnicodeScript", "input: int32 -> output: int32", no_grad="integers have no derivative")
def unicode_script_op(input: Any) -> Any:
    """The number that ICU gives to the script of each code point; -1 where it is none."""
    return scripts(np.asarray(input))


unicode_script_op.shape(rules.unchanged)


# TensorFlow's Python functions


def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """`tf.strings.unicode_transcode`: strings in another encoding.

    Args:
        input: Strings of any shape.
        input_encoding: Any that Python knows.
        output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: What becomes of malformed text: "replace", "ignore" or "strict" (an error).
        replacement_char: The code point that replaces it.
        replace_control_characters: Whether U+0000 to U+001F are replaced, too.
        name: Name of the operation.
    """
    return unicode_transcode_op(
        input,
        input_encoding=input_encoding,
        output_encoding=output_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
        name=name,
    )


def unicode_script(input: Any, name: str | None = None) -> Any:
    """`tf.strings.unicode_script`: ICU's number of the script of each code point, -1 where it is none."""
    return unicode_script_op(input, name=name)


def _scalar_of(input: Any, what: str) -> Any:
    """A string; more than one would be decoded to a ragged tensor.

    Raises:
        UnimplementedError: It is no scalar.
    """
    tensor = convert_to_tensor(input, name="input")
    rank = tensor.get_shape().ndims
    if rank is None:
        raise InvalidValueError("Rank of `input` must be statically known.")
    if rank:
        raise UnimplementedError(
            f"tf.strings.{what} of more than one string gives a RaggedTensor, which is not here; "
            "raw_ops.UnicodeDecodeWithOffsets gives its row splits and values."
        )
    return tensor


def _decoded_scalar(input: Any, which: Any, controls: bool, **attributes: Any) -> Any:
    flat = raw_ops.Reshape(input, np.array([1], np.int32))
    return which(flat, replace_control_characters=controls, **attributes)


def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """`tf.strings.unicode_decode`: the code points of a string.

    Args:
        input: A scalar string.
        input_encoding: Any that Python knows.
        errors: What becomes of malformed text: "replace", "ignore" or "strict" (an error).
        replacement_char: The code point that replaces it.
        replace_control_characters: Whether U+0000 to U+001F are replaced, too.
        name: The name scope.

    Returns:
        An int32 vector.

    Raises:
        UnimplementedError: `input` has more than one string.
    """
    with name_scope(name, "UnicodeDecode", [input]):
        tensor = _scalar_of(input, "unicode_decode")
        return _decoded_scalar(
            tensor,
            unicode_decode_op,
            replace_control_characters,
            input_encoding=input_encoding,
            errors=errors,
            replacement_char=replacement_char,
        ).char_values


def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """`tf.strings.unicode_decode_with_offsets`: the code points of a string, and where each begins.

    Args:
        input: A scalar string.
        input_encoding: Any that Python knows.
        errors: What becomes of malformed text: "replace", "ignore" or "strict" (an error).
        replacement_char: The code point that replaces it.
        replace_control_characters: Whether U+0000 to U+001F are replaced, too.
        name: The name scope.

    Returns:
        An int32 and an int64 vector.

    Raises:
        UnimplementedError: `input` has more than one string.
    """
    with name_scope(name, "UnicodeDecodeWithOffsets", [input]):
        tensor = _scalar_of(input, "unicode_decode_with_offsets")
        found = _decoded_scalar(
            tensor,
            unicode_decode_with_offsets_op,
            replace_control_characters,
            input_encoding=input_encoding,
            errors=errors,
            replacement_char=replacement_char,
        )
        return found.char_values, found.char_to_byte_starts


def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    name: str | None = None,
) -> Any:
    """`tf.strings.unicode_encode`: code points along the last axis as strings.

    Args:
        input: int32 numbers of rank 1 or more.
        output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: What becomes of numbers that are no code points: "replace", "ignore" or "strict" (an error).
        replacement_char: The code point that replaces them.
        name: The name scope.

    Raises:
        ValueError: The rank of `input` is 0 or unknown.
    """
    with name_scope(name, "UnicodeEncode", [input]):
        tensor = convert_to_tensor(input)
        rank = tensor.get_shape().ndims
        if rank is None:
            raise InvalidValueError("Rank of input_tensor must be statically known.")
        if rank == 0:
            raise InvalidValueError("input_tensor's rank must be at least 1.")
        shape = raw_ops.Shape(tensor, out_type=int32)
        width, outer = shape[-1], shape[:-1]
        rows = raw_ops.Prod(outer, np.array([0], np.int32))
        splits = raw_ops.Range(0, rows + 1, 1) * width
        made = unicode_encode_op(
            raw_ops.Reshape(tensor, np.array([-1], np.int32)),
            splits,
            output_encoding=output_encoding,
            errors=errors,
            replacement_char=replacement_char,
        )
        return raw_ops.Reshape(made, outer)


def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    name: str | None = None,
) -> Any:
    """`tf.strings.unicode_split`: the characters of a string, a vector of strings.

    Args:
        input: A scalar string.
        input_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: What becomes of malformed text: "replace", "ignore" or "strict" (an error).
        replacement_char: The code point that replaces it.
        name: The name scope.

    Raises:
        UnimplementedError: `input` has more than one string.
    """
    return unicode_split_with_offsets(input, input_encoding, errors, replacement_char, name)[0]


def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    name: str | None = None,
) -> tuple[Any, Any]:
    """`tf.strings.unicode_split_with_offsets`: the characters of a string, and where each begins.

    Args:
        input: A scalar string.
        input_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: What becomes of malformed text: "replace", "ignore" or "strict" (an error).
        replacement_char: The code point that replaces it.
        name: The name scope.

    Raises:
        UnimplementedError: `input` has more than one string.
    """
    with name_scope(name, "UnicodeSplit", [input]):
        points, starts = unicode_decode_with_offsets(input, input_encoding, errors, replacement_char)
        characters = unicode_encode(raw_ops.ExpandDims(points, -1), input_encoding, errors, replacement_char)
        return characters, starts
