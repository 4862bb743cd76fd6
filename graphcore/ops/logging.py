"""Telling values while a graph runs: Print, print, format, and the time.

Source: tensorflow/core/kernels/logging_ops.cc, string_format_op.cc and python/ops/logging_ops.py (r1.15),
behaviour and texts.
"""

from __future__ import annotations

import logging
import pprint
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import nest
from ..dtypes import ANY, string
from ..errors import InvalidArgumentError, InvalidValueError
from ..op import op, raw_ops
from ..operation import Tensor
from ..printing import summarize_value
from ..shapes import format_shape
from ..sparse_tensor import SparseTensor
from . import rules
from .string import bytes_of, text_of

_LOG_LEVELS = {"log(info)": logging.INFO, "log(warning)": logging.WARNING, "log(error)": logging.ERROR}
_STREAMS = ("stdout", "stderr", *_LOG_LEVELS)
_FILE = "file://"


def _write(text: str, stream: str) -> None:
    file = getattr(sys, stream)
    file.write(text)
    file.flush()


class _Count:
    """How often a Print has printed."""

    value = 0


@op(
    "Print",
    "input: T, data: U -> output: T",
    "U: list(type) >= 0",
    "message: string = ''",
    "first_n: int = -1",
    "summarize: int = 3",
    T=ANY,
    stateful=True,
)
def print_op(
    ctx: Any, input: Any, data: list[Any], *, message: str, first_n: int, summarize: int, node: Any
) -> Any:
    """The input; tells `data` on standard error, the first `first_n` times where that is not negative."""
    if first_n >= 0:
        count = ctx.op_state(node, "print", _Count)
        if count.value >= first_n:
            return input
        count.value += 1
    shown = "".join(f"[{summarize_value(item, summarize)}]" for item in data)
    _write(message + shown + "\n", "stderr")
    return input


print_op.shape(rules.unchanged)
print_op.grad(lambda node, dy: [dy, *[None] * (len(node.inputs) - 1)])


@op(
    "PrintV2",
    "input: string ->",
    "output_stream: string = 'stderr'",
    r"end: string = '\n'",
    stateful=True,
    no_grad="it has no outputs",
)
def print_v2(ctx: Any, input: Any, *, output_stream: str, end: str, node: Any) -> None:
    """Writes a string to a stream, the log, or the end of a file."""
    if np.ndim(input):
        raise InvalidArgumentError(f"input must be a scalar, got shape {format_shape(np.shape(input))}")
    text = text_of(np.reshape(input, -1)[0]) + end
    if output_stream.startswith(_FILE):
        path = output_stream[len(_FILE) :]
        ctx.policy.check_write(path, f"'{node.name}' ({node.type})")
        with open(path, "ab") as file:
            file.write(bytes_of(text))
    elif output_stream in _LOG_LEVELS:
        logging.getLogger("sgtool").log(_LOG_LEVELS[output_stream], "%s", text)
    elif output_stream in _STREAMS:
        _write(text, output_stream)
    else:
        raise InvalidArgumentError(
            f"Unknown output stream: {output_stream}, Valid streams are: {' '.join(_STREAMS)}, or "
            "file://<filename>"
        )


print_v2.shape(rules.nothing)


@op(
    "StringFormat",
    "inputs: T -> output: string",
    "T: list(type) >= 0",
    "template: string = '%s'",
    "placeholder: string = '%s'",
    "summarize: int = 3",
    undefined_grad="strings have no derivative",
)
def string_format_op(inputs: list[Any], *, template: str, placeholder: str, summarize: int) -> Any:
    """The template with each placeholder replaced by a tensor's values."""
    parts = template.split(placeholder)
    if len(inputs) != len(parts) - 1:
        raise InvalidArgumentError(
            f"num placeholders in template and num inputs must match: {len(parts) - 1} vs. {len(inputs)}"
        )
    shown = [summarize_value(item, summarize, v2=True) for item in inputs]
    return np.array(
        bytes_of(parts[0] + "".join(text + after for text, after in zip(shown, parts[1:]))), object
    )


string_format_op.shape(rules.scalar)


@op("Timestamp", "-> ts: float64", stateful=True, no_grad="it has no inputs")
def timestamp(ctx: Any) -> Any:
    """Seconds since the beginning of 1970."""
    return np.float64(int(time.time() * 1e6) / 1e6)


timestamp.shape(rules.scalar)


# TensorFlow's Python functions


def tf_print_v1(
    input_: Any,
    data: Any,
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """`tf.Print`: the input; when it is computed, `data` is told on standard error."""
    return raw_ops.Print(
        input_,
        data,
        message=message or "",
        first_n=-1 if first_n is None else first_n,
        summarize=3 if summarize is None else summarize,
        name=name,
    )


def string_format(
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> Any:
    """`tf.strings.format`: a string tensor, the template with tensors in place of placeholders.

    Raises:
        ValueError: The number of placeholders is not that of inputs.
    """
    inputs = [inputs] if isinstance(inputs, Tensor) else inputs
    if template.count(placeholder) != len(inputs):
        raise InvalidValueError(
            f"{template.count(placeholder)} placeholder(s) in template does not match {len(inputs)} "
            "tensor(s) provided as input"
        )
    return string_format_op(
        inputs, template=template, placeholder=placeholder, summarize=summarize, name=name
    )


def _stream_of(output_stream: Any) -> str:
    if isinstance(output_stream, str) and output_stream.startswith(_FILE):
        return output_stream
    for name, known in (
        ("stdout", (sys.stdout, sys.__stdout__)),
        ("stderr", (sys.stderr, sys.__stderr__)),
        ("log(info)", (logging.INFO, logging.info)),
        ("log(warning)", (logging.WARNING, logging.warning)),
        ("log(error)", (logging.ERROR, logging.error)),
    ):
        if any(output_stream is each or output_stream == each for each in known):
            return name
    raise InvalidValueError(
        f"Unsupported output stream, logging level, or file {output_stream}. Give sys.stdout, sys.stderr, a "
        "level of logging (logging.INFO, WARNING or ERROR), or 'file://' and a path."
    )


def tf_print(
    *inputs: Any,
    output_stream: Any = None,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
) -> Any:
    """`tf.print`: an operation that writes its inputs, tensors among other objects, when it is run.

    Args:
        inputs: Tensors, structures of tensors, and anything else that has a text.
        output_stream: `sys.stderr` (the default), `sys.stdout`, a level of `logging`, or `file://` and
            a path.
        summarize: How many first and last elements of each dimension are shown; -1 for all.
        sep: What stands between inputs.
        end: What stands at the end.
        name: The operation's name.

    Raises:
        ValueError: The output stream is none of those.
    """
    stream = _stream_of(sys.stderr if output_stream is None else output_stream)
    only = inputs[0] if len(inputs) == 1 else None
    if isinstance(only, Tensor) and only.dtype == string and only.get_shape().ndims == 0:
        return print_v2(only, output_stream=stream, end=end, name=name)
    placeholder = _placeholder(" ".join(pprint.pformat(nest.map_structure(_without, one)) for one in inputs))
    tensors: list[Any] = []
    templates = [_template(one, placeholder, tensors) for one in inputs]
    text = string_format_op(
        tensors,
        template=sep.join(templates).replace(f"'{placeholder}'", placeholder),
        placeholder=placeholder,
        summarize=summarize,
        name=f"{name}_format" if name else None,
    )
    return print_v2(text, output_stream=stream, end=end, name=name)


def _without(item: Any) -> Any:
    return "" if isinstance(item, (Tensor, SparseTensor)) else item


def _placeholder(text: str) -> str:
    """A placeholder that does not occur in the text."""
    placeholder, count = "{}", 0
    while placeholder in text:
        placeholder = f"{{{count}}}"
        count += 1
    return placeholder


def _template(given: Any, placeholder: str, tensors: list[Any]) -> str:
    """One input as text, with placeholders for its tensors, which are appended to `tensors`."""
    if isinstance(given, str):
        return given
    parts: list[Any] = []
    for item in nest.flatten(given):
        if isinstance(item, SparseTensor):
            tensors.extend([item.indices, item.values, item.dense_shape])
            parts.append(f"SparseTensor(indices={placeholder}, values={placeholder}, shape={placeholder})")
        elif _is_tensor(item):
            tensors.append(item)
            parts.append(placeholder)
        else:
            parts.append(item)
    packed: Sequence[Any] = nest.pack_sequence_as(given, parts)
    return pprint.pformat(packed)


def _is_tensor(item: Any) -> bool:
    return isinstance(item, Tensor) or hasattr(item, "_as_graph_element")
