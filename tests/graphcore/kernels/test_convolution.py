"""Convolution against loops, its gradients as adjoints, and what the recorded cases cannot hold."""

import numpy as np
import pytest

from sgtool.formats import errors
from sgtool.graphcore.kernels import convolution, correlation, depthwise, windows


def loops(x, w, height, width):
    """Convolution of x (NHWC) with w, one output pixel at a time."""
    groups = x.shape[3] // w.shape[2]
    out = np.zeros((x.shape[0], height.out, width.out, w.shape[3]))
    per_group = w.shape[3] // groups
    for n, i, j, f in np.ndindex(*out.shape):
        first = f // per_group * w.shape[2]
        for r, c in np.ndindex(*w.shape[:2]):
            row = i * height.stride + r * height.dilation - height.before
            column = j * width.stride + c * width.dilation - width.before
            if 0 <= row < x.shape[1] and 0 <= column < x.shape[2]:
                out[n, i, j, f] += x[n, row, column, first : first + w.shape[2]] @ w[r, c, :, f]
    return out


GEOMETRIES = [
    # input, filter, strides, padding, dilations
    ((2, 6, 7, 3), (3, 3, 3, 2), (1, 1), "SAME", (1, 1)),
    ((2, 6, 7, 3), (2, 3, 3, 2), (2, 3), "SAME", (1, 1)),
    ((1, 11, 9, 2), (3, 3, 2, 2), (1, 1), "VALID", (2, 3)),
    ((1, 11, 9, 2), (3, 2, 2, 2), (2, 3), "SAME", (3, 2)),
    ((1, 11, 12, 2), (3, 3, 2, 2), (4, 2), "VALID", (2, 4)),
    ((2, 6, 6, 4), (3, 3, 2, 6), (2, 1), "SAME", (1, 1)),
    ((2, 6, 6, 4), (3, 3, 1, 8), (1, 2), "VALID", (1, 2)),
    ((2, 7, 5, 3), (1, 1, 3, 2), (3, 2), "VALID", (1, 1)),
    ((2, 7, 5, 3), (7, 5, 3, 2), (1, 1), "VALID", (1, 1)),
    ((2, 7, 5, 3), (7, 5, 3, 2), (2, 2), "VALID", (1, 1)),
    ((1, 9, 9, 2), (6, 6, 2, 3), (1, 1), "VALID", (1, 1)),
    ((1, 4, 40, 2), (3, 3, 2, 3), (1, 1), "SAME", (1, 1)),
    ((1, 9, 80, 1), (4, 4, 1, 3), (2, 2), "SAME", (2, 1)),
    ((1, 5, 5, 2), (1, 1, 2, 3), (1, 1), "EXPLICIT", (1, 1)),
    ((1, 5, 5, 2), (3, 3, 2, 3), (2, 2), "EXPLICIT", (1, 1)),
]


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize("block", [1 << 20, 100])
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_convolution_equals_loops_and_gradients_are_its_adjoints(geometry, block, data_format, monkeypatch):
    monkeypatch.setattr(correlation, "BLOCK", block)
    x_shape, w_shape, strides, padding, dilations = geometry
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal(x_shape), rng.standard_normal(w_shape)
    explicit = [0, 0, 1, 2, 3, 0, 0, 0] if padding == "EXPLICIT" else []
    kwargs = {
        "strides": [1, *strides, 1],
        "padding": padding,
        "explicit_paddings": explicit,
        "data_format": "NHWC",
        "dilations": [1, *dilations, 1],
    }
    expected = loops(x, w, *windows.resolve(x.shape, w.shape[:2], **kwargs))
    forth = back = (0, 1, 2, 3)
    if data_format == "NCHW":
        forth, back = (0, 3, 1, 2), (0, 2, 3, 1)
        kwargs["data_format"] = data_format
        for name in ("strides", "dilations"):
            kwargs[name] = [kwargs[name][axis] for axis in forth]
        kwargs["explicit_paddings"] = explicit[:2] + explicit[6:] + explicit[2:6]
    out = convolution.conv2d(x.transpose(forth), w, **kwargs)
    np.testing.assert_allclose(out.transpose(back), expected, rtol=1e-10, atol=1e-10)
    dy = rng.standard_normal(out.shape)
    dx = convolution.conv2d_backprop_input(x.transpose(forth).shape, w, dy, **kwargs)
    dw = convolution.conv2d_backprop_filter(x.transpose(forth), w.shape, dy, **kwargs)
    np.testing.assert_allclose(np.sum(dx.transpose(back) * x), np.sum(dy * out), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.sum(dw * w), np.sum(dy * out), rtol=1e-9, atol=1e-9)
    # The identity above holds for one direction; a second one excludes a coincidence.
    other_x, other_w = rng.standard_normal(x_shape), rng.standard_normal(w_shape)
    by_x = convolution.conv2d(other_x.transpose(forth), w, **kwargs)
    by_w = convolution.conv2d(x.transpose(forth), other_w, **kwargs)
    np.testing.assert_allclose(np.sum(dx.transpose(back) * other_x), np.sum(dy * by_x), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.sum(dw * other_w), np.sum(dy * by_w), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("block", [1 << 17, 60])
@pytest.mark.parametrize("multiplier", [1, 3])
@pytest.mark.parametrize("geometry", [g for g in GEOMETRIES if g[0][3] == g[1][2]], ids=str)
def test_depthwise_equals_grouped_convolution(geometry, multiplier, block, monkeypatch):
    monkeypatch.setattr(depthwise, "BLOCK", block)
    x_shape, w_shape, strides, padding, dilations = geometry
    rng = np.random.default_rng(1)
    x = rng.standard_normal(x_shape)
    w = rng.standard_normal((*w_shape[:3], multiplier))
    grouped = w.reshape(*w_shape[:2], 1, -1)
    kwargs = {"strides": [1, *strides, 1], "padding": padding, "dilations": [1, *dilations, 1]}
    kwargs["explicit_paddings"] = [0, 0, 1, 2, 3, 0, 0, 0] if padding == "EXPLICIT" else []
    out = depthwise.depthwise_conv2d(x, w, **kwargs)
    np.testing.assert_allclose(out, convolution.conv2d(x, grouped, **kwargs), rtol=1e-10, atol=1e-10)
    dy = rng.standard_normal(out.shape)
    np.testing.assert_allclose(
        depthwise.depthwise_conv2d_backprop_input(x.shape, w, dy, **kwargs),
        convolution.conv2d_backprop_input(x.shape, grouped, dy, **kwargs),
        rtol=1e-10,
        atol=1e-10,
    )
    np.testing.assert_allclose(
        depthwise.depthwise_conv2d_backprop_filter(x, w.shape, dy, **kwargs),
        convolution.conv2d_backprop_filter(x, grouped.shape, dy, **kwargs).reshape(w.shape),
        rtol=1e-10,
        atol=1e-10,
    )


def test_gradients_of_nothing_are_zeros():
    kwargs = {"strides": [1, 1, 1, 1], "padding": "VALID"}
    x, w = np.ones((2, 3, 3, 1), np.float32), np.ones((4, 4, 1, 2), np.float32)
    dy = convolution.conv2d(x, w, **kwargs)
    assert dy.shape == (2, 0, 0, 2)
    for module, prefix in ((convolution, "conv2d"), (depthwise, "depthwise_conv2d")):
        dx = getattr(module, f"{prefix}_backprop_input")(x.shape, w, dy, **kwargs)
        dw = getattr(module, f"{prefix}_backprop_filter")(x, w.shape, dy, **kwargs)
        assert not dx.any()
        assert not dw.any()
        assert (dx.shape, dw.shape) == (x.shape, w.shape)


@pytest.mark.parametrize(
    ("dy_shape", "text"),
    [
        ((1, 5, 6, 4), "doesn't match computed: actual = 5, computed = 6 spatial_dim: 1 input: 6 filter: 3"),
        ((1, 6, 6, 3), "filter and out_backprop must have the same out_depth"),
        ((2, 6, 6, 4), "input and out_backprop must have the same batch size"),
    ],
)
def test_gradient_of_wrong_shape_is_refused(dy_shape, text):
    kwargs = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    with pytest.raises(errors.InvalidArgumentError, match=text):
        convolution.conv2d_backprop_input([1, 6, 6, 2], np.ones((3, 3, 2, 4)), np.ones(dy_shape), **kwargs)


def test_unknown_sizes_stay_unknown():
    assert windows.output_size(None, 3, 2) == (None, None, None)
    assert windows.output_size(5, None, 2) == (3, None, None)
    assert windows.output_size(None, 3, 2, 1, "VALID") == (None, 0, 0)
    assert windows.output_size(None, 3, 2, 1, "EXPLICIT", (1, 2)) == (None, 1, 2)
    assert windows.output_size(6, 3, 2, 1, "SAME") == (3, 0, 1)
    assert windows.output_size(0, 3, 1, 1, "SAME") == (0, 1, 1)


def test_no_filters_and_no_taps():
    kwargs = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    x = np.ones((1, 3, 3, 2), np.float32)
    for shape in ((2, 2, 2, 0), (0, 2, 2, 4)):
        w = np.ones(shape, np.float32)
        dy = convolution.conv2d(x, w, **kwargs)
        assert dy.shape == (1, 3, 3, shape[3])
        assert not dy.any()
        assert convolution.conv2d_backprop_filter(x, shape, dy, **kwargs).shape == shape
        assert not convolution.conv2d_backprop_input(x.shape, w, dy, **kwargs).any()
