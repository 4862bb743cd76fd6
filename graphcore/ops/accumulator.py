"""Conditional accumulators as ops, dense and sparse, and `tf.ConditionalAccumulator` and its kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..accumulators import Accumulator, DenseAccumulator, SparseAccumulator
from ..convert import convert_to_tensor
from ..dtypes import NUMBER, DType, as_dtype, int64
from ..errors import InvalidArgumentError
from ..indexed_slices import IndexedSlices
from ..op import op, raw_ops
from ..shapes import format_shape
from ..tensor_shape import TensorShape
from . import rules
from .data_flow import handle_shape, handle_type, named_resource
from .math_unary import tf_cast

_NO_GRAD = "what is accumulated is not differentiated"
_ATTRS = (
    "shape: shape",
    "container: string = ''",
    "shared_name: string = ''",
    "reduction_type: {'MEAN', 'SUM'} = 'MEAN'",
)


def _made(ctx: Any, node: Any, kind: Any) -> Any:
    def make(name: str) -> Any:
        is_mean = node.attr("reduction_type") == b"MEAN"
        return kind(name, node.attr("dtype"), node.attr("shape").as_tuple(), is_mean)

    return named_resource(ctx, "accumulator", node, make)


def _dense(ctx: Any, *, node: Any) -> Any:
    """An accumulator of dense gradients."""
    return _made(ctx, node, DenseAccumulator)


def _sparse(ctx: Any, *, node: Any) -> Any:
    """An accumulator of rows."""
    return _made(ctx, node, SparseAccumulator)


for _name, _version, _kernel in (
    ("ConditionalAccumulator", "", _dense),
    ("SparseConditionalAccumulator", "", _sparse),
    ("ResourceConditionalAccumulator", "V2", _dense),
):
    op(
        _name,
        f"-> handle: {handle_type(_version)}",
        *_ATTRS,
        dtype=NUMBER,
        stateful=True,
        no_grad="it has no inputs",
    )(_kernel).shape(handle_shape(_version))


def _scalar(value: Any, name: str) -> int:
    if np.ndim(value):
        raise InvalidArgumentError(
            f"Argument {name} must be a scalar, but had bad shape {format_shape(np.shape(value))}"
        )
    return int(value)


def _check(handle: Any, node: Any, kind: type[Accumulator]) -> None:
    """Raises InvalidArgumentError unless the handle is of that kind and of the node's dtype."""
    if not isinstance(handle, kind):
        raise InvalidArgumentError(f"'{getattr(handle, 'name', handle)}' is no {kind.__name__}")
    if node.attr("dtype") != handle.dtype:
        raise InvalidArgumentError(
            f"The accumulator '{handle.name}' has dtype {handle.dtype.name}, not {node.attr('dtype').name}"
        )


def _apply(ctx: Any, handle: Any, local_step: Any, gradient: Any, *, node: Any) -> None:
    """Adds a gradient, unless its step is too old."""
    _check(handle, node, DenseAccumulator)
    handle.apply(_scalar(local_step, "local_step"), gradient)


def _num_accumulated(ctx: Any, handle: Any) -> Any:
    """How many gradients have come."""
    return np.array(handle.count, np.int32)


def _set_global_step(ctx: Any, handle: Any, new_global_step: Any) -> None:
    """Sets the step before which gradients are dropped."""
    handle.set_global_step(_scalar(new_global_step, "new_global_step"))


def _take(ctx: Any, handle: Any, num_required: Any, *, node: Any) -> Any:
    """The mean or sum of the gradients, once enough have come."""
    _check(handle, node, DenseAccumulator)
    return handle.take(ctx, _scalar(num_required, "num_required"))


def _sparse_apply(
    ctx: Any,
    handle: Any,
    local_step: Any,
    gradient_indices: Any,
    gradient_values: Any,
    gradient_shape: Any,
    *,
    has_known_shape: bool,
    node: Any,
) -> None:
    """Adds rows, unless their step is too old."""
    _check(handle, node, SparseAccumulator)
    shape = np.reshape(gradient_shape, -1) if has_known_shape else None
    handle.apply(_scalar(local_step, "local_step"), gradient_indices, gradient_values, shape)


def _sparse_take(ctx: Any, handle: Any, num_required: Any, *, node: Any) -> Any:
    """The mean or sum of each row, once enough gradients have come."""
    _check(handle, node, SparseAccumulator)
    return handle.take(ctx, _scalar(num_required, "num_required"))


_T = {"dtype": NUMBER}
_ROWS = "gradient_indices: int64, gradient_values: dtype, gradient_shape: int64"
_ACTIONS: dict[str, tuple[Any, str, tuple[str, ...], dict[str, Any], Any]] = {
    "AccumulatorApplyGradient": (_apply, ", local_step: int64, gradient: dtype ->", (), _T, rules.nothing),
    "AccumulatorNumAccumulated": (_num_accumulated, "-> num_accumulated: int32", (), {}, rules.scalar),
    "AccumulatorSetGlobalStep": (_set_global_step, ", new_global_step: int64 ->", (), {}, rules.nothing),
    "AccumulatorTakeGradient": (_take, ", num_required: int32 -> average: dtype", (), _T, rules.unknown),
    "SparseAccumulatorApplyGradient": (
        _sparse_apply,
        f", local_step: int64, {_ROWS} ->",
        ("has_known_shape: bool",),
        _T,
        rules.nothing,
    ),
    "SparseAccumulatorTakeGradient": (
        _sparse_take,
        ", num_required: int32 -> indices: int64, values: dtype, shape: int64",
        (),
        _T,
        rules.unknown,
    ),
}

for _name, (_kernel, _signature, _attrs, _types, _shape) in _ACTIONS.items():
    for _version in ("",) if _name.startswith("Sparse") else ("", "V2"):
        op(
            f"{'Resource' if _version else ''}{_name}",
            f"handle: {handle_type(_version)} {_signature}",
            *_attrs,
            stateful=bool(_version),
            ctx=True,
            no_grad=_NO_GRAD,
            **_types,
        )(_kernel).shape(_shape)


# TensorFlow's Python classes


class ConditionalAccumulatorBase:
    """A conditional accumulator in the graph.

    Args:
        dtype: The gradients' element type.
        shape: Their shape, as far as it is known.
        accumulator_ref: The tensor that is the accumulator's handle.
    """

    _prefix = ""

    def __init__(self, dtype: Any, shape: Any, accumulator_ref: Any) -> None:
        self._dtype = as_dtype(dtype)
        self._shape = TensorShape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = str(accumulator_ref.op.name.split("/")[-1])

    @property
    def accumulator_ref(self) -> Any:
        """The handle."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        """The name of the accumulator's operation, without its scope."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The gradients' element type."""
        return self._dtype

    def num_accumulated(self, name: str | None = None) -> Any:
        """int32 scalar: how many gradients have come since the last ones were taken."""
        make = getattr(raw_ops, f"{self._prefix}AccumulatorNumAccumulated")
        return make(self._accumulator_ref, name=name or f"{self._name}_NumAccumulated")

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> Any:
        """An operation that sets the step before which gradients are dropped."""
        make = getattr(raw_ops, f"{self._prefix}AccumulatorSetGlobalStep")
        return make(self._accumulator_ref, tf_cast(convert_to_tensor(new_global_step), int64), name=name)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """`tf.ConditionalAccumulator`: adds gradients up until enough have come.

    Args:
        dtype: The gradients' element type.
        shape: Their shape, as far as it is known.
        shared_name: Accumulators of one shared name are one.
        name: Name of the operation.
        reduction_type: `MEAN` or `SUM`.
    """

    _prefix = "Resource"

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        handle = raw_ops.ResourceConditionalAccumulator(
            dtype=dtype,
            shape=TensorShape(shape),
            shared_name=shared_name or "",
            name=name,
            reduction_type=reduction_type,
        )
        super().__init__(dtype, shape, handle)

    def apply_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Any:
        """An operation that adds a gradient, unless `local_step` is older than the accumulator's step.

        Raises:
            ValueError: The gradient's shape does not fit.
        """
        grad = convert_to_tensor(grad, self._dtype)
        grad.get_shape().assert_is_compatible_with(self._shape)
        step = tf_cast(convert_to_tensor(local_step), int64)
        return raw_ops.ResourceAccumulatorApplyGradient(self._accumulator_ref, step, grad, name=name)

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """The mean or sum of the gradients; waits until `num_required` have come."""
        taken = raw_ops.ResourceAccumulatorTakeGradient(
            self._accumulator_ref, num_required, dtype=self._dtype, name=name
        )
        taken.set_shape(self._shape)
        return taken


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """`tf.SparseConditionalAccumulator`: adds rows of gradients up; arguments as of the dense one."""

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        handle = raw_ops.SparseConditionalAccumulator(
            dtype=dtype,
            shape=TensorShape(shape),
            shared_name=shared_name or "",
            name=name,
            reduction_type=reduction_type,
        )
        super().__init__(dtype, shape, handle)

    def apply_indexed_slices_grad(
        self, grad: IndexedSlices, local_step: Any = 0, name: str | None = None
    ) -> Any:
        """An operation that adds IndexedSlices, unless `local_step` is older than the accumulator's step."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(
        self,
        grad_indices: Any,
        grad_values: Any,
        grad_shape: Any = None,
        local_step: Any = 0,
        name: str | None = None,
    ) -> Any:
        """An operation that adds rows, unless `local_step` is older than the accumulator's step.

        Args:
            grad_indices: Which rows, 1-D and ascending.
            grad_values: The rows.
            grad_shape: The shape of the whole gradient, if it is known.
            local_step: The step that the gradient was computed in.
            name: Name of the operation.
        """
        return raw_ops.SparseAccumulatorApplyGradient(
            self._accumulator_ref,
            tf_cast(convert_to_tensor(local_step), int64),
            tf_cast(grad_indices, int64),
            grad_values,
            tf_cast([] if grad_shape is None else grad_shape, int64),
            has_known_shape=grad_shape is not None,
            name=name,
        )

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """`(indices, values, shape)` of the mean or sum; waits until `num_required` gradients have come."""
        return raw_ops.SparseAccumulatorTakeGradient(
            self._accumulator_ref, num_required, dtype=self._dtype, name=name
        )

    def take_indexed_slices_grad(self, num_required: Any, name: str | None = None) -> IndexedSlices:
        """The same as IndexedSlices."""
        indices, values, shape = self.take_grad(num_required, name)
        return IndexedSlices(values, indices, shape)
