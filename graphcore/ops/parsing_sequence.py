"""SequenceExamples: a context of features, and lists of features in time.

Source: tensorflow/core/kernels/example_parsing_ops.cc and
core/util/example_proto_fast_parsing.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...formats import protos
from ..dtypes import DType
from ..errors import DataLossError, InvalidArgumentError, InvalidValueError
from ..op import op
from ..shapes import Shape, format_shape, num_elements, with_rank
from .parsing import FEATURE_TYPES

_NO_GRAD = "serialized data is not differentiable"
_KINDS = {"float32": "float_list", "int64": "int64_list", "string": "bytes_list"}
_WORDS = {"float32": "float", "int64": "int64", "string": "string"}
_COUNTS = (
    "Ncontext_sparse: int >= 0 = 0",
    "Ncontext_dense: int >= 0 = 0",
    "Nfeature_list_sparse: int >= 0 = 0",
    "Nfeature_list_dense: int >= 0 = 0",
)
_TYPES = (
    f"context_sparse_types: list({FEATURE_TYPES}) >= 0 = []",
    f"Tcontext_dense: list({FEATURE_TYPES}) >= 0 = []",
    f"feature_list_dense_types: list({FEATURE_TYPES}) >= 0 = []",
    "context_dense_shapes: list(shape) >= 0 = []",
    f"feature_list_sparse_types: list({FEATURE_TYPES}) >= 0 = []",
    "feature_list_dense_shapes: list(shape) >= 0 = []",
)
_OUTPUTS = (
    "context_sparse_indices: Ncontext_sparse * int64, context_sparse_values: context_sparse_types, "
    "context_sparse_shapes: Ncontext_sparse * int64, context_dense_values: Tcontext_dense, "
    "feature_list_sparse_indices: Nfeature_list_sparse * int64, "
    "feature_list_sparse_values: feature_list_sparse_types, "
    "feature_list_sparse_shapes: Nfeature_list_sparse * int64, "
    "feature_list_dense_values: feature_list_dense_types"
)


def _values(feature: Any, dtype: DType) -> np.ndarray | None:
    """The values of a feature; none where it is of no kind, None where it is of another than `dtype`."""
    kind = feature.WhichOneof("kind")
    if kind is None:
        return np.empty(0, dtype.np)
    if kind != _KINDS[dtype.name]:
        return None
    found = getattr(feature, kind).value
    array = np.empty(len(found), dtype.np)
    array[:] = list(found)
    return array


def _size(shape: Shape) -> int:
    """The number of elements of a declared shape, which must be known.

    Raises:
        InvalidArgumentError: It is not.
    """
    size = num_elements(shape)
    if size is None:
        raise InvalidArgumentError(
            f"The shapes of dense features must be known, but one is {format_shape(shape)}"
        )
    return size


def _grouped(triples: Sequence[tuple[Any, Any, Any]]) -> list[Any]:
    """All indices, all values, all shapes of sparse tensors, as the ops give them."""
    return [part for column in range(3) for part in (triple[column] for triple in triples)]


def _sparse(rows: Sequence[np.ndarray], dtype: DType, head: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Rows of values as one sparse matrix; `head` are index columns in front of them, by row."""
    lengths = [len(row) for row in rows]
    columns = [np.repeat(np.asarray(each, np.int64), lengths) for each in head]
    within = [np.arange(length, dtype=np.int64) for length in lengths]
    columns.append(np.concatenate([np.empty(0, np.int64), *within]))
    values = np.concatenate([np.empty(0, dtype.np), *rows])
    return np.stack(columns, axis=1), values, max(lengths, default=0)


# One record


@op(
    "ParseSingleSequenceExample",
    "serialized: string, feature_list_dense_missing_assumed_empty: string, "
    "context_sparse_keys: Ncontext_sparse * string, context_dense_keys: Ncontext_dense * string, "
    "feature_list_sparse_keys: Nfeature_list_sparse * string, "
    "feature_list_dense_keys: Nfeature_list_dense * string, context_dense_defaults: Tcontext_dense, "
    f"debug_name: string -> {_OUTPUTS}",
    *_COUNTS,
    *_TYPES,
    no_grad=_NO_GRAD,
)
def parse_single_sequence_example_op(
    serialized: Any,
    feature_list_dense_missing_assumed_empty: Any,
    context_sparse_keys: list[Any],
    context_dense_keys: list[Any],
    feature_list_sparse_keys: list[Any],
    feature_list_dense_keys: list[Any],
    context_dense_defaults: list[Any],
    debug_name: Any,
    *,
    context_dense_shapes: Any,
    feature_list_dense_shapes: Any,
    node: Any,
) -> list[Any]:
    """The features of one serialized SequenceExample."""
    if np.ndim(serialized):
        raise InvalidArgumentError(
            "Expected serialized to be a scalar, got shape: " + format_shape(np.shape(serialized))
        )
    data = np.asarray(serialized, object).item()
    try:
        record = protos.parse(protos.SequenceExample, data, "the serialized SequenceExample")
    except DataLossError as error:
        raise InvalidArgumentError(f"Could not parse example input, value: '{data[:100]!r}'") from error
    one = _Record(record, _called(debug_name))
    missing = _texts(feature_list_dense_missing_assumed_empty)
    dense = [
        one.context(key, dtype, shape, default)
        for key, dtype, shape, default in zip(
            map(_text, context_dense_keys),
            node.attr("Tcontext_dense"),
            context_dense_shapes,
            context_dense_defaults,
        )
    ]
    sparse = []
    for key, dtype in zip(map(_text, context_sparse_keys), node.attr("context_sparse_types")):
        indices, values, width = _sparse([one.context_values(key, dtype)], dtype, [])
        sparse.append((indices, values, np.array([width], np.int64)))
    lists = [
        one.dense_list(key, dtype, shape, key in missing)
        for key, dtype, shape in zip(
            map(_text, feature_list_dense_keys),
            node.attr("feature_list_dense_types"),
            feature_list_dense_shapes,
        )
    ]
    sparse_lists = []
    for key, dtype in zip(map(_text, feature_list_sparse_keys), node.attr("feature_list_sparse_types")):
        rows = one.sparse_list(key, dtype)
        indices, values, width = _sparse(rows, dtype, [np.arange(len(rows))])
        sparse_lists.append((indices, values, np.array([len(rows), width], np.int64)))
    return [*_grouped(sparse), *dense, *_grouped(sparse_lists), *lists]


def _text(key: Any) -> str:
    return np.reshape(key, -1)[0].decode("utf-8", "surrogateescape")  # type: ignore[no-any-return]


def _texts(keys: Any) -> set[str]:
    return {key.decode("utf-8", "surrogateescape") for key in np.reshape(keys, -1).tolist()}


def _called(debug_name: Any) -> str:
    names = np.reshape(debug_name, -1).tolist()
    return names[0].decode(errors="replace") if names else "<unknown>"


class _Record:
    """One SequenceExample, for the op that parses a single one.

    Args:
        record: The message.
        name: What messages call it.
    """

    def __init__(self, record: Any, name: str) -> None:
        self._context = record.context.feature
        self._lists = record.feature_lists.feature_list
        self._name = name

    def _matching(self, feature: Any, dtype: DType, what: str) -> np.ndarray:
        values = _values(feature, dtype)
        if values is None:
            raise InvalidArgumentError(
                f"Name: {self._name}, {what}.  Data types don't match. Expected type: "
                f"{_WORDS[dtype.name]}  Feature is: {protos.format_text(feature)}"
            )
        return values

    def _of_kind(self, feature: Any, dtype: DType, what: str) -> np.ndarray:
        """As `_matching`, but a feature of no kind is an error, too."""
        if feature.WhichOneof("kind") is None:
            raise InvalidArgumentError(
                f"Name: {self._name}, {what}.  Data types don't match. Expected type: "
                f"{_WORDS[dtype.name]}  Feature is: {protos.format_text(feature)}"
            )
        return self._matching(feature, dtype, what)

    def _shaped(self, values: np.ndarray, key: str, dtype: DType, shape: Any, index: int) -> np.ndarray:
        if len(values) != _size(shape):
            word = {"string": "bytes"}.get(dtype.name, _WORDS[dtype.name])
            raise InvalidArgumentError(
                f"Name: {self._name}, Key: {key}, Index: {index}.  Number of {word} values != expected.  "
                f"values size: {len(values)} but output shape: {format_shape(shape)}",
                key=key,
            )
        return values.reshape(shape)

    def context(self, key: str, dtype: DType, shape: Any, default: np.ndarray) -> np.ndarray:
        """A dense feature of the context."""
        size = _size(shape)
        if default.size and default.shape != shape:
            raise InvalidArgumentError(
                f"Expected context_dense_defaults of '{key}' to have shape {format_shape(shape)}, got "
                f"{format_shape(default.shape)}"
            )
        if key in self._context:
            values = self._of_kind(self._context[key], dtype, f"Context feature: {key}")
            return self._shaped(values, key, dtype, shape, 0)
        if size and not default.size:
            raise InvalidArgumentError(
                f"Name: {self._name}, Context feature '{key}' is required but could not be found.", key=key
            )
        return default.reshape(shape)

    def context_values(self, key: str, dtype: DType) -> np.ndarray:
        """A feature of the context of any length."""
        if key not in self._context:
            return np.empty(0, dtype.np)
        return self._matching(self._context[key], dtype, f"Context feature: {key}")

    def dense_list(self, key: str, dtype: DType, shape: Any, may_miss: bool) -> np.ndarray:
        """A list of features of one shape."""
        if key not in self._lists and not may_miss:
            raise InvalidArgumentError(
                f"Name: {self._name}, Feature list '{key}' is required but could not be found.  Did you "
                "mean to include it in feature_list_dense_missing_assumed_empty or "
                "feature_list_dense_defaults?",
                key=key,
            )
        features = list(self._lists[key].feature) if key in self._lists else []
        _size(shape)
        result = np.empty((len(features), *shape), dtype.np)
        for index, feature in enumerate(features):
            values = self._of_kind(feature, dtype, f"Feature list: {key}, Index: {index}")
            result[index] = self._shaped(values, key, dtype, shape, index)
        return result

    def sparse_list(self, key: str, dtype: DType) -> list[np.ndarray]:
        """A list of features of any lengths."""
        features = self._lists[key].feature if key in self._lists else ()
        return [
            self._matching(feature, dtype, f"Feature List: {key}, Index: {index}")
            for index, feature in enumerate(features)
        ]


def _check_counts(node: Any) -> None:
    """Raises InvalidValueError unless the counts are those of the types and shapes."""
    for count, lists in (
        ("Ncontext_sparse", ("context_sparse_types",)),
        ("Ncontext_dense", ("Tcontext_dense", "context_dense_shapes")),
        ("Nfeature_list_sparse", ("feature_list_sparse_types",)),
        ("Nfeature_list_dense", ("feature_list_dense_types", "feature_list_dense_shapes")),
    ):
        keys = f"{count[1:]}_keys"
        if node.node.has_attr(keys):
            lists = (keys, *lists)
        sizes = [len(node.attr(name)) for name in lists]
        if any(size != node.attr(count) for size in sizes):
            parts = " and ".join(f"{name} ({size})" for name, size in zip(lists, sizes))
            raise InvalidValueError(f"num_{count[1:]} ({node.attr(count)}) must match the size of {parts}")


def _joined(*shapes: Shape) -> Shape:
    if any(shape is None for shape in shapes):
        return None
    return tuple(dim for shape in shapes for dim in shape or ())


@parse_single_sequence_example_op.shape
def _(node: Any) -> list[Shape]:
    with_rank(node.shape(0), 0)
    with_rank(node.shape(1), 1)
    _check_counts(node)
    context, lists = node.attr("Ncontext_sparse"), node.attr("Nfeature_list_sparse")
    return [
        *[(None, 1)] * context,
        *[(None,)] * context,
        *[(1,)] * context,
        *node.attr("context_dense_shapes"),
        *[(None, 2)] * lists,
        *[(None,)] * lists,
        *[(2,)] * lists,
        *[_joined((None,), shape) for shape in node.attr("feature_list_dense_shapes")],
    ]


# A batch


@op(
    "ParseSequenceExample",
    "serialized: string, debug_name: string, context_dense_defaults: Tcontext_dense -> "
    f"{_OUTPUTS}, feature_list_dense_lengths: Nfeature_list_dense * int64",
    "feature_list_dense_missing_assumed_empty: list(string) >= 0",
    "context_sparse_keys: list(string) >= 0",
    "context_dense_keys: list(string) >= 0",
    "feature_list_sparse_keys: list(string) >= 0",
    "feature_list_dense_keys: list(string) >= 0",
    *_COUNTS,
    *_TYPES,
    no_grad=_NO_GRAD,
)
def parse_sequence_example_op(
    serialized: Any,
    debug_name: Any,
    context_dense_defaults: list[Any],
    *,
    feature_list_dense_missing_assumed_empty: list[str],
    context_sparse_keys: list[str],
    context_dense_keys: list[str],
    feature_list_sparse_keys: list[str],
    feature_list_dense_keys: list[str],
    context_dense_shapes: Any,
    feature_list_dense_shapes: Any,
    node: Any,
) -> list[Any]:
    """The features of a vector of serialized SequenceExamples, batched."""
    batch = _Batch(serialized, debug_name)
    context = [
        batch.context_sparse(key, dtype)
        for key, dtype in zip(context_sparse_keys, node.attr("context_sparse_types"))
    ]
    dense = [
        batch.context_dense(*each)
        for each in zip(
            context_dense_keys, node.attr("Tcontext_dense"), context_dense_shapes, context_dense_defaults
        )
    ]
    lists = [
        batch.list_sparse(key, dtype)
        for key, dtype in zip(feature_list_sparse_keys, node.attr("feature_list_sparse_types"))
    ]
    pairs = [
        batch.list_dense(key, dtype, shape, key in feature_list_dense_missing_assumed_empty)
        for key, dtype, shape in zip(
            feature_list_dense_keys, node.attr("feature_list_dense_types"), feature_list_dense_shapes
        )
    ]
    return [
        *_grouped(context),
        *dense,
        *_grouped(lists),
        *[values for values, _ in pairs],
        *[lengths for _, lengths in pairs],
    ]


class _Batch:
    """A vector of SequenceExamples.

    Args:
        serialized: The strings.
        names: What messages call them; as many, or none.

    Raises:
        InvalidArgumentError: One is no SequenceExample, or the names are fewer or more.
    """

    def __init__(self, serialized: Any, names: Any) -> None:
        records = np.reshape(serialized, -1).tolist()
        called = [name.decode(errors="replace") for name in np.reshape(names, -1).tolist()]
        if called and len(called) != len(records):
            raise InvalidArgumentError("example_names must be empty or have the correct number of elements")
        self._names = called or ["<unknown>"] * len(records)
        self._records = []
        for data, name in zip(records, self._names):
            try:
                found = protos.parse(protos.SequenceExample, data, name)
            except DataLossError as error:
                raise InvalidArgumentError(f"Invalid protocol message input, example id: {name}") from error
            self._records.append(found)

    def _contexts(self, key: str, dtype: DType) -> Iterator[np.ndarray | None]:
        """A feature of each record's context, None where it is missing."""
        for record, name in zip(self._records, self._names):
            if key not in record.context.feature:
                yield None
                continue
            values = _values(record.context.feature[key], dtype)
            if values is None:
                raise InvalidArgumentError(f"Error in context feature {key} in example {name}", key=key)
            yield values

    def _lists(self, key: str, dtype: DType) -> Iterator[list[np.ndarray] | None]:
        """A list of features of each record, None where it is missing."""
        for record, name in zip(self._records, self._names):
            if key not in record.feature_lists.feature_list:
                yield None
                continue
            found = [_values(feature, dtype) for feature in record.feature_lists.feature_list[key].feature]
            rows = [values for values in found if values is not None]
            if len(rows) < len(found):
                raise InvalidArgumentError(f"Error in sequence feature {key} in example {name}", key=key)
            yield rows

    def context_sparse(self, key: str, dtype: DType) -> tuple[Any, Any, Any]:
        """A feature of the contexts as indices, values and shape."""
        rows = [np.empty(0, dtype.np) if each is None else each for each in self._contexts(key, dtype)]
        indices, values, width = _sparse(rows, dtype, [np.arange(len(rows))])
        return indices, values, np.array([len(rows), width], np.int64)

    def context_dense(self, key: str, dtype: DType, shape: Any, default: np.ndarray) -> np.ndarray:
        """A feature of one shape of the contexts, a row a record."""
        size = _size(shape)
        if default.size and default.shape != shape:
            raise InvalidArgumentError(
                f"Default value for context feature {key} has an incorrect shape: saw "
                f"{format_shape(default.shape)} but expected {format_shape(shape)}",
                key=key,
            )
        found = list(self._contexts(key, dtype))
        largest = max([default.size, *(len(each) for each in found if each is not None)])
        if largest != size:
            raise InvalidArgumentError(
                f"Inconsistent number of elements for feature {key}: {largest} vs {size}", key=key
            )
        result = np.empty((len(found), *shape), dtype.np)
        for index, values in enumerate(found):
            if values is None:
                if not default.size:
                    raise InvalidArgumentError(
                        f"Feature: {key} (data type: {_WORDS[dtype.name]}) is required but could not be "
                        "found.",
                        key=key,
                    )
                values = default.reshape(-1)
            if len(values) != size:
                raise InvalidArgumentError(
                    f"Unexpected number of elements in example {self._names[index]}: feature {key} has "
                    f"{len(values)}, not {size}",
                    key=key,
                )
            result[index] = values.reshape(shape)
        return result

    def list_sparse(self, key: str, dtype: DType) -> tuple[Any, Any, Any]:
        """A list of features of any lengths as indices (record, time, place), values and shape."""
        rows: list[np.ndarray] = []
        owners: list[int] = []
        times: list[int] = []
        longest = 0
        for index, found in enumerate(self._lists(key, dtype)):
            rows += found or []
            owners += [index] * len(found or ())
            times += range(len(found or ()))
            longest = max(longest, len(found or ()))
        indices, values, width = _sparse(rows, dtype, [owners, times])
        return indices, values, np.array([len(self._records), longest, width], np.int64)

    def list_dense(self, key: str, dtype: DType, shape: Any, may_miss: bool) -> tuple[np.ndarray, np.ndarray]:
        """A list of features of one shape, filled up with zeros to the longest, and the lengths."""
        size = _size(shape)
        every = []
        for found, name in zip(self._lists(key, dtype), self._names):
            if found is None and not may_miss:
                raise InvalidArgumentError(f"Missing feature {key} in example {name}", key=key)
            if any(len(values) != size for values in found or ()):
                raise InvalidArgumentError(
                    f"Unexpected number of elements in feature {key}, example {name}", key=key
                )
            every.append(found or [])
        lengths = np.array([len(rows) for rows in every], np.int64)
        filler = b"" if dtype.name == "string" else 0
        result = np.full((len(every), int(lengths.max(initial=0)), *shape), filler, dtype.np)
        for index, rows in enumerate(every):
            for time, values in enumerate(rows):
                result[index, time] = values.reshape(shape)
        return result, lengths


@parse_sequence_example_op.shape
def _(node: Any) -> list[Shape]:
    (count,) = with_rank(node.shape(0), 1) or (None,)
    with_rank(node.shape(1), 1)
    _check_counts(node)
    context, lists = node.attr("Ncontext_sparse"), node.attr("Nfeature_list_sparse")
    return [
        *[(None, 2)] * context,
        *[(None,)] * context,
        *[(2,)] * context,
        *[_joined((count,), shape) for shape in node.attr("context_dense_shapes")],
        *[(None, 3)] * lists,
        *[(None,)] * lists,
        *[(3,)] * lists,
        *[_joined((count, None), shape) for shape in node.attr("feature_list_dense_shapes")],
        *[(count,)] * node.attr("Nfeature_list_dense"),
    ]
