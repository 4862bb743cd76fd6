"""Products, convolutions, pooling, normalization: what networks are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from .blocks import Inexpressible
from .table import Call, translates


@translates("MatMul", "BatchMatMul", "BatchMatMulV2")
def _mat_mul(call: Call) -> str:
    sides = ("transpose_a", "transpose_b") if call.op.type == "MatMul" else ("adj_x", "adj_y")
    names = []
    for index, side in enumerate(sides):
        name = call[index]
        if call.attr(side):
            rank = 2 if call.op.type == "MatMul" else call.rank(index)
            name = call.make.transpose(name, [*range(rank - 2), rank - 1, rank - 2])
        names.append(name)
    return call.emit("MatMul", *names)


@translates("Einsum")
def _einsum(call: Call) -> str:
    equation = call.attr("equation").replace(" ", "")
    inputs, _, output = equation.partition("->")
    letters = output.replace("...", "")
    if len(set(letters)) < len(letters):
        raise Inexpressible("its result is a diagonal")
    spread = [index for index, part in enumerate(inputs.split(",")) if "..." in part]
    ranks = {call.rank(index) - len(inputs.split(",")[index].replace("...", "")) for index in spread}
    if len(ranks) > 1:
        raise Inexpressible("its inputs have different numbers of axes in the place of ...")
    return call.emit("Einsum", *call.names, equation=equation)


@translates("Softmax", "LogSoftmax")
def _softmax(call: Call) -> str:
    return call.emit(call.op.type, call[0], axis=-1)


@translates("SoftmaxCrossEntropyWithLogits")
def _cross_entropy(call: Call) -> list[str]:
    logs = call.emit("LogSoftmax", call[0], axis=-1)
    return _entropy(call, logs, call[1])


@translates("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_cross_entropy(call: Call) -> list[str]:
    logs = call.emit("LogSoftmax", call[0], axis=-1)
    depth = call.make.squeeze(call.size_of(0, -1), 0)
    chosen = call.emit("OneHot", call.ints(1), depth, call.make.ints(0, 1), axis=-1)
    return _entropy(call, logs, call.make.cast(chosen, call.dtype(0)))


def _entropy(call: Call, logs: str, labels: str) -> list[str]:
    total = call.emit("ReduceSum", call.emit("Mul", logs, labels), call.make.ints(-1), keepdims=0)
    return [call.emit("Neg", total), call.emit("Sub", call.emit("Exp", logs), labels)]


class Layout:
    """Where batch, channels and spatial axes are, and a value turned to ONNX's order and back."""

    def __init__(self, call: Call, spatial: int) -> None:
        self.call = call
        data_format = call.attr("data_format")
        if data_format.startswith("NCHW_"):
            raise Inexpressible(f"its data format is {data_format}")
        self.first = data_format.startswith("NC")
        self.spatial = list(range(2, 2 + spatial)) if self.first else list(range(1, 1 + spatial))
        self.rank = spatial + 2

    def pick(self, values: Any) -> list[int]:
        """The entries of an attribute that belong to the spatial axes; refuses others than 1 elsewhere."""
        for axis in range(self.rank):
            if axis not in self.spatial and values[axis] != 1:
                raise Inexpressible("it strides over batch or channels")
        return [int(values[axis]) for axis in self.spatial]

    def turned(self, name: str) -> str:
        """With channels in front of the spatial axes."""
        if self.first:
            return name
        return self.call.make.transpose(name, [0, self.rank - 1, *range(1, self.rank - 1)])

    def back(self, name: str) -> str:
        """As TensorFlow has it."""
        return name if self.first else self.call.make.transpose(name, [0, *range(2, self.rank), 1])

    def sizes(self, shape: Any) -> list[int | None]:
        """The spatial sizes."""
        return [None] * len(self.spatial) if shape is None else [shape[axis] for axis in self.spatial]


def same_pads(size: int, window: int, stride: int) -> tuple[int, int]:
    """What SAME puts before and after an axis."""
    outputs = -(-size // stride)
    total = max((outputs - 1) * stride + window - size, 0)
    return total // 2, total - total // 2


def _check_gaps(call: Call, size: int | None, window: int, stride: int, volume: bool) -> None:
    """Refuses windows so far apart that the first may not begin at the first element, or not be known to."""
    # TensorFlow clamps the padding of images at 0, that of volumes not.
    least = window - stride if size is None else (-(-size // stride) - 1) * stride + window - size
    pools = size is None and stride > window > 1 and "Pool" in call.op.type
    if pools or (volume and least < -1):
        raise Inexpressible("its windows leave gaps, and ONNX begins with another element")


def padding_of(
    call: Call, layout: Layout, windows: list[int], strides: list[int], shape: Any
) -> dict[str, Any]:
    """The attributes that say how ONNX pads."""
    padding = call.attr("padding")
    if padding == "VALID":
        return {}
    if padding == "EXPLICIT":
        explicit = list(call.attr("explicit_paddings"))
        return {"pads": [explicit[2 * axis + side] for side in (0, 1) for axis in layout.spatial]}
    axes = list(zip(layout.sizes(shape), windows, strides))
    for size, window, stride in axes:
        _check_gaps(call, size, window, stride, len(axes) == 3)
    pairs = []
    for size, window, stride in axes:
        if window == 1:
            pairs.append((0, 0))
        elif size is not None:
            pairs.append(same_pads(size, window, stride))
        elif stride == 1:
            pairs.append(((window - 1) // 2, window // 2))
        else:
            return {"auto_pad": "SAME_UPPER"}
    return {"pads": [pair[side] for side in (0, 1) for pair in pairs]} if any(map(any, pairs)) else {}


@translates("Conv2D", "Conv3D", "DepthwiseConv2dNative")
def _conv(call: Call) -> str:
    depthwise = call.op.type.startswith("Depthwise")
    layout = Layout(call, 3 if call.op.type == "Conv3D" else 2)
    shape = call.dims(1)
    strides, dilations = layout.pick(call.attr("strides")), layout.pick(call.attr("dilations"))
    count = len(strides)
    taps = shape[:count]
    if None in taps:
        raise Inexpressible("the size of its filter is not known")
    kernel = [int(size) for size in taps if size is not None]
    windows = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations)]
    attrs: dict[str, Any] = {"kernel_shape": kernel, "strides": strides, "dilations": dilations}
    attrs |= padding_of(call, layout, windows, strides, call.shape(0))
    filters = call[1]
    if depthwise:
        if shape[2] is None or shape[3] is None:
            raise Inexpressible("the number of its channels is not known")
        flat = call.make.reshape(filters, *kernel, 1, shape[2] * shape[3])
        weights = call.make.transpose(flat, [3, 2, 0, 1])
        attrs["group"] = shape[2]
    else:
        weights = call.make.transpose(filters, [count + 1, count, *range(count)])
        channels = (call.shape(0) or [None] * (count + 2))[1 if layout.first else -1]
        depth = shape[count]
        if channels is not None and depth is not None and channels != depth:
            attrs["group"] = channels // depth
    return layout.back(call.emit("Conv", layout.turned(call[0]), weights, **attrs))


@translates("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def _conv_transpose(call: Call) -> str:
    count = 3 if call.op.type.startswith("Conv3D") else 2
    layout = Layout(call, count)
    strides, dilations = layout.pick(call.attr("strides")), layout.pick(call.attr("dilations"))
    taps = call.dims(1)[:count]
    if None in taps:
        raise Inexpressible("the size of its filter is not known")
    kernel = [int(size) for size in taps if size is not None]
    windows = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations)]
    # out of what the forward convolution had as output channels, into what it had as input
    weights = call.make.transpose(call[1], [count + 1, count, *range(count)])
    attrs: dict[str, Any] = {"kernel_shape": kernel, "strides": strides, "dilations": dilations}
    wanted, given = layout.sizes(call.partial(0)), layout.sizes(call.shape(2))
    source = layout.turned(call[2])
    if None not in wanted and None not in given:
        befores, afters, extra = [], [], []
        for axis, (size, n) in enumerate(zip(wanted, given)):
            assert size is not None
            assert n is not None
            before, after = _deconvolution_pads(call, layout, axis, size, windows[axis], strides[axis])
            befores.append(before)
            afters.append(after)
            extra.append(size - ((n - 1) * strides[axis] + windows[axis] - before - after))
        if all(0 <= more < max(stride, 2) for more, stride in zip(extra, strides)):
            if any(more >= stride for more, stride in zip(extra, strides)):
                return layout.back(_cut(call, layout, source, weights, attrs, windows, strides))
            attrs |= {"pads": befores + afters, "output_padding": extra}
            return layout.back(call.emit("ConvTranspose", source, weights, **attrs))
    return layout.back(_cut(call, layout, source, weights, attrs, windows, strides))


def _deconvolution_pads(
    call: Call, layout: Layout, axis: int, size: int, window: int, stride: int
) -> tuple[int, int]:
    padding = call.attr("padding")
    if padding == "VALID":
        return 0, 0
    if padding == "EXPLICIT":
        explicit = call.attr("explicit_paddings")
        at = layout.spatial[axis]
        return int(explicit[2 * at]), int(explicit[2 * at + 1])
    return same_pads(size, window, stride)


def _cut(
    call: Call,
    layout: Layout,
    source: str,
    weights: str,
    attrs: dict[str, Any],
    windows: list[int],
    strides: list[int],
) -> str:
    """All that the filters reach, then the part that TensorFlow asks for, by its size at run time."""
    if call.attr("padding") == "EXPLICIT":
        raise Inexpressible("it pads explicitly to a size that is known to the run alone")
    make = call.make
    whole = call.emit("ConvTranspose", source, weights, **attrs)
    wanted = call.emit("Gather", call.ints(0), make.ints(*layout.spatial))
    axes = make.ints(*range(2, layout.rank))
    reach = call.emit("Gather", call.emit("Shape", whole), axes)
    zero = make.ints(*[0] * len(windows))
    before = zero
    if call.attr("padding") == "SAME":
        before = call.emit("Div", call.emit("Max", call.emit("Sub", reach, wanted), zero), make.ints(2))
    after = call.emit("Max", call.emit("Sub", wanted, reach), zero)
    none = make.ints(*[0] * (layout.rank + 2))
    padded = call.emit(
        "Pad", whole, call.emit("Concat", none, after, axis=0), call.like(2, 0), mode="constant"
    )
    return call.emit("Slice", padded, before, call.emit("Add", before, wanted), axes)


@translates("MaxPool", "MaxPoolV2", "AvgPool", "MaxPool3D", "AvgPool3D")
def _pool(call: Call) -> str:
    kind = "MaxPool" if call.op.type.startswith("Max") else "AveragePool"
    layout = Layout(call, 3 if call.op.type.endswith("3D") else 2)
    if call.op.type == "MaxPoolV2":
        ksize, steps = call.known(1, "window").tolist(), call.known(2, "stride").tolist()
    else:
        ksize, steps = call.attr("ksize"), call.attr("strides")
    windows, strides = layout.pick(ksize), layout.pick(steps)
    attrs: dict[str, Any] = {"kernel_shape": windows, "strides": strides}
    attrs |= padding_of(call, layout, windows, strides, call.shape(0))
    return layout.back(call.emit(kind, layout.turned(call[0]), **attrs))


@translates("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _fused_batch_norm(call: Call) -> list[str]:
    layout = Layout(call, call.rank(0) - 2)
    x, epsilon = layout.turned(call[0]), float(call.attr("epsilon"))
    if not call.attr("is_training"):
        y = call.emit("BatchNormalization", x, *call.names[1:5], epsilon=epsilon)
        return [layout.back(y), call[3], call[4], call[3], call[4], *_reserve(call)]
    # by the moments of this very batch
    make, narrow = call.make, call.dtype(0) != np.float32
    x = make.cast(x, np.float32) if narrow else x
    axes = make.ints(0, *range(2, layout.rank))
    mean = call.emit("ReduceMean", x, axes, keepdims=1)
    apart = call.emit("Sub", x, mean)
    variance = call.emit("ReduceMean", call.emit("Mul", apart, apart), axes, keepdims=1)
    scale, offset = (make.reshape(call[index], -1, *[1] * (layout.rank - 2)) for index in (1, 2))
    deviation = call.emit("Sqrt", call.emit("Add", variance, call.const(np.float32(epsilon))))
    y = call.emit("Add", call.emit("Mul", call.emit("Div", apart, deviation), scale), offset)
    y = make.cast(y, call.dtype(0)) if narrow else y
    count = call.emit("ReduceProd", call.emit("Gather", call.emit("Shape", x), axes), keepdims=0)
    count = make.cast(count, np.float32)
    one = call.const(np.float32(1))
    unbiased = call.emit("Div", count, call.emit("Max", call.emit("Sub", count, one), one))
    mean, variance = make.reshape(mean, -1), make.reshape(variance, -1)
    return [layout.back(y), mean, call.emit("Mul", variance, unbiased), mean, variance, *_reserve(call)]


def _reserve(call: Call) -> list[str]:
    """The sixth output of the third version, which is for GPUs."""
    return [call.const(np.zeros((), call.out_dtype(5)))] if call.op.num_outputs > 5 else []


@translates("BatchNormWithGlobalNormalization")
def _old_batch_norm(call: Call) -> str:
    x = call.make.transpose(call[0], [0, 3, 1, 2])
    scale = call[4]
    if not call.attr("scale_after_normalization"):
        scale = call.emit("Expand", call.like(0, 1), call.shape_of(4))
    epsilon = float(call.attr("variance_epsilon"))
    y = call.emit("BatchNormalization", x, scale, call[3], call[1], call[2], epsilon=epsilon)
    return call.make.transpose(y, [0, 2, 3, 1])


@translates("LRN")
def _lrn(call: Call) -> str:
    size = 2 * int(call.attr("depth_radius")) + 1
    x = call.make.transpose(call[0], [0, 3, 1, 2])
    alpha, beta, bias = (float(call.attr(name)) for name in ("alpha", "beta", "bias"))
    y = call.emit("LRN", x, size=size, alpha=alpha * size, beta=beta, bias=bias)
    return call.make.transpose(y, [0, 2, 3, 1])
