"""Boxes of objects: suppression one by one, drawing, glimpses and crops."""

import numpy as np

from sgtool.graphcore.kernels.philox import Philox

from . import case, floats, ints

BOXES = np.array(
    [
        [0, 0, 1, 1],
        [0, 0.1, 1, 1.1],
        [1, 0.9, 0, -0.1],
        [0, 10, 1, 11],
        [0, 10.1, 1, 11.1],
        [0, 100, 1, 101],
        [0, 0, 0, 0],
    ],
    np.float32,
)
SCORES = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3, 0.1], np.float32)


def overlap(a, b):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    low = np.maximum(np.minimum(a[:2], a[2:]), np.minimum(b[:2], b[2:]))
    high = np.minimum(np.maximum(a[:2], a[2:]), np.maximum(b[:2], b[2:]))
    areas = [np.prod(np.abs(box[2:] - box[:2])) for box in (a, b)]
    common = np.prod(np.maximum(high - low, 0))
    return common / (sum(areas) - common) if min(areas) > 0 else 0.0


def greedy(boxes, scores, limit, threshold=0.5, least=-np.inf, alike=overlap):
    kept: list[int] = []
    for index in sorted(range(len(scores)), key=lambda i: -scores[i]):
        worse = any(alike(boxes[index], boxes[other]) > threshold for other in kept)
        if len(kept) < limit and scores[index] > least and not worse:
            kept.append(index)
    return np.array(kept, np.int32)


def fading(boxes, scores, limit, least, sigma):
    """All remaining scores fall with each box that is taken; the next is the best of them."""
    left = {i: float(s) for i, s in enumerate(scores)}
    kept: list[int] = []
    marks: list[float] = []
    while left and len(kept) < limit:
        best = max(left, key=left.get)
        score = left.pop(best)
        if score <= least:
            break
        kept.append(best)
        marks.append(score)
        left = {i: s * np.exp(-(overlap(boxes[i], boxes[best]) ** 2) / (2 * sigma)) for i, s in left.items()}
    return np.array(kept, np.int32), np.array(marks)


def filled(values, count):
    return np.pad(values, (0, count - len(values)))


def counted(kept, count=None):
    return (kept if count is None else filled(kept, count)), np.array(len(kept), np.int32)


def numbers(*values, dtype=np.float32):
    return [np.array(value, dtype) for value in values]


CASES = []
for limit in (3, 0, 10):
    size = np.array(limit, np.int32)
    for threshold in (0.5, 0.85, 0.0):
        note = f"{limit}_{threshold}"
        at, least = numbers(threshold, 0.2)
        kept = greedy(BOXES, SCORES, limit, threshold)
        scored = greedy(BOXES, SCORES, limit, threshold, 0.2)
        CASES += [
            case("NonMaxSuppression", BOXES, SCORES, size, iou_threshold=threshold, expect=kept, note=note),
            case("NonMaxSuppressionV2", BOXES, SCORES, size, at, expect=kept, note=note),
            case("NonMaxSuppressionV3", BOXES, SCORES, size, at, least, expect=scored, note=note),
            case("NonMaxSuppressionV4", BOXES, SCORES, size, at, least, expect=counted(scored), note=note),
        ]
TEN = np.array(10, np.int32)
for sigma in (0.0, 0.3, 0.5):
    if sigma:
        kept, marks = fading(BOXES, SCORES, 10, 0.2, sigma)
    else:
        kept = greedy(BOXES, SCORES, 10, 0.5, 0.2)
        marks = SCORES[kept]
    for pad in (False, True):
        expected = kept, marks, np.array(len(kept), np.int32)
        if pad:
            expected = filled(kept, 10), filled(marks, 10), expected[2]
        CASES.append(
            case(
                "NonMaxSuppressionV5",
                BOXES,
                SCORES,
                TEN,
                *numbers(0.5, 0.2, sigma),
                pad_to_max_output_size=pad,
                expect=expected,
                rtol=1e-5,
                note=f"{sigma}{'_padded' if pad else ''}",
            )
        )
HALF = [BOXES.astype(np.float16), SCORES.astype(np.float16)]
MATRIX = np.array([[overlap(a, b) for b in BOXES] for a in BOXES], np.float32)
KEPT = greedy(BOXES, SCORES, 10, 0.5, 0.2)
NOTHING = np.zeros((0, 4), np.float32), np.zeros(0, np.float32)
CASES += [
    case(
        "NonMaxSuppressionV4",
        BOXES,
        SCORES,
        TEN,
        *numbers(0.5, 0.2),
        pad_to_max_output_size=True,
        expect=counted(KEPT, 10),
        note="padded",
    ),
    case("NonMaxSuppressionV3", *HALF, TEN, *numbers(0.5, 0.2, dtype=np.float16), expect=KEPT, note="half"),
    case(
        "NonMaxSuppressionV5",
        *HALF,
        TEN,
        *numbers(0.5, 0.2, 0.5, dtype=np.float16),
        expect=(*fading(BOXES, SCORES, 10, 0.2, 0.5), np.array(5, np.int32)),
        rtol=5e-3,
        note="half",
    ),
    case(
        "NonMaxSuppressionV3", *NOTHING, TEN, *numbers(0.5, 0.2), expect=np.zeros(0, np.int32), note="empty"
    ),
    case(
        "NonMaxSuppressionV3",
        BOXES,
        np.full(7, 0.5, np.float32),
        TEN,
        *numbers(0.9, 0.2),
        expect=np.arange(7),
        note="equal",
    ),
    case(
        "NonMaxSuppressionV3",
        BOXES,
        np.where(np.arange(7) == 1, np.nan, SCORES),
        TEN,
        *numbers(0.5, 0.2),
        expect=greedy(BOXES, np.where(np.arange(7) == 1, 0, SCORES), 10, 0.5, 0.2),
        note="nan",
    ),
    case(
        "NonMaxSuppressionWithOverlaps",
        MATRIX,
        SCORES,
        TEN,
        *numbers(0.5, 0.2),
        expect=KEPT,
    ),
]


def combined(boxes, scores, per_class, total, threshold, least, pad_per_class=False, clip_boxes=True):
    batch, _, classes = scores.shape
    rows = min(total, per_class * classes) if pad_per_class else total
    out = np.zeros((batch, rows, 4)), np.zeros((batch, rows)), np.zeros((batch, rows)), np.zeros(batch, int)
    for image in range(batch):
        found = []
        for number in range(classes):
            mine = boxes[image, :, min(number, boxes.shape[2] - 1)]
            marks = scores[image, :, number]
            kept = greedy(mine, marks, per_class, threshold, least)
            found += [(marks[i], number, mine[i]) for i in kept]
        found = sorted(found, key=lambda row: -row[0])[:rows]
        for row, (mark, number, box) in enumerate(found):
            out[0][image, row] = np.clip(box, 0, 1) if clip_boxes else box
            out[1][image, row], out[2][image, row] = mark, number
        out[3][image] = len(found)
    return *(item.astype(np.float32) for item in out[:3]), out[3].astype(np.int32)


MANY, MARKS = floats(2, 9, 3, 4, low=-0.2, high=1.2), floats(2, 9, 3, seed=4, low=0, high=1)
for note, boxes, per_class, total, attrs in [
    ("shared", MANY[:, :, :1], 2, 5, {}),
    ("own", MANY, 4, 20, {"clip_boxes": False}),
    ("padded", MANY, 2, 20, {"pad_per_class": True}),
]:
    CASES.append(
        case(
            "CombinedNonMaxSuppression",
            boxes,
            MARKS,
            np.array(per_class, np.int32),
            np.array(total, np.int32),
            *numbers(0.3, 0.25),
            expect=combined(boxes, MARKS, per_class, total, 0.3, 0.25, **attrs),
            note=note,
            **attrs,
        )
    )

# Drawing


def drawn(colors):
    def expect(images, boxes, *_):
        out = images.astype(np.float64)
        height, width, depth = images.shape[1:]
        for canvas, its_boxes in zip(out, boxes, strict=True):
            for index, box in enumerate(its_boxes):
                top, left, bottom, right = (
                    int(part * (size - 1)) for part, size in zip(box, (height, width) * 2, strict=True)
                )
                for y in range(max(top, 0), min(bottom, height - 1) + 1):
                    for x in range(max(left, 0), min(right, width - 1) + 1):
                        if y in (top, bottom) or x in (left, right):
                            canvas[y, x] = colors[index % len(colors)][:depth]
        return out

    return expect


FRAMES = np.array(
    [
        [[0.1, 0.2, 0.7, 0.8], [-0.3, 0.5, 0.5, 1.4], [0.6, 0.1, 0.3, 0.9]],
        [[0, 0, 1, 1], [0.5, 0.5, 0.5, 0.5], [1.2, 0.1, 1.5, 0.9]],
    ],
    np.float32,
)
YELLOW = [(1, 1, 0, 1), (0, 0, 1, 1), (1, 0, 0, 1)]
COLORS = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]], np.float32)
CASES += [
    case("DrawBoundingBoxes", floats(2, 9, 8, 3), FRAMES, expect=drawn(YELLOW)),
    case("DrawBoundingBoxes", floats(2, 9, 8, 4), FRAMES, expect=drawn(YELLOW), note="alpha"),
    case("DrawBoundingBoxes", floats(2, 9, 8, 1), FRAMES, expect=drawn([(1,)] * 3), note="gray"),
    case(
        "DrawBoundingBoxes",
        floats(2, 9, 8, 3).astype(np.float16),
        FRAMES,
        expect=drawn(YELLOW),
        note="half",
    ),
    case("DrawBoundingBoxesV2", floats(2, 9, 8, 3), FRAMES, COLORS, expect=drawn(COLORS)),
    case(
        "DrawBoundingBoxesV2",
        floats(2, 9, 8, 3),
        FRAMES,
        np.zeros((0, 3), np.float32),
        expect=drawn(YELLOW),
        note="default",
    ),
]

# Glimpses, in pixels of a 5 by 6 image: (options, offset of the window's middle, its corner)
PICTURE = floats(1, 5, 6, 2)


def window(image, top, left, height, width):
    padded = np.pad(image, [(0, 0), (9, 9), (9, 9), (0, 0)])
    return padded[:, top + 9 : top + 9 + height, left + 9 : left + 9 + width]


for note, centered, normalized, offset, corner in [
    ("middle", True, True, (0, 0), (1, 1)),
    ("centered", True, True, (0.5, -0.7), (2, -1)),
    ("pixels", True, False, (3, -5), (3, -1)),
    ("fractions", False, True, (0.9, 0.1), (3, -1)),
    ("plain", False, False, (2, 4), (1, 2)),
    ("outside", False, False, (40, 3), (5, 1)),
]:
    CASES.append(
        case(
            "ExtractGlimpse",
            PICTURE,
            np.array([2, 4], np.int32),
            np.array([offset], np.float32),
            centered=centered,
            normalized=normalized,
            uniform_noise=False,
            noise="zero",
            expect=window(PICTURE, *corner, 2, 4),
            note=note,
        )
    )
CASES += [
    case(
        "ExtractGlimpse",
        PICTURE,
        np.array([8, 8], np.int32),
        np.zeros((1, 2), np.float32),
        uniform_noise=False,
        noise="zero",
        # Where the window begins before the image and ends behind it, it has its end at the image's.
        expect=window(PICTURE, -1, -1, 8, 8),
        note="larger",
    ),
    case(
        "RandomCrop",
        PICTURE[0],
        np.array([5, 6]),
        expect=PICTURE[0],
        seed=1,
        seed2=2,
        oracle="graphs of today may not have it",
        note="whole",
    ),
    case(
        "SampleDistortedBoundingBox",
        np.array([40, 50, 3], np.int32),
        np.zeros((1, 0, 4), np.float32),
        use_image_if_no_bounding_boxes=True,
        min_object_covered=1.0,
        area_range=[1.0, 1.0],
        aspect_ratio_range=[1.25, 1.25],
        expect=(np.array([0, 0, 0]), np.array([40, 50, -1]), np.array([[[0, 0, 1, 1]]])),
        seed=3,
        note="whole",
    ),
]
SAMPLES = np.array([[[0.1, 0.2, 0.6, 0.7], [0.5, 0.5, 0.9, 0.8]]], np.float32)
# (seeds, height, width, part of an object, aspect ratios, areas, attempts), and TensorFlow's crop.
for seeds, (height, width), covered, ratios, areas, attempts, crop in [
    ((1, 2), (40, 50), 0.1, [0.75, 1.33], [0.05, 1.0], 100, (6, 1, 16, 16)),
    ((7, 0), (41, 33), 0.6, [0.5, 2.0], [0.1, 0.4], 100, (26, 16, 10, 16)),
    ((0, 9), (200, 100), 0.9, [0.9, 1.1], [0.3, 0.9], 20, (101, 3, 88, 82)),
    ((5, 5), (17, 300), 1.0, [0.2, 4.0], [0.05, 0.2], 3, (0, 0, 17, 300)),
]:
    top, left, tall, wide = crop
    box = np.array([[[top / height, left / width, (top + tall) / height, (left + wide) / width]]])
    options = {
        "seed": seeds[0],
        "seed2": seeds[1],
        "aspect_ratio_range": ratios,
        "area_range": areas,
        "max_attempts": attempts,
    }
    dtype = np.uint8 if height < 100 and width < 100 else np.int64
    end = np.iinfo(dtype).max if dtype == np.uint8 else -1
    expected = np.array([top, left, 0]), np.array([tall, wide, end]), box
    image_size = np.array([height, width, 3], dtype)
    CASES += [
        case(
            "SampleDistortedBoundingBoxV2",
            image_size,
            SAMPLES,
            np.float32(covered),
            expect=expected,
            note=f"{height}",
            **options,
        ),
        case(
            "SampleDistortedBoundingBox",
            image_size,
            SAMPLES,
            min_object_covered=covered,
            expect=expected,
            note=f"{height}",
            **options,
        ),
    ]
# Found by random draws: boxes that are not finite. What is like NaN has a score of 0 then, which is above -1.
LOST = BOXES.copy()
LOST[1, 0], LOST[2, 1], LOST[4, 3] = np.nan, np.inf, -np.inf
WORDS = Philox.from_seeds(4, 5).words(1)
CASES.append(
    case(
        "RandomCrop",
        ints(9, 11, 2),
        np.array([4, 3]),
        seed=4,
        seed2=5,
        expect=lambda image, size: image[WORDS[1] % 6 :, WORDS[0] % 9 :][:4, :3],
        oracle="graphs of today may not have it",
    )
)
for threshold, least, kept in [(0.5, 0.2, [3, 0, 2, 4, 5]), (0.5, -1.0, [3, 0, 2, 4, 5, 6, 1])]:
    CASES.append(
        case(
            "NonMaxSuppressionV3",
            LOST,
            SCORES,
            TEN,
            *numbers(threshold, least),
            expect=np.array(kept, np.int32),
            note=f"undefined_{least}",
        )
    )
SEEN = np.array([[[-1, 0.2, 0.7, 0.8], [1, 1, 0, 0]], [[1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5]]])
FLYING = FRAMES.copy()
FLYING[0, 0, 0], FLYING[0, 1, 3], FLYING[1, 0, 2] = -np.inf, np.inf, np.nan
CASES.append(
    case(
        "DrawBoundingBoxes",
        floats(2, 9, 8, 3),
        FLYING,
        # The first box has no upper edge; the others are inverted.
        expect=lambda images, _: drawn(YELLOW)(images, SEEN),
        note="undefined",
    )
)
CASES.append(
    case(
        "ExtractGlimpse",
        PICTURE,
        np.array([2, 4], np.int32),
        np.array([[np.inf, 0]], np.float32),
        uniform_noise=False,
        noise="zero",
        expect=np.zeros((1, 2, 4, 2)),
        note="infinite",
    )
)
ONE_SIDED = np.triu(MATRIX)
ONE_SIDED[2, 3] = np.nan
CASES.append(
    case(
        "NonMaxSuppressionWithOverlaps",
        ONE_SIDED,
        SCORES,
        TEN,
        *numbers(0.5, 0.2),
        expect=np.array([3, 0, 1, 4, 5], np.int32),
        note="one_sided",
    )
)
