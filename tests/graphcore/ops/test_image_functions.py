"""`tf.image`'s functions: their values by NumPy, and values and nodes by TensorFlow; what they refuse."""

from __future__ import annotations

import colorsys
import os
import struct

os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # oneDNN's convolutions round their own way

import numpy as np
import pytest
from op_cases import floats, ints
from op_cases.image_boxes import BOXES, SCORES, greedy
from op_cases.image_resize import area, cubic, linear, nearest, resized

from sgtool import graphcore
from sgtool.graphcore.kernels.png import encode_png

IMAGE = floats(5, 6, 3, low=0.02, high=0.98)
BATCH = floats(2, 5, 6, 3, seed=1, low=0.02, high=0.98)
BYTES = ints(2, 4, 5, 3, low=0, high=256, dtype=np.uint8)
LARGE = floats(2, 24, 26, 2, seed=2, low=0, high=1)
BLURRED = (LARGE + 0.3 * floats(2, 24, 26, 2, seed=3)).astype(np.float32)
WHOLE = ints(3, 4, 2, low=-(2**31), high=2**31 - 1)
PNG = encode_png(BYTES[0])
BMP = struct.pack("<2sIIIIiiHHH", b"BM", 0, 0, 32, 18, 5, -4, 1, 24, 0)
BMP += np.pad(BYTES[0, :, :, ::-1].reshape(4, 15), [(0, 0), (0, 1)]).tobytes()


def by_color(function):
    return lambda x: np.apply_along_axis(lambda color: function(*color), -1, x.astype(np.float64))


def similarity(x, y, size=11, sigma=1.5):
    """SSIM of one plane, window by window."""
    places = np.arange(size) - (size - 1) / 2
    weights = np.exp(-(places[:, None] ** 2 + places**2) / (2 * sigma**2))
    weights /= weights.sum()
    total, count = 0.0, 0
    for top in range(x.shape[0] - size + 1):
        for left in range(x.shape[1] - size + 1):
            a, b = (plane[top : top + size, left : left + size].astype(np.float64) for plane in (x, y))
            mean_a, mean_b = np.sum(weights * a), np.sum(weights * b)
            var_a, var_b = (np.sum(weights * z * z) - m * m for z, m in ((a, mean_a), (b, mean_b)))
            both = np.sum(weights * a * b) - mean_a * mean_b
            total += (
                (2 * mean_a * mean_b + 1e-4)
                * (2 * both + 9e-4)
                / ((mean_a**2 + mean_b**2 + 1e-4) * (var_a + var_b + 9e-4))
            )
            count += 1
    return total / count


def mean_similarity(x, y):
    return np.array(
        [
            np.mean([similarity(a[..., c], b[..., c]) for c in range(a.shape[2])])
            for a, b in zip(x, y, strict=True)
        ]
    )


def standardized(x):
    mean, deviation = x.mean((-3, -2, -1), keepdims=True), x.std((-3, -2, -1), keepdims=True)
    return (x - mean) / np.maximum(deviation, 1 / np.sqrt(np.prod(x.shape[-3:])))


def gray(x):
    return (x.astype(np.float64) @ [0.2989, 0.587, 0.114])[..., None]


def sobel(x):
    padded = np.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)], mode="reflect").astype(np.float64)
    rows = padded[:, :, :-2] + 2 * padded[:, :, 1:-1] + padded[:, :, 2:]
    columns = padded[:, :-2] + 2 * padded[:, 1:-1] + padded[:, 2:]
    return np.stack([rows[:, 2:] - rows[:, :-2], columns[:, :, 2:] - columns[:, :, :-2]], -1)


def pixels(x):
    return x / 255


YIQ = np.array(
    [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
)
YUV = np.array(
    [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
)

RGB = np.array([[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]])

# name: (program, inputs, expected or a function of the inputs)
PROGRAMS = {
    "flip_left_right": (lambda tf, x: tf.image.flip_left_right(x), [IMAGE], IMAGE[:, ::-1]),
    "flip_up_down": (lambda tf, x: tf.image.flip_up_down(x), [BATCH], BATCH[:, ::-1]),
    "random_flip": (
        lambda tf, x: tf.image.random_flip_up_down(tf.image.random_flip_left_right(x, seed=3), seed=1),
        [IMAGE],
        None,
    ),
    "random_flip_batch": (lambda tf, x: tf.image.random_flip_left_right(x, seed=2), [BATCH], None),
    "rot90": (lambda tf, x: tf.image.rot90(x), [IMAGE], np.rot90(IMAGE)),
    "rot270_batch": (lambda tf, x: tf.image.rot90(x, 7), [BATCH], np.rot90(BATCH, 3, (1, 2))),
    "rot180": (lambda tf, x: tf.image.rot90(x, tf.constant(-2)), [IMAGE], np.rot90(IMAGE, 2)),
    "transpose": (lambda tf, x: tf.image.transpose_image(x), [IMAGE], IMAGE.swapaxes(0, 1)),
    "transpose_batch": (lambda tf, x: tf.image.transpose(x, name="t"), [BATCH], BATCH.swapaxes(1, 2)),
    "central_crop": (lambda tf, x: tf.image.central_crop(x, 0.5), [IMAGE], IMAGE[1:4, 1:5]),
    "central_crop_batch": (lambda tf, x: tf.image.central_crop(x, 0.4), [BATCH], BATCH[:, 1:4, 1:5]),
    "pad": (
        lambda tf, x: tf.image.pad_to_bounding_box(x, 1, 2, 8, 9),
        [IMAGE],
        np.pad(IMAGE, [(1, 2), (2, 1), (0, 0)]),
    ),
    "crop": (lambda tf, x: tf.image.crop_to_bounding_box(x, 1, 2, 3, 4), [BATCH], BATCH[:, 1:4, 2:6]),
    "crop_or_pad": (
        lambda tf, x: tf.image.resize_image_with_crop_or_pad(x, 8, 3),
        [IMAGE],
        np.pad(IMAGE[:, 1:4], [(1, 2), (0, 0), (0, 0)]),
    ),
    "crop_or_pad_batch": (
        lambda tf, x: tf.image.resize_with_crop_or_pad(x, tf.constant(2), 6),
        [BATCH],
        BATCH[:, 1:3],
    ),
    "resize": (
        lambda tf, x: tf.image.resize_images(x, [7, 4]),
        [IMAGE],
        lambda x: resized(linear)(x[None], (7, 4))[0],
    ),
    "resize_nearest": (
        lambda tf, x: tf.image.resize_images(x, [3, 4], tf.image.ResizeMethod.NEAREST_NEIGHBOR),
        [BATCH],
        lambda x: resized(nearest)(x, (3, 4)),
    ),
    "resize_bicubic": (
        lambda tf, x: tf.image.resize_images(x, [9, 4], "bicubic", align_corners=True),
        [BATCH],
        lambda x: resized(cubic, align_corners=True)(x, (9, 4)),
    ),
    "resize_area": (
        lambda tf, x: tf.image.resize(x, (3, 4), method=3),
        [BATCH],
        lambda x: resized(area)(x, (3, 4)),
    ),
    "resize_same": (lambda tf, x: tf.image.resize_images(x, [5, 6]), [IMAGE], IMAGE),
    "resize_ratio": (
        lambda tf, x: tf.image.resize_images(x, [20, 12], preserve_aspect_ratio=True),
        [IMAGE],
        lambda x: resized(linear)(x[None], (10, 12))[0],
    ),
    "resize_bilinear": (
        lambda tf, x: tf.image.resize_bilinear(x, [3, 4], half_pixel_centers=True),
        [BATCH],
        lambda x: resized(linear, half_pixel_centers=True)(x, (3, 4)),
    ),
    "resize_with_pad": (
        lambda tf, x: tf.image.resize_image_with_pad(x, 10, 15),
        [IMAGE],
        lambda x: np.pad(resized(linear)(x[None], (10, 12))[0], [(0, 0), (1, 2), (0, 0)]),
    ),
    "per_image_standardization": (
        lambda tf, x: tf.image.per_image_standardization(x),
        [BATCH],
        standardized,
    ),
    "adjust_brightness": (lambda tf, x: tf.image.adjust_brightness(x, 0.2), [IMAGE], IMAGE + 0.2),
    "adjust_brightness_bytes": (
        lambda tf, x: tf.image.adjust_brightness(x, -0.3),
        [BYTES],
        lambda x: np.floor(np.clip(x - 76.5, 0, 255) * (1 + 0.5 / 255)),
    ),
    "adjust_contrast": (
        lambda tf, x: tf.image.adjust_contrast(x, 1.5),
        [BATCH],
        lambda x: (x - x.mean((1, 2), keepdims=True)) * 1.5 + x.mean((1, 2), keepdims=True),
    ),
    "adjust_gamma": (lambda tf, x: tf.image.adjust_gamma(x, 0.7, 0.9), [IMAGE], 0.9 * IMAGE**0.7),
    "adjust_hue": (
        lambda tf, x: tf.image.adjust_hue(x, 0.3),
        [IMAGE],
        by_color(
            lambda r, g, b: colorsys.hsv_to_rgb(
                (colorsys.rgb_to_hsv(r, g, b)[0] + 0.3) % 1, *colorsys.rgb_to_hsv(r, g, b)[1:]
            )
        ),
    ),
    "adjust_saturation": (
        lambda tf, x: tf.image.adjust_saturation(x, 0.0),
        [IMAGE],
        lambda x: np.repeat(x.max(-1, keepdims=True), 3, -1),
    ),
    "random_brightness": (lambda tf, x: tf.image.random_brightness(x, 0.3, seed=5), [IMAGE], None),
    "random_contrast": (lambda tf, x: tf.image.random_contrast(x, 0.3, 2.0, seed=5), [IMAGE], None),
    "random_hue": (lambda tf, x: tf.image.random_hue(x, 0.3, seed=5), [IMAGE], None),
    "random_saturation": (lambda tf, x: tf.image.random_saturation(x, 0.3, 2.0, seed=5), [IMAGE], None),
    "rgb_to_grayscale": (lambda tf, x: tf.image.rgb_to_grayscale(x), [BATCH], gray),
    "rgb_to_grayscale_bytes": (lambda tf, x: tf.image.rgb_to_grayscale(x), [BYTES], None),
    "grayscale_to_rgb": (
        lambda tf, x: tf.image.grayscale_to_rgb(x[..., :1]),
        [BATCH],
        np.repeat(BATCH[..., :1], 3, -1),
    ),
    "rgb_to_hsv": (lambda tf, x: tf.image.rgb_to_hsv(x), [IMAGE], by_color(colorsys.rgb_to_hsv)),
    "hsv_to_rgb": (lambda tf, x: tf.image.hsv_to_rgb(x), [IMAGE], by_color(colorsys.hsv_to_rgb)),
    "rgb_to_yiq": (lambda tf, x: tf.image.rgb_to_yiq(x), [BATCH], BATCH @ YIQ),
    "yiq_to_rgb": (lambda tf, x: tf.image.yiq_to_rgb(tf.image.rgb_to_yiq(x)), [BATCH], BATCH @ YIQ @ RGB),
    "rgb_to_yuv": (lambda tf, x: tf.image.rgb_to_yuv(x), [BATCH], BATCH @ YUV),
    "yuv_to_rgb": (lambda tf, x: tf.image.yuv_to_rgb(tf.image.rgb_to_yuv(x)), [BATCH], BATCH),
    "convert_to_float": (lambda tf, x: tf.image.convert_image_dtype(x, tf.float32), [BYTES], pixels),
    "convert_to_bytes": (
        lambda tf, x: tf.image.convert_image_dtype(x * 1.5 - 0.2, tf.uint8, saturate=True),
        [BATCH],
        lambda x: np.clip((x * np.float32(1.5) - np.float32(0.2)) * 255.5, 0, 255).astype(np.uint8),
    ),
    "convert_up": (
        lambda tf, x: tf.image.convert_image_dtype(x, tf.int32),
        [BYTES],
        lambda x: x.astype(int) * 2**23,
    ),
    "convert_down": (
        lambda tf, x: tf.image.convert_image_dtype(x, tf.uint8, saturate=True),
        [WHOLE],
        lambda x: np.clip(x // 2**23, 0, 255),
    ),
    "convert_half": (lambda tf, x: tf.image.convert_image_dtype(x, tf.float64), [IMAGE], IMAGE),
    "total_variation": (
        lambda tf, x: tf.image.total_variation(x),
        [BATCH],
        lambda x: np.abs(np.diff(x, axis=1)).sum((1, 2, 3)) + np.abs(np.diff(x, axis=2)).sum((1, 2, 3)),
    ),
    "total_variation_one": (
        lambda tf, x: tf.image.total_variation(x),
        [IMAGE],
        lambda x: np.abs(np.diff(x, axis=0)).sum() + np.abs(np.diff(x, axis=1)).sum(),
    ),
    "psnr": (
        lambda tf, x, y: tf.image.psnr(x, y, 1.0),
        [LARGE, BLURRED],
        lambda x, y: -10 * np.log10(np.mean((x - y) ** 2, (1, 2, 3))),
    ),
    "psnr_bytes": (
        lambda tf, x: tf.image.psnr(x, x[:, ::-1], 255),
        [BYTES],
        lambda x: -10 * np.log10(np.mean((pixels(x) - pixels(x[:, ::-1])) ** 2, (1, 2, 3))),
    ),
    "ssim": (lambda tf, x, y: tf.image.ssim(x, y, 1.0), [LARGE, BLURRED], mean_similarity),
    "ssim_multiscale": (
        lambda tf, x, y: tf.image.ssim_multiscale(x, y, 1.0, (0.4, 0.6), filter_size=5),
        [LARGE[:, :, :25], BLURRED[:, :, :25]],
        None,
    ),
    "image_gradients": (
        lambda tf, x: tf.image.image_gradients(x)[1],
        [BATCH],
        lambda x: np.pad(np.diff(x, axis=2), [(0, 0), (0, 0), (0, 1), (0, 0)]),
    ),
    "sobel_edges": (lambda tf, x: tf.image.sobel_edges(x), [BATCH], sobel),
    "non_max_suppression": (
        lambda tf, x, y: tf.image.non_max_suppression(x, y, 3),
        [BOXES, SCORES],
        lambda x, y: greedy(x, y, 3),
    ),
    "non_max_suppression_with_scores": (
        lambda tf, x, y: tf.image.non_max_suppression_with_scores(x, y, 4, score_threshold=0.2)[1],
        [BOXES, SCORES],
        lambda x, y: y[greedy(x, y, 4, 0.5, 0.2)],
    ),
    "non_max_suppression_padded": (
        lambda tf, x, y: tf.image.non_max_suppression_padded(x, y, 9, pad_to_max_output_size=True)[0],
        [BOXES, SCORES],
        lambda x, y: np.pad(greedy(x, y, 9), (0, 9 - len(greedy(x, y, 9)))),
    ),
    "non_max_suppression_overlaps": (
        lambda tf, x, y: tf.image.non_max_suppression_overlaps(x, y, 9),
        [np.eye(7, dtype=np.float32), SCORES],
        np.argsort(-SCORES),
    ),
    "combined_non_max_suppression": (
        lambda tf, x, y: tf.image.combined_non_max_suppression(x, y, 3, 4)[1],
        [BOXES[None, :, None], SCORES[None, :, None]],
        np.array([[*SCORES[greedy(BOXES, SCORES, 3)], 0]], np.float32),
    ),
    "crop_and_resize": (
        lambda tf, x: tf.image.crop_and_resize(x, [[0.0, 0.0, 1.0, 1.0]], [1], [5, 6]),
        [BATCH],
        BATCH[1:],
    ),
    "draw_bounding_boxes": (
        lambda tf, x: tf.image.draw_bounding_boxes(x, [[[0.0, 0.0, 1.0, 1.0]]] * 2)[:, 1:-1, 1:-1],
        [BATCH],
        BATCH[:, 1:-1, 1:-1],
    ),
    "extract_glimpse": (
        lambda tf, x: tf.image.extract_glimpse(x, [3, 4], [[0.0, 0.0]] * 2),
        [BATCH],
        BATCH[:, 1:4, 1:5],
    ),
    "extract_patches": (
        lambda tf, x: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 5, 5, 1], [1] * 4, "VALID"),
        [BATCH],
        BATCH[:, :2, :2].reshape(2, 1, 1, 12),
    ),
    "sample_distorted_bounding_box": (
        lambda tf, x: tf.image.sample_distorted_bounding_box([40, 50, 3], x, seed=1, seed2=2)[0],
        [np.array([[[0.1, 0.2, 0.6, 0.7], [0.5, 0.5, 0.9, 0.8]]], np.float32)],
        np.array([6, 1, 0]),
    ),
    "is_jpeg": (lambda tf: tf.image.is_jpeg(b"\xff\xd8\xff\xe0"), [], True),
    "is_no_jpeg": (lambda tf: tf.image.is_jpeg(PNG), [], False),
    "decode_image": (lambda tf: tf.image.decode_image(PNG), [], BYTES[0]),
    "decode_image_float": (lambda tf: tf.image.decode_image(PNG, 3, tf.float32), [], pixels(BYTES[0])),
    "decode_image_bmp": (lambda tf: tf.image.decode_image(tf.constant(BMP)), [], BYTES[0]),
    "decode_png": (lambda tf: tf.io.decode_png(tf.image.encode_png(BYTES[0])), [], BYTES[0]),
    "wav": (
        lambda tf: tf.audio.decode_wav(tf.audio.encode_wav([[0.5], [-0.25]], 8000), desired_channels=1)[0],
        [],
        np.array([[0.5], [-0.25]], np.float32),
    ),
}


def run(tf, program, inputs, shaped=True):
    """The value, and the type and name of the operations that are no constants."""
    with tf.Graph().as_default() as graph:
        shapes = [array.shape if shaped else [None] * array.ndim for array in inputs]
        tensors = [tf.placeholder(array.dtype, shape) for array, shape in zip(inputs, shapes, strict=True)]
        output = program(tf, *tensors)
        nodes = [
            (node.type, node.name)
            for node in graph.get_operations()
            if node.type not in ("Const", "Placeholder", "StridedSlice")
        ]
        with tf.Session(graph=graph) as session:
            value = session.run(output, dict(zip(tensors, inputs, strict=True)))
        assert output.get_shape().is_compatible_with(np.shape(value))
        return np.asarray(value), nodes


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    program, inputs, expected = PROGRAMS[name]
    value, _ = run(graphcore, program, inputs)
    if expected is not None:
        wanted = np.asarray(expected(*inputs) if callable(expected) else expected)
        assert value.shape == wanted.shape
        np.testing.assert_allclose(
            value.astype(np.float64),
            wanted.astype(np.float64),
            rtol=2e-5,
            atol=2e-5 if value.dtype.kind == "f" else 0,
        )
    else:
        assert np.isfinite(value).all()


@pytest.mark.parametrize("name", [name for name, row in PROGRAMS.items() if row[1] and name != "resize_same"])
def test_program_of_unknown_shapes(name):
    program, inputs, _ = PROGRAMS[name]
    once, again = (run(graphcore, program, inputs, shaped)[0] for shaped in (True, False))
    np.testing.assert_allclose(once, again, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (lambda tf: tf.image.flip_up_down(np.zeros((2, 3))), "'image' must be at least three-dimensional."),
        (lambda tf: tf.image.flip_up_down(np.zeros((0, 3, 1))), "all dims of 'image.shape' must be > 0"),
        (lambda tf: tf.image.rot90(np.zeros((1, 1, 2, 3, 1))), "'image' must have either 3 or 4 dimensions."),
        (lambda tf: tf.image.central_crop(IMAGE, 1.5), "central_fraction must be within (0, 1]"),
        (lambda tf: tf.image.crop_to_bounding_box(IMAGE, 3, 0, 3, 2), "height must be >= target + offset."),
        (lambda tf: tf.image.pad_to_bounding_box(IMAGE, 0, -1, 9, 9), "offset_width must be >= 0"),
        (lambda tf: tf.image.resize_image_with_crop_or_pad(IMAGE, 0, 2), "target_height must be > 0."),
        (lambda tf: tf.image.resize_images(IMAGE, [1, 2, 3]), "'size' must be a 1-D Tensor of 2 elements"),
        (lambda tf: tf.image.resize_images(IMAGE, [1, 2], 7), "Resize method is not implemented"),
        (lambda tf: tf.image.random_hue(IMAGE, 0.6), "max_delta must be <= 0.5."),
        (lambda tf: tf.image.random_contrast(IMAGE, 1, 1), "upper must be > lower."),
        (lambda tf: tf.image.adjust_gamma(IMAGE, -1), "Gamma should be a non-negative real number."),
        (
            lambda tf: tf.image.grayscale_to_rgb(tf.constant(IMAGE)),
            "Last dimension of a grayscale image should be size 1.",
        ),
        (lambda tf: tf.image.ssim(IMAGE, IMAGE[:2], 1.0), "Two images are not compatible"),
        (
            lambda tf: tf.image.total_variation(tf.constant(IMAGE[0])),
            "'images' must be either 3 or 4-dimensional.",
        ),
        (lambda tf: tf.image.decode_image(PNG, 2), "channels must be in (None, 0, 1, 3, 4)"),
    ],
)
def test_error(program, text):
    with graphcore.Graph().as_default(), pytest.raises(ValueError) as raised:
        program(graphcore)
    assert text in str(raised.value)


@pytest.mark.parametrize(
    ("program", "shape", "text"),
    [
        (lambda tf, x: tf.image.flip_up_down(x), (0, 2, 3), "must be > 0."),
        (
            lambda tf, x: tf.image.crop_to_bounding_box(x, 1, 1, 3, 3),
            (3, 9, 1),
            "height must be >= target + offset.",
        ),
        (lambda tf, x: tf.image.grayscale_to_rgb(x), (2, 2, 3), "Last dimension of a grayscale image"),
        (lambda tf, x: tf.image.ssim(x, x, 1.0), (9, 9, 3), "[11]"),
    ],
)
def test_error_at_the_run(program, shape, text):
    with graphcore.Graph().as_default(), graphcore.Session() as session:
        image = graphcore.placeholder(graphcore.float32, [None] * 3)
        output = program(graphcore, image)
        with pytest.raises(graphcore.errors.InvalidArgumentError) as raised:
            session.run(output, {image: np.zeros(shape)})
    assert text.strip("[]") in str(raised.value)


def test_decode_image_refuses_what_is_no_image():
    with graphcore.Graph().as_default(), graphcore.Session() as session:
        output = graphcore.image.decode_image(b"text")
        with pytest.raises(graphcore.errors.InvalidArgumentError, match="JPEG, PNG, GIF, or BMP"):
            session.run(output)


def test_names_as_in_tensorflow_1():
    rows = {
        "resize": [
            ("ExpandDims", "resize/ExpandDims"),
            ("ResizeBilinear", "resize/ResizeBilinear"),
            ("Squeeze", "resize/Squeeze"),
        ],
        "adjust_contrast": [
            ("AdjustContrastv2", "adjust_contrast"),
            ("Identity", "adjust_contrast/Identity"),
        ],
        "convert_to_float": [("Cast", "convert_image/Cast"), ("Mul", "convert_image")],
        "rgb_to_yiq": [
            ("Transpose", "Tensordot/transpose"),
            ("Reshape", "Tensordot/Reshape"),
            ("Transpose", "Tensordot/transpose_1"),
            ("Reshape", "Tensordot/Reshape_1"),
            ("MatMul", "Tensordot/MatMul"),
            ("Reshape", "Tensordot"),
        ],
        "adjust_brightness_bytes": [
            ("Cast", "adjust_brightness/convert_image/Cast"),
            ("Mul", "adjust_brightness/convert_image"),
            ("Add", "adjust_brightness"),
            ("Mul", "adjust_brightness/convert_image_1/Mul"),
            ("Maximum", "adjust_brightness/convert_image_1/Maximum"),
            ("Minimum", "adjust_brightness/convert_image_1/Minimum"),
            ("Cast", "adjust_brightness/convert_image_1"),
        ],
        "non_max_suppression": [("NonMaxSuppressionV3", "non_max_suppression/NonMaxSuppressionV3")],
    }
    for name, nodes in rows.items():
        program, inputs, _ = PROGRAMS[name]
        assert run(graphcore, program, inputs)[1] == nodes


@pytest.fixture(scope="module")
def tensorflow():
    return pytest.importorskip("tensorflow").compat.v1


# For these TensorFlow 2 makes other nodes: StatelessIf and If for conds, AddV2 for Add, ClipByValue for what
# saturates, fewer transpositions, scopes with other names, DecodeImage.
OTHER_NODES = {
    *("random_flip", "random_flip_batch", "rot90", "rot270_batch", "rot180", "crop", "crop_or_pad"),
    *("per_image_standardization", "adjust_brightness", "adjust_brightness_bytes", "random_brightness"),
    *("random_contrast", "random_hue", "random_saturation", "rgb_to_grayscale", "rgb_to_grayscale_bytes"),
    *("rgb_to_yiq", "yiq_to_rgb", "rgb_to_yuv", "yuv_to_rgb", "convert_to_bytes", "convert_down", "ssim"),
    *("ssim_multiscale", "non_max_suppression_padded"),
    *("decode_image", "decode_image_float", "decode_image_bmp"),
}
# And for this one other values: its own program, for which a box with swapped corners has no area.
OTHER_VALUES = {"non_max_suppression_padded"}


@pytest.mark.oracle
@pytest.mark.parametrize("name", PROGRAMS)
def test_program_in_tensorflow(name, tensorflow):
    program, inputs, _ = PROGRAMS[name]
    ours, nodes = run(graphcore, program, inputs)
    theirs, their_nodes = run(tensorflow, program, inputs)
    assert ours.dtype == theirs.dtype
    if name not in OTHER_VALUES:
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    if name not in OTHER_NODES:
        assert sorted(nodes) == sorted(their_nodes)
