"""Cells made of cells: `tf.nn.rnn_cell.MultiRNNCell`, `DropoutWrapper`, `ResidualWrapper`, `DeviceWrapper`.

Source: tensorflow/python/ops/rnn_cell_impl.py and rnn_cell_wrapper_impl.py (r1.15), behaviour only; dropout
that is the same in all steps: Gal, Ghahramani, arXiv:1512.05287.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from typing import Any

from . import nest
from .convert import convert_to_tensor
from .default import get_default_graph, name_scope
from .errors import InvalidTypeError, InvalidValueError
from .op import raw_ops
from .ops import nn
from .ops.random import random_uniform
from .ops.tensor_array import TensorArray
from .rnn_cells import LSTMStateTuple, RNNCell, assert_like_rnncell
from .tensor_shape import TensorShape, as_shape
from .variable_scope import variable_scope


class _CellWrapper(RNNCell):
    """A cell around another one, of the same sizes."""

    def __init__(self, cell: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        assert_like_rnncell("cell", cell)
        self.cell = cell

    @property
    def wrapped_cell(self) -> Any:
        """The cell inside."""
        return self.cell

    @property
    def state_size(self) -> Any:
        """That of the cell inside."""
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        """That of the cell inside."""
        return self.cell.output_size

    @property
    def trainable_weights(self) -> list[Any]:
        """Those of the cell inside."""
        return list(getattr(self.cell, "trainable_weights", ()))

    @property
    def non_trainable_weights(self) -> list[Any]:
        """Those of the cell inside."""
        return list(getattr(self.cell, "non_trainable_weights", ()))

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """That of the cell inside."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self.cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """One step."""
        return self._step(inputs, state, scope)

    def _step(self, inputs: Any, state: Any, scope: Any) -> Any:
        raise NotImplementedError


def _default_filter(substate: Any) -> Any:
    """Which parts of a state may be dropped: an LSTM's cell may not, nor may arrays."""
    if isinstance(substate, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(substate, TensorArray)


class DropoutWrapper(_CellWrapper):
    """A cell with dropout of its inputs, states and outputs.

    Args:
        cell: The cell.
        input_keep_prob: The share of inputs that is kept; a float or a scalar tensor.
        output_keep_prob: The same for the outputs.
        state_keep_prob: The same for the states.
        variational_recurrent: Drop the same elements in all steps of a run; needs `dtype`.
        input_size: The inputs' shape without the batch, where inputs are dropped variationally.
        dtype: The dtype of inputs, states and outputs, where dropped variationally.
        seed: The random seed.
        dropout_state_filter_visitor: From a part of the state to a structure of booleans: whether it may
            be dropped; by default all but an LSTM's `c`.
    """

    def __init__(
        self,
        cell: Any,
        input_keep_prob: Any = 1.0,
        output_keep_prob: Any = 1.0,
        state_keep_prob: Any = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: Any = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Callable[[Any], Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise InvalidTypeError("dropout_state_filter_visitor must be callable")
        self._filter = dropout_state_filter_visitor or _default_filter
        self._seed = seed
        self._keep: dict[str, Any] = {}
        with name_scope("DropoutWrapperInit"):
            for what, value in (
                ("input", input_keep_prob),
                ("state", state_keep_prob),
                ("output", output_keep_prob),
            ):
                self._keep[what] = _probability(value, f"{what}_keep_prob")
        self._noise: dict[str, Any] = {}
        if variational_recurrent:
            if dtype is None:
                raise InvalidValueError("When variational_recurrent=True, dtype must be provided")
            sizes = {"state": cell.state_size, "output": cell.output_size}
            if _drops(self._keep["input"]):
                if input_size is None:
                    raise InvalidValueError(
                        "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, "
                        "input_size must be provided"
                    )
                sizes["input"] = input_size
            for what in ("input", "state", "output"):
                if what in sizes:
                    self._noise[what] = self._noise_like(what, sizes[what])

    def _noise_like(self, what: str, sizes: Any) -> Any:
        leaves = nest.flatten(sizes)
        noise = []
        for index, size in enumerate(leaves):
            shape = [1, *as_shape(size if isinstance(size, (list, tuple, TensorShape)) else [size]).as_list()]
            noise.append(random_uniform(shape, dtype=self._dtype, seed=self._part_seed(what, index)))
        return nest.pack_sequence_as(sizes, noise)

    def _part_seed(self, what: str, index: int) -> int | None:
        """A seed for each part, so that equal seeds drop different elements of different parts."""
        if self._seed is None:
            return None
        text = f"{self._seed}{what}_{index}".encode()
        return int(hashlib.md5(text, usedforsecurity=False).hexdigest()[:8], 16) & 0x7FFFFFFF

    def _dropped(self, what: str, values: Any, mask: Any = None) -> Any:
        keep = self._keep[what]
        leaves = nest.flatten(values)
        wanted = [True] * len(leaves) if mask is None else nest.flatten(mask)
        noise = nest.flatten(self._noise[what]) if what in self._noise else [None] * len(leaves)
        result = []
        for index, (value, wants, one) in enumerate(zip(leaves, wanted, noise)):
            if not wants:
                result.append(value)
            elif one is None:
                seed = self._part_seed(what, index)
                result.append(nn.dropout(value, rate=1.0 - keep, seed=seed))
            else:
                kept = raw_ops.Floor(keep + one)
                dropped = value / keep * kept
                dropped.set_shape(value.get_shape())
                result.append(dropped)
        return nest.pack_sequence_as(values, result)

    def _step(self, inputs: Any, state: Any, scope: Any) -> Any:
        if _drops(self._keep["input"]):
            inputs = self._dropped("input", inputs)
        output, new_state = self.cell(inputs, state, scope=scope)
        if _drops(self._keep["state"]):
            new_state = self._dropped("state", new_state, _mask(self._filter, new_state))
        if _drops(self._keep["output"]):
            output = self._dropped("output", output)
        return output, new_state


def _mask(visitor: Callable[[Any], Any], state: Any) -> Any:
    """A structure like `state` of booleans; the visitor's boolean for a sequence holds for all of it."""
    answer = visitor(state)
    if nest.is_nested(answer):
        return answer
    if not nest.is_nested(state):
        return answer
    if not answer:
        return nest.map_structure(lambda _: False, state)
    return nest.pack_sequence_as(state, nest.flatten([_mask(visitor, part) for part in _parts(state)]))


def _parts(state: Any) -> list[Any]:
    return [state[key] for key in sorted(state)] if isinstance(state, dict) else list(state)


def _probability(value: Any, name: str) -> Any:
    """A share as a float where it is known, else as a tensor."""
    tensor = convert_to_tensor(value)
    known = get_default_graph().constant_value(tensor)
    if known is None:
        return tensor
    if not 0 <= known <= 1:
        raise InvalidValueError(f"Parameter {name} must be between 0 and 1: {known}")
    return float(known)


def _drops(keep: Any) -> bool:
    return not isinstance(keep, float) or keep < 1


class ResidualWrapper(_CellWrapper):
    """A cell whose inputs are added to its outputs.

    Args:
        cell: The cell.
        residual_fn: From (inputs, outputs) to the outputs; by default their sum.
    """

    def __init__(
        self, cell: Any, residual_fn: Callable[[Any, Any], Any] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def _step(self, inputs: Any, state: Any, scope: Any) -> Any:
        outputs, new_state = self.cell(inputs, state, scope=scope)
        return (self._residual_fn or _sum)(inputs, outputs), new_state


def _sum(inputs: Any, outputs: Any) -> Any:
    def add(a: Any, b: Any) -> Any:
        a.get_shape().assert_is_compatible_with(b.get_shape())
        return a + b

    return nest.map_structure(add, inputs, outputs)


class DeviceWrapper(_CellWrapper):
    """A cell on a device.

    Args:
        cell: The cell.
        device: The device's name.
    """

    def __init__(self, cell: Any, device: Any, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """That of the cell inside, on the device."""
        with (
            name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]),
            get_default_graph().device(self._device),
        ):
            return self.cell.zero_state(batch_size, dtype)

    def _step(self, inputs: Any, state: Any, scope: Any) -> Any:
        with get_default_graph().device(self._device):
            return self.cell(inputs, state, scope=scope)


class MultiRNNCell(RNNCell):
    """Cells on top of each other, each the input of the next.

    Args:
        cells: The cells, the first one below.
        state_is_tuple: The state is a tuple of the cells' states; else they lie side by side.

    Raises:
        ValueError: There are no cells, or states that are tuples are to lie side by side.
        TypeError: `cells` is no list or tuple.
    """

    def __init__(self, cells: Any, state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise InvalidValueError("Must specify at least one cell for MultiRNNCell.")
        if not isinstance(cells, (list, tuple)):
            raise InvalidTypeError(f"cells must be a list or tuple, but saw: {cells}.")
        if len({id(cell) for cell in cells}) < len(cells):
            warnings.warn(
                "At least two cells provided to MultiRNNCell are the same object and will share weights.",
                stacklevel=2,
            )
        self._cells = cells
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(nest.is_nested(cell.state_size) for cell in cells):
            raise InvalidValueError(
                "Some cells return tuples of states, but the flag state_is_tuple is not set.  State sizes "
                f"are: {[cell.state_size for cell in cells]}"
            )

    @property
    def state_size(self) -> Any:
        """The cells' sizes."""
        sizes = [cell.state_size for cell in self._cells]
        return tuple(sizes) if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        """That of the last cell."""
        return self._cells[-1].output_size

    @property
    def trainable_weights(self) -> list[Any]:
        """Those of all cells."""
        return [each for cell in self._cells for each in getattr(cell, "trainable_weights", ())]

    @property
    def non_trainable_weights(self) -> list[Any]:
        """Those of all cells."""
        return [each for cell in self._cells for each in getattr(cell, "non_trainable_weights", ())]

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Those of the cells."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    def call(self, inputs: Any, state: Any) -> Any:
        """One step of all cells."""
        states = []
        start = 0
        for index, cell in enumerate(self._cells):
            with variable_scope(f"cell_{index}"):
                if self._state_is_tuple:
                    if not nest.is_nested(state):
                        raise InvalidValueError(
                            f"Expected state to be a tuple of length {len(self.state_size)}, but received: "
                            f"{state}"
                        )
                    own = state[index]
                else:
                    own = raw_ops.Slice(state, [0, start], [-1, cell.state_size])
                    start += cell.state_size
                inputs, new_state = cell(inputs, own)
                states.append(new_state)
        return inputs, tuple(states) if self._state_is_tuple else raw_ops.ConcatV2(states, 1, name="concat")
