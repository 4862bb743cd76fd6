"""Tensors and sparse tensors as strings (TensorProto messages), as variants, and kept by handle.

Source: tensorflow/core/kernels/serialize_sparse_op.cc, deserialize_sparse_string_op.cc,
sparse_tensors_map_ops.cc, parse_tensor_op.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...formats import protos, tensor_proto
from ..dtypes import ANY, DType, as_dtype, int64, string, variant
from ..errors import InvalidArgumentError, OpError
from ..op import GraphOp, op
from ..shapes import Shape, format_shape, vector_of, with_rank, with_rank_at_least
from . import rules
from .sparse_math import check_sparse

_NO_GRAD = "it gives strings"
_SPARSE = "sparse_indices: int64, sparse_values: T, sparse_shape: int64"
_OUT = "sparse_indices: int64, sparse_values: dtype, sparse_shape: int64"
Sparse = tuple[Any, Any, Any]


def to_bytes(array: Any, dtype: DType) -> bytes:
    """An array as a serialized TensorProto."""
    data: bytes = tensor_proto.from_array(array, dtype._info).SerializeToString()
    return data


def from_bytes(data: bytes, what: str) -> Any:
    """The array in a serialized TensorProto.

    Raises:
        InvalidArgumentError: The bytes are none, or its parts do not fit.
    """
    from google.protobuf.message import DecodeError

    try:
        proto = protos.TensorProto.FromString(data)
    except DecodeError as error:
        raise InvalidArgumentError(f"{what}: could not parse serialized proto ({len(data)} bytes)") from error
    try:
        return tensor_proto.to_array(proto, what)
    except OpError as error:
        raise InvalidArgumentError(f"{what}: could not construct tensor from proto: {error}") from error


# Dense tensors


@op("SerializeTensor", "tensor: T -> serialized: string", T=ANY, no_grad="TensorFlow declares none")
def serialize_tensor(tensor: Any, *, node: Any) -> Any:
    """A tensor as a serialized TensorProto."""
    return np.array(to_bytes(tensor, node.attr("T")), object)


serialize_tensor.shape(rules.scalar)


@op("ParseTensor", "serialized: string -> output: out_type", out_type=ANY, no_grad="TensorFlow declares none")
def parse_tensor(serialized: Any, *, node: Any) -> Any:
    """The tensor in a serialized TensorProto."""
    if np.ndim(serialized):
        raise InvalidArgumentError(
            f"Expected `serialized` to be a scalar, got shape: {format_shape(np.shape(serialized))}"
        )
    data = np.reshape(serialized, -1)[0]
    array = from_bytes(data, node.name)
    found = as_dtype(protos.TensorProto.FromString(data).dtype)
    wanted = node.attr("out_type")
    if found != wanted:
        raise InvalidArgumentError(
            f"Type mismatch between parsed tensor ({found.name}) and dtype ({wanted.name})"
        )
    return array


parse_tensor.shape(lambda node: None)


# Sparse tensors


def _rows(indices: Any, values: Any, shape: Any) -> list[Sparse]:
    """The sparse tensors of which the rows of one consist.

    Raises:
        InvalidArgumentError: The rank is less than 2, or the indices are not in order.
    """
    check_sparse(indices, values, shape)
    if len(shape) < 2:
        raise InvalidArgumentError(f"Rank of input SparseTensor should be > 1, but saw rank: {len(shape)}")
    count, first = int(shape[0]), indices[:, 0]
    wrong = np.flatnonzero((first < 0) | (first >= count))
    if len(wrong):
        raise InvalidArgumentError(
            f"Received unexpected column 0 value in input SparseTensor: {first[wrong[0]]} < 0 or >= N "
            f"(= {count})"
        )
    if np.any(first[1:] < first[:-1]):
        at = int(np.flatnonzero(first[1:] < first[:-1])[0]) + 1
        raise InvalidArgumentError(
            f"indices[{at}] = {format_shape(indices[at].tolist())} is out of order. Many sparse ops "
            "require sorted indices."
        )
    bounds = np.searchsorted(first, np.arange(count + 1)).tolist()
    return [
        (indices[start:end, 1:], values[start:end], shape[1:]) for start, end in itertools.pairwise(bounds)
    ]


def _batched(tensors: Sequence[Sparse], lead: Sequence[int]) -> Sparse:
    """Sparse tensors as one with more axes in front; the sizes are the largest of all.

    Raises:
        InvalidArgumentError: The ranks differ.
    """
    rank = len(tensors[0][2])
    for number, (_, _, shape) in enumerate(tensors):
        if len(shape) != rank:
            raise InvalidArgumentError(
                "Inconsistent shape across SparseTensors: rank prior to "
                f"SparseTensor[{number}] was: {rank} but rank of SparseTensor[{number}] is: {len(shape)}"
            )
    places = [
        np.tile(np.array(np.unravel_index(number, lead), np.int64), (len(indices), 1))
        for number, (indices, _, _) in enumerate(tensors)
    ]
    indices = np.concatenate([np.concatenate(places), np.concatenate([one[0] for one in tensors])], axis=1)
    largest = np.max([shape for _, _, shape in tensors], axis=0)
    values = np.concatenate([values for _, values, _ in tensors])
    return indices, values, np.concatenate([np.array(lead, np.int64), largest]).astype(np.int64)


def _as_items(parts: Sparse, node: Any) -> list[Any]:
    """The three parts as strings, or as variants."""
    if node.attr("out_type") == variant:
        return list(parts)
    return [to_bytes(part, dtype) for part, dtype in zip(parts, (int64, node.attr("T"), int64))]


def _objects(items: Sequence[Any]) -> np.ndarray:
    result = np.empty(len(items), object)
    for index, item in enumerate(items):
        result[index] = item
    return result


@op(
    "SerializeSparse",
    f"{_SPARSE} -> serialized_sparse: out_type",
    T=ANY,
    out_type=((string, variant), string),
    no_grad=_NO_GRAD,
)
def serialize_sparse(sparse_indices: Any, sparse_values: Any, sparse_shape: Any, *, node: Any) -> Any:
    """A sparse tensor as a vector of three strings: indices, values and shape."""
    check_sparse(sparse_indices, sparse_values, sparse_shape)
    return _objects(_as_items((sparse_indices, sparse_values, sparse_shape), node))


serialize_sparse.shape(lambda node: (3,))


@op(
    "SerializeManySparse",
    f"{_SPARSE} -> serialized_sparse: out_type",
    T=ANY,
    out_type=((string, variant), string),
    no_grad=_NO_GRAD,
)
def serialize_many_sparse(sparse_indices: Any, sparse_values: Any, sparse_shape: Any, *, node: Any) -> Any:
    """Each row of a sparse tensor as three strings."""
    rows = _rows(sparse_indices, sparse_values, sparse_shape)
    return _objects([item for row in rows for item in _as_items(row, node)]).reshape(len(rows), 3)


serialize_many_sparse.shape(lambda node: (None, 3))


def _restored(items: Sequence[Any], dtype: Any, number: int) -> Sparse:
    parts = [from_bytes(item, "a sparse tensor") if isinstance(item, bytes) else item for item in items]
    for index, (part, rank, kind) in enumerate(
        zip(parts, (2, 1, 1), ("an index matrix", "a values vector", "a shape vector"))
    ):
        if np.ndim(part) != rank:
            raise InvalidArgumentError(
                f"Expected serialized_sparse[{number}, {index}] to represent {kind} but received shape "
                f"{format_shape(np.shape(part))}"
            )
    found = as_dtype(string if parts[1].dtype == object else parts[1].dtype)
    if found != dtype:
        raise InvalidArgumentError(
            f"Requested SparseTensor of type {dtype.name} but SparseTensor[{number}].values.dtype() == "
            f"{found.name}"
        )
    check_sparse(*parts)
    return parts[0], parts[1], parts[2]


def _deserialize(serialized_sparse: Any, dtype: Any) -> Sparse:
    """The sparse tensors of the rows as one; of a single vector the one that it is."""
    shape = np.shape(serialized_sparse)
    if not shape:
        raise InvalidArgumentError(f"Serialized sparse should have non-zero rank {format_shape(shape)}")
    if shape[-1] != 3:
        raise InvalidArgumentError(
            f"Serialized sparse should have 3 as the last dimension {format_shape(shape)}"
        )
    if not serialized_sparse.size:
        raise InvalidArgumentError(
            "Serialized sparse should have at least 1 serialized tensor, but has a zero dimension "
            f"{format_shape(shape)}"
        )
    rows = serialized_sparse.reshape(-1, 3)
    tensors = [_restored(row, dtype, number) for number, row in enumerate(rows)]
    return tensors[0] if len(shape) == 1 else _batched(tensors, shape[:-1])


@op(
    "DeserializeSparse",
    f"serialized_sparse: Tserialized -> {_OUT}",
    dtype=ANY,
    Tserialized=((string, variant), string),
    undefined_grad=_NO_GRAD,
)
def deserialize_sparse(serialized_sparse: Any, *, dtype: Any) -> Sparse:
    """The sparse tensors that SerializeSparse or SerializeManySparse made strings of, as one."""
    return _deserialize(serialized_sparse, as_dtype(dtype))


@deserialize_sparse.shape
def _(node: Any) -> list[Shape]:
    serialized = with_rank_at_least(node.shape(0), 1)
    if serialized is not None:
        vector_of(serialized[-1:], 3)
    return [(None, None), (None,), (None,)]


@op("DeserializeManySparse", f"serialized_sparse: string -> {_OUT}", dtype=ANY, undefined_grad=_NO_GRAD)
def deserialize_many_sparse(serialized_sparse: Any, *, dtype: Any) -> Sparse:
    """The sparse tensors of a minibatch as one with a first axis more."""
    if np.ndim(serialized_sparse) != 2:
        raise InvalidArgumentError(
            f"Serialized sparse should be a matrix but received shape "
            f"{format_shape(np.shape(serialized_sparse))}"
        )
    return _deserialize(serialized_sparse, as_dtype(dtype))


@deserialize_many_sparse.shape
def _(node: Any) -> list[Shape]:
    serialized = with_rank(node.shape(0), 2)
    if serialized is not None:
        vector_of(serialized[-1:], 3)
    return [(None, None), (None,), (None,)]


# Kept by handle


class _Map:
    """Sparse tensors by handle."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.numbers = itertools.count()
        self.tensors: dict[int, Sparse] = {}

    def add(self, parts: Sparse) -> int:
        handle = next(self.numbers)
        self.tensors[handle] = parts
        return handle


def _map_of(ctx: Any, node: Any) -> _Map:
    container, shared = node.attr("container").decode(), node.attr("shared_name").decode() or node.name
    found: _Map = ctx.state.resource("sparse tensors map", container, shared, lambda: _Map(shared))
    return found


def _adding(name: str, output: str, kernel: Any) -> GraphOp:
    return op(
        name,
        f"{_SPARSE} -> {output}: int64",
        "container: string = ''",
        "shared_name: string = ''",
        T=ANY,
        stateful=True,
        no_grad="it gives handles",
    )(kernel)


def _add_one(ctx: Any, sparse_indices: Any, sparse_values: Any, sparse_shape: Any, *, node: Any) -> Any:
    """Keeps a sparse tensor; gives its handle."""
    check_sparse(sparse_indices, sparse_values, sparse_shape)
    return np.int64(_map_of(ctx, node).add((sparse_indices, sparse_values, sparse_shape)))


def _add_many(ctx: Any, sparse_indices: Any, sparse_values: Any, sparse_shape: Any, *, node: Any) -> Any:
    """Keeps each row of a sparse tensor; gives their handles."""
    rows = _rows(sparse_indices, sparse_values, sparse_shape)
    known = _map_of(ctx, node)
    return np.array([known.add(row) for row in rows], np.int64)


_adding("AddSparseToTensorsMap", "sparse_handle", _add_one).shape(rules.scalar)
_adding("AddManySparseToTensorsMap", "sparse_handles", _add_many).shape(lambda node: (None,))


@op(
    "TakeManySparseFromTensorsMap",
    f"sparse_handles: int64 -> {_OUT}",
    "container: string = ''",
    "shared_name: string = ''",
    dtype=ANY,
    stateful=True,
    no_grad="it takes handles",
)
def take_many_sparse_from_tensors_map(ctx: Any, sparse_handles: Any, *, dtype: Any, node: Any) -> Sparse:
    """The sparse tensors of a minibatch of handles as one; each handle can be taken once."""
    if np.ndim(sparse_handles) != 1:
        raise InvalidArgumentError(
            f"sparse_handles should be a vector but received shape {format_shape(np.shape(sparse_handles))}"
        )
    if not len(sparse_handles):
        raise InvalidArgumentError(
            "Must have at least 1 serialized SparseTensor, but input matrix has 0 rows"
        )
    known = _map_of(ctx, node)
    handles = sparse_handles.tolist()
    unknown = [handle for handle in handles if handle not in known.tensors]
    if unknown:
        raise InvalidArgumentError(f"Unable to find SparseTensor: {unknown[0]} in map: {known.name}")
    tensors = [
        _restored(known.tensors.pop(handle), as_dtype(dtype), number) for number, handle in enumerate(handles)
    ]
    return _batched(tensors, (len(tensors),))


@take_many_sparse_from_tensors_map.shape
def _(node: Any) -> list[Shape]:
    with_rank(node.shape(0), 1)
    return [(None, None), (None,), (None,)]
