"""`tf.Variable`: what ref and resource variables share.

Both kinds have TensorFlow's nodes and names, so that their graphs and checkpoints are interchangeable:
`w`, `w/Assign`, `w/read` (`ref_variable.py`); `w`, `w/IsInitialized/VarIsInitializedOp`, `w/Assign`,
`w/Read/ReadVariableOp` (`resource_variable.py`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from ..formats import protos
from .conditional import cond
from .convert import convert_to_tensor
from .default import GraphKeys, get_default_graph, get_default_session, name_scope
from .dtypes import DType, as_dtype
from .errors import InvalidStateError, InvalidTypeError, InvalidValueError
from .indexed_slices import IndexedSlices
from .operation import Operation, Tensor
from .ops.array_slice import index_tensor
from .ops.state_scatter import batch_scatter_update
from .tensor_operators import Reference, TensorOperators
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
    ONLY_FIRST_TOWER = 3


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


_SaveSliceInfo = SaveSliceInfo  # also an attribute of the class below

# What `tf.Variable` takes where an argument is not given; filled by the variable scopes.
scope_defaults: dict[str, Callable[[], Any]] = {}


class _Created(type):
    """Makes variables through the functions of `variable_creator_scope`."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """The variable that the innermost function gives."""
        if cls is not Variable or kwargs.get("variable_def") is not None:
            return super().__call__(*args, **kwargs)

        def create(**given: Any) -> Any:
            if given.get("use_resource") is None and "use_resource" in scope_defaults:
                given["use_resource"] = scope_defaults["use_resource"]()
            return type.__call__(Variable, **given)

        parameters = inspect.signature(Variable.__init__).parameters
        given = {**dict(zip(list(parameters)[1:], args)), **kwargs}
        creators = get_default_graph().get_collection_ref(_CREATORS)
        if not creators:
            return create(**given)
        for key in parameters:
            if key != "self":
                given.setdefault(key, parameters[key].default)
        for creator in creators:
            create = functools.partial(creator, create)
        return create(**given)


_CREATORS = ("__variable_creators",)


class variable_creator_scope:
    """`tf.variable_creator_scope`: variables inside are made by `variable_creator(next_creator, **kwargs)`.

    Args:
        variable_creator: A function that gives a variable, mostly `next_creator(**kwargs)`, which makes one.
    """

    def __init__(self, variable_creator: Callable[..., Any]) -> None:
        self._creator = variable_creator

    def __enter__(self) -> None:
        self._creators = get_default_graph().get_collection_ref(_CREATORS)
        self._creators.append(self._creator)
        self._depth = len(self._creators)

    def __exit__(self, *exc: Any) -> None:
        if len(self._creators) != self._depth:
            raise InvalidStateError("Exiting variable_creator_scope without proper nesting.")
        self._creators.pop()


class Variable(TensorOperators, metaclass=_Created):
    """A variable; `tf.Variable(...)` makes a ref variable unless `use_resource` is true.

    Args:
        initial_value: The first value: a tensor, what converts to one, or a function that gives it.
        trainable: Whether optimizers train it (adds it to `TRAINABLE_VARIABLES`).
        collections: Collections to add it to; by default `GLOBAL_VARIABLES`.
        validate_shape: Whether it keeps the shape of the initial value.
        caching_device: Where to read it for its users; by default where it is.
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

    SaveSliceInfo = _SaveSliceInfo
    _is_resource = False
    _save_slice_info: _SaveSliceInfo | None = None
    _initial_value: Any = None
    _snapshot: Tensor
    _trainable: bool
    _constraint: Any = None
    _caching_device: Any = None

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
        return object.__new__(_KINDS[bool(resource)])

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
        if trainable is None:
            trainable = synchronization != VariableSynchronization.ON_READ
        self._trainable = bool(trainable)
        self._caching_device = caching_device
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

    def _where_read(self, operation: Operation) -> AbstractContextManager[Any]:
        """The place of the tensor that users of the variable read."""
        graph = operation.graph
        if not self._caching_device:
            place: AbstractContextManager[Any] = graph.colocate_with(operation)
            return place
        stack = ExitStack()
        stack.enter_context(graph.colocate_with(None, ignore_existing=True))
        stack.enter_context(graph.device(self._caching_device))
        return stack

    def _check_shape(self, initial: Tensor, validate_shape: bool, expected: Any) -> TensorShape:
        found = initial.get_shape()
        if initial.op._control_flow_context is not None:
            raise InvalidValueError(
                f"Initializer for variable {get_default_graph().get_name_scope()}/ is from inside a "
                "control-flow construct, such as a loop or conditional. When creating a variable inside a "
                "loop or conditional, use a lambda as the initializer."
            )
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
    def _shared_name(self) -> str:
        """The name without its output's number."""
        return self.name.partition(":")[0]

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
        with get_default_graph().control_dependencies(None):
            return cond(self._is_initialized(), self.read_value, lambda: self.initial_value)

    def value(self) -> Any:
        """A tensor of its value."""
        raise NotImplementedError

    def read_value(self) -> Any:
        """A new tensor that reads it when the operation runs."""
        raise NotImplementedError

    def assign(
        self, value: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Sets it; gives it after that (the operation where `read_value` is false)."""
        raise NotImplementedError

    def assign_add(
        self, delta: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Adds to it; gives it after that."""
        raise NotImplementedError

    def assign_sub(
        self, delta: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Subtracts from it; gives it after that."""
        raise NotImplementedError

    def _scatter(self, kind: str, slices: Any, use_locking: bool, name: str | None) -> Any:
        if not isinstance(slices, IndexedSlices):
            raise InvalidTypeError(f"sparse_delta is not IndexedSlices: {slices}")
        return self._scattered(f"Scatter{kind}", slices.indices, slices.values, use_locking, name)

    def _scattered(self, kind: str, indices: Any, updates: Any, use_locking: bool, name: str | None) -> Any:
        """The variable after the update op `kind` (without Resource in front)."""
        raise NotImplementedError

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Adds IndexedSlices."""
        return self._scatter("Add", sparse_delta, use_locking, name)

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Subtracts IndexedSlices."""
        return self._scatter("Sub", sparse_delta, use_locking, name)

    def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Multiplies rows by IndexedSlices."""
        return self._scatter("Mul", sparse_delta, use_locking, name)

    def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Divides rows by IndexedSlices."""
        return self._scatter("Div", sparse_delta, use_locking, name)

    def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Sets rows to their minimum with IndexedSlices."""
        return self._scatter("Min", sparse_delta, use_locking, name)

    def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Sets rows to their maximum with IndexedSlices."""
        return self._scatter("Max", sparse_delta, use_locking, name)

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Sets rows to IndexedSlices."""
        return self._scatter("Update", sparse_delta, use_locking, name)

    def batch_scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Sets slices of each batch to IndexedSlices; see `tf.batch_scatter_update`."""
        return batch_scatter_update(
            self, sparse_delta.indices, sparse_delta.values, use_locking=use_locking, name=name
        )

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Adds `updates` at tuples of indices."""
        return self._scattered("ScatterNdAdd", indices, updates, True, name)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Subtracts `updates` at tuples of indices."""
        return self._scattered("ScatterNdSub", indices, updates, True, name)

    def experimental_ref(self) -> Reference:
        """A key for this very variable, for dictionaries and sets; `deref()` gives it back."""
        return Reference(self)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Sets slices at tuples of indices to `updates`."""
        return self._scattered("ScatterNdUpdate", indices, updates, True, name)

    def count_up_to(self, limit: int) -> Any:
        """Adds 1 and gives the old value, until it reaches `limit`."""
        raise NotImplementedError

    def __getitem__(self, spec: Any) -> Any:
        """The slice `variable[spec]`; its `assign(value, name=None)` sets that slice of the variable."""
        return index_tensor(self.value(), spec, self)

    def _as_graph_element(self) -> Any:
        raise NotImplementedError

    def _ref(self) -> Any:
        raise NotImplementedError

    def _is_initialized(self) -> Any:
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

    def _set_save_slice_info(self, save_slice_info: _SaveSliceInfo) -> None:
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self) -> _SaveSliceInfo | None:
        return self._save_slice_info

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The VariableDef, or None where it lies outside `export_scope`."""
        names = {
            "variable_name": self.name,
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
            is_resource=self._is_resource,
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
        self._synchronization = definition.synchronization
        self._aggregation = definition.aggregation
        self._snapshot = element(definition.snapshot_name)
        name = definition.initial_value_name
        self._initial_value = element(name) if name else None
        if definition.HasField("save_slice_info_def"):
            self._save_slice_info = _SaveSliceInfo(
                save_slice_info_def=definition.save_slice_info_def, import_scope=import_scope
            )

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __iter__(self) -> Any:
        raise InvalidTypeError("'Variable' object is not iterable.")

    __array_priority__ = 100


_default_use_resource = [False]
_KINDS: dict[bool, type[Variable]] = {}  # by whether it is a resource; each kind enters itself


def enable_resource_variables() -> None:
    """`tf.enable_resource_variables`: `tf.Variable` makes resource variables from now on."""
    _default_use_resource[0] = True


def disable_resource_variables() -> None:
    """`tf.disable_resource_variables`: `tf.Variable` makes ref variables from now on."""
    _default_use_resource[0] = False


def resource_variables_enabled() -> bool:
    """Whether `tf.Variable` makes resource variables."""
    return _default_use_resource[0]
