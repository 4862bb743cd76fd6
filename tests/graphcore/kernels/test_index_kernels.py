"""Indexing kernels where recorded cases would be too many: scalars, long rows, random segments."""

import numpy as np
import pytest

from sgtool.formats import errors
from sgtool.graphcore.kernels import gather_scatter, segment


def test_scalar_indices_are_named_without_a_place():
    with pytest.raises(errors.InvalidArgumentError, match=r"^segment_ids = 4 is out of range \[0, 3\)"):
        segment.unsorted_segment_sum(np.ones(2), np.array(4), 3)
    with pytest.raises(errors.InvalidArgumentError, match=r"^indices\[0\] is out of range"):
        gather_scatter.dynamic_stitch([np.array(-1)], [np.ones(2)])
    with pytest.raises(errors.InvalidArgumentError, match=r"^partitions = 9 is not in \[0, 2\)"):
        gather_scatter.dynamic_partition(np.ones(2), np.array(9), 2)
    np.testing.assert_array_equal(segment.unsorted_segment_sum(np.ones(2), np.array(1), 2), [[0, 0], [1, 1]])


@pytest.mark.parametrize("k", [1, 2, 7, 40])
def test_top_k_of_long_rows_equals_a_full_sort(k):
    rows = np.random.default_rng(k).integers(0, 30, (5, 500)).astype(np.float32)
    values, places = gather_scatter.top_k(rows, k)
    for row, found, where in zip(rows, values, places, strict=True):
        order = sorted(range(len(row)), key=lambda i: (-row[i], i))[:k]
        assert where.tolist() == order
        assert found.tolist() == row[order].tolist()


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(
    ("name", "combine"), [("sum", np.sum), ("prod", np.prod), ("max", np.max), ("min", np.min)]
)
def test_segments_equal_a_loop(name, combine, ordered):
    rng = np.random.default_rng(3)
    data, ids = rng.standard_normal((200, 3)), rng.integers(0, 20, 200)
    ids[ids == 7] = 8
    ids = np.sort(ids) if ordered else ids
    out = getattr(segment, f"unsorted_segment_{name}")(data, ids, 20)
    for number in set(range(20)) - {7}:
        np.testing.assert_allclose(out[number], combine(data[ids == number], axis=0))
    if ordered:
        again = getattr(segment, f"segment_{name}")(data, ids)
        np.testing.assert_array_equal(np.delete(again, 7, 0), np.delete(out, 7, 0))
        assert again[7].tolist() == [1.0 if name == "prod" else 0.0] * 3
