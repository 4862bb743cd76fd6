"""TensorFlow's error classes (`tf.errors`), with the failing operation attached.

The classes are those of `formats.errors`; here they learn about graph operations: `at_operation`
turns whatever a kernel raised into the canonical error with the node's name, op, input shapes and
the place in the user's code where the node was made, as TensorFlow 1.15 prints it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..formats.errors import (
    ABORTED,
    ALREADY_EXISTS,
    CANCELLED,
    DATA_LOSS,
    DEADLINE_EXCEEDED,
    EXCEPTION_BY_CODE,
    FAILED_PRECONDITION,
    INTERNAL,
    INVALID_ARGUMENT,
    NOT_FOUND,
    OK,
    OUT_OF_RANGE,
    PERMISSION_DENIED,
    RESOURCE_EXHAUSTED,
    UNAUTHENTICATED,
    UNAVAILABLE,
    UNIMPLEMENTED,
    UNKNOWN,
    AbortedError,
    AlreadyExistsError,
    CancelledError,
    DataLossError,
    DeadlineExceededError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    InvalidStateError,
    InvalidTypeError,
    InvalidValueError,
    MissingExtraError,
    MissingFileError,
    MissingNameError,
    NotFoundError,
    NotSupportedError,
    OpError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
    UnknownError,
)
from . import not_yet

if TYPE_CHECKING:
    from .operation import Operation

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "ABORTED",
    "ALREADY_EXISTS",
    "CANCELLED",
    "DATA_LOSS",
    "DEADLINE_EXCEEDED",
    "EXCEPTION_BY_CODE",
    "FAILED_PRECONDITION",
    "INTERNAL",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "OK",
    "OUT_OF_RANGE",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNIMPLEMENTED",
    "UNKNOWN",
    "AbortedError",
    "AlreadyExistsError",
    "CancelledError",
    "DataLossError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "InvalidStateError",
    "InvalidTypeError",
    "InvalidValueError",
    "MissingExtraError",
    "MissingFileError",
    "MissingNameError",
    "NotFoundError",
    "NotSupportedError",
    "OpError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
    "at_operation",
    "error_code_from_exception_type",
    "exception_type_from_error_code",
]


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class of a canonical error code.

    Raises:
        KeyError: There is none of that code.
    """
    return EXCEPTION_BY_CODE[error_code]


def error_code_from_exception_type(cls: type[OpError]) -> int:
    """The canonical error code of a class, or of the nearest of its bases that has one."""
    return cls.error_code


def at_operation(error: Exception, operation: Operation, inputs: tuple[Any, ...] = ()) -> OpError:
    """`error` as an OpError that names `operation`.

    An OpError keeps its class; anything else that a kernel let through (a NumPy error) becomes an
    InvalidArgumentError, or ResourceExhaustedError when memory ran out, with the original as cause.

    Args:
        error: What the kernel raised.
        operation: The operation that it ran for.
        inputs: The values that it was given, for their shapes and dtypes.
    """
    if isinstance(error, OpError) and error.op is not None:  # from a plan that this operation runs
        outer = type(error)(
            f"{error.message}\n\t run by [[node {operation.name} (op: {operation.type})]]", **error.fields
        )
        outer.op, outer.node_def = error.op, error.node_def
        return outer
    kind: type[OpError]
    if isinstance(error, OpError):
        kind = type(error)
        text, fields = error.message, dict(error.fields)
    else:
        kind = ResourceExhaustedError if isinstance(error, MemoryError) else InvalidArgumentError
        text, fields = _describe(error, inputs), {}
    shapes = ", ".join(
        f"{'string' if getattr(value.dtype, 'kind', '') in tuple('OSU') else value.dtype}{list(value.shape)}"
        for value in inputs
        if getattr(value, "shape", None) is not None and hasattr(value, "dtype")
    )
    where = operation.defined_at
    lines = [
        text,
        f"\t [[node {operation.name} (op: {operation.type}){f', defined at {where}' if where else ''}]]",
    ]
    if shapes:
        lines.append(f"\t inputs: {shapes}")
    fields |= {"node": operation.name, "op": operation.type}
    located = kind("\n".join(lines), **fields)
    located.op, located.node_def = operation, operation.node_def
    return located


def _describe(error: Exception, inputs: tuple[Any, ...]) -> str:
    """What NumPy said, in TensorFlow's words where users know those."""
    text = str(error) or type(error).__name__
    if "broadcast" in text and len(inputs) > 1:
        first, second = ("[" + ",".join(map(str, getattr(value, "shape", ()))) + "]" for value in inputs[:2])
        return f"Incompatible shapes: {first} vs. {second}"
    return text
