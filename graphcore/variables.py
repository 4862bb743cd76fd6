"""`tf.Variable`: state that a session keeps, as a ref variable or a resource variable.

Both kinds have TensorFlow's nodes and names, so that their graphs and checkpoints are interchangeable:
`w`, `w/Assign`, `w/read` (ref); `w`, `w/IsInitialized/VarIsInitializedOp`, `w/Assign`,
`w/Read/ReadVariableOp` (resource).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..formats import protos
from .convert import convert_to_tensor, register_tensor_conversion_function
from .default import GraphKeys, get_collection, get_default_graph, get_default_session, name_scope
from .dtypes import DType, as_dtype
from .errors import InvalidTypeError, InvalidValueError
from .op import group, no_op, raw_ops
from .operation import Operation, Tensor
from .tensor_shape import TensorShape


class VariableSynchronization:
    """Kept for compatibility."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation:
    """Kept for compatibility."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


class SaveSliceInfo:
    """Which part of a partitioned variable a variable holds.

    Attributes:
        full_name: The name of the whole, the checkpoint's key.
        full_shape: Its shape.
        var_offset: Where this part begins.
        var_shape: The shape of this part.
    """

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: Sequence[int] | None = None,
        var_offset: Sequence[int] | None = None,
        var_shape: Sequence[int] | None = None,
        save_slice_info_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        if save_slice_info_def is not None:
            info = save_slice_info_def
            full_name, full_shape = info.full_name, list(info.full_shape)
            var_offset, var_shape = list(info.var_offset), list(info.var_shape)
            if import_scope:
                full_name = f"{import_scope}/{full_name}"
        self.full_name = full_name
        self.full_shape = list(full_shape or [])
        self.var_offset = list(var_offset or [])
        self.var_shape = list(var_shape or [])

    @property
    def spec(self) -> str:
        """The form that SaveV2 and RestoreV2 take: `4 10 0,2:0,10`."""
        extents = ":".join(f"{start},{length}" for start, length in zip(self.var_offset, self.var_shape))
        return " ".join(map(str, self.full_shape)) + " " + extents

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The SaveSliceInfoDef, or None where the name lies outside `export_scope`."""
        name = _strip(self.full_name or "", export_scope)
        if name is None:
            return None
        return protos.SaveSliceInfoDef(
            full_name=name, full_shape=self.full_shape, var_offset=self.var_offset, var_shape=self.var_shape
        )


def _strip(name: str, scope: str | None) -> str | None:
    """`name` without the prefix `scope`, or None where it does not have it."""
    if not scope:
        return name
    return name[len(scope) + 1 :] if name.startswith(scope + "/") else None


class Variable:
    """A variable; `tf.Variable(...)` makes a ref variable unless `use_resource` is true.

    Args:
        initial_value: The first value: a tensor, what converts to one, or a function that gives it.
        trainable: Whether optimizers train it (adds it to `TRAINABLE_VARIABLES`).
        collections: Collections to add it to; by default `GLOBAL_VARIABLES`.
        validate_shape: Whether it keeps the shape of the initial value.
        caching_device: Kept for compatibility.
        name: Its name.
        variable_def: A VariableDef message to recreate it from; the nodes are in the graph then.
        dtype: The element type.
        expected_shape: A shape that the initial value must have.
        import_scope: Prefix of the names in `variable_def`.
        constraint: A projection that optimizers apply after an update.
        use_resource: Make a resource variable.
        synchronization: Kept for compatibility.
        aggregation: Kept for compatibility.
        shape: A less specific static shape for the variable.

    Raises:
        ValueError: Neither or both of initial value and definition are given, or the initial value
            has no shape while `validate_shape` holds.
    """

    _save_slice_info: SaveSliceInfo | None = None
    _initial_value: Any = None
    _snapshot: Tensor
    _trainable: bool
    _constraint: Any = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Variable:
        """Picks the kind; `_default_use_resource` says which one when nothing is asked for."""
        if cls is not Variable:
            return object.__new__(cls)
        definition = kwargs.get("variable_def")
        resource = kwargs.get("use_resource")
        if definition is not None:
            resource = definition.is_resource
        if resource is None:
            resource = _default_use_resource[0]
        return object.__new__(ResourceVariable if resource else RefVariable)

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Callable[[Any], Any] | None = None,
        use_resource: bool | None = None,
        synchronization: int = VariableSynchronization.AUTO,
        aggregation: int = VariableAggregation.NONE,
        shape: Any = None,
    ) -> None:
        self._synchronization = synchronization
        self._aggregation = aggregation
        if variable_def is not None:
            if initial_value is not None:
                raise InvalidValueError("variable_def and initial_value are mutually exclusive.")
            self._from_def(variable_def, import_scope)
            return
        if initial_value is None:
            raise InvalidValueError("initial_value must be specified.")
        if collections is None:
            collections = [GraphKeys.GLOBAL_VARIABLES]
        if not isinstance(collections, (list, tuple, set)):
            raise InvalidValueError(
                "collections argument to Variable constructor must be a list, tuple, or set. Got "
                f"{collections}"
            )
        if constraint is not None and not callable(constraint):
            raise InvalidValueError("The `constraint` argument must be a callable.")
        self._constraint = constraint
        self._trainable = True if trainable is None else bool(trainable)
        if self._trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
            collections = [*collections, GraphKeys.TRAINABLE_VARIABLES]
        wanted = None if dtype is None else as_dtype(dtype)
        graph = get_default_graph()
        values = [] if callable(initial_value) else [initial_value]
        with graph.control_dependencies(None), name_scope(name, "Variable", values) as scope:
            self._build(scope, initial_value, wanted, validate_shape, expected_shape, shape)
        graph.add_to_collections(collections, self)

    # Filled by the two kinds

    def _build(
        self,
        scope: str,
        initial_value: Any,
        dtype: DType | None,
        validate_shape: bool,
        expected: Any,
        shape: Any,
    ) -> None:
        raise NotImplementedError

    def _from_def(self, definition: Any, import_scope: str | None) -> None:
        raise NotImplementedError

    def _make_initial_value(self, scope: str, initial_value: Any, dtype: DType | None) -> Tensor:
        """The tensor of the first value, colocated with the variable when a function makes it."""
        tensor: Tensor
        if not callable(initial_value):
            tensor = convert_to_tensor(initial_value, dtype, name="initial_value")
            return tensor
        graph = get_default_graph()
        colocated = graph._attr_scope({"_class": [b"loc:@" + scope[:-1].encode()]})
        with colocated, name_scope("Initializer"), graph.device(None):
            tensor = convert_to_tensor(initial_value(), dtype, name="initial_value")
        return tensor

    def _check_shape(self, initial: Tensor, validate_shape: bool, expected: Any) -> TensorShape:
        found = initial.get_shape()
        if expected is not None:
            TensorShape(expected).assert_is_compatible_with(found)
        if validate_shape and not found.is_fully_defined():
            raise InvalidValueError(f"initial_value must have a shape specified: {initial}")
        return found if validate_shape else TensorShape(None)

    # What it is

    @property
    def name(self) -> str:
        """`NAME:0`."""
        raise NotImplementedError

    @property
    def op(self) -> Operation:
        """The operation that holds it; its name is the checkpoint's key."""
        raise NotImplementedError

    @property
    def graph(self) -> Any:
        """The graph that it is part of."""
        return self.op.graph

    @property
    def device(self) -> str:
        """The device of its operation."""
        return self.op.device

    @property
    def dtype(self) -> DType:
        """The element type; a reference type for ref variables."""
        raise NotImplementedError

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        raise NotImplementedError

    def get_shape(self) -> TensorShape:
        """The static shape."""
        return self.shape

    @property
    def trainable(self) -> bool:
        """Whether optimizers train it."""
        return self._trainable

    @property
    def constraint(self) -> Any:
        """The projection that optimizers apply after an update, or None."""
        return self._constraint

    @property
    def synchronization(self) -> int:
        """Kept for compatibility."""
        return self._synchronization

    @property
    def aggregation(self) -> int:
        """Kept for compatibility."""
        return self._aggregation

    @property
    def initializer(self) -> Operation:
        """The operation that sets it to its initial value."""
        return self._initializer_op

    _initializer_op: Operation

    @property
    def initial_value(self) -> Any:
        """The tensor of its initial value."""
        return self._initial_value

    def initialized_value(self) -> Any:
        """Its value, or its initial value while it has none."""
        from .conditional import cond

        with name_scope(None):
            return cond(is_variable_initialized(self), self.read_value, lambda: self.initial_value)

    def value(self) -> Any:
        """A tensor of its value."""
        raise NotImplementedError

    def read_value(self) -> Any:
        """A new tensor that reads it when the operation runs."""
        raise NotImplementedError

    def _as_graph_element(self) -> Any:
        raise NotImplementedError

    def _ref(self) -> Any:
        raise NotImplementedError

    def set_shape(self, shape: Any) -> None:
        """Adds to what is known of the static shape."""
        self._ref().set_shape(shape)
        self.value().set_shape(shape)

    def eval(self, session: Any = None) -> Any:
        """Its value in `session`, by default the default one."""
        return self.value().eval(session=session)

    def load(self, value: Any, session: Any = None) -> None:
        """Sets it to `value` in a session."""
        session = session or get_default_session()
        if session is None:
            raise InvalidValueError(
                "Either session argument should be provided or default session should be established"
            )
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def _set_save_slice_info(self, save_slice_info: SaveSliceInfo) -> None:
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self) -> SaveSliceInfo | None:
        return self._save_slice_info

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The VariableDef, or None where it lies outside `export_scope`."""
        names = {
            "variable_name": self._ref().name if not isinstance(self, ResourceVariable) else self.handle.name,
            "initializer_name": self._initializer_op.name,
            "snapshot_name": self._snapshot.name,
        }
        if self._initial_value is not None:
            names["initial_value_name"] = self._initial_value.name
        stripped = {key: _strip(name, export_scope) for key, name in names.items()}
        if stripped["variable_name"] is None:
            return None
        definition = protos.VariableDef(
            **{key: name for key, name in stripped.items() if name is not None},
            trainable=self._trainable,
            is_resource=isinstance(self, ResourceVariable),
            synchronization=self._synchronization,
            aggregation=self._aggregation,
        )
        if self._save_slice_info is not None:
            info = self._save_slice_info.to_proto(export_scope)
            if info is not None:
                definition.save_slice_info_def.CopyFrom(info)
        return definition

    @staticmethod
    def from_proto(variable_def: Any, import_scope: str | None = None) -> Variable:
        """The variable of a VariableDef whose nodes are in the default graph."""
        return Variable(variable_def=variable_def, import_scope=import_scope)

    def _common_from_def(self, definition: Any, import_scope: str | None) -> None:
        graph = get_default_graph()
        scope = f"{import_scope}/" if import_scope else ""

        def element(name: str) -> Any:
            return graph.as_graph_element(scope + name)

        self._initializer_op = element(definition.initializer_name)
        self._trainable = definition.trainable
        self._snapshot = element(definition.snapshot_name)
        name = definition.initial_value_name
        self._initial_value = element(name) if name else None
        if definition.HasField("save_slice_info_def"):
            self._save_slice_info = SaveSliceInfo(
                save_slice_info_def=definition.save_slice_info_def, import_scope=import_scope
            )

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __iter__(self) -> Any:
        raise InvalidTypeError("'Variable' object is not iterable.")

    __array_priority__ = 100


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
                self._variable, _guarded(self._initial_value), validate_shape=validate_shape, name="Assign"
            ).op
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

    def assign(
        self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Sets it; gives the reference after that (the operation where `read_value` is false)."""
        result = raw_ops.Assign(self._variable, value, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Adds to it; gives the reference after that."""
        result = raw_ops.AssignAdd(self._variable, delta, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Subtracts from it; gives the reference after that."""
        result = raw_ops.AssignSub(self._variable, delta, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def _scatter(self, kind: str, slices: Any, use_locking: bool, name: str | None) -> Any:
        make = getattr(raw_ops, kind)
        return make(self._variable, slices.indices, slices.values, use_locking=use_locking, name=name)

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Subtracts IndexedSlices."""
        return self._scatter("ScatterSub", sparse_delta, use_locking, name)

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Adds IndexedSlices."""
        return self._scatter("ScatterAdd", sparse_delta, use_locking, name)

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Sets rows to IndexedSlices."""
        return self._scatter("ScatterUpdate", sparse_delta, use_locking, name)

    def count_up_to(self, limit: int) -> Any:
        """Adds 1 and gives the old value, until it reaches `limit`."""
        return raw_ops.CountUpTo(self._variable, limit=limit)

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"


class ResourceVariable(Variable):
    """A variable behind a resource handle (`VarHandleOp`)."""

    _handle: Tensor

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
                self._handle, _guarded(self._initial_value), name="Assign"
            )
            with name_scope("Read"):
                self._snapshot = raw_ops.ReadVariableOp(self._handle, dtype=self._dtype)

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
        """A new ReadVariableOp."""
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

    def _scatter(self, kind: str, slices: Any, name: str | None) -> Any:
        operation = getattr(raw_ops, kind)(self._handle, slices.indices, slices.values, name=name)
        return self._changed(operation, True)

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Subtracts IndexedSlices."""
        return self._scatter("ResourceScatterSub", sparse_delta, name)

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Adds IndexedSlices."""
        return self._scatter("ResourceScatterAdd", sparse_delta, name)

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Sets rows to IndexedSlices."""
        return self._scatter("ResourceScatterUpdate", sparse_delta, name)

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


_default_use_resource = [False]


def enable_resource_variables() -> None:
    """`tf.enable_resource_variables`: `tf.Variable` makes resource variables from now on."""
    _default_use_resource[0] = True


def disable_resource_variables() -> None:
    """`tf.disable_resource_variables`: `tf.Variable` makes ref variables from now on."""
    _default_use_resource[0] = False


def resource_variables_enabled() -> bool:
    """Whether `tf.Variable` makes resource variables."""
    return _default_use_resource[0]


def _guarded(initial_value: Tensor) -> Tensor:
    """The initial value, reading other variables' initial values in place of their contents.

    A variable that is initialized from another one needs no order of initialization then.
    """
    return _Guard(initial_value.graph).rebuilt(initial_value)


class _Guard:
    """Rewrites an expression so that variables in it are read through `initialized_value`."""

    def __init__(self, graph: Any) -> None:
        self.by_operation = {
            variable.op: variable
            for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)
            for variable in graph.get_collection(key)
            if isinstance(variable, Variable)
        }
        self.done: dict[Operation, Operation] = {}

    def rebuilt(self, tensor: Tensor) -> Tensor:
        if not self.by_operation or not self._reads_variable(tensor.op):
            return tensor
        return self._tensor(tensor)

    def _reads_variable(self, operation: Operation) -> bool:
        stack, seen = [operation], set()
        while stack:
            current = stack.pop()
            if current in self.by_operation:
                return True
            if current not in seen:
                seen.add(current)
                stack.extend(source.op for source in current.inputs)
        return False

    def _tensor(self, tensor: Tensor) -> Tensor:
        operation = tensor.op
        if (
            operation.type in ("IsVariableInitialized", "VarIsInitializedOp", "ReadVariableOp", "Identity")
            or operation in self.by_operation
        ):
            source = (
                operation
                if operation in self.by_operation
                else operation.inputs[0].op
                if operation.inputs
                else None
            )
            variable = self.by_operation.get(source) if source is not None else None
            if variable is not None and operation.type not in ("IsVariableInitialized", "VarIsInitializedOp"):
                result: Tensor = variable.initialized_value()
                return result
            if operation.type in ("IsVariableInitialized", "VarIsInitializedOp"):
                return tensor
        if not self._reads_variable(operation) or operation.type in ("Merge", "Switch"):
            return tensor
        if operation not in self.done:
            inputs = [self._tensor(source) for source in operation.inputs]
            if all(a is b for a, b in zip(inputs, operation.inputs)):
                return tensor
            attrs = {name: operation.attr(name) for name in operation.attr_names()}
            self.done[operation] = operation.graph.add_node(
                operation.type, inputs, attrs, operation.name.rpartition("/")[2]
            )
        return self.done[operation].output(tensor.value_index)


def _variable_to_tensor(
    value: Variable, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Any:
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise InvalidValueError(
            f"Incompatible type conversion requested to type '{dtype.name}' for variable of type "
            f"'{value.dtype.name}'"
        )
    return value._ref() if as_ref and isinstance(value, RefVariable) else value.value()


register_tensor_conversion_function(Variable, _variable_to_tensor)


def _add_operators() -> None:
    """Variables have the operators of their value's tensor."""

    def forward(name: str) -> Callable[..., Any]:
        def operator(self: Variable, *args: Any) -> Any:
            return getattr(Tensor, name)(self.value(), *args)

        return operator

    for name in Tensor.OVERLOADABLE_OPERATORS:
        if hasattr(Tensor, name):
            setattr(Variable, name, forward(name))


_add_operators()


# Collections of variables


def global_variables(scope: str | None = None) -> list[Any]:
    """`tf.global_variables`."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def local_variables(scope: str | None = None) -> list[Any]:
    """`tf.local_variables`."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    """`tf.model_variables`."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """`tf.trainable_variables`."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Any]:
    """`tf.moving_average_variables`."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def all_variables() -> list[Any]:
    """Old name of `global_variables`."""
    return global_variables()


def variables_initializer(var_list: Any, name: str = "init") -> Operation:
    """An operation that initializes all the variables."""
    if not var_list:
        return no_op(name=name)
    return group(*[variable.initializer for variable in var_list], name=name)


def global_variables_initializer() -> Operation:
    """`tf.global_variables_initializer`."""
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation:
    """`tf.local_variables_initializer`."""
    return variables_initializer(local_variables())


def tables_initializer(name: str = "init_all_tables") -> Operation:
    """An operation that initializes all look-up tables."""
    found = get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(*found, name=name) if found else no_op(name=name)


def is_variable_initialized(variable: Any) -> Any:
    """A boolean tensor: whether the variable has a value."""
    if isinstance(variable, ResourceVariable):
        return variable.is_initialized()
    return raw_ops.IsVariableInitialized(variable)


def report_uninitialized_variables(var_list: Any = None, name: str = "report_uninitialized_variables") -> Any:
    """A string tensor: the names of variables that have no value.

    Args:
        var_list: The variables; by default the global and local ones.
        name: Name of the operation.
    """
    variables = [*global_variables(), *local_variables()] if var_list is None else list(var_list)
    with name_scope(name):
        if not variables:
            return raw_ops.Const(value=np.empty(0, object), dtype="string")
        missing = raw_ops.LogicalNot(
            raw_ops.Pack([is_variable_initialized(variable) for variable in variables])
        )
        names = convert_to_tensor([variable.op.name for variable in variables])
        where = raw_ops.Reshape(raw_ops.Where(missing), [-1])
        return raw_ops.GatherV2(names, where, 0)


# Assignments as functions


def assign(
    ref: Any,
    value: Any,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """`tf.assign`: sets a variable."""
    if isinstance(ref, ResourceVariable):
        return ref.assign(value, name=name)
    options = {"validate_shape": validate_shape, "use_locking": use_locking}
    return raw_ops.Assign(
        ref, value, name=name, **{key: item for key, item in options.items() if item is not None}
    )


def assign_add(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """`tf.assign_add`: adds to a variable."""
    return (
        ref.assign_add(value, name=name)
        if isinstance(ref, ResourceVariable)
        else raw_ops.AssignAdd(ref, value, use_locking=bool(use_locking), name=name)
    )


def assign_sub(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """`tf.assign_sub`: subtracts from a variable."""
    return (
        ref.assign_sub(value, name=name)
        if isinstance(ref, ResourceVariable)
        else raw_ops.AssignSub(ref, value, use_locking=bool(use_locking), name=name)
    )
