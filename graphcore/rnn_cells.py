"""`tf.nn.rnn_cell`: the cells of recurrent networks.

Variables have TensorFlow's names (`basic_lstm_cell/kernel`, `gru_cell/gates/bias`, ...) and layouts, so
that checkpoints of one system are the other's.

Source: tensorflow/python/ops/rnn_cell_impl.py and rnn_cell_wrapper_impl.py (r1.15), behaviour only; LSTM
with peepholes and projection: Sak, Senior, Beaufays, "Long Short-Term Memory Recurrent Neural Network
Architectures for Large Scale Acoustic Modeling" (2014); GRU: Cho et al., arXiv:1406.1078.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from . import clip, nest
from .activations import activation_of
from .base_layer import Layer
from .convert import constant, convert_to_tensor
from .default import GraphKeys, get_collection, get_default_graph, name_scope
from .dtypes import as_dtype, int32
from .errors import InvalidTypeError, InvalidValueError, UnimplementedError
from .initializers import Constant, Zeros
from .op import raw_ops
from .operation import Tensor
from .ops import math_unary
from .ops.array_create import zeros
from .tensor_shape import TensorShape, as_shape
from .variable_scope import get_variable_scope, variable_scope

Activation = Callable[[Any], Any]


def concat_shape(prefix: Any, suffix: Any, static: bool = False) -> Any:
    """A batch size (or shape) and a state size as one shape: a tensor, or a list where `static`.

    Raises:
        ValueError: A part is a tensor of rank 2 or more, or is not known.
    """
    parts = []
    for part in (prefix, suffix):
        if isinstance(part, Tensor):
            known = get_default_graph().constant_value(part)
            rank = part.get_shape().ndims
            if rank == 0:
                part = raw_ops.ExpandDims(part, 0)
            elif rank != 1:
                raise InvalidValueError(f"tensor must be either a scalar or vector, but saw tensor: {part}")
            found = None if known is None else TensorShape(known.reshape(-1).tolist())
            parts.append((part, found if found is not None else TensorShape([None] if rank == 0 else None)))
        else:
            shape = as_shape(part if isinstance(part, (list, tuple, TensorShape)) else [part])
            if not static and not shape.is_fully_defined():
                raise InvalidValueError(f"Provided a prefix or suffix of None: {prefix} and {suffix}")
            value = None if static else constant(shape.as_list(), dtype=int32)
            parts.append((value, shape))
    if static:
        whole = parts[0][1].concatenate(parts[1][1])
        return whole.as_list() if whole.ndims is not None else None
    return raw_ops.ConcatV2([part for part, _ in parts], 0, name="concat")


class RNNCell(Layer):
    """One step of a recurrent network: (inputs, state) -> (output, next state).

    Inputs are (batch, depth), states nested tuples of (batch, size) tensors as `state_size` says.
    """

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """One step.

        Args:
            inputs: A tensor of shape (batch, depth).
            state: The state, in the structure of `state_size`.
            scope: A variable scope, or its name.

        Returns:
            The output, of shape (batch, output_size), and the next state.
        """
        if scope is not None:
            with variable_scope(scope, custom_getter=self._noted) as entered:
                return super().__call__(inputs, state, scope=entered)
        if getattr(self, "_rnn_scope", None) is None:
            self._rnn_scope = variable_scope(get_variable_scope(), custom_getter=self._noted)
        with self._rnn_scope:
            return super().__call__(inputs, state)

    def _noted(self, getter: Any, *args: Any, **kwargs: Any) -> Any:
        """Notes the variables that a cell makes with `get_variable`."""
        variable = getter(*args, **kwargs)
        trained = variable in get_collection(GraphKeys.TRAINABLE_VARIABLES)
        known = self._trainable_weights if trained else self._non_trainable_weights
        if all(variable is not other for other in known):
            known.append(variable)
        return variable

    @property
    def state_size(self) -> Any:
        """The sizes of the state's parts: an int or TensorShape, or nested tuples of them."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The size of the output: an int or TensorShape."""
        raise NotImplementedError("Abstract method")

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """The state to begin with: zeros.

        Args:
            inputs: Inputs, which tell batch size and dtype.
            batch_size: The batch size, an int or scalar tensor.
            dtype: The dtype.

        Raises:
            ValueError: Batch size or dtype are not known, or contradict the inputs.
        """
        if inputs is not None:
            inputs = convert_to_tensor(inputs, name="inputs")
            static = inputs.static_shape[0] if inputs.static_shape else None
            given = batch_size
            if isinstance(given, Tensor):
                value = get_default_graph().constant_value(given)
                given = None if value is None else int(value)
            if given is not None and static != given:
                raise InvalidValueError(
                    "batch size from input tensor is different from the input param. Input tensor batch: "
                    f"{static}, batch_size: {given}"
                )
            if dtype is not None and inputs.dtype != as_dtype(dtype):
                raise InvalidValueError(
                    "dtype from input tensor is different from the input param. Input tensor dtype: "
                    f"{inputs.dtype}, dtype: {dtype}"
                )
            batch_size = static or raw_ops.Shape(inputs)[0]
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise InvalidValueError(
                "batch_size and dtype cannot be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Zeros in the structure of `state_size`, each part of shape (batch_size, size)."""

        def part(size: Any) -> Any:
            tensor = zeros(concat_shape(batch_size, size), dtype)
            tensor.set_shape(concat_shape(batch_size, size, static=True))
            return tensor

        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return nest.map_structure(part, self.state_size)


class LayerRNNCell(RNNCell):
    """A cell whose variables are those of a layer: in a scope of its own name."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None, **kwargs: Any) -> Any:
        """One step; see `RNNCell`."""
        return Layer.__call__(self, inputs, state, scope=scope, **kwargs)

    def _depth(self, inputs_shape: TensorShape) -> int:
        depth = inputs_shape.as_list()[-1] if inputs_shape.ndims else None
        if depth is None:
            raise InvalidValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
        _check_dtype(self.dtype)
        return int(depth)


def _check_dtype(dtype: Any) -> None:
    if dtype is not None and not (as_dtype(dtype).is_floating or as_dtype(dtype).is_complex):
        raise InvalidValueError(f"RNN cell only supports floating point inputs, but saw dtype: {dtype}")


def _gates(inputs: Any, state: Any, kernel: Any, bias: Any) -> Any:
    """[inputs, state] @ kernel + bias."""
    for tensor in (inputs, state):
        _check_dtype(tensor.dtype)
    product = raw_ops.MatMul(raw_ops.ConcatV2([inputs, state], 1, name="concat"), kernel.value())
    return raw_ops.BiasAdd(product, bias.value())


class _SimpleCell(LayerRNNCell):
    """A cell whose state and output are of `num_units`."""

    _num_units: int

    @property
    def state_size(self) -> Any:
        """The number of units."""
        return self._num_units

    @property
    def output_size(self) -> Any:
        """The number of units."""
        return self._num_units


class BasicRNNCell(_SimpleCell):
    """output = next state = activation([inputs, state] @ kernel + bias).

    Args:
        num_units: The number of units.
        activation: A function, or its name; tanh by default.
        reuse: Share the variables of an earlier cell in the scope.
        name: The layer's name.
        dtype: The dtype of the variables.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        _check_dtype(dtype)
        self._num_units = num_units
        self._activation = activation_of(activation)

    def build(self, inputs_shape: Any) -> None:
        """Makes kernel (depth + units, units) and bias (units,)."""
        depth = self._depth(inputs_shape)
        self._kernel = self.add_weight("kernel", [depth + self._num_units, self._num_units])
        self._bias = self.add_weight("bias", [self._num_units], initializer=Zeros(dtype=self.dtype))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        output = self._activation(_gates(inputs, state, self._kernel, self._bias))
        return output, output


class GRUCell(_SimpleCell):
    """A gated recurrent unit: next = u * state + (1 - u) * activation(candidate of [inputs, r * state]).

    Args:
        num_units: The number of units.
        activation: A function, or its name; tanh by default.
        reuse: Share the variables of an earlier cell in the scope.
        kernel_initializer: Initializer of both kernels.
        bias_initializer: Initializer of both biases; by default ones for the gates, zeros for the rest.
        name: The layer's name.
        dtype: The dtype of the variables.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        _check_dtype(dtype)
        self._num_units = num_units
        self._activation = activation_of(activation)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    def build(self, inputs_shape: Any) -> None:
        """Makes the kernels and biases of the gates (2 * units columns) and of the candidate."""
        rows = self._depth(inputs_shape) + self._num_units
        for part, columns, first in (("gates", 2, Constant(1.0, dtype=self.dtype)), ("candidate", 1, None)):
            size = columns * self._num_units
            bias_initializer = self._bias_initializer or first or Zeros(dtype=self.dtype)
            kernel = self.add_weight(f"{part}/kernel", [rows, size], initializer=self._kernel_initializer)
            bias = self.add_weight(f"{part}/bias", [size], initializer=bias_initializer)
            setattr(self, f"_{part}", (kernel, bias))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        self._gates: tuple[Any, Any]
        self._candidate: tuple[Any, Any]
        value = math_unary.sigmoid(_gates(inputs, state, *self._gates))
        r, u = raw_ops.Split(1, value, num_split=2, name="split")
        candidate = _gates(inputs, r * state, *self._candidate)
        new = u * state + (1 - u) * self._activation(candidate)
        return new, new


class LSTMStateTuple(namedtuple("LSTMStateTuple", ("c", "h"))):
    """The state of an LSTM cell: `c`, the cell, and `h`, the output, or their sizes."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """The dtype of both."""
        c, h = self
        if c.dtype != h.dtype:
            raise InvalidTypeError(f"Inconsistent internal state: {c.dtype} vs {h.dtype}")
        return c.dtype


class BasicLSTMCell(LayerRNNCell):
    """An LSTM without peepholes, projection and clipping.

    Args:
        num_units: The number of units.
        forget_bias: Added to the forget gate, so that nothing is forgotten in the beginning.
        state_is_tuple: The state is an `LSTMStateTuple`; else c and h side by side in one tensor.
        activation: A function, or its name; tanh by default.
        reuse: Share the variables of an earlier cell in the scope.
        name: The layer's name.
        dtype: The dtype of the variables.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        _check_dtype(dtype)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation_of(activation)

    @property
    def state_size(self) -> Any:
        """The sizes of c and h."""
        if self._state_is_tuple:
            return LSTMStateTuple(self._num_units, self._num_units)
        return 2 * self._num_units

    @property
    def output_size(self) -> Any:
        """The number of units."""
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        """Makes kernel (depth + units, 4 * units), columns i, j, f, o, and bias."""
        depth, size = self._depth(inputs_shape), 4 * self._num_units
        self._kernel = self.add_weight("kernel", [depth + self._num_units, size])
        self._bias = self.add_weight("bias", [size], initializer=Zeros(dtype=self.dtype))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        sigmoid = math_unary.sigmoid
        one = constant(1, dtype=int32)
        c, h = state if self._state_is_tuple else raw_ops.Split(one, state, num_split=2, name="split")
        gates = _gates(inputs, h, self._kernel, self._bias)
        i, j, f, o = raw_ops.Split(one, gates, num_split=4, name="split")
        bias = constant(self._forget_bias, dtype=f.dtype)
        kept = raw_ops.Mul(c, sigmoid(raw_ops.Add(f, bias)))
        new_c = raw_ops.Add(kept, raw_ops.Mul(sigmoid(i), self._activation(j)))
        new_h = raw_ops.Mul(self._activation(new_c), sigmoid(o))
        if self._state_is_tuple:
            return new_h, LSTMStateTuple(new_c, new_h)
        return new_h, raw_ops.ConcatV2([new_c, new_h], 1, name="concat")


class LSTMCell(LayerRNNCell):
    """An LSTM with peepholes, projection and clipping as wanted.

    Args:
        num_units: The number of units.
        use_peepholes: Let the gates see the cell through diagonal weights.
        cell_clip: Clip the cell to [-cell_clip, cell_clip].
        initializer: Initializer of the weights.
        num_proj: Project the output to so many dimensions.
        proj_clip: Clip the projection.
        num_unit_shards: Old argument; not supported (use a partitioner).
        num_proj_shards: Old argument; not supported.
        forget_bias: Added to the forget gate.
        state_is_tuple: The state is an `LSTMStateTuple`; else c and h side by side in one tensor.
        activation: A function, or its name; tanh by default.
        reuse: Share the variables of an earlier cell in the scope.
        name: The layer's name.
        dtype: The dtype of the variables.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        _check_dtype(dtype)
        if num_unit_shards or num_proj_shards:
            raise UnimplementedError("num_unit_shards and num_proj_shards are not supported by LSTMCell yet.")
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation_of(activation)

    @property
    def state_size(self) -> Any:
        """The sizes of c and h."""
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        """The number of units, or of projected dimensions."""
        return self._num_proj or self._num_units

    def build(self, inputs_shape: Any) -> None:
        """Makes kernel, bias, the peepholes' diagonals and the projection's kernel."""
        units = self._num_units
        rows = self._depth(inputs_shape) + (units if self._num_proj is None else self._num_proj)
        self._kernel = self.add_weight("kernel", [rows, 4 * units], initializer=self._initializer)
        self._bias = self.add_weight("bias", [4 * units], initializer=Zeros(dtype=self.dtype))
        if self._use_peepholes:
            self._diagonals = [
                self.add_weight(f"w_{gate}_diag", [units], initializer=self._initializer) for gate in "fio"
            ]
        if self._num_proj is not None:
            self._projection = self.add_weight(
                "projection/kernel", [units, self._num_proj], initializer=self._initializer
            )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        sigmoid, act = math_unary.sigmoid, self._activation
        units = self._num_units
        if self._state_is_tuple:
            c, h = state
        else:
            c = raw_ops.Slice(state, [0, 0], [-1, units])
            h = raw_ops.Slice(state, [0, units], [-1, self.output_size])
        gates = _gates(inputs, h, self._kernel, self._bias)
        i, j, f, o = raw_ops.Split(1, gates, num_split=4, name="split")
        if self._use_peepholes:
            to_f, to_i, to_o = self._diagonals
            c = sigmoid(f + self._forget_bias + to_f * c) * c + sigmoid(i + to_i * c) * act(j)
        else:
            c = sigmoid(f + self._forget_bias) * c + sigmoid(i) * act(j)
        if self._cell_clip is not None:
            c = clip.clip_by_value(c, -self._cell_clip, self._cell_clip)
        m = sigmoid(o + to_o * c) * act(c) if self._use_peepholes else sigmoid(o) * act(c)
        if self._num_proj is not None:
            m = raw_ops.MatMul(m, self._projection.value())
            if self._proj_clip is not None:
                m = clip.clip_by_value(m, -self._proj_clip, self._proj_clip)
        if self._state_is_tuple:
            return m, LSTMStateTuple(c, m)
        return m, raw_ops.ConcatV2([c, m], 1, name="concat")


def assert_like_rnncell(cell_name: str, cell: Any) -> None:
    """Raises TypeError unless `cell` can be used as a cell."""
    missing = [name for name in ("output_size", "state_size") if not _has(cell, name)]
    if not (_has(cell, "zero_state") or _has(cell, "get_initial_state")):
        missing.append("zero_state or get_initial_state")
    if not callable(cell):
        missing.append("__call__")
    if missing:
        raise InvalidTypeError(
            f"The argument {cell_name!r} ({cell}) is not an RNNCell: it lacks {', '.join(missing)}."
        )


def _has(cell: Any, name: str) -> bool:
    try:
        return hasattr(cell, name)
    except NotImplementedError:
        return True
