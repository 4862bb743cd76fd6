"""Tensors that a session keeps between runs, and the clock: GetSessionHandle and its kin, Timestamp, Abort.

Source: tensorflow/core/kernels/session_ops.cc (r1.15).
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..default import get_default_graph
from ..dtypes import ANY, string
from ..errors import AbortedError, FailedPreconditionError, InvalidArgumentError, InvalidTypeError
from ..op import op, raw_ops
from ..operation import Tensor
from . import rules

_NO_GRAD = "what a session keeps is not differentiated"
_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"
KIND = "session tensor"  # of the session's resources


def _get_session_handle(ctx: Any, value: Any, *, node: Any) -> Any:
    """Keeps a tensor in the session; gives the string by which it is found."""
    numbers = ctx.state.resource("session tensor number", "", "", itertools.count)
    handle = f"{node.name};{next(numbers)};{_DEVICE}"
    kept = value.copy()  # a later step or run may write into the buffer
    ctx.state.resource(KIND, "", handle, lambda: kept)
    return np.array(handle.encode(), object)


def find_session_tensor(state: Any, handle: Any) -> Any:
    """The tensor that a session keeps by that handle.

    Raises:
        InvalidArgumentError: There is none.
    """
    name = handle.decode() if isinstance(handle, bytes) else str(handle)
    value = state.find(KIND, "", name)
    if value is None:
        raise InvalidArgumentError(
            f"The tensor with handle '{name}' is not in the session store.", handle=name
        )
    return value


for _version, _type in (("", "string"), ("V2", "resource")):
    op(
        f"GetSessionHandle{_version}",
        f"value: T -> handle: {_type}",
        T=ANY,
        stateful=True,
        no_grad=_NO_GRAD,
    )(_get_session_handle).shape(rules.scalar)


@op("GetSessionTensor", "handle: string -> value: dtype", dtype=ANY, stateful=True, no_grad=_NO_GRAD)
def get_session_tensor_op(ctx: Any, handle: Any, *, dtype: Any) -> Any:
    """The tensor that the session keeps by a handle."""
    value = find_session_tensor(ctx.state, np.asarray(handle, object).item())
    if value.dtype != dtype:
        raise InvalidArgumentError(f"The session keeps a tensor of {value.dtype}, not of {np.dtype(dtype)}")
    return value


get_session_tensor_op.shape(rules.unknown)


@op("DeleteSessionTensor", "handle: string ->", stateful=True, no_grad=_NO_GRAD)
def delete_session_tensor_op(ctx: Any, handle: Any) -> None:
    """Lets go of a tensor that the session keeps."""
    name = np.asarray(handle, object).item().decode()
    if not ctx.state.discard(KIND, "", name):
        raise InvalidArgumentError(
            f"Failed to delete a tensor with handle '{name}' in the session store.", handle=name
        )


delete_session_tensor_op.shape(rules.nothing)


@op(
    "Abort",
    "->",
    "error_msg: string = ''",
    "exit_without_error: bool = false",
    ctx=False,
    effects=True,
    no_grad="it has no inputs",
)
def abort(*, error_msg: str, exit_without_error: bool) -> None:
    """Ends the run with an error; TensorFlow ends the process."""
    if exit_without_error:
        raise FailedPreconditionError("Abort asks to end the process; the run is ended instead")
    raise AbortedError(error_msg or "Abort was executed")


abort.shape(rules.nothing)


# TensorFlow's Python functions


class TensorHandle:
    """A tensor that a session keeps: what fetching `tf.get_session_handle` gives.

    It can be fed in place of its value.

    Args:
        handle: The string by which the session finds it.
        dtype: The tensor's element type.
        session: The session.
    """

    def __init__(self, handle: bytes, dtype: Any, session: Any) -> None:
        self._handle = handle.decode()
        self._dtype = dtype
        self._session = session
        self._is_deleted = False

    @property
    def handle(self) -> str:
        """The string by which the session finds it."""
        return self._handle

    @property
    def dtype(self) -> Any:
        """The tensor's element type."""
        return self._dtype

    def eval(self) -> Any:
        """The tensor's value.

        Raises:
            TypeError: It was deleted.
        """
        self._check()
        return find_session_tensor(self._session._state, self._handle).copy()

    def delete(self) -> None:
        """Lets the session forget it; errors as `eval`."""
        self._check()
        self._is_deleted = True
        self._session._state.discard(KIND, "", self._handle)

    def get_raw_handle(self) -> str:
        """The string by which the session finds it, for a graph that reads or deletes it."""
        return self._handle

    def _check(self) -> None:
        if self._is_deleted:
            raise InvalidTypeError(f"Persistent tensor {self._handle} may have already been deleted.")

    def __str__(self) -> str:
        return self._handle


def get_session_handle(data: Any, name: str | None = None) -> Any:
    """`tf.get_session_handle`: keeps a tensor in the session; fetched, it is a `TensorHandle`.

    Raises:
        TypeError: `data` is no tensor.
    """
    if not isinstance(data, Tensor):
        raise InvalidTypeError("`data` must be of type Tensor.")
    with get_default_graph().colocate_with(data):
        return raw_ops.GetSessionHandle(data, name=name)


def get_session_tensor(handle: Any, dtype: Any, name: str | None = None) -> tuple[Any, Any]:
    """`tf.get_session_tensor`: reads what a session keeps.

    Returns:
        `(holder, tensor)`: feed the handle to `holder` to get the tensor.
    """
    with get_default_graph().device(str(handle).split(";")[-1]):
        holder = raw_ops.Placeholder(dtype=string)
        return holder, raw_ops.GetSessionTensor(holder, dtype=dtype, name=name)


def delete_session_tensor(handle: Any, name: str | None = None) -> tuple[Any, Any]:
    """`tf.delete_session_tensor`: lets go of what a session keeps.

    Returns:
        `(holder, operation)`: feed the handle to `holder` and run the operation.
    """
    with get_default_graph().device(str(handle).split(";")[-1]):
        holder = raw_ops.Placeholder(dtype=string)
        return holder, raw_ops.DeleteSessionTensor(holder, name=name)
