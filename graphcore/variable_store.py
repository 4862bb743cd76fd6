"""The variables of a graph by name: what `tf.get_variable` makes or finds.

Source: tensorflow/python/ops/variable_scope.py (r1.15), behaviour only.
"""

from __future__ import annotations

import inspect
from typing import Any

from .convert import convert_to_tensor
from .default import GraphKeys, get_default_graph, name_scope
from .dtypes import as_dtype, float32, string
from .errors import InvalidValueError
from .initializers import GlorotUniform, Initializer, Zeros
from .operation import Tensor
from .ops.array_slice import tf_slice
from .partitioned_variable import PartitionedVariable, PartitionInfo, call_partitioner, slices_of
from .tensor_shape import TensorShape, as_shape
from .variables import SaveSliceInfo, Variable


class VariableStore:
    """Variables and partitioned variables by their full names.

    Attributes:
        variables: Variables, slices of partitioned ones among them.
        partitioned: Partitioned variables.
    """

    def __init__(self) -> None:
        self.variables: dict[str, Any] = {}
        self.partitioned: dict[str, PartitionedVariable] = {}

    def get_variable(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = float32,
        initializer: Any = None,
        regularizer: Any = None,
        reuse: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        constraint: Any = None,
        synchronization: int = 0,
        aggregation: int = 0,
    ) -> Any:
        """The variable `name`, made or shared; see `tf.get_variable` for the arguments."""
        options = {
            "trainable": trainable, "collections": collections, "caching_device": caching_device,
            "validate_shape": validate_shape, "use_resource": use_resource, "constraint": constraint,
            "synchronization": synchronization, "aggregation": aggregation,
        }  # fmt: skip
        wanted = as_dtype(dtype).base_dtype
        is_scalar = isinstance(shape, (list, tuple)) and not shape
        if partitioner is not None and not is_scalar:
            if not callable(partitioner):
                raise InvalidValueError(f"Partitioner must be callable, but received: {partitioner}")
            with name_scope(None):
                return self.get_partitioned(
                    name, partitioner, shape, wanted, initializer, regularizer, reuse, **options
                )
        if reuse is True and partitioner is None and name in self.partitioned:
            return self.get_partitioned(name, None, shape, wanted, initializer, regularizer, reuse, **options)
        if f"{name}/part_0" in self.variables:
            raise InvalidValueError(
                "No partitioner was provided, but a partitioned version of the variable was found: "
                f"{name}/part_0. Perhaps a variable of the same name was already created with partitioning?"
            )
        return self.get_single(name, shape, wanted, initializer, regularizer, reuse, **options)

    def get_single(
        self,
        name: str,
        shape: Any,
        dtype: Any,
        initializer: Any,
        regularizer: Any,
        reuse: Any,
        partition_info: PartitionInfo | None = None,
        **options: Any,
    ) -> Any:
        """A variable that is not partitioned, or one slice of one that is."""
        if shape is not None and initializer is not None and not callable(initializer):
            raise InvalidValueError("If initializer is a constant, do not specify shape.")
        static = as_shape(shape)
        if name in self.variables:
            return _shared(self.variables[name], name, static, dtype, reuse)
        if reuse is True:
            raise InvalidValueError(
                f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean to "
                "set reuse=tf.AUTO_REUSE in VarScope?"
            )
        if initializer is None:
            initializer = _default_initializer(name, dtype)
        initial, wanted = _initial_value(static, dtype, initializer, partition_info)
        variable = Variable(initial_value=initial, name=name, dtype=wanted, **options)
        self.variables[name] = variable
        if regularizer is not None:
            _regularize(variable, name, regularizer)
        return variable

    def get_partitioned(
        self,
        name: str,
        partitioner: Any,
        shape: Any,
        dtype: Any,
        initializer: Any,
        regularizer: Any,
        reuse: Any,
        **options: Any,
    ) -> PartitionedVariable:
        """A partitioned variable; without a partitioner, one that is there."""
        if name in self.variables:
            raise InvalidValueError(
                f"A partitioner was provided, but an unpartitioned version of the variable was found: {name}."
                "  Perhaps a variable of the same name was already created without partitioning?"
            )
        static = as_shape(shape)
        if isinstance(initializer, Tensor):
            static = static.merge_with(initializer.get_shape())
        partitions: Any = None
        if not reuse or partitioner:
            partitions = call_partitioner(partitioner, static, dtype)
        if name in self.partitioned:
            return _shared_partitioned(self.partitioned[name], name, static, dtype, partitions, reuse)
        if reuse is True:
            raise InvalidValueError(
                f"PartitionedVariable {name} does not exist, or was not created with tf.get_variable(). Did "
                "you mean to set reuse=False or reuse=tf.AUTO_REUSE in VarScope?"
            )
        whole = [int(size or 0) for size in static.as_list()]
        slices = slices_of(whole, partitions)
        self._check_slices(name, len(slices))
        variables = []
        part_shape: list[int] | None
        for number, (offset, size) in enumerate(slices):
            full_name = f"{name}/part_{number}"
            with name_scope(f"{full_name}/PartitionedInitializer"):
                initial, wanted, part_shape = initializer, dtype, size
                if initial is None:
                    initial = _default_initializer(name, dtype)
                elif not callable(initial):
                    given = isinstance(initial, Tensor)
                    initial = tf_slice(initial if given else convert_to_tensor(initial, dtype), offset, size)
                    wanted, part_shape = initial.dtype.base_dtype, None
            with name_scope(None):
                variable = self.get_single(
                    full_name, part_shape, wanted, initial, regularizer, reuse,
                    partition_info=PartitionInfo(whole, offset), **options,
                )  # fmt: skip
            variable._set_save_slice_info(SaveSliceInfo(name, whole, offset, size))
            variables.append(variable)
        made = PartitionedVariable(name, static, dtype, variables, partitions)
        self.partitioned[name] = made
        return made

    def _check_slices(self, name: str, count: int) -> None:
        """Slices that are there already must be all that the partitioner asks for."""
        if f"{name}/part_0" not in self.variables:
            return
        start = (
            "Partitioner returned a different partitioning than what was already found.  Partitioner "
            f"returned {count} shards, and shard {name}/part_0 was found, but "
        )
        if f"{name}/part_{count - 1}" not in self.variables:
            raise InvalidValueError(f"{start}{name}/part_{count - 1} was not.")
        if f"{name}/part_{count}" in self.variables:
            raise InvalidValueError(f"{start}so was the extra shard {name}/part_{count}.")


def _default_initializer(name: str, dtype: Any) -> Initializer:
    if dtype.is_floating:
        return GlorotUniform()
    if dtype.is_integer or dtype.is_unsigned or dtype.is_bool or dtype == string:
        return Zeros()
    raise InvalidValueError(f"An initializer for variable {name} of {dtype.base_dtype} is required")


def _initial_value(
    shape: TensorShape, dtype: Any, initializer: Any, partition_info: PartitionInfo | None
) -> tuple[Any, Any]:
    """The initial value (a function or value) and dtype of a new variable."""
    if not callable(initializer):
        return initializer, None
    if isinstance(initializer, type):
        initializer = initializer()
    if shape.is_fully_defined():
        dims = shape.as_list()
        return lambda: initializer(dims, dtype=dtype, partition_info=partition_info), dtype.base_dtype
    if _needs_nothing(initializer):
        return initializer, None
    raise InvalidValueError(
        "The initializer passed is not valid. It should be a callable with no arguments and the shape should "
        "not be provided or an instance of `tf.keras.initializers.*' and `shape` should be fully defined."
    )


def _needs_nothing(function: Any) -> bool:
    """Whether a function can be called without arguments."""
    required = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return all(item.kind not in required or item.default is not item.empty for item in parameters)


def _shared(found: Any, name: str, shape: TensorShape, dtype: Any, reuse: Any) -> Any:
    if reuse is False:
        raise InvalidValueError(
            f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
            f"reuse=tf.AUTO_REUSE in VarScope? Originally defined at:\n\n  {found.op.defined_at}"
        )
    if not shape.is_compatible_with(found.get_shape()):
        raise InvalidValueError(
            f"Trying to share variable {name}, but specified shape {shape} and found shape "
            f"{found.get_shape()}."
        )
    if not dtype.is_compatible_with(found.dtype.base_dtype):
        raise InvalidValueError(
            f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype "
            f"{found.dtype.base_dtype.name}."
        )
    return found


def _shared_partitioned(
    found: PartitionedVariable, name: str, shape: TensorShape, dtype: Any, partitions: Any, reuse: Any
) -> PartitionedVariable:
    if reuse is False:
        raise InvalidValueError(
            f"Partitioned variable with name {name} already exists. Did you mean to set reuse=True or "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    start = f"Trying to reuse partitioned variable {name}, but specified"
    if not shape.is_compatible_with(found.get_shape()):
        raise InvalidValueError(f"{start} shape {shape} and found shape {found.get_shape()}.")
    if not dtype.is_compatible_with(found.dtype):
        raise InvalidValueError(f"{start} dtype {dtype.name} and found dtype {found.dtype.name}.")
    if partitions is not None and list(found._get_partitions()) != list(partitions):
        raise InvalidValueError(
            f"{start} partitions {partitions} and found partitions {found._get_partitions()}."
        )
    return found


def _regularize(variable: Any, name: str, regularizer: Any) -> None:
    graph = get_default_graph()
    with graph.colocate_with(variable.op), name_scope(f"{name}/Regularizer/"):
        loss = regularizer(variable)
    if loss is not None:
        graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
