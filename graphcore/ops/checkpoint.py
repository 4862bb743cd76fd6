"""Matrices of a checkpoint whose rows and columns stand for words of a vocabulary, brought to another one.

Source: tensorflow/core/kernels/generate_vocab_remapping_op.cc and load_and_remap_matrix_op.cc (r1.15),
behaviour and texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import checkpoint_state, files, registry
from .. import lookup_tables
from ..dtypes import DType, float32, int64, string
from ..errors import InvalidArgumentError, MissingNameError, UnimplementedError
from ..op import op
from ..shapes import Shape, format_shape, with_rank
from .io import read_part

_NO_GRAD = "files and integers have no derivative"


def _path(value: Any, name: str) -> str:
    if np.ndim(value):
        raise InvalidArgumentError(
            f"{name} should be a single string, but got {format_shape(np.shape(value))}"
        )
    text: str = np.asarray(value, object).item().decode("utf-8", "surrogateescape")
    return text


def _table(
    ctx: Any, node: Any, path: str, columns: tuple[int, int], dtypes: tuple[DType, DType], size: int
) -> Any:
    """The lines of a vocabulary by number, or the numbers by line."""
    if not path:
        raise InvalidArgumentError("new vocab filename cannot be empty.")
    ctx.policy.check_read(path, f"node '{node.name}' (op {node.type})")
    table = lookup_tables.HashTable(path, *dtypes)
    rows = lookup_tables.TextRows(path, files.read_bytes(path), table, columns, size, b"\t")
    table.fill(rows, rows.total)
    return table


@op(
    "GenerateVocabRemapping",
    "new_vocab_file: string, old_vocab_file: string -> remapping: int64, num_present: int32",
    "new_vocab_offset: int >= 0",
    "num_new_vocab: int >= 0",
    "old_vocab_size: int >= -1 = -1",
    ctx=True,
    no_grad=_NO_GRAD,
)
def generate_vocab_remapping(
    ctx: Any,
    new_vocab_file: Any,
    old_vocab_file: Any,
    *,
    new_vocab_offset: int,
    num_new_vocab: int,
    old_vocab_size: int,
    node: Any,
) -> tuple[Any, Any]:
    """Where the words of one vocabulary stand in another (-1: nowhere), and how many of them do."""
    whole, number = lookup_tables.WHOLE_LINE, lookup_tables.LINE_NUMBER
    words = _table(ctx, node, _path(new_vocab_file, "new_vocab_file"), (number, whole), (int64, string), -1)
    if new_vocab_offset + num_new_vocab > len(words):
        raise InvalidArgumentError("lookup table size must be larger than last new vocab entry's line")
    places = _table(
        ctx, node, _path(old_vocab_file, "old_vocab_file"), (whole, number), (string, int64), old_vocab_size
    )
    wanted = np.arange(new_vocab_offset, new_vocab_offset + num_new_vocab)
    found = places.find(words.find(wanted, np.array(b"", object)), np.array(-1, np.int64))
    return found, np.array(np.count_nonzero(found != -1), np.int32)


@generate_vocab_remapping.shape
def _(node: Any) -> list[Shape]:
    with_rank(node.shape(0), 0)
    with_rank(node.shape(1), 0)
    return [(node.attr("num_new_vocab"),), ()]


def _check_unique(remapping: Any) -> None:
    """Raises UnimplementedError where two rows (or columns) come from the same one."""
    known = np.flatnonzero(remapping >= 0)
    _, first, place = np.unique(remapping[known], return_index=True, return_inverse=True)
    again = np.flatnonzero(first[place] != np.arange(len(known)))
    if again.size:
        new = known[again[0]]
        raise UnimplementedError(
            f"Old ID {remapping[new]} is mapped to both new ID {known[first[place[again[0]]]]} and {new}, "
            "which is not supported."
        )


@op(
    "LoadAndRemapMatrix",
    "ckpt_path: string, old_tensor_name: string, row_remapping: int64, col_remapping: int64, "
    "initializing_values: float32 -> output_matrix: float32",
    "num_rows: int >= 0",
    "num_cols: int >= 1",
    "max_rows_in_memory: int = -1",
    stateful=True,
    no_grad=_NO_GRAD,
)
def load_and_remap_matrix(
    ctx: Any,
    ckpt_path: Any,
    old_tensor_name: Any,
    row_remapping: Any,
    col_remapping: Any,
    initializing_values: Any,
    *,
    num_rows: int,
    num_cols: int,
    node: Any,
) -> Any:
    """A matrix of a checkpoint with its rows and columns in another order, and values for new ones."""
    if row_remapping.shape != (num_rows,):
        raise InvalidArgumentError(
            f"Size of row_remapping is {row_remapping.size} instead of being equal to num_rows={num_rows}"
        )
    _check_unique(row_remapping)
    if col_remapping.size and col_remapping.shape != (num_cols,):
        raise InvalidArgumentError(
            f"Provided col_remapping, but its size is {col_remapping.size} instead of being equal to "
            f"num_cols={num_cols}"
        )
    _check_unique(col_remapping)
    path, name = _path(ckpt_path, "ckpt_path"), _path(old_tensor_name, "old_tensor_name")
    ctx.policy.check_read(path, f"node '{node.name}' (op {node.type})")
    store = registry.open_checkpoint(checkpoint_state.resolve_prefix(path))
    if name not in store:
        raise MissingNameError(f"Key {name} not found in checkpoint {path}", name=name, path=path)
    entry = store[name]
    if entry.dtype.number != float32.as_datatype_enum:
        raise InvalidArgumentError(
            f"Tensor {name} has invalid type {entry.dtype.name} instead of expected type float"
        )
    shape = tuple(entry.shape)
    if len(shape) != 2:
        raise InvalidArgumentError(
            f"Tensor {name} has shape {format_shape(shape)} of invalid rank {len(shape)} instead of expected "
            "shape of rank 2."
        )
    if not col_remapping.size and num_cols != shape[1]:
        raise InvalidArgumentError(
            f"Tensor {name} has shape {format_shape(shape)}, where the size of its 2nd dimension is "
            f"{shape[1]} instead of being equal to num_cols={num_cols}"
        )
    columns = col_remapping if col_remapping.size else np.arange(num_cols)
    rows_known, columns_known = row_remapping >= 0, columns >= 0
    for what, ids, size in (("row", row_remapping, shape[0]), ("col", columns, shape[1])):
        if (ids >= size).any():
            raise InvalidArgumentError(
                f"{what}_remapping asks for {what} {ids.max()} of tensor {name} of shape "
                f"{format_shape(shape)}"
            )
    result = np.empty((num_rows, num_cols), np.float32)
    missing = ~(rows_known[:, None] & columns_known)
    count = np.count_nonzero(missing)
    if initializing_values.size < count:
        raise InvalidArgumentError(
            f"initializing_values contained {initializing_values.size} elements, but more missing values "
            "remain."
        )
    if initializing_values.size > count:
        raise InvalidArgumentError(
            f"initializing_values contained {initializing_values.size} elements, but only {count} elements "
            "were used to fill in missing values."
        )
    if rows_known.any():
        first, last = row_remapping[rows_known].min(), row_remapping[rows_known].max()
        spec = f"{shape[0]} {shape[1]} {first},{last - first + 1}:0,{shape[1]}"
        old = read_part(store, name, spec, float32)
        where = np.ix_(rows_known, columns_known)
        result[where] = old[np.ix_(row_remapping[rows_known] - first, columns[columns_known])]
    result[missing] = initializing_values.reshape(-1)
    return result


@load_and_remap_matrix.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(1), 0)
    return node.attr("num_rows"), node.attr("num_cols")
