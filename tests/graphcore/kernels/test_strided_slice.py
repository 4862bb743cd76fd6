"""What shapes of slices are known before their inputs are."""

import numpy as np
import pytest

from sgtool.formats import errors
from sgtool.graphcore.kernels import strided_slice


@pytest.mark.parametrize(
    ("shape", "begin", "end", "strides", "masks", "expected"),
    [
        (None, [0], [1], [1], {}, None),
        ((3, 4), None, None, None, {}, None),
        ((None, 4), [0, 1], [2, 3], [1, 1], {}, (None, 2)),
        ((None, 4), [0, 1], [2, 3], [1, 1], {"shrink_axis_mask": 1}, (2,)),
        ((3, 4), [None, 1], [2, 3], [1, 1], {}, (None, 2)),
        ((3, 4), [None, 1], [2, 3], [1, 1], {"begin_mask": 1}, (2, 2)),
        ((3, 4), [None, 1], [None, 3], [1, 1], {"shrink_axis_mask": 1}, (2,)),
        ((3, 4), [0, 1], None, [1, 1], {"end_mask": 2}, (None, 3)),
        ((3, 4), [0, 1], [2, 3], [None, -1], {}, (None, 0)),
        ((None, None, 5), [0, 0], [0, 2], [1, 1], {"ellipsis_mask": 1}, (None, None, 2)),
        ((None,), None, None, [1], {"new_axis_mask": 1}, (1, None)),
    ],
)
def test_shape_as_far_as_it_is_known(shape, begin, end, strides, masks, expected):
    assert strided_slice.infer_shape(shape, begin, end, strides, **masks) == expected


def test_what_cannot_fit_is_refused_early():
    with pytest.raises(errors.InvalidArgumentError, match="slice index 7 of dimension 1 out of bounds"):
        strided_slice.infer_shape((None, 4), [0, 7], [None, None], [1, 1], shrink_axis_mask=3)


def test_known_shapes_agree_with_numpy():
    x = np.arange(60).reshape(3, 4, 5)
    rng = np.random.default_rng(0)
    for _ in range(300):
        begin, end = rng.integers(-8, 8, (2, 3)).tolist()
        strides = rng.choice([-3, -2, -1, 1, 2, 3], 3).tolist()
        masks = {name: int(rng.integers(8)) for name in ("begin_mask", "end_mask")}
        slices = tuple(
            slice(
                None if masks["begin_mask"] >> i & 1 else begin[i],
                None if masks["end_mask"] >> i & 1 else end[i],
                strides[i],
            )
            for i in range(3)
        )
        index, shape = strided_slice.resolve(x.shape, begin, end, strides, **masks)
        np.testing.assert_array_equal(x[index], x[slices])
        assert shape == x[slices].shape == strided_slice.infer_shape(x.shape, begin, end, strides, **masks)
