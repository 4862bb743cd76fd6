"""What the kernels and shape rules of images refuse, in TensorFlow's words."""

from __future__ import annotations

import numpy as np
import pytest
from op_cases import floats
from op_cases.image_boxes import BOXES, SCORES

from sgtool import graphcore

IMAGE = floats(2, 5, 6, 3)
TWO = np.array([3, 4], np.int32)
BOX = np.array([[0, 0, 1, 1]], np.float32)
AT = np.zeros(1, np.int32)
HALF, TEN = np.float32(0.5), np.int32(10)
NMS = {"boxes": BOXES, "scores": SCORES, "max_output_size": TEN}


def rows(op, *changes, **inputs):
    """For each change of the inputs, the op, all inputs, and what the error's text has."""
    return [(op, {**inputs, **changed}, text) for changed, text in changes]


RESIZE_ERRORS = [
    ({"images": IMAGE[0]}, "input must be 4-dimensional[5,6,3]"),
    ({"size": np.array([[3, 4]], np.int32)}, "shape_t must be 1-dimensional[1,2]"),
    ({"size": np.array([3], np.int32)}, "shape_t must have two elements[1]"),
    ({"size": np.array([0, 4], np.int32)}, "output dimensions must be positive"),
    ({"images": IMAGE[:, :0]}, "input image must be of non-zero size"),
    ({"images": IMAGE[..., :0]}, "image must have at least one channel"),
    (
        {"align_corners": True, "half_pixel_centers": True},
        "If half_pixel_centers is True, align_corners must be False.",
    ),
]
SCALE = {"size": TWO, "scale": np.ones(2, np.float32), "translation": np.zeros(2, np.float32)}
CROP = {"boxes": BOX, "box_ind": AT}
SAMPLE = {
    "image_size": np.array([9, 9, 3], np.int32),
    "bounding_boxes": BOX[None],
    "min_object_covered": HALF,
}
GLIMPSE = {"input": IMAGE, "size": TWO, "offsets": np.zeros((2, 2), np.float32)}
ERRORS = [
    *rows("ResizeBilinear", *RESIZE_ERRORS, images=IMAGE, size=TWO),
    *rows("ResizeBicubic", *RESIZE_ERRORS, images=IMAGE, size=TWO),
    *rows("ResizeNearestNeighbor", *RESIZE_ERRORS, images=IMAGE, size=TWO),
    *rows("ResizeArea", *RESIZE_ERRORS[:-1], images=IMAGE, size=TWO),
    *rows(
        "ResizeNearestNeighborGrad",
        ({"grads": IMAGE[0]}, "input must be 4-dimensional[5,6,3]"),
        ({"size": np.array([0, 4], np.int32)}, "shape_t's elements must be positive"),
        grads=IMAGE,
        size=TWO,
    ),
    *rows(
        "ResizeBilinearGrad",
        ({"grads": IMAGE[0]}, "input_grad must be 4-dimensional[5,6,3]"),
        ({"original_image": IMAGE[0]}, "original_image must be 4-dimensional[5,6,3]"),
        grads=IMAGE,
        original_image=IMAGE,
    ),
    *rows(
        "ScaleAndTranslate",
        ({"size": np.array([3], np.int32)}, "output_shape_t must have two elements[1]"),
        ({"scale": np.zeros(2, np.float32)}, "Scale must be greater than zero."),
        ({"translation": np.zeros(3, np.float32)}, "t must have two elements[3]"),
        ({"kernel_type": "sinc"}, "Unrecognized kernel type: sinc"),
        images=IMAGE,
        **SCALE,
    ),
    *rows(
        "CropAndResize",
        ({"image": IMAGE[0]}, "input image must be 4-D[5,6,3]"),
        ({"image": IMAGE[:, :0]}, "image dimensions must be positive"),
        ({"boxes": BOX[:, :3]}, "boxes must have 4 columns"),
        ({"boxes": BOX[0]}, "boxes must be 2-D[4]"),
        ({"box_ind": np.zeros(2, np.int32)}, "box_index has incompatible shape"),
        ({"box_ind": np.full(1, 2, np.int32)}, "box_index has values outside [0, batch_size)"),
        ({"crop_size": np.array([3], np.int32)}, "crop_size must have two elements[1]"),
        ({"crop_size": np.array([3, 0], np.int32)}, "crop dimensions must be positive"),
        image=IMAGE,
        crop_size=TWO,
        **CROP,
    ),
    *rows(
        "CropAndResizeGradImage",
        ({"grads": IMAGE}, "boxes and grads have incompatible shape"),
        ({"image_size": np.array([2, 5, 6], np.int32)}, "image_size must have 4 elements[3]"),
        ({"image_size": np.array([2, 5, 6, 4], np.int32)}, "image_size and grads are incompatible"),
        grads=IMAGE[:1],
        image_size=np.array([2, 5, 6, 3], np.int32),
        T="float32",
        **CROP,
    ),
    *rows(
        "CropAndResizeGradBoxes",
        ({"image": IMAGE[..., :2]}, "image, grads depth differ"),
        ({"grads": IMAGE[:1, :0]}, "grads dimensions must be positive"),
        grads=IMAGE[:1],
        image=IMAGE,
        **CROP,
    ),
    *rows(
        "NonMaxSuppressionV3",
        ({"boxes": BOXES[0]}, "boxes must be 2-D[4]"),
        ({"boxes": BOXES[:, :3]}, "boxes must have 4 columns"),
        ({"scores": SCORES[:3]}, "scores has incompatible shape"),
        ({"iou_threshold": np.float32(1.5)}, "iou_threshold must be in [0, 1]"),
        ({"iou_threshold": np.zeros(1, np.float32)}, "iou_threshold must be 0-D, got shape [1]"),
        ({"max_output_size": np.zeros(1, np.int32)}, "max_output_size must be 0-D, got shape [1]"),
        iou_threshold=HALF,
        score_threshold=HALF,
        **NMS,
    ),
    *rows(
        "NonMaxSuppressionV5",
        ({"soft_nms_sigma": np.float32(-1)}, "soft_nms_sigma "),
        iou_threshold=HALF,
        score_threshold=HALF,
        soft_nms_sigma=HALF,
        **NMS,
    ),
    *rows(
        "NonMaxSuppressionWithOverlaps",
        ({"overlaps": np.zeros((7, 6), np.float32)}, "overlaps must be square[7,6]"),
        overlaps=np.eye(7, dtype=np.float32),
        scores=SCORES,
        max_output_size=TEN,
        overlap_threshold=HALF,
        score_threshold=HALF,
    ),
    *rows(
        "CombinedNonMaxSuppression",
        ({"boxes": np.zeros((1, 7, 3, 4), np.float32)}, "third dimension of boxes must be either"),
        ({"max_total_size": np.int32(0)}, "max_total_size must be > 0"),
        boxes=BOXES[None, :, None],
        scores=np.tile(SCORES[None, :, None], 2),
        max_output_size_per_class=TEN,
        max_total_size=TEN,
        iou_threshold=HALF,
        score_threshold=HALF,
    ),
    *rows(
        "RGBToHSV", ({}, "input must have 3 channels but input only has 2 channels."), images=IMAGE[..., :2]
    ),
    *rows(
        "AdjustHue",
        ({"images": IMAGE[0, 0]}, "input must be at least 3-D, got shape[6,3]"),
        ({"images": IMAGE[..., :2]}, "input must have 3 channels but instead has 2 channels."),
        ({"delta": np.zeros(1, np.float32)}, "delta must be scalar: [1]"),
        images=IMAGE,
        delta=HALF,
    ),
    *rows(
        "AdjustSaturation",
        ({"images": IMAGE[..., :2]}, "input must have 3 channels but instead has 2 channels."),
        ({"scale": np.zeros(1, np.float32)}, "scale must be scalar: [1]"),
        images=IMAGE,
        scale=HALF,
    ),
    *rows(
        "AdjustContrastv2",
        ({"images": IMAGE[0, 0]}, "input must be at least 3-D, got shape[6,3]"),
        ({"contrast_factor": np.zeros(1, np.float32)}, "contrast_factor must be scalar: [1]"),
        images=IMAGE,
        contrast_factor=HALF,
    ),
    *rows(
        "DrawBoundingBoxes",
        ({"images": IMAGE[0]}, "The rank of the images should be 4"),
        ({"boxes": BOX[None]}, "The batch sizes should be the same"),
        ({"images": IMAGE[..., :2]}, "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)"),
        images=IMAGE,
        boxes=np.stack([BOX, BOX]),
    ),
    *rows(
        "DrawBoundingBoxesV2",
        ({"colors": BOX[0]}, "colors must be a 2-D matrix[4]"),
        ({"colors": BOX[:, :2]}, "colors must have equal or more channels than the image provided: [1,2]"),
        images=IMAGE,
        boxes=np.stack([BOX, BOX]),
        colors=BOX,
    ),
    *rows(
        "ExtractGlimpse",
        ({"input": IMAGE[0]}, "input must be 4-dimensional (batch_size, height, width, depth)[5,6,3]"),
        ({"size": np.array([3], np.int32)}, "input must be a vector of size 2 (height, width)[1]"),
        ({"offsets": np.zeros((3, 2), np.float32)}, "first dimension should be batch[3,2]"),
        ({"offsets": np.zeros((2, 3), np.float32)}, "second dimension should be of size 2 (y,x)[2,3]"),
        **GLIMPSE,
    ),
    *rows(
        "SampleDistortedBoundingBoxV2",
        ({"image_size": np.array([9, 9], np.int32)}, "image_size must contain 3 elements[2]"),
        ({"bounding_boxes": BOX}, "input boxes must be 3-dimensional [batch, num_boxes, coords]: [1,4]"),
        ({"bounding_boxes": BOX[None] * 2}, "All bounding box coordinates must be in [0.0, 1.0]: 2"),
        ({"bounding_boxes": BOX[None, :0]}, "No bounding boxes provided as input."),
        ({"min_object_covered": np.float32(-1)}, "Min object covered must be non-negative: -1"),
        ({"area_range": [0.5, 1.5]}, "Area range must be less then or equal to 1.0: [0.5, 1.5]"),
        ({"aspect_ratio_range": [0.5]}, "Aspect ratio range field must specify 2 dimensions"),
        ({"max_attempts": 0}, "Max attempts must be non-negative: 0"),
        **SAMPLE,
    ),
    *rows(
        "AudioSpectrogram",
        ({"input": SCORES}, "input must be 2-dimensional[7]"),
        ({"window_size": 1}, "Spectrogram initialization failed for window size 1 and stride 2"),
        input=SCORES[:, None],
        window_size=4,
        stride=2,
    ),
    *rows(
        "Mfcc",
        ({"spectrogram": BOX}, "spectrogram must be 3-dimensional[1,4]"),
        (
            {"dct_coefficient_count": 41},
            "Mfcc initialization failed for channel count 129 and sample rate 16000",
        ),
        ({"sample_rate": AT}, "Input sample_rate should be a scalar tensor, got [1] instead."),
        spectrogram=floats(1, 2, 129, low=0),
        sample_rate=np.int32(16000),
    ),
    *rows(
        "EncodeWav",
        ({"audio": SCORES}, "audio must be 2-dimensional[7]"),
        ({"audio": BOX[:0]}, "num_frames must be positive."),
        ({"sample_rate": np.int32(0)}, "sample_rate must be in (0, 2^32), got: 0"),
        audio=BOX,
        sample_rate=np.int32(8000),
    ),
    *rows(
        "DecodeWav",
        ({"contents": np.array(b"RIFX", object)}, "Header mismatch: Expected RIFF but found RIFX"),
        ({"contents": np.array(b"RI", object)}, "Data too short when trying to read"),
        contents=np.array(b"", object),
    ),
]
NAMES = [f"{index}-{op}" for index, (op, _, _) in enumerate(ERRORS)]


def message(tf, op, given):
    """The error of an op whose inputs have no static shapes."""
    with tf.Graph().as_default() as graph:
        arguments, feeds = {}, {}
        for name, value in given.items():
            if isinstance(value, (np.ndarray, np.generic)):
                array = np.asarray(value)
                dtype = tf.string if array.dtype == object else tf.as_dtype(array.dtype)
                arguments[name] = tf.placeholder(dtype, None)
                feeds[arguments[name]] = array
            else:
                arguments[name] = value
        declared = getattr(tf.raw_ops, op)
        with pytest.raises((tf.errors.OpError, ValueError)) as raised, tf.Session(graph=graph) as session:
            session.run(declared(**arguments), feeds)
    return str(raised.value)


@pytest.mark.parametrize(("op", "given", "text"), ERRORS, ids=NAMES)
def test_error(op, given, text):
    assert text in message(graphcore, op, given)


# What TensorFlow 2 says in other words, or (files without samples) does not refuse.
LATER = (
    "soft_nms_sigma ",
    "boxes must be 2-D[4]",
    "Spectrogram initialization failed",
    "Mfcc initialization failed",
    "num_frames must be positive.",
)
SAME = [row for row in ERRORS if not row[2].startswith(LATER)]


@pytest.mark.oracle
@pytest.mark.parametrize(("op", "given", "text"), SAME, ids=[f"{row[0]}-{row[2][:40]}" for row in SAME])
def test_error_in_tensorflow(op, given, text):
    tensorflow = pytest.importorskip("tensorflow").compat.v1
    assert text in message(tensorflow, op, given)
