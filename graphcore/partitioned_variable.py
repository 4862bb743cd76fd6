"""`tf.PartitionedVariable`: a variable that lies in several, each a slice of the whole along one axis.

Source: tensorflow/python/ops/variables.py and variable_scope.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .convert import register_tensor_conversion_function
from .default import get_default_graph, name_scope
from .dtypes import DType
from .errors import InvalidTypeError, InvalidValueError, NotSupportedError
from .op import raw_ops
from .ops.array_join import concat, split
from .tensor_operators import TensorOperators
from .tensor_shape import TensorShape, dimension_value
from .variables import forward_operators


class PartitionedVariable(TensorOperators):
    """A variable of `shape` whose slices are the variables of a list.

    It becomes a tensor by concatenation. A checkpoint holds it under its own name, in slices.

    Args:
        name: The name of the whole.
        shape: The shape of the whole.
        dtype: The element type.
        variable_list: The slices; each has its SaveSliceInfo.
        partitions: The number of slices along each axis.

    Raises:
        TypeError: `variable_list` or `partitions` is no list.
        ValueError: The slices do not say which part they are, or belong to another shape.
    """

    def __init__(
        self, name: str, shape: Any, dtype: Any, variable_list: Sequence[Any], partitions: Sequence[int]
    ) -> None:
        if not isinstance(variable_list, (list, tuple)):
            raise InvalidTypeError(f"variable_list is not a list or tuple: {variable_list}")
        if not isinstance(partitions, (list, tuple)):
            raise InvalidTypeError(f"partitions is not a list or tuple: {partitions}")
        if not all(count >= 1 for count in partitions):
            raise InvalidValueError(f"partition values must be positive: {partitions}")
        if not variable_list:
            raise InvalidValueError("variable_list may not be empty")
        slices = [variable._get_save_slice_info() for variable in variable_list]
        if any(info is None for info in slices):
            names = [variable.name for variable in variable_list]
            raise InvalidValueError(f"All variables must have a save_slice_info available: {names}")
        if len(shape) != len(partitions):
            raise InvalidValueError(f"len(shape) != len(partitions): {shape} vs. {partitions}")
        for info in slices:
            if TensorShape(info.full_shape) != TensorShape(shape):
                raise InvalidValueError(
                    f"All variables' full shapes must match shape: {shape}; but full shapes were: "
                    f"{[info.full_shape]}"
                )
        self._variable_list = sorted(variable_list, key=lambda item: item._get_save_slice_info().var_offset)
        self._name = name
        self._shape = shape
        self._dtype = dtype
        self._partitions = partitions

    def __iter__(self) -> Iterator[Any]:
        return iter(self._variable_list)

    def __len__(self) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise InvalidValueError(f"Cannot get a length for {len(axes)} > 1 partition axes")
        return len(self._variable_list)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def _partition_axes(self) -> list[int]:
        return [axis for axis, count in enumerate(self._partitions) if count > 1] or [0]

    def _concat(self) -> Any:
        """The whole as a tensor that respects the control dependencies around the call."""
        if len(self._variable_list) == 1:
            with name_scope(None):
                return raw_ops.Identity(self._variable_list[0], name=self._name)
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotSupportedError(
                f"Cannot concatenate along more than one dimension: {axes}.  Multi-axis partition concat is "
                "not supported"
            )
        with name_scope(f"{self._name}/ConcatPartitions/"):
            whole = concat(self._variable_list, axes[0])
        with name_scope(None):
            return raw_ops.Identity(whole, name=self._name)

    def as_tensor(self) -> Any:
        """The whole as a tensor, read whenever it is needed, as a variable's value is."""
        with get_default_graph().control_dependencies(None):
            return self._concat()

    value = as_tensor

    @property
    def name(self) -> str:
        """The name of the whole, the checkpoint's key."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self._dtype

    @property
    def shape(self) -> Any:
        """The shape of the whole."""
        return self._shape

    def get_shape(self) -> Any:
        """The shape of the whole."""
        return self._shape

    def _get_variable_list(self) -> list[Any]:
        return self._variable_list

    def _get_partitions(self) -> Sequence[int]:
        return self._partitions

    def _assigned(self, method: str, value: Any, read_value: bool, **options: Any) -> list[Any]:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotSupportedError(
                f"Cannot do assign action along more than one dimension: {axes}.  Multi-axis partition "
                "assign action is not supported "
            )
        if isinstance(value, (list, PartitionedVariable)):
            values = list(value)
            if len(values) != len(self._variable_list):
                raise InvalidValueError(
                    f"Partitioned variable {self._name} has {len(self._variable_list)} slices, but "
                    f"{len(values)} values were given"
                )
        else:
            sizes = [dimension_value(variable.shape[axes[0]]) for variable in self._variable_list]
            values = split(value, sizes, axis=axes[0])
        return [
            getattr(variable, method)(item, read_value=read_value, **options)
            for variable, item in zip(self._variable_list, values)
        ]

    def assign(
        self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> list[Any]:
        """Sets the slices; `value` is the whole, or a list of slices. Gives a list, one item a slice."""
        return self._assigned("assign", value, read_value, use_locking=use_locking, name=name)

    def assign_add(
        self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> list[Any]:
        """Adds to the slices; see `assign`."""
        return self._assigned("assign_add", value, read_value, use_locking=use_locking, name=name)

    def assign_sub(
        self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> list[Any]:
        """Subtracts from the slices; see `assign`."""
        return self._assigned("assign_sub", value, read_value, use_locking=use_locking, name=name)


def _to_tensor(
    value: PartitionedVariable, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Any:
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise InvalidValueError(
            f"Incompatible type conversion requested to type '{dtype.name}' for variable of type "
            f"'{value.dtype.name}'"
        )
    if as_ref:
        raise NotSupportedError("PartitionedVariable doesn't support being used as a reference.")
    return value.as_tensor()


register_tensor_conversion_function(PartitionedVariable, _to_tensor)
forward_operators(PartitionedVariable)


class PartitionInfo:
    """What an initializer is told of the slice that it makes.

    Args:
        full_shape: The shape of the whole.
        var_offset: Where the slice begins.

    Raises:
        TypeError: One is no sequence.
        ValueError: They differ in length, or the slice begins outside the whole.
    """

    def __init__(self, full_shape: Sequence[int], var_offset: Sequence[int]) -> None:
        for key, value in (("full_shape", full_shape), ("var_offset", var_offset)):
            _check_sequence(key, value)
        if len(var_offset) != len(full_shape):
            raise InvalidValueError(
                f"Expected equal length, but `var_offset` is of length {len(var_offset)} while full_shape is "
                f"of length {len(full_shape)}."
            )
        for offset, size in zip(var_offset, full_shape):
            if offset < 0 or offset >= size:
                raise InvalidValueError(
                    f"Expected 0 <= offset < shape but found offset={offset}, shape={size} for "
                    f"var_offset={var_offset}, full_shape={full_shape}"
                )
        self._full_shape = full_shape
        self._var_offset = var_offset

    @property
    def full_shape(self) -> Sequence[int]:
        """The shape of the whole."""
        return self._full_shape

    @property
    def var_offset(self) -> Sequence[int]:
        """Where the slice begins."""
        return self._var_offset

    def single_offset(self, shape: Sequence[int]) -> int:
        """Where a slice of `shape` begins along its one axis; 0 where it is the whole."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]

    def single_slice_dim(self, shape: Sequence[int]) -> int | None:
        """The axis along which a slice of `shape` is one of several, None where it is the whole.

        Raises:
            TypeError: `shape` is no sequence.
            ValueError: It does not fit into the whole, or is cut along several axes.
        """
        _check_sequence("shape", shape)
        if len(shape) != len(self.full_shape):
            raise InvalidValueError(
                f"Expected equal length, but received shape={shape} of length {len(shape)} while "
                f"self.full_shape={self.full_shape} is of length {len(self.full_shape)}."
            )
        for axis, (offset, size, full) in enumerate(zip(self.var_offset, shape, self.full_shape)):
            if offset + size > full:
                raise InvalidValueError(
                    f"With self.var_offset={self.var_offset}, a partition of shape={shape} would exceed "
                    f"self.full_shape={self.full_shape} in dimension {axis}."
                )
        cut = [axis for axis, (size, full) in enumerate(zip(shape, self.full_shape)) if size != full]
        if len(cut) > 1:
            raise InvalidValueError(
                f"Cannot use single_slice_dim() with shape={shape} and self.full_shape={self.full_shape} "
                f"since slice dim could be either dimension {cut[1]} or {cut[0]}."
            )
        return cut[0] if cut else None


def _check_sequence(name: str, value: Any) -> None:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise InvalidTypeError(
            f"`{name}` must be a sequence (like tuple or list) instead of {type(value).__name__}"
        )


def call_partitioner(partitioner: Callable[..., Any], shape: TensorShape, dtype: Any) -> Sequence[int]:
    """What a partitioner says of a variable: the number of slices along each axis.

    Raises:
        ValueError: The shape is not known, or the answer does not fit it.
    """
    if not shape.is_fully_defined():
        raise InvalidValueError(
            f"Shape of a new partitioned variable must be fully defined, but instead was {shape}."
        )
    if (shape.ndims or 0) < 1:
        raise InvalidValueError(f"A partitioned Variable must have rank at least 1, shape: {shape}")
    slicing = partitioner(shape=shape, dtype=dtype)
    if not isinstance(slicing, Sequence):
        raise InvalidValueError(f"Partitioner must return a sequence, but saw: {slicing}")
    if len(slicing) != shape.ndims:
        raise InvalidValueError(
            "Partitioner returned a partition list that does not match the Variable's rank: "
            f"{slicing} vs. {shape}"
        )
    if any(count < 1 for count in slicing):
        raise InvalidValueError(f"Partitioner returned zero partitions for some axes: {slicing}")
    if sum(count > 1 for count in slicing) > 1:
        raise InvalidValueError(
            f"Can only slice a variable along one dimension: shape: {shape}, partitioning: {slicing}"
        )
    return slicing


def slices_of(shape: Sequence[int], partitions: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """(offset, shape) of each slice; the first ones are longer by 1 where the number does not divide."""
    axis = next((axis for axis, count in enumerate(partitions) if count > 1), 0)
    length, longer = divmod(shape[axis], partitions[axis])
    found, start = [], 0
    for number in range(partitions[axis]):
        size = length + (number < longer)
        offset = [0] * len(shape)
        offset[axis] = start
        found.append((offset, [*shape[:axis], size, *shape[axis + 1 :]]))
        start += size
    return found
