"""`tf.layers.Layer`: what keeps the variables of a layer and the scope that they are in.

Source: tensorflow/python/layers/base.py (r1.15), behaviour only.
"""

from __future__ import annotations

import re
from typing import Any

from . import nest
from .convert import convert_to_tensor
from .default import GraphKeys, add_to_collection, get_collection, get_default_graph, name_scope
from .dtypes import as_dtype, float32
from .errors import InvalidTypeError, InvalidValueError
from .operation import Tensor
from .variable_scope import VariableScope, get_variable, variable_scope


class Layer:
    """A layer: variables that are made at the first call, and a function of the inputs.

    Subclasses make variables with `add_weight` in `build(input_shape)` and compute in `call(inputs)`.
    Variables lie in a variable scope of the layer's name, which is unique where none is given.

    Args:
        trainable: Whether optimizers train its variables.
        name: Its variable scope; by default the class name in snake case, made unique.
        dtype: The dtype of its variables; by default that of the first input.

    Attributes:
        built: Whether the variables are made.
    """

    def __init__(self, trainable: bool = True, name: Any = None, dtype: Any = None, **kwargs: Any) -> None:
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        self.activity_regularizer = kwargs.pop("activity_regularizer", None)
        if kwargs:
            raise InvalidTypeError(f"Keyword argument not understood: {', '.join(map(str, kwargs))}")
        self.trainable = trainable
        self.built = False
        self._dtype = None if dtype is None else as_dtype(dtype)
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        self._updates: list[Any] = []
        self._losses: list[Any] = []
        self._base_name = name.name if isinstance(name, VariableScope) else name
        if not self._base_name:
            self._base_name = _snake_case(type(self).__name__)
        self._name = self._base_name
        self._scope: VariableScope | None = None
        self._current_scope: VariableScope | None = None
        self.input_spec: Any = None
        if scope:
            with variable_scope(scope) as captured:
                self._scope = captured

    # Names

    @property
    def name(self) -> str:
        """The layer's name."""
        return str(self._name)

    @property
    def dtype(self) -> Any:
        """The dtype of the variables, None before the first call where it was not given."""
        return self._dtype

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

    @property
    def updates(self) -> list[Any]:
        """Operations that belong to each training step."""
        return self._updates

    @property
    def losses(self) -> list[Any]:
        """Regularization losses."""
        return self._losses

    def count_params(self) -> int:
        """The number of elements of all variables.

        Raises:
            ValueError: The layer is not built.
        """
        if not self.built:
            raise InvalidValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built."
            )
        return sum(int(variable.shape.num_elements()) for variable in self.weights)

    def add_weight(
        self,
        name: str,
        shape: Any,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        use_resource: bool | None = None,
        partitioner: Any = None,
        **_: Any,
    ) -> Any:
        """A variable of the layer; see `get_variable`."""
        self._set_scope(None)
        wanted = (trainable is None or trainable) and self.trainable
        before = set(get_collection(GraphKeys.GLOBAL_VARIABLES))
        reuse = self.built or self._reuse
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with name_scope(scope.original_name_scope):
                variable = get_variable(
                    name,
                    shape,
                    as_dtype(dtype or self._dtype or float32),
                    initializer if initializer is not None else scope.initializer,
                    trainable=wanted,
                    constraint=constraint,
                    use_resource=use_resource,
                    partitioner=partitioner,
                )
                if regularizer is not None and variable not in before:
                    with name_scope(f"{name}/Regularizer"):
                        self.add_loss(regularizer(variable))
        known = self._trainable_weights if wanted else self._non_trainable_weights
        if wanted and variable not in get_collection(GraphKeys.TRAINABLE_VARIABLES):
            known = self._non_trainable_weights
        if all(variable is not other for other in known):
            known.append(variable)
        return variable

    add_variable = add_weight

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds operations that belong to each training step (collection UPDATE_OPS)."""
        for update in nest.flatten(updates):
            self._updates.append(update)
            if update not in get_collection(GraphKeys.UPDATE_OPS):
                add_to_collection(GraphKeys.UPDATE_OPS, update)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses (collection REGULARIZATION_LOSSES)."""
        for loss in nest.flatten(losses):
            if loss is not None:
                self._losses.append(loss)
                add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """The updates."""
        return list(self._updates)

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """The losses."""
        return list(self._losses)

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

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Applies the layer; makes its variables at the first call.

        Args:
            inputs: A tensor, or nested lists and tuples of tensors.
            args: Further arguments of `call`.
            kwargs: The same; `scope` is the variable scope for the first call.
        """
        self._set_scope(kwargs.pop("scope", None))
        reuse = True if self.built else self._reuse
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with name_scope(scope.original_name_scope):
                inputs = nest.map_structure(
                    lambda leaf: convert_to_tensor(leaf) if not hasattr(leaf, "_components") else leaf, inputs
                )
                first = nest.flatten(inputs)
                if self._dtype is None and first and isinstance(first[0], Tensor):
                    self._dtype = first[0].dtype.base_dtype
                if not self.built:
                    self.build(nest.map_structure(lambda leaf: leaf.get_shape(), inputs))
                    self.built = True
                outputs = self.call(inputs, *args, **kwargs)
                if self.activity_regularizer is not None:
                    with name_scope("ActivityRegularizer"):
                        for output in nest.flatten(outputs):
                            self.add_loss(self.activity_regularizer(output))
        return outputs

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Applies the layer."""
        return self(inputs, *args, **kwargs)

    @property
    def graph(self) -> Any:
        """The graph that the layer would be built in."""
        return get_default_graph()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A layer of the same settings; what is built is shared, as in TensorFlow."""
        import copy

        made = type(self).__new__(type(self))
        memo[id(self)] = made
        shared = (Tensor, VariableScope)
        for key, value in self.__dict__.items():
            keep = isinstance(value, shared) or (
                isinstance(value, list) and value and isinstance(value[0], Tensor)
            )
            made.__dict__[key] = value if keep else copy.deepcopy(value, memo)
        return made


def _snake_case(name: str) -> str:
    """`BasicLSTMCell` as `basic_lstm_cell`, the way TensorFlow names layers."""
    middle = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    result = re.sub(r"([a-z])([A-Z])", r"\1_\2", middle).lower()
    return f"private{result}" if result[0] == "_" else result
