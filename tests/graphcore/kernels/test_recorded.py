"""Every kernel against what TensorFlow computed (data/*.npz, made by data/record.py)."""

import functools
import importlib
import json
import pathlib

import ml_dtypes
import numpy as np
import pytest

from sgtool.formats import errors

DATA = pathlib.Path(__file__).parent / "data"


@functools.cache
def load(subject):
    with np.load(DATA / f"{subject}.npz") as file:
        arrays = {name: file[name] for name in file.files}
    return json.loads(str(arrays.pop("cases"))), arrays


def value(spec, arrays):
    if "list" in spec:
        return [value(item, arrays) for item in spec["list"]]
    if "array" in spec:
        array = arrays[spec["array"]]
        return array.astype(ml_dtypes.bfloat16) if spec["bfloat16"] else array.copy()
    return spec["value"]


CASES = [
    pytest.param(subject, index, id=f"{subject}-{index}-{case['kernel'].split('.')[1]}")
    for subject in sorted({path.stem for path in DATA.glob("*.npz")} - {"random"})
    for index, case in enumerate(load(subject)[0])
]


@pytest.mark.parametrize(("subject", "index"), CASES)
def test_kernel_gives_what_tensorflow_gives(subject, index):
    cases, arrays = load(subject)
    case = cases[index]
    module, name = case["kernel"].split(".")
    kernel = getattr(importlib.import_module(f"sgtool.graphcore.kernels.{module}"), name)
    args = [value(spec, arrays) for spec in case["args"]]
    if "error" in case:
        with pytest.raises(errors.OpError) as raised:
            kernel(*args, **case["kwargs"])
        assert case["error"] in str(raised.value)
        return
    before = [np.copy(arg) for arg in args if isinstance(arg, np.ndarray)]
    with np.errstate(all="ignore"):
        results = kernel(*args, **case["kwargs"])
    for arg, old in zip([a for a in args if isinstance(a, np.ndarray)], before, strict=True):
        np.testing.assert_array_equal(arg, old)
    results = results if case["many"] else [results]
    expected = [value(spec, arrays) for spec in case["results"]]
    for ours, theirs in zip(results, expected, strict=True):
        ours = np.asarray(ours)
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        if theirs.dtype.kind in "fcV":
            wide = [a.astype(np.float64) if a.dtype.kind != "c" else a for a in (ours, theirs)]
            np.testing.assert_allclose(*wide, rtol=case["rtol"], atol=case["atol"])
        else:
            np.testing.assert_array_equal(ours, theirs)
