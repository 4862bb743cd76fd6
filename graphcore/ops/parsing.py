"""Decoding serialized Examples, raw bytes and lines of CSV."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...formats import protos
from ..dtypes import (
    DType,
    as_dtype,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
)
from ..errors import DataLossError, InvalidArgumentError, InvalidValueError
from ..op import op
from ..shapes import Shape, format_shape, num_elements, with_rank, with_rank_at_most
from .string import parse_number

_NO_GRAD = "serialized data is not differentiable"
_LISTS = {"bytes_list": "string", "float_list": "float32", "int64_list": "int64"}
_NAMES = {"float32": "float", "int64": "int64", "string": "string"}
_RAW = (bool_, uint8, int8, uint16, int16, int32, int64, float16, float32, float64, complex64, complex128)
FEATURE_TYPES = "{float32, int64, string}"


# Examples

_Who = tuple[str, str]  # what messages say before the key, and after it
_ALONE: _Who = ("", "")


def _features_of(data: bytes, who: str) -> Any:
    """The map of features in a serialized Example."""
    try:
        return protos.parse(protos.Example, data, who).features.feature
    except DataLossError as error:
        raise InvalidArgumentError(
            f"{who}: Could not parse example input, value: '{data[:100]!r}'"
        ) from error


def _values_of(features: Any, key: str, dtype: DType, who: _Who) -> np.ndarray | None:
    """The values of one feature; None where it is missing or of no kind.

    Raises:
        InvalidArgumentError: They are of another dtype.
    """
    if key not in features:
        return None
    feature = features[key]
    kind = feature.WhichOneof("kind")
    if kind is None:
        return None
    if _LISTS[kind] != dtype.name:
        raise InvalidArgumentError(
            f"{who[0]}Key: {key}{who[1]}.  Data types don't match. Data type: "
            f"{_NAMES[_LISTS[kind]]} but expected type: "
            f"{_NAMES[dtype.name]}",
            key=key,
        )
    values = getattr(feature, kind).value
    if kind == "bytes_list":
        array = np.empty(len(values), object)
        array[:] = list(values)
        return array
    return np.array(values, dtype.np)


def _dense_values(
    features: Any, key: str, dtype: DType, shape: Shape, default: np.ndarray, who: _Who
) -> np.ndarray:
    """The values of a dense feature in its shape; of unknown length where the first dimension is."""
    values = _values_of(features, key, dtype, who)
    if shape is not None and shape and shape[0] is None:
        inner = num_elements(shape[1:])
        if inner is None:
            raise InvalidArgumentError(
                f"{who[0]}Key: {key}: only the first dimension may be unknown: {format_shape(shape)}"
            )
        values = np.empty(0, dtype.np) if values is None else values
        if inner and values.size % inner:
            raise InvalidArgumentError(
                f"{who[0]}Key: {key}{who[1]}.  Number of {_NAMES[dtype.name]} values is not a "
                "multiple of stride length. Saw "
                f"{values.size} values but output shape is: {format_shape(shape)}",
                key=key,
            )
        return values.reshape(-1, *shape[1:])
    if shape is None or None in shape:
        raise InvalidArgumentError(
            f"{who[0]}Key: {key}: the shape of a dense feature must be known: {format_shape(shape)}"
        )
    if values is None:
        if not default.size and num_elements(shape):
            raise InvalidArgumentError(
                f"{who[0]}Feature: {key} (data type: {_NAMES[dtype.name]}) is required but "
                "could not be found.",
                key=key,
            )
        values = default
    if values.size != num_elements(shape):
        raise InvalidArgumentError(
            f"{who[0]}Key: {key}{who[1]}.  Number of {_NAMES[dtype.name]} values != expected. "
            f" Values size: {values.size} but "
            f"output shape: {format_shape(shape)}",
            key=key,
        )
    sizes: Any = shape
    return values.reshape(sizes)


def _check_same(**sizes: int) -> None:
    """Raises ValueError unless all sizes are the same."""
    if len(set(sizes.values())) > 1:
        (name, size), *others = sizes.items()
        rest = " and ".join(f"{other} ({count})" for other, count in others)
        raise InvalidValueError(f"{name} ({size}) must match the size of {rest}")


def _check_keys(**given: tuple[Any, int]) -> None:
    """Raises InvalidArgumentError unless there is a vector of as many keys as features."""
    for name, (keys, count) in given.items():
        if np.shape(keys) != (count,):
            raise InvalidArgumentError(
                f"Expected {name} to be a vector of {count} strings, got shape {format_shape(np.shape(keys))}"
            )


def _check_dense(node: Any, keys: int) -> None:
    _check_same(
        dense_keys=keys, dense_types=len(node.attr("Tdense")), dense_shapes=len(node.attr("dense_shapes"))
    )


def _keys(texts: Sequence[Any]) -> list[str]:
    return [np.reshape(text, -1)[0].decode("utf-8", "surrogateescape") for text in texts]


@op(
    "ParseSingleExample",
    "serialized: string, dense_defaults: Tdense -> sparse_indices: num_sparse * int64, "
    "sparse_values: sparse_types, "
    "sparse_shapes: num_sparse * int64, dense_values: Tdense",
    "num_sparse: int >= 0",
    "sparse_keys: list(string) >= 0",
    "dense_keys: list(string) >= 0",
    f"sparse_types: list({FEATURE_TYPES}) >= 0",
    f"Tdense: list({FEATURE_TYPES}) >= 0",
    "dense_shapes: list(shape) >= 0",
    no_grad=_NO_GRAD,
)
def parse_single_example_op(
    serialized: Any,
    dense_defaults: list[Any],
    *,
    sparse_keys: list[str],
    dense_keys: list[str],
    dense_shapes: Any,
    node: Any,
) -> list[Any]:
    """The features of one serialized Example."""
    features = _features_of(np.reshape(serialized, -1)[0], "the serialized Example")
    values = []
    for key, dtype in zip(sparse_keys, node.attr("sparse_types")):
        found = _values_of(features, key, dtype, _ALONE)
        values.append(np.empty(0, dtype.np) if found is None else found)
    dense = [
        _dense_values(features, key, dtype, shape, default, _ALONE)
        for key, dtype, shape, default in zip(dense_keys, node.attr("Tdense"), dense_shapes, dense_defaults)
    ]
    indices = [np.arange(len(item), dtype=np.int64).reshape(-1, 1) for item in values]
    shapes = [np.array([len(item)], np.int64) for item in values]
    return [*indices, *values, *shapes, *dense]


@parse_single_example_op.shape
def _(node: Any) -> list[Shape]:
    with_rank(node.shape(0), 0)
    sparse = node.attr("num_sparse")
    _check_same(
        num_sparse=sparse,
        sparse_keys=len(node.attr("sparse_keys")),
        sparse_types=len(node.attr("sparse_types")),
    )
    _check_dense(node, len(node.attr("dense_keys")))
    return [*[(None, 1)] * sparse, *[(None,)] * sparse, *[(1,)] * sparse, *node.attr("dense_shapes")]


@op(
    "ParseExample",
    "serialized: string, names: string, sparse_keys: Nsparse * string, dense_keys: Ndense * string, "
    "dense_defaults: Tdense -> sparse_indices: Nsparse * int64, sparse_values: sparse_types, "
    "sparse_shapes: Nsparse * int64, dense_values: Tdense",
    "Nsparse: int >= 0",
    "Ndense: int >= 0",
    f"sparse_types: list({FEATURE_TYPES}) >= 0",
    f"Tdense: list({FEATURE_TYPES}) >= 0",
    "dense_shapes: list(shape) >= 0",
    no_grad=_NO_GRAD,
)
def parse_example_op(
    serialized: Any,
    names: Any,
    sparse_keys: list[Any],
    dense_keys: list[Any],
    dense_defaults: list[Any],
    *,
    dense_shapes: Any,
    node: Any,
) -> list[Any]:
    """The features of a vector of serialized Examples, batched."""
    records = Records(serialized, names)
    types = node.attr("sparse_types"), node.attr("Tdense")
    return [
        *records.sparse(_keys(sparse_keys), types[0]),
        *records.dense(_keys(dense_keys), types[1], dense_shapes, dense_defaults),
    ]


class Records:
    """Serialized Examples, parsed.

    Args:
        serialized: Strings of any shape.
        names: As many strings, for messages, or none.

    Raises:
        InvalidArgumentError: One is no Example, or the names are fewer or more.
    """

    def __init__(self, serialized: Any, names: Any = ()) -> None:
        records = np.reshape(serialized, -1).tolist()
        called = [name.decode(errors="replace") for name in np.reshape(names, -1).tolist()]
        if called and len(called) != len(records):
            raise InvalidArgumentError(
                f"Expected len(names) == len(serialized), but got: {len(called)} vs. {len(records)}"
            )
        called = called or ["<unknown>"] * len(records)
        self._parsed = [_features_of(data, f"Name: {name}") for name, data in zip(called, records)]
        self._who = [(f"Name: {name}, ", f", Index: {index}") for index, name in enumerate(called)]

    def rows(self, key: str, dtype: DType) -> list[np.ndarray]:
        """The values of a feature in each record, of whatever number."""
        found = [_values_of(features, key, dtype, who) for features, who in zip(self._parsed, self._who)]
        return [np.empty(0, dtype.np) if values is None else values for values in found]

    def sparse(self, keys: Sequence[str], dtypes: Sequence[DType]) -> list[np.ndarray]:
        """All indices, all values, all shapes of features as sparse matrices."""
        every = [self.rows(key, dtype) for key, dtype in zip(keys, dtypes)]
        return [
            *[_places(rows) for rows in every],
            *[_joined(rows, dtype) for rows, dtype in zip(every, dtypes)],
            *[np.array([len(rows), max(map(len, rows), default=0)], np.int64) for rows in every],
        ]

    def ragged(
        self, keys: Sequence[str], dtypes: Sequence[DType], splits: Sequence[DType]
    ) -> list[np.ndarray]:
        """All values, all row splits of features as ragged matrices."""
        every = [self.rows(key, dtype) for key, dtype in zip(keys, dtypes)]
        return [
            *[_joined(rows, dtype) for rows, dtype in zip(every, dtypes)],
            *[np.cumsum([0, *map(len, rows)], dtype=dtype.np) for rows, dtype in zip(every, splits)],
        ]

    def dense(
        self, keys: Sequence[str], dtypes: Sequence[DType], shapes: Sequence[Shape], defaults: Sequence[Any]
    ) -> list[np.ndarray]:
        """Features of known shapes, one row a record."""
        found = []
        for key, dtype, shape, default in zip(keys, dtypes, shapes, defaults):
            rows = [
                _dense_values(features, key, dtype, shape, default, who)
                for features, who in zip(self._parsed, self._who)
            ]
            found.append(_stacked(rows, dtype, shape, default))
        return found


def _joined(rows: Sequence[np.ndarray], dtype: DType) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype.np), *rows])


def _places(rows: list[np.ndarray]) -> np.ndarray:
    """Row and column of each value of a ragged matrix, int64 of shape (n, 2)."""
    pairs = [(row, column) for row, values in enumerate(rows) for column in range(len(values))]
    return np.array(pairs, np.int64).reshape(-1, 2)


def _stacked(rows: list[np.ndarray], dtype: DType, shape: Any, default: np.ndarray) -> np.ndarray:
    """The rows in one array; those of unknown length are filled up with the default."""
    if not shape or shape[0] is not None:
        return np.stack(rows) if rows else np.empty((0, *shape), dtype.np)
    longest = max(map(len, rows), default=0)
    filler = default.reshape(-1)[0] if default.size else (b"" if dtype.name == "string" else 0)
    result = np.full((len(rows), longest, *shape[1:]), filler, dtype.np)
    for row, values in enumerate(rows):
        result[row, : len(values)] = values
    return result


@parse_example_op.shape
def _(node: Any) -> list[Shape]:
    (batch,) = with_rank(node.shape(0), 1) or (None,)
    sparse = node.attr("Nsparse")
    _check_same(Nsparse=sparse, sparse_types=len(node.attr("sparse_types")))
    _check_dense(node, node.attr("Ndense"))
    dense: list[Shape] = [None if shape is None else (batch, *shape) for shape in node.attr("dense_shapes")]
    return [*[(None, 2)] * sparse, *[(None,)] * sparse, *[(2,)] * sparse, *dense]


@op(
    "ParseExampleV2",
    "serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys: string, "
    "dense_defaults: Tdense -> sparse_indices: num_sparse * int64, sparse_values: sparse_types, "
    "sparse_shapes: num_sparse * int64, dense_values: Tdense, ragged_values: ragged_value_types, "
    "ragged_row_splits: ragged_split_types",
    f"Tdense: list({FEATURE_TYPES}) >= 0",
    "num_sparse: int >= 0",
    f"sparse_types: list({FEATURE_TYPES}) >= 0",
    f"ragged_value_types: list({FEATURE_TYPES}) >= 0",
    "ragged_split_types: list({int32, int64}) >= 0",
    "dense_shapes: list(shape) >= 0",
    no_grad=_NO_GRAD,
)
def parse_example_v2_op(
    serialized: Any,
    names: Any,
    sparse_keys: Any,
    dense_keys: Any,
    ragged_keys: Any,
    dense_defaults: list[Any],
    *,
    dense_shapes: Any,
    node: Any,
) -> list[Any]:
    """The features of one serialized Example, or of a vector of them, batched."""
    _check_keys(
        sparse_keys=(sparse_keys, node.attr("num_sparse")),
        dense_keys=(dense_keys, len(node.attr("Tdense"))),
        ragged_keys=(ragged_keys, len(node.attr("ragged_value_types"))),
    )
    if np.ndim(serialized) > 1:
        raise InvalidArgumentError(
            f"Expected serialized to be a scalar or vector, got shape: {format_shape(np.shape(serialized))}"
        )
    records = Records(serialized, names)
    keys = [
        [text.decode("utf-8", "surrogateescape") for text in each]
        for each in (sparse_keys, dense_keys, ragged_keys)
    ]
    types = {
        name: node.attr(name)
        for name in ("sparse_types", "Tdense", "ragged_value_types", "ragged_split_types")
    }
    sparse = records.sparse(keys[0], types["sparse_types"])
    dense = records.dense(keys[1], types["Tdense"], dense_shapes, dense_defaults)
    ragged = records.ragged(keys[2], types["ragged_value_types"], types["ragged_split_types"])
    if np.ndim(serialized):
        return [*sparse, *dense, *ragged]
    # Of a single record there is no first axis.
    count = len(keys[0])
    indices, values, shapes = sparse[:count], sparse[count : 2 * count], sparse[2 * count :]
    number = len(keys[2])
    return [
        *[each[:, 1:] for each in indices],
        *values,
        *[each[1:] for each in shapes],
        *[each[0] for each in dense],
        *ragged[:number],
        *[each[:0] for each in ragged[number:]],
    ]


@parse_example_v2_op.shape
def _(node: Any) -> list[Shape]:
    serialized = with_rank_at_most(node.shape(0), 1)
    sparse = node.attr("num_sparse")
    ragged = len(node.attr("ragged_value_types"))
    _check_same(num_sparse=sparse, sparse_types=len(node.attr("sparse_types")))
    _check_same(ragged_value_types=ragged, ragged_split_types=len(node.attr("ragged_split_types")))
    _check_dense(node, len(node.attr("Tdense")))
    shapes: list[Shape] = node.attr("dense_shapes")
    if serialized is None:
        return [
            *[(None, None)] * sparse,
            *[(None,)] * sparse,
            *[(None,)] * sparse,
            *[None] * len(shapes),
            *[(None,)] * (2 * ragged),
        ]
    rank = len(serialized) + 1
    splits = serialized[0] + 1 if serialized and serialized[0] is not None else None if serialized else 0
    return [
        *[(None, rank)] * sparse,
        *[(None,)] * sparse,
        *[(rank,)] * sparse,
        *[None if shape is None else (*serialized, *shape) for shape in shapes],
        *[(None,)] * ragged,
        *[(splits,)] * ragged,
    ]


# Raw bytes


@op(
    "DecodeRaw",
    "bytes: string -> output: out_type",
    "little_endian: bool = true",
    out_type=_RAW,
    no_grad=_NO_GRAD,
)
def decode_raw_op(bytes: Any, *, little_endian: bool, out_type: Any) -> Any:
    """The bytes of strings of one length as numbers, along a new last axis."""
    items = np.reshape(bytes, -1).tolist()
    length = len(items[0]) if items else 0
    for index, item in enumerate(items):
        if len(item) != length:
            raise InvalidArgumentError(
                f"DecodeRaw requires input strings to all be the same size, but element {index} has size "
                f"{len(item)} != {length}"
            )
    dtype = np.dtype(out_type)
    if length % dtype.itemsize:
        raise InvalidArgumentError(
            f"Input to DecodeRaw has length {length} that is not a multiple of "
            f"{dtype.itemsize}, the size of {dtype.name}"
        )
    stored = np.dtype(np.uint8) if dtype.kind == "b" else dtype.newbyteorder("<" if little_endian else ">")
    flat = np.frombuffer(b"".join(items), stored).astype(dtype)
    return flat.reshape(*np.shape(bytes), length // dtype.itemsize)


@decode_raw_op.shape
def _(node: Any) -> Shape:
    shape = node.shape(0)
    return None if shape is None else (*shape, None)


# CSV (RFC 4180)


def split_csv(record: bytes, delimiter: int, quotes: bool) -> list[bytes]:
    """The fields of one record.

    Args:
        record: The line.
        delimiter: The byte between fields.
        quotes: Whether `"` may enclose a field.

    Raises:
        InvalidArgumentError: Quotes or line ends stand where they may not.
    """
    fields: list[bytes] = []
    at, size = 0, len(record)
    quote = ord('"')
    while at < size:
        if record[at] in b"\r\n":
            at += 1
            continue
        if not (quotes and record[at] == quote):
            end = record.find(delimiter, at)
            end = size if end < 0 else end
            piece = record[at:end]
            if b"\n" in piece or b"\r" in piece or (quotes and b'"' in piece):
                raise InvalidArgumentError("Unquoted fields cannot have quotes/CRLFs inside")
            fields.append(piece)
            at = end + 1
            continue
        at += 1
        found = bytearray()
        while at < size - 1 and not (record[at] == quote and record[at + 1] == delimiter):
            if record[at] == quote:
                if record[at + 1] != quote:
                    raise InvalidArgumentError("Quote inside a string has to be escaped by another quote")
                at += 1
            found.append(record[at])
            at += 1
        if not (at < size and record[at] == quote):
            raise InvalidArgumentError("Quoted field has to end with quote followed by delim or end")
        fields.append(bytes(found))
        at += 2
    if record and record[-1] == delimiter:
        fields.append(b"")
    return fields


@op(
    "DecodeCSV",
    "records: string, record_defaults: OUT_TYPE -> output: OUT_TYPE",
    "OUT_TYPE: list({float32, float64, int32, int64, string}) >= 1",
    "field_delim: string = ','",
    "use_quote_delim: bool = true",
    "na_value: string = ''",
    "select_cols: list(int) = []",
    no_grad=_NO_GRAD,
)
def decode_csv_op(
    records: Any,
    record_defaults: list[Any],
    *,
    field_delim: str,
    use_quote_delim: bool,
    na_value: str,
    select_cols: list[int],
    node: Any,
) -> list[Any]:
    """The columns of lines of CSV."""
    if len(field_delim.encode()) != 1:
        raise InvalidArgumentError(f"field_delim should be only 1 char, not {field_delim!r}")
    dtypes, missing = node.attr("OUT_TYPE"), na_value.encode()
    count = len(dtypes)
    columns = [np.empty(np.size(records), dtype.np) for dtype in dtypes]
    for row, record in enumerate(np.reshape(records, -1).tolist()):
        fields = split_csv(record, ord(field_delim), use_quote_delim)
        if select_cols:
            fields = [fields[index] for index in select_cols if index < len(fields)]
        if len(fields) != count:
            raise InvalidArgumentError(
                f"Expect {count} fields but have {len(fields)} in record {row}", record=row
            )
        for index, (text, dtype, default) in enumerate(zip(fields, dtypes, record_defaults)):
            columns[index][row] = _csv_value(text, dtype, default, missing, index, row)
    return [column.reshape(np.shape(records)) for column in columns]


def _csv_value(text: bytes, dtype: DType, default: Any, missing: bytes, index: int, row: int) -> Any:
    if not text or text == missing:
        if not np.size(default):
            raise InvalidArgumentError(
                f"Field {index} is required but missing in record {row}!", field=index, record=row
            )
        return np.reshape(default, -1)[0]
    if dtype.name == "string":
        return text
    value = parse_number(text, dtype.np)
    if value is None:
        kind = {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)
        raise InvalidArgumentError(
            f"Field {index} in record {row} is not a valid {kind}: {text.decode(errors='replace')}",
            field=index,
            record=row,
        )
    return value


@decode_csv_op.shape
def _(node: Any) -> list[Shape]:
    for index in range(1, node.num_inputs):
        default = with_rank_at_most(node.shape(index), 1)
        if default and (default[0] or 0) > 1:
            raise InvalidValueError("Shape of a default must be a length-0 or length-1 vector, or a scalar.")
    return [node.shape(0)] * node.num_outputs


# TensorFlow's Python functions


def decode_raw(
    input_bytes: Any = None,
    out_type: Any = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: Any = None,
) -> Any:
    """`tf.decode_raw`: the bytes of strings as numbers of `out_type`, along a new last axis.

    Args:
        input_bytes: Strings of one length.
        out_type: A dtype.
        little_endian: The order of bytes.
        name: Name of the operation.
        bytes: `input_bytes` under its older name.
    """
    source = input_bytes if bytes is None else bytes
    return decode_raw_op(source, out_type=as_dtype(out_type), little_endian=little_endian, name=name)


def decode_csv(
    records: Any,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Any = None,
) -> list[Any]:
    """`tf.decode_csv`: the columns of lines of CSV, as tensors shaped like `records`.

    Args:
        records: Lines.
        record_defaults: One tensor for each column: its dtype and what an empty field stands for; an empty
            tensor where the field is required.
        field_delim: The character between fields.
        use_quote_delim: Whether `"` may enclose a field.
        name: Name of the operation.
        na_value: A further text that counts as empty.
        select_cols: Which columns to take, in increasing order; by default all.

    Raises:
        ValueError: `select_cols` does not increase or does not fit `record_defaults`.
        TypeError: A default is of another dtype than float32, float64, int32, int64 or string.
    """
    if select_cols is not None and any(a >= b for a, b in pairwise(select_cols)):
        raise InvalidValueError("select_cols is not strictly increasing.")
    if select_cols is not None and (select_cols[:1] < [0] or len(select_cols) != len(record_defaults)):
        raise InvalidValueError("Length of select_cols and record_defaults do not match.")
    outputs = decode_csv_op(
        records,
        list(record_defaults),
        field_delim=field_delim,
        use_quote_delim=use_quote_delim,
        na_value=na_value,
        select_cols=list(select_cols or []),
        name=name,
    )
    return list(outputs)
