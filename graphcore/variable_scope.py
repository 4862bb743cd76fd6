"""`tf.get_variable` and `tf.variable_scope`: variables by name, shared on request.

Source: tensorflow/python/ops/variable_scope.py (r1.15), behaviour only.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .convert import convert_to_tensor
from .default import GraphKeys, get_default_graph, name_scope
from .dtypes import as_dtype, float32
from .errors import InvalidStateError, InvalidTypeError, InvalidValueError
from .initializers import Zeros as zeros_initializer
from .variable import VariableAggregation, VariableSynchronization, scope_defaults
from .variable_store import VariableStore


class _ReuseMode:
    """`tf.AUTO_REUSE`: make what is missing, share what is there."""

    def __repr__(self) -> str:
        return "<_ReuseMode.AUTO_REUSE: 1>"


AUTO_REUSE = _ReuseMode()
_OPTIONS = (
    "initializer", "regularizer", "caching_device", "partitioner",
    "custom_getter", "dtype", "use_resource", "constraint",
)  # fmt: skip


class VariableScope:
    """The prefix and defaults for `get_variable` inside a `variable_scope`."""

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        name_scope: str = "",
        dtype: Any = float32,
        use_resource: bool | None = None,
        constraint: Any = None,
    ) -> None:
        self._name = name
        self._reuse = reuse
        self._initializer = initializer
        self._regularizer = regularizer
        self._caching_device = caching_device
        self._partitioner = partitioner
        self._custom_getter = custom_getter
        self._name_scope = name_scope
        self._dtype = as_dtype(dtype)
        self._use_resource = use_resource
        self._constraint = constraint

    def _copy(self, **changes: Any) -> VariableScope:
        fields = {key.removeprefix("_"): value for key, value in self.__dict__.items()}
        return VariableScope(**{**fields, **changes})

    @property
    def name(self) -> str:
        """The prefix."""
        return self._name

    @property
    def original_name_scope(self) -> str:
        """The name scope that came with it."""
        return self._name_scope

    @property
    def reuse(self) -> Any:
        """False, True or AUTO_REUSE."""
        return self._reuse

    @property
    def initializer(self) -> Any:
        """The default initializer."""
        return self._initializer

    @property
    def dtype(self) -> Any:
        """The default dtype."""
        return self._dtype

    @property
    def use_resource(self) -> Any:
        """Whether variables are resource variables by default."""
        return self._use_resource

    @property
    def regularizer(self) -> Any:
        """The default regularizer."""
        return self._regularizer

    @property
    def caching_device(self) -> Any:
        """Kept for compatibility."""
        return self._caching_device

    @property
    def partitioner(self) -> Any:
        """The default partitioner."""
        return self._partitioner

    @property
    def custom_getter(self) -> Any:
        """The default custom getter."""
        return self._custom_getter

    @property
    def constraint(self) -> Any:
        """The default constraint."""
        return self._constraint

    def reuse_variables(self) -> None:
        """Shares variables from here on."""
        self._reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Sets the default initializer."""
        self._initializer = initializer

    def set_dtype(self, dtype: Any) -> None:
        """Sets the default dtype."""
        self._dtype = as_dtype(dtype)

    def set_use_resource(self, use_resource: bool) -> None:
        """Sets whether variables are resource variables by default."""
        self._use_resource = use_resource

    def set_regularizer(self, regularizer: Any) -> None:
        """Sets the default regularizer."""
        self._regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        """Kept for compatibility."""
        self._caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        """Sets the default partitioner."""
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        """Sets the default custom getter."""
        self._custom_getter = custom_getter

    def get_collection(self, name: str) -> list[Any]:
        """The items of a collection whose names lie in this scope."""
        return get_default_graph().get_collection(name, f"{self._name}/" if self._name else None)

    def trainable_variables(self) -> list[Any]:
        """The trainable variables in this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        """The global variables in this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        """The local variables in this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)


class _Store(VariableStore):
    """The variables of one graph by name, and how often each scope name was opened."""

    def __init__(self) -> None:
        super().__init__()
        self.scope_counts: dict[str, int] = {}
        self.scope = VariableScope(False)


def get_variable_store() -> VariableStore:
    """The variables of the default graph that `get_variable` has made."""
    return _store()


def _store() -> _Store:
    found = get_default_graph().get_collection_ref(("__variable_store",))
    if not found:
        found.append(_Store())
    store: _Store = found[0]
    return store


def get_variable_scope() -> VariableScope:
    """The current variable scope."""
    return _store().scope


scope_defaults["use_resource"] = lambda: get_variable_scope().use_resource


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: int = 0,
    aggregation: int = 0,
) -> Any:
    """`tf.get_variable`: the variable of that name in the current variable scope, made or shared.

    Args:
        name: Its name within the scope.
        shape: Its shape; may be left out where `initializer` is a tensor or array.
        dtype: The element type (default: the scope's).
        initializer: An initializer (object or class), function, tensor, array or value; by default the
            scope's, else Glorot uniform for floats and zeros for the rest.
        regularizer: Function from the variable to a loss, kept in `REGULARIZATION_LOSSES`.
        trainable: Whether optimizers train it (default yes).
        collections: Collections to add it to.
        caching_device: Kept for compatibility.
        partitioner: Function from shape and dtype to the number of slices along each axis; the variable is
            a `PartitionedVariable` then.
        validate_shape: Whether the shape must be known.
        use_resource: Make a resource variable.
        custom_getter: Function that is called in place of this one, with this one as first argument.
        constraint: A projection that optimizers apply after an update.
        synchronization: Kept for compatibility.
        aggregation: Kept for compatibility.

    Raises:
        ValueError: It exists and is not to be shared, or does not and is, or shape or dtype differ
            from the existing one's.
    """
    scope, store = get_variable_scope(), _store()
    full = f"{scope.name}/{name}" if scope.name else name
    # The variable's name is absolute whatever name scope we are in.
    with name_scope(None):
        if dtype is not None and initializer is not None and not callable(initializer):
            found = convert_to_tensor(initializer).dtype.base_dtype
            if found != as_dtype(dtype):
                raise InvalidValueError(
                    f"Initializer type '{found}' and explicit dtype '{as_dtype(dtype)}' don't match."
                )
        settings = {
            "initializer": initializer, "regularizer": regularizer, "caching_device": caching_device,
            "partitioner": partitioner, "constraint": constraint, "use_resource": use_resource,
            "dtype": None if dtype is None else as_dtype(dtype),
        }  # fmt: skip
        for key, value in settings.items():
            if value is None:
                settings[key] = getattr(scope, f"_{key}")
        arguments = {
            "shape": shape, "reuse": scope.reuse, "trainable": trainable, "collections": collections,
            "validate_shape": validate_shape, "synchronization": synchronization,
            "aggregation": aggregation, **settings,
        }  # fmt: skip
        getter = custom_getter if custom_getter is not None else scope._custom_getter
        if getter is None:
            return store.get_variable(full, **arguments)
        if not callable(getter):
            raise InvalidValueError(f"Passed a custom_getter which is not callable: {getter}")
        if trainable is None:
            arguments["trainable"] = synchronization != VariableSynchronization.ON_READ
        if not _takes(getter, "constraint"):
            del arguments["constraint"]
        return getter(store.get_variable, name=full, **arguments)


def _takes(function: Callable[..., Any], name: str) -> bool:
    parameters = inspect.signature(function).parameters
    return name in parameters or any(item.kind is item.VAR_KEYWORD for item in parameters.values())


def get_partitioned_variable(
    name: str | None,
    shape: Any,
    dtype: Any,
    initializer: Any,
    trainable: bool,
    collections: Any,
    partitioner: Callable[..., Any],
) -> Any:
    """A partitioned variable with the name of the scope; see `create_partitioned_variables`.

    Raises:
        ValueError: The scope has a custom getter.
    """
    scope = get_variable_scope()
    if scope._custom_getter is not None:
        raise InvalidValueError(
            "Private access to _get_partitioned_variable is not allowed when a custom getter is set.  "
            f"Current custom getter: {scope._custom_getter}.  It is likely that you're using "
            "create_partitioned_variables.  If so, consider instead using get_variable with a non-empty "
            "partitioner parameter instead."
        )
    full = "/".join(part for part in (scope.name, name) if part)
    with name_scope(None):
        return _store().get_partitioned(
            full, partitioner, shape, scope.dtype if dtype is None else as_dtype(dtype),
            scope.initializer if initializer is None else initializer, scope.regularizer, scope.reuse,
            trainable=trainable, collections=collections, caching_device=scope.caching_device,
            constraint=scope.constraint, use_resource=scope.use_resource,
        )  # fmt: skip


def get_local_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = False,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: int = VariableSynchronization.AUTO,
    aggregation: int = VariableAggregation.NONE,
) -> Any:
    """As `get_variable`, which has the arguments; never trained, and in `LOCAL_VARIABLES`."""
    return get_variable(
        name, shape, dtype, initializer, regularizer, False,
        [*(collections or []), GraphKeys.LOCAL_VARIABLES], caching_device, partitioner, validate_shape,
        use_resource, custom_getter, constraint, synchronization, aggregation,
    )  # fmt: skip


class variable_scope:
    """`tf.variable_scope`: a prefix (and name scope) for variables, with defaults for `get_variable`.

    Args:
        name_or_scope: A name below the current scope, or a VariableScope to enter again.
        default_name: A name that is made unique, where `name_or_scope` is None.
        values: Tensors of the graph to use.
        initializer: Default for the variables inside, as are the next ones.
        regularizer: Default.
        caching_device: Default.
        partitioner: Default.
        custom_getter: Default.
        reuse: True shares existing variables, AUTO_REUSE makes missing ones, None inherits.
        dtype: Default.
        use_resource: Default.
        constraint: Default.
        auxiliary_name_scope: Open a name scope as well.

    Raises:
        TypeError: `name_or_scope` is of the wrong kind.
        ValueError: No name is given, or reuse is asked for with a name that is made unique.
    """

    def __init__(
        self,
        name_or_scope: Any,
        default_name: str | None = None,
        values: Sequence[Any] | None = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        reuse: Any = None,
        dtype: Any = None,
        use_resource: bool | None = None,
        constraint: Any = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        if default_name is None and name_or_scope is None:
            raise InvalidTypeError("If default_name is None then name_or_scope is required")
        if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
            raise InvalidTypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        if not isinstance(auxiliary_name_scope, bool):
            raise InvalidTypeError(
                f"The auxiliary_name_scope must be `True` or `False`, while get {auxiliary_name_scope}"
            )
        if name_or_scope is None and reuse is True:
            raise InvalidValueError("reuse=True cannot be used without a name_or_scope")
        given = locals()
        self._defaults = {key: given[key] for key in _OPTIONS if given[key] is not None}
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._values = list(values or ())
        self._reuse = reuse
        self._auxiliary = auxiliary_name_scope

    def __enter__(self) -> VariableScope:
        self._manager = self._entered()
        self._entered_store = _store()
        self._entered_scope = self._manager.__enter__()
        return self._entered_scope

    def __exit__(self, *exc: Any) -> Any:
        if self._entered_store.scope is not self._entered_scope:
            raise InvalidStateError("Improper nesting of variable_scope.")
        return self._manager.__exit__(*exc)

    @contextmanager
    def _entered(self) -> Iterator[VariableScope]:
        with _optional_name_scope(self._scope_name(), self._values, self._auxiliary) as scope_name:
            store = _store()
            old = store.scope
            new = self._new_scope(store, old, scope_name or "")
            saved_counts = dict(store.scope_counts)
            if isinstance(self._name_or_scope, VariableScope):
                _forget_below(store, new.name)
            else:
                store.scope_counts[new.name] = store.scope_counts.get(new.name, 0) + 1
            store.scope = new
            try:
                yield new
            finally:
                store.scope = old
                _forget_below(store, new.name)
                if isinstance(self._name_or_scope, VariableScope):
                    store.scope_counts = saved_counts

    def _scope_name(self) -> str | None:
        if isinstance(self._name_or_scope, VariableScope):
            return self._name_or_scope.name.rpartition("/")[2] or None
        return self._name_or_scope or self._default_name

    def _new_scope(self, store: _Store, old: VariableScope, scope_name: str) -> VariableScope:
        changes = dict(self._defaults)
        if isinstance(self._name_or_scope, VariableScope):
            base = self._name_or_scope
            # The scope as it was made: the names and sharing around the place of entry play no part.
            changes["name_scope"] = base._name_scope
            reuse = self._reuse or base.reuse
            name = base.name
        else:
            base = old
            part = self._name_or_scope
            if part is None:
                part = _unique_scope(store, old.name, self._default_name or "")
            name = f"{old.name}/{part}" if old.name else part
            changes["name_scope"] = scope_name
            reuse = old.reuse if self._reuse is None else (self._reuse or old.reuse)
        if "custom_getter" in changes and base.custom_getter is not None:
            changes["custom_getter"] = _composed(changes["custom_getter"], base.custom_getter)
        return base._copy(name=name, reuse=reuse, **changes)


@contextmanager
def _optional_name_scope(name: str | None, values: list[Any], wanted: bool) -> Iterator[str | None]:
    if not wanted or not name:
        with name_scope(None, None) if values else _no_scope():
            yield get_default_graph().get_name_scope() + "/" if get_default_graph().get_name_scope() else ""
        return
    with name_scope(name, values=values or None) as scope:
        yield scope


@contextmanager
def _no_scope() -> Iterator[None]:
    yield


def _composed(new: Callable[..., Any], old: Callable[..., Any]) -> Callable[..., Any]:
    """The outer scope's getter is asked last: new(old(getter))."""

    def custom_getter(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return new(functools.partial(old, getter), *args, **kwargs)

    return custom_getter


def _unique_scope(store: _Store, prefix: str, name: str) -> str:
    full = f"{prefix}/{name}" if prefix else name
    if not store.scope_counts.get(full):
        return name
    index = 1
    while store.scope_counts.get(f"{full}_{index}"):
        index += 1
    return f"{name}_{index}"


def _forget_below(store: _Store, name: str) -> None:
    """Scopes inside a scope count from 0 again when it is opened again."""
    for key in list(store.scope_counts):
        if not name or key.startswith(name + "/"):
            store.scope_counts[key] = 0


def variable_op_scope(
    values: Sequence[Any] | None,
    name_or_scope: Any,
    default_name: str | None = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: bool | None = None,
    constraint: Any = None,
) -> variable_scope:
    """Old form of `variable_scope`, which has the arguments."""
    return variable_scope(
        name_or_scope, default_name, values, initializer, regularizer, caching_device, partitioner,
        custom_getter, reuse, dtype, use_resource, constraint,
    )  # fmt: skip


def no_regularizer(_: Any) -> None:
    """A regularizer that adds nothing."""


# Steps


def get_global_step(graph: Any = None) -> Any:
    """The global step variable of a graph, or None.

    Raises:
        RuntimeError: There are several.
        TypeError: It is no integer scalar.
    """
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        names = ", ".join(getattr(item, "name", str(item)) for item in found)
        raise InvalidStateError(f"Multiple items in the GLOBAL_STEP collection: {names}")
    try:
        step = found[0] if found else graph.get_tensor_by_name("global_step:0")
    except KeyError:
        return None
    assert_global_step(step)
    return step


def assert_global_step(global_step_tensor: Any) -> None:
    """Checks that a tensor or variable is an integer scalar.

    Raises:
        TypeError: It is none.
    """
    if not hasattr(global_step_tensor, "dtype") or not hasattr(global_step_tensor, "get_shape"):
        raise InvalidTypeError(f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.')
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise InvalidTypeError(
            f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}'
        )
    shape = global_step_tensor.get_shape()
    if shape.ndims != 0 and shape.is_fully_defined():
        raise InvalidTypeError(f'Existing "global_step" is not scalar: {shape}')


def create_global_step(graph: Any = None) -> Any:
    """Makes the global step variable.

    Raises:
        ValueError: There is one already.
    """
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise InvalidValueError('"global_step" already exists.')
    with graph.as_default(), graph.name_scope(None):
        return get_variable(
            "global_step", [], "int64", zeros_initializer(), trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )  # fmt: skip


def get_or_create_global_step(graph: Any = None) -> Any:
    """The global step variable of a graph, made where there is none."""
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """`tf.train.global_step`: the value of the step as an int."""
    return int(sess.run(global_step_tensor))
