"""Resource variables: `VarHandleOp`, `ReadVariableOp` and `AssignVariableOp`."""

from __future__ import annotations

from typing import Any

from .convert import convert_to_tensor
from .default import get_default_graph, name_scope
from .dtypes import DType
from .initial_value import guarded
from .op import raw_ops
from .operation import Operation, Tensor
from .tensor_shape import TensorShape
from .variable import _KINDS, Variable


class ResourceVariable(Variable):
    """A variable behind a resource handle (`VarHandleOp`)."""

    _is_resource = True
    _handle: Tensor
    _cached: Tensor | None = None

    def _build(
        self,
        scope: str,
        initial_value: Any,
        dtype: DType | None,
        validate_shape: bool,
        expected: Any,
        shape: Any,
    ) -> None:
        graph = get_default_graph()
        true_name = scope[:-1]
        with graph._attr_scope({"_class": [b"loc:@" + true_name.encode()]}):
            with name_scope("Initializer"), graph.device(None):
                value = initial_value() if callable(initial_value) else initial_value
                self._initial_value = convert_to_tensor(value, dtype, name="initial_value")
            static = self._check_shape(self._initial_value, validate_shape, expected)
            self._dtype = self._initial_value.dtype.base_dtype
            self._handle = raw_ops.VarHandleOp(
                shape=static if shape is None else shape, dtype=self._dtype, shared_name=true_name, name=scope
            )
        with name_scope("IsInitialized"):
            self._is_initialized_op = raw_ops.VarIsInitializedOp(self._handle)
        with graph.colocate_with(self._handle.op):
            self._initializer_op = raw_ops.AssignVariableOp(
                self._handle, guarded(self._initial_value), name="Assign"
            )
            with name_scope("Read"):
                self._snapshot = raw_ops.ReadVariableOp(self._handle, dtype=self._dtype)
        if self._caching_device:
            with self._where_read(self._handle.op):
                self._cached = raw_ops.ReadVariableOp(self._handle, dtype=self._dtype)

    def _from_def(self, definition: Any, import_scope: str | None) -> None:
        scope = f"{import_scope}/" if import_scope else ""
        handle = get_default_graph().as_graph_element(scope + definition.variable_name)
        assert isinstance(handle, Tensor)
        self._handle = handle
        self._dtype = handle.op.attr("dtype")
        self._common_from_def(definition, import_scope)

    @property
    def handle(self) -> Tensor:
        """The resource handle."""
        return self._handle

    @property
    def name(self) -> str:
        """`NAME:0`."""
        return self._handle.name

    @property
    def op(self) -> Operation:
        """The VarHandleOp operation."""
        return self._handle.op

    @property
    def dtype(self) -> DType:
        """The element type."""
        dtype: DType = self._dtype
        return dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape that the handle declares."""
        shape: TensorShape = self._handle.op.attr("shape")
        return shape

    def is_initialized(self, name: str | None = None) -> Any:
        """A boolean tensor: whether it has a value."""
        return raw_ops.VarIsInitializedOp(self._handle, name=name)

    def value(self) -> Any:
        """A new ReadVariableOp, or the one on the caching device."""
        if self._cached is not None:
            return self._cached
        return raw_ops.ReadVariableOp(self._handle, dtype=self._dtype)

    def read_value(self) -> Any:
        """A new tensor that reads it when the operation runs."""
        with name_scope("Read"):
            value = self.value()
        return raw_ops.Identity(value)

    def _as_graph_element(self) -> Tensor:
        return self._snapshot

    def _ref(self) -> Tensor:
        return self._snapshot

    def _is_initialized(self) -> Any:
        return self.is_initialized()

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        """The rows of the given indices."""
        return raw_ops.ResourceGather(self._handle, indices, dtype=self._dtype, name=name)

    def _changed(self, operation: Operation, read_value: bool) -> Any:
        return _UnreadVariable(self, operation) if read_value else operation

    def assign(
        self, value: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Sets it; gives a read after that (the operation where `read_value` is false).

        Raises:
            ValueError: The shape of `value` cannot be the variable's.
        """
        tensor = convert_to_tensor(value, self._dtype)
        self.shape.assert_is_compatible_with(tensor.get_shape())
        return self._changed(raw_ops.AssignVariableOp(self._handle, tensor, name=name), read_value)

    def assign_add(
        self, delta: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Adds to it; gives a read after that."""
        tensor = convert_to_tensor(delta, self._dtype)
        return self._changed(raw_ops.AssignAddVariableOp(self._handle, tensor, name=name), read_value)

    def assign_sub(
        self, delta: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Subtracts from it; gives a read after that."""
        tensor = convert_to_tensor(delta, self._dtype)
        return self._changed(raw_ops.AssignSubVariableOp(self._handle, tensor, name=name), read_value)

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        """The slices at tuples of indices."""
        with name_scope(name, "GatherNd") as scope:
            value = raw_ops.ResourceGatherNd(self._handle, indices, dtype=self._dtype, name=scope)
        return raw_ops.Identity(value)

    def count_up_to(self, limit: int) -> Any:
        """Adds 1 and gives the old value, until it reaches `limit`."""
        return raw_ops.ResourceCountUpTo(self._handle, limit=limit, T=self._dtype)

    def _scattered(self, kind: str, indices: Any, updates: Any, use_locking: bool, name: str | None) -> Any:
        tensor = convert_to_tensor(updates, self._dtype)
        return self._changed(
            getattr(raw_ops, f"Resource{kind}")(self._handle, indices, tensor, name=name), True
        )

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"


class _UnreadVariable(ResourceVariable):
    """What an assignment gives: the variable, read only after the assignment; its `op` is that one."""

    def __init__(self, variable: ResourceVariable, parent_op: Operation) -> None:
        self._handle = variable._handle
        self._dtype = variable._dtype
        self._trainable = variable._trainable
        self._constraint = variable._constraint
        self._synchronization = variable._synchronization
        self._aggregation = variable._aggregation
        self._initializer_op = variable._initializer_op
        self._initial_value = variable._initial_value
        self._parent_op = parent_op
        self._snapshot = self.value()

    @property
    def op(self) -> Operation:
        """The assignment."""
        return self._parent_op

    def value(self) -> Any:
        """A new ReadVariableOp that runs after the assignment."""
        with self._parent_op.graph.control_dependencies([self._parent_op]):
            return super().value()


_KINDS[True] = ResourceVariable
