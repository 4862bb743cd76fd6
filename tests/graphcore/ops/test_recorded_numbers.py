"""What TensorFlow 2.21 gave for rows whose expected values are our own, where no TensorFlow is at hand."""

from __future__ import annotations

import numpy as np
import op_cases
import op_runs
import pytest

from sgtool import graphcore

# name of the row: (output, its last four elements)
RECORDED = {
    "FixedUnigramCandidateSampler-0": (0, [89, 73, 41, 87]),
    "LearnedUnigramCandidateSampler-0-100": (0, [22, 57, 97, 59]),
    "LogUniformCandidateSampler-2-unique100": (0, [87, 56, 48, 61]),
    "ParameterizedTruncatedNormal-0-normal_float32": (
        0,
        [0.3967129588127136, 0.6269592642784119, 1.3898279666900635, 0.6831753253936768],
    ),
    "ParameterizedTruncatedNormal-2-tail_float32": (
        0,
        [4.38223934173584, 4.356134414672852, 3.671440362930298, 4.086548805236816],
    ),
    "RandomGamma-0": (0, [0.11917382478713989, 0.24010223150253296, 2.693815231323242, 63.22992706298828]),
    "RandomGamma-1-float64": (
        0,
        [0.11917382374495308, 0.24010222753471838, 2.6938151632079124, 63.2299259873404],
    ),
    "RandomPoissonV2-1-float64_int64": (0, [0, 9, 8, 306]),
    "RandomPoissonV2-2-float32_float32": (0, [0.0, 9.0, 8.0, 306.0]),
    "StatefulStandardNormalV2-2-float64": (
        0,
        [-0.7302395655534774, -0.8096075224597622, 1.6313205056054882, 1.8347732994264268],
    ),
    "StatefulTruncatedNormal-1-float32": (
        0,
        [0.3150171935558319, 1.1437875032424927, -1.4624477624893188, 1.2440272569656372],
    ),
    "StatefulUniform-1-float32": (
        0,
        [0.5548166036605835, 0.08179366588592529, 0.6184338331222534, 0.23125982284545898],
    ),
    "StatefulUniformFullInt-1-int64": (
        0,
        [2373042702313137120, 5797111279083785243, -4125283644484955217, 5598870529757071578],
    ),
    "StatefulUniformInt-0-int32": (0, [780, 295, 328, 553]),
    "StatelessRandomGetKeyCounter-0": (0, [8496633186236937083]),
    "StatelessRandomUniformFullIntV2-3-uint64": (
        0,
        [5442226330735235699, 18323612857033712733, 5722678675737292332, 14579885685424631043],
    ),
    "StatelessRandomUniformV2-1-float32": (
        0,
        [0.46032607555389404, 0.934167742729187, 0.6983413696289062, 0.45366597175598145],
    ),
    "Svd-0": (1, [0.36928704380989075, 0.11414594203233719, -0.5543678402900696, 0.8244072794914246]),
    "Svd-2-short": (1, [0.49939480423927307, 0.43990057706832886, -0.8619317412376404, -0.2521134316921234]),
    "UniformCandidateSampler-2-unique100": (0, [3, 81, 35, 99]),
}


@pytest.mark.parametrize("name", RECORDED)
def test_numbers(name):
    index, expected = RECORDED[name]
    _, results = op_runs.run(graphcore, dict(op_cases.all_cases())[name])
    actual = np.asarray(results[index]).ravel()[-4:]
    if actual.dtype.kind in "iu":
        assert actual.tolist() == expected
    else:
        np.testing.assert_allclose(actual, expected, rtol=1e-5 if actual.dtype == np.float32 else 1e-10)
