"""Lookup tables of a graph that take entries at any time; savers save them.

Source: tensorflow/python/ops/lookup_ops.py (r1.15), behaviour, names of nodes and texts.
"""

from __future__ import annotations

from typing import Any

from .convert import convert_to_tensor
from .default import GraphKeys, add_to_collection, colocate_with, name_scope
from .op import raw_ops
from .operation import Operation
from .saveable_objects import TableSaveable
from .tables import LookupInterface


class _MutableTable(LookupInterface):
    """What both kinds share: the default, and saving."""

    _shared_name = ""

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, name: str, save: bool) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default_value = default_value
        self._checkpoint = save
        self._name = name

    def _made(self, handle: Any) -> None:
        self._resource_handle = handle
        self._table_name = handle.op.name.split("/")[-1]
        if self._checkpoint:
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable())

    def _saveable(self, name: str | None = None) -> TableSaveable:
        """What a Saver saves of it: its keys and values, under its own name unless another is given."""
        return TableSaveable(self, self._name if name is None else f"{name}_table", self._restored)

    @property
    def _sharing(self) -> dict[str, Any]:
        """A table that is saved has the node's name, so that it is the same in every run."""
        shared = self._shared_name
        return {"shared_name": shared, "use_node_name_sharing": self._checkpoint and not shared}

    def _restored(self, keys: Any, values: Any) -> Operation:
        with name_scope(f"{self._name}_table_restore"), colocate_with(self.resource_handle):
            operation: Operation = raw_ops.LookupTableImportV2(self.resource_handle, keys, values)
            return operation

    def size(self, name: str | None = None) -> Any:
        """How many entries the table has, an int64."""
        with (
            name_scope(name, f"{self.name}_Size", [self.resource_handle]),
            colocate_with(self.resource_handle),
        ):
            return raw_ops.LookupTableSizeV2(self.resource_handle)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of `keys` (any shape that ends with that of a key), or the default.

        Raises:
            TypeError: The keys have another dtype.
        """
        values = (self.resource_handle, keys, self._default_value)
        with name_scope(name, f"{self.name}_lookup_table_find", values):
            keys = convert_to_tensor(keys, self._key_dtype, name="keys")
            with colocate_with(self.resource_handle):
                return raw_ops.LookupTableFindV2(self.resource_handle, keys, self._default_value)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Operation:
        """The operation that adds or changes entries.

        Raises:
            TypeError: A dtype is another.
        """
        with name_scope(name, f"{self.name}_lookup_table_insert", [self.resource_handle, keys, values]):
            keys = convert_to_tensor(keys, self._key_dtype, name="keys")
            values = convert_to_tensor(values, self._value_dtype, name="values")
            with colocate_with(self.resource_handle):
                operation: Operation = raw_ops.LookupTableInsertV2(self.resource_handle, keys, values)
                return operation

    def remove(self, keys: Any, name: str | None = None) -> Operation:
        """The operation that removes entries; keys that are not there do not matter.

        Raises:
            TypeError: The keys have another dtype.
        """
        self._check_keys(keys, keys.dtype)
        values = (self.resource_handle, keys, self._default_value)
        with name_scope(name, f"{self.name}_lookup_table_remove", values):
            operation: Operation = raw_ops.LookupTableRemoveV2(self.resource_handle, keys)
            return operation

    def export(self, name: str | None = None) -> tuple[Any, Any]:
        """All keys and their values."""
        scope = name_scope(name, f"{self.name}_lookup_table_export_values", [self.resource_handle])
        with scope, colocate_with(self.resource_handle):
            keys, values = raw_ops.LookupTableExportV2(
                self.resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype
            )
        return keys, values


class MutableHashTable(_MutableTable):
    """A table that takes entries at any time.

    Args:
        key_dtype: The dtype of the keys.
        value_dtype: The dtype of the values.
        default_value: The value of keys that are not there; its shape (scalar or vector) is that of all.
        name: Name of the table.
        checkpoint: Whether savers save it.
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
    ) -> None:
        super().__init__(
            key_dtype, value_dtype, convert_to_tensor(default_value, value_dtype), name, checkpoint
        )
        shape = self._default_value.get_shape()
        options = {**self._sharing, "key_dtype": self._key_dtype, "value_dtype": self._value_dtype}
        if shape.ndims == 0:
            handle = raw_ops.MutableHashTableV2(name=name, **options)
        else:
            handle = raw_ops.MutableHashTableOfTensorsV2(name=name, value_shape=shape, **options)
        self._made(handle)


class DenseHashTable(_MutableTable):
    """A table that takes entries at any time, with keys that mark unused buckets.

    Args:
        key_dtype: The dtype of the keys.
        value_dtype: The dtype of the values.
        default_value: The value of keys that are not there; its shape is that of all.
        empty_key: A key that marks a bucket that was never used; its shape is that of all keys.
        deleted_key: A key that marks a bucket that is free again.
        initial_num_buckets: How many buckets there are at first, a power of 2.
        name: Name of the table.
        checkpoint: Whether savers save it.
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
    ) -> None:
        default = convert_to_tensor(default_value, value_dtype, name="default_value")
        super().__init__(key_dtype, value_dtype, default, name, checkpoint)
        buckets = {} if initial_num_buckets is None else {"initial_num_buckets": initial_num_buckets}
        self._made(
            raw_ops.MutableDenseHashTableV2(
                convert_to_tensor(empty_key, key_dtype, name="empty_key"),
                convert_to_tensor(deleted_key, key_dtype, name="deleted_key"),
                value_dtype=self._value_dtype,
                value_shape=default.get_shape(),
                name=name,
                **self._sharing,
                **buckets,
            )
        )

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> Operation:
        """As `insert`."""
        return self.insert(keys, values, name)

    def erase(self, keys: Any, name: str | None = None) -> Operation:
        """As `remove`."""
        return self.remove(keys, name)
