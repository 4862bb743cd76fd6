"""Ref variables: `VariableV2` and `Assign`."""

from __future__ import annotations

from typing import Any

from .default import get_default_graph
from .dtypes import DType
from .initial_value import guarded
from .op import raw_ops
from .operation import Operation, Tensor
from .tensor_shape import TensorShape
from .variable import _KINDS, Variable


class RefVariable(Variable):
    """A variable behind a reference (`VariableV2`, `Assign`)."""

    _variable: Tensor

    def _build(
        self,
        scope: str,
        initial_value: Any,
        dtype: DType | None,
        validate_shape: bool,
        expected: Any,
        shape: Any,
    ) -> None:
        self._initial_value = self._make_initial_value(scope, initial_value, dtype)
        static = self._check_shape(self._initial_value, validate_shape, expected)
        base = self._initial_value.dtype.base_dtype
        self._variable = raw_ops.VariableV2(shape=static if shape is None else shape, dtype=base, name=scope)
        graph = self._variable.graph
        with graph.colocate_with(self._variable.op):
            self._initializer_op = raw_ops.Assign(
                self._variable, guarded(self._initial_value), validate_shape=validate_shape, name="Assign"
            ).op
        with self._where_read(self._variable.op):
            self._snapshot = raw_ops.Identity(self._variable, name="read")

    def _from_def(self, definition: Any, import_scope: str | None) -> None:
        scope = f"{import_scope}/" if import_scope else ""
        found = get_default_graph().as_graph_element(scope + definition.variable_name)
        assert isinstance(found, Tensor)
        self._variable = found
        self._common_from_def(definition, import_scope)

    @property
    def name(self) -> str:
        """`NAME:0`."""
        return self._variable.name

    @property
    def op(self) -> Operation:
        """The VariableV2 operation."""
        return self._variable.op

    @property
    def dtype(self) -> DType:
        """The reference type."""
        return self._variable.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._variable.get_shape()

    def value(self) -> Tensor:
        """The tensor `NAME/read:0`."""
        return self._snapshot

    def read_value(self) -> Any:
        """A new Identity of the variable."""
        return raw_ops.Identity(self._variable, name="read")

    def _as_graph_element(self) -> Tensor:
        return self._variable

    def _ref(self) -> Tensor:
        return self._variable

    def _is_initialized(self) -> Any:
        return raw_ops.IsVariableInitialized(self._variable)

    def assign(
        self, value: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Sets it; gives the reference after that (the operation where `read_value` is false)."""
        result = raw_ops.Assign(self._variable, value, use_locking=bool(use_locking), name=name)
        return result if read_value else result.op

    def assign_add(
        self, delta: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Adds to it; gives the reference after that."""
        result = raw_ops.AssignAdd(self._variable, delta, use_locking=bool(use_locking), name=name)
        return result if read_value else result.op

    def assign_sub(
        self, delta: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Subtracts from it; gives the reference after that."""
        result = raw_ops.AssignSub(self._variable, delta, use_locking=bool(use_locking), name=name)
        return result if read_value else result.op

    def _scattered(self, kind: str, indices: Any, updates: Any, use_locking: bool, name: str | None) -> Any:
        return getattr(raw_ops, kind)(self._variable, indices, updates, use_locking=use_locking, name=name)

    def count_up_to(self, limit: int) -> Any:
        """Adds 1 and gives the old value, until it reaches `limit`."""
        return raw_ops.CountUpTo(self._variable, limit=limit)

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"


_KINDS[False] = RefVariable
