"""`tf.layers.BatchNormalization`.

Source: tensorflow/python/layers/normalization.py and keras/layers/normalization.py (r1.15), behaviour only;
Ioffe and Szegedy, arXiv:1502.03167; renormalization: Ioffe, arXiv:1702.03275.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .base_layer import Layer
from .conditional import smart_cond
from .convert import constant, convert_to_tensor
from .default import get_default_graph, name_scope
from .dtypes import bfloat16, float16, float32
from .errors import InvalidTypeError, InvalidValueError
from .input_spec import InputSpec
from .layer_utils import ONES, ZEROS, initializer
from .op import raw_ops
from .operation import Tensor
from .ops.array_create import ones_like, zeros_like
from .ops.array_shape import tf_reshape, tf_shape
from .ops.math_unary import tf_cast
from .ops.nn_norm import batch_normalization as normalized, fused_batch_norm, moments
from .ops.reduction import reduce_mean
from .tensor_shape import TensorShape
from .variables import VariableAggregation, VariableSynchronization, assign, assign_sub

_RENORM_KEYS = ("rmax", "rmin", "dmax")


class BatchNormalization(Layer):
    """Normalizes over all axes but the channels'.

    While training, it uses the batch's mean and variance, and updates of moving averages are kept in
    `UPDATE_OPS`: run them with the step. Otherwise it uses the averages.

    Args:
        axis: The channels' axis, or a list of axes.
        momentum: Of the moving averages.
        epsilon: Added to the variance.
        center: Whether there is an offset `beta`.
        scale: Whether there is a factor `gamma`.
        beta_initializer: An initializer, or its name.
        gamma_initializer: The same.
        moving_mean_initializer: The same.
        moving_variance_initializer: The same.
        beta_regularizer: Function from `beta` to a loss.
        gamma_regularizer: The same for `gamma`.
        beta_constraint: Projection of `beta` after an update.
        gamma_constraint: The same for `gamma`.
        renorm: Correct the batch's statistics towards the averages.
        renorm_clipping: Bounds of the correction: "rmax", "rmin" and "dmax", scalars or tensors.
        renorm_momentum: Of the averages that the correction uses.
        fused: Whether to use one op for all: by default and where true, if inputs have rank 4 and nothing
            speaks against it.
        trainable: Whether optimizers train `beta` and `gamma`.
        virtual_batch_size: Size of the parts of the batch that are normalized each on its own.
        adjustment: Function from the shape of the inputs to a factor and an offset, applied while training.
        name: Its variable scope.
        kwargs: `dtype`, and what `Layer` takes besides.

    Raises:
        TypeError: `axis` is neither int nor list.
        ValueError: An argument is malformed.
    """

    def __init__(
        self,
        axis: Any = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = ZEROS,
        gamma_initializer: Any = ONES,
        moving_mean_initializer: Any = ZEROS,
        moving_variance_initializer: Any = ONES,
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: dict[str, Any] | None = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Callable[[Any], tuple[Any, Any]] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable, name, **kwargs)
        if not isinstance(axis, (int, list)):
            raise InvalidTypeError(f"axis must be int or list, type given: {type(axis)}")
        self.axis: Any = axis if isinstance(axis, int) else axis[:]
        self.momentum, self.epsilon, self.center, self.scale = momentum, epsilon, center, scale
        self.beta_initializer = initializer(beta_initializer)
        self.gamma_initializer = initializer(gamma_initializer)
        self.moving_mean_initializer = initializer(moving_mean_initializer)
        self.moving_variance_initializer = initializer(moving_variance_initializer)
        self.beta_regularizer, self.gamma_regularizer = beta_regularizer, gamma_regularizer
        self.beta_constraint, self.gamma_constraint = beta_constraint, gamma_constraint
        self.renorm, self.renorm_momentum = renorm, renorm_momentum
        self.renorm_clipping = renorm_clipping or {}
        unknown = set(self.renorm_clipping) - set(_RENORM_KEYS)
        if renorm and unknown:
            raise InvalidValueError(
                f"renorm_clipping {renorm_clipping} contains keys not in {list(_RENORM_KEYS)}"
            )
        self.virtual_batch_size, self.adjustment = virtual_batch_size, adjustment
        self.fused = True if fused is None else fused
        self.gamma: Any = None
        self.beta: Any = None
        self.moving_mean: Any = None
        self.moving_variance: Any = None

    # TensorFlow's tests compare the fused op, which corrects the variance, with what does not.
    _bessels_correction_test_only = True

    @property
    def _param_dtype(self) -> Any:
        if self._dtype in (float16, bfloat16):
            return float32
        return self._dtype or float32

    def _axes(self, shape: TensorShape) -> list[int]:
        """The axes as numbers from 0.

        Raises:
            ValueError: One lies outside, or occurs twice.
        """
        rank = len(shape)
        given = [self.axis] if isinstance(self.axis, int) else self.axis
        axes = [rank + axis if axis < 0 else axis for axis in given]
        for axis in axes:
            if axis < 0 or axis >= rank:
                raise InvalidValueError(f"Invalid axis: {axis}")
        if len(axes) != len(set(axes)):
            raise InvalidValueError(f"Duplicate axis: {axes}")
        return axes

    def _check_virtual(self) -> None:
        if self.virtual_batch_size is None:
            return
        if self.virtual_batch_size <= 0:
            raise InvalidValueError(
                "virtual_batch_size must be a positive integer that divides the true batch size of the input "
                "Tensor"
            )
        if 0 in self.axis:
            raise InvalidValueError(
                "When using virtual_batch_size, the batch dimension must be 0 and thus axis cannot include 0"
            )
        if self.adjustment is not None:
            raise InvalidValueError("When using virtual_batch_size, adjustment cannot be specified")

    def build(self, input_shape: Any) -> None:
        """Makes the variables.

        Raises:
            ValueError: The shape is not known enough, or an argument does not fit it.
        """
        shape = TensorShape(input_shape)
        if not shape.ndims:
            raise InvalidValueError(f"Input has undefined rank: {shape}")
        rank = shape.ndims
        self.axis = self._axes(shape)
        self._check_virtual()
        single = len(self.axis) == 1 and self.virtual_batch_size is None
        self.fused = bool(self.fused and rank == 4 and single and not self.renorm and self.adjustment is None)
        if self.fused and self.axis[0] not in (1, 3):
            raise InvalidValueError(
                "Unsupported axis, fused batch norm only supports axis == [1] or axis == [3]"
            )
        sizes = {axis: shape.as_list()[axis] for axis in self.axis}
        if None in sizes.values():
            raise InvalidValueError(f"Input has undefined `axis` dimension. Input shape: {shape}")
        self.input_spec = InputSpec(ndim=rank, axes=sizes)
        param_shape = [sizes.get(axis, 1) for axis in range(rank)]
        if single:
            param_shape = list(sizes.values())
        elif self.virtual_batch_size is not None:
            # Inputs get an axis for the parts of the batch.
            param_shape.insert(1, 1)
            self.axis = [axis + 1 for axis in self.axis]
        dtype = self._param_dtype
        if self.scale:
            self.gamma = self.add_weight(
                "gamma", param_shape, dtype, self.gamma_initializer, self.gamma_regularizer,
                True, self.gamma_constraint,
            )  # fmt: skip
        elif self.fused:
            self._gamma_const = constant(1.0, dtype, param_shape)
        if self.center:
            self.beta = self.add_weight(
                "beta", param_shape, dtype, self.beta_initializer, self.beta_regularizer,
                True, self.beta_constraint,
            )  # fmt: skip
        elif self.fused:
            self._beta_const = constant(0.0, dtype, param_shape)
        self._build_averages(param_shape)
        self.built = True

    def _build_averages(self, shape: list[int]) -> None:
        partitioner = None if self._scope is None else self._scope.partitioner

        def average(name: str, first: Any) -> Any:
            return self.add_weight(
                name, shape, self._param_dtype, first, trainable=False,
                synchronization=VariableSynchronization.ON_READ, aggregation=VariableAggregation.MEAN,
            )  # fmt: skip

        def root(*args: Any, **kwargs: Any) -> Any:
            return raw_ops.Sqrt(self.moving_variance_initializer(*args, **kwargs))

        # Averages are never partitioned.
        if self._scope is not None:
            self._scope.set_partitioner(None)
        try:
            self.moving_mean = average("moving_mean", self.moving_mean_initializer)
            self.moving_variance = average("moving_variance", self.moving_variance_initializer)
            if self.renorm:
                self.moving_stddev = average("moving_stddev", root)
                self.renorm_mean = average("renorm_mean", self.moving_mean_initializer)
                self.renorm_stddev = average("renorm_stddev", root)
        finally:
            if partitioner and self._scope is not None:
                self._scope.set_partitioner(partitioner)

    # Averages

    def _moved(self, variable: Any, value: Any, momentum: Any) -> Any:
        """The variable, moved towards `value` by 1 - momentum of the way."""
        with name_scope("AssignMovingAvg") as scope, get_default_graph().colocate_with(variable.op):
            decay = tf_cast(convert_to_tensor(1.0 - momentum, name="decay"), variable.dtype.base_dtype)
            delta = (variable - tf_cast(value, variable.dtype.base_dtype)) * decay
            return assign_sub(variable, delta, name=scope)

    def _move_variance(self, variance: Any, momentum: Any) -> Any:
        if not self.renorm:
            return self._moved(self.moving_variance, variance, momentum)
        stddev = self._moved(self.moving_stddev, raw_ops.Sqrt(variance + self.epsilon), momentum)
        value = raw_ops.Relu(stddev * stddev - self.epsilon)
        with (
            name_scope("AssignNewValue") as scope,
            get_default_graph().colocate_with(self.moving_variance.op),
        ):
            return assign(self.moving_variance, value, name=scope)

    # Calls

    def call(self, inputs: Any, training: Any = False) -> Any:
        """The values; `training` is a Python bool, or a boolean tensor that decides when the graph runs."""
        static = inputs.get_shape()
        if self.virtual_batch_size is None:
            return self._fused(inputs, training) if self.fused else self._plain(inputs, training)
        shape = [-1, *static.as_list()[1:]]
        inputs = tf_reshape(inputs, [self.virtual_batch_size, -1, *shape[1:]])
        return tf_reshape(self._plain(inputs, training), shape)

    def _fused(self, inputs: Any, training: Any) -> Any:
        beta = self.beta if self.center else self._beta_const
        gamma = self.gamma if self.scale else self._gamma_const
        data_format = "NCHW" if self.axis == [1] else "NHWC"
        options: dict[str, Any] = {"epsilon": self.epsilon, "data_format": data_format}
        output, mean, variance = smart_cond(
            training,
            lambda: fused_batch_norm(inputs, gamma, beta, **options),
            lambda: fused_batch_norm(
                inputs, gamma, beta, self.moving_mean, self.moving_variance, is_training=False, **options
            ),
        )
        if not self._bessels_correction_test_only:
            count = tf_cast(raw_ops.Size(inputs) / raw_ops.Size(variance), variance.dtype)
            variance = variance * ((count - 1.0) / count)
        known = _known(training)
        if known is None:
            momentum = smart_cond(training, lambda: self.momentum, lambda: 1.0)
        else:
            momentum = convert_to_tensor(self.momentum)
        if known is not False:
            self.add_update(lambda: self._moved(self.moving_mean, mean, momentum))
            self.add_update(lambda: self._move_variance(variance, momentum))
        return output

    def _plain(self, inputs: Any, training: Any) -> Any:
        static = inputs.get_shape()
        rank = len(static)
        reduced = [axis for axis in range(rank) if axis not in self.axis]
        if self.virtual_batch_size is not None:
            del reduced[1]
        shape = [1] * rank
        shape[self.axis[0]] = static.as_list()[self.axis[0]]

        def broadcast(value: Any) -> Any:
            if value is not None and len(value.get_shape()) != rank and reduced != list(range(rank - 1)):
                return tf_reshape(value, shape)
            return value

        scale, offset = broadcast(self.gamma), broadcast(self.beta)
        mean, variance = self.moving_mean, self.moving_variance
        if _known(training) is not False:
            if self.adjustment:
                scale, offset = self._adjusted(inputs, training, scale, offset)
            mean, variance, scale, offset = self._statistics(
                inputs, training, reduced, broadcast, scale, offset
            )
        outputs = normalized(
            inputs,
            broadcast(tf_cast(mean, inputs.dtype)),
            broadcast(tf_cast(variance, inputs.dtype)),
            None if offset is None else tf_cast(offset, inputs.dtype),
            None if scale is None else tf_cast(scale, inputs.dtype),
            self.epsilon,
        )
        outputs.set_shape(static)
        return outputs

    def _adjusted(self, inputs: Any, training: Any, scale: Any, offset: Any) -> tuple[Any, Any]:
        assert self.adjustment is not None
        factor, shift = self.adjustment(tf_shape(inputs))
        factor = smart_cond(training, lambda: factor, lambda: ones_like(factor))
        shift = smart_cond(training, lambda: shift, lambda: zeros_like(shift))
        return _composed(factor, shift, scale, offset)

    def _statistics(
        self,
        inputs: Any,
        training: Any,
        reduced: list[int],
        broadcast: Callable[[Any], Any],
        scale: Any,
        offset: Any,
    ) -> tuple[Any, Any, Any, Any]:
        """(mean, variance, scale, offset) where it may be training; adds the updates of the averages."""
        keep = self.virtual_batch_size is not None or len(self.axis) > 1
        batch = moments(tf_cast(inputs, self._param_dtype), reduced, keepdims=keep)
        mean = smart_cond(training, lambda: batch[0], lambda: convert_to_tensor(self.moving_mean))
        variance = smart_cond(training, lambda: batch[1], lambda: convert_to_tensor(self.moving_variance))
        new_mean, new_variance = mean, variance
        if self.virtual_batch_size is not None:
            new_mean = reduce_mean(mean, 1, keepdims=True)
            new_variance = reduce_mean(variance, 1, keepdims=True)
        if self.renorm:
            r, d, new_mean, new_variance = self._renormalized(new_mean, new_variance, training)
            r = broadcast(raw_ops.StopGradient(r, name="renorm_r"))
            d = broadcast(raw_ops.StopGradient(d, name="renorm_d"))
            scale, offset = _composed(r, d, scale, offset)
        self.add_update(
            lambda: smart_cond(
                training,
                lambda: self._moved(self.moving_mean, new_mean, self.momentum),
                lambda: convert_to_tensor(self.moving_mean),
            )
        )
        self.add_update(
            lambda: smart_cond(
                training,
                lambda: self._move_variance(new_variance, self.momentum),
                lambda: convert_to_tensor(self.moving_variance),
            )
        )
        return mean, variance, scale, offset

    def _renormalized(self, mean: Any, variance: Any, training: Any) -> tuple[Any, Any, Any, Any]:
        """(factor, offset, mean, variance): the correction, and statistics read after it was computed."""
        graph = get_default_graph()
        stddev = raw_ops.Sqrt(variance + self.epsilon)
        smallest = raw_ops.Sqrt(convert_to_tensor(self.epsilon, self._param_dtype))
        average = raw_ops.Maximum(self.renorm_stddev, smallest)
        r = stddev / average
        d = (mean - self.renorm_mean) / average
        with graph.control_dependencies([r, d]):
            mean, stddev = raw_ops.Identity(mean), raw_ops.Identity(stddev)
        rmin, rmax, dmax = (self.renorm_clipping.get(key) for key in ("rmin", "rmax", "dmax"))
        if rmin is not None:
            r = raw_ops.Maximum(r, rmin)
        if rmax is not None:
            r = raw_ops.Minimum(r, rmax)
        if dmax is not None:
            d = raw_ops.Minimum(raw_ops.Maximum(d, -dmax), dmax)
        r = smart_cond(training, lambda: r, lambda: ones_like(r))
        d = smart_cond(training, lambda: d, lambda: zeros_like(d))

        def moved(variable: Any, value: Any) -> Any:
            value = raw_ops.Identity(value)
            return smart_cond(
                training,
                lambda: convert_to_tensor(self._moved(variable, value, self.renorm_momentum)),
                lambda: raw_ops.Identity(variable),
            )

        with graph.control_dependencies([moved(self.renorm_mean, mean), moved(self.renorm_stddev, stddev)]):
            return r, d, raw_ops.Identity(mean), raw_ops.Identity(variance)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the inputs."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        keys = [
            "axis", "momentum", "epsilon", "center", "scale", "beta_initializer", "gamma_initializer",
            "moving_mean_initializer", "moving_variance_initializer", "beta_regularizer",
            "gamma_regularizer", "beta_constraint", "gamma_constraint",
        ]  # fmt: skip
        if self.renorm:
            keys += ["renorm", "renorm_clipping", "renorm_momentum"]
        if self.virtual_batch_size is not None:
            keys.append("virtual_batch_size")
        return {**super().get_config(), **{key: getattr(self, key) for key in keys}}


def _composed(scale: Any, offset: Any, then_scale: Any, then_offset: Any) -> tuple[Any, Any]:
    """One affine map after another as one."""
    if then_scale is not None:
        scale, offset = scale * then_scale, offset * then_scale
    return scale, offset if then_offset is None else offset + then_offset


def _known(training: Any) -> bool | None:
    """What `training` is, None where only the run knows."""
    if isinstance(training, Tensor):
        found = get_default_graph().constant_value(training)
        return None if found is None else bool(found)
    return None if hasattr(training, "_as_graph_element") else bool(training)
