"""Lookup tables as ops, by handles of both generations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...formats import files
from .. import lookup_tables
from ..dense_tables import DenseTable
from ..dtypes import ANY, DType
from ..errors import FailedPreconditionError, InvalidArgumentError, InvalidValueError
from ..lookup_tables import HashTable, MutableTable, Table, type_name
from ..op import op
from ..shapes import Shape, format_shape, merge, with_rank
from . import rules
from .data_flow import handle_shape, handle_type, named_resource

_KIND = "lookup table"
_NO_GRAD = "what is looked up is not differentiated"
_NAMES = (
    "container: string = ''",
    "shared_name: string = ''",
    "use_node_name_sharing: bool = false",
)


def _table_of(
    ctx: Any, node: Any, kind: Callable[..., Table], key_shape: tuple[int, ...], value_shape: tuple[int, ...]
) -> Table:
    """The table of a node: shared under its shared name, or if it says so under its own, or by nobody."""
    dtypes: tuple[DType, DType] = node.attr("key_dtype"), node.attr("value_dtype")

    def make(name: str) -> Table:
        return kind(name, *dtypes, key_shape, value_shape)

    table: Table
    if node.attr("use_node_name_sharing") and not node.attr("shared_name"):
        container = node.attr("container").decode()
        table = ctx.state.resource(_KIND, container, node.name, lambda: make(node.name))
    else:
        table = named_resource(ctx, _KIND, node, make)
    table.check_same(*dtypes)
    return table


def _hash_table(ctx: Any, *, node: Any) -> Table:
    """A table that is filled once."""
    return _table_of(ctx, node, HashTable, (), ())


def _mutable(ctx: Any, *, node: Any) -> Table:
    """A table that takes entries at any time."""
    return _table_of(ctx, node, MutableTable, (), ())


def _mutable_of_vectors(ctx: Any, *, node: Any) -> Table:
    """A table of vectors that takes entries at any time."""
    shape = node.attr("value_shape").as_tuple()
    if shape is None or len(shape) != 1 or None in shape:
        raise InvalidArgumentError(f"Default value must be a vector, got shape {format_shape(shape)}")
    return _table_of(ctx, node, MutableTable, (), shape)


_TABLES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "HashTable": (_hash_table, ()),
    "MutableHashTable": (_mutable, ()),
    "MutableHashTableOfTensors": (_mutable_of_vectors, ("value_shape: shape = []",)),
}

for _version in ("", "V2"):
    for _name, (_kernel, _attrs) in _TABLES.items():
        op(
            f"{_name}{_version}",
            f"-> table_handle: {handle_type(_version)}",
            *_NAMES,
            *_attrs,
            key_dtype=ANY,
            value_dtype=ANY,
            stateful=True,
            no_grad="it has no inputs",
        )(_kernel).shape(handle_shape(_version))


def _dense(ctx: Any, empty_key: Any, deleted_key: Any = None, *, node: Any) -> Table:
    """A table in buckets, with keys that mark unused ones."""
    shape = node.attr("value_shape").as_tuple()
    if shape is None or None in shape:
        raise InvalidArgumentError(f"The value_shape {format_shape(shape)} is not fully defined")

    def make(name: str, key_dtype: DType, value_dtype: DType, *_: Any) -> Table:
        return DenseTable(
            name,
            key_dtype,
            value_dtype,
            shape,
            np.asarray(empty_key),
            None if deleted_key is None else np.asarray(deleted_key),
            node.attr("initial_num_buckets"),
            node.attr("max_load_factor"),
        )

    return _table_of(ctx, node, make, (), ())


for _version, _inputs in (
    ("", "empty_key: key_dtype"),
    ("V2", "empty_key: key_dtype, deleted_key: key_dtype"),
):
    op(
        f"MutableDenseHashTable{_version}",
        f"{_inputs} -> table_handle: {handle_type(_version)}",
        *_NAMES,
        "value_shape: shape = []",
        "initial_num_buckets: int = 131072",
        "max_load_factor: float = 0.8",
        key_dtype=ANY,
        value_dtype=ANY,
        stateful=True,
        no_grad=_NO_GRAD,
    )(_dense).shape(handle_shape(_version))


# What is done with a table: a row each, for handles of both generations.


def _check_signature(node: Any, inputs: list[DType], outputs: list[DType]) -> None:
    """Raises InvalidArgumentError unless a node's dtypes, but for the handle, are those of its table."""
    handle, *mine = (tensor.dtype for tensor in node.inputs)
    theirs = [tensor.dtype for tensor in node.outputs]
    if mine != inputs or theirs != outputs:
        raise InvalidArgumentError(
            f"Signature mismatch, have: {_listed([handle, *mine])}->{_listed(theirs)} expected: "
            f"{_listed([handle, *inputs])}->{_listed(outputs)}"
        )


def _listed(dtypes: list[DType]) -> str:
    return ", ".join(map(type_name, dtypes))


def _both(table: Table) -> list[DType]:
    return [table.key_dtype, table.value_dtype]


def _initializable(table: Table) -> HashTable:
    if not isinstance(table, HashTable):
        raise InvalidArgumentError(f"Table {table.name} is not initializable", table=table.name)
    return table


def _initialize(ctx: Any, table_handle: Table, keys: Any, values: Any, *, node: Any) -> None:
    """Fills a table."""
    table = _initializable(table_handle)
    _check_signature(node, _both(table), [])
    for what, value in (("Keys", keys), ("Values", values)):
        if np.ndim(value) != 1:
            raise InvalidArgumentError(
                f"{what} must be a vector, but received {format_shape(np.shape(value))}"
            )
    if len(keys) != len(values):
        raise InvalidArgumentError(
            f"keys and values do not have the same number of elements: {len(keys)} vs {len(values)}"
        )
    table.initialize(keys, values)


def _initialize_from_file(
    ctx: Any,
    table_handle: Table,
    filename: Any,
    *,
    key_index: int,
    value_index: int,
    vocab_size: int,
    delimiter: str,
    node: Any,
) -> None:
    """Fills a table from the lines of a text file; one that is filled already stays as it is."""
    table = _initializable(table_handle)
    separator = node.attr("delimiter")
    if len(separator) != 1:
        raise InvalidArgumentError("delimiter should be only 1 char")
    if np.size(filename) != 1:
        raise InvalidArgumentError(
            f"filename should be a single string, but got {format_shape(np.shape(filename))}"
        )
    path = np.reshape(filename, -1)[0].decode()
    ctx.policy.check_read(path, f"node '{node.name}' (op {node.type})")
    rows = lookup_tables.TextRows(
        path, files.read_bytes(path), table, (key_index, value_index), vocab_size, separator
    )
    try:
        table.fill(rows, rows.total)
    except FailedPreconditionError:
        if not table.is_initialized:
            raise


def _find(ctx: Any, table_handle: Any, keys: Any, default_value: Any, *, node: Any) -> Any:
    """The values of keys, or where there is none the default."""
    _check_signature(node, _both(table_handle), [table_handle.value_dtype])
    return table_handle.find(np.asarray(keys), np.asarray(default_value))


def _size(ctx: Any, table_handle: Any) -> Any:
    """How many entries a table has."""
    return np.array(len(table_handle), np.int64)


def _import(ctx: Any, table_handle: Any, keys: Any, values: Any, *, node: Any) -> None:
    """Replaces all entries of a mutable table, or fills a hash table."""
    _check_signature(node, _both(table_handle), [])
    table_handle.replace(np.asarray(keys), np.asarray(values))


def _insert(ctx: Any, table_handle: Any, keys: Any, values: Any, *, node: Any) -> None:
    """Adds or changes entries."""
    _check_signature(node, _both(table_handle), [])
    table_handle.insert(np.asarray(keys), np.asarray(values))


def _remove(ctx: Any, table_handle: Any, keys: Any, *, node: Any) -> None:
    """Removes entries."""
    _check_signature(node, [table_handle.key_dtype], [])
    table_handle.remove(np.asarray(keys))


def _export(ctx: Any, table_handle: Any, *, node: Any) -> Any:
    """All keys and values."""
    _check_signature(node, [], _both(table_handle))
    return table_handle.export()


def _shape_of_initialize(node: Any) -> list[Shape]:
    merge(with_rank(node.shape(1), 1), node.shape(2))
    return []


def _shape_of_initialize_from_file(node: Any) -> list[Shape]:
    with_rank(node.shape(1), 0)
    return []


def _shape_of_import(node: Any) -> list[Shape]:
    keys, values = with_rank(node.shape(1), 1), node.shape(2)
    if keys is not None and values:
        merge(keys[:1], values[:1])
    return []


def _value_shape(source: Any) -> Shape:
    """The shape of one value of the mutable table that an operation makes."""
    shape: Shape = source.attr("value_shape").as_tuple() if source.has_attr("value_shape") else ()
    return shape


def _shape_of_find(node: Any) -> Shape:
    """As far as the table that a resource handle comes from tells it: TensorFlow knows mutable ones."""
    keys, source = node.shape(1), node.node.inputs[0].op
    if keys is None or source.type not in _MUTABLE:
        return None
    values = _value_shape(source)
    one = source.inputs[0].static_shape if source.type == _DENSE else ()
    if values is None or one is None:
        return None
    lead = len(keys) - len(one)
    if lead < 0:
        raise InvalidValueError(
            f"Expected keys to have suffix {format_shape(one)} but saw shape: {format_shape(keys)}"
        )
    merge(keys[lead:], one)
    return (*keys[:lead], *values)


def _shape_of_export(node: Any) -> list[Shape]:
    """A vector of keys, and a value for each; of a dense table the buckets, which TensorFlow gets wrong."""
    source = node.node.inputs[0].op
    if source.type not in _MUTABLE or source.type == _DENSE:
        return [None, None]
    values = _value_shape(source)
    return [(None,), None if values is None else (None, *values)]


_DENSE = "MutableDenseHashTableV2"
_MUTABLE = frozenset({"MutableHashTableV2", "MutableHashTableOfTensorsV2", _DENSE})
_PAIR = ", keys: Tin, values: Tout ->"
_IN_OUT = {"Tin": ANY, "Tout": ANY}
_FILE = ("key_index: int >= -2", "value_index: int >= -2", "vocab_size: int >= -1 = -1")
_TAB = f"delimiter: string = '{chr(9)}'"
_ACTIONS: dict[str, tuple[Any, str, tuple[str, ...], dict[str, Any], Any]] = {
    "InitializeTable": (
        _initialize,
        ", keys: Tkey, values: Tval ->",
        (),
        {"Tkey": ANY, "Tval": ANY},
        _shape_of_initialize,
    ),
    "InitializeTableFromTextFile": (
        _initialize_from_file,
        ", filename: string ->",
        (*_FILE, _TAB),
        {},
        _shape_of_initialize_from_file,
    ),
    "LookupTableFind": (
        _find,
        ", keys: Tin, default_value: Tout -> values: Tout",
        (),
        _IN_OUT,
        _shape_of_find,
    ),
    "LookupTableSize": (_size, "-> size: int64", (), {}, rules.scalar),
    "LookupTableImport": (_import, _PAIR, (), _IN_OUT, _shape_of_import),
    "LookupTableInsert": (_insert, _PAIR, (), _IN_OUT, rules.nothing),
    "LookupTableExport": (
        _export,
        "-> keys: Tkeys, values: Tvalues",
        (),
        {"Tkeys": ANY, "Tvalues": ANY},
        _shape_of_export,
    ),
    "LookupTableRemove": (_remove, ", keys: Tin ->", (), {"Tin": ANY}, rules.nothing),
}

for _name, (_kernel, _signature, _attrs, _types, _shape) in _ACTIONS.items():
    for _version in ("V2",) if _name == "LookupTableRemove" else ("", "V2"):
        op(
            f"{_name}{_version}",
            f"table_handle: {handle_type(_version)} {_signature}",
            *_attrs,
            stateful=bool(_version),
            ctx=True,
            no_grad=_NO_GRAD,
            **_types,
        )(_kernel).shape(_shape)
