"""The one exception tree of sgtool, with TensorFlow's canonical error classes.

Every error that sgtool raises on purpose is an `OpError`. The sixteen canonical classes are
TensorFlow's (`tf.errors.NotFoundError`, ...) and carry its numeric `error_code`; `graphcore.errors`
re-exports them. Two more branches exist where the canonical class alone would lose what callers
expect: a leaf may also inherit the built-in exception that the same mistake raises elsewhere
(`ValueError` for a fed array of the wrong shape, `TypeError` for a wrong dtype, ...).

A message says what is wrong, where, and what to do. The facts behind it are attributes
(`error.fields`), so that `--json` and callers need not parse text.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_COMPARED = 1000  # names that `nearest` compares in full

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """Root of every deliberate error; TensorFlow's `tf.errors.OpError`.

    Constructed with a message and facts, `NotFoundError("...", path=p)`, or as TensorFlow does,
    `NotFoundError(node_def, op, message)`.

    Attributes:
        message: What is wrong, where, and what to do.
        error_code: TensorFlow's canonical code (an int).
        op: The graph operation that failed, if any.
        node_def: Its NodeDef, if any.
        fields: The facts behind the message, by name, JSON-serialisable.
    """

    error_code = UNKNOWN

    def __init__(self, *args: Any, **fields: Any) -> None:
        if len(args) >= 3:
            self.node_def, self.op, self.message = args[:3]
            if len(args) > 3:
                self.error_code = args[3]
        else:
            self.node_def, self.op = None, None
            self.message = args[0] if args else ""
        self.fields: dict[str, Any] = fields
        super().__init__(self.message)

    def __str__(self) -> str:
        return str(self.message)

    def __reduce__(self) -> tuple[Any, ...]:
        # Messages of the private pool and graph operations do not pickle; the text and facts do.
        return _rebuild, (type(self), str(self.message), self.fields)


def _rebuild(kind: type[OpError], message: str, fields: dict[str, Any]) -> OpError:
    return kind(message, **fields)


class CancelledError(OpError):
    """The operation was cancelled, usually because the session was closed."""

    error_code = CANCELLED


class UnknownError(OpError):
    """An error that fits no other class."""

    error_code = UNKNOWN


class InvalidArgumentError(OpError):
    """An operation received an argument that it cannot work with."""

    error_code = INVALID_ARGUMENT


class DeadlineExceededError(OpError):
    """A deadline passed before the operation finished."""

    error_code = DEADLINE_EXCEEDED


class NotFoundError(OpError):
    """Something that was asked for (a file, a key, an op type) does not exist."""

    error_code = NOT_FOUND


class AlreadyExistsError(OpError):
    """Something that was to be created exists already."""

    error_code = ALREADY_EXISTS


class PermissionDeniedError(OpError):
    """The caller may not do this; a file policy or the operating system refused."""

    error_code = PERMISSION_DENIED


class ResourceExhaustedError(OpError):
    """Memory, disk or a quota ran out."""

    error_code = RESOURCE_EXHAUSTED


class FailedPreconditionError(OpError):
    """The system is not in the state that the operation needs (an uninitialized variable)."""

    error_code = FAILED_PRECONDITION


class AbortedError(OpError):
    """The operation was aborted, usually by a conflict with another."""

    error_code = ABORTED


class OutOfRangeError(OpError):
    """Reading went past the end (of a queue, a file)."""

    error_code = OUT_OF_RANGE


class UnimplementedError(OpError):
    """The op, dtype or format is known to exist but is not implemented here."""

    error_code = UNIMPLEMENTED


class InternalError(OpError):
    """An invariant of sgtool is broken: a bug."""

    error_code = INTERNAL


class UnavailableError(OpError):
    """A service or an optional dependency cannot be reached now."""

    error_code = UNAVAILABLE


class DataLossError(OpError):
    """Stored data is damaged: a bad checksum, a truncated or garbled file."""

    error_code = DATA_LOSS


class UnauthenticatedError(OpError):
    """The request has no valid credentials."""

    error_code = UNAUTHENTICATED


class MissingFileError(NotFoundError, FileNotFoundError):
    """A file or directory that was named does not exist."""

    # OSError formats itself from errno; ours is the message alone.
    __str__ = OpError.__str__


class MissingPartError(MissingFileError, DataLossError):
    """A file that belongs to others which are there does not exist: what it held is lost."""


class MissingNameError(NotFoundError, KeyError):
    """A tensor, operation, variable or key of that name does not exist."""

    __str__ = OpError.__str__


class DirectoryNotEmptyError(AlreadyExistsError, AssertionError):
    """A directory that was to be made new has files in it; TensorFlow reports an AssertionError."""


class InvalidValueError(InvalidArgumentError, ValueError):
    """A value (a shape, a spec, a name) that Python code would report as ValueError."""


class InvalidTypeError(InvalidArgumentError, TypeError):
    """A type or dtype that Python code would report as TypeError."""


class InvalidStateError(FailedPreconditionError, RuntimeError):
    """Something is not in the state for what is asked; Python code would report a RuntimeError."""


class InvalidUseError(FailedPreconditionError, AssertionError):
    """Something is asked for out of order, or without what it needs; TensorFlow reports an AssertionError."""


class UnparsedFileError(DataLossError, OSError):
    """A file is not what it should be; TensorFlow reports an IOError."""

    __str__ = OpError.__str__


class NotSupportedError(UnimplementedError, NotImplementedError):
    """An operation of the interface that nobody implements, here or in TensorFlow."""


class MissingExtraError(UnavailableError, ImportError):
    """An optional dependency is not installed; the message names the extra."""

    __str__ = OpError.__str__


def is_unreadable(error: BaseException) -> bool:
    """Whether an error says that a file is not given, whatever is in it: that is no damage.

    The operating system refuses or fails (permission, a failing disk, a directory or pipe in its place), or
    a server does. That a file is not there is none of these.
    """
    if isinstance(error, (MissingFileError, MissingExtraError)) or not isinstance(error, OpError):
        return False
    refused = isinstance(error, (PermissionDeniedError, UnauthenticatedError, UnavailableError))
    return refused or "errno" in error.fields


EXCEPTION_BY_CODE: dict[int, type[OpError]] = {
    kind.error_code: kind
    for kind in (
        CancelledError,
        UnknownError,
        InvalidArgumentError,
        DeadlineExceededError,
        NotFoundError,
        AlreadyExistsError,
        PermissionDeniedError,
        ResourceExhaustedError,
        FailedPreconditionError,
        AbortedError,
        OutOfRangeError,
        UnimplementedError,
        InternalError,
        UnavailableError,
        DataLossError,
        UnauthenticatedError,
    )
}


def nearest(name: str, candidates: Iterable[str], count: int = 3) -> list[str]:
    """The `candidates` that look most like `name`, best first, at most `count`."""
    import difflib
    import heapq

    pool = list(candidates)
    if len(pool) > _COMPARED:  # difflib takes seconds for the names of a large checkpoint
        pool = heapq.nlargest(_COMPARED, pool, key=lambda other: _shared_ends(name, other))
    return difflib.get_close_matches(name, pool, n=count, cutoff=0.6)


def _shared_ends(name: str, other: str) -> int:
    """How many characters two names share at their beginning and at their end."""
    ends = (name, other), (name[::-1], other[::-1])
    return sum(len(os.path.commonprefix(pair)) for pair in ends)  # noqa: RUF071 - characters are meant


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """A sentence " Did you mean 'a', 'b'?" with the nearest candidates, or nothing."""
    return suggestion(nearest(name, candidates))


def suggestion(names: Sequence[str]) -> str:
    """The sentence " Did you mean 'a', 'b'?" for names that were found already, or nothing without any."""
    return f" Did you mean {', '.join(map(repr, names))}?" if names else ""


def damaged_together(damaged: Mapping[str, DataLossError]) -> DataLossError:
    """One error for all tensors that are damaged, by name; each error says of its own where and why."""
    errors = list(damaged.values())
    told = [error.message for error in errors]
    text = told[0] if len(told) == 1 else f"{len(told)} variables are damaged:{bullets(told)}"
    hint = "\n`sgtool verify` says what is intact, and its --salvage OUT writes that."
    return DataLossError(text + hint, **{**errors[0].fields, "damaged": list(damaged)})


def bullets(lines: Sequence[str], limit: int = 50) -> str:
    """`lines` as an indented list, one a line; beyond `limit` only how many more there are."""
    shown = [f"\n  {line}" for line in lines[:limit]]
    if len(lines) > limit:
        shown.append(f"\n  ... and {len(lines) - limit} more")
    return "".join(shown)
