"""`tf.nn`'s and `tf.quantization`'s later functions, and what their kernels and rules refuse.

Each row is a program of `tf` and some arrays, and what NumPy says; all rows run through a real TensorFlow,
too, where there is one.
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # oneDNN's convolutions fail their own way

import numpy as np
import pytest
from op_cases import floats
from op_cases.ctc import INDICES, LABELS, LENGTHS, LONG, VALUES, distances, loss_of, sparse

from op_cases.ctc import GUESS, TRUTH  # isort: skip
from op_cases.nn_conv import Direct
from op_cases.nn_conv3d import Direct as Volumes

from sgtool import graphcore

VOLUME, CUBE = floats(2, 4, 5, 4, 3), floats(2, 3, 2, 3, 4, seed=1)
IMAGE = floats(2, 5, 6, 3)
SERIES, TAPS = floats(2, 4, 3), floats(2, 5, 3, seed=1)
FIVE = [1, 1, 1, 1, 1]
LOGITS = floats(4, 3, 3)


def holes(w, rate):
    out = np.zeros((*[(size - 1) * rate + 1 for size in w.shape[:3]], *w.shape[3:]), w.dtype)
    out[::rate, ::rate, ::rate] = w
    return out


def transposed_1d(x, w, width):
    direct = Direct(strides=[1, 1, 2, 1], padding="SAME")
    return direct.by_input((2, 1, width, 5), w[None], x[:, None])[:, 0]


def eroded(x, w):
    padded = np.pad(x, [(0, 0), (0, 1), (1, 1), (0, 0)], constant_values=np.inf)
    parts = [padded[:, i : i + 5, j : j + 6] - w[1 - i, 2 - j] for i in range(2) for j in range(3)]
    return np.min(parts, 0)


def labels(tf):
    return tf.SparseTensor(INDICES, VALUES, [3, 2])


def distance(tf, normalize):
    tensors = []
    for rows in (GUESS, TRUTH):
        places, values = sparse(rows)
        tensors.append(tf.SparseTensor(places, values.astype(np.int64), [5, 7]))
    return tf.edit_distance(*tensors, normalize=normalize)


# name: (program, inputs, expected)
PROGRAMS = {
    "conv3d": (
        lambda tf, x, w: tf.nn.conv3d(x, w, FIVE, "SAME"),
        [VOLUME, CUBE],
        Volumes(FIVE, "SAME").conv(VOLUME, CUBE),
    ),
    "conv3d_transpose": (
        lambda tf, x, w: tf.nn.conv3d_transpose(x, w, [2, 8, 10, 8, 4], 2),
        [VOLUME, CUBE.swapaxes(3, 4).copy()],
        Volumes([1, 2, 2, 2, 1], "SAME").by_input((2, 8, 10, 8, 4), CUBE.swapaxes(3, 4), VOLUME),
    ),
    "convolution_3d": (
        lambda tf, x, w: tf.nn.convolution(x, w, "VALID"),
        [VOLUME, CUBE],
        Volumes(FIVE, "VALID").conv(VOLUME, CUBE),
    ),
    "convolution_3d_dilated": (
        lambda tf, x, w: tf.nn.convolution(x, w, "SAME", dilation_rate=[2, 2, 2]),
        [VOLUME, CUBE],
        Volumes(FIVE, "SAME").conv(VOLUME, holes(CUBE, 2)),
    ),
    "conv1d_transpose": (
        lambda tf, x, w: tf.nn.conv1d_transpose(x, w, [2, 8, 5], 2),
        [SERIES, TAPS],
        transposed_1d(SERIES, TAPS, 8),
    ),
    "conv1d_transpose_shape": (
        lambda tf, x, w: tf.nn.conv1d_transpose(x, w, tf.constant([2, 7, 5]), 2),
        [SERIES, TAPS],
        transposed_1d(SERIES, TAPS, 7),
    ),
    "max_pool3d": (
        lambda tf, x: tf.nn.max_pool3d(x, 2, 2, "SAME"),
        [VOLUME],
        Volumes([1, 2, 2, 2, 1], "SAME", [1, 2, 2, 2, 1]).max(VOLUME),
    ),
    "avg_pool3d": (
        lambda tf, x: tf.nn.avg_pool3d(x, [2, 1, 3], 1, "VALID"),
        [VOLUME],
        Volumes(FIVE, "VALID", [1, 2, 1, 3, 1]).mean(VOLUME),
    ),
    "pool_3d": (
        lambda tf, x: tf.nn.pool(x, [2, 3, 2], "AVG", "SAME", strides=[1, 2, 1]),
        [VOLUME],
        Volumes([1, 1, 2, 1, 1], "SAME", [1, 2, 3, 2, 1]).mean(VOLUME),
    ),
    "max_pool1d": (
        lambda tf, x: tf.nn.max_pool1d(x, 2, 2, "VALID"),
        [SERIES],
        SERIES.reshape(2, 2, 2, 3).max(2),
    ),
    "avg_pool_v2": (
        lambda tf, x: tf.nn.avg_pool_v2(x, [1, 2, 1], 2, "VALID"),
        [SERIES],
        SERIES.reshape(2, 2, 2, 3).mean(2),
    ),
    "max_pool_v2_image": (
        lambda tf, x: tf.nn.max_pool_v2(x, [5, 6], 1, "VALID"),
        [IMAGE],
        IMAGE.max((1, 2), keepdims=True),
    ),
    "max_pool_v2_volume": (
        lambda tf, x: tf.nn.max_pool_v2(x, 2, 2, "SAME"),
        [VOLUME],
        Volumes([1, 2, 2, 2, 1], "SAME", [1, 2, 2, 2, 1]).max(VOLUME),
    ),
    "conv_transpose": (
        lambda tf, x, w: tf.nn.conv_transpose(x, w, [2, 8, 5], 2, data_format="NWC"),
        [SERIES, TAPS],
        transposed_1d(SERIES, TAPS, 8),
    ),
    "conv2d_backprop_input": (
        lambda tf, x, w: tf.nn.conv2d_backprop_input([2, 1, 8, 5], w, x, [1, 1, 2, 1], "SAME"),
        [SERIES[:, None], TAPS[None]],
        transposed_1d(SERIES, TAPS, 8)[:, None],
    ),
    "conv2d_backprop_filter": (
        lambda tf, x, y: tf.nn.conv2d_backprop_filter(x, [1, 1, 3, 3], y, [1] * 4, [[0, 0]] * 4),
        [IMAGE, IMAGE],
        np.einsum("nhwi,nhwo->io", IMAGE, IMAGE)[None, None],
    ),
    "ctc_loss": (
        lambda tf, x: tf.nn.ctc_loss(labels(tf), x, LENGTHS),
        [LOGITS],
        loss_of(LOGITS, LABELS, LENGTHS)[0],
    ),
    "ctc_loss_batch_major": (
        lambda tf, x: tf.nn.ctc_loss(labels(tf), x, LENGTHS, time_major=False),
        [LOGITS.swapaxes(0, 1).copy()],
        loss_of(LOGITS, LABELS, LENGTHS)[0],
    ),
    "ctc_greedy_decoder": (
        lambda tf, x: tf.nn.ctc_greedy_decoder(x, [6, 1, 0, 2])[1],
        [LONG],
        -np.array([[LONG[:n, i].max(-1).sum()] for i, n in enumerate((6, 1, 0, 2))]),
    ),
    "ctc_beam_search_decoder": (
        lambda tf, x: tf.nn.ctc_beam_search_decoder(x, [0, 0, 0, 0], 3, 1)[1],
        [LONG],
        np.zeros((4, 1), np.float32),
    ),
    "edit_distance": (lambda tf: distance(tf, True), [], distances(True)),
    "edit_distance_counted": (lambda tf: distance(tf, False), [], distances(False)),
    "dilation2d": (
        lambda tf, x: tf.nn.dilation2d(x, np.zeros((1, 1, 3), np.float32), [1] * 4, [1] * 4, "SAME"),
        [IMAGE],
        IMAGE,
    ),
    "erosion2d": (
        lambda tf, x, w: tf.nn.erosion2d(x, w, [1] * 4, [1] * 4, "SAME"),
        [IMAGE, floats(2, 3, 3, seed=2)],
        eroded(IMAGE, floats(2, 3, 3, seed=2)),
    ),
    "extract_image_patches": (
        lambda tf, x: tf.extract_image_patches(x, [1, 2, 2, 1], [1, 5, 5, 1], [1] * 4, "VALID"),
        [IMAGE],
        IMAGE[:, :2, :2].reshape(2, 1, 1, 12),
    ),
    "batch_norm_with_global_normalization": (
        lambda tf, x, m, v, b, g: tf.nn.batch_norm_with_global_normalization(x, m, v, b, g, 0.1, True),
        [IMAGE, floats(3), floats(3, low=1), floats(3, seed=1), floats(3, seed=2)],
        (IMAGE - floats(3)) / np.sqrt(floats(3, low=1) + 0.1) * floats(3, seed=2) + floats(3, seed=1),
    ),
    "quantize": (
        lambda tf, x: tf.dequantize(*tf.quantize(x, -2.0, 2.0, tf.qint8, mode="SCALED"), mode="SCALED"),
        [IMAGE],
        np.sign(IMAGE) * np.floor(np.abs(IMAGE) * 63.5 + 0.5) / 63.5,
    ),
    "quantize_and_dequantize": (
        lambda tf, x: tf.quantization.quantize_and_dequantize(x, -2.0, 2.0, range_given=True),
        [IMAGE],
        np.clip(np.rint(IMAGE * 63.5), -128, 127) / 63.5,
    ),
    "fractional_max_pool": (
        lambda tf, x: tf.nn.fractional_max_pool(x, [1.0, 5.0, 6.0, 1.0])[0],
        [IMAGE],
        IMAGE.max((1, 2), keepdims=True),
    ),
}


def run(tf, program, inputs):
    """The value, and the type and name of the operations that are no constants."""
    with tf.Graph().as_default() as graph:
        tensors = [tf.placeholder(array.dtype, array.shape) for array in inputs]
        output = program(tf, *tensors)
        nodes = [
            (node.type, node.name)
            for node in graph.get_operations()
            if node.type not in ("Const", "Placeholder", "StridedSlice", "SparseTensor")
        ]
        with tf.Session(graph=graph) as session:
            return session.run(output, dict(zip(tensors, inputs, strict=True))), nodes


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    program, inputs, expected = PROGRAMS[name]
    value, _ = run(graphcore, program, inputs)
    assert value.shape == np.shape(expected)
    np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-5)


@pytest.fixture(scope="module")
def tensorflow():
    return pytest.importorskip("tensorflow").compat.v1


# TensorFlow 2 renamed what these make.
OTHER_NODES = {"convolution_3d_dilated", "max_pool_v2_image"}


@pytest.mark.oracle
@pytest.mark.parametrize("name", PROGRAMS)
def test_program_in_tensorflow(name, tensorflow):
    program, inputs, _ = PROGRAMS[name]
    ours, nodes = run(graphcore, program, inputs)
    theirs, their_nodes = run(tensorflow, program, inputs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    if name not in OTHER_NODES:
        assert sorted(nodes) == sorted(their_nodes)


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def raw(op, **arguments):
    """A program of one op; it is fed nothing that the graph could check."""

    def program(tf):
        given = {}
        for name, value in arguments.items():
            if isinstance(value, np.ndarray):
                value = tf.placeholder_with_default(tf.constant(value), None)
            given[name] = value
        return getattr(tf.raw_ops, op)(**given)

    return program


SPARSE = {"labels_indices": INDICES, "labels_values": VALUES}
WINDOW = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID"}
CONV = {"strides": FIVE, "padding": "SAME"}
RATES = {"strides": [1] * 4, "rates": [1] * 4, "padding": "SAME"}
LSTM = {
    "cs_prev": zeros(2, 3),
    "h_prev": zeros(2, 3),
    "wci": zeros(3),
    "wcf": zeros(3),
    "wco": zeros(3),
    "b": zeros(12),
}

# name: (program, class of the error, what its text has)
ERRORS = {
    "conv3d_rank": (raw("Conv3D", input=zeros(1, 2, 2, 1), filter=CUBE, **CONV), "InvalidArgument", "5-dim"),
    "conv3d_depth": (
        raw("Conv3D", input=zeros(1, 2, 2, 2, 4), filter=CUBE, **CONV),
        "InvalidArgument",
        "nput depth must be evenly divisible by filter depth: 4 vs 3",
    ),
    "conv3d_gradient": (
        raw(
            "Conv3DBackpropInputV2",
            input_sizes=np.array([2, 4, 4, 4, 3], np.int32),
            filter=CUBE,
            out_backprop=zeros(2, 3, 4, 4, 4),
            **CONV,
        ),
        "InvalidArgument",
        "Size of out_backprop doesn't match computed: actual = 3, computed = 4",
    ),
    "pool3d_batch": (
        raw("MaxPool3D", input=VOLUME, **{**WINDOW, "ksize": [2, 2, 2, 2, 1]}),
        "Unimplemented",
        "Pooling is not yet supported on the batch dimension.",
    ),
    "ctc_lengths": (
        raw("CTCLoss", inputs=LOGITS, sequence_length=np.array([4, 5, 2], np.int32), **SPARSE),
        "InvalidArgument",
        "sequence_length(1) <= 4",
    ),
    "ctc_negative_length": (
        raw("CTCLoss", inputs=LOGITS, sequence_length=np.array([4, 4, -2], np.int32), **SPARSE),
        "InvalidArgument",
        "seq_len(2) < 0",
    ),
    "ctc_short": (
        raw("CTCLoss", inputs=LOGITS, sequence_length=np.array([4, 1, 2], np.int32), **SPARSE),
        "InvalidArgument",
        "Not enough time for target transition sequence (required: 2, available: 1)1",
    ),
    "ctc_no_labels": (
        raw("CTCLoss", inputs=floats(4, 4, 3), sequence_length=np.full(4, 4, np.int32), **SPARSE),
        "InvalidArgument",
        "Labels length is zero in batch 3",
    ),
    "ctc_blank_inside": (
        raw(
            "CTCLoss",
            inputs=LOGITS,
            labels_indices=INDICES,
            labels_values=np.array([2, 1, 1, 1, 0], np.int32),
            sequence_length=LENGTHS,
        ),
        "InvalidArgument",
        "Saw a non-null label (index >= num_classes - 1) following a null label, batch: 0 num_classes: 3 "
        "labels: 2,1 labels seen so far: ",
    ),
    "ctc_negative_label": (
        raw(
            "CTCLoss",
            inputs=LOGITS,
            labels_indices=INDICES,
            labels_values=np.array([0, 1, -1, 1, 0], np.int32),
            sequence_length=LENGTHS,
        ),
        "InvalidArgument",
        "All labels must be nonnegative integers, batch: 1 labels: -1,1",
    ),
    "ctc_order": (
        raw(
            "CTCLoss",
            inputs=LOGITS,
            labels_indices=INDICES[[1, 0, 2, 3, 4]],
            labels_values=VALUES,
            sequence_length=LENGTHS,
        ),
        "InvalidArgument",
        "label SparseTensor is not valid: indices[1] = [0,0] is out of order.",
    ),
    "greedy_length": (
        raw("CTCGreedyDecoder", inputs=LOGITS, sequence_length=np.array([4, 9, 2], np.int32)),
        "FailedPrecondition",
        "sequence_length(1) <= 4",
    ),
    "beam_paths": (
        raw("CTCBeamSearchDecoder", inputs=LOGITS, sequence_length=LENGTHS, beam_width=2, top_paths=3),
        "InvalidArgument",
        "requested more paths than the beam width.",
    ),
    "beam_leaves": (
        raw("CTCBeamSearchDecoder", inputs=LOGITS, sequence_length=LENGTHS * 0, beam_width=5, top_paths=3),
        "InvalidArgument",
        "Less leaves in the beam search than requested.",
    ),
    "distance_ranks": (
        raw(
            "EditDistance",
            hypothesis_indices=INDICES,
            hypothesis_values=VALUES,
            hypothesis_shape=np.array([3, 2, 1]),
            truth_indices=INDICES,
            truth_values=VALUES,
            truth_shape=np.array([3, 2]),
        ),
        "InvalidArgument",
        "Expected hypothesis_shape.NumElements == #cols(hypothesis_indices), their shapes are: [3] and [5,2]",
    ),
    "lstm_w": (
        raw("LSTMBlockCell", x=zeros(2, 4), w=zeros(6, 12), **LSTM),
        "InvalidArgument",
        "w.dim_size(0) != input_size + cell_size: 6 vs. 7",
    ),
    "gru_bias": (
        raw(
            "GRUBlockCell",
            x=zeros(2, 4),
            h_prev=zeros(2, 3),
            w_ru=zeros(7, 6),
            w_c=zeros(7, 3),
            b_ru=zeros(5),
            b_c=zeros(3),
        ),
        "InvalidArgument",
        "b_ru.dim_size(0) != cell_size * 2: 5 vs. 6",
    ),
    "fake_quant_bits": (
        raw("FakeQuantWithMinMaxArgs", inputs=IMAGE, num_bits=17),
        "InvalidArgument",
        "num_bits must be between 2 and 16, inclusive",
    ),
    "fake_quant_range": (
        raw("FakeQuantWithMinMaxArgs", inputs=IMAGE, min=1.0, max=1.0),
        "InvalidArgument",
        "min has to be smaller than max, was: 1 >= 1",
    ),
    "quantize_range": (
        raw("QuantizeAndDequantizeV2", input=IMAGE, input_min=1.0, input_max=0.0, range_given=True),
        "InvalidArgument",
        "Invalid range: input_min 1 > input_max 0",
    ),
    "quantize_even": (
        raw("QuantizeV2", input=IMAGE, min_range=0.0, max_range=1.0, T="qint8", round_mode="HALF_TO_EVEN"),
        "InvalidArgument",
        "Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is 'MIN_COMBINED'.",
    ),
    "dilation_depth": (
        raw("Dilation2D", input=IMAGE, filter=zeros(2, 2, 4), **RATES),
        "InvalidArgument",
        "input and filter must have the same depth: 3 vs 4",
    ),
    "patches_batch": (
        raw("ExtractImagePatches", images=IMAGE, ksizes=[2, 1, 1, 1], **RATES),
        "Unimplemented",
        "Only support ksizes across space",
    ),
    "fractional_seed": (
        raw("FractionalMaxPool", value=IMAGE, pooling_ratio=[1.0, 1.5, 1.5, 1.0], seed=3),
        "InvalidArgument",
        "Both seed and seed2 should be 0 if deterministic is false.",
    ),
    "nth_large": (
        raw("NthElement", input=IMAGE, n=3),
        "InvalidArgument",
        "Input must have ",
    ),
    "format": (
        raw("DataFormatDimMap", x=np.array([1], np.int32), src_format="NHWC", dst_format="NCHX"),
        "InvalidArgument",
        "Destination and source format must determine a permutation, got NHWC and NCHX",
    ),
}


def run_alone(tf, program):
    with tf.Graph().as_default() as graph:
        output = program(tf)
        with tf.Session(graph=graph) as session:
            session.run(output)


def error_of(tf, program):
    with pytest.raises(tf.errors.OpError) as raised:
        run_alone(tf, program)
    return type(raised.value).__name__, str(raised.value)


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    program, kind, text = ERRORS[name]
    found, message = error_of(graphcore, program)
    assert found == f"{kind}Error"
    assert text in message


@pytest.mark.oracle
@pytest.mark.parametrize("name", ERRORS)
def test_error_in_tensorflow(name, tensorflow):
    program, kind, text = ERRORS[name]
    found, message = error_of(tensorflow, program)
    assert found == f"{kind}Error"
    assert text in message
