"""`tf.layers.Layer`: what keeps the variables of a layer and the scope that they are in.

Source: tensorflow/python/layers/base.py and keras/engine/base_layer.py (r1.15), behaviour only.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from . import nest
from .convert import convert_to_tensor
from .default import (
    GraphKeys,
    get_collection,
    get_collection_ref,
    get_default_graph,
    get_default_session,
    name_scope,
)
from .dtypes import as_dtype, float32
from .errors import InvalidStateError, InvalidTypeError, InvalidValueError
from .initializers import GlorotUniform, Zeros
from .input_spec import InputSpec, assert_compatible
from .layer_connections import Connections
from .op import raw_ops
from .operation import Operation, Tensor
from .ops.math_unary import tf_cast
from .partitioned_variable import PartitionedVariable
from .tensor_shape import TensorShape
from .variable_scope import VariableScope, get_variable, variable_scope
from .variables import Variable, VariableSynchronization

_keras_style = [False]


@contextmanager
def keras_style_scope() -> Iterator[None]:
    """`tf.layers.experimental.keras_style_scope`: layers share variables only by being the same object.

    Variables of those made inside are resource variables in name scopes; variable scopes play no part.
    """
    before = _keras_style[0]
    _keras_style[0] = True
    try:
        yield
    finally:
        _keras_style[0] = before


def set_keras_style() -> None:
    """`tf.layers.experimental.set_keras_style`: as `keras_style_scope`, from now on."""
    _keras_style[0] = True


class _Item(NamedTuple):
    """An update or loss, and whether it does without the layer's inputs."""

    value: Any
    unconditional: bool


class Layer(Connections):
    """A layer: variables that are made at the first call, and a function of the inputs.

    Subclasses make variables with `add_weight` in `build(input_shape)` and compute in `call(inputs)`.
    Variables lie in a variable scope of the layer's name, which is unique where none is given.

    Args:
        trainable: Whether optimizers train its variables.
        name: Its variable scope; by default the class name in snake case, made unique.
        dtype: The dtype of its variables; by default that of the first input.
        activity_regularizer: Function of the outputs; its result, divided by the batch size, is a loss.

    Attributes:
        built: Whether the variables are made.
        input_spec: An InputSpec that the inputs are checked against, or None.
    """

    stateful = False
    dynamic = False
    trainable: Any = True
    activity_regularizer: Any = None
    input_spec: Any = None

    def __init__(self, trainable: bool = True, name: Any = None, dtype: Any = None, **kwargs: Any) -> None:
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        self.activity_regularizer = kwargs.pop("activity_regularizer", None)
        if kwargs:
            raise InvalidTypeError(f"Keyword argument not understood: {', '.join(map(str, kwargs))}")
        self._keras_style = _keras_style[0]
        if self._keras_style and (scope is not None or self._reuse is not None):
            raise InvalidValueError(
                "_scope and _reuse arguments are not allowed when keras style layers are enabled"
            )
        self.trainable = trainable
        self.built = False
        self._dtype = None if dtype is None else as_dtype(dtype)
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        self._updates: list[_Item] = []
        self._losses: list[_Item] = []
        self._calls: list[tuple[Any, Any]] = []
        self._call_inputs: Any = None
        self._base_name = name.name if isinstance(name, VariableScope) else name
        self._name = name
        if not name or isinstance(name, VariableScope):
            snake = _snake_case(type(self).__name__)
            self._base_name = self._base_name or snake
            self._name = _unique_name(snake, zero_based=self._keras_style)
        self._scope: VariableScope | None = None
        self._current_scope: VariableScope | None = None
        self.input_spec = None
        if scope:
            with variable_scope(scope) as captured:
                self._scope = captured

    # Names

    @property
    def name(self) -> str:
        """The layer's name."""
        return str(self._name)

    @property
    def dtype(self) -> str | None:
        """The name of the variables' dtype, None before the first call where it was not given."""
        return None if self._dtype is None else str(self._dtype.name)

    @property
    def scope_name(self) -> str:
        """The name of the variable scope.

        Raises:
            ValueError: The layer has not been called.
        """
        if self._scope is None:
            raise InvalidValueError(
                f'No name available for layer scope because the layer "{self._name}" has not been used yet. '
                "The scope name is determined the first time the layer instance is called. You must "
                "therefore call the layer before querying `scope_name`."
            )
        return self._scope.name

    # Variables

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables that optimizers train."""
        return list(self._trainable_weights) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The other variables."""
        own = list(self._non_trainable_weights)
        return own if self.trainable else list(self._trainable_weights) + own

    @property
    def weights(self) -> list[Any]:
        """All variables."""
        return self.trainable_weights + self.non_trainable_weights

    variables = weights

    @property
    def trainable_variables(self) -> list[Any]:
        """The variables that optimizers train."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The other variables."""
        return self.non_trainable_weights

    def count_params(self) -> int:
        """The number of elements of all variables.

        Raises:
            ValueError: The layer is not built.
        """
        if not self.built:
            raise InvalidValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. You can build "
                f"it manually via: `{self.name}.build(batch_input_shape)`."
            )
        return sum(int(variable.shape.num_elements()) for variable in self.weights)

    def get_weights(self) -> list[Any]:
        """The values of all variables in the default session."""
        return list(_session().run(self.weights)) if self.weights else []

    def set_weights(self, weights: Any) -> None:
        """Sets all variables in the default session.

        Raises:
            ValueError: There are more or fewer values, or one has another shape.
        """
        if len(weights) != len(self.weights):
            raise InvalidValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of length '
                f"{len(weights)}, but the layer was expecting {len(self.weights)} weights. Provided weights: "
                f"{str(weights)[:50]}..."
            )
        pairs = list(zip(self.weights, weights))
        for variable, value in pairs:
            shape = getattr(value, "shape", TensorShape(None))
            if not TensorShape(shape).is_compatible_with(variable.shape):
                raise InvalidValueError(
                    f"Layer weight shape {variable.shape} not compatible with provided weight shape {shape}"
                )
        for variable, value in pairs:
            variable.load(value, _session())

    def add_weight(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        use_resource: bool | None = None,
        synchronization: int = VariableSynchronization.AUTO,
        aggregation: int = 0,
        partitioner: Any = None,
        **kwargs: Any,
    ) -> Any:
        """A variable of the layer; see `get_variable` for the arguments.

        Raises:
            ValueError: It is to be trained and synchronized on read.
        """
        for key in kwargs:
            if key != "experimental_autocast":
                raise InvalidTypeError(f"Unknown keyword argument: {key}")
        if synchronization == VariableSynchronization.ON_READ:
            if trainable:
                raise InvalidValueError(
                    "Synchronization value can be set to VariableSynchronization.ON_READ only for "
                    "non-trainable variables. You have specified trainable=True and "
                    "synchronization=VariableSynchronization.ON_READ."
                )
            trainable = False
        wanted = (trainable is None or trainable) and self.trainable
        options = {
            "dtype": as_dtype(dtype or self._dtype or float32), "trainable": wanted,
            "constraint": constraint, "synchronization": synchronization, "aggregation": aggregation,
        }  # fmt: skip
        shape = () if shape is None else shape
        if self._keras_style:
            variable = _keras_variable(name, shape, initializer, **options)
            self._add_regularization(name, [variable], regularizer)
            self._note_weight(variable, wanted)
            return variable
        self._set_scope(None)
        before = set(get_collection(GraphKeys.GLOBAL_VARIABLES))
        reuse = self.built or self._reuse
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with name_scope(scope.original_name_scope):
                variable = get_variable(
                    name,
                    shape,
                    initializer=initializer if initializer is not None else scope.initializer,
                    use_resource=use_resource or scope.use_resource,
                    partitioner=partitioner,
                    **options,
                )
                parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
                if not any(part in before for part in parts):
                    self._add_regularization(name, parts, regularizer)
        # A custom getter may have made it one that is not trained.
        trained = wanted and all(part in get_collection(GraphKeys.TRAINABLE_VARIABLES) for part in parts)
        self._note_weight(variable, trained)
        return variable

    def _note_weight(self, variable: Any, trained: bool) -> None:
        known = self._trainable_weights if trained else self._non_trainable_weights
        if all(variable is not other for other in known):
            known.append(variable)

    def _add_regularization(self, name: str, parts: list[Any], regularizer: Any) -> None:
        for part in parts if regularizer is not None else ():
            with name_scope(f"{name}/Regularizer"):
                self.add_loss(regularizer(part))

    add_variable = add_weight

    # Updates and losses

    @property
    def updates(self) -> list[Operation]:
        """Operations that belong to each training step."""
        if not self.trainable and not self.stateful:
            return []
        return [item.value for item in self._updates]

    @property
    def losses(self) -> list[Any]:
        """Losses by regularizers, and those of `add_loss`."""
        return [item.value for item in self._losses]

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds operations that belong to each training step (collection UPDATE_OPS, after the call).

        Args:
            updates: An operation, a tensor, a function that gives one, or a list of such.
            inputs: Not used: whether one depends on the layer's inputs is seen from the graph.
        """
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            while callable(update):
                update = update()
            operation = update if isinstance(update, Operation) else _operation(update)
            given = (
                [self._call_inputs] if self._call_inputs is not None else [call[0] for call in self._calls]
            )
            reachable = _reachable(nest.flatten(given))
            self._updates.append(_Item(operation, operation not in reachable))

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses (collection REGULARIZATION_LOSSES).

        Args:
            losses: A tensor, a function that gives one, or a list of such; None is left out.
            inputs: Anything but None says that they depend on the layer's inputs.
        """
        for loss in nest.flatten(losses):
            loss = loss() if callable(loss) else loss
            if loss is None:
                continue
            if not isinstance(loss, (Tensor, Variable)):
                loss = convert_to_tensor(loss, float32)
            self._losses.append(_Item(loss, inputs is None))
            _add_missing(GraphKeys.REGULARIZATION_LOSSES, [loss])

    def get_updates_for(self, inputs: Any) -> list[Operation]:
        """The updates that depend on `inputs`; where that is None, those that depend on no inputs."""
        return _items_for(self._updates if self.updates else [], inputs)

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """The losses that depend on `inputs`; where that is None, those that depend on no inputs."""
        return _items_for(self._losses, inputs)

    # Calls

    def _set_scope(self, scope: Any) -> None:
        if self._scope is not None:
            return
        if self._reuse:
            name = scope if scope is not None else self._base_name
            with variable_scope(name) as captured:
                self._scope = captured
        else:
            with variable_scope(scope, default_name=self._base_name) as captured:
                self._scope = captured

    def build(self, input_shape: Any) -> None:
        """Makes the variables; `input_shape` is the inputs' TensorShape, or a list of them."""
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """What the layer computes."""
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the result for inputs of `input_shape`.

        Raises:
            NotImplementedError: The layer does not say.
        """
        raise NotImplementedError

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Applies the layer; makes its variables at the first call.

        Args:
            inputs: A tensor, or nested lists and tuples of tensors.
            args: Further arguments of `call`.
            kwargs: The same; `scope` is the variable scope for the first call.

        Raises:
            ValueError: The inputs are not as `input_spec` says, or `call` gives None.
        """
        scope = kwargs.pop("scope", None)
        if self._keras_style:
            if scope is not None:
                raise InvalidValueError(
                    f"scope argument not allowed when keras style layers are enabled, but saw: {scope}"
                )
            with name_scope(self.name):
                return self._outputs(inputs, args, kwargs)
        self._set_scope(scope)
        reuse = True if self.built else self._reuse
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as entered:
            self._current_scope = entered
            if "scope" in inspect.signature(self.call).parameters:
                kwargs["scope"] = entered
            with name_scope(entered.original_name_scope):
                outputs = self._outputs(inputs, args, kwargs)
        _add_missing(GraphKeys.UPDATE_OPS, self.updates)
        return outputs

    def _outputs(self, inputs: Any, args: Any, kwargs: Any) -> Any:
        inputs = nest.map_structure(
            lambda leaf: leaf if hasattr(leaf, "_components") else convert_to_tensor(leaf), inputs
        )
        assert_compatible(self.input_spec, inputs, self.name)
        first = nest.flatten(inputs)
        if not self.built:
            if self._dtype is None and first and hasattr(first[0], "dtype"):
                self._dtype = first[0].dtype.base_dtype
            self.build(nest.map_structure(lambda leaf: leaf.get_shape(), inputs))
            self.built = True
        outer, self._call_inputs = self._call_inputs, inputs
        try:
            outputs = self.call(inputs, *args, **kwargs)
            if outputs is None:
                raise InvalidValueError(
                    "A layer's `call` method should return a Tensor or a list of Tensors, not None (layer: "
                    f"{self.name})."
                )
            if self.activity_regularizer is not None:
                with name_scope("ActivityRegularizer"):
                    for output in nest.flatten(outputs):
                        loss = self.activity_regularizer(output)
                        size = tf_cast(raw_ops.Shape(output)[0], loss.dtype)
                        self.add_loss(loss / size, inputs=inputs)
        finally:
            self._call_inputs = outer
        self._calls.append((inputs, outputs))
        return outputs

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Applies the layer."""
        return self(inputs, *args, **kwargs)

    @property
    def graph(self) -> None:
        """None: layers belong to no graph any more."""
        return None

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer: name, trainable and dtype; subclasses add theirs."""
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Layer:
        """A layer made with `config`."""
        return cls(**config)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A layer of the same settings; what is built is shared, as in TensorFlow."""
        import copy

        made = type(self).__new__(type(self))
        memo[id(self)] = made
        shared = (Tensor, Variable, VariableScope)
        for key, value in self.__dict__.items():
            keep = isinstance(value, shared) or (
                isinstance(value, list) and value and isinstance(value[0], (*shared, tuple))
            )
            made.__dict__[key] = value if keep else copy.deepcopy(value, memo)
        return made


def _keras_variable(name: str, shape: Any, initializer: Any, dtype: Any, **options: Any) -> Any:
    """A resource variable in the current name scope."""
    if initializer is None:
        initializer = GlorotUniform() if dtype.is_floating else Zeros()
    if isinstance(initializer, type):
        initializer = initializer()
    first: Callable[[], Any] | Any = initializer
    if callable(initializer):
        first = lambda: initializer(TensorShape(shape).as_list(), dtype=dtype)  # noqa: E731
    return Variable(first, name=name, dtype=dtype, use_resource=True, **options)


def _session() -> Any:
    session = get_default_session()
    if session is None:
        raise InvalidStateError("The values of a layer's variables need a default session: `with session:`")
    return session


def _operation(value: Any) -> Operation:
    found: Operation = value.op if hasattr(value, "op") else convert_to_tensor(value).op
    return found


def _reachable(tensors: list[Any]) -> set[Any]:
    """All tensors and operations that depend on `tensors`, these too."""
    seen: set[Any] = set(tensors)
    stack = [tensor for tensor in tensors if isinstance(tensor, Tensor)]
    while stack:
        for operation in stack.pop().consumers():
            if operation not in seen:
                seen.add(operation)
                seen.update(operation.outputs)
                stack.extend(operation.outputs)
    return seen


def _items_for(items: list[_Item], inputs: Any) -> list[Any]:
    if inputs is None:
        return [item.value for item in items if item.unconditional]
    reachable = _reachable(nest.flatten(inputs))
    return [item.value for item in items if not item.unconditional and item.value in reachable]


def _add_missing(key: str, values: list[Any]) -> None:
    found = get_collection_ref(key)
    for value in values:
        if all(value is not other for other in found):
            found.append(value)


def _unique_name(name: str, zero_based: bool) -> str:
    """A name that no layer of the graph has had: `dense_1`, or first `dense` where `zero_based`."""
    counts = get_default_graph().get_collection_ref(("__layer_name_counts",))
    if not counts:
        counts.append({})
    number = counts[0].get(name, 0) + 1
    counts[0][name] = number
    if zero_based:
        return name if number == 1 else f"{name}_{number - 1}"
    return f"{name}_{number}"


def _snake_case(name: str) -> str:
    """`BasicLSTMCell` as `basic_lstm_cell`, the way TensorFlow names layers."""
    middle = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    result = re.sub(r"([a-z])([A-Z])", r"\1_\2", middle).lower()
    return f"private{result}" if result[0] == "_" else result


__all__ = ["InputSpec", "Layer", "keras_style_scope", "set_keras_style"]
