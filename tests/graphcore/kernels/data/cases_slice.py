"""Strided slices and resizing. Cases that record.py records."""

# ruff: noqa: B023 - each lambda is called before its loop goes on; a row of a table is a line
import numpy as np
import tensorflow as tf

raw = tf.raw_ops

SLICES = [
    # shape, begin, end, strides, masks (begin, end, ellipsis, new axis, shrink)
    ((2, 3, 4), [0], [1], [1], (0, 0, 0, 0, 0)),
    ((2, 3, 4), [0, -2, 1], [2, 3, 4], [1, 1, 2], (0, 0, 0, 0, 0)),
    ((2, 3, 4), [5, 10], [-9, -10], [-1, -2], (0, 0, 0, 0, 0)),
    ((2, 3, 4), [0, 0], [0, 0], [-1, -1], (3, 3, 0, 0, 0)),
    ((2, 3, 4), [-1, 1], [0, 0], [1, 1], (0, 2, 0, 0, 1)),
    ((2, 3, 4), [1, 0], [0, 2], [1, 1], (1, 1, 0, 0, 1)),
    ((2, 3, 4), [0, 1], [0, 0], [1, 1], (0, 0, 1, 0, 2)),
    ((2, 3, 4), [0, 0, 0], [0, 0, 0], [1, 1, 1], (0, 0, 2, 5, 0)),
    ((2, 3, 4), [0], [0], [1], (0, 0, 0, 1, 1)),
    ((2, 3, 4), [0], [0], [1], (0, 0, 1, 1, 1)),
    ((2, 3, 4), [0, 1, 0, 2], [1, 0, 0, 0], [2, 1, 1, 1], (0, 0, 4, 2, 8)),
    ((2, 3, 4), [1, 2, 3], [0, 0, 0], [1, 1, 1], (0, 0, 0, 0, 7)),
    ((2, 3, 4), [-10, 2, 3], [1, 2, 0], [1, 1, 1], (0, 0, 0, 0, 0)),
    ((2, 3, 4), [-10], [-20], [-1], (0, 0, 0, 0, 0)),
    ((2, 3, 4), [], [], [], (0, 0, 0, 0, 0)),
    ((7,), [1], [100], [3], (0, 0, 0, 0, 0)),
    ((7,), [6], [0], [-3], (0, 0, 0, 0, 0)),
    ((0, 3), [0, 1], [5, 2], [1, 1], (0, 0, 0, 0, 0)),
    ((), [0], [1], [1], (0, 0, 0, 1, 0)),
    ((2, 3, 4), [0, 0, 0, 0, 0], [1] * 5, [1] * 5, (0, 0, 0, 3, 0)),
    ((2, 3, 4), [0, 0, 0, 5], [1] * 4, [1] * 4, (0, 0, 8, 0, 0)),
    ((2, 3, 4), [5], [6], [1], (0, 0, 0, 0, 1)),
    ((2, 3, 4), [0, -4], [6, 1], [1, 1], (0, 0, 0, 0, 2)),
    ((2, 3, 4), [1], [0], [-1], (0, 0, 0, 0, 1)),
    ((2, 3, 4), [0], [2], [0], (0, 0, 0, 0, 0)),
    ((2, 3, 4), [0, 0], [2, 2], [1], (0, 0, 0, 0, 0)),
    ((2, 3, 4), [[0]], [[1]], [[1]], (0, 0, 0, 0, 0)),
    ((2, 3, 4), [0] * 4, [1] * 4, [1] * 4, (0, 0, 0, 0, 0)),
    ((2, 3, 4), [0, 0], [0, 0], [1, 1], (0, 0, 3, 0, 0)),
    ((), [0], [1], [1], (0, 0, 0, 0, 0)),
]


def strided_slice(r):
    names = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    for shape, *bounds, masks in SLICES:
        x = r.ints(0, 99, *shape)
        begin, end, strides = (np.array(b, "int32") for b in bounds)
        given = {"begin": begin, "end": end, "strides": strides}
        kwargs = dict(zip(names, masks, strict=True))
        r.add(
            "strided_slice.strided_slice",
            lambda: raw.StridedSlice(input=x, **given, **kwargs),
            [x, *given.values()],
            kwargs,
        )
        if "error" in r.cases[-1]:
            dy = x
        else:
            dy = raw.StridedSlice(input=r.ints(0, 99, *shape), **given, **kwargs).numpy()
        sizes = np.array(shape, "int32")
        r.add(
            "strided_slice.strided_slice_grad",
            lambda: raw.StridedSliceGrad(shape=sizes, **given, dy=dy, **kwargs),
            [sizes, *given.values(), dy],
            kwargs,
        )
        if x.size and dy.size:
            r.add(
                "strided_slice.strided_slice_assign",
                lambda: raw.TensorStridedSliceUpdate(input=x, **given, value=dy, **kwargs),
                [x, *given.values(), dy],
                kwargs,
            )
    sizes, one, two = np.array([2, 3, 4], "int32"), np.array([0], "int32"), np.array([1], "int32")
    dy = r.normal(2, 3, 4)
    r.add(
        "strided_slice.strided_slice_grad",
        lambda: raw.StridedSliceGrad(shape=sizes, begin=one, end=two, strides=two, dy=dy),
        [sizes, one, two, two, dy],
    )


def resize(r):
    table = [
        ((2, 3, 4, 2), (6, 8)),
        ((2, 3, 4, 2), (2, 2)),
        ((1, 5, 7, 3), (3, 11)),
        ((1, 5, 7, 3), (1, 1)),
        ((1, 1, 1, 2), (3, 2)),
        ((1, 4, 4, 1), (4, 4)),
        ((0, 3, 4, 1), (2, 2)),
    ]
    for shape, size in table:
        for align, centers in ((False, False), (True, False), (False, True)):
            kwargs = {"align_corners": align, "half_pixel_centers": centers}
            sizes = np.array(size, "int32")
            for dtype in (
                ["float32", "uint8", "int32", "float16", "float64"] if size == (3, 11) else ["float32"]
            ):
                x = r.ints(0, 200, *shape, dtype=dtype) if "int" in dtype else r.normal(*shape, dtype=dtype)
                r.add(
                    "resize.resize_bilinear",
                    lambda: raw.ResizeBilinear(images=tf.constant(x), size=sizes, **kwargs),
                    [x, sizes],
                    kwargs,
                )
                r.add(
                    "resize.resize_nearest_neighbor",
                    lambda: raw.ResizeNearestNeighbor(images=tf.constant(x), size=sizes, **kwargs),
                    [x, sizes],
                    kwargs,
                )
                if "int" not in dtype and shape[0]:
                    dy = r.normal(shape[0], *size, shape[3])
                    low = 2e-3 if dtype == "float16" else 1e-5
                    op = raw.ResizeBilinearGrad
                    r.add(
                        "resize.resize_bilinear_grad",
                        lambda: op(grads=dy, original_image=tf.constant(x), **kwargs),
                        [dy, x],
                        kwargs,
                        rtol=low,
                        atol=low,
                    )
                    dy = r.normal(shape[0], *size, shape[3], dtype=dtype)
                    original = np.array(shape[1:3], "int32")
                    op = raw.ResizeNearestNeighborGrad
                    low = 2e-2 if dtype == "float16" else 1e-5
                    r.add(
                        "resize.resize_nearest_neighbor_grad",
                        lambda: op(grads=tf.constant(dy), size=original, **kwargs),
                        [dy, original],
                        kwargs,
                        rtol=low,
                        atol=low,
                    )
    x = r.normal(1, 3, 4, 1)
    both = {"align_corners": True, "half_pixel_centers": True}
    for images, size, kwargs in [
        (x, [0, 3], {}),
        (x, [-1, 3], {}),
        (x[0], [2, 3], {}),
        (x, [2, 3, 1], {}),
        (x[:, :0], [2, 2], {}),
        (x, [2, 2], both),
    ]:
        sizes = np.array(size, "int32")
        r.add(
            "resize.resize_bilinear",
            lambda: raw.ResizeBilinear(images=images, size=sizes, **kwargs),
            [images, sizes],
            kwargs,
        )
